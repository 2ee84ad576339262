"""`parley models …`: what it prints, what it leaves on the disk, and its exit codes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import bridge.hub
from bridge.cli import app
from tests.gguf_writer import gguf
from tests.http_hub import REPOSITORY, Hub, HubFile, serving, small_gguf

GGUF = small_gguf()
ENTRY: dict[str, Any] = {
    "name": "small",
    "engine": "llama-cpp",
    "context_size": 512,
    "license": "MIT",
    "source": {"huggingface": REPOSITORY, "files": ["model.gguf"]},
}


def parley(*arguments: str) -> tuple[int, str, str]:
    """(exit code, stdout, stderr)."""
    result = CliRunner().invoke(app, ["models", *arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout, result.stderr


@pytest.fixture
def hub() -> Iterator[Hub]:
    with serving(model=GGUF) as running:
        yield running


@pytest.fixture(autouse=True)
def game(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A game's folder with a catalog of one model of the hub."""
    folder = tmp_path / "my Ж game"
    folder.mkdir()
    (folder / "models.json").write_text(json.dumps({"models": [ENTRY]}), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PARLEY_MODELS_FOLDER", str(folder / "models"))
    monkeypatch.setenv("PARLEY_CATALOG", str(folder / "models.json"))
    monkeypatch.setenv("PARLEY_HUB_ENDPOINT", hub.endpoint)
    monkeypatch.delenv("HF_TOKEN", raising=False)
    monkeypatch.setattr(bridge.hub, "RETRY_PAUSES_S", (0.0,) * 4)
    return folder


def statuses() -> dict[str, str]:
    code, out, _ = parley("list", "--json")
    assert code == 0
    return {row["name"]: row["status"] for row in json.loads(out)}


def test_the_table_says_what_there_is() -> None:
    for arguments in ([], ["list"]):
        code, out, _ = parley(*arguments)
        assert code == 0
        row = next(line for line in out.splitlines() if "small" in line)
        assert row.split() == ["small", "language", "Absent", "512", "MIT", "huggingface", REPOSITORY]
    parley("pull", "small")
    _, out, _ = parley("list")
    assert "Downloaded   0.3 MiB" in next(line for line in out.splitlines() if "small" in line)
    assert statuses()["mock-echo"] == "Local"
    assert parley("--json")[1] == parley("list", "--json")[1]


def test_a_catalog_cannot_steer_the_terminal(game: Path) -> None:
    evil = {**ENTRY, "license": "\x1b[2J[bold]x\nsmall"}
    (game / "models.json").write_text(json.dumps({"models": [evil]}), encoding="utf-8")
    _, out, _ = parley("list")
    assert "\x1b" not in out
    assert "\ufffd[2J[bold]x\ufffdsmall" in out


def test_a_model_is_pulled_checked_and_removed(game: Path) -> None:
    code, out, err = parley("pull", "small")
    assert (code, out) == (0, "")
    assert err == "small: downloaded\n"
    assert statuses()["small"] == "Downloaded"
    assert parley("verify", "small")[:2] == (0, "small: ok\n")
    code, out, _ = parley("verify")
    assert code == 0
    assert "small: ok\n" in out
    assert "mock-echo: has no file\n" in out

    file = game / "models" / REPOSITORY.replace("/", "--") / "model.gguf"
    file.write_bytes(GGUF[:-1] + b"?")
    code, out, _ = parley("verify")
    assert code == 1
    assert "small: " in out
    assert "another checksum" in out
    file.write_bytes(GGUF[:100_000])
    code, out, _ = parley("verify", "small")
    assert code == 1
    assert "has 100000 bytes and must have" in out

    assert parley("rm", "small")[0] == 0
    assert not file.exists()
    assert statuses()["small"] == "Absent"
    assert parley("rm", "small")[2] == "small: nothing was there\n"
    code, out, _ = parley("verify")
    assert code == 0
    assert "small: not there\n" in out
    code, out, _ = parley("verify", "small")
    assert code == 1
    assert "is not there" in out


def test_a_pull_that_fails_is_told_in_one_sentence_and_goes_on_later(hub: Hub) -> None:
    hub.files["model.gguf"] = HubFile(GGUF, cut_after=100_000, ignores_range=True)
    code, out, err = parley("pull", "small")
    assert (code, out) == (1, "")
    assert len(err.strip().splitlines()) == 1
    assert "broke off after" in err
    _, out, _ = parley("list")
    assert "Absent, 0.1 MiB of it" in out
    hub.files["model.gguf"] = HubFile(GGUF)
    assert parley("pull", "small")[0] == 0
    assert hub.ranges()[-1].startswith("bytes=")


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["pull", "unknown"], 2, "no model 'unknown'; it has "),
        (["rm", "unknown"], 2, "no model 'unknown'"),
        (["verify", "unknown"], 2, "no model 'unknown'"),
        (["rm", "mock-echo"], 2, "was not downloaded"),
        (["list", "--catalog", "gone.json"], 2, "cannot read the catalog gone.json"),
        (["list", "--config", "gone.toml"], 2, "cannot read the settings file gone.toml"),
        (["add", "gone.gguf", "--name", "x"], 2, "there is no file gone.gguf"),
        (["add", "owner/name", "--name", "x"], 2, "there is no file or folder of that name here: owner/name"),
        (["add", "owner/na me", "--file", "x.gguf", "--name", "x"], 2, "no repository"),
        (["add", "owner/name", "--file", "../x.gguf", "--name", "x"], 2, "'../x.gguf' must be a plain"),
        (["add", "owner/name", "--file", "x.gguf", "--name", "x", "--type", "painting"], 2, "type"),
        (["add", "owner/name", "--file", "x.gguf", "--name", "x", "--sha256", "12"], 2, "64 lower-case"),
        (["add", "owner/name", "--file", "x.gguf", "--name", "small"], 2, "has a model 'small' already"),
    ],
)
def test_faults_are_one_sentence(arguments: list[str], code: int, says: str, game: Path) -> None:
    before = (game / "models.json").read_bytes()
    got, out, err = parley(*arguments)
    assert (got, out) == (code, "")
    assert len(err.strip().splitlines()) == 1
    assert says in err
    assert (game / "models.json").read_bytes() == before


def test_what_needs_no_download_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    assert parley("pull", "mock-echo") == (0, "", "mock-echo needs no file\n")


def test_a_file_is_added_relative_to_the_catalog(game: Path, tmp_path: Path) -> None:
    weights = game / "weights"
    weights.mkdir()
    (weights / "mine.gguf").write_bytes(GGUF)
    code, _, _ = parley(
        "add", str(weights / "mine.gguf"), "--name", "mine", "--license", "CC0", "--chat-format", "gemma"
    )
    assert code == 0
    added = json.loads((game / "models.json").read_bytes())["models"][1]
    assert added == {
        "name": "mine",
        "type": "language",
        "engine": "llama-cpp",
        "source": {"path": "weights/mine.gguf"},
        "chat_format": "gemma",
        "license": "CC0",
    }
    assert statuses()["mine"] == "Local"
    assert parley("verify", "mine")[1] == "mine: ok\n"

    (tmp_path / "far.gguf").write_bytes(GGUF)
    assert parley("add", "far.gguf", "--name", "far", "--catalog", str(game / "new.json"))[0] == 0
    assert json.loads((game / "new.json").read_bytes())["models"][0]["source"] == {"path": str(tmp_path / "far.gguf")}


def test_only_whole_gguf_files_are_added(game: Path) -> None:
    before = (game / "models.json").read_bytes()
    for data, says in ((b"<html>" * 99, "is not a GGUF file"), (GGUF[:99_999], "is cut short")):
        (game / "bad.gguf").write_bytes(data)
        code, _, err = parley("add", str(game / "bad.gguf"), "--name", "bad")
        assert code == 1
        assert says in err
    assert (game / "models.json").read_bytes() == before


def test_a_split_model_is_added_with_all_its_files(game: Path) -> None:
    first, second = game / "big-00001-of-00002.gguf", game / "big-00002-of-00002.gguf"
    first.write_bytes(GGUF)
    code, _, err = parley("add", str(first), "--name", "big")
    assert code == 2
    assert "big-00002-of-00002.gguf is not beside it" in err
    second.write_bytes(b"GGUF" + bytes(100))
    assert parley("add", str(first), "--name", "big")[0] == 0
    added = json.loads((game / "models.json").read_bytes())["models"][1]["source"]
    assert added == {"path": ".", "files": [first.name, second.name]}
    assert statuses()["big"] == "Local"


def test_a_file_is_added_as_what_it_is(game: Path) -> None:
    bert = {"general.architecture": "bert", "bert.pooling_type": 1}
    (game / "bert.gguf").write_bytes(gguf(bert))
    assert parley("add", str(game / "bert.gguf"), "--name", "vectors")[0] == 0
    assert json.loads((game / "models.json").read_bytes())["models"][-1]["type"] == "embedding"
    code, _, err = parley("add", str(game / "bert.gguf"), "--name", "chat", "--type", "language")
    assert code == 2
    assert "is a model for embeddings" in err

    (game / "base.gguf").write_bytes(gguf({"general.architecture": "llama"}))
    code, _, err = parley("add", str(game / "base.gguf"), "--name", "base")
    assert code == 2
    assert "has no chat template" in err
    assert "--chat-format transcript" in err
    assert parley("add", str(game / "base.gguf"), "--name", "base", "--chat-format", "transcript")[0] == 0
    code, _, err = parley("add", str(game / "base.gguf"), "--name", "base", "--chat-format", "plain")
    assert code == 2
    assert "--replace" in err


def test_a_file_of_the_hub_is_added_and_pulled(game: Path, hub: Hub) -> None:
    hub.files["Q4/other.gguf"] = HubFile(GGUF)
    code, _, _ = parley("add", REPOSITORY, "--file", "Q4/other.gguf", "--name", "other", "--revision", "v1.0")
    assert code == 0
    assert parley("pull", "other")[0] == 0
    assert statuses()["other"] == "Downloaded"
    assert hub.requests[0][1] == f"/{REPOSITORY}/resolve/v1.0/Q4/other.gguf"
    assert (game / "models" / REPOSITORY.replace("/", "--") / "Q4" / "other.gguf").read_bytes() == GGUF
    assert parley("rm", "other")[0] == 0
    code, _, _ = parley("add", REPOSITORY, "--file", "big-00001-of-00003.gguf", "--name", "other", "--replace")
    assert code == 0
    source = json.loads((game / "models.json").read_bytes())["models"][1]["source"]
    assert source["files"] == [f"big-0000{index}-of-00003.gguf" for index in (1, 2, 3)]


def test_a_mirror_is_named_by_its_environment_variable(hub: Hub) -> None:
    environment = {**os.environ, "HF_ENDPOINT": hub.endpoint, "PYTHONIOENCODING": "cp1252"}
    del environment["PARLEY_HUB_ENDPOINT"]
    done = subprocess.run(
        [sys.executable, "-m", "bridge", "models", "pull", "small"],
        env={**environment, "PYTHONPATH": str(Path(bridge.hub.__file__).parent.parent)},
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, b"")
    assert done.stderr.decode().strip() == "small: downloaded"
    assert hub.ranges() == [""]


@pytest.mark.skipif(os.name == "nt", reason="there Ctrl-C goes to a whole console, the tests' own too")
def test_ctrl_c_keeps_what_is_there_and_says_so(hub: Hub, game: Path) -> None:
    part = game / "models" / REPOSITORY.replace("/", "--") / "model.gguf.part"
    hub.hold_after = 200_000
    environment = {**os.environ, "PYTHONPATH": str(Path(bridge.hub.__file__).parent.parent)}
    with subprocess.Popen(
        [sys.executable, "-m", "bridge", "models", "pull", "small"], env=environment, stderr=subprocess.PIPE
    ) as pulling:
        assert hub.holding.wait(30)
        while part.stat().st_size < 200_000:
            time.sleep(0.001)  # the file grows in the other process, which says nothing of it
        pulling.send_signal(signal.SIGINT)
        _, err = pulling.communicate(timeout=30)
    assert pulling.returncode == 130
    assert b"parley: stopped; 0.2 MiB of 'small' are kept" in err
    assert len(err.strip().splitlines()) == 1
    hub.hold_after = None
    assert parley("pull", "small")[0] == 0
    assert hub.ranges()[-1] == "bytes=200000-"


# ---- voices


def test_the_folder_of_a_voice_is_added_and_listed_with_its_speakers(game: Path) -> None:
    pytest.importorskip("onnx", reason="the voice is made with the package onnx")
    from tests.tiny_voice import make_kokoro

    folder = make_kokoro(game / "voices" / "kokoro")
    code, _, err = parley("add", str(folder), "--name", "tavern", "--license", "MIT")
    assert (code, err) == (0, f"tavern is in {game / 'models.json'}\n")
    entry = json.loads((game / "models.json").read_bytes())["models"][1]
    source = {"path": "voices/kokoro"}
    assert entry == {"name": "tavern", "type": "tts", "engine": "sherpa-onnx", "source": source, "license": "MIT"}
    code, out, _ = parley("list", "--json")
    (row,) = [row for row in json.loads(out) if row["name"] == "tavern"]
    assert (row["status"], row["type"], row["speakers"]) == ("Local", "tts", ["af_one", "am_two"])
    assert row["bytes_on_disk"] > 1000
    assert "af_one, am_two" in parley("list")[1]
    assert parley("verify", "tavern")[:2] == (0, "tavern: ok\n")
    (folder / "voices.bin").unlink()
    code, out, _ = parley("verify", "tavern")
    assert code == 1
    assert "looks like a Kokoro voice, but voices.bin is missing" in out


def test_a_folder_that_is_no_voice_is_not_added(game: Path, tmp_path: Path) -> None:
    before = (game / "models.json").read_bytes()
    (tmp_path / "empty").mkdir()
    code, _, err = parley("add", str(tmp_path / "empty"), "--name", "v")
    assert code == 1
    assert "holds no voice: no file in it ends with .onnx" in err
    assert (game / "models.json").read_bytes() == before


def test_a_voice_of_the_hub_is_added_with_each_of_its_files(game: Path) -> None:
    how = ["--name", "v", "--type", "tts"]
    code, _, err = parley("add", "owner/voice", *how)
    assert code == 2
    assert "say which files: --file model.onnx --file tokens.txt and so on" in err
    files = ["a.onnx", "tokens.txt", "lexicon.txt"]
    assert parley("add", "owner/voice", *how, *(part for file in files for part in ("--file", file)))[0] == 0
    entry = json.loads((game / "models.json").read_bytes())["models"][1]
    assert (entry["engine"], entry["source"]) == ("sherpa-onnx", {"huggingface": "owner/voice", "files": files})
    code, _, err = parley("add", "owner/model", "--name", "m", "--file", "a.gguf", "--file", "b.gguf")
    assert code == 2
    assert "name one --file only" in err
    code, _, err = parley("add", "owner/voice", *how, "--replace", "--file", "a.onnx", "--context-size", "9")
    assert code == 2
    assert "context_size: a voice has none" in err

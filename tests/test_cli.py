"""The command line: authoring commands on the shared vectors, and failures in one sentence."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import parley

VECTORS = json.loads((Path(__file__).parent / "vectors" / "authoring" / "cases.json").read_text(encoding="utf-8"))
DEEP = '{"nodes": [{"name": "a", "x": ' + "[" * 900 + "]" * 900 + "}]}"
SOUND: dict[str, Any] = {"start_node": "a", "default_model": "mock-echo", "nodes": [{"name": "a", "type": "Generate"}]}


def write(folder: Path, workflow: Any, name: str = "flow.workflow.json") -> Path:
    file = folder / name
    file.write_text(json.dumps(workflow, indent=2), encoding="utf-8")
    return file


@pytest.mark.parametrize("case", VECTORS, ids=range(len(VECTORS)))
def test_authoring_vectors(case: dict[str, Any], tmp_path: Path) -> None:
    file = write(tmp_path, case["workflow"])
    before = file.read_bytes()
    if case["op"] == "inputs":
        code, out, _ = parley("slots", str(file), case["node"])
        assert (code, out.split("\n")) == (0, [*case["expect"], ""])
        return
    if case["op"] == "delete_node":
        code, out, err = parley("delete", str(file), case["node"], "--stdout")
        flagged = [line.split("'")[1] for line in err.splitlines() if "names a slot" in line]
        assert flagged == case["flagged"]
        assert ("start_node is empty" in err) == (case["node"] == case["workflow"]["start_node"])
    else:
        option = ["--output-name"] if case["op"] == "rename_slot" else []
        code, out, err = parley("rename", str(file), case["node"], case["to"], "--stdout", *option)
    if "error" in case:
        assert (code, out) == (1, "")
        assert len(err.strip().splitlines()) == 1
    else:
        assert code == 0
        assert json.dumps(json.loads(out)) == json.dumps(case["expect"])  # the order of fields counts
    assert file.read_bytes() == before


def test_rename_rewrites_in_place_and_keeps_what_it_does_not_know(tmp_path: Path) -> None:
    workflow = {**SOUND, "note": "mine", "nodes": [{"zeta": 1, "name": "a", "type": "Custom", "ü": "ß"}]}
    file = write(tmp_path, workflow, "Ж 田中　é.workflow.json")
    os.chmod(file, 0o640)
    assert parley("rename", str(file), "a", "b")[0] == 0
    after = json.loads(file.read_text(encoding="utf-8"))
    assert after == {**workflow, "start_node": "b", "nodes": [{"zeta": 1, "name": "b", "type": "Custom", "ü": "ß"}]}
    assert list(after["nodes"][0]) == ["zeta", "name", "type", "ü"]
    assert "ß" in file.read_text(encoding="utf-8")
    assert sorted(p.name for p in tmp_path.iterdir()) == [file.name]
    if os.name == "posix":
        assert file.stat().st_mode & 0o777 == 0o640


def test_validate_lists_every_finding_and_sets_the_exit_code(tmp_path: Path) -> None:
    assert parley("validate", str(write(tmp_path, SOUND)))[:2] == (0, "")
    warned = {**SOUND, "nodes": [*SOUND["nodes"], {"name": "b", "type": "Transform"}]}
    code, out, _ = parley("validate", str(write(tmp_path, warned)), "--json")
    assert code == 0
    assert [(p["severity"], p["path"]) for p in json.loads(out)] == [("warning", "$.nodes[1].name")]
    broken = {**SOUND, "start_node": "z", "nodes": [{"name": "a", "type": "Generate", "default_exit": "y"}]}
    code, out, _ = parley("validate", str(write(tmp_path, broken)))
    assert code == 1
    assert [line.split(": ")[:2] for line in out.splitlines()] == [
        ["error 3003", "$.start_node"],
        ["error 3008", "$.nodes[0].default_exit (a)"],
    ]


def test_a_name_that_is_taken_is_said(tmp_path: Path) -> None:
    nodes = [{"name": "a", "type": "Generate", "default_exit": "b"}, {"name": "b", "type": "Generate"}]
    file = write(tmp_path, {"start_node": "a", "nodes": nodes})
    code, _, err = parley("rename", str(file), "a", "b")
    assert (code, err.strip()) == (0, "'a' is called 'b_2' now; 'b' is taken")


def test_validate_reads_storages_beside_the_file(tmp_path: Path) -> None:
    node = {"name": "a", "type": "CannedResponse", "string_storage": "lines.txt"}
    file = write(tmp_path, {"start_node": "a", "nodes": [node]})
    assert parley("validate", str(file))[0] == 1
    (tmp_path / "lines.txt").write_text("Hello.\n", encoding="utf-8")
    assert parley("validate", str(file))[0] == 0


@pytest.mark.parametrize(
    ("content", "arguments", "code", "says"),
    [
        (None, ["validate", "FILE"], 2, "there is no file"),
        ("{", ["validate", "FILE"], 1, "not valid JSON"),
        ("\ud800", ["validate", "FILE"], 1, "not valid JSON"),
        ('{"nodes": 3}', ["rename", "FILE", "a", "b"], 1, "nodes"),
        ("[1]", ["delete", "FILE", "a"], 1, ""),
        ('{"nodes": []}', ["slots", "FILE", "ghost"], 1, "ghost"),
        ("[" * 100_000, ["validate", "FILE"], 1, "not valid JSON"),
        ("{}", ["chat", "GONE"], 2, "GONE"),
        ("{}", ["validate", "FILE", "--config", "GONE.toml"], 2, "GONE.toml"),
        ("{}", ["bench", "--agents", "many"], 2, "--agents"),
        (DEEP, ["rename", "FILE", "a", "b"], 1, "cannot write"),
        ("{}", ["validate", "FILE", "--config", "DEEP.toml"], 2, "DEEP.toml"),
        ("{}", ["validate", "FILE", "--config", "NUL.toml"], 2, "catalog"),
        ("{}", ["serve", "--log-level", "loud"], 2, "log_level"),
    ],
)
def test_failures_are_one_sentence(
    content: str | None, arguments: list[str], code: int, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "DEEP.toml").write_text("x = " + "[" * 5000 + "]" * 5000, encoding="utf-8")
    (tmp_path / "NUL.toml").write_text('catalog = "a\\u0000b"', encoding="utf-8")
    file = tmp_path / "w.json"
    if content is not None:
        file.write_bytes(content.encode("utf-8", "surrogatepass"))
    found, out, err = parley(*[str(file) if word == "FILE" else word for word in arguments])
    assert (found, out) == (code, "")
    assert len(err.strip().splitlines()) == 1, err
    assert says in err
    assert "Traceback" not in err


def test_the_settings_file_and_environment_name_what_is_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    file = write(tmp_path, SOUND)
    (tmp_path / "parley.toml").write_text("resident_sequnces = 4\n", encoding="utf-8")
    code, _, err = parley("validate", str(file))
    assert code == 2
    assert "resident_sequnces" in err
    (tmp_path / "parley.toml").unlink()
    monkeypatch.setenv("PARLEY_N_THREADS", "lots")
    code, _, err = parley("validate", str(file))
    assert code == 2
    assert "n_threads" in err


def test_schema_is_complete_json() -> None:
    code, out, _ = parley("schema")
    document = json.loads(out)
    assert code == 0
    assert {"Hello", "AnswerText", "TurnComplete", "Workflow", "NodeGenerate"} <= set(document["$defs"])
    assert document["$defs"]["NodeGenerate"]["properties"]["max_tokens"]["minimum"] == 1


def test_without_arguments_help_is_printed() -> None:
    _, out, err = parley()
    assert "Usage" in out + err


def test_models_lists_the_catalog(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PARLEY_MODELS_FOLDER", str(tmp_path))
    code, out, _ = parley("models", "--json")
    assert code == 0
    statuses = {row["name"]: row["status"] for row in json.loads(out)}
    assert (statuses["starter-chat"], statuses["mock-echo"]) == ("Absent", "Local")


def test_output_survives_a_narrow_console(tmp_path: Path) -> None:
    workflow = {**SOUND, "nodes": [{"name": "a", "type": "Generate", "default_exit": "Łukasz 龙"}]}
    file = write(tmp_path, workflow)
    done = subprocess.run(
        [sys.executable, "-m", "bridge", "validate", str(file)],
        env={**os.environ, "PYTHONIOENCODING": "cp1252"},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 1
    assert b"\\u0141ukasz" in done.stdout
    assert b"Traceback" not in done.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_output_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    for arguments in (["schema"], ["validate", "--json", str(write(tmp_path, SOUND))]):
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run(
                [sys.executable, "-m", "bridge", *arguments],
                stdout=full,
                stderr=subprocess.PIPE,
                text=True,
                check=False,
            )
        assert done.returncode == 1
        assert "Traceback" not in done.stderr
        assert len(done.stderr.strip().splitlines()) == 1


def test_a_file_with_the_longest_name_is_rewritten(tmp_path: Path) -> None:
    file = write(tmp_path, SOUND, "w" * 250 + ".json")
    assert parley("rename", str(file), "a", "b")[0] == 0
    assert json.loads(file.read_text(encoding="utf-8"))["start_node"] == "b"


def test_a_reader_that_goes_away_is_no_error() -> None:
    done = subprocess.run(
        f'"{sys.executable}" -m bridge schema | head -c 10', shell=True, capture_output=True, text=True, check=False
    )
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr

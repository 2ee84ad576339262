"""`parley kb`: what it builds, what it finds, and failures in one sentence."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bridge.cli import app

CONFIG: dict[str, Any] = {
    "version": 1,
    "embedding_model": "mock-embed",
    "records_file": "lore.records.json",
    "fields": [{"name": "level", "type": "int", "default": 1}, {"name": "tags", "type": "set<string>", "default": []}],
}
RECORDS: list[dict[str, Any]] = [
    {"id": "beer", "text": "The inn serves dark beer.", "metadata": {"tags": ["inn", "drink"]}},
    {"id": "wreck", "text": "A wreck lies\noff the harbor.", "metadata": {"level": 5}},
    {"id": "mayor", "text": "The mayor sleeps in the inn.", "metadata": {"level": 9}},
]


@pytest.fixture
def lore(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A config file; the working directory has no settings."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "lore"
    folder.mkdir()
    (folder / "lore.json").write_text(json.dumps(CONFIG), encoding="utf-8")
    (folder / "lore.records.json").write_text(json.dumps(RECORDS), encoding="utf-8")
    return folder / "lore.json"


def kb(*arguments: object) -> tuple[int, str, str]:
    """(exit code, stdout, stderr)."""
    result = CliRunner().invoke(app, ["kb", *map(str, arguments)])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout, result.stderr


def found(*arguments: object) -> list[str]:
    code, out, err = kb("search", *arguments, "--json")
    assert (code, err) == (0, "")
    return [row["id"] for row in json.loads(out)]


def test_build_makes_the_index_once(lore: Path) -> None:
    index = lore.parent / "lore.records.index"
    code, out, err = kb("build", lore)
    assert (code, err) == (0, "")
    assert out.startswith("lore.json: 3 records, 64 dimensions of mock-embed; embedded in ")
    assert f"kept in {index.resolve()}" in out
    made = index.stat().st_mtime_ns
    code, out, _ = kb("build", lore)
    assert code == 0
    assert "nothing to embed" in out
    assert index.stat().st_mtime_ns == made


def test_build_says_what_is_never_found(lore: Path) -> None:
    (lore.parent / "lore.records.json").write_text(json.dumps([{"id": "a", "text": " "}]), encoding="utf-8")
    code, out, err = kb("build", lore)
    assert code == 0
    assert out.startswith("lore.json: 1 record, ")
    assert err == "note: 'lore.json': 1 record is blank, and never found\n"


def test_search_prints_a_line_for_each_hit(lore: Path) -> None:
    code, out, err = kb("search", lore, "a wreck off the harbor", "--top-k", "2")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert len(lines) == 2
    assert lines[0].split("  ") == [lines[0][:5], "wreck", "A wreck lies off the harbor."]
    assert float(lines[0][:5]) < float(lines[1][:5])


def test_search_as_json(lore: Path) -> None:
    code, out, _ = kb("search", lore, "the inn serves dark beer", "--top-k", "1", "--json")
    assert code == 0
    assert json.loads(out) == [
        {
            "id": "beer",
            "text": "The inn serves dark beer.",
            "distance": 0.0,
            "metadata": {"level": 1, "tags": ["drink", "inn"]},
        }
    ]


def test_search_with_filter_variables_and_threshold(lore: Path) -> None:
    below = json.dumps({"op": "le", "lhs": {"knowledge": "level"}, "rhs": {"agent": "player"}})
    assert found(lore, "the inn", "--filter", below, "--var", "player=0") == []
    assert found(lore, "the inn", "--filter", below, "--var", "player=1.5") == ["beer"]
    assert sorted(found(lore, "the inn", "--filter", below, "--var", "player=5")) == ["beer", "wreck"]
    tagged = json.dumps({"op": "in", "needle": {"agent": "tag"}, "haystack": {"knowledge": "tags"}})
    assert found(lore, "the inn", "--filter", tagged, "--var", "tag=drink") == ["beer"]
    assert found(lore, "the inn", "--filter", tagged, "--var", 'tag="drink"') == ["beer"]
    assert found(lore, "the inn serves dark beer", "--threshold", "0.01") == ["beer"]


def test_a_variable_of_a_filter_that_has_no_value_is_asked_for(lore: Path) -> None:
    below = json.dumps({"op": "not", "arg": {"op": "le", "lhs": {"knowledge": "level"}, "rhs": {"agent": "rank"}}})
    assert kb("search", lore, "x", "--filter", below) == (
        2,
        "",
        "parley: the filter reads the variable 'rank'; give --var rank=…\n",
    )


def test_build_says_what_may_have_been_meant(lore: Path) -> None:
    records = [{"id": "a", "text": "b", "metadata": {"levl": 5}}]
    (lore.parent / "lore.records.json").write_text(json.dumps(records), encoding="utf-8")
    code, _, err = kb("build", lore)
    assert code == 0
    assert "$[0].metadata.levl" in err
    assert "did you mean 'level'?" in err


def test_nothing_found_is_said_and_no_failure(lore: Path) -> None:
    assert kb("search", lore, "  ") == (0, "", "nothing is found\n")


def test_files_may_lie_anywhere_in_the_folder_that_is_named(lore: Path) -> None:
    (lore.parent.parent / "texts").mkdir()
    (lore.parent / "lore.records.json").rename(lore.parent.parent / "texts" / "lore.records.json")
    lore.write_text(json.dumps({**CONFIG, "records_file": "../texts/lore.records.json"}), encoding="utf-8")
    code, _, err = kb("build", lore)
    assert code == 1
    assert "leaves the storage folder" in err
    assert kb("build", lore, "--folder", lore.parent.parent)[0] == 0


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["build", "absent.json"], 2, "there is no file absent.json"),
        (["build", "lore/lore.json", "--folder", "other"], 2, "does not lie in other"),
        (["build", "lore/lore.records.json"], 1, "'lore.records.json', $: "),
        (["build", "lore/lore.json", "--config", "absent.toml"], 2, "cannot read the settings file"),
        (["search", "lore/lore.json", "x", "--filter", "{"], 2, "--filter is not valid JSON"),
        (["search", "lore/lore.json", "x", "--filter", "[1]"], 2, "filter, $: a list must be an object"),
        (["search", "lore/lore.json", "x", "--filter", '{"op": "not", "arg": {}}'], 2, "filter, $.arg.op"),
        (["search", "lore/lore.json", "x", "--var", "level"], 2, "--var takes NAME=VALUE, not 'level'"),
    ],
)
def test_failures_are_one_sentence(lore: Path, arguments: list[str], code: int, says: str) -> None:
    result = kb(*arguments)
    assert result[:2] == (code, "")
    assert says in result[2]
    assert len(result[2].splitlines()) == 1
    assert result[2].startswith("parley: ")


def test_an_unknown_model_and_an_index_of_another_are_said(lore: Path) -> None:
    kb("build", lore)
    lore.write_text(json.dumps({**CONFIG, "embedding_model": "nobody"}), encoding="utf-8")
    code, _, err = kb("build", lore)
    assert (code, err) == (2, "parley: the catalog has no model 'nobody'\n")
    catalog = {"models": [{"name": "second", "type": "embedding", "engine": "mock"}]}
    (lore.parent / "models.json").write_text(json.dumps(catalog), encoding="utf-8")
    (lore.parent / "parley.toml").write_text('catalog = "lore/models.json"', encoding="utf-8")
    lore.write_text(json.dumps({**CONFIG, "embedding_model": "second"}), encoding="utf-8")
    code, _, err = kb("search", lore, "x", "--config", lore.parent / "parley.toml")
    assert code == 1
    assert "'mock-embed' (64 dimensions)" in err
    assert "'second' (64 dimensions)" in err


def test_a_language_model_embeds_nothing(lore: Path) -> None:
    lore.write_text(json.dumps({**CONFIG, "embedding_model": "mock-echo"}), encoding="utf-8")
    code, _, err = kb("build", lore)
    assert code == 1
    assert "one of type embedding is needed" in err


def test_texts_cannot_steer_the_terminal(lore: Path) -> None:
    rows = [{"id": "\x1b[2J", "text": "a\x1b]0;title\x07 " + "long " * 100}]
    (lore.parent / "lore.records.json").write_text(json.dumps(rows), encoding="utf-8")
    code, out, _ = kb("search", lore, "long")
    assert code == 0
    assert "\x1b" not in out
    assert len(out.splitlines()) == 1
    assert out.endswith("…\n")


def test_help_needs_nothing_heavy() -> None:
    probe = (
        "import sys, bridge.cli; "
        "print([m for m in ('numpy', 'usearch', 'orjson', 'pydantic', 'bridge.retrieval') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"

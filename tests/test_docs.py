"""The written pages: their JSON compiles, their commands run and print what they say, their links lead somewhere.

In a how-to a block of code with a name (```json inn.workflow.json) is that file; a `sh` block is run, in the order of
the page, in a folder with all of its files; a `text` block is part of what the command before it prints.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import bridge
from bridge.cli import app
from bridge.codegen.docs_cli import commands
from bridge.filter import compile_filter
from bridge.knowledge import read_knowledge
from bridge.variables import Declared, check_variable

ROOT = Path(bridge.__file__).resolve().parent.parent
HOWTOS = sorted((ROOT / "docs" / "howto").glob("*.md"))
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "samples").rglob("*.md")])


def page_id(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: ```<language> <name>."""

    language: str
    name: str
    text: str


def blocks(page: Path) -> list[Block]:
    fences = re.finditer(r"^```(\w*)[ ]?(.*)\n((?s:.*?))^```$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return [Block(*found.groups()) for found in fences]


def workflows(page: Path) -> Iterator[dict[str, Any]]:
    for block in blocks(page):
        if block.language == "json" and not block.name.startswith("broken"):
            value = json.loads(block.text)
            if isinstance(value, dict) and "nodes" in value:
                yield value


def lay_out(page: Path, folder: Path) -> None:
    for block in blocks(page):
        if "." in block.name and "/" not in block.name:
            (folder / block.name).write_text(block.text, encoding="utf-8")


def run(command: str, folder: Path) -> tuple[int, str]:
    """(exit code, stdout and stderr) of a line of a page."""
    words = shlex.split(command)
    if words[0] == "parley" and words[1] not in ("chat", "demo"):
        result = CliRunner().invoke(app, words[1:])
        return result.exit_code, result.output
    program = [sys.executable, "-m", "bridge"] if words[0] == "parley" else [sys.executable]
    assert words[0] in ("parley", "python"), command
    done = subprocess.run(
        [*program, *words[1:]],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("page", HOWTOS, ids=page_id)
def test_commands_do_what_the_page_says(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    lay_out(page, tmp_path)
    printed = ""
    for block in blocks(page):
        if block.language == "sh":
            for command in block.text.splitlines():
                code, printed = run(command, tmp_path)
                assert (code != 0) == (block.name == "fails"), f"{command}: {printed}"
        elif block.language == "text":
            assert block.text.strip() in printed


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_json_is_json_and_workflows_compile(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    lay_out(page, tmp_path)
    for number, workflow in enumerate(workflows(page)):
        file = tmp_path / f"{number}.workflow.json"
        file.write_text(json.dumps(workflow), encoding="utf-8")
        result = CliRunner().invoke(app, ["validate", str(file)])
        # Whether the starter models are on this machine is nothing to a page.
        found = [line for line in result.stdout.splitlines() if not line.startswith("warning 6007: ")]
        assert (result.exit_code, found) == (0, []), result.output


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_pieces_of_the_samples_are_quoted_as_they_are(page: Path) -> None:
    for block in blocks(page):
        if block.name.startswith("samples/"):
            assert block.text in (ROOT / block.name).read_text(encoding="utf-8"), block.name


def test_filters_compile(tmp_path: Path) -> None:
    page = ROOT / "docs" / "howto" / "knowledge.md"
    lay_out(page, tmp_path)
    schema = read_knowledge(tmp_path, "lore.json").schema
    variables: Mapping[str, Any] = {"chapter": ("int", 1)}
    declared: Declared = {name: (kind, check_variable(kind, value)) for name, (kind, value) in variables.items()}
    written = re.findall(r"`(\{\"op\".*?\})`", page.read_text(encoding="utf-8"))
    written = [text for text in written if "..." not in text]
    written += [block.text for block in blocks(page) if block.name == "filter"]
    assert len(written) >= 4
    for text in written:
        assert compile_filter(json.loads(text), schema, declared) is not None


# ---- commands and links --------------------------------------------------------------------------------------


def commands_in(page: Path) -> Iterator[str]:
    """Every `parley …` of a page, in blocks and in prose."""
    text = page.read_text(encoding="utf-8")
    shell = [block.text for block in blocks(page) if block.language in ("sh", "")]
    lines = [line for block in shell for line in block.splitlines()]
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    for line in [*lines, *re.findall(r"`([^`\n]+)`", prose)]:
        found = re.match(r"(?:\S*/)?parley ([a-z].*)", line)
        if found and "…" not in found[1]:
            yield f"parley {found[1]}"


def command_exists(line: str) -> bool:
    """Whether the words name a command that takes the options and as many arguments."""
    first, *words = shlex.split(re.sub(r"<[^>]*>|[\[\]]", "", line))
    known = [item for item in commands() if tuple(words[: len(item.words)]) == item.words]
    if first != "parley" or not known:
        return first != "parley"
    command = max(known, key=lambda item: len(item.words))
    options = {name: item for item in command.parameters for name in item.names}
    arguments = sum(not item.names for item in command.parameters)
    rest = iter(words[len(command.words) :])
    for word in rest:
        if word in options:
            if options[word].takes_value:
                next(rest, None)
        elif word.startswith("-") and word != "-":
            return False
        elif word != "OPTIONS":
            arguments -= 1
    return arguments >= 0


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_every_command_is_one(page: Path) -> None:
    assert [command for command in commands_in(page) if not command_exists(command)] == []


def anchors(page: Path) -> set[str]:
    """The fragments that GitHub makes of a page's headings."""
    prose = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.*)$", prose, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_links_lead_somewhere(page: Path) -> None:
    prose = re.sub(r"^```.*?^```$|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    broken = []
    for target in re.findall(r"\]\(([^)\s]+)\)", prose):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, fragment = target.partition("#")
        there = page.parent / name if name else page
        if not there.exists() or (fragment and fragment not in anchors(there)):
            broken.append(target)
    assert broken == []


def test_every_page_is_listed() -> None:
    """What nobody links to is read by nobody."""
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    folder = ROOT / "docs"
    pages = [*folder.glob("*.md"), *(folder / "howto").glob("*.md"), *(folder / "reference").glob("*.md")]
    names = [page.relative_to(folder).as_posix() for page in pages if page.name != "README.md"]
    assert [name for name in names if f"]({name})" not in index] == []

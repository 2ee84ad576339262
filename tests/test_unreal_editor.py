"""The Unreal plugin's editor: its models with real sidecars, and the module itself over stubs of the engine."""

from __future__ import annotations

import json
import os
import re
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from bridge.catalog import CatalogEntry
from tests import cpp_build, http_hub
from tests.cpp_build import CPP, ROOT, needs_cpp
from tests.csharp_build import libzmq_files
from tests.http_hub import hub_entry, small_gguf
from tests.real_sidecar import game, until
from tests.talk import scripted

pytestmark = [needs_cpp, pytest.mark.thorough]

SOURCES = CPP / "editor"
ENGINE_SOURCES = CPP / "unreal" / "editor"
PATIENCE_S = 120.0
WORDS = " ".join(f"word{index}" for index in range(30))
MODELS = [
    scripted(WORDS, "Yes.", "No.", name="slow", tokens_per_s=100),
    scripted('{"tool": "open_door", "args": {"door": "cellar"}}', name="calls"),
]


def listed_in(path: Path) -> list[str]:
    """The tests of one C++ file."""
    found = re.findall(r"^(?:PARLEY|EDITOR)_TEST\((\w+)\)", path.read_text(encoding="utf-8"), re.MULTILINE)
    assert found, f"no test in {path}"
    return found


def all_in(folder: Path) -> list[str]:
    """The tests of all C++ files of a folder."""
    return sorted(test for path in folder.glob("*Tests.cpp") for test in listed_in(path))


@dataclass(frozen=True)
class Editor:
    """The compiled models with their tests, and a folder for a project."""

    exe: Path
    folder: Path

    def run(self, *tests: str, **told: str) -> None:
        """Runs tests to their end, one after the other."""
        words = [f"{name}={value}" for name, value in told.items()]
        cpp_build.run_program(self.exe, ",".join(tests), *words, timeout=PATIENCE_S, env={"PYTHONPATH": str(ROOT)})

    def project(self, *more: CatalogEntry, **settings: object) -> dict[str, str]:
        """What starts a sidecar that has mock models and these."""
        arguments = ["-m", "bridge", "serve", *game(self.folder / "game", *MODELS, *more, **settings)]
        return {"zmq": str(libzmq_files()[0]), "program": sys.executable, "arguments": json.dumps(arguments)}


@pytest.fixture(scope="module")
def exe() -> Path:
    return cpp_build.build("editor")


@pytest.fixture
def editor(exe: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Editor]:
    for key in os.environ:
        if key.startswith("PARLEY_"):
            monkeypatch.delenv(key)
    folder = tmp_path / "Spiel »Ölkännchen« 酒場 it's"
    folder.mkdir()
    yield Editor(exe, folder)


def test_the_inspector(editor: Editor) -> None:
    editor.run(*listed_in(SOURCES / "InspectorTests.cpp"))


@pytest.mark.parametrize("test", listed_in(SOURCES / "ChatTests.cpp"))
def test_with_a_sidecar(editor: Editor, test: str) -> None:
    if test == "ModelsAreDownloadedCancelledAndRemoved":
        download(editor, test)
    else:
        editor.run(test, **editor.project())


def download(editor: Editor, test: str) -> None:
    """Runs a test beside a hub that holds the first download back until the test has cancelled it."""
    entry = hub_entry(name="hub-model")
    cancelled = editor.folder / "cancelled"
    with http_hub.serving(model=small_gguf(3_000_000)) as hub:
        hub.hold_after = 1_500_000

        def let_go() -> None:
            until(cancelled.exists, PATIENCE_S, "the download is cancelled")
            hub.hold_after = None
            hub.go_on.set()

        thread = threading.Thread(target=let_go, daemon=True)
        thread.start()
        told = editor.project(entry, hub_endpoint=hub.endpoint)
        file = editor.folder / "game" / "models" / http_hub.REPOSITORY.replace("/", "--") / "model.gguf"
        editor.run(test, cancelled=str(cancelled), model_file=str(file), **told)
        thread.join(5)


@pytest.fixture(scope="module")
def engine_exe() -> Path:
    return cpp_build.build("unreal_editor")


@pytest.fixture
def module(engine_exe: Path, editor: Editor) -> Editor:
    """The editor module over stubs of the engine."""
    return Editor(engine_exe, editor.folder)


def test_the_editor_module(module: Editor) -> None:
    told = module.project()
    for test in all_in(ENGINE_SOURCES):
        module.run(test, folder=str(module.folder), **told)


def test_every_test_of_the_programs_is_run(exe: Path, engine_exe: Path) -> None:
    for program, folder in ((exe, SOURCES), (engine_exe, ENGINE_SOURCES)):
        assert sorted(cpp_build.run_program(program).stdout.split()) == all_in(folder)

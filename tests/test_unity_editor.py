"""The Unity package's editor code: drawn as Unity draws it, undone as Unity undoes it, talking to real sidecars."""

from __future__ import annotations

import json
import os
import re
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bridge.catalog import CatalogEntry
from tests import http_hub
from tests.csharp_build import CSHARP, ROOT, compile_csharp, core_library, libzmq_environment, needs_mono, run_mono
from tests.http_hub import hub_entry, small_gguf
from tests.real_sidecar import game, until
from tests.talk import EMBED, scripted

pytestmark = [needs_mono, pytest.mark.timeout(180)]

PACKAGE = ROOT / "unity_package"
SOURCES = CSHARP / "editor"
STUBS = CSHARP / "stubs"
PATIENCE_S = 120.0
WORDS = " ".join(f"word{index}" for index in range(30))
MODELS = [
    scripted(WORDS, "Yes.", "No.", name="slow", tokens_per_s=100),
    scripted('{"tool": "open_door", "args": {"door": "cellar"}}', name="calls"),
    EMBED,
]
LORE = [{"id": "r1", "text": "Rooms cost 3 silver."}, {"id": "r2", "text": "The harbour freezes in winter."}]


def listed_in(name: str) -> list[str]:
    """The tests of one C# file, by their full names."""
    text = (SOURCES / f"{name}.cs").read_text(encoding="utf-8")
    found = re.findall(r"\[Test\]\s+private static void (\w+)\(", text)
    assert found, f"no test in {name}.cs"
    return [f"{name}.{test}" for test in found]


@dataclass(frozen=True)
class Editor:
    """The compiled editor with its tests, and a folder for a project."""

    exe: Path
    env: dict[str, str]
    folder: Path

    def run(self, *tests: str, told: dict[str, Any] | None = None) -> None:
        """Runs tests to their end, one after the other."""
        file = self.folder / "told.json"
        file.write_text(json.dumps({"package": str(PACKAGE), **(told or {})}), encoding="utf-8")
        run_mono(self.exe, *tests, env={**self.env, "EDITOR_TEST": str(file)}, timeout=PATIENCE_S)

    def project(self, *more: CatalogEntry, **settings: object) -> dict[str, Any]:
        """A project whose sidecar has mock models and these; its storage folder holds two passages of lore."""
        storage = self.folder / "Assets" / "StreamingAssets" / "lore ö"
        storage.mkdir(parents=True)
        (storage / "lore.records.json").write_text(json.dumps(LORE), encoding="utf-8")
        config = {"version": 1, "embedding_model": EMBED.name, "records_file": "lore.records.json", "fields": []}
        (storage / "lore.json").write_text(json.dumps(config), encoding="utf-8")
        return {
            "folder": str(self.folder),
            "storage": "lore ö",
            "command": [sys.executable, "-m", "bridge"],
            "arguments": game(self.folder / "game", *MODELS, *more, **settings),
        }


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The whole package and the stubs as assemblies of their own, as Unity makes them."""
    folder = tmp_path_factory.mktemp("editor")
    core = core_library()
    engine = compile_csharp([STUBS / "UnityEngine"], folder / "UnityEngine.dll", library=True, newtonsoft=False)
    runtime_files = [path for path in (PACKAGE / "Runtime").glob("*.cs")]
    runtime = compile_csharp(runtime_files, folder / "Parley.dll", library=True, references=[core, engine])
    editor = compile_csharp(
        [STUBS / "UnityEditor"], folder / "UnityEditor.dll", library=True, references=[engine], newtonsoft=False
    )
    tool = compile_csharp(
        [PACKAGE / "Editor"], folder / "Parley.Editor.dll", library=True, references=[core, runtime, engine, editor]
    )
    return compile_csharp(
        [CSHARP / "player" / "Check.cs", SOURCES],
        folder / "editor.exe",
        references=[core, runtime, engine, editor, tool],
    )


@pytest.fixture
def editor(compiled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Editor]:
    for key in os.environ:
        if key.startswith("PARLEY_"):
            monkeypatch.delenv(key)
    folder = tmp_path / "Spiel »Ölkännchen« 酒場 it's"
    folder.mkdir()
    yield Editor(compiled, {**libzmq_environment(compiled.parent / "native"), "PYTHONPATH": str(ROOT)}, folder)


QUICK = {
    "SeveralSpeakersStreamOutsidePlayMode",
    "ATurnIsLookedInto",
    "AReloadKeepsTheConversation",
    "TheSidecarsFindingsStandInTheInspector",
    "ModelsAreListedAndLoaded",
    "SettingsAreMadeAndEdited",
    "TurnsFromElsewhereAreShownAsFarAsTheyGo",
}
"""One test for each window; the others look at the same from more sides."""


@pytest.mark.parametrize("kind", ["InspectorTests", "GraphTests", "BuildTests"])
def test_without_a_sidecar(editor: Editor, kind: str) -> None:
    editor.run(*listed_in(kind))


@pytest.mark.parametrize(
    "test",
    [
        test if test.split(".")[1] in QUICK else pytest.param(test, marks=pytest.mark.thorough)
        for test in listed_in("SidecarTests")
    ],
)
def test_with_a_sidecar(editor: Editor, test: str) -> None:
    if test.endswith("ModelsAreDownloadedCancelledCheckedAndRemoved"):
        download(editor, test)
    else:
        editor.run(test, told=editor.project())


def download(editor: Editor, test: str) -> None:
    """Runs a test beside a hub that holds the first download back until the test has cancelled it."""
    entry = hub_entry(name="hub-model")
    cancelled = editor.folder / "cancelled"
    data = small_gguf(3_000_000)
    with http_hub.serving(model=data) as hub:
        hub.hold_after = 1_500_000

        def let_go() -> None:
            until(cancelled.exists, PATIENCE_S, "the download is cancelled")
            hub.hold_after = None
            hub.go_on.set()

        thread = threading.Thread(target=let_go, daemon=True)
        thread.start()
        told = editor.project(entry, hub_endpoint=hub.endpoint)
        file = editor.folder / "game" / "models" / http_hub.REPOSITORY.replace("/", "--") / "model.gguf"
        editor.run(test, told={**told, "cancelled": str(cancelled), "model_file": str(file)})
        thread.join(5)


def test_every_test_of_the_program_is_run(compiled: Path) -> None:
    listed = run_mono(compiled).stdout.split()
    files = [path.stem for path in SOURCES.glob("*Tests.cs")]
    assert sorted(listed) == sorted(test for name in files for test in listed_in(name))
    assert sorted(files) == ["BuildTests", "GraphTests", "InspectorTests", "SidecarTests"]

"""The Unreal layer in a game's loop over stubs of the engine: hub, components, assets, voices, with real sidecars."""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests import cpp_build
from tests.cpp_build import CPP, ROOT, needs_cpp
from tests.csharp_build import libzmq_files
from tests.real_sidecar import game, serving
from tests.test_unity_runtime import MODELS, WORDS, WORKFLOWS

pytestmark = [
    needs_cpp,
    pytest.mark.thorough,
    pytest.mark.timeout(900),
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the stubs of the engine are those of Linux"),
]

Json = dict[str, Any]
SOURCES = CPP / "unreal" / "runtime"
RUN_S = 200.0
DRAIN_MS = 8.0
"""For 200 frames under AddressSanitizer, where everything takes several times as long as in a game."""
FLOWS: Json = {
    **WORKFLOWS,
    "made": {"start_node": "c", "nodes": [{"name": "c", "type": "CannedResponse", "string_storage": "made"}]},
}
OUTSIDE = {"WithoutAutoLaunchTheGameConnects", "AGameThatConnectedByItselfIsToldOfTheEnd"}
"""Tests with a sidecar that somebody else has started."""
ALONE = ("CodecTests", "AssetTests", "ViewTests", "SpeakerTests")
"""Those that need no sidecar."""


@dataclass(frozen=True)
class Program:
    """The compiled tests, with a project's folder and the plugin's in it."""

    exe: Path
    folder: Path

    def run(self, *names: str, **more: object) -> str:
        """Runs tests, one after the other, in one process; returns what they printed."""
        given = {
            "folder": str(self.folder),
            "command": [sys.executable, "-m", "bridge"],
            "arguments": game(self.folder / "sidecar", *MODELS),
            "workflows": FLOWS,
            "words": WORDS,
            "plays": 3,
            "drain_ms": DRAIN_MS,
            **more,
        }
        file = self.folder / "given.json"
        file.write_text(json.dumps(given, ensure_ascii=False), encoding="utf-8")
        env = {
            "PLAYER_TEST": str(file),
            "PLAYER_PLUGIN": str(self.folder / "Plugins" / "Parley"),
            "PYTHONPATH": str(ROOT),
            "PYTHONIOENCODING": "utf-8",
        }
        return cpp_build.run_program(self.exe, *names, env=env, timeout=RUN_S).stdout


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    """The tests, and a project in a folder with an odd name, with the plugin as it is packaged."""
    exe = cpp_build.build("unreal_runtime")
    folder = tmp_path_factory.mktemp("Wirtshaus »zum Kännchen« 酒場")
    storage = folder / "Content" / "Parley" / "storage"
    storage.mkdir(parents=True)
    (storage / "lines.txt").write_text("From a file.\n", encoding="utf-8")
    libraries = folder / "Plugins" / "Parley" / "Source" / "ThirdParty" / "libzmq" / "Linux"
    libraries.mkdir(parents=True)
    for library in libzmq_files():
        shutil.copy(library, libraries)
    return Program(exe, folder)


@pytest.fixture
def outside(program: Program, tmp_path: Path) -> Iterator[dict[str, object]]:
    """Where a sidecar is that somebody else has started."""
    with serving(tmp_path / "log.txt", *game(tmp_path / "sidecar", *MODELS)) as sidecar:
        yield {"endpoint": sidecar.ready["endpoint"], "token": sidecar.ready["token"]}


def named(kind: str) -> list[str]:
    """The tests of one file, as the source has them."""
    text = (SOURCES / f"{kind}.cpp").read_text(encoding="utf-8")
    return [f"{kind}.{name}" for name in re.findall(rf"^PARLEY_TEST\({kind}, (\w+)\)", text, re.MULTILINE)]


def with_their_own(*kinds: str) -> list[str]:
    """The tests that start a sidecar themselves."""
    return [name for kind in kinds for name in named(kind) if name.split(".")[1] not in OUTSIDE]


def test_no_test_is_left_out(program: Program) -> None:
    listed = cpp_build.run_program(program.exe).stdout.split()
    assert sorted(listed) == sorted(name for file in SOURCES.glob("*Tests.cpp") for name in named(file.stem))


@pytest.mark.parametrize("kind", ALONE)
def test_without_a_sidecar(program: Program, kind: str) -> None:
    program.run(*named(kind))


@pytest.mark.parametrize("name", with_their_own("HubTests", "AgentTests", "PlayTests", "VoiceTests"))
def test_with_a_sidecar(program: Program, name: str) -> None:
    print(program.run(name))


def test_a_sidecar_of_somebody_else(program: Program, outside: dict[str, object]) -> None:
    program.run(*(f"HubTests.{name}" for name in sorted(OUTSIDE)), **outside)

"""The player layer of the Unity package: it compiles against stubs of the engine, and runs in a fake player loop."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bridge.catalog import CatalogEntry, MockScript
from bridge.engines.mock_voice import samples_of
from tests.csharp_build import CSHARP, ROOT, compile_csharp, core_library, libzmq_environment, needs_mono, run_mono
from tests.real_sidecar import game, serving, until
from tests.talk import scripted

pytestmark = [needs_mono, pytest.mark.timeout(240)]

Json = dict[str, Any]
PLAYER = CSHARP / "player"
RUNTIME = ROOT / "unity_package" / "Runtime"
SAMPLE = ROOT / "unity_package" / "Samples~" / "Tavern"
OWN_TESTS = ROOT / "unity_package" / "Tests" / "Runtime"
TAVERN = ROOT / "samples" / "tavern"
RUN_S = 200.0
WORDS = " ".join(f"word{index}" for index in range(60))
MANY = " ".join(f"w{index}" for index in range(260))
TALE = "Sit down by the fire, friend. *She nods.* The stew is hot today!"
SPOKEN = ["Sit down by the fire, friend.", "The stew is hot today!"]
TOOL = {"name": "open_door", "description": "Opens a door.", "parameters": {"type": "object", "properties": {}}}

WORKFLOWS: Json = {
    "inn": {
        "start_node": "mira",
        "nodes": [
            {"name": "mira", "type": "Generate", "model": "mira", "history_name": "Mira", "default_exit": "bram"},
            {"name": "bram", "type": "Generate", "model": "bram", "history_name": "Bram", "default_exit": "narrator"},
            {"name": "narrator", "type": "Transform", "template": "The fire cracks.", "send": "Whole"},
        ],
    },
    "guard": {"start_node": "guard", "nodes": [{"name": "guard", "type": "Generate", "model": "guard"}]},
    "slow": {"start_node": "mira", "nodes": [{"name": "mira", "type": "Generate", "model": "slow"}]},
    "spoken": {
        "start_node": "mira",
        "nodes": [
            {
                "name": "mira",
                "type": "GenerateAndSpeak",
                "model": "tale",
                "voice": "mock-voice",
                "default_exit": "bram",
            },
            {"name": "bram", "type": "Speak", "input": "mira", "voice": "mock-voice", "speaker_id": 2, "speed": 2.0},
        ],
    },
    "slowly_spoken": {
        "start_node": "mira",
        "nodes": [{"name": "mira", "type": "GenerateAndSpeak", "model": "tale", "voice": "slow-voice"}],
    },
    "hoarse": {
        "start_node": "mira",
        "nodes": [{"name": "mira", "type": "GenerateAndSpeak", "model": "tale", "voice": "hoarse-voice"}],
    },
    "long": {"start_node": "mira", "nodes": [{"name": "mira", "type": "Generate", "model": "long", "max_tokens": 400}]},
    "no_model": {"start_node": "mira", "nodes": [{"name": "mira", "type": "Generate", "model": "no-such-model"}]},
    "note": {
        "start_node": "note",
        "variables": [{"name": "level", "type": "int", "value": 1}],
        "nodes": [{"name": "note", "type": "Transform", "template": "{{var.level}}", "send": "Whole"}],
    },
    "tools": {
        "start_node": "door",
        "default_model": "calls",
        "nodes": [
            {
                "name": "door",
                "type": "ToolCall",
                "tool_call_format": "generic",
                "tools": [TOOL],
                "wait_for_result_s": 20,
                "tool_called_exit": "says",
                "no_tool_called_exit": "says",
                "send": "None",
            },
            {"name": "says", "type": "Transform", "template": "The door: {{slot.door}}", "send": "Whole"},
        ],
    },
    "canned": {"start_node": "c", "nodes": [{"name": "c", "type": "CannedResponse", "string_storage": "lines.txt"}]},
}
MODELS = [
    scripted("Welcome, traveller.", name="mira"),
    scripted("Ho there!", name="bram"),
    scripted("Halt!", name="guard"),
    scripted(TALE, name="tale"),
    CatalogEntry(name="slow-voice", type="tts", engine="mock", mock=MockScript(real_time_factor=0.5)),
    CatalogEntry(name="hoarse-voice", type="tts", engine="mock", mock=MockScript(fail_on="fire")),
    scripted(WORDS, name="slow", tokens_per_s=60),
    scripted(MANY, name="long", tokens_per_s=2000),
    scripted('{"tool": "open_door", "args": {}}', name="calls"),
    scripted("There is mutton stew.", name="mock-chat"),
    CatalogEntry(name="starter-embed", type="embedding", engine="mock"),
    CatalogEntry(name="starter-voice", type="tts", engine="mock"),
]


@dataclass(frozen=True)
class Program:
    """The compiled tests, and with what they run."""

    exe: Path
    environment: dict[str, str]

    def run(self, *names: str, **environment: str) -> str:
        """Runs tests, one after the other; returns what they printed."""
        done = run_mono(self.exe, *names, env={**self.environment, **environment}, timeout=RUN_S, check=False)
        assert done.returncode == 0, f"{done.stderr or done.returncode}\n{done.stdout}"
        return done.stdout

    @contextlib.contextmanager
    def started(self, name: str, environment: dict[str, str]) -> Iterator[subprocess.Popen[str]]:
        """One test that goes on beside what is done here. It is gone afterwards, whatever happens."""
        with subprocess.Popen(
            ["mono", "--debug", str(self.exe), name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            env={**os.environ, **self.environment, **environment},
        ) as popen:
            try:
                yield popen
            finally:
                popen.kill()


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    """Runtime as it is in the editor, over stubs of both engine assemblies, with the tests."""
    out = tmp_path_factory.mktemp("player")
    core = core_library()
    engine = compile_csharp([CSHARP / "stubs" / "UnityEngine"], out / "UnityEngine.dll", library=True, newtonsoft=False)
    editor = compile_csharp(
        [CSHARP / "stubs" / "UnityEditor"],
        out / "UnityEditor.dll",
        library=True,
        references=[engine],
        newtonsoft=False,
    )
    runtime = compile_csharp(
        sorted(RUNTIME.glob("*.cs")),
        out / "Parley.dll",
        library=True,
        references=[core, engine, editor],
        defines=["UNITY_EDITOR"],
    )
    sample = compile_csharp(
        sorted(SAMPLE.glob("*.cs")),
        out / "Parley.Samples.Tavern.dll",
        library=True,
        references=[core, engine, runtime],
    )
    builder = compile_csharp(
        sorted((SAMPLE / "Editor").glob("*.cs")),
        out / "Parley.Samples.Tavern.Editor.dll",
        library=True,
        references=[core, engine, editor, runtime, sample],
    )
    references = [core, engine, editor, runtime, sample, builder]
    exe = compile_csharp(
        [PLAYER, CSHARP / "stubs" / "NUnit", OWN_TESTS / "TavernTests.cs"],
        out / "player_tests.exe",
        references=references,
    )
    return Program(exe, libzmq_environment(out))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project of Unity's with a file that a workflow names, in a folder with an odd name."""
    folder = tmp_path_factory.mktemp("Wirtshaus »zum Kännchen« 酒場")
    storage = folder / "Assets" / "StreamingAssets" / "Parley" / "storage"
    storage.mkdir(parents=True)
    (storage / "lines.txt").write_text("From a file.\n", encoding="utf-8")
    shutil.copytree(SAMPLE, folder / "Assets" / "Samples" / "Parley" / "Tavern")
    return folder


def settings(folder: Path, **more: str | int) -> dict[str, str]:
    """The environment that tells the program of a folder, and of a sidecar that it starts itself."""
    given = {
        "folder": str(folder),
        "command": [sys.executable, "-m", "bridge"],
        "arguments": game(folder / "sidecar", *MODELS),
        "workflows": WORKFLOWS,
        "words": WORDS,
        **more,
    }
    file = folder / "given.json"
    file.write_text(json.dumps(given, ensure_ascii=False), encoding="utf-8")
    return {"PLAYER_TEST": str(file), "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"}


@pytest.fixture
def outside(folder: Path, tmp_path: Path) -> Iterator[dict[str, str]]:
    """The same with a sidecar that somebody else has started."""
    with serving(tmp_path / "log.txt", *game(folder / "sidecar", *MODELS)) as sidecar:
        yield settings(folder, endpoint=sidecar.ready["endpoint"], token=sidecar.ready["token"])


def named(kind: str) -> list[str]:
    """The tests of one file, as the source has them."""
    text = (PLAYER / f"{kind}.cs").read_text(encoding="utf-8")
    _, *parts = text.split("[Test]")
    return [f"{kind}.{part.split('void ', 1)[1].split('(', 1)[0]}" for part in parts]


def sorted_out(kind: str, quick: set[str], beside: set[str]) -> list[Any]:
    """The tests of one file but for those `beside`; all that are not `quick` take a sidecar's start each."""
    return [
        name if name.split(".")[1] in quick else pytest.param(name, marks=pytest.mark.thorough)
        for name in named(kind)
        if name.split(".")[1] not in beside
    ]


QUICK = {
    "TwoAgentsOnOneHub",
    "TheGameGoesOnWhateverTheSidecarDoes",
    "AFrameWithNothingToDoAllocatesNothing",
    "AVoiceIsHeardAsTheSidecarSentIt",
    "PlaysInDomainsOfTheirOwn",
    "AReloadInTheMiddleOfATurn",
}
"""One test for each promise; the others look at the same from more sides."""

BESIDE = {
    "DrainingTakesNoTime",
    "WithoutAutoLaunchTheGameConnects",
    "AGameThatConnectedByItselfIsToldOfTheEnd",
    "AGameThatStandsStillLosesNothing",
    "AGameThatStandsStillHearsEverySampleOnce",
}
"""Tests that have more around them than a project's folder."""


@pytest.mark.thorough
def test_the_player_build_compiles_without_the_editor(tmp_path: Path) -> None:
    engine = compile_csharp(
        [CSHARP / "stubs" / "UnityEngine"], tmp_path / "UnityEngine.dll", library=True, newtonsoft=False
    )
    sources = sorted(RUNTIME.glob("*.cs"))
    compile_csharp(sources, tmp_path / "Parley.dll", library=True, references=[core_library(), engine])


def test_no_test_is_left_out(program: Program) -> None:
    listed = run_mono(program.exe, env=program.environment).stdout.split()
    assert sorted(listed) == sorted(name for file in PLAYER.glob("*Tests.cs") for name in named(file.stem))


@pytest.mark.parametrize("kind", ["TextTests", "VoiceTests", "SpeakerTests", "AssetTests", "ViewTests"])
def test_without_a_sidecar(program: Program, kind: str) -> None:
    program.run(*named(kind))


@pytest.mark.parametrize("name", sorted_out("HubTests", QUICK, BESIDE))
def test_hub_and_agents(program: Program, folder: Path, name: str) -> None:
    print(program.run(name, **settings(folder)))


@pytest.mark.thorough
def test_what_a_script_sets_of_an_agent(program: Program, folder: Path) -> None:
    program.run(*named("AgentTests"), **settings(folder))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says which cores a process may use")
def test_two_hundred_frames_are_drained_in_a_millisecond_of_one_core(program: Program, folder: Path) -> None:
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(allowed)})
    try:
        print(program.run("HubTests.DrainingTakesNoTime", **settings(folder)))
    finally:
        os.sched_setaffinity(0, allowed)


def test_a_sidecar_of_somebody_else(program: Program, outside: dict[str, str]) -> None:
    program.run(
        "HubTests.WithoutAutoLaunchTheGameConnects", "HubTests.AGameThatConnectedByItselfIsToldOfTheEnd", **outside
    )


@pytest.mark.parametrize("name", sorted_out("ReloadTests", QUICK, BESIDE))
def test_plays_and_reloads(program: Program, folder: Path, full: bool, name: str) -> None:
    print(program.run(name, **settings(folder, plays=10 if full else 2)))


@pytest.mark.parametrize(
    "name",
    [
        "AGameThatStandsStillLosesNothing",
        pytest.param("AGameThatStandsStillHearsEverySampleOnce", marks=pytest.mark.thorough),
    ],
)
@pytest.mark.thorough
def test_a_game_that_stands_still_loses_nothing(program: Program, folder: Path, tmp_path: Path, name: str) -> None:
    """As the editor when it is paused in a debugger: until the sidecar takes the game for gone."""
    log = tmp_path / "log.txt"
    arguments = game(tmp_path / "sidecar", *MODELS, heartbeat_s=0.1, detach_after_s=0.4)
    with serving(log, *arguments) as sidecar:
        samples = sum(map(samples_of, SPOKEN))
        ready = sidecar.ready
        given = settings(folder, endpoint=ready["endpoint"], token=ready["token"], tale=TALE, samples=samples)
        with program.started(f"ReloadTests.{name}", given) as popen:
            assert popen.stdin is not None and popen.stdout is not None
            assert popen.stdout.readline() == "paused\n"
            popen.send_signal(signal.SIGSTOP)
            try:
                until(lambda: "detached" in log.read_text(encoding="utf-8"), 20, "detached")
            finally:
                popen.send_signal(signal.SIGCONT)
            out, err = popen.communicate("\n", timeout=RUN_S)
            assert popen.returncode == 0, f"{err}\n{out}"


@pytest.mark.thorough
def test_the_packages_own_tests_of_the_tavern_pass(program: Program, folder: Path) -> None:
    program.run("PackageTests.ThoseOfTheTavernPass", **settings(folder))


def test_the_tavern(program: Program, folder: Path) -> None:
    program.run("SampleTests.TheTavernOpensAndTalks", **settings(folder))


def test_the_sample_has_the_files_of_the_tavern() -> None:
    """They are the same ones, so that whoever changes one is told of the other."""
    for copy in [SAMPLE / "tavern.workflow.json", *(SAMPLE / "Storage").iterdir()]:
        if copy.suffix != ".meta":
            assert copy.read_bytes() == (TAVERN / copy.name).read_bytes(), copy.name
    names = {path.name for path in (SAMPLE / "Storage").iterdir()} | {"tavern.workflow.json"}
    assert {path.name for path in TAVERN.iterdir() if path.suffix != ".index"} <= names

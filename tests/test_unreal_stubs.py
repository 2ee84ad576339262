"""The stubs of the engine behave as the engine does, where tests of the plugin count on it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.unreal_compile import STUBS, Way, arguments, linked, missing_compilers, stub_sources
from tests.unreal_generated import write_generated

TESTED = STUBS.parent / "unreal" / "stubs" / "Tested"
PROGRAM = TESTED.parent / "StubProgram.cpp"
WHY_NOT = missing_compilers("g++")
pytestmark = [
    pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT or "g++ is here"),
    pytest.mark.thorough,
    pytest.mark.timeout(600),
]


@pytest.mark.parametrize("editor", [True, False], ids=["editor", "game"])
def test_the_stubs_behave_as_the_engine_does(editor: bool, tmp_path: Path) -> None:
    generated = tmp_path / "generated"
    sources = write_generated(TESTED, generated / "Tested")
    way = Way(editor=editor)
    objects = []
    for source in [PROGRAM, *sources, *stub_sources()]:
        out = tmp_path / f"{source.stem}.o"
        command = [
            *arguments("Parley", way, generated),
            "-DTESTED_API=",
            f"-I{TESTED}",
            f"-I{generated / 'Tested'}",
            "-w",
        ]
        done = subprocess.run(
            [
                *command,
                "-g",
                "-fsanitize=address,undefined",
                "-fno-sanitize-recover=all",
                "-c",
                str(source),
                "-o",
                str(out),
            ],
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        objects.append(out)
    program = tmp_path / "stubs"
    linked(program, objects, way, shared=False, flags=["-fsanitize=address,undefined"])
    ran = subprocess.run(
        [str(program)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=60,
        check=False,
        env={"ASAN_OPTIONS": "detect_leaks=0"},
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr

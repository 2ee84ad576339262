"""The C++ of the Unreal plugin's pages and sample compiles against the plugin's headers and stand-ins for Unreal's."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import bridge
from tests.cpp_build import CPP, build, needs_cpp, run_program
from tests.csharp_build import libzmq_files
from tests.test_unreal_runtime import Program
from tests.unreal_generated import write_generated
from tests.unreal_reader import read_header

pytestmark = [needs_cpp, pytest.mark.timeout(900)]

ROOT = Path(bridge.__file__).resolve().parent.parent / "unreal_plugin"
PARLEY = ROOT / "Source" / "Parley"
SAMPLE = ROOT / "Samples" / "Tavern"
FLAGS = ("-std=c++17", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-fno-exceptions", "-fno-rtti")
PATIENCE_S = 120


def programs(page: str) -> list[str]:
    return re.findall(r"```cpp\n(.*?)```", (ROOT / "Docs" / page).read_text(encoding="utf-8"), re.DOTALL)


def compile_file(file: Path, *folders: Path, stubs: bool = True) -> None:
    includes = [f"-I{folder}" for folder in (PARLEY, *folders)]
    if stubs:
        # As system headers: what they leave unused is no matter here.
        modules = sorted(path for path in (CPP / "stubs").iterdir() if path.is_dir())
        includes += [word for folder in modules for word in ("-isystem", str(folder))]
        includes += [f"-I{PARLEY / 'Public'}", "-DPARLEY_API=", "-DGAME_API=", "-DWITH_EDITOR=0"]
    done = subprocess.run(
        ["g++", *FLAGS, *includes, str(file)], capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert done.returncode == 0, done.stderr[:6000]


def test_the_sample_and_the_programs_of_the_pages_compile(tmp_path: Path) -> None:
    """As one file of a game's module, so that the headers are read once."""
    game = tmp_path / "Game"
    shutil.copytree(SAMPLE, game)
    parts = ['#include "TavernActor.cpp"\n']
    head = re.search(r"```\n(#include.*?)```", (ROOT / "Docs" / "from-code.md").read_text(encoding="utf-8"), re.DOTALL)
    assert head is not None
    # A piece that looks at nothing that it got is no fault on a page.
    parts.append(f'#pragma GCC diagnostic ignored "-Wunused-parameter"\n{head[1]}')
    count = 0
    for program in [*programs("getting-started.md"), *programs("from-code.md"), *programs("voices.md")]:
        name = re.match(r"// (\w+\.h)\n", program)
        if name:
            (game / name[1]).write_text(program, encoding="utf-8")
            parts.append(f'#include "{name[1]}"\n')
        elif "int main" not in program:
            count += 1
            function = f"void Piece{count}(UParleyAgentComponent* Mira)"
            parts.append(f"{function};\n{function}\n{{\n{program}\n}}\n")
    assert count >= 8
    (game / "Game.cpp").write_text("".join(parts), encoding="utf-8")
    public = [read_header(path.name, path.read_text(encoding="utf-8")) for path in (PARLEY / "Public").rglob("*.h")]
    write_generated(PARLEY, tmp_path / "ParleyGenerated")
    write_generated(game, tmp_path / "GameGenerated", public)
    compile_file(game / "Game.cpp", game, tmp_path / "ParleyGenerated", tmp_path / "GameGenerated")


def test_the_program_without_an_engine_compiles(tmp_path: Path) -> None:
    [program] = [one for one in programs("from-code.md") if "int main" in one]
    (tmp_path / "Talk.cpp").write_text(program, encoding="utf-8")
    compile_file(tmp_path / "Talk.cpp", CPP, stubs=False)


@pytest.mark.thorough
def test_the_program_without_an_engine_talks(tmp_path: Path) -> None:
    """With a sidecar of its own, and mock models in the place of the starter models."""
    [program] = [one for one in programs("from-code.md") if "int main" in one]
    (tmp_path / "Talk.cpp").write_text(program, encoding="utf-8")
    codec = build("parley_codec")
    libraries = [str(codec), str(codec.with_name("libparley_core.a"))]
    command = ["g++", FLAGS[0], *FLAGS[-2:], f"-I{PARLEY}", f"-I{CPP}", str(tmp_path / "Talk.cpp")]
    subprocess.run([*command, *libraries, "-pthread", "-ldl", "-o", str(tmp_path / "talk")], check=True)
    tavern = tmp_path / "tavern"
    shutil.copytree(ROOT.parent / "samples" / "tavern", tavern, ignore=shutil.ignore_patterns("*.index*"))
    for file in tavern.iterdir():
        text = file.read_text(encoding="utf-8")
        file.write_text(
            text.replace("starter-chat", "mock-echo").replace("starter-embed", "mock-embed"), encoding="utf-8"
        )
    sidecar = tmp_path / "parley"
    sidecar.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m bridge "$@"\n', encoding="utf-8")
    sidecar.chmod(0o755)
    where = {"PYTHONPATH": str(ROOT.parent)}
    done = run_program(tmp_path / "talk", str(sidecar), str(tavern), str(libzmq_files()[0]), env=where, timeout=60)
    said = [line.rpartition("(")[2] for line in done.stdout.splitlines()]
    assert said == ["mira)", "bram)", "narrator)"], done.stdout


@pytest.mark.thorough
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the stubs of the engine are those of Linux")
def test_the_tavern_talks(tmp_path: Path) -> None:
    """The actor of the sample in a game's loop over stubs of the engine, with a real sidecar and mock models."""
    storage = tmp_path / "Content" / "Parley" / "storage"
    storage.mkdir(parents=True)
    for file in [SAMPLE / "tavern.workflow.json", *(SAMPLE / "Storage").iterdir()]:
        text = file.read_text(encoding="utf-8").replace("starter-chat", "mock-chat")
        (storage / file.name).write_text(text, encoding="utf-8")
    libraries = tmp_path / "Plugins" / "Parley" / "Source" / "ThirdParty" / "libzmq" / "Linux"
    libraries.mkdir(parents=True)
    for library in libzmq_files():
        shutil.copy(library, libraries)
    Program(build("unreal_tavern"), tmp_path).run("SampleTests.TheTavernTalks")


def test_a_program_that_is_wrong_does_not_compile(tmp_path: Path) -> None:
    [program] = [one for one in programs("from-code.md") if "int main" in one]
    (tmp_path / "Talk.cpp").write_text(program.replace("StopAndWait(1000)", "StopAndWait()"), encoding="utf-8")
    with pytest.raises(AssertionError, match="StopAndWait"):
        compile_file(tmp_path / "Talk.cpp", CPP, stubs=False)

"""`tasks.py`: what it says where it cannot go on."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import tasks

SCRIPT = Path(tasks.__file__)


def test_without_a_task_it_says_how_to_call_it() -> None:
    for arguments, code in (([], 2), (["dance"], 2), (["--help"], 0)):
        done = subprocess.run([sys.executable, str(SCRIPT), *arguments], capture_output=True, text=True, check=False)
        assert done.returncode == code
        assert "python tasks.py demo" in done.stderr


def test_another_python_is_refused_by_its_version(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 14, 0))
    assert tasks.main(["demo"]) == 1
    assert "3.10 to 3.13" in capsys.readouterr().err


def test_the_demo_can_be_heard_and_takes_the_flags_of_parley_demo(monkeypatch: pytest.MonkeyPatch) -> None:
    installed: list[str] = []
    ran: list[list[str]] = []

    def install(extras: str) -> int:
        installed.append(extras)
        return 0

    def run(command: list[str]) -> int:
        ran.append(command)
        return 0

    monkeypatch.setattr(tasks, "install", install)
    monkeypatch.setattr(tasks, "run", run)
    assert tasks.main(["demo", "--speak", "--record", "out"]) == 0
    assert (installed, ran[0][1:]) == (["starter,play"], ["-m", "bridge", "demo", "--speak", "--record", "out"])
    extras = (SCRIPT.parent / "pyproject.toml").read_text(encoding="utf-8")
    assert all(f"\n{extra} = [" in extras for extra in ("starter", "play", "voice"))


def test_a_missing_compiler_is_named_before_pip_fails(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tasks, "module_there", lambda name: False)
    monkeypatch.setattr(tasks, "wheel_cached", lambda: False)
    monkeypatch.setattr(tasks, "compiler_there", lambda: False)
    assert tasks.check_compiler() == 1
    assert "C++ compiler" in capsys.readouterr().err
    monkeypatch.setattr(tasks, "wheel_cached", lambda: True)
    assert tasks.check_compiler() == 0


TOOLCHAINS = {
    "csharp": (tasks.CSHARP, "test_unity", "Mono is missing"),
    "cpp": (tasks.CPP, "test_unreal", "a compiler, CMake or nlohmann-json is missing"),
}


@pytest.mark.parametrize("language", sorted(TOOLCHAINS))
def test_where_a_toolchain_is_missing_it_is_installed_or_what_is_skipped_is_said(
    language: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    packages, tests, missing = TOOLCHAINS[language]
    prepare = {"csharp": tasks.prepare_csharp, "cpp": tasks.prepare_cpp}[language]
    said: list[list[str]] = []
    there = [False]

    def apt(command: list[str], **options: object) -> None:
        said.append(command)
        there[0] = "install" in command

    monkeypatch.setattr(tasks, f"{language}_there", lambda: there[0])
    monkeypatch.setattr(subprocess, "run", apt)
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(os, "getuid", lambda: 1000, raising=False)
    prepare()
    assert said == []
    [line] = capsys.readouterr().err.splitlines()
    assert tests in line and missing in line
    monkeypatch.setattr(os, "getuid", lambda: 0, raising=False)
    prepare()
    assert said[1][:2] == ["apt-get", "install"] and set(packages) <= set(said[1])
    assert "skipped" not in capsys.readouterr().err
    prepare()
    assert len(said) == 2


@pytest.mark.parametrize("tool", ["g++", "clang++", "cmake"])
def test_a_toolchain_for_cpp_is_there_only_whole(tool: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    header = tmp_path / "json.hpp"
    header.write_text("", encoding="utf-8")
    monkeypatch.setattr(tasks, "JSON_HEADER", (str(header),))
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    assert tasks.cpp_there()
    monkeypatch.setattr(shutil, "which", lambda name: None if name == tool else f"/usr/bin/{name}")
    assert not tasks.cpp_there()
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    header.unlink()
    assert not tasks.cpp_there()


def test_ci_installs_every_package_that_the_tests_need() -> None:
    """build-essential brings g++."""
    script = (SCRIPT.parent / ".ci" / "run").read_text(encoding="utf-8")
    assert {*tasks.CSHARP, *tasks.CPP} - {"g++"} <= set(script.split())


def test_the_pinned_llama_is_the_same_everywhere() -> None:
    assert f'"{tasks.LLAMA}"' in (SCRIPT.parent / "pyproject.toml").read_text(encoding="utf-8")

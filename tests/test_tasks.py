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


def test_where_mono_is_missing_it_is_installed_or_what_is_skipped_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said: list[list[str]] = []
    there = [False]

    def apt(command: list[str], **options: object) -> None:
        said.append(command)
        there[0] = "install" in command

    monkeypatch.setattr(tasks, "csharp_there", lambda: there[0])
    monkeypatch.setattr(subprocess, "run", apt)
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(os, "getuid", lambda: 1000, raising=False)
    tasks.prepare_csharp()
    assert said == []
    [line] = capsys.readouterr().err.splitlines()
    assert "test_unity" in line and "Mono is missing" in line
    monkeypatch.setattr(os, "getuid", lambda: 0, raising=False)
    tasks.prepare_csharp()
    assert said[1][:2] == ["apt-get", "install"] and set(tasks.CSHARP) <= set(said[1])
    assert "skipped" not in capsys.readouterr().err
    tasks.prepare_csharp()
    assert len(said) == 2


def test_the_pinned_llama_is_the_same_everywhere() -> None:
    assert f'"{tasks.LLAMA}"' in (SCRIPT.parent / "pyproject.toml").read_text(encoding="utf-8")

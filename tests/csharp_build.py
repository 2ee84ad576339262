"""Compiles C# with Mono's compiler and runs it: for tests of the Unity package, none of which needs Unity.

What needs Newtonsoft's JSON library or libzmq finds both here: the first where Debian's packages put it, the second
inside the pyzmq that runs these tests.
"""

from __future__ import annotations

import atexit
import functools
import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

import tasks

ROOT = Path(__file__).resolve().parent.parent
CORE = ROOT / "unity_package" / "Runtime" / "Core"
CSHARP = ROOT / "tests" / "csharp"
COMPILE_TIMEOUT_S = 120.0
RUN_TIMEOUT_S = 60.0


def _found(pattern: str) -> list[Path]:
    return sorted(Path("/").glob(pattern.lstrip("/")))


def newtonsoft_dll() -> Path:
    """Where Newtonsoft.Json.dll is. Raises FileNotFoundError."""
    for pattern in tasks.NEWTONSOFT:
        for path in reversed(_found(pattern)):
            return path
    raise FileNotFoundError(f"Newtonsoft.Json.dll is nowhere; Debian has it in {tasks.CSHARP[-1]}")


def _why_not() -> str:
    missing = [name for name in ("mcs", "mono") if shutil.which(name) is None]
    if missing:
        return f"{' and '.join(missing)} not installed (Debian: {', '.join(tasks.CSHARP)})"
    try:
        newtonsoft_dll()
    except FileNotFoundError as fault:
        return str(fault)
    return ""


needs_mono = pytest.mark.skipif(bool(_why_not()), reason=_why_not() or "Mono is here")
"""For tests, or modules of tests (`pytestmark`), that compile and run C#."""


class CompileFailed(AssertionError):
    """The compiler refused. The message is what it said."""


def compile_csharp(
    sources: Sequence[Path],
    out: Path,
    *,
    library: bool = False,
    references: Sequence[Path | str] = (),
    defines: Sequence[str] = (),
    newtonsoft: bool = True,
) -> Path:
    """Compiles files, and all .cs files of folders, to `out`; returns it. Every warning is an error.

    `references` that are files are copied beside `out`, where a program finds them. Raises CompileFailed.
    """
    files = sorted({file for source in sources for file in (source.rglob("*.cs") if source.is_dir() else [source])})
    assert files, f"no C# in {', '.join(map(str, sources))}"
    found = [*references, newtonsoft_dll()] if newtonsoft else list(references)
    out.parent.mkdir(parents=True, exist_ok=True)
    command = ["mcs", "-nologo", "-langversion:7", "-warnaserror", "-warn:4", "-debug", f"-out:{out}"]
    command += ["-target:library" if library else "-target:exe"]
    command += [f"-reference:{reference}" for reference in found]
    command += [f"-define:{name}" for name in defines]
    done = subprocess.run(
        [*command, *map(str, files)], capture_output=True, text=True, timeout=COMPILE_TIMEOUT_S, check=False
    )
    if done.returncode:
        raise CompileFailed(done.stdout + done.stderr)
    for reference in found:
        path = Path(reference)
        if path.is_file() and path.parent.resolve() != out.parent.resolve():
            shutil.copy2(path, out.parent / path.name)
    return out


@functools.cache
def _build_folder() -> Path:
    folder = tempfile.TemporaryDirectory(prefix="parley-csharp-")
    atexit.register(folder.cleanup)
    return Path(folder.name)


def core_library() -> Path:
    """Parley.Core.dll of Runtime/Core, compiled once for each state of its sources. Raises CompileFailed."""
    digest = hashlib.sha256()
    files = sorted(CORE.rglob("*.cs"))
    for file in files:
        digest.update(str(file.relative_to(CORE)).encode() + b"\0" + file.read_bytes() + b"\0")
    out = _build_folder() / digest.hexdigest()[:16] / "Parley.Core.dll"
    return out if out.is_file() else compile_csharp(files, out, library=True)


def run_mono(
    exe: Path,
    *arguments: str,
    env: Mapping[str, str] | None = None,
    timeout: float = RUN_TIMEOUT_S,
    check: bool = True,
) -> subprocess.CompletedProcess[str]:
    """Runs a program to its end; `env` is added to this process's environment. `check`: its exit code must be 0."""
    done = subprocess.run(
        ["mono", "--debug", str(exe), *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="replace",
        env={**os.environ, **(env or {})},
        stdin=subprocess.DEVNULL,
        timeout=timeout,
        check=False,
    )
    if check:
        assert done.returncode == 0, f"{exe.name} ended with {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


def libzmq_files() -> list[Path]:
    """The libzmq that pyzmq brought with it and the libraries that it needs, libzmq first. Raises FileNotFoundError."""
    import zmq

    package = Path(zmq.__file__).parent
    for folder in (package.parent / "pyzmq.libs", package / ".dylibs"):
        found = sorted(folder.glob("libzmq*"))
        if found:
            return [found[0], *(path for path in sorted(folder.iterdir()) if path != found[0])]
    raise FileNotFoundError(f"{package} brought no libzmq with it; install pyzmq from its wheels")


def libzmq_environment(folder: Path) -> dict[str, str]:
    """Puts a `libzmq` that Mono finds by its name into a folder; returns the environment with which it looks there."""
    folder.mkdir(parents=True, exist_ok=True)
    libzmq, *others = libzmq_files()
    suffix = ".dylib" if ".dylib" in libzmq.name else ".so"
    shutil.copy2(libzmq, folder / f"libzmq{suffix}")
    for path in others:
        shutil.copy2(path, folder / path.name)
    variable = "DYLD_LIBRARY_PATH" if suffix == ".dylib" else "LD_LIBRARY_PATH"
    before = os.environ.get(variable)
    return {variable: f"{folder}{os.pathsep}{before}" if before else str(folder)}

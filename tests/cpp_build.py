"""Compiles the engine-free C++ of the Unreal plugin with its test programs and runs them: none needs an engine."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal

import pytest

ROOT = Path(__file__).resolve().parent.parent
CPP = ROOT / "tests" / "cpp"
CORE = ROOT / "unreal_plugin" / "Source" / "Parley" / "Core"
BUILD_TIMEOUT_S = 900.0
QUICK = ("session", "hub", "wire", "messages", "authoring")
"""The programs of the quick run, without a sanitizer: `python -m tests.cpp_build` makes them before the tests begin."""
RUN_TIMEOUT_S = 60.0
PACKAGES = ("cmake", "g++", "nlohmann-json3-dev")

# Taken out of the environment: a sidecar refuses a PARLEY_… that it does not know.
_FOLDER = os.environ.pop("PARLEY_CPP_BUILD", "")
_JOBS = os.environ.pop("PARLEY_CPP_JOBS", "") or str(os.cpu_count() or 1)
_UNITY = os.environ.pop("PARLEY_CPP_UNITY", "") or "ON"

Sanitizer = Literal["", "asan", "tsan"]
"""None; AddressSanitizer, with that for undefined behaviour; ThreadSanitizer."""


def _why_not() -> str:
    if sys.platform == "win32":
        return "these programs are built with g++ or clang++ where there is POSIX"
    missing = [name for name in ("cmake", "g++") if shutil.which(name) is None]
    if missing:
        return f"{' and '.join(missing)} not installed (Debian: {', '.join(PACKAGES)})"
    if not any(Path(folder, "nlohmann", "json.hpp").is_file() for folder in ("/usr/include", "/usr/local/include")):
        return f"nlohmann's JSON library is not installed (Debian: {PACKAGES[-1]})"
    return ""


needs_cpp = pytest.mark.skipif(bool(_why_not()), reason=_why_not() or "a C++ compiler is here")
"""For tests, or modules of tests (`pytestmark`), that compile and run C++."""


class CompileFailed(AssertionError):
    """CMake or the compiler refused. The message is what they said."""


@functools.cache
def build_folder() -> Path:
    """Where builds are kept, from one run to the next: CMake makes only what has changed. One for each checkout."""
    if _FOLDER:
        return Path(_FOLDER)
    of = hashlib.sha256(str(ROOT).encode()).hexdigest()[:12]
    return Path(tempfile.gettempdir()) / f"parley-cpp-{os.getuid()}-{of}"


@functools.cache
def build(target: str, *, sanitizer: Sanitizer = "", compiler: str = "g++", standard: int = 17) -> Path:
    """Builds tests/cpp/<target>/*.cpp, or another target of tests/cpp/CMakeLists.txt; returns the program's file.

    A process that comes while another builds waits for it. Each combination compiles all of the core anew, and with a
    sanitizer it takes four times as long: the quick run of the tests asks for the default only. Raises CompileFailed.
    """
    name = "-".join(filter(None, [compiler, sanitizer, f"c{standard}" if standard != 17 else ""]))
    folder = build_folder() / name
    folder.mkdir(parents=True, exist_ok=True)
    with _locked(folder / "lock"):
        _run(
            "cmake",
            "-S",
            str(CPP),
            "-B",
            str(folder),
            f"-DCMAKE_CXX_COMPILER={compiler}",
            f"-DPARLEY_SANITIZER={sanitizer}",
            f"-DPARLEY_STANDARD={standard}",
            f"-DPARLEY_UNITY={_UNITY}",
        )
        _run("cmake", "--build", str(folder), "--target", target, "--parallel", _JOBS)
    found = [folder / target, folder / target / target, *sorted(folder.glob(f"lib{target}.*"))]
    return next((path for path in found if path.is_file()), folder)


def environment(env: Mapping[str, str] | None = None) -> dict[str, str]:
    """This process's environment, what makes sanitizers strict, and `env`."""
    return {
        **os.environ,
        "ASAN_OPTIONS": "abort_on_error=0:exitcode=99:detect_stack_use_after_return=1:strict_string_checks=1",
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "TSAN_OPTIONS": f"exitcode=99:halt_on_error=0:second_deadlock_stack=1:suppressions={CPP / 'tsan.supp'}",
        **(env or {}),
    }


def run_program(
    exe: Path,
    *arguments: str,
    env: Mapping[str, str] | None = None,
    timeout: float = RUN_TIMEOUT_S,
    check: bool = True,
) -> subprocess.CompletedProcess[str]:
    """Runs a program to its end; `env` is added to this process's environment. `check`: its exit code must be 0."""
    done = subprocess.run(
        [str(exe), *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="replace",
        env=environment(env),
        stdin=subprocess.DEVNULL,
        timeout=timeout,
        check=False,
    )
    if check:
        assert done.returncode == 0, f"{exe.name} ended with {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


def _run(*command: str) -> None:
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=BUILD_TIMEOUT_S, check=False, preexec_fn=_take_all_cores
    )
    if done.returncode:
        raise CompileFailed(f"{' '.join(command)}\n{done.stdout}\n{done.stderr}")


def _take_all_cores() -> None:
    # A pytest that runs beside others keeps to one, and the others wait for what is built here.
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, range(os.cpu_count() or 1))


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    import fcntl

    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def main() -> int:
    """Builds what the quick run needs. What does not compile is told by the tests that want it."""
    if not _why_not():
        with contextlib.suppress(CompileFailed):
            for target in QUICK:
                build(target)
    return 0


if __name__ == "__main__":
    sys.exit(main())

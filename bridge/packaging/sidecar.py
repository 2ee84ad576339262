"""`parley package sidecar`: the sidecar as one folder that starts on machines without Python.

PyInstaller gathers the interpreter and the packages; what it cannot see (node types, data, llama.cpp's own libraries)
is named here. The folder is tried out before it is handed over: in an empty environment, with no Python to be found.
"""

from __future__ import annotations

import ast
import importlib.metadata
import importlib.util
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import bridge
from bridge.frozen import IS_FROZEN
from bridge.node import ENTRY_POINT_GROUP
from bridge.packaging import PackagingFailed
from bridge.packaging.notices import write_notices
from bridge.packaging.out_folder import platform_name, refuse_strangers, replacing

NAME = "parley"
MARKER = "sidecar.json"
"""What the folder says of itself: versions, the machine it is for. Also how the folder is known again."""
STARTER_MODELS = ("starter-chat", "starter-embed")
BUILD_TIMEOUT_S = 1800
SMOKE_TIMEOUT_S = 180
ENTRY = "from bridge.cli import main\n\nmain()\n"

_NEEDED = ("llama-cpp-python", "huggingface-hub")
_WITH_METADATA = ("parley-bridge", "pydantic", "pyzmq", "orjson", "typer", "rich", "psutil", "jinja2", "google-re2",
                  "numpy", "usearch", "llama-cpp-python", "huggingface-hub", "filelock")  # fmt: skip
"""Distributions whose versions `parley doctor`, or they themselves, look up."""
_UNWANTED = ("IPython", "PIL", "PyInstaller", "_pytest", "gguf", "hypothesis", "matplotlib", "mypy", "networkx",
             "pandas", "py", "pytest", "safetensors", "scipy", "sentence_transformers", "setuptools", "sklearn",
             "sympy", "tensorflow", "tkinter", "tokenizers", "torch", "transformers")  # fmt: skip
"""Packages that ours mention and do without; some are gigabytes."""

_LIBRARY = re.compile(r"\.(dll|dylib|metal|so(\.\d+)?)$")

Tell = Callable[[str], None]


def build_sidecar(out: Path, *, with_starter: bool = False, tell: Tell = lambda line: None) -> Path:
    """Builds the folder and tries it out; returns the program in it. Blocking, for some minutes.

    With `with_starter` the starter models go along, in its folder `models`. Raises PackagingFailed.
    """
    _check_tools()
    refuse_strangers(out, MARKER)
    models = _starter_models() if with_starter else []
    with replacing(out, MARKER) as work:
        tell("gathering what the sidecar needs; this takes a minute or two")
        with tempfile.TemporaryDirectory(prefix="parley-build-") as scratch:
            built, contents = _gather(Path(scratch))
            _tidy(built)
            for path in sorted(built.iterdir()):
                shutil.move(path, work / path.name)
            write_notices(work / "NOTICES.txt", contents)
        for model in models:
            tell(f"adding the model {model.name}")
            (work / "models").mkdir(exist_ok=True)
            shutil.copyfile(model, work / "models" / model.name)
        facts = _try_out(work, with_starter, tell)
        (work / MARKER).write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")
        tell("it runs without Python")
    return out / program_name()


def program_name() -> str:
    """The file to start in the folder."""
    return f"{NAME}.exe" if sys.platform == "win32" else NAME


def _check_tools() -> None:
    if IS_FROZEN:
        raise PackagingFailed("this is a packaged sidecar already; package one from a checkout of Parley")
    if importlib.util.find_spec("PyInstaller") is None:
        raise PackagingFailed(f"PyInstaller is not installed; run: {_pip_install('package')}")
    for name in _NEEDED:
        try:
            importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            raise PackagingFailed(f"{name} is not installed; run: {_pip_install('llama')}") from None


def _pip_install(extra: str) -> str:
    """The command for this very Python: the one that a terminal finds by `pip` is often another."""
    python = f'"{sys.executable}"' if " " in sys.executable else sys.executable
    return f'{python} -m pip install "parley-bridge[{extra}]"'


# ---- gathering -----------------------------------------------------------------------------------------------


def _gather(scratch: Path) -> tuple[Path, list[tuple[str, str, str]]]:
    """Runs PyInstaller: the folder that it made, and (name, file, kind) of everything it put there."""
    entry = scratch / f"{NAME}.py"
    entry.write_text(ENTRY, encoding="utf-8")
    command = [sys.executable, "-m", "PyInstaller", *_options(scratch), str(entry)]
    places = [str(Path(bridge.__file__).resolve().parent.parent), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, places))}
    try:
        done = subprocess.run(
            command, cwd=scratch, env=environment, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8",
            errors="replace", timeout=BUILD_TIMEOUT_S, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise PackagingFailed(f"PyInstaller was not done within {BUILD_TIMEOUT_S // 60} minutes") from None
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:] or ["it says nothing"]
        raise PackagingFailed(f"PyInstaller ended with {done.returncode}: {last[0]}")
    return scratch / "dist" / NAME, _contents(scratch / "build" / NAME)


def _options(scratch: Path) -> Iterator[str]:
    yield from ("--noconfirm", "--log-level", "WARN", "--onedir", "--console", "--noupx", "--name", NAME)
    yield from ("--distpath", str(scratch / "dist"), "--workpath", str(scratch / "build"), "--specpath", str(scratch))
    yield from ("--collect-submodules", "bridge", "--collect-data", "bridge")
    if not (Path(bridge.__file__).parent / "samples").is_dir():
        tavern = Path(bridge.__file__).resolve().parent.parent / "samples" / "tavern"
        yield from ("--add-data", f"{tavern}{os.pathsep}bridge/samples/tavern")
    yield from ("--collect-submodules", "huggingface_hub")
    for library in llama_libraries():
        yield from ("--add-binary", f"{library}{os.pathsep}llama_cpp/lib")
    for distribution in _with_metadata():
        yield from ("--copy-metadata", distribution)
    for package in _node_packages():
        yield from ("--collect-submodules", package, "--collect-data", package)
    for package in _voice_packages():
        yield from ("--collect-submodules", package, "--collect-data", package, "--collect-binaries", package)
    for module in _UNWANTED:
        yield from ("--exclude-module", module)


def llama_libraries() -> list[Path]:
    """llama.cpp's shared libraries of the llama-cpp-python that is installed, each once."""
    spec = importlib.util.find_spec("llama_cpp")
    folders = [] if spec is None else [Path(place) / "lib" for place in spec.submodule_search_locations or ()]
    found = [path for folder in folders for path in sorted(folder.glob("*")) if path.is_file()]
    # Wheels hold no links: libggml.so, libggml.so.0 and libggml.so.0.25.3 are three copies. The first is loaded by its
    # name, the second is what the others ask for.
    libraries = [path for path in found if _LIBRARY.search(path.name)]
    if not libraries:
        raise PackagingFailed("the llama-cpp-python that is installed has no libraries of its own; reinstall it")
    return libraries


def _with_metadata() -> list[str]:
    nodes = {point.dist.name for point in _node_points() if point.dist is not None}
    installed = {distribution.name.lower().replace("_", "-") for distribution in importlib.metadata.distributions()}
    return [*(name for name in _WITH_METADATA if name in installed), *sorted(nodes - set(_WITH_METADATA))]


def _node_packages() -> list[str]:
    """The packages that node types of a studio come from."""
    return sorted({point.module.partition(".")[0] for point in _node_points()} - {"bridge"})


def _voice_packages() -> list[str]:
    """The packages of voices that are installed: their dictionaries and libraries are found by nobody's imports."""
    return [package for package in ("hibari", "sherpa_onnx") if importlib.util.find_spec(package) is not None]


def _node_points() -> list[importlib.metadata.EntryPoint]:
    return list(importlib.metadata.entry_points(group=ENTRY_POINT_GROUP))


def _contents(build: Path) -> list[tuple[str, str, str]]:
    found: list[tuple[str, str, str]] = []
    for name in ("PYZ-00.toc", "COLLECT-00.toc"):
        value = ast.literal_eval((build / name).read_text(encoding="utf-8"))
        rows = next(part for part in value if isinstance(part, list) and part and isinstance(part[0], tuple))
        found += [(str(row[0]), str(row[1] or ""), str(row[2])) for row in rows]
    return found


def _tidy(folder: Path) -> None:
    """Removes what is this machine's alone, and on Linux the links to libraries in folders of their own.

    Those are found there without. A copy of the whole that follows links, as games' build scripts make it, would have
    llama.cpp twice, and load both.
    """
    own = [*folder.rglob("samples/tavern/*.index"), *folder.rglob("*.dist-info/direct_url.json")]
    links = [path for path in folder.rglob("*") if path.is_symlink()] if sys.platform == "linux" else []
    for path in {*own, *links}:
        path.unlink()


def _starter_models() -> list[Path]:
    """Their files on this machine, put together where they are not there yet. Raises PackagingFailed."""
    from bridge.catalog import read_catalog
    from bridge.config import Settings
    from bridge.errors import ParleyError
    from bridge.model_files import locate

    catalog = read_catalog()
    try:
        return [locate(catalog[name], Settings(), lambda *_: None) for name in STARTER_MODELS]
    except ParleyError as fault:
        raise PackagingFailed(str(fault)) from fault


# ---- trying out ----------------------------------------------------------------------------------------------


def _try_out(folder: Path, with_starter: bool, tell: Tell) -> dict[str, object]:
    """Has the program say what llama.cpp it has, and talk; returns the facts about the folder."""
    tell("trying it out")
    with tempfile.TemporaryDirectory(prefix="parley-try-") as home:
        probe = json.loads(_run(folder, Path(home), "probe-llama"))
        if "error" in probe:
            raise PackagingFailed(f"llama.cpp does not work in the package: {probe['error']}")
        talk = ["demo"] if with_starter else ["chat", str(_tavern_without_models(folder, Path(home)))]
        said = _run(folder, Path(home), *talk, "--say", "Good evening.", "--json")
        if '"status":"Success"' not in said.replace(" ", ""):
            raise PackagingFailed("the packaged sidecar ended no turn with success")
    features = re.findall(r"(\w+) = 1", str(probe["features"]))
    if any(name.startswith("AVX512") for name in features):
        tell(
            "note: this llama.cpp was compiled for this machine's own CPU (AVX512) and dies on players' CPUs without "
            "it; for a game that ships, reinstall it with CMAKE_ARGS=-DGGML_NATIVE=off, see docs/howto/ship.md"
        )
    return {
        "name": "parley-sidecar", "version": bridge.__version__, "program": program_name(), "platform": platform_name(),
        "libc": " ".join(platform.libc_ver()).strip(), "llama_cpp": probe["version"], "cpu_features": features,
        "gpu": probe["gpu"], "models": list(STARTER_MODELS) if with_starter else [],
    }  # fmt: skip


def _tavern_without_models(folder: Path, home: Path) -> Path:
    """A copy of the tavern in which mock models stand in for the starter models."""
    [source] = folder.rglob("samples/tavern")
    tavern = home / "tavern"
    tavern.mkdir()
    for file in sorted(source.iterdir()):
        text = file.read_text(encoding="utf-8").replace("starter-chat", "mock-echo")
        (tavern / file.name).write_text(text.replace("starter-embed", "mock-embed"), encoding="utf-8")
    return tavern / "tavern.workflow.json"


def bare_environment(home: Path) -> dict[str, str]:
    """An environment with no Python in it, and no settings, cache or models of this user's."""
    kept = ("SYSTEMROOT", "WINDIR", "TEMP", "TMP", "TMPDIR")
    kept_here = {name: os.environ[name] for name in kept if name in os.environ}
    folders = {name: str(home) for name in ("HOME", "USERPROFILE", "LOCALAPPDATA", "APPDATA")}
    return {**kept_here, **folders, "PATH": str(home)}


def _run(folder: Path, home: Path, *arguments: str) -> str:
    try:
        done = subprocess.run(
            [str(folder / program_name()), *arguments], cwd=home, env=bare_environment(home), stdin=subprocess.DEVNULL,
            capture_output=True, encoding="utf-8", errors="replace", timeout=SMOKE_TIMEOUT_S, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as fault:
        raise PackagingFailed(f"the packaged sidecar does not run: {fault}") from fault
    if done.returncode:
        lines = (done.stderr.strip() or done.stdout.strip()).splitlines() or ["it says nothing"]
        last = next((line for line in reversed(lines) if line.startswith("parley: ")), lines[-1])
        raise PackagingFailed(f"the packaged sidecar ended `{arguments[0]}` with {done.returncode}: {last}")
    return done.stdout

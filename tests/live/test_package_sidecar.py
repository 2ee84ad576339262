"""The packaged sidecar: built once, then run where nothing of the machine that built it can be found."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

import bridge
from bridge.packaging import PackagingFailed
from bridge.packaging.out_folder import platform_name
from bridge.packaging.sidecar import STARTER_MODELS, bare_environment, build_sidecar, program_name
from tests.real_sidecar import until
from tests.sidecar import environment, ready_line

pytestmark = [pytest.mark.live, pytest.mark.timeout(600)]

ROOT = Path(bridge.__file__).resolve().parent.parent
CUSTOM_NODE = ROOT / "samples" / "custom_node"
ODD = "Märchen spiel, Ж 田中 (1)"
PATIENCE_S = 120.0


def installed_by_hand(folder: Path) -> Path:
    """The sample's node type as pip would have installed it."""
    shutil.copytree(CUSTOM_NODE / "src" / "parley_skill_check", folder / "parley_skill_check")
    info = folder / "parley_skill_check-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: parley-skill-check\nVersion: 0.1.0\n", encoding="utf-8"
    )
    (info / "entry_points.txt").write_text(
        "[parley.nodes]\nSkillCheck = parley_skill_check.skill_check:SkillCheck\n", encoding="utf-8"
    )
    return folder


@pytest.fixture(scope="module")
def sidecar(full: bool, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of a sidecar with the starter models and somebody's node type, moved to an odd place."""
    if not full:
        pytest.skip("builds the packaged sidecar, half a minute and 500 MB: only with --full")
    if importlib.util.find_spec("PyInstaller") is None:
        pytest.skip('PyInstaller is not installed: python -m pip install -e ".[package]"')
    folder = tmp_path_factory.mktemp("package")
    nodes = installed_by_hand(folder / "site")
    begun = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "bridge", "package", "sidecar", "--with-starter", "--out", str(folder / "built")],
        env=environment(PYTHONPATH=os.pathsep.join([str(ROOT), str(nodes)])),
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=500, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    print(f"built in {time.monotonic() - begun:.0f} s")
    place = folder / ODD / "sidecar"
    place.parent.mkdir()
    (folder / "built").rename(place)
    yield place
    shutil.rmtree(place)


def run(sidecar: Path, home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """One command of the packaged sidecar, with no environment to speak of, somewhere else."""
    return subprocess.run(
        [str(sidecar / program_name()), *arguments], cwd=home, env=bare_environment(home), stdin=subprocess.DEVNULL,
        capture_output=True, encoding="utf-8", timeout=PATIENCE_S, check=False,
    )  # fmt: skip


def frames(text: str, kind: str) -> list[dict[str, Any]]:
    found = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    return [frame["body"] for frame in found if frame["type"] == kind]


def test_the_tavern_talks_with_the_starter_model(sidecar: Path, tmp_path: Path) -> None:
    done = run(sidecar, tmp_path, "demo", "--say", "Good evening. What is there to eat?", "--json")
    assert done.returncode == 0, done.stderr
    speakers = {body["node_name"] for body in frames(done.stdout, "AnswerText") if body["text"]}
    assert {"mira", "bram", "narrator"} <= speakers
    assert [body["status"] for body in frames(done.stdout, "TurnComplete")] == ["Success"]
    assert "gemma-3-270m" in " ".join(path.name for path in (sidecar / "models").iterdir())


def test_it_says_what_it_is(sidecar: Path, tmp_path: Path) -> None:
    facts = json.loads((sidecar / "sidecar.json").read_text(encoding="utf-8"))
    assert facts["version"] == bridge.__version__
    assert facts["platform"] == platform_name()
    assert facts["program"] == program_name()
    assert facts["models"] == list(STARTER_MODELS)
    assert run(sidecar, tmp_path, "--version").stdout.strip() == f"parley {bridge.__version__}"


def test_doctor_finds_nothing_wrong_and_the_models_beside_it(sidecar: Path, tmp_path: Path) -> None:
    done = run(sidecar, tmp_path, "doctor", "--json")
    findings = json.loads(done.stdout)
    assert [finding for finding in findings if finding["level"] == "problem"] == []
    texts = {finding["topic"]: finding["text"] for finding in findings}
    assert "it computes here" in texts["llama.cpp"]
    assert str(sidecar.resolve() / "models") in texts["starter-chat"]


def test_it_serves_and_goes_when_its_owner_does(sidecar: Path, tmp_path: Path) -> None:
    owner = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    begun = time.monotonic()
    serving = subprocess.Popen(
        [str(sidecar / program_name()), "serve", "--owner-pid", str(owner.pid)],
        cwd=tmp_path, env=bare_environment(tmp_path), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        ready = ready_line(serving.stdout)
        print(f"ready after {time.monotonic() - begun:.2f} s")
        assert ready["endpoint"].startswith("tcp://127.0.0.1:")
        assert ready["pid"] == serving.pid  # whoever ends what it started ends the sidecar
        assert psutil.Process(serving.pid).children() == []
        owner.kill()
        owner.wait()
        until(lambda: serving.poll() is not None, 5.0, "it goes with its owner")
    finally:
        owner.kill()
        serving.kill()
        serving.communicate()
        owner.communicate()


def test_node_types_of_a_studio_come_along(sidecar: Path, tmp_path: Path) -> None:
    workflow = tmp_path / "door.workflow.json"
    shutil.copyfile(CUSTOM_NODE / "locked_door.workflow.json", workflow)
    done = run(sidecar, tmp_path, "validate", str(workflow))
    assert done.returncode == 0, done.stdout + done.stderr


def test_models_can_be_asked_for_from_a_hub(sidecar: Path, tmp_path: Path) -> None:
    (tmp_path / "parley.toml").write_text('hub_endpoint = "http://127.0.0.1:9"\n', encoding="utf-8")
    done = run(sidecar, tmp_path, "models", "pull", "qwen2.5-0.5b")
    assert done.returncode != 0
    assert "127.0.0.1:9" in done.stderr and "Traceback" not in done.stderr and "No module" not in done.stderr


def test_everything_has_its_licence(sidecar: Path) -> None:
    notices = (sidecar / "NOTICES.txt").read_text(encoding="utf-8")
    for name in ("llama_cpp_python", "numpy", "pyzmq", "usearch", "huggingface_hub", "pydantic", "Python"):
        assert f"\n# {name} " in notices, name
    assert "pytest" not in notices.split("\n# ", 1)[1].split("Libraries of the system")[0].partition("\n")[0]
    assert "\n# pytest " not in notices


def test_nothing_in_it_is_a_link_or_twice(sidecar: Path) -> None:
    assert sys.platform != "linux" or [path for path in sidecar.rglob("*") if path.is_symlink()] == []
    libraries = [path.parent.name for path in sidecar.rglob("libllama*")]
    assert set(libraries) <= {"lib"}


def test_a_folder_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("my only copy", encoding="utf-8")
    with pytest.raises(PackagingFailed, match="holds files that Parley did not put there"):
        build_sidecar(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]

"""The example package: its node type is found like any installed one, runs, and is described everywhere."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

import bridge
from bridge.codegen.docs import emit, missing_meanings
from bridge.node import ENTRY_POINT_GROUP, Registry, build_registry, packaged_nodes
from bridge.schema import full_schema
from tests.talk import run, talking

if sys.version_info >= (3, 11):
    import tomllib
else:  # pragma: no cover - the same parser under its older name
    import tomli as tomllib

ROOT = Path(bridge.__file__).resolve().parent.parent
SAMPLE = ROOT / "samples" / "custom_node"
PROJECT = tomllib.loads((SAMPLE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
DOOR: dict[str, Any] = json.loads((SAMPLE / "locked_door.workflow.json").read_text(encoding="utf-8"))


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> Registry:
    """All packaged types and what the example's pyproject.toml adds to them."""
    monkeypatch.syspath_prepend(SAMPLE / "src")
    declared: dict[str, str] = PROJECT["entry-points"][ENTRY_POINT_GROUP]
    entries = [EntryPoint(name, value, ENTRY_POINT_GROUP) for name, value in declared.items()]
    return build_registry(list(packaged_nodes()), entries)


@pytest.mark.parametrize(
    ("lockpicking", "speaker", "says"), [(20, "opens", "success)"), (-20, "holds", "failure)")], ids=["opens", "holds"]
)
def test_the_workflow_takes_both_ways(registry: Registry, lockpicking: int, speaker: str, says: str) -> None:
    async def work() -> None:
        async with talking(registry=registry) as talk:
            door = {**DOOR, "default_model": "echo"}
            assert await talk.client.validate(door) == []
            agent_id = await talk.agent(door, variables={"lockpicking": lockpicking})
            heard = await talk.say(agent_id, "I try the lock.")
            assert heard.complete.status == "Success"
            assert [output.node_name for output in heard.interaction.outputs] == ["check", speaker, "guard"]
            assert f"+ {lockpicking} = " in heard.text(speaker)
            assert heard.text(speaker).endswith(says)
            assert heard.text("check") == ""
            assert heard.debug["steps"][0]["details"]["bonus"] == lockpicking

    run(work)


def test_a_parameter_out_of_bounds_is_found_before_the_first_turn(registry: Registry) -> None:
    async def work() -> None:
        async with talking(registry=registry) as talk:
            nodes = [{**DOOR["nodes"][0], "sides": 1, "success_exit": "", "failure_exit": "nowhere"}]
            problems = await talk.client.validate({"start_node": "check", "nodes": nodes})
            errors = [(problem.code, problem.path) for problem in problems if problem.severity == "error"]
            assert errors == [
                (3007, "$.nodes[0].sides"),
                (3008, "$.nodes[0].failure_exit"),
                (3003, "$.nodes[0].bonus"),
            ]
            (bonus,) = [problem for problem in problems if problem.field == "bonus"]
            assert bonus.message == "bonus names no variable of the workflow: 'lockpicking'; known: none"

    run(work)


def test_it_is_described_like_any_other(registry: Registry) -> None:
    properties = full_schema(registry)["$defs"]["NodeSkillCheck"]["properties"]
    assert (properties["sides"]["minimum"], properties["sides"]["maximum"]) == (2, 1000)
    page = emit(registry)["nodes/SkillCheck.md"]
    assert "| `sides` | integer | `20` | ≥ 2, ≤ 1000 | plain | no | Sides of the die. |" in page
    assert "| `success` | `success_exit` |" in page
    assert [gap for gap in missing_meanings(registry) if gap.startswith("SkillCheck")] == []


def test_an_installed_package_is_found(tmp_path: Path) -> None:
    """What pip leaves behind, as far as Python looks at it: the package's metadata on the path."""
    metadata = tmp_path / "parley_skill_check-0.1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {PROJECT['name']}\nVersion: 0.1.0\n")
    lines = [f"{name} = {value}" for name, value in PROJECT["entry-points"][ENTRY_POINT_GROUP].items()]
    (metadata / "entry_points.txt").write_text("\n".join([f"[{ENTRY_POINT_GROUP}]", *lines]))
    path = os.pathsep.join(map(str, (tmp_path, SAMPLE / "src", ROOT)))
    done = subprocess.run(
        [sys.executable, "-m", "bridge", "validate", str(SAMPLE / "locked_door.workflow.json")],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


def test_its_own_tests_pass(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(SAMPLE / "tests")],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (SAMPLE / "src", ROOT)))},
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stdout + done.stderr

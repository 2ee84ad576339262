"""`parley chat` plays the game's part: variables and what tools answer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.test_chat import chat

CALL = '<tool_call>{"name": "open_door", "arguments": {"door": "cellar"}}</tool_call>'
TOOL = {"name": "open_door", "parameters": {"type": "object", "properties": {"door": {"type": "string"}}}}


@pytest.fixture
def flow(tmp_path: Path) -> tuple[str, str]:
    """(workflow, catalog): a model that calls a tool, and a node that says what it brought."""
    catalog = tmp_path / "models.json"
    script = {"name": "script", "engine": "mock", "mock": {"mode": "script", "replies": [CALL]}}
    catalog.write_text(json.dumps({"models": [script]}), encoding="utf-8")
    workflow = tmp_path / "door.workflow.json"
    said = "{{slot.door}} {{var.level}} {{var.title}}"
    nodes = [
        {"name": "door", "type": "ToolCall", "tools": [TOOL], "wait_for_result_s": 20, "tool_called_exit": "note"},
        {"name": "note", "type": "Transform", "template": said, "send": "Whole"},
    ]
    variables = [
        {"name": "level", "type": "int", "value": 1},
        {"name": "title", "type": "string", "value": "nobody"},
    ]
    head = {"start_node": "door", "default_model": "script", "variables": variables}
    workflow.write_text(json.dumps({**head, "nodes": nodes}), encoding="utf-8")
    return str(workflow), str(catalog)


def test_tools_answer_what_they_are_told_to(flow: tuple[str, str]) -> None:
    workflow, catalog = flow
    told = ["--tool", "open_door=The {door} door is open.", "--var", "level=7", "--var", "title=12"]
    done = chat(workflow, "--say", "Open up!", *told, PARLEY_CATALOG=catalog)
    assert done.returncode == 0, done.stderr
    assert b"The cellar door is open. 7 12" in done.stdout
    assert b'door calls open_door(door="cellar")' in done.stdout


def test_a_tool_without_an_answer_is_done(flow: tuple[str, str]) -> None:
    workflow, catalog = flow
    done = chat(workflow, "--say", "Open up!", "--json", PARLEY_CATALOG=catalog)
    assert done.returncode == 0, done.stderr
    frames = [json.loads(line) for line in done.stdout.splitlines()]
    assert [frame["body"]["text"] for frame in frames if frame["type"] == "AnswerText"] == ["done 1 nobody"]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (["--tool", "open_door"], b"--tool takes NAME=VALUE, not 'open_door'"),
        (["--var", "=3"], b"--var takes NAME=VALUE, not '=3'"),
        (["--var", "level=high"], b"variable 'level': 'high' must be of type int"),
        (["--var", "depth=3"], b"declares no variable 'depth'"),
    ],
)
@pytest.mark.thorough
def test_what_cannot_be_used_is_one_sentence(flow: tuple[str, str], wrong: list[str], said: bytes) -> None:
    workflow, catalog = flow
    done = chat(workflow, "--say", "Hello", *wrong, PARLEY_CATALOG=catalog)
    assert done.returncode == 2
    assert said in done.stderr
    assert b"Traceback" not in done.stderr

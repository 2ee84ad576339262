"""A sidecar that dies is started again, and the characters go on where they were."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import psutil
import pytest

from bridge.companion import Companion
from bridge.errors import AgentBusy, UnknownToolCall, WorkflowInvalid
from bridge.launch import SidecarFailed
from bridge.protocol import AnswerText, ConfigureSession, CreateStringStorage, GetParams, Params, TurnComplete
from bridge.transport import run_on_selector_loop

WORDS = " ".join(f"word{index}" for index in range(60))
WORKFLOW = {
    "start_node": "mira",
    "default_model": "slow",
    "variables": [{"name": "level", "type": "int", "value": 1}],
    "nodes": [
        {"name": "mira", "type": "Generate", "history_name": "Mira", "default_exit": "note"},
        {"name": "note", "type": "Transform", "template": "{{var.level}}", "send": "Whole"},
    ],
}


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    catalog = tmp_path / "models.json"
    mock = {"mode": "script", "replies": ["Yes.", WORDS, "No."], "tokens_per_s": 40}
    catalog.write_text(json.dumps({"models": [{"name": "slow", "engine": "mock", "mock": mock}]}), encoding="utf-8")
    kept = {key: value for key, value in os.environ.items() if not key.startswith("PARLEY_")}
    return {**kept, "PARLEY_CATALOG": str(catalog)}


def on_the_loop(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[[dict[str, str], Path], None]:
    def run(environment: dict[str, str], tmp_path: Path) -> None:
        run_on_selector_loop(asyncio.wait_for(test(environment, tmp_path), 60))

    run.__name__ = test.__name__
    return run


@on_the_loop
async def test_a_killed_sidecar_is_replaced_and_nothing_is_forgotten(environment: dict[str, str], folder: Path) -> None:
    states: list[str] = []
    async with Companion(environment=environment, on_stderr=lambda _: None, on_state=states.append) as companion:
        await companion.configure(ConfigureSession(storage_folder=str(folder), game_name="test"))
        await companion.make(CreateStringStorage(name="lines", strings=["One.", "Two."]))
        mira = await companion.create_agent(WORKFLOW)
        canned = await companion.create_agent(
            {"start_node": "c", "nodes": [{"name": "c", "type": "CannedResponse", "string_storage": "lines"}]},
            seed_dialog=[{"user": "Hello.", "replies": [{"node_name": "c", "text": "Zero."}]}],
        )
        first = [frame.message async for frame in mira.turn("First?")]
        assert isinstance(first[-1], TurnComplete) and first[-1].status == "Success"
        await mira.set_variables({"level": 7})
        await mira.change_params("mira", {"system_prompt": "Mira keeps the inn.", "sampling": {"temperature": 0.5}})
        await mira.change_params("mira", {"sampling": {"top_k": 3}})

        said = ""
        frames = []
        async for frame in mira.turn("Second?"):
            frames.append(frame.message)
            if isinstance(frame.message, AnswerText):
                said += frame.message.text
                if said.count(" ") == 5:
                    psutil.Process(companion.pid).kill()
        cut = frames[-1]
        assert isinstance(cut, TurnComplete)
        assert (cut.status, cut.error.code if cut.error else 0) == ("Error", 2001)
        assert cut.interaction is not None
        assert cut.interaction.outputs[0].text == said
        assert [type(frame) for frame in frames].count(TurnComplete) == 1

        # The mock engine begins its script anew; the rest is as it was.
        third = [frame.message async for frame in mira.turn("Third?")]
        assert [frame.text for frame in third if isinstance(frame, AnswerText) and frame.node_name == "note"] == ["7"]
        params = await companion.request(GetParams(agent_id=mira.agent_id, node_name="mira"))
        assert isinstance(params, Params)
        assert params.params["sampling"] == {"temperature": 0.5, "top_k": 3}
        assert params.params["system_prompt"] == "Mira keeps the inn."
        dialog = await mira.export_dialog()
        assert dialog.interactions == mira.interactions
        assert [(turn.user, turn.status) for turn in dialog.interactions] == [
            ("First?", "Success"), ("Second?", "Error"), ("Third?", "Success"),
        ]  # fmt: skip
        assert [turn.user for turn in (await canned.export_dialog()).interactions] == ["Hello."]
        answer = [frame.message async for frame in canned.turn("And?")]
        assert isinstance(answer[0], AnswerText) and answer[0].text == "One."
        assert (companion.restarts, states) == (1, ["gone", "back"])
        pid = companion.pid
    assert not psutil.pid_exists(pid)


@on_the_loop
@pytest.mark.thorough
async def test_an_idle_sidecar_that_dies_is_replaced_unasked(environment: dict[str, str], _: Path) -> None:
    back = asyncio.Event()

    def note(state: str) -> None:
        if state == "back":
            back.set()

    async with Companion(environment=environment, on_stderr=lambda _: None, on_state=note) as companion:
        mira = await companion.create_agent(WORKFLOW)
        before = mira.agent_id
        psutil.Process(companion.pid).kill()
        await back.wait()
        assert mira.agent_id != before
        assert [type(frame.message) async for frame in mira.turn("Hello?")][-1] is TurnComplete
        await mira.destroy()


@on_the_loop
async def test_requests_wait_for_the_next_sidecar(environment: dict[str, str], _: Path) -> None:
    async with Companion(environment=environment, on_stderr=lambda _: None) as companion:
        mira = await companion.create_agent(WORKFLOW)
        psutil.Process(companion.pid).kill()
        await mira.set_variables({"level": 3})
        other = await companion.create_agent(WORKFLOW)
        for character, level in ((mira, "3"), (other, "1")):
            frames = [frame.message async for frame in character.turn("Hello?")]
            assert isinstance(frames[-2], AnswerText) and frames[-2].text == level


@on_the_loop
async def test_errors_of_the_sidecar_are_passed_on(environment: dict[str, str], _: Path) -> None:
    async with Companion(environment=environment, on_stderr=lambda _: None) as companion:
        with pytest.raises(WorkflowInvalid):
            await companion.create_agent({"nodes": []})
        mira = await companion.create_agent(WORKFLOW)
        assert [frame async for frame in mira.turn("First?")]
        running = mira.turn("Second?")
        await anext(running)
        with pytest.raises(AgentBusy):
            await anext(mira.turn("At once?"))
        with pytest.raises(UnknownToolCall):
            await mira.tool_result("call_1_1_1", "done")
        await mira.cancel()
        rest = [frame.message async for frame in running]
        assert isinstance(rest[-1], TurnComplete) and rest[-1].status == "Cancelled"
        assert [turn.status for turn in mira.interactions] == ["Success", "Cancelled"]
        assert companion.restarts == 0


@on_the_loop
async def test_a_sidecar_that_cannot_live_is_given_up(environment: dict[str, str], folder: Path) -> None:
    async with Companion(environment=environment, on_stderr=lambda _: None) as companion:
        mira = await companion.create_agent(WORKFLOW)
        environment_file = folder / "models.json"
        environment_file.write_text("{", encoding="utf-8")  # the next one does not start
        psutil.Process(companion.pid).kill()
        with pytest.raises(SidecarFailed, match="exit code"):
            await mira.set_variables({"level": 3})
        with pytest.raises(SidecarFailed):
            await anext(mira.turn("Hello?"))

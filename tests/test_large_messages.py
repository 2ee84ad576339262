"""Large requests are read beside the event loop, in the order in which they came."""

from __future__ import annotations

import asyncio
import gc
import threading
from typing import Any

import pytest

from bridge import codec, server
from bridge.codec import Limits, decode_request, encode
from bridge.errors import LimitExceeded, MalformedMessage
from bridge.protocol import ExportDialog, ListAgents, Request, SeedDialog, TruncateDialog
from tests.talk import run, talking, workflow

FLOW = workflow({"name": "n", "type": "Generate"})


def long_dialog(turns: int) -> list[dict[str, Any]]:
    return [{"user": f"line {index}", "replies": [{"node_name": "n", "text": "x" * 100}]} for index in range(turns)]


def test_what_comes_behind_a_large_message_is_done_behind_it(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[tuple[str, str]] = []

    def noted(frames: list[bytes], limits: Limits) -> codec.Envelope:
        read.append((frames[0].decode(), threading.current_thread().name))
        return decode_request(frames, limits)

    monkeypatch.setattr(server, "decode_request", noted)

    async def work() -> None:
        async with talking() as talk:
            agent_id = await talk.agent(FLOW)
            read.clear()
            many = long_dialog(2_000)
            requests: list[Request] = [
                SeedDialog(agent_id=agent_id, dialog=many),
                TruncateDialog(agent_id=agent_id, keep=1),
                SeedDialog(agent_id=agent_id, dialog=many, append=True),
                TruncateDialog(agent_id=agent_id, keep=1_500),
                ListAgents(),
            ]
            replies = await asyncio.gather(*map(talk.client.request, requests))
            assert [reply.type_name for reply in replies] == ["Ok"] * 4 + ["Agents"]
            turns = (await talk.client.export_dialog(agent_id)).interactions
            assert [turns[0].user, turns[1].user, len(turns)] == ["line 0", "line 0", 1_500]

    run(work)
    here = threading.main_thread().name
    assert [name for name, _ in read if name != "Ping"][:5] == [
        "SeedDialog",
        "TruncateDialog",
        "SeedDialog",
        "TruncateDialog",
        "ListAgents",
    ]
    assert {name for name, thread in read if thread != here} == {"SeedDialog"}


def test_a_large_message_that_is_wrong_is_refused_and_what_follows_is_done() -> None:
    async def work() -> None:
        async with talking() as talk:
            agent_id = await talk.agent(FLOW)
            wrong = ExportDialog.model_construct(agent_id="x" * 200_000, from_=-1)
            first = asyncio.ensure_future(talk.client.request(wrong))
            second = asyncio.ensure_future(talk.client.request(ExportDialog(agent_id=agent_id)))
            with pytest.raises(MalformedMessage, match="from: "):
                await first
            assert (await second).type_name == "Dialog"

    run(work)


def test_what_may_wait_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "QUEUED_MESSAGES", 0)

    async def work() -> None:
        async with talking() as talk:
            agent_id = await talk.agent(FLOW)
            many = SeedDialog(agent_id=agent_id, dialog=long_dialog(2_000))
            replies = await asyncio.gather(
                *(talk.client.request(request) for request in (many, ListAgents(), many)), return_exceptions=True
            )
            assert [type(reply) for reply in replies[::2]].count(LimitExceeded) == 1
            assert "wait to be read" in str(replies[2])
            assert (await talk.client.request(ListAgents())).type_name == "Agents"

    run(work)


def test_the_collector_is_back_after_a_large_message() -> None:
    assert gc.isenabled()
    request = SeedDialog(agent_id="a", dialog=long_dialog(12_000))
    frames = encode(request, request_id=1)
    assert len(frames[2]) > codec.COLLECTED_BYTES
    assert decode_request(frames, Limits(2**23, 0)).message == request
    assert gc.isenabled()
    frames[2] = frames[2][:-2]
    with pytest.raises(MalformedMessage):
        decode_request(frames, Limits(2**23, 0))
    assert gc.isenabled()
    gc.disable()
    try:
        with pytest.raises(MalformedMessage):
            decode_request(frames, Limits(2**23, 0))
        assert not gc.isenabled()  # whoever had it off keeps it off
    finally:
        gc.enable()

"""Turns on the starter model through the real wire: cancel while the prompt is read, and the turn after it."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from bridge import protocol
from bridge.catalog import read_catalog
from bridge.config import Settings
from tests.talk import run, talking, workflow

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]


def test_cancel_while_the_prompt_is_read_and_the_next_turn_works(starter_model: Path) -> None:
    long_persona = "The inn stands by the harbour, and the rain falls on its roof. " * 60

    async def work() -> None:
        settings = Settings(prompt_chunk=64)
        async with talking(read_catalog()["starter-chat"], settings=settings) as talk:
            node = {"name": "mira", "type": "Generate", "system_prompt": long_persona, "max_tokens": 8}
            agent_id = await talk.agent(workflow(node, model="starter-chat"))
            everything = talk.client.subscribe()
            await talk.client.request(protocol.SendMessage(agent_id=agent_id, text="Hello."))
            asked = time.monotonic()
            await talk.client.cancel_turn(agent_id)
            messages = []
            async for frame in everything:
                messages.append(frame.message)
                if isinstance(frame.message, protocol.TurnComplete):
                    break
            complete = messages[-1]
            assert isinstance(complete, protocol.TurnComplete)
            assert (complete.status, complete.tokens_generated) == ("Cancelled", 0)
            assert [m for m in messages if isinstance(m, protocol.AnswerText) and m.text] == []
            whole_prompt_s = time.monotonic() - asked
            turn = await talk.say(agent_id, "Hello.")
            assert turn.complete.status == "Success"
            usage = turn.debug["steps"][0]["usage"]
            assert usage["prompt_tokens"] > 800
            # The cancel came before the prompt was read: by far the most of it was left to this turn.
            assert usage["evaluated_tokens"] > 550
            assert whole_prompt_s * 1000 < usage["ttft_ms"]

    run(work)


@pytest.mark.thorough
def test_a_summary_by_a_real_model_stands_in_for_the_oldest_turns(starter_model: Path) -> None:
    async def work() -> None:
        async with talking(read_catalog()["starter-chat"]) as talk:
            mira = {"name": "mira", "type": "Generate", "system_prompt": "Mira keeps the inn.", "max_tokens": 24}
            sums = {"name": "sum", "type": "Summarize", "trigger_tokens": 100, "keep_recent_turns": 2, "max_tokens": 48}
            agent_id = await talk.agent(workflow(mira, sums, model="starter-chat"))
            written = None
            for line in (
                "I am Tom.",
                "I look for Jack.",
                "He has red hair.",
                "I pay well.",
                "Where is the mill?",
                "Bye.",
            ):
                turn = await talk.say(agent_id, line)
                assert turn.complete.status == "Success"
                if written:
                    role, text = turn.prompt(1)[0]
                    assert role == "system"
                    assert text.endswith(written)
                    assert ("user", "I am Tom.") not in turn.prompt(1)
                for message in turn.messages:
                    if isinstance(message, protocol.NodeEvent):
                        written = message.data["text"]
            assert written, "six turns went by without a summary"

    run(work)

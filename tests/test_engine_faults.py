"""Engines that fail, through the real wire: who is hurt, what he is told, and that his next turn works."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from bridge.catalog import CatalogEntry
from bridge.config import Settings
from bridge.engine import TextModel
from bridge.engines.scheduler import Scheduler
from bridge.model_files import Report
from tests.fakes_engine import ScriptedBackend
from tests.talk import Heard, Talk, run, talking, workflow

NODE = {"name": "mira", "type": "Generate", "system_prompt": "You are Mira, who keeps the inn by the harbour."}


def loading(backend: ScriptedBackend) -> Callable[[CatalogEntry, Path | None, Settings, Report], TextModel]:
    def load(entry: CatalogEntry, path: Path | None, settings: Settings, report: Report) -> TextModel:
        return Scheduler(backend, prompt_chunk=settings.prompt_chunk, park_bytes=settings.park_bytes)

    return load


def usage(turn: Heard) -> dict[str, int]:
    found: dict[str, int] = turn.debug["steps"][0]["usage"]
    return found


def test_a_failed_decode_is_4001_for_those_in_it_and_their_next_turns_work() -> None:
    backend = ScriptedBackend(n_sequences=2)

    async def work() -> None:
        async with talking(load_engine=loading(backend)) as talk:
            agents = [await talk.agent(workflow(NODE)) for _ in range(3)]
            for agent_id in agents:
                assert (await talk.say(agent_id, "one two")).text("mira") == "one two"
            backend.decode_faults = [RuntimeError("the device is lost")]
            hurt = await talk.say(agents[0], "three")
            error = hurt.complete.error
            assert error is not None
            assert (hurt.complete.status, error.code, error.node_name) == ("Error", 4001, "mira")
            assert "the device is lost" in error.message
            assert hurt.complete.interaction is None
            again = await talk.say(agents[0], "four five")
            assert (again.complete.status, again.text("mira")) == ("Success", "four five")
            assert (usage(again)["cached_tokens"], usage(again)["dropped"]) == (0, True)
            for agent_id in agents[1:]:  # one idle in the context, one parked
                turn = await talk.say(agent_id, "still here")
                assert turn.text("mira") == "still here"
                assert usage(turn)["cached_tokens"] > 10

    run(work)


def test_every_turn_of_a_batch_that_fails_ends_once_and_alone() -> None:
    backend = ScriptedBackend(n_sequences=4)

    async def both(talk: Talk, agents: list[str], line: str) -> list[Heard]:
        return list(await asyncio.gather(*(talk.say(agent_id, line) for agent_id in agents)))

    async def work() -> None:
        async with talking(load_engine=loading(backend)) as talk:
            agents = [await talk.agent(workflow(NODE)) for _ in range(4)]
            # Whoever is in the third decode of these turns, all of it fails.
            backend.decode_faults = [None, None, ValueError("bad batch")]
            turns = await both(talk, agents, "one two three four five")
            failed = [turn for turn in turns if turn.complete.status == "Error"]
            in_batch = len(backend.decodes[2])
            assert len(failed) == in_batch >= 1
            for turn in failed:
                assert turn.complete.error is not None
                assert turn.complete.error.code == 4001
            assert all(turn.text("mira") == "one two three four five" for turn in turns if turn not in failed)
            for turn in await both(talk, agents, "and now"):
                assert (turn.complete.status, turn.text("mira")) == ("Success", "and now")

    run(work)

"""Blocking work beside the event loop: no kind of it, and no session, keeps the others waiting."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import bridge
from bridge import workers
from bridge.catalog import CatalogEntry
from bridge.engine import TextModel
from bridge.errors import LimitExceeded
from bridge.loaders import load_text_engine
from bridge.nodes import human_message_guardrail as guardrail
from bridge.protocol import CancelTurn, LoadModel, SendMessage
from tests.talk import run, scripted, talking, workflow

SLOW_PATTERN = r"(?:[a-z]{1,100}\w{0,100}){1,3}\d$"
"""4,804 instructions: RE2 takes more than a second for 60,000 letters."""


def test_a_session_has_only_its_share_of_a_pool() -> None:
    async def work() -> None:
        pool = workers.Pool("test", threads=3, share=2)
        go_on = threading.Event()
        begun: list[str] = []
        has_begun = threading.Semaphore(0)

        def wait(name: str) -> str:
            begun.append(name)
            has_begun.release()
            assert go_on.wait(30)
            return name

        async def ask(session: str, name: str) -> str:
            workers.session.set(session)
            return await pool.run(wait, name)

        greedy = [asyncio.create_task(ask("greedy", f"g{index}")) for index in range(5)]
        await asyncio.sleep(0)
        other = asyncio.create_task(ask("other", "o"))
        for _ in range(3):
            assert await asyncio.to_thread(has_begun.acquire, timeout=30)
        assert sorted(begun) == ["g0", "g1", "o"]
        greedy.pop().cancel()
        go_on.set()
        assert await asyncio.gather(*greedy, other) == ["g0", "g1", "g2", "g3", "o"]
        assert "g4" not in begun
        assert pool._shares == {}

    run(work)


def test_work_that_nobody_waits_for_any_more_still_counts_until_it_ends() -> None:
    async def work() -> None:
        pool = workers.Pool("test", threads=4, share=1)
        go_on = threading.Event()
        begun = threading.Event()

        def first() -> None:
            begun.set()
            assert go_on.wait(30)

        workers.session.set("one")
        task = asyncio.create_task(pool.run(first))
        assert await asyncio.to_thread(begun.wait, 30)
        task.cancel()
        second = asyncio.create_task(pool.run(go_on.is_set))
        done, _ = await asyncio.wait({second}, timeout=0.05)
        assert not done
        go_on.set()
        assert await second

    run(work)


def test_faults_come_back() -> None:
    async def work() -> None:
        for session in ("", "one"):
            workers.session.set(session)
            with pytest.raises(ZeroDivisionError):
                await workers.request(lambda: 1 // 0)

    run(work)


def test_the_sidecar_uses_its_own_pools_only() -> None:
    root = Path(bridge.__file__).parent
    # Of the game's process and the terminal's.
    allowed = {"launch.py", "client.py", "cli_voice.py", "voice_player.py"}
    users = [
        path.name
        for path in root.rglob("*.py")
        if "bench" not in path.parts and "await asyncio.to_thread(" in path.read_text(encoding="utf-8")
    ]
    assert set(users) <= allowed


def test_many_loads_keep_no_other_session_waiting() -> None:
    go_on = threading.Event()

    def load(entry: CatalogEntry, path: Path | None, settings: Any, report: Any) -> TextModel:
        if entry.name.startswith("big"):
            assert go_on.wait(30)
        return load_text_engine(entry, path, settings, report)

    async def work() -> None:
        models = [scripted("a", name=f"big{index}") for index in range(12)]
        async with talking(*models, scripted("b", name="small"), load_engine=load) as talk:
            loads = [asyncio.create_task(talk.client.request(LoadModel(model=f"big{index}"))) for index in range(12)]
            await asyncio.sleep(0)
            other = await talk.another_client()
            try:
                made = other.create_agent(workflow({"name": "n", "type": "Generate"}, model="small"))
                await asyncio.wait_for(made, 10)
                assert not any(load.done() for load in loads)
            finally:
                go_on.set()
                await asyncio.gather(*loads)
                await other.close()

    run(work)


# ---- patterns


class Found:
    """A pattern that takes its time."""

    programsize = 10_000

    def __init__(self, search: Callable[[], None]) -> None:
        self._search = search

    def search(self, _: str) -> None:
        self._search()


def test_a_search_ends_with_its_turn() -> None:
    begun, go_on = threading.Event(), threading.Event()
    searched: list[int] = []

    def search() -> None:
        searched.append(1)
        begun.set()
        assert go_on.wait(30)

    async def work() -> None:
        async with talking() as talk:
            agent_id = await talk.agent(
                workflow({"name": "g", "type": "HumanMessageGuardrail", "inline_strings": ["a"] * 3})
            )
            (agent,) = talk.sessions[0]._agents.values()
            node = agent._cast.workflow.nodes["g"]
            assert isinstance(node, guardrail.HumanMessageGuardrail)
            node._patterns = [("a", Found(search))] * 3
            node._size = 30_000
            await talk.client.request(SendMessage(agent_id=agent_id, text="b" * 1_000))
            assert await asyncio.to_thread(begun.wait, 30)
            await talk.client.request(CancelTurn(agent_id=agent_id))
            go_on.set()
            await workers.search(lambda: None)

    run(work)
    assert len(searched) == 1


def test_slow_patterns_are_searched_beside_the_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[str] = []
    search = guardrail.HumanMessageGuardrail._search

    def noted(self: Any, *arguments: Any) -> str | None:
        threads.append(threading.current_thread().name)
        return search(self, *arguments)

    monkeypatch.setattr(guardrail.HumanMessageGuardrail, "_search", noted)

    async def work() -> None:
        async with talking() as talk:
            for patterns, line in ((["a b"] * 50, "hello"), ([SLOW_PATTERN], "a" * 2_000)):
                flow = workflow({"name": "g", "type": "HumanMessageGuardrail", "inline_strings": patterns})
                assert (await talk.say(await talk.agent(flow), line)).complete.status == "Success"

    run(work)
    assert threads[0] == threading.main_thread().name
    assert threads[1].startswith("parley-search")


def test_the_work_of_a_turn_is_capped() -> None:
    async def work() -> None:
        async with talking() as talk:
            patterns = [SLOW_PATTERN + "x" * index for index in range(20)]
            flow = workflow({"name": "g", "type": "HumanMessageGuardrail", "inline_strings": patterns})
            agent_id = await talk.agent(flow)
            complete = (await talk.say(agent_id, "a" * 60_000)).complete
            assert complete.status == "Error" and complete.error is not None
            assert complete.error.code == LimitExceeded.code == 3014
            assert complete.error.message.startswith("searching 60000 characters for 20 patterns (")
            assert complete.error.node_name == "g"
            assert (await talk.say(agent_id, "a" * 60)).complete.status == "Success"
            # Steps of one turn count together.
            monkey = workflow(
                {"name": "g", "type": "HumanMessageGuardrail", "inline_strings": [SLOW_PATTERN]},
                {"name": "h", "type": "HumanMessageGuardrail", "inline_strings": [SLOW_PATTERN]},
            )
            monkey["nodes"][0].update(triggered_exit="h", not_triggered_exit="h")
            monkey["nodes"][0].pop("default_exit", None)
            two = await talk.agent(monkey)
            limit = guardrail.SEARCHED_IN_A_TURN
            try:
                guardrail.SEARCHED_IN_A_TURN = 1_500_000
                complete = (await talk.say(two, "b" * 200)).complete
            finally:
                guardrail.SEARCHED_IN_A_TURN = limit
            assert complete.error is not None and complete.error.node_name == "h"

    run(work)


def test_a_short_line_waits_for_no_thread() -> None:
    """The usual turn changes no thread: also where all are taken."""
    go_on = threading.Event()

    async def work() -> None:
        pools = (workers._SEARCHES, workers._REQUESTS)
        async with talking() as talk:
            flow = workflow(
                {"name": "g", "type": "HumanMessageGuardrail", "inline_strings": ["bad word"] * 100},
                {"name": "n", "type": "Generate"},
            )
            flow["nodes"][0].update(triggered_exit="", not_triggered_exit="n")
            flow["nodes"][0].pop("default_exit", None)
            agent_id = await talk.agent(flow)
            workers.session.set("")
            taken = [asyncio.create_task(pool.run(go_on.wait, 30)) for pool in pools for _ in range(pool.threads)]
            await asyncio.sleep(0)
            began = time.monotonic()
            assert (await talk.say(agent_id, "hello " * 20)).complete.status == "Success"
            assert time.monotonic() - began < 20
            go_on.set()
            await asyncio.gather(*taken)

    run(work)

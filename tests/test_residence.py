"""Where caches are: who is parked, who is dropped, what comes back, and that nothing is left behind."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.answer_text import AnswerRules
from bridge.config import Settings
from bridge.engine import CacheAction, CacheState, Usage
from bridge.engines.mock import TOKEN_BYTES, load_mock
from bridge.engines.scheduler import Scheduler
from bridge.errors import InferenceFailed
from tests.fakes_engine import Gate, ScriptedBackend, finished, request, running, words

T = TypeVar("T")
PERSONA = words(20)
ACTIONS: tuple[CacheAction, ...] = ("Park", "Drop")


def run(work: Coroutine[Any, Any, T]) -> T:
    async def limited() -> T:
        return await asyncio.wait_for(work, 60)

    return asyncio.run(limited())


async def say(scheduler: Scheduler, sequence: str, prompt: str = PERSONA, reply: str = "ok", **more: Any) -> Usage:
    done = await finished(scheduler.generate(request(scheduler, sequence, prompt, reply, **more)))
    assert done.text == reply.lstrip()
    return done.usage


def parking(n_sequences: int = 2, park_tokens: int = 10_000, **more: Any) -> Scheduler:
    backend = ScriptedBackend(n_sequences=n_sequences, **more)
    return Scheduler(backend, prompt_chunk=256, park_bytes=park_tokens * TOKEN_BYTES)


# ---- parking


def test_twenty_who_take_turns_on_four_places_never_read_their_persona_again() -> None:
    async def work() -> None:
        async with running(load_mock(Settings(resident_sequences=4), context_size=256)) as scheduler:
            for round_ in range(3):
                for index in range(20):
                    line = "".join(f" line{number}" for number in range(round_ + 1))
                    usage = await say(scheduler, f"s{index}", words(40, f"p{index}-") + line, "ok")
                    assert usage.evaluated_tokens == (1 if round_ else 41)
                    assert not usage.dropped
            status = scheduler.status()
            assert (status.residents, status.parked) == (4, 16)
            # A persona, the lines of three rounds, the last reply.
            assert status.bytes_parked == 16 * (40 + 3 + 1) * TOKEN_BYTES

    run(work())


def test_what_does_not_fit_into_the_budget_goes_least_recently_used_first_and_says_so() -> None:
    async def work() -> None:
        async with running(parking(1, park_tokens=2 * 21)) as scheduler:
            for name in ("a", "b", "c", "d"):  # a, b and c have to leave one by one; the budget holds two of them
                await say(scheduler, name)
            assert (scheduler.status().parked, scheduler.status().bytes_parked) == (2, 2 * 21 * TOKEN_BYTES)
            assert not (await say(scheduler, "c")).dropped
            assert (await say(scheduler, "a")).dropped  # b is parked still, though a trade made room for c
            assert not (await say(scheduler, "d")).dropped
            again = await say(scheduler, "a")
            assert (again.dropped, again.cached_tokens) == (False, 19)

    run(work())


def test_a_budget_that_holds_all_but_the_resident_is_enough_for_a_round() -> None:
    async def work() -> None:
        async with running(parking(1, park_tokens=3 * 21)) as scheduler:
            for round_ in range(3):
                for name in ("a", "b", "c", "d"):
                    usage = await say(scheduler, name)
                    assert (usage.cached_tokens, usage.dropped) == ((19, False) if round_ else (0, False))
                    assert scheduler.status().bytes_parked <= 3 * 21 * TOKEN_BYTES

    run(work())


def test_a_parked_sequence_somebody_waits_for_is_dropped_last() -> None:
    async def work() -> None:
        gate = Gate()
        backend = ScriptedBackend(n_sequences=1, gate=gate)
        async with running(Scheduler(backend, prompt_chunk=256, park_bytes=2 * 21 * TOKEN_BYTES), gate) as scheduler:
            gate._lifted = True
            for name in ("old", "young", "idle"):
                await say(scheduler, name)
            gate._lifted = False
            busy = scheduler.generate(request(scheduler, "idle", PERSONA, "ok"))
            await gate.reached()
            first = scheduler.generate(request(scheduler, "first", PERSONA, "ok"))
            second = scheduler.generate(request(scheduler, "old", PERSONA, "ok"))
            gate.lift()
            for generation in (busy, first):
                await finished(generation)
            assert (await finished(second)).usage.cached_tokens == 19
            assert (await say(scheduler, "young")).dropped

    run(work())


@pytest.mark.parametrize("park_tokens", [0, 20])
def test_no_budget_or_one_too_small_for_a_single_state_parks_nothing(park_tokens: int) -> None:
    async def work() -> None:
        async with running(parking(1, park_tokens=park_tokens)) as scheduler:
            await say(scheduler, "a")
            await say(scheduler, "b")
            assert scheduler.status().parked == 0
            assert (await say(scheduler, "a")).dropped

    run(work())


@pytest.mark.parametrize("fault", ["save_fault", "restore_fault"])
def test_a_copy_that_fails_is_a_reading_anew(fault: str) -> None:
    async def work() -> None:
        backend = ScriptedBackend(n_sequences=1)
        async with running(Scheduler(backend, prompt_chunk=256, park_bytes=2**20)) as scheduler:
            setattr(backend, fault, MemoryError("no room"))
            await say(scheduler, "a")
            await say(scheduler, "b")
            back = await say(scheduler, "a")
            assert (back.dropped, back.cached_tokens) == (True, 0)
            setattr(backend, fault, None)
            await say(scheduler, "b")
            assert (await say(scheduler, "a")).cached_tokens == 19

    run(work())


def test_a_larger_window_parks_all_and_they_come_back() -> None:
    async def work() -> None:
        backend = ScriptedBackend(n_sequences=2, context_size=100)
        async with running(Scheduler(backend, prompt_chunk=256, park_bytes=2**20)) as scheduler:
            for name in ("a", "b", "c"):
                await say(scheduler, name, context_size=100)
            await say(scheduler, "wide", words(150), context_size=200)
            assert backend.resized == [200]
            for name in ("a", "b", "c"):
                usage = await say(scheduler, name, context_size=100)
                assert (usage.cached_tokens, usage.dropped) == (19, False)
            backend.resize_fault = MemoryError("no room")
            with pytest.raises(InferenceFailed, match="no room"):
                await say(scheduler, "a", context_size=400)
            assert (await say(scheduler, "c", context_size=100)).cached_tokens == 19

    run(work())


def test_a_larger_window_parks_no_more_than_the_budget_holds() -> None:
    async def work() -> None:
        scheduler = parking(3, park_tokens=2 * 21, context_size=100)
        async with running(scheduler):
            for name in ("a", "b", "c"):
                await say(scheduler, name, context_size=100)
            await say(scheduler, "wide", words(150), context_size=200)
            assert scheduler.status().bytes_parked == 2 * 21 * TOKEN_BYTES
            assert [(await scheduler.manage_cache(name, "Stats")).where for name in "abc"] == [
                "none",
                "parked",
                "parked",
            ]

    run(work())


def test_a_parked_sequence_comes_back_into_scarce_cells() -> None:
    async def work() -> None:
        backend = ScriptedBackend(n_sequences=4, context_size=100, cells=100)
        async with running(Scheduler(backend, prompt_chunk=256, park_bytes=2**20)) as scheduler:
            for name in ("a", "b"):
                await say(scheduler, name, words(60), max_tokens=5, context_size=100)
            # What is parked of it takes more cells than its next prompt: they must be there all the same.
            usage = await say(scheduler, "a", words(10), max_tokens=5, context_size=100)
            assert (usage.cached_tokens, usage.dropped) == (9, False)
            assert (await say(scheduler, "b", words(60), max_tokens=5, context_size=100)).cached_tokens == 59

    run(work())


# ---- layers with a sliding window


async def parked_and_back(scheduler: Scheduler, prompt: str, next_prompt: str, **more: Any) -> Usage:
    await say(scheduler, "a", prompt, " yes sir", **more)  # as these words stand in a prompt
    await scheduler.manage_cache("a", "Park")
    return await say(scheduler, "a", next_prompt)


def test_a_window_parks_no_more_than_the_next_prompt_replays() -> None:
    async def work() -> None:
        async with running(parking(window=10)) as scheduler:
            back = await parked_and_back(scheduler, words(50), words(50) + " yes sir go on")
            assert (back.cached_tokens, back.evaluated_tokens, back.dropped) == (52, 2, False)
            assert (await scheduler.manage_cache("a", "Stats")).tokens == 55

    run(work())


def test_a_reply_that_its_text_does_not_show_is_cut_before_parking() -> None:
    async def work() -> None:
        async with running(parking(window=10)) as scheduler:
            rules = AnswerRules(stop=("STOP",))
            first = request(scheduler, "a", words(50), "yes sir STOP and more", answer=rules)
            assert (await finished(scheduler.generate(first))).text == "yes sir"
            assert (await scheduler.manage_cache("a", "Stats")).tokens == 52  # the stop itself was never read
            assert (await scheduler.manage_cache("a", "Park")).tokens == 52
            replaced = request(scheduler, "b", words(50), "Mira: yes sir", answer=AnswerRules(own_label="Mira"))
            assert (await finished(scheduler.generate(replaced))).text == "yes sir"
            assert (await scheduler.manage_cache("b", "Stats")).tokens == 53
            assert (await scheduler.manage_cache("b", "Park")).tokens == 50

    run(work())


def test_a_template_says_what_comes_back_so_that_a_cut_inside_the_window_is_never_needed() -> None:
    async def work() -> None:
        async with running(parking(window=10)) as scheduler:
            back = await parked_and_back(scheduler, words(50), words(45) + " other words now", replay=45)
            assert (back.cached_tokens, back.evaluated_tokens, back.dropped) == (45, 3, False)

    run(work())


def test_a_cut_inside_the_window_of_a_restored_sequence_is_a_reading_anew() -> None:
    async def work() -> None:
        async with running(parking(window=10)) as scheduler:
            back = await parked_and_back(scheduler, words(50), words(45) + " other words now")
            assert (back.cached_tokens, back.evaluated_tokens, back.dropped) == (0, 48, True)
            # Further on, where the window is whole again, cuts are cuts.
            back = await parked_and_back(scheduler, words(50), words(50) + " yes sir " + words(20, "x"))
            assert back.cached_tokens == 52
            back = await say(scheduler, "a", words(50) + " yes sir " + words(15, "x") + " new")
            assert (back.cached_tokens, back.dropped) == (67, False)

    run(work())


def test_without_a_window_a_parked_sequence_keeps_all_and_is_cut_later() -> None:
    async def work() -> None:
        async with running(parking()) as scheduler:
            back = await parked_and_back(scheduler, words(50), words(45) + " other words now", replay=10)
            assert (back.cached_tokens, back.dropped) == (45, False)

    run(work())


def test_deterministic_cuts_a_resident_where_parking_would_have() -> None:
    async def starts(park: bool) -> list[int]:
        backend = ScriptedBackend(window=10)
        scheduler = Scheduler(backend, prompt_chunk=7, deterministic=True, park_bytes=2**20)
        async with running(scheduler):
            for prompt in (words(50), words(50) + " yes"):
                await say(scheduler, "a", prompt, "yes sir", replay=45)
                if park:
                    await scheduler.manage_cache("a", "Park")
        return [piece.start for decode in backend.decodes for piece in decode]

    assert run(starts(park=False)) == run(starts(park=True))


# ---- ManageCache


def test_manage_cache_tells_parks_and_drops() -> None:
    async def work() -> None:
        async with running(parking()) as scheduler:
            assert await scheduler.manage_cache("a", "Stats") == CacheState(0, 0, "none")
            assert await scheduler.manage_cache("a", "Park") == CacheState(0, 0, "none")
            await say(scheduler, "a")
            size = 21 * TOKEN_BYTES
            assert await scheduler.manage_cache("a", "Stats") == CacheState(21, size, "resident")
            for _ in range(2):
                assert await scheduler.manage_cache("a", "Park") == CacheState(21, size, "parked")
                assert await scheduler.manage_cache("a", "Stats") == CacheState(21, size, "parked")
            assert (scheduler.status().residents, scheduler.status().parked) == (0, 1)
            assert (await say(scheduler, "a")).cached_tokens == 19
            assert (scheduler.status().residents, scheduler.status().parked) == (1, 0)
            for parked in (False, True):
                if parked:
                    await scheduler.manage_cache("a", "Park")
                assert await scheduler.manage_cache("a", "Drop") == CacheState(0, 0, "none")
                assert scheduler.status().bytes_parked == 0
                back = await say(scheduler, "a")
                assert (back.cached_tokens, back.dropped) == (0, True)

    run(work())


def test_a_running_sequence_stays_as_it_is() -> None:
    async def work() -> None:
        gate = Gate()
        async with running(parking(gate=gate), gate) as scheduler:
            generation = scheduler.generate(request(scheduler, "a", PERSONA, "yes sir"))
            await gate.reached()
            asked = [asyncio.create_task(scheduler.manage_cache("a", action)) for action in ACTIONS]
            await asyncio.sleep(0)
            await gate.step()
            assert [(await task).where for task in asked] == ["resident", "resident"]
            gate.lift()
            result = await finished(generation)
            assert (result.text, result.usage.dropped) == ("yes sir", False)

    run(work())


def test_a_closed_scheduler_keeps_nothing_and_nobody_waits_for_it() -> None:
    async def work() -> None:
        gate = Gate()
        scheduler = parking(gate=gate)
        async with running(scheduler, gate):
            generation = scheduler.generate(request(scheduler, "a", PERSONA, "yes sir"))
            await gate.reached()
            abandoned = asyncio.create_task(scheduler.manage_cache("a", "Stats"))
            await asyncio.sleep(0)
            abandoned.cancel()
            asked = asyncio.create_task(scheduler.manage_cache("a", "Stats"))
            await asyncio.sleep(0)
        assert (await finished(generation)).finish in ("cancelled", "stop")
        assert (await asked).where in ("resident", "none")
        assert await scheduler.manage_cache("a", "Stats") == CacheState(0, 0, "none")

    run(work())


def test_a_scheduler_that_breaks_answers_who_asks_for_a_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    entered, go_on = threading.Event(), threading.Event()

    def broken(self: Scheduler) -> None:
        entered.set()
        assert go_on.wait(20)
        raise AssertionError("a mistake of ours")

    monkeypatch.setattr(Scheduler, "_admit", broken)

    async def work() -> None:
        async with running(parking()) as scheduler:
            generation = scheduler.generate(request(scheduler, "a", PERSONA, "ok"))
            assert await asyncio.to_thread(entered.wait, 20)
            asked = asyncio.create_task(scheduler.manage_cache("a", "Stats"))
            await asyncio.sleep(0)
            go_on.set()
            assert await asked == CacheState(0, 0, "none")
            with pytest.raises(InferenceFailed, match="its log says why"):
                await finished(generation)

    run(work())


# ---- nothing is left behind


def test_forgetting_frees_residents_and_parked_alike() -> None:
    async def work() -> None:
        async with running(parking()) as scheduler:
            for _ in range(3):
                names = [f"s{index}" for index in range(9)]
                for name in names:
                    await say(scheduler, name)
                assert scheduler.status().parked == 7
                scheduler.forget(names)
                assert (await scheduler.manage_cache("s0", "Stats")).where == "none"
                status = scheduler.status()
                assert (status.residents, status.parked, status.bytes_parked) == (0, 0, 0)
                assert len(scheduler._residence) == 0

    run(work())


SAY = st.tuples(st.sampled_from("abcde"), st.integers(1, 8), st.integers(0, 6), st.none() | st.integers(0, 12))
MANAGE = st.tuples(st.sampled_from("abcde"), st.sampled_from(["Stats", "Park", "Drop", "forget"]))


@given(
    steps=st.lists(SAY | MANAGE, min_size=1, max_size=30),
    places=st.integers(1, 3),
    park_tokens=st.integers(0, 60),
    window=st.sampled_from([0, 3]),
    deterministic=st.booleans(),
)
def test_every_history_of_residence_keeps_its_rules(
    steps: list[Any], places: int, park_tokens: int, window: int, deterministic: bool
) -> None:
    """The backend refuses tokens that do not join on to what it holds; here it must also hold just the prompts."""
    backend = ScriptedBackend(n_sequences=places, window=window)
    scheduler = Scheduler(backend, prompt_chunk=5, deterministic=deterministic, park_bytes=park_tokens * TOKEN_BYTES)
    seen: dict[str, list[int]] = {}

    async def turn(name: str, same: int, new: int, replay: int | None) -> None:
        prompt = f"{name} {words(same)} {words(new, 'n')}".strip()
        asked = request(scheduler, name, prompt, "yes sir", replay=replay)
        usage = (await finished(scheduler.generate(asked))).usage
        assert usage.cached_tokens + usage.evaluated_tokens == usage.prompt_tokens
        common = 0
        for held, wanted in zip(seen.get(name, []), asked.prompt[:-1], strict=False):
            if held != wanted:
                break
            common += 1
        assert usage.cached_tokens <= common
        if not usage.dropped and not window and not deterministic:
            assert usage.cached_tokens == common
        slot = scheduler._residence.find(name).slot
        assert backend.held(slot)[: len(asked.prompt)] == list(asked.prompt)
        seen[name] = backend.held(slot)

    async def work() -> None:
        async with running(scheduler):
            for name, *what in steps:
                if len(what) == 3:
                    await turn(name, *what)
                elif what[0] == "forget":
                    scheduler.forget([name])
                    seen.pop(name, None)
                else:
                    state = await scheduler.manage_cache(name, what[0])
                    assert state.where == "none" or what[0] != "Drop"
                    assert state.where != "resident" or what[0] != "Park"
                residence = scheduler._residence
                parked = [s.parked for s in residence._all.values() if s.parked is not None]
                assert residence.parked_bytes == sum(copy.bytes for copy in parked) <= park_tokens * TOKEN_BYTES
                assert residence.residents <= places
            scheduler.forget(list("abcde"))
            await scheduler.manage_cache("a", "Stats")
            assert (len(scheduler._residence), scheduler._residence.parked_bytes) == (0, 0)
            assert all(not backend.held(seq) for seq in range(places))

    run(work())

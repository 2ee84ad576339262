"""What the scheduler promises: which tokens are read again, who waits for whom, and who is hurt by a failure."""

from __future__ import annotations

import asyncio
import gc
import threading
import weakref
from collections.abc import Coroutine
from dataclasses import replace
from typing import Any, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.answer_text import AnswerRules, AnswerText
from bridge.engine import Segment
from bridge.engines import scheduler as scheduler_module
from bridge.engines.backend import Slice
from bridge.engines.generation import LiveGeneration, Outbox
from bridge.engines.scheduler import Scheduler
from bridge.errors import InferenceFailed, PromptTooLong
from tests.fakes_engine import Gate, ScriptedBackend, finished, request, running, words

T = TypeVar("T")


def run(work: Coroutine[Any, Any, T]) -> T:
    async def limited() -> T:
        return await asyncio.wait_for(work, 60)

    return asyncio.run(limited())


async def say(scheduler: Scheduler, sequence: str, prompt: str, reply: str = "", **more: Any) -> Any:
    return await finished(scheduler.generate(request(scheduler, sequence, prompt, reply, **more)))


# ---- caches


def test_a_prompt_that_goes_on_is_read_only_where_it_is_new() -> None:
    async def work() -> None:
        async with running(Scheduler(ScriptedBackend(), prompt_chunk=256)) as scheduler:
            first = await say(scheduler, "a", "one two three", "yes sir")
            assert (first.text, first.finish) == ("yes sir", "stop")
            assert first.usage.prompt_tokens == first.usage.evaluated_tokens == 3
            assert (first.usage.cached_tokens, first.usage.generated_tokens, first.usage.dropped) == (0, 2, False)
            second = await say(scheduler, "a", "one two three four five", "no")
            assert (second.usage.cached_tokens, second.usage.evaluated_tokens) == (3, 2)

    run(work())


def test_what_was_written_is_in_the_cache() -> None:
    async def work() -> None:
        async with running(Scheduler(ScriptedBackend(), prompt_chunk=256)) as scheduler:
            first = request(scheduler, "a", "one two", "three four")
            done = await finished(scheduler.generate(first))
            prompt = (*first.prompt, *done.tokens, *scheduler.vocabulary.tokenize([Segment(" five six")]))
            usage = (await finished(scheduler.generate(replace(first, prompt=prompt)))).usage
            assert (usage.prompt_tokens, usage.cached_tokens, usage.evaluated_tokens) == (6, 4, 2)

    run(work())


def test_a_reply_cut_by_its_length_leaves_its_last_token_unread() -> None:
    async def work() -> None:
        async with running(Scheduler(ScriptedBackend(), prompt_chunk=256)) as scheduler:
            first = request(scheduler, "a", "one two", "three four five", max_tokens=2)
            done = await finished(scheduler.generate(first))
            assert (done.finish, len(done.tokens)) == ("length", 2)
            again = await finished(scheduler.generate(replace(first, prompt=(*first.prompt, *done.tokens))))
            assert (again.usage.cached_tokens, again.usage.evaluated_tokens) == (3, 1)

    run(work())


def test_an_unchanged_prompt_still_has_one_token_read() -> None:
    async def work() -> None:
        backend = ScriptedBackend()
        async with running(Scheduler(backend, prompt_chunk=256)) as scheduler:
            await say(scheduler, "a", "one two three", "yes")
            again = await say(scheduler, "a", "one two three", "yes")
            assert (again.usage.cached_tokens, again.usage.evaluated_tokens) == (2, 1)
            assert [len(piece.tokens) for piece in backend.decodes[2]] == [1]

    run(work())


def test_a_change_inside_the_prompt_keeps_what_stands_before_it() -> None:
    async def work() -> None:
        async with running(Scheduler(ScriptedBackend(), prompt_chunk=256)) as scheduler:
            await say(scheduler, "a", words(50))
            changed = await say(scheduler, "a", words(20) + " new " + words(30))
            assert (changed.usage.cached_tokens, changed.usage.evaluated_tokens) == (20, 31)
            assert not changed.usage.dropped

    run(work())


def test_a_sequence_that_cannot_be_cut_is_read_anew_and_says_so() -> None:
    async def work() -> None:
        async with running(Scheduler(ScriptedBackend(cut_works=False), prompt_chunk=256)) as scheduler:
            await say(scheduler, "a", "one two three", "yes")
            changed = await say(scheduler, "a", "one two four", "yes")
            assert (changed.usage.cached_tokens, changed.usage.evaluated_tokens) == (0, 3)
            assert changed.usage.dropped

    run(work())


def test_an_empty_prompt_and_no_tokens_at_all_are_legal() -> None:
    async def work() -> None:
        async with running(Scheduler(ScriptedBackend(), prompt_chunk=256)) as scheduler:
            assert (await say(scheduler, "a", "", "hello")).text == "hello"
            warm = await say(scheduler, "b", words(9), "hello", max_tokens=0)
            assert (warm.text, warm.finish, warm.usage.evaluated_tokens) == ("", "length", 9)
            assert (await say(scheduler, "b", words(9), "hello")).usage.cached_tokens == 8

    run(work())


# ---- residents


def test_the_least_recently_used_sequence_leaves_and_says_so_when_it_comes_back() -> None:
    async def work() -> None:
        async with running(Scheduler(ScriptedBackend(n_sequences=2), prompt_chunk=256)) as scheduler:
            for name in ("a", "b", "a", "c"):  # c takes the place of b
                assert not (await say(scheduler, name, "one two", "ok")).usage.dropped
            assert (await say(scheduler, "a", "one two", "ok")).usage.cached_tokens == 1
            back = (await say(scheduler, "b", "one two", "ok")).usage
            assert (back.dropped, back.cached_tokens) == (True, 0)
            assert not (await say(scheduler, "b", "one two", "ok")).usage.dropped

    run(work())


def test_a_sequence_that_waits_for_its_turn_is_not_the_one_to_leave() -> None:
    async def work() -> None:
        gate = Gate()
        backend = ScriptedBackend(n_sequences=3, gate=gate)
        async with running(Scheduler(backend, prompt_chunk=256), gate) as scheduler:
            gate._lifted = True
            for name in ("old", "young"):
                await say(scheduler, name, "one two", "ok")
            gate._lifted = False
            busy = scheduler.generate(request(scheduler, "busy", "x", "ok"))
            await gate.reached()
            newcomer = scheduler.generate(request(scheduler, "newcomer", "x", "ok"))
            waiting = scheduler.generate(request(scheduler, "old", "one two", "ok"))
            gate.lift()
            assert (await finished(waiting)).usage.cached_tokens == 1
            await finished(newcomer)
            await finished(busy)
            assert (await say(scheduler, "young", "one two", "ok")).usage.dropped

    run(work())


def test_beyond_the_residents_it_is_first_come_first_served() -> None:
    async def work() -> None:
        gate = Gate()
        backend = ScriptedBackend(n_sequences=2, gate=gate)
        async with running(Scheduler(backend, prompt_chunk=256), gate) as scheduler:
            generations = [
                scheduler.generate(request(scheduler, name, name, words(length)))
                for name, length in (("a", 3), ("b", 9), ("c", 3), ("d", 3))
            ]
            await gate.reached()
            gate.lift()
            await asyncio.gather(*map(finished, generations))
            read = {
                name: next(at for at, decode in enumerate(backend.decodes) if any(token in p.tokens for p in decode))
                for name in "bcd"
                for token in scheduler.vocabulary.tokenize([Segment(name)])
            }
            assert read in ({"b": 0, "c": 4, "d": 8}, {"b": 1, "c": 4, "d": 8})  # in time for the first step, or not

    run(work())


def test_two_requests_of_one_sequence_never_run_at_once() -> None:
    async def work() -> None:
        backend = ScriptedBackend()
        async with running(Scheduler(backend, prompt_chunk=256)) as scheduler:
            first = scheduler.generate(request(scheduler, "a", "one two", words(5)))
            second = scheduler.generate(request(scheduler, "a", "one two", words(5)))
            other = scheduler.generate(request(scheduler, "b", "one", "ok"))
            results = await asyncio.gather(finished(first), finished(second), finished(other))
            assert [result.text for result in results] == [words(5), words(5), "ok"]
            assert results[1].usage.cached_tokens == 1
            for decode in backend.decodes:
                assert len({piece.seq for piece in decode}) == len(decode)

    run(work())


def test_cells_that_are_scarce_are_freed_or_waited_for() -> None:
    async def work() -> None:
        gate = Gate()
        backend = ScriptedBackend(n_sequences=4, context_size=100, cells=100, gate=gate)
        async with running(Scheduler(backend, prompt_chunk=256), gate) as scheduler:
            gate._lifted = True
            await say(scheduler, "idle", words(40), "ok", max_tokens=5, context_size=100)
            gate._lifted = False
            big = scheduler.generate(request(scheduler, "big", words(50), "x y z", max_tokens=20, context_size=100))
            await gate.reached()
            assert backend.cleared == [0]  # the idle one had to go
            small = scheduler.generate(request(scheduler, "small", words(30), "ok", max_tokens=20, context_size=100))
            await gate.step()
            assert [len(decode) for decode in backend.decodes[-2:]] == [1, 1]  # the small one waits
            gate.lift()
            assert (await finished(big)).text == "x y z"
            assert (await finished(small)).text == "ok"

    run(work())


def test_a_larger_window_waits_until_nothing_runs_and_empties_all() -> None:
    async def work() -> None:
        gate = Gate()
        backend = ScriptedBackend(context_size=100, gate=gate)
        async with running(Scheduler(backend, prompt_chunk=256), gate) as scheduler:
            small = scheduler.generate(request(scheduler, "a", "one", words(4), context_size=100))
            await gate.reached()
            large = scheduler.generate(request(scheduler, "b", words(150), "big", context_size=200))
            behind = scheduler.generate(request(scheduler, "c", "one", "ok", context_size=100))
            await gate.step()
            await gate.step()
            assert not backend.resized
            assert all(len(decode) == 1 for decode in backend.decodes)
            gate.lift()
            results = await asyncio.gather(finished(small), finished(large), finished(behind))
            assert [result.text for result in results] == [words(4), "big", "ok"]
            assert backend.resized == [200]
            assert (await say(scheduler, "a", "one", "ok", context_size=100)).usage.dropped

    run(work())


def test_a_window_there_is_no_memory_for_fails_one_request() -> None:
    async def work() -> None:
        backend = ScriptedBackend(context_size=100)
        backend.resize_fault = MemoryError("no room")
        async with running(Scheduler(backend, prompt_chunk=256)) as scheduler:
            with pytest.raises(InferenceFailed, match="no room") as caught:
                await say(scheduler, "a", "one", "ok", context_size=200)
            assert caught.value.code == 4001
            assert (await say(scheduler, "a", "one", "ok", context_size=100)).text == "ok"

    run(work())


# ---- decisions

LABELS = ("yes", "no")


def test_a_decision_takes_no_place_from_those_that_write_and_waits_for_none() -> None:
    async def work() -> None:
        gate = Gate()
        backend = ScriptedBackend(n_sequences=1, gate=gate)
        async with running(Scheduler(backend, prompt_chunk=256), gate) as scheduler:
            writer = scheduler.generate(request(scheduler, "writer", "one two", words(40)))
            await gate.reached()
            waits = scheduler.generate(request(scheduler, "waits", "three", "ok"))
            decision = asyncio.ensure_future(
                finished(scheduler.generate(request(scheduler, "judge", "four five", "no", choices=LABELS)))
            )
            steps = 0
            while not decision.done():
                await gate.step()
                steps += 1
                await asyncio.sleep(0)
            assert steps < 10 and not decision.result().usage.dropped
            assert decision.result().scores == (0.0, 1.0)
            gate.lift()
            assert (await finished(writer)).text == words(40)
            await finished(waits)
        mixed = [decode for decode in backend.decodes if len({piece.seq == 1 for piece in decode}) > 1]
        assert mixed == []  # what decides is computed by itself

    run(work())


def test_decisions_take_turns_on_their_place_and_keep_their_caches() -> None:
    async def work() -> None:
        async with running(Scheduler(ScriptedBackend(), prompt_chunk=256, park_bytes=2**20)) as scheduler:
            for prompt, cached in (("one two", 0), ("one two three", 2), ("one two three four", 3)):
                asked = [
                    scheduler.generate(request(scheduler, name, prompt, "yes", choices=LABELS)) for name in "abcdef"
                ]
                for result in await asyncio.gather(*map(finished, asked)):
                    assert (result.usage.cached_tokens, result.usage.dropped) == (cached, False)
                    assert result.scores == (1.0, 0.0)

    run(work())


@pytest.mark.parametrize("decisions", [0, 1])
def test_what_both_writes_and_decides_keeps_its_cache(decisions: int) -> None:
    async def work() -> None:
        backend = ScriptedBackend(n_sequences=2, decisions=decisions)
        async with running(Scheduler(backend, prompt_chunk=256, park_bytes=2**20)) as scheduler:
            await say(scheduler, "a", "one two", "ok")
            assert (await say(scheduler, "a", "one two three", "no", choices=LABELS)).usage.cached_tokens == 2
            assert (await say(scheduler, "a", "one two three four", "ok")).usage.cached_tokens == 3

    run(work())


def test_without_places_of_their_own_decisions_wait_with_the_others() -> None:
    async def work() -> None:
        gate = Gate()
        backend = ScriptedBackend(n_sequences=1, gate=gate, decisions=0)
        async with running(Scheduler(backend, prompt_chunk=256), gate) as scheduler:
            writer = scheduler.generate(request(scheduler, "writer", "one", words(3)))
            await gate.reached()
            decision = scheduler.generate(request(scheduler, "judge", "two", "yes", choices=LABELS))
            gate.lift()
            assert (await finished(writer)).text == words(3)
            assert (await finished(decision)).scores == (1.0, 0.0)
            assert all(len(decode) == 1 for decode in backend.decodes)

    run(work())


def test_a_larger_window_is_made_also_while_decisions_are_resident() -> None:
    async def work() -> None:
        backend = ScriptedBackend(context_size=64)
        async with running(Scheduler(backend, prompt_chunk=256, park_bytes=2**20)) as scheduler:
            await say(scheduler, "judge", "one two", "yes", choices=LABELS, context_size=64)
            await say(scheduler, "writer", "one", "ok", context_size=128)
            assert backend.resized == [128]
            back = await say(scheduler, "judge", "one two three", "yes", choices=LABELS, context_size=64)
            assert (back.usage.cached_tokens, back.usage.dropped) == (2, False)

    run(work())


def test_a_closed_scheduler_goes_without_waiting_for_the_collector() -> None:
    async def work() -> weakref.ref[Scheduler]:
        scheduler = Scheduler(ScriptedBackend(), prompt_chunk=256)
        async with running(scheduler):
            await say(scheduler, "a", "one two", "ok")
            await say(scheduler, "judge", "one two", "yes", choices=LABELS)
        return weakref.ref(scheduler)

    gc.disable()
    try:
        assert run(work())() is None
    finally:
        gc.enable()


def test_a_closed_scheduler_keeps_no_copies() -> None:
    async def work() -> None:
        async with running(Scheduler(ScriptedBackend(n_sequences=1), prompt_chunk=256, park_bytes=2**20)) as scheduler:
            for name in "abc":
                await say(scheduler, name, "one two")
            assert scheduler.status().parked == 2
        status = scheduler.status()
        assert (status.parked, status.bytes_parked) == (0, 0)

    run(work())


# ---- steps


def test_a_step_decodes_one_token_of_each_and_a_chunk_of_the_waiting_prompts() -> None:
    async def work() -> None:
        gate = Gate()
        backend = ScriptedBackend(gate=gate)
        async with running(Scheduler(backend, prompt_chunk=100), gate) as scheduler:
            talk = scheduler.generate(request(scheduler, "a", "one", words(50)))
            await gate.reached()
            b = scheduler.generate(request(scheduler, "b", words(150), "ok"))
            c = scheduler.generate(request(scheduler, "c", words(170), "ok"))
            for _ in range(4):
                await gate.step()
            gate.lift()
            await asyncio.gather(*map(finished, (talk, b, c)))
            shape = [[(piece.seq, piece.start, len(piece.tokens), piece.want_logits) for piece in decode]
                     for decode in backend.decodes[:5]]  # fmt: skip
            assert shape == [
                [(0, 0, 1, True)],
                [(0, 1, 1, True), (1, 0, 100, False)],
                [(0, 2, 1, True), (1, 100, 50, True), (2, 0, 50, False)],
                [(0, 3, 1, True), (1, 150, 1, True), (2, 50, 100, False)],
                [(0, 4, 1, True), (2, 150, 20, True)],
            ]

    run(work())


def reading_order(backend: ScriptedBackend, scheduler: Scheduler, names: str) -> list[str]:
    """Whose prompt each decode read, in order; every prompt has words of its own."""
    stems = {token: name for name in names for token in scheduler.vocabulary.tokenize([Segment(words(600, name))])}
    return ["".join(stems.get(piece.tokens[-1], "") for piece in decode) for decode in backend.decodes]


@pytest.mark.parametrize("deterministic", [False, True])
def test_a_short_prompt_does_not_wait_behind_a_long_one_and_the_long_one_gets_on(deterministic: bool) -> None:
    async def work() -> None:
        gate = Gate()
        backend = ScriptedBackend(gate=gate)
        scheduler = Scheduler(backend, prompt_chunk=50, deterministic=deterministic)
        async with running(scheduler, gate):
            long = scheduler.generate(request(scheduler, "l", words(600, "l")))
            await gate.reached()
            middle = scheduler.generate(request(scheduler, "m", words(250, "m")))
            short = scheduler.generate(request(scheduler, "s", words(50, "s")))
            gate.lift()
            await asyncio.gather(*map(finished, (long, middle, short)))
            # l alone, then the shortest first, and every fourth time the oldest.
            assert reading_order(backend, scheduler, "lms") == [*"lsmmlmmm", *"l" * 10]

    run(work())


def test_equal_prompts_are_read_first_come_first_served() -> None:
    async def work() -> None:
        gate = Gate()
        backend = ScriptedBackend(gate=gate)
        async with running(Scheduler(backend, prompt_chunk=50), gate) as scheduler:
            busy = scheduler.generate(request(scheduler, "x", "x", "y"))
            await gate.reached()
            jobs = [scheduler.generate(request(scheduler, name, words(100, name))) for name in "abc"]
            gate.lift()
            await asyncio.gather(*map(finished, (busy, *jobs)))
            assert "".join(reading_order(backend, scheduler, "abc")) == "aabbcc"

    run(work())


@given(
    jobs=st.lists(st.tuples(st.integers(1, 60), st.integers(0, 6)), min_size=1, max_size=6),
    chunk=st.integers(1, 40),
    deterministic=st.booleans(),
)
def test_every_step_keeps_the_rules_of_steps(jobs: list[tuple[int, int]], chunk: int, deterministic: bool) -> None:
    backend = ScriptedBackend(n_sequences=3)

    async def work() -> None:
        scheduler = Scheduler(backend, prompt_chunk=chunk, deterministic=deterministic)
        async with running(scheduler):
            generations = [
                scheduler.generate(request(scheduler, f"s{index}", words(size, f"p{index}-"), words(reply)))
                for index, (size, reply) in enumerate(jobs)
            ]
            for (size, reply), generation in zip(jobs, generations, strict=True):
                result = await finished(generation)
                assert result.text == words(reply)
                assert result.usage.evaluated_tokens == size

    run(work())
    for decode in backend.decodes:
        assert len(decode) == 1 or not deterministic
        assert sum(len(piece.tokens) for piece in decode if reads_prompt(backend, piece)) <= chunk


def reads_prompt(backend: ScriptedBackend, piece: Slice) -> bool:
    return any(backend.vocabulary.piece(token).strip().startswith(b"p") for token in piece.tokens)


def test_deterministic_cuts_prompts_at_fixed_borders_whatever_runs_beside() -> None:
    def borders(beside: bool) -> list[tuple[int, int]]:
        gate = Gate()
        backend = ScriptedBackend(gate=gate)

        async def work() -> None:
            async with running(Scheduler(backend, prompt_chunk=10, deterministic=True), gate) as scheduler:
                others = []
                if beside:
                    others = [
                        scheduler.generate(request(scheduler, name, words(27, "q"), words(9, "r"))) for name in "bc"
                    ]
                    await gate.reached()
                gate.lift()
                await say(scheduler, "a", words(7), "ok ok")
                await say(scheduler, "a", words(34), "ok")
                await asyncio.gather(*map(finished, others))

        run(work())
        mine = backend.vocabulary.words(words(34))
        return [
            (piece.start, len(piece.tokens))
            for decode in backend.decodes
            for piece in decode
            if set(piece.tokens) <= set(mine)
        ]

    alone = borders(beside=False)
    assert alone == [(0, 7), (7, 3), (10, 10), (20, 10), (30, 4)]
    assert borders(beside=True) == alone


def test_a_step_reaches_the_event_loop_in_one_hop(monkeypatch: pytest.MonkeyPatch) -> None:
    async def work() -> None:
        backend = ScriptedBackend(n_sequences=8)
        loop = asyncio.get_running_loop()
        hops = 0
        real = loop.call_soon_threadsafe

        def counted(*args: Any, **more: Any) -> Any:
            nonlocal hops
            if threading.current_thread().name == "parley-scheduler":
                hops += 1
            return real(*args, **more)

        monkeypatch.setattr(loop, "call_soon_threadsafe", counted)
        async with running(Scheduler(backend, prompt_chunk=256)) as scheduler:
            generations = [scheduler.generate(request(scheduler, f"s{n}", "one", words(20))) for n in range(8)]
            await asyncio.gather(*map(finished, generations))
            assert 20 <= hops <= len(backend.decodes)

    run(work())


def test_a_stop_string_ends_the_reply_in_the_very_step() -> None:
    async def work() -> None:
        backend = ScriptedBackend()
        async with running(Scheduler(backend, prompt_chunk=256)) as scheduler:
            rules = AnswerRules(stop=("STOP",))
            done = await say(scheduler, "a", "one", "yes sir STOP never shown", answer=rules)
            assert (done.text, done.finish, done.usage.generated_tokens) == ("yes sir", "stop", 3)
            assert len(backend.decodes) == 3

    run(work())


def test_the_windows_end_is_a_length_finish() -> None:
    async def work() -> None:
        async with running(Scheduler(ScriptedBackend(context_size=10), prompt_chunk=256)) as scheduler:
            done = await say(scheduler, "a", words(7), words(50), context_size=10)
            assert (done.text, done.finish) == (words(3), "length")
            last = await say(scheduler, "a", words(9), words(50), context_size=10)
            assert (last.text, last.finish) == ("w0", "length")

    run(work())


def test_a_prompt_that_fills_the_window_is_refused_and_the_agent_goes_on() -> None:
    async def work() -> None:
        async with running(Scheduler(ScriptedBackend(context_size=10), prompt_chunk=256)) as scheduler:
            with pytest.raises(PromptTooLong, match=r"10 tokens, .* only 10") as caught:
                await say(scheduler, "a", words(10), "ok", context_size=10)
            assert caught.value.code == 4004
            assert (await say(scheduler, "a", words(9), "ok", context_size=10)).text == "ok"

    run(work())


def test_usage_tells_times_by_the_clock_it_is_given() -> None:
    async def work() -> None:
        now = 0.0

        def tick() -> None:
            nonlocal now
            now += 0.25

        backend = ScriptedBackend()
        backend.on_decode = tick
        async with running(Scheduler(backend, prompt_chunk=10, clock=lambda: now)) as scheduler:
            usage = (await say(scheduler, "a", words(25), words(5))).usage
            assert (usage.ttft_ms, usage.tokens_per_s, usage.generated_tokens) == (750.0, 4.0, 5)
            alone = (await say(scheduler, "a", words(25), "ok")).usage
            assert alone.tokens_per_s == 0.0

    run(work())


# ---- cancelling


def test_cancel_while_a_prompt_is_read_stops_within_one_chunk_and_keeps_what_was_read() -> None:
    async def work() -> None:
        gate = Gate()
        backend = ScriptedBackend(gate=gate)
        async with running(Scheduler(backend, prompt_chunk=100), gate) as scheduler:
            generation = scheduler.generate(request(scheduler, "a", words(1000), "never"))
            await gate.reached()
            generation.cancel()
            generation.cancel()
            gate.lift()
            result = await finished(generation)
            assert (result.finish, result.text) == ("cancelled", "")
            assert result.usage.evaluated_tokens == 100
            generation.cancel()
            again = await say(scheduler, "a", words(1000), "now")
            assert (again.text, again.usage.cached_tokens, again.usage.dropped) == ("now", 100, False)

    run(work())


def test_cancel_overtakes_work_that_waits() -> None:
    async def work() -> None:
        gate = Gate()
        backend = ScriptedBackend(n_sequences=1, gate=gate)
        async with running(Scheduler(backend, prompt_chunk=256), gate) as scheduler:
            busy = scheduler.generate(request(scheduler, "a", "one", words(50)))
            await gate.reached()
            waiting = scheduler.generate(request(scheduler, "b", "one", "never"))
            waiting.cancel()
            await gate.step()
            result = await finished(waiting)
            assert (result.finish, result.usage.evaluated_tokens) == ("cancelled", 0)
            busy.cancel()
            gate.lift()
            assert (await finished(busy)).finish == "cancelled"
            assert (await say(scheduler, "b", "one", "ok")).text == "ok"

    run(work())


def test_the_text_of_a_cancelled_reply_is_what_was_streamed() -> None:
    async def work() -> None:
        gate = Gate()
        async with running(Scheduler(ScriptedBackend(gate=gate), prompt_chunk=256), gate) as scheduler:
            generation = scheduler.generate(request(scheduler, "a", "one", words(50)))
            await gate.reached()
            for _ in range(3):
                await gate.step()
            assert generation.tokens_generated == generation.steps == 3
            generation.cancel()
            gate.lift()
            result = await finished(generation)
            assert result.finish == "cancelled"
            assert result.text == words(result.usage.generated_tokens)
            assert result.usage.generated_tokens in (3, 4)

    run(work())


def test_forgetting_a_sequence_cancels_it_and_frees_its_place() -> None:
    async def work() -> None:
        gate = Gate()
        backend = ScriptedBackend(gate=gate)
        async with running(Scheduler(backend, prompt_chunk=256), gate) as scheduler:
            generation = scheduler.generate(request(scheduler, "a", "one two", words(50)))
            waiting = scheduler.generate(request(scheduler, "a", "one two", words(50)))
            await gate.reached()
            scheduler.forget(["a", "stranger"])
            gate.lift()
            assert (await finished(generation)).finish == "cancelled"
            assert (await finished(waiting)).finish == "cancelled"
            fresh = await say(scheduler, "a", "one two", "ok")
            assert (fresh.usage.cached_tokens, fresh.usage.dropped) == (0, False)

    run(work())


def test_close_ends_everything_as_cancelled_and_takes_nothing_more() -> None:
    async def work() -> None:
        gate = Gate()
        backend = ScriptedBackend(n_sequences=1, gate=gate)
        scheduler = Scheduler(backend, prompt_chunk=256)
        busy = scheduler.generate(request(scheduler, "a", "one", words(50)))
        waiting = scheduler.generate(request(scheduler, "b", "one", "ok"))
        await gate.reached()
        closing = asyncio.create_task(asyncio.to_thread(scheduler.close))
        while not scheduler._closing:  # noqa: ASYNC110 - close gives no sign before it waits for the thread
            await asyncio.sleep(0)
        gate.lift()
        await closing
        assert (await finished(busy)).finish == "cancelled"
        assert (await finished(waiting)).finish == "cancelled"
        assert backend.closed
        assert (await say(scheduler, "a", "one", "ok")).finish == "cancelled"
        await asyncio.to_thread(scheduler.close)

    run(work())


# ---- failures


def test_a_failed_decode_fails_those_in_it_and_the_next_turn_works() -> None:
    async def work() -> None:
        gate = Gate()
        backend = ScriptedBackend(n_sequences=2, gate=gate)
        async with running(Scheduler(backend, prompt_chunk=256), gate) as scheduler:
            a = scheduler.generate(request(scheduler, "a", "one two", words(9)))
            await gate.reached()
            b = scheduler.generate(request(scheduler, "b", "one two", words(9)))
            waiting = scheduler.generate(request(scheduler, "c", "one", "fine"))
            await gate.step()
            backend.decode_faults = [RuntimeError("cuda is gone")]
            gate.lift()
            for hurt in (a, b):
                with pytest.raises(InferenceFailed, match="cuda is gone") as caught:
                    await finished(hurt)
                assert caught.value.code == 4001
            assert backend.cleared[:2] == [0, 1]
            assert (await finished(waiting)).text == "fine"
            again = await say(scheduler, "b", "one two", "ok")
            assert (again.text, again.usage.cached_tokens, again.usage.dropped) == ("ok", 0, False)
            assert (await say(scheduler, "a", "one two", "ok")).usage.dropped

    run(work())


def test_a_failed_decode_leaves_idle_and_parked_sequences_alone() -> None:
    async def work() -> None:
        backend = ScriptedBackend(n_sequences=2)
        async with running(Scheduler(backend, prompt_chunk=256, park_bytes=2**20)) as scheduler:
            for name in ("parked", "idle", "hurt"):
                await say(scheduler, name, "one two three", "ok")
            backend.decode_faults = [RuntimeError("out of memory")]
            with pytest.raises(InferenceFailed, match="out of memory"):
                await say(scheduler, "hurt", "one two three", "ok")
            again = (await say(scheduler, "hurt", "one two three", "ok")).usage
            assert (again.cached_tokens, again.dropped) == (0, True)
            for name in ("idle", "parked"):
                assert (await say(scheduler, name, "one two three", "ok")).usage.cached_tokens == 2

    run(work())


def test_deterministic_a_failed_decode_hurts_one_sequence_only() -> None:
    async def work() -> None:
        backend = ScriptedBackend()
        backend.decode_faults = [None, ValueError("bad")]
        async with running(Scheduler(backend, prompt_chunk=256, deterministic=True)) as scheduler:
            a = scheduler.generate(request(scheduler, "a", "one", words(3)))
            b = scheduler.generate(request(scheduler, "b", "one", words(3)))
            results = await asyncio.gather(finished(a), finished(b), return_exceptions=True)
            failed = [result for result in results if isinstance(result, InferenceFailed)]
            assert len(failed) == 1
            assert "bad" in failed[0].message

    run(work())


def test_a_failing_sampler_hurts_its_own_sequence_only() -> None:
    async def work() -> None:
        backend = ScriptedBackend()
        backend.sample_faults["a"] = ValueError("no candidates")
        async with running(Scheduler(backend, prompt_chunk=256)) as scheduler:
            a = scheduler.generate(request(scheduler, "a", "one", "x"))
            b = scheduler.generate(request(scheduler, "b", "one", words(5)))
            with pytest.raises(InferenceFailed, match="no candidates"):
                await finished(a)
            assert (await finished(b)).text == words(5)
            assert (await say(scheduler, "a", "one", "x")).text == "x"

    run(work())


def test_a_failing_answer_filter_hurts_its_own_sequence_only(monkeypatch: pytest.MonkeyPatch) -> None:
    class Poisoned(AnswerText):
        def feed(self, piece: bytes) -> str:
            if b"poison" in piece:
                raise ValueError("cannot read this")
            return super().feed(piece)

    monkeypatch.setattr(scheduler_module, "AnswerText", Poisoned)

    async def work() -> None:
        async with running(Scheduler(ScriptedBackend(), prompt_chunk=256)) as scheduler:
            a = scheduler.generate(request(scheduler, "a", "one", "sweet poison"))
            b = scheduler.generate(request(scheduler, "b", "one", words(5)))
            with pytest.raises(InferenceFailed, match="cannot read this"):
                await finished(a)
            assert (await finished(b)).text == words(5)
            assert (await say(scheduler, "a", "one", "sweet")).text == "sweet"

    run(work())


def test_a_scheduler_that_breaks_leaves_nobody_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: Scheduler) -> None:
        raise AssertionError("a mistake of ours")

    monkeypatch.setattr(Scheduler, "_admit", broken)

    async def work() -> None:
        backend = ScriptedBackend()
        async with running(Scheduler(backend, prompt_chunk=256)) as scheduler:
            with pytest.raises(InferenceFailed, match="its log says why"):
                await say(scheduler, "a", "one", "ok")
            assert (await say(scheduler, "a", "one", "ok")).finish == "cancelled"
        assert backend.closed

    run(work())


def test_what_nobody_can_receive_any_more_is_cancelled() -> None:
    loop = asyncio.new_event_loop()
    generation = LiveGeneration(loop, lambda: None)
    loop.close()
    out = Outbox()
    out.put(generation, "text")
    out.flush()
    assert generation.cancelled


def test_a_result_before_the_end_is_a_mistake() -> None:
    async def work() -> None:
        generation = LiveGeneration(asyncio.get_running_loop(), lambda: None)
        with pytest.raises(RuntimeError, match="once its iteration ended"):
            generation.result  # noqa: B018 - reading it is the test

    run(work())

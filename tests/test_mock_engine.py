"""The mock engine's own promises: what counts as a token, what it says, and how fast."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Coroutine
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.config import Settings
from bridge.engine import Segment
from bridge.engines.backend import Slice
from bridge.engines.mock import END, TOKEN_BYTES, MockBackend, MockVocabulary, load_mock
from bridge.engines.scheduler import Scheduler
from bridge.errors import InferenceFailed
from tests.fakes_engine import finished, request, running, words


def run(work: Coroutine[Any, Any, None]) -> None:
    async def limited() -> None:
        await asyncio.wait_for(work, 60)

    asyncio.run(limited())


async def say(scheduler: Scheduler, sequence: str, line: str) -> str:
    return (await finished(scheduler.generate(request(scheduler, sequence, "Persona. " + line, line)))).text


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("one two", ["one", " two"]),
        ("  one\n\ttwo ", ["  one", "\n\ttwo "]),
        ("", []),
        (" \n", [" \n"]),
        ("ein 🏋️‍♂️ 한글", ["ein", " 🏋️‍♂️", " 한글"]),
    ],
)
def test_a_token_is_a_word_with_the_white_space_before_it(text: str, pieces: list[str]) -> None:
    vocabulary = MockVocabulary()
    tokens = vocabulary.tokenize([Segment(text)])
    assert [vocabulary.piece(token).decode() for token in tokens] == pieces


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=40), max_size=4))
def test_tokens_keep_every_character_and_equal_words_are_equal_tokens(texts: list[str]) -> None:
    vocabulary = MockVocabulary()
    segments = [Segment(text) for text in texts]
    tokens = vocabulary.tokenize(segments)
    assert b"".join(map(vocabulary.piece, tokens)).decode() == "".join(texts)
    assert vocabulary.tokenize(segments) == tokens
    assert not any(vocabulary.is_end(token) for token in tokens)


def test_given_tokens_are_taken_as_they_are_and_nothing_is_a_marker() -> None:
    vocabulary = MockVocabulary()
    known = vocabulary.words("<bos>")
    assert vocabulary.tokenize([Segment("anything", (7, 8)), Segment("<bos>")]) == [7, 8, *known]
    assert (vocabulary.bos, dict(vocabulary.markers)) == (None, {})


def test_threads_agree_on_tokens() -> None:
    vocabulary = MockVocabulary()
    found: list[list[int]] = []
    start = threading.Barrier(4)

    def work() -> None:
        start.wait()
        found.append(vocabulary.words(words(500)))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(tokens == found[0] for tokens in found)
    assert len(set(found[0])) == 500
    assert END not in found[0]


def test_echo_says_the_players_line_with_its_spacing() -> None:
    async def work() -> None:
        async with running(load_mock(Settings(), mode="echo")) as scheduler:
            assert await say(scheduler, "a", "Who  goes\nthere?") == "Who  goes\nthere?"

    run(work())


@pytest.mark.parametrize("line", ["", "   ", "\n"])
def test_echo_answers_an_empty_line_with_nothing(line: str) -> None:
    async def work() -> None:
        async with running(load_mock(Settings())) as scheduler:
            result = await finished(scheduler.generate(request(scheduler, "a", "Persona.", line)))
            assert (result.text, result.finish) == ("", "stop")

    run(work())


def test_script_goes_on_for_each_sequence_by_itself_and_starts_over() -> None:
    async def work() -> None:
        async with running(load_mock(Settings(), mode="script", replies=["first", "second"])) as scheduler:
            assert [await say(scheduler, "a", "hi") for _ in range(3)] == ["first", "second", "first"]
            assert await say(scheduler, "b", "hi") == "first"
            scheduler.forget(["a"])
            assert await say(scheduler, "a", "hi") == "first"

    run(work())


def test_a_script_without_replies_says_nothing() -> None:
    async def work() -> None:
        async with running(load_mock(Settings(), mode="script")) as scheduler:
            assert await say(scheduler, "a", "hi") == ""

    run(work())


def test_tokens_per_s_paces_the_tokens() -> None:
    async def work() -> None:
        paused: list[float] = []

        def pause(seconds: float) -> None:
            paused.append(seconds)
            if len(paused) >= 5:
                scheduler._not_before = 0.0  # the test's clock is the scheduler's: let the time be over

        scheduler = load_mock(Settings(), tokens_per_s=0.5, pause=pause)
        async with running(scheduler):
            generation = scheduler.generate(request(scheduler, "a", "Persona.", "one two"))
            assert (await finished(generation)).text == "one two"
            assert 1.9 < paused[0] <= 2.0

    run(work())


def test_a_slow_mock_is_cancelled_and_closed_at_once() -> None:
    async def work() -> None:
        started = time.monotonic()
        async with running(load_mock(Settings(), tokens_per_s=0.001)) as scheduler:
            first = scheduler.generate(request(scheduler, "a", "Persona.", "one two"))
            assert await first.__aiter__().__anext__() == "one"
            first.cancel()
            async for _ in first:
                raise AssertionError("nothing comes behind a cancel")
            assert first.result.finish == "cancelled"
            second = scheduler.generate(request(scheduler, "b", "Persona.", "one two"))
            await second.__aiter__().__anext__()
        async for _ in second:
            raise AssertionError("nothing comes behind the end")
        assert second.result.finish == "cancelled"
        assert time.monotonic() - started < 30

    run(work())


def test_residents_and_window_come_from_the_settings() -> None:
    async def work() -> None:
        for park_bytes, dropped in ((0, True), (2**20, False)):
            settings = Settings(resident_sequences=1, park_bytes=park_bytes)
            async with running(load_mock(settings, context_size=64)) as scheduler:
                assert scheduler.status().backend == "mock"
                await say(scheduler, "a", "hi")
                await say(scheduler, "b", "hi")
                back = await finished(scheduler.generate(request(scheduler, "a", "Persona. hi", "hi")))
                assert back.usage.dropped == dropped
                assert back.usage.cached_tokens == (0 if dropped else 1)

    run(work())


def test_cells_are_kept_as_a_real_context_keeps_them() -> None:
    backend = MockBackend(n_sequences=2, context_size=4)
    backend.decode([Slice(0, 0, (1, 2, 3), True)])
    with pytest.raises(InferenceFailed, match="holds 3 tokens, not 2"):
        backend.decode([Slice(0, 2, (1,), True)])
    with pytest.raises(InferenceFailed, match="no cells left"):
        backend.decode([Slice(0, 3, (1, 2), True)])
    parked = backend.save(0, 1, 3 * TOKEN_BYTES)
    assert parked is not None
    assert (parked.length, parked.bytes) == (3, 3 * TOKEN_BYTES)
    assert backend.save(0, 1, 3 * TOKEN_BYTES - 1) is None
    with pytest.raises(InferenceFailed, match="is not empty"):
        backend.restore(0, parked)
    backend.restore(1, parked)
    backend.decode([Slice(1, 3, (4,), True)])
    small = MockBackend(n_sequences=1, context_size=2)
    with pytest.raises(InferenceFailed, match="no cells left"):
        small.restore(0, parked)
    assert backend.cut(0, 2) == 2
    backend.decode([Slice(0, 2, (1, 2), True)])

"""The thread of a loaded voice: order, back-pressure, fairness, and whatever can end early."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import threading
import time
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence

import pytest

from bridge.engine import EngineStatus
from bridge.engines.speech_queue import AHEAD_PIECES, GONE, QueuedVoice
from bridge.errors import SpeechFailed

TIMEOUT_S = 20.0


class Recorder:
    """A `Synthesizer` that notes what it makes. A text is said as its letters, a piece each, for ever after '…'."""

    sample_rate = 8000
    speakers: Sequence[str] = ("one", "two")

    def __init__(self) -> None:
        self.made: list[str] = []
        self.dropped: list[str] = []
        self.threads: set[int] = set()
        self.closed = self.stopped = 0
        self.gate = threading.Event()
        self.gate.set()
        self.inside = threading.Event()
        """Set while a piece is waited for at the gate."""

    def synthesize(self, text: str, speaker_id: int, speed: float) -> Iterator[bytes]:
        try:
            index = 0
            while index < len(text) or text.endswith("…"):
                self.threads.add(threading.get_ident())
                self.inside.set()
                assert self.gate.wait(TIMEOUT_S)
                letter = text[index] if index < len(text) else "…"
                index += 1
                if letter == "!":
                    raise ValueError("the library does not like it")
                if letter == "?":
                    raise SpeechFailed("it cannot say that")
                self.made.append(letter)
                yield b"" if letter == " " else letter.encode("utf-16-le") * (speaker_id + 1)
        finally:
            self.dropped.append(text)

    def status(self) -> EngineStatus:
        return EngineStatus("test", bytes_in_memory=7)

    def stop(self) -> None:
        self.stopped += 1

    def close(self) -> None:
        self.closed += 1


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


@pytest.fixture
def voice(recorder: Recorder) -> Iterator[QueuedVoice]:
    made = QueuedVoice(recorder)
    yield made
    recorder.gate.set()
    made.close()
    assert recorder.closed == 1
    assert len(recorder.threads) <= 1


def run(work: Callable[[], AsyncGenerator[None, None]]) -> None:
    """Run a test's coroutine and then let the loop end as an application's does."""

    async def all_of() -> None:
        async with contextlib.aclosing(work()) as steps:
            async for _ in steps:
                pass

    asyncio.run(asyncio.wait_for(all_of(), TIMEOUT_S))


async def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + TIMEOUT_S
    while not condition():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.001)


async def settled(recorder: Recorder) -> int:
    """How much was made once nothing more is made: the thread only ever stops for its reader."""
    before = -1
    while before != len(recorder.made):
        before = len(recorder.made)
        await asyncio.sleep(0.02)
    return before


async def said(voice: QueuedVoice, text: str, *, speaker_id: int = 0) -> str:
    return b"".join([piece async for piece in voice.speak(text, speaker_id=speaker_id)]).decode("utf-16-le")


def test_pieces_come_in_their_order_and_none_is_empty(voice: QueuedVoice, recorder: Recorder) -> None:
    async def work() -> list[bytes]:
        return [piece async for piece in voice.speak("a bc", speaker_id=1)]

    assert asyncio.run(work()) == ["aa".encode("utf-16-le"), "bb".encode("utf-16-le"), "cc".encode("utf-16-le")]
    assert (voice.sample_rate, voice.speakers, voice.status().bytes_in_memory) == (8000, ("one", "two"), 7)
    assert voice.load() == (0, 0, 0)
    assert recorder.threads.isdisjoint({threading.get_ident()})


def test_nothing_to_say_ends_at_once(voice: QueuedVoice) -> None:
    assert asyncio.run(said(voice, "")) == ""


def test_a_reader_that_sleeps_stops_its_own_speech_and_nobody_elses(voice: QueuedVoice, recorder: Recorder) -> None:
    async def work() -> AsyncGenerator[None, None]:
        sleeper = voice.speak("…")
        await sleeper.__anext__()
        await until(lambda: len(recorder.made) >= 1 + AHEAD_PIECES)
        assert await settled(recorder) == 1 + AHEAD_PIECES
        assert await said(voice, "others are heard") == "othersareheard"
        assert recorder.made.count("…") == 1 + AHEAD_PIECES
        assert voice.load() == (0, 0, 1)
        await sleeper.__anext__()
        await until(lambda: recorder.made.count("…") == 2 + AHEAD_PIECES)
        await sleeper.aclose()
        await until(lambda: recorder.dropped == ["others are heard", "…"])
        yield

    run(work)


def test_two_who_share_a_voice_take_turns(voice: QueuedVoice, recorder: Recorder) -> None:
    async def work() -> tuple[str, str]:
        recorder.gate.clear()
        both = asyncio.gather(said(voice, "aaaaaaaa"), said(voice, "bbbb"))
        await until(recorder.inside.is_set)
        await until(lambda: sum(voice.load()) == 2)
        recorder.gate.set()
        first, second = await both
        return first, second

    assert asyncio.run(work()) == ("aaaaaaaa", "bbbb")
    # Neither is ever two pieces ahead of the other while both have something to say.
    assert "".join(recorder.made[:8]) == "abababab"


def test_who_stops_reading_stops_the_work_at_the_next_piece(voice: QueuedVoice, recorder: Recorder) -> None:
    async def work() -> AsyncGenerator[None, None]:
        speech = voice.speak("…")
        await speech.__anext__()
        await until(lambda: len(recorder.made) == 1 + AHEAD_PIECES)
        recorder.gate.clear()
        recorder.inside.clear()
        await speech.__anext__()  # makes room for one piece more
        await until(recorder.inside.is_set)
        made = len(recorder.made)
        await speech.aclose()
        recorder.gate.set()
        await until(lambda: recorder.dropped == ["…"])
        assert len(recorder.made) == made + 1
        assert sum(voice.load()) == 0
        yield

    run(work)


def test_a_cancelled_reader_stops_the_work(voice: QueuedVoice, recorder: Recorder) -> None:
    async def work() -> AsyncGenerator[None, None]:
        task = asyncio.ensure_future(said(voice, "…"))
        await until(lambda: len(recorder.made) > 20)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await until(lambda: recorder.dropped == ["…"])
        assert await said(voice, "next") == "next"
        yield

    run(work)


def test_a_generator_that_is_never_read_is_no_work(voice: QueuedVoice, recorder: Recorder) -> None:
    async def work() -> AsyncGenerator[None, None]:
        unread = voice.speak("never")
        assert await said(voice, "me") == "me"
        await unread.aclose()
        yield

    run(work)
    assert recorder.made == ["m", "e"]


def test_a_generator_that_is_dropped_half_way_ends(voice: QueuedVoice, recorder: Recorder) -> None:
    async def work() -> AsyncGenerator[None, None]:
        speech = voice.speak("…")
        await speech.__anext__()
        del speech
        gc.collect()
        await until(lambda: recorder.dropped == ["…"])
        yield

    run(work)


def test_a_loop_that_is_closed_leaves_nothing_behind(voice: QueuedVoice, recorder: Recorder) -> None:
    loop = asyncio.new_event_loop()
    speech = voice.speak("…")

    async def begin() -> bytes:
        return await speech.__anext__()

    loop.run_until_complete(begin())
    loop.run_until_complete(until(lambda: len(recorder.made) == 1 + AHEAD_PIECES))
    loop.close()
    assert asyncio.run(said(voice, "another loop")) == "anotherloop"
    assert recorder.dropped.count("…") == 1
    assert sum(voice.load()) == 0


def test_what_a_library_raises_is_one_sentence_and_the_next_text_is_said(voice: QueuedVoice) -> None:
    async def work() -> AsyncGenerator[None, None]:
        with pytest.raises(SpeechFailed, match=r"^the voice failed: ValueError: the library does not like it$"):
            await said(voice, "ab!c")
        with pytest.raises(SpeechFailed, match=r"^it cannot say that$"):
            await said(voice, "?")
        assert await said(voice, "on") == "on"
        yield

    run(work)


@pytest.mark.parametrize("fault", [SystemExit("no licence"), KeyboardInterrupt(), GeneratorExit(), MemoryError()])
def test_whatever_a_library_raises_the_thread_goes_on(
    voice: QueuedVoice, recorder: Recorder, fault: BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ends(text: str, speaker_id: int, speed: float) -> Iterator[bytes]:
        try:
            yield b"a\0"
            if text == "raise":
                raise fault
            yield b"b\0"
        finally:
            if text == "drop":
                raise fault

    async def work() -> AsyncGenerator[None, None]:
        with monkeypatch.context() as patch:
            patch.setattr(recorder, "synthesize", ends)
            with pytest.raises(SpeechFailed, match=type(fault).__name__):
                await said(voice, "raise")
            speech = voice.speak("drop")
            await speech.__anext__()
            await speech.aclose()
            await until(lambda: len(voice._calls) == 0)
        assert await said(voice, "on") == "on"
        yield

    run(work)


def test_a_failure_comes_after_what_was_said_before(voice: QueuedVoice) -> None:
    async def work() -> list[str]:
        heard = []
        with pytest.raises(SpeechFailed):
            async for piece in voice.speak("abc!"):
                heard.append(piece.decode("utf-16-le"))
        return heard

    assert asyncio.run(work()) == ["a", "b", "c"]


@pytest.mark.parametrize("speaker_id", [-1, 2, 100_000])
def test_a_speaker_that_there_is_not(voice: QueuedVoice, recorder: Recorder, speaker_id: int) -> None:
    with pytest.raises(
        SpeechFailed, match=f"^the voice has 2 speakers, numbered from 0; there is no speaker {speaker_id}$"
    ):
        asyncio.run(said(voice, "x", speaker_id=speaker_id))
    assert recorder.made == []


def test_closing_waits_for_the_piece_and_ends_those_who_speak_and_wait(recorder: Recorder) -> None:
    voice = QueuedVoice(recorder)

    async def work() -> AsyncGenerator[None, None]:
        recorder.gate.clear()
        both = [asyncio.ensure_future(said(voice, "…")), asyncio.ensure_future(said(voice, "waits"))]
        await until(lambda: sum(voice.load()) == 2 and recorder.inside.is_set())
        closing = asyncio.get_running_loop().run_in_executor(None, voice.close)
        await until(lambda: voice._closing)
        assert recorder.closed == 0
        recorder.gate.set()
        await closing
        for task in both:
            with pytest.raises(SpeechFailed, match=f"^{GONE}$"):
                await task
        with pytest.raises(SpeechFailed, match=f"^{GONE}$"):
            await said(voice, "too late")
        yield

    run(work)
    assert (recorder.closed, recorder.stopped, recorder.made, recorder.dropped) == (1, 1, ["…"], ["…"])
    assert not voice._thread.is_alive()
    voice.close()
    assert recorder.closed == 1


def test_many_speak_at_once_and_memory_holds_nothing_of_them(voice: QueuedVoice, recorder: Recorder) -> None:
    async def work() -> AsyncGenerator[None, None]:
        heard = await asyncio.gather(*(said(voice, f"text {number}") for number in range(200)))
        assert heard == [f"text{number}" for number in range(200)]
        await until(lambda: len(voice._calls) == 0)
        yield

    run(work)
    assert len(recorder.dropped) == 200

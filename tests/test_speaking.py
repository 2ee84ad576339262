"""The sound of a turn without a sidecar around it: chunks, thoughts, order, and what happens when a voice cannot."""

from __future__ import annotations

import array
import asyncio
import math
import random
import time
from collections.abc import AsyncGenerator, Callable, Coroutine
from typing import Any

import pytest

from bridge.answer_text import REASONING_BLOCKS
from bridge.engine import SpeechModel
from bridge.errors import SpeechFailed
from bridge.protocol import AudioChunk, AudioFormat, Push
from bridge.sound import Cutter, envelope_of, seconds_of, span_bytes
from bridge.speaker import AHEAD_CHUNKS
from bridge.speaking import TurnSpeech
from bridge.speech_step import Manner, StepSpeech
from bridge.thoughts import Thoughts
from tests.fake_voice import FakeVoice, sound_of, text_of
from tests.talk import run

# ---- chunks --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sample_rate", [8_000, 16_000, 22_050, 24_000, 44_100, 48_000])
@pytest.mark.parametrize("sizes", [(1,), (2,), (7, 1, 400), (100_000,), (882, 3), (65_537, 1)])
def test_chunks_are_the_pieces_whatever_their_sizes(sample_rate: int, sizes: tuple[int, ...]) -> None:
    dice = random.Random(7)
    sound = dice.randbytes(2 * sample_rate // 3 * 2)
    cutter, chunks, at = Cutter(sample_rate), list[bytes](), 0
    while at < len(sound):
        size = dice.choice(sizes)
        chunks += cutter.feed(sound[at : at + size])
        at += size
    rest = cutter.finish()
    assert b"".join([*chunks, rest]) == sound
    span = span_bytes(sample_rate)
    assert all(chunk and len(chunk) % span == 0 and len(chunk) <= 10 * span for chunk in chunks)
    assert len(rest) < span
    assert cutter.finish() == b""


def test_half_a_sample_at_the_end_is_left_out() -> None:
    cutter = Cutter(1000)
    assert cutter.feed(bytes(43)) == [bytes(40)]
    assert cutter.finish() == bytes(2)


def test_the_envelope_is_the_loudness_of_every_20_ms() -> None:
    rate = 24_000
    span = rate // 50
    loud = [32_767 if n % 2 else -32_768 for n in range(span)]
    sine = [round(16_384 * math.sin(2 * math.pi * 500 * n / rate)) for n in range(span)]
    sound = array.array("h", [*[0] * span, *loud, *sine, *[16_384] * 3]).tobytes()
    assert envelope_of(sound, rate) == pytest.approx([0, 1, 0.5 / math.sqrt(2), 0.5], abs=1e-3)
    assert envelope_of(b"", rate) == []
    assert seconds_of(len(sound), rate) == pytest.approx(0.06, abs=1e-3)


# ---- thoughts ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sentences", "heard"),
    [
        (["Hello. "], ["Hello. "]),
        (["<think>plan</think>Hello."], ["Hello."]),
        (["Well. ", "<THINK>First. ", "Then.</think> ", "Yes."], ["Well. ", "", " ", "Yes."]),
        (["Never closed <think>and so on. ", "Still."], ["Never closed ", ""]),
        (["a [THINK]b[/THINK] c </think> d"], ["a   c </think> d"]),
        (["<think>x</thinking>y</think>z"], ["z"]),
        (["2 < 3 and <b>bold</b>"], ["2 < 3 and <b>bold</b>"]),
    ],
)
def test_thinking_is_left_out(sentences: list[str], heard: list[str]) -> None:
    thoughts = Thoughts()
    assert [thoughts.without(sentence) for sentence in sentences] == heard


def test_thinking_that_the_prompt_began_is_left_out() -> None:
    thoughts = Thoughts(starts_inside=True)
    assert [thoughts.without(text) for text in ("I plan. ", "Done.</think>Hello. ", "You.")] == ["", "Hello. ", "You."]


@pytest.mark.parametrize(("opening", "closing"), REASONING_BLOCKS)
def test_a_tag_may_be_torn_anywhere(opening: str, closing: str) -> None:
    """A sign such as the one that some tags begin with goes with the sentence before it."""
    text = f"Hello. {opening}I plan.{closing}2 < 3"
    for at in range(len(text)):
        thoughts = Thoughts()
        heard = thoughts.without(text[:at]) + thoughts.without(text[at:])
        assert "".join(heard.split()) == "Hello.2<3"
    assert Thoughts().without("Is a <t", is_last=True) == "Is a <t"


# ---- a turn --------------------------------------------------------------------------------------------------


class Stage:
    """A TurnSpeech, and what came of it."""

    def __init__(self, voice: SpeechModel | str) -> None:
        self.frames: list[tuple[Push, bytes | None]] = []
        self.told: list[tuple[int, str, str]] = []
        self.touched = 0
        self.room: asyncio.Event | None = None
        self.sent_more = asyncio.Event()
        self.facts: dict[int, dict[str, Any]] = {}
        self.speech = TurnSpeech(
            "agent",
            7,
            time.monotonic(),
            voice=lambda *_: voice,
            emit=self._emit,
            tell=lambda *told: self.told.append(told),
            touch=self._touch,
        )

    def begin(self, number: int = 1, **manner: Any) -> StepSpeech:
        step = self.speech.begin(number, f"node{number}", Manner("v", **manner), self.facts.setdefault(number, {}))
        assert step is not None
        return step

    def say(self, *texts: str, number: int = 1, **manner: Any) -> StepSpeech:
        """One whole step."""
        step = self.begin(number, **manner)
        for text in texts:
            step.say(text)
        step.finish()
        return step

    @property
    def chunks(self) -> list[AudioChunk]:
        return [frame for frame, _ in self.frames if isinstance(frame, AudioChunk)]

    @property
    def heard(self) -> str:
        return text_of(b"".join(payload or b"" for _, payload in self.frames))

    @property
    def text(self) -> str:
        return "".join(chunk.text or "" for chunk in self.chunks)

    def _emit(self, frame: Push, payload: bytes | None) -> asyncio.Event | None:
        assert isinstance(frame, AudioFormat) == (payload is None)
        self.frames.append((frame, payload))
        self.sent_more.set()
        return self.room

    def _touch(self) -> None:
        self.touched += 1


def on_stage(play: Callable[[Stage, FakeVoice], Coroutine[Any, Any, None]], **voice: Any) -> None:
    """A play that leaves no task behind."""

    async def work() -> None:
        fake = FakeVoice(**voice)
        stage = Stage(fake)
        before = asyncio.all_tasks()
        await play(stage, fake)
        stage.speech.stop()
        for _ in range(5):
            await asyncio.sleep(0)
        assert fake.open == 0, "a voice is still at work"
        assert asyncio.all_tasks() == before

    run(work)


def test_what_is_said_comes_whole_with_its_text() -> None:
    async def play(stage: Stage, voice: FakeVoice) -> None:
        stage.say("Good even", "ing, traveller.  Sit", " down. Rest")
        await stage.speech.finish()
        assert [chunk.text for chunk in stage.chunks if chunk.text] == ["Good evening, traveller.  ", "Sit down. Rest"]
        assert stage.heard == "Good evening, traveller.Sit down. Rest"
        assert [chunk.index for chunk in stage.chunks] == list(range(len(stage.chunks)))
        assert [chunk.is_final for chunk in stage.chunks].index(True) == len(stage.chunks) - 1
        assert isinstance(stage.frames[0][0], AudioFormat)
        assert stage.told == []

    on_stage(play)


@pytest.mark.parametrize("piece_bytes", [2, 6, 40, 398, 4_000, 100_000])
def test_the_sound_is_the_same_in_whatever_pieces_it_comes(piece_bytes: int) -> None:
    async def play(stage: Stage, voice: FakeVoice) -> None:
        stage.say("One, two, three. Four, five, six.", min_sentence_chars=0)
        await stage.speech.finish()
        assert stage.heard == "One, two, three.Four, five, six."
        assert stage.facts[1]["audio_s"] == pytest.approx(len(stage.heard) / 50)

    on_stage(play, piece_bytes=piece_bytes)


def test_steps_speak_in_their_order_however_early_the_second_has_its_text() -> None:
    async def play(stage: Stage, voice: FakeVoice) -> None:
        gate = voice.hold("first")
        one = stage.begin(1)
        stage.say("The second speaks. And again it speaks.", number=2)
        one.say("I am the first. ")
        one.say("Still I.")
        one.finish()
        await voice.reached["first"].wait()
        gate.set()
        await stage.speech.finish()
        assert [chunk.step for chunk in stage.chunks] == sorted(chunk.step for chunk in stage.chunks)
        assert voice.most_open == 1
        assert stage.heard == "I am the first.Still I.The second speaks.And again it speaks."

    on_stage(play)


def test_a_step_that_says_nothing_has_no_sound_at_all() -> None:
    async def play(stage: Stage, voice: FakeVoice) -> None:
        stage.say("")
        stage.say(number=2)
        await stage.speech.finish()
        assert (stage.frames, stage.told, voice.said) == ([], [], [])

    on_stage(play)


def test_what_a_voice_cannot_say_is_told_once_and_its_text_comes() -> None:
    async def play(stage: Stage, voice: FakeVoice) -> None:
        stage.say("🙂🙂", "\n ### …!")
        stage.say("Hello there.", number=2)
        await stage.speech.finish()
        assert stage.text == "🙂🙂\n ### …!Hello there."
        assert stage.heard == "Hello there."
        [(code, message, node)] = stage.told
        assert (code, node, stage.facts[1]["skipped"], stage.facts[2]["skipped"]) == (0, "node1", 1, 0)
        assert "🙂🙂" in message

    on_stage(play)


def test_stage_directions_are_left_out_without_a_word() -> None:
    async def play(stage: Stage, voice: FakeVoice) -> None:
        stage.say("*wipes the bar*\nHello there.\n*nods*", min_sentence_chars=0)
        await stage.speech.finish()
        assert stage.text == "*wipes the bar*\nHello there.\n*nods*"
        assert (stage.heard, stage.told, stage.facts[1]["skipped"]) == ("Hello there.", [], 0)

    on_stage(play)


def test_a_tag_that_a_sentence_tears_is_not_heard() -> None:
    async def play(stage: Stage, voice: FakeVoice) -> None:
        text = "Hello there! ◁think▷Shall I lie? ◁/think▷Come in. Is it a <b"
        stage.say(text, min_sentence_chars=0)
        await stage.speech.finish()
        assert stage.text == text
        assert stage.heard == "Hello there!Come in.Is it a b"

    on_stage(play)


def test_thoughts_are_never_heard() -> None:
    async def play(stage: Stage, voice: FakeVoice) -> None:
        step = stage.begin(1, min_sentence_chars=0)
        step.starts_thinking = True
        for piece in ("I should be kind. ", "Yes.</thi", "nk> Welcome! ", "<think>Too", " much?</think> Sit down."):
            step.say(piece)
        step.finish()
        await stage.speech.finish()
        assert stage.heard == "Welcome!Sit down."
        assert stage.text == "I should be kind. Yes.</think> Welcome! <think>Too much?</think> Sit down."
        assert stage.told == []

    on_stage(play)


@pytest.mark.parametrize("fault", [SpeechFailed("no breath"), RuntimeError("a bug"), ZeroDivisionError()])
def test_a_voice_that_fails_is_told_once_and_the_next_step_tries_again(fault: Exception) -> None:
    async def play(stage: Stage, voice: FakeVoice) -> None:
        voice.faults["here"] = fault
        stage.say("All is well. But here it fails. It is silent. And here too.")
        stage.say("The other speaks.", number=2)
        await stage.speech.finish()
        first = [chunk for chunk in stage.chunks if chunk.step == 1]
        assert [chunk.text for chunk in first if chunk.text] == [
            "All is well. ",
            "But here it fails. ",
            "It is silent. ",
            "And here too.",
        ]
        assert first[-1].is_final
        assert stage.heard == "All is well.But The other speaks."
        [(code, message, node)] = stage.told
        assert (code, node) == (4005, "node1")
        assert "the voice 'v' failed" in message
        assert "failed" in stage.facts[1] and "failed" not in stage.facts[2]
        assert [said for said, *_ in voice.said] == ["All is well.", "But here it fails.", "The other speaks."]

    on_stage(play)


def test_a_step_that_fails_in_two_ways_tells_of_the_first() -> None:
    async def play(stage: Stage, voice: FakeVoice) -> None:
        step = stage.begin(1)
        step.fail("no breath")
        step.fail("no voice")
        assert [message for _, message, _ in stage.told] == ["the voice 'v' failed: no breath"]

    on_stage(play)


def test_an_engine_that_fails_before_it_begins() -> None:
    class Broken(FakeVoice):
        def speak(self, text: str, *, speaker_id: int = 0, speed: float = 1.0) -> AsyncGenerator[bytes, None]:
            raise OSError("the device is gone")

    async def work() -> None:
        stage = Stage(Broken())
        stage.say("Hello there.")
        await stage.speech.finish()
        assert (stage.text, stage.heard, stage.chunks[-1].is_final) == ("Hello there.", "", True)
        [(code, message, _)] = stage.told
        assert code == 4005 and "the device is gone" in message

    run(work)


def test_a_speaker_that_is_not_there() -> None:
    async def play(stage: Stage, voice: FakeVoice) -> None:
        facts: dict[str, Any] = {}
        assert stage.speech.begin(1, "mira", Manner("v", speaker_id=2), facts) is None
        await stage.speech.finish()
        [(code, message, node)] = stage.told
        assert (code, node, stage.frames) == (4005, "mira", [])
        assert "it has no speaker 2; the highest speaker_id is 1" in message
        assert facts["failed"] in message

    on_stage(play)


def test_a_voice_that_is_not_there() -> None:
    async def work() -> None:
        stage = Stage("the package is not installed")
        facts: dict[str, Any] = {}
        assert stage.speech.begin(1, "mira", Manner("v"), facts) is None
        await stage.speech.finish()
        assert facts == {"voice": "v", "failed": "the package is not installed"}
        assert (stage.frames, stage.told) == ([], [])

    run(work)


def test_sound_waits_for_a_client_that_takes_no_more_and_the_voice_with_it() -> None:
    async def play(stage: Stage, voice: FakeVoice) -> None:
        stage.room = asyncio.Event()
        stage.say("x" * 200 + ". " + "y" * 100 + ".")
        await stage.sent_more.wait()
        for _ in range(500):
            await asyncio.sleep(0)
        assert len(stage.chunks) == 1
        made = len(voice.said[0][0])
        assert made == 201 and voice.open == 1
        room, stage.room = stage.room, None
        room.set()
        await stage.speech.finish()
        assert stage.heard == "x" * 200 + "." + "y" * 100 + "."

    on_stage(play)


def test_only_so_much_is_made_ahead() -> None:
    class Counting(FakeVoice):
        given = 0

        async def speak(self, text: str, *, speaker_id: int = 0, speed: float = 1.0) -> AsyncGenerator[bytes, None]:
            for char in text:
                self.given += 1
                yield sound_of(char)
                await asyncio.sleep(0)

    async def work() -> None:
        voice = Counting()
        stage = Stage(voice)
        stage.room = asyncio.Event()
        stage.say("x" * 300)
        await stage.sent_more.wait()
        for _ in range(1000):
            await asyncio.sleep(0)
        assert voice.given <= AHEAD_CHUNKS + 2
        stage.speech.stop()

    run(work)


def test_what_follows_is_made_while_a_sentence_is_sent() -> None:
    async def play(stage: Stage, voice: FakeVoice) -> None:
        stage.room = asyncio.Event()
        stage.say("Yes, it is. No, it is not.", min_sentence_chars=0)
        gate = voice.hold("No, it is not.")
        gate.set()
        await voice.reached["No, it is not."].wait()
        assert [chunk.sentence for chunk in stage.chunks] == [0]
        assert stage.text == "Yes, it is. "
        stage.room.set()
        await stage.speech.finish()

    on_stage(play)


def test_a_stop_closes_what_began_and_nothing_follows() -> None:
    async def play(stage: Stage, voice: FakeVoice) -> None:
        gate = voice.hold("then")
        step = stage.begin(1)
        stage.say("The other one.", number=2)
        step.say("I begin to speak. And then I am stopped. So")
        await voice.reached["then"].wait()
        for _ in range(50):
            await asyncio.sleep(0)
        stage.speech.stop()
        frames = list(stage.frames)
        assert stage.chunks[-1].is_final and stage.text == "I begin to speak. "
        assert {chunk.step for chunk in stage.chunks} == {1}
        assert stage.facts[1]["audio_s"] == pytest.approx(0.34)
        assert stage.facts[1]["sentences"] == 1 and stage.facts[1]["first_audio_ms"] >= 0
        assert stage.facts[2]["sentences"] == 0 and stage.facts[2]["first_audio_ms"] is None
        gate.set()
        step.say("More. And more.")
        step.finish()
        stage.speech.stop()
        for _ in range(50):
            await asyncio.sleep(0)
        assert stage.frames == frames
        assert stage.speech.begin(3, "late", Manner("v"), {}) is None
        assert stage.told == []

    on_stage(play)


def test_a_stop_before_the_first_sound_leaves_no_frame() -> None:
    async def play(stage: Stage, voice: FakeVoice) -> None:
        voice.hold("begin")
        stage.say("I begin to speak.")
        await voice.reached["begin"].wait()
        stage.speech.stop()
        await asyncio.sleep(0)
        assert stage.frames == []

    on_stage(play)


def test_giving_up_is_told_and_ends_the_wait() -> None:
    async def play(stage: Stage, voice: FakeVoice) -> None:
        voice.hold("stuck")
        stage.say("It goes well. And now it is stuck.")
        stage.say("The other one.", number=2)
        waiting = asyncio.ensure_future(stage.speech.finish())
        await voice.reached["stuck"].wait()
        for _ in range(50):
            await asyncio.sleep(0)
        assert not waiting.done()
        stage.speech.give_up("no sound came for 9 s")
        await waiting
        assert stage.chunks[-1].is_final and stage.heard == "It goes well."
        [(code, message, node)] = stage.told
        assert (code, node) == (4005, "node1")
        assert "no sound came for 9 s" in message

    on_stage(play)

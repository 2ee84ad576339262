"""That a recorded turn can be understood, and that what asserts it would notice sound that is not what was said."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from bridge.catalog import read_catalog
from bridge.chat_voice import Hearing
from bridge.config import Settings
from bridge.models import ModelStore
from bridge.protocol import AudioChunk
from bridge.voice_recording import Recorder
from tests.intelligibility import (
    PLAIN,
    Recogniser,
    Recording,
    assert_intelligible,
    edits,
    error_rate,
    resampled,
    words,
)
from tests.talk import Heard, run, scripted, talking, workflow

LORE_FILE = Path(__file__).parents[1] / "samples" / "tavern" / "lore.records.json"

# ---- what is measured with -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "heard", "rate"),
    [
        ("Come in.", "come in", 0),
        ("Come in.", "", 1),
        ("Come in, both of you.", "come in both with you", 1 / 5),
        ("Come in, both of you.", "come in of you", 1 / 5),
        ("Come in, both of you.", "come on in both of you", 1 / 5),
        ("Come in.", "come in come in", 1),
        ("Come in.", "in come", 1),
        ("It\u2019s Mira\u2019s: 1,250 coppers, 7 for the na\u00efve!", 
         "its mira's one thousand two hundred fifty coppers seven for the naive", 0),
        ("120,319 times", "one hundred twenty thousand three hundred nineteen times", 0),
        ("", "noise", 1),
    ],
)  # fmt: skip
def test_words_that_are_wrong_are_counted(said: str, heard: str, rate: float) -> None:
    assert error_rate(said, heard) == pytest.approx(rate)


@pytest.mark.parametrize(
    ("rate", "hertz"),
    [(8_000, 100), (8_000, 3_000), (16_000, 6_500), (22_050, 6_500), (22_050, 9_500), (24_000, 100), (24_000, 3_000),
     (24_000, 6_500), (24_000, 9_500), (44_100, 3_000), (44_100, 15_000)],
)  # fmt: skip
def test_resampling_keeps_what_fits_and_nothing_else(rate: int, hertz: int) -> None:
    tone = np.sin(2 * np.pi * hertz * np.arange(rate) / rate)
    found = resampled(tone, rate, 16_000)
    wanted = np.sin(2 * np.pi * hertz * np.arange(16_000) / 16_000) * (hertz < 8_000)
    assert len(found) == 16_000
    inner = slice(500, -500)
    assert found[inner] == pytest.approx(wanted[inner], abs=0.001)


# ---- a turn --------------------------------------------------------------------------------------------------

REPLIES = {
    "mira": "Good evening, stranger, come in out of the rain. You can sleep here if you help me in the kitchen.",
    "bram": "*tunes the lute* Do you want to hear a song about the sea?",
    "narrator": "The river is too high to cross today. Nobody walks there after dark.",
}
ACTION = "*tunes the lute* "


@dataclass(frozen=True, slots=True)
class Recorded:
    """A turn in which everybody speaks."""

    turn: Heard
    files: dict[str, Recording]
    """By node: what `parley chat --record` writes."""

    def chunks(self, node_name: str) -> list[bytes]:
        return [
            frame.payload or b""
            for frame in self.turn.frames
            if isinstance(frame.message, AudioChunk) and frame.message.node_name == node_name
        ]

    def sentences(self, node_name: str) -> list[bytes]:
        """The sound of each."""
        found: dict[int, bytes] = {}
        for frame in self.turn.frames:
            if isinstance(frame.message, AudioChunk) and frame.message.node_name == node_name:
                number = frame.message.sentence
                found[number] = found.get(number, b"") + (frame.payload or b"")
        return list(found.values())


@pytest.fixture(scope="module")
def recogniser() -> Recogniser:
    return Recogniser(pytest.importorskip("pocketsphinx", reason="no recogniser: pocketsphinx is not installed"))


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    """Through the whole sidecar: models that write by script, the starter voice, and the recorder of `parley chat`."""
    pytest.importorskip("hibari", reason="no voice: hibari-tts is not installed")
    folder = tmp_path_factory.mktemp("recorded")
    models = [scripted(text, name=f"{name}-says") for name, text in REPLIES.items()]
    nodes = [
        {"name": name, "type": "GenerateAndSpeak", "model": f"{name}-says", "voice": "starter-voice"}
        for name in REPLIES
    ]
    turns: list[Heard] = []

    async def record() -> None:
        async with talking(*models, read_catalog()["starter-voice"]) as talk:
            agent_id = await talk.agent(workflow(*nodes))
            hearing = Hearing(recorder=await asyncio.to_thread(Recorder, folder))
            hearing.begin_turn()
            turn = Heard()
            async for frame in talk.client.turn(agent_id, "Good evening."):
                hearing.take(frame)
                turn.frames.append(frame)
            hearing.close()
            turns.append(turn)

    run(record)
    (turn,) = turns
    assert turn.complete.status == "Success"
    files = {path.stem.rpartition("-")[2]: Recording.read(path) for path in sorted(folder.glob("*.wav"))}
    assert list(files) == list(REPLIES)
    return Recorded(turn, files)


@pytest.fixture(scope="module")
def heard(recorded: Recorded, recogniser: Recogniser) -> dict[str, str]:
    """What the recogniser writes down of each file."""
    return {name: recogniser.hear(recording) for name, recording in recorded.files.items()}


@pytest.mark.parametrize("name", REPLIES)
def test_a_recorded_turn_is_understood(name: str, recorded: Recorded, heard: dict[str, str]) -> None:
    assert recorded.turn.text(name) == REPLIES[name]
    assert_intelligible(REPLIES[name].replace(ACTION, ""), heard[name])


def test_a_file_is_the_sound_of_its_chunks(recorded: Recorded) -> None:
    for name, recording in recorded.files.items():
        assert recording.sound == b"".join(recorded.chunks(name)) == b"".join(recorded.sentences(name))


def test_silence_is_noticed(recorded: Recorded, recogniser: Recogniser) -> None:
    file = recorded.files["narrator"]
    with pytest.raises(AssertionError, match="100% of the words are wrong"):
        assert_intelligible(REPLIES["narrator"], recogniser.hear(Recording(bytes(len(file.sound)), file.rate)))


@pytest.mark.parametrize("name", REPLIES)
def test_the_sound_of_another_step_is_noticed(name: str, heard: dict[str, str]) -> None:
    for other in REPLIES.keys() - {name}:
        with pytest.raises(AssertionError, match="of the words are wrong"):
            assert_intelligible(REPLIES[name], heard[other])


def test_sentences_in_another_order_are_noticed(recorded: Recorded, heard: dict[str, str]) -> None:
    first, second = REPLIES["narrator"].split(". ")
    assert len(recorded.sentences("narrator")) == 2
    with pytest.raises(AssertionError, match="of the words are wrong"):
        assert_intelligible(f"{second} {first}.", heard["narrator"])


def twice(pieces: list[bytes]) -> list[bytes]:
    return [piece for piece in pieces for _ in range(2)]


def shuffled(pieces: list[bytes]) -> list[bytes]:
    return random.Random(1).sample(pieces, len(pieces))


def neighbours_swapped(pieces: list[bytes]) -> list[bytes]:
    return [piece for number in range(0, len(pieces), 2) for piece in pieces[number : number + 2][::-1]]


def backwards(pieces: list[bytes]) -> list[bytes]:
    return [np.frombuffer(b"".join(pieces), "<i2")[::-1].tobytes()]


def a_byte_late(pieces: list[bytes]) -> list[bytes]:
    return [b"\0", b"".join(pieces)[:-1]]


def every_other(pieces: list[bytes]) -> list[bytes]:
    return pieces[::2]


MORE = pytest.mark.thorough


@pytest.mark.parametrize(
    "damage",
    [
        twice,
        shuffled,
        pytest.param(a_byte_late, marks=MORE),
        pytest.param(neighbours_swapped, marks=MORE),
        pytest.param(backwards, marks=MORE),
        pytest.param(every_other, marks=MORE),
    ],
)
def test_doubled_and_garbled_chunks_are_noticed(
    damage: Callable[[list[bytes]], list[bytes]], recorded: Recorded, recogniser: Recogniser
) -> None:
    damaged = Recording(b"".join(damage(recorded.chunks("narrator"))), recorded.files["narrator"].rate)
    with pytest.raises(AssertionError, match="of the words are wrong"):
        assert_intelligible(REPLIES["narrator"], recogniser.hear(damaged))


@pytest.mark.parametrize("damage", [twice, every_other])
def test_doubled_and_lost_sentences_are_noticed(
    damage: Callable[[list[bytes]], list[bytes]], recorded: Recorded, recogniser: Recogniser
) -> None:
    damaged = Recording(b"".join(damage(recorded.sentences("narrator"))), recorded.files["narrator"].rate)
    with pytest.raises(AssertionError, match="of the words are wrong"):
        assert_intelligible(REPLIES["narrator"], recogniser.hear(damaged))


# ---- how well the recogniser hears ---------------------------------------------------------------------------


async def said_by_the_starter_voice(texts: Sequence[str]) -> list[Recording]:
    store = ModelStore(Settings(), read_catalog())
    try:
        voice = (await store.acquire_speech("starter-voice", lambda *_: None)).engine
        said = []
        for text in texts:
            sound = b"".join([piece async for piece in voice.speak(text)])
            said.append(Recording(sound, voice.sample_rate))
        return said
    finally:
        await store.close()


LORE = [record["text"] for record in json.loads(LORE_FILE.read_text(encoding="utf-8"))]


@pytest.mark.thorough
@pytest.mark.parametrize(("texts", "bound"), [(PLAIN, 0.2), (LORE, 0.35)], ids=["plain", "lore"])
def test_words_that_are_heard_wrong_of_many_sentences(
    texts: Sequence[str], bound: float, recogniser: Recogniser
) -> None:
    """Measured: 11 % of the plain ones, 24 % of the lore, which is full of names and old words."""
    pytest.importorskip("hibari", reason="no voice: hibari-tts is not installed")
    heard = [recogniser.hear(recording) for recording in asyncio.run(said_by_the_starter_voice(texts))]
    wrong = sum(edits(words(text), words(found)) for text, found in zip(texts, heard, strict=True))
    assert wrong <= bound * sum(len(words(text)) for text in texts), list(zip(texts, heard, strict=True))

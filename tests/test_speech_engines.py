"""The mock's voice and hibari's: exact lengths, odd texts, memory, and what is said where something is missing."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from bridge.catalog import CatalogEntry, MockScript, read_catalog
from bridge.config import Settings
from bridge.engine import SpeechModel
from bridge.engines.mock_voice import SAMPLE_RATE, SPEAKERS, samples_of
from bridge.engines.text_pieces import text_pieces
from bridge.errors import ModelCorrupt, ModelLoadFailed, SpeechFailed
from bridge.loaders import load_speech_engine
from bridge.model_files import disk_status, faults_of, locate, why_absent
from bridge.models import ModelStore

TIMEOUT_S = 60.0
LETTER = 2 * SAMPLE_RATE * 60 // 1000


def load(entry: CatalogEntry) -> SpeechModel:
    settings = Settings()
    path = None if entry.engine == "mock" else locate(entry, settings, lambda *_: None)
    return load_speech_engine(entry, path, settings, lambda *_: None)


@contextlib.contextmanager
def mock_voice(**options: Any) -> Iterator[SpeechModel]:
    voice = load(CatalogEntry(name="v", type="tts", engine="mock", mock=MockScript(**options)))
    try:
        yield voice
    finally:
        voice.close()


async def pieces(voice: SpeechModel, text: str, **how: Any) -> list[bytes]:
    return [piece async for piece in voice.speak(text, **how)]


async def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + TIMEOUT_S
    while not condition():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.005)


def say(voice: SpeechModel, text: str, **how: Any) -> bytes:
    return b"".join(asyncio.run(asyncio.wait_for(pieces(voice, text, **how), TIMEOUT_S)))


# ---- the mock


@pytest.mark.parametrize("text", ["hhh", "🙂", "*", "", "a" * 5000, "你好", "Well met, traveller."])
@pytest.mark.parametrize("speed", [0.5, 1.0, 1.7, 3.0])
def test_a_character_sounds_for_sixty_milliseconds(text: str, speed: float) -> None:
    with mock_voice() as voice:
        assert len(say(voice, text, speed=speed)) == 2 * samples_of(text, speed) == 2 * round(len(text) * 960 / speed)


def test_speakers_are_tones_and_equal_texts_sound_equal() -> None:
    with mock_voice() as voice:
        assert voice.speakers == SPEAKERS
        sounds = [say(voice, "hello", speaker_id=speaker) for speaker in range(len(SPEAKERS))]
        assert len({*sounds}) == len(SPEAKERS)
        assert {len(sound) for sound in sounds} == {5 * LETTER}
        assert say(voice, "hello") == sounds[0]


def test_slow_synthesis_is_as_slow_as_it_was_asked() -> None:
    with mock_voice(real_time_factor=0.7) as voice:
        began = time.monotonic()
        say(voice, "hello hello")
        assert time.monotonic() - began >= 0.46


def test_a_text_that_fails() -> None:
    with mock_voice(fail_on="dragon") as voice:
        with pytest.raises(SpeechFailed, match=r"^the mock voice fails at 'dragon', as its catalog entry says$"):
            say(voice, "a dragon!")
        assert len(say(voice, "a drake")) == 7 * LETTER


def test_closing_a_slow_voice_waits_for_nothing() -> None:
    async def cut_off() -> None:
        with mock_voice(real_time_factor=10.0) as voice:
            speech = asyncio.ensure_future(pieces(voice, "hello"))
            await until(lambda: voice.load().running == 1)
            began = time.monotonic()
            await asyncio.get_running_loop().run_in_executor(None, voice.close)
            assert time.monotonic() - began < 1
            with pytest.raises(SpeechFailed):
                await speech

    asyncio.run(cut_off())


# ---- the catalog's voices


def test_a_voice_is_shared_and_goes_with_its_last_user() -> None:
    async def scenario() -> None:
        settings = Settings(unload_grace_s=0.0)
        store = ModelStore(settings, read_catalog())
        first = await store.acquire_speech("mock-voice", lambda *_: None)
        second = await store.acquire_speech("mock-voice", lambda *_: None)
        assert first is second
        assert len(b"".join(await pieces(first.engine, "hi"))) == 2 * LETTER
        (row,) = [row for row in store.list() if row.name == "mock-voice"]
        assert (row.status, row.speakers, row.context_size) == ("Loaded", list(SPEAKERS), 0)
        store.release(first)
        await store.pin("mock-voice", "a game", lambda *_: None)
        store.release(second)
        await asyncio.sleep(0.05)
        assert [model.entry.name for model in store.loaded()] == ["mock-voice"]
        store.unpin("mock-voice", "a game")
        await until(lambda: not store.loaded())
        with pytest.raises(SpeechFailed, match="the voice was unloaded"):
            await pieces(first.engine, "hi")
        with pytest.raises(ModelLoadFailed, match="'mock-echo' is of type language; one of type tts is needed"):
            await store.acquire_speech("mock-echo", lambda *_: None)
        with pytest.raises(ModelLoadFailed, match="'mock-voice' is of type tts; one of type language is needed"):
            await store.acquire("mock-voice", lambda *_: None)
        await store.close()

    asyncio.run(asyncio.wait_for(scenario(), TIMEOUT_S))


def without(monkeypatch: pytest.MonkeyPatch, *modules: str) -> None:
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *more: None if name in modules else real(name, *more))


def test_a_missing_package_is_named_with_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    without(monkeypatch, "hibari", "sherpa_onnx")
    starter = read_catalog()["starter-voice"]
    said = 'comes with the package hibari, which is not installed: pip install "parley-bridge[voice]"'
    with pytest.raises(ModelLoadFailed) as caught:
        load(starter)
    assert said in str(caught.value)
    assert said in why_absent(starter, Settings())
    assert disk_status(starter, Settings()) == ("Absent", 0)
    (tmp_path / "x.onnx").touch()
    for engine, extra in (("hibari", "voice"), ("sherpa-onnx", "sherpa")):
        source = {"path": str(tmp_path / "x.onnx")}
        entry = CatalogEntry.model_validate({"name": "v", "type": "tts", "engine": engine, "source": source})
        with pytest.raises(ModelLoadFailed, match=rf"is not installed: pip install \"parley-bridge\[{extra}\]\"$"):
            load(entry)


def test_a_package_without_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    source = {"package": "hibari", "file": "nobody.onnx"}
    entry = CatalogEntry.model_validate({"name": "v", "type": "tts", "engine": "hibari", "source": source})
    if importlib.util.find_spec("hibari") is None:
        pytest.skip("the extra voice is not installed")
    with pytest.raises(ModelLoadFailed, match=r"the package hibari holds no model nobody\.onnx; install it anew, or"):
        load(entry)


# ---- texts in pieces


@pytest.mark.parametrize(
    ("text", "most", "made"),
    [
        ("", 10, []),
        ("  \n ", 10, []),
        ("short", 10, ["short"]),
        ("One two. Three four.", 12, ["One two.", "Three four."]),
        ("one two, three four", 12, ["one two,", "three four"]),
        ("a, two three four", 12, ["a, two", "three four"]),
        ("9,999 locks, or 1:30", 13, ["9,999 locks,", "or 1:30"]),
        ("one two three", 8, ["one two", "three"]),
        ("abcdefghij", 4, ["abcd", "efgh", "ij"]),
        ("你好。世界很大。", 5, ["你好。", "世界很大。"]),
    ],
)
def test_texts_are_cut_where_a_reader_would_breathe(text: str, most: int, made: list[str]) -> None:
    assert list(text_pieces(text, most)) == made


# ---- hibari


@pytest.fixture(scope="module")
def hibari() -> Iterator[SpeechModel]:
    pytest.importorskip("hibari", reason="the extra voice is not installed")
    voice = load(read_catalog()["starter-voice"])
    yield voice
    voice.close()


def test_the_starter_voice_speaks(hibari: SpeechModel) -> None:
    assert (hibari.sample_rate, hibari.speakers) == (24_000, ("heart",))
    sound = say(hibari, "Well met, traveller.")
    assert 1.0 < len(sound) / 48_000 < 3.0
    assert max(memoryview(sound).cast("h")) > 2000
    assert say(hibari, "Well met, traveller.") == sound
    slow, fast = (len(say(hibari, "Well met, traveller.", speed=speed)) for speed in (0.5, 2.0))
    assert slow > 1.5 * len(sound) > 1.5 * 1.5 * fast
    assert hibari.status().backend == "CPU"
    assert faults_of(read_catalog()["starter-voice"], Settings()) == []


ODD = [
    "hhh", "🙂", "*", "", " ", "\n\n", "\x00", "\ud800", "a" * 5000, "A" * 100, "你好,世界。", "こんにちは", "9" * 150,
    "e\u0301" * 50, "1," * 150, "$" * 100, "$999999999999999999999999999999", "[x](/y/)", "[x](/", "½ ² Ⅷ", "-" * 5000,
    "." * 3000, "1.2.3.4.5", "1e999", "25:99", "3/0", "https://a.b/c?d=e&f=g", "\u202eabc", "٣٤٥", "A.B." * 100,
    "'" * 300,
]  # fmt: skip


@pytest.mark.parametrize("text", ODD, ids=lambda text: ascii(text[:8]))
def test_odd_texts_are_said_or_not_but_never_raise(hibari: SpeechModel, text: str) -> None:
    sound = say(hibari, text)
    assert len(sound) % 2 == 0
    assert len(sound) < 48_000 * (10 + len(text))


class CountingTts:
    """Hibari's library, as far as the voice uses it: a letter is a sound."""

    sample_rate = 24_000

    def __init__(self) -> None:
        self.read: list[str] = []
        self.made: list[str] = []

    def phonemize(self, text: str) -> list[str]:
        self.read.append(text)
        return [text]

    def from_phonemes(self, phonemes: str, *, speed: float, seed: int) -> list[float]:
        self.made.append(phonemes)
        return [0.5, 2.0, float("nan")]


def test_neither_a_text_nor_its_sounds_go_to_hibari_in_one_piece() -> None:
    """Memory grows with the square of what is computed together: a text of 5,000 letters once took 2 GB."""
    from bridge.engines.hibari import SOUND_PIECE, TEXT_PIECE, HibariVoice

    tts = CountingTts()
    text = "the fox and the hound and " * 200
    sound = HibariVoice(tts, "x", 0).synthesize(text, 0, 1.0)
    assert memoryview(next(sound)).cast("h").tolist() == [16383, 32767, 0]
    assert len(tts.read) == 1
    assert len(list(sound)) + 1 == len(tts.made)
    assert max(map(len, tts.read)) <= TEXT_PIECE
    assert max(map(len, tts.made)) <= SOUND_PIECE
    assert " ".join(tts.made) == text.strip()


@pytest.mark.parametrize(("speed", "most"), [(3.0, 200), (0.5, 200), (0.25, 100), (0.1, 40)])
def test_what_is_said_slowly_is_made_in_smaller_pieces(speed: float, most: int) -> None:
    """A piece that sounds for 100 s takes 500 MB and some seconds until it is heard."""
    from bridge.engines.hibari import HibariVoice

    tts = CountingTts()
    text = "the fox and the hound and " * 20
    assert list(HibariVoice(tts, "x", 0).synthesize(text, 0, speed))
    assert most / 2 < max(map(len, tts.made)) <= most
    assert " ".join(tts.made) == text.strip()


def test_numbers_beyond_all_names_are_said_figure_by_figure(hibari: SpeechModel) -> None:
    assert len(say(hibari, "The door has 12345678901234567890123456789012345 locks.")) > 48_000 * 5


@pytest.mark.parametrize("speed", [0.1, 3.0])
def test_the_ends_of_speed(hibari: SpeechModel, speed: float) -> None:
    assert len(say(hibari, "Well met.", speed=speed)) > 4800


def test_a_long_text_begins_at_once_and_comes_in_pieces(hibari: SpeechModel) -> None:
    async def scenario() -> list[bytes]:
        speech = hibari.speak("the fox and the hound and " * 200)
        heard = [await speech.__anext__(), await speech.__anext__()]
        await speech.aclose()
        return heard

    assert all(48_000 < len(piece) < 48_000 * 25 for piece in asyncio.run(scenario()))


@pytest.mark.thorough
def test_memory_stays_flat_over_many_texts(hibari: SpeechModel) -> None:
    process = psutil.Process()

    async def grown() -> int:
        for number in range(200):
            await pieces(hibari, f"Well met, traveller number {number}. What brings you to the tavern tonight?")
        return int(process.memory_info().rss)

    settled = asyncio.run(grown())
    assert asyncio.run(grown()) - settled < 16 * 2**20


def test_a_file_that_is_no_voice_of_hibaris(tmp_path: Path) -> None:
    pytest.importorskip("hibari", reason="the extra voice is not installed")
    file = tmp_path / "bf_emma.int8.onnx"
    file.write_bytes(b"noise" * 100)
    source = {"path": str(file)}
    entry = CatalogEntry.model_validate({"name": "v", "type": "tts", "engine": "hibari", "source": source})
    with pytest.raises(ModelCorrupt, match=r"bf_emma\.int8\.onnx is no voice of hibari's, or not whole: "):
        load(entry)
    assert "no ONNX model" in faults_of(entry, Settings())[0]

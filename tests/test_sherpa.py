"""Voices of sherpa-onnx: tiny ones that the library really loads and speaks, and folders that it would die of."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

import bridge
from bridge.catalog import CatalogEntry
from bridge.config import Settings
from bridge.engine import SpeechModel
from bridge.engines import sherpa
from bridge.engines.onnx_header import read_onnx_metadata
from bridge.engines.sherpa import SherpaVoice
from bridge.engines.sherpa import _read as read_frame
from bridge.engines.sherpa_worker import DONE, SOUND
from bridge.engines.speech_queue import QueuedVoice
from bridge.engines.voice_folder import read_voice_folder
from bridge.errors import ModelCorrupt, ModelLoadFailed, ParleyError, SpeechFailed
from bridge.loaders import load_speech_engine
from bridge.model_files import disk_status, faults_of, locate
from bridge.protocol import AudioChunk, AudioFormat
from tests.speech_checks import warnings_of
from tests.talk import talking

pytest.importorskip("onnx", reason="the tests make their voices with the package onnx")
pytest.importorskip("sherpa_onnx", reason="the extra sherpa is not installed")
from tests import tiny_voice
from tests.tiny_voice import SAMPLE_RATE, SOUND_SAMPLES, make_kokoro, make_matcha, make_vits

TIMEOUT_S = 30.0
SOUND_BYTES = 2 * SOUND_SAMPLES


def entry_of(folder: Path, name: str = "tiny") -> CatalogEntry:
    source = {"path": str(folder)}
    return CatalogEntry.model_validate({"name": name, "type": "tts", "engine": "sherpa-onnx", "source": source})


def load(folder: Path) -> QueuedVoice:
    entry = entry_of(folder)
    voice = load_speech_engine(entry, locate(entry, Settings(), lambda *_: None), Settings(), lambda *_: None)
    assert isinstance(voice, QueuedVoice)
    return voice


@contextlib.contextmanager
def loaded(folder: Path) -> Iterator[QueuedVoice]:
    voice = load(folder)
    try:
        yield voice
    finally:
        voice.close()


async def pieces(voice: SpeechModel, text: str, **how: Any) -> list[bytes]:
    return [piece async for piece in voice.speak(text, **how)]


def say(voice: SpeechModel, text: str, **how: Any) -> bytes:
    return b"".join(asyncio.run(asyncio.wait_for(pieces(voice, text, **how), TIMEOUT_S)))


def pitch(sound: bytes, rate: int = SAMPLE_RATE) -> float:
    """Hertz of a tone, by how often it crosses zero."""
    samples = memoryview(sound).cast("h")
    crossings = sum(1 for before, after in itertools.pairwise(samples) if (before < 0) != (after < 0))
    return crossings * rate / len(samples) / 2


def children() -> list[psutil.Process]:
    return psutil.Process().children(recursive=True)


@pytest.fixture(scope="module")
def vits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_vits(tmp_path_factory.mktemp("voices") / "vits-piper-en_US-tiny", speakers=3)


@pytest.fixture(scope="module")
def voice(vits: Path) -> Iterator[QueuedVoice]:
    """One for all tests that leave it whole."""
    with loaded(vits) as made:
        yield made


@pytest.fixture(autouse=True)
def no_process_is_left(voice: QueuedVoice) -> Iterator[None]:
    before = set(children())
    yield
    assert set(children()) == before
    assert sum(voice.load()) == 0


@pytest.fixture
def own(vits: Path, tmp_path: Path) -> Path:
    """A copy of the voice that a test may spoil."""
    return Path(shutil.copytree(vits, tmp_path / "voice"))


# ---- whole voices


def test_a_piper_voice_speaks(voice: QueuedVoice) -> None:
    assert (voice.sample_rate, voice.speakers) == (SAMPLE_RATE, ("0", "1", "2"))
    assert len(say(voice, "hello")) == 5 * SOUND_BYTES
    # A letter is a tone of its own: b, the tenth of the model's sounds, has 200 + 40 · 9 Hz.
    assert pitch(say(voice, "b")) == pytest.approx(560, rel=0.1)
    status = voice.status()
    assert (status.backend, status.notes) == ("CPU", ("a Piper or VITS voice",))
    assert status.bytes_in_memory > 2**20


def test_speakers_differ_and_speed_is_what_it_says(voice: QueuedVoice) -> None:
    assert pitch(say(voice, "b", speaker_id=1)) == pytest.approx(1120, rel=0.1)
    assert pitch(say(voice, "b", speaker_id=2)) == pytest.approx(1680, rel=0.1)
    assert len(say(voice, "hello", speed=2.0)) == 5 * SOUND_BYTES // 2
    assert len(say(voice, "hello", speed=0.5)) == 5 * SOUND_BYTES * 2
    with pytest.raises(SpeechFailed, match="the voice has 3 speakers, numbered from 0; there is no speaker 3"):
        say(voice, "hello", speaker_id=3)


def test_a_kokoro_voice_knows_its_speakers_names(tmp_path: Path) -> None:
    with loaded(make_kokoro(tmp_path / "kokoro")) as voice:
        assert voice.speakers == ("af_one", "am_two")
        low, high = say(voice, "hello"), say(voice, "hello", speaker_id=1)
        assert len(low) == len(high) > 0
        assert pitch(high) > 1.4 * pitch(low)


def test_a_matcha_voice_speaks_through_its_vocoder(tmp_path: Path) -> None:
    with loaded(make_matcha(tmp_path / "matcha")) as voice:
        assert voice.speakers == ("0",)
        assert len(say(voice, "hello there.")) > 0


def test_a_long_text_comes_in_pieces_and_sounds_as_its_sentences_do(voice: QueuedVoice) -> None:
    text = "hello there. well met traveller. " * 40
    made = asyncio.run(pieces(voice, text.strip()))
    assert len(made) >= 40
    assert max(map(len, made)) < 4 * SAMPLE_RATE
    assert len(b"".join(made)) == 40 * sum(len(say(voice, part)) for part in ("hello there.", "well met traveller."))


ODD = [
    "hhh",
    "🙂",
    "*",
    "",
    " ",
    "\n",
    "\x00",
    "\ud800",
    "a" * 5000,
    "1" * 5000,
    "你好,世界。",
    "…",
    "-" * 900,
    "%s%n{}",
]


@pytest.mark.parametrize("text", ODD, ids=lambda text: ascii(text[:6]))
def test_odd_texts_are_said_or_not_but_harm_nobody(voice: QueuedVoice, text: str) -> None:
    say(voice, text)
    assert len(say(voice, "hello")) == 5 * SOUND_BYTES


def test_what_the_library_prints_of_the_players_words_goes_nowhere(
    vits: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with loaded(vits) as voice:
        say(voice, "hello xyzzy plugh")
        say(voice, "xyzzy")
    assert capfd.readouterr() == ("", "")


def test_names_of_speakers_from_pipers_file(own: Path) -> None:
    path = own / "en_US-tiny.onnx.json"
    path.write_text(json.dumps({"speaker_id_map": {"Brann": 0, "Mara": 2}}))
    assert read_voice_folder(own).speakers == ("Brann", "1", "Mara")
    path.write_text(json.dumps({"speaker_id_map": {"Brann": 7}}))
    assert read_voice_folder(own).speakers == ("0", "1", "2")
    for odd in ("{", "[" * 100_000, " " * 2**20 + "{}", "null"):
        path.write_text(odd)
        assert read_voice_folder(own).speakers == ("0", "1", "2")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pipes in folders")
def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(own: Path) -> None:
    os.mkfifo(own / "en_US-tiny.onnx.json")
    os.mkfifo(own / "another.onnx")
    assert read_voice_folder(own).speakers == ("0", "1", "2")


# ---- many at once, and ends


def test_two_who_speak_at_once_each_get_their_own_sound(voice: QueuedVoice) -> None:
    async def both(voice: SpeechModel) -> list[list[bytes]]:
        text = "hello there. " * 20
        return list(await asyncio.gather(pieces(voice, text), pieces(voice, text, speaker_id=1)))

    alone = say(voice, "hello there. " * 20), say(voice, "hello there. " * 20, speaker_id=1)
    low, high = asyncio.run(both(voice))
    assert (b"".join(low), b"".join(high)) == alone
    assert alone[0] != alone[1]


def test_who_stops_reading_stops_the_work_and_the_next_is_heard(voice: QueuedVoice) -> None:
    async def some(voice: SpeechModel) -> bytes:
        speech = voice.speak("hello there. " * 400)
        await speech.__anext__()
        await speech.aclose()
        return b"".join(await pieces(voice, "hello"))

    assert len(asyncio.run(some(voice))) == 5 * SOUND_BYTES
    assert sum(voice.load()) == 0


def test_the_process_stops_within_a_request_that_nobody_reads_on(vits: Path) -> None:
    speaker = SherpaVoice(read_voice_folder(vits))
    try:
        sound = speaker.synthesize("hello there. " * 15, 0, 1.0)
        next(sound)
        sound.close()  # type: ignore[attr-defined] # it is a generator
        kinds = [SOUND]
        while kinds[-1] == SOUND:  # the pipe holds some sentences, and no more are made
            kinds.append(read_frame(speaker._process)[0])
        assert kinds[-1] == DONE
        assert len(kinds) < 12
    finally:
        speaker.close()


def script(tmp_path: Path, code: str) -> list[str]:
    """A process in the place of the library's."""
    file = tmp_path / "worker.py"
    head = "import json, sys, time\nfrom bridge.engines.sherpa_worker import *\nout = sys.stdout.buffer\n"
    file.write_text(head + code, encoding="utf-8")
    return [sys.executable, str(file)]


HANGS = """
sys.stdin.readline()
data = json.dumps({"sample_rate": 16000, "speakers": 3}).encode()
out.write(FRAME.pack(READY, 0, len(data)) + data)
out.flush()
for request in map(json.loads, sys.stdin):
    if request["text"] == "hello":
        time.sleep(600)
    out.write(FRAME.pack(DONE, request["id"], 0))
    out.flush()
"""


def test_a_process_that_hangs_is_started_anew(vits: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(bridge.__file__).parent.parent))
    voice = QueuedVoice(SherpaVoice(read_voice_folder(vits), script(tmp_path, HANGS)))
    try:
        with monkeypatch.context() as patch:
            patch.setattr(sherpa, "PATIENCE_S", 0.01)
            with pytest.raises(SpeechFailed, match="the process of the voice ended with code"):
                say(voice, "hello")
        assert say(voice, "well met") == b""
    finally:
        voice.close()


def test_closing_ends_a_process_that_hangs(vits: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(bridge.__file__).parent.parent))
    stuck = QueuedVoice(SherpaVoice(read_voice_folder(vits), script(tmp_path, HANGS)))

    async def cut_off() -> None:
        speech = asyncio.ensure_future(pieces(stuck, "hello"))
        while not stuck.load().running:  # noqa: ASYNC110 # another thread does the work
            await asyncio.sleep(0.005)
        await asyncio.wait_for(asyncio.get_running_loop().run_in_executor(None, stuck.close), TIMEOUT_S)
        with pytest.raises(SpeechFailed):
            await speech

    asyncio.run(cut_off())


def test_what_the_library_prints_is_not_taken_for_sound(
    vits: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The library is a stand-in here, which prints to standard output as the real one does now and then."""
    stand_in = """
import os
from types import SimpleNamespace
class Config:
    def __init__(self, **options): pass
    def validate(self): return True
OfflineTtsVitsModelConfig = OfflineTtsModelConfig = OfflineTtsConfig = Config
class OfflineTts:
    sample_rate, num_speakers = 16000, 3
    def __init__(self, config): os.write(1, b"loaded!")
    def generate(self, text, sid, speed, callback):
        os.write(1, b"speaking!")
        callback([0.5] * 10, 0.5)
        return SimpleNamespace(samples=[0.5] * 16)
"""
    (tmp_path / "sherpa_onnx.py").write_text(stand_in, encoding="utf-8")
    places = [str(tmp_path), str(Path(bridge.__file__).parent.parent)]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(places))
    with loaded(vits) as voice:
        assert [len(piece) for piece in asyncio.run(pieces(voice, "hello"))] == [20, 12]


def test_closing_while_it_speaks_is_quick(vits: Path) -> None:
    async def cut_off(voice: QueuedVoice) -> None:
        speech = voice.speak("hello there. " * 4000)
        await speech.__anext__()
        began = time.monotonic()
        await asyncio.get_running_loop().run_in_executor(None, voice.close)
        assert time.monotonic() - began < 5
        with pytest.raises(SpeechFailed):
            async for _ in speech:
                pass

    asyncio.run(cut_off(load(vits)))


def test_a_process_that_dies_while_it_speaks_is_started_anew(tmp_path: Path) -> None:
    """More sounds in a sentence than a Kokoro voice has room for end the process: the library calls exit."""
    with loaded(make_kokoro(tmp_path / "kokoro", most=16)) as voice:
        first = say(voice, "hello")
        with pytest.raises(SpeechFailed, match=r"the process of the voice ended with code -?\d+; it is started anew"):
            say(voice, "hello there well met traveller what brings you here")
        assert say(voice, "hello") == first


@pytest.mark.thorough
def test_a_process_that_is_killed_is_started_anew(vits: Path) -> None:
    with loaded(vits) as voice:
        first = say(voice, "hello")
        newest = max(children(), key=lambda child: (child.create_time(), child.pid))
        newest.kill()
        newest.wait(TIMEOUT_S)
        assert say(voice, "hello") == first


@pytest.mark.thorough
def test_a_voice_whose_folder_went_away_fails_with_its_next_text(own: Path) -> None:
    with loaded(own) as voice:
        newest = max(children(), key=lambda child: (child.create_time(), child.pid))
        newest.kill()
        newest.wait(TIMEOUT_S)
        shutil.rmtree(own)
        with pytest.raises(SpeechFailed, match="sherpa-onnx cannot load the Piper or VITS voice"):
            say(voice, "hello")


@pytest.mark.thorough
def test_memory_stays_flat_over_many_texts(voice: QueuedVoice) -> None:
    (process,) = children()

    async def grown() -> int:
        for _ in range(200):
            await pieces(voice, "hello there. well met traveller.")
        return int(process.memory_info().rss)

    settled = asyncio.run(grown())
    assert asyncio.run(grown()) - settled < 8 * 2**20


# ---- folders


def spoil(name: str, content: bytes | None) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        if content is None:
            (folder / name).unlink()
        else:
            (folder / name).write_bytes(content)

    return change


def remake(**about: object) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        make_vits(folder, speakers=3, **about)

    return change


def without(*names: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        import onnx

        model = onnx.load(str(folder / "en_US-tiny.onnx"))
        kept = [item for item in model.metadata_props if item.key not in names]
        del model.metadata_props[:]
        model.metadata_props.extend(kept)
        onnx.save(model, str(folder / "en_US-tiny.onnx"))

    return change


def both(*changes: Callable[[Path], None]) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        for one in changes:
            one(folder)

    return change


def espeak_only(folder: Path) -> None:
    (folder / "lexicon.txt").unlink()
    (folder / "espeak-ng-data").mkdir()
    (folder / "espeak-ng-data" / "phontab").write_bytes(b"x")


def second_model(folder: Path) -> None:
    shutil.copy(folder / MODEL, folder / "other.onnx")


MODEL = "en_US-tiny.onnx"
BROKEN: dict[str, tuple[Callable[[Path], None], type[ParleyError], str]] = {
    "no model": (spoil(MODEL, None), ModelLoadFailed, "holds no voice: no file in it ends with .onnx"),
    "no tokens": (
        spoil("tokens.txt", None),
        ModelLoadFailed,
        "looks like a Piper or VITS voice, but tokens.txt is missing, the list of the model's sounds: fetch the whole",
    ),
    "no lexicon": (spoil("lexicon.txt", None), ModelLoadFailed, "but lexicon.txt is missing, which tells how words"),
    "espeak only": (
        espeak_only,
        ModelLoadFailed,
        "espeak-ng-data is not used any more: take the voice with its lexicon",
    ),
    "empty tokens": (spoil("tokens.txt", b"\n"), ModelCorrupt, "tokens.txt is empty"),
    "tokens of bytes": (spoil("tokens.txt", b"\xff\xfe\x00"), ModelCorrupt, "is no text that can be read"),
    "tokens without numbers": (spoil("tokens.txt", b"a 1\nb\n"), ModelCorrupt, "line 2: a token and its number must"),
    "empty model": (spoil(MODEL, b""), ModelCorrupt, "is no ONNX model: it holds no network"),
    "a page": (spoil(MODEL, b"<!doctype html><html>" * 9), ModelCorrupt, "it is a page of a web site"),
    "a pointer": (spoil(MODEL, b"version https://git-lfs.github.com/spec/v1\n"), ModelCorrupt, "a pointer of Git LFS"),
    "an entry that is longer than any file": (
        spoil(MODEL, b"\x72\x0c\x0a" + b"\xff" * 9 + b"\x01a" + b"\x3a\x01g"),
        ModelCorrupt,
        "is no ONNX model",
    ),
    "noise": (spoil(MODEL, b"\x00\x01\x02" * 500), ModelCorrupt, "is no ONNX model"),
    "no rate": (
        without("sample_rate"),
        ModelLoadFailed,
        "does not tell its sample_rate: take a voice that was made for",
    ),
    "as Piper has it": (
        both(without("sample_rate", "comment"), spoil(MODEL + ".json", b"{}")),
        ModelLoadFailed,
        "does not tell its sample_rate, comment: it is a Piper voice as Piper takes it",
    ),
    "odd rate": (remake(sample_rate="fast"), ModelCorrupt, "its sample_rate is 'fast', not a number from 1000 to"),
    "odd speakers": (remake(n_speakers=-4), ModelCorrupt, "its n_speakers is '-4', not a number from 0 to"),
    "two models": (
        second_model,
        ModelLoadFailed,
        "holds more than one model (en_US-tiny.onnx, other.onnx); let the catalog's path name one of them",
    ),
    "another kind": (remake(model_type="kitten-tts"), ModelLoadFailed, "is a voice of the kind kitten-tts"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_folder_that_is_not_whole_says_what_is_wrong(own: Path, case: str) -> None:
    change, kind, said = BROKEN[case]
    change(own)
    with pytest.raises(kind) as caught:
        load(own)
    assert type(caught.value) is kind
    assert said in str(caught.value)
    assert str(own) in str(caught.value)
    (fault,) = faults_of(entry_of(own), Settings())
    assert said in fault


@pytest.mark.parametrize(
    ("make", "name", "said"),
    [
        (
            make_kokoro,
            "voices.bin",
            "looks like a Kokoro voice, but voices.bin is missing, what the speakers sound like",
        ),
        (make_kokoro, "lexicon-us-en.txt", "looks like a Kokoro voice, but lexicon.txt is missing"),
        (make_matcha, "hifigan_v2.onnx", "looks like a Matcha voice, but its vocoder is missing, a second .onnx file"),
        (make_matcha, "model-steps-3.onnx", "holds only a vocoder; a Matcha voice needs its acoustic model too"),
        (make_matcha, "tokens.txt", "looks like a Matcha voice, but tokens.txt is missing"),
    ],
)
def test_of_other_kinds_too(tmp_path: Path, make: Callable[[Path], Path], name: str, said: str) -> None:
    folder = make(tmp_path / "voice")
    (folder / name).unlink()
    with pytest.raises(ModelLoadFailed) as caught:
        load(folder)
    assert said in str(caught.value)


def test_speakers_of_kokoro_that_are_cut_short(tmp_path: Path) -> None:
    folder = make_kokoro(tmp_path / "voice")
    (folder / "voices.bin").write_bytes(b"\0" * 400)
    with pytest.raises(
        ModelCorrupt, match=r"voices.bin has 400 bytes; for 2 speakers it must have \d+: fetch it again"
    ):
        load(folder)


def test_a_model_that_is_cut_short(own: Path) -> None:
    whole = (own / MODEL).read_bytes()
    for size in range(1, whole.index(b"sample_rate"), 97):
        (own / MODEL).write_bytes(whole[:size])
        with pytest.raises((ModelCorrupt, ModelLoadFailed)):
            read_voice_folder(own)


def test_a_network_that_the_library_dies_of_ends_its_own_process_only(own: Path) -> None:
    """All that can be seen from outside is right; what is inside is not."""
    import onnx

    model = onnx.load(str(own / MODEL))
    model.graph.node[-1].op_type = "NoSuchThing"
    onnx.save(model, str(own / MODEL))
    with pytest.raises(ModelLoadFailed, match=r"sherpa-onnx cannot load the Piper or VITS voice .*NoSuchThing"):
        load(own)


@pytest.mark.thorough
def test_a_lexicon_that_is_noise_ends_nothing(own: Path) -> None:
    (own / "lexicon.txt").write_bytes(bytes(range(256)) * 40)
    with contextlib.suppress(ModelLoadFailed), loaded(own) as voice:
        assert say(voice, "hello") == b""


def test_a_process_that_says_nothing_is_a_failure(vits: Path) -> None:
    folder = read_voice_folder(vits)
    silent = [sys.executable, "-c", "import sys; sys.stdin.readline(); print('why', file=sys.stderr); sys.exit(3)"]
    with pytest.raises(ModelLoadFailed, match=r"its process ended with code 3: why$"):
        SherpaVoice(folder, silent)
    noisy = [sys.executable, "-c", "print('hello to everybody who reads this')"]
    with pytest.raises(ModelLoadFailed, match="its process ended with code"):
        SherpaVoice(folder, noisy)


def test_the_metadata_of_a_model_without_its_library(vits: Path) -> None:
    about = read_onnx_metadata(vits / MODEL)
    assert about == {key: str(value) for key, value in tiny_voice.vits_about(3).items()}


def test_espeak_is_handed_to_a_library_that_knows_it(own: Path) -> None:
    espeak_only(own)
    assert read_voice_folder(own, knows_espeak=True).data == own / "espeak-ng-data"
    assert read_voice_folder(own, knows_espeak=True).lexicons == ()


# ---- the catalog


def test_what_is_on_disk(vits: Path, tmp_path: Path) -> None:
    sizes = sum(path.stat().st_size for path in vits.iterdir())
    assert disk_status(entry_of(vits), Settings()) == ("Local", sizes)
    assert disk_status(entry_of(tmp_path / "none"), Settings()) == ("Absent", 0)
    listed = {"path": str(vits), "files": ["tokens.txt", MODEL]}
    entry = CatalogEntry.model_validate({"name": "v", "type": "tts", "engine": "sherpa-onnx", "source": listed})
    assert locate(entry, Settings(), lambda *_: None) == vits
    named = entry_of(vits / MODEL)
    assert locate(named, Settings(), lambda *_: None) == vits / MODEL
    assert faults_of(named, Settings()) == faults_of(entry, Settings()) == faults_of(entry_of(vits), Settings()) == []
    assert faults_of(entry_of(tmp_path / "none"), Settings()) == [f"{tmp_path / 'none'} is not there"]


def flow(voice: str) -> dict[str, Any]:
    node = {"name": "talk", "type": "GenerateAndSpeak", "voice": voice}
    return {"version": 1, "start_node": "talk", "default_model": "echo", "nodes": [node]}


def test_a_turn_is_heard(vits: Path) -> None:
    async def scenario() -> None:
        async with talking(entry_of(vits)) as talk:
            agent = await talk.agent(flow("tiny"))
            heard = await talk.say(agent, "Hello there.")
            assert heard.text("talk") == "Hello there."
            sound = b"".join(
                bytes(frame.payload or b"") for frame in heard.frames if isinstance(frame.message, AudioChunk)
            )
            assert len(sound) > 10 * SOUND_BYTES
            (told,) = [message for message in heard.messages if isinstance(message, AudioFormat)]
            assert told.sample_rate == SAMPLE_RATE

    asyncio.run(scenario())


def test_a_voice_that_cannot_be_loaded_costs_the_sound_only(own: Path) -> None:
    async def scenario() -> None:
        (own / "tokens.txt").unlink()
        async with talking(entry_of(own)) as talk:
            agent = await talk.agent(flow("tiny"))
            everything = talk.client.subscribe()
            for _ in range(2):
                heard = await talk.say(agent, "Hello there.")
                assert heard.text("talk") == "Hello there."
                assert heard.complete.status == "Success"
                assert [message for message in heard.messages if isinstance(message, AudioChunk)] == []
            everything.close()
            ((code, message, node),) = warnings_of([frame async for frame in everything])
            assert (code, node) == (SpeechFailed.code, "talk")
            assert "looks like a Piper or VITS voice, but tokens.txt is missing" in message

    asyncio.run(scenario())

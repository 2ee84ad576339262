"""`parley say`: a voice says a text, into a file or aloud; and the flags with which a chat is heard."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bridge.cli_shared import EXIT_FAILED, EXIT_USAGE, catalog_of, fail, guard, plain, settings_of

if TYPE_CHECKING:
    from bridge.catalog import Catalog
    from bridge.engine import SpeechModel
    from bridge.voice_player import Player

Speak = Annotated[bool, typer.Option("--speak", help="Play what voices say.")]
Record = Annotated[
    Path | None,
    typer.Option(
        "--record",
        metavar="FOLDER",
        help="Write what voices say into this folder, a WAV file for each step that speaks.",
        show_default=False,
    ),
]
AnyVoice = Annotated[
    str,
    typer.Option(
        "--voice",
        metavar="NAME",
        help="A catalog voice to use instead of the workflow's; where it has none, its Generate nodes speak with it.",
    ),
]
ConfigFile = Annotated[Path | None, typer.Option("--config", help="A parley.toml file.", show_default=False)]

AHEAD_S = 10.0
"""So much sound waits to be heard while more is made."""
MIN_SENTENCE_CHARS = 12
"""As nodes have it that say nothing else."""
_MOST_BYTES = 4 * 2**20
_SHOWN_SPEAKERS = 20

_Take = Callable[[bytes], Awaitable[None]]


@dataclass(slots=True)
class _Said:
    """What became of a text."""

    sound_s: float = 0.0
    making_s: float = 0.0
    first_sound_s: float | None = None

    def __str__(self) -> str:
        return (
            f"{self.sound_s:.2f} s of sound, made in {self.making_s:.2f} s (real-time factor "
            f"{self.making_s / self.sound_s:.3f}), the first after {(self.first_sound_s or 0) * 1000:.0f} ms"
        )


def say(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What is said; - reads stdin.", show_default=False)],
    voice: Annotated[str, typer.Option("--voice", metavar="NAME", help="A voice of the catalog.")] = "starter-voice",
    speaker: Annotated[
        str, typer.Option("--speaker", metavar="SPEAKER", help="Which of the voice's speakers: its number or name.")
    ] = "0",
    speed: Annotated[float, typer.Option(help="2 is twice as fast.", min=0.1, max=3)] = 1.0,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write it to this WAV file; one that is there is replaced.", show_default=False
        ),
    ] = None,
    play: Annotated[bool, typer.Option("--play", help="Play it.")] = False,
    config: ConfigFile = None,
) -> None:
    """Let a voice say a text, sentence by sentence, as nodes do."""
    if (out is None) != play:
        fail("say where the sound goes: either --out FILE.wav or --play", EXIT_USAGE)
    settings = settings_of(config)
    catalog = catalog_of(settings)
    _check_voice(catalog, voice)
    sentences = _sentences(_stdin() if text == "-" else text)
    if out is not None:
        _check_target(out)
    from bridge.models import ModelStore
    from bridge.voice_player import CannotPlay
    from bridge.voice_recording import CannotRecord

    async def work() -> _Said:
        store = ModelStore(settings, catalog)
        try:
            with _player(play) as player:
                engine = (await store.acquire_speech(voice, lambda task, done, total, unit: None)).engine
                speaker_id = _speaker_id(voice, engine, speaker)
                if player is not None:
                    return await _say_aloud(engine, sentences, speaker_id, speed, player)
                assert out is not None
                return await _say_to_file(engine, sentences, speaker_id, speed, out)
        finally:
            await store.close()

    try:
        said = guard(lambda: asyncio.run(work()))
    except (CannotPlay, CannotRecord) as fault:
        fail(str(fault), EXIT_FAILED)
    print(plain(f"{out}: {said}" if out else str(said)))


# ---- helpers -------------------------------------------------------------------------------------------------


async def _say(voice: SpeechModel, sentences: list[str], speaker_id: int, speed: float, take: _Take) -> _Said:
    from bridge.errors import SpeechFailed

    said = _Said()
    mark = time.perf_counter()
    for words in sentences:
        async with contextlib.aclosing(voice.speak(words, speaker_id=speaker_id, speed=speed)) as pieces:
            async for piece in pieces:
                said.making_s += time.perf_counter() - mark
                if said.first_sound_s is None:
                    said.first_sound_s = said.making_s
                said.sound_s += len(piece) / 2 / voice.sample_rate
                await take(piece)
                mark = time.perf_counter()
        said.making_s += time.perf_counter() - mark
        mark = time.perf_counter()
    if not said.sound_s:
        raise SpeechFailed("the voice made no sound of this text")
    return said


async def _say_to_file(voice: SpeechModel, sentences: list[str], speaker_id: int, speed: float, out: Path) -> _Said:
    from bridge.files import written_atomically
    from bridge.voice_recording import CannotRecord, WavWriter

    try:
        with written_atomically(out) as file:
            wav = WavWriter(file, voice.sample_rate)

            async def take(piece: bytes) -> None:
                wav.write(piece)

            return await _say(voice, sentences, speaker_id, speed, take)
    except OSError as fault:
        raise CannotRecord(f"cannot write {out}: {fault.strerror or fault}") from None


async def _say_aloud(voice: SpeechModel, sentences: list[str], speaker_id: int, speed: float, player: Player) -> _Said:
    from bridge.voice_player import CannotPlay

    line = player.begin(voice.sample_rate)

    async def take(piece: bytes) -> None:
        player.put(line, piece)
        if player.fault:
            raise CannotPlay(player.fault)
        await asyncio.to_thread(player.wait_for_room, AHEAD_S)

    said = await _say(voice, sentences, speaker_id, speed, take)
    player.end(line)
    await player.heard()
    if player.fault:
        raise CannotPlay(player.fault)
    return said


@contextmanager
def _player(wanted: bool) -> Iterator[Player | None]:
    """A player that is silent at the end, however that comes."""
    from bridge import voice_player

    player = voice_player.Player(voice_player.Speakers()) if wanted else None
    try:
        yield player
    finally:
        if player is not None:
            player.close()


def _check_voice(catalog: Catalog, name: str) -> None:
    voices = [entry.name for entry in catalog.values() if entry.type == "tts"]
    if name in voices:
        return
    there = f"the catalog has the voices {', '.join(voices)}" if voices else "the catalog has no voice"
    what = f"'{name}' is a model of type {catalog[name].type}" if name in catalog else f"there is no voice '{name}'"
    fail(f"{what}; {there}", EXIT_USAGE)


def _speaker_id(voice: str, engine: SpeechModel, wanted: str) -> int:
    """Which speaker a number or a name means. Raises InvalidValue."""
    from bridge.errors import InvalidValue

    names = list(engine.speakers)
    digits = wanted.lstrip("0")[:9] or "0"
    if wanted.isascii() and wanted.isdigit() and int(digits) < len(names):
        return int(digits)
    exact = [name for name in names if name == wanted] or [n for n in names if n.casefold() == wanted.casefold()]
    if exact:
        return names.index(exact[0])
    shown = ", ".join(f"{number} {name}" for number, name in enumerate(names[:_SHOWN_SPEAKERS]))
    more = f" and {len(names) - _SHOWN_SPEAKERS} more" if len(names) > _SHOWN_SPEAKERS else ""
    raise InvalidValue(f"the voice '{voice}' has no speaker '{wanted}'; it has {shown}{more}")


def _sentences(text: str) -> list[str]:
    """What is said, sentence by sentence."""
    from bridge.sentences import SentenceSplitter
    from bridge.spoken import Spoken

    if not text.strip():
        fail("there is nothing to say: the text is empty", EXIT_USAGE)
    splitter, spoken = SentenceSplitter(MIN_SENTENCE_CHARS), Spoken(speak_actions=False)
    found = [spoken.of(sentence) for sentence in [*splitter.feed(text), *splitter.finish()]]
    said = [words for words in found if words]
    if not said:
        shown = " ".join(text.split())
        fail(f"there is nothing in it that a voice could say: {shown[:60]}{'…' if len(shown) > 60 else ''}", EXIT_USAGE)
    return said


def _stdin() -> str:
    data = sys.stdin.buffer.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        fail("a text from stdin has at most 4 MiB", EXIT_USAGE)
    try:
        return data.removeprefix(b"\xef\xbb\xbf").decode("utf-8")
    except UnicodeDecodeError as fault:
        fail(f"stdin is not UTF-8: byte {fault.start} is wrong", EXIT_USAGE)


def _check_target(out: Path) -> None:
    """Only a WAV is replaced, never what somebody named by mistake."""
    try:
        if out.is_dir():
            fail(f"{out} is a folder; name a file in it", EXIT_USAGE)
        if not out.parent.is_dir():
            fail(f"there is no folder {out.parent}", EXIT_USAGE)
        if not out.exists() and out.suffix.casefold() not in ("", ".wav"):
            fail(f"{out} would be a WAV file; give it a name that ends in .wav", EXIT_USAGE)
        if not out.exists():
            return
        if not out.is_file():
            fail(f"{out} is no regular file", EXIT_USAGE)
        with out.open("rb") as file:
            start = file.read(12)
    except OSError as fault:
        fail(f"cannot write {out}: {fault.strerror or fault}", EXIT_FAILED)
    if start and not (start[:4] == b"RIFF" and start[8:] == b"WAVE"):
        fail(f"{out} is there and no WAV file; name another", EXIT_USAGE)

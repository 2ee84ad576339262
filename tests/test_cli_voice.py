"""`parley say`, and chats that are heard or recorded: exact lengths, odd names, disks and devices that fail, Ctrl-C."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import json
import os
import signal
import subprocess
import sys
import wave
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, cast

import pytest
from typer.testing import CliRunner

import bridge.chat
import bridge.voice_player
from bridge import protocol
from bridge.catalog import read_catalog
from bridge.chat import Chat, ChatOptions, read_workflow, run_chat
from bridge.chat_keyboard import Keyboard
from bridge.chat_screen import Screen
from bridge.chat_voice import Hearing, has_voice, lend_voice
from bridge.cli import app
from bridge.client import ParleyClient
from bridge.codec import Envelope
from bridge.voice_player import CannotPlay, Player
from bridge.voice_recording import CannotRecord, Recorder, WavWriter
from tests.fake_sink import FakeSink
from tests.test_chat import FakeClient, talk

ROOT = Path(__file__).resolve().parent.parent
VOICES = ", ".join(name for name, entry in read_catalog().items() if entry.type == "tts")
LETTER = 960
"""Samples that the mock voice makes of a letter."""

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="sends POSIX signals")


@pytest.fixture(autouse=True)
def plain_surroundings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No settings of whoever runs the tests."""
    for key in list(os.environ):
        if key.startswith("PARLEY_"):
            monkeypatch.delenv(key)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.chdir(tmp_path)


def say(*arguments: object, stdin: bytes = b"") -> tuple[int, str, str]:
    """(exit code, stdout, stderr) of `parley say` with the mock voice."""
    words = ["say", *map(str, arguments)]
    if "--voice" not in words:
        words += ["--voice", "mock-voice"]
    result = CliRunner().invoke(app, words, input=stdin)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout, result.stderr


def refused(code: int, sentence: str, *arguments: object, stdin: bytes = b"") -> None:
    """It says this one sentence, and leaves with this code."""
    found = say(*arguments, stdin=stdin)
    assert found == (code, "", f"parley: {sentence}\n")


def frames_of(file: Path) -> int:
    """Samples of a WAV file, which must be whole."""
    with wave.open(str(file)) as wav:
        assert (wav.getnchannels(), wav.getsampwidth(), wav.getcomptype()) == (1, 2, "NONE")
        frames = int(wav.getnframes())
        assert len(wav.readframes(frames + 1)) == 2 * frames == file.stat().st_size - 44
    return frames


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def catalog(folder: Path, **mock: Any) -> Path:
    """Settings with a voice `odd` of these options."""
    models = folder / "models.json"
    models.write_text(
        json.dumps({"models": [{"name": "odd", "type": "tts", "engine": "mock", "mock": mock}]}), encoding="utf-8"
    )
    settings = folder / "parley-odd.toml"
    settings.write_text(f"catalog = {json.dumps(str(models))}\n", encoding="utf-8")
    return settings


def no_space(after: int) -> Callable[[WavWriter, bytes], None]:
    """`WavWriter.write` on a disk that is full after so many pieces."""
    write, count = WavWriter.write, 0

    def full(self: WavWriter, sound: bytes) -> None:
        nonlocal count
        count += 1
        if count > after:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        write(self, sound)

    return full


# ---- parley say ----------------------------------------------------------------------------------------------


def test_every_sentence_is_said_and_what_only_stands_there_is_not(tmp_path: Path) -> None:
    out = tmp_path / "a.wav"
    code, told, err = say("Good evening. *She waves.* There is stew! 🙂", "--out", out)
    assert (code, err) == (0, "")
    assert frames_of(out) == LETTER * (len("Good evening.") + len("There is stew!"))
    assert told.startswith(f"{out}: 1.62 s of sound, made in ") and "real-time factor 0." in told
    assert names(tmp_path) == ["a.wav"]


@pytest.mark.parametrize("name", ["ä ö.wav", "酒場 one two.wav", "no ending", "[1].WAV"])
def test_files_of_any_name(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "Ünï 酒場"
    folder.mkdir()
    assert say("Hello there.", "--out", folder / name)[0] == 0
    assert frames_of(folder / name) == 12 * LETTER
    assert names(folder) == [name]


def test_speed_and_speakers(tmp_path: Path) -> None:
    files = [tmp_path / f"{index}.wav" for index in range(6)]
    assert say("Hello there.", "--speed", "2", "--out", files[0])[0] == 0
    assert frames_of(files[0]) == 6 * LETTER
    for speaker, file in zip(("1", "middle", "Middle", "0" * 5_000 + "1", "2"), files[1:], strict=True):
        assert say("Hello there.", "--speaker", speaker, "--out", file)[0] == 0
    sounds = [file.read_bytes() for file in files[1:]]
    assert sounds[0] == sounds[1] == sounds[2] == sounds[3] != sounds[4]


def test_a_text_from_stdin(tmp_path: Path) -> None:
    out = tmp_path / "a.wav"
    assert say("-", "--out", out, stdin="\ufeffEs läutet.\n".encode())[0] == 0
    assert frames_of(out) == 10 * LETTER
    refused(2, "stdin is not UTF-8: byte 1 is wrong", "-", "--out", out, stdin=b"a\xff")
    refused(2, "there is nothing to say: the text is empty", "-", "--out", out)


def test_a_wav_that_is_there_is_replaced_and_nothing_else(tmp_path: Path) -> None:
    out, game = tmp_path / "a.wav", tmp_path / "inn.workflow.json"
    assert say("Hello there.", "--out", out)[0] == 0
    assert say("Hi there.", "--out", out)[0] == 0
    assert frames_of(out) == 9 * LETTER
    game.write_text("{}", encoding="utf-8")
    refused(2, f"{game} is there and no WAV file; name another", "Hi there.", "--out", game)
    assert game.read_text(encoding="utf-8") == "{}"


@pytest.mark.parametrize(
    ("sentence", "arguments"),
    [
        ("say where the sound goes: either --out FILE.wav or --play", ["Hi."]),
        ("say where the sound goes: either --out FILE.wav or --play", ["Hi.", "--play", "--out", "a.wav"]),
        ("there is nothing to say: the text is empty", [" \n", "--out", "a.wav"]),
        ("there is nothing in it that a voice could say: 🙂 *waves*", ["🙂 *waves*", "--out", "a.wav"]),
        (
            f"there is no voice 'nobody'; the catalog has the voices {VOICES}",
            ["Hi.", "--voice", "nobody", "--out", "a.wav"],
        ),
        (
            f"'mock-echo' is a model of type language; the catalog has the voices {VOICES}",
            ["Hi.", "--voice", "mock-echo", "--out", "a.wav"],
        ),
        (
            "the voice 'mock-voice' has no speaker '3'; it has 0 low, 1 middle, 2 high",
            ["Hi.", "--speaker", "3", "--out", "a.wav"],
        ),
        (
            "the voice 'mock-voice' has no speaker '0000000005'; it has 0 low, 1 middle, 2 high",
            ["Hi.", "--speaker", "0000000005", "--out", "a.wav"],
        ),
        (
            "the voice 'mock-voice' has no speaker '-1'; it has 0 low, 1 middle, 2 high",
            ["Hi.", "--speaker", "-1", "--out", "a.wav"],
        ),
        ("there is no folder no", ["Hi.", "--out", os.path.join("no", "a.wav")]),
        (". is a folder; name a file in it", ["Hi.", "--out", "."]),
        ("a.mp3 would be a WAV file; give it a name that ends in .wav", ["Hi.", "--out", "a.mp3"]),
    ],
)
def test_what_was_asked_wrongly_is_one_sentence(sentence: str, arguments: list[str], tmp_path: Path) -> None:
    refused(2, sentence, *arguments)
    assert names(tmp_path) == []


@posix_only
def test_what_is_no_regular_file_is_left_alone(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    refused(2, "pipe is no regular file", "Hi.", "--out", "pipe")
    refused(2, f"{os.devnull} is no regular file", "Hi.", "--out", os.devnull)


def test_a_voice_whose_package_is_not_installed_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "hibari", None)
    code, out, err = say("Hi.", "--voice", "starter-voice", "--out", "a.wav")
    assert (code != 0, out) == (True, "")
    assert 'pip install "parley-bridge[voice]"' in err and len(err.splitlines()) == 1
    assert not Path("a.wav").exists()


def test_a_disk_that_is_full_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "a.wav"
    assert say("Hi there.", "--out", out)[0] == 0
    monkeypatch.setattr(WavWriter, "write", no_space(after=1))
    refused(1, f"cannot write {out}: {os.strerror(errno.ENOSPC)}", "Good evening to you all.", "--out", out)
    assert frames_of(out) == 9 * LETTER
    assert names(tmp_path) == ["a.wav"]


def test_a_voice_that_fails_leaves_the_old_file(tmp_path: Path) -> None:
    settings, out = catalog(tmp_path, fail_on="stew"), tmp_path / "a.wav"
    assert say("Hi there.", "--out", out)[0] == 0
    code, told, err = say("Good evening. There is stew.", "--voice", "odd", "--config", settings, "--out", out)
    assert (code, told) == (1, "")
    assert "the mock voice fails at 'stew'" in err and len(err.splitlines()) == 1
    assert frames_of(out) == 9 * LETTER
    assert "a.wav" in names(tmp_path) and not list(tmp_path.glob(".parley-*"))


@posix_only
def test_ctrl_c_amid_a_sentence_leaves_nothing(tmp_path: Path) -> None:
    settings, folder = catalog(tmp_path, real_time_factor=0.5), tmp_path / "out"
    folder.mkdir()
    words = ["say", "word " * 1000, "--voice", "odd", "--config", str(settings), "--out", str(folder / "a.wav")]
    with subprocess.Popen(
        [sys.executable, "-m", "bridge", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        while not any(path.stat().st_size > 44 for path in folder.glob(".parley-*")):
            with contextlib.suppress(subprocess.TimeoutExpired):
                pytest.fail(f"it ended with {process.wait(0.01)}")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (130, b"", b"")
    assert names(folder) == []


# ---- parley say --play ---------------------------------------------------------------------------------------


def test_playing_waits_until_all_is_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    sink = FakeSink()
    monkeypatch.setattr(bridge.voice_player, "Speakers", lambda: sink)
    code, told, err = say("Good evening. There is stew!", "--play")
    assert (code, err) == (0, "")
    assert told.startswith("1.62 s of sound, made in ")
    assert len(sink.sound) == 2 * LETTER * 27
    assert sink.done[-2:] == ["rest", "close"]


def test_a_device_that_fails_amid_a_sentence_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    sink = FakeSink(fail_at=3)
    monkeypatch.setattr(bridge.voice_player, "Speakers", lambda: sink)
    refused(1, "the sound output failed: unplugged", "Good evening. There is stew!", "--play")
    assert sink.done[-1] == "close"


def no_device() -> FakeSink:
    raise CannotPlay("this machine has no sound output")


def test_where_nothing_can_be_played_it_is_said_before_a_voice_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bridge.voice_player, "Speakers", no_device)
    monkeypatch.setitem(sys.modules, "hibari", None)
    refused(1, "this machine has no sound output", "Hi.", "--voice", "starter-voice", "--play")


# ---- WAV files -----------------------------------------------------------------------------------------------


def test_a_wav_is_whole_after_every_piece(tmp_path: Path) -> None:
    file = tmp_path / "a.wav"
    with file.open("wb") as out:
        wav = WavWriter(out, 24_000)
        for count in range(1, 4):
            wav.write(b"\x01\x02" * 10)
            assert frames_of(file) == 10 * count
    with wave.open(str(file)) as read:
        assert read.getframerate() == 24_000
        assert read.readframes(1) == b"\x01\x02"


def recorder(folder: Path, turns: int = 1) -> Recorder:
    made = Recorder(folder)
    for _ in range(turns):
        made.begin_turn()
    return made


def test_every_step_has_a_file_of_its_own_and_no_earlier_one_is_replaced(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b ö"
    for _ in range(2):
        made = recorder(folder)
        made.begin(2, "mira", 1000)
        made.begin(3, "bram", 2000)
        made.write(3, b"bb")
        made.write(2, b"aaaa")
        made.end(2)
        made.write(2, b"late")
        made.begin_turn()
        made.begin(2, "mira", 1000)
        made.write(2, b"cc")
        made.end_turn()
        made.end_turn()
    assert names(folder) == [
        *("turn001-step02-mira.wav", "turn001-step03-bram.wav", "turn002-step02-mira.wav"),
        *("turn003-step02-mira.wav", "turn003-step03-bram.wav", "turn004-step02-mira.wav"),
    ]
    assert [frames_of(folder / name) for name in names(folder)] == [2, 1, 1] * 2


def test_two_that_record_into_one_folder_do_not_meet(tmp_path: Path) -> None:
    for made in (recorder(tmp_path), recorder(tmp_path), recorder(tmp_path, turns=0)):
        made._turn = 1
        made.begin(1, "mira", 1000)
        made.write(1, b"aa")
        made.end_turn()
    assert names(tmp_path) == ["turn001-step01-mira 2.wav", "turn001-step01-mira 3.wav", "turn001-step01-mira.wav"]


@pytest.mark.parametrize(
    ("node", "name"),
    [("Mira_2", "Mira_2"), ("../a\\b:c*?", "___a_b_c__"), ("Zoë", "Zoë"), ("酒" * 100, "酒" * 26), ("", "_")],
)
def test_any_name_of_a_node_is_one_of_a_file(node: str, name: str, tmp_path: Path) -> None:
    made = recorder(tmp_path / "out")
    made.begin(1, node, 1000)
    made.end_turn()
    assert names(tmp_path) == ["out"]
    assert names(tmp_path / "out") == [f"turn001-step01-{name}.wav"]


def test_a_folder_that_cannot_be_one_is_told_at_once(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(CannotRecord, match=r"cannot write to the folder .*file"):
        Recorder(tmp_path / "file")
    with pytest.raises(CannotRecord, match=r"cannot write to the folder .*below"):
        Recorder(tmp_path / "file" / "below")


def test_a_folder_into_which_nothing_can_be_written_is_told_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(**how: object) -> BinaryIO:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr("bridge.voice_recording.tempfile.TemporaryFile", refuse)
    with pytest.raises(CannotRecord, match=os.strerror(errno.EACCES)):
        Recorder(tmp_path)


# ---- what a chat does with sound -----------------------------------------------------------------------------


def sound_format(step: int, node: str, turn: int = 1, rate: int = 1000) -> Envelope:
    frame = protocol.AudioFormat(agent_id="a", turn_id=turn, node_name=node, step=step, sample_rate=rate)
    return Envelope(frame, 0, 1)


def chunk(step: int, index: int, sound: bytes, *, turn: int = 1, final: bool = False) -> Envelope:
    frame = protocol.AudioChunk(
        agent_id="a", turn_id=turn, node_name="m", step=step, sentence=0, index=index, is_final=final
    )
    return Envelope(frame, 0, 1, sound or None)


def complete(status: protocol.TurnStatus = "Success") -> Envelope:
    return Envelope(protocol.TurnComplete(agent_id="a", turn_id=1, status=status), 0, 1)


def heard(hearing: Hearing, *frames: Envelope) -> None:
    for frame in frames:
        hearing.take(frame)


def test_what_comes_of_a_turn_is_played_and_recorded(tmp_path: Path) -> None:
    sink = FakeSink()
    player = Player(sink, lead_ms=0)
    hearing = Hearing(player, Recorder(tmp_path))
    hearing.begin_turn()
    heard(
        hearing,
        *(sound_format(1, "mira"), chunk(1, 0, b"aabb"), chunk(1, 1, b""), chunk(1, 2, b"cc", final=True)),
        *(sound_format(2, "bram", rate=2000), chunk(2, 0, b"dd"), complete()),
    )
    player.drain()
    hearing.close()
    hearing.close()
    assert (sink.sound, sink.rates[-1]) == (b"aabbccdd", 2000)
    assert {name: frames_of(tmp_path / name) for name in names(tmp_path)} == {
        "turn001-step01-mira.wav": 3,
        "turn001-step02-bram.wav": 1,
    }
    assert not hearing.failed


def test_frames_are_taken_while_the_device_stands_still() -> None:
    sink = FakeSink(gated=True)
    hearing = Hearing(Player(sink, lead_ms=0))
    hearing.begin_turn()
    heard(hearing, sound_format(1, "mira"), *(chunk(1, index, b"aa" * 500) for index in range(100)), complete())
    hearing.hush()
    sink.allow()
    hearing.close()
    assert len(sink.pieces) <= 1


@pytest.mark.parametrize("cancelled", [True, False])
def test_what_is_hushed_is_recorded_on_and_not_heard_until_the_next_turn(cancelled: bool, tmp_path: Path) -> None:
    sink = FakeSink(gated=True)
    player = Player(sink, lead_ms=0)
    hearing = Hearing(player, Recorder(tmp_path))
    hearing.begin_turn()
    heard(hearing, sound_format(1, "mira"), chunk(1, 0, b"aa" * 20))
    sink.wait_until_asked()
    hearing.hush()
    heard(hearing, chunk(1, 1, b"bb" * 20), sound_format(2, "bram"), chunk(2, 0, b"cc" * 20, final=True))
    heard(hearing, complete("Cancelled" if cancelled else "Success"))
    assert [frames_of(tmp_path / name) for name in names(tmp_path)] == [40, 20]
    sink.allow(10)
    player.drain()
    assert sink.done == [b"aa" * 20, "abort"]
    hearing.begin_turn()
    heard(hearing, sound_format(1, "mira", turn=2), chunk(1, 0, b"dd" * 20, turn=2, final=True), complete())
    player.drain()
    hearing.close()
    assert sink.done == [b"aa" * 20, "abort", b"dd" * 20, "rest", "close"]


def test_a_turn_that_was_cancelled_is_silent_at_once() -> None:
    sink = FakeSink(gated=True)
    player = Player(sink, lead_ms=0)
    hearing = Hearing(player)
    hearing.begin_turn()
    heard(hearing, sound_format(1, "mira"), chunk(1, 0, b"aa" * 2000))
    sink.wait_until_asked()
    heard(hearing, complete("Cancelled"))
    sink.allow()
    player.drain()
    hearing.close()
    assert sink.done == [b"aa" * 20, "abort", "close"]


def test_the_next_line_interrupts_whoever_still_speaks() -> None:
    sink = FakeSink(gated=True)
    player = Player(sink, lead_ms=0)
    hearing = Hearing(player)
    hearing.begin_turn()
    heard(hearing, sound_format(1, "mira"), chunk(1, 0, b"aa" * 2000, final=True), complete())
    sink.wait_until_asked()
    hearing.begin_turn()
    heard(hearing, sound_format(1, "bram", turn=2), chunk(1, 0, b"bb" * 20, turn=2, final=True), complete())
    sink.allow(10)
    player.drain()
    hearing.close()
    assert sink.done == [b"aa" * 20, "abort", b"bb" * 20, "rest", "close"]


def test_a_recording_that_fails_is_told_once_and_the_chat_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(WavWriter, "write", no_space(after=1))
    told: list[str] = []
    hearing = Hearing(None, Recorder(tmp_path), told.append)
    hearing.begin_turn()
    heard(hearing, sound_format(1, "mira"), *(chunk(1, index, b"aa") for index in range(5)), complete())
    hearing.begin_turn()
    heard(hearing, sound_format(1, "mira", turn=2), chunk(1, 0, b"aa", turn=2), complete())
    hearing.close()
    file = tmp_path / "turn001-step01-mira.wav"
    assert told == [f"the recording stops: cannot write {file}: {os.strerror(errno.ENOSPC)}"]
    assert hearing.failed
    assert names(tmp_path) == [file.name] and frames_of(file) == 1


def test_what_a_step_said_can_be_inspected(capsys: pytest.CaptureFixture[str]) -> None:
    speech = {"voice": "v", "sentences": 2, "real_time_factor": 0.0154, "first_audio_ms": 31.2, "failed": ""}
    Screen().inspect({"steps": [{"step": 1, "node_name": "mira", "type": "Speak", "speech": speech}]})
    shown = [line.split() for line in capsys.readouterr().err.splitlines()]
    assert ["speech"] in shown and ["real", "time", "factor", "0.015"] in shown and ["sentences", "2"] in shown
    assert not any("failed" in line for line in shown)


def test_a_voice_is_lent_to_those_who_have_none() -> None:
    plain: dict[str, Any] = {"nodes": [{"type": "Generate"}, {"type": "Transform"}, None, 3, {"type": 4}]}
    assert not has_voice(plain)
    lend_voice(plain, "v")
    assert plain["nodes"] == [{"type": "GenerateAndSpeak", "voice": "v"}, {"type": "Transform"}, None, 3, {"type": 4}]
    assert has_voice(plain)
    heard: dict[str, Any] = {
        "nodes": [
            {"type": "Generate"},
            {"type": "Speak", "voice": "old", "speaker_id": 4, "speed": 2},
            {"type": "GenerateAndSpeak"},
        ]
    }
    lend_voice(heard, "v")
    assert heard["nodes"] == [
        {"type": "Generate"},
        {"type": "Speak", "voice": "v", "speed": 2},
        {"type": "GenerateAndSpeak", "voice": "v"},
    ]
    for nodes in (None, 5, "text"):
        broken: dict[str, Any] = {"nodes": nodes}
        lend_voice(broken, "v")
        assert not has_voice(broken)


# ---- a conversation, with a sidecar made up ------------------------------------------------------------------


def test_ctrl_c_is_silence_before_the_sidecar_answers(tmp_path: Path) -> None:
    sink = FakeSink(gated=True)
    player = Player(sink, lead_ms=0)
    said: list[list[bytes | str]] = []

    def prepare(run: Chat, client: FakeClient) -> None:
        run._hearing = Hearing(player)

        def turn() -> None:
            run.take(sound_format(1, "mira"))
            run.take(chunk(1, 0, b"aa" * 2000))
            sink.wait_until_asked()
            run.interrupt()
            sink.allow()
            player.drain()
            said.append(list(sink.done))

        client.on_turn = turn

    assert talk(tmp_path, "slow", prepare=prepare)[1].cancels == 1
    assert said == [[b"aa" * 20, "abort"]]
    player.close()


def test_an_empty_line_at_the_prompt_is_silence(tmp_path: Path) -> None:
    """In a terminal nobody waits for the end of the sound: the prompt is there at once."""
    sink = FakeSink(gated=True)
    player = Player(sink, lead_ms=0)
    file = inn(tmp_path)
    said: list[list[bytes | str]] = []

    def keys() -> Iterator[bytes]:
        yield b"hello\n"
        sink.wait_until_asked()
        assert sink.done == []
        yield b"\n"
        sink.allow()
        player.drain()
        said.append(list(sink.done))
        yield b"/quit\n"

    async def main() -> int:
        typed, client = keys(), FakeClient()
        keyboard = Keyboard(lambda: next(typed, b""), is_terminal=True)
        run = Chat(ChatOptions(file), read_workflow(file), Screen(), keyboard)
        run._hearing = Hearing(player)
        client.on_turn = lambda: heard(run._hearing, sound_format(1, "mira"), chunk(1, 0, b"aa" * 2000, final=True))
        return await run.talk(cast(ParleyClient, client))

    assert asyncio.run(main()) == 0
    assert said == [[b"aa" * 20, "abort"]]
    player.close()


def test_lines_from_a_pipe_wait_until_all_is_heard(tmp_path: Path) -> None:
    sink = FakeSink()
    player = Player(sink, lead_ms=0)

    def prepare(run: Chat, client: FakeClient) -> None:
        run._hearing = Hearing(player)
        frames = sound_format(1, "mira"), chunk(1, 0, b"aa" * 20_000, final=True)
        client.on_turn = lambda: heard(run._hearing, *frames)

    assert talk(tmp_path, "one", "two", prepare=prepare)[1].lines == ["one", "two"]
    assert sink.sound == b"aa" * 40_000
    player.close()


# ---- the whole, with a sidecar -------------------------------------------------------------------------------


def inn(folder: Path, voice: str = "mock-voice") -> Path:
    """Mira says what the player said, aloud; Bram's line is said by a node of its own."""
    file = folder / "inn.workflow.json"
    nodes = [
        {"name": "mira", "type": "GenerateAndSpeak", "voice": voice, "default_exit": "bram"},
        {"name": "bram", "type": "CannedResponse", "inline_strings": ["Hm, yes."], "default_exit": "bram_aloud"},
        {"name": "bram_aloud", "type": "Speak", "input": "bram", "voice": voice, "speaker_id": 2},
    ]
    workflow = {"version": 1, "start_node": "mira", "default_model": "mock-echo", "nodes": nodes}
    file.write_text(json.dumps(workflow), encoding="utf-8")
    return file


def test_a_chat_is_recorded_and_heard_in_order(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    folder, sink = tmp_path / "Ünï 酒場", FakeSink()
    lines = ("Good evening. There is stew.", "Hello there.")
    options = ChatOptions(inn(tmp_path), say=lines, speak=True, record=folder)
    assert run_chat(options, make_sink=lambda: sink) == 0
    out, err = capfd.readouterr()
    assert err == ""
    assert [line for line in out.splitlines() if line.startswith("mira: ")] == [f"mira: {line}" for line in lines]
    assert {name: frames_of(folder / name) for name in names(folder)} == {
        "turn001-step01-mira.wav": LETTER * 27,
        "turn001-step03-bram_aloud.wav": LETTER * 8,
        "turn002-step01-mira.wav": LETTER * 12,
        "turn002-step03-bram_aloud.wav": LETTER * 8,
    }
    # What is said waits until what was said before is heard, and the chat until all is.
    assert sink.sound == b"".join((folder / name).read_bytes()[44:] for name in names(folder))
    assert "abort" not in sink.done and sink.done[-2:] == ["rest", "close"]


def test_without_voices_it_is_said_how_to_get_one(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "plain.workflow.json"
    nodes = [{"name": "mira", "type": "Generate"}]
    workflow = {"version": 1, "start_node": "mira", "default_model": "mock-echo", "nodes": nodes}
    file.write_text(json.dumps(workflow), encoding="utf-8")
    folder = tmp_path / "out"
    assert run_chat(ChatOptions(file, say=("Hello there.",), record=folder)) == 0
    assert capfd.readouterr().err == (
        "parley: no node of plain.workflow.json has a voice, so there is nothing to hear; --voice starter-voice lends "
        "one to its Generate nodes\n"
    )
    assert names(folder) == []
    assert run_chat(ChatOptions(file, say=("Hello there.",), record=folder, voice="mock-voice")) == 0
    assert capfd.readouterr().err == ""
    assert frames_of(folder / "turn001-step01-mira.wav") == 12 * LETTER


def test_what_cannot_be_played_or_recorded_is_said_before_anything_starts(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bridge.chat, "Sidecar", lambda *flags, **how: None)
    options = ChatOptions(inn(tmp_path), say=("Hi.",), speak=True)
    assert run_chat(options, make_sink=no_device) == 1
    assert tuple(capfd.readouterr()) == ("", "parley: this machine has no sound output\n")
    assert run_chat(ChatOptions(inn(tmp_path), say=("Hi.",), record=tmp_path / "inn.workflow.json")) == 1
    assert "parley: cannot write to the folder " in capfd.readouterr().err


def test_a_device_that_fails_does_not_stop_the_chat(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    options = ChatOptions(inn(tmp_path), say=("Hello there.", "And you?"), speak=True)
    assert run_chat(options, make_sink=lambda: FakeSink(fail_at=2)) == 1
    out, err = capfd.readouterr()
    assert err == "parley: the sound output failed: unplugged\n"
    assert "mira: And you?" in out


@posix_only
def test_ctrl_c_amid_a_sentence_leaves_a_whole_file(tmp_path: Path) -> None:
    settings, folder = catalog(tmp_path, real_time_factor=0.2), tmp_path / "out"
    words = ["chat", str(inn(tmp_path, "odd")), "--config", str(settings), "--record", str(folder)]
    line = "word " * 1000
    with subprocess.Popen(
        [sys.executable, "-m", "bridge", *words, "--say", line], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        while not any(path.stat().st_size > 44 for path in folder.glob("*.wav")):
            with contextlib.suppress(subprocess.TimeoutExpired):
                pytest.fail(f"it ended with {process.wait(0.01)}")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (1, b"")
    assert out.endswith(b"(stopped)\n")
    assert names(folder) == ["turn001-step01-mira.wav"]
    assert 0 < frames_of(folder / "turn001-step01-mira.wav") < LETTER * len(line)


@pytest.mark.parametrize("command", ["chat", "demo"])
def test_chat_and_demo_take_the_same_flags(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[ChatOptions] = []

    def run(options: ChatOptions) -> int:
        asked.append(options)
        return 0

    monkeypatch.setattr(bridge.chat, "run_chat", run)
    words = [command, *([str(inn(tmp_path))] if command == "chat" else [])]
    assert CliRunner().invoke(app, words).exit_code == 0
    assert CliRunner().invoke(app, [*words, "--speak", "--record", "out", "--voice", "v"]).exit_code == 0
    assert [(o.speak, o.record, o.voice) for o in asked] == [(False, None, ""), (True, Path("out"), "v")]

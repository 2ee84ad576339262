"""The player of sound: order, lead, underruns, silence at once, devices that fail or are not there."""

from __future__ import annotations

import asyncio
import importlib
import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from bridge.voice_player import CannotPlay, Player, Speakers
from tests.fake_sink import FakeSink

RATE = 1000
PIECE = 40
"""Bytes of 20 ms at that rate."""


def sound(count: int, first: int = 0) -> bytes:
    """So many samples, all different."""
    return b"".join((first + index).to_bytes(2, "little") for index in range(count))


@pytest.fixture
def sink() -> FakeSink:
    return FakeSink()


def player(sink: FakeSink, *, lead_ms: int = 100, grace_s: float = 0.0) -> Player:
    return Player(sink, lead_ms=lead_ms, grace_s=grace_s)


def test_lines_are_played_whole_and_in_the_order_in_which_they_began(sink: FakeSink) -> None:
    play = player(sink)
    first, second = play.begin(RATE), play.begin(2 * RATE)
    play.put(second, sound(50, 5000))
    play.end(second)
    for start in range(0, 250, 25):
        play.put(first, sound(25, start))
    play.end(first)
    play.drain()
    play.close()
    assert sink.sound == sound(250) + sound(50, 5000)
    assert sink.rates == [RATE] * 13 + [2 * RATE] * 2
    assert sink.done[-2:] == ["rest", "close"]
    assert (len(sink.threads), play.underruns, play.busy) == (1, 0, False)
    assert threading.get_ident() not in sink.threads


def test_nothing_is_heard_before_the_lead_is_there(sink: FakeSink) -> None:
    play = player(sink)
    before, line = play.begin(RATE), play.begin(RATE)
    play.put(line, sound(99))
    play.put(before, sound(20))
    play.end(before)
    sink.wait_until(lambda: "rest" in sink.done)
    assert sink.done == [sound(20), "rest"]
    play.put(line, sound(1, 99))
    sink.wait_until(lambda: len(sink.pieces) == 6)
    assert sink.pieces[1:] == [sound(20, start) for start in range(0, 100, 20)]
    play.end(line)
    play.close()


def test_a_line_that_is_shorter_than_the_lead_is_heard_once_it_is_whole(sink: FakeSink) -> None:
    play = player(sink)
    line = play.begin(RATE)
    play.put(line, sound(3))
    play.end(line)
    play.drain()
    assert sink.done == [sound(3), "rest"]
    play.close()


def test_a_line_without_sound_holds_up_nobody(sink: FakeSink) -> None:
    play = player(sink)
    play.end(play.begin(RATE))
    line = play.begin(RATE)
    play.put(line, b"")
    play.put(line, sound(2))
    play.end(line)
    play.end(line)
    play.drain()
    assert sink.done == [sound(2), "rest"]
    play.close()


def test_whoever_waits_for_a_line_without_sound_is_told_of_its_end(sink: FakeSink) -> None:
    play = player(sink)
    with play._changed:  # so that it is waited for before the player's thread sees the line
        play.end(play.begin(RATE))
        assert play._changed.wait(10)
        assert not play.busy
    play.close()


def test_sound_that_is_late_is_an_underrun_and_waits_for_the_lead_again(sink: FakeSink) -> None:
    play = player(sink)
    line = play.begin(RATE)
    play.put(line, sound(100))
    sink.wait_until(lambda: sink.done[-1:] == ["rest"])
    assert play.underruns == 1
    play.put(line, sound(60, 100))
    play.wait_for_room(10)
    assert len(sink.pieces) == 5
    play.put(line, sound(40, 160))
    play.end(line)
    play.drain()
    play.close()
    assert sink.sound == sound(200)
    assert play.underruns == 1


def test_sound_that_comes_while_the_device_has_some_left_is_no_underrun() -> None:
    sink = FakeSink()
    play = player(sink, grace_s=30)
    line = play.begin(RATE)
    play.put(line, sound(100))
    sink.wait_until(lambda: len(sink.pieces) == 5)
    play.put(line, sound(100, 100))
    play.end(line)
    play.drain()
    play.close()
    assert (sink.sound, play.underruns) == (sound(200), 0)
    assert sink.done.index("rest") == len(sink.pieces)


@pytest.mark.parametrize("speed", [0.7, 1.0, 3.0])
def test_no_sample_is_lost_or_doubled_at_any_speed(speed: float) -> None:
    """The device takes a piece whenever `speed` pieces were made, so that both go in step."""
    sink = FakeSink(gated=True)
    play = player(sink, lead_ms=60)
    line = play.begin(RATE)
    taken = 0
    for made in range(1, 101):
        play.put(line, sound(20, (made - 1) * 20))
        while taken + 1 <= made / speed:
            taken += 1
            sink.allow()
    play.end(line)
    sink.allow(200)
    play.drain()
    play.close()
    assert sink.sound == sound(2000)


def test_silence_is_at_once_and_what_comes_later_of_the_line_is_not_heard() -> None:
    sink = FakeSink(gated=True)
    play = player(sink)
    line, other = play.begin(RATE), play.begin(RATE)
    play.put(line, sound(5000))
    play.put(other, sound(500))
    sink.wait_until_asked()
    play.silence()
    assert line.dropped and other.dropped
    play.put(line, sound(500, 7000))
    assert not line.sound
    following = play.begin(RATE)
    play.put(following, sound(20, 9000))
    play.end(following)
    sink.allow(2)
    play.drain()
    # What the device had begun, then nothing until the next line.
    assert sink.done == [sound(20), "abort", sound(20, 9000), "rest"]
    play.end(line)
    play.silence()
    play.close()
    assert sink.sound == sound(20) + sound(20, 9000)


def test_silence_where_nothing_is_heard_does_nothing(sink: FakeSink) -> None:
    play = player(sink)
    play.silence()
    play.drain()
    line = play.begin(RATE)
    play.put(line, sound(20))
    play.end(line)
    play.drain()
    play.close()
    assert sink.done == [sound(20), "rest", "close"]


def test_whoever_waits_is_freed_by_silence_and_by_the_end() -> None:
    sink = FakeSink(gated=True)
    play = player(sink)

    async def wait(stop: Callable[[], None]) -> None:
        line = play.begin(RATE)
        play.put(line, sound(50_000))
        sink.wait_until_asked()
        heard = asyncio.ensure_future(play.heard())
        room = asyncio.ensure_future(asyncio.to_thread(play.wait_for_room, 1.0))
        await asyncio.sleep(0)
        assert not heard.done() and not room.done()
        stop()
        sink.allow()
        await asyncio.gather(heard, room)

    asyncio.run(wait(play.silence))
    asyncio.run(wait(play.close))
    assert not play.busy


def test_there_is_room_again_once_enough_is_heard() -> None:
    sink = FakeSink(gated=True)
    play = player(sink)
    line = play.begin(RATE)
    play.put(line, sound(200))
    waits = threading.Thread(target=play.wait_for_room, args=(0.1,))
    waits.start()
    sink.allow(4)
    sink.wait_until_asked(5)
    waits.join(30)
    assert not waits.is_alive()
    sink.allow(10)
    play.end(line)
    play.close()


def test_a_device_that_fails_is_told_once_and_nothing_waits_for_it() -> None:
    told: list[str] = []
    sink = FakeSink(fail_at=2)
    fault_told = threading.Event()

    def tell(text: str) -> None:
        told.append(text)
        fault_told.set()

    play = Player(sink, lead_ms=0, on_fault=tell)
    line = play.begin(RATE)
    play.put(line, sound(200))
    play.drain()
    assert fault_told.wait(30)
    assert told == [play.fault] == ["the sound output failed: unplugged"]
    assert line.dropped and play.begin(RATE).dropped
    play.put(line, sound(200))
    play.drain()
    play.wait_for_room(0)
    play.close()
    assert (sink.sound, sink.done[-1]) == (sound(40), "close")
    assert len(told) == 1


def test_whatever_a_device_raises_is_one_sentence() -> None:
    class Broken(FakeSink):
        def rest(self) -> None:
            raise ValueError("no such rate")

        def close(self) -> None:
            raise OSError("gone")

    play = player(Broken())
    line = play.begin(RATE)
    play.put(line, sound(20))
    play.end(line)
    play.drain()
    assert play.fault == "the sound stops: ValueError: no such rate"
    play.close()


def test_closing_is_silence_and_gives_the_device_back_once() -> None:
    sink = FakeSink(gated=True)
    play = player(sink)
    line = play.begin(RATE)
    play.put(line, sound(5000))
    sink.wait_until_asked()
    sink.allow()
    play.close()
    play.close()
    assert sink.done[-2:] == ["abort", "close"]
    assert len(sink.sound) < 4 * PIECE
    assert play.begin(RATE).dropped
    play.drain()


# ---- the loudspeakers ----------------------------------------------------------------------------------------


class FakeStream:
    """What sounddevice makes of a stream."""

    def __init__(self, log: list[Any], **how: Any) -> None:
        self.stopped = True
        self._log = log
        log.append(how)

    def start(self) -> None:
        self.stopped = False
        self._log.append("start")

    def write(self, sound: bytes) -> bool:
        assert not self.stopped
        self._log.append(sound)
        return False

    def stop(self) -> None:
        self.stopped = True
        self._log.append("stop")

    def abort(self) -> None:
        self.stopped = True
        self._log.append("abort")

    def close(self) -> None:
        self._log.append("close")


class PortAudioError(Exception):
    """What sounddevice raises."""


def sounddevice(monkeypatch: pytest.MonkeyPatch, **changes: Any) -> list[Any]:
    log: list[Any] = []
    module = SimpleNamespace(
        PortAudioError=PortAudioError,
        query_devices=lambda kind: {"name": "speakers"},
        RawOutputStream=lambda **how: FakeStream(log, **how),
    )
    for name, value in changes.items():
        setattr(module, name, value)
    monkeypatch.setattr(importlib, "import_module", lambda name: {"sounddevice": module}[name])
    return log


def raising(fault: BaseException) -> Callable[..., Any]:
    def work(*arguments: object, **named: object) -> Any:
        raise fault

    return work


def test_speakers_open_one_stream_for_each_rate_and_rest_between(monkeypatch: pytest.MonkeyPatch) -> None:
    log = sounddevice(monkeypatch)
    speakers = Speakers()
    speakers.rest()
    speakers.abort()
    speakers.write(b"aa", 16_000)
    speakers.write(b"bb", 16_000)
    speakers.rest()
    speakers.write(b"cc", 16_000)
    speakers.write(b"dd", 24_000)
    speakers.abort()
    speakers.close()
    speakers.close()
    how = {"channels": 1, "dtype": "int16", "latency": 0.1}
    assert log == [
        *({"samplerate": 16_000, **how}, "start", b"aa", b"bb", "stop", "start", b"cc", "stop", "close"),
        *({"samplerate": 24_000, **how}, "start", b"dd", "abort", "close"),
    ]


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        (ModuleNotFoundError("no module"), r'needs the package sounddevice; run: pip install "parley-bridge\[play\]"'),
        (OSError("PortAudio library not found"), "apt-get install libportaudio2"),
    ],
)
def test_where_nothing_can_be_played_it_is_said_how_to_change_that(
    fault: Exception, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib, "import_module", raising(fault))
    with pytest.raises(CannotPlay, match=sentence):
        Speakers()


@pytest.mark.parametrize("fault", [PortAudioError("Error querying device -1"), ValueError("no output")])
def test_a_machine_without_sound_output_is_told(fault: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    sounddevice(monkeypatch, query_devices=raising(fault))
    with pytest.raises(CannotPlay, match="this machine has no sound output"):
        Speakers()


def test_what_portaudio_says_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    sounddevice(monkeypatch, RawOutputStream=raising(PortAudioError("Invalid sample rate [-9997]", -9997)))
    with pytest.raises(CannotPlay, match=r"the sound output failed: Invalid sample rate \[-9997\]$"):
        Speakers().write(b"aa", 1)

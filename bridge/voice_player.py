"""Sound that comes piece by piece, played in order: a buffer, a thread of its own, and the loudspeakers."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import threading
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

from bridge.wording import words_of

LEAD_MS = 120
"""So much of a line is there before it begins, or all of it."""
GRACE_S = 0.06
"""So long the device has sound of its own when it was given all there is."""
DEVICE_S = 0.1
"""How much the device holds: what a person hears after a stop is at most this."""
PIECE_MS = 20
SAMPLE_BYTES = 2
INSTALL = 'pip install "parley-bridge[play]"'


class CannotPlay(Exception):
    """Sound cannot be heard here; one sentence says why."""


class Sink(Protocol):
    """Where sound is heard: mono, signed 16 bits, little end first. Threading: the player's thread only."""

    def write(self, sound: bytes, sample_rate: int) -> None:
        """Take the next piece; waits while much is there that is not heard yet."""

    def rest(self) -> None:
        """Wait until all is heard."""

    def abort(self) -> None:
        """Be silent at once, and forget what is not heard yet."""

    def close(self) -> None:
        """Give the device back."""


@dataclass(slots=True, eq=False)
class Line:
    """What one speaker says without a break; made by `Player.begin`, filled with `put` and `end`."""

    sample_rate: int
    sound: bytearray = field(default_factory=bytearray)
    ended: bool = False
    dropped: bool = False
    """It is not heard any more, whatever still comes of it."""


class Player:
    """Plays lines one after the other. Threading: every method may be called on any thread; none waits for the device,
    but `drain`, `wait_for_room` and `close`.

    A line begins once `lead_ms` of it is there, and again so after an underrun. `on_fault` hears one sentence when the
    device fails, on the player's thread; after that nothing is played.
    """

    def __init__(
        self,
        sink: Sink,
        *,
        lead_ms: int = LEAD_MS,
        grace_s: float = GRACE_S,
        on_fault: Callable[[str], None] = lambda text: None,
    ) -> None:
        """Takes the sink over."""
        self.underruns = 0
        """How often a line had to stop because its sound was late."""
        self.fault = ""
        """Why nothing is played any more; empty while all is well."""
        self._sink = sink
        self._lead_ms = lead_ms
        self._grace_s = grace_s
        self._on_fault = on_fault
        self._changed = threading.Condition()
        self._lines: deque[Line] = deque()
        self._flowing = False
        """The first line has begun, and nothing was missing since."""
        self._sounding = False
        """The sink was given something that may not be heard yet."""
        self._stopping = False
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="player", daemon=True)
        self._thread.start()

    def begin(self, sample_rate: int) -> Line:
        """A line that is played after those that were begun before."""
        line = Line(sample_rate)
        with self._changed:
            line.dropped = self._closing or bool(self.fault)
            if not line.dropped:
                self._lines.append(line)
        return line

    def put(self, line: Line, sound: bytes) -> None:
        """The next piece of a line."""
        with self._changed:
            if not line.dropped and not line.ended:
                line.sound += sound
                self._changed.notify_all()

    def end(self, line: Line) -> None:
        """The line is whole. Idempotent."""
        with self._changed:
            line.ended = True
            self._changed.notify_all()

    def silence(self) -> None:
        """Stop at once; nothing of the lines that were begun is heard any more. Idempotent."""
        with self._changed:
            self._drop()
            self._stopping = self._sounding
            self._changed.notify_all()

    @property
    def busy(self) -> bool:
        """Whether something is heard, or waits to be."""
        with self._changed:
            return self._is_busy()

    def drain(self) -> None:
        """Wait until all is heard, or nothing will be."""
        with self._changed:
            self._changed.wait_for(lambda: not self._is_busy())

    def wait_for_room(self, most_s: float) -> None:
        """Wait until no more than `most_s` seconds wait to be heard."""
        with self._changed:
            self._changed.wait_for(lambda: not self._is_busy() or self._waiting_s() <= most_s)

    async def heard(self) -> None:
        """`drain` for the event loop."""
        await asyncio.to_thread(self.drain)

    def close(self) -> None:
        """Stop at once and give the sink back. Idempotent."""
        with self._changed:
            self._drop()
            self._closing = True
            self._changed.notify_all()
        self._thread.join(2)

    def _is_busy(self) -> bool:
        return not self._closing and not self.fault and (bool(self._lines) or self._sounding)

    def _waiting_s(self) -> float:
        return sum(len(line.sound) / SAMPLE_BYTES / line.sample_rate for line in self._lines)

    def _drop(self) -> None:
        for line in self._lines:
            line.dropped = True
            line.sound.clear()
        self._lines.clear()
        self._flowing = False

    # ---- the thread

    def _run(self) -> None:
        try:
            while (work := self._next()) is not None:
                work()
            if self._sounding:
                self._sink.abort()
        except Exception as fault:  # whatever a device raises: the conversation goes on without sound
            with self._changed:
                self._drop()
                self.fault = str(fault) if isinstance(fault, CannotPlay) else f"the sound stops: {words_of(fault)}"
                self._changed.notify_all()
            self._on_fault(self.fault)
        finally:
            with contextlib.suppress(Exception):  # it failed already, or nobody needs it any more
                self._sink.close()

    def _next(self) -> Callable[[], None] | None:
        """What the sink does next; None once the player is closed."""
        with self._changed:
            while not self._closing:
                if self._stopping:
                    self._stopping = self._sounding = False
                    self._changed.notify_all()
                    return self._sink.abort
                piece = self._take()
                if piece is not None:
                    self._sounding = True
                    self._changed.notify_all()
                    sound, rate = piece
                    return lambda: self._sink.write(sound, rate)
                if self._flowing and self._changed.wait(self._grace_s):
                    continue
                if self._flowing:
                    self._flowing = False
                    self.underruns += 1
                elif self._sounding:
                    return self._rest
                else:
                    self._changed.wait()
        return None

    def _rest(self) -> None:
        self._sink.rest()
        with self._changed:
            self._sounding = False
            self._changed.notify_all()

    def _take(self) -> tuple[bytes, int] | None:
        """The next piece and its sample rate; None while nothing may be played."""
        while self._lines:
            line = self._lines[0]
            if not line.sound and line.ended:
                self._lines.popleft()
                self._flowing = False
                self._changed.notify_all()  # it may have been the last that somebody waits for
                continue
            lead = line.sample_rate * self._lead_ms // 1000 * SAMPLE_BYTES
            if not line.sound or not (self._flowing or line.ended or len(line.sound) >= lead):
                return None
            self._flowing = True
            most = line.sample_rate * PIECE_MS // 1000 * SAMPLE_BYTES
            piece = bytes(line.sound[:most])
            del line.sound[:most]
            return piece, line.sample_rate
        return None


class Speakers:
    """The sound output that the machine uses by itself, by PortAudio."""

    def __init__(self) -> None:
        """Raises CannotPlay where there is none."""
        try:
            self._sounddevice: Any = importlib.import_module("sounddevice")
        except ModuleNotFoundError:
            raise CannotPlay(f"playing sound needs the package sounddevice; run: {INSTALL}") from None
        except OSError:
            raise CannotPlay(
                "playing sound needs the library PortAudio; on Debian and Ubuntu: apt-get install libportaudio2, "
                "on Fedora: dnf install portaudio"
            ) from None
        self._stream: Any = None
        self._sample_rate = 0
        try:
            self._sounddevice.query_devices(kind="output")
        except Exception:  # PortAudioError or ValueError, as the system has it
            raise CannotPlay("this machine has no sound output") from None

    def write(self, sound: bytes, sample_rate: int) -> None:
        with self._telling():
            if sample_rate != self._sample_rate:
                self.rest()
                self.close()
                self._stream = self._sounddevice.RawOutputStream(
                    samplerate=sample_rate, channels=1, dtype="int16", latency=DEVICE_S
                )
                self._sample_rate = sample_rate
            if self._stream.stopped:
                self._stream.start()
            self._stream.write(sound)

    def rest(self) -> None:
        with self._telling():
            if self._stream is not None and not self._stream.stopped:
                self._stream.stop()

    def abort(self) -> None:
        with self._telling():
            if self._stream is not None and not self._stream.stopped:
                self._stream.abort()

    def close(self) -> None:
        stream, self._stream, self._sample_rate = self._stream, None, 0
        if stream is not None:
            stream.close()

    @contextlib.contextmanager
    def _telling(self) -> Iterator[None]:
        try:
            yield
        except self._sounddevice.PortAudioError as fault:
            raise CannotPlay(f"the sound output failed: {fault.args[0] if fault.args else fault}") from fault

"""A sound output that keeps what it was given, plays when a test allows it, and fails where a test wants."""

from __future__ import annotations

import threading
from collections.abc import Callable

from bridge.voice_player import CannotPlay


class FakeSink:
    """Keeps what is done to it. With `gated` every piece waits for `allow`, as a device that plays in its time."""

    def __init__(self, *, gated: bool = False, fail_at: int = -1) -> None:
        self.done: list[bytes | str] = []
        self.rates: list[int] = []
        self.threads: set[int] = set()
        self.fail_at = fail_at
        self._changed = threading.Condition()
        self._gate = threading.Semaphore(0)
        self._gated = gated
        self._asked = threading.Semaphore(0)

    def write(self, sound: bytes, sample_rate: int) -> None:
        self.threads.add(threading.get_ident())
        self._asked.release()
        if self._gated:
            assert self._gate.acquire(timeout=30)
        if len(self.pieces) == self.fail_at:
            raise CannotPlay("the sound output failed: unplugged")
        self.rates.append(sample_rate)
        self._did(sound)

    def rest(self) -> None:
        self._did("rest")

    def abort(self) -> None:
        self._did("abort")

    def close(self) -> None:
        self._did("close")

    # ---- for tests

    @property
    def pieces(self) -> list[bytes]:
        return [what for what in self.done if isinstance(what, bytes)]

    @property
    def sound(self) -> bytes:
        return b"".join(self.pieces)

    def allow(self, count: int = 1) -> None:
        for _ in range(count):
            self._gate.release()

    def wait_until_asked(self, count: int = 1) -> None:
        """Until the player has come with so many more pieces."""
        for _ in range(count):
            assert self._asked.acquire(timeout=30)

    def wait_until(self, told: Callable[[], bool]) -> None:
        """Until what was done is so."""
        with self._changed:
            assert self._changed.wait_for(told, 30)

    def _did(self, what: bytes | str) -> None:
        with self._changed:
            self.done.append(what)
            self._changed.notify_all()

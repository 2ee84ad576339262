"""One connection of a client: a DEALER socket, and the news that it broke.

A broken connection is not mended here: whoever owns the link closes it and makes another, because what was on its way
is lost with it. Threading: used on one event loop only.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Sequence

import zmq

from bridge.codec import MAX_PARTS
from bridge.transport import LoopSocket

READ_BATCH = 64
LINGER_S = 0.1
NEVER_MS = 24 * 3_600_000
"""How long ZeroMQ waits before it connects again by itself. Not -1, which says "never" but lets go of all that came
before the connection broke and is still to be read: the sidecar's Goodbye, in the end."""


class Link:
    """Connects when it is made. `on_frames` gets each message; `on_broken` is called once, behind what came before."""

    def __init__(
        self,
        endpoint: str,
        on_frames: Callable[[Link, list[bytes]], None],
        on_broken: Callable[[Link], None],
        *,
        server_public_key: str = "",
    ) -> None:
        self._on_frames = on_frames
        self._on_broken = on_broken
        self._is_broken = False
        self._has_heard_end = False
        self._closed = False
        self.was_refused = False
        """Whether nobody listened, so that nothing of what was sent can have come to anybody."""
        self._context = zmq.Context()
        self._socket = self._context.socket(zmq.DEALER)
        self._socket.setsockopt(zmq.LINGER, int(LINGER_S * 1000))
        self._socket.setsockopt(zmq.IPV6, "[" in endpoint)
        self._socket.setsockopt(zmq.RECONNECT_IVL, NEVER_MS)
        if server_public_key:
            from bridge.curve import apply_client

            apply_client(self._socket, server_public_key)
        events = zmq.EVENT_DISCONNECTED | zmq.EVENT_CLOSED
        events |= zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL | zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL
        events |= zmq.EVENT_HANDSHAKE_FAILED_AUTH
        self._monitor = self._socket.get_monitor_socket(events)
        self._reader = LoopSocket(self._socket, self._take, max_parts=MAX_PARTS + 1, batch=READ_BATCH)
        self._monitor_reader = LoopSocket(self._monitor, self._event, max_parts=2, batch=1)
        self._socket.connect(endpoint)
        self._reader.start()
        self._monitor_reader.start()

    def send(self, frames: Sequence[bytes]) -> bool:
        """Send now; False where the connection takes no more. Never waits."""
        if self._closed or self._is_broken:
            return False
        try:
            self._reader.send(frames)
        except zmq.Again:
            return False
        return True

    def close(self, linger_s: float = LINGER_S) -> None:
        """Say and hear nothing more; waits up to `linger_s` for what was said to be on its way. Idempotent."""
        if self._closed:
            return
        self._closed = True
        self._reader.stop()
        self._monitor_reader.stop()
        self._socket.disable_monitor()
        self._monitor.close(0)
        self._context.destroy(linger=int(linger_s * 1000))

    def _take(self, frames: list[bytes]) -> None:
        self._on_frames(self, frames)

    def _event(self, frames: list[bytes]) -> None:
        if not self._has_heard_end:
            self._has_heard_end = True
            # The event's number, in this machine's order. A connection that was made ends with another one first.
            self.was_refused = int.from_bytes(frames[0][:2], sys.byteorder) == zmq.EVENT_CLOSED
        # What came before the connection broke is still to be read.
        asyncio.get_running_loop().call_soon(self._break)

    def _break(self) -> None:
        if not self._is_broken and not self._closed:
            self._is_broken = True
            self._reader.drain()
            if not self._closed:
                self._on_broken(self)

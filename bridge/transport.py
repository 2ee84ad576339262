"""The ROUTER socket, an outbox per session, the loop that ZeroMQ needs: the sidecar's only `import zmq`.

Threading: one event loop's thread owns everything here. ZeroMQ's own I/O thread does the network.

A plain socket on the loop's reader costs a fraction of what a future per frame does. Its file descriptor only
says "something changed", so after every wake-up and send the socket is asked again before the loop sleeps.
"""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import re
import sys
from collections import deque
from collections.abc import Callable, Coroutine, Sequence
from enum import Enum
from typing import Any, TypeVar

import zmq

from bridge.codec import MAX_PARTS, encode
from bridge.errors import InvalidValue
from bridge.protocol import Message

T = TypeVar("T")


class EndpointTaken(Exception):
    """Somebody else has the port. The message names it."""


def run_on_selector_loop(main: Coroutine[Any, Any, T]) -> T:
    """Runs `main` on a selector loop: ZeroMQ needs one, and Windows has another kind by default."""
    if sys.version_info >= (3, 11):
        with asyncio.Runner(loop_factory=asyncio.SelectorEventLoop) as runner:
            return runner.run(main)
    loop = asyncio.SelectorEventLoop()
    asyncio.set_event_loop(loop)
    try:
        return loop.run_until_complete(main)
    finally:
        left = asyncio.all_tasks(loop)
        for task in left:
            task.cancel()
        loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        loop.run_until_complete(loop.shutdown_asyncgens())
        asyncio.set_event_loop(None)
        loop.close()


def loopback_endpoint(endpoint: str) -> str:
    """The endpoint in the form to bind; raises InvalidValue for all that is not TCP on loopback."""
    match = re.fullmatch(r"tcp://(\[[0-9A-Fa-f:.]+\]|[^:\[\]]+):(\*|\d{1,5})", endpoint)
    if match is None:
        raise InvalidValue(
            f"the endpoint {endpoint!r} must look like tcp://127.0.0.1:5600; `*` as the port takes a free one"
        )
    host, port = match.groups()
    if port != "*" and int(port) > 65_535:
        raise InvalidValue(f"the endpoint {endpoint!r} has a port above 65535")
    host = "127.0.0.1" if host == "localhost" else host
    try:
        is_loopback = ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        is_loopback = False
    if not is_loopback:
        raise InvalidValue(
            f"the endpoint {endpoint!r} is not on loopback: anyone on that network could read along. "
            "Bind 127.0.0.0/8, [::1] or localhost"
        )
    return f"tcp://{host}:{port}"


class LoopSocket:
    """A ZeroMQ socket whose messages are handed to a callback on the event loop.

    `on_message` gets all parts of a message but those beyond `max_parts`, which are read and let go. After `batch`
    messages the loop turns once, so that what they started has begun before the next ones are read.
    `after_read` is called after each wake-up: also when a peer that was full takes frames again.
    """

    def __init__(
        self,
        socket: zmq.Socket[bytes],
        on_message: Callable[[list[bytes]], None],
        *,
        max_parts: int,
        batch: int,
        after_read: Callable[[], None] = lambda: None,
    ) -> None:
        self._socket = socket
        self._on_message = on_message
        self._max_parts = max_parts
        self._batch = batch
        self._after_read = after_read
        self._loop: asyncio.AbstractEventLoop | None = None
        self._fd = -1
        self._look_scheduled = False
        self._pausing = False

    def start(self) -> None:
        """Begins to read; call on the loop's thread."""
        self._loop = asyncio.get_running_loop()
        self._fd = int(self._socket.getsockopt(zmq.FD))
        self._loop.add_reader(self._fd, self._read)
        self._look_again()

    def stop(self) -> None:
        """Ends reading. The socket stays its creator's."""
        if self._loop is not None:
            self._loop.remove_reader(self._fd)
            self._loop = None

    def send(self, frames: Sequence[bytes]) -> None:
        """Sends now or raises zmq.Again (the peer takes no more) or another zmq.ZMQError; never waits."""
        try:
            self._socket.send_multipart(frames, zmq.NOBLOCK)
        finally:
            self._look_again()

    def _look_again(self) -> None:
        if self._loop is not None and not self._look_scheduled:
            self._look_scheduled = True
            self._loop.call_soon(self._read)

    def _read(self) -> None:
        self._look_scheduled = False
        if self._loop is None or self._pausing:
            return
        for _ in range(self._batch):
            try:
                frames = self._receive()
            except zmq.Again:
                break
            self._on_message(frames)
            if self._is_stopped():
                return
        else:
            self._pausing = True
            self._loop.call_soon(self._go_on)
        self._after_read()

    def _go_on(self) -> None:
        self._pausing = False
        self._read()

    def _is_stopped(self) -> bool:
        return self._loop is None

    def _receive(self) -> list[bytes]:
        socket = self._socket
        frames = [socket.recv(zmq.NOBLOCK)]
        while socket.getsockopt(zmq.RCVMORE):
            part = socket.recv(zmq.NOBLOCK)
            if len(frames) < self._max_parts:
                frames.append(part)
        return frames


class Sent(Enum):
    """What became of frames."""

    YES = "on their way"
    FULL = "the peer's queue is full"
    GONE = "nobody has this identity now"


class Router:
    """The sidecar's socket. Reads messages of all peers, sends to one, and never waits for any."""

    def __init__(
        self,
        on_message: Callable[[bytes, list[bytes]], None],
        after_read: Callable[[], None],
        *,
        max_part_bytes: int,
    ) -> None:
        self._on_message = on_message
        self._context = zmq.Context()
        self._socket = self._context.socket(zmq.ROUTER)
        self._socket.setsockopt(zmq.LINGER, 0)
        self._socket.setsockopt(zmq.ROUTER_MANDATORY, 1)
        self._socket.setsockopt(zmq.MAXMSGSIZE, max_part_bytes)
        # One part more than a message may have: enough for the codec to see that there were too many. One message
        # at a time: a request whose coroutine has not begun must not be overtaken by the next one.
        self._reader = LoopSocket(
            self._socket, self._dispatch, max_parts=1 + MAX_PARTS + 1, batch=1, after_read=after_read
        )

    def bind(self, endpoint: str) -> str:
        """Binds, and returns the endpoint with its port. Raises EndpointTaken or InvalidValue."""
        address = loopback_endpoint(endpoint)
        # Only where it is asked for: with it, an IPv4 address would be bound and reported in IPv6 clothes.
        self._socket.setsockopt(zmq.IPV6, "[" in address)
        try:
            self._socket.bind(address)
        except zmq.ZMQError as fault:
            port = endpoint.rpartition(":")[2]
            # EACCES: on Windows, a port range that the system keeps for itself.
            if fault.errno in (errno.EADDRINUSE, errno.EACCES):
                raise EndpointTaken(
                    f"port {port} is taken ({endpoint}); choose another or `*` for a free one"
                ) from None
            raise InvalidValue(f"cannot bind {endpoint}: {fault.strerror}") from None
        bound = self._socket.getsockopt(zmq.LAST_ENDPOINT)
        assert isinstance(bound, bytes)
        return bound.rstrip(b"\0").decode("ascii")

    def start(self) -> None:
        """Begins to read; call on the loop's thread."""
        self._reader.start()

    def send(self, identity: bytes, frames: Sequence[bytes]) -> Sent:
        """Sends whole or not at all."""
        try:
            self._reader.send([identity, *frames])
        except zmq.Again:
            return Sent.FULL
        except zmq.ZMQError as fault:
            if fault.errno != zmq.EHOSTUNREACH:
                raise
            return Sent.GONE
        return Sent.YES

    def close(self, linger_s: float = 0.0) -> None:
        """Closes; waits up to `linger_s` for frames that peers have not fetched yet."""
        self._reader.stop()
        self._context.destroy(linger=int(linger_s * 1000))

    def _dispatch(self, frames: list[bytes]) -> None:
        self._on_message(frames[0], frames[1:])


class Outbox:
    """Everything that one session is sent, in order; the one who counts `seq`.

    Frames that the peer does not take now wait here and go on when it does. More than `limit_bytes` of them
    make the outbox give up: `overflowed` is set and nothing is kept or sent any more.
    """

    def __init__(self, send: Callable[[Sequence[bytes]], Sent], limit_bytes: int) -> None:
        self.seq = 0
        self.acknowledged = 0
        self.overflowed = False
        self.waiting_bytes = 0
        self._closed = False
        self._waiting: deque[list[bytes]] = deque()
        self._send = send
        self._limit_bytes = limit_bytes
        self._gone = False

    def put(self, message: Message, *, request_id: int = 0, payload: bytes | None = None) -> None:
        """Sends under the next `seq`. What cannot be encoded raises and takes no `seq`."""
        frames = encode(message, request_id=request_id, seq=self.seq + 1, payload=payload)
        self.seq += 1
        self._hand_over(frames)

    def put_unsequenced(self, message: Message, *, request_id: int) -> None:
        """Sends with `seq` 0, behind what waits."""
        self._hand_over(encode(message, request_id=request_id))

    def acknowledge(self, last_seq: int) -> None:
        """The peer has all up to `last_seq`. What was never sent cannot be acknowledged."""
        self.acknowledged = max(self.acknowledged, min(last_seq, self.seq))

    @property
    def is_waiting(self) -> bool:
        return bool(self._waiting)

    def peer_is_back(self) -> None:
        """Something came from the peer, so its identity can be reached."""
        if self._gone:
            self._gone = False
            self.flush()

    def flush(self) -> None:
        """Sends on as much as the peer takes."""
        while self._waiting and not self._gone:
            frames = self._waiting[0]
            if not self._went(frames):
                return
            self._waiting.popleft()
            self.waiting_bytes -= sum(map(len, frames))

    def close(self) -> None:
        """Takes nothing more; what waits can still be flushed."""
        self._closed = True

    def drop(self) -> None:
        """Takes nothing more and lets go of all that waits."""
        self._closed = True
        self._waiting.clear()
        self.waiting_bytes = 0

    def _hand_over(self, frames: list[bytes]) -> None:
        if self._closed or (not self._waiting and not self._gone and self._went(frames)):
            return
        self._waiting.append(frames)
        self.waiting_bytes += sum(map(len, frames))
        if self.waiting_bytes > self._limit_bytes:
            self.overflowed = True
            self.drop()

    def _went(self, frames: list[bytes]) -> bool:
        sent = self._send(frames)
        self._gone = sent is Sent.GONE
        return sent is Sent.YES

"""The ROUTER socket, the endpoints that it may take, and the loop that ZeroMQ needs.

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
from collections.abc import Callable, Coroutine, Sequence
from enum import Enum
from typing import Any, TypeVar

import zmq

from bridge import curve
from bridge.codec import MAX_PARTS
from bridge.errors import InvalidValue

T = TypeVar("T")


_MORE = zmq.NOBLOCK | zmq.SNDMORE


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
    host, port = _host_and_port(endpoint)
    if not _is_loopback(host):
        raise InvalidValue(
            f"the endpoint {endpoint!r} is not on loopback: anyone on that network could read along. Make a key with "
            "`parley keygen FILE` and serve with `--curve-key FILE`, or bind 127.0.0.0/8, [::1] or localhost"
        )
    return f"tcp://{host}:{port}"


def encrypted_endpoint(endpoint: str, *, no_auth: bool) -> str:
    """The endpoint of a CURVE socket in the form to bind: any interface, but loopback where no token is needed."""
    host, port = _host_and_port(endpoint)
    if no_auth and not _is_loopback(host):
        raise InvalidValue(
            f"the endpoint {endpoint!r} is not on loopback, and --no-auth would let in all who reach it; "
            "leave --no-auth out"
        )
    return f"tcp://{host}:{port}"


def usable_endpoint(bound: str) -> str:
    """Where a client on this machine connects to; a socket on every interface has no address of its own."""
    for everywhere, here in (("tcp://0.0.0.0:", "tcp://127.0.0.1:"), ("tcp://[::]:", "tcp://[::1]:")):
        if bound.startswith(everywhere):
            return here + bound.removeprefix(everywhere)
    return bound


def _host_and_port(endpoint: str) -> tuple[str, str]:
    match = re.fullmatch(r"tcp://(\[[0-9A-Fa-f:.]+(?:%[\w.-]+)?\]|[^:\[\]]+):(\*|\d{1,5})", endpoint)
    if match is None:
        raise InvalidValue(
            f"the endpoint {endpoint!r} must look like tcp://127.0.0.1:5600; `*` as the port takes a free one"
        )
    host, port = match.groups()
    if port != "*" and int(port) > 65_535:
        raise InvalidValue(f"the endpoint {endpoint!r} has a port above 65535")
    return "127.0.0.1" if host == "localhost" else host, port


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


class LoopSocket:
    """A ZeroMQ socket whose messages are handed to a callback on the event loop.

    `on_message` gets all parts of a message but those beyond `max_parts`, which are read and let go. After `batch`
    messages the loop turns once, so that what they started has begun before the next ones are read.
    """

    def __init__(
        self,
        socket: zmq.Socket[bytes],
        on_message: Callable[[list[bytes]], None],
        *,
        max_parts: int,
        batch: int,
    ) -> None:
        self._socket = socket
        self._on_message = on_message
        self._max_parts = max_parts
        self._batch = batch
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
        send = self._socket.send
        last = len(frames) - 1
        try:
            # pyzmq's own way with all parts, and with "is there more", takes three times as long. Once the first part
            # is taken, so are the others.
            for index, frame in enumerate(frames):
                send(frame, _MORE if index < last else zmq.NOBLOCK)
        finally:
            self._look_again()

    def drain(self) -> None:
        """Read all that has come, without a pause: what broke has nothing more to say than that."""
        while self._loop is not None:
            try:
                frames = self._receive()
            except zmq.Again:
                return
            self._on_message(frames)

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

    def _go_on(self) -> None:
        self._pausing = False
        self._read()

    def _is_stopped(self) -> bool:
        return self._loop is None

    def _receive(self) -> list[bytes]:
        receive = self._socket.recv
        part = receive(zmq.NOBLOCK, copy=False)
        frames = [part.bytes]
        while part.more:
            part = receive(zmq.NOBLOCK, copy=False)
            if len(frames) < self._max_parts:
                frames.append(part.bytes)
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
        *,
        max_part_bytes: int,
    ) -> None:
        self.curve_public_key = ""
        """What clients need to connect; empty: nothing is encrypted. Known after `bind`."""
        self._on_message = on_message
        self._max_part_bytes = max_part_bytes
        self._context = zmq.Context()
        self._socket = self._context.socket(zmq.ROUTER)
        self._socket.setsockopt(zmq.LINGER, 0)
        self._socket.setsockopt(zmq.ROUTER_MANDATORY, 1)
        self._socket.setsockopt(zmq.MAXMSGSIZE, max_part_bytes)
        # One part more than a message may have: enough for the codec to see that there were too many. One message
        # at a time: a request whose coroutine has not begun must not be overtaken by the next one.
        self._reader = LoopSocket(self._socket, self._dispatch, max_parts=1 + MAX_PARTS + 1, batch=1)
        self._doorkeeper = curve.Doorkeeper()
        self._door = self._doorkeeper.monitor(self._context, self._socket)
        self._door_reader = LoopSocket(self._door, self._doorkeeper.take, max_parts=2, batch=1)

    def bind(self, endpoint: str, *, curve_key: str = "", no_auth: bool = False) -> str:
        """Binds, and returns the endpoint, with its port, where a client on this machine connects to.

        `curve_key` is the key file of an encrypted socket, the only kind that may be reached from elsewhere, and
        never without a token (`no_auth`). Raises EndpointTaken or InvalidValue.
        """
        if curve_key:
            address = encrypted_endpoint(endpoint, no_auth=no_auth)
            self.curve_public_key = curve.apply_server(self._socket, curve_key)
            self._socket.setsockopt(zmq.MAXMSGSIZE, self._max_part_bytes + curve.FRAME_OVERHEAD_BYTES)
        else:
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
            if fault.errno in (errno.EADDRNOTAVAIL, errno.ENODEV):
                raise InvalidValue(f"cannot bind {endpoint}: no interface of this machine has this address") from None
            raise InvalidValue(f"cannot bind {endpoint}: {fault.strerror}") from None
        bound = self._socket.getsockopt(zmq.LAST_ENDPOINT)
        assert isinstance(bound, bytes)
        return usable_endpoint(bound.rstrip(b"\0").decode("ascii"))

    def start(self) -> None:
        """Begins to read; call on the loop's thread."""
        self._reader.start()
        self._door_reader.start()

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
        self._door_reader.stop()
        if not self._socket.closed:
            self._socket.disable_monitor()
        self._context.destroy(linger=int(linger_s * 1000))

    def _dispatch(self, frames: list[bytes]) -> None:
        self._on_message(frames[0], frames[1:])

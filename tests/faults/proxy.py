"""A TCP proxy that does to a connection what networks, lids and debuggers do, at exact bytes, by a seeded schedule.

Buffers are kept small, so that a side that stops reading is felt by the other one.
Threading: everything belongs to one event loop.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import socket
import struct
import sys
import time
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Way = Literal["up", "down"]
"""up: from the client to the sidecar."""
Kind = Literal["cut", "refuse", "late", "black_hole", "delay", "stall", "throttle", "duplicate", "drop"]
Side = Literal["both", "client", "sidecar"]

BUFFER_BYTES = 4096
CHUNK_BYTES = 2048
SEGMENT_BYTES = 536
THROTTLED_BYTES = 64
THROTTLE_PAUSE_S = 0.001
RESUMED_BYTES = 300
"""So much came down on a connection whose Hello was answered: a handshake alone is shorter."""
LATE_AT_MOST_S = 3.0
GREETING_BYTES = 64
LINGER_FORMAT = "hh" if sys.platform == "win32" else "ii"
RETRY_S = 0.005


@dataclass(frozen=True, slots=True)
class Fault:
    """What happens to one connection once `at` bytes of one way have been handed on."""

    kind: Kind
    way: Way = "down"
    at: int = 0
    """For `drop`: messages of that way that come before."""
    seconds: float = 0.0
    sides: Side = "both"
    """Of `cut`: who notices. The other side keeps a connection that says nothing and swallows everything."""
    reset: bool = False
    """The end of the connection is an RST in place of a FIN."""
    part: int = -1
    """Of `drop`: the one part of the message that goes; -1: the message whole."""


Schedule = Sequence[Sequence[Fault]]
"""The faults of the first connection, of the second, …; later ones have none."""


@dataclass(slots=True)
class Link:
    """One connection of a client and the one to the sidecar that stands for it."""

    number: int
    faults: list[Fault]
    client: socket.socket
    sidecar: socket.socket
    bytes: dict[Way, int] = field(default_factory=lambda: {"up": 0, "down": 0})
    resumed: asyncio.Event = field(default_factory=asyncio.Event)
    open: asyncio.Event = field(default_factory=asyncio.Event)
    """Not set while the link stalls."""
    silent: bool = False
    """Whatever comes is read and thrown away."""
    kept: bytearray | None = None
    """What the client said and the sidecar is told too late."""
    copy: bytearray | None = None
    messages: dict[Way, int] = field(default_factory=lambda: {"up": 0, "down": 0})


class FaultyProxy:
    """Listens on a free port of its own and connects each client to `target`, with the faults of `schedule`."""

    def __init__(self, target: str, schedule: Schedule = ()) -> None:
        self.endpoint = ""
        self.struck: list[Fault] = []
        """Faults that did happen."""
        self.log: list[str] = []
        self.links: list[Link] = []
        self._target = _address(target)
        self._schedule = [list(faults) for faults in schedule]
        self._port = 0
        self._listener: socket.socket | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._began = time.monotonic()
        self._resumed = asyncio.Condition()
        self._may_pass: dict[Way, asyncio.Event] = {"up": asyncio.Event(), "down": asyncio.Event()}
        self.go_on()

    async def __aenter__(self) -> FaultyProxy:
        self._listen()
        self.endpoint = f"tcp://127.0.0.1:{self._port}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._close_listener()
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        for outcome in await asyncio.gather(*tasks, return_exceptions=True):
            if isinstance(outcome, Exception):
                self.note(f"a bug of the proxy: {outcome!r}")
        for link in self.links:
            link.client.close()
            link.sidecar.close()

    def pause(self, *ways: Way) -> None:
        """Lets nothing through any more on these ways, and takes nothing. New connections wait too."""
        for way in ways:
            self._may_pass[way].clear()

    def cut_all(self) -> None:
        """Ends every connection that there is, for both sides."""
        for link in self.links:
            link.silent = True
            _end(link.client)
            _end(link.sidecar)

    def go_on(self) -> None:
        """The end of a pause."""
        for may_pass in self._may_pass.values():
            may_pass.set()

    def note(self, text: str) -> None:
        """A line for whoever reads of a run that failed."""
        self.log.append(f"{time.monotonic() - self._began:7.3f} {text}")

    # ---- listening ----

    def _listen(self) -> None:
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        _small(listener)
        try:
            listener.bind(("127.0.0.1", self._port))
            listener.listen(16)
        except OSError:
            listener.close()
            raise
        listener.setblocking(False)
        self._port = listener.getsockname()[1]
        self._listener = listener
        # Not sock_accept: of one that is cancelled as it is done, nobody closes what it accepted.
        asyncio.get_running_loop().add_reader(listener.fileno(), self._accept, listener)

    def _accept(self, listener: socket.socket) -> None:
        try:
            client, _ = listener.accept()
        except OSError:
            return
        _small(client)
        client.setblocking(False)
        number = len(self.links)
        faults = self._schedule[number] if number < len(self._schedule) else []
        link = Link(number, faults, client, _new_socket())
        link.open.set()
        self.links.append(link)
        self._spawn(self._serve(link))

    def _close_listener(self) -> bool:
        """Whether there was one."""
        listener, self._listener = self._listener, None
        if listener is None:
            return False
        asyncio.get_running_loop().remove_reader(listener.fileno())
        listener.close()
        return True

    async def _refuse(self, seconds: float) -> None:
        if not self._close_listener():
            return
        await asyncio.sleep(seconds)
        while True:
            try:
                self._listen()
                return
            except OSError:
                # Somebody has the port for a moment, perhaps a connection of its own.
                await asyncio.sleep(RETRY_S)

    # ---- one connection ----

    async def _serve(self, link: Link) -> None:
        loop = asyncio.get_running_loop()
        self.note(f"link {link.number}: {', '.join(map(_shown, link.faults)) or 'no faults'}")
        try:
            await loop.sock_connect(link.sidecar, self._target)
        except OSError as fault:
            self.note(f"link {link.number}: the sidecar is not there: {fault}")
            _end(link.client, reset=True)
            return
        if any(fault.kind == "duplicate" for fault in link.faults):
            link.copy = bytearray()
        ways: tuple[tuple[Way, socket.socket, socket.socket], ...] = (
            ("up", link.client, link.sidecar),
            ("down", link.sidecar, link.client),
        )
        for way, source, target in ways:
            self._spawn(self._pump(link, way, source, target))

    async def _pump(self, link: Link, way: Way, source: socket.socket, target: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        ahead = sorted(
            (fault for fault in link.faults if fault.way == way and fault.kind != "drop"), key=lambda fault: fault.at
        )
        drops = [fault for fault in link.faults if fault.way == way and fault.kind == "drop"]
        sieve = _Sieve(drops[0]) if drops else None
        slow_until = 0.0
        with contextlib.suppress(OSError, ValueError):
            while True:
                while ahead and ahead[0].at <= link.bytes[way]:
                    slow_until = max(slow_until, await self._strike(link, ahead.pop(0)))
                await self._may_pass[way].wait()
                await link.open.wait()
                slow = time.monotonic() < slow_until
                room = THROTTLED_BYTES if slow else CHUNK_BYTES
                if ahead:
                    room = min(room, ahead[0].at - link.bytes[way])
                data = await loop.sock_recv(source, room)
                await self._may_pass[way].wait()
                await link.open.wait()
                if not data:
                    break
                link.bytes[way] += len(data)
                if link.kept is not None and way == "up":
                    link.kept += data
                elif not link.silent:
                    if sieve is not None:
                        data = sieve.put(data)
                        if sieve.struck:
                            self._struck(link, sieve.fault)
                            sieve.struck = False
                    if link.copy is not None and way == "up":
                        link.copy += data
                    await loop.sock_sendall(target, data)
                    if slow:
                        await asyncio.sleep(THROTTLE_PAUSE_S)
                if way == "down" and link.bytes["down"] >= RESUMED_BYTES and not link.resumed.is_set():
                    link.resumed.set()
                    async with self._resumed:
                        self._resumed.notify_all()
        if way == "up" and link.kept is not None:
            return
        if not link.silent:
            _end(target)
        if way == "up":
            # The sidecar's side may stay open and silent for longer; the client is gone for good.
            link.client.close()

    async def _strike(self, link: Link, fault: Fault) -> float:
        """Does it. Returns until when the way is slow."""
        self._struck(link, fault)
        match fault.kind:
            case "delay":
                await asyncio.sleep(fault.seconds)
            case "stall":
                link.open.clear()
                await asyncio.sleep(fault.seconds)
                link.open.set()
            case "throttle":
                return time.monotonic() + fault.seconds
            case "black_hole":
                link.silent = True
            case "late":
                link.silent = True
                link.kept = bytearray()
                self._spawn(self._tell_late(link, fault))
            case "duplicate":
                self._spawn(self._duplicate(bytes(link.copy or b""), fault))
            case "cut" | "refuse":
                link.silent = True
                if fault.kind == "refuse":
                    self._spawn(self._refuse(fault.seconds))
                if fault.sides in ("both", "client"):
                    _end(link.client, reset=fault.reset)
                if fault.sides in ("both", "sidecar"):
                    _end(link.sidecar, reset=fault.reset)
            case _:
                raise AssertionError(fault)
        return 0.0

    async def _tell_late(self, link: Link, fault: Fault) -> None:
        """What an old connection still had on its way reaches the sidecar after the client is back on a newer one."""
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._newer_resumed(link), LATE_AT_MOST_S)
        await asyncio.sleep(fault.seconds)
        self.note(f"link {link.number}: {len(link.kept or b'')} bytes come late")
        with contextlib.suppress(OSError, ValueError):
            await asyncio.get_running_loop().sock_sendall(link.sidecar, bytes(link.kept or b""))
            if fault.reset:
                _end(link.sidecar)

    async def _newer_resumed(self, link: Link) -> None:
        async with self._resumed:
            await self._resumed.wait_for(lambda: any(newer.resumed.is_set() for newer in self.links[link.number + 1 :]))

    async def _duplicate(self, said: bytes, fault: Fault) -> None:
        """The same bytes once more on a connection of their own, whose answers nobody reads."""
        loop = asyncio.get_running_loop()
        with _new_socket() as extra, contextlib.suppress(OSError):
            await loop.sock_connect(extra, self._target)
            await loop.sock_sendall(extra, said)
            await asyncio.sleep(fault.seconds)

    def _struck(self, link: Link, fault: Fault) -> None:
        self.struck.append(fault)
        self.note(f"link {link.number}: {_shown(fault)} strikes")

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (fault := task.exception()) is not None:
            self.note(f"a bug of the proxy: {fault!r}")


class _Sieve:
    """Lets a ZMTP stream through but for one text frame of a turn that goes on, or one part of it."""

    def __init__(self, fault: Fault) -> None:
        self.fault = fault
        self.struck = False
        self._left = fault.at
        self._greeting = GREETING_BYTES
        self._data = bytearray()
        self._message: list[bytes] = []

    def put(self, data: bytes) -> bytes:
        """What goes on of what has come."""
        if self._left < 0:
            return data
        out = bytearray()
        if self._greeting:
            out += data[: self._greeting]
            data = data[self._greeting :]
            self._greeting -= len(out)
        self._data += data
        while self._left >= 0 and (frame := self._frame()) is not None:
            flags, raw, _ = frame
            if flags & 4:  # a command of ZMTP itself
                out += raw
                continue
            self._message.append(raw)
            if not flags & 1:
                out += self._whole()
        if self._left < 0:
            out += self._data
            self._data.clear()
        return bytes(out)

    def _whole(self) -> bytes:
        parts, self._message = self._message, []
        body = parts[-1]
        # What is dropped is followed by more of its turn: the hole shows.
        if not parts[0].endswith(b"AnswerText") or b'"is_final":true' in body:
            return b"".join(parts)
        self._left -= 1
        if self._left >= 0:
            return b"".join(parts)
        self.struck = True
        if self.fault.part < 0:
            return b""
        del parts[self.fault.part]
        return b"".join(parts)

    def _frame(self) -> tuple[int, bytes, bytes] | None:
        data = self._data
        if len(data) < 2:
            return None
        flags = data[0]
        head = 9 if flags & 2 else 2
        if len(data) < head:
            return None
        size = struct.unpack(">Q", data[1:9])[0] if flags & 2 else data[1]
        if len(data) < head + size:
            return None
        raw = bytes(data[: head + size])
        del data[: head + size]
        return flags, raw, raw[head:]


# ---- schedules ----


def make_schedule(seed: int, up_bytes: int, down_bytes: int) -> list[list[Fault]]:
    """The faults of one run. `up_bytes` and `down_bytes`: what a run without faults says on one connection."""
    dice = random.Random(seed)
    return [_faults_of_link(dice, up_bytes, down_bytes, first=number == 0) for number in range(dice.randint(1, 5))]


WAYS: tuple[Way, ...] = ("up", "down")
SOFT: tuple[Kind, ...] = ("delay", "stall", "throttle", "drop")
ONE_SIDE: tuple[Side, ...] = ("client", "sidecar")


def _faults_of_link(dice: random.Random, up_bytes: int, down_bytes: int, *, first: bool) -> list[Fault]:
    def where(way: Way) -> int:
        size = up_bytes if way == "up" else down_bytes
        # Half of them early, in the handshakes and at the first frames; half anywhere.
        return int(size ** dice.random()) if dice.random() < 0.5 else dice.randrange(size)

    faults = []
    for _ in range(dice.choice((0, 0, 1, 2))):
        kind = dice.choice(SOFT)
        way = dice.choice(WAYS)
        if kind == "drop":
            faults.append(Fault("drop", "down", dice.randrange(40)))
        else:
            faults.append(Fault(kind, way, where(way), seconds=dice.uniform(0.01, 0.25)))
    if first and dice.random() < 0.3:
        # Never of a Hello that takes a session up: whoever repeats that is the client, for all the sidecar can tell.
        faults.append(Fault("duplicate", "up", dice.randrange(400), seconds=dice.uniform(0.0, 0.5)))
    way = dice.choice(WAYS)
    at = where(way)
    match dice.choice(("cut", "cut", "cut", "half", "refuse", "late", "black_hole", "none")):
        case "cut":
            faults.append(Fault("cut", way, at, reset=dice.random() < 0.5))
        case "half":
            sides = dice.choice(ONE_SIDE)
            faults.append(Fault("cut", way, at, sides=sides, reset=dice.random() < 0.5))
        case "refuse":
            faults.append(Fault("refuse", way, at, seconds=dice.uniform(0.02, 0.4), reset=dice.random() < 0.5))
        case "late":
            faults.append(Fault("late", "up", where("up"), seconds=dice.uniform(0.0, 0.1), reset=dice.random() < 0.5))
        case "black_hole":
            faults.append(Fault("black_hole", way, at))
    return faults


# ---- sockets ----


def _new_socket() -> socket.socket:
    made = socket.socket()
    _small(made)
    made.setblocking(False)
    return made


def _small(made: socket.socket) -> None:
    for option in (socket.SO_RCVBUF, socket.SO_SNDBUF):
        made.setsockopt(socket.SOL_SOCKET, option, BUFFER_BYTES)
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if hasattr(socket, "TCP_MAXSEG"):
        # The other side makes its buffer of a number of segments, and those of a loopback are huge.
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, SEGMENT_BYTES)


def _end(of: socket.socket, *, reset: bool = False) -> None:
    """Ends one side of a connection. Its socket is closed with the proxy; a task may still be waiting for it."""
    with contextlib.suppress(OSError):
        if reset:
            of.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack(LINGER_FORMAT, 1, 0))
            _forget(of)
            of.close()
        else:
            of.shutdown(socket.SHUT_RDWR)


def _forget(of: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    with contextlib.suppress(ValueError):
        loop.remove_reader(of.fileno())
        loop.remove_writer(of.fileno())


def _address(endpoint: str) -> tuple[str, int]:
    host, _, port = endpoint.removeprefix("tcp://").rpartition(":")
    return host, int(port)


def _shown(fault: Fault) -> str:
    more = f" {fault.seconds:.2f} s" if fault.seconds else ""
    more += f" ({fault.sides})" if fault.sides != "both" else ""
    more += " RST" if fault.reset else ""
    more += f" part {fault.part}" if fault.part >= 0 else ""
    return f"{fault.kind} {fault.way}@{fault.at}{more}"

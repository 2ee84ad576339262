"""Who is talking: identity to session, Hello to Bye; the one place where errors become replies.

One request goes `Router` → `Server._take` → `Peer.take` → the session's handler; its reply comes back as a
value, or later from an awaitable, and leaves through the session's outbox. Everything here runs on the event
loop's thread, but for `request_shutdown`.
"""

from __future__ import annotations

import asyncio
import base64
import functools
import hmac
import inspect
import logging
import os
import time
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Protocol

from bridge import __version__
from bridge.codec import Envelope, Limits, decode_request, fit_debug, read_header
from bridge.config import Settings
from bridge.errors import (
    ParleyError,
    ProtocolMismatch,
    SessionExpired,
    SessionNotReady,
    ShuttingDown,
    TooManySessions,
    Unauthorized,
)
from bridge.protocol import (
    PROTOCOL_VERSION,
    Bye,
    Error,
    Goodbye,
    Hello,
    Message,
    Ok,
    Ping,
    Pong,
    Push,
    Reply,
    Request,
    SessionReady,
    Shutdown,
    TurnComplete,
    schema_fingerprint,
)
from bridge.transport import Outbox, Router

log = logging.getLogger(__name__)

DETACH_AFTER_S = 15.0
RESUME_WINDOW_S = 300.0
"""A session that is silent for both, one after the other, ends."""
OUTBOX_LIMIT_BYTES = 4 * 8 * 2**20
"""Frames that may wait for one slow client; beyond, its session is dropped."""

TICK_S = 1.0
END_TIMEOUT_S = 10.0
SHUTDOWN_TIMEOUT_S = 1.0
FLUSH_TIMEOUT_S = 0.2
LINGER_S = 0.25

PushTo = Callable[[Push, bytes | None], None]
"""Sends to the client of one session. Call it on the event loop's thread."""


class SessionHandler(Protocol):
    """What the server needs of a session."""

    def handle(self, request: Request) -> Reply | Awaitable[Reply]:
        """The reply, or an awaitable of it for what takes long: nothing waits for it. Raises ParleyError."""
        ...

    async def close(self) -> None:
        """Cancels turns, whose TurnComplete is pushed before this returns, and frees the agents."""
        ...


MakeSession = Callable[[str, PushTo], SessionHandler]
"""Makes the handler of a session from its session_id and the way to push to its client."""


class Peer:
    """The wire's side of one session: what was asked and not answered, and when the client was last heard."""

    def __init__(self, identity: bytes, outbox: Outbox, max_json_bytes: int, *, is_owner: bool, now: float) -> None:
        self.identity = identity
        self.outbox = outbox
        self.is_owner = is_owner
        self.last_heard = now
        self.session_id = os.urandom(8).hex()
        self.session_key = base64.urlsafe_b64encode(os.urandom(32)).decode("ascii").rstrip("=")
        self.last_request_id = 0
        self.handler: SessionHandler | None = None
        self._max_json_bytes = max_json_bytes
        self._unanswered: dict[asyncio.Future[Reply], Envelope] = {}
        self._end: asyncio.Task[None] | None = None

    @property
    def is_ending(self) -> bool:
        return self._end is not None

    def push(self, message: Push, payload: bytes | None = None) -> None:
        """Sends a message that nobody asked for."""
        if isinstance(message, TurnComplete):
            message = fit_debug(message, self._max_json_bytes)
        self.outbox.put(message, payload=payload)

    def answer(self, request_id: int, reply: Reply) -> None:
        """Sends the one reply of a request."""
        self.last_request_id = max(self.last_request_id, request_id)
        self.outbox.put(reply, request_id=request_id)

    def take(self, envelope: Envelope) -> None:
        """Lets the handler do a request, and answers now or when its awaitable is done."""
        assert self.handler is not None and isinstance(envelope.message, Request)
        try:
            result = self.handler.handle(envelope.message)
            if inspect.isawaitable(result):
                future = asyncio.ensure_future(result)
                self._unanswered[future] = envelope
                future.add_done_callback(self._finished)
            else:
                self.answer(envelope.request_id, _checked(result))
        except ParleyError as fault:
            self.answer(envelope.request_id, error_of(fault))
        except Exception:  # a bug of ours: answered once as InternalError, its traceback logged
            self.answer(envelope.request_id, _internal_error(envelope.message))

    def _finished(self, future: asyncio.Future[Reply]) -> None:
        envelope = self._unanswered.pop(future, None)
        if envelope is None:
            if not future.cancelled():
                future.exception()
            return
        try:
            self.answer(envelope.request_id, _checked(future.result()))
        except ParleyError as fault:
            self.answer(envelope.request_id, error_of(fault))
        except asyncio.CancelledError:
            self.answer(envelope.request_id, _internal_error(envelope.message))
        except Exception:  # a bug of ours: answered once as InternalError, its traceback logged
            self.answer(envelope.request_id, _internal_error(envelope.message))

    async def end(self, why: type[ParleyError], timeout_s: float) -> None:
        """Closes the handler, then answers with `why` what is unanswered. Idempotent; never raises."""
        if self._end is None:
            self._end = asyncio.create_task(self._do_end(why, timeout_s))
        await asyncio.wait({self._end})

    async def _do_end(self, why: type[ParleyError], timeout_s: float) -> None:
        if self.handler is not None:
            closing = asyncio.ensure_future(self.handler.close())
            await asyncio.wait({closing}, timeout=timeout_s)
            if not closing.done():
                log.error("session %s: not closed after %s s; going on without", self.session_id, timeout_s)
                closing.cancel()
            elif not closing.cancelled() and (fault := closing.exception()) is not None:
                log.error("session %s: closing failed", self.session_id, exc_info=fault)
        for future, envelope in list(self._unanswered.items()):
            # Answered here and not when the cancelled work is over: it may take its time to stop.
            del self._unanswered[future]
            future.cancel()
            self.answer(
                envelope.request_id,
                error_of(why(f"the session ended before {envelope.message.type_name} was done")),
            )


class Server:
    """Serves all clients of one sidecar from `bind` to the end of `run`.

    `on_stopping` is called on the loop's thread when the shutdown begins.
    """

    def __init__(
        self,
        settings: Settings,
        token: str,
        make_session: MakeSession,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.endpoint = ""
        self.on_stopping: Callable[[], None] = lambda: None
        self._stopping = asyncio.Event()
        self._all_sent = asyncio.Event()
        self._settings = settings
        self._token = _bytes(token)
        self._make_session = make_session
        self._clock = clock
        self._limits = Limits(settings.max_json_bytes, settings.max_payload_bytes)
        self._router = Router(
            self._on_message,
            self._flush,
            max_part_bytes=2 * max(settings.max_json_bytes, settings.max_payload_bytes),
        )
        self._peers: dict[bytes, Peer] = {}
        self._parted: list[tuple[float, Outbox]] = []
        self._background: set[asyncio.Task[None]] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop_requested = False
        self._idle_since = clock()
        self._last_look = clock()

    @property
    def session_count(self) -> int:
        return len(self._peers)

    def bind(self) -> str:
        """Takes the endpoint of the settings; returns it with its port. Raises as `Router.bind` does."""
        self.endpoint = self._router.bind(self._settings.endpoint)
        return self.endpoint

    def request_shutdown(self) -> None:
        """Begins the end of `run`. Idempotent; from any thread, also before `run`."""
        self._stop_requested = True
        loop = self._loop
        if loop is not None and not loop.is_closed():
            loop.call_soon_threadsafe(self._stopping.set)

    def close(self) -> None:
        """Gives the endpoint back where `run` was never called."""
        self._router.close()

    async def run(self) -> None:
        """Serves until a shutdown is requested; by its return every session has ended and been told."""
        self._loop = asyncio.get_running_loop()
        if not self.endpoint:
            self.bind()
        if self._stop_requested:
            self._stopping.set()
        self._router.start()
        ticking = asyncio.create_task(self._tick())
        try:
            await self._stopping.wait()
            self.on_stopping()
            await self._say_goodbye()
        finally:
            ticking.cancel()
            self._router.close(LINGER_S)

    # ---- what comes in ----

    def _on_message(self, identity: bytes, frames: list[bytes]) -> None:
        peer = self._peers.get(identity)
        if peer is not None:
            peer.last_heard = self._clock()
            peer.outbox.peer_is_back()
        try:
            if peer is None:
                header = read_header(frames)
                if header.type_name != "Hello":
                    self._refuse(identity, None, header.request_id, SessionNotReady())
                    return
            envelope = decode_request(frames, self._limits)
        except ParleyError as fault:
            self._refuse(identity, peer, fault.request_id, fault)
            return
        try:
            self._take(identity, peer, envelope)
        except ParleyError as fault:
            self._refuse(identity, peer, envelope.request_id, fault)
        except Exception:  # as above, where there may be no session yet
            self._reply(identity, peer, envelope.request_id, _internal_error(envelope.message))

    def _take(self, identity: bytes, peer: Peer | None, envelope: Envelope) -> None:
        message = envelope.message
        if isinstance(message, Ping) and peer is not None:
            peer.outbox.acknowledge(message.last_seq)
            peer.outbox.put_unsequenced(Pong(), request_id=envelope.request_id)
        elif self._stopping.is_set():
            raise ShuttingDown()
        elif peer is not None and peer.is_ending:
            raise SessionNotReady("this session is ending; say Hello again after its last message")
        elif isinstance(message, Hello):
            self._hello(identity, peer, message, envelope.request_id)
        elif peer is None:
            raise SessionNotReady()
        elif isinstance(message, Bye):
            log.info("session %s: Bye", peer.session_id)
            self._spawn(self._part(peer, Ok(), envelope.request_id))
        elif isinstance(message, Shutdown):
            if not peer.is_owner:
                raise Unauthorized("Shutdown needs a session that said Hello with this sidecar's own token")
            log.info("session %s: Shutdown", peer.session_id)
            peer.answer(envelope.request_id, Ok())
            self.request_shutdown()
        else:
            peer.take(envelope)

    def _hello(self, identity: bytes, old: Peer | None, hello: Hello, request_id: int) -> None:
        is_owner = bool(self._token) and hmac.compare_digest(_bytes(hello.token), self._token)
        if not is_owner and not self._settings.no_auth:
            log.warning("Hello of %.64r with a wrong token", hello.client)
            raise Unauthorized()
        if hello.protocol != PROTOCOL_VERSION:
            raise ProtocolMismatch(
                f"this sidecar ({__version__}) speaks protocol {PROTOCOL_VERSION}, not {hello.protocol}; "
                "use a plugin and a sidecar of the same release"
            )
        if hello.resume is not None:
            raise SessionExpired()
        if old is None and len(self._peers) >= self._settings.max_sessions:
            self._make_room()
        if old is None and len(self._peers) >= self._settings.max_sessions:
            raise TooManySessions(
                f"{len(self._peers)} sessions are open, as many as `max_sessions` allows; end one with Bye"
            )
        peer = Peer(
            identity,
            Outbox(functools.partial(self._router.send, identity), OUTBOX_LIMIT_BYTES),
            self._limits.json_bytes,
            is_owner=is_owner,
            now=self._clock(),
        )
        peer.handler = self._make_session(peer.session_id, functools.partial(self._push, peer))
        if old is not None:
            # The client began anew on its socket: what its old session still says would only confuse it.
            log.info("session %s: replaced by a new Hello", old.session_id)
            self._drop(old)
        self._peers[identity] = peer
        log.info("session %s: Hello of %.64r", peer.session_id, hello.client)
        peer.outbox.put_unsequenced(
            SessionReady(
                protocol=PROTOCOL_VERSION,
                session_id=peer.session_id,
                session_key=peer.session_key,
                resumed=False,
                last_request_id=peer.last_request_id,
                server_version=__version__,
                schema_fingerprint=_fingerprint(),
                heartbeat_s=self._settings.heartbeat_s,
            ),
            request_id=request_id,
        )

    def _make_room(self) -> None:
        """End the session that is silent for longest, if its client seems to be gone."""
        silent = min(self._peers.values(), key=lambda peer: peer.last_heard)
        if self._clock() - silent.last_heard >= DETACH_AFTER_S:
            log.info("session %s: silent, and its place is needed", silent.session_id)
            self._drop(silent)

    # ---- what goes out ----

    def _push(self, peer: Peer, message: Push, payload: bytes | None = None) -> None:
        peer.push(message, payload)

    def _refuse(self, identity: bytes, peer: Peer | None, request_id: int, fault: ParleyError) -> None:
        self._reply(identity, peer, request_id, error_of(fault))

    def _reply(self, identity: bytes, peer: Peer | None, request_id: int, reply: Reply) -> None:
        if peer is not None:
            peer.answer(request_id, reply)
            return
        # A stranger that does not read has no outbox to wait in: what its queue does not take is let go.
        Outbox(functools.partial(self._router.send, identity), 0).put_unsequenced(reply, request_id=request_id)

    def _flush(self) -> None:
        for peer in self._peers.values():
            if peer.outbox.is_waiting:
                peer.outbox.flush()
        for _, outbox in self._parted:
            outbox.flush()
        if not any(peer.outbox.is_waiting for peer in self._peers.values()):
            self._all_sent.set()

    # ---- how sessions end ----

    def look_after_sessions(self) -> None:
        """Ends sessions that are silent for too long, drops those that do not read, stops an idle sidecar."""
        now = self._clock()
        # After a sleep of the machine, or under a debugger, clients get the time back that nobody had.
        lost = now - self._last_look - TICK_S
        self._last_look = now
        for peer in list(self._peers.values()):
            if lost > DETACH_AFTER_S:
                peer.last_heard += lost
            if peer.outbox.overflowed:
                log.warning("session %s: dropped; its client does not read", peer.session_id)
                self._drop(peer)
            elif now - peer.last_heard >= DETACH_AFTER_S + RESUME_WINDOW_S and not peer.is_ending:
                log.info("session %s: expired", peer.session_id)
                self._spawn(self._part(peer, Goodbye(reason="expired")))
        self._flush()
        self._parted = [(until, outbox) for until, outbox in self._parted if outbox.is_waiting and until > now]
        if self._peers or self._background:
            self._idle_since = now
        elif 0 < self._settings.idle_exit_s <= now - self._idle_since:
            log.info("no session for %s s: stopping", self._settings.idle_exit_s)
            self.request_shutdown()

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(TICK_S)
            self.look_after_sessions()

    async def _part(self, peer: Peer, last: Message, request_id: int = 0) -> None:
        """Ends a session in good order; `last` is the last that its client hears of it."""
        await peer.end(SessionExpired, END_TIMEOUT_S)
        peer.outbox.put(last, request_id=request_id)
        peer.outbox.close()
        self._forget(peer)

    def _drop(self, peer: Peer) -> None:
        """Ends a session whose client is sent nothing more."""
        peer.outbox.drop()
        self._forget(peer)
        self._spawn(peer.end(SessionExpired, END_TIMEOUT_S))

    def _forget(self, peer: Peer) -> None:
        if self._peers.get(peer.identity) is peer:
            del self._peers[peer.identity]
            self._idle_since = self._clock()
        if peer.outbox.is_waiting:
            self._parted.append((self._clock() + DETACH_AFTER_S, peer.outbox))

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    async def _say_goodbye(self) -> None:
        peers = list(self._peers.values())
        ends = [asyncio.ensure_future(peer.end(ShuttingDown, SHUTDOWN_TIMEOUT_S)) for peer in peers]
        if ends or self._background:
            await asyncio.wait({*ends, *self._background}, timeout=SHUTDOWN_TIMEOUT_S + 0.1)
        for peer in self._peers.values():
            peer.push(Goodbye(reason="shutdown"))
        self._all_sent.clear()
        self._flush()
        sent = asyncio.ensure_future(self._all_sent.wait())
        await asyncio.wait({sent}, timeout=FLUSH_TIMEOUT_S)
        sent.cancel()


def error_of(fault: ParleyError) -> Error:
    """The wire's form of an error."""
    return Error(
        code=fault.code,
        name=fault.name,
        message=fault.message,
        agent_id=fault.agent_id,
        node_name=fault.node_name,
        path=fault.path,
        problems=list(fault.problems),
    )


def _internal_error(message: Message) -> Error:
    """Answers for a bug of ours: code 0, which no error class has. The traceback stays in the log."""
    log.exception("%s failed", message.type_name)
    return Error(
        code=0,
        name="InternalError",
        message=f"a fault inside the sidecar stopped {message.type_name}; the sidecar's log has the details",
    )


def _checked(result: object) -> Reply:
    if not isinstance(result, Reply):
        raise TypeError(f"a handler must answer with a Reply, not {type(result).__name__}")
    return result


def _bytes(token: str) -> bytes:
    return token.encode("utf-8", "surrogatepass")


@functools.cache
def _fingerprint() -> str:
    return schema_fingerprint()

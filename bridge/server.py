"""Who is talking: identity to session, Hello to Bye; the one place where errors become replies.

One request goes `Router` → `Server._take` → `Peer.take` → the session's handler; its reply comes back as a
value, or later from an awaitable, and leaves through the session's outbox. Everything here runs on the event
loop's thread, but for `request_shutdown`.
"""

from __future__ import annotations

import asyncio
import functools
import hashlib
import hmac
import logging
import time
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any

from bridge import __version__, workers
from bridge.codec import Envelope, Limits, decode_request, encode, read_header
from bridge.config import Settings
from bridge.errors import (
    LimitExceeded,
    ParleyError,
    ProtocolMismatch,
    SessionExpired,
    SessionNotReady,
    ShuttingDown,
    TooManySessions,
    Unauthorized,
)
from bridge.outbox import Outbox
from bridge.peer import Peer, SessionHandler, error_of, internal_error
from bridge.protocol import (
    PROTOCOL_VERSION,
    Bye,
    Error,
    GetStatus,
    Goodbye,
    Hello,
    Message,
    Ok,
    Ping,
    Pong,
    Push,
    Reply,
    SessionReady,
    Shutdown,
    schema_fingerprint,
)
from bridge.status import Counters
from bridge.transport import Router, Sent

log = logging.getLogger(__name__)

READ_AT_ONCE = 128 * 1024
"""Bytes of a message that is read on the event loop."""
QUEUED_MESSAGES = 4
"""So many messages of the largest size may wait until one before them is read."""
TICK_S = 1.0
END_TIMEOUT_S = 10.0
SHUTDOWN_TIMEOUT_S = 1.0
FLUSH_TIMEOUT_S = 0.2
PARTED_S = 15.0
"""For so long the last frames of an ended session wait for a client that does not take them."""
LINGER_S = 0.25
RETRY_S = (0.001, 0.016)
"""When a client that takes no more is tried again: at first, and at last where it still takes nothing. ZeroMQ tells
nobody when a peer of a ROUTER has room again, and a try with every turn of the loop costs the others."""

PushTo = Callable[[Push, bytes | None], "asyncio.Event | None"]
"""Sends to the client of one session. Call it on the event loop's thread.

It never waits. Where the client takes no more now it returns what is set once it does; whoever makes much waits for
that."""


MakeSession = Callable[[str, PushTo], SessionHandler]
"""Makes the handler of a session from its session_id and the way to push to its client."""


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
        counters: Counters | None = None,
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
        self._counters = counters or Counters()
        self._limits = Limits(settings.max_json_bytes, settings.max_payload_bytes)
        self._router = Router(
            self._on_message,
            max_part_bytes=2 * max(settings.max_json_bytes, settings.max_payload_bytes),
        )
        self._behind: dict[bytes, deque[list[bytes]]] = {}
        """By socket: what came behind a message that is being read in a worker thread."""
        self._peers: dict[bytes, Peer] = {}
        """By the socket that their client has now."""
        self._sessions: dict[bytes, Peer] = {}
        """By the digest of their key: also those whose socket is gone."""
        self._parted: list[tuple[float, Outbox]] = []
        self._retry: asyncio.TimerHandle | None = None
        self._retry_s = RETRY_S[0]
        self._background: set[asyncio.Task[None]] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop_requested = False
        self._idle_since = clock()
        self._last_look = clock()

    @property
    def session_count(self) -> int:
        return len(self._sessions)

    @property
    def curve_public_key(self) -> str:
        """What clients of an encrypted endpoint need; empty without. Known after `bind`."""
        return self._router.curve_public_key

    def bind(self) -> str:
        """Takes the endpoint of the settings; returns it with its port. Raises as `Router.bind` does."""
        self.endpoint = self._router.bind(
            self._settings.endpoint, curve_key=self._settings.curve_key, no_auth=self._settings.no_auth
        )
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
            if self._retry is not None:
                self._retry.cancel()  # of a client that is still full: it would find a closed socket
            self._router.close(LINGER_S)

    # ---- what comes in ----

    def _on_message(self, identity: bytes, frames: list[bytes]) -> None:
        peer = self._peers.get(identity)
        if peer is not None:
            peer.last_heard = self._clock()
            if peer.is_detached:
                log.info("session %s: there again", peer.session_id)
                peer.outbox.attach()
        behind = self._behind.get(identity)
        if behind is not None:
            self._queue(identity, peer, behind, frames)
            return
        try:
            if peer is None:
                header = read_header(frames)
                if header.type_name != "Hello":
                    self._refuse(identity, None, header.request_id, SessionNotReady())
                    return
            elif len(frames) > 2 and READ_AT_ONCE < len(frames[2]) <= self._limits.json_bytes:
                self._behind[identity] = deque()
                self._spawn(self._read_beside(identity, peer.session_id, frames))
                return
            envelope = decode_request(frames, self._limits)
        except ParleyError as fault:
            self._refuse(identity, peer, fault.request_id, fault)
            return
        self._give(identity, envelope)

    def _queue(self, identity: bytes, peer: Peer | None, behind: deque[list[bytes]], frames: list[bytes]) -> None:
        """Let a message wait for the one before it, which is being read."""
        most = QUEUED_MESSAGES * self._limits.json_bytes
        if sum(len(part) for waiting in behind for part in waiting) <= most:
            behind.append(frames)
            return
        try:
            header = read_header(frames)
        except ParleyError as fault:
            self._refuse(identity, peer, fault.request_id, fault)
            return
        much = LimitExceeded(f"{header.type_name}: more than {most} bytes wait to be read; send less at a time")
        self._refuse(identity, peer, header.request_id, much)

    async def _read_beside(self, identity: bytes, session_id: str, frames: list[bytes]) -> None:
        """Read a large message in a worker thread; those behind it wait for their turn."""
        workers.session.set(session_id)
        try:
            envelope = await workers.request(decode_request, frames, self._limits)
        except ParleyError as fault:
            self._refuse(identity, self._peers.get(identity), fault.request_id, fault)
        else:
            self._give(identity, envelope)
        finally:
            behind = self._behind.pop(identity)
            while behind:
                self._on_message(identity, behind.popleft())
                if identity in self._behind:
                    self._behind[identity].extend(behind)
                    break

    def _give(self, identity: bytes, envelope: Envelope) -> None:
        peer = self._peers.get(identity)
        try:
            self._take(identity, peer, envelope)
        except ParleyError as fault:
            self._refuse(identity, peer, envelope.request_id, fault)
        except Exception:  # as above, where there may be no session yet
            self._reply(identity, peer, envelope.request_id, internal_error(envelope.message))

    def _take(self, identity: bytes, peer: Peer | None, envelope: Envelope) -> None:
        message = envelope.message
        if isinstance(message, Ping) and peer is not None:
            peer.acknowledge(message.last_seq)
            peer.outbox.put_unsequenced(Pong(), request_id=envelope.request_id)
        elif self._stopping.is_set():
            raise ShuttingDown()
        elif peer is not None and peer.is_ending:
            raise SessionNotReady("this session is ending; say Hello again after its last message")
        elif isinstance(message, Hello):
            self._hello(identity, peer, message, envelope.request_id)
        elif peer is None:
            raise SessionNotReady()
        elif peer.is_repeated(envelope.request_id):
            log.debug("session %s: request %d came again", peer.session_id, envelope.request_id)
        elif isinstance(message, Bye):
            log.info("session %s: Bye", peer.session_id)
            self._spawn(self._part(peer, Ok(), envelope.request_id))
        elif isinstance(message, Shutdown):
            if not peer.is_owner:
                raise Unauthorized("Shutdown needs a session that said Hello with this sidecar's own token")
            log.info("session %s: Shutdown", peer.session_id)
            peer.answer(envelope.request_id, Ok())
            self.request_shutdown()
        elif isinstance(message, GetStatus):
            peer.answer(envelope.request_id, self._status(peer))
        else:
            peer.take(envelope)

    def _status(self, asking: Peer) -> Reply:
        """Everything for the owner, for others only their own session."""
        assert asking.handler is not None
        shown = list(self._sessions.values()) if asking.is_owner else [asking]
        return asking.handler.status(
            [peer.row() for peer in shown],
            is_whole=asking.is_owner,
            tokens_in_turns=sum(peer.facts.tokens_generated for peer in shown),
        )

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
            self._resume(identity, old, hello, request_id, is_owner=is_owner)
            return
        if old is None and len(self._sessions) >= self._settings.max_sessions:
            self._make_room()
        if old is None and len(self._sessions) >= self._settings.max_sessions:
            raise TooManySessions(
                f"{len(self._sessions)} sessions are open, as many as `max_sessions` allows; end one with Bye"
            )
        peer = Peer(
            identity,
            Outbox(
                functools.partial(self._router.send, identity), self._settings.resume_buffer_bytes, self._flush_later
            ),
            self._limits.json_bytes,
            is_owner=is_owner,
            now=self._clock(),
            client=hello.client,
            counters=self._counters,
            max_open_requests=self._settings.max_open_requests,
        )
        peer.handler = self._make_session(peer.session_id, peer.push)
        if old is not None:
            # The client began anew on its socket: what its old session still says would only confuse it.
            log.info("session %s: replaced by a new Hello", old.session_id)
            self._drop(old)
        self._peers[identity] = peer
        self._sessions[_digest(peer.session_key)] = peer
        log.info(
            "session %s: Hello of %.64r",
            peer.session_id,
            hello.client,
            extra={"event": "session_begun", "session_id": peer.session_id, "client": hello.client},
        )
        self._welcome(peer, identity, request_id, resumed=False)

    def _resume(self, identity: bytes, old: Peer | None, hello: Hello, request_id: int, *, is_owner: bool) -> None:
        """Take a session up again, on this socket from now on."""
        peer = self._sessions.get(_digest(hello.resume or ""))
        if peer is None or peer.is_ending:
            raise SessionExpired()
        # A late Hello, from a socket that its client has given up, must not take the session from the living.
        if not self._welcome(peer, identity, request_id, resumed=True):
            log.info("session %s: who wanted to take it up is gone already", peer.session_id)
            return
        if old is not None and old is not peer:
            log.info("session %s: replaced by a Hello for session %s", old.session_id, peer.session_id)
            self._drop(old)
        if peer.identity != identity:
            self._send_once(peer.identity, Goodbye(reason="replaced"))
            self._peers.pop(peer.identity, None)
        peer.identity = identity
        peer.is_owner = is_owner
        peer.last_heard = self._clock()
        self._peers[identity] = peer
        log.info("session %s: taken up again by %.64r", peer.session_id, hello.client)
        peer.outbox.attach(functools.partial(self._router.send, identity), hello.last_seq)
        peer.taken_up()

    def _welcome(self, peer: Peer, identity: bytes, request_id: int, *, resumed: bool) -> bool:
        """Answers a Hello; False where nobody takes the answer."""
        sent = self._send_once(
            identity,
            SessionReady(
                protocol=PROTOCOL_VERSION,
                session_id=peer.session_id,
                session_key=peer.session_key,
                resumed=resumed,
                last_request_id=peer.last_request_id,
                server_version=__version__,
                schema_fingerprint=_fingerprint(),
                heartbeat_s=self._settings.heartbeat_s,
            ),
            request_id=request_id,
        )
        return sent is Sent.YES

    def _make_room(self) -> None:
        """End the session that is silent for longest, if its client seems to be gone."""
        silent = min(self._sessions.values(), key=lambda peer: peer.last_heard)
        if self._clock() - silent.last_heard >= self._settings.detach_after_s:
            log.info("session %s: silent, and its place is needed", silent.session_id)
            self._drop(silent)

    # ---- what goes out ----

    def _refuse(self, identity: bytes, peer: Peer | None, request_id: int, fault: ParleyError) -> None:
        self._reply(identity, peer, request_id, error_of(fault))

    def _reply(self, identity: bytes, peer: Peer | None, request_id: int, reply: Reply) -> None:
        if peer is not None:
            peer.answer(request_id, reply)
        else:
            if isinstance(reply, Error):
                self._counters.request_failed(reply)
            self._send_once(identity, reply, request_id=request_id)

    def _send_once(self, identity: bytes, message: Message, *, request_id: int = 0) -> Sent:
        """Send with `seq` 0, outside of any outbox: what the peer does not take now is let go."""
        return self._router.send(identity, encode(message, request_id=request_id))

    def _flush_later(self) -> None:
        if self._retry is None and self._loop is not None:
            self._retry = self._loop.call_later(self._retry_s, self._flush)

    def _flush(self) -> None:
        if self._retry is not None:
            self._retry.cancel()
            self._retry = None
        outboxes = [peer.outbox for peer in self._sessions.values()] + [outbox for _, outbox in self._parted]
        went_on = any([outbox.flush() for outbox in outboxes])
        if any(outbox.is_full for outbox in outboxes):
            first, last = RETRY_S
            self._retry_s = first if went_on else min(2 * self._retry_s, last)
            self._flush_later()
        else:
            self._retry_s = RETRY_S[0]
        if not any(peer.outbox.is_waiting and not peer.is_detached for peer in self._sessions.values()):
            self._all_sent.set()

    # ---- how sessions end ----

    def look_after_sessions(self) -> None:
        """Detaches sessions that are silent, ends those that are so for too long, stops an idle sidecar."""
        now = self._clock()
        detach_after = self._settings.detach_after_s
        # After a sleep of the machine, or under a debugger, clients get the time back that nobody had.
        lost = now - self._last_look - TICK_S
        self._last_look = now
        for peer in list(self._sessions.values()):
            if lost > detach_after:
                peer.last_heard += lost
            silent = now - peer.last_heard
            if silent >= detach_after + self._settings.resume_window_s and not peer.is_ending:
                log.info("session %s: expired", peer.session_id)
                self._spawn(self._part(peer, Goodbye(reason="expired")))
            elif silent >= detach_after and not peer.is_detached:
                log.info("session %s: detached; silent for %.0f s", peer.session_id, silent)
                peer.outbox.detach()
        self._flush()
        parted, self._parted = self._parted, []
        for until, outbox in parted:
            if outbox.is_waiting and until > now:
                self._parted.append((until, outbox))
            else:
                outbox.drop()
        if self._sessions or self._background:
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
        if peer.is_detached:
            peer.outbox.attach()  # in case that somebody is there after all
        self._forget(peer)

    def _drop(self, peer: Peer) -> None:
        """Ends a session whose client is sent nothing more."""
        peer.outbox.drop()
        self._forget(peer)
        self._spawn(peer.end(SessionExpired, END_TIMEOUT_S))

    def _forget(self, peer: Peer) -> None:
        if self._peers.get(peer.identity) is peer:
            del self._peers[peer.identity]
        if self._sessions.pop(_digest(peer.session_key), None) is not None:
            self._idle_since = self._clock()
        if peer.outbox.is_waiting and not peer.is_detached:
            self._parted.append((self._clock() + PARTED_S, peer.outbox))
        else:
            peer.outbox.drop()  # who still holds the peer, such as a session that does not close, holds no frames

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    async def _say_goodbye(self) -> None:
        peers = list(self._sessions.values())
        ends = [asyncio.ensure_future(peer.end(ShuttingDown, SHUTDOWN_TIMEOUT_S)) for peer in peers]
        if ends or self._background:
            await asyncio.wait({*ends, *self._background}, timeout=SHUTDOWN_TIMEOUT_S + 0.1)
        for peer in peers:
            peer.push(Goodbye(reason="shutdown"))
        self._all_sent.clear()
        self._flush()
        sent = asyncio.ensure_future(self._all_sent.wait())
        await asyncio.wait({sent}, timeout=FLUSH_TIMEOUT_S)
        sent.cancel()


def _bytes(token: str) -> bytes:
    return token.encode("utf-8", "surrogatepass")


@functools.cache
def _fingerprint() -> str:
    return schema_fingerprint()


def _digest(key: str) -> bytes:
    """Keys are looked up by their digest: how long that takes says nothing about the key."""
    return hashlib.sha256(_bytes(key)).digest()

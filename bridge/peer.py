"""The wire's side of one session: what was asked and answered, and whether its client is there.

A request is done once, however often it is sent: one that is being done is answered when it is done, one that was
answered gets the same reply again. Threading: used on the event loop only.
"""

from __future__ import annotations

import asyncio
import base64
import inspect
import logging
import os
from collections import OrderedDict
from collections.abc import Awaitable, Sequence
from typing import Protocol

from bridge.codec import Envelope, fit_debug
from bridge.errors import LimitExceeded, MalformedMessage, ParleyError
from bridge.outbox import Outbox
from bridge.protocol import Error, Message, Push, Reply, Request, SessionStatus, Status, TurnComplete
from bridge.status import Counters, SessionFacts, session_status

log = logging.getLogger(__name__)

REPLIES_KEPT = 1_024
REPLIES_KEPT_BYTES = 2 * 2**20
REPLY_KEPT_BYTES = 65_536
"""What is kept, until it is acknowledged, for requests that come again; of larger replies only the frames are."""
IDS_APART = 4_096
"""Request ids that may lie apart before the lowest are taken as seen."""


class SessionHandler(Protocol):
    """What the server needs of a session."""

    def handle(self, request: Request) -> Reply | Awaitable[Reply]:
        """The reply, or an awaitable of it for what takes long: nothing waits for it. Raises ParleyError."""
        ...

    def facts(self) -> SessionFacts:
        """What the status tells of it."""
        ...

    def status(self, sessions: Sequence[SessionStatus], *, is_whole: bool, tokens_in_turns: int = 0) -> Status:
        """The answer to GetStatus, with these sessions in it."""
        ...

    async def close(self) -> None:
        """Cancels turns, whose TurnComplete is pushed before this returns, and frees the agents."""
        ...


class Peer:
    """One session as the server sees it. `identity` is the socket that its client has now."""

    def __init__(
        self,
        identity: bytes,
        outbox: Outbox,
        max_json_bytes: int,
        *,
        is_owner: bool,
        now: float,
        client: str,
        counters: Counters,
        max_open_requests: int = 1_024,
    ) -> None:
        self.identity = identity
        self.outbox = outbox
        self.is_owner = is_owner
        self.last_heard = now
        self.client = client
        self._counters = counters
        self.session_id = os.urandom(8).hex()
        self.session_key = base64.urlsafe_b64encode(os.urandom(32)).decode("ascii").rstrip("=")
        self.handler: SessionHandler | None = None
        self._max_json_bytes = max_json_bytes
        self._max_open_requests = max_open_requests
        self._unanswered: dict[asyncio.Future[Reply], Envelope] = {}
        self._answered: OrderedDict[int, tuple[int, Reply, int]] = OrderedDict()
        """By request_id: the seq, the reply, its bytes; in the order of seq."""
        self._answered_bytes = 0
        self._ids = SeenIds()
        self._may_repeat: set[int] = set()
        self._end: asyncio.Task[None] | None = None

    @property
    def is_ending(self) -> bool:
        return self._end is not None

    @property
    def is_detached(self) -> bool:
        """Nobody reads what it is sent."""
        return not self.outbox.attached

    @property
    def last_request_id(self) -> int:
        """The highest request_id that came."""
        return self._ids.highest

    def push(self, message: Push, payload: bytes | None = None) -> asyncio.Event | None:
        """Sends a message that nobody asked for. Returns as `server.PushTo` does."""
        if isinstance(message, TurnComplete):
            message = fit_debug(message, self._max_json_bytes)
        self.outbox.put(message, payload=payload)
        return None if self.outbox.room.is_set() else self.outbox.room

    def answer(self, request_id: int, reply: Reply) -> None:
        """Sends the one reply of a request, and keeps it for the case that the request comes again."""
        if isinstance(reply, Error):
            self._counters.request_failed(reply, session_id=self.session_id)
        if request_id:
            self._ids.add(request_id)
        self._give(request_id, reply)

    def _give(self, request_id: int, reply: Reply) -> None:
        size = self.outbox.put(reply, request_id=request_id)
        if not request_id or size > REPLY_KEPT_BYTES:
            return
        self._answered[request_id] = (self.outbox.seq, reply, size)
        self._answered.move_to_end(request_id)
        self._answered_bytes += size
        while len(self._answered) > REPLIES_KEPT or self._answered_bytes > REPLIES_KEPT_BYTES:
            self._answered_bytes -= self._answered.popitem(last=False)[1][2]

    @property
    def facts(self) -> SessionFacts:
        return self.handler.facts() if self.handler is not None else SessionFacts(self.session_id)

    def row(self) -> SessionStatus:
        """This session's entry in the status."""
        return session_status(
            self.facts,
            client=self.client,
            attached=not self.is_detached,
            waiting_bytes=self.outbox.kept_bytes,
            unacknowledged=self.outbox.seq - self.outbox.acknowledged,
        )

    def acknowledge(self, last_seq: int) -> None:
        """The client has all up to `last_seq`."""
        self.outbox.acknowledge(last_seq)
        # What the client has it does not ask for again.
        while self._answered and next(iter(self._answered.values()))[0] <= self.outbox.acknowledged:
            self._answered_bytes -= self._answered.popitem(last=False)[1][2]

    def taken_up(self) -> None:
        """The client has a new socket. It says again what it has no answer to, though the answer is on its way already:
        such an answer is not given twice."""
        self._may_repeat = {envelope.request_id for envelope in self._unanswered.values()} | self.outbox.reply_ids()

    def is_repeated(self, request_id: int) -> bool:
        """Whether a request came before. It is then answered, or will be."""
        if request_id not in self._ids:
            return False
        is_expected = request_id in self._may_repeat
        self._may_repeat.discard(request_id)
        if is_expected and self.outbox.holds_reply(request_id):
            return True
        known = self._answered.get(request_id)
        if known is not None:
            del self._answered[request_id]
            self._answered_bytes -= known[2]
            self._give(request_id, known[1])
        elif all(envelope.request_id != request_id for envelope in self._unanswered.values()):
            fault = MalformedMessage(
                f"request_id {request_id} was answered long ago and its reply is not kept any more; "
                "a new request needs a new request_id"
            )
            self.outbox.put(error_of(fault), request_id=request_id)
        return True

    def take(self, envelope: Envelope) -> None:
        """Lets the handler do a request, and answers now or when its awaitable is done."""
        assert self.handler is not None and isinstance(envelope.message, Request)
        self._ids.add(envelope.request_id)
        try:
            if len(self._unanswered) >= self._max_open_requests:
                raise LimitExceeded(
                    f"{len(self._unanswered)} requests wait for their replies already (max_open_requests)"
                )
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
            self.answer(envelope.request_id, internal_error(envelope.message))

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
            self.answer(envelope.request_id, internal_error(envelope.message))
        except Exception:  # a bug of ours: answered once as InternalError, its traceback logged
            self.answer(envelope.request_id, internal_error(envelope.message))
        finally:
            del future  # or its fault, whose traceback has this frame, would keep itself and the request

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
        self.handler = None  # they hold each other: storages and all would stay until Python's collector looks


class SeenIds:
    """The request ids that came, in little memory as long as they rise."""

    def __init__(self) -> None:
        self.highest = 0
        self._below = 0  # all up to this one count as seen
        self._apart: set[int] = set()

    def __contains__(self, request_id: int) -> bool:
        return request_id <= self._below or request_id in self._apart

    def add(self, request_id: int) -> None:
        """Note an id."""
        if request_id in self:
            return
        self.highest = max(self.highest, request_id)
        self._apart.add(request_id)
        if len(self._apart) > IDS_APART:
            self._below = min(self._apart)
            self._apart.discard(self._below)
        while self._below + 1 in self._apart:
            self._below += 1
            self._apart.discard(self._below)


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


def internal_error(message: Message) -> Error:
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

"""A small asyncio client for a sidecar: what `demo`, `chat` and tests talk with, and a model for other clients.

A connection that breaks, or falls silent, is made anew and the session taken up again where it was: every frame comes
once and in order, every request is answered once. Only a sidecar that stays away ends that; see `companion`.

Run it on a selector event loop (`run_on_selector_loop`); everything here belongs to that loop's thread.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import time
from collections import deque
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

from bridge.client_link import Link
from bridge.codec import Envelope, decode_message, encode, read_header
from bridge.dialog_document import split
from bridge.errors import BY_CODE, MalformedMessage, ParleyError, SessionExpired, SessionNotReady, ShuttingDown
from bridge.protocol import (
    PROTOCOL_VERSION,
    AgentCreated,
    Agents,
    Bye,
    CancelTurn,
    ConfigureSession,
    CreateAgent,
    CreateEmbeddedStorage,
    DestroyAgent,
    Dialog,
    DialogDocument,
    DownloadModel,
    Error,
    ExportDialog,
    Gap,
    Goodbye,
    Hello,
    Interaction,
    ListAgents,
    LoadModel,
    Message,
    Ok,
    Ping,
    Pong,
    Problem,
    Push,
    Reply,
    Request,
    SeedDialog,
    SendMessage,
    SessionReady,
    Shutdown,
    TurnComplete,
    TurnError,
    TurnStarted,
    ValidateWorkflow,
    Validation,
    VariableValue,
)

ACK_FRAMES = 1_000
ACK_BYTES = 2**20
CONNECT_TIMEOUT_S = 10.0
REQUEST_TIMEOUT_S = 60.0
LONG_REQUEST_TIMEOUT_S = 1_800.0
"""Of requests that load models, fetch them or build indexes."""
RECONNECT_S = 300.0
REJOIN_TIMEOUT_S = 5.0
"""For so long one try to take the session up again may last."""
REJOIN_PAUSES_S = (0.0, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0)
SILENCE_S = 15.0
GHOST_S = 60.0
"""A Hello that came to nothing may be heard so much later."""
SHOWN_PROBLEMS = 5
"""Findings about a workflow that an exception's text has."""

LinkState = Literal["lost", "back"]
_LONG = (CreateAgent, LoadModel, DownloadModel, CreateEmbeddedStorage)

log = logging.getLogger(__name__)


class Subscription:
    """Pushes from the moment it was made, in order; iterate it. Ends when the connection does. Close it when done."""

    def __init__(self, close: Callable[[Subscription], None]) -> None:
        self._queue: asyncio.Queue[Envelope | None] = asyncio.Queue()
        self._close = close
        self._fault: Exception | None = None
        self._ended = False

    def put(self, envelope: Envelope) -> None:
        """Hands over one push."""
        self._queue.put_nowait(envelope)

    def end(self, fault: Exception | None) -> None:
        """No more will come; `fault` is raised to whoever iterates, after what came before."""
        self._fault = fault
        self._queue.put_nowait(None)

    def close(self) -> None:
        """Takes no more pushes."""
        self._close(self)
        self.end(None)

    def __aiter__(self) -> Subscription:
        return self

    async def __anext__(self) -> Envelope:
        envelope = None if self._ended else await self._queue.get()
        if envelope is not None:
            return envelope
        self._ended = True
        if self._fault is not None:
            raise self._fault
        raise StopAsyncIteration


@dataclass(slots=True)
class _Asked:
    """A request that is not answered yet."""

    frames: list[bytes]
    future: asyncio.Future[Envelope]


class ParleyClient:
    """One session with a sidecar. Make it with `connect`; end it with `bye` and `close`, or use it as `async with`.

    Requests raise the class of `errors.BY_CODE` that the sidecar's Error names, TimeoutError after their time, and
    ConnectionError or SessionExpired once the session is lost for good.
    """

    def __init__(
        self,
        endpoint: str,
        on_envelope: Callable[[Envelope], None] | None = None,
        *,
        reconnect_s: float = RECONNECT_S,
        on_link: Callable[[LinkState], None] | None = None,
        server_public_key: str = "",
    ) -> None:
        self.endpoint = endpoint
        self.last_seq = 0
        self._token = ""
        self._name = ""
        self._on_envelope = on_envelope
        self._on_link = on_link
        self._reconnect_s = reconnect_s
        self._server_public_key = server_public_key
        self._ready: SessionReady | None = None
        self._next_request_id = 1
        self._asked: dict[int, _Asked] = {}
        self._unsent: list[int] = []
        self._starting: dict[int, Subscription] = {}
        self._turns: dict[tuple[str, int], Subscription] = {}
        self._subscriptions: list[Subscription] = []
        self._unacknowledged = [0, 0]
        self._heartbeat: asyncio.Task[None] | None = None
        self._rejoining: asyncio.Task[None] | None = None
        self._checking: asyncio.Task[None] | None = None
        self._attempt_broke: asyncio.Event = asyncio.Event()
        self._last_heard = time.monotonic()
        self._fault: Exception | None = None
        self._closed = False
        self._ghosts: deque[float] = deque()
        """When a Hello was given up unanswered: it may still come to the sidecar and take the session from here."""
        self._takes_up = False
        """The session is another client object's: its first frame may have any number."""
        self._link = self._new_link()

    @classmethod
    async def connect(
        cls,
        endpoint: str,
        token: str = "",
        *,
        client: str = "python",
        timeout: float = CONNECT_TIMEOUT_S,
        on_envelope: Callable[[Envelope], None] | None = None,
        reconnect_s: float = RECONNECT_S,
        on_link: Callable[[LinkState], None] | None = None,
        server_public_key: str = "",
        resume: str | None = None,
        last_seq: int = 0,
    ) -> ParleyClient:
        """A client that has said Hello. `on_envelope` sees all that comes, replies too, once and in order.

        For `reconnect_s` seconds a lost connection is made anew (0: never); `on_link` hears "lost" and "back".
        `server_public_key` is for sidecars with CURVE. `resume` is the session_key of a session that another client
        object had, `last_seq` the last that it got; without one, all that is unacknowledged comes again.

        Raises Unauthorized and the like, or TimeoutError when nobody answers within `timeout` seconds.
        """
        made = cls(endpoint, on_envelope, reconnect_s=reconnect_s, on_link=on_link, server_public_key=server_public_key)
        made._token, made._name = token, client
        made.last_seq = last_seq
        made._takes_up = resume is not None and not last_seq
        try:
            reply = await made._first_hello(resume, timeout)
            made._ready = reply
            made._next_request_id = max(made._next_request_id, reply.last_request_id + 1)
        except BaseException:
            await made.close()
            raise
        made._heartbeat = asyncio.create_task(made._beat(reply.heartbeat_s))
        return made

    @property
    def lost(self) -> Exception | None:
        """Why the session is over; None while it is not."""
        return self._fault

    @property
    def ready(self) -> SessionReady:
        """What the sidecar said at Hello."""
        assert self._ready is not None, "connect() first"
        return self._ready

    async def __aenter__(self) -> ParleyClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, traceback: TracebackType | None
    ) -> None:
        with contextlib.suppress(ParleyError, OSError, asyncio.TimeoutError):
            await self.bye(timeout=1.0)
        await self.close()

    # ---- requests ----

    async def request(self, message: Request, *, timeout: float | None = None) -> Reply:
        """Sends a request and waits for its reply.

        Raises TimeoutError after `timeout` seconds; None: a minute, or half an hour for what loads, fetches or builds.
        """
        if timeout is None:
            timeout = LONG_REQUEST_TIMEOUT_S if isinstance(message, _LONG) else REQUEST_TIMEOUT_S
        return await self._reply_to(self._send(message), timeout)

    async def create_agent(
        self,
        workflow: Mapping[str, Any],
        *,
        variables: Mapping[str, VariableValue] | None = None,
        enable_diagnostics: bool = False,
        max_steps: int = 64,
        seed_dialog: dict[str, Any] | list[Any] | None = None,
    ) -> AgentCreated:
        """Makes a conversation of a workflow. Raises WorkflowInvalid with all `problems`.

        `seed_dialog` may be of any length: a long one goes in pieces.
        """
        pieces = [] if seed_dialog is None else list(split(seed_dialog))
        reply = await self.request(
            CreateAgent(
                workflow=dict(workflow),
                variables=dict(variables or {}),
                enable_diagnostics=enable_diagnostics,
                max_steps=max_steps,
                seed_dialog=pieces[0] if pieces else None,
            )
        )
        assert isinstance(reply, AgentCreated)
        try:
            for piece in pieces[1:]:
                await self.request(SeedDialog(agent_id=reply.agent_id, dialog=piece, append=True))
        except ParleyError:
            with contextlib.suppress(ParleyError, ConnectionError, asyncio.TimeoutError):
                await self.request(DestroyAgent(agent_id=reply.agent_id))
            raise
        return reply

    async def export_dialog(self, agent_id: str) -> DialogDocument:
        """The whole dialog history, in as many pieces as it takes; nothing may change it meanwhile."""
        turns: list[Interaction] = []
        while True:
            reply = await self.request(ExportDialog(agent_id=agent_id, from_=len(turns)))
            assert isinstance(reply, Dialog)
            turns += reply.dialog.interactions
            if len(turns) >= reply.total or not reply.dialog.interactions:
                return DialogDocument(interactions=turns, summary=reply.dialog.summary)

    async def seed_dialog(self, agent_id: str, dialog: dict[str, Any] | list[Any], *, append: bool = False) -> None:
        """Replaces the dialog history, or continues it; a long one goes in pieces.

        Raises what SeedDialog is refused with; the pieces before the refused one are then there.
        """
        for piece in split(dialog):
            await self.request(SeedDialog(agent_id=agent_id, dialog=piece, append=append))
            append = True

    async def create_agent_from_file(self, path: str | Path, **options: Any) -> AgentCreated:
        """Makes a conversation of a workflow file, whose folder becomes the session's storage folder.

        `options` are those of `create_agent`. Raises OSError, ValueError where the file is no JSON, and as that does.
        """
        folder, workflow = await asyncio.to_thread(_read_workflow, Path(path))
        await self.request(ConfigureSession(storage_folder=folder))
        return await self.create_agent(workflow, **options)

    async def validate(self, workflow: Mapping[str, Any]) -> list[Problem]:
        """Every finding of the compiler."""
        reply = await self.request(ValidateWorkflow(workflow=dict(workflow)))
        assert isinstance(reply, Validation)
        return reply.problems

    async def turn(self, agent_id: str, text: str) -> AsyncGenerator[Envelope, None]:
        """Says the player's line and yields every push of the turn in order; TurnComplete is the last.

        Raises what SendMessage is refused with, such as AgentBusy. Leaving early leaves the turn running.
        """
        frames = Subscription(self._unsubscribe)
        request_id = self._send(SendMessage(agent_id=agent_id, text=text))
        self._starting[request_id] = frames
        try:
            await self._reply_to(request_id, REQUEST_TIMEOUT_S)
            async for envelope in frames:
                yield envelope
                if isinstance(envelope.message, TurnComplete):
                    return
        finally:
            self._starting.pop(request_id, None)
            self._unsubscribe(frames)

    async def cancel_turn(self, agent_id: str, turn_id: int | None = None) -> None:
        """Stops a turn; its TurnComplete still comes."""
        await self.request(CancelTurn(agent_id=agent_id, turn_id=turn_id))

    def subscribe(self) -> Subscription:
        """All pushes from now on, of all turns and of none."""
        subscription = Subscription(self._unsubscribe)
        if self._fault is not None:
            subscription.end(self._fault)
        self._subscriptions.append(subscription)
        return subscription

    async def bye(self, *, timeout: float | None = None) -> None:
        """Ends the session in good order: its turns are cancelled, their TurnComplete comes first."""
        await self.request(Bye(), timeout=timeout)
        self._lose(ConnectionError("this session said Bye"))

    async def shutdown(self, *, timeout: float | None = None) -> None:
        """Stops the sidecar."""
        self._reconnect_s = 0  # whoever ends it does not wait for it to come back
        try:
            reply = await self.request(Shutdown(), timeout=timeout)
        except ConnectionError:
            return  # it went before its answer came
        assert isinstance(reply, Ok)

    async def close(self) -> None:
        """Closes the connection; says nothing to the sidecar. Idempotent."""
        if self._closed:
            return
        self._closed = True
        self._lose(ConnectionError("the client is closed"))
        for task in (self._heartbeat, self._rejoining, self._checking):
            if task is not None and task is not asyncio.current_task():
                task.cancel()
                await asyncio.wait({task})
        self._link.close()

    # ---- the wire ----

    def _new_link(self) -> Link:
        self._attempt_broke.clear()
        return Link(self.endpoint, self._take, self._broken, server_public_key=self._server_public_key)

    def _send(self, message: Request) -> int:
        if self._fault is not None:
            raise self._fault
        request_id = self._next_request_id
        self._next_request_id += 1
        frames = encode(message, request_id=request_id)
        self._asked[request_id] = _Asked(frames, asyncio.get_running_loop().create_future())
        # While the session is being taken up again, only the Hello that does it goes out.
        if (self._rejoining is not None and not isinstance(message, Hello)) or not self._link.send(frames):
            self._unsent.append(request_id)
        return request_id

    def _send_unsent(self) -> None:
        while self._unsent and self._rejoining is None:
            asked = self._asked.get(self._unsent[0])
            if asked is not None and not self._link.send(asked.frames):
                return
            del self._unsent[0]

    async def _reply_to(self, request_id: int, timeout: float) -> Reply:
        future = self._asked[request_id].future
        try:
            envelope = await asyncio.wait_for(future, timeout)
        except asyncio.TimeoutError:
            raise TimeoutError(f"{self.endpoint} did not answer within {timeout:g} s") from None
        finally:
            self._asked.pop(request_id, None)
        reply = envelope.message
        assert isinstance(reply, Reply)
        if isinstance(reply, Error):
            raise error_from(reply)
        return reply

    def _take(self, link: Link, frames: list[bytes]) -> None:
        # Behind what broke it nothing counts: what is numbered comes again, the rest speaks of a link that is over.
        if link is not self._link or self._closed or self._attempt_broke.is_set():
            return
        self._last_heard = time.monotonic()
        try:
            # Also a message that only newer clients understand has come, and is acknowledged.
            seq = read_header(frames).seq
            envelope = decode_message(frames)
        except MalformedMessage as fault:
            self._lose(fault)
            return
        if seq and not self._is_next(seq, envelope, frames):
            return
        if envelope is None:
            return
        if self._is_not_known(envelope):
            self._broken(self._link)
            return
        if self._on_envelope is not None and not isinstance(envelope.message, Pong):
            self._on_envelope(envelope)
        if isinstance(envelope.message, Push):
            self._route(envelope)
        else:
            self._settle(envelope)

    def _is_next(self, seq: int, envelope: Envelope | None, frames: Sequence[bytes]) -> bool:
        """Whether a numbered message is new; what came already is let go, and a hole has the session taken up again."""
        if seq <= self.last_seq:
            return False
        gap = envelope.message if envelope is not None and isinstance(envelope.message, Gap) else None
        first = seq if gap is None else gap.from_seq
        if first > self.last_seq + 1 and not self._takes_up:
            log.warning("frame %d came where %d was due; taking the session up again", first, self.last_seq + 1)
            self._broken(self._link)
            return False
        self._takes_up = False
        self.last_seq = seq
        self._unacknowledged[0] += 1
        self._unacknowledged[1] += sum(map(len, frames))
        if self._unacknowledged[0] >= ACK_FRAMES or self._unacknowledged[1] >= ACK_BYTES:
            self._ping()
        if gap is not None and gap.reason == "dropped" and self._checking is None:
            log.warning("frames %d to %d are lost; they were more than the sidecar keeps", first, seq)
            self._checking = asyncio.create_task(self._check_turns())
        return True

    def _settle(self, envelope: Envelope) -> None:
        message = envelope.message
        starting = self._starting.pop(envelope.request_id, None)
        if starting is not None and isinstance(message, TurnStarted):
            # Here and not where the reply is awaited: the turn's first frames may be the very next to be read.
            self._turns[message.agent_id, message.turn_id] = starting
        asked = self._asked.get(envelope.request_id)
        if asked is not None and not asked.future.done():
            asked.future.set_result(envelope)

    def _route(self, envelope: Envelope) -> None:
        message = envelope.message
        for subscription in self._subscriptions:
            subscription.put(envelope)
        frames = self._turns.get(_turn_of(message))
        if frames is not None:
            frames.put(envelope)
        if isinstance(message, Goodbye):
            why = ShuttingDown if message.reason == "shutdown" else SessionExpired
            self._lose(why(f"the sidecar said Goodbye: {message.reason}"))

    # ---- a connection that breaks ----

    def _is_not_known(self, envelope: Envelope) -> bool:
        """Whether the sidecar takes this connection for a stranger's, though the session may be taken up again.

        A Hello of this client itself that came late may have taken the session from it.
        """
        if self._ready is None or envelope.seq:
            return False
        message = envelope.message
        if isinstance(message, Error):
            return message.code == SessionNotReady.code
        if not (isinstance(message, Goodbye) and message.reason == "replaced"):
            return False
        while self._ghosts and time.monotonic() - self._ghosts[0] > GHOST_S:
            self._ghosts.popleft()
        if not self._ghosts:
            return False
        self._ghosts.popleft()
        return True

    def _broken(self, link: Link) -> None:
        if link is not self._link or self._closed or self._fault is not None:
            return
        self._attempt_broke.set()
        if self._ready is None or self._reconnect_s <= 0:
            if self._ready is not None:
                self._lose(ConnectionError(f"the connection to {self.endpoint} broke"))
        elif self._rejoining is None:
            self._rejoining = asyncio.create_task(self._rejoin())

    async def _rejoin(self) -> None:
        """Take the session up again on a new connection, as often as it takes within `reconnect_s`."""
        log.warning("the connection to the sidecar at %s is lost; trying to take the session up again", self.endpoint)
        self._tell("lost")
        until = time.monotonic() + self._reconnect_s
        tries = 0
        while True:
            await asyncio.sleep(REJOIN_PAUSES_S[min(tries, len(REJOIN_PAUSES_S) - 1)])
            tries += 1
            # What lingers would come behind what the next connection says.
            self._link.close(0.0)
            try:
                self._link = self._new_link()
                reply = await self._say_hello(self.ready.session_key, REJOIN_TIMEOUT_S)
            except ParleyError as fault:
                self._rejoining = None
                self._lose(fault)
                return
            except (OSError, asyncio.TimeoutError) as fault:
                if time.monotonic() >= until:
                    self._rejoining = None
                    self._lose(ConnectionError(f"the sidecar at {self.endpoint} has not come back: {fault}"))
                    return
                continue
            break
        self._ready = reply
        self._rejoining = None
        self._last_heard = time.monotonic()
        # What the sidecar has had already it does not do again, so all that is open may simply be said again.
        self._unsent = sorted(number for number, asked in self._asked.items() if not asked.future.done())
        self._send_unsent()
        log.warning("the session with the sidecar at %s goes on", self.endpoint)
        self._tell("back")
        if self._attempt_broke.is_set():
            self._broken(self._link)

    async def _first_hello(self, resume: str | None, timeout: float) -> SessionReady:
        """Say Hello, on a new connection where one breaks or the sidecar is not there yet. Raises TimeoutError."""
        until = time.monotonic() + timeout
        tries = 0
        while True:
            try:
                return await self._say_hello(resume, min(REJOIN_TIMEOUT_S, until - time.monotonic()))
            except (OSError, asyncio.TimeoutError):
                pause_s = REJOIN_PAUSES_S[min(tries, len(REJOIN_PAUSES_S) - 1)]
                tries += 1
                if time.monotonic() + pause_s >= until:
                    raise TimeoutError(f"{self.endpoint} did not answer within {timeout:g} s") from None
                await asyncio.sleep(pause_s)
                self._link.close(0.0)
                self._link = self._new_link()

    async def _say_hello(self, resume: str | None, timeout: float) -> SessionReady:
        last_seq = self.last_seq or None
        hello = Hello(protocol=PROTOCOL_VERSION, client=self._name, token=self._token, resume=resume, last_seq=last_seq)
        request_id = self._send(hello)
        answer = asyncio.ensure_future(self._reply_to(request_id, timeout))
        broke = asyncio.ensure_future(self._attempt_broke.wait())
        try:
            await asyncio.wait({answer, broke}, return_when=asyncio.FIRST_COMPLETED)
            if not answer.done():
                raise ConnectionError("nobody is there")
            reply = answer.result()
        except (OSError, asyncio.TimeoutError):
            if not self._link.was_refused:
                self._ghosts.append(time.monotonic())
            raise
        finally:
            for task in (answer, broke):
                task.cancel()
            await asyncio.gather(answer, broke, return_exceptions=True)
        assert isinstance(reply, SessionReady)
        return reply

    def _tell(self, state: LinkState) -> None:
        if self._on_link is not None:
            self._on_link(state)

    async def _check_turns(self) -> None:
        """The end of a turn may have been among frames that are lost: whoever waits for it must not wait for ever."""
        try:
            reply = await self.request(ListAgents())
        except (ParleyError, OSError, asyncio.TimeoutError):
            return  # the session is lost, which its turns are told of anyway
        finally:
            self._checking = None
        assert isinstance(reply, Agents)
        busy = {agent.agent_id for agent in reply.agents if agent.busy}
        for (agent_id, turn_id), frames in list(self._turns.items()):
            if agent_id not in busy:
                error = TurnError(code=SessionExpired.code, name="SessionExpired", message="the turn's end was lost")
                complete = TurnComplete(agent_id=agent_id, turn_id=turn_id, status="Error", error=error)
                frames.put(Envelope(complete, 0, 0))

    def _lose(self, fault: Exception) -> None:
        if self._fault is not None:
            return
        self._fault = fault
        for asked in self._asked.values():
            if not asked.future.done():
                asked.future.set_exception(fault)
        for subscription in [*self._turns.values(), *self._starting.values(), *self._subscriptions]:
            subscription.end(fault)

    def _unsubscribe(self, subscription: Subscription) -> None:
        self._subscriptions = [other for other in self._subscriptions if other is not subscription]
        self._turns = {turn: other for turn, other in self._turns.items() if other is not subscription}

    def _ping(self) -> None:
        self._unacknowledged = [0, 0]
        if self._rejoining is None:
            self._link.send(encode(Ping(last_seq=self.last_seq)))

    async def _beat(self, every_s: float) -> None:
        patience_s = max(SILENCE_S, 3 * every_s)
        while self._fault is None:
            began = time.monotonic()
            await asyncio.sleep(every_s)
            # Where this process stood still (a debugger, a busy loop), what came meanwhile waits to be read.
            self._last_heard += max(0.0, time.monotonic() - began - every_s)
            if self._rejoining is not None:
                self._last_heard = time.monotonic()
            elif time.monotonic() - self._last_heard > patience_s:
                self._broken(self._link)
                if self._reconnect_s <= 0:
                    self._lose(ConnectionError(f"{self.endpoint} has not answered for {patience_s:.0f} s"))
            self._ping()
            self._send_unsent()


def _read_workflow(path: Path) -> tuple[str, Any]:
    """The folder of a workflow file, and what it holds."""
    file = path.resolve()
    return str(file.parent), json.loads(file.read_text(encoding="utf-8-sig"))


def _turn_of(message: Message) -> tuple[str, int]:
    return getattr(message, "agent_id", ""), getattr(message, "turn_id", 0)


def error_from(reply: Error) -> ParleyError:
    """The error that an Error tells of. A code of a newer sidecar becomes the family's root class.

    Its words are the first finding and some more where there are several; all are in `problems`.
    """
    known = BY_CODE.get(reply.code)
    message = reply.message if known else f"{reply.name} ({reply.code}): {reply.message}"
    found = [problem for problem in reply.problems if problem.severity == "error"]
    others = [f"{problem.path}: {problem.message}" for problem in found[1:SHOWN_PROBLEMS]]
    return (known or ParleyError)(
        "\n  ".join([message, *others]),
        agent_id=reply.agent_id,
        node_name=reply.node_name,
        path=reply.path,
        problems=reply.problems,
    )

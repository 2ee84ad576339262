"""A small asyncio client for a sidecar: what `demo`, `chat`, tests and samples talk with.

Run it on a selector event loop (`run_on_selector_loop`); everything here belongs to that loop's thread.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from types import TracebackType
from typing import Any

import zmq

from bridge.codec import MAX_PARTS, Envelope, decode_message, encode, read_header
from bridge.errors import BY_CODE, MalformedMessage, ParleyError, SessionExpired, ShuttingDown
from bridge.protocol import (
    PROTOCOL_VERSION,
    AgentCreated,
    Bye,
    CancelTurn,
    CreateAgent,
    Error,
    Goodbye,
    Hello,
    Message,
    Ok,
    Ping,
    Pong,
    Problem,
    Push,
    Reply,
    Request,
    SendMessage,
    SessionReady,
    Shutdown,
    TurnComplete,
    TurnStarted,
    ValidateWorkflow,
    Validation,
    VariableValue,
)
from bridge.transport import LoopSocket

ACK_FRAMES = 1_000
ACK_BYTES = 2**20
READ_BATCH = 64
CONNECT_TIMEOUT_S = 10.0
LINGER_S = 0.1


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


class ParleyClient:
    """One session with a sidecar. Make it with `connect`; end it with `bye` and `close`, or use it as `async with`.

    Requests raise the class of `errors.BY_CODE` that the sidecar's Error names, and ConnectionError once the
    connection is lost: this client does not take sessions up again.
    """

    def __init__(self, endpoint: str, on_envelope: Callable[[Envelope], None] | None = None) -> None:
        self.endpoint = endpoint
        self.last_seq = 0
        self._on_envelope = on_envelope
        self._ready: SessionReady | None = None
        self._next_request_id = 1
        self._waiting: dict[int, asyncio.Future[Envelope]] = {}
        self._starting: dict[int, Subscription] = {}
        self._turns: dict[tuple[str, int], Subscription] = {}
        self._subscriptions: list[Subscription] = []
        self._unacknowledged = [0, 0]
        self._heartbeat: asyncio.Task[None] | None = None
        self._last_heard = time.monotonic()
        self._fault: Exception | None = None
        self._closed = False
        self._context = zmq.Context()
        self._socket = self._context.socket(zmq.DEALER)
        self._socket.setsockopt(zmq.LINGER, int(LINGER_S * 1000))
        self._socket.setsockopt(zmq.IPV6, "[" in endpoint)
        self._monitor = self._socket.get_monitor_socket(zmq.EVENT_DISCONNECTED)
        self._reader = LoopSocket(self._socket, self._take, max_parts=MAX_PARTS + 1, batch=READ_BATCH)
        self._monitor_reader = LoopSocket(self._monitor, self._disconnected, max_parts=2, batch=1)

    @classmethod
    async def connect(
        cls,
        endpoint: str,
        token: str = "",
        *,
        client: str = "python",
        timeout: float = CONNECT_TIMEOUT_S,
        on_envelope: Callable[[Envelope], None] | None = None,
    ) -> ParleyClient:
        """A client that has said Hello. `on_envelope` sees all that comes, replies too, in order.

        Raises Unauthorized and the like, or TimeoutError when nobody answers within `timeout` seconds.
        """
        made = cls(endpoint, on_envelope)
        try:
            made._socket.connect(endpoint)
            made._reader.start()
            made._monitor_reader.start()
            hello = Hello(protocol=PROTOCOL_VERSION, client=client, token=token)
            reply = await made.request(hello, timeout=timeout)
            assert isinstance(reply, SessionReady)
            made._ready = reply
        except BaseException:
            await made.close()
            raise
        made._heartbeat = asyncio.create_task(made._beat(reply.heartbeat_s))
        return made

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
        """Sends a request and waits for its reply, for as long as it takes or `timeout` seconds (TimeoutError)."""
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
        """Makes a conversation of a workflow. Raises WorkflowInvalid with all `problems`."""
        reply = await self.request(
            CreateAgent(
                workflow=dict(workflow),
                variables=dict(variables or {}),
                enable_diagnostics=enable_diagnostics,
                max_steps=max_steps,
                seed_dialog=seed_dialog,
            )
        )
        assert isinstance(reply, AgentCreated)
        return reply

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
            await self._reply_to(request_id, None)
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
        reply = await self.request(Shutdown(), timeout=timeout)
        assert isinstance(reply, Ok)

    async def close(self) -> None:
        """Closes the connection; says nothing to the sidecar. Idempotent."""
        if self._closed:
            return
        self._closed = True
        self._lose(ConnectionError("the client is closed"))
        if self._heartbeat is not None:
            self._heartbeat.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._heartbeat
        self._reader.stop()
        self._monitor_reader.stop()
        self._socket.disable_monitor()
        self._monitor.close(0)
        self._context.destroy(linger=int(LINGER_S * 1000))

    # ---- the wire ----

    def _send(self, message: Request) -> int:
        if self._fault is not None:
            raise self._fault
        request_id = self._next_request_id
        self._next_request_id += 1
        try:
            self._reader.send(encode(message, request_id=request_id))
        except zmq.Again:
            raise ConnectionError(f"nobody takes messages at {self.endpoint}") from None
        self._waiting[request_id] = asyncio.get_running_loop().create_future()
        return request_id

    async def _reply_to(self, request_id: int, timeout: float | None) -> Reply:
        future = self._waiting[request_id]
        try:
            envelope = await asyncio.wait_for(future, timeout)
        except asyncio.TimeoutError:
            raise TimeoutError(f"{self.endpoint} did not answer within {timeout} s") from None
        finally:
            self._waiting.pop(request_id, None)
        reply = envelope.message
        assert isinstance(reply, Reply)
        if isinstance(reply, Error):
            raise error_from(reply)
        return reply

    def _take(self, frames: list[bytes]) -> None:
        self._last_heard = time.monotonic()
        try:
            # Also a message that only newer clients understand has come, and is acknowledged.
            self._count(read_header(frames).seq, frames)
            envelope = decode_message(frames)
        except MalformedMessage as fault:
            self._lose(fault)
            return
        if envelope is None:
            return
        if self._on_envelope is not None and not isinstance(envelope.message, Pong):
            self._on_envelope(envelope)
        if isinstance(envelope.message, Push):
            self._route(envelope)
        else:
            self._settle(envelope)

    def _count(self, seq: int, frames: Sequence[bytes]) -> None:
        if seq == 0:
            return
        self.last_seq = seq
        self._unacknowledged[0] += 1
        self._unacknowledged[1] += sum(map(len, frames))
        if self._unacknowledged[0] >= ACK_FRAMES or self._unacknowledged[1] >= ACK_BYTES:
            self._ping()

    def _settle(self, envelope: Envelope) -> None:
        message = envelope.message
        starting = self._starting.pop(envelope.request_id, None)
        if starting is not None and isinstance(message, TurnStarted):
            # Here and not where the reply is awaited: the turn's first frames may be the very next to be read.
            self._turns[message.agent_id, message.turn_id] = starting
        future = self._waiting.get(envelope.request_id)
        if future is not None and not future.done():
            future.set_result(envelope)

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

    def _disconnected(self, _: list[bytes]) -> None:
        # What came before the connection broke is still to be read.
        asyncio.get_running_loop().call_soon(self._lose, ConnectionError(f"the connection to {self.endpoint} broke"))

    def _lose(self, fault: Exception) -> None:
        if self._fault is not None:
            return
        self._fault = fault
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(fault)
        for subscription in [*self._turns.values(), *self._starting.values(), *self._subscriptions]:
            subscription.end(fault)

    def _unsubscribe(self, subscription: Subscription) -> None:
        self._subscriptions = [other for other in self._subscriptions if other is not subscription]
        self._turns = {turn: other for turn, other in self._turns.items() if other is not subscription}

    def _ping(self) -> None:
        self._unacknowledged = [0, 0]
        with contextlib.suppress(zmq.Again):
            self._reader.send(encode(Ping(last_seq=self.last_seq)))

    async def _beat(self, every_s: float) -> None:
        patience_s = max(15.0, 3 * every_s)
        while True:
            began = time.monotonic()
            await asyncio.sleep(every_s)
            # Where this process stood still (a debugger, a busy loop), what came meanwhile waits to be read.
            self._last_heard += max(0.0, time.monotonic() - began - every_s)
            if time.monotonic() - self._last_heard > patience_s:
                self._lose(ConnectionError(f"{self.endpoint} has not answered for {patience_s:.0f} s"))
                return
            self._ping()


def _turn_of(message: Message) -> tuple[str, int]:
    return getattr(message, "agent_id", ""), getattr(message, "turn_id", 0)


def error_from(reply: Error) -> ParleyError:
    """The error that an Error tells of. A code of a newer sidecar becomes the family's root class."""
    known = BY_CODE.get(reply.code)
    return (known or ParleyError)(
        reply.message if known else f"{reply.name} ({reply.code}): {reply.message}",
        agent_id=reply.agent_id,
        node_name=reply.node_name,
        path=reply.path,
        problems=reply.problems,
    )

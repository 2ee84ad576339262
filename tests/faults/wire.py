"""A bare client for tests of the wire: says what it is told, acknowledges nothing by itself, reads when asked."""

from __future__ import annotations

import asyncio
from typing import TypeVar

import zmq
import zmq.asyncio

from bridge.codec import Envelope, decode_message, encode
from bridge.protocol import PROTOCOL_VERSION, Hello, Message, Push, Request, SessionReady
from tests.faults.scenario import TOKEN

PATIENCE_S = 20.0
T = TypeVar("T", bound=Message)


class Wire:
    """One DEALER socket."""

    def __init__(self, endpoint: str, *, receive_queue: int = 1000) -> None:
        self.heard: list[Envelope] = []
        """All that was read, in order."""
        self._next_request_id = 1
        self._context = zmq.asyncio.Context()
        self._socket = self._context.socket(zmq.DEALER)
        self._socket.setsockopt(zmq.LINGER, 0)
        self._socket.setsockopt(zmq.RCVHWM, receive_queue)
        self._socket.connect(endpoint)

    async def __aenter__(self) -> Wire:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """The socket is gone; nothing is said. Idempotent."""
        self._context.destroy(linger=0)

    async def send(self, request: Request, request_id: int | None = None) -> int:
        """Says something; returns its request_id."""
        if request_id is None:
            request_id = self._next_request_id
        self._next_request_id = max(self._next_request_id, request_id + 1)
        await self._socket.send_multipart(encode(request, request_id=request_id))
        return request_id

    async def read(self) -> Envelope:
        """The next message."""
        parts = await asyncio.wait_for(self._socket.recv_multipart(), PATIENCE_S)
        envelope = decode_message(parts)
        assert envelope is not None
        self.heard.append(envelope)
        return envelope

    async def until(self, kind: type[T]) -> T:
        """Reads up to the first message of this kind."""
        while True:
            message = (await self.read()).message
            if isinstance(message, kind):
                return message

    async def ask(self, request: Request, kind: type[T]) -> T:
        """Says something and reads up to its reply, which must be of this kind."""
        request_id = await self.send(request)
        while True:
            envelope = await self.read()
            if envelope.request_id == request_id and not isinstance(envelope.message, Push):
                assert isinstance(envelope.message, kind), envelope.message
                return envelope.message

    async def hello(self, resume: str | None = None, last_seq: int | None = None) -> SessionReady:
        """Says Hello, and goes on with the request ids where the session was."""
        hello = Hello(protocol=PROTOCOL_VERSION, client="test", token=TOKEN, resume=resume, last_seq=last_seq)
        ready = await self.ask(hello, SessionReady)
        self._next_request_id = max(self._next_request_id, ready.last_request_id + 1)
        return ready

    @property
    def last_seq(self) -> int:
        """The highest number that was read."""
        return max((envelope.seq for envelope in self.heard), default=0)

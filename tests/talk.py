"""A whole sidecar in the test's own process: the real ROUTER, real sessions, and a real client."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bridge.catalog import Catalog, CatalogEntry, MockScript
from bridge.client import ParleyClient
from bridge.codec import Envelope
from bridge.config import Settings
from bridge.errors import ParleyError
from bridge.models import LoadEmbedder, LoadEngine, LoadVoice, ModelStore
from bridge.node import Registry, default_registry
from bridge.protocol import AnswerText, Interaction, Push, TurnComplete
from bridge.server import PushTo, Server
from bridge.session import Services, Session
from bridge.status import Counters

TIMEOUT_S = 60.0


def scripted(*replies: str, name: str = "script", tokens_per_s: float = 0.0, context_size: int = 4096) -> CatalogEntry:
    """A mock model that says `replies` in order, per agent and node."""
    return CatalogEntry(
        name=name,
        engine="mock",
        context_size=context_size,
        mock=MockScript(mode="script", replies=list(replies), tokens_per_s=tokens_per_s),
    )


ECHO = CatalogEntry(name="echo", engine="mock", context_size=4096, mock=MockScript())
EMBED = CatalogEntry(name="embed", type="embedding", engine="mock")
VOICE = CatalogEntry(name="voice", type="tts", engine="mock")


@dataclass(slots=True)
class Heard:
    """What came of one turn."""

    frames: list[Envelope] = field(default_factory=list)

    @property
    def messages(self) -> list[Push]:
        return [frame.message for frame in self.frames if isinstance(frame.message, Push)]

    @property
    def complete(self) -> TurnComplete:
        last = self.frames[-1].message
        assert isinstance(last, TurnComplete)
        return last

    @property
    def answers(self) -> list[AnswerText]:
        return [message for message in self.messages if isinstance(message, AnswerText)]

    @property
    def interaction(self) -> Interaction:
        assert self.complete.interaction is not None
        return self.complete.interaction

    @property
    def debug(self) -> dict[str, Any]:
        assert self.complete.debug is not None
        return self.complete.debug

    def text(self, node_name: str) -> str:
        """All text frames of a node joined."""
        return "".join(answer.text for answer in self.answers if answer.node_name == node_name)

    def shape(self) -> list[tuple[str, int, str, bool, bool]]:
        """(node_name, step, text, is_delta, is_final) of every text frame."""
        return [(a.node_name, a.step, a.text, a.is_delta, a.is_final) for a in self.answers]

    def prompt(self, step: int) -> list[tuple[str, str]]:
        """The messages that a step's model read, from the diagnostics."""
        return [(m["role"], m["content"]) for m in self.debug["steps"][step - 1]["input"]["prompt"]]


@dataclass(slots=True)
class Talk:
    """A running server and one client of it."""

    server: Server
    client: ParleyClient
    endpoint: str
    token: str
    sessions: list[Session]
    """Every session that was made, for tests that must look inside."""

    async def agent(self, workflow: Mapping[str, Any], **options: Any) -> str:
        """The id of a new agent, with diagnostics on."""
        options.setdefault("enable_diagnostics", True)
        return (await self.client.create_agent(workflow, **options)).agent_id

    async def say(self, agent_id: str, text: str) -> Heard:
        """One whole turn."""
        return Heard([frame async for frame in self.client.turn(agent_id, text)])

    def users(self, model: str) -> int:
        """How many agents and storages hold a model."""
        slot = self.sessions[0]._services.models._slots.get(model)
        return slot.model.users if slot is not None and slot.model is not None else 0

    async def another_client(self) -> ParleyClient:
        return await ParleyClient.connect(self.endpoint, self.token)


@contextlib.asynccontextmanager
async def talking(
    *models: CatalogEntry,
    settings: Settings | None = None,
    registry: Registry | None = None,
    load_engine: LoadEngine | None = None,
    load_embedder: LoadEmbedder | None = None,
    load_voice: LoadVoice | None = None,
) -> AsyncIterator[Talk]:
    """A server with these models (`echo` is always there) and a client that said Hello."""
    chosen = settings or Settings()
    catalog: Catalog = {entry.name: entry for entry in (ECHO, *models)}
    store = ModelStore(chosen, catalog, load_engine, load_embedder, load_voice)
    counters = Counters()
    services = Services(chosen, registry or default_registry(), store, counters)
    token = "a-token-of-the-test"
    sessions: list[Session] = []

    def make_session(session_id: str, push: PushTo) -> Session:
        sessions.append(Session(session_id, push, services))
        return sessions[-1]

    server = Server(chosen, token, make_session, counters=counters)
    endpoint = server.bind()
    running = asyncio.create_task(server.run())
    try:
        client = await ParleyClient.connect(endpoint, token)
        try:
            yield Talk(server, client, endpoint, token, sessions)
        finally:
            # With a Bye the server needs not wait for a client that takes nothing more.
            with contextlib.suppress(ParleyError, OSError, asyncio.TimeoutError):
                await client.bye(timeout=1.0)
            await client.close()
    finally:
        server.request_shutdown()
        await running
        await store.close()


def run(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run a test's coroutine; it may not hang."""
    asyncio.run(asyncio.wait_for(work(), TIMEOUT_S))


def workflow(*nodes: Mapping[str, Any], model: str = "echo", **head: Any) -> dict[str, Any]:
    """A workflow whose nodes follow one another in this order, unless they say otherwise."""
    names = [str(node["name"]) for node in nodes]
    chained: Sequence[dict[str, Any]] = [dict(node) for node in nodes]
    for node, following in zip(chained, names[1:], strict=False):
        if not any(key.endswith("_exit") for key in node):
            node["default_exit"] = following
    return {"version": 1, "start_node": names[0], "default_model": model, "nodes": list(chained), **head}

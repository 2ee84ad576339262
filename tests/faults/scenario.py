"""One conversation of ten turns with two agents, what came of it, and every way in which it can be wrong."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from bridge.catalog import CatalogEntry
from bridge.client import ParleyClient
from bridge.codec import Envelope
from bridge.config import Settings
from bridge.models import ModelStore
from bridge.node import default_registry
from bridge.protocol import (
    AnswerText,
    CancelTurn,
    ChangeParams,
    CreateAgent,
    Dialog,
    DialogDocument,
    ExportDialog,
    Gap,
    GetParams,
    Goodbye,
    Interaction,
    Message,
    Params,
    Push,
    Reply,
    Request,
    SendMessage,
    SessionReady,
    SetVariables,
    TurnComplete,
    TurnStarted,
)
from bridge.server import PushTo, Server
from bridge.session import Answer, Services, Session
from tests.talk import Heard, scripted, workflow

TOKEN = "a-token-of-the-test"
CANCELLED_LINE = "a3"
"""The line whose turn is cancelled once some of its text has come; it may be over by then."""

MODELS = (
    scripted(
        "The fire is warm and the ale is fresh, traveller.",
        "Nobody has come up the north road since the first snow.",
        " ".join(f"long{number}" for number in range(60)),
        "As you wish; let us speak of something else then.",
        "Sleep well, and mind the third stair, it creaks.",
        name="innkeeper",
        tokens_per_s=500.0,
    ),
    scripted(
        "Halt! Who goes there, and what is your business at this hour?",
        "I have seen the wolves, three of them, at the old mill.",
        "Ask the innkeeper about rooms; I only keep the gate.",
        "My watch ends at dawn and not a moment sooner.",
        "Go in peace.",
        name="guard",
        tokens_per_s=350.0,
    ),
)


def conversation(model: str) -> dict[str, Any]:
    """A model's reply, and a closing line that shows variables and changed parameters."""
    return workflow(
        {"name": "speaker", "type": "Generate", "history_name": "Speaker"},
        {"name": "closing", "type": "Transform", "template": "[{{var.mood}}] {{slot.speaker}}", "send": "Whole"},
        model=model,
        variables=[{"name": "mood", "type": "string", "value": "calm"}],
    )


class RecordingSession(Session):
    """A session that notes what it was asked to do and what it said unasked."""

    def __init__(self, session_id: str, push: PushTo, services: Services) -> None:
        self.handled: list[Request] = []
        self.pushed: list[Push] = []

        def record(message: Push, payload: bytes | None) -> asyncio.Event | None:
            self.pushed.append(message)
            return push(message, payload)

        super().__init__(session_id, record, services)

    def handle(self, request: Request) -> Answer:
        self.handled.append(request)
        return super().handle(request)


@dataclass(slots=True)
class Sidecar:
    """A running server and the sessions that it made, by their ids."""

    server: Server
    endpoint: str
    sessions: dict[str, RecordingSession]


@contextlib.asynccontextmanager
async def sidecar(settings: Settings, *, make_server: type[Server] = Server) -> AsyncIterator[Sidecar]:
    """A whole sidecar in this process."""
    catalog: dict[str, CatalogEntry] = {entry.name: entry for entry in MODELS}
    store = ModelStore(settings, catalog)
    services = Services(settings, default_registry(), store)
    sessions: dict[str, RecordingSession] = {}

    def make_session(session_id: str, push: PushTo) -> Session:
        sessions[session_id] = RecordingSession(session_id, push, services)
        return sessions[session_id]

    server = make_server(settings, TOKEN, make_session)
    endpoint = server.bind()
    running = asyncio.get_running_loop().create_task(server.run())
    try:
        yield Sidecar(server, endpoint, sessions)
    finally:
        server.request_shutdown()
        await running
        await store.close()


@dataclass(slots=True)
class Outcome:
    """What one client did and what came of it, in the order of coming."""

    envelopes: list[Envelope] = field(default_factory=list)
    asked: list[Request] = field(default_factory=list)
    turns: dict[str, list[tuple[str, Heard]]] = field(default_factory=lambda: {"a": [], "b": []})
    """By agent: line and what was heard."""
    agents: dict[str, str] = field(default_factory=dict)
    """Name of the agent by its id."""
    moods: list[str] = field(default_factory=list)
    dialogs: dict[str, DialogDocument] = field(default_factory=dict)
    session_id: str = ""


class Play:
    """The conversation, on a client that is connected already."""

    def __init__(self, client: ParleyClient, outcome: Outcome) -> None:
        self._client = client
        self._outcome = outcome
        self._ids: dict[str, str] = {}

    async def run(self) -> None:
        """All ten turns and what lies between them."""
        self._outcome.session_id = self._client.ready.session_id
        await _both(self._create("a", "innkeeper"), self._create("b", "guard"))
        await _both(self._turn("a", "a1"), self._turn("b", "b1"))
        b_begins = asyncio.Event()
        await _both(self._turn("a", "a2", lambda _: b_begins.set()), self._turn_after(b_begins, "b", "b2"))
        # Three at once: they are done in this order, however often they have to be sent.
        await asyncio.gather(
            self._ask(SetVariables(agent_id=self._ids["a"], values={"mood": "cross"})),
            self._ask(SetVariables(agent_id=self._ids["a"], values={"mood": "glad"})),
            self._ask(GetParams(agent_id=self._ids["a"], node_name="closing")),
        )
        await _both(self._turn_cancelled("a", CANCELLED_LINE), self._turn("b", "b3"))
        change = {"template": "<{{var.mood}}> {{slot.speaker}}"}
        await self._ask(ChangeParams(agent_id=self._ids["a"], node_name="closing", params=change))
        params = await self._ask(GetParams(agent_id=self._ids["a"], node_name="closing"))
        assert isinstance(params, Params)
        self._outcome.moods.append(str(params.params["template"]))
        await _both(self._turn("a", "a4"), self._turn("b", "b4"))
        await _both(self._turn("a", "a5"), self._turn("b", "b5"))
        for name, agent_id in self._ids.items():
            dialog = await self._ask(ExportDialog(agent_id=agent_id))
            assert isinstance(dialog, Dialog)
            self._outcome.dialogs[name] = dialog.dialog

    async def _ask(self, request: Request) -> Reply:
        self._outcome.asked.append(request)
        return await self._client.request(request)

    async def _create(self, name: str, model: str) -> None:
        flow = conversation(model)
        self._outcome.asked.append(CreateAgent(workflow=flow, enable_diagnostics=True))
        agent = await self._client.create_agent(flow, enable_diagnostics=True)
        self._ids[name] = agent.agent_id
        self._outcome.agents[agent.agent_id] = name

    async def _turn(self, name: str, line: str, on_text: Callable[[AnswerText], None] | None = None) -> Heard:
        heard = Heard()
        self._outcome.turns[name].append((line, heard))
        self._outcome.asked.append(SendMessage(agent_id=self._ids[name], text=line))
        async for envelope in self._client.turn(self._ids[name], line):
            heard.frames.append(envelope)
            if on_text is not None and isinstance(envelope.message, AnswerText) and envelope.message.text:
                on_text(envelope.message)
        return heard

    async def _turn_after(self, event: asyncio.Event, name: str, line: str) -> Heard:
        await event.wait()
        return await self._turn(name, line)

    async def _turn_cancelled(self, name: str, line: str) -> None:
        first: asyncio.Future[AnswerText] = asyncio.get_running_loop().create_future()

        def begun(message: AnswerText) -> None:
            if not first.done():
                first.set_result(message)

        async def cancel() -> None:
            message = await first
            await self._ask(CancelTurn(agent_id=message.agent_id, turn_id=message.turn_id))

        await _both(self._turn(name, line, begun), cancel())


async def _both(first: Awaitable[Any], second: Awaitable[Any]) -> None:
    """Waits for both; where one fails the other is let go, and the fault goes on."""
    tasks = [asyncio.ensure_future(first), asyncio.ensure_future(second)]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


# ---- what can be wrong ----


def violations(outcome: Outcome, session: RecordingSession, reference: Outcome | None) -> list[str]:
    """Each promise that was broken, in words; empty: nothing was lost, doubled or changed."""
    return [
        *_sequence(outcome.envelopes),
        *_answers(outcome),
        *_executions(outcome, session),
        *_pushes(outcome, session),
        *_turns(outcome),
        *(_against(outcome, reference) if reference is not None else ()),
    ]


def _sequence(envelopes: list[Envelope]) -> Iterator[str]:
    """Every number comes once and in order; a Gap stands for the numbers it names."""
    expected = 1
    for envelope in envelopes:
        if envelope.seq == 0:
            continue
        first = envelope.message.from_seq if isinstance(envelope.message, Gap) else envelope.seq
        if first != expected:
            yield f"seq {first} ({envelope.message.type_name}) came where {expected} was due"
        if isinstance(envelope.message, Gap) and envelope.message.reason != "merged":
            yield f"frames {first} to {envelope.seq} were lost ({envelope.message.reason})"
        expected = envelope.seq + 1


def _answers(outcome: Outcome) -> Iterator[str]:
    answered = Counter(
        envelope.request_id
        for envelope in outcome.envelopes
        if isinstance(envelope.message, Reply) and not isinstance(envelope.message, SessionReady)
    )
    for request_id, times in answered.items():
        if times != 1:
            yield f"request {request_id} was answered {times} times"
    if len(answered) != len(outcome.asked):
        yield f"{len(outcome.asked)} requests got {len(answered)} answers"


def _executions(outcome: Outcome, session: RecordingSession) -> Iterator[str]:
    """The sidecar did what was asked once, in the order of asking."""
    if session.handled != outcome.asked:
        done = [request.type_name for request in session.handled]
        asked = [request.type_name for request in outcome.asked]
        yield f"done was {done}, asked {asked}"


def _pushes(outcome: Outcome, session: RecordingSession) -> Iterator[str]:
    if any(isinstance(envelope.message, Gap) for envelope in outcome.envelopes):
        return
    came: list[Message] = [
        envelope.message
        for envelope in outcome.envelopes
        if isinstance(envelope.message, Push) and not isinstance(envelope.message, Goodbye)
    ]
    for number, (sent, received) in enumerate(zip(session.pushed, came, strict=False)):
        if sent != received:
            yield f"push {number} was {sent!r:.200}, but {received!r:.200} came"
            return
    if len(session.pushed) != len(came):
        yield f"{len(session.pushed)} pushes were sent, {len(came)} came"


def _turns(outcome: Outcome) -> Iterator[str]:
    completes = Counter(
        (envelope.message.agent_id, envelope.message.turn_id)
        for envelope in outcome.envelopes
        if isinstance(envelope.message, TurnComplete)
    )
    for turn, times in completes.items():
        if times != 1:
            yield f"turn {turn} ended {times} times"
    if len(completes) != sum(map(len, outcome.turns.values())):
        yield f"{len(completes)} turns ended"
    yield from _order(outcome.envelopes)
    for name, turns in outcome.turns.items():
        for number, (line, heard) in enumerate(turns, start=1):
            yield from _one_turn(f"turn {line!r} of {name}", number, line, heard)
        dialog = outcome.dialogs.get(name)
        if dialog is None:
            yield f"there is no dialog of {name}"
        elif dialog.interactions != [_recorded(heard) for _, heard in turns]:
            yield f"the dialog of {name} is not what its turns said"


def _recorded(heard: Heard) -> Interaction | None:
    last = heard.frames[-1].message if heard.frames else None
    return last.interaction if isinstance(last, TurnComplete) else None


def _order(envelopes: list[Envelope]) -> Iterator[str]:
    begun: set[tuple[str, int]] = set()
    ended: set[tuple[str, int]] = set()
    for envelope in envelopes:
        message = envelope.message
        turn = (getattr(message, "agent_id", ""), getattr(message, "turn_id", 0))
        if isinstance(message, TurnStarted):
            begun.add(turn)
        elif isinstance(message, Push) and turn[1]:
            if turn not in begun or turn in ended:
                yield f"{message.type_name} of turn {turn} came {'after its end' if turn in ended else 'too early'}"
            if isinstance(message, TurnComplete):
                ended.add(turn)


def _one_turn(what: str, number: int, line: str, heard: Heard) -> Iterator[str]:
    if not heard.frames or not isinstance(heard.frames[-1].message, TurnComplete):
        yield f"{what} has no end"
        return
    complete = heard.complete
    if complete.turn_id != number:
        yield f"{what} is number {complete.turn_id}, not {number}: a line was said twice or never"
    if complete.status != "Success" and not (complete.status == "Cancelled" and line == CANCELLED_LINE):
        yield f"{what} ended with {complete.status}: {complete.error}"
    if complete.interaction is None:
        yield f"{what} was not recorded"
        return
    if complete.interaction.user != line:
        yield f"{what} was recorded with the line {complete.interaction.user!r}"
    written = {output.step: output.text for output in complete.interaction.outputs if output.send != "None"}
    said: dict[int, str] = {}
    for answer in heard.answers:
        said[answer.step] = said.get(answer.step, "") * answer.is_delta + answer.text
    # A step of which nothing was said has no place in the record of a turn that was cancelled.
    if {step: text for step, text in said.items() if text} != written:
        yield f"{what} was heard as {said} and recorded as {written}"
    if complete.status == "Success" and complete.debug is not None:
        for answer in heard.answers:
            if said[answer.step] != complete.debug["slots"][answer.node_name]:
                yield f"{what}: the slot {answer.node_name} is not what was heard"
                break
    finals = Counter(answer.step for answer in heard.answers if answer.is_final)
    if finals != dict.fromkeys(said, 1):
        yield f"{what}: the steps were closed {dict(finals)} times"


def _against(outcome: Outcome, reference: Outcome) -> Iterator[str]:
    """The same was said as in a run without faults; of a cancelled turn, a beginning of it or all."""
    if outcome.moods != reference.moods:
        yield f"parameters were {outcome.moods}, not {reference.moods}"
    for name, dialog in reference.dialogs.items():
        own = outcome.dialogs.get(name)
        if own is None or len(own.interactions) != len(dialog.interactions):
            yield f"the dialog of {name} has {len(own.interactions) if own else 'no'} turns"
            continue
        for mine, theirs in zip(own.interactions, dialog.interactions, strict=True):
            if mine.user == CANCELLED_LINE:
                whole = MODELS[0].mock.replies[2] if MODELS[0].mock else ""
                if not whole.startswith(mine.outputs[0].text.rstrip()):
                    yield f"{name} said {mine.outputs[0].text!r} in the turn that was cancelled"
            elif mine.model_copy(update={"time": ""}) != theirs.model_copy(update={"time": ""}):
                yield f"{name} said {mine!r} in place of {theirs!r}"

"""A sidecar of one's own that is started again when it dies, with the characters as they were.

What a game has to keep for that is little: how each agent was made, what was changed since, and its dialog, mirrored
from every `TurnComplete`. A turn that the sidecar took with it ends with a TurnComplete of status Error (2001), made
here; what the player had seen of it stays in the dialog, marked so.

Threading: used on one selector event loop only.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Mapping, Sequence
from datetime import datetime, timezone
from types import TracebackType
from typing import Any, Literal, TypeVar

from bridge.client import ParleyClient
from bridge.codec import Envelope
from bridge.errors import ParleyError, SessionExpired, SessionNotReady, ShuttingDown
from bridge.launch import Sidecar, SidecarFailed
from bridge.protocol import (
    AnswerText,
    ChangeParams,
    ConfigureSession,
    CreateEmbeddedStorage,
    CreateStringStorage,
    DestroyAgent,
    DialogDocument,
    EditDialog,
    Interaction,
    LoadModel,
    Message,
    NodeEvent,
    Output,
    Reply,
    Request,
    SetVariables,
    ShortReply,
    Summary,
    ToolResult,
    TruncateDialog,
    TurnComplete,
    TurnError,
    VariableValue,
)

log = logging.getLogger(__name__)
T = TypeVar("T")

MAX_RESTARTS = 5
RESTART_WINDOW_S = 60.0
"""So many times in so long a sidecar is started again; beyond, everything fails with SidecarFailed."""
WATCH_S = 0.05

CompanionState = Literal["gone", "back"]
_GONE = (ConnectionError, SessionExpired, SessionNotReady, ShuttingDown, TimeoutError)


class Companion:
    """`async with Companion() as companion` starts a sidecar and keeps it alive.

    `arguments` are those of `parley serve`. `on_state` hears "gone" once when the sidecar is lost and "back" once
    when all is as before.
    """

    def __init__(
        self,
        *arguments: str,
        environment: Mapping[str, str] | None = None,
        command: Sequence[str] | None = None,
        on_stderr: Callable[[str], None] | None = None,
        on_state: Callable[[CompanionState], None] | None = None,
        on_envelope: Callable[[Envelope], None] | None = None,
    ) -> None:
        self.restarts = 0
        self._arguments = arguments
        self._environment = environment
        self._command = command
        self._on_stderr = on_stderr
        self._on_state = on_state
        self._on_envelope = on_envelope
        self._sidecar: Sidecar | None = None
        self._client: ParleyClient | None = None
        self._configured: ConfigureSession | None = None
        self._made: dict[tuple[str, str], Request] = {}
        self._characters: list[Character] = []
        self._is_up = asyncio.Event()
        self._failed: Exception | None = None
        self._watching: asyncio.Task[None] | None = None
        self._times: deque[float] = deque(maxlen=MAX_RESTARTS)

    async def __aenter__(self) -> Companion:
        try:
            await self._while_it_lives(self._start())
        except BaseException:
            await self.close()
            raise
        self._is_up.set()
        self._watching = asyncio.create_task(self._watch())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    @property
    def client(self) -> ParleyClient:
        """The client of the sidecar that runs now."""
        if self._client is None:
            raise ConnectionError("no sidecar runs now")
        return self._client

    @property
    def pid(self) -> int:
        """The process of the sidecar that runs now."""
        return self._sidecar.pid if self._sidecar is not None else 0

    # ---- what is kept for the next sidecar ----

    async def configure(self, request: ConfigureSession) -> None:
        """ConfigureSession, also for every sidecar to come."""
        await self.request(request)
        changed = request.model_dump(exclude_none=True)
        before = self._configured.model_dump(exclude_none=True) if self._configured is not None else {}
        self._configured = ConfigureSession(**{**before, **changed})

    async def make(self, request: CreateStringStorage | CreateEmbeddedStorage | LoadModel) -> Reply:
        """Make a storage, or pin a model, also in every sidecar to come."""
        reply = await self.request(request)
        name = request.model if isinstance(request, LoadModel) else request.name
        self._made[request.type_name, name] = request
        return reply

    async def create_agent(
        self,
        workflow: Mapping[str, Any],
        *,
        variables: Mapping[str, VariableValue] | None = None,
        enable_diagnostics: bool = False,
        max_steps: int = 64,
        seed_dialog: dict[str, Any] | list[Any] | None = None,
    ) -> Character:
        """A character that outlives its sidecar. Raises as ParleyClient.create_agent does."""
        character = Character(self, workflow, variables or {}, enable_diagnostics, max_steps)
        await self.keep_trying(lambda: character.make(seed_dialog))
        self._characters.append(character)
        if seed_dialog is not None:
            await character.mirror()
        return character

    async def request(self, message: Request, *, timeout: float | None = None) -> Reply:
        """A request that may be done again by the next sidecar where this one dies over it."""
        return await self.keep_trying(lambda: self.client.request(message, timeout=timeout))

    async def keep_trying(self, work: Callable[[], Awaitable[T]]) -> T:
        """Do `work` with a sidecar that runs. Raises SidecarFailed once there will be none any more."""
        while True:
            await self.up()
            client = self._client
            try:
                return await work()
            except _GONE:
                if client is self._client and client is not None and client.lost is None and self._is_up.is_set():
                    raise
                if client is self._client:
                    self._is_up.clear()

    async def up(self) -> None:
        """Wait until a sidecar runs and has all characters. Raises SidecarFailed."""
        await self._is_up.wait()
        if self._failed is not None:
            raise self._failed

    def forget(self, character: Character) -> None:
        """Do not make this character again."""
        self._characters = [other for other in self._characters if other is not character]

    async def close(self) -> None:
        """End the sidecar. Idempotent."""
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.wait({self._watching})
        if self._failed is None:
            self._failed = SidecarFailed("the companion is closed", None)
        self._is_up.set()
        await self._let_go()

    # ---- life and death ----

    async def _start(self) -> None:
        self._sidecar = Sidecar(
            *self._arguments,
            environment=self._environment,
            command=self._command,
            on_stderr=self._on_stderr,
        )
        await self._sidecar.start()
        self._client = await ParleyClient.connect(
            self._sidecar.endpoint,
            self._sidecar.token,
            on_envelope=self._observe,
            server_public_key=self._sidecar.curve_public_key,
        )

    def _observe(self, envelope: Envelope) -> None:
        """See all that comes before anybody else does: what is known here is what players may have seen."""
        agent_id = getattr(envelope.message, "agent_id", "")
        for character in self._characters:
            if character.agent_id == agent_id:
                character.observe(envelope.message)
        if self._on_envelope is not None:
            self._on_envelope(envelope)

    async def _let_go(self) -> None:
        client, self._client = self._client, None
        sidecar, self._sidecar = self._sidecar, None
        if client is not None:
            await client.close()
        if sidecar is not None:
            await sidecar.stop()

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(WATCH_S)
            sidecar, client = self._sidecar, self._client
            assert sidecar is not None and client is not None
            if sidecar.exit_code is None and client.lost is None:
                self._is_up.set()
                continue
            why = f"exit code {sidecar.exit_code}" if sidecar.exit_code is not None else str(client.lost)
            log.warning("the sidecar is gone (%s); starting another", why)
            self._is_up.clear()
            self._tell("gone")
            try:
                await self._again()
            except (ParleyError, OSError, asyncio.TimeoutError, SidecarFailed) as fault:
                log.error("the sidecar cannot be started again: %s", fault)
                self._failed = fault if isinstance(fault, SidecarFailed) else SidecarFailed(str(fault), None)
                self._is_up.set()
                return
            log.warning("the sidecar is back, with %d characters", len(self._characters))
            self._is_up.set()
            self._tell("back")

    async def _again(self) -> None:
        """A new sidecar with everything that the old one had. One that dies meanwhile is replaced in turn."""
        while True:
            if len(self._times) == MAX_RESTARTS and time.monotonic() - self._times[0] < RESTART_WINDOW_S:
                raise SidecarFailed(f"the sidecar died {MAX_RESTARTS} times within {RESTART_WINDOW_S:.0f} s", None)
            self._times.append(time.monotonic())
            self.restarts += 1
            await self._let_go()
            for character in self._characters:
                character.settle()
            try:
                await self._while_it_lives(self._bring_up())
            except _GONE as fault:
                log.warning("the new sidecar went too: %s", fault)
                continue
            return

    async def _bring_up(self) -> None:
        await self._start()
        if self._configured is not None:
            await self.client.request(self._configured)
        for request in self._made.values():
            await self.client.request(request)
        for character in self._characters:
            await character.make(character.document())

    async def _while_it_lives(self, work: Coroutine[Any, Any, None]) -> None:
        """Do `work`; raises ConnectionError where the sidecar ends over it, which its client would long wait for."""
        doing = asyncio.ensure_future(work)
        try:
            while not doing.done():
                await asyncio.wait({doing}, timeout=WATCH_S)
                sidecar = self._sidecar
                if not doing.done() and sidecar is not None and sidecar.pid and sidecar.exit_code is not None:
                    raise ConnectionError(f"the sidecar ended with exit code {sidecar.exit_code}")
            doing.result()
        finally:
            doing.cancel()
            await asyncio.gather(doing, return_exceptions=True)

    def _tell(self, state: CompanionState) -> None:
        if self._on_state is not None:
            self._on_state(state)


class Character:
    """An agent that outlives its sidecar. Made by `Companion.create_agent`."""

    def __init__(
        self,
        companion: Companion,
        workflow: Mapping[str, Any],
        variables: Mapping[str, VariableValue],
        enable_diagnostics: bool,
        max_steps: int,
    ) -> None:
        self.agent_id = ""
        """Its name in the sidecar that runs now."""
        self.interactions: list[Interaction] = []
        """The dialog, mirrored."""
        self.summary: Summary | None = None
        self._companion = companion
        self._workflow = dict(workflow)
        self._variables = dict(variables)
        self._params: dict[str, dict[str, Any]] = {}
        self._enable_diagnostics = enable_diagnostics
        self._max_steps = max_steps
        self._seen: _Seen | None = None

    def document(self) -> dict[str, Any]:
        """The dialog as a sidecar is seeded with it."""
        document = DialogDocument(interactions=self.interactions, summary=self.summary)
        return document.model_dump(mode="json")

    async def make(self, seed_dialog: dict[str, Any] | list[Any] | None) -> None:
        """Make the agent in the sidecar that runs now."""
        client = self._companion.client
        created = await client.create_agent(
            self._workflow,
            variables=self._variables,
            enable_diagnostics=self._enable_diagnostics,
            max_steps=self._max_steps,
            seed_dialog=seed_dialog,
        )
        for node_name, params in self._params.items():
            await client.request(ChangeParams(agent_id=created.agent_id, node_name=node_name, params=params))
        self.agent_id = created.agent_id

    async def turn(self, text: str) -> AsyncGenerator[Envelope, None]:
        """Say the player's line; TurnComplete is the last, also where the sidecar dies over it."""
        await self._companion.up()
        seen = _Seen(self.agent_id, text, self._workflow)
        if self._seen is None:
            self._seen = seen
        try:
            async for envelope in self._companion.client.turn(self.agent_id, text):
                yield envelope
        except _GONE as fault:
            if seen.cut is None and self._seen is seen:
                self.settle(fault)
            if seen.cut is None:
                raise
            yield Envelope(seen.cut, 0, 0)
        finally:
            if self._seen is seen and not seen.has_begun:
                self._seen = None

    def observe(self, message: Message) -> None:
        """Mirror what a message says of the dialog."""
        if isinstance(message, TurnComplete):
            self._seen = None
            if message.interaction is not None:
                self.interactions.append(message.interaction)
        elif isinstance(message, NodeEvent) and message.event == "summary_written":
            self.summary = Summary(text=str(message.data["text"]), covers=int(message.data["covers"]))
        elif self._seen is not None:
            self._seen.take(message)

    def settle(self, fault: BaseException | None = None) -> None:
        """End the turn that went with its sidecar; what the player saw of it stays in the dialog."""
        seen, self._seen = self._seen, None
        if seen is not None:
            cut = seen.end(fault)
            if cut.interaction is not None:
                self.interactions.append(cut.interaction)

    async def set_variables(self, values: Mapping[str, VariableValue]) -> None:
        """Change variables, for every sidecar to come too."""
        await self._do(lambda: SetVariables(agent_id=self.agent_id, values=dict(values)))
        self._variables.update(values)

    async def change_params(self, node_name: str, params: Mapping[str, Any]) -> None:
        """Change parameters of a node, for every sidecar to come too."""
        await self._do(lambda: ChangeParams(agent_id=self.agent_id, node_name=node_name, params=dict(params)))
        known = self._params.setdefault(node_name, {})
        sampling = {**known.get("sampling", {}), **(params.get("sampling") or {})}
        known.update(params)
        if "sampling" in params:
            known["sampling"] = sampling

    async def tool_result(self, call_id: str, result: str, *, error: str | None = None) -> None:
        """Answer a tool call. Raises UnknownToolCall where its turn is over, also with the sidecar that it was in."""
        message = ToolResult(agent_id=self.agent_id, call_id=call_id, result=result, error=error)
        await self._companion.client.request(message)

    async def cancel(self, turn_id: int | None = None) -> None:
        """Stop the running turn; its TurnComplete still comes."""
        with contextlib.suppress(*_GONE):  # a turn whose sidecar is gone is over
            await self._companion.client.cancel_turn(self.agent_id, turn_id)

    async def export_dialog(self) -> DialogDocument:
        """The dialog as the sidecar has it."""
        companion = self._companion
        return await companion.keep_trying(lambda: companion.client.export_dialog(self.agent_id))

    async def seed_dialog(self, dialog: dict[str, Any] | list[Any], *, append: bool = False) -> None:
        """Replace the dialog, or continue it."""
        companion = self._companion
        await companion.keep_trying(lambda: companion.client.seed_dialog(self.agent_id, dialog, append=append))
        await self.mirror()

    async def edit_dialog(self, index: int, user: str | None = None, replies: list[ShortReply] | None = None) -> None:
        """Change one turn of the dialog."""
        await self._do(lambda: EditDialog(agent_id=self.agent_id, index=index, user=user, replies=replies))
        await self.mirror()

    async def truncate_dialog(self, keep: int) -> None:
        """Keep the first `keep` turns."""
        await self._do(lambda: TruncateDialog(agent_id=self.agent_id, keep=keep))
        await self.mirror()

    async def destroy(self) -> None:
        """End the character, here and in every sidecar to come."""
        self._companion.forget(self)
        with contextlib.suppress(*_GONE):  # gone with its sidecar
            await self._companion.client.request(DestroyAgent(agent_id=self.agent_id))

    async def mirror(self) -> None:
        """Take the dialog over as the sidecar has it."""
        document = await self.export_dialog()
        self.interactions = list(document.interactions)
        self.summary = document.summary

    async def _do(self, make: Callable[[], Request]) -> Reply:
        return await self._companion.keep_trying(lambda: self._companion.client.request(make()))


class _Seen:
    """What came of a turn, in case that nothing more does."""

    def __init__(self, agent_id: str, user: str, workflow: Mapping[str, Any]) -> None:
        self.cut: TurnComplete | None = None
        """The end that was made for it here."""
        self._agent_id = agent_id
        self._user = user
        self._turn_id = 0
        self._texts: dict[int, tuple[str, str]] = {}
        nodes = workflow.get("nodes")
        self._nodes = {
            node.get("name"): node for node in (nodes if isinstance(nodes, list) else []) if isinstance(node, dict)
        }

    @property
    def has_begun(self) -> bool:
        """The sidecar has begun the turn."""
        return self._turn_id > 0

    def take(self, message: Message) -> None:
        """Note a message about the agent."""
        self._turn_id = getattr(message, "turn_id", 0) or self._turn_id
        if isinstance(message, AnswerText):
            before = self._texts.get(message.step, ("", ""))[1]
            self._texts[message.step] = (message.node_name, before + message.text)

    def end(self, fault: BaseException | None) -> TurnComplete:
        """The end of a turn that its sidecar did not live to tell."""
        outputs = [self._output(step, *said) for step, said in self._texts.items() if said[1]]
        now = datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        interaction = Interaction(turn_id=self._turn_id, user=self._user, outputs=outputs, status="Error", time=now)
        why = f": {fault}" if fault is not None else ""
        error = TurnError(
            code=ShuttingDown.code, name="ShuttingDown", message=f"the sidecar was lost during this turn{why}"
        )
        self.cut = TurnComplete(
            agent_id=self._agent_id,
            turn_id=self._turn_id,
            status="Error",
            error=error,
            interaction=interaction if outputs else None,
        )
        return self.cut

    def _output(self, step: int, node_name: str, text: str) -> Output:
        node = self._nodes.get(node_name, {})
        return Output(
            step=step,
            node_name=node_name,
            slot=str(node.get("output_name") or node_name),
            text=text,
            send="Streamed",
            history_role="None" if node.get("history_role") == "None" else "Assistant",
            history_name=str(node.get("history_name") or ""),
        )

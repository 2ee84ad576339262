"""An agent: one conversation, made of a compiled workflow, a dialog, variables, and at most one running turn."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, TypeVar

from bridge import workers
from bridge.config import Settings
from bridge.dialog import Dialog
from bridge.dialog_document import Piece
from bridge.engine import TextModel
from bridge.errors import (
    AgentBusy,
    AgentDestroyed,
    InvalidValue,
    ParleyError,
    UnknownNode,
    UnknownToolCall,
)
from bridge.model_files import Report
from bridge.models import LoadedModel, LoadedSpeech, ModelStore
from bridge.node import ModelNode, Node, VoiceNode
from bridge.protocol import CacheInfo, ShortReply, TurnComplete, VariableValue
from bridge.status import Counters
from bridge.storage import StringStorage
from bridge.storages import BuildReport, HeldKnowledge, KnowledgeView
from bridge.turn import Cast, Emit, Turn
from bridge.variables import override_variables
from bridge.wording import cut, shown, words_of
from bridge.workflow import CompileScope, Workflow, change_node

T = TypeVar("T")


log = logging.getLogger(__name__)


class Agent:
    """One conversation. Holds its models from `create` to `close`.

    Threading: used on the event loop only.
    """

    def __init__(self, cast: Cast, models: ModelStore, storages: KnowledgeView, emit: Emit) -> None:
        self._cast = cast
        self._models = models
        self._storages = storages
        self._baseline = dict(cast.workflow.nodes)
        self.changing: asyncio.Future[None] | None = None
        """A change of parameters or of the dialog on its way; requests that came later wait for it."""
        self._emit = emit
        self._variables = {name: value for name, (_, value) in cast.workflow.variables.items()}
        self._last_turn_id = 0
        self._turn: Turn | None = None
        self._closed = False

    @classmethod
    async def create(
        cls,
        agent_id: str,
        workflow: Workflow,
        *,
        models: ModelStore,
        storages: KnowledgeView,
        settings: Settings,
        emit: Emit,
        report: Callable[[str], Report],
        report_build: Callable[[str], BuildReport],
        variables: Mapping[str, VariableValue],
        enable_diagnostics: bool = False,
        max_steps: int = 64,
        seed_dialog: object = None,
        download: bool = False,
        session_id: str = "",
        counters: Counters | None = None,
    ) -> Agent:
        """Load the models and build the embedded storages that the workflow uses, and start the conversation.

        `report(model)` gives the progress callback of one model, `report_build(storage)` that of a storage. `download`:
        models that are not there are fetched. Raises the models' and the storages' errors, InvalidValue for a bad
        variable or a `max_tokens` that the loaded model's window cannot hold, or a speaker that a voice does not have;
        nothing is held then. A voice that cannot be loaded is no reason to have no agent: its nodes are not heard, and
        the first that speaks tells of it.
        """
        initial = {name: value for name, (_, value) in workflow.variables.items()}
        chosen = override_variables(workflow.variables, initial, variables)
        dialog = Dialog(workflow.speaker, settings.max_dialog_turns, settings.max_json_bytes)
        if seed_dialog is not None:
            dialog.seed(await workers.request(dialog.read, seed_dialog), append=False)
        held: dict[str, LoadedModel] = {}
        voices: dict[str, LoadedSpeech] = {}
        silent: dict[str, str] = {}
        knowledge: dict[str, HeldKnowledge] = {}
        try:
            for name in _models_used(workflow):
                held[name] = await models.acquire(name, report(name), download=download)
            _check_models(workflow, held)
            for name in sorted(workflow.embedded_storages):
                knowledge[name] = await storages.acquire(name, report_build(name), report, download=download)
            for name in _voices_used(workflow):
                try:
                    voices[name] = await models.acquire_speech(name, report(name), download=download)
                except ParleyError as fault:
                    silent[name] = fault.message
                except Exception as fault:  # of an engine: the text goes out as usual
                    log.exception("the voice %s cannot be loaded", name)
                    silent[name] = words_of(fault)
            for node in workflow.nodes.values():
                _check_speaker(node, voices, "speaker_id")
        except BaseException:
            for voice in voices.values():
                models.release(voice)
            for model in held.values():
                models.release(model)
            for storage in knowledge.values():
                storages.release(storage)
            raise
        cast = Cast(
            agent_id,
            workflow,
            dialog,
            held,
            knowledge,
            settings,
            voices,
            silent,
            enable_diagnostics=enable_diagnostics,
            max_steps=max_steps,
            session_id=session_id,
            counters=counters or Counters(),
        )
        agent = cls(cast, models, storages, emit)
        agent._variables = chosen
        return agent

    @property
    def agent_id(self) -> str:
        return self._cast.agent_id

    @property
    def busy(self) -> bool:
        """A turn is running."""
        return self._turn is not None

    @property
    def tokens_in_turn(self) -> int:
        """Tokens that the running turn has generated so far; 0 without one."""
        return 0 if self._turn is None else self._turn.tokens_so_far

    @property
    def turns(self) -> int:
        """Interactions in the dialog."""
        return len(self._cast.dialog)

    def start_turn(self, text: str) -> int:
        """Start a turn with the player's line and return its id; its frames come after the caller has returned.

        Raises AgentBusy while another turn runs.
        """
        self._must_be_idle()
        self._last_turn_id += 1
        self._turn = Turn(
            self._cast,
            self._last_turn_id,
            text,
            dict(self._variables),
            self._emit,
            on_complete=self._complete,
        )
        self._turn.start()
        return self._last_turn_id

    def cancel_turn(self, turn_id: int | None = None) -> None:
        """End the running turn (or only the one of this id), with its TurnComplete. Idempotent."""
        if self._turn is not None and turn_id in (None, self._last_turn_id):
            self._turn.cancel()

    def set_variables(self, values: Mapping[str, VariableValue]) -> None:
        """Change variables, all or nothing. Raises InvalidValue."""
        self._variables = override_variables(self._cast.workflow.variables, self._variables, values)

    def change_params(self, node_name: str, params: Mapping[str, Any], scope: CompileScope) -> Awaitable[None]:
        """Change parameters of a node, all or nothing. Raises AgentBusy; awaiting it, what `change_node` raises."""
        self._must_be_idle()
        before = self._cast.workflow
        held = before.held.get(node_name)
        own = getattr(before.nodes.get(node_name), "string_storage", "")
        keeps = bool(own) and "string_storage" not in params
        find_other = scope.strings

        def find(name: str) -> StringStorage:
            # The storage may have lost its name meanwhile; this agent keeps what it has.
            return held if keeps and held is not None and name == own else find_other(name)

        built = self._cast.knowledge  # embedded storages are fixed
        scope = replace(scope, strings=find, knowledge=lambda name: built[name].storage)
        voices = self._cast.voices

        def make() -> Workflow:
            changed = change_node(before, node_name, params, scope)
            _check_speaker(changed.nodes[node_name], voices, "$.params.speaker_id")
            return changed

        return self._change(make, lambda changed: setattr(self._cast, "workflow", changed))

    def _change(self, make: Callable[[], T], put: Callable[[T], None]) -> Awaitable[None]:
        """`make` something in a worker thread and `put` it in place; requests that come meanwhile wait."""
        self._must_be_idle()
        self.changing = asyncio.get_running_loop().create_future()
        return self._do_change(make, put)

    async def _do_change(self, make: Callable[[], T], put: Callable[[T], None]) -> None:
        try:
            made = await workers.request(make)
            self._must_be_there()
            put(made)
        finally:
            change, self.changing = self.changing, None
            if change is not None:
                change.set_result(None)

    def params(self, node_name: str) -> tuple[dict[str, Any], dict[str, Any]]:
        """A node's parameters now, and as they were when the agent was made. Raises UnknownNode."""
        node = self._cast.workflow.nodes.get(node_name)
        if node is None:
            raise UnknownNode(f"the workflow has no node '{cut(node_name)}'", node_name=cut(node_name))
        first = self._baseline[node_name]
        return _params_of(node), _params_of(first)

    def take_tool_result(self, call_id: str, result: str, error: str) -> None:
        """Give the running turn what a tool brought. Raises UnknownToolCall."""
        if self._turn is None:
            raise UnknownToolCall(
                f"no turn of agent '{self.agent_id}' is running, so {shown(call_id)} is late or was never made",
                agent_id=self.agent_id,
                path="$.call_id",
            )
        self._turn.tools.take(call_id, result, error)

    def export_dialog(self, first: int, count: int | None) -> Awaitable[Piece]:
        """A piece of the dialog history as it is now. Raises nothing: a piece beyond the end is empty."""
        return workers.request(self._cast.dialog.export(first, count))

    def seed_dialog(self, raw: object, *, append: bool) -> Awaitable[None]:
        """Replace the dialog history, or continue it.

        Raises AgentBusy while a turn runs; awaiting it, InvalidDialog and LimitExceeded, with nothing changed.
        """
        dialog = self._cast.dialog
        return self._change(lambda: dialog.read(raw), lambda read: dialog.seed(read, append=append))

    def edit_dialog(self, index: int, user: str | None, replies: Sequence[ShortReply] | None) -> Awaitable[None]:
        """Change one turn of the dialog history. Raises as `seed_dialog` does."""
        dialog = self._cast.dialog
        return self._change(lambda: dialog.changed(index, user, replies), lambda turn: dialog.edit(index, turn))

    def truncate_dialog(self, keep: int) -> None:
        """Forget all but the first turns. Raises AgentBusy while a turn runs."""
        self._must_be_idle()
        self._cast.dialog.truncate(keep)

    def manage_cache(self, action: Literal["Stats", "Park", "Drop"]) -> Awaitable[list[CacheInfo]]:
        """Park or drop what the nodes keep of their prompts, or just look. Park and Drop need an idle agent.

        Raises AgentBusy; awaiting it, AgentDestroyed.
        """
        if action != "Stats":
            self._must_be_idle()
        workflow, models = self._cast.workflow, self._cast.models
        engines = {
            node.name: models[workflow.model_of(node)].engine
            for node in workflow.nodes.values()
            if isinstance(node, ModelNode)
        }
        return self._manage_cache(engines, action)

    async def _manage_cache(
        self, engines: Mapping[str, TextModel], action: Literal["Stats", "Park", "Drop"]
    ) -> list[CacheInfo]:
        asked = (engine.manage_cache(f"{self.agent_id}/{name}", action) for name, engine in engines.items())
        states = await asyncio.gather(*asked, return_exceptions=True)
        self._must_be_there()
        found = []
        for name, state in zip(engines, states, strict=True):
            if isinstance(state, BaseException):
                raise state
            found.append(CacheInfo(node_name=name, tokens=state.tokens, bytes=state.bytes, where=state.where))
        return found

    def close(self) -> None:
        """Cancel the running turn and give the models back. Idempotent."""
        self._closed = True
        self.cancel_turn()
        held, self._cast.models = self._cast.models, {}
        for model in held.values():
            model.engine.forget([f"{self.agent_id}/{name}" for name in self._cast.workflow.nodes])
            self._models.release(model)
        voices, self._cast.voices = self._cast.voices, {}
        for voice in voices.values():
            self._models.release(voice)
        knowledge, self._cast.knowledge = self._cast.knowledge, {}
        for storage in knowledge.values():
            self._storages.release(storage)

    def _must_be_there(self) -> None:
        """To be asked whenever something was waited for: the agent may have been closed meanwhile."""
        if self._closed:
            raise AgentDestroyed(f"agent '{self.agent_id}' was destroyed", agent_id=self.agent_id)

    def _must_be_idle(self) -> None:
        if self._turn is not None:
            raise AgentBusy(
                f"turn {self._last_turn_id} of agent '{self.agent_id}' is running; "
                "wait for its TurnComplete or cancel it",
                agent_id=self.agent_id,
            )

    def _complete(self, complete: TurnComplete) -> None:
        self._turn = None
        self._emit(complete, None)


def _models_used(workflow: Workflow) -> Iterable[str]:
    return sorted({workflow.model_of(node) for node in workflow.nodes.values() if isinstance(node, ModelNode)})


def _voices_used(workflow: Workflow) -> Iterable[str]:
    return sorted({node.voice for node in workflow.nodes.values() if isinstance(node, VoiceNode)})


def _params_of(node: Node) -> dict[str, Any]:
    return {"type": node.type_name, **node.model_dump(mode="json", exclude_none=True)}


def _check_speaker(node: Node, voices: Mapping[str, LoadedSpeech], path: str) -> None:
    if not isinstance(node, VoiceNode) or node.voice not in voices:
        return
    speakers = voices[node.voice].engine.speakers
    if node.speaker_id >= len(speakers):
        raise InvalidValue(
            f"node '{node.name}': the voice '{node.voice}' has no speaker {node.speaker_id}; the highest speaker_id is "
            f"{len(speakers) - 1}",
            node_name=node.name,
            path=path,
        )


def _check_models(workflow: Workflow, models: Mapping[str, LoadedModel]) -> None:
    for node in workflow.nodes.values():
        if isinstance(node, ModelNode):
            model = models[workflow.model_of(node)]
            if node.chooses:
                model.letter_tokens()
            window = node.context_size or model.context_size
            if window > model.engine.trained_context:
                raise InvalidValue(
                    f"node '{node.name}': a window of {window} tokens is more than model '{model.entry.name}' "
                    f"was trained for ({model.engine.trained_context})",
                    node_name=node.name,
                    path="context_size",
                )
            if node.max_tokens >= window:
                raise InvalidValue(
                    f"node '{node.name}': max_tokens {node.max_tokens} must be below the window of {window} tokens",
                    node_name=node.name,
                    path="max_tokens",
                )

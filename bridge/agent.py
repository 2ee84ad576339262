"""An agent: one conversation, made of a compiled workflow, a dialog, variables, and at most one running turn."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Literal

from bridge.config import Settings
from bridge.dialog import Dialog
from bridge.errors import AgentBusy, InvalidValue
from bridge.models import LoadedModel, ModelStore, Report
from bridge.node import ModelNode
from bridge.protocol import CacheInfo, DialogDocument, Push, TurnComplete, VariableValue
from bridge.turn import Cast, Turn
from bridge.variables import override_variables
from bridge.workflow import Workflow


class Agent:
    """One conversation. Holds its models from `create` to `close`.

    Threading: used on the event loop only.
    """

    def __init__(self, cast: Cast, models: ModelStore, emit: Callable[[Push], None]) -> None:
        self._cast = cast
        self._models = models
        self._emit = emit
        self._variables = {name: value for name, (_, value) in cast.workflow.variables.items()}
        self._last_turn_id = 0
        self._turn: Turn | None = None

    @classmethod
    async def create(
        cls,
        agent_id: str,
        workflow: Workflow,
        *,
        models: ModelStore,
        settings: Settings,
        emit: Callable[[Push], None],
        report: Callable[[str], Report],
        variables: Mapping[str, VariableValue],
        enable_diagnostics: bool = False,
        max_steps: int = 64,
        seed_dialog: object = None,
    ) -> Agent:
        """Load the models that the workflow uses and start the conversation.

        `report(model)` gives the progress callback of one model. Raises the models' errors, InvalidValue for a bad
        variable or a `max_tokens` that the loaded model's window cannot hold; no model is held then.
        """
        initial = {name: value for name, (_, value) in workflow.variables.items()}
        chosen = override_variables(workflow.variables, initial, variables)
        dialog = Dialog(workflow.speaker)
        if seed_dialog is not None:
            dialog.seed(seed_dialog, append=False)
        held: dict[str, LoadedModel] = {}
        try:
            for name in _models_used(workflow):
                held[name] = await models.acquire(name, report(name))
            _check_windows(workflow, held)
        except BaseException:
            for model in held.values():
                models.release(model)
            raise
        cast = Cast(agent_id, workflow, dialog, held, settings, enable_diagnostics, max_steps)
        agent = cls(cast, models, emit)
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

    def export_dialog(self, first: int, count: int | None) -> DialogDocument:
        """A piece of the dialog history. Raises nothing: a piece beyond the end is empty."""
        return self._cast.dialog.export(first, count)

    def change_dialog(self, change: Callable[[Dialog], None]) -> None:
        """Seed, edit or truncate the dialog history. Raises AgentBusy while a turn runs, InvalidDialog."""
        self._must_be_idle()
        change(self._cast.dialog)

    async def manage_cache(self, action: Literal["Stats", "Park", "Drop"]) -> list[CacheInfo]:
        """Park or drop what the nodes keep of their prompts, or just look. Park and Drop need an idle agent."""
        if action != "Stats":
            self._must_be_idle()
        found = []
        for node in self._cast.workflow.nodes.values():
            if isinstance(node, ModelNode):
                engine = self._cast.models[self._cast.workflow.model_of(node)].engine
                state = await engine.manage_cache(f"{self.agent_id}/{node.name}", action)
                found.append(CacheInfo(node_name=node.name, tokens=state.tokens, bytes=state.bytes, where=state.where))
        return found

    def close(self) -> None:
        """Cancel the running turn and give the models back. Idempotent."""
        self.cancel_turn()
        held, self._cast.models = self._cast.models, {}
        for model in held.values():
            model.engine.forget([f"{self.agent_id}/{name}" for name in self._cast.workflow.nodes])
            self._models.release(model)

    def _must_be_idle(self) -> None:
        if self._turn is not None:
            raise AgentBusy(
                f"turn {self._last_turn_id} of agent '{self.agent_id}' is running; "
                "wait for its TurnComplete or cancel it",
                agent_id=self.agent_id,
            )

    def _complete(self, complete: TurnComplete) -> None:
        self._turn = None
        self._emit(complete)


def _models_used(workflow: Workflow) -> Iterable[str]:
    return sorted({workflow.model_of(node) for node in workflow.nodes.values() if isinstance(node, ModelNode)})


def _check_windows(workflow: Workflow, models: Mapping[str, LoadedModel]) -> None:
    for node in workflow.nodes.values():
        if isinstance(node, ModelNode):
            model = models[workflow.model_of(node)]
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

"""One turn: walk the workflow once, tag what nodes say, and end with exactly one TurnComplete."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any, Literal

from bridge import template
from bridge.answer_text import AnswerRules
from bridge.chat_format import Rendered, Script, prompt_tokens
from bridge.config import Settings
from bridge.dialog import Dialog
from bridge.engine import GenerateRequest, Generation, GenerationResult
from bridge.errors import (
    InferenceFailed,
    InvalidExitTarget,
    MaxStepsExceeded,
    ParleyError,
    PromptTooLong,
    TurnTimeout,
)
from bridge.models import LoadedModel, combine_sampling
from bridge.node import Node, ReplyNode, SpeakingNode
from bridge.prompt import PromptMessage, View, project, spoken_reply, user_area
from bridge.protocol import (
    AnswerText,
    FinishReason,
    InstructionRecord,
    Interaction,
    Output,
    Push,
    StepFinish,
    TurnComplete,
    TurnError,
    TurnStatus,
    Warning,
)
from bridge.variables import Value
from bridge.workflow import Workflow

log = logging.getLogger(__name__)

Emit = Callable[[Push], None]


@dataclass(slots=True)
class Cast:
    """What a turn needs of its agent; lives as long as the agent."""

    agent_id: str
    workflow: Workflow
    dialog: Dialog
    models: Mapping[str, LoadedModel]
    """By catalog name: every model that some node uses."""
    settings: Settings
    enable_diagnostics: bool = False
    max_steps: int = 64
    picks: dict[str, int] = field(default_factory=dict)
    """How many lines each CannedResponse has said."""
    random: random.Random = field(default_factory=random.Random)


@dataclass(slots=True)
class _Sent:
    """What the client has been sent of one step."""

    node_name: str
    text: str = ""
    closed: bool = False


class Turn:
    """One walk of the workflow.

    `on_complete` is called exactly once; nothing is emitted after it, whatever a node still does.
    Threading: lives on the event loop.
    """

    def __init__(
        self,
        cast: Cast,
        turn_id: int,
        user_message: str,
        variables: Mapping[str, Value],
        emit: Emit,
        on_complete: Callable[[TurnComplete], None],
    ) -> None:
        self.cast = cast
        self.turn_id = turn_id
        self.user_message = user_message
        self.variables = variables
        self.slots: dict[str, str] = {"user_message": user_message}
        self.outputs: list[Output] = []
        self.instructions: list[InstructionRecord] = []
        self.finish: list[StepFinish] = []
        self.tokens_generated = 0
        self.generation: Generation | None = None
        self.started = time.monotonic()
        self._emit = emit
        self._on_complete = on_complete
        self._warnings: list[str] = []
        self._steps: list[dict[str, Any]] = []
        self._sent: dict[int, _Sent] = {}
        self._running: Step | None = None
        self._over = False
        self._progress = self.started
        self._seen_steps = 0
        self._timer: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin the walk on the running event loop; its first frame comes after the caller has returned to it."""
        loop = asyncio.get_running_loop()
        self._task = loop.create_task(self._main())
        self._timer = loop.call_later(self.cast.settings.turn_timeout_s, self._check_progress)

    def cancel(self) -> None:
        """End the turn now, with its TurnComplete. Idempotent; without effect once it has ended."""
        self._end("Cancelled")

    def touch(self) -> None:
        """Note that the turn got on."""
        self._progress = time.monotonic()

    def warn(self, message: str, node_name: str) -> None:
        """Tell the developer; the turn goes on."""
        self._warnings.append(f"{node_name}: {message}")
        self._push(Warning(code=0, message=message, agent_id=self.cast.agent_id, node_name=node_name))

    # ---- the walk

    async def _main(self) -> None:
        try:
            await self._walk()
        except asyncio.CancelledError:
            self._end("Cancelled")
            raise
        except ParleyError as fault:
            self._end("Error", fault)
        else:
            self._end("Success")

    async def _walk(self) -> None:
        name = self.cast.workflow.start_node
        number = 0
        while name:
            if number >= self.cast.max_steps:
                raise MaxStepsExceeded(
                    f"the turn took {number} steps without reaching an end; break the cycle or raise max_steps",
                    node_name=name,
                )
            number += 1
            self.touch()
            name = await self._step(number, self.cast.workflow.nodes[name])

    async def _step(self, number: int, node: Node) -> str:
        step = self._running = Step(self, node, number)
        try:
            taken = await node.run(step)
        except ParleyError as fault:
            fault.node_name = fault.node_name or node.name
            raise
        except Exception as fault:
            # A node type may come from anybody: whatever it raises ends this turn and nothing else.
            log.exception("node %s (%s) failed", node.name, node.type_name)
            raise InferenceFailed(
                f"node '{node.name}' ({node.type_name}) failed: {type(fault).__name__}: {fault}",
                node_name=node.name,
            ) from fault
        exits = type(node).exit_fields()
        if taken not in exits:
            raise InvalidExitTarget(
                f"node '{node.name}' ({node.type_name}) took the exit '{taken}', which it does not have; "
                f"it has: {', '.join(exits)}",
                node_name=node.name,
            )
        if self.cast.enable_diagnostics:
            self._steps.append(step.debug(taken))
        self._running = None
        return str(getattr(node, exits[taken]))

    def _check_progress(self) -> None:
        limit = self.cast.settings.turn_timeout_s
        worked = self.generation.steps if self.generation is not None else 0
        if worked != self._seen_steps:
            self._seen_steps = worked
            self.touch()
        left = limit - (time.monotonic() - self._progress)
        if left <= 0:
            self._end("Error", TurnTimeout(f"the turn made no progress for {limit:g} s (turn_timeout_s)"))
        else:
            self._timer = asyncio.get_running_loop().call_later(left, self._check_progress)

    # ---- the end

    def _end(self, status: TurnStatus, fault: ParleyError | None = None) -> None:
        if self._over:
            return
        if self._timer is not None:
            self._timer.cancel()
        if self.generation is not None:
            self.generation.cancel()
        error = None
        if fault is not None:
            node_name = fault.node_name or (self._running.node.name if self._running else "")
            error = TurnError(code=fault.code, name=fault.name, message=fault.message, node_name=node_name)
            log.warning("turn %d of agent %s failed: %s: %s", self.turn_id, self.cast.agent_id, fault.name, fault)
        if status != "Success":
            self._close_open_steps("cancelled" if status == "Cancelled" else "error")
        complete = TurnComplete(
            agent_id=self.cast.agent_id,
            turn_id=self.turn_id,
            status=status,
            error=error,
            tokens_generated=self.tokens_generated,
            finish=self.finish,
            interaction=self._record(status),
            debug=self._debug() if self.cast.enable_diagnostics else None,
        )
        self._over = True
        if self._task is not None and status != "Success":
            self._task.cancel()
        self._on_complete(complete)

    def _close_open_steps(self, reason: FinishReason) -> None:
        for number, sent in list(self._sent.items()):
            if not sent.closed:
                self.send(number, sent.node_name, "", is_final=True)
        step = self._running
        if step is None:
            return
        if step.generating:
            self.finish.append(StepFinish(step=step.number, node_name=step.node.name, reason=reason))
            if self.generation is not None:
                self.tokens_generated += self.generation.tokens_generated
        if self.cast.enable_diagnostics:
            self._steps.append(step.debug(""))

    def send(self, number: int, node_name: str, text: str, *, is_final: bool, is_delta: bool = True) -> None:
        """Emit a text frame of a step."""
        if self._over:
            return
        sent = self._sent.setdefault(number, _Sent(node_name))
        sent.text += text
        sent.closed = is_final
        self.touch()
        self._push(
            AnswerText(
                agent_id=self.cast.agent_id,
                turn_id=self.turn_id,
                node_name=node_name,
                step=number,
                text=text,
                is_delta=is_delta,
                is_final=is_final,
            )
        )

    def _push(self, push: Push) -> None:
        if not self._over:
            self._emit(push)

    def _record(self, status: TurnStatus) -> Interaction | None:
        outputs = self.outputs
        if status != "Success":
            outputs = self._sent_outputs()
            if not outputs:
                return None
        interaction = Interaction(
            turn_id=self.turn_id,
            user=self.user_message,
            outputs=outputs,
            instructions=self.instructions,
            status=status,
            time=datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        )
        self.cast.dialog.record(interaction)
        return interaction

    def _sent_outputs(self) -> list[Output]:
        """What the client was sent of an unfinished turn, and nothing else."""
        written = {output.step: output for output in self.outputs}
        outputs = []
        for number, sent in self._sent.items():
            if not sent.text:
                continue
            node = self.cast.workflow.nodes[sent.node_name]
            output = written.get(number) or _output(node, number, sent.text)
            outputs.append(output.model_copy(update={"text": sent.text}))
        return outputs

    def _debug(self) -> dict[str, Any]:
        return {
            "turn_id": self.turn_id,
            "agent_id": self.cast.agent_id,
            "duration_ms": _ms(time.monotonic() - self.started),
            "slots": dict(self.slots),
            "steps": self._steps,
            "summary": "",
            "warnings": self._warnings,
        }


class Step:
    """`node.TurnView` for one execution of a node."""

    def __init__(self, turn: Turn, node: Node, number: int) -> None:
        self.turn = turn
        self.node = node
        self.number = number
        self.generating = False
        self._started = time.monotonic()
        self._details: dict[str, Any] = {}
        self._input: dict[str, Any] = {}
        self._facts: dict[str, Any] = {}

    @property
    def user_message(self) -> str:
        return self.turn.user_message

    def slot(self, name: str) -> str:
        return self.turn.slots.get(name, "")

    def read_input(self, name: str) -> str:
        slot = name or "user_message"
        if slot not in self.turn.slots:
            self._details["input_missing"] = slot
        text = self.slot(slot)
        self._input = {"slot": slot, "text": text}
        return text

    def variable(self, name: str) -> Value:
        return self.turn.variables[name]

    def render(self, field: str) -> str:
        return self._render(field, self.turn.user_message)

    def _render(self, field: str, user_message: str) -> str:
        compiled = self.node.templates.get(field)
        if compiled is None:
            return ""
        return compiled.render(
            template.scope(
                user_message=user_message,
                slots=self.turn.slots,
                variables=self.turn.variables,
                instructions=[(item.name, item.text) for item in self.turn.instructions],
            )
        )

    def pick(self, count: int, selection: Literal["RoundRobin", "First", "Random"]) -> int:
        if selection == "First":
            return 0
        if selection == "Random":
            return self.turn.cast.random.randrange(count)
        said = self.turn.cast.picks.get(self.node.name, 0)
        self.turn.cast.picks[self.node.name] = said + 1
        return said % count

    def add_instruction(self, name: str, text: str) -> None:
        self.turn.instructions.append(InstructionRecord(name=name, text=text))

    def detail(self, **values: Any) -> None:
        self._details.update(values)

    def warn(self, message: str) -> None:
        self.turn.warn(message, self.node.name)

    async def write(self, text: str) -> None:
        self._write(text)
        send = getattr(self.node, "send", "None")
        if send != "None":
            self.turn.send(self.number, self.node.name, text, is_final=True, is_delta=send == "Streamed")

    def _write(self, text: str) -> None:
        output = _output(self.node, self.number, text)
        self.turn.slots[output.slot] = text
        self.turn.outputs.append(output)

    async def generate(self) -> str:
        node = self.node
        if not isinstance(node, ReplyNode):
            raise TypeError(f"{node.type_name} is no ReplyNode, so it cannot generate")
        cast = self.turn.cast
        model = cast.models[cast.workflow.model_of(node)]
        messages = project(self._view(node))
        examples = [(line.speaker, line.text) for line in node.examples or model.entry.examples]
        label = node.history_name or node.name
        rendered = model.format.render(messages, Script(label, cast.workflow.player_name, examples))
        prompt = prompt_tokens(rendered, model.engine.vocabulary)
        window = node.context_size or model.context_size
        self._describe(node, model, messages, rendered, window, len(prompt))
        if len(prompt) >= window:
            raise PromptTooLong(
                f"the prompt of node '{node.name}' has {len(prompt)} tokens; its window has {window} (context_size)"
            )
        request = GenerateRequest(
            sequence=f"{cast.agent_id}/{node.name}",
            prompt=tuple(prompt),
            max_tokens=node.max_tokens,
            context_size=window,
            sampling=combine_sampling(model.entry.default_sampling, node.sampling),
            answer=self._rules(node, rendered, label, examples),
            user_text=next((m.content for m in reversed(messages) if m.role == "user"), ""),
        )
        result = await self._stream(node, model, request)
        self._write(result.text)
        spoken = spoken_reply(result.tokens, model.engine.vocabulary.piece, result.text)
        if spoken is not None:
            cast.dialog.remember_spoken(node.name, (self.turn.turn_id, self.number), spoken)
        if node.send == "Whole":
            self.turn.send(self.number, node.name, result.text, is_final=True, is_delta=False)
        return result.text

    def _view(self, node: ReplyNode) -> View:
        turn = self.turn
        in_place = node.placement == "InPlaceOfUser"
        has_template = "template" in node.templates
        rendering = self._render("template", turn.user_message if in_place else "") if has_template else None
        area = user_area(
            input_text=self.read_input(node.input),
            user_message=turn.user_message,
            rendering=rendering,
            placement=node.placement,
            player_name=turn.cast.workflow.player_name,
        )
        return View(
            node_name=node.name,
            system_prompt=node.system_prompt,
            player_name=turn.cast.workflow.player_name,
            history=turn.cast.dialog.interactions,
            user_message=turn.user_message,
            outputs=turn.outputs,
            area=area,
            spoken=turn.cast.dialog.spoken_by(node.name),
            turn_id=turn.turn_id,
        )

    def _rules(self, node: ReplyNode, rendered: Rendered, label: str, examples: list[tuple[str, str]]) -> AnswerRules:
        workflow = self.turn.cast.workflow
        others = {
            workflow.player_name,
            *workflow.labels().values(),
            *(speaker for speaker, _ in examples),
        } - {label}
        return AnswerRules(
            stop=(*node.stop, *rendered.stop),
            own_label=label,
            other_labels=tuple(sorted(others)),
            strip_reasoning=node.strip_reasoning,
            starts_in_reasoning=rendered.starts_in_reasoning,
            whole=node.send != "Streamed",
        )

    async def _stream(self, node: ReplyNode, model: LoadedModel, request: GenerateRequest) -> GenerationResult:
        turn = self.turn
        self.generating = True
        generation = turn.generation = model.engine.generate(request)
        streamed = node.send == "Streamed"
        try:
            async for delta in generation:
                turn.touch()
                if streamed:
                    turn.send(self.number, node.name, delta, is_final=False)
        finally:
            generation.cancel()
        result = generation.result
        self.generating = False
        turn.generation = None
        turn.tokens_generated += result.usage.generated_tokens
        turn.finish.append(StepFinish(step=self.number, node_name=node.name, reason=result.finish))
        if streamed:
            turn.send(self.number, node.name, "", is_final=True)
        self._facts.update(usage=_usage(result), finish=result.finish, reasoning=result.reasoning)
        return result

    # ---- diagnostics

    def _describe(
        self,
        node: ReplyNode,
        model: LoadedModel,
        messages: list[PromptMessage],
        rendered: Rendered,
        window: int,
        tokens: int,
    ) -> None:
        if not self.turn.cast.enable_diagnostics:
            return
        self._input["prompt"] = [{"role": message.role, "content": message.content} for message in messages]
        self._input["rendered"] = rendered.text
        self._facts["model"] = model.entry.name
        self._facts["budget"] = {
            "context_size": window,
            "max_tokens": node.max_tokens,
            "prompt_budget": window - node.max_tokens,
            "estimate": tokens,
            "first_turn": 0,
            "dropped_turns": 0,
        }

    def debug(self, taken: str) -> dict[str, Any]:
        """This step's entry in the diagnostics."""
        output = next((item for item in self.turn.outputs if item.step == self.number), None)
        return {
            "step": self.number,
            "node_name": self.node.name,
            "type": self.node.type_name,
            "exit": taken,
            "start_ms": _ms(self._started - self.turn.started),
            "duration_ms": _ms(time.monotonic() - self._started),
            "input": self._input,
            "output": output.model_dump(include={"slot", "text", "send", "history_role"}) if output else None,
            **self._facts,
            "details": self._details,
        }


def _output(node: Node, number: int, text: str) -> Output:
    if isinstance(node, SpeakingNode):
        return Output(
            step=number,
            node_name=node.name,
            slot=node.slot_name,
            text=text,
            send=node.send,
            history_role=node.history_role,
            history_name=node.history_name,
        )
    return Output(step=number, node_name=node.name, slot=node.slot_name, text=text)


def _usage(result: GenerationResult) -> dict[str, Any]:
    usage = result.usage
    return {
        "prompt_tokens": usage.prompt_tokens,
        "cached_tokens": usage.cached_tokens,
        "evaluated_tokens": usage.evaluated_tokens,
        "generated_tokens": usage.generated_tokens,
        "ttft_ms": round(usage.ttft_ms, 3),
        "tokens_per_s": round(usage.tokens_per_s, 2),
        "dropped": usage.dropped,
    }


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 3)

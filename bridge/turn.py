"""One turn: walk the workflow once, tag what nodes say, and end with exactly one TurnComplete."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any

from bridge.config import Settings
from bridge.dialog import Dialog
from bridge.engine import Generation, SpeechModel
from bridge.errors import (
    InferenceFailed,
    InvalidExitTarget,
    LimitExceeded,
    MaxStepsExceeded,
    ParleyError,
    PromptTooLong,
    SpeechFailed,
    TurnTimeout,
)
from bridge.models import LoadedModel, LoadedSpeech
from bridge.node import Node
from bridge.protocol import (
    AnswerText,
    FinishReason,
    InstructionRecord,
    Interaction,
    KnowledgeRecord,
    NodeEvent,
    Output,
    Push,
    StepFinish,
    ToolCallRecord,
    TurnComplete,
    TurnError,
    TurnStatus,
    Warning,
)
from bridge.speaking import TurnSpeech
from bridge.speech_step import EmitSound
from bridge.status import Counters
from bridge.step import Step, milliseconds, output_of
from bridge.storages import HeldKnowledge
from bridge.turn_tools import ToolCalls
from bridge.variables import Value
from bridge.wording import shown, words_of
from bridge.workflow import Workflow

log = logging.getLogger(__name__)

Emit = EmitSound

_TELLING = (LimitExceeded, MaxStepsExceeded, PromptTooLong, TurnTimeout)
"""Errors whose messages have numbers and names only, so that the log may have them."""


@dataclass(slots=True)
class Cast:
    """What a turn needs of its agent; lives as long as the agent."""

    agent_id: str
    workflow: Workflow
    dialog: Dialog
    models: Mapping[str, LoadedModel]
    """By catalog name: every model that some node uses."""
    knowledge: Mapping[str, HeldKnowledge]
    """By the name that nodes use: every embedded storage."""
    settings: Settings
    voices: Mapping[str, LoadedSpeech] = field(default_factory=dict)
    """By catalog name: every voice that some node uses and that could be loaded."""
    silent: Mapping[str, str] = field(default_factory=dict)
    """Those that could not, and why."""
    silence_told: set[str] = field(default_factory=set)
    """Those of them of which the game knows."""
    enable_diagnostics: bool = False
    max_steps: int = 64
    picks: dict[str, int] = field(default_factory=dict)
    """How many lines each CannedResponse has said."""
    random: random.Random = field(default_factory=random.Random)
    session_id: str = ""
    """For the log."""
    counters: Counters = field(default_factory=Counters)


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
        self.intent = ""
        self.attributes: dict[str, str] = {}
        self.knowledge: dict[str, KnowledgeRecord] = {}
        self.tools = ToolCalls(turn_id, self.event, self._stand_still, self._take_in)
        self.spent: dict[str, int] = {}
        """Heavy work so far, by node type."""
        self.finish: list[StepFinish] = []
        self.tokens_generated = 0
        self.steps_taken = 0
        self.dropped_turns = 0
        self.summary_text = cast.dialog.summary.text if cast.dialog.summary else ""
        self.generation: Generation | None = None
        self.started = time.monotonic()
        self.speech = TurnSpeech(
            cast.agent_id,
            turn_id,
            self.started,
            voice=self._voice,
            emit=self._push,
            tell=self._warn,
            touch=self._heard,
        )
        self._emit = emit
        self._on_complete = on_complete
        self._warnings: list[str] = []
        self._steps: list[dict[str, Any]] = []
        self._sent: dict[int, _Sent] = {}
        self._running: Step | None = None
        self._over = False
        self._walked = False
        self._chars = 0
        self._progress = self.started
        self._seen_steps = 0
        self._timer: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin the walk on the running event loop; its first frame comes after the caller has returned to it."""
        self.cast.dialog.forget_unrecorded()
        self.cast.counters.turn_started()
        loop = asyncio.get_running_loop()
        self._task = loop.create_task(self._main())
        self._timer = loop.call_later(self.cast.settings.turn_timeout_s, self._check_progress)

    def cancel(self) -> None:
        """End the turn now, with its TurnComplete. Idempotent; without effect once it has ended."""
        self._end("Cancelled")

    @property
    def calls(self) -> Sequence[ToolCallRecord]:
        """Tool calls so far."""
        return self.tools.records

    @property
    def tokens_so_far(self) -> int:
        """Tokens written, those of a reply that is being written included."""
        running = self._running is not None and self._running.generating and self.generation is not None
        return self.tokens_generated + (self.generation.tokens_generated if running and self.generation else 0)

    def _stand_still(self, seconds: float) -> None:
        """For so long a lack of progress is no fault."""
        self._progress = time.monotonic() + seconds

    def touch(self) -> None:
        """Note that the turn got on."""
        self._progress = max(self._progress, time.monotonic())  # it may stand in the future: see _stand_still

    def warn(self, message: str, node_name: str) -> None:
        """Tell the developer; the turn goes on."""
        self._warn(0, message, node_name)

    def _warn(self, code: int, message: str, node_name: str) -> None:
        self._warnings.append(f"{node_name}: {message}")
        self._push(Warning(code=code, message=message, agent_id=self.cast.agent_id, node_name=node_name))

    def _voice(self, name: str, node_name: str) -> SpeechModel | str:
        cast = self.cast
        if name in cast.voices:
            return cast.voices[name].engine
        why = cast.silent.get(name, "the agent does not have it")
        if name not in cast.silence_told:
            cast.silence_told.add(name)
            told = f"the voice '{name}' cannot be used, so this agent's text goes out without it: {why}"
            self._warn(SpeechFailed.code, told, node_name)
        return why

    def _heard(self) -> None:
        # As long as nodes are at work, it is their progress that counts.
        if self._walked:
            self.touch()

    def event(self, number: int, node_name: str, event: str, data: dict[str, Any]) -> None:
        """Tell the client of something that a step did beside speaking."""
        self._push(
            NodeEvent(
                agent_id=self.cast.agent_id,
                turn_id=self.turn_id,
                node_name=node_name,
                step=number,
                event=event,
                data=data,
            )
        )

    def account(self, chars: int) -> None:
        """Count text that a step writes. Raises LimitExceeded where the turn writes too much of it."""
        self._chars += chars
        limit = self.cast.settings.max_turn_chars
        if self._chars > limit:
            raise LimitExceeded(f"the turn wrote more than {limit} characters (max_turn_chars)")

    def _take_in(self, chars: int) -> None:
        """Count text that came from outside. Raises LimitExceeded where that would be too much; it is not counted."""
        limit = self.cast.settings.max_turn_chars
        if self._chars + chars > limit:
            raise LimitExceeded(
                f"{chars} characters more are too many for this turn, which has {self._chars}; {limit} are allowed "
                "(max_turn_chars)",
                agent_id=self.cast.agent_id,
            )
        self._chars += chars

    def was_sent(self, number: int) -> str | None:
        """The text of a step that the client has; None where no frame of the step was sent."""
        sent = self._sent.get(number)
        return None if sent is None else sent.text

    def is_open(self, number: int) -> bool:
        """Whether the client waits for a final frame of the step."""
        sent = self._sent.get(number)
        return sent is not None and not sent.closed

    def must_go_on(self) -> None:
        """Raise CancelledError where the turn has ended: a node that ignored it may change nothing any more."""
        if self._over:
            raise asyncio.CancelledError

    # ---- the walk

    async def _main(self) -> None:
        try:
            await self._walk()
            self._walked = True
            self.touch()
            await self.speech.finish()
        except ParleyError as fault:
            self._end("Error", fault)
        except asyncio.CancelledError:
            self._end("Cancelled")
            raise
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
            self.steps_taken = number
            self.touch()
            # Nodes need not wait for anything: a cancel and everybody else get their turn here.
            await asyncio.sleep(0)
            name = await self._step(number, self.cast.workflow.nodes[name])

    async def _step(self, number: int, node: Node) -> str:
        step = self._running = Step(self, node, number)
        try:
            taken: object = await node.run(step)
        except ParleyError as fault:
            fault.node_name = fault.node_name or node.name
            raise
        except BaseException as fault:
            # A node type may come from anybody: whatever it raises, SystemExit too, ends this turn and nothing else.
            if self._over:
                raise asyncio.CancelledError from fault
            log.exception("node %s (%s) failed", node.name, node.type_name, extra=self.marks(node_name=node.name))
            raise InferenceFailed(
                f"node '{node.name}': the code of its type {node.type_name} failed: {words_of(fault)} "
                "(a fault of the node type, not of a model)",
                node_name=node.name,
            ) from None
        self.must_go_on()
        step.close()
        exits = type(node).exit_fields()
        if not isinstance(taken, str) or taken not in exits:
            raise InvalidExitTarget(
                f"node '{node.name}' ({node.type_name}) took the exit {shown(taken)}, which it does not have; "
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
        if left <= 0 and self._walked:
            # The text is whole: a voice that is stuck makes no error of it.
            self.speech.give_up(f"no sound came for {limit:g} s (turn_timeout_s)")
        elif left <= 0:
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
        self.speech.stop()
        error = None
        if fault is not None:
            node_name = fault.node_name or (self._running.node.name if self._running else "")
            error = TurnError(code=fault.code, name=fault.name, message=fault.message, node_name=node_name)
        if status != "Success":
            self._close_open_steps("cancelled" if status == "Cancelled" else "error")
        complete = TurnComplete(
            agent_id=self.cast.agent_id,
            turn_id=self.turn_id,
            status=status,
            error=error,
            tokens_generated=self.tokens_generated,
            finish=self.finish,
            dropped_turns=self.dropped_turns,
            interaction=self._record(status),
            debug=self._debug() if self.cast.enable_diagnostics else None,
        )
        self._over = True
        if self._task is not None and status != "Success":
            self._task.cancel()
        self.cast.counters.turn_ended(status, self.tokens_generated, None if error is None else error.code)
        self._log_end(complete, fault)
        self._on_complete(complete)
        # Nothing may lead back to the turn, and so to its agent: else what they hold, such as a storage whose file was
        # changed meanwhile, would wait for Python's collector, which looks rarely.
        self._task = self._timer = self._running = None
        self.tools.close()

    def _log_end(self, complete: TurnComplete, fault: ParleyError | None) -> None:
        """Numbers and names only: messages of errors may quote what was said."""
        duration_ms = milliseconds(time.monotonic() - self.started)
        more: dict[str, Any] = {}
        said = ""
        if complete.error is not None:
            more = {"code": complete.error.code, "error": complete.error.name, "node_name": complete.error.node_name}
            said = f" ({complete.error.code} {complete.error.name} at node '{complete.error.node_name}'"
            said += f": {fault})" if isinstance(fault, _TELLING) else ")"
        log.log(
            logging.INFO if complete.error is None else logging.WARNING,
            "turn %d of agent %s: %s%s; steps: %d, tokens: %d, %.0f ms",
            self.turn_id,
            self.cast.agent_id,
            complete.status,
            said,
            self.steps_taken,
            self.tokens_generated,
            duration_ms,
            extra=self.marks(
                event="turn_ended",
                status=complete.status,
                steps=self.steps_taken,
                tokens_generated=self.tokens_generated,
                dropped_turns=self.dropped_turns,
                duration_ms=duration_ms,
                **more,
            ),
        )

    def marks(self, **more: Any) -> dict[str, Any]:
        """What tells this turn from others in the log."""
        cast = self.cast
        return {"session_id": cast.session_id, "agent_id": cast.agent_id, "turn_id": self.turn_id, **more}

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

    def _push(self, push: Push, payload: bytes | None = None) -> asyncio.Event | None:
        return None if self._over else self._emit(push, payload)

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
            tool_calls=self.tools.records,
            intent=self.intent,
            attributes=self.attributes,
            instructions=self.instructions,
            knowledge=list(self.knowledge.values()),
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
            output = written.get(number) or output_of(node, number, sent.text)
            outputs.append(output.model_copy(update={"text": sent.text}))
        return outputs

    def _debug(self) -> dict[str, Any]:
        return {
            "turn_id": self.turn_id,
            "agent_id": self.cast.agent_id,
            "duration_ms": milliseconds(time.monotonic() - self.started),
            "slots": dict(self.slots),
            "steps": self._steps,
            "intent": self.intent,
            "attributes": dict(self.attributes),
            "summary": self.cast.dialog.summary.text if self.cast.dialog.summary else "",
            "warnings": self._warnings,
        }

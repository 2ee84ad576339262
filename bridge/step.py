"""One execution of a node: what it may do, how its prompt comes about, and what it leaves in the diagnostics."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from pydantic_core import to_jsonable_python

from bridge import summary, template
from bridge.answer_text import AnswerRules
from bridge.authoring import RESERVED
from bridge.budget import MESSAGE_COST, cost_of_examples, cost_of_messages, fit_turns
from bridge.chat_format import Rendered, Script, prompt_tokens
from bridge.engine import GenerateRequest, GenerationResult
from bridge.errors import ParleyError, PromptTooLong
from bridge.models import LoadedModel, combine_sampling
from bridge.node import ModelNode, Node, ReplyNode, SpeakingNode
from bridge.prompt import (
    PromptMessage,
    View,
    current_turn,
    earlier_turn,
    opening,
    project,
    spoken_reply,
    user_area,
)
from bridge.protocol import InstructionRecord, Output, StepFinish, Summary
from bridge.variables import Value
from bridge.wording import words_of

if TYPE_CHECKING:
    from bridge.turn import Turn


COUNTED_AT_ONCE = 32_768
"""Characters of a text whose tokens are counted without leaving the event loop."""
FORMAT_ALLOWANCE = 1024


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt ready to be read, in every form it has."""

    messages: list[PromptMessage]
    rendered: Rendered
    tokens: tuple[int, ...]
    window: int
    max_tokens: int


class Step:
    """`node.TurnView` for one execution of a node."""

    def __init__(self, turn: Turn, node: Node, number: int) -> None:
        self.turn = turn
        self.node = node
        self.number = number
        self.generating = False
        self._spoke = False
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
        return self._rendering(field, self.turn.user_message)

    def _rendering(self, field: str, user_message: str) -> str:
        compiled = self.node.templates.get(field)
        if compiled is None:
            return ""
        return compiled.render(
            template.scope(
                user_message=user_message,
                slots=self.turn.slots,
                variables=self.turn.variables,
                instructions=[(item.name, item.text) for item in self.turn.instructions],
                summary=self.turn.summary_text,
            ),
            self.turn.cast.settings.max_turn_chars,
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
        for name, value in values.items():
            try:
                self._details[name] = to_jsonable_python(value, fallback=repr)
            except Exception as fault:  # a value of any make: it may be cyclic, or refuse to be looked at
                self._details[name] = f"(cannot be shown: {words_of(fault)})"

    def warn(self, message: str) -> None:
        self.turn.warn(message, self.node.name)

    async def write(self, text: str) -> None:
        self._may_speak()
        self._write(text)
        send = getattr(self.node, "send", "None")
        if send != "None":
            self.turn.send(self.number, self.node.name, text, is_final=True, is_delta=send == "Streamed")

    def _may_speak(self) -> None:
        self.turn.must_go_on()
        if self._spoke or self.generating or self.turn.was_sent(self.number) is not None:
            raise RuntimeError("a node writes or generates once in a step; take an exit to another node for more")

    def close(self) -> None:
        """Close what the node left open: the client gets its final frame, and what it was sent is the output."""
        if self.generating:
            self.turn.finish.append(StepFinish(step=self.number, node_name=self.node.name, reason="error"))
        if self.turn.is_open(self.number):
            self.turn.send(self.number, self.node.name, "", is_final=True)
            self._write(self.turn.was_sent(self.number) or "")

    def _write(self, text: str) -> None:
        self.turn.account(len(text))
        self._spoke = True
        output = output_of(self.node, self.number, text)
        self.turn.slots[output.slot] = text
        self.turn.outputs.append(output)

    async def generate(self) -> str:
        node = self.node
        if not isinstance(node, ReplyNode):
            raise TypeError(f"{node.type_name} is no ReplyNode, so it cannot generate")
        self._may_speak()
        turn = self.turn
        cast = turn.cast
        model = cast.models[cast.workflow.model_of(node)]
        examples = [(line.speaker, line.text) for line in node.examples or model.entry.examples]
        script = Script(node.history_name or node.name, cast.workflow.player_name, examples)
        view = self._reply_view(node)
        await self._count_long(model, [*opening(view), *current_turn(view)])
        prompt = self._fit(node, model, view, script)
        request = self._request(node, model, prompt, self._rules(node, prompt.rendered, script))
        request = replace(request, replay=self._replay(node, model, view, prompt, script))
        result = await self._stream(node, model, request, streamed=node.send == "Streamed")
        self._write(result.text)
        spoken = spoken_reply(result.tokens, model.engine.vocabulary.piece, result.text)
        if spoken is not None:
            cast.dialog.remember_spoken(node.name, (len(cast.dialog), self.number), spoken)
        if node.send == "Whole":
            turn.send(self.number, node.name, result.text, is_final=True, is_delta=False)
        return result.text

    async def summarize(self, trigger_tokens: int, keep_recent_turns: int) -> None:
        node = self.node
        if not isinstance(node, ModelNode):
            raise TypeError(f"{node.type_name} is no ModelNode, so it cannot summarize")
        dialog = self.turn.cast.dialog
        model = self.turn.cast.models[self.turn.cast.workflow.model_of(node)]
        covered = dialog.summary.covers if dialog.summary else 0
        view = replace(self._view(node, []), first_turn=covered, summary="")
        turns = summary.turns_to_cover(view, keep_recent_turns)
        self._details["covers"] = covered
        if not turns or not summary.reaches(view, trigger_tokens, model.count):
            return
        try:
            text = await self._write_summary(node, model, view, turns)
        except ParleyError as fault:
            self.warn(f"the summary failed and the old one stays: {fault.name}: {fault}")
            return
        if not text:
            self.warn("the model wrote no summary; the old one stays")
            return
        self._details["covers"] = turns.stop
        dialog.summarise(Summary(text=text, covers=turns.stop))
        self.turn.event(self.number, node.name, "summary_written", {"covers": turns.stop, "text": text})

    async def _write_summary(self, node: ModelNode, model: LoadedModel, view: View, turns: range) -> str:
        """The new summary, in as many passes as its window needs; nothing is kept of a pass that fails."""
        examples = [(line.speaker, line.text) for line in node.examples]
        script = Script(summary.LABEL, view.player_name, examples)
        window = node.context_size or model.context_size
        budget = window - node.max_tokens - cost_of_examples(examples, model.count)
        dialog = self.turn.cast.dialog
        text = dialog.summary.text if dialog.summary else ""
        while turns:
            step = summary.next_pass(view, turns, text, budget=budget, count=model.count)
            prompt = self._render(model, step.messages, script, window, node.max_tokens)
            self._describe(node, model, prompt)
            rules = AnswerRules(
                stop=(*node.stop, *prompt.rendered.stop),
                own_label=summary.LABEL,
                other_labels=self._labels(examples),
                starts_in_reasoning=prompt.rendered.starts_in_reasoning,
                whole=True,
            )
            result = await self._stream(node, model, self._request(node, model, prompt, rules), streamed=False)
            if not result.text:
                return ""
            text, turns = result.text, range(step.covers, turns.stop)
        return text

    # ---- prompts

    def _view(self, node: ModelNode, area: list[PromptMessage]) -> View:
        turn = self.turn
        dialog = turn.cast.dialog
        return View(
            node_name=node.name,
            system_prompt=node.system_prompt,
            player_name=turn.cast.workflow.player_name,
            history=dialog.interactions,
            first_turn=dialog.first_turn(node.name),
            user_message=turn.user_message,
            outputs=turn.outputs,
            area=area,
            spoken=dialog.spoken_by(node.name),
            summary=dialog.summary.text if dialog.summary else "",
        )

    def _reply_view(self, node: ReplyNode) -> View:
        turn = self.turn
        in_place = node.placement == "InPlaceOfUser"
        rendering = None
        if "template" in node.templates:
            rendering = self._rendering("template", turn.user_message if in_place else "")
        area = user_area(
            input_text=self.read_input(node.input),
            user_message=turn.user_message,
            rendering=rendering,
            placement=node.placement,
            player_name=turn.cast.workflow.player_name,
        )
        return self._view(node, area)

    async def _count_long(self, model: LoadedModel, messages: Sequence[PromptMessage]) -> None:
        """Count the tokens of long texts in a worker thread, so that nobody waits; the counts are kept."""
        for message in messages:
            if len(message.content) > COUNTED_AT_ONCE:
                await asyncio.to_thread(model.count, message.content)

    def _fit(self, node: ReplyNode, model: LoadedModel, view: View, script: Script) -> Prompt:
        """The prompt with as many earlier turns as its budget holds; the turns left out never come back."""
        dialog = self.turn.cast.dialog
        window = node.context_size or model.context_size
        budget = window - node.max_tokens
        fixed = cost_of_messages([*opening(view), *current_turn(view)], model.count)
        if fixed > 2 * window + FORMAT_ALLOWANCE:
            # Far beyond any doubt; rendering and tokenizing it whole would only take long.
            raise self._too_long(node, fixed, window)
        if script.examples:
            fixed += cost_of_examples(script.examples, model.count)
            fixed += 0 if opening(view) else MESSAGE_COST
        count = len(view.history)
        fit = fit_turns(
            fixed,
            lambda index: cost_of_messages(earlier_turn(view, index), model.count),
            view.first_turn,
            count,
            budget,
        )
        first = fit.first
        prompt = self._render(model, project(replace(view, first_turn=first)), script, window, node.max_tokens)
        while first < count and len(prompt.tokens) + node.max_tokens > window:
            first += 1
            prompt = self._render(model, project(replace(view, first_turn=first)), script, window, node.max_tokens)
        if fit.over:
            self.warn(
                f"PromptOverBudget: the system message and the current turn alone are taken for {fixed} tokens; "
                f"{budget} are there (context_size {window} - max_tokens {node.max_tokens}), so no history is shown"
            )
        dialog.leave_behind(node.name, first)
        dropped = first - view.first_turn
        self.turn.dropped_turns = max(self.turn.dropped_turns, dropped)
        self._facts["budget"] = {
            "context_size": window,
            "max_tokens": node.max_tokens,
            "prompt_budget": budget,
            "estimate": fit.estimate,
            "first_turn": first,
            "dropped_turns": dropped,
        }
        self._describe(node, model, prompt)
        if len(prompt.tokens) > window - 1:
            raise self._too_long(node, len(prompt.tokens), window)
        return prompt

    def _replay(self, node: ReplyNode, model: LoadedModel, view: View, prompt: Prompt, script: Script) -> int | None:
        """How much of the prompt the node's next one begins with; None: all of it, and the reply."""
        shows_line = "template" not in node.templates and node.input in ("", RESERVED)
        if shows_line and node.history_role == "Assistant":
            return len(prompt.tokens) if node.history_name and not model.format.labels_lines else None
        shown = current_turn(replace(view, area=[]))
        if not shown and view.user_message:
            shown = [PromptMessage("user", view.user_message, label=view.player_name)]
        earlier = project(replace(view, first_turn=self._facts["budget"]["first_turn"], outputs=[], area=[]))
        # What follows is not known, but that it is not this: a line of a speaker that does not exist.
        unknown = PromptMessage("user", "\uffff", label="\uffff")
        rendered = model.format.render([*earlier, *shown, unknown], script)
        following = prompt_tokens(rendered, model.engine.vocabulary)
        pairs = enumerate(zip(prompt.tokens, following, strict=False))
        return next((index for index, (one, other) in pairs if one != other), min(len(prompt.tokens), len(following)))

    def _too_long(self, node: ModelNode, tokens: int, window: int) -> PromptTooLong:
        return PromptTooLong(
            f"the prompt of node '{node.name}' has {tokens} tokens without any history; "
            f"its window has {window} (context_size)"
        )

    def _render(
        self, model: LoadedModel, messages: list[PromptMessage], script: Script, window: int, max_tokens: int
    ) -> Prompt:
        rendered = model.format.render(messages, script)
        return Prompt(messages, rendered, tuple(prompt_tokens(rendered, model.engine.vocabulary)), window, max_tokens)

    def _request(self, node: ModelNode, model: LoadedModel, prompt: Prompt, rules: AnswerRules) -> GenerateRequest:
        return GenerateRequest(
            sequence=f"{self.turn.cast.agent_id}/{node.name}",
            prompt=prompt.tokens,
            max_tokens=prompt.max_tokens,
            context_size=prompt.window,
            sampling=combine_sampling(model.entry.default_sampling, node.sampling),
            answer=rules,
            user_text=next((m.content for m in reversed(prompt.messages) if m.role == "user"), ""),
        )

    def _rules(self, node: ReplyNode, rendered: Rendered, script: Script) -> AnswerRules:
        return AnswerRules(
            stop=(*node.stop, *rendered.stop),
            own_label=script.label,
            other_labels=tuple(label for label in self._labels(script.examples) if label != script.label),
            strip_reasoning=node.strip_reasoning,
            starts_in_reasoning=rendered.starts_in_reasoning,
            whole=node.send != "Streamed",
        )

    def _labels(self, examples: Sequence[tuple[str, str]]) -> tuple[str, ...]:
        """Everybody whose label may stand before a line."""
        workflow = self.turn.cast.workflow
        speakers = (speaker for speaker, _ in examples)
        return tuple(sorted({workflow.player_name, *workflow.labels().values(), *speakers}))

    async def _stream(
        self, node: ModelNode, model: LoadedModel, request: GenerateRequest, *, streamed: bool
    ) -> GenerationResult:
        turn = self.turn
        turn.must_go_on()
        self.generating = True
        generation = turn.generation = model.engine.generate(request)
        try:
            async for delta in generation:
                turn.touch()
                if streamed:
                    turn.send(self.number, node.name, delta, is_final=False)
        except ParleyError:
            self.generating = False
            turn.finish.append(StepFinish(step=self.number, node_name=node.name, reason="error"))
            raise
        finally:
            generation.cancel()
        turn.must_go_on()
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

    def _describe(self, node: ModelNode, model: LoadedModel, prompt: Prompt) -> None:
        self._facts["model"] = model.entry.name
        if self.turn.cast.enable_diagnostics:
            self._input["prompt"] = [{"role": message.role, "content": message.content} for message in prompt.messages]
            self._input["rendered"] = prompt.rendered.text

    def debug(self, taken: str) -> dict[str, Any]:
        """This step's entry in the diagnostics."""
        output = next((item for item in self.turn.outputs if item.step == self.number), None)
        return {
            "step": self.number,
            "node_name": self.node.name,
            "type": self.node.type_name,
            "exit": taken,
            "start_ms": milliseconds(self._started - self.turn.started),
            "duration_ms": milliseconds(time.monotonic() - self._started),
            "input": self._input,
            "output": output.model_dump(include={"slot", "text", "send", "history_role"}) if output else None,
            **self._facts,
            "details": self._details,
        }


def output_of(node: Node, number: int, text: str) -> Output:
    """The record of what a node wrote in a step."""
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


def milliseconds(seconds: float) -> float:
    """Seconds as milliseconds, to the microsecond."""
    return round(seconds * 1000, 3)

"""How a step's node asks its model: the prompt it reads, the request, and what becomes of the reply."""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from bridge import classify, summary
from bridge.answer_text import AnswerRules
from bridge.authoring import RESERVED
from bridge.budget import MESSAGE_COST, Fit, cost_of_examples, cost_of_messages, fit_turns
from bridge.catalog import combine_sampling
from bridge.chat_format import Rendered, Script, prompt_tokens
from bridge.engine import Choice, GenerateRequest, GenerationResult
from bridge.errors import ParleyError, PromptTooLong
from bridge.models import LoadedModel
from bridge.node import ModelNode, ReplyNode
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
from bridge.protocol import StepFinish, Summary, ToolCallFormat
from bridge.speech_step import StepSpeech
from bridge.token_counts import Counter, measure
from bridge.tool_call import ParsedReply, Tool, parse_reply
from bridge.tool_formats import ToolFormat, tool_format

if TYPE_CHECKING:
    from bridge.step import Step

log = logging.getLogger(__name__)

FORMAT_ALLOWANCE = 1024
REASONING_ENDS = re.compile(r"</(?:think|thinking|thought|reasoning)>|\[/THINK\]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt ready to be read, in every form it has."""

    messages: list[PromptMessage]
    rendered: Rendered
    tokens: tuple[int, ...]
    window: int
    max_tokens: int


class Asking:
    """What one step asks of its node's model."""

    def __init__(self, step: Step) -> None:
        self.step = step
        self.turn = step.turn
        self.node = step.node

    async def generate(self) -> str:
        """A reply that is streamed, recorded and replayed as the node says."""
        node = self.node
        if not isinstance(node, ReplyNode):
            raise TypeError(f"{node.type_name} is no ReplyNode, so it cannot generate")
        self.step.may_speak()
        turn = self.turn
        model = self._model(node)
        script = self._script(node, model, node.history_name or node.name)
        view = self._reply_view(node)
        prompt, first = await self._fit(node, model, view, script, node.max_tokens)
        speech = self.step.speech
        rules = self._rules(node, prompt.rendered, script)
        if speech is not None:
            speech.starts_thinking = rules.starts_in_reasoning
            rules = replace(rules, whole=False)  # what is heard before the end cannot be taken back at the end
        request = self._request(node, model, prompt, rules)
        request = replace(request, replay=self._reply_replay(node, model, view, prompt, script, first))
        result = await self._stream(node, model, request, streamed=node.send == "Streamed", speech=speech)
        if speech is not None:
            speech.finish()
        self.step.put(result.text)
        spoken = spoken_reply(result.tokens, model.engine.vocabulary.piece, result.text)
        if spoken is not None:
            dialog = turn.cast.dialog
            dialog.remember_spoken(node.name, (len(dialog), self.step.number), spoken)
        if node.send == "Whole":
            turn.send(self.step.number, node.name, result.text, is_final=True, is_delta=False)
        return result.text

    async def choose(
        self,
        labels: Sequence[classify.Label],
        *,
        input_name: str,
        task: str,
        question: str,
        reminder: str,
        history_turns: int,
    ) -> list[float]:
        """The probability of each label, from the scores of its letter behind the question."""
        node = self.node
        if not isinstance(node, ModelNode):
            raise TypeError(f"{node.type_name} is no ModelNode, so it cannot choose")
        model = self._model(node)
        script = self._script(node, model, classify.LABEL)
        text = self.step.read_input(input_name)
        asked = _paragraphs(question, "" if model.format.labels_lines else reminder)
        area = [*self._user_area(text), *([PromptMessage("system", asked)] if asked else [])]
        view = self._view(node, area)
        seen = classify.turns_shown(len(view.history), history_turns)
        view = replace(
            view,
            system_prompt=_paragraphs(node.system_prompt, task),
            first_turn=max(len(view.history) - seen, view.first_turn),
            summary="",
        )
        prompt, first = await self._fit(node, model, view, script, 1)
        tokens = model.letter_tokens()
        request = replace(
            self._request(node, model, prompt, AnswerRules(whole=True)),
            replay=self._replay(model, view, prompt, script, first),
            user_text=text or self.turn.user_message,
            choices=tuple(Choice(token, label.description) for token, label in zip(tokens, labels, strict=False)),
        )
        result = await self._stream(node, model, request, streamed=False)
        return classify.softmax(result.scores)

    def tool_format(self, name: ToolCallFormat | Literal[""]) -> ToolFormat:
        """The format of this name; empty: the model's own, else chatml."""
        if not name and isinstance(self.node, ModelNode):
            name = self._model(self.node).entry.tool_call_format
        return tool_format(name or "chatml")

    async def ask_for_calls(
        self, tools: Sequence[Tool], format_name: ToolCallFormat | Literal[""], *, constrain: bool
    ) -> ParsedReply:
        """A reply of a model that knows the tools, taken apart."""
        node = self.node
        if not isinstance(node, ModelNode):
            raise TypeError(f"{node.type_name} is no ModelNode, so it cannot call tools")
        self.step.may_speak()
        model = self._model(node)
        script = self._script(node, model, getattr(node, "history_name", "") or node.name)
        area = self._user_area(self.step.read_input(getattr(node, "input", "")))
        shape = self.tool_format(format_name)
        definitions = tuple(shape.definitions(tools))
        if shape.place == "user":
            area = [message.behind(definitions) for message in area]
            definitions = ()
        view = replace(self._view(node, area), definitions=definitions)
        prompt, first = await self._fit(node, model, view, script, node.max_tokens)
        rules = replace(
            self._rules(node, prompt.rendered, script),
            # A call may go over several lines; in a script a line is a reply, calls too.
            stop=(*node.stop, *(prompt.rendered.stop if model.format.labels_lines else ())),
            strip_reasoning=True,
            whole=True,
        )
        request = replace(
            self._request(node, model, prompt, rules),
            replay=self._replay(model, view, prompt, script, first),
            grammar=replace(shape.grammar(tools), one_line=model.format.labels_lines) if constrain else None,
        )
        result = await self._stream(node, model, request, streamed=False)
        self.step.details["reply"] = result.raw
        reply = parse_reply(behind_reasoning(result), tools, shape.name)
        if reply.calls or reply.ignored:
            return reply
        return replace(reply, text=result.text)  # plain talk, shown as any other reply would be

    async def summarize(self, trigger_tokens: int, keep_recent_turns: int) -> None:
        """A new summary of the dialog, where the turns without one ask for it."""
        node = self.node
        if not isinstance(node, ModelNode):
            raise TypeError(f"{node.type_name} is no ModelNode, so it cannot summarize")
        dialog = self.turn.cast.dialog
        model = self._model(node)
        covered = dialog.summary.covers if dialog.summary else 0
        view = replace(self._view(node, []), first_turn=covered, summary="")
        turns = summary.turns_to_cover(view, keep_recent_turns)
        self.step.details["covers"] = covered
        if not turns:
            return
        if not await measure(model.counts, trigger_tokens, lambda count: summary.reaches(view, trigger_tokens, count)):
            return
        try:
            text = await self._write_summary(node, model, view, turns)
        except ParleyError as fault:
            self.step.warn(f"the summary failed and the old one stays: {fault.name}: {fault}")
            return
        if not text:
            self.step.warn("the model wrote no summary; the old one stays")
            return
        self.step.details["covers"] = turns.stop
        dialog.summarise(Summary(text=text, covers=turns.stop))
        self.turn.event(self.step.number, node.name, "summary_written", {"covers": turns.stop, "text": text})

    async def _write_summary(self, node: ModelNode, model: LoadedModel, view: View, turns: range) -> str:
        """The new summary, in as many passes as its window needs; nothing is kept of a pass that fails."""
        examples = [(line.speaker, line.text) for line in node.examples]
        script = Script(summary.LABEL, view.player_name, examples)
        window = node.context_size or model.context_size
        dialog = self.turn.cast.dialog
        text = dialog.summary.text if dialog.summary else ""

        def next_pass(count: Counter) -> summary.Pass:
            budget = window - node.max_tokens - cost_of_examples(examples, count)
            return summary.next_pass(view, turns, text, budget=budget, count=count.once)

        while turns:
            self.turn.must_go_on()
            step = await measure(model.counts, window, next_pass)
            if step.shortened:
                self.step.warn(
                    "the previous summary took more than half of the window and was cut; lower max_tokens or raise "
                    "context_size"
                )
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

    def _model(self, node: ModelNode) -> LoadedModel:
        cast = self.turn.cast
        return cast.models[cast.workflow.model_of(node)]

    def _script(self, node: ModelNode, model: LoadedModel, label: str) -> Script:
        examples = [(line.speaker, line.text) for line in node.examples or model.entry.examples]
        return Script(label, self.turn.cast.workflow.player_name, examples)

    def _user_area(self, text: str) -> list[PromptMessage]:
        return user_area(
            input_text=text,
            user_message=self.turn.user_message,
            rendering=None,
            placement="InPlaceOfUser",
            player_name=self.turn.cast.workflow.player_name,
        )

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
            calls=turn.calls,
            area=area,
            spoken=dialog.spoken_by(node.name),
            summary=dialog.summary.text if dialog.summary else "",
        )

    def _reply_view(self, node: ReplyNode) -> View:
        turn = self.turn
        in_place = node.placement == "InPlaceOfUser"
        rendering = None
        if "template" in node.templates:
            rendering = self.step.rendering("template", turn.user_message if in_place else "")
        area = user_area(
            input_text=self.step.read_input(node.input),
            user_message=turn.user_message,
            rendering=rendering,
            placement=node.placement,
            player_name=turn.cast.workflow.player_name,
        )
        return self._view(node, area)

    async def _fit(
        self, node: ModelNode, model: LoadedModel, view: View, script: Script, max_tokens: int
    ) -> tuple[Prompt, int]:
        """The prompt with as many earlier turns as its budget holds, and the first of them.

        Those that it has no room for never come back.
        """
        dialog = self.turn.cast.dialog
        window = node.context_size or model.context_size
        budget = window - max_tokens
        count = len(view.history)
        much = 2 * window + FORMAT_ALLOWANCE

        def fit_all(tokens_of: Counter) -> tuple[int, Fit]:
            fixed = cost_of_messages([*opening(view), *current_turn(view)], tokens_of)
            if fixed > much:
                # Far beyond any doubt; rendering and tokenizing it whole would only take long.
                raise self._too_long(node, fixed, window)
            if script.examples:
                fixed += cost_of_examples(script.examples, tokens_of)
                fixed += 0 if opening(view) else MESSAGE_COST
            tokens_of.most = budget
            return fixed, fit_turns(
                fixed,
                lambda index: cost_of_messages(earlier_turn(view, index), tokens_of),
                view.first_turn,
                count,
                budget,
            )

        fixed, fit = await measure(model.counts, much, fit_all)
        self.turn.must_go_on()
        first = fit.first
        prompt = self._render(model, project(replace(view, first_turn=first)), script, window, max_tokens)
        while first < count and len(prompt.tokens) + max_tokens > window:
            first += 1
            prompt = self._render(model, project(replace(view, first_turn=first)), script, window, max_tokens)
        if fit.over:
            told = (
                f"PromptOverBudget: the system message and the current turn alone are taken for {fixed} tokens; "
                f"{budget} are there (context_size {window} - max_tokens {max_tokens}), so no history is shown"
            )
            self.step.warn(told)
            log.warning("node %s: %s", node.name, told, extra=self.turn.marks(node_name=node.name))
        dropped = first - view.first_turn
        if dropped:
            dialog.leave_behind(node.name, first)
            self.turn.dropped_turns = max(self.turn.dropped_turns, dropped)
        self.step.facts["budget"] = {
            "context_size": window,
            "max_tokens": max_tokens,
            "prompt_budget": budget,
            "estimate": fit.estimate,
            "first_turn": first,
            "dropped_turns": dropped,
        }
        self._describe(node, model, prompt)
        if len(prompt.tokens) > window - 1:
            raise self._too_long(node, len(prompt.tokens), window)
        return prompt, first

    def _reply_replay(
        self, node: ReplyNode, model: LoadedModel, view: View, prompt: Prompt, script: Script, first: int
    ) -> int | None:
        """How much of the prompt the node's next one begins with; None: all of it, and the reply."""
        shows_line = "template" not in node.templates and node.input in ("", RESERVED)
        if shows_line and node.history_role == "Assistant":
            return len(prompt.tokens) if node.history_name and not model.format.labels_lines else None
        return self._replay(model, view, prompt, script, first)

    def _replay(self, model: LoadedModel, view: View, prompt: Prompt, script: Script, first: int) -> int:
        """How much of the prompt comes back whatever the rest of the turn brings."""
        shown = current_turn(replace(view, area=[]))
        if not shown and view.user_message:
            shown = [PromptMessage("user", view.user_message, label=view.player_name)]
        earlier = project(replace(view, first_turn=first, outputs=[], calls=[], area=[]))
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

    def _rules(self, node: ModelNode, rendered: Rendered, script: Script) -> AnswerRules:
        return AnswerRules(
            stop=(*node.stop, *rendered.stop),
            own_label=script.label,
            other_labels=tuple(label for label in self._labels(script.examples) if label != script.label),
            strip_reasoning=getattr(node, "strip_reasoning", True),
            starts_in_reasoning=rendered.starts_in_reasoning,
            whole=getattr(node, "send", "None") != "Streamed",
        )

    def _labels(self, examples: Sequence[tuple[str, str]]) -> tuple[str, ...]:
        """Everybody whose label may stand before a line."""
        workflow = self.turn.cast.workflow
        speakers = (speaker for speaker, _ in examples)
        return tuple(sorted({workflow.player_name, *workflow.labels().values(), *speakers}))

    async def _stream(
        self,
        node: ModelNode,
        model: LoadedModel,
        request: GenerateRequest,
        *,
        streamed: bool,
        speech: StepSpeech | None = None,
    ) -> GenerationResult:
        turn = self.turn
        turn.must_go_on()
        self.step.generating = True
        generation = turn.generation = model.engine.generate(request)
        try:
            async for delta in generation:
                turn.touch()
                if streamed:
                    turn.send(self.step.number, node.name, delta, is_final=False)
                if speech is not None:
                    speech.say(delta)
        except ParleyError:
            self.step.generating = False
            turn.finish.append(StepFinish(step=self.step.number, node_name=node.name, reason="error"))
            raise
        finally:
            generation.cancel()
        turn.must_go_on()
        result = generation.result
        self.step.generating = False
        turn.generation = None
        turn.tokens_generated += result.usage.generated_tokens
        turn.cast.counters.prompt_read(result.usage.evaluated_tokens, result.usage.cached_tokens)
        if not request.choices:
            turn.finish.append(StepFinish(step=self.step.number, node_name=node.name, reason=result.finish))
            self.step.facts["finish"] = result.finish
        if streamed:
            turn.send(self.step.number, node.name, "", is_final=True)
        self.step.facts.update(usage=_usage(result), reasoning=result.reasoning)
        return result

    def _describe(self, node: ModelNode, model: LoadedModel, prompt: Prompt) -> None:
        self.step.facts["model"] = model.entry.name
        if self.turn.cast.enable_diagnostics:
            self.step.input["prompt"] = [
                {"role": message.role, "content": message.content} for message in prompt.messages
            ]
            self.step.input["rendered"] = prompt.rendered.text


def behind_reasoning(result: GenerationResult) -> str:
    """All that a model wrote, markers too, without its reasoning."""
    if not result.reasoning:
        return result.raw
    ends = list(REASONING_ENDS.finditer(result.raw))
    return result.raw[ends[-1].end() :] if ends else result.text


def _paragraphs(*texts: str) -> str:
    return "\n\n".join(text for text in texts if text)


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

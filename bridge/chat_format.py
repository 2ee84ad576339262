"""Chat formats: a list of messages becomes the tokens that one model family reads. Pure once made.

Text from outside is never searched for control tokens: only the template's own markers become such tokens.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any, ClassVar

import jinja2
from jinja2.sandbox import ImmutableSandboxedEnvironment

from bridge.engine import Segment, Vocabulary
from bridge.errors import InferenceFailed, ModelLoadFailed
from bridge.prompt import PromptMessage, Role, joined
from bridge.wording import words_of

SILENT_PLAYER = "…"
"""Stands for an empty player line where a format must have a user message."""


@dataclass(frozen=True, slots=True)
class Script:
    """What a format may need beside the messages: who speaks next and how the node's examples go."""

    label: str
    player_name: str
    examples: Sequence[tuple[str, str]] = ()
    """(speaker, text) lines."""


@dataclass(frozen=True, slots=True)
class Rendered:
    """A prompt in its format."""

    segments: tuple[Segment, ...]
    stop: tuple[str, ...] = ()
    """What ends a reply in this format, beside the model's own end tokens."""
    starts_in_reasoning: bool = False
    """The prompt ends inside an opened reasoning block."""

    @property
    def text(self) -> str:
        return "".join(segment.text for segment in self.segments)


class ChatFormat(ABC):
    """How one model family writes down a conversation."""

    labels_lines: ClassVar[bool] = False
    """Every line has its speaker's label, so a `history_name` changes nothing about a reply's own text."""

    @abstractmethod
    def render(self, messages: Sequence[PromptMessage], script: Script) -> Rendered:
        """The prompt for the next reply."""


class PlainFormat(ChatFormat):
    """Leaves messages alone, one behind the other: for engines that read no markers, and for models that write on."""

    def render(self, messages: Sequence[PromptMessage], script: Script) -> Rendered:
        return Rendered(tuple(segment for message in messages for segment in _said(message, "")))


class TranscriptFormat(ChatFormat):
    """A script of labelled lines, for base models: the model goes on writing after its own label."""

    labels_lines = True

    def render(self, messages: Sequence[PromptMessage], script: Script) -> Rendered:
        segments: list[Segment] = []
        opening = [m for m in messages[:1] if m.role == "system"]
        for message in opening:
            segments.append(Segment(message.text.strip() + "\n\n"))
        for speaker, text in script.examples:
            segments.append(Segment(f"{_one_line(speaker)}: {_one_line(text)}\n"))
        for message in messages[len(opening) :]:
            if message.repeats_player:
                continue
            if message.role == "system":
                segments.append(Segment(_one_line(message.text) + "\n"))
            elif message.spoken is not None and not _LINE_BREAKS.search(message.text):
                segments.append(Segment(f"{_one_line(message.label)}:"))
                segments.extend(_said(message, "\n"))
            else:
                segments.append(Segment(f"{_one_line(message.label)}: {_one_line(message.text)}\n"))
        segments.append(Segment(f"{_one_line(script.label)}:"))
        return Rendered(tuple(segments), stop=("\n",))


class JinjaFormat(ChatFormat):
    """Renders a model's own Jinja template, in a sandbox.

    What the template refuses is found out once, by rendering small probes; later prompts are shaped to suit it.
    Contents are put into the rendering after the template ran, so no template can misread them.
    """

    def __init__(self, template: str, vocabulary: Vocabulary, *, bos_text: str = "", eos_text: str = "") -> None:
        """Raises ModelLoadFailed where the template cannot be used."""
        environment = _Sandbox(trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"])
        environment.filters["tojson"] = lambda value, **kwargs: json.dumps(
            value, ensure_ascii=False, indent=kwargs.get("indent")
        )
        environment.globals["raise_exception"] = _refuse
        environment.globals["strftime_now"] = lambda layout: datetime.now().strftime(layout)
        self._names = {"bos_token": bos_text, "eos_token": eos_text}
        self._vocabulary = vocabulary
        markers = sorted((text for text in vocabulary.markers if text), key=len, reverse=True)
        self._markers = re.compile("|".join(map(re.escape, markers))) if markers else None
        try:
            self._template = environment.from_string(template)
        except Exception as fault:  # beside its own errors, RecursionError and what constant folding raises
            raise ModelLoadFailed(f"the model's chat template cannot be parsed: {words_of(fault)}") from None
        self.traits = probe(self._render_roles)

    def render(self, messages: Sequence[PromptMessage], script: Script) -> Rendered:
        shaped = normalise(messages, self.traits)
        marks = [f"\ue000{index}\ue001" for index in range(len(shaped))]
        try:
            text = self._render_roles([(m.role, mark) for m, mark in zip(shaped, marks, strict=True)])
        except Exception as fault:  # a refusal that no probe found out
            raise InferenceFailed(f"the model's chat template refuses this conversation: {words_of(fault)}") from None
        segments: list[Segment] = []
        plain = ""
        end = 0
        for found in re.finditer("\ue000(\\d+)\ue001", text):
            plain = self._add_markup(segments, plain, text[end : found.start()])
            message = shaped[int(found[1])]
            if message.spoken is None or message.named:
                for part, is_markup in message.parts:
                    plain = self._add_markup(segments, plain, part) if is_markup else plain + part
            else:
                # The reply was written right behind a prompt that ended here: cut there, as it was cut then.
                if plain:
                    segments.append(Segment(plain))
                plain = ""
                segments.extend(_said(message, ""))
            end = found.end()
        plain = self._add_markup(segments, plain, text[end:])
        if plain:
            segments.append(Segment(plain))
        return Rendered(tuple(segments), starts_in_reasoning=_opens_reasoning(text[end:]))

    def _add_markup(self, segments: list[Segment], plain: str, markup: str) -> str:
        """Append the template's own text, its control tokens as such; returns the plain text that is still open."""
        end = 0
        for found in self._markers.finditer(markup) if self._markers else ():
            plain += markup[end : found.start()]
            if plain:
                segments.append(Segment(plain))
            plain = ""
            segments.append(Segment(found[0], (self._vocabulary.markers[found[0]],)))
            end = found.end()
        return plain + markup[end:]

    def _render_roles(self, pairs: Sequence[tuple[Role, str]]) -> str:
        """Raises jinja2.TemplateError (and what a template's own mistakes raise) where the template refuses."""
        turns = [{"role": role, "content": content} for role, content in pairs]
        # Characters answer at once: templates that can switch a model's thinking off do so.
        return self._template.render(
            messages=turns, add_generation_prompt=True, tools=None, enable_thinking=False, **self._names
        )


class _Sandbox(ImmutableSandboxedEnvironment):
    """Jinja's sandbox, where a template can also not multiply texts until the memory is full."""

    intercepted_binops = frozenset(["*", "**"])

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        sizes = [abs(value) if isinstance(value, (int, float)) else len(value) for value in (left, right)]
        if sizes[0] * sizes[1] > 1_000_000 or (operator == "**" and max(sizes) > 64):
            raise jinja2.TemplateError("the template multiplies too much")
        return super().call_binop(context, operator, left, right)


@dataclass(frozen=True, slots=True)
class Traits:
    """What a template takes."""

    system: bool
    """A system message at the start."""
    late_system: bool
    """A system message in mid-conversation."""
    neighbours: bool
    """Two messages of one role in a row, and a conversation that starts with the assistant."""
    needs_user: bool
    """It cannot do without a user message."""
    nothing: bool
    """No message at all."""


def probe(render: Callable[[Sequence[tuple[Role, str]]], str]) -> Traits:
    """Find out what a template takes. Raises ModelLoadFailed where even one user message is refused."""

    def takes(*roles: Role) -> bool:
        contents = [f"\ue000{index}\ue001" for index in range(len(roles))]
        try:
            text = render(list(zip(roles, contents, strict=True)))
        except Exception:  # a template's refusal may be any error: a raise_exception, a missing key, a type error
            return False
        places = [text.find(content) for content in contents]
        return -1 not in places and places == sorted(places)

    if not takes("user"):
        raise ModelLoadFailed(
            "the model's chat template does not show a plain user message; choose another chat_format"
        )
    return Traits(
        system=takes("system", "user"),
        late_system=takes("user", "assistant", "system", "user"),
        neighbours=takes("user", "user", "assistant", "assistant", "user") and takes("assistant", "user"),
        needs_user=not takes("system") if takes("system", "user") else True,
        nothing=takes(),
    )


def normalise(messages: Sequence[PromptMessage], traits: Traits) -> list[PromptMessage]:
    """Shape messages so that a template of these traits takes them. Nothing is lost; a blank line joins texts."""
    folded: list[PromptMessage] = []
    waiting: list[PromptMessage] = []
    for index, message in enumerate(messages):
        if message.role == "system":
            if traits.system if index == 0 else traits.late_system:
                folded.append(message)
            else:
                waiting.append(message)
        elif message.role == "user" and waiting:
            folded.append(joined("user", [*waiting, message], label=message.label))
            waiting = []
        elif waiting and not folded:
            # The conversation opens with a reply, so no user message is there yet to take the system text.
            folded += [joined("user", waiting), message]
            waiting = []
        else:
            folded.append(message)
    if waiting:
        folded.append(joined("user", waiting))
    first = next((index for index, message in enumerate(folded) if message.role != "system"), len(folded))
    opens_wrong = first < len(folded) and folded[first].role == "assistant" and not traits.neighbours
    must_speak = traits.needs_user or (not folded and not traits.nothing)
    silent = must_speak and all(message.role != "user" for message in folded)
    if opens_wrong or silent:
        folded.insert(first, PromptMessage("user", SILENT_PLAYER))
    if folded and folded[-1].role == "assistant" and not traits.neighbours:
        folded.append(PromptMessage("user", SILENT_PLAYER))
    return folded if traits.neighbours else _merged(folded)


BUILT_IN = {
    "chatml": (
        "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
        "<|im_start|>assistant\n"
    ),
    "llama3": (
        "{{ bos_token }}{% for m in messages %}<|start_header_id|>{{ m.role }}<|end_header_id|>\n\n"
        "{{ m.content }}<|eot_id|>{% endfor %}<|start_header_id|>assistant<|end_header_id|>\n\n"
    ),
    "gemma": (
        "{{ bos_token }}{% for m in messages %}"
        "{% if m.role == 'system' %}{{ raise_exception('no system role') }}{% endif %}"
        "{% if (m.role == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('roles must alternate') }}{% endif %}"
        "<start_of_turn>{{ 'model' if m.role == 'assistant' else m.role }}\n{{ m.content }}<end_of_turn>\n{% endfor %}"
        "<start_of_turn>model\n"
    ),
    "mistral": (
        "{{ bos_token }}{% for m in messages %}"
        "{% if m.role == 'system' %}{{ raise_exception('no system role') }}{% endif %}"
        "{% if (m.role == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('roles must alternate') }}{% endif %}"
        "{% if m.role == 'user' %}[INST] {{ m.content }} [/INST]{% else %} {{ m.content }}{{ eos_token }}{% endif %}"
        "{% endfor %}"
    ),
}
"""Templates of families, for files that bring none or a wrong one."""


def make_format(name: str, *, template: str, vocabulary: Vocabulary) -> ChatFormat:
    """The chat format of a catalog entry. Raises ModelLoadFailed that says what to choose instead."""
    if name == "transcript":
        return TranscriptFormat()
    if name == "plain":
        return PlainFormat()
    if name != "auto":
        if name not in BUILT_IN:
            known = ", ".join(["auto", *BUILT_IN, "transcript", "plain"])
            raise ModelLoadFailed(f"unknown chat_format '{name}'; known: {known}")
        template = BUILT_IN[name]
    if not template:
        raise ModelLoadFailed(
            "its file has no chat template; set `chat_format` in its catalog entry (transcript suits base models)"
        )
    texts = {token: text for text, token in vocabulary.markers.items()}
    bos = texts.get(vocabulary.bos, "") if vocabulary.bos is not None else ""
    eos = texts.get(vocabulary.eos, "") if vocabulary.eos is not None else ""
    return JinjaFormat(template, vocabulary, bos_text=bos, eos_text=eos)


def prompt_tokens(rendered: Rendered, vocabulary: Vocabulary) -> list[int]:
    """The ids of a prompt, with exactly one BOS where the model wants one."""
    tokens = vocabulary.tokenize(rendered.segments)
    bos = vocabulary.bos
    if bos is None:
        return tokens
    start = next((index for index, token in enumerate(tokens) if token != bos), len(tokens))
    return [bos, *tokens[start:]]


def _merged(messages: Sequence[PromptMessage]) -> list[PromptMessage]:
    merged = []
    for _, group in groupby(messages, key=lambda message: message.role):
        together = list(group)
        first = together[0]
        if len(together) > 1:
            first = joined(first.role, together)
        merged.append(first)
    return merged


def _said(message: PromptMessage, end: str) -> list[Segment]:
    """A message's text and what follows it, with the tokens it was written in where they are known."""
    if message.spoken is None:
        text = message.content + end
        return [Segment(text)] if text else []
    tail = message.spoken.tail + end
    written = message.text[: len(message.text) - len(message.spoken.tail)]
    return [Segment(written, message.spoken.tokens), *([Segment(tail)] if tail else [])]


_LINE_BREAKS = re.compile("\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")


def _one_line(text: str) -> str:
    return _LINE_BREAKS.sub(" ", text)


_REASONING = re.compile(r"<(/?)(?:think|thinking|thought|reasoning)>|\[(/?)THINK\]", re.IGNORECASE)


def _opens_reasoning(markup: str) -> bool:
    tags = list(_REASONING.finditer(markup))
    return bool(tags) and not (tags[-1][1] or tags[-1][2])


def _refuse(message: str) -> None:
    raise jinja2.TemplateError(message)

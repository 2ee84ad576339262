"""Projection: what of the dialog one node's model reads, as an ordered list of messages. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Literal, cast

from bridge.node import Placement
from bridge.protocol import Interaction, Output, ToolCallRecord
from bridge.tool_call import Call
from bridge.tool_formats import tool_format

Role = Literal["system", "user", "assistant"]


@dataclass(frozen=True, slots=True)
class Spoken:
    """The tokens with which a model wrote a reply: `tokens`, then the text `tail` that ends inside no token of them."""

    tokens: tuple[int, ...]
    tail: str


Piece = tuple[str, bool]
"""(text, whether it is markup, whose control tokens count as such)."""

SpokenKey = tuple[int, int]
"""(index of the interaction in the dialog, step) of an output."""


@dataclass(frozen=True, slots=True)
class PromptMessage:
    """One message of a prompt, before the chat format."""

    role: Role
    text: str
    label: str = ""
    """Who says it, where somebody does: `history_name`, else the node's name; the player's name for the player."""
    named: bool = False
    """The label stands before the text (`history_name` is set). The transcript format labels every line anyway."""
    spoken: Spoken | None = None
    """How this very node's model wrote the text; lets its cache be kept token for token."""
    repeats_player: bool = False
    """The player's line stands earlier in the prompt already; a script does not say it twice."""
    pieces: tuple[Piece, ...] = ()
    """The text in pieces, where some are markup of a tool-call format; empty: all of it is plain text."""

    @property
    def content(self) -> str:
        """The text as chat formats show it."""
        return f"{self.label}: {self.text}" if self.named else self.text

    @property
    def parts(self) -> tuple[Piece, ...]:
        """The content in pieces."""
        if not self.pieces:
            return ((self.content, False),)
        return ((f"{self.label}: ", False), *self.pieces) if self.named else self.pieces

    def behind(self, pieces: Sequence[Piece]) -> PromptMessage:
        """The same message with something before its text, a blank line between."""
        joined = (*pieces, ("\n\n", False), *(self.pieces or ((self.text, False),)))
        return replace(self, text="".join(text for text, _ in joined), pieces=joined, spoken=None)


def joined(role: Role, messages: Sequence[PromptMessage], label: str = "") -> PromptMessage:
    """One message of several, blank lines between."""
    pieces: list[Piece] = []
    for message in messages:
        pieces += [*([("\n\n", False)] if pieces else []), *message.parts]
    is_plain = all(not message.pieces for message in messages)
    return PromptMessage(
        role, "".join(text for text, _ in pieces), label=label, pieces=() if is_plain else tuple(pieces)
    )


@dataclass(frozen=True, slots=True)
class View:
    """All that the prompt of one step depends on."""

    node_name: str
    system_prompt: str
    player_name: str
    history: Sequence[Interaction]
    """Every earlier turn, oldest first."""
    first_turn: int
    """Index of the first of them that this prompt shows."""
    user_message: str
    """The player's line of this turn, as typed."""
    outputs: Sequence[Output]
    """What earlier steps of this turn wrote."""
    area: Sequence[PromptMessage]
    """This node's user-area message and what its template puts around it; see `user_area`."""
    spoken: Mapping[SpokenKey, Spoken] = field(default_factory=dict)
    """This node's own replies."""
    summary: str = ""
    calls: Sequence[ToolCallRecord] = ()
    """Tool calls that earlier steps of this turn made."""
    definitions: tuple[Piece, ...] = ()
    """Tools that the system message tells of."""


TOOL_LABEL = "Tool"
"""Who speaks a tool's results in formats that label every line."""

SUMMARY_HEADING = "Record of earlier dialogue (background, not instructions):"


def user_area(
    *, input_text: str, user_message: str, rendering: str | None, placement: Placement, player_name: str
) -> list[PromptMessage]:
    """The user-area message of a node, with its template placed. `rendering` None: the node has no template."""

    def user(text: str) -> PromptMessage:
        return PromptMessage("user", text, label=player_name)

    own = user(input_text or user_message)
    if rendering is None:
        return [own]
    if placement == "InPlaceOfUser":
        return [user(rendering or user_message)]
    if not rendering.strip():
        return [own]
    added = PromptMessage("system", rendering) if placement.endswith("AsSystem") else user(rendering)
    return [added, own] if placement.startswith("Before") else [own, added]


def project(view: View) -> list[PromptMessage]:
    """The messages of one prompt: system, earlier turns, the current turn. Empty messages are left out."""
    messages = opening(view)
    for index in range(view.first_turn, len(view.history)):
        messages.extend(earlier_turn(view, index))
    return [*messages, *current_turn(view)]


def opening(view: View) -> list[PromptMessage]:
    """The system message, if there is any, with the summary under its heading."""
    system = view.system_prompt
    if view.summary:
        system = f"{system}\n\n{SUMMARY_HEADING}\n{view.summary}" if system else f"{SUMMARY_HEADING}\n{view.summary}"
    if not view.definitions:
        return [PromptMessage("system", system)] if system else []
    pieces = (*(((system, False), ("\n\n", False)) if system else ()), *view.definitions)
    return [PromptMessage("system", "".join(text for text, _ in pieces), pieces=pieces)]


def earlier_turn(view: View, index: int) -> list[PromptMessage]:
    """The messages of one earlier turn: the line as typed, then what was said."""
    turn = view.history[index]
    return [*_player_line(turn.user, view.player_name), *_replies(turn.outputs, turn.tool_calls, index, view)]


def current_turn(view: View) -> list[PromptMessage]:
    """The messages of the running turn."""
    replies = list(_replies(view.outputs, view.calls, len(view.history), view))
    area = list(view.area)
    if replies:
        replies = [*_player_line(view.user_message, view.player_name), *replies]
        area = [_marked(message, view.user_message) for message in area]
    return [*replies, *(message for message in area if message.text)]


def spoken_reply(tokens: Sequence[int], piece: Callable[[int], bytes], text: str) -> Spoken | None:
    """Fit the generated tokens to the text that became of them; None where rules changed more than its edges."""
    wanted = text.encode()
    written = b""
    kept = 0
    for token in tokens:
        longer = written + piece(token)
        visible = longer.lstrip()
        if not wanted.startswith(visible):
            break
        written, kept = longer, kept + 1
    visible = written.lstrip()
    try:
        tail = wanted[len(visible) :].decode()
    except UnicodeDecodeError:
        return None
    return Spoken(tuple(tokens[:kept]), tail) if visible else None


def _player_line(text: str, player_name: str) -> Iterable[PromptMessage]:
    return [PromptMessage("user", text, label=player_name)] if text else []


def _replies(
    outputs: Sequence[Output], calls: Sequence[ToolCallRecord], index: int, view: View
) -> Iterable[PromptMessage]:
    """What was said and which calls are replayed, in the order of the steps."""
    spoken = [output for output in outputs if output.history_role == "Assistant" and output.text]
    replayed = [call for call in calls if call.replayed and call.result is not None]
    said: list[Output | ToolCallRecord] = [*spoken, *replayed]
    for step, group in groupby(sorted(said, key=_step), key=_step):
        together = list(group)
        yield from _call_messages([item for item in together if isinstance(item, ToolCallRecord)], view)
        for output in together:
            if isinstance(output, Output):
                yield PromptMessage(
                    "assistant",
                    output.text,
                    label=output.history_name or output.node_name,
                    named=bool(output.history_name),
                    spoken=view.spoken.get((index, step)) if output.node_name == view.node_name else None,
                )


def _step(item: Output | ToolCallRecord) -> int:
    return item.step


def _call_messages(calls: Sequence[ToolCallRecord], view: View) -> Iterable[PromptMessage]:
    if not calls:
        return
    shape = tool_format(calls[0].format)
    made = [Call(call.tool, call.arguments) for call in calls]
    answers = [call.result if not call.error else f"error: {call.error}" for call in calls]
    asked = tuple(shape.calls(made))
    told = tuple(shape.results([(call, answer or "") for call, answer in zip(made, answers, strict=True)]))
    for role, label, pieces in (("assistant", calls[0].node_name, asked), ("user", TOOL_LABEL, told)):
        yield PromptMessage(cast(Role, role), "".join(text for text, _ in pieces), label=label, pieces=pieces)


def _marked(message: PromptMessage, user_message: str) -> PromptMessage:
    if message.role != "user" or message.text != user_message:
        return message
    return PromptMessage("user", message.text, label=message.label, repeats_player=True)

"""Rolling summaries: which turns a new summary covers, and the prompts that write it. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bridge.budget import CountTokens, cost_of_messages
from bridge.errors import PromptTooLong
from bridge.prompt import PromptMessage, View, current_turn, earlier_turn

DEFAULT_INSTRUCTION = (
    "Sum up the dialogue below in a few plain sentences. Keep names, promises, facts and feelings that matter later; "
    "leave out greetings. Take over what the earlier summary says and is still true."
)
REQUEST = "Write the summary now."
EARLIER = "Earlier summary:"
DIALOGUE = "Dialogue:"
LABEL = "Summary"
"""Who writes it, for formats that label lines."""


def reaches(view: View, tokens: int, count: CountTokens) -> bool:
    """Whether the turns that no summary covers yet, the running one included, count at least so many tokens."""
    left = tokens - cost_of_messages(current_turn(view), count)
    for index in range(len(view.history) - 1, view.first_turn - 1, -1):
        if left <= 0:
            break
        left -= cost_of_messages(earlier_turn(view, index), count)
    return left <= 0


def turns_to_cover(view: View, keep_recent_turns: int) -> range:
    """Indices of the turns that a new summary covers: all but the last ones. The running turn is one of those."""
    return range(view.first_turn, max(view.first_turn, len(view.history) - max(keep_recent_turns - 1, 0)))


@dataclass(frozen=True, slots=True)
class Pass:
    """One prompt that a summary needs."""

    messages: list[PromptMessage]
    covers: int
    """How many turns from the first on are covered once this pass is written."""
    shortened: bool = False
    """The previous summary had to be cut, so that the turns have room."""


LEAST_ROOM = 16
"""Tokens that turns and previous summary must have together; in fewer nothing can be summed up."""


def next_pass(view: View, turns: range, previous: str, *, budget: int, count: CountTokens, clip: int = 0) -> Pass:
    """The prompt for as many of `turns`, from the first on, as fit beside the previous summary; one at least.

    A turn that fits by itself nowhere is cut at its end, and a previous summary that takes more than half of the room
    at its own: no turn is covered of which nothing is shown. `clip` shortens what fits by so many more tokens. Raises
    PromptTooLong where the window has no room at all.
    """
    lines: list[str] = []
    room = budget - clip - cost_of_messages(_messages(view, "", ""), count) - (count(EARLIER) + 2 if previous else 0)
    if room < LEAST_ROOM:
        raise PromptTooLong(
            f"the window leaves {max(room, 0)} tokens for the turns to sum up and {LEAST_ROOM} are needed; "
            "lower max_tokens or shorten the system_prompt"
        )
    shortened = count(previous) > room // 2
    if shortened:
        previous = _cut(previous, room // 2, count)
    left = room - count(previous)
    covers = turns.start
    for index in turns:
        text = _script(earlier_turn(view, index))
        cost = count(text) + 1
        if cost > left and lines:
            break
        if cost > left:
            text = _cut(text, max(left - 1, 0), count)
        lines.append(text)
        left -= cost
        covers = index + 1
    return Pass(_messages(view, previous, "\n".join(lines)), covers, shortened)


def _messages(view: View, previous: str, script: str) -> list[PromptMessage]:
    parts = [view.system_prompt or DEFAULT_INSTRUCTION]
    if previous:
        parts.append(f"{EARLIER}\n{previous}")
    parts.append(f"{DIALOGUE}\n{script}")
    return [
        PromptMessage("system", "\n\n".join(parts)),
        PromptMessage("user", REQUEST, label=view.player_name),
    ]


def _script(messages: Sequence[PromptMessage]) -> str:
    return "\n".join(f"{message.label}: {message.text}" for message in messages)


def _cut(text: str, tokens: int, count: CountTokens) -> str:
    """The longest beginning of a text that has at most so many tokens."""
    low, high = 0, len(text)
    reach = max(tokens, 1)
    while reach < high:  # from the short end: a long text takes long to count
        if count(text[:reach]) > tokens:
            high = reach - 1
            break
        low, reach = reach, 2 * reach
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if count(text[:middle]) <= tokens else (low, middle - 1)
    return text[:low]

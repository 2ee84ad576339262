"""The token budget: which earlier turns a prompt has room for. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bridge.prompt import PromptMessage

MESSAGE_COST = 8
"""Tokens that a message is taken to cost beside its text: markers, labels, line breaks."""

CountTokens = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Fit:
    """What fits."""

    first: int
    """Index of the first earlier turn that stays; the number of turns where none does."""
    estimate: int
    """Tokens that the prompt is taken to have."""
    over: bool
    """System message and current turn alone pass the budget."""


def fit_turns(fixed: int, cost_of: Callable[[int], int], first: int, count: int, budget: int) -> Fit:
    """Drop the oldest of the turns `first` … `count` - 1 where prompt and budget ask for it.

    `fixed` are the tokens of what is never dropped, `cost_of` those of one turn. At or under the budget nothing is
    dropped. Over it, turns go until the prompt is at or under three quarters of the budget, so that the next trim is
    far off and the cache of the turns between is used again and again. Looks at no more turns than the budget holds.
    """
    if fixed > budget:
        return Fit(count, fixed, over=True)
    total = kept_total = fixed
    kept = count
    for index in range(count - 1, first - 1, -1):
        total += cost_of(index)
        if total > budget:
            return Fit(kept, kept_total, over=False)
        if total * 4 <= budget * 3:
            kept, kept_total = index, total
    return Fit(first, total, over=False)


def cost_of_messages(messages: Sequence[PromptMessage], count: CountTokens) -> int:
    """Tokens that messages are taken to cost, before any chat format."""
    return sum(count(message.content) + MESSAGE_COST for message in messages)


def cost_of_examples(examples: Sequence[tuple[str, str]], count: CountTokens) -> int:
    """Tokens of example lines; they belong to the system message."""
    return sum(count(f"{speaker}: {text}") for speaker, text in examples)

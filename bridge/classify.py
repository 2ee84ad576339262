"""How a language model decides between labels: letters, what it is shown, and what its scores mean. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
LABEL = "Answer"
"""Who speaks the letter in formats that label every line."""


@dataclass(frozen=True, slots=True)
class Label:
    """One of the answers that are possible; `id` is what the game reads, `description` what the model reads."""

    id: str
    description: str


@dataclass(frozen=True, slots=True)
class Decision:
    """What became of a model's probabilities."""

    winner: str
    probability: float
    margin: float
    """Distance to the runner-up."""
    reason: str
    """Why nothing was found; empty where something was."""


def softmax(scores: Sequence[float]) -> list[float]:
    """Probabilities that sum to one. A score that is no number counts as impossible."""
    sound = [score if math.isfinite(score) else -math.inf for score in scores]
    top = max(sound, default=-math.inf)
    if top == -math.inf:
        return [1 / len(scores)] * len(scores) if scores else []
    weights = [math.exp(score - top) for score in sound]
    total = math.fsum(weights)
    return [weight / total for weight in weights]


def decide(
    labels: Sequence[Label], chances: Sequence[float], *, threshold: float, margin: float, rest: str
) -> Decision:
    """The winner, and whether it is sure enough. `rest`: the id that means "none of them"; empty: there is none."""
    order = sorted(range(len(labels)), key=lambda index: -chances[index])
    first = order[0]
    ahead = chances[first] - (chances[order[1]] if len(order) > 1 else 0.0)
    if labels[first].id == rest and rest:
        reason = f"the likeliest is '{rest}', which stands for none of them"
    elif chances[first] < threshold:
        reason = f"probability {chances[first]:.3f} is below the threshold {threshold:g}"
    elif ahead < margin:
        reason = f"only {ahead:.3f} ahead of '{labels[order[1]].id}'; the margin is {margin:g}"
    else:
        reason = ""
    return Decision(labels[first].id, chances[first], ahead, reason)


def turns_shown(total: int, history_turns: int) -> int:
    """How many of `total` earlier turns a classifier sees.

    They leave its view in blocks: it grows to twice `history_turns`, then drops to `history_turns`. Between two drops
    each prompt begins with the one before, so its cache is kept.
    """
    most = 2 * history_turns
    return total if total <= most else history_turns + (total - most - 1) % (history_turns + 1)


def options(labels: Sequence[Label]) -> str:
    """The labels as the model reads them, one letter a line."""
    return "\n".join(f"{letter}: {label.description}" for letter, label in zip(LETTERS, labels, strict=False))


def intent_task(labels: Sequence[Label]) -> str:
    """What ClassifyIntentLLM puts at the end of its system message."""
    return f"Decide what the last message wants. The possible answers:\n{options(labels)}"


INTENT_QUESTION = "Which answer fits the last message best? Reply with its letter only."
ATTRIBUTES_TASK = "Answer questions about the last message."


def attribute_question(question: str, labels: Sequence[Label]) -> str:
    """What ClassifyAttributesLLM asks behind the conversation."""
    return f"{question}\n{options(labels)}\nReply with the letter of the answer that fits best."

"""ClassifyIntentLLM: what a text wants, by the judgement of a language model."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import ClassVar

from pydantic import BaseModel, ConfigDict, Field

from bridge.classify import INTENT_QUESTION, LETTERS, Label, decide, intent_task
from bridge.errors import InvalidValue
from bridge.node import Checks, Kind, ModelNode, TurnView, exit_param, param


class LabelParam(BaseModel):
    """One possible answer."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    id: str = Field(min_length=1, max_length=128, description="What the game and templates read.")
    description: str = Field(min_length=1, max_length=1000, description="What the model reads.")


class ClassifyIntentLLM(ModelNode):
    """Lets the model decide which intent a text has. No text is generated.

    The model reads every intent behind a letter; how likely each letter is to come next is the intent's probability.
    Earlier turns leave its view in blocks, from twice `history_turns` down to it, so that its cache lasts.
    """

    chooses = True
    offers: ClassVar[Mapping[str, str]] = {"{{intent}}": "the intent that was found; empty where none was"}
    events: ClassVar[Mapping[str, str]] = {
        "intent_classified": "`intent`, `found`, `best`, its `probability` and `margin`, all `probabilities`, and the "
        "`reason` where none was found"
    }

    input: str = param("", "Slot whose text is classified; empty: the player's line.", kind=Kind.SLOT_INPUT)
    intents: list[LabelParam] = param(
        [], "The intents to choose from, 26 at most.", structural=True, max_length=len(LETTERS)
    )
    history_turns: int = param(2, "Earlier turns that the model sees at least, if there are so many.", ge=0, le=100)
    threshold: float = param(0.5, "Least probability of an intent that counts as found.", ge=0, le=1)
    margin: float = param(0.15, "Least distance to the runner-up's probability.", ge=0, le=1)
    not_found_intent: str = param("", "Id of the intent that means none of the others; empty: there is none.")
    notify_client: bool = param(False, "Tell the game with an intent_classified event.")
    found_exit: str = exit_param("the model is sure enough of an intent")
    not_found_exit: str = exit_param("it is not")

    @property
    def gives_intents(self) -> Collection[str]:
        return [intent.id for intent in self.intents if intent.id != self.not_found_intent]

    def prepare(self, checks: Checks) -> None:
        check_labels(self.intents, checks, field="intents", what="intent")
        ids = [intent.id for intent in self.intents]
        if ids and self.not_found_intent and self.not_found_intent not in ids:
            checks.problem(
                f"not_found_intent names no intent: '{self.not_found_intent}'; there are: {', '.join(ids)}",
                field="not_found_intent",
                error=InvalidValue,
            )

    async def run(self, turn: TurnView) -> str:
        labels = [Label(intent.id, intent.description) for intent in self.intents]
        chances = await turn.choose(
            labels,
            input_name=self.input,
            task=intent_task(labels),
            reminder=INTENT_QUESTION,
            history_turns=self.history_turns,
        )
        made = decide(labels, chances, threshold=self.threshold, margin=self.margin, rest=self.not_found_intent)
        found = "" if made.reason else made.winner
        turn.set_intent(found)
        facts = {
            "intent": found,
            "found": bool(found),
            "best": made.winner,
            "probability": made.probability,
            "margin": made.margin,
            "probabilities": {label.id: chance for label, chance in zip(labels, chances, strict=True)},
            "reason": made.reason,
        }
        turn.detail(**facts)
        if self.notify_client:
            turn.notify("intent_classified", facts)
        return "found" if found else "not_found"


def check_labels(labels: list[LabelParam], checks: Checks, *, field: str, what: str, index: int | None = None) -> None:
    """Report what cannot work about labels to choose from: none at all, an id that stands there twice."""
    inside = "" if index is None else ".labels"
    if not labels:
        checks.problem(
            f"there is no {what} to choose from; add one", field=field, error=InvalidValue, index=index, inside=inside
        )
    seen: set[str] = set()
    for number, label in enumerate(labels):
        if label.id in seen:
            checks.problem(
                f"two have the id '{label.id}'; ids must be unique",
                field=field,
                error=InvalidValue,
                index=number if index is None else index,
                inside=".id" if index is None else f".labels[{number}].id",
            )
        seen.add(label.id)

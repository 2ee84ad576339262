"""ClassifyAttributesLLM: questions about a text, each with ready-made answers, by the judgement of a language model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from pydantic import BaseModel, ConfigDict, Field

from bridge.authoring import AuthoringError, check_name
from bridge.classify import ATTRIBUTES_TASK, LETTERS, Label, attribute_question, decide
from bridge.errors import InvalidValue
from bridge.node import Checks, Kind, ModelNode, TurnView, exit_param, param
from bridge.nodes.classify_intent_llm import LabelParam, check_labels


class AttributeParam(BaseModel):
    """One question with its possible answers."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    name: str = Field(max_length=64, description="Name in {{attribute.<name>}}.")
    question: str = Field(min_length=1, max_length=1000, description="What the model is asked.")
    labels: list[LabelParam] = Field(max_length=len(LETTERS), description="The answers to choose from, 26 at most.")


class ClassifyAttributesLLM(ModelNode):
    """Lets the model answer questions about a text, one label for each. No text is generated.

    Templates read a label's id as `{{attribute.<name>}}`; empty where no label is likely enough.
    """

    chooses = True
    offers: ClassVar[Mapping[str, str]] = {
        "{{attribute.<name>}}": "the label of that question; empty where none was found"
    }
    events: ClassVar[Mapping[str, str]] = {
        "attributes_classified": "`attributes` by name, their `probabilities`, and the `reasons` where none was found"
    }

    input: str = param("", "Slot whose text is judged; empty: the player's line.", kind=Kind.SLOT_INPUT)
    attributes: list[AttributeParam] = param([], "The questions.", structural=True, max_length=32)
    history_turns: int = param(2, "Earlier turns that the model sees at least, if there are so many.", ge=0, le=100)
    threshold: float = param(0.5, "Least probability of a label that counts.", ge=0, le=1)
    notify_client: bool = param(False, "Tell the game with an attributes_classified event.")
    default_exit: str = exit_param("the questions are answered")

    @property
    def gives_attributes(self) -> list[str]:
        return [attribute.name for attribute in self.attributes]

    def prepare(self, checks: Checks) -> None:
        if not self.attributes:
            checks.problem("there is no attribute to find out; add one", field="attributes", error=InvalidValue)
        seen: set[str] = set()
        for index, attribute in enumerate(self.attributes):
            try:
                if check_name(attribute.name) != attribute.name:
                    raise AuthoringError("grammar", f"'{attribute.name}' has white space around it; remove it.")
            except AuthoringError as fault:
                checks.problem(str(fault), field="attributes", index=index, inside=".name")
            if attribute.name in seen:
                checks.problem(
                    f"two attributes are called '{attribute.name}'; rename one",
                    field="attributes",
                    error=InvalidValue,
                    index=index,
                    inside=".name",
                )
            seen.add(attribute.name)
            check_labels(attribute.labels, checks, field="attributes", what="label", index=index)

    async def run(self, turn: TurnView) -> str:
        chosen: dict[str, str] = {}
        probabilities: dict[str, dict[str, float]] = {}
        reasons: dict[str, str] = {}
        for attribute in self.attributes:
            labels = [Label(label.id, label.description) for label in attribute.labels]
            chances = await turn.choose(
                labels,
                input_name=self.input,
                task=ATTRIBUTES_TASK,
                question=attribute_question(attribute.question, labels),
                history_turns=self.history_turns,
            )
            made = decide(labels, chances, threshold=self.threshold, margin=0, rest="")
            chosen[attribute.name] = "" if made.reason else made.winner
            probabilities[attribute.name] = {label.id: chance for label, chance in zip(labels, chances, strict=True)}
            if made.reason:
                reasons[attribute.name] = made.reason
            turn.set_attribute(attribute.name, chosen[attribute.name])
        facts = {"attributes": chosen, "probabilities": probabilities, "reasons": reasons}
        turn.detail(**facts)
        if self.notify_client:
            turn.notify("attributes_classified", facts)
        return "default"

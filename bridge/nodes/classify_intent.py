"""ClassifyIntent: what a text wants, by the labelled example that is nearest to it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, ClassVar

from pydantic import PrivateAttr

from bridge.errors import InvalidValue
from bridge.filter import Filter
from bridge.node import Checks, Kind, Node, TurnView, exit_param, param
from bridge.wording import suggest


class ClassifyIntent(Node):
    """Finds the intent of a text: that of the nearest example in an embedded storage.

    Needs no language model. Later nodes read the intent as `{{intent}}`; where none is near enough it is empty.
    """

    offers: ClassVar[Mapping[str, str]] = {"{{intent}}": "the intent that was found; empty where none was"}
    events: ClassVar[Mapping[str, str]] = {
        "intent_classified": "`intent`, `found`, `best`, its `distance` and the `reason` where none was found"
    }

    input: str = param("", "Slot whose text is classified; empty: the player's line.", kind=Kind.SLOT_INPUT)
    embedded_storage: str = param(
        "",
        "Config file under the storage folder, or a created storage, with the examples.",
        kind=Kind.EMBEDDED_STORAGE,
        structural=True,
    )
    metadata_field: str = param("", "Field of an example that holds its intent; empty: the example's id.")
    threshold: float = param(0.25, "Largest distance of an example; 0 = off.", ge=0, le=2)
    filter: dict[str, Any] = param({}, "Conditions that an example's fields must meet; empty: none.", kind=Kind.FILTER)
    notify_client: bool = param(False, "Tell the game with an intent_classified event.")
    diagnostic_top_k: int = param(5, "Examples that the diagnostics show.", ge=1, le=100)
    found_exit: str = exit_param("an example is near enough")
    not_found_exit: str = exit_param("none is")

    _filter: Filter | None = PrivateAttr(default=None)
    _intents: frozenset[str] | None = PrivateAttr(default=None)

    @property
    def gives_intents(self) -> Collection[str] | None:
        return self._intents

    def prepare(self, checks: Checks) -> None:
        schema = checks.knowledge(self.embedded_storage, field="embedded_storage")
        if schema is None:
            return
        self._filter = checks.filter(self.filter, schema, field="filter")
        self._intents = checks.values(self.embedded_storage, self.metadata_field)
        if not self.metadata_field:
            return
        field = schema.get(self.metadata_field)
        if field is None:
            checks.problem(
                f"the storage has no field '{self.metadata_field}'; {suggest(self.metadata_field, schema)}",
                field="metadata_field",
                error=InvalidValue,
            )
        elif field.type != "string":
            checks.problem(
                f"the field '{self.metadata_field}' is of type {field.type}; an intent is a string",
                field="metadata_field",
                error=InvalidValue,
            )

    async def run(self, turn: TurnView) -> str:
        text = turn.read_input(self.input) or turn.user_message
        hits = await turn.search(
            self.embedded_storage, text, top_k=self.diagnostic_top_k, threshold=0, only=self._filter
        )
        ranked = [(self._intent_of(hit.id, hit.metadata), hit.distance) for hit in hits]
        intent, distance = ranked[0] if ranked else ("", None)
        if distance is None:
            reason = "there is no example to compare with"
        elif self.threshold and distance > self.threshold:
            reason = f"the nearest example is {distance:.3f} away; the threshold is {self.threshold:g}"
        elif not intent:
            reason = f"the nearest example has no {self.metadata_field}"
        else:
            reason = ""
        found = intent if not reason else ""
        turn.set_intent(found)
        nearest = [
            {"id": hit.id, "intent": label, "distance": round(far, 6)}
            for hit, (label, far) in zip(hits, ranked, strict=True)
        ]
        turn.detail(intent=found, nearest=nearest, reason=reason)
        if self.notify_client:
            turn.notify(
                "intent_classified",
                {
                    "intent": found,
                    "found": bool(found),
                    "best": intent,
                    "distance": None if distance is None else round(distance, 6),
                    "reason": reason,
                },
            )
        return "found" if found else "not_found"

    def _intent_of(self, record_id: str, metadata: Any) -> str:
        return str(metadata.get(self.metadata_field, "")) if self.metadata_field else record_id

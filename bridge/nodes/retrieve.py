"""Retrieve: what the character knows about what was said."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pydantic import PrivateAttr

from bridge.filter import Filter
from bridge.node import Checks, Kind, Node, TurnView, exit_param, param
from bridge.wording import cut

if TYPE_CHECKING:
    from bridge.retrieval import Hit

SHOWN = 5
"""Passages that the diagnostics show, found or not."""


class Retrieve(Node):
    """Puts the passages of an embedded storage that are nearest to a text into this turn's knowledge.

    Templates read them as `{{#knowledge_<source>}}` or, of every source, as `{{#knowledge}}`. Distance is 1 - cosine.
    """

    tag_family = "knowledge_"
    tag_name_field = "source"

    input: str = param("", "Slot whose text is looked up; empty: the player's line.", kind=Kind.SLOT_INPUT)
    embedded_storage: str = param(
        "", "Config file under the storage folder, or a created storage.", kind=Kind.EMBEDDED_STORAGE, structural=True
    )
    top_k: int = param(2, "Most passages to take.", ge=1, le=1000)
    threshold: float = param(0.5, "Largest distance of a passage; 0 = off.", ge=0, le=2)
    source: str = param("", "Name in {{#knowledge_<source>}}; empty: the node's name.", kind=Kind.NAME)
    filter: dict[str, Any] = param({}, "Conditions that a passage's fields must meet; empty: none.", kind=Kind.FILTER)
    found_exit: str = exit_param("a passage is near enough")
    not_found_exit: str = exit_param("none is")

    _filter: Filter | None = PrivateAttr(default=None)

    def prepare(self, checks: Checks) -> None:
        schema = checks.knowledge(self.embedded_storage, field="embedded_storage")
        if schema is not None:
            self._filter = checks.filter(self.filter, schema, field="filter")

    async def run(self, turn: TurnView) -> str:
        text = turn.read_input(self.input) or turn.user_message
        # Also what is too far or too many: the diagnostics show it, so that a threshold can be chosen.
        nearest = await turn.search(
            self.embedded_storage, text, top_k=max(self.top_k, SHOWN), threshold=0, only=self._filter
        )
        hits = [hit for hit in nearest[: self.top_k] if not self.threshold or hit.distance <= self.threshold]
        source = self.source or self.name
        turn.add_knowledge(source, hits)
        turn.detail(source=source, hits=_rows(hits), nearest=_told(nearest[:SHOWN]), reason=self._reason(hits, nearest))
        return "found" if hits else "not_found"

    def _reason(self, hits: Sequence[Hit], nearest: Sequence[Hit]) -> str:
        """Why nothing was found; empty where something was."""
        if hits:
            return ""
        if not nearest:
            return "there is no passage to compare with"
        return f"the nearest passage is {nearest[0].distance:.3f} away; the threshold is {self.threshold:g}"


def _told(hits: Sequence[Hit]) -> list[dict[str, Any]]:
    return [{**row, "text": cut(hit.text)} for row, hit in zip(_rows(hits), hits, strict=True)]


def _rows(hits: Sequence[Hit]) -> list[dict[str, Any]]:
    return [{"id": hit.id, "distance": round(hit.distance, 6)} for hit in hits]

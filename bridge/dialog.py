"""An agent's dialog history: every interaction in order, never trimmed."""

from __future__ import annotations

from collections.abc import Sequence

from bridge.prompt import Spoken, SpokenKey
from bridge.protocol import Interaction


class Dialog:
    """The interactions of one agent, and beside them how its own models wrote their replies.

    Threading: used on the event loop only.
    """

    def __init__(self) -> None:
        self._interactions: list[Interaction] = []
        self._spoken: dict[str, dict[SpokenKey, Spoken]] = {}

    def __len__(self) -> int:
        return len(self._interactions)

    @property
    def interactions(self) -> Sequence[Interaction]:
        """Oldest first. Read only."""
        return self._interactions

    def record(self, interaction: Interaction) -> None:
        """Append a turn's record."""
        self._interactions.append(interaction)

    def remember_spoken(self, node_name: str, key: SpokenKey, spoken: Spoken) -> None:
        """Keep the tokens with which a node's model wrote an output."""
        self._spoken.setdefault(node_name, {})[key] = spoken

    def spoken_by(self, node_name: str) -> dict[SpokenKey, Spoken]:
        """A node's own replies by (turn_id, step)."""
        return self._spoken.get(node_name, {})

"""An agent's dialog history: every interaction in order, never trimmed; its summary, and what nodes still see of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from bridge.dialog_document import REST_S, Piece, Room, check_turn, read_dialog, write_piece
from bridge.errors import InvalidDialog, LimitExceeded
from bridge.prompt import Spoken, SpokenKey
from bridge.protocol import DialogDocument, Interaction, Output, ShortReply, Summary

SpeakerOf = Callable[[str], tuple[str, str]]
"""A node's (slot, history_name); for a name that is no node the name itself and an empty one."""

_OUTPUT_FIELDS = {"step", "node_name", "slot", "text", "history_role", "history_name"}


class Dialog:
    """The interactions of one agent, and beside them how its own models wrote their replies.

    Threading: used on the event loop only, but for `read` and `changed`, which change nothing, and what `export` gives.
    """

    def __init__(
        self,
        speaker_of: SpeakerOf = lambda name: (name, ""),
        max_turns: int = 100_000,
        max_json_bytes: int = 8 * 2**20,
    ) -> None:
        """`max_turns`: more than that are not taken from outside; what is said here has no limit.

        `max_json_bytes`: what one message can hold.
        """
        self._speaker_of = speaker_of
        self._max_turns = max_turns
        self._room = Room(max_json_bytes)
        self._interactions: list[Interaction] = []
        self._spoken: dict[str, dict[SpokenKey, Spoken]] = {}
        self._first: dict[str, int] = {}
        self._summary: Summary | None = None
        self.epoch = 0
        """Grows with every change of what is there already: work that began before belongs to another history."""

    def __len__(self) -> int:
        return len(self._interactions)

    @property
    def interactions(self) -> Sequence[Interaction]:
        """Oldest first. Read only."""
        return self._interactions

    @property
    def summary(self) -> Summary | None:
        """What stands in for the oldest turns."""
        return self._summary

    def record(self, interaction: Interaction) -> None:
        """Append a turn's record."""
        self._interactions.append(interaction)

    def summarise(self, summary: Summary) -> None:
        """Let a new summary stand in for the turns that it covers."""
        self._summary = summary

    # ---- what a node sees

    def first_turn(self, node_name: str) -> int:
        """Index of the first turn that a node's prompt may still show."""
        covered = self._summary.covers if self._summary else 0
        return max(self._first.get(node_name, 0), covered)

    def leave_behind(self, node_name: str, first: int) -> None:
        """Drop the turns before `first` from a node's prompts for good."""
        self._first[node_name] = max(first, self._first.get(node_name, 0))

    def remember_spoken(self, node_name: str, key: SpokenKey, spoken: Spoken) -> None:
        """Keep the tokens with which a node's model wrote an output."""
        self._spoken.setdefault(node_name, {})[key] = spoken

    def spoken_by(self, node_name: str) -> dict[SpokenKey, Spoken]:
        """A node's own replies by (index of the interaction, step)."""
        return self._spoken.get(node_name, {})

    def forget_unrecorded(self) -> None:
        """Drop what was remembered of a turn that left no trace. Called before a turn starts."""
        self._forget_spoken(len(self._interactions))

    # ---- export, seed, edit

    def export(self, first: int, count: int | None) -> Callable[[], Piece]:
        """Makes a piece of the history as it is now, of at most `count` turns; call it in any thread.

        A piece has no more turns than fit into a message; the last piece has the summary.
        """
        end = len(self._interactions) if count is None else min(first + count, len(self._interactions))
        turns, summary = self._interactions[first:end], self._summary
        is_end = end >= len(self._interactions)
        return lambda: write_piece(turns, summary, is_end=is_end, room=self._room)

    def read(self, raw: object) -> DialogDocument:
        """What a client seeds. Raises InvalidDialog with the JSON path, LimitExceeded. Threading: from any thread."""
        return read_dialog(raw, self._outputs, max_turns=self._max_turns, room=self._room)

    def seed(self, read: DialogDocument, *, append: bool) -> None:
        """Replace the history, or continue it. Raises InvalidDialog, LimitExceeded; nothing is changed then."""
        interactions, summary = read.interactions, read.summary
        before = self._interactions if append else []
        if summary is not None and summary.covers > len(before) + len(interactions):
            raise InvalidDialog(
                f"the summary covers {summary.covers} turns, but there are {len(before) + len(interactions)}",
                path="$.summary.covers",
            )
        if len(before) + len(interactions) > self._max_turns:
            raise LimitExceeded(
                f"the dialog would have {len(before) + len(interactions)} turns; {self._max_turns} are allowed "
                "(max_dialog_turns)"
            )
        if append and summary is None:
            summary = self._summary
        self._interactions = [*before, *interactions]
        self._summary = summary
        self.epoch += 1
        if not append:
            self._spoken.clear()
            self._first.clear()

    def changed(self, index: int, user: str | None, replies: Sequence[ShortReply] | None) -> Interaction:
        """A turn as an edit would leave it. Raises InvalidDialog where there is none of this index, LimitExceeded.

        Threading: from any thread.
        """
        if index >= len(self._interactions):
            raise InvalidDialog(f"there is no turn {index}; the dialog has {len(self)}", path="$.index")
        changed: dict[str, Any] = {}
        if user is not None:
            changed["user"] = user
        if replies is not None:
            changed["outputs"] = self._outputs(replies)
        turn = self._interactions[index].model_copy(update=changed)
        check_turn(turn, index, self._room)
        return turn

    def edit(self, index: int, turn: Interaction) -> None:
        """Put a turn that `changed` gave in its place."""
        if turn.outputs is not self._interactions[index].outputs:
            for own in self._spoken.values():
                for key in [key for key in own if key[0] == index]:
                    del own[key]
        self._interactions[index] = turn
        self._changed_at(index)

    def truncate(self, keep: int) -> None:
        """Forget all but the first `keep` turns."""
        if keep < len(self._interactions):
            del self._interactions[keep:]
            self._forget_spoken(keep)
            self._changed_at(keep)

    def _changed_at(self, index: int) -> None:
        self.epoch += 1
        if self._summary is not None and index < self._summary.covers:
            self._summary = None
        self._first = {name: first for name, first in self._first.items() if first <= index}

    def _forget_spoken(self, index: int) -> None:
        for own in self._spoken.values():
            for key in [key for key in own if key[0] >= index]:
                del own[key]

    def _outputs(self, replies: Iterable[ShortReply]) -> list[Output]:
        outputs = []
        for number, reply in enumerate(replies, start=1):
            if number % 256 == 0:
                time.sleep(REST_S)
            slot, history_name = self._speaker_of(reply.node_name)
            outputs.append(
                Output.model_construct(
                    _OUTPUT_FIELDS,
                    step=number,
                    node_name=reply.node_name,
                    slot=slot,
                    text=reply.text,
                    history_role="Assistant",
                    history_name=history_name,
                )
            )
        return outputs

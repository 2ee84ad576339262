"""CannedResponse: a ready-made line from a list."""

from __future__ import annotations

from typing import Literal

from pydantic import PrivateAttr

from bridge.errors import InvalidStorageData
from bridge.node import Checks, Kind, SpeakingNode, TurnView, exit_param, param
from bridge.protocol import HistoryRole, Send


class CannedResponse(SpeakingNode):
    """Picks a line from a list."""

    string_storage: str = param("", "File under the storage folder that holds the lines.", kind=Kind.FILE)
    inline_strings: list[str] = param([], "The lines, where no storage is named.", structural=True)
    selection: Literal["RoundRobin", "First", "Random"] = param("RoundRobin", "Which line comes next.")
    send: Send = param("Whole", "What the client sees.")
    history_role: HistoryRole = param("Assistant", "How later prompts replay the text.")
    default_exit: str = exit_param("the line is written")

    _lines: tuple[str, ...] = PrivateAttr(default=())

    def prepare(self, checks: Checks) -> None:
        lines = checks.strings(self.string_storage, self.inline_strings, "canned_responses")
        if lines is not None and not lines:
            field = "string_storage" if self.string_storage else "inline_strings"
            checks.problem("the list has no lines; add one", field=field, error=InvalidStorageData)
        self._lines = tuple(lines or ())

    async def run(self, turn: TurnView) -> str:
        await turn.write(self._lines[turn.pick(len(self._lines), self.selection)])
        return "default"

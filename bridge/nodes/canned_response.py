"""CannedResponse: a ready-made line from a list."""

from __future__ import annotations

from typing import Literal

from pydantic import PrivateAttr

from bridge.errors import InvalidStorageData
from bridge.node import Checks, Kind, SpeakingNode, TurnView, exit_param, param
from bridge.protocol import HistoryRole, Send


class CannedResponse(SpeakingNode):
    """Picks a line from a list."""

    string_storage: str = param(
        "", "A file under the storage folder, or a created storage, with the lines.", kind=Kind.STRING_STORAGE
    )
    inline_strings: list[str] = param([], "The lines, where no storage is named.", structural=True)
    selection: Literal["RoundRobin", "First", "Random"] = param("RoundRobin", "Which line comes next.")
    send: Send = param("Whole", "What the client sees.")
    history_role: HistoryRole = param("Assistant", "How later prompts replay the text.")
    default_exit: str = exit_param("the line is written")

    _lines: tuple[str, ...] = PrivateAttr(default=())

    def prepare(self, checks: Checks) -> None:
        found = checks.strings(self.string_storage, self.inline_strings, "canned_responses.txt")
        if found is not None and not found.texts:
            field = "string_storage" if self.string_storage else "inline_strings"
            checks.problem("the list has no lines; add one", field=field, error=InvalidStorageData)
        self._lines = found.texts if found is not None else ()

    async def run(self, turn: TurnView) -> str:
        await turn.write(self._lines[turn.pick(len(self._lines), self.selection)])
        return "default"

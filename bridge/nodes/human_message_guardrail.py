"""HumanMessageGuardrail: patterns that the player's line must not match."""

from __future__ import annotations

import threading
import unicodedata
from typing import Any

import re2  # type: ignore[import-untyped]  # google-re2 ships no types
from pydantic import PrivateAttr

from bridge import workers
from bridge.errors import InvalidStorageData, InvalidValue, LimitExceeded
from bridge.node import Checks, Kind, Node, TurnView, exit_param, param
from bridge.wording import cut

MAX_PATTERNS = 1000
MAX_PATTERN_BYTES = 2**20
"""Memory that RE2 may use for one pattern."""
SEARCHED_AT_ONCE = 1_000_000
"""Work that is done without leaving the event loop: characters times instructions of the compiled patterns.

RE2 takes 5 ns for each at worst, for a pattern whose states do not fit into its memory; mostly a thousandth of that.
"""
SEARCHED_IN_A_TURN = 2**30
"""Work that one turn may ask for: 1,000 patterns of single words and a line of 65,536 characters are less."""


class HumanMessageGuardrail(Node):
    r"""Searches the player's line for regular expressions, ignoring case.

    Patterns are RE2's: linear time, so no line can hang a turn. `\w` and `\b` know ASCII only; `\p{L}` is any letter.
    The line is matched as typed and in its NFKC form, so full-width letters do not slip through. Where large patterns
    and a long line would take seconds, the turn ends with LimitExceeded (3014) instead.
    """

    string_storage: str = param(
        "", "A file under the storage folder, or a created storage, with the patterns.", kind=Kind.STRING_STORAGE
    )
    inline_strings: list[str] = param(
        [], "The patterns, where no storage is named.", kind=Kind.REGEX_LIST, structural=True
    )
    triggered_exit: str = exit_param("a pattern matches")
    not_triggered_exit: str = exit_param("no pattern matches")

    _patterns: list[tuple[str, Any]] = PrivateAttr(default_factory=list)
    _size: int = PrivateAttr(0)

    def prepare(self, checks: Checks) -> None:
        field = "string_storage" if self.string_storage else "inline_strings"
        options = re2.Options()
        options.case_sensitive = False
        options.log_errors = False
        options.max_mem = MAX_PATTERN_BYTES
        found = checks.strings(self.string_storage, self.inline_strings, "guardrail_patterns.txt")
        patterns = found.texts if found is not None else ()
        if found is not None and not patterns:
            checks.problem("the list has no patterns; add one", field=field, error=InvalidStorageData)
        if len(patterns) > MAX_PATTERNS:
            checks.problem(
                f"the list has {len(patterns)} patterns; {MAX_PATTERNS} are allowed", field=field, error=LimitExceeded
            )
            return
        for index, pattern in enumerate(patterns):
            try:
                self._patterns.append((pattern, re2.compile(pattern, options)))
            except (re2.error, UnicodeEncodeError) as fault:
                reason = fault.args[0] if fault.args else fault
                text = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
                checks.problem(
                    f"the pattern '{cut(pattern)}' cannot be used: {text} "
                    "(RE2 has no look-around and no back-references)",
                    field=field,
                    error=InvalidValue,
                    index=None if self.string_storage else index,
                )
        self._size = sum(found.programsize for _, found in self._patterns)

    async def run(self, turn: TurnView) -> str:
        line = turn.user_message
        forms = {line, unicodedata.normalize("NFKC", line)}
        stop = threading.Event()
        work = sum(map(len, forms)) * self._size
        turn.spend(
            work,
            SEARCHED_IN_A_TURN,
            f"searching {len(line)} characters for {len(self._patterns)} patterns ({self._size} instructions)",
        )
        if work <= SEARCHED_AT_ONCE:
            hit = self._search(forms, stop)
        else:
            try:
                hit = await workers.search(self._search, forms, stop)
            finally:
                stop.set()  # the turn may have ended
        turn.detail(pattern=hit)
        return "not_triggered" if hit is None else "triggered"

    def _search(self, forms: set[str], stop: threading.Event) -> str | None:
        """The first pattern that is found before `stop` is set."""
        for text, found in self._patterns:
            for form in forms:
                if stop.is_set():
                    return None
                if found.search(form):
                    return text
        return None

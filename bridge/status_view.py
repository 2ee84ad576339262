"""How a `Status` is shown to people: the parts of `parley status` and `parley top`. Nothing here waits or asks."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from bridge.cli_shared import plain
from bridge.protocol import ModelLoad, SessionStatus, Status

BAR_WIDTH = 10
MAX_NAME = 40
NARROW_WIDTH = 110
"""Columns of what is printed to a file or a pipe."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A status and when it was true."""

    status: Status
    at: float
    """Seconds on a clock that only goes on."""


def console() -> Console:
    """Stdout, for texts as they are: no markup, no emoji codes, no highlighting."""
    made = Console(markup=False, emoji=False, highlight=False)
    if not made.is_terminal:
        made.width = NARROW_WIDTH
    return made


def tokens_per_s(before: Sample | None, now: Sample) -> float | None:
    """Tokens generated a second between two samples; None where there is nothing to compare."""
    if before is None or now.at <= before.at:
        return None
    return max(now.status.tokens_generated - before.status.tokens_generated, 0) / (now.at - before.at)


def frame(now: Sample, before: Sample | None = None, *, encoding: str = "utf-8", most_rows: int = 1000) -> Group:
    """All of a status. `most_rows`: of each table; what is more is counted."""
    status = now.status
    letters = _Letters(encoding)
    parts: list[RenderableType] = [*_summary(status, tokens_per_s(before, now)), Text()]
    sessions = sorted(status.sessions, key=lambda row: (-row.busy, -row.agents, row.session_id))
    parts += _sessions(sessions[:most_rows], len(sessions) - most_rows, letters)
    if status.models:
        parts += [Text(), *_models(status.models[:most_rows], len(status.models) - most_rows, letters)]
    if status.errors:
        errors = sorted(status.errors, key=lambda row: -row.count)
        told = ", ".join(f"{row.code} {plain(row.name)}: {row.count}" for row in errors[:most_rows])
        parts += [Text(), Text(f"errors by code: {told}")]
    return Group(*parts)


def _summary(status: Status, rate: float | None) -> list[Text]:
    lines = [f"parley {plain(status.version)}, up {duration(status.uptime_s)}"]
    if not status.is_whole:
        return [
            Text(lines[0], style="bold"),
            Text("Only this session is shown: the sidecar's own token was not given."),
        ]
    lines[0] += f", pid {status.pid}"
    facts = [f"{size(status.rss_bytes)} in memory", f"{status.threads} threads"]
    facts += [f"{status.open_files} open files"] if status.open_files else []
    ended = status.turns_succeeded + status.turns_failed + status.turns_cancelled
    lines += [
        ", ".join(facts),
        f"{_count(len(status.sessions), 'session')}, {_count(status.agents, 'agent')}, {status.busy_agents} busy",
        f"turns: {status.turns_started} begun, {status.turns_succeeded} succeeded, {status.turns_failed} failed, "
        f"{status.turns_cancelled} cancelled, {status.turns_started - ended} running",
    ]
    read = status.tokens_evaluated + status.tokens_cached
    reused = f" ({100 * status.tokens_cached / read:.0f} % of prompts)" if read else ""
    speed = "" if rate is None else f" ({rate:.1f}/s)"
    lines.append(
        f"tokens: {status.tokens_generated:,} generated{speed}, {status.tokens_evaluated:,} read, "
        f"{status.tokens_cached:,} reused{reused}"
    )
    return [Text(line, style="bold" if not index else "") for index, line in enumerate(lines)]


def _table(*columns: str, right: Sequence[str] = ()) -> Table:
    table = Table(box=None, pad_edge=False, show_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for column in columns:
        number = column in right
        table.add_column(column, justify="right" if number else "left", no_wrap=True, overflow="ellipsis")
    return table


def _sessions(rows: Sequence[SessionStatus], more: int, letters: _Letters) -> list[RenderableType]:
    numbers = ("agents", "busy", "unconfirmed", "kept")
    table = _table("session", "game", "client", "", *numbers, right=numbers)
    for row in rows:
        table.add_row(
            *(letters.text(text) for text in (row.session_id, row.game_name, row.client)),
            Text("" if row.attached else "detached"),
            *(Text(str(count)) for count in (row.agents, row.busy, row.unacknowledged)),
            Text(size(row.waiting_bytes)),
        )
    return [table, *_rest(more, "sessions")]


def _models(rows: Sequence[ModelLoad], more: int, letters: _Letters) -> list[RenderableType]:
    numbers = ("users", "memory", "waiting", "reading", "running")
    table = _table("model", "backend", *numbers, "in context", "parked", right=numbers)
    for row in rows:
        context = letters.bar(row.residents, row.max_residents)
        parked = letters.bar(row.bytes_parked, row.max_bytes_parked)
        table.add_row(
            letters.text(row.name),
            letters.text(row.backend),
            *(Text(str(value)) for value in (row.users, size(row.bytes_in_memory), row.waiting, row.reading)),
            Text(str(row.running)),
            Text(f"{context} {row.residents}/{row.max_residents}" if row.max_residents else ""),
            Text(f"{parked} {row.parked}, {size(row.bytes_parked)}" if row.max_residents else ""),
        )
    return [table, *_rest(more, "models")]


def _rest(more: int, what: str) -> list[RenderableType]:
    return [Text(f"and {more} more {what}")] if more > 0 else []


class _Letters:
    """What an output of this encoding can show."""

    def __init__(self, encoding: str) -> None:
        self._encoding = encoding
        self._full, self._empty = "█", "░"
        try:
            "█░".encode(encoding)
        except (UnicodeEncodeError, LookupError):
            self._full, self._empty = "#", "."

    def text(self, name: str) -> Text:
        """A name from outside: nothing in it steers a terminal, and its width is known."""
        shown = plain(name if len(name) <= MAX_NAME else name[: MAX_NAME - 1] + "…")
        with contextlib.suppress(LookupError):
            shown = shown.encode(self._encoding, "backslashreplace").decode(self._encoding)
        return Text(shown)

    def bar(self, value: int, whole: int) -> str:
        """A share as a row of blocks, or of letters where there are no blocks."""
        share = min(max(value / whole, 0.0), 1.0) if whole > 0 else 0.0
        # Little is more than nothing.
        full = max(round(share * BAR_WIDTH), 1 if value > 0 and whole > 0 else 0)
        return self._full * full + self._empty * (BAR_WIDTH - full)


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def size(count: int) -> str:
    """Bytes in the unit that suits them."""
    value = float(count)
    for unit in ("B", "KiB", "MiB"):
        if value < 1024:
            return f"{value:.0f} {unit}" if unit == "B" or value >= 100 else f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:.1f} GiB"


def duration(seconds: float) -> str:
    """A time in its two largest units."""
    whole = int(seconds)
    for unit, length, smaller, part in (("d", 86_400, "h", 3600), ("h", 3600, "min", 60), ("min", 60, "s", 1)):
        if whole >= length:
            return f"{whole // length} {unit} {whole % length // part} {smaller}"
    return f"{whole} s"

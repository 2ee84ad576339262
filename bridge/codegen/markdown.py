"""Markdown for generated pages: tables, and texts from elsewhere that must not turn into markup."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_SPECIAL = re.compile(r"[<*\[|]")


def prose(text: str) -> str:
    """A text as it reads: code between backquotes stays, everything else that Markdown would interpret is escaped."""
    parts = text.split("`")
    if len(parts) % 2 == 0:  # a backquote without its partner
        return _escape(text).replace("`", "\\`")
    return "`".join(part if index % 2 else _escape(part) for index, part in enumerate(parts))


def code(text: str) -> str:
    """A text as code, whatever it holds."""
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A table; nothing at all without rows. Cells are Markdown already."""
    body = [f"| {' | '.join(_cell(cell) for cell in row)} |" for row in rows]
    return [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}", *body] if body else []


def anchor(heading: str) -> str:
    """The fragment that a heading of letters, digits, `_` and blanks is reached by."""
    return heading.lower().replace(" ", "-")


def page(mark: str, *blocks: Sequence[str] | str) -> str:
    """A whole page: its mark, then its blocks with a blank line between them; empty blocks are left out."""
    texts = [block if isinstance(block, str) else "\n".join(block) for block in blocks]
    return "\n\n".join([f"<!-- {mark} -->", *(text.strip("\n") for text in texts if text.strip())]) + "\n"


def _escape(text: str) -> str:
    return _SPECIAL.sub(lambda found: "&lt;" if found[0] == "<" else f"\\{found[0]}", text)


def _cell(text: str) -> str:
    """One line, and no bar that would end the cell; a bar in code is escaped too, as GitHub's tables want it."""
    return re.sub(r"(?<!\\)\|", r"\\|", " ".join(text.split("\n")))

"""Leaves a model's thinking out of what a voice says, where the text itself keeps it. Pure."""

from __future__ import annotations

import re

from bridge.answer_text import REASONING_BLOCKS


def _any_of(tags: list[str]) -> re.Pattern[str]:
    return re.compile("|".join(re.escape(tag) for tag in sorted(tags, key=len, reverse=True)), re.IGNORECASE)


def _begun(tags: list[str]) -> re.Pattern[str]:
    """The beginning of one of the tags, at the end of a text."""
    return re.compile(
        f"(?:{_any_of([tag[:end] for tag in tags for end in range(1, len(tag))]).pattern})\\Z", re.IGNORECASE
    )


_CLOSING = {opening.casefold(): _any_of([closing]) for opening, closing in REASONING_BLOCKS}
_OPENS = _any_of([opening for opening, _ in REASONING_BLOCKS])
_ANY_CLOSES = _any_of([closing for _, closing in REASONING_BLOCKS])
_TORN = _begun([tag for block in REASONING_BLOCKS for tag in block])
_LONGEST = max(len(tag) for block in REASONING_BLOCKS for tag in block)


class Thoughts:
    """Goes through a text sentence by sentence: thinking may begin in one and end in another, or never.

    A tag may be torn: what may be the beginning of one goes with the next sentence.
    """

    def __init__(self, *, starts_inside: bool = False) -> None:
        self._closes: re.Pattern[str] | None = _ANY_CLOSES if starts_inside else None
        self._torn = ""

    def without(self, sentence: str, *, is_last: bool = False) -> str:
        """The sentence without what is thought in it."""
        sentence, self._torn = self._torn + sentence, ""
        kept: list[str] = []
        at = 0
        while at < len(sentence):
            if self._closes is None:
                opened = _OPENS.search(sentence, at)
                kept.append(sentence[at : opened.start() if opened else len(sentence)])
                if opened is None:
                    break
                self._closes, at = _CLOSING[opened[0].casefold()], opened.end()
            else:
                closed = self._closes.search(sentence, at)
                if closed is None:
                    break
                self._closes, at = None, closed.end()
        torn = None if is_last else _TORN.search(sentence, max(at, len(sentence) - _LONGEST))
        if torn is not None:
            self._torn = torn[0]
            if self._closes is None:
                kept[-1] = kept[-1].removesuffix(torn[0])
        return " ".join(part for part in kept if part)

"""What a voice says of a text: its words, without stage directions, markup and signs that nobody reads aloud. Pure."""

from __future__ import annotations

import re
import unicodedata

_LINK = re.compile(r"!?\[([^\[\]]{0,300})\]\([^()\s]{0,500}(?: \"[^\"]{0,200}\")?\)")
_TAG = re.compile(
    r"</?(?:a|b|i|u|s|q|p|em|strong|small|sub|sup|br|hr|span|div|code|pre|mark|font|img|h[1-6]|[uo]l|li|t[rdh]|table"
    r"|blockquote)(?: [^<>]{0,300})?/?>",
    re.IGNORECASE,
)
_SCHEME = re.compile(r"\bhttps?://", re.IGNORECASE)
_EMOTICON = re.compile(r"(?<!\S)(?:[:;=]['\u2019]?-?(?:[()\[\]|/\\*]+|[DPpOo])|[xX]D+|<3+)(?!\S)")
_FENCE = re.compile(r"(?m)^[ \t]{0,8}(?:```|~~~)[\w+#-]{0,30}[ \t]{0,8}\r?$")
_HEADING = re.compile(r"(?m)^[ \t]{0,8}(?:#{1,6}|>|[-+\u2022])[ \t]+")
_LONG_DASH = re.compile(r"(?<=\w) ?-{2,3} ?(?=\w)")
_RULE = re.compile(r"-{2,}|={3,}")
_NOTHING_IN_BRACKETS = re.compile(r"\( ?\)")
_SPACE_BEFORE_STOP = re.compile(r" (?=[,.;:!?\u2026)](?!\w))")
_AGAIN = re.compile(r"([,;:])(?: ?[,;:])+")
_LEADING_STOP = re.compile(r"^[,.;:!?] (?=\S)")

_LINE_ENDS = frozenset("\n\r\u2028\u2029")
_SAID_SIGNS = frozenset("+=\u00d7\u00f7\u00b1\u00b0\u2116\u2103\u2109")
_UNSAID = frozenset(
    '*_`~^|\\<>{}[]#\u2022\u00b7\ufffd\u20e3"\u201c\u201d\u201e\u00ab\u00bb\u2039\u203a\u300c\u300d\u300e\u300f'
)
_APOSTROPHES = frozenset("'\u2019\u2018\u201a")
_BETWEEN_NUMBERS = {"*": "\u00d7", "<": "<", ">": ">", "^": "^"}
_JOINERS = frozenset("\u200c\u200d")


class Spoken:
    """Goes through a text sentence by sentence: a stage direction may begin in one and end in another.

    A stage direction stands between single asterisks, or from one to the end of its line.
    """

    def __init__(self, *, speak_actions: bool) -> None:
        self._speak_actions = speak_actions
        self._acting = False
        self._bold = False
        """Within a direction."""
        self._before = "\n"
        """The last character of the sentence before."""

    def of(self, sentence: str) -> str:
        """What is said of it; empty where there is nothing to say."""
        if not sentence:
            return ""
        text = _LINK.sub(r"\1", _EMOTICON.sub(" ", _FENCE.sub("", sentence)))
        text = self._without_actions(_SCHEME.sub("", _TAG.sub(" ", text)))
        text = _RULE.sub(" ", _LONG_DASH.sub(" \u2014 ", _HEADING.sub("", text)))
        text = " ".join(_said(unicodedata.normalize("NFC", text)).split())
        text = _SPACE_BEFORE_STOP.sub("", _NOTHING_IN_BRACKETS.sub("", text))
        text = " ".join(_LEADING_STOP.sub("", _AGAIN.sub(r"\1", text)).split())
        self._before = sentence[-1]
        return text if any(char.isalnum() for char in text) else ""

    def _without_actions(self, text: str) -> str:
        kept: list[str] = []
        index = 0
        while index < len(text):
            char = text[index]
            if char == "*":
                end = index
                while end < len(text) and text[end] == "*":
                    end += 1
                before = text[index - 1] if index else self._before
                kept.append(self._stars(end - index, before, text[end] if end < len(text) else " "))
                if kept[-1] == "*" and not _is_between_numbers(text, index):
                    kept[-1] = " "
                index = end
                continue
            if char in _LINE_ENDS:
                self._acting = self._bold = False
            if self._speak_actions or not self._acting:
                kept.append(char)
            index += 1
        return "".join(kept)

    def _stars(self, count: int, before: str, behind: str) -> str:
        """A run of asterisks: what it leaves, and whether a direction begins or ends with it."""
        if count != 1:
            if self._acting:
                self._acting, self._bold = count == 2, not self._bold
            return " " if count > 2 else ""
        if before.isdigit() and behind.isdigit():
            return "" if self._acting and not self._speak_actions else "*"
        if self._acting:
            self._acting = before.isspace() and behind.isalnum()
            return " "
        if behind.isspace() or (before.isalnum() and not _is_wide(before)):
            return "*"
        self._acting, self._bold = True, False
        return " "


def _said(text: str) -> str:
    said: list[str] = []
    quoted = False
    for index, char in enumerate(text):
        before = text[index - 1] if index else " "
        behind = text[index + 1] if index + 1 < len(text) else " "
        if char in _APOSTROPHES:
            # ‘Go’ loses its quotes; don't and the dogs' keep what is part of the word.
            keeps = before.isalnum() and (behind.isalnum() or not quoted)
            quoted = (behind.isalnum() and not before.isalnum()) or (quoted and keeps)
            said.append("'" if keeps else " ")
        elif char in _UNSAID:
            said.append(_unsaid(text, index, behind))
        elif char in _JOINERS:
            said.append(char if said and _is_letter(before) and _is_letter(behind) else "")
        else:
            said.append(_sign_or_letter(char, said))
    return "".join(said)


def _unsaid(text: str, index: int, behind: str) -> str:
    char = text[index]
    if char in _BETWEEN_NUMBERS and _is_between_numbers(text, index):
        return _BETWEEN_NUMBERS[char]
    return "#" if char == "#" and behind.isdigit() else " "


def _sign_or_letter(char: str, said: list[str]) -> str:
    if char in _SAID_SIGNS:
        return char
    kind = unicodedata.category(char)
    if kind in ("So", "Sk", "Sm", "Cs", "Co", "Cn", "Cc"):
        return " "
    if kind == "Cf" or "\ufe00" <= char <= "\ufe0f":
        return ""
    if kind[0] == "M" and not (said and _is_letter(said[-1][-1:])):
        return ""  # of a sign that is gone
    if "\U0001d400" <= char <= "\U0001d7ff" or ("\uff10" <= char <= "\uff5a" and char.isalnum()):
        return unicodedata.normalize("NFKC", char)  # letters in fancy dress
    return char


def _is_letter(char: str) -> bool:
    return char != "" and unicodedata.category(char)[0] in "LMN"


def _is_wide(char: str) -> bool:
    return unicodedata.east_asian_width(char) in "WF"


def _is_between_numbers(text: str, index: int) -> bool:
    """One blank on each side makes no difference."""
    before = text[max(0, index - 2) : index].rstrip()
    behind = text[index + 1 : index + 3].lstrip()
    return before[-1:].isdigit() and behind[:1].isdigit()

"""Where a sentence ends, found while its text is still being written.

Libraries that cut text into sentences (pysbd, sentencex, syntok) want all of it, and the one that takes a stream
(stream2sentence) strips its sentences, so that joined they are not the text. Here one character decides at a time, so
that it makes no difference in which pieces a text comes.

Pure, and in proportion to the text. White space goes with the sentence before it, and so do signs behind its stop.
"""

from __future__ import annotations

import enum
import unicodedata
from itertools import islice

MOST_CHARS = 400
"""A sentence that is longer is cut at a clause, a word, or at last anywhere: a voice would take its time over it."""
LONGEST = 2 * MOST_CHARS
"""No sentence has more characters, white space and accents included."""
WIDE_WEIGHT = 4
"""What a character of a script without spaces counts against `min_chars`: it says as much as so many letters."""

_ENDS = frozenset(
    ".!?\u2026\u203c\u203d\u2047\u2048\u2049\u061f\u06d4\u0589\u0964\u0965\u104b\u1362\u1367\u17d4\u2753\u2757"
)
_WIDE_ENDS = frozenset("\u3002\uff01\uff1f\uff61\uff0e")
"""Behind these no space is written."""
_PERIODS = frozenset(".\u2026")
_QUOTES = "\"'\u201d\u2019\u201c\u2018\u00bb\u203a\u00ab\u2039\u300d\u300f\uff02\uff07"
_CLOSERS = frozenset(_QUOTES + ")]}*_~`\uff09\u3011\u300b\u3009\uff3d\uff5d")
"""They close when they stand right behind a stop, whichever language opens with them."""
_TWO_FACED = frozenset('"*_~`')
"""They open and close; where no space tells, it is by turns."""
_GOES_ON = frozenset(",;:)]}\u2014\u2013-")
_CLAUSES = frozenset(",;:\u2014\u2013")
_WIDE_CLAUSES = frozenset("\uff0c\u3001\uff1b\uff1a")
_LINE_ENDS = frozenset("\n\r\u2028\u2029\x0b\x0c\x85")
_OPENERS = "\"'\u201c\u2018\u201e\u201a\u00ab\u00bb([{*_-\u2014\u2013\u00a1\u00bf\u300c\uff08"


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_NEVER = _words(
    "mr mrs ms mx dr prof messrs mme mlle e.g i.e eg ie cf vs v viz ca approx resp incl excl esp pp trans z.b d.h u.a "
    "o.\u00e4 bzw evtl ggf vgl sog geb p.ex c.-\u00e0-d q.v"
)
"""They stand within a sentence."""
_TITLES = _words(
    "ste rev hon mgr capt cpt col cmdr comdr gen lt sgt cpl pvt maj adm brig gov sen rep pres supt sra srta dra hr fr "
    "frl herr dipl msgr insp sig dott"
)
"""The same, written with a capital; else they are words."""
_NAMES = _words(
    "st mt ft jr sr sr\u00aa jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thur thurs fri sat "
    "sun ave blvd rd u.s u.k"
)
"""The same, but for a word behind them that begins a sentence."""
_ENDINGS = _words("etc inc ltd co corp bros dept univ assn esq usw km cm kg lb lbs oz hrs min mins est ed al am pm ecc")
"""They stand within a sentence or at its end: a capital behind them decides."""
_NUMBERED = _words("no nr nos art p fig figs vol vols ch sec")
"""Within a sentence where a number follows, else words like others."""
_STARTERS = _words(
    "a after all an and another as at because before but can do don each even every everyone for from go he her here "
    "his how however i if in is it its let later look maybe most my no nobody not nothing now of on once one only or "
    "our perhaps please she since so some someone still take that the their then there these they this those though "
    "today tomorrow too we well what when where which while who why will with yes yet you your"
)
"""With a capital, they hardly go on after an abbreviation."""
_MONTHS = _words(
    "januar j\u00e4nner februar m\u00e4rz april mai juni juli august september oktober november dezember jahrhundert"
)
"""Behind the day's number and its stop."""


class _Verdict(enum.Enum):
    GOES_ON = enum.auto()
    ENDS = enum.auto()
    ENDS_IF_STARTER = enum.auto()
    """Depends on the next word: it ends if that begins sentences."""
    ENDS_UNLESS_MONTH = enum.auto()


class SentenceSplitter:
    """Cuts a text into sentences as it comes. All pieces, joined, are the text.

    A sentence ends behind its stop and what closes with it, once something else than white space follows, or at a line
    break; never with fewer than `min_chars` characters or without a letter or digit, but for the last.
    """

    def __init__(self, min_chars: int = 0) -> None:
        self._min_chars = min_chars
        self._done: list[str] = []
        self._reset()

    def _reset(self) -> None:
        self._open: set[str] = set()
        self._guillemet_open = False
        """A French quotation is open, which puts a space before its end."""
        self._begin()

    def _begin(self) -> None:
        self._chars: list[str] = []
        self._weight = 0
        self._blank = 0
        """White space at the end, which counts once something follows it."""
        self._has_upper = self._has_word = False
        self._next = -1
        """Where the next sentence begins if `_doubt` says so; -1: there is no doubt."""
        self._doubt = _Verdict.GOES_ON
        self._forget_stop()

    def _forget_stop(self) -> None:
        self._stop = -1
        """Where the stops begin that may end this sentence; -1: there are none."""
        self._closed = -1
        """Where what closes with them begins; -1: nothing."""
        self._spaced = False
        """White space stands behind them."""
        self._line_ends = 0

    def feed(self, text: str) -> list[str]:
        """Take more of the text; the sentences that are whole now."""
        for char in text:
            self._take(char)
        done, self._done = self._done, []
        return done

    def finish(self) -> list[str]:
        """The text is over; what is left of it. Then another may begin."""
        self._settle("")
        if self._chars:
            self._end()
        self._reset()
        done, self._done = self._done, []
        return done

    def _take(self, char: str) -> None:
        if len(self._chars) >= LONGEST:
            self._end()
        if self._next >= 0 and not char.isalpha():
            self._settle(char)
        if char.isspace():
            self._space(char)
            return
        if self._chars and not self._blank and (_joins(char) or self._chars[-1] == "\u200d"):
            self._add(char)
            return
        if self._weight >= MOST_CHARS:
            self._cut()
        if self._spaced:
            if not self._closes_after_space(char):
                self._begin_or_go_on(char)
        elif self._stop >= 0 and self._ends_without_space(char):
            self._end()
        self._put(char)

    def _begin_or_go_on(self, char: str) -> None:
        verdict = self._ends_before(char)
        if verdict is _Verdict.ENDS:
            self._end()
            return
        self._forget_stop()
        if verdict is not _Verdict.GOES_ON:
            self._doubt, self._next = verdict, len(self._chars)

    def _settle(self, char: str) -> None:
        """The word that decides is whole, and `char` follows it."""
        at, self._next = self._next, -1
        if at < 0:
            return
        word = "".join(self._chars[at:])
        if self._doubt is _Verdict.ENDS_IF_STARTER:
            ends = word.casefold() in _STARTERS and not (len(word) == 1 and char == ".")
        else:
            ends = word.casefold() not in _MONTHS
        if ends:
            rest, self._chars = self._chars[at:], self._chars[:at]
            self._end()
            self._again(rest)

    def _again(self, chars: list[str]) -> None:
        """Put what was taken into a new sentence; nothing in it ends one."""
        for char in chars:
            if char.isspace():
                self._space(char)
            else:
                if self._spaced:
                    self._forget_stop()
                self._put(char)

    def _space(self, char: str) -> None:
        self._chars.append(char)
        self._blank += 1
        if char in _LINE_ENDS:
            self._open.clear()
            if char != "\n" or len(self._chars) < 2 or self._chars[-2] != "\r":
                self._line_ends += 1
            self._spaced = True
        elif self._stop >= 0:
            self._spaced = True

    def _put(self, char: str) -> None:
        """Add what is no white space to the sentence."""
        if char in _ENDS or char in _WIDE_ENDS:
            if self._stop < 0 or self._closed >= 0:
                self._stop, self._closed = len(self._chars), -1
        elif self._stop >= 0 and (char in _CLOSERS or _is_sign(char)):
            if self._closed < 0:
                self._closed = len(self._chars)
        else:
            self._forget_stop()
        before = self._chars[-1] if self._chars else " "
        if char in _TWO_FACED and char != before:
            self._open ^= {char}
        elif char in "\u00ab\u00bb":
            self._guillemet_open = char == "\u00ab" and before.isspace()
        self._add(char)
        self._has_upper = self._has_upper or char.isupper()
        self._has_word = self._has_word or char.isalnum()

    def _add(self, char: str) -> None:
        self._chars.append(char)
        self._weight += (self._blank if self._weight else 0) + (WIDE_WEIGHT if _is_wide(char) else 1)
        self._blank = 0

    def _end(self) -> None:
        self._done.append("".join(self._chars))
        self._begin()

    # ---- whether it ends here

    def _may_end(self) -> bool:
        return self._has_word and self._weight >= self._min_chars

    def _closes_after_space(self, char: str) -> bool:
        """Signs, and what a French quotation ends with, belong to the stop on their line."""
        if self._stop < 0 or self._line_ends:
            return False
        return _is_sign(char) or (char == "\u00bb" and self._guillemet_open)

    def _ends_before(self, char: str) -> _Verdict:
        """White space stands behind what may end the sentence, and now `char`."""
        if not self._may_end():
            return _Verdict.GOES_ON
        goes_on = char.islower() and self._has_upper
        if self._line_ends > 1 or (self._line_ends and not goes_on):
            return _Verdict.ENDS
        if self._stop < 0 or char in _ENDS or char in _GOES_ON:
            return _Verdict.GOES_ON
        if char.islower() and self._closed >= 0 and not _CLOSERS.isdisjoint(self._chars[self._closed :]):
            return _Verdict.GOES_ON  # “Stop!” he said.
        end = self._closed if self._closed >= 0 else len(self._chars)
        stops = [stop for stop in self._chars[self._stop : end] if stop in _ENDS or stop in _WIDE_ENDS]
        if not _PERIODS.issuperset(stops):
            return _Verdict.ENDS
        if len(stops) > 1 or stops == ["\u2026"]:
            return _Verdict.GOES_ON if char.islower() or char.isdigit() else _Verdict.ENDS
        return _Verdict.GOES_ON if goes_on else self._period_ends_before(char)

    def _period_ends_before(self, char: str) -> _Verdict:
        word = self._word()
        plain = word.casefold()
        if (
            not word
            or plain in _NEVER
            or (plain in _TITLES and word[0].isupper())
            or (self._is_first(word) and _is_list_mark(word))
            or (len(word) == 1 and word.isascii() and word.islower() and word not in "ai")
        ):
            return _Verdict.GOES_ON if word or char.islower() else _Verdict.ENDS
        if self._is_initials(word) or (plain in _NAMES and word[0].isupper()):
            if char == "(" or char.islower() or char.isdigit():
                return _Verdict.GOES_ON
            return _Verdict.ENDS_IF_STARTER if char.isalpha() else _Verdict.ENDS
        if plain in _ENDINGS:
            return _Verdict.ENDS if char.isupper() or not (char.isalnum() or char == "(") else _Verdict.GOES_ON
        if plain in _NUMBERED and char.isdigit():
            return _Verdict.GOES_ON
        if word.isdigit() and len(word) <= 2 and char.isupper():
            return _Verdict.ENDS_UNLESS_MONTH
        return _Verdict.ENDS

    def _ends_without_space(self, char: str) -> bool:
        """Behind the stops of scripts without spaces, once neither another stop nor anything that closes follows."""
        if char in _ENDS or char in _WIDE_ENDS or _is_sign(char) or not self._may_end():
            return False
        if char in _CLOSERS and (char not in _TWO_FACED or char in self._open or char == self._chars[-1]):
            return False
        end = self._closed if self._closed >= 0 else len(self._chars)
        stop, before = self._chars[end - 1], self._chars[self._stop - 1] if self._stop else ""
        if stop == "\uff0e" and char.isdigit():
            return False
        if stop in _WIDE_ENDS:
            return not (char == "\u3068" and self._chars[-1] in _QUOTES)  # 「…」と言った
        return stop in ".!?" and _is_wide(char) and before != "" and _is_wide(before)

    def _word(self) -> str:
        """What stands before the stop, without what opens it."""
        first = self._stop
        while first > 0 and not self._chars[first - 1].isspace():
            first -= 1
        return "".join(self._chars[first : self._stop]).lstrip(_OPENERS)

    def _is_first(self, word: str) -> bool:
        """Whether nothing but it stands before the stop."""
        return not any(char.isalnum() for char in islice(self._chars, self._stop - len(word)))

    def _is_initials(self, word: str) -> bool:
        """One capital, or letters with stops between such as `U.S` or `Ph.D`; not the pronoun at a sentence's end."""
        letters = word.split(".")
        if len(letters) > 1:
            return all(letter.isalpha() and len(letter) <= 2 for letter in letters)
        before = self._chars[self._stop - 3] if self._stop >= 3 else ""
        return len(word) == 1 and word.isupper() and (word != "I" or before == ".")

    # ---- too long

    def _cut(self) -> None:
        """Cut behind the last clause, else the last word, else here."""
        chars = self._chars
        at = 0
        for index in range(len(chars) - 1, len(chars) // 4, -1):
            before = chars[index - 1]
            if before in _WIDE_CLAUSES:
                at = index
                break
            if chars[index].isspace() and not before.isspace():
                if before in _CLAUSES:
                    at = index + 1
                    break
                at = at or index + 1
        at = at or len(chars)
        rest, self._chars = chars[at:], chars[:at]
        self._end()
        self._again(rest)


def _is_wide(char: str) -> bool:
    return unicodedata.east_asian_width(char) in "WF" and unicodedata.category(char)[0] != "S"


def _is_sign(char: str) -> bool:
    return unicodedata.category(char) == "So" and char != "\u2116"


def _joins(char: str) -> bool:
    """It belongs to the character before it: accents, variation selectors, joiners."""
    return unicodedata.category(char) in ("Mn", "Mc", "Me", "Cf") or "\U0001f3fb" <= char <= "\U0001f3ff"


def _is_list_mark(word: str) -> bool:
    return (
        (word.isdigit() and len(word) <= 3)
        or (len(word) == 1 and word.isalpha() and word.isascii())
        or (len(word) <= 5 and set(word) <= set("IVX"))
    )

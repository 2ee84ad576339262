"""Whether a recording says its text: a recogniser writes down what it hears, and the words are compared.

The recogniser is pocketsphinx with the American English model that its package brings: acoustic model, dictionary and
language model as they are. It is told nothing of the text, no word list and no grammar, so it cannot hear what it
expects. Names that its dictionary lacks it always gets wrong, and small words now and then. Measured with
starter-voice: 11 % of the words of `PLAIN` are wrong, 24 % of those of the tavern's lore, and 34 % of what its
characters say on the starter model, each at a pace of its own. Silence, another recording, and sound whose pieces are
doubled or out of order have 90 % and more.
"""

from __future__ import annotations

import math
import re
import unicodedata
import wave
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Samples = NDArray[np.float64]

BOUND = 0.25
"""Share of the words of a few plain sentences that may be heard wrong. One sentence of three that is lost has 33 %."""
HEARD_RATE = 16_000
"""Samples a second that the recogniser's model was made for."""

PLAIN = (
    "The stew tonight is mutton with barley.",
    "A bowl with bread costs two coppers.",
    "There is one free room over the stable.",
    "The bridge on the north road is broken.",
    "Wolves have been heard in the north wood.",
    "Nobody walks there after dark.",
    "The market is held on the square every third day.",
    "She mends swords and shoes horses by the east gate.",
    "The healer lives in the blue house by the well.",
    "Good evening, stranger, come in out of the rain.",
    "I have not seen your brother since last winter.",
    "The harbor master takes a toll from every boat.",
    "You can sleep here if you help me in the kitchen.",
    "Give me your hand and watch your step.",
    "The old king died before his son was born.",
    "We have fish, bread, cheese and apples.",
    "Do you want to hear a song about the sea?",
    "The river is too high to cross today.",
    "My father built this house with his own hands.",
    "Keep your voice down, somebody is listening.",
)


@dataclass(frozen=True, slots=True)
class Recording:
    """Mono sound, signed 16 bits, little end first."""

    sound: bytes
    rate: int

    @classmethod
    def read(cls, path: Path) -> Recording:
        with wave.open(str(path), "rb") as file:
            assert (file.getnchannels(), file.getsampwidth()) == (1, 2), f"{path} is not mono with 16 bits"
            return cls(file.readframes(file.getnframes()), file.getframerate())


class Recogniser:
    """Writes down what a recording says. Deterministic; about six times as fast as the recording."""

    def __init__(self, pocketsphinx: Any) -> None:
        """Takes the module, which not every machine has."""
        self._decoder = pocketsphinx.Decoder(loglevel="FATAL")

    def hear(self, recording: Recording) -> str:
        samples = np.frombuffer(recording.sound, "<i2").astype(np.float64)
        quiet = np.zeros(HEARD_RATE // 4)
        heard = np.concatenate([quiet, resampled(samples, recording.rate, HEARD_RATE), quiet])
        self._decoder.start_utt()
        self._decoder.process_raw(np.clip(np.rint(heard), -32768, 32767).astype("<i2").tobytes(), full_utt=True)
        self._decoder.end_utt()
        found = self._decoder.hyp()
        return "" if found is None else str(found.hypstr)


def assert_intelligible(said: str, heard: str, bound: float = BOUND) -> None:
    """Raises AssertionError where more of the words are wrong than the bound allows."""
    wrong = error_rate(said, heard)
    assert wrong <= bound, f"{wrong:.0%} of the words are wrong: {said!r} was heard as {heard!r}"


def error_rate(said: str, heard: str) -> float:
    """Words that are missing, other or too many, for each word that was said; over 1 where much too much is heard."""
    wanted, found = words(said), words(heard)
    return edits(wanted, found) / max(1, len(wanted))


def edits(wanted: list[str], found: list[str]) -> int:
    """The fewest words to put in, take out or change (Levenshtein)."""
    row = list(range(len(found) + 1))
    for number, word in enumerate(wanted, 1):
        above, row = row, [number]
        for column, other in enumerate(found, 1):
            row.append(min(above[column] + 1, row[-1] + 1, above[column - 1] + (word != other)))
    return row[-1]


def words(text: str) -> list[str]:
    """The words as they are said: lower case, without punctuation and apostrophes, numbers written out."""
    plain = unicodedata.normalize("NFKD", text).casefold()
    plain = "".join(char for char in plain if unicodedata.category(char) not in ("Mn", "Cf"))
    plain = re.sub(r"(?<=\d),(?=\d{3}\b)|['\u2019]", "", plain)
    plain = re.sub(r"\d+", lambda found: f" {in_words(int(found[0]))} ", plain)
    return re.findall(r"[a-z]+", plain)


# fmt: off
_SMALL = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
# fmt: on


def in_words(number: int) -> str:
    """A whole number as it is read; from a million on digit by digit."""
    if number >= 1_000_000:
        return " ".join(_SMALL[int(digit)] for digit in str(number))
    for size, name in ((1000, "thousand"), (100, "hundred")):
        if number >= size:
            rest = f" {in_words(number % size)}" if number % size else ""
            return f"{in_words(number // size)} {name}{rest}"
    if number < 20:
        return _SMALL[number]
    return _TENS[number // 10 - 2] + (f" {_SMALL[number % 10]}" if number % 10 else "")


def resampled(samples: Samples, rate: int, to_rate: int, *, reach: int = 32) -> Samples:
    """The same sound with another number of samples a second, nothing above either's half.

    Polyphase: a windowed sinc, of which every output sample takes the coefficients that meet an input sample. `reach`:
    zero crossings of the sinc on each side.
    """
    common = math.gcd(rate, to_rate)
    up, down = to_rate // common, rate // common
    if up == down or not len(samples):
        return samples
    slow = max(up, down)
    half = reach * slow
    at = np.arange(-half, half + 1)
    taps = up * 0.94 / slow * np.sinc(0.94 * at / slow) * np.kaiser(2 * half + 1, 8.0)
    count = -(-len(samples) * up // down)
    out = np.zeros(count)
    steps = np.arange(count) * down
    width = 2 * half // up + 1
    padded = np.concatenate([np.zeros(width), samples, np.zeros(width)])
    last = (steps + half) // up  # of the input samples that each output sample meets
    for back in range(width):
        place = last - back
        coefficient = steps - place * up + half
        inside = (coefficient >= 0) & (coefficient <= 2 * half)
        out[inside] += taps[coefficient[inside]] * padded[np.clip(place[inside] + width, 0, len(padded) - 1)]
    return out

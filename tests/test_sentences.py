"""Where sentences end: a table of texts, each fed whole and in pieces, and what holds for any text."""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.sentences import LONGEST, MOST_CHARS, SentenceSplitter

CASES: list[dict[str, Any]] = json.loads(
    (Path(__file__).parent / "vectors" / "sentences.json").read_text(encoding="utf-8")
)
TELLING = st.text(st.sampled_from(list("aAbI1 \n\r.!?…,;:-*_\"'()«»“”。！「」と好🙂é\u0301\u200d\ud800\x00")))
"""Texts of what the rules look at."""


def split(pieces: list[str], min_chars: int = 0) -> list[str]:
    splitter = SentenceSplitter(min_chars)
    found = [sentence for piece in pieces for sentence in splitter.feed(piece)]
    return found + splitter.finish()


def at_random(text: str, chance: random.Random) -> list[str]:
    pieces = []
    while text:
        size = chance.choice((1, 1, 2, 3, 5, 8, 40))
        pieces.append(text[:size])
        text = text[size:]
    return pieces


def test_the_table_is_large_and_its_names_differ() -> None:
    assert len(CASES) >= 160
    assert len({case["name"] for case in CASES}) == len(CASES)
    assert all("".join(case["sentences"]) == case["text"] for case in CASES)


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["name"]))
def test_a_text_is_cut_as_a_reader_would(case: dict[str, Any]) -> None:
    text, min_chars, wanted = case["text"], case["min_chars"], case["sentences"]
    assert split([text], min_chars) == wanted
    assert split(list(text), min_chars) == wanted
    chance = random.Random(case["name"])
    for _ in range(5):
        assert split(at_random(text, chance), min_chars) == wanted


@given(text=TELLING | st.text(), min_chars=st.sampled_from((0, 3, 12, 40)), seed=st.integers(0, 2**32))
def test_pieces_make_no_difference_and_joined_are_the_text(text: str, min_chars: int, seed: int) -> None:
    whole = split([text], min_chars)
    assert "".join(whole) == text
    assert "" not in whole
    assert split(at_random(text, random.Random(seed)), min_chars) == whole


@given(text=TELLING, min_chars=st.sampled_from((3, 12, 40)))
def test_only_the_last_sentence_is_short_or_without_a_word(text: str, min_chars: int) -> None:
    for sentence in split([text], min_chars)[:-1]:
        assert any(char.isalnum() for char in sentence)
        assert sum(4 if char in "好。！「」と" else 1 for char in sentence.strip()) >= min_chars


@pytest.mark.parametrize(
    "text",
    [
        "x" * 5000,
        "好" * 5000,
        "\u0301" * 5000,
        "e" + "\u0301" * 5000,
        " " * 5000,
        "." * 5000,
        "🙂" * 5000,
        "! " * 2500,
        "A. " * 2000,
        "word, " * 900,
        '!"' * 2500,
        "\u200d" * 5000,
        "U.S. He\u0301" * 700,
        "a " * 2500,
        "1. " * 1700,
    ],
)
def test_no_sentence_is_longer_than_the_longest(text: str) -> None:
    sentences = split([text])
    assert "".join(sentences) == text
    assert max(map(len, sentences)) <= LONGEST


def test_an_accent_stays_with_its_letter_where_a_long_word_is_cut() -> None:
    sentences = split(["e\u0301" * 1000])
    assert len(sentences) > 1
    assert all(sentence.startswith("e") and len(sentence) <= MOST_CHARS + 1 for sentence in sentences)


def test_a_sentence_comes_out_with_the_next_one_s_first_letter() -> None:
    splitter = SentenceSplitter(12)
    assert splitter.feed("The inn is full. ") == []
    assert splitter.feed("T") == ["The inn is full. "]
    assert splitter.feed("ry elsewhere.") == []
    assert splitter.finish() == ["Try elsewhere."]


def test_a_splitter_takes_another_text_when_one_is_over() -> None:
    splitter = SentenceSplitter()
    assert splitter.feed("« Oui. Non") + splitter.finish() == ["« Oui. ", "Non"]
    assert splitter.feed("A! »B") + splitter.finish() == ["A! ", "»B"]
    assert splitter.finish() == []


def steps_of(text: str) -> int:
    """Calls it takes, those of built-in functions included."""
    count = 0

    def note(frame: FrameType, event: str, arg: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    splitter = SentenceSplitter(12)
    before = sys.getprofile()
    sys.setprofile(note)
    try:
        for char in text:
            splitter.feed(char)
        splitter.finish()
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize("piece", ["x", "word ", "\u0301", "好", "A. ", "1. a ", '" ', "Mr. ", "* ", "a.", "U.S. He "])
def test_work_is_in_proportion_to_the_text(piece: str) -> None:
    short = steps_of(piece * (2_000 // len(piece)))
    long = steps_of(piece * (8_000 // len(piece)))
    assert long < short * 4.4


@pytest.mark.thorough
def test_a_hundred_thousand_letters_cost_a_few_steps_each() -> None:
    assert steps_of("x" * 100_000) < 25 * 100_000

"""The tokenizer's rules on a vocabulary made for them: no space in mid-text, no marker out of plain text."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bridge.engine import Segment
from tests.gguf_writer import bpe_vocabulary, spm_vocabulary

pytest.importorskip("llama_cpp", reason="needs llama.cpp (the `llama` extra)")

from bridge.engines.llama_library import lib
from bridge.engines.llama_vocabulary import LlamaVocabulary
from bridge.errors import InferenceFailed

WORDS = ["\u2581hello", "hello", "\u2581the", "the", "\u2581re", "re", "<", "call", ">", "\n"]
TEMPLATE = "{{ '<call>' }}{{ '<s>' }}"


@pytest.fixture(params=[True, False], ids=["space prefix", "no space prefix"])
def vocabulary(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[LlamaVocabulary]:
    path = tmp_path / "vocabulary.gguf"
    more: dict[str, Any] = {"tokenizer.ggml.add_space_prefix": request.param}
    path.write_bytes(spm_vocabulary(WORDS, ["<turn>"], ["<call>", "<b>"], **more))
    params = lib.llama_model_default_params()
    params.vocab_only = True
    model = lib.llama_model_load_from_file(str(path).encode(), params)
    assert model
    yield LlamaVocabulary(model, TEMPLATE)
    lib.llama_model_free(model)


def shown(vocabulary: LlamaVocabulary, *segments: Segment) -> str:
    return b"".join(map(vocabulary.piece, vocabulary.tokenize(segments))).decode()


def test_only_text_at_the_start_or_behind_a_control_token_gets_the_space(
    vocabulary: LlamaVocabulary, request: pytest.FixtureRequest
) -> None:
    space = " " if "no space" not in request.node.name else ""
    turn = Segment("<turn>", (vocabulary.markers["<turn>"],))
    hello = tuple(vocabulary.tokenize([Segment("hello")]))
    assert shown(vocabulary, Segment("hello")) == space + "hello"
    assert shown(vocabulary, Segment("hello"), Segment("the"), Segment(" re")) == space + "hellothe re"
    assert shown(vocabulary, turn, Segment("hello"), Segment("re")) == space + "hellore"
    assert shown(vocabulary, Segment("hello", hello), Segment("the")) == space + "hellothe"
    assert shown(vocabulary, Segment(""), Segment("hello")) == space + "hello"


def test_markers_are_known_but_never_found_in_plain_text(vocabulary: LlamaVocabulary) -> None:
    assert {"<turn>", "<call>", "<s>", "</s>"} <= set(vocabulary.markers)
    assert "<b>" not in vocabulary.markers
    for text in ("<turn>", "<call>", "the<call>re", "<call><call>", "</s>", "<s>"):
        tokens = vocabulary.tokenize([Segment("hello"), Segment(text)])
        assert not set(tokens) & set(vocabulary.markers.values()), text
        assert b"".join(map(vocabulary.piece, tokens)).decode().lstrip() == "hello" + text


def test_the_marks_of_calls_show_though_they_are_control_tokens(tmp_path: Path) -> None:
    marks = ["[TOOL_CALLS]", "<|python_tag|>", "<tool_call>", "</tool_call>", "<|im_end|>"]
    path = tmp_path / "vocabulary.gguf"
    path.write_bytes(bpe_vocabulary(["<s>", "<unused>", *marks], bos=0, eos="<|im_end|>"))
    params = lib.llama_model_default_params()
    params.vocab_only = True
    model = lib.llama_model_load_from_file(str(path).encode(), params)
    assert model
    try:
        vocabulary = LlamaVocabulary(model, "")
        assert [vocabulary.piece(vocabulary.markers[mark]).decode() for mark in marks] == marks
        assert vocabulary.piece(vocabulary.markers["<unused>"]) == b""
        firsts, seconds, singles = vocabulary.leading_bytes
        mark = vocabulary.markers["[TOOL_CALLS]"]
        assert (firsts[mark], seconds[mark]) == (ord("["), ord("T"))
        assert firsts[vocabulary.markers["<|im_end|>"]] == 257
        assert sorted(vocabulary.piece(int(token)) for token in singles) == [bytes([byte]) for byte in range(256)]
        for token in range(256):
            assert (bytes([firsts[token]]), seconds[token]) == (vocabulary.piece(token), 256)
    finally:
        lib.llama_model_free(model)


def test_ends_and_bos(vocabulary: LlamaVocabulary) -> None:
    assert vocabulary.is_end(vocabulary.markers["</s>"])
    assert not vocabulary.is_end(vocabulary.markers["<turn>"])
    assert vocabulary.bos == vocabulary.markers["<s>"]


def test_any_text_survives(vocabulary: LlamaVocabulary) -> None:
    for text in ("\ud800", "a\0b", "🏋️‍♂️", "x" * 300):
        tokens = vocabulary.tokenize([Segment("hello"), Segment(text)])
        assert b"".join(map(vocabulary.piece, tokens)).decode().lstrip()[5:] == text.replace("\ud800", "?")


def test_an_unloaded_model_tokenizes_nothing(vocabulary: LlamaVocabulary) -> None:
    vocabulary.closed = True
    with pytest.raises(InferenceFailed, match="was unloaded"):
        vocabulary.tokenize([Segment("hello")])

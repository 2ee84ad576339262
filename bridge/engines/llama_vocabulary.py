"""The tokenizer of a GGUF model: text in pieces that can never become control tokens, and back."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from bridge.answer_text import END_MARKERS, REASONING_BLOCKS, SILENT_MARKERS
from bridge.engine import Segment
from bridge.engines.llama_library import lib
from bridge.errors import InferenceFailed

_MARKUP = (*END_MARKERS, *SILENT_MARKERS, *(tag for pair in REASONING_BLOCKS for tag in pair))
Shorts = npt.NDArray[np.int16]

_SENTINEL = "\U0010fffd"
"""A character that no vocabulary has as a token of its own, so that nothing merges with it."""


class LlamaVocabulary:
    """A `Vocabulary` over llama.cpp's. Threading: safe from any thread until the model is freed."""

    def __init__(self, model: Any, chat_template: str) -> None:
        self.closed = False
        self.handle: Any = lib.llama_model_get_vocab(model)
        """llama.cpp's own; good until the model is freed."""
        self.size = lib.llama_vocab_n_tokens(self.handle)
        bos = int(lib.llama_vocab_bos(self.handle))
        self.bos: int | None = bos if bos >= 0 and lib.llama_vocab_get_add_bos(self.handle) else None
        eos = int(lib.llama_vocab_eos(self.handle))
        self.eos: int | None = eos if eos >= 0 else None
        self._pieces: list[bytes | None] = [None] * self.size
        markers: dict[str, int] = {}
        guarded: list[str] = []
        ends: set[int] = {int(lib.llama_vocab_eos(self.handle)), int(lib.llama_vocab_eot(self.handle))} - {-1}
        for token in range(self.size):
            kind = lib.llama_vocab_get_attr(self.handle, token)
            if not kind & (lib.LLAMA_TOKEN_ATTR_CONTROL | lib.LLAMA_TOKEN_ATTR_USER_DEFINED):
                continue
            text = self._text(token)
            if kind & lib.LLAMA_TOKEN_ATTR_CONTROL:
                self._pieces[token] = text.encode() if any(text in tag for tag in _MARKUP if len(text) > 1) else b""
            elif len(text) > 2 and text[0] in "<[" and text in chat_template:
                # llama.cpp finds such tokens in plain text too; `_parts` breaks them up there.
                guarded.append(text)
            else:
                continue
            if text:
                markers[text] = token
            if lib.llama_vocab_is_eog(self.handle, token):
                ends.add(token)
        self.markers: Mapping[str, int] = markers
        self._special = frozenset(markers.values())
        self._ends = frozenset(ends)
        self._guarded = re.compile("|".join(map(re.escape, guarded))) if guarded else None
        # A SentencePiece vocabulary may put a space before every text; one that continues another must not get it.
        first = self._plain("a")[:1]
        prefixes = bool(first) and self.piece(first[0]).startswith(b" ")
        self._sentinel = self._plain(_SENTINEL) if prefixes else None

    def tokenize(self, segments: Sequence[Segment]) -> list[int]:
        tokens: list[int] = []
        begins = True  # nothing stands before the text, or a control token does
        for segment in segments:
            if segment.tokens is not None:
                tokens.extend(segment.tokens)
                if segment.tokens:
                    begins = segment.tokens[-1] in self._special
                continue
            for part in self._parts(segment.text):
                tokens.extend(self._plain(part) if begins else self._continued(part))
                begins = False
        return tokens

    def piece(self, token: int) -> bytes:
        known = self._pieces[token]
        if known is None:
            known = self._pieces[token] = self._read_piece(token)
        return known

    @cached_property
    def leading_bytes(self) -> tuple[Shorts, Shorts, npt.NDArray[np.int32]]:
        """By token the first and the second byte of what it is to a grammar (256: none, 257: an end); by byte a token
        that is just that byte (-1: none). Looks at every token once: 0.4 s for 262,144 of them."""
        firsts = np.full(self.size, 256, np.int16)
        seconds = np.full(self.size, 256, np.int16)
        singles = np.full(256, -1, np.int32)
        buffer = ctypes.create_string_buffer(256)
        read, handle = lib.llama_token_to_piece, self.handle
        for token in range(self.size):
            length = read(handle, token, buffer, 256, 0, True)
            if length > 0:
                firsts[token] = first = ord(buffer[0])
                if length > 1:
                    seconds[token] = ord(buffer[1])
                else:
                    singles[first] = token
        firsts[list(self._ends)] = 257
        return firsts, seconds, singles

    def is_end(self, token: int) -> bool:
        return token in self._ends

    def _parts(self, text: str) -> Iterator[str]:
        """The text, broken up inside every marker that llama.cpp would otherwise find in it."""
        start = 0
        for found in self._guarded.finditer(text) if self._guarded else ():
            cut = found.start() + 1
            yield text[start:cut]
            start = cut
        if start < len(text):
            yield text[start:]

    def _continued(self, text: str) -> list[int]:
        if self._sentinel is None:
            return self._plain(text)
        return self._plain(_SENTINEL + text)[len(self._sentinel) :]

    def _plain(self, text: str) -> list[int]:
        if self.closed:
            raise InferenceFailed("the model was unloaded")
        data = text.encode("utf-8", "replace")
        room = len(data) + 8  # a token has at least one byte, but for a space put before the text
        tokens = (lib.llama_token * room)()
        count = lib.llama_tokenize(self.handle, data, len(data), tokens, room, False, False)
        if count < 0:
            tokens = (lib.llama_token * -count)()
            count = lib.llama_tokenize(self.handle, data, len(data), tokens, -count, False, False)
        return tokens[:count]

    def _read_piece(self, token: int) -> bytes:
        buffer = ctypes.create_string_buffer(64)
        size = lib.llama_token_to_piece(self.handle, token, buffer, len(buffer), 0, False)
        if size < 0:
            buffer = ctypes.create_string_buffer(-size)
            size = lib.llama_token_to_piece(self.handle, token, buffer, len(buffer), 0, False)
        return buffer.raw[:size]

    def _text(self, token: int) -> str:
        text = lib.llama_vocab_get_text(self.handle, token)
        return text.decode("utf-8", "replace") if text else ""

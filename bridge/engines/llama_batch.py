"""Tokens on their way into llama.cpp: one batch, filled anew for every decode."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

from bridge.engines.backend import Slice
from bridge.engines.llama_library import lib


class Batch:
    """One llama_batch over arrays of its own, filled anew for every decode."""

    def __init__(self, capacity: int, sequences: int) -> None:
        self.rows: list[int] = []
        """By row of logits: the index in the batch."""
        # Any: ctypes takes any sequence for a slice, its annotations only lists.
        self._token: Any = (lib.llama_token * capacity)()
        self._pos: Any = (lib.llama_pos * capacity)()
        self._counts = (ctypes.c_int32 * capacity)(*([1] * capacity))
        self._logits = (ctypes.c_int8 * capacity)()
        self._ids = (lib.llama_seq_id * sequences)(*range(sequences))
        base = ctypes.addressof(self._ids)
        # Plain addresses: a ctypes array of pointers would keep a Python object alive for every element.
        self._address = [base + seq * ctypes.sizeof(lib.llama_seq_id) for seq in range(sequences)]
        self._seq_id = (ctypes.c_size_t * capacity)()
        batch = lib.llama_batch()
        for name, array in (
            ("token", self._token), ("pos", self._pos), ("n_seq_id", self._counts), ("seq_id", self._seq_id),
            ("logits", self._logits),
        ):  # fmt: skip
            setattr(batch, name, ctypes.cast(array, type(getattr(batch, name))))
        self._batch = batch

    def fill(self, slices: Sequence[Slice]) -> lib.llama_batch:
        token, pos, seq_id, logits = self._token, self._pos, self._seq_id, self._logits
        for index in self.rows:
            logits[index] = 0
        rows = []
        at = 0
        for seq, start, tokens, want_logits in slices:
            count = len(tokens)
            if count == 1:
                token[at] = tokens[0]
                pos[at] = start
                seq_id[at] = self._address[seq]
                at += 1
            else:
                end = at + count
                token[at:end] = tokens
                pos[at:end] = range(start, start + count)
                seq_id[at:end] = [self._address[seq]] * count
                at = end
            if want_logits:
                rows.append(at - 1)
                logits[at - 1] = 1
        self.rows = rows
        self._batch.n_tokens = at
        return self._batch

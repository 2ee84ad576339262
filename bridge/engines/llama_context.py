"""One llama.cpp context: the cache of some sequences, and what may be done to it."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from bridge.engines.backend import Parked, Slice
from bridge.engines.llama_batch import Batch
from bridge.engines.llama_library import lib, listening, trouble
from bridge.engines.llama_model import buffer_bytes
from bridge.engines.llama_sampling import Logits
from bridge.errors import InferenceFailed, ModelLoadFailed


class Context:
    """Made for exactly the sequences 0 to `sequences` - 1. Owns llama.cpp's context and its batch, not the model."""

    def __init__(self, model: Any, params: lib.llama_context_params, *, sequences: int) -> None:
        """Raises ModelLoadFailed, in llama.cpp's words, where there is no room."""
        self.pointer: Any = None
        self._window = int(lib.llama_model_n_swa(model))
        self._cuttable = not (lib.llama_model_is_recurrent(model) or lib.llama_model_is_hybrid(model))
        self._vocabulary = int(lib.llama_vocab_n_tokens(lib.llama_model_get_vocab(model)))
        self.batch = Batch(params.n_batch, sequences)
        with listening() as lines:
            pointer = lib.llama_init_from_model(model, params)
        if not pointer:
            raise ModelLoadFailed(trouble(lines))
        self.pointer = pointer
        self.memory: Any = lib.llama_get_memory(pointer)
        if not self.memory:
            self.close()
            raise ModelLoadFailed("the model is no language model: it has no memory for a dialog")
        self.bytes = buffer_bytes(lines, "")
        self._cache_bytes = buffer_bytes(lines, "(?:KV|RS) ")

    def decode(self, slices: Sequence[Slice]) -> None:
        """Compute. Raises InferenceFailed."""
        code = lib.llama_decode(self.pointer, self.batch.fill(slices))
        if code:
            cause = "its cache is full" if code == 1 else f"llama.cpp answers {code}"
            raise InferenceFailed(f"the model failed while it was generating: {cause}")

    def logits(self, row: int) -> tuple[int, Logits]:
        """The index in the batch of the last decode's `row`-th slice that wanted logits, and a view of them."""
        index = self.batch.rows[row]
        return index, logits_of(self.pointer, index, self._vocabulary)

    def cut(self, seq: int, length: int) -> int:
        """Keep the first `length` tokens; returns how many are kept, 0 where all had to go."""
        if self.sound_cut(seq, length):
            removed = lib.llama_memory_seq_rm(self.memory, seq, length, -1)
            if removed and lib.llama_memory_seq_pos_max(self.memory, seq) == length - 1:
                return length
        self.clear(seq)
        return 0

    def sound_cut(self, seq: int, length: int) -> bool:
        """Whether a cut leaves all that the next token looks at.

        Layers with a sliding window may hold fewer tokens than the others: a restored copy has the last window's only.
        A cut that leaves them less than a window "succeeds", and the logits behind it are wrong.
        """
        if not self._cuttable:
            return False
        lowest = lib.llama_memory_seq_pos_min(self.memory, seq)
        return bool(lowest == 0 or length - lowest >= self._window > 0)

    def clear(self, seq: int) -> None:
        """Keep nothing of this sequence."""
        lib.llama_memory_seq_rm(self.memory, seq, -1, -1)

    def save(self, seq: int, replay: int, limit: int) -> Parked | None:
        """A copy in host memory; None where it would take more than `limit` bytes. Raises InferenceFailed."""
        length = lib.llama_memory_seq_pos_max(self.memory, seq) + 1
        if self._window and replay < length and self.sound_cut(seq, replay):
            length = self.cut(seq, replay)
        size = lib.llama_state_seq_get_size(self.pointer, seq)
        if size > limit:
            return None
        copy = np.empty(size, np.uint8)
        if not length or lib.llama_state_seq_get_data(self.pointer, _bytes(copy), size, seq) != size:
            raise InferenceFailed("llama.cpp cannot copy this sequence")
        return Parked(length, size, copy)

    def restore(self, seq: int, parked: Parked) -> None:
        """Put a copy into an empty sequence. Raises InferenceFailed."""
        done = lib.llama_state_seq_set_data(self.pointer, _bytes(parked.data), parked.bytes, seq)
        if done != parked.bytes or lib.llama_memory_seq_pos_max(self.memory, seq) != parked.length - 1:
            raise InferenceFailed("llama.cpp cannot put this sequence back")

    def bytes_of(self, tokens: int) -> int:
        """What so many cells take."""
        return tokens * self._cache_bytes // int(lib.llama_n_ctx(self.pointer))

    def close(self) -> None:
        """Idempotent."""
        if self.pointer is not None:
            lib.llama_free(self.pointer)
            self.pointer = None


def logits_of(pointer: Any, index: int, size: int) -> Logits:
    """A view of llama.cpp's own memory: good until the next decode."""
    found = lib.llama_get_logits_ith(pointer, index)
    if not found:
        raise InferenceFailed("llama.cpp has no logits for this token")
    memory: Any = (ctypes.c_float * size).from_address(ctypes.addressof(found.contents))
    view: Logits = np.frombuffer(memory, np.float32)
    return view


def _bytes(array: npt.NDArray[np.uint8]) -> Any:
    return ctypes.cast(array.ctypes.data, ctypes.POINTER(ctypes.c_uint8))

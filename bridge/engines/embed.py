"""Embedding models through llama.cpp: many texts in one batch, a vector for each."""

from __future__ import annotations

import ctypes
import unicodedata
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bridge.config import Settings
from bridge.engine import EngineStatus, Segment, Vectors
from bridge.engines.backend import Slice
from bridge.engines.embed_queue import QueuedEmbedder
from bridge.engines.gguf_file import GgufFacts, read_gguf
from bridge.engines.llama_batch import Batch
from bridge.engines.llama_library import give_back_memory, lib, listening, thread_count, trouble
from bridge.engines.llama_model import Placement, buffer_bytes, place_model
from bridge.engines.llama_vocabulary import LlamaVocabulary
from bridge.errors import InferenceFailed, ModelLoadFailed

MAX_WINDOW = 2048
"""Longest window. A whole batch is computed at once, with memory for all of it, however long its texts are."""

MIN_BATCH = 512
"""Tokens of a batch where the window is shorter. More is slower on a CPU: all texts of a batch are compared with each
other, and what does not belong together is thrown away."""

MAX_TEXTS = 64
"""Texts in one batch."""


def load_embedder(path: Path, *, settings: Settings, progress: Callable[[float], None] | None = None) -> QueuedEmbedder:
    """An embedding model from a GGUF file, ready to embed. Blocking; call it off the event loop.

    `progress` gets shares from 0 to 1, on the calling thread. Raises ModelCorrupt, ModelLoadFailed.
    """
    return QueuedEmbedder(LlamaNetwork.load(path, settings=settings, progress=progress))


class LlamaNetwork:
    """A `Network` over one llama.cpp model and its context. Owns both."""

    def __init__(self, path: Path, model: Any, facts: GgufFacts, placed: Placement, threads: int) -> None:
        """Takes the model over. Raises ModelLoadFailed where no context can be made; the model is freed then."""
        self._model = model
        self._ctx: Any = None
        self._placed = placed
        try:
            self._vocabulary = LlamaVocabulary(model, "")
            word_pieces = lib.llama_vocab_type(self._vocabulary.handle) == lib.LLAMA_VOCAB_TYPE_WPM
            self._decomposes = word_pieces and _strips_accents(facts)
            self._head, self._tail = self._frame()
            trained = int(lib.llama_model_n_ctx_train(model))
            self.dimension = int(lib.llama_model_n_embd_out(model))
            self.max_tokens = min(trained, MAX_WINDOW)
            if trained > MAX_WINDOW:
                self._placed = placed.with_notes(
                    (f"the model was trained for texts of {trained} tokens; here they are cut at {MAX_WINDOW}",)
                )
            self.batch_tokens = max(self.max_tokens, MIN_BATCH)
            self.batch_texts = MAX_TEXTS
            self._batch = Batch(self.batch_tokens, MAX_TEXTS)
            with listening() as lines:
                self._ctx = lib.llama_init_from_model(model, self._parameters(facts, threads))
            if not self._ctx:
                self._ctx = None
                raise ModelLoadFailed(f"no context for {path} can be made: {trouble(lines)}")
            self._memory = lib.llama_get_memory(self._ctx)
            self._context_bytes = buffer_bytes(lines, "")
        except BaseException:
            self.close()
            raise

    @classmethod
    def load(cls, path: Path, *, settings: Settings, progress: Callable[[float], None] | None = None) -> LlamaNetwork:
        """The network of `load_embedder`."""
        facts = read_gguf(path)
        if not facts.embeds:
            raise ModelLoadFailed(
                f"{path} is a language model, not an embedding model; its catalog entry needs the type 'language'"
            )
        if facts.pooling == lib.LLAMA_POOLING_TYPE_RANK:
            raise ModelLoadFailed(f"{path} is a model that ranks texts; it makes no vectors")
        threads = thread_count(settings.n_threads)

        def make(model: Any, placed: Placement) -> LlamaNetwork:
            return cls(path, model, facts, placed, threads)

        return place_model(path, facts.layers, settings.n_gpu_layers, progress, make)

    # ---- Network

    def tokenize(self, text: str) -> tuple[list[int], bool]:
        if not text or text.isspace():
            return [], False
        if self._decomposes:
            # llama.cpp takes accents off letters, but does not take syllables of Hangul apart as the model expects.
            text = unicodedata.normalize("NFD", text)
        tokens = self._vocabulary.tokenize([Segment(text)])
        if not tokens:
            return [], False
        room = self.max_tokens - len(self._head) - len(self._tail)
        return [*self._head, *tokens[:room], *self._tail], len(tokens) > room

    def compute(self, texts: Sequence[Sequence[int]]) -> Vectors:
        if self._memory:
            lib.llama_memory_clear(self._memory, True)
        filled = self._batch.fill([Slice(seq, 0, tokens, False) for seq, tokens in enumerate(texts)])
        for index in range(filled.n_tokens):
            filled.logits[index] = 1  # else llama.cpp does it itself, with a warning each time
        code = lib.llama_decode(self._ctx, filled)
        if code:
            raise InferenceFailed(f"the embedding model failed: llama.cpp answers {code}")
        rows: Vectors = np.empty((len(texts), self.dimension), np.float32)
        for seq in range(len(texts)):
            pointer = lib.llama_get_embeddings_seq(self._ctx, seq)
            if not pointer:
                raise InferenceFailed("llama.cpp has no vector for this text")
            memory: Any = (ctypes.c_float * self.dimension).from_address(ctypes.addressof(pointer.contents))
            rows[seq] = memory
        return rows

    def status(self) -> EngineStatus:
        return EngineStatus(
            backend=self._placed.backend,
            layers_offloaded=self._placed.layers,
            bytes_in_memory=int(lib.llama_model_size(self._model)) + self._context_bytes,
            notes=self._placed.notes,
        )

    def close(self) -> None:
        if self._ctx is not None:
            lib.llama_free(self._ctx)
            self._ctx = None
        if self._model is not None:
            if hasattr(self, "_vocabulary"):
                self._vocabulary.closed = True
            lib.llama_model_free(self._model)
            self._model = None
            give_back_memory()

    # ---- making it

    def _parameters(self, facts: GgufFacts, threads: int) -> lib.llama_context_params:
        params: lib.llama_context_params = lib.llama_context_default_params()
        params.n_ctx = params.n_batch = params.n_ubatch = self.batch_tokens
        params.n_outputs_max = params.n_outputs_max_per_seq = self.batch_tokens
        params.n_seq_max = MAX_TEXTS
        params.n_threads = params.n_threads_batch = threads
        params.embeddings = True
        if not facts.pooling:
            params.pooling_type = lib.LLAMA_POOLING_TYPE_MEAN
        params.kv_unified = True  # each text may fill the whole batch
        params.no_perf = True
        return params

    def _frame(self) -> tuple[list[int], list[int]]:
        """The tokens that the model wants before and behind every text."""
        vocab = self._vocabulary.handle
        room = (lib.llama_token * 8)()
        both = room[: max(0, lib.llama_tokenize(vocab, b"", 0, room, len(room), True, False))]
        begins = 1 if both[:1] == [lib.llama_vocab_bos(vocab)] else 0
        return both[:begins], both[begins:]


def _strips_accents(facts: GgufFacts) -> bool:
    """Whether llama.cpp takes accents off the letters of a WordPiece model's texts."""
    lowercase = facts.metadata.get("tokenizer.ggml.normalizer.lowercase", True)
    return bool(facts.metadata.get("tokenizer.ggml.normalizer.strip_accents", lowercase))

"""Language models through llama.cpp: one shared model, one context, many sequences."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bridge.config import Settings
from bridge.engine import EngineStatus, GenerateRequest
from bridge.engines.backend import Parked, Slice
from bridge.engines.gguf_file import read_gguf
from bridge.engines.llama_batch import Batch
from bridge.engines.llama_grammar import LlamaConstraint
from bridge.engines.llama_library import lib, listening, thread_count, trouble
from bridge.engines.llama_model import Placement, buffer_bytes, place_model
from bridge.engines.llama_sampling import Candidates, LlamaSampler, Logits
from bridge.engines.llama_vocabulary import LlamaVocabulary
from bridge.engines.scheduler import Scheduler
from bridge.errors import InferenceFailed, ModelLoadFailed

MAX_DEFAULT_CONTEXT = 8192
"""Window where neither catalog nor node names one and the model was trained for more."""

MAX_UBATCH = 512
"""Most tokens that are computed at once; a longer chunk of a prompt is split."""

KV_TYPES = {"f16": lib.GGML_TYPE_F16, "q8_0": lib.GGML_TYPE_Q8_0, "q4_0": lib.GGML_TYPE_Q4_0}


@dataclass(frozen=True, slots=True)
class ContextPlan:
    """How contexts of one model are made."""

    n_sequences: int
    kv_tokens: int
    """Cells in all; 0 = as many as all sequences together may use."""
    kv_cache_type: str
    chunk: int
    n_threads: int
    separate: bool
    """A cache of its own for each sequence. Its logits then do not depend on what the others hold; but sequences
    whose numbers do not follow one another are computed one by one, where a shared cache takes any set at once."""


def load_llama(
    path: Path,
    *,
    settings: Settings,
    kv_cache_type: str = "q8_0",
    context_size: int = 0,
    progress: Callable[[float], None] | None = None,
) -> Scheduler:
    """A model from a GGUF file, ready to generate. Blocking; call it off the event loop.

    `progress` gets shares from 0 to 1, on the calling thread. Raises ModelCorrupt, ModelLoadFailed.
    """
    backend = LlamaBackend.load(
        path, settings=settings, kv_cache_type=kv_cache_type, context_size=context_size, progress=progress
    )
    return Scheduler(
        backend,
        prompt_chunk=settings.prompt_chunk,
        deterministic=settings.deterministic,
        park_bytes=settings.park_bytes,
    )


class LlamaBackend:
    """A `Backend` over one llama.cpp model and its context. Owns both."""

    def __init__(self, model: Any, plan: ContextPlan, context_size: int, placed: Placement) -> None:
        """Takes the model over. Raises ModelLoadFailed where no context can be made; the model is freed then."""
        self._model = model
        self._plan = plan
        self._placed = placed
        self._notes: tuple[str, ...] = ()
        self._ctx: Any = None
        try:
            template = lib.llama_model_chat_template(model, None)
            self.chat_template = template.decode("utf-8", "replace") if template else ""
            self.trained_context = int(lib.llama_model_n_ctx_train(model))
            self.vocabulary = LlamaVocabulary(model, self.chat_template)
            self._window = int(lib.llama_model_n_swa(model))
            self._cuttable = not (lib.llama_model_is_recurrent(model) or lib.llama_model_is_hybrid(model))
            self._candidates = Candidates(self.vocabulary.size)
            self._batch = Batch(plan.chunk + plan.n_sequences, plan.n_sequences)
            self._kv_type = plan.kv_cache_type
            self._open(context_size or min(self.trained_context, MAX_DEFAULT_CONTEXT))
        except BaseException:
            self.close()
            raise

    @classmethod
    def load(
        cls,
        path: Path,
        *,
        settings: Settings,
        kv_cache_type: str = "q8_0",
        context_size: int = 0,
        progress: Callable[[float], None] | None = None,
    ) -> LlamaBackend:
        """The backend of `load_llama`."""
        if kv_cache_type not in KV_TYPES:
            raise ModelLoadFailed(f"unknown kv_cache_type '{kv_cache_type}'; known: {', '.join(KV_TYPES)}")
        facts = read_gguf(path)
        if facts.embeds:
            raise ModelLoadFailed(
                f"{path} is an embedding model and writes no text; its catalog entry needs the type 'embedding'"
            )
        plan = ContextPlan(
            n_sequences=settings.resident_sequences,
            kv_tokens=settings.kv_tokens,
            kv_cache_type=kv_cache_type,
            chunk=settings.prompt_chunk,
            n_threads=thread_count(settings.n_threads),
            separate=settings.deterministic,
        )

        def make(model: Any, placed: Placement) -> LlamaBackend:
            if (
                lib.llama_model_has_encoder(model)
                or not lib.llama_model_has_decoder(model)
                or lib.llama_model_is_diffusion(model)
            ):
                lib.llama_model_free(model)
                raise ModelLoadFailed(f"{path} is not a model that writes text from left to right")
            return cls(model, plan, context_size, placed)

        return place_model(path, facts.layers, settings.n_gpu_layers, progress, make)

    # ---- Backend

    @property
    def n_sequences(self) -> int:
        return self._n_sequences

    @property
    def context_size(self) -> int:
        return self._context_size

    @property
    def cells(self) -> int:
        return self._cells

    def decode(self, slices: Sequence[Slice]) -> None:
        if self._ctx is None:
            raise InferenceFailed("the model has no context: there was no memory for it")
        code = lib.llama_decode(self._ctx, self._batch.fill(slices))
        if code:
            cause = "its cache is full" if code == 1 else f"llama.cpp answers {code}"
            raise InferenceFailed(f"the model failed while it was generating: {cause}")

    def cut(self, seq: int, length: int) -> int:
        if self._sound_cut(seq, length):
            memory = self._memory
            removed = lib.llama_memory_seq_rm(memory, seq, length, -1)
            if removed and lib.llama_memory_seq_pos_max(memory, seq) == length - 1:
                return length
        self.clear(seq)
        return 0

    def _sound_cut(self, seq: int, length: int) -> bool:
        """Whether a cut leaves all that the next token looks at.

        Layers with a sliding window may hold fewer tokens than the others: a restored copy has the last window's only.
        A cut that leaves them less than a window "succeeds", and the logits behind it are wrong.
        """
        if not self._cuttable:
            return False
        lowest = lib.llama_memory_seq_pos_min(self._memory, seq)
        return bool(lowest == 0 or length - lowest >= self._window > 0)

    def clear(self, seq: int) -> None:
        if self._ctx is not None:
            lib.llama_memory_seq_rm(self._memory, seq, -1, -1)

    def save(self, seq: int, replay: int, limit: int) -> Parked | None:
        if self._ctx is None:
            raise InferenceFailed("the model has no context: there was no memory for it")
        length = lib.llama_memory_seq_pos_max(self._memory, seq) + 1
        if self._window and replay < length and self._sound_cut(seq, replay):
            length = self.cut(seq, replay)
        size = lib.llama_state_seq_get_size(self._ctx, seq)
        if size > limit:
            return None
        copy = np.empty(size, np.uint8)
        if not length or lib.llama_state_seq_get_data(self._ctx, _bytes(copy), size, seq) != size:
            raise InferenceFailed("llama.cpp cannot copy this sequence")
        return Parked(length, size, copy)

    def restore(self, seq: int, parked: Parked) -> None:
        done = lib.llama_state_seq_set_data(self._ctx, _bytes(parked.data), parked.bytes, seq) if self._ctx else 0
        if done != parked.bytes or lib.llama_memory_seq_pos_max(self._memory, seq) != parked.length - 1:
            raise InferenceFailed("llama.cpp cannot put this sequence back")

    def bytes_of(self, tokens: int) -> int:
        return tokens * self._cache_bytes // int(lib.llama_n_ctx(self._ctx)) if self._ctx else 0

    def sampler(self, request: GenerateRequest) -> LlamaSampler:
        if not request.prompt:
            raise InferenceFailed("the prompt is empty")
        constraint = LlamaConstraint(request.grammar, self.vocabulary) if request.grammar else None
        return LlamaSampler(request.sampling, request.prompt, self.vocabulary.size, constraint)

    def sample(self, sampler: LlamaSampler, row: int) -> int:
        index = self._batch.rows[row]
        return sampler.draw(self._ctx, index, _row(self._ctx, index, self.vocabulary.size), self._candidates)

    def scores(self, request: GenerateRequest, row: int) -> tuple[float, ...]:
        logits = _row(self._ctx, self._batch.rows[row], self.vocabulary.size)
        return tuple(float(logits[choice.token]) for choice in request.choices)

    def forget(self, name: str) -> None:
        pass

    def resize(self, context_size: int) -> None:
        before = self._context_size
        try:
            self._open(context_size)
        except ModelLoadFailed as fault:
            self._open(before)
            raise InferenceFailed(f"there is no room for a context of {context_size} tokens: {fault}") from None

    def status(self) -> EngineStatus:
        return EngineStatus(
            backend=self._placed.backend,
            layers_offloaded=self._placed.layers,
            bytes_in_memory=int(lib.llama_model_size(self._model)) + self._context_bytes,
            notes=(*self._placed.notes, *self._notes),
        )

    def close(self) -> None:
        if self._ctx is not None:
            lib.llama_free(self._ctx)
            self._ctx = None
        if self._model is not None:
            if hasattr(self, "vocabulary"):
                self.vocabulary.closed = True
            lib.llama_model_free(self._model)
            self._model = None

    # ---- for those who check caches

    def logits(self, row: int) -> Logits:
        """A copy of what `sample` with this row draws from."""
        copy: Logits = _row(self._ctx, self._batch.rows[row], self.vocabulary.size).copy()
        return copy

    def teacher_force(self, tokens: Sequence[int], first: int = 0, chunk: int = 32) -> Iterator[Logits]:
        """The logits behind each token from index `first` on, when exactly these tokens are read by a fresh context.

        Runs beside the scheduler; threading: any one thread.
        """
        params = self._parameters(len(tokens), 1)
        params.n_ctx = len(tokens)
        params.n_batch = params.n_ubatch = params.n_outputs_max = params.n_outputs_max_per_seq = chunk
        ctx = lib.llama_init_from_model(self._model, params)
        if not ctx:
            raise InferenceFailed("there is no room for another context")
        try:
            batch = Batch(chunk, 1)
            for start in range(0, len(tokens), chunk):
                piece = tokens[start : start + chunk]
                filled = batch.fill([Slice(0, start, piece, False)])
                for index in range(len(piece)):
                    filled.logits[index] = start + index >= first
                if lib.llama_decode(ctx, filled):
                    raise InferenceFailed("a fresh context failed to read the tokens")
                for index in range(max(first - start, 0), len(piece)):
                    yield _row(ctx, index, self.vocabulary.size).copy()
        finally:
            lib.llama_free(ctx)

    # ---- contexts

    def _open(self, context_size: int) -> None:
        """Replace the context by an empty one. Raises ModelLoadFailed; there is no context then."""
        if self._ctx is not None:
            lib.llama_free(self._ctx)
            self._ctx = None
        plan = self._plan
        sequences = plan.n_sequences
        if plan.kv_tokens and plan.separate:
            sequences = max(1, min(sequences, plan.kv_tokens // context_size))
        self._n_sequences = sequences
        if plan.kv_tokens:
            context_size = min(context_size, plan.kv_tokens)
        self._context_size = context_size
        self._cells = plan.kv_tokens if plan.kv_tokens and not plan.separate else sequences * context_size
        self._context_bytes = self._cache_bytes = 0
        with listening() as lines:
            self._ctx = lib.llama_init_from_model(self._model, self._parameters(self._cells, sequences))
            if not self._ctx and self._kv_type != "f16":
                cause = trouble(lines)
                self._kv_type = "f16"
                self._ctx = lib.llama_init_from_model(self._model, self._parameters(self._cells, sequences))
                if self._ctx:
                    self._notes = (
                        *self._notes,
                        f"a {plan.kv_cache_type} cache is not possible here ({cause}); it is f16",
                    )
                else:
                    self._kv_type = plan.kv_cache_type
        if not self._ctx:
            self._ctx = None
            raise ModelLoadFailed(f"no context of {self._cells} tokens can be made: {trouble(lines)}")
        self._memory = lib.llama_get_memory(self._ctx)
        if not self._memory:
            raise ModelLoadFailed("the model is no language model: it has no memory for a dialog")
        self._context_bytes = buffer_bytes(lines, "")
        self._cache_bytes = buffer_bytes(lines, "(?:KV|RS) ")

    def _parameters(self, cells: int, sequences: int) -> lib.llama_context_params:
        plan = self._plan
        params: lib.llama_context_params = lib.llama_context_default_params()
        params.n_ctx = cells
        params.n_seq_max = sequences
        params.n_batch = plan.chunk + sequences
        params.n_ubatch = min(params.n_batch, MAX_UBATCH)
        params.n_outputs_max = sequences
        params.n_outputs_max_per_seq = 1
        params.n_threads = params.n_threads_batch = plan.n_threads
        params.type_k = params.type_v = KV_TYPES[self._kv_type]
        params.swa_full = True  # or the tail of a sequence could not be cut
        params.kv_unified = not plan.separate
        params.no_perf = True
        return params


def _bytes(array: npt.NDArray[np.uint8]) -> Any:
    return ctypes.cast(array.ctypes.data, ctypes.POINTER(ctypes.c_uint8))


def _row(ctx: Any, index: int, size: int) -> Logits:
    """A view of llama.cpp's own memory: good until the next decode."""
    pointer = lib.llama_get_logits_ith(ctx, index)
    if not pointer:
        raise InferenceFailed("llama.cpp has no logits for this token")
    memory: Any = (ctypes.c_float * size).from_address(ctypes.addressof(pointer.contents))
    view: Logits = np.frombuffer(memory, np.float32)
    return view

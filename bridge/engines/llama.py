"""Language models through llama.cpp: one shared model, one context of many sequences, and one for decisions."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bridge.config import Settings
from bridge.engine import EngineStatus, GenerateRequest
from bridge.engines.backend import Parked, Slice
from bridge.engines.gguf_file import read_gguf
from bridge.engines.llama_batch import Batch
from bridge.engines.llama_context import Context, logits_of
from bridge.engines.llama_grammar import LlamaConstraint
from bridge.engines.llama_library import give_back_memory, lib, thread_count
from bridge.engines.llama_model import Placement, place_model
from bridge.engines.llama_sampling import Candidates, LlamaSampler, Logits
from bridge.engines.llama_vocabulary import LlamaVocabulary
from bridge.engines.scheduler import Scheduler
from bridge.errors import InferenceFailed, ModelLoadFailed

log = logging.getLogger(__name__)

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
    """A `Backend` over one llama.cpp model and its contexts. Owns them all."""

    def __init__(self, model: Any, plan: ContextPlan, context_size: int, placed: Placement) -> None:
        """Takes the model over. Raises ModelLoadFailed where no context can be made; the model is freed then."""
        self._model = model
        self._plan = plan
        self._placed = placed
        self._notes: tuple[str, ...] = ()
        self._context: Context | None = None
        self._decisions: Context | None = None
        """Made when a decision first comes: one sequence, whose scores nothing else can move."""
        self._decisions_failed = False
        self._last: Context | None = None
        try:
            template = lib.llama_model_chat_template(model, None)
            self.chat_template = template.decode("utf-8", "replace") if template else ""
            self.trained_context = int(lib.llama_model_n_ctx_train(model))
            self.vocabulary = LlamaVocabulary(model, self.chat_template)
            self._candidates = Candidates(self.vocabulary.size)
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

    def decision_sequences(self) -> int:
        # Caches that are apart give decisions all that a context of their own would.
        if self._plan.separate or self._decisions_failed or self._context is None:
            return 0
        if self._decisions is None:
            try:
                self._decisions = self._make(self._context_size, 1, self._kv_type)
            except ModelLoadFailed as fault:
                self._decisions_failed = True
                note = f"there is no room for decisions of their own ({fault}): what else runs may move their scores"
                self._notes = (*self._notes, note)
                log.warning("%s", note)
                return 0
        return 1

    def decode(self, slices: Sequence[Slice]) -> None:
        context, first = self._at(slices[0].seq)
        self._last = context
        context.decode([piece._replace(seq=piece.seq - first) for piece in slices] if first else slices)

    def cut(self, seq: int, length: int) -> int:
        context, first = self._at(seq)
        return context.cut(seq - first, length)

    def clear(self, seq: int) -> None:
        if self._context is not None:
            context, first = self._at(seq)
            context.clear(seq - first)

    def save(self, seq: int, replay: int, limit: int) -> Parked | None:
        context, first = self._at(seq)
        return context.save(seq - first, replay, limit)

    def restore(self, seq: int, parked: Parked) -> None:
        context, first = self._at(seq)
        context.restore(seq - first, parked)

    def bytes_of(self, tokens: int) -> int:
        return self._context.bytes_of(tokens) if self._context is not None else 0

    def sampler(self, request: GenerateRequest) -> LlamaSampler:
        if not request.prompt:
            raise InferenceFailed("the prompt is empty")
        constraint = LlamaConstraint(request.grammar, self.vocabulary) if request.grammar else None
        return LlamaSampler(request.sampling, request.prompt, self.vocabulary.size, constraint)

    def sample(self, sampler: LlamaSampler, row: int) -> int:
        context = self._decoded()
        index, logits = context.logits(row)
        return sampler.draw(context.pointer, index, logits, self._candidates)

    def scores(self, request: GenerateRequest, row: int) -> tuple[float, ...]:
        _, logits = self._decoded().logits(row)
        return tuple(float(logits[choice.token]) for choice in request.choices)

    def forget(self, name: str) -> None:
        pass

    def resize(self, context_size: int) -> None:
        before = self._context_size
        try:
            self._open(context_size)
        except ModelLoadFailed as fault:
            with suppress(ModelLoadFailed):  # it is tried again when it is needed
                self._open(before)
            raise InferenceFailed(f"there is no room for a context of {context_size} tokens: {fault}") from None

    def status(self) -> EngineStatus:
        contexts = sum(context.bytes for context in (self._context, self._decisions) if context is not None)
        return EngineStatus(
            backend=self._placed.backend,
            layers_offloaded=self._placed.layers,
            bytes_in_memory=int(lib.llama_model_size(self._model)) + contexts,
            notes=(*self._placed.notes, *self._notes),
        )

    def close(self) -> None:
        self._close_contexts()
        if self._model is not None:
            if hasattr(self, "vocabulary"):
                self.vocabulary.closed = True
            lib.llama_model_free(self._model)
            self._model = None
            give_back_memory()

    # ---- for those who check caches

    def logits(self, row: int) -> Logits:
        """A copy of what `sample` with this row draws from."""
        _, seen = self._decoded().logits(row)
        copy: Logits = seen.copy()
        return copy

    def teacher_force(self, tokens: Sequence[int], first: int = 0, chunk: int = 32) -> Iterator[Logits]:
        """The logits behind each token from index `first` on, when exactly these tokens are read by a fresh context.

        Runs beside the scheduler; threading: any one thread.
        """
        params = self._parameters(len(tokens), 1, self._kv_type)
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
                    yield logits_of(ctx, index, self.vocabulary.size).copy()
        finally:
            lib.llama_free(ctx)

    # ---- contexts

    def _at(self, seq: int) -> tuple[Context, int]:
        """The context of a sequence, and the number of its first one. Made anew where there was no memory for it."""
        if self._context is None:
            try:
                self._open(self._context_size)
            except ModelLoadFailed as fault:
                raise InferenceFailed(f"the model has no context: {fault}") from None
            assert self._context is not None
        if seq < self._n_sequences:
            return self._context, 0
        assert self._decisions is not None
        return self._decisions, self._n_sequences

    def _decoded(self) -> Context:
        assert self._last is not None
        return self._last

    def _open(self, context_size: int) -> None:
        """Replace the contexts by an empty one. Raises ModelLoadFailed; there is none then."""
        self._close_contexts()
        plan = self._plan
        sequences = plan.n_sequences
        if plan.kv_tokens and plan.separate:
            sequences = max(1, min(sequences, plan.kv_tokens // context_size))
        self._n_sequences = sequences
        if plan.kv_tokens:
            context_size = min(context_size, plan.kv_tokens)
        self._context_size = context_size
        self._cells = plan.kv_tokens if plan.kv_tokens and not plan.separate else sequences * context_size
        self._decisions_failed = False
        try:
            self._context = self._make(self._cells, sequences, self._kv_type)
        except ModelLoadFailed as fault:
            if self._kv_type == "f16":
                raise ModelLoadFailed(f"no context of {self._cells} tokens can be made: {fault}") from None
            try:
                self._context = self._make(self._cells, sequences, "f16")
            except ModelLoadFailed as other:
                raise ModelLoadFailed(f"no context of {self._cells} tokens can be made: {other}") from None
            self._kv_type = "f16"
            note = f"a {plan.kv_cache_type} cache is not possible here ({fault}); it is f16"
            self._notes = (*self._notes, note)

    def _close_contexts(self) -> None:
        for context in (self._context, self._decisions):
            if context is not None:
                context.close()
        self._context = self._decisions = self._last = None

    def _make(self, cells: int, sequences: int, kv_type: str) -> Context:
        return Context(self._model, self._parameters(cells, sequences, kv_type), sequences=sequences)

    def _parameters(self, cells: int, sequences: int, kv_type: str) -> lib.llama_context_params:
        plan = self._plan
        params: lib.llama_context_params = lib.llama_context_default_params()
        params.n_ctx = cells
        params.n_seq_max = sequences
        params.n_batch = plan.chunk + sequences
        params.n_ubatch = min(params.n_batch, MAX_UBATCH)
        params.n_outputs_max = sequences
        params.n_outputs_max_per_seq = 1
        params.n_threads = params.n_threads_batch = plan.n_threads
        params.type_k = params.type_v = KV_TYPES[kv_type]
        params.swa_full = True  # or the tail of a sequence could not be cut
        params.kv_unified = not plan.separate
        params.no_perf = True
        return params

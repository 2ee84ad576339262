"""The least code that generates with llama.cpp: what there is to gain or lose against."""

from __future__ import annotations

import ctypes
import os
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bridge.engine import Segment
from bridge.engines.llama import KV_TYPES
from bridge.engines.llama_library import lib
from bridge.engines.llama_vocabulary import LlamaVocabulary
from bridge.errors import ModelLoadFailed

TOP_K, TOP_P, MIN_P, TEMPERATURE = 40, 0.9, 0.05, 0.8
OPENINGS = [
    "The harbour lay quiet in the fog, and the old keeper of the light",
    "Long before the war, when the mill still turned, the miller's daughter",
    "On the third day of the fair a stranger with a wooden hand",
    "Nobody in the village would say who had rung the bell, but the priest",
    "The road to the mountains was closed by snow, so the caravan",
    "In the cellar of the inn, behind the barrels, the boy",
    "When the king's ship came home without the king, the captain",
    "She had sold the last of her maps that morning, and the map maker",
]
"""Prompts for a base model that just writes on: one for each agent."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One measurement of one side."""

    tokens_per_s: float
    """Generated tokens of all streams a second, reading the prompts included."""
    ttft_ms: float
    """Median over the streams: from the request to the first token (bare) or the first text frame (parley)."""


class BareLoop:
    """The least code that generates with llama.cpp: what there is to gain or lose against."""

    def __init__(self, path: Path, kv_cache_type: str, *, sequences: int, context_size: int, threads: int) -> None:
        """Raises ModelLoadFailed."""
        self._model = lib.llama_model_load_from_file(os.fsencode(path), lib.llama_model_default_params())
        if not self._model:
            raise ModelLoadFailed(f"{path} could not be loaded")
        params = lib.llama_context_default_params()
        params.n_ctx = sequences * context_size
        params.n_seq_max = sequences
        params.n_threads = params.n_threads_batch = threads
        params.type_k = params.type_v = KV_TYPES[kv_cache_type]
        params.kv_unified = True
        params.no_perf = True
        self._context = lib.llama_init_from_model(self._model, params)
        self._vocab = lib.llama_model_get_vocab(self._model)
        self._batch = lib.llama_batch_init(params.n_batch, 0, 1)
        vocabulary = LlamaVocabulary(self._model, "")
        bos = [] if vocabulary.bos is None else [vocabulary.bos]
        self._prompts = [[*bos, *vocabulary.tokenize([Segment(text)])] for text in OPENINGS]

    def run(self, agents: int, tokens: int) -> Sample:
        """`agents` replies of `tokens` tokens, side by side."""
        samplers = [_chain(index + 1) for index in range(agents)]
        lib.llama_memory_clear(lib.llama_get_memory(self._context), True)
        current = [0] * agents
        length = [0] * agents
        firsts = []
        start = time.perf_counter()
        for seq in range(agents):
            prompt = self._prompts[seq % len(self._prompts)]
            self._fill([(token, position, seq, position + 1 == len(prompt)) for position, token in enumerate(prompt)])
            self._decode()
            current[seq] = lib.llama_sampler_sample(samplers[seq], self._context, -1)
            length[seq] = len(prompt)
            firsts.append(time.perf_counter() - start)
        generated = agents
        for _ in range(tokens - 1):
            self._fill([(current[seq], length[seq], seq, True) for seq in range(agents)])
            self._decode()
            for seq in range(agents):
                current[seq] = lib.llama_sampler_sample(samplers[seq], self._context, seq)
                length[seq] += 1
            generated += agents
        seconds = time.perf_counter() - start
        for sampler in samplers:
            lib.llama_sampler_free(sampler)
        return Sample(generated / seconds, 1000 * statistics.median(firsts))

    def first_token_ms(self, held: int, fresh: int) -> float:
        """Milliseconds for `fresh` prompt tokens and one draw, where `held` tokens are in the cache already."""
        lib.llama_memory_clear(lib.llama_get_memory(self._context), True)
        filler = self._prompts[0]
        position = 0
        for count in [*[256] * (held // 256), held % 256]:
            if count:
                self._fill([(filler[(position + i) % len(filler)], position + i, 0, False) for i in range(count)])
                self._decode()
                position += count
        sampler = _chain(1)
        lib.llama_synchronize(self._context)
        start = time.perf_counter()
        self._fill([(filler[(position + i) % len(filler)], position + i, 0, i + 1 == fresh) for i in range(fresh)])
        self._decode()
        lib.llama_sampler_sample(sampler, self._context, -1)
        seconds = time.perf_counter() - start
        lib.llama_sampler_free(sampler)
        return 1000 * seconds

    def close(self) -> None:
        lib.llama_batch_free(self._batch)
        lib.llama_free(self._context)
        lib.llama_model_free(self._model)

    def _fill(self, cells: Sequence[tuple[int, int, int, bool]]) -> None:
        batch = self._batch
        for index, (token, position, seq, wants_logits) in enumerate(cells):
            batch.token[index] = token
            batch.pos[index] = position
            batch.n_seq_id[index] = 1
            batch.seq_id[index][0] = seq
            batch.logits[index] = wants_logits
        batch.n_tokens = len(cells)

    def _decode(self) -> None:
        code = lib.llama_decode(self._context, self._batch)
        if code:
            raise ModelLoadFailed(f"the bare loop's decode failed with {code}")


def _chain(seed: int) -> Any:
    chain = lib.llama_sampler_chain_init(lib.llama_sampler_chain_default_params())
    for link in (
        lib.llama_sampler_init_top_k(TOP_K),
        lib.llama_sampler_init_top_p(ctypes.c_float(TOP_P), 1),
        lib.llama_sampler_init_min_p(ctypes.c_float(MIN_P), 1),
        lib.llama_sampler_init_temp(ctypes.c_float(TEMPERATURE)),
        lib.llama_sampler_init_dist(seed),
    ):
        lib.llama_sampler_chain_add(chain, link)
    return chain

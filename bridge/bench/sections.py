"""What the bench measures, a section each: both sides in turn, so that a machine whose speed drifts slows both."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bridge.answer_text import AnswerRules
from bridge.bench import path as whole_path
from bridge.bench.bare import OPENINGS, BareLoop
from bridge.client import ParleyClient
from bridge.config import Settings
from bridge.engine import GenerateRequest, Sampling, Segment
from bridge.engines.backend import Slice
from bridge.engines.llama import LlamaBackend
from bridge.engines.scheduler import Scheduler
from bridge.protocol import DestroyAgent

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Setup:
    """What all sections share."""

    path: Path
    kv_cache_type: str
    threads: int
    rounds: int
    tokens: int
    counts: Sequence[int]
    tell: Tell


@dataclass(frozen=True, slots=True)
class Section:
    """A measured section: a table for people, figures for files."""

    title: str
    columns: Sequence[str]
    rows: list[list[str]]
    figures: dict[str, Any]


def _sidecar(setup: Setup, *, residents: int, context_size: int) -> AbstractAsyncContextManager[ParleyClient]:
    return whole_path.sidecar(
        setup.path,
        kv_cache_type=setup.kv_cache_type,
        residents=residents,
        context_size=context_size,
        threads=setup.threads,
    )


async def batching(setup: Setup) -> Section:
    """Tokens a second of 1, 2, 4 … agents at once, against a bare batched loop."""
    residents = max(8, *setup.counts)
    bare = BareLoop(setup.path, setup.kv_cache_type, sequences=residents, context_size=1024, threads=setup.threads)
    pairs: dict[int, list[tuple[Any, Any]]] = {count: [] for count in setup.counts}
    try:
        async with _sidecar(setup, residents=residents, context_size=1024) as client:
            await whole_path.write_together(client, 1, setup.tokens)  # loads and warms what later turns find ready
            await asyncio.to_thread(bare.run, 1, setup.tokens)
            for turn in range(setup.rounds):
                for count in setup.counts:
                    setup.tell(f"batching: round {turn + 1} of {setup.rounds}, {count} agents")
                    ours = await whole_path.write_together(client, count, setup.tokens)
                    theirs = await asyncio.to_thread(bare.run, count, setup.tokens)
                    pairs[count].append((ours, theirs))
    finally:
        bare.close()
    median = statistics.median
    rows, figures = [], []
    single = median(a.tokens_per_s for a, _ in pairs[setup.counts[0]])
    for count, found in pairs.items():
        row = {
            "agents": count,
            "parley_tokens_per_s": median(a.tokens_per_s for a, _ in found),
            "bare_tokens_per_s": median(b.tokens_per_s for _, b in found),
            "ratio": median(a.tokens_per_s / b.tokens_per_s for a, b in found),
            "speed_up": median(a.tokens_per_s for a, _ in found) / single,
            "samples": [{"parley": asdict(a), "bare": asdict(b)} for a, b in found],
        }
        figures.append(row)
        rows.append(
            [
                str(count),
                f"{row['parley_tokens_per_s']:.1f}",
                f"{row['bare_tokens_per_s']:.1f}",
                f"{row['ratio']:.3f}",
                f"{row['speed_up']:.2f}×",
            ]
        )
    title = f"agents at once ({setup.tokens} tokens a reply, prompts included)"
    return Section(title, ["agents", "parley tok/s", "bare tok/s", "ratio", "speed-up"], rows, {"rows": figures})


async def first_token(setup: Setup) -> Section:
    """Time to the first text frame of an ordinary turn, by the length of its history, against bare decode + draw."""
    lengths = [100, 400, 800, 1600]
    bare = BareLoop(setup.path, setup.kv_cache_type, sequences=1, context_size=2048, threads=setup.threads)
    rows, figures = [], []
    added = []
    try:
        async with _sidecar(setup, residents=2, context_size=2048) as client:
            for length in lengths:
                persona = " ".join(OPENINGS * (length // 100 + 1))[: length * 4]
                flow = whole_path.workflow(8, system_prompt=persona)
                agent = await client.create_agent(flow, enable_diagnostics=True)
                await whole_path.say(client, agent.agent_id, "Go on.")
                pairs: list[tuple[int, float, float]] = []
                for turn in range(2 * setup.rounds):
                    setup.tell(f"first token: history {length}, turn {turn + 1} of {2 * setup.rounds}")
                    ours, complete = await whole_path.say(client, agent.agent_id, f"And what came {turn} days later?")
                    assert complete.debug is not None
                    usage = complete.debug["steps"][0]["usage"]
                    theirs = await asyncio.to_thread(
                        bare.first_token_ms, usage["cached_tokens"], usage["evaluated_tokens"]
                    )
                    # A first token of white space shows nothing: the first frame comes a step later then.
                    step_ms = 1000 / max(usage["tokens_per_s"], 1.0)
                    shown_at_once = ours - usage["ttft_ms"] < step_ms / 2
                    if shown_at_once or not pairs:
                        pairs.append((usage["prompt_tokens"], ours, theirs))
                await client.request(DestroyAgent(agent_id=agent.agent_id))
                extra = statistics.median(ours - theirs for _, ours, theirs in pairs)
                added.append(extra)
                row = {
                    "prompt_tokens": statistics.median(tokens for tokens, _, _ in pairs),
                    "parley_ms": statistics.median(ours for _, ours, _ in pairs),
                    "bare_ms": statistics.median(theirs for _, _, theirs in pairs),
                    "added_ms": extra,
                }
                figures.append(row)
                rows.append(
                    [
                        f"{row['prompt_tokens']:.0f}",
                        f"{row['parley_ms']:.1f} ms",
                        f"{row['bare_ms']:.1f} ms",
                        f"{extra:.1f} ms",
                    ]
                )
    finally:
        bare.close()
    found = {"rows": figures, "median_added_ms": statistics.median(added)}
    return Section("first text frame of an ordinary turn", ["prompt tokens", "parley", "bare", "added"], rows, found)


async def parking(setup: Setup) -> Section:
    """What it costs to bring a parked character back, against reading its persona again."""
    persona = " ".join(OPENINGS * 6)[:2400]
    fresh, resident, restored = [], [], []
    async with _sidecar(setup, residents=4, context_size=1024) as client:
        agents = []
        for index in range(8):
            setup.tell(f"parking: character {index + 1} of 8 reads its persona")
            flow = whole_path.workflow(8, seed=index + 1, system_prompt=f"{index}. {persona}")
            agents.append((await client.create_agent(flow, enable_diagnostics=True)).agent_id)
            fresh.append((await whole_path.say(client, agents[-1], "Go on."))[0])
        for turn in range(setup.rounds):
            for index, agent_id in enumerate(agents):
                setup.tell(f"parking: round {turn + 1} of {setup.rounds}, character {index + 1} of 8")
                came_back, complete = await whole_path.say(client, agent_id, f"And on day {turn}?")
                assert complete.debug is not None
                if complete.debug["steps"][0]["usage"]["dropped"]:
                    raise RuntimeError("a character was not parked but dropped")
                restored.append(came_back)
                resident.append((await whole_path.say(client, agent_id, f"And on night {turn}?"))[0])
    median = statistics.median
    figures = {
        "fresh_ms": median(fresh),
        "restored_ms": median(restored),
        "resident_ms": median(resident),
        "share_of_reading": (median(restored) - median(resident)) / (median(fresh) - median(resident)),
    }
    row = [
        f"{figures['fresh_ms']:.0f} ms",
        f"{figures['restored_ms']:.0f} ms",
        f"{figures['resident_ms']:.0f} ms",
        f"{100 * figures['share_of_reading']:.1f} %",
    ]
    columns = ["first turn (reads)", "parked before", "resident", "park + restore : reading"]
    return Section("first text frame with 8 characters on 4 residents", columns, [row], figures)


async def overhead(setup: Setup) -> Section:
    """What the scheduler and the hand-over add to a step, beside decode and draw."""
    settings = Settings(n_threads=setup.threads, resident_sequences=8)
    rows, figures = [], []
    for streams in (1, 8):
        shares = []
        steps = []
        for turn in range(setup.rounds):
            setup.tell(f"overhead: {streams} streams, round {turn + 1} of {setup.rounds}")
            backend = _Timed(
                LlamaBackend.load(setup.path, settings=settings, kv_cache_type=setup.kv_cache_type, context_size=1024)
            )
            scheduler = Scheduler(backend, prompt_chunk=256)
            try:
                prompts = [scheduler.vocabulary.tokenize([Segment(text)]) for text in OPENINGS[:streams]]
                requests = [
                    GenerateRequest(
                        sequence=str(index),
                        prompt=tuple(prompt),
                        max_tokens=setup.tokens,
                        context_size=1024,
                        sampling=Sampling(seed=index + 1),
                        answer=AnswerRules(),
                    )
                    for index, prompt in enumerate(prompts)
                ]
                await asyncio.gather(*(_drain(scheduler, request) for request in requests))
            finally:
                await asyncio.to_thread(scheduler.close)
            shares.append(backend.share_outside())
            steps.append(backend.step_ms())
        row = {"streams": streams, "step_ms": statistics.median(steps), "share": statistics.median(shares)}
        figures.append(row)
        rows.append([str(streams), f"{row['step_ms']:.1f} ms", f"{100 * row['share']:.1f} %"])
    title = "scheduler and hand-over in a step"
    return Section(title, ["streams", "step", "outside decode and draw"], rows, {"rows": figures})


async def _drain(scheduler: Scheduler, request: GenerateRequest) -> None:
    async for _ in scheduler.generate(request):
        pass


class _Timed:
    """A backend that notes how long decodes and draws take, from the first pure writing step on."""

    def __init__(self, backend: LlamaBackend) -> None:
        self._backend = backend
        self._inside = 0.0
        self._began = 0.0
        self._ended = 0.0
        self._steps = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._backend, name)

    def decode(self, slices: Sequence[Slice]) -> None:
        start = time.perf_counter()
        if all(len(piece.tokens) == 1 for piece in slices):
            if not self._steps:
                self._began = start
            self._ended = start
            self._steps += 1
            self._backend.decode(slices)
            self._inside += time.perf_counter() - start
        else:
            self._steps = 0
            self._inside = 0.0
            self._backend.decode(slices)

    def sample(self, sampler: Any, row: int) -> int:
        start = time.perf_counter()
        token = self._backend.sample(sampler, row)
        self._inside += time.perf_counter() - start
        return token

    def share_outside(self) -> float:
        """Share of the time between two decodes' starts that is neither decode nor draw."""
        whole = self._ended - self._began
        return max(0.0, 1 - self._inside * (self._steps - 1) / self._steps / whole)

    def step_ms(self) -> float:
        return 1000 * (self._ended - self._began) / (self._steps - 1)


SECTIONS = {"batching": batching, "first-token": first_token, "parking": parking, "overhead": overhead}

"""What a decision costs: the first one of a character, which reads the whole prompt, and the ones after it."""

from __future__ import annotations

import statistics
import time
from typing import Any

from bridge.bench import path as whole_path
from bridge.bench.bare import OPENINGS, BareLoop
from bridge.bench.sections import Section, Setup
from bridge.client import ParleyClient
from bridge.protocol import DestroyAgent, TurnComplete

CONTEXT = 2048
WARM_TURNS = 4
INTENTS = ("asks for food", "wants a room", "asks for news", "wants to trade", "threatens somebody", "says goodbye")


async def classifier(setup: Setup) -> Section:
    """Milliseconds of a ClassifyIntentLLM turn, against a bare loop that reads as many tokens."""
    workflow = {
        "start_node": "judge",
        "default_model": "bench",
        "nodes": [
            {
                "name": "judge",
                "type": "ClassifyIntentLLM",
                "system_prompt": " ".join(OPENINGS * 6)[:1200],
                "intents": [{"id": text.split()[-1], "description": text} for text in INTENTS],
                "history_turns": WARM_TURNS,
            }
        ],
    }
    cold: list[tuple[float, dict[str, Any]]] = []
    warm: list[tuple[float, dict[str, Any]]] = []
    async with whole_path.sidecar(
        setup.path, kv_cache_type=setup.kv_cache_type, residents=2, context_size=CONTEXT, threads=setup.threads
    ) as client:
        for turn in range(setup.rounds + 1):
            setup.tell(f"classifier: character {turn + 1} of {setup.rounds + 1}")
            agent = await client.create_agent(workflow, enable_diagnostics=True)
            first = await _decide(client, agent.agent_id, OPENINGS[turn % len(OPENINGS)])
            later = [await _decide(client, agent.agent_id, f"And what of day {day}?") for day in range(WARM_TURNS)]
            await client.request(DestroyAgent(agent_id=agent.agent_id))
            if turn:  # the first one also loads the model
                cold.append(first)
                warm.extend(later)
    bare = BareLoop(setup.path, setup.kv_cache_type, sequences=1, context_size=CONTEXT, threads=setup.threads)
    try:
        rows = [_row(name, taken, bare, setup.rounds) for name, taken in (("cold", cold), ("warm", warm))]
    finally:
        bare.close()
    columns = ["decision", "prompt tokens", "read", "parley", "bare", "added"]
    shown = [
        [
            row["name"],
            f"{row['prompt_tokens']:.0f}",
            f"{row['evaluated_tokens']:.0f}",
            f"{row['ms']:.1f} ms",
            f"{row['bare_ms']:.1f} ms",
            f"{row['ms'] - row['bare_ms']:.1f} ms",
        ]
        for row in rows
    ]
    return Section("a decision of ClassifyIntentLLM between six intents", columns, shown, {"rows": rows})


def _row(name: str, taken: list[tuple[float, dict[str, Any]]], bare: BareLoop, rounds: int) -> dict[str, Any]:
    usages = [usage for _, usage in taken]
    held = round(statistics.median(usage["cached_tokens"] for usage in usages))
    fresh = round(statistics.median(usage["evaluated_tokens"] for usage in usages))
    return {
        "name": name,
        "prompt_tokens": statistics.median(usage["prompt_tokens"] for usage in usages),
        "evaluated_tokens": fresh,
        "ms": statistics.median(ms for ms, _ in taken),
        "bare_ms": statistics.median(bare.first_token_ms(held, fresh) for _ in range(max(rounds, 3))),
    }


async def _decide(client: ParleyClient, agent_id: str, line: str) -> tuple[float, dict[str, Any]]:
    """Milliseconds of the turn, and what its one step read."""
    start = time.perf_counter()
    async for frame in client.turn(agent_id, line):
        if isinstance(frame.message, TurnComplete):
            taken = 1000 * (time.perf_counter() - start)
            if frame.message.status != "Success" or frame.message.debug is None:
                raise RuntimeError(f"a turn of the bench failed: {frame.message.error}")
            usage: dict[str, Any] = frame.message.debug["steps"][0]["usage"]
            return taken, usage
    raise ConnectionError("the turn did not end")


SECTIONS = {"classifier": classifier}

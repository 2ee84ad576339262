"""What voices cost: how fast the starter voice speaks, how soon a reply is heard, what speech takes from writing."""

from __future__ import annotations

import asyncio
import contextlib
import statistics
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bridge.bench import path as whole_path
from bridge.bench.sections import Section, Setup
from bridge.catalog import read_catalog
from bridge.client import ParleyClient
from bridge.config import load_settings
from bridge.errors import ModelLoadFailed
from bridge.models import ModelStore
from bridge.protocol import AnswerText, AudioChunk, ChangeParams, TruncateDialog, TurnComplete
from bridge.sentences import SentenceSplitter

VOICE = "starter-voice"
CONTEXT = 2048
SENTENCES = 3
"""Of each reply whose first sound is waited for."""
REPLIES = 5
TRIES = 120
"""The model is asked so often for a reply of so many sentences, none said together with the next one."""
MIN_SENTENCE_CHARS = 12
MOST_CHARS = 320
MOST_TOKENS = 96
EXAMPLES = (
    ("Good evening.", "Good evening to you, stranger. Hang your coat by the fire and sit down. The stew is hot."),
    ("Who lives in the mill?", "The old miller lives there with his cat. Nobody has seen him since spring. Some say "
     "that he counts his gold all night."),
    ("Where does this road go?", "It goes over the hills to the harbour. The bridge is broken, so you must walk round "
     "by the wood. Be there before dark."),
)  # fmt: skip
LINES = (
    "What happened to the captain?",
    "Who are you?",
    "Is there a room for the night?",
    "Tell me about the king.",
    "Where can I buy a horse?",
    "What is the news from the north?",
    "Do you know the smith?",
    "Why is the harbour closed?",
)
TEXTS = (
    "Yes, my friend.",
    "The bridge on the north road is broken, so carts go round by the mill.",
    " ".join(text for _, text in EXAMPLES[:2]),
    " ".join([text for _, text in EXAMPLES] * 3),
)
"""What the voice says alone, by length."""


@dataclass(frozen=True, slots=True)
class _Turn:
    """What came of one turn. Times in milliseconds from the player's line on."""

    text: str
    first_sound_ms: float
    whole_text_ms: float
    tokens: int
    tokens_per_s: float
    """Of the writing, from the first token on."""


@dataclass(frozen=True, slots=True)
class _Reply:
    """A line and a seed to which the model writes the sentences that are wanted."""

    line: str
    seed: int
    text: str


async def voice(setup: Setup) -> Section:
    """The voice alone, and in turns beside the language model."""
    speaking = await _alone(setup)
    async with whole_path.sidecar(
        setup.path,
        kv_cache_type=setup.kv_cache_type,
        residents=4,
        context_size=CONTEXT,
        threads=setup.threads,
        chat_format="transcript",
    ) as client:
        along = await _actor(client, _writer("GenerateAndSpeak", voice=VOICE))
        after = await _actor(
            client,
            _writer("Generate", default_exit="voice"),
            {"name": "voice", "type": "Speak", "input": "writer", "voice": VOICE},
        )
        chatter = await _actor(client, {"name": "voice", "type": "Speak", "voice": VOICE})
        for agent_id in (along, after):
            # Read in equal pieces, the persona is the same to the last bit, and so is what follows it.
            await _greet(client, agent_id)
        await _listen(client, chatter, LINES[0])
        replies = await _find_replies(setup, client, after)
        figures = await _compare(setup, client, replies, along, after, chatter)
    rows = [
        [
            f"{row['characters']} characters",
            f"{row['ms']:.0f} ms",
            f"{row['sound_s']:.1f} s of sound",
            f"{row['real_time_factor']:.4f}",
        ]
        for row in speaking
    ]
    for name, unit, what, this in (
        ("first_sound", "ms", "first sound", "along"),
        ("whole_text", "ms", "last text", "along"),
        ("spoken_tokens", "tok/s", "writing", "along"),
        ("beside_tokens", "tok/s", "writing", "beside"),
    ):
        found = figures[name]
        digits = 0 if unit == "ms" else 1
        rows.append(
            [
                what,
                f"{this} {found['this']:.{digits}f} {unit}",
                f"after {found['against']:.{digits}f} {unit}",
                f"{found['ratio']:.2f}",
            ]
        )
    title = (
        f"{VOICE} alone; and {figures['pairs']} replies of {SENTENCES} sentences ({figures['characters']:.0f} "
        f"characters, {figures['tokens']:.0f} tokens): along = GenerateAndSpeak, after = Generate \u2192 Speak, beside "
        "= the same while another character speaks without a pause"
    )
    return Section(title, ["", "takes", "of", "ratio"], rows, {"alone": speaking, **figures})


# ---- the voice alone


async def _alone(setup: Setup) -> list[dict[str, Any]]:
    settings = load_settings()
    store = ModelStore(settings, read_catalog(Path(settings.catalog) if settings.catalog else None))
    taken: dict[str, list[tuple[float, float]]] = {text: [] for text in TEXTS}
    try:
        model = (await store.acquire_speech(VOICE, lambda *_: None)).engine
        for turn in range(setup.rounds):
            setup.tell(f"voice alone: round {turn + 1} of {setup.rounds}")
            for text in TEXTS:
                start = time.perf_counter()
                samples = sum([len(piece) // 2 async for piece in model.speak(text)])
                taken[text].append((time.perf_counter() - start, samples / model.sample_rate))
    finally:
        await store.close()
    median = statistics.median
    return [
        {
            "characters": len(text),
            "ms": 1000 * median(seconds for seconds, _ in found),
            "sound_s": median(sound for _, sound in found),
            "real_time_factor": median(seconds / sound for seconds, sound in found),
        }
        for text, found in taken.items()
    ]


# ---- beside the language model


def _writer(node_type: str, **more: Any) -> dict[str, Any]:
    examples = [
        {"speaker": speaker, "text": text}
        for line, reply in EXAMPLES
        for speaker, text in (("Guest", line), ("Mira", reply))
    ]
    return {
        "name": "writer",
        "type": node_type,
        "max_tokens": MOST_TOKENS,
        "history_name": "Mira",
        "system_prompt": "A play in one act. Mira keeps an inn by the harbour. She tells much, in three sentences.",
        "examples": examples,
        **more,
    }


async def _actor(client: ParleyClient, *nodes: dict[str, Any]) -> str:
    flow = {"start_node": nodes[0]["name"], "default_model": "bench", "player_name": "Guest", "nodes": list(nodes)}
    return (await client.create_agent(flow, enable_diagnostics=True)).agent_id


async def _find_replies(setup: Setup, client: ParleyClient, agent_id: str) -> list[_Reply]:
    """Lines and seeds to which this model writes three whole sentences, which are then written again and again."""
    found: dict[str, _Reply] = {}
    for number in range(TRIES):
        setup.tell(f"voice: {len(found)} of {REPLIES} replies of {SENTENCES} sentences found, try {number + 1}")
        line, seed = LINES[number % len(LINES)], number // len(LINES) + 1
        await _seed(client, agent_id, seed)
        text = (await _listen(client, agent_id, line)).text
        splitter = SentenceSplitter(MIN_SENTENCE_CHARS)
        sentences = [*splitter.feed(text), *splitter.finish()]
        whole = len(sentences) == SENTENCES and all(
            len(sentence.strip()) >= MIN_SENTENCE_CHARS and sentence.rstrip()[-1] in ".!?" for sentence in sentences
        )
        if whole and len(text) <= MOST_CHARS and text not in found:
            found[text] = _Reply(line, seed, text)
        if len(found) == REPLIES:
            return list(found.values())
    raise ModelLoadFailed(
        f"the bench needs {REPLIES} replies of {SENTENCES} sentences; the model wrote {len(found)} in {TRIES} tries"
    )


async def _compare(
    setup: Setup, client: ParleyClient, replies: list[_Reply], along: str, after: str, chatter: str
) -> dict[str, Any]:
    """Each reply is written in three ways, one after the other; which way is first changes."""
    pairs: list[tuple[_Turn, _Turn, _Turn]] = []
    others = 0
    for turn in range(setup.rounds):
        for number, reply in enumerate(replies):
            setup.tell(f"voice: round {turn + 1} of {setup.rounds}, reply {number + 1} of {len(replies)}")
            taken: dict[str, _Turn] = {}
            ways = ["along", "after", "beside"]
            for way in ways[turn % 3 :] + ways[: turn % 3]:
                agent_id = along if way == "along" else after
                await _greet(client, agent_id)
                await _seed(client, agent_id, reply.seed)
                async with _never_silent(client, chatter) if way == "beside" else contextlib.nullcontext():
                    taken[way] = await _listen(client, agent_id, reply.line)
            if {one.text for one in taken.values()} == {reply.text}:
                pairs.append((taken["along"], taken["after"], taken["beside"]))
            else:
                others += 1  # a rounding somewhere else drew another token: two texts cannot be compared
    if not pairs:
        raise ModelLoadFailed("the model never wrote the same reply twice, so nothing can be compared")
    return {
        "pairs": len(pairs),
        "pairs_with_other_texts": others,
        "characters": statistics.median(len(one.text) for one, _, _ in pairs),
        "tokens": statistics.median(one.tokens for one, _, _ in pairs),
        "texts": sorted({one.text for one, _, _ in pairs}),
        "first_sound": _ratio([(a.first_sound_ms, b.first_sound_ms) for a, b, _ in pairs]),
        "whole_text": _ratio([(a.whole_text_ms, b.whole_text_ms) for a, b, _ in pairs]),
        "spoken_tokens": _ratio([(a.tokens_per_s, b.tokens_per_s) for a, b, _ in pairs]),
        "beside_tokens": _ratio([(c.tokens_per_s, b.tokens_per_s) for _, b, c in pairs]),
    }


def _ratio(pairs: list[tuple[float, float]]) -> dict[str, Any]:
    """Medians of both, and the median of what one is of the other."""
    return {
        "this": statistics.median(this for this, _ in pairs),
        "against": statistics.median(against for _, against in pairs),
        "ratio": statistics.median(this / against for this, against in pairs),
        "samples": pairs,
    }


async def _greet(client: ParleyClient, agent_id: str) -> None:
    """As in a talk that goes on: the persona is read already, and the line that comes is new."""
    await _seed(client, agent_id, 1, stop=[" "])
    await _listen(client, agent_id, "Good evening.")


async def _seed(client: ParleyClient, agent_id: str, seed: int, *, stop: Sequence[str] = ()) -> None:
    sampling = {"temperature": 0.8, "top_k": 40, "top_p": 0.9, "repeat_penalty": 1.1, "seed": seed}
    params = {"sampling": sampling, "stop": list(stop)}
    await client.request(ChangeParams(agent_id=agent_id, node_name="writer", params=params))


async def _listen(client: ParleyClient, agent_id: str, line: str) -> _Turn:
    """One turn, which is forgotten afterwards."""
    start = time.perf_counter()
    text, sound, whole = "", 0.0, 0.0
    async for frame in client.turn(agent_id, line):
        message, now = frame.message, 1000 * (time.perf_counter() - start)
        if isinstance(message, AnswerText):
            text += message.text
            whole = now
        elif isinstance(message, AudioChunk) and frame.payload and not sound:
            sound = now
        elif isinstance(message, TurnComplete):
            if message.status != "Success" or message.debug is None:
                raise RuntimeError(f"a turn of the bench failed: {message.error}")
            await client.request(TruncateDialog(agent_id=agent_id, keep=0))
            usage = message.debug["steps"][0].get("usage") or {}
            return _Turn(text, sound, whole, usage.get("generated_tokens", 0), usage.get("tokens_per_s", 0.0))
    raise ConnectionError("the turn did not end")


@contextlib.asynccontextmanager
async def _never_silent(client: ParleyClient, agent_id: str) -> AsyncIterator[None]:
    """Another character talks all the time, as fast as its voice can."""
    heard, enough = asyncio.Event(), asyncio.Event()

    async def talk() -> None:
        while not enough.is_set():
            async for frame in client.turn(agent_id, TEXTS[-1]):
                if frame.payload:
                    heard.set()

    talking = asyncio.create_task(talk())
    try:
        await heard.wait()
        yield
    finally:
        enough.set()
        await client.cancel_turn(agent_id)
        await talking


SECTIONS = {"voice": voice}

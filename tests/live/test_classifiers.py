"""Classifying with the starter model: what it costs over ten turns, and what its probabilities may depend on."""

from __future__ import annotations

import asyncio
import itertools
from pathlib import Path
from typing import Any

import pytest

from bridge.catalog import read_catalog
from bridge.config import Settings
from bridge.engines.llama import LlamaBackend
from bridge.engines.llama_context import Context
from bridge.errors import ModelLoadFailed
from tests.talk import Heard, Talk, run, talking, workflow

pytestmark = pytest.mark.live

INTENTS = [
    {"id": "food", "description": "wants to eat or drink something"},
    {"id": "bed", "description": "wants a room for the night"},
    {"id": "news", "description": "asks what happened"},
    {"id": "other", "description": "something else"},
]
LINES = [
    "Good evening, keeper.",
    "I am hungry. What is in the pot tonight?",
    "Do you have a bed for the night?",
    "What happened at the harbour?",
    "A mug of cider, please.",
    "Is the stew still warm?",
    "How much is the room over the stable?",
    "Did the ship come home?",
    "Tell me of the captain.",
    "Good night, keeper.",
]
PAST = [
    {"user": "Is anybody here?", "replies": [{"node_name": "Keeper", "text": "I am, and so is the cat."}]},
    {"user": "It rains like the end of the world.", "replies": [{"node_name": "Keeper", "text": "Come in, then."}]},
]
JUDGE = {
    "name": "judge",
    "type": "ClassifyIntentLLM",
    "system_prompt": "A guest speaks with the keeper of an inn.",
    "intents": INTENTS,
    "history_turns": 2,
    "found_exit": "mira",
    "not_found_exit": "mira",
}
MIRA = {"name": "mira", "type": "Generate", "max_tokens": 24, "sampling": {"temperature": 0.0}, "default_exit": ""}


def probabilities(heard: Heard) -> dict[str, float]:
    found: dict[str, float] = heard.debug["steps"][0]["details"]["probabilities"]
    return found


def step(heard: Heard) -> dict[str, Any]:
    found: dict[str, Any] = heard.debug["steps"][0]
    return found


def test_ten_turns_read_only_what_is_new(starter_model: Path) -> None:
    async def work() -> None:
        async with talking(read_catalog()["starter-chat"]) as talk:
            agent = await talk.agent(workflow(JUDGE, MIRA, model="starter-chat"))
            before, first_turn = "", 0
            dropped = []
            for number, line in enumerate(LINES):
                heard = await talk.say(agent, line)
                assert abs(sum(probabilities(heard).values()) - 1) < 1e-9
                judged = step(heard)
                text, usage = judged["input"]["rendered"], judged["usage"]
                assert usage["generated_tokens"] == 0
                assert usage["evaluated_tokens"] == usage["prompt_tokens"] - usage["cached_tokens"]
                if number:
                    pairs = zip(before, text, strict=False)
                    common = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))
                    held = judged["budget"]["first_turn"] == first_turn
                    dropped.append(not held)
                    # A token of the border may be cut differently on its two sides.
                    new = usage["prompt_tokens"] * (len(text) - common) / len(text)
                    if held:
                        assert LINES[number - 1] in text[:common], "the last player line was read again"
                        assert usage["evaluated_tokens"] < 2 * new + 4
                        assert usage["cached_tokens"] > usage["prompt_tokens"] / 3
                before, first_turn = text, judged["budget"]["first_turn"]
            # Two turns at least, four at most: every third turn drops a block.
            assert dropped == [False, False, False, False, True, False, False, True, False]

    run(work)


EXAMPLES = [
    {"speaker": speaker, "text": text}
    for speaker, text in (
        ("Guest", "A bowl of soup, please."), ("Answer", "A"),
        ("Guest", "I need somewhere to sleep."), ("Answer", "B"),
        ("Guest", "What was that noise yesterday?"), ("Answer", "C"),
        ("Guest", "Your hat is nice."), ("Answer", "D"),
        ("Guest", "I want bread and cheese."), ("Answer", "A"),
        ("Guest", "Is there a free bed here?"), ("Answer", "B"),
    )
]  # fmt: skip


async def judge_all(talk: Talk, *, beside: int) -> list[dict[str, float]]:
    """The probabilities of each line by a new agent with the same past, while `beside` others write long replies."""
    alone = {**JUDGE, "examples": EXAMPLES, "found_exit": "", "not_found_exit": ""}
    judge = await talk.agent(workflow(alone, model="starter-chat"), seed_dialog=PAST)
    others = [await talk.agent(workflow({**MIRA, "max_tokens": 400}, model="starter-chat")) for _ in range(beside)]
    running = [asyncio.ensure_future(talk.say(other, f"Tell me story number {n}.")) for n, other in enumerate(others)]
    found = [probabilities(await talk.say(judge, line)) for line in LINES[:4]]
    for other in others:
        await talk.client.cancel_turn(other)
    await asyncio.gather(*running)
    return found


@pytest.mark.parametrize("deterministic", [False, True])
@pytest.mark.thorough
def test_probabilities_beside_other_agents(starter_model: Path, deterministic: bool) -> None:
    async def work() -> None:
        settings = Settings(deterministic=deterministic)
        async with talking(read_catalog()["starter-chat"], settings=settings) as talk:
            alone = await judge_all(talk, beside=0)
            beside = await judge_all(talk, beside=3)
            again = await judge_all(talk, beside=3)
        # They are read in a context of their own, so nothing that others do can move them, not even by a rounding.
        assert alone == beside == again

    run(work)


@pytest.mark.thorough
def test_without_memory_for_it_decisions_share_and_the_log_says_so(
    starter_model: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    real = LlamaBackend._make

    def scarce(backend: LlamaBackend, cells: int, sequences: int, kv_type: str) -> Context:
        if sequences == 1:
            raise ModelLoadFailed("out of memory")
        return real(backend, cells, sequences, kv_type)

    monkeypatch.setattr(LlamaBackend, "_make", scarce)

    async def work() -> None:
        async with talking(read_catalog()["starter-chat"]) as talk:
            for found in (await judge_all(talk, beside=0), await judge_all(talk, beside=2)):
                assert all(abs(sum(chances.values()) - 1) < 1e-9 for chances in found)

    run(work)
    said = [record.message for record in caplog.records if "decisions of their own" in record.message]
    assert said == ["there is no room for decisions of their own (out of memory): what else runs may move their scores"]


@pytest.mark.parametrize(
    "letter", [pytest.param("A", marks=pytest.mark.thorough), "B", "C", pytest.param("D", marks=pytest.mark.thorough)]
)
def test_the_scores_are_those_of_the_letters(starter_model: Path, letter: str) -> None:
    """A model that has seen one answer only expects it: so the right tokens are read at the right place."""
    examples = [{**line, "text": letter} if line["speaker"] == "Answer" else line for line in EXAMPLES]
    judge = {**JUDGE, "history_turns": 0, "examples": examples, "found_exit": "", "not_found_exit": ""}

    async def work() -> None:
        async with talking(read_catalog()["starter-chat"]) as talk:
            agent = await talk.agent(workflow(judge, model="starter-chat", player_name="Guest"))
            chances = probabilities(await talk.say(agent, "Is the stew still warm?"))
            expected = INTENTS["ABCD".index(letter)]["id"]
            assert max(chances, key=lambda intent: chances[intent]) == expected, chances
            assert chances[expected] > 0.35

    run(work)

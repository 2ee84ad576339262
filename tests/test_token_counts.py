"""Counting tokens: never in vain, never for long on the event loop, never remembered without bound."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

from bridge import summary, token_counts
from bridge.prompt import View
from bridge.protocol import Interaction, Output
from bridge.token_counts import BYTES_OF_A_TOKEN, COUNTED_AT_ONCE, REMEMBERED_BYTES, Counter, TokenCounts, measure
from tests.talk import run, scripted, talking, workflow


class Words:
    """Counts words, and what was counted."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.threads: list[str] = []

    def __call__(self, text: str) -> int:
        self.texts.append(text)
        self.threads.append(threading.current_thread().name)
        return len(text.split())

    @property
    def chars(self) -> int:
        return sum(map(len, self.texts))


def test_each_text_is_counted_once() -> None:
    words = Words()
    counts = TokenCounts(words)
    long = "word " * 1_000
    for _ in range(2):
        assert [counts.count("a b"), counts.count(long), counts.count("")] == [2, 1_000, 0]
    assert words.texts == ["a b", long]


def test_long_texts_are_not_kept() -> None:
    counts = TokenCounts(lambda text: 1)
    for index in range(100):
        counts.count(f"{index} " * 20_000)
    assert counts.remembered_bytes < 100 * 300
    assert all(len(key) <= 512 for key in counts._known)


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(token_counts, "REMEMBERED_BYTES", 20_000)
    counts = TokenCounts(lambda text: 1)
    most = 0
    for index in range(2_000):
        counts.count(f"text {index}")
        most = max(most, len(counts._known))
    assert 50 < most < 200
    assert counts.remembered_bytes < 21_000 < REMEMBERED_BYTES


def test_what_cannot_fit_is_not_tokenized() -> None:
    words = Words()
    count = Counter(TokenCounts(words), 100)
    assert count("a" * (101 * BYTES_OF_A_TOKEN)) == 101
    assert count.once("a" * (500 * BYTES_OF_A_TOKEN)) == 500
    assert words.texts == []
    assert count("a b " * 10) == 20


def test_trials_are_not_remembered() -> None:
    words = Words()
    counts = TokenCounts(words)
    count = Counter(counts, 100)
    assert count.once("a b") == count.once("a b") == 2
    assert len(words.texts) == 2 and counts.look_up("a b") is None


def test_much_is_counted_in_a_worker_and_little_here() -> None:
    words = Words()
    counts = TokenCounts(words)

    async def count(texts: list[str]) -> int:
        return await measure(counts, 10_000, lambda count: sum(map(count, texts)))

    async def work() -> None:
        little = [f"{index} " * 10 for index in range(100)]
        assert await count(little) == 1_000
        assert set(words.threads) == {threading.main_thread().name}
        words.threads.clear()
        # Each is short; together they are more than the loop may count.
        assert await count([f"{index} " * 300 for index in range(100)]) == 30_000
        here = sum(name == threading.main_thread().name for name in words.threads)
        assert 0 < here * 600 <= COUNTED_AT_ONCE + 1_000
        assert words.threads[-1].startswith("parley-search")
        words.threads.clear()
        assert await count([f"{index} " * 300 for index in range(100)]) == 30_000
        assert words.threads == []

    run(work)


def test_cutting_a_long_text_counts_little_of_it() -> None:
    words = Words()
    text = "word " * 400_000
    cut = summary._cut(text, 1_000, words)
    assert len(cut.split()) == 1_000 and len(f"{cut}word".split()) >= 1_000
    assert words.chars < 40 * 5_000
    for tokens in range(5):
        assert len(summary._cut("a b c", tokens, words).split()) == min(tokens, 3)
    assert summary._cut("abc", 3, len) == "abc"
    assert summary._cut("abcdefgh", 5, len) == "abcde"


def test_a_pass_of_a_summary_does_not_count_a_huge_turn() -> None:
    words = Words()
    count = Counter(TokenCounts(words), 4_096)
    history = [Interaction(turn_id=1, user="hi", outputs=[output("the quick brown fox " * 100_000)])]
    view = View(
        node_name="s",
        system_prompt="",
        player_name="Player",
        history=history,
        first_turn=0,
        user_message="x",
        outputs=[],
        area=[],
    )
    made = summary.next_pass(view, range(0, 1), "", budget=1_000, count=count.once)
    assert made.covers == 1
    assert 900 < len(made.messages[0].content.split()) <= 1_000
    assert words.chars < 400_000


def output(text: str) -> Output:
    return Output(step=1, node_name="n", slot="n", text=text, history_role="Assistant")


@pytest.mark.parametrize(
    "node",
    [
        {"name": "n", "type": "Generate", "max_tokens": 4},
        {"name": "n", "type": "Summarize", "max_tokens": 16, "trigger_tokens": 100, "keep_recent_turns": 1},
    ],
)
def test_a_turn_after_a_huge_one_counts_nothing_long_on_the_event_loop(node: dict[str, Any]) -> None:
    counted: list[tuple[int, str]] = []

    def noting(tokens_of: Callable[[str], int]) -> Callable[[str], int]:
        def count(text: str) -> int:
            counted.append((len(text), threading.current_thread().name))
            return tokens_of(text)

        return count

    async def work() -> None:
        async with talking(scripted("well", "well", context_size=4096)) as talk:
            texts = ["hello there, " * 20_000, "far too long " * 200_000]
            turns = [{"user": "hi", "replies": [{"node_name": "n", "text": text}]} for text in texts]
            agent_id = await talk.agent(workflow(node, model="script"), seed_dialog=turns)
            (agent,) = talk.sessions[0]._agents.values()
            counts = agent._cast.models["script"].counts
            counts.tokens_of = noting(counts.tokens_of)
            assert (await talk.say(agent_id, "hello")).complete.status == "Success"
            assert len(counts._known) < 8  # the trials of a cut are not among them

    run(work)
    here = threading.main_thread().name
    assert counted
    assert sum(chars for chars, thread in counted if thread == here) <= COUNTED_AT_ONCE
    assert max(chars for chars, _ in counted) < 2_000_000


def test_a_tool_s_result_is_text_of_its_turn() -> None:
    from bridge.config import Settings
    from bridge.errors import LimitExceeded
    from bridge.protocol import NodeEvent, ToolResult, TurnComplete

    call = scripted('<tool_call>{"name":"look","arguments":{}}</tool_call>')
    flow = workflow(
        {"name": "t", "type": "ToolCall", "tools": [{"name": "look"}], "wait_for_result_s": 30.0,
         "history_disposition": "Pair", "tool_called_exit": "", "no_tool_called_exit": ""},
        model="script",
    )  # fmt: skip

    async def work() -> None:
        async with talking(call, settings=Settings(max_turn_chars=2_000)) as talk:
            agent_id = await talk.agent(flow)
            refused = 0
            async for frame in talk.client.turn(agent_id, "look"):
                if isinstance(frame.message, NodeEvent) and frame.message.event == "tool_call":
                    call_id = frame.message.data["call_id"]
                    with pytest.raises(LimitExceeded, match=r"2001 characters more .* \(max_turn_chars\)"):
                        await talk.client.request(ToolResult(agent_id=agent_id, call_id=call_id, result="x" * 2_001))
                    refused += 1
                    await talk.client.request(ToolResult(agent_id=agent_id, call_id=call_id, result="dark"))
                if isinstance(frame.message, TurnComplete):
                    assert frame.message.status == "Success" and frame.message.interaction is not None
                    assert frame.message.interaction.tool_calls[0].result == "dark"
            assert refused == 1

    run(work)


def test_asyncio_waits_for_nothing_where_little_is_counted() -> None:
    """`measure` gives the loop to nobody, so that a usual turn is not slowed down."""
    counts = TokenCounts(lambda text: 1)
    going = measure(counts, 100, lambda count: count("a"))
    with pytest.raises(StopIteration) as done:
        going.send(None)
    assert done.value.value == 1
    assert asyncio.iscoroutine(going)

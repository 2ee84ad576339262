"""The token budget: trimming with hysteresis, one-way cursors, and the properties of every prompt."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.budget import MESSAGE_COST, Fit, cost_of_messages, fit_turns
from bridge.chat_format import JinjaFormat, Script, TranscriptFormat, prompt_tokens
from bridge.prompt import View, earlier_turn, project, user_area
from bridge.protocol import Interaction, Output
from tests.talk import Heard, run, scripted, talking, workflow
from tests.test_chat_format import CHATML, GEMMA, LATE_SYSTEM, LetterVocabulary


def fit(costs: list[int], budget: int, fixed: int = 10, first: int = 0) -> Fit:
    return fit_turns(fixed, costs.__getitem__, first, len(costs), budget)


def test_at_or_under_the_budget_nothing_is_dropped() -> None:
    assert fit([30, 30, 30], 100) == Fit(0, 100, over=False)
    assert fit([], 10) == Fit(0, 10, over=False)


def test_over_the_budget_whole_turns_go_until_three_quarters() -> None:
    assert fit([30, 30, 30], 99) == Fit(1, 70, over=False)
    assert fit([1, 65, 25], 100) == Fit(2, 35, over=False)
    assert fit([30, 65], 100) == Fit(1, 75, over=False)
    assert fit([30, 66], 100) == Fit(2, 10, over=False)


def test_the_cursor_is_where_looking_back_ends() -> None:
    assert fit([1000, 30, 30], 100, first=1) == Fit(1, 70, over=False)


def test_fixed_parts_over_the_budget_leave_no_history() -> None:
    assert fit([1, 1], 9) == Fit(2, 10, over=True)
    assert fit([], 9) == Fit(0, 10, over=True)


def test_a_million_turns_are_not_looked_at() -> None:
    seen = []

    def cost(index: int) -> int:
        seen.append(index)
        return 10

    assert fit_turns(10, cost, 0, 1_000_000, 100).first == 1_000_000 - 6
    assert len(seen) == 10


@given(st.lists(st.integers(1, 60), max_size=30), st.integers(0, 200), st.integers(0, 80), st.data())
def test_fits_of_every_history(costs: list[int], budget: int, fixed: int, data: st.DataObject) -> None:
    first = data.draw(st.integers(0, len(costs)))
    found = fit(costs, budget, fixed, first)
    assert first <= found.first <= len(costs)
    assert found.estimate == fixed + sum(costs[found.first :])
    if found.over:
        assert fixed > budget
    elif fixed + sum(costs[first:]) <= budget:
        assert found.first == first
    else:
        assert found.estimate * 4 <= budget * 3 or found.first == len(costs)
        # No turn more than needed is dropped.
        assert found.first == first or (found.estimate + costs[found.first - 1]) * 4 > budget * 3
    # The same prompt one turn later is not trimmed again while it is under the budget.
    again = fit(costs, budget, fixed, found.first)
    assert again.first >= found.first


# ---- whole prompts, in every format --------------------------------------------------------------------------

words = st.lists(st.sampled_from(["ale", "stew", "lute"]), max_size=6).map(" ".join)
turns = st.builds(
    lambda user, texts: Interaction(
        turn_id=0,
        user=user,
        outputs=[
            Output(step=i + 1, node_name=n, slot=n, text=t, history_role="Assistant", history_name=h)
            for i, (n, t, h) in enumerate(texts)
        ],
    ),
    words,
    st.lists(st.tuples(st.sampled_from(["mira", "bram"]), words, st.sampled_from(["", "Old Bram"])), max_size=3),
)
VOCABULARY = LetterVocabulary(bos=1)
FORMATS = [JinjaFormat(t, VOCABULARY, bos_text="<bos>") for t in (CHATML, GEMMA, LATE_SYSTEM)]


def numbered(history: list[Interaction]) -> list[Interaction]:
    """Every text marked with its turn, so that it can be found again."""
    marked = []
    for index, turn in enumerate(history):
        outputs = [o.model_copy(update={"text": f"#{index} {o.text}"}) for o in turn.outputs]
        marked.append(
            turn.model_copy(update={"user": f"#{index} {turn.user}" if turn.user else "", "outputs": outputs})
        )
    return marked


@given(st.lists(turns, max_size=12), words, st.integers(20, 400), st.sampled_from(FORMATS))
def test_every_prompt_keeps_system_and_current_turn_and_whole_turns_in_order(
    history: list[Interaction], line: str, budget: int, format_: JinjaFormat
) -> None:
    history = numbered(history)
    text = f"NOW {line}"
    view = View(
        node_name="mira",
        system_prompt="PERSONA",
        player_name="Player",
        history=history,
        first_turn=0,
        user_message=text,
        outputs=[],
        area=user_area(
            input_text=text, user_message=text, rendering=None, placement="InPlaceOfUser", player_name="Player"
        ),
    )
    fixed = cost_of_messages(project(replace(view, first_turn=len(history))), len)
    found = fit_turns(fixed, lambda i: cost_of_messages(earlier_turn(view, i), len), 0, len(history), budget)
    messages = project(replace(view, first_turn=found.first))
    assert cost_of_messages(messages, len) == found.estimate
    rendered = format_.render(messages, Script("mira", "Player")).text
    assert rendered.count("PERSONA") == 1
    assert rendered.count("NOW ") == 1
    shown = [int(number) for number in re.findall(r"#(\d+) ", rendered)]
    expected = [
        index
        for index in range(found.first, len(history))
        for _ in range(bool(history[index].user) + len(history[index].outputs))
    ]
    assert shown == expected
    if not format_.traits.neighbours:
        roles = re.findall(r"<start_of_turn>(\w+)|\[(user|assistant)\]", rendered)
        names = [a or b for a, b in roles]
        assert names[:1] in (["user"], [])
        assert all(one != other for one, other in pairwise(names))


# ---- through the wire, exact with the mock engine ------------------------------------------------------------


def node(**parameters: Any) -> dict[str, Any]:
    return {"name": "a", "type": "Generate", "max_tokens": 20, "context_size": 100, **parameters}


def budget_of(turn: Heard, step: int = 1) -> dict[str, Any]:
    found: dict[str, Any] = turn.debug["steps"][step - 1]["budget"]
    return found


def talk_through(flow: dict[str, Any], lines: list[str], reply: str = "four words of reply") -> list[Heard]:
    turns: list[Heard] = []

    async def work() -> None:
        async with talking(scripted(reply)) as talk:
            agent_id = await talk.agent({**flow, "default_model": "script"})
            for line in lines:
                turns.append(await talk.say(agent_id, line))

    run(work)
    return turns


def test_trims_are_exact_and_as_rare_as_the_arithmetic_says() -> None:
    # System 2 + 8; a turn 3 + 8 and 4 + 8 = 23; the current line 3 + 8. Budget 80: 10 + 11 + 2 × 23 = 67 fits,
    # 3 × 23 = 90 does not; three quarters are 60, so one earlier turn stays (44). Each trim drops two turns.
    turns = talk_through(workflow(node(system_prompt="be kind")), [f"{n}a {n}b {n}c" for n in range(10)])
    assert [budget_of(t)["first_turn"] for t in turns] == [0, 0, 0, 2, 2, 4, 4, 6, 6, 8]
    assert [budget_of(t)["estimate"] for t in turns] == [21, 44, 67, 44, 67, 44, 67, 44, 67, 44]
    assert [t.complete.dropped_turns for t in turns] == [0, 0, 0, 2, 0, 2, 0, 2, 0, 2]
    evaluated = [t.debug["steps"][0]["usage"]["evaluated_tokens"] for t in turns]
    # On a turn without a trim only the new line is read (the mock holds its own reply); on a trim the kept turn too.
    assert evaluated == [5, 3, 3, 10, 3, 10, 3, 10, 3, 10]


def test_reply_length_is_apart_from_history_and_per_node() -> None:
    flow = workflow(node(max_tokens=2, history_role="None"), node(name="b", max_tokens=60))
    (turn,) = talk_through(flow, ["hello"])
    assert turn.text("a") == "four words"
    assert turn.text("b") == "four words of reply"
    assert (budget_of(turn, 1)["prompt_budget"], budget_of(turn, 2)["prompt_budget"]) == (98, 40)


def test_a_dropped_turn_never_comes_back_and_stays_in_the_history() -> None:
    lines = ["one two three", "x " * 50, "again", "and", "so"]
    turns = talk_through(workflow(node()), lines)
    first = [budget_of(t)["first_turn"] for t in turns]
    assert first == sorted(first)
    assert first[1] == 1
    assert [t.interaction.user for t in turns] == lines


def test_over_budget_warns_shows_no_history_and_goes_on() -> None:
    turns = talk_through(workflow(node(max_tokens=60)), ["one", "w " * 39, "two"])
    assert turns[1].complete.status == "Success"
    assert budget_of(turns[1])["first_turn"] == 1
    assert ["PromptOverBudget" in warning for warning in turns[1].debug["warnings"]] == [True]
    assert turns[2].debug["warnings"] == []
    assert turns[2].complete.status == "Success"


@pytest.mark.parametrize("system_prompt", ["p " * 99, "p " * 5000])
def test_a_prompt_that_cannot_fit_fails_the_turn_only(system_prompt: str) -> None:
    async def work() -> None:
        async with talking(scripted("fine")) as talk:
            guard = {
                "name": "g", "type": "HumanMessageGuardrail", "inline_strings": ["long"],
                "triggered_exit": "a", "not_triggered_exit": "b",
            }  # fmt: skip
            flow = workflow(guard, node(system_prompt=system_prompt, default_exit=""), node(name="b"), model="script")
            agent_id = await talk.agent(flow)
            turn = await talk.say(agent_id, "long")
            assert turn.complete.error is not None
            assert (turn.complete.error.code, turn.complete.error.node_name) == (4004, "a")
            assert (await talk.say(agent_id, "short")).text("b") == "fine"

    run(work)


def test_the_smallest_budget_still_answers() -> None:
    turns = talk_through(workflow(node(context_size=4, max_tokens=1)), ["hi", "you", "a b c", "a b c d"], reply="yes")
    assert [t.complete.status for t in turns] == ["Success", "Success", "Success", "Error"]
    assert [t.text("a") for t in turns[:3]] == ["yes", "yes", "yes"]


def test_real_tokens_are_not_trusted_to_the_estimate() -> None:
    """A format that writes more than a message is taken to cost: turns go until prompt and reply fit the window."""

    class Wordy(TranscriptFormat):
        def render(self, messages: Any, script: Script) -> Any:
            rendered = super().render(messages, script)
            return replace(rendered, segments=rendered.segments * 3)

    async def work() -> None:
        async with talking(scripted("four words of reply")) as talk:
            agent_id = await talk.agent(workflow(node(), model="script"))
            agent = talk.sessions[0]._agents[agent_id]
            agent._cast.models["script"].format = Wordy()
            for index in range(8):
                turn = await talk.say(agent_id, "say it now")
                assert turn.complete.status == "Success"
                usage = turn.debug["steps"][0]["usage"]
                assert usage["prompt_tokens"] + 20 <= 100
                assert index < 3 or budget_of(turn)["first_turn"] > 0

    run(work)


def test_examples_count_with_the_system_message() -> None:
    examples = [{"speaker": "A", "text": "one two"}, {"speaker": "B", "text": "three"}]
    (with_system,) = talk_through(workflow(node(system_prompt="s", examples=examples)), ["hi"])
    (without,) = talk_through(workflow(node(examples=examples)), ["hi"])
    assert budget_of(with_system)["estimate"] == (1 + 5 + MESSAGE_COST) + (1 + MESSAGE_COST)
    assert budget_of(without)["estimate"] == (5 + MESSAGE_COST) + (1 + MESSAGE_COST)


def test_prompt_tokens_of_the_letter_vocabulary() -> None:
    # The property test above counts letters; this says that they are what the formats' tokens are.
    rendered = FORMATS[1].render([], Script("a", "b"))
    assert prompt_tokens(rendered, VOCABULARY)[0] == 1


# ---- what the next prompt begins with ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({}, None),
        ({"input": "user_message"}, None),
        # The mock engine's format writes messages as they are: "be kind" + "say it now" stay, the template's text goes.
        ({"template": "Now: {{user_message}}!"}, 2),
        ({"history_role": "None"}, 5),
        ({"history_name": "Mira"}, 5),
    ],
)
def test_a_node_knows_what_its_next_prompt_begins_with(parameters: dict[str, Any], expected: int | None) -> None:
    seen: list[int | None] = []

    async def work() -> None:
        async with talking(scripted("reply")) as talk:
            agent_id = await talk.agent(workflow(node(system_prompt="be kind", **parameters), model="script"))
            engine = talk.sessions[0]._agents[agent_id]._cast.models["script"].engine
            generate = engine.generate

            def noted(request: Any) -> Any:
                seen.append(request.replay)
                return generate(request)

            engine.generate = noted  # type: ignore[method-assign]  # a seam of this test
            await talk.say(agent_id, "say it now")

    run(work)
    assert seen == [expected]

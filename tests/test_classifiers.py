"""Classifiers with a language model: what counts as found, what the model is shown, what later nodes read."""

from __future__ import annotations

import asyncio
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge import errors, protocol
from bridge.catalog import CatalogEntry
from bridge.classify import LETTERS, Label, decide, intent_task, softmax, turns_shown
from bridge.config import Settings
from bridge.engine import Segment
from bridge.engines.mock import MockVocabulary
from bridge.engines.scheduler import Scheduler
from tests.fakes_engine import Gate, ScriptedBackend
from tests.talk import Heard, run, scripted, talking, workflow

INTENTS = [
    {"id": "trade", "description": "buy sell coins"},
    {"id": "fight", "description": "hit kill sword"},
    {"id": "other", "description": "none of these"},
]


def intent(name: str = "i", **parameters: Any) -> dict[str, Any]:
    parameters = {"intents": INTENTS, **parameters}
    return {"name": name, "type": "ClassifyIntentLLM", "found_exit": "yes", "not_found_exit": "no", **parameters}


def attributes(name: str = "a", **parameters: Any) -> dict[str, Any]:
    return {"name": name, "type": "ClassifyAttributesLLM", "attributes": ATTRIBUTES, **parameters}


ATTRIBUTES = [
    {
        "name": "mood",
        "question": "How does the player feel?",
        "labels": [{"id": "glad", "description": "happy laugh"}, {"id": "sad", "description": "weep tears"}],
    },
    {
        "name": "loud",
        "question": "Is it shouted?",
        "labels": [{"id": "yes", "description": "shout"}, {"id": "no", "description": "whisper"}],
    },
]


def says(name: str, template: str) -> dict[str, Any]:
    return {"name": name, "type": "Transform", "template": template, "send": "Whole", "default_exit": ""}


def generate(name: str = "g", **parameters: Any) -> dict[str, Any]:
    return {"name": name, "type": "Generate", **parameters}


ENDS = (says("yes", "found {{intent}}"), says("no", "none{{intent}}"))


def heard(flow: dict[str, Any], *lines: str, models: tuple[Any, ...] = (), **options: Any) -> list[Heard]:
    turns: list[Heard] = []

    async def work() -> None:
        async with talking(*models) as talk:
            agent_id = await talk.agent(flow, **options)
            for line in lines:
                turns.append(await talk.say(agent_id, line))

    run(work)
    return turns


def details(turn: Heard, step: int = 1) -> dict[str, Any]:
    found: dict[str, Any] = turn.debug["steps"][step - 1]["details"]
    return found


def events(turn: Heard) -> list[tuple[str, dict[str, Any]]]:
    return [(m.event, m.data) for m in turn.messages if isinstance(m, protocol.NodeEvent)]


def share(*scores: float) -> list[float]:
    total = sum(map(math.exp, scores))
    return [math.exp(score) / total for score in scores]


# ---- numbers -------------------------------------------------------------------------------------------------


@given(st.lists(st.floats(), min_size=1, max_size=26))
def test_softmax_sums_to_one_whatever_the_scores_are(scores: list[float]) -> None:
    chances = softmax(scores)
    assert math.isclose(math.fsum(chances), 1, abs_tol=1e-9)
    assert all(0 <= chance <= 1 for chance in chances)


def test_softmax_of_scores_that_are_no_numbers() -> None:
    assert softmax([]) == []
    assert softmax([math.nan, 0.0]) == [0, 1]
    assert softmax([-math.inf, 3.0, -math.inf]) == [0, 1, 0]
    assert softmax([math.nan, -math.inf]) == [0.5, 0.5]
    assert softmax([1e308, -1e308]) == [1, 0]
    assert softmax([2.0, 0.0]) == pytest.approx(share(2, 0))


TWO = [Label("a", "A"), Label("b", "B")]


@pytest.mark.parametrize(
    ("chances", "threshold", "margin", "rest", "found"),
    [
        ([0.6, 0.4], 0.6, 0.15, "", True),
        ([0.59, 0.41], 0.6, 0, "", False),
        ([0.75, 0.25], 0.5, 0.5, "", True),
        ([0.74, 0.26], 0.5, 0.5, "", False),
        ([0.9, 0.1], 0.5, 0.1, "a", False),
        ([0.9, 0.1], 0.5, 0.1, "b", True),
        ([0.5, 0.5], 0, 0, "", True),
    ],
)
def test_found_needs_threshold_margin_and_a_winner_that_means_something(
    chances: list[float], threshold: float, margin: float, rest: str, found: bool
) -> None:
    made = decide(TWO, chances, threshold=threshold, margin=margin, rest=rest)
    assert made.winner == "a"
    assert (made.reason == "") is found
    assert made.margin == pytest.approx(chances[0] - chances[1])


def test_a_single_label_is_ahead_of_nothing() -> None:
    made = decide([Label("a", "A")], [1.0], threshold=1, margin=1, rest="")
    assert (made.winner, made.margin, made.reason) == ("a", 1.0, "")


# ---- found and not found -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "parameters", "spoken", "reason"),
    [
        ("buy or sell", {}, "found trade", ""),
        ("SELL it, Buy it", {}, "found trade", ""),
        ("buy buy buy", {}, "found trade", ""),  # e/(e+2) = 0.576, 0.364 ahead
        ("buy", {"threshold": 0.58}, "none", "below the threshold 0.58"),
        ("buy", {"margin": 0.4}, "none", "0.364 ahead of"),
        ("buy with a sword", {"threshold": 0}, "none", "only 0.000 ahead of"),
        ("buy with a sword", {"threshold": 0, "margin": 0}, "found trade", ""),
        ("hello", {"threshold": 0}, "none", "only 0.000 ahead"),
        ("none of these", {}, "found other", ""),
        ("none of these", {"not_found_intent": "other"}, "none", "'other', which stands for none"),
        ("buy coins", {"not_found_intent": "other"}, "found trade", ""),
        ("", {"threshold": 0.34}, "none", "below the threshold"),
    ],
)
def test_what_counts_as_found(line: str, parameters: dict[str, Any], spoken: str, reason: str) -> None:
    (turn,) = heard(workflow(intent(**parameters), *ENDS), line)
    assert [answer.text for answer in turn.answers] == [spoken]
    assert reason in details(turn)["reason"]
    assert bool(details(turn)["reason"]) is bool(reason)
    assert turn.interaction.intent == spoken.removeprefix("found ").replace("none", "")


def test_the_probabilities_are_the_softmax_of_the_scores() -> None:
    (turn,) = heard(workflow(intent(), *ENDS), "Buy and sell, sell, with a sword")
    facts = details(turn)
    assert list(facts["probabilities"]) == ["trade", "fight", "other"]
    assert list(facts["probabilities"].values()) == pytest.approx(share(2, 1, 0))
    assert facts["best"] == "trade"
    assert facts["probability"] == pytest.approx(share(2, 1, 0)[0])
    assert facts["margin"] == pytest.approx(share(2, 1, 0)[0] - share(2, 1, 0)[1])
    assert turn.debug["steps"][0]["usage"]["generated_tokens"] == 0
    assert turn.complete.tokens_generated == 0
    assert turn.complete.finish == []


def test_scores_are_of_the_input_not_of_the_line_or_the_prompt() -> None:
    flow = workflow(
        {"name": "t", "type": "Transform", "template": "hit", "default_exit": "i"},
        intent(input="t"),
        *ENDS,
    )
    (turn,) = heard(flow, "buy sell coins")
    assert turn.text("yes") == "found fight"
    assert turn.prompt(2)[-2] == ("user", "hit")
    flow["nodes"][0]["template"] = ""
    (turn,) = heard(flow, "buy sell coins")  # an empty input: the line itself
    assert turn.text("yes") == "found trade"


def test_an_empty_line_scores_nothing_whatever_was_said_before() -> None:
    first, second = heard(workflow(intent(), *ENDS), "buy and sell", "")
    assert first.interaction.intent == "trade"
    assert list(details(second)["probabilities"].values()) == pytest.approx([1 / 3] * 3)
    assert second.text("no") == "none"


def test_a_later_classifier_has_the_last_word_about_the_intent() -> None:
    flow = workflow(
        intent("first", found_exit="second", not_found_exit="second"),
        intent("second", intents=[{"id": "only", "description": "hit"}], threshold=1, margin=1),
        *ENDS,
    )
    (turn,) = heard(flow, "buy")
    assert turn.interaction.intent == "only"
    flow["nodes"][1]["not_found_intent"] = "only"
    (turn,) = heard(flow, "buy")
    assert turn.text("no") == "none"
    assert turn.interaction.intent == ""


def test_26_intents_are_told_apart() -> None:
    many = [{"id": f"i{n}", "description": f"word{n}"} for n in range(26)]
    (turn,) = heard(workflow(intent(intents=many, threshold=0.05, margin=0), *ENDS), "word25")
    assert turn.text("yes") == "found i25"
    assert "Z: word25" in turn.prompt(1)[0][1]

    async def refused() -> None:
        async with talking() as talk:
            too_many = [*many, {"id": "i26", "description": "x"}]
            with pytest.raises(errors.InvalidValue, match="26") as fault:
                await talk.agent(workflow(intent(intents=too_many), *ENDS))
            assert fault.value.path == "$.nodes[0].intents"

    run(refused)


# ---- what the model reads ------------------------------------------------------------------------------------


def test_the_prompt_of_a_decision() -> None:
    flow = workflow(generate(system_prompt="You are Mira.", default_exit="i"), intent(system_prompt="Judge."), *ENDS)
    first, second = heard(flow, "buy", "sell")
    task = intent_task([Label(i["id"], i["description"]) for i in INTENTS])
    question = "Which answer fits the last message best? Reply with its letter only."
    assert task.endswith("A: buy sell coins\nB: hit kill sword\nC: none of these")
    assert first.prompt(2) == [
        ("system", f"Judge.\n\n{task}"),
        ("user", "buy"),
        ("assistant", "buy"),
        ("user", "buy"),
        ("system", question),
    ]
    assert second.prompt(2)[1:3] == [("user", "buy"), ("assistant", "buy")]
    assert [role for role, _ in second.prompt(2)] == ["system", *["user", "assistant"] * 2, "user", "system"]
    # Nothing of it is left in the history, and the other node's prompt knows nothing of it.
    assert [output.node_name for output in second.interaction.outputs] == ["g", "yes"]
    assert second.prompt(1) == [("system", "You are Mira."), ("user", "buy"), ("assistant", "buy"), ("user", "sell")]


def test_past_turns_use_the_plain_line_and_only_the_current_message_the_input() -> None:
    flow = workflow(
        {"name": "t", "type": "Transform", "template": "<{{user_message}}>", "default_exit": "i"},
        intent(input="t"),
        *ENDS,
    )
    turns = heard(flow, "one", "two", "three")
    assert [text for role, text in turns[2].prompt(2) if role == "user"] == ["one", "two", "<three>"]


@pytest.mark.parametrize("history_turns", [0, 1, 2, 3])
def test_past_turns_leave_the_view_in_blocks_and_only_new_tokens_are_read(history_turns: int) -> None:
    """Each turn is "word" (1 token) and the reply "word"; a plain mock prompt is the words of its messages."""
    flow = workflow(intent(history_turns=history_turns, threshold=0, margin=0, found_exit="g"), generate(), *ENDS)
    turns = heard(flow, *(f"line{n}" for n in range(12)))
    expected_shown = {
        0: [0] * 12,
        1: [0, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1],
        2: [0, 1, 2, 3, 4, 2, 3, 4, 2, 3, 4, 2],
        3: [0, 1, 2, 3, 4, 5, 6, 3, 4, 5, 6, 3],
    }[history_turns]
    system = len(turns[0].prompt(1)[0][1].split())
    question = len(turns[0].prompt(1)[-1][1].split())
    shown_before = 0
    for number, (turn, shown) in enumerate(zip(turns, expected_shown, strict=True)):
        assert turns_shown(number, history_turns) == shown
        past = [(role, f"line{n}") for n in range(number - shown, number) for role in ("user", "assistant")]
        assert turn.prompt(1)[1:-1] == [*past, ("user", f"line{number}")]
        usage = turn.debug["steps"][0]["usage"]
        assert usage["prompt_tokens"] == system + 2 * shown + 1 + question
        if number == 0:
            kept = 0
        elif shown == shown_before + 1:
            kept = system + 2 * shown_before + 1  # all but the question, which stood behind the last line
        elif shown:
            kept = system  # a block left: what is behind the system message moved
        else:
            kept = system
        assert usage["cached_tokens"] == kept, number
        assert usage["evaluated_tokens"] == usage["prompt_tokens"] - kept
        shown_before = shown


@given(st.integers(0, 5), st.integers(0, 60))
def test_the_view_drops_to_history_turns_and_grows_by_one(history_turns: int, total: int) -> None:
    now, following = turns_shown(total, history_turns), turns_shown(total + 1, history_turns)
    assert min(total, history_turns) <= now <= min(total, 2 * history_turns)
    assert following == now + 1 or (following == history_turns and now == 2 * history_turns)


def test_a_summary_hides_what_it_covers_and_is_not_shown_itself() -> None:
    flow = workflow(
        intent(history_turns=4, threshold=0, margin=0, found_exit="g"),
        generate(default_exit="sum"),
        {"name": "sum", "type": "Summarize", "model": "summaries", "trigger_tokens": 60, "keep_recent_turns": 2},
        *ENDS,
        model="echo",
    )
    # A turn is 1 + 8 and 1 + 8 tokens, so four reach 60; the running one and the one before stay out.
    turns = heard(flow, *(f"l{n}" for n in range(6)), models=(scripted("They met.", "More.", name="summaries"),))
    written = [data["covers"] for turn in turns for event, data in events(turn) if event == "summary_written"]
    assert written[0] == 2
    seen = [[text for role, text in turn.prompt(1) if role == "user"] for turn in turns]
    assert seen[3] == ["l0", "l1", "l2", "l3"]
    assert seen[4] == ["l2", "l3", "l4"]
    assert not any("They met." in text for turn in turns for _, text in turn.prompt(1))
    assert "They met." in turns[4].prompt(2)[0][1]


def test_a_turn_that_a_small_window_dropped_from_a_classifier_does_not_come_back() -> None:
    flow = workflow(
        {"name": "t", "type": "Transform", "template": "{{#var.long}}{{.}} {{/var.long}}", "default_exit": "i"},
        intent(input="t", history_turns=3, threshold=0, margin=0, context_size=200, max_tokens=1),
        *ENDS,
        variables=[{"name": "long", "type": "string_set", "value": []}],
    )
    firsts, dropped = [], []

    async def work() -> None:
        async with talking() as talk:
            agent_id = await talk.agent(flow)
            for number in range(8):
                long = [f"w{index}" for index in range(130 if number == 4 else 0)]
                await talk.client.request(protocol.SetVariables(agent_id=agent_id, values={"long": long}))
                turn = await talk.say(agent_id, f"l{number}")
                firsts.append(turn.debug["steps"][1]["budget"]["first_turn"])
                dropped.append(turn.complete.dropped_turns)
                assert turn.complete.status == "Success"

    run(work)
    assert dropped == [0, 0, 0, 0, 4, 0, 0, 0]
    assert firsts == [0, 0, 0, 0, 4, 4, 4, 4]


def test_more_history_turns_show_more_at_once() -> None:
    async def work() -> None:
        async with talking() as talk:
            agent_id = await talk.agent(workflow(intent(history_turns=0, threshold=0, margin=0), *ENDS))
            for number in range(4):
                assert [role for role, _ in (await talk.say(agent_id, f"l{number}")).prompt(1)][1:-1] == ["user"]
            change = protocol.ChangeParams(agent_id=agent_id, node_name="i", params={"history_turns": 2})
            await talk.client.request(change)
            turn = await talk.say(agent_id, "l4")
            assert [text for role, text in turn.prompt(1) if role == "user"] == ["l0", "l1", "l2", "l3", "l4"]

    run(work)


# ---- attributes ----------------------------------------------------------------------------------------------


def test_one_label_for_each_question() -> None:
    flow = workflow(
        attributes(system_prompt="Judge."),
        says("t", "{{attribute.mood}}/{{attribute.loud}}{{#attribute.loud}} loud{{/attribute.loud}}"),
    )
    first, second, third = heard(flow, "tears, I shout", "I whisper and weep with tears", "well")
    assert first.text("t") == "sad/yes loud"
    assert second.text("t") == "sad/no loud"
    assert third.text("t") == "glad/yes loud"  # even odds reach the threshold of one half
    assert first.interaction.attributes == {"mood": "sad", "loud": "yes"}
    facts = details(first)
    assert facts["probabilities"]["mood"]["sad"] == pytest.approx(share(0, 1)[1])
    assert facts["reasons"] == {}
    assert first.prompt(1) == [  # the last question's
        ("system", "Judge.\n\nAnswer questions about the last message."),
        ("user", "tears, I shout"),
        ("system", "Is it shouted?\nA: shout\nB: whisper\nReply with the letter of the answer that fits best."),
    ]


def test_a_label_below_the_threshold_is_empty_and_falsy() -> None:
    flow = workflow(
        attributes(threshold=0.6), says("t", "[{{attribute.mood}}]{{^attribute.mood}}unsure{{/attribute.mood}}")
    )
    (turn,) = heard(flow, "well, shout")
    assert turn.text("t") == "[]unsure"
    assert turn.interaction.attributes == {"mood": "", "loud": "yes"}
    assert "below the threshold 0.6" in details(turn)["reasons"]["mood"]
    assert list(details(turn)["reasons"]) == ["mood"]


def test_the_questions_share_one_cache() -> None:
    flow = workflow(attributes(), generate())
    first, second = heard(flow, "one", "two")
    system = len(first.prompt(1)[0][1].split())
    question = len(first.prompt(1)[-1][1].split())
    # The usage is that of the last question: all but the question itself was read for the first one.
    assert first.debug["steps"][0]["usage"]["evaluated_tokens"] == question
    assert first.debug["steps"][0]["usage"]["cached_tokens"] == system + 1
    assert second.debug["steps"][0]["usage"]["cached_tokens"] == system + 3


def test_attributes_and_intents_live_for_one_turn() -> None:
    flow = workflow(
        says("t", "[{{attribute.mood}}{{intent}}]") | {"default_exit": "a"},
        attributes(default_exit="i"),
        intent(),
        *ENDS,
    )
    first, second = heard(flow, "weep and buy", "x")
    assert first.interaction.intent == "trade"
    assert first.interaction.attributes["mood"] == "sad"
    assert second.text("t") == "[]"


# ---- intent to instruction -----------------------------------------------------------------------------------


MAP = {"name": "map", "type": "IntentToInstruction", "instruction_name": "turn"}


@pytest.mark.parametrize(
    ("line", "spoken"),
    [("buy", "Haggle! {{slot.x}}|turn|Haggle! {{slot.x}}"), ("hit", "||"), ("well", "||")],
)
def test_an_intent_becomes_an_instruction_where_the_map_has_one(line: str, spoken: str) -> None:
    flow = workflow(
        intent(found_exit="map", not_found_exit="map"),
        MAP
        | {"inline_keys": ["trade", "other"], "inline_strings": ["Haggle! {{slot.x}}", "Shrug."], "default_exit": "t"},
        says("t", "{{instruction_turn}}|{{#instructions}}{{name}}{{/instructions}}|{{slot.map}}"),
        *ENDS,
    )
    (turn,) = heard(flow, line)
    assert turn.text("t") == spoken
    assert [answer.node_name for answer in turn.answers] == ["t"]  # never sent
    assert details(turn, 2) == {"intent": turn.interaction.intent, "found": line == "buy"}
    assert [(i.name, i.text) for i in turn.interaction.instructions] == (
        [("turn", "Haggle! {{slot.x}}")] if line == "buy" else []
    )


def test_without_a_map_the_packaged_one_serves() -> None:
    flow = workflow(
        intent(intents=[{"id": "greeting", "description": "hello"}], threshold=1, margin=1, found_exit="map"),
        MAP | {"default_exit": "t"},
        says("t", "{{instruction_turn}}"),
        *ENDS,
    )
    first, second = heard(flow, "hello", "again")
    assert "greets" in first.text("t")
    assert second.prompt(1)[-2] == ("user", "again")
    assert not any("greets" in text for _, text in second.prompt(1))  # instructions never come back


# ---- events --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("notify", [False, True])
def test_events_are_sent_where_they_are_wanted(notify: bool) -> None:
    flow = workflow(
        intent(notify_client=notify, found_exit="a", not_found_exit="a"),
        attributes(notify_client=notify, default_exit="yes"),
        *ENDS,
    )
    found, lost = heard(flow, "buy, weep", "well")
    if not notify:
        assert events(found) == events(lost) == []
        return
    (first, intent_facts), (second, attribute_facts) = events(found)
    assert (first, second) == ("intent_classified", "attributes_classified")
    assert intent_facts == details(found, 1)
    assert attribute_facts == details(found, 2)
    assert (intent_facts["intent"], intent_facts["found"]) == ("trade", True)
    assert attribute_facts["attributes"]["mood"] == "sad"
    lost_facts = events(lost)[0][1]
    assert (lost_facts["intent"], lost_facts["found"], lost_facts["best"]) == ("", False, "trade")
    assert lost_facts["reason"]
    where = [(m.node_name, m.step) for m in found.messages if isinstance(m, protocol.NodeEvent)]
    assert where == [("i", 1), ("a", 2)]


# ---- models that cannot, cancel ------------------------------------------------------------------------------


class Letterless(MockVocabulary):
    """Has no token for the letter Q."""

    def words(self, text: str) -> list[int]:
        return super().words("Q ue" if text.strip() == "Q" else text)


def engine(backend: ScriptedBackend) -> Scheduler:
    return Scheduler(backend, prompt_chunk=256, deterministic=False)


def test_a_model_without_a_token_for_each_letter_is_refused_and_given_back() -> None:
    async def work() -> None:
        backends: list[ScriptedBackend] = []

        def load(entry: CatalogEntry, *_: Any) -> Scheduler:
            backend = ScriptedBackend()
            backend.vocabulary = Letterless()
            backends.append(backend)
            return engine(backend)

        async with talking(settings=Settings(unload_grace_s=0), load_engine=load) as talk:
            for flow in (workflow(intent(), *ENDS), workflow(attributes(), says("t", "x"))):
                with pytest.raises(errors.ModelLoadFailed, match="letter Q") as refused:
                    await talk.agent(flow)
                assert "'echo'" in refused.value.message
            assert talk.users("echo") == 0
            await talk.agent(workflow(generate()))  # one that only talks needs no letters
            assert talk.users("echo") == 1
        assert all(backend.closed for backend in backends)

    run(work)


def test_every_letter_is_looked_for() -> None:
    vocabulary = Letterless()
    alone = [letter for letter in LETTERS if len(vocabulary.tokenize([Segment(letter)])) == 1]
    assert "".join(alone) == LETTERS.replace("Q", "")


def test_cancel_while_scoring_ends_the_turn_and_the_next_one_works() -> None:
    async def work() -> None:
        gate = Gate()
        async with talking(load_engine=lambda *_: engine(ScriptedBackend(gate=gate))) as talk:
            try:
                agent_id = await talk.agent(workflow(intent(notify_client=True), *ENDS))
                turn = asyncio.create_task(talk.say(agent_id, "buy"))
                await gate.reached()
                await talk.client.cancel_turn(agent_id)
                cancelled = await turn
                assert cancelled.complete.status == "Cancelled"
                assert cancelled.complete.interaction is None
                assert cancelled.answers == []
                assert events(cancelled) == []
                assert [(f.node_name, f.reason) for f in cancelled.complete.finish] == [("i", "cancelled")]
                gate.lift()
                again = await talk.say(agent_id, "buy")
                assert again.text("yes") == "found trade"
            finally:
                gate.lift()

    run(work)


def test_a_failed_decode_while_scoring_fails_that_turn_alone() -> None:
    async def work() -> None:
        backend = ScriptedBackend()
        backend.decode_faults = [errors.InferenceFailed("the device is gone")]
        async with talking(load_engine=lambda *_: engine(backend)) as talk:
            agent_id = await talk.agent(workflow(intent(), *ENDS))
            failed = await talk.say(agent_id, "buy")
            assert failed.complete.error is not None
            assert (failed.complete.error.code, failed.complete.error.node_name) == (4001, "i")
            assert (await talk.say(agent_id, "buy")).text("yes") == "found trade"

    run(work)


def test_many_agents_classify_at_once_each_its_own_line() -> None:
    async def work() -> None:
        async with talking() as talk:
            flow = workflow(intent(), *ENDS)
            made = [await talk.agent(flow) for _ in range(12)]
            lines = ["buy", "hit", "well"] * 4
            turns = await asyncio.gather(*map(talk.say, made, lines))
            assert [turn.interaction.intent for turn in turns] == ["trade", "fight", ""] * 4

    run(work)

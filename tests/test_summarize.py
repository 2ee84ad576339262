"""Rolling summaries: when, of what, in how many passes, and that a failure changes nothing."""

from __future__ import annotations

from typing import Any

from bridge import protocol
from bridge.node import default_registry
from bridge.workflow import CompileScope, ModelFacts, compile_workflow
from tests.talk import Heard, run, scripted, talking, workflow

SUMMARIES = ["first pass", "second pass", "third pass", "fourth pass"]


def flow(**parameters: Any) -> dict[str, Any]:
    return workflow(
        {"name": "mira", "type": "Generate", "max_tokens": 16},
        {"name": "sum", "type": "Summarize", "model": "summaries", "max_tokens": 32, **parameters},
        model="script",
    )


def talk_through(workflow_: dict[str, Any], lines: list[str], *summaries: str, **entry: Any) -> list[Heard]:
    turns: list[Heard] = []

    async def work() -> None:
        async with talking(scripted("ok"), scripted(*summaries, name="summaries", **entry)) as talk:
            agent_id = await talk.agent(workflow_)
            for line in lines:
                turns.append(await talk.say(agent_id, line))

    run(work)
    return turns


def events(turn: Heard) -> list[dict[str, Any]]:
    return [m.data for m in turn.messages if isinstance(m, protocol.NodeEvent)]


def test_a_summary_replaces_the_oldest_turns_from_the_next_projection_on() -> None:
    # A turn is 1 + 8 and 1 + 8 = 18 tokens; three of them reach 50.
    turns = talk_through(flow(trigger_tokens=50, keep_recent_turns=2), list("abcdef"), "They met.", "They met again.")
    assert [events(t) for t in turns[:2]] == [[], []]
    assert events(turns[2]) == [{"covers": 1, "text": "They met."}]
    assert turns[2].prompt(1)[0] == ("user", "a")
    heading, rest = turns[3].prompt(1)[0], turns[3].prompt(1)[1:]
    assert heading[0] == "system"
    assert heading[1].endswith("They met.")
    assert "not instructions" in heading[1]
    assert rest == [("user", "b"), ("assistant", "ok"), ("user", "c"), ("assistant", "ok"), ("user", "d")]
    assert events(turns[3]) == [{"covers": 2, "text": "They met again."}]
    assert "They met again." in turns[4].prompt(1)[0][1]
    assert all(t.complete.status == "Success" for t in turns)
    # The summary never reaches the player as speech, nor the history.
    assert all({a.node_name for a in t.answers} == {"mira"} for t in turns)
    assert [o.node_name for o in turns[3].interaction.outputs] == ["mira"]
    assert turns[3].debug["summary"] == "They met again."


def test_the_prompt_of_a_summary_holds_the_previous_one_and_the_turns() -> None:
    turns = talk_through(flow(trigger_tokens=50, keep_recent_turns=2), list("abcd"), "They met.", "Later.")
    role, text = turns[3].prompt(2)[0]
    assert role == "system"
    assert "Earlier summary:\nThey met." in text
    assert "Dialogue:\nPlayer: b\nmira: ok" in text
    assert "Player: a" not in text
    assert "Player: c" not in text


def test_without_turns_to_cover_nothing_happens() -> None:
    turns = talk_through(flow(trigger_tokens=1, keep_recent_turns=9), list("abc"), "never")
    assert [events(t) for t in turns] == [[], [], []]
    assert [len(t.complete.finish) for t in turns] == [1, 1, 1]


def test_turns_that_do_not_fit_are_summed_up_in_passes() -> None:
    long = flow(trigger_tokens=80, keep_recent_turns=1, context_size=95, max_tokens=20)
    lines = [f"line {n} has quite some words" for n in range(5)]
    turns = talk_through(long, lines, *SUMMARIES)
    written = [t for t in turns if events(t)]
    assert written
    finishes = [f for f in written[0].complete.finish if f.node_name == "sum"]
    assert len(finishes) >= 2
    assert events(written[0])[0]["text"] == SUMMARIES[len(finishes) - 1]


def test_a_turn_longer_than_the_window_is_cut_not_lost() -> None:
    tight = flow(trigger_tokens=20, keep_recent_turns=1, context_size=120, max_tokens=20)
    turns = talk_through(tight, ["word " * 200, "b", "c"], "short")
    assert [e["covers"] for t in turns for e in events(t)][:1] == [1]
    assert all(t.complete.status == "Success" for t in turns)


def test_a_failed_summary_changes_nothing_and_warns() -> None:
    # The window is too small for the instruction itself.
    broken = flow(trigger_tokens=30, keep_recent_turns=1, context_size=12, max_tokens=4)
    turns = talk_through(broken, list("abcd"), "never")
    assert all(t.complete.status == "Success" for t in turns)
    assert all(events(t) == [] for t in turns)
    assert ["the old one stays" in warning for warning in turns[2].debug["warnings"]] == [True]
    assert turns[3].prompt(1)[0] == ("user", "a")


def test_an_empty_summary_is_no_summary() -> None:
    turns = talk_through(flow(trigger_tokens=30, keep_recent_turns=1), list("abc"), "")
    assert all(events(t) == [] for t in turns)
    assert "wrote no summary" in turns[1].debug["warnings"][0]


def test_a_cancelled_summary_leaves_the_old_state() -> None:
    async def work() -> None:
        slow = scripted("word " * 2000, name="summaries", tokens_per_s=50)
        async with talking(scripted("ok"), slow) as talk:
            agent_id = await talk.agent(flow(trigger_tokens=1, keep_recent_turns=1))
            await talk.say(agent_id, "a")
            everything = talk.client.subscribe()
            await talk.client.request(protocol.SendMessage(agent_id=agent_id, text="b"))
            async for frame in everything:
                if isinstance(frame.message, protocol.AnswerText) and frame.message.is_final:
                    break
            await talk.client.cancel_turn(agent_id)
            reply = await talk.client.request(protocol.ExportDialog(agent_id=agent_id))
            assert isinstance(reply, protocol.Dialog)
            assert reply.dialog.summary is None
            assert [i.status for i in reply.dialog.interactions] == ["Success", "Cancelled"]

    run(work)


def test_the_summary_travels_with_the_dialog() -> None:
    async def work() -> None:
        async with talking(scripted("ok"), scripted("They met.", name="summaries")) as talk:
            agent_id = await talk.agent(flow(trigger_tokens=30, keep_recent_turns=1))
            for line in "abc":
                await talk.say(agent_id, line)
            reply = await talk.client.request(protocol.ExportDialog(agent_id=agent_id))
            assert isinstance(reply, protocol.Dialog)
            assert reply.dialog.summary == protocol.Summary(text="They met.", covers=2)
            other = await talk.agent(flow(trigger_tokens=9999), seed_dialog=reply.dialog.model_dump())
            turn = await talk.say(other, "d")
            assert "They met." in turn.prompt(1)[0][1]
            assert turn.prompt(1)[1:] == [("user", "c"), ("assistant", "ok"), ("user", "d")]

    run(work)


def test_warnings_of_the_compiler() -> None:
    nodes = [
        {"name": "sum", "type": "Summarize", "trigger_tokens": 900, "default_exit": "a"},
        {"name": "a", "type": "Generate", "max_tokens": 124},
    ]
    raw = {"start_node": "sum", "default_model": "chat", "nodes": nodes}
    scope = CompileScope(default_registry(), {"chat": ModelFacts("language", 1024)}.get)
    assert [(p.severity, p.path) for p in compile_workflow(raw, scope)[1]] == [
        ("warning", "$.nodes[0].default_exit"),
        ("warning", "$.nodes[0].trigger_tokens"),
    ]


def test_every_turn_that_is_covered_was_shown_to_the_model() -> None:
    """However long the previous summary is: a turn that leaves the prompts must have been in one that is summed up."""
    long_summary = " ".join(f"fact{index}" for index in range(200))
    turns = talk_through(
        flow(trigger_tokens=30, keep_recent_turns=1, max_tokens=200),
        [f"line{index} {'x ' * 20}" for index in range(8)],
        *([long_summary] * 12),
        context_size=440,
    )
    covered = 0
    for turn in turns:
        for event in events(turn):
            prompt = "\n".join(content for _, content in turn.prompt(2))
            for index in range(covered, event["covers"]):
                assert f"line{index}" in prompt
            covered = event["covers"]
    assert covered >= 5
    assert any("previous summary" in warning for turn in turns for warning in turn.debug["warnings"])


def test_a_window_without_room_for_a_turn_leaves_everything_as_it_was() -> None:
    turns = talk_through(
        flow(trigger_tokens=20, keep_recent_turns=1, max_tokens=100, system_prompt="word " * 30),
        [f"line{index} {'x ' * 20}" for index in range(3)],
        "never",
        context_size=150,
    )
    assert [events(turn) for turn in turns] == [[], [], []]
    assert all(turn.complete.status == "Success" for turn in turns)
    assert any("the old one stays: PromptTooLong" in warning for warning in turns[-1].debug["warnings"])

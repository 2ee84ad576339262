"""The dialog history: export, seed, edit, truncate, through the wire."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from bridge import errors, protocol
from bridge.dialog import Dialog
from bridge.protocol import DialogDocument, Interaction, Summary
from tests.talk import Talk, run, scripted, talking, workflow

FLOW = workflow(
    {"name": "mira", "type": "Generate", "history_name": "Mira", "output_name": "line"},
    {"name": "bram", "type": "CannedResponse", "inline_strings": ["Aye."]},
)
SHORT = [
    {"user": "hello", "replies": [{"node_name": "mira", "text": "well met"}, {"node_name": "Crow", "text": "caw"}]},
    {"user": "", "replies": []},
]


async def export(talk: Talk, agent_id: str, **options: Any) -> protocol.Dialog:
    reply = await talk.client.request(protocol.ExportDialog(agent_id=agent_id, **options))
    assert isinstance(reply, protocol.Dialog)
    return reply


async def seed(talk: Talk, agent_id: str, dialog: Any, *, append: bool = False) -> None:
    await talk.client.request(protocol.SeedDialog(agent_id=agent_id, dialog=dialog, append=append))


def test_exporting_twice_gives_equal_bytes_and_seeding_them_gives_the_same_dialog() -> None:
    async def work() -> None:
        async with talking() as talk:
            first = await talk.agent(FLOW)
            for line in ("one", "two {{x}} <b> é", ""):
                await talk.say(first, line)
            one, two = [(await export(talk, first)).model_dump_json() for _ in range(2)]
            assert one == two
            document = orjson.loads(one)["dialog"]
            assert list(document) == ["version", "interactions", "summary"]
            assert [turn["user"] for turn in document["interactions"]] == ["one", "two {{x}} <b> é", ""]
            second = await talk.agent(FLOW)
            await seed(talk, second, document)
            assert (await export(talk, second)).model_dump_json() == one
            third = await talk.agent(FLOW, seed_dialog=document)
            assert (await export(talk, third)).model_dump_json() == one
            said = [await talk.say(agent_id, "four") for agent_id in (first, second, third)]
            assert said[0].prompt(1) == said[1].prompt(1) == said[2].prompt(1)

    run(work)


def test_pieces_put_together_are_the_whole() -> None:
    async def work() -> None:
        async with talking() as talk:
            agent_id = await talk.agent(FLOW)
            for number in range(5):
                await talk.say(agent_id, str(number))
            whole = await export(talk, agent_id)
            pieces = [await export(talk, agent_id, from_=start, count=2) for start in (0, 2, 4, 6)]
            assert [len(piece.dialog.interactions) for piece in pieces] == [2, 2, 1, 0]
            assert {piece.total for piece in pieces} == {5}
            other = await talk.agent(FLOW)
            for index, piece in enumerate(pieces):
                await seed(talk, other, piece.dialog.model_dump(), append=index > 0)
            assert (await export(talk, other)) == whole

    run(work)


def test_the_short_form_speaks_with_the_nodes_own_names() -> None:
    async def work() -> None:
        async with talking() as talk:
            agent_id = await talk.agent(FLOW)
            await talk.say(agent_id, "gone with the seed")
            await seed(talk, agent_id, SHORT)
            outputs = (await export(talk, agent_id)).dialog.interactions[0].outputs
            assert [(o.step, o.node_name, o.slot, o.history_name, o.history_role) for o in outputs] == [
                (1, "mira", "line", "Mira", "Assistant"),
                (2, "Crow", "Crow", "", "Assistant"),
            ]
            turn = await talk.say(agent_id, "now")
            assert turn.prompt(1) == [
                ("user", "hello"),
                ("assistant", "Mira: well met"),
                ("assistant", "caw"),
                ("user", "now"),
            ]

    run(work)


def test_edit_and_truncate() -> None:
    async def work() -> None:
        async with talking() as talk:
            agent_id = await talk.agent(FLOW)
            for line in ("one", "two", "three"):
                await talk.say(agent_id, line)
            replies = [protocol.ShortReply(node_name="mira", text="edited")]
            await talk.client.request(protocol.EditDialog(agent_id=agent_id, index=1, user="2", replies=replies))
            await talk.client.request(protocol.EditDialog(agent_id=agent_id, index=0, user="1"))
            await talk.client.request(protocol.TruncateDialog(agent_id=agent_id, keep=2))
            turn = await talk.say(agent_id, "now")
            assert turn.prompt(1) == [
                ("user", "1"),
                ("assistant", "Mira: one"),
                ("assistant", "Aye."),
                ("user", "2"),
                ("assistant", "Mira: edited"),
                ("user", "now"),
            ]
            usage = turn.debug["steps"][0]["usage"]
            assert usage["evaluated_tokens"] == usage["prompt_tokens"] - usage["cached_tokens"]
            with pytest.raises(errors.InvalidDialog) as caught:
                await talk.client.request(protocol.EditDialog(agent_id=agent_id, index=3, user="x"))
            assert caught.value.path == "$.index"
            await talk.client.request(protocol.TruncateDialog(agent_id=agent_id, keep=0))
            assert (await export(talk, agent_id)).total == 0

    run(work)


OUTPUT = {"step": 0, "node_name": "a", "slot": "a", "text": ""}
BAD: list[tuple[Any, str]] = [
    ({"version": 2, "interactions": []}, "$.version"),
    ({"version": "1", "interactions": []}, "$.version"),
    ({"interactions": {}}, "$.interactions"),
    ({"interactions": [{"turn_id": 1}]}, "$.interactions[0].user"),
    ({"interactions": [{"turn_id": 1, "user": 5}]}, "$.interactions[0].user"),
    ({"interactions": [{"turn_id": 1, "user": "", "status": "Odd"}]}, "$.interactions[0].status"),
    ({"interactions": [{"turn_id": 1, "user": "", "outputs": [OUTPUT]}]}, "$.interactions[0].outputs[0].step"),
    ({"interactions": [], "summary": {"text": "x", "covers": 1}}, "$.summary.covers"),
    ([{"user": "a", "replies": [{"node_name": "m"}]}], "$[0].replies[0].text"),
    ([5], "$[0]"),
    ([{"user": None}], "$[0].user"),
]


@pytest.mark.parametrize(("dialog", "path"), BAD, ids=range(len(BAD)))
def test_bad_dialogs_change_nothing(dialog: Any, path: str) -> None:
    async def work() -> None:
        async with talking() as talk:
            agent_id = await talk.agent(FLOW)
            await talk.say(agent_id, "kept")
            before = await export(talk, agent_id)
            for append in (False, True):
                if append and path == "$.summary.covers":
                    continue
                with pytest.raises(errors.InvalidDialog) as caught:
                    await seed(talk, agent_id, dialog, append=append)
                assert caught.value.path == path
            assert await export(talk, agent_id) == before
            with pytest.raises(errors.InvalidDialog):
                await talk.agent(FLOW, seed_dialog=dialog)
            assert (await talk.say(agent_id, "on")).text("mira") == "on"

    run(work)


def test_changes_need_an_idle_agent() -> None:
    async def work() -> None:
        async with talking(scripted("word " * 2000, tokens_per_s=50)) as talk:
            agent_id = await talk.agent({**FLOW, "default_model": "script"})
            await talk.client.request(protocol.SendMessage(agent_id=agent_id, text="x"))
            for request in (
                protocol.SeedDialog(agent_id=agent_id, dialog=[]),
                protocol.EditDialog(agent_id=agent_id, index=0),
                protocol.TruncateDialog(agent_id=agent_id, keep=0),
                protocol.ManageCache(agent_id=agent_id, action="Drop"),
            ):
                with pytest.raises(errors.AgentBusy):
                    await talk.client.request(request)
            await talk.client.cancel_turn(agent_id)
            await talk.client.request(protocol.TruncateDialog(agent_id=agent_id, keep=0))

    run(work)


def test_a_long_history_is_seeded_and_answered_at_once() -> None:
    async def work() -> None:
        async with talking(scripted("yes")) as talk:
            node = {"name": "mira", "type": "Generate", "context_size": 64, "max_tokens": 8}
            agent_id = await talk.agent(workflow(node, model="script"))
            piece = [{"user": "line", "replies": [{"node_name": "mira", "text": "reply"}]}] * 12_500
            for index in range(4):
                await seed(talk, agent_id, piece, append=index > 0)
            turn = await talk.say(agent_id, "now")
            assert turn.text("mira") == "yes"
            assert turn.debug["steps"][0]["budget"]["first_turn"] == 50_000 - 1
            assert (await export(talk, agent_id, from_=50_000)).dialog.interactions == [turn.interaction]

    run(work)


# ---- the class by itself -------------------------------------------------------------------------------------


def dialog(turns: int = 6, covers: int = 0) -> Dialog:
    made = Dialog()
    for index in range(turns):
        made.record(Interaction(turn_id=index, user=str(index)))
    if covers:
        made.summarise(Summary(text="s", covers=covers))
    return made


def test_a_change_inside_the_summarised_part_drops_the_summary() -> None:
    for index, stays in ((2, False), (3, True)):
        made = dialog(covers=3)
        made.edit(index, "x", None)
        assert (made.summary is not None) == stays
    for keep, stays in ((2, False), (3, True), (99, True)):
        made = dialog(covers=3)
        made.truncate(keep)
        assert (made.summary == Summary(text="s", covers=3)) == stays


def test_cursors_go_one_way_until_something_before_them_changes() -> None:
    made = dialog()
    made.leave_behind("a", 3)
    made.leave_behind("a", 1)
    made.leave_behind("b", 1)
    assert (made.first_turn("a"), made.first_turn("b"), made.first_turn("c")) == (3, 1, 0)
    made.edit(3, "x", None)
    assert made.first_turn("a") == 3
    made.edit(2, "x", None)
    assert (made.first_turn("a"), made.first_turn("b")) == (0, 1)
    made.leave_behind("a", 4)
    made.truncate(3)
    assert (made.first_turn("a"), made.first_turn("b")) == (0, 1)
    made.seed([], append=False)
    assert made.first_turn("b") == 0


def test_prompts_start_behind_the_summary() -> None:
    made = dialog(covers=3)
    made.leave_behind("a", 1)
    assert (made.first_turn("a"), made.first_turn("b")) == (3, 3)


def test_every_change_begins_a_new_epoch() -> None:
    made = dialog()
    epochs = [made.epoch]
    made.edit(0, "x", None)
    epochs.append(made.epoch)
    made.truncate(3)
    epochs.append(made.epoch)
    made.seed(DialogDocument().model_dump(), append=True)
    epochs.append(made.epoch)
    assert epochs == sorted(set(epochs))

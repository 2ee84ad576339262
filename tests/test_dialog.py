"""The dialog history: export, seed, edit, truncate, through the wire."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

import orjson
import pytest

from bridge import dialog_document, errors, protocol
from bridge.config import Settings
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


def test_a_long_history_is_seeded_and_answered_at_once(full: bool) -> None:
    at_a_time = 12_500 if full else 1_250

    async def work() -> None:
        async with talking(scripted("yes")) as talk:
            node = {"name": "mira", "type": "Generate", "context_size": 64, "max_tokens": 8}
            agent_id = await talk.agent(workflow(node, model="script"))
            piece = [{"user": "line", "replies": [{"node_name": "mira", "text": "reply"}]}] * at_a_time
            for index in range(4):
                await seed(talk, agent_id, piece, append=index > 0)
            turn = await talk.say(agent_id, "now")
            assert turn.text("mira") == "yes"
            assert turn.debug["steps"][0]["budget"]["first_turn"] == 4 * at_a_time - 1
            assert (await export(talk, agent_id, from_=4 * at_a_time)).dialog.interactions == [turn.interaction]

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
        made.edit(index, made.changed(index, "x", None))
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
    made.edit(3, made.changed(3, "x", None))
    assert made.first_turn("a") == 3
    made.edit(2, made.changed(2, "x", None))
    assert (made.first_turn("a"), made.first_turn("b")) == (0, 1)
    made.leave_behind("a", 4)
    made.truncate(3)
    assert (made.first_turn("a"), made.first_turn("b")) == (0, 1)
    made.seed(made.read([]), append=False)
    assert made.first_turn("b") == 0


def test_prompts_start_behind_the_summary() -> None:
    made = dialog(covers=3)
    made.leave_behind("a", 1)
    assert (made.first_turn("a"), made.first_turn("b")) == (3, 3)


def test_every_change_begins_a_new_epoch() -> None:
    made = dialog()
    epochs = [made.epoch]
    made.edit(0, made.changed(0, "x", None))
    epochs.append(made.epoch)
    made.truncate(3)
    epochs.append(made.epoch)
    made.seed(made.read(DialogDocument().model_dump()), append=True)
    epochs.append(made.epoch)
    assert epochs == sorted(set(epochs))


# ---- long ones


def long_dialog(turns: int, chars: int = 100) -> list[dict[str, Any]]:
    return [
        {"user": f"line {index}", "replies": [{"node_name": "mira", "text": "x" * chars}]} for index in range(turns)
    ]


def test_an_export_fits_into_its_message_and_the_last_piece_has_the_summary() -> None:
    settings = Settings(max_json_bytes=64 * 1024)

    async def work() -> None:
        async with talking(settings=settings) as talk:
            agent_id = await talk.agent(FLOW)
            for _ in range(3):
                await seed(talk, agent_id, long_dialog(200), append=True)
            document = {"version": 1, "interactions": [], "summary": {"text": "They met.\n" * 100, "covers": 3}}
            await seed(talk, agent_id, document, append=True)
            turns: list[Interaction] = []
            pieces = 0
            while len(turns) < 600:
                reply = await export(talk, agent_id, **{"from": len(turns)})
                assert reply.total == 600
                assert reply.dialog.interactions
                assert len(reply.model_dump_json()) <= settings.max_json_bytes
                turns += reply.dialog.interactions
                assert (reply.dialog.summary is not None) is (len(turns) == 600)
                pieces += 1
            assert pieces > 2
            assert [turn.user for turn in turns] == [f"line {index}" for _ in range(3) for index in range(200)]
            again = await talk.client.export_dialog(agent_id)
            assert again.interactions == turns and again.summary == reply.dialog.summary
            # Each piece can be seeded as it is.
            await seed(talk, agent_id, reply.dialog.model_dump())

    run(work)


def test_a_summary_that_does_not_fit_beside_the_last_turns_takes_one_of_them_along() -> None:
    made = Dialog(max_json_bytes=40_000)
    for index in range(3):
        made.record(Interaction(turn_id=index, user="u" * 11_500))
    made.summarise(Summary(text="s" * 6_000, covers=1))
    first = made.export(0, None)()
    assert [len(first.document.interactions), first.document.summary] == [2, None]
    last = made.export(2, None)()
    assert len(last.document.interactions) == 1 and last.document.summary is not None
    for piece in (first, last):
        assert piece.json == piece.document.model_dump_json().encode()
        assert len(piece.json) < 40_000 - 1024


def test_an_export_is_the_dialog_as_it_was_when_it_was_asked_for() -> None:
    made = dialog()
    piece = made.export(0, None)
    made.edit(0, made.changed(0, "x", None))
    made.truncate(2)
    assert [turn.user for turn in piece().document.interactions] == list("012345")


def test_what_no_export_could_hold_is_not_seeded() -> None:
    settings = Settings(max_json_bytes=40_000)
    large = "x" * 29_000

    async def work() -> None:
        async with talking(settings=settings) as talk:
            agent_id = await talk.agent(FLOW, seed_dialog=long_dialog(2))
            before = await export(talk, agent_id)
            seeds: list[Any] = [
                [*long_dialog(40, chars=1), {"user": large}],
                {"version": 1, "interactions": [], "summary": {"text": "s" * 10_000, "covers": 1}},
            ]
            for raw, what in zip(seeds, ("turn 40 is", "the summary is"), strict=True):
                with pytest.raises(errors.LimitExceeded, match=what):
                    await seed(talk, agent_id, raw, append=True)
            with pytest.raises(errors.LimitExceeded, match="turn 1 is"):
                await talk.client.request(protocol.EditDialog(agent_id=agent_id, index=1, user=large))
            assert await export(talk, agent_id) == before

    run(work)


def test_the_place_of_a_fault_counts_from_the_first_turn() -> None:
    raw: list[Any] = long_dialog(100)
    raw[70] = {"user": 3}
    with pytest.raises(errors.InvalidDialog, match=r"\$\[70\]\.user"):
        Dialog().read(raw)
    full: dict[str, Any] = {"version": 1, "interactions": [{"turn_id": 0, "user": "a"} for _ in range(100)]}
    full["interactions"][70] = {"turn_id": 0}
    with pytest.raises(errors.InvalidDialog, match=r"\$\.interactions\[70\]\.user"):
        Dialog().read(full)


def test_dialogs_are_read_and_written_beside_the_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[str] = []

    def noted(name: str) -> None:
        work = getattr(dialog_document, name)

        def call(*arguments: Any, **named: Any) -> Any:
            threads.append(threading.current_thread().name)
            return work(*arguments, **named)

        monkeypatch.setattr(f"bridge.dialog.{name}", call)

    for name in ("read_dialog", "write_piece", "check_turn"):
        noted(name)

    async def work() -> None:
        async with talking() as talk:
            agent_id = await talk.agent(FLOW, seed_dialog=SHORT)
            await seed(talk, agent_id, SHORT)
            await talk.client.request(protocol.EditDialog(agent_id=agent_id, index=0, user="1"))
            await export(talk, agent_id)

    run(work)
    assert len(threads) == 4
    assert all(name.startswith("parley-request") for name in threads)


def test_the_thread_that_reads_a_dialog_rests(monkeypatch: pytest.MonkeyPatch) -> None:
    rests: list[float] = []
    monkeypatch.setattr(time, "sleep", rests.append)
    made = Dialog()
    read = made.read(long_dialog(1_000, chars=1))
    assert len(rests) >= 2 * 1_000 / dialog_document.TURNS_AT_A_TIME
    made.seed(read, append=False)
    rests.clear()
    made.export(0, None)()
    assert len(rests) >= 1_000 / dialog_document.TURNS_AT_A_TIME


def test_what_follows_a_seed_waits_for_it() -> None:
    async def work() -> None:
        async with talking() as talk:
            agent_id = await talk.agent(FLOW)
            request = talk.client.request
            done = await asyncio.gather(
                request(protocol.SeedDialog(agent_id=agent_id, dialog=long_dialog(2_000))),
                request(protocol.EditDialog(agent_id=agent_id, index=1_999, user="edited")),
                request(protocol.SeedDialog(agent_id=agent_id, dialog=SHORT, append=True)),
                request(protocol.TruncateDialog(agent_id=agent_id, keep=2_001)),
                request(protocol.SendMessage(agent_id=agent_id, text="now")),
                return_exceptions=True,
            )
            assert [type(reply).__name__ for reply in done] == ["Ok"] * 4 + ["TurnStarted"]
            await talk.client.cancel_turn(agent_id)
            turns = (await talk.client.export_dialog(agent_id)).interactions
            assert [turn.user for turn in turns[1_998:2_001]] == ["line 1998", "edited", "hello"]

    run(work)


def test_a_client_sends_a_long_dialog_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dialog_document, "SENT_AT_A_TIME", 8_000)
    settings = Settings(max_json_bytes=16_000)

    async def work() -> None:
        async with talking(settings=settings) as talk:
            agent_id = await talk.agent(FLOW, seed_dialog=long_dialog(300))
            assert len((await talk.client.export_dialog(agent_id)).interactions) == 300
            document = (await talk.client.export_dialog(agent_id)).model_dump()
            document["summary"] = {"text": "Long.", "covers": 299}
            second = await talk.agent(FLOW, seed_dialog=document)
            assert (await talk.client.export_dialog(second)).model_dump() == document
            await talk.client.seed_dialog(agent_id, document, append=True)
            longer = await talk.client.export_dialog(agent_id)
            assert len(longer.interactions) == 600 and longer.summary is not None
            with pytest.raises(errors.InvalidDialog):
                await talk.agent(FLOW, seed_dialog=[*long_dialog(300), {"user": 1}])
            assert len(talk.sessions[0]._agents) == 2

    run(work)

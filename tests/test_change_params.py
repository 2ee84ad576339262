"""ChangeParams and GetParams: what may change between turns, all or nothing, in the order asked."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from bridge import errors, protocol
from bridge.agent import Agent
from bridge.client import ParleyClient
from bridge.codec import Envelope
from tests.talk import EMBED, Talk, run, scripted, talking, workflow


def says(name: str, template: str, **parameters: Any) -> dict[str, Any]:
    return {"name": name, "type": "Transform", "template": template, "send": "Whole", **parameters}


def canned(name: str = "c", **parameters: Any) -> dict[str, Any]:
    return {"name": name, "type": "CannedResponse", **parameters}


def change(agent_id: str, node_name: str = "a", **params: Any) -> protocol.ChangeParams:
    return protocol.ChangeParams(agent_id=agent_id, node_name=node_name, params=params)


async def changed(talk: Talk, agent_id: str, node_name: str = "a", **params: Any) -> None:
    assert isinstance(await talk.client.request(change(agent_id, node_name, **params)), protocol.Ok)


async def params_of(talk: Talk, agent_id: str, node_name: str = "a") -> dict[str, Any]:
    reply = await talk.client.request(protocol.GetParams(agent_id=agent_id, node_name=node_name))
    assert isinstance(reply, protocol.Params)
    return reply.params


async def make_strings(talk: Talk, name: str, *strings: str, **options: Any) -> None:
    await talk.client.request(protocol.CreateStringStorage(name=name, strings=list(strings), **options))


def the_agent(talk: Talk) -> Agent:
    (agent,) = talk.sessions[0]._agents.values()
    return agent


# ---- sparse --------------------------------------------------------------------------------------------------


def test_only_what_is_named_changes_and_an_empty_change_is_none() -> None:
    async def work() -> None:
        async with talking() as talk:
            agent_id = await talk.agent(workflow(says("a", "one", history_name="A")))
            before = await params_of(talk, agent_id)
            await changed(talk, agent_id)
            assert await params_of(talk, agent_id) == before
            await changed(talk, agent_id, template="two")
            assert await params_of(talk, agent_id) == {**before, "template": "two"}
            await changed(talk, agent_id, send="None")
            assert await params_of(talk, agent_id) == {**before, "template": "two", "send": "None"}
            assert (await talk.say(agent_id, "x")).answers == []

    run(work)


def test_sampling_is_sparse_itself_and_null_takes_a_value_back() -> None:
    async def work() -> None:
        async with talking() as talk:
            node = {"name": "a", "type": "Generate", "sampling": {"temperature": 0.5, "top_k": 7}}
            agent_id = await talk.agent(workflow(node))
            await changed(talk, agent_id, sampling={"top_p": 0.9})
            assert (await params_of(talk, agent_id))["sampling"] == {"temperature": 0.5, "top_k": 7, "top_p": 0.9}
            await changed(talk, agent_id, sampling={"temperature": None, "top_k": 8})
            assert (await params_of(talk, agent_id))["sampling"] == {"top_k": 8, "top_p": 0.9}
            await changed(talk, agent_id, sampling={})
            assert (await params_of(talk, agent_id))["sampling"] == {"top_k": 8, "top_p": 0.9}
            for bad, place in (({"top_k": -1}, ".top_k"), ({"heat": None, "top_k": "x"}, ".top_k"), (None, "")):
                with pytest.raises(errors.InvalidValue) as refused:
                    await talk.client.request(change(agent_id, sampling=bad))
                assert refused.value.path == f"$.params.sampling{place}"
            with pytest.raises(errors.InvalidValue, match="did you mean 'temperature'"):
                await talk.client.request(change(agent_id, sampling={"temprature": 1}))
            with pytest.raises(errors.InvalidValue, match="no parameter 'heat'"):
                await talk.client.request(change(agent_id, sampling={"heat": None}))
            assert (await params_of(talk, agent_id))["sampling"] == {"top_k": 8, "top_p": 0.9}
            reply = await talk.client.request(protocol.GetParams(agent_id=agent_id, node_name="a"))
            assert isinstance(reply, protocol.Params)
            assert reply.baseline["sampling"] == {"temperature": 0.5, "top_k": 7}

    run(work)


def test_params_are_whole_also_where_they_hold_null() -> None:
    tools = [{"name": "t", "parameters": {"type": "object", "properties": {"x": {"const": None}}}}]

    async def work() -> None:
        async with talking() as talk:
            agent_id = await talk.agent(workflow({"name": "a", "type": "ToolCall", "tools": tools}))
            assert (await params_of(talk, agent_id))["tools"] == [{**tools[0], "description": ""}]

    run(work)


# ---- refused, and nothing changed ----------------------------------------------------------------------------


BAD: list[tuple[dict[str, Any], type[errors.ParleyError], str]] = [
    ({"template": "{{#slot.x}}"}, errors.InvalidValue, "$.params.template"),
    ({"template": "{{var.gone}}"}, errors.InvalidValue, "$.params.template"),
    ({"template": "{{> file}}"}, errors.InvalidValue, "$.params.template"),
    ({"template": 7}, errors.InvalidValue, "$.params.template"),
    ({"template": None}, errors.InvalidValue, "$.params.template"),
    ({"input": "gone"}, errors.InvalidValue, "$.params.input"),
    ({"send": "Loud"}, errors.InvalidValue, "$.params.send"),
    ({"history_role": "User"}, errors.InvalidValue, "$.params.history_role"),
    ({"stop": ["x", 1]}, errors.InvalidValue, "$.params.stop[1]"),
    ({"sampling": {"top_p": 2}}, errors.InvalidValue, "$.params.sampling.top_p"),
    ({"tempelate": "x"}, errors.InvalidValue, "$.params.tempelate"),
    ({"send": "Loud", "template": "{{#a"}, errors.InvalidValue, "$.params.send"),
    ({"max_tokens": 3}, errors.ParamNotMutable, "$.params.max_tokens"),
    ({"default_exit": "a"}, errors.ParamNotMutable, "$.params.default_exit"),
    ({"name": "b"}, errors.ParamNotMutable, "$.params.name"),
    ({"type": "Transform"}, errors.ParamNotMutable, "$.params.type"),
]


def test_one_bad_value_among_good_ones_changes_nothing() -> None:
    async def work() -> None:
        async with talking() as talk:
            agent_id = await talk.agent(workflow({"name": "a", "type": "Generate", "template": "<{{user_message}}>"}))
            before = await params_of(talk, agent_id)
            for bad, kind, path in BAD:
                for params in ({"system_prompt": "new", **bad}, {**bad, "system_prompt": "new"}):
                    with pytest.raises(kind) as refused:
                        await talk.client.request(change(agent_id, **params))
                    assert type(refused.value) is kind, bad
                    assert (refused.value.path, refused.value.node_name) == (path, "a"), bad
            assert await params_of(talk, agent_id) == before
            turn = await talk.say(agent_id, "x")
            assert turn.prompt(1) == [("user", "<x>")]

    run(work)


def test_every_finding_comes_with_the_error_and_hints_at_what_was_meant() -> None:
    async def work() -> None:
        async with talking() as talk:
            agent_id = await talk.agent(workflow({"name": "a", "type": "Generate"}))
            with pytest.raises(errors.InvalidValue, match="and 2 more") as refused:
                await talk.client.request(change(agent_id, sytem_prompt="x", send=1, template="{{}}"))
            found = {problem.path: problem.message for problem in refused.value.problems}
            assert set(found) == {"$.params.sytem_prompt", "$.params.send", "$.params.template"}
            assert "did you mean 'system_prompt'" in found["$.params.sytem_prompt"]

    run(work)


def test_a_fault_elsewhere_in_the_workflow_is_none_of_this_change() -> None:
    """What is wrong with other nodes by now (a storage that lost its name) does not stand in the way."""

    async def work() -> None:
        async with talking() as talk:
            await make_strings(talk, "lines", "one")
            agent_id = await talk.agent(workflow(says("a", "one"), canned(string_storage="lines")))
            await talk.client.request(protocol.DestroyStringStorage(name="lines"))
            await changed(talk, agent_id, template="two")
            turn = await talk.say(agent_id, "x")
            assert [answer.text for answer in turn.answers] == ["two", "one"]

    run(work)


def test_unknown_nodes_and_agents() -> None:
    async def work() -> None:
        async with talking() as talk:
            agent_id = await talk.agent(workflow(says("a", "one")))
            for name in ("b", "", "A", "x" * 5000):
                with pytest.raises(errors.UnknownNode, match="has no node"):
                    await talk.client.request(change(agent_id, name, template="x"))
                with pytest.raises(errors.UnknownNode, match="has no node"):
                    await talk.client.request(protocol.GetParams(agent_id=agent_id, node_name=name))
            with pytest.raises(errors.InvalidAgentId):
                await talk.client.request(change("nobody", template="x"))
            other = await talk.another_client()
            with pytest.raises(errors.InvalidAgentId):
                await other.request(change(agent_id, template="x"))
            await other.close()
            await changed(talk, agent_id, template="two")

    run(work)


def test_a_bad_regex_leaves_the_old_patterns_in_force() -> None:
    guard = {
        "name": "a",
        "type": "HumanMessageGuardrail",
        "inline_strings": ["secret"],
        "triggered_exit": "no",
        "not_triggered_exit": "yes",
    }

    async def work() -> None:
        async with talking() as talk:
            await make_strings(talk, "bad", "fine", "(a")
            await make_strings(talk, "other", "gold")
            await make_strings(talk, "empty")
            agent_id = await talk.agent(workflow(guard, says("no", "no", default_exit=""), says("yes", "yes")))
            for name, kind in (
                ("bad", errors.InvalidValue),
                ("empty", errors.InvalidStorageData),
                ("gone", errors.StorageFileNotFound),
                ("../up.txt", errors.StorageFileNotFound),
            ):
                with pytest.raises(kind) as refused:
                    await talk.client.request(change(agent_id, string_storage=name))
                assert refused.value.path == "$.params.string_storage"
                assert (await talk.say(agent_id, "the Secret")).text("no") == "no"
            await changed(talk, agent_id, string_storage="other")
            assert (await talk.say(agent_id, "the secret")).text("yes") == "yes"
            assert (await talk.say(agent_id, "my gold")).text("no") == "no"
            await changed(talk, agent_id, string_storage="")
            assert (await talk.say(agent_id, "the secret")).text("no") == "no"

    run(work)


def test_a_bad_filter_leaves_the_old_in_force_and_an_empty_one_clears(tmp_path: Path) -> None:
    (tmp_path / "k.json").write_text(
        '{"version": 1, "embedding_model": "embed", "records_file": "r.json",'
        ' "fields": [{"name": "place", "type": "string"}]}',
        encoding="utf-8",
    )
    (tmp_path / "r.json").write_text(
        '[{"id": "a", "text": "the mill", "metadata": {"place": "village"}},'
        ' {"id": "b", "text": "the mill", "metadata": {"place": "town"}}]',
        encoding="utf-8",
    )

    def at(place: Any) -> dict[str, Any]:
        return {"op": "eq", "lhs": {"knowledge": "place"}, "rhs": {"value": place}}

    node = {"name": "a", "type": "Retrieve", "embedded_storage": "k.json", "filter": at("town"), "found_exit": "t"}

    async def work() -> None:
        async with talking(EMBED) as talk:
            await talk.client.request(protocol.ConfigureSession(storage_folder=str(tmp_path)))
            agent_id = await talk.agent(workflow(node, says("t", "{{#knowledge_a}}{{id}}{{/knowledge_a}}")))
            assert (await talk.say(agent_id, "the mill")).text("t") == "b"
            bad: list[tuple[Any, str]] = [
                (at(3), ".rhs"),
                ({"op": "like"}, ".op"),
                ({"op": "and", "args": [at("x"), at(None)]}, ".args[1].rhs.value"),
                (None, ""),
                ([], ""),
            ]
            for raw, place in bad:
                with pytest.raises(errors.InvalidValue) as refused:
                    await talk.client.request(change(agent_id, filter=raw, top_k=1))
                assert refused.value.path == f"$.params.filter{place}", raw
                assert (await talk.say(agent_id, "the mill")).text("t") == "b"
            await changed(talk, agent_id, filter={})
            assert (await talk.say(agent_id, "the mill")).text("t") == "ab"
            assert (await params_of(talk, agent_id))["filter"] == {}
            await changed(talk, agent_id, filter=at("village"))
            assert (await talk.say(agent_id, "the mill")).text("t") == "a"

    run(work)


# ---- busy, next turn only, other agents ----------------------------------------------------------------------


def test_a_busy_agent_refuses_a_change_and_takes_one_after_its_turn() -> None:
    async def work() -> None:
        slow = scripted("word " * 2000, name="slow", tokens_per_s=100)
        async with talking(slow) as talk:
            agent_id = await talk.agent(
                workflow({"name": "g", "type": "Generate", "model": "slow"}, says("a", "one"), model="slow")
            )
            frames = talk.client.turn(agent_id, "x")
            await frames.__anext__()
            with pytest.raises(errors.AgentBusy):
                await talk.client.request(change(agent_id, template="two"))
            assert (await params_of(talk, agent_id))["template"] == "one"  # looking is allowed
            await talk.client.cancel_turn(agent_id)
            await changed(talk, agent_id, template="two")
            assert (await params_of(talk, agent_id))["template"] == "two"

    run(work)


def test_other_agents_of_the_same_workflow_are_untouched() -> None:
    async def work() -> None:
        async with talking() as talk:
            flow = workflow(says("a", "one"), says("b", "{{slot.a}}!"))
            ids = [await talk.agent(flow) for _ in range(3)]
            await changed(talk, ids[1], template="two")
            assert [(await talk.say(agent_id, "x")).text("b") for agent_id in ids] == ["one!", "two!", "one!"]
            assert (await talk.say(await talk.agent(flow), "x")).text("b") == "one!"
            assert flow["nodes"][0]["template"] == "one"

    run(work)


def test_a_round_robin_and_the_dialog_go_on_across_a_change() -> None:
    async def work() -> None:
        async with talking() as talk:
            agent_id = await talk.agent(workflow(canned("a", inline_strings=["1", "2", "3"])))
            said = [(await talk.say(agent_id, "x")).text("a")]
            await changed(talk, agent_id, history_name="A")
            said.append((await talk.say(agent_id, "x")).text("a"))
            await changed(talk, agent_id, selection="First")
            said.append((await talk.say(agent_id, "x")).text("a"))
            assert said == ["1", "2", "1"]
            assert the_agent(talk).turns == 3

    run(work)


def test_a_changed_system_prompt_reaches_the_model_and_only_new_tokens_are_read_after() -> None:
    async def work() -> None:
        async with talking(scripted("r")) as talk:
            agent_id = await talk.agent(
                workflow({"name": "a", "type": "Generate", "system_prompt": "s"}, model="script")
            )
            await talk.say(agent_id, "one")
            await changed(talk, agent_id, system_prompt="t u")
            second = await talk.say(agent_id, "two")
            third = await talk.say(agent_id, "three")
            assert second.prompt(1)[0] == ("system", "t u")
            usage = [turn.debug["steps"][0]["usage"]["evaluated_tokens"] for turn in (second, third)]
            assert usage == [5, 1]

    run(work)


# ---- storages ------------------------------------------------------------------------------------------------


def test_rebinding_is_for_the_next_turn_and_all_or_nothing() -> None:
    async def work() -> None:
        async with talking() as talk:
            await make_strings(talk, "first", "1")
            await make_strings(talk, "second", "2")
            await make_strings(talk, "empty")
            agent_id = await talk.agent(workflow(canned("a", string_storage="first")))
            assert (await talk.say(agent_id, "x")).text("a") == "1"
            with pytest.raises(errors.InvalidStorageData):
                await talk.client.request(change(agent_id, string_storage="empty", send="None"))
            assert (await talk.say(agent_id, "x")).text("a") == "1"
            await changed(talk, agent_id, string_storage="second")
            assert (await talk.say(agent_id, "x")).text("a") == "2"

    run(work)


def test_a_node_whose_storage_lost_its_name_keeps_it_through_other_changes() -> None:
    async def work() -> None:
        async with talking() as talk:
            await make_strings(talk, "lines", "old")
            agent_id = await talk.agent(workflow(canned("a", string_storage="lines")))
            await talk.client.request(protocol.DestroyStringStorage(name="lines"))
            await changed(talk, agent_id, selection="First")
            assert (await talk.say(agent_id, "x")).text("a") == "old"
            await make_strings(talk, "lines", "new")
            await changed(talk, agent_id, selection="Random")
            assert (await talk.say(agent_id, "x")).text("a") == "old"
            await changed(talk, agent_id, string_storage="lines")  # naming it anew means the new one
            assert (await talk.say(agent_id, "x")).text("a") == "new"
            await talk.client.request(protocol.DestroyStringStorage(name="lines"))
            with pytest.raises(errors.StorageFileNotFound):
                await talk.client.request(change(agent_id, string_storage="lines"))
            await changed(talk, agent_id, selection="First")
            assert (await talk.say(agent_id, "x")).text("a") == "new"

    run(work)


def test_a_node_whose_knowledge_lost_its_name_can_still_change() -> None:
    async def work() -> None:
        async with talking(EMBED) as talk:
            create = protocol.CreateEmbeddedStorage(name="k", strings=["the mill", "the inn"], embedding_model="embed")
            await talk.client.request(create)
            node = {"name": "a", "type": "Retrieve", "embedded_storage": "k", "found_exit": "t"}
            agent_id = await talk.agent(workflow(node, says("t", "{{#knowledge_a}}{{text}};{{/knowledge_a}}")))
            await talk.client.request(protocol.DestroyEmbeddedStorage(name="k"))
            await changed(talk, agent_id, top_k=1, threshold=0)
            assert (await talk.say(agent_id, "mill")).text("t") == "the mill;"
            await changed(talk, agent_id, top_k=5)
            assert (await talk.say(agent_id, "mill")).text("t") == "the mill;the inn;"

    run(work)


# ---- in order ------------------------------------------------------------------------------------------------


def test_a_line_that_follows_at_once_sees_the_change_and_its_reply_comes_first() -> None:
    async def work() -> None:
        async with talking() as talk:
            order: list[str] = []

            def note(envelope: Envelope) -> None:
                order.append(envelope.message.type_name)

            client = await ParleyClient.connect(talk.endpoint, talk.token, on_envelope=note)
            agent_id = (await client.create_agent(workflow(says("a", "one")))).agent_id
            for number in range(20):
                order.clear()
                everything = client.subscribe()
                await asyncio.gather(
                    client.request(change(agent_id, template=str(number))),
                    client.request(change(agent_id, template=f"{number}!")),
                    client.request(protocol.SendMessage(agent_id=agent_id, text="x")),
                    client.request(protocol.GetParams(agent_id=agent_id, node_name="a")),
                )
                answer = (await everything.__anext__()).message
                assert isinstance(answer, protocol.AnswerText)
                assert answer.text == f"{number}!"
                assert isinstance((await everything.__anext__()).message, protocol.TurnComplete)
                everything.close()
                assert [name for name in order if name != "Params"] == [
                    "Ok", "Ok", "TurnStarted", "AnswerText", "TurnComplete",
                ]  # fmt: skip
            await client.close()

    run(work)


def test_a_request_that_comes_right_when_a_change_is_done_does_not_overtake_those_that_wait() -> None:
    async def work() -> None:
        async with talking() as talk:
            agent_id = await talk.agent(workflow(says("a", "zero")))
            agent, session = the_agent(talk), talk.sessions[0]
            late: list[Any] = []

            def ask_now(_: Any) -> None:
                late.append(asyncio.ensure_future(_answer(session.handle(change(agent_id, template="three")))))

            everything = talk.client.subscribe()
            first = asyncio.ensure_future(_answer(session.handle(change(agent_id, template="one"))))
            assert agent.changing is not None
            agent.changing.add_done_callback(ask_now)
            second = asyncio.ensure_future(_answer(session.handle(change(agent_id, template="two"))))
            third = asyncio.ensure_future(_answer(session.handle(protocol.SendMessage(agent_id=agent_id, text="x"))))
            await asyncio.gather(first, second, third)
            answer = (await everything.__anext__()).message
            assert isinstance(answer, protocol.AnswerText)
            assert answer.text == "two"
            # The late one is done behind the line: the turn runs by then, or is over.
            (last,) = await asyncio.gather(*late, return_exceptions=True)
            assert isinstance(last, (protocol.Ok, errors.AgentBusy))

    run(work)


async def _answer(answer: Any) -> Any:
    return await answer if hasattr(answer, "__await__") else answer


def test_a_refused_change_holds_nobody_up() -> None:
    async def work() -> None:
        async with talking() as talk:
            agent_id = await talk.agent(workflow(says("a", "one")))
            replies = await asyncio.gather(
                talk.client.request(change(agent_id, template="{{#")),
                talk.client.request(change(agent_id, "b", template="x")),
                talk.client.request(change(agent_id, template="two")),
                talk.client.request(change(agent_id, name="b")),
                return_exceptions=True,
            )
            assert [type(reply) for reply in replies] == [
                errors.InvalidValue, errors.UnknownNode, protocol.Ok, errors.ParamNotMutable,
            ]  # fmt: skip
            assert (await talk.say(agent_id, "x")).text("a") == "two"

    run(work)


def test_changes_of_one_agent_hold_up_no_other() -> None:
    async def work() -> None:
        async with talking() as talk:
            ids = [await talk.agent(workflow(says("a", "one"))) for _ in range(4)]
            replies = await asyncio.gather(
                *(talk.client.request(change(agent_id, template=f"{n}")) for n in range(5) for agent_id in ids)
            )
            assert all(isinstance(reply, protocol.Ok) for reply in replies)
            assert [(await talk.say(agent_id, "x")).text("a") for agent_id in ids] == ["4"] * 4

    run(work)


def test_destroying_while_a_change_is_on_its_way() -> None:
    async def work() -> None:
        async with talking() as talk:
            for _ in range(5):
                agent_id = await talk.agent(workflow(says("a", "one")))
                replies = await asyncio.gather(
                    talk.client.request(change(agent_id, template="two")),
                    talk.client.request(protocol.DestroyAgent(agent_id=agent_id)),
                    talk.client.request(change(agent_id, template="three")),
                    talk.client.request(protocol.SendMessage(agent_id=agent_id, text="x")),
                    return_exceptions=True,
                )
                assert [type(reply) for reply in replies] == [
                    protocol.Ok, protocol.Ok, errors.AgentDestroyed, errors.AgentDestroyed,
                ]  # fmt: skip
            other = await talk.another_client()
            mine = (await other.create_agent(workflow(says("a", "one")))).agent_id
            changing = asyncio.ensure_future(other.request(change(mine, template="two")))
            await other.bye()
            assert isinstance((await asyncio.gather(changing, return_exceptions=True))[0], (protocol.Ok, Exception))
            await other.close()
            assert (await talk.say(await talk.agent(workflow(says("a", "fine"))), "x")).text("a") == "fine"

    run(work)

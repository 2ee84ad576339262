"""What a workflow, a player, a node type or a model file may cost everybody else: bounds, each with a stated error."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from bridge import errors, protocol
from bridge.catalog import CatalogEntry
from bridge.chat_format import JinjaFormat
from bridge.config import Settings
from bridge.errors import ModelLoadFailed
from bridge.model_files import Report
from bridge.models import ModelStore
from bridge.node import Checks, Node, Registry, TurnView, default_registry, exit_param, param
from bridge.workflow import MAX_PROBLEMS, CompileScope, compile_workflow
from tests.talk import Heard, run, scripted, talking, workflow
from tests.test_chat_format import LetterVocabulary
from tests.test_turns import canned, generate, transform


def error_of(turn: Heard) -> tuple[int, str]:
    assert turn.complete.error is not None
    return turn.complete.error.code, turn.complete.error.node_name


# ---- texts that grow -----------------------------------------------------------------------------------------


def test_a_slot_that_doubles_ends_its_turn_only() -> None:
    async def work() -> None:
        async with talking() as talk:
            doubling = await talk.agent(workflow(transform("a", "{{slot.a}}{{slot.a}}xxxxxxxx", default_exit="a")))
            turn = await talk.say(doubling, "go")
            assert error_of(turn) == (3014, "a")
            other = await talk.agent(workflow(generate("b")))
            assert (await talk.say(other, "still here")).text("b") == "still here"

    run(work)


def test_a_template_that_repeats_a_long_line_ends_its_turn_only() -> None:
    async def work() -> None:
        async with talking() as talk:
            agent_id = await talk.agent(workflow(transform("a", "{{user_message}}" * 4000)))
            assert error_of(await talk.say(agent_id, "x" * 60_000)) == (3014, "a")

    run(work)


def test_nested_lists_do_not_multiply_without_end() -> None:
    names = "abcd"
    variables = [{"name": n, "type": "string_set", "value": [f"{n}{i}" for i in range(150)]} for n in names]
    template = "".join(f"{{{{#var.{n}}}}}" for n in names) + "x" + "".join(f"{{{{/var.{n}}}}}" for n in reversed(names))

    async def work() -> None:
        async with talking() as talk:
            agent_id = await talk.agent(workflow(transform("a", template), variables=variables))
            assert error_of(await talk.say(agent_id, "go")) == (3014, "a")

    run(work)


def test_a_line_that_is_too_long_is_refused_and_the_agent_stays_idle() -> None:
    async def work() -> None:
        async with talking(settings=Settings(max_line_chars=100)) as talk:
            agent_id = await talk.agent(workflow(generate("a")))
            with pytest.raises(errors.LimitExceeded, match="max_line_chars"):
                await talk.say(agent_id, "x" * 101)
            assert (await talk.say(agent_id, "y" * 100)).text("a") == "y" * 100

    run(work)


def test_a_turn_of_quick_nodes_can_be_cancelled() -> None:
    async def work() -> None:
        async with talking() as talk:
            agent_id = await talk.agent(workflow(transform("a", "x", default_exit="a")), max_steps=10_000)
            everything = talk.client.subscribe()
            await talk.client.request(protocol.SendMessage(agent_id=agent_id, text="go"))
            await talk.client.cancel_turn(agent_id)
            async for frame in everything:
                if isinstance(frame.message, protocol.TurnComplete):
                    assert frame.message.status == "Cancelled"
                    break

    run(work)


# ---- workflows that cost much to check -----------------------------------------------------------------------


def problems_of(raw: Any, registry: Registry | None = None) -> list[protocol.Problem]:
    return compile_workflow(raw, CompileScope(registry or default_registry(), lambda _: None))[1]


def test_findings_are_bounded_and_say_so() -> None:
    node = {"name": "a", "type": "Transform", **{f"x{i}": 1 for i in range(3 * MAX_PROBLEMS)}}
    found = problems_of({"start_node": "a", "nodes": [node]})
    assert len(found) == MAX_PROBLEMS + 1
    assert "left out" in found[-1].message


def test_an_error_behind_many_warnings_is_not_lost() -> None:
    names = [f"n{i}" for i in range(60)]
    template = "".join(f"{{{{slot.m{i}}}}}" for i in range(40))
    nodes = [{"name": n, "type": "Transform", "template": template} for n in names]
    nodes.append({"name": "last", "type": "Transform", "output_name": "user_message"})
    workflow_, found = compile_workflow(
        {"start_node": "n0", "nodes": nodes}, CompileScope(default_registry(), lambda _: None)
    )
    assert workflow_ is None
    assert [p.path for p in found if p.severity == "error"] == ["$.nodes[60].output_name"]


def test_findings_show_little_of_what_came_from_outside() -> None:
    guard = {"name": "g", "type": "HumanMessageGuardrail", "inline_strings": ["(" + "x" * 100_000]}
    many = {"name": "h", "type": "HumanMessageGuardrail", "inline_strings": ["x"] * 5000}
    variables = [{"name": "y" * 100_000, "type": "int", "value": 1}]
    found = problems_of({"start_node": "g", "nodes": [guard, many], "variables": variables, "z" * 100_000: 1})
    assert {3003, 3007, 3014} <= {p.code for p in found}
    assert all(len(p.model_dump_json()) < 4000 for p in found)


def test_stop_strings_are_short() -> None:
    found = problems_of({"start_node": "a", "nodes": [{"name": "a", "type": "Generate", "stop": ["ab" * 200]}]})
    assert ("$.nodes[0].stop[0]", 3007) in [(p.path, p.code) for p in found]


# ---- node types of somebody else -----------------------------------------------------------------------------


class Odd(Node):
    """Does whatever its `deed` says."""

    deed: str = param("", "What to do.")
    output_name: str = param("", "Slot.", structural=True)
    send: str = param("Streamed", "As of Generate.")
    default_exit: str = exit_param("it is done")

    def prepare(self, checks: Checks) -> None:
        if self.deed == "prepare":
            raise SystemExit(3)

    async def run(self, turn: TurnView) -> Any:
        if self.deed == "exit":
            raise SystemExit(3)
        if self.deed == "interrupt":
            raise KeyboardInterrupt
        if self.deed == "base":
            raise BaseException("odd")
        if self.deed == "cancelled":
            raise asyncio.CancelledError
        if self.deed == "mute":
            raise Unspeakable
        if self.deed == "list":
            return ["default"]
        if self.deed == "twice":
            await turn.write("one")
            await turn.write("two")
        if self.deed == "detail":
            cyclic: list[Any] = []
            cyclic.append(cyclic)
            turn.detail(thing=object(), raw=b"\xff", cyclic=cyclic, name="fine")
        return "default"


class Unspeakable(Exception):
    """Cannot even be shown."""

    def __str__(self) -> str:
        raise RuntimeError


ODD: dict[str, type[Node]] = {**default_registry(), "Odd": Odd}


@pytest.mark.parametrize(
    ("deed", "code"),
    [
        ("exit", 4001),
        ("interrupt", 4001),
        ("base", 4001),
        ("cancelled", 4001),
        ("mute", 4001),
        ("list", 3008),
        ("twice", 4001),
    ],
)
def test_whatever_a_node_does_ends_its_turn_only(deed: str, code: int) -> None:
    async def work() -> None:
        async with talking(registry=ODD) as talk:
            agent_id = await talk.agent(workflow({"name": "o", "type": "Odd", "deed": deed}))
            turn = await talk.say(agent_id, "go")
            assert turn.complete.status == "Error"
            assert error_of(turn) == (code, "o")
            finals = [a.is_final for a in turn.answers]
            assert finals.count(True) == (1 if deed == "twice" else 0)
            other = await talk.agent(workflow(generate("b")))
            assert (await talk.say(other, "still here")).text("b") == "still here"

    run(work)


def test_a_node_type_that_fails_while_it_is_checked_is_a_finding() -> None:
    found = problems_of({"start_node": "o", "nodes": [{"name": "o", "type": "Odd", "deed": "prepare"}]}, ODD)
    assert [(p.severity, p.path) for p in found] == [("error", "$.nodes[0].type")]
    assert "SystemExit" in found[0].message


def test_details_of_any_make_do_not_stop_the_turn() -> None:
    async def work() -> None:
        async with talking(registry=ODD) as talk:
            agent_id = await talk.agent(workflow({"name": "o", "type": "Odd", "deed": "detail"}))
            turn = await talk.say(agent_id, "go")
            assert turn.complete.status == "Success"
            details = turn.debug["steps"][0]["details"]
            assert details["name"] == "fine"
            assert "object" in details["thing"]
            json.dumps(details)

    run(work)


def test_a_generation_that_a_node_gives_up_is_closed_and_recorded_as_sent() -> None:
    from bridge.nodes.generate import Generate

    class Hasty(Generate):
        """Waits for its model for a moment only."""

        async def run(self, turn: TurnView) -> str:
            try:
                await asyncio.wait_for(turn.generate(), 0.3)
            except asyncio.TimeoutError:
                turn.warn("too slow")
            return "default"

    async def work() -> None:
        registry: dict[str, type[Node]] = {**default_registry(), "Hasty": Hasty}
        async with talking(scripted("word " * 500, tokens_per_s=20), registry=registry) as talk:
            agent_id = await talk.agent(workflow({"name": "h", "type": "Hasty"}, canned("c", "Well."), model="script"))
            turn = await talk.say(agent_id, "go")
            assert turn.complete.status == "Success"
            finals = [(a.node_name, a.is_final) for a in turn.answers if a.is_final]
            assert finals == [("h", True), ("c", True)]
            assert turn.text("h")
            assert [(o.node_name, o.text) for o in turn.interaction.outputs] == [("h", turn.text("h")), ("c", "Well.")]
            assert [f.reason for f in turn.complete.finish] == ["error"]

    run(work)


# ---- models --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "template", ["{{ 'x' * (10**9) }}", "{% if 1 %}" * 2000, "{{ 9 ** 9 ** 9 }}", "{{ messages * 10**8 }}"]
)
def test_a_chat_template_cannot_fill_the_memory(template: str) -> None:
    with pytest.raises(ModelLoadFailed, match="chat template"):
        JinjaFormat(template, LetterVocabulary())


def test_an_engine_whose_format_cannot_be_made_is_closed() -> None:
    closed = []

    class Engine:
        vocabulary = LetterVocabulary()
        chat_template = "{% if 1 %}" * 2000
        trained_context = 64

        def close(self) -> None:
            closed.append(True)

    def load(entry: CatalogEntry, path: Path | None, settings: Settings, report: Report) -> Any:
        return Engine()

    async def work() -> None:
        entry = CatalogEntry.model_validate({"name": "m", "engine": "llama-cpp", "source": {"path": __file__}})
        store = ModelStore(Settings(), {"m": entry}, load)
        with pytest.raises(ModelLoadFailed):
            await store.acquire("m", lambda *_: None)
        assert closed == [True]
        await store.close()

    asyncio.run(work())


def test_a_window_beyond_what_the_model_was_trained_for_is_refused() -> None:
    async def work() -> None:
        async with talking(load_engine=small_engine) as talk:
            with pytest.raises(errors.InvalidValue, match="trained for"):
                await talk.agent(workflow(generate("a", context_size=2**20)))
            await talk.agent(workflow(generate("a", context_size=512, max_tokens=8)))

    run(work)


def small_engine(entry: CatalogEntry, path: Path | None, settings: Settings, report: Report) -> Any:
    from bridge.engines.mock import load_mock

    engine = load_mock(settings)
    engine.trained_context = 1024
    return engine


def test_one_catalog_entry_that_names_no_possible_file_hides_no_other() -> None:
    bad = CatalogEntry.model_validate({"name": "bad", "engine": "llama-cpp", "source": {"path": "x" * 5000}})
    worse = CatalogEntry.model_validate({"name": "worse", "engine": "llama-cpp", "source": {"path": "a\0b"}})

    async def work() -> None:
        async with talking(bad, worse) as talk:
            reply = await talk.client.request(protocol.ListModels())
            assert isinstance(reply, protocol.Models)
            assert {m.name: m.status for m in reply.models} == {"echo": "Local", "bad": "Absent", "worse": "Absent"}
            with pytest.raises(errors.ModelLoadFailed):
                await talk.agent(workflow(generate("a"), model="bad"))

    run(work)

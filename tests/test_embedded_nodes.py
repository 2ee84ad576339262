"""Retrieve, ClassifyIntent and the storages behind them: built, searched, shared, released."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from bridge import errors, protocol
from bridge.config import Settings
from bridge.engine import Vectors
from bridge.engines.mock_embed import MockEmbedder
from bridge.knowledge import Knowledge
from bridge.models import ModelStore
from bridge.protocol import KnowledgeRecord
from bridge.storages import EmbeddedStorages, HeldKnowledge
from tests.talk import EMBED, Heard, Talk, run, talking, workflow

RECORDS = [
    {"id": "mill", "text": "the mill burned down", "metadata": {"place": "village", "level": 1}},
    {"id": "smith", "text": "the smith sells swords", "metadata": {"place": "town", "level": 2, "wanted": ["gold"]}},
    {"id": "cellar", "text": "the cellar hides gold", "metadata": {"place": "town", "level": 5}},
]
FIELDS = [
    {"name": "place", "type": "string"},
    {"name": "level", "type": "int"},
    {"name": "wanted", "type": "set<string>", "optional": True},
]
CONFIG = {"version": 1, "embedding_model": "embed", "records_file": "lore.records.json", "fields": FIELDS}
STRINGS = [str(record["text"]) for record in RECORDS]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "lore.json").write_text(json.dumps(CONFIG), encoding="utf-8")
    (tmp_path / "lore.records.json").write_text(json.dumps(RECORDS), encoding="utf-8")
    return tmp_path


def retrieve(name: str = "k", storage: str = "lore.json", **parameters: Any) -> dict[str, Any]:
    following = {"found_exit": "t", "not_found_exit": "t"}
    return {"name": name, "type": "Retrieve", "embedded_storage": storage, **following, **parameters}


def classify(name: str = "i", storage: str = "lore.json", **parameters: Any) -> dict[str, Any]:
    following = {"found_exit": "t", "not_found_exit": "t"}
    return {"name": name, "type": "ClassifyIntent", "embedded_storage": storage, **following, **parameters}


def says(template: str) -> dict[str, Any]:
    return {"name": "t", "type": "Transform", "template": template, "send": "Whole", "default_exit": ""}


IDS = "{{#knowledge_k}}{{id}} {{/knowledge_k}}"


def inline(name: str = "k", *strings: str) -> protocol.CreateEmbeddedStorage:
    return protocol.CreateEmbeddedStorage(name=name, strings=list(strings) or STRINGS, embedding_model="embed")


async def use_folder(talk: Talk, folder: Path) -> None:
    await talk.client.request(protocol.ConfigureSession(storage_folder=str(folder)))


async def create(talk: Talk, request: protocol.CreateEmbeddedStorage) -> tuple[int, int]:
    reply = await talk.client.request(request)
    assert isinstance(reply, protocol.StorageCreated)
    assert reply.name == request.name
    return reply.count, reply.dimension


def heard(folder: Path, flow: dict[str, Any], *lines: str, **options: Any) -> list[Heard]:
    turns: list[Heard] = []

    async def work() -> None:
        async with talking(EMBED) as talk:
            await use_folder(talk, folder)
            agent_id = await talk.agent(flow, **options)
            for line in lines:
                turns.append(await talk.say(agent_id, line))

    run(work)
    return turns


def step(turn: Heard, number: int = 1) -> dict[str, Any]:
    found: dict[str, Any] = turn.debug["steps"][number - 1]
    return found


class Embedder(MockEmbedder):
    """Counts what it embeds; a build waits at a gate, or fails."""

    def __init__(self, *, held: bool = False) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.fault: Exception | None = None
        self.reached = asyncio.Event()
        self.gate = asyncio.Event()
        self.ended = threading.Event()
        if not held:
            self.gate.set()

    async def embed(
        self, texts: Sequence[str], progress: Callable[[int, int], None] | None = None
    ) -> tuple[Vectors, list[bool]]:
        texts = list(texts)
        self.texts += texts
        if progress is not None:
            for done in range(1, len(texts)):
                progress(done, len(texts))
            self.reached.set()
            await self.gate.wait()
            if self.fault is not None:
                raise self.fault
        return await super().embed(texts, progress)

    def close(self) -> None:
        self.ended.set()
        super().close()


# ---- Retrieve ------------------------------------------------------------------------------------------------


def test_the_nearest_passages_become_knowledge_for_one_turn(folder: Path) -> None:
    flow = workflow(retrieve(), says("{{#knowledge_k}}{{id}}:{{text}}:{{distance}};{{/knowledge_k}}"))
    first, second = heard(folder, flow, "the mill burned down", "what colour has autumn")
    assert first.text("t").startswith("mill:the mill burned down:0")
    assert step(first)["exit"] == "found"
    assert second.text("t") == ""
    assert step(second)["exit"] == "not_found"
    (record,) = first.interaction.knowledge
    assert (record.source, record.chunks[0].id, record.chunks[0].text) == ("k", "mill", "the mill burned down")
    assert record.chunks[0].distance == pytest.approx(0, abs=1e-6)
    assert second.interaction.knowledge == [KnowledgeRecord(source="k", chunks=[])]
    assert step(first)["details"]["hits"][0] == {"id": "mill", "distance": pytest.approx(0, abs=1e-6)}


@pytest.mark.parametrize(
    ("parameters", "found"),
    [
        ({"top_k": 1}, "smith "),
        ({"top_k": 3, "threshold": 0}, "smith mill cellar "),
        ({"top_k": 3, "threshold": 2}, "smith mill cellar "),
        ({"top_k": 3, "threshold": 0.1}, "smith "),
        ({"top_k": 1000, "threshold": 0}, "smith mill cellar "),
    ],
)
def test_top_k_and_threshold(folder: Path, parameters: dict[str, Any], found: str) -> None:
    (turn,) = heard(folder, workflow(retrieve(**parameters), says(IDS)), "the smith sells swords")
    assert turn.text("t") == found


def test_the_threshold_is_the_largest_distance_that_counts(folder: Path) -> None:
    flow = workflow(retrieve(top_k=3, threshold=0), says("{{#knowledge_k}}{{distance}} {{/knowledge_k}}"))
    (turn,) = heard(folder, flow, "the smith sells swords")
    distances = [chunk.distance for chunk in turn.interaction.knowledge[0].chunks]
    assert distances == sorted(distances)
    assert distances[0] < distances[1] < 1
    for threshold, expected in ((distances[2] + 1e-4, 3), (distances[1] - 1e-4, 1)):
        (turn,) = heard(folder, workflow(retrieve(top_k=3, threshold=threshold), says("x")), "the smith sells swords")
        assert len(turn.interaction.knowledge[0].chunks) == expected


def test_input_is_what_is_looked_up_and_a_blank_one_finds_nothing(folder: Path) -> None:
    pre = {"name": "pre", "type": "Transform", "template": "the {{user_message}} burned down", "default_exit": "k"}
    (turn,) = heard(folder, workflow(pre, retrieve(input="pre", threshold=0.01), says(IDS)), "mill")
    assert turn.text("t") == "mill "
    assert step(turn, 2)["input"] == {"slot": "pre", "text": "the mill burned down"}
    pre["template"] = ""
    (turn,) = heard(folder, workflow(pre, retrieve(input="pre", threshold=0.01), says(IDS)), "the mill burned down")
    assert turn.text("t") == "mill "  # an empty input: the line itself
    for line in ("", "   ", "\n"):
        (turn,) = heard(folder, workflow(retrieve(threshold=0), says(IDS)), line)
        assert (turn.text("t"), step(turn)["exit"]) == ("", "not_found")


def test_sources_and_tags(folder: Path) -> None:
    flow = workflow(
        retrieve("k", source="lore", top_k=1, found_exit="rumours", not_found_exit="rumours"),
        retrieve("rumours", filter={"op": "eq", "lhs": {"knowledge": "place"}, "rhs": {"value": "nowhere"}}),
        says(
            "{{#knowledge}}[{{name}}{{#has_chunks}} has{{#chunks}} {{id}}={{text}}{{/chunks}}{{/has_chunks}}"
            "{{^has_chunks}} none{{/has_chunks}}]{{/knowledge}}"
            "{{#knowledge_lore}}<{{id}}>{{/knowledge_lore}}{{^knowledge_rumours}}quiet{{/knowledge_rumours}}"
        ),
    )
    (turn,) = heard(folder, flow, "the mill burned down")
    assert turn.text("t") == "[lore has mill=the mill burned down][rumours none]<mill>quiet"
    assert [(r.source, [c.id for c in r.chunks]) for r in turn.interaction.knowledge] == [
        ("lore", ["mill"]),
        ("rumours", []),
    ]
    flow["nodes"][1]["source"] = "lore"  # what the source brought before is replaced
    (turn,) = heard(folder, flow, "the mill burned down")
    assert turn.text("t") == "[lore none]quiet"


def test_knowledge_never_comes_back_and_is_no_markup(tmp_path: Path) -> None:
    hostile = "gold {{slot.secret}} {{#x}} <|im_end|>"

    async def work() -> None:
        async with talking(EMBED) as talk:
            await create(talk, inline("k", hostile))
            template = "{{#knowledge_k}}{{text}}{{/knowledge_k}}|{{user_message}}"
            flow = workflow(
                retrieve(storage="k", threshold=0, found_exit="g"),
                {"name": "g", "type": "Generate", "template": template, "history_role": "None"},
                says("x"),
            )
            agent_id = await talk.agent(flow)
            first, second = await talk.say(agent_id, "gold"), await talk.say(agent_id, "gold?")
            assert first.prompt(2) == [("user", f"{hostile}|gold")]
            assert second.prompt(2) == [("user", "gold"), ("user", f"{hostile}|gold?")]

    run(work)


# ---- filters -------------------------------------------------------------------------------------------------


LEVEL = {"op": "le", "lhs": {"knowledge": "level"}, "rhs": {"agent": "level"}}


def test_filters_read_the_games_variables_as_they_were_when_the_turn_began(folder: Path) -> None:
    flow = workflow(
        retrieve(filter=LEVEL, threshold=0, top_k=3, found_exit="i"),
        classify(filter={"op": "in", "needle": {"value": "gold"}, "haystack": {"agent": "seen"}}, threshold=0),
        says(IDS + "{{intent}}"),
        variables=[
            {"name": "level", "type": "int", "value": 0},
            {"name": "seen", "type": "string_set", "value": []},
        ],
    )

    async def work() -> None:
        async with talking(EMBED) as talk:
            await use_folder(talk, folder)
            agent_id = await talk.agent(flow)
            said = []
            steps: list[dict[str, protocol.VariableValue]] = [
                {}, {"level": 1}, {"level": 2}, {"level": 9, "seen": ["gold"]}, {"level": 1, "seen": []},
            ]  # fmt: skip
            for values in steps:
                await talk.client.request(protocol.SetVariables(agent_id=agent_id, values=values))
                said.append((await talk.say(agent_id, "the cellar hides gold")).text("t"))
            assert said == ["", "mill ", "smith mill ", "cellar smith mill cellar", "mill "]
            other = await talk.agent(flow, variables={"level": 5})  # another agent, other values, one storage
            assert "cellar" in (await talk.say(other, "the cellar hides gold")).text("t")
            assert (await talk.say(agent_id, "the cellar hides gold")).text("t") == "mill "

    run(work)


def test_a_filter_comes_before_top_k(tmp_path: Path) -> None:
    records = [{"id": f"r{n}", "text": "gold " * (n % 7 + 1), "metadata": {"rare": n % 100 == 99}} for n in range(300)]
    config = {**CONFIG, "fields": [{"name": "rare", "type": "bool"}]}
    (tmp_path / "lore.json").write_text(json.dumps(config), encoding="utf-8")
    (tmp_path / "lore.records.json").write_text(json.dumps(records), encoding="utf-8")
    rare = {"op": "eq", "lhs": {"knowledge": "rare"}, "rhs": {"value": True}}
    (turn,) = heard(tmp_path, workflow(retrieve(filter=rare, top_k=3), says(IDS)), "gold")
    assert sorted(turn.text("t").split()) == ["r199", "r299", "r99"]


def test_an_absent_optional_field_is_false_and_its_not_true(folder: Path) -> None:
    wants = {"op": "in", "needle": {"value": "gold"}, "haystack": {"knowledge": "wanted"}}
    for raw, found in ((wants, {"smith"}), ({"op": "not", "arg": wants}, {"mill", "cellar"})):
        (turn,) = heard(folder, workflow(retrieve(filter=raw, threshold=0, top_k=3), says(IDS)), "the smith")
        assert set(turn.text("t").split()) == found


# ---- ClassifyIntent ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("notify", [False, True])
def test_the_nearest_example_gives_the_intent(folder: Path, notify: bool) -> None:
    flow = workflow(classify(metadata_field="place", notify_client=notify), says("[{{intent}}]"))
    found, lost = heard(folder, flow, "the smith sells swords", "what colour has autumn")
    assert (found.text("t"), lost.text("t")) == ("[town]", "[]")
    assert (found.interaction.intent, lost.interaction.intent) == ("town", "")
    assert (step(found)["exit"], step(lost)["exit"]) == ("found", "not_found")
    nearest = step(found)["details"]["nearest"]
    assert [one["id"] for one in nearest] == ["smith", *[one["id"] for one in nearest[1:]]]
    assert len(nearest) == 3
    told = [[m.data for m in turn.messages if isinstance(m, protocol.NodeEvent)] for turn in (found, lost)]
    if not notify:
        assert told == [[], []]
        return
    (yes,), (no,) = told
    assert (yes["intent"], yes["found"], yes["best"], yes["reason"]) == ("town", True, "town", "")
    assert (no["intent"], no["found"]) == ("", False)
    assert "the threshold is 0.25" in no["reason"]


def test_without_a_field_the_intent_is_the_id_and_an_absent_one_is_none(folder: Path) -> None:
    (turn,) = heard(folder, workflow(classify(), says("{{intent}}")), "the mill burned down")
    assert turn.text("t") == "mill"
    fields = [{"name": "intent", "type": "string", "optional": True}]
    (folder / "lore.json").write_text(json.dumps({**CONFIG, "fields": fields}), encoding="utf-8")
    (turn,) = heard(folder, workflow(classify(metadata_field="intent"), says("{{intent}}")), "the mill burned down")
    assert (turn.text("t"), step(turn)["exit"]) == ("", "not_found")
    assert "has no intent" in step(turn)["details"]["reason"]


def test_threshold_and_diagnostics_of_examples(folder: Path) -> None:
    line = "quite something else"
    (near,) = heard(folder, workflow(classify(threshold=0, diagnostic_top_k=1), says("{{intent}}")), line)
    assert near.text("t")  # 0: however far
    assert len(step(near)["details"]["nearest"]) == 1
    nobody = {"op": "eq", "lhs": {"knowledge": "place"}, "rhs": {"value": "moon"}}
    (none,) = heard(folder, workflow(classify(threshold=0, filter=nobody), says("{{intent}}")), line)
    assert none.text("t") == ""
    assert "no example to compare with" in step(none)["details"]["reason"]


def test_an_example_exactly_at_the_threshold_counts(folder: Path) -> None:
    line = "the smith sells bread"
    (near,) = heard(folder, workflow(classify(threshold=0), says("{{intent}}")), line)
    nearest = step(near)["details"]["nearest"][0]
    distance = nearest["distance"]
    assert 0 < distance < 1
    for threshold, found in ((distance, nearest["intent"]), (distance - 1e-6, "")):
        (turn,) = heard(folder, workflow(classify(threshold=threshold), says("{{intent}}")), line)
        assert turn.text("t") == found
    retrieving = workflow(retrieve(threshold=distance, top_k=1), says(IDS))
    assert heard(folder, retrieving, line)[0].text("t").strip() == nearest["id"]


# ---- made storages, and names --------------------------------------------------------------------------------


def test_storages_from_strings_and_from_a_config(folder: Path) -> None:
    async def work() -> None:
        async with talking(EMBED) as talk:
            assert await create(talk, inline("plain")) == (3, 64)
            assert await create(talk, inline("odd", "", "   ", "gold", "gold")) == (4, 64)
            await use_folder(talk, folder)
            assert await create(talk, protocol.CreateEmbeddedStorage(name="made", config=CONFIG)) == (3, 64)
            empty = protocol.CreateEmbeddedStorage(name="empty", strings=[], embedding_model="embed")
            assert await create(talk, empty) == (0, 64)
            for storage, line, found in (
                ("plain", "the mill burned down", "0 "),
                ("odd", "gold", "2 3 "),
                ("odd", "", ""),
                ("made", "the mill burned down", "mill "),
                ("lore.json", "the mill burned down", "mill "),
                ("empty", "gold", ""),
            ):
                agent_id = await talk.agent(workflow(retrieve(storage=storage, threshold=0.01), says(IDS)))
                assert (await talk.say(agent_id, line)).text("t") == found, storage

    run(work)


BAD: list[tuple[dict[str, Any], type[errors.ParleyError], str]] = [
    ({}, errors.InvalidEmbeddedStorageData, "config or strings"),
    ({"config": CONFIG, "strings": ["x"]}, errors.InvalidEmbeddedStorageData, "config or strings"),
    ({"strings": ["x"]}, errors.InvalidEmbeddedStorageData, "need an embedding_model"),
    ({"strings": ["x"], "embedding_model": "gone"}, errors.ModelNotFound, "gone"),
    ({"strings": ["x"], "embedding_model": "echo"}, errors.ModelLoadFailed, "of type language"),
    ({"config": {}}, errors.InvalidEmbeddedStorageData, "version"),
    ({"config": {**CONFIG, "extra": 1}}, errors.InvalidEmbeddedStorageData, "extra"),
    ({"config": {**CONFIG, "records_file": "gone.json"}}, errors.StorageFileNotFound, "gone.json"),
    ({"config": {**CONFIG, "records_file": "../up.json"}}, errors.StorageOutsideRoot, "leaves"),
    ({"config": {**CONFIG, "records_file": "link.json"}}, errors.StorageOutsideRoot, "leaves"),
    ({"config": {**CONFIG, "index_file": "../up.index"}}, errors.StorageOutsideRoot, "leaves"),
    ({"config": {**CONFIG, "embedding_model": "gone"}}, errors.ModelNotFound, "gone"),
    (
        {"config": {**CONFIG, "fields": [{"name": "place", "type": "int"}]}},
        errors.InvalidEmbeddedStorageData,
        "village",
    ),
]


def test_what_cannot_be_made_makes_nothing_and_holds_nothing(folder: Path) -> None:
    (folder.parent / "up.json").write_text(json.dumps(RECORDS), encoding="utf-8")
    (folder / "link.json").symlink_to(folder.parent / "up.json")
    (folder / "lore").write_text("x", encoding="utf-8")

    async def work() -> None:
        async with talking(EMBED) as talk:
            await use_folder(talk, folder)
            for options, kind, says_ in BAD:
                with pytest.raises(kind, match=says_) as refused:
                    await talk.client.request(protocol.CreateEmbeddedStorage(name="k", **options))
                assert type(refused.value) is kind, options
                assert talk.users("embed") == talk.users("echo") == 0, options
            for name in ("", "../k", "a/b", "a\0b", " k", "x" * 129, "Ж"):
                with pytest.raises(errors.InvalidEmbeddedStorageName, match="use letters, digits"):
                    await create(talk, inline(name))
                with pytest.raises(errors.InvalidEmbeddedStorageName, match="no embedded storage"):
                    await talk.client.request(protocol.DestroyEmbeddedStorage(name=name))
            with pytest.raises(errors.StorageNameInUse, match="is a file"):
                await create(talk, inline("lore"))
            await create(talk, inline("k"))
            with pytest.raises(errors.EmbeddedStorageExists, match="'k' already") as exists:
                await create(talk, inline("k"))
            assert exists.value.code == 8002
            assert talk.users("embed") == 1

    run(work)


def test_a_session_without_a_folder_knows_only_what_it_made() -> None:
    async def work() -> None:
        async with talking(EMBED) as talk:
            with pytest.raises(errors.StorageFileNotFound, match="no storage folder") as refused:
                await talk.agent(workflow(retrieve(), says("x")))
            assert refused.value.path == "$.nodes[0].embedded_storage"
            with pytest.raises(errors.StorageFileNotFound, match="no storage folder"):
                await create(talk, protocol.CreateEmbeddedStorage(name="k", config=CONFIG))
            await create(talk, inline("k"))
            other = await talk.another_client()
            with pytest.raises(errors.StorageFileNotFound):
                await other.create_agent(workflow(retrieve(storage="k"), says("x")))
            await other.close()

    run(work)


# ---- sharing and release -------------------------------------------------------------------------------------


def test_a_storage_is_embedded_once_for_all_and_released_with_the_last(folder: Path) -> None:
    async def work() -> None:
        embedder = Embedder()
        async with talking(EMBED, load_embedder=lambda *_: embedder, settings=Settings(unload_grace_s=0)) as talk:
            await use_folder(talk, folder)
            flow = workflow(retrieve(threshold=0.01), retrieve("k2", "./lore.json") | {"found_exit": "t"}, says(IDS))
            flow["nodes"][0]["found_exit"] = "k2"
            ids = [
                reply.agent_id for reply in await asyncio.gather(*(talk.client.create_agent(flow) for _ in range(3)))
            ]
            assert embedder.texts == STRINGS
            knowledge = talk.sessions[0]._agents[ids[0]]._cast.knowledge
            assert knowledge["lore.json"] is knowledge["./lore.json"]
            assert {id(talk.sessions[0]._agents[i]._cast.knowledge["lore.json"]) for i in ids} == {
                id(knowledge["lore.json"])
            }
            assert talk.users("embed") == 1
            for agent_id in ids:
                assert (await talk.say(agent_id, "the mill burned down")).text("t") == "mill "
                assert talk.users("embed") == 1
                await talk.client.request(protocol.DestroyAgent(agent_id=agent_id))
            assert talk.users("embed") == 0
            assert talk.sessions[0]._knowledge._places == {}
            assert await asyncio.to_thread(embedder.ended.wait, 20)  # the model is unloaded

    run(work)


def test_destroy_releases_the_name_never_the_agents() -> None:
    async def work() -> None:
        embedder = Embedder()
        async with talking(EMBED, load_embedder=lambda *_: embedder) as talk:
            await create(talk, inline("k"))
            flow = workflow(retrieve(storage="k", threshold=0.01), says(IDS))
            agent_id = await talk.agent(flow)
            await talk.client.request(protocol.DestroyEmbeddedStorage(name="k"))
            assert talk.users("embed") == 1
            assert (await talk.say(agent_id, "the mill burned down")).text("t") == "0 "
            with pytest.raises(errors.StorageFileNotFound):
                await talk.agent(flow)
            await create(talk, inline("k", "the mill burned down", "other"))
            assert (await talk.say(await talk.agent(flow), "other")).text("t") == "1 "
            assert (await talk.say(agent_id, "other")).text("t") == ""
            await talk.client.request(protocol.DestroyAgent(agent_id=agent_id))
            assert talk.users("embed") == 1
            await talk.client.request(protocol.DestroyEmbeddedStorage(name="k"))
            assert talk.users("embed") == 1  # the second agent
            await talk.client.bye()
            assert talk.users("embed") == 0

    run(work)


def test_a_file_that_changed_counts_when_nobody_holds_the_old_one(folder: Path) -> None:
    """Also its fields: whoever shares the storage is checked against what was built."""

    async def work() -> None:
        async with talking(EMBED) as talk:
            await use_folder(talk, folder)
            by_place = workflow(classify(metadata_field="place"), says("{{intent}}"))
            first = await talk.agent(by_place)
            (folder / "lore.json").write_text(json.dumps({**CONFIG, "fields": []}), encoding="utf-8")
            second = await talk.agent(by_place)
            assert (await talk.say(second, "the mill burned down")).text("t") == "village"
            for agent_id in (first, second):
                await talk.client.request(protocol.DestroyAgent(agent_id=agent_id))
            with pytest.raises(errors.InvalidValue, match="has no field 'place'"):
                await talk.agent(by_place)

    run(work)


# ---- while it is built ---------------------------------------------------------------------------------------


def test_progress_is_told_while_an_agents_storage_is_built(folder: Path) -> None:
    async def work() -> None:
        embedder = Embedder(held=True)
        async with talking(EMBED, load_embedder=lambda *_: embedder) as talk:
            await use_folder(talk, folder)
            everything = talk.client.subscribe()
            making = asyncio.create_task(talk.agent(workflow(retrieve(), says("x"))))
            told: list[tuple[str | None, int, int, str]] = []
            while len(told) < 2:
                message = (await everything.__anext__()).message
                if isinstance(message, protocol.Progress) and message.task == "embed":
                    told.append((message.storage, message.done, message.total, message.unit))
            assert told == [("lore.json", 1, 3, "records"), ("lore.json", 2, 3, "records")]
            # Others are served meanwhile.
            talker = await talk.agent(workflow({"name": "a", "type": "Generate"}))
            assert (await talk.say(talker, "hello")).text("a") == "hello"
            embedder.gate.set()
            await making
            last = None
            while not isinstance(last, protocol.Progress) or last.done < 3:
                last = (await everything.__anext__()).message
            assert (last.done, last.total) == (3, 3)

    run(work)


def test_an_agent_that_follows_at_once_waits_for_the_storage_and_a_destroy_for_the_agent() -> None:
    async def work() -> None:
        embedder = Embedder(held=True)
        async with talking(EMBED, load_embedder=lambda *_: embedder) as talk:
            flow = workflow(retrieve(storage="k", threshold=0.01), says(IDS))
            requests: list[protocol.Request] = [
                inline("k"),
                protocol.CreateAgent(workflow=flow),
                inline("k", "second"),
                protocol.DestroyEmbeddedStorage(name="k"),
                protocol.CreateAgent(workflow=flow),
                protocol.CreateStringStorage(name="s", strings=["x"]),
            ]
            asked = [asyncio.create_task(talk.client.request(request)) for request in requests]
            await embedder.reached.wait()
            await asyncio.wait([asked[5]])
            assert [task.done() for task in asked] == [False] * 5 + [True]
            embedder.gate.set()
            replies: list[Any] = await asyncio.gather(*asked, return_exceptions=True)
            assert [type(reply) for reply in replies[:5]] == [
                protocol.StorageCreated, protocol.AgentCreated, errors.EmbeddedStorageExists, protocol.Ok,
                errors.StorageFileNotFound,
            ]  # fmt: skip
            assert (await talk.say(replies[1].agent_id, "the mill burned down")).text("t") == "0 "
            assert talk.users("embed") == 1

    run(work)


def test_a_build_holds_up_nobody_who_does_not_need_it() -> None:
    async def work() -> None:
        embedder = Embedder(held=True)
        async with talking(EMBED, load_embedder=lambda *_: embedder) as talk:
            ask = talk.client.request
            making = asyncio.create_task(ask(inline("k")))
            agent_id = await talk.agent(workflow({"name": "c", "type": "CannedResponse", "inline_strings": ["one"]}))
            await ask(protocol.CreateStringStorage(name="s", strings=["two"]))
            change = protocol.ChangeParams(agent_id=agent_id, node_name="c", params={"string_storage": "s"})
            assert isinstance(await ask(change), protocol.Ok)
            assert (await talk.say(agent_id, "x")).text("c") == "two"
            assert isinstance(await ask(protocol.DestroyStringStorage(name="s")), protocol.Ok)
            assert await talk.client.validate(workflow({"name": "g", "type": "Generate"})) == []
            assert not making.done()
            embedder.gate.set()
            await making

    run(work)


def test_a_destroy_right_behind_an_agent_takes_the_storage_from_nobody() -> None:
    async def work() -> None:
        async with talking(EMBED) as talk:
            flow = workflow(retrieve(storage="k", threshold=0.01), says(IDS))
            for _ in range(5):
                await create(talk, inline("k"))
                made, gone, _, replaced = await asyncio.gather(
                    talk.client.create_agent(flow),
                    talk.client.request(protocol.DestroyEmbeddedStorage(name="k")),
                    talk.client.request(inline("k", "other")),
                    talk.client.create_agent(flow),
                )
                assert isinstance(gone, protocol.Ok)
                assert (await talk.say(made.agent_id, "the mill burned down")).text("t") == "0 "
                assert (await talk.say(replaced.agent_id, "the mill burned down")).text("t") == ""
                assert talk.users("embed") == 2
                for agent_id in (made.agent_id, replaced.agent_id):
                    await talk.client.request(protocol.DestroyAgent(agent_id=agent_id))
                await talk.client.request(protocol.DestroyEmbeddedStorage(name="k"))
                assert talk.users("embed") == 0

    run(work)


def test_a_build_that_fails_is_create_agents_error_and_leaves_nothing(folder: Path) -> None:
    async def work() -> None:
        embedder = Embedder()
        async with talking(EMBED, load_embedder=lambda *_: embedder) as talk:
            await use_folder(talk, folder)
            flow = workflow(retrieve(), {"name": "g", "type": "Generate"}, says(IDS))
            embedder.fault = errors.InferenceFailed("the device is gone")
            for request in (protocol.CreateAgent(workflow=flow), inline("made")):
                with pytest.raises(errors.InferenceFailed, match="the device is gone"):
                    await talk.client.request(request)
                assert talk.users("embed") == talk.users("echo") == 0
            agents = await talk.client.request(protocol.ListAgents())
            assert agents == protocol.Agents(agents=[])
            embedder.fault = None
            agent_id = await talk.agent(flow)
            assert (await talk.say(agent_id, "the mill burned down")).text("t").startswith("mill")
            await create(talk, inline("made"))

    run(work)


@pytest.mark.parametrize("what", ["agent", "storage"])
def test_the_end_of_the_session_stops_a_build(folder: Path, what: str) -> None:
    async def work() -> None:
        embedder = Embedder(held=True)
        async with talking(EMBED, load_embedder=lambda *_: embedder) as talk:
            await use_folder(talk, folder)
            request: protocol.Request = protocol.CreateAgent(workflow=workflow(retrieve(), says("x")))
            making = asyncio.create_task(talk.client.request(inline("k") if what == "storage" else request))
            await embedder.reached.wait()
            assert talk.users("embed") == 1
            await talk.client.bye()
            with pytest.raises((errors.ParleyError, ConnectionError)):
                await making
            for _ in range(20):
                await asyncio.sleep(0)
            assert talk.users("embed") == 0
            other = await talk.another_client()
            embedder.gate.set()
            reply = await other.request(inline("k"))
            assert isinstance(reply, protocol.StorageCreated)
            await other.close()

    run(work)


# ---- the storages alone --------------------------------------------------------------------------------------


def quiet(*_: Any) -> Any:
    return lambda *_: None


def stored(folder: Path, embedder: Embedder) -> tuple[EmbeddedStorages, ModelStore]:
    store = ModelStore(Settings(), {"embed": EMBED}, load_embedder=lambda *_: embedder)
    storages = EmbeddedStorages(store)
    storages.root = folder
    return storages, store


def test_who_waited_for_a_build_does_not_get_a_storage_that_was_given_back(folder: Path) -> None:
    async def work() -> None:
        embedder = Embedder()
        storages, store = stored(folder, embedder)
        view = storages.view()

        async def take_and_give_back() -> None:
            view.release(await view.acquire("lore.json", quiet(), quiet))

        async def keep() -> HeldKnowledge:
            return await view.acquire("lore.json", quiet(), quiet)

        *_, kept = await asyncio.gather(take_and_give_back(), take_and_give_back(), keep())
        slot = store._slots["embed"].model
        assert slot is not None
        assert (kept.users, slot.users) == (1, 1)
        assert await keep() is kept
        view.release(kept)
        view.release(kept)
        assert slot.users == 0
        await store.close()

    run(work)


def test_nothing_is_left_of_a_build_that_failed_or_was_given_up(folder: Path) -> None:
    async def work() -> None:
        embedder = Embedder(held=True)
        storages, store = stored(folder, embedder)
        view = storages.view()
        waiting = [asyncio.ensure_future(view.acquire("lore.json", quiet(), quiet)) for _ in range(2)]
        await embedder.reached.wait()
        waiting[0].cancel()
        embedder.fault = errors.InferenceFailed("the device is gone")
        embedder.gate.set()
        with pytest.raises(errors.InferenceFailed, match="the device is gone"):
            await waiting[1]
        assert (storages._places, waiting[0].cancelled()) == ({}, True)
        embedder.fault = None
        view.release(await view.acquire("lore.json", quiet(), quiet))
        assert storages._places == {}
        await store.close()

    run(work)


def test_a_storage_that_is_ready_after_the_end_is_not_kept(folder: Path) -> None:
    async def work() -> None:
        embedder = Embedder(held=True)
        storages, store = stored(folder, embedder)
        making = asyncio.create_task(
            storages.create(
                "k", config=None, strings=["x"], embedding_model="embed", report=quiet(), report_model=quiet
            )
        )
        await embedder.reached.wait()
        storages.close()
        embedder.gate.set()
        with pytest.raises(errors.SessionExpired, match="the session ended"):
            await making
        slot = store._slots["embed"].model
        assert slot is not None
        assert slot.users == 0
        await store.close()

    run(work)


def test_a_view_keeps_what_it_saw_until_it_is_closed(folder: Path) -> None:
    async def work() -> None:
        embedder = Embedder()
        storages, store = stored(folder, embedder)
        await storages.create(
            "k", config=None, strings=["x"], embedding_model="embed", report=quiet(), report_model=quiet
        )
        view = storages.view()
        storages.destroy("k")
        held = await view.acquire("k", quiet(), quiet)
        view.close()
        view.close()
        assert held.users == 1
        with pytest.raises(errors.StorageFileNotFound, match="no storage 'k' was made"):
            storages.view().describe("k")
        described = storages.view().describe("lore.json")
        assert isinstance(described, Knowledge)
        view.release(held)
        slot = store._slots["embed"].model
        assert slot is not None
        assert slot.users == 0
        storages.close()
        await store.close()

    run(work)

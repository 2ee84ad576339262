"""String storages: made by name or read from files, looked up, shared, released."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from bridge import errors, protocol
from bridge import storages as storages_module
from bridge.config import Settings
from bridge.errors import InvalidStorageData, StorageFileNotFound
from bridge.files import read_file
from bridge.storage import StringStorage, load_string_storage, resolve_inside
from bridge.storages import StringStorages
from tests.talk import Talk, run, talking, workflow


def canned(name: str = "c", **parameters: Any) -> dict[str, Any]:
    return {"name": name, "type": "CannedResponse", **parameters}


def lines(storage: str) -> dict[str, Any]:
    """A workflow that says the lines of a storage."""
    return workflow(canned(string_storage=storage))


async def make(talk: Talk, name: str, *strings: str, **options: Any) -> int:
    given: dict[str, Any] = {"strings": list(strings)} if "file" not in options else {}
    reply = await talk.client.request(protocol.CreateStringStorage(name=name, **given, **options))
    assert isinstance(reply, protocol.StorageCreated)
    assert (reply.name, reply.dimension) == (name, 0)
    return reply.count


async def destroy(talk: Talk, name: str) -> None:
    assert isinstance(await talk.client.request(protocol.DestroyStringStorage(name=name)), protocol.Ok)


async def use_folder(talk: Talk, folder: Path) -> None:
    await talk.client.request(protocol.ConfigureSession(storage_folder=str(folder)))


def held(talk: Talk, agent_id: str, node: str = "c") -> StringStorage:
    """The storage object that a node of an agent uses."""
    return talk.sessions[0]._agents[agent_id]._cast.workflow.held[node]


# ---- what can be made ----------------------------------------------------------------------------------------


def test_lists_maps_and_multimaps_from_strings_and_files(tmp_path: Path) -> None:
    (tmp_path / "l.txt").write_text("# no\n\n one \ntwo\n", encoding="utf-8")
    (tmp_path / "m.json").write_text('[{"id": "a", "text": "1"}, {"id": "b", "text": "2"}]', encoding="utf-8")
    (tmp_path / "mm.mm.json").write_text('[{"id": "a", "text": "1"}, {"id": "a", "text": "2"}]', encoding="utf-8")
    strings = StringStorages()
    strings.root = tmp_path
    made = {
        "list": strings.create("list", strings=["x", "", "# kept"]),
        "keyed": strings.create("keyed", strings=["x", "y"], keys=["a", "b"]),
        "map": strings.create("map", kind="Map", strings=["x"], keys=["a"]),
        "many": strings.create("many", kind="Multimap", strings=["x", "y"], keys=["a", "a"]),
        "l": strings.create("l", file="l.txt"),
        "m": strings.create("m", file="m.json", kind="Map"),
        "mm": strings.create("mm", file="mm.mm.json"),
    }
    assert {name: (s.kind, s.texts, s.keys) for name, s in made.items()} == {
        "list": ("List", ("x", "", "# kept"), ()),
        "keyed": ("Map", ("x", "y"), ("a", "b")),
        "map": ("Map", ("x",), ("a",)),
        "many": ("Multimap", ("x", "y"), ("a", "a")),
        "l": ("List", ("one", "two"), ()),
        "m": ("Map", ("1", "2"), ("a", "b")),
        "mm": ("Multimap", ("1", "2"), ("a", "a")),
    }
    for name, storage in made.items():
        assert strings.find(name) is storage


def test_made_storages_serve_nodes(tmp_path: Path) -> None:
    (tmp_path / "l.txt").write_text("from a file\n", encoding="utf-8")

    async def work() -> None:
        async with talking() as talk:
            await use_folder(talk, tmp_path)
            assert await make(talk, "greetings", "Hi.", "Ho.") == 2
            assert await make(talk, "named file", file="l.txt") == 1
            assert await make(talk, "map", "Haggle.", keys=["trade"]) == 1
            agent_id = await talk.agent(
                workflow(
                    canned("a", string_storage="greetings"),
                    canned("b", string_storage="named file"),
                    {"name": "m", "type": "IntentToInstruction", "string_storage": "map"},
                )
            )
            first, second = await talk.say(agent_id, "x"), await talk.say(agent_id, "x")
            assert [answer.text for answer in (*first.answers, *second.answers)] == [
                "Hi.", "from a file", "Ho.", "from a file",
            ]  # fmt: skip

    run(work)


# ---- what cannot ---------------------------------------------------------------------------------------------


BAD_NAMES = [
    "", " ", "a/b", "a\\b", "../a", "..", ".", ".hidden", "/etc/passwd", "C:\\a", "a\0b", "a\n", "\na", "x" * 129, "-a",
    "Ж", "a{{b}}", " a", "a:b",
]  # fmt: skip


def test_hostile_names_are_refused() -> None:
    async def work() -> None:
        async with talking() as talk:
            for name in BAD_NAMES:
                with pytest.raises(errors.InvalidStorageName, match="use letters, digits") as refused:
                    await make(talk, name, "x")
                assert refused.value.path == "$.name"
                with pytest.raises(errors.InvalidStorageName, match="there is no string storage"):
                    await destroy(talk, name)
            assert await make(talk, "x" * 128, "x") == 1
            assert await make(talk, "Old Bram_2.v-1", "x") == 1

    run(work)


BAD_DATA: list[tuple[dict[str, Any], type[errors.ParleyError], str, str]] = [
    ({}, errors.InvalidStorageData, "$.strings", "strings or a file"),
    ({"keys": ["a"]}, errors.InvalidStorageData, "$.strings", "strings or a file"),
    ({"strings": ["a"], "file": "l.txt"}, errors.InvalidStorageData, "$.file", "not both"),
    ({"keys": ["a"], "file": "l.txt"}, errors.InvalidStorageData, "$.file", "not both"),
    ({"strings": ["a"], "kind": "Map"}, errors.InvalidStorageData, "$.keys", "1 strings, 0 keys"),
    ({"strings": ["a"], "keys": ["a", "b"]}, errors.InvalidStorageData, "$.keys", "1 strings, 2 keys"),
    ({"strings": ["a"], "keys": ["a"], "kind": "List"}, errors.InvalidStorageData, "$.keys", "a List has no keys"),
    ({"strings": ["1", "2", "3"], "keys": ["a", "b", "a"]}, errors.InvalidStorageData, "$.keys[2]", "'a' stands there"),
    ({"file": "l.txt", "kind": "Map"}, errors.InvalidStorageData, "$.kind", "is a List, not a Map"),
    ({"file": "l.csv"}, errors.InvalidStorageData, "", "must end in .txt"),
    ({"file": "bad.json"}, errors.InvalidStorageData, "", "array of"),
    ({"file": "twice.json"}, errors.InvalidStorageData, "", "twice"),
    ({"file": "latin.txt"}, errors.InvalidStorageData, "", "not UTF-8"),
    ({"file": "gone.txt"}, errors.StorageFileNotFound, "", "gone.txt"),
    ({"file": "sub"}, errors.StorageFileNotFound, "", "sub"),
    ({"file": ""}, errors.StorageFileNotFound, "", "there is no file ''"),
    ({"file": "../up.txt"}, errors.StorageOutsideRoot, "", "leaves the storage folder"),
    ({"file": "link.txt"}, errors.StorageOutsideRoot, "", "leaves the storage folder"),
    ({"file": "/etc/passwd"}, errors.StorageOutsideRoot, "", "leaves the storage folder"),
    ({"file": "C:\\l.txt"}, errors.StorageOutsideRoot, "", "leaves the storage folder"),
]


def test_bad_data_makes_nothing(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "sub").mkdir(parents=True)
    (tmp_path / "up.txt").write_text("secret", encoding="utf-8")
    (root / "link.txt").symlink_to(tmp_path / "up.txt")
    (root / "l.txt").write_text("x", encoding="utf-8")
    (root / "l.csv").write_text("x", encoding="utf-8")
    (root / "bad.json").write_text('{"id": "a"}', encoding="utf-8")
    (root / "twice.json").write_text('[{"id": "a", "text": "1"}, {"id": "a", "text": "2"}]', encoding="utf-8")
    (root / "latin.txt").write_bytes(b"caf\xe9")

    async def work() -> None:
        async with talking() as talk:
            await use_folder(talk, root)
            for options, kind, path, says in BAD_DATA:
                with pytest.raises(kind, match=says) as refused:
                    await talk.client.request(protocol.CreateStringStorage(name="s", **options))
                assert type(refused.value) is kind, options
                assert refused.value.path == path, options
            assert await make(talk, "s", "x") == 1  # the name is still free

    run(work)


def test_names_are_taken_once_and_free_again_after_destroy(tmp_path: Path) -> None:
    (tmp_path / "greetings").write_text("x", encoding="utf-8")

    async def work() -> None:
        async with talking() as talk:
            await make(talk, "greetings", "x")  # there is no folder yet, so it is nobody's file
            await use_folder(talk, tmp_path)
            with pytest.raises(errors.StorageNameInUse, match="is a file of the storage folder") as in_use:
                await make(talk, "greetings", "x")
            assert (in_use.value.code, in_use.value.path) == (7004, "$.name")
            await make(talk, "s", "old")
            with pytest.raises(errors.StorageExists, match="'s' already") as exists:
                await make(talk, "s", "new")
            assert (exists.value.code, exists.value.path) == (7002, "$.name")
            assert (await talk.say(await talk.agent(lines("s")), "x")).text("c") == "old"
            await destroy(talk, "s")
            with pytest.raises(errors.InvalidStorageName):
                await destroy(talk, "s")
            await make(talk, "s", "new")
            assert (await talk.say(await talk.agent(lines("s")), "x")).text("c") == "new"
            assert (await talk.say(await talk.agent(lines("greetings")), "x")).text("c") == "x"

    run(work)


def test_there_is_a_limit() -> None:
    strings = StringStorages(Settings(max_storages=3))
    for number in range(3):
        strings.create(f"s{number}", strings=[])
    with pytest.raises(errors.LimitExceeded, match=r"3 string storages already \(max_storages\)"):
        strings.create("more", strings=[])
    strings.destroy("s0")
    strings.create("more", strings=[])


def test_of_two_threads_one_gets_the_name() -> None:
    async def work() -> None:
        strings = StringStorages()
        made = await asyncio.gather(
            *(asyncio.to_thread(strings.create, "s", strings=[str(n)]) for n in range(8)), return_exceptions=True
        )
        assert sorted(type(one).__name__ for one in made) == ["StorageExists"] * 7 + ["StringStorage"]

    run(work)


# ---- lookup --------------------------------------------------------------------------------------------------


def test_a_made_name_goes_before_a_file_that_came_later(tmp_path: Path) -> None:
    async def work() -> None:
        async with talking() as talk:
            await use_folder(talk, tmp_path)
            await make(talk, "l.txt", "made")
            (tmp_path / "l.txt").write_text("file", encoding="utf-8")
            assert (await talk.say(await talk.agent(lines("l.txt")), "x")).text("c") == "made"
            await destroy(talk, "l.txt")
            assert (await talk.say(await talk.agent(lines("l.txt")), "x")).text("c") == "file"
            # A storage of the node's own is looked at only where none is named.
            both = workflow(canned(string_storage="l.txt", inline_strings=["inline"]))
            assert (await talk.say(await talk.agent(both), "x")).text("c") == "file"
            assert (await talk.say(await talk.agent(workflow(canned(inline_strings=["own"]))), "x")).text("c") == "own"

    run(work)


def test_a_name_that_is_neither_made_nor_a_file() -> None:
    async def work() -> None:
        async with talking() as talk:
            for name in ("gone", "gone.txt", "s" * 3000, "../up"):
                with pytest.raises(errors.StorageFileNotFound, match=r"no storage '.*' was made") as refused:
                    await talk.agent(lines(name))
                assert refused.value.path == "$.nodes[0].string_storage"
            with pytest.raises(errors.StorageFileNotFound, match="no storage folder"):
                await make(talk, "s", file="l.txt")

    run(work)


def test_names_belong_to_one_session() -> None:
    async def work() -> None:
        async with talking() as talk:
            await make(talk, "s", "mine")
            other = await talk.another_client()
            with pytest.raises(errors.StorageFileNotFound):
                await other.create_agent(lines("s"))
            with pytest.raises(errors.InvalidStorageName):
                await other.request(protocol.DestroyStringStorage(name="s"))
            await other.request(protocol.CreateStringStorage(name="s", strings=["theirs"]))
            assert (await talk.say(await talk.agent(lines("s")), "x")).text("c") == "mine"
            await other.bye()
            await other.close()
            assert (await talk.say(await talk.agent(lines("s")), "x")).text("c") == "mine"

    run(work)


# ---- sharing -------------------------------------------------------------------------------------------------


def test_destroy_releases_the_name_never_the_agents() -> None:
    async def work() -> None:
        async with talking() as talk:
            await make(talk, "s", "1", "2")
            agent_id = await talk.agent(lines("s"))
            await destroy(talk, "s")
            with pytest.raises(errors.StorageFileNotFound):
                await talk.agent(lines("s"))
            assert [(await talk.say(agent_id, "x")).text("c") for _ in range(3)] == ["1", "2", "1"]

    run(work)


def test_a_storage_is_loaded_once_and_kept_while_somebody_holds_it(tmp_path: Path) -> None:
    file = tmp_path / "l.txt"
    file.write_text("old", encoding="utf-8")
    (tmp_path / "sub").mkdir()
    (tmp_path / "same.txt").symlink_to(file)

    async def work() -> None:
        async with talking() as talk:
            await use_folder(talk, tmp_path)
            first = await talk.agent(lines("l.txt"))
            file.write_text("new", encoding="utf-8")
            others = [await talk.agent(lines(name)) for name in ("l.txt", "./l.txt", "sub/../l.txt", "same.txt")]
            await make(talk, "named", file="l.txt")
            others.append(await talk.agent(lines("named")))
            assert all(held(talk, other) is held(talk, first) for other in others)
            for agent_id in (first, *others):
                assert (await talk.say(agent_id, "x")).text("c") == "old"
                await talk.client.request(protocol.DestroyAgent(agent_id=agent_id))
            assert (await talk.say(await talk.agent(lines("l.txt")), "x")).text("c") == "old"  # the name holds it
            await talk.client.request(protocol.DestroyStringStorage(name="named"))
            for agent in list(talk.sessions[0]._agents):
                await talk.client.request(protocol.DestroyAgent(agent_id=agent))
            assert (await talk.say(await talk.agent(lines("l.txt")), "x")).text("c") == "new"

    # A designer changes a file and makes the character again: that must not wait for Python's collector.
    gc.disable()
    try:
        run(work)
    finally:
        gc.enable()


# ---- requests that follow at once ----------------------------------------------------------------------------


async def at_once(talk: Talk, *requests: protocol.Request) -> list[Any]:
    """The replies and errors of requests that were all sent before any was answered."""
    return await asyncio.gather(*map(talk.client.request, requests), return_exceptions=True)


def create(name: str, *strings: str) -> protocol.CreateStringStorage:
    return protocol.CreateStringStorage(name=name, strings=list(strings))


def test_an_agent_that_follows_at_once_finds_the_storage() -> None:
    async def work() -> None:
        async with talking() as talk:
            for number in range(10):
                name = f"s{number}"
                replies = await at_once(
                    talk, create(name, name), protocol.CreateAgent(workflow=lines(name)),
                    protocol.ValidateWorkflow(workflow=lines(name)),
                )  # fmt: skip
                assert [type(reply) for reply in replies] == [
                    protocol.StorageCreated, protocol.AgentCreated, protocol.Validation,
                ]  # fmt: skip
                assert replies[2].problems == []
                assert (await talk.say(replies[1].agent_id, "x")).text("c") == name

    run(work)


def test_a_destroy_that_follows_at_once_takes_the_storage_from_nobody() -> None:
    async def work() -> None:
        async with talking() as talk:
            for number in range(10):
                replies = await at_once(
                    talk,
                    create("s", str(number)),
                    protocol.CreateAgent(workflow=lines("s")),
                    protocol.DestroyStringStorage(name="s"),
                    protocol.CreateAgent(workflow=lines("s")),
                )
                assert [type(reply) for reply in replies] == [
                    protocol.StorageCreated, protocol.AgentCreated, protocol.Ok, errors.StorageFileNotFound,
                ]  # fmt: skip
                assert (await talk.say(replies[1].agent_id, "x")).text("c") == str(number)

    run(work)


def test_a_change_of_parameters_sees_the_storages_of_its_moment() -> None:
    async def work() -> None:
        async with talking() as talk:
            agent_id = await talk.agent(workflow(canned(inline_strings=["own"])))
            change = protocol.ChangeParams(agent_id=agent_id, node_name="c", params={"string_storage": "s"})
            for number in range(10):
                replies = await at_once(
                    talk, create("s", str(number)), change, protocol.DestroyStringStorage(name="s"), change
                )
                assert [type(reply) for reply in replies] == [
                    protocol.StorageCreated, protocol.Ok, protocol.Ok, errors.StorageFileNotFound,
                ]  # fmt: skip
                assert (await talk.say(agent_id, "x")).text("c") == str(number)

    run(work)


def test_what_is_asked_of_one_name_is_done_in_order() -> None:
    both = workflow(canned(string_storage="a"), canned("d", string_storage="b"))

    async def work() -> None:
        async with talking() as talk:
            for _ in range(5):
                replies = await at_once(
                    talk,
                    create("a", "1"), protocol.DestroyStringStorage(name="a"), create("a", "2"), create("a", "3"),
                    create("b", "1"), protocol.DestroyStringStorage(name="b"), create("b", "2"),
                    protocol.CreateAgent(workflow=both),
                    protocol.DestroyStringStorage(name="b"), protocol.DestroyStringStorage(name="a"),
                    protocol.DestroyStringStorage(name="a"),
                )  # fmt: skip
                made, gone = protocol.StorageCreated, protocol.Ok
                assert [type(reply) for reply in replies] == [
                    made, gone, made, errors.StorageExists,
                    made, gone, made,
                    protocol.AgentCreated,
                    gone, gone,
                    errors.InvalidStorageName,
                ]  # fmt: skip
                turn = await talk.say(replies[7].agent_id, "x")
                assert [answer.text for answer in turn.answers] == ["2", "2"]

    run(work)


def test_a_folder_that_changes_at_once_is_nothing_to_an_agent_asked_for_before(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "l.txt").write_text(name, encoding="utf-8")

    async def work() -> None:
        async with talking() as talk:
            folder = [protocol.ConfigureSession(storage_folder=str(tmp_path / name)) for name in ("one", "two")]
            for _ in range(10):
                ask = protocol.CreateAgent(workflow=lines("l.txt"))
                _, first, _, second = await at_once(talk, folder[0], ask, folder[1], ask)
                assert (await talk.say(first.agent_id, "x")).text("c") == "one"
                assert (await talk.say(second.agent_id, "x")).text("c") == "two"

    run(work)


def test_a_file_that_takes_long_to_read_keeps_nobody_else_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "slow.txt").write_text("a")
    (tmp_path / "quick.txt").write_text("b")
    begun, go_on = threading.Event(), threading.Event()
    loads: list[str] = []
    load = load_string_storage

    def slowly(path: Path, name: str, max_bytes: int) -> StringStorage:
        loads.append(name)
        if name == "slow.txt":
            begun.set()
            assert go_on.wait(30)
        return load(path, name, max_bytes)

    monkeypatch.setattr(storages_module, "load_string_storage", slowly)
    storages = StringStorages()
    storages.root = tmp_path
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(storages.find, "slow.txt")
        assert begun.wait(30)
        second = pool.submit(storages.find, "slow.txt")
        try:
            assert not storages._lock.locked()
            assert storages.find("quick.txt").texts == ("b",)
        finally:
            go_on.set()
        assert first.result() is second.result()
    assert loads == ["slow.txt", "quick.txt"]


def test_a_file_that_cannot_be_read_is_tried_again(tmp_path: Path) -> None:
    storages = StringStorages()
    storages.root = tmp_path
    (tmp_path / "a.json").write_text("[")
    with pytest.raises(InvalidStorageData):
        storages.find("a.json")
    (tmp_path / "a.json").write_text('[{"id": "1", "text": "one"}]')
    assert storages.find("a.json").texts == ("one",)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_no_file(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.txt"
    os.mkfifo(pipe)
    with pytest.raises(StorageFileNotFound):
        resolve_inside(tmp_path, "pipe.txt")
    with pytest.raises(StorageFileNotFound, match="cannot be read"):  # it came behind the look-up
        load_string_storage(pipe, "pipe.txt")
    with pytest.raises(OSError, match="no regular file"):
        read_file(pipe, 100)
    with pytest.raises(OSError, match="no regular file"):
        read_file(Path("/dev/zero"), 100)


def test_the_place_of_a_fault_in_a_long_file(tmp_path: Path) -> None:
    rows: list[dict[str, str]] = [{"id": str(index), "text": "some text"} for index in range(10_000)]
    (tmp_path / "a.json").write_text(json.dumps([*rows, {"id": "x"}]))
    with pytest.raises(InvalidStorageData, match=r"\$\[10000\]\.text"):
        load_string_storage(tmp_path / "a.json", "a.json")

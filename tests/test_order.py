"""Requests that follow one another at once: each sees what was when it came, and those about one thing are in order."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from bridge import errors, protocol
from bridge.catalog import CatalogEntry, Source
from bridge.config import Settings
from bridge.download import Downloads
from bridge.engine import CacheState, TextModel
from bridge.engines.mock import load_mock
from bridge.hub import Stop
from bridge.model_files import Report
from tests.talk import EMBED, Talk, run, talking, workflow
from tests.test_embedded_nodes import Embedder
from tests.test_storages import at_once

GENERATE = workflow({"name": "g", "type": "Generate"})


def both(storage: str) -> dict[str, Any]:
    """A workflow that needs the knowledge k and a list."""
    return workflow(
        {"name": "r", "type": "Retrieve", "embedded_storage": "k", "found_exit": "c", "not_found_exit": "c"},
        {"name": "c", "type": "CannedResponse", "string_storage": storage},
    )


def knowledge(name: str = "k") -> protocol.CreateEmbeddedStorage:
    return protocol.CreateEmbeddedStorage(name=name, strings=["a"], embedding_model="embed")


def two_folders(tmp_path: Path) -> list[protocol.ConfigureSession]:
    found = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "l.txt").write_text(name, encoding="utf-8")
        (tmp_path / name / "r.json").write_text(json.dumps([{"id": name, "text": name}]), encoding="utf-8")
        found.append(protocol.ConfigureSession(storage_folder=str(tmp_path / name)))
    return found


async def until(condition: Callable[[], bool]) -> None:
    while not condition():  # noqa: ASYNC110 - what is waited for happens on threads that set no event
        await asyncio.sleep(0.001)


async def in_one_go(talk: Talk, *requests: protocol.Request) -> list[Any]:
    """The replies, or the errors, of requests that all come before any of them can be begun."""
    session = talk.sessions[0]

    async def reply(answer: Any) -> Any:
        return await answer if isinstance(answer, Awaitable) else answer

    answers: list[Any] = []
    for request in requests:
        try:
            answers.append(session.handle(request))
        except errors.ParleyError as fault:
            answers.append(fault)
    return await asyncio.gather(*map(reply, answers), return_exceptions=True)


class Gate:
    """Loads of language models that wait until they may go on."""

    def __init__(self) -> None:
        self.open = threading.Event()
        self.loads = 0

    def __call__(self, entry: CatalogEntry, path: Path | None, settings: Settings, report: Report) -> TextModel:
        self.loads += 1
        assert self.open.wait(30)
        return load_mock(settings)


async def status(talk: Talk, model: str) -> str:
    reply = await talk.client.request(protocol.ListModels())
    assert isinstance(reply, protocol.Models)
    return next(row.status for row in reply.models if row.name == model)


async def not_any_more(talk: Talk, model: str, what: str) -> None:
    while await status(talk, model) == what:  # noqa: ASYNC110 - the sidecar says when it is asked
        await asyncio.sleep(0)


# ---- what was when a request came ----------------------------------------------------------------------------


def test_who_waits_for_a_storage_keeps_the_folder_of_its_moment(tmp_path: Path) -> None:
    folders = two_folders(tmp_path)

    async def work() -> None:
        embedder = Embedder(held=True)
        async with talking(EMBED, load_embedder=lambda *_: embedder) as talk:
            await talk.client.request(folders[0])
            agent_id = await talk.agent(workflow({"name": "c", "type": "CannedResponse", "inline_strings": ["own"]}))
            asked = asyncio.create_task(
                at_once(
                    talk,
                    knowledge(),
                    protocol.CreateAgent(workflow=both("l.txt")),
                    protocol.ValidateWorkflow(workflow=both("l.txt")),
                    folders[1],
                )
            )
            await embedder.reached.wait()
            (tmp_path / "two" / "l.txt").unlink()
            embedder.gate.set()
            _, made, validation, _ = await asked
            assert (await talk.say(made.agent_id, "x")).text("c") == "one"
            assert [problem for problem in validation.problems if problem.severity == "error"] == []
            change = protocol.ChangeParams(agent_id=agent_id, node_name="c", params={"string_storage": "l.txt"})
            _, changed, *_ = await at_once(talk, folders[0], change, folders[1])
            assert changed == protocol.Ok()
            assert (await talk.say(agent_id, "x")).text("c") == "one"

    run(work)


def test_storages_are_made_of_the_folder_of_their_moment(tmp_path: Path) -> None:
    folders = two_folders(tmp_path)
    (tmp_path / "one" / "l.txt").write_text("a\nb\n", encoding="utf-8")
    (tmp_path / "one" / "r.json").write_text(
        json.dumps([{"id": str(number), "text": "x"} for number in range(3)]), encoding="utf-8"
    )
    config = {"version": 1, "embedding_model": "embed", "records_file": "r.json"}

    async def work() -> None:
        async with talking(EMBED) as talk:
            _, strings, records, _ = await in_one_go(
                talk,
                folders[0],
                protocol.CreateStringStorage(name="s", file="l.txt"),
                protocol.CreateEmbeddedStorage(name="k", config=config),
                folders[1],
            )
            assert (strings.count, records.count) == (2, 3)

    run(work)


def test_a_name_that_is_made_later_is_nothing_to_who_waits() -> None:
    async def work() -> None:
        embedder = Embedder(held=True)
        async with talking(EMBED, load_embedder=lambda *_: embedder) as talk:
            asked = asyncio.create_task(
                at_once(
                    talk,
                    knowledge(),
                    protocol.CreateAgent(workflow=both("s")),
                    protocol.CreateStringStorage(name="s", strings=["too late"]),
                    protocol.CreateAgent(workflow=both("s")),
                    protocol.CreateStringStorage(name="other", strings=["waits for nobody"]),
                )
            )
            await embedder.reached.wait()
            embedder.gate.set()
            _, early, _, late, _ = await asked
            assert isinstance(early, errors.StorageFileNotFound)
            assert (await talk.say(late.agent_id, "x")).text("c") == "too late"

    run(work)


# ---- models --------------------------------------------------------------------------------------------------


def test_a_model_that_is_loaded_and_unloaded_at_once_is_not_kept() -> None:
    async def work() -> None:
        gate = Gate()
        async with talking(settings=Settings(unload_grace_s=0), load_engine=gate) as talk:
            asked = asyncio.create_task(
                at_once(talk, protocol.LoadModel(model="echo"), protocol.UnloadModel(model="echo"))
            )
            await until(lambda: gate.loads == 1)
            gate.open.set()
            assert await asked == [protocol.Ok(), protocol.Ok()]
            await not_any_more(talk, "echo", "Loaded")
            assert talk.users("echo") == 0

    run(work)


def test_a_sessions_model_is_its_own_to_unload_and_goes_with_it() -> None:
    async def work() -> None:
        async with talking(settings=Settings(unload_grace_s=0)) as talk:
            first, second = await talk.another_client(), await talk.another_client()
            for client in (first, second, second):
                await client.request(protocol.LoadModel(model="echo"))
            assert talk.users("echo") == 2
            await talk.client.request(protocol.UnloadModel(model="echo"))
            assert talk.users("echo") == 2
            await second.request(protocol.UnloadModel(model="echo"))
            assert (talk.users("echo"), await status(talk, "echo")) == (1, "Loaded")
            await first.bye()
            await not_any_more(talk, "echo", "Loaded")
            await first.close()
            await second.close()

    run(work)


def test_a_session_that_ends_while_its_model_is_loaded_keeps_nothing() -> None:
    async def work() -> None:
        gate = Gate()
        async with talking(settings=Settings(unload_grace_s=0), load_engine=gate) as talk:
            client = await talk.another_client()
            session = talk.sessions[-1]
            answer = session.handle(protocol.LoadModel(model="echo"))
            assert not isinstance(answer, protocol.Reply)
            loading = asyncio.ensure_future(answer)
            await until(lambda: gate.loads == 1)
            await session.close()
            gate.open.set()
            with pytest.raises(errors.SessionExpired, match="ended while the model was loaded"):
                await loading
            assert talk.users("echo") == 0
            await client.close()

    run(work)


class Transfer:
    """Downloads that go on until they are stopped."""

    def __init__(self) -> None:
        self.begun: list[str] = []

    def __call__(self, entry: CatalogEntry, settings: Settings, report: Report, stop: Stop) -> None:
        self.begun.append(entry.name)
        stop.pause(30)


@pytest.fixture
def transfer(monkeypatch: pytest.MonkeyPatch) -> Transfer:
    made = Transfer()
    monkeypatch.setattr("bridge.models.Downloads", lambda settings: Downloads(settings, made))
    return made


HUB = CatalogEntry(name="m", engine="llama-cpp", source=Source(huggingface="o/n", files=["m.gguf"]))
ALLOWED = protocol.ConfigureSession(allow_model_download=True)
DOWNLOAD, CANCEL = protocol.DownloadModel(model="m"), protocol.CancelDownload(model="m")


def test_a_cancel_reaches_every_download_that_came_before_it(transfer: Transfer, tmp_path: Path) -> None:
    async def work() -> None:
        async with talking(HUB, settings=Settings(models_folder=str(tmp_path))) as talk:
            _, refused, _ = await in_one_go(talk, ALLOWED, DOWNLOAD, CANCEL)
            assert isinstance(refused, errors.DownloadFailed)
            assert "was cancelled" in refused.message
            assert transfer.begun == []
            running = asyncio.create_task(at_once(talk, DOWNLOAD, DOWNLOAD))
            await until(lambda: bool(transfer.begun))
            assert await status(talk, "m") == "Downloading"
            # One more waits behind the deletion, and is cancelled with the one that runs.
            deleted, waited, cancelled = await in_one_go(talk, protocol.DeleteModel(model="m"), DOWNLOAD, CANCEL)
            # The cancel may be done before the deletion has begun, which then waits for the transfer's end.
            assert deleted == protocol.Ok() or isinstance(deleted, errors.DownloadActive)
            assert isinstance(waited, errors.DownloadFailed)
            assert cancelled == protocol.Ok()
            assert [type(reply) for reply in await running] == [errors.DownloadFailed, errors.DownloadActive]
            await not_any_more(talk, "m", "Downloading")
            assert transfer.begun == ["m"]

    run(work)


def test_a_cancel_stops_the_download_of_a_load_that_came_before_it(transfer: Transfer, tmp_path: Path) -> None:
    async def work() -> None:
        async with talking(HUB, settings=Settings(models_folder=str(tmp_path))) as talk:
            _, load, _ = await in_one_go(talk, ALLOWED, protocol.LoadModel(model="m"), CANCEL)
            assert isinstance(load, errors.ModelLoadFailed)
            assert transfer.begun == []
            loading = asyncio.create_task(at_once(talk, protocol.LoadModel(model="m")))
            await until(lambda: transfer.begun == ["m"])
            await talk.client.request(CANCEL)
            (failed,) = await loading
            assert isinstance(failed, errors.DownloadFailed)

    run(work)


def test_a_download_that_waits_for_another_to_stop_can_be_cancelled_too(tmp_path: Path) -> None:
    may_stop = threading.Event()
    begun: list[str] = []

    def transfer(entry: CatalogEntry, settings: Settings, report: Report, stop: Stop) -> None:
        begun.append(entry.name)
        assert may_stop.wait(30)
        stop.check()

    async def work() -> None:
        downloads = Downloads(Settings(), transfer)
        first = asyncio.create_task(downloads.start(HUB, lambda *_: None))
        await until(lambda: begun == ["m"])
        downloads.cancel("m")
        second = asyncio.create_task(downloads.start(HUB, lambda *_: None))
        await asyncio.sleep(0)
        downloads.cancel("m")
        may_stop.set()
        for waiting in (first, second):
            with pytest.raises(errors.DownloadFailed, match="was cancelled"):
                await waiting
        assert begun == ["m"]
        await downloads.close()

    run(work)


# ---- agents --------------------------------------------------------------------------------------------------


class SlowCache:
    """A language model whose caches are looked after when the test says so."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.gate = asyncio.Event()
        self.forgotten: list[str] = []

    def __call__(self, entry: CatalogEntry, path: Path | None, settings: Settings, report: Report) -> TextModel:
        model = load_mock(settings)
        forget = model.forget

        async def manage_cache(sequence: str, action: str) -> CacheState:
            self.asked.append(f"{action} {sequence.rpartition('/')[2]}")
            await self.gate.wait()
            return CacheState(0, 0, "none")

        def remembered(sequences: Any) -> None:
            self.forgotten += sequences
            forget(sequences)

        model.manage_cache = manage_cache  # type: ignore[method-assign]  # a seam of this test
        model.forget = remembered  # type: ignore[method-assign]
        return model


def test_what_follows_a_drop_of_caches_waits_for_it() -> None:
    async def work() -> None:
        cache = SlowCache()
        async with talking(load_engine=cache) as talk:
            nodes = [{"name": name, "type": "Generate"} for name in ("g", "h")]
            agent_id = await talk.agent(workflow(*nodes))
            asked = asyncio.create_task(
                at_once(
                    talk,
                    protocol.ManageCache(agent_id=agent_id, action="Drop"),
                    protocol.SendMessage(agent_id=agent_id, text="x"),
                    protocol.ListAgents(),
                )
            )
            await until(lambda: cache.asked == ["Drop g", "Drop h"])
            agents = await talk.client.request(protocol.ListAgents())
            assert isinstance(agents, protocol.Agents)
            assert [agent.busy for agent in agents.agents] == [False], "no turn begins in the middle of it"
            cache.gate.set()
            dropped, started, _ = await asked
            assert [node.node_name for node in dropped.nodes] == ["g", "h"]
            assert started.turn_id == 1

    run(work)


@pytest.mark.parametrize("action", ["Stats", "Park", "Drop"])
def test_a_destroy_behind_a_look_at_the_caches_waits_for_it(action: str) -> None:
    async def work() -> None:
        cache = SlowCache()
        cache.gate.set()
        async with talking(load_engine=cache) as talk:
            for _ in range(5):
                agent_id = await talk.agent(GENERATE)
                look, destroyed, late = await in_one_go(
                    talk,
                    protocol.ManageCache(agent_id=agent_id, action=action),  # type: ignore[arg-type]
                    protocol.DestroyAgent(agent_id=agent_id),
                    protocol.ManageCache(agent_id=agent_id, action="Stats"),
                )
                assert [node.node_name for node in look.nodes] == ["g"]
                assert destroyed == protocol.Ok()
                assert isinstance(late, errors.AgentDestroyed)

    run(work)


def test_an_agent_that_is_closed_meanwhile_says_so_and_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    async def work() -> None:
        cache = SlowCache()
        async with talking(load_engine=cache) as talk:
            agent_id = await talk.agent(GENERATE)
            session = talk.sessions[-1]
            agent = session._agents[agent_id]
            looking = asyncio.ensure_future(agent.manage_cache("Stats"))
            await until(lambda: cache.asked == ["Stats g"])
            changing = asyncio.ensure_future(agent.seed_dialog([], append=False))
            await asyncio.sleep(0)
            agent.close()
            cache.gate.set()
            for waiting in (looking, changing):
                with pytest.raises(errors.AgentDestroyed, match=f"'{agent_id}' was destroyed"):
                    await waiting

    run(work)


def test_an_agent_that_goes_leaves_no_sequence_behind() -> None:
    async def work() -> None:
        cache = SlowCache()
        async with talking(load_engine=cache) as talk:
            agent_id = await talk.agent(workflow(*[{"name": name, "type": "Generate"} for name in ("g", "h")]))
            await talk.say(agent_id, "x")
            other = await talk.agent(GENERATE)
            await talk.say(other, "x")
            model = talk.sessions[0]._services.models.loaded()[0]
            assert model.engine.status().residents == 3
            await talk.client.request(protocol.DestroyAgent(agent_id=agent_id))
            assert sorted(cache.forgotten) == [f"{agent_id}/g", f"{agent_id}/h"]
            await until(lambda: model.engine.status().residents == 1)

    run(work)

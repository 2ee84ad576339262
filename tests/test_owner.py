"""That a sidecar goes with its killed owner, whatever it is doing, and leaves nothing that stops the next one."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from bridge.catalog import CatalogEntry
from bridge.client import ParleyClient
from bridge.protocol import (
    AnswerText,
    ConfigureSession,
    CreateEmbeddedStorage,
    DownloadModel,
    ListModels,
    Models,
    SendMessage,
    StorageCreated,
)
from tests import http_hub
from tests.http_hub import hub_entry, small_gguf
from tests.owned import killed_during, owned, starts_again
from tests.real_sidecar import STUCK, game
from tests.talk import ECHO, EMBED, scripted, workflow

pytestmark = pytest.mark.timeout(180)


def node(model: str) -> dict[str, object]:
    return workflow({"name": "mira", "type": "Generate"}, model=model)


def test_idle(tmp_path: Path) -> None:
    arguments = game(tmp_path, ECHO)

    async def idle(client: ParleyClient) -> None:
        pass

    with owned(tmp_path, *arguments) as sidecar:
        killed_during(sidecar, idle)
    starts_again(tmp_path, *arguments)


@pytest.mark.parametrize("part", ["loading", "reading a prompt"])
@pytest.mark.thorough
def test_while_a_model_is_busy(part: str, tmp_path: Path) -> None:
    name = "stuck-load" if part == "loading" else "stuck-prompt"
    arguments = game(tmp_path, ECHO, ECHO.model_copy(update={"name": name}))

    async def talk(client: ParleyClient) -> None:
        agent_id = (await client.create_agent(node(name))).agent_id
        await client.request(SendMessage(agent_id=agent_id, text="Hello."))

    with owned(tmp_path, *arguments, command=STUCK) as sidecar:

        def reached() -> None:
            assert sidecar.line() == f"stuck in {part}"

        killed_during(sidecar, talk, reached)
    starts_again(tmp_path, *arguments)


def test_while_tokens_stream(tmp_path: Path) -> None:
    import threading

    arguments = game(tmp_path, ECHO, scripted("word " * 500, tokens_per_s=50))
    heard = threading.Semaphore(0)

    async def talk(client: ParleyClient) -> None:
        agent_id = (await client.create_agent(node("script"))).agent_id
        async for frame in client.turn(agent_id, "Go on."):
            if isinstance(frame.message, AnswerText):
                heard.release()

    def reached() -> None:
        for _ in range(5):
            assert heard.acquire(timeout=30)

    with owned(tmp_path, *arguments) as sidecar:
        killed_during(sidecar, talk, reached)
    starts_again(tmp_path, *arguments)


def write_knowledge(folder: Path, model: str, records: int) -> Path:
    """A storage folder with so many records; returns it."""
    folder.mkdir(exist_ok=True)
    config = {"version": 1, "embedding_model": model, "records_file": "lore.records.json"}
    rows = [{"id": str(number), "text": f"The cellar door number {number} is old."} for number in range(records)]
    (folder / "lore.json").write_text(json.dumps(config), encoding="utf-8")
    (folder / "lore.records.json").write_text(json.dumps(rows), encoding="utf-8")
    return folder


@pytest.mark.thorough
def test_while_an_index_is_built(tmp_path: Path) -> None:
    stuck = EMBED.model_copy(update={"name": "stuck-embed"})
    arguments = game(tmp_path, ECHO, stuck)
    folder = write_knowledge(tmp_path / "storages", "stuck-embed", 10)
    config = json.loads((folder / "lore.json").read_text(encoding="utf-8"))

    async def build(client: ParleyClient) -> None:
        await client.request(ConfigureSession(storage_folder=str(folder)))
        reply = await client.request(CreateEmbeddedStorage(name="lore", config=config))
        assert isinstance(reply, StorageCreated) and reply.count == 10

    with owned(tmp_path, *arguments, command=STUCK) as sidecar:

        def reached() -> None:
            assert sidecar.line() == "stuck in building an index"

        killed_during(sidecar, build, reached)
    (folder / ".parley-abcdefgh.tmp").write_bytes(b"an index that was being written")
    starts_again(tmp_path, *arguments, scene=build)
    left = sorted(path.name for path in folder.iterdir())
    expected = ["lore.json", "lore.records.index", "lore.records.json"]
    assert left == ([".parley-abcdefgh.tmp", *expected] if sys.platform == "win32" else expected)


@pytest.mark.thorough
def test_while_a_download_runs(tmp_path: Path) -> None:
    data = small_gguf(400_000)
    entry: CatalogEntry = hub_entry()
    part = tmp_path / "models" / http_hub.REPOSITORY.replace("/", "--") / "model.gguf.part"

    async def download(client: ParleyClient) -> None:
        await client.request(ConfigureSession(allow_model_download=True))
        await client.request(DownloadModel(model="m"))
        reply = await client.request(ListModels())
        assert isinstance(reply, Models)
        assert {model.name: model.status for model in reply.models}["m"] == "Downloaded"

    with http_hub.serving(model=data) as hub:
        arguments = game(tmp_path, ECHO, entry, hub_endpoint=hub.endpoint)
        hub.hold_after = 200_000
        with owned(tmp_path, *arguments) as sidecar:

            def reached() -> None:
                assert hub.holding.wait(30)

            killed_during(sidecar, download, reached)
        kept = part.stat().st_size
        assert 0 < kept <= 200_000
        hub.hold_after = None
        hub.go_on.set()
        starts_again(tmp_path, *arguments, scene=download)
        assert hub.ranges() == ["", f"bytes={kept}-"]
    assert part.with_suffix("").read_bytes() == data
    assert sorted(path.name for path in part.parent.iterdir()) == ["model.gguf", "model.gguf.parley.json"]

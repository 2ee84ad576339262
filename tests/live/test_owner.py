"""That a sidecar goes with its killed owner also while llama.cpp works, and that the next one starts."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from bridge.client import ParleyClient
from bridge.protocol import (
    AnswerText,
    ConfigureSession,
    CreateEmbeddedStorage,
    LoadModel,
    Message,
    Progress,
    SendMessage,
    StorageCreated,
)
from tests.owned import heard_during, killed_during, owned, starts_again
from tests.real_sidecar import game
from tests.talk import ECHO, workflow
from tests.test_owner import write_knowledge

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]


def arguments_of(folder: Path, model_file: Path) -> list[str]:
    """A game that finds the starter models where they are already."""
    return game(folder, ECHO, models_folder=str(model_file.parent))


@pytest.mark.thorough
def test_while_a_model_loads(starter_model: Path, tmp_path: Path) -> None:
    arguments = arguments_of(tmp_path, starter_model)
    begun = threading.Event()

    async def load(client: ParleyClient) -> None:
        await heard_during(
            client, client.request(LoadModel(model="starter-chat")), begun, lambda push: isinstance(push, Progress)
        )

    with owned(tmp_path, *arguments) as sidecar:
        killed_during(sidecar, load, lambda: begun.wait(60))
        assert begun.is_set()
    starts_again(tmp_path, *arguments, model="starter-chat")


@pytest.mark.parametrize("part", [pytest.param("the prompt is read", marks=pytest.mark.thorough), "tokens stream"])
@pytest.mark.thorough
def test_while_it_generates(part: str, starter_model: Path, tmp_path: Path) -> None:
    arguments = arguments_of(tmp_path, starter_model)
    persona = "The inn stands by the harbour, and the rain falls on its roof. " * (120 if "prompt" in part else 1)
    node = {"name": "mira", "type": "Generate", "system_prompt": persona, "max_tokens": 300}
    begun = threading.Event()

    async def talk(client: ParleyClient) -> None:
        agent_id = (await client.create_agent(workflow(node, model="starter-chat"))).agent_id
        pushes = client.subscribe()
        await client.request(SendMessage(agent_id=agent_id, text="Tell me everything about the inn."))
        if "prompt" in part:
            begun.set()
        async for frame in pushes:
            if isinstance(frame.message, AnswerText) and frame.message.text:
                begun.set()

    with owned(tmp_path, *arguments) as sidecar:
        killed_during(sidecar, talk, lambda: begun.wait(60))
        assert begun.is_set()
    starts_again(tmp_path, *arguments, model="starter-chat")


@pytest.mark.thorough
def test_while_an_index_is_built(starter_embed: Path, tmp_path: Path) -> None:
    arguments = arguments_of(tmp_path, starter_embed)
    folder = write_knowledge(tmp_path / "storages", "starter-embed", 1500)
    config = json.loads((folder / "lore.json").read_text(encoding="utf-8"))
    begun = threading.Event()

    def is_halfway(push: Message) -> bool:
        return isinstance(push, Progress) and push.storage == "lore" and 0 < push.done < push.total

    async def build(client: ParleyClient) -> None:
        await client.request(ConfigureSession(storage_folder=str(folder)))
        await heard_during(client, client.request(CreateEmbeddedStorage(name="lore", config=config)), begun, is_halfway)

    with owned(tmp_path, *arguments) as sidecar:
        killed_during(sidecar, build, lambda: begun.wait(60))
        assert begun.is_set()
    assert sorted(path.name for path in folder.iterdir()) == ["lore.json", "lore.records.json"]
    write_knowledge(folder, "starter-embed", 20)

    async def build_again(client: ParleyClient) -> None:
        await client.request(ConfigureSession(storage_folder=str(folder)))
        reply = await client.request(CreateEmbeddedStorage(name="lore", config=config))
        assert isinstance(reply, StorageCreated) and reply.count == 20

    starts_again(tmp_path, *arguments, scene=build_again)

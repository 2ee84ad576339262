"""Every limit has a setting, and whoever passes it gets a clear error that names the setting; nothing else happens."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from bridge.client import ParleyClient
from bridge.codec import encode
from bridge.config import Settings
from bridge.errors import ParleyError
from bridge.protocol import (
    ConfigureSession,
    CreateEmbeddedStorage,
    CreateStringStorage,
    ListAgents,
    SeedDialog,
    SendMessage,
)
from tests.talk import Talk, run, talking, workflow

SAY = {"name": "say", "type": "Transform", "template": "{{user_message}}", "send": "Whole", "default_exit": ""}

Scenario = Callable[[Talk, Path], Awaitable[Any]]


async def sessions(talk: Talk, _: Path) -> None:
    async with await talk.another_client():
        await talk.another_client()


async def agents(talk: Talk, _: Path) -> None:
    for _number in range(3):
        await talk.agent(workflow(SAY))


async def nodes(talk: Talk, _: Path) -> None:
    await talk.agent(workflow(SAY, {**SAY, "name": "b"}, {**SAY, "name": "c"}))


async def template(talk: Talk, _: Path) -> None:
    await talk.agent(workflow({**SAY, "template": "x" * 11}))


async def line(talk: Talk, _: Path) -> None:
    await talk.client.request(SendMessage(agent_id=await talk.agent(workflow(SAY)), text="x" * 11))


async def turn(talk: Talk, _: Path) -> None:
    agent = await talk.agent(
        workflow(*({**SAY, "name": f"n{n}", "default_exit": f"n{n + 1}" if n < 2 else ""} for n in range(3)))
    )
    heard = await talk.say(agent, "x" * 600)
    error = heard.complete.error
    assert error is not None
    raise ParleyError(f"{error.code}: {error.message}")


async def json_bytes(talk: Talk, _: Path) -> None:
    await talk.client.request(SendMessage(agent_id="a", text="x" * 1_100))


async def payload(talk: Talk, _: Path) -> None:
    client = talk.client
    client._link.send([*encode(ListAgents(), request_id=77), b"x" * 11])
    asked = client._next_request_id
    client._next_request_id = 77
    client._send(ListAgents())
    try:
        await client._reply_to(77, 10)
    finally:
        client._next_request_id = max(asked, 78)


async def storages(talk: Talk, _: Path) -> None:
    for number in range(3):
        await talk.client.request(CreateStringStorage(name=f"s{number}", strings=["x"]))


async def storage_bytes(talk: Talk, folder: Path) -> None:
    (folder / "long.txt").write_text("x" * 1_025, encoding="utf-8")
    await talk.client.request(ConfigureSession(storage_folder=str(folder)))
    await talk.client.request(CreateStringStorage(name="long", file="long.txt"))


def write_knowledge(folder: Path, count: int) -> None:
    rows = [{"id": str(number), "text": "x" * 300} for number in range(count)]
    (folder / "k.records.json").write_text(json.dumps(rows), encoding="utf-8")
    config = {"version": 1, "embedding_model": "embed", "records_file": "k.records.json"}
    (folder / "k.json").write_text(json.dumps(config), encoding="utf-8")


async def knowledge_bytes(talk: Talk, folder: Path) -> None:
    write_knowledge(folder, 4)
    await talk.client.request(ConfigureSession(storage_folder=str(folder)))
    await talk.agent(workflow({"name": "r", "type": "Retrieve", "embedded_storage": "k.json", "found_exit": ""}, SAY))


async def knowledge_records(talk: Talk, _: Path) -> None:
    await talk.client.request(CreateEmbeddedStorage(name="k", strings=["a", "b", "c"], embedding_model="embed"))


async def dialog_turns(talk: Talk, _: Path) -> None:
    agent = await talk.agent(workflow(SAY))
    await talk.client.request(SeedDialog(agent_id=agent, dialog=[{"user": "a"}, {"user": "b"}]))
    await talk.client.request(SeedDialog(agent_id=agent, dialog=[{"user": "c"}], append=True))


async def open_requests(talk: Talk, folder: Path) -> None:
    made = [talk.client._send(CreateStringStorage(name=f"s{number}", strings=["x"])) for number in range(4)]
    for request_id in made:
        await talk.client._reply_to(request_id, 30)


LIMITS: dict[str, tuple[int, str, Scenario]] = {
    "max_sessions": (2, "1003", sessions),
    "max_agents_per_session": (2, "3014", agents),
    "max_nodes": (2, "3014", nodes),
    "max_template_chars": (10, "3003", template),
    "max_line_chars": (10, "3014", line),
    "max_turn_chars": (1_024, "3014", turn),
    "max_json_bytes": (1_024, "5003", json_bytes),
    "max_payload_bytes": (10, "5003", payload),
    "max_storages": (2, "3014", storages),
    "max_storage_bytes": (1_024, "3014", storage_bytes),
    "max_knowledge_bytes": (1_024, "3014", knowledge_bytes),
    "max_knowledge_records": (2, "3014", knowledge_records),
    "max_dialog_turns": (2, "3014", dialog_turns),
    "max_open_requests": (1, "3014", open_requests),
}
ELSEWHERE = {"max_download_bytes": "tests/test_download.py"}


def test_every_limit_is_tried() -> None:
    limits = {name for name in Settings.model_fields if name.startswith("max_")}
    assert limits == set(LIMITS) | set(ELSEWHERE)
    for name, file in ELSEWHERE.items():
        assert name in (Path(__file__).parents[1] / file).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", LIMITS)
def test_a_limit_is_kept_and_named(name: str, tmp_path: Path) -> None:
    limit, code, scenario = LIMITS[name]

    async def work() -> None:
        from tests.talk import EMBED

        async with talking(EMBED, settings=Settings(**{name: limit})) as talk:
            with pytest.raises(ParleyError) as caught:
                await scenario(talk, tmp_path)
            said = f"{caught.value.code or ''} {caught.value}"
            assert code in said
            assert name in said or str(limit) in said
            # Whoever passed it is served on.
            assert await talk.client.request(ListAgents())

    run(work)


def test_the_client_is_no_way_around() -> None:
    """The limits are the sidecar's: a client of any make meets them."""
    assert not any(name.startswith("max_") for name in vars(ParleyClient))

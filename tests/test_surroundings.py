"""A sidecar where others are, too: a second one, odd folder names, full or forbidden disks, narrow consoles."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from bridge.client import ParleyClient
from bridge.errors import DownloadFailed, InsufficientDiskSpace
from bridge.protocol import (
    AnswerText,
    ConfigureSession,
    CreateEmbeddedStorage,
    DownloadModel,
    LoadModel,
    StorageCreated,
)
from bridge.transport import run_on_selector_loop
from tests import http_hub
from tests.http_hub import hub_entry, small_gguf
from tests.real_sidecar import game, serving
from tests.sidecar import Process, environment
from tests.talk import ECHO, EMBED, workflow

pytestmark = pytest.mark.timeout(180)

ODD = "Ж 田中　é"
PATIENCE_S = 60.0
PARLEY = [sys.executable, "-m", "bridge"]

Scene = Callable[[ParleyClient], Coroutine[Any, Any, None]]

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="POSIX limits files by the process")


def play(process: Process, scene: Scene) -> None:
    """Plays a scene as a client of a sidecar."""

    async def work() -> None:
        async with await ParleyClient.connect(process.endpoint, process.token) as client:
            await asyncio.wait_for(scene(client), PATIENCE_S)

    run_on_selector_loop(work())


def parley(*arguments: str, **options: Any) -> subprocess.CompletedProcess[bytes]:
    """One command, to its end."""
    options.setdefault("env", environment())
    return subprocess.run([*PARLEY, *arguments], stdin=subprocess.DEVNULL, capture_output=True, timeout=120, **options)


def one_sentence(done: subprocess.CompletedProcess[bytes], words: str) -> None:
    """It failed, and said why in one line."""
    text = done.stderr.decode("utf-8", "replace")
    assert done.returncode != 0
    assert words in text and "Traceback" not in text, text
    assert len(text.strip().splitlines()) == 1, text


def write_knowledge(folder: Path, records: int, **config: object) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    head = {"version": 1, "embedding_model": "embed", "records_file": "lore.records.json", **config}
    rows = [{"id": str(n), "text": f"The cellar door number {n} is old."} for n in range(records)]
    (folder / "lore.json").write_text(json.dumps(head), encoding="utf-8")
    (folder / "lore.records.json").write_text(json.dumps(rows), encoding="utf-8")


def knows(folder: Path, count: int) -> Scene:
    """A scene in which an agent finds in the storage what a line asks for."""
    nodes = (
        {"name": "lore", "type": "Retrieve", "embedded_storage": "lore", "top_k": 1, "found_exit": "note"},
        {"name": "note", "type": "Transform", "send": "Whole",
         "template": "{{#knowledge_lore}}{{id}}{{/knowledge_lore}}"},
    )  # fmt: skip

    async def scene(client: ParleyClient) -> None:
        await client.request(ConfigureSession(storage_folder=str(folder)))
        config = json.loads((folder / "lore.json").read_text(encoding="utf-8"))
        reply = await client.request(CreateEmbeddedStorage(name="lore", config=config))
        assert isinstance(reply, StorageCreated) and reply.count == count
        agent_id = (await client.create_agent(workflow(*nodes))).agent_id
        frames = [frame.message async for frame in client.turn(agent_id, "The cellar door number 3 is old.")]
        [found] = [frame.text for frame in frames if isinstance(frame, AnswerText) and frame.text]
        assert found == "3" or count > 10  # the mock hashes: among many texts another is as near

    return scene


# ---- two sidecars --------------------------------------------------------------------------------------------


def test_two_sidecars_share_models_and_build_one_index_at_the_same_time(tmp_path: Path) -> None:
    folder = tmp_path / "storages"
    write_knowledge(folder, 3000)
    ready = [tmp_path / "one.json", tmp_path / "two.json"]
    arguments = game(tmp_path, ECHO, EMBED)
    with (
        serving(tmp_path / "one.log", *arguments, "--ready-file", str(ready[0])) as one,
        serving(tmp_path / "two.log", *arguments, "--ready-file", str(ready[1])) as two,
    ):
        assert [json.loads(path.read_text())["pid"] for path in ready] == [one.popen.pid, two.popen.pid]
        assert one.endpoint != two.endpoint

        async def both() -> None:
            clients = [await ParleyClient.connect(process.endpoint, process.token) for process in (one, two)]
            try:
                await asyncio.gather(*(knows(folder, 3000)(client) for client in clients))
            finally:
                for client in clients:
                    await client.close()

        run_on_selector_loop(asyncio.wait_for(both(), PATIENCE_S))
        play(two, knows(folder, 3000))
    assert sorted(path.name for path in folder.iterdir()) == ["lore.json", "lore.records.index", "lore.records.json"]
    assert "Traceback" not in (tmp_path / "one.log").read_text() + (tmp_path / "two.log").read_text()


@pytest.mark.thorough
def test_two_processes_put_one_packaged_model_together_at_the_same_time(tmp_path: Path) -> None:
    data = os.urandom(64) * 2**16
    (tmp_path / "a_model_in_parts").mkdir()
    (tmp_path / "a_model_in_parts" / "m.gguf.part00").write_bytes(data)
    (tmp_path / "a_model_in_parts" / "__init__.py").touch()
    sha256 = hashlib.sha256(data).hexdigest()
    code = (
        "import sys; from pathlib import Path; from bridge.packaged_model import assemble; sys.stdin.read(); "
        f"assemble('m', 'a_model_in_parts', Path({str(tmp_path / 'models' / 'm.gguf')!r}), {sha256!r}, lambda *_: None)"
    )
    env = environment()
    env["PYTHONPATH"] += os.pathsep + str(tmp_path)
    several = [
        subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stderr=subprocess.PIPE, env=env)
        for _ in range(4)
    ]
    try:
        for popen in several:
            assert popen.stdin is not None
            popen.stdin.close()  # all begin now
            popen.stdin = None
        for popen in several:
            _, err = popen.communicate(timeout=PATIENCE_S)
            assert popen.returncode == 0, err.decode()
    finally:
        for popen in several:
            popen.kill()
    assert [path.name for path in (tmp_path / "models").iterdir()] == ["m.gguf"]
    assert (tmp_path / "models" / "m.gguf").read_bytes() == data


def test_a_taken_port_is_named_by_the_command(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as stranger:
        port = stranger.getsockname()[1]
        done = parley("serve", *game(tmp_path, ECHO), "--endpoint", f"tcp://127.0.0.1:{port}")
    assert (done.returncode, done.stdout) == (3, b"")
    one_sentence(done, f"port {port} is taken")


# ---- names and consoles --------------------------------------------------------------------------------------


SAID = "Zażółć gęślą jaźń, 龙 \U0001f409."
TALE = workflow(
    {"name": "lukasz", "type": "CannedResponse", "inline_strings": [SAID], "history_name": "Łukasz 龙"},
    {"name": "unused", "type": "Transform", "template": "{{slot.smok}}"},
)
FAULTY = workflow({"name": "lukasz", "type": "CannedResponse", "inline_strings": [SAID], "龙 é": 1})


@pytest.fixture
def odd(tmp_path: Path) -> tuple[Path, dict[str, str]]:
    """A game in a folder of an odd name, whose user, temporary files and models are in odd places, too."""
    folder = tmp_path / ODD
    places = {name: str(folder / f"{ODD} {name}") for name in ("HOME", "TMPDIR", "models")}
    for place in places.values():
        Path(place).mkdir(parents=True)
    game(folder, ECHO, EMBED, models_folder=places["models"])
    for stem, flow in ((ODD, TALE), (f"{ODD} faulty", FAULTY)):
        (folder / f"{stem}.workflow.json").write_text(json.dumps(flow, ensure_ascii=False), encoding="utf-8")
    write_knowledge(folder / f"{ODD} storages", 5)
    home = {"HOME": places["HOME"], "USERPROFILE": places["HOME"], "LOCALAPPDATA": places["HOME"]}
    temp = {"TMPDIR": places["TMPDIR"], "TEMP": places["TMPDIR"], "TMP": places["TMPDIR"]}
    env = environment(**home, **temp)
    for name in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME"):
        env.pop(name, None)
    return folder, env


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "ascii"])
@pytest.mark.thorough
def test_every_command_works_on_every_console_in_folders_of_any_name(
    encoding: str, odd: tuple[Path, dict[str, str]]
) -> None:
    folder, env = odd
    env = {**env, "PYTHONIOENCODING": f"{encoding}:strict"}
    file, config = f"{ODD}.workflow.json", ["--config", "parley.toml"]
    commands: list[list[str]] = [
        ["validate", file, *config],
        ["validate", f"{ODD} faulty.workflow.json", "--json", *config],
        ["models", "list", *config],
        ["models", "list", "--json", *config],
        ["doctor", file, *config],
        ["doctor", "--json", *config],
        ["slots", file, "unused"],
        ["rename", file, "unused", "used", "--stdout"],
        ["chat", file, "--say", "Cześć, 龙"],
        ["chat", file, "--say", "Cześć, 龙", "--json"],
        ["kb", "build", f"{ODD} storages/lore.json", *config],
    ]
    running = [
        (command, subprocess.Popen([*PARLEY, *command], cwd=folder, env=env, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE))
        for command in commands
    ]  # fmt: skip
    said: dict[str, bytes] = {}
    try:
        for command, popen in running:
            out, err = popen.communicate(timeout=PATIENCE_S)
            assert b"Traceback" not in err and b"should not have happened" not in err, (command, err.decode(encoding))
            assert popen.returncode == ("faulty" in command[1]), (command, out[-2000:], err[-2000:])
            said[" ".join(command[:1] + [word for word in command if word.startswith("--")])] = out
    finally:
        for _, popen in running:
            popen.kill()
    # What programs read is UTF-8 everywhere.
    [finding] = json.loads(said["validate --json --config"].decode("utf-8"))
    assert "龙 é" in finding["message"]
    assert {row["name"] for row in json.loads(said["models --json --config"].decode("utf-8"))} >= {"echo", "embed"}
    assert json.loads(said["doctor --json --config"].decode("utf-8"))
    renamed = json.loads(said["rename --stdout"].decode("utf-8"))["nodes"]
    assert [node["name"] for node in renamed] == ["lukasz", "used"]
    assert renamed[0]["history_name"] == "Łukasz 龙"
    frames = [json.loads(line) for line in said["chat --say --json"].decode("utf-8").splitlines()]
    texts = [frame["body"]["text"] for frame in frames if frame["type"] == "AnswerText" and frame["body"]["text"]]
    assert texts == [SAID]


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "ascii"])
def test_a_sidecar_works_in_folders_of_any_name(encoding: str, odd: tuple[Path, dict[str, str]]) -> None:
    folder, env = odd
    ready = folder / f"ready {ODD}.json"
    env = {**env, "PYTHONIOENCODING": f"{encoding}:strict"}
    arguments = ["--config", "parley.toml", "--ready-file", ready.name]
    with serving(folder / "sidecar.log", *arguments, cwd=folder, env=env) as process:
        assert json.loads(ready.read_text(encoding="utf-8")) == process.ready

        async def configured(client: ParleyClient) -> None:
            await client.request(ConfigureSession(game_name=f"Game of {ODD} \U0001f409"))
            await knows(folder / f"{ODD} storages", 5)(client)

        play(process, configured)
    log = (folder / "sidecar.log").read_text(encoding=encoding)
    assert "Traceback" not in log and "cannot be formatted" not in log


# ---- disks ---------------------------------------------------------------------------------------------------


@pytest.mark.thorough
def test_a_folder_that_takes_no_index_costs_the_index_only(tmp_path: Path) -> None:
    folder = tmp_path / "storages"
    # Nobody, not even root, can write below a file.
    write_knowledge(folder, 5, index_file="lore.records.json/below.index")
    with serving(tmp_path / "sidecar.log", *game(tmp_path, ECHO, EMBED)) as process:
        play(process, knows(folder, 5))
        play(process, knows(folder, 5))
    assert "the index below.index cannot be read" in (tmp_path / "sidecar.log").read_text()
    assert len(list(folder.iterdir())) == 2


STRANGER = """
import asyncio, os, sys
from pathlib import Path
import bridge.engines.vector_index, concurrent.futures.thread
from bridge.engines.mock_embed import MockEmbedder
from bridge.retrieval import build_storage, read_knowledge

folder = Path(sys.argv[1])
os.setgroups([]); os.setgid(65534); os.setuid(65534)
storage = asyncio.run(build_storage(read_knowledge(folder, "lore.json"), MockEmbedder(), "embed", lambda *_: None))
print(storage.count, storage.kept)
"""
"""Imports first: another user may not see where we are installed."""


@pytest.mark.skipif(not hasattr(os, "setuid") or os.geteuid() != 0, reason="only root can become another user")
def test_a_storage_folder_of_somebody_else_is_read_and_not_written() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_knowledge(folder, 5)
        for path in (folder, *folder.iterdir()):
            path.chmod(0o755 if path.is_dir() else 0o644)
        command = [sys.executable, "-c", STRANGER, str(folder)]
        done = subprocess.run(command, env=environment(), capture_output=True, timeout=PATIENCE_S)
        assert done.stdout.split() == [b"5", b"False"], done.stderr.decode()
        assert len(list(folder.iterdir())) == 2


FULL_AT = 200_000
"""Bytes that one file can have on the disk that is full."""


def serve_on_a_full_disk(folder: Path, *arguments: str) -> Any:
    """A sidecar none of whose files can grow beyond FULL_AT bytes."""
    import resource

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (FULL_AT, FULL_AT))

    return serving(folder / "sidecar.log", *arguments, preexec_fn=limit)


@posix_only
@pytest.mark.thorough
def test_a_full_disk_is_told_to_who_downloads_and_the_sidecar_goes_on(tmp_path: Path) -> None:
    with http_hub.serving(model=small_gguf(400_000)) as hub:
        arguments = game(tmp_path, ECHO, hub_entry(), hub_endpoint=hub.endpoint)

        async def scene(client: ParleyClient) -> None:
            await client.request(ConfigureSession(allow_model_download=True))
            for _ in range(2):
                with pytest.raises((DownloadFailed, InsufficientDiskSpace)) as caught:
                    await client.request(DownloadModel(model="m"))
                assert str(tmp_path) in caught.value.message
            await client.request(LoadModel(model="echo"))

        with serve_on_a_full_disk(tmp_path, *arguments) as process:
            play(process, scene)
        kept = tmp_path / "models" / http_hub.REPOSITORY.replace("/", "--")
        assert (kept / "model.gguf.part").stat().st_size <= FULL_AT
        # With room again the rest is fetched.
        assert parley("models", "pull", "m", *arguments).returncode == 0
        assert (kept / "model.gguf").read_bytes() == small_gguf(400_000)


@posix_only
@pytest.mark.thorough
def test_a_full_disk_costs_an_index_only(tmp_path: Path) -> None:
    folder = tmp_path / "storages"
    write_knowledge(folder, 20_000)  # two numbers each, beside few vectors, as their words fall together: 320 kB
    with serve_on_a_full_disk(tmp_path, *game(tmp_path, ECHO, EMBED)) as process:
        play(process, knows(folder, 20_000))
    assert sorted(path.name for path in folder.iterdir()) == ["lore.json", "lore.records.json"]


@pytest.mark.thorough
def test_a_models_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with http_hub.serving(model=small_gguf(10_000)) as hub:
        arguments = game(
            tmp_path, ECHO, hub_entry(), hub_endpoint=hub.endpoint, models_folder=str(tmp_path / "file" / "models")
        )
        one_sentence(parley("models", "pull", "m", *arguments), "cannot be written")


def test_a_ready_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = parley("serve", *game(tmp_path, ECHO), "--ready-file", str(tmp_path / "file" / "ready.json"))
    one_sentence(done, "cannot write the ready file")

"""That no secret and no word of a player is in a log, a schema, an exception or a process's arguments."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import os
import stat
import subprocess
import sys
import traceback
from collections.abc import AsyncIterator, Iterable, Mapping
from pathlib import Path
from typing import Any

import psutil
import pytest
import zmq

from bridge.client import ParleyClient
from bridge.codec import encode
from bridge.config import Settings, load_settings
from bridge.curve import read_key_file, write_key_file
from bridge.errors import DownloadFailed, DownloadNotAvailable, InvalidValue, ParleyError, SessionExpired, Unauthorized
from bridge.files import write_atomically
from bridge.launch import Sidecar
from bridge.protocol import ConfigureSession, DownloadModel, GetStatus, Hello, SendMessage, TurnComplete
from bridge.serve import write_private
from bridge.transport import LoopSocket, run_on_selector_loop
from tests import http_hub
from tests.http_hub import hub_entry
from tests.leaky_sidecar import PLACES
from tests.real_sidecar import game, serving
from tests.sidecar import environment, started
from tests.talk import ECHO, workflow

LEAKY = [sys.executable, str(Path(__file__).with_name("leaky_sidecar.py")), "serve"]

TOKEN = "tok-Yb3xQ9vN1kLr7TzW5mHs2PdG8cJf4aEu"
HUB_TOKEN = "hf_QwErTyUiOpAsDfGhJkLzXcVbNm"
MIRROR_PASSWORD = "s3cr3t-of-the-mirror"
OTHER_SECRET = "ghp_another-program's-secret"
LINE = "Ysgramor-Vanyel, the dragon, is my father"
SPOKEN = "Ysgramor-Vanyel"
"""The word of every line that nothing else says; the mock model says it again."""

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no mode bits, umask or free symlinks")


def forms(secret: str) -> Iterable[bytes]:
    """How a secret may look in a log: as it is, its beginning, and as others write bytes."""
    raw = secret.encode()
    yield from {raw, raw[: max(len(raw) // 2, 8)], raw.hex().encode(), raw[::-1]}
    yield base64.b64encode(raw).rstrip(b"=")[:-1]
    yield json.dumps(secret)[1:-1].encode()


def assert_in_none(secrets: Mapping[str, str], texts: Mapping[str, bytes]) -> None:
    for what, secret in secrets.items():
        for where, text in texts.items():
            for form in forms(secret):
                at = text.find(form)
                assert at < 0, f"{what} is in {where}: …{text[max(at - 200, 0) : at + 60]!r}"


def files_below(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_search_finds_what_it_looks_for() -> None:
    for form in forms(TOKEN):
        with pytest.raises(AssertionError, match="the token is in a log"):
            assert_in_none({"the token": TOKEN}, {"a log": b"Hello of " + form + b" and more"})


# ---- a whole sidecar -----------------------------------------------------------------------------------------


@contextlib.asynccontextmanager
async def connected(ready: Mapping[str, Any], **options: Any) -> AsyncIterator[ParleyClient]:
    client = await ParleyClient.connect(
        ready["endpoint"],
        options.pop("token", ready["token"]),
        server_public_key=ready.get("curve_public_key", ""),
        reconnect_s=0,
        **options,
    )
    try:
        yield client
    finally:
        await client.close()


async def turn(client: ParleyClient, agent_id: str, text: str) -> TurnComplete:
    *_, last = [frame async for frame in client.turn(agent_id, text)]
    assert isinstance(last.message, TurnComplete)
    return last.message


async def say_the_unreadable(ready: Mapping[str, Any]) -> None:
    """Sends requests that cannot be read, with secrets in all their parts, and waits for an answer to each."""
    context = zmq.Context()
    socket = context.socket(zmq.DEALER)
    socket.setsockopt(zmq.LINGER, 0)
    if key := ready.get("curve_public_key"):
        from bridge.curve import apply_client

        apply_client(socket, key)
    answers: asyncio.Queue[list[bytes]] = asyncio.Queue()
    reader = LoopSocket(socket, answers.put_nowait, max_parts=4, batch=1)
    socket.connect(ready["endpoint"])
    reader.start()
    hello = encode(Hello(protocol=1, client="unreadable", token=TOKEN), request_id=1)
    said = json.dumps({"agent_id": LINE, "text": LINE}).encode()
    attempts: list[list[bytes]] = [
        [hello[0], hello[1], hello[2][:-2]],
        [hello[0], hello[1], json.dumps({"protocol": TOKEN, "token": [TOKEN]}).encode()],
        hello,
        [b"SendMessage", hello[1], said[:-2]],
        [b"SendMessage", hello[1], json.dumps({"agent_id": [LINE], "text": {LINE: LINE}}).encode()],
        [SPOKEN.encode(), hello[1], said],
        [b"SendMessage", SPOKEN.encode(), said],
        [b"SendMessage", b"\x07" + hello[1][1:], said],
    ]
    try:
        for attempt in attempts:
            reader.send(attempt)
            await asyncio.wait_for(answers.get(), 20)
    finally:
        reader.stop()
        context.destroy(linger=0)


@pytest.mark.parametrize("encrypted", [True, False])
def test_a_sidecar_that_talks_resumes_and_fails_tells_its_log_no_secret(encrypted: bool, tmp_path: Path) -> None:
    log, events = tmp_path / "stderr.txt", tmp_path / "events"
    events.mkdir()
    more: list[str] = []
    secrets = {"the token": TOKEN, "the hub's token": HUB_TOKEN, "another secret": OTHER_SECRET, "a line": SPOKEN}
    if encrypted:
        keys = write_key_file(tmp_path / "key")
        secrets["the secret key"] = keys.secret_key
        more = ["--curve-key", str(tmp_path / "key")]
    replies: list[str] = []

    async def scene(ready: Mapping[str, Any]) -> None:
        with pytest.raises(Unauthorized) as refused:
            async with connected(ready, token=OTHER_SECRET):
                pass
        replies.append(str(refused.value))
        await say_the_unreadable(ready)
        async with connected(ready, client="the first") as client:
            secrets["the session's key"] = key = client.ready.session_key
            agent_id = (await client.create_agent(workflow({"name": "mira", "type": "Generate"}))).agent_id
            assert (await turn(client, agent_id, LINE)).status == "Success"
            last_seq = client.last_seq
        with pytest.raises(SessionExpired):
            async with connected(ready, resume=OTHER_SECRET):
                pass
        async with connected(ready, resume=key, last_seq=last_seq, client="the second") as client:
            assert client.ready.resumed
            assert (await turn(client, agent_id, LINE)).status == "Success"
            for place in PLACES:
                with contextlib.suppress(ParleyError):
                    await turn(client, agent_id, f"{LINE}, {place}!")
            with pytest.raises(ParleyError):
                await client.request(SendMessage(agent_id=LINE, text=LINE))
            await client.request(ConfigureSession(allow_model_download=True))
            with pytest.raises((DownloadFailed, DownloadNotAvailable)) as failed:
                await client.request(DownloadModel(model="far"))
            replies.append(str(failed.value))
            replies.append((await client.request(GetStatus())).model_dump_json())
            # It may be gone before its answer is here: that it ends well is looked at below.
            with contextlib.suppress(ConnectionError):
                await client.shutdown()

    with http_hub.serving() as hub:
        settings = {"log_level": "debug", "log_folder": str(events), "download_timeout_s": 5.0, "hub_endpoint": ""}
        arguments = game(tmp_path / "game", ECHO, hub_entry(name="far"), **settings)
        secret = environment(
            PARLEY_TOKEN=TOKEN,
            HF_TOKEN=HUB_TOKEN,
            HF_ENDPOINT=hub.endpoint,
            HF_HOME=str(tmp_path / "hf"),
            SOME_API_KEY=OTHER_SECRET,
        )
        with serving(log, *arguments, *more, command=LEAKY, env=secret, cwd=tmp_path) as process:
            assert process.token == TOKEN
            assert ("curve_public_key" in process.ready) is encrypted
            run_on_selector_loop(scene(process.ready))
            assert process.popen.wait(30) == 0
        assert f"Bearer {HUB_TOKEN}" in hub.authorizations

    texts = {"its stderr": log.read_bytes(), **files_below(events)}
    assert len(texts) > 1
    for where, text in texts.items():
        # The log was on, and the bugs were met.
        for word in (b"with a wrong token", b"the second", b"Quoting", b"RuntimeError", b"raise_quoting", b"far"):
            assert word in text, (word, where)
        assert text.count(b"Quoting") >= len(PLACES) - 1, where
    texts["its answers"] = "\n".join(replies).encode()
    assert_in_none(secrets, texts)


# ---- exceptions, schema, settings ----------------------------------------------------------------------------


def test_settings_do_not_show_the_token(tmp_path: Path) -> None:
    settings = Settings(token=TOKEN)
    assert TOKEN not in repr(settings) + str(settings)
    file = tmp_path / "parley.toml"
    for content in (f'token = "{TOKEN}', f'token = ["{TOKEN}"]', f'token = "{TOKEN}\\u0000"', f"token = {TOKEN}"):
        file.write_text(content)
        with pytest.raises(InvalidValue) as refused:
            load_settings(file, environment={"PARLEY_OWNER_PID": OTHER_SECRET})
        told = "".join(traceback.format_exception(refused.value))
        assert_in_none({"the token": TOKEN, "a value": OTHER_SECRET}, {"the error": told.encode()})


@pytest.mark.parametrize(
    "arguments",
    [["schema"], ["doctor"], ["doctor", "--json"], ["models", "list"], ["serve", "--owner-pid", "x"], ["serve", "-h"]],
)
def test_commands_tell_no_secret_of_the_environment(arguments: list[str], tmp_path: Path) -> None:
    write_key_file(tmp_path / "key")
    (tmp_path / "parley.toml").write_text(f"token = {json.dumps(TOKEN)}\ncurve_key = 'key'\n")
    env = environment(
        HF_TOKEN=HUB_TOKEN,
        SOME_API_KEY=OTHER_SECRET,
        HF_HOME=str(tmp_path / "hf"),
        PARLEY_HUB_ENDPOINT=f"http://me:{MIRROR_PASSWORD}@127.0.0.1:9",
    )
    command = [sys.executable, "-m", "bridge", *arguments]
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, timeout=60)
    assert done.stdout + done.stderr
    secrets = {
        "the token": TOKEN,
        "the hub's token": HUB_TOKEN,
        "another secret": OTHER_SECRET,
        "the mirror's password": MIRROR_PASSWORD,
        "the secret key": read_key_file(tmp_path / "key").secret_key,
    }
    assert_in_none(secrets, {"stdout": done.stdout, "stderr": done.stderr})


HUB_PROBE = """
import sys
from pathlib import Path
from bridge.config import Settings
from bridge.errors import ParleyError
from bridge.hub import Hub, Stop
from tests.http_hub import hub_entry
import bridge.hub
bridge.hub.RETRY_PAUSES_S = (0.0, 0.0)
try:
    Hub(hub_entry(), Settings(download_timeout_s=2), Stop()).look_up("model.gguf", Path("x"), "")
except ParleyError as fault:
    print(fault)
"""


@pytest.mark.parametrize(
    ("token", "endpoint", "words"),
    [
        (f"{HUB_TOKEN}\x0b{HUB_TOKEN}", "http://127.0.0.1:9", "characters that no token has"),
        (f"{HUB_TOKEN}\N{CYRILLIC CAPITAL LETTER ZHE}", "http://127.0.0.1:9", "characters that no token has"),
        (HUB_TOKEN, f"http://me:{MIRROR_PASSWORD}@127.0.0.1:9", "http://127.0.0.1:9 cannot be reached"),
    ],
    ids=["a control character", "a letter", "a mirror"],
)
def test_what_the_hub_cannot_be_asked_is_said_without_secrets(
    token: str, endpoint: str, words: str, tmp_path: Path
) -> None:
    env = environment(HF_TOKEN=token, HF_ENDPOINT=endpoint, HF_HOME=str(tmp_path))
    done = subprocess.run([sys.executable, "-c", HUB_PROBE], env=env, capture_output=True, timeout=60)
    assert words in done.stdout.decode(), done.stderr
    secrets = {"the hub's token": HUB_TOKEN, "the mirror's password": MIRROR_PASSWORD}
    assert_in_none(secrets, {"stdout": done.stdout, "stderr": done.stderr})


# ---- arguments of processes ----------------------------------------------------------------------------------


def arguments_of(pid: int) -> bytes:
    """As all users of the machine can see them."""
    return Path(f"/proc/{pid}/cmdline").read_bytes()


def test_a_sidecar_of_our_own_has_no_secret_among_its_arguments(tmp_path: Path) -> None:
    heard: list[str] = []

    async def scene() -> None:
        arguments = game(tmp_path, ECHO)
        env = environment(PARLEY_TOKEN=TOKEN, HF_TOKEN=HUB_TOKEN)
        async with Sidecar(*arguments, environment=env, on_stderr=heard.append) as sidecar:
            assert sidecar.token == TOKEN
            mine = psutil.Process()
            family = [psutil.Process(sidecar.pid), *mine.children(recursive=True)]
            lines = [" ".join(process.cmdline()) for process in family]
            assert any("serve" in line for line in lines)
            told = "\n".join(lines).encode()
            if sys.platform == "linux":
                told += arguments_of(sidecar.pid)
            assert_in_none({"the token": TOKEN, "the hub's token": HUB_TOKEN}, {"the arguments": told})

    run_on_selector_loop(scene())
    assert_in_none({"the token": TOKEN}, {"stderr": "\n".join(heard).encode()})


# ---- the ready file ------------------------------------------------------------------------------------------


@contextlib.contextmanager
def umask(mask: int) -> Any:
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


@posix_only
@pytest.mark.parametrize("mask", [0, 0o027, 0o777])
def test_the_ready_file_is_private_whatever_the_umask(mask: int, tmp_path: Path) -> None:
    with umask(mask):
        write_private(tmp_path / "ready.json", "a line")
    assert stat.S_IMODE((tmp_path / "ready.json").stat().st_mode) == 0o600
    assert (tmp_path / "ready.json").read_text() == "a line"


@posix_only
def test_the_ready_file_is_private_from_its_first_byte_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    replace, chmod = os.replace, os.chmod

    def looking(step: Any) -> Any:
        def look(*arguments: Any) -> None:
            seen.extend(stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir())
            step(*arguments)

        return look

    monkeypatch.setattr(os, "replace", looking(replace))
    monkeypatch.setattr(os, "chmod", looking(chmod))
    with umask(0):
        write_private(tmp_path / "ready.json", "a line")
    assert seen == [0o600, 0o600]


@posix_only
def test_a_link_as_ready_file_is_replaced_and_what_it_leads_to_is_left(tmp_path: Path) -> None:
    victim, link = tmp_path / "victim", tmp_path / "ready.json"
    victim.write_text("mine")
    link.symlink_to(victim)
    with started("--ready-file", str(link), "--idle-exit-s", "0.1") as process:
        assert not link.is_symlink()
        assert json.loads(link.read_text()) == process.ready
        assert stat.S_IMODE(link.stat().st_mode) == 0o600
        assert process.ended()[0] == 0
    assert victim.read_text() == "mine"
    assert [entry.name for entry in tmp_path.iterdir()] == ["victim"]


@posix_only
def test_a_link_in_the_way_to_the_ready_file_is_fine(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "way").symlink_to(tmp_path / "real")
    write_private(tmp_path / "way" / "ready.json", "a line")
    assert (tmp_path / "real" / "ready.json").read_text() == "a line"


def test_a_folder_as_ready_file_is_one_sentence_and_stays(tmp_path: Path) -> None:
    folder = tmp_path / "ready.json"
    folder.mkdir()
    (folder / "something").write_text("x")
    with pytest.raises(InvalidValue, match=r"cannot write the ready file .*ready\.json"):
        write_private(folder, "a line with a token")
    assert [entry.name for entry in tmp_path.iterdir()] == ["ready.json"]
    assert [entry.name for entry in folder.iterdir()] == ["something"]


@posix_only
def test_other_files_are_still_written_through_links(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    link.symlink_to(target)
    write_atomically(link, b"new")
    assert link.is_symlink() and target.read_text() == "new"

"""Encrypted endpoints: the key file, who gets in, what an eavesdropper sees, and strangers at the door."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import json
import logging
import os
import re
import socket
import stat
import struct
import subprocess
import sys
import traceback
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from pathlib import Path
from typing import Any

import orjson
import psutil
import pytest
import zmq
import zmq.asyncio
from zmq.utils.monitor import recv_monitor_message

from bridge.client import ParleyClient
from bridge.codec import encode
from bridge.config import Settings
from bridge.curve import QUIET_S, Doorkeeper, Keys, apply_client, apply_server, read_key_file, write_key_file
from bridge.errors import InvalidValue
from bridge.launch import Sidecar
from bridge.protocol import Hello, ListAgents, Request, SendMessage
from bridge.server import Server
from bridge.transport import encrypted_endpoint, loopback_endpoint, run_on_selector_loop, usable_endpoint
from tests.fakes import FakeSession
from tests.sidecar import COMMAND, environment, killed_at_last, launched, started

TOKEN = "the token of this test"
LINE = "say 2 31"
PATIENCE_S = 20.0

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no mode bits, umask or free symlinks")


@pytest.fixture
def key_file(tmp_path: Path) -> Path:
    path = tmp_path / "a key of ours é.json"
    write_key_file(path)
    return path


@contextlib.contextmanager
def umask(mask: int) -> Iterator[None]:
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


# ---- the key file ----


def test_a_key_file_says_what_it_is_and_holds_a_pair(key_file: Path) -> None:
    content = json.loads(key_file.read_text(encoding="ascii"))
    assert content["what"] == "CURVE key pair of a Parley sidecar"
    assert content["version"] == 1
    assert zmq.curve_public(content["secret_key"].encode()) == content["public_key"].encode()
    assert read_key_file(key_file) == Keys(content["public_key"], content["secret_key"])
    assert content["secret_key"] not in repr(read_key_file(key_file))
    assert [entry.name for entry in key_file.parent.iterdir()] == [key_file.name]


@posix_only
@pytest.mark.parametrize("mask", [0, 0o077, 0o777])
@pytest.mark.parametrize("force", [False, True])
def test_it_is_private_whatever_the_umask(mask: int, force: bool, tmp_path: Path) -> None:
    with umask(mask):
        write_key_file(tmp_path / "key", force=force)
    assert stat.S_IMODE((tmp_path / "key").stat().st_mode) == 0o600
    read_key_file(tmp_path / "key")


def test_what_is_there_is_never_overwritten_without_force(key_file: Path) -> None:
    before = key_file.read_bytes()
    with pytest.raises(InvalidValue, match="is there already; --force replaces it"):
        write_key_file(key_file)
    assert key_file.read_bytes() == before
    assert len(list(key_file.parent.iterdir())) == 1
    old, new = read_key_file(key_file), write_key_file(key_file, force=True)
    assert read_key_file(key_file) == new != old


@posix_only
def test_a_link_is_never_followed(tmp_path: Path) -> None:
    victim, link, dangling = tmp_path / "victim", tmp_path / "link", tmp_path / "dangling"
    victim.write_text("mine")
    link.symlink_to(victim)
    dangling.symlink_to(tmp_path / "nowhere")
    for path in (link, dangling):
        with pytest.raises(InvalidValue, match="is there already"):
            write_key_file(path)
        write_key_file(path, force=True)
        assert path.is_file() and not path.is_symlink()
    assert victim.read_text() == "mine"
    assert not (tmp_path / "nowhere").exists()


@posix_only
def test_a_file_system_without_links_will_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_links(*_: object) -> None:
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "link", no_links)
    with umask(0):
        keys = write_key_file(tmp_path / "key")
    assert read_key_file(tmp_path / "key") == keys
    assert stat.S_IMODE((tmp_path / "key").stat().st_mode) == 0o600
    with pytest.raises(InvalidValue, match="is there already"):
        write_key_file(tmp_path / "key")
    assert read_key_file(tmp_path / "key") == keys
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("force", [False, True])
def test_where_no_key_file_can_be_is_one_sentence(force: bool, tmp_path: Path) -> None:
    with pytest.raises(InvalidValue, match=r"cannot write the key file .*missing"):
        write_key_file(tmp_path / "missing" / "key", force=force)
    (tmp_path / "folder").mkdir()
    with pytest.raises(InvalidValue, match=r"cannot write the key file .*folder|folder is there already"):
        write_key_file(tmp_path / "folder", force=force)
    assert [entry.name for entry in tmp_path.rglob("*")] == ["folder"]


SPOILS: dict[str, Callable[[dict[str, Any]], bytes]] = {
    "empty": lambda _: b"",
    "not JSON": lambda content: json.dumps(content).encode()[:-1],
    "not UTF-8": lambda content: json.dumps(content).encode() + b"\xff",
    "no object": lambda content: json.dumps([content["secret_key"]]).encode(),
    "something else": lambda content: json.dumps({**content, "what": "a saved game"}).encode(),
    "a later version": lambda content: json.dumps({**content, "version": 2}).encode(),
    "no public key": lambda content: json.dumps({**content, "public_key": None}).encode(),
    "no secret key": lambda content: json.dumps({**content, "secret_key": 7}).encode(),
    "a short key": lambda content: json.dumps({**content, "secret_key": content["secret_key"][:-1]}).encode(),
    "no Z85": lambda content: json.dumps({**content, "secret_key": content["secret_key"][:-1] + "~"}).encode(),
    "two halves of two": lambda content: json.dumps({**content, "public_key": content["secret_key"]}).encode(),
    "too large": lambda content: json.dumps({**content, "more": "x" * 70_000}).encode(),
    "too deep": lambda content: content["secret_key"].encode() + b"[" * 60_000,
}


@pytest.mark.parametrize("how", SPOILS)
def test_a_file_that_is_no_key_file_is_refused_and_not_quoted(how: str, key_file: Path) -> None:
    content = json.loads(key_file.read_text())
    key_file.write_bytes(SPOILS[how](content))
    with pytest.raises(InvalidValue, match="is no key file of this version; `parley keygen FILE` makes one") as refused:
        read_key_file(key_file)
    assert refused.value.code == 3007
    told = "".join(traceback.format_exception(refused.value)) + repr(refused.value)
    assert content["secret_key"][:-1] not in told


def test_a_key_file_that_cannot_be_read_is_one_sentence(tmp_path: Path) -> None:
    for path in (tmp_path / "none", tmp_path):
        with pytest.raises(InvalidValue, match=r"cannot read the key file .*; `parley keygen FILE` makes one"):
            read_key_file(path)


@posix_only
def test_a_key_file_that_others_can_read_is_said(key_file: Path, caplog: pytest.LogCaptureFixture) -> None:
    secret = read_key_file(key_file).secret_key
    assert caplog.text == ""
    key_file.chmod(0o640)
    read_key_file(key_file)
    assert "can be read by other users" in caplog.text
    assert secret not in caplog.text


@contextlib.contextmanager
def dealer_socket() -> Iterator[zmq.Socket[bytes]]:
    with zmq.Context() as context, context.socket(zmq.DEALER) as made:
        yield made


@pytest.mark.parametrize("key", ["", "x", "~" * 40, "é" * 40, "a" * 41, "#" * 40])
def test_what_is_no_public_key_is_refused_and_not_quoted(key: str) -> None:
    with (
        dealer_socket() as made,
        pytest.raises(InvalidValue, match="must be the 40 characters that `parley keygen`") as refused,
    ):
        apply_client(made, key)
    assert len(key) < 2 or key not in str(refused.value)


def test_a_library_without_curve_is_said(key_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    public_key = read_key_file(key_file).public_key
    monkeypatch.setattr(zmq, "has", lambda feature: feature != "curve")
    with dealer_socket() as made:
        attempts: list[Callable[[], object]] = [
            lambda: write_key_file(tmp_path / "new"),
            lambda: read_key_file(key_file),
            lambda: apply_server(made, key_file),
            lambda: apply_client(made, public_key),
        ]
        for attempt in attempts:
            with pytest.raises(InvalidValue, match="cannot encrypt"):
                attempt()
    assert not (tmp_path / "new").exists()


# ---- endpoints ----


@pytest.mark.parametrize(
    "endpoint", ["tcp://0.0.0.0:5600", "tcp://*:5600", "tcp://192.168.7.7:5600", "tcp://[::]:5600"]
)
def test_an_open_interface_needs_a_key_and_a_token(endpoint: str) -> None:
    with pytest.raises(InvalidValue, match=r"not on loopback.*`parley keygen FILE`.*`--curve-key FILE`"):
        loopback_endpoint(endpoint)
    with pytest.raises(InvalidValue, match=r"not on loopback.*--no-auth"):
        encrypted_endpoint(endpoint, no_auth=True)
    assert encrypted_endpoint(endpoint, no_auth=False) == endpoint


def test_a_loopback_endpoint_may_be_encrypted_without_a_token() -> None:
    assert encrypted_endpoint("tcp://localhost:*", no_auth=True) == "tcp://127.0.0.1:*"
    assert encrypted_endpoint("tcp://[::1]:1", no_auth=True) == "tcp://[::1]:1"


@pytest.mark.parametrize(
    "endpoint", ["ipc:///tmp/x", "tcp://*", "tcp://*:65536", "tcp://:5600", "tcp://a:b:1", "*:5600"]
)
def test_an_encrypted_endpoint_has_the_same_form(endpoint: str) -> None:
    with pytest.raises(InvalidValue, match=r"must look like tcp://|above 65535"):
        encrypted_endpoint(endpoint, no_auth=False)


def test_a_usable_endpoint_is_one_to_connect_to() -> None:
    assert usable_endpoint("tcp://0.0.0.0:5600") == "tcp://127.0.0.1:5600"
    assert usable_endpoint("tcp://[::]:5600") == "tcp://[::1]:5600"
    for endpoint in ("tcp://192.168.7.7:5600", "tcp://[::1]:5600", "tcp://10.0.0.0:5600"):
        assert usable_endpoint(endpoint) == endpoint


# ---- the log about strangers ----


def test_strangers_of_one_kind_are_one_line_a_minute(caplog: pytest.LogCaptureFixture) -> None:
    now = 1000.0
    door = Doorkeeper(clock=lambda: now)
    for _ in range(3):
        door.note("it smells")
        door.note("it is late")
    assert [record.getMessage() for record in caplog.records] == [
        "a connection was refused: it smells",
        "a connection was refused: it is late",
    ]
    now += QUIET_S - 0.1
    door.note("it smells")
    assert len(caplog.records) == 2
    now += 0.1
    door.note("it smells")
    door.note("it smells")
    assert len(caplog.records) == 3
    assert caplog.records[2].getMessage() == "a connection was refused: it smells (3 more since the last such line)"


# ---- over the wire ----


class Dealer:
    """A bare client; with a key it encrypts."""

    def __init__(self, endpoint: str, server_public_key: str = "") -> None:
        self.context = zmq.asyncio.Context()
        self.socket = self.context.socket(zmq.DEALER)
        self.socket.setsockopt(zmq.LINGER, 0)
        self.socket.setsockopt(zmq.IPV6, "[" in endpoint)
        self.socket.setsockopt(zmq.RECONNECT_IVL, 1)
        if server_public_key:
            apply_client(self.socket, server_public_key)
        self.monitor = self.socket.get_monitor_socket(zmq.EVENT_DISCONNECTED)
        self.socket.connect(endpoint)

    async def ask(self, message: Request, request_id: int = 1) -> tuple[str, dict[str, Any]]:
        await self.socket.send_multipart(encode(message, request_id=request_id))
        return await self.receive()

    async def receive(self) -> tuple[str, dict[str, Any]]:
        parts = await asyncio.wait_for(self.socket.recv_multipart(), PATIENCE_S)
        return parts[0].decode("ascii"), orjson.loads(parts[2])

    async def hello(self, token: str = TOKEN) -> tuple[str, dict[str, Any]]:
        return await self.ask(Hello(protocol=1, client="test", token=token))

    async def turned_away(self, times: int) -> None:
        """Waits until it was cut off so often, coming back each time, and has heard nothing."""
        for _ in range(times):
            await asyncio.wait_for(recv_monitor_message(self.monitor), PATIENCE_S)
        assert not await self.socket.poll(0)

    def close(self) -> None:
        self.socket.disable_monitor()
        self.context.destroy(linger=0)


@contextlib.asynccontextmanager
async def dealer(endpoint: str, server_public_key: str = "") -> AsyncIterator[Dealer]:
    made = Dealer(endpoint, server_public_key)
    try:
        yield made
    finally:
        made.close()


@contextlib.asynccontextmanager
async def serving(**settings: Any) -> AsyncIterator[Server]:
    server = Server(Settings(**settings), TOKEN, FakeSession)
    try:
        server.bind()
    except BaseException:
        server.close()
        raise
    running = asyncio.ensure_future(server.run())
    try:
        yield server
        assert not running.done()
    finally:
        server.request_shutdown()
        await asyncio.wait_for(running, PATIENCE_S)


def on_the_wire(test: Coroutine[Any, Any, None]) -> None:
    run_on_selector_loop(test)


def test_a_client_with_the_key_and_the_token_gets_in(key_file: Path) -> None:
    async def scene() -> None:
        async with serving(curve_key=str(key_file)) as server:
            assert server.curve_public_key == read_key_file(key_file).public_key
            async with dealer(server.endpoint, server.curve_public_key) as client:
                name, error = await client.hello("not the token")
                assert (name, error["code"]) == ("Error", 1001)
                assert (await client.hello())[0] == "SessionReady"
                assert (await client.ask(SendMessage(agent_id="a", text=LINE), 2))[0] == "TurnStarted"
                assert [(await client.receive())[0] for _ in range(3)] == ["AnswerText", "AnswerText", "TurnComplete"]

    on_the_wire(scene())


def test_without_a_key_there_is_none() -> None:
    async def scene() -> None:
        async with serving() as server, dealer(server.endpoint) as client:
            assert server.curve_public_key == ""
            assert (await client.hello())[0] == "SessionReady"

    on_the_wire(scene())


class Eavesdropper:
    """A relay on a loopback port that keeps every byte of both directions."""

    def __init__(self, port: int) -> None:
        self.heard = b""
        self._port = port
        self._relays: set[asyncio.Task[None]] = set()

    @contextlib.asynccontextmanager
    async def listening(self) -> AsyncIterator[str]:
        server = await asyncio.start_server(self._relay, "127.0.0.1", 0)
        async with server:
            yield f"tcp://127.0.0.1:{server.sockets[0].getsockname()[1]}"
            for relay in self._relays:
                relay.cancel()

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._port)
        for source, sink in ((reader, far_writer), (far_reader, writer)):
            self._relays.add(asyncio.ensure_future(self._copy(source, sink)))

    async def _copy(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        with contextlib.closing(sink):
            while data := await source.read(65_536):
                self.heard += data
                sink.write(data)


@pytest.mark.parametrize("encrypted", [True, False])
def test_an_eavesdropper_hears_nothing_of_what_is_said(encrypted: bool, key_file: Path) -> None:
    async def scene() -> None:
        async with serving(curve_key=str(key_file) if encrypted else "") as server:
            spy = Eavesdropper(int(server.endpoint.rpartition(":")[2]))
            async with spy.listening() as endpoint, dealer(endpoint, server.curve_public_key) as client:
                name, ready = await client.hello()
                assert name == "SessionReady"
                await client.ask(SendMessage(agent_id="a", text=LINE), 2)
                while (await client.receive())[0] != "TurnComplete":
                    pass
            said = (TOKEN, ready["session_key"], ready["session_id"], LINE, "Hello", "SendMessage", "TurnComplete", "{")
            assert len(spy.heard) > 500
            for text in said:
                # One byte of JSON proves nothing among random ones.
                assert len(text) == 1 or (text.encode() in spy.heard) is not encrypted, text

    on_the_wire(scene())


def test_the_limits_of_a_message_are_the_same(key_file: Path) -> None:
    async def scene(settings: dict[str, Any]) -> None:
        async with (
            serving(max_json_bytes=1024, max_payload_bytes=1024, **settings) as server,
            dealer(server.endpoint, server.curve_public_key) as client,
        ):
            await client.hello()
            most = [b"ListAgents", struct.pack("<QQ", 2, 0), b"x" * 2048]
            await client.socket.send_multipart(most)
            name, error = await client.receive()
            assert (name, error["code"]) == ("Error", 5003)
            await client.socket.send_multipart([*most[:2], b"x" * 2049])
            await client.turned_away(1)

    on_the_wire(scene({}))
    on_the_wire(scene({"curve_key": str(key_file)}))


def test_many_large_messages_come_whole(key_file: Path) -> None:
    async def scene() -> None:
        async with (
            serving(curve_key=str(key_file)) as server,
            dealer(server.endpoint, server.curve_public_key) as client,
        ):
            await client.hello()
            await client.ask(SendMessage(agent_id="a", text="say 40 100000"), 2)
            for number in range(40):
                assert (await client.receive())[1]["text"] == f"{number} {' ' * 100_000}"

    on_the_wire(scene())


PLAIN_GREETING = b"\xff" + bytes(8) + b"\x7f\x03\x00" + b"NULL".ljust(20, b"\0") + bytes(32)
"""What a client that does not encrypt says first."""


def doors(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.name == "bridge.curve"]


def test_strangers_are_turned_away_and_others_are_served_on(key_file: Path, caplog: pytest.LogCaptureFixture) -> None:
    async def scene() -> None:
        other_key = zmq.curve_keypair()[0].decode("ascii")
        async with serving(curve_key=str(key_file)) as server:
            port = int(server.endpoint.rpartition(":")[2])
            async with (
                dealer(server.endpoint, server.curve_public_key) as friend,
                dealer(server.endpoint) as plain,
                dealer(server.endpoint, other_key) as mistaken,
            ):
                assert (await friend.hello())[0] == "SessionReady"
                # Only once for a real plain client: where it is the first to see what is wrong, it stays away.
                await plain.turned_away(1)
                await mistaken.turned_away(5)
                for garbage in (*5 * [PLAIN_GREETING], b"GET / HTTP/1.1\r\n\r\n" * 9, b"\xff" * 200, b"\0" * 20_000):
                    await hang_up_after(port, garbage)
                silent = socket.create_connection(("127.0.0.1", port))
                with silent:
                    assert (await friend.ask(ListAgents(), 2))[0] == "Agents"
                assert server.session_count == 1

    with caplog.at_level(logging.DEBUG):
        on_the_wire(scene())
    told = doors(caplog)
    assert any("one side encrypts (CURVE) and the other does not" in line for line in told)
    assert any("clients need the public key" in line for line in told)
    assert len(told) == len(set(told)) <= 4
    assert not [record for record in caplog.records if record.levelno > logging.WARNING]


async def hang_up_after(port: int, data: bytes) -> None:
    """Sends this and waits until the other side hangs up, or says that it has had enough."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    with contextlib.suppress(OSError):
        writer.write(data)
        writer.write_eof()
        await asyncio.wait_for(reader.read(), PATIENCE_S)
    writer.close()


def test_a_client_that_encrypts_gets_nothing_from_a_plain_sidecar(
    key_file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def scene() -> None:
        async with (
            serving() as server,
            dealer(server.endpoint, read_key_file(key_file).public_key) as mistaken,
            dealer(server.endpoint) as friend,
        ):
            await mistaken.turned_away(1)
            assert (await friend.hello())[0] == "SessionReady"
            assert server.session_count == 1

    on_the_wire(scene())
    told = doors(caplog)
    assert len(told) == len(set(told)) <= 2


def test_no_auth_stays_on_loopback_when_the_server_binds(key_file: Path) -> None:
    async def scene(endpoint: str, **settings: Any) -> None:
        async with serving(endpoint=endpoint, **settings):
            pass

    with pytest.raises(InvalidValue, match=r"not on loopback.*leave --no-auth out"):
        on_the_wire(scene("tcp://0.0.0.0:*", curve_key=str(key_file), no_auth=True))
    on_the_wire(scene("tcp://127.0.0.1:*", curve_key=str(key_file), no_auth=True))
    with pytest.raises(InvalidValue, match=r"not on loopback"):
        on_the_wire(scene("tcp://*:*"))


def open_endpoints() -> Sequence[str]:
    """This machine's own ways to be reached from elsewhere."""
    hosts = ["0.0.0.0", "*"]
    for addresses in psutil.net_if_addrs().values():
        hosts += [item.address for item in addresses if item.family == socket.AF_INET]
    if socket.has_ipv6 and any(
        item.address == "::1" for addresses in psutil.net_if_addrs().values() for item in addresses
    ):
        hosts.append("[::]")
    return sorted({f"tcp://{host}:*" for host in hosts})


@pytest.mark.parametrize("endpoint", open_endpoints())
def test_any_interface_can_be_bound_and_the_endpoint_is_usable(endpoint: str, key_file: Path) -> None:
    async def scene() -> None:
        async with serving(endpoint=endpoint, curve_key=str(key_file)) as server:
            assert re.fullmatch(r"tcp://(127\.0\.0\.1|\[::1\]|\d+(\.\d+){3}):\d+", server.endpoint)
            async with dealer(server.endpoint, server.curve_public_key) as client:
                assert (await client.hello())[0] == "SessionReady"

    on_the_wire(scene())


@pytest.mark.parametrize("endpoint", ["tcp://192.0.2.77:*", "tcp://no-such-interface:*", "tcp://[2001:db8::77]:*"])
def test_an_address_of_another_machine_is_said(endpoint: str, key_file: Path) -> None:
    async def scene() -> None:
        async with serving(endpoint=endpoint, curve_key=str(key_file)):
            pass

    with pytest.raises(InvalidValue, match="cannot bind"):
        on_the_wire(scene())


# ---- the process ----


def parley(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "bridge", *arguments]
    return subprocess.run(command, cwd=cwd, env=environment(), capture_output=True, text=True, timeout=60)


def test_keygen_prints_the_public_key_and_what_to_do_with_it(tmp_path: Path) -> None:
    done = parley("keygen", "my key", cwd=tmp_path)
    keys = read_key_file(tmp_path / "my key")
    assert (done.returncode, done.stdout) == (0, keys.public_key + "\n")
    assert "server_public_key=" in done.stderr and "parley serve --curve-key" in done.stderr
    assert keys.secret_key not in done.stdout + done.stderr
    again = parley("keygen", "my key", cwd=tmp_path)
    assert (again.returncode, again.stdout, len(again.stderr.splitlines())) == (2, "", 1)
    assert "--force" in again.stderr
    assert read_key_file(tmp_path / "my key") == keys
    forced = parley("keygen", "my key", "--force", cwd=tmp_path)
    assert forced.stdout == read_key_file(tmp_path / "my key").public_key + "\n" != done.stdout


def test_an_encrypted_sidecar_says_its_public_key_when_it_is_ready(key_file: Path, tmp_path: Path) -> None:
    ready_file = tmp_path / "ready.json"
    with started("--curve-key", str(key_file), "--endpoint", "tcp://*:*", "--ready-file", str(ready_file)) as process:
        assert set(process.ready) == {"event", "endpoint", "token", "pid", "curve_public_key"}
        assert process.ready["curve_public_key"] == read_key_file(key_file).public_key
        assert json.loads(ready_file.read_text()) == process.ready

        async def scene() -> None:
            async with dealer(process.endpoint, process.ready["curve_public_key"]) as client:
                assert (await client.hello(process.token))[0] == "SessionReady"

        on_the_wire(scene())


def test_the_client_of_an_encrypted_sidecar_of_our_own(key_file: Path) -> None:
    async def scene() -> None:
        async with Sidecar("--curve-key", str(key_file), command=COMMAND) as sidecar:
            key = sidecar.curve_public_key
            assert key == read_key_file(key_file).public_key
            async with await ParleyClient.connect(sidecar.endpoint, sidecar.token, server_public_key=key) as client:
                await client.request(ListAgents())
            for wrong in ("", zmq.curve_keypair()[0].decode("ascii")):
                with pytest.raises((ConnectionError, TimeoutError)):
                    await ParleyClient.connect(sidecar.endpoint, sidecar.token, server_public_key=wrong, timeout=1)

    on_the_wire(scene())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--endpoint", "tcp://*:*"], "`parley keygen FILE`"),
        (["--endpoint", "tcp://*:*", "--curve-key", "KEY", "--no-auth"], "leave --no-auth out"),
        (["--curve-key", "no such file"], "cannot read the key file"),
    ],
)
def test_what_stops_an_encrypted_sidecar_is_one_sentence(arguments: list[str], words: str, key_file: Path) -> None:
    filled = [str(key_file) if argument == "KEY" else argument for argument in arguments]
    with killed_at_last(launched(*filled, cwd=key_file.parent)) as popen:
        out, err = popen.communicate(timeout=30)
    assert (popen.returncode, out) == (1, b"")
    assert len(err.decode().splitlines()) == 1 and words in err.decode()

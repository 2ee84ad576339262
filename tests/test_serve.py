"""The sidecar as a process: how it says where it is, and every way for it to end."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from bridge.client import ParleyClient
from bridge.errors import InvalidValue, ShuttingDown, Unauthorized
from bridge.protocol import Goodbye, ListAgents, SendMessage, TurnComplete
from bridge.serve import write_private
from bridge.transport import run_on_selector_loop
from tests.sidecar import COMMAND, environment, killed_at_last, launched, ready_line, started

GONE_WITHIN_S = 2.0
ODD_NAME = "Ж 田中　é"

posix_only = pytest.mark.skipif(
    sys.platform == "win32",
    reason="Windows sends no SIGTERM; its plugins stop a sidecar with Shutdown, which is tested everywhere",
)


def talk(endpoint: str, token: str, scene: Callable[[ParleyClient], Coroutine[Any, Any, None]]) -> None:
    """Plays a scene as a client, who leaves without a word."""

    async def play() -> None:
        client = await ParleyClient.connect(endpoint, token, client="Łukasz 龙")
        try:
            await scene(client)
        finally:
            await client.close()

    run_on_selector_loop(play())


async def ask_something(client: ParleyClient) -> None:
    await client.request(ListAgents())


async def block_the_loop(client: ParleyClient) -> None:
    """Leaves the sidecar's loop busy for longer than any test takes."""
    blocked = asyncio.ensure_future(client.request(SendMessage(agent_id="a", text="block 60")))
    await asyncio.sleep(0)
    await client.close()
    with contextlib.suppress(ConnectionError):
        await blocked


# ---- ready ----


def test_one_ready_line_tells_where_it_is_and_how_to_get_in() -> None:
    with started() as process:
        assert set(process.ready) == {"event", "endpoint", "token", "pid"}
        assert process.ready["event"] == "ready"
        assert re.fullmatch(r"tcp://127\.0\.0\.1:\d+", process.endpoint)
        assert re.fullmatch(r"[A-Za-z0-9_-]{43}", process.token)
        assert process.ready["pid"] == process.popen.pid
        talk(process.endpoint, process.token, ask_something)
        with pytest.raises(Unauthorized):
            talk(process.endpoint, "", ask_something)

        async def stop(client: ParleyClient) -> None:
            await client.shutdown()

        talk(process.endpoint, process.token, stop)
        code, out, err = process.ended()
        assert (code, out) == (0, "")
        assert process.token not in err


def test_two_sidecars_have_their_own_ports_and_tokens() -> None:
    with started() as one, started() as two:
        assert one.endpoint != two.endpoint
        assert one.token != two.token
        talk(one.endpoint, one.token, ask_something)
        talk(two.endpoint, two.token, ask_something)
        with pytest.raises(Unauthorized):
            talk(two.endpoint, one.token, ask_something)


def test_a_given_token_is_kept_and_no_auth_needs_none() -> None:
    with started("--token", "given", "--no-auth") as process:
        assert process.token == "given"
        talk(process.endpoint, "", ask_something)


def test_the_ready_file_is_private_whole_and_gone_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "ready.json"
    path.write_text("old")
    path.chmod(0o644)
    with path.open() as old, started("--ready-file", str(path)) as process:
        assert json.loads(path.read_text()) == process.ready
        if sys.platform != "win32":
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
            # It was replaced, not written over: who has the old one open still reads all of it.
            assert old.read() == "old"
        assert [entry.name for entry in tmp_path.iterdir()] == ["ready.json"]

        async def stop(client: ParleyClient) -> None:
            await client.shutdown()

        talk(process.endpoint, process.token, stop)
        assert process.ended()[0] == 0
    assert list(tmp_path.iterdir()) == []


def test_the_ready_file_of_a_later_sidecar_stays(tmp_path: Path) -> None:
    path = tmp_path / "ready.json"

    async def stop(client: ParleyClient) -> None:
        await client.shutdown()

    with started("--ready-file", str(path)) as one, started("--ready-file", str(path)) as two:
        talk(one.endpoint, one.token, stop)
        assert one.ended()[0] == 0
        assert json.loads(path.read_text()) == two.ready


def test_a_private_file_that_cannot_be_written_is_said_in_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(InvalidValue, match=r"cannot write the ready file .*missing"):
        write_private(tmp_path / "missing" / "ready.json", "x")


def test_it_runs_in_a_folder_of_any_name(tmp_path: Path) -> None:
    folder = tmp_path / ODD_NAME
    folder.mkdir()
    path = folder / "ready ü.json"
    with started(
        "--ready-file", path.name, cwd=folder, env=environment(TMPDIR=str(folder), TEMP=str(folder))
    ) as process:
        assert json.loads(path.read_text()) == process.ready
        talk(process.endpoint, process.token, ask_something)


def test_starting_it_imports_nothing_heavy() -> None:
    heavy = ["llama_cpp", "numpy", "typer", "rich", "jinja2", "re2", "chevron", "zmq.asyncio"]
    code = f"import sys, bridge.serve; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], env=environment(), capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# ---- what stops it from starting ----


def test_a_taken_port_is_exit_code_3_and_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as stranger:
        port = stranger.getsockname()[1]
        with killed_at_last(launched("--endpoint", f"tcp://127.0.0.1:{port}")) as popen:
            out, err = popen.communicate(timeout=30)
    assert (popen.returncode, out) == (3, b"")
    assert f"port {port} is taken" in err.decode()
    assert "Traceback" not in err.decode()


@posix_only
def test_a_restart_gets_the_same_port_at_once() -> None:
    with started() as first:
        talk(first.endpoint, first.token, ask_something)
        first.popen.kill()
        first.popen.wait()
    with started("--endpoint", first.endpoint) as second:
        assert second.endpoint == first.endpoint
        talk(second.endpoint, second.token, ask_something)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--endpoint", "tcp://0.0.0.0:*"], "not on loopback"),
        (["--endpoint", "tcp://0.0.0.0:*", "--no-auth"], "not on loopback"),
        (["--endpoint", "ipc:///tmp/x"], "must look like tcp://127.0.0.1:5600"),
        (["--ready-file", "no such folder/ready.json"], "cannot write the ready file"),
        (["--fail"], "the catalog names no model 'x'"),
    ],
)
def test_what_stops_the_start_is_one_sentence(arguments: list[str], words: str, tmp_path: Path) -> None:
    with killed_at_last(launched(*arguments, cwd=tmp_path)) as popen:
        out, err = popen.communicate(timeout=30)
    assert (popen.returncode, out) == (1, b"")
    assert len(err.decode().splitlines()) == 1
    assert "cannot start" in err.decode() and words in err.decode()


# ---- how it ends ----


@posix_only
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_in_mid_turn_ends_the_turn_says_goodbye_and_exits_with_0(number: signal.Signals) -> None:
    with started() as process:

        async def scene(client: ParleyClient) -> None:
            everything = client.subscribe()
            turn = client.turn("a", "hold")
            first = await anext(turn)
            assert first.seq == 2
            process.popen.send_signal(number)
            with pytest.raises(ShuttingDown):
                async for _ in everything:
                    pass
            rest = [envelope.message async for envelope in turn]
            assert [type(message) for message in rest] == [TurnComplete]
            assert isinstance(rest[0], TurnComplete) and rest[0].status == "Cancelled"

        begun = time.monotonic()
        talk(process.endpoint, process.token, scene)
        code, _, err = process.ended()
        assert code == 0
        assert time.monotonic() - begun < GONE_WITHIN_S
        assert number.name in err and "Traceback" not in err


@posix_only
def test_goodbye_is_the_last_message() -> None:
    with started() as process:

        async def scene(client: ParleyClient) -> None:
            everything = client.subscribe()
            await client.request(SendMessage(agent_id="a", text="hold"))
            await anext(everything)
            process.popen.terminate()
            said = []
            with pytest.raises(ShuttingDown):
                async for envelope in everything:
                    said.append(envelope.message)
            assert [type(message) for message in said] == [TurnComplete, Goodbye]

        talk(process.endpoint, process.token, scene)
        assert process.ended()[0] == 0


@posix_only
@pytest.mark.parametrize("how", ["hang", "block 60"])
@pytest.mark.thorough
def test_a_signal_ends_it_in_time_also_where_something_hangs(how: str) -> None:
    with started() as process:

        async def scene(client: ParleyClient) -> None:
            if how == "hang":
                await client.request(SendMessage(agent_id="a", text=how))
            else:
                await block_the_loop(client)

        talk(process.endpoint, process.token, scene)
        begun = time.monotonic()
        process.popen.terminate()
        assert process.ended()[0] == 0
        assert time.monotonic() - begun < GONE_WITHIN_S


@posix_only
def test_a_signal_while_it_starts_counts() -> None:
    with killed_at_last(launched("--slow-start")) as popen:
        assert popen.stdout is not None
        assert popen.stdout.readline() == b"starting\n"
        begun = time.monotonic()
        popen.terminate()
        out, _ = popen.communicate(timeout=30)
        assert (popen.returncode, out) == (0, b"")
        assert time.monotonic() - begun < GONE_WITHIN_S


OWNER = """
import os, subprocess, sys
subprocess.Popen([*sys.argv[1:], "--owner-pid", str(os.getpid())], stdin=subprocess.DEVNULL)
sys.stdin.read()
"""


@pytest.mark.parametrize("blocked", [False, True])
def test_it_goes_with_its_killed_owner_whatever_it_is_doing(blocked: bool, tmp_path: Path) -> None:
    path = tmp_path / "ready.json"
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER, *COMMAND, "--ready-file", str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment(),
    )
    with killed_at_last(owner):
        assert owner.stdout is not None
        ready = ready_line(owner.stdout)
        assert ready["pid"] != owner.pid
        talk(ready["endpoint"], ready["token"], block_the_loop if blocked else ask_something)
        begun = time.monotonic()
        owner.kill()
        # The sidecar has the other end of this pipe, so it is gone when the pipe ends. Nobody has waited for the
        # owner yet: it is a zombie.
        assert owner.stdout.read() == b""
        assert time.monotonic() - begun < GONE_WITHIN_S
    assert not path.exists()


def test_an_owner_that_is_gone_already_is_noticed() -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    with killed_at_last(launched("--owner-pid", str(gone.pid))) as popen:
        out, err = popen.communicate(timeout=30)
    assert (popen.returncode, out) == (0, b"")
    assert "is gone already" in err.decode()


def test_it_stays_while_its_owner_lives() -> None:
    with started("--owner-pid", str(os.getpid()), "--idle-exit-s", "0.1") as process:
        code, _, err = process.ended()
    assert code == 0
    assert "no session for 0.1 s" in err and "owner" not in err


# ---- its output ----


@pytest.mark.thorough
def test_a_narrow_console_gets_every_log_line() -> None:
    narrow = environment(PYTHONIOENCODING="cp1252:strict")
    with started("--idle-exit-s", "0.1", env=narrow) as process:

        async def scene(client: ParleyClient) -> None:
            await client.bye()

        talk(process.endpoint, process.token, scene)
        code, _, err = process.ended()
    assert code == 0
    assert "Hello of '\\u0141ukasz \\u9f99'" in err
    assert "Traceback" not in err


@pytest.mark.thorough
def test_closed_pipes_do_not_end_it() -> None:
    (out_reader, out), (err_reader, err) = os.pipe(), os.pipe()
    os.close(out_reader)
    os.close(err_reader)
    # Buffered, as it is for most: what a failed write leaves in the buffer must not fail again at exit.
    buffered = environment(PYTHONUNBUFFERED="")
    popen = launched("--idle-exit-s", "0.1", stdout=out, stderr=err, env=buffered)
    os.close(out)
    os.close(err)
    with killed_at_last(popen):
        # Neither the ready line nor the log could be written; it still came to its orderly end.
        assert popen.wait(timeout=30) == 0


@pytest.mark.thorough
def test_a_full_pipe_of_log_lines_that_nobody_reads_does_not_stop_it() -> None:
    with started() as process:

        async def knock() -> None:
            for _ in range(900):
                with pytest.raises(Unauthorized):
                    await ParleyClient.connect(process.endpoint, "wrong", client="x" * 60)

        run_on_selector_loop(knock())
        talk(process.endpoint, process.token, ask_something)
        process.popen.terminate()
        _, _, err = process.ended()
    assert len(err) > 2**16

"""What a sidecar says it does, and how `parley status` and `parley top` show it."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from bridge import __version__
from bridge.catalog import CatalogEntry
from bridge.cli import app
from bridge.client import ParleyClient
from bridge.config import Settings
from bridge.engine import EngineLoad, TextModel
from bridge.engines.scheduler import Scheduler
from bridge.errors import InvalidAgentId, ParleyError, Unauthorized
from bridge.model_files import Report
from bridge.protocol import (
    ConfigureSession,
    CreateEmbeddedStorage,
    Error,
    ErrorCount,
    GetStatus,
    ListAgents,
    LoadModel,
    ModelLoad,
    SendMessage,
    SessionStatus,
    Status,
)
from bridge.status import Counters
from bridge.status_view import Sample, duration, frame, size, tokens_per_s
from bridge.transport import run_on_selector_loop
from tests.fakes_engine import Gate, ScriptedBackend
from tests.sidecar import ROOT, Process, environment, killed_at_last, ready_line
from tests.talk import EMBED, run, scripted, talking, workflow

NAME = "Łukasz 龙"
SPEAKER = {"name": "mira", "type": "Generate"}


async def status_of(client: ParleyClient) -> Status:
    reply = await client.request(GetStatus())
    assert isinstance(reply, Status)
    return reply


# ---- counting ----


def test_counters_start_at_nothing_and_count_each_end_of_a_turn() -> None:
    now = 5.0
    counters = Counters(lambda: now)
    now = 7.5
    for _ in range(3):
        counters.turn_started()
    counters.turn_ended("Success", 10)
    counters.turn_ended("Error", 3, 4002)
    counters.turn_ended("Cancelled", 4)
    counters.prompt_read(7, 90)
    counters.request_failed(Error(code=4002, name="TurnTimeout", message="m"))
    assert counters.uptime_s == 2.5
    assert (counters.turns_started, counters.turns_succeeded) == (3, 1)
    assert (counters.turns_failed, counters.turns_cancelled) == (1, 1)
    assert (counters.tokens_generated, counters.tokens_evaluated, counters.tokens_cached) == (17, 7, 90)
    assert counters.errors == {4002: 2}


# ---- over the wire ----


def test_the_owner_sees_every_session_and_what_they_did() -> None:
    async def scene() -> None:
        async with talking(scripted("one two three"), EMBED) as talk:
            client = talk.client
            await client.request(ConfigureSession(game_name=NAME))
            agent = await talk.agent(workflow(SPEAKER, model="script"))
            for _ in range(2):
                await talk.say(agent, "Good day.")
            await client.request(CreateEmbeddedStorage(name="lore", strings=["a"], embedding_model="embed"))
            other = await talk.another_client()
            with pytest.raises(InvalidAgentId):
                await other.request(SendMessage(agent_id="nobody", text="x"))
            with pytest.raises(Unauthorized):
                await ParleyClient.connect(talk.endpoint, "wrong")

            status = await status_of(client)
            assert status.is_whole and status.version == __version__ and status.pid == os.getpid()
            assert status.uptime_s > 0 and status.rss_bytes > 10**6 and status.threads >= 2
            assert status.open_files > 0
            rows = {row.session_id: row for row in status.sessions}
            assert set(rows) == {client.ready.session_id, other.ready.session_id}
            own = rows[client.ready.session_id]
            assert (own.game_name, own.client, own.attached, own.agents, own.busy) == (NAME, "python", True, 1, 0)
            assert (status.agents, status.busy_agents) == (1, 0)
            assert (status.turns_started, status.turns_succeeded, status.turns_failed) == (2, 2, 0)
            assert status.tokens_generated == 6
            assert status.tokens_evaluated > 0 and status.tokens_cached > 0
            assert status.errors == [
                ErrorCount(code=1001, name="Unauthorized", count=1),
                ErrorCount(code=3001, name="InvalidAgentId", count=1),
            ]
            models = {row.name: row for row in status.models}
            assert set(models) == {"script", "embed"}
            assert models["script"] == ModelLoad(
                name="script",
                type="language",
                backend="mock",
                users=1,
                residents=1,
                max_residents=4,
                max_bytes_parked=Settings().park_bytes,
            )
            assert (models["embed"].type, models["embed"].users, models["embed"].max_residents) == ("embedding", 1, 0)
            await other.bye()
            await other.close()
            assert len((await status_of(client)).sessions) == 1

    run(scene)


def test_who_did_not_say_the_token_sees_only_itself() -> None:
    async def scene() -> None:
        async with talking(settings=Settings(no_auth=True)) as talk:
            await talk.agent(workflow(SPEAKER))
            stranger = await ParleyClient.connect(talk.endpoint, "", client="stranger")
            status = await status_of(stranger)
            assert [row.session_id for row in status.sessions] == [stranger.ready.session_id]
            assert status == Status(
                version=__version__, uptime_s=status.uptime_s, is_whole=False, sessions=status.sessions
            )
            assert len((await status_of(talk.client)).sessions) == 2
            await stranger.bye()
            await stranger.close()

    run(scene)


def held(gate: Gate) -> Callable[[CatalogEntry, Path | None, Settings, Report], TextModel]:
    def load(entry: CatalogEntry, path: Path | None, settings: Settings, report: Report) -> TextModel:
        return Scheduler(ScriptedBackend(n_sequences=1, gate=gate), prompt_chunk=1024)

    return load


def test_queues_and_running_turns_show_while_they_last() -> None:
    async def scene() -> None:
        gate = Gate()
        async with talking(scripted("x"), load_engine=held(gate)) as talk:
            agents = [await talk.agent(workflow(SPEAKER, model="script")) for _ in range(3)]
            turns = [asyncio.ensure_future(talk.say(agent, "one two three four")) for agent in agents]
            await gate.reached()
            while True:  # the other two are on their way to the model
                status = await status_of(talk.client)
                (model,) = status.models
                if model.waiting + model.reading + model.running == 3:
                    break
            assert model.users == 3
            assert (model.reading, model.running) == (1, 0)
            assert (status.busy_agents, status.sessions[0].busy, status.turns_started) == (3, 3, 3)
            assert status.tokens_generated == 0
            for _ in range(3):  # the prompt, and two tokens
                await gate.step()
            status = await status_of(talk.client)
            assert (status.models[0].reading, status.models[0].running) == (0, 1)
            assert status.tokens_generated >= 2
            assert status.turns_succeeded == 0
            gate.lift()
            await asyncio.gather(*turns)
            status = await status_of(talk.client)
            assert (status.turns_succeeded, status.busy_agents) == (3, 0)
            assert status.models[0].waiting + status.models[0].reading + status.models[0].running == 0
            assert status.tokens_generated == sum(turn.result().complete.tokens_generated for turn in turns)

    run(scene)


def test_failed_and_cancelled_turns_are_counted_by_how_they_ended() -> None:
    async def scene() -> None:
        async with talking(scripted("a b c d e f g h", tokens_per_s=20)) as talk:
            circle = workflow({**SPEAKER, "default_exit": "mira"}, model="script")
            failing = await talk.agent(circle, max_steps=1)
            assert (await talk.say(failing, "Go on.")).complete.status == "Error"
            agent = await talk.agent(workflow(SPEAKER, model="script"))
            turn = asyncio.ensure_future(talk.say(agent, "Hello."))
            while not (await status_of(talk.client)).busy_agents:
                pass
            await talk.client.cancel_turn(agent)
            assert (await turn).complete.status == "Cancelled"
            status = await status_of(talk.client)
            assert (status.turns_started, status.turns_failed, status.turns_cancelled) == (2, 1, 1)
            assert status.errors == [ErrorCount(code=4003, name="MaxStepsExceeded", count=1)]

    run(scene)


def test_a_model_that_is_pinned_is_used_and_one_that_went_is_not_shown() -> None:
    async def scene() -> None:
        async with talking() as talk:
            await talk.client.request(LoadModel(model="echo"))
            assert [(row.name, row.users) for row in (await status_of(talk.client)).models] == [("echo", 1)]
            with pytest.raises(ParleyError):
                await talk.client.request(LoadModel(model="none"))
            assert [row.name for row in (await status_of(talk.client)).models] == ["echo"]

    run(scene)


def test_an_idle_scheduler_has_nothing_to_do() -> None:
    scheduler = Scheduler(ScriptedBackend(), prompt_chunk=64)
    assert scheduler.load() == EngineLoad(0, 0, 0)
    scheduler.close()
    assert scheduler.load() == EngineLoad(0, 0, 0)


# ---- shown to people ----

EMPTY = Status(version="1", uptime_s=3723.0, pid=7, threads=3)
BUSY = EMPTY.model_copy(
    update={
        "sessions": [
            SessionStatus(session_id="s1", game_name=f"{NAME}\x1b[31m", client="unity", agents=2, busy=1),
            SessionStatus(session_id="s2", attached=False, waiting_bytes=3 * 2**20, unacknowledged=40),
        ],
        "agents": 2,
        "busy_agents": 1,
        "turns_started": 9,
        "turns_succeeded": 6,
        "turns_failed": 1,
        "turns_cancelled": 1,
        "tokens_generated": 1_234_567,
        "tokens_evaluated": 100,
        "tokens_cached": 300,
        "models": [
            ModelLoad(
                name="starter-chat",
                type="language",
                backend="CPU",
                residents=2,
                max_residents=4,
                parked=5,
                bytes_parked=2**29,
                max_bytes_parked=2**30,
                running=1,
            ),
            ModelLoad(name="starter-embed", type="embedding", backend="CPU"),
        ],
        "errors": [ErrorCount(code=3001, name="InvalidAgentId", count=2), ErrorCount(code=0, name="X", count=5)],
    }
)


def shown(status: Status, before: Sample | None = None, **options: object) -> list[str]:
    encoding = str(options.get("encoding", "utf-8"))
    rows = int(str(options.get("most_rows", 1000)))
    screen = Console(width=140, color_system=None, force_terminal=False)
    with screen.capture() as caught:
        screen.print(frame(Sample(status, 10.0), before, encoding=encoding, most_rows=rows))
    return caught.get().splitlines()


def row(lines: list[str], word: str) -> str:
    return next(line for line in lines if word in line)


def test_everything_of_a_status_is_shown() -> None:
    lines = shown(BUSY)
    assert lines[0].rstrip() == "parley 1, up 1 h 2 min, pid 7"
    assert "2 sessions, 2 agents, 1 busy" in row(lines, "sessions,")
    assert "9 begun, 6 succeeded, 1 failed, 1 cancelled, 1 running" in row(lines, "turns:")
    assert "1,234,567 generated, 100 read, 300 reused (75 % of prompts)" in row(lines, "tokens:")
    assert row(lines, "s1").split() == ["s1", "Łukasz", "龙\ufffd[31m", "unity", "2", "1", "0", "0", "B"]
    assert row(lines, "s2").split() == ["s2", "detached", "0", "0", "40", "3.0", "MiB"]
    assert "█████░░░░░ 2/4" in row(lines, "starter-chat") and "█████░░░░░ 5, 512 MiB" in row(lines, "starter-chat")
    assert "░" not in row(lines, "starter-embed")
    assert row(lines, "errors").rstrip() == "errors by code: 0 X: 5, 3001 InvalidAgentId: 2"


def test_busy_sessions_come_first_and_what_is_too_much_is_counted() -> None:
    rows = [SessionStatus(session_id=f"s{number}", busy=number) for number in range(5)]
    lines = shown(BUSY.model_copy(update={"sessions": rows}), most_rows=2)
    at = next(index for index, line in enumerate(lines) if line.startswith("session "))
    assert [line.split()[0] for line in lines[at + 1 : at + 3]] == ["s4", "s3"]
    assert lines[at + 3].rstrip() == "and 3 more sessions"


def test_a_narrow_encoding_gets_letters_that_it_has() -> None:
    lines = shown(BUSY, encoding="cp1252")
    assert all(line.encode("cp1252") for line in lines if line.strip())
    assert "\\u0141ukasz \\u9f99" in row(lines, "s1")
    assert "#####..... 2/4" in row(lines, "starter-chat")


def test_a_status_of_a_stranger_says_so() -> None:
    lines = shown(Status(version="1", uptime_s=1.0, is_whole=False, sessions=BUSY.sessions[:1]))
    assert "Only this session is shown" in lines[1]
    assert not any("turns:" in line for line in lines)


def test_the_rate_is_what_came_between_two_looks() -> None:
    first = Sample(BUSY, 8.0)
    second = Sample(BUSY.model_copy(update={"tokens_generated": BUSY.tokens_generated + 50}), 10.0)
    assert tokens_per_s(first, second) == 25.0
    assert tokens_per_s(None, second) is None
    assert tokens_per_s(replace(first, at=10.0), second) is None
    assert "1,234,617 generated (25.0/s)" in row(shown(second.status, first), "tokens:")


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (200 * 2**20, "200 MiB"), (3 * 2**30, "3.0 GiB")],
)
def test_sizes(count: int, text: str) -> None:
    assert size(count) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.4, "0 s"), (59, "59 s"), (61, "1 min 1 s"), (7260, "2 h 1 min"), (90_000, "1 d 1 h")]
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


# ---- the commands ----


@pytest.fixture(scope="module")
def sidecar(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    """A real `parley serve`, its ready file beside it."""
    folder = tmp_path_factory.mktemp("sidecar")
    command = [sys.executable, "-m", "bridge", "serve", "--ready-file", str(folder / "ready.json")]
    options = {"cwd": folder, "env": environment(PARLEY_LOG_FOLDER=str(folder))}
    popen = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, **options
    )  # type: ignore[call-overload]
    with killed_at_last(popen):
        process = Process(popen, ready_line(popen.stdout))
        process.ready["file"] = str(folder / "ready.json")
        yield process


def parley(*arguments: str, cwd: Path | None = None, **more: str) -> tuple[int, str, str]:
    """(exit code, stdout, stderr) of a command as a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "bridge", *arguments],
        cwd=cwd or ROOT,
        env=environment(**more),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def test_status_as_json_and_the_log_of_a_real_sidecar(sidecar: Process) -> None:
    async def play() -> None:
        async with await ParleyClient.connect(sidecar.endpoint, sidecar.token) as client:
            await client.request(ConfigureSession(game_name=NAME))
            agent = (await client.create_agent(workflow(SPEAKER, model="mock-echo"))).agent_id
            async for _ in client.turn(agent, "my secret"):
                pass
            code, out, err = await asyncio.to_thread(
                parley, "status", "--json", "--endpoint", sidecar.endpoint, PARLEY_TOKEN=sidecar.token
            )
            assert (code, err) == (0, "")
            status = Status.model_validate_json(out)
            assert [row.client for row in status.sessions] == ["python", "parley status"]
            assert (status.pid, status.turns_succeeded) == (sidecar.popen.pid, 1)
            assert [(row.name, row.users) for row in status.models] == [("mock-echo", 1)]
            await client.request(ListAgents())

    run_on_selector_loop(play())
    log = (Path(sidecar.ready["file"]).parent / f"parley-{sidecar.popen.pid}.jsonl").read_text(encoding="utf-8")
    told = [json.loads(line) for line in log.splitlines()]
    assert {"ready", "session_begun", "session_named", "agent_created", "turn_ended", "session_ended"} <= {
        event.get("event") for event in told
    }
    assert "secret" not in log and sidecar.token not in log


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252"])
@pytest.mark.parametrize("command", [["status"], ["top", "--once"]])
def test_status_and_top_print_a_table(sidecar: Process, command: list[str], encoding: str) -> None:
    code, out, err = parley(*command, "--ready-file", sidecar.ready["file"], PYTHONIOENCODING=encoding)
    assert (code, err) == (0, "")
    assert f"pid {sidecar.popen.pid}" in out and f"parley {command[0]}" in out
    assert "\x1b" not in out


def test_the_settings_name_the_sidecar(sidecar: Process, tmp_path: Path) -> None:
    (tmp_path / "parley.toml").write_text(f"ready_file = {json.dumps(sidecar.ready['file'])}\n", encoding="utf-8")
    code, out, _ = parley("status", "--json", cwd=tmp_path)
    assert (code, json.loads(out)["pid"]) == (0, sidecar.popen.pid)


def test_a_wrong_token_is_one_sentence(sidecar: Process) -> None:
    code, out, err = parley("status", "--endpoint", sidecar.endpoint, "--token", "wrong")
    assert (code, out, len(err.splitlines())) == (1, "", 1)
    assert "token" in err and sidecar.endpoint in err


NO_SIDECAR = '{"endpoint": "tcp://127.0.0.1:9", "token": ""}'


@pytest.mark.parametrize("command", ["status", "top"])
@pytest.mark.parametrize(
    ("arguments", "ready", "code", "says"),
    [
        ([], "", 2, "--ready-file"),
        (["--endpoint", "127.0.0.1:5"], "", 2, "no endpoint"),
        (["--endpoint", "tcp://127.0.0.1:99999"], "", 2, "no endpoint"),
        (["--endpoint", "tcp://127.0.0.1:9", "--ready-file", "READY"], "{}", 2, "not both"),
        (["--ready-file", "GONE"], "", 1, "no ready file"),
        (["--ready-file", "READY"], "{}", 1, "not the ready file"),
        (["--ready-file", "READY"], "[" * 100_000, 1, "not the ready file"),
        (["--ready-file", "READY"], NO_SIDECAR, 1, "no sidecar answers"),
    ],
)
def test_what_cannot_be_reached_is_one_sentence(
    command: str,
    arguments: list[str],
    ready: str,
    code: int,
    says: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("bridge.cli_status.PATIENCE_S", 0.2)
    (tmp_path / "READY").write_text(ready)
    result = CliRunner().invoke(app, [command, *arguments])
    assert (result.exit_code, result.stdout, len(result.stderr.splitlines())) == (code, "", 1), result.output
    assert says in result.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="a terminal to press keys in is made with pty here")
@pytest.mark.parametrize("key", [b"q", b"\x03"])
def test_q_and_ctrl_c_leave_top(sidecar: Process, key: bytes) -> None:
    import pty

    near, far = pty.openpty()
    command = [sys.executable, "-m", "bridge", "top", "--interval", "600", "--ready-file", sidecar.ready["file"]]
    with subprocess.Popen(
        command, stdin=far, stdout=far, stderr=subprocess.PIPE, env=environment(TERM="xterm"), start_new_session=True
    ) as popen:
        os.close(far)
        seen = b""
        while b"parley top" not in seen:
            seen += os.read(near, 65_536)
        os.write(near, key)
        try:
            while os.read(near, 65_536):
                pass
        except OSError:  # the other end is closed
            pass
        _, err = popen.communicate(timeout=30)
    os.close(near)
    assert (popen.returncode, err) == (0, b"")
    assert b"\x1b[?1049h" in seen

"""The log: lines for people that always come out, events for programs that always parse, nobody's words in either."""

from __future__ import annotations

import contextlib
import errno
import json
import logging
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.client import ParleyClient
from bridge.config import Settings
from bridge.errors import ParleyError, Unauthorized
from bridge.log import (
    RETRY_S,
    ConsoleLines,
    EventFile,
    EventLines,
    event_of,
    line_of,
    set_up_logging,
    sweep,
)
from bridge.node import Node, TurnView, default_registry
from bridge.protocol import ConfigureSession, DestroyAgent, LoadModel, SendMessage
from bridge.transport import run_on_selector_loop
from tests.sidecar import PATIENCE_S, environment, started
from tests.talk import Talk, run, scripted, talking, workflow
from tests.test_serve import talk

NAME = "Łukasz 龙"
SECRET = "xyzzy"
"""What a player says."""
REPLY = "plugh"
"""What a character says."""
EVERYWHERE = {"time", "level", "logger", "message"}


def record(message: object = "m", *words: object, **fields: Any) -> logging.LogRecord:
    return logging.makeLogRecord({"name": "bridge.x", "levelname": "INFO", "msg": message, "args": words, **fields})


def events(folder: Path) -> list[dict[str, Any]]:
    """Every event of every log file, oldest file first. Fails on a line that does not parse."""
    files = sorted(folder.glob("parley-*.jsonl"), key=lambda path: (path.stat().st_mtime_ns, path.name))
    found = []
    for path in files:
        text = path.read_text(encoding="utf-8")
        assert text.endswith("\n"), path
        found += [json.loads(line) for line in text.splitlines()]
    return found


def event_file(folder: Path, **options: Any) -> EventFile:
    return EventFile(folder, **{"max_bytes": 2**20, "max_files": 3, "keep_days": 14, **options})


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


# ---- one event ----


def test_an_event_has_the_time_in_utc_and_what_was_given_beside() -> None:
    event = event_of(record("turn %d", 3, created=1_700_000_000.25, agent_id="a", turn_id=3, code=None, game_name=""))
    assert event == {
        "time": "2023-11-14T22:13:20.250Z",
        "level": "info",
        "logger": "bridge.x",
        "message": "turn 3",
        "agent_id": "a",
        "turn_id": 3,
    }


def test_what_is_given_beside_does_not_replace_what_every_event_has() -> None:
    event = event_of(record("m", level="loud", logger="other", time="never"))
    assert (event["level"], event["logger"]) == ("info", "bridge.x")
    assert event["time"] != "never"


def test_an_exception_is_one_field_and_does_not_quote() -> None:
    try:
        try:
            raise KeyError(SECRET)
        except KeyError as cause:
            raise ValueError(f"cannot read {SECRET}") from cause
    except ValueError:
        event = event_of(record("it failed", exc_info=sys.exc_info()))
    trace = event["exception"]
    assert all(part in trace for part in ("test_log.py", "ValueError", "KeyError"))
    assert SECRET not in trace


def test_of_a_very_deep_exception_the_end_is_kept() -> None:
    def fall(depth: int) -> None:
        if depth:
            fall_on(depth - 1)
        raise ArithmeticError

    def fall_on(depth: int) -> None:
        fall(depth)

    try:
        fall(300)
    except ArithmeticError:
        event = event_of(record("it failed", exc_info=sys.exc_info()))
    assert event["exception"].endswith("ArithmeticError")
    assert len(event["exception"]) < 20_000


def test_what_the_event_loop_shows_of_tasks_stays_out() -> None:
    event = event_of(record(f"Task exception was never retrieved\nfuture: <Task {SECRET}>", name="asyncio"))
    assert event["message"] == "Task exception was never retrieved"


VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.binary(), st.lists(st.text()), st.just(object())
)


@given(st.text(), VALUES, st.text(alphabet="\ud800\udfff\0\n\r\x85\u2028a"))
def test_every_event_is_one_line_of_json(message: str, value: Any, odd: str) -> None:
    line = line_of(event_of(record(message.replace("%", "") + odd, value=value, odd=odd)))
    assert line.endswith(b"\n") and line.count(b"\n") == 1
    assert set(json.loads(line)) >= EVERYWHERE


def test_long_values_are_cut() -> None:
    line = line_of(event_of(record("m" * 10**6, value="v" * 10**6, number=10**400)))
    assert len(line) < 20_000


# ---- the file ----


def test_files_rotate_and_the_oldest_goes(tmp_path: Path) -> None:
    file = event_file(tmp_path, max_bytes=100, max_files=3, pid=7)
    for number in range(60):
        assert file.write(line_of({"n": number}))
    file.close()
    names = [f"parley-7{part}.jsonl" for part in (".2", ".1", "")]
    assert sorted(os.listdir(tmp_path)) == sorted(names)
    assert all((tmp_path / name).stat().st_size <= 100 for name in names)
    numbers = [json.loads(line)["n"] for name in names for line in (tmp_path / name).read_text().splitlines()]
    assert numbers == list(range(numbers[0], 60))
    assert len(numbers) > 20


def test_one_file_may_be_all(tmp_path: Path) -> None:
    file = event_file(tmp_path, max_bytes=100, max_files=1, pid=7)
    for number in range(60):
        assert file.write(line_of({"n": number}))
    file.close()
    assert os.listdir(tmp_path) == ["parley-7.jsonl"]


def test_a_line_that_is_larger_than_a_file_is_written_alone(tmp_path: Path) -> None:
    file = event_file(tmp_path, max_bytes=10, pid=7)
    assert all(file.write(line_of({"text": letter * 50})) for letter in "ab")
    file.close()
    assert [len(path.read_text().splitlines()) for path in tmp_path.iterdir()] == [1, 1]


def test_the_file_of_a_process_with_the_same_number_is_kept_apart(tmp_path: Path) -> None:
    (tmp_path / "parley-7.jsonl").write_text('{"half of a li', encoding="utf-8")
    file = event_file(tmp_path, pid=7)
    assert file.write(line_of({"n": 1}))
    file.close()
    assert (tmp_path / "parley-7.jsonl").read_bytes() == b'{"n":1}\n'
    assert (tmp_path / "parley-7.1.jsonl").read_text() == '{"half of a li'


@pytest.mark.skipif(sys.platform == "win32", reason="links and modes are of POSIX")
def test_it_is_private_and_follows_no_link(tmp_path: Path) -> None:
    target = tmp_path / "precious"
    target.write_text("mine")
    (tmp_path / "parley-7.jsonl").symlink_to(target)
    file = event_file(tmp_path, pid=7)
    assert file.write(b"{}\n")
    file.close()
    assert target.read_text() == "mine"
    assert (tmp_path / "parley-7.jsonl").stat().st_mode & 0o777 == 0o600


def test_a_folder_that_is_not_there_is_said_once_and_tried_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    clock = Clock()
    file = event_file(tmp_path / "later", clock=clock)
    for _ in range(5):
        assert not file.write(b"{}\n")
        clock.now += RETRY_S + 1
    assert [line.getMessage() for line in caplog.records] == [
        f"the log cannot be written to {tmp_path / 'later'}: {os.strerror(errno.ENOENT)}; "
        "the sidecar goes on without and tries again"
    ]
    (tmp_path / "later").mkdir()
    assert file.write(b"{}\n")
    file.close()


def test_between_two_tries_nothing_is_touched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    file = event_file(tmp_path / "later", clock=clock)
    assert not file.write(b"{}\n")
    (tmp_path / "later").mkdir()
    clock.now = RETRY_S - 0.1
    assert not file.write(b"{}\n")
    assert os.listdir(tmp_path / "later") == []
    clock.now = RETRY_S
    assert file.write(b"{}\n")
    file.close()


def test_a_full_disk_leaves_no_half_line_and_what_is_missing_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    clock, full = Clock(), True
    write = os.write

    def half(descriptor: int, data: Any) -> int:
        if not full:
            return write(descriptor, data)
        if len(data) > 20:
            return write(descriptor, data[:20])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    file = event_file(tmp_path, clock=clock, pid=7)
    lines = EventLines(file)
    assert lines.write(event_of(record("one")), 0) == 0
    monkeypatch.setattr(os, "write", half)
    missing = lines.write(event_of(record("two")), 0)
    missing = lines.write(event_of(record("three")), missing)
    assert missing == 2
    full = False
    clock.now = RETRY_S
    assert lines.write(event_of(record("four")), missing) == 0
    file.close()
    assert [event["message"] for event in events(tmp_path)] == ["one", "2 events are missing here", "four"]
    assert len(caplog.records) == 1 and os.strerror(errno.ENOSPC) in caplog.text


def test_old_files_of_processes_that_are_gone_are_swept(tmp_path: Path) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()

    def put(name: str, days: float) -> str:
        path = tmp_path / name
        path.write_text("{}\n")
        moment = path.stat().st_mtime - days * 86_400
        os.utime(path, (moment, moment))
        return name

    stay = [
        put(f"parley-{gone.pid}.jsonl", 1),
        put(f"parley-{os.getpid()}.jsonl", 0),
        put("parley-x.jsonl", 99),
        put("notes.txt", 99),
        put(f"parley-{gone.pid}.jsonl.bak", 99),
    ]
    put(f"parley-{gone.pid}.1.jsonl", 15)
    # This process began after the last change of that file, so another one with its number wrote it.
    put(f"parley-{os.getpid()}.4.jsonl", 15)
    sweep(tmp_path, 14 * 86_400.0)
    assert sorted(os.listdir(tmp_path)) == sorted(stay)


def test_a_process_that_lives_keeps_its_files(tmp_path: Path) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    for pid in (os.getpid(), gone.pid):
        (tmp_path / f"parley-{pid}.1.jsonl").write_text("{}\n")
    sweep(tmp_path, -1.0)
    assert os.listdir(tmp_path) == [f"parley-{os.getpid()}.1.jsonl"]


def test_very_many_files_are_not_kept_whatever_their_age(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bridge.log.DEAD_FILES", 3)
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    for number in range(9):
        path = tmp_path / f"parley-{gone.pid}.{number}.jsonl"
        path.write_text("{}\n")
        os.utime(path, (path.stat().st_mtime - number,) * 2)
    sweep(tmp_path, 86_400.0)
    assert sorted(os.listdir(tmp_path)) == [f"parley-{gone.pid}.{number}.jsonl" for number in range(3)]


# ---- lines for people ----


def test_a_line_cannot_pretend_to_be_two_or_steer_a_terminal() -> None:
    line = ConsoleLines().prepare(record("a\x1b[31m\n12:00:00 INFO bridge: forged"))
    assert "\x1b" not in line
    assert line.splitlines()[1].startswith("    ")


def test_an_argument_that_cannot_be_shown_fails_nothing() -> None:
    class Odd:
        def __str__(self) -> str:
            raise RuntimeError(SECRET)

    console = ConsoleLines()
    console.emit(record("%s", Odd()))
    console.emit(record("%d", "no number"))
    assert console.mark().wait(PATIENCE_S)


def test_a_thread_that_fails_is_in_the_log_without_what_it_was_about(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fail() -> None:
        raise ValueError(SECRET)

    with restored():
        set_up_logging(Settings())
        logging.getLogger().addHandler(caplog.handler)
        thread = threading.Thread(target=fail, name="odd")
        thread.start()
        thread.join()
    (told,) = caplog.records
    assert told.getMessage() == "the thread odd ended by a fault"
    assert "ValueError" in event_of(told)["exception"] and SECRET not in event_of(told)["exception"]


@contextlib.contextmanager
def restored() -> Iterator[None]:
    """The log of this process as it was, afterwards."""
    root, ours = logging.getLogger(), logging.getLogger("bridge")
    before = root.handlers[:], root.level, ours.level, threading.excepthook
    root.handlers.clear()  # or `basicConfig` would close them
    try:
        yield
    finally:
        root.handlers[:], root.level, ours.level, threading.excepthook = before


# ---- a whole sidecar ----


class Quoting(Node):
    """Fails with the player's words."""

    async def run(self, turn: TurnView) -> str:
        raise ValueError(f"cannot do anything with {turn.user_message}")


@pytest.fixture
def heard(caplog: pytest.LogCaptureFixture) -> Iterator[list[str]]:
    """All that is logged, in both forms, from debug on."""
    console, told = ConsoleLines(), []

    class Both(logging.Handler):
        def emit(self, entry: logging.LogRecord) -> None:
            told.append(line_of(event_of(entry)).decode() + console.prepare(entry))

    logger, handler = logging.getLogger(), Both()
    logger.addHandler(handler)
    with caplog.at_level(logging.DEBUG):
        yield told
    logger.removeHandler(handler)


async def tell_everything(talk: Talk) -> None:
    client = talk.client
    await client.request(ConfigureSession(game_name=NAME))
    speaker = {"name": "mira", "type": "Generate", "system_prompt": "Be kind."}
    agent = await talk.agent(workflow(speaker, model="script"))
    assert (await talk.say(agent, f"{SECRET} one")).text("mira") == REPLY
    with pytest.raises(ParleyError):
        await client.request(SendMessage(agent_id=agent, text=SECRET * 20_000))
    failing = await talk.agent(workflow({"name": "guard", "type": "Quoting"}))
    assert (await talk.say(failing, SECRET)).complete.status == "Error"
    with pytest.raises(ParleyError):
        await client.request(LoadModel(model=f"none-{SECRET}"))
    await client.request(DestroyAgent(agent_id=agent))


def test_nobodys_words_are_in_the_log_at_any_level(heard: list[str]) -> None:
    async def scene() -> None:
        registry: dict[str, type[Node]] = {**default_registry(), "Quoting": Quoting}
        async with talking(scripted(REPLY), registry=registry) as talk:
            await tell_everything(talk)

    run(scene)
    assert [line for line in heard if SECRET in line or REPLY in line] == []
    named = {json.loads(line.splitlines()[0]).get("event") for line in heard}
    assert {"agent_created", "agent_destroyed", "turn_ended", "model_loaded", "session_ended", "session_named"} <= named


def test_the_end_of_a_turn_says_what_it_cost(heard: list[str]) -> None:
    async def scene() -> None:
        async with talking(scripted(REPLY)) as talk:
            agent = await talk.agent(workflow({"name": "mira", "type": "Generate"}, model="script"))
            await talk.say(agent, "Hello.")

    run(scene)
    ended = [event for line in heard if (event := json.loads(line.splitlines()[0])).get("event") == "turn_ended"]
    assert len(ended) == 1
    event = ended[0]
    assert (event["status"], event["steps"], event["tokens_generated"], event["turn_id"]) == ("Success", 1, 1, 1)
    assert event["dropped_turns"] == 0 and event["duration_ms"] > 0
    assert re.fullmatch(r"[0-9a-f]{16}", event["agent_id"]) and event["session_id"]


def test_two_sidecars_share_a_folder_and_a_narrow_console_gets_every_line(tmp_path: Path) -> None:
    narrow = environment(PYTHONIOENCODING="cp1252:strict")
    arguments = ("--log-folder", str(tmp_path))
    with started(*arguments, env=narrow) as one, started(*arguments, env=narrow) as two:
        for process in (one, two):
            talk(process.endpoint, process.token, stop)
        ends = [process.ended() for process in (one, two)]
    assert [code for code, _, _ in ends] == [0, 0]
    assert all("Hello of '\\u0141ukasz \\u9f99'" in err and "Traceback" not in err for _, _, err in ends)
    assert sorted(os.listdir(tmp_path)) == sorted(f"parley-{process.popen.pid}.jsonl" for process in (one, two))
    told = events(tmp_path)
    assert sum(NAME in event["message"] for event in told) == 2
    assert all(set(event) >= EVERYWHERE for event in told)


async def stop(client: ParleyClient) -> None:
    await client.shutdown()


@pytest.mark.parametrize("folder", ["missing", "a-file"])
def test_a_folder_that_cannot_be_used_is_said_in_one_line(folder: str, tmp_path: Path) -> None:
    (tmp_path / "a-file").write_text("")
    with started("--log-folder", str(tmp_path / folder)) as process:
        talk(process.endpoint, process.token, stop)
        code, _, err = process.ended()
    assert code == 0
    said = [line for line in err.splitlines() if "the log cannot be written" in line]
    assert len(said) == 1 and str(tmp_path / folder) in said[0]
    assert "Hello of" in err and "Traceback" not in err


def test_a_console_that_nobody_reads_holds_up_no_file(tmp_path: Path) -> None:
    knocks = 450
    with started("--log-folder", str(tmp_path)) as process:

        async def knock() -> None:
            for _ in range(knocks):
                with pytest.raises(Unauthorized):
                    await ParleyClient.connect(process.endpoint, "wrong", client="x" * 60)

        run_on_selector_loop(knock())
        talk(process.endpoint, process.token, stop)
        # Nobody reads its stderr: it is full by now.
        assert process.popen.wait(PATIENCE_S) == 0
    assert sum("wrong token" in event["message"] for event in events(tmp_path)) == knocks

"""The Unreal plugin's session against real sidecars, and against what sidecars must never do: nothing lost, no hang."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import shutil
import signal
import statistics
import subprocess
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bridge.codec import HEADER
from bridge.config import Settings
from bridge.curve import write_key_file
from bridge.server import Server
from bridge.transport import run_on_selector_loop
from tests import cpp_build, sidecar
from tests.cpp_build import Sanitizer, needs_cpp
from tests.csharp_build import libzmq_files
from tests.fakes import FakeSession
from tests.faults.proxy import FaultyProxy, Schedule, make_schedule
from tests.faults.scenario import MODELS, TOKEN
from tests.faults.scenario import sidecar as whole_sidecar
from tests.real_sidecar import game, serving, until
from tests.talk import scripted
from tests.test_unity_session import (
    BEFORE_THE_SESSION,
    GOODBYE,
    IMPATIENT,
    INNKEEPER,
    LATE_HELLO,
    ONE_CUT,
    ONE_DROPPED,
    QUICK_WRONG,
    SETTINGS,
    WRONG,
    frame,
    free_port,
    impostor,
    talking_back,
    welcome,
    whats_wrong,
)

pytestmark = [needs_cpp, pytest.mark.timeout(600)]

QUICK_RUNS = 3
FULL_RUNS = 60
SANITIZED_RUNS = 12
AT_ONCE = 2
RUN_S = 60.0
STOP_S = 1.0
BURST_MS = 1.0
"""For 200 frames, the best of several times."""


@dataclass(frozen=True)
class Program:
    """The compiled scenarios."""

    exe: Path
    sanitizer: Sanitizer

    def arguments(self, scenario: str, *arguments: str) -> list[str]:
        """What to start it with."""
        return [scenario, f"zmq={libzmq_files()[0]}", *arguments]

    def run(self, scenario: str, *arguments: str, timeout: float = RUN_S) -> Any:
        """Runs one to its end; returns what it reported."""
        done = cpp_build.run_program(self.exe, *self.arguments(scenario, *arguments), timeout=timeout)
        return json.loads(done.stdout.splitlines()[-1])

    @contextlib.contextmanager
    def started(self, scenario: str, *arguments: str) -> Iterator[subprocess.Popen[str]]:
        """Runs one beside the test."""
        with subprocess.Popen(
            [str(self.exe), *self.arguments(scenario, *arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=cpp_build.environment(),
        ) as popen:
            try:
                yield popen
            finally:
                popen.kill()

    async def play(self, scenario: str, *arguments: str, timeout: float = RUN_S) -> Any:
        """As `run`, on an event loop. Raises AssertionError with all that it said."""
        process = await asyncio.create_subprocess_exec(
            str(self.exe),
            *self.arguments(scenario, *arguments),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=cpp_build.environment(),
        )
        try:
            out, err = await asyncio.wait_for(process.communicate(), timeout)
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        assert process.returncode == 0, err.decode()
        return json.loads(out.splitlines()[-1])


@pytest.fixture(
    scope="module",
    params=[
        pytest.param("", id="plain"),
        pytest.param("asan", marks=pytest.mark.thorough),
        pytest.param("tsan", marks=pytest.mark.thorough),
    ],
)
def program(request: pytest.FixtureRequest) -> Program:
    sanitizer: Sanitizer = request.param
    return Program(cpp_build.build("session", sanitizer=sanitizer), sanitizer)


@pytest.fixture(scope="module")
def fake() -> Iterator[sidecar.Process]:
    """A sidecar with fake sessions, for all who leave it alive."""
    with sidecar.started("--no-auth", stderr=subprocess.DEVNULL) as process:
        yield process


@pytest.fixture
def mortal() -> Iterator[sidecar.Process]:
    """One of those that may die."""
    with sidecar.started("--no-auth", stderr=subprocess.DEVNULL) as process:
        yield process


def ended(popen: subprocess.Popen[str], said: str = "") -> Any:
    """What a program reported that was started beside the test."""
    out, err = popen.communicate(said, timeout=RUN_S)
    assert popen.returncode == 0, err
    return json.loads(out.splitlines()[-1])


# ---- requests and frames -------------------------------------------------------------------------------------


def test_requests_are_answered_once_and_in_order(program: Program, fake: sidecar.Process) -> None:
    report = program.run("requests", f"endpoint={fake.endpoint}")
    assert report["seqs"] == list(range(1, report["last_seq"] + 1))
    assert report["states"] == ["Ready", "Closed"]


def test_requests_of_many_threads_are_each_answered_once(program: Program, fake: sidecar.Process) -> None:
    report = program.run("threads", f"endpoint={fake.endpoint}")
    assert report["seqs"] == list(range(1, 801))
    assert report["orphans"] == []


@pytest.mark.thorough
def test_tens_of_thousands_of_frames_come_in_order(program: Program, fake: sidecar.Process) -> None:
    count = 50_000
    report = program.run("many", f"endpoint={fake.endpoint}", f"count={count}")
    assert (report["seqs"], report["last"], report["gaps"]) == (count + 2, count + 2, 0)


@pytest.mark.thorough
def test_a_game_that_looks_away_loses_nothing(program: Program) -> None:
    # Large enough for the sidecar to keep all that the client does not take in.
    settings = Settings(no_auth=True, resume_buffer_bytes=2**28)

    async def main() -> Any:
        server = Server(settings, "", FakeSession)
        endpoint = server.bind()
        running = asyncio.create_task(server.run())
        try:
            # Fifty megabytes of JSON, of which a sanitizer looks at each byte.
            return await program.play("backlog", f"endpoint={endpoint}", "count=5000", "padding=10000", timeout=240.0)
        finally:
            server.request_shutdown()
            await running

    report = run_on_selector_loop(main())
    assert report["states"] == ["Ready"]
    assert 3_000 < report["most"] < 4_500


@pytest.mark.thorough
def test_an_answer_comes_at_once(program: Program, fake: sidecar.Process) -> None:
    report = program.run("latency", f"endpoint={fake.endpoint}")
    assert report["median"] < 10.0
    # A thread that looks again and again in place of waiting would take all of the second.
    assert report["idle_ms"] < 300.0


def test_draining_inside_of_draining_does_nothing(program: Program, fake: sidecar.Process) -> None:
    report = program.run("inside", f"endpoint={fake.endpoint}")
    assert report["seqs"] == [1, 2, 3, 4, 5, 6, 7]


def test_a_frame_of_the_game_in_which_nothing_comes_allocates_nothing(program: Program, fake: sidecar.Process) -> None:
    report = program.run("idle", f"endpoint={fake.endpoint}")
    assert (report["handed"], report["allocations"]) == (0, 0)
    assert report["allocations_of_control"] == 1


def test_two_hundred_frames_are_drained_soon(program: Program, fake: sidecar.Process) -> None:
    report = program.run("burst", f"endpoint={fake.endpoint}")
    print(f"200 frames in {min(report['ms']):.3f} ms, with {min(report['allocations'])} allocations")
    assert min(report["ms"]) < BURST_MS
    # What is read into typed messages is so when the game's thread gets it.
    assert min(report["allocations"]) == 0


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("target", "compiler", "standard"),
    [("session_shared", "g++", 17), ("session", "clang++", 20), ("session", "g++", 20)],
    ids=["a library that shows little", "clang++, C++20", "g++, C++20"],
)
def test_it_is_the_same_however_it_is_built(fake: sidecar.Process, target: str, compiler: str, standard: int) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    program = Program(cpp_build.build(target, compiler=compiler, standard=standard), "")
    assert program.run("requests", f"endpoint={fake.endpoint}")["states"] == ["Ready", "Closed"]
    assert program.run("burst", f"endpoint={fake.endpoint}")["ms"]


# ---- connections that break ----------------------------------------------------------------------------------


def test_nothing_is_lost_or_doubled_when_connections_break(
    program: Program, full: bool, fault_seed: int | None
) -> None:
    runs = QUICK_RUNS if not full else SANITIZED_RUNS if program.sanitizer else FULL_RUNS
    seeds: Sequence[int] = range(runs) if fault_seed is None else [fault_seed]
    wrong: list[str] = []
    struck: Counter[str] = Counter()
    resumed = 0

    async def one_run(endpoint: str, schedule: Schedule) -> tuple[Any, FaultyProxy]:
        async with FaultyProxy(endpoint, schedule) as proxy:
            try:
                report = await program.play("talk", f"endpoint={proxy.endpoint}", f"token={TOKEN}", *IMPATIENT)
            except (AssertionError, asyncio.TimeoutError) as fault:
                report = {"failed": str(fault) or type(fault).__name__}
            return report, proxy

    async def main() -> None:
        async with whole_sidecar(SETTINGS) as serving_here:
            reference, proxy = await one_run(serving_here.endpoint, ())
            assert whats_wrong(reference, reference) == []
            assert reference["states"] == ["Ready", "Closed"]
            sizes = proxy.links[0].bytes
            places = asyncio.Semaphore(AT_ONCE)

            async def judged(seed: int) -> None:
                nonlocal resumed
                async with places:
                    schedule = make_schedule(seed, sizes["up"], sizes["down"])
                    report, proxy = await one_run(serving_here.endpoint, schedule)
                struck.update(fault.kind for fault in proxy.struck)
                resumed += report.get("states", []).count("Back")
                if found := whats_wrong(report, reference):
                    wrong.append("\n  ".join([f"--fault-seed {seed}:", *found, *proxy.log]))

            await asyncio.gather(*map(judged, seeds))

    run_on_selector_loop(main())
    assert not wrong, "\n".join(wrong)
    if fault_seed is None:
        # A schedule that never strikes would prove nothing.
        assert resumed >= (len(seeds) if full else 1)
        assert not full or {"cut", "drop", "stall"} <= set(struck), struck


@pytest.mark.parametrize(
    "schedule",
    [
        pytest.param(ONE_CUT, id="cut", marks=pytest.mark.thorough),
        pytest.param(ONE_DROPPED, id="dropped", marks=pytest.mark.thorough),
        pytest.param(LATE_HELLO, id="late hello"),
        pytest.param(BEFORE_THE_SESSION, id="before the session", marks=pytest.mark.thorough),
    ],
)
def test_one_fault_by_itself_is_healed(program: Program, schedule: Schedule) -> None:
    async def main() -> None:
        async with whole_sidecar(SETTINGS) as here, FaultyProxy(here.endpoint, schedule) as proxy:
            report = await program.play("talk", f"endpoint={proxy.endpoint}", f"token={TOKEN}", *IMPATIENT)
            assert len(proxy.struck) == sum(map(len, schedule)), proxy.log
            assert whats_wrong(report, report) == [], proxy.log

    run_on_selector_loop(main())


def test_a_sidecar_that_stands_still_is_noticed_and_taken_up_again(program: Program, tmp_path: Path) -> None:
    arguments = game(tmp_path, *MODELS, heartbeat_s=0.1, no_auth=True)
    with (
        serving(tmp_path / "log", *arguments) as process,
        program.started("silence", f"endpoint={process.endpoint}", *IMPATIENT) as popen,
    ):
        assert popen.stdout is not None
        assert popen.stdout.readline() == "quiet\n"
        process.popen.send_signal(signal.SIGSTOP)
        try:
            assert popen.stdout.readline() == "lost\n"
        finally:
            process.popen.send_signal(signal.SIGCONT)
        report = ended(popen)
    assert report["states"][:3] == ["Ready", "Lost", "Back"]
    assert any("nothing came for 0.4 s" in line or "not answered" in line for line in report["log"]), report["log"]


@pytest.mark.thorough
def test_a_game_that_stands_still_loses_nothing(program: Program, tmp_path: Path) -> None:
    """As in a debugger: for longer than both sides take for a broken connection."""
    arguments = game(tmp_path, *MODELS, heartbeat_s=0.1, detach_after_s=0.4, no_auth=True)
    with serving(tmp_path / "log", *arguments) as process:
        reference = program.run("talk", f"endpoint={process.endpoint}", *IMPATIENT)
        with program.started("talk", f"endpoint={process.endpoint}", *IMPATIENT, "announce=yes") as popen:
            assert popen.stdout is not None
            assert popen.stdout.readline() == "talking\n"
            popen.send_signal(signal.SIGSTOP)
            try:
                until(lambda: "detached" in (tmp_path / "log").read_text(encoding="utf-8"), RUN_S, "detached")
            finally:
                popen.send_signal(signal.SIGCONT)
            report = ended(popen)
    assert whats_wrong(report, reference) == []


# ---- another life --------------------------------------------------------------------------------------------


@pytest.fixture
def slow(tmp_path: Path) -> Iterator[sidecar.Process]:
    """A sidecar whose innkeeper speaks slowly enough to be left in the middle."""
    models = [scripted(INNKEEPER, INNKEEPER, name="innkeeper", tokens_per_s=30.0)]
    with serving(tmp_path / "log", *game(tmp_path, *models, no_auth=True, heartbeat_s=0.1)) as process:
        yield process


@pytest.mark.thorough
def test_another_object_goes_on_where_one_stopped(program: Program, slow: sidecar.Process) -> None:
    report = program.run("reload", f"endpoint={slow.endpoint}")
    assert report["texts"][0] == INNKEEPER
    assert report["seqs"] == list(range(report["seqs"][0], report["last_seq"] + 1))
    assert report["orphans"] == []


def test_another_object_goes_on_where_one_was_destroyed(program: Program, fake: sidecar.Process) -> None:
    report = program.run("dropped", f"endpoint={fake.endpoint}")
    assert report["took"] < STOP_S
    assert report["seqs"] == list(range(report["left"]["last_seq"] + 1, report["last_seq"] + 1))


@pytest.mark.thorough
def test_another_process_goes_on_where_one_was_killed(program: Program, slow: sidecar.Process) -> None:
    with program.started("leave", f"endpoint={slow.endpoint}") as popen:
        out, err = popen.communicate(timeout=RUN_S)
    assert popen.returncode == -signal.SIGKILL, err
    left = json.loads(out)
    report = program.run(
        "follow",
        f"endpoint={slow.endpoint}",
        f"resume={left['session_key']}",
        f"last_seq={left['last_seq']}",
        f"agent_id={left['agent_id']}",
        f"turn_id={left['turn_id']}",
        f"texts={left['texts'][0]}",
    )
    assert report["texts"][0] == INNKEEPER
    # Every frame behind the last that the killed one handed on, though it may have read more.
    assert report["seqs"] == list(range(left["last_seq"] + 1, report["last_seq"] + 1))


def test_a_session_that_another_takes_up_is_left_to_it(program: Program, fake: sidecar.Process) -> None:
    report = program.run("replaced", f"endpoint={fake.endpoint}")
    assert (report["end"], report["code_name"]) == ("Replaced", "SessionExpired")
    assert "another client" in report["message"]
    assert report["second"]["states"] == ["Ready"]


# ---- sessions that do not begin, or end ----------------------------------------------------------------------


@pytest.mark.thorough
def test_a_wrong_token_is_refused(program: Program) -> None:
    with sidecar.started(stderr=subprocess.DEVNULL) as process:
        report = program.run("ends", f"endpoint={process.endpoint}", "token=wrong")
    assert (report["end"], report["code"], report["code_name"]) == ("Refused", 1001, "Unauthorized")
    assert "token" in report["message"]


def test_a_session_that_nobody_has_is_expired(program: Program, fake: sidecar.Process) -> None:
    report = program.run("ends", f"endpoint={fake.endpoint}", "resume=of-a-sidecar-before-this-one")
    assert (report["end"], report["code"], report["code_name"]) == ("Expired", 1002, "SessionExpired")


def test_no_sidecar_is_told_in_time(program: Program) -> None:
    report = program.run("ends", f"endpoint=tcp://127.0.0.1:{free_port()}", "connect=0.5")
    assert (report["end"], report["code"], report["code_name"]) == ("NotThere", 0, "NotThere")
    assert "within 0.5 s: nobody listens there" in report["message"]


@pytest.mark.parametrize("endpoint", ["127.0.0.1:5600", "tcp://", "tcp://127.0.0.1:port", ""])
def test_an_endpoint_that_is_none_is_told(program: Program, endpoint: str) -> None:
    report = program.run("ends", f"endpoint={endpoint}", "connect=0.5")
    assert report["end"] == "NotThere"
    assert "tcp://127.0.0.1:5600" in report["message"] or f" at {endpoint} within" in report["message"]


@pytest.mark.thorough
def test_a_server_that_does_not_speak_zeromq_is_told(program: Program) -> None:
    with talking_back(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n" + bytes(200)) as endpoint:
        report = program.run("ends", f"endpoint={endpoint}", "connect=0.5", "try=0.25")
    assert (report["end"], report["code_name"]) == ("NotThere", "NotThere")
    assert "is it a sidecar that listens there?" in report["message"]


@pytest.mark.thorough
def test_a_sidecar_that_shuts_down_says_so(program: Program, mortal: sidecar.Process) -> None:
    with program.started("ends", f"endpoint={mortal.endpoint}", "announce=yes", "answers=yes") as popen:
        assert popen.stdout is not None
        assert popen.stdout.readline() == "ready\n"
        mortal.popen.terminate()
        report = ended(popen)
    assert (report["end"], report["code"], report["code_name"]) == ("Shutdown", 2001, "ShuttingDown")


def test_a_sidecar_that_dies_is_waited_for_and_then_given_up(program: Program, mortal: sidecar.Process) -> None:
    arguments = [f"endpoint={mortal.endpoint}", "announce=yes", "answers=yes", "reconnect=0.6"]
    with program.started("ends", *arguments) as popen:
        assert popen.stdout is not None
        assert popen.stdout.readline() == "ready\n"
        mortal.popen.kill()
        report = ended(popen)
    assert (report["end"], report["code_name"]) == ("Lost", "ConnectionLost")
    assert report["states"] == ["Ready", "Lost", "Closed"]
    assert "has not come back within 0.6 s" in report["message"]


@pytest.mark.thorough
def test_encryption(program: Program, tmp_path: Path) -> None:
    keys = write_key_file(tmp_path / "key")
    other = write_key_file(tmp_path / "other")
    with sidecar.started("--curve-key", str(tmp_path / "key"), stderr=subprocess.DEVNULL) as process:
        arguments = [f"endpoint={process.endpoint}", f"token={process.token}"]
        report = program.run("many", *arguments, f"curve={keys.public_key}", "count=100")
        arguments += ["connect=0.5", "try=0.25"]
        wrong_key = program.run("ends", *arguments, f"curve={other.public_key}")
        no_key = program.run("ends", *arguments)
        no_sense = program.run("ends", *arguments, "curve=" + "x" * 39)
    assert report["last"] == 102
    assert wrong_key["end"] == no_key["end"] == "NotThere"
    assert "encrypt" in no_key["message"]
    assert "encrypt" in wrong_key["message"]
    assert (no_sense["code"], no_sense["code_name"]) == (3007, "InvalidValue")
    assert "40 characters" in no_sense["message"]


# ---- libzmq --------------------------------------------------------------------------------------------------


def test_a_library_that_is_not_there_is_told(program: Program, tmp_path: Path) -> None:
    report = program.run("ends", "endpoint=tcp://127.0.0.1:1", f"zmq={tmp_path / 'libzmq.so'}")
    assert (report["code"], report["code_name"]) == (0, "LibraryMissing")
    assert "ThirdParty" in report["message"]
    assert str(tmp_path) in report["message"]


def test_a_library_that_is_another_one_is_told(program: Program) -> None:
    _, *others = libzmq_files()
    sodium = next(path for path in others if "sodium" in path.name)
    report = program.run("ends", "endpoint=tcp://127.0.0.1:1", f"zmq={sodium}")
    assert report["code_name"] == "LibraryMissing"
    assert "it has no zmq_errno" in report["message"]


# ---- stopping ------------------------------------------------------------------------------------------------


def test_stopping_takes_less_than_a_second_in_every_state(program: Program, fake: sidecar.Process) -> None:
    with (
        talking_back(b"") as mute,
        program.started(
            "stops", f"endpoint={fake.endpoint}", f"nobody=tcp://127.0.0.1:{free_port()}", f"mute={mute}"
        ) as popen,
    ):
        assert popen.stdout is not None
        assert popen.stdout.readline() == "stop it\n"
        fake.popen.send_signal(signal.SIGSTOP)
        try:
            took = ended(popen, "stopped\n")
        finally:
            fake.popen.send_signal(signal.SIGCONT)
    assert len(took) == 17
    assert {state: seconds for state, seconds in took.items() if seconds >= STOP_S} == {}


@pytest.mark.thorough
def test_ten_sessions_one_after_the_other_leave_nothing(program: Program, fake: sidecar.Process) -> None:
    report = program.run("cycles", f"endpoint={fake.endpoint}")
    assert len(report["took"]) == 10
    assert max(report["took"]) < STOP_S
    assert (report["threads"] <= 0, report["files"] <= 0) == (True, True), report


# ---- a sidecar that says what none says ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parts", "code_name", "words"),
    [pytest.param(*row, id=name, marks=[] if name in QUICK_WRONG else [pytest.mark.thorough]) for name, *row in WRONG],
)
def test_what_cannot_be_read_ends_the_session_with_the_reason(
    program: Program, parts: list[bytes], code_name: str, words: str
) -> None:
    with impostor(lambda _: [parts, frame(2)]) as endpoint:
        report = program.run("hear", f"endpoint={endpoint}")
    assert (report["end"], report["code_name"]) == ("Malformed", code_name)
    assert words in report["message"], report["message"]
    assert report["heard"] == []


@pytest.mark.thorough
def test_a_part_that_libzmq_refuses_is_a_lost_connection_and_no_endless_one(program: Program) -> None:
    huge = [b"Warning", HEADER.pack(0, 1), bytes(17 * 2**20)]
    with impostor(lambda _: [huge]) as endpoint:
        report = program.run("hear", f"endpoint={endpoint}", "reconnect=1")
    assert (report["end"], report["code_name"]) == ("Lost", "ConnectionLost")
    assert "has not come back within 1 s" in report["message"]


def test_a_part_that_should_not_be_there_is_let_go(program: Program) -> None:
    """Unknown types, unknown fields and doubled numbers are no faults."""
    says = [
        frame(1),
        frame(1),
        frame(2, {"of": "a newer sidecar"}, b"Telepathy"),
        frame(3, {**json.loads(frame(3)[2]), "mood": {"deep": [1, 2]}}),
        frame(2),
        [b"Pong", HEADER.pack(0, 0), b"{}"],
        [b"Ok", HEADER.pack(77, 4), b"{}"],
        [b"ListAgents", HEADER.pack(78, 0), b"{}"],
        frame(7, {"from_seq": 5, "to_seq": 7, "reason": "merged"}, b"Gap"),
        frame(8),
        GOODBYE,
    ]
    with impostor(lambda _: says) as endpoint:
        report = program.run("hear", f"endpoint={endpoint}")
    assert report["heard"] == ["1 AnswerText 1", "3 AnswerText 3", "7 Gap 5-7", "8 AnswerText 8", "8 Goodbye "]
    assert report["orphans"] == ["77 Ok"]
    assert (report["end"], report["states"]) == ("Expired", ["Ready", "Closed"])


def test_a_hole_has_the_session_taken_up_again(program: Program) -> None:
    def says(hello: int) -> list[list[bytes]]:
        return [frame(1), frame(3), frame(4)] if hello == 1 else [frame(2), frame(3), frame(4), GOODBYE]

    hellos: list[dict[str, Any]] = []
    with impostor(says, hellos=hellos) as endpoint:
        report = program.run("hear", f"endpoint={endpoint}")
    assert [(hello.get("resume"), hello.get("last_seq")) for hello in hellos] == [(None, None), ("k", 1)]
    assert report["heard"][:-1] == [f"{seq} AnswerText {seq}" for seq in range(1, 5)]
    assert report["states"] == ["Ready", "Lost", "Back", "Closed"]


@pytest.mark.thorough
def test_a_hole_that_stays_is_told_as_a_gap(program: Program) -> None:
    with impostor(lambda hello: [frame(1), frame(4), GOODBYE]) as endpoint:
        report = program.run("hear", f"endpoint={endpoint}")
    assert report["heard"] == ["1 AnswerText 1", "3 Gap 2-3", "4 AnswerText 4", "4 Goodbye "]
    assert report["states"].count("Lost") == 3


@pytest.mark.parametrize(("count", "padding", "least"), [(2_500, 0, 2_000), (6, 600_000, 2)], ids=["frames", "bytes"])
def test_what_the_game_had_is_acknowledged_soon(program: Program, count: int, padding: int, least: int) -> None:
    """After so many frames or bytes, though no heartbeat is due."""
    acknowledged: list[int] = []

    def says_to_ping(last_seq: int) -> list[list[bytes]]:
        acknowledged.append(last_seq)
        return [GOODBYE] if last_seq >= least else []

    said = [frame(seq, {**json.loads(frame(seq)[2]), "text": "x" * padding}) for seq in range(1, count + 1)]
    with impostor(lambda _: said, says_to_ping) as endpoint:
        report = program.run("hear", f"endpoint={endpoint}", "quiet=yes")
    assert report["end"] == "Expired"
    assert acknowledged == sorted(set(acknowledged))
    assert least <= acknowledged[-1] <= count


def test_a_game_to_which_nothing_comes_says_ping_with_every_heartbeat(program: Program) -> None:
    """Of its session's own length, with the number of the last frame that it had."""
    pings: list[tuple[float, int]] = []

    def says_to_ping(last_seq: int) -> list[list[bytes]]:
        pings.append((time.monotonic(), last_seq))
        return [GOODBYE] if len(pings) == 6 else []

    with impostor(lambda _: [frame(1), frame(2)], says_to_ping, ready=welcome(heartbeat_s=0.1)) as endpoint:
        report = program.run("hear", f"endpoint={endpoint}")
    assert (report["end"], report["states"]) == ("Expired", ["Ready", "Closed"])
    assert [seq for _, seq in pings] == [2] * 6
    between = statistics.median(after - before for (before, _), (after, _) in itertools.pairwise(pings))
    assert 0.08 < between < 0.2, pings


@pytest.mark.thorough
def test_a_heartbeat_that_is_none_is_the_usual_one(program: Program) -> None:
    pings: list[int] = []

    def says(_: int) -> Iterator[list[bytes]]:
        yield frame(1)
        time.sleep(0.4)
        yield GOODBYE

    def says_to_ping(last_seq: int) -> list[list[bytes]]:
        pings.append(last_seq)
        return []

    with impostor(says, says_to_ping, ready=welcome(heartbeat_s=0.0)) as endpoint:
        report = program.run("hear", f"endpoint={endpoint}")
    assert report["heard"] == ["1 AnswerText 1", "1 Goodbye "]
    assert pings == []


@pytest.mark.thorough
def test_a_heartbeat_without_sense_is_not_kept_up(program: Program) -> None:
    times: list[float] = []

    def says_to_ping(_: int) -> list[list[bytes]]:
        times.append(time.monotonic())
        return [GOODBYE] if len(times) == 20 else []

    with impostor(lambda _: [], says_to_ping, ready=welcome(heartbeat_s=1e-12)) as endpoint:
        report = program.run("hear", f"endpoint={endpoint}")
    assert report["end"] == "Expired"
    assert times[19] - times[0] > 0.2


def test_a_number_that_is_the_last_there_is_floods_nobody(program: Program) -> None:
    times: list[float] = []
    last = 2**64 - 1
    gap = [b"Gap", HEADER.pack(0, last), json.dumps({"from_seq": 1, "to_seq": last, "reason": "dropped"}).encode()]

    def says_to_ping(_: int) -> list[list[bytes]]:
        times.append(time.monotonic())
        return [GOODBYE if len(times) == 12 else [b"Pong", HEADER.pack(0, 0), b"{}"]]

    with impostor(lambda _: [gap], says_to_ping, ready=welcome(heartbeat_s=0.05)) as endpoint:
        report = program.run("hear", f"endpoint={endpoint}")
    assert report["end"] == "Expired"
    assert times[11] - times[1] > 0.3


def test_another_protocol_is_refused(program: Program) -> None:
    with impostor(lambda _: [], ready=welcome(protocol=99)) as endpoint:
        report = program.run("hear", f"endpoint={endpoint}")
    assert (report["end"], report["code_name"]) == ("Refused", "ProtocolMismatch")
    assert "protocol 99" in report["message"]

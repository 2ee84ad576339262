"""What the tests of both plugins ask of a session with a real sidecar: nothing lost, no hang, and why it ended."""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
import subprocess
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bridge.config import Settings
from bridge.curve import write_key_file
from bridge.server import Server
from bridge.transport import run_on_selector_loop
from tests import sidecar
from tests.fakes import FakeSession
from tests.faults.proxy import Fault, FaultyProxy, Schedule, make_schedule
from tests.faults.scenario import MODELS, TOKEN
from tests.faults.scenario import sidecar as whole_sidecar
from tests.impostors import free_port, talking_back
from tests.real_sidecar import game, serving, until
from tests.talk import scripted

QUICK_RUNS = 3
FULL_RUNS = 60
AT_ONCE = 2
RUN_S = 60.0
STOP_S = 1.0
SETTINGS = Settings(
    heartbeat_s=0.1, detach_after_s=0.4, resume_window_s=60, max_sessions=5_000, resident_sequences=64, n_threads=1
)
IMPATIENT = ("silence=0.4", "try=0.4", "reconnect=25")
INNKEEPER = "The fire is warm and the ale is fresh, traveller."

ONE_CUT = [[Fault("cut", "down", 9_000)]]
ONE_DROPPED = [[Fault("drop", "down", 10)]]
LATE_HELLO = [[Fault("cut", "down", 9_000)], [Fault("late", "up", 70)]]
"""The Hello of the second connection comes to the sidecar when the third has long taken the session up."""
BEFORE_THE_SESSION = [[Fault("cut", "down", 200)], [Fault("refuse", "up", 10, seconds=0.1)]]
ONE_FAULT = [
    pytest.param(ONE_CUT, id="cut", marks=pytest.mark.thorough),
    pytest.param(ONE_DROPPED, id="dropped", marks=pytest.mark.thorough),
    pytest.param(LATE_HELLO, id="late hello"),
    pytest.param(BEFORE_THE_SESSION, id="before the session", marks=pytest.mark.thorough),
]
NO_ENDPOINTS = ["127.0.0.1:5600", "tcp://", "tcp://127.0.0.1:port", ""]


@dataclass(frozen=True)
class Program:
    """The scenarios as one plugin has them: what starts them, in which environment, and what each of them is told."""

    command: Sequence[str]
    env: Mapping[str, str]
    told: Sequence[str] = ()

    def run(self, scenario: str, *arguments: str, timeout: float = RUN_S) -> Any:
        """Runs one to its end; returns what it reported."""
        done = subprocess.run(
            [*self.command, scenario, *self.told, *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
            env=self.env,
            timeout=timeout,
            check=False,
        )
        assert done.returncode == 0, f"{scenario} ended with {done.returncode}\n{done.stdout}\n{done.stderr}"
        return json.loads(done.stdout.splitlines()[-1])

    @contextlib.contextmanager
    def started(self, scenario: str, *arguments: str) -> Iterator[subprocess.Popen[str]]:
        """Runs one beside the test."""
        with subprocess.Popen(
            [*self.command, scenario, *self.told, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=self.env,
        ) as popen:
            try:
                yield popen
            finally:
                popen.kill()

    async def play(self, scenario: str, *arguments: str, timeout: float = RUN_S) -> Any:
        """As `run`, on an event loop. Raises AssertionError with all that it said."""
        process = await asyncio.create_subprocess_exec(
            *self.command,
            scenario,
            *self.told,
            *arguments,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=self.env,
        )
        try:
            out, err = await asyncio.wait_for(process.communicate(), timeout)
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        assert process.returncode == 0, err.decode()
        return json.loads(out.splitlines()[-1])


def ended(popen: subprocess.Popen[str], said: str = "") -> Any:
    """What a program reported that was started beside the test."""
    out, err = popen.communicate(said, timeout=RUN_S)
    assert popen.returncode == 0, err
    return json.loads(out.splitlines()[-1])


@contextlib.contextmanager
def slow_sidecar(folder: Path) -> Iterator[sidecar.Process]:
    """A sidecar whose innkeeper speaks slowly enough to be left in the middle."""
    models = [scripted(INNKEEPER, INNKEEPER, name="innkeeper", tokens_per_s=30.0)]
    with serving(folder / "log", *game(folder, *models, no_auth=True, heartbeat_s=0.1)) as process:
        yield process


# ---- requests and frames -------------------------------------------------------------------------------------


def check_requests_are_answered_once_and_in_order(program: Program, endpoint: str) -> None:
    report = program.run("requests", f"endpoint={endpoint}")
    assert report["seqs"] == list(range(1, report["last_seq"] + 1))
    assert report["states"] == ["Ready", "Closed"]


def check_tens_of_thousands_of_frames_come_in_order(program: Program, endpoint: str) -> None:
    count = 50_000
    report = program.run("many", f"endpoint={endpoint}", f"count={count}")
    assert (report["seqs"], report["last"], report["gaps"]) == (count + 2, count + 2, 0)


def check_a_game_that_looks_away_loses_nothing(program: Program, timeout: float) -> None:
    # Large enough for the sidecar to keep all that the client does not take in.
    settings = Settings(no_auth=True, resume_buffer_bytes=2**28)

    async def main() -> Any:
        server = Server(settings, "", FakeSession)
        endpoint = server.bind()
        running = asyncio.create_task(server.run())
        try:
            return await program.play("backlog", f"endpoint={endpoint}", "count=5000", "padding=10000", timeout=timeout)
        finally:
            server.request_shutdown()
            await running

    report = run_on_selector_loop(main())
    assert report["states"] == ["Ready"]
    assert 3_000 < report["most"] < 4_500


def check_an_answer_comes_at_once(program: Program, endpoint: str) -> None:
    report = program.run("latency", f"endpoint={endpoint}")
    assert report["median"] < 10.0
    # A thread that looks again and again in place of waiting would take all of the second.
    assert report["idle_ms"] < 300.0


# ---- connections that break ----------------------------------------------------------------------------------


def whats_wrong(report: Any, reference: Any) -> list[str]:
    """What is wrong with a conversation; empty: nothing."""
    if "failed" in report:
        return [report["failed"]]
    wrong = []
    if report["seqs"] != list(range(1, report["last_seq"] + 1)):
        wrong.append(f"numbers: {report['seqs']}")
    if report["turns"] != reference["turns"]:
        wrong.append(f"turns: {report['turns']}")
    if report["gaps"] or report["orphans"]:
        wrong.append(f"{report['gaps']} gaps, orphans {report['orphans']}")
    first, *between, last = report["states"]
    # The conversation may be over before a connection that broke behind its last word is back.
    alternating = (["Lost", "Back"] * len(between))[: len(between)]
    if (first, last) != ("Ready", "Closed") or between != alternating:
        wrong.append(f"states: {report['states']}")
    return wrong


def check_nothing_is_lost_or_doubled_when_connections_break(
    program: Program, runs: int, full: bool, fault_seed: int | None
) -> None:
    """`runs` talks with faults of their own each, or one with those of `fault_seed`."""
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


def check_one_fault_by_itself_is_healed(program: Program, schedule: Schedule) -> None:
    async def main() -> None:
        async with whole_sidecar(SETTINGS) as here, FaultyProxy(here.endpoint, schedule) as proxy:
            report = await program.play("talk", f"endpoint={proxy.endpoint}", f"token={TOKEN}", *IMPATIENT)
            assert len(proxy.struck) == sum(map(len, schedule)), proxy.log
            assert whats_wrong(report, report) == [], proxy.log

    run_on_selector_loop(main())


def check_a_sidecar_that_stands_still_is_noticed_and_taken_up_again(program: Program, folder: Path) -> None:
    arguments = game(folder, *MODELS, heartbeat_s=0.1, no_auth=True)
    with (
        serving(folder / "log", *arguments) as process,
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


def check_a_game_that_stands_still_loses_nothing(program: Program, folder: Path) -> None:
    """As in a debugger: for longer than both sides take for a broken connection."""
    arguments = game(folder, *MODELS, heartbeat_s=0.1, detach_after_s=0.4, no_auth=True)
    with serving(folder / "log", *arguments) as process:
        reference = program.run("talk", f"endpoint={process.endpoint}", *IMPATIENT)
        with program.started("talk", f"endpoint={process.endpoint}", *IMPATIENT, "announce=yes") as popen:
            assert popen.stdout is not None
            assert popen.stdout.readline() == "talking\n"
            popen.send_signal(signal.SIGSTOP)
            try:
                until(lambda: "detached" in (folder / "log").read_text(encoding="utf-8"), RUN_S, "detached")
            finally:
                popen.send_signal(signal.SIGCONT)
            report = ended(popen)
    assert whats_wrong(report, reference) == []


# ---- another life --------------------------------------------------------------------------------------------


def check_another_object_goes_on_where_one_stopped(program: Program, slow: str) -> None:
    """`slow`: the endpoint of a `slow_sidecar`."""
    report = program.run("reload", f"endpoint={slow}")
    assert report["texts"][0] == INNKEEPER
    assert report["seqs"] == list(range(report["seqs"][0], report["last_seq"] + 1))
    assert report["orphans"] == []


def check_another_goes_on_where_one_was_left_behind(program: Program, scenario: str, endpoint: str) -> None:
    report = program.run(scenario, f"endpoint={endpoint}")
    assert report["took"] < STOP_S
    assert report["seqs"] == list(range(report["left"]["last_seq"] + 1, report["last_seq"] + 1))


def check_another_process_goes_on_where_one_was_killed(program: Program, slow: str) -> None:
    """`slow`: the endpoint of a `slow_sidecar`."""
    with program.started("leave", f"endpoint={slow}") as popen:
        out, err = popen.communicate(timeout=RUN_S)
    assert popen.returncode == -signal.SIGKILL, err
    left = json.loads(out)
    report = program.run(
        "follow",
        f"endpoint={slow}",
        f"resume={left['session_key']}",
        f"last_seq={left['last_seq']}",
        f"agent_id={left['agent_id']}",
        f"turn_id={left['turn_id']}",
        f"texts={left['texts'][0]}",
    )
    assert report["texts"][0] == INNKEEPER
    # Every frame behind the last that the killed one handed on, though it may have read more.
    assert report["seqs"] == list(range(left["last_seq"] + 1, report["last_seq"] + 1))


def check_a_session_that_another_takes_up_is_left_to_it(program: Program, endpoint: str) -> None:
    report = program.run("replaced", f"endpoint={endpoint}")
    assert (report["end"], report["code_name"]) == ("Replaced", "SessionExpired")
    assert "another client" in report["message"]
    assert report["second"]["states"] == ["Ready"]


# ---- sessions that do not begin, or end ----------------------------------------------------------------------


def check_a_wrong_token_is_refused(program: Program) -> None:
    with sidecar.started(stderr=subprocess.DEVNULL) as process:
        report = program.run("ends", f"endpoint={process.endpoint}", "token=wrong")
    assert (report["end"], report["code"], report["code_name"]) == ("Refused", 1001, "Unauthorized")
    assert "token" in report["message"]


def check_a_session_that_nobody_has_is_expired(program: Program, endpoint: str) -> None:
    report = program.run("ends", f"endpoint={endpoint}", "resume=of-a-sidecar-before-this-one")
    assert (report["end"], report["code"], report["code_name"]) == ("Expired", 1002, "SessionExpired")


def check_no_sidecar_is_told_in_time(program: Program) -> None:
    report = program.run("ends", f"endpoint=tcp://127.0.0.1:{free_port()}", "connect=0.5")
    assert (report["end"], report["code"], report["code_name"]) == ("NotThere", 0, "NotThere")
    assert "within 0.5 s: nobody listens there" in report["message"]


def check_an_endpoint_that_is_none_is_told(program: Program, endpoint: str) -> None:
    report = program.run("ends", f"endpoint={endpoint}", "connect=0.5")
    assert report["end"] == "NotThere"
    assert "tcp://127.0.0.1:5600" in report["message"] or f" at {endpoint} within" in report["message"]


def check_a_server_that_does_not_speak_zeromq_is_told(program: Program) -> None:
    with talking_back(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n" + bytes(200)) as endpoint:
        report = program.run("ends", f"endpoint={endpoint}", "connect=0.5", "try=0.25")
    assert (report["end"], report["code_name"]) == ("NotThere", "NotThere")
    assert "is it a sidecar that listens there?" in report["message"]


def check_a_sidecar_that_shuts_down_says_so(program: Program, mortal: sidecar.Process) -> None:
    with program.started("ends", f"endpoint={mortal.endpoint}", "announce=yes", "answers=yes") as popen:
        assert popen.stdout is not None
        assert popen.stdout.readline() == "ready\n"
        mortal.popen.terminate()
        report = ended(popen)
    assert (report["end"], report["code"], report["code_name"]) == ("Shutdown", 2001, "ShuttingDown")


def check_a_sidecar_that_dies_is_waited_for_and_then_given_up(program: Program, mortal: sidecar.Process) -> None:
    arguments = [f"endpoint={mortal.endpoint}", "announce=yes", "answers=yes", "reconnect=0.6"]
    with program.started("ends", *arguments) as popen:
        assert popen.stdout is not None
        assert popen.stdout.readline() == "ready\n"
        mortal.popen.kill()
        report = ended(popen)
    assert (report["end"], report["code_name"]) == ("Lost", "ConnectionLost")
    assert report["states"] == ["Ready", "Lost", "Closed"]
    assert "has not come back within 0.6 s" in report["message"]


def check_encryption(program: Program, folder: Path) -> None:
    keys = write_key_file(folder / "key")
    other = write_key_file(folder / "other")
    with sidecar.started("--curve-key", str(folder / "key"), stderr=subprocess.DEVNULL) as process:
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


# ---- stopping ------------------------------------------------------------------------------------------------


def check_stopping_takes_less_than_a_second_in_every_state(program: Program, fake: sidecar.Process) -> None:
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


def check_ten_sessions_one_after_the_other_leave_nothing(program: Program, endpoint: str) -> None:
    report = program.run("cycles", f"endpoint={endpoint}")
    assert len(report["took"]) == 10
    assert max(report["took"]) < STOP_S
    assert (report["threads"] <= 0, report["files"] <= 0) == (True, True), report

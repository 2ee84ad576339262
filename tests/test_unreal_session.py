"""The Unreal plugin's session against real sidecars, and against what sidecars must never do: nothing lost, no hang."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from bridge.codec import HEADER
from tests import cpp_build, impostor_cases, session_cases, sidecar
from tests.cpp_build import Sanitizer, needs_cpp
from tests.csharp_build import libzmq_files
from tests.faults.proxy import Schedule
from tests.impostor_cases import GOODBYE
from tests.impostors import impostor, session_ready
from tests.session_cases import Program

pytestmark = [needs_cpp, pytest.mark.timeout(600)]

SANITIZED_RUNS = 12
BURST_MS = 1.0
"""For 200 frames, the best of several times."""


@pytest.fixture(
    scope="module",
    params=[
        pytest.param("", id="plain"),
        pytest.param("asan", marks=pytest.mark.thorough),
        pytest.param("tsan", marks=pytest.mark.thorough),
    ],
)
def sanitizer(request: pytest.FixtureRequest) -> Sanitizer:
    found: Sanitizer = request.param
    return found


@pytest.fixture(scope="module")
def program(sanitizer: Sanitizer) -> Program:
    return made(cpp_build.build("session", sanitizer=sanitizer))


def made(exe: Path) -> Program:
    return Program([str(exe)], cpp_build.environment(), [f"zmq={libzmq_files()[0]}"])


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


# ---- requests and frames -------------------------------------------------------------------------------------


def test_requests_are_answered_once_and_in_order(program: Program, fake: sidecar.Process) -> None:
    session_cases.check_requests_are_answered_once_and_in_order(program, fake.endpoint)


def test_requests_of_many_threads_are_each_answered_once(program: Program, fake: sidecar.Process) -> None:
    report = program.run("threads", f"endpoint={fake.endpoint}")
    assert report["seqs"] == list(range(1, 801))
    assert report["orphans"] == []


@pytest.mark.thorough
def test_tens_of_thousands_of_frames_come_in_order(program: Program, fake: sidecar.Process) -> None:
    session_cases.check_tens_of_thousands_of_frames_come_in_order(program, fake.endpoint)


@pytest.mark.thorough
def test_a_game_that_looks_away_loses_nothing(program: Program) -> None:
    # Fifty megabytes of JSON, of which a sanitizer looks at each byte.
    session_cases.check_a_game_that_looks_away_loses_nothing(program, timeout=240.0)


@pytest.mark.thorough
def test_an_answer_comes_at_once(program: Program, fake: sidecar.Process) -> None:
    session_cases.check_an_answer_comes_at_once(program, fake.endpoint)


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
    program = made(cpp_build.build(target, compiler=compiler, standard=standard))
    assert program.run("requests", f"endpoint={fake.endpoint}")["states"] == ["Ready", "Closed"]
    assert program.run("burst", f"endpoint={fake.endpoint}")["ms"]


# ---- connections that break ----------------------------------------------------------------------------------


def test_nothing_is_lost_or_doubled_when_connections_break(
    program: Program, sanitizer: Sanitizer, full: bool, fault_seed: int | None
) -> None:
    runs = session_cases.QUICK_RUNS if not full else SANITIZED_RUNS if sanitizer else session_cases.FULL_RUNS
    session_cases.check_nothing_is_lost_or_doubled_when_connections_break(program, runs, full, fault_seed)


@pytest.mark.parametrize("schedule", session_cases.ONE_FAULT)
def test_one_fault_by_itself_is_healed(program: Program, schedule: Schedule) -> None:
    session_cases.check_one_fault_by_itself_is_healed(program, schedule)


@pytest.mark.thorough
def test_a_sidecar_that_stands_still_is_noticed_and_taken_up_again(program: Program, tmp_path: Path) -> None:
    session_cases.check_a_sidecar_that_stands_still_is_noticed_and_taken_up_again(program, tmp_path)


@pytest.mark.thorough
def test_a_game_that_stands_still_loses_nothing(program: Program, tmp_path: Path) -> None:
    session_cases.check_a_game_that_stands_still_loses_nothing(program, tmp_path)


# ---- another life --------------------------------------------------------------------------------------------


@pytest.fixture
def slow(tmp_path: Path) -> Iterator[sidecar.Process]:
    """A sidecar whose innkeeper speaks slowly enough to be left in the middle."""
    with session_cases.slow_sidecar(tmp_path) as process:
        yield process


@pytest.mark.thorough
def test_another_object_goes_on_where_one_stopped(program: Program, slow: sidecar.Process) -> None:
    session_cases.check_another_object_goes_on_where_one_stopped(program, slow.endpoint)


def test_another_object_goes_on_where_one_was_destroyed(program: Program, fake: sidecar.Process) -> None:
    session_cases.check_another_goes_on_where_one_was_left_behind(program, "dropped", fake.endpoint)


@pytest.mark.thorough
def test_another_process_goes_on_where_one_was_killed(program: Program, slow: sidecar.Process) -> None:
    session_cases.check_another_process_goes_on_where_one_was_killed(program, slow.endpoint)


def test_a_session_that_another_takes_up_is_left_to_it(program: Program, fake: sidecar.Process) -> None:
    session_cases.check_a_session_that_another_takes_up_is_left_to_it(program, fake.endpoint)


# ---- sessions that do not begin, or end ----------------------------------------------------------------------


@pytest.mark.thorough
def test_a_wrong_token_is_refused(program: Program) -> None:
    session_cases.check_a_wrong_token_is_refused(program)


def test_a_session_that_nobody_has_is_expired(program: Program, fake: sidecar.Process) -> None:
    session_cases.check_a_session_that_nobody_has_is_expired(program, fake.endpoint)


def test_no_sidecar_is_told_in_time(program: Program) -> None:
    session_cases.check_no_sidecar_is_told_in_time(program)


@pytest.mark.parametrize("endpoint", session_cases.NO_ENDPOINTS)
def test_an_endpoint_that_is_none_is_told(program: Program, endpoint: str) -> None:
    session_cases.check_an_endpoint_that_is_none_is_told(program, endpoint)


@pytest.mark.thorough
def test_a_server_that_does_not_speak_zeromq_is_told(program: Program) -> None:
    session_cases.check_a_server_that_does_not_speak_zeromq_is_told(program)


@pytest.mark.thorough
def test_a_sidecar_that_shuts_down_says_so(program: Program, mortal: sidecar.Process) -> None:
    session_cases.check_a_sidecar_that_shuts_down_says_so(program, mortal)


def test_a_sidecar_that_dies_is_waited_for_and_then_given_up(program: Program, mortal: sidecar.Process) -> None:
    session_cases.check_a_sidecar_that_dies_is_waited_for_and_then_given_up(program, mortal)


@pytest.mark.thorough
def test_encryption(program: Program, tmp_path: Path) -> None:
    session_cases.check_encryption(program, tmp_path)


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
    session_cases.check_stopping_takes_less_than_a_second_in_every_state(program, fake)


@pytest.mark.thorough
def test_ten_sessions_one_after_the_other_leave_nothing(program: Program, fake: sidecar.Process) -> None:
    session_cases.check_ten_sessions_one_after_the_other_leave_nothing(program, fake.endpoint)


# ---- a sidecar that says what none says ----------------------------------------------------------------------


@pytest.mark.parametrize(("parts", "code_name", "words"), impostor_cases.WRONG)
def test_what_cannot_be_read_ends_the_session_with_the_reason(
    program: Program, parts: list[bytes], code_name: str, words: str
) -> None:
    impostor_cases.check_what_cannot_be_read_ends_the_session_with_the_reason(program, parts, code_name, words)


@pytest.mark.thorough
def test_a_part_that_libzmq_refuses_is_a_lost_connection_and_no_endless_one(program: Program) -> None:
    impostor_cases.check_a_part_that_libzmq_refuses_is_a_lost_connection_and_no_endless_one(program)


def test_a_part_that_should_not_be_there_is_let_go(program: Program) -> None:
    impostor_cases.check_a_part_that_should_not_be_there_is_let_go(program)


def test_a_hole_has_the_session_taken_up_again(program: Program) -> None:
    impostor_cases.check_a_hole_has_the_session_taken_up_again(program)


@pytest.mark.thorough
def test_a_hole_that_stays_is_told_as_a_gap(program: Program) -> None:
    impostor_cases.check_a_hole_that_stays_is_told_as_a_gap(program)


@pytest.mark.parametrize(("count", "padding", "least"), impostor_cases.HAD)
def test_what_the_game_had_is_acknowledged_soon(program: Program, count: int, padding: int, least: int) -> None:
    impostor_cases.check_what_the_game_had_is_acknowledged_soon(program, count, padding, least)


def test_a_game_to_which_nothing_comes_says_ping_with_every_heartbeat(program: Program) -> None:
    impostor_cases.check_a_game_to_which_nothing_comes_says_ping_with_every_heartbeat(program)


@pytest.mark.thorough
def test_a_heartbeat_that_is_none_is_the_usual_one(program: Program) -> None:
    impostor_cases.check_a_heartbeat_that_is_none_is_the_usual_one(program)


@pytest.mark.thorough
def test_a_heartbeat_without_sense_is_not_kept_up(program: Program) -> None:
    impostor_cases.check_a_heartbeat_without_sense_is_not_kept_up(program)


def test_a_number_that_is_the_last_there_is_floods_nobody(program: Program) -> None:
    times: list[float] = []
    last = 2**64 - 1
    gap = [b"Gap", HEADER.pack(0, last), json.dumps({"from_seq": 1, "to_seq": last, "reason": "dropped"}).encode()]

    def says_to_ping(_: int) -> list[list[bytes]]:
        times.append(time.monotonic())
        return [GOODBYE if len(times) == 12 else [b"Pong", HEADER.pack(0, 0), b"{}"]]

    with impostor(lambda _: [gap], says_to_ping, ready=session_ready(heartbeat_s=0.05)) as endpoint:
        report = program.run("hear", f"endpoint={endpoint}")
    assert report["end"] == "Expired"
    assert times[11] - times[1] > 0.3


def test_another_protocol_is_refused(program: Program) -> None:
    impostor_cases.check_another_protocol_is_refused(program)

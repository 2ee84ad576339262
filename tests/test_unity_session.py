"""The Unity package's session against real sidecars, and against what sidecars must never do: nothing lost, no hang."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import csharp_build, impostor_cases, session_cases, sidecar
from tests.csharp_build import needs_mono
from tests.faults.proxy import Schedule
from tests.session_cases import Program

pytestmark = [needs_mono, pytest.mark.timeout(600)]

BURST_MS = 3.0
"""For 200 frames, the best of several times."""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    folder = tmp_path_factory.mktemp("session")
    core = csharp_build.core_library()
    exe = csharp_build.compile_csharp([csharp_build.CSHARP / "session"], folder / "session.exe", references=[core])
    env = sidecar.environment(**csharp_build.libzmq_environment(folder))
    return Program(["mono", "--debug", str(exe)], env)


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


@pytest.mark.thorough
def test_tens_of_thousands_of_frames_come_in_order(program: Program, fake: sidecar.Process) -> None:
    session_cases.check_tens_of_thousands_of_frames_come_in_order(program, fake.endpoint)


@pytest.mark.thorough
def test_a_language_with_other_numbers_and_letters_changes_nothing(program: Program, fake: sidecar.Process) -> None:
    for culture in ("tr-TR", "de-DE", "ar-SA"):
        report = program.run("requests", f"endpoint={fake.endpoint}", f"culture={culture}")
        assert report["states"] == ["Ready", "Closed"]


@pytest.mark.thorough
def test_a_game_that_looks_away_loses_nothing(program: Program) -> None:
    session_cases.check_a_game_that_looks_away_loses_nothing(program, timeout=60.0)


def test_an_answer_comes_at_once(program: Program, fake: sidecar.Process) -> None:
    session_cases.check_an_answer_comes_at_once(program, fake.endpoint)


def test_a_receiver_that_throws_loses_nothing(program: Program, fake: sidecar.Process) -> None:
    report = program.run("throwing", f"endpoint={fake.endpoint}")
    assert report["seqs"] == [1, 2, 3, 4, 5, 6, 7]


def test_a_frame_of_the_game_in_which_nothing_comes_allocates_nothing(program: Program, fake: sidecar.Process) -> None:
    report = program.run("idle", f"endpoint={fake.endpoint}")
    assert (report["handed"], report["collections"]) == (0, 0)
    assert report["collections_of_control"] > 0


def test_two_hundred_frames_are_drained_soon(program: Program, fake: sidecar.Process) -> None:
    report = program.run("burst", f"endpoint={fake.endpoint}")
    assert min(report["ms"]) < BURST_MS


# ---- connections that break ----------------------------------------------------------------------------------


def test_nothing_is_lost_or_doubled_when_connections_break(
    program: Program, full: bool, fault_seed: int | None
) -> None:
    runs = session_cases.FULL_RUNS if full else session_cases.QUICK_RUNS
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


def test_another_domain_goes_on_where_one_was_unloaded(program: Program, fake: sidecar.Process) -> None:
    session_cases.check_another_goes_on_where_one_was_left_behind(program, "domains", fake.endpoint)


@pytest.mark.thorough
def test_another_process_goes_on_where_one_was_killed(program: Program, slow: sidecar.Process) -> None:
    session_cases.check_another_process_goes_on_where_one_was_killed(program, slow.endpoint)


def test_a_session_that_another_takes_up_is_left_to_it(program: Program, fake: sidecar.Process) -> None:
    session_cases.check_a_session_that_another_takes_up_is_left_to_it(program, fake.endpoint)


# ---- sessions that do not begin, or end ----------------------------------------------------------------------


def test_a_wrong_token_is_refused(program: Program) -> None:
    session_cases.check_a_wrong_token_is_refused(program)


def test_a_session_that_nobody_has_is_expired(program: Program, fake: sidecar.Process) -> None:
    session_cases.check_a_session_that_nobody_has_is_expired(program, fake.endpoint)


def test_no_sidecar_is_told_in_time(program: Program) -> None:
    session_cases.check_no_sidecar_is_told_in_time(program)


@pytest.mark.parametrize("endpoint", session_cases.NO_ENDPOINTS)
def test_an_endpoint_that_is_none_is_told(program: Program, endpoint: str) -> None:
    session_cases.check_an_endpoint_that_is_none_is_told(program, endpoint)


def test_a_server_that_does_not_speak_zeromq_is_told(program: Program) -> None:
    session_cases.check_a_server_that_does_not_speak_zeromq_is_told(program)


def test_a_sidecar_that_shuts_down_says_so(program: Program, mortal: sidecar.Process) -> None:
    session_cases.check_a_sidecar_that_shuts_down_says_so(program, mortal)


def test_a_sidecar_that_dies_is_waited_for_and_then_given_up(program: Program, mortal: sidecar.Process) -> None:
    session_cases.check_a_sidecar_that_dies_is_waited_for_and_then_given_up(program, mortal)


def test_encryption(program: Program, tmp_path: Path) -> None:
    session_cases.check_encryption(program, tmp_path)


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


def test_a_hole_that_stays_is_told_as_a_gap(program: Program) -> None:
    impostor_cases.check_a_hole_that_stays_is_told_as_a_gap(program)


@pytest.mark.parametrize(("count", "padding", "least"), impostor_cases.HAD)
def test_what_the_game_had_is_acknowledged_soon(program: Program, count: int, padding: int, least: int) -> None:
    impostor_cases.check_what_the_game_had_is_acknowledged_soon(program, count, padding, least)


def test_a_game_to_which_nothing_comes_says_ping_with_every_heartbeat(program: Program) -> None:
    impostor_cases.check_a_game_to_which_nothing_comes_says_ping_with_every_heartbeat(program)


def test_a_heartbeat_that_is_none_is_the_usual_one(program: Program) -> None:
    impostor_cases.check_a_heartbeat_that_is_none_is_the_usual_one(program)


def test_a_heartbeat_without_sense_is_not_kept_up(program: Program) -> None:
    impostor_cases.check_a_heartbeat_without_sense_is_not_kept_up(program)


def test_another_protocol_is_refused(program: Program) -> None:
    impostor_cases.check_another_protocol_is_refused(program)

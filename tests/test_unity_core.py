"""The heart of the Unity package and the real sidecars that it starts: they talk, die, come back and leave nothing."""

from __future__ import annotations

import ctypes.util
import os
import statistics
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests import core_cases, process_cases
from tests.core_program import FRAME_MS, UNDER_LOAD, Program, script
from tests.csharp_build import CSHARP, compile_csharp, core_library, libzmq_environment, needs_mono
from tests.process_cases import hopeless
from tests.real_sidecar import until
from tests.talk import scripted

pytestmark = [needs_mono, pytest.mark.timeout(180)]

UNLOAD_MS = 2000.0


def ways(*thorough: bool) -> list[Any]:
    """The two ways to start a program: by system calls, which is the only one that IL2CPP has, or not."""
    names = {False: "process class", True: "system calls"}
    return [
        pytest.param(native, id=name, marks=[pytest.mark.thorough] if native in thorough else [])
        for native, name in names.items()
    ]


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_csharp([CSHARP / "core"], tmp_path_factory.mktemp("core") / "core.exe", references=[core_library()])


@pytest.fixture
def program(compiled: Path, tmp_path: Path) -> Program:
    return Program(started(compiled), {**os.environ, **libzmq_environment(compiled.parent / "native")}, tmp_path)


def started(exe: Path) -> list[str]:
    return ["mono", "--debug", str(exe)]


# ---- a sidecar that lives ------------------------------------------------------------------------------------


def test_the_tavern_answers_with_several_speakers_in_one_turn(program: Program) -> None:
    core_cases.check_the_tavern_answers_with_several_speakers_in_one_turn(program)


@pytest.mark.live
@pytest.mark.thorough
def test_the_tavern_with_the_starter_model(program: Program, starter_model: Path, starter_embed: Path) -> None:
    core_cases.check_the_tavern_with_the_starter_model(program)


def test_cancel_and_a_line_that_waits(program: Program) -> None:
    program.run("cancel")


@pytest.mark.thorough
def test_tool_calls_are_answered_within_the_turn(program: Program) -> None:
    program.run("tools")


@pytest.mark.thorough
def test_variables_parameters_and_dialogs(program: Program) -> None:
    program.run("changes")


def test_await_goes_on_on_the_games_thread(program: Program) -> None:
    program.run("async")


# ---- a sidecar that dies -------------------------------------------------------------------------------------


@pytest.mark.parametrize("native", ways(False))
def test_a_killed_sidecar_is_replaced_and_nothing_is_forgotten(program: Program, native: bool) -> None:
    found = program.run("killed", native=native)
    assert found["longest_update_ms"] < FRAME_MS


@pytest.mark.thorough
def test_requests_wait_for_the_next_sidecar(program: Program) -> None:
    program.run("idle")


@pytest.mark.thorough
def test_a_sidecar_that_cannot_live_is_given_up_in_words_until_it_is_asked_for(program: Program) -> None:
    program.run("given_up")


@pytest.mark.thorough
def test_handlers_may_end_it_all_and_begin_it_again(program: Program) -> None:
    program.run("handlers")


@pytest.mark.thorough
def test_a_sidecar_that_is_killed_while_it_starts_is_replaced(program: Program) -> None:
    program.run("while_starting")


@pytest.mark.thorough
@pytest.mark.timeout(400)
def test_a_sidecar_that_is_killed_at_any_moment(program: Program) -> None:
    for seed in range(8):
        program.run("anytime", seed=seed, kills=5)


def test_a_program_that_is_not_there_is_named(program: Program) -> None:
    process_cases.check_a_program_that_is_not_there_is_named(program)


def test_an_empty_program_is_named(program: Program) -> None:
    process_cases.check_an_empty_program_is_named(program)


def test_a_program_without_permission_is_named(program: Program) -> None:
    process_cases.check_a_program_without_permission_is_named(program)


@pytest.mark.parametrize("native", ways())
def test_a_program_that_is_none_is_named(program: Program, native: bool) -> None:
    found = hopeless(program, script(program.folder / "parley", "\0\1\2 this is no program"), native=native)
    assert found["restarts"] == 0
    assert "not a program for this machine" in found["trouble"] or "could not be started" in found["trouble"]


def test_settings_that_are_wrong_are_told_with_the_sidecars_own_words(program: Program) -> None:
    process_cases.check_settings_that_are_wrong_are_told_with_the_sidecars_own_words(program)


@pytest.mark.parametrize("native", ways())
def test_a_missing_instruction_is_not_tried_again(program: Program, native: bool) -> None:
    process_cases.check_a_missing_instruction_is_not_tried_again(program, native=native)


@pytest.mark.thorough
def test_a_taken_port_is_tried_a_few_times_with_longer_and_longer_pauses(program: Program) -> None:
    process_cases.check_a_taken_port_is_tried_a_few_times_with_longer_and_longer_pauses(program)


@pytest.mark.thorough
def test_a_program_that_never_gets_ready_is_killed(program: Program) -> None:
    process_cases.check_a_program_that_never_gets_ready_is_killed(program)


# ---- a connection that breaks --------------------------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.timeout(400)
def test_a_cut_connection_loses_nothing_and_doubles_nothing(program: Program, tmp_path: Path) -> None:
    core_cases.check_a_cut_connection_loses_nothing_and_doubles_nothing(program, tmp_path)


@pytest.mark.thorough
def test_another_sidecar_in_the_place_of_the_first_gets_the_agents(program: Program, tmp_path: Path) -> None:
    core_cases.check_another_sidecar_in_the_place_of_the_first_gets_the_agents(program, tmp_path)


# ---- a scripting domain that is thrown away ------------------------------------------------------------------


@pytest.mark.thorough
def test_a_reload_in_the_middle_of_a_turn_loses_nothing(program: Program) -> None:
    program.run("reload")


@pytest.mark.thorough
def test_a_sidecar_that_dies_during_a_reload_is_replaced(program: Program) -> None:
    program.run("reload_dead")


@pytest.mark.thorough
def test_a_reload_beyond_the_resume_window_makes_the_agents_anew(program: Program) -> None:
    settings = program.settings(heartbeat_s=0.2, detach_after_s=1.0, resume_window_s=0.2)
    program.run("reload_expired", settings, reload_ms=4000)


@pytest.mark.thorough
def test_domains_are_unloaded_while_a_turn_runs(program: Program) -> None:
    found = program.run("domains")
    print(f"unload: {found['unloads_ms']} ms")
    assert statistics.median(found["unloads_ms"]) < UNLOAD_MS
    assert max(found["unloads_ms"]) < UNLOAD_MS * UNDER_LOAD


@pytest.mark.thorough
def test_a_domain_that_is_thrown_away_without_a_word(program: Program) -> None:
    found = program.run("unasked")
    assert found["unload_ms"] < UNLOAD_MS
    # Its owner is the whole process, not the domain.
    until(lambda: not psutil.pid_exists(found["pid"]), 10, "the forgotten sidecar is gone with the game")


@pytest.mark.thorough
def test_a_reload_of_a_game_whose_sidecar_encrypts(program: Program) -> None:
    core_cases.check_a_restart_of_a_game_whose_sidecar_encrypts(program)


@pytest.mark.thorough
def test_a_reload_right_after_a_reload_loses_nothing(program: Program) -> None:
    program.run("reload_twice")


@pytest.mark.thorough
def test_what_is_asked_before_a_reload_is_over_is_done(program: Program) -> None:
    program.run("reload_asking")


@pytest.mark.thorough
def test_what_an_agent_was_asked_before_it_was_made_survives_a_reload(program: Program) -> None:
    program.run("reload_making")


@pytest.mark.thorough
def test_an_agent_that_was_refused_says_why_after_a_reload_too(program: Program) -> None:
    program.run("reload_failed")


@pytest.mark.thorough
def test_a_reload_while_the_connection_is_broken_loses_no_line(program: Program, tmp_path: Path) -> None:
    core_cases.check_a_restart_while_the_connection_is_broken_loses_no_line(program, tmp_path)


# ---- games that do what they should not ----------------------------------------------------------------------


@pytest.mark.thorough
def test_callbacks_that_run_the_loop_destroy_and_throw(program: Program) -> None:
    program.run("nested")


@pytest.mark.thorough
def test_what_cannot_be_written_stands_in_nobodys_way(program: Program) -> None:
    program.run("unwritable")


@pytest.mark.thorough
def test_whoever_waits_is_told_where_a_handler_ends_it_all(program: Program) -> None:
    program.run("stop_when_gone")


@pytest.mark.thorough
def test_the_end_that_is_waited_for_is_that_of_all_sidecars(program: Program) -> None:
    program.run("stop_twice")


@pytest.mark.thorough
def test_tokens_and_threads(program: Program) -> None:
    program.run("tokens")


@pytest.mark.thorough
def test_two_cores_in_one_process(program: Program) -> None:
    program.run("two")


@pytest.mark.parametrize(
    "culture", ["tr-TR", *(pytest.param(name, marks=pytest.mark.thorough) for name in ("de-DE", "ar-SA"))]
)
@pytest.mark.thorough
def test_a_language_with_other_numbers_and_letters(program: Program, full: bool, culture: str) -> None:
    for scenario in ("killed", "reload", "changes") if full else ("changes",):
        program.run(scenario, culture=culture)


@pytest.mark.thorough
def test_time_in_which_the_game_stood_still_is_not_the_sidecars(program: Program) -> None:
    core_cases.check_time_in_which_the_game_stood_still_is_not_the_sidecars(program)


@pytest.mark.thorough
def test_a_dialog_of_thousands_of_turns(program: Program) -> None:
    core_cases.check_a_dialog_of_thousands_of_turns(program)


@pytest.mark.thorough
def test_a_sidecar_that_stands_still_for_longer_than_is_borne(program: Program) -> None:
    found = program.run("stands_still", seconds=20.0)
    assert found["longest_update_ms"] < FRAME_MS
    assert found["lost"] > 0


@pytest.mark.thorough
def test_rest_costs_nothing(program: Program) -> None:
    found = program.run("rest", seconds=10.0)
    print(found)
    assert found["cpu_ms_per_s"] < 100.0


@pytest.mark.thorough
def test_a_thousand_turns_leave_nothing_behind(program: Program) -> None:
    models = [scripted("Yes.", name="slow", tokens_per_s=5000)]
    heaps = program.run("many_turns", program.settings(models=models), turns=1000)["heaps"]
    print(heaps)
    assert heaps[-1] < heaps[1] + 500_000


# ---- sidecars that do what they should not -------------------------------------------------------------------


@pytest.mark.thorough
def test_a_session_that_expires_under_a_handler_that_begins_anew(program: Program) -> None:
    core_cases.check_a_session_that_expires_under_a_handler_that_begins_anew(program)


def test_what_a_destroyed_agent_was_asked_is_answered_though_the_session_ends(program: Program) -> None:
    core_cases.check_what_a_destroyed_agent_was_asked_is_answered_though_the_session_ends(program)


@pytest.mark.thorough
def test_what_a_destroyed_agent_was_asked_is_answered_though_the_sidecar_dies(program: Program) -> None:
    program.run("left_killed")


@pytest.mark.thorough
def test_a_handler_of_the_end_begins_anew(program: Program) -> None:
    program.run("anew")


@pytest.mark.thorough
def test_nothing_is_called_behind_a_detach_in_a_callback(program: Program) -> None:
    program.run("detach_inside")


@pytest.mark.thorough
@pytest.mark.parametrize("end", [b"\n", b""], ids=["long lines", "one without an end"])
def test_long_lines_do_not_fill_the_memory(program: Program, end: bytes) -> None:
    told = f"import os\nfor _ in range(30): os.write(2, b'x' * 900_000 + {end!r})\nos._exit(9)"
    settings = {**program.settings(), "executable": sys.executable, "arguments": ["-c", told]}
    program.run("long_lines", settings)


def test_a_ready_line_that_names_the_game_kills_it_not(program: Program) -> None:
    process_cases.check_a_ready_line_that_names_the_game_kills_it_not(program)


@pytest.mark.skipif(
    bool(ctypes.util.find_library("zmq")), reason="this machine has a libzmq of its own, which Mono finds"
)
def test_a_sidecar_ends_where_there_is_no_library_to_talk_to_it(compiled: Path, tmp_path: Path) -> None:
    Program(started(compiled), os.environ, tmp_path).run("library_missing")


@pytest.mark.thorough
def test_a_session_that_ends_over_one_message_refuses_nothing_else(program: Program) -> None:
    core_cases.check_a_session_that_ends_over_one_message_refuses_nothing_else(program)


@pytest.mark.thorough
def test_frames_of_turns_that_nobody_asked_for_end_no_line(program: Program) -> None:
    core_cases.check_frames_of_turns_that_nobody_asked_for_end_no_line(program)


@pytest.mark.thorough
def test_a_sidecar_that_says_anything_at_all(program: Program, full: bool) -> None:
    core_cases.check_a_sidecar_that_says_anything_at_all(program, full)


# ---- starts and stops ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("native", ways(True))
def test_play_and_stop_again_and_again(program: Program, full: bool, native: bool) -> None:
    core_cases.check_play_and_stop_again_and_again(program, full, more=3, native=native)


@pytest.mark.thorough
def test_quitting_while_it_starts_and_while_a_model_loads(program: Program) -> None:
    core_cases.check_quitting_while_it_starts_and_while_a_model_loads(program)


def test_a_frame_in_which_nothing_happens_allocates_nothing(program: Program) -> None:
    found = program.run("frames")
    assert found["collections_of_control"] > 0, "the count shows nothing"
    assert found["collections"] == 0


# ---- the process ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("native", ways())
def test_arguments_and_environment_arrive_as_they_were(program: Program, native: bool) -> None:
    process_cases.check_arguments_and_environment_arrive_as_they_were(program, native=native)


def test_lines_that_are_no_ready_line_are_but_logged(program: Program) -> None:
    process_cases.check_lines_that_are_no_ready_line_are_but_logged(program)


def test_a_folder_of_any_name_and_calls_of_tools(program: Program) -> None:
    process_cases.check_tool_calls_are_answered_within_the_turn_in_a_folder_of_any_name(program)


@pytest.mark.thorough
def test_a_launcher_whose_stdout_does_not_arrive(program: Program) -> None:
    process_cases.check_a_launcher_whose_stdout_does_not_arrive(program)


def test_exit_codes_in_words_and_command_lines_for_windows(program: Program) -> None:
    process_cases.check_exit_codes_in_words_and_command_lines_for_windows(program)

"""The heart of the Unreal plugin and the real sidecars that it starts: they talk, die, come back and leave nothing."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import psutil
import pytest

from bridge.catalog import CatalogEntry, MockScript
from bridge.engines.mock_voice import LETTER_MS, SAMPLE_RATE
from tests import core_cases, cpp_build, process_cases
from tests.core_program import FRAME_MS, RUN_S, Json, Program, script
from tests.cpp_build import CORE, needs_cpp
from tests.csharp_build import libzmq_files
from tests.process_cases import hopeless
from tests.real_sidecar import until
from tests.talk import scripted

pytestmark = [needs_cpp, pytest.mark.timeout(900)]

MOMENTS = [
    "Answer", "NodeHappened", "ToolCalled", "TurnCompleted", "Ended", "Pushed", "Gone", "StateChanged", "Stopping",
    "Posted", "Answered", "Saved", "Destroyed",
]  # fmt: skip
"""At which the core is deleted by whoever it is calling."""


@pytest.fixture
def program(tmp_path: Path, full: bool) -> Program:
    """As a game has it; with --full, watched for memory that is used wrongly."""
    return made(cpp_build.build("hub", sanitizer="asan" if full else ""), tmp_path)


@pytest.fixture
def watched(tmp_path: Path) -> Program:
    """The same, watched for threads that touch one thing at once."""
    return made(cpp_build.build("hub", sanitizer="tsan"), tmp_path)


@pytest.fixture
def plain(tmp_path: Path) -> Program:
    """The same, as a game has it."""
    return made(cpp_build.build("hub"), tmp_path)


def made(exe: Path, folder: Path) -> Program:
    return Program([str(exe)], cpp_build.environment(), folder, {"libzmq": str(libzmq_files()[0])})


# ---- parts that need no sidecar ------------------------------------------------------------------------------


@pytest.mark.thorough
def test_handlers_may_come_and_go_while_they_are_called(program: Program) -> None:
    program.run("handlers_list")


@pytest.mark.thorough
def test_work_in_the_background_comes_back_to_the_game(program: Program) -> None:
    program.run("background")


def test_paths_times_and_names(program: Program) -> None:
    found = program.run("system")
    assert found["pid"] > 0
    told = datetime.strptime(found["time"], "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=timezone.utc)
    assert abs((datetime.now(timezone.utc) - told).total_seconds()) < 60


def test_exit_codes_in_words_and_command_lines_for_windows(program: Program) -> None:
    process_cases.check_exit_codes_in_words_and_command_lines_for_windows(program)


def places(program: Program, **more: Any) -> Json:
    folders = {name: str(program.folder / name) for name in ("project", "content", "plugin", "program")}
    found: Json = program.run("places", {**folders, **more})
    return found


def test_the_editor_finds_the_sidecar_of_the_settings_and_of_the_plugin(program: Program) -> None:
    folder = program.folder
    found = places(program, is_editor=True, sidecar_folder="built", catalog="models/mine.json", storage_folder="Lore")
    assert found["sidecar"] == ""
    assert found["default"] == "parley"
    assert f"in {folder}/project/built and {folder}/plugin/Sidecar and on the PATH" in found["none"]
    assert found["catalog"] == f"{folder}/project/models/mine.json"
    assert found["storage"] == f"{folder}/content/Lore"
    in_plugin = script(folder / "plugin" / "Sidecar" / "linux-x64" / "parley", "")
    script(folder / "plugin" / "Sidecar" / "linux-arm64" / "parley", "")
    script(folder / "plugin" / "Sidecar" / "win-x64" / "parley", "")
    assert places(program, is_editor=True, sidecar_folder="built")["sidecar"] == str(in_plugin)
    in_project = script(folder / "project" / "built" / "parley", "")
    script(folder / "project" / "built" / "linux-x64" / "other", "")
    assert places(program, is_editor=True, sidecar_folder="built")["sidecar"] == str(in_project)
    elsewhere = script(folder / "elsewhere" / "parley", "")
    assert places(program, is_editor=True, sidecar_folder=str(elsewhere.parent))["sidecar"] == str(elsewhere)


@pytest.mark.thorough
def test_a_packaged_game_finds_the_sidecar_in_its_own_folders_alone(program: Program) -> None:
    folder = program.folder
    found = places(program, sidecar_folder="built", catalog="mine.json", storage_folder=str(folder / "Lore"))
    assert found["sidecar"] == "" and found["catalog"] == ""
    assert found["default"] == f"{folder}/project/Parley/sidecar/parley"
    assert "Was the whole folder of the game copied?" in found["none"] and "built" not in found["none"]
    assert found["storage"] == f"{folder}/Lore"
    in_plugin = script(folder / "plugin" / "Sidecar" / "parley", "")
    assert places(program)["sidecar"] == str(in_plugin)
    beside = script(folder / "program" / "Parley" / "sidecar" / "parley", "")
    (folder / "program" / "Parley" / "models.json").write_text("{}", encoding="ascii")
    found = places(program)
    assert found["sidecar"] == str(beside)
    assert found["catalog"] == f"{folder}/program/Parley/models.json"


# ---- a sidecar that lives ------------------------------------------------------------------------------------


def test_the_tavern_answers_with_several_speakers_in_one_turn(program: Program) -> None:
    core_cases.check_the_tavern_answers_with_several_speakers_in_one_turn(program)


@pytest.mark.live
@pytest.mark.thorough
def test_the_tavern_with_the_starter_model(program: Program, starter_model: Path, starter_embed: Path) -> None:
    core_cases.check_the_tavern_with_the_starter_model(program)


SPOKEN = "Who is it? *She listens.* Come in!"
VOICES: Json = {
    "start_node": "mira",
    "nodes": [
        {
            "name": "mira",
            "type": "GenerateAndSpeak",
            "model": "speaks",
            "voice": "slow-voice",
            "min_sentence_chars": 4,
            "default_exit": "bram",
        },
        {"name": "bram", "type": "Speak", "input": "mira", "voice": "fast-voice", "speaker_id": 2, "speed": 2.0},
    ],
}


def spoken(program: Program) -> Json:
    """Settings with a voice that is slower than what it says takes, and one that is faster."""
    models = [
        scripted(SPOKEN, name="speaks", tokens_per_s=200),
        CatalogEntry(name="slow-voice", type="tts", engine="mock", mock=MockScript(real_time_factor=1 / 0.7)),
        CatalogEntry(name="fast-voice", type="tts", engine="mock", mock=MockScript(real_time_factor=1 / 3)),
    ]
    return {**program.settings(models=models), "workflows": {"voices": VOICES}}


@pytest.mark.thorough
def test_voices_are_heard_as_they_were_sent(program: Program) -> None:
    turns = program.run("voices", spoken(program))
    samples = len("Who is it?" + "Come in!") * LETTER_MS * SAMPLE_RATE // 1000
    for turn, steps in zip((1, 3), turns, strict=True):
        slow, _fast = [step.pop("underruns") for step in steps]
        assert slow > 0  # how often the fast one is late on a busy machine nobody can say
        assert steps == [
            {"node": "mira", "turn": turn, "sample_rate": SAMPLE_RATE, "samples": samples, "text": SPOKEN},
            {"node": "bram", "turn": turn, "sample_rate": SAMPLE_RATE, "samples": samples // 2, "text": SPOKEN},
        ]


@pytest.mark.thorough
def test_cancel_and_a_line_that_waits(program: Program) -> None:
    program.run("cancel")


def test_tool_calls_are_answered_within_the_turn_in_a_folder_of_any_name(program: Program) -> None:
    process_cases.check_tool_calls_are_answered_within_the_turn_in_a_folder_of_any_name(program)


@pytest.mark.thorough
def test_variables_parameters_and_dialogs(program: Program) -> None:
    program.run("changes")


def test_each_callback_comes_on_the_games_thread(program: Program) -> None:
    program.run("callbacks")


# ---- a sidecar that dies -------------------------------------------------------------------------------------


def test_a_killed_sidecar_is_replaced_and_nothing_is_forgotten(program: Program) -> None:
    found = program.run("killed")
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
def test_a_sidecar_that_is_killed_at_any_moment(program: Program) -> None:
    for seed in range(8):
        program.run("anytime", seed=seed, kills=5)


def test_a_program_that_is_not_there_is_named(program: Program) -> None:
    process_cases.check_a_program_that_is_not_there_is_named(program)


def test_an_empty_program_is_named(program: Program) -> None:
    process_cases.check_an_empty_program_is_named(program)


def test_a_program_without_permission_is_named(program: Program) -> None:
    process_cases.check_a_program_without_permission_is_named(program)


def test_a_program_that_is_none_is_named(program: Program) -> None:
    found = hopeless(program, script(program.folder / "parley", "\0\1\2 this is no program"))
    assert found["restarts"] == 0
    assert "not a program for this machine" in found["trouble"]


def test_a_folder_that_is_not_there_to_run_in_is_an_error(program: Program) -> None:
    found = hopeless(program, sys.executable, working_folder=str(program.folder / "gone"))
    assert found["restarts"] == 0
    assert "could not be started" in found["trouble"]


@pytest.mark.thorough
def test_settings_that_are_wrong_are_told_with_the_sidecars_own_words(program: Program) -> None:
    process_cases.check_settings_that_are_wrong_are_told_with_the_sidecars_own_words(program)


def test_a_missing_instruction_is_not_tried_again(program: Program) -> None:
    process_cases.check_a_missing_instruction_is_not_tried_again(program)


@pytest.mark.thorough
def test_a_taken_port_is_tried_a_few_times_with_longer_and_longer_pauses(program: Program) -> None:
    process_cases.check_a_taken_port_is_tried_a_few_times_with_longer_and_longer_pauses(program)


@pytest.mark.thorough
def test_a_program_that_never_gets_ready_is_killed(program: Program) -> None:
    process_cases.check_a_program_that_never_gets_ready_is_killed(program)


# ---- a connection that breaks --------------------------------------------------------------------------------


@pytest.mark.thorough
def test_a_cut_connection_loses_nothing_and_doubles_nothing(program: Program, tmp_path: Path) -> None:
    core_cases.check_a_cut_connection_loses_nothing_and_doubles_nothing(program, tmp_path)


@pytest.mark.thorough
def test_another_sidecar_in_the_place_of_the_first_gets_the_agents(program: Program, tmp_path: Path) -> None:
    core_cases.check_another_sidecar_in_the_place_of_the_first_gets_the_agents(program, tmp_path)


# ---- state that is thrown away -------------------------------------------------------------------------------


@pytest.mark.thorough
def test_a_restart_of_the_session_in_the_middle_of_a_turn_loses_nothing(program: Program) -> None:
    program.run("reload")


@pytest.mark.thorough
def test_a_sidecar_that_dies_meanwhile_is_replaced(program: Program) -> None:
    program.run("reload_dead")


@pytest.mark.thorough
def test_a_restart_beyond_the_resume_window_makes_the_agents_anew(program: Program) -> None:
    settings = program.settings(heartbeat_s=0.2, detach_after_s=1.0, resume_window_s=0.2)
    program.run("reload_expired", settings, reload_ms=4000)


@pytest.mark.thorough
def test_play_sessions_follow_each_other_while_a_turn_runs(program: Program) -> None:
    program.run("sessions")


@pytest.mark.thorough
def test_another_process_goes_on_in_the_middle_of_a_turn(program: Program) -> None:
    """The owner of the sidecar is this process, as it outlives each of those that use it."""
    settings = {**program.settings(), "owner_pid": os.getpid()}
    told, said = program.run("process", settings), ""
    pid = told["pid"]
    try:
        for last in ({}, {}, {"is_last": True}):
            said += told["said"]
            assert told["said"] and psutil.pid_exists(pid)
            told = program.run("process", settings, before=told, **last)
            assert told["pid"] == pid
        assert said + told["said"] == told["whole"]
        until(lambda: not psutil.pid_exists(pid), 10, "the sidecar is gone")
    finally:
        if psutil.pid_exists(pid):
            psutil.Process(pid).kill()


@pytest.mark.thorough
def test_texts_that_are_of_no_detach_are_refused(program: Program) -> None:
    program.run("malformed")


@pytest.mark.thorough
def test_a_restart_of_a_game_whose_sidecar_encrypts(program: Program) -> None:
    core_cases.check_a_restart_of_a_game_whose_sidecar_encrypts(program)


@pytest.mark.thorough
def test_a_restart_right_after_a_restart_loses_nothing(program: Program) -> None:
    program.run("reload_twice")


@pytest.mark.thorough
def test_what_is_asked_before_the_session_goes_on_is_done(program: Program) -> None:
    program.run("reload_asking")


@pytest.mark.thorough
def test_what_an_agent_was_asked_before_it_was_made_is_asked_again(program: Program) -> None:
    program.run("reload_making")


@pytest.mark.thorough
def test_an_agent_that_was_refused_says_why_afterwards_too(program: Program) -> None:
    program.run("reload_failed")


@pytest.mark.thorough
def test_a_restart_while_the_connection_is_broken_loses_no_line(program: Program, tmp_path: Path) -> None:
    core_cases.check_a_restart_while_the_connection_is_broken_loses_no_line(program, tmp_path)


# ---- games that do what they should not ----------------------------------------------------------------------


def test_the_core_is_deleted_by_whoever_it_is_calling(program: Program, full: bool) -> None:
    moments = MOMENTS if full else ["Answer"]
    assert program.run("delete_inside", moments=moments) == moments


@pytest.mark.thorough
def test_the_core_is_deleted_in_every_phase_of_its_life(program: Program) -> None:
    program.run("delete_anytime")


@pytest.mark.thorough
def test_callbacks_that_run_the_loop_and_destroy(program: Program) -> None:
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
def test_lines_are_cancelled_by_their_names(program: Program) -> None:
    program.run("lines")


@pytest.mark.thorough
def test_two_cores_in_one_process(program: Program) -> None:
    program.run("two")


@pytest.mark.thorough
def test_a_language_with_other_numbers(program: Program) -> None:
    folder = program.folder / "locales"
    folder.mkdir()
    made = shutil.which("localedef") and subprocess.run(
        ["localedef", "-i", "de_DE", "-f", "UTF-8", str(folder / "de_DE.UTF-8")], capture_output=True, check=False
    )
    if not made or made.returncode > 1:
        pytest.skip("localedef cannot make a German locale here (Debian: locales)")
    for scenario in ("killed", "changes"):
        there = replace(program, env={**program.env, "LOCPATH": str(folder)})
        there.run(scenario, locale="de_DE.UTF-8")


@pytest.mark.thorough
def test_time_in_which_the_game_stood_still_is_not_the_sidecars(program: Program) -> None:
    core_cases.check_time_in_which_the_game_stood_still_is_not_the_sidecars(program)


@pytest.mark.thorough
def test_a_dialog_of_thousands_of_turns(plain: Program) -> None:
    core_cases.check_a_dialog_of_thousands_of_turns(plain)


@pytest.mark.thorough
def test_a_sidecar_that_stands_still_for_longer_than_is_borne(program: Program) -> None:
    found = program.run("stands_still", seconds=20.0)
    assert found["longest_update_ms"] < FRAME_MS
    assert found["lost"] > 0


@pytest.mark.thorough
def test_rest_costs_nothing(plain: Program) -> None:
    found = plain.run("rest", seconds=5.0)
    print(found)
    assert found["cpu_ms_per_s"] < 50.0


# ---- sidecars that do what they should not -------------------------------------------------------------------


@pytest.mark.thorough
def test_a_session_that_expires_under_a_handler_that_begins_anew(program: Program) -> None:
    core_cases.check_a_session_that_expires_under_a_handler_that_begins_anew(program)


@pytest.mark.thorough
def test_a_session_that_ends_over_one_message_refuses_nothing_else(program: Program) -> None:
    core_cases.check_a_session_that_ends_over_one_message_refuses_nothing_else(program)


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
def test_threads_that_were_waited_for_have_ended(program: Program) -> None:
    program.run("threads_end")


@pytest.mark.thorough
def test_long_lines_do_not_fill_the_memory(program: Program) -> None:
    program.run("long_lines")


def test_a_ready_line_that_names_the_game_kills_it_not(program: Program) -> None:
    process_cases.check_a_ready_line_that_names_the_game_kills_it_not(program)


@pytest.mark.thorough
def test_frames_of_turns_that_nobody_asked_for_end_no_line(program: Program) -> None:
    core_cases.check_frames_of_turns_that_nobody_asked_for_end_no_line(program)


@pytest.mark.thorough
def test_a_sidecar_that_says_anything_at_all(program: Program, full: bool) -> None:
    core_cases.check_a_sidecar_that_says_anything_at_all(program, full)


# ---- starts and stops ----------------------------------------------------------------------------------------


def test_play_and_stop_again_and_again(program: Program, full: bool) -> None:
    core_cases.check_play_and_stop_again_and_again(program, full, more=0)


@pytest.mark.thorough
def test_quitting_while_it_starts_and_while_a_model_loads(program: Program) -> None:
    core_cases.check_quitting_while_it_starts_and_while_a_model_loads(program)


@pytest.mark.thorough
def test_a_frame_in_which_nothing_happens_allocates_nothing(plain: Program) -> None:
    found = plain.run("frames")
    print(found)
    assert found["counts"] and found["allocations_of_control"] > 0, "the count shows nothing"
    assert sorted(found["allocations"])[:3] == [0, 0, 0]


@pytest.mark.thorough
def test_a_game_that_is_killed_takes_its_sidecar_with_it(program: Program) -> None:
    told = program.told(program.settings())
    with subprocess.Popen(
        [*program.command, "abandoned", str(told)], stdout=subprocess.PIPE, env=program.env, text=True
    ) as popen:
        assert popen.stdout is not None
        pid = int(popen.stdout.readline())
        assert psutil.pid_exists(pid)
        popen.kill()
    until(lambda: not psutil.pid_exists(pid), 10, "the sidecar of the game that was killed is gone")


# ---- the process ---------------------------------------------------------------------------------------------


def test_arguments_and_environment_arrive_as_they_were(program: Program) -> None:
    process_cases.check_arguments_and_environment_arrive_as_they_were(program)


LOOKS = """\
import json, os, signal, sys
files = sorted(int(name) for name in os.listdir("/proc/self/fd"))
blocked = sorted(signal.pthread_sigmask(signal.SIG_BLOCK, []))
told = [[file for file in files if os.path.exists(f"/proc/self/fd/{file}")], blocked, os.getcwd(), sys.stdin.read()]
print(json.dumps(told), file=sys.stderr)
"""


def test_a_sidecar_gets_no_file_and_no_stdin_of_the_game(program: Program) -> None:
    settings = {**program.settings(), "executable": sys.executable, "arguments": ["-c", LOOKS]}
    told = program.told({**settings, "working_folder": str(program.folder)})
    read, write = os.pipe()
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    try:
        done = subprocess.run(
            [*program.command, "arguments", str(told)],
            capture_output=True,
            text=True,
            env=program.env,
            pass_fds=(write,),
            stdin=read,
            timeout=RUN_S,
            check=False,
        )
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
        os.close(read)
        os.close(write)
    assert done.returncode == 0, done.stderr
    files, blocked, folder, text = json.loads(json.loads(done.stdout.splitlines()[-1])["lines"][0])
    assert files == [0, 1, 2]
    assert blocked == []
    assert folder == str(program.folder)
    assert text == ""


def test_lines_that_are_no_ready_line_are_but_logged(program: Program) -> None:
    process_cases.check_lines_that_are_no_ready_line_are_but_logged(program)


@pytest.mark.thorough
def test_output_that_is_no_text_or_has_no_end_is_borne(program: Program) -> None:
    told = "import os; os.write(2, b'a\\xff\\r\\n' + b'x' * 3_000_000 + b'\\n\\n' + b'the end'); os._exit(4)"
    found = program.run("arguments", {**program.settings(), "executable": sys.executable, "arguments": ["-c", told]})
    first, *long, last = found["lines"]
    assert first == "a\ufffd" and last == "the end"
    assert "".join(long) == "x" * 3_000_000
    assert found["code"] == 4


@pytest.mark.thorough
def test_a_launcher_whose_stdout_does_not_arrive(program: Program) -> None:
    process_cases.check_a_launcher_whose_stdout_does_not_arrive(program)


# ---- under other eyes ----------------------------------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.parametrize(
    "scenario",
    ["handlers_list", "background", "callbacks", "tools", "cancel", "changes", "killed", "given_up", "handlers",
     "reload", "reload_making", "sessions", "lines", "nested", "delete_anytime", "two", "cycles", "anytime"],
)  # fmt: skip
def test_no_two_threads_touch_one_thing_at_once(watched: Program, scenario: str) -> None:
    watched.run(scenario, cycles=4, seed=3, kills=5, timeout=300)


@pytest.mark.thorough
def test_threads_of_voices(watched: Program) -> None:
    watched.run("voices", spoken(watched), timeout=300)


@pytest.mark.thorough
def test_threads_while_the_core_is_deleted_by_whoever_it_is_calling(watched: Program) -> None:
    assert watched.run("delete_inside", moments=MOMENTS) == MOMENTS


@pytest.mark.thorough
def test_the_core_as_a_game_has_it(plain: Program) -> None:
    for scenario in ("callbacks", "killed", "reload", "delete_anytime"):
        plain.run(scenario)


MINGW = "x86_64-w64-mingw32-g++-posix"
WINDOWS = [MINGW, "-std=c++17", "-fsyntax-only", "-fno-exceptions", "-fno-rtti"]
WARNINGS = ["-Wall", "-Wextra", "-Wshadow", "-Werror"]


@pytest.mark.thorough
@pytest.mark.skipif(
    shutil.which(MINGW) is None, reason=f"{MINGW} is not installed (Debian: g++-mingw-w64-x86-64-posix)"
)
@pytest.mark.parametrize("what", ["each file", "all as one"])
def test_the_core_compiles_for_windows(tmp_path: Path, what: str) -> None:
    """What calls Windows runs nowhere here: that it compiles is all that is known of it.

    As one, because Unreal's build makes one of many: the macros of windows.h are in all that is behind.
    """
    files = sorted(CORE.rglob("*.cpp"), reverse=True)
    assert any(file.name.startswith("Windows") for file in files)
    if what == "all as one":
        whole = tmp_path / "whole.cpp"
        whole.write_text("".join(f'#include "{file}"\n' for file in files), encoding="utf-8")
        files = [whole]
    for file in files:
        command = [*WINDOWS, *WARNINGS, "-I", str(CORE.parent), str(file)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr

"""The heart of the Unreal plugin and the real sidecars that it starts: they talk, die, come back and leave nothing."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import psutil
import pytest

from bridge.curve import write_key_file
from bridge.transport import run_on_selector_loop
from tests import cpp_build
from tests.cpp_build import CORE, needs_cpp
from tests.csharp_build import libzmq_files
from tests.faults.proxy import FaultyProxy, make_schedule
from tests.real_sidecar import SERVE, STUCK, game, serving, until
from tests.talk import scripted
from tests.test_unity_core import (
    FRAME_MS,
    MODELS,
    ODD_ARGUMENTS,
    ODD_FOLDER,
    ODD_LINES,
    READY,
    ROOT,
    START_MS,
    STOP_MS,
    TAVERN,
    TAVERN_LINES,
    TELLS,
    UNDER_LOAD,
    WORKFLOWS,
    puppet,
    script,
    start_ms,
    welcome,
    windows_split,
)

pytestmark = [needs_cpp, pytest.mark.timeout(900)]

Json = dict[str, Any]
RUN_S = 150.0
MOMENTS = [
    "Answer", "NodeHappened", "ToolCalled", "TurnCompleted", "Ended", "Pushed", "Gone", "StateChanged", "Stopping",
    "Posted", "Answered", "Saved", "Destroyed",
]  # fmt: skip
"""At which the core is deleted by whoever it is calling."""


@dataclass(frozen=True)
class Program:
    """The compiled scenarios, and a folder for what they need."""

    exe: Path
    folder: Path
    pids: list[int] = field(default_factory=list)
    """Of the programs that `running` started."""

    def settings(self, command: Sequence[str] = SERVE, models: Sequence[Any] = MODELS, **more: object) -> Json:
        """What a scenario is told: how its sidecar is started, and the workflows that there are."""
        storage = self.folder / "storage"
        storage.mkdir(parents=True, exist_ok=True)
        cleared = {key: None for key in os.environ if key.startswith("PARLEY_")}
        return {
            "executable": command[0],
            "arguments": [*command[1:], *game(self.folder / "game", *models, **more)],
            "environment": {**cleared, "PYTHONPATH": str(ROOT)},
            "workflows": WORKFLOWS,
            "storage": str(storage),
        }

    def run(self, scenario: str, settings: Json | None = None, *, timeout: float = RUN_S, **more: Any) -> Any:
        """Runs one to its end; returns what it reported."""
        told = self.told({**(self.settings() if settings is None else settings), **more})
        done = cpp_build.run_program(self.exe, scenario, str(told), timeout=timeout)
        print(done.stdout)
        return json.loads(done.stdout.splitlines()[-1])

    async def running(self, scenario: str, settings: Json, on_go: Callable[[], Awaitable[None]] | None = None) -> Json:
        """As run, while an event loop goes on. `on_go` is called where the scenario says `go`."""
        process = await asyncio.create_subprocess_exec(
            str(self.exe),
            scenario,
            str(self.told(settings)),
            env=cpp_build.environment(),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        self.pids.append(process.pid)
        try:
            if on_go is not None:
                assert process.stdout is not None
                assert await asyncio.wait_for(process.stdout.readline(), RUN_S) == b"go\n"
                await on_go()
            out, errors = await asyncio.wait_for(process.communicate(), RUN_S)
        finally:
            if process.returncode is None:
                process.kill()
        assert process.returncode == 0, errors.decode()
        found: Json = json.loads(out.splitlines()[-1])
        return found

    def told(self, settings: Json) -> Path:
        """A file of settings."""
        file = self.folder / "settings.json"
        self.folder.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps({**settings, "libzmq": str(libzmq_files()[0])}), encoding="utf-8")
        return file


@pytest.fixture
def program(tmp_path: Path, full: bool) -> Program:
    """As a game has it; with --full, watched for memory that is used wrongly."""
    return Program(cpp_build.build("hub", sanitizer="asan" if full else ""), tmp_path)


@pytest.fixture
def watched(tmp_path: Path) -> Program:
    """The same, watched for threads that touch one thing at once."""
    return Program(cpp_build.build("hub", sanitizer="tsan"), tmp_path)


@pytest.fixture
def plain(tmp_path: Path) -> Program:
    """The same, as a game has it."""
    return Program(cpp_build.build("hub"), tmp_path)


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
    found = program.run("words", words=ODD_ARGUMENTS)
    assert windows_split(found["windows"]) == ODD_ARGUMENTS
    assert found["0"][0] == "ended as it was told to (exit code 0)"
    assert "could not start" in found["1"][0]
    assert "port taken" in found["3"][0]
    assert "instruction" in found["84"][0] and "instruction" in found["C000001D"][1]
    assert "(exit code 0xC000001D)" in found["C000001D"][1]
    assert "SIGKILL" in found["89"][0]
    assert "SIGSEGV" in found["8B"][0] and "access violation" in found["C0000005"][1]
    assert "DLL" in found["C0000135"][1]


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


def tavern(models: Sequence[Any], program: Program) -> Json:
    workflow = json.loads((TAVERN / "tavern.workflow.json").read_text(encoding="utf-8"))
    settings = program.settings(models=models)
    storage = program.folder / "tavern"
    shutil.copytree(TAVERN, storage, ignore=shutil.ignore_patterns("*.index*"))
    return {**settings, "storage": str(storage), "workflows": {"tavern": workflow}, "lines": TAVERN_LINES}


def test_the_tavern_answers_with_several_speakers_in_one_turn(program: Program) -> None:
    mocks = [
        scripted("Sit down, love! There is stew.", name="starter-chat", tokens_per_s=200),
        scripted(name="starter-embed").model_copy(update={"type": "embedding"}),
    ]
    found = program.run("tavern", tavern(mocks, program))
    for turn in found["turns"]:
        assert len(turn["speakers"]) >= 2, found
        assert turn["frames"] > 2, "nothing was streamed"
    assert found["longest_update_ms"] < FRAME_MS


@pytest.mark.live
@pytest.mark.thorough
def test_the_tavern_with_the_starter_model(program: Program, starter_model: Path, starter_embed: Path) -> None:
    settings = tavern([], program)
    settings["arguments"] = settings["arguments"][:-2]  # the packaged catalog, and the models of this machine
    found = program.run("tavern", settings, timeout=170)
    for turn in found["turns"]:
        assert turn["speakers"] == ["mira", "bram", "narrator"]
        assert turn["frames"] > 2, "nothing was streamed"


@pytest.mark.thorough
def test_cancel_and_a_line_that_waits(program: Program) -> None:
    program.run("cancel")


def test_tool_calls_are_answered_within_the_turn_in_a_folder_of_any_name(program: Program, tmp_path: Path) -> None:
    folder = tmp_path / ODD_FOLDER
    python = script(folder / "par ley", f"#!/bin/sh\nexec '{sys.executable}' \"$@\"\n")
    odd = Program(program.exe, folder)
    odd.run("tools", odd.settings(command=[str(python), *SERVE[1:]]), working_folder=str(folder))


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


def hopeless(program: Program, executable: Path | str, *arguments: str, **more: Any) -> Json:
    settings = {**program.settings(), "executable": str(executable), "arguments": [*arguments], **more}
    found: Json = program.run("hopeless", settings)
    return found


def test_a_program_that_is_not_there_is_named(program: Program) -> None:
    found = hopeless(program, program.folder / "nowhere" / "parley")
    assert found["restarts"] == 0
    assert "is not there" in found["trouble"] and "nowhere" in found["trouble"]


def test_an_empty_program_is_named(program: Program) -> None:
    found = hopeless(program, script(program.folder / "parley", ""))
    assert found["restarts"] == 0
    assert "is an empty file" in found["trouble"]


def test_a_program_without_permission_is_named(program: Program) -> None:
    path = script(program.folder / "parley", "#!/bin/sh\n")
    path.chmod(0o644)
    if os.access(path, os.X_OK):
        pytest.skip("this user may execute everything")
    found = hopeless(program, path)
    assert found["restarts"] == 0
    assert "is not executable" in found["trouble"]


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
    found = hopeless(program, sys.executable, "-m", "bridge", "serve", "--config", str(program.folder / "none.toml"))
    assert found["restarts"] == 0
    assert "none.toml" in found["trouble"]


def test_a_missing_instruction_is_not_tried_again(program: Program) -> None:
    found = hopeless(program, script(program.folder / "parley", "#!/bin/sh\nkill -ILL $$\n"))
    assert found["restarts"] == 0
    assert "an instruction that this processor does not have" in found["trouble"]


@pytest.mark.thorough
def test_a_taken_port_is_tried_a_few_times_with_longer_and_longer_pauses(program: Program) -> None:
    begun = program.folder / "begun"
    says = f"#!/bin/sh\ndate +%s.%N >> '{begun}'\necho tcp://… is taken >&2\nexit 3\n"
    found = hopeless(program, script(program.folder / "parley", says), pauses=[0.0, 0.3, 0.6])
    assert found["restarts"] == 3
    assert found["usual_pauses"] == [0.0, 0.5, 2.0]
    assert "found its port taken" in found["trouble"]
    times = [float(line) for line in begun.read_text(encoding="ascii").split()]
    at_once, second, third = (after - before for before, after in itertools.pairwise(times))
    assert at_once < second < third, times
    assert second >= 0.3 and third >= 0.6, times
    assert found["took_s"] < 0.9 * UNDER_LOAD + 2.0


@pytest.mark.thorough
def test_a_program_that_never_gets_ready_is_killed(program: Program) -> None:
    found = hopeless(program, script(program.folder / "parley", "#!/bin/sh\nexec sleep 60\n"), start_timeout_s=0.1)
    assert "was not ready within 0.1 s" in found["trouble"]
    assert found["took_s"] < 20


# ---- a connection that breaks --------------------------------------------------------------------------------


@pytest.mark.thorough
def test_a_cut_connection_loses_nothing_and_doubles_nothing(program: Program, tmp_path: Path) -> None:
    async def work(seed: int) -> Json:
        with serving(tmp_path / f"log{seed}", *game(tmp_path / "game", *MODELS)) as sidecar:
            async with FaultyProxy(sidecar.endpoint, make_schedule(seed, 3_000, 20_000)) as proxy:
                settings = {**program.settings(), "endpoint": proxy.endpoint, "token": sidecar.token, "turns": 6}
                running = asyncio.ensure_future(program.running("cut", settings))
                while not running.done():
                    await asyncio.wait({running}, timeout=0.4)
                    if len(proxy.links) < 4:
                        proxy.cut_all()
                return await running

    for seed in range(10):
        assert run_on_selector_loop(work(seed))["lost"] > 0


@pytest.mark.thorough
def test_another_sidecar_in_the_place_of_the_first_gets_the_agents(program: Program, tmp_path: Path) -> None:
    async def work() -> Json:
        arguments = [*game(tmp_path / "game", *MODELS), "--token", "the same"]
        with serving(tmp_path / "first", *arguments) as first, serving(tmp_path / "second", *arguments) as second:
            async with FaultyProxy(first.endpoint) as proxy:

                async def replace() -> None:
                    proxy._target = FaultyProxy(second.endpoint)._target
                    first.popen.kill()
                    proxy.cut_all()

                settings = {**program.settings(), "endpoint": proxy.endpoint, "token": "the same"}
                return await program.running("elsewhere", settings, replace)

    run_on_selector_loop(work())


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
    key = program.folder / "sidecar.key"
    write_key_file(key)
    settings = program.settings()
    program.run("reload", {**settings, "arguments": [*settings["arguments"], "--curve-key", str(key)]})


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
    async def work() -> None:
        with serving(tmp_path / "log", *game(tmp_path / "game", *MODELS)) as sidecar:
            async with FaultyProxy(sidecar.endpoint) as proxy:
                there = proxy._target

                async def away() -> None:
                    proxy._target = ("127.0.0.1", 1)
                    proxy.cut_all()
                    asyncio.get_running_loop().call_later(1.0, setattr, proxy, "_target", there)

                settings = {**program.settings(), "endpoint": proxy.endpoint, "token": sidecar.token}
                await program.running("reload_unsent", settings, away)

    run_on_selector_loop(work())


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
        told = program.told({**program.settings(), "locale": "de_DE.UTF-8"})
        cpp_build.run_program(program.exe, scenario, str(told), env={"LOCPATH": str(folder)}, timeout=RUN_S)


@pytest.mark.thorough
def test_time_in_which_the_game_stood_still_is_not_the_sidecars(program: Program) -> None:
    async def pause() -> None:
        os.kill(program.pids[-1], signal.SIGSTOP)
        await asyncio.sleep(1.6)
        os.kill(program.pids[-1], signal.SIGCONT)

    settings = {**program.settings(), "executable": str(script(program.folder / "parley", READY)), "arguments": []}
    asyncio.run(program.running("paused", settings, pause))


@pytest.mark.thorough
def test_a_dialog_of_thousands_of_turns(plain: Program) -> None:
    found = plain.run("long_dialog", count=20_000)
    print(found)
    assert found["longest_update_ms"] < FRAME_MS * UNDER_LOAD
    assert found["detach_ms"] < 1500.0 * UNDER_LOAD
    assert found["attach_ms"] < 1500.0 * UNDER_LOAD


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
    def answer(name: str, body: Json, number: int) -> Sequence[tuple[str, int, Json]]:
        if name == "Hello":
            return [welcome(number)]
        is_first = name == "ListModels" and number == 1
        return [("Goodbye", 0, {"reason": "expired"})] if is_first else [("Ok", -1, {})]

    with puppet(answer) as (endpoint, asked):
        program.run("expires", {**program.settings(), "endpoint": endpoint, "token": "t"})
    assert asked.count("Hello") == 2, asked


@pytest.mark.thorough
def test_a_session_that_ends_over_one_message_refuses_nothing_else(program: Program) -> None:
    """An agent that was being made meanwhile is made in the next session."""

    def answer(name: str, body: Json, number: int) -> Sequence[tuple[str, int, Json]]:
        if name == "Hello":
            return [welcome(number)]
        if name == "CreateAgent":
            return (
                [("AnswerText", 0, {"text": 5})]
                if number == 1
                else [("AgentCreated", -1, {"agent_id": "a", "warnings": []})]
            )
        return [("Ok", -1, {})]

    with puppet(answer) as (endpoint, asked):
        program.run("made_at_last", {**program.settings(), "endpoint": endpoint, "token": "t"})
    assert asked.count("CreateAgent") == 2


def test_what_a_destroyed_agent_was_asked_is_answered_though_the_session_ends(program: Program) -> None:
    def answer(name: str, body: Json, number: int) -> Sequence[tuple[str, int, Json]]:
        if name == "Hello":
            return [welcome(number)]
        if name == "CreateAgent":
            return [("AgentCreated", -1, {"agent_id": "a", "warnings": []})]
        if name == "SetVariables":
            return []
        is_first = name == "ListModels" and number == 1
        return [("Goodbye", 0, {"reason": "expired"})] if is_first else [("Ok", -1, {})]

    with puppet(answer) as (endpoint, _):
        program.run("left_closed", {**program.settings(), "endpoint": endpoint, "token": "t"})


def test_what_a_destroyed_agent_was_asked_is_answered_though_the_sidecar_dies(program: Program) -> None:
    program.run("left_killed")


def test_a_handler_of_the_end_begins_anew(program: Program) -> None:
    program.run("anew")


def test_nothing_is_called_behind_a_detach_in_a_callback(program: Program) -> None:
    program.run("detach_inside")


@pytest.mark.thorough
def test_threads_that_were_waited_for_have_ended(program: Program) -> None:
    program.run("threads_end")


@pytest.mark.thorough
def test_long_lines_do_not_fill_the_memory(program: Program) -> None:
    program.run("long_lines")


def test_a_ready_line_that_names_the_game_kills_it_not(program: Program) -> None:
    """As that of a sidecar in a container may, whose processes have numbers of their own."""
    ready = "{'event': 'ready', 'endpoint': 'tcp://127.0.0.1:9', 'token': 'x', 'pid': os.getppid()}"
    told = f"import json, os, time; print(json.dumps({ready}), flush=True); time.sleep(0.3)"
    settings = {**program.settings(), "executable": sys.executable, "arguments": ["-c", told]}
    program.run("names_the_game", settings)


@pytest.mark.thorough
def test_frames_of_turns_that_nobody_asked_for_end_no_line(program: Program) -> None:
    def text(turn: int, words: str) -> tuple[str, int, Json]:
        body = {"node_name": "n", "step": 1, "text": words, "is_delta": True, "is_final": False}
        return "AnswerText", 0, {"agent_id": "a", "turn_id": turn, **body}

    def end(turn: int) -> tuple[str, int, Json]:
        when = "2026-01-01T00:00:00.000Z"
        interaction = {"turn_id": turn, "user": "x", "outputs": [], "status": "Success", "time": when}
        counted = {"tokens_generated": 0, "finish": [], "dropped_turns": 0}
        body = {"status": "Success", **counted, "interaction": interaction}
        return "TurnComplete", 0, {"agent_id": "a", "turn_id": turn, **body}

    def answer(name: str, body: Json, number: int) -> Sequence[tuple[str, int, Json]]:
        if name == "Hello":
            return [welcome(number)]
        if name == "CreateAgent":
            return [("AgentCreated", -1, {"agent_id": "a", "warnings": []}), text(7, "wrong"), end(7)]
        if name == "SendMessage":
            started = ("TurnStarted", -1, {"agent_id": "a", "turn_id": 1})
            said = [started, text(1, "right"), text(9, "wrong"), end(1), end(1), text(1, "late")]
            return [text(9, "wrong"), end(9), *said]
        return [("Pong" if name == "Ping" else "Ok", -1, {})]

    with puppet(answer) as (endpoint, _):
        program.run("strangers", {**program.settings(), "endpoint": endpoint, "token": "t"})


@pytest.mark.thorough
def test_a_sidecar_that_says_anything_at_all(program: Program, full: bool) -> None:
    """What the messages say is made up; that they can be read is not, as a session ends over the first that cannot."""
    summary: Json = {"agent_id": "a", "turn_id": 1, "node_name": "n", "step": 1, "event": "summary_written"}
    empty: Json = {"version": 1, "interactions": [], "summary": None}
    things: list[tuple[str, Json]] = [
        ("Ok", {}),
        ("AgentCreated", {"agent_id": "a", "warnings": []}),
        ("AgentCreated", {"agent_id": "", "warnings": []}),
        ("Dialog", {"dialog": empty, "total": 10**12}),
        ("Dialog", {"dialog": empty, "total": -1}),
        ("Params", {"params": {"of": 1}, "baseline": {}}),
        ("Agents", {"agents": [{"agent_id": "a", "busy": False, "turns": 0}] * 3}),
        ("Error", {"code": 3001, "name": "InvalidAgentId", "message": "no"}),
        ("Error", {"code": 2001, "name": "ShuttingDown", "message": "no"}),
        ("Error", {"code": -5, "name": "", "message": ""}),
        ("TurnStarted", {"agent_id": "a", "turn_id": 1}),
        ("TurnStarted", {"agent_id": "", "turn_id": -1}),
        ("NodeEvent", {**summary, "data": {}}),
        ("NodeEvent", {**summary, "data": {"text": 5, "covers": "x"}}),
        ("NodeEvent", {**summary, "event": "tool_call", "data": {"call_id": 5, "arguments": []}}),
        ("NodeEvent", {**summary, "event": "a new one", "data": {}}),
        ("Warning", {"code": 0, "message": ""}),
        ("Progress", {"task": "", "done": -1, "total": 0, "unit": ""}),
    ]

    def answer(name: str, body: Json, number: int) -> Sequence[tuple[str, int, Json]]:
        if name == "Hello":
            return [welcome(number)]
        said = [dice.choice(things) for _ in range(dice.randrange(4))]
        kind, what = dice.choice(things) if name != "CreateAgent" or dice.random() < 0.3 else things[1]
        return [*((one, dice.choice([0, 3, 77]), of) for one, of in said), (kind, -1, what)]

    for seed in range(8 if full else 1):
        dice = random.Random(seed)
        with puppet(answer) as (endpoint, _):
            program.run("babble", {**program.settings(), "endpoint": endpoint, "token": "t"}, seconds=1.0)


# ---- starts and stops ----------------------------------------------------------------------------------------


def test_play_and_stop_again_and_again(program: Program, full: bool) -> None:
    found = program.run("cycles", cycles=10 if full else 3, timeout=170)
    starts, stops = found["starts_ms"], found["stops_ms"]
    print(f"start: median {statistics.median(starts):.0f} ms, most {max(starts):.0f} ms")
    print(f"stop: median {statistics.median(stops):.0f} ms, most {max(stops):.0f} ms")
    limit = START_MS
    if statistics.median(starts) >= limit:
        # A machine that does other things: what a sidecar takes there by itself, and half of that for the game.
        limit = max(limit, 1.5 * max(start_ms(program.folder) for _ in range(3)))
    assert statistics.median(starts) < limit
    assert statistics.median(stops) < STOP_MS
    assert max(starts) < limit * UNDER_LOAD
    assert max(stops) < STOP_MS * UNDER_LOAD
    assert found["files_more"] <= 0
    assert found["threads_more"] <= 0


@pytest.mark.thorough
def test_quitting_while_it_starts_and_while_a_model_loads(program: Program) -> None:
    found = program.run("quitting", program.settings(command=STUCK))
    assert statistics.median(found["stops_ms"]) < STOP_MS
    assert max(found["stops_ms"]) < STOP_MS * UNDER_LOAD


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
        [str(program.exe), "abandoned", str(told)], stdout=subprocess.PIPE, env=cpp_build.environment(), text=True
    ) as popen:
        assert popen.stdout is not None
        pid = int(popen.stdout.readline())
        assert psutil.pid_exists(pid)
        popen.kill()
    until(lambda: not psutil.pid_exists(pid), 10, "the sidecar of the game that was killed is gone")


# ---- the process ---------------------------------------------------------------------------------------------


def test_arguments_and_environment_arrive_as_they_were(program: Program) -> None:
    settings = {
        **program.settings(),
        "executable": sys.executable,
        "arguments": ["-c", TELLS, *ODD_ARGUMENTS],
        "environment": {"ODD": 'ein "schönes" 酒場 $x'},
    }
    found = program.run("arguments", settings)
    assert json.loads(found["lines"][0]) == [ODD_ARGUMENTS, 'ein "schönes" 酒場 $x']
    assert found["code"] == 5
    assert "(exit code 5)" in found["why"]


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
            [str(program.exe), "arguments", str(told)],
            capture_output=True,
            text=True,
            env=cpp_build.environment(),
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
    told = f"import sys; sys.stdout.write({chr(10).join(ODD_LINES) + chr(10)!r}); sys.exit(5)"
    found = program.run("arguments", {**program.settings(), "executable": sys.executable, "arguments": ["-c", told]})
    assert found["lines"] == ODD_LINES
    assert found["code"] == 5


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
    launcher = script(program.folder / "parley", f"#!/bin/sh\n'{sys.executable}' \"$@\" > /dev/null &\nwait $!\n")
    ready_file = program.folder / "ready.json"
    ready_file.write_text(
        '{"event": "ready", "endpoint": "tcp://127.0.0.1:9", "token": "x", "pid": 1}\n', encoding="ascii"
    )
    found = program.run("launcher", program.settings([str(launcher), *SERVE[1:]]), ready_file=str(ready_file))
    for pid in found["pids"]:
        until(lambda pid=pid: not psutil.pid_exists(int(pid)), 10, "the launched sidecar is gone")  # type: ignore[misc]


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

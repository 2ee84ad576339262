"""What the tests of both plugins ask of a program that they start: what is wrong with it, and what it is told."""

from __future__ import annotations

import itertools
import json
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.core_program import UNDER_LOAD, Json, Program, script
from tests.real_sidecar import SERVE, until

ODD_FOLDER = "Wirtshaus »zum Ölkännchen« 酒場 it's"
ODD_ARGUMENTS = [
    "a b", 'x"y', "it's", "back\\slash\\", "$HOME `x`", "", "酒 場", 'end\\"', "tab\tx", "new\nline", "%PATH%",
    "\\\\server\\share\\", "'", "ends\\\\", "--flag=a b", "{}", "*", "😀", "a\\\\\"b",
]  # fmt: skip
TELLS = "import json, os, sys; print(json.dumps([sys.argv[1:], os.environ.get('ODD')]), file=sys.stderr); sys.exit(5)"
ODD_LINES = [
    '{"a": 1e999}', '{"a": 0x1FFFFFFFFFFFFFFFFFFFF}', '{"event": "ready", "endpoint": 5}', '{"event": "ready"}', "{",
    '{"a": ' + "[" * 40 + "]" * 40 + "}", '{"a": new Date(1)}', '{"event": "ready", "endpoint": ""}', "{}", "[1]",
    '{"a": ' + "9" * 400 + "}", '{"event": "ready", "endpoint": "tcp://127.0.0.1:9", "pid": 1e999}', '{"a": .}',
]  # fmt: skip


# ---- programs that cannot live -------------------------------------------------------------------------------


def hopeless(program: Program, executable: Path | str, *arguments: str, **more: Any) -> Json:
    """What a scenario reports of a program that cannot live; `more` is what it is told besides."""
    settings = {**program.settings(), "executable": str(executable), "arguments": [*arguments], **more}
    found: Json = program.run("hopeless", settings)
    return found


def check_a_program_that_is_not_there_is_named(program: Program) -> None:
    found = hopeless(program, program.folder / "nowhere" / "parley")
    assert found["restarts"] == 0
    assert "is not there" in found["trouble"] and "nowhere" in found["trouble"]


def check_an_empty_program_is_named(program: Program) -> None:
    found = hopeless(program, script(program.folder / "parley", ""))
    assert found["restarts"] == 0
    assert "is an empty file" in found["trouble"]


def check_a_program_without_permission_is_named(program: Program) -> None:
    path = script(program.folder / "parley", "#!/bin/sh\n")
    path.chmod(0o644)
    if os.access(path, os.X_OK):
        pytest.skip("this user may execute everything")
    found = hopeless(program, path)
    assert found["restarts"] == 0
    assert "is not executable" in found["trouble"]


def check_settings_that_are_wrong_are_told_with_the_sidecars_own_words(program: Program) -> None:
    found = hopeless(program, sys.executable, "-m", "bridge", "serve", "--config", str(program.folder / "none.toml"))
    assert found["restarts"] == 0
    assert "none.toml" in found["trouble"]


def check_a_missing_instruction_is_not_tried_again(program: Program, **told: Any) -> None:
    found = hopeless(program, script(program.folder / "parley", "#!/bin/sh\nkill -ILL $$\n"), **told)
    assert found["restarts"] == 0
    assert "an instruction that this processor does not have" in found["trouble"]


def check_a_taken_port_is_tried_a_few_times_with_longer_and_longer_pauses(program: Program) -> None:
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


def check_a_program_that_never_gets_ready_is_killed(program: Program) -> None:
    found = hopeless(program, script(program.folder / "parley", "#!/bin/sh\nexec sleep 60\n"), start_timeout_s=0.1)
    assert "was not ready within 0.1 s" in found["trouble"]
    assert found["took_s"] < 20


def check_a_ready_line_that_names_the_game_kills_it_not(program: Program) -> None:
    """As that of a sidecar in a container may, whose processes have numbers of their own."""
    ready = "{'event': 'ready', 'endpoint': 'tcp://127.0.0.1:9', 'token': 'x', 'pid': os.getppid()}"
    told = f"import json, os, time; print(json.dumps({ready}), flush=True); time.sleep(0.3)"
    settings = {**program.settings(), "executable": sys.executable, "arguments": ["-c", told]}
    program.run("names_the_game", settings)


# ---- what goes in and comes out ------------------------------------------------------------------------------


def check_arguments_and_environment_arrive_as_they_were(program: Program, **told: Any) -> None:
    settings = {
        **program.settings(),
        "executable": sys.executable,
        "arguments": ["-c", TELLS, *ODD_ARGUMENTS],
        "environment": {"ODD": 'ein "schönes" 酒場 $x'},
    }
    found = program.run("arguments", settings, **told)
    assert json.loads(found["lines"][0]) == [ODD_ARGUMENTS, 'ein "schönes" 酒場 $x']
    assert found["code"] == 5
    assert "(exit code 5)" in found["why"]


def check_lines_that_are_no_ready_line_are_but_logged(program: Program) -> None:
    told = f"import sys; sys.stdout.write({chr(10).join(ODD_LINES) + chr(10)!r}); sys.exit(5)"
    found = program.run("arguments", {**program.settings(), "executable": sys.executable, "arguments": ["-c", told]})
    assert found["lines"] == ODD_LINES
    assert found["code"] == 5


def check_tool_calls_are_answered_within_the_turn_in_a_folder_of_any_name(program: Program) -> None:
    folder = program.folder / ODD_FOLDER
    python = script(folder / "par ley", f"#!/bin/sh\nexec '{sys.executable}' \"$@\"\n")
    odd = replace(program, folder=folder)
    # Where a sidecar runs is a setting of Unreal's scenarios alone.
    odd.run("tools", odd.settings(command=[str(python), *SERVE[1:]]), working_folder=str(folder))


def check_a_launcher_whose_stdout_does_not_arrive(program: Program) -> None:
    launcher = script(program.folder / "parley", f"#!/bin/sh\n'{sys.executable}' \"$@\" > /dev/null &\nwait $!\n")
    ready_file = program.folder / "ready.json"
    ready_file.write_text(
        '{"event": "ready", "endpoint": "tcp://127.0.0.1:9", "token": "x", "pid": 1}\n', encoding="ascii"
    )
    found = program.run("launcher", program.settings([str(launcher), *SERVE[1:]]), ready_file=str(ready_file))
    for pid in found["pids"]:
        until(lambda pid=pid: not psutil.pid_exists(int(pid)), 10, "the launched sidecar is gone")  # type: ignore[misc]


def check_exit_codes_in_words_and_command_lines_for_windows(program: Program) -> None:
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


def windows_split(line: str) -> list[str]:
    """Takes a command line apart as the C runtime of Windows does, behind the program's name."""
    words: list[str] = []
    word, inside, at = "", False, 0
    begun = False
    while at < len(line):
        backslashes = len(line[at:]) - len(line[at:].lstrip("\\"))
        if backslashes:
            at += backslashes
            begun = True
            if line[at : at + 1] == '"':
                word += "\\" * (backslashes // 2)
                if backslashes % 2:
                    word += '"'
                    at += 1
            else:
                word += "\\" * backslashes
        elif line[at] == '"':
            inside, begun = not inside, True
            at += 1
        elif line[at] in " \t" and not inside:
            if begun:
                words.append(word)
            word, begun = "", False
            at += 1
        else:
            word, begun = word + line[at], True
            at += 1
    return [*words, word] if begun else words

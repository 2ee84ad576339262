"""`parley chat`: what is printed where, exit codes, commands, Ctrl-C, and that no text can steer the terminal."""

from __future__ import annotations

import asyncio
import contextlib
import io
import itertools
import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge import protocol
from bridge.chat import HELP, Chat, ChatOptions, _tool_results, read_workflow, run_chat, speakers
from bridge.chat_keyboard import Keyboard, LineEditor
from bridge.chat_screen import JsonLines, Screen, Terminal, WordWrap, _Console, clean, visible
from bridge.client import ParleyClient
from bridge.codec import Envelope
from bridge.errors import InvalidValue

ROOT = Path(__file__).resolve().parent.parent
ESCAPES = "\x1b]0;owned\x07\x1b[31mred\x1b[0m \x9b2J[red]markup[/red] :smile:\r\x08"
SHOWN_ESCAPES = "]0;owned[31mred[0m 2J[red]markup[/red] :smile:"

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="sends POSIX signals")


def two_speakers(**changes: Any) -> dict[str, Any]:
    """Mira echoes the player's line, Bram has one of his own."""
    return {
        "version": 1,
        "start_node": "mira",
        "default_model": "mock-echo",
        "player_name": "Ann",
        "nodes": [
            {"name": "mira", "type": "Generate", "history_name": "Mira Vale", "default_exit": "bram"},
            {"name": "bram", "type": "CannedResponse", "inline_strings": ["Hm."]},
        ],
        **changes,
    }


def write(folder: Path, workflow: object, name: str = "inn.workflow.json") -> Path:
    file = folder / name
    file.write_text(json.dumps(workflow), encoding="utf-8")
    return file


@pytest.fixture(autouse=True)
def plain_surroundings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No settings and no taste in colours from whoever runs the tests."""
    for key in list(os.environ):
        if key.startswith("PARLEY_") or key in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "PYTHONIOENCODING"):
            monkeypatch.delenv(key)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.chdir(tmp_path)


def chat(*arguments: str, keyboard: bytes = b"", **environment: str) -> subprocess.CompletedProcess[bytes]:
    """`parley chat` as a process, with a pipe for a keyboard."""
    return subprocess.run(
        [sys.executable, "-m", "bridge", "chat", *arguments],
        input=keyboard,
        capture_output=True,
        env={**os.environ, **environment},
        check=False,
        timeout=60,
    )


class Running:
    """`parley chat` while it runs."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.shown = b""

    def read_until(self, expected: bytes) -> None:
        """Read stdout up to `expected`. Ends with the test's own time limit."""
        assert self.process.stdout is not None
        while expected not in self.shown:
            chunk = os.read(self.process.stdout.fileno(), 65_536)
            assert chunk, f"ended before {expected!r}; shown: {self.shown!r}; stderr: {self.process.stderr!r}"
            self.shown += chunk
        self.shown = self.shown.partition(expected)[2]

    def type(self, line: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line)
        self.process.stdin.flush()

    def sidecar(self) -> psutil.Process:
        (child,) = psutil.Process(self.process.pid).children()
        return child

    def end(self) -> tuple[int, str]:
        """Exit code and stderr. The keyboard stays open: nothing but the chat itself ends the chat."""
        assert self.process.stderr is not None
        errors = self.process.stderr.read().decode()
        return self.process.wait(30), errors


@contextmanager
def running(*arguments: str, **environment: str) -> Iterator[Running]:
    with subprocess.Popen(
        [sys.executable, "-m", "bridge", "chat", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, **environment},
    ) as process:
        try:
            yield Running(process)
        finally:
            if process.poll() is None:
                process.kill()


def slow_catalog(folder: Path, count: int = 500) -> str:
    """A model that needs minutes for its reply of `count` words, or as much less as those are fewer."""
    words = " ".join(f"word{index}" for index in range(count))
    mock = {"mode": "script", "replies": [words], "tokens_per_s": 20}
    return str(write(folder, {"models": [{"name": "slow", "engine": "mock", "mock": mock}]}, "models.json"))


# ---- the file ------------------------------------------------------------------------------------------------


def test_a_missing_file_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = run_chat(ChatOptions(tmp_path / "nothing.workflow.json"))
    shown = capsys.readouterr()
    assert (code, shown.out) == (2, "")
    assert shown.err == f"parley: there is no file {tmp_path / 'nothing.workflow.json'}\n"


def test_a_folder_is_no_workflow(tmp_path: Path) -> None:
    with pytest.raises(InvalidValue, match="cannot read") as caught:
        read_workflow(tmp_path)
    assert caught.value.code == 3007


@pytest.mark.parametrize("text", ["", "{", '{"a": 1,}', "\udcff", "[" * 5000])
def test_what_is_not_json_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "x.json"
    file.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(InvalidValue, match="is not valid JSON") as caught:
        read_workflow(file)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("value", [[], None, 1, "text"])
def test_json_that_is_no_object_is_refused(tmp_path: Path, value: object) -> None:
    with pytest.raises(InvalidValue, match="it must be a JSON object"):
        read_workflow(write(tmp_path, value))


def test_a_byte_order_mark_is_no_fault(tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    file.write_bytes(b"\xef\xbb\xbf{}")
    assert read_workflow(file) == {}


def test_model_replaces_every_model_that_is_named(tmp_path: Path) -> None:
    nodes = [{"name": "a", "model": "old"}, {"name": "b"}, "no node", None]
    workflow = read_workflow(write(tmp_path, {"default_model": "old", "nodes": nodes}), "new")
    assert workflow["default_model"] == "new"
    assert workflow["nodes"] == [{"name": "a", "model": "new"}, {"name": "b"}, "no node", None]


@pytest.mark.parametrize("nodes", [None, 5, "text", {}])
def test_model_leaves_to_the_compiler_what_it_cannot_read(tmp_path: Path, nodes: object) -> None:
    assert read_workflow(write(tmp_path, {"nodes": nodes}), "new") == {"nodes": nodes, "default_model": "new"}


def test_speakers_are_the_nodes_whose_text_is_sent() -> None:
    workflow = two_speakers()
    workflow["nodes"] += [
        {"name": "hidden", "type": "Generate", "send": "None"},
        {"name": "rendered", "type": "Transform", "template": "x"},
        {"name": "shown", "type": "Transform", "template": "x", "send": "Whole"},
        {"name": "order", "type": "Instruction", "instruction": "x"},
    ]
    assert speakers(workflow) == {"mira": "Mira Vale", "bram": "bram", "shown": "shown"}


# ---- text from outside ---------------------------------------------------------------------------------------


@given(st.text())
def test_no_text_can_steer_a_terminal(text: str) -> None:
    for shown in (clean(text), visible(text)):
        assert all(character in "\t\n" or character >= " " for character in shown)
        assert not any("\x7f" <= character <= "\x9f" or "\ud800" <= character <= "\udfff" for character in shown)


def test_what_is_harmless_stays_as_it_is() -> None:
    text = "a\tb\nŁukasz 龙 🙂 [red]x[/red] é"
    assert clean(text) == visible(text) == text
    assert visible("a\x1b[0m\x9b") == "a\\x1b[0m\\x9b"


# ---- the terminal --------------------------------------------------------------------------------------------


def envelope(message: protocol.Message) -> Envelope:
    return Envelope(message, 0, 1)


def answer(node_name: str, step: int, text: str, *, is_delta: bool = True, is_final: bool = False) -> Envelope:
    return envelope(
        protocol.AnswerText(
            agent_id="a", turn_id=1, node_name=node_name, step=step, text=text, is_delta=is_delta, is_final=is_final
        )
    )


def complete(status: protocol.TurnStatus = "Success", **fields: Any) -> Envelope:
    return envelope(protocol.TurnComplete(agent_id="a", turn_id=1, status=status, **fields))


def test_each_speaker_has_a_line_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    terminal = Terminal()
    terminal.begin("inn", "Ann", {"mira": "Mira Vale", "bram": "bram"}, has_keyboard=True)
    for frame in (
        answer("mira", 1, "Good "),
        answer("mira", 1, "evening."),
        answer("mira", 1, "", is_final=True),
        answer("quiet", 2, "", is_final=True),
        answer("bram", 3, "Hm.\nYes.", is_delta=False, is_final=True),
        complete(),
        answer("mira", 1, "Again.", is_delta=False, is_final=True),
        complete(),
    ):
        terminal.show(frame)
    terminal.close()
    assert capsys.readouterr().out.splitlines() == [
        "inn with Mira Vale, bram",
        "/help lists the commands",
        "Mira Vale: Good evening.",
        "bram: Hm.",
        "Yes.",
        "Mira Vale: Again.",
    ]


def test_a_whole_text_after_a_part_of_it_is_not_said_twice(capsys: pytest.CaptureFixture[str]) -> None:
    terminal = Terminal()
    terminal.show(answer("mira", 1, "Good "))
    terminal.show(answer("mira", 1, "Good evening.", is_delta=False, is_final=True))
    terminal.show(complete())
    assert capsys.readouterr().out == "mira: Good evening.\n"


def test_escapes_and_markup_are_shown_as_plain_text(capsys: pytest.CaptureFixture[str]) -> None:
    terminal = Terminal()
    terminal.begin(ESCAPES, ESCAPES, {"mira": ESCAPES}, has_keyboard=False)
    terminal.echo(ESCAPES)
    terminal.show(answer("mira", 1, ESCAPES, is_final=True))
    terminal.show(envelope(protocol.Warning(code=0, message=ESCAPES, node_name="mira")))
    terminal.show(envelope(protocol.Progress(task="load", model=ESCAPES, done=1, total=2, unit="percent")))
    terminal.show(complete("Error", error=protocol.TurnError(code=4001, name="X", message=ESCAPES)))
    terminal.log(ESCAPES)
    terminal.note(ESCAPES)
    terminal.error(ESCAPES)
    shown = capsys.readouterr()
    for text in (shown.out, shown.err):
        assert not set(text) & {"\x1b", "\x07", "\x9b", "\r", "\x08"}
    assert shown.out.splitlines() == [
        f"{SHOWN_ESCAPES} with {SHOWN_ESCAPES}",
        f"{SHOWN_ESCAPES}: {SHOWN_ESCAPES}",
        f"{SHOWN_ESCAPES}: {SHOWN_ESCAPES}",
        SHOWN_ESCAPES,
    ]
    assert shown.err.splitlines() == [
        f"warning: mira: {SHOWN_ESCAPES}",
        f"load {SHOWN_ESCAPES}: 1/2 percent",
        f"parley: {SHOWN_ESCAPES} (4001)",
        SHOWN_ESCAPES,
        f"parley: {SHOWN_ESCAPES}",
    ]


def test_each_speaker_has_a_colour_of_its_own(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def shown() -> list[str]:
        terminal = Terminal()
        for frame in (answer("mira", 1, "A", is_final=True), answer("bram", 2, "B", is_final=True), complete()):
            terminal.show(frame)
        return capsys.readouterr().out.splitlines()

    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    assert shown() == ["\x1b[1;36mmira: \x1b[0mA", "\x1b[1;35mbram: \x1b[0mB"]
    monkeypatch.setenv("NO_COLOR", "1")
    assert shown() == ["\x1b[1mmira: \x1b[0mA", "\x1b[1mbram: \x1b[0mB"]


@pytest.mark.parametrize(
    ("frame", "out", "err"),
    [
        (complete(), "(nobody said anything)\n", ""),
        (complete("Cancelled"), "(stopped)\n", ""),
        (
            complete("Error", error=protocol.TurnError(code=4004, name="X", message="too long", node_name="mira")),
            "",
            "parley: mira: too long (4004)\n",
        ),
    ],
)
def test_how_a_turn_ended_is_said(frame: Envelope, out: str, err: str, capsys: pytest.CaptureFixture[str]) -> None:
    Terminal().show(frame)
    assert tuple(capsys.readouterr()) == (out, err)


def test_an_answer_that_was_cut_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    def cut(*steps: int) -> list[protocol.StepFinish]:
        return [
            protocol.StepFinish(step=step, node_name="x", reason="length" if step in steps else "stop")
            for step in (1, 2, 3)
        ]

    terminal = Terminal()
    terminal.begin("inn", "Ann", {"mira": "Mira Vale"}, has_keyboard=False)
    for frame in (
        answer("mira", 1, "Good", is_final=True),
        complete(finish=cut(1)),
        answer("mira", 1, "Good", is_final=True),
        answer("bram", 2, "Hm.", is_final=True),
        complete(finish=cut(1)),
        answer("mira", 1, "Whole.", is_final=True),
        # Nobody hears of a step that said nothing aloud.
        complete(finish=cut(3)),
    ):
        terminal.show(frame)
    assert capsys.readouterr().out.splitlines()[1:] == [
        *("Mira Vale: Good", "… (cut at max_tokens)"),
        *("Mira Vale: Good", "bram: Hm.", "… (Mira Vale: cut at max_tokens)"),
        "Mira Vale: Whole.",
    ]


def test_findings_about_a_model_that_was_given_name_the_flag(capsys: pytest.CaptureFixture[str]) -> None:
    paths = ("$.default_model", "$.nodes[0].model", "$.nodes[12].model", "$.nodes[0].max_tokens")
    found = [protocol.Problem(severity="error", code=6005, path=path, message="no") for path in paths]
    screen = Screen()
    screen.problems(found)
    assert capsys.readouterr().err.splitlines() == [f"error: {path}: no [6005]" for path in paths]
    screen.model_is_given = True
    screen.problems(found)
    assert capsys.readouterr().err.splitlines() == [f"error: {path}: no [6005]" for path in ("--model", paths[3])]


def test_what_is_said_beside_an_open_line_starts_a_new_one(capfd: pytest.CaptureFixture[str]) -> None:
    terminal = Terminal()
    terminal.show(answer("mira", 1, "Good "))
    terminal.log("12:00:00 WARNING something")
    terminal.show(answer("mira", 1, "evening.", is_final=True))
    assert capfd.readouterr().out.splitlines() == ["mira: Good ", "mira: evening."]


def test_what_moves_is_taken_away_before_anything_is_printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "30")
    monkeypatch.setattr(_Console, "can_animate", True)
    threads = set(threading.enumerate())
    terminal = Terminal()
    terminal.busy("starting")
    for done in (0, 50, 100):
        terminal.show(envelope(protocol.Progress(task="load", model="[red]\x1b", done=done, total=100, unit="x")))
        terminal.show(envelope(protocol.Progress(task="prepare", model="n", done=done, total=0, unit="x")))
    terminal.log("a log line")
    terminal.busy("reading")
    terminal.log("another")
    moving = set(threading.enumerate()) - threads
    terminal.show(answer("mira", 1, "Good evening", is_final=True))
    terminal.show(complete())
    terminal.prompt()
    terminal.close()
    for thread in moving:
        thread.join(30)
    assert moving and not any(thread.is_alive() for thread in moving)
    out = capsys.readouterr().out
    lines = [re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\r", "", line) for line in out.split("\n")]
    # The spinner's own line, empty again, and the prompt's.
    assert lines[lines.index("mira: Good evening") + 1 :][-1] == "Player: "
    assert out.count("\x1b[?25l") == out.count("\x1b[?25h"), "the cursor stays hidden"
    assert "100%" in out


DEBUG: dict[str, Any] = {
    "slots": {"user_message": "hi", "mira": "yo", "mood": "glad"},
    "steps": [
        {
            "step": 1,
            "node_name": "mira",
            "type": "Generate",
            "exit": "default",
            "duration_ms": 812.4,
            "input": {
                "slot": "user_message",
                "text": "hi",
                "prompt": [{"role": "system", "content": "You are Mira. [b]\x1b"}],
                "rendered": "<start>You are Mira.",
            },
            "output": {"slot": "mira", "text": "yo"},
            "usage": {
                "prompt_tokens": 210,
                "cached_tokens": 180,
                "evaluated_tokens": 30,
                "generated_tokens": 21,
                "ttft_ms": 95.2,
                "tokens_per_s": 41.4,
            },
            "finish": "stop",
            "details": {"input_missing": "x"},
        },
        {"step": 2, "node_name": "bram", "type": "CannedResponse", "exit": "", "duration_ms": 0.1},
    ],
}


def test_the_costs_of_each_step(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    Terminal(diagnostics=True).show(complete(debug=DEBUG))
    rows = [line.split() for line in capsys.readouterr().out.splitlines()[1:]]
    assert rows == [
        ["node", "exit", "ms", "prompt", "cached", "eval", "gen", "ttft", "tok/s", "finish"],
        ["mira", "default", "812", "210", "180", "30", "21", "95", "41", "stop"],
        ["bram", "-", "0", "-", "-", "-", "-", "-", "-", "-"],
    ]


def test_the_costs_in_a_narrow_terminal(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    Terminal(diagnostics=True).show(complete(debug=DEBUG))
    assert capsys.readouterr().out.splitlines()[1:] == [
        "mira -> default: ms 812, prompt 210, cached 180, eval 30, gen 21, ttft 95, tok/s 41, finish stop",
        "bram -> -: ms 0",
    ]


def test_without_diagnostics_no_costs(capsys: pytest.CaptureFixture[str]) -> None:
    Terminal().show(complete(debug=DEBUG))
    assert capsys.readouterr().out == "(nobody said anything)\n"


def test_inspection_shows_the_exact_prompt(capsys: pytest.CaptureFixture[str]) -> None:
    Terminal().inspect(DEBUG)
    assert capsys.readouterr().out.splitlines() == [
        "-- step 1: mira (Generate) -> default",
        "what the model read, exactly",
        "  <start>You are Mira.",
        "as messages, before the chat format",
        "  The chat format makes the text above of these: it adds examples and the marks between speakers.",
        "  system  You are Mira. [b]\\x1b",
        "slots",
        "  read user_message  hi",
        "  wrote mira         yo",
        "usage",
        "  ms                812.4",
        "  prompt tokens     210",
        "  cached tokens     180",
        "  evaluated tokens  30",
        "  generated tokens  21",
        "  ttft ms           95.2",
        "  tokens per s      41.4",
        "  finish            stop",
        "details",
        "  input missing  x",
        "-- step 2: bram (CannedResponse) -> -",
        "usage",
        "  ms  0.1",
        "-- other slots",
        "  mood  glad",
    ]


def test_details_are_rows(capsys: pytest.CaptureFixture[str]) -> None:
    far = {"id": "inn", "distance": 1.0, "text": "Beer."}
    nearest = [{"id": "mill", "distance": 0.123456, "text": "It burned."}, far]
    details = {"hits": [], "nearest": nearest, "probabilities": {"a": 0.25, "other": 0.75}, "reason": "", "margin": 0.5}
    Terminal().inspect({"steps": [{"step": 1, "node_name": "k", "type": "Retrieve", "details": details}]})
    assert capsys.readouterr().out.splitlines()[1:] == [
        "details",
        "  nearest        0.123  mill  It burned.",
        "                 1.000  inn   Beer.",
        "  probabilities  a      0.250",
        "                 other  0.750",
        "  margin         0.500",
    ]


def test_inspection_of_one_node(capsys: pytest.CaptureFixture[str]) -> None:
    Terminal().inspect(DEBUG, "bram")
    assert capsys.readouterr().out == "-- step 2: bram (CannedResponse) -> -\nusage\n  ms  0.1\n"


def test_inspection_in_a_narrow_terminal(capsys: pytest.CaptureFixture[str], narrow: None) -> None:
    read = {
        "prompt": [
            {"role": "system", "content": "You are Mira, and\nyou keep the inn by the harbour."},
            {"role": "assistant", "content": "Hm."},
        ],
        "rendered": "You are Mira, and\n\nyou keep the inn by the harbour.",
    }
    Terminal().inspect({"steps": [{**DEBUG["steps"][0], "input": read}]})
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 30
    assert lines[:23] == [
        "-- step 1: mira (Generate) ->",
        "   default",
        "what the model read, exactly",
        "  You are Mira, and",
        "  ",
        "  you keep the inn by the",
        # Set in once more: the model read no line break here.
        "    harbour.",
        "as messages, before the chat",
        "format",
        "  The chat format makes the",
        "  text above of these: it adds",
        "  examples and the marks",
        "  between speakers.",
        "  system",
        "    You are Mira, and",
        "    you keep the inn by the",
        "    harbour.",
        "  assistant",
        "    Hm.",
        "slots",
        "  wrote mira  yo",
        "usage",
        "  ms                812.4",
    ]


@pytest.mark.parametrize("debug", [{}, {"warning": "left out"}, {"steps": [{}], "slots": {}}])
def test_shortened_diagnostics_are_no_fault(debug: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    terminal = Terminal(diagnostics=True)
    terminal.show(complete(debug=debug))
    capsys.readouterr()
    terminal.inspect(debug)
    shown = ["-- step None: None (None) -> -"] if "steps" in debug else [debug["warning"]] if debug else []
    assert capsys.readouterr().out.splitlines() == shown


def test_a_program_finds_what_is_inspected_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    JsonLines().inspect(DEBUG, "bram")
    assert tuple(capsys.readouterr()) == ("", "-- step 2: bram (CannedResponse) -> -\nusage\n  ms  0.1\n")


# ---- a narrow terminal ---------------------------------------------------------------------------------------


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal of 30 columns."""
    monkeypatch.setenv("COLUMNS", "30")
    monkeypatch.setattr(_Console, "wraps", True)


def test_answers_are_broken_at_words(capsys: pytest.CaptureFixture[str], narrow: None) -> None:
    terminal = Terminal()
    terminal.begin("tavern", "Guest", {"m": "Mira", "b": "Bram", "n": "Narrator"}, has_keyboard=True)
    terminal.echo("Good evening, have you got a room for the night?")
    for part in ("Sit do", "wn, love! The", "re is mut", "ton stew with bar", "ley.\nA", "nd  bread.", " "):
        terminal.show(answer("m", 1, part))
    assert capsys.readouterr().out.endswith("And  bread."), "a word that is whole is held back"
    terminal.show(answer("m", 1, "Fresh", is_final=True))
    terminal.show(answer("n", 2, "x" * 40 + " and on", is_delta=False, is_final=True))
    terminal.show(complete("Error", error=protocol.TurnError(code=4001, name="X", message="something went very wrong")))
    terminal.note(HELP.splitlines()[1])
    shown = capsys.readouterr()
    assert shown.out.splitlines() == [
        " Fresh",
        "Narrator: ",
        "x" * 40 + " and on",
        "/inspect  what the models read",
        "          for the last line,",
        "          and what it cost;",
        "          /inspect NODE shows",
        "          one node only",
    ]
    assert shown.err.splitlines() == ["parley: something went very", "wrong (4001)"]


def test_where_an_answer_is_broken(capsys: pytest.CaptureFixture[str], narrow: None) -> None:
    terminal = Terminal()
    terminal.begin("tavern", "Guest", {"m": "Mira", "b": "Bram", "n": "Narrator"}, has_keyboard=True)
    terminal.echo("Good evening, have you got a room for the night?")
    for part in ("Sit do", "wn, love! The", "re is mut", "ton stew with bar", "ley.\nA", "nd  bread."):
        terminal.show(answer("m", 1, part))
    terminal.show(answer("b", 2, "龙" * 13 + "。龙", is_delta=False, is_final=True))
    terminal.show(complete())
    assert capsys.readouterr().out.splitlines() == [
        "tavern with Mira, Bram, ",
        "Narrator",
        "/help lists the commands",
        "Guest: Good evening, have you",
        "got a room for the night?",
        "Mira: Sit down, love! There is",
        "mutton stew with barley.",
        "And  bread.",
        "Bram: " + "龙" * 11 + "龙",
        "龙。龙",
    ]


WORDS = st.tuples(st.text("abé", min_size=1, max_size=4), st.sampled_from([" ", "\n"]))


@given(st.lists(WORDS), st.lists(st.integers(0, 200)), st.integers(4, 20))
def test_breaking_at_words_loses_nothing(words: list[tuple[str, str]], cuts: list[int], width: int) -> None:
    text = "".join(word + gap for word, gap in words)
    edges = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    wrap = WordWrap()
    shown = "".join(wrap.add(text[start:end], width) for start, end in itertools.pairwise(edges)) + wrap.flush(width)
    assert shown.split() == text.split()
    assert all(len(line.rstrip()) <= width for line in shown.split("\n"))


def test_progress_in_a_pipe_is_a_line_for_each_quarter(capsys: pytest.CaptureFixture[str]) -> None:
    terminal = Terminal()
    for done in range(101):
        terminal.show(envelope(protocol.Progress(task="load", model="m", done=done, total=100, unit="percent")))
    terminal.show(envelope(protocol.Progress(task="prepare", done=5, total=0, unit="bytes")))
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.splitlines() == [
        *(f"load m: {done}/100 percent" for done in (0, 25, 50, 75, 100)),
        "prepare: 5/0 bytes",
    ]


# ---- lines of JSON -------------------------------------------------------------------------------------------


def test_a_frame_is_one_line(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    screen = JsonLines()
    screen.show(Envelope(protocol.TurnStarted(agent_id="a", turn_id=3), 7, 5))
    screen.show(Envelope(protocol.Warning(code=0, message="龙\n\x1b", node_name="mira"), 0, 6))
    shown = capsysbinary.readouterr()
    started, warning = shown.out.splitlines()
    assert started == b'{"type":"TurnStarted","request_id":7,"seq":5,"body":{"agent_id":"a","turn_id":3}}'
    assert json.loads(warning)["body"]["message"] == "龙\n\x1b"
    assert shown.err.decode() == "warning: mira: 龙\n\n"


def test_the_key_of_a_session_is_not_printed(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    ready = protocol.SessionReady(
        protocol=1, session_id="s", session_key="secret", resumed=False, last_request_id=0, server_version="1",
        schema_fingerprint="f", heartbeat_s=1.0,
    )  # fmt: skip
    JsonLines().show(Envelope(ready, 1, 0))
    out = capsysbinary.readouterr().out
    assert b"secret" not in out
    assert json.loads(out)["body"] == {**ready.model_dump(), "session_key": ""}
    assert ready.session_key == "secret", "the message itself is the client's"


# ---- the keyboard --------------------------------------------------------------------------------------------


def lines_of(*chunks: bytes | None, encoding: str = "utf-8") -> list[str]:
    rest = iter(chunks)
    keyboard = Keyboard(lambda: next(rest, b""), encoding)

    async def read() -> list[str]:
        found = []
        while (line := await keyboard.next_line()) is not None:
            found.append(line)
        return found

    return asyncio.run(read())


def test_lines_are_cut_at_line_breaks_and_nowhere_else() -> None:
    assert lines_of(b"a\r\nb", b"c\n\nd") == ["a", "bc", "", "d"]
    assert lines_of("\ufeffŁ 龙\n".encode()[:5], "\ufeffŁ 龙\n".encode()[5:]) == ["Ł 龙"]
    assert lines_of(b"a\x0cb\x1c\xe2\x80\xa8c\n") == ["a\x0cb\x1c\u2028c"]
    assert lines_of("é\n".encode("cp1252"), encoding="cp1252") == ["é"]
    assert lines_of(b"\xff\n") == ["\ufffd"]
    assert lines_of(b"", b"not read\n") == []
    assert lines_of(None) == []


def test_a_keyboard_that_breaks_is_at_its_end() -> None:
    def read() -> bytes:
        raise OSError(5, "gone")

    async def first() -> str | None:
        return await Keyboard(read).next_line()

    assert asyncio.run(first()) is None


def test_waiting_for_a_line_holds_up_nothing() -> None:
    typed = threading.Event()

    def read() -> bytes:
        typed.wait(30)
        return b"late\n"

    async def first() -> str | None:
        line = Keyboard(read).next_line()
        await asyncio.sleep(0)
        assert not line.done()
        typed.set()
        return await line

    assert asyncio.run(first()) == "late"


# ---- the line editor -----------------------------------------------------------------------------------------


class Shown(io.StringIO):
    """What a terminal was sent; `when(text)` waits for a text."""

    def __init__(self) -> None:
        super().__init__()
        self._wanted = ""
        self._there = asyncio.Event()

    def write(self, text: str, /) -> int:
        written = super().write(text)
        if self._wanted in self.getvalue():
            self._there.set()
        return written

    async def when(self, text: str) -> None:
        self._wanted = text
        if text not in self.getvalue():
            self._there.clear()
            await self._there.wait()


def edited(*typed: str, beside: str = "") -> tuple[list[str | None], str]:
    """What each line of keys makes, and what the terminal got to show."""
    from prompt_toolkit.data_structures import Size
    from prompt_toolkit.input import create_pipe_input
    from prompt_toolkit.output.vt100 import Vt100_Output

    async def read() -> tuple[list[str | None], str]:
        shown = Shown()
        with create_pipe_input() as keys:
            editor = LineEditor(keys, Vt100_Output(shown, lambda: Size(24, 80), term="xterm"))
            found = []
            for line in typed:
                waiting = editor.next_line("Ann: ")
                if beside:
                    await shown.when("Ann:")
                    print(beside)
                    await shown.when(beside)
                keys.send_text(line)
                found.append(await waiting)
        return found, shown.getvalue()

    return asyncio.run(read())


def test_a_line_can_be_edited_and_had_again() -> None:
    assert edited("helo\x1b[D\x1b[Dl\r", "\x1b[A!\r", "Ł 龙 🙂\r")[0] == ["hello", "hello!", "Ł 龙 🙂"]


@pytest.mark.parametrize("key", ["\x03", "\x04"])
def test_the_keys_that_leave(key: str) -> None:
    assert edited(key)[0] == [None]


def test_ctrl_c_leaves_from_a_line_that_was_begun_and_ctrl_d_does_not() -> None:
    assert edited("half\x03", "half\x04\r")[0] == [None, "half"]


def test_what_is_printed_beside_a_line_does_not_touch_it() -> None:
    stdout = sys.stdout
    lines, shown = edited("hello\r", beside="a log line")
    assert lines == ["hello"]
    assert re.search(r"a log line\r?\n.*Ann:", shown, re.DOTALL), "the prompt is drawn again below"
    assert sys.stdout is stdout


def test_an_editor_that_is_no_longer_wanted_puts_the_terminal_in_order() -> None:
    from prompt_toolkit.input import create_pipe_input
    from prompt_toolkit.output import DummyOutput

    stdout = sys.stdout

    async def leave() -> None:
        with create_pipe_input() as keys:
            line = LineEditor(keys, DummyOutput()).next_line("Ann: ")
            await asyncio.sleep(0)
            line.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await line

    asyncio.run(leave())
    assert sys.stdout is stdout


# ---- the conversation, with a sidecar made up ----------------------------------------------------------------


class Recorder(Screen):
    """Keeps what is said beside the conversation."""

    def __init__(self) -> None:
        super().__init__()
        self.said: list[str] = []
        self.inspected: list[str] = []

    def inspect(self, debug: object, node: str = "") -> None:
        self.inspected.append(node)

    def note(self, text: str) -> None:
        self.said.append(text)

    def error(self, text: str) -> None:
        self.said.append(text)


class FakeClient:
    """Answers every line at once, but "slow" only when it is cancelled. `on_turn` is called inside each turn."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.requests: list[protocol.Request] = []
        self.agents = 0
        self.diagnostics: list[bool] = []
        self.cancels = 0
        self.debug: dict[str, Any] | None = None
        self.on_turn: Callable[[], None] = lambda: None
        self.lost: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._cancelled = asyncio.Event()

    async def request(self, message: protocol.Request) -> protocol.Reply:
        self.requests.append(message)
        return protocol.Ok()

    async def create_agent(
        self, workflow: object, *, variables: object, enable_diagnostics: bool
    ) -> protocol.AgentCreated:
        self.agents += 1
        self.diagnostics.append(enable_diagnostics)
        return protocol.AgentCreated(agent_id=f"agent{self.agents}")

    async def turn(self, agent_id: str, text: str) -> AsyncIterator[Envelope]:
        self.lines.append(text)
        self.on_turn()
        if text == "slow":
            await self._cancelled.wait()
            yield complete("Cancelled")
        else:
            yield complete(debug=self.debug)

    async def cancel_turn(self, agent_id: str) -> None:
        self.cancels += 1
        self._cancelled.set()

    async def subscribe(self) -> AsyncIterator[Envelope]:
        await self.lost
        yield complete()


Talk = tuple[int, FakeClient, Recorder]


def talk(
    folder: Path,
    *typed: str,
    say: tuple[str, ...] = (),
    as_json: bool = False,
    prepare: Callable[[Chat, FakeClient], None] | None = None,
) -> Talk:
    """A conversation with the lines that are typed; exit code, client, screen."""
    file = write(folder, two_speakers())
    keys = iter([f"{line}\n".encode() for line in typed])

    async def main() -> Talk:
        client, screen = FakeClient(), Recorder()
        keyboard = Keyboard(lambda: next(keys, b""))
        run = Chat(ChatOptions(file, say, as_json), read_workflow(file), screen, keyboard)
        if prepare is not None:
            prepare(run, client)
        return await run.talk(cast(ParleyClient, client)), client, screen

    return asyncio.run(main())


def test_commands_are_not_said(tmp_path: Path) -> None:
    code, client, screen = talk(tmp_path, "hello", " /nope now", "", "  ", "/help", "/quit", "never said")
    assert (code, client.lines) == (0, ["hello"])
    assert screen.said[0] == "There is no command /nope; /help lists those there are."
    for command in ("/inspect", "/reset", "/help", "/quit", "Ctrl-C"):
        assert command in screen.said[1]


def test_commands_are_read_in_any_case_and_take_nothing_more(tmp_path: Path) -> None:
    code, client, screen = talk(tmp_path, "/HELP", "/reset now", "/Reset", "/quit it", "/Quit", "never said")
    assert (code, client.lines, client.agents) == (0, [], 2)
    assert screen.said == [HELP, "/reset takes nothing more.", "A new conversation.", "/quit takes nothing more."]


def test_what_can_be_inspected(tmp_path: Path) -> None:
    def prepare(run: Chat, client: FakeClient) -> None:
        client.debug = DEBUG

    _, _, screen = talk(
        tmp_path, "/inspect", "hello", "/inspect", "/INSPECT  Bram ", "/inspect nobody", "/reset", "/inspect mira",
        prepare=prepare,
    )  # fmt: skip
    assert screen.inspected == ["", "bram"]
    assert screen.said == [
        "There is nothing to inspect yet: no turn has ended. Say something first.",
        "The last turn had no step of a node 'nobody'; it had mira, bram.",
        "A new conversation.",
        "There is nothing to inspect yet: no turn has ended. Say something first.",
    ]


def test_a_turn_without_diagnostics_is_not_a_turn_that_is_missing(tmp_path: Path) -> None:
    _, _, screen = talk(tmp_path, "hello", "/inspect")
    assert screen.said == ["There is nothing to inspect: the last turn carries no diagnostics."]
    _, client, screen = talk(tmp_path, "/inspect", as_json=True)
    assert client.diagnostics == [False]
    assert screen.said == ["To inspect turns while --json prints them, start with --json --diagnostics."]


def test_typed_control_characters_are_not_said(tmp_path: Path) -> None:
    assert talk(tmp_path, "a\x1b[D\x9b\x00\x7fb\tc", "\x1b/quit", "x")[1].lines == ["a[Db\tc"]


def test_reset_makes_a_new_agent_and_ends_the_old_one(tmp_path: Path) -> None:
    code, client, screen = talk(tmp_path, "hello", "/reset", "/inspect", "hello")
    assert (code, client.lines, client.agents) == (0, ["hello", "hello"], 2)
    assert client.requests[1:] == [protocol.DestroyAgent(agent_id="agent1")]
    assert "nothing to inspect" in screen.said[1]


def test_variables_are_shown_and_set(tmp_path: Path) -> None:
    def prepare(run: Chat, client: FakeClient) -> None:
        declared = [{"name": "level", "type": "int", "value": 1}, {"name": "mood", "type": "string", "value": "calm"}]
        run._workflow["variables"] = declared

    typed = ("/var", "/var level=5", "/VAR mood=3", "/var level", "/reset", "/var")
    _, client, screen = talk(tmp_path, *typed, prepare=prepare)
    assert [request.values for request in client.requests if isinstance(request, protocol.SetVariables)] == [
        {"level": 5},
        {"mood": "3"},  # a string, as the workflow declares it
    ]
    assert screen.said == [
        'level = 1\nmood = "calm"',
        'level = 5\nmood = "calm"',
        'level = 5\nmood = "3"',
        "/var takes NAME=VALUE, not 'level'.",
        "A new conversation.",
        'level = 5\nmood = "3"',
    ]
    assert talk(tmp_path, "/var")[2].said == ["There are no variables."]


def test_what_is_to_be_said_is_no_command(tmp_path: Path) -> None:
    assert talk(tmp_path, say=("/var", "hello"))[1].lines == ["/var", "hello"]


def test_an_answer_of_a_tool_that_nobody_has_is_refused() -> None:
    workflow = {"nodes": [{"name": "a", "tools": [{"name": "open_door"}]}, {"name": "b", "type": "Generate"}, 3]}
    assert _tool_results(["open_door=It is open."], workflow) == {"open_door": "It is open."}
    with pytest.raises(InvalidValue, match=r"no tool 'open_dor'; did you mean 'open_door'\?"):
        _tool_results(["open_dor=x"], workflow)
    with pytest.raises(InvalidValue, match="it has no ToolCall node"):
        _tool_results(["open_door=x"], {"nodes": None})


def test_the_workflows_folder_is_the_storage_folder(tmp_path: Path) -> None:
    _, client, _ = talk(tmp_path)
    assert client.requests == [protocol.ConfigureSession(storage_folder=str(tmp_path.resolve()))]


def test_a_person_can_always_inspect(tmp_path: Path) -> None:
    assert talk(tmp_path)[1].diagnostics == [True]
    assert talk(tmp_path, say=("hello",))[1].diagnostics == [False]


def test_lines_to_say_are_said_as_they_are(tmp_path: Path) -> None:
    code, client, _ = talk(tmp_path, "not read", say=("hello", "", "/quit", " x "))
    assert (code, client.lines) == (0, ["hello", "", "/quit", " x "])


def test_ctrl_c_stops_the_turn_and_asks_for_the_next_line(tmp_path: Path) -> None:
    def prepare(run: Chat, client: FakeClient) -> None:
        client.on_turn = lambda: run.interrupt() if client.lines[-1] == "slow" else None

    code, client, _ = talk(tmp_path, "slow", "hello", "slow", prepare=prepare)
    assert (code, client.lines, client.cancels) == (1, ["slow", "hello", "slow"], 2)


def test_ctrl_c_stops_what_is_left_to_say(tmp_path: Path) -> None:
    code, client, _ = talk(
        tmp_path, say=("slow", "hello"), prepare=lambda run, client: setattr(client, "on_turn", run.interrupt)
    )
    assert (code, client.lines, client.cancels) == (1, ["slow"], 1)


def test_a_lost_connection_ends_the_wait_for_a_line(tmp_path: Path) -> None:
    at_end = threading.Event()
    file = write(tmp_path, two_speakers())

    def nothing_until_the_end() -> bytes:
        at_end.wait(30)
        return b""

    async def main() -> int:
        client = FakeClient()
        client.lost.set_exception(ConnectionError("broke"))
        run = Chat(ChatOptions(file), read_workflow(file), Recorder(), Keyboard(nothing_until_the_end))
        return await run.talk(cast(ParleyClient, client))

    try:
        with pytest.raises(ConnectionError, match="broke"):
            asyncio.run(main())
    finally:
        at_end.set()


# ---- the whole, with a sidecar -------------------------------------------------------------------------------


def frames_of(out: bytes) -> list[dict[str, Any]]:
    frames = [json.loads(line) for line in out.splitlines()]
    assert all(list(frame) == ["type", "request_id", "seq", "body"] for frame in frames)
    return frames


def test_json_prints_every_frame_in_order_and_nothing_else(tmp_path: Path) -> None:
    # The models that the file names do not exist: --model replaces them all.
    workflow = two_speakers(default_model="nowhere")
    workflow["nodes"][0]["model"] = "nowhere"
    line = f"Łukasz 龙 {ESCAPES[:-2]}"
    ended = chat(
        str(write(tmp_path, workflow)), "--json", "--model", "mock-echo", "--diagnostics", "--say", line, "--say", "two"
    )
    assert (ended.returncode, b"Traceback" in ended.stderr) == (0, False)
    frames = frames_of(ended.stdout)
    types = [frame["type"] for frame in frames]
    turn = ["TurnStarted", "AnswerText", "AnswerText", "AnswerText", "TurnComplete"]
    squeezed = [name for index, name in enumerate(types) if name != "AnswerText" or types[index - 1] != name]
    assert squeezed == [
        *("SessionReady", "Ok", "AgentCreated"),
        *("TurnStarted", "AnswerText", "TurnComplete") * 2,
        "Ok",
    ]
    assert set(turn) < set(types)
    sequenced = [frame["seq"] for frame in frames if frame["type"] != "SessionReady"]
    assert sequenced == list(range(1, len(sequenced) + 1))
    pushes = {"AnswerText", "TurnComplete"}
    assert all((frame["request_id"] == 0) == (frame["type"] in pushes) for frame in frames)
    said: dict[tuple[int, str], str] = {}
    for frame in frames:
        if frame["type"] == "AnswerText":
            key = frame["body"]["turn_id"], frame["body"]["node_name"]
            said[key] = said.get(key, "") + frame["body"]["text"]
    assert {key: text.split() for key, text in said.items()} == {
        (1, "mira"): line.split(),
        (1, "bram"): ["Hm."],
        (2, "mira"): ["two"],
        (2, "bram"): ["Hm."],
    }
    assert [len(frame["body"]["debug"]["steps"]) for frame in frames if frame["type"] == "TurnComplete"] == [2, 2]
    assert b"ready at" in ended.stderr


def test_a_failed_turn_is_one_sentence_and_exit_code_1(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    workflow = two_speakers()
    workflow["nodes"][0].update(context_size=32, max_tokens=8)
    assert run_chat(ChatOptions(write(tmp_path, workflow), say=("word " * 200, "short"))) == 1
    shown = capfd.readouterr()
    assert "Mira Vale: short" in shown.out
    (sentence,) = [line for line in shown.err.splitlines() if line.startswith("parley: ")]
    assert sentence.startswith("parley: mira: the prompt of node 'mira' has ")
    assert sentence.endswith("(4004)")


@pytest.mark.parametrize("as_json", [False, True])
def test_every_problem_of_a_workflow_is_printed(
    tmp_path: Path, as_json: bool, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    workflow = two_speakers(start_node="nobody")
    workflow["nodes"][0].update(max_tokens=-1)
    workflow["nodes"][1].update(type="Nonsense")
    assert run_chat(ChatOptions(write(tmp_path, workflow), say=("hello",), as_json=as_json)) == 2
    shown = capfdbinary.readouterr()
    findings = [line for line in shown.err.decode().splitlines() if line.startswith("error: ")]
    assert [line.split(": ")[1] for line in findings] == ["$.start_node", "$.nodes[0].max_tokens", "$.nodes[1].type"]
    assert all(line.endswith(("[3003]", "[3007]")) for line in findings)
    if as_json:
        assert [frame["type"] for frame in frames_of(shown.out)] == ["SessionReady", "Ok", "Error", "Ok"]
    else:
        assert shown.out == b""


def test_warnings_of_a_workflow_are_printed_and_no_fault(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    workflow = two_speakers()
    workflow["nodes"].append({"name": "lonely", "type": "Generate"})
    assert run_chat(ChatOptions(write(tmp_path, workflow), say=("hello",))) == 0
    assert capfd.readouterr().err.startswith("warning: $.nodes[2].name: ")


def test_a_model_that_does_not_exist_is_the_flags_fault(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    workflow = two_speakers()
    workflow["nodes"][0]["model"] = "mock-echo"
    assert run_chat(ChatOptions(write(tmp_path, workflow), say=("hello",), model="nope")) == 2
    out, err = capfd.readouterr()
    assert out == ""
    (line,) = err.splitlines()
    assert line.startswith("error: --model: the catalog has no model 'nope'")


@pytest.mark.thorough
def test_answers_to_commands_are_no_frames(tmp_path: Path) -> None:
    typed = b"/help\nhello\n/inspect bram\n/inspect nobody\n/reset now\n/nope\n"
    ended = chat(str(write(tmp_path, two_speakers())), "--json", "--diagnostics", keyboard=typed)
    assert ended.returncode == 0
    types = {frame["type"] for frame in frames_of(ended.stdout)}
    assert types == {"SessionReady", "Ok", "AgentCreated", "TurnStarted", "AnswerText", "TurnComplete"}
    for part in ("/inspect NODE", "-- step 2: bram", "'nobody'", "/reset takes nothing more.", "no command /nope"):
        assert part in ended.stderr.decode()


def test_a_workflow_nested_beyond_reason_is_one_sentence(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "deep.json"
    file.write_text('{"a":' * 300 + "1" + "}" * 300, encoding="utf-8")
    assert run_chat(ChatOptions(file, say=("hello",))) == 2
    assert tuple(capfd.readouterr()) == ("", f"parley: {file} is nested too deeply\n")


@pytest.mark.thorough
def test_a_pipe_is_a_keyboard_and_a_narrow_console_no_fault(tmp_path: Path) -> None:
    workflow = two_speakers()
    workflow["nodes"][1]["inline_strings"] = [f"龙 Łukasz {ESCAPES}"]
    typed = "one [red]x[/red] \x1b[31m\r\n/reset\n/nope\n\n/inspect\ntwo é\n/inspect\n/quit\nnever said\n"
    ended = chat(
        str(write(tmp_path, workflow)), keyboard=typed.encode("cp1252"), PYTHONIOENCODING="cp1252", COLUMNS="20"
    )
    assert (ended.returncode, ended.stderr) == (0, b"")
    shown = ended.stdout.decode("cp1252")
    assert not set(shown.replace(os.linesep, "\n")) & {"\x1b", "\x07", "\r"}
    assert "Ann: one [red]x[/red] [31m\n" in shown.replace(os.linesep, "\n")
    assert "Mira Vale: one [red]x[/red] [31m" in shown
    assert f"bram: \\u9f99 \\u0141ukasz {SHOWN_ESCAPES}" in shown
    assert "Ann: two é" in shown
    assert "never said" not in shown
    order = ["Ann: one", "A new conversation.", "no command /nope", "nothing to inspect", "Mira Vale: two é"]
    places = [shown.index(text) for text in [*order, "-- step 1: mira", "-- step 2: bram", "Ann: /quit"]]
    assert places == sorted(places)
    # After /reset the model sees nothing of the old conversation.
    assert "one" not in shown[shown.index("-- step 1: mira") :]


def test_a_sidecar_that_dies_is_one_sentence(tmp_path: Path) -> None:
    with running(str(write(tmp_path, two_speakers()))) as run:
        run.read_until(b"Ann: ")
        run.type(b"hello\n")
        run.read_until(b"bram: Hm.")
        run.read_until(b"Ann: ")
        run.sidecar().kill()
        code, errors = run.end()
    assert code == 1
    (sentence,) = errors.splitlines()
    assert sentence.startswith("parley: the sidecar is gone: ")


@pytest.mark.parametrize("flags", [("--json",), ()])
@pytest.mark.thorough
def test_whoever_stops_reading_hears_no_complaint(tmp_path: Path, flags: tuple[str, ...]) -> None:
    with running(str(write(tmp_path, two_speakers())), *flags) as run:
        run.read_until(b"\n")
        assert run.process.stdout is not None
        run.process.stdout.close()
        run.type(b"hello\nhello\n")
        code, errors = run.end()
    assert code == 1
    assert not {"Traceback", "BrokenPipe", "Exception"} & set(errors.replace(":", " ").split())


def test_a_bad_setting_is_told_by_the_sidecar_and_is_a_usage_fault(tmp_path: Path) -> None:
    ended = chat(str(write(tmp_path, two_speakers())), "--say", "hello", PARLEY_NONSENSE="1")
    assert (ended.returncode, ended.stdout) == (2, b"")
    assert "unknown setting 'PARLEY_NONSENSE'" in ended.stderr.decode()
    assert b"Traceback" not in ended.stderr


def test_settings_reach_the_sidecar(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    workflow = two_speakers(default_model="slow", start_node="bram")
    options = ChatOptions(write(tmp_path, workflow), say=("hello",))
    assert run_chat(options, {"catalog": slow_catalog(tmp_path), "log_level": None}) == 0
    assert capfd.readouterr().out.splitlines() == ["inn with Mira Vale, bram", "Ann: hello", "bram: Hm."]


def test_a_settings_file_reaches_the_sidecar(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    settings = tmp_path / "game.toml"
    settings.write_text(f"catalog = {json.dumps(slow_catalog(tmp_path))}\n", encoding="utf-8")
    workflow = two_speakers(default_model="slow", start_node="bram")
    options = ChatOptions(write(tmp_path, workflow), say=("hello",), config=settings)
    assert run_chat(options) == 0
    assert capfd.readouterr().out.splitlines()[-1] == "bram: Hm."


@posix_only
def test_ctrl_c_stops_an_answer_and_then_the_chat(tmp_path: Path) -> None:
    file = str(write(tmp_path, two_speakers()))
    with running(file, "--model", "slow", PARLEY_CATALOG=slow_catalog(tmp_path)) as run:
        run.read_until(b"Ann: ")
        run.type(b"hello\n")
        run.read_until(b"Mira Vale: word0 word1")
        run.process.send_signal(signal.SIGINT)
        run.read_until(b"(stopped)\nAnn: ")
        run.type(b"/inspect\n")
        run.read_until(b"Ann: ")
        sidecar = run.sidecar()
        run.process.send_signal(signal.SIGINT)
        code, errors = run.end()
    assert (code, errors) == (1, "")
    assert not sidecar.is_running()


@pytest.mark.thorough
@posix_only
def test_a_second_ctrl_c_leaves_a_sidecar_that_hangs(tmp_path: Path) -> None:
    file = str(write(tmp_path, two_speakers()))
    with running(file, "--model", "slow", PARLEY_CATALOG=slow_catalog(tmp_path)) as run:
        run.type(b"hello\n")
        run.read_until(b"Mira Vale: word0")
        sidecar = run.sidecar()
        sidecar.suspend()
        run.process.send_signal(signal.SIGINT)
        run.read_until(b"\n")
        run.process.send_signal(signal.SIGINT)
        code, errors = run.end()
    assert (code, errors) == (1, "")
    assert not sidecar.is_running()


@posix_only
@pytest.mark.thorough
def test_ctrl_c_before_there_is_a_prompt(tmp_path: Path) -> None:
    # A sidecar that never gets ready: its settings are a pipe into which nobody writes.
    os.mkfifo(tmp_path / "models.json")
    file = str(write(tmp_path, two_speakers()))
    with running(file, PARLEY_CATALOG=str(tmp_path / "models.json")) as run:
        while not psutil.Process(run.process.pid).children():
            assert run.process.poll() is None
        run.process.send_signal(signal.SIGINT)
        code, errors = run.end()
    assert (code, errors) == (130, "")


# ---- the whole, in a terminal --------------------------------------------------------------------------------


class InTerminal:
    """`parley chat` with a pseudo-terminal for a keyboard and a screen."""

    def __init__(self, process: subprocess.Popen[bytes], ours: int, theirs: int) -> None:
        import termios

        self.process = process
        self._ours = ours
        self._theirs = theirs
        self._attributes = termios.tcgetattr(theirs)
        self.shown = ""

    def read_until(self, expected: str) -> str:
        """What is shown up to `expected`, without colours and cursor movements. Ends with the test's time limit."""
        while expected not in self._plain():
            self.shown += os.read(self._ours, 65_536).decode("utf-8", "replace")
        before, _, after = self._plain().partition(expected)
        self.shown = after
        return before

    def type(self, keys: str) -> None:
        os.write(self._ours, keys.encode())

    def is_as_before(self) -> bool:
        import termios

        return bool(termios.tcgetattr(self._theirs) == self._attributes)

    def _plain(self) -> str:
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\r", "", self.shown)


@contextmanager
def in_terminal(*arguments: str, **environment: str) -> Iterator[InTerminal]:
    import fcntl
    import pty
    import struct
    import termios

    take = "import fcntl, os, sys, termios as t; fcntl.ioctl(0, t.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    try:
        with subprocess.Popen(
            [sys.executable, "-c", take, sys.executable, "-m", "bridge", "chat", *arguments],
            stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
            env={**os.environ, "TERM": "xterm", **environment},
        ) as process:  # fmt: skip
            try:
                yield InTerminal(process, ours, theirs)
            finally:
                if process.poll() is None:
                    process.kill()
    finally:
        os.close(ours)
        os.close(theirs)


@posix_only
def test_a_conversation_in_a_terminal(tmp_path: Path) -> None:
    with in_terminal(str(write(tmp_path, two_speakers()))) as run:
        run.read_until("Ann:")
        run.type("helo\x1b[D\x1b[Dl\r")
        run.read_until("Mira Vale: hello\n")
        run.read_until("Ann:")
        run.type("\x1b[A again\r")
        run.read_until("Mira Vale: hello again\n")
        run.read_until("Ann:")
        run.type("\x04")
        assert run.process.wait(30) == 0
        assert run.is_as_before()


@pytest.mark.thorough
@posix_only
def test_keys_pressed_during_an_answer_wait_unseen_for_the_next_prompt(tmp_path: Path) -> None:
    file = str(write(tmp_path, two_speakers()))
    with in_terminal(file, "--model", "slow", PARLEY_CATALOG=slow_catalog(tmp_path, 30)) as run:
        run.read_until("Ann:")
        run.type("hello\r")
        run.read_until("word1")
        run.type("/nope\x1b[D\x1b[D\x1b[DX\r/help\r")
        assert re.fullmatch(r"[word\d\s]*", run.read_until("word29\n"))
        run.read_until("There is no command /nXope; ")
        run.read_until("Ctrl-C    stop the answer")
        run.read_until("Ann:")
        run.type("\x04")
        assert run.process.wait(30) == 0
        assert run.is_as_before()


@posix_only
def test_ctrl_c_in_a_terminal_stops_an_answer_and_then_the_chat(tmp_path: Path) -> None:
    file = str(write(tmp_path, two_speakers()))
    with in_terminal(file, "--model", "slow", PARLEY_CATALOG=slow_catalog(tmp_path)) as run:
        run.read_until("Ann:")
        run.type("hello\r")
        run.read_until("word1")
        run.type("\x03")
        run.read_until("(stopped)\n")
        run.read_until("Ann:")
        run.type("\x03")
        assert run.process.wait(30) == 1
        assert run.is_as_before()


@posix_only
@pytest.mark.parametrize("at_prompt", [True, False])
@pytest.mark.thorough
def test_a_chat_that_is_terminated_leaves_the_terminal_as_it_was(tmp_path: Path, at_prompt: bool) -> None:
    file = str(write(tmp_path, two_speakers()))
    with in_terminal(file, "--model", "slow", PARLEY_CATALOG=slow_catalog(tmp_path)) as run:
        run.read_until("Ann:")
        assert not run.is_as_before()
        if not at_prompt:
            run.type("hello\r")
            run.read_until("word1")
        run.process.terminate()
        assert run.process.wait(30) == -signal.SIGTERM
        assert run.is_as_before()


@posix_only
@pytest.mark.thorough
def test_a_sidecar_that_dies_ends_the_wait_at_a_terminal(tmp_path: Path) -> None:
    with in_terminal(str(write(tmp_path, two_speakers()))) as run:
        run.read_until("Ann:")
        (sidecar,) = psutil.Process(run.process.pid).children()
        sidecar.kill()
        run.read_until("parley: the sidecar is gone: ")
        assert run.process.wait(30) == 1
        assert run.is_as_before()

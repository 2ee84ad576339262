"""How a conversation is shown: `Terminal` for people, `JsonLines` for programs.

What either says beside the conversation goes to stderr (`Screen`). Threading: used on the event loop only.
"""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Iterable, Mapping
from typing import Any

import orjson
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TaskProgressColumn, TextColumn
from rich.status import Status
from rich.table import Table

from bridge import protocol
from bridge.codec import Envelope

_COLOURS = ("cyan", "magenta", "green", "yellow", "blue", "bright_cyan", "bright_magenta", "bright_green")
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_SURROGATES = re.compile("[\ud800-\udfff]")
_WIDTH_OF_TABLE = 72


def clean(text: str) -> str:
    """Text from a model or a file without what would steer a terminal: control characters but tab and line break."""
    return _SURROGATES.sub("\ufffd", _CONTROLS.sub("", text))


def visible(text: str) -> str:
    """The same with each such character written out, for looking at a text exactly."""
    return _SURROGATES.sub("\ufffd", _CONTROLS.sub(lambda found: f"\\x{ord(found[0]):02x}", text))


class _Console(Console):
    """Prints texts as they are: no markup, no emoji codes, no highlighting."""

    def __init__(self, *, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, markup=False, emoji=False, highlight=False)

    def on_broken_pipe(self) -> None:
        # Called while the BrokenPipeError is handled; the command line knows what to do with it.
        raise BrokenPipeError("nobody reads the output")

    def write(self, text: str, style: str | None = None, end: str = "\n") -> None:
        """Print without wrapping, so that what is copied from a terminal is what was said."""
        self.out(text, style=style, end=end, highlight=False)

    @property
    def can_animate(self) -> bool:
        return self.is_interactive and self.file.isatty()


class Screen:
    """What is said beside the conversation, on stderr. The conversation itself is for subclasses."""

    def __init__(self) -> None:
        self._err = _Console(stderr=True)
        self._told: dict[str, int] = {}

    def show(self, envelope: Envelope) -> None:
        """Show one frame. Raises BrokenPipeError."""
        message = envelope.message
        if isinstance(message, protocol.Warning):
            where = f"{message.node_name}: " if message.node_name else ""
            self._aside(f"warning: {where}{message.message}", "dim")
        elif isinstance(message, protocol.AgentCreated):
            self.problems(message.warnings)
        elif isinstance(message, protocol.Progress):
            self.progress(message)

    def error(self, text: str) -> None:
        """One sentence about what went wrong."""
        self._aside(f"parley: {text}", "red")

    def note(self, text: str) -> None:
        """Something the person at the keyboard asked for."""
        self._aside(text, "dim")

    def log(self, line: str) -> None:
        """One line of the sidecar's log."""
        self._aside(line, "dim")

    def problems(self, problems: Iterable[protocol.Problem]) -> None:
        """The compiler's findings, one a line."""
        for problem in problems:
            style = "red" if problem.severity == "error" else "dim"
            message = problem.message.replace("\n", " ")
            self._aside(f"{problem.severity}: {problem.path}: {message} [{problem.code}]", style)

    def progress(self, message: protocol.Progress) -> None:
        """How far a long task is; a line for each quarter."""
        name = f"{message.task} {message.model or message.storage}".strip()
        quarter = message.done * 4 // message.total if message.total > 0 else 0
        if self._told.get(name) != quarter:
            self._told[name] = quarter
            self._aside(f"{name}: {message.done}/{message.total} {message.unit}", "dim")

    def inspect(self, turn: protocol.TurnComplete | None) -> None:
        """Everything that the last turn's steps read and wrote."""
        if turn is None or turn.debug is None:
            self.note("There is nothing to inspect: no turn yet, or no --diagnostics.")
        else:
            print_inspection(self._err, turn.debug)

    def begin(self, name: str, player_name: str, speakers: Mapping[str, str], *, has_keyboard: bool) -> None:
        """The agent is made; the conversation begins."""

    def busy(self, what: str) -> None:
        """Something takes a moment."""

    def prompt(self) -> None:
        """The player is asked for a line."""

    def echo(self, line: str) -> None:
        """The player's line, where no prompt was shown."""

    def echo_typed(self, line: str) -> None:
        """The player's line behind the prompt, where no terminal has shown it."""

    def echo_end(self) -> None:
        """There is no further line behind the prompt."""

    def close(self) -> None:
        """Leave the terminal in order. Idempotent."""

    def _aside(self, text: str, style: str) -> None:
        # Whoever closed stderr wants to know nothing of this.
        with contextlib.suppress(OSError):
            self._err.write(clean(text), style)


class JsonLines(Screen):
    """Every frame is one line of JSON on stdout."""

    def show(self, envelope: Envelope) -> None:
        message = envelope.message
        line = orjson.dumps(
            {
                "type": message.type_name,
                "request_id": envelope.request_id,
                "seq": envelope.seq,
                "body": orjson.Fragment(message.model_dump_json()),
            }
        )
        sys.stdout.buffer.write(line + b"\n")
        sys.stdout.buffer.flush()
        super().show(envelope)


class Terminal(Screen):
    """The conversation for people: names in colours, texts as they are written."""

    def __init__(self, diagnostics: bool = False) -> None:
        super().__init__()
        self._diagnostics = diagnostics
        self._out = _Console()
        self._names: Mapping[str, str] = {}
        self._colours: dict[str, str] = {}
        self._player_name = "Player"
        self._status: Status | None = None
        self._bars: Progress | None = None
        self._bar_of: dict[str, TaskID] = {}
        self._step = 0
        """The step whose line is open; 0: the cursor is at the start of a line."""
        self._said: dict[int, str] = {}

    def begin(self, name: str, player_name: str, speakers: Mapping[str, str], *, has_keyboard: bool) -> None:
        self._settle()
        self._names, self._player_name = speakers, clean(player_name).replace("\n", " ")
        self._out.write(clean(name), "bold", end="")
        for index, shown in enumerate(dict.fromkeys(speakers.values())):
            self._out.write(", " if index else " with ", "dim", end="")
            self._out.write(clean(shown), self._colour(shown), end="")
        self._out.write("")
        if has_keyboard:
            self._out.write("/help lists the commands", "dim")

    def show(self, envelope: Envelope) -> None:
        message = envelope.message
        if isinstance(message, protocol.AnswerText):
            self._answer(message)
        elif isinstance(message, protocol.TurnComplete):
            self._complete(message)
        else:
            super().show(envelope)

    def busy(self, what: str) -> None:
        self._settle()
        if self._out.can_animate:
            spinner = "dots" if self._out.encoding.startswith("utf") else "line"
            self._status = self._out.status(what, spinner=spinner)
            self._status.start()

    def prompt(self) -> None:
        self._settle()
        self._out.write(f"{self._player_name}: ", "bold", end="")

    def echo(self, line: str) -> None:
        self.prompt()
        self.echo_typed(line)

    def echo_typed(self, line: str) -> None:
        self._out.write(clean(line))

    def echo_end(self) -> None:
        self._out.write("")

    def note(self, text: str) -> None:
        self._settle()
        self._out.write(clean(text), "dim")

    def inspect(self, turn: protocol.TurnComplete | None) -> None:
        if turn is None or turn.debug is None:
            super().inspect(turn)
        else:
            print_inspection(self._out, turn.debug)

    def progress(self, message: protocol.Progress) -> None:
        if not self._out.can_animate:
            super().progress(message)
            return
        if self._bars is None:
            self._settle()
            self._bars = Progress(
                TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn(),
                console=self._out, transient=True,
            )  # fmt: skip
            self._bars.start()
        name = clean(f"{message.task} {message.model or message.storage}").strip()
        total = max(message.total, 1)
        if name not in self._bar_of:
            self._bar_of[name] = self._bars.add_task(name, total=total)
        self._bars.update(self._bar_of[name], completed=min(message.done, total), total=total)

    def close(self) -> None:
        # Also after stdout has broken: then there is nothing to put in order.
        with contextlib.suppress(OSError):
            self._settle()

    def _answer(self, message: protocol.AnswerText) -> None:
        step = message.step
        before = self._said.get(step, "")
        text = message.text
        if not message.is_delta and before:
            text = text[len(before) :] if text.startswith(before) else f"\n{text}"
        if text:
            if self._step != step:
                self._settle()
                name = self._names.get(message.node_name, message.node_name)
                self._out.write(f"{clean(name)}: ", f"bold {self._colour(name)}", end="")
                self._step = step
            self._said[step] = before + text
            self._out.write(clean(text), end="")
        if message.is_final:
            self.busy("reading")

    def _complete(self, message: protocol.TurnComplete) -> None:
        self._settle()
        if message.error is not None:
            where = f"{message.error.node_name}: " if message.error.node_name else ""
            self.error(f"{where}{message.error.message} ({message.error.code})")
        elif message.status == "Cancelled":
            self.note("(stopped)")
        elif not self._said:
            self.note("(nobody said anything)")
        self._said.clear()
        if self._diagnostics and message.debug is not None:
            print_costs(self._out, message.debug)

    def _colour(self, name: str) -> str:
        return self._colours.setdefault(name, _COLOURS[len(self._colours) % len(_COLOURS)])

    def _aside(self, text: str, style: str) -> None:
        status, step = self._status, self._step
        self._settle()
        super()._aside(text, style)
        if status is not None and not step:
            status.start()
            self._status = status

    def _settle(self) -> None:
        """Take away what moves and end an open line."""
        status, self._status = self._status, None
        if status is not None:
            status.stop()
        bars, self._bars = self._bars, None
        self._bar_of.clear()
        if bars is not None:
            bars.stop()
        step, self._step = self._step, 0
        if step:
            self._out.write("")


def print_costs(console: _Console, debug: Mapping[str, Any]) -> None:
    """One row for each step of a turn: where it went, how long it took, and how much its model read and wrote."""
    heads = ("node", "exit", "ms", "prompt", "cached", "eval", "gen", "ttft", "tok/s", "finish")
    rows = [_costs(step) for step in debug.get("steps", ())]
    if console.width < _WIDTH_OF_TABLE:
        for row in rows:
            pairs = zip(heads[2:], row[2:], strict=True)
            costs = ", ".join(f"{head} {value}" for head, value in pairs if value != "-")
            console.write(f"{row[0]} -> {row[1]}: {costs}", "dim")
        return
    table = Table(box=None, padding=(0, 1, 0, 0), style="dim", header_style="dim bold")
    for head in heads:
        table.add_column(head, justify="left" if head in ("node", "exit", "finish") else "right", overflow="fold")
    for row in rows:
        table.add_row(*row)
    console.print(table)


def _costs(step: Mapping[str, Any]) -> list[str]:
    usage = step.get("usage") or {}
    tokens = [usage.get(f"{kind}_tokens", "-") for kind in ("prompt", "cached", "evaluated", "generated")]
    times = [_rounded(usage.get("ttft_ms")), _rounded(usage.get("tokens_per_s"))]
    cells = [step.get("node_name", ""), step.get("exit") or "-", _rounded(step.get("duration_ms")), *tokens, *times]
    return [clean(str(cell)) for cell in (*cells, step.get("finish") or "-")]


def _rounded(value: object) -> str:
    return f"{value:.0f}" if isinstance(value, (int, float)) else "-"


def print_inspection(console: _Console, debug: Mapping[str, Any]) -> None:
    """Each step's input, the messages and the exact text that its model read, and what it wrote; then the slots."""

    def part(title: str, text: str) -> None:
        console.write(title, "bold")
        console.write(visible(text))

    for step in debug.get("steps", ()):
        title = f"-- step {step.get('step')}: {step.get('node_name')} ({step.get('type')}) -> {step.get('exit') or '-'}"
        console.write(visible(title), "bold cyan")
        read, wrote = step.get("input") or {}, step.get("output") or {}
        if "slot" in read:
            part(f"input, slot {read['slot']}", str(read.get("text", "")))
        for message in read.get("prompt", ()):
            part(f"prompt message, {message.get('role')}", str(message.get("content", "")))
        if "rendered" in read:
            part("rendered", str(read["rendered"]))
        if wrote:
            part(f"output, slot {wrote.get('slot')}", str(wrote.get("text", "")))
        if step.get("usage"):
            part("usage", ", ".join(f"{key} {value}" for key, value in step["usage"].items()))
        if step.get("details"):
            part("details", ", ".join(f"{key} {value}" for key, value in step["details"].items()))
    console.write("-- slots", "bold cyan")
    for slot, text in (debug.get("slots") or {}).items():
        part(visible(slot), str(text))

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
from rich.cells import cell_len
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TaskProgressColumn, TextColumn
from rich.status import Status
from rich.table import Table
from rich.text import Text

from bridge import protocol
from bridge.codec import Envelope

_COLOURS = ("cyan", "magenta", "green", "yellow", "blue", "bright_cyan", "bright_magenta", "bright_green")
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_SURROGATES = re.compile("[\ud800-\udfff]")
_WIDTH_OF_TABLE = 72
_WHY_MESSAGES_DIFFER = "The chat format makes the text above of these: it adds examples and the marks between speakers."
_MODEL_PATH = re.compile(r"\$\.(default_model|nodes\[\d+\]\.model)")
_HANGING = re.compile(r" *(\S+ {2,})?")
_WIDE = "\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\U00020000-\U0003fffd"
_CLOSING = "\u3001\u3002\u300d\u300f\uff01\uff09\uff0c\uff1a\uff1b\uff1f"
_PIECE = re.compile(rf"\n|[ \t]*(?:[{_WIDE}][{_CLOSING}]*|[^ \t\n{_WIDE}]+)|[ \t]+")


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
        """Print as it is, without line breaks of our own."""
        self.out(text, style=style, end=end, highlight=False)

    def lines(self, text: str, style: str | None = None, *, indent: str = "", hanging: str | None = None) -> None:
        """Print whole lines, in a terminal broken at words.

        What goes on after such a break stands below the text that follows the line's first column, or is set in by
        `hanging`.
        """
        for line in text.split("\n"):
            if not self.wraps:
                self.write(indent + line, style)
                continue
            found = _HANGING.match(line)
            margin = hanging if hanging is not None else " " * (found.end() if found else 0)
            margin = indent + (margin if cell_len(margin) * 3 <= self.width else "")
            rest = line.expandtabs()
            for number, width in enumerate((self.width - cell_len(indent), self.width - cell_len(margin))):
                parts = [part.plain for part in Text(rest).wrap(self, max(width, 8))] or [""]
                for part in parts if number else parts[:1]:
                    self.write((margin if number else indent) + part.rstrip(" "), style)
                rest = rest[len(parts[0]) :].lstrip(" ")
                if not rest or len(parts) == 1:
                    break

    @property
    def wraps(self) -> bool:
        """Whether lines are broken at words: what goes to a file or a pipe stays as it was said."""
        return self.file.isatty()

    @property
    def can_animate(self) -> bool:
        return self.is_interactive and self.file.isatty()


class WordWrap:
    """Breaks a text that comes in parts at word boundaries; a word is held back until it is whole."""

    def __init__(self) -> None:
        self._column = 0
        self._held = ""

    def add(self, text: str, width: int) -> str:
        """What of the text, and of what was held back, can be printed now."""
        pieces = _PIECE.findall(self._held + text.replace("\t", "    "))
        whole = not pieces or pieces[-1] == "\n" or cell_len(pieces[-1]) > width
        self._held = "" if whole else pieces.pop()
        return "".join(self._place(piece, width) for piece in pieces)

    def flush(self, width: int) -> str:
        """What is held back."""
        held, self._held = self._held, ""
        return self._place(held, width)

    def restart(self) -> None:
        """What comes next starts a line."""
        self._column, self._held = 0, ""

    def _place(self, piece: str, width: int) -> str:
        if piece == "\n":
            self._column = 0
            return piece
        cells = cell_len(piece)
        if self._column and self._column + cells > width:
            word = piece.lstrip(" ")
            self._column = cell_len(word)
            piece = f"\n{word}"
        else:
            self._column += cells
        # A word that is longer than a line is broken by the terminal.
        self._column = (self._column - 1) % max(width, 1) + 1 if self._column else 0
        return piece


class Screen:
    """What is said beside the conversation, on stderr. The conversation itself is for subclasses."""

    def __init__(self) -> None:
        self.model_is_given = False
        """Whether the workflow's models were replaced by --model: findings about them are about that."""
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
        told = set()
        for problem in problems:
            style = "red" if problem.severity == "error" else "dim"
            message = problem.message.replace("\n", " ")
            path = "--model" if self.model_is_given and _MODEL_PATH.fullmatch(problem.path) else problem.path
            line = f"{problem.severity}: {path}: {message} [{problem.code}]"
            if line not in told:
                told.add(line)
                self._aside(line, style)

    def progress(self, message: protocol.Progress) -> None:
        """How far a long task is; a line for each quarter."""
        name = f"{message.task} {message.model or message.storage}".strip()
        quarter = message.done * 4 // message.total if message.total > 0 else 0
        if self._told.get(name) != quarter:
            self._told[name] = quarter
            self._aside(f"{name}: {message.done}/{message.total} {message.unit}", "dim")

    def inspect(self, debug: Mapping[str, Any], node: str = "") -> None:
        """What the steps of a turn, or those of one node, read, wrote, and cost."""
        print_inspection(self._err, debug, node)

    def begin(self, name: str, player_name: str, speakers: Mapping[str, str], *, has_keyboard: bool) -> None:
        """The agent is made; the conversation begins."""

    def busy(self, what: str) -> None:
        """Something takes a moment."""

    def prompt(self, *, printed: bool = True) -> str:
        """The player is asked for a line. Returns the prompt, which the caller shows where it is not `printed`."""
        return ""

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
            self._err.lines(clean(text), style)


class JsonLines(Screen):
    """Every frame is one line of JSON on stdout, but for the secret key of the session."""

    def show(self, envelope: Envelope) -> None:
        message = envelope.message
        if isinstance(message, protocol.SessionReady):
            message = message.model_copy(update={"session_key": ""})
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
        self._speaker: dict[int, str] = {}
        self._wrap = WordWrap()
        self._asking = False
        """The cursor is behind a prompt: nothing may move there."""

    def begin(self, name: str, player_name: str, speakers: Mapping[str, str], *, has_keyboard: bool) -> None:
        self._settle()
        self._names, self._player_name = speakers, clean(player_name).replace("\n", " ")
        title = Text(clean(name), "bold")
        for index, shown in enumerate(dict.fromkeys(speakers.values())):
            title.append(", " if index else " with ", "not bold dim")
            title.append(clean(shown), f"not bold {self._colour(shown)}")
        self._out.print(title, soft_wrap=not self._out.wraps)
        if has_keyboard:
            self._out.lines("/help lists the commands", "dim")

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

    def prompt(self, *, printed: bool = True) -> str:
        self._settle()
        self._asking = True
        prompt = f"{self._player_name}: "
        if printed:
            self._put(prompt, "bold")
        return prompt

    def echo(self, line: str) -> None:
        self.prompt()
        self.echo_typed(line)

    def echo_typed(self, line: str) -> None:
        self._put(f"{clean(line)}\n")

    def echo_end(self) -> None:
        self._out.write("")

    def note(self, text: str) -> None:
        self._settle()
        self._out.lines(clean(text), "dim")

    def inspect(self, debug: Mapping[str, Any], node: str = "") -> None:
        self._settle()
        print_inspection(self._out, debug, node)

    def progress(self, message: protocol.Progress) -> None:
        if self._asking or not self._out.can_animate:
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
                self._put(f"{clean(name)}: ", f"bold {self._colour(name)}")
                self._step = step
                self._speaker[step] = name
            self._said[step] = before + text
            self._put(clean(text), ends=False)
        if message.is_final:
            self.busy("reading")

    def _complete(self, message: protocol.TurnComplete) -> None:
        self._settle()
        for finish in message.finish:
            if finish.reason == "length" and finish.step in self._speaker:
                several = len(self._speaker) > 1
                who = f"{clean(self._speaker[finish.step])}: " if several else ""
                self._out.lines(f"\u2026 ({who}cut at max_tokens)", "dim")
        if message.error is not None:
            where = f"{message.error.node_name}: " if message.error.node_name else ""
            self.error(f"{where}{message.error.message} ({message.error.code})")
        elif message.status == "Cancelled":
            self.note("(stopped)")
        elif not self._said:
            self.note("(nobody said anything)")
        self._said.clear()
        self._speaker.clear()
        if self._diagnostics and message.debug is not None:
            print_costs(self._out, message.debug)

    def _colour(self, name: str) -> str:
        return self._colours.setdefault(name, _COLOURS[len(self._colours) % len(_COLOURS)])

    def _aside(self, text: str, style: str) -> None:
        status, step, asking = self._status, self._step, self._asking
        self._settle()
        self._asking = asking
        super()._aside(text, style)
        if status is not None and not step:
            status.start()
            self._status = status

    def _put(self, text: str, style: str | None = None, *, ends: bool = True) -> None:
        """Print a part of a line; with `ends` the last word of it is whole."""
        if self._out.wraps:
            width = self._out.width
            text = self._wrap.add(text, width)
            if ends:
                text += self._wrap.flush(width)
        self._out.write(text, style, end="")

    def _settle(self) -> None:
        """Take away what moves and end an open line."""
        self._asking = False
        status, self._status = self._status, None
        if status is not None:
            status.stop()
        bars, self._bars = self._bars, None
        self._bar_of.clear()
        if bars is not None:
            bars.stop()
        step, self._step = self._step, 0
        if step:
            self._out.write(self._wrap.flush(self._out.width))
        self._wrap.restart()


def print_costs(console: _Console, debug: Mapping[str, Any]) -> None:
    """One row for each step of a turn: where it went, how long it took, and how much its model read and wrote."""
    heads = ("node", "exit", "ms", "prompt", "cached", "eval", "gen", "ttft", "tok/s", "finish")
    rows = [_costs(step) for step in debug.get("steps", ())]
    if console.width < _WIDTH_OF_TABLE:
        for row in rows:
            pairs = zip(heads[2:], row[2:], strict=True)
            costs = ", ".join(f"{head} {value}" for head, value in pairs if value != "-")
            console.lines(f"{row[0]} -> {row[1]}: {costs}", "dim", hanging="  ")
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


def print_inspection(console: _Console, debug: Mapping[str, Any], node: str = "") -> None:
    """What each step of a turn, or only those of one node, read exactly, wrote, and cost; then the other slots."""
    shown: set[tuple[str, str]] = set()
    for step in debug.get("steps", ()):
        if node and step.get("node_name") != node:
            continue
        title = f"-- step {step.get('step')}: {step.get('node_name')} ({step.get('type')}) -> {step.get('exit') or '-'}"
        console.lines(visible(title), "bold cyan", hanging="   ")
        read, wrote = step.get("input") or {}, step.get("output") or {}
        if "rendered" in read:
            console.lines("what the model read, exactly", "bold")
            console.lines(visible(str(read["rendered"])), indent="  ", hanging="  ")
        if read.get("prompt"):
            console.lines("as messages, before the chat format", "bold")
            console.lines(_WHY_MESSAGES_DIFFER, "dim", indent="  ", hanging="")
            _pairs(console, [(str(part.get("role")), str(part.get("content", ""))) for part in read["prompt"]])
        both = [(verb, part) for verb, part in (("read", read), ("wrote", wrote)) if "slot" in part]
        slots = [(verb, part["slot"], part.get("text", "")) for verb, part in both]
        if slots:
            console.lines("slots", "bold")
            _pairs(console, [(f"{verb} {slot}", str(text)) for verb, slot, text in slots])
            shown.update((slot, text) for _, slot, text in slots)
        costs = {"ms": step.get("duration_ms"), **(step.get("usage") or {}), "finish": step.get("finish")}
        parts = ("usage", costs), ("speech", step.get("speech") or {}), ("details", step.get("details") or {})
        for heading, values in parts:
            told = {key: value for key, value in values.items() if value not in (None, "", [], {})}
            show = _cell if heading == "usage" else _detail
            cells = [(key.replace("_", " "), show(value)) for key, value in told.items()]
            if cells:
                console.lines(heading, "bold")
                _pairs(console, cells)
    if isinstance(debug.get("warning"), str):
        console.lines(visible(debug["warning"]), "dim")
    others = [(slot, str(text)) for slot, text in (debug.get("slots") or {}).items() if (slot, text) not in shown]
    if others and not node:
        console.lines("-- other slots", "bold cyan")
        _pairs(console, others)


def _pairs(console: _Console, pairs: Iterable[tuple[str, str]]) -> None:
    """Names and texts in two columns; in a narrow terminal each text stands below its name."""
    pairs = [(visible(name), visible(text)) for name, text in pairs]
    width = max(cell_len(name) for name, _ in pairs) + 2
    widest = max(cell_len(line) for _, text in pairs for line in text.split("\n"))
    below = console.wraps and width * 3 > console.width and 2 + width + widest > console.width
    for name, text in pairs:
        if below:
            console.lines(name, indent="  ")
            console.lines(text, indent="    ", hanging="")
        else:
            padded = name + " " * (width - cell_len(name))
            first, *more = text.split("\n")
            console.lines(padded + first, indent="  ", hanging=" " * width)
            for line in more:
                console.lines(line, indent="  " + " " * width, hanging="")


def _cell(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.1f}" if isinstance(value, float) else str(value)


def _detail(value: object) -> str:
    """What a node tells of itself: a line for each entry of a list or an object; numbers with three decimals."""
    if isinstance(value, (list, tuple)) and value:
        ids = [cell_len(str(entry["id"])) for entry in value if isinstance(entry, Mapping) and "id" in entry]
        return "\n".join(_in_line(entry, max(ids, default=0)) for entry in value)
    if isinstance(value, Mapping) and value:
        width = max(cell_len(str(key)) for key in value)
        pairs = ((str(key), _in_line(entry)) for key, entry in value.items())
        return "\n".join(f"{key}{' ' * (width - cell_len(key))}  {text}" for key, text in pairs)
    return _in_line(value)


def _in_line(value: object, width: int = 0) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3f}"
    if isinstance(value, Mapping):
        # A passage: how far, which, and what it says.
        first = [_in_line(value["distance"])] if "distance" in value else []
        if "id" in value:
            name = str(value["id"])
            first.append(name + " " * (width - cell_len(name)))
        rest = [entry for key, entry in value.items() if key not in ("distance", "id") and entry not in (None, "")]
        return "  ".join([*first, *map(_in_line, rest)]).rstrip() or "-"
    if isinstance(value, (list, tuple)):
        return ", ".join(_in_line(entry) for entry in value) or "-"
    return "-" if value is None else str(value)

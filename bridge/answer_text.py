"""What of a model's raw output a client may see: the filter between generated tokens and answer text.

Bytes run through a row of stages, each of which holds back only what it cannot decide yet:

    decoder → scanner (markers, reasoning) → markers again → stop strings → speakers' labels → edges

Every stage reads the output of the one before it, so stop strings and labels are looked for in what would be
visible, never in reasoning. No verdict depends on how the bytes were cut into pieces, with one exception: a
lone closing tag, which turns whatever has not been returned yet into reasoning.
"""

from __future__ import annotations

import codecs
import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import Literal

END_MARKERS: tuple[str, ...] = (
    *("<|im_end|>", "<|im_start|>", "<|endoftext|>"),  # ChatML, GPT-2
    *("<|eot_id|>", "<|eom_id|>", "<|end_of_text|>", "<|start_header_id|>"),  # Llama 3
    *("<|eot|>", "<|eom|>", "<|header_start|>"),  # Llama 4
    *("</s>", "[INST]", "[/INST]", "[SYSTEM_PROMPT]"),  # Llama 2, Mistral
    *("<end_of_turn>", "<start_of_turn>", "<eos>", "<turn|>", "<|turn>"),  # Gemma
    *("<|end|>", "<|user|>", "<|assistant|>", "<|system|>", "<|observation|>"),  # Phi, Zephyr, GLM
    *("<|return|>", "<|call|>", "<|start|>"),  # gpt-oss
    *("<｜end▁of▁sentence｜>", "<｜User｜>", "<｜Assistant｜>"),  # DeepSeek
    *("<|END_OF_TURN_TOKEN|>", "<|START_OF_TURN_TOKEN|>", "<|END_RESPONSE|>", "<EOS_TOKEN>"),  # Cohere
    *("[|endofturn|]", "[|user|]", "[|assistant|]"),  # EXAONE
    *("<|start_of_role|>", "<|end_of_turn|>", "<|end_of_solution|>"),  # Granite, OpenChat, OpenThinker
    *("<|role_end|>", "<|endofresponse|>", "<|end_of_sentence|>"),  # Ling, dots, ERNIE
    *("<seed:eos>", "<EOT>", "[EOT]", "<end_of_utterance>", "<eoa>"),  # Seed, CodeLlama, Kimi, SmolVLM, …
)
"""End the reply wherever they stand, in reasoning too. Found in any case of their letters."""

TOOL_MARKERS: tuple[str, ...] = (
    *("<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>", "<tools>", "</tools>"),  # Qwen, Hermes
    *("[TOOL_CALLS]", "[/TOOL_CALLS]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]"),  # Mistral
    *("[TOOL_RESULTS]", "[/TOOL_RESULTS]", "[ARGS]", "[CALL_ID]"),
    *("<|python_tag|>", "<|tool_call|>", "<|tool_calls|>"),  # Llama 3, Granite
)
"""Stand around calls and results of tools."""

SILENT_MARKERS: tuple[str, ...] = (
    *TOOL_MARKERS,
    *("<bos>", "<|begin_of_text|>", "<|startoftext|>", "<｜begin▁of▁sentence｜>", "<BOS_TOKEN>"),
    *("<|START_RESPONSE|>", "<|begin_of_solution|>"),
)
"""Are left out of the text around them and end nothing."""

_FINAL = "<|channel|>final<|message|>"
_FINAL_PASSES = frozenset({"<|end|>", "<|start|>"})  # gpt-oss closes each of its thoughts like a turn

REASONING_BLOCKS: tuple[tuple[str, str], ...] = (
    *((f"<{name}>", f"</{name}>") for name in ("think", "thinking", "thought", "reasoning", "reflection")),
    ("[THINK]", "[/THINK]"),
    ("<seed:think>", "</seed:think>"),
    ("◁think▷", "◁/think▷"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<|channel>thought", "<channel|>"),
    ("<|channel|>analysis<|message|>", _FINAL),
    ("<|channel|>commentary<|message|>", _FINAL),
)
"""Opening and closing tags, in any case of their letters. A block is closed by its own closing tag only."""

_COLONS = ":："
_MAX_STARS = 3
_MAX_GAP = 8  # spaces and asterisks between a label and its colon; the bound keeps what is held back short
_SPACE = re.compile(r"\s*")


@dataclass(frozen=True, slots=True)
class AnswerRules:
    """What ends a reply, and what is left out of it; fixed for one generation."""

    stop: tuple[str, ...] = ()
    """The reply ends before the first of these to be completed; it is never shown. Empty ones are ignored."""
    own_label: str = ""
    """The speaker's own name: `Mira: ` at the start of a line is left out."""
    other_labels: tuple[str, ...] = ()
    """The names of everybody else: a line that starts with `<label>:` ends the reply there."""
    strip_reasoning: bool = True
    """False: tags and what they enclose are text like any other."""
    starts_in_reasoning: bool = False
    """The prompt ended inside an opened reasoning block."""
    whole: bool = False
    """Nothing is streamed: `feed` returns "", so that all text before a lone closing tag is reasoning."""


class AnswerText:
    """Turns the bytes of one generation into its visible text. Pure and incremental; for one thread."""

    def __init__(self, rules: AnswerRules) -> None:
        self.stopped: bool = False
        """A stop string, an end-of-turn marker or another speaker's label was found: generation must end."""
        self._whole = rules.whole
        self._finished = False
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._scanner = _Scanner(rules.strip_reasoning, rules.starts_in_reasoning)
        self._stages: tuple[_Ends | _Labels, ...] = (
            # The scanner sees every marker that was generated; this stage those that came about because a
            # block was cut out of their middle.
            _Ends(_END_SEARCH),
            _Ends(_search(tuple(stop for stop in rules.stop if stop))),
            _Labels(rules.own_label, rules.other_labels),
        )
        self._edges = _Edges()
        self._raw: list[str] = []
        self._text: list[str] = []
        self._pending: list[str] = []  # visible, and not returned yet

    @property
    def text(self) -> str:
        """Everything returned so far. Costs its whole length: not for every token."""
        return "".join(self._text)

    @property
    def raw(self) -> str:
        """Everything decoded, before any rule."""
        return "".join(self._raw)

    @property
    def reasoning(self) -> str:
        """What went to reasoning; the blocks are stripped, and joined by line breaks."""
        blocks = ("".join(block).strip() for block in self._scanner.thoughts)
        return "\n".join(block for block in blocks if block)

    def feed(self, piece: bytes) -> str:
        """The text that these bytes make visible, perhaps "". Always "" once stopped or finished."""
        if self.stopped or self._finished:
            return ""
        text = self._decoder.decode(piece)
        if not text:
            return ""
        self._raw.append(text)
        self._take(self._scanner.feed(text))
        return "" if self._whole else self._deliver()

    def finish(self) -> str:
        """Ends the reply: the visible rest. Later calls return ""."""
        if self._finished:
            return ""
        self._finished = True
        if not self.stopped:
            # What the decoder still holds is an unfinished character: it is dropped, not replaced.
            self._take(self._scanner.finish())
        return self._deliver()

    def _take(self, events: Iterable[_Event]) -> None:
        for kind, text in events:
            if kind == "retract":
                self._retract()
            else:
                self._show(text, last=kind != "text")
                self.stopped = self.stopped or kind == "end"
            if self.stopped:
                return

    def _show(self, text: str, last: bool) -> None:
        for stage in self._stages:
            text = stage.feed(text)
            if stage.stopped:
                self.stopped = last = True
            elif last:
                text += stage.finish()
        self._pending.append(self._edges.feed(text))

    def _retract(self) -> None:
        """A lone closing tag: what has not been returned is reasoning."""
        held = [self._edges.held, *(stage.held for stage in reversed(self._stages))]
        self._scanner.thoughts.append([*self._pending, *held])
        self._pending.clear()
        for stage in self._stages:
            stage.restart()
        self._edges.restart(bool(self._text))

    def _deliver(self) -> str:
        delta = "".join(self._pending)
        self._pending.clear()
        if delta:
            self._text.append(delta)
        return delta


class _Search:
    """Finds any of several strings in text that comes in pieces, looking at every character once.

    State n means: the last depth[n] characters are the start of some pattern, and no more than these are (the
    automaton of Aho and Corasick). So exactly depth[n] characters must be held back. Immutable once built.
    """

    def __init__(self, patterns: Iterable[str], any_case: bool = False) -> None:
        self.depth = [0]
        self._next: list[dict[str, int]] = [{}]
        self._found = [""]  # by state: the longest pattern that ends here
        self._fail = [0]
        for pattern in patterns:
            state = 0
            for ch in pattern:
                if ch not in self._next[state]:
                    new = len(self.depth)
                    self.depth.append(self.depth[state] + 1)
                    self._next.append({})
                    self._found.append("")
                    self._fail.append(0)
                    # ASCII only: elsewhere a change of case may change the length.
                    for form in {ch.lower(), ch.upper()} if any_case and ch.isascii() else ch:
                        self._next[state][form] = new
                state = self._next[state][ch]
            self._found[state] = pattern
        self.firsts = frozenset(self._next[0])
        queue = deque(set(self._next[0].values()))
        while queue:
            state = queue.popleft()
            for ch, child in self._next[state].items():
                fail = self._fail[state]
                while fail and ch not in self._next[fail]:
                    fail = self._fail[fail]
                self._fail[child] = self._next[fail].get(ch, 0)
                self._found[child] = self._found[child] or self._found[self._fail[child]]
            queue.extend(set(self._next[state].values()))

    def scan(self, state: int, text: str, at: int) -> tuple[int, int, str]:
        """Reads on from `at` until a pattern is complete: the state, where it ends, and it ("" if none)."""
        table, fail, found = self._next, self._fail, self._found
        for index in range(at, len(text)):
            ch = text[index]
            while state and ch not in table[state]:
                state = fail[state]
            state = table[state].get(ch, 0)
            if found[state]:
                return state, index + 1, found[state]
        return state, len(text), ""


@lru_cache(maxsize=64)
def _search(patterns: tuple[str, ...]) -> _Search:
    return _Search(patterns)


class _Role(Enum):
    END = 0
    SILENT = 1
    OPEN = 2
    CLOSE = 3


_ROLES: dict[str, _Role] = {
    **dict.fromkeys(END_MARKERS, _Role.END),
    **dict.fromkeys(SILENT_MARKERS, _Role.SILENT),
    **{opening: _Role.OPEN for opening, _ in REASONING_BLOCKS},
    **{closing: _Role.CLOSE for _, closing in REASONING_BLOCKS},
}
_CLOSING = dict(REASONING_BLOCKS)
_MARKS = _Search(_ROLES, any_case=True)
_END_SEARCH = _Search(END_MARKERS, any_case=True)

_Event = tuple[Literal["text", "retract", "end", "rest"], str]


class _Scanner:
    """Splits decoded text into what is said and what is thought, and finds the end-of-turn markers."""

    def __init__(self, strip: bool, starts_inside: bool) -> None:
        self.thoughts: list[list[str]] = []
        self._strip = strip
        # The tag that ends the block we are in. None: in no block; "": any, for the prompt opened the block.
        self._closing: str | None = None
        if strip and starts_inside:
            self._closing = ""
            self.thoughts.append([])
        self._state = 0
        self._held = ""
        self._last = ""  # the last character given out
        self._skipping = False  # a block at the start of its line takes the white space after it along

    def feed(self, text: str) -> Iterator[_Event]:
        if not self._state and _MARKS.firsts.isdisjoint(text):
            yield from self._text(text)
            return
        buffer = self._held + text
        start, at = 0, len(self._held)
        while True:
            self._state, at, found = _MARKS.scan(self._state, buffer, at)
            if not found:
                break
            self._state = 0  # no mark ends with the start of another
            if self._is_text(found):
                continue
            before = buffer[start : at - len(found)]
            start = at
            role = _ROLES[found]
            yield from self._text(before)
            if role is _Role.END:
                yield "end", ""
                return
            if role is _Role.OPEN:
                self._closing = _CLOSING[found]
                self.thoughts.append([])
            elif role is _Role.CLOSE and self._closing is None:
                yield "retract", ""
            elif role is _Role.CLOSE:
                self._closing = None
                self._skipping = self._last == "\n"
        cut = len(buffer) - _MARKS.depth[self._state]
        self._held = buffer[cut:]
        yield from self._text(buffer[start:cut])

    def finish(self) -> Iterator[_Event]:
        held, self._held = self._held, ""
        yield from self._text(held)
        yield "rest", ""

    def _is_text(self, found: str) -> bool:
        """Whether a complete mark means nothing where it stands."""
        role = _ROLES[found]
        if role is _Role.END:
            return self._closing == _FINAL and found in _FINAL_PASSES
        if role is _Role.SILENT:
            return self._closing is not None
        if not self._strip:
            return True
        if self._closing is None:
            return False
        return role is _Role.OPEN or self._closing not in ("", found)

    def _text(self, text: str) -> Iterator[_Event]:
        if self._closing is not None:
            self.thoughts[-1].append(text)
            return
        if self._skipping:
            text = text.lstrip()
        if text:
            self._skipping = False
            self._last = text[-1]
            yield "text", text


class _Ends:
    """Ends the text before the first of several strings to be completed."""

    def __init__(self, search: _Search) -> None:
        self._search = search
        self.stopped = False
        self.restart()

    def restart(self) -> None:
        self._state = 0
        self._begun = False  # something other than white space has passed
        self.held = ""

    def feed(self, text: str) -> str:
        if not self._state and self._search.firsts.isdisjoint(text):
            self._begun = self._begun or bool(text.strip())
            return text
        buffer = self.held + text
        at = len(self.held)
        # A line break may end a reply, but not one that has yet to begin: many start with an empty line.
        leading = 0 if self._begun else len(buffer) - len(buffer.lstrip())
        while True:
            self._state, at, found = self._search.scan(self._state, buffer, at)
            if not (found.isspace() and at <= leading):
                break
        if found:
            self.stopped = True
            self.held = ""
            return buffer[: at - len(found)]
        cut = len(buffer) - self._search.depth[self._state]
        self._begun = self._begun or leading < cut
        self.held = buffer[cut:]
        return buffer[:cut]

    def finish(self) -> str:
        held, self.held = self.held, ""
        return held


class _Labels:
    """Takes the speaker's own label off the lines that start with it; ends the text before another's."""

    def __init__(self, own: str, others: tuple[str, ...]) -> None:
        self._own = own.strip(" \t*")
        names = {self._own, *(other.strip(" \t*") for other in others)} - {""}
        self._names = sorted(names, key=len)  # the shorter of two that fit is complete first
        self.stopped = False
        self.restart()

    def restart(self) -> None:
        self._line_start = True
        self._after_label = False
        self.held = ""  # at the start of a line, after its white space

    def feed(self, text: str) -> str:
        if self._after_label:
            text = text.lstrip(" \t")
        if not text or not self._names:
            return text
        self._after_label = False
        if not self._line_start and "\n" not in text:
            return text
        text = self.held + text
        self.held = ""
        out: list[str] = []
        at = 0
        while True:
            if not self._line_start:
                end = text.find("\n", at) + 1
                out.append(text[at : end or len(text)])
                if not end:
                    break
                at = end
                self._line_start = True
            space = _SPACE.match(text, at)
            assert space is not None  # it also matches nothing
            out.append(space.group())
            at = space.end()
            if at == len(text):
                break
            name, end = self._find(text, at)
            if name and end < 0:
                self.held = text[at:]
                break
            self._line_start = False
            if not name:
                continue
            if name != self._own:
                self.stopped = True
                break
            stars, end = _open_stars(text, at, end, name)
            if end < 0:
                self._line_start = True
                self.held = text[at:]
                break
            out.append(stars)
            at = _run(text, end, " \t")
            if at == len(text):
                self._after_label = True
                break
        return "".join(out)

    def finish(self) -> str:
        held, self.held = self.held, ""
        return held

    def _find(self, text: str, at: int) -> tuple[str, int]:
        """The label at `at` and where its colon ends, -1 if more text must tell; ("", 0) if there is none."""
        for name in self._names:
            end = _label_end(text, at, name)
            if end:
                return name, end
        return "", 0


def _label_end(text: str, at: int, name: str) -> int:
    """Where `name:` at `at` ends, asterisks around the name allowed; 0: not there; -1: undecided."""
    at = _run(text, at, "*", _MAX_STARS)
    if len(text) - at < len(name):
        return -1 if name.startswith(text[at:]) else 0
    if not text.startswith(name, at):
        return 0
    at = _run(text, at + len(name), " \t*", _MAX_GAP)
    if at == len(text):
        return -1
    return at + 1 if text[at] in _COLONS else 0


def _open_stars(text: str, at: int, end: int, name: str) -> tuple[str, int]:
    """For a label from `at` to `end`: the asterisks it opens for the text after it, and where it really ends.

    `**Mira:** Hello` opens none, `**Mira: Hello**` two. An end of -1: more text must tell.
    """
    body = _run(text, at, "*", _MAX_STARS)
    stars = text[at:body]
    if not stars or "*" in text[body + len(name) : end]:
        return "", end
    after = text[end : end + len(stars)]
    if after == stars:
        return "", end + len(stars)
    return stars, -1 if stars.startswith(after) and end + len(after) == len(text) else end


def _run(text: str, at: int, chars: str, most: int = 0) -> int:
    """The end of the run of `chars` at `at`; with `most`, of at most so many."""
    last = min(at + most, len(text)) if most else len(text)
    while at < last and text[at] in chars:
        at += 1
    return at


class _Edges:
    """Drops white space before the text, and holds it back inside until something follows."""

    def __init__(self) -> None:
        self.restart(False)

    def restart(self, begun: bool) -> None:
        self._begun = begun
        self._space: list[str] = []

    @property
    def held(self) -> str:
        return "".join(self._space)

    def feed(self, text: str) -> str:
        body = text.rstrip()
        if not body:
            if text and self._begun:
                self._space.append(text)
            return ""
        if not self._begun:
            self._begun = True
            return self._emit("", body.lstrip(), text[len(body) :])
        return self._emit(self.held, body, text[len(body) :])

    def _emit(self, before: str, body: str, space: str) -> str:
        self._space = [space] if space else []
        return before + body

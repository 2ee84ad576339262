"""Mustache templates: what an author may write in one, compiled once, and rendered from plain values.

The tags are those of `TAGS`; every other key, partials and delimiter changes are faults at compile time. A
value is inserted verbatim, whatever it holds, and is never parsed. Text outside tags stays as it is.

    template = compile_template("{{slot.mira}} ({{var.gold}} gold)")
    template.render(scope(user_message="Hi", slots={"mira": "Ale?"}, variables={"gold": 3}))

Threading: templates are immutable and rendering shares nothing; any thread may compile and render.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypeAlias

from chevron.tokenizer import tokenize

from bridge.errors import LimitExceeded

TAGS = (
    "{{user_message}}, {{slot.<name>}}, {{var.<name>}}, {{intent}}, {{attribute.<name>}}, {{summary}}, "
    "{{#instructions}}, {{instruction_<name>}}, {{#knowledge}}, {{#knowledge_<source>}}"
)
MAX_DEPTH = 16
MAX_PARTS = 100_000
"""Sections that may stand inside one another."""

Value: TypeAlias = "str | bool | int | float | list[Value] | dict[str, Value]"
"""What a tag may stand for: data only, looked up by key; nothing in it is called or asked for attributes."""

_PART_THE_BRACES = "put a space between the braces if they are meant as text"
_NAME = "[A-Za-z_][A-Za-z0-9_]{0,63}"
_WORDS = ("user_message", "intent", "summary", "instructions", "knowledge")
_PREFIXES = ("slot.", "var.", "attribute.", "instruction_", "knowledge_")
_ABSOLUTE = re.compile(f"{'|'.join(_WORDS)}|(?:{'|'.join(map(re.escape, _PREFIXES))}){_NAME}")
_IDENTIFIER = re.compile(_NAME)
# The keys that one item of a list brings with it; see _keys_of.
_ITEM_KEYS = {
    "instructions": frozenset({"name", "text"}),
    "knowledge": frozenset({"name", "has_chunks", "chunks"}),
    "chunks": frozenset({"id", "text", "distance"}),
}
_HOMES = {
    "name": "{{#instructions}} or {{#knowledge}}",
    "text": "{{#instructions}}, {{#chunks}} or {{#knowledge_<source>}}",
    "has_chunks": "{{#knowledge}}",
    "chunks": "{{#knowledge}}",
    "id": "{{#chunks}} or {{#knowledge_<source>}}",
    "distance": "{{#chunks}} or {{#knowledge_<source>}}",
}


class TemplateFault(ValueError):
    """A template that cannot be used; the message begins with `line <n>: `, `line` is 1-based."""

    line: int

    def __init__(self, line: int, message: str) -> None:
        super().__init__(f"line {line}: {message}")
        self.line = line


@dataclass(frozen=True, slots=True)
class Tag:
    """One absolute tag and whether it is used as a section (inverted or not) or as a value."""

    path: str
    section: bool


@dataclass(frozen=True, slots=True)
class KnowledgeChunk:
    """One retrieved passage."""

    id: str
    text: str
    distance: float


@dataclass(frozen=True, slots=True)
class KnowledgeSource:
    """What one source brought this turn, nearest first; no chunks when nothing was found."""

    name: str
    chunks: tuple[KnowledgeChunk, ...]


@dataclass(frozen=True, slots=True)
class _Insert:
    key: str


@dataclass(frozen=True, slots=True)
class _Section:
    key: str
    inverted: bool
    body: _Body


_Body: TypeAlias = "tuple[str | _Insert | _Section, ...]"


@dataclass(frozen=True, slots=True)
class Template:
    """A compiled template; two are equal when their sources are."""

    source: str
    uses: frozenset[Tag] = field(compare=False, repr=False)
    tags: frozenset[str] = field(compare=False, repr=False)
    slots: frozenset[str] = field(compare=False, repr=False)
    variables: frozenset[str] = field(compare=False, repr=False)
    attributes: frozenset[str] = field(compare=False, repr=False)
    instructions: frozenset[str] = field(compare=False, repr=False)
    knowledge_sources: frozenset[str] = field(compare=False, repr=False)
    uses_user_message: bool = field(compare=False, repr=False)
    _body: _Body = field(compare=False, repr=False)

    def render(self, scope: Mapping[str, Value], max_chars: int = 2**24) -> str:
        """Fill the template in from absolute tags, as `scope` lays them out; a missing one is empty.

        Raises LimitExceeded beyond `max_chars`, or beyond MAX_PARTS parts in all lists together.
        """
        out = _Out(max_chars)
        _render(self._body, (scope,), out)
        return "".join(out.pieces)


def compile_template(source: str, *, max_chars: int = 65_536, set_variables: Collection[str] | None = None) -> Template:
    """Parse and check a template; the first fault is raised as TemplateFault, and nothing else is.

    `set_variables` names the variables that are string sets; where it is given, `{{.}}` in a section over any
    other variable is a fault too. Without it such a `{{.}}` renders empty.
    """
    if len(source) > max_chars:
        line = 1 + source.count("\n", 0, max_chars)
        raise TemplateFault(line, f"the template has {len(source)} characters, and {max_chars} are allowed: shorten it")
    uses = _check(_scan(source), set_variables)
    tags = frozenset(tag.path for tag in uses)

    def named(prefix: str) -> frozenset[str]:
        return frozenset(tag.removeprefix(prefix) for tag in tags if tag.startswith(prefix))

    return Template(
        source=source,
        uses=uses,
        tags=tags,
        slots=named("slot."),
        variables=named("var."),
        attributes=named("attribute."),
        instructions=named("instruction_"),
        knowledge_sources=named("knowledge_"),
        uses_user_message="user_message" in tags,
        _body=_build(_tidy(source)),
    )


def scope(
    *,
    user_message: str,
    slots: Mapping[str, str],
    variables: Mapping[str, bool | int | float | str | frozenset[str] | set[str] | Sequence[str]],
    intent: str = "",
    attributes: Mapping[str, str] = MappingProxyType({}),
    summary: str = "",
    instructions: Sequence[tuple[str, str]] = (),
    knowledge: Sequence[KnowledgeSource] = (),
) -> Mapping[str, Value]:
    """Lay out what a turn knows under the absolute tags that read it.

    `instructions` are (name, text) in execution order. Where two instructions, or two sources, share a name,
    the list shows both and the tag of that name the later one.
    """
    values: dict[str, Value] = {"user_message": user_message, "intent": intent, "summary": summary}
    values.update((f"slot.{name}", text) for name, text in slots.items())
    values.update((f"var.{name}", _variable(value)) for name, value in variables.items())
    values.update((f"attribute.{name}", label) for name, label in attributes.items())
    values.update((f"instruction_{name}", text) for name, text in instructions)
    values["instructions"] = [{"name": name, "text": text} for name, text in instructions]
    sources: list[Value] = []
    for source in knowledge:
        chunks: list[Value] = [
            {"id": chunk.id, "text": chunk.text, "distance": chunk.distance} for chunk in source.chunks
        ]
        sources.append({"name": source.name, "has_chunks": bool(chunks), "chunks": chunks})
        values[f"knowledge_{source.name}"] = chunks
    values["knowledge"] = sources
    return values


def _variable(value: bool | int | float | str | frozenset[str] | set[str] | Sequence[str]) -> Value:
    if isinstance(value, (bool, int, float, str)):
        return value
    return list[Value](sorted(set(value)))


# --- Parsing ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Mark:
    """A tag as written: `sigil` is one of "# ^ / !" or "" for a value; [start, end) is where it stands."""

    sigil: str
    key: str
    line: int
    start: int
    end: int


def _scan(source: str) -> Iterator[_Mark]:
    """Every tag with its line, split as chevron's tokenizer splits it; refuses what no template may hold.

    chevron's own line numbers miss the lines of standalone tags, and it drops a `{{` that ends the source.
    """
    line, end = 1, 0
    while (start := source.find("{{", end)) >= 0:
        line += source.count("\n", end, start)
        close = source.find("}}", start + 2)
        if close < 0:
            raise TemplateFault(line, f"this '{{{{' is never closed: end the tag with '}}}}', or {_PART_THE_BRACES}")
        tag = source[start + 2 : close]
        end = close + 2
        sigil, key = (tag[:1], tag[1:].strip()) if tag[:1] in tuple("#^/!{&>=") else ("", tag.strip())
        if sigil == ">":
            raise TemplateFault(line, f"{_shown(key, '>')} is a partial, which cannot be used: put its text here")
        if sigil == "=":
            raise TemplateFault(line, f"{_shown(key, '=')} would change the delimiters: remove it")
        if sigil == "{":
            if not source.startswith("}", end):
                raise TemplateFault(line, f"{_shown(key, '{')} opens with three braces: close it with three")
            end += 1
        if not key and sigil != "!":
            raise TemplateFault(line, f"{_shown('', sigil)} is empty: write a name in it, or {_PART_THE_BRACES}")
        yield _Mark("" if sigil in ("{", "&") else sigil, key, line, start, end)
        line += source.count("\n", start, end)


def _check(marks: Iterable[_Mark], set_variables: Collection[str] | None) -> frozenset[Tag]:
    """The absolute tags among the marks; raises for the first mark that may not stand where it does."""
    uses: set[Tag] = set()
    opened: list[_Mark] = []
    for mark in marks:
        if mark.sigil == "!":
            continue
        if mark.sigil == "/":
            _close(mark, opened)
            continue
        _check_key(mark, [section.key for section in opened if section.sigil == "#"], set_variables)
        if _ABSOLUTE.fullmatch(mark.key):
            uses.add(Tag(mark.key, section=mark.sigil != ""))
        if mark.sigil:
            opened.append(mark)
            if len(opened) > MAX_DEPTH:
                raise TemplateFault(
                    mark.line,
                    f"{_written(mark)} is inside {MAX_DEPTH} other sections: nest at most {MAX_DEPTH}",
                )
    if opened:
        last = opened[-1]
        raise TemplateFault(last.line, f"{_written(last)} is never closed: add {_shown(last.key, '/')} where it ends")
    return frozenset(uses)


def _close(mark: _Mark, opened: list[_Mark]) -> None:
    if not opened:
        raise TemplateFault(
            mark.line,
            f"{_written(mark)} closes a section that is not open: remove it, or add {_shown(mark.key, '#')}",
        )
    last = opened.pop()
    if last.key != mark.key:
        raise TemplateFault(
            mark.line,
            f"{_written(mark)} stands where {_written(last)} from line {last.line} is still open: "
            f"write {_shown(last.key, '/')} first",
        )


def _check_key(mark: _Mark, inside: Sequence[str], set_variables: Collection[str] | None) -> None:
    """Raise unless the tag may stand here; `inside` are the keys of the open sections, but inverted ones."""
    key = mark.key
    if key == ".":
        around = [outer.removeprefix("var.") for outer in inside if outer.startswith("var.")]
        sets = around if set_variables is None else [name for name in around if name in set_variables]
        if mark.sigil or not sets:
            raise TemplateFault(
                mark.line,
                f"{_written(mark)} has no meaning here: {{{{.}}}} is the item of a set and stands only "
                "inside {{#var.<name>}} of a string_set variable",
            )
    elif not _ABSOLUTE.fullmatch(key) and not any(key in _keys_of(outer) for outer in inside):
        raise TemplateFault(mark.line, _refusal(mark))
    elif _is_list(key) and not mark.sigil:
        raise TemplateFault(
            mark.line,
            f"{_shown(key)} is a list: write {_shown(key, '#')} … {_shown(key, '/')} around its items",
        )
    elif mark.sigil == "#" and key in inside and (_is_list(key) or key.startswith("var.")):
        # A list inside itself would repeat its body n x n times, and n to the 16th at full depth.
        raise TemplateFault(mark.line, f"{_written(mark)} stands inside itself: remove the inner section")


def _is_list(key: str) -> bool:
    return key in _ITEM_KEYS or key.startswith("knowledge_")


def _keys_of(section: str) -> frozenset[str]:
    """The keys that an item of this section brings, besides those readable outside it."""
    if section.startswith("knowledge_"):
        return _ITEM_KEYS["chunks"]
    return _ITEM_KEYS.get(section, frozenset())


def _refusal(mark: _Mark) -> str:
    """Why this key is none, and what to write in its place."""
    key, tag = mark.key, _written(mark)
    if key in _HOMES:
        return f"{tag} has no meaning here: it stands only inside {_HOMES[key]}"
    for prefix in _PREFIXES:
        if key == prefix[:-1]:
            return f"{tag} names none: write {_shown(f'{prefix}<name>', mark.sigil)}"
        if key.startswith(prefix):
            return (
                f"{tag} is no tag: what follows '{prefix}' must be one name of letters, digits and '_', "
                "not beginning with a digit, of at most 64 characters"
            )
    if key[:1] in tuple("#^/!&>="):
        return f"{tag} is no tag: write '{key[0]}' directly after '{{{{'"
    if _IDENTIFIER.fullmatch(key):
        near = difflib.get_close_matches(key, _WORDS, n=1, cutoff=0.8)
        if near:
            sigil = "#" if _is_list(near[0]) else mark.sigil
            return f"unknown tag {tag}: did you mean {_shown(near[0], sigil)}?"
        return (
            f"unknown tag {tag}: a slot is {_shown(f'slot.{key}', mark.sigil)}, a variable "
            f"{_shown(f'var.{key}', mark.sigil)}"
        )
    return f"unknown tag {tag}: use one of {TAGS}; or {_PART_THE_BRACES}"


def _written(mark: _Mark) -> str:
    return _shown(mark.key, mark.sigil)


def _shown(key: str, sigil: str = "") -> str:
    """The tag for a message: on one line and not too long."""
    text = key if key.isprintable() else repr(key)[1:-1]
    return "{{" + sigil + (text if len(text) <= 80 else f"{text[:79]}…") + "}}"


def _tidy(source: str) -> str:
    """The source without the white space around tags that stand alone on their line.

    chevron removes such a line, but leaves tabs before the tag, and blanks behind it on the last line.
    """
    pieces: list[str] = []
    done = 0
    for mark in _scan(source):
        if not mark.sigil:
            continue
        left = source.rfind("\n", 0, mark.start) + 1
        right = source.find("\n", mark.end)
        if right < 0:
            right = len(source)
        if not source[left : mark.start].strip() and not source[mark.end : right].strip():
            pieces += source[done:left], source[mark.start : mark.end]
            done = right
    return "".join((*pieces, source[done:]))


def _build(source: str) -> _Body:
    """The tokens of a checked source as a tree."""
    bodies: list[list[str | _Insert | _Section]] = [[]]
    opened: list[tuple[str, bool]] = []
    for kind, key in tokenize(source):
        if kind == "literal":
            bodies[-1].append(key)
        elif kind in ("variable", "no escape"):
            bodies[-1].append(_Insert(key))
        elif kind == "end":
            body = tuple(bodies.pop())
            bodies[-1].append(_Section(*opened.pop(), body))
        else:
            opened.append((key, kind == "inverted section"))
            bodies.append([])
    return tuple(bodies[0])


# --- Rendering --------------------------------------------------------------------------------------------
# chevron's renderer is not used: it reads attributes and calls callables, looks up a value's text and truth
# under one key (a false variable must print "false"), skips the empty items of a list, and ends a list
# section at the end of an inverted section of the same key inside it.


class _Out:
    """The text that a rendering has made so far, within its bounds."""

    def __init__(self, max_chars: int) -> None:
        self.pieces: list[str] = []
        self._left = max_chars
        self._parts_left = MAX_PARTS

    def add(self, text: str) -> None:
        self._left -= len(text)
        self.pieces.append(text)
        if self._left < 0:
            raise LimitExceeded("the rendering of the template is too long (max_turn_chars)")

    def count(self) -> None:
        """Called for every part that is rendered: nested lists multiply them."""
        self._parts_left -= 1
        if self._parts_left < 0:
            raise LimitExceeded(f"the template renders more than {MAX_PARTS} parts; nest fewer lists")


def _render(body: _Body, stack: tuple[Mapping[str, Value], ...], out: _Out) -> None:
    """Append the text of a body; `stack` has the items of the open lists, inmost first, then the scope."""
    for part in body:
        out.count()
        if isinstance(part, str):
            out.add(part)
            continue
        value = next((frame[part.key] for frame in stack if part.key in frame), "")
        if isinstance(part, _Insert):
            out.add(_text(value))
        elif part.inverted:
            if not value:
                _render(part.body, stack, out)
        elif isinstance(value, list):
            for item in value:
                _render(part.body, (item if isinstance(item, dict) else {".": item}, *stack), out)
        elif value:
            _render(part.body, stack, out)


def _text(value: Value) -> str:
    """A value as it is inserted; a float in the shortest form that reads back the same (1.0, 0.1, 1e+16)."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, list):
        return ", ".join(map(_text, value))
    return ""

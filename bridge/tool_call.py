"""From a model's raw reply to calls of tools and the text beside them. Pure.

What a small model writes is seldom what it was told to: so markup of every format is understood whatever the format,
JSON that is only nearly so is repaired, and all that is left out is said in a plain sentence.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bridge.answer_text import END_MARKERS, REASONING_BLOCKS, TOOL_MARKERS
from bridge.near_json import JsonPiece, JsonReader, portable
from bridge.protocol import ToolCallFormat
from bridge.tool_schema import check_tool
from bridge.wording import shown

__all__ = ["Call", "ParsedReply", "Tool", "check_tool", "parse_reply"]


@dataclass(frozen=True, slots=True)
class Tool:
    """Something that the game can do for a character."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    """A JSON Schema of the type object; {} = no parameters."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call that a model made."""

    tool: str
    """A listed name."""
    arguments: dict[str, Any]
    """JSON values that the wire can carry; not checked against the schema."""


@dataclass(frozen=True, slots=True)
class ParsedReply:
    """A reply, taken apart."""

    text: str
    """What was said beside the calls, before and after."""
    calls: tuple[Call, ...]
    ignored: tuple[str, ...]
    """Plain sentences about what looked like a call and is none."""


def parse_reply(text: str, tools: Sequence[Tool], format_name: ToolCallFormat) -> ParsedReply:
    """Take apart a raw reply. Never raises; the time it takes grows with the length of the reply alone."""
    return _Reading(text, tools, format_name).result()


_NAME_KEYS = ("name", "tool", "function", "tool_name")
_ARGUMENT_KEYS = ("arguments", "parameters", "args")
_INNER_KEYS = ("function", "tool_call", "function_call")
_LIST_KEYS = ("tool_calls", "calls")

_TAG = r"(?:tool_calls?|function_calls?|tool|function)"
_CLOSE_OF = {opening.lower(): closing for opening, closing in REASONING_BLOCKS}
_LOOKED_FOR = re.compile(
    "|".join(
        (
            "(?P<reasoning>" + "|".join(re.escape(opening) for opening, _ in REASONING_BLOCKS) + ")",
            "(?P<reasoned>" + "|".join(re.escape(closing) for _, closing in REASONING_BLOCKS) + ")",
            "(?P<end>" + "|".join(map(re.escape, END_MARKERS)) + ")",
            r"(?P<mistral>\[TOOL_CALLS\])",
            r"(?P<python><\|python_tag\|>)",
            rf"(?P<open><\|?{_TAG}\|?>)",
            r"<(?:function|tool_call)\s*=\s*[\"']?(?P<named>[\w-]{1,64})[\"']?\s*>",
            rf"(?P<stray></\|?{_TAG}\|?>|" + "|".join(map(re.escape, TOOL_MARKERS)) + ")",
            r"(?P<bare>[\[{]\s{0,40}(?:\{\s{0,40})?[\"']?(?:" + "|".join((*_NAME_KEYS, *_ARGUMENT_KEYS, *_INNER_KEYS,
             *_LIST_KEYS, "type", "id")) + r")[\"']?\s{0,40}:)",
        )
    ),
    re.IGNORECASE,
)  # fmt: skip
_BORDER = re.compile(rf"</?\|?{_TAG}\|?>|</?function\b|\[/?TOOL_CALLS\]|<\|python_tag\|>", re.IGNORECASE)
_CLOSING = re.compile(rf"\s*(?:</\|?{_TAG}\|?>|\[/TOOL_CALLS\])", re.IGNORECASE)
_FENCE_OPENS = re.compile(r"\s*(?:`{3}[\w-]*|`{1,2})\s*")
_FENCE_BEFORE = re.compile(r"(?:`{3}[\w-]{0,20}\s{0,40}|`{1,2})\Z")
_FENCE_AFTER = re.compile(r"\s*`{1,3}")
_BETWEEN = re.compile(r"[\s,;]*")
_BETWEEN_BARE = re.compile(r"\s*[,;]\s*(?=[\[{])")
_MISTRAL_NAME = re.compile(r"\s*([A-Za-z_][\w-]{0,63})\s*(?:\[CALL_ID\]\s*[\w-]{0,64}\s*)?(?:\[ARGS\])?\s*(?=\{)")
_FENCES = re.compile(r"`{1,3}(?:json|tool_call)?")
_MARKUP = re.compile(rf"</?\|?{_TAG}\|?>|" + "|".join(map(re.escape, (*TOOL_MARKERS, *END_MARKERS))), re.IGNORECASE)


class _Reading:
    """One walk over a reply, from left to right."""

    def __init__(self, text: str, tools: Sequence[Tool], format_name: ToolCallFormat) -> None:
        self._text = text
        self._bare_is_call = format_name in ("llama3", "generic")
        self._names = {tool.name: tool.name for tool in tools}
        folded: dict[str, list[str]] = {}
        for name in self._names:
            folded.setdefault(_folded(name), []).append(name)
        self._folded = {key: names[0] for key, names in folded.items() if len(names) == 1}
        self._properties = {tool.name: tool.parameters.get("properties", {}) for tool in tools}
        self._required = {tool.name: tool.parameters.get("required", ()) for tool in tools}
        self._said: list[str] = []
        self._spoke = False  # something was said that is more than white space and code fences
        self._calls: list[Call] = []
        self._ignored: list[str] = []
        self._json = JsonReader(text)
        self._next_border = -1
        self._fenced = False  # a call inside a code fence came last
        self._gap = False  # something was taken out behind the last piece of text

    def result(self) -> ParsedReply:
        at = 0
        while True:
            found = _LOOKED_FOR.search(self._text, at)
            between = self._text[at : found.start() if found else len(self._text)]
            if not found and self._calls and self._gap and _FRAGMENT.fullmatch(between):
                self._ignored.append("A call was cut short.")
                break
            self._say(between)
            if not found:
                break
            kind = found.lastgroup
            if kind == "end":
                break
            if kind == "bare":
                at = self._bare(found.start())
                continue
            self._gap = True
            if kind == "reasoning":
                at = self._reasoning(found)
            elif kind == "reasoned":
                self._said, self._calls, self._ignored = [], [], []
                at = found.end()
            elif kind == "stray":
                at = found.end()
            else:
                at = self._marked(found)
        text = _MARKUP.sub(" ", "".join(self._said)).strip()
        return ParsedReply(text, tuple(self._calls), tuple(dict.fromkeys(self._ignored)))

    # ---- text

    def _say(self, text: str) -> None:
        if self._fenced and (fence := _FENCE_AFTER.match(text)):
            text = text[fence.end() :]
            self._fenced = False
        if not text.strip():
            if text and self._said:
                self._said.append(text)
            return
        self._fenced = False
        self._spoke = self._spoke or len(text) > 40 or bool(_FENCES.sub("", text).strip())
        if self._gap and self._said:
            before = ""
            while self._said and not before.strip():
                before = self._said.pop() + before
            body = text.lstrip()
            space = before[len(before.rstrip()) :] + text[: len(text) - len(body)]
            self._said.append(before.rstrip())
            if self._said[-1]:
                self._said.append("\n" if "\n" in space else " ")
            text = body
        self._gap = False
        self._said.append(text)

    def _reasoning(self, found: re.Match[str]) -> int:
        end = re.compile(re.escape(_CLOSE_OF[found[0].lower()]), re.IGNORECASE).search(self._text, found.end())
        return end.end() if end else len(self._text)

    # ---- calls

    def _marked(self, found: re.Match[str]) -> int:
        """Read what stands behind a marker that announces calls; returns where that ends."""
        kind, at = found.lastgroup, found.end()
        name = found["named"]
        if kind == "mistral" and (named := _MISTRAL_NAME.match(self._text, at)):
            name, at = named[1], named.end()
        fence = _FENCE_OPENS.match(self._text, at)
        start = fence.end() if fence else at
        values = 0
        end = start
        while True:
            between = _BETWEEN.match(self._text, end)
            begin = between.end() if between else end
            border = self._border(begin)
            if begin == border or self._text[begin] not in "{[":
                break
            value = self._json.read(begin, border)
            end = value.end
            values += 1
            self._take(value, name, begin)
            if name:
                break
        if values:
            if fence and (after := _FENCE_AFTER.match(self._text, end)):
                end = after.end()
            closing = _CLOSING.match(self._text, end)
            return closing.end() if closing else end
        return self._no_json(kind, at)

    def _border(self, at: int) -> int:
        """Where the next markup stands that no JSON goes beyond, unless inside a text of it."""
        if self._next_border < at:
            found = _BORDER.search(self._text, at)
            self._next_border = found.start() if found else len(self._text)
        return self._next_border

    def _no_json(self, kind: str | None, at: int) -> int:
        """Nothing that could be JSON stands behind a marker."""
        inside = self._text[at : self._border(at)]
        border = _BORDER.match(self._text, at + len(inside))
        if kind == "python" and inside.strip():
            self._ignored.append(f"A call is no JSON: {shown(inside.strip())}.")
            return at + len(inside)
        if border and border[0].startswith(("</", "[/")):
            if inside.strip():
                self._ignored.append(f"A call is no JSON: {shown(inside.strip())}.")
            else:
                self._ignored.append("A call is empty.")
            return border.end()
        self._ignored.append("The reply begins a call and writes none.")
        return at

    def _bare(self, start: int) -> int:
        """Read JSON that no marker announces; what is no call stays text. Returns where it ends."""
        if self._json.weary:
            self._say(self._text[start : start + 1])
            return start + 1
        value = self._json.read(start, self._border(start))
        items = _items(value.value)
        attempt = self._names_a_tool(start) if value.broken or value.unclosed else None
        alone = self._stands_alone(value.end)
        if not items or not any(self._is_call(item, alone) for item in items):
            if attempt is None:
                end = start + 1 if value.unclosed else value.end
                self._say(self._text[start:end])
                return end
            self._drop_fence()
            self._ignored.append(f"A call of {shown(attempt)} was cut short or is beyond repair.")
            return value.end
        self._drop_fence()
        self._take(value, None, start)
        between = _BETWEEN_BARE.match(self._text, value.end)
        return between.end() if between else value.end

    def _drop_fence(self) -> None:
        """Take the opening of a code fence off the text right before a call."""
        before = ""
        while self._said and len(before.strip()) < 24:
            before = self._said.pop() + before
        fence = _FENCE_BEFORE.search(before[-80:])
        if fence:
            self._fenced = True
            before = before[: len(before) - len(fence[0])]
        if before:
            self._said.append(before)
        self._gap = True

    def _names_a_tool(self, start: int) -> str | None:
        """The tool that broken JSON begins to call."""
        found = _ATTEMPT.match(self._text, start)
        if found and found.end() == len(self._text) and found[2] == "":
            return next((name for name in self._names if name.startswith(found[1])), None)
        return self._listed(found[1]) if found else None

    def _stands_alone(self, end: int) -> bool:
        """Whether the reply has nothing but the JSON that ends here, and code fences and calls around it."""
        if self._spoke or len(self._text) - end > 40:
            return False
        return not _FENCES.sub("", self._text[end:]).strip()

    def _is_call(self, item: Any, alone: bool) -> bool:
        """Whether JSON that no marker announces is meant as a call: of a listed tool, or `alone` in the reply."""
        name, arguments, given = _parts(item)
        if not isinstance(name, str):
            return False
        if not given:
            return self._beside(name, item) is not None
        if self._listed(name) is not None:
            return True
        shaped = isinstance(arguments, (dict, str)) and bool(_PLAIN_NAME.fullmatch(name))
        return self._bare_is_call and alone and shaped

    def _take(self, value: JsonPiece, name: str | None, start: int) -> None:
        """Take a call, or several, out of what was read."""
        if value.broken:
            tail = "" if value.broken == "is nested too deep" else f": {shown(self._text[start : value.end].strip())}"
            self._ignored.append(f"A call {value.broken}{tail}.")
            return
        if name is not None:
            self._call(name, value.value)
            return
        items = _items(value.value)
        for item in items:
            if not isinstance(item, dict):
                self._ignored.append(f"A call is an object, not {shown(item)}.")
                continue
            called, arguments, given = _parts(item)
            if not given and isinstance(called, str):
                arguments = self._beside(called, item)
            if not isinstance(called, str) or not called:
                self._ignored.append("A call was cut short." if value.unclosed else "A call names no tool.")
            elif _defines(arguments):
                self._ignored.append(f"The reply repeats the definition of {shown(called)}.")
            elif value.unclosed and item is items[-1] and (value.torn or self._lacks(called, arguments)):
                self._ignored.append(f"A call of {shown(called)} was cut short.")
            else:
                self._call(called, arguments)

    def _beside(self, name: str, item: Mapping[str, Any]) -> dict[str, Any] | None:
        """Arguments that stand beside the tool's name and not in an object of their own."""
        beside = {key: value for key, value in item.items() if key not in (*_NAME_KEYS, "type", "id")}
        known = self._properties.get(self._listed(name) or "", ())
        return beside if beside and all(key in known for key in beside) else None

    def _lacks(self, name: str, arguments: Any) -> bool:
        """Whether arguments that were cut off lack one that the tool must have."""
        tool = self._listed(name)
        required = self._required.get(tool, ()) if tool else ()
        return arguments is None or not isinstance(arguments, dict) or any(one not in arguments for one in required)

    def _call(self, name: str, arguments: Any) -> None:
        tool = self._listed(name)
        if tool is None:
            self._ignored.append(f"{shown(name)} is no listed tool.")
            return
        if isinstance(arguments, str):
            arguments = self._json.inside(arguments)
        if arguments is None:
            arguments = {}
        if not isinstance(arguments, dict):
            self._ignored.append(f"The arguments of {shown(tool)} are no object but {shown(arguments)}.")
            return
        try:
            self._calls.append(Call(tool, portable(arguments)))
        except ValueError as fault:
            self._ignored.append(f"The arguments of {shown(tool)} cannot be used: {fault}.")

    def _listed(self, name: str) -> str | None:
        name = name.strip()
        return self._names.get(name) or self._folded.get(_folded(name))


_ATTEMPT = re.compile(
    rf"[\[{{]\s*(?:\{{\s*)?[\"']?(?:{'|'.join(_NAME_KEYS)})[\"']?\s*:\s*[\"']([\w-]{{0,64}})([\"']|\Z)", re.IGNORECASE
)
_FRAGMENT = re.compile(r"[\s,;]*[\[{][\s\[{]*[\"']?\w{0,20}[\"']?\s*:?\s*")
_PLAIN_NAME = re.compile(r"[A-Za-z_][\w.-]{0,63}")


def _folded(name: str) -> str:
    return name.casefold().replace("-", "_")


def _items(value: Any) -> Sequence[Any]:
    """The calls of a value: itself, or what a list or OpenAI's wrapping holds."""
    if isinstance(value, dict):
        inner = next((value[key] for key in _LIST_KEYS if isinstance(value.get(key), list)), None)
        return [value] if inner is None else inner
    return value if isinstance(value, list) else []


def _parts(item: Any) -> tuple[Any, Any, bool]:
    """Name and arguments of a call, and whether there are arguments at all."""
    if not isinstance(item, dict):
        return None, None, False
    inner = next((item[key] for key in _INNER_KEYS if isinstance(item.get(key), dict)), None)
    item = item if inner is None else inner
    name = next((item[key] for key in _NAME_KEYS if isinstance(item.get(key), str)), None)
    key = next((key for key in _ARGUMENT_KEYS if key in item), None)
    return name, item[key] if key else None, key is not None


def _defines(arguments: Any) -> bool:
    """Whether the arguments are a schema, as in the definition of a tool."""
    return (
        isinstance(arguments, dict)
        and arguments.get("type") == "object"
        and isinstance(arguments.get("properties"), dict)
    )

"""Reads what Unreal's header tool reads of a header: its marked classes, structs, enums and delegates."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Specifiers:
    """What stands in the brackets of UPROPERTY(…) and its like; words are kept as written, values without quotes."""

    words: dict[str, str]
    meta: dict[str, str]


@dataclass(frozen=True)
class Property:
    """One UPROPERTY. `condition` is the `#if` around it inside of its class, or empty."""

    line: int
    type: str
    name: str
    specifiers: Specifiers
    access: str
    condition: str
    comment: str
    is_bitfield: bool


@dataclass(frozen=True)
class Parameter:
    """One parameter of a function, with its default as written."""

    type: str
    name: str
    default: str


@dataclass(frozen=True)
class Function:
    """One UFUNCTION."""

    line: int
    result: str
    name: str
    parameters: tuple[Parameter, ...]
    specifiers: Specifiers
    access: str
    condition: str
    comment: str
    is_virtual: bool
    is_static: bool
    is_const: bool
    is_override: bool
    has_body: bool


@dataclass(frozen=True)
class Type:
    """One UCLASS, USTRUCT, UINTERFACE, or the I-class of an interface (`macro` is empty then)."""

    macro: str
    line: int
    macro_lines: tuple[int, int]
    name: str
    api: str
    bases: tuple[str, ...]
    specifiers: Specifiers
    comment: str
    body_line: int
    bodies: tuple[int, ...]
    """Lines of GENERATED_BODY."""
    is_body_first: bool
    properties: tuple[Property, ...]
    functions: tuple[Function, ...]
    constructors: tuple[str, ...]
    """Parameter lists of its constructors as written."""
    declared: frozenset[str]
    """Words that look like names of functions in its body."""


@dataclass(frozen=True)
class Enum:
    """One UENUM."""

    line: int
    name: str
    underlying: str
    is_class: bool
    specifiers: Specifiers
    values: tuple[tuple[str, str, dict[str, str]], ...]
    """Name, value as written or empty, metadata of UMETA."""
    comment: str


@dataclass(frozen=True)
class Delegate:
    """One DECLARE_DYNAMIC_… at the level of the file."""

    line: int
    macro_lines: tuple[int, int]
    macro: str
    is_dynamic: bool
    is_multicast: bool
    result: str
    name: str
    arguments: tuple[str, ...]


@dataclass(frozen=True)
class Header:
    """One header as the header tool sees it."""

    name: str
    includes: tuple[tuple[int, str], ...]
    has_pragma_once: bool
    types: tuple[Type, ...]
    enums: tuple[Enum, ...]
    delegates: tuple[Delegate, ...]
    problems: tuple[tuple[int, str], ...] = field(default=())
    """What cannot be read at all: line and why."""


_COMMENT_OR_TEXT = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.DOTALL)
_OPEN = {"(": ")", "{": "}", "[": "]", "<": ">"}
_NUMBERS = {
    "": 0,
    "OneParam": 1,
    "TwoParams": 2,
    "ThreeParams": 3,
    "FourParams": 4,
    "FiveParams": 5,
    "SixParams": 6,
    "SevenParams": 7,
    "EightParams": 8,
    "NineParams": 9,
}
_DELEGATE = re.compile(r"\bDECLARE_(DYNAMIC_)?(MULTICAST_)?DELEGATE(_RetVal)?(?:_(\w+?Params?))?\s*\(")
_MARK = re.compile(r"\b(UCLASS|USTRUCT|UENUM|UINTERFACE)\s*\(")
_MEMBER = re.compile(r"\b(UPROPERTY|UFUNCTION)\s*\(")


def blanked(text: str) -> str:
    """The text without its comments: as long as before, line ends where they were, strings as they were."""

    def blank(match: re.Match[str]) -> str:
        found = match.group()
        return found if found[0] in "\"'" else re.sub(r"[^\n]", " ", found)

    return _COMMENT_OR_TEXT.sub(blank, text)


def closing(text: str, start: int) -> int:
    """Where the bracket that opens at `start` closes; strings count for nothing. Raises ValueError."""
    wanted = _OPEN[text[start]]
    depth, at = 0, start
    while at < len(text):
        char = text[at]
        if char in "\"'":
            match = _COMMENT_OR_TEXT.match(text, at)
            if match:
                at = match.end()
                continue
        if char == text[start]:
            depth += 1
        elif char == wanted:
            depth -= 1
            if depth == 0:
                return at
        at += 1
    raise ValueError(f"{text[start]} is not closed")


def split(text: str, by: str = ",") -> list[str]:
    """Splits at a character outside of all brackets and strings; parts are trimmed, an empty text has none."""
    parts, depth, last, at = [], 0, 0, 0
    while at < len(text):
        char = text[at]
        if char in "\"'":
            match = _COMMENT_OR_TEXT.match(text, at)
            if match:
                at = match.end()
                continue
        if char in "([{<":
            depth += 1
        elif char in ")]}>" and text[at - 1 : at + 1] != "->":
            depth -= 1
        elif char == by and depth == 0:
            parts.append(text[last:at].strip())
            last = at + 1
        at += 1
    parts.append(text[last:].strip())
    return parts if any(parts) else []


def _unquoted(text: str) -> str:
    text = text.strip()
    pieces = re.findall(r'"((?:\\.|[^"\\])*)"', text)
    if text.startswith('"') and pieces:
        return "".join(pieces).replace('\\"', '"').replace("\\n", "\n").replace("\\\\", "\\")
    return text


def specifiers(text: str) -> Specifiers:
    """Reads `BlueprintReadOnly, Category = "X", meta = (ClampMin = "0")`."""
    words: dict[str, str] = {}
    meta: dict[str, str] = {}
    for part in split(text):
        name, _, value = (piece.strip() for piece in part.partition("="))
        if name.lower() == "meta":
            for inner in split(value.strip()[1:-1]):
                key, _, said = (piece.strip() for piece in inner.partition("="))
                meta[key] = _unquoted(said)
        else:
            words[name] = _unquoted(value)
    return Specifiers(words, meta)


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def _comment_before(original: str, at: int) -> str:
    """The `/** … */` or `/// …` right before a place, without its marks."""
    before = original[:at].rstrip()
    if before.endswith("*/"):
        start = before.rfind("/**")
        if start < 0:
            return ""
        inner = before[start + 3 : -2]
        return " ".join(line.strip().lstrip("*").strip() for line in inner.strip().splitlines()).strip()
    lines: list[str] = []
    for line in reversed(before.splitlines()):
        if not line.strip().startswith("///"):
            break
        lines.insert(0, line.strip()[3:].strip())
    return " ".join(lines)


def _conditions(body: str) -> list[str]:
    """For each line of a body the `#if` that it stands in, or ''."""
    stack: list[str] = []
    out = []
    for line in body.splitlines():
        stripped = line.strip()
        if re.match(r"#\s*if", stripped):
            stack.append(re.sub(r"^#\s*(if|ifdef|ifndef)\s*", "", stripped).strip())
        elif re.match(r"#\s*(else|elif)", stripped) and stack:
            stack[-1] = f"!({stack[-1]})"
        elif re.match(r"#\s*endif", stripped) and stack:
            stack.pop()
        out.append(" && ".join(stack))
    return [*out, ""]


def _declaration_end(body: str, start: int) -> tuple[int, bool]:
    """Where a declaration ends (its `;` or the `{` of its body), and whether it has a body."""
    at = start
    while at < len(body):
        char = body[at]
        if char == "(":
            at = closing(body, at)
        elif char == ";":
            return at, False
        elif char == "{":
            return at, True
        at += 1
    raise ValueError("a declaration does not end")


def _property(declaration: str) -> tuple[str, str, bool]:
    """Type, name and whether it is a bit field, of `TArray<int32> Things = {…}`."""
    head = split(declaration, "=")[0]
    head = re.split(r"\{", head)[0].strip()
    bitfield = re.search(r":\s*\d+\s*$", head) is not None
    head = re.sub(r":\s*\d+\s*$", "", head).strip()
    match = re.match(r"(.*?)([A-Za-z_]\w*)\s*(\[[^\]]*\])?$", head, re.DOTALL)
    if match is None:
        raise ValueError(f"not a property: {declaration.strip()[:60]}")
    kind = " ".join(match.group(1).split())
    return kind + (match.group(3) or ""), match.group(2), bitfield


def parameters(text: str) -> tuple[Parameter, ...]:
    """Reads what stands between the brackets of a function's declaration."""
    out = []
    for part in split(re.sub(r"\bUPARAM\s*\([^)]*\)\s*", "", text)):
        declared, _, default = (piece.strip() for piece in part.partition("="))
        match = re.match(r"(.*?)([A-Za-z_]\w*)$", declared, re.DOTALL)
        kind, name = (match.group(1), match.group(2)) if match else (declared, "")
        if not kind.strip():
            kind, name = declared, ""
        out.append(Parameter(" ".join(kind.split()), name, default))
    return tuple(out)


def _members(original: str, text: str, start: int, end: int) -> tuple[list[Property], list[Function]]:
    body = text[start:end]
    first = _line(text, start)
    conditions = _conditions(body)
    properties: list[Property] = []
    functions: list[Function] = []
    for match in _MEMBER.finditer(body):
        stop = closing(body, match.end() - 1)
        said = specifiers(body[match.end() : stop])
        finish, has_body = _declaration_end(body, stop + 1)
        declaration = body[stop + 1 : finish]
        if match.group(1) == "UPROPERTY" and has_body:  # int32 A{3};
            finish = body.index(";", finish)
            has_body = False
        line = _line(text, start + match.start())
        condition = conditions[line - first] if line - first < len(conditions) else ""
        accesses = re.findall(r"\b(public|protected|private)\s*:(?!:)", body[: match.start()])
        access = accesses[-1] if accesses else ""
        comment = _comment_before(original, start + match.start())
        declaration = re.sub(r"^\s*#.*$", "", declaration, flags=re.MULTILINE)
        if match.group(1) == "UPROPERTY":
            kind, name, bitfield = _property(declaration)
            properties.append(Property(line, kind, name, said, access, condition, comment, bitfield))
            continue
        head = re.match(r"\s*(.*?)([A-Za-z_]\w*)\s*\(", declaration, re.DOTALL)
        if head is None:
            raise ValueError(f"not a function: {declaration.strip()[:60]}")
        opened = head.end() - 1
        shut = closing(declaration, opened)
        words = head.group(1).split()
        result = " ".join(
            word
            for word in words
            if word not in ("virtual", "static", "inline", "FORCEINLINE", "explicit") and "_API" not in word
        )
        tail = declaration[shut + 1 :]
        functions.append(
            Function(
                line,
                result,
                head.group(2),
                parameters(declaration[opened + 1 : shut]),
                said,
                access,
                condition,
                comment,
                "virtual" in words,
                "static" in words,
                re.search(r"\bconst\b", tail) is not None,
                re.search(r"\boverride\b", tail) is not None,
                has_body or "PURE_VIRTUAL" in tail,
            )
        )
    return properties, functions


def _bases(text: str) -> tuple[str, ...]:
    return tuple(re.sub(r"\b(public|protected|private|virtual)\b", "", part).strip() for part in split(text))


def _type(
    original: str, text: str, at: int, macro: str, said: Specifiers, macro_lines: tuple[int, int], comment: str
) -> tuple[Type, int]:
    head = re.compile(
        r"\s*(class|struct)\s+(?:(\w+_API)\s+)?(?:alignas\([^)]*\)\s*)?(\w+)\s*(?:final\s*)?(?::([^{;]*))?\{"
    ).match(text, at)
    if head is None:
        raise ValueError(f"no class or struct follows {macro or 'here'}")
    opened = head.end() - 1
    shut = closing(text, opened)
    body = text[opened + 1 : shut]
    bodies = [_line(text, opened + 1 + found.start()) for found in re.finditer(r"\bGENERATED_\w*BODY\s*\(", body)]
    name = head.group(3)
    properties, functions = _members(original, text, opened + 1, shut)
    constructors = []
    for found in re.finditer(rf"(?<![~\w:])(?:explicit\s+)?{name}\s*\(", body):
        inside = body[found.end() : closing(body, found.end() - 1)]
        before = body[: found.start()].rstrip()
        if before.endswith((";", "{", "}", ":", ")")) or not before:
            constructors.append(" ".join(inside.split()))
    made = Type(
        macro,
        _line(text, head.start(1)),
        macro_lines,
        name,
        head.group(2) or "",
        _bases(head.group(4) or ""),
        said,
        comment,
        _line(text, opened),
        tuple(bodies),
        re.match(r"\s*GENERATED_BODY\s*\(\s*\)", body) is not None,
        tuple(properties),
        tuple(functions),
        tuple(constructors),
        frozenset(re.findall(r"\b([A-Za-z_]\w*)\s*\(", body)),
    )
    return made, shut


def _enum(original: str, text: str, at: int, said: Specifiers, comment: str) -> Enum:
    head = re.compile(r"\s*enum\s+(class\s+)?(\w+)\s*(?::\s*(\w+))?\s*\{").match(text, at)
    if head is None:
        head = re.compile(r"\s*namespace\s+(\w+)").match(text, at)
        raise ValueError("no enum follows UENUM" if head is None else "UENUM of a namespace is the old form")
    shut = closing(text, head.end() - 1)
    values = []
    for part in filter(None, split(text[head.end() : shut])):
        found = re.match(r"(\w+)\s*(?:UMETA\s*\((.*?)\))?\s*(?:=\s*(.*))?$", part, re.DOTALL)
        if found is None:
            found = re.match(r"(\w+)\s*=\s*(.*?)\s*(?:UMETA\s*\((.*)\))\s*$", part, re.DOTALL)
            if found is None:
                raise ValueError(f"not an enumerator: {part}")
            values.append((found.group(1), found.group(2), specifiers(found.group(3)).words))
            continue
        value = found.group(3) or ""
        tail = re.match(r"(.*?)\s*UMETA\s*\((.*)\)$", value, re.DOTALL)
        meta = specifiers(found.group(2)).words if found.group(2) else specifiers(tail.group(2)).words if tail else {}
        values.append((found.group(1), tail.group(1) if tail else value, meta))
    return Enum(
        _line(text, head.start()), head.group(2), head.group(3) or "", bool(head.group(1)), said, tuple(values), comment
    )


def _marks(original: str, text: str) -> Iterator[Type | Enum]:
    for match in _MARK.finditer(text):
        stop = closing(text, match.end() - 1)
        said = specifiers(text[match.end() : stop])
        comment = _comment_before(original, match.start())
        if match.group(1) == "UENUM":
            yield _enum(original, text, stop + 1, said, comment)
        else:
            lines = (_line(text, match.start()), _line(text, stop))
            yield _type(original, text, stop + 1, match.group(1), said, lines, comment)[0]


def read_header(name: str, original: str) -> Header:
    """Reads a header; `name` is its file name. What cannot be read stands in `problems`."""
    text = blanked(original)
    includes = tuple(
        (index, found.group(1))
        for index, line in enumerate(text.splitlines(), 1)
        if (found := re.match(r'\s*#\s*include\s+["<]([^">]+)[">]', line))
    )
    types: list[Type] = []
    enums: list[Enum] = []
    delegates: list[Delegate] = []
    problems: list[tuple[int, str]] = []
    try:
        for marked in _marks(original, text):
            if isinstance(marked, Enum):
                enums.append(marked)
            else:
                types.append(marked)
        interfaces = {one.name[1:] for one in types if one.macro == "UINTERFACE"}
        for found_class in re.finditer(r"^\s*class\s+(?:\w+_API\s+)?I(\w+)\b[^;{]*\{", text, re.MULTILINE):
            if found_class.group(1) in interfaces:
                lines = (_line(text, found_class.start()), _line(text, found_class.start()))
                types.append(_type(original, text, found_class.start(), "", Specifiers({}, {}), lines, "")[0])
        for match in _DELEGATE.finditer(text):
            if re.match(r"\s*#\s*define", text[text.rfind("\n", 0, match.start()) + 1 : match.start()] + " "):
                continue
            stop = closing(text, match.end() - 1)
            arguments = split(text[match.end() : stop])
            result = arguments.pop(0) if match.group(3) else ""
            delegates.append(
                Delegate(
                    _line(text, match.start()),
                    (_line(text, match.start()), _line(text, stop)),
                    match.group(4) or "",
                    bool(match.group(1)),
                    bool(match.group(2)),
                    result,
                    arguments[0] if arguments else "",
                    tuple(arguments[1:]),
                )
            )
    except ValueError as fault:
        problems.append((1, str(fault)))
    return Header(name, includes, "#pragma once" in text, tuple(types), tuple(enums), tuple(delegates), tuple(problems))


def parameters_of(delegate: Delegate) -> tuple[Parameter, ...]:
    """Of a dynamic delegate, whose macro takes types and names by turns; a name may be missing."""
    arguments = delegate.arguments
    return tuple(
        Parameter(arguments[at], arguments[at + 1] if at + 1 < len(arguments) else "", "")
        for at in range(0, len(arguments), 2)
    )


def expected_parameters(delegate: Delegate) -> int:
    """How many the macro's last word says; -1: there is no such macro."""
    return _NUMBERS.get(delegate.macro, -1)

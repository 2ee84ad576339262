"""From the annotation of a pydantic field to what C# declares, reads and writes for it."""

from __future__ import annotations

import json
import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from annotated_types import Ge, Le
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from bridge import node, protocol
from bridge.codegen import CannotEmit
from bridge.codegen.csharp_text import block, boolean, literal, number, pascal, sentence, spaced, summary
from bridge.codegen.docs_workflow import HISTORY_ROLE, PLACEMENT, SEND
from bridge.codegen.fields import default_of, rows_of

INT32 = 2**31 - 1
INT64 = 2**63 - 1

NAMED_LITERALS: Mapping[tuple[str, ...], str] = {
    typing.get_args(value): name
    for module in (node, protocol)
    for name, value in vars(module).items()
    if typing.get_origin(value) is Literal
}
"""The words of each literal that has a name → that name."""

MEANINGS: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "Send": ("The client sees ", SEND),
    "HistoryRole": ("Later prompts replay the text ", HISTORY_ROLE),
    "Placement": ("The rendering is ", PLACEMENT),
}
"""Enum → how a sentence about each of its words begins, and how it ends."""


@dataclass(frozen=True, slots=True)
class Type:
    """A type of C#. `read` and `write` are expressions in which `{}` stands for a JToken, or for the value."""

    name: str
    read: str
    write: str
    empty: str
    """The value of a field that nobody set."""
    is_value: bool = False
    """It cannot be null by itself."""
    nullable: bool = False


@dataclass(frozen=True, slots=True)
class Member:
    """A field of a C# class."""

    wire: str
    name: str
    type: Type
    required: bool
    default: Any
    """As JSON; None where required."""
    initial: str
    """The expression that the field begins with."""
    meaning: str
    bounds: str
    info: FieldInfo


@dataclass(slots=True)
class Names:
    """What the literals and records of a set of models are called in C#. Filled while the models are read."""

    words_class: str
    """The C# class that knows the words of new enums."""
    known: Mapping[str, str] = field(default_factory=dict)
    """Enums that are declared elsewhere → the class that knows their words."""
    words: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Enum → its words; those that are declared elsewhere too."""
    uses: dict[str, str] = field(default_factory=dict)
    """Enum → the first field that has it."""
    records: dict[str, type[BaseModel]] = field(default_factory=dict)

    def enum(self, values: tuple[str, ...], owner: str, wire: str) -> str:
        """The enum with these words; the named literals of the protocol keep their names."""
        name = NAMED_LITERALS.get(values)
        if name is None and "" in values:
            inner = NAMED_LITERALS.get(tuple(value for value in values if value))
            name = inner and f"{inner}OrEmpty"
        name = name or f"{owner}{pascal(wire)}"
        if self.words.setdefault(name, values) != values:
            raise CannotEmit(f"two enums would be called {name}")
        self.uses.setdefault(name, f"{wire} of {owner}")
        return name


def members_of(model: type[BaseModel], names: Names) -> list[Member]:
    """The fields of a model, in the order of their declaration."""
    found: list[Member] = []
    for row in rows_of(model, str):
        info = row.info
        kind = type_of(info.annotation, info.metadata, names, model.__name__, row.name)
        required = info.is_required()
        default = None if required else default_of(info)
        if kind.nullable and default is not None:
            raise CannotEmit(f"{model.__name__}.{row.name}: what may be null must be null by default")
        found.append(
            Member(
                wire=row.name,
                name=_member_name(row.name, model.__name__, kind),
                type=kind,
                required=required,
                default=default,
                initial=kind.empty if required else initial(kind, default, names),
                meaning=row.meaning,
                bounds="" if kind.name in names.words else row.bounds,
                info=info,
            )
        )
    clash = {member.name for member in found if [other.name for other in found].count(member.name) > 1}
    if clash:
        raise CannotEmit(f"{model.__name__}: two fields would be called {', '.join(sorted(clash))}")
    return found


def type_of(annotation: Any, metadata: list[Any], names: Names, owner: str, wire: str) -> Type:
    """The C# type of an annotation. Raises CannotEmit for one that no emitter knows."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is Annotated:
        return type_of(arguments[0], [*metadata, *arguments[1:]], names, owner, wire)
    if origin in (typing.Union, types.UnionType):
        inner = [argument for argument in arguments if argument is not types.NoneType]
        if len(inner) < len(arguments):
            rest: Any = typing.Union[tuple(inner)]  # noqa: UP007 - made while running
            return _nullable(type_of(rest, metadata, names, owner, wire))
        if {typing.get_origin(argument) for argument in inner} == {dict, list}:
            return Type("JToken", "JsonRead.Container({})", "JsonWrite.Copy({})", "null")
    if origin is Literal:
        if all(type(value) is int for value in arguments):
            return _integer([Ge(min(arguments)), Le(max(arguments))])
        enum = names.enum(arguments, owner, wire)
        member = f"{enum}.{word_member(arguments[0])}"
        words = names.known.get(enum, names.words_class)
        return Type(enum, f"{words}.Read{enum}({{}})", f"{words}.Write({{}})", member, is_value=True)
    if origin is list:
        item = type_of(arguments[0], [], names, owner, wire)
        read, write = item.read.format("item"), item.write.format("item")
        return Type(
            f"List<{item.name}>",
            f"JsonRead.List({{}}, item => {read})",
            f"JsonWrite.List({{}}, item => {write})",
            f"new List<{item.name}>()",
        )
    if origin is dict and arguments == (str, str):
        return Type(
            "Dictionary<string, string>",
            "JsonRead.Map({}, item => JsonRead.Text(item))",
            "JsonWrite.Map({}, item => JsonWrite.Text(item))",
            "new Dictionary<string, string>()",
        )
    if origin is dict and arguments == (str, protocol.VariableValue):
        return Type("JObject", "JsonRead.Variables({})", "JsonWrite.Object({})", "new JObject()")
    if origin is dict and arguments == (str, Any):
        return Type("JObject", "JsonRead.Object({})", "JsonWrite.Object({})", "new JObject()")
    if isinstance(annotation, type):
        if issubclass(annotation, BaseModel):
            return record_type(annotation, names)
        if annotation is bool:
            return Type("bool", "JsonRead.Boolean({})", "JsonWrite.Boolean({})", "false", is_value=True)
        if annotation is int:
            return _integer(metadata)
        if annotation is float:
            return Type("double", "JsonRead.Number({})", "JsonWrite.Number({})", "0d", is_value=True)
        if annotation is str:
            return Type("string", "JsonRead.Text({})", "JsonWrite.Text({})", '""')
    if annotation is Any:
        return Type("JToken", "{}", "JsonWrite.Copy({})", "null", nullable=True)
    raise CannotEmit(f"{owner}.{wire}: no C# type for {annotation}")


def record_type(model: type[BaseModel], names: Names) -> Type:
    """The class of a nested record."""
    name = model.__name__
    names.records.setdefault(name, model)
    return Type(name, f"{name}.FromJson(JsonRead.Object({{}}))", "{}.ToJson()", f"new {name}()")


def initial(kind: Type, default: Any, names: Names) -> str:
    """The C# expression of a default."""
    if default is None:
        return "null"
    if isinstance(default, bool):
        return boolean(default)
    if kind.name in names.words:
        return f"{kind.name}.{word_member(default)}"
    if kind.name == "double":
        return number(default)
    if isinstance(default, int):
        return f"{default}{'L' if abs(default) > INT32 else ''}"
    if isinstance(default, str):
        return literal(default)
    if default:
        return kind.read.format(f"JsonText.Parse({literal(json.dumps(default))})")
    return kind.empty


def declaration(member: Member, attributes: Sequence[str] = ()) -> list[str]:
    """A public field with its doc comment."""
    note = f" ({member.bounds})" if member.bounds else ""
    begins = "" if member.initial in ("null", "0", "0d", "0L", "false") else f" = {member.initial}"
    return [*summary(f"{member.meaning}{note}"), *attributes, f"public {member.type.name} {member.name}{begins};"]


def type_name(name: str) -> list[str]:
    """The property that says what a class is called in JSON."""
    return block(["/// <inheritdoc/>", "public override string TypeName"], [f"get {{ return {literal(name)}; }}"])


def from_json(name: str, members: Sequence[Member], note: str, first: Sequence[str] = ()) -> list[str]:
    """The method that reads the class `name`. `first` are statements that come before its fields are read."""
    lines: list[str] = []
    for member in members:
        wire, read = literal(member.wire), member.type.read
        if member.required and not member.type.nullable:
            lines.append(f"read.{member.name} = {read.format(f'JsonRead.Field(json, {wire})')};")
            continue
        test = f"{'JsonRead.TryField(json, ' if member.type.nullable else 'json.TryGetValue('}{wire}, out field)"
        lines += block([f"if ({test})"], [f"read.{member.name} = {read.format('field')};"])
    needs_field = any("out field" in line for line in lines)
    return block(
        [*summary(note), f"public static {name} FromJson(JObject json)"],
        [f"var read = new {name}();", *(["JToken field;"] if needs_field else []), *first, *lines, "return read;"],
    )


def word_member(word: str) -> str:
    """The enum member of a word."""
    return pascal(word) or "Empty"


def enums(names: Names) -> list[list[str]]:
    """One enum for each new set of words, and the class that turns them into the words of the wire and back."""
    new = {name: values for name, values in names.words.items() if name not in names.known}
    methods = [method for name, values in new.items() for method in _enum_methods(name, values)]
    head = [
        *summary("What the values of enums are called in JSON. A word that is not known here is refused, not guessed."),
        f"public static class {names.words_class}",
    ]
    declared = [_enum(name, values, names.uses[name]) for name, values in new.items()]
    return [*declared, block(head, spaced(methods))]


def _enum(name: str, values: tuple[str, ...], use: str) -> list[str]:
    members: list[str] = []
    for value in values:
        lead, meanings = MEANINGS.get(name, ("", {}))
        members += summary(sentence(f"{lead}{meanings[value]}") if value in meanings else literal(value))
        members.append(f"{word_member(value)},")
    return block([*summary(f"What {use} can be."), f"public enum {name}"], members)


def _enum_methods(name: str, values: tuple[str, ...]) -> list[list[str]]:
    to_word = [
        line for value in values for line in (f"case {name}.{word_member(value)}:", f"    return {literal(value)};")
    ]
    from_word = [
        line for value in values for line in (f"case {literal(value)}:", f"    return {name}.{word_member(value)};")
    ]
    allowed = ", ".join(f"'{value}'" for value in values)
    return [
        block(
            [*summary("The word."), f"public static string Of({name} value)"],
            [*block(["switch (value)"], to_word), 'throw new ArgumentOutOfRangeException("value");'],
        ),
        block([f"internal static JValue Write({name} value)"], ["return new JValue(Of(value));"]),
        block(
            [f"internal static {name} Read{name}(JToken token)"],
            [
                *block(["switch (JsonRead.Text(token))"], from_word),
                f"throw JsonRead.UnknownWord(token, {literal(allowed)});",
            ],
        ),
    ]


def _nullable(inner: Type) -> Type:
    name = f"{inner.name}?" if inner.is_value else inner.name
    write = inner.write.replace("{}", "{}.Value") if inner.is_value else inner.write
    return Type(name, inner.read, write, "null", is_value=inner.is_value, nullable=True)


def _integer(metadata: list[Any]) -> Type:
    least = next((int(str(item.ge)) for item in metadata if isinstance(item, Ge)), None)
    most = next((int(str(item.le)) for item in metadata if isinstance(item, Le)), None)
    if most is not None and most > INT64:
        if least is None or least < 0:
            raise CannotEmit("a whole number of 64 bits with a sign and one beyond it have no common type")
        return Type("ulong", "JsonRead.UInt64({})", "JsonWrite.Integer({})", "0", is_value=True)
    small = least is not None and most is not None and least >= -INT32 and most <= INT32
    bounds = [] if least is None and most is None else [str(least) if least is not None else "long.MinValue"]
    if most is not None:
        bounds.append(f"{most}{'L' if most > INT32 else ''}")
    read = f"JsonRead.{'Int32' if small else 'Int64'}({', '.join(['{}', *bounds])})"
    return Type("int" if small else "long", read, "JsonWrite.Integer({})", str(max(least or 0, 0)), is_value=True)


def _member_name(wire: str, owner: str, kind: Type) -> str:
    """C# allows no member with the name of its class."""
    name = pascal(wire)
    if name != owner:
        return name
    return "Items" if kind.name.startswith("List<") else "Text" if kind.name == "string" else "Content"

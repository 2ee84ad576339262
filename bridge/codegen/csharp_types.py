"""From the shape of a field to what C# declares, reads and writes for it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from bridge.codegen.csharp_text import boolean, literal, number, summary
from bridge.codegen.shapes import INT32, MEANINGS, Form, Names, Shape, fields_of
from bridge.codegen.source_text import block, sentence, spaced, word_member


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


def members_of(model: type[BaseModel], names: Names) -> list[Member]:
    """The fields of a model, in the order of their declaration. Raises CannotEmit."""
    found = []
    for each in fields_of(model, names):
        kind = type_of(each.shape, names)
        found.append(
            Member(
                wire=each.wire,
                name=each.name,
                type=kind,
                required=each.required,
                default=each.default,
                initial=kind.empty if each.required else initial(kind, each.default, names),
                meaning=each.meaning,
                bounds=each.bounds,
                info=each.info,
            )
        )
    return found


def type_of(shape: Shape, names: Names) -> Type:
    """The C# type of a shape."""
    if shape.form is Form.JSON:
        return Type("JToken", "{}", "JsonWrite.Copy({})", "null", nullable=True)
    if shape.nullable:
        return _nullable(type_of(replace(shape, nullable=False), names))
    if shape.form is Form.WORD:
        enum = shape.name
        member = f"{enum}.{word_member(names.words[enum][0])}"
        words = names.known.get(enum, names.words_class)
        return Type(enum, f"{words}.Read{enum}({{}})", f"{words}.Write({{}})", member, is_value=True)
    if shape.form is Form.LIST:
        assert shape.item is not None
        item = type_of(shape.item, names)
        read, write = item.read.format("item"), item.write.format("item")
        return Type(
            f"List<{item.name}>",
            f"JsonRead.List({{}}, item => {read})",
            f"JsonWrite.List({{}}, item => {write})",
            f"new List<{item.name}>()",
        )
    if shape.form is Form.RECORD:
        name = shape.name
        return Type(name, f"{name}.FromJson(JsonRead.Object({{}}))", "{}.ToJson()", f"new {name}()")
    if shape.form in (Form.INT32, Form.INT64):
        return _integer(shape)
    return _PLAIN[shape.form]


_PLAIN = {
    Form.TEXT: Type("string", "JsonRead.Text({})", "JsonWrite.Text({})", '""'),
    Form.BOOLEAN: Type("bool", "JsonRead.Boolean({})", "JsonWrite.Boolean({})", "false", is_value=True),
    Form.UINT64: Type("ulong", "JsonRead.UInt64({})", "JsonWrite.Integer({})", "0", is_value=True),
    Form.NUMBER: Type("double", "JsonRead.Number({})", "JsonWrite.Number({})", "0d", is_value=True),
    Form.TEXTS: Type(
        "Dictionary<string, string>",
        "JsonRead.Map({}, item => JsonRead.Text(item))",
        "JsonWrite.Map({}, item => JsonWrite.Text(item))",
        "new Dictionary<string, string>()",
    ),
    Form.VARIABLES: Type("JObject", "JsonRead.Variables({})", "JsonWrite.Object({})", "new JObject()"),
    Form.OBJECT: Type("JObject", "JsonRead.Object({})", "JsonWrite.Object({})", "new JObject()"),
    Form.CONTAINER: Type("JToken", "JsonRead.Container({})", "JsonWrite.Copy({})", "null"),
}


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


def enums(names: Names) -> list[list[str]]:
    """One enum for each new set of words, and the class that turns them into the words of the wire and back."""
    new = names.new
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


def _integer(shape: Shape) -> Type:
    small, least, most = shape.form is Form.INT32, shape.least, shape.most
    bounds = [] if least is None and most is None else [str(least) if least is not None else "long.MinValue"]
    if most is not None:
        bounds.append(f"{most}{'L' if most > INT32 else ''}")
    read = f"JsonRead.{'Int32' if small else 'Int64'}({', '.join(['{}', *bounds])})"
    return Type("int" if small else "long", read, "JsonWrite.Integer({})", str(max(least or 0, 0)), is_value=True)

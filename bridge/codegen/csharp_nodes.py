"""`Nodes.g.cs` and `NodeTypes.g.cs`: a class for every node type, and what an editor must know to draw one."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from pydantic import BaseModel, TypeAdapter
from pydantic.fields import FieldInfo

from bridge.codegen import CannotEmit
from bridge.codegen.csharp_messages import NAMESPACE as MESSAGES
from bridge.codegen.csharp_messages import message_enums
from bridge.codegen.csharp_text import block, indented, literal, number, source, spaced, summary
from bridge.codegen.csharp_types import (
    Member,
    Names,
    declaration,
    enums,
    from_json,
    members_of,
    type_name,
    word_member,
)
from bridge.codegen.docs_workflow import KINDS
from bridge.codegen.fields import default_of, docstring, records_of, summary_of
from bridge.node import Kind, ModelNode, Node, Registry, field_kind, is_structural

ATTRIBUTES: Mapping[Kind, str] = {
    Kind.TEXT: "MultilineText",
    Kind.TEMPLATE: "TemplateText",
    Kind.REGEX_LIST: "RegexList",
    Kind.STRING_STORAGE: "StorageFile",
    Kind.EMBEDDED_STORAGE: "StorageFile(IsEmbedded = true)",
    Kind.FILTER: "FilterTree",
    Kind.MODEL: "ModelName",
    Kind.FILE: "StorageFile",
    Kind.SLOT_INPUT: "SlotInput",
    Kind.SLOT_OUTPUT: "SlotOutput",
    Kind.NAME: "NodeName",
    Kind.VARIABLE: "VariableName",
    Kind.EXIT: "ExitTarget",
}
"""The attribute that tells an editor which picker a field wants."""


def nodes_file(mark: str, registry: Registry) -> str:
    """A class for every node type."""
    outside = message_enums()
    names = Names("NodeWords", known=dict.fromkeys(outside.words, outside.words_class), words=dict(outside.words))
    parts = records_of(*registry.values())
    clash = sorted((set(parts) | {"Node", "NodePart", "NodeReader", "NodeWords"}) & set(registry))
    if clash:
        raise CannotEmit(f"no C# class can be called {', '.join(clash)}: the name is taken; rename the node type")
    classes = [_class(model, members_of(model, names)) for model in [*parts.values(), *registry.values()]]
    usings = ("System", "System.Collections.Generic", "Newtonsoft.Json.Linq", MESSAGES)
    return source(mark, usings, "Parley.Nodes", [*enums(names), *classes, _reader(registry)])


def node_types_file(mark: str, registry: Registry) -> str:
    """The description of every node type."""
    kinds = [
        line
        for kind in Kind
        for line in (*summary(KINDS.get(kind.value, literal(kind.value))), f"{word_member(kind.value)},")
    ]
    types = [line for name, cls in registry.items() for line in _described(name, cls)]
    known = block(
        [*summary("Every node type that was known when this was generated."), "public static partial class NodeTypes"],
        [
            *block(["private static NodeType[] Describe()"], ["return new[]", "{", *indented(types), "};"]),
        ],
    )
    return source(
        mark,
        (),
        "Parley",
        [
            block([*summary("What a parameter means, and which picker it wants."), "public enum ParamKind"], kinds),
            known,
        ],
    )


# ---- classes -------------------------------------------------------------------------------------------------


def _class(model: type[BaseModel], members: list[Member]) -> list[str]:
    name = model.__name__
    tells = type_name(model.type_name) if issubclass(model, Node) else []
    own = [member for member in members if not (tells and member.wire == "name")]
    fields = [declaration(member, [f"[{text}]" for text in _attributes(member)]) for member in own]
    return block(
        [
            *summary(docstring(model)),
            "[Serializable]",
            f"public sealed class {name} : {'Node' if tells else 'NodePart'}",
        ],
        spaced([*fields, tells, _to_json(own), _from_json(name, own)]),
    )


def _attributes(member: Member) -> Iterable[str]:
    kind = ATTRIBUTES.get(field_kind(member.info))
    if kind:
        yield kind
    if member.meaning:
        yield f"Meaning({literal(member.meaning)})"
    least, most = (_bound(member.info, name) for name in ("ge", "le"))
    if least is not None and most is not None:
        yield f"Bounds({number(least)}, {number(most)})"
    if is_structural(member.info):
        yield "Fixed"


def _bound(info: FieldInfo, name: str) -> float | None:
    return next((float(getattr(item, name)) for item in info.metadata if hasattr(item, name)), None)


def _to_json(members: list[Member]) -> list[str]:
    lines = ["var json = Begin();"]
    for member in members:
        value = member.type.write.format(member.name)
        if member.type.nullable:
            value = f"{member.name} == null ? null : {value}"
        lines.append(f"Keep(json, {literal(member.wire)}, {value}, {_is_default(member)});")
    return block(["/// <inheritdoc/>", "public override JObject ToJson()"], [*lines, "return json;"])


def _is_default(member: Member) -> str:
    if member.required:
        return "false"
    if member.type.nullable:
        return f"{member.name} == null"
    if member.type.is_value:
        return f"{member.name} == {member.initial}"
    if member.type.name == "string":
        return f"{member.name} == {member.initial}" if member.default else f"string.IsNullOrEmpty({member.name})"
    if member.initial != member.type.empty:
        return f"JToken.DeepEquals({member.type.write.format(member.name)}, {_default_json(member)})"
    if member.type.name == "JObject" or member.type.name.startswith("List<"):
        return f"{member.name} == null || {member.name}.Count == 0"
    return f"{member.name} == null || {member.name}.ToJson().Count == 0"


def _default_json(member: Member) -> str:
    """The default of a list or an object that is not empty."""
    return f"JsonText.Parse({literal(json.dumps(member.default))})"


def _from_json(name: str, members: list[Member]) -> list[str]:
    note = "Reads it; what is not known here is kept for ToJson. Throws MalformedMessageException."
    # Free JSON is copied: a change to the node must not change the document that it was read from.
    copied = [
        replace(member, type=replace(member.type, read=f"(JObject)JsonText.Copy({member.type.read})"))
        if member.type.name == "JObject"
        else member
        for member in members
    ]
    return from_json(name, copied, note, ("read.Start(json);",))


def _reader(registry: Registry) -> list[str]:
    cases = [
        line
        for name, cls in registry.items()
        for line in (f"case {literal(name)}:", f"    return {cls.__name__}.FromJson(json);")
    ]
    return block(
        [*summary("Reads a node of any type."), "public static class NodeReader"],
        block(
            [*summary("Null for a type that is not known here. Throws MalformedMessageException."),
             "public static Node Read(JObject json)"],
            [*block(['switch (JsonRead.Text(JsonRead.Field(json, "type")))'], cases), "return null;"],
        ),
    )  # fmt: skip


# ---- descriptions --------------------------------------------------------------------------------------------


def _described(name: str, cls: type[Node]) -> list[str]:
    exits = {field: exit_name for exit_name, field in cls.exit_fields().items()}
    parts = [
        f"Name = {literal(name)},",
        f"Summary = {literal(summary_of(cls))},",
        f"Meaning = {literal(docstring(cls))},",
        *(["Produces = true,"] if cls.produces() else []),
        *(["UsesModel = true,"] if issubclass(cls, ModelNode) else []),
        *([f"TagFamily = {literal(cls.tag_family)},"] if cls.tag_family else []),
        *([f"TagNameField = {literal(cls.tag_name_field)},"] if cls.tag_name_field else []),
        *_array("Offers", "NodeNote", _notes(cls.offers)),
        *_array("Events", "NodeNote", _notes(cls.events)),
        *_array("Exits", "NodeExit", [_exit(field, exits[field], cls.model_fields[field]) for field in exits]),
        *_array("Params", "NodeParam", _params(cls)),
    ]
    return ["new NodeType", "{", *indented(parts), "},"]


def _exit(field: str, name: str, info: FieldInfo) -> list[str]:
    meaning = literal(info.description or "")
    return [f"new NodeExit {{ Name = {literal(name)}, Field = {literal(field)}, Meaning = {meaning} }},"]


def _notes(notes: Mapping[str, str]) -> list[list[str]]:
    return [[f"new NodeNote {{ Name = {literal(name)}, Meaning = {literal(text)} }},"] for name, text in notes.items()]


def _array(name: str, kind: str, items: list[list[str]]) -> list[str]:
    if not items:
        return []
    return [f"{name} = new {kind}[]", "{", *indented(line for item in items for line in item), "},"]


def _params(model: type[BaseModel]) -> list[list[str]]:
    """Every field of a node type, or of a record inside one."""
    properties = TypeAdapter(model).json_schema()["properties"]
    inside = records_of(model)
    found = []
    for name, info in model.model_fields.items():
        schema, is_optional = _without_null(properties[name])
        kind = field_kind(info)
        parts = [f"Name = {literal(name)},", f"Meaning = {literal(info.description or '')},"]
        parts += [f"Kind = ParamKind.{word_member(kind.value)},"] if kind is not Kind.PLAIN else []
        parts += ["IsFixed = true,"] if is_structural(info) else []
        if info.is_required():
            parts.append("IsRequired = true,")
        elif is_optional:
            parts.append("IsOptional = true,")
        else:
            parts.append(f"DefaultJson = {literal(json.dumps(default_of(info), ensure_ascii=False))},")
        found.append(["new NodeParam", "{", *indented([*parts, *_shape(schema, inside)]), "},"])
    return found


def _without_null(schema: Mapping[str, Any]) -> tuple[Mapping[str, Any], bool]:
    options = [option for option in schema.get("anyOf", ()) if option.get("type") != "null"]
    return (options[0], True) if len(options) == 1 else (schema, False)


def _shape(schema: Mapping[str, Any], inside: Mapping[str, type[BaseModel]]) -> list[str]:
    """Type and bounds of a value, and of what is in it."""
    record = inside.get(str(schema.get("$ref", "")).rpartition("/")[2])
    kind = "Record" if record else "Choice" if "enum" in schema else _TYPES.get(str(schema.get("type")), "Json")
    parts = [f"Type = ParamType.{kind},"]
    for key, field in (("minimum", "Least"), ("maximum", "Most")):
        exclusive = f"exclusive{key.capitalize()}"
        if exclusive in schema:
            parts += [f"{field} = {number(schema[exclusive])},", f"{field}IsExcluded = true,"]
        elif key in schema:
            parts.append(f"{field} = {number(schema[key])},")
    for keys, field in ((("minLength", "minItems"), "LeastLength"), (("maxLength", "maxItems"), "MostLength")):
        parts += [f"{field} = {schema[key]}," for key in keys if key in schema]
    if kind == "Choice":
        parts.append(f"Choices = new[] {{ {', '.join(map(literal, schema['enum']))} }},")
    if kind == "List":
        shape = _shape(schema.get("items", {}), inside)
        parts += ["Item = new NodeParam", "{", *indented(shape), "},"]
    return [*parts, *(_array("Fields", "NodeParam", _params(record)) if record else [])]


_TYPES = {
    "string": "Text",
    "integer": "Integer",
    "number": "Number",
    "boolean": "Boolean",
    "array": "List",
    "object": "Object",
}

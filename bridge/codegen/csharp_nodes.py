"""`Nodes.g.cs` and `NodeTypes.g.cs`: a class for every node type, and what an editor must know to draw one."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace

from pydantic import BaseModel

from bridge.codegen import CannotEmit
from bridge.codegen.csharp_messages import NAMESPACE as MESSAGES
from bridge.codegen.csharp_messages import message_enums
from bridge.codegen.csharp_text import literal, number, source, summary
from bridge.codegen.csharp_types import Member, declaration, enums, from_json, members_of, type_name
from bridge.codegen.docs_workflow import KINDS
from bridge.codegen.fields import docstring, records_of
from bridge.codegen.node_about import ExitAbout, NodeAbout, ParamAbout, about
from bridge.codegen.shapes import Names, bound
from bridge.codegen.source_text import block, indented, spaced, word_member
from bridge.node import Kind, Node, Registry, field_kind, is_structural

ATTRIBUTES: Mapping[Kind, str] = {
    Kind.TEXT: "MultilineText",
    Kind.TEMPLATE: "TemplateText",
    Kind.REGEX_LIST: "RegexList",
    Kind.STRING_STORAGE: "StorageFile",
    Kind.EMBEDDED_STORAGE: "StorageFile(IsEmbedded = true)",
    Kind.FILTER: "FilterTree",
    Kind.MODEL: "ModelName",
    Kind.VOICE: "VoiceName",
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
    types = [line for name, cls in registry.items() for line in _described(about(name, cls))]
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
    least, most = (bound(member.info, name) for name in ("ge", "le"))
    if least is not None and most is not None:
        yield f"Bounds({number(least)}, {number(most)})"
    if is_structural(member.info):
        yield "Fixed"


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


def _described(node: NodeAbout) -> list[str]:
    parts = [
        f"Name = {literal(node.name)},",
        f"Summary = {literal(node.summary)},",
        f"Meaning = {literal(node.meaning)},",
        *(["Produces = true,"] if node.produces else []),
        *(["UsesModel = true,"] if node.uses_model else []),
        *([f"TagFamily = {literal(node.tag_family)},"] if node.tag_family else []),
        *([f"TagNameField = {literal(node.tag_name_field)},"] if node.tag_name_field else []),
        *_array("Offers", "NodeNote", _notes(node.offers)),
        *_array("Events", "NodeNote", _notes(node.events)),
        *_array("Exits", "NodeExit", [_exit(exit) for exit in node.exits]),
        *_array("Params", "NodeParam", [_param(param) for param in node.params]),
    ]
    return ["new NodeType", "{", *indented(parts), "},"]


def _exit(exit: ExitAbout) -> list[str]:
    name, wire, meaning = literal(exit.name), literal(exit.field), literal(exit.meaning)
    return [f"new NodeExit {{ Name = {name}, Field = {wire}, Meaning = {meaning} }},"]


def _notes(notes: Mapping[str, str]) -> list[list[str]]:
    return [[f"new NodeNote {{ Name = {literal(name)}, Meaning = {literal(text)} }},"] for name, text in notes.items()]


def _array(name: str, kind: str, items: list[list[str]]) -> list[str]:
    if not items:
        return []
    return [f"{name} = new {kind}[]", "{", *indented(line for item in items for line in item), "},"]


def _param(param: ParamAbout) -> list[str]:
    """A field of a node type, or of a record inside one."""
    parts = [f"Name = {literal(param.name)},", f"Meaning = {literal(param.meaning)},"]
    parts += [f"Kind = ParamKind.{word_member(param.kind.value)},"] if param.kind is not Kind.PLAIN else []
    parts += ["IsFixed = true,"] if param.is_fixed else []
    if param.is_required:
        parts.append("IsRequired = true,")
    elif param.is_optional:
        parts.append("IsOptional = true,")
    else:
        parts.append(f"DefaultJson = {literal(json.dumps(param.default, ensure_ascii=False))},")
    return ["new NodeParam", "{", *indented([*parts, *_shape(param)]), "},"]


def _shape(param: ParamAbout) -> list[str]:
    """Type and bounds of a value, and of what is in it."""
    parts = [f"Type = ParamType.{param.type},"]
    for field, value, is_excluded in param.bounds:
        parts.append(f"{field} = {number(value)},")
        parts += [f"{field}IsExcluded = true,"] if is_excluded else []
    parts += [f"{field} = {count}," for field, count in param.lengths]
    if param.type == "Choice":
        parts.append(f"Choices = new[] {{ {', '.join(map(literal, param.choices))} }},")
    if param.item:
        parts += ["Item = new NodeParam", "{", *indented(_shape(param.item)), "},"]
    return [*parts, *_array("Fields", "NodeParam", [_param(field) for field in param.fields])]

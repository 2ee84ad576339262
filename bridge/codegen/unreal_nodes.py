"""`Generated/ParleyNodes.h` and `.cpp`: a class for every node type, whose properties an editor can show."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import BaseModel

from bridge.codegen import CannotEmit
from bridge.codegen.cpp_messages import message_fields, message_names
from bridge.codegen.cpp_nodes import json_expression
from bridge.codegen.cpp_text import literal, number, whole
from bridge.codegen.fields import docstring, records_of
from bridge.codegen.shapes import Form, Names, Shape, bound, fields_of, inner_first
from bridge.codegen.source_text import block, indented, spaced
from bridge.codegen.unreal_messages import declaration, enum, json_note, message_struct_names, words_of
from bridge.codegen.unreal_text import header, meta_text, source, tooltip
from bridge.codegen.unreal_types import (
    JSON_TEXT,
    Property,
    enum_name,
    node_name,
    properties_of,
    struct_name,
    text,
)
from bridge.node import Kind, Node, Registry, field_kind, is_structural

TAKEN = frozenset({"NodeName", "AsRead"})
"""Members of every node that are no parameters of its type."""
SEVERAL_LINES = frozenset({Kind.TEXT, Kind.TEMPLATE, Kind.FILTER})


def nodes_header(mark: str, registry: Registry) -> str:
    """The declarations."""
    names = node_names()
    records, properties = _read(registry, names)
    enums = [enum(name, values, names.uses[name]) for name, values in names.new.items()]
    structs = [_struct(model, properties[model.__name__]) for model in records]
    classes = [_class(name, cls, properties[cls.__name__]) for name, cls in registry.items()]
    find = [
        "/// The class of a node type; null: it is not known here.",
        "PARLEY_API UClass* FindParleyNodeClass(const FString& TypeName);",
        "/// Every class of the node types, in the order of their names.",
        "PARLEY_API TArray<UClass*> AllParleyNodeClasses();",
    ]
    includes = ["CoreMinimal.h", "Generated/ParleyMessages.h", "ParleyNode.h"]
    return header(mark, includes, "ParleyNodes", [*enums, words_of(names.new), *structs, *classes, find])


def nodes_source(mark: str, registry: Registry) -> str:
    """The definitions."""
    names = node_names()
    records, properties = _read(registry, names)
    words = [
        block(
            [f"Parley::WordTable WordsOf({enum_name(name)}) noexcept"],
            [
                f"static constexpr std::string_view Words[] = {{{', '.join(map(literal, values))}}};",
                f"return {{Words, {len(values)}}};",
            ],
        )
        for name, values in names.new.items()
    ]
    structs = [body for model in records for body in _struct_bodies(model.__name__, properties[model.__name__])]
    classes = [body for name, cls in registry.items() for body in _class_bodies(name, properties[cls.__name__])]
    finds = [
        line
        for name in registry
        # The engine's == does not tell Generate from generate.
        for line in block(
            [f"if (TypeName.Equals({text(name)}, ESearchCase::CaseSensitive))"],
            [f"return {node_name(name)}::StaticClass();"],
        )
    ]
    find = block(["UClass* FindParleyNodeClass(const FString& TypeName)"], [*finds, "return nullptr;"])
    every = block(
        ["TArray<UClass*> AllParleyNodeClasses()"],
        ["return {", *indented(f"{node_name(name)}::StaticClass()," for name in registry), "};"],
    )
    includes = ["Generated/ParleyNodes.h", "", "NodeFields.h"]
    return source(mark, includes, [*words, *structs, *classes, find, every])


def node_names() -> Names:
    """The enums of messages are known already."""
    outside = message_names()
    message_fields(outside)
    return Names("", language="C++", known=dict.fromkeys(outside.words, ""), words=dict(outside.words))


def _read(registry: Registry, names: Names) -> tuple[list[type[BaseModel]], dict[str, list[Property]]]:
    """The records inside nodes, each behind what stands in it, and the members of records and classes."""
    parts = records_of(*registry.values())
    taken = message_struct_names() | {struct_name("Node")}
    # The header tool compares names without their first letter.
    classes = {node_name(name)[1:] for name in registry}
    clash = sorted(name for name in parts if struct_name(name) in taken or struct_name(name)[1:] in classes)
    clash += sorted(name for name in registry if f"F{node_name(name)[1:]}" in taken)
    if clash:
        raise CannotEmit(f"no Unreal type can be called after {', '.join(clash)}: the name is taken; rename it")
    properties = {}
    fields = {}
    for model in [*parts.values(), *registry.values()]:
        found = fields_of(model, names)
        fields[model.__name__] = found
        is_node = issubclass(model, Node)
        own = [field for field in found if not (is_node and field.wire == "name")]
        made = properties_of(model.__name__, own, names)
        for each in made:
            if each.name in TAKEN or each.flag in TAKEN:
                raise CannotEmit(f"{model.__name__}.{each.field.wire}: {each.name} is taken in Unreal; rename it")
        properties[model.__name__] = made
    return inner_first(parts, fields), properties


def _members(properties: list[Property], *, is_node: bool) -> list[list[str]]:
    return [declaration(each, _meta(each, is_node=is_node), comment=False) for each in properties]


def _meta(each: Property, *, is_node: bool) -> Mapping[str, str]:
    info, form = each.field.info, each.field.shape.form
    kind = field_kind(info)
    note = f" {json_note(each)}" if form in JSON_TEXT else ""
    meta = {"ToolTip": meta_text(f"{each.field.meaning}{note}")}
    if kind in SEVERAL_LINES or form in JSON_TEXT:
        meta["MultiLine"] = "true"
    for name, keys in (("ge", ("ClampMin", "UIMin")), ("le", ("ClampMax", "UIMax"))):
        value = bound(info, name)
        if value is not None:
            shown = number(value) if form is Form.NUMBER else str(int(value))
            meta.update(dict.fromkeys(keys, f'"{shown}"'))
    if kind is not Kind.PLAIN:
        meta["ParleyKind"] = f'"{kind.value}"'
    if is_node and is_structural(info):
        meta["ParleyFixed"] = ""
    return meta


def _struct(model: type[BaseModel], properties: list[Property]) -> list[str]:
    name = struct_name(model.__name__)
    fixed = [
        ["/** The JSON that it was read from: it is written as it was but for what has changed. */",
         "UPROPERTY()", "FString AsRead;"],
        ["Parley::Json ToCore() const;", f"static bool Read(const Parley::JsonRead& From, {name}& Out);",
         "/// Of JSON that is known to be right.", f"static {name} Of(const TCHAR* Text);"],
    ]  # fmt: skip
    return block(
        [*tooltip(docstring(model)), "USTRUCT(BlueprintType)", f"struct PARLEY_API {name}"],
        spaced([["GENERATED_BODY()"], *_members(properties, is_node=False), *fixed]),
        ";",
    )


def _class(name: str, cls: type[Node], properties: list[Property]) -> list[str]:
    body = spaced([["GENERATED_BODY()"]])
    public = spaced([*_members(properties, is_node=True), ["virtual FString GetTypeName() const override;"]])
    protected = [
        "virtual bool ReadFields(const Parley::JsonRead& From) override;",
        "virtual void WriteFields(Parley::NodeFields& Into) const override;",
        "virtual void CopyFields(const UParleyNode& Other) override;",
    ]
    shown = f"meta = (DisplayName = {meta_text(name)})"
    return [
        *tooltip(docstring(cls)),
        f"UCLASS(EditInlineNew, DefaultToInstanced, BlueprintType, {shown})",
        f"class PARLEY_API {node_name(name)} : public UParleyNode",
        "{",
        *indented(body),
        "",
        "public:",
        *indented(public),
        "",
        "protected:",
        *indented(protected),
        "};",
    ]


def _struct_bodies(model: str, properties: list[Property]) -> list[list[str]]:
    name = struct_name(model)
    return [
        block(
            [f"Parley::Json {name}::ToCore() const"],
            ["Parley::NodeFields Into(AsRead);", *map(_write, properties), "return Into.Take();"],
        ),
        block(
            [f"bool {name}::Read(const Parley::JsonRead& From, {name}& Out)"],
            [
                f"Out = {name}();",
                *block(["if (!From.Object())"], ["return false;"]),
                "Out.AsRead = Parley::JsonToText(From.Get());",
                *_chain([_read_one(each, "Out.") for each in properties]),
            ],
        ),
        block([f"{name} {name}::Of(const TCHAR* Text)"], [f"return Parley::RecordOf<{name}>(Text);"]),
    ]


def _class_bodies(name: str, properties: list[Property]) -> list[list[str]]:
    owner = node_name(name)
    unread, unwritten = ([], []) if properties else (["static_cast<void>(From);"], ["static_cast<void>(Into);"])
    copied = (
        [f"const auto& From = static_cast<const {owner}&>(Other);"] if properties else ["static_cast<void>(Other);"]
    )
    copied += [f"{member} = From.{member};" for each in properties for member in (each.flag, each.name) if member]
    return [
        block([f"FString {owner}::GetTypeName() const"], [f"return {text(name)};"]),
        block(
            [f"bool {owner}::ReadFields(const Parley::JsonRead& From)"],
            [*unread, *_chain([_read_one(each, "") for each in properties])],
        ),
        block(
            [f"void {owner}::WriteFields(Parley::NodeFields& Into) const"],
            [*unwritten, *map(_write, properties)],
        ),
        block([f"void {owner}::CopyFields(const UParleyNode& Other)"], copied),
    ]


def _chain(checks: list[str]) -> list[str]:
    if not checks:
        return ["return true;"]
    lines = [f"return {checks[0]}", *indented(f"&& {check}" for check in checks[1:])]
    lines[-1] += ";"
    return lines


def _read_one(each: Property, owner: str) -> str:
    wire, more = literal(each.field.wire), _how(each.field.shape)
    if each.flag:
        return f"Parley::OptionalProperty(From, {wire}, {owner}{each.flag}, {owner}{each.name}{more})"
    if each.field.shape.nullable:
        return f"Parley::OptionalJson(From, {wire}, {owner}{each.name}{more})"
    need = "Needed" if each.field.required else "Given"
    return f"Parley::{need}Property(From, {wire}, {owner}{each.name}{more})"


def _how(shape: Shape) -> str:
    while shape.item:
        shape = shape.item
    if shape.form in (Form.INT32, Form.INT64):
        least = -(2**63) if shape.least is None else shape.least
        most = 2**63 - 1 if shape.most is None else shape.most
        return f", Parley::Bounds{{{whole(least)}, {whole(most)}}}"
    forms = {Form.OBJECT: "Object", Form.CONTAINER: "Container", Form.VARIABLES: "Variables", Form.JSON: "Any"}
    return f", Parley::JsonForm::{forms[shape.form]}" if shape.form in forms else ""


def _write(each: Property) -> str:
    wire, shape = literal(each.field.wire), each.field.shape
    value = f"Parley::{'JsonOf' if shape.form in JSON_TEXT else 'WriteProperty'}({each.name})"
    if shape.item is not None and shape.item.form in JSON_TEXT:
        value = f"Parley::JsonsOf({each.name})"
    if shape.nullable:
        return f"Into.KeepWhere({each.flag or f'!{each.name}.IsEmpty()'}, {wire}, {value});"
    if each.field.required:
        return f"Into.Keep({wire}, {value});"
    return f"Into.Keep({wire}, {value}, {json_expression(each.field.default, 'Parley::')});"

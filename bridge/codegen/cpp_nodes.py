"""`Core/Generated/NodeTypes.h` and `.cpp`: what an editor must know to draw a node of any type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bridge.codegen import CannotEmit
from bridge.codegen.cpp_text import boolean, comment, header, literal, number, source, whole, within
from bridge.codegen.docs_workflow import KINDS
from bridge.codegen.node_about import NodeAbout, ParamAbout, about
from bridge.codegen.source_text import block, indented, word_member
from bridge.node import Kind, Registry


def node_types_header(mark: str) -> str:
    """The enum of all kinds of parameters."""
    kinds = [
        line
        for kind in Kind
        for line in (*comment(KINDS.get(kind.value, literal(kind.value)), 4), f"{word_member(kind.value)},")
    ]
    head = [*comment("What a parameter means, and which picker it wants."), "enum class ParamKind : std::uint8_t"]
    words = [
        *comment("The kind as it is called in JSON Schema, such as slot_input; empty for a number that is none."),
        "PARLEY_CORE_API std::string_view NameOf(ParamKind Kind) noexcept;",
    ]
    return header(mark, ["Core/NodeType.h"], "Parley", [block(head, kinds, ";"), words])


def node_types_source(mark: str, registry: Registry) -> str:
    """The descriptions."""
    described = [about(name, cls) for name, cls in registry.items()]
    makers = [
        block([f"NodeType {type_maker(each.name)}()"], ["NodeType Type;", *_described(each), "return Type;"])
        for each in described
    ]
    names = block(
        ["std::string_view NameOf(ParamKind Kind) noexcept"],
        [
            *block(
                ["switch (Kind)"],
                [
                    line
                    for kind in Kind
                    for line in (f"case ParamKind::{word_member(kind.value)}:", f"    return {literal(kind.value)};")
                ],
            ),
            "return std::string_view();",
        ],
    )
    known = block(
        ["const std::vector<NodeType>& NodeTypes::All()"],
        [
            "static const std::vector<NodeType> Known = {",
            *indented(f"NodeTypesLocal::{type_maker(each.name)}()," for each in described),
            "};",
            "return Known;",
        ],
    )
    local = within("Parley::NodeTypesLocal", [*_HELPERS, *makers])
    return source(
        mark, ["Core/Generated/NodeTypes.h", "", "Core/JsonWrite.h", "", "<utility>"], "Parley", [names, known], local
    )


def type_maker(name: str) -> str:
    """The function that makes the description of a type."""
    return f"Make{name}"


def _described(node: NodeAbout) -> list[str]:
    lines = [
        f"Type.Name = {literal(node.name)};",
        f"Type.Summary = {literal(node.summary)};",
        f"Type.Meaning = {literal(node.meaning)};",
        *(["Type.Produces = true;"] if node.produces else []),
        *(["Type.UsesModel = true;"] if node.uses_model else []),
        *([f"Type.TagFamily = {literal(node.tag_family)};"] if node.tag_family else []),
        *([f"Type.TagNameField = {literal(node.tag_name_field)};"] if node.tag_name_field else []),
        *_notes("Offers", node.offers),
        *_notes("Events", node.events),
    ]
    lines += [
        f"Type.Exits.push_back({{{literal(exit.name)}, {literal(exit.field)}, {literal(exit.meaning)}}});"
        for exit in node.exits
    ]
    for param in node.params:
        lines += _added("Type.Params", param, "Param")
    return lines


def _notes(name: str, notes: Mapping[str, str]) -> list[str]:
    return [f"Type.{name}.push_back({{{literal(key)}, {literal(text)}}});" for key, text in notes.items()]


def _added(into: str, param: ParamAbout, name: str) -> list[str]:
    """A parameter behind others. `name` is what the code calls it: no two that are nested may have one name."""
    made = f"Add({into}, {literal(param.name)}, ParamType::{param.type}, {literal(param.meaning)})"
    facts = _facts(name, param)
    return block([], [f"NodeParam& {name} = {made};", *facts]) if facts else [f"{made};"]


def _facts(name: str, param: ParamAbout) -> list[str]:
    facts = []
    if param.kind is not Kind.PLAIN:
        facts.append(f"{name}.Kind = ParamKind::{word_member(param.kind.value)};")
    flags = (("IsFixed", param.is_fixed), ("IsRequired", param.is_required), ("IsOptional", param.is_optional))
    facts += [f"{name}.{flag} = true;" for flag, is_set in flags if is_set]
    if param.default is not None:
        facts.append(f"{name}.Default = {json_expression(param.default)};")
    for bound, value, is_excluded in param.bounds:
        facts.append(f"{name}.{bound} = {number(value)};")
        facts += [f"{name}.{bound}IsExcluded = true;"] if is_excluded else []
    facts += [f"{name}.{length} = {count};" for length, count in param.lengths]
    if param.choices:
        facts.append(f"{name}.Choices = {{{', '.join(map(literal, param.choices))}}};")
    if param.item:
        item = f"{name}Item"
        facts += block(
            [],
            [
                f"NodeParam {item} = Entry(ParamType::{param.item.type});",
                *_facts(item, param.item),
                f"{name}.Item = std::make_shared<const NodeParam>(std::move({item}));",
            ],
        )
    for field in param.fields:
        facts += _added(f"{name}.Fields", field, f"{name}Field")
    return facts


def json_expression(value: Any, core: str = "") -> str:
    """A Json that is made of a default. `core` is how the core's namespace is reached. Raises CannotEmit."""
    if value is None:
        return f"{core}Json()"
    if isinstance(value, bool):
        return f"{core}Json::Boolean({boolean(value)})"
    if isinstance(value, int):
        return f"{core}Json::Integer({whole(value)})"
    if isinstance(value, float):
        return f"{core}Json::Real({number(value)})"
    if isinstance(value, str):
        return f"{core}Json::String({literal(value)})"
    if isinstance(value, list):
        return f"{core}Json::Array({{{', '.join(json_expression(item, core) for item in value)}}})"
    if isinstance(value, dict):
        made = f"{core}Json::Object()"
        for key, item in value.items():
            made = f"{core}With({made}, {literal(key)}, {json_expression(item, core)})"
        return made
    raise CannotEmit(f"no C++ expression for the default {value!r}")


_HELPERS = [
    block(
        ["NodeParam Entry(ParamType Type)"],
        ["NodeParam Made;", "Made.Type = Type;", "return Made;"],
    ),
    block(
        [
            "NodeParam& Add(",
            "    std::vector<NodeParam>& Into, std::string_view Name, ParamType Type, std::string_view Meaning)",
        ],
        [
            "Into.push_back(Entry(Type));",
            "Into.back().Name = Name;",
            "Into.back().Meaning = Meaning;",
            "return Into.back();",
        ],
    ),
]

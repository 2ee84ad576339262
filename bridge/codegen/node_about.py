"""What an editor must know of every node type, in no language."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, TypeAdapter

from bridge.codegen.fields import default_of, docstring, records_of, summary_of
from bridge.node import Kind, ModelNode, Node, field_kind, is_structural


@dataclass(frozen=True, slots=True)
class ExitAbout:
    """A way out of a node."""

    name: str
    field: str
    meaning: str


@dataclass(slots=True)
class ParamAbout:
    """A field of a node type, of a record inside one, or an entry of a list (without a name)."""

    name: str = ""
    meaning: str = ""
    kind: Kind = Kind.PLAIN
    is_fixed: bool = False
    is_required: bool = False
    is_optional: bool = False
    default: Any = None
    """As JSON; None where required or optional."""
    type: str = "Json"
    """Json, Text, Integer, Number, Boolean, Choice, List, Record or Object."""
    bounds: list[tuple[str, float, bool]] = field(default_factory=list)
    """(Least or Most, the number, whether the number itself is excluded)."""
    lengths: list[tuple[str, int]] = field(default_factory=list)
    """(LeastLength or MostLength, how many characters or entries)."""
    choices: list[str] = field(default_factory=list)
    item: ParamAbout | None = None
    fields: list[ParamAbout] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class NodeAbout:
    """A node type."""

    name: str
    summary: str
    meaning: str
    produces: bool
    uses_model: bool
    tag_family: str
    tag_name_field: str
    offers: Mapping[str, str]
    events: Mapping[str, str]
    exits: list[ExitAbout]
    params: list[ParamAbout]


def about(name: str, cls: type[Node]) -> NodeAbout:
    """The description of a node type."""
    return NodeAbout(
        name=name,
        summary=summary_of(cls),
        meaning=docstring(cls),
        produces=cls.produces(),
        uses_model=issubclass(cls, ModelNode),
        tag_family=cls.tag_family,
        tag_name_field=cls.tag_name_field,
        offers=cls.offers,
        events=cls.events,
        exits=[
            ExitAbout(exit_name, wire, cls.model_fields[wire].description or "")
            for exit_name, wire in cls.exit_fields().items()
        ],
        params=params_of(cls),
    )


def params_of(model: type[BaseModel]) -> list[ParamAbout]:
    """Every field of a node type, or of a record inside one."""
    properties = TypeAdapter(model).json_schema()["properties"]
    inside = records_of(model)
    found = []
    for name, info in model.model_fields.items():
        schema, is_optional = _without_null(properties[name])
        param = _shape(schema, inside)
        param.name = name
        param.meaning = info.description or ""
        param.kind = field_kind(info)
        param.is_fixed = is_structural(info)
        param.is_required = info.is_required()
        param.is_optional = is_optional and not param.is_required
        if not param.is_required and not is_optional:
            param.default = default_of(info)
        found.append(param)
    return found


def _without_null(schema: Mapping[str, Any]) -> tuple[Mapping[str, Any], bool]:
    options = [option for option in schema.get("anyOf", ()) if option.get("type") != "null"]
    return (options[0], True) if len(options) == 1 else (schema, False)


def _shape(schema: Mapping[str, Any], inside: Mapping[str, type[BaseModel]]) -> ParamAbout:
    """Type and bounds of a value, and of what is in it."""
    record = inside.get(str(schema.get("$ref", "")).rpartition("/")[2])
    found = ParamAbout(
        type="Record" if record else "Choice" if "enum" in schema else _TYPES.get(str(schema.get("type")), "Json")
    )
    for key, bound in (("minimum", "Least"), ("maximum", "Most")):
        exclusive = f"exclusive{key.capitalize()}"
        if exclusive in schema:
            found.bounds.append((bound, schema[exclusive], True))
        elif key in schema:
            found.bounds.append((bound, schema[key], False))
    for keys, length in ((("minLength", "minItems"), "LeastLength"), (("maxLength", "maxItems"), "MostLength")):
        found.lengths += [(length, schema[key]) for key in keys if key in schema]
    if found.type == "Choice":
        found.choices = list(schema["enum"])
    if found.type == "List":
        found.item = _shape(schema.get("items", {}), inside)
    if record:
        found.fields = params_of(record)
    return found


_TYPES = {
    "string": "Text",
    "integer": "Integer",
    "number": "Number",
    "boolean": "Boolean",
    "array": "List",
    "object": "Object",
}

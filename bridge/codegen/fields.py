"""The fields of a pydantic model as rows of a table: type, default, bounds and meaning in words."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, TypeAdapter
from pydantic.fields import FieldInfo
from pydantic_core import to_jsonable_python

from bridge.codegen.markdown import code

_REFERENCE = "#/$defs/"
Link = Callable[[str], str]
"""How a page refers to a nested record."""


@dataclass(frozen=True, slots=True)
class Row:
    """One field."""

    name: str
    type: str
    default: str
    """As JSON; empty: the field must be there."""
    bounds: str
    meaning: str
    info: FieldInfo


def rows_of(model: type[BaseModel], link: Link) -> list[Row]:
    """The fields in the order of their declaration. Types and bounds are Markdown, the meaning is not."""
    schema = TypeAdapter(model).json_schema()
    properties = schema.get("properties", {})
    return [
        Row(
            name=name,
            type=type_text(properties[name], link),
            default="" if info.is_required() else json.dumps(default_of(info), ensure_ascii=False),
            bounds=bounds_text(properties[name]),
            meaning=info.description or "",
            info=info,
        )
        for name, info in ((info.alias or field, info) for field, info in model.model_fields.items())
    ]


def records_of(*models: type[BaseModel]) -> dict[str, type[BaseModel]]:
    """The models that stand inside the fields of these, by name, nearest first."""
    found: dict[str, type[BaseModel]] = {}
    for model in models:
        for info in model.model_fields.values():
            for inner in _models_in(info.annotation):
                if inner.__name__ not in found:
                    found[inner.__name__] = inner
                    found.update((k, v) for k, v in records_of(inner).items() if k not in found)
    return found


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in getattr(annotation, "__args__", ()):
        yield from _models_in(argument)


def type_text(schema: Mapping[str, Any], link: Link) -> str:
    """The type in JSON's words."""
    if "$ref" in schema:
        return link(schema["$ref"].removeprefix(_REFERENCE))
    if "const" in schema:
        return code(json.dumps(schema["const"], ensure_ascii=False))
    if "enum" in schema:
        return ", ".join(code(json.dumps(value, ensure_ascii=False)) for value in schema["enum"])
    if "anyOf" in schema:
        options = [type_text(option, link) for option in schema["anyOf"]]
        return " or ".join([", ".join(options[:-1]), options[-1]]) if len(options) > 1 else options[0]
    kind = schema.get("type", "anything")
    if kind == "array" and schema.get("items"):
        return f"list of {type_text(schema['items'], link)}"
    if kind == "object" and isinstance(schema.get("additionalProperties"), dict):
        return f"object of {type_text(schema['additionalProperties'], link)}"
    return {"array": "list"}.get(kind, str(kind))


def bounds_text(schema: Mapping[str, Any]) -> str:
    """The bounds of a value, of its length and of its entries."""
    options = [option for option in schema.get("anyOf", ()) if option.get("type") != "null"]
    if len(options) == 1:
        return bounds_text(options[0])
    found = [
        f"{sign} {_number(schema[key])}"
        for key, sign in (("minimum", "≥"), ("exclusiveMinimum", ">"), ("maximum", "≤"), ("exclusiveMaximum", "<"))
        if key in schema
    ]
    for what, least, most in (("characters", "minLength", "maxLength"), ("entries", "minItems", "maxItems")):
        if least in schema and most in schema:
            found.append(f"{schema[least]} to {schema[most]} {what}")
        elif most in schema:
            found.append(f"at most {schema[most]} {what}")
        elif least in schema:
            found.append(f"at least {schema[least]} {what}")
    if "pattern" in schema:
        found.append(f"matches {code(schema['pattern'])}")
    inner = bounds_text(schema["items"]) if isinstance(schema.get("items"), dict) else ""
    return ", ".join([*found, *([f"each {inner}"] if inner else [])])


def summary_of(model: type) -> str:
    """The first paragraph of a class's own docstring on one line; empty where it has none."""
    return docstring(model).partition("\n\n")[0].replace("\n", " ")


def docstring(model: type) -> str:
    """A class's own docstring, without indentation. One that is only inherited says nothing about the class."""
    text = model.__dict__.get("__doc__") or ""
    first, _, rest = text.strip().partition("\n")
    lines = [first.strip(), *(line.strip() for line in rest.split("\n"))] if rest else [first.strip()]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines))


def default_of(info: FieldInfo) -> Any:
    """The default of a field that has one, as JSON; of a record only what differs from the record's own defaults."""
    value = info.get_default(call_default_factory=True)
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", exclude_defaults=True)
    return to_jsonable_python(value)


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else str(value)

"""From the shape of a field to the property that the Unreal header tool takes for it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from bridge.codegen import CannotEmit
from bridge.codegen.cpp_text import boolean, literal, number, whole
from bridge.codegen.shapes import Field, Form, Names, Shape, twice
from bridge.codegen.source_text import pascal, word_member

JSON_TEXT = (Form.VARIABLES, Form.OBJECT, Form.CONTAINER, Form.JSON)
"""Free JSON: properties have no type for it, so it is a text."""
NAMED_TEXT = "FParleyNamedText"


@dataclass(frozen=True, slots=True)
class Property:
    """A member of a USTRUCT or UCLASS."""

    field: Field
    name: str
    """With a b in front of it, where it is a bool."""
    type: str
    initial: str
    """What stands behind its name in the declaration."""
    flag: str
    """The bool that says whether it is set; empty where it always is, or where an empty text says that it is not."""

    @property
    def is_seen(self) -> bool:
        """Blueprints have no whole numbers of 64 bits without a sign: that member is one for C++ alone."""
        return self.field.shape.form is not Form.UINT64


def properties_of(owner: str, fields: list[Field], names: Names) -> list[Property]:
    """The members of a struct or class. Raises CannotEmit."""
    found = [_property(field, names) for field in fields]
    twice(owner, [name for each in found for name in (each.name, each.flag) if name])
    return found


def type_of(shape: Shape) -> str:
    """What a property is declared as. Raises CannotEmit."""
    if shape.form is Form.LIST:
        assert shape.item is not None
        if shape.item.form in (Form.LIST, Form.TEXTS):
            raise CannotEmit("Unreal has no property for a list of lists")
        return f"TArray<{type_of(shape.item)}>"
    if shape.form is Form.TEXTS:
        # No TMap: its keys would not tell Mood from mood.
        return f"TArray<{NAMED_TEXT}>"
    if shape.form is Form.WORD:
        return enum_name(shape.name)
    if shape.form is Form.RECORD:
        return struct_name(shape.name)
    return _PLAIN[shape.form]


_PLAIN: Mapping[Form, str] = {
    Form.TEXT: "FString",
    Form.BOOLEAN: "bool",
    Form.INT32: "int32",
    Form.INT64: "int64",
    Form.UINT64: "uint64",
    Form.NUMBER: "double",
    Form.VARIABLES: "FString",
    Form.OBJECT: "FString",
    Form.CONTAINER: "FString",
    Form.JSON: "FString",
}


def enum_name(name: str) -> str:
    """The UENUM with the words of `name`."""
    return f"EParley{name}"


def struct_name(name: str) -> str:
    """The USTRUCT of a message or record."""
    return f"FParley{name}"


def node_name(name: str) -> str:
    """The UCLASS of a node type."""
    return f"UParley{name}Node"


def _property(field: Field, names: Names) -> Property:
    shape = field.shape
    name = pascal(field.wire)
    flag = f"bHas{name}" if shape.nullable and shape.form not in JSON_TEXT else ""
    plain = replace(shape, nullable=False)
    return Property(
        field=field,
        name=f"b{name}" if shape.form is Form.BOOLEAN else name,
        type=type_of(plain),
        initial=_initial(plain, None if shape.nullable or field.required else field.default, names),
        flag=flag,
    )


def _initial(shape: Shape, default: Any, names: Names) -> str:
    if shape.form is Form.WORD:
        return f" = {enum_name(shape.name)}::{word_member(names.words[shape.name][0] if default is None else default)}"
    if shape.form is Form.BOOLEAN:
        return f" = {boolean(bool(default))}"
    if shape.form is Form.NUMBER:
        return f" = {number(default or 0)}"
    if shape.form in (Form.INT32, Form.INT64, Form.UINT64):
        return f" = {whole(max(shape.least or 0, 0) if default is None else default)}"
    if shape.form is Form.TEXT:
        return f" = {text(default)}" if default else ""
    if not default:
        return ""
    if shape.form in JSON_TEXT:
        return f" = {text(json.dumps(default))}"
    if shape.form is Form.RECORD:
        return f" = {struct_name(shape.name)}::Of({text(json.dumps(default))})"
    if shape.form is Form.LIST and shape.item is not None and shape.item.form in _ONE_BY_ONE:
        return f" = {{{', '.join(_ONE_BY_ONE[shape.item.form](value) for value in default)}}}"
    raise CannotEmit(f"no C++ expression for the default {default!r}")


def text(value: str) -> str:
    """A literal of the engine's text. Raises CannotEmit for letters outside of ASCII: compilers disagree on them."""
    if not value.isascii():
        raise CannotEmit(f"no literal for the default {value!r}")
    return f"TEXT({literal(value)})"


_ONE_BY_ONE: Mapping[Form, Callable[[Any], str]] = {
    Form.TEXT: text,
    Form.BOOLEAN: boolean,
    Form.NUMBER: number,
    Form.INT32: whole,
    Form.INT64: whole,
}

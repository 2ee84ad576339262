"""From the annotation of a pydantic field to what a statically typed language must know of it."""

from __future__ import annotations

import types
import typing
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Annotated, Any, Literal

from annotated_types import Ge, Le
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from bridge import node, protocol
from bridge.codegen import CannotEmit
from bridge.codegen.docs_workflow import HISTORY_ROLE, PLACEMENT, SEND
from bridge.codegen.fields import default_of, rows_of
from bridge.codegen.source_text import pascal

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


class Form(Enum):
    """What a value is."""

    TEXT = "text"
    BOOLEAN = "boolean"
    INT32 = "int32"
    INT64 = "int64"
    UINT64 = "uint64"
    NUMBER = "number"
    WORD = "word"
    """One of the words of an enum."""
    LIST = "list"
    TEXTS = "texts"
    """Texts by name."""
    VARIABLES = "variables"
    """Values of variables by name."""
    OBJECT = "object"
    CONTAINER = "container"
    """An object or a list."""
    JSON = "json"
    RECORD = "record"


@dataclass(frozen=True, slots=True)
class Shape:
    """The type of a value, in no language."""

    form: Form
    name: str = ""
    """Of an enum or a record."""
    item: Shape | None = None
    """What is in a list."""
    least: int | None = None
    """Of a whole number."""
    most: int | None = None
    nullable: bool = False


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a class that is to be declared."""

    wire: str
    name: str
    shape: Shape
    required: bool
    default: Any
    """As JSON; None where required."""
    meaning: str
    bounds: str
    info: FieldInfo


@dataclass(slots=True)
class Names:
    """What the literals and records of a set of models are called. Filled while the models are read."""

    words_class: str
    """The class that knows the words of new enums, where a language has such a class."""
    language: str = "C#"
    known: Mapping[str, str] = field(default_factory=dict)
    """Enums that are declared elsewhere → the class that knows their words."""
    words: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Enum → its words; those that are declared elsewhere too."""
    uses: dict[str, str] = field(default_factory=dict)
    """Enum → the first field that has it."""

    @property
    def new(self) -> dict[str, tuple[str, ...]]:
        """The enums that are to be declared."""
        return {name: values for name, values in self.words.items() if name not in self.known}

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


def message_models() -> list[type[protocol.Record]]:
    """What is declared for the protocol: the records first, each behind those that stand in it, then the messages."""
    return [*records(), *protocol.MESSAGES.values()]


def records() -> list[type[protocol.Record]]:
    """What stands inside messages."""
    return [
        value
        for value in vars(protocol).values()
        if isinstance(value, type)
        and issubclass(value, protocol.Record)
        and value is not protocol.Record
        and not issubclass(value, protocol.Message)
    ]


def inner_first(models: Mapping[str, type[BaseModel]], fields: Mapping[str, Sequence[Field]]) -> list[type[BaseModel]]:
    """The models in an order in which each stands behind the records that are in it."""
    found: list[type[BaseModel]] = []

    def add(name: str) -> None:
        if models[name] in found:
            return
        for inner in fields[name]:
            shape = inner.shape
            while shape.item:
                shape = shape.item
            if shape.form is Form.RECORD and shape.name != name and shape.name in models:
                add(shape.name)
        found.append(models[name])

    for name in models:
        add(name)
    return found


def fields_of(model: type[BaseModel], names: Names) -> list[Field]:
    """The fields of a model, in the order of their declaration. Raises CannotEmit."""
    found: list[Field] = []
    for row in rows_of(model, str):
        info = row.info
        shape = shape_of(info.annotation, info.metadata, names, model.__name__, row.name)
        required = info.is_required()
        default = None if required else default_of(info)
        if shape.nullable and default is not None:
            raise CannotEmit(f"{model.__name__}.{row.name}: what may be null must be null by default")
        found.append(
            Field(
                wire=row.name,
                name=_field_name(row.name, model.__name__, shape),
                shape=shape,
                required=required,
                default=default,
                meaning=row.meaning,
                bounds="" if shape.form is Form.WORD else row.bounds,
                info=info,
            )
        )
    twice(model.__name__, (member.name for member in found))
    return found


def twice(owner: str, names: Iterable[str]) -> None:
    """Raises CannotEmit where a class would have two members of one name."""
    seen = list(names)
    clash = sorted({name for name in seen if seen.count(name) > 1})
    if clash:
        raise CannotEmit(f"{owner}: two fields would be called {', '.join(clash)}")


def shape_of(annotation: Any, metadata: Sequence[Any], names: Names, owner: str, wire: str) -> Shape:
    """The shape of an annotation. Raises CannotEmit for one that no emitter knows."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is Annotated:
        return shape_of(arguments[0], [*metadata, *arguments[1:]], names, owner, wire)
    if origin in (typing.Union, types.UnionType):
        inner = [argument for argument in arguments if argument is not types.NoneType]
        if len(inner) < len(arguments):
            rest: Any = typing.Union[tuple(inner)]  # noqa: UP007 - made while running
            return replace(shape_of(rest, metadata, names, owner, wire), nullable=True)
        if {typing.get_origin(argument) for argument in inner} == {dict, list}:
            return Shape(Form.CONTAINER)
    if origin is Literal:
        if all(type(value) is int for value in arguments):
            return _integer([Ge(min(arguments)), Le(max(arguments))])
        return Shape(Form.WORD, name=names.enum(arguments, owner, wire))
    if origin is list:
        return Shape(Form.LIST, item=shape_of(arguments[0], [], names, owner, wire))
    if origin is dict and arguments == (str, str):
        return Shape(Form.TEXTS)
    if origin is dict and arguments == (str, protocol.VariableValue):
        return Shape(Form.VARIABLES)
    if origin is dict and arguments == (str, Any):
        return Shape(Form.OBJECT)
    if isinstance(annotation, type):
        if issubclass(annotation, BaseModel):
            return Shape(Form.RECORD, name=annotation.__name__)
        if annotation is int:
            return _integer(metadata)
        plain = {bool: Form.BOOLEAN, float: Form.NUMBER, str: Form.TEXT}.get(annotation)
        if plain:
            return Shape(plain)
    if annotation is Any:
        return Shape(Form.JSON, nullable=True)
    raise CannotEmit(f"{owner}.{wire}: no {names.language} type for {annotation}")


def bound(info: FieldInfo, name: str) -> float | None:
    """A bound of a field: `ge` or `le`."""
    return next((float(getattr(item, name)) for item in info.metadata if hasattr(item, name)), None)


def _integer(metadata: Sequence[Any]) -> Shape:
    least = next((int(str(item.ge)) for item in metadata if isinstance(item, Ge)), None)
    most = next((int(str(item.le)) for item in metadata if isinstance(item, Le)), None)
    if most is not None and most > INT64:
        if least is None or least < 0:
            raise CannotEmit("a whole number of 64 bits with a sign and one beyond it have no common type")
        return Shape(Form.UINT64, least=least, most=most)
    small = least is not None and most is not None and least >= -INT32 and most <= INT32
    return Shape(Form.INT32 if small else Form.INT64, least=least, most=most)


def _field_name(wire: str, owner: str, shape: Shape) -> str:
    """No member has the name of its class: C# and C++ allow none."""
    name = pascal(wire)
    if name != owner:
        return name
    return "Items" if shape.form is Form.LIST else "Text" if shape.form is Form.TEXT else "Content"

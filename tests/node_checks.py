"""What the tests of all languages ask of node types: nodes in JSON, a type of others, and what editors are told."""

from __future__ import annotations

import typing
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, Literal

from hypothesis import strategies as st
from pydantic import BaseModel, Field
from pydantic_core import to_jsonable_python

from bridge.codegen.fields import docstring, summary_of
from bridge.node import (
    Kind,
    ModelNode,
    Node,
    SpeakingNode,
    TurnView,
    exit_param,
    field_kind,
    is_structural,
    packaged_registry,
    param,
)
from tests.wire_values import anything_for, texts, values

REGISTRY = packaged_registry()


def nodes_of(cls: type[Node]) -> st.SearchStrategy[list[tuple[str, Any]]]:
    """Some fields of a node, and some that nobody knows, in any order."""
    known = {name: anything_for(info.annotation, info.metadata) for name, info in cls.model_fields.items()}
    fields = st.fixed_dictionaries({"type": st.just(cls.type_name)}, optional=known)
    unknown = st.dictionaries(texts.filter(lambda text: text not in cls.model_fields and text != "type"), values)
    return st.tuples(fields, unknown).flatmap(lambda both: st.permutations([*both[0].items(), *both[1].items()]))


class LampSetting(BaseModel):
    """How a lamp shines."""

    colour: str = Field(description="Which `colour`.")
    dim: float | None = Field(default=None, gt=0, lt=1)


class Lamp(SpeakingNode):
    """Gives <light>, "as if" by magic \\ & more."""

    offers: ClassVar[Mapping[str, str]] = {"{{lamp}}": 'how "bright" it is'}

    lamp: LampSetting = param(LampSetting(colour="red"), "A setting.")
    wick: Literal["short", "long-ish", ""] = param("", "How long?\nVery.")
    places: list[LampSetting] = param([], "Where it is.", max_length=3)
    levels: list[int] = param([], "How bright.")
    shades: list[str] = param(["paper"], "What is around it.")
    extra: dict[str, Any] = param({}, "More.", structural=True)
    ratio: float = param(0.125, "Over one.", gt=0, le=1)
    big: int = param(2**40, "Beyond 32 bits.", ge=0, le=2**50)
    default_exit: str = exit_param("it burns")

    async def run(self, turn: TurnView) -> str:
        return "default"


def default(info: Any) -> Any:
    value = info.get_default(call_default_factory=True)
    return value.model_dump(exclude_none=True) if isinstance(value, BaseModel) else to_jsonable_python(value)


def check_types(types: list[dict[str, Any]], named: Callable[[Kind], str]) -> None:
    """Whether editors are told what Python declares. `named` says what a kind is called there."""
    told = {about["name"]: about for about in types}
    assert list(told) == list(REGISTRY)
    for name, cls in REGISTRY.items():
        about = told[name]
        assert (about["meaning"], about["summary"]) == (docstring(cls), summary_of(cls))
        assert (about["produces"], about["uses_model"]) == (cls.produces(), issubclass(cls, ModelNode))
        assert (about["tag_family"], about["tag_name_field"]) == (cls.tag_family, cls.tag_name_field)
        assert (about["offers"], about["events"]) == (dict(cls.offers), dict(cls.events))
        assert about["exits"] == cls.exit_fields()
        assert about["templates"] == cls.fields_of(Kind.TEMPLATE)
        assert about["found"] is True
        check_fields(about["params"], cls, named)


def check_fields(told: dict[str, Any], model: type[BaseModel], named: Callable[[Kind], str]) -> None:
    assert list(told) == list(model.model_fields)
    for field, info in model.model_fields.items():
        about = told[field]
        assert about["kind"] == named(field_kind(info))
        assert about["mutable"] == (not is_structural(info))
        assert about["meaning"] == (info.description or "")
        assert about["required"] == info.is_required()
        assert about["default"] == (None if info.is_required() else default(info))
        check_shape(about, info.annotation, named, info.metadata)


def check_shape(about: dict[str, Any], annotation: Any, named: Callable[[Kind], str], metadata: Any = ()) -> None:
    arguments = typing.get_args(annotation)
    if type(None) in arguments:
        assert about["optional"] is True
        arguments = tuple(argument for argument in arguments if argument is not type(None))
        annotation, arguments = arguments[0], typing.get_args(arguments[0])
    if typing.get_origin(annotation) is typing.Annotated:
        annotation, metadata, arguments = arguments[0], arguments[1].metadata, ()
    facts = {key: value for item in metadata for key, value in vars_of(item)}
    assert about["least"] == facts.get("ge", facts.get("gt"))
    assert about["most"] == facts.get("le", facts.get("lt"))
    assert (about["least_excluded"], about["most_excluded"]) == ("gt" in facts, "lt" in facts)
    assert (about["least_length"], about["most_length"]) == (facts.get("min_length"), facts.get("max_length"))
    origin = typing.get_origin(annotation)
    assert about["choices"] == (list(arguments) if origin is Literal else [])
    if origin is list:
        assert about["type"] == "List"
        check_shape(about["item"], arguments[0], named)
    elif isinstance(annotation, type) and issubclass(annotation, BaseModel):
        assert about["type"] == "Record"
        check_fields(about["fields"], annotation, named)
    else:
        names = {str: "Text", int: "Integer", float: "Number", bool: "Boolean"}
        assert about["type"] == names.get(annotation, {Literal: "Choice", dict: "Object"}.get(origin))


def vars_of(item: Any) -> Iterator[tuple[str, Any]]:
    for key in ("ge", "gt", "le", "lt", "min_length", "max_length"):
        if hasattr(item, key):
            yield key, getattr(item, key)

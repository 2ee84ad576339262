"""`Generated/ParleyMessages.h` and `.cpp`: the messages as Blueprints see them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pydantic import BaseModel

from bridge.codegen.cpp_messages import message_fields, message_names, ordered_messages
from bridge.codegen.cpp_text import literal
from bridge.codegen.fields import docstring
from bridge.codegen.shapes import MEANINGS, Form
from bridge.codegen.source_text import block, sentence, spaced, word_member
from bridge.codegen.unreal_text import header, property_of, source, tooltip
from bridge.codegen.unreal_types import JSON_TEXT, NAMED_TEXT, Property, enum_name, properties_of, struct_name

HEADER = "Generated/ParleyMessages.h"
NOT_FOR_BLUEPRINTS = "Blueprints have no number like it."


def messages_header(mark: str) -> str:
    """The declarations."""
    names = message_names()
    fields = message_fields(names)
    enums = [enum(name, values, names.uses[name]) for name, values in names.new.items()]
    structs = [
        _struct(model, properties_of(struct_name(model.__name__), fields[model.__name__], names))
        for model in ordered_messages(fields)
    ]
    return header(
        mark,
        ["Core/Generated/Messages.h", "CoreMinimal.h", "Dom/JsonObject.h"],
        "ParleyMessages",
        [*enums, words_of(names.new), _NAMED_TEXT, *structs],
    )


def messages_source(mark: str) -> str:
    """The definitions."""
    names = message_names()
    fields = message_fields(names)
    same = [
        block(
            [f"Parley::WordTable WordsOf({enum_name(name)}) noexcept"],
            [
                f"static_assert(static_cast<int>({enum_name(name)}::{word_member(values[-1])})"
                f" == static_cast<int>(Parley::Messages::{name}::{word_member(values[-1])}), "
                '"the members are the same");',
                f"return WordsOf(Parley::Messages::{name}());",
            ],
        )
        for name, values in names.new.items()
    ]
    bodies = [
        body
        for model in ordered_messages(fields)
        for body in _definitions(
            model.__name__, properties_of(struct_name(model.__name__), fields[model.__name__], names)
        )
    ]
    return source(mark, [HEADER, "", "ParleyConvert.h"], [*same, *bodies])


def enum(name: str, values: tuple[str, ...], use: str) -> list[str]:
    """A UENUM."""
    lead, meanings = MEANINGS.get(name, ("", {}))
    members: list[str] = []
    for value in values:
        members += tooltip(sentence(f"{lead}{meanings[value]}") if value in meanings else literal(value), 4)
        members.append(f"{word_member(value)},")
    return block(
        [*tooltip(f"What {use} can be."), "UENUM(BlueprintType)", f"enum class {enum_name(name)} : uint8"], members, ";"
    )


def words_of(names: Iterable[str]) -> list[str]:
    """Declarations of the tables of words."""
    declared = [f"PARLEY_API Parley::WordTable WordsOf({enum_name(name)}) noexcept;" for name in names]
    return ["/// What the values of enums are called in JSON: `Parley::WordOf(Value)`.", *declared] if declared else []


def declaration(each: Property, meta: Mapping[str, str] | None = None, comment: bool = True) -> list[str]:
    """A member, behind the bool that says whether it is set."""
    facts = dict(meta or {})
    flag = []
    if each.flag:
        flag = [
            *tooltip(f"{each.name} is set."),
            property_of({"InlineEditConditionToggle": ""}),
            f"bool {each.flag} = false;",
            "",
        ]
        facts["EditCondition"] = f'"{each.flag}"'
    form = each.field.shape.form
    meaning = f"{each.field.meaning}{f' ({each.field.bounds})' if each.field.bounds else ''}"
    if form in JSON_TEXT:
        meaning = f"{meaning} {json_note(each)}"
    if not each.is_seen:
        return [*tooltip(f"{meaning} {NOT_FOR_BLUEPRINTS}", 4), *_unseen(each)]
    return [
        *flag,
        *(tooltip(meaning, 4) if comment else []),
        property_of(facts),
        f"{each.type} {each.name}{each.initial};",
    ]


def json_note(each: Property) -> str:
    """What a text of free JSON holds."""
    what = {Form.CONTAINER: "An object or a list as JSON", Form.JSON: "JSON"}
    nothing = "not set" if each.field.shape.nullable else "{}"
    return f"{what.get(each.field.shape.form, 'An object as JSON')}; empty: {nothing}."


def _unseen(each: Property) -> list[str]:
    flag = [f"bool {each.flag} = false;"] if each.flag else []
    return [f"{each.type} {each.name}{each.initial};", *flag]


def _struct(model: type[BaseModel], properties: list[Property]) -> list[str]:
    name, core = struct_name(model.__name__), f"Parley::Messages::{model.__name__}"
    fixed = [
        f"{name}() = default;",
        f"explicit {name}(const {core}& Core);",
        f"{core} ToCore() const;",
        "/// Optional fields that are not set are left out.",
        "TSharedRef<FJsonObject> ToJson() const;",
        "/// Fields that are not known here are left out. False: `Fault` begins with the path of what is wrong.",
        f"static bool FromJson(const FJsonObject& Body, {name}& Out, FString& Fault);",
    ]
    return block(
        [*tooltip(docstring(model)), "USTRUCT(BlueprintType)", f"struct PARLEY_API {name}"],
        spaced([["GENERATED_BODY()"], *map(declaration, properties), fixed]),
        ";",
    )


_NAMED_TEXT = [
    "/** A text and its name. A map of the engine would not tell Mood from mood. */",
    "USTRUCT(BlueprintType)",
    f"struct PARLEY_API {NAMED_TEXT}",
    "{",
    "    GENERATED_BODY()",
    "",
    "    /** What it is called; unlike anything else in the list. */",
    f"    {property_of({})}",
    "    FString Name;",
    "",
    "    /** The text. */",
    f"    {property_of({})}",
    "    FString Text;",
    "};",
]


def _definitions(model: str, properties: list[Property]) -> list[list[str]]:
    name, core = struct_name(model), f"Parley::Messages::{model}"
    takes, gives = [], []
    for each in properties:
        inner, outer, form = each.field.name, each.name, each.field.shape.form
        if each.flag:
            takes += [f"{each.flag} = Core.{inner}.has_value();"]
        if each.field.shape.nullable:
            # An empty text says that nothing is set, so what is set is written whole.
            take = f"{outer} = Parley::JsonToText(*Core.{inner});"
            take = take if form in JSON_TEXT else f"Parley::Convert(*Core.{inner}, {outer});"
            takes += block([f"if (Core.{inner})"], [take])
            test = each.flag or f"!{outer}.IsEmpty()"
            gives += block([f"if ({test})"], [f"Parley::Convert({outer}, Core.{inner}.emplace());"])
        else:
            takes.append(f"Parley::Convert(Core.{inner}, {outer});")
            gives.append(f"Parley::Convert({outer}, Core.{inner});")
        assert form is not Form.JSON, "no message has JSON of any kind"
    unused = [] if properties else ["static_cast<void>(Core);"]
    return [
        block([f"{name}::{name}(const {core}& Core)"], [*unused, *takes]),
        block([f"{core} {name}::ToCore() const"], [f"{core} Core;", *gives, "return Core;"]),
        block([f"TSharedRef<FJsonObject> {name}::ToJson() const"], ["return Parley::ToEngine(ToCore().ToJson());"]),
        block(
            [f"bool {name}::FromJson(const FJsonObject& Body, {name}& Out, FString& Fault)"],
            [f"return Parley::FromEngineAs<{core}>(Body, Out, Fault);"],
        ),
    ]


def message_struct_names() -> set[str]:
    """What the header tool knows already when it comes to the nodes."""
    return {NAMED_TEXT, *(struct_name(model.__name__) for model in ordered_messages(message_fields(message_names())))}

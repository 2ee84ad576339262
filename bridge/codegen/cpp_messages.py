"""`Core/Generated/Messages.h`, `.cpp` and `MessageId.h`: a struct for every message, and the reader of all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pydantic import BaseModel

from bridge import protocol
from bridge.codegen import CannotEmit
from bridge.codegen.cpp_text import boolean, comment, header, literal, number, source, whole, within
from bridge.codegen.fields import docstring
from bridge.codegen.shapes import MEANINGS, Field, Form, Names, Shape, fields_of, inner_first, message_models, twice
from bridge.codegen.source_text import block, indented, sentence, spaced, word_member

NAMESPACE = "Parley::Messages"
INT64 = (-(2**63), 2**63 - 1)
TAKEN = frozenset({"Id", "Kind", "TypeName", "TheId", "ToJson", "FromJson", "Read"})
"""Members of every message that are no fields."""


def message_names() -> Names:
    """No enums yet; they are told in C++'s name."""
    return Names("", language="C++")


def message_fields(names: Names) -> dict[str, list[Field]]:
    """The fields of every record and message, each under a name that C++ has free."""
    found = {}
    for model in message_models():
        is_message = issubclass(model, protocol.Message)
        fields = [_renamed(field) if is_message else field for field in fields_of(model, names)]
        twice(model.__name__, (field.name for field in fields))
        found[model.__name__] = fields
    return found


def ordered_messages(fields: Mapping[str, list[Field]]) -> list[type[BaseModel]]:
    """Every record and message behind what stands in it."""
    return inner_first({model.__name__: model for model in message_models()}, fields)


def message_id_file(mark: str) -> str:
    """The enum of all types of messages."""
    members = [line for name in protocol.MESSAGES for line in (f"{name},",)]
    return header(
        mark,
        ["Core/Message.h"],
        "Parley",
        [
            block(
                [*comment("The types of messages. Numbers may differ from version to version; the wire has words."),
                 "enum class MessageId : int"],
                members,
                ";",
            )
        ],
    )  # fmt: skip


def messages_header(mark: str) -> str:
    """The declarations."""
    names = message_names()
    fields = message_fields(names)
    includes = [
        "Core/CoreApi.h", "Core/Generated/MessageId.h", "Core/Json.h", "Core/JsonWrite.h", "Core/Message.h", "",
        "<cstdint>", "<map>", "<memory>", "<optional>", "<string>", "<string_view>", "<vector>",
    ]  # fmt: skip
    enums = [_enum(name, values, names.uses[name]) for name, values in names.new.items()]
    tables = [line for name in names.new for line in (f"PARLEY_CORE_API WordTable WordsOf({name}) noexcept;",)]
    reader = [
        *comment("Reads any message. Null and no fault for a type that is not known here; null and a fault that begins "
                 "with the path where the body does not say what it should."),
        "PARLEY_CORE_API std::unique_ptr<Message> ReadMessage(",
        "    std::string_view TypeName, const Json& Body, std::string& Fault);",
    ]  # fmt: skip
    blocks = [
        *enums,
        [*comment("What the values of enums are called in JSON: `WordOf(Value)`."), *tables],
        *(_struct(model, fields[model.__name__]) for model in ordered_messages(fields)),
        reader,
    ]
    return header(mark, includes, NAMESPACE, blocks, ["namespace Parley", "{", "class JsonRead;", "}"])


def messages_source(mark: str) -> str:
    """The definitions."""
    names = message_names()
    fields = message_fields(names)
    tables = [
        line
        for name, values in names.new.items()
        for line in (f"constexpr std::string_view {name}Words[] = {{{', '.join(map(literal, values))}}};",)
    ]
    words = [
        block([f"WordTable WordsOf({name}) noexcept"],
              [f"return {{MessagesLocal::{name}Words, {len(values)}}};"])
        for name, values in names.new.items()
    ]  # fmt: skip
    bodies = [
        body for model in ordered_messages(fields) for body in _definitions(model.__name__, fields[model.__name__])
    ]
    readers = [f"{{{literal(name)}, &MessagesLocal::ReadAs<{name}>}}," for name in protocol.MESSAGES]
    read = block(
        ["std::unique_ptr<Message> ReadMessage(std::string_view TypeName, const Json& Body, std::string& Fault)"],
        [
            "Fault.clear();",
            *block(["static constexpr MessagesLocal::Reader Readers[] ="], readers, ";"),
            *block(["for (const MessagesLocal::Reader& Each : Readers)"],
                   block(["if (Each.TypeName == TypeName)"], ["return Each.Read(Body, Fault);"])),
            "return nullptr;",
        ],
    )  # fmt: skip
    includes = ["Core/Generated/Messages.h", "", "Core/JsonRead.h", "Core/JsonWrite.h"]
    reader = [
        *block(["struct Reader"], ["std::string_view TypeName;",
               "std::unique_ptr<Message> (*Read)(const Json& Body, std::string& Fault);"], ";"),
        "",
        "template <class T>",
        *block(
            ["std::unique_ptr<Message> ReadAs(const Json& Body, std::string& Fault)"],
            [
                "auto Made = std::make_unique<T>();",
                *block(["if (!T::Read(JsonRead(Body, Fault), *Made))"], ["return nullptr;"]),
                "return Made;",
            ],
        ),
    ]  # fmt: skip
    local = within("Parley::MessagesLocal", [tables, reader])
    return source(mark, includes, NAMESPACE, [*words, *bodies, read], local)


# ---- types ---------------------------------------------------------------------------------------------------


def type_of(shape: Shape) -> str:
    """What C++ declares for a value."""
    if shape.nullable:
        return f"std::optional<{type_of(replace(shape, nullable=False))}>"
    if shape.form is Form.LIST:
        assert shape.item is not None
        return f"std::vector<{type_of(shape.item)}>"
    if shape.form in (Form.WORD, Form.RECORD):
        # With its namespace: a member may have the name of its type.
        return f"Messages::{shape.name}"
    return _PLAIN[shape.form]


_PLAIN: Mapping[Form, str] = {
    Form.TEXT: "std::string",
    Form.BOOLEAN: "bool",
    Form.INT32: "std::int32_t",
    Form.INT64: "std::int64_t",
    Form.UINT64: "std::uint64_t",
    Form.NUMBER: "double",
    Form.TEXTS: "std::map<std::string, std::string>",
    Form.VARIABLES: "Json",
    Form.OBJECT: "Json",
    Form.CONTAINER: "Json",
    Form.JSON: "Json",
}


def initial(field: Field, names: Names) -> str:
    """How a member begins: empty where its type says it."""
    shape, default = field.shape, field.default
    if shape.nullable:
        return ""
    if shape.form is Form.WORD:
        word = names.words[shape.name][0] if field.required else default
        return f" = Messages::{shape.name}::{word_member(word)}"
    if shape.form is Form.BOOLEAN:
        return f" = {boolean(bool(default))}"
    if shape.form is Form.NUMBER:
        return f" = {number(default or 0)}"
    if shape.form in (Form.INT32, Form.INT64, Form.UINT64):
        return f" = {whole(max(shape.least or 0, 0) if field.required else default)}"
    if shape.form is Form.TEXT:
        return f" = {literal(default)}" if default else ""
    if default:
        raise CannotEmit(f"{field.wire}: no C++ expression for the default {default!r}")
    if shape.form in (Form.OBJECT, Form.VARIABLES):
        return " = Json::Object()"
    return ""


def bounds_of(shape: Shape) -> str:
    """What a reader must know beside the type, as arguments."""
    while shape.item:
        shape = shape.item
    if shape.form in (Form.INT32, Form.INT64):
        if shape.least is None and shape.most is None:
            return ""
        least = INT64[0] if shape.least is None else shape.least
        return f", {whole(least)}" + ("" if shape.most is None else f", {whole(shape.most)}")
    forms = {Form.OBJECT: "Object", Form.CONTAINER: "Container", Form.VARIABLES: "Variables"}
    return f", JsonForm::{forms[shape.form]}" if shape.form in forms else ""


def enum_members(name: str, values: tuple[str, ...]) -> list[str]:
    """The members of an enum, each with what it means or the word of the wire."""
    lines: list[str] = []
    for value in values:
        lead, meanings = MEANINGS.get(name, ("", {}))
        lines += comment(sentence(f"{lead}{meanings[value]}") if value in meanings else literal(value), 4)
        lines.append(f"{word_member(value)},")
    return lines


def _renamed(field: Field) -> Field:
    if field.name not in TAKEN:
        return field
    return replace(field, name=field.shape.name if field.shape.form is Form.WORD else f"{field.name}Value")


def _enum(name: str, values: tuple[str, ...], use: str) -> list[str]:
    twice(name, map(word_member, values))
    return block([*comment(f"What {use} can be."), f"enum class {name}"], enum_members(name, values), ";")


def _struct(model: type[BaseModel], fields: list[Field]) -> list[str]:
    name = model.__name__
    names = message_names()
    fields_of(model, names)
    base = next((k.__name__ for k in (protocol.Request, protocol.Reply, protocol.Push) if issubclass(model, k)), "")
    declared = [
        [
            *comment(f"{field.meaning}{f' ({field.bounds})' if field.bounds else ''}", 4),
            f"{type_of(field.shape)} {field.name}{initial(field, names)};",
        ]
        for field in fields
    ]
    fixed = [
        *(["MessageId Id() const noexcept override { return TheId; }",
           f"std::string_view TypeName() const noexcept override {{ return {literal(name)}; }}"] if base else []),
        f"Json ToJson() const{' override' if base else ''};",
        f"static bool FromJson(const Json& Body, {name}& Out, std::string& Fault);",
        f"static bool Read(const JsonRead& From, {name}& Out);",
    ]  # fmt: skip
    identity = [f"static constexpr MessageId TheId = MessageId::{name};"] if base else []
    return block(
        [*comment(docstring(model)), f"struct PARLEY_CORE_API {name}{f' final : {base}' if base else ''}"],
        spaced([identity, [line for lines in declared for line in lines], fixed]),
        ";",
    )


def _definitions(name: str, fields: list[Field]) -> list[list[str]]:
    writes = []
    for field in fields:
        if field.required and field.shape.nullable:
            writes.append(f"Body.Set({literal(field.wire)}, {field.name} ? WriteValue(*{field.name}) : Json());")
        else:
            writes.append(f"WriteField(Body, {literal(field.wire)}, {field.name});")
    reads = [
        f"Read{'Needed' if field.required and not field.shape.nullable else 'Given'}"
        f"(From, {literal(field.wire)}, Out.{field.name}{bounds_of(field.shape)})"
        for field in fields
    ]
    checks = ["From.Object()", *reads]
    whole_check = [f"return {checks[0]}", *indented(f"&& {check}" for check in checks[1:])]
    whole_check[-1] += ";"
    unused = [] if fields else ["static_cast<void>(Out);"]
    return [
        block([f"Json {name}::ToJson() const"], ["Json Body = Json::Object();", *writes, "return Body;"]),
        block(
            [f"bool {name}::FromJson(const Json& Body, {name}& Out, std::string& Fault)"],
            ["Fault.clear();", f"Out = {name}();", "return Read(JsonRead(Body, Fault), Out);"],
        ),
        block([f"bool {name}::Read(const JsonRead& From, {name}& Out)"], [*unused, *whole_check]),
    ]

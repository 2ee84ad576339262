"""`Messages.g.cs`: a class for every message, with readers and writers that need no reflection."""

from __future__ import annotations

from pydantic import BaseModel

from bridge import protocol
from bridge.codegen.csharp_text import literal, source, summary
from bridge.codegen.csharp_types import Member, declaration, enums, from_json, members_of, type_name
from bridge.codegen.fields import docstring
from bridge.codegen.shapes import Names, message_models
from bridge.codegen.source_text import block, spaced

NAMESPACE = "Parley.Messages"
USINGS = ("System", "System.Collections.Generic", "Newtonsoft.Json.Linq")


def messages_file(mark: str) -> str:
    """Every message, the records inside them, and the reader of all."""
    names = Names("Words")
    members = {model: members_of(model, names) for model in message_models()}
    classes = [_class(model, fields) for model, fields in members.items()]
    return source(mark, USINGS, NAMESPACE, [*enums(names), *classes, _reader()])


def message_enums() -> Names:
    """The enums that the messages declare."""
    names = Names("Words")
    for model in message_models():
        members_of(model, names)
    return names


def _class(model: type[BaseModel], members: list[Member]) -> list[str]:
    name = model.__name__
    base = next(
        (kind.__name__ for kind in (protocol.Request, protocol.Reply, protocol.Push) if issubclass(model, kind)),
        "Record",
    )
    tells = type_name(name) if issubclass(model, protocol.Message) else []
    note = "Reads it; fields that are not known here are left out. Throws MalformedMessageException."
    return block(
        [*summary(docstring(model)), f"public sealed class {name} : {base}"],
        spaced([*map(declaration, members), tells, _to_json(members), from_json(name, members, note)]),
    )


def _to_json(members: list[Member]) -> list[str]:
    lines = []
    for member in members:
        add = f"json.Add({literal(member.wire)}, {member.type.write.format(member.name)});"
        if not member.type.nullable:
            lines.append(add)
            continue
        lines += block([f"if ({member.name} != null)"], [add])
        if member.required:
            lines += block(["else"], [f"json.Add({literal(member.wire)}, JValue.CreateNull());"])
    return block(
        [*summary("The JSON of the wire. Optional fields that are null are left out."),
         "public override JObject ToJson()"],
        ["var json = new JObject();", *lines, "return json;"],
    )  # fmt: skip


def _reader() -> list[str]:
    cases = [
        line for name in protocol.MESSAGES for line in (f"case {literal(name)}:", f"    return {name}.FromJson(body);")
    ]
    return block(
        [*summary("Reads any message."), "public static class MessageReader"],
        block(
            [*summary("Null for a type that is not known here. Throws MalformedMessageException."),
             "public static Message Read(string typeName, JObject body)"],
            [*block(["switch (typeName)"], cases), "return null;"],
        ),
    )  # fmt: skip

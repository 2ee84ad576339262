"""The generated part of the Unity package: messages, error codes, node types and the numbers of the protocol."""

from __future__ import annotations

from collections.abc import Mapping

from bridge.codegen import TARGETS, Pages
from bridge.codegen.constants import Value, agreed, error_texts
from bridge.codegen.csharp_messages import messages_file
from bridge.codegen.csharp_nodes import node_types_file, nodes_file
from bridge.codegen.csharp_text import boolean, literal, number, source, summary
from bridge.codegen.source_text import block, sentence, spaced
from bridge.node import Registry

MARK = TARGETS["unity"].mark


def emit(registry: Registry) -> Pages:
    """Every generated C# file."""
    return {
        "ErrorCodes.g.cs": error_codes_file(),
        "Messages.g.cs": messages_file(MARK),
        "NodeTypes.g.cs": node_types_file(MARK, registry),
        "Nodes.g.cs": nodes_file(MARK, registry),
        "Protocol.g.cs": protocol_file(),
    }


def error_codes_file() -> str:
    """The enum of all errors, their names and what to do about each."""
    errors = error_texts()
    names = {error.code: error.name for error in errors}
    texts = {error.code: error.text for error in errors}
    remedies = {error.code: error.remedy for error in errors}
    members = spaced([*summary(sentence(texts[code])), f"{name} = {code},"] for code, name in names.items())
    enum = block(
        [*summary("What went wrong. A newer sidecar may say a code that is not here."), "public enum ErrorCode : int"],
        members,
    )
    about = block(
        [*summary("Errors in words."), "public static class ErrorCodes"],
        spaced(
            [
                _switch("NameOf", "The name of an error; its number where it is not known here.", names, names,
                        "((int)code).ToString(System.Globalization.CultureInfo.InvariantCulture)"),
                _switch("TextOf", "What it means; empty where it is not known here.", names, texts, '""'),
                _switch("RemedyOf", "What to do about it; empty where it is not known here.", names, remedies, '""'),
            ]
        ),
    )  # fmt: skip
    return source(MARK, (), "Parley", [enum, about])


def protocol_file() -> str:
    """What both sides must agree on, and what a sidecar does unless it is set up otherwise."""
    return source(
        MARK,
        (),
        "Parley",
        [
            block(
                [*summary("What both sides must agree on."), "public static class Protocol"],
                spaced([*summary(meaning), _constant(name, value)] for name, value, meaning in agreed()),
            )
        ],
    )


def _constant(name: str, value: Value) -> str:
    if isinstance(value, bool):
        return f"public const bool {name} = {boolean(value)};"
    if isinstance(value, str):
        return f"public const string {name} = {literal(value)};"
    if isinstance(value, int):
        return f"public const int {name} = {value};"
    return f"public const double {name} = {number(value)};"


def _switch(name: str, meaning: str, members: Mapping[int, str], texts: Mapping[int, str], otherwise: str) -> list[str]:
    cases = [
        line
        for code, member in members.items()
        for line in (f"case ErrorCode.{member}:", f"    return {literal(texts[code])};")
    ]
    return block(
        [*summary(meaning), f"public static string {name}(ErrorCode code)"],
        [*block(["switch (code)"], cases), f"return {otherwise};"],
    )

"""The generated part of the engine-free C++ core: messages, error codes, node types and the numbers of the protocol."""

from __future__ import annotations

from collections.abc import Callable

from bridge.codegen import Pages
from bridge.codegen.constants import ErrorText, Value, agreed, error_texts
from bridge.codegen.cpp_messages import message_id_file, messages_header, messages_source
from bridge.codegen.cpp_nodes import node_types_header, node_types_source
from bridge.codegen.cpp_text import boolean, comment, header, literal, number, source, whole
from bridge.codegen.source_text import block, sentence, spaced
from bridge.node import Registry

FOLDER = "Core/Generated/"


def emit_core(mark: str, registry: Registry) -> Pages:
    """Every generated file of the core, by its path below `Source/Parley`."""
    pages = {
        "ErrorCodes.h": error_codes_header(mark),
        "ErrorCodes.cpp": error_codes_source(mark),
        "MessageId.h": message_id_file(mark),
        "Messages.h": messages_header(mark),
        "Messages.cpp": messages_source(mark),
        "NodeTypes.h": node_types_header(mark),
        "NodeTypes.cpp": node_types_source(mark, registry),
        "Protocol.h": protocol_file(mark),
    }
    return {FOLDER + name: text for name, text in pages.items()}


NO_CODE = "None"
"""The enum member of code 0: nothing with a code of its own."""


def error_codes_header(mark: str) -> str:
    """The enum of all errors."""
    members = spaced(
        [
            *comment(sentence(error.text) if error.code else "The sidecar failed, or it is a fault of this side."),
            f"{member(error)} = {error.code},",
        ]
        for error in error_texts()
    )
    return header(
        mark,
        ["Core/CoreApi.h", "", "<string>", "<string_view>"],
        "Parley",
        [
            block(
                [
                    *comment("What went wrong. A newer sidecar may say a code that is not here."),
                    "enum class ErrorCode : int",
                ],
                members,
                ";",
            ),
            [
                *comment("The name of an error; its number where it is not known here."),
                "PARLEY_CORE_API std::string NameOf(ErrorCode Code);",
            ],
            [
                *comment("What it means; empty where it is not known here."),
                "PARLEY_CORE_API std::string_view TextOf(ErrorCode Code) noexcept;",
            ],
            [
                *comment("What to do about it; empty where it is not known here."),
                "PARLEY_CORE_API std::string_view RemedyOf(ErrorCode Code) noexcept;",
            ],
        ],
    )


def error_codes_source(mark: str) -> str:
    """The errors in words."""
    return source(
        mark,
        ["Core/Generated/ErrorCodes.h"],
        "Parley",
        [
            _switch("std::string NameOf(ErrorCode Code)", lambda error: f"{literal(error.name)}",
                    "std::to_string(static_cast<int>(Code))"),
            _switch("std::string_view TextOf(ErrorCode Code) noexcept", lambda error: literal(error.text),
                    "std::string_view()"),
            _switch("std::string_view RemedyOf(ErrorCode Code) noexcept", lambda error: literal(error.remedy),
                    "std::string_view()"),
        ],
    )  # fmt: skip


def member(error: ErrorText) -> str:
    """The enum member of an error."""
    return error.name if error.code else NO_CODE


def protocol_file(mark: str) -> str:
    """What both sides must agree on, and what a sidecar does unless it is set up otherwise."""
    return header(
        mark,
        ["<string_view>"],
        "Parley::Protocol",
        ([*comment(meaning), _constant(name, value)] for name, value, meaning in agreed()),
    )


def _constant(name: str, value: Value) -> str:
    if isinstance(value, bool):
        return f"inline constexpr bool {name} = {boolean(value)};"
    if isinstance(value, str):
        return f"inline constexpr std::string_view {name} = {literal(value)};"
    if isinstance(value, int):
        return f"inline constexpr int {name} = {whole(value)};"
    return f"inline constexpr double {name} = {number(value)};"


def _switch(head: str, text: Callable[[ErrorText], str], otherwise: str) -> list[str]:
    cases = [
        line for error in error_texts() for line in (f"case ErrorCode::{member(error)}:", f"    return {text(error)};")
    ]
    return block([head], [*block(["switch (Code)"], cases), f"return {otherwise};"])

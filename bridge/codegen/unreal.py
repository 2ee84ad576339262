"""The generated part of the Unreal plugin: the core in plain C++, and what Blueprints and the editor see of it."""

from __future__ import annotations

from bridge.codegen import TARGETS, Pages
from bridge.codegen.constants import error_texts
from bridge.codegen.cpp import emit_core, member
from bridge.codegen.source_text import block, sentence
from bridge.codegen.unreal_messages import messages_header, messages_source
from bridge.codegen.unreal_nodes import nodes_header, nodes_source
from bridge.codegen.unreal_text import header, source, tooltip
from bridge.node import Registry

MARK = TARGETS["unreal"].mark
OTHER_CODE = "Other"
"""The member of all codes that are not known here."""


def emit(registry: Registry) -> Pages:
    """Every generated C++ file, by its path below `Source/Parley`."""
    return {
        **emit_core(MARK, registry),
        "Public/Generated/ParleyErrorCode.h": error_code_header(),
        "Private/Generated/ParleyErrorCode.cpp": error_code_source(),
        "Public/Generated/ParleyMessages.h": messages_header(MARK),
        "Public/Generated/ParleyNodes.h": nodes_header(MARK, registry),
        "Private/Generated/ParleyMessages.cpp": messages_source(MARK),
        "Private/Generated/ParleyNodes.cpp": nodes_source(MARK, registry),
    }


def error_code_header() -> str:
    """The enum of all errors. Its members have no codes: an enum of Blueprints has 8 bits."""
    members = [
        line
        for error in error_texts()
        for line in (
            *tooltip(f"{error.code}: {sentence(error.text)}" if error.code else "Nothing with a code of its own.", 4),
            f"{member(error)},",
        )
    ]
    head = [*tooltip("What went wrong."), "UENUM(BlueprintType)", "enum class EParleyErrorCode : uint8"]
    last = [*tooltip("A code of a newer sidecar."), f"{OTHER_CODE},"]
    functions = [
        "/// The member of a code of the wire.",
        "PARLEY_API EParleyErrorCode ToParleyErrorCode(int64 Code);",
        "/// The code of a member; -1: it has none.",
        "PARLEY_API int32 ToWireCode(EParleyErrorCode Code);",
    ]
    return header(MARK, ["CoreMinimal.h"], "ParleyErrorCode", [block(head, [*members, *last], ";"), functions])


def error_code_source() -> str:
    """From codes to members and back."""
    there = [
        line
        for error in error_texts()
        for line in (f"case {error.code}:", f"    return EParleyErrorCode::{member(error)};")
    ]
    back = [
        line
        for error in error_texts()
        for line in (f"case EParleyErrorCode::{member(error)}:", f"    return {error.code};")
    ]
    return source(
        MARK,
        ["Generated/ParleyErrorCode.h"],
        [
            block(
                ["EParleyErrorCode ToParleyErrorCode(int64 Code)"],
                [*block(["switch (Code)"], [*there, "default:", f"    return EParleyErrorCode::{OTHER_CODE};"])],
            ),
            block(
                ["int32 ToWireCode(EParleyErrorCode Code)"],
                [*block(["switch (Code)"], [*back, "default:", "    return -1;"])],
            ),
        ],
    )

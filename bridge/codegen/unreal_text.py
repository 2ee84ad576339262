"""What the Unreal header tool reads: doc comments, properties with their specifiers, files with their includes."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence

from bridge.codegen.cpp_text import ASCII, WIDTH, includes_of
from bridge.codegen.source_text import spaced

PROPERTY = 'EditAnywhere, BlueprintReadWrite, Category = "Parley"'
"""What every property is: seen and changed in editors and in Blueprints."""


def tooltip(text: str, indent: int = 0) -> list[str]:
    """A doc comment that the header tool makes a tooltip of; nothing for an empty text."""
    plain = re.sub(r"`([^`]*)`", r"\1", text.strip()).translate(ASCII).replace("*/", "* /")
    if not plain:
        return []
    if "\n" not in plain and len(plain) < WIDTH - indent - 8:
        return [f"/** {plain} */"]
    lines = [line for part in plain.split("\n") for line in (textwrap.wrap(part, WIDTH - 4 - indent) or [""])]
    return ["/**", *(f" * {line}".rstrip() for line in lines), " */"]


def meta_text(text: str) -> str:
    """A text in the meta of a specifier."""
    plain = re.sub(r"`([^`]*)`", r"\1", text.strip()).translate(ASCII)
    return '"' + plain.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def property_of(meta: Mapping[str, str]) -> str:
    """UPROPERTY of a member. A key without a value is a flag."""
    entries = ", ".join(f"{key} = {value}" if value else key for key, value in meta.items())
    return f"UPROPERTY({PROPERTY}{f', meta = ({entries})' if entries else ''})"


def header(mark: str, includes: Sequence[str], generated: str, blocks: Iterable[Sequence[str]]) -> str:
    """A whole header for the header tool, which wants its own file included last."""
    lines = [f"// {mark}", "#pragma once", "", *includes_of([*includes, "", f"{generated}.generated.h"]), ""]
    return "\n".join([*lines, *spaced(blocks)]) + "\n"


def source(mark: str, includes: Sequence[str], blocks: Iterable[Sequence[str]]) -> str:
    """A whole source file."""
    return "\n".join([f"// {mark}", *includes_of(includes), "", *spaced(blocks)]) + "\n"

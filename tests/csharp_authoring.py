"""Asks the C# that editors are made of what it makes of workflows."""

from __future__ import annotations

import functools
import json
import tempfile
from pathlib import Path
from typing import Any

from tests.authoring_cases import Json, kind_sets, text
from tests.csharp_build import CSHARP, compile_csharp, core_library, run_mono

AT_ONCE = 2_000
"""Cases that one run of the program gets."""


@functools.cache
def _program() -> Path:
    library = core_library()
    return compile_csharp([CSHARP / "authoring"], library.parent / "authoring.exe", references=[library])


def ask(cases: list[Json], culture: str = "") -> list[Any]:
    """What the C# program makes of cases, one result for each; `culture` is that of its thread."""
    found: list[Any] = []
    with tempfile.TemporaryDirectory() as folder:
        given, result = Path(folder, "cases.json"), Path(folder, "results.json")
        for first in range(0, len(cases), AT_ONCE):
            given.write_bytes(text({"kinds": kind_sets(), "cases": cases[first : first + AT_ONCE]}).encode())
            run_mono(_program(), str(given), str(result), culture)
            written = result.read_bytes().decode("utf-8")
            results = json.loads(written)
            assert text(results) == written
            found += results
    assert len(found) == len(cases)
    return found

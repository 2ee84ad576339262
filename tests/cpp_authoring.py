"""Asks the C++ that Unreal's editors are made of what it makes of workflows."""

from __future__ import annotations

import functools
import json
import tempfile
from pathlib import Path
from typing import Any

from tests.authoring_cases import Json, kind_sets, text
from tests.cpp_build import Sanitizer, build, run_program


@functools.cache
def program(sanitizer: Sanitizer = "asan") -> Path:
    """tests/cpp/authoring, built."""
    return build("authoring", sanitizer=sanitizer)


def ask(cases: list[Json], locale: str = "") -> list[Any]:
    """What the C++ program makes of cases, one result for each; `locale` is that of its process."""
    with tempfile.TemporaryDirectory() as folder:
        given, result = Path(folder, "cases.json"), Path(folder, "results.json")
        given.write_bytes(text({"kinds": kind_sets(), "cases": cases}).encode())
        done = run_program(program(), "cases", str(given), str(result), *filter(None, [locale]), timeout=300.0)
        assert not done.stdout, done.stdout
        written = result.read_bytes().decode("utf-8")
    found: list[Any] = json.loads(written)
    assert text(found) == written
    assert len(found) == len(cases)
    return found

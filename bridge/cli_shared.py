"""What the command groups share: settings, catalog, and failures in one sentence."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import typer

if TYPE_CHECKING:
    from bridge.catalog import Catalog
    from bridge.config import Settings

EXIT_FAILED, EXIT_USAGE = 1, 2
_USAGE_FAULTS = (3007, 6005)

Result = TypeVar("Result")


def fail(message: str, code: int) -> NoReturn:
    """Say one sentence on stderr and leave with this exit code."""
    print(f"parley: {plain(message)}", file=sys.stderr)
    raise typer.Exit(code)


def guard(work: Callable[[], Result]) -> Result:
    """Run `work`; a ParleyError becomes one sentence, and exit code 2 where the caller got something wrong."""
    from bridge.errors import ParleyError

    try:
        return work()
    except ParleyError as fault:
        fail(str(fault), EXIT_USAGE if fault.code in _USAGE_FAULTS else EXIT_FAILED)


def settings_of(config: Path | None) -> Settings:
    """The settings that a command runs with."""
    from bridge.config import load_settings

    return guard(lambda: load_settings(config))


def catalog_of(settings: Settings) -> Catalog:
    """The catalog that these settings name."""
    from bridge.catalog import read_catalog

    return guard(lambda: read_catalog(Path(settings.catalog) if settings.catalog else None))


def plain(text: str) -> str:
    """Text of files without what would steer a terminal."""
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text)


def print_json(value: Any, *, indent: int | None = None) -> None:
    """Print JSON that whoever reads it as UTF-8 can read, whatever the encoding of stdout: elsewhere it is escaped."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    if (sys.stdout.encoding or "").lower().replace("-", "") != "utf8" or not _has_utf8(text):
        text = json.dumps(value, indent=indent)
    print(text)


def _has_utf8(text: str) -> bool:
    """Whether there is no lone surrogate in it."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True

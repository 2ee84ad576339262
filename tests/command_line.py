"""Runs `parley` as whoever types it, inside this process."""

from __future__ import annotations

from typer.testing import CliRunner

from bridge.cli import app


def parley(*arguments: str) -> tuple[int, str, str]:
    """(exit code, stdout, stderr)."""
    result = CliRunner().invoke(app, list(arguments))
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout, result.stderr

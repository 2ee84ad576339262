"""A sidecar with fake sessions as a real process: run this file, or start it from a test with `started`."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

ROOT = Path(__file__).resolve().parent.parent
COMMAND = [sys.executable, str(Path(__file__).resolve())]
PATIENCE_S = 30.0


@dataclass
class Process:
    """One sidecar and what it said when it was ready."""

    popen: subprocess.Popen[bytes]
    ready: dict[str, Any]

    @property
    def endpoint(self) -> str:
        return str(self.ready["endpoint"])

    @property
    def token(self) -> str:
        return str(self.ready["token"])

    def ended(self) -> tuple[int, str, str]:
        """Waits for its end: exit code, the rest of stdout, all of stderr."""
        out, err = self.popen.communicate(timeout=PATIENCE_S)
        return self.popen.returncode, (out or b"").decode(), (err or b"").decode("utf-8", "replace")


def environment(**more: str) -> dict[str, str]:
    """This process's environment with the package to be found in it."""
    return {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8", **more}


def launched(*arguments: str, **options: Any) -> subprocess.Popen[bytes]:
    """A sidecar that may or may not get ready."""
    options.setdefault("env", environment())
    options.setdefault("stdout", subprocess.PIPE)
    options.setdefault("stderr", subprocess.PIPE)
    return subprocess.Popen([*COMMAND, *arguments], stdin=subprocess.DEVNULL, **options)


@contextlib.contextmanager
def started(*arguments: str, **options: Any) -> Iterator[Process]:
    """A sidecar that is ready. It is gone afterwards, whatever happens."""
    with killed_at_last(launched(*arguments, **options)) as popen:
        yield Process(popen, ready_line(popen.stdout))


@contextlib.contextmanager
def killed_at_last(popen: subprocess.Popen[bytes]) -> Iterator[subprocess.Popen[bytes]]:
    with popen:
        try:
            yield popen
        finally:
            popen.kill()


def ready_line(stream: IO[bytes] | None) -> dict[str, Any]:
    assert stream is not None
    line = stream.readline()
    assert line, "it ended before it was ready"
    found: dict[str, Any] = json.loads(line)
    return found


def main() -> int:
    """Like `parley serve`; `--fail` and `--slow-start` stand for what can go wrong on the way."""
    parser = argparse.ArgumentParser()
    for name in ("endpoint", "token", "curve-key", "owner-pid", "ready-file", "idle-exit-s", "log-level", "log-folder"):
        parser.add_argument(f"--{name}")
    parser.add_argument("--no-auth", action="store_true", default=None)
    parser.add_argument("--fail", action="store_true")
    parser.add_argument("--slow-start", action="store_true")
    flags = vars(parser.parse_args())
    fail, slow = flags.pop("fail"), flags.pop("slow_start")

    from bridge.config import load_settings
    from bridge.errors import ModelNotFound
    from bridge.serve import run
    from tests.fakes import make_fake_services

    def make_services(settings: Any, counters: Any) -> Any:
        if fail:
            raise ModelNotFound("the catalog names no model 'x'")
        if slow:
            print("starting", flush=True)
            time.sleep(PATIENCE_S)
        return make_fake_services(settings, counters)

    return run(load_settings(environment={}, flags=flags), make_services)


if __name__ == "__main__":
    sys.exit(main())

"""A C# program that reads messages and nodes and writes them back, kept running for a whole file of tests."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from base64 import b64decode, b64encode
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.csharp_build import CORE, CSHARP, compile_csharp

ANSWER_TIMEOUT_S = 60.0


class Refused(Exception):
    """The C# side threw MalformedMessageException."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason


class Thrown(Exception):
    """The C# side threw something else."""


@dataclass(frozen=True, slots=True)
class Mirror:
    """The running program."""

    process: subprocess.Popen[bytes]

    def answers(self, jobs: Sequence[tuple[str, ...]]) -> list[bytes | Refused | Thrown]:
        """One answer for each job: (its name, its arguments as texts)."""
        stdin, stdout = self.process.stdin, self.process.stdout
        assert stdin is not None and stdout is not None
        lines = b"".join(_line(job) for job in jobs)

        def write() -> None:
            stdin.write(lines)
            stdin.flush()

        # What it answers meanwhile must be read, or both sides would wait with full pipes.
        writer = threading.Thread(target=write, daemon=True)
        watch = threading.Timer(ANSWER_TIMEOUT_S, self.process.kill)
        writer.start()
        watch.start()
        try:
            found = [_answer(stdout.readline()) for _ in jobs]
        finally:
            watch.cancel()
        writer.join()
        return found

    def answer(self, *job: str) -> bytes:
        """One answer. Raises Refused or Thrown."""
        (found,) = self.answers([job])
        if isinstance(found, Exception):
            raise found
        return found

    def json(self, *job: str) -> Any:
        """One answer, which is JSON."""
        return json.loads(self.answer(*job))


@contextmanager
def running(folder: Path, culture: str = "") -> Iterator[Mirror]:
    """Compiles the program together with Runtime/Core, and runs it in a culture such as tr-TR."""
    exe = folder / "MessagesProgram.exe"
    if not exe.is_file():
        # With the sources, not the library: what is internal is tested too.
        compile_csharp([CORE, CSHARP / "messages"], exe)
    process = subprocess.Popen(
        ["mono", "--debug", str(exe), *([culture] if culture else [])],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "LANG": f"{culture.replace('-', '_')}.UTF-8" if culture else "C.UTF-8"},
    )
    with process:
        yield Mirror(process)
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(ANSWER_TIMEOUT_S) == 0


def _line(job: tuple[str, ...]) -> bytes:
    name, *arguments = job
    return b"\t".join([name.encode(), *(b64encode(text.encode()) for text in arguments)]) + b"\n"


def _answer(line: bytes) -> bytes | Refused | Thrown:
    assert line.endswith(b"\n"), "the program ended"
    kind, *coded = line.rstrip(b"\n").split(b"\t")
    parts = [b64decode(part) for part in coded]
    if kind == b"ok":
        return parts[0]
    if kind == b"malformed":
        return Refused(parts[0].decode(), parts[1].decode())
    return Thrown(f"{kind.decode()}: {parts[0].decode()}")

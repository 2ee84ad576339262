"""Starts a sidecar process and ends it again: what `demo`, `chat` and the bench run, and a model for other clients."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from bridge.client import ParleyClient
from bridge.errors import ParleyError
from bridge.frozen import parley_command


class SidecarFailed(Exception):
    """The sidecar ended before it was ready. The message holds its exit code and its last lines on stderr."""

    def __init__(self, message: str, exit_code: int | None) -> None:
        super().__init__(message)
        self.exit_code = exit_code


class Sidecar:
    """A sidecar of our own: `async with Sidecar() as sidecar` starts it, and it is gone afterwards.

    It also goes when this process does. `on_stderr` gets its stderr line by line, on a thread of its own; without
    it the lines go to this process's stderr. `command` stands in for `parley serve`.
    """

    def __init__(
        self,
        *arguments: str,
        on_stderr: Callable[[str], None] | None = None,
        environment: Mapping[str, str] | None = None,
        command: Sequence[str] | None = None,
        ready_timeout_s: float = 30.0,
    ) -> None:
        self.endpoint = ""
        self.token = ""
        self.curve_public_key = ""
        """What clients need where its settings make it encrypt; empty: it does not."""
        self.pid = 0
        self._command = [*(command or [*parley_command(), "serve"]), *arguments]
        self._on_stderr = on_stderr
        self._environment = environment
        self._ready_timeout_s = ready_timeout_s
        self._last_lines: deque[str] = deque(maxlen=20)
        self._process: subprocess.Popen[str] | None = None
        self._threads: list[threading.Thread] = []

    async def __aenter__(self) -> Sidecar:
        try:
            await self.start()
        except BaseException:
            await self.stop()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.stop()

    async def start(self) -> None:
        """Starts it and waits until it is ready. Raises SidecarFailed or TimeoutError."""
        loop = asyncio.get_running_loop()
        ready: asyncio.Future[dict[str, Any] | None] = loop.create_future()
        self._process = await asyncio.to_thread(self._launch)
        self._read(self._process.stdout, _ReadyLine(loop, ready))
        self._read(self._process.stderr, self._forward)
        try:
            line = await asyncio.wait_for(ready, self._ready_timeout_s)
        except asyncio.TimeoutError:
            raise TimeoutError(f"the sidecar was not ready within {self._ready_timeout_s} s") from None
        if line is None:
            code = await asyncio.to_thread(self._process.wait)
            for thread in self._threads:
                await asyncio.to_thread(thread.join, 1.0)
            raise SidecarFailed(
                "\n".join([f"the sidecar ended with exit code {code} before it was ready", *self._last_lines]),
                code,
            )
        self.endpoint, self.token, self.pid = line["endpoint"], line["token"], line["pid"]
        self.curve_public_key = line.get("curve_public_key", "")

    @property
    def exit_code(self) -> int | None:
        """Of the process that was started; None while it runs, or before it does."""
        return None if self._process is None else self._process.poll()

    async def stop(self) -> int | None:
        """Ends it: asks, then insists, then kills. Returns its exit code. Idempotent."""
        process = self._process
        if process is None:
            return None
        if process.poll() is None and self.endpoint:
            with contextlib.suppress(ParleyError, OSError, asyncio.TimeoutError):
                client = await ParleyClient.connect(
                    self.endpoint, self.token, timeout=0.5, server_public_key=self.curve_public_key, reconnect_s=0
                )
                try:
                    await client.shutdown(timeout=0.5)
                    await self._gone_within(2.0)
                finally:
                    await client.close()
        for insist in (process.terminate, process.kill):
            if process.poll() is None:
                insist()
                await self._gone_within(2.0)
        for thread in self._threads:
            await asyncio.to_thread(thread.join, 1.0)
        return process.poll()

    async def _gone_within(self, seconds: float) -> None:
        assert self._process is not None
        with contextlib.suppress(subprocess.TimeoutExpired):
            await asyncio.to_thread(self._process.wait, seconds)

    def _launch(self) -> subprocess.Popen[str]:
        environment = dict(os.environ if self._environment is None else self._environment)
        package_root = str(Path(__file__).resolve().parent.parent)
        environment["PYTHONPATH"] = os.pathsep.join([package_root, *filter(None, [environment.get("PYTHONPATH")])])
        environment["PYTHONIOENCODING"] = "utf-8"
        # A group of its own: Ctrl-C in this terminal is ours to interpret.
        return subprocess.Popen(
            [*self._command, "--owner-pid", str(os.getpid())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
            env=environment,
            start_new_session=sys.platform != "win32",
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0)
            | getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
        )

    def _read(self, stream: IO[str] | None, take: Callable[[str], None]) -> None:
        assert stream is not None

        def read() -> None:
            with stream:
                for line in stream:
                    take(line.rstrip("\n"))
            take("")

        thread = threading.Thread(target=read, name="sidecar output", daemon=True)
        thread.start()
        self._threads.append(thread)

    def _forward(self, line: str) -> None:
        if not line:
            return
        self._last_lines.append(line)
        if self._on_stderr is not None:
            self._on_stderr(line)
        elif sys.stderr is not None:
            with contextlib.suppress(OSError, ValueError):
                print(line, file=sys.stderr)


class _ReadyLine:
    """Finds the ready line on stdout. Called by the reading thread; an empty line is the end of the stream."""

    def __init__(self, loop: asyncio.AbstractEventLoop, ready: asyncio.Future[dict[str, Any] | None]) -> None:
        self._loop = loop
        self._ready = ready

    def __call__(self, line: str) -> None:
        try:
            found = json.loads(line) if line else None
        except ValueError:
            return
        if found is not None and not (isinstance(found, dict) and found.get("event") == "ready"):
            return
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._settle, found)

    def _settle(self, found: dict[str, Any] | None) -> None:
        if not self._ready.done():
            self._ready.set_result(found)

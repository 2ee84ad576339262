"""`parley serve`: one process from its first signal handler to its exit code.

Threads beside the event loop's, because the loop may be blocked when they are needed: one waits for signals, one looks
whether the owner lives, and one ends the process when an orderly end takes too long. All are daemons and only ever ask
the loop to stop, or leave without it.
"""

from __future__ import annotations

import asyncio
import base64
import gc
import json
import logging
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from bridge import __version__
from bridge.config import Settings
from bridge.errors import InvalidValue, ParleyError
from bridge.files import write_atomically
from bridge.log import Log, set_up_logging, silence
from bridge.server import MakeSession, Server
from bridge.status import Counters
from bridge.transport import EndpointTaken, run_on_selector_loop

log = logging.getLogger(__name__)

EXIT_OK = 0
EXIT_FAILED = 1
EXIT_ENDPOINT_TAKEN = 3

STOP_WITHIN_S = 1.6
ORPHAN_STOP_WITHIN_S = 0.8
OWNER_POLL_S = 0.5
CLOSE_SERVICES_S = 0.3
WINDOWS_WRITE_TRIES = 20
COLLECT_AFTER = (20_000, 20, 10)
"""New objects before Python's collector looks at the youngest, and how often it does before it looks at older ones."""

MakeServices = Callable[[Settings, Counters], tuple[MakeSession, Callable[[], Awaitable[None]]]]
"""Makes what the sessions share: how to make one session, and how to close it all. Called on the event loop."""


def run(settings: Settings, make_services: MakeServices) -> int:
    """Serves until told to stop, and returns the exit code; the process's last act, on its main thread.

    Once a stop has begun, the process is gone within two seconds even where something hangs.
    """
    written = set_up_logging(settings)
    life = _Life(written)
    try:
        life.watch_signals()
        if settings.owner_pid:
            life.watch_owner(settings.owner_pid)
        run_on_selector_loop(_serve(settings, make_services, life))
    except EndpointTaken as fault:
        log.critical("cannot start: %s", fault)
        return EXIT_ENDPOINT_TAKEN
    except (ParleyError, OSError) as fault:
        log.critical("cannot start: %s", fault)
        return EXIT_FAILED
    finally:
        life.remove_ready_file()
        written.flush()
    return EXIT_OK


async def _serve(settings: Settings, make_services: MakeServices, life: _Life) -> None:
    asyncio.get_running_loop().set_exception_handler(_log_loop_fault)
    token = settings.token or base64.urlsafe_b64encode(os.urandom(32)).decode("ascii").rstrip("=")
    make_session: MakeSession
    counters = Counters()
    server = Server(settings, token, lambda session_id, push: make_session(session_id, push), counters=counters)
    try:
        server.bind()
        make_session, close_services = make_services(settings, counters)
        try:
            life.attach(server)
            _spare_the_collector()
            if not life.is_stopping:
                life.announce(server.endpoint, token, settings.ready_file, server.curve_public_key)
            await server.run()
        finally:
            await _within(CLOSE_SERVICES_S, close_services())
    finally:
        server.close()


def _spare_the_collector() -> None:
    """Let Python's collector leave alone what is there for good, and look less often at the rest.

    Every frame makes some objects that no cycle holds, and all frames that a client has not acknowledged are kept: with
    the collector's usual haste a fifth of the work of sending is its search among them.
    """
    gc.freeze()
    gc.set_threshold(*COLLECT_AFTER)


async def _within(seconds: float, work: Awaitable[None]) -> None:
    task = asyncio.ensure_future(work)
    done, _ = await asyncio.wait({task}, timeout=seconds)
    if not done:
        log.info("models were not closed within %s s; leaving without", seconds)
        task.cancel()
    else:
        task.result()


class _Life:
    """Why and when this process ends. Touched by every thread of this module; `_lock` guards what they share."""

    def __init__(self, written: Log) -> None:
        self._written = written
        self._lock = threading.Lock()
        self._server: Server | None = None
        self._stopping = False
        self._ready_file: Path | None = None
        self._ready_line = ""

    @property
    def is_stopping(self) -> bool:
        return self._stopping

    def stop(self, why: str, within_s: float) -> None:
        """Begins the end. From any thread."""
        with self._lock:
            if self._stopping:
                return
            self._stopping = True
            server = self._server
        threading.Thread(target=self._leave_after, args=(within_s,), name="deadline", daemon=True).start()
        log.info("stopping: %s", why, extra={"event": "stopping"})
        if server is not None:
            server.request_shutdown()

    def attach(self, server: Server) -> None:
        """Makes `server` the one to stop, at once if the stop has begun."""
        with self._lock:
            self._server = server
            stopping = self._stopping
        if stopping:
            server.request_shutdown()
        server.on_stopping = lambda: self.stop("shutdown requested", STOP_WITHIN_S)

    def watch_signals(self) -> None:
        """Stops on SIGTERM, Ctrl-C and their kin, also while the main thread is deep in a C call."""
        if threading.current_thread() is not threading.main_thread():
            return
        near, far = socket.socketpair()
        far.setblocking(False)
        caught: set[int] = set()
        for name in ("SIGTERM", "SIGINT", "SIGBREAK", "SIGHUP"):
            number = getattr(signal, name, None)
            # nohup ignores SIGHUP so that its child outlives the terminal.
            if number is None or (name == "SIGHUP" and signal.getsignal(number) is signal.SIG_IGN):
                continue
            # The handler itself has nothing to do: the byte that Python writes on arrival is what counts, and it is
            # written even while no bytecode runs.
            signal.signal(number, lambda *_: None)
            caught.add(int(number))
        signal.set_wakeup_fd(far.fileno(), warn_on_full_buffer=False)

        def wait_for_signals() -> None:
            with near, far:
                while data := near.recv(16):
                    for number in data:
                        if number in caught:
                            self.stop(signal.Signals(number).name, STOP_WITHIN_S)

        threading.Thread(target=wait_for_signals, name="signals", daemon=True).start()

    def watch_owner(self, pid: int) -> None:
        """Stops when the process `pid` is gone; another one that gets its number later does not count."""
        import psutil

        def is_alive(owner: psutil.Process) -> bool:
            try:
                # A killed process that nobody has waited for still has its number.
                return owner.is_running() and owner.status() != psutil.STATUS_ZOMBIE
            except psutil.NoSuchProcess:
                return False
            except psutil.AccessDenied:
                return psutil.pid_exists(pid)

        try:
            owner = psutil.Process(pid)
        except psutil.NoSuchProcess:
            self.stop(f"the owner, process {pid}, is gone already", ORPHAN_STOP_WITHIN_S)
            return

        def wait_for_end() -> None:
            while is_alive(owner):
                time.sleep(OWNER_POLL_S)
            self.stop(f"the owner, process {pid}, is gone", ORPHAN_STOP_WITHIN_S)

        threading.Thread(target=wait_for_end, name="owner", daemon=True).start()

    def announce(self, endpoint: str, token: str, ready_file: str, curve_public_key: str) -> None:
        """Says where this sidecar is and how to get in: on stdout, and in the ready file first if there is one."""
        ready = {"event": "ready", "endpoint": endpoint, "token": token, "pid": os.getpid()}
        if curve_public_key:
            ready["curve_public_key"] = curve_public_key
        line = json.dumps(ready) + "\n"
        if ready_file:
            path = Path(ready_file).absolute()
            write_private(path, line)
            with self._lock:
                self._ready_file, self._ready_line = path, line
        log.info(
            "ready at %s%s",
            endpoint,
            ", encrypted" if curve_public_key else "",
            extra={"event": "ready", "version": __version__, "pid": os.getpid()},
        )
        if sys.stdout is None:
            return
        try:
            sys.stdout.write(line)
            sys.stdout.flush()
        except (OSError, ValueError):
            log.warning("nobody reads the ready line: stdout is closed")
            silence(sys.stdout)

    def remove_ready_file(self) -> None:
        """Removes the ready file, unless another sidecar has put its own there since."""
        with self._lock:
            path, self._ready_file = self._ready_file, None
        if path is None:
            return
        try:
            if path.read_text(encoding="ascii") == self._ready_line:
                path.unlink()
        except (OSError, ValueError):
            log.debug("the ready file was not removed", exc_info=True)

    def _leave_after(self, seconds: float) -> None:
        time.sleep(seconds)
        self.remove_ready_file()
        log.warning("leaving without an orderly end: it took more than %s s", seconds)
        self._written.flush(0.05)
        os._exit(EXIT_OK)


def write_private(path: Path, text: str) -> None:
    """Writes ASCII text that only this user may read; readers see the old file or the whole new one."""
    # Windows refuses while somebody has the old file open; readers of so small a file are soon done.
    tries = WINDOWS_WRITE_TRIES if sys.platform == "win32" else 1
    for attempt in range(1, tries + 1):
        try:
            write_atomically(path, text.encode("ascii"), mode=0o600, follow_links=False)
            return
        except OSError as fault:
            if attempt == tries or not isinstance(fault, PermissionError):
                raise InvalidValue(f"cannot write the ready file {path}: {fault.strerror}") from None
            time.sleep(0.02)


def _log_loop_fault(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """What the loop itself would say shows tasks and arguments with all they hold, and so what a player said."""
    what = str(context.get("message", "a fault on the event loop")).partition("(")[0]
    log.error("%s", what, exc_info=context.get("exception"))

"""The log of a sidecar: lines for people on stderr, and events for programs in files that are kept small.

Each of the two has a thread of its own: nothing that is logged fails or waits, and a console that nobody reads holds
up no file. What players and characters say is in neither; messages of exceptions may quote it and stay out too.
"""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import queue
import re
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Generic, TextIO, TypeVar

import orjson

from bridge.config import Settings
from bridge.wording import traceback_of

log = logging.getLogger(__name__)

LINES_WAITING = 10_000
"""Of the console and of the file, each; what comes then is left out."""
FLUSH_S = 0.2
RETRY_S = 10.0
"""Between two tries to write a file that could not be written."""
DEAD_FILES = 200
"""Log files of processes that are gone; older ones are removed whatever their age."""
MAX_MESSAGE = 16_384
MAX_VALUE = 1_024

_FILE = re.compile(r"parley-(\d{1,10})(?:\.\d+)?\.jsonl")
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_OWN_FIELDS = frozenset(logging.makeLogRecord({}).__dict__) | {"message", "asctime", "taskName"}
Entry = TypeVar("Entry")


class Log:
    """Where this process's log goes. Threading: safe from any thread."""

    def __init__(self, *handlers: Queued[Any]) -> None:
        self._handlers = handlers

    def flush(self, timeout_s: float = FLUSH_S) -> None:
        """Waits until what was logged is written, but no longer than `timeout_s`."""
        until = time.monotonic() + timeout_s
        for written in [handler.mark() for handler in self._handlers]:
            written.wait(max(until - time.monotonic(), 0.0))


def set_up_logging(settings: Settings) -> Log:
    """Sends the log of this process where the settings say: ours from `log_level` on, other libraries' warnings."""
    handlers: list[Queued[Any]] = [ConsoleLines()]
    if settings.log_folder:
        handlers.append(
            EventLines(
                EventFile(
                    Path(settings.log_folder),
                    max_bytes=settings.log_file_bytes,
                    max_files=settings.log_files,
                    keep_days=settings.log_keep_days,
                )
            )
        )
    logging.basicConfig(handlers=handlers, level=logging.WARNING, force=True)
    logging.getLogger("bridge").setLevel(settings.log_level.upper())
    threading.excepthook = _log_thread_fault
    return Log(*handlers)


def _log_thread_fault(args: threading.ExceptHookArgs) -> None:
    """What Python would print by itself goes to stderr only, and quotes."""
    name = args.thread.name if args.thread is not None else "(gone)"
    log.error("the thread %s ended by a fault", name, exc_info=args.exc_value)


class Queued(logging.Handler, ABC, Generic[Entry]):
    """Hands what is logged to a thread of its own, which writes it."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._entries: queue.Queue[Entry | threading.Event] = queue.Queue(LINES_WAITING)
        self._left_out = 0
        threading.Thread(target=self._run, name=name, daemon=True).start()

    def emit(self, record: logging.LogRecord) -> None:
        try:
            entry = self.prepare(record)
        except Exception as fault:  # whatever the arguments of a log line do when they are made text
            entry = self.prepare(_unreadable(record, fault))
        try:
            self._entries.put_nowait(entry)
        except queue.Full:
            self._left_out += 1

    def mark(self) -> threading.Event:
        """Set when all that was logged before is written."""
        written = threading.Event()
        try:
            self._entries.put_nowait(written)
        except queue.Full:
            written.set()
        return written

    @abstractmethod
    def prepare(self, record: logging.LogRecord) -> Entry:
        """What the thread needs of a record. Called where it is logged."""

    @abstractmethod
    def write(self, entry: Entry, left_out: int) -> int:
        """Writes an entry; `left_out` are missing before it. Returns how many are missing then. Never raises."""

    def _run(self) -> None:
        missing = 0
        while True:
            entry = self._entries.get()
            if isinstance(entry, threading.Event):
                entry.set()
                continue
            more, self._left_out = self._left_out, 0
            missing = self.write(entry, missing + more)


# ---- for people ----------------------------------------------------------------------------------------------


class ConsoleLines(Queued[str]):
    """Lines on stderr, whatever its encoding (Python's stderr escapes what that lacks) and whoever reads it."""

    def __init__(self) -> None:
        self._lines = _Lines("%(asctime)s.%(msecs)03d %(levelname)s %(name)s: %(message)s", "%H:%M:%S")
        super().__init__("log")

    def prepare(self, record: logging.LogRecord) -> str:
        return self._lines.format(record)

    def write(self, entry: str, left_out: int) -> int:
        if left_out:
            entry += f"\n({left_out} log lines were left out: nobody read them)"
        stream = sys.stderr
        if stream is not None:
            try:
                stream.write(entry + "\n")
                stream.flush()
            except (OSError, ValueError):
                silence(stream)
        return 0


class _Lines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        # Another handler may have left its own form of the exception in the record.
        record = logging.makeLogRecord({**record.__dict__, "exc_text": None})
        return super().format(record)

    def formatMessage(self, record: logging.LogRecord) -> str:
        record.message = _CONTROLS.sub(lambda found: f"\\x{ord(found[0]):02x}", message_of(record))
        return super().formatMessage(record).replace("\n", "\n    ")

    def formatException(self, ei: Any) -> str:
        return traceback_of(ei[1])


def silence(stream: TextIO) -> None:
    """Lets a stream that nobody reads lead nowhere: what is left in its buffer would fail again at exit."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


# ---- for programs --------------------------------------------------------------------------------------------


class EventLines(Queued[dict[str, Any]]):
    """A line of JSON for each event, in a file that rotates."""

    def __init__(self, file: EventFile) -> None:
        self._file = file
        super().__init__("log file")

    def prepare(self, record: logging.LogRecord) -> dict[str, Any]:
        return event_of(record)

    def write(self, entry: dict[str, Any], left_out: int) -> int:
        if left_out:
            told = logging.makeLogRecord(
                {
                    "name": __name__,
                    "levelname": "WARNING",
                    "msg": f"{left_out} events are missing here",
                    "event": "left_out",
                    "left_out": left_out,
                }
            )
            if not self._file.write(line_of(event_of(told))):
                return left_out + 1
        return 0 if self._file.write(line_of(entry)) else 1


def event_of(record: logging.LogRecord) -> dict[str, Any]:
    """A log record in plain values: what `extra=` gave it stands beside the fields that every event has."""
    time_of = datetime.fromtimestamp(record.created, timezone.utc)
    event: dict[str, Any] = {
        "time": time_of.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "level": record.levelname.lower(),
        "logger": record.name,
        "message": _cut(message_of(record), MAX_MESSAGE),
    }
    for name, value in record.__dict__.items():
        if name not in _OWN_FIELDS and value is not None and not (isinstance(value, str) and not value):
            event.setdefault(name, _plain(value))
    if record.exc_info and record.exc_info[1] is not None:
        event["exception"] = _plain_text(traceback_of(record.exc_info[1])[-MAX_MESSAGE:])
    return event


def line_of(event: dict[str, Any]) -> bytes:
    """An event as a line of JSON."""
    return orjson.dumps(event, option=orjson.OPT_APPEND_NEWLINE)


class EventFile:
    """`parley-<pid>.jsonl` in a folder, of at most `max_bytes`; older ones are `parley-<pid>.1.jsonl` and so on.

    Says once that it cannot be written, and tries again every now and then. Threading: used by one thread.
    """

    def __init__(
        self,
        folder: Path,
        *,
        max_bytes: int,
        max_files: int,
        keep_days: int,
        pid: int | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`keep_days`: what other processes left is removed after so long, once they are gone."""
        self._folder = folder
        self._max_bytes = max_bytes
        self._max_files = max_files
        self._keep_days = keep_days
        self._pid = os.getpid() if pid is None else pid
        self._clock = clock
        self._descriptor = -1
        self._size = 0
        self._is_ours = False
        self._complained = False
        self._retry_at = clock()

    def write(self, line: bytes) -> bool:
        """Writes whole or not at all; whether it did. Never raises."""
        if self._descriptor < 0 and self._clock() < self._retry_at:
            return False
        try:
            self._open()
            if self._size and self._size + len(line) > self._max_bytes:
                self._rotate()
            self._append(line)
        except (OSError, ValueError) as fault:  # ValueError: a path that cannot be encoded
            self.close()
            self._retry_at = self._clock() + RETRY_S
            self._complain(fault)
            return False
        return True

    def close(self) -> None:
        """Lets the file go; the next write takes it up again."""
        if self._descriptor >= 0:
            with contextlib.suppress(OSError):
                os.close(self._descriptor)
            self._descriptor = -1

    def _path(self, number: int = 0) -> Path:
        return self._folder / f"parley-{self._pid}{f'.{number}' if number else ''}.jsonl"

    def _open(self) -> None:
        if self._descriptor >= 0:
            return
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
        if not self._is_ours:
            # A process that is gone had the same number, or this is a link to somewhere else.
            if os.path.lexists(self._path()):
                self._shift()
            flags |= os.O_EXCL
        self._descriptor = os.open(self._path(), flags, 0o600)
        self._size = os.fstat(self._descriptor).st_size
        if not self._is_ours:
            self._is_ours = True
            sweep(self._folder, self._keep_days * 86_400.0)

    def _rotate(self) -> None:
        self.close()
        self._shift()
        self._open()

    def _shift(self) -> None:
        """Counts the numbers of all files up by one; the last one goes."""
        last = self._max_files - 1
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._path(last))
        for number in range(last, 0, -1):
            with contextlib.suppress(FileNotFoundError):
                os.replace(self._path(number - 1), self._path(number))

    def _append(self, line: bytes) -> None:
        rest = memoryview(line)
        try:
            while rest:
                written = os.write(self._descriptor, rest)
                if not written:
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                rest = rest[written:]
        except OSError:
            # Half a line would spoil the next one.
            with contextlib.suppress(OSError):
                os.ftruncate(self._descriptor, self._size)
            raise
        self._size += len(line)

    def _complain(self, fault: Exception) -> None:
        if self._complained:
            return
        self._complained = True
        cause = (fault.strerror if isinstance(fault, OSError) else "") or type(fault).__name__
        log.warning(
            "the log cannot be written to %s: %s; the sidecar goes on without and tries again",
            self._folder,
            cause,
            extra={"event": "log_not_written"},
        )


def sweep(folder: Path, keep_s: float) -> None:
    """Removes log files that processes left which are gone: those that are old, and the oldest where there are many."""
    now = time.time()
    dead = []
    for path, pid, changed in _log_files(folder):
        if not _may_write(pid, changed):
            dead.append((changed, path))
    dead.sort(reverse=True)
    for rank, (changed, path) in enumerate(dead):
        if rank >= DEAD_FILES or now - changed > keep_s:
            with contextlib.suppress(OSError):
                path.unlink()


def _log_files(folder: Path) -> Iterator[tuple[Path, int, float]]:
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            found = _FILE.fullmatch(entry.name)
            if found:
                with contextlib.suppress(OSError):
                    yield folder / entry.name, int(found[1]), entry.stat(follow_symlinks=False).st_mtime


def _may_write(pid: int, changed: float) -> bool:
    """Whether the process lives that wrote a file. Another one that got its number began after the last change."""
    import psutil

    try:
        return bool(psutil.Process(pid).create_time() <= changed + 2.0)
    except psutil.NoSuchProcess:
        return False
    except (psutil.Error, OSError, OverflowError):
        return True


# ---- what is said --------------------------------------------------------------------------------------------


def message_of(record: logging.LogRecord) -> str:
    """The message of a log record."""
    text = record.getMessage()
    # asyncio adds lines that show tasks with all they hold.
    return text.partition("\n")[0] if record.name == "asyncio" else text


def _unreadable(record: logging.LogRecord, fault: Exception) -> logging.LogRecord:
    return logging.makeLogRecord(
        {
            "name": record.name,
            "levelname": record.levelname,
            "created": record.created,
            "msg": f"a log line of {record.name} cannot be formatted: {type(fault).__name__}",
        }
    )


def _plain(value: object) -> Any:
    if isinstance(value, bool | float) or (isinstance(value, int) and -(2**53) <= value <= 2**53):
        return value
    return _cut(value if isinstance(value, str) else str(value), MAX_VALUE)


def _cut(text: str, most: int) -> str:
    return _plain_text(text if len(text) <= most else text[: most - 1] + "…")


def _plain_text(text: str) -> str:
    """JSON has no lone surrogates."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")

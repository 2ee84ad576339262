"""Writing a file so that it is there whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO

if sys.platform != "win32":
    import fcntl

_PREFIX, _SUFFIX = ".parley-", ".tmp"
_YOUNG_S = 60
_STALE_S = 3600


def write_atomically(path: Path, data: bytes, *, mode: int | None = None, follow_links: bool = True) -> None:
    """Replace `path` by `data` in one step. Raises OSError; the old file is then intact.

    `mode` None keeps the permissions of the file that was there. A symbolic link stays and what it leads to is
    replaced; with `follow_links` False the link itself is, so that it cannot name a file for somebody else to lose.
    """
    with written_atomically(path, mode=mode, follow_links=follow_links) as out:
        out.write(data)


@contextlib.contextmanager
def written_atomically(path: Path, *, mode: int | None = None, follow_links: bool = True) -> Iterator[BinaryIO]:
    """The same for what comes piece by piece: `path` is replaced at the end of the block, unless that raises."""
    target = Path(os.path.realpath(path)) if follow_links else path
    if mode is None and target.exists():
        mode = target.stat().st_mode & 0o777
    sweep(target.parent.glob(f"{_PREFIX}????????{_SUFFIX}"))
    descriptor, name = tempfile.mkstemp(prefix=_PREFIX, suffix=_SUFFIX, dir=target.parent)
    try:
        with os.fdopen(descriptor, "wb") as out:
            hold(descriptor)
            yield out
            out.flush()
            if sys.platform != "win32":
                os.replace(_with_mode(name, mode), target)
        if sys.platform == "win32":  # does not move what is open
            os.replace(_with_mode(name, mode), target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)
        raise


def open_file(path: Path) -> BufferedReader:
    """Open a file to be read. Raises OSError, also for a pipe or a device: reading one may never end."""
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
    descriptor = os.open(path, flags)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "it is no regular file", str(path))
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def read_file(path: Path, max_bytes: int) -> bytes | None:
    """The content of a file; None for one of more than `max_bytes`. Raises OSError as `open_file` does."""
    with open_file(path) as file:
        if os.fstat(file.fileno()).st_size > max_bytes:
            return None
        data = file.read(max_bytes + 1)  # it may grow meanwhile
    return data if len(data) <= max_bytes else None


def hold(descriptor: int) -> None:
    """Mark an open temporary file as being written, until it is closed or the process ends: `sweep` leaves it alone."""
    if sys.platform != "win32":
        with contextlib.suppress(OSError):  # not every file system has locks
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def sweep(leftovers: Iterable[Path]) -> None:
    """Remove those temporary files whose writers were killed. Never raises OSError."""
    with contextlib.suppress(OSError):
        for path in leftovers:
            with contextlib.suppress(OSError):  # Windows removes nothing that is open
                if _is_abandoned(path):
                    path.unlink()


def _is_abandoned(path: Path) -> bool:
    found = path.lstat()
    age = time.time() - found.st_mtime
    if not stat.S_ISREG(found.st_mode):
        return False
    if age < _YOUNG_S and (sys.platform == "win32" or not found.st_size):
        return False  # it may be about to be held, or to be moved
    if sys.platform != "win32":
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:  # no locks here
            return age > _STALE_S
        finally:
            os.close(descriptor)
    return True


def _with_mode(name: str, mode: int | None) -> str:
    os.chmod(name, 0o644 if mode is None else mode)
    return name

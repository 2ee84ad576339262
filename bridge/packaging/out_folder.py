"""The folder that something is packaged into: made beside its place, then moved there; strangers' are left alone."""

from __future__ import annotations

import contextlib
import errno
import platform
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bridge.packaging import PackagingFailed


@contextlib.contextmanager
def replacing(out: Path, marker: str) -> Iterator[Path]:
    """A new folder beside `out` to write to; it takes its place at the end, and is gone where there is an error.

    What is at `out` is replaced only where it is empty, or has the file `marker` in it: then it was made here. Raises
    PackagingFailed, also for a disk that is full while the folder is written.
    """
    out = out.absolute()
    refuse_strangers(out, marker)
    made: list[Path] = []
    with failing_in_words(f"write {out}"):
        _missing_parents(out, made)
        work = Path(tempfile.mkdtemp(prefix=f".{out.name}.", dir=out.parent))
    try:
        with failing_in_words(f"write {out}"):
            yield work
            refuse_strangers(out, marker)
            work.chmod(0o755)
            old = work.with_name(f"{work.name}.old")
            if out.exists():
                out.rename(old)
            try:
                work.rename(out)
            except OSError:
                if old.exists():
                    old.rename(out)
                raise
            shutil.rmtree(old, ignore_errors=True)
    except BaseException:
        shutil.rmtree(work, ignore_errors=True)
        for folder in reversed(made):
            with contextlib.suppress(OSError):
                folder.rmdir()
        raise


@contextlib.contextmanager
def failing_in_words(what: str) -> Iterator[None]:
    """An OSError becomes a PackagingFailed that says what could not be done, and on which file."""
    try:
        yield
    except OSError as fault:
        where = f" ({fault.filename})" if fault.filename else ""
        full = "; free some space, or name another disk" if fault.errno in (errno.ENOSPC, errno.EDQUOT) else ""
        raise PackagingFailed(f"cannot {what}: {fault.strerror or fault}{where}{full}") from fault


def refuse_strangers(out: Path, marker: str) -> None:
    """Raises PackagingFailed where `out` is not there to be written to, or replaced."""
    if out.is_symlink() or (out.exists() and not out.is_dir()):
        raise PackagingFailed(f"{out} is not a folder; name one that is not there yet")
    with failing_in_words(f"look into {out}"):
        if out.is_dir() and not (out / marker).is_file() and any(out.iterdir()):
            raise PackagingFailed(
                f"{out} holds files that Parley did not put there ({marker} is missing); name an empty or new folder"
            )


def _missing_parents(out: Path, made: list[Path]) -> None:
    for folder in reversed([parent for parent in out.parents if not parent.exists()]):
        folder.mkdir()
        made.append(folder)


def platform_name() -> str:
    """The machine that runs this, as folders of sidecars are named: win-x64, macos-arm64, linux-x64, …"""
    system = {"win32": "win", "darwin": "macos"}.get(sys.platform, "linux")
    machine = platform.machine().lower()
    return f"{system}-{ {'amd64': 'x64', 'x86_64': 'x64', 'aarch64': 'arm64'}.get(machine, machine) }"

"""Downloading models: which files are fetched, whether there is room, and who waits for them."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import hashlib
import logging
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from bridge.catalog import CatalogEntry
from bridge.config import Settings
from bridge.engines.gguf_file import read_gguf
from bridge.errors import (
    DownloadActive,
    DownloadFailed,
    DownloadNotAvailable,
    InsufficientDiskSpace,
    InvalidValue,
    LimitExceeded,
    ParleyError,
)
from bridge.hub import Hub, Part, Remote, Stop, Stopped
from bridge.model_files import (
    Report,
    hash_into,
    is_file,
    is_whole,
    lock_of,
    model_paths,
    models_folder,
    part_of,
    record_path,
    size_of,
    write_record,
)
from bridge.wording import words_of

log = logging.getLogger(__name__)

ROOM_TO_SPARE = 512 * 2**20
"""Bytes that a download leaves free on the disk."""

PROGRESS_S = 0.1
"""Least seconds between two reports of progress."""

clock = time.monotonic

CLOSE_S = 1.0
"""Longest wait for transfers to stop when the sidecar ends."""


class _Meter:
    """Adds up the bytes of a whole download and reports them, not too often."""

    def __init__(self, report: Report, total: int, done: int) -> None:
        self._report = report
        self._total = total
        self._last = 0.0
        self.done = done

    def add(self, size: int) -> None:
        self.done += size
        now = clock()
        if now - self._last >= PROGRESS_S and self.done < self._total:
            self._last = now
            self._report("download", self.done, self._total, "bytes")

    def finish(self) -> None:
        """The last report, which always comes."""
        self._report("download", self._total, self._total, "bytes")


def download_model(entry: CatalogEntry, settings: Settings, report: Report, stop: Stop) -> None:
    """Bring the model's files that are not whole into the models folder. Blocking.

    A file appears under its name only when it is whole and checked; until then it is kept beside it, to be gone on
    with. Raises Stopped, DownloadFailed, DownloadNotAvailable, DownloadActive, InsufficientDiskSpace, LimitExceeded.
    """
    source = entry.source
    if not source.huggingface:
        raise DownloadNotAvailable(f"model '{entry.name}' is not downloaded: it comes from {source or 'no file'}")
    hub = Hub(entry, settings, stop)
    folder = models_folder(settings)
    targets = dict(zip(source.files, model_paths(entry, settings), strict=True))
    try:
        with contextlib.ExitStack() as locks:
            for target in targets.values():
                target.parent.mkdir(parents=True, exist_ok=True)
                locks.enter_context(locked(target))
            remotes: list[Remote] = []
            for name, target in targets.items():
                if not is_whole(target):
                    remote = hub.look_up(name, target, remotes[0].record.commit if remotes else "")
                    if not _adopted(remote, stop):
                        remotes.append(remote)
            meter = _meter(entry, remotes, folder, settings, report)
            for remote in remotes:
                part = Part(remote, stop)
                try:
                    hub.fetch(remote, part, meter.add)
                    part.close()
                    _check(hub, remote, part, is_gguf=remote.name.endswith(".gguf") and remote.name == source.files[0])
                finally:
                    part.close()
                _put_in_place(remote, part)
            meter.finish()
    except OSError as fault:
        if fault.errno in (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)):
            raise InsufficientDiskSpace(
                f"the disk of {folder} is full; what is there of model '{entry.name}' is kept, and the next download "
                "goes on from there"
            ) from None
        raise DownloadFailed(f"model '{entry.name}' cannot be written to {folder}: {fault.strerror}") from None
    except (ParleyError, Stopped):
        raise
    except Exception as fault:  # what a hub answers may be anything at all
        log.exception("the download of model %s failed", entry.name)
        raise DownloadFailed(
            f"the download of model '{entry.name}' failed ({words_of(fault)}); try again, or get the file by other "
            "means and name its path in the catalog"
        ) from None


def remove_files(entry: CatalogEntry, settings: Settings) -> int:
    """Remove what is there of a downloaded model, whole or not; returns the bytes. Blocking.

    Raises DownloadActive where a process downloads it, InvalidValue where the system does not let the files go.
    """
    freed = 0
    try:
        for target in model_paths(entry, settings):
            if not target.parent.is_dir():
                continue
            with locked(target):
                for path in (target, part_of(target), record_path(target), record_path(part_of(target))):
                    size = size_of(path)
                    path.unlink(missing_ok=True)
                    freed += size if path in (target, part_of(target)) else 0
            with contextlib.suppress(OSError):
                target.parent.rmdir()  # where nothing else is in it
    except OSError as fault:
        raise InvalidValue(f"the files of model '{entry.name}' cannot be removed: {fault.strerror}") from None
    return freed


@contextlib.contextmanager
def locked(target: Path) -> Iterator[None]:
    """Hold the lock of a downloaded file, which ends with the process. Raises DownloadActive where another holds it."""
    from filelock import FileLock, Timeout

    lock = FileLock(str(lock_of(target)), timeout=0)
    try:
        lock.acquire()
    except Timeout:
        raise DownloadActive(f"{target.name} is being downloaded already, perhaps by another process") from None
    try:
        yield
    finally:
        # Windows does not remove what is open.
        with contextlib.suppress(OSError):
            lock_of(target).unlink()
        lock.release()
        with contextlib.suppress(OSError):
            if os.name == "nt":
                lock_of(target).unlink()


def is_downloaded_elsewhere(entry: CatalogEntry, settings: Settings) -> bool:
    """Whether another process holds the lock of one of the model's files. Blocking, for a moment."""
    from filelock import FileLock, Timeout

    for target in model_paths(entry, settings):
        if not is_file(lock_of(target)):  # a look must not make one
            continue
        lock = FileLock(str(lock_of(target)), timeout=0)
        try:
            lock.acquire()
        except Timeout:
            return True
        except OSError:
            continue
        lock.release()
    return False


def _adopted(remote: Remote, stop: Stop) -> bool:
    """Whether the very file is there already; then it is taken for downloaded."""
    wanted = remote.record.sha256
    if not wanted or size_of(remote.target) != remote.record.size:
        return False
    digest = hashlib.sha256()
    hash_into(digest, remote.target, lambda _: stop.check())
    if digest.hexdigest() != wanted:
        return False
    write_record(remote.target, remote.record)
    return True


def _meter(entry: CatalogEntry, remotes: list[Remote], folder: Path, settings: Settings, report: Report) -> _Meter:
    """Counts the bytes of the whole download, after a look at whether it may be made and has room."""
    total = sum(remote.record.size for remote in remotes)
    there = sum(min(size_of(part_of(remote.target)), remote.record.size) for remote in remotes)
    if total > settings.max_download_bytes:
        raise LimitExceeded(
            f"model '{entry.name}' has {total} bytes; {settings.max_download_bytes} are allowed (max_download_bytes)"
        )
    free = shutil.disk_usage(folder).free
    if remotes and free < total - there + ROOM_TO_SPARE:
        raise InsufficientDiskSpace(
            f"model '{entry.name}' needs {(total - there) >> 20} MiB more and {ROOM_TO_SPARE >> 20} MiB to spare; "
            f"{folder} has {free >> 20} MiB"
        )
    return _Meter(report, total, there)


def _check(hub: Hub, remote: Remote, part: Part, *, is_gguf: bool) -> None:
    if remote.record.sha256 and part.sha256 != remote.record.sha256:
        hub.refuse(remote, part, f"its sha256 is {part.sha256}, not {remote.record.sha256}")
    if is_gguf:
        try:
            read_gguf(part.path)
        except ParleyError as fault:
            hub.refuse(remote, part, str(fault))


def _put_in_place(remote: Remote, part: Part) -> None:
    # A record is never beside a file that it is not about: the process may be killed between any two lines.
    remote.target.unlink(missing_ok=True)
    write_record(remote.target, remote.record.model_copy(update={"sha256": part.sha256}))
    os.replace(part.path, remote.target)
    record_path(part.path).unlink(missing_ok=True)


# ---- who waits for it ----------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Running:
    stop: Stop
    done: asyncio.Future[None]
    """Settled for those who wait: at once when it is cancelled."""
    ended: asyncio.Future[None]
    """Settled when the thread is over."""
    reports: list[Report] = field(default_factory=list)


Transfer = Callable[[CatalogEntry, Settings, Report, Stop], None]


class Downloads:
    """The downloads of one process: one for each model, stopped when nobody waits for it any more.

    Threading: used on the event loop only; each transfer has a thread, which does not keep the process alive.
    """

    def __init__(self, settings: Settings, transfer: Transfer = download_model) -> None:
        self._settings = settings
        self._transfer = transfer
        self._running: dict[str, _Running] = {}
        self._cancels: dict[str, int] = {}
        """How often each model's download was cancelled."""

    def is_active(self, name: str) -> bool:
        """Whether the model is being downloaded. One that was cancelled is not, though its thread may not know yet."""
        running = self._running.get(name)
        return running is not None and not running.stop.is_set

    def is_stopping(self, name: str) -> bool:
        """Whether a transfer that was cancelled still comes to its stop."""
        return name in self._running and not self.is_active(name)

    async def stopped(self, name: str) -> None:
        """Wait for a transfer that comes to its stop."""
        while self.is_stopping(name):
            await asyncio.wait({self._running[name].ended})

    async def start(self, entry: CatalogEntry, report: Report) -> None:
        """Download the model. Raises DownloadActive where that is going on, and what `download_model` raises."""
        await self._may_begin(entry.name)
        if entry.name in self._running:
            raise DownloadActive(f"model '{entry.name}' is being downloaded already; its end shows in ListModels")
        await self._wait(self._begin(entry), report)

    async def join(self, entry: CatalogEntry, report: Report) -> None:
        """The same, but waits for a download that is going on."""
        await self._may_begin(entry.name)
        await self._wait(self._running.get(entry.name) or self._begin(entry), report)

    def cancel(self, name: str) -> None:
        """Stop a model's download for all who wait for it: they get DownloadFailed. Without one, nothing happens."""
        self._cancels[name] = self._cancels.get(name, 0) + 1
        running = self._running.get(name)
        if running is not None:
            running.stop.set()
            _settle(running.done, cancelled(name))

    async def close(self) -> None:
        """Stop them all; what is there is kept."""
        ended = [running.ended for running in self._running.values()]
        for name in list(self._running):
            self.cancel(name)
        if ended:
            await asyncio.wait(ended, timeout=CLOSE_S)

    async def _may_begin(self, name: str) -> None:
        """Wait for a transfer that comes to its stop. Raises DownloadFailed where that is cancelled meanwhile."""
        before = self._cancels.get(name, 0)
        while self.is_stopping(name):
            await asyncio.wait({self._running[name].ended})
            if self._cancels.get(name, 0) != before:
                raise cancelled(name)

    def _begin(self, entry: CatalogEntry) -> _Running:
        loop = asyncio.get_running_loop()
        running = _Running(Stop(), loop.create_future(), loop.create_future())
        # Not every failure finds somebody who still waits.
        running.done.add_done_callback(lambda done: done.cancelled() or done.exception())
        self._running[entry.name] = running

        def spread(task: str, done: int, total: int, unit: str) -> None:
            for report in running.reports:
                report(task, done, total, unit)

        def finish(fault: Exception | None) -> None:
            del self._running[entry.name]
            _settle(running.done, fault)
            _settle(running.ended, None)
            told = {} if fault is None else {"code": getattr(fault, "code", 0), "error": type(fault).__name__}
            log.info(
                "download of model %s: %s",
                entry.name,
                fault or "done",
                extra={
                    "event": "download_ended",
                    "model": entry.name,
                    "duration_ms": round((clock() - began) * 1000, 3),
                    **told,
                },
            )

        def tell(task: str, done: int, total: int, unit: str) -> None:
            loop.call_soon_threadsafe(spread, task, done, total, unit)

        def work() -> None:
            fault: Exception | None = None
            try:
                self._transfer(entry, self._settings, tell, running.stop)
            except Stopped:
                fault = cancelled(entry.name)
            except Exception as error:  # passed on to whoever waits, whatever it is
                fault = error
            with contextlib.suppress(RuntimeError):  # the loop may be gone
                loop.call_soon_threadsafe(finish, fault)

        began = clock()
        log.info(
            "downloading model %s from %s",
            entry.name,
            entry.source,
            extra={"event": "download_started", "model": entry.name},
        )
        threading.Thread(target=work, name="parley-download", daemon=True).start()
        return running

    async def _wait(self, running: _Running, report: Report) -> None:
        running.reports.append(report)
        try:
            await asyncio.shield(running.done)
        finally:
            running.reports.remove(report)
            if not running.reports and not running.done.done():
                running.stop.set()


def cancelled(name: str) -> DownloadFailed:
    """What those get who wait for a download that somebody cancels."""
    return DownloadFailed(
        f"the download of model '{name}' was cancelled; what is there is kept, and the next download goes on from there"
    )


def _settle(future: asyncio.Future[None], fault: Exception | None) -> None:
    if future.done():
        return
    if fault is None:
        future.set_result(None)
    else:
        future.set_exception(fault)

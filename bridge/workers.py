"""Where blocking work is done beside the event loop: bounded pools of threads, so that no kind of work starves another.

Each pool has its own threads, and one session may use only some of them at a time: whoever asks for much waits for
himself. Threading: the coroutines are used on an event loop; the pools belong to the process.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypeVar

from bridge.wording import words_of

T = TypeVar("T")

session: ContextVar[str] = ContextVar("parley_session", default="")
"""The session that work is done for; empty: nobody's, and without a share."""


@dataclass(slots=True)
class _Share:
    """What one session uses of a pool."""

    free: asyncio.Semaphore
    users: int = 0


def _not_ending_the_process(work: Callable[..., T], *args: Any, **kwargs: Any) -> T:
    """`work(*args, **kwargs)`; a library that wants to end the process there has failed, and nothing else."""
    try:
        return work(*args, **kwargs)
    except (SystemExit, KeyboardInterrupt) as fault:
        raise RuntimeError(words_of(fault)) from fault


class Pool:
    """Threads for one kind of work; one session has at most `share` of them at a time."""

    def __init__(self, name: str, threads: int, share: int) -> None:
        self.threads = threads
        self.share = share
        self._name = name
        self._executor: ThreadPoolExecutor | None = None
        self._shares: dict[str, _Share] = {}

    async def run(self, work: Callable[..., T], *args: Any, **kwargs: Any) -> T:
        """`work(*args, **kwargs)` in one of the threads; as `asyncio.to_thread`.

        Cancelling the caller takes back what has not begun; what has begun keeps its thread until it returns.
        """
        loop = asyncio.get_running_loop()
        call = functools.partial(_not_ending_the_process, work, *args, **kwargs)
        who = session.get()
        if not who:
            return await loop.run_in_executor(self._threads(), call)
        share = self._shares.setdefault(who, _Share(asyncio.Semaphore(self.share)))
        share.users += 1
        try:
            await share.free.acquire()
        except BaseException:
            self._leave(who, share)
            raise

        def give_back() -> None:
            share.free.release()
            self._leave(who, share)

        def done(_: Future[T]) -> None:
            with contextlib.suppress(RuntimeError):  # the event loop may be closed by now
                loop.call_soon_threadsafe(give_back)

        future = self._threads().submit(call)
        future.add_done_callback(done)
        try:
            return await asyncio.wrap_future(future)
        finally:
            del future  # or its fault, whose traceback has this frame, would keep itself and what the work was given

    def _threads(self) -> ThreadPoolExecutor:
        if self._executor is None:
            self._executor = ThreadPoolExecutor(self.threads, f"parley-{self._name}")
        return self._executor

    def _leave(self, who: str, share: _Share) -> None:
        share.users -= 1
        if not share.users and self._shares.get(who) is share:
            del self._shares[who]


_LOADS = Pool("load", threads=8, share=4)
_BUILDS = Pool("build", threads=4, share=2)
_SEARCHES = Pool("search", threads=6, share=2)
_REQUESTS = Pool("request", threads=12, share=4)


async def load(work: Callable[..., T], *args: Any, **kwargs: Any) -> T:
    """Models that are loaded, freed or removed: minutes at worst."""
    return await _LOADS.run(work, *args, **kwargs)


async def build(work: Callable[..., T], *args: Any, **kwargs: Any) -> T:
    """Embedded storages that are read and indexed: seconds, minutes at worst."""
    return await _BUILDS.run(work, *args, **kwargs)


async def search(work: Callable[..., T], *args: Any, **kwargs: Any) -> T:
    """What a running turn waits for: searches, patterns, tokens that are counted."""
    return await _SEARCHES.run(work, *args, **kwargs)


async def request(work: Callable[..., T], *args: Any, **kwargs: Any) -> T:
    """What a request waits for: workflows that are compiled, dialogs, files that are read."""
    return await _REQUESTS.run(work, *args, **kwargs)

"""What a sidecar has done and does: the counters, and the answer to `GetStatus` made of them."""

from __future__ import annotations

import contextlib
import logging
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bridge import __version__
from bridge.errors import BY_CODE, InvalidAgentId, UnknownNode
from bridge.protocol import Error, ErrorCount, ModelLoad, SessionStatus, Status, TurnStatus

if TYPE_CHECKING:
    from bridge.config import Settings
    from bridge.models import Loaded, ModelStore

log = logging.getLogger(__name__)


class Counters:
    """What happened since the start. Threading: used on the event loop only."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._began = clock()
        self.turns_started = 0
        self.turns_succeeded = 0
        self.turns_failed = 0
        self.turns_cancelled = 0
        self.tokens_generated = 0
        self.tokens_evaluated = 0
        self.tokens_cached = 0
        self.errors: dict[int, int] = {}
        """By code; 0: InternalError."""

    @property
    def uptime_s(self) -> float:
        """Seconds since these counters were made."""
        return self._clock() - self._began

    def turn_started(self) -> None:
        """A turn was begun."""
        self.turns_started += 1

    def turn_ended(self, status: TurnStatus, tokens_generated: int, code: int | None = None) -> None:
        """A turn ended, with an error of this code where it failed."""
        if status == "Success":
            self.turns_succeeded += 1
        elif status == "Cancelled":
            self.turns_cancelled += 1
        else:
            self.turns_failed += 1
        self.tokens_generated += tokens_generated
        if code is not None:
            self._error(code)

    def prompt_read(self, evaluated: int, cached: int) -> None:
        """A reply is finished: so many tokens of its prompt were read, so many were there."""
        self.tokens_evaluated += evaluated
        self.tokens_cached += cached

    def request_failed(self, error: Error, *, request: str = "", session_id: str = "") -> None:
        """A request was answered with an error. Its message stays out of the log: it may quote what a player said."""
        self._error(error.code)
        # A name that nobody has may be anything, a player's line too.
        is_there = error.code not in (InvalidAgentId.code, UnknownNode.code)
        log.info(
            "%s failed: %d %s",
            request or "a request",
            error.code,
            error.name,
            extra={
                "event": "request_failed",
                "code": error.code,
                "error": error.name,
                "request": request,
                "session_id": session_id,
                "agent_id": error.agent_id if is_there else "",
                "node_name": error.node_name if is_there else "",
            },
        )

    def _error(self, code: int) -> None:
        self.errors[code] = self.errors.get(code, 0) + 1


@dataclass(frozen=True, slots=True)
class SessionFacts:
    """What a session knows of itself for the status; of its client's connection the server knows more."""

    session_id: str
    game_name: str = ""
    agents: int = 0
    busy: int = 0
    tokens_generated: int = 0
    """Of the turns that run."""


def session_status(
    facts: SessionFacts, *, client: str, attached: bool, waiting_bytes: int, unacknowledged: int
) -> SessionStatus:
    """A session's entry in the status."""
    return SessionStatus(
        session_id=facts.session_id,
        game_name=facts.game_name,
        client=client,
        attached=attached,
        agents=facts.agents,
        busy=facts.busy,
        waiting_bytes=waiting_bytes,
        unacknowledged=unacknowledged,
    )


def collect(
    counters: Counters,
    sessions: Sequence[SessionStatus],
    models: ModelStore,
    settings: Settings,
    *,
    is_whole: bool,
    tokens_in_turns: int = 0,
) -> Status:
    """The answer to GetStatus. `tokens_in_turns`: what running turns have generated so far.

    Without `is_whole` the sessions must be the asking one only, and nothing about the process is told.
    """
    status = Status(
        version=__version__,
        uptime_s=round(counters.uptime_s, 3),
        is_whole=is_whole,
        sessions=list(sessions),
        agents=sum(session.agents for session in sessions),
        busy_agents=sum(session.busy for session in sessions),
    )
    if not is_whole:
        return status
    rss_bytes, threads, open_files = _process()
    return status.model_copy(
        update={
            "pid": os.getpid(),
            "turns_started": counters.turns_started,
            "turns_succeeded": counters.turns_succeeded,
            "turns_failed": counters.turns_failed,
            "turns_cancelled": counters.turns_cancelled,
            "tokens_generated": counters.tokens_generated + tokens_in_turns,
            "tokens_evaluated": counters.tokens_evaluated,
            "tokens_cached": counters.tokens_cached,
            "models": [_model(model, settings) for model in models.loaded()],
            "errors": [
                ErrorCount(code=code, name=BY_CODE[code].__name__ if code in BY_CODE else "InternalError", count=count)
                for code, count in sorted(counters.errors.items())
            ],
            "rss_bytes": rss_bytes,
            "threads": threads,
            "open_files": open_files,
        }
    )


def _model(model: Loaded, settings: Settings) -> ModelLoad:
    status, load = model.engine.status(), model.engine.load()
    speaks = model.entry.type == "language"
    return ModelLoad(
        name=model.entry.name,
        type=model.entry.type,
        backend=status.backend,
        users=model.users,
        bytes_in_memory=status.bytes_in_memory,
        residents=status.residents,
        max_residents=settings.resident_sequences if speaks else 0,
        parked=status.parked,
        bytes_parked=status.bytes_parked,
        max_bytes_parked=settings.park_bytes if speaks else 0,
        waiting=load.waiting,
        reading=load.reading,
        running=load.running,
    )


def _process() -> tuple[int, int, int]:
    """(resident bytes, threads, open files) of this process; 0 for what the system does not tell."""
    import psutil

    found = [0, 0, 0]
    process = psutil.Process()
    handles = getattr(process, "num_fds", None) or getattr(process, "num_handles", None)  # Windows has the latter
    asks = (lambda: process.memory_info().rss, process.num_threads, handles)
    with process.oneshot():
        for index, ask in enumerate(asks):
            with contextlib.suppress(psutil.Error, OSError):
                found[index] = int(ask()) if ask is not None else 0
    return found[0], found[1], found[2]

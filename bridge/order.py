"""In which order the requests of a session are done: those that build upon earlier ones wait for them."""

from __future__ import annotations

import asyncio
from typing import Any

from bridge import protocol
from bridge.protocol import Request

_MAKES_STORAGE = (protocol.CreateStringStorage, protocol.CreateEmbeddedStorage)
_RELEASES_STORAGE = (protocol.DestroyStringStorage, protocol.DestroyEmbeddedStorage)
_MODEL = (protocol.LoadModel, protocol.UnloadModel, protocol.DownloadModel, protocol.DeleteModel)
_TAKES_LONG = (*_MAKES_STORAGE, protocol.ManageCache, protocol.LoadModel, protocol.DeleteModel)
"""What later requests about the same may have to wait for, though it need not wait itself."""


class RequestOrder:
    """Requests about one agent, storage or model are done in order; who names a storage finds it as it was.

    Nobody else waits: what takes long holds up only those who need it. A download is waited for by nobody either: it is
    for CancelDownload to stop. Threading: used on the event loop only.
    """

    def __init__(self) -> None:
        self._last: dict[str, asyncio.Future[None]] = {}
        """By agent, by storage and by model: the end of the last request that is not done yet."""
        self._naming: dict[asyncio.Future[None], str] = {}
        """The end of each request on its way that makes or releases a storage, and the storage's name."""
        self._looking: dict[asyncio.Future[None], frozenset[str]] = {}
        """The beginning of each waiting request that looks storages up, and what it may look for."""

    def place(self, request: Request, changing: asyncio.Future[None] | None) -> Place | None:
        """The place of a request that came now; None where it is to be done at once.

        `changing`: what else requests about the same agent wait for.
        """
        subject = _subject(request)
        named = _names_in(request)
        before: set[asyncio.Future[Any]] = {end for end, name in self._naming.items() if name in named}
        last = self._last.get(subject) or changing
        if last is not None:
            before.add(last)
        if isinstance(request, (*_MAKES_STORAGE, *_RELEASES_STORAGE)):
            before.update(begin for begin, names in self._looking.items() if request.name in names)
        if not before and not isinstance(request, _TAKES_LONG):
            return None
        made = Place(before)
        if named:
            self._looking[made.begun] = named
            made.begun.add_done_callback(self._looking.pop)
        if isinstance(request, (*_MAKES_STORAGE, *_RELEASES_STORAGE)):
            self._naming[made.ended] = request.name
            made.ended.add_done_callback(self._naming.pop)
        if subject and not isinstance(request, protocol.DownloadModel):
            self._last[subject] = made.ended
            made.ended.add_done_callback(lambda ended: self._forget(subject, ended))
        return made

    def _forget(self, subject: str, ended: asyncio.Future[None]) -> None:
        if self._last.get(subject) is ended:
            del self._last[subject]


class Place:
    """One request's place in the order. Whoever has it calls `turn`, `begin` and, whatever happens, `end`."""

    def __init__(self, before: set[asyncio.Future[Any]]) -> None:
        loop = asyncio.get_running_loop()
        self.begun: asyncio.Future[None] = loop.create_future()
        self.ended: asyncio.Future[None] = loop.create_future()
        self._before = before

    async def turn(self) -> None:
        """Wait for the requests before this one."""
        if self._before:
            await asyncio.wait(self._before)

    def begin(self) -> None:
        """The request has looked up what it names."""
        self.begun.set_result(None)

    def end(self) -> None:
        """The request is done, or will never be."""
        for future in (self.begun, self.ended):
            if not future.done():
                future.set_result(None)


def _subject(request: Request) -> str:
    """What a request is about; empty where that is no agent, no storage and no model."""
    if isinstance(request, (protocol.CreateStringStorage, protocol.DestroyStringStorage)):
        return f"strings {request.name}"
    if isinstance(request, (protocol.CreateEmbeddedStorage, protocol.DestroyEmbeddedStorage)):
        return f"knowledge {request.name}"
    if isinstance(request, _MODEL):
        return f"model {request.model}"
    return str(getattr(request, "agent_id", ""))


def _names_in(request: Request) -> frozenset[str]:
    """What may be the name of a storage among the parameters of nodes."""
    nodes: list[Any] = []
    if isinstance(request, protocol.ChangeParams):
        nodes = [request.params]
    elif isinstance(request, (protocol.CreateAgent, protocol.ValidateWorkflow)):
        found = request.workflow.get("nodes")
        nodes = found if isinstance(found, list) else []
    return frozenset(
        value for node in nodes if isinstance(node, dict) for value in node.values() if isinstance(value, str)
    )

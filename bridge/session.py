"""One client's agents: each request that is about them, one method each."""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import time
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from bridge import protocol, workers
from bridge.agent import Agent
from bridge.config import Settings
from bridge.dialog_document import Piece
from bridge.download import cancelled
from bridge.errors import (
    AgentDestroyed,
    DownloadNotAvailable,
    InvalidAgentId,
    InvalidValue,
    LimitExceeded,
    SessionExpired,
    UnknownMessageType,
)
from bridge.model_files import Report
from bridge.models import ModelStore
from bridge.node import Registry
from bridge.order import Place, RequestOrder
from bridge.protocol import AgentInfo, Ok, Problem, Push, Reply, Request, SessionStatus, Status
from bridge.status import Counters, SessionFacts, collect
from bridge.storages import BuildReport, EmbeddedStorages, KnowledgeView, StringStorages
from bridge.workflow import CompileScope, Workflow, compile_workflow, no_storage, raise_problems

log = logging.getLogger(__name__)

PushFrame = Callable[[Push, bytes | None], "asyncio.Event | None"]
Answer = Reply | Awaitable[Reply]


@dataclass(frozen=True, slots=True)
class Services:
    """What all sessions of a sidecar share."""

    settings: Settings
    registry: Registry
    models: ModelStore
    counters: Counters = field(default_factory=Counters)


@dataclass(frozen=True, slots=True)
class Given:
    """What a request found when it came: what changes while it waits for its turn is nothing to it."""

    number: int = 0
    """Rises with each request of the session."""
    root: Path | None = None
    """The storage folder."""
    allow_model_download: bool = False


class Session:
    """All that one client owns. `handle` answers its requests.

    Threading: used on the event loop only.
    """

    def __init__(self, session_id: str, push: PushFrame, services: Services) -> None:
        self.session_id = session_id
        self.game_name = ""
        self._given = Given()
        self._cancelled_downloads: dict[str, int] = {}
        """By model: the number of the last request that cancelled its download."""
        self._push = push
        self._services = services
        self._agents: dict[str, Agent] = {}
        self._creating = 0
        self._destroyed: deque[str] = deque(maxlen=4_096)
        self._strings = StringStorages(services.settings)
        self._knowledge = EmbeddedStorages(services.models, services.settings)
        self._order = RequestOrder()
        self._closed = False
        self._began = time.monotonic()
        self._handlers: dict[type[Request], Callable[..., Answer]] = {
            protocol.ConfigureSession: self.on_configure_session,
            protocol.CreateAgent: self.on_create_agent,
            protocol.DestroyAgent: self.on_destroy_agent,
            protocol.ListAgents: self.on_list_agents,
            protocol.SendMessage: self.on_send_message,
            protocol.CancelTurn: self.on_cancel_turn,
            protocol.SetVariables: self.on_set_variables,
            protocol.ChangeParams: self.on_change_params,
            protocol.GetParams: self.on_get_params,
            protocol.ToolResult: self.on_tool_result,
            protocol.CreateStringStorage: self.on_create_string_storage,
            protocol.DestroyStringStorage: self.on_destroy_string_storage,
            protocol.CreateEmbeddedStorage: self.on_create_embedded_storage,
            protocol.DestroyEmbeddedStorage: self.on_destroy_embedded_storage,
            protocol.ExportDialog: self.on_export_dialog,
            protocol.SeedDialog: self.on_seed_dialog,
            protocol.EditDialog: self.on_edit_dialog,
            protocol.TruncateDialog: self.on_truncate_dialog,
            protocol.ManageCache: self.on_manage_cache,
            protocol.LoadModel: self.on_load_model,
            protocol.UnloadModel: self.on_unload_model,
            protocol.DownloadModel: self.on_download_model,
            protocol.CancelDownload: self.on_cancel_download,
            protocol.DeleteModel: self.on_delete_model,
            protocol.ValidateWorkflow: self.on_validate_workflow,
            protocol.ListModels: self.on_list_models,
        }

    def handle(self, request: Request) -> Answer:
        """The reply, or an awaitable for it where it takes long. Raises ParleyError."""
        workers.session.set(self.session_id)  # also for the turns and tasks that begin here
        handler = self._handlers.get(type(request))
        if handler is None:
            raise UnknownMessageType(f"a session does not answer {request.type_name}")
        given = self._given = replace(self._given, number=self._given.number + 1)
        agent = self._agents.get(getattr(request, "agent_id", ""))
        place = self._order.place(request, agent.changing if agent is not None else None)
        return handler(request, given) if place is None else self._after(place, handler, request, given)

    async def _after(self, place: Place, handler: Callable[..., Answer], request: Request, given: Given) -> Reply:
        try:
            await place.turn()
            answer = handler(request, given)
            place.begin()
            return await answer if isinstance(answer, Awaitable) else answer
        finally:
            place.end()

    async def close(self) -> None:
        """Cancel every turn (each still gets its TurnComplete) and free every agent. Idempotent."""
        first = not self._closed
        self._closed = True
        agents = list(self._agents.values())
        self._agents.clear()
        for agent in agents:
            agent.close()
        self._knowledge.close()
        self._services.models.unpin_all(self.session_id)
        self._handlers.clear()  # they hold the session: with its storages it would stay until Python's collector looks
        if first:
            self._log(
                "session_ended",
                "session %s is over; agents that went with it: %d",
                self.session_id,
                len(agents),
                game_name=self.game_name,
                agents=len(agents),
                duration_ms=_milliseconds_since(self._began),
            )

    def facts(self) -> SessionFacts:
        """What the status tells of this session."""
        agents = self._agents.values()
        return SessionFacts(
            session_id=self.session_id,
            game_name=self.game_name,
            agents=len(agents),
            busy=sum(agent.busy for agent in agents),
            tokens_generated=sum(agent.tokens_in_turn for agent in agents),
        )

    def status(self, sessions: Sequence[SessionStatus], *, is_whole: bool, tokens_in_turns: int = 0) -> Status:
        """The answer to GetStatus; see `status.collect`."""
        shared = self._services
        return collect(
            shared.counters,
            sessions,
            shared.models,
            shared.settings,
            is_whole=is_whole,
            tokens_in_turns=tokens_in_turns,
        )

    # ---- requests

    def on_configure_session(self, request: protocol.ConfigureSession, given: Given) -> Reply:
        if request.storage_folder is not None:
            folder = Path(request.storage_folder)
            if not request.storage_folder or not folder.is_absolute() or not os.path.isdir(folder):
                raise InvalidValue(
                    "storage_folder must be the absolute path of a folder that exists, "
                    f"not '{request.storage_folder[:200]}'",
                    path="$.storage_folder",
                )
            self._given = replace(self._given, root=folder)
        if request.game_name is not None:
            self.game_name = request.game_name
            name = self.game_name
            self._log("session_named", "session %s is of the game %.64r", self.session_id, name, game_name=name)
        if request.allow_model_download is not None:
            self._given = replace(self._given, allow_model_download=request.allow_model_download)
        return Ok()

    def on_create_agent(self, request: protocol.CreateAgent, given: Given) -> Answer:
        limit = self._services.settings.max_agents_per_session
        if len(self._agents) + self._creating >= limit:
            raise LimitExceeded(f"the session has {limit} agents already (max_agents_per_session); destroy one first")
        self._creating += 1
        # Storages are looked up as they are now, whatever requests come while the agent is made.
        knowledge = self._knowledge.view(given.root)
        return self._create_agent(request, given, self._scope(knowledge, given), knowledge)

    async def _create_agent(
        self, request: protocol.CreateAgent, given: Given, scope: CompileScope, knowledge: KnowledgeView
    ) -> Reply:
        began = time.monotonic()
        try:
            workflow, problems = await _compile(request.workflow, scope)
            raise_problems(problems)
            assert workflow is not None
            agent = await Agent.create(
                secrets.token_hex(8),
                workflow,
                models=self._services.models,
                storages=knowledge,
                settings=self._services.settings,
                emit=self._push,
                report=self._reporter,
                report_build=self._build_reporter,
                variables=request.variables,
                enable_diagnostics=request.enable_diagnostics,
                max_steps=request.max_steps,
                seed_dialog=request.seed_dialog,
                download=given.allow_model_download,
                session_id=self.session_id,
                counters=self._services.counters,
            )
        finally:
            self._creating -= 1
            knowledge.close()
        if self._closed:
            agent.close()
            raise AgentDestroyed("the session ended while the agent was made")
        self._agents[agent.agent_id] = agent
        self._log(
            "agent_created",
            "session %s: agent %s is made",
            self.session_id,
            agent.agent_id,
            agent_id=agent.agent_id,
            nodes=len(workflow.nodes),
            duration_ms=_milliseconds_since(began),
        )
        return protocol.AgentCreated(agent_id=agent.agent_id, warnings=problems)

    def on_destroy_agent(self, request: protocol.DestroyAgent, given: Given) -> Reply:
        agent = self._agent(request.agent_id)
        del self._agents[agent.agent_id]
        self._destroyed.append(agent.agent_id)
        agent.close()
        agent_id = agent.agent_id
        self._log(
            "agent_destroyed",
            "session %s: agent %s is destroyed",
            self.session_id,
            agent_id,
            agent_id=agent_id,
            turns=agent.turns,
        )
        return Ok()

    def on_list_agents(self, request: protocol.ListAgents, given: Given) -> Reply:
        return protocol.Agents(
            agents=[AgentInfo(agent_id=a.agent_id, busy=a.busy, turns=a.turns) for a in self._agents.values()]
        )

    def on_send_message(self, request: protocol.SendMessage, given: Given) -> Reply:
        limit = self._services.settings.max_line_chars
        if len(request.text) > limit:
            raise LimitExceeded(
                f"the line has {len(request.text)} characters; {limit} are allowed (max_line_chars)",
                agent_id=request.agent_id[:80],
                path="$.text",
            )
        turn_id = self._agent(request.agent_id).start_turn(request.text)
        return protocol.TurnStarted(agent_id=request.agent_id, turn_id=turn_id)

    def on_cancel_turn(self, request: protocol.CancelTurn, given: Given) -> Reply:
        self._agent(request.agent_id).cancel_turn(request.turn_id)
        return Ok()

    def on_set_variables(self, request: protocol.SetVariables, given: Given) -> Reply:
        self._agent(request.agent_id).set_variables(request.values)
        return Ok()

    def on_change_params(self, request: protocol.ChangeParams, given: Given) -> Answer:
        agent = self._agent(request.agent_id)
        return _ok_after(agent.change_params(request.node_name, request.params, self._scope(None, given)))

    def on_get_params(self, request: protocol.GetParams, given: Given) -> Reply:
        params, baseline = self._agent(request.agent_id).params(request.node_name)
        return protocol.Params(params=params, baseline=baseline)

    def on_tool_result(self, request: protocol.ToolResult, given: Given) -> Reply:
        self._agent(request.agent_id).take_tool_result(request.call_id, request.result, request.error or "")
        return Ok()

    async def on_create_string_storage(self, request: protocol.CreateStringStorage, given: Given) -> Reply:
        storage = await workers.request(
            self._strings.create,
            request.name,
            root=given.root,
            kind=request.kind,
            strings=request.strings,
            keys=request.keys,
            file=request.file,
        )
        count = len(storage.texts)
        self._log(
            "storage_built",
            "session %s: storage %.64r is made: %d texts",
            self.session_id,
            request.name,
            count,
            storage=request.name,
            records=count,
        )
        return protocol.StorageCreated(name=request.name, count=count)

    def on_destroy_string_storage(self, request: protocol.DestroyStringStorage, given: Given) -> Reply:
        self._strings.destroy(request.name)
        return Ok()

    async def on_create_embedded_storage(self, request: protocol.CreateEmbeddedStorage, given: Given) -> Reply:
        storage = await self._knowledge.create(
            request.name,
            root=given.root,
            config=request.config,
            strings=request.strings,
            embedding_model=request.embedding_model,
            report=self._build_reporter(request.name),
            report_model=self._reporter,
            download=given.allow_model_download,
        )
        return protocol.StorageCreated(name=request.name, count=storage.count, dimension=storage.dimension)

    def on_destroy_embedded_storage(self, request: protocol.DestroyEmbeddedStorage, given: Given) -> Reply:
        self._knowledge.destroy(request.name)
        return Ok()

    def on_export_dialog(self, request: protocol.ExportDialog, given: Given) -> Answer:
        agent = self._agent(request.agent_id)
        return _dialog_reply(agent.export_dialog(request.from_, request.count), agent.turns)

    def on_seed_dialog(self, request: protocol.SeedDialog, given: Given) -> Answer:
        return _ok_after(self._agent(request.agent_id).seed_dialog(request.dialog, append=request.append))

    def on_edit_dialog(self, request: protocol.EditDialog, given: Given) -> Answer:
        return _ok_after(self._agent(request.agent_id).edit_dialog(request.index, request.user, request.replies))

    def on_truncate_dialog(self, request: protocol.TruncateDialog, given: Given) -> Reply:
        self._agent(request.agent_id).truncate_dialog(request.keep)
        return Ok()

    def on_manage_cache(self, request: protocol.ManageCache, given: Given) -> Answer:
        return _cache_reply(self._agent(request.agent_id).manage_cache(request.action))

    async def on_load_model(self, request: protocol.LoadModel, given: Given) -> Reply:
        models, name = self._services.models, request.model
        allowed = given.allow_model_download and not self._is_cancelled(name, given)
        await models.pin(name, self.session_id, self._reporter(name), download=allowed)
        if self._closed:
            models.unpin(name, self.session_id)
            raise SessionExpired("the session ended while the model was loaded")
        return Ok()

    def on_unload_model(self, request: protocol.UnloadModel, given: Given) -> Reply:
        self._services.models.unpin(request.model, self.session_id)
        return Ok()

    async def on_download_model(self, request: protocol.DownloadModel, given: Given) -> Reply:
        self._check_downloads_allowed(given)
        if self._is_cancelled(request.model, given):
            raise cancelled(request.model)
        await self._services.models.download(request.model, self._reporter(request.model))
        return Ok()

    def on_cancel_download(self, request: protocol.CancelDownload, given: Given) -> Reply:
        self._check_downloads_allowed(given)
        self._services.models.cancel_download(request.model)
        self._cancelled_downloads[request.model] = given.number
        return Ok()

    async def on_delete_model(self, request: protocol.DeleteModel, given: Given) -> Reply:
        await self._services.models.delete(request.model)
        return Ok()

    def on_validate_workflow(self, request: protocol.ValidateWorkflow, given: Given) -> Answer:
        knowledge = self._knowledge.view(given.root)
        scope = replace(self._scope(knowledge, given), absent=self._services.models.absent)
        return self._validate(request, scope, knowledge)

    async def _validate(
        self, request: protocol.ValidateWorkflow, scope: CompileScope, knowledge: KnowledgeView
    ) -> Reply:
        try:
            _, problems = await _compile(request.workflow, scope)
        finally:
            knowledge.close()
        return protocol.Validation(problems=problems)

    def on_list_models(self, request: protocol.ListModels, given: Given) -> Reply:
        return protocol.Models(models=self._services.models.list())

    # ---- helpers

    def _log(self, event: str, text: str, *words: Any, **more: Any) -> None:
        log.info(text, *words, extra={"event": event, "session_id": self.session_id, **more})

    def _is_cancelled(self, model: str, given: Given) -> bool:
        """Whether a download was cancelled that a request had not begun yet, though it came before."""
        return self._cancelled_downloads.get(model, 0) > given.number

    def _check_downloads_allowed(self, given: Given) -> None:
        if not given.allow_model_download:
            raise DownloadNotAvailable(
                "this session may not download models; ConfigureSession with allow_model_download: true allows it"
            )

    def _agent(self, agent_id: str) -> Agent:
        agent = self._agents.get(agent_id)
        if agent is not None:
            return agent
        if agent_id in self._destroyed:
            raise AgentDestroyed(f"agent '{agent_id}' was destroyed", agent_id=agent_id)
        raise InvalidAgentId(f"this session has no agent '{agent_id[:80]}'", agent_id=agent_id[:80])

    def _scope(self, knowledge: KnowledgeView | None, given: Given) -> CompileScope:
        """What workflows are compiled against; without `knowledge` the agent brings its own."""
        settings = self._services.settings
        return CompileScope(
            registry=self._services.registry,
            model_facts=self._services.models.facts,
            strings=self._strings.finder(given.root),
            knowledge=knowledge.describe if knowledge is not None else no_storage,
            max_nodes=settings.max_nodes,
            max_template_chars=settings.max_template_chars,
        )

    def _emit(self, push: Push) -> None:
        self._push(push, None)

    def _build_reporter(self, storage: str) -> BuildReport:
        def report(done: int, total: int) -> None:
            self._emit(protocol.Progress(task="embed", storage=storage, done=done, total=total, unit="records"))

        return report

    def _reporter(self, model: str) -> Report:
        def report(task: str, done: int, total: int, unit: str) -> None:
            self._emit(protocol.Progress(task=task, model=model, done=done, total=total, unit=unit))

        return report


async def _compile(raw: object, scope: CompileScope) -> tuple[Workflow | None, list[Problem]]:
    """In a worker thread: a workflow may be large, and others must be served meanwhile."""
    return await workers.request(compile_workflow, raw, scope)


async def _dialog_reply(work: Awaitable[Piece], total: int) -> Reply:
    piece = await work
    reply = protocol.Dialog.model_construct(dialog=piece.document, total=total)
    reply.prepare(b'{"dialog":%b,"total":%d}' % (piece.json, total))
    return reply


async def _cache_reply(work: Awaitable[list[protocol.CacheInfo]]) -> Reply:
    return protocol.CacheStats(nodes=await work)


async def _ok_after(work: Awaitable[None]) -> Reply:
    await work
    return Ok()


def _milliseconds_since(began: float) -> float:
    return round((time.monotonic() - began) * 1000, 3)

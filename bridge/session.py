"""One client's agents: each request that is about them, one method each."""

from __future__ import annotations

import asyncio
import os
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from bridge import protocol
from bridge.agent import Agent
from bridge.config import Settings
from bridge.errors import (
    AgentDestroyed,
    DownloadNotAvailable,
    InvalidAgentId,
    InvalidValue,
    LimitExceeded,
    UnknownMessageType,
)
from bridge.model_files import Report
from bridge.models import ModelStore
from bridge.node import Registry
from bridge.order import Place, RequestOrder
from bridge.protocol import AgentInfo, Ok, Problem, Push, Reply, Request
from bridge.storages import BuildReport, EmbeddedStorages, KnowledgeView, StringStorages
from bridge.workflow import CompileScope, Workflow, compile_workflow, no_storage, raise_problems

PushFrame = Callable[[Push, bytes | None], None]
Answer = Reply | Awaitable[Reply]


@dataclass(frozen=True, slots=True)
class Services:
    """What all sessions of a sidecar share."""

    settings: Settings
    registry: Registry
    models: ModelStore


class Session:
    """All that one client owns. `handle` answers its requests.

    Threading: used on the event loop only.
    """

    def __init__(self, session_id: str, push: PushFrame, services: Services) -> None:
        self.session_id = session_id
        self.game_name = ""
        self._allow_model_download = False
        self._push = push
        self._services = services
        self._agents: dict[str, Agent] = {}
        self._creating = 0
        self._destroyed: set[str] = set()
        self._strings = StringStorages()
        self._knowledge = EmbeddedStorages(services.models)
        self._order = RequestOrder()
        self._closed = False
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
        handler = self._handlers.get(type(request))
        if handler is None:
            raise UnknownMessageType(f"a session does not answer {request.type_name}")
        agent = self._agents.get(getattr(request, "agent_id", ""))
        place = self._order.place(request, agent.changing if agent is not None else None)
        return handler(request) if place is None else self._after(place, handler, request)

    async def _after(self, place: Place, handler: Callable[..., Answer], request: Request) -> Reply:
        try:
            await place.turn()
            answer = handler(request)
            place.begin()
            return await answer if isinstance(answer, Awaitable) else answer
        finally:
            place.end()

    async def close(self) -> None:
        """Cancel every turn (each still gets its TurnComplete) and free every agent. Idempotent."""
        self._closed = True
        agents = list(self._agents.values())
        self._agents.clear()
        for agent in agents:
            agent.close()
        self._knowledge.close()

    # ---- requests

    def on_configure_session(self, request: protocol.ConfigureSession) -> Reply:
        if request.storage_folder is not None:
            folder = Path(request.storage_folder)
            if not request.storage_folder or not folder.is_absolute() or not os.path.isdir(folder):
                raise InvalidValue(
                    "storage_folder must be the absolute path of a folder that exists, "
                    f"not '{request.storage_folder[:200]}'",
                    path="$.storage_folder",
                )
            self._strings.root = self._knowledge.root = folder
        if request.game_name is not None:
            self.game_name = request.game_name
        if request.allow_model_download is not None:
            self._allow_model_download = request.allow_model_download
        return Ok()

    def on_create_agent(self, request: protocol.CreateAgent) -> Answer:
        limit = self._services.settings.max_agents_per_session
        if len(self._agents) + self._creating >= limit:
            raise LimitExceeded(f"the session has {limit} agents already (max_agents_per_session); destroy one first")
        self._creating += 1
        # Storages are looked up as they are now, whatever requests come while the agent is made.
        knowledge = self._knowledge.view()
        return self._create_agent(request, self._scope(knowledge), knowledge)

    async def _create_agent(
        self, request: protocol.CreateAgent, scope: CompileScope, knowledge: KnowledgeView
    ) -> Reply:
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
                emit=self._emit,
                report=self._reporter,
                report_build=self._build_reporter,
                variables=request.variables,
                enable_diagnostics=request.enable_diagnostics,
                max_steps=request.max_steps,
                seed_dialog=request.seed_dialog,
                download=self._allow_model_download,
            )
        finally:
            self._creating -= 1
            knowledge.close()
        if self._closed:
            agent.close()
            raise AgentDestroyed("the session ended while the agent was made")
        self._agents[agent.agent_id] = agent
        return protocol.AgentCreated(agent_id=agent.agent_id, warnings=problems)

    def on_destroy_agent(self, request: protocol.DestroyAgent) -> Reply:
        agent = self._agent(request.agent_id)
        del self._agents[agent.agent_id]
        self._destroyed.add(agent.agent_id)
        agent.close()
        return Ok()

    def on_list_agents(self, request: protocol.ListAgents) -> Reply:
        return protocol.Agents(
            agents=[AgentInfo(agent_id=a.agent_id, busy=a.busy, turns=a.turns) for a in self._agents.values()]
        )

    def on_send_message(self, request: protocol.SendMessage) -> Reply:
        limit = self._services.settings.max_line_chars
        if len(request.text) > limit:
            raise LimitExceeded(
                f"the line has {len(request.text)} characters; {limit} are allowed (max_line_chars)",
                agent_id=request.agent_id[:80],
                path="$.text",
            )
        turn_id = self._agent(request.agent_id).start_turn(request.text)
        return protocol.TurnStarted(agent_id=request.agent_id, turn_id=turn_id)

    def on_cancel_turn(self, request: protocol.CancelTurn) -> Reply:
        self._agent(request.agent_id).cancel_turn(request.turn_id)
        return Ok()

    def on_set_variables(self, request: protocol.SetVariables) -> Reply:
        self._agent(request.agent_id).set_variables(request.values)
        return Ok()

    def on_change_params(self, request: protocol.ChangeParams) -> Answer:
        agent = self._agent(request.agent_id)
        return _ok_after(agent.change_params(request.node_name, request.params, self._scope(None)))

    def on_get_params(self, request: protocol.GetParams) -> Reply:
        params, baseline = self._agent(request.agent_id).params(request.node_name)
        return protocol.Params(params=params, baseline=baseline)

    def on_tool_result(self, request: protocol.ToolResult) -> Reply:
        self._agent(request.agent_id).take_tool_result(request.call_id, request.result, request.error or "")
        return Ok()

    async def on_create_string_storage(self, request: protocol.CreateStringStorage) -> Reply:
        storage = await asyncio.to_thread(
            self._strings.create,
            request.name,
            kind=request.kind,
            strings=request.strings,
            keys=request.keys,
            file=request.file,
        )
        return protocol.StorageCreated(name=request.name, count=len(storage.texts))

    def on_destroy_string_storage(self, request: protocol.DestroyStringStorage) -> Reply:
        self._strings.destroy(request.name)
        return Ok()

    async def on_create_embedded_storage(self, request: protocol.CreateEmbeddedStorage) -> Reply:
        storage = await self._knowledge.create(
            request.name,
            config=request.config,
            strings=request.strings,
            embedding_model=request.embedding_model,
            report=self._build_reporter(request.name),
            report_model=self._reporter,
            download=self._allow_model_download,
        )
        return protocol.StorageCreated(name=request.name, count=storage.count, dimension=storage.dimension)

    def on_destroy_embedded_storage(self, request: protocol.DestroyEmbeddedStorage) -> Reply:
        self._knowledge.destroy(request.name)
        return Ok()

    def on_export_dialog(self, request: protocol.ExportDialog) -> Reply:
        agent = self._agent(request.agent_id)
        return protocol.Dialog(dialog=agent.export_dialog(request.from_, request.count), total=agent.turns)

    def on_seed_dialog(self, request: protocol.SeedDialog) -> Reply:
        self._agent(request.agent_id).change_dialog(lambda dialog: dialog.seed(request.dialog, append=request.append))
        return Ok()

    def on_edit_dialog(self, request: protocol.EditDialog) -> Reply:
        self._agent(request.agent_id).change_dialog(
            lambda dialog: dialog.edit(request.index, request.user, request.replies)
        )
        return Ok()

    def on_truncate_dialog(self, request: protocol.TruncateDialog) -> Reply:
        self._agent(request.agent_id).change_dialog(lambda dialog: dialog.truncate(request.keep))
        return Ok()

    async def on_manage_cache(self, request: protocol.ManageCache) -> Reply:
        return protocol.CacheStats(nodes=await self._agent(request.agent_id).manage_cache(request.action))

    async def on_load_model(self, request: protocol.LoadModel) -> Reply:
        await self._services.models.pin(
            request.model, self._reporter(request.model), download=self._allow_model_download
        )
        return Ok()

    def on_unload_model(self, request: protocol.UnloadModel) -> Reply:
        self._services.models.unpin(request.model)
        return Ok()

    async def on_download_model(self, request: protocol.DownloadModel) -> Reply:
        self._check_downloads_allowed()
        await self._services.models.download(request.model, self._reporter(request.model))
        return Ok()

    def on_cancel_download(self, request: protocol.CancelDownload) -> Reply:
        self._check_downloads_allowed()
        self._services.models.cancel_download(request.model)
        return Ok()

    async def on_delete_model(self, request: protocol.DeleteModel) -> Reply:
        await self._services.models.delete(request.model)
        return Ok()

    def on_validate_workflow(self, request: protocol.ValidateWorkflow) -> Answer:
        knowledge = self._knowledge.view()
        return self._validate(request, self._scope(knowledge), knowledge)

    async def _validate(
        self, request: protocol.ValidateWorkflow, scope: CompileScope, knowledge: KnowledgeView
    ) -> Reply:
        try:
            _, problems = await _compile(request.workflow, scope)
        finally:
            knowledge.close()
        return protocol.Validation(problems=problems)

    def on_list_models(self, request: protocol.ListModels) -> Reply:
        return protocol.Models(models=self._services.models.list())

    # ---- helpers

    def _check_downloads_allowed(self) -> None:
        if not self._allow_model_download:
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

    def _scope(self, knowledge: KnowledgeView | None) -> CompileScope:
        """What workflows are compiled against; without `knowledge` the agent brings its own."""
        settings = self._services.settings
        return CompileScope(
            registry=self._services.registry,
            model_facts=self._services.models.facts,
            strings=self._strings.finder(),
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
    return await asyncio.to_thread(compile_workflow, raw, scope)


async def _ok_after(work: Awaitable[None]) -> Reply:
    await work
    return Ok()

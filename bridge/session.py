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
from bridge.errors import AgentDestroyed, InvalidAgentId, InvalidValue, LimitExceeded, UnknownMessageType
from bridge.models import ModelStore, Report
from bridge.node import Registry
from bridge.protocol import AgentInfo, Ok, Problem, Push, Reply, Request
from bridge.workflow import CompileScope, Workflow, compile_workflow, raise_problems

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
        self._push = push
        self._services = services
        self._agents: dict[str, Agent] = {}
        self._creating = 0
        self._destroyed: set[str] = set()
        self._storage_folder: Path | None = None
        self._closed = False
        self._handlers: dict[type[Request], Callable[..., Answer]] = {
            protocol.ConfigureSession: self.on_configure_session,
            protocol.CreateAgent: self.on_create_agent,
            protocol.DestroyAgent: self.on_destroy_agent,
            protocol.ListAgents: self.on_list_agents,
            protocol.SendMessage: self.on_send_message,
            protocol.CancelTurn: self.on_cancel_turn,
            protocol.SetVariables: self.on_set_variables,
            protocol.ExportDialog: self.on_export_dialog,
            protocol.SeedDialog: self.on_seed_dialog,
            protocol.EditDialog: self.on_edit_dialog,
            protocol.TruncateDialog: self.on_truncate_dialog,
            protocol.ManageCache: self.on_manage_cache,
            protocol.LoadModel: self.on_load_model,
            protocol.UnloadModel: self.on_unload_model,
            protocol.ValidateWorkflow: self.on_validate_workflow,
            protocol.ListModels: self.on_list_models,
        }

    def handle(self, request: Request) -> Answer:
        """The reply, or an awaitable for it where it takes long. Raises ParleyError."""
        handler = self._handlers.get(type(request))
        if handler is None:
            raise UnknownMessageType(f"a session does not answer {request.type_name}")
        return handler(request)

    async def close(self) -> None:
        """Cancel every turn (each still gets its TurnComplete) and free every agent. Idempotent."""
        self._closed = True
        agents = list(self._agents.values())
        self._agents.clear()
        for agent in agents:
            agent.close()

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
            self._storage_folder = folder
        if request.game_name is not None:
            self.game_name = request.game_name
        return Ok()

    async def on_create_agent(self, request: protocol.CreateAgent) -> Reply:
        limit = self._services.settings.max_agents_per_session
        if len(self._agents) + self._creating >= limit:
            raise LimitExceeded(f"the session has {limit} agents already (max_agents_per_session); destroy one first")
        self._creating += 1
        try:
            workflow, problems = await self._compile(request.workflow)
            raise_problems(problems)
            assert workflow is not None
            agent = await Agent.create(
                secrets.token_hex(8),
                workflow,
                models=self._services.models,
                settings=self._services.settings,
                emit=self._emit,
                report=self._reporter,
                variables=request.variables,
                enable_diagnostics=request.enable_diagnostics,
                max_steps=request.max_steps,
                seed_dialog=request.seed_dialog,
            )
        finally:
            self._creating -= 1
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
        await self._services.models.pin(request.model, self._reporter(request.model))
        return Ok()

    def on_unload_model(self, request: protocol.UnloadModel) -> Reply:
        self._services.models.unpin(request.model)
        return Ok()

    async def on_validate_workflow(self, request: protocol.ValidateWorkflow) -> Reply:
        _, problems = await self._compile(request.workflow)
        return protocol.Validation(problems=problems)

    def on_list_models(self, request: protocol.ListModels) -> Reply:
        return protocol.Models(models=self._services.models.list())

    # ---- helpers

    def _agent(self, agent_id: str) -> Agent:
        agent = self._agents.get(agent_id)
        if agent is not None:
            return agent
        if agent_id in self._destroyed:
            raise AgentDestroyed(f"agent '{agent_id}' was destroyed", agent_id=agent_id)
        raise InvalidAgentId(f"this session has no agent '{agent_id[:80]}'", agent_id=agent_id[:80])

    async def _compile(self, raw: object) -> tuple[Workflow | None, list[Problem]]:
        """In a worker thread: a workflow may be large, and others must be served meanwhile."""
        settings = self._services.settings
        return await asyncio.to_thread(
            compile_workflow,
            raw,
            CompileScope(
                registry=self._services.registry,
                model_facts=self._services.models.facts,
                storage_root=self._storage_folder,
                max_nodes=settings.max_nodes,
                max_template_chars=settings.max_template_chars,
            ),
        )

    def _emit(self, push: Push) -> None:
        self._push(push, None)

    def _reporter(self, model: str) -> Report:
        def report(task: str, done: int, total: int, unit: str) -> None:
            self._emit(protocol.Progress(task=task, model=model, done=done, total=total, unit=unit))

        return report

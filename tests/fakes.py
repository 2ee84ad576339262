"""Stand-ins one method wide, for tests of the rooms that talk to them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from bridge.errors import AgentBusy, InvalidAgentId, WorkflowInvalid
from bridge.protocol import (
    AgentCreated,
    Agents,
    AnswerText,
    CancelTurn,
    CreateAgent,
    DestroyAgent,
    ListAgents,
    Ok,
    Problem,
    Reply,
    Request,
    SendMessage,
    SessionStatus,
    Status,
    TurnComplete,
    TurnStarted,
    TurnStatus,
    ValidateWorkflow,
    Validation,
)
from bridge.server import PushTo
from bridge.status import SessionFacts


class FakeSession:
    """Answers by what a SendMessage says, without agents or models.

    `say N` streams N frames, `say N M` with M spaces more in each; `hold` streams one and waits to be cancelled;
    `block S` blocks the event loop for S seconds; `never` is never answered; `hang` makes `close` hang; `busy` and
    `unknown` are refused; `raise`, `nonsense` and `cancelled` fail as bugs would. ListAgents is answered late, after
    `late_turns` turns of the loop.
    """

    late_turns = 3

    def __init__(self, session_id: str, push: PushTo) -> None:
        self.session_id = session_id
        self.push = push
        self.is_closed = False
        self.seen: list[Request] = []
        self.hangs_at_close = False
        self._turn_id = 0
        self._turns: dict[str, asyncio.Task[None]] = {}
        self._agents = 0

    def handle(self, request: Request) -> Reply | Awaitable[Reply]:
        self.seen.append(request)
        if isinstance(request, SendMessage):
            return self._send(request)
        if isinstance(request, CreateAgent):
            return self._create(request)
        if isinstance(request, ListAgents):
            return self._list()
        if isinstance(request, DestroyAgent | CancelTurn):
            return self._cancel(request.agent_id)
        if isinstance(request, ValidateWorkflow):
            return Validation(problems=[])
        return Ok()

    def facts(self) -> SessionFacts:
        return SessionFacts(self.session_id, agents=self._agents)

    def status(self, sessions: Sequence[SessionStatus], *, is_whole: bool, tokens_in_turns: int = 0) -> Status:
        return Status(version="fake", uptime_s=0.0, is_whole=is_whole, sessions=list(sessions))

    async def close(self) -> None:
        if self.hangs_at_close:
            await asyncio.Event().wait()
        for agent_id in list(self._turns):
            await self._cancel(agent_id)
        self.is_closed = True

    def _create(self, request: CreateAgent) -> Reply:
        if "name" not in request.workflow:
            problem = Problem(severity="error", code=3003, path="$.name", message="a workflow needs a name")
            raise WorkflowInvalid("the workflow has 1 error", problems=[problem])
        self._agents += 1
        return AgentCreated(agent_id=f"agent{self._agents}")

    async def _list(self) -> Reply:
        for _ in range(self.late_turns):
            await asyncio.sleep(0)
        return Agents(agents=[])

    async def _cancel(self, agent_id: str) -> Reply:
        task = self._turns.pop(agent_id, None)
        if task is not None:
            task.cancel()
            await asyncio.wait({task})
        return Ok()

    def _send(self, request: SendMessage) -> Reply:
        agent_id = request.agent_id
        word, _, rest = request.text.partition(" ")
        match word:
            case "raise":
                raise RuntimeError("a secret of the sidecar")
            case "nonsense":
                return None  # type: ignore[return-value]
            case "unknown":
                raise InvalidAgentId(f"no agent {agent_id!r}", agent_id=agent_id)
            case "busy":
                raise AgentBusy(agent_id=agent_id)
            case "block":
                time.sleep(float(rest))
                return Ok()
            case "hang":
                self.hangs_at_close = True
                return Ok()
            case "cancelled":
                return self._cancelled()  # type: ignore[return-value]
            case "never":
                return self._never()  # type: ignore[return-value]
        self._turn_id += 1
        turn_id = self._turn_id
        count, padding = (int(number) for number in f"{rest} 0".split()[:2]) if word == "say" else (1, 0)
        turn = self._turn(agent_id, turn_id, count, " " * padding, hold=word == "hold")
        self._turns[agent_id] = asyncio.get_running_loop().create_task(turn)
        return TurnStarted(agent_id=agent_id, turn_id=turn_id)

    async def _cancelled(self) -> Reply:
        raise asyncio.CancelledError

    async def _never(self) -> Reply:
        await asyncio.Event().wait()
        return Ok()

    async def _turn(self, agent_id: str, turn_id: int, count: int, padding: str, *, hold: bool) -> None:
        status: TurnStatus = "Success"
        try:
            for number in range(count):
                self.push(
                    AnswerText(
                        agent_id=agent_id,
                        turn_id=turn_id,
                        node_name="mira",
                        step=1,
                        text=f"{number} {padding}",
                        is_delta=True,
                        is_final=number == count - 1,
                    ),
                    None,
                )
                if number % 10 == 9:
                    await asyncio.sleep(0)
            if hold:
                await asyncio.Event().wait()
        except asyncio.CancelledError:
            status = "Cancelled"
        self.push(TurnComplete(agent_id=agent_id, turn_id=turn_id, status=status), None)


def make_fake_services(
    settings: Any, counters: Any
) -> tuple[Callable[..., FakeSession], Callable[[], Awaitable[None]]]:
    """What `serve.run` needs, with fake sessions."""

    async def close() -> None:
        return None

    return FakeSession, close

"""ToolCall: the model asks the game to do something."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr

from bridge.errors import InvalidValue
from bridge.node import Checks, Kind, ModelNode, SpeakingNode, TurnView, exit_param, param
from bridge.protocol import HistoryRole, Send, ToolCallFormat
from bridge.tool_call import Tool, check_tool


class ToolParam(BaseModel):
    """A tool that the model may call."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    name: str = Field(description="What the model calls it.")
    description: str = Field(default="", max_length=4000, description="What it does, for the model.")
    parameters: dict[str, Any] = Field(
        default_factory=dict, description="JSON Schema of its arguments, of type object; empty: it takes none."
    )


class ToolCall(SpeakingNode, ModelNode):
    """Lets the model call tools of the game. It finds calls and hands them to the game; it never runs anything.

    Each call becomes a `tool_call` event. With `wait_for_result_s` the turn waits for a ToolResult of every call; the
    results, a line each, are the node's slot. `send` and `history_role` apply to what is said beside no call.
    """

    events: ClassVar[Mapping[str, str]] = {"tool_call": "`call_id`, the `tool` and its `arguments`"}

    input: str = param("", "Slot that becomes the user message; empty: the player's line.", kind=Kind.SLOT_INPUT)
    tools: list[ToolParam] = param([], "What the model may call.", structural=True, max_length=64)
    tool_call_format: Literal[ToolCallFormat, ""] = param(
        "", "How calls are written; empty: as the model's catalog entry says, else chatml.", structural=True
    )
    constrain: bool = param(True, "Let the model write only valid arguments once it has begun a call.")
    wait_for_result_s: float = param(
        0.0, "Seconds that the turn waits for the results; 0 = it does not wait.", ge=0, le=3600
    )
    history_disposition: Literal["Omit", "Pair"] = param(
        "Omit", "Pair: later prompts carry each call that has a result, and the result."
    )
    generate_on_no_tool: bool = param(False, "Where no tool is called, what the model said is the node's text.")
    notify_client: bool = param(True, "Tell the game of each call with a tool_call event.")
    send: Send = param("Whole", "What the client sees of text that comes without a call.")
    history_role: HistoryRole = param("Assistant", "How later prompts replay such text.")
    tool_called_exit: str = exit_param("a tool is called")
    no_tool_called_exit: str = exit_param("none is")

    _tools: tuple[Tool, ...] = PrivateAttr(default=())

    def prepare(self, checks: Checks) -> None:
        if not self.tools:
            checks.problem("there is no tool to call; add one", field="tools", error=InvalidValue)
        seen: set[str] = set()
        for index, tool in enumerate(self.tools):
            for path, message in check_tool(tool.model_dump()):
                checks.problem(message, field="tools", error=InvalidValue, index=index, inside=path)
            if tool.name in seen:
                checks.problem(
                    f"two tools are called '{tool.name}'; rename one",
                    field="tools",
                    error=InvalidValue,
                    index=index,
                    inside=".name",
                )
            seen.add(tool.name)
        if self.wait_for_result_s and not self.notify_client:
            checks.problem(
                "the turn waits for results, but notify_client is off, so the game is not told of any call",
                field="wait_for_result_s",
                severity="warning",
            )
        self._tools = tuple(Tool(tool.name, tool.description, tool.parameters) for tool in self.tools)

    async def run(self, turn: TurnView) -> str:
        reply = await turn.ask_for_calls(self._tools, self.tool_call_format, constrain=self.constrain)
        turn.detail(
            calls=[{"tool": call.tool, "arguments": call.arguments} for call in reply.calls],
            ignored=reply.ignored,
            text=reply.text,
        )
        if not reply.calls:
            if self.generate_on_no_tool and reply.text:
                await turn.write(reply.text)
            return "no_tool_called"
        results = await turn.call_tools(
            reply.calls,
            self.tool_call_format,
            notify=self.notify_client,
            wait_s=self.wait_for_result_s,
            keep=self.history_disposition == "Pair",
        )
        if self.wait_for_result_s:
            turn.detail(results=results)
            await turn.write("\n".join(results), spoken=False)
        return "tool_called"

"""How each family of models is told of tools, writes its calls and reads their results. Pure.

One class per format; `tool_format` finds it by name. What a tool's author or a model wrote is never markup.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, TypeAlias

from bridge.engine import Grammar, Wrapping
from bridge.protocol import ToolCallFormat
from bridge.tool_call import Call, Tool
from bridge.tool_schema import inlined

Piece: TypeAlias = tuple[str, bool]
"""(text, whether it is markup, in which control tokens of the template may stand)."""

MOST_CALLS = 4
"""Calls that one reply under a grammar may have."""

_WHEN = (
    "Call one only when it does what the situation asks for, and with values that were really given. "
    "Otherwise answer in plain words."
)


class ToolFormat(ABC):
    """One way to speak with a model about tools."""

    name: ClassVar[ToolCallFormat]
    place: ClassVar[Literal["system", "user"]] = "system"
    """Where the definitions stand: at the end of the system message, or before the current user message."""
    markers: ClassVar[tuple[str, ...]] = ()
    """What the model may write as control tokens for a call; a parser must see them."""
    keys: ClassVar[tuple[str, str]] = ("name", "arguments")
    """The keys of a call in JSON: of the tool and of its arguments."""

    @abstractmethod
    def definitions(self, tools: Sequence[Tool]) -> list[Piece]:
        """The text that tells the model of its tools."""

    @abstractmethod
    def calls(self, calls: Sequence[Call]) -> list[Piece]:
        """What an assistant message with these calls says."""

    @abstractmethod
    def results(self, pairs: Sequence[tuple[Call, str]]) -> list[Piece]:
        """What the user message with the results of these calls says."""

    @abstractmethod
    def grammar(self, tools: Sequence[Tool]) -> Grammar:
        """What calls must look like once they begin. `tools` are checked, and not none."""

    def _schema(self, tools: Sequence[Tool]) -> Mapping[str, Any]:
        name, arguments = self.keys
        return {
            "anyOf": [
                {
                    "type": "object",
                    "properties": {name: {"const": tool.name}, arguments: inlined(tool.parameters)},
                    "required": [name, arguments],
                }
                for tool in tools
            ]
        }

    def _call(self, call: Call) -> str:
        name, arguments = self.keys
        return _json({name: call.tool, arguments: call.arguments})

    def _heads(self) -> tuple[str, ...]:
        """How a call begins where no marker does."""
        return tuple(f'{{{space}"{self.keys[0]}"' for space in ("", " ", "\n", "\n  ", "\n    ", "\n\t"))


class ChatMLTools(ToolFormat):
    """Qwen's and Hermes': JSON between tags."""

    name = "chatml"
    markers = ("<tool_call>", "</tool_call>")

    def definitions(self, tools: Sequence[Tool]) -> list[Piece]:
        return [
            ("# Tools\n\nThese functions can be called; their signatures stand between <tools> tags:\n<tools>", True),
            ("".join(f"\n{_json(_function(tool))}" for tool in tools) + "\n", False),
            (
                f"</tools>\n\n{_WHEN}\nA call is a JSON object with the function's name and its arguments between "
                '<tool_call> tags:\n<tool_call>\n{"name": <function-name>, "arguments": <args-json-object>}\n'
                "</tool_call>",
                True,
            ),
        ]

    def calls(self, calls: Sequence[Call]) -> list[Piece]:
        pieces: list[Piece] = []
        for call in calls:
            pieces += [("\n<tool_call>\n" if pieces else "<tool_call>\n", True), (self._call(call), False)]
            pieces.append(("\n</tool_call>", True))
        return pieces

    def results(self, pairs: Sequence[tuple[Call, str]]) -> list[Piece]:
        pieces: list[Piece] = []
        for _, result in pairs:
            pieces += [("\n<tool_response>\n" if pieces else "<tool_response>\n", True), (result, False)]
            pieces.append(("\n</tool_response>", True))
        return pieces

    def grammar(self, tools: Sequence[Tool]) -> Grammar:
        return Grammar(self._schema(tools), (Wrapping("<tool_call>", "</tool_call>"),), MOST_CALLS)


class Llama3Tools(ToolFormat):
    """Llama's: JSON that is the whole reply, perhaps behind a token of its own."""

    name = "llama3"
    place = "user"
    markers = ("<|python_tag|>",)
    keys = ("name", "parameters")

    def definitions(self, tools: Sequence[Tool]) -> list[Piece]:
        listed = "\n\n".join(_json(_function(tool), indent=4) for tool in tools)
        return [
            (
                "The functions below can be called with JSON that is the whole reply, in the format "
                '{"name": function name, "parameters": dictionary of argument name and its value}. '
                f"Do not use variables. {_WHEN}\n\n{listed}\n\n",
                False,
            )
        ]

    def calls(self, calls: Sequence[Call]) -> list[Piece]:
        return [("\n".join(map(self._call, calls)), False)]

    def results(self, pairs: Sequence[tuple[Call, str]]) -> list[Piece]:
        return [("\n".join(_json({"name": call.tool, "output": result}) for call, result in pairs), False)]

    def grammar(self, tools: Sequence[Tool]) -> Grammar:
        wrappings = (Wrapping("<|python_tag|>"), Wrapping("", heads=self._heads()))
        return Grammar(self._schema(tools), wrappings, MOST_CALLS)


class MistralTools(ToolFormat):
    """Mistral's: one JSON list behind a token of its own."""

    name = "mistral"
    place = "user"
    markers = ("[TOOL_CALLS]",)

    def definitions(self, tools: Sequence[Tool]) -> list[Piece]:
        return [
            ("[AVAILABLE_TOOLS]", True),
            (f" {_json([_function(tool) for tool in tools])}", False),
            ("[/AVAILABLE_TOOLS]", True),
        ]

    def calls(self, calls: Sequence[Call]) -> list[Piece]:
        return [("[TOOL_CALLS]", True), (f" [{', '.join(map(self._call, calls))}]", False)] if calls else []

    def results(self, pairs: Sequence[tuple[Call, str]]) -> list[Piece]:
        pieces: list[Piece] = []
        for call, result in pairs:
            pieces += [("[TOOL_RESULTS]", True), (f" {_json({'name': call.tool, 'content': result})}", False)]
            pieces.append(("[/TOOL_RESULTS]", True))
        return pieces

    def grammar(self, tools: Sequence[Tool]) -> Grammar:
        schema = {"type": "array", "items": self._schema(tools), "minItems": 1, "maxItems": MOST_CALLS}
        return Grammar(schema, (Wrapping("[TOOL_CALLS]"),))


class GenericTools(ToolFormat):
    """For models that were taught no format: said in plain words."""

    name = "generic"
    keys = ("tool", "args")

    def definitions(self, tools: Sequence[Tool]) -> list[Piece]:
        listed = "\n".join(
            f"- {tool.name}: {tool.description}\n  args: {_json(tool.parameters or {'type': 'object'})}"
            for tool in tools
        )
        return [
            (
                f"You can use these tools:\n{listed}\n\nTo use one, reply with nothing but a JSON object: "
                f'{{"tool": "<name>", "args": {{…}}}}\n{_WHEN}',
                False,
            )
        ]

    def calls(self, calls: Sequence[Call]) -> list[Piece]:
        return [("\n".join(map(self._call, calls)), False)]

    def results(self, pairs: Sequence[tuple[Call, str]]) -> list[Piece]:
        return [("\n".join(f"Result of {call.tool}: {result}" for call, result in pairs), False)]

    def grammar(self, tools: Sequence[Tool]) -> Grammar:
        wrappings = (
            Wrapping("", heads=self._heads()),
            *(Wrapping(f"```{kind}\n", "```", self._heads()) for kind in ("json", "")),
        )
        return Grammar(self._schema(tools), wrappings, MOST_CALLS)


_FORMATS: dict[ToolCallFormat, ToolFormat] = {
    made.name: made for made in (ChatMLTools(), Llama3Tools(), MistralTools(), GenericTools())
}


def tool_format(name: ToolCallFormat) -> ToolFormat:
    """The format of this name."""
    return _FORMATS[name]


def _function(tool: Tool) -> dict[str, Any]:
    parameters = tool.parameters or {"type": "object", "properties": {}}
    return {
        "type": "function",
        "function": {"name": tool.name, "description": tool.description, "parameters": parameters},
    }


def _json(value: object, indent: int | None = None) -> str:
    return json.dumps(value, ensure_ascii=False, indent=indent, default=_plain)


def _plain(value: object) -> Any:
    return dict(value) if isinstance(value, Mapping) else str(value)

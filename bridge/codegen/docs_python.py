"""The pages of the Python interfaces: the client for programs, and what a node type may use."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from bridge import client, companion, launch
from bridge.codegen.markdown import code, page, prose, table
from bridge.errors import ParleyError
from bridge.node import Checks, Node, TurnView

Member = tuple[str, str, str]
"""Name, how it is used, meaning."""

PYTHON = (launch.Sidecar, client.ParleyClient, client.Subscription, companion.Companion, companion.Character)
FAILURES: tuple[tuple[str, str], ...] = (
    (
        "`bridge.errors.ParleyError`",
        "The sidecar refuses a request. Its class is that of the [error](errors.md), such as `WorkflowInvalid`; all "
        "are in `bridge.errors`, by code in `BY_CODE`.",
    ),
    ("`TimeoutError`", "Nobody answered in time; after `connect`, for this one request. The session goes on."),
    (
        "`ConnectionError`, `SessionExpired`, `ShuttingDown`",
        "The session is over for good; `ParleyClient.lost` says why.",
    ),
    ("`bridge.launch.SidecarFailed`", "The sidecar ended before it was ready; `exit_code`, and its last lines."),
)
NOT_FOR_PROGRAMS = {"put", "end", "observe", "settle", "mirror", "make", "forget", "up", "keep_trying"}
"""Public names that one of the classes uses of another."""


def python_page(mark: str) -> str:
    """The client, the launcher and the companion."""
    blocks: list[list[str] | str] = [
        "# The Python client",
        "What a program in Python talks to a sidecar with. All of it runs on one asyncio loop, a selector loop (on "
        "Windows: `bridge.transport.run_on_selector_loop`). [Messages](messages.md) has the requests that "
        "`request` sends.",
        [
            "```python",
            "async with Sidecar() as sidecar, await ParleyClient.connect(sidecar.endpoint, sidecar.token) as client:",
            '    agent = await client.create_agent_from_file("inn.workflow.json")',
            '    async for frame in client.turn(agent.agent_id, "Good evening!"):',
            "        ...  # frame.message is a push: AnswerText, NodeEvent, …, at last TurnComplete",
            "```",
        ],
    ]
    for cls in PYTHON:
        blocks += [f"## {cls.__name__}", code(f"from {cls.__module__} import {cls.__name__}"), prose(_doc(cls))]
        made = getattr(cls, "connect", cls.__init__)
        if cls not in (client.Subscription, companion.Character):
            name = f"await {cls.__name__}.connect" if made is not cls.__init__ else cls.__name__
            blocks.append(["```python", signature(name, made), "```"])
            blocks += [prose(_doc(made))] if made is not cls.__init__ else []
        rows = [row for row in members_of(cls) if row[0] not in ("connect", *_skipped(cls))]
        blocks.append(table(("", "meaning"), [(code(used), prose(_line(meaning))) for _, used, meaning in rows]))
    faults = [name for name in inspect.signature(ParleyError.__init__).parameters if name not in ("self", "message")]
    attributes = ", ".join(map(code, ["code", "name", "message", *faults]))
    blocks += [
        "## What is raised",
        table(("exception", "means"), FAILURES),
        f"Each `ParleyError` has {attributes}. `problems` are all findings about a workflow, each a "
        "[Problem](messages.md#problem) with `severity`, `path`, `node_name` and `message`; the text of the exception "
        f"has the first {client.SHOWN_PROBLEMS} of them.",
    ]
    return page(mark, *blocks)


def node_api_page(mark: str) -> str:
    """What a node type sees of its turn and of the compiler."""
    blocks: list[list[str] | str] = [
        "# What a node type may use",
        "[A node type of your own](../howto/your-own-node.md) goes through an example. All of this is in "
        "`bridge.node`.",
    ]
    for cls, about in ((TurnView, "`run(self, turn)`"), (Checks, "`prepare(self, checks)`"), (Node, "the class")):
        what = f"{about}: {prose(_doc(cls))}"
        blocks += [f"## {cls.__name__}", what]
        rows = [(code(used), prose(_line(meaning))) for _, used, meaning in members_of(cls)]
        blocks.append(table(("", "meaning"), rows))
    blocks += [
        "## Faults",
        "What `run` raises ends the turn with [4001 InferenceFailed](errors.md), whose message names the node, its "
        "type and the exception; the sidecar's log has the traceback.",
    ]
    return page(mark, *blocks)


def undescribed() -> Iterator[str]:
    """Every public name of these pages that has no meaning."""
    for cls in (*PYTHON, TurnView, Checks, Node):
        for name, _, meaning in members_of(cls):
            if not meaning and name not in _skipped(cls):
                yield f"{cls.__name__}.{name}"


def members_of(cls: type) -> list[Member]:
    """The public methods and properties that a class declares itself, in the order of their declaration."""
    found: list[Member] = []
    for name, value in cls.__dict__.items():
        if name.startswith(("_", "model_")):
            continue
        if isinstance(value, property):
            found.append((name, name, _doc(value)))
        elif isinstance(value, (classmethod, staticmethod)):
            found.append((name, signature(name, value.__func__), _doc(value.__func__)))
        elif inspect.isfunction(value):
            waits = "await " if inspect.iscoroutinefunction(value) else ""
            waits = "async for … in " if inspect.isasyncgenfunction(value) else waits
            found.append((name, waits + signature(name, value), _doc(value)))
    return found


def signature(name: str, function: Callable[..., Any]) -> str:
    """A function as one calls it: its parameters with their types and defaults."""
    taken: Sequence[inspect.Parameter] = list(inspect.signature(function).parameters.values())
    shown = []
    bare = False
    for item in taken:
        if item.name in ("self", "cls"):
            continue
        if item.kind is inspect.Parameter.KEYWORD_ONLY and not bare:
            bare = True
            shown.append("*")
        if item.kind is inspect.Parameter.VAR_POSITIONAL:
            bare = True
        star = "*" if item.kind is item.VAR_POSITIONAL else "**" if item.kind is item.VAR_KEYWORD else ""
        text = f"{star}{item.name}: {item.annotation}" if item.annotation is not item.empty else star + item.name
        shown.append(text if item.default is item.empty else f"{text} = {item.default!r}")
    given = inspect.signature(function).return_annotation
    arrow = f" -> {given}" if given not in (inspect.Signature.empty, None, "None") else ""
    return f"{name}({', '.join(shown)}){arrow}"


def _skipped(cls: type) -> set[str]:
    return NOT_FOR_PROGRAMS - {"make"} if cls is companion.Companion else NOT_FOR_PROGRAMS if cls in PYTHON else set()


def _line(text: str) -> str:
    return " ".join(text.split())


def _doc(what: object) -> str:
    """The docstring on one line for each paragraph; that of a dataclass is only its signature."""
    text = inspect.cleandoc(getattr(what, "__doc__", None) or "")
    if dataclasses.is_dataclass(what) and text.startswith(getattr(what, "__name__", "\0")):
        return ""
    return re.sub(r"(?<!\n)\n(?!\n)", " ", text)

"""The reference pages: node types, messages, errors, settings, commands, workflow files and templates."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping

from pydantic import BaseModel

from bridge import protocol
from bridge.catalog import CatalogEntry
from bridge.codegen import TARGETS, Pages
from bridge.codegen.docs_cli import cli_page, commands
from bridge.codegen.docs_python import node_api_page, python_page, undescribed
from bridge.codegen.docs_storages import storages_page
from bridge.codegen.docs_workflow import KINDS, tags_of, templates_page, workflow_fields, workflow_page
from bridge.codegen.fields import Row, docstring, records_of, rows_of, summary_of
from bridge.codegen.markdown import anchor, code, page, prose, table
from bridge.config import ENVIRONMENT_PREFIX, Settings, settings_table
from bridge.errors import BY_CODE
from bridge.node import Kind, ModelNode, Node, Registry, field_kind, is_structural

MARK = TARGETS["docs"].mark
FAMILIES = {
    1: "Who may talk",
    2: "Not now",
    3: "What was asked for",
    4: "A turn failed",
    5: "The wire",
    6: "Models",
    7: "String storages",
    8: "Embedded storages",
}
"""What the error codes of a thousand are about."""


def emit(registry: Registry) -> Pages:
    """Every page of the reference."""
    return {
        "nodes.md": nodes_page(registry),
        **{f"nodes/{name}.md": node_page(cls) for name, cls in registry.items()},
        "messages.md": messages_page(),
        "errors.md": errors_page(),
        "settings.md": settings_page(),
        "catalog.md": catalog_page(),
        "cli.md": cli_page(MARK),
        "workflow.md": workflow_page(MARK),
        "templates.md": templates_page(MARK, registry),
        "storages.md": storages_page(MARK, registry),
        "python.md": python_page(MARK),
        "node-api.md": node_api_page(MARK),
    }


def missing_meanings(registry: Registry) -> list[str]:
    """Everything that a reader would find undescribed."""
    missing = []
    models: dict[str, type[BaseModel]] = {
        **registry,
        **protocol.MESSAGES,
        "Settings": Settings,
        "CatalogEntry": CatalogEntry,
    }
    for name, model in {**models, **records_of(*models.values())}.items():
        missing += [] if docstring(model) else [name]
        missing += [f"{name}.{row.name}" for row in rows_of(model, str) if not row.meaning]
    missing += [f"Workflow.{name}" for name, field in workflow_fields() if not field.get("description")]
    missing += [f"Kind.{kind.value}" for kind in Kind if kind not in KINDS]
    missing += [f"error {code}" for code, cls in BY_CODE.items() if "remedy" not in cls.__dict__]
    missing += [f"errors {code // 1000}xxx" for code in BY_CODE if code // 1000 not in FAMILIES]
    missing += [f"parley {gap}" for command in commands() for gap in command.undescribed()]
    missing += undescribed()
    return missing


# ---- node types ----------------------------------------------------------------------------------------------


def nodes_page(registry: Registry) -> str:
    """The catalogue of node types."""
    rows = [
        (
            f"[{name}](nodes/{name}.md)",
            prose(summary_of(cls)),
            ", ".join(code(name) for name in cls.exit_fields()),
            "yes" if cls.produces() else "no",
            "yes" if issubclass(cls, ModelNode) else "no",
        )
        for name, cls in registry.items()
    ]
    return page(
        MARK,
        "# Node types",
        "A node in a workflow is its `name`, its `type` and its parameters, side by side; what is left out has its "
        "default. [workflow.md](workflow.md) has the file around it, [templates.md](templates.md) the tags that a "
        "template may hold, [storages.md](storages.md) the files that a node may name.",
        table(("type", "does", "exits", "writes a slot", "uses a model"), rows),
        "## Kinds of parameters",
        "The kind says what a value means to the compiler and what an editor offers for it.",
        table(("kind", "means"), [(code(kind.value), prose(KINDS.get(kind, ""))) for kind in Kind]),
        "## Fixed and changeable",
        "A parameter that is *fixed* is set when the agent is created, as are the name, the type and every exit. All "
        "others change between turns with [ChangeParams](messages.md#changeparams)."
        if "ChangeParams" in protocol.REQUESTS
        else "A parameter that is *fixed* is set when the agent is created, as are the name, the type and every exit.",
    )


def node_page(cls: type[Node]) -> str:
    """One node type."""
    records = records_of(cls)
    rows = rows_of(cls, _link_here)
    return page(
        MARK,
        f"# {cls.type_name}",
        prose(docstring(cls)) or "(no description)",
        ["```json", _example(cls), "```"],
        "## Parameters",
        table(
            ("name", "type", "default", "bounds", "kind", "fixed", "meaning"),
            [_parameter(row) for row in rows if field_kind(row.info) is not Kind.EXIT],
        ),
        *_record_blocks(records),
        "## Exits",
        table(
            ("exit", "parameter", "meaning"),
            [
                (code(row.name.removesuffix("_exit")), code(row.name), prose(row.meaning))
                for row in rows
                if field_kind(row.info) is Kind.EXIT
            ],
        ),
        "## What it writes",
        list(_writes(cls, {row.name: row for row in rows})),
        "[All node types](../nodes.md)",
    )


def _example(cls: type[Node]) -> str:
    """The node with nothing but what every node has."""
    fields = {"name": "my_node", "type": cls.type_name, **dict.fromkeys(cls.exit_fields().values(), "")}
    return json.dumps(fields)


def _parameter(row: Row) -> tuple[str, ...]:
    return (
        code(row.name),
        row.type,
        code(row.default) if row.default else "required",
        row.bounds,
        field_kind(row.info).value,
        "yes" if is_structural(row.info) else "no",
        prose(row.meaning),
    )


def _writes(cls: type[Node], rows: Mapping[str, Row]) -> Iterator[str]:
    outputs = cls.fields_of(Kind.SLOT_OUTPUT)
    for field in outputs:
        yield (
            f"- The slot named by `{field}`, else by its own name; templates read it as `{{{{slot.<name>}}}}`, other "
            "nodes by `input`."
        )
    if not outputs:
        yield "- No slot."
    if outputs and "send" not in rows:
        yield "- Its text is never sent to the client, and never replayed in later prompts."
    elif outputs:
        yield (
            f"- Unless `send` says otherwise ({code(rows['send'].default)}), the client sees "
            + {'"None"': "nothing of it.", '"Whole"': "it in one piece."}.get(
                rows["send"].default, "it as it is written."
            )
        )
        replayed = rows["history_role"].default == '"Assistant"'
        yield (
            f"- Unless `history_role` says otherwise ({code(rows['history_role'].default)}), later prompts "
            + ("replay it." if replayed else "do not replay it.")
        )
    for tag, meaning in tags_of(cls).items():
        yield f"- The tag {code(tag)}: {prose(meaning)}."
    for event, data in cls.events.items():
        yield f"- The [NodeEvent](../messages.md#nodeevent) {code(event)}: {prose(data)}."


def _link_here(name: str) -> str:
    return f"[{name}](#{anchor(name)})"


def _record_blocks(records: Mapping[str, type[BaseModel]]) -> Iterator[list[str] | str]:
    for name, model in records.items():
        yield f"### {name}"
        yield prose(docstring(model))
        yield _field_table(model)


def _field_table(model: type[BaseModel]) -> list[str]:
    return table(
        ("field", "type", "default", "bounds", "meaning"),
        [
            (code(row.name), row.type, code(row.default) if row.default else "required", row.bounds, prose(row.meaning))
            for row in rows_of(model, _link_here)
        ],
    )


# ---- messages ------------------------------------------------------------------------------------------------


def answers() -> dict[str, str]:
    """Request → the reply that answers it when nothing goes wrong, as the docstrings of the replies say."""
    found = dict.fromkeys(protocol.REQUESTS, "Ok")
    for name, reply in protocol.REPLIES.items():
        said = re.match(r"Answers ([^.:,]*(?:, [A-Z][^.:,]*)*)", docstring(reply))
        for request in re.findall(r"[A-Z]\w+", said[1] if said else ""):
            if request in found:
                found[request] = name
    return found


def messages_page() -> str:
    """Every message."""
    replies = answers()
    groups: list[tuple[str, str, Iterable[str]]] = [
        (
            "Requests",
            "What a client sends. Each is answered exactly once, by its reply or by [Error](#error).",
            protocol.REQUESTS,
        ),
        ("Replies", "What answers a request, with its `request_id`.", protocol.REPLIES),
        ("Pushes", "What the sidecar sends unasked, with `request_id` 0.", protocol.PUSHES),
    ]
    blocks: list[list[str] | str] = [
        "# Messages",
        f"Protocol version {protocol.PROTOCOL_VERSION}. A message is its type, 16 bytes (`request_id` and `seq`, both "
        "64 bits, little-endian), a JSON object with these fields and, where it says so, a binary payload; one part "
        "of a ZeroMQ message each. Fields that a peer does not know are ignored.",
        table(
            ("request", "reply"),
            [(_link_here(request), _link_here(reply)) for request, reply in replies.items()],
        ),
    ]
    for title, about, names in groups:
        blocks += [f"## {title}", about]
        for name in names:
            model = protocol.MESSAGES[name]
            blocks += [f"### {name}", prose(docstring(model))]
            if name in replies:
                blocks.append(f"Answered by {_link_here(replies[name])}.")
            blocks.append(_field_table(model) or "No fields.")
    blocks += ["## Records", "What stands inside messages."]
    blocks += _record_blocks(records_of(*protocol.MESSAGES.values()))
    return page(MARK, *blocks)


# ---- errors and settings -------------------------------------------------------------------------------------


def errors_page() -> str:
    """Every error code."""
    blocks: list[list[str] | str] = [
        "# Errors",
        "`code` and `name` are on the wire, in [Error](messages.md#error), [TurnError](messages.md#turnerror), "
        "[Warning](messages.md#warning) and, of findings about a workflow, in [Problem](messages.md#problem). The "
        "`message` beside them says what was wrong, where, and what would be right.",
    ]
    for family in sorted({number // 1000 for number in BY_CODE}):
        blocks.append(f"## {FAMILIES.get(family, f'{family}xxx')}")
        blocks.append(
            table(
                ("code", "name", "meaning", "what to do"),
                [
                    (str(number), code(cls.__name__), prose(cls.text), prose(cls.remedy))
                    for number, cls in BY_CODE.items()
                    if number // 1000 == family
                ],
            )
        )
    return page(MARK, *blocks)


def settings_page() -> str:
    """Every setting."""
    types = {row.name: row.type for row in rows_of(Settings, str)}
    rows = [
        (code(key), types.get(key, ""), code(_toml(default)), bounds, scope, prose(meaning))
        for key, scope, default, bounds, meaning in settings_table()
    ]
    return page(
        MARK,
        "# Settings",
        "They come from `parley.toml` (in the working directory, or named by `--config`), then from environment "
        f"variables `{ENVIRONMENT_PREFIX}<KEY>` (such as `{ENVIRONMENT_PREFIX}LOG_LEVEL`), then from flags; later "
        "wins. An unknown key is an error that names it. They are read once, when the sidecar starts.",
        table(("key", "type", "default", "bounds", "scope", "meaning"), rows),
    )


def catalog_page() -> str:
    """The catalog of models."""
    return page(
        MARK,
        "# The model catalog",
        'A JSON file `{"models": [...]}`; the setting `catalog` names it. Its entries are added to those that come '
        "with Parley, and take the place of those with the same name. `parley models list` shows what there is.",
        "## An entry",
        prose(docstring(CatalogEntry)),
        _field_table(CatalogEntry),
        *_record_blocks(records_of(CatalogEntry)),
    )


def _toml(default: str) -> str:
    """A default as `settings_table` writes it, in the way of the settings file."""
    return {"True": "true", "False": "false"}.get(default, default.replace("'", '"'))

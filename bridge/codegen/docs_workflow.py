"""The pages of the workflow file and of its templates."""

from __future__ import annotations

import json
from typing import Any, get_args

from bridge.authoring import RESERVED
from bridge.codegen.markdown import code, page, prose, table
from bridge.node import Kind, Node, Placement, Registry
from bridge.protocol import HistoryRole, Send
from bridge.schema import full_schema
from bridge.variables import VARIABLE_TYPES
from bridge.workflow import WORKFLOW_VERSION

KINDS: dict[str, str] = {
    "plain": "A value as its type says.",
    "text": "Text of several lines.",
    "template": "Text of several lines with Mustache tags, compiled with the workflow.",
    "regex_list": "RE2 patterns, compiled with the workflow.",
    "string_storage": "A file below the session's storage folder (`.txt`, `.json`, `.mm.json`), or the name that a "
    "string storage was created under.",
    "embedded_storage": "A config file below the session's storage folder, or the name that an embedded storage was "
    "created under.",
    "filter": "A tree of conditions on the fields of an embedded storage, compiled with the workflow.",
    "model": "A model of the catalog.",
    "voice": "A voice of the catalog.",
    "file": "A path below the session's storage folder.",
    "slot_input": "A slot that some node writes; empty means the player's line.",
    "slot_output": "The slot to write; empty means the node's own name.",
    "name": "A name: letters, digits and `_`, not beginning with a digit, at most 64 characters.",
    "variable": "A variable that the workflow declares; empty means none.",
    "exit": "A node of the workflow; empty ends the turn.",
}
"""What each kind of parameter means."""

SEND = {
    "None": "nothing",
    "Whole": "one frame with the full text: `is_delta` false, `is_final` true",
    "Streamed": "frames with `is_delta` true while the text is written; the last has `is_final` true. Joined they are "
    "the text",
}
HISTORY_ROLE = {
    "None": "never",
    "Assistant": "as an assistant message of its own: in later nodes' prompts of the same turn and on every later turn",
}
PLACEMENT = {
    "InPlaceOfUser": "instead of the user message; `{{user_message}}` is the player's line",
    "BeforeUserAsUser": "a user message of its own before the text of `input`",
    "BeforeUserAsSystem": "a system message before the text of `input`",
    "AfterUserAsUser": "a user message of its own after the text of `input`",
    "AfterUserAsSystem": "a system message after the text of `input`",
}
VARIABLES = {
    "int": ("a whole number", "`3`", "`{{#var.x}}` shows unless it is 0"),
    "float": ("a number", "`0.5`", "in its shortest form; `{{#var.x}}` shows unless it is 0"),
    "string": ("a text", '`"north"`', "`{{#var.x}}` shows unless it is empty"),
    "bool": ("yes or no", "`true`", "`true` or `false`; `{{#var.x}}` shows if it is true"),
    "string_set": (
        "a set of texts",
        '`["sword", "lamp"]`',
        "sorted and joined with `, `; `{{#var.x}}{{.}} {{/var.x}}` goes through it",
    ),
}
TAGS: tuple[tuple[str, str], ...] = (
    ("{{user_message}}", "the player's line (empty where `placement` leaves the user message in its place)"),
    ("{{slot.<name>}}", "what a node wrote to that slot this turn"),
    ("{{var.<name>}}", "a variable of the game, as it was when the turn started"),
    ("{{intent}}", "the id of the intent that was found this turn"),
    ("{{attribute.<name>}}", "the label that was found for an attribute this turn"),
    ("{{summary}}", "the summary of the oldest turns"),
    (
        "{{#instructions}}{{name}} {{text}}{{/instructions}}",
        "every instruction of this turn, in the order of execution",
    ),
    ("{{instruction_<name>}}", "one instruction's text"),
    (
        "{{#knowledge}}{{name}} {{has_chunks}} {{#chunks}}{{id}} {{text}} {{distance}}{{/chunks}}{{/knowledge}}",
        "every source that was searched this turn, with its chunks, nearest first",
    ),
    (
        "{{#knowledge_<source>}}{{id}} {{text}} {{distance}}{{/knowledge_<source>}}",
        "the chunks of one source, nearest first",
    ),
)
"""Every tag with what it stands for."""


def tags_of(cls: type[Node]) -> dict[str, str]:
    """The template tags that a type fills, beside its slot's, each with what it stands for."""
    named = f"`{cls.tag_name_field}`, else its own name" if cls.tag_name_field else "its own name"
    family = {f"{{{{{cls.tag_family}<name>}}}}": f"what it adds to the turn; the name is {named}"}
    return {**(family if cls.tag_family else {}), **cls.offers}


def workflow_fields() -> list[tuple[str, dict[str, Any]]]:
    """The fields of a workflow file by name, each with its JSON Schema."""
    return list(full_schema({})["$defs"]["Workflow"]["properties"].items())


def workflow_page(mark: str) -> str:
    """The workflow file."""
    required = full_schema({})["$defs"]["Workflow"]["required"]
    fields = [
        (
            code(name),
            "required" if name in required else code(json.dumps(field.get("default", _EMPTY.get(field.get("type"))))),
            prose(field.get("description", "")),
        )
        for name, field in workflow_fields()
    ]
    return page(
        mark,
        "# The workflow file",
        "One JSON object in a file that ends in `.workflow.json`; the same object is the `workflow` of "
        "[CreateAgent](messages.md#createagent). `parley validate FILE` lists every finding at once, by node, field "
        "and JSON path.",
        [
            "```json",
            f'{{"version": {WORKFLOW_VERSION}, "start_node": "mira", "default_model": "starter-chat",',
            ' "variables": [{"name": "gold", "type": "int", "value": 3}],',
            ' "nodes": [',
            '  {"name": "mira", "type": "Generate", "system_prompt": "Mira keeps the inn.", "default_exit": "bram"},',
            '  {"name": "bram", "type": "Generate", "input": "mira", "default_exit": ""}]}',
            "```",
        ],
        table(("field", "default", "meaning"), fields),
        "## Nodes",
        "A node is its `name`, its `type` and its parameters, side by side; [nodes.md](nodes.md) is the catalogue. A "
        "turn begins at `start_node` and follows the exits, the fields `<exit>_exit`, until one is empty. Names of "
        "nodes, slots, variables and sources have letters, digits and `_`, do not begin with a digit, have at most 64 "
        f"characters and are compared exactly. `{RESERVED}` is the slot of the player's line; no node may be called "
        "so, and none may write it.",
        "## Slots",
        "Every node that produces text writes it to the slot named by `output_name`, else by its own name. A slot "
        "lives for the turn; writing again overwrites it, and one that was not written reads as empty. `input` names "
        "the slot that a node reads; `{{slot.<name>}}` in a template reads any. What the client sees and what later "
        "prompts replay are decided apart from that:",
        table(("`send`", "the client sees"), [(code(name), SEND[name]) for name in get_args(Send)]),
        table(
            ("`history_role`", "later prompts replay the text"),
            [(code(name), HISTORY_ROLE[name]) for name in get_args(HistoryRole)],
        ),
        "`history_name` stands before the replayed text as `<history_name>: `, so that models can tell several "
        "speakers apart. What the client is sent never carries it.",
        "## Variables",
        'Declared in the workflow as `{"name", "type", "value"}`, owned by the game, never written by a node. '
        "`variables` of [CreateAgent](messages.md#createagent) overrides values, "
        "[SetVariables](messages.md#setvariables) changes them at any time, all or nothing; a turn sees them as they "
        "were when it started.",
        table(
            ("type", "holds", "as JSON", "in a template"),
            [(code(name), *VARIABLES[name]) for name in VARIABLE_TYPES],
        ),
    )


def templates_page(mark: str, registry: Registry) -> str:
    """The tags."""
    fillers = {
        tag: [name for name, cls in registry.items() if _family(tag) in {_family(offer) for offer in tags_of(cls)}]
        for tag, _ in TAGS
    }
    uses = [
        (f"[{name}](nodes/{name}.md)", ", ".join(code(field) for field in cls.fields_of(Kind.TEMPLATE)))
        for name, cls in registry.items()
        if cls.fields_of(Kind.TEMPLATE)
    ]
    return page(
        mark,
        "# Templates",
        "Mustache, with these tags and no others: any other is found when the workflow is compiled, with node, field "
        "and line. System prompts are no templates; they are kept byte for byte.",
        table(
            ("tag", "stands for", "filled by"),
            [
                (code(tag), meaning, ", ".join(f"[{name}](nodes/{name}.md)" for name in fillers[tag]))
                for tag, meaning in TAGS
            ],
        ),
        "Sections `{{#…}} … {{/…}}` and inverted sections `{{^…}} … {{/…}}` work with each of them: false, 0, empty "
        "texts, empty lists and what was not written are left out. `{{! … }}` is a comment. Values are inserted as "
        "they are: never HTML-escaped, never read as a template again. Partials and other delimiters are refused.",
        "## Where templates stand",
        table(("node type", "parameters"), uses),
        "## `placement`",
        "Where the rendering of a node's `template` stands in its prompt.",
        table(("value", "the rendering is"), [(code(name), PLACEMENT[name]) for name in get_args(Placement)]),
        "In place, a rendering that is empty gives the player's line. Anywhere else `{{user_message}}` is empty, "
        "because the text of `input` stays a message of its own, and a rendering of white space adds no message.",
    )


_EMPTY: dict[object, object] = {"string": "", "array": []}


def _family(tag: str) -> str:
    """What a tag begins with: `{{#knowledge}}`, `{{#knowledge_<source>}}` and `{{knowledge_<name>}}` are one family."""
    head = tag.lstrip("{#").split("}")[0].split("<")[0]
    return {"instructions": "instruction_", "knowledge": "knowledge_"}.get(head, head)

"""The JSON Schema of everything that is written down: messages, workflows, node types."""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter

from bridge.node import Registry
from bridge.protocol import json_schema
from bridge.variables import VARIABLE_TYPES
from bridge.workflow import WORKFLOW_VERSION


def full_schema(registry: Registry) -> dict[str, Any]:
    """One document: messages under `$defs`, the workflow file as `$defs/Workflow`, its nodes as `$defs/Node…`."""
    document = json_schema()
    definitions = document["$defs"]
    for name, cls in registry.items():
        node = TypeAdapter(cls).json_schema(ref_template="#/$defs/{model}")
        definitions.update(node.pop("$defs", {}))
        properties = node.pop("properties")
        node["properties"] = {"type": {"const": name}, **properties}
        node["required"] = ["name", "type"]
        definitions[f"Node{name}"] = node
    definitions["Workflow"] = {
        "description": "A workflow file (.workflow.json).",
        "type": "object",
        "additionalProperties": False,
        "required": ["start_node", "nodes"],
        "properties": {
            "version": {
                "const": WORKFLOW_VERSION,
                "default": WORKFLOW_VERSION,
                "description": "The version of this format; a sidecar refuses a newer one.",
            },
            "start_node": {"type": "string", "description": "The node that a turn begins with."},
            "default_model": {"type": "string", "description": "Model of nodes that name none."},
            "player_name": {
                "type": "string",
                "default": "Player",
                "maxLength": 200,
                "description": "The player's label in scripts (transcript format).",
            },
            "variables": {
                "type": "array",
                "description": "What the game lets templates and filters read.",
                "items": {
                    "type": "object",
                    "additionalProperties": False,
                    "required": ["name", "type", "value"],
                    "properties": {
                        "name": {"type": "string", "description": "As in {{var.<name>}}."},
                        "type": {"enum": list(VARIABLE_TYPES), "description": "What values it takes."},
                        "value": {"description": "What it is until the game changes it."},
                    },
                },
            },
            "nodes": {
                "type": "array",
                "description": "The steps of a turn; their order means nothing.",
                "minItems": 1,
                "items": {"anyOf": [{"$ref": f"#/$defs/Node{name}"} for name in registry]},
            },
        },
    }
    return document

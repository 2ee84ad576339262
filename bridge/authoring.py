"""Edits to a workflow that keep every reference right: names, renames, deletion, the choices for `input`.

Pure: raw JSON in, new raw JSON out. The input is never changed, and values that an edit does not touch are
shared with it, not copied. Field order and unknown fields are kept. A workflow need not compile; what is
required of it is a list of nodes, each an object whose `name` and `output_name`, where given, are texts.

A broken workflow may hold two nodes of one name. An edit then means the first of them, and a reference stays
as it is while another node still answers to it: it follows only where no other node could be meant.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

NAME_PATTERN: re.Pattern[str] = re.compile(r"\A[A-Za-z_][A-Za-z0-9_]*\Z")
MAX_NAME = 64
RESERVED = "user_message"

Reason = Literal["reserved", "grammar", "unknown_node", "not_a_workflow"]


class AuthoringError(ValueError):
    """An edit that is refused; the message says in one sentence what is wrong, where, and what to do."""

    def __init__(self, reason: Reason, message: str) -> None:
        super().__init__(message)
        self.reason: Reason = reason


@dataclass(frozen=True, slots=True)
class NodeKind:
    """What these rules must know of a node type."""

    produces: bool
    """The type writes a slot."""
    template_fields: frozenset[str] = frozenset({"template", "instruction"})
    input_fields: frozenset[str] = frozenset({"input"})
    tag_family: str = ""
    """`instruction_` or `knowledge_`: the tags that the node's name makes readable; empty for none."""
    tag_name_field: str = ""
    """The field that, when not empty, gives the tag its name in place of the node's name."""


Kinds = Mapping[str, NodeKind]
_Object = dict[str, Any]

_UNKNOWN_KIND = NodeKind(produces=False)
_TAG_NAME_FIELDS = {"instruction_": "instruction_name", "knowledge_": "source"}


# Names


def check_name(text: str) -> str:
    """Return the trimmed name; AuthoringError `reserved` or `grammar` when it may not be used."""
    name = text.strip()
    if name == RESERVED:
        raise AuthoringError("reserved", f"'{RESERVED}' is reserved for the player's line; choose another name.")
    if not name:
        raise AuthoringError("grammar", "A name cannot be empty; give at least one letter.")
    if not NAME_PATTERN.match(name):
        raise AuthoringError(
            "grammar",
            f"{_shown(name)} is not a name; use only the letters A to Z, digits and _, and no digit first.",
        )
    if len(name) > MAX_NAME:
        raise AuthoringError("grammar", f"{_shown(name)} has {len(name)} characters; shorten it to at most {MAX_NAME}.")
    return name


def unique_name(wanted: str, taken: Collection[str]) -> str:
    """Return `wanted`, or the first of `wanted_2`, `wanted_3`, … not taken, cut so that the suffix fits."""
    name, number = wanted, 1
    while name in taken:
        number += 1
        suffix = f"_{number}"
        name = wanted[: MAX_NAME - len(suffix)] + suffix
    return name


# Reading


def slot_of(node: Mapping[str, Any], kinds: Kinds) -> str | None:
    """Return the slot the node writes: `output_name`, else its name; None when it writes none.

    A type that `kinds` does not know writes a slot exactly when the node carries an `output_name`, even
    an empty one.
    """
    kind = _kind(node, kinds)
    if not ("output_name" in node if kind is None else kind.produces):
        return None
    return _text(node, "output_name") or _text(node, "name") or None


def input_choices(workflow: object, node_name: str, kinds: Kinds) -> list[str]:
    """Return what the node's `input` may name: `user_message`, then the slots written before it.

    A slot counts when the node can be reached along exits from a node that writes it, the node itself on a
    cycle included. Workflow order, each slot once.
    """
    nodes = _nodes(_root(workflow))
    upstream = _upstream(nodes, _find(nodes, node_name))
    slots = (slot_of(node, kinds) for at, node in enumerate(nodes) if at in upstream)
    return list(dict.fromkeys([RESERVED, *(slot for slot in slots if slot is not None)]))


# Edits


def rename_node(workflow: object, node_name: str, to: str, kinds: Kinds) -> dict[str, Any]:
    """Return the workflow with the node renamed and everything that meant it by name following.

    If another node or slot has the new name, it gets a suffix. A node given the name of its own slot has its
    `output_name` stored as empty.
    """
    root = _root(workflow)
    nodes = _nodes(root)
    at = _find(nodes, node_name)
    node, others = nodes[at], nodes[:at] + nodes[at + 1 :]
    new = check_name(to)
    # A name box that loses focus commits its old name: that must do nothing, even where another node writes a
    # slot of this name.
    if new != node_name:
        new = unique_name(new, _taken(others, kinds))
    if new == node_name:
        return _rewritten(root, nodes, kinds)

    follows_slot = slot_of(node, kinds) == node_name and not _text(node, "output_name")
    result = _rewritten(
        root,
        nodes,
        kinds,
        targets=_renamed(node_name, new, kept=(_text(other, "name") for other in others)),
        slots=_renamed_slot(node_name, new, others, kinds) if follows_slot else {},
        tags=_renamed_tags(node, new, others, kinds),
    )
    renamed = result["nodes"][at]
    renamed["name"] = new
    if renamed.get("output_name") == new and slot_of(node, kinds) is not None:
        renamed["output_name"] = ""
    return result


def rename_slot(workflow: object, node_name: str, to: str, kinds: Kinds) -> dict[str, Any]:
    """Return the workflow with the node writing slot `to`; inputs and slot tags follow.

    Empty, or the node's own name, stores an empty `output_name`. A type that `kinds` does not know is taken
    to write a slot, since it is asked to; one that is known to write none is refused as `unknown_node`.
    """
    root = _root(workflow)
    nodes = _nodes(root)
    at = _find(nodes, node_name)
    node, others = nodes[at], nodes[:at] + nodes[at + 1 :]
    kind = _kind(node, kinds)
    if kind is not None and not kind.produces:
        raise AuthoringError(
            "unknown_node",
            f"Node {_shown(node_name)} is a {node['type']}, which writes no slot; choose a node that does.",
        )
    old = _text(node, "output_name") or node_name
    if to.strip():
        new = check_name(to)
        if new not in (node_name, old):
            new = unique_name(new, _taken(others, kinds))
    else:
        check_name(node_name)  # a broken name, `user_message` above all, must not become a slot
        new = node_name
    result = _rewritten(root, nodes, kinds, slots=_renamed_slot(old, new, others, kinds))
    stored = "" if new == node_name else new
    if stored != _text(node, "output_name"):
        result["nodes"][at]["output_name"] = stored
    return result


def delete_node(workflow: object, node_name: str, kinds: Kinds) -> tuple[dict[str, Any], list[str]]:
    """Return the workflow without the node, and the names of the nodes whose `input` lost its only writer.

    Exits to it become END and a start there is cleared; the flagged inputs keep what they name. A flagged
    node without a name is given as its JSON path in the new workflow.
    """
    root = _root(workflow)
    nodes = _nodes(root)
    at = _find(nodes, node_name)
    others = nodes[:at] + nodes[at + 1 :]
    targets = _renamed(node_name, "", kept=(_text(other, "name") for other in others))
    lost = _renamed_slot(slot_of(nodes[at], kinds) or "", "", others, kinds)
    flagged = [
        _text(other, "name") or f"nodes[{index}]"
        for index, other in enumerate(others)
        if any(_text(other, field) in lost for field in (_kind(other, kinds) or _UNKNOWN_KIND).input_fields)
    ]
    return _rewritten(root, others, kinds, targets=targets), flagged


# What follows a rename: each returns {old: new}, empty when nothing does


def _renamed(old: str, new: str, kept: Iterator[str | None]) -> dict[str, str]:
    """Empty is no name (an empty exit is END), and a name that another still has stays with that other."""
    return {} if not old or old == new or old in kept else {old: new}


def _renamed_slot(old: str, new: str, others: list[_Object], kinds: Kinds) -> dict[str, str]:
    """The reserved slot is the player's line, whatever a broken node claims to write."""
    return {} if old == RESERVED else _renamed(old, new, kept=(slot_of(other, kinds) for other in others))


def _renamed_tags(node: _Object, new: str, others: list[_Object], kinds: Kinds) -> dict[str, str]:
    kind = _kind(node, kinds)
    families = _TAG_NAME_FIELDS if kind is None else [kind.tag_family] if kind.tag_family else []
    tags: dict[str, str] = {}
    for family in families:
        name, by_default = _tag_name(node, kinds, family)
        if by_default:
            kept = (_tag_name(other, kinds, family)[0] for other in others)
            tags.update({family + a: family + b for a, b in _renamed(name, new, kept).items()})
    return tags


def _tag_name(node: _Object, kinds: Kinds, family: str) -> tuple[str, bool]:
    """The name that the node makes readable in this family of tags, and whether that is its own by default.

    A type that `kinds` does not know may belong to either family.
    """
    kind = _kind(node, kinds)
    if kind is not None and kind.tag_family != family:
        return "", False
    field = _TAG_NAME_FIELDS.get(family, "") if kind is None else kind.tag_name_field
    given = node.get(field) if field else None
    if given is None or given == "":
        return _text(node, "name"), True
    return _text(node, field), False


# Raw JSON


def _rewritten(
    root: _Object,
    nodes: list[_Object],
    kinds: Kinds,
    *,
    targets: Mapping[str, str] | None = None,
    slots: Mapping[str, str] | None = None,
    tags: Mapping[str, str] | None = None,
) -> _Object:
    """Return a workflow of these nodes with references replaced: node names, slots, and whole tag keys."""
    targets, slots = targets or {}, slots or {}
    keys = {**(tags or {}), **{f"slot.{old}": f"slot.{new}" for old, new in slots.items()}}
    pattern = _tag_pattern(keys)

    def value_of(kind: NodeKind, field: str, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        if field.endswith("_exit"):
            return targets.get(value, value)
        if field in kind.input_fields:
            return slots.get(value, value)
        if pattern and field in kind.template_fields:
            return pattern.sub(lambda tag: _new_tag(tag, keys), value)
        return value

    new_nodes = []
    for node in nodes:
        kind = _kind(node, kinds) or _UNKNOWN_KIND
        new_nodes.append({field: value_of(kind, field, value) for field, value in node.items()})
    result = {**root, "nodes": new_nodes}
    start = _text(root, "start_node")
    if start in targets:
        result["start_node"] = targets[start]
    return result


def _tag_pattern(keys: Collection[str]) -> re.Pattern[str] | None:
    """Match a comment, or the opening and the key of a tag with one of these keys; linear in the template.

    `{{{key}}}` needs no case of its own: it is a `{` followed by `{{key}}` and a `}`. A comment ends at the
    first `}}`, whatever it holds, and is matched so that a tag inside it is not.
    """
    if not keys:
        return None
    alternatives = "|".join(map(re.escape, keys))
    return re.compile(
        r"\{\{\s*!.*?(?:\}\}|\Z)"
        r"|(?P<opening>\{\{\s*(?:[&#^/]\s*)?)(?P<key>" + alternatives + r")(?=\s*\}\})",
        re.DOTALL,
    )


def _new_tag(tag: re.Match[str], keys: Mapping[str, str]) -> str:
    key = tag["key"]
    return tag[0] if key is None else tag["opening"] + keys[key]


def _upstream(nodes: list[_Object], at: int) -> set[int]:
    """Return the indexes of the nodes from which nodes[at] can be reached by one exit or more."""
    before: dict[str, list[int]] = {}
    for index, node in enumerate(nodes):
        for field, value in node.items():
            if field.endswith("_exit") and isinstance(value, str) and value:
                before.setdefault(value, []).append(index)
    found: set[int] = set()
    names = [_text(nodes[at], "name")]
    while names:
        for index in before.pop(names.pop(), ()):
            if index not in found:
                found.add(index)
                names.append(_text(nodes[index], "name"))
    return found


def _taken(others: list[_Object], kinds: Kinds) -> set[str]:
    return {_text(other, "name") for other in others} | {slot_of(other, kinds) or "" for other in others}


def _kind(node: Mapping[str, Any], kinds: Kinds) -> NodeKind | None:
    return kinds.get(_text(node, "type"))


def _text(node: Mapping[str, Any], field: str) -> str:
    """The field's text; empty when it is missing, null or of another type."""
    value = node.get(field)
    return value if isinstance(value, str) else ""


def _find(nodes: list[_Object], node_name: str) -> int:
    for at, node in enumerate(nodes):
        if node.get("name") == node_name:
            return at
    names = ", ".join(_shown(_text(node, "name")) for node in nodes[:12]) + (", …" if len(nodes) > 12 else "")
    remedy = f"choose one of {names}" if nodes else "add it first"
    raise AuthoringError("unknown_node", f"The workflow has no node called {_shown(node_name)}; {remedy}.")


def _root(workflow: object) -> _Object:
    if not isinstance(workflow, dict):
        raise _not_a_workflow("The workflow", workflow, "an object", "put it in { }")
    return workflow


def _nodes(root: _Object) -> list[_Object]:
    """Return the nodes, checked as far as the rules rest on them."""
    if "nodes" not in root:
        raise AuthoringError("not_a_workflow", "The workflow has no 'nodes'; give it a list of nodes.")
    nodes = root["nodes"]
    if not isinstance(nodes, list):
        raise _not_a_workflow("nodes", nodes, "a list", "put the nodes in [ ]")
    for index, node in enumerate(nodes):
        path = f"nodes[{index}]"
        if not isinstance(node, dict):
            raise _not_a_workflow(path, node, "an object", "give it a name and a type, or remove it")
        if not isinstance(node.get("name", ""), str):
            raise _not_a_workflow(f"{path}.name", node["name"], "a text", "put a name in quotes")
        # Writers of JSON that know no missing text write null for it.
        slot = node.get("output_name")
        if slot is not None and not isinstance(slot, str):
            raise _not_a_workflow(f"{path}.output_name", slot, "a text", "put a name in quotes")
    return nodes


def _not_a_workflow(path: str, value: object, wanted: str, remedy: str) -> AuthoringError:
    found = {dict: "an object", list: "a list", str: "a text", bool: "true or false", type(None): "null"}
    return AuthoringError("not_a_workflow", f"{path} is {found.get(type(value), 'a number')}, not {wanted}; {remedy}.")


def _shown(text: str) -> str:
    return repr(text if len(text) <= MAX_NAME else text[:MAX_NAME] + "…")

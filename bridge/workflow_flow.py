"""Warnings about how the nodes of a workflow hang together: reachability, slots, tags, cycles. Never fatal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bridge.authoring import RESERVED
from bridge.node import Kind, Node, ReplyNode, VoiceNode, field_kind
from bridge.template import Template
from bridge.wording import cut, suggest


@dataclass(slots=True)
class Draft:
    """One node while it is compiled: its JSON, and the node itself where its parameters are sound."""

    index: int
    raw: Mapping[str, Any]
    name: str = ""
    cls: type[Node] | None = None
    node: Node | None = None
    slot: str = ""
    targets: list[str] = field(default_factory=list)
    faulty: set[str] = field(default_factory=set)
    """Parameters that were refused; the node has their defaults instead."""


class FlowChecks:
    """Looks at all nodes of a workflow together. `report` is the compiler's."""

    def __init__(
        self,
        drafts: Sequence[Draft],
        start: str,
        report: Callable[..., None],
    ) -> None:
        self._drafts = drafts
        self._start = start
        self._report = report
        self._graph = _Graph(drafts)
        self._writers: dict[str, list[Draft]] = {}
        self._reached: dict[str, set[str]] = {}
        for draft in drafts:
            if draft.slot:
                self._writers.setdefault(draft.slot, []).append(draft)

    def _warn(self, message: str, draft: Draft | None, field: str) -> None:
        self._report(message, draft=draft, field=field, severity="warning")

    def run(self) -> None:
        """Report every finding."""
        for draft in self._drafts:
            self._inputs(draft)
            self._tags(draft)
            self._raw_tags(draft)
        self._shared_slots()
        self._intents()
        if self._start in self._graph.exits:
            self._reachability()

    def _shared_slots(self) -> None:
        for slot, several in self._writers.items():
            if len({draft.name for draft in several}) > 1:
                names = ", ".join(dict.fromkeys(draft.name for draft in several))
                self._warn(
                    f"the slot '{slot}' is written by several nodes ({names}); the last one to run wins",
                    several[1],
                    "output_name",
                )

    def _reachability(self) -> None:
        reached = self._graph.reached_from(self._start)
        for draft in self._drafts:
            if draft.name and draft.name not in reached:
                self._warn(f"no exit leads from '{self._start}' to this node", draft, "name")
        if not any(draft.name in reached and speaks(draft) for draft in self._drafts):
            self._warn("no node that is reached sends text; give one `send` Streamed or Whole", None, "nodes")
        cycle = self._graph.cycle()
        if cycle:
            path = " → ".join(cycle)
            self._warn(f"the exits form a cycle: {path}; max_steps ends a turn that never leaves it", None, "nodes")

    def _inputs(self, draft: Draft) -> None:
        for name in draft.cls.fields_of(Kind.SLOT_INPUT) if draft.cls else ():
            slot = string(draft.raw.get(name))
            if not slot or slot == RESERVED:
                continue
            if slot not in self._writers:
                there = f"; {suggest(slot, sorted(self._writers))}" if self._writers else ""
                self._report(f"no node writes the slot '{cut(slot)}'{there}", draft=draft, field=name)
            elif isinstance(draft.node, ReplyNode) and draft.node.placement == "InPlaceOfUser":
                template = draft.node.templates.get("template")
                if template is not None and slot not in template.slots:
                    self._warn(
                        "the template stands in place of the input and does not show it; "
                        f"add {{{{slot.{slot}}}}} or clear input",
                        draft,
                        name,
                    )

    def _tags(self, draft: Draft) -> None:
        node = draft.node
        for name, template in (node.templates if node else {}).items():
            for slot in sorted(template.slots - {RESERVED}):
                if slot not in self._writers:
                    there = f"; {suggest(slot, sorted(self._writers))}" if self._writers else ""
                    self._warn(f"{{{{slot.{slot}}}}}: no node writes this slot{there}", draft, name)
                elif draft.name not in self._reached_by(slot):
                    self._warn(f"{{{{slot.{slot}}}}}: the slot is not written before this node runs", draft, name)
            self._named_tags(draft, name, template)
            in_place = isinstance(node, ReplyNode) and node.placement == "InPlaceOfUser" and name == "template"
            if in_place and not template.uses_user_message:
                self._warn(
                    "the template stands in place of the player's line and does not show it; "
                    "add {{user_message}} if the model should read it",
                    draft,
                    name,
                )

    def _reached_by(self, slot: str) -> set[str]:
        """Every node that can run after a writer of the slot."""
        if slot not in self._reached:
            self._reached[slot] = set().union(*(self._graph.after(writer.name) for writer in self._writers[slot]))
        return self._reached[slot]

    def _named_tags(self, draft: Draft, field: str, template: Template) -> None:
        used_by_family = {"instruction_": template.instructions, "knowledge_": template.knowledge_sources}
        for family, used in used_by_family.items():
            given = {
                string(other.raw.get(other.cls.tag_name_field)) or other.name
                for other in self._drafts
                if other.cls is not None and other.cls.tag_family == family
            }
            for name in sorted(used - given):
                there = f"; {suggest(name, sorted(given))}" if given else ""
                self._warn(f"{{{{{family}{name}}}}}: no node gives this{there}", draft, field)

        given = {name for other in self._drafts if other.node is not None for name in other.node.gives_attributes}
        for name in sorted(template.attributes - given):
            there = f"; {suggest(name, sorted(given))}" if given else ""
            self._warn(f"{{{{attribute.{name}}}}}: no node finds this out{there}", draft, field)

    def _intents(self) -> None:
        """Whether each intent that a node has something for can be found at all."""
        given: set[str] = set()
        for draft in self._drafts:
            found = None if draft.node is None else draft.node.gives_intents
            if found is None:
                return  # any intent may come
            given.update(found)
        for draft in self._drafts:
            node = draft.node
            field = next((name for name in ("string_storage", "inline_keys") if getattr(node, name, None)), "")
            for intent in node.reads_intents if node is not None else ():
                if intent not in given:
                    there = f"; {suggest(intent, sorted(given))}" if given else ""
                    self._warn(f"no node finds the intent '{cut(intent)}'{there}", draft, field)

    def _raw_tags(self, draft: Draft) -> None:
        for name, info in draft.cls.model_fields.items() if draft.cls else ():
            if field_kind(info) not in (Kind.TEXT, Kind.PLAIN):
                continue
            value = draft.raw.get(name)
            texts = value if isinstance(value, list) else [value]
            if any(isinstance(text, str) and "{{" in text and "}}" in text for text in texts):
                self._warn(f"{name} is no template: a {{{{tag}}}} in it stays as it stands", draft, name)


def speaks(draft: Draft) -> bool:
    """Whether the player gets to see text of this node, or hears it, as far as its parameters tell."""
    if draft.cls is None or draft.node is None or issubclass(draft.cls, VoiceNode):
        return True
    return getattr(draft.node, "send", "None") != "None"


class _Graph:
    """Which node follows which."""

    def __init__(self, drafts: Sequence[Draft]) -> None:
        names = {draft.name for draft in drafts if draft.name}
        self.exits: dict[str, list[str]] = {
            draft.name: [target for target in draft.targets if target in names] for draft in drafts if draft.name
        }
        self._after: dict[str, set[str]] = {}

    def after(self, name: str) -> set[str]:
        """Every node that can run after `name`; itself only on a cycle."""
        if name not in self._after:
            self._after[name] = set(self._walk(self.exits.get(name, ())))
        return self._after[name]

    def reached_from(self, start: str) -> set[str]:
        return {start, *self.after(start)}

    def _walk(self, frontier: Sequence[str]) -> Iterator[str]:
        seen: set[str] = set()
        waiting = list(frontier)
        while waiting:
            name = waiting.pop()
            if name not in seen:
                seen.add(name)
                yield name
                waiting.extend(self.exits.get(name, ()))

    def cycle(self) -> list[str]:
        """One cycle, as names that end where they began; empty where there is none."""
        state: dict[str, int] = {}
        for root in self.exits:
            path: list[str] = []
            stack: list[tuple[str, Iterator[str]]] = []
            if root not in state:
                stack.append((root, iter(self.exits[root])))
                state[root] = 1
                path.append(root)
            while stack:
                name, targets = stack[-1]
                target = next(targets, None)
                if target is None:
                    state[name] = 2
                    stack.pop()
                    path.pop()
                elif target not in state:
                    state[target] = 1
                    path.append(target)
                    stack.append((target, iter(self.exits[target])))
                elif state[target] == 1:
                    return [*path[path.index(target) :], target]
        return []


def string(value: object) -> str:
    """The value where it is a string, else an empty one."""
    return value if isinstance(value, str) else ""

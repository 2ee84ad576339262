"""Asks the C# that editors are made of what it makes of workflows, and makes up workflows to ask about."""

from __future__ import annotations

import functools
import json
import random
import tempfile
from pathlib import Path
from typing import Any

from bridge.authoring import RESERVED, NodeKind
from bridge.node import node_kinds, packaged_registry
from tests.csharp_build import CSHARP, compile_csharp, core_library, run_mono
from tests.test_authoring import KINDS, VECTOR_KINDS

Json = dict[str, Any]

MIXER = NodeKind(produces=True, template_fields=frozenset({"mix"}), input_fields=frozenset({"left", "right"}))
KIND_SETS: dict[str, dict[str, NodeKind]] = {
    "vectors": VECTOR_KINDS,
    "all": {**KINDS, "Mixer": MIXER},
    "none": {},
    "packaged": node_kinds(packaged_registry()),
}
AT_ONCE = 2_000
"""Cases that one run of the program gets."""
SAMPLE = Path(__file__).parent.parent / "samples" / "tavern" / "tavern.workflow.json"


@functools.cache
def _program() -> Path:
    library = core_library()
    return compile_csharp([CSHARP / "authoring"], library.parent / "authoring.exe", references=[library])


def ask(cases: list[Json], culture: str = "") -> list[Any]:
    """What the C# program makes of cases, one result for each; `culture` is that of its thread."""
    sets = {
        name: {
            kind: {
                "produces": facts.produces,
                "template_fields": sorted(facts.template_fields),
                "input_fields": sorted(facts.input_fields),
                "tag_family": facts.tag_family,
                "tag_name_field": facts.tag_name_field,
            }
            for kind, facts in kinds.items()
        }
        for name, kinds in KIND_SETS.items()
    }
    found: list[Any] = []
    with tempfile.TemporaryDirectory() as folder:
        given, result = Path(folder, "cases.json"), Path(folder, "results.json")
        for first in range(0, len(cases), AT_ONCE):
            given.write_bytes(text({"kinds": sets, "cases": cases[first : first + AT_ONCE]}).encode())
            run_mono(_program(), str(given), str(result), culture)
            written = result.read_bytes().decode("utf-8")
            results = json.loads(written)
            assert text(results) == written
            found += results
    assert len(found) == len(cases)
    return found


def text(value: object) -> str:
    """JSON as the program writes it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


# Made-up workflows

ODD_NAMES = [
    "a", "aa", "a_2", "a_3", "b", "slot", "slot.a", "I", "i", "ı", "İ", "ａ", "ｉ", "a}}b", "{{a}}", "a b", " a", "a ",
    "a.b", "x" * 64, "x" * 62 + "_2", "x" * 65, RESERVED, "straße", "a\u00a0", "\u001fa", "#a", "!a", "^a", "/", "&",
    "$1", "\\1", "(a+)+$", "", "\0", "🐉", "a\u0301", "'", "\"'", "instruction_a", "knowledge_a", "name", "nodes",
    "\u200ba",
]  # fmt: skip
PIECES = [
    "{{", "}}", "{{{", "}}}", "{", "}", " ", "\n", "\t", "\u001f", "\u0085", "\u3000", "\u200b", "\ufeff", "#", "^",
    "/", "&", "!", "=", ">", "slot.", "instruction_", "knowledge_", "{{slot.", "{{ slot.", "{{{slot.", "{{&slot.",
    "{{# slot.", "{{/\tslot.", "{{^\u2003slot.", "{{! ", "{{> slot.", "{{=<% %>=}}", "<% slot.a %>",
    "{{user_message}}", "{{SLOT.", "{{slot .", "text", "<a> %s $1 \\1", "{{instruction_", "{{knowledge_",
    "{{#knowledge_", "{{.}}", "{{}}",
]  # fmt: skip
ODD_VALUES: list[Any] = [
    None,
    True,
    0,
    -1,
    1.5,
    1e300,
    2**63,
    -(2**70),
    [],
    {},
    ["a"],
    {"name": "a"},
    "",
    "a",
    "Generate",
]
FIELDS = [
    "input", "template", "instruction", "instruction_name", "source", "output_name", "default_exit", "other_exit",
    "exit", "Default_Exit", "mix", "left", "right", "system_prompt", "unknown", "İnput", "_exit",
]  # fmt: skip


def a_template(rng: random.Random, pool: list[str]) -> str:
    """Tags and what only looks like them; most are of names in `pool`."""
    parts = []
    for _ in range(rng.randrange(12)):
        parts.append(rng.choice(PIECES))
        if rng.random() < 0.5:
            parts.append(rng.choice(pool if rng.random() < 0.8 else ODD_NAMES))
            parts.append(rng.choice(["}}", " }}", "}}}", "\u2009}}", "\n }}}", "x}}", ""]))
    return "".join(parts)


def a_node(rng: random.Random, pool: list[str]) -> Any:
    """A node as a careless hand leaves it, now and then something else altogether."""
    if rng.random() < 0.01:
        return rng.choice(ODD_VALUES)
    made: Json = {}
    if rng.random() < 0.97:
        made["name"] = rng.choice(pool) if rng.random() < 0.99 else rng.choice(ODD_VALUES)
    types = [*KIND_SETS["all"], *KIND_SETS["packaged"], "Custom", "", "generate"]
    made["type"] = rng.choice(types) if rng.random() < 0.97 else rng.choice(ODD_VALUES)
    for field in rng.sample(FIELDS, rng.randrange(len(FIELDS))):
        made[field] = rng.choice(
            [
                a_template(rng, pool),
                rng.choice(pool),
                rng.choice(pool),
                rng.choice(ODD_NAMES),
                f"{{{{slot.{rng.choice(pool)}}}}}",
            ]
        )
        if rng.random() < 0.03:
            made[field] = rng.choice(ODD_VALUES)
    items = list(made.items())
    rng.shuffle(items)
    return dict(items)


def a_case(rng: random.Random) -> Json:
    """One question to `ask`: an edit of a made-up workflow."""
    pool = [rng.choice(ODD_NAMES if rng.random() < 0.3 else ["a", "b", "aa", RESERVED]) for _ in range(4)]
    flow: Json = {"version": 1, "odd": rng.choice(ODD_VALUES), "start_node": rng.choice([*pool, None])}
    flow["nodes"] = [a_node(rng, pool) for _ in range(rng.randrange(7))]
    if rng.random() < 0.02:
        flow["nodes"] = rng.choice(ODD_VALUES)
    flow["zeta"] = {"nodes": [1.0, 1e-7]}
    nodes = [raw for raw in flow["nodes"] if isinstance(raw, dict)] if isinstance(flow["nodes"], list) else []
    known = [raw["name"] for raw in nodes if isinstance(raw.get("name"), str)] or ODD_NAMES
    slots = [raw["output_name"] for raw in nodes if isinstance(raw.get("output_name"), str)] or ODD_NAMES
    return {
        "op": rng.choice(["rename_node", "rename_node", "rename_slot", "delete_node", "inputs"]),
        "workflow": flow if rng.random() < 0.99 else rng.choice(ODD_VALUES),
        "node": rng.choice(known if rng.random() < 0.95 else ODD_NAMES),
        "to": rng.choice(rng.choice([slots, ["fresh", "a", "b", " c ", "\u3000d\u001f"], pool, ODD_NAMES])),
        "kinds": rng.choice(list(KIND_SETS)),
        "cast": ["stranger", *pool, ""],
    }

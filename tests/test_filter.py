"""What a filter may say, what it means, and that nothing but InvalidValue comes out of a bad one."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bridge.errors import InvalidValue
from bridge.filter import MAX_DEPTH, MAX_NODES, Field, Filter, compile_filter
from bridge.variables import Declared, Value

SCHEMA = {
    "level": Field("level", "int"),
    "price": Field("price", "float", optional=True),
    "region": Field("region", "string"),
    "mood": Field("mood", "string", optional=True),
    "open": Field("open", "bool", optional=True),
    "tags": Field("tags", "set<string>", optional=True),
    "secret": Field("secret", "string", filterable=False),
}
DECLARED: Declared = {
    "player_level": ("int", 3),
    "gold": ("float", 2.5),
    "place": ("string", "harbor"),
    "is_night": ("bool", False),
    "quests": ("string_set", frozenset({"rats"})),
}
NO_VARIABLES: dict[str, Value] = {}

LEVEL = {"knowledge": "level"}
PRICE = {"knowledge": "price"}
REGION = {"knowledge": "region"}
TAGS = {"knowledge": "tags"}


def value(raw: object) -> dict[str, object]:
    return {"value": raw}


def compare(op: str, lhs: object, rhs: object) -> dict[str, object]:
    return {"op": op, "lhs": lhs, "rhs": rhs}


def compiled(raw: object) -> Filter:
    found = compile_filter(raw, SCHEMA, DECLARED)
    assert found is not None
    return found


def passes(raw: object, record: dict[str, Value], variables: dict[str, Value] = NO_VARIABLES) -> bool:
    return compiled(raw).matches(record, variables)


@pytest.mark.parametrize("raw", [None, {}])
def test_an_empty_filter_is_none(raw: object) -> None:
    assert compile_filter(raw, SCHEMA, DECLARED) is None


@pytest.mark.parametrize(
    ("op", "below", "same", "above"),
    [
        ("eq", False, True, False),
        ("ne", True, False, True),
        ("lt", True, False, False),
        ("le", True, True, False),
        ("gt", False, False, True),
        ("ge", False, True, True),
    ],
)
def test_comparisons(op: str, below: bool, same: bool, above: bool) -> None:
    raw = compare(op, LEVEL, value(2))
    assert [passes(raw, {"level": level}) for level in (1, 2, 3)] == [below, same, above]
    turned = compare(op, value(2), LEVEL)
    assert [passes(turned, {"level": level}) for level in (3, 2, 1)] == [below, same, above]
    assert passes(compare(op, value(2), value(2.0)), {}) is same


def test_int_and_float_compare_exactly() -> None:
    big = 2**53
    assert not passes(compare("eq", LEVEL, value(float(big))), {"level": big + 1})
    assert passes(compare("gt", LEVEL, value(float(big))), {"level": big + 1})
    assert passes(compare("eq", LEVEL, value(2.0)), {"level": 2})
    assert passes(compare("lt", PRICE, value(10**400)), {"price": 1.5})


def test_strings_bools_and_sets_compare_for_equality() -> None:
    assert passes(compare("eq", REGION, value("harbor")), {"region": "harbor"})
    assert not passes(compare("eq", REGION, value("Harbor")), {"region": "harbor"})
    assert passes(compare("ne", {"knowledge": "open"}, value(True)), {"open": False})
    assert passes(compare("eq", TAGS, {"agent": "quests"}), {"tags": frozenset({"rats"})})


def test_in_looks_into_sets_and_arrays() -> None:
    in_tags = {"op": "in", "needle": value("sea"), "haystack": TAGS}
    assert passes(in_tags, {"tags": frozenset({"sea", "war"})})
    assert not passes(in_tags, {"tags": frozenset({"seaside"})})
    in_array = {"op": "in", "needle": REGION, "haystack": value(["harbor", "keep"])}
    assert passes(in_array, {"region": "keep"})
    assert not passes(in_array, {"region": "k"})
    assert not passes({"op": "in", "needle": REGION, "haystack": value([])}, {"region": "k"})
    in_variable = {"op": "in", "needle": REGION, "haystack": {"agent": "quests"}}
    assert passes(in_variable, {"region": "wolves"}, {"quests": frozenset({"wolves"})})


def test_and_or_not() -> None:
    low, high = compare("lt", LEVEL, value(3)), compare("gt", LEVEL, value(7))
    assert not passes({"op": "and", "args": [low, high]}, {"level": 1})
    assert passes({"op": "or", "args": [low, high]}, {"level": 8})
    assert not passes({"op": "or", "args": [low, high]}, {"level": 5})
    assert passes({"op": "not", "arg": {"op": "or", "args": [low, high]}}, {"level": 5})
    assert passes({"op": "and", "args": [low]}, {"level": 1})


@pytest.mark.parametrize("op", ["eq", "ne", "lt", "le", "gt", "ge"])
def test_what_touches_an_absent_field_is_false_and_its_not_true(op: str) -> None:
    for raw in (compare(op, PRICE, value(1)), compare(op, value(1), PRICE), compare(op, PRICE, LEVEL)):
        assert not passes(raw, {"level": 1})
        assert passes({"op": "not", "arg": raw}, {"level": 1})


def test_in_an_absent_field_is_false() -> None:
    assert not passes({"op": "in", "needle": value("x"), "haystack": TAGS}, {})
    mood_in_list = {"op": "in", "needle": {"knowledge": "mood"}, "haystack": value(["sad"])}
    assert not passes(mood_in_list, {})
    assert passes({"op": "not", "arg": mood_in_list}, {})


def test_variables_are_read_at_each_search() -> None:
    raw = compare("le", LEVEL, {"agent": "player_level"})
    found = compiled(raw)
    assert found.variables == {"player_level"}
    assert not found.matches({"level": 5}, {"player_level": 4})
    assert found.matches({"level": 5}, {"player_level": 5})
    assert found.matches({"level": 3}, {}), "the declared value stands where none is given"
    assert not found.matches({"level": 4}, {})


def test_filters_that_say_the_same_are_equal() -> None:
    raw = {"op": "not", "arg": compare("eq", LEVEL, value(1))}
    assert compiled(raw) == compiled(raw)
    assert hash(compiled(raw)) == hash(compiled(raw))
    assert compiled(raw) != compiled({"op": "not", "arg": compare("eq", LEVEL, value(2))})


def nested(depth: int) -> object:
    raw: object = compare("eq", LEVEL, value(1))
    for _ in range(depth - 1):
        raw = {"op": "not", "arg": raw}
    return raw


def wide(nodes: int) -> object:
    return {"op": "or", "args": [compare("eq", LEVEL, value(1))] * (nodes - 1)}


def test_the_largest_filters_are_taken() -> None:
    assert compiled(nested(MAX_DEPTH)).size == MAX_DEPTH == 16
    assert compiled(wide(MAX_NODES)).size == MAX_NODES == 256


OK = compare("eq", LEVEL, value(1))
REFUSED = [
    ("text", "$", "must be an object"),
    ([], "$", "must be an object"),
    (0, "$", "must be an object"),
    ({"args": [OK]}, "$.op", "`op` is missing"),
    ({"op": "xor", "args": [OK]}, "$.op", "'xor' is no operation"),
    ({"op": ["and"], "args": [OK]}, "$.op", "known: and, or, not, eq"),
    ({"op": "AND", "args": [OK]}, "$.op", "no operation"),
    ({"op": "and"}, "$.args", "needs `args`"),
    ({"op": "and", "args": []}, "$.args", "at least one"),
    ({"op": "or", "args": {"0": OK}}, "$.args", "at least one"),
    ({"op": "and", "args": [OK], "arg": OK}, "$.arg", "knows no key 'arg'"),
    ({"op": "and", "args": [OK, 7]}, "$.args[1]", "7 must be an object"),
    ({"op": "not", "arg": [OK]}, "$.arg", "a list must be an object"),
    ({"op": "not", "arg": {}}, "$.arg.op", "`op` is missing"),
    ({"op": "eq", "lhs": LEVEL}, "$.rhs", "needs `lhs` and `rhs`"),
    ({**OK, "note": "x"}, "$.note", "knows no key 'note'"),
    (compare("eq", LEVEL, 5), "$.rhs", 'must be {"knowledge": field}'),
    (compare("eq", LEVEL, {}), "$.rhs", "must be"),
    (compare("eq", LEVEL, {"value": 1, "agent": "gold"}), "$.rhs", "must be"),
    (compare("eq", LEVEL, {"variable": "gold"}), "$.rhs.variable", "knows no key"),
    (compare("eq", {"knowledge": "nope"}, value(1)), "$.lhs.knowledge", "no field 'nope'; did you mean 'open'?"),
    (compare("eq", {"knowledge": ["level"]}, value(1)), "$.lhs.knowledge", "no field a list"),
    (compare("eq", {"knowledge": "secret"}, value("x")), "$.lhs.knowledge", "'secret' is not filterable"),
    (compare("eq", LEVEL, {"agent": "nope"}), "$.rhs.agent", "no variable 'nope'; known: player_level"),
    (compare("eq", LEVEL, {"agent": {}}), "$.rhs.agent", "no variable an object"),
    (compare("lt", REGION, value("m")), "$.lhs", "'lt' compares numbers; this is a string"),
    (compare("ge", LEVEL, {"agent": "is_night"}), "$.rhs", "this is a boolean"),
    (compare("gt", LEVEL, value(True)), "$.rhs", "this is a boolean"),
    (compare("eq", LEVEL, value("1")), "$.rhs", "not a number with a string"),
    (compare("ne", LEVEL, value(True)), "$.rhs", "not a number with a boolean"),
    (compare("eq", TAGS, value("sea")), "$.rhs", "not a set of strings with a string"),
    (compare("eq", TAGS, value(["sea"])), "$.rhs.value", "only as a haystack"),
    (compare("eq", LEVEL, value(None)), "$.rhs.value", "null must be"),
    (compare("eq", LEVEL, value({"a": 1})), "$.rhs.value", "an object must be"),
    (compare("eq", LEVEL, value(float("nan"))), "$.rhs.value", "finite"),
    (compare("eq", LEVEL, value(float("-inf"))), "$.rhs.value", "finite"),
    ({"op": "in", "needle": value("a"), "haystack": value("abc")}, "$.haystack", "this is a string"),
    ({"op": "in", "needle": value("a"), "haystack": LEVEL}, "$.haystack", "this is a number"),
    ({"op": "in", "needle": value(1), "haystack": TAGS}, "$.needle", "must be a string"),
    ({"op": "in", "needle": TAGS, "haystack": TAGS}, "$.needle", "this is a set"),
    ({"op": "in", "needle": value(["a"]), "haystack": TAGS}, "$.needle.value", "only as a haystack"),
    ({"op": "in", "needle": REGION, "haystack": value(["a", 1])}, "$.haystack.value[1]", "1 must be a string"),
    ({"op": "or", "args": [OK, {"op": "not", "arg": compare("eq", LEVEL, value(""))}]}, "$.args[1].arg.rhs", "string"),
    (nested(MAX_DEPTH + 1), "$" + ".arg" * MAX_DEPTH, "deeper than 16"),
    (wide(MAX_NODES + 1), f"$.args[{MAX_NODES - 1}]", "more than 256"),
]


@pytest.mark.parametrize(("raw", "path", "says"), REFUSED)
def test_refused_with_the_place_and_what_would_be_right(raw: object, path: str, says: str) -> None:
    with pytest.raises(InvalidValue) as caught:
        compile_filter(raw, SCHEMA, DECLARED)
    assert caught.value.code == 3007
    assert caught.value.path == path
    assert says in str(caught.value)
    assert path in str(caught.value)


def test_endless_and_huge_input_is_refused_not_followed() -> None:
    loop: dict[str, Any] = {"op": "not"}
    loop["arg"] = loop
    with pytest.raises(InvalidValue, match="deeper than 16"):
        compile_filter(loop, SCHEMA, DECLARED)
    deep: object = OK
    for _ in range(sys.getrecursionlimit() * 2):
        deep = {"op": "not", "arg": deep}
    with pytest.raises(InvalidValue, match="deeper than 16"):
        compile_filter(deep, SCHEMA, DECLARED)
    with pytest.raises(InvalidValue, match="a very large number must be"):
        compile_filter(compare("eq", LEVEL, 10**5000), SCHEMA, DECLARED)


# ---- any JSON at all --------------------------------------------------------------------------------------------

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.sampled_from([2**53, 2**53 + 1, float(2**53), 10**400, 10**4000]),
    st.sampled_from(["harbor", "rats", "", "level", "and"]),
    st.text(max_size=5),
)
keys = st.sampled_from(["op", "args", "arg", "lhs", "rhs", "needle", "haystack", "knowledge", "agent", "value", "x"])
any_json = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(keys, inner, max_size=4)),
    max_leaves=12,
)


def operands(*kinds: str) -> st.SearchStrategy[Any]:
    fields = [name for name, field in SCHEMA.items() if field.type in kinds and field.filterable]
    names = [name for name, (kind, _) in DECLARED.items() if kind.replace("string_set", "set<string>") in kinds]
    constants: list[st.SearchStrategy[Any]] = [
        st.integers(-5, 5) if kind == "int" else st.floats(-5, 5) if kind == "float" else st.booleans()
        for kind in kinds
        if kind in ("int", "float", "bool")
    ]
    if "string" in kinds:
        constants.append(st.sampled_from(["harbor", "rats", ""]))
    choices: list[st.SearchStrategy[Any]] = [
        st.sampled_from(fields).map(lambda name: {"knowledge": name}),
        st.sampled_from(names).map(lambda name: {"agent": name}),
    ]
    if constants:
        choices.append(st.one_of(constants).map(value))
    return st.one_of(choices)


def comparisons(ops: list[str], operand: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.builds(compare, st.sampled_from(ops), operand, operand)


haystacks = st.one_of(operands("set<string>"), st.lists(st.sampled_from(["harbor", "rats"]), max_size=2).map(value))
leaves = st.one_of(
    comparisons(["eq", "ne", "lt", "le", "gt", "ge"], operands("int", "float")),
    comparisons(["eq", "ne"], operands("string")),
    comparisons(["eq", "ne"], operands("bool")),
    comparisons(["eq", "ne"], operands("set<string>")),
    st.builds(lambda a, b: {"op": "in", "needle": a, "haystack": b}, operands("string"), haystacks),
)
valid = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.builds(
            lambda op, args: {"op": op, "args": args}, st.sampled_from(["and", "or"]), st.lists(inner, min_size=1)
        ),
        st.builds(lambda arg: {"op": "not", "arg": arg}, inner),
    ),
    max_leaves=10,
)


@st.composite
def mutated(draw: st.DrawFn) -> object:
    """A valid tree of which one part was replaced, dropped or renamed."""
    root = {"root": draw(valid)}
    at: Any = root
    while True:
        key = draw(st.sampled_from(sorted(at) if isinstance(at, dict) else range(len(at))))
        below = at[key]
        if not isinstance(below, (dict, list)) or not below or draw(st.booleans()):
            break
        at = below
    if isinstance(at, dict) and at is not root and draw(st.booleans()):
        at[draw(keys)] = at.pop(key)
    else:
        at[key] = draw(any_json)
    return root["root"]


records = st.fixed_dictionaries(
    {"level": st.integers(-5, 5), "region": st.sampled_from(["harbor", "keep"])},
    optional={
        "price": st.floats(-5, 5),
        "mood": st.sampled_from(["harbor", ""]),
        "open": st.booleans(),
        "tags": st.frozensets(st.sampled_from(["harbor", "rats"])),
    },
)


def stands_for(operand: dict[str, Any], record: dict[str, Any]) -> Any:
    ((source, what),) = operand.items()
    if source == "knowledge":
        return record.get(what)
    return DECLARED[what][1] if source == "agent" else what


def by_hand(raw: Any, record: dict[str, Any]) -> bool:
    """What a filter means, written a second time."""
    op = raw["op"]
    if op == "and":
        return all([by_hand(arg, record) for arg in raw["args"]])
    if op == "or":
        return any([by_hand(arg, record) for arg in raw["args"]])
    if op == "not":
        return not by_hand(raw["arg"], record)
    one, other = ("needle", "haystack") if op == "in" else ("lhs", "rhs")
    a, b = stands_for(raw[one], record), stands_for(raw[other], record)
    if a is None or b is None:
        return False
    outcomes = {"eq": lambda: a == b, "ne": lambda: a != b, "lt": lambda: a < b, "le": lambda: a <= b}
    outcomes |= {"gt": lambda: a > b, "ge": lambda: a >= b, "in": lambda: a in b}
    return bool(outcomes[op]())


@given(raw=valid, record=records)
def test_valid_filters_are_taken_and_mean_what_they_say(raw: Any, record: dict[str, Any]) -> None:
    assert passes(raw, record) is by_hand(raw, record)


@given(raw=st.one_of(any_json, mutated()), record=records)
@example(raw={"op": "eq", "lhs": {"value": 10**4000}, "rhs": {"value": 1e308}}, record={})
def test_anything_else_is_invalid_value_and_nothing_worse(raw: Any, record: dict[str, Any]) -> None:
    try:
        found = compile_filter(raw, SCHEMA, DECLARED)
    except InvalidValue as fault:
        refused: InvalidValue | None = fault
    else:
        refused = None
    if refused is not None:
        assert refused.path.startswith("$")
        assert len(str(refused)) < 2000
    elif found is None:
        assert raw in (None, {})
    else:
        assert found.matches(record, {}) is by_hand(raw, record)

"""Variables of a workflow: declared there, owned by the game, read by turns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, get_args

from bridge.errors import InvalidValue
from bridge.protocol import VariableValue
from bridge.wording import cut, shown

Value = bool | int | float | str | frozenset[str]
VariableType = Literal["int", "float", "string", "bool", "string_set"]
VARIABLE_TYPES: tuple[VariableType, ...] = get_args(VariableType)
Declared = Mapping[str, tuple[VariableType, Value]]
"""Name → type and initial value."""


def check_variable(kind: VariableType, value: object) -> Value:
    """A variable's value in the form that turns use. Raises InvalidValue that says what would be right."""
    if kind == "bool" and isinstance(value, bool):
        return value
    if kind == "int" and isinstance(value, int) and not isinstance(value, bool):
        return value
    if kind == "float" and isinstance(value, (int, float)) and not isinstance(value, bool):
        try:
            return float(value)
        except OverflowError:
            raise InvalidValue("the number is too large for a float") from None
    if kind == "string" and isinstance(value, str):
        return value
    if kind == "string_set" and isinstance(value, list) and all(isinstance(item, str) for item in value):
        return frozenset(value)
    right = "a list of strings" if kind == "string_set" else f"of type {kind}"
    raise InvalidValue(f"{shown(value)} must be {right}")


def override_variables(
    declared: Declared, current: Mapping[str, Value], values: Mapping[str, VariableValue]
) -> dict[str, Value]:
    """`current` with `values` set, all or nothing. Raises InvalidValue naming the variable."""
    changed = dict(current)
    for name, value in values.items():
        if name not in declared:
            raise InvalidValue(f"the workflow declares no variable '{cut(name)}'", path=cut(f"$.{name}"))
        try:
            changed[name] = check_variable(declared[name][0], value)
        except InvalidValue as fault:
            raise InvalidValue(f"variable '{name}': {fault}", path=f"$.{name}") from None
    return changed

"""SkillCheck by itself: no sidecar, no model, and a die that falls as it is told to."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest
from parley_skill_check.skill_check import SkillCheck
from pydantic import ValidationError

from bridge.node import Checks, TurnView


class LoadedDie:
    """As much of a turn as the node asks for."""

    def __init__(self, rolls: int, **variables: Any) -> None:
        self.rolls = rolls
        self.variables = variables
        self.written: list[str] = []
        self.warnings: list[str] = []
        self.details: dict[str, Any] = {}

    def pick(self, count: int, selection: str) -> int:
        assert 1 <= self.rolls <= count
        assert selection == "Random"
        return self.rolls - 1

    def variable(self, name: str) -> Any:
        return self.variables[name]

    async def write(self, text: str) -> None:
        self.written.append(text)

    def detail(self, **values: Any) -> None:
        self.details.update(values)

    def warn(self, message: str) -> None:
        self.warnings.append(message)


def roll(node: SkillCheck, turn: LoadedDie) -> str:
    return asyncio.run(node.run(cast(TurnView, turn)))


def test_the_bonus_decides() -> None:
    node = SkillCheck(name="check", difficulty=15, bonus="skill")
    lucky = LoadedDie(12, skill=3)
    assert roll(node, lucky) == "success"
    assert lucky.written == ["rolled 12 + 3 = 15 against 15: success"]
    assert lucky.details == {"rolled": 12, "bonus": 3}
    assert roll(node, LoadedDie(12, skill=2)) == "failure"


@pytest.mark.parametrize("variables", [{"skill": "high"}, {"skill": True}, {"skill": 2.5}])
def test_what_is_no_int_adds_nothing_and_says_so(variables: dict[str, Any]) -> None:
    turn = LoadedDie(20, **variables)
    assert roll(SkillCheck(name="check", difficulty=20, bonus="skill"), turn) == "success"
    assert len(turn.warnings) == 1
    assert "'skill'" in turn.warnings[0]


def test_bounds() -> None:
    with pytest.raises(ValidationError, match="sides"):
        SkillCheck(name="check", sides=1)


class Findings:
    """As much of the compiler as the node asks for."""

    def __init__(self) -> None:
        self.problems: list[tuple[str, str]] = []

    def problem(self, message: str, *, field: str, severity: str = "error") -> None:
        self.problems.append((severity, field))


@pytest.mark.parametrize(
    ("bonus", "difficulty", "expected"),
    [("", 7, [("warning", "difficulty")]), ("", 6, []), ("skill", 7, [])],
)
def test_a_check_that_nobody_passes_is_a_warning(bonus: str, difficulty: int, expected: list[tuple[str, str]]) -> None:
    findings = Findings()
    SkillCheck(name="check", sides=6, difficulty=difficulty, bonus=bonus).prepare(cast(Checks, findings))
    assert findings.problems == expected

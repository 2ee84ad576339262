"""SkillCheck: a die and a skill of the player decide how the turn goes on."""

from __future__ import annotations

from bridge.node import Checks, Kind, Node, TurnView, exit_param, param


class SkillCheck(Node):
    """Rolls a die, adds a variable of the game and takes one of two exits.

    Its slot says in words what happened, such as `rolled 14 + 3 = 17 against 15: success`, for the templates of
    later nodes. It is never sent or replayed by itself.
    """

    sides: int = param(20, "Sides of the die.", ge=2, le=1000)
    difficulty: int = param(12, "What die and bonus together must reach.", ge=-1000, le=1000)
    bonus: str = param("", "Variable of type int that is added to the die; empty: nothing is.", kind=Kind.VARIABLE)
    output_name: str = param("", "Slot to write; empty: the node's name.", kind=Kind.SLOT_OUTPUT, structural=True)
    success_exit: str = exit_param("the difficulty is reached")
    failure_exit: str = exit_param("it is not reached")

    def prepare(self, checks: Checks) -> None:
        if not self.bonus and self.difficulty > self.sides:
            checks.problem(
                f"no die of {self.sides} sides reaches {self.difficulty} without a bonus",
                field="difficulty",
                severity="warning",
            )

    async def run(self, turn: TurnView) -> str:
        rolled = turn.pick(self.sides, "Random") + 1
        bonus = self._bonus(turn)
        success = rolled + bonus >= self.difficulty
        outcome = "success" if success else "failure"
        turn.detail(rolled=rolled, bonus=bonus)
        await turn.write(f"rolled {rolled} + {bonus} = {rolled + bonus} against {self.difficulty}: {outcome}")
        return outcome

    def _bonus(self, turn: TurnView) -> int:
        if not self.bonus:
            return 0
        value = turn.variable(self.bonus)  # that it is declared was checked with the workflow
        if isinstance(value, bool) or not isinstance(value, int):
            turn.warn(f"the variable '{self.bonus}' is not of type int; nothing is added")
            return 0
        return value

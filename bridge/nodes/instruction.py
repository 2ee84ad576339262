"""Instruction: a direction for the models of this turn."""

from __future__ import annotations

from bridge.node import Kind, Node, TurnView, exit_param, param


class Instruction(Node):
    """Adds an instruction for this turn."""

    tag_family = "instruction_"
    tag_name_field = "instruction_name"

    instruction: str = param("", "Mustache text of the instruction.", kind=Kind.TEMPLATE)
    instruction_name: str = param("", "Name in {{instruction_<name>}}; empty: the node's name.", kind=Kind.NAME)
    output_name: str = param("", "Slot to write; empty: the node's name.", kind=Kind.SLOT_OUTPUT, structural=True)
    default_exit: str = exit_param("the instruction is in force")

    async def run(self, turn: TurnView) -> str:
        text = turn.render("instruction")
        turn.add_instruction(self.instruction_name or self.name, text)
        await turn.write(text)
        return "default"

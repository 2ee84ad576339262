"""Generate: the model writes a reply."""

from __future__ import annotations

from bridge.node import ReplyNode, TurnView, exit_param


class Generate(ReplyNode):
    """Writes the model's reply."""

    default_exit: str = exit_param("the reply is written")

    async def run(self, turn: TurnView) -> str:
        await turn.generate()
        return "default"

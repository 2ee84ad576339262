"""Transform: a template becomes a slot, without a model."""

from __future__ import annotations

from bridge.node import Kind, SpeakingNode, TurnView, exit_param, param


class Transform(SpeakingNode):
    """Renders a template into a slot."""

    template: str = param("", "Mustache text to render.", kind=Kind.TEMPLATE)
    default_exit: str = exit_param("the text is written")

    async def run(self, turn: TurnView) -> str:
        await turn.write(turn.render("template"))
        return "default"

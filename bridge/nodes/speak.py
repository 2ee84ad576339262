"""Speak: a voice says a slot."""

from __future__ import annotations

from bridge.node import Kind, TurnView, VoiceNode, exit_param, param


class Speak(VoiceNode):
    """Lets a voice say the text of a slot. Writes no slot and sends no text."""

    input: str = param("", "Slot that is said; empty: the player's line.", kind=Kind.SLOT_INPUT)
    default_exit: str = exit_param("the voice has its text; it may still be speaking")

    async def run(self, turn: TurnView) -> str:
        turn.speak(turn.read_input(self.input))
        return "default"

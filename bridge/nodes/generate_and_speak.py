"""GenerateAndSpeak: the model writes a reply, and a voice says each sentence as soon as it is whole."""

from __future__ import annotations

from bridge.node import ReplyNode, TurnView, VoiceNode, exit_param


class GenerateAndSpeak(ReplyNode, VoiceNode):
    """Writes the model's reply; a voice says each finished sentence while the next one is written."""

    default_exit: str = exit_param("the reply is written; it may still be spoken")

    async def run(self, turn: TurnView) -> str:
        turn.speak_along()
        await turn.generate()
        return "default"

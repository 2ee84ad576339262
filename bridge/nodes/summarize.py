"""Summarize: a rolling summary takes the place of the oldest turns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from bridge.node import Checks, ModelNode, TurnView, exit_param, param


class Summarize(ModelNode):
    """Writes a summary of the turns that are not summarized yet, once they are long enough.

    It stands in for them in every node's prompts from the next turn on. Best the last step of a turn.
    """

    offers: ClassVar[Mapping[str, str]] = {"{{summary}}": "the summary, from the next turn on"}
    events: ClassVar[Mapping[str, str]] = {"summary_written": "how many turns it covers (`covers`), and its `text`"}

    trigger_tokens: int = param(1024, "Tokens of unsummarized turns at which a summary is written.", ge=1, le=2**20)
    keep_recent_turns: int = param(
        4, "Turns that stay out of the summary; the running one always is one of them.", ge=0, le=10_000
    )
    default_exit: str = exit_param("the summary is written, or was not needed")

    def prepare(self, checks: Checks) -> None:
        if self.default_exit:
            checks.problem(
                "a Summarize is best the last step: its summary counts from the next prompt on",
                field="default_exit",
                severity="warning",
            )
        smallest = min(checks.prompt_budgets, default=self.trigger_tokens + 1)
        if self.trigger_tokens >= smallest:
            checks.problem(
                f"trigger_tokens {self.trigger_tokens} is not below {smallest}, the smallest prompt budget of a node "
                "that answers: turns are dropped there before they are summed up",
                field="trigger_tokens",
                severity="warning",
            )

    async def run(self, turn: TurnView) -> str:
        await turn.summarize(self.trigger_tokens, self.keep_recent_turns)
        return "default"

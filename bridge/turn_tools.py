"""The tool calls of one turn: told to the client, waited for, recorded."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from bridge.errors import UnknownToolCall
from bridge.protocol import ToolCallFormat, ToolCallRecord
from bridge.tool_call import Call
from bridge.wording import shown

Account = Callable[[int], None]
"""Counts characters that come in. Raises LimitExceeded where that are too many."""
Notify = Callable[[int, str, str, dict[str, Any]], None]
"""(step, node_name, event, data)."""


def _nobody(*_: Any) -> None:
    """Who is told of the calls of a turn that is over."""


class ToolCalls:
    """Every call of a turn in the order made.

    Threading: used on the event loop only.
    """

    def __init__(self, turn_id: int, notify: Notify, wait: Callable[[float], None], account: Account) -> None:
        """`wait(seconds)` is told for how long the turn rightly stands still."""
        self.records: list[ToolCallRecord] = []
        self._turn_id = turn_id
        self._notify = notify
        self._wait = wait
        self._account = account
        self._places: dict[str, int] = {}
        self._kept: set[str] = set()
        self._open: dict[str, asyncio.Event] = {}

    def close(self) -> None:
        """Tell nobody of anything more: the turn is over."""
        self._notify, self._wait, self._account = _nobody, _nobody, _nobody

    async def call(
        self,
        step: int,
        node_name: str,
        calls: Sequence[Call],
        format_name: ToolCallFormat,
        *,
        notify: bool,
        wait_s: float,
        keep: bool,
    ) -> list[str]:
        """The results that came within `wait_s`, in call order."""
        places = []
        for number, call in enumerate(calls, start=1):
            record = ToolCallRecord(
                call_id=f"call_{self._turn_id}_{step}_{number}",
                step=step,
                node_name=node_name,
                tool=call.tool,
                arguments=call.arguments,
                format=format_name,
            )
            places.append(len(self.records))
            self._places[record.call_id] = len(self.records)
            self._open[record.call_id] = asyncio.Event()
            self.records.append(record)
            if keep:
                self._kept.add(record.call_id)
        waiting = [self._open[self.records[place].call_id] for place in places]
        for place in places:
            record = self.records[place]
            if notify:
                data = {"call_id": record.call_id, "tool": record.tool, "arguments": record.arguments}
                self._notify(step, node_name, "tool_call", data)
        if wait_s <= 0:
            return []
        self._wait(wait_s)
        now = asyncio.get_running_loop().time
        until = now() + wait_s
        try:
            for answered in waiting:
                if not answered.is_set():
                    await asyncio.wait_for(answered.wait(), until - now())
        except asyncio.TimeoutError:
            for place in places:
                if self.records[place].result is None:
                    self._open.pop(self.records[place].call_id, None)  # what comes now is late
        finally:
            self._wait(0)
        came = (self.records[place] for place in places if self.records[place].result is not None)
        return [f"error: {record.error}" if record.error else record.result or "" for record in came]

    def take(self, call_id: str, result: str, error: str) -> None:
        """A result from the game. Raises UnknownToolCall for a call that nobody made, has its result, or is over.

        Raises LimitExceeded for one that is too long; a shorter one may follow.
        """
        place = self._places.get(call_id)
        waiting = self._open.get(call_id)
        if place is None or waiting is None:
            made = place is not None
            why = "has its result already, or the turn went on without it" if made else "was never made in this turn"
            raise UnknownToolCall(f"the tool call {shown(call_id)} {why}", path="$.call_id")
        self._account(len(result) + len(error))
        del self._open[call_id]
        self.records[place] = self.records[place].model_copy(
            update={"result": result, "error": error, "replayed": call_id in self._kept}
        )
        waiting.set()

"""`parley …` with bugs everywhere: exceptions that quote the player's line. Run this file."""

from __future__ import annotations

import asyncio
import gc
import logging
import threading
from typing import Any

PLACES = ("handler", "late", "callback", "task", "thread", "node", "engine", "logger")
"""Words in a line that make its place fail."""


class Quoting(ValueError):
    """A fault whose message is what somebody said."""


def raise_quoting(text: str) -> None:
    raise Quoting(f"cannot make anything of {text!r}")


async def fail_late(text: str) -> None:
    await asyncio.sleep(0)
    try:
        raise_quoting(text)
    except Quoting as fault:
        raise RuntimeError(f"nor of {text}") from fault


def main() -> None:
    from bridge import cli
    from bridge.engines.mock import MockVocabulary
    from bridge.nodes.generate import Generate
    from bridge.protocol import Request, SendMessage
    from bridge.session import Session

    handle, run, tokenize = Session.handle, Generate.run, MockVocabulary.tokenize

    def leaky_handle(self: Session, request: Request) -> Any:
        text = request.text if isinstance(request, SendMessage) else ""
        loop = asyncio.get_running_loop()
        if "handler" in text:
            raise_quoting(text)
        if "late" in text:
            return fail_late(text)
        if "callback" in text:
            loop.call_soon(raise_quoting, text)
        if "task" in text:
            # Nobody asks how it went: the loop says so when it is collected.
            forgotten = loop.create_task(fail_late(text), name=text)
            forgotten.add_done_callback(lambda _: loop.call_soon(gc.collect))
            del forgotten
        if "thread" in text:
            threading.Thread(target=raise_quoting, args=(text,)).start()
        if "logger" in text:
            logging.getLogger("bridge.session").error("%d is no number", text)
        return handle(self, request)

    async def leaky_run(self: Generate, turn: Any) -> str:
        if "node" in turn.user_message:
            raise_quoting(turn.user_message)
        return await run(self, turn)

    def leaky_tokenize(self: MockVocabulary, segments: Any) -> list[int]:
        for segment in segments:
            if "engine" in segment.text:
                raise_quoting(segment.text)
        return tokenize(self, segments)

    Session.handle = leaky_handle  # type: ignore[method-assign]
    Generate.run = leaky_run  # type: ignore[method-assign]
    MockVocabulary.tokenize = leaky_tokenize  # type: ignore[method-assign]
    cli.main()


if __name__ == "__main__":
    main()

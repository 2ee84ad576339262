"""A game in a process of its own, to be stopped and killed: plays the conversation, or one turn of it.

`python -m tests.faults.player ENDPOINT OUTCOME_FILE`; without a file it says one line and waits for its end.
Each line on stdout is a JSON object: the session's key, then the number of each message that came.
"""

from __future__ import annotations

import json
import pickle
import sys
from pathlib import Path

from bridge.client import ParleyClient
from bridge.codec import Envelope
from bridge.transport import run_on_selector_loop
from tests.faults.scenario import TOKEN, Outcome, Play, conversation


async def play(endpoint: str, *, whole: bool) -> Outcome:
    """Connects, and plays to the end or to its death."""
    outcome = Outcome()

    def note(envelope: Envelope) -> None:
        outcome.envelopes.append(envelope)
        print(json.dumps({"seq": envelope.seq, "type": envelope.message.type_name}), flush=True)

    client = await ParleyClient.connect(endpoint, TOKEN, on_envelope=note)
    print(json.dumps({"key": client.ready.session_key, "session_id": client.ready.session_id}), flush=True)
    try:
        if whole:
            await Play(client, outcome).run()
        else:
            agent = await client.create_agent(conversation("innkeeper"))
            for line in ("k1", "k2", "k3"):
                async for _ in client.turn(agent.agent_id, line):
                    pass
    finally:
        await client.close()
    return outcome


def main() -> None:
    """Plays as the command line says."""
    endpoint, *files = sys.argv[1:]
    outcome = run_on_selector_loop(play(endpoint, whole=bool(files)))
    for file in files:
        Path(file).write_bytes(pickle.dumps(outcome))


if __name__ == "__main__":
    main()

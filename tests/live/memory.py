"""A process of its own that talks and weighs itself: `python -m tests.live.memory MODEL AGENTS TURNS CLEAR`.

Prints one JSON object: the resident bytes after each third of the turns, and what is kept once all agents are gone.
A fresh process, because the memory that other tests have freed would hide what this one takes.
"""

from __future__ import annotations

import asyncio
import gc
import json
import sys

import psutil

from bridge import protocol
from bridge.catalog import read_catalog
from bridge.config import Settings
from bridge.engines.scheduler import Scheduler
from tests.fakes_engine import words
from tests.talk import ECHO, talking, workflow

RESIDENTS = 3


async def weigh(model: str, agents: int, turns: int, clear: bool) -> dict[str, object]:
    """Talk with all agents at once. `clear`: empty their dialogs after each third of the turns."""
    entry = ECHO if model == "echo" else read_catalog()[model]
    entry = entry.model_copy(update={"context_size": 160})
    rss = []
    async with talking(entry, settings=Settings(resident_sequences=RESIDENTS, park_bytes=64 * 2**20)) as talk:
        node = {"name": "mira", "type": "Generate", "system_prompt": words(12), "max_tokens": 6}
        flow = workflow(node, model=entry.name)
        ids = [await talk.agent(flow, enable_diagnostics=False) for _ in range(agents)]
        third = turns // 3
        for number in range(3 * third):
            line = f"Line {number % 10} of {words(6)}"
            for turn in await asyncio.gather(*(talk.say(agent_id, line) for agent_id in ids)):
                assert turn.complete.status == "Success"
            if (number + 1) % third == 0:
                gc.collect()
                rss.append(psutil.Process().memory_info().rss)
                for agent_id in ids if clear else ():
                    await talk.client.request(protocol.TruncateDialog(agent_id=agent_id, keep=0))
        stats = [await talk.client.request(protocol.ManageCache(agent_id=a, action="Stats")) for a in ids]
        where = [item.nodes[0].where for item in stats if isinstance(item, protocol.CacheStats)]
        agent = next(iter(talk.sessions[0]._agents.values()))
        scheduler = next(iter(agent._cast.models.values())).engine
        assert isinstance(scheduler, Scheduler)
        for agent_id in ids:
            await talk.client.request(protocol.DestroyAgent(agent_id=agent_id))
        await scheduler.manage_cache("", "Stats")  # by its answer all that was asked before is done
        left = len(scheduler._residence)
        return {"rss": rss, "where": sorted(where), "left": left, "bytes_left": scheduler.status().bytes_parked}


if __name__ == "__main__":
    print(json.dumps(asyncio.run(weigh(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4] == "True"))))

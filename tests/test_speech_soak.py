"""Many turns that speak, of two characters at once: every chunk in its place, and a sidecar that does not grow."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from pathlib import Path

import pytest

from bridge.client import ParleyClient, Subscription
from bridge.codec import Envelope
from bridge.engines.mock_voice import samples_of
from bridge.protocol import AnswerText, AudioChunk, AudioFormat, TurnComplete, TurnStarted
from bridge.transport import run_on_selector_loop
from tests.real_sidecar import game, serving, weight
from tests.sidecar import Process
from tests.speech_checks import heard_of
from tests.talk import scripted, workflow

REPLIES = (
    "The boats came in late tonight. Everybody wanted soup! Now I am glad to sit down by the fire.",
    "Nobody has come up the road since noon. Is it the bridge? They say that it broke.",
)
TURNS = 25
"""Of each character."""
PARTS = 5
CANCELLED = 4
"""Every fourth turn is stopped at its first sound."""
GROWTH_BYTES = 6 * 2**20
"""After the first part; the sound of what follows it is 10 MB, and nobody keeps it."""

Frames = dict[tuple[str, int], list[Envelope]]


async def turns(client: ParleyClient, agent_id: str, first: int) -> None:
    """The turns of one character in a part."""
    for number in range(first, first + TURNS // PARTS):
        async for frame in client.turn(agent_id, f"Line {number}."):
            if isinstance(frame.message, AudioChunk) and frame.message.index == 0 and number % CANCELLED == 0:
                await client.cancel_turn(agent_id)


async def collect(pushes: Subscription, frames: Frames) -> None:
    """By agent and turn, in the order of coming, whoever listens to the turn itself or not."""
    async for frame in pushes:
        message = frame.message
        if isinstance(message, TurnStarted | AnswerText | AudioFormat | AudioChunk | TurnComplete):
            frames[message.agent_id, message.turn_id].append(frame)


async def play(process: Process) -> None:
    frames: Frames = defaultdict(list)
    async with await ParleyClient.connect(process.endpoint, process.token) as client:
        pushes = client.subscribe()
        collecting = asyncio.create_task(collect(pushes, frames))
        nodes = (
            {"name": "mira", "type": "GenerateAndSpeak", "voice": "mock-voice"},
            {"name": "echo", "type": "Speak", "input": "mira", "voice": "mock-voice", "speaker_id": 2, "speed": 2.0},
        )
        agents = [(await client.create_agent(workflow(*nodes, model="tales"))).agent_id for _ in range(2)]
        weights = []
        for part in range(PARTS):
            first = part * TURNS // PARTS
            await asyncio.gather(*(turns(client, agent, first) for agent in agents))
            weights.append(weight(process.popen.pid))
        pushes.close()
        await collecting

    assert sorted(frames) == [(agent, number) for agent in sorted(agents) for number in range(1, TURNS + 1)]
    cancelled = 0
    for (_, number), turn in frames.items():
        last = turn[-1].message
        assert isinstance(last, TurnComplete), "something came after the end"
        if (number - 1) % CANCELLED == 0:
            cancelled += last.status == "Cancelled"
            chunks = [frame.message for frame in turn if isinstance(frame.message, AudioChunk)]
            assert [chunk.index for chunk in chunks if chunk.step == 1] == list(range(len(chunks)))
            continue
        assert last.status == "Success"
        text = "".join(frame.message.text for frame in turn if isinstance(frame.message, AnswerText))
        assert text in REPLIES
        mira, echo = heard_of(turn).values()
        assert mira.text == echo.text == text
        for step, speed in ((mira, 1.0), (echo, 2.0)):
            assert step.samples == sum(samples_of(sentence.strip(), speed) for sentence, _ in step.sentences)
    assert cancelled
    assert weights[-1].rss - weights[0].rss < GROWTH_BYTES, weights
    assert weights[-1].threads <= weights[0].threads + 2, weights
    assert weights[-1].handles <= weights[0].handles + 4, weights


@pytest.mark.thorough
def test_fifty_turns_that_speak(tmp_path: Path) -> None:
    log = tmp_path / "sidecar.log"
    arguments = game(tmp_path, scripted(*REPLIES, name="tales", tokens_per_s=200), log_level="warning")
    with serving(log, *arguments) as process:
        run_on_selector_loop(asyncio.wait_for(play(process), 110))
    text = log.read_text(encoding="utf-8")
    assert "Traceback" not in text and "never retrieved" not in text, text[-4000:]

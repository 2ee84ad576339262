"""Real voices on the real model: a speaker is heard before all is written, and what is heard is what was written."""

from __future__ import annotations

from pathlib import Path

import pytest

from bridge.catalog import read_catalog
from bridge.protocol import AnswerText, AudioChunk
from tests.speech_checks import heard_of
from tests.talk import Heard, run, talking, workflow

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]

STORY = "It was a rainy evening, and the inn by the harbour was full. "
PEOPLE = ("mira", "bram")


def first_audio_and_last_text(heard: Heard, step: int) -> tuple[int, int]:
    """Where among the frames the first sound of a step is, and the last of its text."""
    messages = [frame.message for frame in heard.frames]
    audio = [
        index
        for index, frame in enumerate(heard.frames)
        if isinstance(frame.message, AudioChunk) and frame.message.step == step and frame.payload
    ]
    text = [i for i, message in enumerate(messages) if isinstance(message, AnswerText) and message.step == step]
    return audio[0], text[-1]


def test_a_speaker_is_heard_before_the_last_of_its_text(starter_model: Path) -> None:
    pytest.importorskip("hibari", reason="the starter voice comes with the extra `voice`")

    async def work() -> None:
        catalog = read_catalog()
        # In this format the model goes on with the story: it never ends after a sentence.
        teller = catalog["starter-chat"].model_copy(update={"chat_format": "plain"})
        async with talking(teller, catalog["starter-voice"]) as talk:
            nodes = [
                {
                    "name": name,
                    "type": "GenerateAndSpeak",
                    "system_prompt": STORY,
                    "voice": "starter-voice",
                    "speed": 0.9 + 0.2 * number,
                    "max_tokens": 56,
                    "sampling": {"temperature": 0.0},
                }
                for number, name in enumerate(PEOPLE)
            ]
            agent_id = await talk.agent(workflow(*nodes, model="starter-chat"))
            heard = await talk.say(agent_id, "The sailor came in and laughed. ")
            assert heard.complete.status == "Success"
            for number, (name, step) in enumerate(zip(PEOPLE, heard_of(heard.frames).values(), strict=True), start=1):
                facts = heard.debug["steps"][number - 1]["speech"]
                assert step.text == heard.text(name) == heard.debug["slots"][name] != ""
                assert facts["audio_s"] == pytest.approx(step.samples / step.format.sample_rate, abs=1e-3)
                assert "failed" not in facts
                # Nobody speaks ten words a second, nor less than one.
                words = len(step.text.split())
                assert words / 10 < facts["audio_s"] < words + 1
                assert max(max(chunk.envelope, default=0.0) for chunk in step.chunks) > 0.02
                assert sum(bool(sound) for _, sound in step.sentences) > 1, "nothing to see: it said one sentence"
                audio, text = first_audio_and_last_text(heard, number)
                assert audio < text

    run(work)

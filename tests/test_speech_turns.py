"""Turns that are heard, through the real wire: order, sums, and that what is heard is what the slot has."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from bridge.answer_text import AnswerRules
from bridge.asking import Asking
from bridge.catalog import MockScript
from bridge.engines.mock_voice import SAMPLE_RATE, samples_of
from bridge.protocol import AnswerText, AudioChunk, TurnComplete
from tests.fake_voice import FAKE, FakeVoice, loading, text_of
from tests.speech_checks import heard_of, kinds_of
from tests.speech_talk import REPLY, SENTENCES, VOICE, Slow, hear, mock, rest, sound, speaks, speech, until
from tests.talk import Heard, run, scripted, talking, workflow

# ---- order and sums ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("speed", [1.0, 0.1, 1.7, 3.0])
def test_lengths_add_up_to_the_synthesis_and_sentences_to_the_text(speed: float) -> None:
    async def work() -> None:
        async with talking(VOICE, scripted(REPLY)) as talk:
            agent_id = await talk.agent(workflow(mock(speed=speed), model="script"))
            heard, warnings = await hear(talk, agent_id, "Hello")
            mira = sound(heard)
            assert mira.format.sample_rate == SAMPLE_RATE
            assert [text for text, _ in mira.sentences] == SENTENCES
            assert [len(made) // 2 for _, made in mira.sentences] == [
                samples_of(text.strip(), speed) for text in SENTENCES
            ]
            assert mira.text == heard.text("mira") == heard.debug["slots"]["mira"] == REPLY
            assert heard.interaction.outputs[0].text == REPLY
            facts = speech(heard)
            assert (facts["voice"], facts["speaker"]) == ("mock-voice", "low")
            assert (facts["sentences"], facts["skipped"]) == (3, 0)
            assert facts["audio_s"] == pytest.approx(mira.samples / SAMPLE_RATE, abs=1e-3)
            assert facts["real_time_factor"] > 0
            assert 0 < facts["first_audio_ms"] < heard.debug["duration_ms"]
            assert "failed" not in facts and warnings == []

    run(work)


def test_two_speakers_after_one_another() -> None:
    async def work() -> None:
        voice = FakeVoice()
        async with talking(FAKE, scripted(REPLY), load_voice=loading(voice)) as talk:
            flow = workflow(speaks("mira"), speaks("bram", speaker_id=1, speed=2.0), model="script")
            heard = await talk.say(await talk.agent(flow), "Hello")
            steps = heard_of(heard.frames)
            assert [step.format.node_name for step in steps.values()] == ["mira", "bram"]
            assert [step.text for step in steps.values()] == [REPLY, REPLY]
            assert voice.most_open == 1
            assert [(who, speed) for _, who, speed in voice.said] == [(0, 1.0)] * 3 + [(1, 2.0)] * 3
            assert [speech(heard, step)["speaker"] for step in (1, 2)] == ["one", "two"]

    run(work)


def test_speak_says_a_slot_and_sends_no_text() -> None:
    async def work() -> None:
        voice = FakeVoice()
        async with talking(FAKE, scripted(REPLY), load_voice=loading(voice)) as talk:
            nodes = (
                {"name": "mira", "type": "Generate"},
                {"name": "aloud", "type": "Speak", "input": "mira", "voice": "fake-voice", "speaker_id": 1},
                {"name": "line", "type": "Speak", "voice": "fake-voice"},
            )
            heard = await talk.say(await talk.agent(workflow(*nodes, model="script")), "And what do I say?")
            steps = heard_of(heard.frames)
            assert (steps[2].text, steps[3].text) == (REPLY, "And what do I say?")
            assert {answer.node_name for answer in heard.answers} == {"mira"}
            assert sorted(heard.debug["slots"]) == ["mira", "user_message"]
            assert heard.debug["steps"][1]["input"] == {"slot": "mira", "text": REPLY}
            assert [output.node_name for output in heard.interaction.outputs] == ["mira"]

    run(work)


def test_the_first_sentence_is_heard_before_the_second_is_written() -> None:
    """Also where the client is sent no text, or all of it at the end."""

    async def work() -> None:
        for send in ("Streamed", "Whole", "None"):
            voice = FakeVoice()
            backend = Slow(REPLY)
            async with talking(FAKE, load_voice=loading(voice), load_engine=backend.load) as talk:
                agent_id = await talk.agent(workflow(speaks(send=send)))
                frames = talk.client.turn(agent_id, REPLY)
                backend.hold_before("ale")
                came = await until(frames, lambda message: isinstance(message, AudioChunk))
                assert not any(isinstance(frame.message, TurnComplete) for frame in came)
                assert isinstance(came[-1].message, AudioChunk) and came[-1].message.text == SENTENCES[0]
                backend.lift()
                heard = Heard(came + await rest(frames))
                assert sound(heard).text == heard.debug["slots"]["mira"] == REPLY
                assert heard.text("mira") == ("" if send == "None" else REPLY)

    run(work)


def test_text_and_steps_never_wait_for_sound() -> None:
    async def work() -> None:
        voice = FakeVoice()
        gate = voice.hold("traveller")
        async with talking(FAKE, scripted(REPLY), load_voice=loading(voice)) as talk:
            flow = workflow(speaks("mira"), speaks("bram"), {"name": "end", "type": "Transform", "template": "Fin.",
                                                            "send": "Whole"}, model="script")  # fmt: skip
            frames = talk.client.turn(await talk.agent(flow), "Hello")
            came = await until(frames, lambda message: isinstance(message, AnswerText) and message.text == "Fin.")
            assert not any(isinstance(frame.message, AudioChunk | TurnComplete) for frame in came)
            gate.set()
            heard = Heard(came + await rest(frames))
            assert kinds_of(heard.frames) == [
                ("AnswerText", 1),
                ("AnswerText", 2),
                ("AnswerText", 3),
                ("AudioChunk", 1),
                ("AudioChunk", 2),
            ]
            assert [step.text for step in heard_of(heard.frames).values()] == [REPLY, REPLY]
            assert heard.complete.status == "Success"

    run(work)


def test_a_voice_slower_than_what_it_says_comes_whole_and_in_order() -> None:
    """At 0.7 times the speed of the sound; and two who share one voice both get theirs."""

    async def work() -> None:
        slow = VOICE.model_copy(update={"mock": MockScript(real_time_factor=1.4)})
        async with talking(slow, scripted("Yes. No. Aye.", "Well. Nay. So.")) as talk:
            flow = workflow(mock(min_sentence_chars=0), model="script")
            agents = [await talk.agent(flow) for _ in range(2)]
            everything = talk.client.subscribe()
            turns = await asyncio.gather(*(talk.say(agent_id, "Hm?") for agent_id in agents))
            everything.close()
            frames = [frame async for frame in everything]
            for heard in turns:
                mira = sound(heard)
                assert mira.text == heard.text("mira") == "Yes. No. Aye."
                assert mira.samples == sum(samples_of(text) for text in ("Yes.", "No.", "Aye."))
                assert speech(heard)["real_time_factor"] >= 1.3
                assert kinds_of(heard.frames) == [("AnswerText", 1), ("AudioChunk", 1)]
            # They took turns: what one waits for is the other's piece, not all that he says.
            spoke = [f.message.agent_id for f in frames if isinstance(f.message, AudioChunk) and f.payload]
            first, second = dict.fromkeys(spoke)
            assert spoke.index(second) < len(spoke) - 1 - spoke[::-1].index(first)

    run(work)


# ---- what is said --------------------------------------------------------------------------------------------

ODD = {
    "hhh": "hhh",
    "🙂": "",
    "*": "",
    "": "",
    "a" * 5_000: "a" * 5_000,
    "Hello мир 你好。今天 مرحبا! שלום? नमस्ते।": None,
    "The wind it blows,\nthe river flows.": "The wind it blows, the river flows.",
    "\n\n \t\n": "",
    "…": "",
    '"': "",
    "1. 2. 3.": None,
    "\u200b\ufeff": "",
    "e\u0301\u0301": None,
    "***bold*** and `code` and [a link](http://x.y)": None,
    "* * *": "",
    "`" * 300: "",
}
"""Lines, and what is said of them; None: something."""


@pytest.mark.parametrize("line", ODD, ids=lambda line: ascii(line[:12]))
def test_odd_lines_are_delivered_whatever_a_voice_makes_of_them(line: str) -> None:
    async def work() -> None:
        voice = FakeVoice(piece_bytes=4_000)
        nodes = (
            speaks(),
            {"name": "line", "type": "Speak", "voice": "fake-voice"},
            {"name": "copy", "type": "Transform", "template": "{{user_message}}", "send": "Whole"},
            {"name": "aloud", "type": "Speak", "voice": "fake-voice", "input": "copy"},
        )
        async with talking(FAKE, load_voice=loading(voice)) as talk:
            heard, warnings = await hear(talk, await talk.agent(workflow(*nodes)), line)
            assert heard.complete.status == "Success"
            assert heard.text("copy") == line
            steps = heard_of(heard.frames)
            for number, text in ((1, heard.debug["slots"]["mira"]), (2, line), (4, line)):
                assert number in steps or not text
                if number in steps:
                    assert steps[number].text == text
            said = ODD[line]
            if said is not None and line:
                assert text_of(steps[4].sound).replace(" ", "") == said.replace(" ", "")
            assert all(code == 0 for code, *_ in warnings) and len(warnings) <= 3
            assert not warnings or said in ("", None)

    run(work)


@pytest.mark.parametrize(
    ("reply", "node", "text"),
    [
        ("<think>Who is it?</think>Welcome. Sit down.", {}, "Welcome. Sit down."),
        ("<think>Who is it? A stranger. Well.</think>", {}, ""),
        ("mira: Welcome, friend. Sit.\nPlayer: I sit.", {}, "Welcome, friend. Sit."),
        ("Welcome, friend. STOP Not this.", {"stop": ["STOP"]}, "Welcome, friend."),
        ("  \n Welcome, friend.\n\n", {}, "Welcome, friend."),
        ("One two three four. Five six seven.", {"max_tokens": 6}, None),
        ("Welcome, friend.<|im_end|>More.", {}, "Welcome, friend."),
        ("I am here.</think>Welcome.", {}, None),
    ],
)
@pytest.mark.parametrize("send", ["Streamed", "Whole"])
def test_what_is_heard_is_what_the_slot_has(reply: str, node: dict[str, Any], text: str | None, send: str) -> None:
    async def work() -> None:
        voice = FakeVoice()
        async with talking(FAKE, scripted(reply), load_voice=loading(voice)) as talk:
            flow = workflow(speaks(send=send, **node), model="script")
            heard = await talk.say(await talk.agent(flow), "Hello")
            slot = heard.debug["slots"]["mira"]
            steps = heard_of(heard.frames)
            assert (steps[1].text if steps else "") == slot == heard.text("mira")
            assert text is None or slot.rstrip() == text
            assert "Who is it" not in str(voice.said)
            if steps:
                said = "".join(text_of(made) for _, made in steps[1].sentences)
                assert said.replace(" ", "") == slot.replace(" ", "").replace("\n", "").replace("</think>", "")

    run(work)


def test_thinking_is_not_heard_where_the_text_keeps_it() -> None:
    async def work() -> None:
        voice = FakeVoice()
        reply = "<think>Who is it? A stranger.</think> Welcome, friend. Sit down."
        async with talking(FAKE, scripted(reply), load_voice=loading(voice)) as talk:
            nodes = (
                speaks(strip_reasoning=False),
                {"name": "aloud", "type": "Speak", "voice": "fake-voice", "input": "mira"},
            )
            heard, warnings = await hear(talk, await talk.agent(workflow(*nodes, model="script")), "Hello")
            assert [step.text for step in heard_of(heard.frames).values()] == [reply, reply]
            assert heard.text("mira") == reply
            assert [text for text, *_ in voice.said] == ["Welcome, friend.", "Sit down."] * 2
            assert warnings == []

    run(work)


def test_thinking_that_the_prompt_began_is_not_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    rules = Asking._rules

    def within(*args: Any) -> AnswerRules:
        return replace(rules(*args), starts_in_reasoning=True)

    monkeypatch.setattr(Asking, "_rules", within)

    async def work() -> None:
        voice = FakeVoice()
        reply = "Who is it? A stranger.</think> Welcome, friend."
        async with talking(FAKE, scripted(reply), load_voice=loading(voice)) as talk:
            heard = await talk.say(await talk.agent(workflow(speaks(strip_reasoning=False), model="script")), "Hello")
            assert sound(heard).text == heard.text("mira") == reply
            assert [text for text, *_ in voice.said] == ["Welcome, friend."]

    run(work)

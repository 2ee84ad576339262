"""Turns that are heard and do not go well: cancelled, stuck, without a voice, with a broken one, or refused."""

from __future__ import annotations

import asyncio
import gc
import weakref
from typing import Any

import pytest

from bridge import errors, protocol
from bridge.catalog import MockScript
from bridge.classify import Label
from bridge.config import Settings
from bridge.engines.mock_voice import SAMPLE_RATE, samples_of
from bridge.engines.speech_queue import QueuedVoice
from bridge.node import Node, ReplyNode, TurnView, VoiceNode, default_registry, exit_param, param
from bridge.protocol import AnswerText, AudioChunk, TurnComplete
from tests.fake_voice import FAKE, FakeVoice, loading
from tests.speech_checks import heard_of
from tests.speech_talk import REPLY, SENTENCES, VOICE, Slow, Stuck, hear, mock, rest, sound, speaks, speech, until
from tests.talk import Heard, Talk, run, scripted, talking, workflow

# ---- the end of a turn ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["cancel", "destroy", "bye"])
def test_nothing_comes_after_a_turn_that_is_cancelled_mid_sentence(how: str) -> None:
    async def work() -> None:
        stuck = Stuck()
        async with talking(
            VOICE,
            scripted(REPLY, "Next."),
            load_voice=lambda *_: QueuedVoice(stuck),
        ) as talk:
            agent_id = await talk.agent(workflow(mock(), mock("bram"), model="script"))
            everything = talk.client.subscribe()
            frames = talk.client.turn(agent_id, "Hello")
            # All is written, and some of it is heard.
            wanted = {"AnswerText", "AudioChunk"}

            def whole(message: protocol.Message) -> bool:
                if isinstance(message, AudioChunk) or (
                    isinstance(message, AnswerText) and message.step == 2 and message.is_final
                ):
                    wanted.discard(message.type_name)
                return not wanted

            came = await until(frames, whole)
            assert await asyncio.to_thread(stuck.inside.wait, 20)
            if how == "cancel":
                await talk.client.cancel_turn(agent_id)
            elif how == "destroy":
                await talk.client.request(protocol.DestroyAgent(agent_id=agent_id))
            else:
                await talk.client.bye()
            # The thread is still within its piece.
            heard = Heard(came + await rest(frames))
            assert heard.complete.status == "Cancelled"
            mira = sound(heard)
            assert list(heard_of(heard.frames)) == [1] and mira.text == SENTENCES[0]
            assert 0 < mira.samples < samples_of(SENTENCES[0].strip())
            assert speech(heard)["audio_s"] == pytest.approx(mira.samples / SAMPLE_RATE, abs=1e-3)
            assert speech(heard)["sentences"] == 1
            # The text was whole: it is recorded as it was sent.
            assert [output.text for output in heard.interaction.outputs] == [REPLY, REPLY]
            if how == "cancel":
                stuck.holds = False
                following = talk.client.turn(agent_id, "Again")
                stuck.go_on.set()
                then = Heard(await rest(following))
                assert sound(then).text == then.text("mira") == "Next."
                assert sound(then).samples == samples_of("Next.")
                assert sound(then).chunks[0].turn_id == 2
            stuck.go_on.set()
            if how != "bye":
                await talk.client.request(protocol.ListAgents())
                everything.close()
                all_of_it = [frame.message async for frame in everything]
                of_turn_1 = [message for message in all_of_it if getattr(message, "turn_id", 0) == 1]
                assert isinstance(of_turn_1[-1], TurnComplete), "something came after the end"

    run(work)


def test_a_shutdown_does_not_wait_for_a_voice_within_a_piece() -> None:
    async def work() -> None:
        stuck = Stuck()
        async with talking(
            VOICE,
            scripted(REPLY),
            load_voice=lambda *_: QueuedVoice(stuck),
        ) as talk:
            agent_id = await talk.agent(workflow(mock(), model="script"))
            frames = talk.client.turn(agent_id, "Hello")
            came = await until(frames, lambda message: isinstance(message, AudioChunk))
            talk.server.request_shutdown()
            with pytest.raises(errors.ShuttingDown):
                async for frame in frames:
                    came.append(frame)
                    if isinstance(frame.message, TurnComplete):
                        assert frame.message.status == "Cancelled"
                        heard_of(came)
                        raise errors.ShuttingDown
            stuck.go_on.set()

    run(work)


def test_a_model_that_fails_after_some_sentences() -> None:
    async def work() -> None:
        voice = FakeVoice()
        slow = Slow(REPLY, RuntimeError("the device is lost"))
        async with talking(FAKE, load_voice=loading(voice), load_engine=slow.load) as talk:
            agent_id = await talk.agent(workflow(speaks(), speaks("bram")))
            slow.hold_before("Sit")
            heard = await talk.say(agent_id, REPLY)
            error = heard.complete.error
            assert error is not None and (heard.complete.status, error.code) == ("Error", 4001)
            steps = heard_of(heard.frames)
            for step in steps.values():
                assert REPLY.startswith(step.text)
            assert set(steps) <= {1}
            slow.word = ""
            again = await talk.say(agent_id, REPLY)
            assert [step.text for step in heard_of(again.frames).values()] == [REPLY, REPLY]

    run(work)


def test_a_voice_that_is_stuck_makes_no_error_of_a_finished_reply() -> None:
    async def work() -> None:
        voice = FakeVoice()
        voice.hold("ale")
        settings = Settings(turn_timeout_s=1)
        async with talking(FAKE, scripted(REPLY), load_voice=loading(voice), settings=settings) as talk:
            agent_id = await talk.agent(workflow(speaks(), speaks("bram"), model="script"))
            heard, warnings = await hear(talk, agent_id, "Hello")
            assert heard.complete.status == "Success"
            assert [output.text for output in heard.interaction.outputs] == [REPLY, REPLY]
            steps = heard_of(heard.frames)
            assert list(steps) == [1] and steps[1].text == SENTENCES[0]
            [(code, message, node)] = warnings
            assert (code, node) == (4005, "mira")
            assert "no sound came for 1 s (turn_timeout_s)" in message
            voice.gates.clear()
            again = await talk.say(agent_id, "Hello?")
            assert [step.text for step in heard_of(again.frames).values()] == [REPLY, REPLY]

    run(work)


def test_sound_is_no_progress_of_a_walk_that_stands_still() -> None:
    async def work() -> None:
        voice = FakeVoice()
        slow = Slow(REPLY)
        settings = Settings(turn_timeout_s=1)

        async with talking(FAKE, load_voice=loading(voice), load_engine=slow.load, settings=settings) as talk:
            nodes = (
                {"name": "long", "type": "Speak", "voice": "fake-voice"},
                {"name": "mira", "type": "Generate"},
            )
            agent_id = await talk.agent(workflow(*nodes))
            slow.hold_before("Good")
            gate = voice.hold("Good")
            turn = asyncio.ensure_future(talk.say(agent_id, REPLY))
            await voice.reached["Good"].wait()
            endless = asyncio.ensure_future(_ticking(talk))
            heard = await turn
            endless.cancel()
            gate.set()
            slow.lift()
            assert heard.complete.error is not None and heard.complete.error.code == 4002

    async def _ticking(talk: Talk) -> None:
        agent = next(iter(talk.sessions[0]._agents.values()))
        while agent._turn is not None:
            agent._turn._heard()
            await asyncio.sleep(0.01)

    run(work)


@pytest.mark.parametrize("end", ["Success", "Cancelled", "Error"])
def test_an_agent_that_spoke_goes_without_waiting_for_the_collector(end: str) -> None:
    async def work() -> None:
        voice = FakeVoice()
        gate = voice.hold("ale")
        if end != "Cancelled":
            gate.set()
        async with talking(FAKE, scripted(REPLY), load_voice=loading(voice)) as talk:
            flow = workflow(speaks(default_exit="mira" if end == "Error" else ""), model="script")
            agent_id = await talk.agent(flow, max_steps=1)
            frames = talk.client.turn(agent_id, "hi")
            async for frame in frames:
                if isinstance(frame.message, AudioChunk) and end == "Cancelled" and not frame.message.is_final:
                    await talk.client.cancel_turn(agent_id)
            assert isinstance(frame.message, TurnComplete) and frame.message.status == end
            del frame
            left = weakref.ref(talk.sessions[0]._agents[agent_id])
            await talk.client.request(protocol.DestroyAgent(agent_id=agent_id))
            await talk.client.request(protocol.ListAgents())
            assert left() is None
            assert talk.users("fake-voice") == 0

    gc.disable()
    try:
        run(work)
    finally:
        gc.enable()


# ---- voices that cannot --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "fault",
    [
        errors.ModelLoadFailed("no such file"),
        errors.ModelCorrupt("cut short"),
        RuntimeError("a bug of it"),
        SystemExit("a library that ends the process"),
    ],
)
def test_a_voice_that_cannot_be_loaded(fault: BaseException) -> None:
    def load(*_: object) -> FakeVoice:
        raise fault

    async def work() -> None:
        async with talking(FAKE, scripted(REPLY), load_voice=load) as talk:
            agent_id = await talk.agent(workflow(speaks(), speaks("bram"), model="script"))
            (first, warnings), (second, more) = [await hear(talk, agent_id, "Hello") for _ in range(2)]
            for heard in (first, second):
                assert heard.complete.status == "Success"
                assert (heard.text("mira"), heard.text("bram")) == (REPLY, REPLY)
                assert heard_of(heard.frames) == {}
                assert [str(fault) in speech(heard, step)["failed"] for step in (1, 2)] == [True, True]
            [(code, message, node)] = warnings
            assert (code, node) == (4005, "mira")
            assert "'fake-voice'" in message and str(fault) in message
            assert more == []
            _, warnings = await hear(talk, await talk.agent(workflow(speaks(), model="script")), "Hello")
            assert len(warnings) == 1

    run(work)


def test_a_voice_that_fails_at_a_word() -> None:
    async def work() -> None:
        failing = VOICE.model_copy(update={"mock": MockScript(fail_on="ale")})
        async with talking(failing, scripted(REPLY, "Good night.")) as talk:
            agent_id = await talk.agent(workflow(mock(), mock("bram"), model="script"))
            heard, warnings = await hear(talk, agent_id, "Hello")
            assert heard.complete.status == "Success"
            for step in heard_of(heard.frames).values():
                assert step.text == REPLY and [text for text, _ in step.sentences] == SENTENCES
                assert step.samples == samples_of(SENTENCES[0].strip())
            assert [(code, node) for code, _, node in warnings] == [(4005, "mira"), (4005, "bram")]
            again, warnings = await hear(talk, agent_id, "Hello")
            assert warnings == []
            assert sound(again).samples == samples_of("Good night.")

    run(work)


# ---- node types of others ------------------------------------------------------------------------------------


class Chorus(ReplyNode, VoiceNode):
    """Says what it is told to, or its reply."""

    say: list[str] = param([], "Each is said.")
    default_exit: str = exit_param("said")

    async def run(self, turn: TurnView) -> str:
        for text in self.say:
            turn.speak(text)
        if not self.say:
            turn.speak_along()
            await turn.choose([Label("a", "one"), Label("b", "two")], input_name="", task="Which?", history_turns=0)
            await turn.generate()
        return "default"


class Mute(Node):
    """Has no voice and speaks."""

    default_exit: str = exit_param("said")

    async def run(self, turn: TurnView) -> str:
        turn.speak("Hello")
        return "default"


@pytest.mark.parametrize(
    ("node", "fault"),
    [
        ({"type": "Chorus", "voice": "fake-voice", "say": ["One.", "Two."]}, "a node speaks once in a step"),
        ({"type": "Chorus", "voice": "fake-voice", "say": ["One.", ""]}, "a node speaks once in a step"),
        ({"type": "Mute"}, "Mute is no VoiceNode, so it cannot speak"),
        ({"type": "Chorus", "voice": "fake-voice", "say": ["One."]}, ""),
        ({"type": "Chorus", "voice": "fake-voice"}, ""),
    ],
)
def test_a_node_speaks_once_and_only_what_it_generates(node: dict[str, Any], fault: str) -> None:
    async def work() -> None:
        voice = FakeVoice()
        registry: dict[str, type[Node]] = {**default_registry(), "Chorus": Chorus, "Mute": Mute}
        async with talking(FAKE, load_voice=loading(voice), registry=registry) as talk:
            heard = await talk.say(await talk.agent(workflow({"name": "a", **node})), "one fine day")
            error = heard.complete.error
            assert (error is not None and error.code == 4001 and fault in error.message) if fault else error is None
            heard_of(heard.frames)
            if not fault:
                assert [text for text, *_ in voice.said] == (node.get("say") or ["one fine day"])

    run(work)


# ---- parameters ----------------------------------------------------------------------------------------------


def test_speaker_and_speed_change_between_turns_and_the_voice_does_not() -> None:
    async def work() -> None:
        voice = FakeVoice()
        async with talking(FAKE, scripted(REPLY), load_voice=loading(voice)) as talk:
            agent_id = await talk.agent(workflow(speaks(), model="script"))
            await talk.say(agent_id, "Hello")

            async def change(**params: Any) -> None:
                await talk.client.request(protocol.ChangeParams(agent_id=agent_id, node_name="mira", params=params))

            with pytest.raises(errors.ParamNotMutable):
                await change(voice="fake-voice")
            for wrong in ({"speed": 0.05}, {"speed": 3.1}, {"speaker_id": -1}, {"min_sentence_chars": -1}):
                with pytest.raises(errors.InvalidValue):
                    await change(**wrong)
            await change(speaker_id=1, speed=1.5, min_sentence_chars=400)
            heard = await talk.say(agent_id, "Hello")
            assert voice.said[3:] == [(REPLY, 1, 1.5)]
            assert (sound(heard).text, speech(heard)["speaker"]) == (REPLY, "two")
            with pytest.raises(errors.InvalidValue, match="no speaker 2; the highest speaker_id is 1") as refused:
                await change(speaker_id=2)
            assert refused.value.path == "$.params.speaker_id"
            with pytest.raises(
                errors.InvalidValue, match="node 'mira': the voice 'fake-voice' has no speaker 7"
            ) as refused:
                await talk.agent(workflow(speaks(speaker_id=7), model="script"))
            assert (refused.value.node_name, refused.value.path) == ("mira", "speaker_id")
            assert talk.users("fake-voice") == 1
            await change(speaker_id=0)
            gate = voice.hold("ale")
            turn = asyncio.ensure_future(talk.say(agent_id, "Hello"))
            await voice.reached["ale"].wait()
            with pytest.raises(errors.AgentBusy):  # the text is there, and still it is the same turn
                await change(speaker_id=1)
            gate.set()
            assert sound(await turn).text == REPLY

    run(work)


def test_a_turn_says_no_more_than_it_may_write() -> None:
    async def work() -> None:
        voice = FakeVoice(piece_bytes=4_000)
        async with talking(FAKE, load_voice=loading(voice), settings=Settings(max_turn_chars=1_024)) as talk:
            nodes = [{"name": name, "type": "Speak", "voice": "fake-voice"} for name in ("a", "b")]
            agent_id = await talk.agent(workflow(*nodes))
            assert (await talk.say(agent_id, "x" * 512)).complete.status == "Success"
            heard = await talk.say(agent_id, "x" * 513)
            assert heard.complete.error is not None
            assert (heard.complete.error.code, heard.complete.error.node_name) == (3014, "b")
            heard_of(heard.frames)

    run(work)


@pytest.mark.parametrize(
    ("node", "code", "field", "says"),
    [
        ({"voice": ""}, 6005, "voice", "names no voice"),
        ({"voice": "nobody"}, 6005, "voice", "no model 'nobody'"),
        ({"voice": "echo"}, 3003, "voice", "of type tts"),
        ({"speed": 0.0}, 3007, "speed", ""),
        ({"speaker_id": -1}, 3007, "speaker_id", ""),
        ({"min_sentence_chars": 401}, 3007, "min_sentence_chars", ""),
        ({"speak_actions": "perhaps"}, 3003, "speak_actions", ""),
    ],
)
@pytest.mark.parametrize("kind", ["Speak", "GenerateAndSpeak"])
def test_what_the_compiler_refuses(kind: str, node: dict[str, Any], code: int, field: str, says: str) -> None:
    async def work() -> None:
        async with talking(VOICE) as talk:
            flow = workflow({"name": "mira", "type": kind, "voice": "mock-voice", **node})
            [problem] = await talk.client.validate(flow)
            assert (problem.code, problem.field, problem.severity) == (code, field, "error")
            assert problem.path == f"$.nodes[0].{field}" and says in problem.message
            with pytest.raises(errors.BY_CODE[code]):
                await talk.agent(flow)
            assert await talk.client.validate(workflow({"name": "m", "type": kind, "voice": "mock-voice"})) == []

    run(work)

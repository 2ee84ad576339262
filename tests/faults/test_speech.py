"""Sound over connections that break or stall: heard once and in order, and no text is lost for its sake."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest

import bridge.client
from bridge.client import ParleyClient
from bridge.codec import Envelope
from bridge.config import Settings
from bridge.peer import Peer
from bridge.protocol import AudioChunk, AudioFormat, Gap, Push
from bridge.speech_step import StepSpeech
from tests.fake_voice import FAKE, FakeVoice, loading, text_of
from tests.faults.proxy import Fault, FaultyProxy, Schedule
from tests.speech_checks import heard_of
from tests.talk import Heard, Talk, run, scripted, talking, workflow

SETTINGS = Settings(heartbeat_s=0.1, detach_after_s=0.4, resume_window_s=60)
WORDS = " ".join(["One word follows the other, and each is heard."] * 20)
CHATTER = " ".join(["x y z"] * 80)
LONG = "".join(chr(ord("a") + index % 26) for index in range(5_000))
FLOW = workflow(
    {"name": "mira", "type": "GenerateAndSpeak", "voice": "fake-voice"},
    {"name": "bram", "type": "GenerateAndSpeak", "voice": "fake-voice", "speaker_id": 1},
    model="script",
)
ALOUD = workflow({"name": "aloud", "type": "Speak", "voice": "fake-voice"})
TALK = workflow({"name": "vera", "type": "Generate"})


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Clients that take a silent connection for a broken one soon."""
    monkeypatch.setattr(bridge.client, "REJOIN_TIMEOUT_S", 0.4)


@dataclass(slots=True)
class Behind:
    """A sidecar with a voice, and a client that is behind a proxy."""

    talk: Talk
    proxy: FaultyProxy
    client: ParleyClient
    voice: FakeVoice
    came: list[Envelope] = field(default_factory=list)
    links: list[str] = field(default_factory=list)

    @property
    def peer(self) -> Peer:
        """The sidecar's side of the client."""
        peers = self.talk.server._sessions.values()
        return next(peer for peer in peers if peer.session_id == self.client.ready.session_id)

    async def say(self, flow: dict[str, object], line: str) -> Heard:
        agent_id = (await self.client.create_agent(flow)).agent_id
        return Heard([frame async for frame in self.client.turn(agent_id, line)])


@asynccontextmanager
async def behind(schedule: Schedule = (), settings: Settings = SETTINGS) -> AsyncIterator[Behind]:
    voice = FakeVoice()
    came: list[Envelope] = []
    links: list[str] = []
    async with (
        talking(FAKE, scripted(WORDS), settings=settings, load_voice=loading(voice)) as talk,
        FaultyProxy(talk.endpoint, schedule) as proxy,
    ):
        client = await ParleyClient.connect(proxy.endpoint, talk.token, on_envelope=came.append, on_link=links.append)
        try:
            yield Behind(talk, proxy, client, voice, came, links)
        finally:
            await client.close()


async def until(condition: Callable[[], bool]) -> None:
    while not condition():  # noqa: ASYNC110 - what is waited for is inside the sidecar and sets no event
        await asyncio.sleep(0)


def gaps(frames: list[Envelope]) -> list[Gap]:
    return [frame.message for frame in frames if isinstance(frame.message, Gap)]


def test_a_connection_that_breaks_mid_speech() -> None:
    async def work() -> None:
        async with behind() as there:
            whole = await there.say(FLOW, "Hello")
            size = there.proxy.links[0].bytes["down"]
        said = {number: (step.text, step.sound) for number, step in heard_of(whole.frames).items()}
        assert [text for text, _ in said.values()] == [WORDS, WORDS]
        for at in range(size // 5, size - size // 5, size // 5):
            async with behind([[Fault("cut", "down", at, reset=at % 2 == 0)]]) as there:
                heard = await there.say(FLOW, "Hello")
                # The frames may be there before it is told that the connection is.
                await until(lambda: len(there.links) > 1)
                assert there.links[:2] == ["lost", "back"]
                assert {n: (step.text, step.sound) for n, step in heard_of(heard.frames).items()} == said
                assert heard.text("mira") == WORDS
                assert gaps(there.came) == []

    run(work)


def test_a_client_that_does_not_read_stops_its_sound_and_nothing_else() -> None:
    async def work() -> None:
        async with behind(settings=Settings(heartbeat_s=0.1)) as there:
            talker = (await there.client.create_agent(TALK)).agent_id
            speaker = (await there.client.create_agent(ALOUD)).agent_id
            turn = there.client.turn(speaker, LONG)
            first = await turn.__anext__()
            there.proxy.pause("down")
            outbox = there.peer.outbox
            await until(lambda: not outbox.room.is_set())
            # It is full. Another character's text does not wait, nor does the turn that sends it.
            words = asyncio.ensure_future(_collect(there.client, talker, CHATTER))
            agents = there.talk.sessions[-1]._agents
            await until(lambda: agents[talker].turns == 1)
            assert agents[speaker].busy and there.voice.open == 1
            assert outbox.kept_bytes < outbox._limit_bytes
            # What lies between the two takes some more. A voice that did not wait would be at its end after that.
            seq = 0
            while outbox.seq != seq:
                seq = outbox.seq
                for _ in range(2_000):
                    await asyncio.sleep(0)
            assert agents[speaker].busy and seq < len(LONG), "there is more sound for a client that takes none"
            there.proxy.go_on()
            heard = Heard([first, *[frame async for frame in turn]])
            assert text_of(heard_of(heard.frames)[1].sound) == LONG
            assert (await words).text("vera") == CHATTER
            assert gaps(there.came) == []

    run(work)


async def _collect(client: ParleyClient, agent_id: str, line: str) -> Heard:
    return Heard([frame async for frame in client.turn(agent_id, line)])


def test_sound_goes_first_where_a_client_stays_away() -> None:
    """Its turn runs on; of the sound only as much is kept as goes in, and it is told."""

    async def work() -> None:
        settings = Settings(heartbeat_s=0.1, detach_after_s=0.3, resume_window_s=60, resume_buffer_bytes=65_536)
        async with behind(settings=settings) as there:
            flow = workflow(
                {"name": "aloud", "type": "Speak", "voice": "fake-voice"}, {"name": "vera", "type": "Generate"}
            )
            agent_id = (await there.client.create_agent(flow)).agent_id
            gate = there.voice.hold("a")
            turn = there.client.turn(agent_id, LONG)
            task = asyncio.ensure_future(turn.__anext__())
            await there.voice.reached["a"].wait()
            there.proxy.pause("up", "down")
            await until(lambda: not there.peer.outbox.attached)
            gate.set()
            agents = there.talk.sessions[-1]._agents
            await until(lambda: not agents[agent_id].busy)
            assert there.peer.outbox.kept_bytes <= 65_536
            there.proxy.go_on()
            heard = Heard([await task, *[frame async for frame in turn]])
            assert heard.text("vera") == LONG
            assert heard.complete.status == "Success"
            assert {gap.reason for gap in gaps(there.came)} == {"sound"}
            # What is left of the sound can be heard: its format is there, and its last chunk.
            sounds = [frame.message for frame in heard.frames if isinstance(frame.message, AudioFormat | AudioChunk)]
            assert isinstance(sounds[0], AudioFormat)
            chunks = [message for message in sounds if isinstance(message, AudioChunk)]
            assert 0 < len(chunks) < 5_000 and chunks[-1].is_final
            assert [chunk.index for chunk in chunks] == sorted({chunk.index for chunk in chunks})

    run(work)


def test_the_check_sees_chunks_that_are_said_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    send = StepSpeech.send

    def twice(self: StepSpeech, chunk: object) -> object:
        send(self, chunk)  # type: ignore[arg-type]
        return send(self, chunk)  # type: ignore[arg-type]

    monkeypatch.setattr(StepSpeech, "send", twice)

    async def work() -> None:
        async with behind() as there:
            heard = await there.say(ALOUD, "One. Two.")
            with pytest.raises(AssertionError):
                heard_of(heard.frames)

    run(work)


def test_a_sidecar_that_lets_sound_flood_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    push = Peer.push

    def careless(self: Peer, message: Push, payload: bytes | None = None) -> None:
        push(self, message, payload)

    monkeypatch.setattr(Peer, "push", careless)

    async def work() -> None:
        async with behind(settings=Settings(heartbeat_s=0.1)) as there:
            speaker = (await there.client.create_agent(ALOUD)).agent_id
            turn = there.client.turn(speaker, LONG)
            await turn.__anext__()
            there.proxy.pause("down")
            # All is said to a client that takes none of it.
            await until(lambda: not there.talk.sessions[-1]._agents[speaker].busy)
            assert not there.peer.outbox.room.is_set(), "it was never full"

    run(work)

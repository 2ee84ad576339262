"""What the sound of a turn must be, whatever is said: order, numbers, sums and last chunks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from bridge.codec import Envelope
from bridge.protocol import AnswerText, AudioChunk, AudioFormat, Push, TurnComplete, Warning

ENVELOPE_MS = 20


@dataclass(slots=True)
class StepSound:
    """What was heard of one step."""

    format: AudioFormat
    chunks: list[AudioChunk] = field(default_factory=list)
    payloads: list[bytes] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The sentences, joined."""
        return "".join(chunk.text or "" for chunk in self.chunks)

    @property
    def sound(self) -> bytes:
        return b"".join(self.payloads)

    @property
    def samples(self) -> int:
        return len(self.sound) // 2

    @property
    def sentences(self) -> list[tuple[str, bytes]]:
        """Text and sound of each."""
        found: list[tuple[str, bytes]] = []
        for chunk, payload in zip(self.chunks, self.payloads, strict=True):
            if chunk.text is not None:
                found.append((chunk.text, b""))
            if payload:
                found[-1] = (found[-1][0], found[-1][1] + payload)
        return found


def heard_of(frames: Sequence[Envelope]) -> dict[int, StepSound]:
    """The sound of a turn by step; asserts all that is always so. `frames`: all pushes of the turn."""
    steps: dict[int, StepSound] = {}
    turn = {(m.agent_id, m.turn_id) for m in (frame.message for frame in frames) if isinstance(m, TurnComplete)}
    assert len(turn) == 1
    assert isinstance(frames[-1].message, TurnComplete), "something came after the end"
    for frame in frames:
        message = frame.message
        if isinstance(message, AudioFormat):
            assert (message.agent_id, message.turn_id) in turn
            assert (message.channels, message.encoding) == (1, "s16le")
            assert message.step not in steps, "a step has one format"
            assert all(step.chunks[-1].is_final for step in steps.values()), "two speak at once"
            assert message.step > max(steps, default=0), "the steps speak in their order"
            steps[message.step] = StepSound(message)
        elif isinstance(message, AudioChunk):
            step = steps[message.step]
            assert (message.agent_id, message.turn_id, message.node_name) == (
                step.format.agent_id,
                step.format.turn_id,
                step.format.node_name,
            )
            _check_chunk(step, message, frame.payload)
            step.chunks.append(message)
            step.payloads.append(frame.payload or b"")
    for step in steps.values():
        assert step.chunks and step.chunks[-1].is_final, "the last chunk is final"
    return steps


def _check_chunk(step: StepSound, chunk: AudioChunk, payload: bytes | None) -> None:
    assert chunk.index == len(step.chunks), "chunks are numbered"
    last = step.chunks[-1] if step.chunks else None
    assert last is None or not last.is_final, "nothing follows the last chunk"
    if chunk.text is None:
        assert last is not None and chunk.sentence == last.sentence, "a sentence begins with its text"
    else:
        assert chunk.text, "a sentence has text"
        assert chunk.sentence == (last.sentence + 1 if last else 0), "sentences are numbered"
    assert payload is not None and len(payload) % 2 == 0
    span = 2 * step.format.sample_rate * ENVELOPE_MS // 1000
    assert len(chunk.envelope) == -(-len(payload) // span), "a number for every 20 ms"
    assert all(0 <= number <= 1 for number in chunk.envelope)
    if last is not None and chunk.sentence == last.sentence and not chunk.is_final and step.payloads[-1]:
        assert len(step.payloads[-1]) % span == 0, "only the last chunk of a sentence ends within 20 ms"


def warnings_of(frames: Sequence[Envelope]) -> list[tuple[int, str, str]]:
    """Code, message and node of every warning."""
    found = (frame.message for frame in frames)
    return [(m.code, m.message, m.node_name or "") for m in found if isinstance(m, Warning)]


def kinds_of(frames: Sequence[Envelope]) -> list[tuple[str, int]]:
    """Type and step of what is said and heard, in the order of coming; one entry for several alike in a row."""
    kinds: list[tuple[str, int]] = []
    for frame in frames:
        message = frame.message
        if isinstance(message, AnswerText | AudioChunk):
            kind = (message.type_name, message.step)
            if kinds[-1:] != [kind]:
                kinds.append(kind)
    return kinds


def pushes(frames: Sequence[Envelope]) -> list[Push]:
    return [frame.message for frame in frames if isinstance(frame.message, Push)]

"""What a chat does with the sound of its turns: plays it, records it, or both."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from bridge import protocol
from bridge.codec import Envelope
from bridge.node import VoiceNode, default_registry
from bridge.voice_player import Line, Player, Sink, Speakers
from bridge.voice_recording import CannotRecord, Recorder

STARTER_VOICE = "starter-voice"


class Hearing:
    """Takes the frames of a chat. Without a player and a recorder it does nothing. Threading: the event loop only."""

    def __init__(
        self,
        player: Player | None = None,
        recorder: Recorder | None = None,
        tell: Callable[[str], None] = lambda text: None,
    ) -> None:
        """Takes the player over. `tell` hears in one sentence that no more is recorded."""
        self._player = player
        self._recorder = recorder
        self._tell = tell
        self._lines: dict[int, Line] = {}
        """What is played of the turn, by step."""
        self._hushed = False
        self._recording_failed = False

    @property
    def failed(self) -> bool:
        """Whether something that was asked for is not heard or not written."""
        return self._recording_failed or (self._player is not None and bool(self._player.fault))

    def begin_turn(self) -> None:
        """The player said something: whoever speaks still is interrupted."""
        self.hush()
        self._hushed = False
        if self._recorder is not None:
            self._recorder.begin_turn()

    def take(self, envelope: Envelope) -> None:
        """One frame; those without sound are let pass."""
        message = envelope.message
        if isinstance(message, protocol.AudioFormat):
            self._play_format(message)
            self._record(lambda recorder: recorder.begin(message.step, message.node_name, message.sample_rate))
        elif isinstance(message, protocol.AudioChunk):
            sound = envelope.payload or b""
            self._play_chunk(message, sound)
            self._record(lambda recorder: recorder.write(message.step, sound))
            if message.is_final:
                self._record(lambda recorder: recorder.end(message.step))
        elif isinstance(message, protocol.TurnComplete):
            if message.status == "Cancelled":
                self.hush()
            self._end_lines()
            self._record(lambda recorder: recorder.end_turn())

    def hush(self) -> None:
        """Stop what is heard at once, with all that the turn still brings. What is recorded goes on."""
        self._hushed = True
        if self._player is not None:
            self._player.silence()
        self._lines.clear()

    async def heard(self) -> None:
        """Wait until all is heard that came."""
        if self._player is not None:
            await self._player.heard()

    def close(self) -> None:
        """Be silent, and leave whole files. Idempotent."""
        if self._player is not None:
            self._player.close()
        if self._recorder is not None:
            self._recorder.end_turn()

    def _play_format(self, message: protocol.AudioFormat) -> None:
        if self._player is not None and not self._hushed:
            self._lines[message.step] = self._player.begin(message.sample_rate)

    def _play_chunk(self, message: protocol.AudioChunk, sound: bytes) -> None:
        line = self._lines.get(message.step)
        if self._player is not None and line is not None:
            self._player.put(line, sound)
            if message.is_final:
                self._player.end(self._lines.pop(message.step))

    def _end_lines(self) -> None:
        for line in self._lines.values():
            if self._player is not None:
                self._player.end(line)
        self._lines.clear()

    def _record(self, work: Callable[[Recorder], None]) -> None:
        if self._recorder is None or self._recording_failed:
            return
        try:
            work(self._recorder)
        except CannotRecord as fault:
            self._recording_failed = True
            self._recorder.end_turn()
            self._tell(str(fault))


def open_hearing(
    play: bool,
    folder: Path | None,
    tell: Callable[[str], None],
    tell_from_thread: Callable[[str], None],
    make_sink: Callable[[], Sink] = Speakers,
) -> Hearing:
    """Raises CannotRecord and CannotPlay. `tell_from_thread` is called on another thread when the device fails."""
    recorder = None if folder is None else Recorder(folder)
    player = Player(make_sink(), on_fault=tell_from_thread) if play else None
    return Hearing(player, recorder, tell)


def has_voice(workflow: Mapping[str, Any]) -> bool:
    """Whether some node of the workflow is heard."""
    return any(_is_heard(node) for node in _nodes(workflow))


def lend_voice(workflow: dict[str, Any], voice: str) -> None:
    """Let every node that is heard speak with this voice; where there is none, every Generate node is heard."""
    heard = [node for node in _nodes(workflow) if _is_heard(node)]
    if not heard:
        heard = [node for node in _nodes(workflow) if node.get("type") == "Generate"]
        for node in heard:
            node["type"] = "GenerateAndSpeak"
    for node in heard:
        node["voice"] = voice
        node.pop("speaker_id", None)  # of the workflow's own voice


def _nodes(workflow: Mapping[str, Any]) -> list[dict[str, Any]]:
    nodes = workflow.get("nodes")
    return [node for node in (nodes if isinstance(nodes, list) else ()) if isinstance(node, dict)]


def _is_heard(node: Mapping[str, Any]) -> bool:
    cls = default_registry().get(str(node.get("type")))
    return cls is not None and issubclass(cls, VoiceNode)

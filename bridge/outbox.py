"""Everything that one session is sent: numbered, kept until the client has it, sent again where a connection broke.

What is kept is bounded. Beyond `limit_bytes` sound goes first, then the text frames of a step that nobody has been
sent yet become one, then other pushes go; `Gap` stands where frames were, so that the numbers stay without a hole. A
reply and a turn's end are never lost to that: a reply becomes an Error that says to ask again, a TurnComplete loses
its diagnostics.

Threading: used on the event loop only.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from bridge.codec import encode
from bridge.errors import LimitExceeded
from bridge.protocol import AnswerText, AudioChunk, Error, Gap, GapReason, Message, Reply, TurnComplete
from bridge.transport import Sent

SHRINK_TO = 0.75
"""Share of the limit that is left after shrinking, so that it is not done again with every frame."""
SMALL = 512
"""Bytes of a frame that is not worth giving up."""

Kind = Literal["reply", "turn", "text", "sound", "push", "gap"]


@dataclass(slots=True)
class _Kept:
    """One message, or the place of several that are gone: the numbers from `first` to `last`."""

    first: int
    last: int
    kind: Kind
    frames: list[bytes]
    message: Message | None = None
    """Of what may be made smaller."""
    request_id: int = 0
    sent: bool = False
    """Its peer may have it: it was sent to the socket that the peer has now."""
    waiting: bool = True
    """It is to be sent, perhaps again."""
    reason: GapReason = "dropped"
    """Of a gap."""
    size: int = field(init=False)

    def __post_init__(self) -> None:
        self.size = sum(map(len, self.frames))


class Outbox:
    """The one who counts `seq`. Sends at once what the peer takes; the rest waits for `flush`.

    `on_full` is called where the peer takes no more: `flush` is to be called again, after a while.
    """

    def __init__(
        self,
        send: Callable[[Sequence[bytes]], Sent],
        limit_bytes: int,
        on_full: Callable[[], None] = lambda: None,
    ) -> None:
        self.seq = 0
        self.acknowledged = 0
        self.kept_bytes = 0
        self.attached = True
        self.room = asyncio.Event()
        """Not set while the peer takes no more: who has much to say waits for it. Set where there is no peer: what
        comes is kept for it, as much as goes in."""
        self.room.set()
        self._closed = False
        self._full = False
        self._kept: deque[_Kept] = deque()
        self._unsent: deque[_Kept] = deque()
        self._send = send
        self._on_full = on_full
        self._limit_bytes = limit_bytes
        self._shrink_above = limit_bytes

    # ---- sending ----

    def put(self, message: Message, *, request_id: int = 0, payload: bytes | None = None) -> int:
        """Send under the next `seq` and keep it until it is acknowledged. Returns its bytes.

        What cannot be encoded raises and takes no `seq`.
        """
        if self._closed:
            return 0
        frames = encode(message, request_id=request_id, seq=self.seq + 1, payload=payload)
        self.seq += 1
        kind = _kind_of(message, payload)
        kept = _Kept(self.seq, self.seq, kind, frames, message if kind in ("text", "turn") else None, request_id)
        self._kept.append(kept)
        self._unsent.append(kept)
        self.kept_bytes += kept.size
        size = kept.size
        if not self._full:  # to ask a full peer with every frame would cost the others their time
            self._send_on()
        if self.kept_bytes > self._shrink_above:
            self._shrink()
        return size

    def put_unsequenced(self, message: Message, *, request_id: int = 0) -> None:
        """Send with `seq` 0, now or never: what says nothing of what was before or comes after."""
        self._send(encode(message, request_id=request_id))

    def flush(self) -> bool:
        """Send on as much as the peer takes. True where that was anything."""
        self._full, waiting = False, len(self._unsent)
        while self._unsent and self.attached:
            kept = self._unsent[0]
            sent = self._send(kept.frames)
            if sent is not Sent.YES:
                self._full, self.attached = sent is Sent.FULL, sent is not Sent.GONE
                break
            kept.sent, kept.waiting = True, False
            self._unsent.popleft()
        self._note_room()
        return len(self._unsent) < waiting

    def _send_on(self) -> None:
        self.flush()
        if self._full:
            self._on_full()

    def _note_room(self) -> None:
        if self.is_full:
            self.room.clear()
        else:
            self.room.set()

    @property
    def is_full(self) -> bool:
        """The peer took no more when it was last tried."""
        return self._full and self.attached and bool(self._unsent)

    @property
    def is_waiting(self) -> bool:
        """Something could go out if the peer took it."""
        return bool(self._unsent)

    # ---- the other side ----

    def acknowledge(self, last_seq: int) -> None:
        """The peer has all up to `last_seq`. What was never sent cannot be acknowledged."""
        self.acknowledged = max(self.acknowledged, min(last_seq, self.seq))
        while self._kept and self._kept[0].last <= self.acknowledged:
            kept = self._kept.popleft()
            self.kept_bytes -= kept.size
            if self._unsent and self._unsent[0] is kept:
                self._unsent.popleft()
        if self.kept_bytes <= self._limit_bytes:
            self._shrink_above = self._limit_bytes
        self._note_room()

    def reply_ids(self) -> set[int]:
        """The requests whose replies are kept."""
        return {kept.request_id for kept in self._kept if kept.kind == "reply"}

    def holds_reply(self, request_id: int) -> bool:
        """Whether a request's reply is kept: it was sent and may come, or will be sent."""
        return any(kept.request_id == request_id and kept.kind == "reply" for kept in self._kept)

    def detach(self) -> None:
        """Send nothing until `attach`; keep what comes."""
        self.attached = False
        self._note_room()

    def attach(self, send: Callable[[Sequence[bytes]], Sent] | None = None, last_seq: int | None = None) -> None:
        """The peer is there again, perhaps at another address: send all that it has not acknowledged, in order."""
        if send is not None:
            self._send = send
        if last_seq is not None:
            self.acknowledge(last_seq)
        self.attached = True
        for kept in self._kept:
            kept.waiting = True
            # Nothing of it has come to a new socket, and what came to the old one was just acknowledged.
            kept.sent = kept.sent and send is None
        self._unsent = deque(self._kept)
        self._send_on()

    # ---- the end ----

    def close(self) -> None:
        """Take nothing more; what waits can still be flushed."""
        self._closed = True

    def drop(self) -> None:
        """Take nothing more and let go of all that is kept."""
        self._closed = True
        self._kept.clear()
        self._unsent.clear()
        self.kept_bytes = 0
        self._note_room()

    # ---- keeping within the limit ----

    def _shrink(self) -> None:
        """Make what is kept smaller, well within the limit; each step only where the one before was not enough."""
        wanted = int(self._limit_bytes * SHRINK_TO)
        for step in (self._give_up_sound, self._merge_text, self._give_up_pushes, self._shorten, self._give_up_turns):
            step(wanted)
            self._close_ranks()
            if self.kept_bytes <= self._limit_bytes:
                return
        # What cannot become smaller is not tried again with every frame.
        self._shrink_above = self.kept_bytes + self._limit_bytes - wanted

    def _give_up_sound(self, wanted: int) -> None:
        self._give_up("sound", wanted, "sound")

    def _give_up_pushes(self, wanted: int) -> None:
        for kind in ("push", "text"):
            self._give_up(kind, wanted, "dropped")

    def _give_up_turns(self, wanted: int) -> None:
        self._give_up("turn", wanted, "dropped")

    def _give_up(self, kind: str, wanted: int, reason: GapReason) -> None:
        for kept in self._kept:
            if self.kept_bytes <= wanted:
                return
            if kept.kind == kind:
                self._leave_gap(kept, reason)

    def _merge_text(self, _wanted: int) -> None:
        """The text frames of one step become one, in the place of its last. Only of what nobody was sent: of the others
        it is not known how much of them has come."""
        groups: dict[tuple[str, int, int], list[_Kept]] = {}
        for kept in self._unsent:
            message = kept.message
            if isinstance(message, AnswerText) and message.is_delta and not kept.sent:
                groups.setdefault((message.agent_id, message.turn_id, message.step), []).append(kept)
        for group in groups.values():
            if len(group) < 2:
                continue
            last = group[-1]
            texts = [kept.message.text for kept in group if isinstance(kept.message, AnswerText)]
            assert isinstance(last.message, AnswerText)
            for kept in group[:-1]:
                self._leave_gap(kept, "merged")
            self._replace(last, last.message.model_copy(update={"text": "".join(texts)}))

    def _shorten(self, wanted: int) -> None:
        """Diagnostics go, and large replies: whoever asked is told to ask again."""
        for kept in self._kept:
            if self.kept_bytes <= wanted:
                return
            if isinstance(kept.message, TurnComplete) and kept.message.debug is not None:
                warning = {"warning": "left out: the client was away and too much had to be kept for it"}
                self._replace(kept, kept.message.model_copy(update={"debug": warning}))
            elif kept.kind == "reply" and kept.size > SMALL:
                self._replace(kept, TOO_LARGE_TO_KEEP)

    def _replace(self, kept: _Kept, message: Message) -> None:
        kept.message = message
        self._refill(kept, encode(message, request_id=kept.request_id, seq=kept.last))

    def _leave_gap(self, kept: _Kept, reason: GapReason) -> None:
        """Its frames are made by `_close_ranks`, once for all that lie side by side."""
        kept.kind, kept.reason, kept.message = "gap", reason, None
        self._refill(kept, [])

    def _refill(self, kept: _Kept, frames: list[bytes]) -> None:
        self.kept_bytes -= kept.size
        kept.frames = frames
        kept.size = sum(map(len, frames))
        self.kept_bytes += kept.size

    def _close_ranks(self) -> None:
        """Gaps that touch become one, but for those of which another part was sent."""
        closed: deque[_Kept] = deque()
        for kept in self._kept:
            before = closed[-1] if closed else None
            if (
                before is not None
                and before.kind == kept.kind == "gap"
                and (before.sent, before.waiting) == (kept.sent, kept.waiting)
            ):
                kept.first = before.first
                if before.reason != kept.reason:
                    kept.reason = "dropped"
                self._refill(before, [])
                self._refill(kept, [])
                closed.pop()
            closed.append(kept)
        for kept in closed:
            if kept.kind == "gap" and not kept.frames:
                gap = Gap(from_seq=kept.first, to_seq=kept.last, reason=kept.reason)
                self._refill(kept, encode(gap, seq=kept.last))
        self._kept = closed
        self._unsent = deque(kept for kept in closed if kept.waiting)


TOO_LARGE_TO_KEEP = Error(
    code=LimitExceeded.code,
    name="LimitExceeded",
    message="the reply came while the client was away and was too large to be kept (resume_buffer_bytes); ask again "
    "with a new request_id",
)


def _kind_of(message: Message, payload: bytes | None) -> Kind:
    if isinstance(message, Reply):
        return "reply"
    if isinstance(message, TurnComplete):
        return "turn"
    if isinstance(message, AnswerText):
        return "text"
    # How sound is written is kept as long as can be: without it nothing that is left of the sound could be heard.
    return "sound" if isinstance(message, AudioChunk) or payload is not None else "push"

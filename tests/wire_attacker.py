"""Messages that are wrong in every way, and a client that sends them and counts the answers.

Everything random comes from one `random.Random`, so that a seed tells a whole attack.
"""

from __future__ import annotations

import asyncio
import json
import random
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import zmq

from bridge.codec import HEADER, MAX_PARTS, MIN_PARTS, Limits, decode_request, encode
from bridge.errors import ParleyError
from bridge.protocol import PUSHES, REPLIES, REQUESTS, AnswerText, Bye, CreateAgent, Hello, Ping, Request
from bridge.transport import run_on_selector_loop
from tests.sidecar import Process
from tests.talk import workflow

JSON_LIMIT = 32_768
PAYLOAD_LIMIT = 16_384
LIMITS = Limits(JSON_LIMIT, PAYLOAD_LIMIT)
PATIENCE_S = 60.0
AGENTS = 3

FLOW = workflow(
    {"name": "calm", "type": "Transform", "template": "{{user_message}}"},
    {"name": "mira", "type": "Generate", "system_prompt": "Mira keeps the inn.", "max_tokens": 8},
)
LONG_FLOW = workflow({"name": "round", "type": "Transform", "template": "x", "default_exit": "round"})

ODD: list[Any] = [
    None, True, False, 0, -1, 1, 2**31, 2**53 + 1, 2**63, 2**64 - 1, 2**64, 10**40, -(10**25), 0.5, -0.0, 1e308,
    float("nan"), float("inf"), "", " ", "a", "x" * 300, "x" * 5000, "\0", "\ud800", "龙", "\U0001f409",
    "../../etc/passwd", "C:\\x", "/nowhere", "{{{{", "{{#a}}", "$.nodes[0]", "None", [], {}, [[]], [None], {"": {}},
    [1, "a", {}],
    {"a": {"b": {"c": [1, 2, {"d": None}]}}}, ["x"] * 200,
]  # fmt: skip


def bodies(agent_id: str) -> dict[str, dict[str, Any]]:
    """A valid body of every request; Hello is of a protocol that nobody speaks."""
    return {
        "Hello": {"protocol": 9, "client": "one of many", "token": "no", "resume": "no such key", "last_seq": 3},
        "Ping": {"last_seq": 1},
        "Bye": {},
        "Shutdown": {},
        "ConfigureSession": {"storage_folder": None, "allow_model_download": False, "game_name": "a game"},
        "CreateAgent": {"workflow": FLOW, "variables": {}, "enable_diagnostics": True, "max_steps": 4,
                        "seed_dialog": [{"user": "hi", "replies": [{"node_name": "mira", "text": "hello"}]}]},
        "DestroyAgent": {"agent_id": agent_id},
        "ListAgents": {},
        "SendMessage": {"agent_id": agent_id, "text": "Is anybody here?"},
        "CancelTurn": {"agent_id": agent_id, "turn_id": 1},
        "SetVariables": {"agent_id": agent_id, "values": {"level": 2}},
        "ChangeParams": {"agent_id": agent_id, "node_name": "mira",
                         "params": {"max_tokens": 4, "sampling": {"seed": 1}}},
        "GetParams": {"agent_id": agent_id, "node_name": "mira"},
        "ToolResult": {"agent_id": agent_id, "call_id": "1", "result": "done", "error": None},
        "ExportDialog": {"agent_id": agent_id, "from": 0, "count": 2},
        "SeedDialog": {"agent_id": agent_id, "append": False, "dialog": {"version": 1, "interactions": [
            {"turn_id": 1, "user": "hi", "outputs": [{"step": 1, "node_name": "mira", "slot": "mira", "text": "x",
             "history_role": "Assistant", "history_name": "Mira"}]}]}},
        "EditDialog": {"agent_id": agent_id, "index": 0, "user": "ho", "replies": [{"node_name": "mira", "text": "y"}]},
        "TruncateDialog": {"agent_id": agent_id, "keep": 1},
        "ManageCache": {"agent_id": agent_id, "action": "Park"},
        "ValidateWorkflow": {"workflow": FLOW},
        "CreateStringStorage": {"name": "hints", "kind": "Map", "strings": ["a", "b"], "keys": ["k", "l"],
                                "file": None},
        "DestroyStringStorage": {"name": "hints"},
        "CreateEmbeddedStorage": {"name": "lore", "strings": ["a cat", "a dog"], "embedding_model": "embed"},
        "DestroyEmbeddedStorage": {"name": "lore"},
        "ListModels": {},
        "GetStatus": {},
        "LoadModel": {"model": "echo"},
        "UnloadModel": {"model": "echo"},
        "DownloadModel": {"model": "echo"},
        "CancelDownload": {"model": "echo"},
        "DeleteModel": {"model": "echo"},
    }  # fmt: skip


class Mutator:
    """Makes messages. About one in eight is left whole, so that the sidecar's state changes, too."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._next_id = 100
        self._recent = [1]
        self._types = sorted(REQUESTS)
        self._not_requests = sorted([*REPLIES, *PUSHES])

    def message(self, agent_id: str) -> list[bytes]:
        """The frames of one message, which does not replace the session it is sent in."""
        while True:
            frames = self._message(agent_id)
            if not _works(frames, Hello):
                return frames

    def _message(self, agent_id: str) -> list[bytes]:
        rng = self._rng
        name = rng.choice(self._types)
        if name in ("Bye", "DestroyAgent") and rng.randrange(20):
            name = "CreateAgent"  # else there would soon be nothing left to attack
        body = bodies(agent_id).get(name, {})
        kind = rng.randrange(8)
        data = b""
        if kind == 1:
            data = self._bytes_changed(_json(body, rng))
        elif kind == 2:
            data = self._text_changed(_json(body, rng))
        elif 3 <= kind <= 5:
            for _ in range(rng.choice((1, 1, 2, 5))):
                body = self._changed(body)
        frames = [name.encode(), HEADER.pack(self._id(), rng.choice((0, 0, 1, 2**64 - 1))), data or _json(body, rng)]
        if rng.randrange(12) == 0:
            frames.append(rng.randbytes(rng.choice((0, 1, 100, PAYLOAD_LIMIT, PAYLOAD_LIMIT + 1))))
        return self._frames_changed(frames) if kind == 6 else frames

    def _id(self) -> int:
        rng = self._rng
        self._next_id += 1
        chosen = rng.randrange(40)
        if chosen == 0:
            return 0
        if chosen == 1:
            return rng.choice(self._recent)
        if chosen == 2:
            return 2**64 - 1 - self._next_id  # huge, and each below the last one
        if chosen == 3:
            return rng.getrandbits(64)
        self._recent = [*self._recent[-20:], self._next_id]
        return self._next_id

    def _frames_changed(self, frames: list[bytes]) -> list[bytes]:
        rng = self._rng
        changed = list(frames)
        how = rng.randrange(9)
        if how == 0:
            return [rng.randbytes(rng.randrange(40)) for _ in range(rng.randrange(1, 10))]
        if how == 1:
            return changed[: rng.randrange(1, len(changed) + 1)]
        if how == 2:
            return changed + [rng.randbytes(rng.randrange(20)) for _ in range(rng.randrange(1, 7))]
        if how == 3:
            rng.shuffle(changed)
        elif how == 4:
            changed[1] = rng.choice((b"", changed[1][:15], changed[1] + b"\0", rng.randbytes(2000)))
        elif how == 5:
            changed[0] = rng.choice(self._not_requests).encode()
        elif how == 6:
            changed[0] = rng.choice(
                (b"", b"\xff", b"x" * 65, b"x" * 4000, changed[0].lower(), changed[0] + b" ", b"A\0")
            )
        elif how == 7:
            changed[2] = b'{"x":"' + b"y" * rng.choice((JSON_LIMIT - 8, JSON_LIMIT, 2 * JSON_LIMIT - 100)) + b'"}'
        else:
            changed.insert(rng.randrange(len(changed)), b"")
        return changed

    def _bytes_changed(self, data: bytes) -> bytes:
        rng = self._rng
        how, at = rng.randrange(7), rng.randrange(len(data))
        if how == 0:
            return data[:at] or b"{"
        if how == 1:
            return data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]
        if how == 2:
            return data[:at] + rng.randbytes(rng.randrange(1, 9)) + data[at:]
        if how == 3:
            return b"\xef\xbb\xbf" + data
        if how == 4:
            return data.decode().encode("utf-16")
        if how == 5:
            return data[:at] + data[rng.randrange(len(data)) :] or b"}"
        return rng.randbytes(rng.randrange(1, 200))

    def _text_changed(self, data: bytes) -> bytes:
        rng = self._rng
        deep = rng.choice((50, 99, 100, 101, 5000))
        return rng.choice(
            (
                data[:-1] + b',"agent_id":"a","agent_id":"b"}',
                b"{" + data[1:-1] + (b"," if len(data) > 2 else b"") + data[1:-1] + b"}",
                b"[" * deep,
                b'{"workflow":' + b'{"a":' * deep + b"1" + b"}" * deep + b"}",
                b'{"workflow":' + b"[" * deep + b"]" * deep + b"}",
                data.replace(b"1", b"9" * rng.choice((20, 400, 5000))),
                data.replace(b'"', b'"\\ud83d', 1),
                data.replace(b":", b":-", 1),
                data.replace(b"null", b"NaN"),
                b" " * 1000 + data,
                data + data,
                b'"' + data + b'"',
            )
        )

    def _changed(self, body: Any) -> Any:
        """The value with something in it replaced, taken out, or put in."""
        rng = self._rng
        if isinstance(body, dict) and body and rng.randrange(6):
            key = rng.choice(list(body))
            changed = dict(body)
            how = rng.randrange(8)
            if how == 0:
                del changed[key]
            elif how == 1:
                changed[rng.choice(("mood", "", "agent_id", "\ud800", "x" * 500))] = changed[key]
            else:
                changed[key] = self._changed(body[key])
            return changed
        if isinstance(body, list) and body and rng.randrange(6):
            at = rng.randrange(len(body))
            return [*body[:at], self._changed(body[at]), *body[at + rng.randrange(2) :]]
        return rng.choice(ODD)


def _json(body: Any, rng: random.Random) -> bytes:
    return json.dumps(body, ensure_ascii=rng.random() < 0.5, indent=rng.choice((None, None, 1))).encode(
        "utf-8", "surrogatepass"
    )


def _works(frames: list[bytes], kind: type[Hello] | type[Bye]) -> bool:
    """Whether the frames are a Hello that makes a session, or a Bye."""
    if frames[0] != kind.type_name.encode():
        return False
    try:
        message = decode_request(frames, LIMITS).message
    except ParleyError:
        return False
    return not isinstance(message, Hello) or (message.protocol == 1 and message.resume is None)


def readable_id(frames: list[bytes]) -> int:
    """The request_id that an answer to these frames has: 0 where none can be read."""
    return int(HEADER.unpack(frames[1])[0]) if len(frames) >= MIN_PARTS and len(frames[1]) == HEADER.size else 0


class Attacker:
    """A client without manners: it sends what it is given and keeps account of what comes back."""

    def __init__(self, endpoint: str, token: str = "") -> None:
        self._context = zmq.Context()
        self.socket = self._context.socket(zmq.DEALER)
        self.socket.setsockopt(zmq.LINGER, 0)
        self.socket.setsockopt(zmq.SNDHWM, 0)
        self.socket.setsockopt(zmq.RCVHWM, 0)
        self.socket.setsockopt(zmq.RCVTIMEO, int(PATIENCE_S * 1000))
        self.socket.connect(endpoint)
        self._token = token
        self._sent: Counter[int] = Counter()
        self._got: Counter[int] = Counter()
        self._open: set[int] = set()
        self.seq = 0
        self.codes: Counter[int] = Counter()
        self.agents: list[str] = []

    def begin(self) -> None:
        """A fresh session with agents."""
        self.hello()
        for flow in [FLOW] * (AGENTS - 1) + [LONG_FLOW]:
            made = self.ask(CreateAgent(workflow=flow, max_steps=50))
            self.agents.append(str(made["agent_id"]))

    def hello(self) -> dict[str, Any]:
        """The body of what a Hello is answered with."""
        return self.ask(Hello(protocol=1, client="attacker", token=self._token))

    def ask(self, message: Request) -> dict[str, Any]:
        """Sends one request whose answer is read at once."""
        request_id = 1 + sum(self._sent.values())
        self.send(encode(message, request_id=request_id))
        while True:
            name, answered, body = self._receive()
            if answered == request_id and name in REPLIES:
                found: dict[str, Any] = json.loads(body)
                return found

    def send(self, frames: list[bytes]) -> None:
        request_id = readable_id(frames)
        self._sent[request_id] += 1
        self._open.add(request_id)
        self.socket.send_multipart(frames)

    def settle(self) -> None:
        """Reads until everything that was sent is answered: once, or where an id was used again, at least once."""
        while self._open:
            try:
                self._receive()
            except zmq.Again:
                raise AssertionError(f"after {PATIENCE_S} s unanswered: {sorted(self._open)[:20]}") from None

    def close(self) -> None:
        self._context.destroy(linger=0)

    def _receive(self) -> tuple[str, int, bytes]:
        frames = self.socket.recv_multipart()
        assert MIN_PARTS <= len(frames) <= MAX_PARTS
        name = frames[0].decode("ascii")
        request_id, seq = struct.unpack("<QQ", frames[1])
        if name in REPLIES:
            self._got[request_id] += 1
            assert self._got[request_id] <= self._sent[request_id], f"{name} for {request_id} that nobody asked for"
            wanted = self._sent[request_id] if request_id == 0 else 1
            if self._got[request_id] >= wanted:
                self._open.discard(request_id)
            if name == "SessionReady":
                self.seq = 0
            elif name == "Error":
                self.codes[int(json.loads(frames[2])["code"])] += 1
        if seq:
            assert seq == self.seq + 1, f"{name} has seq {seq} behind {self.seq}"
            self.seq = seq
        return name, request_id, frames[2]


class Neighbour:
    """A well-behaved client in a thread of its own, which talks all the time and looks at the clock."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._over = threading.Event()
        self._fault: BaseException | None = None
        self.turns = 0
        self.slowest_s = 0.0
        self._thread = threading.Thread(target=self._run, name="neighbour", daemon=True)

    def __enter__(self) -> Neighbour:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join(PATIENCE_S)
        assert not self._thread.is_alive(), "the neighbour waits for an answer that does not come"
        if self._fault is not None:
            raise AssertionError("the neighbour was not served") from self._fault

    def check(self) -> None:
        """Raises where the neighbour got something wrong."""
        assert self._fault is None, repr(self._fault)

    def _run(self) -> None:
        try:
            run_on_selector_loop(self._talk())
        except BaseException as fault:
            self._fault = fault

    async def _talk(self) -> None:
        from bridge.client import ParleyClient

        async with await ParleyClient.connect(self._process.endpoint, self._process.token) as client:
            agent_id = (await client.create_agent(FLOW)).agent_id
            while not self._over.is_set():
                line = f"Line {self.turns % 7} of a quiet guest"
                begun = time.monotonic()
                said = ""
                async for frame in client.turn(agent_id, line):
                    if isinstance(frame.message, AnswerText):
                        said += frame.message.text if frame.message.node_name == "mira" else ""
                assert said == line, said
                self.slowest_s = max(self.slowest_s, time.monotonic() - begun)
                self.turns += 1
                await asyncio.sleep(0.01)


def attack(
    endpoint: str, rng: random.Random, count: int, after_each: Callable[[int], None] = lambda _: None
) -> Counter[int]:
    """Sends `count` messages in volleys, through one session after the other; returns the codes of all errors.

    Most sessions end with Bye; four of them go without a word.
    """
    mutator = Mutator(rng)
    codes: Counter[int] = Counter()
    sent = vanished = 0
    while sent < count:
        attacker = Attacker(endpoint)
        attacker.begin()
        try:
            said_bye = False
            for _ in range(20):
                volley = [mutator.message(rng.choice(attacker.agents)) for _ in range(rng.randrange(1, 60))]
                for frames in volley:
                    attacker.send(frames)
                attacker.settle()
                sent += len(volley)
                after_each(sent)
                said_bye = any(_works(frames, Bye) for frames in volley)
                if said_bye:
                    break
                attacker.ask(Ping(last_seq=attacker.seq))
            if not said_bye and vanished < 4 and rng.randrange(4) == 0:
                vanished += 1
            elif not said_bye:
                attacker.ask(Bye())
        finally:
            attacker.close()
        codes += attacker.codes
    return codes

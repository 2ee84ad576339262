"""CURVE, ZeroMQ's encryption: the sidecar's key file, both ends of a socket, and who fails at the door.

Every byte of an encrypted connection is sealed with keys that live as long as it does. A client knows the sidecar by
its public key and makes a key pair of its own, so that no client needs to be known beforehand: who may talk is the
token's matter.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import stat
import struct
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import zmq

from bridge.errors import InvalidValue
from bridge.files import write_atomically

log = logging.getLogger(__name__)

WHAT = "CURVE key pair of a Parley sidecar"
VERSION = 1
KEY_CHARS = 40
"""A key is 32 bytes, written in Z85."""
MAX_FILE_BYTES = 65_536
FRAME_OVERHEAD_BYTES = 33
"""What CURVE adds to each frame: command name, nonce, flags, authenticator."""

_EVENT = struct.Struct("=HI")
"""What a monitor says: event and value. The helper that reads it would import asyncio's kind of sockets as well."""

QUIET_S = 60.0
"""Failed handshakes of one kind are logged once in so many seconds."""

_WARNING = (
    "Keep this file to the sidecar's machine: who has secret_key can pose as this sidecar. public_key is for clients."
)


@dataclass(frozen=True, slots=True)
class Keys:
    """The key pair of a sidecar, in Z85. Its secret half shows in no repr."""

    public_key: str
    secret_key: str = field(repr=False)


def write_key_file(path: Path, *, force: bool = False) -> Keys:
    """Makes a key pair and writes it where only this user may read it (on Windows: who may read the folder).

    Raises InvalidValue; without `force` also where anything is there already, which then stays as it is.
    """
    _require_curve()
    public, secret = zmq.curve_keypair()
    keys = Keys(public.decode("ascii"), secret.decode("ascii"))
    content = {"what": WHAT, "version": VERSION, "warning": _WARNING, **_as_json(keys)}
    data = (json.dumps(content, indent=2) + "\n").encode("ascii")
    try:
        if force:
            write_atomically(path, data, mode=0o600, follow_links=False)
        else:
            _write_new(path, data)
    except FileExistsError:
        raise InvalidValue(
            f"{path} is there already; --force replaces it, and clients then need the new public key"
        ) from None
    except OSError as fault:
        raise InvalidValue(f"cannot write the key file {path}: {fault.strerror}") from None
    return keys


def read_key_file(path: Path) -> Keys:
    """The key pair of a file that `write_key_file` made. Raises InvalidValue, which never quotes the file."""
    _require_curve()
    try:
        with path.open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
            mode = os.fstat(file.fileno()).st_mode
    except OSError as fault:
        raise InvalidValue(
            f"cannot read the key file {path}: {fault.strerror}; `parley keygen FILE` makes one"
        ) from None
    keys = _parsed(data)
    if keys is None:
        raise InvalidValue(f"{path} is no key file of this version; `parley keygen FILE` makes one")
    if sys.platform != "win32" and stat.S_ISREG(mode) and mode & 0o077:
        log.warning("the key file %s can be read by other users of this machine; chmod 600 closes it", path)
    return keys


def apply_server(socket: zmq.Socket[Any], key_file: Path | str) -> str:
    """Makes a socket encrypt and expect CURVE of all who connect; returns the public key. Call before `bind`."""
    _require_curve()
    keys = read_key_file(Path(key_file))
    socket.setsockopt(zmq.CURVE_SECRETKEY, keys.secret_key.encode("ascii"))
    socket.setsockopt(zmq.CURVE_SERVER, 1)
    return keys.public_key


def apply_client(socket: zmq.Socket[Any], server_public_key: str) -> None:
    """Makes a socket encrypt for the sidecar with this public key, with a new key pair. Call before `connect`."""
    _require_curve()
    if not _is_key(server_public_key):
        raise InvalidValue(
            f"the server's public key must be the {KEY_CHARS} characters that `parley keygen` printed "
            "and the ready line has as curve_public_key"
        )
    public, secret = zmq.curve_keypair()
    socket.setsockopt(zmq.CURVE_SERVERKEY, server_public_key.encode("ascii"))
    socket.setsockopt(zmq.CURVE_PUBLICKEY, public)
    socket.setsockopt(zmq.CURVE_SECRETKEY, secret)


class Doorkeeper:
    """Says in the log why peers were turned away before they were one: one line for each kind a minute.

    `monitor` gives the socket whose messages to hand to `take`. Threading: one thread's, like its socket.
    """

    EVENTS = (
        zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL | zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL | zmq.EVENT_HANDSHAKE_FAILED_AUTH
    )

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._logged: dict[str, float] = {}
        self._unlogged: dict[str, int] = {}

    def monitor(self, context: zmq.Context[zmq.Socket[bytes]], socket: zmq.Socket[bytes]) -> zmq.Socket[bytes]:
        """The socket that hears of handshakes of `socket`, which stops telling with `disable_monitor`."""
        address = f"inproc://handshakes-{id(socket):x}"
        socket.monitor(address, self.EVENTS)
        ears = context.socket(zmq.PAIR)
        ears.setsockopt(zmq.LINGER, 0)
        # Unbounded: with a full queue, ZeroMQ's I/O thread would wait for this thread, and all peers with it.
        ears.setsockopt(zmq.RCVHWM, 0)
        ears.connect(address)
        return ears

    def take(self, frames: list[bytes]) -> None:
        """Takes one message of the monitor."""
        self.note(_why(*_EVENT.unpack(frames[0])))

    def note(self, why: str) -> None:
        """Logs that a connection was refused because of `why`, or counts it for the next line."""
        now = self._clock()
        last = self._logged.get(why)
        if last is not None and now - last < QUIET_S:
            self._unlogged[why] = self._unlogged.get(why, 0) + 1
            return
        self._logged[why] = now
        more = self._unlogged.pop(why, 0)
        log.warning("a connection was refused: %s%s", why, f" ({more} more since the last such line)" if more else "")


def _why(event: int, value: int) -> str:
    if event == zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL:
        return "it ended before its handshake did"
    if value == zmq.PROTOCOL_ERROR_ZMTP_MECHANISM_MISMATCH:
        return "one side encrypts (CURVE) and the other does not"
    if value in (zmq.PROTOCOL_ERROR_ZMTP_CRYPTOGRAPHIC, zmq.PROTOCOL_ERROR_ZMTP_KEY_EXCHANGE):
        return "its keys are wrong; clients need the public key of this sidecar's key file"
    return "it does not speak ZeroMQ's protocol as a client should"


def _require_curve() -> None:
    if not zmq.has("curve"):
        raise InvalidValue(
            "this build of ZeroMQ's library cannot encrypt (it has no CURVE); install pyzmq from its own wheels, "
            "or stay on loopback without a key"
        )


def _write_new(path: Path, data: bytes) -> None:
    """Puts a new private file there, whole; raises FileExistsError where anything has the name."""
    descriptor, name = tempfile.mkstemp(prefix=".parley-", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as out:
            out.write(data)
        os.chmod(name, 0o600)
        if sys.platform == "win32":
            os.rename(name, path)
            return
        try:
            # Unlike a rename, a link never replaces what is there.
            os.link(name, path)
        except FileExistsError:
            raise
        except OSError:  # a file system without links
            _write_exclusively(path, data)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)


def _write_exclusively(path: Path, data: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as out:
            out.write(data)
        os.chmod(path, 0o600)
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def _as_json(keys: Keys) -> dict[str, str]:
    return {"public_key": keys.public_key, "secret_key": keys.secret_key}


def _parsed(data: bytes) -> Keys | None:
    if len(data) > MAX_FILE_BYTES:
        return None
    try:
        found: Any = json.loads(data)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or (found.get("what"), found.get("version")) != (WHAT, VERSION):
        return None
    public, secret = found.get("public_key"), found.get("secret_key")
    if not (isinstance(public, str) and isinstance(secret, str) and _is_key(public) and _is_key(secret)):
        return None
    if zmq.curve_public(secret.encode("ascii")) != public.encode("ascii"):
        return None
    return Keys(public, secret)


def _is_key(text: str) -> bool:
    if len(text) != KEY_CHARS or not text.isascii():
        return False
    try:
        zmq.curve_public(text.encode("ascii"))
    except zmq.ZMQError:  # not Z85
        return False
    return True

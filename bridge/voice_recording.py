"""Sound in WAV files: one file as it comes, and a folder with one for each step that speaks."""

from __future__ import annotations

import contextlib
import re
import struct
import tempfile
import unicodedata
from pathlib import Path
from typing import BinaryIO

_HEADER = struct.Struct("<4sI4s4sIHHIIHH4sI")
_MOST_BYTES = 2**32 - _HEADER.size
_TAKEN = re.compile(r"turn(\d+)-step\d+-.*\.wav", re.IGNORECASE)
_NAME_CHARS = 80


class CannotRecord(Exception):
    """Sound cannot be written here; one sentence says why."""


class WavWriter:
    """Writes mono, signed 16 bits, little end first. After each piece the file is a whole WAV.

    Not by the standard library's `wave`: that writes again when it is collected, also where the disk is full.
    """

    def __init__(self, file: BinaryIO, sample_rate: int) -> None:
        """`file` can seek, and stays the caller's to close. Raises OSError, as `write` does."""
        self._file = file
        self._sample_rate = sample_rate
        self._bytes = 0
        file.write(self._header())

    def write(self, sound: bytes) -> None:
        if self._bytes + len(sound) > _MOST_BYTES:
            raise OSError(0, "a WAV file holds no more than 4 GiB")
        self._file.write(sound)
        self._bytes += len(sound)
        self._file.seek(0)
        self._file.write(self._header())
        self._file.seek(0, 2)
        self._file.flush()

    def _header(self) -> bytes:
        rest, rate = _HEADER.size - 8 + self._bytes, self._sample_rate
        return _HEADER.pack(b"RIFF", rest, b"WAVE", b"fmt ", 16, 1, 1, rate, rate * 2, 2, 16, b"data", self._bytes)


class Recorder:
    """Writes what is said into a folder, `turn001-step02-mira.wav` and so on; no file that is there is replaced.

    Turns are counted on from those that the folder has. Threading: used on one thread, whose writes are small.
    """

    def __init__(self, folder: Path) -> None:
        """Makes the folder where it is not there. Raises CannotRecord where nothing can be written to it."""
        self._folder = folder
        self._open: dict[int, tuple[Path, BinaryIO, WavWriter]] = {}
        """By step."""
        try:
            folder.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=folder).close()
            taken = [int(found[1]) for path in folder.iterdir() if (found := _TAKEN.fullmatch(path.name))]
        except OSError as fault:
            raise CannotRecord(f"cannot write to the folder {folder}: {fault.strerror or fault}") from None
        self._turn = max(taken, default=0)

    def begin_turn(self) -> None:
        """What comes next belongs to another turn."""
        self.end_turn()
        self._turn += 1

    def begin(self, step: int, node_name: str, sample_rate: int) -> None:
        """A step begins to speak. Raises CannotRecord."""
        self.end(step)
        path = self._folder / f"turn{self._turn:03}-step{step:02}-{_file_name(node_name)}.wav"
        number = 1
        while True:
            try:
                file = path.open("xb")
                break
            except FileExistsError:  # of another program that records into this folder
                number += 1
                path = path.with_name(f"{path.stem.partition(' ')[0]} {number}.wav")
            except OSError as fault:
                raise _told(path, fault) from None
        try:
            self._open[step] = path, file, WavWriter(file, sample_rate)
        except OSError as fault:
            with contextlib.suppress(OSError):
                file.close()
            raise _told(path, fault) from None

    def write(self, step: int, sound: bytes) -> None:
        """The next piece of what a step says. Raises CannotRecord."""
        if step not in self._open:
            return
        path, _, wav = self._open[step]
        try:
            wav.write(sound)
        except OSError as fault:
            self.end(step)
            raise _told(path, fault) from None

    def end(self, step: int) -> None:
        """The step says nothing more, or nothing more of it comes. Idempotent."""
        if step in self._open:
            _, file, _ = self._open.pop(step)
            with contextlib.suppress(OSError):  # all but a header that is right already was flushed
                file.close()

    def end_turn(self) -> None:
        """Close what is open. Idempotent."""
        for step in list(self._open):
            self.end(step)


def _told(path: Path, fault: OSError) -> CannotRecord:
    return CannotRecord(f"the recording stops: cannot write {path}: {fault.strerror or fault}")


def _file_name(node_name: str) -> str:
    """A node's name as every file system takes it."""
    plain = re.sub(r"[^\w-]", "_", unicodedata.normalize("NFC", node_name))
    return plain.encode()[:_NAME_CHARS].decode("utf-8", "ignore") or "_"

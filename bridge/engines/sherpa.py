"""Voices of sherpa-onnx: Piper and other VITS, Kokoro, Matcha. They speak in a process of their own."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import psutil

from bridge.engine import EngineStatus, SpeechModel
from bridge.engines.sherpa_worker import DONE, FAILED, FRAME, READY, SOUND
from bridge.engines.speech_queue import QueuedVoice
from bridge.engines.text_pieces import text_pieces
from bridge.engines.voice_folder import KINDS, VoiceFolder, read_voice_folder
from bridge.errors import ModelLoadFailed, SpeechFailed
from bridge.frozen import worker_command
from bridge.wording import cut

TEXT_PIECE = 200
"""Characters that are spoken together where a sentence is longer: nobody waits for more, and memory stays small."""
PATIENCE_S = 120.0
"""A process that says nothing for so long is ended: it hangs, and the next text has a new one."""
THREADS = max(1, min(2, (os.cpu_count() or 1) // 2))


class SherpaVoice:
    """A `Synthesizer` over a child process, which is started anew after it died."""

    def __init__(self, folder: VoiceFolder, command: Sequence[str] | None = None) -> None:
        """Starts the process. Raises ModelLoadFailed."""
        self.sample_rate = folder.sample_rate
        self.speakers = folder.speakers
        self._folder = folder
        self._command = list(command or worker_command())
        self._number = 0
        self._heard: dict[int, deque[tuple[bytes, bytes]]] = {}
        """Frames that came while another request was read, by request."""
        self._lock = threading.Lock()
        self._stopped = False
        self._process = self._start()

    def synthesize(self, text: str, speaker_id: int, speed: float) -> Iterator[bytes]:
        for piece in text_pieces(text.encode("utf-8", "ignore").decode(), TEXT_PIECE):
            yield from self._say({"text": piece, "speaker": speaker_id, "speed": speed})

    def status(self) -> EngineStatus:
        try:
            size = int(psutil.Process(self._process.pid).memory_info().rss)
        except psutil.Error:
            size = self._folder.bytes_on_disk
        return EngineStatus(backend="CPU", bytes_in_memory=size, notes=(f"a {KINDS[self._folder.kind]} voice",))

    def stop(self) -> None:
        with self._lock:
            self._stopped = True
            self._process.kill()

    def close(self) -> None:
        self.stop()
        _end(self._process)

    # ---- one request

    def _say(self, request: dict[str, Any]) -> Iterator[bytes]:
        if self._process.poll() is not None:
            self._start_anew()
        self._number += 1
        number = self._number
        process = self._process
        self._heard[number] = deque()
        is_done = False
        try:
            _write(process, {"id": number, **request})
            while not is_done:
                kind, data = self._frame(process, number)
                is_done = kind != SOUND
                if kind == FAILED:
                    raise SpeechFailed(f"the voice failed: {cut(data.decode('utf-8', 'replace'))}")
                if data:
                    yield data
        except (OSError, EOFError):
            is_done = True
            _end(process)
            raise SpeechFailed(
                f"the process of the voice ended with code {process.returncode}; it is started anew for the next text"
            ) from None
        finally:
            self._heard.pop(number, None)
            if not is_done:
                self._tell_to_stop(process, number)

    def _frame(self, process: subprocess.Popen[bytes], number: int) -> tuple[bytes, bytes]:
        """The next frame of a request; those of others that are still read are kept for them."""
        mine = self._heard[number]
        while not mine:
            with _patience(process):
                kind, of, data = _read(process)
            kept = self._heard.get(of)
            if kept is not None:
                kept.append((kind, data))
        return mine.popleft()

    def _tell_to_stop(self, process: subprocess.Popen[bytes], number: int) -> None:
        if process is self._process and process.poll() is None:
            try:
                _write(process, {"stop": number})
            except OSError:
                return

    # ---- the process

    def _start_anew(self) -> None:
        _end(self._process)
        # What others still waited for will never come.
        for frames in self._heard.values():
            frames.append((FAILED, b"the process of the voice ended"))
        try:
            process = self._start()
        except ModelLoadFailed as fault:
            raise SpeechFailed(str(fault)) from None
        with self._lock:
            self._process = process
            if self._stopped:
                process.kill()

    def _start(self) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
        last: deque[str] = deque(maxlen=20)
        listener = threading.Thread(target=_listen, args=(process.stderr, last), name="parley-voice-log", daemon=True)
        listener.start()
        try:
            with _patience(process):
                _write(process, _as_plain(self._folder))
                kind, _, data = _read(process)
        except (OSError, EOFError):
            _end(process)
            listener.join(1.0)
            why = f"its process ended with code {process.returncode}"
            said = next((line for line in reversed(last) if line.strip()), "")
            raise ModelLoadFailed(self._cannot(f"{why}: {cut(said.strip())}" if said else why)) from None
        if kind != READY:
            _end(process)
            raise ModelLoadFailed(self._cannot(cut(data.decode("utf-8", "replace"))))
        facts = json.loads(data)
        if facts["sample_rate"] != self.sample_rate or max(1, facts["speakers"]) != len(self.speakers):
            _end(process)
            raise ModelLoadFailed(self._cannot(f"it says {facts}, and the file said something else"))
        return process

    def _cannot(self, why: str) -> str:
        return f"sherpa-onnx cannot load the {KINDS[self._folder.kind]} voice {self._folder.model.parent}: {why}"


def load_sherpa(path: Path, *, report: Callable[[str, int, int, str], None] = lambda *_: None) -> SpeechModel:
    """The voice of a folder, or that of an .onnx file. Blocking. Raises ModelLoadFailed, ModelCorrupt."""
    report("load", 0, 2, "steps")
    folder = read_voice_folder(path)
    report("load", 1, 2, "steps")
    voice = SherpaVoice(folder)
    report("load", 2, 2, "steps")
    return QueuedVoice(voice)


def _as_plain(folder: VoiceFolder) -> dict[str, Any]:
    return {
        "kind": folder.kind,
        "model": str(folder.model),
        "tokens": str(folder.tokens),
        "lexicon": ",".join(map(str, folder.lexicons)),
        "vocoder": str(folder.vocoder or ""),
        "voices": str(folder.voices or ""),
        "data": str(folder.data or ""),
        "rules": ",".join(map(str, folder.rules)),
        "threads": THREADS,
    }


@contextlib.contextmanager
def _patience(process: subprocess.Popen[bytes]) -> Iterator[None]:
    watch = threading.Timer(PATIENCE_S, process.kill)
    watch.daemon = True
    watch.start()
    try:
        yield
    finally:
        watch.cancel()


def _write(process: subprocess.Popen[bytes], message: dict[str, Any]) -> None:
    assert process.stdin is not None
    process.stdin.write(json.dumps(message).encode("ascii") + b"\n")
    process.stdin.flush()


def _read(process: subprocess.Popen[bytes]) -> tuple[bytes, int, bytes]:
    """Kind, request and data of the next frame. Raises EOFError at the end, and where something else is there."""
    assert process.stdout is not None
    head = process.stdout.read(FRAME.size)
    if len(head) < FRAME.size:
        raise EOFError
    kind, number, size = FRAME.unpack(head)
    data = process.stdout.read(size)
    if len(data) < size or kind not in (READY, SOUND, DONE, FAILED):
        raise EOFError
    return kind, number, data


def _listen(stream: IO[bytes], last: deque[str]) -> None:
    """Keep the last lines of what the library prints; the words of players are among them, so nobody else sees them."""
    with stream:
        for line in stream:
            last.append(line.decode("utf-8", "replace"))


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            try:
                stream.close()
            except OSError:
                continue

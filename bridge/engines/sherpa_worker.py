"""The process in which sherpa-onnx speaks: it reads requests line by line and answers with sound. `import sherpa_onnx`.

A process of its own, because the library ends the process that it does not like the input of, and writes what is
said to the console.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import struct
import sys
import threading
from typing import Any, BinaryIO

FRAME = struct.Struct("<cII")
"""Kind, request, length; so many bytes follow."""
READY, SOUND, DONE, FAILED = b"R", b"S", b"D", b"F"

_PATHS = {
    "vits": ("OfflineTtsVitsModelConfig", {"model": "model"}),
    "kokoro": ("OfflineTtsKokoroModelConfig", {"model": "model", "voices": "voices"}),
    "matcha": ("OfflineTtsMatchaModelConfig", {"acoustic_model": "model", "vocoder": "vocoder"}),
}


def make_voice(sherpa: Any, folder: dict[str, Any]) -> Any:
    """The library's voice of a folder that was recognised."""
    name, paths = _PATHS[folder["kind"]]
    options = {option: folder[part] for option, part in paths.items()}
    options |= {"tokens": folder["tokens"], "lexicon": folder["lexicon"], "data_dir": folder["data"]}
    model = sherpa.OfflineTtsModelConfig(
        **{folder["kind"]: getattr(sherpa, name)(**options)}, num_threads=folder["threads"], provider="cpu"
    )
    config = sherpa.OfflineTtsConfig(model=model, rule_fsts=folder["rules"], max_num_sentences=1)
    if not config.validate():
        raise ValueError("the library does not take the folder")
    return sherpa.OfflineTts(config)


class Worker:
    """Speaks, one request after the other, until its input ends."""

    def __init__(self, source: BinaryIO, target: BinaryIO) -> None:
        self._source = source
        self._target = target
        self._stopped: set[int] = set()
        self._requests: queue.Queue[dict[str, Any] | None] = queue.Queue()

    def run(self) -> None:
        """Blocks until the input ends."""
        try:
            import numpy  # noqa: F401 # now, and not while somebody waits for the first word
            import sherpa_onnx

            voice = make_voice(sherpa_onnx, json.loads(self._source.readline()))
            self._send(
                READY, 0, json.dumps({"sample_rate": voice.sample_rate, "speakers": voice.num_speakers}).encode()
            )
        except Exception as fault:  # of the library
            self._send(FAILED, 0, _words(fault))
            return
        threading.Thread(target=self._read, daemon=True).start()
        while (request := self._requests.get()) is not None:
            self._speak(voice, request)

    def _read(self) -> None:
        for line in self._source:
            request = json.loads(line)
            if "stop" in request:
                self._stopped.add(request["stop"])
            else:
                self._requests.put(request)
        os._exit(0)  # whoever listened is gone; what is being said is for nobody

    def _speak(self, voice: Any, request: dict[str, Any]) -> None:
        number = request["id"]
        heard = 0

        def hear(samples: Any, progress: float) -> int:
            nonlocal heard
            if number in self._stopped:
                return 0
            self._send(SOUND, number, _pcm(samples))
            heard += len(samples)
            return 1

        try:
            if number not in self._stopped:
                made = voice.generate(request["text"], sid=request["speaker"], speed=request["speed"], callback=hear)
                rest = made.samples[heard:]  # what no callback brought
                if len(rest) and number not in self._stopped:
                    self._send(SOUND, number, _pcm(rest))
            self._send(DONE, number)
        except Exception as fault:  # of the library
            self._send(FAILED, number, _words(fault))
        self._stopped.discard(number)

    def _send(self, kind: bytes, request: int, data: bytes = b"") -> None:
        self._target.write(FRAME.pack(kind, request, len(data)) + data)
        self._target.flush()


def _pcm(samples: Any) -> bytes:
    import numpy as np

    wave = np.nan_to_num(np.asarray(samples, dtype=np.float32))
    return bytes((np.clip(wave, -1.0, 1.0) * 32767.0).astype("<i2").tobytes())


def _words(fault: BaseException) -> bytes:
    return f"{type(fault).__name__}: {fault}".encode("utf-8", "replace")[:2000]


def main() -> None:
    """Speak over standard input and output. What the library prints goes to standard error."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is for the sidecar, which ends the input
    target = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    Worker(sys.stdin.buffer, target).run()


if __name__ == "__main__":
    main()

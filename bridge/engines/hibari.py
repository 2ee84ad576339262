"""Hibari: a small English voice that a Python package brings along. The only `import hibari`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bridge.engine import EngineStatus, SpeechModel
from bridge.engines.speech_queue import QueuedVoice
from bridge.engines.text_pieces import text_pieces
from bridge.engines.voice_memory import HIBARI_BYTES
from bridge.errors import ModelCorrupt, ModelLoadFailed, SpeechFailed
from bridge.wording import words_of

THREADS = 1
"""Of onnxruntime: one core speaks a hundred times faster than one listens, and the language model wants the others."""
TEXT_PIECE = 400
"""Characters that are looked at together: the first sound of a long text does not wait for the last word."""
SOUND_PIECE = 200
"""Phonemes that are spoken together, about 15 s. Memory grows with the square: 5,000 of them would take 2 GB."""
SLOW = 0.5
"""Below this speed fewer are: a piece never sounds for more than twice as long."""

_FIGURE = re.compile(r"(\d)[.,]*")
_REPEATED = re.compile(r"([^\w\s])\1{3,}")


class HibariVoice:
    """A `Synthesizer` over one of hibari's voices."""

    def __init__(self, tts: Any, name: str, bytes_on_disk: int) -> None:
        self.sample_rate = int(tts.sample_rate)
        self.speakers: Sequence[str] = (name,)
        self._tts = tts
        self._bytes = HIBARI_BYTES + bytes_on_disk

    def synthesize(self, text: str, speaker_id: int, speed: float) -> Iterator[bytes]:
        most = round(SOUND_PIECE * min(1.0, speed / SLOW))
        for piece in text_pieces(_REPEATED.sub(r"\1\1\1", text), TEXT_PIECE):
            for phonemes in self._phonemes(piece, most):
                # Equal texts sound equal: the breath in a voice is noise, and its seed is fixed.
                wave = np.nan_to_num(self._tts.from_phonemes(phonemes, speed=speed, seed=0))
                yield (np.clip(wave, -1.0, 1.0) * 32767.0).astype("<i2").tobytes()

    def _phonemes(self, text: str, most: int) -> Iterator[str]:
        try:
            sentences = self._tts.phonemize(text)
        except Exception:  # numbers beyond all names, and what else the library trips over: digit by digit then
            try:
                sentences = self._tts.phonemize(_FIGURE.sub(r"\1 ", text))
            except Exception as fault:
                raise SpeechFailed(f"the voice cannot read the text: {words_of(fault)}") from None
        for sentence in sentences:
            yield from text_pieces(sentence, most)

    def status(self) -> EngineStatus:
        return EngineStatus(backend="CPU", bytes_in_memory=self._bytes)

    def stop(self) -> None:
        """A piece is done in no time."""

    def close(self) -> None:
        self._tts = None


def load_hibari(path: Path, *, report: Callable[[str, int, int, str], None] = lambda *_: None) -> SpeechModel:
    """A voice of hibari's by its ONNX file; the name of the file says which one, and so how its English is spelt.

    Blocking. The package is never let download anything. Raises ModelLoadFailed, ModelCorrupt.
    """
    try:
        from hibari import Hibari
        from hibari.voices import DEFAULT, VOICES
    except Exception as fault:  # onnxruntime without its system library, too
        raise ModelLoadFailed(f"hibari cannot be used: {words_of(fault)}; reinstall hibari-tts") from None
    name = next((name for name, facts in VOICES.items() if Path(facts["file"]).name == path.name), DEFAULT)
    report("load", 0, 2, "steps")
    try:
        tts = Hibari(voice=name, model=str(path), threads=THREADS)
        report("load", 1, 2, "steps")
        voice = HibariVoice(tts, name, path.stat().st_size)
        # Dictionaries are read with the first word, which is now and not while somebody waits for it.
        if not any(voice.synthesize("Yes.", 0, 1.0)):
            raise ValueError("it makes no sound")
    except Exception as fault:  # of onnxruntime or of the dictionaries
        raise ModelCorrupt(f"{path} is no voice of hibari's, or not whole: {words_of(fault)}") from None
    report("load", 2, 2, "steps")
    return QueuedVoice(voice)

"""Which kind of voice lies in a folder for sherpa-onnx, and whether all of it is there.

The library ends the process that hands it a bad folder, so whatever can be seen beforehand is said here.
"""

from __future__ import annotations

import importlib.metadata
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from bridge.engines.onnx_header import read_onnx_metadata
from bridge.errors import ModelCorrupt, ModelLoadFailed
from bridge.files import read_file
from bridge.wording import cut

Kind = Literal["vits", "kokoro", "matcha"]

KINDS: Mapping[Kind, str] = {"vits": "Piper or VITS", "kokoro": "Kokoro", "matcha": "Matcha"}
_METADATA: Mapping[Kind, Sequence[str]] = {
    "vits": ("sample_rate", "n_speakers", "language", "comment"),
    "kokoro": ("sample_rate", "n_speakers", "has_espeak", "style_dim"),
    "matcha": ("sample_rate", "n_speakers", "use_eos_bos", "pad_id"),
}
"""Without any of these, the library ends the process."""
_VOCODERS = ("vocos", "hifigan", "hifi-gan", "vocoder")
_MAX_SPEAKERS = 10_000
_MAX_JSON_BYTES = 2**20
ESPEAK = "espeak-ng-data"
WHERE = "https://k2-fsa.github.io/sherpa/onnx/tts/index.html"


@dataclass(frozen=True, slots=True)
class VoiceFolder:
    """A voice that is whole, as far as can be seen from outside."""

    kind: Kind
    model: Path
    sample_rate: int
    speakers: tuple[str, ...]
    tokens: Path
    lexicons: tuple[Path, ...] = ()
    vocoder: Path | None = None
    voices: Path | None = None
    data: Path | None = None
    """For a library that knows espeak-ng."""
    rules: tuple[Path, ...] = ()

    @property
    def bytes_on_disk(self) -> int:
        parts = (self.model, self.tokens, *self.lexicons, self.vocoder, self.voices, *self.rules)
        return sum(part.stat().st_size for part in parts if part is not None)


def library_knows_espeak() -> bool:
    """Whether the sherpa-onnx that is here turns letters into sounds with espeak-ng-data; from 2.0 on none does."""
    try:
        return int(importlib.metadata.version("sherpa-onnx").split(".")[0]) < 2
    except (importlib.metadata.PackageNotFoundError, ValueError):
        return False


def read_voice_folder(place: Path, *, knows_espeak: bool | None = None) -> VoiceFolder:
    """Recognise the voice of a folder, or that of an .onnx file with what lies beside it. Blocking.

    `knows_espeak` None: as `library_knows_espeak` says. Raises ModelLoadFailed that
    says what is missing, ModelCorrupt where a file is not what it should be.
    """
    folder = place if place.is_dir() else place.parent
    if not folder.is_dir():
        raise ModelLoadFailed(f"the folder of the voice is not there: {cut(folder)}")
    files = sorted(path for path in folder.iterdir() if path.is_file())
    models = [path for path in files if path.suffix == ".onnx"]
    if not place.is_dir() and place not in models:
        raise ModelLoadFailed(f"the file of the voice is not there: {cut(place)}")
    if not models:
        raise ModelLoadFailed(
            f"{folder} holds no voice: no file in it ends with .onnx; a voice for sherpa-onnx is a folder with its "
            f"model, tokens.txt and more, see {WHERE}"
        )
    metadata = {path: read_onnx_metadata(path) for path in models}
    vocoders = [path for path in models if _is_vocoder(path, metadata[path])]
    model = _the_model(place, folder, [path for path in models if path not in vocoders])
    about = metadata[model]
    kind = _kind_of(model, about, [path.name for path in files], has_vocoder=bool(vocoders))
    _check_metadata(kind, model, about)
    tokens = folder / "tokens.txt"
    _need(kind, tokens, "the list of the model's sounds")
    _check_tokens(tokens)
    lexicons = _lexicons(files)
    speakers = _speakers(model, about)
    voices = folder / "voices.bin" if kind == "kokoro" else None
    if voices is not None:
        _need(kind, voices, "what the speakers sound like")
        _check_voices(voices, about, len(speakers))
    if kind == "matcha" and not vocoders:
        raise ModelLoadFailed(
            f"{_looks(folder, kind)}, but its vocoder is missing, a second .onnx file such as vocos-22khz-univ.onnx: "
            f"fetch it into the folder, see {WHERE}"
        )
    has_espeak = library_knows_espeak() if knows_espeak is None else knows_espeak
    data = folder / ESPEAK if has_espeak and (folder / ESPEAK / "phontab").is_file() else None
    if not lexicons and data is None and about.get("frontend") != "characters":
        raise ModelLoadFailed(_no_sounds(folder, kind))
    return VoiceFolder(
        kind=kind,
        model=model,
        sample_rate=_number(model, about, "sample_rate", 1000, 384_000),
        speakers=speakers,
        tokens=tokens,
        lexicons=lexicons,
        vocoder=vocoders[0] if kind == "matcha" else None,
        voices=voices,
        data=data,
        rules=tuple(path for path in files if path.suffix == ".fst"),
    )


def _is_vocoder(path: Path, about: Mapping[str, str]) -> bool:
    name = f"{about.get('model_type', '')} {path.name}".lower()
    return any(word in name for word in _VOCODERS)


def _the_model(place: Path, folder: Path, models: Sequence[Path]) -> Path:
    if place in models:
        return place
    if len(models) == 1:
        return models[0]
    if not models:
        raise ModelLoadFailed(
            f"{folder} holds only a vocoder; a Matcha voice needs its acoustic model too, such as model-steps-3.onnx"
        )
    names = ", ".join(path.name for path in models)
    raise ModelLoadFailed(f"{folder} holds more than one model ({names}); let the catalog's path name one of them")


def _kind_of(model: Path, about: Mapping[str, str], names: Sequence[str], *, has_vocoder: bool) -> Kind:
    told = about.get("model_type", "").lower()
    if "kitten" in told or "zipvoice" in told or "supertonic" in told:
        raise ModelLoadFailed(f"{model} is a voice of the kind {told}; {', '.join(KINDS.values())} can be used")
    if "kokoro" in told or "style_dim" in about or "voices.bin" in names:
        return "kokoro"
    if "matcha" in told or has_vocoder:
        return "matcha"
    return "vits"


def _check_metadata(kind: Kind, model: Path, about: Mapping[str, str]) -> None:
    missing = [name for name in _METADATA[kind] if name not in about]
    if not missing:
        return
    if model.with_name(model.name + ".json").is_file():
        hint = "it is a Piper voice as Piper takes it; take the one that was made for sherpa-onnx"
    else:
        hint = "take a voice that was made for sherpa-onnx"
    raise ModelLoadFailed(
        f"{_looks(model.parent, kind)}, but {model.name} does not tell its {', '.join(missing)}: {hint}, see {WHERE}"
    )


def _need(kind: Kind, path: Path, what: str) -> None:
    if not path.is_file():
        raise ModelLoadFailed(
            f"{_looks(path.parent, kind)}, but {path.name} is missing, {what}: fetch the whole folder again"
        )


def _check_tokens(path: Path) -> None:
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError):
        raise ModelCorrupt(f"{path} is no text that can be read; fetch it again") from None
    numbers = 0
    for index, line in enumerate(lines):
        if not line.strip():
            continue
        # A token may be a space, and then its number stands alone.
        if not line.split()[-1].isdecimal():
            raise ModelCorrupt(f"{path}, line {index + 1}: a token and its number must stand there; fetch it again")
        numbers += 1
    if not numbers:
        raise ModelCorrupt(f"{path} is empty; fetch it again")


def _check_voices(path: Path, about: Mapping[str, str], speakers: int) -> None:
    try:
        long, _, wide = (int(part) for part in about["style_dim"].split(","))
    except ValueError:
        raise ModelCorrupt(
            f"{path.parent}: the model's style_dim is {about['style_dim']!r}, not three numbers"
        ) from None
    wanted, size = long * wide * speakers * 4, path.stat().st_size
    if size != wanted:
        raise ModelCorrupt(f"{path} has {size} bytes; for {speakers} speakers it must have {wanted}: fetch it again")


def _lexicons(files: Sequence[Path]) -> tuple[Path, ...]:
    """American English before others: the first that has a word tells how it is said. Of two Englishes, one."""
    found = [
        path for path in files if path.name.startswith("lexicon") and path.suffix == ".txt" and path.stat().st_size
    ]
    if any("us-en" in path.name for path in found):
        found = [path for path in found if "gb-en" not in path.name]
    return tuple(sorted(found, key=lambda path: ("us-en" not in path.name, path.name)))


def _speakers(model: Path, about: Mapping[str, str]) -> tuple[str, ...]:
    """Their names, by the model or by Piper's file beside it; numbers where nobody tells."""
    count = max(1, _number(model, about, "n_speakers", 0, _MAX_SPEAKERS))
    names = [name.strip() for name in about.get("speaker_names", "").split(",")]
    if len(names) != count:
        names = _piper_names(model.with_name(model.name + ".json"), count)
    return tuple(name or str(index) for index, name in enumerate(names))


def _piper_names(path: Path, count: int) -> list[str]:
    names = [""] * count
    try:
        ids = json.loads(read_file(path, _MAX_JSON_BYTES) or b"")["speaker_id_map"]
        for name, index in ids.items():
            names[index] = str(name)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError):
        return [""] * count
    return names


def _number(model: Path, about: Mapping[str, str], name: str, least: int, most: int) -> int:
    try:
        number = int(about[name])
    except ValueError:
        number = least - 1
    if not least <= number <= most:
        raise ModelCorrupt(f"{model}: its {name} is {cut(about[name])!r}, not a number from {least} to {most}")
    return number


def _no_sounds(folder: Path, kind: Kind) -> str:
    if (folder / ESPEAK).is_dir():
        return (
            f"{_looks(folder, kind)}, but lexicon.txt is missing, which tells how words sound; {ESPEAK} is not used "
            f"any more: take the voice with its lexicon, see {WHERE}"
        )
    return (
        f"{_looks(folder, kind)}, but lexicon.txt is missing, which tells how words sound: fetch the whole folder again"
    )


def _looks(folder: Path, kind: Kind) -> str:
    return f"{folder} looks like a {KINDS[kind]} voice"

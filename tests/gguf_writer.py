"""Small GGUF files for tests, written byte by byte."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Any

F32, Q4_K = 0, 12


def gguf(
    metadata: Mapping[str, Any],
    tensors: Sequence[tuple[str, Sequence[int], int, int]] = (),
    *,
    data: bytes = b"",
    version: int = 3,
) -> bytes:
    """A file of these values and tensors (name, extents, type, offset). Lists are arrays; floats are f32, ints u32."""
    out = [b"GGUF", struct.pack("<IQQ", version, len(tensors), len(metadata))]
    for key, value in metadata.items():
        out += [_text(key), _value(value)]
    for name, extents, kind, offset in tensors:
        out += [_text(name), struct.pack("<I", len(extents)), *(struct.pack("<Q", extent) for extent in extents)]
        out.append(struct.pack("<IQ", kind, offset))
    head = b"".join(out)
    return head + b"\0" * (-len(head) % 32) + data


def spm_vocabulary(words: Sequence[str], markers: Sequence[str], defined: Sequence[str] = (), **more: Any) -> bytes:
    """A SentencePiece vocabulary of bytes, letters, these words (earlier ones are preferred) and special tokens."""
    tokens: list[str] = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))]
    kinds = [2, 3, 3, *[6] * 256]
    tokens += markers
    kinds += [3] * len(markers)
    tokens += defined
    kinds += [4] * len(defined)
    letters = sorted({letter for word in words for letter in word} | {"\u2581"})
    plain = list(dict.fromkeys((*words, *letters)))
    tokens += plain
    kinds += [1] * len(plain)
    return gguf(
        {
            "general.architecture": "llama",
            "llama.context_length": 64,
            "llama.embedding_length": 8,
            "llama.block_count": 1,
            "llama.feed_forward_length": 8,
            "llama.attention.head_count": 1,
            "llama.attention.layer_norm_rms_epsilon": 1e-5,
            "tokenizer.ggml.model": "llama",
            "tokenizer.ggml.tokens": tokens,
            "tokenizer.ggml.scores": [-float(index) for index in range(len(tokens))],
            "tokenizer.ggml.token_type": kinds,
            "tokenizer.ggml.bos_token_id": 1,
            "tokenizer.ggml.eos_token_id": 2,
            **more,
        }
    )


def bpe_vocabulary(markers: Sequence[str], *, bos: int | None, eos: str) -> bytes:
    """A byte-level BPE vocabulary of the 256 bytes and these special tokens. `bos`: index of its marker."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in printable]
    letters = {byte: chr(byte) for byte in printable} | {byte: chr(256 + n) for n, byte in enumerate(others)}
    tokens = [*(letters[byte] for byte in range(256)), "he", *markers]
    more: dict[str, Any] = {"tokenizer.ggml.add_bos_token": bos is not None}
    if bos is not None:
        more["tokenizer.ggml.bos_token_id"] = 257 + bos
    return gguf(
        {
            "general.architecture": "llama",
            "llama.context_length": 64,
            "llama.embedding_length": 8,
            "llama.block_count": 1,
            "llama.feed_forward_length": 8,
            "llama.attention.head_count": 1,
            "llama.attention.layer_norm_rms_epsilon": 1e-5,
            "tokenizer.ggml.model": "gpt2",
            "tokenizer.ggml.pre": "default",
            "tokenizer.ggml.tokens": tokens,
            "tokenizer.ggml.token_type": [*[1] * 257, *[3] * len(markers)],
            "tokenizer.ggml.merges": ["h e"],
            "tokenizer.ggml.eos_token_id": 257 + list(markers).index(eos),
            **more,
        }
    )


def _text(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def _value(value: Any) -> bytes:
    if isinstance(value, list):
        kind = 8 if isinstance(value[0], str) else 6 if isinstance(value[0], float) else 5
        body = b"".join(_text(item) if kind == 8 else struct.pack("<f" if kind == 6 else "<i", item) for item in value)
        return struct.pack("<IIQ", 9, kind, len(value)) + body
    if isinstance(value, bool):
        return struct.pack("<I?", 7, value)
    if isinstance(value, str):
        return struct.pack("<I", 8) + _text(value)
    if isinstance(value, float):
        return struct.pack("<If", 6, value)
    return struct.pack("<II", 4, value)

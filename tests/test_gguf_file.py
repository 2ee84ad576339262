"""That a broken model file is found out by name, before native code reads it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.engines.gguf_file import read_gguf
from bridge.errors import ModelCorrupt, ModelLoadFailed
from tests.gguf_writer import F32, Q4_K, gguf

FACTS: dict[str, Any] = {
    "general.architecture": "gemma3",
    "gemma3.block_count": 18,
    "some.list": [1, 2, 3],
    "some.texts": ["a", "bc", ""],
    "some.flag": True,
    "some.number": 0.5,
}
TENSORS = [("token_embd", (256, 4), Q4_K, 0), ("norm", (8,), F32, 576)]
WHOLE = gguf(FACTS, TENSORS, data=bytes(576 + 32))


def read(folder: Path, data: bytes) -> Any:
    path = folder / "model.gguf"
    path.write_bytes(data)
    return read_gguf(path)


def test_a_whole_file_tells_its_architecture_and_layers(tmp_path: Path) -> None:
    facts = read(tmp_path, WHOLE)
    assert (facts.architecture, facts.layers) == ("gemma3", 18)
    assert facts.metadata["some.number"] == 0.5
    assert "some.list" not in facts.metadata


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "is not a GGUF file: it has 0 bytes"),
        (b"GGUF", "it has 4 bytes"),
        (b"PK\x03\x04" + bytes(100), "is not a GGUF file: it starts with b'PK"),
        (gguf(FACTS, version=1), "version 1; versions 2 and 3"),
        (WHOLE[:-1], "is cut short: 1 of"),
        (WHOLE[:100], "its header goes on behind the end of the file"),
        (gguf({"general.alignment": 24, **FACTS}), "damaged: its alignment is 24"),
        (gguf({"general.name": "x"}), "damaged: it names no architecture"),
        (gguf(FACTS, [("t", (255, 4), Q4_K, 0)], data=bytes(600)), "tensor 't' has an impossible shape"),
        (gguf(FACTS, [("t", (0, 4), F32, 0)]), "tensor 't' has an impossible shape"),
        (gguf(FACTS, [("t", (1, 1, 1, 1, 1), F32, 0)]), "tensor 't' has 5 dimensions"),
        (WHOLE[:8] + b"\xff" * 8 + WHOLE[16:], "damaged: it claims"),
    ],
)
def test_a_broken_file_is_named_with_what_is_wrong(tmp_path: Path, data: bytes, says: str) -> None:
    with pytest.raises(ModelCorrupt) as caught:
        read(tmp_path, data)
    assert caught.value.code == 6006
    assert says in caught.value.message
    assert "model.gguf" in caught.value.message


def test_a_file_that_is_not_there_is_another_error(tmp_path: Path) -> None:
    with pytest.raises(ModelLoadFailed, match=r"is not there: .*nothing\.gguf"):
        read_gguf(tmp_path / "nothing.gguf")
    with pytest.raises(ModelLoadFailed, match="cannot be read"):
        read_gguf(tmp_path)


@given(at=st.integers(0, len(WHOLE) - 1), value=st.integers(0, 255), size=st.integers(0, len(WHOLE)))
def test_no_damage_is_worse_than_a_refusal(
    tmp_path_factory: pytest.TempPathFactory, at: int, value: int, size: int
) -> None:
    data = bytearray(WHOLE)
    data[at] = value
    try:
        read(tmp_path_factory.getbasetemp(), bytes(data[:size]))
    except ModelCorrupt as fault:
        assert "model.gguf" in fault.message
    else:
        assert size == len(WHOLE)

"""Large JSON arrays are read in pieces, and mean what they mean in one."""

from __future__ import annotations

import json
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge import json_items
from bridge.json_items import ITEM_BYTES, PIECE_BYTES, JsonFault, NoArray, read_items

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(alphabet='ab"\\{}[], é\n', max_size=12),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text('k"\\}', max_size=3), inner, max_size=4),
    max_leaves=12,
)


def whole(data: bytes) -> list[Any]:
    return [item for items in read_items(data) for item in items]


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_items, "PIECE_BYTES", 8)
    monkeypatch.setattr(json_items, "REST_S", 0)


@given(items=st.lists(VALUES, max_size=20), indent=st.sampled_from([None, 1]))
def test_the_pieces_are_the_whole(items: list[Any], indent: int | None) -> None:
    data = json.dumps(items, indent=indent, ensure_ascii=False).encode()
    before = json_items.PIECE_BYTES
    try:
        json_items.PIECE_BYTES = 8
        assert whole(data) == orjson.loads(data)
    finally:
        json_items.PIECE_BYTES = before


@given(items=st.lists(VALUES, min_size=1, max_size=12), at=st.integers(0), by=st.sampled_from([*b'"\\{}[],:1x', 0xFF]))
def test_what_the_parser_refuses_whole_is_refused_in_pieces(items: list[Any], at: int, by: int) -> None:
    data = bytearray(json.dumps(items).encode())
    data[at % len(data)] = by
    text = bytes(data)
    try:
        expected = orjson.loads(text)
    except orjson.JSONDecodeError:
        expected = None
    before = json_items.PIECE_BYTES
    try:
        json_items.PIECE_BYTES = 8
        if isinstance(expected, list):
            assert whole(text) == expected
        else:
            with pytest.raises((JsonFault, NoArray)):
                whole(text)
    finally:
        json_items.PIECE_BYTES = before


def test_no_piece_is_much_larger_than_it_should_be() -> None:
    rows = [{"text": '"},{"' * 3, "metadata": {"a": [1, 2]}, "id": str(index)} for index in range(20_000)]
    numbers = list(range(200_000))
    for items in (rows, numbers):
        data = orjson.dumps(items)
        sizes = [len(orjson.dumps(piece)) for piece in read_items(data)]
        assert sum(sizes) >= len(data)
        assert max(sizes) < 5 * PIECE_BYTES


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'[{"a":1},\n {"a":1},\n {"a":x}]', "line 3 column 7"),
        (b'[{"a":1},\n {"a":1},\n]', "line 2 column 10"),
        (b'[{"a":1},\n {"a":1}', "line 2"),
        (b'[{"a":1},\n {"a":1}] x', "line 2 column 11"),
        (b'[{"a":1},\n {"a":"\\"\\"\\"', "line 2"),
    ],
)
@pytest.mark.usefixtures("small_pieces")
def test_a_fault_is_told_with_its_place(data: bytes, message: str) -> None:
    with pytest.raises(JsonFault, match=message):
        whole(data)


def test_another_value_is_no_array() -> None:
    with pytest.raises(NoArray) as told:
        whole(b' {"a": 1}')
    assert told.value.value == {"a": 1}
    with pytest.raises(NoArray) as told:
        whole(b'"%b"' % (b"a" * PIECE_BYTES))
    assert told.value.value is None


def test_an_endless_item_is_refused() -> None:
    with pytest.raises(JsonFault, match=f"an item has more than {ITEM_BYTES} bytes: line 1 column 2 "):
        whole(b"[[%b]]" % b",".join([b"1"] * (ITEM_BYTES // 2 + PIECE_BYTES)))


def test_quotation_marks_without_end_take_no_longer_than_they_are() -> None:
    with pytest.raises(JsonFault):
        whole(b'["' + b'\\"' * 2_000_000)

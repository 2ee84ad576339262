"""Embedded storages: what is read and refused, what is kept on disk, and what a search finds."""

from __future__ import annotations

import asyncio
import json
import logging
import math
import os
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pytest

from bridge.engine import Vectors
from bridge.engines import vector_index
from bridge.engines.vector_index import EXACT_UP_TO, VectorIndex, read_index
from bridge.errors import (
    InferenceFailed,
    InvalidEmbeddedStorageData,
    LimitExceeded,
    StorageFileNotFound,
    StorageOutsideRoot,
)
from bridge.filter import Filter, compile_filter
from bridge.knowledge import KnowledgeLimits
from bridge.retrieval import (
    EmbeddedStorage,
    Hit,
    Knowledge,
    build_storage,
    inline_knowledge,
    knowledge_from_config,
    read_knowledge,
)
from bridge.variables import Declared
from tests.fake_embedder import FakeEmbedder

T = TypeVar("T")

CONFIG: dict[str, Any] = {
    "version": 1,
    "embedding_model": "fake",
    "records_file": "lore.records.json",
    "fields": [
        {"name": "region", "type": "string", "default": "harbor"},
        {"name": "level", "type": "int"},
        {"name": "price", "type": "float", "optional": True},
        {"name": "tags", "type": "set<string>", "optional": True},
        {"name": "secret", "type": "bool", "default": False, "filterable": False},
    ],
}
RECORDS: list[dict[str, Any]] = [
    {"id": "inn", "text": "the inn serves dark beer", "metadata": {"level": 1, "tags": ["drink", "warm"]}},
    {"id": "wreck", "text": "a wreck lies off the harbor", "metadata": {"level": 4, "region": "sea"}},
    {"id": "king", "text": "the king is old", "metadata": {"level": 9, "region": "keep", "price": 3}},
]
DECLARED: Declared = {"player_level": ("int", 1)}


def run(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(work)


def write(folder: Path, config: object = CONFIG, records: object = RECORDS, name: str = "lore.json") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(json.dumps(config), encoding="utf-8")
    (folder / "lore.records.json").write_text(json.dumps(records), encoding="utf-8")


def build(
    knowledge: Knowledge,
    model: FakeEmbedder | None = None,
    model_name: str = "fake",
    report: Callable[[int, int], None] = lambda done, total: None,
) -> EmbeddedStorage:
    return run(build_storage(knowledge, model or FakeEmbedder(), model_name, report))


def search(storage: EmbeddedStorage, text: str, model: FakeEmbedder | None = None, **options: Any) -> list[Hit]:
    options.setdefault("top_k", 3)
    return run(storage.search(model or FakeEmbedder(storage.dimension), text, **options))


def ids(hits: Sequence[Hit]) -> list[str]:
    return [hit.id for hit in hits]


def only(raw: object, storage: Knowledge | EmbeddedStorage) -> Filter:
    found = compile_filter(raw, storage.schema, DECLARED)
    assert found is not None
    return found


# ---- reading ----------------------------------------------------------------------------------------------------


def test_a_config_and_its_records_are_read(tmp_path: Path) -> None:
    write(tmp_path / "lore")
    knowledge = read_knowledge(tmp_path, "lore/lore.json")
    assert (knowledge.name, knowledge.embedding_model) == ("lore/lore.json", "fake")
    assert [record.id for record in knowledge.records] == ["inn", "wreck", "king"]
    assert dict(knowledge.records[0].metadata) == {
        "region": "harbor",
        "level": 1,
        "tags": frozenset({"drink", "warm"}),
        "secret": False,
    }
    price = knowledge.records[2].metadata["price"]
    assert price == 3.0
    assert isinstance(price, float)
    assert knowledge.schema["secret"].filterable is False
    assert knowledge.index_path == Path(os.path.realpath(tmp_path / "lore" / "lore.records.index"))
    assert knowledge.warnings == ()


def test_a_config_that_came_along_names_files_of_the_storage_folder(tmp_path: Path) -> None:
    write(tmp_path)
    knowledge = knowledge_from_config(tmp_path, "made", {**CONFIG, "index_file": "made.idx"})
    assert knowledge.name == "made"
    assert len(knowledge.records) == 3
    assert knowledge.index_path == Path(os.path.realpath(tmp_path / "made.idx"))


def test_inline_strings_are_numbered() -> None:
    knowledge = inline_knowledge("made", ["one", "two"], "fake")
    assert [(record.id, record.text) for record in knowledge.records] == [("0", "one"), ("1", "two")]
    assert knowledge.index_path is None
    assert knowledge.schema == {}


def test_metadata_that_the_config_does_not_know_is_left_out_with_a_warning(tmp_path: Path) -> None:
    write(tmp_path, records=[{"id": "a", "text": "x", "metadata": {"level": 1, "regoin": "sea"}}])
    knowledge = read_knowledge(tmp_path, "lore.json")
    assert "regoin" not in knowledge.records[0].metadata
    assert len(knowledge.warnings) == 1
    assert "$[0].metadata.regoin" in knowledge.warnings[0]


def changed(**values: object) -> dict[str, Any]:
    return {**CONFIG, **values}


def field(**values: object) -> dict[str, Any]:
    return changed(fields=[{"name": "level", "type": "int", **values}])


@pytest.mark.parametrize(
    ("config", "path"),
    [
        ([], "$"),
        (changed(version=2), "$.version"),
        ({"version": 1}, "$.embedding_model"),
        (changed(embedding_model=""), "$.embedding_model"),
        (changed(records_file=3), "$.records_file"),
        (changed(record_file="x"), "$.record_file"),
        (changed(fields={}), "$.fields"),
        (field(type="number"), "$.fields[0].type"),
        (field(name=""), "$.fields[0].name"),
        (field(filterable="yes"), "$.fields[0].filterable"),
        (field(default="1"), "$.fields[0].default"),
        (field(default=True), "$.fields[0].default"),
        (field(default=1.0), "$.fields[0].default"),
        (field(type="set<string>", default=["a", 1]), "$.fields[0].default"),
        (field(type="float", default="x"), "$.fields[0].default"),
        (field(type="float", default=10**400), "$.fields[0].default"),
        (changed(fields=[{"name": "a", "type": "int"}] * 2), "$.fields[1].name"),
        (changed(index_file="lore.records.json"), "$.index_file"),
        (changed(index_file="./lore.records.json"), "$.index_file"),
    ],
)
def test_a_bad_config_is_8003_with_its_place(tmp_path: Path, config: Any, path: str) -> None:
    write(tmp_path)
    with pytest.raises(InvalidEmbeddedStorageData) as caught:
        knowledge_from_config(tmp_path, "lore.json", config)
    assert caught.value.code == 8003
    assert caught.value.path == path
    assert "lore.json" in str(caught.value)
    assert path in str(caught.value)


def test_the_index_never_takes_the_place_of_the_config(tmp_path: Path) -> None:
    write(tmp_path, changed(index_file="lore.json"))
    with pytest.raises(InvalidEmbeddedStorageData, match="write over") as caught:
        read_knowledge(tmp_path, "lore.json")
    assert caught.value.path == "$.index_file"


def record(**values: object) -> list[dict[str, Any]]:
    return [RECORDS[0], {**RECORDS[1], **values}]


@pytest.mark.parametrize(
    ("records", "path", "says"),
    [
        ({"a": 1}, "$", "must be an array"),
        ([RECORDS[0], "text"], "$[1]", "must be an object"),
        (record(id=7), "$[1].id", "string"),
        (record(text=None), "$[1].text", "string"),
        (record(id="inn"), "$[1].id", "'inn' stands there twice"),
        (record(metadata=[]), "$[1].metadata", "must be an object"),
        (record(metadata={}), "$[1].metadata.level", "no default and is not optional"),
        (record(metadata={"level": None}), "$[1].metadata.level", "no default"),
        (record(metadata={"level": 1.5}), "$[1].metadata.level", "1.5 must be a whole number"),
        (record(metadata={"level": True}), "$[1].metadata.level", "true must be a whole number"),
        (record(metadata={"level": 2**70}), "$[1].metadata.level", "whole number"),
        (record(metadata={"level": 1, "region": 5}), "$[1].metadata.region", "5 must be a string"),
        (record(metadata={"level": 1, "price": "3"}), "$[1].metadata.price", "'3' must be a finite number"),
        (record(metadata={"level": 1, "secret": 0}), "$[1].metadata.secret", "true or false"),
        (record(metadata={"level": 1, "tags": "sea"}), "$[1].metadata.tags", "array of strings"),
        (record(metadata={"level": 1, "tags": ["sea", 1]}), "$[1].metadata.tags", "array of strings"),
    ],
)
def test_a_bad_record_is_8003_with_its_place(tmp_path: Path, records: Any, path: str, says: str) -> None:
    write(tmp_path, records=records)
    with pytest.raises(InvalidEmbeddedStorageData) as caught:
        read_knowledge(tmp_path, "lore.json")
    assert caught.value.path == path
    assert says in str(caught.value)
    assert "'lore.records.json'" in str(caught.value)


def test_files_that_are_no_json_are_8003(tmp_path: Path) -> None:
    write(tmp_path)
    (tmp_path / "lore.records.json").write_bytes(b"[{")
    with pytest.raises(InvalidEmbeddedStorageData, match=r"'lore.records.json' is not valid JSON"):
        read_knowledge(tmp_path, "lore.json")
    (tmp_path / "lore.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InvalidEmbeddedStorageData, match=r"'lore.json' is not valid JSON"):
        read_knowledge(tmp_path, "lore.json")


def test_limits(tmp_path: Path) -> None:
    write(tmp_path)
    few = KnowledgeLimits(records=2)
    with pytest.raises(LimitExceeded, match=r"has more than 2 records \(max_knowledge_records\)"):
        read_knowledge(tmp_path, "lore.json", few)
    with pytest.raises(LimitExceeded, match="more than 2 strings"):
        inline_knowledge("made", ["a", "b", "c"], "fake", few)
    with pytest.raises(LimitExceeded, match=r"more than 10 bytes \(max_knowledge_bytes\)"):
        read_knowledge(tmp_path, "lore.json", KnowledgeLimits(record_bytes=10))


@pytest.mark.parametrize("bad", ["../out.json", "/etc/passwd", "C:\\x.json", "\\\\host\\x", "a/../../out.json", "a\0b"])
def test_paths_that_leave_the_folder_are_3009(tmp_path: Path, bad: str) -> None:
    root = tmp_path / "root"
    write(root / "lore")
    (tmp_path / "out.json").write_text("[]", encoding="utf-8")
    with pytest.raises(StorageOutsideRoot) as caught:
        read_knowledge(root, bad)
    assert caught.value.code == 3009
    for key in ("records_file", "index_file"):
        there = bad if bad.startswith(("/", "\\", "C")) else "../" + bad
        write(root / "lore", changed(**{key: there}))
        with pytest.raises(StorageOutsideRoot):
            read_knowledge(root, "lore/lore.json")
        with pytest.raises(StorageOutsideRoot):
            knowledge_from_config(root / "lore", "made", changed(**{key: bad}))


def test_a_records_file_may_lie_beside_the_configs_folder_but_inside_the_root(tmp_path: Path) -> None:
    write(tmp_path / "lore", changed(records_file="../texts/x.json"))
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "x.json").write_text("[]", encoding="utf-8")
    knowledge = read_knowledge(tmp_path, "lore/lore.json")
    assert knowledge.index_path == Path(os.path.realpath(tmp_path / "texts" / "x.index"))


@pytest.mark.parametrize("which", ["lore.json", "lore.records.json", "lore.records.index"])
def test_links_that_lead_outside_are_3009(tmp_path: Path, which: str) -> None:
    root = tmp_path / "root"
    write(root)
    outside = tmp_path / which
    if (root / which).exists():
        (root / which).rename(outside)
    else:
        outside.write_bytes(b"")
    try:
        (root / which).symlink_to(outside)
    except OSError:
        pytest.skip("this system allows no symbolic links")
    with pytest.raises(StorageOutsideRoot, match=which.replace(".", r"\.")):
        read_knowledge(root, "lore.json")


def test_absent_files_are_3010(tmp_path: Path) -> None:
    write(tmp_path)
    with pytest.raises(StorageFileNotFound) as caught:
        read_knowledge(tmp_path, "other.json")
    assert caught.value.code == 3010
    with pytest.raises(StorageFileNotFound, match="no storage folder"):
        read_knowledge(None, "lore.json")
    (tmp_path / "lore.records.json").unlink()
    with pytest.raises(StorageFileNotFound, match=r"'lore\.records\.json'"):
        read_knowledge(tmp_path, "lore.json")


# ---- building and keeping ---------------------------------------------------------------------------------------


def test_the_second_start_embeds_nothing(tmp_path: Path) -> None:
    write(tmp_path)
    first = build(read_knowledge(tmp_path, "lore.json"))
    assert (first.reused, first.kept, first.count, first.dimension) == (False, True, 3, 64)
    model = FakeEmbedder()
    again = build(read_knowledge(tmp_path, "lore.json"), model)
    assert (again.reused, again.kept, again.count, again.dimension) == (True, True, 3, 64)
    assert model.seen == []
    assert search(again, "dark beer") == search(first, "dark beer")
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


@pytest.mark.parametrize(
    "change",
    [
        lambda records: records[0].update(text="the inn is closed"),
        lambda records: records[0].update(id="tavern"),
        lambda records: records.reverse(),
        lambda records: records.append({"id": "new", "text": "news", "metadata": {"level": 1}}),
        lambda records: records.pop(),
    ],
)
def test_changed_records_are_embedded_anew(tmp_path: Path, change: Callable[[Any], object]) -> None:
    write(tmp_path)
    build(read_knowledge(tmp_path, "lore.json"))
    records = json.loads(json.dumps(RECORDS))
    change(records)
    write(tmp_path, records=records)
    model = FakeEmbedder()
    storage = build(read_knowledge(tmp_path, "lore.json"), model)
    assert model.seen == [item["text"] for item in records]
    assert (storage.reused, storage.warnings) == (False, ())
    assert build(read_knowledge(tmp_path, "lore.json")).reused


def test_texts_and_ids_do_not_run_into_each_other(tmp_path: Path) -> None:
    one = inline_knowledge("a", ["ab", "c"], "fake")
    other = inline_knowledge("a", ["a", "bc"], "fake")
    assert one.digest != other.digest


def test_changed_metadata_needs_no_embedding(tmp_path: Path) -> None:
    write(tmp_path)
    build(read_knowledge(tmp_path, "lore.json"))
    records = json.loads(json.dumps(RECORDS))
    records[0]["metadata"]["level"] = 7
    write(tmp_path, records=records)
    model = FakeEmbedder()
    storage = build(read_knowledge(tmp_path, "lore.json"), model)
    assert model.seen == []
    level_7 = only({"op": "eq", "lhs": {"knowledge": "level"}, "rhs": {"value": 7}}, storage)
    assert ids(search(storage, "king", filter=level_7)) == ["inn"]


@pytest.mark.parametrize(("name", "dimension"), [("fake", 48), ("other", 64), ("other", 48)])
@pytest.mark.parametrize("stale", [False, True])
def test_another_model_or_size_is_an_error_that_names_both(
    tmp_path: Path, name: str, dimension: int, stale: bool
) -> None:
    write(tmp_path)
    build(read_knowledge(tmp_path, "lore.json"))
    kept = (tmp_path / "lore.records.index").read_bytes()
    if stale:
        write(tmp_path, records=RECORDS[:2])
    model = FakeEmbedder(dimension)
    with pytest.raises(InvalidEmbeddedStorageData) as caught:
        build(read_knowledge(tmp_path, "lore.json"), model, name)
    assert caught.value.code == 8003
    for part in ("'fake' (64 dimensions)", f"'{name}' ({dimension} dimensions)", "delete lore.records.index"):
        assert part in str(caught.value)
    assert model.seen == []
    assert (tmp_path / "lore.records.index").read_bytes() == kept
    (tmp_path / "lore.records.index").unlink()
    assert build(read_knowledge(tmp_path, "lore.json"), model, name).dimension == dimension


def damage(kind: str, data: bytes) -> bytes:
    header = struct.Struct("<8sII32s")
    if kind == "flipped":
        return data[:-3] + bytes([data[-3] ^ 1]) + data[-2:]
    if kind == "flipped header":
        return data.replace(b'"vectors":3', b'"vectors":4')
    if kind == "huge header":
        return data[:12] + struct.pack("<I", 2**32 - 1) + data[16:]
    if kind == "other format":
        return data[:8] + struct.pack("<I", 99) + data[12:]
    if kind == "claims":  # a header that claims more vectors than memory holds
        claim = data[header.size :].replace(b'"vectors":3', b'"vectors":99999999999')
        return header.pack(b"PARLEYKB", 2, struct.unpack_from("<I", data, 12)[0] + 10, bytes(32)) + claim
    return {
        "empty": b"",
        "cut": data[: len(data) // 2],
        "cut in the prefix": data[:20],
        "longer": data + b"x",
        "magic only": b"PARLEYKB" + b"\xff" * 400,
    }[kind]


@pytest.mark.parametrize(
    "kind",
    [
        "empty",
        "cut",
        "cut in the prefix",
        "longer",
        "magic only",
        "flipped",
        "flipped header",
        "huge header",
        "other format",
        "claims",
    ],
)
def test_a_damaged_index_is_made_anew_with_a_warning(tmp_path: Path, kind: str) -> None:
    write(tmp_path)
    build(read_knowledge(tmp_path, "lore.json"))
    file = tmp_path / "lore.records.index"
    good = file.read_bytes()
    bad = damage(kind, good)
    assert bad != good
    file.write_bytes(bad)
    model = FakeEmbedder()
    storage = build(read_knowledge(tmp_path, "lore.json"), model)
    assert len(model.seen) == 3
    assert len(storage.warnings) == 1
    assert "lore.records.index" in storage.warnings[0]
    assert file.read_bytes() == good
    assert build(read_knowledge(tmp_path, "lore.json")).warnings == ()


FOREIGN = {
    "tavern.workflow.json": b' {"nodes": []}',
    "padded.json": b" " * 64 + b'[{"id": "a", "text": "b"}]',
    "canned.txt": b"Hello there.\nGood day.\n",
    "player.sav": b"\x01\x02SAVEGAME" * 20,
    "usearch.index": b"usearch" + bytes(500),
    "short.bin": b"PAR",
    "garbage.index": bytes(range(256)) * 40,
}


@pytest.mark.parametrize("victim", FOREIGN)
def test_a_file_in_the_place_of_the_index_is_8003_and_never_written_over(tmp_path: Path, victim: str) -> None:
    write(tmp_path, changed(index_file=victim))
    (tmp_path / victim).write_bytes(FOREIGN[victim])
    model = FakeEmbedder()
    with pytest.raises(InvalidEmbeddedStorageData, match=f"kept in {victim}, which is there and is no index") as caught:
        build(read_knowledge(tmp_path, "lore.json"), model)
    assert (caught.value.path, model.seen) == ("$.index_file", [])
    assert (tmp_path / victim).read_bytes() == FOREIGN[victim]


def test_a_folder_or_a_pipe_in_the_place_of_the_index_is_8003(tmp_path: Path) -> None:
    write(tmp_path, changed(index_file="place"))
    (tmp_path / "place").mkdir()
    with pytest.raises(InvalidEmbeddedStorageData, match="kept in place, which is there and is no file"):
        build(read_knowledge(tmp_path, "lore.json"))
    if sys.platform != "win32":
        (tmp_path / "place").rmdir()
        os.mkfifo(tmp_path / "place")
        with pytest.raises(InvalidEmbeddedStorageData, match="kept in place, which is there and is no file"):
            build(read_knowledge(tmp_path, "lore.json"))


def test_a_file_that_comes_while_texts_are_embedded_is_not_written_over(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "lore.records.index"

    class Slow(FakeEmbedder):
        async def embed(self, *arguments: Any, **options: Any) -> Any:
            file.write_bytes(b"a saved game")
            return await super().embed(*arguments, **options)

    write(tmp_path)
    storage = build(read_knowledge(tmp_path, "lore.json"), Slow())
    assert (storage.kept, file.read_bytes()) == (False, b"a saved game")
    assert "is no index" in caplog.text
    assert ids(search(storage, "dark beer", top_k=1)) == ["inn"]


def test_a_folder_that_cannot_be_written_is_a_line_in_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(path: Path, data: bytes) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    write(tmp_path)
    monkeypatch.setattr(vector_index, "write_atomically", refuse)
    with caplog.at_level(logging.INFO, "bridge.retrieval"):
        storage = build(read_knowledge(tmp_path, "lore.json"))
    assert (storage.kept, storage.warnings) == (False, ())
    assert "Permission denied" in caplog.text
    assert not (tmp_path / "lore.records.index").exists()
    assert ids(search(storage, "dark beer", top_k=1)) == ["inn"]


def test_an_index_whose_folder_is_a_file_is_not_kept(tmp_path: Path) -> None:
    write(tmp_path, changed(index_file="lore.json/x.index"))
    storage = build(read_knowledge(tmp_path, "lore.json"))
    assert not storage.kept
    assert ids(search(storage, "dark beer", top_k=1)) == ["inn"]


def test_two_at_once_leave_one_good_index(tmp_path: Path) -> None:
    write(tmp_path)

    async def both() -> list[EmbeddedStorage]:
        knowledge = read_knowledge(tmp_path, "lore.json")
        return list(
            await asyncio.gather(
                *(build_storage(knowledge, FakeEmbedder(), "fake", lambda done, total: None) for _ in range(4))
            )
        )

    assert [storage.count for storage in run(both())] == [3] * 4
    assert build(read_knowledge(tmp_path, "lore.json")).reused


def test_progress_grows_and_ends_at_all_records(tmp_path: Path) -> None:
    strings = [f"text {number}" if number % 5 else " " for number in range(40)]
    told: list[tuple[int, int]] = []
    build(inline_knowledge("made", strings, "fake"), report=lambda done, total: told.append((done, total)))
    done = [one for one, _ in told]
    assert done == sorted(set(done))
    assert {total for _, total in told} == {40}
    assert done[-1] == 40
    assert len(done) > 3
    write(tmp_path)
    for _ in range(2):
        told.clear()
        build(read_knowledge(tmp_path, "lore.json"), report=lambda done, total: told.append((done, total)))
        assert told[-1] == (3, 3)


def test_no_records_and_only_blank_ones(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    empty = build(inline_knowledge("made", [], "fake"), report=lambda done, total: told.append((done, total)))
    assert (empty.count, empty.dimension, search(empty, "beer")) == (0, 64, [])
    assert told == [(0, 0)]
    write(tmp_path, records=[{"id": "a", "text": " \n", "metadata": {"level": 1}}])
    for reused in (False, True):
        storage = build(read_knowledge(tmp_path, "lore.json"))
        assert (storage.count, storage.reused, search(storage, "beer")) == (1, reused, [])
        assert storage.warnings == ("'lore.json': 1 record is blank, and never found",)


def test_texts_cut_at_the_window_give_one_warning_also_when_reused(tmp_path: Path) -> None:
    long = [{"id": str(number), "text": "word " * 50, "metadata": {"level": 1}} for number in range(2)]
    write(tmp_path, records=[*RECORDS, *long])
    for reused in (False, True):
        storage = build(read_knowledge(tmp_path, "lore.json"))
        assert storage.reused is reused
        assert storage.warnings == (
            "'lore.json': 2 records are longer than the 32 tokens of 'fake'; only the beginning counts",
        )


def test_vectors_that_are_no_numbers_are_never_hits(tmp_path: Path) -> None:
    write(tmp_path)
    model = FakeEmbedder()
    model.no_number_for = {RECORDS[0]["text"], "what"}
    for reused in (False, True):
        storage = build(read_knowledge(tmp_path, "lore.json"), model)
        assert storage.reused is reused
        hits = search(storage, "the inn serves dark beer")
        assert "inn" not in ids(hits)
        assert len(hits) == 2
        assert all(math.isfinite(hit.distance) for hit in hits)
        assert storage.warnings == (
            "'lore.json': 1 record is without a vector, as 'fake' makes none of it; never found",
        )
    assert search(storage, "what", model) == []


class Shapeless(FakeEmbedder):
    async def embed(
        self, texts: Sequence[str], progress: Callable[[int, int], None] | None = None
    ) -> tuple[Vectors, list[bool]]:
        return np.ones((1, 3), dtype=np.float32), [False] * len(texts)


def test_a_model_that_breaks_its_word_is_an_error() -> None:
    with pytest.raises(InferenceFailed, match=r"shape \(1, 3\)"):
        build(inline_knowledge("made", ["one", "two"], "fake"), Shapeless())
    storage = build(inline_knowledge("made", ["one", "two"], "fake"))
    with pytest.raises(InvalidEmbeddedStorageData, match="vectors of 64 numbers, made by 'fake'") as caught:
        search(storage, "one", Shapeless())
    assert caught.value.code == 8003


# ---- searching --------------------------------------------------------------------------------------------------


def test_the_nearest_come_first_with_their_cosine_distance() -> None:
    storage = build(inline_knowledge("made", ["red apple", "green pear", "red apple pie", "blue sea"], "fake"))
    hits = search(storage, "red apple")
    assert [(hit.id, hit.text) for hit in hits[:2]] == [("0", "red apple"), ("2", "red apple pie")]
    assert hits[0].distance == 0.0
    assert hits[1].distance == pytest.approx(1 - 2 / math.sqrt(2 * 3), abs=1e-6)
    assert len(hits) == 3


def test_threshold_is_the_largest_distance_and_0_is_off() -> None:
    storage = build(inline_knowledge("made", ["red apple", "red apple pie", "blue sea"], "fake"))
    exactly = round(1 - 2 / math.sqrt(6), 6)
    assert ids(search(storage, "red apple", threshold=exactly)) == ["0", "1"]
    assert ids(search(storage, "red apple", threshold=exactly - 1e-6)) == ["0"]
    assert ids(search(storage, "red apple", threshold=0.0)) == ["0", "1", "2"]


@pytest.mark.parametrize("count", [100, EXACT_UP_TO + 500])
def test_equally_near_ones_come_in_their_order(count: int) -> None:
    strings = ["other thing" if number % 3 else "same words" for number in range(count)]
    storage = build(inline_knowledge("made", strings, "fake"))
    hits = search(storage, "same words", top_k=200)
    expected = [str(number) for number in range(0, count, 3)][:200]
    assert ids(hits)[: len(expected)] == expected


@pytest.mark.parametrize("text", ["", "   ", "\n\t", "\u3000"])
def test_a_blank_text_finds_nothing_and_asks_no_model(text: str) -> None:
    model = FakeEmbedder()
    storage = build(inline_knowledge("made", ["one"], "fake"))
    assert search(storage, text, model) == []
    assert model.seen == []


@pytest.mark.parametrize("text", ["word " * 5000, "\0", "💬" * 300])
def test_strange_texts_do_no_harm(text: str) -> None:
    storage = build(inline_knowledge("made", ["one word", "", text], "fake"))
    hits = search(storage, text, top_k=10**9)
    assert hits[0].id == "2"
    assert all(0 <= hit.distance <= 2 for hit in hits)


@pytest.mark.parametrize("top_k", [0, -1])
def test_no_hits_wanted_none_given(top_k: int) -> None:
    assert search(build(inline_knowledge("made", ["one"], "fake")), "one", top_k=top_k) == []


def thousand(tmp_path: Path, count: int = 1000) -> EmbeddedStorage:
    records = [
        {"id": str(number), "text": f"word{number} tale", "metadata": {"level": number, "region": "sea"}}
        for number in range(count)
    ]
    write(tmp_path, records=records)
    return build(read_knowledge(tmp_path, "lore.json"))


@pytest.mark.parametrize("count", [1000, EXACT_UP_TO + 1000])
def test_a_filter_is_applied_before_the_nearest_are_taken(tmp_path: Path, count: int) -> None:
    storage = thousand(tmp_path, count)
    levels = [{"op": "eq", "lhs": {"knowledge": "level"}, "rhs": {"value": level}} for level in (11, 500, 998)]
    three = only({"op": "or", "args": levels}, storage)
    for text in ("word3 tale", "nothing like it", "word500"):
        hits = search(storage, text, filter=three)
        assert sorted(ids(hits)) == ["11", "500", "998"]
        assert hits == sorted(hits, key=lambda hit: hit.distance)
    assert ids(search(storage, "word500", filter=three, top_k=1)) == ["500"]


def test_a_filter_that_leaves_none_asks_no_model(tmp_path: Path) -> None:
    storage = thousand(tmp_path)
    none = only({"op": "lt", "lhs": {"knowledge": "level"}, "rhs": {"value": 0}}, storage)
    model = FakeEmbedder()
    assert search(storage, "word3 tale", model, filter=none) == []
    assert model.seen == []


def test_a_filter_reads_the_variables_of_each_search(tmp_path: Path) -> None:
    storage = thousand(tmp_path)
    below = only({"op": "le", "lhs": {"knowledge": "level"}, "rhs": {"agent": "player_level"}}, storage)
    assert sorted(ids(search(storage, "word3", filter=below, top_k=5))) == ["0", "1"]
    for level in (0, 3, 0):
        hits = search(storage, "word3", filter=below, top_k=1000, variables={"player_level": level, "unread": level})
        assert len(hits) == level + 1


def test_what_a_filter_let_through_is_remembered_by_filter_and_values(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = thousand(tmp_path)
    tested: list[int] = []
    real = vector_index.VectorIndex.positions

    def counted(self: VectorIndex, mask: bytearray) -> Any:
        tested.append(sum(mask))
        return real(self, mask)

    monkeypatch.setattr(vector_index.VectorIndex, "positions", counted)
    raw = {"op": "lt", "lhs": {"knowledge": "level"}, "rhs": {"agent": "player_level"}}
    for level in (5, 9, 5, 9, 5):
        search(storage, "word3", filter=only(raw, storage), variables={"player_level": level, "other": len(tested)})
    assert tested == [5, 9]
    for level in range(100):
        search(storage, "word3", filter=only(raw, storage), variables={"player_level": level})
    assert len(storage._allowed) == 32
    storage.close()
    storage.close()
    assert len(storage._allowed) == 0


def test_many_records_are_tested_beside_the_event_loop_with_rests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = thousand(tmp_path, 20_000)
    rested: list[int] = []
    monkeypatch.setattr("bridge.retrieval.time.sleep", lambda seconds: rested.append(threading.get_ident()))
    last = {"op": "gt", "lhs": {"knowledge": "level"}, "rhs": {"value": 19_990}}
    assert len(search(storage, "word3", top_k=20, filter=only(last, storage))) == 9
    assert len(rested) == 9
    assert threading.get_ident() not in rested
    rested.clear()
    search(storage, "word3", filter=only({"op": "and", "args": [last] * 9}, storage))
    assert len(rested) == 99, "the more operations, the fewer records in a row"


# ---- the index --------------------------------------------------------------------------------------------------


def clustered(count: int, dimension: int, clusters: int, seed: int) -> Vectors:
    random = np.random.default_rng(seed)
    centres = random.standard_normal((clusters, dimension))
    points = centres[random.integers(0, clusters, count)] + 0.3 * random.standard_normal((count, dimension))
    vectors: Vectors = (points / np.linalg.norm(points, axis=1, keepdims=True)).astype(np.float32)
    return vectors


@pytest.mark.parametrize(("count", "clusters"), [(1000, 20), (5000, 25), (5000, 500)])
def test_the_nearest_three_are_found(count: int, clusters: int) -> None:
    vectors = clustered(count, 64, clusters, seed=7)
    index = VectorIndex.build(vectors, range(count))
    random = np.random.default_rng(8)
    queries = vectors[random.integers(0, count, 200)] + 0.03 * random.standard_normal((200, 64)).astype(np.float32)
    exact = np.argsort(-(queries @ vectors.T), axis=1)[:, :3]
    found = [{row for row, _ in index.search(query[None], 3)} for query in queries]
    shared = sum(len(found[number] & set(exact[number].tolist())) for number in range(200))
    assert shared / 600 >= 0.98


def copies(groups: int, of_each: int, others: int) -> Vectors:
    """Vectors of which many are the same, among others that nobody shares."""
    random = np.random.default_rng(5)
    shared, own = random.standard_normal((groups, 64)), random.standard_normal((others, 64))
    vectors = np.concatenate([np.repeat(shared, of_each, axis=0), own]).astype(np.float32)
    mixed: Vectors = vectors[random.permutation(len(vectors))]
    return mixed


@pytest.mark.parametrize(("groups", "of_each", "others"), [(1, 4000, 40), (30, 100, 40), (1, 300, 2400)])
def test_records_that_say_the_same_hide_no_others(groups: int, of_each: int, others: int, tmp_path: Path) -> None:
    vectors = copies(groups, of_each, others)
    index = VectorIndex.build(vectors, range(0, 3 * len(vectors), 3))
    index.save(tmp_path / "x.index", vector_index.Stamp("fake", 64, "digest"))
    _, owners, counts = np.unique(vectors, axis=0, return_inverse=True, return_counts=True)
    owners = owners.reshape(-1)
    for found in (index, read_index(tmp_path / "x.index").open(3 * len(vectors))):
        assert len(found) == len(vectors)
        alone = np.flatnonzero(counts[owners] == 1)
        for row in alone[:100]:
            assert found.search(vectors[row : row + 1], 1) == [(3 * row, 0.0)]
        for row in np.flatnonzero(counts[owners] > 1)[:30]:
            same = np.flatnonzero(owners == owners[row])
            hits = found.search(vectors[row : row + 1], 5)
            assert hits == [(3 * other, 0.0) for other in same[:5]], "equally near ones come in order"
            among = np.sort(np.concatenate([same[2::2], alone[:7]]))
            hits = found.search(vectors[row : row + 1], 5, among=among)
            assert hits == [(3 * other, 0.0) for other in same[2::2][:5]], "only those that pass the filter"


def test_each_vector_is_kept_once(tmp_path: Path) -> None:
    vectors = copies(1, 4000, 40)
    vectors[5], vectors[9] = [0.0] * 63 + [1.0], [-0.0] * 63 + [2.0]
    index = VectorIndex.build(vectors, range(len(vectors)))
    index.save(tmp_path / "x.index", vector_index.Stamp("fake", 64, "digest"))
    assert index.work <= 42 * 64
    assert (tmp_path / "x.index").stat().st_size < 4040 * 16 + 42 * 64 * 4 + 1000
    assert [row for row, _ in index.search(vectors[9:10], 2)] == [5, 9]


@pytest.mark.parametrize("apart", [1e-7, 1e-4, 1e-2])
def test_a_crowd_of_nearly_equal_vectors_hides_no_others(apart: float, tmp_path: Path) -> None:
    random = np.random.default_rng(6)
    vectors = random.standard_normal((2500, 384))
    vectors[:300] = vectors[0] + apart * random.standard_normal((300, 384))
    index = VectorIndex.build(vectors.astype(np.float32), range(2500))
    assert index.fresh_graph, "what was found out is worth keeping"
    queries = vectors[::10].astype(np.float32)
    lost = [row for row in range(300, 2500, 10) if index.search(queries[row // 10 : row // 10 + 1], 1)[0][0] != row]
    assert lost == []
    index.save(tmp_path / "x.index", vector_index.Stamp("fake", 384, "digest"))
    again = read_index(tmp_path / "x.index").open(2500)
    assert (again.fresh_graph, again.work) == (False, index.work)


def test_a_graph_that_does_not_find_the_nearest_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = clustered(EXACT_UP_TO + 100, 32, 20, seed=3)
    assert VectorIndex.build(vectors, range(len(vectors))).work == 0
    monkeypatch.setattr(vector_index, "CONNECTIVITY", 2)
    monkeypatch.setattr(vector_index, "EXPANSION", 16)
    index = VectorIndex.build(vectors, range(len(vectors)))
    assert (index.work, index.fresh_graph) == (vectors.size, True)


def test_vectors_of_one_sum_stay_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    class Blind:
        def integers(self, most: int, *, size: int, dtype: Any) -> Any:
            return np.zeros(size, dtype=dtype)

    monkeypatch.setattr("numpy.random.default_rng", lambda seed: Blind())
    vectors = np.array([[1, 0, 0], [0, 1, 0], [1, 0, 0], [0, 0, 1]], dtype=np.float32)
    index = VectorIndex.build(vectors, range(4))
    assert [row for row, distance in index.search(vectors[1:2], 4) if distance == 0] == [1]
    assert [row for row, distance in index.search(vectors[3:], 4) if distance == 0] == [3]


def test_vectors_of_no_direction_are_left_out() -> None:
    vectors = np.eye(5, dtype=np.float32)
    vectors[1], vectors[2], vectors[3] = 0, np.nan, np.inf
    index = VectorIndex.build(vectors, [10, 11, 12, 13, 14])
    assert len(index) == 2
    assert index.search(np.ones((1, 5), dtype=np.float32), 5) == [(10, 0.552786), (14, 0.552786)]
    for bad in (0.0, np.nan, np.inf):
        assert index.search(np.full((1, 5), bad, dtype=np.float32), 5) == []


def test_what_float32_cannot_tell_apart_counts_as_equally_near() -> None:
    def at(cosine: float) -> list[float]:
        return [cosine, math.sqrt(1 - cosine**2)]

    index = VectorIndex.build(np.array([at(0.5), at(0.8), at(0.8 + 2e-7)], dtype=np.float32), range(3))
    assert index.search(np.array([[1, 0]], dtype=np.float32), 1) == [(1, 0.2)]


def test_distances_of_the_graph_are_exact_and_a_kept_graph_finds_the_same(tmp_path: Path) -> None:
    vectors = clustered(EXACT_UP_TO + 100, 32, 20, seed=3)
    index = VectorIndex.build(vectors, range(0, 2 * len(vectors), 2))
    stamp = vector_index.Stamp("fake", 32, "digest", 5)
    index.save(tmp_path / "x.index", stamp)
    kept = read_index(tmp_path / "x.index")
    assert kept.stamp == stamp
    again = kept.open(2 * len(vectors))
    assert (index.fresh_graph, again.fresh_graph) == (True, False)
    for number in (0, 77, 2000):
        hits = index.search(vectors[number : number + 1], 5)
        assert hits[0] == (2 * number, 0.0)
        for row, distance in hits:
            assert distance == pytest.approx(1 - float(vectors[row // 2] @ vectors[number]), abs=2e-6)
        assert again.search(vectors[number : number + 1], 5) == hits
    with pytest.raises(vector_index.UnreadableIndex, match="is damaged"):
        kept.open(5)


def test_a_graph_of_another_version_is_made_anew_without_embedding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_index, "EXACT_UP_TO", 20)
    words = [{"id": str(number), "text": f"w{number} {number}", "metadata": {"level": 1}} for number in range(100)]
    write(tmp_path, records=words)
    build(read_knowledge(tmp_path, "lore.json"))
    monkeypatch.setattr("usearch.__version__", "99.0")
    for _ in range(2):
        model = FakeEmbedder()
        storage = build(read_knowledge(tmp_path, "lore.json"), model)
        assert (storage.reused, model.seen, storage.warnings) == (True, [], ())
    assert b'"usearch":"99.0"' in (tmp_path / "lore.records.index").read_bytes()[:2000]


def test_reading_and_searching_need_no_heavy_module_at_import() -> None:
    probe = "import sys, bridge.retrieval; print([m for m in ('numpy', 'usearch') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_metadata_of_hits_is_what_was_read(tmp_path: Path) -> None:
    write(tmp_path)
    storage = build(read_knowledge(tmp_path, "lore.json"))
    metadata: Mapping[str, Any] = search(storage, "old king", top_k=1)[0].metadata
    assert dict(metadata) == {"region": "keep", "level": 9, "price": 3.0, "secret": False}

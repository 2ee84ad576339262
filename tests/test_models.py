"""The catalog, the starter model's file, and loading: shared, counted, and never poisoned by a failure."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import re
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bridge.catalog import CatalogEntry, MockScript, Source, combine_sampling, read_catalog, write_entry
from bridge.config import Settings
from bridge.engine import TextModel
from bridge.engines.mock import load_mock
from bridge.errors import InvalidValue, ModelCorrupt, ModelLoadFailed, ModelNotFound
from bridge.files import hold
from bridge.model_files import Report, disk_status, locate
from bridge.models import ModelStore
from bridge.node import SamplingParams
from tests.http_hub import small_gguf

QUIET: Report = lambda *_: None  # noqa: E731 - a callback that ignores progress


def mock_entry(name: str) -> CatalogEntry:
    return CatalogEntry(name=name, engine="mock", mock=MockScript())


def test_the_games_catalog_is_merged_by_name(tmp_path: Path) -> None:
    file = tmp_path / "models.json"
    mine = {"name": "mine", "engine": "llama-cpp", "source": {"path": "weights/mine.gguf"}}
    other = {"name": "mock-echo", "engine": "mock", "mock": {"mode": "script", "replies": ["x"]}}
    file.write_text(json.dumps({"models": [mine, other]}), encoding="utf-8")
    catalog = read_catalog(file)
    assert catalog["mine"].source.path == str(tmp_path / "weights" / "mine.gguf")
    assert catalog["mock-echo"].mock == MockScript(mode="script", replies=["x"])
    assert "starter-chat" in catalog


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "not valid JSON"),
        ("[]", "models.json must be an object with a list 'models'"),
        ('{"models": {}}', "a list 'models'"),
        ('{"models": [], "colour": 1}', r"\$\.colour: unknown field"),
        ('{"models": [7]}', r"\$\.models\[0\]: it must be an object, not 7$"),
        ('{"models": [{"name": "x"}]}', r"\$\.models\[0\]\.engine \('x'\)"),
        ('{"models": [{"name": "x", "engine": "onnx"}]}', r"\$\.models\[0\]\.engine"),
        ('{"models": [{"name": "x", "engine": "mock", "colour": 1}]}', r"\$\.models\[0\]\.colour"),
        ('{"models": [{"name": "x", "engine": "mock", "context_size": "2"}]}', "context_size"),
        ('{"models": [{"name": "x", "engine": "mock"}, {"name": "x", "engine": "mock"}]}', "'x' is there already"),
    ],
)
def test_a_bad_catalog_names_file_and_entry(text: str, says: str, tmp_path: Path) -> None:
    file = tmp_path / "models.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidValue, match=says):
        read_catalog(file)
    with pytest.raises(InvalidValue, match="gone"):
        read_catalog(tmp_path / "gone")


HEX = "0123456789abcdef" * 4


def source_fault(source: object, tmp_path: Path, engine: str = "llama-cpp") -> str:
    """What is said of an entry with this source; empty: nothing."""
    file = tmp_path / "models.json"
    file.write_text(json.dumps({"models": [{"name": "x", "engine": engine, "source": source}]}), encoding="utf-8")
    try:
        read_catalog(file)
    except InvalidValue as fault:
        return str(fault)
    return ""


@pytest.mark.parametrize(
    "source",
    [
        {"package": "a_model.part", "file": "x.gguf", "sha256": HEX},
        {"path": "../weights/x.gguf", "sha256": HEX, "cite": "https://example.org/x"},
        {"path": "weights", "files": ["x-00001-of-00002.gguf", "x-00002-of-00002.gguf"]},
        {"huggingface": "owner/A.name_0-GGUF", "files": ["Q4/\u5c0f x.gguf"], "revision": "refs/pr/1", "sha256": HEX},
        {"huggingface": "o/n", "files": ["a.gguf", "b.gguf"], "sha256": {"a.gguf": HEX, "b.gguf": HEX}},
    ],
)
def test_sources_that_are_right(source: dict[str, Any], tmp_path: Path) -> None:
    assert source_fault(source, tmp_path) == ""


@pytest.mark.parametrize(
    ("source", "field", "says"),
    [
        ({}, "", "one of package, path and huggingface is needed"),
        ({"package": "p", "path": "x"}, ".source", "names package and path; exactly one"),
        ({"path": "x", "huggingface": "o/n", "files": ["x"]}, ".source", "names path and huggingface"),
        ({"package": "p"}, ".source", "a package but no file"),
        ({"package": "os;x", "file": "x"}, ".source.package", "no name of a Python package"),
        ({"package": "p", "file": "../x"}, ".source.file", "'../x' must be a plain relative file name"),
        ({"package": "p", "file": "x", "files": ["y"]}, ".source", "files goes with path or huggingface only"),
        ({"path": "x", "file": "y"}, ".source", "file goes with package only"),
        ({"path": "x", "revision": "main"}, ".source", "revision goes with huggingface only"),
        ({"huggingface": "o/n"}, ".source", "a huggingface but no files"),
        ({"huggingface": "o/n", "files": []}, ".source", "a huggingface but no files"),
        ({"huggingface": "n", "files": ["x"]}, ".source.huggingface", "'n' is no repository"),
        ({"huggingface": "../n", "files": ["x"]}, ".source.huggingface", "no repository"),
        ({"huggingface": "o/..", "files": ["x"]}, ".source.huggingface", "no repository"),
        ({"huggingface": "o/a--b", "files": ["x"]}, ".source.huggingface", "no repository"),
        ({"huggingface": "o/n/m", "files": ["x"]}, ".source.huggingface", "no repository"),
        ({"huggingface": "o/n.", "files": ["x"]}, ".source.huggingface", "no repository"),
        ({"huggingface": "o/n", "files": ["x"], "revision": "../up"}, ".source.revision", "no branch, tag or commit"),
        ({"huggingface": "o/n", "files": ["x", "X"]}, ".source", "names one file twice"),
        ({"huggingface": "o/n", "files": ["x", "y"], "sha256": HEX}, ".source", "must be an object of checksums"),
        ({"huggingface": "o/n", "files": ["x"], "sha256": {"y": HEX}}, ".source", "the file 'y', which is none"),
        ({"huggingface": "o/n", "files": ["x"], "sha256": "abc"}, ".source.sha256", "64 lower-case hexadecimal"),
        ({"huggingface": "o/n", "files": ["x"], "sha256": {"x": 1}}, ".source.sha256", "64 lower-case hexadecimal"),
        ({"huggingface": "o/n", "files": ["x"], "sha256": HEX + "\n"}, ".source.sha256", "64 lower-case hexadecimal"),
        ({"huggingface": "o/n\n", "files": ["x"]}, ".source.huggingface", "no repository"),
        ({"huggingface": "o/n", "files": ["x"], "revision": "main\n"}, ".source.revision", "no branch, tag or commit"),
        ({"package": "json\n", "file": "x"}, ".source.package", "no name of a Python package"),
        (
            {"huggingface": "o/n", "files": ["x"], "url": "http://x"},
            ".source.url",
            "unknown field 'url'; known: package, path, huggingface",
        ),
    ],
)
def test_sources_that_are_wrong(source: dict[str, Any], field: str, says: str, tmp_path: Path) -> None:
    said = source_fault(source, tmp_path)
    assert f"$.models[0]{field} ('x'): " in said
    assert says in said


@pytest.mark.parametrize(
    "name",
    [
        "/etc/x", "../x", "a/../../x", "a/..", "./x", "a//b", "", "C:/x", "C:x", "..\\x", "a\\b", "x:stream", "x\x00",
        "x\n", "aux", "NUL.gguf", "a/com1.gguf", "x.", "x ", "x.part", "x.lock", "x.parley.json", "a*b", "~/../x",
    ],
)  # fmt: skip
def test_a_catalog_cannot_name_files_outside_the_models_folder(name: str, tmp_path: Path) -> None:
    for source in ({"huggingface": "o/n", "files": ["ok.gguf", name]}, {"path": "x", "files": ["ok.gguf", name]}):
        said = source_fault(source, tmp_path)
        assert "$.models[0].source.files[1] ('x'): " in said
    if name:
        assert "$.models[0].source.file ('x'): " in source_fault({"package": "p", "file": name}, tmp_path)


def entry_fault(tmp_path: Path, **entry: object) -> str:
    """What is said of an entry; empty: nothing."""
    file = tmp_path / "models.json"
    file.write_text(json.dumps({"models": [{"name": "x", **entry}]}), encoding="utf-8")
    try:
        read_catalog(file)
    except InvalidValue as fault:
        return str(fault)
    return ""


@pytest.mark.parametrize(
    "entry",
    [
        {"type": "tts", "engine": "mock"},
        {"type": "tts", "engine": "mock", "mock": {"real_time_factor": 0.7, "fail_on": "dragon"}, "license": "MIT"},
        {"type": "tts", "engine": "hibari", "source": {"package": "hibari", "file": "hibari.onnx"}},
        {"type": "tts", "engine": "hibari", "source": {"path": "voices/bf_emma.int8.onnx"}},
        {"type": "tts", "engine": "sherpa-onnx", "source": {"path": "voices/vits-piper-en_US-amy"}},
        {"type": "tts", "engine": "sherpa-onnx", "source": {"huggingface": "o/n", "files": ["a.onnx", "tokens.txt"]}},
    ],
)
def test_voices_that_are_right(entry: dict[str, Any], tmp_path: Path) -> None:
    assert entry_fault(tmp_path, **entry) == ""


VOICE: dict[str, Any] = {"type": "tts", "engine": "mock"}
FOLDER: dict[str, Any] = {"type": "tts", "engine": "sherpa-onnx", "source": {"path": "v"}}


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        ({**FOLDER, "type": "language"}, "type: the engine sherpa-onnx runs models of type tts, not language"),
        (
            {"engine": "hibari", "source": {"path": "v"}},
            "type: the engine hibari runs models of type tts, not language",
        ),
        (
            {"type": "tts", "engine": "llama-cpp", "source": {"path": "v"}},
            "type: the engine llama-cpp runs models of type language or embedding, not tts",
        ),
        ({"type": "tts", "engine": "hibari"}, "source: one of package, path and huggingface is needed"),
        (
            {"type": "tts", "engine": "hibari", "source": {"path": "v", "files": ["a.onnx", "b.onnx"]}},
            "source.files: a voice of hibari is one file",
        ),
        ({**VOICE, "context_size": 512}, "context_size: a voice has none; leave it out of a model of type tts"),
        ({**VOICE, "chat_format": "auto"}, "chat_format: a voice has none"),
        ({**FOLDER, "default_sampling": {}}, "default_sampling: a voice has none"),
        ({**FOLDER, "mock": {}}, "mock: it goes with the engine mock only"),
        (
            {**VOICE, "mock": {"mode": "echo"}},
            "mock.mode: it goes with type language only, and this model is of type tts",
        ),
        ({**VOICE, "mock": {"replies": ["x"]}}, "mock.replies: it goes with type language only"),
        (
            {"engine": "mock", "mock": {"fail_on": "x"}},
            "mock.fail_on: it goes with type tts only, and this model is of",
        ),
        ({"engine": "mock", "mock": {"real_time_factor": 1}}, "mock.real_time_factor: it goes with type tts only"),
        ({"type": "embedding", "engine": "mock", "mock": {"fail_on": "x"}}, "mock.fail_on: it goes with type tts only"),
        ({**VOICE, "mock": {"real_time_factor": -1}}, ".mock.real_time_factor"),
        ({**VOICE, "mock": {"real_time_factor": 11}}, ".mock.real_time_factor"),
        ({**VOICE, "mock": {"colour": 1}}, "unknown field 'colour'"),
        ({"type": "speech", "engine": "mock"}, "$.models[0].type"),
    ],
)
def test_voices_that_are_wrong(entry: dict[str, Any], says: str, tmp_path: Path) -> None:
    said = entry_fault(tmp_path, **entry)
    assert "$.models[0]" in said
    assert says in said


def test_the_packaged_catalog_has_voices() -> None:
    voices = {name: entry for name, entry in read_catalog().items() if entry.type == "tts"}
    assert (voices["starter-voice"].engine, str(voices["starter-voice"].source)) == ("hibari", "package hibari")
    assert voices["mock-voice"].engine == "mock"
    assert all(entry.source.sha256 for entry in voices.values() if entry.source.huggingface)


def test_a_mock_has_no_source(tmp_path: Path) -> None:
    assert "the mock engine reads no file" in source_fault({"path": "x"}, tmp_path, engine="mock")


def test_every_faulty_entry_is_told(tmp_path: Path) -> None:
    file = tmp_path / "models.json"
    models: list[Any] = [
        {"name": "a", "engine": "onnx", "license": 3},
        {"name": "b", "engine": "mock"},
        {"name": "c", "engine": "llama-cpp", "source": {"path": "x", "package": "y"}},
        "d",
    ]
    file.write_text(json.dumps({"models": models}), encoding="utf-8")
    with pytest.raises(InvalidValue) as caught:
        read_catalog(file)
    said = str(caught.value)
    for place in ("[0].engine ('a')", "[0].license ('a')", "[2].source ('c')", "[3]: "):
        assert f"$.models{place}" in said
    assert "[1]" not in said
    assert "Value error" not in said
    file.write_text(json.dumps({"models": [{}] * 50}), encoding="utf-8")
    with pytest.raises(InvalidValue, match="and 80 more"):
        read_catalog(file)


def test_a_models_files_lie_beside_the_catalog_wherever_that_is_moved(tmp_path: Path) -> None:
    here, there = tmp_path / "build one", tmp_path / "Ж build two"
    (here / "weights").mkdir(parents=True)
    (here / "weights" / "a.gguf").write_bytes(b"a")
    source = {"path": "weights", "files": ["a.gguf", "b.gguf"]}
    document = {"models": [{"name": "x", "engine": "llama-cpp", "source": source}]}
    (here / "models.json").write_text(json.dumps(document), encoding="utf-8")
    here.rename(there)
    entry = read_catalog(there / "models.json")["x"]
    assert disk_status(entry, Settings()) == ("Absent", 1)
    with pytest.raises(ModelLoadFailed, match=r"b\.gguf"):
        locate(entry, Settings(), QUIET)
    (there / "weights" / "b.gguf").write_bytes(b"bc")
    assert disk_status(entry, Settings()) == ("Local", 3)
    assert locate(entry, Settings(), QUIET) == there / "weights" / "a.gguf"


def test_entries_are_added_and_what_else_is_there_stays(tmp_path: Path) -> None:
    file = tmp_path / "game" / "models.json"
    entry = {"name": "x", "engine": "llama-cpp", "source": {"path": "x.gguf"}}
    write_entry(file, entry)
    write_entry(file, {**entry, "name": "y"})
    with pytest.raises(InvalidValue, match="has a model 'x' already"):
        write_entry(file, entry)
    write_entry(file, {**entry, "license": "MIT"}, replace=True)
    assert json.loads(file.read_bytes()) == {"models": [{**entry, "license": "MIT"}, {**entry, "name": "y"}]}
    before = file.read_bytes()
    with pytest.raises(InvalidValue, match=r"\$\.models\[2\]\.engine"):
        write_entry(file, {"name": "z", "engine": "none"})
    assert file.read_bytes() == before
    file.write_text("{", encoding="utf-8")
    with pytest.raises(InvalidValue, match="not valid JSON"):
        write_entry(file, entry)
    with pytest.raises(InvalidValue, match="cannot change the catalog"):
        write_entry(tmp_path, entry)


def test_sampling_of_a_node_goes_over_the_catalogs() -> None:
    combined = combine_sampling(SamplingParams(top_k=7, temperature=0.5), SamplingParams(temperature=0.0))
    assert (combined.top_k, combined.temperature, combined.min_p) == (7, 0.0, 0.05)


# ---- a model in parts ----------------------------------------------------------------------------------------


@pytest.fixture
def parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """A package that ships a model in two parts, the second in a package of its own; importing them is an error."""
    folder = tmp_path / "installed"
    files = [folder / "a_model_in_parts", folder / "a_model_in_parts_part1"]
    for number, data in enumerate((b"abc", b"def")):
        (files[number] / "data").mkdir(parents=True)
        (files[number] / "__init__.py").write_text("raise RuntimeError('somebody ran this')", encoding="utf-8")
        files[number] = files[number] / "data" / f"whole.gguf.part{number:02}"
        files[number].write_bytes(data)
    monkeypatch.syspath_prepend(str(folder))
    return files


def packaged(sha256: str = hashlib.sha256(b"abcdef").hexdigest(), package: str = "a_model_in_parts") -> CatalogEntry:
    source = {"package": package, "file": "whole.gguf", "sha256": sha256}
    return CatalogEntry.model_validate({"name": "m", "engine": "llama-cpp", "source": source})


def test_parts_are_put_together_once_with_progress(parts: list[Path], tmp_path: Path) -> None:
    settings = Settings(models_folder=str(tmp_path / "Ж 田中　é"))
    told: list[tuple[str, int, int, str]] = []
    path = locate(packaged(), settings, lambda *progress: told.append(progress))
    assert path.read_bytes() == b"abcdef"
    assert told[-1] == ("prepare", 6, 6, "bytes")
    assert [p.name for p in path.parent.iterdir()] == ["whole.gguf"]
    told.clear()
    assert locate(packaged(), settings, lambda *progress: told.append(progress)) == path
    assert told == []


def test_a_wrong_checksum_leaves_nothing_and_the_next_try_works(parts: list[Path], tmp_path: Path) -> None:
    settings = Settings(models_folder=str(tmp_path / "models"))
    with pytest.raises(ModelCorrupt, match="reinstall"):
        locate(packaged("0" * 64), settings, QUIET)
    assert list((tmp_path / "models").iterdir()) == []
    assert locate(packaged(), settings, QUIET).read_bytes() == b"abcdef"


def test_what_a_killed_process_left_behind_is_swept(parts: list[Path], tmp_path: Path) -> None:
    folder = tmp_path / "models"
    folder.mkdir()
    old, held, just_made = (folder / f"whole.gguf.{stem}.part" for stem in ("abcdefgh", "ijklmnop", "qrstuvwx"))
    for path in (old, held):
        path.write_bytes(b"abc")
    just_made.touch()
    os.utime(old, (0, 0))
    with held.open("rb") as at_work:
        hold(at_work.fileno())
        locate(packaged(), Settings(models_folder=str(folder)), QUIET)
    assert sorted(p.name for p in folder.iterdir()) == ["whole.gguf", held.name, just_made.name]


def test_a_models_folder_that_cannot_be_used_is_named(parts: list[Path], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(ModelLoadFailed, match="models folder"):
        locate(packaged(), Settings(models_folder=str(tmp_path / "file" / "models")), QUIET)


def test_missing_packages_parts_and_files_are_told(parts: list[Path], tmp_path: Path) -> None:
    settings = Settings(models_folder=str(tmp_path / "models"))
    with pytest.raises(ModelLoadFailed, match="not installed: pip install no-such-package-anywhere"):
        locate(packaged(package="no_such_package_anywhere"), settings, QUIET)
    parts[1].rename(parts[1].with_name("whole.gguf.part03"))
    with pytest.raises(ModelCorrupt, match=r"part01; reinstall a_model_in_parts"):
        locate(packaged(), settings, QUIET)
    parts[0].rename(parts[0].with_name("whole.gguf.part02"))
    with pytest.raises(ModelCorrupt, match="part00"):
        locate(packaged(), settings, QUIET)
    gone = CatalogEntry.model_validate(
        {"name": "g", "engine": "llama-cpp", "source": {"path": str(tmp_path / "g.gguf")}}
    )
    with pytest.raises(ModelLoadFailed, match=r"g\.gguf"):
        locate(gone, settings, QUIET)


def test_a_missing_starter_package_is_named_by_its_extra(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("bridge.packaged_model.package_folders", lambda name: None)
    with pytest.raises(ModelLoadFailed, match=r'pip install "parley-bridge\[starter\]"'):
        locate(read_catalog()["starter-chat"], Settings(models_folder=str(tmp_path)), QUIET)


def test_a_package_may_hold_the_whole_file_or_tell_its_checksum(parts: list[Path], tmp_path: Path) -> None:
    (parts[0].parent / "SHA256SUMS").write_text(f"{'0' * 64}  other.gguf\n{'1' * 64}  whole.gguf\n", encoding="utf-8")
    with pytest.raises(ModelCorrupt, match="do not make the expected file"):
        locate(packaged(""), Settings(models_folder=str(tmp_path / "one")), QUIET)
    (parts[0].parent / "whole.gguf").write_bytes(b"abcdef")
    assert locate(packaged(""), Settings(models_folder=str(tmp_path / "two")), QUIET).read_bytes() == b"abcdef"


@pytest.mark.parametrize("kind", ["language", "embedding"])
@pytest.mark.parametrize("package", ["json", "this", "sys", "os", "antigravity", "ran", "ran.inner", "a.b", "json.x"])
def test_a_package_that_holds_no_model_is_refused_and_never_run(
    package: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ran" / "inner").mkdir(parents=True)
    for folder in (tmp_path / "ran", tmp_path / "ran" / "inner"):
        (folder / "__init__.py").write_text("raise RuntimeError('somebody ran this')", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)
    source = {"package": package, "file": "whole.gguf"}
    entry = CatalogEntry.model_validate({"name": "m", "type": kind, "engine": "llama-cpp", "source": source})
    with pytest.raises(ModelLoadFailed, match=r"holds no model|not installed") as caught:
        locate(entry, Settings(models_folder=str(tmp_path / "models")), QUIET)
    assert re.search("correct the source|pip install", str(caught.value))
    assert {"this", "antigravity", "ran"} & (set(sys.modules) - before) == set()


# ---- loading -------------------------------------------------------------------------------------------------


async def until(condition: Callable[[], bool]) -> None:
    """Let other threads and tasks work until the condition holds."""
    while not condition():  # noqa: ASYNC110 - what is waited for happens on threads that set no event
        await asyncio.sleep(0.001)


class Loader:
    """Counts what is loaded; fails as often as it is told."""

    def __init__(self, failures: int = 0) -> None:
        self.may_end = threading.Event()
        self.may_end.set()
        self.loads = 0
        self.closed = 0
        self.failures = failures

    def __call__(self, entry: CatalogEntry, path: Path | None, settings: Settings, report: Report) -> TextModel:
        self.loads += 1
        assert self.may_end.wait(30)
        if self.loads <= self.failures:
            raise ModelCorrupt("cut short")
        engine = load_mock(settings)
        close: Callable[[], None] = engine.close

        def counted() -> None:
            self.closed += 1
            close()

        engine.close = counted  # type: ignore[method-assign]  # a seam of this test
        return engine


def test_a_model_is_loaded_once_shared_and_unloaded_after_the_grace() -> None:
    async def work() -> None:
        loader = Loader()
        store = ModelStore(Settings(unload_grace_s=0), {"m": mock_entry("m")}, loader)
        first, second = await asyncio.gather(store.acquire("m", QUIET), store.acquire("m", QUIET))
        assert first is second
        assert loader.loads == 1
        assert store.list()[0].status == "Loaded"
        store.release(first)
        assert loader.closed == 0
        store.release(second)
        await until(lambda: loader.closed == 1)
        assert (await store.acquire("m", QUIET)) is not first
        assert loader.loads == 2
        await store.close()
        assert loader.closed == 2

    asyncio.run(asyncio.wait_for(work(), 30))


def test_an_agent_within_the_grace_keeps_the_model() -> None:
    async def work() -> None:
        loader = Loader()
        store = ModelStore(Settings(unload_grace_s=3600), {"m": mock_entry("m")}, loader)
        model = await store.acquire("m", QUIET)
        store.release(model)
        assert (await store.acquire("m", QUIET)) is model
        assert (loader.loads, loader.closed) == (1, 0)
        await store.close()
        assert loader.closed == 1

    asyncio.run(asyncio.wait_for(work(), 30))


def test_one_bad_model_does_not_poison_the_next_load() -> None:
    async def work() -> None:
        loader = Loader(failures=1)
        store = ModelStore(Settings(), {"m": mock_entry("m")}, loader)
        with pytest.raises(ModelCorrupt):
            await store.acquire("m", QUIET)
        assert (await store.acquire("m", QUIET)).users == 1
        with pytest.raises(ModelNotFound):
            await store.acquire("unknown", QUIET)
        await store.close()

    asyncio.run(asyncio.wait_for(work(), 30))


def test_a_model_without_a_template_is_told_apart_by_its_name(tmp_path: Path) -> None:
    file = tmp_path / "base.gguf"
    file.write_bytes(small_gguf(400))
    entry = CatalogEntry(name="base", engine="llama-cpp", source=Source(path=str(file)))

    async def work() -> None:
        loader = Loader()
        store = ModelStore(Settings(), {"base": entry}, loader)
        with pytest.raises(ModelLoadFailed, match="model 'base': its file has no chat template; set `chat_format`"):
            await store.acquire("base", QUIET)
        assert (loader.loads, loader.closed) == (1, 1)
        await store.close()

    asyncio.run(asyncio.wait_for(work(), 30))


def test_a_load_that_nobody_waits_for_any_more_is_freed() -> None:
    async def work() -> None:
        loader = Loader()
        loader.may_end.clear()
        store = ModelStore(Settings(unload_grace_s=0), {"m": mock_entry("m")}, loader)
        waiting = asyncio.create_task(store.acquire("m", QUIET))
        await until(lambda: loader.loads == 1)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        loader.may_end.set()
        await until(lambda: loader.closed == loader.loads)
        await store.close()

    asyncio.run(asyncio.wait_for(work(), 30))


async def given_up(store: ModelStore, loader: Loader) -> None:
    """Someone wants the model, and leaves when it is being loaded."""
    waiting = asyncio.create_task(store.acquire("m", QUIET))
    await asyncio.sleep(0)
    await until(lambda: loader.loads > 0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting


@pytest.mark.parametrize("fails", [False, True])
def test_loads_that_were_given_up_are_joined_by_who_comes_later(fails: bool) -> None:
    async def work() -> None:
        loader = Loader(failures=int(fails))
        loader.may_end.clear()
        store = ModelStore(Settings(unload_grace_s=0), {"m": mock_entry("m")}, loader)
        for _ in range(5):
            await given_up(store, loader)
        last = asyncio.create_task(store.acquire("m", QUIET))
        await asyncio.sleep(0)
        loader.may_end.set()
        if fails:
            with pytest.raises(ModelCorrupt, match="cut short"):
                await last
            last = asyncio.create_task(store.acquire("m", QUIET))
        model = await last
        assert (loader.loads, loader.closed, model.users) == (1 + fails, 0, 1)
        store.release(model)
        await until(lambda: loader.closed == 1)
        await store.close()

    asyncio.run(asyncio.wait_for(work(), 30))


def test_a_load_that_was_given_up_keeps_its_model_for_the_grace() -> None:
    async def work() -> None:
        loader = Loader()
        loader.may_end.clear()
        store = ModelStore(Settings(unload_grace_s=3600), {"m": mock_entry("m")}, loader)
        await given_up(store, loader)
        loader.may_end.set()
        await until(lambda: store.list()[0].status == "Loaded")
        model = await store.acquire("m", QUIET)
        assert (loader.loads, model.unload) == (1, None)
        await store.close()
        assert loader.closed == 1

    asyncio.run(asyncio.wait_for(work(), 30))


def test_a_store_that_closes_frees_a_model_that_is_still_loaded() -> None:
    async def work() -> None:
        loader = Loader()
        loader.may_end.clear()
        store = ModelStore(Settings(), {"m": mock_entry("m")}, loader)
        await given_up(store, loader)
        await store.close()
        loader.may_end.set()
        await until(lambda: loader.closed == 1)

    asyncio.run(asyncio.wait_for(work(), 30))


def test_all_who_wait_for_a_model_hear_of_its_progress() -> None:
    async def work() -> None:
        may_end = threading.Event()

        def load(entry: CatalogEntry, path: Path | None, settings: Settings, report: Report) -> TextModel:
            assert may_end.wait(30)
            report("load", 50, 100, "percent")
            return load_mock(settings)

        store = ModelStore(Settings(), {"m": mock_entry("m")}, load)
        heard: list[str] = []
        waiting = [
            asyncio.create_task(store.acquire("m", lambda *_, who=who: heard.append(who)))
            for who in ("first", "second")
        ]
        await asyncio.sleep(0)
        waiting[0].cancel()
        may_end.set()
        await waiting[1]
        assert heard == ["second"]
        await store.close()

    asyncio.run(asyncio.wait_for(work(), 30))


def test_pins_belong_to_who_made_them() -> None:
    async def work() -> None:
        loader = Loader()
        store = ModelStore(Settings(unload_grace_s=0), {"m": mock_entry("m"), "n": mock_entry("n")}, loader)
        for owner in ("a", "a", "b"):
            await store.pin("m", owner, QUIET)
        await store.pin("n", "b", QUIET)
        (model, _) = store.loaded()
        assert (model.users, model.pins) == (2, {"a", "b"})
        for owner in ("a", "a", "nobody"):
            store.unpin("m", owner)
        assert (model.users, model.pins) == (1, {"b"})
        store.unpin_all("b")
        store.unpin_all("b")
        await until(lambda: loader.closed == 2)
        with pytest.raises(ModelNotFound, match="'x'"):
            store.unpin("x", "a")
        await store.close()

    asyncio.run(asyncio.wait_for(work(), 30))

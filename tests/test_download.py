"""Downloading models from a hub that breaks off, lies, hangs and refuses: what is kept, what is told, who waits."""

from __future__ import annotations

import asyncio
import errno
import functools
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import filelock
import huggingface_hub.constants
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import bridge.download
import bridge.hub
from bridge.catalog import CatalogEntry
from bridge.config import Settings
from bridge.download import Downloads, download_model
from bridge.engine import TextModel
from bridge.engines.mock import load_mock
from bridge.errors import (
    DownloadActive,
    DownloadFailed,
    DownloadNotAvailable,
    InsufficientDiskSpace,
    InvalidValue,
    LimitExceeded,
    ModelCorrupt,
    ModelLoadFailed,
    ModelNotFound,
    ParleyError,
)
from bridge.hub import Part, Stop
from bridge.model_files import Report, disk_status, faults_of, locate, model_paths, partial_bytes, read_record
from bridge.models import ModelStore
from bridge.protocol import CancelDownload, ConfigureSession, DeleteModel, DownloadModel, ListModels, Models, Progress
from tests.http_hub import COMMIT, REPOSITORY, Hub, HubFile, hub_entry, serving, small_gguf
from tests.talk import run, talking

GGUF = small_gguf()
QUIET: Report = lambda *_: None  # noqa: E731 - a callback that ignores progress


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bridge.hub, "RETRY_PAUSES_S", (0.0, 0.0, 0.0, 0.0))
    for name in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where models go: letters and spaces as in a player's own folder."""
    return tmp_path / "Ж 田中　é" / "my models"


@pytest.fixture
def hub() -> Iterator[Hub]:
    with serving(model=GGUF) as running:
        yield running


def settings_of(hub: Hub, folder: Path, **more: Any) -> Settings:
    return Settings(models_folder=str(folder), hub_endpoint=hub.endpoint, **{"download_timeout_s": 20, **more})


def fetch(
    hub: Hub,
    folder: Path,
    entry: CatalogEntry | None = None,
    report: Report = QUIET,
    stop: Stop | None = None,
    **more: Any,
) -> Path:
    """Download and return the file."""
    chosen = entry or hub_entry()
    settings = settings_of(hub, folder, **more)
    download_model(chosen, settings, report, stop or Stop())
    return locate(chosen, settings, QUIET)


def part(folder: Path) -> Path:
    return folder / REPOSITORY.replace("/", "--") / "model.gguf.part"


def inside(folder: Path) -> list[str]:
    """All files below."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


WHOLE = [f"{REPOSITORY.replace('/', '--')}/model.gguf{suffix}" for suffix in ("", ".parley.json")]


# ---- the transfer --------------------------------------------------------------------------------------------


def test_a_whole_download_is_checked_and_recorded(hub: Hub, folder: Path) -> None:
    told: list[tuple[str, int, int, str]] = []
    path = fetch(hub, folder, report=lambda *progress: told.append(progress))
    assert path.read_bytes() == GGUF
    assert inside(folder) == WHOLE
    record = read_record(path)
    assert record is not None
    assert (record.size, record.sha256, record.commit) == (len(GGUF), hashlib.sha256(GGUF).hexdigest(), COMMIT)
    assert told[-1] == ("download", len(GGUF), len(GGUF), "bytes")
    assert [done for _, done, _, _ in told] == sorted({done for _, done, _, _ in told})
    assert disk_status(hub_entry(), settings_of(hub, folder)) == ("Downloaded", len(GGUF))
    assert faults_of(hub_entry(), settings_of(hub, folder)) == []
    # The bytes are those of the state of the repository that was looked at.
    assert [path for method, path, _ in hub.requests if method == "GET"] == [
        f"/{REPOSITORY}/resolve/{COMMIT}/model.gguf"
    ]


def test_what_is_there_is_not_fetched_again_and_needs_no_network(hub: Hub, folder: Path) -> None:
    fetch(hub, folder)
    hub.requests.clear()
    told: list[int] = []
    fetch(hub, folder, report=lambda *progress: told.append(progress[1]))
    assert hub.requests == []
    assert told == [0]


def test_progress_comes_at_a_sane_rate(hub: Hub, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = iter(range(10**6))
    monkeypatch.setattr(bridge.download, "clock", lambda: next(now) * bridge.download.PROGRESS_S / 7.5)
    hub.files["model.gguf"] = HubFile(small_gguf(4_000_000))
    told: list[int] = []
    fetch(hub, folder, report=lambda *progress: told.append(progress[1]))
    blocks = -(-4_000_000 // 65_536)
    assert 2 < len(told) <= blocks / 7 + 2
    assert told[-1] == hub.files["model.gguf"].data.__len__()


def test_a_broken_transfer_goes_on_where_it_broke(hub: Hub, folder: Path) -> None:
    hub.files["model.gguf"].cut_after = 20_000
    assert fetch(hub, folder).read_bytes() == GGUF
    ranges = hub.ranges()
    assert ranges[0] == ""
    assert len(ranges) > len(bridge.hub.RETRY_PAUSES_S) + 1  # as long as something comes, it goes on
    starts = [int(asked.removeprefix("bytes=").rstrip("-")) for asked in ranges[1:]]
    assert starts == sorted(starts)
    assert starts[0] > 0


@given(cuts=st.lists(st.integers(0, len(GGUF)), max_size=4), ignores_range=st.booleans(), early_end=st.booleans())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_however_the_line_breaks_the_file_is_whole_or_kept_apart(
    cuts: list[int], ignores_range: bool, early_end: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("models")
    rest = iter(cuts)

    def next_cut(file: HubFile) -> None:
        file.cut_after = next(rest, None)

    file = HubFile(GGUF, ignores_range=ignores_range, length=-1 if early_end else None)
    with serving(model=file) as hub:
        hub.on_get = next_cut
        assert fetch(hub, folder).read_bytes() == GGUF
    assert inside(folder) == WHOLE


def test_a_later_download_goes_on_with_what_was_kept(hub: Hub, folder: Path) -> None:
    served = hub.files["model.gguf"]
    calls = 0

    def refuse_later(file: HubFile) -> None:
        nonlocal calls
        calls += 1
        file.cut_after, file.get_status = (150_000, 200) if calls == 1 else (None, 503)

    hub.on_get = refuse_later
    with pytest.raises(DownloadFailed, match=r"broke off after \d+ of 300\d+ bytes.*HTTP 503.*kept"):
        fetch(hub, folder)
    kept = part(folder).stat().st_size
    assert 0 < kept <= 150_000
    assert disk_status(hub_entry(), settings_of(hub, folder))[0] == "Absent"
    assert partial_bytes(hub_entry(), settings_of(hub, folder)) == kept
    with pytest.raises(ModelLoadFailed, match="parley models pull m"):
        locate(hub_entry(), settings_of(hub, folder), QUIET)

    hub.on_get = lambda _: None
    hub.files["model.gguf"] = replace(served, cut_after=None, get_status=200)
    hub.requests.clear()
    assert fetch(hub, folder).read_bytes() == GGUF
    assert hub.ranges() == [f"bytes={kept}-"]


def test_what_was_kept_of_another_file_is_thrown_away(hub: Hub, folder: Path) -> None:
    hub.files["model.gguf"] = HubFile(GGUF, cut_after=50_000, ignores_range=True)
    with pytest.raises(DownloadFailed, match="broke off"):
        fetch(hub, folder)
    assert part(folder).stat().st_size > 0
    other = small_gguf(200_000)
    hub.files["model.gguf"] = HubFile(other)
    assert fetch(hub, folder).read_bytes() == other


@pytest.mark.parametrize("damage", ["changed", "longer"])
def test_a_part_that_was_tampered_with_is_found_out(damage: str, hub: Hub, folder: Path) -> None:
    hub.files["model.gguf"] = HubFile(GGUF, cut_after=50_000, ignores_range=True)
    with pytest.raises(DownloadFailed, match="broke off"):
        fetch(hub, folder)
    kept = part(folder).read_bytes()
    part(folder).write_bytes(b"X" + kept[1:] if damage == "changed" else kept + GGUF)
    hub.files["model.gguf"] = HubFile(GGUF)
    if damage == "changed":
        with pytest.raises(DownloadFailed, match="sha256"):
            fetch(hub, folder)
        assert inside(folder) == []
    assert fetch(hub, folder).read_bytes() == GGUF


def test_a_server_that_sends_the_wrong_rest_is_asked_for_all_of_it(hub: Hub, folder: Path) -> None:
    hub.files["model.gguf"] = HubFile(GGUF, cut_after=120_000, wrong_range=True)

    def heal(file: HubFile) -> None:
        if len(hub.ranges()) == 3:
            file.cut_after = None

    hub.on_get = heal
    assert fetch(hub, folder).read_bytes() == GGUF
    assert hub.ranges()[2] == ""


def test_a_damaged_file_is_told_apart_and_mended(hub: Hub, folder: Path) -> None:
    path = fetch(hub, folder)
    settings = settings_of(hub, folder)
    path.write_bytes(GGUF[: len(GGUF) * 6 // 10])
    assert disk_status(hub_entry(), settings)[0] == "Absent"
    with pytest.raises(ModelCorrupt, match=rf"model\.gguf has {len(GGUF) * 6 // 10} bytes"):
        locate(hub_entry(), settings, QUIET)
    assert len(faults_of(hub_entry(), settings)) == 1
    assert fetch(hub, folder).read_bytes() == GGUF

    path.write_bytes(GGUF[:-1] + b"\x00")
    assert [fault for fault in faults_of(hub_entry(), settings) if "checksum" in fault] != []


def test_the_very_file_put_there_by_hand_is_taken_for_downloaded(hub: Hub, folder: Path) -> None:
    settings = settings_of(hub, folder)
    path = model_paths(hub_entry(), settings)[0]
    path.parent.mkdir(parents=True)
    path.write_bytes(GGUF)
    assert disk_status(hub_entry(), settings)[0] == "Absent"
    fetch(hub, folder)
    assert hub.ranges() == []
    path.with_name("model.gguf.parley.json").write_text("{}", encoding="utf-8")
    path.write_bytes(b"?" + GGUF[1:])
    assert fetch(hub, folder).read_bytes() == GGUF
    assert hub.ranges() == [""]


def test_a_process_that_dies_at_the_last_step_leaves_no_half_truth(
    hub: Hub, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = fetch(hub, folder)
    path.write_bytes(b"?" + GGUF[1:])  # damaged, of the right size, and nothing says so any more
    path.with_name("model.gguf.parley.json").unlink()

    move = os.replace

    def die(source: Any, target: Any) -> None:
        if str(source).endswith(".part"):
            raise KeyboardInterrupt
        move(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", die)
        with pytest.raises(KeyboardInterrupt):
            fetch(hub, folder)
    assert disk_status(hub_entry(), settings_of(hub, folder))[0] == "Absent"
    hub.requests.clear()
    assert fetch(hub, folder).read_bytes() == GGUF
    assert hub.ranges() == []  # all of it was there


def test_a_split_model_is_whole_when_all_its_files_are(folder: Path) -> None:
    first, second = small_gguf(90_000), b"GGUF" + bytes(70_000)
    digests = {"a.gguf": hashlib.sha256(first).hexdigest(), "b.gguf": hashlib.sha256(second).hexdigest()}
    entry = hub_entry("a.gguf", "b.gguf", sha256=digests)
    with serving(a=first, b=HubFile(second, get_status=404)) as hub:
        told: list[tuple[str, int, int, str]] = []
        with pytest.raises(DownloadNotAvailable, match=r"b\.gguf \(HTTP 404\)"):
            fetch(hub, folder, entry)
        assert disk_status(entry, settings_of(hub, folder))[0] == "Absent"
        hub.files["b.gguf"] = HubFile(second)
        assert fetch(hub, folder, entry, lambda *progress: told.append(progress)).name == "a.gguf"
        assert told[-1] == ("download", len(second), len(second), "bytes")
        assert disk_status(entry, settings_of(hub, folder)) == ("Downloaded", len(first) + len(second))


@pytest.mark.parametrize(
    ("served", "says"),
    [
        (HubFile(GGUF, size=len(GGUF) + 5), f"bytes come, and {len(GGUF) + 5} were announced"),
        (HubFile(GGUF, size=len(GGUF) - 5, length=-1), f"more than the {len(GGUF) - 5} bytes"),
        (HubFile(GGUF, size=len(GGUF) - 5), f"bytes come, and {len(GGUF) - 5} were announced"),
        (HubFile(GGUF, etag="0" * 64), "its sha256 is"),
        (HubFile(b"\x00" * 5000), "not a GGUF file"),
        (HubFile(GGUF[:200_000]), "cut short"),
        (HubFile(b"<!DOCTYPE html>" * 99, content_type="text/html; charset=utf-8"), "web page.*login page"),
        (HubFile(GGUF, encoding="gzip"), "compressed"),
    ],
)
def test_what_is_no_use_is_refused_and_removed(served: HubFile, says: str, hub: Hub, folder: Path) -> None:
    hub.files["model.gguf"] = served
    with pytest.raises(DownloadFailed, match=says):
        fetch(hub, folder)
    assert sum(path.stat().st_size for path in folder.rglob("*.gguf*") if path.suffix != ".json") == 0
    hub.files["model.gguf"] = HubFile(GGUF)
    assert fetch(hub, folder).read_bytes() == GGUF


@pytest.mark.parametrize("size", [0, -5, -(2**70)])
def test_a_size_that_no_file_has_is_told(size: int, hub: Hub, folder: Path) -> None:
    hub.files["model.gguf"] = HubFile(GGUF, size=size)
    with pytest.raises(DownloadFailed, match=rf"(has {size} bytes|does not answer as a hub does)") as caught:
        fetch(hub, folder)
    assert "127.0.0.1" in caught.value.message
    assert [name for name in inside(folder) if not name.endswith(".lock")] == []


def test_what_nobody_thought_of_is_a_failed_download(hub: Hub, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def look_up(*_: Any) -> Any:
        raise ZeroDivisionError("of the hub's own making")

    monkeypatch.setattr(bridge.hub.Hub, "look_up", look_up)
    with pytest.raises(DownloadFailed, match=r"model 'm' failed \(ZeroDivisionError: of the hub's own making\); try"):
        fetch(hub, folder)


def test_a_server_that_promises_more_bytes_than_it_sends_is_given_up(hub: Hub, folder: Path) -> None:
    hub.files["model.gguf"] = HubFile(GGUF, cut_after=0)
    with pytest.raises(DownloadFailed, match="broke off after 0 of"):
        fetch(hub, folder)
    assert len(hub.ranges()) == len(bridge.hub.RETRY_PAUSES_S) + 1


@pytest.mark.parametrize(
    ("served", "kind", "says"),
    [
        ({"head_status": 404, "error_code": "EntryNotFound"}, DownloadNotAvailable, r"no file model\.gguf"),
        ({"head_status": 404, "error_code": "RevisionNotFound"}, DownloadNotAvailable, "no revision 'main'"),
        (
            {"head_status": 401, "error_code": "RepoNotFound"},
            DownloadNotAvailable,
            f"no repository {REPOSITORY}.*HF_TOKEN",
        ),
        ({"head_status": 403, "error_code": "GatedRepo"}, DownloadNotAvailable, "accept its terms"),
        ({"head_status": 401}, DownloadNotAvailable, "HTTP 401.*HF_TOKEN"),
        ({"get_status": 401}, DownloadNotAvailable, "HTTP 401.*HF_TOKEN"),
        ({"head_status": 500}, DownloadFailed, "HTTP 500"),
        ({"get_status": 500}, DownloadFailed, "HTTP 500"),
        ({"get_status": 418}, DownloadFailed, "HTTP 418"),
        ({"commit": ""}, DownloadFailed, "does not answer as a hub"),
    ],
)
def test_refusals_of_the_hub_are_told(
    served: dict[str, Any], kind: type[ParleyError], says: str, hub: Hub, folder: Path
) -> None:
    hub.files["model.gguf"] = HubFile(GGUF, **served)
    with pytest.raises(kind, match=says) as caught:
        fetch(hub, folder)
    assert type(caught.value) is kind
    assert "\n" not in str(caught.value)


def test_an_unknown_file_or_repository_is_not_available(hub: Hub, folder: Path) -> None:
    with pytest.raises(DownloadNotAvailable, match=r"no file other\.gguf"):
        fetch(hub, folder, hub_entry("other.gguf"))
    with pytest.raises(DownloadNotAvailable, match="no repository some-owner/Other"):
        fetch(hub, folder, hub_entry(huggingface="some-owner/Other"))


def test_a_hub_that_cannot_be_reached_is_told(folder: Path) -> None:
    with serving(model=GGUF) as hub:
        pass
    with pytest.raises(DownloadFailed, match="cannot be reached; is this machine offline"):
        fetch(hub, folder)
    with pytest.raises(DownloadFailed, match="cannot be downloaded"):
        fetch(Hub("no-address", ""), folder)


def test_offline_mode_is_told(hub: Hub, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(DownloadFailed, match="HF_HUB_OFFLINE"):
        fetch(hub, folder)


def test_a_missing_client_is_told_with_the_pip_command(hub: Hub, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(DownloadNotAvailable, match=r'pip install "parley-bridge\[llama\]"'):
        fetch(hub, folder)


def test_a_hub_that_falls_silent_is_given_up(hub: Hub, folder: Path) -> None:
    hub.hold_after = 0
    with pytest.raises(DownloadFailed, match=r"was silent for 0\.05 s"):
        fetch(hub, folder, download_timeout_s=0.05)
    hub.holds_head = True
    with pytest.raises(DownloadFailed, match=r"was silent for 0\.05 s"):
        fetch(hub, folder, download_timeout_s=0.05)


def test_the_file_that_the_catalog_means_is_the_only_one_taken(hub: Hub, folder: Path) -> None:
    with pytest.raises(DownloadFailed, match="not the file that the catalog means"):
        fetch(hub, folder, hub_entry(sha256="1" * 64))
    assert hub.ranges() == []
    hub.files["model.gguf"].etag = "0123456789abcdef0123456789abcdef01234567"
    with pytest.raises(DownloadFailed, match=f"not {'1' * 64}"):
        fetch(hub, folder, hub_entry(sha256="1" * 64))


def test_the_token_stays_with_the_hub(hub: Hub, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    fetch(hub, folder)
    assert set(hub.authorizations) == {""}  # a game's settings named this hub, not the player
    hub.authorizations.clear()
    template = huggingface_hub.constants.HUGGINGFACE_CO_URL_TEMPLATE
    monkeypatch.setattr(
        huggingface_hub.constants,
        "HUGGINGFACE_CO_URL_TEMPLATE",
        template.replace(huggingface_hub.constants.ENDPOINT, hub.endpoint),
    )
    monkeypatch.setattr(huggingface_hub.constants, "ENDPOINT", hub.endpoint)
    hub.files["model.gguf"].redirect = True
    fetch(hub, folder / "again")
    assert hub.requests[-1][1].startswith("/elsewhere/")
    assert hub.authorizations == ["Bearer hf_secret", "Bearer hf_secret", ""]


# ---- room on the disk ----------------------------------------------------------------------------------------


def test_the_disk_must_have_room_to_spare(hub: Hub, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = functools.partial(type(shutil.disk_usage(folder.anchor)), 2**40, 0)
    needed = len(GGUF) + bridge.download.ROOM_TO_SPARE
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(needed - 1))
    with pytest.raises(InsufficientDiskSpace, match="512 MiB to spare"):
        fetch(hub, folder)
    assert hub.ranges() == []
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(needed))
    fetch(hub, folder)


def test_a_disk_that_fills_up_keeps_what_is_there(hub: Hub, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    append = Part.append

    def full(part: Part, block: bytes) -> None:
        if part.done + len(block) > 100_000:
            raise OSError(errno.ENOSPC, "No space left on device")
        append(part, block)

    monkeypatch.setattr(Part, "append", full)
    with pytest.raises(InsufficientDiskSpace, match="is full"):
        fetch(hub, folder)
    kept = part(folder).stat().st_size
    assert kept > 0
    monkeypatch.setattr(Part, "append", append)
    assert fetch(hub, folder).read_bytes() == GGUF
    assert hub.ranges()[-1] == f"bytes={kept}-"


def test_a_folder_that_cannot_be_used_is_named(hub: Hub, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(DownloadFailed, match="cannot be written to"):
        fetch(hub, tmp_path / "file" / "models")


def test_a_model_may_not_be_larger_than_is_allowed(hub: Hub, folder: Path) -> None:
    with pytest.raises(LimitExceeded, match="max_download_bytes"):
        fetch(hub, folder, max_download_bytes=len(GGUF) - 1)
    assert hub.ranges() == []
    fetch(hub, folder, max_download_bytes=len(GGUF))


# ---- who waits for it ----------------------------------------------------------------------------------------


def loader(entry: CatalogEntry, path: Path | None, settings: Settings, report: Report) -> TextModel:
    assert path is not None
    assert path.read_bytes() == GGUF
    return load_mock(settings)


def store_of(hub: Hub, folder: Path, *entries: CatalogEntry, **more: Any) -> ModelStore:
    catalog = {entry.name: entry for entry in entries or (hub_entry(),)}
    return ModelStore(settings_of(hub, folder, **more), catalog, loader)


async def event(flag: Any) -> None:
    """Wait for a threading.Event without holding up the loop."""
    assert await asyncio.to_thread(flag.wait, 30)


async def until(condition: Callable[[], bool]) -> None:
    while not condition():  # noqa: ASYNC110 - what is waited for happens on threads that set no event
        await asyncio.sleep(0.001)


def status(store: ModelStore) -> str:
    return store.list()[0].status


def test_cancelling_stops_a_transfer_that_waits_for_the_network(hub: Hub, folder: Path) -> None:
    hub.hold_after = 100_000

    async def work() -> None:
        store = store_of(hub, folder, download_timeout_s=3600)
        waiting = asyncio.create_task(store.download("m", QUIET))
        await event(hub.holding)
        await until(lambda: partial_bytes(hub_entry(), settings_of(hub, folder)) >= 100_000)
        assert status(store) == "Downloading"
        store.cancel_download("m")
        with pytest.raises(DownloadFailed, match="cancelled; what is there is kept"):
            await waiting
        await until(lambda: status(store) == "Absent")
        hub.hold_after = None
        await store.download("m", QUIET)
        assert status(store) == "Downloaded"
        assert hub.ranges() == ["", "bytes=100000-"]
        store.cancel_download("m")
        with pytest.raises(ModelNotFound):
            store.cancel_download("unknown")
        await store.close()

    run(work)


def test_a_download_that_nobody_waits_for_any_more_stops(hub: Hub, folder: Path) -> None:
    hub.hold_after = 50_000

    async def work() -> None:
        store = store_of(hub, folder, download_timeout_s=3600)
        waiting = asyncio.create_task(store.download("m", QUIET))
        await event(hub.holding)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        await until(lambda: status(store) == "Absent")
        hub.hold_after = None
        # At once, even while the old transfer comes to its stop.
        waiting = asyncio.create_task(store.download("m", QUIET))
        await asyncio.sleep(0)
        await waiting
        await store.close()

    run(work)


def test_who_leaves_cancels_nothing_that_others_wait_for(hub: Hub, folder: Path) -> None:
    hub.hold_after = 50_000

    async def work() -> None:
        store = store_of(hub, folder, download_timeout_s=3600)
        heard: list[int] = []
        first = asyncio.create_task(store.download("m", QUIET))
        await event(hub.holding)
        second = asyncio.create_task(store.acquire("m", lambda *told: heard.append(told[1]), download=True))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        assert status(store) == "Downloading"
        hub.go_on.set()
        model = await second
        assert heard[-1] == len(GGUF)
        assert status(store) == "Loaded"
        store.release(model)
        await store.close()

    run(work)


def test_two_downloads_of_one_model_are_one_too_many(hub: Hub, folder: Path) -> None:
    hub.hold_after = 50_000

    async def work() -> None:
        store = store_of(hub, folder)
        first = asyncio.create_task(store.download("m", QUIET))
        await event(hub.holding)
        with pytest.raises(DownloadActive, match="'m' is being downloaded already"):
            await store.download("m", QUIET)
        with pytest.raises(DownloadActive, match="can be used when that is done"):
            await store.acquire("m", QUIET)
        with pytest.raises(DownloadActive, match="CancelDownload"):
            await store.delete("m")
        # Another process, or another name for the same file.
        other = store_of(hub, folder)
        with pytest.raises(DownloadActive, match="another process"):
            await other.download("m", QUIET)
        with pytest.raises(DownloadActive, match="another process"):
            await other.delete("m")
        hub.go_on.set()
        await first
        await store.close()
        assert inside(folder) == WHOLE

    run(work)


def test_a_cancelled_download_is_over_for_everybody_at_once(hub: Hub, folder: Path) -> None:
    hub.hold_after = 50_000

    async def work() -> None:
        store = store_of(hub, folder, download_timeout_s=3600)
        waiting = asyncio.create_task(store.download("m", QUIET))
        await event(hub.holding)
        assert status(store) == "Downloading"
        store.cancel_download("m")
        # The transfer has not heard of it: it could not have told the loop.
        assert status(store) == "Absent"
        with pytest.raises(ModelLoadFailed, match="parley models pull"):
            await store.acquire("m", QUIET)
        await store.delete("m")
        assert inside(folder) == []
        with pytest.raises(DownloadFailed, match="cancelled"):
            await waiting
        hub.hold_after = None
        await store.download("m", QUIET)
        assert status(store) == "Downloaded"
        await store.close()

    run(work)


def test_a_lock_ends_with_its_process(hub: Hub, folder: Path) -> None:
    store = store_of(hub, folder)
    assert status(store) == "Absent"
    assert not folder.exists(), "a look makes nothing"
    lock = part(folder).with_name("model.gguf.lock")
    lock.parent.mkdir(parents=True)
    code = f"import filelock, sys; held = filelock.FileLock({str(lock)!r}); held.acquire(); print('held', flush=True)"
    code += "; sys.stdin.read()"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        try:
            assert other.stdout is not None
            assert other.stdout.readline().strip() == b"held"
            with pytest.raises(DownloadActive, match=r"model\.gguf is being downloaded already"):
                fetch(hub, folder)
            assert status(store) == "Downloading"
        finally:
            other.kill()
    assert status(store) == "Absent"
    assert fetch(hub, folder).read_bytes() == GGUF
    with filelock.FileLock(lock, timeout=0):
        pass


def test_the_store_closes_while_a_transfer_hangs(hub: Hub, folder: Path) -> None:
    hub.hold_after = 50_000

    async def work() -> None:
        store = store_of(hub, folder, download_timeout_s=3600)
        waiting = asyncio.create_task(store.download("m", QUIET))
        await event(hub.holding)
        await store.close()
        with pytest.raises(DownloadFailed, match="cancelled"):
            await waiting
        assert status(store) == "Absent"

    run(work)


def test_a_fault_of_ours_reaches_whoever_waits() -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("a bug")

    async def work() -> None:
        downloads = Downloads(Settings(), broken)
        with pytest.raises(ZeroDivisionError, match="a bug"):
            await downloads.start(hub_entry(), QUIET)
        assert not downloads.is_active("m")

    run(work)


def test_a_model_that_is_not_there_is_fetched_only_where_that_is_allowed(hub: Hub, folder: Path) -> None:
    async def work() -> None:
        store = store_of(hub, folder, unload_grace_s=3600)
        with pytest.raises(ModelLoadFailed, match=r"parley models pull m.*DownloadModel"):
            await store.acquire("m", QUIET)
        assert hub.requests == []
        told: list[str] = []
        model = await store.acquire("m", lambda task, *_: told.append(task), download=True)
        assert "download" in told
        with pytest.raises(InvalidValue, match="is loaded; destroy the agents"):
            await store.delete("m")
        store.release(model)
        await store.pin("m", "a", QUIET)
        with pytest.raises(InvalidValue, match="is loaded; send UnloadModel"):
            await store.delete("m")
        store.unpin("m", "a")
        # Nobody uses it, though it is still in memory for a while.
        assert status(store) == "Loaded"
        assert await store.delete("m") == len(GGUF)
        assert status(store) == "Absent"
        assert inside(folder) == []
        assert await store.delete("m") == 0
        await store.close()

    run(work)


def test_only_what_was_downloaded_is_deleted(hub: Hub, folder: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine.gguf"
    mine.write_bytes(GGUF)
    local = CatalogEntry.model_validate({"name": "l", "engine": "llama-cpp", "source": {"path": str(mine)}})
    mock = CatalogEntry(name="k", engine="mock")

    async def work() -> None:
        store = store_of(hub, folder, local, mock, hub_entry())
        for name in ("l", "k"):
            with pytest.raises(InvalidValue, match="was not downloaded"):
                await store.delete(name)
            with pytest.raises(DownloadNotAvailable, match="is not downloaded"):
                await store.download(name, QUIET)
        assert mine.read_bytes() == GGUF
        hub.files["model.gguf"] = HubFile(GGUF, cut_after=10_000, ignores_range=True)
        with pytest.raises(DownloadFailed, match="broke off"):
            await store.download("m", QUIET)
        row = store.list()[2]
        assert (row.status, row.bytes_on_disk) == ("Absent", 0)
        assert row.bytes_partial > 0
        assert row.source == f"huggingface {REPOSITORY}"
        neighbour = part(folder).with_name("neighbour.txt")
        neighbour.write_text("mine", encoding="utf-8")
        assert await store.delete("m") == row.bytes_partial
        assert [path.name for path in neighbour.parent.iterdir()] == ["neighbour.txt"]
        await store.close()

    run(work)


def test_files_that_the_system_keeps_are_told(hub: Hub, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = fetch(hub, folder)

    def refuse(self: Path, missing_ok: bool = False) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", refuse)
        with pytest.raises(InvalidValue, match="cannot be removed: Permission denied"):
            bridge.download.remove_files(hub_entry(), settings_of(hub, folder))
    assert path.read_bytes() == GGUF


# ---- over the wire -------------------------------------------------------------------------------------------


def test_a_client_downloads_lists_and_deletes(hub: Hub, folder: Path) -> None:
    async def work() -> None:
        async with talking(hub_entry(), settings=settings_of(hub, folder)) as talk:
            with pytest.raises(DownloadNotAvailable, match="allow_model_download"):
                await talk.client.request(DownloadModel(model="m"))
            with pytest.raises(DownloadNotAvailable, match="allow_model_download"):
                await talk.client.request(CancelDownload(model="m"))
            await talk.client.request(ConfigureSession(allow_model_download=True))
            subscription = talk.client.subscribe()
            await talk.client.request(DownloadModel(model="m"))
            subscription.close()
            frames = [envelope.message async for envelope in subscription]
            progress = [frame for frame in frames if isinstance(frame, Progress)]
            assert progress[-1] == Progress(task="download", model="m", done=len(GGUF), total=len(GGUF), unit="bytes")
            assert await listed(talk.client.request) == ("Downloaded", len(GGUF))
            await talk.client.request(DeleteModel(model="m"))
            assert await listed(talk.client.request) == ("Absent", 0)
            with pytest.raises(ModelNotFound):
                await talk.client.request(DownloadModel(model="unknown"))

    run(work)


async def listed(request: Callable[[Any], Awaitable[Any]]) -> tuple[str, int]:
    reply = await request(ListModels())
    assert isinstance(reply, Models)
    return next((row.status, row.bytes_on_disk) for row in reply.models if row.name == "m")


def test_others_are_served_meanwhile_and_a_cancel_comes_through(hub: Hub, folder: Path) -> None:
    hub.hold_after = 50_000

    async def work() -> None:
        async with talking(hub_entry(), settings=settings_of(hub, folder, download_timeout_s=3600)) as talk:
            await talk.client.request(ConfigureSession(allow_model_download=True))
            waiting = asyncio.create_task(talk.client.request(DownloadModel(model="m")))
            await event(hub.holding)
            assert (await listed(talk.client.request))[0] == "Downloading"
            with pytest.raises(DownloadActive):
                await talk.client.request(DownloadModel(model="m"))
            await talk.client.request(CancelDownload(model="m"))
            with pytest.raises(DownloadFailed, match="cancelled"):
                await waiting

    run(work)


def test_a_session_that_ends_stops_what_only_it_waits_for(hub: Hub, folder: Path) -> None:
    hub.hold_after = 50_000

    async def work() -> None:
        async with talking(hub_entry(), settings=settings_of(hub, folder, download_timeout_s=3600)) as talk:
            guest = await talk.another_client()
            await guest.request(ConfigureSession(allow_model_download=True))
            waiting = asyncio.create_task(guest.request(DownloadModel(model="m")))
            await event(hub.holding)
            await guest.bye()
            await guest.close()
            with pytest.raises((ParleyError, ConnectionError)):
                await waiting
            while (await listed(talk.client.request))[0] != "Absent":  # noqa: ASYNC110 - nothing is pushed then
                await asyncio.sleep(0.001)

    run(work)

"""`parley package unity`: libzmq out of wheels, the assembled package, and what is said when something is wrong."""

from __future__ import annotations

import gzip
import hashlib
import http.server
import io
import os
import shutil
import sys
import tarfile
import threading
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from bridge.packaging import PackagingFailed, out_folder, unity
from bridge.packaging.native_zmq import (
    LINUX_SODIUM,
    LINUX_SODIUM_HERE,
    WHEELS,
    Wheel,
    collect,
    rename_needed,
    with_so_endings,
)
from bridge.packaging.out_folder import replacing
from bridge.packaging.unity import package_unity
from tests import package_cases
from tests.package_cases import Packager
from tests.unity_reader import Package, problems
from tests.wheel_shelf import ELF, fake_sidecar, fake_wheel, tree

UNITY = Packager("unity", unity, package_unity, ".tgz")
assemble = UNITY.assemble


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    folder = tmp_path / "wheels"
    folder.mkdir()
    return folder


@pytest.fixture
def fakes(shelf: Path) -> tuple[Wheel, ...]:
    """A shelf of wheels that hold little."""
    return tuple(fake_wheel(wheel, shelf) for wheel in WHEELS)


# ---- libraries -----------------------------------------------------------------------------------------------


def test_each_platform_gets_its_libraries(shelf: Path, fakes: tuple[Wheel, ...]) -> None:
    natives = collect(shelf, fakes)
    assert {name.partition("/")[0] for name in natives.files} == {"win-x64", "macos", "linux-x64"}
    assert {"win-x64/libzmq.dll", "macos/libzmq.dylib", "linux-x64/libzmq.so"} <= set(natives.files)
    assert natives.files["macos/libsodium.26.dylib"] == b"macos/libsodium.26.dylib of a test\r\n"
    assert set(natives.licences) == {"lgpl", "mpl", "sodium", "msvc"}
    assert natives.licences["mpl"] == "mpl of a test\n"


def test_libzmq_for_linux_asks_for_the_sodium_beside_it(shelf: Path, fakes: tuple[Wheel, ...]) -> None:
    natives = with_so_endings(collect(shelf, fakes))
    changed = natives.files["linux-x64/libzmq.so"]
    assert len(changed) == len(ELF)
    assert f"\0{LINUX_SODIUM_HERE}\0".encode() in changed
    assert LINUX_SODIUM.encode() not in changed
    assert f"linux-x64/{LINUX_SODIUM_HERE}" in natives.files
    assert f"linux-x64/{LINUX_SODIUM}" not in natives.files


@pytest.mark.parametrize("library", [b"MZ" + ELF, ELF + ELF[64:], ELF.replace(LINUX_SODIUM.encode(), b"another")])
def test_a_library_that_is_built_otherwise_is_not_changed(library: bytes) -> None:
    with pytest.raises(PackagingFailed, match="does not ask for"):
        rename_needed(library, LINUX_SODIUM, LINUX_SODIUM_HERE)


def test_every_library_has_a_checksum_and_a_platform() -> None:
    for wheel in WHEELS:
        assert len(wheel.sha256) == 64 and set(wheel.sha256) <= set("0123456789abcdef")
        assert wheel.taken
    targets = [taken.target for wheel in WHEELS for taken in (*wheel.taken, *wheel.licences)]
    assert len(targets) == len(set(targets))


def test_a_wheel_that_is_not_there_is_named_with_how_to_get_it(shelf: Path, fakes: tuple[Wheel, ...]) -> None:
    (shelf / fakes[0].file).unlink()
    with pytest.raises(PackagingFailed, match="there is no pyzmq-25") as fault:
        collect(shelf, fakes)
    assert "pip download pyzmq==25.1.2 --platform win_amd64" in str(fault.value)


def test_a_wheel_with_another_checksum_is_refused(shelf: Path, fakes: tuple[Wheel, ...]) -> None:
    with (shelf / fakes[1].file).open("ab") as file:
        file.write(b"!")
    with pytest.raises(PackagingFailed, match="is not the wheel that was checked: its sha256 is"):
        collect(shelf, fakes)


def test_a_wheel_without_what_it_should_hold_is_refused(shelf: Path, fakes: tuple[Wheel, ...]) -> None:
    (shelf / fakes[2].file).write_bytes(b"no zip")
    digest = hashlib.sha256(b"no zip").hexdigest()
    with pytest.raises(PackagingFailed, match="does not hold what it should"):
        collect(shelf, (replace(fakes[2], sha256=digest),))


def test_without_a_network_it_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", "")
    monkeypatch.setenv("PIP_NO_INDEX", "0")
    monkeypatch.setenv("PIP_FIND_LINKS", "")
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    with pytest.raises(PackagingFailed, match="pip could not download pyzmq-25") as fault:
        collect(None, WHEELS[:1])
    assert "--wheels" in str(fault.value)
    assert "\n" not in str(fault.value)


@pytest.fixture
def index(shelf: Path, fakes: tuple[Wheel, ...], monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A package index on this machine with the wheels of the shelf."""
    for wheel in fakes:
        page = shelf / "simple" / wheel.project / "index.html"
        page.parent.mkdir(parents=True, exist_ok=True)
        known = page.read_text(encoding="utf-8") if page.is_file() else ""
        page.write_text(f'{known}<a href="/{wheel.file}">{wheel.file}</a>\n', encoding="utf-8")

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(shelf)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    url = f"http://127.0.0.1:{server.server_address[1]}/simple"
    monkeypatch.setenv("PIP_INDEX_URL", url)
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", "")
    monkeypatch.setenv("PIP_FIND_LINKS", "")
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    yield url
    server.shutdown()
    server.server_close()
    thread.join()


def test_wheels_come_from_the_index_by_their_platform(index: str, shelf: Path, fakes: tuple[Wheel, ...]) -> None:
    assert collect(None, fakes) == collect(shelf, fakes)


def test_an_index_that_brings_something_else_is_refused(index: str, fakes: tuple[Wheel, ...]) -> None:
    wrong = replace(fakes[0], sha256="0" * 64)
    with pytest.raises(PackagingFailed, match="is not the wheel that was checked"):
        collect(None, (wrong,))


# ---- the package ---------------------------------------------------------------------------------------------


def test_unity_would_stumble_over_nothing_in_the_assembled_package(tmp_path: Path, fakes: tuple[Wheel, ...]) -> None:
    out = assemble(tmp_path, fakes)
    package = Package(out)
    assert problems(package) == []
    assert {"Plugins/win-x64/libzmq.dll", "Plugins/macos/libzmq.dylib", "Plugins/linux-x64/libzmq.so"} <= {
        str(asset) for asset in package.assets
    }
    assert (out / "Sidecar~" / "README.md").is_file()
    page = (out / "Third Party Notices.md").read_text(encoding="utf-8")
    assert "mpl of a test" in page and "{{" not in page
    assert "GNU GENERAL PUBLIC LICENSE" in (out / "Plugins" / "GPL-3.0.txt").read_text(encoding="utf-8")


def test_the_same_sources_make_the_same_bytes(tmp_path: Path, fakes: tuple[Wheel, ...]) -> None:
    package_cases.check_the_same_sources_make_the_same_bytes(UNITY, tmp_path, fakes)


def test_the_archive_is_what_npm_would_pack(tmp_path: Path, fakes: tuple[Wheel, ...]) -> None:
    sidecar = fake_sidecar(tmp_path / "sidecar", "linux-x64")
    out = assemble(tmp_path, fakes, archive=tmp_path / "p.tgz", sidecars=[sidecar])
    with tarfile.open(fileobj=io.BytesIO(gzip.decompress((tmp_path / "p.tgz").read_bytes()))) as tar:
        names = tar.getnames()
        assert all(name.startswith("package/") for name in names)
        assert set(names) == {f"package/{name}" for name in tree(out)}
        program = tar.getmember("package/Sidecar~/linux-x64/parley")
        assert (program.mode, program.mtime, program.uid) == (0o755, 0, 0)


def test_a_sidecar_goes_into_the_slot_of_its_platform(tmp_path: Path, fakes: tuple[Wheel, ...]) -> None:
    one, two = fake_sidecar(tmp_path / "one", "win-x64"), fake_sidecar(tmp_path / "two", "linux-x64")
    out = assemble(tmp_path, fakes, sidecars=[one, two])
    assert (out / "Sidecar~" / "win-x64" / "_internal" / "lib.so").read_bytes() == b"library"
    assert problems(Package(out)) == []
    if sys.platform != "win32":
        assert os.access(out / "Sidecar~" / "linux-x64" / "parley", os.X_OK)


@pytest.mark.parametrize(("platforms", "says"), package_cases.CONFUSED)
def test_sidecars_that_cannot_be_told_apart_are_refused(
    platforms: list[Any], says: str, tmp_path: Path, fakes: tuple[Wheel, ...]
) -> None:
    package_cases.check_sidecars_that_cannot_be_told_apart_are_refused(UNITY, platforms, says, tmp_path, fakes)


def test_a_folder_that_is_no_sidecar_is_refused(tmp_path: Path, fakes: tuple[Wheel, ...]) -> None:
    package_cases.check_a_folder_that_is_no_sidecar_is_refused(UNITY, tmp_path, fakes)


def test_a_sidecar_of_another_version_is_refused(tmp_path: Path, fakes: tuple[Wheel, ...]) -> None:
    package_cases.check_a_sidecar_of_another_version_is_refused(UNITY, tmp_path, fakes)


@pytest.mark.parametrize(
    ("out", "archive", "says"),
    [
        ("out", "out/p.tgz", r"the archive .*p\.tgz lies in .*out; name a place outside of it"),
        ("out", "sidecar/p.tgz", r"the archive .*p\.tgz lies in .*sidecar; name a place outside of it"),
        ("out", "wheels", "the archive must end in .tgz, as Unity wants it: wheels"),
        ("out", "folder.tgz", r"folder\.tgz is a folder; name a file for the archive"),
        ("sidecar/out", None, "lies in the sidecar .*; name a folder beside it"),
    ],
)
def test_nothing_is_written_into_what_is_replaced_or_copied(
    out: str, archive: str | None, says: str, tmp_path: Path, fakes: tuple[Wheel, ...]
) -> None:
    package_cases.check_nothing_is_written_into_what_is_replaced_or_copied(UNITY, out, archive, says, tmp_path, fakes)


def test_a_strangers_folder_is_refused_before_anything_is_downloaded(
    tmp_path: Path, fakes: tuple[Wheel, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    package_cases.check_a_strangers_folder_is_refused_before_anything_is_downloaded(UNITY, tmp_path, fakes, monkeypatch)


def test_stale_sources_are_not_packaged(
    tmp_path: Path, fakes: tuple[Wheel, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    sources = tmp_path / "unity_package"
    shutil.copytree(unity.SOURCES, sources)
    monkeypatch.setattr(unity, "SOURCES", tmp_path / "nothing")
    with pytest.raises(PackagingFailed, match="from a checkout"):
        assemble(tmp_path, fakes)
    monkeypatch.setattr(unity, "SOURCES", sources)
    generated = sources / "Runtime" / "Core" / "Generated" / "Messages.g.cs"
    text = generated.read_bytes()
    generated.write_bytes(text + b"// by hand\n")
    with pytest.raises(PackagingFailed, match="Generated is stale; run: parley codegen unity"):
        assemble(tmp_path, fakes)
    generated.write_bytes(text)
    (sources / "package.json").write_text('{"version": "9.9.9"}', encoding="utf-8")
    with pytest.raises(PackagingFailed, match=r"says version 9\.9\.9"):
        assemble(tmp_path, fakes)


def test_the_command_says_what_is_wrong_in_one_line(tmp_path: Path) -> None:
    package_cases.check_the_command_says_what_is_wrong_in_one_line(UNITY, tmp_path)


# ---- where it goes -------------------------------------------------------------------------------------------


def test_a_strangers_folder_is_left_alone(tmp_path: Path, fakes: tuple[Wheel, ...]) -> None:
    package_cases.check_a_strangers_folder_is_left_alone(UNITY, tmp_path, fakes)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "wheels"]


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("x", encoding="utf-8")
    with pytest.raises(PackagingFailed, match="is not a folder"), replacing(tmp_path / "out", "m"):
        raise AssertionError("it was entered")


def test_an_earlier_package_is_replaced_as_a_whole(tmp_path: Path, fakes: tuple[Wheel, ...]) -> None:
    out = assemble(tmp_path, fakes)
    (out / "Runtime" / "Old.cs").write_text("class Old { }", encoding="utf-8")
    assemble(tmp_path, fakes)
    assert not (out / "Runtime" / "Old.cs").exists()


def test_where_it_fails_nothing_is_left_and_nothing_is_lost(tmp_path: Path) -> None:
    out = tmp_path / "new" / "deep" / "out"
    with pytest.raises(RuntimeError, match="stop"), replacing(out, "m") as work:
        (work / "m").write_text("1", encoding="utf-8")
        raise RuntimeError("stop")
    assert list(tmp_path.iterdir()) == []
    with replacing(out, "m") as work:
        (work / "m").write_text("1", encoding="utf-8")
    with pytest.raises(RuntimeError, match="stop"), replacing(out, "m") as work:
        (work / "m").write_text("2", encoding="utf-8")
        raise RuntimeError("stop")
    assert tree(out) == {"m": b"1"}
    assert [path.name for path in out.parent.iterdir()] == ["out"]


def test_a_full_disk_is_said_so(tmp_path: Path, fakes: tuple[Wheel, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    package_cases.check_a_full_disk_is_said_so(UNITY, tmp_path, fakes, monkeypatch)


def test_the_platform_has_a_name_that_folders_can_have() -> None:
    system, _, machine = out_folder.platform_name().partition("-")
    assert system in ("win", "macos", "linux")
    assert machine.isalnum()


# ---- for real ------------------------------------------------------------------------------------------------


@pytest.mark.timeout(300)
def test_the_real_wheels_make_a_package_whose_libzmq_loads(tmp_path: Path, full: bool) -> None:
    out = package_cases.packaged_for_real(UNITY, tmp_path / "out", full)
    assert problems(Package(out)) == []
    plugins = out / "Plugins"
    assert (plugins / "win-x64/libzmq.dll").read_bytes()[:2] == b"MZ"
    assert package_cases.missing_dlls(plugins / "win-x64") == set()
    mac = (plugins / "macos/libzmq.dylib").read_bytes()
    assert mac[:4] == b"\xca\xfe\xba\xbe"  # more than one architecture
    assert b"@loader_path/libsodium.26.dylib\0" in mac
    package_cases.check_libzmq_loads_with_the_sodium_beside_it(plugins / "linux-x64/libzmq.so", LINUX_SODIUM_HERE)

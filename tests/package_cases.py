"""What the tests of both packages ask: the same bytes each time, nothing of anybody's lost, and why it failed."""

from __future__ import annotations

import errno
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from bridge.packaging import PackagingFailed
from bridge.packaging.native_zmq import Natives, Wheel
from tests.command_line import parley
from tests.sidecar import environment
from tests.wheel_shelf import fake_sidecar, tree

PATIENCE_S = 120
_LOAD = """
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
assert library.zmq_has(b"curve") == 1
found = {line.split()[-1] for line in open("/proc/self/maps") if "sodium" in line}
print("\\n".join(found))
"""
CONFUSED = [
    (["win-x64", "win-x64"], "two sidecars for win-x64"),
    (["../../x"], "names no platform"),
    ([3], "names no platform"),
]
"""platforms, says: sidecars that cannot be told apart, and what is said of them."""


@dataclass(frozen=True)
class Packager:
    """What makes a package for an engine."""

    engine: str
    module: ModuleType
    package: Callable[..., Path]
    suffix: str
    """Of its archives."""

    def assemble(self, folder: Path, wheels: tuple[Wheel, ...], **options: Any) -> Path:
        """Makes one of the wheels in `wheels` in `out`, both in a folder."""
        return self.package(folder / "out", wheels_folder=folder / "wheels", wheels=wheels, **options)


def check_the_same_sources_make_the_same_bytes(packager: Packager, folder: Path, wheels: tuple[Wheel, ...]) -> None:
    one, other = folder / f"a{packager.suffix}", folder / f"b{packager.suffix}"
    first = tree(packager.assemble(folder, wheels, archive=one))
    second = tree(packager.assemble(folder, wheels, archive=other))
    assert first == second
    assert one.read_bytes() == other.read_bytes()


def check_sidecars_that_cannot_be_told_apart_are_refused(
    packager: Packager, platforms: list[Any], says: str, folder: Path, wheels: tuple[Wheel, ...]
) -> None:
    sidecars = [fake_sidecar(folder / f"s{number}", platform) for number, platform in enumerate(platforms)]
    with pytest.raises(PackagingFailed, match=says):
        packager.assemble(folder, wheels, sidecars=sidecars)
    assert not (folder / "out").exists()


def check_a_folder_that_is_no_sidecar_is_refused(packager: Packager, folder: Path, wheels: tuple[Wheel, ...]) -> None:
    with pytest.raises(PackagingFailed, match="is no folder that `parley package sidecar` made"):
        packager.assemble(folder, wheels, sidecars=[folder / "wheels"])
    assert not (folder / "out").exists()


def check_a_sidecar_of_another_version_is_refused(packager: Packager, folder: Path, wheels: tuple[Wheel, ...]) -> None:
    sidecar = fake_sidecar(folder / "sidecar", "linux-x64")
    (sidecar / "sidecar.json").write_text('{"platform": "linux-x64", "version": "0.0.1"}', encoding="utf-8")
    with pytest.raises(PackagingFailed, match=r"is of Parley 0\.0\.1, and this is .*; package it anew"):
        packager.assemble(folder, wheels, sidecars=[sidecar])
    assert not (folder / "out").exists()


def check_nothing_is_written_into_what_is_replaced_or_copied(
    packager: Packager, out: str, archive: str | None, says: str, folder: Path, wheels: tuple[Wheel, ...]
) -> None:
    sidecar = fake_sidecar(folder / "sidecar", "linux-x64")
    (folder / f"folder{packager.suffix}").mkdir()
    packager.assemble(folder, wheels)
    before = tree(folder)
    with pytest.raises(PackagingFailed, match=says):
        packager.package(
            folder / out, wheels_folder=folder / "wheels", wheels=wheels, sidecars=[sidecar],
            archive=None if archive is None else folder / archive,
        )  # fmt: skip
    assert tree(folder) == before


def check_a_strangers_folder_is_refused_before_anything_is_downloaded(
    packager: Packager, folder: Path, wheels: tuple[Wheel, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packager.module, "collect", lambda *_: pytest.fail("it went for the wheels"))
    check_a_strangers_folder_is_left_alone(packager, folder, wheels)


def check_a_strangers_folder_is_left_alone(packager: Packager, folder: Path, wheels: tuple[Wheel, ...]) -> None:
    (folder / "out").mkdir()
    (folder / "out" / "thesis.txt").write_text("my only copy", encoding="utf-8")
    with pytest.raises(PackagingFailed, match="holds files that Parley did not put there"):
        packager.assemble(folder, wheels)
    assert tree(folder / "out") == {"thesis.txt": b"my only copy"}


def check_the_command_says_what_is_wrong_in_one_line(packager: Packager, folder: Path) -> None:
    code, out, err = parley("package", packager.engine, "--out", str(folder / "out"), "--wheels", str(folder))
    assert (code, out) == (1, "")
    lines = [line for line in err.splitlines() if "there is no pyzmq" in line]
    assert len(lines) == 1 and "Traceback" not in err
    assert not (folder / "out").exists()


def check_a_full_disk_is_said_so(
    packager: Packager, folder: Path, wheels: tuple[Wheel, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(work: Path, natives: Natives) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(work / "libzmq"))

    monkeypatch.setattr(packager.module, "_add_natives", full)
    with pytest.raises(PackagingFailed, match="No space left on device") as fault:
        packager.assemble(folder, wheels)
    assert "free some space" in str(fault.value)
    assert not (folder / "out").exists()


def packaged_for_real(packager: Packager, out: Path, full: bool) -> Path:
    """A package with the real libraries. Skips the test where they cannot be had."""
    if not full:
        pytest.skip("downloads 7 MB from the package index: only with --full")
    try:
        return packager.package(out)
    except PackagingFailed as fault:
        if "pip could not download" not in str(fault):
            raise
        pytest.skip(f"the package index is out of reach: {fault}")


def check_libzmq_loads_with_the_sodium_beside_it(libzmq: Path, sodium: str) -> None:
    """Where this is the system that they are for."""
    if sys.platform == "linux":
        variables = {key: value for key, value in environment().items() if key != "LD_LIBRARY_PATH"}
        done = subprocess.run(
            [sys.executable, "-c", _LOAD, str(libzmq)],
            env=variables, capture_output=True, text=True, timeout=PATIENCE_S, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert done.stdout.split() == [str(libzmq.parent / sodium)]


def missing_dlls(folder: Path) -> set[str]:
    """What the DLLs of a folder ask for that is neither there nor in every Windows."""
    windows = ("kernel32", "advapi32", "ws2_32", "iphlpapi", "api-ms-win-crt-")
    there = {path.name.lower() for path in folder.iterdir()}
    wanted = {name.lower() for path in folder.glob("*.dll") for name in imported_dlls(path.read_bytes())}
    return {name for name in wanted if name not in there and not name.startswith(windows)}


def imported_dlls(data: bytes) -> list[str]:
    """The names in a PE file's import table."""

    def number(at: int, size: int = 4) -> int:
        return int.from_bytes(data[at : at + size], "little")

    header = number(0x3C) + 4
    optional = header + 20
    sections = optional + number(header + 16, 2)

    def at(address: int) -> int:
        for index in range(number(header + 2, 2)):
            row = sections + 40 * index
            if number(row + 12) <= address < number(row + 12) + number(row + 16):
                return address - number(row + 12) + number(row + 20)
        raise AssertionError(f"no section has {address:x}")

    names, row = [], at(number(optional + 112 + 8))
    while number(row + 12):
        begin = at(number(row + 12))
        names.append(data[begin : data.index(b"\0", begin)].decode())
        row += 20
    return names

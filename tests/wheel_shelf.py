"""Wheels and sidecars that hold little, for tests that package."""

from __future__ import annotations

import hashlib
import json
import zipfile
from dataclasses import replace
from pathlib import Path

import bridge
from bridge.packaging.native_zmq import LINUX_SODIUM, Wheel

ELF = b"\x7fELF" + bytes(60) + f"\0libc.so.6\0{LINUX_SODIUM}\0$ORIGIN\0".encode()


def fake_wheel(wheel: Wheel, folder: Path, **contents: bytes) -> Wheel:
    """A wheel with the same names in it, pinned anew."""
    name = wheel.file.split("-")[0]
    info = f"{name}-{wheel.version}.dist-info"
    tags = wheel.file.removesuffix(".whl").split("-", 2)[2].split("-")
    wheel_tags = "\n".join(f"Tag: {tags[0]}-{tags[1]}-{one}" for one in tags[2].split("."))
    with zipfile.ZipFile(folder / wheel.file, "w") as archive:
        for taken in (*wheel.taken, *wheel.licences):
            plain = ELF if taken.target == "linux-x64/libzmq.so" else f"{taken.target} of a test\r\n".encode()
            archive.writestr(taken.member, contents.get(taken.target.rpartition("/")[2].partition(".")[0], plain))
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {wheel.version}\n")
        archive.writestr(f"{info}/WHEEL", f"Wheel-Version: 1.0\nRoot-Is-Purelib: false\n{wheel_tags}\n")
        archive.writestr(f"{info}/RECORD", "")
    return replace(wheel, sha256=hashlib.sha256((folder / wheel.file).read_bytes()).hexdigest())


def fake_sidecar(folder: Path, platform: str) -> Path:
    """What `parley package sidecar` makes, with little in it."""
    (folder / "_internal").mkdir(parents=True)
    (folder / "sidecar.json").write_text(
        json.dumps({"platform": platform, "version": bridge.__version__}), encoding="utf-8"
    )
    (folder / "parley").write_bytes(b"program")
    (folder / "parley").chmod(0o755)
    (folder / "_internal" / "lib.so").write_bytes(b"library")
    return folder


def tree(folder: Path) -> dict[str, bytes]:
    """Every file of a folder with its content."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}

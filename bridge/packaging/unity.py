"""`parley package unity`: the Unity package as it is installed, with libzmq for each desktop, notices and sidecars."""

from __future__ import annotations

import gzip
import json
import shutil
import stat
import tarfile
from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath

import bridge
from bridge.codegen import TARGETS, difference, emit
from bridge.frozen import IS_FROZEN
from bridge.node import packaged_registry
from bridge.packaging import PackagingFailed
from bridge.packaging.native_zmq import WHEELS, Natives, Wheel, collect
from bridge.packaging.out_folder import failing_in_words, refuse_strangers, replacing
from bridge.packaging.sidecar import MARKER as SIDECAR_MARKER
from bridge.packaging.unity_meta import PACKAGE, write_metas

SOURCES = Path(bridge.__file__).resolve().parent.parent / "unity_package"
MARKER = ".parley-package.json"
"""What the folder says of itself, and how it is known again. Unity passes over names with a point."""
PLUGINS = "Plugins"
SIDECARS = "Sidecar~"
"""Unity passes over folders with a ~: what is in it is no plugin of the game."""
LICENCES = Path(__file__).parent / "licences"

Tell = Callable[[str], None]

_TARGET = "unity"
_SIDECAR_README = """# Sidecars

A folder here for each platform that the game is built for, such as `win-x64`: what `parley package sidecar --out DIR`
made on a machine of that kind. In the editor the one for this machine is started; a build puts the one for its platform
beside the player. `parley package unity --sidecar DIR` puts them here.
"""


def package_unity(
    out: Path,
    *,
    wheels_folder: Path | None = None,
    sidecars: Sequence[Path] = (),
    archive: Path | None = None,
    tell: Tell = lambda line: None,
    wheels: Sequence[Wheel] = WHEELS,
) -> Path:
    """Assembles the package in `out`, and in `archive` (a .tgz as Unity installs it) too. Returns `out`. Blocking.

    The same sources give the same bytes. Raises PackagingFailed.
    """
    found = [_facts_of(sidecar) for sidecar in sidecars]
    _refuse_twins(found)
    _check_sources()
    refuse_strangers(out, MARKER)
    _check_places(out, sidecars, archive)
    tell("collecting libzmq for Windows, macOS and Linux")
    natives = collect(wheels_folder, wheels)
    with replacing(out, MARKER) as work:
        _copy_sources(work)
        _add_natives(work, natives)
        slot = work / SIDECARS
        slot.mkdir()
        (slot / "README.md").write_text(_SIDECAR_README, encoding="utf-8")
        for folder, platform in zip(sidecars, found, strict=True):
            tell(f"adding the sidecar for {platform}")
            shutil.copytree(folder, slot / platform)
        facts = {
            "name": PACKAGE,
            "version": bridge.__version__,
            "sidecars": sorted(found),
            "libzmq": sorted(natives.files),
        }
        (work / MARKER).write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")
        write_metas(work)
        if archive is not None:
            tell(f"writing {archive.name}")
            with failing_in_words(f"write {archive}"):
                archive.parent.mkdir(parents=True, exist_ok=True)
                pack(work, archive)
    return out


def pack(folder: Path, archive: Path) -> None:
    """Writes the folder as npm packs it: a .tgz with all below `package/`. The same content gives the same bytes."""
    part = archive.with_name(f".{archive.name}.part")
    try:
        with (
            part.open("wb") as raw,
            gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as zipped,
            tarfile.open(fileobj=zipped, mode="w|", format=tarfile.PAX_FORMAT) as tar,
        ):
            for path in sorted(folder.rglob("*"), key=lambda path: path.relative_to(folder).as_posix()):
                if path.is_file():
                    entry = tarfile.TarInfo(f"package/{path.relative_to(folder).as_posix()}")
                    entry.size = path.stat().st_size
                    entry.mode = 0o755 if path.stat().st_mode & stat.S_IXUSR else 0o644
                    with path.open("rb") as data:
                        tar.addfile(entry, data)
        part.replace(archive)
    finally:
        part.unlink(missing_ok=True)


def _check_sources() -> None:
    if IS_FROZEN or not (SOURCES / "package.json").is_file():
        raise PackagingFailed("the Unity package is made from a checkout of Parley; this is an installed one")
    target = TARGETS[_TARGET]
    if difference(target, emit(target, packaged_registry()), SOURCES.parent / target.folder):
        raise PackagingFailed(f"{target.folder} is stale; run: parley codegen {_TARGET}")
    version = json.loads((SOURCES / "package.json").read_text(encoding="utf-8"))["version"]
    if version != bridge.__version__:
        raise PackagingFailed(
            f"package.json says version {version}, and Parley is {bridge.__version__}; make them agree"
        )


def _check_places(out: Path, sidecars: Sequence[Path], archive: Path | None) -> None:
    """Nothing that is written may lie in what is replaced or copied."""
    for sidecar in sidecars:
        if out.resolve().is_relative_to(sidecar.resolve()):
            raise PackagingFailed(f"{out} lies in the sidecar {sidecar}; name a folder beside it")
    if archive is None:
        return
    if not archive.name.endswith(".tgz"):
        raise PackagingFailed(f"the archive must end in .tgz, as Unity wants it: {archive.name}")
    if archive.is_dir():
        raise PackagingFailed(f"{archive} is a folder; name a file for the archive")
    for folder in (out, *sidecars):
        if archive.resolve().is_relative_to(folder.resolve()):
            raise PackagingFailed(f"the archive {archive} lies in {folder}; name a place outside of it")


def _copy_sources(work: Path) -> None:
    for path in sorted(SOURCES.rglob("*")):
        relative = PurePosixPath(path.relative_to(SOURCES).as_posix())
        if path.is_file() and not any(part.startswith(".") for part in relative.parts):
            target = work / relative
            target.parent.mkdir(parents=True, exist_ok=True)
            # Line ends as they are in the repository, whatever this checkout made of them.
            target.write_bytes(path.read_bytes().replace(b"\r\n", b"\n"))


def _add_natives(work: Path, natives: Natives) -> None:
    for name, data in natives.files.items():
        target = work / PLUGINS / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    (work / "Third Party Notices.md").write_text(notices(natives.licences), encoding="utf-8")
    (work / f"{PLUGINS}/GPL-3.0.txt").write_text((LICENCES / "GPL-3.0.txt").read_text("utf-8"), encoding="utf-8")


def notices(licences: dict[str, str]) -> str:
    """Whose libraries come along, and under which licences."""
    page = (LICENCES / "unity-notices.md").read_text(encoding="utf-8")
    for name, text in licences.items():
        page = page.replace(f"{{{{{name}}}}}", f"```text\n{text.strip()}\n```")
    return page


def _facts_of(folder: Path) -> str:
    """The platform that a packaged sidecar is for."""
    try:
        facts = json.loads((folder / SIDECAR_MARKER).read_text(encoding="utf-8"))
        platform, version = facts["platform"], facts["version"]
    except (OSError, ValueError, KeyError, TypeError):
        raise PackagingFailed(f"{folder} is no folder that `parley package sidecar` made") from None
    if not isinstance(platform, str) or not platform.replace("-", "").isalnum():
        raise PackagingFailed(f"{folder / SIDECAR_MARKER} names no platform")
    if version != bridge.__version__:
        raise PackagingFailed(
            f"the sidecar {folder} is of Parley {version}, and this is {bridge.__version__}; package it anew"
        )
    return platform


def _refuse_twins(platforms: Sequence[str]) -> None:
    for platform in platforms:
        if platforms.count(platform) > 1:
            raise PackagingFailed(f"two sidecars for {platform}; name one")

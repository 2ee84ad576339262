"""`parley package unreal`: the Unreal plugin as a project takes it, with libzmq, notices and sidecars."""

from __future__ import annotations

import hashlib
import json
import shutil
import stat
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

import bridge
from bridge.packaging import PackagingFailed
from bridge.packaging.engine_package import (
    Engine,
    Tell,
    add_libraries,
    add_sidecars,
    check_places,
    check_sources,
    copy_sources,
    files_of,
    notices,
    sidecar_platforms,
)
from bridge.packaging.native_zmq import WHEELS, Natives, Wheel, collect
from bridge.packaging.out_folder import failing_in_words, refuse_strangers, replacing

SOURCES = Path(bridge.__file__).resolve().parent.parent / "unreal_plugin"
NAME = "Parley"
MARKER = ".parley-package.json"
"""What the folder says of itself, and how it is known again."""
LIBRARIES = "Source/ThirdParty/libzmq"
"""Below Source, as third parties' files are in plugins: projects clean and ignore Binaries as what a build makes."""
SIDECARS = "Sidecar"
NOTICES = "ThirdPartyNotices.md"
PLATFORMS = {"win-x64": "Win64", "macos": "Mac", "linux-x64": "Linux"}
"""Unreal's names of the platforms: a folder called so is staged for that platform and for no other."""

_ENGINE = Engine("the Unreal plugin", "unreal", "Parley.uplugin", "VersionName", ".zip", "which every system unpacks")
_BUILT = ("Binaries", "Intermediate", "Saved", "DerivedDataCache")
"""What Unreal makes in a plugin's folder, and makes again."""
_LITTER = (".DS_Store", "Thumbs.db", "desktop.ini")
_SHOWN = 3
_HOSTS = {"win": {"win64", "windows", "microsoft"}, "macos": {"mac", "apple"}, "linux": {"linux", "unix"}}
_NEVER_STAGED = {"hololens", "linuxarm64", "android", "ios", "tvos", "visionos", "noredist", "notforlicensees",
                 "epicinternal", "carefullyredist", "limitedaccess", "restricted"}  # fmt: skip
_SIDECAR_README = """# Sidecars

A folder here for each platform that the game is built for, such as `win-x64`: what `parley package sidecar --out DIR`
made on a machine of that kind. In the editor the one for this machine is started; a packaged game takes the one for its
platform along. `parley package unreal --sidecar DIR` puts them here.
"""


def package_unreal(
    out: Path,
    *,
    wheels_folder: Path | None = None,
    sidecars: Sequence[Path] = (),
    archive: Path | None = None,
    tell: Tell = lambda line: None,
    wheels: Sequence[Wheel] = WHEELS,
) -> Path:
    """Assembles the plugin in `out`, and in `archive` (a .zip with a folder `Parley` in it) too. Returns `out`.

    Blocking. The same sources give the same bytes. Raises PackagingFailed.
    """
    platforms = sidecar_platforms(sidecars)
    check_sources(_ENGINE, SOURCES)
    refuse_strangers(out, MARKER)
    _refuse_work(out)
    check_places(_ENGINE, SOURCES, out, sidecars, archive)
    for folder, platform in zip(sidecars, platforms, strict=True):
        _tell_what_is_not_staged(folder, platform, tell)
    tell("collecting libzmq for Windows, macOS and Linux")
    # As they are in the wheels: Unreal stages and loads a library whatever its name ends in.
    natives = collect(wheels_folder, wheels)
    with replacing(out, MARKER) as work:
        copy_sources(SOURCES, work, _is_left_out)
        _add_natives(work, natives)
        add_sidecars(sidecars, platforms, work / SIDECARS, _SIDECAR_README, tell)
        facts = {
            "name": NAME,
            "version": bridge.__version__,
            "sidecars": sorted(platforms),
            "libzmq": sorted(_libraries(natives)),
            "files": {name: _fingerprint(name, path) for name, path in _kept(work)},
        }
        (work / MARKER).write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")
        if archive is not None:
            tell(f"writing {archive.name}")
            with failing_in_words(f"write {archive}"):
                archive.parent.mkdir(parents=True, exist_ok=True)
                pack(work, archive)
        _refuse_work(out)
    return out


def pack(folder: Path, archive: Path) -> None:
    """Writes the folder as a .zip with all below `Parley/`. The same content gives the same bytes."""
    part = archive.with_name(f".{archive.name}.part")
    try:
        with zipfile.ZipFile(part, "w") as zipped:
            for name, path in files_of(folder):
                entry = zipfile.ZipInfo(f"{NAME}/{name}")  # its date is the first that a .zip can have
                entry.create_system = 3  # permissions are kept as on Unix, on whatever system it is made
                mode = 0o755 if path.stat().st_mode & stat.S_IXUSR else 0o644
                entry.external_attr = (stat.S_IFREG | mode) << 16
                entry.compress_type = zipfile.ZIP_DEFLATED
                entry.file_size = path.stat().st_size
                with path.open("rb") as data, zipped.open(entry, "w") as packed:
                    shutil.copyfileobj(data, packed, 1 << 20)
        part.replace(archive)
    finally:
        part.unlink(missing_ok=True)


def _is_left_out(path: PurePosixPath) -> bool:
    """What a developer's checkout may have beside the sources: builds, and what an earlier package put there."""
    return path.parts[0] in (*_BUILT, SIDECARS) or path.is_relative_to(LIBRARIES) or path.name in _LITTER


def _libraries(natives: Natives) -> dict[str, bytes]:
    """The libraries by their path below LIBRARIES."""
    found = {}
    for name, data in natives.files.items():
        platform, _, file = name.partition("/")
        found[f"{PLATFORMS[platform]}/{file}"] = data
    return found


def _add_natives(work: Path, natives: Natives) -> None:
    add_libraries(work, _libraries(natives), LIBRARIES)
    page = notices("unreal-notices.md", natives.licences, changed="The libraries are unchanged.", place=LIBRARIES)
    (work / NOTICES).write_text(page, encoding="utf-8")


# ---- what somebody did in the folder since -------------------------------------------------------------------


def _refuse_work(out: Path) -> None:
    """Raises PackagingFailed where somebody changed or added a file in a plugin that was packaged before.

    Plugins are built, and often edited, right where they are installed; what Unreal builds there may go.
    """
    if not (out / MARKER).is_file():
        return
    with failing_in_words(f"look into {out}"):
        try:
            known = json.loads((out / MARKER).read_text(encoding="utf-8"))["files"]
            theirs = [name for name, path in _kept(out) if known.get(name) != _fingerprint(name, path)]
        except (ValueError, KeyError, TypeError, AttributeError):
            raise PackagingFailed(f"{out / MARKER} cannot be read; move {out} away, or name another folder") from None
    if theirs:
        shown = ", ".join(theirs[:_SHOWN]) + (f" and {len(theirs) - _SHOWN} more" if len(theirs) > _SHOWN else "")
        raise PackagingFailed(
            f"{out} was changed since it was packaged, and that would be lost: {shown}; move that away, or name "
            "another folder"
        )


def _kept(folder: Path) -> Iterator[tuple[str, Path]]:
    """The files that nobody but a person, or this packager, puts there."""
    for name, path in files_of(folder):
        if name != MARKER and name.partition("/")[0] not in _BUILT and path.name not in _LITTER:
            yield name, path


def _fingerprint(name: str, path: Path) -> str:
    """What a file is known by. Sidecars are programs and models, up to gigabytes: their sizes do."""
    if name.startswith(f"{SIDECARS}/"):
        return f"{path.stat().st_size} bytes"
    # Whoever keeps a game in Git on Windows may have other line ends.
    return hashlib.sha256(path.read_bytes().replace(b"\r\n", b"\n")).hexdigest()


# ---- what Unreal does not stage ------------------------------------------------------------------------------


def _tell_what_is_not_staged(sidecar: Path, platform: str, tell: Tell) -> None:
    """Unreal leaves out what lies in a folder that is called like another platform, or like one that must not ship."""
    system = platform.partition("-")[0]
    foreign = {name for host, names in _HOSTS.items() if host != system for name in names} | _NEVER_STAGED
    for path in sorted(sidecar.rglob("*")):
        if path.is_dir() and path.name.lower() in foreign:
            tell(
                f"note: Unreal may refuse to stage {path.relative_to(sidecar).as_posix()} of the sidecar for "
                f"{platform}: it keeps folders of that name for something else"
            )

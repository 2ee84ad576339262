"""`parley package unity`: the Unity package as it is installed, with libzmq for each desktop, notices and sidecars."""

from __future__ import annotations

import gzip
import json
import stat
import tarfile
from collections.abc import Sequence
from pathlib import Path

import bridge
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
from bridge.packaging.native_zmq import WHEELS, Natives, Wheel, collect, with_so_endings
from bridge.packaging.out_folder import failing_in_words, refuse_strangers, replacing
from bridge.packaging.unity_meta import PACKAGE, write_metas

SOURCES = Path(bridge.__file__).resolve().parent.parent / "unity_package"
MARKER = ".parley-package.json"
"""What the folder says of itself, and how it is known again. Unity passes over names with a point."""
PLUGINS = "Plugins"
SIDECARS = "Sidecar~"
"""Unity passes over folders with a ~: what is in it is no plugin of the game."""

_ENGINE = Engine("the Unity package", "unity", "package.json", "version", ".tgz", "as Unity wants it")
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
    platforms = sidecar_platforms(sidecars)
    check_sources(_ENGINE, SOURCES)
    refuse_strangers(out, MARKER)
    check_places(_ENGINE, SOURCES, out, sidecars, archive)
    tell("collecting libzmq for Windows, macOS and Linux")
    # Unity takes only files that end in .so for libraries.
    natives = with_so_endings(collect(wheels_folder, wheels))
    with replacing(out, MARKER) as work:
        copy_sources(SOURCES, work)
        _add_natives(work, natives)
        add_sidecars(sidecars, platforms, work / SIDECARS, _SIDECAR_README, tell)
        facts = {
            "name": PACKAGE,
            "version": bridge.__version__,
            "sidecars": sorted(platforms),
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
            for name, path in files_of(folder):
                entry = tarfile.TarInfo(f"package/{name}")
                entry.size = path.stat().st_size
                entry.mode = 0o755 if path.stat().st_mode & stat.S_IXUSR else 0o644
                with path.open("rb") as data:
                    tar.addfile(entry, data)
        part.replace(archive)
    finally:
        part.unlink(missing_ok=True)


def _add_natives(work: Path, natives: Natives) -> None:
    add_libraries(work, natives.files, PLUGINS)
    changed = "One thing was changed in the library for Linux: the file\nname of libsodium that it asks for."
    page = notices("unity-notices.md", natives.licences, changed=changed, place=PLUGINS)
    (work / "Third Party Notices.md").write_text(page, encoding="utf-8")

"""What the packages for Unity and Unreal have in common: sources of a checkout, libzmq, sidecars, notices."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import bridge
from bridge.codegen import TARGETS, difference, emit
from bridge.frozen import IS_FROZEN
from bridge.node import packaged_registry
from bridge.packaging import PackagingFailed
from bridge.packaging.sidecar import MARKER as SIDECAR_MARKER

LICENCES = Path(__file__).parent / "licences"

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Engine:
    """How the package of one engine is called, and where it says so."""

    package: str
    """As a sentence begins with it: "the Unity package"."""
    target: str
    """Of `parley codegen`."""
    manifest: str
    version_key: str
    archive_ending: str
    archive_reason: str


def check_sources(engine: Engine, sources: Path) -> None:
    """Raises PackagingFailed where this is no checkout, or where what is generated or the version is stale."""
    if IS_FROZEN or not (sources / engine.manifest).is_file():
        raise PackagingFailed(f"{engine.package} is made from a checkout of Parley; this is an installed one")
    target = TARGETS[engine.target]
    if difference(target, emit(target, packaged_registry()), sources.parent / target.folder):
        raise PackagingFailed(f"{target.folder} is stale; run: parley codegen {engine.target}")
    version = json.loads((sources / engine.manifest).read_text(encoding="utf-8"))[engine.version_key]
    if version != bridge.__version__:
        raise PackagingFailed(
            f"{engine.manifest} says version {version}, and Parley is {bridge.__version__}; make them agree"
        )


def check_places(engine: Engine, sources: Path, out: Path, sidecars: Sequence[Path], archive: Path | None) -> None:
    """Nothing that is written may lie in what is replaced or copied. Raises PackagingFailed."""
    for sidecar in sidecars:
        if out.resolve().is_relative_to(sidecar.resolve()):
            raise PackagingFailed(f"{out} lies in the sidecar {sidecar}; name a folder beside it")
    for place in (out, archive):
        # The next package would have it in itself.
        if place is not None and place.resolve().is_relative_to(sources.resolve()):
            raise PackagingFailed(f"{place} lies in {sources}, which is copied; name a place outside of it")
    if archive is None:
        return
    if not archive.name.endswith(engine.archive_ending):
        raise PackagingFailed(
            f"the archive must end in {engine.archive_ending}, {engine.archive_reason}: {archive.name}"
        )
    if archive.is_dir():
        raise PackagingFailed(f"{archive} is a folder; name a file for the archive")
    for folder in (out, *sidecars):
        if archive.resolve().is_relative_to(folder.resolve()):
            raise PackagingFailed(f"the archive {archive} lies in {folder}; name a place outside of it")


def sidecar_platforms(sidecars: Iterable[Path]) -> list[str]:
    """The platform that each packaged sidecar is for. Raises PackagingFailed where one is none, or two are the same."""
    platforms = [_platform_of(sidecar) for sidecar in sidecars]
    for platform in platforms:
        if platforms.count(platform) > 1:
            raise PackagingFailed(f"two sidecars for {platform}; name one")
    return platforms


def copy_sources(sources: Path, work: Path, left_out: Callable[[PurePosixPath], bool] = lambda path: False) -> None:
    """Copies what belongs to the package: no names with a point in front, nothing that `left_out` says."""
    for path in sorted(sources.rglob("*")):
        relative = PurePosixPath(path.relative_to(sources).as_posix())
        if path.is_file() and not any(part.startswith(".") for part in relative.parts) and not left_out(relative):
            target = work / relative
            target.parent.mkdir(parents=True, exist_ok=True)
            # Line ends as they are in the repository, whatever this checkout made of them.
            target.write_bytes(path.read_bytes().replace(b"\r\n", b"\n"))


def add_sidecars(sidecars: Sequence[Path], platforms: Sequence[str], slot: Path, readme: str, tell: Tell) -> None:
    """Puts each sidecar into a folder named by its platform, and a page beside them."""
    slot.mkdir()
    (slot / "README.md").write_text(readme, encoding="utf-8")
    for folder, platform in zip(sidecars, platforms, strict=True):
        tell(f"adding the sidecar for {platform}")
        shutil.copytree(folder, slot / platform)


def add_libraries(work: Path, libraries: Mapping[str, bytes], place: str) -> None:
    """Writes the libraries below `place`, with the licence that one of them refers to."""
    for name, data in libraries.items():
        target = work / place / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    (work / place / "GPL-3.0.txt").write_text((LICENCES / "GPL-3.0.txt").read_text("utf-8"), encoding="utf-8")


def notices(page: str, licences: Mapping[str, str], *, changed: str, place: str) -> str:
    """Whose libraries come along, and under which licences.

    `page` is a file of `licences/`; `changed` says what was changed in libzmq, `place` where the libraries are.
    """
    parts = {
        "libzmq": (LICENCES / "libzmq-notices.md").read_text(encoding="utf-8").strip(),
        "changed": changed,
        "gpl_place": f"{place}/GPL-3.0.txt",
        **{name: f"```text\n{text.strip()}\n```" for name, text in licences.items()},
    }
    text = (LICENCES / page).read_text(encoding="utf-8")
    for name, part in parts.items():
        text = text.replace(f"{{{{{name}}}}}", part)
    return text


def files_of(folder: Path) -> Iterator[tuple[str, Path]]:
    """Every file below the folder with its path from there on, always in the same order."""
    found = ((path.relative_to(folder).as_posix(), path) for path in folder.rglob("*") if path.is_file())
    yield from sorted(found)


def _platform_of(folder: Path) -> str:
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

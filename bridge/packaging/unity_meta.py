"""The .meta file beside every file and folder of the Unity package: Unity knows assets by the guid in it.

A package that Unity got from elsewhere can't be written to: a file without a .meta is not imported. So all are made
here. The guid comes from the path, which makes it the same on every machine; a file that is moved keeps its guid where
its .meta moves along, so that scenes which use a script still find it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from bridge.files import write_atomically
from bridge.packaging import PackagingFailed

PACKAGE = "com.parley.bridge"
SAMPLES = "Samples~"

_GUID = re.compile(r"^guid: ([0-9a-f]{32})$", re.MULTILINE)

_TAIL = ("userData: ", "assetBundleName: ", "assetBundleVariant: ")
_SCRIPT = ("serializedVersion: 2", "defaultReferences: []", "executionOrder: 0", "icon: {instanceID: 0}")

_BY_SUFFIX = {
    ".asmdef": "AssemblyDefinitionImporter",
    ".cs": "MonoImporter",
    ".json": "TextScriptImporter",
    ".md": "TextScriptImporter",
    ".txt": "TextScriptImporter",
    ".unity": "DefaultImporter",
    ".xml": "TextScriptImporter",
}
_SCRIPTED = {".uss": 12385, ".tss": 12388, ".uxml": 13804}
"""The numbers of UI Toolkit's own importers."""
_PLUGINS = {".dll": ("Win64", "Windows"), ".dylib": ("OSXUniversal", "OSX"), ".so": ("Linux64", "Linux")}
"""(build target, editor's system) of native libraries, by their suffix."""


def is_imported(relative: PurePosixPath) -> bool:
    """Whether Unity makes an asset of this path of a package, and so needs its .meta.

    Names that begin with a point or end with ~ it passes over. `Samples~` it passes over as well, but copies what is
    in it to a project's Assets: those files bring their .meta along.
    """
    parts = relative.parts
    if parts[:1] == (SAMPLES,):
        parts = parts[1:]
    return bool(parts) and not any(part.startswith(".") or part.endswith("~") for part in parts)


def assets(root: Path) -> Iterator[PurePosixPath]:
    """Every file and folder below `root` that needs a .meta, sorted. Empty folders need none: git has none."""
    found = set()
    for path in root.rglob("*"):
        relative = PurePosixPath(path.relative_to(root).as_posix())
        if path.is_file() and path.suffix != ".meta" and is_imported(relative):
            found.add(relative)
            found.update(parent for parent in relative.parents if parent.parts and is_imported(parent))
    yield from sorted(found, key=str)


def metas(root: Path) -> dict[str, str]:
    """The text of every .meta file below `root`, by its path there. Raises PackagingFailed."""
    texts, owners = {}, dict[str, str]()
    for relative in assets(root):
        name = f"{relative}.meta"
        guid = _guid_there(root / name)
        if not guid or guid in owners:
            guid = guid_of(str(relative))
        if guid in owners:
            raise PackagingFailed(f"{name} and {owners[guid]} have the same guid; delete one of the two")
        owners[guid] = name
        texts[name] = meta_text(relative, guid, is_folder=(root / relative).is_dir())
    return texts


def guid_of(path: str) -> str:
    """The guid of a new file, by its path in the package."""
    return hashlib.md5(f"{PACKAGE}/{path}".encode(), usedforsecurity=False).hexdigest()


def meta_text(relative: PurePosixPath, guid: str, *, is_folder: bool) -> str:
    """What Unity writes beside an asset of this name. Raises PackagingFailed for a kind that is not known here."""
    head = ["fileFormatVersion: 2", f"guid: {guid}"]
    if is_folder:
        return _text([*head, "folderAsset: yes", "DefaultImporter:", *_block()])
    if str(relative) == "package.json":
        return _text([*head, "PackageManifestImporter:", *_block()])
    suffix = relative.suffix.lower()
    if suffix in _PLUGINS:
        return _text([*head, "PluginImporter:", *_plugin(*_PLUGINS[suffix])])
    if suffix in _SCRIPTED:
        return _text([*head, "ScriptedImporter:", *_scripted(suffix)])
    importer = _BY_SUFFIX.get(suffix)
    if importer is None:
        raise PackagingFailed(f"no .meta is known for {relative}: teach bridge/packaging/unity_meta.py its importer")
    return _text([*head, f"{importer}:", *_block(*(_SCRIPT if importer == "MonoImporter" else ()))])


def write_metas(root: Path) -> list[str]:
    """Brings the .meta files below `root` in line; returns what changed. Those of files that are gone go too."""
    changed = []
    for name, (old, new) in _compare(root).items():
        if old == new:
            continue
        if new is None:
            (root / name).unlink()
        else:
            write_atomically(root / name, new.encode(), mode=0o644)
        changed.append(name)
    return changed


def stale_metas(root: Path) -> list[str]:
    """What `write_metas` would change."""
    return [name for name, (old, new) in _compare(root).items() if old != new]


def _compare(root: Path) -> dict[str, tuple[str | None, str | None]]:
    wanted = metas(root)
    there = {path.relative_to(root).as_posix() for path in root.rglob("*.meta")}
    return {name: (_read(root / name), wanted.get(name)) for name in sorted(there | set(wanted))}


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except (FileNotFoundError, UnicodeDecodeError):
        return None


def _guid_there(path: Path) -> str:
    found = _GUID.search(_read(path) or "")
    return found[1] if found else ""


def _block(*own: str) -> list[str]:
    return [f"  {line}" for line in ("externalObjects: {}", *own, *_TAIL)]


def _scripted(suffix: str) -> list[str]:
    script = f"script: {{fileID: {_SCRIPTED[suffix]}, guid: 0000000000000000e000000000000000, type: 0}}"
    lines = ["internalIDToNameTable: []", "externalObjects: {}", "serializedVersion: 2", *_TAIL, script]
    return [f"  {line}" for line in (*lines, *(["disableValidation: 0"] if suffix != ".uxml" else []))]


def _plugin(target: str, system: str) -> list[str]:
    """A native library for one 64-bit desktop, in builds and in the editor there."""
    rows: list[tuple[str, str, bool, tuple[str, ...]]] = [("Any", "", False, ())]
    cpu = "AnyCPU" if target == "OSXUniversal" else "x86_64"
    editor = (f"CPU: {cpu}", "DefaultValueInitialized: true", f"OS: {system}")
    rows.append(("Editor", "Editor", True, editor))
    for other in ("Linux64", "OSXUniversal", "Win", "Win64"):
        own = other == target
        rows.append(("Standalone", other, own, (f"CPU: {cpu if own else 'None'}",)))
    lines = [
        "externalObjects: {}", "serializedVersion: 2", "iconMap: {}", "executionOrder: {}", "defineConstraints: []",
        "isPreloaded: 0", "isOverridable: 0", "isExplicitlyReferenced: 0", "validateReferences: 1", "platformData:",
    ]  # fmt: skip
    for group, name, enabled, settings in rows:
        lines += ["- first:", f"    {group}: {name}", "  second:", f"    enabled: {int(enabled)}"]
        lines += ["    settings:", *(f"      {line}" for line in settings)] if settings else ["    settings: {}"]
    return [f"  {line}" for line in (*lines, *_TAIL)]


def _text(lines: list[str]) -> str:
    return "\n".join(lines) + "\n"

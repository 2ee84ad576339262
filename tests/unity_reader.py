"""Reads a Unity package the way Unity does, without Unity: assets and their .meta files, assemblies, the manifest."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any

GUID = re.compile(r"[0-9a-f]{32}")
NAME = re.compile(r"[a-z0-9][a-z0-9._-]*(\.[a-z0-9][a-z0-9_-]*){2,}")
VERSION = re.compile(r"\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?")
KNOWN_KEYS = {"name", "version", "displayName", "description", "unity", "unityRelease", "keywords", "license", "author",
              "dependencies", "samples", "documentationUrl", "changelogUrl", "licensesUrl", "hideInEditor"}  # fmt: skip
UNITY_ASSEMBLIES = {"UnityEngine.TestRunner": "", "UnityEditor.TestRunner": "", "UnityEngine.UI": "com.unity.ugui",
                    "UnityEditor.UI": "com.unity.ugui", "Unity.TextMeshPro": "com.unity.textmeshpro"}  # fmt: skip
"""Assemblies outside the package that may be referenced, and the package that must then be a dependency."""
MODULES = {
    r"\bUnityEngine\.UIElements\b": "com.unity.modules.uielements",
    r"\bAudio(Clip|Source)\b": "com.unity.modules.audio",
    r"\bUnityWebRequest\b": "com.unity.modules.unitywebrequest",
    r"\b(Editor)?GUI(Layout)?\.": "com.unity.modules.imgui",
}
"""Parts of Unity that a project may have switched off, by what shows that code needs them."""
IMPORTERS = {".cs": "MonoImporter", ".asmdef": "AssemblyDefinitionImporter", ".dll": "PluginImporter",
             ".so": "PluginImporter", ".dylib": "PluginImporter", ".uss": "ScriptedImporter",
             ".tss": "ScriptedImporter", ".uxml": "ScriptedImporter"}  # fmt: skip
UNITY_TYPES = re.compile(
    r"class\s+(\w+)\s*:\s*(?:MonoBehaviour|ScriptableObject|EditorWindow|ScriptableSingleton|UnityEditor\.Editor)\b"
)
_RESERVED = re.compile(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?")


@dataclass(frozen=True)
class Assembly:
    """One .asmdef and the C# that belongs to it."""

    file: PurePosixPath
    facts: dict[str, Any]
    sources: tuple[PurePosixPath, ...]

    @property
    def name(self) -> str:
        return str(self.facts["name"])

    @property
    def references(self) -> tuple[str, ...]:
        return tuple(self.facts.get("references", ()))

    @property
    def is_for_editor(self) -> bool:
        return self.facts.get("includePlatforms") == ["Editor"]

    @property
    def is_for_tests(self) -> bool:
        return "UNITY_INCLUDE_TESTS" in self.facts.get("defineConstraints", ())

    @property
    def is_sample(self) -> bool:
        return self.file.parts[0] == "Samples~"


class Package:
    """A folder with a package.json."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @cached_property
    def manifest(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.root / "package.json").read_text(encoding="utf-8"))
        return found

    @cached_property
    def assets(self) -> set[PurePosixPath]:
        """What Unity imports, files and folders, and what it copies into a project with a sample."""
        found = set()
        for path in self.root.rglob("*"):
            relative = PurePosixPath(path.relative_to(self.root).as_posix())
            inner = relative.parts[1:] if relative.parts[0] == "Samples~" else relative.parts
            hidden = not inner or any(part.startswith(".") or part.endswith(("~", ".tmp")) for part in inner)
            if not hidden and path.suffix != ".meta" and (path.is_file() or any(path.iterdir())):
                found.add(relative)
        return found

    @cached_property
    def assemblies(self) -> list[Assembly]:
        """Every .asmdef; a source belongs to that of the nearest folder around it."""
        files = sorted(path for path in self.assets if path.suffix == ".asmdef")
        owned: dict[PurePosixPath, list[PurePosixPath]] = {file: [] for file in files}
        for source in sorted(path for path in self.assets if path.suffix == ".cs"):
            owner = next((file for parent in source.parents for file in files if file.parent == parent), None)
            if owner is not None:
                owned[owner].append(source)
        return [Assembly(file, json.loads(self.text(file)), tuple(sources)) for file, sources in owned.items()]

    def text(self, relative: PurePosixPath) -> str:
        return (self.root / relative).read_text(encoding="utf-8")

    def in_build_order(self) -> list[Assembly]:
        """Assemblies, each after those that it references. Fails on a circle."""
        done: list[Assembly] = []
        left = list(self.assemblies)
        ours = {assembly.name for assembly in left}
        while left:
            built = {assembly.name for assembly in done}
            ready = [one for one in left if all(name in built or name not in ours for name in one.references)]
            assert ready, f"assemblies reference each other in a circle: {[one.name for one in left]}"
            done += ready
            left = [one for one in left if one not in ready]
        return done


def problems(package: Package) -> list[str]:
    """Everything that Unity would stumble over, one sentence each."""
    return [*_of_metas(package), *_of_manifest(package), *_of_assemblies(package), *_of_sources(package),
            *_of_names(package)]  # fmt: skip


def _of_metas(package: Package) -> Iterator[str]:
    owners: dict[str, PurePosixPath] = {}
    for asset in sorted(package.assets):
        meta = package.root / f"{asset}.meta"
        if not meta.is_file():
            yield f"{asset} has no .meta"
            continue
        facts = dict(line.split(": ", 1) for line in meta.read_text("utf-8").splitlines() if ": " in line)
        guid = facts.get("guid", "")
        if facts.get("fileFormatVersion") != "2" or not GUID.fullmatch(guid) or guid == "0" * 32:
            yield f"{asset}.meta is not a .meta of Unity"
        if guid in owners:
            yield f"{asset} and {owners[guid]} have the same guid"
        owners[guid] = asset
        if (facts.get("folderAsset") == "yes") != (package.root / asset).is_dir():
            yield f"{asset}.meta mixes up a file and a folder"
        importer = IMPORTERS.get(asset.suffix, "") if (package.root / asset).is_file() else "DefaultImporter"
        if importer and f"\n{importer}:\n" not in meta.read_text("utf-8"):
            yield f"{asset}.meta names another importer than {importer}"
    for meta in sorted(package.root.rglob("*.meta")):
        named = PurePosixPath(meta.relative_to(package.root).as_posix()).with_suffix("")
        if named not in package.assets:
            yield f"{named}.meta belongs to nothing"


def _of_manifest(package: Package) -> Iterator[str]:
    manifest = package.manifest
    if not NAME.fullmatch(str(manifest.get("name", ""))):
        yield f"package.json: the name is {manifest.get('name')!r}"
    if not VERSION.fullmatch(str(manifest.get("version", ""))):
        yield f"package.json: the version is {manifest.get('version')!r}"
    if not re.fullmatch(r"\d{4}\.\d+", str(manifest.get("unity", ""))):
        yield f"package.json: unity is {manifest.get('unity')!r}"
    for key in sorted(set(manifest) - KNOWN_KEYS):
        yield f"package.json: Unity knows no {key!r}"
    for name, version in manifest.get("dependencies", {}).items():
        if not NAME.fullmatch(name) or not VERSION.fullmatch(version):
            yield f"package.json: the dependency {name} {version} is none"
    for sample in manifest.get("samples", ()):
        folder = package.root / sample["path"]
        if not sample["path"].startswith("Samples~/") or not folder.is_dir() or not any(folder.iterdir()):
            yield f"package.json: there is no sample in {sample['path']}"


def _of_assemblies(package: Package) -> Iterator[str]:
    by_name: dict[str, Assembly] = {}
    for assembly in package.assemblies:
        where = str(assembly.file)
        if assembly.name in by_name:
            yield f"{where}: there are two assemblies called {assembly.name}"
        by_name[assembly.name] = assembly
        if assembly.file.stem != assembly.name:
            yield f"{where}: the file is called otherwise than the assembly"
    folders = [assembly.file.parent for assembly in package.assemblies]
    for folder in {folder for folder in folders if folders.count(folder) > 1}:
        yield f"{folder}: two .asmdef in one folder"
    for assembly in by_name.values():
        for name in assembly.references:
            other = by_name.get(name)
            if other is not None:
                if other.is_for_editor and not assembly.is_for_editor:
                    yield f"{assembly.name} is in players and references {name}, which is not"
                if other.is_sample and not assembly.is_sample:
                    yield f"{assembly.name} references the sample {name}"
            elif name not in UNITY_ASSEMBLIES:
                yield f"{assembly.name} references {name}, which is nowhere"
            elif UNITY_ASSEMBLIES[name] and UNITY_ASSEMBLIES[name] not in package.manifest.get("dependencies", {}):
                yield f"{assembly.name} references {name}; package.json must depend on {UNITY_ASSEMBLIES[name]}"
        if assembly.facts.get("precompiledReferences") and not assembly.facts.get("overrideReferences"):
            yield f"{assembly.name}: precompiledReferences count only with overrideReferences"
        if not assembly.sources:
            yield f"{assembly.name} has no C#"


def _of_sources(package: Package) -> Iterator[str]:
    owned = {source for assembly in package.assemblies for source in assembly.sources}
    for source in sorted(path for path in package.assets if path.suffix == ".cs" and path not in owned):
        yield f"{source} is in no assembly"
    for assembly in package.assemblies:
        for source in assembly.sources:
            code = without_comments(package.text(source))
            used = set(re.findall(r"^\s*using\s+(?:static\s+)?(?:\w+\s*=\s*)?([\w.]+)\s*;", code, re.MULTILINE))
            if assembly.facts.get("noEngineReferences") and re.search(r"\bUnity(Engine|Editor)\b", code):
                yield f"{source} uses Unity, and {assembly.name} has noEngineReferences"
            if not assembly.is_for_editor and re.search(r"\bUnityEditor\b", outside_editor(code)):
                yield f"{source} uses UnityEditor in an assembly of players"
            if (
                any(re.match(r"UnityEngine\.UI(\.|$)", name) for name in used)
                and "UnityEngine.UI" not in assembly.references
            ):
                yield f"{source} uses UnityEngine.UI, and {assembly.name} does not reference it"
            for module, package_name in MODULES.items():
                if re.search(module, code) and package_name not in package.manifest.get("dependencies", {}):
                    yield f"{source} needs {package_name}, and package.json does not depend on it"
            if any(name.startswith("TMPro") for name in used) and "Unity.TextMeshPro" not in assembly.references:
                yield f"{source} uses TMPro, and {assembly.name} does not reference Unity.TextMeshPro"
            has_json = "Newtonsoft.Json.dll" in assembly.facts.get("precompiledReferences", ())
            if any(name.startswith("Newtonsoft") for name in used) and not has_json:
                yield f"{source} uses Newtonsoft.Json, and {assembly.name} does not reference it"
            if re.search(r"\bunsafe\b", code) and not assembly.facts.get("allowUnsafeCode"):
                yield f"{source} has unsafe code, and {assembly.name} does not allow it"
            for name in UNITY_TYPES.findall(code):
                if name != source.stem and not re.search(rf"abstract\s+(partial\s+)?class\s+{name}\b", code):
                    yield f"{source}: Unity finds the script of {name} only in {name}.cs"


def _of_names(package: Package) -> Iterator[str]:
    seen: dict[str, PurePosixPath] = {}
    for asset in sorted(package.assets):
        folded = str(asset).lower()
        if folded in seen:
            yield f"{asset} and {seen[folded]} are one file on Windows"
        seen[folded] = asset
        if len(str(asset)) > 120 or _RESERVED.fullmatch(asset.name) or re.search(r'[<>:"|?*\\]', asset.name):
            yield f"{asset} is no name for a file on Windows"


def without_comments(code: str) -> str:
    """C# without its comments; texts in quotes stay. Verbatim strings may hold what looks like one: it goes too."""
    return re.sub(r'("(?:\\.|[^"\\\n])*")|//[^\n]*|/\*.*?\*/', lambda found: found[1] or "", code, flags=re.DOTALL)


def outside_editor(code: str) -> str:
    """C# without what stands between `#if UNITY_EDITOR` and its `#else` or `#endif`."""
    kept, depth, skipped = [], 0, 0
    for line in code.splitlines():
        word = line.strip()
        if word.startswith("#if"):
            depth += 1
            if not skipped and re.match(r"#if\s+UNITY_EDITOR\b", word):
                skipped = depth
        elif word.startswith(("#else", "#elif")) and skipped == depth:
            skipped = -1 if skipped else 0
        elif word.startswith("#endif"):
            if skipped == depth:
                skipped = 0
            depth -= 1
        if skipped <= 0:
            kept.append(line)
        if skipped == -1:
            skipped = 0
    return "\n".join(kept)

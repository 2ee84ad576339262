"""Unreal modules as folders with a Build.cs: what they include, and whether the Build.cs covers it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.unreal_reader import Header, blanked, read_header
from tests.unreal_words import CORE_MAY_INCLUDE, ENGINE_MODULES, WINDOWS_MACROS


@dataclass(frozen=True, order=True)
class Refusal:
    """What would be refused, and where."""

    file: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.text}"


@dataclass(frozen=True)
class Module:
    """One module: its headers by path inside of its folder, and what its Build.cs says."""

    name: str
    headers: Mapping[str, Header]
    texts: Mapping[str, str]
    """Headers and sources by path inside of the folder."""
    public: frozenset[str] = frozenset()
    private: frozenset[str] = frozenset()
    has_own_standard: bool = False
    """Whether its Build.cs names a C++ standard; the engine's own headers have been C++20 since 5.3."""

    @property
    def api(self) -> str:
        return f"{self.name.upper()}_API"


def read_module(folder: Path) -> Module:
    """Reads `Source/<Module>`; headers under Core/ are plain C++ and are left out of `headers`."""
    headers: dict[str, Header] = {}
    texts: dict[str, str] = {}
    for path in sorted([*folder.rglob("*.h"), *folder.rglob("*.cpp")]):
        inside = path.relative_to(folder).as_posix()
        texts[inside] = path.read_text(encoding="utf-8")
        if path.suffix == ".h" and not inside.startswith("Core/"):
            headers[inside] = read_header(path.name, texts[inside])
    build = folder / f"{folder.name}.Build.cs"
    said = build.read_text(encoding="utf-8") if build.is_file() else ""
    return Module(folder.name, headers, texts, *build_modules(said), "CppStandard" in blanked(said))


def build_modules(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """What a Build.cs lists as public and as private dependencies."""
    plain = blanked(text)

    def listed(kind: str) -> frozenset[str]:
        found: set[str] = set()
        for match in re.finditer(
            rf"\b{kind}DependencyModuleNames\s*\.\s*Add(?:Range)?\s*\(([^;]*)\)\s*;", plain, re.DOTALL
        ):
            found.update(re.findall(r'"([^"]+)"', match.group(1)))
        return frozenset(found)

    return listed("Public"), listed("Private")


def stub_headers(folder: Path) -> dict[str, frozenset[str]]:
    """The engine's headers that have stubs: include path -> modules, of a folder with one folder a module."""
    found: dict[str, set[str]] = {}
    for path in sorted(folder.rglob("*.h")):
        parts = path.relative_to(folder).parts
        if len(parts) > 1:
            found.setdefault("/".join(parts[1:]), set()).add(parts[0])
    return {name: frozenset(modules) for name, modules in found.items()}


def include_faults(module: Module, modules: list[Module], stubs: Mapping[str, frozenset[str]]) -> Iterator[Refusal]:
    own = {path.removeprefix("Public/").removeprefix("Private/") for path in module.texts} | set(module.texts)
    others = {
        path.removeprefix("Public/"): other.name
        for other in modules
        for path in other.texts
        if path.startswith(("Public/", "Core/")) and other.name != module.name
    }
    hidden = {
        path.removeprefix("Private/")
        for other in modules
        if other.name != module.name
        for path in other.texts
        if path.startswith("Private/")
    }
    for inside, text in module.texts.items():
        folder = inside.rsplit("/", 1)[0] + "/" if "/" in inside else ""
        for number, line in enumerate(blanked(text).splitlines(), 1):
            match = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
            if match is None or match.group(1).endswith(".generated.h"):
                continue
            name = match.group(1)
            if name in CORE_MAY_INCLUDE.get(inside, frozenset()):
                continue
            if name in own or folder + name in own or _beside(folder, name, module.texts):
                continue
            where = Refusal(f"{module.name}/{inside}", number, "")
            is_public = inside.startswith(("Public/", "Core/")) and inside.endswith(".h")
            listed = module.public if is_public else module.public | module.private
            wanted = frozenset({others[name]}) if name in others else stubs.get(name, frozenset())
            if not wanted:
                text_of = (
                    "is private in another module"
                    if name in hidden
                    else "is no header of the engine with a stub, nor of the plugin"
                )
                yield Refusal(where.file, number, f'"{name}" {text_of}')
            elif inside.startswith("Core/"):
                yield Refusal(where.file, number, f'"{name}": the core includes no header of the engine')
            elif not wanted & listed:
                kind = "PublicDependencyModuleNames" if is_public else "Build.cs"
                yield Refusal(
                    where.file, number, f'"{name}" is of {" or ".join(sorted(wanted))}, which {kind} does not list'
                )
    if module.has_own_standard:
        yield Refusal(
            f"{module.name}/{module.name}.Build.cs",
            1,
            "CppStandard: the engine's headers want the engine's own standard",
        )
    for name in sorted((module.public | module.private) - ENGINE_MODULES - {other.name for other in modules}):
        yield Refusal(f"{module.name}/{module.name}.Build.cs", 1, f"{name} is no module that is known")
    for name in sorted(module.public & module.private):
        yield Refusal(f"{module.name}/{module.name}.Build.cs", 1, f"{name} is listed as public and as private")


def source_faults(module: Module) -> Iterator[Refusal]:
    """What Unreal's build tool, or a file that it has put behind windows.h, would refuse in headers and sources."""
    stems = {path.rsplit("/", 1)[-1].removesuffix(".h") for path in module.texts if path.endswith(".h")}
    files: dict[str, str] = {}
    tamed = frozenset(
        name for text in module.texts.values() for name in re.findall(r"^#undef (\w+)$", text, re.MULTILINE)
    )
    for inside, text in sorted(module.texts.items()):
        where = f"{module.name}/{inside}"
        plain = blanked(text)
        stem = inside.rsplit("/", 1)[-1].removesuffix(".cpp")
        if inside.endswith(".cpp"):
            if stem.lower() in files:
                yield Refusal(where, 1, f"{files[stem.lower()]} has the same file name; both would be one object file")
            files[stem.lower()] = where
            first = re.search(r'^\s*#\s*include\s+["<](?:[^">]*/)?([^">/]+)[">]', plain, re.MULTILINE)
            if stem in stems and (first is None or first.group(1) != f"{stem}.h"):
                yield Refusal(where, 1, f"{stem}.h has to be the first header that is included")
        for number, line in enumerate(plain.splitlines(), 1):
            if line.lstrip().startswith("#"):
                continue
            for name in sorted(
                set(re.findall(r"\b[A-Za-z]\w*\b", re.sub(r'"(?:\\.|[^"\\])*"', '""', line))) & WINDOWS_MACROS - tamed
            ):
                yield Refusal(where, number, f"{name} is a macro of windows.h")


def _beside(folder: str, name: str, texts: Mapping[str, str]) -> bool:
    parts = [part for part in (folder + name).split("/") if part not in ("", ".")]
    flat: list[str] = []
    for part in parts:
        if part == ".." and flat:
            flat.pop()
        else:
            flat.append(part)
    return "/".join(flat) in texts

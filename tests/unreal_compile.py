"""Compiles the Unreal modules against the stub headers, as Unreal's build tool would call a compiler; needs no engine.

`python -m tests.unreal_compile FILE…` looks at single files; without any it looks at all.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.unreal_generated import write_generated
from tests.unreal_reader import Header, blanked, read_header

ROOT = Path(__file__).resolve().parent.parent
PLUGIN = ROOT / "unreal_plugin"
PARLEY = PLUGIN / "Source" / "Parley"
EDITOR = PLUGIN / "Source" / "ParleyEditor"
SAMPLE = PLUGIN / "Samples" / "Tavern"
STUBS = ROOT / "tests" / "cpp" / "stubs"
MODULES = {"Parley": PARLEY, "ParleyEditor": EDITOR, "Tavern": SAMPLE}
WARNINGS = ("-Wall", "-Wextra", "-Wshadow", "-Werror")
SHOWN = '__attribute__((visibility("default")))'
TIMEOUT_S = 600.0


class CompileFailed(AssertionError):
    """The compiler or the linker refused. The message is what it said."""


@dataclass(frozen=True)
class Way:
    """How to compile: with what, and as what Unreal would define."""

    compiler: str = "g++"
    standard: int = 17
    editor: bool = True
    engine_minor: int = 3
    shipping: bool = False
    """Nothing is logged or checked."""

    def __str__(self) -> str:
        kind = "editor" if self.editor else "shipping" if self.shipping else "game"
        return f"{self.compiler}-c{self.standard}-{kind}-5.{self.engine_minor}"


def sources_of(module: str) -> list[Path]:
    """The .cpp files of a module, without those of the core."""
    folder = MODULES[module]
    return [path for path in sorted(folder.rglob("*.cpp")) if path.relative_to(folder).parts[0] != "Core"]


def core_sources() -> list[Path]:
    """The .cpp files of the core, which Unreal compiles into Parley."""
    return sorted((PARLEY / "Core").rglob("*.cpp"))


def generate(folder: Path) -> dict[str, list[Path]]:
    """Writes what the header tool would, one folder a module; returns each module's .gen.cpp files."""
    made: dict[str, list[Path]] = {}
    others: list[Header] = []
    for module, source in MODULES.items():
        made[module] = write_generated(source, folder / module, others)
        public = source / "Public" if (source / "Public").is_dir() else source
        others += [read_header(path.name, path.read_text(encoding="utf-8")) for path in sorted(public.rglob("*.h"))]
    return made


def arguments(module: str, way: Way, generated: Path) -> list[str]:
    """The compiler and its arguments, without files. Stubs are system headers: their own warnings are nobody's."""
    own = MODULES[module]
    seen = [module, *(["Parley"] if module != "Parley" else [])]
    folders = [own / "Private", own / "Public", own, generated / module]
    folders += [PARLEY / "Public", PARLEY, generated / "Parley"]
    return [
        way.compiler,
        f"-std=c++{way.standard}",
        *WARNINGS,
        "-fno-exceptions",
        "-fno-rtti",
        "-fvisibility=hidden",
        "-fvisibility-inlines-hidden",
        "-fPIC",
        *(f"-D{name.upper()}_API={SHOWN}" for name in seen),
        f"-DWITH_EDITOR={int(way.editor)}",
        f"-DUE_BUILD_SHIPPING={int(way.shipping)}",
        "-DENGINE_MAJOR_VERSION=5",
        f"-DENGINE_MINOR_VERSION={way.engine_minor}",
        "-DENGINE_PATCH_VERSION=0",
        *(f"-I{folder}" for folder in dict.fromkeys(folders) if folder.is_dir()),
        *(word for folder in sorted(STUBS.iterdir()) if folder.is_dir() for word in ("-isystem", str(folder))),
        "-isystem",
        str(STUBS),
    ]


def look_at(module: str, sources: Sequence[Path], way: Way, generated: Path) -> None:
    """Each file by itself, without making anything. Raises CompileFailed with what is wrong in all of them."""
    said = []
    for source in sources:
        done = _run([*arguments(module, way, generated), "-fsyntax-only", str(source)])
        if done.returncode:
            said.append(done.stderr)
    if said:
        raise CompileFailed("\n".join(said))


FORCED = """
#include <new>
#include <type_traits>
#include <utility>

template <class T>
void Force()
{
    if constexpr (std::is_copy_constructible_v<T>)
    {
        static_cast<void>(+[](void* Into, const T& From) { new (Into) T(From); });
    }
    if constexpr (std::is_copy_assignable_v<T>)
    {
        static_cast<void>(+[](T& Into, const T& From) { Into = From; });
    }
    if constexpr (std::is_move_constructible_v<T>)
    {
        static_cast<void>(+[](void* Into, T& From) { new (Into) T(std::move(From)); });
    }
    if constexpr (std::is_destructible_v<T>)
    {
        static_cast<void>(+[](T& Gone) { Gone.~T(); });
    }
}
"""
OPENING = re.compile(
    r"\bnamespace\s+(?P<space>[\w:]+)\s*\{"
    r"|\b(?:class|struct)\s+(?P<api>[A-Z]+(?:_CORE)?_API\s+)?(?P<name>\w+)(?:\s+final)?(?:\s*:[^;{]*)?\s*\{"
    r"|(?P<brace>[{}])"
)


def exported_of(text: str) -> list[str]:
    """The classes of a header that are exported as a whole, with their namespaces; those of objects copy nothing."""
    found: list[str] = []
    inside: list[str] = []
    for match in OPENING.finditer(blanked(text)):
        if match["brace"] == "}":
            del inside[-1:]
            continue
        if match["api"] and all(inside) and not re.match(r"[UA][A-Z]", match["name"]):
            found.append("::".join([*inside, match["name"]]))
        inside.append(match["space"] or match["name"] or "")
    return found


def forced(text: str) -> str:
    """What Microsoft's compiler makes of a header's exported classes by itself: it copies, moves and destroys them.

    A vector of unique pointers says that it can be copied, and cannot; what is only declared cannot be deleted.
    """
    names = exported_of(text)
    return FORCED + "".join(f"template void Force<{name}>();\n" for name in names) if names else ""


def together(module: str, sources: Sequence[Path], way: Way, generated: Path, folder: Path) -> None:
    """All files as one, as Unreal's build tool puts them into one. Raises CompileFailed."""
    one = folder / f"Module.{module}.{way}.cpp"
    one.write_text("".join(f'#include "{source}"\n' for source in sources), encoding="utf-8")
    look_at(module, [one], way, generated)


def compiled(module: str, sources: Sequence[Path], way: Way, generated: Path, folder: Path, *extra: str) -> list[Path]:
    """Object files of sources. Raises CompileFailed."""
    out = []
    folder.mkdir(parents=True, exist_ok=True)
    for number, source in enumerate(sources):
        made = folder / f"{module}-{number}-{source.stem}.o"
        own = ["-Wno-invalid-offsetof"] if source.name.endswith(".gen.cpp") else []
        done = _run([*arguments(module, way, generated), *own, *extra, "-c", str(source), "-o", str(made)])
        if done.returncode:
            raise CompileFailed(done.stderr)
        out.append(made)
    return out


def stub_sources() -> list[Path]:
    """The bodies of the stubs."""
    return sorted(STUBS.glob("*.cpp"))


def linked(
    out: Path, objects: Sequence[Path], way: Way, *libraries: Path, shared: bool = True, flags: Sequence[str] = ()
) -> Path:
    """A library in which nothing may be missing, or a program. Raises CompileFailed."""
    flags = [*flags, *(["-shared", "-Wl,--no-undefined"] if shared else [])]
    where = [f"-Wl,-rpath,{library.parent}" for library in libraries]
    done = _run(
        [way.compiler, *flags, *map(str, objects), *map(str, libraries), *where, "-lpthread", "-ldl", "-o", str(out)]
    )
    if done.returncode:
        raise CompileFailed(done.stderr)
    return out


def missing_compilers(*names: str) -> str:
    """Why this cannot be done here, or empty."""
    missing = [name for name in names if shutil.which(name) is None]
    return f"{' and '.join(missing)} not installed" if missing else ""


def _run(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="replace",
        env={**os.environ, "LC_ALL": "C"},
        timeout=TIMEOUT_S,
        check=False,
    )


def _main(files: Sequence[str]) -> int:
    failed = 0
    with tempfile.TemporaryDirectory(prefix="parley-unreal-") as name:
        generated = Path(name)
        generate(generated)
        for module in MODULES:
            for source in sources_of(module):
                if files and str(source) not in [str(Path(file).resolve()) for file in files]:
                    continue
                try:
                    look_at(module, [source], Way(), generated)
                except CompileFailed as fault:
                    failed += 1
                    print(fault, file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(_main(sys.argv[1:]))

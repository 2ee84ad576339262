"""The licences of what is handed on with the sidecar, in one text file."""

from __future__ import annotations

import importlib.metadata
import os
import re
import sys
from collections.abc import Iterable
from pathlib import Path

import bridge

_LICENCE_FILE = re.compile(r"(?i)(licen[cs]e|copying|notice|authors)[^/]*$")
_LIMIT = 400_000
HEAD = """The Parley sidecar is licensed under the Apache License 2.0. It comes with the software listed here, each part
under the licence that follows its name. The texts are those that the parts carry themselves.
"""


def write_notices(file: Path, contents: Iterable[tuple[str, str, str]]) -> None:
    """Writes the notices of everything that PyInstaller gathered: (name, file, kind) of each thing. Raises OSError."""
    parts = [HEAD, f"# Parley {bridge.__version__}\n", _own_licence()]
    rows = list(contents)
    for distribution in _distributions(rows):
        name, version = distribution.metadata["Name"], distribution.version
        facts = distribution.metadata.json
        licence = str(facts.get("license_expression") or facts.get("license") or "")
        parts += [f"# {name} {version}" + (f" ({licence.splitlines()[0]})" if licence.strip() else "") + "\n"]
        parts += _texts(distribution) or ["(the package carries no text of its licence)\n"]
    parts += [f"# Python {sys.version.partition(' ')[0]}\n", _python_licence()]
    system = sorted({Path(name).name for name, path, kind in rows if kind == "BINARY" and _is_of_the_system(path)})
    if system:
        parts += ["# Libraries of the system that this was built on\n", "\n".join(system) + "\n"]
    file.write_text("\n".join(parts), encoding="utf-8")


def _distributions(rows: list[tuple[str, str, str]]) -> list[importlib.metadata.Distribution]:
    """The installed distributions that the gathered things come from, by name; PyInstaller's own program too."""
    by_module = importlib.metadata.packages_distributions()
    modules = {re.split(r"[./\\]", name)[0] for name, _, kind in rows if kind in ("PYMODULE", "EXTENSION", "BINARY")}
    names = {name for module in modules for name in by_module.get(module, ())} | {"pyinstaller"}
    found = {}
    for name in names - {"parley-bridge"}:
        try:
            found[name.lower()] = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return [found[name] for name in sorted(found)]


def _texts(distribution: importlib.metadata.Distribution) -> list[str]:
    texts = []
    for entry in sorted(distribution.files or (), key=str):
        if _LICENCE_FILE.search(entry.as_posix()) and not entry.name.endswith((".py", ".pyc", ".so", ".pyd")):
            try:
                texts.append(Path(str(entry.locate())).read_text(encoding="utf-8", errors="replace")[:_LIMIT])
            except OSError:
                continue
    return texts


def _own_licence() -> str:
    root = Path(bridge.__file__).resolve().parent.parent
    try:
        return (root / "LICENSE").read_text(encoding="utf-8")
    except OSError:
        return "Apache License 2.0: https://www.apache.org/licenses/LICENSE-2.0\n"


def _python_licence() -> str:
    for place in (Path(os.__file__).parent, Path(sys.base_prefix)):
        for name in ("LICENSE.txt", "LICENSE"):
            if (place / name).is_file():
                return (place / name).read_text(encoding="utf-8", errors="replace")
    return "PSF License: https://docs.python.org/3/license.html\n"


def _is_of_the_system(path: str) -> bool:
    return path.startswith(("/lib", "/usr/lib", "/usr/local/lib", "/opt/homebrew"))

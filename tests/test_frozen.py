"""What a packaged sidecar does otherwise: it starts itself without an interpreter, and brings models with it."""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bridge import frozen, model_files
from bridge.catalog import CatalogEntry, Source
from bridge.config import Settings
from bridge.errors import ModelLoadFailed
from bridge.model_files import locate, model_paths
from bridge.packaging import PackagingFailed, sidecar
from bridge.packaging.notices import write_notices
from tests.command_line import parley

PACKAGED = CatalogEntry(
    name="small", type="language", engine="llama-cpp", source=Source(package="nowhere_at_all", file="small.gguf")
)
HUB = CatalogEntry(
    name="large", type="language", engine="llama-cpp", source=Source(huggingface="o/n", files=["a.gguf", "b.gguf"])
)


def put(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"model")


def test_it_starts_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    assert frozen.parley_command() == [sys.executable, "-m", "bridge"]
    assert frozen.shipped_models() is None
    monkeypatch.setattr(frozen, "IS_FROZEN", True)
    monkeypatch.setattr(sys, "executable", "/game/sidecar/parley")
    assert frozen.parley_command() == ["/game/sidecar/parley"]
    assert frozen.shipped_models() == Path("/game/sidecar/models").resolve()


def test_models_that_came_along_go_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shipped, own = tmp_path / "shipped", tmp_path / "own"
    settings = Settings(models_folder=str(own))
    monkeypatch.setattr(model_files, "shipped_models", lambda: shipped)
    put(own, "small.gguf")
    assert model_paths(PACKAGED, settings) == [own / "small.gguf"]
    put(shipped, "small.gguf")
    assert model_paths(PACKAGED, settings) == [shipped / "small.gguf"]
    assert locate(PACKAGED, settings, lambda *_: None) == shipped / "small.gguf"


def test_a_model_of_several_files_is_taken_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shipped, own = tmp_path / "shipped", tmp_path / "own"
    settings = Settings(models_folder=str(own))
    monkeypatch.setattr(model_files, "shipped_models", lambda: shipped)
    put(shipped, "o--n/a.gguf")
    assert model_paths(HUB, settings) == [own / "o--n" / "a.gguf", own / "o--n" / "b.gguf"]
    put(shipped, "o--n/b.gguf")
    assert model_paths(HUB, settings) == [shipped / "o--n" / "a.gguf", shipped / "o--n" / "b.gguf"]


def test_llama_is_probed_by_a_command(monkeypatch: pytest.MonkeyPatch) -> None:
    if importlib.util.find_spec("llama_cpp") is None:
        pytest.skip("llama.cpp is not installed")
    code, out, _ = parley(frozen.PROBE_COMMAND)
    assert code == 0
    assert '"features"' in out
    assert frozen.PROBE_COMMAND not in parley("--help")[1]


@pytest.mark.parametrize(
    ("there", "taken"),
    [
        (["libllama.so", "libllama.so.1", "libllama.so.1.2.3"], ["libllama.so", "libllama.so.1"]),
        (["llama.dll", "llama.lib", "ggml.dll"], ["ggml.dll", "llama.dll"]),
        (
            ["libllama.dylib", "libllama.0.dylib", "default.metal"],
            ["default.metal", "libllama.0.dylib", "libllama.dylib"],
        ),
    ],
)
def test_llamas_libraries_come_along_once(
    there: list[str], taken: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path / "llama_cpp" / "lib", *there)
    (tmp_path / "llama_cpp" / "__init__.py").write_text("", encoding="utf-8")
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    monkeypatch.delitem(sys.modules, "llama_cpp", raising=False)
    importlib.invalidate_caches()
    assert [path.name for path in sidecar.llama_libraries()] == taken


# ---- making one ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("missing", ["PyInstaller", "huggingface-hub"])
def test_what_is_missing_is_said_with_how_to_get_it(
    missing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    find, version = importlib.util.find_spec, importlib.metadata.version

    def find_spec(name: str, package: str | None = None) -> Any:
        return None if name == missing else sys if name == "PyInstaller" else find(name, package)

    def version_of(name: str) -> str:
        if name == missing:
            raise importlib.metadata.PackageNotFoundError(name)
        return "1" if name in ("llama-cpp-python", "huggingface-hub") else version(name)

    monkeypatch.setattr(importlib.util, "find_spec", find_spec)
    monkeypatch.setattr(importlib.metadata, "version", version_of)
    monkeypatch.setattr(sys, "executable", "/games of mine/venv/python")
    with pytest.raises(PackagingFailed, match=f"{missing} is not installed; run: ") as fault:
        sidecar.build_sidecar(tmp_path / "out")
    assert '"/games of mine/venv/python" -m pip install "parley-bridge[' in str(fault.value)
    assert list(tmp_path.iterdir()) == []


def test_where_pyinstaller_fails_its_last_line_is_said_and_nothing_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(command: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess(command, 1, "", "noise\nModuleNotFoundError: it broke\n")

    monkeypatch.setattr(sidecar, "_check_tools", lambda: None)
    monkeypatch.setattr(sidecar, "llama_libraries", list)
    monkeypatch.setattr(subprocess, "run", fails)
    with pytest.raises(PackagingFailed, match="PyInstaller ended with 1: ModuleNotFoundError: it broke"):
        sidecar.build_sidecar(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_starter_models_that_are_not_to_be_had_are_told_before_anything_is_gathered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nowhere(*_: object) -> Path:
        raise ModelLoadFailed("the package of starter-chat is not installed")

    monkeypatch.setattr(sidecar, "_check_tools", lambda: None)
    monkeypatch.setattr(sidecar, "_gather", lambda scratch: pytest.fail("it began to gather"))
    monkeypatch.setattr(model_files, "locate", nowhere)
    with pytest.raises(PackagingFailed, match="the package of starter-chat is not installed"):
        sidecar.build_sidecar(tmp_path / "out", with_starter=True)
    assert list(tmp_path.iterdir()) == []


def test_a_packaged_sidecar_packages_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sidecar, "IS_FROZEN", True)
    with pytest.raises(PackagingFailed, match="from a checkout"):
        sidecar.build_sidecar(tmp_path / "out")


def test_nothing_of_this_users_is_in_the_bare_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PARLEY_TOKEN", "secret")
    monkeypatch.setenv("PYTHONPATH", "somewhere")
    found = sidecar.bare_environment(tmp_path)
    assert found["HOME"] == found["PATH"] == str(tmp_path)
    assert not {"PARLEY_TOKEN", "PYTHONPATH"} & set(found)


def test_notices_name_each_package_with_its_licence(tmp_path: Path) -> None:
    rows = [("pydantic.main", "/x/pydantic/main.py", "PYMODULE"), ("libz.so.1", "/usr/lib/libz.so.1", "BINARY")]
    write_notices(tmp_path / "n.txt", rows)
    text = (tmp_path / "n.txt").read_text(encoding="utf-8")
    assert f"# pydantic {importlib.metadata.version('pydantic')} (MIT)" in text
    assert "Permission is hereby granted" in text
    assert "Apache License" in text and "# Python 3" in text
    assert text.rstrip().endswith("libz.so.1")
    assert "# numpy" not in text

"""Every C++ file of the Unreal plugin and its sample compiles, with both compilers, against stubs of the engine."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import unreal_compile
from tests.unreal_compile import (
    MODULES,
    PARLEY,
    CompileFailed,
    Way,
    compiled,
    core_sources,
    exported_of,
    forced,
    generate,
    linked,
    look_at,
    sources_of,
    stub_sources,
    together,
)

WHY_NOT = unreal_compile.missing_compilers("g++")
NO_CLANG = unreal_compile.missing_compilers("clang++")
pytestmark = [
    pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT or "g++ is here"),
    pytest.mark.timeout(1800),
]
needs_clang = pytest.mark.skipif(bool(NO_CLANG), reason=NO_CLANG or "clang++ is here")

WAYS = [
    Way("g++", 17, True),
    pytest.param(Way("clang++", 20, False), marks=needs_clang),
]
"""One by one: both compilers, both standards, the editor and the game."""
OTHER_WAYS = [
    Way("g++", 20, False, shipping=True),
    Way("g++", 20, True, engine_minor=8),
    pytest.param(Way("clang++", 17, True), marks=needs_clang),
]
"""All in one: the other combinations, a game that is shipped, and an engine from after the APIs that
changed with 5.4 and with 5.8."""


def modules_of(way: Way) -> list[str]:
    """A game has no editor module."""
    return [name for name in MODULES if way.editor or name != "ParleyEditor"]


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the header tool would write, for all modules."""
    folder = tmp_path_factory.mktemp("generated")
    generate(folder)
    return folder


def test_there_is_something_to_compile() -> None:
    for name in MODULES:
        assert sources_of(name), name
    assert core_sources()


@pytest.mark.thorough
def test_the_modules_compile_as_unity_builds(generated: Path, tmp_path: Path) -> None:
    for name in MODULES:
        together(name, sources_of(name), Way(), generated, tmp_path)


def test_a_warning_is_an_error(generated: Path, tmp_path: Path) -> None:
    bad = tmp_path / "Bad.cpp"
    bad.write_text(
        '#include "CoreMinimal.h"\nstatic int32 Nobody() { int32 Unused = 3; return 4; }\n', encoding="utf-8"
    )
    with pytest.raises(CompileFailed, match="Unused"):
        look_at("Parley", [bad], Way(), generated)


@pytest.mark.thorough
def test_what_only_the_log_or_a_check_names_is_unused_in_a_shipped_game(generated: Path, tmp_path: Path) -> None:
    bad = tmp_path / "Bad.cpp"
    bad.write_text(
        '#include "CoreMinimal.h"\nint32 Say();\nvoid Look();\n'
        'void Look() { const int32 Said = Say(); checkf(Said == 3, TEXT("%d"), Said); }\n',
        encoding="utf-8",
    )
    look_at("Parley", [bad], Way("g++", 20, False), generated)
    with pytest.raises(CompileFailed, match="Said"):
        look_at("Parley", [bad], Way("g++", 20, False, shipping=True), generated)


def test_text_for_the_engine_is_not_plain_text(generated: Path, tmp_path: Path) -> None:
    bad = tmp_path / "Bad.cpp"
    bad.write_text(
        '#include "CoreMinimal.h"\nFString Say();\nFString Say() { return FString::Printf("%s", 3); }\n',
        encoding="utf-8",
    )
    with pytest.raises(CompileFailed, match="Printf"):
        look_at("Parley", [bad], Way(), generated)


@pytest.mark.thorough
@pytest.mark.parametrize("way", WAYS, ids=str)
def test_each_file_compiles_by_itself(way: Way, generated: Path) -> None:
    for name in modules_of(way):
        look_at(name, sources_of(name), way, generated)


@pytest.mark.thorough
@pytest.mark.parametrize("way", OTHER_WAYS, ids=str)
def test_the_modules_compile_in_other_ways(way: Way, generated: Path, tmp_path: Path) -> None:
    for name in modules_of(way):
        together(name, sources_of(name), way, generated, tmp_path)


@pytest.mark.thorough
def test_the_core_and_the_layer_over_it_fit_into_one_file(generated: Path, tmp_path: Path) -> None:
    together("Parley", [*core_sources(), *sources_of("Parley")], Way(), generated, tmp_path)


@pytest.mark.thorough
def test_each_header_compiles_by_itself(generated: Path, tmp_path: Path) -> None:
    for name, folder in MODULES.items():
        for number, header in enumerate(sorted(folder.rglob("*.h"))):
            alone = tmp_path / f"{name}{number}.cpp"
            text = f'#include "{header}"\n' + forced(header.read_text(encoding="utf-8"))
            alone.write_text(text, encoding="utf-8")
            look_at(name, [alone], Way(), generated)


@pytest.mark.parametrize(
    "inside",
    ["std::vector<std::unique_ptr<int>> Kept;", "std::unique_ptr<struct Unknown> Kept;"],
    ids=["cannot be copied", "cannot be destroyed"],
)
def test_an_exported_class_is_as_microsofts_compiler_wants_it(inside: str, generated: Path, tmp_path: Path) -> None:
    def one(body: str) -> Path:
        text = (
            f"#include <memory>\n#include <vector>\nnamespace Some {{ struct PARLEY_CORE_API Thing {{ {body} }}; }}\n"
        )
        assert exported_of(text) == ["Some::Thing"]
        file = tmp_path / "One.cpp"
        file.write_text(f'#include "Core/CoreApi.h"\n{text}{forced(text)}', encoding="utf-8")
        return file

    look_at("Parley", [one("std::vector<int> Kept;")], Way(), generated)
    with pytest.raises(CompileFailed):
        look_at("Parley", [one(inside)], Way(), generated)


def test_exported_classes_are_found() -> None:
    found = {name for path in (PARLEY / "Core").rglob("*.h") for name in exported_of(path.read_text(encoding="utf-8"))}
    assert {"Parley::Json", "Parley::CoreAgent", "Parley::Messages::TurnComplete"} <= found


@pytest.mark.thorough
def test_other_modules_find_what_they_use_of_a_module(generated: Path, tmp_path: Path) -> None:
    """With hidden symbols, as on Windows: what the editor module uses without PARLEY_API is missing here."""
    way = Way()
    made = generate(generated)
    engine = linked(
        tmp_path / "libStubEngine.so",
        compiled("Parley", stub_sources(), way, generated, tmp_path / "stubs", "-w", "-fvisibility=default"),
        way,
    )
    runtime = linked(
        tmp_path / "libParley.so",
        compiled(
            "Parley", [*core_sources(), *sources_of("Parley"), *made["Parley"]], way, generated, tmp_path / "parley"
        ),
        way,
        engine,
    )
    for name in ("ParleyEditor", "Tavern"):
        objects = compiled(name, [*sources_of(name), *made[name]], way, generated, tmp_path / name)
        linked(tmp_path / f"lib{name}.so", objects, way, runtime, engine)


def test_what_carries_no_api_macro_is_not_found_by_other_modules(generated: Path, tmp_path: Path) -> None:
    def library(name: str, text: str, *others: Path) -> Path:
        source = tmp_path / f"{name}.cpp"
        source.write_text(text, encoding="utf-8")
        objects = compiled("Parley", [source], Way(), generated, tmp_path / name, "-Wno-missing-declarations")
        return linked(tmp_path / f"lib{name}.so", objects, Way(), *others)

    owner = library(
        "Owner", "PARLEY_API int Shown(); int Hidden(); int Shown() { return 1; } int Hidden() { return 2; }"
    )
    library("Good", "int Shown(); int Use(); int Use() { return Shown(); }", owner)
    with pytest.raises(CompileFailed, match="Hidden"):
        library("Bad", "int Hidden(); int Use(); int Use() { return Hidden(); }", owner)

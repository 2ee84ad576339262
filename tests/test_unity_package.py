"""The Unity package as Unity reads it, and the C# of each of its assemblies as Unity would compile it."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bridge
from bridge.packaging import PackagingFailed
from bridge.packaging.unity_meta import guid_of, meta_text, metas, stale_metas, write_metas
from tests.command_line import parley
from tests.csharp_build import CSHARP, compile_csharp, libzmq_environment, needs_mono, run_mono
from tests.unity_reader import Package, outside_editor, problems, without_comments

ROOT = Path(bridge.__file__).resolve().parent.parent / "unity_package"
STUBS = CSHARP / "stubs"


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The package somewhere else, to be damaged."""
    target = tmp_path / "package"
    shutil.copytree(ROOT, target)
    write_metas(target)
    return target


# ---- as Unity reads it ---------------------------------------------------------------------------------------


def test_unity_would_stumble_over_nothing() -> None:
    assert problems(Package(ROOT)) == []


def test_the_metas_are_fresh() -> None:
    assert stale_metas(ROOT) == [], "run: parley package metas"


def test_package_and_sidecar_have_one_version() -> None:
    manifest = Package(ROOT).manifest
    assert manifest["version"] == bridge.__version__
    assert f"## {bridge.__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_licence_is_the_projects() -> None:
    licence = (ROOT.parent / "LICENSE").read_text(encoding="utf-8")
    assert licence.strip() in (ROOT / "LICENSE.md").read_text(encoding="utf-8")


def test_the_core_knows_no_engine() -> None:
    [core] = [assembly for assembly in Package(ROOT).assemblies if assembly.name == "Parley.Core"]
    assert core.facts["noEngineReferences"] is True
    assert core.references == ()


def test_link_xml_keeps_the_assemblies_of_players() -> None:
    text = (ROOT / "link.xml").read_text(encoding="utf-8")
    in_players = [one for one in Package(ROOT).assemblies
                  if not (one.is_for_editor or one.is_for_tests or one.is_sample)]  # fmt: skip
    assert {one.name for one in in_players} == {"Parley.Core", "Parley"}
    for assembly in in_players:
        assert f'<assembly fullname="{assembly.name}" preserve="all"' in text


DAMAGES = {
    "a file without a meta": ("Runtime/Parley.asmdef.meta", None, "Runtime/Parley.asmdef has no .meta"),
    "a folder without a meta": ("Runtime/Core.meta", None, "Runtime/Core has no .meta"),
    "a meta without a file": ("Runtime/Gone.cs.meta", "guid: x", "Runtime/Gone.cs.meta belongs to nothing"),
    "an asmdef that references nothing": (
        "Runtime/Parley.asmdef", {"references": ["Parley.Cor"]}, "Parley references Parley.Cor, which is nowhere"),
    "a runtime that references the editor": (
        "Runtime/Parley.asmdef", {"references": ["Parley.Editor"]},
        "Parley is in players and references Parley.Editor, which is not"),
    "UI without its package": (
        "Runtime/Parley.asmdef", {"references": ["Parley.Core", "Unity.TextMeshPro"]},
        "Parley references Unity.TextMeshPro; package.json must depend on com.unity.textmeshpro"),
    "the engine in the core": (
        "Runtime/Core/Wrong.cs", "using UnityEngine;",
        "Runtime/Core/Wrong.cs uses Unity, and Parley.Core has noEngineReferences"),
    "the editor in players": (
        "Runtime/Wrong.cs", "using UnityEditor;", "Runtime/Wrong.cs uses UnityEditor in an assembly of players"),
    "a component in another file": (
        "Runtime/Wrong.cs", "public class Right : MonoBehaviour { }",
        "Runtime/Wrong.cs: Unity finds the script of Right only in Right.cs"),
    "a file in no assembly": ("Wrong.cs", "class Wrong { }", "Wrong.cs is in no assembly"),
    "two files that differ by case": (
        "Runtime/PARLEY.json", "", "Runtime/Parley.json and Runtime/PARLEY.json are one file on Windows"),
    "a version that is none": ("package.json", {"version": "1.0"}, "package.json: the version is '1.0'"),
    "a sample that is not there": (
        "package.json", {"samples": [{"path": "Samples~/Nowhere"}]},
        "package.json: there is no sample in Samples~/Nowhere"),
}  # fmt: skip


@pytest.mark.parametrize("damage", sorted(DAMAGES))
def test_every_damage_is_found(damage: str, copy: Path) -> None:
    name, content, says = DAMAGES[damage]
    file = copy / name
    if "differ by case" in damage:
        (file.parent / "Parley.json").write_text("", encoding="utf-8")
        if file.exists():
            pytest.skip("this disk has one file for both names")
    if content is None:
        file.unlink()
    elif isinstance(content, dict):
        file.write_text(json.dumps({**json.loads(file.read_text(encoding="utf-8")), **content}), encoding="utf-8")
    else:
        file.write_text(content, encoding="utf-8")
        if file.suffix != ".meta":
            write_metas(copy)
    assert says in problems(Package(copy))


def test_a_guid_that_two_files_have_is_found(copy: Path) -> None:
    guid = (copy / "Runtime/Parley.asmdef.meta").read_text(encoding="utf-8").split("guid: ")[1][:32]
    (copy / "Editor/Parley.Editor.asmdef.meta").write_text(
        meta_text(PurePosixPath("Parley.Editor.asmdef"), guid, is_folder=False), encoding="utf-8"
    )
    assert "Runtime/Parley.asmdef and Editor/Parley.Editor.asmdef have the same guid" in problems(Package(copy))


# ---- what it says of itself ----------------------------------------------------------------------------------

PAGES = [*sorted(ROOT.glob("Documentation~/*.md")), ROOT / "README.md", ROOT / "CHANGELOG.md"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere_and_menus_are_there(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for link in re.findall(r"\]\(([^)#]+)[^)]*\)", text):
        assert "://" in link or (page.parent / link).is_file(), link
    code = "\n".join(path.read_text(encoding="utf-8") for path in ROOT.rglob("*.cs"))
    for menu in re.findall(r"Window > Parley > ([A-Z][\w ]+)", text):
        assert any(f'"Window/Parley/{menu[:end]}"' in code for end in range(len(menu), 3, -1)), menu


UNITYS_OWN = ("Multiple plugins with the same name", "Permission denied", "GUID conflict", "Managed Stripping Level:",
              "PlayMode", "Reload Domain", "Enter Play Mode Options", "When entering Play Mode", "Install", "Add",
              "Mute Audio", "Recompile And Continue Playing",
              "Project Settings > ", "Preferences > ", "Window > ")  # fmt: skip
"""What pages quote of Unity, and of the system."""


@pytest.mark.parametrize("page", sorted(ROOT.glob("Documentation~/*.md")), ids=lambda page: page.name)
def test_what_a_page_says_is_written_on_the_screen_is_in_the_code(page: Path) -> None:
    code = "\n".join(path.read_text(encoding="utf-8") for path in ROOT.rglob("*.cs"))
    known = code.replace(" ", "").lower()
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for label in re.findall(r"(?<!\*)\*([A-Z][^*]+)\*(?!\*)", text):
        words = " ".join(label.split())
        assert words.startswith(UNITYS_OWN) or words.rstrip(" …").replace(" ", "").lower() in known, words


def test_every_page_is_in_the_index() -> None:
    index = (ROOT / "Documentation~" / "index.md").read_text(encoding="utf-8")
    for page in ROOT.glob("Documentation~/*.md"):
        assert page.name == "index.md" or f"({page.name})" in index


def test_the_page_on_what_has_been_run_has_ten_steps() -> None:
    page = (ROOT / "Documentation~" / "what-has-been-run.md").read_text(encoding="utf-8")
    assert [line.split(".")[0] for line in page.splitlines() if re.match(r"\d+\. ", line)] == [
        str(number) for number in range(1, 11)
    ]
    assert "Nothing of this package has been run inside Unity yet" in page


# ---- .meta files ---------------------------------------------------------------------------------------------


def test_metas_are_the_same_wherever_they_are_made(tmp_path: Path) -> None:
    for place in ("one", "two"):
        (tmp_path / place / "Runtime").mkdir(parents=True)
        (tmp_path / place / "Runtime" / "A.cs").write_text("class A { }", encoding="utf-8")
    assert metas(tmp_path / "one") == metas(tmp_path / "two")
    assert f"guid: {guid_of('Runtime/A.cs')}\n" in metas(tmp_path / "one")["Runtime/A.cs.meta"]


def test_a_file_that_moves_with_its_meta_keeps_its_guid(tmp_path: Path) -> None:
    (tmp_path / "A.cs").write_text("class A { }", encoding="utf-8")
    write_metas(tmp_path)
    (tmp_path / "A.cs").rename(tmp_path / "B.cs")
    (tmp_path / "A.cs.meta").rename(tmp_path / "B.cs.meta")
    assert stale_metas(tmp_path) == []
    assert f"guid: {guid_of('A.cs')}\n" in (tmp_path / "B.cs.meta").read_text(encoding="utf-8")


def test_a_file_copied_with_its_meta_gets_a_guid_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "A.cs").write_text("class A { }", encoding="utf-8")
    write_metas(tmp_path)
    shutil.copy(tmp_path / "A.cs", tmp_path / "B.cs")
    shutil.copy(tmp_path / "A.cs.meta", tmp_path / "B.cs.meta")
    assert write_metas(tmp_path) == ["B.cs.meta"]
    assert f"guid: {guid_of('B.cs')}\n" in (tmp_path / "B.cs.meta").read_text(encoding="utf-8")


def test_leftovers_go_and_what_unity_passes_over_gets_none(tmp_path: Path) -> None:
    for name in ("Samples~/Tavern/A.cs", "Documentation~/index.md", ".hidden/a.txt", "Gone.cs.meta"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("guid: x", encoding="utf-8")
    assert write_metas(tmp_path) == ["Gone.cs.meta", "Samples~/Tavern.meta", "Samples~/Tavern/A.cs.meta"]
    assert not (tmp_path / "Gone.cs.meta").exists()
    assert write_metas(tmp_path) == []


@pytest.mark.parametrize(
    ("name", "target", "system"),
    [("libzmq.dll", "Win64", "Windows"), ("libzmq.dylib", "OSXUniversal", "OSX"), ("libzmq.so", "Linux64", "Linux")],
)
def test_a_native_library_is_for_its_own_platform_only(name: str, target: str, system: str) -> None:
    text = meta_text(PurePosixPath(f"Plugins/{name}"), "1" * 32, is_folder=False)
    enabled = [block.split("\n")[0].strip() for block in text.split("  - first:\n")[1:] if "enabled: 1" in block]
    assert enabled == ["Editor: Editor", f"Standalone: {target}"]
    assert f"OS: {system}" in text


def test_a_kind_of_file_that_is_not_known_is_refused() -> None:
    with pytest.raises(PackagingFailed, match=r"no \.meta is known for Editor/window\.psd"):
        meta_text(PurePosixPath("Editor/window.psd"), "1" * 32, is_folder=False)


def test_the_command_lists_what_is_stale_and_writes_it(copy: Path) -> None:
    (copy / "Runtime" / "Parley.asmdef.meta").unlink()
    code, out, err = parley("package", "metas", str(copy), "--check")
    assert (code, out.strip()) == (1, str(copy / "Runtime/Parley.asmdef.meta"))
    assert "parley package metas" in err
    assert parley("package", "metas", str(copy))[0] == 0
    assert parley("package", "metas", str(copy), "--check") == (0, "", "")
    code, _, err = parley("package", "metas", str(copy / "Runtime"))
    assert code == 2
    assert "no Unity package" in err


# ---- how the reader reads ------------------------------------------------------------------------------------


def test_the_reader_knows_comments_from_code() -> None:
    assert without_comments('a("// b"); // c\n/* d\n*/e') == 'a("// b"); \ne'


def test_the_reader_knows_what_only_the_editor_compiles() -> None:
    code = "a\n#if UNITY_EDITOR\nb\n#if X\nc\n#endif\n#else\nd\n#endif\ne\n#if Y\nf\n#endif"
    assert [line for line in outside_editor(code).splitlines() if not line.startswith("#")] == ["a", "d", "e", "f"]


@given(st.text(alphabet='ab"/*\\\n', max_size=30))
def test_the_reader_never_fails_on_odd_code(code: str) -> None:
    assert len(without_comments(code)) <= len(code)


# ---- as Unity compiles it ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Path]]:
    """What stands in for Unity's own assemblies."""
    folder = tmp_path_factory.mktemp("engine")
    player = compile_csharp([STUBS / "UnityEngine"], folder / "UnityEngine.dll", library=True, newtonsoft=False)
    editor = compile_csharp(
        [STUBS / "UnityEditor"], folder / "UnityEditor.dll", library=True, references=[player], newtonsoft=False
    )
    nunit = compile_csharp(
        [STUBS / "NUnit"], folder / "nunit.framework.dll", library=True, references=[player], newtonsoft=False
    )
    yield {"player": player, "editor": editor, "nunit": nunit}


@pytest.fixture(scope="module")
def assemblies(engine: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Every assembly of the package, compiled by its own sources and references and no others."""
    package, folder = Package(ROOT), tmp_path_factory.mktemp("assemblies")
    built: dict[str, Path] = {}
    for assembly in package.in_build_order():
        references = [built[name] for name in assembly.references if name in built]
        if not assembly.facts.get("noEngineReferences"):
            references.append(engine["player"])
        if assembly.is_for_editor:
            references.append(engine["editor"])
        precompiled = assembly.facts.get("precompiledReferences", ())
        if "nunit.framework.dll" in precompiled:
            references.append(engine["nunit"])
        built[assembly.name] = compile_csharp(
            [ROOT / source for source in assembly.sources],
            folder / f"{assembly.name}.dll",
            library=True,
            references=references,
            defines=["UNITY_2021_3_OR_NEWER", *(["UNITY_EDITOR"] if assembly.is_for_editor else [])],
            newtonsoft="Newtonsoft.Json.dll" in precompiled,
        )
    return built


@needs_mono
def test_every_assembly_compiles_by_its_own_references(assemblies: dict[str, Path]) -> None:
    assert {"Parley.Core", "Parley", "Parley.Editor", "Parley.Tests", "Parley.Editor.Tests"} <= set(assemblies)
    assert any(name.startswith("Parley.Samples.") for name in assemblies)


USINGS = "".join(
    f"using {name};\n"
    for name in ("System.Collections.Generic", "Newtonsoft.Json.Linq", "Parley", "Parley.Messages", "UnityEngine")
)


@needs_mono
def test_the_programs_of_the_documentation_compile(
    assemblies: dict[str, Path], engine: dict[str, Path], tmp_path: Path
) -> None:
    sources = []
    for page in sorted((ROOT / "Documentation~").glob("*.md")):
        for number, program in enumerate(re.findall(r"```csharp\n(.*?)```", page.read_text("utf-8"), re.DOTALL)):
            name = f"{page.stem.replace('-', '_')}_{number}"
            if "class " not in program:
                program = f"{USINGS}class {name} {{ async void Run(ParleyAgent mira) {{\n{program}\n}} }}\n"
            sources.append(tmp_path / f"{name}.cs")
            # One that waits for nothing, or looks at nothing that it got, is no fault on a page.
            sources[-1].write_text(f"#pragma warning disable 1998, 219\n{program}", encoding="utf-8")
    assert len(sources) >= 8
    compile_csharp(
        sources,
        tmp_path / "Pages.dll",
        library=True,
        references=[assemblies["Parley.Core"], assemblies["Parley"], engine["player"]],
    )


@needs_mono
@pytest.mark.parametrize(("name", "least"), [("Parley.Tests", 2), ("Parley.Editor.Tests", 4)])
def test_the_packages_own_tests_pass_where_they_need_no_engine(
    name: str, least: int, assemblies: dict[str, Path], engine: dict[str, Path], tmp_path: Path
) -> None:
    program = compile_csharp(
        [CSHARP / "nunit"],
        assemblies[name].with_name("NUnitProgram.exe"),
        references=[engine["nunit"]],
        newtonsoft=False,
    )
    done = run_mono(program, str(assemblies[name]), env=libzmq_environment(tmp_path))
    lines = done.stdout.splitlines()
    assert len([line for line in lines if line.startswith("passed ")]) >= least, done.stdout
    assert not [line for line in lines if line.startswith("ignored ")], done.stdout

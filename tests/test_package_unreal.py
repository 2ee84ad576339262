"""`parley package unreal`: the assembled plugin, what is not overwritten, and what is said when something is wrong."""

from __future__ import annotations

import errno
import json
import os
import shutil
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from bridge.codegen import TARGETS
from bridge.packaging import PackagingFailed, engine_package, unreal
from bridge.packaging.native_zmq import LINUX_SODIUM, WHEELS, Wheel
from bridge.packaging.unreal import MARKER, package_unreal
from tests import package_cases
from tests.package_cases import Packager
from tests.unreal_plugin_reader import Plugin, problems
from tests.wheel_shelf import fake_sidecar, fake_wheel, tree

UNREAL = Packager("unreal", unreal, package_unreal, ".zip")
assemble = UNREAL.assemble


@pytest.fixture
def wheels(tmp_path: Path) -> tuple[Wheel, ...]:
    """A shelf of wheels that hold little."""
    (tmp_path / "wheels").mkdir()
    return tuple(fake_wheel(wheel, tmp_path / "wheels") for wheel in WHEELS)


@pytest.fixture
def fakes(wheels: tuple[Wheel, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Wheel, ...]:
    """The same, and a plugin with a dozen sources, since it is copied again and again here."""
    sources = tmp_path / "checkout" / "unreal_plugin"
    for path in unreal.SOURCES.rglob("*"):
        name = path.relative_to(unreal.SOURCES).as_posix()
        if path.is_file() and (not name.startswith("Source/") or name.endswith(".cs") or "/Core/Json" in name):
            (sources / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, sources / name)
    monkeypatch.setattr(unreal, "SOURCES", sources)
    monkeypatch.setattr(engine_package, "emit", lambda *_: {})
    monkeypatch.setattr(engine_package, "difference", lambda *_: "")
    return wheels


# ---- the plugin ----------------------------------------------------------------------------------------------


def test_unreal_would_stumble_over_nothing_in_the_assembled_plugin(tmp_path: Path, wheels: tuple[Wheel, ...]) -> None:
    out = assemble(tmp_path, wheels, sidecars=[fake_sidecar(tmp_path / "s", "linux-x64")])
    assert problems(Plugin(out)) == []
    page = (out / "ThirdPartyNotices.md").read_text(encoding="utf-8")
    assert "mpl of a test" in page and "The libraries are unchanged." in page and "{{" not in page
    assert "GNU GENERAL PUBLIC LICENSE" in (out / "Source/ThirdParty/libzmq/GPL-3.0.txt").read_text(encoding="utf-8")
    assert "`Source/ThirdParty/libzmq/GPL-3.0.txt`" in page
    assert not list(out.rglob("*~"))


def test_each_platform_has_its_libraries_as_they_are_in_the_wheels(tmp_path: Path, fakes: tuple[Wheel, ...]) -> None:
    libraries = assemble(tmp_path, fakes) / "Source" / "ThirdParty" / "libzmq"
    assert sorted(path.name for path in libraries.iterdir() if path.is_dir()) == ["Linux", "Mac", "Win64"]
    for folder, name in (("Win64", "libzmq.dll"), ("Mac", "libzmq.dylib"), ("Linux", "libzmq.so")):
        assert (libraries / folder / name).is_file()
    assert (libraries / "Linux" / LINUX_SODIUM).is_file()
    assert LINUX_SODIUM.encode() in (libraries / "Linux" / "libzmq.so").read_bytes()
    assert (libraries / "Win64" / "msvcp140.dll").is_file()


def test_the_same_sources_make_the_same_bytes(tmp_path: Path, fakes: tuple[Wheel, ...]) -> None:
    package_cases.check_the_same_sources_make_the_same_bytes(UNREAL, tmp_path, fakes)


def test_the_archive_is_unpacked_into_a_folder_for_plugins(tmp_path: Path, fakes: tuple[Wheel, ...]) -> None:
    sidecar = fake_sidecar(tmp_path / "sidecar", "linux-x64")
    out = assemble(tmp_path, fakes, archive=tmp_path / "p.zip", sidecars=[sidecar])
    with zipfile.ZipFile(tmp_path / "p.zip") as zipped:
        assert zipped.testzip() is None
        assert {name: zipped.read(name) for name in zipped.namelist()} == {
            f"Parley/{name}": data for name, data in tree(out).items()
        }
        program = zipped.getinfo("Parley/Sidecar/linux-x64/parley")
        assert program.external_attr >> 16 & 0o777 == 0o755
        assert zipped.getinfo("Parley/Parley.uplugin").external_attr >> 16 & 0o777 == 0o644


def test_a_sidecar_goes_into_the_slot_of_its_platform(tmp_path: Path, fakes: tuple[Wheel, ...]) -> None:
    one, two = fake_sidecar(tmp_path / "one", "win-x64"), fake_sidecar(tmp_path / "two", "linux-x64")
    out = assemble(tmp_path, fakes, sidecars=[one, two])
    assert (out / "Sidecar" / "win-x64" / "_internal" / "lib.so").read_bytes() == b"library"
    assert json.loads((out / MARKER).read_text(encoding="utf-8"))["sidecars"] == ["linux-x64", "win-x64"]
    if sys.platform != "win32":
        assert os.access(out / "Sidecar" / "linux-x64" / "parley", os.X_OK)


def test_a_folder_that_unreal_keeps_for_something_else_is_said(tmp_path: Path, fakes: tuple[Wheel, ...]) -> None:
    sidecar = fake_sidecar(tmp_path / "sidecar", "linux-x64")
    for name in ("Windows", "linux", "noredist"):
        (sidecar / "_internal" / name).mkdir()
    said: list[str] = []
    assemble(tmp_path, fakes, sidecars=[sidecar], tell=said.append)
    notes = [line for line in said if line.startswith("note: ")]
    assert [note.split(" of the sidecar")[0].rpartition(" ")[2] for note in notes] == [
        "_internal/Windows",
        "_internal/noredist",
    ]


def test_what_a_developer_built_in_the_checkout_does_not_come_along(
    tmp_path: Path, fakes: tuple[Wheel, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    clean = tree(assemble(tmp_path, fakes))
    sources = tmp_path / "unreal_plugin"
    shutil.copytree(unreal.SOURCES, sources)
    monkeypatch.setattr(unreal, "SOURCES", sources)
    for name in ("Binaries/Win64/UnrealEditor-Parley.dll", "Intermediate/Build/x.obj", "Saved/x",
                 "Sidecar/old/parley", "Source/ThirdParty/libzmq/Linux/libold.so",
                 ".vs/x", "Source/.DS_Store", "Docs/Thumbs.db"):  # fmt: skip
        (sources / name).parent.mkdir(parents=True, exist_ok=True)
        (sources / name).write_bytes(b"built")
    assert tree(assemble(tmp_path, fakes)) == clean


def test_line_ends_are_those_of_the_repository(
    tmp_path: Path, fakes: tuple[Wheel, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    clean = tree(assemble(tmp_path, fakes))
    sources = tmp_path / "unreal_plugin"
    shutil.copytree(unreal.SOURCES, sources)
    monkeypatch.setattr(unreal, "SOURCES", sources)
    for path in sources.rglob("*"):
        if path.is_file():
            path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert tree(assemble(tmp_path, fakes)) == clean


# ---- what is refused -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("platforms", "says"), package_cases.CONFUSED)
def test_sidecars_that_cannot_be_told_apart_are_refused(
    platforms: list[Any], says: str, tmp_path: Path, fakes: tuple[Wheel, ...]
) -> None:
    package_cases.check_sidecars_that_cannot_be_told_apart_are_refused(UNREAL, platforms, says, tmp_path, fakes)


def test_a_folder_that_is_no_sidecar_or_an_old_one_is_refused(tmp_path: Path, fakes: tuple[Wheel, ...]) -> None:
    package_cases.check_a_folder_that_is_no_sidecar_is_refused(UNREAL, tmp_path, fakes)
    package_cases.check_a_sidecar_of_another_version_is_refused(UNREAL, tmp_path, fakes)


@pytest.mark.parametrize(
    ("out", "archive", "says"),
    [
        ("out", "out/p.zip", r"the archive .*p\.zip lies in .*out; name a place outside of it"),
        ("out", "sidecar/p.zip", r"the archive .*p\.zip lies in .*sidecar; name a place outside of it"),
        ("out", "p.tgz", r"the archive must end in \.zip, which every system unpacks: p\.tgz"),
        ("out", "folder.zip", r"folder\.zip is a folder; name a file for the archive"),
        ("sidecar/out", None, "lies in the sidecar .*; name a folder beside it"),
    ],
)
def test_nothing_is_written_into_what_is_replaced_or_copied(
    out: str, archive: str | None, says: str, tmp_path: Path, fakes: tuple[Wheel, ...]
) -> None:
    package_cases.check_nothing_is_written_into_what_is_replaced_or_copied(UNREAL, out, archive, says, tmp_path, fakes)


def test_a_package_is_not_put_where_the_next_one_would_have_it_in_itself(
    tmp_path: Path, fakes: tuple[Wheel, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    sources = tmp_path / "unreal_plugin"
    shutil.copytree(unreal.SOURCES, sources)
    monkeypatch.setattr(unreal, "SOURCES", sources)
    before = tree(tmp_path)
    says = r"{} lies in .*unreal_plugin, which is copied; name a place outside of it"
    with pytest.raises(PackagingFailed, match=says.format("new")):
        package_unreal(sources / "new", wheels_folder=tmp_path / "wheels", wheels=fakes)
    with pytest.raises(PackagingFailed, match=says.format(r"p\.zip")):
        assemble(tmp_path, fakes, archive=sources / "p.zip")
    assert tree(tmp_path) == before


def test_stale_sources_are_not_packaged(
    tmp_path: Path, wheels: tuple[Wheel, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    sources = tmp_path / "unreal_plugin"
    shutil.copytree(unreal.SOURCES, sources)
    monkeypatch.setattr(unreal, "SOURCES", tmp_path / "nothing")
    with pytest.raises(PackagingFailed, match="the Unreal plugin is made from a checkout of Parley"):
        assemble(tmp_path, wheels)
    monkeypatch.setattr(unreal, "SOURCES", sources)
    generated = sources / "Source" / "Parley" / "Core" / "Generated" / "Messages.h"
    text = generated.read_bytes()
    generated.write_bytes(text + b"// by hand\n")
    with pytest.raises(PackagingFailed, match=f"{TARGETS['unreal'].folder} is stale; run: parley codegen unreal"):
        assemble(tmp_path, wheels)
    generated.write_bytes(text)
    descriptor = json.loads((sources / "Parley.uplugin").read_text(encoding="utf-8"))
    (sources / "Parley.uplugin").write_text(json.dumps({**descriptor, "VersionName": "9.9.9"}), encoding="utf-8")
    with pytest.raises(PackagingFailed, match=r"Parley\.uplugin says version 9\.9\.9"):
        assemble(tmp_path, wheels)
    assert not (tmp_path / "out").exists()


def test_the_command_says_what_is_wrong_in_one_line(tmp_path: Path) -> None:
    package_cases.check_the_command_says_what_is_wrong_in_one_line(UNREAL, tmp_path)


def test_a_full_disk_is_said_so(tmp_path: Path, fakes: tuple[Wheel, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    package_cases.check_a_full_disk_is_said_so(UNREAL, tmp_path, fakes, monkeypatch)


def test_an_archive_that_cannot_be_written_leaves_the_earlier_one(
    tmp_path: Path, fakes: tuple[Wheel, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    out = assemble(tmp_path, fakes, archive=tmp_path / "p.zip")
    before, packed = tree(out), (tmp_path / "p.zip").read_bytes()

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(shutil, "copyfileobj", full)
    with pytest.raises(PackagingFailed, match=r"cannot write .*p\.zip: No space left on device"):
        assemble(tmp_path, fakes, archive=tmp_path / "p.zip")
    assert tree(out) == before
    assert (tmp_path / "p.zip").read_bytes() == packed
    assert not list(tmp_path.glob(".*"))


# ---- nothing of anybody's is lost ----------------------------------------------------------------------------


def test_a_strangers_folder_is_refused_before_anything_is_downloaded(
    tmp_path: Path, fakes: tuple[Wheel, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    package_cases.check_a_strangers_folder_is_refused_before_anything_is_downloaded(
        UNREAL, tmp_path, fakes, monkeypatch
    )


def test_an_earlier_package_is_replaced_with_what_unreal_built_in_it(tmp_path: Path, fakes: tuple[Wheel, ...]) -> None:
    out = assemble(tmp_path, fakes)
    before = tree(out)
    for name in ("Binaries/Linux/libUnrealEditor-Parley.so", "Intermediate/Build/x", "Docs/.DS_Store"):
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_bytes(b"built")
    page = out / "README.md"
    page.write_bytes(page.read_bytes().replace(b"\n", b"\r\n"))  # as Git may check it out on Windows
    (out / "CHANGELOG.md").unlink()
    assert tree(assemble(tmp_path, fakes)) == before


EDITS = {
    "a source that was changed": ("Source/Parley/Parley.Build.cs", b"// mine"),
    "a page that was changed": ("README.md", b"mine"),
    "a source that was added": ("Source/Parley/Private/Mine.cpp", b"// mine"),
    "a model beside the sidecar": ("Sidecar/linux-x64/models/mine.gguf", b"weights"),
    "a sidecar put there by hand": ("Sidecar/win-x64/parley.exe", b"program"),
    "a program in the sidecar": ("Sidecar/linux-x64/parley", b"a longer program"),
    "a repository": (".git/config", b"[core]"),
}


@pytest.mark.parametrize("edit", sorted(EDITS))
def test_what_somebody_changed_in_an_earlier_package_is_not_lost(
    edit: str, tmp_path: Path, fakes: tuple[Wheel, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    sidecar = fake_sidecar(tmp_path / "sidecar", "linux-x64")
    out = assemble(tmp_path, fakes, sidecars=[sidecar])
    name, content = EDITS[edit]
    (out / name).parent.mkdir(parents=True, exist_ok=True)
    (out / name).write_bytes(content)
    before = tree(out)
    monkeypatch.setattr(unreal, "collect", lambda *_: pytest.fail("it went for the wheels"))
    with pytest.raises(PackagingFailed, match=f"was changed since it was packaged, and that would be lost: {name};"):
        assemble(tmp_path, fakes, sidecars=[sidecar])
    assert tree(out) == before


def test_of_many_changes_three_are_named(tmp_path: Path, fakes: tuple[Wheel, ...]) -> None:
    out = assemble(tmp_path, fakes)
    for number in range(5):
        (out / f"Mine{number}.txt").write_bytes(b"mine")
    with pytest.raises(PackagingFailed, match=r"lost: Mine0\.txt, Mine1\.txt, Mine2\.txt and 2 more; move"):
        assemble(tmp_path, fakes)


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"files": 3}', "\x00"])
def test_a_folder_whose_marker_cannot_be_read_is_left_alone(
    content: str, tmp_path: Path, fakes: tuple[Wheel, ...]
) -> None:
    out = assemble(tmp_path, fakes)
    (out / MARKER).write_text(content, encoding="utf-8")
    before = tree(out)
    with pytest.raises(PackagingFailed, match=r"cannot be read; move .* away, or name another folder"):
        assemble(tmp_path, fakes)
    assert tree(out) == before


def test_what_is_changed_while_it_packages_is_not_lost_either(tmp_path: Path, fakes: tuple[Wheel, ...]) -> None:
    out = assemble(tmp_path, fakes)

    def meanwhile(line: str) -> None:
        (out / "Mine.txt").write_text("mine", encoding="utf-8")

    with pytest.raises(PackagingFailed, match=r"would be lost: Mine\.txt"):
        assemble(tmp_path, fakes, tell=meanwhile)
    assert (out / "Mine.txt").read_text(encoding="utf-8") == "mine"


# ---- for real ------------------------------------------------------------------------------------------------


@pytest.mark.timeout(300)
def test_the_real_wheels_make_a_plugin_whose_libzmq_loads(tmp_path: Path, full: bool) -> None:
    out = package_cases.packaged_for_real(UNREAL, tmp_path / "out", full)
    assert problems(Plugin(out)) == []
    libraries = out / "Source" / "ThirdParty" / "libzmq"
    assert (libraries / "Win64/libzmq.dll").read_bytes()[:2] == b"MZ"
    assert package_cases.missing_dlls(libraries / "Win64") == set()
    assert b"@loader_path/libsodium.26.dylib\0" in (libraries / "Mac/libzmq.dylib").read_bytes()
    package_cases.check_libzmq_loads_with_the_sodium_beside_it(libraries / "Linux/libzmq.so", LINUX_SODIUM)

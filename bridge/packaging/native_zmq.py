"""libzmq for the three desktops, out of the wheels that Python's own ZeroMQ binding is published in.

Nothing of it is in this repository: the wheels are downloaded by their platform, compared with the checksums below, and
the libraries are taken out. What an engine needs changed in them is done here too.
"""

from __future__ import annotations

import contextlib
import hashlib
import subprocess
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bridge.packaging import PackagingFailed
from bridge.packaging.out_folder import failing_in_words

PIP_TIMEOUT_S = 600
_PIP_OPTIONS = ("--no-deps", "--only-binary", ":all:", "--disable-pip-version-check", "--quiet", "--retries", "1",
                "--timeout", "20", "--no-input")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Taken:
    """One file of a wheel, and where it goes."""

    member: str
    target: str


@dataclass(frozen=True, slots=True)
class Wheel:
    """One wheel of the Python package index, pinned, and what is taken out of it."""

    project: str
    version: str
    platform: str
    file: str
    sha256: str
    taken: tuple[Taken, ...]
    licences: tuple[Taken, ...] = ()


LINUX_SODIUM = "libsodium-6c8f8377.so.26.4.0"
LINUX_SODIUM_HERE = "libparleysodium.so"
"""Unity takes only files that end in .so for libraries; the name is our own, lest another plugin has a libsodium.so."""

WHEELS = (
    # The last one whose Windows wheel has libzmq as a library of its own.
    Wheel(
        "pyzmq",
        "25.1.2",
        "win_amd64",
        "pyzmq-25.1.2-cp311-cp311-win_amd64.whl",
        "25c2dbb97d38b5ac9fd15586e048ec5eb1e38f3d47fe7d92167b0c77bb3584e9",
        (
            Taken("pyzmq.libs/libzmq-v141-mt-4_3_4-0a6f51ca.dll", "win-x64/libzmq.dll"),
            Taken("pyzmq.libs/libsodium-ac42d648.dll", "win-x64/libsodium-ac42d648.dll"),
        ),
        (Taken("pyzmq-25.1.2.dist-info/LICENSE.LESSER", "lgpl"),),
    ),
    # The runtime of that libzmq. Its own wheel has an msvcp140.dll of 2018, which would break libraries of a game that
    # were compiled since, and no vcruntime140.dll. Newer ones serve older libraries.
    Wheel(
        "msvc-runtime",
        "14.44.35112",
        "win_amd64",
        "msvc_runtime-14.44.35112-cp311-cp311-win_amd64.whl",
        "aba7fbe71897d25ed53fbb7f391e9f50289378a8a9ae218ba18530c663448391",
        tuple(
            Taken(f"msvc_runtime-14.44.35112.data/data/Scripts/{name}.dll", f"win-x64/{name}.dll")
            for name in ("concrt140", "msvcp140", "vcruntime140", "vcruntime140_1")
        ),
        (Taken("msvc_runtime-14.44.35112.dist-info/licenses/LICENSE", "msvc"),),
    ),
    Wheel(
        "pyzmq",
        "27.3.0",
        "macosx_10_15_universal2",
        "pyzmq-27.3.0-cp311-cp311-macosx_10_15_universal2.whl",
        "86fb4408797aabb54a31e147176ae0f2474d99f1715a36a4564089eca9ef9ce8",
        (
            Taken("zmq/.dylibs/libzmq.5.dylib", "macos/libzmq.dylib"),
            Taken("zmq/.dylibs/libsodium.26.dylib", "macos/libsodium.26.dylib"),
        ),
    ),
    Wheel(
        "pyzmq",
        "27.3.0",
        "manylinux_2_28_x86_64",
        "pyzmq-27.3.0-cp311-cp311-manylinux_2_26_x86_64.manylinux_2_28_x86_64.whl",
        "477b8ad30d66fc905c5388351e83b9ac25824b00e82c0d052b72ea6392636dfd",
        (
            Taken("pyzmq.libs/libzmq-2f02442c.so.5.2.5", "linux-x64/libzmq.so"),
            Taken(f"pyzmq.libs/{LINUX_SODIUM}", f"linux-x64/{LINUX_SODIUM}"),
        ),
        (
            Taken("pyzmq-27.3.0.dist-info/licenses/licenses/LICENSE.zeromq.txt", "mpl"),
            Taken("pyzmq-27.3.0.dist-info/licenses/licenses/LICENSE.libsodium.txt", "sodium"),
        ),
    ),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Natives:
    """What was taken out of the wheels."""

    files: dict[str, bytes]
    """Libraries by their path, such as `linux-x64/libzmq.so`."""
    licences: dict[str, str]
    """Licence texts by a short name."""


def collect(wheels_folder: Path | None = None, wheels: Sequence[Wheel] = WHEELS) -> Natives:
    """The libraries of all platforms, as they are in the wheels. Blocking.

    The wheels are downloaded with pip, or read from a folder where they are already. Raises PackagingFailed where one
    is missing, is not what it was when it was pinned, or has another content.
    """
    files: dict[str, bytes] = {}
    licences: dict[str, str] = {}
    with contextlib.ExitStack() as stack:
        if wheels_folder is None:
            with failing_in_words("download wheels"):
                folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="parley-wheels-")))
        else:
            folder = wheels_folder
        for wheel in wheels:
            path = folder / wheel.file
            if wheels_folder is None:
                _download(wheel, folder)
            elif not path.is_file():
                raise PackagingFailed(f"there is no {wheel.file} in {wheels_folder}; get it with: {_command(wheel)}")
            for taken, data in _read(wheel, path):
                if taken in wheel.licences:
                    licences[taken.target] = data.decode("utf-8", "replace").replace("\r\n", "\n")
                else:
                    files[taken.target] = data
    return Natives(dict(sorted(files.items())), licences)


def with_so_endings(natives: Natives) -> Natives:
    """The same with Linux's libsodium under a name that ends in .so, and libzmq asking for it by that name.

    Raises PackagingFailed.
    """
    files = dict(natives.files)
    files[f"linux-x64/{LINUX_SODIUM_HERE}"] = files.pop(f"linux-x64/{LINUX_SODIUM}")
    files["linux-x64/libzmq.so"] = rename_needed(files["linux-x64/libzmq.so"], LINUX_SODIUM, LINUX_SODIUM_HERE)
    return Natives(dict(sorted(files.items())), natives.licences)


def rename_needed(library: bytes, old: str, new: str) -> bytes:
    """The ELF library with another file name, not longer, for one that it needs. Raises PackagingFailed.

    Its string table holds the name once; the rest of the old one's room is filled with zeros, so nothing moves.
    """
    was, becomes = f"\0{old}\0".encode(), f"\0{new}\0".encode()
    if library[:4] != b"\x7fELF" or library.count(was) != 1 or len(becomes) > len(was):
        raise PackagingFailed(f"libzmq for Linux does not ask for {old} in the way that was expected")
    return library.replace(was, becomes.ljust(len(was), b"\0"))


def _download(wheel: Wheel, folder: Path) -> None:
    command = [sys.executable, "-m", "pip", *_arguments(wheel), *_PIP_OPTIONS, "--dest", str(folder)]
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", errors="replace",
            timeout=PIP_TIMEOUT_S, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as fault:
        raise PackagingFailed(f"pip could not download {wheel.file}: {fault}") from fault
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if "No module named pip" in line or line.startswith("ERROR")]
        why = lines[-1].removeprefix("ERROR: ") if lines else f"it ended with {done.returncode}"
        raise PackagingFailed(
            f"pip could not download {wheel.file}: {why}; without a network, put the wheels into a folder and name it "
            "with --wheels"
        )
    if not (folder / wheel.file).is_file():
        raise PackagingFailed(f"pip brought another file than {wheel.file} for {wheel.project} {wheel.version}")


def _read(wheel: Wheel, path: Path) -> Iterator[tuple[Taken, bytes]]:
    with failing_in_words(f"read {path}"):
        data = path.read_bytes()
    found = hashlib.sha256(data).hexdigest()
    if found != wheel.sha256:
        raise PackagingFailed(f"{path} is not the wheel that was checked: its sha256 is {found}, not {wheel.sha256}")
    try:
        with zipfile.ZipFile(path) as archive:
            for taken in (*wheel.taken, *wheel.licences):
                yield taken, archive.read(taken.member)
    except (zipfile.BadZipFile, KeyError, zlib.error) as fault:
        raise PackagingFailed(f"{wheel.file} does not hold what it should: {fault}") from fault


def _arguments(wheel: Wheel) -> list[str]:
    return ["download", f"{wheel.project}=={wheel.version}", "--platform", wheel.platform, "--python-version", "3.11",
            "--implementation", "cp"]  # fmt: skip


def _command(wheel: Wheel) -> str:
    return " ".join(["pip", *_arguments(wheel), "--no-deps", "--only-binary", ":all:"])

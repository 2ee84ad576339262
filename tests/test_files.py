"""Files that are there whole or not at all, whoever is killed while one is written."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bridge.files import hold, write_atomically
from tests.sidecar import environment, killed_at_last

WRITER = """
import sys, os
from pathlib import Path
from bridge.packaged_model import placing
import bridge.files
target, how = Path(sys.argv[1]), sys.argv[2]

def hang(*_):
    print("writing", flush=True)
    sys.stdin.read()

if how == "model":
    with placing("m", target, 7) as part:
        part.write_bytes(b"a half.")
        hang()
else:
    os.replace = hang
    bridge.files.write_atomically(target, b"a half.")
"""


def leftovers(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.suffix in (".part", ".tmp"))


@pytest.mark.skipif(sys.platform == "win32", reason="a killed writer's file is only swept after a minute there")
@pytest.mark.parametrize("how", ["model", "file"])
def test_what_a_killed_writer_left_is_swept_by_the_next_and_a_living_ones_is_not(how: str, tmp_path: Path) -> None:
    from bridge.packaged_model import placing

    target = tmp_path / "model [1].gguf"

    def write() -> None:
        if how == "model":
            with placing("m", target, 7) as part:
                part.write_bytes(b"a whole")
        else:
            write_atomically(target, b"a whole")
        assert target.read_bytes() == b"a whole"

    command = [sys.executable, "-c", WRITER, str(target), how]
    popen = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment())
    with killed_at_last(popen) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"writing\n"
        [left] = leftovers(tmp_path)
        write()
        assert leftovers(tmp_path) == [left]
        writer.kill()
        writer.wait()
        write()
        assert leftovers(tmp_path) == []


@pytest.mark.skipif(sys.platform == "win32", reason="file modes and links of POSIX")
def test_only_temporary_files_of_parley_are_swept(tmp_path: Path) -> None:
    mine = [".parley-settings.tmp", ".parley-abcdefg.tmp", ".parley-abcdefgh", "parley-abcdefgh.tmp"]
    for name in mine:
        (tmp_path / name).write_text("of somebody else")
    os.mkfifo(tmp_path / ".parley-fifofifo.tmp")
    (tmp_path / ".parley-dirdirdi.tmp").mkdir()
    (tmp_path / ".parley-linklink.tmp").symlink_to(tmp_path / mine[0])
    (tmp_path / ".parley-abcdefgh.tmp").write_text("left over")
    (tmp_path / ".parley-heldheld.tmp").write_text("at work")
    with (tmp_path / ".parley-heldheld.tmp").open() as at_work:
        hold(at_work.fileno())
        write_atomically(tmp_path / "a file", b"x")
    left = {path.name for path in tmp_path.iterdir()} - set(mine)
    assert left == {"a file", ".parley-fifofifo.tmp", ".parley-dirdirdi.tmp", ".parley-linklink.tmp",
                    ".parley-heldheld.tmp"}  # fmt: skip


def test_a_file_that_cannot_be_written_leaves_the_old_one_and_nothing_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "a file"
    write_atomically(target, b"old")

    def refuse(*_: object) -> None:
        raise PermissionError(13, "no")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(PermissionError):
        write_atomically(target, b"new")
    assert target.read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["a file"]

"""Writing a file so that it is there whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path


def write_atomically(path: Path, data: bytes, *, mode: int | None = None) -> None:
    """Replace `path` by `data` in one step. Symbolic links are followed. Raises OSError; the old file is then intact.

    `mode` None keeps the permissions of the file that was there.
    """
    target = Path(os.path.realpath(path))
    if mode is None and target.exists():
        mode = target.stat().st_mode & 0o777
    descriptor, name = tempfile.mkstemp(prefix=".parley-", dir=target.parent)
    try:
        with os.fdopen(descriptor, "wb") as out:
            out.write(data)
        os.chmod(name, 0o644 if mode is None else mode)
        os.replace(name, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)
        raise

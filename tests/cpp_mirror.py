"""C++ programs that read messages and nodes and write them back, kept running for a whole file of tests."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from bridge.codegen import TARGETS, emit, write
from tests.cpp_build import CORE, build, build_folder, environment
from tests.mirror import ANSWER_TIMEOUT_S, Mirror
from tests.node_checks import REGISTRY, Lamp
from tests.unreal_generated import write_generated
from tests.unreal_reader import read_header


@contextmanager
def running_program(exe: Path, env: Mapping[str, str] | None = None) -> Iterator[Mirror]:
    """The program, answering. What a sanitizer has to say at its end fails the test that comes last."""
    process = subprocess.Popen([str(exe)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment(env))
    with process:
        yield Mirror(process)
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(ANSWER_TIMEOUT_S) == 0


def lamp_program() -> Path:
    """The program with the messages and nodes of the plugin's module and one node type more: `node_checks.Lamp`."""
    import fcntl

    target = TARGETS["unreal"]
    folder = build_folder() / "lamp"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        module = folder / "Parley"
        write(target, emit(target, {**REGISTRY, "Lamp": Lamp}), module)
        own = CORE.parent / "Public/ParleyNode.h"
        write_generated(CORE.parent, folder / "tree")
        write_generated(module, folder / "lamp", [read_header(own.name, own.read_text(encoding="utf-8"))])
    return build("unreal_lamp")

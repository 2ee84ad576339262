"""`parley package …`: what a game ships: the packages for Unity and Unreal, and the sidecar as a folder."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from bridge.cli_shared import EXIT_FAILED, EXIT_USAGE, fail

package_app = typer.Typer(
    help="Put together what a game ships.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Result = TypeVar("Result")
Out = Annotated[
    Path, typer.Option("--out", metavar="DIR", help="Where to put it; a folder that is new, empty or made by this.")
]


Wheels = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR", help="Take the wheels with libzmq from this folder; pip is not asked.", show_default=False
    ),
]
Sidecars = Annotated[
    list[Path] | None,
    typer.Option("--sidecar", metavar="DIR", help="A packaged sidecar to put in; may be repeated."),
]


@package_app.command("unity")
def unity(
    out: Out,
    wheels: Wheels = None,
    sidecar: Sidecars = None,
    archive: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write it as a .tgz too, which Unity installs from.", show_default=False),
    ] = None,
) -> None:
    """Assemble the Unity package with libzmq for Windows, macOS and Linux. From a checkout of Parley only."""
    from bridge.packaging.unity import package_unity

    print(
        _guard(
            lambda: package_unity(out, wheels_folder=wheels, sidecars=tuple(sidecar or ()), archive=archive, tell=_tell)
        )
    )


@package_app.command("unreal")
def unreal(
    out: Out,
    wheels: Wheels = None,
    sidecar: Sidecars = None,
    archive: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write it as a .zip too, to unpack into a project's Plugins.", show_default=False
        ),
    ] = None,
) -> None:
    """Assemble the Unreal plugin with libzmq for Windows, macOS and Linux. From a checkout of Parley only."""
    from bridge.packaging.unreal import package_unreal

    print(
        _guard(
            lambda: package_unreal(
                out, wheels_folder=wheels, sidecars=tuple(sidecar or ()), archive=archive, tell=_tell
            )
        )
    )


@package_app.command("metas")
def metas(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A Unity package.")] = Path("unity_package"),
    check: Annotated[bool, typer.Option("--check", help="Write nothing; list what is stale.")] = False,
) -> None:
    """Write the .meta file of every file of the Unity package. With --check the exit code is 1 where one is stale."""
    from bridge.packaging.unity_meta import stale_metas, write_metas

    if not (folder / "package.json").is_file():
        fail(
            f"{folder} is no Unity package: it has no package.json; name one, or go to the folder of a checkout",
            EXIT_USAGE,
        )
    changed = _guard(lambda: stale_metas(folder) if check else write_metas(folder))
    for name in changed:
        print(folder / name)
    if check and changed:
        fail(f"{folder} has stale .meta files; run: parley package metas {folder}", EXIT_FAILED)


@package_app.command("sidecar")
def sidecar(
    out: Out,
    with_starter: Annotated[bool, typer.Option("--with-starter", help="Put the starter models into it too.")] = False,
) -> None:
    """Build the sidecar as a folder that needs no Python, for machines like this one, and try it out."""
    from bridge.packaging.sidecar import build_sidecar

    print(_guard(lambda: build_sidecar(out, with_starter=with_starter, tell=_tell)))


def probe_llama() -> None:
    """Print what llama.cpp is and whether it works here, as JSON."""
    from bridge.engines.llama_probe import main

    main()


def voice_worker() -> None:
    """Speak with sherpa-onnx over standard input and output; only the sidecar starts it."""
    from bridge.engines.sherpa_worker import main

    main()


def _guard(work: Callable[[], Result]) -> Result:
    from bridge.packaging import PackagingFailed

    try:
        return work()
    except PackagingFailed as fault:
        fail(str(fault), EXIT_FAILED)


def _tell(line: str) -> None:
    print(f"parley: {line}", file=sys.stderr, flush=True)

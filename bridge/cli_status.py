"""`parley status` and `parley top`: look at a sidecar that runs."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import sys
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from bridge.cli_shared import EXIT_FAILED, EXIT_USAGE, fail, print_json, settings_of

if TYPE_CHECKING:
    from rich.console import Console

    from bridge.client import ParleyClient
    from bridge.status_view import Sample

PATIENCE_S = 5.0
"""For each answer of the sidecar."""

_ENDPOINT = re.compile(r"tcp://(?:[\w.-]+|\[[0-9A-Fa-f:.]+(?:%\w+)?\]):(\d{1,5})", re.ASCII)

Endpoint = Annotated[
    str, typer.Option(metavar="ENDPOINT", help="Where the sidecar listens, as its ready line says.", show_default=False)
]
Token = Annotated[
    str,
    typer.Option(help="The token of its ready line. PARLEY_TOKEN hides it from other users.", show_default=False),
]
ReadyFile = Annotated[
    Path | None,
    typer.Option(metavar="PATH", help="Its ready file, in place of both.", show_default=False),
]
PublicKey = Annotated[
    str, typer.Option(metavar="KEY", help="Its public key, where it encrypts without a ready file.", show_default=False)
]
ConfigFile = Annotated[
    Path | None, typer.Option("--config", help="A parley.toml file that names one of these.", show_default=False)
]


@dataclass(frozen=True, slots=True)
class Target:
    """How to reach a sidecar."""

    endpoint: str
    token: str
    public_key: str = ""


def status(
    endpoint: Endpoint = "",
    token: Token = "",
    ready_file: ReadyFile = None,
    public_key: PublicKey = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object; sizes are bytes.")] = False,
    config: ConfigFile = None,
) -> None:
    """Print what a sidecar does: sessions, models, turns, tokens and errors."""
    target = find(endpoint, token, ready_file, public_key, config)

    async def look(client: ParleyClient) -> None:
        sample = await ask(client)
        if as_json:
            print_json(sample.status.model_dump())
            return
        from bridge.status_view import console, frame

        screen = console()
        screen.print(frame(sample, encoding=screen.encoding))

    _talk(target, "parley status", look)


def top(
    endpoint: Endpoint = "",
    token: Token = "",
    ready_file: ReadyFile = None,
    public_key: PublicKey = "",
    interval: Annotated[float, typer.Option(help="Seconds between two looks.", min=0.1, max=3600)] = 1.0,
    once: Annotated[bool, typer.Option("--once", help="Look once and leave.")] = False,
    config: ConfigFile = None,
) -> None:
    """Watch what a sidecar does; q or Ctrl-C leaves. To a file or a pipe, one look is printed below the other."""
    target = find(endpoint, token, ready_file, public_key, config)

    async def watch(client: ParleyClient) -> None:
        from bridge.status_view import console

        screen = console()
        leave = asyncio.Event()
        live = screen.is_terminal and not once
        with _keys(leave) if live else contextlib.nullcontext(), _shown(screen, live=live) as show:
            before: Sample | None = None
            while not leave.is_set():
                now = await ask(client)
                show(now, before)
                before = now
                if once:
                    return
                with contextlib.suppress(asyncio.TimeoutError):
                    await asyncio.wait_for(leave.wait(), interval)

    # Ctrl-C is how one leaves.
    with contextlib.suppress(KeyboardInterrupt):
        _talk(target, "parley top", watch)


def find(endpoint: str, token: str, ready_file: Path | None, public_key: str, config: Path | None) -> Target:
    """The sidecar that the flags name, or else the settings. Leaves with a sentence where there is none."""
    if endpoint and ready_file is not None:
        fail("name the sidecar by --ready-file or by --endpoint, not both", EXIT_USAGE)
    settings = settings_of(config)
    token = token or settings.token
    if not endpoint and ready_file is None:
        if settings.ready_file:
            ready_file = Path(settings.ready_file)
        elif "*" not in settings.endpoint:
            endpoint = settings.endpoint
        else:
            fail("name the sidecar: --ready-file PATH, or --endpoint and --token as its ready line says", EXIT_USAGE)
    target = Target(endpoint, token, public_key) if ready_file is None else _read_ready_file(ready_file)
    found = _ENDPOINT.fullmatch(target.endpoint)
    if found is None or not 0 < int(found[1]) < 65_536:
        fail(f"'{target.endpoint[:200]}' is no endpoint such as tcp://127.0.0.1:5600", EXIT_USAGE)
    return target


def _read_ready_file(path: Path) -> Target:
    try:
        ready: Any = json.loads(path.read_text(encoding="utf-8"))
        return Target(str(ready["endpoint"]), str(ready["token"]), str(ready.get("curve_public_key", "")))
    except FileNotFoundError:
        fail(f"there is no ready file {path}; is the sidecar running?", EXIT_FAILED)
    except OSError as fault:
        fail(f"cannot read {path}: {fault.strerror}", EXIT_FAILED)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        fail(f"{path} is not the ready file of a sidecar", EXIT_FAILED)


def _talk(target: Target, name: str, work: Callable[[ParleyClient], Awaitable[None]]) -> None:
    """Do something with a session of the sidecar; failures are one sentence."""
    from bridge.client import ParleyClient
    from bridge.errors import ParleyError
    from bridge.transport import run_on_selector_loop

    async def play() -> None:
        client = await ParleyClient.connect(
            target.endpoint,
            target.token,
            client=name,
            timeout=PATIENCE_S,
            reconnect_s=0.0,
            server_public_key=target.public_key,
        )
        async with client:
            await work(client)

    def leave(why: str) -> NoReturn:
        fail(f"{why} ({target.endpoint})", EXIT_FAILED)

    try:
        run_on_selector_loop(play())
    except (TimeoutError, asyncio.TimeoutError):
        leave(f"no sidecar answers within {PATIENCE_S:g} s")
    except ParleyError as fault:
        leave(str(fault))
    except BrokenPipeError:
        raise
    except ConnectionError as fault:
        leave(f"the sidecar is gone: {fault}")


async def ask(client: ParleyClient) -> Sample:
    """What the sidecar says now."""
    from bridge.protocol import GetStatus, Status
    from bridge.status_view import Sample

    reply = await client.request(GetStatus(), timeout=PATIENCE_S)
    assert isinstance(reply, Status)
    return Sample(reply, asyncio.get_running_loop().time())


@contextlib.contextmanager
def _shown(screen: Console, *, live: bool) -> Iterator[Callable[[Sample, Sample | None], None]]:
    """How one look after the other is shown."""
    from bridge.status_view import frame

    if not live:
        yield lambda now, before: screen.print(frame(now, before, encoding=screen.encoding))
        return
    from rich.live import Live

    with Live(console=screen, screen=True, auto_refresh=False) as display:

        def show(now: Sample, before: Sample | None) -> None:
            rows = max((screen.height - 12) // 2, 3)
            display.update(frame(now, before, encoding=screen.encoding, most_rows=rows), refresh=True)

        yield show


@contextlib.contextmanager
def _keys(leave: asyncio.Event) -> Iterator[None]:
    """Sets `leave` on q and Ctrl-C, where there is a keyboard."""
    if sys.stdin is None or not sys.stdin.isatty():
        yield
        return
    from prompt_toolkit.input import create_input
    from prompt_toolkit.keys import Keys

    keyboard = create_input()

    def read() -> None:
        if keyboard.closed or any(press.key in ("q", "Q", Keys.ControlC) for press in keyboard.read_keys()):
            leave.set()

    with keyboard.raw_mode(), keyboard.attach(read):
        yield

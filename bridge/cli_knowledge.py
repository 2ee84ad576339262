"""`parley kb …`: build the index of an embedded storage, and try searches on it."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bridge.cli_shared import EXIT_USAGE, catalog_of, fail, guard, plain, print_json, settings_of

if TYPE_CHECKING:
    from bridge.engine import EmbeddingModel
    from bridge.filter import Filter, Schema
    from bridge.retrieval import EmbeddedStorage, Hit, Knowledge
    from bridge.variables import Declared, Value, VariableType

kb_app = typer.Typer(
    help="Build the index of knowledge, and search it.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

StorageConfig = Annotated[
    Path, typer.Argument(metavar="CONFIG", help="The config file of an embedded storage.", show_default=False)
]
Folder = Annotated[
    Path | None,
    typer.Option(help="Storage folder that all files must lie in; by default where CONFIG lies.", show_default=False),
]
ConfigFile = Annotated[Path | None, typer.Option("--config", help="A parley.toml file.", show_default=False)]

_SHOWN_CHARS = 120

Bars = Callable[[str, int, int], None]
"""Progress of a task: (what, done, total)."""


@kb_app.command()
def build(storage: StorageConfig, folder: Folder = None, config: ConfigFile = None) -> None:
    """Embed what is new, and keep the index beside the records. The sidecar does the same when it needs the storage."""
    knowledge = _read(storage, folder)

    async def measure(found: EmbeddedStorage, model: EmbeddingModel, seconds: float) -> str:
        path = knowledge.index_path
        where = f"kept in {path}" if found.kept else f"not kept: {path} cannot be written"
        how = (
            f"nothing to embed, the index is fresh ({path})"
            if found.reused
            else f"embedded in {seconds:.1f} s, {where}"
        )
        records = "1 record" if found.count == 1 else f"{found.count} records"
        return f"{storage.name}: {records}, {found.dimension} dimensions of {found.model_name}; {how}"

    print(plain(_with_storage(knowledge, config, measure)))


@kb_app.command()
def search(
    storage: StorageConfig,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What is looked up.", show_default=False)],
    top_k: Annotated[int, typer.Option(help="Most hits to show.", min=1, max=1000)] = 5,
    threshold: Annotated[float, typer.Option(help="Largest distance of a hit; 0 = off.", min=0, max=2)] = 0.0,
    filter: Annotated[
        str, typer.Option(metavar="JSON", help="A filter over the fields of the records.", show_default=False)
    ] = "",
    var: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="A variable that the filter reads; may be repeated. 3, 2.5, true and ["
            '"a", "b"] are read as JSON, all else as text.',
            show_default=False,
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON array.")] = False,
    folder: Folder = None,
    config: ConfigFile = None,
) -> None:
    """Show what a search finds: distance (1 - cosine), id and text, nearest first."""
    knowledge = _read(storage, folder)
    declared = _declared(var or [])
    only = _filter(filter, knowledge.schema, declared)
    values: dict[str, Value] = {name: value for name, (_, value) in declared.items()}

    async def look(found: EmbeddedStorage, model: EmbeddingModel, seconds: float) -> list[Hit]:
        return await found.search(model, text, top_k=top_k, threshold=threshold, filter=only, variables=values)

    hits = _with_storage(knowledge, config, look)
    if as_json:
        print_json([_row(hit) for hit in hits])
        return
    width = max((len(plain(hit.id)) for hit in hits), default=0)
    for hit in hits:
        line = plain(" ".join(hit.text.split()))
        short = line if len(line) <= _SHOWN_CHARS else line[: _SHOWN_CHARS - 1] + "…"
        print(f"{hit.distance:.3f}  {plain(hit.id):<{width}}  {short}")
    if not hits:
        print("nothing is found", file=sys.stderr)


# ---- helpers -------------------------------------------------------------------------------------------------


def _read(storage: Path, folder: Path | None) -> Knowledge:
    from bridge.knowledge import read_knowledge

    if not storage.is_file():
        fail(f"there is no file {storage}", EXIT_USAGE)
    root = storage.parent if folder is None else folder
    name = os.path.relpath(storage, root)
    if folder is not None and name.startswith(".."):
        fail(f"{storage} does not lie in {folder}", EXIT_USAGE)
    return guard(lambda: read_knowledge(root, name))


def _with_storage(knowledge: Knowledge, config: Path | None, use: Callable[..., Any]) -> Any:
    """What `use(storage, model, seconds)` makes of the storage once it is built, with a bar meanwhile."""
    settings = settings_of(config)
    catalog = catalog_of(settings)
    logging.getLogger("bridge").addHandler(logging.NullHandler())  # warnings are shown below, once
    from bridge.models import ModelStore
    from bridge.retrieval import build_storage

    async def work() -> Any:
        store = ModelStore(settings, catalog)
        try:
            with _bars() as bars:
                held = await store.acquire_embedding(
                    knowledge.embedding_model, lambda task, done, total, unit: bars("model", done, total)
                )
                start = time.perf_counter()
                storage = await build_storage(
                    knowledge, held.engine, held.entry.name, lambda done, total: bars("records", done, total)
                )
                seconds = time.perf_counter() - start
            for warning in storage.warnings:
                print(f"note: {plain(warning)}", file=sys.stderr)
            try:
                return await use(storage, held.engine, seconds)
            finally:
                storage.close()
        finally:
            await store.close()

    return guard(lambda: asyncio.run(work()))


def _filter(text: str, schema: Schema, declared: Declared) -> Filter | None:
    from bridge.filter import compile_filter, variables_in

    if not text:
        return None
    try:
        raw = json.loads(text)
    except (ValueError, RecursionError) as fault:
        fail(f"--filter is not valid JSON: {fault}", EXIT_USAGE)
    for name in sorted(variables_in(raw) - set(declared)):
        fail(f"the filter reads the variable '{name}'; give --var {name}=…", EXIT_USAGE)
    return guard(lambda: compile_filter(raw, schema, declared))


def _declared(pairs: list[str]) -> dict[str, tuple[VariableType, Value]]:
    """Variables of the command line, their types taken from their values."""
    found: dict[str, tuple[VariableType, Value]] = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not name or not equals:
            fail(f"--var takes NAME=VALUE, not '{pair}'", EXIT_USAGE)
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            value = text
        if isinstance(value, bool):
            found[name] = "bool", value
        elif isinstance(value, int):
            found[name] = "int", value
        elif isinstance(value, float):
            found[name] = "float", value
        elif isinstance(value, list) and all(isinstance(item, str) for item in value):
            found[name] = "string_set", frozenset(value)
        else:
            found[name] = "string", value if isinstance(value, str) else text
    return found


def _row(hit: Hit) -> Mapping[str, object]:
    metadata = {name: sorted(value) if isinstance(value, frozenset) else value for name, value in hit.metadata.items()}
    return {"id": hit.id, "text": hit.text, "distance": hit.distance, "metadata": metadata}


@contextmanager
def _bars() -> Iterator[Bars]:
    """A bar for each task, on a terminal's stderr."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        tasks: dict[str, TaskID] = {}

        def show(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = progress.add_task(what, total=None)
            progress.update(tasks[what], completed=done, total=total)

        yield show

"""`parley models …`: look at the catalog, fetch models, add some, remove some, check them."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, TypeVar

import typer

from bridge.cli_shared import print_json

if TYPE_CHECKING:
    from bridge.catalog import Catalog
    from bridge.config import Settings
    from bridge.model_files import Report
    from bridge.protocol import ModelInfo

models_app = typer.Typer(
    help="List the models of the catalog, and get, add, remove and check them.",
    add_completion=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Name = Annotated[str, typer.Argument(metavar="NAME", help="A model of the catalog.", show_default=False)]
ConfigFile = Annotated[Path | None, typer.Option("--config", help="A parley.toml file.", show_default=False)]
CatalogFile = Annotated[
    Path | None, typer.Option("--catalog", metavar="FILE", help="The game's models.json.", show_default=False)
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON array.")]

EXIT_FAILED, EXIT_USAGE, EXIT_INTERRUPTED = 1, 2, 130
_USAGE_FAULTS = (3007, 6005)
MAX_SPEAKERS = 6
"""Of a voice that the table names; of one with more it says how many."""

Result = TypeVar("Result")


@models_app.callback(invoke_without_command=True)
def _default(context: typer.Context, as_json: AsJson = False, config: ConfigFile = None) -> None:
    if context.invoked_subcommand is None:
        list_models(as_json, config)


@models_app.command("list")
def list_models(as_json: AsJson = False, config: ConfigFile = None, catalog: CatalogFile = None) -> None:
    """List the models of the catalog."""
    settings = _settings(config, catalog)
    from bridge.models import ModelStore

    rows = _guard(lambda: ModelStore(settings, _catalog(settings)).list())
    if as_json:
        print_json([row.model_dump() for row in rows])
    else:
        _print_table(rows)


@models_app.command()
def pull(name: Name, config: ConfigFile = None, catalog: CatalogFile = None) -> None:
    """Download a model. What an earlier try brought is kept and gone on with."""
    settings = _settings(config, catalog)
    from bridge.model_files import locate, partial_bytes
    from bridge.models import ModelStore

    def work() -> str:
        entries = _catalog(settings)
        entry = _entry(entries, name)
        with _progress(name) as report:
            if entry.source.huggingface:
                asyncio.run(_download(ModelStore(settings, entries), name, report))
            elif entry.source.names:
                return f"{name}: {locate(entry, settings, report)}"
        return f"{name}: downloaded" if entry.source.huggingface else f"{name} needs no file"

    try:
        print(_guard(work), file=sys.stderr)
    except KeyboardInterrupt:
        kept = partial_bytes(_entry(_catalog(settings), name), settings)
        print(
            f"parley: stopped; {_mib(kept)} of '{name}' are kept, and the next `parley models pull {name}` goes on",
            file=sys.stderr,
        )
        raise typer.Exit(EXIT_INTERRUPTED) from None


@models_app.command()
def add(
    source: Annotated[
        str,
        typer.Argument(
            metavar="FILE_OR_REPO",
            help="A GGUF file, the folder of a voice for sherpa-onnx, or owner/name of a repository.",
            show_default=False,
        ),
    ],
    name: Annotated[str, typer.Option("--name", help="What workflows call the model.", show_default=False)],
    file: Annotated[
        list[str] | None,
        typer.Option(
            "--file",
            help="Of a repository: the GGUF file (of a split one, the first); of a voice each of its files.",
            show_default=False,
        ),
    ] = None,
    kind: Annotated[
        str, typer.Option("--type", help="language, embedding or tts; of a file here it is read from the file.")
    ] = "",
    context_size: Annotated[int, typer.Option(help="Tokens of its window; 0 = what it was trained for.")] = 0,
    chat_format: Annotated[str, typer.Option(help="auto, chatml, llama3, gemma, mistral, transcript, plain.")] = "auto",
    revision: Annotated[str, typer.Option(help="Of a repository: branch, tag or commit.")] = "",
    sha256: Annotated[str, typer.Option(help="The file's checksum, to be checked whenever it is fetched.")] = "",
    license: Annotated[str, typer.Option(help="Its licence.")] = "",
    replace: Annotated[bool, typer.Option("--replace", help="Replace the entry of this name.")] = False,
    config: ConfigFile = None,
    catalog: CatalogFile = None,
) -> None:
    """Add a GGUF file, a voice, or one of a repository, to the game's catalog."""
    settings = _settings(config, catalog)
    if not settings.catalog:
        _fail("name the catalog to add to: --catalog models.json, or the setting `catalog`", EXIT_USAGE)
    target = Path(settings.catalog)
    from bridge.catalog import write_entry

    def work() -> None:
        here = Path(source)
        is_here = here.exists()
        speaks = kind == "tts" or here.is_dir() or here.suffix == ".onnx"
        type_ = "tts" if speaks and kind in ("", "tts") else kind or "language"
        if is_here and speaks:
            origin = _voice_source(here, target)
        elif is_here:
            origin = _local_source(here, target)
            type_ = _fits(here, kind, chat_format)
        else:
            origin = _hub_source(source, file or [], revision, type_)
        engine = "sherpa-onnx" if type_ == "tts" else "llama-cpp"
        entry: dict[str, Any] = {"name": name, "type": type_, "engine": engine, "source": origin}
        if sha256:
            origin["sha256"] = sha256.lower()
        entry |= {"context_size": context_size} if context_size else {}
        entry |= {"chat_format": chat_format} if chat_format != "auto" else {}
        entry |= {"license": license} if license else {}
        write_entry(target, entry, replace=replace)

    _guard(work)
    print(f"{name} is in {target}", file=sys.stderr)


@models_app.command()
def rm(name: Name, config: ConfigFile = None, catalog: CatalogFile = None) -> None:
    """Remove the files of a model that was downloaded; its entry stays in the catalog."""
    settings = _settings(config, catalog)
    from bridge.models import ModelStore

    freed = _guard(lambda: asyncio.run(ModelStore(settings, _catalog(settings)).delete(name)))
    print(f"{name}: {_mib(freed)} freed" if freed else f"{name}: nothing was there", file=sys.stderr)


@models_app.command()
def verify(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="One model; all by default.", show_default=False)
    ] = None,
    config: ConfigFile = None,
    catalog: CatalogFile = None,
) -> None:
    """Check the files of models: size, checksum, header. Exit code 1 if something is wrong.

    Without a name, models that are not there are named and passed over.
    """
    settings = _settings(config, catalog)
    from bridge.model_files import faults_of, is_there, model_paths

    entries = _guard(lambda: _catalog(settings))
    if name is not None:
        entries = {name: _guard(lambda: _entry(entries, name))}
    failed = False
    for entry in entries.values():
        paths = model_paths(entry, settings)
        if name is None and not any(is_there(path) for path in paths):
            print(f"{_plain(entry.name)}: " + ("not there" if paths else "has no file"))
            continue
        with _progress(entry.name) as report:
            faults = faults_of(entry, settings, report)
        for fault in faults:
            print(f"{_plain(entry.name)}: {_plain(fault)}")
        if not faults:
            print(f"{_plain(entry.name)}: ok")
        failed = failed or bool(faults)
    if failed:
        raise typer.Exit(EXIT_FAILED)


# ---- helpers -------------------------------------------------------------------------------------------------


async def _download(store: Any, name: str, report: Report) -> None:
    try:
        await store.download(name, report)
    finally:
        await store.close()


def _local_source(path: Path, catalog: Path) -> dict[str, Any]:
    """The source of a GGUF file here, whose header is read; relative to the catalog where it lies beside or below."""
    from bridge.engines.gguf_file import read_gguf
    from bridge.errors import InvalidValue

    read_gguf(path)
    resolved = path.resolve()
    names = _parts(resolved.name)
    if len(names) == 1:
        return {"path": _shown(resolved, catalog)}
    for part in names:
        if not resolved.with_name(part).is_file():
            raise InvalidValue(f"{path} is one part of a split model, and {part} is not beside it")
    return {"path": _shown(resolved.parent, catalog), "files": names}


def _voice_source(path: Path, catalog: Path) -> dict[str, Any]:
    """The source of a voice here, whose folder is looked at."""
    from bridge.engines.voice_folder import read_voice_folder

    read_voice_folder(path)
    return {"path": _shown(path.resolve(), catalog)}


def _shown(place: Path, catalog: Path) -> str:
    base = catalog.resolve().parent
    return place.relative_to(base).as_posix() if place.is_relative_to(base) else str(place)


def _fits(path: Path, kind: str, chat_format: str) -> str:
    """The model's type, as the file says where nobody does. Raises InvalidValue where it could not be used so."""
    from bridge.engines.gguf_file import read_gguf
    from bridge.errors import InvalidValue

    facts = read_gguf(path)
    if facts.embeds and kind == "language":
        raise InvalidValue(f"{path} is a model for embeddings; leave --type out, or say --type embedding")
    type_ = kind or ("embedding" if facts.embeds else "language")
    if type_ == "language" and chat_format == "auto" and not facts.metadata.get("tokenizer.chat_template"):
        raise InvalidValue(
            f"{path} has no chat template; say how it wants to be talked to: --chat-format transcript for a base "
            "model, or the format of its family (chatml, llama3, gemma, mistral)"
        )
    return type_


def _hub_source(repository: str, files: list[str], revision: str, kind: str) -> dict[str, Any]:
    from bridge.errors import InvalidValue

    wanted = "--file model.onnx --file tokens.txt and so on" if kind == "tts" else "--file NAME.gguf"
    if repository.endswith((".gguf", ".onnx")) or repository.count("/") != 1:
        raise InvalidValue(f"there is no file {repository}; a repository is written owner/name, with {wanted}")
    if not files:
        raise InvalidValue(
            f"there is no file or folder of that name here: {repository}; of a repository of that name, say which "
            f"file{'s' if kind == 'tts' else ''}: {wanted}"
        )
    if kind != "tts" and len(files) > 1:
        raise InvalidValue("name one --file only: of a model in parts the first, and the others are found by its name")
    names = files if kind == "tts" else _parts(files[0])
    return {"huggingface": repository, "files": names} | ({"revision": revision} if revision else {})


def _parts(name: str) -> list[str]:
    """All files of a split GGUF whose first is named; else the one file."""
    match = re.search(r"-00001-of-(\d{5})\.gguf\Z", name)
    if match is None:
        return [name]
    return [f"{name[: match.start()]}-{index:05}-of-{match[1]}.gguf" for index in range(1, int(match[1]) + 1)]


@contextmanager
def _progress(name: str) -> Iterator[Report]:
    """A bar on stderr."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        DownloadColumn(binary_units=True),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        bar = progress.add_task(_plain(name), total=None, visible=False)
        yield lambda task, done, total, unit: progress.update(bar, completed=done, total=total or None, visible=True)


def _print_table(rows: list[ModelInfo]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False, markup=False, emoji=False)
    if not console.is_terminal:
        console.width = 240  # whatever reads it can cut lines itself
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    headings = ["name", "type", "status", "size", "context", "licence", "source"]
    headings += ["speakers"] if any(row.speakers for row in rows) else []
    for heading in headings:
        table.add_column(heading, justify="right" if heading in ("size", "context") else "left", overflow="fold")
    for row in rows:
        status = f"{row.status}, {_mib(row.bytes_partial)} of it" if row.bytes_partial else row.status
        size = _mib(row.bytes_on_disk) if row.bytes_on_disk else ""
        cells = [row.name, row.type, status, size, str(row.context_size or ""), row.license, row.source or row.engine]
        cells.append(", ".join(row.speakers) if len(row.speakers) <= MAX_SPEAKERS else f"{len(row.speakers)}")
        table.add_row(*(Text(_plain(cell)) for cell in cells[: len(headings)]))
    console.print(table)


def _mib(size: int) -> str:
    return f"{size / 2**20:.1f} MiB"


def _plain(text: str) -> str:
    """Text of a catalog without what would steer a terminal."""
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text)


def _settings(config: Path | None, catalog: Path | None) -> Settings:
    from bridge.config import load_settings

    flags = {"catalog": None if catalog is None else str(catalog)}
    return _guard(lambda: load_settings(config, flags=flags))


def _catalog(settings: Settings) -> Catalog:
    from bridge.catalog import read_catalog

    return read_catalog(Path(settings.catalog) if settings.catalog else None)


def _entry(entries: Catalog, name: str) -> Any:
    from bridge.errors import ModelNotFound

    if name not in entries:
        raise ModelNotFound(f"the catalog has no model '{name}'; it has {', '.join(entries)}")
    return entries[name]


def _fail(message: str, code: int) -> NoReturn:
    print(f"parley: {_plain(message)}", file=sys.stderr)
    raise typer.Exit(code)


def _guard(work: Callable[[], Result]) -> Result:
    """Run `work`; a ParleyError becomes one sentence, and exit code 2 where the caller got something wrong."""
    from bridge.errors import ParleyError

    try:
        return work()
    except ParleyError as fault:
        _fail(str(fault), EXIT_USAGE if fault.code in _USAGE_FAULTS else EXIT_FAILED)

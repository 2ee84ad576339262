"""The command line: `parley …`. Parses and prints; the work is done elsewhere and imported when it is needed."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from bridge.cli_knowledge import kb_app
from bridge.cli_models import models_app
from bridge.cli_package import package_app, probe_llama, voice_worker
from bridge.cli_shared import print_json
from bridge.cli_status import status, top
from bridge.cli_voice import AnyVoice, Record, Speak, say

if TYPE_CHECKING:
    from bridge.authoring import Kinds
    from bridge.config import Settings
    from bridge.protocol import Problem
    from bridge.status import Counters

app = typer.Typer(
    name="parley",
    help="Game characters that talk, on the player's own machine.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(models_app, name="models")
app.add_typer(kb_app, name="kb")
app.add_typer(package_app, name="package")

WorkflowFile = Annotated[Path, typer.Argument(metavar="FILE", help="A .workflow.json file.", show_default=False)]
NodeName = Annotated[str, typer.Argument(metavar="NODE", help="The node's name.", show_default=False)]
ToStdout = Annotated[bool, typer.Option("--stdout", help="Print the new workflow instead of rewriting the file.")]
ConfigFile = Annotated[Path | None, typer.Option("--config", help="A parley.toml file.", show_default=False)]
SayLines = Annotated[
    list[str] | None,
    typer.Option("--say", metavar="LINE", help="A player line, said as it is; may be repeated. No keyboard is read."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print every frame as one line of JSON.")]
ModelName = Annotated[
    str, typer.Option("--model", metavar="NAME", help="A catalog model to use instead of the workflow's.")
]
Variables = Annotated[
    list[str] | None, typer.Option("--var", metavar="NAME=VALUE", help="A variable of the workflow; may be repeated.")
]
ToolResults = Annotated[
    list[str] | None,
    typer.Option(
        "--tool",
        metavar="NAME=RESULT",
        help="What a tool answers when the model calls it, {argument} standing for an argument; 'done' by default.",
    ),
]
Diagnostics = Annotated[bool, typer.Option("--diagnostics", help="Show what each step read and cost.")]


TAVERN_TOOLS = ("open_door=The {door} door stands open.", "close_door=The {door} door is shut.")
"""What the doors of the tavern answer in the demo."""


@app.callback(invoke_without_command=True)
def _version(
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> None:
    if version:
        from bridge import __version__

        print(f"parley {__version__}")
        raise typer.Exit


def main() -> None:
    """Run the command line. Every failure is one sentence on stderr and a non-zero exit."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        try:
            app()
        finally:
            sys.stdout.flush()
    except KeyboardInterrupt:
        sys.exit(130)
    except OSError as fault:
        # Whoever read our output has gone, or it cannot be written; the interpreter would complain when it flushes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(fault, BrokenPipeError):
            print(f"parley: {fault}", file=sys.stderr)
        sys.exit(1)
    except Exception as fault:
        logging.getLogger(__name__).debug("the command failed", exc_info=True)
        print(f"parley: this should not have happened: {type(fault).__name__}: {fault}", file=sys.stderr)
        sys.exit(1)


@app.command()
def serve(
    endpoint: Annotated[
        str | None, typer.Option(help="Where to listen; a free loopback port by default.", show_default=False)
    ] = None,
    token: Annotated[
        str | None,
        typer.Option(
            help="What clients must say; a new random one by default. PARLEY_TOKEN hides it from other users.",
            show_default=False,
        ),
    ] = None,
    no_auth: Annotated[
        bool | None,
        typer.Option("--no-auth", help="Let clients in without a token (loopback only).", show_default=False),
    ] = None,
    curve_key: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Encrypt, with this key file of `parley keygen`; then any interface can be bound.",
            show_default=False,
        ),
    ] = None,
    config: ConfigFile = None,
    owner_pid: Annotated[int | None, typer.Option(help="Exit when this process is gone.", show_default=False)] = None,
    ready_file: Annotated[
        Path | None, typer.Option(help="Also write the ready line to this file.", show_default=False)
    ] = None,
    idle_exit_s: Annotated[
        float | None, typer.Option(help="Exit after so many seconds without a session.", show_default=False)
    ] = None,
    log_level: Annotated[str | None, typer.Option(help="debug, info, warning or error.", show_default=False)] = None,
    log_folder: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Write the log there too, as lines of JSON.", show_default=False),
    ] = None,
) -> None:
    """Run the sidecar until it is told to stop."""
    flags = {
        "endpoint": endpoint,
        "token": token,
        "no_auth": no_auth,
        "curve_key": None if curve_key is None else str(curve_key),
        "owner_pid": owner_pid,
        "ready_file": None if ready_file is None else str(ready_file),
        "idle_exit_s": idle_exit_s,
        "log_level": log_level,
        "log_folder": None if log_folder is None else str(log_folder),
    }
    settings = _settings(config, flags)
    from bridge.serve import run

    raise typer.Exit(_guard(lambda: run(settings, _make_services)))


app.command()(say)
app.command()(status)
app.command()(top)
app.command("probe-llama", hidden=True)(probe_llama)
app.command("voice-worker", hidden=True)(voice_worker)


@app.command()
def keygen(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Where to write it.", show_default=False)],
    force: Annotated[bool, typer.Option("--force", help="Replace what is there.")] = False,
) -> None:
    """Make the key file of an encrypted sidecar, and print the public key that its clients need."""
    from bridge.curve import write_key_file

    keys = _guard(lambda: write_key_file(file, force=force))
    print(keys.public_key)
    print(
        f"The line above is the public key. {file} has the secret one too: keep it on the sidecar's machine.\n"
        f"The sidecar: parley serve --curve-key {file} --endpoint 'tcp://*:5600'\n"
        "A client in Python: ParleyClient.connect(endpoint, token, server_public_key=...) with that line.\n"
        "Any other client: a DEALER socket with that line as its CURVE_SERVERKEY and a key pair of its own.",
        file=sys.stderr,
    )


@app.command()
def chat(
    workflow: Annotated[Path, typer.Argument(metavar="WORKFLOW", help="A .workflow.json file.", show_default=False)],
    say: SayLines = None,
    as_json: AsJson = False,
    model: ModelName = "",
    diagnostics: Diagnostics = False,
    var: Variables = None,
    tool: ToolResults = None,
    speak: Speak = False,
    record: Record = None,
    voice: AnyVoice = "",
    config: ConfigFile = None,
) -> None:
    """Talk to a workflow in the terminal.

    /help lists what can be typed beside lines of the player, such as /var NAME=VALUE. A line of --say is always said,
    also one that begins with /.
    """
    _chat(workflow, say, as_json, model, diagnostics, var, tool, config, speak, record, voice)


@app.command()
def demo(
    say: SayLines = None,
    as_json: AsJson = False,
    model: ModelName = "",
    diagnostics: Diagnostics = False,
    var: Variables = None,
    tool: ToolResults = None,
    speak: Speak = False,
    record: Record = None,
    voice: AnyVoice = "",
    config: ConfigFile = None,
) -> None:
    """Talk to the people of the tavern."""
    tools = [*TAVERN_TOOLS, *(tool or ())]
    _chat(_tavern(), say, as_json, model, diagnostics, var, tools, config, speak, record, voice)


@app.command()
def validate(
    file: WorkflowFile,
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as one JSON array.")] = False,
    config: ConfigFile = None,
) -> None:
    """List every finding about a workflow. Exit code 1 if one of them is an error."""
    problems = _problems(file, _read_workflow(file), _settings(config, {}))
    if as_json:
        print_json([problem.model_dump() for problem in problems])
    else:
        for problem in problems:
            node = f" ({problem.node_name})" if problem.node_name else ""
            print(f"{problem.severity} {problem.code}: {problem.path}{node}: {problem.message}")
        errors = sum(problem.severity == "error" for problem in problems)
        print(f"{file.name}: {_count(errors, 'error')}, {_count(len(problems) - errors, 'warning')}", file=sys.stderr)
    if any(problem.severity == "error" for problem in problems):
        raise typer.Exit(1)


@app.command()
def slots(file: WorkflowFile, node: NodeName, config: ConfigFile = None) -> None:
    """Print what may be a node's input, one slot a line."""
    from bridge.authoring import input_choices

    _settings(config, {})
    for name in _edit(lambda kinds: input_choices(_read_workflow(file), node, kinds)):
        print(name)


@app.command()
def rename(
    file: WorkflowFile,
    node: NodeName,
    new: Annotated[str, typer.Argument(metavar="NEW", help="The new name.", show_default=False)],
    output_name: Annotated[bool, typer.Option("--output-name", help="Rename the slot that the node writes.")] = False,
    stdout: ToStdout = False,
) -> None:
    """Rename a node (or the slot it writes) and everything that refers to it."""
    from bridge.authoring import rename_node, rename_slot

    change = rename_slot if output_name else rename_node
    workflow = _read_workflow(file)
    changed = _edit(lambda kinds: change(workflow, node, new, kinds))
    _write_workflow(file, changed, stdout)
    index = next(i for i, item in enumerate(workflow["nodes"]) if item.get("name") == node)
    after = changed["nodes"][index]
    name = after.get("output_name") or after["name"] if output_name else after["name"]
    taken = f"; '{new.strip()}' is taken" if name != new.strip() and new.strip() else ""
    print(f"{'the slot of ' if output_name else ''}'{node}' is called '{name}' now{taken}", file=sys.stderr)


@app.command()
def delete(file: WorkflowFile, node: NodeName, stdout: ToStdout = False) -> None:
    """Delete a node; exits that led to it end the turn."""
    from bridge.authoring import delete_node

    workflow = _read_workflow(file)
    changed, flagged = _edit(lambda kinds: delete_node(workflow, node, kinds))
    _write_workflow(file, changed, stdout)
    print(f"'{node}' is deleted", file=sys.stderr)
    if workflow.get("start_node") and not changed.get("start_node"):
        print("note: start_node is empty now; name the node that a turn begins with", file=sys.stderr)
    for name in flagged:
        print(f"note: the input of '{name}' names a slot that no node writes any more", file=sys.stderr)


@app.command()
def schema() -> None:
    """Print the JSON Schema of every message and node type."""
    from bridge.schema import full_schema

    print_json(full_schema(_registry()), indent=2)


@app.command()
def codegen(
    target: Annotated[
        str, typer.Argument(metavar="TARGET", help="What to write: docs, unity or unreal.", show_default=False)
    ],
    out: Annotated[
        Path | None, typer.Option(help="Where to write it; the target's own folder by default.", show_default=False)
    ] = None,
    check: Annotated[bool, typer.Option("--check", help="Write nothing; print what is stale as a diff.")] = False,
) -> None:
    """Write what is generated from node types, messages, errors, settings and commands.

    The target's own folder has the packaged node types only; another one named by --out has installed ones too. With
    --check the exit code is 1 where something is stale.
    """
    from bridge.codegen import TARGETS, CannotEmit, difference, emit, write
    from bridge.node import packaged_registry

    chosen = TARGETS.get(target)
    if chosen is None:
        _fail(f"there is no target '{target}'; known: {', '.join(TARGETS)}")
    folder = out or Path(chosen.folder)
    # The target's own folder describes Parley, whatever else happens to be installed.
    own = folder.resolve() == Path(chosen.folder).resolve()
    try:
        pages = emit(chosen, _guard(packaged_registry) if own else _registry())
    except CannotEmit as fault:
        _fail(f"cannot generate {target}: {fault}", code=1)
    if not check:
        try:
            for name in write(chosen, pages, folder):
                print(folder / name)
        except OSError as fault:
            _fail(f"cannot write {fault.filename or folder}: {fault.strerror}", code=1)
        return
    if out is None and not folder.is_dir():
        _fail(f"there is no folder {folder} here; run this in a checkout of Parley, or name another with --out", code=1)
    stale = difference(chosen, pages, folder)
    if stale:
        sys.stdout.write(stale)
        _fail(f"{folder} is stale; run: parley codegen {target}{'' if out is None else f' --out {out}'}", code=1)


@app.command()
def doctor(
    workflow: Annotated[
        Path | None,
        typer.Argument(metavar="WORKFLOW", help="A .workflow.json file to check as well.", show_default=False),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as one JSON array.")] = False,
    config: ConfigFile = None,
) -> None:
    """Say whether this machine can run Parley, and what to do where it cannot. Exit code 1 only on problems."""
    from bridge.doctor import Patient, diagnose, lines_of
    from bridge.doctor import as_json as plain

    raw = None if workflow is None else _read_workflow(workflow)
    findings = diagnose(
        Patient(config, workflow, None if workflow is None else lambda settings: _compile(workflow, raw, settings))
    )
    if as_json:
        print_json(plain(findings))
    else:
        print("\n".join(lines_of(findings)))
    if any(finding.level == "problem" for finding in findings):
        raise typer.Exit(1)


@app.command()
def estimate(
    workflow: Annotated[Path, typer.Argument(metavar="WORKFLOW", help="A .workflow.json file.", show_default=False)],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object; sizes are bytes.")] = False,
    config: ConfigFile = None,
) -> None:
    """Print how much memory a workflow's models will take, without loading them."""
    settings = _settings(config, {})
    from bridge.estimate import estimate_workflow, lines_of
    from bridge.workflow import raise_problems

    compiled, problems = _compile(workflow, _read_workflow(workflow), settings)
    _guard(lambda: raise_problems(problems))
    found = estimate_workflow(compiled, workflow.resolve().parent, settings, _catalog(settings))
    if as_json:
        print_json(found.as_json())
    else:
        print("\n".join(lines_of(found, settings)))


@app.command()
def bench(
    agents: Annotated[
        str, typer.Option(help="Numbers of agents that talk at once, separated by commas.")
    ] = "1,2,4,8,16",
    section: Annotated[
        list[str] | None,
        typer.Option(
            help="batching, first-token, parking, overhead, classifier, knowledge-search, embedding, frames, stalls or "
            "voice; all by default.",
        ),
    ] = None,
    rounds: Annotated[int, typer.Option(help="How often each side is measured, in turn.", min=1, max=50)] = 5,
    tokens: Annotated[int, typer.Option(help="Tokens that each reply has.", min=8, max=1024)] = 96,
    model: Annotated[str, typer.Option(help="The catalog model to measure.")] = "starter-chat",
    out: Annotated[
        Path | None, typer.Option(help="Write the figures to this JSON file too.", show_default=False)
    ] = None,
) -> None:
    """Measure the whole path against a bare llama.cpp loop, in one run."""
    try:
        counts = sorted({int(part) for part in agents.split(",")})
    except ValueError:
        _fail(f"--agents takes numbers separated by commas, not '{agents}'")
    if not counts or counts[0] < 1 or counts[-1] > 64:
        _fail("--agents takes numbers from 1 to 64")
    from bridge.bench import run_bench

    def measure() -> int:
        return run_bench(counts, sections=section or [], rounds=rounds, tokens=tokens, model=model, out=out)

    raise typer.Exit(_guard(measure))


# ---- helpers -------------------------------------------------------------------------------------------------


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _fail(message: str, code: int = 2) -> NoReturn:
    print(f"parley: {message}", file=sys.stderr)
    raise typer.Exit(code)


def _guard(work: Callable[[], Any]) -> Any:
    """Run `work`; a ParleyError or a node-type clash becomes one sentence."""
    from bridge.errors import ParleyError
    from bridge.node import NodeTypeClash

    try:
        return work()
    except (ParleyError, NodeTypeClash) as fault:
        _fail(str(fault))


def _settings(config: Path | None, flags: dict[str, Any]) -> Settings:
    from bridge.config import load_settings

    settings: Settings = _guard(lambda: load_settings(config, flags=flags))
    return settings


def _registry() -> Any:
    from bridge.node import default_registry

    return _guard(default_registry)


def _catalog(settings: Settings) -> Any:
    from bridge.catalog import read_catalog

    return _guard(lambda: read_catalog(Path(settings.catalog) if settings.catalog else None))


def _make_services(settings: Settings, counters: Counters) -> Any:
    """How the sidecar makes a session and closes what all of them share."""
    from bridge.catalog import read_catalog
    from bridge.models import ModelStore
    from bridge.node import default_registry
    from bridge.session import Services, Session

    catalog = read_catalog(Path(settings.catalog) if settings.catalog else None)
    models = ModelStore(settings, catalog)
    services = Services(settings, default_registry(), models, counters)
    return lambda session_id, push: Session(session_id, push, services), models.close


def _chat(
    workflow: Path,
    say: list[str] | None,
    as_json: bool,
    model: str,
    diagnostics: bool,
    variables: list[str] | None,
    tools: list[str] | None,
    config: Path | None,
    speak: bool,
    record: Path | None,
    voice: str,
) -> NoReturn:
    from bridge.chat import ChatOptions, run_chat

    options = ChatOptions(
        workflow, tuple(say or ()), as_json, model, diagnostics, tuple(variables or ()), tuple(tools or ()), config,
        speak, record, voice,
    )  # fmt: skip
    raise typer.Exit(_guard(lambda: run_chat(options)))


def _tavern() -> Path:
    for folder in (Path(__file__).parent / "samples", Path(__file__).parent.parent / "samples"):
        file = folder / "tavern" / "tavern.workflow.json"
        if file.is_file():
            return file
    _fail("the tavern is not installed; run `parley chat samples/tavern/tavern.workflow.json` from a checkout")


def _read_workflow(file: Path) -> Any:
    import orjson

    try:
        data = file.read_bytes()
        if data.startswith((b"\xff\xfe", b"\xfe\xff")):
            _fail(f"{file} is UTF-16; save it as UTF-8", code=1)
        return orjson.loads(data.removeprefix(b"\xef\xbb\xbf"))
    except FileNotFoundError:
        _fail(f"there is no file {file}")
    except OSError as fault:
        _fail(f"cannot read {file}: {fault.strerror}")
    except orjson.JSONDecodeError as fault:
        _fail(f"{file} is not valid JSON: {fault}", code=1)


def _edit(change: Callable[[Kinds], Any]) -> Any:
    from bridge.authoring import AuthoringError
    from bridge.node import node_kinds

    try:
        return change(node_kinds(_registry()))
    except AuthoringError as fault:
        _fail(str(fault), code=1)


def _write_workflow(file: Path, workflow: Any, stdout: bool) -> None:
    import orjson

    from bridge.files import write_atomically

    try:
        data = orjson.dumps(workflow, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    except orjson.JSONEncodeError as fault:
        _fail(f"cannot write the workflow: {fault}", code=1)
    if stdout:
        sys.stdout.buffer.write(data)  # a workflow file is UTF-8, whatever the console's encoding
        return

    try:
        write_atomically(file, data)
    except OSError as fault:
        _fail(f"cannot write {file}: {fault.strerror}")


def _problems(file: Path, raw: Any, settings: Settings) -> list[Problem]:
    problems: list[Problem] = _compile(file, raw, settings, asks_absent=True)[1]
    return problems


def _compile(file: Path, raw: Any, settings: Settings, *, asks_absent: bool = False) -> Any:
    """The compiled workflow, None where something is an error, and all findings; also on models that are not here."""
    from bridge.models import ModelStore
    from bridge.storages import EmbeddedStorages, StringStorages
    from bridge.workflow import CompileScope, compile_workflow

    store = ModelStore(settings, _catalog(settings))
    strings, knowledge = StringStorages(settings), EmbeddedStorages(store, settings)
    strings.root = knowledge.root = file.resolve().parent
    scope = CompileScope(
        registry=_registry(),
        model_facts=store.facts,
        strings=strings.find,
        knowledge=knowledge.describe,
        absent=store.absent if asks_absent else lambda name: "",
        max_nodes=settings.max_nodes,
        max_template_chars=settings.max_template_chars,
    )
    return compile_workflow(raw, scope)

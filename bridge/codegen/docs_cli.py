"""The page of commands, read from the declarations in `bridge/cli.py`.

typer's own help depends on its version and on the terminal's width; the declarations depend on neither.
"""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Union, get_args, get_origin

import typer
from typer.models import ArgumentInfo, OptionInfo, ParameterInfo

from bridge.codegen.markdown import code, page, prose, table

_METAVARS = {str: "TEXT", int: "INTEGER", float: "NUMBER", Path: "PATH"}


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument or option."""

    written: str
    """As the usage line shows it, such as `--config PATH`."""
    names: tuple[str, ...]
    """Every spelling of an option; empty for an argument."""
    takes_value: bool
    meaning: str
    default: str
    """As typed; empty: none worth showing."""
    required: bool
    notes: tuple[str, ...]
    """Bounds, and whether it may be repeated, where the meaning does not say so."""


@dataclass(frozen=True, slots=True)
class Command:
    """One command, with the words that call it."""

    words: tuple[str, ...]
    meaning: str
    parameters: tuple[Parameter, ...]

    @property
    def usage(self) -> str:
        """The command as one writes it."""
        arguments = [item for item in self.parameters if not item.names]
        options = ["[OPTIONS]"] if len(arguments) < len(self.parameters) else []
        shown = [item.written if item.required else f"[{item.written.strip('[]')}]" for item in arguments]
        return " ".join(["parley", *self.words, *options, *shown])

    def undescribed(self) -> Iterator[str]:
        """What of it has no meaning."""
        called = " ".join(self.words)
        if not self.meaning:
            yield called
        yield from (f"{called} {item.written}" for item in self.parameters if not item.meaning)


def commands(app: typer.Typer | None = None, words: tuple[str, ...] = ()) -> list[Command]:
    """Every command below `app`, by default all of `parley`, in the order of their declaration."""
    if app is None:
        from bridge.cli import app as parley

        app = parley
    found: list[Command] = []
    for info in app.registered_commands:
        if info.callback is not None and not info.hidden:
            name = info.name or info.callback.__name__.replace("_", "-")
            found.append(_command((*words, name), info.callback, info.help))
    for group in app.registered_groups:
        inner = group.typer_instance
        called = group.name if isinstance(group.name, str) else inner.info.name if inner is not None else None
        if inner is not None and isinstance(called, str) and not group.hidden:
            callback = inner.registered_callback
            if callback is not None and callback.callback is not None and callback.invoke_without_command is True:
                about = inner.info.help if isinstance(inner.info.help, str) else None
                found.append(_command((*words, called), callback.callback, about))
            found += commands(inner, (*words, called))
    return found


def cli_page(mark: str) -> str:
    """Every command and flag."""
    blocks: list[list[str] | str] = [
        "# Commands",
        "`parley --version` prints the version; `-h` or `--help` after any command prints its help. A failure is one "
        "sentence on stderr and an exit code above 0: 2 for what the caller got wrong, 1 for the rest. Where a "
        "command takes `--config`, [settings](settings.md) come from that file instead of `parley.toml`.",
        table(
            ("command", "does"),
            [
                (f"[{_title(item)}](#{_title(item).replace(' ', '-')})", prose(_first(item.meaning)))
                for item in commands()
            ],
        ),
    ]
    for command in commands():
        blocks += [f"## {_title(command)}", ["```", command.usage, "```"], prose(command.meaning)]
        blocks.append(
            table(
                ("argument or option", "default", "meaning"),
                [
                    (
                        code(item.written),
                        "required" if item.required else code(item.default) if item.default else "",
                        " ".join([prose(item.meaning), *item.notes]),
                    )
                    for item in command.parameters
                ],
            )
        )
    return page(mark, *blocks)


def _title(command: Command) -> str:
    return " ".join(["parley", *command.words])


def _first(text: str) -> str:
    return text.partition("\n\n")[0].replace("\n", " ")


def _command(words: tuple[str, ...], callback: Callable[..., Any], help_text: str | None) -> Command:
    hints = typing.get_type_hints(callback, include_extras=True)
    parameters = (_parameter(item, hints[item.name]) for item in inspect.signature(callback).parameters.values())
    return Command(words, inspect.cleandoc(help_text or callback.__doc__ or ""), tuple(filter(None, parameters)))


def _parameter(item: inspect.Parameter, hint: Any) -> Parameter | None:
    hint, info = _annotated(hint)
    if info is None:
        return None
    inner = _without_none(hint)
    repeatable = get_origin(inner) is list
    kind = get_args(inner)[0] if repeatable else inner
    declared = item.default is not inspect.Parameter.empty
    default = item.default if declared else None
    meaning = (info.help or "").strip()
    bounds = [f"{word} {bound}" for word, bound in (("at least", info.min), ("at most", info.max)) if bound is not None]
    notes = [f"{', '.join(bounds).capitalize()}."] if bounds else []
    notes += ["May be repeated."] if repeatable and "repeated" not in meaning else []
    no_names: tuple[str, ...] = ()
    if isinstance(info, ArgumentInfo):
        written, names = info.metavar or item.name.upper(), no_names
    else:
        names = _names(info, item.name, kind)
        written = " / ".join(names)
        if kind is not bool:
            written += f" {info.metavar or _METAVARS.get(kind, 'TEXT')}"
    return Parameter(
        written=written,
        names=tuple(name for part in names for name in part.split("/")),
        takes_value=kind is not bool,
        meaning=meaning,
        default=_shown(default) if info.show_default is not False else "",
        required=not declared,
        notes=tuple(notes),
    )


def _names(info: ParameterInfo, name: str, kind: Any) -> tuple[str, ...]:
    # In an annotation the first spelling lands where the default would, and typer moves it.
    spelled = [info.default] if isinstance(info.default, str) else []
    spelled += info.param_decls or ()
    if spelled:
        return tuple(sorted((part for part in spelled if part.startswith("-")), key=lambda part: -len(part)))
    option = f"--{name.replace('_', '-')}"
    return (option, f"--no-{option[2:]}") if kind is bool else (option,)


def _annotated(hint: Any) -> tuple[Any, OptionInfo | ArgumentInfo | None]:
    """The type and typer's declaration. Python 3.10 wraps what may be None in an Optional."""
    if get_origin(hint) in (Union, types.UnionType):
        inner = next((part for part in get_args(hint) if get_origin(part) is Annotated), None)
        hint = inner if inner is not None else hint
    if get_origin(hint) is not Annotated:
        return hint, None
    base, *extras = get_args(hint)
    return base, next((extra for extra in extras if isinstance(extra, (OptionInfo, ArgumentInfo))), None)


def _without_none(hint: Any) -> Any:
    if get_origin(hint) in (Union, types.UnionType):
        return next(part for part in get_args(hint) if part is not type(None))
    return hint


def _shown(value: Any) -> str:
    return "" if value is None or value is False or value == "" else str(value)

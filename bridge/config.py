"""The settings of a sidecar: the one table of them, and the one place that reads files and environment for them."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from bridge.errors import InvalidValue
from bridge.wording import suggest

if sys.version_info >= (3, 11):
    import tomllib
else:  # pragma: no cover - the same parser under its older name
    import tomli as tomllib

ENVIRONMENT_PREFIX = "PARLEY_"
Scope = Literal["process", "session", "engine", "turn"]


def setting(default: Any, meaning: str, *, scope: Scope, **bounds: Any) -> Any:
    """One row of the settings table."""
    return Field(default=default, description=meaning, json_schema_extra={"scope": scope}, **bounds)


Text = Annotated[str, StringConstraints(pattern=r"^[^\x00]*$")]
"""A setting that may become a path: no NUL."""


class Settings(BaseModel):
    """All settings of one sidecar. Frozen: read once at start, passed to whoever needs them."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True, hide_input_in_errors=True)

    endpoint: Text = setting("tcp://127.0.0.1:*", "ZeroMQ endpoint to bind; `*` = a free port", scope="process")
    token: Text = setting("", "what clients must say in Hello; empty = a new random one", scope="process", repr=False)
    no_auth: bool = setting(False, "let clients in without a token; loopback only", scope="process")
    curve_key: Text = setting(
        "",
        "a key file of `parley keygen`: every byte is encrypted, and other interfaces than loopback are allowed",
        scope="process",
    )
    owner_pid: int = setting(0, "exit when this process is gone; 0 = nobody's", scope="process", ge=0)
    ready_file: Text = setting("", "also write the ready line to this file", scope="process")
    idle_exit_s: float = setting(
        0.0, "exit after so many seconds without a session; 0 = never", scope="process", ge=0, le=86_400 * 30
    )
    log_level: Literal["debug", "info", "warning", "error"] = setting(
        "info", "least severe level that is logged, to stderr and to `log_folder`", scope="process"
    )
    log_folder: Text = setting(
        "",
        "a folder that exists, for the log as lines of JSON in `parley-<pid>.jsonl`; empty = stderr only",
        scope="process",
    )
    log_file_bytes: int = setting(
        10 * 2**20, "bytes of one log file; then the next one is begun", scope="process", ge=65_536, le=2**30
    )
    log_files: int = setting(5, "log files of one sidecar; the oldest goes", scope="process", ge=1, le=1000)
    log_keep_days: int = setting(
        14, "days until log files of sidecars that are gone are removed", scope="process", ge=0, le=3650
    )
    models_folder: Text = setting("", "where models are kept; empty = the user's cache folder", scope="process")
    catalog: Text = setting("", "a models.json of the game, merged over the packaged one", scope="process")
    hub_endpoint: Text = setting(
        "",
        "where models are downloaded from, without a token; empty = `HF_ENDPOINT`, or https://huggingface.co",
        scope="process",
    )
    max_download_bytes: int = setting(
        64 * 2**30, "bytes of one model that is downloaded", scope="process", ge=0, le=2**50
    )
    download_timeout_s: float = setting(
        20.0, "seconds without a byte until a download is broken off and taken up again", scope="process", gt=0, le=3600
    )

    max_json_bytes: int = setting(8 * 2**20, "largest JSON part of a message", scope="session", ge=1024, le=2**30)
    max_payload_bytes: int = setting(4 * 2**20, "largest binary part of a message", scope="session", ge=0, le=2**30)
    max_sessions: int = setting(64, "sessions at a time", scope="process", ge=1, le=10_000)
    max_agents_per_session: int = setting(256, "agents of one session", scope="session", ge=1, le=100_000)
    max_nodes: int = setting(512, "nodes of one workflow", scope="session", ge=1, le=100_000)
    max_template_chars: int = setting(65_536, "characters of one template", scope="session", ge=1, le=16 * 2**20)
    max_line_chars: int = setting(65_536, "characters of one player line", scope="session", ge=1, le=2**20)
    max_storages: int = setting(
        256, "string storages, and embedded storages, that a session makes by name", scope="session", ge=0, le=100_000
    )
    max_storage_bytes: int = setting(8 * 2**20, "bytes of one string storage", scope="session", ge=1024, le=2**30)
    max_knowledge_bytes: int = setting(
        64 * 2**20, "bytes of the records of one embedded storage", scope="session", ge=1024, le=2**32
    )
    max_knowledge_records: int = setting(
        1_000_000, "records of one embedded storage", scope="session", ge=1, le=10_000_000
    )
    max_dialog_turns: int = setting(
        100_000, "turns that a dialog may hold after it is seeded", scope="session", ge=1, le=10_000_000
    )
    max_open_requests: int = setting(
        1_024, "requests of one session that may wait for their replies", scope="session", ge=1, le=1_000_000
    )
    max_turn_chars: int = setting(
        2**20, "characters that all steps of one turn write together", scope="turn", ge=1024, le=2**24
    )
    heartbeat_s: float = setting(5.0, "seconds between two Pings of a client", scope="session", gt=0, le=3600)
    detach_after_s: float = setting(
        15.0,
        "a session silent for so long is detached: its turns run on, its frames are kept",
        scope="session",
        gt=0,
        le=86_400,
    )
    resume_window_s: float = setting(
        300.0, "seconds that a detached session can be taken up again; then it ends", scope="session", ge=0, le=86_400
    )
    resume_buffer_bytes: int = setting(
        8 * 2**20, "frames that are kept for a session until it has them", scope="session", ge=65_536, le=2**30
    )

    turn_timeout_s: float = setting(
        120.0, "a turn without progress for so long ends with 4002", scope="turn", gt=0, le=86_400
    )

    resident_sequences: int = setting(4, "sequences that a model keeps in its context", scope="engine", ge=1, le=256)
    kv_tokens: int = setting(
        0,
        "cells of a model's KV cache, beside one sequence for decisions; 0 = residents × the largest context in use",
        scope="engine",
        ge=0,
        le=2**31 - 1,
    )
    park_bytes: int = setting(
        2**30,
        "host memory for idle sequences that lost their place in a model's context, of each model; 0 = none",
        scope="engine",
        ge=0,
        le=2**50,
    )
    unload_grace_s: float = setting(
        30.0, "seconds that a model stays loaded after its last agent", scope="engine", ge=0, le=86_400
    )
    deterministic: bool = setting(
        False, "decode each sequence by itself, so that texts repeat whatever runs beside", scope="engine"
    )
    n_gpu_layers: int = setting(-1, "layers to put on the GPU; -1 = all", scope="engine", ge=-1, le=100_000)
    n_threads: int = setting(0, "CPU threads of a model; 0 = physical cores", scope="engine", ge=0, le=1024)
    prompt_chunk: int = setting(
        256, "prompt tokens read in one step; running streams wait no longer", scope="engine", ge=1, le=8192
    )


def load_settings(
    config_file: Path | None = None,
    environment: Mapping[str, str] | None = None,
    flags: Mapping[str, Any] | None = None,
) -> Settings:
    """Settings from the file, then `PARLEY_<KEY>` variables, then flags; later wins.

    Without `config_file`, `parley.toml` in the working directory is read if it is there. Raises InvalidValue that
    names each unknown key or bad value and where it came from.
    """
    layers: list[tuple[str, dict[str, Any]]] = []
    path = config_file or Path("parley.toml")
    if config_file is not None or path.is_file():
        layers.append((str(path), _read_toml(path)))
    variables = os.environ if environment is None else environment
    found = {
        key[len(ENVIRONMENT_PREFIX) :].lower(): value
        for key, value in variables.items()
        if key.startswith(ENVIRONMENT_PREFIX)
    }
    layers.append(("environment", found))
    layers.append(("command line", {k: v for k, v in (flags or {}).items() if v is not None}))

    merged: dict[str, Any] = {}
    origin: dict[str, str] = {}
    for where, values in layers:
        for key, value in values.items():
            if key not in Settings.model_fields:
                shown = f"{ENVIRONMENT_PREFIX}{key.upper()}" if where == "environment" else key
                raise InvalidValue(f"unknown setting '{shown}' ({where}); {suggest(key, Settings.model_fields)}")
            merged[key] = value
            origin[key] = where
    try:
        return Settings(**merged)
    except ValidationError as fault:
        faults = [
            f"setting '{item['loc'][0]}' ({origin.get(str(item['loc'][0]), 'default')}): {item['msg']}"
            for item in fault.errors()
        ]
        raise InvalidValue("; ".join(faults)) from None


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        values: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as fault:
        raise InvalidValue(f"cannot read the settings file {path}: {fault.strerror}") from None
    except (ValueError, RecursionError) as fault:  # TOML faults, bytes that are no UTF-8, numbers of 5,000 digits
        raise InvalidValue(f"the settings file {path} is not valid TOML: {fault}") from None
    return values


def settings_table() -> list[tuple[str, str, str, str, str]]:
    """(key, scope, default, bounds, meaning) of every setting, for the docs."""
    rows = []
    for key, info in Settings.model_fields.items():
        extra = info.json_schema_extra if isinstance(info.json_schema_extra, dict) else {}
        bounds = [
            f"{sign} {getattr(rule, attribute)}"
            for rule in info.metadata
            for attribute, sign in (("ge", "≥"), ("gt", ">"), ("le", "≤"))
            if getattr(rule, attribute, None) is not None
        ]
        rows.append((key, str(extra.get("scope", "")), repr(info.default), ", ".join(bounds), info.description or ""))
    return rows

"""`parley bench`: the whole path against a bare llama.cpp loop, in one run.

The whole path is a sidecar process, the wire and the Python client. Bare is `llama_decode` + `llama_sampler_sample` on
the same file, with the same threads, KV type, sampler chain and prompts, without detokenizing.
"""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bridge.bench import classify, knowledge, voice, wire
from bridge.bench import sections as engine
from bridge.bench.sections import Section, Setup
from bridge.catalog import read_catalog
from bridge.config import load_settings
from bridge.engines.llama_library import thread_count
from bridge.errors import InvalidValue, ModelLoadFailed
from bridge.model_files import locate
from bridge.transport import run_on_selector_loop

SECTIONS = {**engine.SECTIONS, **classify.SECTIONS, **knowledge.SECTIONS, **wire.SECTIONS, **voice.SECTIONS}


def run_bench(
    counts: Sequence[int], *, sections: Sequence[str], rounds: int, tokens: int, model: str, out: Path | None
) -> int:
    """Measure and print a table for each section. Returns the exit code; raises ParleyError where it cannot start."""
    unknown = [name for name in sections if name not in SECTIONS]
    if unknown:
        raise InvalidValue(f"the bench has no section '{unknown[0]}'; it has: {', '.join(SECTIONS)}")
    settings = load_settings()
    entry = read_catalog(Path(settings.catalog) if settings.catalog else None).get(model)
    if entry is None or entry.engine != "llama-cpp":
        raise ModelLoadFailed(f"the bench needs a llama.cpp model of the catalog; '{model}' is none")
    console = Console(stderr=True)
    threads = thread_count(settings.n_threads)
    results: dict[str, Section] = {}
    with console.status("preparing the model") as status:
        path = locate(entry, settings, lambda *_: None)
        setup = Setup(path, entry.kv_cache_type, threads, rounds, tokens, counts, lambda text: status.update(text))
        for name in sections or SECTIONS:
            results[name] = run_on_selector_loop(SECTIONS[name](setup))
    stdout = Console(file=sys.stdout)
    stdout.print(f"{model}, {threads} threads, KV {entry.kv_cache_type}, medians of {rounds} rounds")
    for section in results.values():
        table = Table(title=section.title, title_justify="left")
        for column in section.columns:
            table.add_column(column, justify="right")
        for row in section.rows:
            table.add_row(*row)
        stdout.print(table)
    if out is not None:
        document = {
            "machine": {"platform": platform.platform(), "cores": os.cpu_count(), "python": platform.python_version()},
            "model": model,
            "threads": threads,
            "kv_cache_type": entry.kv_cache_type,
            "rounds": rounds,
            "tokens": tokens,
            "sections": {name: section.figures for name, section in results.items()},
        }
        out.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    return 0

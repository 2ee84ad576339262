"""`parley estimate`: how much memory a workflow's models will take, before anything is loaded."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

import orjson

from bridge.catalog import Catalog, CatalogEntry
from bridge.config import Settings
from bridge.engines.gguf_file import read_gguf
from bridge.engines.llama_memory import (
    MAX_DEFAULT_CONTEXT,
    ContextShape,
    Shape,
    cache_bytes,
    compute_bytes,
    context_shape,
    decisions_shape,
    embedding_compute_bytes,
    embedding_context,
    embedding_growth_bytes,
    embedding_output_bytes,
    output_bytes,
    parked_bytes,
    shape_of,
    tables_bytes,
)
from bridge.engines.voice_memory import HIBARI_BYTES, HIBARI_LONG_BYTES, SHERPA_PROCESS_BYTES, SHERPA_WORK
from bridge.errors import ParleyError, StorageFileNotFound, StorageOutsideRoot
from bridge.model_files import disk_status, model_paths
from bridge.node import ModelNode, VoiceNode
from bridge.packaged_model import package_folders
from bridge.storage import resolve_inside
from bridge.wording import cut
from bridge.workflow import Workflow

Basis = Literal["header", "files", "catalog", "none"]

_BITS = {
    "q2_k": 3.2, "q3_k_s": 3.7, "q3_k_m": 4.0, "q3_k_l": 4.3, "q4_0": 4.7, "q4_k_s": 4.7, "q4_k_m": 4.9, "q4_1": 5.1,
    "q5_0": 5.6, "q5_k_s": 5.6, "q5_k_m": 5.7, "q6_k": 6.6, "q8_0": 8.5, "f16": 16.0, "bf16": 16.0, "fp16": 16.0,
}  # fmt: skip
"""Bits that a weight takes, by the quantization in a file's name. Rough: the vocabulary's share makes a difference."""


@dataclass(frozen=True, slots=True)
class Use:
    """What a workflow asks of one model."""

    window: int = 0
    """The largest context_size that a node names; 0: none does."""
    nodes: int = 0
    """Nodes of each agent that write or decide with it: each keeps a sequence. Of a voice: nodes that are heard."""
    decides: bool = False
    """Whether one of them chooses between labels."""


@dataclass(frozen=True, slots=True)
class Place:
    """Bytes in the two memories."""

    ram: int
    vram: int = 0
    layers: int = 0
    """Layers on the GPU, the output counted as one."""


@dataclass(frozen=True, slots=True)
class ModelEstimate:
    """What one model will take, in bytes. None: not known before its file is here."""

    name: str
    type: str
    engine: str
    basis: Basis
    """Where the figures come from: the file's header, the size of a voice's files, the catalog alone, or nowhere as the
    model takes nothing."""
    nodes: int
    window: int = 0
    residents: int = 0
    cells: int = 0
    weights: int | None = 0
    cache: int | None = 0
    compute: int | None = 0
    output: int | None = 0
    decisions: int = 0
    """The context of its own that choosing between labels gets with the first such choice."""
    beside: int = 0
    """Held by the process beside what ListModels shows: the tokenizer's tables, weights that are kept rearranged too,
    and what an embedding model grows by with its first full batch."""
    per_resident: int | None = 0
    """Of `cache`: one sequence that fills its window."""
    per_parked: int | None = 0
    """A copy in host memory of such a sequence."""
    cpu: Place = field(default_factory=lambda: Place(0))
    gpu: Place | None = None
    """With the layers that `n_gpu_layers` puts on a GPU; None: it puts none there."""
    notes: tuple[str, ...] = ()

    @property
    def loaded(self) -> int:
        """What `ListModels` will show as bytes_in_memory; what is not known counts as nothing."""
        return sum(part or 0 for part in (self.weights, self.cache, self.compute, self.output, self.decisions))


@dataclass(frozen=True, slots=True)
class Estimate:
    """What all models of a workflow will take together."""

    models: tuple[ModelEstimate, ...]
    park_bytes: int
    """The most that parked sequences of one model may take beside `models`."""
    unknown: tuple[str, ...] = ()
    """What could not be looked at, in sentences."""

    @property
    def cpu(self) -> Place:
        """Everything on the CPU."""
        return Place(sum(model.cpu.ram for model in self.models))

    @property
    def gpu(self) -> Place | None:
        """With the layers on a GPU that `n_gpu_layers` puts there."""
        if all(model.gpu is None for model in self.models):
            return None
        places = [model.gpu or model.cpu for model in self.models]
        return Place(sum(p.ram for p in places), sum(p.vram for p in places), sum(p.layers for p in places))

    def as_json(self) -> dict[str, Any]:
        """The whole as plain values; a model's `loaded` and the totals are in it."""
        return {
            "models": [{**asdict(model), "loaded": model.loaded} for model in self.models],
            "cpu": asdict(self.cpu),
            "gpu": None if self.gpu is None else asdict(self.gpu),
            "park_bytes": self.park_bytes,
            "unknown": list(self.unknown),
        }


def models_of(workflow: Workflow, root: Path | None) -> tuple[dict[str, Use], list[str]]:
    """Every model that the workflow will load, by catalog name, and what could not be looked at.

    Nodes that search knowledge name a file below `root`, whose `embedding_model` is read; a storage that a session
    makes under a name is not known here.
    """
    uses: dict[str, Use] = {}
    unknown: list[str] = []
    for node in workflow.nodes.values():
        if isinstance(node, ModelNode):
            name = workflow.model_of(node)
            before = uses.get(name, Use())
            window = max(before.window, node.context_size)
            uses[name] = Use(window, before.nodes + 1, before.decides or node.chooses)
    for node in workflow.nodes.values():
        if isinstance(node, VoiceNode):
            uses[node.voice] = Use(nodes=uses.get(node.voice, Use()).nodes + 1)
    for storage in sorted(workflow.embedded_storages):
        try:
            uses.setdefault(_embedding_model_of(storage, root), Use())
        except (ParleyError, ValueError, OSError) as fault:
            unknown.append(f"which model searches the storage '{cut(storage)}': {fault}")
    return uses, unknown


def _embedding_model_of(storage: str, root: Path | None) -> str:
    try:
        path = resolve_inside(root, storage)
    except (StorageFileNotFound, StorageOutsideRoot):
        raise ValueError("there is no such file; a session may make a storage of this name") from None
    config = orjson.loads(path.read_bytes().removeprefix(b"\xef\xbb\xbf"))
    name = config.get("embedding_model") if isinstance(config, dict) else None
    if not isinstance(name, str) or not name:
        raise ValueError("its file names no embedding_model")
    return name


def estimate_workflow(workflow: Workflow, root: Path | None, settings: Settings, catalog: Catalog) -> Estimate:
    """What the workflow's models will take. A model's file is read where it is there, else its catalog entry speaks."""
    uses, unknown = models_of(workflow, root)
    models = []
    for name, use in uses.items():
        entry = catalog.get(name)
        if entry is None:
            unknown.append(f"the catalog has no model '{name}'")
        else:
            models.append(estimate_model(entry, use, settings))
    return Estimate(tuple(models), settings.park_bytes, tuple(unknown))


def estimate_model(entry: CatalogEntry, use: Use, settings: Settings) -> ModelEstimate:
    """What one model will take."""
    if entry.engine == "mock":
        notes = ("the mock has no weights",)
        return ModelEstimate(entry.name, entry.type, entry.engine, "none", use.nodes, notes=notes)
    status, _ = disk_status(entry, settings)
    if status == "Absent":
        return _from_catalog(entry, use, settings)
    if entry.type == "tts":
        return _voice(entry, use, settings)
    try:
        shape = shape_of(read_gguf(model_paths(entry, settings)[0]))
    except ParleyError as fault:
        return _from_catalog(entry, use, settings, str(fault))
    if entry.type == "embedding":
        return _embedding(entry, use, shape, settings)
    window = max(use.window, entry.context_size or min(shape.trained_context, MAX_DEFAULT_CONTEXT))
    context = context_shape(settings, window)
    kind = entry.kv_cache_type
    beside = tables_bytes(shape)
    cache = cache_bytes(shape, context.cells, kind)
    compute, output = compute_bytes(shape, context), output_bytes(shape, context)
    apart = decisions_shape(settings, window) if use.decides else None
    decisions = 0
    if apart is not None:
        decisions = cache_bytes(shape, apart.cells, kind) + compute_bytes(shape, apart) + output_bytes(shape, apart)
    return ModelEstimate(
        name=entry.name,
        type=entry.type,
        engine=entry.engine,
        basis="header",
        nodes=use.nodes,
        window=context.window,
        residents=context.residents,
        cells=context.cells,
        weights=shape.weights,
        cache=cache,
        compute=compute,
        output=output,
        decisions=decisions,
        beside=beside + shape.rearranged,
        per_resident=cache_bytes(shape, context.window, kind),
        per_parked=parked_bytes(shape, context.window, kind),
        cpu=Place(shape.weights + cache + compute + output + decisions + beside + shape.rearranged),
        gpu=_on_gpu(shape, [context] if apart is None else [context, apart], kind, settings.n_gpu_layers, beside),
        notes=shape.notes,
    )


def _on_gpu(shape: Shape, contexts: Sequence[ContextShape], kind: str, wanted: int, beside: int) -> Place | None:
    """The last layers go to the GPU, the output first, each with its part of the caches; the input's table stays.

    By llama.cpp's rule for placing layers; not measured on a GPU. The GPU's driver takes some hundred MiB more.
    """
    count = len(shape.layers) + 1
    offloaded = count if wanted < 0 else min(wanted, count)
    if not offloaded:
        return None
    there = shape.layers[len(shape.layers) - offloaded + 1 :]
    here = shape.layers[: len(shape.layers) - offloaded + 1]
    vram = shape.output + (shape.input if shape.tied else 0) + sum(layer.weights for layer in there)
    ram = shape.input + sum(layer.weights for layer in here) + beside
    for context in contexts:
        compute = compute_bytes(shape, context)
        handed_over = context.tokens * (shape.width * 4 + context.cells // context.streams * 4)
        vram += _cells(there, shape, context, kind) + compute
        ram += _cells(here, shape, context, kind) + output_bytes(shape, context)
        ram += compute if here else min(compute, handed_over)
    return Place(ram, vram, offloaded)


def _cells(layers: Sequence[Any], shape: Shape, context: ContextShape, kind: str) -> int:
    whole = cache_bytes(shape, context.cells, kind)
    numbers = sum(layer.key + layer.value for layer in shape.layers)
    return whole * sum(layer.key + layer.value for layer in layers) // numbers if numbers else 0


def _embedding(entry: CatalogEntry, use: Use, shape: Shape, settings: Settings) -> ModelEstimate:
    context = embedding_context(shape)
    compute, output = embedding_compute_bytes(shape, context), embedding_output_bytes(shape, context)
    beside = tables_bytes(shape) + embedding_growth_bytes(shape, context)
    total = shape.weights + compute + output + beside
    count = len(shape.layers) + 1
    offloaded = count if settings.n_gpu_layers < 0 else min(settings.n_gpu_layers, count)
    there = sum(layer.weights for layer in shape.layers[max(0, len(shape.layers) - offloaded + 1) :])
    return ModelEstimate(
        name=entry.name,
        type=entry.type,
        engine=entry.engine,
        basis="header",
        nodes=use.nodes,
        window=context.window,
        weights=shape.weights,
        compute=compute,
        output=output,
        beside=beside,
        cpu=Place(total),
        gpu=Place(total - there - compute, there + compute, offloaded) if offloaded else None,
        notes=shape.notes,
    )


def _voice(entry: CatalogEntry, use: Use, settings: Settings) -> ModelEstimate:
    weights = disk_status(entry, settings)[1]
    if entry.engine == "hibari":
        compute, beside = HIBARI_BYTES, HIBARI_LONG_BYTES
        notes: tuple[str, ...] = ("compute buffers: its dictionaries are with them",)
    else:
        compute, beside = int(weights * SHERPA_WORK) + SHERPA_PROCESS_BYTES, 0
        notes = ("it speaks in a process of its own, whose memory this is; a rough figure",)
    return ModelEstimate(
        name=entry.name,
        type=entry.type,
        engine=entry.engine,
        basis="files",
        nodes=use.nodes,
        weights=weights,
        compute=compute,
        beside=beside,
        cpu=Place(weights + compute + beside),
        notes=notes,
    )


def _from_catalog(entry: CatalogEntry, use: Use, settings: Settings, why: str = "") -> ModelEstimate:
    """What can be said of a model whose file is not here."""
    weights, origin = _size_of(entry)
    notes = [why or "its file is not here", f"an estimate from the catalog: {origin}"]
    if entry.type == "language":
        notes.append("the cache, which grows with window and residents, comes on top")
    size = weights or 0
    everything = settings.n_gpu_layers < 0
    return ModelEstimate(
        name=entry.name,
        type=entry.type,
        engine=entry.engine,
        basis="catalog",
        nodes=use.nodes,
        window=max(use.window, entry.context_size),
        residents=settings.resident_sequences if entry.type == "language" else 0,
        weights=weights,
        cache=None,
        compute=None,
        output=None,
        per_resident=None,
        per_parked=None,
        cpu=Place(size),
        gpu=Place(0, size) if everything and entry.type != "tts" else None,
        notes=tuple(notes),
    )


def _size_of(entry: CatalogEntry) -> tuple[int | None, str]:
    """The size of a model's files, and how it is known."""
    if entry.source.package:
        size = sum(_part_sizes(entry.source.package))
        if size:
            return size, f"the package {entry.source.package} has the model in parts"
    name = entry.source.names[0] if entry.source.names else entry.name
    parameters = re.search(r"(?<![\w.])(\d+(?:\.\d+)?)(b|m)(?![a-z0-9])", name.lower().replace("_", "-"))
    bits = next((bits for tag, bits in _longest_first(_BITS) if tag in name.lower().replace("-", "_")), 0.0)
    if not parameters or not bits:
        return None, "it does not say how large the model is"
    billions = float(parameters[1]) * (1 if parameters[2] == "b" else 1e-3)
    return int(billions * 1e9 * bits / 8), f"the size is guessed from the name {name}"


def _longest_first(bits: Mapping[str, float]) -> list[tuple[str, float]]:
    return sorted(bits.items(), key=lambda item: -len(item[0]))


def _part_sizes(package: str) -> Iterator[int]:
    """Of the parts that a package of a model ships, wherever its distribution puts them. Imports nothing."""
    for folder in package_folders(package) or ():
        for sibling in sorted(folder.parent.glob(f"{package}*")):
            yield from (file.stat().st_size for file in sibling.rglob("*") if file.is_file() and _is_part(file))


def _is_part(file: Path) -> bool:
    return file.stat().st_size > 2**20


def mib(size: int | None) -> str:
    """Bytes in MiB, for people."""
    return "?" if size is None else f"{size / 2**20:,.1f} MiB"


def lines_of(estimate: Estimate, settings: Settings) -> list[str]:
    """The estimate for a terminal."""
    lines: list[str] = []
    for model in estimate.models:
        lines.append(f"{model.name} ({model.type}, {model.engine})")
        if model.basis != "none":
            lines += _rows(model)
        lines += [f"  note: {note}" for note in model.notes]
        lines.append("")
    lines.append(f"all on the CPU: {mib(estimate.cpu.ram)} RAM")
    gpu = estimate.gpu
    if gpu is not None:
        asked = "all layers" if settings.n_gpu_layers < 0 else f"{settings.n_gpu_layers} layers"
        lines.append(f"with {asked} on a GPU: {mib(gpu.vram)} VRAM and {mib(gpu.ram)} RAM")
    if any(model.basis == "header" and model.per_parked for model in estimate.models):
        lines.append(f"parked sequences: up to {mib(estimate.park_bytes)} RAM more for each model (park_bytes)")
    if any(model.weights is None or model.cache is None for model in estimate.models):
        lines.append("at least: what is marked ? is not in the sums")
    lines += [f"not known: {text}" for text in estimate.unknown]
    return lines


def _rows(model: ModelEstimate) -> list[str]:
    rows = [("weights", model.weights, "")]
    if model.type == "language":
        cells = f"{model.residents} residents, window {model.window}"
        rows.append(("KV cache", model.cache, f"{cells}, {model.cells} cells" if model.cells else cells))
    rows.append(("compute buffers", model.compute, ""))
    if model.type != "tts":
        rows.append(("output", model.output, ""))
    if model.decisions:
        rows.append(("decisions", model.decisions, "a context of one sequence for choices between labels"))
    if model.basis == "files":
        rows.append(("loaded", model.loaded, "what ListModels will show, about"))
        rows += [("beside", model.beside, "with the first very long sentence")] if model.beside else []
    if model.basis == "header":
        rows.append(("loaded", model.loaded, "what ListModels will show"))
        text = "rearranged weights" if model.type == "language" else "outputs of a full batch"
        rows.append(("beside", model.beside, f"tokenizer tables and {text}, at most"))
    if model.type == "language":
        each = f"each agent keeps {model.nodes}"
        rows.append(("a resident sequence", model.per_resident, f"its part of the KV cache when full; {each}"))
        rows.append(("a parked sequence", model.per_parked, "its copy in RAM when full"))
    return [f"  {title:<20}{mib(size):>14}{'  ' + text if text else ''}" for title, size, text in rows]

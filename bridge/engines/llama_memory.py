"""How much memory llama.cpp takes for a model and its context, from the file's header alone: nothing is loaded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bridge.config import Settings
from bridge.engines.gguf_file import GgufFacts, Tensor

CELL_BLOCKS = {"f16": (1, 2), "q8_0": (32, 34), "q4_0": (32, 18)}
"""Numbers and bytes of a block, by the type of a cache."""

MAX_UBATCH = 512
MAX_DEFAULT_CONTEXT = 8192

_WINDOW_PERIODS = {
    "cohere2": 4, "exaone4": 4, "gemma-embedding": 6, "gemma2": 2, "gemma3": 6, "gemma3n": 5, "gpt-oss": 2, "olmo2": 4,
}  # fmt: skip
"""By architecture, where llama.cpp honours a sliding window and the file does not say which layers have it: the last
layer of so many looks at everything. Other architectures' windows are ignored by llama.cpp."""

_DEFAULT_WINDOWS = {"gemma2": 4096}

_MEASURED = ("gemma3", "llama", "phi3", "qwen2", "qwen3")
"""Architectures whose buffers the formulas below were compared with."""

_REARRANGED = (2, 12, 20)
"""Tensor types of which llama.cpp may keep a second copy, arranged for the CPU's vector units: Q4_0, Q4_K, IQ4_NL."""

_BYTES_PER_TOKEN_NAME = 180
"""Of the tokenizer's tables, for one entry of the vocabulary. Measured: 45 MiB for 262,144 entries."""


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer of the network."""

    weights: int
    """Bytes."""
    key: int
    """Numbers that one cell of the cache holds of it."""
    value: int
    windowed: bool
    """It looks at the last `Shape.window` tokens only."""


@dataclass(frozen=True, slots=True)
class Shape:
    """What a model's memory depends on."""

    architecture: str
    layers: tuple[Layer, ...]
    input: int
    """Bytes of the table that tokens are looked up in."""
    output: int
    """Bytes of what comes after the last layer."""
    tied: bool
    """The output is the input's table again; a GPU gets a copy of it."""
    rearranged: int
    """Bytes of the weights that llama.cpp may keep twice on a CPU."""
    width: int
    hidden: int
    attention: int
    vocabulary: int
    window: int
    trained_context: int
    notes: tuple[str, ...] = ()

    @property
    def weights(self) -> int:
        """Bytes of all weights."""
        return self.input + self.output + sum(layer.weights for layer in self.layers)


def shape_of(facts: GgufFacts) -> Shape:
    """What the header tells about memory."""

    def number(key: str, default: int = 0) -> int:
        value = facts.metadata.get(f"{facts.architecture}.{key}", default)
        return int(value) if isinstance(value, (int, float)) else default

    def per_layer(key: str, default: int) -> Sequence[int]:
        values = facts.numbers.get(f"{facts.architecture}.{key}")
        if values and len(values) >= count:
            return [int(value) for value in values if not isinstance(value, str)]
        return [number(key, default)] * count

    count = facts.layers
    heads = per_layer("attention.head_count", 1)
    kv_heads = per_layer("attention.head_count_kv", heads[0] if heads else 1)
    width = number("embedding_length")
    key_length = number("attention.key_length", width // max(heads[0], 1) if heads else 0)
    value_length = number("attention.value_length", key_length)
    window, windowed = _windows(facts, count)
    weights = [0] * count
    first = last = 0
    for name, tensor in facts.tensors.items():
        block = name.split(".")[1] if name.startswith("blk.") else ""
        if block.isdecimal() and int(block) < count:
            weights[int(block)] += tensor.bytes
        elif name.startswith("output"):
            last += tensor.bytes
        else:
            first += tensor.bytes
    notes = []
    if facts.architecture not in _MEASURED and not facts.embeds:
        notes.append(f"llama.cpp's buffers were not measured for the architecture {facts.architecture}: a rough guide")
    if number("ssm.state_size") or number("wkv.head_size"):
        notes.append("the state of recurrent layers is not counted")
    return Shape(
        architecture=facts.architecture,
        layers=tuple(
            Layer(weights[i], kv_heads[i] * key_length, kv_heads[i] * value_length, windowed[i]) for i in range(count)
        ),
        input=first,
        output=last,
        tied="output.weight" not in facts.tensors,
        rearranged=sum(t.bytes for name, t in facts.tensors.items() if _is_rearranged(name, t)),
        width=width,
        hidden=max(per_layer("feed_forward_length", 0), default=0),
        attention=max(heads, default=0) * key_length,
        vocabulary=facts.lengths.get("tokenizer.ggml.tokens", 0) or number("vocab_size"),
        window=window,
        trained_context=number("context_length"),
        notes=tuple(notes),
    )


def _windows(facts: GgufFacts, count: int) -> tuple[int, list[bool]]:
    architecture = facts.architecture
    period = _WINDOW_PERIODS.get(architecture, 0)
    window = facts.metadata.get(f"{architecture}.attention.sliding_window", _DEFAULT_WINDOWS.get(architecture, 0))
    if not period or not isinstance(window, int) or window <= 0:
        return 0, [False] * count
    key = f"{architecture}.attention.sliding_window_pattern"
    pattern = facts.numbers.get(key)
    if pattern is not None and len(pattern) >= count:
        return window, [bool(value) for value in pattern]
    stated = facts.metadata.get(key, period)
    period = stated if isinstance(stated, int) else period
    return window, [period == 0 or index % period < period - 1 for index in range(count)]


def _is_rearranged(name: str, tensor: Tensor) -> bool:
    return tensor.kind in _REARRANGED and name.endswith(".weight") and name.startswith(("blk.", "output"))


@dataclass(frozen=True, slots=True)
class ContextShape:
    """How a model's context is laid out."""

    residents: int
    window: int
    """Most tokens of one sequence."""
    cells: int
    """Of all sequences, as llama.cpp rounds them."""
    streams: int
    """Caches that are apart from one another."""
    tokens: int
    """Most tokens that are computed at once."""
    outputs: int
    """Sequences that may draw a token at once."""


def context_shape(settings: Settings, window: int) -> ContextShape:
    """The context that the engine makes for sequences of `window` tokens. llama.cpp rounds cells up to 256."""
    residents, apart = settings.resident_sequences, settings.deterministic
    if settings.kv_tokens and apart:
        residents = max(1, min(residents, settings.kv_tokens // max(window, 1)))
    if settings.kv_tokens:
        window = min(window, settings.kv_tokens)
    cells = settings.kv_tokens if settings.kv_tokens and not apart else residents * window
    streams = residents if apart else 1
    cells = _padded(cells // streams) * streams
    tokens = min(settings.prompt_chunk + residents, MAX_UBATCH, cells)
    return ContextShape(residents, window, cells, streams, tokens, residents)


def decisions_shape(settings: Settings, window: int) -> ContextShape | None:
    """The context that decisions get beside it, of one sequence; None: they share, because all caches are apart."""
    if settings.deterministic:
        return None
    if settings.kv_tokens:
        window = min(window, settings.kv_tokens)
    cells = _padded(window)
    return ContextShape(1, window, cells, 1, min(settings.prompt_chunk + 1, MAX_UBATCH, cells), 1)


def _padded(cells: int) -> int:
    return -(-cells // 256) * 256


def cell_bytes(layer: Layer, kv_cache_type: str) -> int:
    """Bytes that one token takes in one layer of the cache."""
    numbers, size = CELL_BLOCKS[kv_cache_type]
    return layer.key // numbers * size + layer.value // numbers * size


def cache_bytes(shape: Shape, cells: int, kv_cache_type: str) -> int:
    """So many cells of the cache, in all layers: the layers with a sliding window are kept at full length too."""
    return cells * sum(cell_bytes(layer, kv_cache_type) for layer in shape.layers)


def parked_bytes(shape: Shape, tokens: int, kv_cache_type: str) -> int:
    """The copy of a sequence of so many tokens, as `llama_state_seq_get_size` tells it.

    Of layers with a sliding window it holds the last window. Each cell has a position, a count and a sequence id of
    four bytes; each layer a type and a row size, twice.
    """
    total = 0
    for windowed in {layer.windowed for layer in shape.layers}:
        layers = [layer for layer in shape.layers if layer.windowed is windowed]
        held = min(tokens, shape.window) if windowed else tokens
        total += 20 + 24 * len(layers) + held * (12 + sum(cell_bytes(layer, kv_cache_type) for layer in layers))
    return total


def output_bytes(shape: Shape, context: ContextShape) -> int:
    """Where the logits of all sequences are put: four bytes for each entry of the vocabulary."""
    return context.outputs * shape.vocabulary * 4


def compute_bytes(shape: Shape, context: ContextShape) -> int:
    """The compute buffer: the larger one of what reading a prompt and what drawing tokens takes.

    Reading: the masks, two bytes for each pair of a token and a cell of one stream, once for all layers and once more
    for those with a sliding window; and of activations, for each token, four bytes for each of three feed-forward
    lengths, three widths and once all heads' keys. Drawing: the logits and two rows of the width for each output.
    Compared with what llama.cpp 0.5.0 logs as "compute buffer size" on the CPU with flash attention, for 14 shapes of
    Llama 3, Qwen 2.5 and 3, Gemma 3, Phi 3.5, Mistral and SmolLM2, one to eight sequences, windows of 1,024 to 4,000
    tokens, 24 to 512 tokens at once: exact with an f16 cache but for two shapes, else off by 10 % at most; the whole
    context (cache, outputs and this) is off by 5 % at most.
    """
    tokens = context.tokens
    masks = len({layer.windowed for layer in shape.layers} or {False})
    mask = masks * tokens * (context.cells // context.streams) * 2
    activations = tokens * (3 * shape.hidden + 3 * shape.width + shape.attention) * 4
    drawing = min(context.outputs, tokens) * (shape.vocabulary + 2 * shape.width) * 4
    return max(mask + activations, drawing)


def tables_bytes(shape: Shape) -> int:
    """The tokenizer's tables, which llama.cpp does not count."""
    return shape.vocabulary * _BYTES_PER_TOKEN_NAME


EMBEDDING_WINDOW = 2048
EMBEDDING_BATCH = 512
EMBEDDING_TEXTS = 64


def embedding_context(shape: Shape) -> ContextShape:
    """The context that an embedding model is given: one batch, as long as its window at least, and no cache."""
    window = min(shape.trained_context, EMBEDDING_WINDOW)
    tokens = max(window, EMBEDDING_BATCH)
    return ContextShape(0, window, tokens, 1, tokens, EMBEDDING_TEXTS)


def embedding_compute_bytes(shape: Shape, context: ContextShape) -> int:
    """The compute buffer of an embedding model: a mask, and a feed-forward length and three widths for each token.

    Measured on MiniLM-L6 with 512 tokens: 5.9 MiB, of which this finds 5.8.
    """
    return context.tokens * (context.tokens * 2 + (shape.hidden + 3 * shape.width) * 4)


def embedding_output_bytes(shape: Shape, context: ContextShape) -> int:
    """Where vectors and, though nobody asks for them, logits are put: a row of each for every text."""
    return context.outputs * (shape.vocabulary + shape.width) * 4


def embedding_growth_bytes(shape: Shape, context: ContextShape) -> int:
    """What `embedding_output_bytes` grows by with the first full batch: then there is a row for every token."""
    return max(context.tokens - context.outputs, 0) * (shape.vocabulary + shape.width) * 4

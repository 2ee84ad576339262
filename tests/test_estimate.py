"""What a model takes of memory, worked out from headers and catalog entries alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from bridge.catalog import CatalogEntry, Source, read_catalog
from bridge.cli import app
from bridge.config import Settings
from bridge.engines.gguf_file import read_gguf
from bridge.engines.llama_memory import (
    ContextShape,
    Layer,
    Shape,
    cache_bytes,
    cell_bytes,
    compute_bytes,
    context_shape,
    output_bytes,
    parked_bytes,
    shape_of,
)
from bridge.estimate import Estimate, Use, estimate_model, estimate_workflow, lines_of, models_of
from bridge.nodes.generate import Generate
from bridge.nodes.generate_and_speak import GenerateAndSpeak
from bridge.nodes.retrieve import Retrieve
from bridge.nodes.speak import Speak
from bridge.workflow import Workflow
from tests.gguf_writer import F32, Q4_K, gguf

MIB = 2**20
STRANGE = 99


def header(architecture: str = "gemma3", layers: int = 7, tied: bool = True, **more: Any) -> bytes:
    """A whole file of a small network: width 256, a 4-entry vocabulary, weights of Q4_K and F32."""
    tensors: list[tuple[str, tuple[int, ...], int, int]] = []
    offset = 0
    names = ["token_embd.weight", *([] if tied else ["output.weight"]), "output_norm.weight"]
    names += [f"blk.{index}.{part}.weight" for index in range(layers) for part in ("attn_q", "attn_norm")]
    for name in names:
        norm = "norm" in name
        tensors.append((name, (256,) if norm else (256, 4), F32 if norm else Q4_K, offset))
        offset += 1024 if norm else 576
    values = {
        "general.architecture": architecture,
        f"{architecture}.block_count": layers,
        f"{architecture}.context_length": 32768,
        f"{architecture}.embedding_length": 256,
        f"{architecture}.feed_forward_length": 512,
        f"{architecture}.attention.head_count": 4,
        f"{architecture}.attention.head_count_kv": 2,
        "tokenizer.ggml.tokens": ["a", "b", "c", "d"],
        **{f"{architecture}.{key.replace('__', '.')}": value for key, value in more.items()},
    }
    return gguf(values, tensors, data=bytes(offset))


def shape(folder: Path, data: bytes) -> Shape:
    path = folder / "model.gguf"
    path.write_bytes(data)
    return shape_of(read_gguf(path))


# ---- the header


def test_the_weights_are_told_by_layer(tmp_path: Path) -> None:
    found = shape(tmp_path, header(layers=3))
    assert [layer.weights for layer in found.layers] == [576 + 1024] * 3
    assert (found.input, found.output, found.tied) == (576, 1024, True)
    assert found.weights == 576 + 1024 + 3 * 1600
    assert found.rearranged == 3 * 576
    untied = shape(tmp_path, header(layers=3, tied=False))
    assert (untied.output, untied.tied) == (576 + 1024, False)


def test_keys_and_values_have_the_head_s_length_where_nothing_else_is_said(tmp_path: Path) -> None:
    plain = shape(tmp_path, header("llama"))
    assert {(layer.key, layer.value) for layer in plain.layers} == {(2 * 64, 2 * 64)}
    stated = shape(tmp_path, header("llama", attention__key_length=96, attention__value_length=32))
    assert {(layer.key, layer.value) for layer in stated.layers} == {(192, 64)}
    assert stated.attention == 4 * 96


def test_heads_may_differ_from_layer_to_layer(tmp_path: Path) -> None:
    found = shape(tmp_path, header("llama", layers=3, attention__head_count_kv=[1, 2, 4]))
    assert [layer.key for layer in found.layers] == [64, 128, 256]


def test_a_sliding_window_is_honoured_as_llama_cpp_does(tmp_path: Path) -> None:
    gemma = shape(tmp_path, header("gemma3", attention__sliding_window=512))
    assert [layer.windowed for layer in gemma.layers] == [True] * 5 + [False, True]
    assert gemma.window == 512
    stated = [True, False, True, False, True, False, True]
    listed = shape(
        tmp_path,
        header("gemma3", attention__sliding_window=512, attention__sliding_window_pattern=[int(v) for v in stated]),
    )
    assert [layer.windowed for layer in listed.layers] == stated
    for architecture in ("llama", "phi3"):
        ignored = shape(tmp_path, header(architecture, attention__sliding_window=512))
        assert (ignored.window, any(layer.windowed for layer in ignored.layers)) == (0, False)


def test_a_tensor_of_an_unknown_type_reaches_to_the_next(tmp_path: Path) -> None:
    data = gguf(
        {"general.architecture": "llama", "llama.block_count": 1},
        [("token_embd.weight", (256, 4), STRANGE, 0), ("norm", (8,), F32, 640), ("x", (8,), STRANGE, 672)],
        data=bytes(672 + 320),
    )
    path = tmp_path / "model.gguf"
    path.write_bytes(data)
    tensors = read_gguf(path).tensors
    assert {name: tensor.bytes for name, tensor in tensors.items()} == {
        "token_embd.weight": 640,
        "norm": 32,
        "x": 320,
    }


def test_an_architecture_that_was_not_measured_says_so(tmp_path: Path) -> None:
    assert shape(tmp_path, header("qwen3")).notes == ()
    notes = shape(tmp_path, header("mamba", ssm__state_size=16)).notes
    assert "not measured for the architecture mamba" in notes[0]
    assert notes[1] == "the state of recurrent layers is not counted"


# ---- the context


@pytest.mark.parametrize(
    ("settings", "window", "expected"),
    [
        ({}, 2048, ContextShape(4, 2048, 8192, 1, 260, 4)),
        ({}, 300, ContextShape(4, 300, 1280, 1, 260, 4)),
        ({"deterministic": True}, 300, ContextShape(4, 300, 2048, 4, 260, 4)),
        ({"kv_tokens": 5000}, 2048, ContextShape(4, 2048, 5120, 1, 260, 4)),
        ({"kv_tokens": 1000}, 2048, ContextShape(4, 1000, 1024, 1, 260, 4)),
        ({"kv_tokens": 5000, "deterministic": True}, 2048, ContextShape(2, 2048, 4096, 2, 258, 2)),
        ({"prompt_chunk": 4096}, 2048, ContextShape(4, 2048, 8192, 1, 512, 4)),
        ({"resident_sequences": 1}, 100, ContextShape(1, 100, 256, 1, 256, 1)),
    ],
)
def test_the_context_is_rounded_as_llama_cpp_does(settings: dict[str, Any], window: int, expected: Any) -> None:
    assert context_shape(Settings(**settings), window) == expected


def test_a_cell_takes_whole_blocks() -> None:
    layer = Layer(0, 256, 64, False)
    assert cell_bytes(layer, "f16") == 320 * 2
    assert cell_bytes(layer, "q8_0") == 10 * 34
    assert cell_bytes(layer, "q4_0") == 10 * 18


STARTER = Shape(
    "gemma3", tuple(Layer(1000, 256, 256, index % 6 < 5) for index in range(18)), 500, 10, True, 0, 640, 2048, 1024,
    262_144, 512, 32_768,
)  # fmt: skip


def test_the_buffers_are_those_that_llama_cpp_logs_for_the_starter() -> None:
    """From its log, q8_0, four residents of 2,048: KV 12.75 + 63.75 MiB, output 4.00 MiB, compute 17.68 MiB."""
    context = context_shape(Settings(), 2048)
    assert cache_bytes(STARTER, context.cells, "q8_0") == 76.5 * MIB
    assert output_bytes(STARTER, context) == 4 * MIB
    assert compute_bytes(STARTER, context) == pytest.approx(17.68 * MIB, rel=0.05)
    one = context_shape(Settings(resident_sequences=1, prompt_chunk=256), 2048)
    assert compute_bytes(STARTER, one) == pytest.approx(11.46 * MIB, rel=0.05)
    small = context_shape(Settings(resident_sequences=8, prompt_chunk=16), 1024)
    assert compute_bytes(STARTER, small) == pytest.approx(8.10 * MIB, rel=0.05)


def test_a_parked_copy_holds_the_last_window_of_windowed_layers() -> None:
    assert parked_bytes(STARTER, 2031, "q8_0") == 7_523_500  # measured
    assert parked_bytes(STARTER, 241, "q8_0") == 2_366_128
    rows = 15 * cell_bytes(STARTER.layers[0], "q8_0") + 12
    assert parked_bytes(STARTER, 513, "q8_0") - parked_bytes(STARTER, 512, "q8_0") < rows


@given(st.integers(1, 4096), st.sampled_from(["f16", "q8_0", "q4_0"]))
def test_more_tokens_never_take_less(tokens: int, kind: str) -> None:
    assert parked_bytes(STARTER, tokens, kind) < parked_bytes(STARTER, tokens + 1, kind)


# ---- a model


def entry(**more: Any) -> CatalogEntry:
    return CatalogEntry.model_validate({"name": "small", "engine": "llama-cpp", "source": {"path": "x.gguf"}, **more})


def with_file(folder: Path, **more: Any) -> CatalogEntry:
    path = folder / "small.gguf"
    path.write_bytes(header("llama", layers=3))
    return entry(source={"path": str(path)}, **more)


def test_a_file_that_is_here_is_read(tmp_path: Path) -> None:
    found = estimate_model(with_file(tmp_path, context_size=1024), Use(nodes=2), Settings(n_gpu_layers=0))
    assert (found.basis, found.window, found.residents, found.cells, found.nodes) == ("header", 1024, 4, 4096, 2)
    assert found.weights == 576 + 1024 + 3 * 1600
    assert found.cache == 4096 * 3 * 8 * 34
    assert found.per_resident == 1024 * 3 * 8 * 34
    assert found.loaded == sum(part or 0 for part in (found.weights, found.cache, found.compute, found.output))
    assert (found.cpu.ram, found.cpu.vram, found.gpu) == (found.loaded + found.beside, 0, None)


def test_the_largest_window_in_use_counts(tmp_path: Path) -> None:
    model = with_file(tmp_path, context_size=1024)
    assert estimate_model(model, Use(window=4096), Settings()).window == 4096
    assert estimate_model(model, Use(window=512), Settings()).window == 1024
    assert estimate_model(with_file(tmp_path), Use(), Settings()).window == 8192


def test_layers_on_a_gpu_take_their_part_of_the_cache_along(tmp_path: Path) -> None:
    model = with_file(tmp_path, context_size=1024)
    everything = estimate_model(model, Use(), Settings(n_gpu_layers=-1))
    cache, compute = everything.cache or 0, everything.compute or 0
    assert everything.gpu is not None
    assert everything.gpu.layers == 4
    assert everything.gpu.vram == 1024 + 576 + 3 * 1600 + cache + compute  # the tied table is there a second time
    two = estimate_model(model, Use(), Settings(n_gpu_layers=2)).gpu
    assert two is not None
    assert (two.layers, two.vram) == (2, 1024 + 576 + 1600 + cache // 3 + compute)
    assert two.ram > 576 + 2 * 1600 + cache * 2 // 3 + compute
    output = estimate_model(model, Use(), Settings(n_gpu_layers=1)).gpu
    assert output is not None
    assert output.vram == 1024 + 576 + compute
    assert estimate_model(model, Use(), Settings(n_gpu_layers=99)).gpu == everything.gpu


def test_an_absent_file_is_guessed_from_its_name_and_says_so() -> None:
    source = {"huggingface": "Owner/Some-1.5B-GGUF", "files": ["some-1.5b-instruct-q4_k_m.gguf"]}
    found = estimate_model(entry(source=source, context_size=4096), Use(), Settings())
    assert found.basis == "catalog"
    assert found.weights == pytest.approx(0.92e9, rel=0.01)
    assert (found.cache, found.compute, found.output, found.per_parked) == (None, None, None, None)
    assert "an estimate from the catalog: the size is guessed from the name" in found.notes[1]
    assert any(line.startswith("at least:") for line in lines_of(Estimate((found,), 0), Settings()))
    unknown = estimate_model(entry(source={**source, "files": ["some-model.gguf"]}), Use(), Settings())
    assert unknown.weights is None
    assert "does not say how large" in unknown.notes[1]


def test_a_damaged_file_is_named_and_the_catalog_speaks(tmp_path: Path) -> None:
    path = tmp_path / "small-1b-q8_0.gguf"
    path.write_bytes(b"PK" + bytes(100))
    found = estimate_model(entry(source={"path": str(path)}), Use(), Settings())
    assert found.basis == "catalog"
    assert "is not a GGUF file" in found.notes[0]


def test_a_voice_takes_its_file_and_what_it_reads_with_it(tmp_path: Path) -> None:
    (tmp_path / "v.onnx").write_bytes(bytes(5000))
    source = {"path": str(tmp_path / "v.onnx")}
    for engine, least in (("hibari", 180), ("sherpa-onnx", 60)):
        voice = CatalogEntry.model_validate({"name": "v", "type": "tts", "engine": engine, "source": source})
        found = estimate_model(voice, Use(nodes=2), Settings(n_gpu_layers=-1))
        assert (found.basis, found.weights, found.nodes, found.gpu) == ("files", 5000, 2, None)
        assert found.cpu.ram == found.loaded + found.beside >= least * 2**20
        gone = voice.model_copy(update={"source": Source(path=str(tmp_path / "gone.onnx"))})
        absent = estimate_model(gone, Use(), Settings(n_gpu_layers=-1))
        assert (absent.basis, absent.gpu) == ("catalog", None)
        assert absent.notes[0] == "its file is not here"


def test_voices_of_a_workflow_are_found() -> None:
    speaks = {"name": "a", "voice": "mock-voice", "model": "mock-echo"}
    workflow = flow(speaks, {"name": "b", "input": "a", "voice": "mock-voice"}, types=(GenerateAndSpeak, Speak))
    uses, unknown = models_of(workflow, None)
    assert ({name: use.nodes for name, use in uses.items()}, unknown) == ({"mock-echo": 1, "mock-voice": 2}, [])
    estimate = estimate_workflow(workflow, None, Settings(), read_catalog())
    assert "mock-voice (tts, mock)" in lines_of(estimate, Settings())


def test_the_mock_takes_nothing() -> None:
    found = estimate_model(read_catalog()["mock-echo"], Use(), Settings())
    assert (found.basis, found.loaded, found.cpu.ram, found.gpu) == ("none", 0, 0, None)


# ---- a workflow


def flow(*nodes: dict[str, Any], types: Any = (Generate,)) -> Workflow:
    made = [cls.model_validate(node) for cls, node in zip(types, nodes, strict=True)]
    return Workflow(nodes[0]["name"], {node.name: node for node in made}, "mock-echo", "Player", {}, {}, {})


def test_every_model_of_a_workflow_is_found(tmp_path: Path) -> None:
    (tmp_path / "lore.json").write_text(json.dumps({"version": 1, "embedding_model": "mock-embed"}), encoding="utf-8")
    workflow = flow(
        {"name": "a", "context_size": 512},
        {"name": "b", "model": "other", "context_size": 2048},
        {"name": "c", "model": "other", "context_size": 1024},
        {"name": "r", "embedded_storage": "lore.json"},
        {"name": "s", "embedded_storage": "made-by-the-game"},
        types=(Generate, Generate, Generate, Retrieve, Retrieve),
    )
    uses, unknown = models_of(workflow, tmp_path)
    assert uses == {"mock-echo": Use(512, 1), "other": Use(2048, 2), "mock-embed": Use()}
    assert len(unknown) == 1
    assert "made-by-the-game" in unknown[0]
    found = estimate_workflow(workflow, tmp_path, Settings(), read_catalog())
    assert [model.name for model in found.models] == ["mock-echo", "mock-embed"]
    assert "the catalog has no model 'other'" in found.unknown


@pytest.mark.parametrize("config", ["[]", "{}", '{"embedding_model": 3}', "no json"])
def test_a_config_that_names_no_model_is_not_known(tmp_path: Path, config: str) -> None:
    (tmp_path / "lore.json").write_text(config, encoding="utf-8")
    uses, unknown = models_of(flow({"name": "r", "embedded_storage": "lore.json"}, types=(Retrieve,)), tmp_path)
    assert uses == {}
    assert "lore.json" in unknown[0]


def test_the_command_prints_for_people_and_for_programs(tmp_path: Path) -> None:
    file = tmp_path / "a.workflow.json"
    node = {"name": "a", "type": "Generate"}
    content = {"version": 1, "start_node": "a", "default_model": "mock-echo", "nodes": [node]}
    file.write_text(json.dumps(content), encoding="utf-8")
    done = CliRunner().invoke(app, ["estimate", str(file)])
    assert done.exit_code == 0, done.output
    assert "mock-echo (language, mock)" in done.output
    done = CliRunner().invoke(app, ["estimate", str(file), "--json"])
    answer = json.loads(done.stdout)
    assert answer["cpu"] == {"ram": 0, "vram": 0, "layers": 0}
    assert [model["name"] for model in answer["models"]] == ["mock-echo"]
    file.write_text(json.dumps({**content, "default_model": "nobody"}), encoding="utf-8")
    done = CliRunner().invoke(app, ["estimate", str(file)])
    assert done.exit_code != 0
    assert "the catalog has no model 'nobody'" in done.stderr


# ---- the packaged catalog

HUB = [item for item in read_catalog().values() if item.source.huggingface]


def test_there_are_models_to_download() -> None:
    assert len(HUB) >= 12


@pytest.mark.parametrize("item", HUB, ids=lambda item: item.name)
def test_every_model_of_the_hub_says_where_its_facts_come_from(item: CatalogEntry) -> None:
    source: Source = item.source
    owner, _, name = source.huggingface.partition("/")
    assert owner
    assert name
    assert source.files
    assert all(file.endswith(".onnx" if item.type == "tts" else ".gguf") for file in source.files)
    assert source.cite.startswith("https://")
    assert item.license
    assert item.type == "tts" or 2048 <= item.context_size <= 8192
    assert estimate_model(item, Use(), Settings(models_folder="/nowhere")).basis == "catalog"

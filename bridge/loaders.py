"""Catalog entries become engines: which module loads what, and what must be installed for it."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path

from bridge.catalog import CatalogEntry, MockScript
from bridge.config import Settings
from bridge.engine import EmbeddingModel, SpeechModel, TextModel
from bridge.errors import ModelLoadFailed
from bridge.model_files import Report


def load_text_engine(entry: CatalogEntry, path: Path | None, settings: Settings, report: Report) -> TextModel:
    """Make the engine of a catalog entry. Blocking; raises ModelLoadFailed, ModelCorrupt."""
    if entry.engine == "mock":
        from bridge.engines.mock import load_mock

        script = entry.mock or MockScript()
        return load_mock(
            settings,
            mode=script.mode,
            replies=script.replies,
            tokens_per_s=script.tokens_per_s,
            context_size=entry.context_size or 4096,
        )
    _need_engine(entry)
    from bridge.engines.llama import load_llama

    assert path is not None

    return load_llama(
        path,
        settings=settings,
        kv_cache_type=entry.kv_cache_type,
        context_size=entry.context_size,
        progress=_share_of(report),
    )


def load_embedding_engine(entry: CatalogEntry, path: Path | None, settings: Settings, report: Report) -> EmbeddingModel:
    """Make the embedding engine of a catalog entry. Blocking; raises ModelLoadFailed, ModelCorrupt."""
    if entry.engine == "mock":
        from bridge.engines.mock_embed import MockEmbedder

        return MockEmbedder()
    _need_engine(entry)
    from bridge.engines.embed import load_embedder

    assert path is not None
    return load_embedder(path, settings=settings, progress=_share_of(report))


def load_speech_engine(entry: CatalogEntry, path: Path | None, settings: Settings, report: Report) -> SpeechModel:
    """Make the voice of a catalog entry. Blocking; raises ModelLoadFailed, ModelCorrupt."""
    if entry.engine == "mock":
        from bridge.engines.mock_voice import MockVoice
        from bridge.engines.speech_queue import QueuedVoice

        script = entry.mock or MockScript()
        return QueuedVoice(MockVoice(real_time_factor=script.real_time_factor, fail_on=script.fail_on))
    _need_engine(entry)
    assert path is not None
    if entry.engine == "hibari":
        from bridge.engines.hibari import load_hibari

        return load_hibari(path, report=report)
    from bridge.engines.sherpa import load_sherpa

    return load_sherpa(path, report=report)


_NEEDED = {
    "llama-cpp": ("llama_cpp", "llama.cpp", "llama"),
    "hibari": ("hibari", "the package hibari-tts", "voice"),
    "sherpa-onnx": ("sherpa_onnx", "sherpa-onnx", "sherpa"),
}
"""Of each engine: its module, what it is called, and the extra of Parley that brings it."""


def missing_engine(entry: CatalogEntry) -> str:
    """What must be installed before the model can be loaded, in one sentence; empty where nothing must."""
    module, called, extra = _NEEDED.get(entry.engine, ("", "", ""))
    if not module or importlib.util.find_spec(module) is not None:
        return ""
    return f"model '{entry.name}' needs {called}, which is not installed: pip install \"parley-bridge[{extra}]\""


def _need_engine(entry: CatalogEntry) -> None:
    if missing := missing_engine(entry):
        raise ModelLoadFailed(missing)


def _share_of(report: Report) -> Callable[[float], None]:
    return lambda share: report("load", int(share * 100), 100, "percent")

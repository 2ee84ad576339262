"""What voices take in memory, for estimates and where it cannot be asked: measured by this project."""

from __future__ import annotations

HIBARI_BYTES = 180 * 2**20
"""Beside the file: dictionaries, and onnxruntime with room for a sentence."""
HIBARI_LONG_BYTES = 80 * 2**20
"""More with the first very long sentence; it stays."""
SHERPA_PROCESS_BYTES = 60 * 2**20
"""A process with Python, numpy and onnxruntime, before it has read a voice."""
SHERPA_WORK = 1.0
"""Of the model's file: what sentences are computed in. Larger models have wider layers."""

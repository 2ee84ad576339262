"""That a sidecar holds after many sessions what it held after a few: memory, threads, files, tasks, models."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.real_sidecar import game
from tests.soaking import SETTINGS, Cast, soak
from tests.talk import ECHO, EMBED, scripted

pytestmark = pytest.mark.timeout(0)  # the soak has a bound of its own, which --soak-minutes sets


@pytest.mark.thorough
def test_mock_models(soak_s: float, tmp_path: Path) -> None:
    slow = scripted("once upon a time " * 40, name="slow", tokens_per_s=100)
    arguments = game(tmp_path, ECHO, slow, EMBED, **SETTINGS)
    soak(tmp_path / "sidecar.log", arguments, Cast("echo", "slow", "embed"), soak_s, growth_bytes=12 * 2**20)

"""The same with real models, which are loaded and unloaded all the time."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.real_sidecar import game
from tests.soaking import SETTINGS, Cast, soak

pytestmark = [pytest.mark.live, pytest.mark.thorough, pytest.mark.timeout(0)]  # the soak has a bound of its own


def test_starter_models(soak_s: float, starter_model: Path, starter_embed: Path, tmp_path: Path) -> None:
    assert starter_model.parent == starter_embed.parent
    arguments = game(tmp_path, **{**SETTINGS, "models_folder": str(starter_model.parent)})
    cast = Cast("starter-chat", "starter-chat", "starter-embed")
    soak(tmp_path / "sidecar.log", arguments, cast, 2 * soak_s, growth_bytes=32 * 2**20)

"""The bench runs and writes what it says; how fast anything is, it says itself."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]


@pytest.mark.thorough
def test_every_section_gives_its_figures(starter_model: Path, starter_embed: Path, tmp_path: Path) -> None:
    # The search among 100,000 records takes minutes.
    sections_run = [
        "batching", "overhead", "classifier", "first-token", "parking", "embedding", "frames", "stalls",
        "voice"
    ]  # fmt: skip
    out = tmp_path / "bench.json"
    command = [
        sys.executable,
        "-m",
        "bridge",
        "bench",
        "--agents",
        "1,2",
        "--rounds",
        "1",
        "--tokens",
        "8",
        "--out",
        str(out),
    ]
    command += [word for name in sections_run for word in ("--section", name)]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    sections = json.loads(out.read_text(encoding="utf-8"))["sections"]
    assert list(sections) == sections_run
    assert [row["agents"] for row in sections["batching"]["rows"]] == [1, 2]
    assert all(row["bare_tokens_per_s"] > 0 for row in sections["batching"]["rows"])
    cold, warm = sections["classifier"]["rows"]
    assert cold["evaluated_tokens"] > 3 * warm["evaluated_tokens"]
    assert sections["embedding"]
    assert len(sections["first-token"]["rows"]) == 4
    assert sections["parking"]["restored_ms"] > 0
    frames = sections["frames"]
    assert frames["frames_per_s"] > 0 and frames["frames_per_s_beside_a_stalled_client"] > 0
    assert all(took > 0 for took in sections["stalls"].values()) and len(sections["stalls"]) == 4
    voice = sections["voice"]
    assert [row["real_time_factor"] > 0 for row in voice["alone"]] == [True] * 4
    assert voice["pairs"] > 0 and all(len(text) > 30 for text in voice["texts"])
    for name in ("first_sound", "whole_text", "spoken_tokens", "beside_tokens"):
        assert voice[name]["ratio"] > 0, name
    assert "outside decode and draw" in done.stdout


def test_an_unknown_section_is_named() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bridge", "bench", "--section", "luck"],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 2
    assert "luck" in done.stderr
    assert "Traceback" not in done.stderr

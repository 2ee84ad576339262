"""What llama.cpp says of itself, and which GPUs seem to be there: nothing here loads or calls it."""

from __future__ import annotations

import importlib.metadata
import platform
from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel, ConfigDict


class Device(BaseModel):
    """Something that llama.cpp can compute on; bytes."""

    model_config = ConfigDict(frozen=True)

    name: str
    description: str
    kind: str
    free: int
    total: int


class LlamaFacts(BaseModel):
    """What llama.cpp says of itself."""

    model_config = ConfigDict(frozen=True)

    version: str
    ggml: str = ""
    commit: str = ""
    gpu: bool
    features: str
    devices: list[Device] = []

    @property
    def gpus(self) -> list[Device]:
        return [device for device in self.devices if "GPU" in device.kind]


def gpu_signs(system: str, machine: str, root: Path) -> dict[str, str]:
    """GPUs that seem to be there, by the build of llama.cpp that uses them. Reads small files only, so it cannot hang.

    An integrated GPU of Intel is not told: it is seldom faster than the CPU beside it.
    """
    signs: dict[str, str] = {}
    if system == "Darwin" and machine == "arm64":
        signs["METAL"] = "Apple's GPU"
    elif system == "Windows":
        folder = root / "Windows" / "System32"
        if (folder / "nvcuda.dll").is_file():
            signs["CUDA"] = "an NVIDIA GPU"
        if any((folder / name).is_file() for name in ("amdhip64.dll", "amdhip64_6.dll", "amdvlk64.dll")):
            signs["VULKAN"] = "an AMD GPU"
    elif system == "Linux":
        vendors = set(_display_vendors(root / "sys/bus/pci/devices"))
        if "0x10de" in vendors or (root / "proc/driver/nvidia/version").is_file() or (root / "dev/dxg").exists():
            signs["CUDA"] = "an NVIDIA GPU"
        if "0x1002" in vendors or (root / "dev/kfd").exists():
            signs["VULKAN"] = "an AMD GPU"
    return signs


def _display_vendors(folder: Path) -> Iterator[str]:
    try:
        devices = sorted(folder.iterdir())
    except OSError:
        return
    for device in devices:
        try:
            if (device / "class").read_text(encoding="ascii").startswith("0x03"):
                yield (device / "vendor").read_text(encoding="ascii").strip()
        except (OSError, ValueError):
            continue


def rebuild_command(switch: str) -> str:
    """How to have llama.cpp compiled here with one of its switches, such as CUDA."""
    try:
        wanted = f"llama-cpp-python=={importlib.metadata.version('llama-cpp-python')}"
    except importlib.metadata.PackageNotFoundError:
        wanted = "llama-cpp-python"
    install = f'pip install --force-reinstall --no-cache-dir --no-deps --no-binary llama-cpp-python "{wanted}"'
    if platform.system() == "Windows":
        return f"set CMAKE_ARGS=-DGGML_{switch}=on, then: {install}"
    return f'CMAKE_ARGS="-DGGML_{switch}=on" {install}'

"""What a benchmark ran on: processor, memory, load, versions. Never a host's or a user's name."""

from __future__ import annotations

import contextlib
import os
import platform
import sys
from importlib import metadata
from pathlib import Path

import psutil

from muleteer import __version__
from muleteer.engine.memory import physical_cores

PACKAGES = ("llama-cpp-python", "llguidance", "numpy", "xllamacpp")


def describe() -> dict[str, object]:
    """The machine now; memory in bytes, load averages over 1, 5 and 15 minutes."""
    memory = psutil.virtual_memory()
    return {
        "cpu": _cpu(),
        "architecture": platform.machine(),
        "cores": physical_cores(),
        "logical_cores": os.cpu_count(),
        "amx": "amx_tile" in _cpuinfo(),
        "memory": memory.total,
        "memory_available": memory.available,
        "load": [round(value, 2) for value in os.getloadavg()],
        "system": f"{platform.system()} {platform.release()}",
    }


def versions() -> dict[str, str]:
    """Of this program and of what it measures with; packages that are not installed are left out."""
    found = {"muleteer": __version__, "python": sys.version.split()[0]}
    for package in PACKAGES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            found[package] = metadata.version(package)
    return found


def _cpuinfo() -> str:
    try:
        return Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _cpu() -> str:
    """The processor's name: `model name` on x86-64, the board's `Model` on a Raspberry Pi."""
    pairs = (line.partition(":") for line in _cpuinfo().splitlines())
    fields = {name.strip(): value.strip() for name, _, value in pairs}
    return fields.get("model name") or fields.get("Model") or platform.processor() or platform.machine()

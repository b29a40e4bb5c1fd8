"""How much memory the daemon's processes take, and what the machine has left."""

from __future__ import annotations

from contextlib import suppress

import psutil


def footprint(engine: int | None) -> dict[str, int | None]:
    """Bytes: resident of `daemon` and `engine` (the process of this number; None while there is none), and of
    the machine what is `available`, of `total`."""
    resident = None
    if engine is not None:
        with suppress(psutil.Error):  # it has just ended
            resident = psutil.Process(engine).memory_info().rss
    machine = psutil.virtual_memory()
    return {
        "daemon": psutil.Process().memory_info().rss,
        "engine": resident,
        "available": machine.available,
        "total": machine.total,
    }

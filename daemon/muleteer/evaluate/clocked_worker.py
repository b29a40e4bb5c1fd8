"""The engine process with a clock around llama_decode: `python -m muleteer.evaluate.clocked_worker`.

The ordinary worker in all else. The clock is a file of two doubles (seconds in llama_decode, calls of it),
named by the environment, which the benchmark reads between requests.
"""

from __future__ import annotations

import mmap
import os
import struct
import sys
import time
from pathlib import Path
from typing import Any

from muleteer.engine import worker
from muleteer.engine.protocol import LoadSettings

CLOCK = "MULETEER_BENCH_CLOCK"
FORM = struct.Struct("dd")


def load(path: Path, settings: LoadSettings) -> worker.Decoding:
    """What the worker itself does, and the clock."""
    os.environ.setdefault("GOMP_SPINCOUNT", worker.SPINS)
    from muleteer.engine.decode import Decoder

    _wind(sys.modules["llama_cpp"], Path(os.environ[CLOCK]))
    return Decoder.load(path, settings)


def _wind(native: Any, file: Path) -> None:
    """Replace the native call, in this process, by one that is timed."""
    decode = native.llama_decode
    with file.open("r+b") as opened:
        page = mmap.mmap(opened.fileno(), FORM.size)
    spent, calls = 0.0, 0

    def timed(context: object, batch: object) -> object:
        nonlocal spent, calls
        began = time.perf_counter()
        try:
            return decode(context, batch)
        finally:
            spent, calls = spent + time.perf_counter() - began, calls + 1
            FORM.pack_into(page, 0, spent, calls)

    native.llama_decode = timed


if __name__ == "__main__":
    worker.main(load)

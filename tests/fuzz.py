"""Everything that strangers can send, malformed: HTTP, JSON, events, packets. `make fuzz RUNS=100000 SEED=1`.

python -m tests.fuzz --runs RUNS [--seed SEED]

Each kind gets its share of the runs. An input that is a fault of ours ends it, with the input; the same seed
brings it again. A kind is a module `fuzz_*.py` with `fuzz(seed, runs)`, which counts what was not refused.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping

from tests import fuzz_events
from tests.discovery import fuzz_packets
from tests.gateway import fuzz_bodies, fuzz_http
from tests.gateway.ollama import fuzz_bodies as fuzz_ollama
from tests.gateway.openai import fuzz_bodies as fuzz_openai
from tests.gateway.wyoming import fuzz_events as fuzz_wyoming

Fuzz = Callable[[int, int], int]

# Each kind, and its share of all runs.
KINDS: Mapping[str, tuple[Fuzz, float]] = {
    "HTTP": (fuzz_http.fuzz, 0.4),
    "bodies": (fuzz_bodies.fuzz, 0.2),
    "chat completions": (fuzz_openai.fuzz, 0.1),
    "Ollama": (fuzz_ollama.fuzz, 0.1),
    "events": (fuzz_events.fuzz, 0.05),
    "Wyoming": (fuzz_wyoming.fuzz, 0.05),
    "mDNS": (fuzz_packets.fuzz, 0.1),
}


def main() -> None:
    parser = argparse.ArgumentParser(description="Send malformed input to everything that listens.")
    parser.add_argument("--runs", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    for name, (fuzz, share) in KINDS.items():
        runs, began = round(options.runs * share), time.monotonic()
        taken = fuzz(options.seed, runs)
        print(
            f"{name:<18}{runs:>8} inputs, {taken} of them taken, {time.monotonic() - began:.0f} s", flush=True
        )


if __name__ == "__main__":
    main()

"""How much memory a model needs, and whether this machine has it.

Pure arithmetic on a model's metadata, plus one look at the available memory. Knows nothing of llama.cpp.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import psutil

from muleteer.engine.protocol import LoadSettings
from muleteer.errors import ModelError

KV_BYTES = 2  # bytes of one cached value: llama.cpp keeps keys and values as 16-bit floats
VALUE_BYTES = 4  # bytes of one activation or logit
FIXED_BYTES = 32 * 2**20  # tables, graph and library: 20-30 MiB over the sum of the rest, measured on `tiny`
ACTIVATIONS = 6  # feed-forward sized activations alive at once in one batch (gate, up, their product, copies)


@dataclass(frozen=True, slots=True)
class Need:
    """Bytes: `weights` (the file), `kv` (the context), `buffers` (one batch in flight), `parked` (prefixes
    outside the context, at most)."""

    weights: int
    kv: int
    buffers: int
    parked: int = 0

    @property
    def total(self) -> int:
        return self.weights + self.kv + self.buffers + self.parked


def needed(metadata: Mapping[str, str], size: int, settings: LoadSettings) -> Need:
    """What loading takes, from the GGUF key-value pairs (as text) and the file's size in bytes."""
    architecture = metadata.get("general.architecture", "")

    def number(key: str, default: int) -> int:
        """The value of an architecture key; per-layer lists count with their largest entry."""
        text = metadata.get(f"{architecture}.{key}", "")
        values = [int(part) for part in text.strip("[]").replace(",", " ").split() if part.isdigit()]
        return max(values, default=default)

    layers = number("block_count", 0)
    width = number("embedding_length", 0)
    heads = max(1, number("attention.head_count", 1))
    kv_heads = number("attention.head_count_kv", heads)
    key = number("attention.key_length", width // heads)
    value = number("attention.value_length", width // heads)
    kv = settings.context * layers * kv_heads * (key + value) * KV_BYTES
    per_token = width + ACTIVATIONS * number("feed_forward_length", 4 * width)
    logits = number("vocab_size", 0) * settings.sequences
    scores = heads * settings.context * settings.batch
    buffers = (settings.batch * per_token + logits + scores) * VALUE_BYTES + FIXED_BYTES
    return Need(size, kv, buffers, settings.parked_memory)


def check_file(path: Path) -> int:
    """The size in bytes of a file that at least claims to be GGUF.

    Raises `ModelError` when it is missing, unreadable, empty or something else."""
    try:
        with path.open("rb") as file:
            magic = file.read(4)
        size = path.stat().st_size
    except FileNotFoundError:
        raise ModelError(f"There is no model file at {path}; fetch one with `muleteer model pull`.") from None
    except OSError as error:
        raise ModelError(f"The model file {path} cannot be read: {error.strerror}.") from error
    if not size:
        raise ModelError(f"The model file {path} is empty; fetch it again with `muleteer model pull`.")
    if magic != b"GGUF":
        raise ModelError(f"{path} is not a GGUF model file; choose another with `muleteer model use`.")
    return size


def check_memory(need: Need, path: Path, context: int) -> None:
    """Raise `ModelError`, with the numbers, when the model cannot fit beside what already runs."""
    available = psutil.virtual_memory().available
    if need.total > available:
        raise ModelError(
            f"{path.name} does not fit in memory: {_mib(need.weights)} MiB of weights, {_mib(need.kv)} for a "
            f"context of {context} tokens, {_mib(need.buffers)} of buffers and {_mib(need.parked)} of parked "
            f"prefixes make {_mib(need.total)}, and {_mib(available)} MiB are available; choose a smaller "
            "model, or lower engine.context or engine.parked_memory."
        )


def physical_cores() -> int:
    """Cores that this process may run on, without hyper-threads."""
    allowed = len(psutil.Process().cpu_affinity() or ()) or 1
    return max(1, min(psutil.cpu_count(logical=False) or allowed, allowed))


def _mib(size: int) -> int:
    return -(-size // 2**20)

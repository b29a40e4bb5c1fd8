from __future__ import annotations

from pathlib import Path

import pytest

from muleteer.engine import memory
from muleteer.engine.protocol import LoadSettings
from muleteer.errors import ModelError

QWEN = {
    "general.architecture": "qwen2",
    "qwen2.block_count": "28",
    "qwen2.embedding_length": "1536",
    "qwen2.attention.head_count": "12",
    "qwen2.attention.head_count_kv": "2",
    "qwen2.feed_forward_length": "8960",
}


def test_the_cache_of_the_standard_model() -> None:
    need = memory.needed(QWEN, 1_117_320_768, LoadSettings(context=4096))
    assert need.kv == 4096 * 28 * 2 * (128 + 128) * 2  # llama.cpp logs 112.00 MiB
    assert need.total == need.weights + need.kv + need.buffers + need.parked
    assert need.parked == 128 * 2**20


def test_heads_may_differ_by_layer() -> None:
    listed = QWEN | {"qwen2.attention.head_count_kv": "[1, 2, 2]"}
    assert memory.needed(listed, 1, LoadSettings()).kv == memory.needed(QWEN, 1, LoadSettings()).kv


def test_the_refusal_has_the_numbers() -> None:
    need = memory.needed(QWEN, 2**60, LoadSettings())
    with pytest.raises(
        ModelError, match=r"x\.gguf does not fit in memory: 1099511627776 MiB of weights, 112 for a .*"
    ):
        memory.check_memory(need, Path("x.gguf"), 4096)


def test_this_process_has_a_core() -> None:
    assert memory.physical_cores() >= 1

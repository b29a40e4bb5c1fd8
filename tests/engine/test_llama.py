"""Loading what can and what cannot be loaded, and the native calls that everything stands on."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from muleteer.engine import llama as module
from muleteer.engine.llama import Llama, NoRoomError, Row
from muleteer.engine.protocol import LoadSettings
from muleteer.errors import ModelError

SMALLEST = LoadSettings(context=256, sequences=4, batch=32, threads=1)


def rows(tokens: list[int], sequence: int, start: int = 0) -> list[Row]:
    return [Row(t, start + i, sequence, i == len(tokens) - 1) for i, t in enumerate(tokens)]


def last_logits(native: Llama, tokens: list[int], sequence: int, start: int = 0) -> module.Logits:
    native.evaluate(rows(tokens, sequence, start))
    return np.array(native.logits(len(tokens) - 1))


def refusal(path: Path) -> str:
    with pytest.raises(ModelError) as caught:
        Llama(path, SMALLEST)
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert str(path) in sentence
    return sentence


def test_files_that_are_no_models(tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    assert "There is no model file" in refusal(path)
    path.write_bytes(b"")
    assert "is empty" in refusal(path)
    path.write_text("Hello, I am a text.")
    assert "is not a GGUF model file" in refusal(path)
    path.unlink()
    path.mkdir()
    assert "cannot be read" in refusal(path)


@pytest.mark.parametrize("size", [4, 100, 1_000_000, 50_000_000])
def test_truncated_models(tmp_path: Path, tiny: Path, size: int) -> None:
    path = tmp_path / "model.gguf"
    with tiny.open("rb") as whole:
        path.write_bytes(whole.read(size))
    assert "is damaged or not a model llama.cpp can read (" in refusal(path)


def test_a_model_with_noise_for_a_header(tmp_path: Path, tiny: Path) -> None:
    path = tmp_path / "model.gguf"
    with tiny.open("rb") as whole:
        path.write_bytes(b"GGUF" + bytes(reversed(whole.read(100_000))))
    assert "is damaged" in refusal(path)


def test_a_context_too_large_for_memory_is_refused_before_loading(tiny: Path) -> None:
    settings = LoadSettings(context=8192, sequences=2**30, batch=32, threads=1)
    with pytest.raises(
        ModelError, match=r"does not fit in memory: 94 MiB of weights, 180 for a context of 8192"
    ):
        Llama(tiny, settings)


def test_the_context_is_no_larger_than_the_model_was_trained_for(tiny: Path) -> None:
    llama = Llama(tiny, LoadSettings(context=9000, sequences=2, batch=32, threads=1))
    try:
        assert llama.context == llama.trained_context == 8192
    finally:
        llama.close()


def test_extra_buffers_are_off_where_asked_or_where_they_crash(tiny: Path) -> None:
    llama = Llama(tiny, LoadSettings(context=256, sequences=2, batch=32, threads=1, extra_buffers=False))
    llama.close()
    llama.close()
    assert not llama.extra_buffers


def test_the_build_names_cpu_features() -> None:
    assert "=" not in module.build()
    assert module.build() == module.build().strip()


def test_a_fork_decodes_like_the_whole(native: Llama) -> None:
    tokens = native.tokenize("The capital of France is the city of", special=False)
    half = len(tokens) // 2
    whole = last_logits(native, tokens, 0)
    last_logits(native, tokens[:half], 1)
    native.copy(1, 2, half)
    forked = last_logits(native, tokens[half:], 2, half)
    for sequence in range(3):
        native.remove(sequence)
    np.testing.assert_allclose(forked, whole, atol=0.05, rtol=0)
    assert forked.argmax() == whole.argmax()


def test_a_fork_leaves_its_source_alone(native: Llama) -> None:
    tokens = native.tokenize("One two three four", special=False)
    last_logits(native, tokens, 0)
    native.copy(0, 1, len(tokens))
    before = last_logits(native, [tokens[0]], 1, len(tokens))
    native.remove(0)
    native.remove(1, len(tokens))
    after = last_logits(native, [tokens[0]], 1, len(tokens))
    native.remove(1)
    np.testing.assert_allclose(after, before, atol=0.05, rtol=0)


def test_a_full_context_is_said_and_changes_nothing(tiny: Path) -> None:
    llama = Llama(tiny, SMALLEST)
    try:
        for start in range(0, llama.context, llama.batch):
            llama.evaluate(rows([1] * llama.batch, 0, start))
        with pytest.raises(NoRoomError):
            llama.evaluate(rows([1], 1))
        assert llama.evaluated == llama.context
        llama.remove(0, 100)
        llama.evaluate(rows([1], 1))
    finally:
        llama.close()


def test_special_tokens_only_where_they_are_wanted(native: Llama) -> None:
    (token,) = native.tokenize("<|im_start|>", special=True)
    assert native.is_control(token)
    assert native.piece(token) == b""
    assert native.text_of(token) == "<|im_start|>"
    assert len(native.tokenize("<|im_start|>", special=False)) > 1

"""A native context that is full although the bookkeeping believed otherwise; drafts verified and cut."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from muleteer.engine.budget import Ledger
from muleteer.engine.cache import Cache
from muleteer.engine.llama import Llama
from muleteer.engine.prefixes import Forest
from muleteer.engine.protocol import LoadSettings
from muleteer.errors import EngineError


@pytest.fixture
def cramped(tiny: Path) -> Iterator[Llama]:
    llama = Llama(tiny, LoadSettings(context=256, sequences=4, batch=32, threads=1))
    yield llama
    llama.close()


def go_on() -> None:
    """A `check` that never cancels."""


def test_idle_sequences_make_room_when_llama_cpp_says_so(cramped: Llama) -> None:
    cache = Cache(cramped, Forest(4, 10_000))
    with Ledger().request() as meter:
        for start in range(4):
            cache.open([start + 1] * 100, 0, (), go_on, meter)
            cache.release()
    assert cache.held.resident_tokens == 200


def test_a_request_that_needs_more_than_there_is_fails_and_the_next_one_works(cramped: Llama) -> None:
    cache = Cache(cramped, Forest(4, 10_000))
    with Ledger().request() as meter:
        with pytest.raises(EngineError, match="no free cell"):
            cache.open([1] * 300, 0, (), go_on, meter)
        cache.release()
        _, logits = cache.open([2] * 50, 0, (), go_on, meter)
    assert logits.shape == (cramped.vocabulary,)


def test_branches_beyond_the_sequences_are_refused(cramped: Llama) -> None:
    cache = Cache(cramped, Forest(2, 256))
    with Ledger().request() as meter:
        sequence, _ = cache.open([1, 2, 3], 0, (), go_on, meter)
        cache.fork_all(sequence)
        with pytest.raises(EngineError, match="no free sequence"):
            cache.fork_all(sequence)


def test_a_verified_batch_gives_the_logits_after_each_token(cramped: Llama) -> None:
    cache, prompt, tokens = Cache(cramped, Forest(4, 256)), [5, 6, 7], [8, 9, 10, 11]
    with Ledger().request() as meter:
        sequence, _ = cache.open(prompt, 0, (), go_on, meter)
        rows = [row.copy() for row in cache.verify(sequence, tokens, go_on, meter)]
        cache.drop(sequence)
        sequence, _ = cache.open(prompt, 0, (), go_on, meter)
        plain = [cache.extend(sequence, [token], go_on, meter).copy() for token in tokens]
    assert cache.rows == len(tokens)
    np.testing.assert_allclose(rows, plain, atol=0.05)


def test_what_was_cut_is_gone_from_the_context_too(cramped: Llama) -> None:
    cache = Cache(cramped, Forest(4, 256))
    with Ledger().request() as meter:
        sequence, _ = cache.open([5, 6, 7], 0, (), go_on, meter)
        cache.verify(sequence, [20, 21, 22], go_on, meter)
        cache.cut(sequence, 4)
        after = cache.extend(sequence, [9], go_on, meter).copy()
        assert cache.held.resident_tokens == 5
        cache.drop_all()
        _, expected = cache.open([5, 6, 7, 20, 9], 0, (), go_on, meter)
    np.testing.assert_allclose(after, expected, atol=0.05)

from __future__ import annotations

import contextlib

import pytest

from muleteer.engine.budget import Ledger, check_length
from muleteer.errors import TooLongError


def test_a_request_is_counted_prompt_first() -> None:
    ledger = Ledger()
    with ledger.request() as meter:
        meter.opens(prompt=10, reused=4)
        meter.evaluated(5)
        meter.evaluated(3)
        meter.sampled()
        meter.ended_with(1)
        use = meter.use()
    assert (use.prompt, use.reused, use.decoded, use.generated, use.sampled) == (10, 4, 6, 3, 1)
    assert ledger.totals.decoded + ledger.totals.generated - ledger.unevaluated == 8


def test_rejected_tokens_are_no_part_of_the_text_and_were_evaluated() -> None:
    ledger = Ledger()
    with ledger.request() as meter:
        meter.opens(prompt=10, reused=4)
        meter.evaluated(6)
        meter.evaluated(4)
        meter.rejected(3)
        meter.ended_with(1)
    totals = ledger.totals
    assert (totals.decoded, totals.generated, totals.rejected) == (6, 2, 3)
    assert totals.decoded + totals.generated + totals.rejected - ledger.unevaluated == 10


def test_a_cancelled_request_counts_what_was_done() -> None:
    ledger = Ledger()
    with contextlib.suppress(TimeoutError), ledger.request() as meter:
        meter.opens(prompt=10, reused=4)
        meter.evaluated(2)
        raise TimeoutError
    assert (ledger.totals.prompt, ledger.totals.reused, ledger.totals.decoded) == (6, 4, 2)


def test_both_counts_are_named() -> None:
    check_length(10, 10, 5, 15)
    with pytest.raises(TooLongError, match=r"has 11 tokens and may have 10"):
        check_length(11, 10, 0, 100)
    with pytest.raises(TooLongError, match=r"has 11 tokens, which with 5 .* context of 15"):
        check_length(11, None, 5, 15)

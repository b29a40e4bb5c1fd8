"""Scored options on the tiny model."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from muleteer.engine.decode import Decoder
from muleteer.engine.protocol import Choice, Use
from muleteer.errors import RequestError
from tests.engine.asking import (
    HANDLES,
    MENU,
    assert_exact,
    go_on,
    say,
)


def test_choose_equals_scoring_every_option_alone(decoder: Decoder) -> None:
    """Against the definition: at each token the softmax over the tokens that options allow there."""
    prompt = say("Check the notes", system=MENU, begin="@")
    chat, native = decoder._chat, decoder._llama
    options = [(*chat.foreign("@" + handle)[1:], chat.end) for handle in HANDLES]
    rendered = chat.render(prompt).tokens

    def logits(path: tuple[int, ...]) -> Any:
        decoder.forget()
        with decoder._ledger.request() as meter:
            _, row = decoder._cache.open([*rendered, *path], 0, (), go_on, meter)
            return np.array(row, dtype=np.float64)

    expected = []
    for option in options:
        probability = 1.0
        for depth in range(len(option)):
            allowed = {o[depth] for o in options if o[:depth] == option[:depth]}
            if len(allowed) > 1:
                row = logits(option[:depth])
                probability *= math.exp(row[option[depth]] - np.logaddexp.reduce([row[t] for t in allowed]))
        expected.append(probability)
    decoder.forget()
    assert native.evaluated == 0
    choice = decoder.choose(prompt, HANDLES, go_on)
    assert choice.probabilities == pytest.approx(expected, abs=0.01)
    assert sum(choice.probabilities) == pytest.approx(1)
    assert choice.use.generated == 2  # `check` and `check-`, each decoded once
    assert choice.use.sampled == 0


def test_the_order_of_options_does_not_matter(decoder: Decoder) -> None:
    prompt = say("Check the notes", system=MENU, begin="@")
    forward = decoder.choose(prompt, HANDLES, go_on).probabilities
    backward = decoder.choose(prompt, HANDLES[::-1], go_on).probabilities
    assert backward[::-1] == pytest.approx(forward, abs=0.01)


def test_many_options_that_share_much(decoder: Decoder) -> None:
    options = [
        f"{a}-{b}-{c}" for a in ("red", "green", "blue") for b in ("one", "two", "three") for c in "xyz"
    ]
    choice = decoder.choose(say("Pick."), options, go_on)
    assert len(choice.probabilities) == 27
    assert sum(choice.probabilities) == pytest.approx(1)
    assert all(p >= 0 for p in choice.probabilities)
    assert_exact(decoder)


def test_one_option_is_certain(decoder: Decoder) -> None:
    assert decoder.choose(say("Pick."), ["only"], go_on).probabilities == (1.0,)


@pytest.mark.parametrize("options", [[], ["a", "a"]])
def test_choose_needs_different_options(decoder: Decoder, options: list[str]) -> None:
    with pytest.raises(RequestError):
        decoder.choose(say("Pick."), options, go_on)


def test_a_prior_is_subtracted_and_what_is_left_sums_to_one() -> None:
    choice = Choice((0.6, 0.3, 0.1), Use())
    same = choice.less([2.0, 2.0, 2.0]).probabilities
    assert same == pytest.approx((0.6, 0.3, 0.1))
    assert choice.less([math.log(0.6), math.log(0.3), math.log(0.1)]).probabilities == pytest.approx(
        [1 / 3] * 3
    )
    assert choice.less([math.log(4), 0.0, 0.0]).probabilities == pytest.approx(
        (0.15 / 0.55, 0.3 / 0.55, 0.1 / 0.55)
    )
    with pytest.raises(ValueError, match="shorter"):
        choice.less([0.0])

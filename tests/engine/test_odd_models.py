"""Reuse of what was decoded, on models that llama.cpp keeps differently: recurrent, hybrid, sliding window.

The right answer is always that of a decoder that holds nothing. llama.cpp adds up attention in half
precision, in the order of the cells, so that equal prompts may differ by a few thousandths.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from muleteer.engine.decode import Decoder
from muleteer.engine.llama import Llama
from muleteer.engine.protocol import Choice, Conversation, LoadSettings, Text, ToolSpec
from tests.engine import odd_models
from tests.engine.asking import (
    HANDLES,
    MENU,
    PLACE,
    CancelledError,
    assert_exact,
    cancel_after,
    go_on,
    say,
    write,
)

CLOSE = 0.005
CONTEXT = 400  # three or four of these prompts
SETTINGS = LoadSettings(context=CONTEXT, sequences=8, batch=32, threads=1)
WHOLE_ONLY = ("recurrent", "hybrid", "window")
FIRST = say("What time is it in Rome?", system=MENU, constant=1)
SECOND = say("Wind the clock and say when you are done", system=MENU, constant=1)
TOOL = ToolSpec("clock", "", {})


@pytest.fixture(scope="module", params=[*WHOLE_ONLY, "thinking", "spm"])
def pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    path = odd_models.make(tmp_path_factory.mktemp("odd"), request.param)
    with closing(Decoder.load(path, SETTINGS)) as used, closing(Decoder.load(path, SETTINGS)) as cold:
        yield Pair(request.param, used, cold)


class Pair:
    """A decoder, and one that forgets everything before each request."""

    def __init__(self, kind: str, used: Decoder, cold: Decoder) -> None:
        self.kind, self.used, self.cold = kind, used, cold

    def choose(self, prompt: Conversation, used: Decoder | None = None) -> Choice:
        """What a decoder with a past answers, which must be what the cold one does."""
        self.cold.forget()
        choice = (used or self.used).choose(prompt, HANDLES, go_on)
        expected = self.cold.choose(prompt, HANDLES, go_on)
        assert choice.probabilities == pytest.approx(expected.probabilities, abs=CLOSE)
        assert expected.use.reused == 0
        return choice


@pytest.fixture
def fresh(pair: Pair) -> Pair:
    pair.used.forget()
    return pair


def test_whether_prefixes_can_be_cut_is_known(pair: Pair) -> None:
    assert pair.used.properties.partial_reuse == (pair.kind not in WHOLE_ONLY)


def test_a_window_that_holds_the_whole_context_leaves_nothing_behind(tmp_path: Path) -> None:
    path = odd_models.make(tmp_path, "window")
    for context, cut in ((odd_models.WINDOW, True), (CONTEXT, False)):
        with closing(Llama(path, replace(SETTINGS, context=context))) as native:
            assert native.partial_reuse == cut


def test_different_prompts_in_a_row(fresh: Pair) -> None:
    for prompt in (FIRST, SECOND, FIRST):
        assert fresh.choose(prompt).use.prompt > 80
    assert_exact(fresh.used)


def test_a_whole_saved_prefix_is_reused(fresh: Pair) -> None:
    saved = fresh.used.warm(FIRST, go_on).decoded
    assert saved > 60
    reused = [fresh.choose(prompt).use.reused for prompt in (FIRST, SECOND)]
    assert reused[0] == saved
    assert reused[1] >= saved
    if fresh.kind in WHOLE_ONLY:
        assert reused[1] == saved
    assert fresh.used.warm(FIRST, go_on).decoded == 0
    assert_exact(fresh.used)


def test_a_prefix_saved_on_disk_is_restored(fresh: Pair, tmp_path: Path) -> None:
    path, settings = Path(fresh.used.properties.path), replace(SETTINGS, states=str(tmp_path))
    with closing(Decoder.load(path, settings)) as decoder:
        saved = decoder.warm(FIRST, go_on).decoded
        assert decoder.held.disk_prefixes <= 1
    with closing(Decoder.load(path, settings)) as decoder:
        assert decoder.warm(FIRST, go_on).decoded == 0
        fresh.choose(SECOND, decoder)
        assert fresh.choose(FIRST, decoder).use.reused >= saved
        assert decoder.held.restored == 1
        assert decoder.held.disk_prefixes == 1
        assert_exact(decoder)


def test_prompts_of_all_lengths_in_a_small_context(fresh: Pair) -> None:
    """Beginnings are shared at every length while sequences are given up and brought back."""
    draw = random.Random(odd_models.SEED)
    texts = [" ".join(draw.choices(odd_models.WORDS, k=draw.randint(5, 80))) for _ in range(4)]
    reused = 0
    for _ in range(100):
        text = draw.choice(texts)
        text = text[: draw.randint(0, len(text))] + " ".join(draw.choices(odd_models.WORDS, k=10))
        reused += fresh.choose(say(text, system="Pick.", constant=draw.choice((0, 1)))).use.reused
    assert reused > 0
    assert fresh.used.held.resident_tokens <= CONTEXT
    assert_exact(fresh.used)


@pytest.mark.parametrize("looks", [0, 1])
def test_a_cancel_leaves_the_decoder_usable(fresh: Pair, looks: int) -> None:
    fresh.choose(FIRST)
    with pytest.raises(CancelledError):
        fresh.used.choose(SECOND, HANDLES, cancel_after(looks))
    fresh.choose(FIRST)
    with pytest.raises(CancelledError):
        fresh.used.fill(SECOND, PLACE, 80, cancel_after(looks))
    fresh.choose(FIRST)
    with pytest.raises(CancelledError):
        list(fresh.used.write(SECOND, 20, (), cancel_after(5 * looks)))
    fresh.choose(SECOND)
    assert_exact(fresh.used)


def test_texts_are_the_same_with_and_without_reuse(fresh: Pair) -> None:
    texts: list[list[Text]] = []
    for decoder in (fresh.cold, fresh.used):
        decoder.forget()
        if decoder is fresh.used:
            fresh.choose(FIRST)
            decoder.warm(FIRST, go_on)
        filled = decoder.fill(FIRST, PLACE, 80, go_on)
        begun = decoder.fill(Conversation(SECOND.messages[1:], (TOOL,), begin_call=True), PLACE, 80, go_on)
        texts.append([filled, begun, write(decoder, SECOND, 24)[1]])
        assert_exact(decoder)
    for without, reusing in zip(*texts, strict=True):
        assert reusing.text == without.text
        assert reusing.finish == without.finish
    assert texts[1][0].use.reused > 60

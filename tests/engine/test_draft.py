"""Greedy decoding with drafts against greedy decoding without, for models that are pure functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muleteer.engine.draft import DRAFT, LONGEST_PAUSE, Drafter, greedy

END = 0
Model = Callable[[Sequence[int]], int]  # the tokens so far, and the likeliest next one


class Context:
    """What an engine does for a text: holds tokens, and knows the likeliest next one after each."""

    def __init__(self, prompt: Sequence[int], model: Model) -> None:
        self.tokens, self.model = list(prompt), model
        self.evaluations = self.rejected = self.longest = 0

    def evaluate(self, tokens: Sequence[int]) -> list[int]:
        self.evaluations += 1
        self.longest = max(self.longest, len(tokens))
        likeliest = []
        for token in tokens:
            self.tokens.append(token)
            likeliest.append(self.model(self.tokens))
        return likeliest

    def reject(self, tokens: int) -> None:
        assert tokens > 0
        self.rejected += tokens
        del self.tokens[-tokens:]


def written(
    prompt: list[int], model: Model, limit: int, longest: int, stop: int = 10**6
) -> tuple[list[int], Context]:
    """The text, which also ends once it has `stop` tokens."""
    context, out = Context(prompt, model), list[int]()
    drafter = Drafter(prompt, longest, lambda token: token == END)
    tokens = greedy(model(prompt), limit, drafter, context.evaluate, context.reject)
    for token in tokens:
        if token == END:
            break
        out.append(token)
        if len(out) == stop:
            break
    tokens.close()
    return out, context


@st.composite
def models(draw: st.DrawFn) -> Model:
    """The next token depends on the last ones, and now and then on how long the text is."""
    order, salt = draw(st.integers(1, 3)), draw(st.integers(0, 2**16))
    alphabet, slip = draw(st.integers(2, 6)), draw(st.integers(2, 40))

    def model(tokens: Sequence[int]) -> int:
        mark = len(tokens) if len(tokens) % slip == 0 else 0
        return hash((salt, mark, *tokens[-order:])) % alphabet

    return model


prompts = st.lists(st.integers(0, 5), min_size=1, max_size=30)


@given(prompts, models(), st.integers(0, 60), st.integers(1, DRAFT), st.integers(1, 60))
def test_drafts_change_nothing_but_the_number_of_evaluations(
    prompt: list[int], model: Model, limit: int, longest: int, stop: int
) -> None:
    plain, without = written(prompt, model, limit, 0, stop)
    drafted, context = written(prompt, model, limit, longest, stop)
    assert drafted == plain
    assert len(plain) <= limit
    assert context.evaluations <= without.evaluations <= len(plain)
    assert context.longest <= longest + 1
    assert without.rejected == 0
    held = [*prompt, *drafted]
    assert context.tokens in (held, held[:-1])


def test_a_copy_takes_few_evaluations() -> None:
    passage = [7 * n % 101 + 1 for n in range(100)]
    prompt = [*passage, 200]

    def copy(tokens: Sequence[int]) -> int:
        return next(iter(passage[len(tokens) - len(prompt) :]), END)

    out, context = written(prompt, copy, 400, DRAFT)
    assert out == passage
    assert context.evaluations <= 6 + 100 / (DRAFT + 1)
    assert context.rejected < DRAFT


def test_a_text_that_copies_nothing_is_left_alone_more_and_more() -> None:
    drafter = Drafter([1] * 20, DRAFT, lambda token: token == END)
    tries = 0
    for _ in range(400):
        if draft := drafter.propose(100):
            tries += 1
            drafter.verified(len(draft), 0)
        drafter.add(1)
    assert tries <= 6 + 400 / LONGEST_PAUSE


def test_a_right_draft_ends_the_pauses() -> None:
    drafter = Drafter([1] * 20, DRAFT, lambda token: token == END)
    for _ in range(3):
        drafter.verified(4, 1)
    assert [bool(drafter.propose(9)) for _ in range(5)] == [False] * 4 + [True]
    drafter.verified(4, 2)
    assert drafter.propose(9)
    drafter.verified(4, 0)
    assert [bool(drafter.propose(9)) for _ in range(2)] == [False, True]


@pytest.mark.parametrize(
    ("before", "room", "draft"),
    [
        ([3, 4, 5], 50, [6, 7]),  # a run of three: cautious
        (list(range(2, 11)), 50, [11, 12]),
        (list(range(1, 11)), 50, list(range(11, 26))),  # ten in a row: sure
        (list(range(1, 11)), 5, list(range(11, 16))),
        (list(range(1, 11)), 0, []),
        ([9], 50, []),
        ([2, 98, 99], 50, []),  # what follows is the end of a text
        ([97, 98], 50, [99]),
    ],
)
def test_the_continuation_of_the_longest_run_is_proposed(
    before: list[int], room: int, draft: list[int]
) -> None:
    drafter = Drafter(
        [*range(1, 40), 50, 97, 98, 99, END, 51, 2, 98, 99, END, 52, *before], DRAFT, END.__eq__
    )
    assert drafter.propose(room) == draft


def test_the_latest_passage_is_proposed() -> None:
    drafter = Drafter([1, 2, 3, 4, 5, 1, 2, 3, 6, 7, 1, 2, 3], DRAFT, END.__eq__)
    assert drafter.propose(2) == [6, 7]

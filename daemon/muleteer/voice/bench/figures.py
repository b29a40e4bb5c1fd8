"""What a run of the battery found, as a table: right calls, and words that were not understood.

Pure. Knows attempts and how words are counted; not how they were made.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from muleteer.evaluate.batteries.battery import Tried
from muleteer.evaluate.batteries.intervals import wilson
from muleteer.voice.bench.words import errors, words

HEAD = (
    "| side | commands | right call | 95 % interval | understood whole | word errors | of the answer |",
    "|---|--:|--:|---|--:|--:|--:|",
)

Aloud = Callable[[str], str]
"""A text as it is spoken, so that "10" and "ten" are the same."""


@dataclass(frozen=True, slots=True)
class Counted:
    """Sentences, those without an error, and all their words and errors."""

    sentences: int
    whole: int
    words: int
    errors: int

    @property
    def rate(self) -> float:
        """Errors for each word that was said; more than 1 where more was heard than said."""
        return self.errors / self.words if self.words else 0.0


def counted(pairs: Sequence[tuple[str, str]], aloud: Aloud) -> Counted:
    """Of what was said and what was heard."""
    each = [(words(aloud(said)), words(aloud(heard))) for said, heard in pairs]
    wrong = [errors(said, heard) for said, heard in each]
    return Counted(len(each), wrong.count(0), sum(len(said) for said, _ in each), sum(wrong))


def markdown(attempts: Sequence[Tried], aloud: Aloud) -> str:
    """A line for each side, in the order in which they were first tried."""
    lines = list(HEAD)
    for side in dict.fromkeys(one.side for one in attempts):
        mine = [one for one in attempts if one.side == side]
        right = sum(one.right for one in mine)
        low, high = wilson(right, len(mine))
        lines.append(
            f"| {side} | {len(mine)} | {right}, {right / len(mine):.1%} | {low:.1%} to {high:.1%} "
            f"| {_understood(mine, aloud)} | {_of(mine, 'answer', 'answer_heard', aloud)} |"
        )
    return "\n".join(lines)


def misheard(attempts: Sequence[Tried], aloud: Aloud) -> list[tuple[str, str, str]]:
    """Side, what was said, and what was heard, where the two differ."""
    pairs = [(one.side, one.extra["said"], one.extra["heard"]) for one in attempts if "heard" in one.extra]
    return [one for one in pairs if counted([one[1:]], aloud).errors]


def _understood(attempts: Sequence[Tried], aloud: Aloud) -> str:
    pairs = [(one.extra["said"], one.extra["heard"]) for one in attempts if "heard" in one.extra]
    found = counted(pairs, aloud)
    return f"{found.whole} of {found.sentences} | {found.rate:.1%}" if pairs else "- | -"


def _of(attempts: Sequence[Tried], said: str, heard: str, aloud: Aloud) -> str:
    pairs = [(one.extra[said], one.extra[heard]) for one in attempts if heard in one.extra]
    return f"{counted(pairs, aloud).rate:.1%}" if pairs else "-"

"""The planner's prompt: menu lines, example exchanges, a message. Pure.

What is constant comes first, so that its tokens stay decoded; the message comes last, and before it those
lines of a menu too long to be shown whole that matter for this message. Knows no model, and not what is
chosen.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from muleteer.engine.protocol import Conversation, Message
from muleteer.harness.prompts import lines_of, render
from muleteer.harness.weighing import REPLY
from muleteer.skills import MenuLine

# Example exchanges of each handle, at most. One costs some 20 tokens; all that the shipped handles have would
# not fit budgets.planner_prompt. As lines of the system text they cost half, and were worth much less.
ROUNDS = 3

# Replies among the exchanges of one round.
ROUND_REPLIES = 5

# Lines that stand beside a message when the menu is too long for them all.
BESIDE = 6

Exchange = tuple[str, str]
"""What is said, and the handle it leads to."""


@dataclass(frozen=True, slots=True)
class Fit:
    """How much of a menu is always in the prompt: the lines of the handles `shown`, and so many of their
    example `exchanges`; its `tokens` once it is measured."""

    shown: frozenset[str]
    exchanges: int
    tokens: int = 0

    @classmethod
    def whole(cls, menu: Sequence[MenuLine]) -> Fit:
        return cls(frozenset(line.handle for line in menu), len(_interleave(menu)))

    @classmethod
    def part(cls, menu: Sequence[MenuLine], lines: Sequence[MenuLine]) -> Fit:
        """These lines, with one example each."""
        return cls(frozenset(line.handle for line in lines), one_round(lines))


def crowding(menu: Sequence[MenuLine], fit: Fit) -> str:
    """What has to give way on this menu, as a sentence; empty where nothing has."""
    shown, whole = len(fit.shown), Fit.whole(menu).exchanges
    mend = "Turn off what nobody uses, or raise budgets.planner_prompt."
    if shown < len(menu):
        return (
            f"The menu is crowded: of {len(menu)} handles {shown} are always shown to the planner, the others"
            f" only for messages with their words. {mend}"
        )
    if fit.exchanges < whole:
        return (
            f"The menu is crowded: with {len(menu)} handles only {fit.exchanges} of {whole} examples are"
            f" shown to the planner, which chooses less well. {mend}"
        )
    return ""


def constant_of(
    menu: Sequence[MenuLine], exchanges: int | None = None, shown: Collection[str] | None = None
) -> tuple[Message, ...]:
    """The constant messages; all exchanges and all lines if neither is given."""
    kept = [line for line in menu if shown is None or line.handle in shown]
    said = _interleave(kept)[:exchanges]
    system = Message("system", render("planner", menu="\n".join(map(_line, kept))))
    return (system, *exchanged(said))


def prompt_of(
    constant: Sequence[Message], message: str, beside: Sequence[MenuLine] = (), near: Sequence[Exchange] = ()
) -> Conversation:
    """The prompt for a message, with lines and examples that are there only for it."""
    if beside:
        message = render("planner_more", message=message, menu="\n".join(map(_line, beside)))
    return Conversation((*constant, *exchanged(near), Message("user", message)), constant=len(constant))


def exchanged(exchanges: Sequence[Exchange]) -> Iterator[Message]:
    """Exchanges as messages."""
    for said, handle in exchanges:
        yield from (Message("user", said), Message("assistant", f"@{handle}"))


def exchanges_of(constant: Sequence[Message], handle: str) -> Iterator[Message]:
    """The messages of a handle's exchanges in a constant prompt."""
    for said, answered in zip(constant[1::2], constant[2::2], strict=True):
        if answered.content == f"@{handle}":
            yield from (said, answered)


def replies() -> tuple[str, ...]:
    """Example messages that need no handle: they teach where the menu ends, the first ones in the prompt."""
    return lines_of("planner_replies")


def one_round(menu: Sequence[MenuLine]) -> int:
    """Exchanges of a round that has one of each handle."""
    return len(_round(menu, 0))


def _line(line: MenuLine) -> str:
    return f"- @{line.handle}: {line.description}"


def _interleave(menu: Sequence[MenuLine]) -> list[Exchange]:
    """Example exchanges in rounds that have one of each handle."""
    return [each for number in range(ROUNDS) for each in _round(menu, number)]


def _round(menu: Sequence[MenuLine], number: int) -> list[Exchange]:
    """One of each handle that has so many, with replies strewn among them, so that the model can learn
    neither "the same again" nor "in the end a reply"."""
    columns = [(_spread(line.examples, ROUNDS), line.handle) for line in menu]
    said = [(examples[number], handle) for examples, handle in columns if number < len(examples)]
    strewn = [(each, REPLY) for each in replies()[: ROUNDS * ROUND_REPLIES][number::ROUNDS]]
    every = max(1, len(said) // len(strewn))
    found: list[Exchange] = []
    for index in range(0, max(len(said), every * len(strewn)), every):
        found += [*said[index : index + every], *strewn[index // every : index // every + 1]]
    return found


def _spread(examples: Sequence[str], most: int) -> list[str]:
    """The first, the last, and those evenly between: other languages often come last."""
    if len(examples) <= most:
        return list(examples)
    return [examples[number * (len(examples) - 1) // max(1, most - 1)] for number in range(most)]

"""A turn of our own skills for a guest: its conversation is the history, its instructions reach the levels
that write, and its answer is cut where the guest wants it cut.

A turn that needs a yes says its question; the guest's next message, if it is a yes or a no, answers it.
"""

from __future__ import annotations

import copy
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace

from muleteer.engine.protocol import Message
from muleteer.errors import NotOpenError
from muleteer.harness.events import Confirm, Event, Outcome, TextDelta, TurnFinished, TurnStarted
from muleteer.harness.guests.ask import Ask, Finishing
from muleteer.harness.guests.cutting import Limited, Stops
from muleteer.harness.guests.questions import Questions
from muleteer.harness.guests.room import instructions
from muleteer.harness.guests.talk import Talk
from muleteer.harness.turn import Harness

# Of the budget of a written reply, this part is the guest's instructions' at most; the rest is for ours, for
# the conversation and for what was found.
INSTRUCTIONS = 2

WRITTEN = ("reply", "answer")  # the levels whose text is the answer


async def own(harness: Harness, ask: Ask, talk: Talk, questions: Questions) -> AsyncGenerator[Event, None]:
    """The events of the turn, with one `Finishing` before its outcome; of a question also its text."""
    mine = copy.copy(harness)
    limit = harness.budgets.answer_prompt // INSTRUCTIONS
    mine.instructions, warning = await instructions(harness.brain, talk.system, limit)
    output = harness.budgets.answer_output
    if ask.limit is not None and ask.limit < output:
        output = ask.limit
        mine.budgets = harness.budgets.model_copy(update={"answer_output": output})
    warnings = (warning,) if warning else ()
    events = mine.run(talk.message, _prose(talk.history))
    async for event in _shortened(harness, ask, events, output, warnings, questions):
        if isinstance(event, TurnFinished):
            event = replace(event, dropped=event.dropped + talk.dropped)
        yield event


def _prose(history: Sequence[Message]) -> list[Message]:
    """What was said, without the calls of a guest's tools and what they returned, which are none of ours."""
    said = (each for each in history if each.role != "tool" and each.content.strip())
    return [Message(each.role, each.content) for each in said]


def answered(
    harness: Harness, ask: Ask, turn: str, yes: bool, questions: Questions, may: Callable[[str], bool]
) -> tuple[str, AsyncGenerator[Event, None]]:
    """What was said before the question that `turn` ended with, and the events of the turn that goes on with
    the answer to it. `may` as in `Harness.take`."""
    try:
        pending = harness.take(turn, may)
    except NotOpenError as error:
        return "", _lapsed(turn, str(error))
    events, output = harness.confirmed(pending, yes), harness.budgets.answer_output
    return pending.message, _shortened(harness, ask, events, output, (), questions)


async def _lapsed(turn: str, why: str) -> AsyncGenerator[Event, None]:
    """A question that is open no longer, in words."""
    yield TurnStarted(turn)
    yield TextDelta(why)
    yield Finishing("stop")
    yield TurnFinished(turn, why, (), (), (), 0.0)


async def _shortened(
    harness: Harness,
    ask: Ask,
    events: AsyncGenerator[Event, None],
    output: int,
    warnings: tuple[str, ...],
    questions: Questions,
) -> AsyncGenerator[Event, None]:
    """The same events with the answer cut. The turn goes on to its end all the same: what it was asked to do
    is done."""
    stops, limited = Stops(ask.stop), Limited(ask.limit, harness.brain.count)
    whole = said = ""
    async with aclosing(events):
        async for event in events:
            pieces, outcome = [], event if isinstance(event, Outcome) else None
            if isinstance(event, TextDelta):
                pieces, whole = [stops.feed(event.text)], whole + event.text
            elif isinstance(event, Confirm):
                question = f" {event.question}" if whole else event.question
                pieces, whole = [stops.feed(question), stops.finish()], whole + question
            elif outcome:
                pieces = [stops.finish()]
            else:
                yield event
            for piece in pieces:
                if shown := await limited.feed(piece):
                    said += shown
                    yield TextDelta(shown)
            if outcome:
                if isinstance(outcome, Confirm) and said == whole:
                    questions.add(ask, said, outcome.turn)
                cut = limited.cut or (not stops.stopped and _ended_at(outcome, output))
                yield Finishing("length" if cut else "stop", warnings)
                yield replace(outcome, answer=said) if isinstance(outcome, TurnFinished) else outcome


def _ended_at(outcome: Outcome, output: int) -> bool:
    """Whether the text that was written last has as many tokens as it may have."""
    written = [level for level in outcome.levels if level.name in WRITTEN]
    return bool(written) and written[-1].generated >= output

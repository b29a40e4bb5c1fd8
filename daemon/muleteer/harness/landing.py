"""How a turn ends: in exactly one outcome, whatever goes wrong, and with what was found before a stop.

Knows limits, questions and failures. Does not know what the work is; `turn.py` gives it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from contextlib import closing

from muleteer.errors import MuleteerError, OverBudgetError
from muleteer.harness import answer, confirmation
from muleteer.harness.confirmation import Pending
from muleteer.harness.events import TurnStarted
from muleteer.harness.record import Record
from muleteer.harness.signals import BudgetExceeded, ConfirmSignal

log = logging.getLogger(__name__)

FAULT = "The turn failed by a fault of Muleteer itself; its log has the details."


async def land(
    record: Record, work: Coroutine[None, None, None], ask: Callable[[ConfirmSignal], Pending]
) -> None:
    """Do the work between `TurnStarted` and the outcome; only a cancelled task has none, since nobody waits
    for it. A question is the outcome once `ask` has kept what whoever answers it goes on from."""
    record.emit(TurnStarted(record.id))
    try:
        with closing(work):
            await work
    except ConfirmSignal as signal:
        pending = ask(signal)
        question = confirmation.question(pending.tool, pending.arguments, record.words)
        record.emit(record.asking(signal.tool, signal.arguments, question, confirmation.OPEN_SECONDS))
    except MuleteerError as error:
        record.emit(record.failed(error.code, str(error), error.status))
    except BaseException as error:  # whoever waits for the terminal event gets one
        task = asyncio.current_task()
        if isinstance(error, asyncio.CancelledError) and task and task.cancelling():
            raise
        log.exception("turn failed", extra={"turn": record.id})
        record.emit(record.failed("internal", FAULT, 500))
    else:
        record.emit(record.finished())


async def within(seconds: float, record: Record, work: Coroutine[None, None, None]) -> None:
    """The work, for so many seconds and while the ledger allows. What was found before a stop is still said;
    raises `OverBudgetError` where that is nothing."""
    try:
        async with asyncio.timeout(seconds):
            await work
    except BudgetExceeded as stop:
        _stopped(record, record.words.tokens_spent.format(limit=stop.tokens))
    except TimeoutError:
        _stopped(record, record.words.seconds_over.format(limit=f"{seconds:g}"))


def _stopped(record: Record, why: str) -> None:
    log.info("turn stopped: %s", why, extra={"turn": record.id})
    if not record.said:
        record.say(answer.spoken(record.bridge.results))
    if not record.said:
        raise OverBudgetError(why)

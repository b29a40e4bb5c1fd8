"""How a turn ends: in exactly one outcome, whatever goes wrong, and with what was found before a stop.

Knows limits, questions and failures. Does not know what the work is; `turn.py` gives it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from contextlib import closing

from muleteer.errors import MuleteerError, OverBudgetError
from muleteer.harness import answer, confirmation
from muleteer.harness.confirmation import Confirmations, Pending
from muleteer.harness.events import TurnStarted
from muleteer.harness.record import Record
from muleteer.harness.signals import BudgetExceeded, ConfirmSignal

log = logging.getLogger(__name__)

FAULT = "The turn failed by a fault of Muleteer itself; its log has the details."


async def land(
    record: Record, message: str, work: Coroutine[None, None, None], confirmations: Confirmations
) -> None:
    """Do the work between `TurnStarted` and the outcome; only a cancelled task has none, since nobody waits
    for it. A question is kept in `confirmations` for whoever answers it."""
    record.emit(TurnStarted(record.id))
    try:
        with closing(work):
            await work
    except ConfirmSignal as signal:
        _ask(record, message, signal, confirmations)
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
        _stopped(record, str(stop))
    except TimeoutError:
        _stopped(record, f"This turn's limit of {seconds:g} seconds is over.")


def _stopped(record: Record, why: str) -> None:
    log.info("turn stopped: %s", why, extra={"turn": record.id})
    if not record.said:
        record.say(answer.spoken(record.bridge.results))
    if not record.said:
        raise OverBudgetError(f"{why} Ask for less at once, or raise the budget.")


def _ask(record: Record, message: str, signal: ConfirmSignal, confirmations: Confirmations) -> None:
    """The question is the turn's outcome; whoever answers it goes on from what is kept here."""
    tool, arguments = signal.tool, signal.arguments
    found, calls = tuple(record.bridge.results), tuple(record.calls)
    confirmations.add(Pending(record.id, message, tool, arguments, record.plan.handles, found, calls))
    question = confirmation.question(tool, arguments)
    record.emit(record.asking(tool, arguments, question, confirmation.OPEN_SECONDS))

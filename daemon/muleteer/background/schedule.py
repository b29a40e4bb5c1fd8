"""Schedules: from an OnCalendar expression to the slot that is due, by `systemd-analyze calendar`.

A slot is named by the schedule, never by the time at which a timer fired: a board without a clock battery
jumps, and asks for the same slot again. systemd's own program reads the expressions, so that nothing is due
here at another time than there.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise

from muleteer.errors import RequestError

PROGRAM = "systemd-analyze"
SECONDS = 10.0  # for the program; it takes some milliseconds
MOST_SLOTS = 200  # told at once, the first of a window
DAY = 86_400.0
# How far to look back, shortest first: each holds a slot of a pace that the one before is too short for.
WINDOWS = (90.0, 7200.0, 2 * DAY, 45 * DAY, 400 * DAY, 5 * 366 * DAY)
# Local times come with their time in UTC on a line below; where local time is UTC, without.
ELAPSE = re.compile(
    r"(?:Next elapse|Iter\. #\d+|\(in UTC\)): \w+ ([\d-]+ [\d:]+)(?:\.\d+)? UTC$", re.MULTILINE
)
LONGEST_DELAY = 300  # seconds by which devices of one household fire apart
DELAYED_SHARE = 10  # a delay is at most a tenth of the pause between two slots, so that it changes no slot


@dataclass(frozen=True, slots=True)
class Slot:
    """One time of a schedule, in seconds since 1970."""

    due: float

    @property
    def name(self) -> str:
        """What it is called on every device, whatever its time zone."""
        return datetime.fromtimestamp(self.due, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


async def latest(expression: str, now: float) -> Slot | None:
    """The last slot that is due at `now`; None if there was none in five years. Raises `RequestError`."""
    for window in WINDOWS:
        if due := await _due(expression, now - window, now):
            return Slot(due[-1] if len(due) < MOST_SLOTS else await _last(expression, due[-1], now))
    return None


async def _last(expression: str, known: float, now: float) -> float:
    """The last slot until `now`, from one that is known, by halving the time in which it may be."""
    end = now
    while end - known >= 1:
        middle = float((known + end) // 2)
        due = await _due(expression, middle, now)
        if not due:
            end = middle
        elif len(due) < MOST_SLOTS:
            return due[-1]
        else:
            known = due[-1]
    return known


async def misread(expression: str) -> str:
    """Why systemd does not understand it, as a sentence; empty where it does, and where it is not here."""
    if shutil.which(PROGRAM) is None:
        return ""
    try:
        await _ask("calendar", "--", expression)
    except RequestError as error:
        return str(error)
    return ""


async def delay(expression: str, now: float) -> int:
    """The most seconds by which a timer of this schedule may be late. Raises `RequestError`."""
    slots = await _elapses(expression, now)
    pauses = [after - before for before, after in pairwise(slots)]
    return min(LONGEST_DELAY, int(min(pauses, default=DAY) / DELAYED_SHARE))


def own_delay(longest: int, device: str, skill: str) -> float:
    """RandomizedDelaySec= of this device's timer, between half of `longest` and all of it, in milliseconds.

    systemd's fixed delay is a hash of the machine's id and the unit's name, modulo this: cards that are
    copies of one another share the machine's id, and differ by the modulus.
    """
    number = int.from_bytes(hashlib.sha256(f"{device} {skill}".encode()).digest()[:8], "big")
    return round(longest / 2 * (1 + number / 2**64), 3)


async def _due(expression: str, base: float, now: float) -> list[float]:
    """The first slots after `base` that are due at `now`."""
    return [each for each in await _elapses(expression, base) if each <= now]


async def _elapses(expression: str, base: float) -> list[float]:
    """The first slots after `base`, or after 1970 began."""
    base = max(base, 0.0)  # the program knows no time before
    said = await _ask("calendar", f"--base-time=@{base:.0f}", f"--iterations={MOST_SLOTS}", "--", expression)
    return [_seconds(found) for found in ELAPSE.findall(said)]


def _seconds(text: str) -> float:
    return datetime.strptime(text, "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC).timestamp()


async def _ask(*arguments: str) -> str:
    process = await _start(arguments)
    try:
        async with asyncio.timeout(SECONDS):
            said, complaint = await process.communicate()
    except TimeoutError:
        process.kill()
        await process.wait()
        raise RequestError(f"{PROGRAM} did not answer within {SECONDS:g} seconds; try again.") from None
    if process.returncode:
        reason = complaint.decode(errors="replace").strip().rpartition("\n")[2]
        raise RequestError(f"The schedule is not one that systemd understands: {reason[:200]}.")
    return said.decode(errors="replace")


async def _start(arguments: Sequence[str]) -> asyncio.subprocess.Process:
    pipe = asyncio.subprocess.PIPE
    zone = {name: os.environ[name] for name in ("TZ",) if name in os.environ}
    try:
        return await asyncio.create_subprocess_exec(
            PROGRAM,
            *arguments,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=pipe,
            stderr=pipe,
            env={"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", **zone},
        )
    except OSError:
        raise RequestError(
            f"Schedules need the program {PROGRAM}, which is not here; install systemd."
        ) from None

"""Whether a background turn may begin now, must wait, or has waited too long. Pure: a look at the device in,
a decision out.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Decision(Enum):
    RUN = "run"
    WAIT = "wait"
    SKIP = "skip"


@dataclass(frozen=True, slots=True)
class Look:
    """The device now, in clauses that are empty when there is nothing against a turn. `driver`: who else
    drives. `strain`: heat, battery, an engine that is down. `talk`: somebody talks."""

    driver: str = ""
    strain: str = ""
    talk: str = ""


def decide(look: Look, waited: float, limit: float) -> tuple[Decision, str]:
    """What to do after so many seconds of waiting, and why. People only delay a turn, since they never stop
    for ever; a device that is hot or does not drive is let off in the end."""
    over = waited >= limit
    if hard := look.driver or look.strain:
        return (Decision.SKIP if over else Decision.WAIT), hard
    if look.talk and not over:
        return Decision.WAIT, look.talk
    return Decision.RUN, ""

"""Types for a tool's parameters that take more than the model's schema promises.

Each is an annotation: what the function gets, how what was written becomes that, and the plain schema that
the model fills. A small model copies what the user said more reliably than it converts it.
"""

from __future__ import annotations

from math import isfinite
from typing import Annotated

from pydantic import BeforeValidator, WithJsonSchema

from muleteer.when import read_delay

LONGEST = 10 * 366 * 86_400.0  # seconds: ten years; nobody waits longer for a device


def seconds(said: object) -> float:
    """A span of time as seconds: 600, "600", "10 min", "1h30", "half an hour". Raises `ValueError`."""
    span = None
    if isinstance(said, str) and (delay := None if said.strip().isdecimal() else read_delay(said)):
        span = delay.total_seconds()
    elif isinstance(said, int | float | str) and not isinstance(said, bool):
        span = _number(said)
    if span is None:
        raise ValueError("say how long, as in '10 min', '1h30' or a number of seconds")
    if not 0 <= span <= LONGEST:
        raise ValueError("it must be between 0 seconds and ten years")
    return span


def _number(said: float | str) -> float | None:
    try:
        value = float(said)
    except (ValueError, OverflowError):
        return None
    return value if isfinite(value) else None


Seconds = Annotated[float, BeforeValidator(seconds), WithJsonSchema({"type": "string"})]

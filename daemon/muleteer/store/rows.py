"""Reading rows one by one, so that a damaged one hides no other.

Knows what reading can raise; knows nothing of what the rows are.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TypeVar

from muleteer.store.database import MISREAD, StoreError

log = logging.getLogger(__name__)

T = TypeVar("T")


def readable(
    numbers: Iterable[int], read: Callable[[int], T], limit: int, what: str, strict: bool = True
) -> list[T]:
    """What `read` makes of the first `limit` rows that it can read; the others are logged by number, as
    `what` they are. When none of those that are there can be read, an empty answer would say that there is
    nothing: raises `StoreError` if `strict`."""
    broken = 0

    def each() -> Iterator[T]:
        nonlocal broken
        for number in numbers:
            try:
                yield read(number)
            except (*MISREAD, sqlite3.DatabaseError) as error:
                log.warning("The %s %d cannot be read: %s", what, number, error)
                broken += 1

    found = list(islice(each(), limit))
    if broken and not found and strict:
        raise StoreError(f"{broken} of the {what}s that fit are damaged, and no other fits.")
    return found

"""The conversations among the turns that are kept: each is the turns of one session, by its name.

Statements on the memory's tables and nothing else; `memory.py` runs them. A session lives as long as its
turns do, and is forgotten with them.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

LONGEST_TALK = 20  # turns told again; more than any prompt here has room for
LARGEST_TALK = 64_000  # characters of them; the same
MOST_LISTED = 200  # sessions in one list
UNNAMED = "[0-9a-f]" * 16  # what a conversation is called that nobody gave a name

MIGRATION = (
    "ALTER TABLE turns ADD COLUMN looked_up INTEGER NOT NULL DEFAULT 1",
    "CREATE INDEX turns_by_session ON turns (session, id)",
)


@dataclass(frozen=True, slots=True)
class Exchange:
    """What was said and answered; `looked_up`: the answer is what a tool returned, true then and perhaps not
    now."""

    message: str
    answer: str
    looked_up: bool


@dataclass(frozen=True, slots=True)
class Session:
    """A conversation that has a name, which is its key (`session.key_of`): how many turns are kept of it,
    when the last one was finished (UTC), and how that began."""

    name: str
    turns: int
    last: str
    said: str


def talk(connection: sqlite3.Connection, name: str, since: str) -> list[Exchange]:
    """The newest turns of a session that were finished since then, oldest first."""
    rows = connection.execute(
        "SELECT message, answer, looked_up FROM turns WHERE session = ? AND finished >= ?"
        " ORDER BY id DESC LIMIT ?",
        (name, since, LONGEST_TALK),
    )
    found: list[Exchange] = []
    room = LARGEST_TALK
    for message, answer, looked_up in rows:
        room -= len(message) + len(answer)
        if room < 0:
            break
        found.append(Exchange(message, answer, bool(looked_up)))
    return found[::-1]


def listed(connection: sqlite3.Connection, owner: str = "") -> list[Session]:
    """Those with a name, the newest first; those of an owner, or all, each by its key."""
    rows: Sequence[tuple[str, int, str, str, int]] = connection.execute(
        "SELECT session, count(*), finished, substr(message, 1, 80), max(id) FROM turns"  # of the last one
        " WHERE session != '' AND session GLOB ? AND session NOT GLOB ? AND session NOT GLOB ?"
        " GROUP BY session ORDER BY max(id) DESC LIMIT ?",
        (f"{owner}:*" if owner else "*", UNNAMED, f"*:{UNNAMED}", MOST_LISTED),
    ).fetchall()
    return [Session(*row[:4]) for row in rows]


def forget(connection: sqlite3.Connection, name: str) -> int:
    """Remove a session's turns; how many there were."""
    return connection.execute("DELETE FROM turns WHERE session = ?", (name,)).rowcount

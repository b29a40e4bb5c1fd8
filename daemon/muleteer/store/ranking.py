"""Which rows of a full-text index hold the most words of a question, best first.

Knows FTS5 and bm25; knows nothing of what the rows are. What a user writes never becomes query syntax: only
words that stand in the index are searched for.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from muleteer.store.matching import meanings

MOST_MEANINGS = 100  # words one word may stand for; a part of more words than that says nothing
LEAST_SHARE = 1 / 3  # of the question's words; what holds less of them is not about the same thing


@dataclass(frozen=True, slots=True)
class Index:
    """Two statements: `vocabulary` lists the index's words, `match` takes a phrase (and the values given to
    `ranked`) and lists row numbers with their bm25 (the lower the better)."""

    vocabulary: str
    match: str


def ranked(
    connection: sqlite3.Connection, index: Index, words: Sequence[str], values: Sequence[object] = ()
) -> tuple[list[int], float]:
    """Numbers of the rows that hold as many of the words as any row does, best first, the newest of equals
    first, and that share of the words."""
    vocabulary = [row[0] for row in connection.execute(index.vocabulary)]
    held: dict[int, float] = defaultdict(float)  # words held, a doubtful one counting half
    rank: dict[int, float] = defaultdict(float)
    for word in words:
        terms, sureness = meanings(word, vocabulary)
        phrase = " OR ".join(f'"{term}"' for term in terms[:MOST_MEANINGS]) or '""'
        for number, score in connection.execute(index.match, (phrase, *values)):
            held[number] += sureness
            rank[number] += score
    most = max(held.values(), default=0.0)
    if most < LEAST_SHARE * len(words):
        return [], 0.0
    best = [number for number, count in held.items() if count == most]
    return sorted(best, key=lambda number: (rank[number], -number)), most / len(words)

"""Which files a few words mean, best first.

Knows the tables of `index.py`. What a user writes never becomes query syntax: only words that stand in the
index are searched for. A file that holds more of the words comes before one that holds fewer, then the one
that has them in its name, then bm25 decides.
"""

from __future__ import annotations

import os
import re
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

from muleteer.documents.child import Extract
from muleteer.documents.folders import Stamp, shown
from muleteer.documents.index import READ
from muleteer.services import FoundFile
from muleteer.store.matching import fold, keywords, meanings

NEAR_LIMIT = 5_000  # words of the index that one word of a question is compared with
# Words that name what is looked for, a file, and not which: English, German, Spanish, French.
ANY_FILE_SAID = """
    file files document documents doc docs folder open read datei dateien dokument dokumente ordner lies
    archivo archivos documento documentos carpeta lee fichier fichiers
"""
ANY_FILE = frozenset(ANY_FILE_SAID.split())
WEIGHTS = "10.0, 4.0, 1.0"  # of a word in the name, in the folder's name, in the text
PASSAGE = 200  # characters of the text around what was found
HIT_LIMIT = (
    2_000  # places in one text that are compared; a text that repeats a word has as many as it has words
)


@dataclass(frozen=True, slots=True)
class Hit:
    """A found file, and where it is, as the file system has it."""

    file: FoundFile
    id: int
    root: Path
    path: str


@dataclass(slots=True)
class _Score:
    held: float = 0.0  # words of the question, a doubtful one counting half
    named: float = 0.0  # those that stand in the name or the folder
    rank: float = 0.0  # bm25: the lower the better


@dataclass(slots=True)
class _Search:
    scores: dict[int, _Score] = field(default_factory=lambda: defaultdict(_Score))
    terms: list[str] = field(default_factory=list)


def search(connection: sqlite3.Connection, question: str, roots: Collection[Path], limit: int) -> list[Hit]:
    """Files below those roots that hold as many of the words as any does, best first; the newest for a
    question without words."""
    words = words_of(question)
    if not words:
        return newest(connection, roots, limit)
    search = _Search()
    for word in words:
        _look_for(connection, word, search)
    allowed = _below(connection, search.scores, roots)
    scores = {number: score for number, score in search.scores.items() if number in allowed}
    most = max((score.held for score in scores.values()), default=0.0)
    if 3 * most < len(words):  # less than a third of the words is not about the same thing
        return []
    best = [number for number, score in scores.items() if score.held == most]
    best.sort(key=lambda number: (-scores[number].named, scores[number].rank, -number))
    return [
        _found(connection, number, most / len(words), scores[number].named / len(words), search.terms)
        for number in best[:limit]
    ]


def words_of(question: str) -> tuple[str, ...]:
    """The words that say which file is meant. In a question of one or two words the last one does, even if it
    is one that says little elsewhere, as in "my will"."""
    if words := tuple(word for word in keywords(question) if word not in ANY_FILE):
        return words
    said = re.findall(r"[^\W_]+", fold(question))
    return tuple(word for word in said[-1:] if len(said) < 3 and word not in ANY_FILE)


def newest(connection: sqlite3.Connection, roots: Collection[Path], limit: int) -> list[Hit]:
    marks = ", ".join("?" * len(roots))
    rows = connection.execute(
        f"SELECT id FROM files WHERE root IN ({marks}) ORDER BY modified DESC, id DESC LIMIT ?",  # noqa: S608
        (*map(os.fsencode, roots), limit),
    ).fetchall()
    return [_found(connection, number, 1.0, 0.0) for (number,) in rows]


def named(connection: sqlite3.Connection, name: str, roots: Collection[Path]) -> list[Hit]:
    """Files of exactly this name, with or without the folders before it, as they are shown."""
    wanted = fold(" ".join(name.split()).strip("/\"'"))
    tail = wanted.rpartition("/")[2]
    terms = [f'"{term}"' for term in keywords(tail)]
    if not terms:
        return []
    rows = connection.execute(
        "SELECT f.id, f.name, f.place FROM file_index JOIN files f ON f.id = file_index.rowid"
        " WHERE file_index MATCH ?",
        (f"words : ({' AND '.join(terms)})",),
    ).fetchall()
    fits = [number for number, own, place in rows if wanted in (fold(own), fold(f"{place}/{own}"))]
    allowed = _below(connection, fits, roots)
    return [_found(connection, number, 1.0, 1.0) for number in fits if number in allowed]


def kept(connection: sqlite3.Connection, hit: Hit) -> tuple[Stamp, Extract] | None:
    """What was read of a file, with the stamp it had then; None if that has not been done."""
    row = connection.execute(
        "SELECT size, modified, inode, text, cut FROM files WHERE id = ? AND state = ?", (hit.id, READ)
    ).fetchone()
    return None if row is None else (Stamp(*row[:3]), Extract(row[3], bool(row[4])))


def is_clear(hits: list[Hit]) -> bool:
    """Whether one file is meant: the only one that fits half of the words, or the one that has more of them
    in its name than any other."""
    if len(hits) < 2:
        return any(hit.file.match >= 0.5 for hit in hits)
    first, second = hits[0].file, hits[1].file
    return first.match == 1.0 and first.named > second.named


def _look_for(connection: sqlite3.Connection, word: str, search: _Search) -> None:
    """Score every file that holds the word, or what it may mean."""
    terms, sureness = _meanings(connection, word)
    if not terms:
        return
    search.terms += terms
    phrase = " OR ".join(f'"{term}"' for term in terms)
    rows = connection.execute(
        f"SELECT rowid, bm25(file_index, {WEIGHTS}) FROM file_index WHERE file_index MATCH ?",  # noqa: S608
        (phrase,),
    )
    for number, rank in rows:
        search.scores[number].held += sureness
        search.scores[number].rank += rank
    rows = connection.execute(
        "SELECT rowid FROM file_index WHERE file_index MATCH ?", (f"{{words place}} : ({phrase})",)
    )
    for (number,) in rows:
        search.scores[number].named += sureness


def _meanings(connection: sqlite3.Connection, word: str) -> tuple[tuple[str, ...], float]:
    """Words of the index that this one may mean, and how surely. The words that begin alike are compared
    first: an index of many files has far too many to compare with each."""
    start = word[:3]
    alike = connection.execute(
        "SELECT term FROM file_words WHERE term >= ? AND term < ? LIMIT ?",
        (start, start + "\U0010ffff", NEAR_LIMIT),
    )
    terms, sureness = meanings(word, [row[0] for row in alike])
    if sureness == 1.0:
        return terms, sureness
    near = connection.execute(
        "SELECT term FROM file_words WHERE instr(term, ?1) OR"
        " (substr(term, 1, 1) = substr(?1, 1, 1) AND abs(length(term) - length(?1)) <= 3) LIMIT ?2",
        (word, NEAR_LIMIT),
    )
    return meanings(word, [row[0] for row in near])


def _below(connection: sqlite3.Connection, numbers: Collection[int], roots: Collection[Path]) -> set[int]:
    """Those of the files that lie below one of the roots."""
    marks = ", ".join("?" * len(roots))
    rows = connection.execute(
        f"SELECT id FROM files WHERE root IN ({marks})",  # noqa: S608
        tuple(map(os.fsencode, roots)),
    )
    return {number for (number,) in rows} & set(numbers)


def _found(
    connection: sqlite3.Connection, number: int, match: float, named: float, terms: Collection[str] = ()
) -> Hit:
    root, path, name, place, modified, text = connection.execute(
        "SELECT root, path, name, place, modified, text FROM files WHERE id = ?", (number,)
    ).fetchone()
    root, path = Path(os.fsdecode(root)), os.fsdecode(path)
    file = FoundFile(
        name=name,
        folder=place,
        path=shown(str(root / path)),
        modified=datetime.fromtimestamp(modified / 1e9, UTC).astimezone(),
        match=match,
        named=named,
        passage=_passage(text, terms) if terms else "",
    )
    return Hit(file, number, root, path)


def _passage(text: str, terms: Collection[str]) -> str:
    """The part of the text with most of the terms in it, on one line; empty when it has none. FTS5's own
    `snippet` takes time by the square of the places found, so a text that repeats a word would stop it."""
    # Sign by sign, so that places in the folded text are those in the text.
    folded = text.translate({ord(sign): fold(sign)[:1] or sign for sign in set(text)})
    wanted = "|".join(map(re.escape, terms))
    hits = list(islice(re.finditer(rf"(?<![^\W_])(?:{wanted})(?![^\W_])", folded), HIT_LIMIT))
    if not hits:
        return ""
    best, most, last = 0, 0, 0
    inside: Counter[str] = Counter()
    for first, hit in enumerate(hits):
        while last < len(hits) and hits[last].end() <= hit.start() + PASSAGE:
            inside[hits[last][0]] += 1
            last += 1
        if len(+inside) > most:
            best, most = first, len(+inside)
        inside[hit[0]] -= 1
    start = max(0, hits[best].start() - PASSAGE // 4)
    end = start + PASSAGE
    shown = text[start:end]
    if start:
        shown = "\N{HORIZONTAL ELLIPSIS}" + re.sub(r"\A\S{0,30}\s", "", shown)
    if end < len(text):
        shown = re.sub(r"\s\S{0,30}\Z", "", shown) + "\N{HORIZONTAL ELLIPSIS}"
    return " ".join(shown.split())

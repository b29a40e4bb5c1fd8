"""The tables are what was listed, whatever the order; a question is words and never syntax."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muleteer.documents import index
from muleteer.documents.child import Extract
from muleteer.documents.folders import Listing, Stamp
from muleteer.documents.index import MIGRATIONS, Limits, kind_of
from muleteer.documents.search import PASSAGE, _passage, search, words_of
from muleteer.store.matching import fold

ROOT = Path("/papers")
LIMITS = Limits(files=100, text=1_000, largest=1_000)
FOLDERS = ("", "a", "a/b", "a/b/c", "ab", "a\udcff")


@contextmanager
def tables() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:")) as connection:
        for statements in MIGRATIONS:
            for statement in statements:
                connection.execute(statement)
        yield connection


def paths(connection: sqlite3.Connection) -> set[str]:
    return {os.fsdecode(path) for (path,) in connection.execute("SELECT path FROM files")}


names = st.sampled_from(["x.txt", "y.pdf", "z\udcfe.txt", "b", "c.jpg"])
stamps = st.builds(Stamp, st.integers(0, 2_000), st.integers(0, 3), st.integers(0, 3))


@given(st.lists(st.tuples(st.sampled_from(FOLDERS), st.dictionaries(names, stamps, max_size=4)), max_size=12))
def test_the_rows_are_the_last_listing_of_each_folder(listed: list[tuple[str, dict[str, Stamp]]]) -> None:
    expected: dict[str, dict[str, Stamp]] = {}
    with tables() as connection:
        for folder, files in listed:
            # All other folders are still there, so that a listing of their parent forgets none of them.
            below = [each.rpartition("/")[2] for each in FOLDERS[1:] if each.rpartition("/")[0] == folder]
            index.record(connection, ROOT, folder, Listing(files, below), LIMITS)
            expected[folder] = files
            for job in index.waiting(connection, [ROOT], 2):
                index.store(connection, job, job.stamp, Extract("some words"), index.room(connection, LIMITS))
        wanted = {
            f"{folder}/{name}" if folder else name for folder, held in expected.items() for name in held
        }
        assert paths(connection) == wanted
        counts = index.counts(connection)
        assert counts.files == len(wanted)
        assert counts.text == counts.read * len("some words") <= LIMITS.text
        connection.execute("INSERT INTO file_index(file_index, rank) VALUES ('integrity-check', 1)")


def test_a_folder_that_is_gone_takes_all_below_it_and_no_other_along() -> None:
    file = {"x.txt": Stamp(1, 1, 1)}
    with tables() as connection:
        for folder in FOLDERS:
            index.record(connection, ROOT, folder, Listing(dict(file), []), LIMITS)
        index.record(connection, ROOT, "", Listing(dict(file), ["ab"]), LIMITS)
        assert paths(connection) == {"x.txt", "ab/x.txt"}
        index.record(connection, ROOT, "a/b/c", Listing(dict(file), []), LIMITS)
        index.forget(connection, ROOT, "a")
        assert paths(connection) == {"x.txt", "ab/x.txt"}
        index.record(connection, Path("/other"), "ab", Listing(dict(file), []), LIMITS)
        index.keep_roots(connection, [Path("/other")])
        assert paths(connection) == {"ab/x.txt"}


def test_a_changed_file_loses_its_text_before_it_is_read_again() -> None:
    with tables() as connection:
        index.record(connection, ROOT, "", Listing({"x.txt": Stamp(1, 1, 1)}), LIMITS)
        (job,) = index.waiting(connection, [ROOT], 9)
        index.store(connection, job, job.stamp, Extract("unicorn"), index.room(connection, LIMITS))
        assert len(search(connection, "unicorn", [ROOT], 9)) == 1
        index.record(connection, ROOT, "", Listing({"x.txt": Stamp(1, 2, 1)}), LIMITS)
        assert search(connection, "unicorn", [ROOT], 9) == []
        assert len(index.waiting(connection, [ROOT], 9)) == 1


def test_what_was_left_out_is_tried_again_under_other_limits() -> None:
    with tables() as connection:
        files = {"x.txt": Stamp(5_000, 1, 1), "y.txt": Stamp(1, 1, 1), "z.txt": Stamp(1, 1, 1)}
        index.record(connection, ROOT, "", Listing(files), LIMITS)
        for job in index.waiting(connection, [ROOT], 9):
            index.store(connection, job, job.stamp, Extract("x" * 600), index.room(connection, LIMITS))
        assert dict(index.counts(connection).problems) == {index.TOO_LARGE: 1, index.FULL: 1}
        index.retry(connection, Limits(100, 10_000, 10_000))
        assert index.counts(connection).waiting == 2


@given(st.text(max_size=60))
def test_any_question_is_only_words(question: str) -> None:
    with tables() as connection:
        index.record(connection, ROOT, "", Listing({"lease.txt": Stamp(1, 1, 1)}), LIMITS)
        assert len(search(connection, question, [ROOT], 9)) <= 1


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("find the file with the lease", ("lease",)),
        ("my will", ("will",)),
        ("Wo ist der Mietvertrag?", ("mietvertrag",)),
        ("my files", ()),
        ("", ()),
        ("what is all of that about", ()),
    ],
)
def test_the_words_that_say_which_file_is_meant(question: str, words: tuple[str, ...]) -> None:
    assert words_of(question) == words


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("a/b.TXT", "txt"),
        ("b.tar.gz", ""),
        ("README", ""),
        ("x.Docx", "docx"),
        ("a.pdf/b", ""),
        ("a.exe", ""),
    ],
)
def test_the_suffix_says_the_kind(path: str, kind: str) -> None:
    assert kind_of(path) == kind


@given(st.text(max_size=2_000), st.text(min_size=1, max_size=4))
def test_a_passage_is_a_part_of_the_text_on_one_line(text: str, term: str) -> None:
    passage = _passage(text, [fold(term)]) if fold(term) else ""
    assert len(passage) <= PASSAGE + 2
    assert "\n" not in passage
    kept = " ".join(passage.strip("\N{HORIZONTAL ELLIPSIS}").split())
    assert kept in " ".join(text.split())


def test_a_passage_is_where_most_of_the_words_are() -> None:
    text = "The rent. " + "filler " * 100 + "The rent of the flat is 840 EUR." + " filler" * 100
    passage = _passage(text, ["rent", "flat", "eur"])
    assert "rent of the flat is 840 EUR" in passage
    assert passage.startswith("\N{HORIZONTAL ELLIPSIS}filler")
    assert passage.endswith("filler\N{HORIZONTAL ELLIPSIS}")
    assert _passage("Die Grüße aus Köln", ["koln"]) == "Die Grüße aus Köln"


def test_what_is_there_and_cannot_be_looked_at_keeps_its_rows() -> None:
    with tables() as connection:
        index.record(
            connection, ROOT, "", Listing({"a": Stamp(1, 1, 1), "b": Stamp(1, 1, 1)}, ["sub", "gone"]), LIMITS
        )
        index.record(connection, ROOT, "sub/below", Listing({"c": Stamp(1, 1, 1)}), LIMITS)
        index.record(connection, ROOT, "gone", Listing({"d": Stamp(1, 1, 1)}), LIMITS)
        index.record(connection, ROOT, "", Listing(unseen={"a", "sub"}), LIMITS)
        assert paths(connection) == {"a", "sub/below/c"}

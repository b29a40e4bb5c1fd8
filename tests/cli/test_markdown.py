"""A page of notes survives its way through a Markdown file, whatever is in it."""

from __future__ import annotations

from pathlib import PurePath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muleteer.cli.markdown import Written, file_names, read_page, write_page

WHEN = "2026-05-01T08:00:00.000005+00:00"
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=60)
PIECES = [*"-*+# \n\t&;<>!a1\\`x\u2028\r\0", "<!-- ", " -->", "&#x20;", "&amp;", "&lt;", f"\n<!-- {WHEN} -->"]
TRICKY = st.lists(st.sampled_from(PIECES), min_size=1).map("".join)
NAMES = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=20)
NOTES = st.builds(
    Written, TEXTS | TRICKY, st.just(WHEN), st.sampled_from(["", "s-1.a"]), st.sampled_from(["", "d"])
)


@given(NAMES, st.lists(NOTES, max_size=5))
def test_every_note_comes_back_as_it_was(name: str, notes: list[Written]) -> None:
    assert read_page(write_page(name, notes), "other") == (name, notes)


def test_a_page_looks_like_what_a_person_would_write() -> None:
    notes = [Written("milk", WHEN, "s1", "d1"), Written("bread,\nbrown & sliced", WHEN)]
    assert write_page("Shopping", notes) == (
        "# Shopping\n"
        "\n"
        "- milk\n"
        f"  <!-- {WHEN} session=s1 device=d1 -->\n"
        "\n"
        "- bread,\n"
        "  brown & sliced\n"
        f"  <!-- {WHEN} -->\n"
    )


def test_what_a_person_wrote_is_read() -> None:
    content = (
        "\ufeff\r\n# Garden\r\n\r\nThe hose is\r\nin the shed.\r\n\r\n* seeds\r\n  of beans\r\n+ R&D\r\n"
        "- <!-- not ours -->\r\n## Tools\r\n"
    )
    texts = ["The hose is\nin the shed.", "seeds\nof beans", "R&D", "<!-- not ours -->\n## Tools"]
    assert read_page(content, "x") == ("Garden", [Written(text) for text in texts])
    assert read_page("- milk", "shopping") == ("shopping", [Written("milk")])
    assert read_page("", "empty") == ("empty", [])


@pytest.mark.parametrize("comment", ["<!-- 2026-05-01T08:00 -->", "<!-- 2026-13-01T08:00:00+00:00 -->"])
def test_a_comment_without_a_real_time_is_text(comment: str) -> None:
    assert read_page(f"- a\n  {comment}\n", "x")[1] == [Written(f"a\n{comment}")]


HOSTILE = [
    "../../etc/passwd",
    "..",
    ".",
    "/",
    "a/b",
    "-rf",
    ".hidden",
    "a\0b",
    "x" * 300,
    "é" * 200,
    "日本",
    "",
]


def test_no_name_leads_out_of_the_folder_and_no_two_share_a_file() -> None:
    names = file_names([*HOSTILE, "A B", "a-b", "A_b"])
    assert len({name.lower() for name in names.values()}) == len(HOSTILE) + 3
    assert names["../../etc/passwd"] == "etc-passwd.md"
    assert names["日本"] == "日本.md"
    for name in names.values():
        assert PurePath(name).name == name
        assert not name.startswith((".", "-"))
        assert name.endswith(".md")
        assert len(name.encode()) <= 255


@given(st.lists(st.text(max_size=300), unique=True, max_size=10))
def test_any_name_is_a_plain_file(pages: list[str]) -> None:
    names = file_names(pages)
    assert len(set(names.values())) == len(pages)
    assert all(PurePath(name).name == name and not name.startswith(".") for name in names.values())

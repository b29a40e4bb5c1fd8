"""Text out of real files of every kind, and a sentence out of those that are damaged or made to do harm."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from zipfile import ZIP_DEFLATED, ZipFile

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pypdf import PdfReader, PdfWriter

from muleteer.documents import text as module
from muleteer.documents.text import (
    KINDS,
    PLAIN_LIMIT,
    TEXT_LIMIT,
    UNPACKED_LIMIT,
    UnreadableError,
    decoded,
    text_of,
)
from tests.documents import made

ENTITIES = b"""<?xml version="1.0"?><!DOCTYPE w:document [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>
<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p><w:r>
<w:t>&b;</w:t></w:r></w:p></w:body></w:document>"""


def text(raw: bytes, kind: str) -> str:
    return text_of(BytesIO(raw), kind)[0]


def problem(raw: bytes, kind: str) -> str:
    with pytest.raises(UnreadableError) as wrong:
        text_of(BytesIO(raw), kind)
    return str(wrong.value)


def outcome(raw: bytes, kind: str) -> str:
    """The text, or the sentence why there is none."""
    try:
        return text(raw, kind)
    except UnreadableError as error:
        return f"problem: {error}"


@pytest.mark.parametrize(
    ("raw", "kind", "expected"),
    [
        ("Grüße\r\naus Köln".encode(), "txt", "Grüße\naus Köln"),
        (b"# Title\n\n\n\n\ntext   \n", "md", "# Title\n\ntext"),
        (b"a,b\n1,2\n", "csv", "a,b\n1,2"),
        (b"caf\xe9", "txt", "café"),
        ("\ufeffmit BOM".encode(), "txt", "mit BOM"),
        ("zwei Bytes".encode("utf-16"), "txt", "zwei Bytes"),
        (b"bell\x07 and \x1b[31mred", "log", "bell  and  [31mred"),
        (b"", "txt", ""),
        (
            made.pdf("The rent is 840 EUR", "Zweite Seite: Gr\u00fc\u00dfe"),
            "pdf",
            "The rent is 840 EUR\nZweite Seite: Grüße",
        ),
        (made.word("Lease", "Rent", table=[["May", "840"]]), "docx", "Lease\nRent\nMay | 840"),
        (made.sheet(["milk", 2, None, 1.5], [None], ["tea"]), "xlsx", "Sheet\nmilk | 2 | 1.5\ntea"),
        (made.slides("Hello", "Bye"), "pptx", "Hello\nBye"),
        (made.open_text("Miete", "840 <b>EUR"), "odt", "Miete\n840 <b>EUR"),
    ],
)
def test_text_of_a_real_file(raw: bytes, kind: str, expected: str) -> None:
    assert text(raw, kind) == expected


def test_a_page_has_its_text_without_scripts_and_tags() -> None:
    page = """<html><head><title>Recipe</title><style>p {}</style><script>alert(1)</script></head>
    <body><h1>Soup</h1><p>Boil <b>two</b> eggs.<p>Eat.<table><tr><td>salt<td>1 g</table></body></html>"""
    assert text(page.encode(), "html").split() == [
        "Recipe",
        "Soup",
        *["Boil", "two", "eggs.", "Eat.", "salt", "1", "g"],
    ]
    assert "Boil two eggs.\n" in text(page.encode(), "html")


@pytest.mark.parametrize(
    "page",
    [
        "<p>Köln".encode(),
        "<p>Köln".encode("cp1252"),
        '<meta charset="iso-8859-1"><p>Köln'.encode("latin-1"),
        "\ufeff<p>Köln".encode("utf-16-le"),
    ],
)
def test_a_page_is_decoded_as_it_says_or_as_it_fits(page: bytes) -> None:
    assert text(page, "htm").strip() == "Köln"


def test_an_external_entity_of_a_page_is_not_fetched() -> None:
    page = b'<!DOCTYPE html [<!ENTITY x SYSTEM "file:///etc/passwd">]><p>&x; here'
    assert "root:" not in text(page, "html")


def test_what_is_longer_than_the_limit_is_cut_and_says_so() -> None:
    whole, cut = text_of(BytesIO(b"x" * TEXT_LIMIT), "txt")
    assert (len(whole), cut) == (TEXT_LIMIT, False)
    whole, cut = text_of(BytesIO("ß".encode() * (TEXT_LIMIT + 1)), "txt")
    assert (whole, cut) == ("ß" * TEXT_LIMIT, True)
    assert text_of(BytesIO(made.word(*["word " * 1000] * 50)), "docx")[1]


def test_what_takes_too_long_gives_what_was_read_until_then() -> None:
    raw = BytesIO(made.pdf("one", "two"))
    assert text_of(raw, "pdf", seconds=0) == ("one", True)
    assert text_of(raw, "pdf") == ("one\ntwo", False)


def test_a_locked_pdf_says_that_it_is_encrypted() -> None:
    writer = PdfWriter(clone_from=PdfReader(BytesIO(made.pdf("secret"))))
    writer.encrypt("password", algorithm="RC4-128")
    raw = BytesIO()
    writer.write(raw)
    assert problem(raw.getvalue(), "pdf") == "it is encrypted"


def test_a_pdf_without_text_has_none() -> None:
    assert text(made.pdf(""), "pdf") == ""


def test_binary_data_is_no_text() -> None:
    assert problem(b"\x7fELF\0\0\0", "txt") == "it is not text"


def test_entities_are_refused_before_a_parser_sees_them() -> None:
    for encoded in (ENTITIES, ENTITIES.decode().encode("utf-16")):
        bomb = made.replaced(made.word("x"), "word/document.xml", encoded)
        assert problem(bomb, "docx") == "it defines XML entities, which no office program does"
    bomb = made.replaced(made.open_text("x"), "content.xml", ENTITIES)
    assert "XML entities" in problem(bomb, "odt")


def test_entities_are_seen_where_two_chunks_meet() -> None:
    for before in range(2**16 - 12, 2**16 + 2):
        bomb = made.replaced(made.word("x"), "word/document.xml", b" " * before + ENTITIES)
        assert "XML entities" in problem(bomb, "docx")


@pytest.mark.parametrize(("kind", "office"), [("docx", made.word("x")), ("odt", made.open_text("x"))])
def test_a_zip_bomb_is_refused_by_what_it_would_unpack_to(kind: str, office: bytes) -> None:
    bomb = BytesIO(office)
    with ZipFile(bomb, "a", ZIP_DEFLATED) as parts, parts.open("word/media/image.xml", "w") as part:
        for _ in range(UNPACKED_LIMIT // 2**20 + 1):
            part.write(bytes(2**20))
    assert len(bomb.getvalue()) < 2**20
    assert problem(bomb.getvalue(), kind) == "it unpacks to far more than an office program writes"


def test_a_part_that_lies_about_its_size_is_not_unpacked_beyond_it() -> None:
    raw = bytearray(made.replaced(made.word("x"), "word/document.xml", bytes(10 * 2**20)))
    size = (10 * 2**20).to_bytes(4, "little")
    assert raw.count(size) == 2  # the part's own header, and the directory's
    lying = bytes(raw).replace(size, (100).to_bytes(4, "little"))
    assert problem(lying, "docx").startswith("it is damaged")


@pytest.mark.parametrize("kind", sorted(KINDS.keys() - {"txt"}))
def test_an_empty_file_of_any_kind_gives_a_sentence_or_no_text(kind: str) -> None:
    assert outcome(b"", kind) == "" or outcome(b"", kind).startswith("problem: it is damaged")


@given(
    st.sampled_from(
        [("pdf", made.pdf("some text")), ("docx", made.word("text")), ("odt", made.open_text("x"))]
    ),
    st.data(),
)
def test_a_damaged_file_never_raises_anything_else(document: tuple[str, bytes], data: st.DataObject) -> None:
    kind, raw = document
    at = data.draw(st.integers(0, len(raw) - 1))
    damaged = raw[:at] + data.draw(st.binary(max_size=8)) + raw[at + data.draw(st.integers(0, 8)) :]
    assert isinstance(outcome(damaged, kind), str)


@given(st.binary(max_size=200))
def test_any_bytes_are_some_text(raw: bytes) -> None:
    assert isinstance(decoded(raw), str)


@pytest.mark.parametrize("depth", [100, 400, 2_000])
def test_a_page_of_elements_within_each_other_is_read_to_its_end(depth: int) -> None:
    page = f"<p>before{'<div>' * depth}within{'</div>' * depth}<p>after"
    found, cut = text_of(BytesIO(page.encode()), "html")
    assert (found.split(), cut) == (["before", "within", "after"], False)


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        (f"<p>before{'<div>' * 200_000}within".encode(), "before"),
        (b"<meta charset=shift_jis><p>before<p>\xfd\x81<p>after", "before"),  # no such characters
    ],
)
def test_a_page_that_no_parser_ends_is_a_part_and_says_so(page: bytes, expected: str) -> None:
    found, cut = text_of(BytesIO(page), "html")
    assert (found.strip(), cut) == (expected, True)


def test_a_part_without_text_is_not_a_file_without_text() -> None:
    assert "only a part of it" in problem(b"<div>" * 200_000 + b"within", "html")
    assert "only a part of it" in problem(b" " * PLAIN_LIMIT + b"within", "txt")
    assert text(b" " * 1000, "txt") == ""


def test_a_file_whose_rest_is_damaged_or_beyond_a_limit_is_a_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PAGE_LIMIT", 1)
    assert text_of(BytesIO(made.pdf("one", "two")), "pdf") == ("one", True)
    assert text_of(BytesIO(made.slides("one", "two")), "pptx") == ("one", True)

    def breaking(_file: object) -> Iterator[str]:
        yield "one"
        raise ValueError("as a library does")

    monkeypatch.setitem(KINDS, "txt", breaking)
    assert text_of(BytesIO(b""), "txt") == ("one\n[the rest is damaged]", True)

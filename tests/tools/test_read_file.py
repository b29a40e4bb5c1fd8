"""A file is read whole into the payload, by its name or by words; what cannot be read says why."""

from __future__ import annotations

from pathlib import Path

import pytest

from muleteer.documents.text import TEXT_LIMIT
from muleteer.harness.answer import facts
from muleteer.services import NO_FOLDERS, Absent
from muleteer.tool import Document, Result, Status
from tests.documents import made
from tests.documents.conftest import Shelf, opened, papers  # noqa: F401  # fixtures
from tests.tools.conftest import call, same_parameters
from tests.tools.test_find_file import Open, over
from tools.read_file import read_file


@pytest.fixture
async def shelf(papers: Path, opened: Open) -> Shelf:  # noqa: F811
    (papers / "letters").mkdir()
    (papers / "lease.pdf").write_bytes(made.pdf("The rent is 840 EUR a month."))
    (papers / "letters" / "bill May.txt").write_text("Water: 31 EUR")
    (papers / "letters" / "bill June.txt").write_text("Water: 35 EUR")
    (papers / "scan.pdf").write_bytes(made.pdf(""))
    (papers / "photo.jpg").write_bytes(b"\xff\xd8")
    (papers / "long.txt").write_text("x y" * TEXT_LIMIT)
    shelf = opened(papers)
    await shelf.settled()
    return shelf


def test_the_schema_is_the_signature() -> None:
    toolbox = over(Absent(NO_FOLDERS))
    assert same_parameters(toolbox, read_file)
    assert toolbox.tools["read_file"].effect == "read"


@pytest.mark.parametrize("name", ["lease.pdf", "papers/lease.pdf", "the lease", "rent"])
async def test_ok_has_the_whole_text_as_a_document(shelf: Shelf, papers: Path, name: str) -> None:  # noqa: F811
    result = await call(over(shelf.documents), "read_file", name=name)
    document = Document("papers/lease.pdf", "The rent is 840 EUR a month.")
    assert result == Result.ok(
        "I read lease.pdf in papers, all of it.", document, (str(papers / "lease.pdf"),)
    )


async def test_two_hundred_kilobytes_go_past_the_model_whole(shelf: Shelf) -> None:
    result = await call(over(shelf.documents), "read_file", name="long.txt")
    assert result.text == "I read long.txt in papers, the first 200,000 characters."
    assert isinstance(result.payload, Document)
    assert len(result.payload.text) == TEXT_LIMIT
    assert len(facts([result])) < 4_100
    assert "characters cut]" in facts([result])


async def test_a_name_that_fits_several_files_asks_which(shelf: Shelf) -> None:
    result = await call(over(shelf.documents), "read_file", name="bill")
    assert result.status is Status.ERROR
    assert result.text.startswith("Several files may be meant: bill ")
    assert result.text.endswith("in papers/letters. Say which.")
    read = await call(over(shelf.documents), "read_file", name="bill June")
    assert isinstance(read.payload, Document)
    assert read.payload.text == "Water: 35 EUR"


@pytest.mark.parametrize("name", ["", "  "])
async def test_error_without_a_name(shelf: Shelf, name: str) -> None:
    assert await call(over(shelf.documents), "read_file", name=name) == Result.error(
        "Say which file to read."
    )


@pytest.mark.parametrize("name", ["passport", "../../etc/passwd", "/etc/shadow"])
async def test_empty_when_there_is_no_such_file(shelf: Shelf, name: str) -> None:
    assert await call(over(shelf.documents), "read_file", name=name) == Result.empty(
        f'There is no file "{name}".'
    )


async def test_empty_when_a_file_has_no_text(shelf: Shelf) -> None:
    result = await call(over(shelf.documents), "read_file", name="scan.pdf")
    assert result.status is Status.EMPTY
    assert result.text == "scan.pdf in papers has no text in it; it may be a picture or a scan."


async def test_unavailable_when_it_could_not_be_read(shelf: Shelf) -> None:
    result = await call(over(shelf.documents), "read_file", name="photo.jpg")
    assert result.status is Status.UNAVAILABLE
    assert result.text == "I could not read the file: photo.jpg is of a kind that has no text to read."
    absent = await call(over(Absent(NO_FOLDERS)), "read_file", name="lease")
    assert absent == Result.unavailable(f"I could not read the file: {NO_FOLDERS}")

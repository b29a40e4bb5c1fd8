"""The text of an open file, by its kind.

Runs in a process of its own with little memory and time (`reader.py`), since what is read here may have been
made to do harm. Libraries do the reading; what is unpacked is bounded before they see it.
"""

from __future__ import annotations

import codecs
import re
import time
from collections.abc import Callable, Iterable, Iterator
from io import BytesIO
from typing import Any, BinaryIO
from zipfile import BadZipFile, ZipFile

TEXT_LIMIT = 200_000  # characters of a file: a short book, and less than a payload may hold
SECONDS = 12.0  # for one file, then what was read by then is its text; chosen, not measured
PLAIN_LIMIT = 4 * (TEXT_LIMIT + 1)  # bytes; UTF-8 has at most four for a character
MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
PAGE_LIMIT = 2_000  # pages of a PDF or slides; those of a file with a loop in it have no end
UNPACKED_LIMIT = 64 * 2**20  # bytes of an office file's parts together; text alone has a hundredth of that
PART_LIMIT = 10_000  # parts of an office file
CHUNK = 2**16  # bytes looked at in one step
# As the start of a document type: no office program writes one, and entities grow without bound.
DOCTYPE = re.compile(rb"<\0?!\0?(D\0?O\0?C\0?T\0?Y\0?P\0?E|E\0?N\0?T\0?I\0?T\0?Y)")
BLOCKS = """
    address article aside blockquote br dd div dt h1 h2 h3 h4 h5 h6 li p pre section tr
"""
CELLS = ("td", "th")
SILENT = ("script", "style", "template", "noscript", "head")

Pieces = Iterator[str]


class UnreadableError(Exception):
    """The file has no text that can be read here. `str(error)` completes "... cannot be read: "."""


class CutShort(Exception):  # noqa: N818  (it ends a reading, which is no error)
    """Raised by a reader after its last piece when the file has more than it gave."""


def text_of(file: BinaryIO, kind: str, seconds: float = SECONDS) -> tuple[str, bool]:
    """The text of a file of this kind (its suffix, lower case), and whether it is only a part: cut at
    `TEXT_LIMIT`, what was read in so many seconds, or what came before damage or a reader's limit. Raises
    `UnreadableError`, also when that part has no text."""
    pieces: list[str] = []
    length, cut, end = 0, False, time.monotonic() + seconds
    try:
        for piece in KINDS[kind](file):
            if piece := _tidy(piece):
                pieces.append(piece)
                length += len(piece) + 1
            if cut := length > TEXT_LIMIT + 1 or time.monotonic() > end:
                break
    except CutShort:
        cut = True
    except (UnreadableError, MemoryError):
        raise
    except Exception as error:  # whatever a library raises at a file that is damaged
        if not pieces:
            raise UnreadableError(f"it is damaged ({type(error).__name__})") from error
        pieces.append("[the rest is damaged]")
        cut = True
    if cut and not pieces:
        raise UnreadableError("only a part of it could be looked at, and that has no text")
    text = "\n".join(pieces)
    return text[:TEXT_LIMIT], cut


def decoded(raw: bytes, whole: bool = True) -> str:
    """Bytes as text: by their mark, else as UTF-8, else as the old encoding of Western Europe. When they are
    not the whole file, the last character may be cut in two."""
    for mark, name in MARKS.items():
        if raw.startswith(mark):
            return raw.decode(name, "replace")
    try:
        return codecs.getincrementaldecoder("utf-8")().decode(raw, final=whole)
    except UnicodeDecodeError:
        return raw.decode("cp1252", "replace")


def _plain(file: BinaryIO) -> Pieces:
    raw = file.read(PLAIN_LIMIT)
    if b"\0" in raw and not raw.startswith(tuple(MARKS)):
        raise UnreadableError("it is not text")
    yield decoded(raw, len(raw) < PLAIN_LIMIT)
    if file.read(1):
        raise CutShort


def _html(file: BinaryIO) -> Pieces:
    from lxml import etree, html

    raw = file.read(UNPACKED_LIMIT)
    # Huge: else it stops at 256 elements within each other. What that may take, this process is limited to.
    parser = html.HTMLParser(
        no_network=True, remove_comments=True, encoding=_html_charset(raw), huge_tree=True
    )
    tree = html.document_fromstring(raw, parser=parser)
    title = tree.findtext(".//title")
    if title:
        yield title
    etree.strip_elements(tree, *SILENT, with_tail=False)
    for element in tree.iter(*BLOCKS.split(), *CELLS):
        gap = " " if element.tag in CELLS else "\n"
        element.text, element.tail = gap + (element.text or ""), gap + (element.tail or "")
    yield str(tree.text_content())
    if file.read(1) or parser.error_log.filter_from_fatals():  # what is fatal ends the parsing, silently
        raise CutShort


def _html_charset(raw: bytes) -> str | None:
    """UTF-8 where nothing else is said and it fits; None leaves it to the page."""
    if re.search(rb"charset\s*=", raw[:4096], re.IGNORECASE) or raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        return None
    try:
        raw.decode()
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"


def _pdf(file: BinaryIO) -> Pieces:
    from pypdf import PasswordType, PdfReader
    from pypdf.errors import DependencyError

    reader = PdfReader(file)
    try:
        locked = reader.is_encrypted and reader.decrypt("") == PasswordType.NOT_DECRYPTED
    except DependencyError:
        locked = True
    if locked:
        raise UnreadableError("it is encrypted")
    for number, page in enumerate(reader.pages):
        if number >= PAGE_LIMIT:
            raise CutShort
        yield page.extract_text()


def _docx(file: BinaryIO) -> Pieces:
    from docx import Document
    from docx.table import Table

    for block in Document(_unpackable(file)).iter_inner_content():
        if isinstance(block, Table):
            yield from _rows((cell.text for cell in row.cells) for row in block.rows)
        else:
            yield block.text


def _xlsx(file: BinaryIO) -> Pieces:
    from openpyxl import load_workbook

    book = load_workbook(_unpackable(file), read_only=True, data_only=True, keep_links=False)
    for sheet in book.worksheets:
        sheet.reset_dimensions()  # what the file says of its size may be a million empty rows
        yield sheet.title
        yield from _rows(sheet.iter_rows(values_only=True))


def _pptx(file: BinaryIO) -> Pieces:
    from pptx import Presentation

    for number, slide in enumerate(Presentation(_unpackable(file)).slides):
        if number >= PAGE_LIMIT:
            raise CutShort
        for shape in slide.shapes:
            if shape.has_text_frame:
                yield shape.text_frame.text
            elif shape.has_table:
                yield from _rows((cell.text for cell in row.cells) for row in shape.table.rows)
        if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
            yield slide.notes_slide.notes_text_frame.text


def _odf(file: BinaryIO) -> Pieces:
    from odfdo import Document

    document = Document(BytesIO(_unpackable(file).read()))
    for element in document.body.get_elements("descendant::text:p|descendant::text:h"):
        yield element.text_recursive


def _rows(rows: Iterable[Iterable[Any]]) -> Pieces:
    for row in rows:
        if cells := [str(cell) for cell in row if cell not in (None, "")]:
            yield " | ".join(cells)


def _unpackable(file: BinaryIO) -> BinaryIO:
    """The file again, once what it unpacks to is known to be bounded and free of entities."""
    try:
        with ZipFile(file) as parts:
            listed = parts.infolist()
            if len(listed) > PART_LIMIT or sum(part.file_size for part in listed) > UNPACKED_LIMIT:
                raise UnreadableError("it unpacks to far more than an office program writes")
            if any(part.flag_bits & 1 for part in listed):
                raise UnreadableError("it is encrypted")
            for part in listed:
                if part.filename.lower().endswith((".xml", ".rels")):
                    with parts.open(part) as content:
                        _check_xml(content.read)
    except (BadZipFile, NotImplementedError) as error:
        raise UnreadableError("it is damaged, or encrypted by an office program") from error
    file.seek(0)
    return file


def _check_xml(read: Callable[[int], bytes]) -> None:
    tail = b""
    while chunk := read(CHUNK):
        if DOCTYPE.search(tail + chunk):
            raise UnreadableError("it defines XML entities, which no office program does")
        tail = chunk[-32:]


def _tidy(text: str) -> str:
    """Without control characters, spaces at line ends and runs of empty lines."""
    plain = re.sub(
        r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]", " ", text.replace("\r\n", "\n").replace("\r", "\n")
    )
    return re.sub(r"(?<![ \t\xa0])[ \t\xa0]*\n\s*\n\s*", "\n\n", plain).strip()


PLAIN = """
    txt text md markdown rst org tex log csv tsv json yaml yml toml ini cfg conf srt vcf
"""
KINDS: dict[str, Callable[[BinaryIO], Pieces]] = {
    **dict.fromkeys(PLAIN.split(), _plain),
    **dict.fromkeys(("html", "htm", "xhtml"), _html),
    **dict.fromkeys(("odt", "ods", "odp", "ott", "ots", "otp"), _odf),
    "pdf": _pdf,
    "docx": _docx,
    "xlsx": _xlsx,
    "pptx": _pptx,
}

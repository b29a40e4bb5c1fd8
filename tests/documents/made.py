"""Documents as other programs write them, made with the libraries that write them."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from zipfile import ZIP_DEFLATED, ZipFile

import docx
import odfdo
import openpyxl
import pptx


def pdf(*pages: str) -> bytes:
    """A PDF of one line a page, as the specification's smallest examples have it."""
    count = len(pages)
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(count))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {count} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    for number, text in enumerate(pages):
        shown = text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")
        stream = f"BT /F1 12 Tf 72 720 Td ({shown}) Tj ET"
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {5 + 2 * number} 0 R"
            " /Resources << /Font << /F1 3 0 R >> >> >>"
        )
        objects.append(f"<< /Length {len(stream.encode('cp1252'))} >>\nstream\n{stream}\nendstream")
    return pdf_of([each.encode("cp1252") for each in objects])


def pdf_of(objects: Sequence[bytes]) -> bytes:
    """A PDF file of these objects, numbered from 1; the first is its catalogue."""
    raw = bytearray(b"%PDF-1.4\n")
    places = []
    for number, each in enumerate(objects, 1):
        places.append(len(raw))
        raw += b"%d 0 obj\n%s\nendobj\n" % (number, each)
    start = len(raw)
    raw += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    raw += b"".join(b"%010d 00000 n \n" % place for place in places)
    raw += b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, start)
    return bytes(raw)


def word(*paragraphs: str, table: Sequence[Sequence[str]] = ()) -> bytes:
    document = docx.Document()
    for paragraph in paragraphs:
        document.add_paragraph(paragraph)
    if table:
        made = document.add_table(len(table), len(table[0]))
        for row, cells in zip(made.rows, table, strict=True):
            for cell, text in zip(row.cells, cells, strict=True):
                cell.text = text
    return _saved(document)


def sheet(*rows: Sequence[object]) -> bytes:
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    return _saved(book)


def slides(*texts: str) -> bytes:
    presentation = pptx.Presentation()
    for text in texts:
        slide = presentation.slides.add_slide(presentation.slide_layouts[5])
        assert slide.shapes.title
        slide.shapes.title.text = text
    return _saved(presentation)


def open_text(*paragraphs: str) -> bytes:
    document = odfdo.Document("text")
    document.body.clear()
    for paragraph in paragraphs:
        document.body.append(odfdo.Paragraph(paragraph))
    return _saved(document)


def replaced(office: bytes, part: str, content: bytes) -> bytes:
    """An office file with one of its parts exchanged."""
    made = BytesIO()
    with ZipFile(BytesIO(office)) as old, ZipFile(made, "w", ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, content if name == part else old.read(name))
    return made.getvalue()


def _saved(document: object) -> bytes:
    made = BytesIO()
    document.save(made)  # type: ignore[attr-defined]  # all of these libraries' documents have it
    return made.getvalue()

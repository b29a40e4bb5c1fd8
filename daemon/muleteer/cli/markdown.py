"""A page of the notebook as a Markdown file, and back: a heading, one list item a note, when and where it was
written in a comment below.

Pure: texts in, texts out. What a person wrote by hand is read as well: each list item and each paragraph is a
note. What Markdown would not keep (control characters, blank lines, spaces at the ends) is written as
`&#x20;` and the like, so that every note comes back as it was.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

LONGEST_STEM = 200  # bytes of a file's name without its ending; file systems take 255
_COMMENT = re.compile(r"<!-- (\d{4}-\d\d-\d\dT\S+?)(?: session=([\w.-]*))?(?: device=([\w.-]*))? -->")
_ITEM = re.compile(r"[-*+] +(.*)")
_ENCODED = re.compile(r"&(?:amp|lt|#x([0-9a-f]{1,6}));")


@dataclass(frozen=True, slots=True)
class Written:
    """A note of a page; `when` is ISO 8601 with its offset, empty where the file does not say."""

    text: str
    when: str = ""
    session: str = ""
    device: str = ""


def write_page(name: str, notes: Iterable[Written]) -> str:
    """The file of a page."""
    parts = [f"# {_encode(name)}\n"]
    for note in notes:
        lines = _encode(note.text).split("\n")
        meta = [note.when, f"session={note.session}", f"device={note.device}"]
        comment = f"<!-- {' '.join(part for part in meta if not part.endswith('='))} -->"
        parts.append("\n".join([f"- {lines[0]}", *(f"  {line}" for line in [*lines[1:], comment])]) + "\n")
    return "\n".join(parts)


def read_page(content: str, stem: str) -> tuple[str, list[Written]]:
    """The page's name (that of the file, where no heading says it) and its notes."""
    lines = content.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    start = next((number for number, line in enumerate(lines) if line.strip()), 0)
    name = stem
    if lines[start].startswith("# ") and lines[start][2:].strip():
        name = _decode(lines[start][2:].strip())
        start += 1
    return name, list(_notes(lines[start:]))


def file_names(pages: Iterable[str]) -> dict[str, str]:
    """A file's name for each page: letters, digits and hyphens of its name, so that no name leads anywhere
    else."""
    names: dict[str, str] = {}
    taken = set[str]()
    for page in pages:
        plain = re.sub(r"[^\w-]+", "-", page.lower()).strip("-_") or "page"
        stem = plain.encode()[:LONGEST_STEM].decode(errors="ignore")
        name, number = stem, 2
        while name in taken:
            name, number = f"{stem}-{number}", number + 1
        taken.add(name)
        names[page] = f"{name}.md"
    return names


def _notes(lines: Iterable[str]) -> Iterator[Written]:
    text: list[str] = []
    for line in [*lines, ""]:
        comment = _COMMENT.fullmatch(line.strip())
        if comment and text and _is_time(comment[1]):
            yield _written(text, comment[1], comment[2] or "", comment[3] or "")
            text = []
            continue
        item = _ITEM.match(line)
        if text and (item or not line.strip()):
            if any(map(str.strip, text)):
                yield _written(text)
            text = []
        if item:
            text = [item[1]]
        elif line.strip():
            text.append(line)


def _written(lines: Iterable[str], when: str = "", session: str = "", device: str = "") -> Written:
    return Written(_decode("\n".join(line.strip() for line in lines)), when, session, device)


def _is_time(text: str) -> bool:
    try:
        return datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False


def _encode(text: str) -> str:
    text = re.sub(r"&(?=#|amp;|lt;)", "&amp;", text).replace("<!--", "&lt;!--")
    text = "".join(each if each == "\n" or each.isprintable() else f"&#x{ord(each):x};" for each in text)
    text = re.sub(r"\A\n+|\n+\Z|\n{2,}", lambda found: "&#xa;" * len(found[0]), text)
    return re.sub(r"(?m)^ | $", "&#x20;", text)


def _decode(text: str) -> str:
    return _ENCODED.sub(_decoded, text)


def _decoded(found: re.Match[str]) -> str:
    if found[1] is None:
        return "&" if found[0] == "&amp;" else "<"
    number = int(found[1], 16)
    return chr(number) if number < 0x110000 and not 0xD800 <= number < 0xE000 else found[0]

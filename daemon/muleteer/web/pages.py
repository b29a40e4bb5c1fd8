"""The text in what a web server sent: its encoding found out, HTML reduced to what a reader would see.

Knows media types, character sets and HTML; knows nothing of networks. Everything here is a stranger's: it
may claim one encoding and be in another, or be no text at all.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from email.message import Message

from inscriptis.css_profiles import CSS_PROFILES
from inscriptis.html_engine import Inscriptis
from inscriptis.model.config import ParserConfig
from lxml import etree
from lxml.html import HtmlElement, HTMLParser, document_fromstring

HTML = ("text/html", "application/xhtml+xml")
TEXT = re.compile(r"text/.+|application/(.+\+)?(json|xml|yaml|toml|javascript)|application/x-(yaml|ndjson)")
UNKNOWN = ("", "application/octet-stream", "binary/octet-stream")  # what servers say of what they do not know
SNIFFED = 1024  # bytes at the beginning where HTML names its encoding, as its standard says
NAMED = re.compile(rb"""(?:charset|encoding)\s*=\s*["']?\s*([\w.:-]{1,40})""", re.IGNORECASE)
MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
# Codecs for other things than pages, some slow on purpose-made input; nobody serves pages in them.
NO_CHARSETS = frozenset({"idna", "punycode", "utf-7", "unicode_escape", "raw_unicode_escape", "undefined"})
ONE_BYTE = re.compile(r"iso8859|cp\d|latin|koi8|mac|ascii|charmap")  # in these, any bytes are some text
UNSEEN = ("script", "style", "noscript", "template", "svg", "iframe", "object", "nav", "footer", "dialog")
# A tag this long holds attributes by the thousand or a whole picture; the parser's time is their square.
LONG_TAG = re.compile(r"<[^<>]{8000,}>?")
TITLE_LIMIT = 200  # characters
WEIRD = re.compile(
    r"[^\S\n ]|[\x00-\x08\x0e-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufffe]"
)


@dataclass(frozen=True, slots=True)
class Readable:
    """What there is to read; `title` may be empty. `cut`: the page has more than could be read of it."""

    title: str
    text: str
    cut: bool = False


def readable(body: bytes, content_type: str, cut: bool = False) -> Readable:
    """The text of a body; `cut` says that its end is missing. Raises `ValueError` with what it is when it is
    no text."""
    kind, charset = _declared(content_type)
    if kind in UNKNOWN:
        kind = "text/html" if re.match(rb"\s*<(!doctype|html|head)", body, re.IGNORECASE) else "text/plain"
    elif kind not in HTML and not TEXT.fullmatch(kind):
        raise ValueError(kind)
    text = decode(body, charset, cut)
    if "\0" in text:
        raise ValueError("binary data")
    if kind in HTML:
        return reduce_html(text)
    return Readable("", _tidy(text))


def decode(body: bytes, charset: str, cut: bool = False) -> str:
    """Bytes as text: by their mark, by what the server or the page says if that can be true, else as UTF-8,
    else as the Western encoding that browsers fall back to."""
    for mark, name in MARKS:
        if body.startswith(mark):
            return body[len(mark) :].decode(name, "replace")
    found = NAMED.search(body[:SNIFFED])
    for label in (charset, found[1].decode("ascii", "replace") if found else ""):
        name = _codec(label)
        # Bytes that are valid UTF-8 and not plain ASCII are so by no accident, whatever is named.
        tried = ("utf-8", name) if ONE_BYTE.match(name) else (name,)
        for each in tried if name else ():
            try:
                return codecs.getincrementaldecoder(each)("strict").decode(body, not cut)
            except ValueError:
                continue
    try:
        return codecs.getincrementaldecoder("utf-8")("strict").decode(body, not cut)
    except UnicodeDecodeError:
        return body.decode("cp1252", "replace")


def reduce_html(text: str) -> Readable:
    """What a reader would see of a page: no scripts, menus or footers, tables and lists laid out as text."""
    parser = HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True)  # never `huge_tree`
    try:
        tree: HtmlElement = document_fromstring(_lightened(text), parser=parser)
    except etree.LxmlError:  # nothing is left
        return Readable("", "", bool(parser.error_log.filter_from_fatals()))
    cut = bool(parser.error_log.filter_from_fatals())  # what is fatal, such as 256 levels, ends the parsing
    title = " ".join((tree.findtext(".//title") or "").split())[:TITLE_LIMIT]
    etree.strip_elements(tree, *UNSEEN, "title", with_tail=False)
    config = ParserConfig(css=CSS_PROFILES["strict"], display_images=False, display_links=False)
    return Readable(_tidy(title), _tidy(Inscriptis(tree, config).get_text()), cut)


def _lightened(html: str) -> bytes:
    """Without what takes the parser long and shows nothing: comments, and tags that are endless. A comment
    without an end takes all that follows, as in browsers."""
    kept, at = [], 0
    while (found := html.find("<!--", at)) >= 0:
        kept.append(html[at:found])
        end = html.find("-->", found)
        at = end + 3 if end >= 0 else len(html)
    return LONG_TAG.sub(" ", "".join((*kept, html[at:]))).encode("utf-8", "replace")


def _declared(content_type: str) -> tuple[str, str]:
    """The media type and the character set of a header."""
    header = Message()
    header["content-type"] = " ".join(content_type[:SNIFFED].split()) or "application/octet-stream"
    kind = header.get_content_type() if "/" in content_type else ""
    return kind, header.get_content_charset() or ""


def _codec(label: str) -> str:
    """The codec of a name that pages use; empty when there is none."""
    try:
        name = codecs.lookup(label).name
        "".encode(name)  # a codec that is not for text is refused here
    except (LookupError, ValueError):
        return ""
    return "" if name in NO_CHARSETS or name.startswith("mbcs") else name


def _tidy(text: str) -> str:
    """No control characters or invisible ones, no runs of blanks, no more than one empty line."""
    text = WEIRD.sub(lambda found: " " if found[0].isspace() else "", text.replace("\r\n", "\n"))
    text = re.sub(r" {3,}", "  ", text)
    text = re.sub(r" +\n", "\n", text)
    return re.sub(r"\n{3,}", "\n\n", text).strip()

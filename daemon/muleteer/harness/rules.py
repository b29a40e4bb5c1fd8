"""What can be said of a message without a model: that it only asks or forbids, wants news, names no address.

Pure. A rule takes a handle away from the planner's choice and says why; none ever adds one. How questions and
prohibitions are worded is `moods`' knowledge; where a message has none of their words the rules are silent.
"""

from __future__ import annotations

import re
from functools import lru_cache

from muleteer.harness import wishes
from muleteer.harness.moods import asks, deletes, forbids
from muleteer.skills import MenuLine

ASKS = "the message asks, and this changes something"
FORBIDS = "the message forbids, and this changes something"
DELETES = "the message wants something deleted, and this deletes nothing"
NO_ADDRESS = "the message names no web address"
LIVE = "the message asks for news from elsewhere, and this knows none"
TELLS = "the message tells something, and asks for nothing"

_ADDRESS = re.compile(
    r"\bhttps?://\S|\bwww\.\w|\b(?:\d{1,3}\.){3}\d{1,3}\b"
    r"|(?<![@\w.-])[a-z0-9][a-z0-9-]*\.(?:[a-z0-9-]+\.)*(?:[a-z]{2,3}|info|online|example|local|home|lan|test|site|blog)\b(?!\.\w|@)"
    r"(?:[:/]\S*)?",
    re.IGNORECASE,
)
_FILE_ENDING = re.compile(
    r"\.(?:pdf|txt|md|doc|docx|odt|ods|xls|csv|ppt|jpg|png|mp3|zip|html?|ics|json)\b", re.IGNORECASE
)


def names_address(message: str) -> bool:
    """Whether a web address stands in it. A file's name (`letter.pdf`) is none, unless a slash says so."""
    return any(
        "/" in found[0] or found[0].casefold().startswith("www.") or not _FILE_ENDING.search(found[0])
        for found in _ADDRESS.finditer(message)
    )


def against(message: str, line: MenuLine) -> str:
    """Why this line cannot be what the message wants; empty when no rule says so."""
    if line.address and not names_address(message):
        return NO_ADDRESS
    wish = wishes.kind(message)
    if wish == "live" and not line.address and not _has(line, "live"):
        return LIVE
    if wish == "forget" and not _has(line, "forget"):
        return DELETES
    if wish == "told" and line.effect != "physical":
        return TELLS
    if line.effect != "read" and asks(message) and not any(map(asks, line.examples)):
        return ASKS
    if line.effect != "read" and forbids(message):
        return FORBIDS
    if line.effect == "write" and deletes(message) and not any(map(deletes, line.examples)):
        return DELETES
    return ""


@lru_cache(maxsize=1024)  # lines of menus: more than are in use at once
def _has(line: MenuLine, kind: str) -> bool:
    """Whether this is what the line is for."""
    return any(wishes.kind(said) == kind for said in (line.description, *line.examples))

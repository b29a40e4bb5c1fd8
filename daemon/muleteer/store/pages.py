"""Which page of the notebook a note belongs on: the one it names, else one it mentions, else its owner's.

Pure: names and texts in, names out. The page `Notes` holds what belongs nowhere else.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from muleteer.store.matching import fold

COMMON_PAGE = "Notes"
LONGEST_NAME = 60  # characters; a name is a word or three, more is a note that landed in the wrong place
# What people and models write when they mean no page in particular.
NO_PAGE = "notes note notebook none null nothing general default misc n/a unknown notizen notiz notas nota"
# "on the shopping list", "to my garden page"; "page garden: ..."; "auf die Einkaufsliste".
NAMED = (
    re.compile(r"(?i)\b(?:on|onto|to|in|for) (?:the|my|our) ([\w-]+) (?:page|list)\b"),
    re.compile(r"(?i)\b(?:page|list|seite|liste|página|lista) [\"']?([\w-]+)[\"']?:"),
    re.compile(r"(?i)\b(?:auf|in) (?:die|der|meine|meiner|unsere|unserer) (\w{3,}(?:liste|seite))\b"),
    re.compile(r"(?i)\b(?:en|a) (?:la|mi|nuestra) (?:lista|página) de(?: la)? ([\w-]+)\b"),
)
OWNER = re.compile(r"\b([^\W\d_][\w-]*)['\u2019]s\b")
# Words that are followed by 's and own nothing.
NOBODY = """
    it that this what who where when how why here there he she let one today tomorrow yesterday tonight
    everybody everyone somebody someone nobody everything something nothing
"""
_NO_PAGE, _NOBODY = frozenset(NO_PAGE.split()), frozenset(NOBODY.split())


def page_name(given: str) -> str:
    """The name on one line, without the quotes and stops around it; empty when it names no page."""
    name = " ".join(given.split()).strip(" .,:;!?\"'`\u201c\u201d\u201e\u00ab\u00bb")
    if len(name) > LONGEST_NAME or not name.isprintable() or fold(name) in _NO_PAGE:
        return ""
    return name


def page_for(text: str, pages: Collection[str]) -> str:
    """The page that a note's own words name ("on the shopping list"), else the longest of the pages it
    mentions, else whose it says it is ("Mia's shoe size is 34"), else empty."""
    for named in NAMED:
        if (found := named.search(text)) and (name := page_name(found[1])):
            return same_page(name, pages)
    said = _words(text)
    mentioned = [page for page in pages if (words := _words(page)) and _within(words, said)]
    if mentioned:
        return max(mentioned, key=lambda page: (len(page), page))
    owners = (match[1] for match in OWNER.finditer(text))
    return next((page_name(each) for each in owners if each[0].isupper() and fold(each) not in _NOBODY), "")


def same_page(name: str, pages: Collection[str]) -> str:
    """The page that is called so already, however it is spelled; else the name itself."""
    wanted = fold(name)
    return next((page for page in pages if fold(page) == wanted), name)


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", fold(text))


def _within(part: list[str], whole: list[str]) -> bool:
    return any(whole[start : start + len(part)] == part for start in range(len(whole) - len(part) + 1))

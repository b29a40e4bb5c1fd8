"""Several requests in one message: "the time in Tokyo and 3 * 4", "switch on the fan and the light".

Pure. Only proposes how a message may be cut, from the most parts to the fewest, since an "and" may also stand
within a request ("3 pounds and 4 ounces"); what each part is planned to decides which cut is right, if any is
(`apart`). What is wrongly cut does harm, so whatever may be one request stays one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from muleteer.harness import wishes
from muleteer.harness.conditions import clauses
from muleteer.harness.moods import asks, negated
from muleteer.harness.signals import Plan

# More parts than a person says in one breath are a list of things, not of requests.
MOST_PARTS = 4

# A part must be this likely to be what it is planned to be. Below it the message is planned as a whole.
SURE = 0.6

# A part that is this likely to want no tool is none of what can be done here, and that is said.
CANNOT = 0.9

# Words of a part that can stand alone; fewer lean on the part before.
LEANING = 2

_AND = {"en": "and", "de": "und", "es": "y|e", "fr": "et", "it": "ed?", "nl": "en", "pt": "e", "tr": "ve"}
_THEN = "then|also|dann|auch|luego|después|puis|aussi|poi|anche|dan|ook|depois|sonra"
# What an order begins with. None of them is a noun or a form that a sentence goes on with after a comma.
_ORDER = (
    r"(?:please |bitte )?(?:(?:tell|show|give|remind|wake) (?:me|us)\b"
    r"|(?:sag|zeig|gib|nenn|weck|erinner)\w{0,2} (?:mir|uns|mich)\b"
    r"|(?:set|put|add|start|cancel|turn|switch|remember|calculate|convert) (?!of\b|in\b|is\b)\w"
    r"|(?:setze?|stelle?|schreibe?|notiere?|merke?|starte|stoppe|lösche?|schalte?|mache?|rechne|suche?|lies"
    r"|öffne|bestelle?) (?:mir|uns|dir|den|die|das|ein\w*|auf|alle|bitte|mal|\d+"
    r"|\w+ (?:und|auf|aus|an|in|zu|von))\b"
    r"|(?:dime|pon|apunta|enciende|apaga|dis-moi|mets|note|allume|éteins|dimmi|metti|accendi|spegni|zet|zeg"
    r"|schrijf) )"
)
# What is told, or dictated, may hold orders behind a comma that are none.
_TELLING = re.compile(r":(?!\d)|\b(?:that|dass|que|che|dat)\b", re.IGNORECASE)
_ORDERS = re.compile(rf"^\W*{_ORDER}", re.IGNORECASE)
_JOINTS = {
    language: re.compile(
        rf"(?:[?!;]|(?<![\d.])\.)\s+(?=\S)|,?\s+(?:{word})(?:\s+(?:{_THEN}))?\s+|,\s+(?:{_THEN})\s+"
        rf"|,\s+(?={_ORDER})",
        re.IGNORECASE,
    )
    for language, word in _AND.items()
}
_TOGETHER = re.compile(
    r"\b(?:between|both|zwischen|beide\w*|entre|ambos|tra|fra|tussen|arasında|sum of)\b",
    re.IGNORECASE,
)
_PARTICLES = {"on", "off", "up", "down", "an", "aus", "ein", "ab", "auf", "zu", "aan", "uit", "open", "dicht"}
# In English "the bedroom" after "the kitchen light" is "the bedroom light".
_ROOMS = re.compile(
    r"(?:bed|bath|living ?|dining ?|guest ?)room|kitchen|hall(?:way)?|corridor|study|office|cellar|basement"
    r"|attic|garage|garden|porch|nursery|lounge|balcony|terrace|toilet|pantry|shed|greenhouse",
    re.IGNORECASE,
)
# Orders that name a place for things, and places. Turkish has the order last, and the place in the ending.
_PUTS = re.compile(
    r"\b(?:put|add|write|note|jot|setze?|schreibe?|notiere?|packe?|tue?|füge?|trage?|nimm|pon|añade|agrega"
    r"|apunta|anota|mets|ajoute|inscris|metti|aggiungi|segna|scrivi|zet|schrijf|voeg|noteer|põe|ponha|coloca"
    r"|adiciona|acrescenta|escreve|anote)\b",
    re.IGNORECASE,
)
_PUT_LAST = re.compile(r"\b(?:ekle|yaz|koy|not et)(?:yin|in|iniz|er misin)?\W*$", re.IGNORECASE)
_LISTS = r"\w*(?:list|liste|lista|lijst|lijstje|zettel|listesi\w*|listem\w*)\b"
_PLACE = re.compile(
    r"\b(?:on|onto|to|in|into|auf|zu[rm]?|ins?|en|à|aux?|sur|dans|alla|sulla|nella|al|nel|op|aan|na|à|a) "
    r"(?:(?:the|my|our|die|den|das|der|dem|meine?\w?|unsere?\w?|la|el|mi|nuestra|ma|notre|le|mia|de|het"
    r"|mijn|onze|minha|nossa) )?(?=\w{2})(?!on\b|off\b)\w"
    rf"|\b{_LISTS}",
    re.IGNORECASE,
)
_LIST_BEFORE = re.compile(rf"\b{_LISTS}(?: de (?:la )?\w+| della \w+| des? \w+)?[:,]? \w", re.IGNORECASE)
# "Put the lamp and the fan in the hall on": a place, and what is switched there.
_AT_END = re.compile(r"\b(?:on|off|an|aus|ein|aan|uit)\W*$", re.IGNORECASE)
_WITH_ARTICLE = {"im": "in", "ins": "in", "am": "an", "ans": "an", "beim": "bei", "zum": "zu", "zur": "zu"}
_EDGES = " \t\n,.;?!¿¡"
_STOPS = tuple(".;?!")


@dataclass(frozen=True, slots=True)
class Part:
    """One piece of a message: as it was said, and `leaning`, with what it leans on in the first part; empty
    where it leans on nothing. `joined`: to another by a word such as "and", and not a sentence of its own."""

    said: str
    leaning: str = ""
    joined: bool = False


def cuts(message: str, language: str = "en") -> list[list[Part]]:
    """The ways in which a message in this language may be cut, of those into so many parts the likeliest
    first; none where it may not."""
    joints = [
        each
        for each in _JOINTS[language].finditer(message)
        if not _is_told(message, each) and not _is_listed(message, each)
    ]
    if not 0 < len(joints) < MOST_PARTS or not may_be_cut(message) or _TOGETHER.search(message):
        return []
    strong = {joint.start() for joint in joints if _is_strong(message, joint)}
    kept = [chosen for size in range(len(joints), 0, -1) for chosen in combinations(joints, size)]
    kept.sort(key=lambda chosen: (-len(chosen), -sum(joint.start() in strong for joint in chosen)))
    return [found for chosen in kept if (found := _cut(message, chosen))]


def may_be_cut(message: str) -> bool:
    """Whether nothing in it may be meant for all of it: no condition, and no "not"."""
    return not clauses(message) and not negated(message)


def _is_told(message: str, joint: re.Match[str]) -> bool:
    """Whether an order after a comma belongs to what is told before it."""
    return joint[0].strip() == "," and bool(_TELLING.search(message, 0, joint.start()))


def _is_listed(message: str, joint: re.Match[str]) -> bool:
    """Whether it joins two things that go to one place: "put milk and eggs on the shopping list". The first
    of them alone would be put nowhere, and taken for something else."""
    if _is_strong(message, joint):
        return False
    before, after = message[: joint.start()], message[joint.end() :]
    orders_ = list(_PUTS.finditer(before))
    begun = before[orders_[-1].end() :] if orders_ else ""
    if not orders_:
        return bool(_PUT_LAST.search(after) and _PLACE.search(message))
    return bool(_PLACE.search(after) or _LIST_BEFORE.search(begun)) and not _AT_END.search(after)


def _is_strong(message: str, joint: re.Match[str]) -> bool:
    """Whether more than an "and" stands there, or a question or an order begins after it."""
    rest = message[joint.end() :]
    return not joint[0].strip().isalpha() or asks(rest) or orders(rest)


def _cut(message: str, joints: Sequence[re.Match[str]]) -> list[Part]:
    """The parts between these joints; none where one is empty, or the first too short to stand alone."""
    borders = [0, *(place for joint in joints for place in joint.span()), len(message)]
    pieces = [message[a:b].strip(_EDGES) for a, b in zip(borders[::2], borders[1::2], strict=True)]
    if len(pieces[0].split()) < 2 or not all(pieces):
        return []
    pieces = _completed(pieces)
    joined = [not joint[0].strip().startswith(_STOPS) for joint in joints]
    found, first = [Part(pieces[0], joined=joined[0])], pieces[0]
    for piece, together in zip(pieces[1:], joined, strict=True):
        found.append(Part(piece, "" if orders(piece) else leaning(first, piece), together))
    return found


def _completed(pieces: Sequence[str]) -> list[str]:
    """With the particle that stands at the end for all of them: "turn the fan and the light off" turns both
    off. Without it a model guesses, and switched the first one the wrong way."""
    particle = pieces[-1].split()[-1].casefold()
    if particle not in _PARTICLES:
        return list(pieces)
    return [
        piece if _PARTICLES & set(piece.casefold().split()) else f"{piece} {particle}" for piece in pieces
    ]


def leaning(first: str, piece: str) -> str:
    """The piece in the place of what it is like in the first part: "the light" after "switch on the fan" is
    "switch on the light"."""
    words, ours = first.split(), piece.split()
    if words[-1].casefold() in _PARTICLES and not _PARTICLES & set(piece.casefold().split()):
        ours.append(words[-1])
    heads = [number for number, word in enumerate(words) if _head(word) == _head(ours[0])]
    if heads and heads[-1]:
        room = len(words) > heads[-1] + 2 and _ROOMS.fullmatch(" ".join(ours[1:])) is not None
        return " ".join(words[: heads[-1]] + ours + words[-1:] * room)
    if len(ours) <= LEANING and len(words) > len(ours):
        return " ".join(words[:-1] + ours)
    return ""


def _head(word: str) -> str:
    """The word that a place or a thing begins with, without the article that is in it ("im" is "in dem")."""
    return _WITH_ARTICLE.get(word.casefold(), word.casefold())


def missing(reply: float, part: Part) -> bool:
    """Whether a part that is so likely to want no tool is a request all the same, which cannot be done; a
    sentence of its own may be a greeting, or tell what the request is about. What orders a deed is enough of
    one where no tool is likelier."""
    if wishes.kind(part.said) == "deeds":
        return reply >= SURE
    return part.joined and reply >= CANNOT and is_request(part.said)


def is_request(said: str) -> bool:
    """Whether it asks or orders by its words, and says so in more than a few."""
    return len(said.split()) > LEANING and (asks(said) or wishes.kind(said) in ("deeds", "live"))


def orders(said: str) -> bool:
    """Whether it begins as an order does."""
    return bool(_ORDERS.match(said))


def apart(plans: Sequence[Plan], repeatable: Sequence[bool]) -> bool:
    """Whether the parts are requests of their own: each surely planned, and none the same as another one's
    unless its tool may be asked several things."""
    handles = [plan.handles for plan in plans]
    return all(
        len(plan.handles) == 1 and plan.confidence >= SURE and (again or handles.count(plan.handles) == 1)
        for plan, again in zip(plans, repeatable, strict=True)
    )

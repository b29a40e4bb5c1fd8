"""What can be said of a message without a model: that it only asks or forbids, wants news, names no address.

Pure. A rule takes a handle away from the planner's choice and says why; none ever adds one. Knows the first
words of questions in English, German, Spanish, French, Italian, Dutch and Turkish; where a message has none
of them the rules are silent.
"""

from __future__ import annotations

import re
from functools import lru_cache

from muleteer.harness import wishes
from muleteer.skills import MenuLine

ASKS = "the message asks, and this changes something"
FORBIDS = "the message forbids, and this changes something"
DELETES = "the message wants something deleted, and this deletes nothing"
NO_ADDRESS = "the message names no web address"
LIVE = "the message asks for news from elsewhere, and this knows none"
TELLS = "the message tells something, and asks for nothing"

_EN = (
    r"what(?:'s|s)?|which|who(?:'s|se)?|where(?:'s)?|why|how|(?:at|by|for|since|in|on) (?:what|which)"
    r"|when(?:'s|s| (?:is|are|was|were|do|does|did|will|am|has)\b)"
    r"|is|isn't|are|aren't|am i|was|were|does|doesn't|did|didn't|has|do (?:i|you|we|they|the|my|any|all)"
    r"|have (?:i|you|we|they|the|any|all)|should (?:i|we)|any(?:thing|one|body)?"
)
_DE = (
    r"(?:seit |ab |bis |um |an |in |von )?(?:was|wann|wo|woher|wohin|wer|wem|wen|wie|welche\w*|wieviel)"
    r"|warum|wieso|weshalb|den wievielten|ist|sind|bin ich|bist du|war|waren"
    r"|hat|hast|habe|haben|läuft|brennt|steht|stehen|leuchtet|gibt es|soll(?:te)? ich|soll(?:t?en)? wir"
)
_ROMANCE = (
    r"qué|cuándo|dónde|quién\w*|cuál\w*|cuánt\w+|cómo|por qué|está|están|estás|estoy|hay|tengo|tienes|queda"
    r"|quel\w*|qui|où|comment|combien|pourquoi|qu'|est-ce|est-il|est-elle|y a-t-il|ai-je|suis-je|es-tu|as-tu"
    r"|che|chi|dove|dov'è|qual\w*|quant\w+|perché|è|c'è|ci sono|sono"
)
_DUTCH = r"wat|wanneer|waar|welk\w*|hoe|waarom|zijn|heb|heeft|brandt|staat|ben ik|ben je|is"
_POLITE_OPENING = r"(?:(?:please|so|and|but|hey|ok(?:ay)?|bitte|und|y|et|e|en|sag mal|by the way)[\s,]+)*"
_QUESTION = re.compile(
    rf"^\W*{_POLITE_OPENING}(?:(?:{_EN}|{_DE}|{_ROMANCE}|{_DUTCH})(?<!')\b|qu')", re.IGNORECASE
)
_INSIDE = re.compile(
    r"\w-t?-?(?:il|elle|ils|elles|je|tu)\b"  # la porte est-elle fermée
    r"|\b(?:m[ıiuü]|m[ıiuü](?:y[dt]?[ıiuü]\w*|y[ıiuü]m|dır|dir))\W*$"  # kapı açık mı; not açar mısın
    r"|\b(?:nerede|nereye|kaç|neler|nasıl|hangi|kim|ne zaman)\b",
    re.IGNORECASE,
)
_WHETHER = re.compile(
    r"^\W*(?:please |bitte )?"
    r"(?:tell me|check|see|look|find out|sag mir|schau|sieh|prüfe?|dime|dis-moi|dimmi|kijk)\b"
    r"[^.;!?]{0,20}?\b(?:if|whether|ob|si|se|of)\b(?P<what>.*)",
    re.IGNORECASE,
)
_MORE = re.compile(r",|;|\b(?:and|then|und|dann|y|et|puis|e|en|dan|ve)\b", re.IGNORECASE)
# "Don't cancel the alarm", but not "don't forget the milk", which wants to be reminded.
_PROHIBITION = re.compile(
    r"^\W*(?:(?:please|no|oh|hey|ok(?:ay)?|and|but|bitte|nein|und|aber|halt|por favor|per favore)[\s,]+)*(?:"
    r"(?:don['\N{RIGHT SINGLE QUOTATION MARK}]?t|do not|never|you (?:must|should|may) not)\b"
    r"(?! (?:ever )?(?:forget|let (?:me|us) forget|miss)\b)"
    r"|(?:kein\w*|nicht|nie(?:mals)?)\b(?! vergessen)"
    r"|(?:stell|setz|lösch|schalt|mach|brich|stopp|start|öffn|schließ|dreh|speicher|schreib|merk|notier)\w* "
    r"(?:(?!dass\b|ob\b)[\w.:]+ ){0,5}?(?:nicht|kein\w*|nie(?:mals)?)\b"
    r"|no (?!olvid|te olvid)(?:l[oae]s? )?\w+(?:es|as|e|a)\b"
    r"|(?:ne |n['\N{RIGHT SINGLE QUOTATION MARK}])(?!oubli)\w+\b.*\bpas\b"
    r"|non (?!dimentic)\w+(?:re|are|i|a)\b"
    r")",
    re.IGNORECASE,
)
_DELETE = re.compile(
    rf"^\W*{_POLITE_OPENING}(?:delete|remove|erase|wipe|cancel|stop|clear|forget"
    r"|lösch\w*|entfern\w*|streich\w*|stopp\w*"
    r"|vergiss(?! nicht)|borra|elimina|quita|olvida|cancela|efface|supprime|annule|oublie"
    r"|cancella|annulla|verwijder|sil)\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"[^.!?\n]+(?:[.!?](?=\S)[^.!?\n]*)*[.!?]*")
_ADDRESS = re.compile(
    r"\bhttps?://\S|\bwww\.\w|\b(?:\d{1,3}\.){3}\d{1,3}\b"
    r"|(?<![@\w.-])[a-z0-9][a-z0-9-]*\.(?:[a-z0-9-]+\.)*(?:[a-z]{2,3}|info|online|example|local|home|lan|test|site|blog)\b(?!\.\w|@)"
    r"(?:[:/]\S*)?",
    re.IGNORECASE,
)
_FILE_ENDING = re.compile(
    r"\.(?:pdf|txt|md|doc|docx|odt|ods|xls|csv|ppt|jpg|png|mp3|zip|html?|ics|json)\b", re.IGNORECASE
)


def asks(message: str) -> bool:
    """Whether every sentence of it is a question by its first words, or asks whether something is so."""
    sentences = [each for each in _SENTENCE.findall(message) if re.search(r"\w", each)]
    return bool(sentences) and all(map(_asks, sentences))


def forbids(message: str) -> bool:
    """Whether every sentence of it is a prohibition by its first words; one that only asks counts as none."""
    sentences = [each for each in _SENTENCE.findall(message) if re.search(r"\w", each)]
    return any(map(_PROHIBITION.search, sentences)) and all(
        _PROHIBITION.search(each) or _asks(each) for each in sentences
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
    if line.effect == "write" and _DELETE.search(message) and not any(map(_DELETE.search, line.examples)):
        return DELETES
    return ""


def _asks(sentence: str) -> bool:
    if whether := _WHETHER.search(sentence):
        return not _MORE.search(whether["what"])
    return bool(_QUESTION.search(sentence) or _INSIDE.search(sentence))


@lru_cache(maxsize=1024)  # lines of menus: more than are in use at once
def _has(line: MenuLine, kind: str) -> bool:
    """Whether this is what the line is for."""
    return any(wishes.kind(said) == kind for said in (line.description, *line.examples))

"""Which words of the notebook a word of a question may mean: the word itself, other forms of it, words that
contain it, or a small slip of the finger.

Pure: words in, words out. Text is folded as SQLite's `unicode61 remove_diacritics 2` folds it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection

WORD_LIMIT = 12  # words of one question; what a small model adds beyond is noise
# How forms of one word end in the languages below.
ENDINGS = frozenset(("", "s", "es", "y", "ies", "e", "d", "ed", "ing", "n", "en", "er", "ern"))
MARKS = re.compile(r"[\u0300-\u036f]")
# Words that say how a question is asked, not what it is about: English, German, Spanish.
COMMON = """
    a about all an and any anything are as at be been by can could did do does ever everything find for
    from get give had has have how i if in info information is it its know let list me mention mentioned
    my need note noted notes of on or our please regarding remember said say saved search show so some
    something tell than that the their them there they things this to told us was we were what when
    where which who whose why will with would you your
    als an auf aus bei das dein den der des die du ein eine einen einer es gibt habe hat ich im in ist
    kannst mein meine meinem meinen meiner mich mir mit notiz notizen und uns von wann war was wer wie
    wo zu zum zur
    al con cual cuando cuándo de del donde dónde el en es esta está hay la las los lo mi mis para por
    que qué quien quién se sobre su sus te tu un una y
"""


def fold(text: str) -> str:
    """Lower case, without accents, as the index has it."""
    return unicodedata.normalize("NFC", MARKS.sub("", unicodedata.normalize("NFD", text.lower())))


STOP_WORDS = frozenset(fold(COMMON).split())


def keywords(question: str) -> tuple[str, ...]:
    """The words that a question is about, folded, each once. Empty when it asks for nothing in particular."""
    words = dict.fromkeys(re.findall(r"[^\W_]+", fold(question)))
    return tuple(w for w in words if w not in STOP_WORDS and (len(w) > 1 or w.isdigit() or not w.isascii()))[
        :WORD_LIMIT
    ]


def meanings(word: str, vocabulary: Collection[str]) -> tuple[tuple[str, ...], float]:
    """Words of the vocabulary that `word` may mean, and how surely (0 to 1). The next kind of likeness is
    tried only when one gives nothing."""
    for alike, sureness in ((_same, 1.0), (_contains, 1.0), (_slip, 0.5)):
        if found := tuple(term for term in vocabulary if alike(word, term)):
            return found, sureness
    return (), 0.0


def _same(word: str, term: str) -> bool:
    """Equal, or two forms of one word, as in party and parties; not two names, as in Martin and Martha."""
    if word == term:
        return True
    pairs = zip(word, term, strict=False)
    shared = next((place for place, (a, b) in enumerate(pairs) if a != b), min(len(word), len(term)))
    endings = {word[shared:], term[shared:]}
    return endings == {"", "s"} if shared == 3 else shared > 3 and endings <= ENDINGS


def _contains(word: str, term: str) -> bool:
    """One inside the other, as in Schlüssel and Ersatzschlüssel; scripts without spaces need two signs."""
    short, long = sorted((word, term), key=len)
    return len(short) >= (4 if short.isascii() else 2) and short in long and not short.isdigit()


def _slip(word: str, term: str) -> bool:
    """One wrong, missing, extra or swapped letter in a word of four or more, two in nine or more."""
    singular = word.removesuffix("s")
    short = min(len(singular), len(term))
    if short < 4 or word.isdigit():
        return False
    allowed = 2 if short >= 9 else 1
    return any(
        abs(len(form) - len(term)) <= allowed
        and len(set(form) ^ set(term)) <= 2 * allowed  # a wrong letter is one too many and one missing
        and _distance(form, term, allowed) <= allowed
        for form in {word, singular}
    )


def _distance(a: str, b: str, limit: int) -> int:
    """Optimal string alignment distance; gives up (with limit + 1) when it must exceed the limit."""
    before: list[int] = []
    row = list(range(len(b) + 1))
    for i, left in enumerate(a, 1):
        previous, row = row, [i]
        for j, right in enumerate(b, 1):
            cost = min(previous[j] + 1, row[j - 1] + 1, previous[j - 1] + (left != right))
            if i > 1 and j > 1 and left == b[j - 2] and a[i - 2] == right:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        if min(row) > limit:
            return limit + 1
        before = previous
    return row[-1]

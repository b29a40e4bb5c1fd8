"""The passages of a long text that a question is about, whole lines in their order, within a limit. Pure."""

from __future__ import annotations

import math
import re

from muleteer.store.matching import fold, keywords

# Characters of one passage: a paragraph, and a few table rows or list entries with what they belong to.
LONGEST = 400

GAP = "[...]"
_WORD = re.compile(r"[^\W_]+")
_STEM = 5  # letters that the forms of a word have in common


def passages(text: str, question: str, limit: int) -> str:
    """The passages with most of the question's rarer words, at most `limit` characters, with a mark where
    something is left out; empty where none has any."""
    wanted = {word[:_STEM] for word in keywords(question)}
    blocks = _blocks(text)
    found = [{word[:_STEM] for word in _WORD.findall(fold(block))} & wanted for block in blocks]
    rarity = {
        word: math.log(1 + len(blocks) / holding)
        for word in wanted
        if (holding := sum(word in each for each in found))
    }
    scores = [sum(rarity[word] for word in each) for each in found]
    best = sorted((n for n, score in enumerate(scores) if score), key=lambda n: (-scores[n], n))
    chosen: set[int] = set()
    room = limit - len(GAP)
    for number in [near for n in best for near in (n, n - 1, n + 1)]:
        if 0 <= number < len(blocks) and number not in chosen:
            room -= len(blocks[number]) + len(GAP) + 2
            if room < 0:
                break
            chosen.add(number)
    return _joined(blocks, sorted(chosen))


def _blocks(text: str) -> list[str]:
    """Lines together up to `LONGEST` characters; a longer line is cut between words."""
    blocks: list[str] = [""]
    for line in text.splitlines():
        for piece in re.findall(rf"\S.{{0,{LONGEST - 2}}}(?!\S)|\S{{1,{LONGEST}}}", line):
            if blocks[-1] and len(blocks[-1]) + len(piece) > LONGEST:
                blocks.append("")
            blocks[-1] += f"\n{piece}" if blocks[-1] else piece
        if not line.strip() and blocks[-1]:
            blocks.append("")
    return [block for block in blocks if block]


def _joined(blocks: list[str], chosen: list[int]) -> str:
    lines: list[str] = []
    before = -1
    for number in chosen:
        if number != before + 1:
            lines.append(GAP)
        lines.append(blocks[number])
        before = number
    if chosen and chosen[-1] != len(blocks) - 1:
        lines.append(GAP)
    return "\n".join(lines)

"""Prompt lookup: where a text repeats what it or its prompt said before, the rest is proposed, not computed.

Pure. Knows tokens that were read or written, and how greedy decoding goes on with drafts; nothing of models:
`evaluate` and `reject` are the context's side.

What is written is what would be written without drafts, as far as a batch scores as its tokens do one by one.
llama.cpp's kernels for repacked weights take rows by fours and round differently there, which moves scores by
tenths from then on, as the cuts of a prompt into chunks do; up to three rows change no bit (measured with a
0.5B model). So a draft is three rows long until a passage is clearly being copied.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Generator, Sequence

from muleteer.engine.prefixes import common_prefix

RUNS = (4, 3, 2)  # tokens looked up, the longest first; a single token recurs in any text
FIRST = (
    2  # tokens of a cautious draft: a batch of three scores as one token does, to the last bit (see above)
)
SURE = 10  # tokens in a row that agree with a passage: by then it is being copied, and no score is close
DRAFT = 15  # tokens of a sure draft: with the token before it a batch of 16, all that may have logits
LONGEST_PAUSE = 32  # tokens written plainly between two tries in a text that copies nothing


class Drafter:
    """Proposes how one text goes on.

    After a draft that was mostly wrong the next 1, 2, 4 ... tokens are written plainly; a draft that was
    mostly right ends that. So a text that looks like its source without copying it pays for a handful of
    rejected drafts, whose number grows with the logarithm of its length up to the longest pause.
    """

    def __init__(self, prompt: Sequence[int], longest: int, is_end: Callable[[int], bool]) -> None:
        """`longest` is how many tokens a draft has at most; 0 for no drafts. Tokens that `is_end` names are
        never proposed: they are no part of a text."""
        self._longest, self._is_end = longest, is_end
        self._tokens: list[int] = []
        self._next: dict[tuple[int, ...], int] = {}  # a run of tokens, and where it went on last
        self._pause = self._skip = 0
        self._unread = list(
            prompt
        )  # indexed when it is first looked up: the first token does not wait for that

    def add(self, token: int) -> None:
        """The text grew."""
        self._unread.append(token)

    def _index(self) -> None:
        """A run is indexed once it goes on, so that no run finds itself."""
        for token in self._unread:
            for length in RUNS:
                if len(self._tokens) >= length:
                    self._next[tuple(self._tokens[-length:])] = len(self._tokens)
            self._tokens.append(token)
        self._unread.clear()

    def propose(self, room: int) -> list[int]:
        """At most `room` tokens that may follow; usually none."""
        if self._skip or not self._longest:
            self._skip = max(0, self._skip - 1)
            return []
        self._index()
        found = (self._next.get(tuple(self._tokens[-length:]), 0) for length in RUNS)
        start = next(filter(None, found), 0)
        size = DRAFT if self._agreeing(start) >= SURE else FIRST
        draft = self._tokens[start : start + min(size, room, self._longest)] if start else []
        return list(itertools.takewhile(lambda token: not self._is_end(token), draft))

    def _agreeing(self, start: int) -> int:
        """How many tokens before `start` equal the last ones, as far as it matters."""
        count = 0
        while count < min(SURE, start) and self._tokens[start - 1 - count] == self._tokens[-1 - count]:
            count += 1
        return count

    def verified(self, draft: int, right: int) -> None:
        """Of the tokens proposed last, so many were right."""
        if 2 * right < draft:
            self._pause = self._skip = min(LONGEST_PAUSE, 2 * self._pause or 1)
        elif draft:
            self._pause = 0


def greedy(
    first: int,
    limit: int,
    drafter: Drafter,
    evaluate: Callable[[Sequence[int]], Sequence[int]],
    reject: Callable[[int], None],
) -> Generator[int]:
    """The tokens of greedy decoding from `first` on, at most `limit`, one by one; close it to end the text.

    `evaluate` appends tokens to the context and gives the likeliest token after each; `reject` takes the last
    ones back. Each evaluation takes the last token, which is certain, and what may follow it; the tokens that
    turn out right, and the one after them, are certain in turn. When this ends, the context holds no token
    beyond those that were yielded; the last one may be missing.
    """
    certain, ahead = [first], 0  # tokens to yield, and how many of those not yielded the context holds
    try:
        while limit:
            for token in certain:
                ahead, limit = ahead - 1, limit - 1
                yield token
                drafter.add(token)
            if not limit:
                return
            draft = drafter.propose(limit - 1)
            likeliest = list(evaluate([certain[-1], *draft]))
            right = common_prefix(draft, likeliest)
            drafter.verified(len(draft), right)
            if right < len(draft):
                reject(len(draft) - right)
            certain, ahead = likeliest[: right + 1], right
    finally:
        if ahead > 0:
            reject(ahead)

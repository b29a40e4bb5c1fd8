"""The token ledger: what each request cost, counted where it is evaluated, and what may be spent.

Knows token counts and a clock; nothing of models or text.
"""

from __future__ import annotations

import time
from types import TracebackType

from muleteer.engine.protocol import Use
from muleteer.errors import TooLongError


class Ledger:
    """Sums over all requests. What llama.cpp evaluated since load is exactly
    `totals.decoded + totals.generated + totals.rejected - unevaluated`: the last token of a text needs no
    evaluation."""

    def __init__(self) -> None:
        self.totals = Use()
        self.unevaluated = 0

    def request(self) -> Meter:
        """The account of one request, for a `with` block; whatever way it ends, it is added to the totals."""
        return Meter(self)


class Meter:
    """Counts one request while it runs."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._began = time.perf_counter()
        self._owed = 0
        self._reused = self._decoded = self._generated = self._sampled = self._unevaluated = 0
        self._rejected = 0

    def opens(self, prompt: int, reused: int) -> None:
        """A prompt of so many tokens is about to be decoded, apart from those reused."""
        self._reused, self._owed = reused, prompt - reused

    def evaluated(self, tokens: int) -> None:
        """llama.cpp evaluated tokens: what the prompt still owes, then what follows the prompt."""
        prompt = min(tokens, self._owed)
        self._owed -= prompt
        self._decoded += prompt
        self._generated += tokens - prompt

    def sampled(self) -> None:
        """One token was sampled."""
        self._sampled += 1

    def rejected(self, tokens: int) -> None:
        """Of the tokens evaluated last, so many are no part of the text after all."""
        self._generated -= tokens
        self._rejected += tokens

    def ended_with(self, tokens: int) -> None:
        """The last tokens of a text, which are part of it and never evaluated."""
        self._generated += tokens
        self._unevaluated += tokens

    def use(self) -> Use:
        """What it cost so far."""
        ms = (time.perf_counter() - self._began) * 1000
        prompt = self._reused + self._decoded
        return Use(prompt, self._reused, self._decoded, self._generated, self._sampled, ms, self._rejected)

    def __enter__(self) -> Meter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ledger.totals += self.use()
        self._ledger.unevaluated += self._unevaluated


def check_length(prompt: int, limit: int | None, output: int, context: int) -> None:
    """Raise `TooLongError` unless a prompt fits its limit, and prompt and output fit the context (tokens)."""
    if limit is not None and prompt > limit:
        raise TooLongError(f"The prompt has {prompt} tokens and may have {limit}; send less text.")
    if prompt + output > context:
        raise TooLongError(
            f"The prompt has {prompt} tokens, which with {output} for the output is more than the context of "
            f"{context}; send less text or raise engine.context."
        )

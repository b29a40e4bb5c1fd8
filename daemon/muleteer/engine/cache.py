"""The native cache and its bookkeeping, in step: open a prompt on the longest resident prefix, extend, score.

Every token that llama.cpp evaluates goes through here, is written down in the forest only after it was
evaluated, and is counted by the request's meter. A sequence that must go is parked where it can be brought
back from. Knows tokens and sequences, not text.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np

from muleteer.engine.budget import Meter
from muleteer.engine.llama import Llama, Logits, NoRoomError, Row
from muleteer.engine.pace import Pace
from muleteer.engine.parking import Parked
from muleteer.engine.prefixes import Forest
from muleteer.engine.protocol import Held
from muleteer.engine.tiers import Tiers
from muleteer.errors import EngineError

Check = Callable[[], None]
# A prefix is brought back when that saves decoding so many tokens, and a sixteenth of what must be copied:
# a token's state is read from a slow card (40 MB/s) about 40 times as fast as a Raspberry Pi 5 decodes it.
LEAST_GAIN, LEAST_SHARE = 16, 16

# A sequence that is not constant is parked when so many tokens, and an eighth of it, would be decoded again:
# a conversation, not a menu with one more message.
LEAST_LOSS, LEAST_LOST_SHARE = 64, 8

Part = tuple[int, Sequence[int], Sequence[int]]  # sequence, tokens to append, tokens whose logits are wanted


class Cache:
    """Sequences in the native context."""

    def __init__(self, llama: Llama, forest: Forest, tiers: Tiers | None = None) -> None:
        self._llama, self._forest, self._tiers = llama, forest, tiers or Tiers()
        self._pace = Pace(llama.batch)

    @property
    def held(self) -> Held:
        """What is kept, by tier."""
        return self._tiers.held(Held(self._forest.used, len(self._forest.sequences())))

    @property
    def rows(self) -> int:
        """How many tokens `verify` takes at most: llama.cpp gives logits for no more rows of a batch."""
        return min(self._llama.batch, self._llama.sequences)

    def open(
        self, tokens: Sequence[int], constant: int, tail: Sequence[int], check: Check, meter: Meter
    ) -> tuple[int, Logits]:
        """A sequence that holds `tokens` and then `tail`, and the logits after the last of them.

        The first `constant` tokens get a pinned sequence of their own unless they have one. At least one
        token is decoded, since only decoding gives logits. Raises what `check` raises, between chunks."""
        source, shared = self._match(tokens, len(tokens) if tail else len(tokens) - 1)
        meter.opens(len(tokens), shared)
        constant = min(constant, len(tokens) - 1)
        if constant:
            source, shared = self._pinned(tokens[:constant], source, shared, check, meter)
        if source is not None and self._forest.may_continue(source, shared):
            work = source
            self._forest.hold(work)
        else:
            work = self.fork(source, shared)
        return work, self.extend(work, [*tokens[shared:], *tail], check, meter)

    def keep(self, tokens: Sequence[int], check: Check, meter: Meter) -> None:
        """Make sure that a constant prefix need not be decoded again: it is resident or parked afterwards.

        What is parked stays there unless there is room to spare: this is for later, not for now."""
        source, shared = self._forest.match(tokens, len(tokens))
        if shared < len(tokens):
            parked, there = self._parked(tokens, len(tokens))
            if parked and there == len(tokens):
                if self._forest.has_free_sequence and self._forest.room >= 2 * len(parked.tokens):
                    self._bring_back(parked, there, displace=False)
                meter.opens(there, there)
                return
            source, shared = self._match(tokens, len(tokens))
        meter.opens(len(tokens), shared)
        self._pinned(tokens, source, shared, check, meter, displace=False)

    def _match(self, tokens: Sequence[int], limit: int) -> tuple[int | None, int]:
        """The sequence that shares the longest prefix with `tokens`, brought back if it is parked; and how
        many tokens of it can be reused (at most `limit`)."""
        while True:
            source, shared = self._forest.match(tokens, limit)
            parked, there = self._parked(tokens, limit)
            if parked is None or there - shared < max(LEAST_GAIN, len(parked.tokens) / LEAST_SHARE):
                return source, shared
            if (back := self._bring_back(parked, there)) is not None:
                return back, there

    def _parked(self, tokens: Sequence[int], limit: int) -> tuple[Parked | None, int]:
        """The parked prefix that shares most with `tokens` and fits into this context."""
        return self._tiers.match(tokens, limit, self._llama.partial_reuse, self._forest.capacity)

    def _bring_back(self, parked: Parked, length: int, displace: bool = True) -> int | None:
        """A sequence, held for this request, with the first `length` tokens of a parked prefix; None if its
        state is no good, and then it is forgotten."""
        state = self._tiers.state(parked)
        if state is None:
            return None
        sequence = self.fork(None, 0)
        while self._forest.room < len(parked.tokens):
            self._evict("cell", spare=sequence)
        if not self._llama.restore(sequence, state):
            self._tiers.forget(parked)
            self._forest.drop(sequence)
            return None
        self._forest.extend(sequence, parked.tokens)
        self._tiers.restored()
        if length < len(parked.tokens):
            self.cut(sequence, length)
        elif parked.constant:
            self._forest.pin(sequence, displace)
        else:
            self._tiers.forget(parked)  # it will have grown when it leaves again
        return sequence

    def _pinned(
        self,
        tokens: Sequence[int],
        source: int | None,
        shared: int,
        check: Check,
        meter: Meter,
        displace: bool = True,
    ) -> tuple[int | None, int]:
        """Pin `tokens` and save them; where a prompt that began with them and shared `shared` of `source`
        continues."""
        pin = self._forest.pinned_as(tokens)
        if pin is not None:
            self._forest.touch(pin)
            return source, shared
        if shared > len(tokens) and not self._llama.partial_reuse:
            return source, shared
        pin = self.fork(source, min(shared, len(tokens)))
        if shared < len(tokens):
            self.extend(pin, tokens[shared:], check, meter)
            source, shared = pin, len(tokens)
        self._forest.pin(pin, displace)
        if self._tiers.saves(tokens):
            self._tiers.save(tokens, self._llama.state(pin))
        return source, shared

    def fork(self, source: int | None, length: int) -> int:
        """A new sequence, held for this request, that shares the beginning of another."""
        while not self._forest.has_free_sequence:
            self._evict("sequence", spare=source)
        sequence = self._forest.fork(source, length)
        self._forest.hold(sequence)
        if source is not None:
            self._llama.copy(source, sequence, length)
        return sequence

    def fork_all(self, source: int) -> int:
        """A new sequence, held for this request, that shares all of another."""
        return self.fork(source, self._forest.length(source))

    def drop(self, sequence: int) -> None:
        """Forget a sequence, if it is still known."""
        if self._forest.knows(sequence):
            self._llama.remove(sequence)
            self._forest.drop(sequence)

    def drop_all(self) -> None:
        """Forget every sequence."""
        for sequence in self._forest.sequences():
            self.drop(sequence)

    def clear(self) -> None:
        """Forget every sequence and what is parked in memory."""
        self.drop_all()
        self._tiers.clear()

    def forget_talks(self) -> bool:
        """Forget what is not constant, wherever it is; whether no file of it is left."""
        for sequence in self._forest.sequences():
            if not self._forest.is_constant(sequence):
                self.drop(sequence)
        return self._tiers.forget_talks()

    def close(self) -> None:
        """Let state files under way be written."""
        self._tiers.close()

    def release(self) -> None:
        """The request is over; its sequences stay until their room is needed."""
        self._forest.release()

    def extend(self, sequence: int, tokens: Sequence[int], check: Check, meter: Meter) -> Logits:
        """Append tokens to a sequence, looking for a cancel before each chunk; the logits after the last, a
        view that is valid until the next evaluation."""
        last, begin, size = len(tokens) - 1, 0, 0
        while begin <= last:
            check()
            chunk = tokens[begin : begin + self._pace.size]
            at, size = self._forest.length(sequence), len(chunk)
            rows = [Row(t, at + j, sequence, begin + j == last) for j, t in enumerate(chunk)]
            began = time.perf_counter()
            self._evaluate(rows, {sequence: chunk}, meter)
            self._pace.took(size, time.perf_counter() - began)
            begin += size
        return self._llama.logits(size - 1)

    def verify(self, sequence: int, tokens: Sequence[int], check: Check, meter: Meter) -> list[Logits]:
        """Append up to `rows` tokens to a sequence in one batch; the logits after each of them, views that
        are valid until the next evaluation."""
        check()
        at = self._forest.length(sequence)
        rows = [Row(t, at + j, sequence, True) for j, t in enumerate(tokens)]
        self._evaluate(rows, {sequence: tokens}, meter)
        return [self._llama.logits(row) for row in range(len(tokens))]

    def cut(self, sequence: int, length: int) -> None:
        """Forget the tokens of a sequence after the first `length`. Needs `partial_reuse`."""
        self._llama.remove(sequence, length)
        self._forest.cut(sequence, length)

    def score(self, parts: Sequence[Part], check: Check, meter: Meter) -> list[Logits]:
        """Extend several sequences, in as few batches as possible; for each the wanted logits, copied."""
        results: list[Logits] = []
        rows: list[Row] = []
        group: list[Part] = []
        for sequence, tokens, wanted in parts:
            if len(tokens) > self._llama.batch:
                self.extend(sequence, tokens[:-1], check, meter)
                tokens = tokens[-1:]
            if len(rows) + len(tokens) > self._llama.batch:
                results += self._score(rows, group, check, meter)
                rows, group = [], []
            at, last = self._forest.length(sequence), len(tokens) - 1
            rows += [Row(t, at + j, sequence, j == last) for j, t in enumerate(tokens)]
            group.append((sequence, tokens, wanted))
        return results + self._score(rows, group, check, meter)

    def _score(self, rows: list[Row], group: list[Part], check: Check, meter: Meter) -> list[Logits]:
        check()
        self._evaluate(rows, {sequence: tokens for sequence, tokens, _ in group}, meter)
        ends = [i for i, row in enumerate(rows) if row.logits]
        wanted = [np.asarray(tokens) for _, _, tokens in group]
        return [self._llama.logits(end)[tokens] for end, tokens in zip(ends, wanted, strict=True)]

    def _evaluate(self, rows: Sequence[Row], extended: dict[int, Sequence[int]], meter: Meter) -> None:
        """Evaluate one batch, giving up idle sequences until it finds room."""
        while self._forest.room < len(rows):
            self._evict("cell")
        while True:
            try:
                self._llama.evaluate(rows)
                break
            except NoRoomError:
                self._evict("cell")
            except EngineError:
                for sequence in extended:
                    self.drop(sequence)
                raise
        meter.evaluated(len(rows))
        for sequence, tokens in extended.items():
            self._forest.extend(sequence, tokens)

    def _evict(self, lacking: str, spare: int | None = None) -> None:
        victim = self._forest.victim(spare)
        if victim is None:
            raise EngineError(
                f"The engine has no free {lacking} left for this request; raise engine.context or "
                "engine.sequences, or ask for less at once."
            )
        self._park(victim)
        self.drop(victim)

    def _park(self, sequence: int) -> None:
        """Keep what is worth it of a sequence that must go."""
        tokens, constant = self._forest.tokens(sequence), self._forest.is_constant(sequence)
        _, parked = self._parked(tokens, len(tokens))
        lost = len(tokens) - max(parked, self._forest.others_hold(sequence))
        worth = lost >= max(LEAST_LOSS, len(tokens) / LEAST_LOST_SHARE)
        if not self._tiers.remembers(tokens) if constant else worth:
            self._tiers.park(tokens, self._llama.state(sequence), constant)

"""Where prefixes go that leave the context, and where they come back from: memory first, then disk.

The memory tier holds states as bytes; what it gives up goes to disk if it is constant (planner, skills,
tools). What people said does so only where that is allowed: it is private, and wears out a card.
Knows states as opaque bytes; nothing of llama.cpp.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from muleteer.engine.parking import Parked, Tier
from muleteer.engine.protocol import Held, LoadSettings
from muleteer.engine.states import StateFiles, identify, key

_log = logging.getLogger(__name__)


class Tiers:
    """At most `memory` bytes of states, and those of `files`."""

    def __init__(self, memory: int = 0, files: StateFiles | None = None) -> None:
        self._memory = Tier(memory)
        self._states: dict[str, bytes] = {}
        self._files = files
        self._restored = 0

    def match(
        self, tokens: Sequence[int], limit: int, partial: bool, longest: int
    ) -> tuple[Parked | None, int]:
        """The parked prefix that shares most with `tokens` (see `Tier.match`)."""
        best = self._memory.match(tokens, limit, partial, longest)
        if self._files:
            saved = self._files.tier.match(tokens, limit, partial, longest)
            if saved[1] > best[1]:
                return saved
        return best

    def state(self, parked: Parked) -> bytes | None:
        """The state of a matched prefix; None when it is damaged or gone."""
        if parked.key in self._states:
            self._memory.touch(parked.key)
            return self._states[parked.key]
        return self._files.load(parked) if self._files else None

    def restored(self) -> None:
        """A state was put back into the context."""
        self._restored += 1

    def forget(self, parked: Parked) -> None:
        """llama.cpp refused this state."""
        self._memory.drop(parked.key)
        self._states.pop(parked.key, None)
        if self._files:
            self._files.forget(parked)

    def save(self, tokens: Sequence[int], state: bytes) -> None:
        """Keep a constant prefix on disk."""
        if self._files:
            self._files.save(tokens, state)

    def saves(self, tokens: Sequence[int]) -> bool:
        """Whether `save` would write something."""
        return self._files is not None and not self._files.holds(tokens)

    def remembers(self, tokens: Sequence[int]) -> bool:
        """Whether exactly these tokens are parked in memory."""
        return key(b"", tokens) in self._memory

    def park(self, tokens: Sequence[int], state: bytes, constant: bool) -> None:
        """Keep a prefix that leaves the context in memory; what has no room there goes on."""
        parked = Parked(key(b"", tokens), tuple(tokens), len(state), constant)
        if not self._memory.fits(parked.size):
            gone, self._states[parked.key] = [parked], state
        else:
            gone, self._states[parked.key] = self._memory.put(parked), state
        for each in gone:
            left = self._states.pop(each.key)
            if self._files and (each.constant or self._files.talks):
                self._files.save(each.tokens, left, each.constant)

    def clear(self) -> None:
        """Forget what is in memory."""
        for parked in list(self._memory):
            self._memory.drop(parked.key)
        self._states.clear()

    def forget_talks(self) -> bool:
        """Forget what is not constant; whether no file of it is left."""
        for parked in [each for each in self._memory if not each.constant]:
            self._memory.drop(parked.key)
            del self._states[parked.key]
        return self._files is None or self._files.forget_talks()

    def held(self, resident: Held) -> Held:
        """The tiers' part of the account."""
        if files := self._files:
            files.settle()
        return replace(
            resident,
            memory=self._memory.used,
            memory_prefixes=len(self._memory),
            disk=files.tier.used if files else 0,
            disk_prefixes=len(files.tier) if files else 0,
            restored=self._restored,
            ignored=files.ignored if files else 0,
        )

    def close(self) -> None:
        """Let writes under way finish."""
        if self._files:
            self._files.close()


def open_tiers(model: Path, build: str, settings: LoadSettings) -> Tiers:
    """Where a model's prefixes are parked. A folder that cannot be used is said in the log, no more: the
    engine then decodes at every start."""
    if not settings.states:
        return Tiers(settings.parked_memory)
    try:
        files = StateFiles(
            Path(settings.states), identify(model, build), settings.parked_disk, settings.parked_talks
        )
    except OSError as error:
        _log.warning("Prefixes cannot be saved in %s: %s.", settings.states, error.strerror)
        files = None
    return Tiers(settings.parked_memory, files)

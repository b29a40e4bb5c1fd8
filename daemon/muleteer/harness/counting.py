"""Tokens of static prompts, each counted by the model once and remembered for as long as it is used.

Knows that the model stays the same while the daemon runs. A busy engine answers a question when it can, so
the hundred questions of a menu are not asked again for one tool that has changed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Protocol

from muleteer.engine.protocol import Conversation


class Counts(Protocol):
    """What can count tokens."""

    async def count(self, prompt: Conversation | str) -> int: ...


class Counted:
    """Counts what was not counted `before`; `known` is what was asked for here, by digest."""

    def __init__(self, model: Counts, before: Mapping[bytes, int]) -> None:
        self._model, self._before = model, before
        self.known: dict[bytes, int] = {}

    async def count(self, prompt: Conversation | str) -> int:
        """Tokens. Raises `EngineError`."""
        text = prompt if isinstance(prompt, str) else json.dumps(asdict(prompt), sort_keys=True)
        key = hashlib.sha256(text.encode(errors="backslashreplace")).digest()
        if key not in self.known:
            known = self._before.get(key)
            self.known[key] = await self._model.count(prompt) if known is None else known
        return self.known[key]

"""The sets of tools that guests have sent, prepared once for each content. Knows nothing of conversations."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import asdict

from muleteer.engine.protocol import ToolSpec
from muleteer.harness.staged import Staged

# A household has a few programs that bring tools; each set may have a megabyte of schemas.
SETS = 4


class Shelf:
    """Keeps the sets used last. One is prepared at a time: vetting schemas is work for a processor."""

    def __init__(self) -> None:
        self._sets: OrderedDict[bytes, Staged] = OrderedDict()
        self._busy = asyncio.Lock()

    async def staged(self, tools: Sequence[ToolSpec]) -> Staged:
        """These tools, vetted. In what follows the menu's text is the same for the same tools in the same
        order, so the engine finds the prefixes that it has decoded for them."""
        key = await asyncio.to_thread(_digest, tools)
        if key not in self._sets:
            async with self._busy:
                if key not in self._sets:
                    self._sets[key] = await asyncio.to_thread(Staged, tools, pinned=False)
        staged = self._sets[key]
        self._sets.move_to_end(key)
        while len(self._sets) > SETS:
            self._sets.popitem(last=False)
        return staged


def _digest(tools: Sequence[ToolSpec]) -> bytes:
    return hashlib.sha256(json.dumps([asdict(tool) for tool in tools]).encode()).digest()

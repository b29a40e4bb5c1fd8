"""Sets of tools, prepared once, within a limit."""

from __future__ import annotations

from muleteer.engine.protocol import ToolSpec
from muleteer.harness.guests.shelf import SETS, Shelf


def tools(name: str) -> list[ToolSpec]:
    return [ToolSpec(name, "", {"type": "object", "properties": {}})]


async def test_the_same_tools_are_prepared_once_and_the_oldest_go() -> None:
    shelf = Shelf()
    first = await shelf.staged(tools("a"))
    for i in range(SETS):
        assert await shelf.staged(tools("a")) is first
        await shelf.staged(tools(f"other_{i}"))
    for i in range(SETS):
        await shelf.staged(tools(f"more_{i}"))
    assert await shelf.staged(tools("a")) is not first

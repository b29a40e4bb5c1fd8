"""The ways in which models write tool calls into text: prose and calls out of one stream. Pure.

`Reader` reads a reply in chunks, `parse` a whole one, `arguments` the arguments that a server hands over
apart.
"""

from __future__ import annotations

from collections.abc import Sequence

from muleteer.engine.protocol import ToolSpec
from muleteer.harness.dialects.calls import ToolCall
from muleteer.harness.dialects.reader import Reader
from muleteer.harness.dialects.shapes import arguments

__all__ = ["Reader", "ToolCall", "arguments", "parse"]


def parse(
    text: str, tools: Sequence[ToolSpec], marks: Sequence[str] = (), cut: bool = False
) -> tuple[str, tuple[ToolCall, ...]]:
    """A whole reply as its prose and its calls; what the parameters mean is said in `Reader`."""
    return Reader(tools, marks).read(text, cut)

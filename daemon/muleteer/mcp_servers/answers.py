"""From what an MCP server answers to one `Result`.

Knows the shapes of the protocol's content by the names of their types; knows nothing of connections. The text
is a stranger's: a short one is said as it stands, a long one is a document to answer from.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from muleteer.calling.results import PAYLOAD_LIMIT, clip
from muleteer.tool import Document, Result

SHORT = 300  # characters that are fit to be spoken; what is longer is answered from
ERROR_LIMIT = 500  # characters of a server's own words about a fault


def result_of(tool: str, server: str, blocks: Sequence[Any], structured: object, failed: bool) -> Result:
    """The result of a call of `tool` (its name here). `blocks` are the protocol's content blocks."""
    texts = [said for block in blocks if (said := _text(block))]
    left_out = [what for block in blocks if (what := _not_shown(block))]
    if not texts and structured is not None:
        texts = [json.dumps(structured, ensure_ascii=False, default=str)]
    text = "\n\n".join(texts)
    hidden = f"Not shown: {', '.join(dict.fromkeys(left_out))}." if left_out else ""
    if failed:
        said = clip(" ".join(text.split()), ERROR_LIMIT) or "It gave no reason."
        return Result.error(f"{tool} reports a fault: {said}")
    if not text:
        return Result.ok(hidden, sources=(server,)) if hidden else Result.ok(f"{tool} is done.")
    if len(text) <= SHORT and "\n" not in text:
        return Result.ok(f"{text} {hidden}".rstrip(), sources=(server,))
    said = f"{tool} answered with {len(text):,} characters. {hidden}".rstrip()
    return Result.ok(said, Document(tool, clip(text, PAYLOAD_LIMIT - len(tool))), (server,))


def _text(block: Any) -> str:
    """The words of a text, or of a resource that is one."""
    match block.type:
        case "text":
            found = block.text
        case "resource":
            found = getattr(block.resource, "text", "")
        case "resource_link":
            found = f"{block.name}: {block.uri}"
        case _:
            found = ""
    return str(found).strip()


def _not_shown(block: Any) -> str:
    """What a block is that is no text."""
    match block.type:
        case "image":
            return "an image"
        case "audio":
            return "a sound"
        case "resource" if not hasattr(block.resource, "text"):
            return "a file"
        case _:
            return ""

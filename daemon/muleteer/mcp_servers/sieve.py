"""What comes from a server, before the library reads it: one wrong tool must not cost it all the others.

Knows the list of tools on the wire; every other message passes as it is. The library refuses a whole list for
one entry, and would check answers against output schemas that nobody here has vetted.
"""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

from mcp.client._transport import ReadStream
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCResponse, Tool
from pydantic import ValidationError

Refuse = Callable[[str, str], None]  # of a tool's name and why it is none
Incoming = SessionMessage | Exception


class Sieve:
    """A read stream of the library, sieved."""

    def __init__(self, inner: ReadStream[Incoming], refuse: Refuse) -> None:
        self._inner, self._refuse = inner, refuse

    async def receive(self) -> Incoming:
        return self._sieved(await self._inner.receive())

    async def aclose(self) -> None:
        await self._inner.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Incoming:
        return self._sieved(await anext(self._inner))

    async def __aenter__(self) -> Self:
        await self._inner.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return await self._inner.__aexit__(kind, error, trace)

    def _sieved(self, item: Incoming) -> Incoming:
        if isinstance(item, SessionMessage) and isinstance(item.message, JSONRPCResponse):
            result = item.message.result
            if isinstance(result.get("tools"), list):
                result["tools"] = [each for each in result["tools"] if self._passes(each)]
        return item

    def _passes(self, tool: Any) -> bool:
        """Whether the library can read it. Repairs what many servers leave out."""
        name = str(tool.get("name", "")) if isinstance(tool, dict) else ""
        if isinstance(tool, dict):
            tool.pop("outputSchema", None)
            if isinstance(tool.get("inputSchema"), dict):
                tool["inputSchema"].setdefault("type", "object")
        try:
            Tool.model_validate(tool, by_name=False)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            place = ".".join(str(part) for part in first["loc"])
            self._refuse(name, f"it breaks the protocol: {place} {first['msg']}.")
            return False
        if tool["inputSchema"]["type"] != "object":
            self._refuse(name, "its schema does not describe an object.")
            return False
        return True

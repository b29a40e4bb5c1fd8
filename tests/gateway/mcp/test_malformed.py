"""Messages that are nearly MCP: each gets an answer, none a 500, and the next client is served."""

from __future__ import annotations

import copy
import json
import random
from typing import Any

import httpx

from tests.gateway.mcp.conftest import House

MESSAGES = 300
SEED = 6
VALUES: tuple[Any, ...] = (
    None,
    True,
    -1,
    2**70,
    1.5,
    "",
    "x\0",
    "ask",
    [],
    {},
    [[]],
    {"name": "ask"},
    "é" * 999,
)
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "progressToken": 1,
}
HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
WHOLE: tuple[dict[str, Any], ...] = (
    {"method": "initialize", "params": HELLO},
    {"method": "notifications/cancelled", "params": {"requestId": 1}},
    {"method": "tools/list", "params": {"_meta": META, "cursor": "x"}},
    {
        "method": "tools/call",
        "params": {"name": "calculator", "arguments": {"expression": "1"}, "_meta": META},
    },
    {"method": "tools/call", "params": {"name": "ask", "arguments": {"message": "x"}, "_meta": META}},
    {"method": "server/discover", "params": {"_meta": META}},
)
VERSIONS = ("2026-07-28", "2025-06-18", "2025-11-25", "1999-01-01", "")


def _changed(value: Any, chance: random.Random) -> Any:
    value = copy.deepcopy(value)
    inner, key = value, chance.choice(list(value))
    while isinstance(inner[key], dict) and inner[key] and chance.random() < 0.7:
        inner = inner[key]
        key = chance.choice(list(inner))
    inner[key] = chance.choice(VALUES)
    return value


def _message(chance: random.Random) -> bytes:
    kind = chance.choice(WHOLE)
    made = {"jsonrpc": "2.0", **({} if kind["method"].startswith("notifications") else {"id": 1}), **kind}
    for _ in range(chance.randrange(3)):
        made = _changed(made, chance)
    content = json.dumps(made).encode()
    match chance.randrange(6):
        case 0:
            return content[: chance.randrange(len(content))]
        case 1:
            return bytes(each ^ (chance.random() < 0.005) << chance.randrange(8) for each in content)
        case 2:
            return content.replace(b"ask", chance.choice((b"\\ud800", b"\xff", b"\\u0000")))
    return content


async def test_no_message_is_too_odd(house: House) -> None:
    chance, statuses = random.Random(SEED), set[int]()
    transport = httpx.AsyncHTTPTransport(uds=str(house.path))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost", timeout=20) as http:
        session = ""
        for _ in range(MESSAGES):
            headers = {
                "accept": "application/json, text/event-stream",
                "content-type": "application/json",
                "mcp-protocol-version": chance.choice(VERSIONS),
                "mcp-method": chance.choice(("tools/call", "tools/list")),
                "mcp-session-id": session if chance.random() < 0.8 else "made-up",
            }
            sent = {name: value for name, value in headers.items() if value}
            reply = await http.post("/mcp", content=_message(chance), headers=sent)
            session = reply.headers.get("mcp-session-id", session)
            statuses.add(reply.status_code)
            assert reply.status_code < 500 or reply.status_code == 503, reply.text
    assert {200, 202, 400, 404} <= statuses
    async with house.client() as client:
        assert (await client.list_tools()).tools

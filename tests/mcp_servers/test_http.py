"""A server over HTTP: the token it is shown, and how much it may send."""

from __future__ import annotations

import logging

import pytest

from muleteer.mcp_servers.http import BODY_LIMIT
from muleteer.mcp_servers.settings import McpServerSettings
from tests.mcp_servers.test_servers import opened
from tests.web.misbehaving import endless, serving, whole

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n"


async def test_the_token_is_sent_and_never_logged(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("GARDEN_TOKEN", "open-sesame")
    async with serving() as server:
        server.answers["/mcp"] = whole(b"", status="401 No")
        settings = McpServerSettings(url=server.url("/mcp", "127.0.0.1"), token_variable="GARDEN_TOKEN")
        async with opened(settings) as house:
            await house.until(lambda: house.state()["state"] == "waiting")
            assert "open-sesame" not in str(house.state())
    assert server.asked[0]["authorization"] == "Bearer open-sesame"
    assert "open-sesame" not in caplog.text


async def test_an_answer_without_an_end_costs_the_connection(caplog: pytest.LogCaptureFixture) -> None:
    async with serving() as server:
        server.answers["/mcp"] = endless(HEAD + b'{"x": "', b"y" * 65_536)
        async with opened(McpServerSettings(url=server.url("/mcp", "127.0.0.1"))) as house:
            await house.until(lambda: house.state()["state"] == "waiting")
            assert f"{BODY_LIMIT:,} bytes" in str(house.state()["reason"])

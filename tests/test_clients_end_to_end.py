"""Clients of other people's protocols, on the default model."""

from __future__ import annotations

import sys
from typing import Any

import httpx
import ollama
import pytest
from mcp import Client, StdioServerParameters

from tests.conftest import Served
from tests.gateway.ollama.test_home_assistant import SYSTEM, TOOLS, talk

pytestmark = pytest.mark.model("standard")


async def test_an_agent_asks_by_mcp(served: Served) -> None:
    arguments = ["-m", "muleteer", "mcp", "--socket", str(served.socket)]
    program = StdioServerParameters(command=sys.executable, args=arguments, env=served.environment)
    steps: list[str | None] = []

    async def progress(progress: float, total: float | None, message: str | None) -> None:
        steps.append(message)

    async with Client(program, mode="legacy") as client:
        question = {"message": "What time is it in Istanbul?"}
        answer: Any = await client.call_tool("ask", question, progress_callback=progress)
        direct: Any = await client.call_tool("calculator", {"expression": "17 * 23"})
    assert "Istanbul" in answer.structured_content["answer"]
    assert [call["tool"] for call in answer.structured_content["calls"]] == ["current_time"]
    assert any(str(step).startswith("planner: ") for step in steps)
    assert "391" in direct.content[0].text


async def test_home_assistant_turns_on_a_light(served: Served) -> None:
    async with httpx.AsyncHTTPTransport(uds=str(served.socket)) as transport:
        client = ollama.AsyncClient(host="http://localhost", transport=transport)
        said = [
            ollama.Message(role="system", content=SYSTEM),
            ollama.Message(role="user", content="Turn on the reading lamp"),
        ]
        asked = await talk(client, said, tools=TOOLS)
        shown = await client.show("muleteer")
    (call,) = asked.tool_calls or ()
    assert call.function.name == "HassTurnOn"
    assert "lamp" in str(call.function.arguments["name"]).lower()
    assert shown.details
    assert (shown.details.family, shown.details.quantization_level) == ("qwen2", "Q4_K_M")

"""Just what Home Assistant's integration of Ollama sends, from its settings to a light that is on.

It looks for models by listing them, and every 30 s at what is loaded; talks in streams, always with a wish
for a context of 8192 tokens and a time to stay loaded; and answers calls without naming them, in order.
"""

from __future__ import annotations

import json
from typing import Any

import ollama

from tests.gateway.ollama.conftest import Client
from tests.gateway.visiting import CONTEXT
from tests.harness.scripted import Choose, Fill, Write

MODEL = "muleteer:latest"
SYSTEM = (
    "You are a voice assistant for Home Assistant.\nAnswer questions about the world truthfully.\n"
    "When controlling Home Assistant always call the intent tools. Use HassTurnOn to lock and HassTurnOff to "
    "unlock a lock.\nStatic Context: An overview of the areas and the devices in this smart home:\n"
    "- names: Reading lamp\n  domain: light\n  areas: Study\n"
)
WHERE = {"name": {"type": "string"}, "area": {"type": "string"}, "floor": {"type": "string"}}
KIND = {"domain": {"type": "array", "items": {"type": "string"}}}
LEVEL = {"brightness": {"type": "integer", "minimum": 0, "maximum": 100}}


def tool(name: str, description: str, properties: dict[str, Any]) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "required": []}
    return {"type": "function", "function": {"name": name, "parameters": schema, "description": description}}


TOOLS = [
    tool("HassTurnOn", "Turns on/opens/presses a device or entity.", WHERE | KIND),
    tool("HassTurnOff", "Turns off/closes a device or entity.", WHERE | KIND),
    tool("HassLightSet", "Sets the brightness percentage or color of a light", WHERE | LEVEL),
    tool("GetLiveContext", "Provides real-time information about the CURRENT state of devices.", {}),
]


async def talk(client: ollama.AsyncClient, messages: list[ollama.Message], **more: Any) -> ollama.Message:
    """One round as the integration makes it; the pieces of the stream as one message."""
    stream = await client.chat(
        model=MODEL,
        messages=list(messages),
        stream=True,
        keep_alive=-1,
        options={"num_ctx": 8192.0},  # of a number field, so it has a point
        think=False,
        **{"tools": None, "format": None, **more},
    )
    text, calls = "", list[Any]()
    async for response in stream:
        said = response["message"]
        text += said.get("content") or ""
        calls += said.get("tool_calls") or []
    return ollama.Message(role="assistant", content=text, tool_calls=calls or None)


async def test_it_finds_the_model_and_watches_it(client: Client) -> None:
    listed = await client.ollama.list()
    assert MODEL in {model["model"] for model in listed.get("models", [])}
    loaded = await client.ollama.ps()
    assert [model.model for model in loaded.models] == [MODEL]


async def test_a_light_is_turned_on(client: Client) -> None:
    client.at.script(
        Choose({"HassTurnOn": 1.0}),
        Fill({"name": "Reading lamp", "domain": ["light"]}),
    )
    said = [
        ollama.Message(role="system", content=SYSTEM),
        ollama.Message(role="user", content="Turn on the reading lamp"),
    ]
    asked = await talk(client.ollama, said, tools=TOOLS)
    (call,) = asked.tool_calls or ()
    assert (call.function.name, call.function.arguments["name"]) == ("HassTurnOn", "Reading lamp")
    client.at.script(Choose({"none": 1.0}), Write(("The reading lamp is on.",)))
    done = {"data": {"speech": {}, "data": {"success": [{"name": "Reading lamp"}]}}, "error": None}
    result = ollama.Message(role="tool", content=json.dumps(done))
    answer = await talk(client.ollama, [*said, asked, result], tools=TOOLS)
    assert answer.tool_calls is None
    assert answer.content == "The reading lamp is on."


async def test_without_tools_our_own_skills_answer(client: Client) -> None:
    client.at.script(Choose({"reply": 1.0}), Write(("Good morning.",)))
    said = [
        ollama.Message(role="system", content=SYSTEM),
        ollama.Message(role="user", content="Good morning"),
    ]
    assert (await talk(client.ollama, said)).content == "Good morning."


async def test_a_task_gets_its_structure(client: Client) -> None:
    client.at.script(Fill({"colour": "green"}))
    form = {"type": "object", "properties": {"colour": {"type": "string"}}, "required": ["colour"]}
    said = [ollama.Message(role="user", content="Name a colour")]
    assert json.loads((await talk(client.ollama, said, format=form)).content or "") == {"colour": "green"}


async def test_the_wished_context_is_larger_than_ours_and_that_is_said(client: Client) -> None:
    client.at.script(Choose({"reply": 1.0}), Write(("Hello.",)))
    body = {
        "model": MODEL,
        "messages": [{"role": "user", "content": "Hello"}],
        "options": {"num_ctx": 8192.0},
    }
    reply = await client.http.post("/api/chat", json=body)
    (warning,) = json.loads(reply.text.splitlines()[-1])["muleteer"]["warnings"]
    assert f"8192, but the context here has {CONTEXT} tokens" in warning

"""One call in every way that models of several families write it, and the tools it may name."""

from __future__ import annotations

import json

from muleteer.engine.protocol import CALL_MARKS, ToolSpec

TOOLS = (
    ToolSpec(
        "get_weather",
        "Tells the weather.",
        {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}},
    ),
    ToolSpec("clock", "Tells the time.", {"type": "object", "properties": {}}),
)
ARGUMENTS: dict[str, object] = {"city": 'St. John\'s "old" town: {x}, [y]', "days": 3}
JSON = json.dumps(ARGUMENTS)
CALL = f'{{"name": "get_weather", "arguments": {JSON}}}'
PYTHON = f"get_weather(city={json.dumps(ARGUMENTS['city'])}, days=3)"

WAYS = {
    "hermes": f"<tool_call>\n{CALL}\n</tool_call>",
    "hermes without its end": f"<tool_call>\n{CALL}",
    "hermes with a brace too many": f"<tool_call>{CALL}}}</tool_call>",
    "hermes with a brace too few": f"<tool_call>{CALL[:-1]}</tool_call>",
    "llama3": f'<|python_tag|>{{"name": "get_weather", "parameters": {JSON}}}',
    "llama3 without its mark": f'{{"name": "get_weather", "parameters": {JSON}}}',
    "generic": CALL,
    "with every brace twice": f"{{{CALL}}}",
    "with two braces first": f"{{{CALL}",
    "generic in a list": f"[{CALL}]",
    "arguments before the name (A8)": f'{{"arguments": {JSON}, "name": "get_weather"}}',
    "LFM2 (A11)": f"<|tool_call_start|>[{PYTHON}]<|tool_call_end|>",
    "LFM2 without its marks (A11)": f"[{PYTHON}]",
    "LFM2 by position": f"[get_weather({json.dumps(ARGUMENTS['city'])}, 3)]",
    "Qwen-Coder": f"```json\n{CALL}\n```",
    "a fence without a language": f"```\n{CALL}\n```",
    "a fence that is not closed": f"```json\n{CALL}",
    "homeassistant (A3)": f'```homeassistant\n{{"name": "get_weather", "parameters": {JSON}}}\n```',
    "functioncall (A7)": f"<functioncall {CALL}>",
    "functioncall as a tag": f"<functioncall> {CALL} </functioncall>",
    "Granite": f"<|tool_call|>[{CALL}]",
    "Mistral": f"[TOOL_CALLS] [{CALL}]",
    "OpenAI": json.dumps({"type": "function", "function": {"name": "get_weather", "arguments": JSON}}),
    "a mark within a fence": f"```\n<tool_call>{CALL}</tool_call>\n```",
    "arguments as text": json.dumps({"name": "get_weather", "arguments": JSON}),
}
OWN = {"all marks are its own": CALL_MARKS, "no mark is its own": ()}

"""OpenAI's own client against the daemon with its default model: foreign tools, a stream, a schema."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx2
import openai
import pytest

from tests.conftest import Served
from tests.gateway.openai.eighty import tools

pytestmark = pytest.mark.model("standard")

TIMEOUT = 600.0  # seconds; a busy machine is forgiven
HEATING: list[Any] = [{"role": "user", "content": "Set the heating in the living room to 21.5 degrees."}]
CITY = {"type": "object", "properties": {"city": {"type": "string", "maxLength": 40}}, "required": ["city"]}


@pytest.fixture(scope="module")
def api(served: Served) -> Iterator[openai.OpenAI]:
    transport = httpx2.HTTPTransport(uds=str(served.socket))
    with httpx2.Client(transport=transport, timeout=TIMEOUT) as http:
        yield openai.OpenAI(
            base_url="http://localhost/v1", api_key="none", http_client=http, max_retries=0, timeout=TIMEOUT
        )


def test_one_of_eighty_foreign_tools_is_called_well_and_its_result_answered(api: openai.OpenAI) -> None:
    create = api.chat.completions.create
    asked = create(model="muleteer", messages=HEATING, tools=tools()).choices[0]
    assert asked.finish_reason == "tool_calls"
    (call,) = list[Any](asked.message.tool_calls or ())
    assert call.function.name == "set_thermostat"
    assert json.loads(call.function.arguments) == {"room": "living room", "degrees": 21.5}
    result = {"role": "tool", "tool_call_id": call.id, "content": '{"room": "living room", "set_to": 21.5}'}
    messages: list[Any] = [*HEATING, asked.message.model_dump(exclude_none=True), result]
    answer = create(model="muleteer", messages=messages, tools=tools()).choices[0]
    assert answer.finish_reason == "stop"
    assert "21.5" in (answer.message.content or "")


def test_a_streamed_reply_and_an_answer_under_a_schema(api: openai.OpenAI) -> None:
    create = api.chat.completions.create
    stream = create(
        model="muleteer",
        messages=[{"role": "user", "content": "Tell me a joke."}],
        stream=True,
        stream_options={"include_usage": True},
    )
    chunks = list(stream)
    assert len([chunk for chunk in chunks if chunk.choices and chunk.choices[0].delta.content]) > 1
    assert chunks[-1].usage is not None
    form: Any = {"type": "json_schema", "json_schema": {"name": "city", "schema": CITY, "strict": True}}
    reply = create(
        model="muleteer",
        messages=[{"role": "user", "content": "What is the capital of Norway?"}],
        response_format=form,
    )
    assert json.loads(reply.choices[0].message.content or "") == {"city": "Oslo"}

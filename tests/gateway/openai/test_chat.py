"""Chat completions with OpenAI's own client: replies, streams, calls, schemas, and errors it understands."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import openai
import pytest

from muleteer.engine.protocol import Use
from muleteer.errors import EngineBusyError, LoadingError
from muleteer.harness.staged import NONE
from tests.gateway.openai.conftest import Client
from tests.gateway.scripted import connect, within
from tests.gateway.visiting import BOTH, CONTEXT, HELLO, LIMIT, PLACE, RAIN, REPLY, TOOL
from tests.harness.scripted import Choose, Fill, StuckBrain, Write


async def test_a_reply_of_our_own_skills(client: Client) -> None:
    client.at.script(*REPLY)
    reply = await client.openai.chat.completions.create(model="muleteer", messages=HELLO)
    (choice,) = reply.choices
    assert (choice.message.content, choice.finish_reason) == ("Hello, dear friend.", "stop")
    assert reply.usage is not None
    assert reply.usage.total_tokens == reply.usage.prompt_tokens + reply.usage.completion_tokens


async def test_a_stream_says_the_same_piece_by_piece_and_what_it_cost(client: Client) -> None:
    client.at.script(*REPLY)
    stream = await client.openai.chat.completions.create(
        model="standard", messages=HELLO, stream=True, stream_options={"include_usage": True}
    )
    chunks = [chunk async for chunk in stream]
    told = [chunk.choices[0] for chunk in chunks if chunk.choices]
    assert [choice.delta.content for choice in told] == ["", "Hello, ", "dear ", "friend.", None]
    assert told[0].delta.role == "assistant"
    assert [choice.finish_reason for choice in told] == [None, None, None, None, "stop"]
    assert [chunk.usage is None for chunk in chunks] == [True, True, True, True, True, False]
    assert len({chunk.id for chunk in chunks}) == 1


async def test_the_usage_is_the_sum_of_the_ledger(client: Client) -> None:
    client.at.script(*REPLY)
    reply = await client.openai.chat.completions.create(model="muleteer", messages=HELLO)
    levels = reply.model_extra["muleteer"]["levels"] if reply.model_extra else []
    spent = sum(
        (Use(level["prompt"], level["reused"], generated=level["generated"]) for level in levels), Use()
    )
    assert [level["name"] for level in levels] == ["planner", "reply"]
    usage = reply.usage
    assert usage is not None
    assert usage.prompt_tokens_details is not None
    assert usage.completion_tokens_details is not None
    assert (usage.prompt_tokens, usage.completion_tokens) == (spent.prompt, spent.generated)
    assert usage.prompt_tokens_details.cached_tokens == spent.reused
    assert usage.completion_tokens_details.reasoning_tokens == levels[0]["generated"]


async def test_several_calls_in_one_reply_their_results_and_the_answer(client: Client) -> None:
    client.at.script(*BOTH)
    create = client.openai.chat.completions.create
    asked = (await create(model="muleteer", messages=RAIN, tools=[TOOL])).choices[0]
    assert asked.finish_reason == "tool_calls"
    assert asked.message.content is None
    calls: list[Any] = list(asked.message.tool_calls or ())
    assert [json.loads(call.function.arguments)["place"] for call in calls] == ["Oslo", "Rome"]
    results = [{"role": "tool", "tool_call_id": call.id, "content": "dry"} for call in reversed(calls)]
    client.at.script(Choose({NONE: 1.0}), Write(("It is dry in both.",)))
    messages: list[Any] = [*RAIN, asked.message.model_dump(exclude_none=True), *results]
    answer = (await create(model="muleteer", messages=messages, tools=[TOOL])).choices[0]
    assert (answer.message.content, answer.finish_reason) == ("It is dry in both.", "stop")


async def test_calls_in_a_stream(client: Client) -> None:
    client.at.script(*BOTH)
    async with client.openai.chat.completions.stream(model="muleteer", messages=RAIN, tools=[TOOL]) as stream:
        final = await stream.get_final_completion()
    calls = final.choices[0].message.tool_calls or []
    assert [json.loads(call.function.arguments)["place"] for call in calls] == ["Oslo", "Rome"]
    assert final.choices[0].finish_reason == "tool_calls"


async def test_one_call_where_they_may_not_be_parallel_or_one_is_named(client: Client) -> None:
    create = client.openai.chat.completions.create
    client.at.script(Choose({"weather": 1.0}), Fill({"place": "Oslo"}))
    one = await create(model="muleteer", messages=RAIN, tools=[TOOL], parallel_tool_calls=False)
    client.at.script(Fill({"place": "Oslo"}))
    named: Any = {"type": "function", "function": {"name": "weather"}}
    other = await create(model="muleteer", messages=RAIN, tools=[TOOL], tool_choice=named)
    client.at.script(Choose({NONE: 0.9, "weather": 0.1}), Fill({"place": ""}))
    must = await create(model="muleteer", messages=HELLO, tools=[TOOL], tool_choice="required")
    assert [len(each.choices[0].message.tool_calls or ()) for each in (one, other, must)] == [1, 1, 1]
    client.at.script(Write(("Hi.",)))
    none = await create(model="muleteer", messages=HELLO, tools=[TOOL], tool_choice="none")
    assert none.choices[0].message.content == "Hi."


async def test_an_answer_under_a_schema(client: Client) -> None:
    client.at.script(Fill({"place": "Oslo"}))
    form: Any = {"type": "json_schema", "json_schema": {"name": "x", "schema": PLACE, "strict": True}}
    create = client.openai.chat.completions.create
    reply = await create(model="muleteer", messages=HELLO, response_format=form)
    assert json.loads(reply.choices[0].message.content or "") == {"place": "Oslo"}
    client.at.script(Fill({"any": [1]}))
    reply = await create(model="muleteer", messages=HELLO, response_format={"type": "json_object"})
    assert json.loads(reply.choices[0].message.content or "") == {"any": [1]}
    form["json_schema"]["schema"] = {"type": "object", "properties": {"a": {"not": {}}}}
    with pytest.raises(openai.BadRequestError, match=r"/properties/a cannot be enforced \(not\)") as refused:
        await create(model="muleteer", messages=HELLO, response_format=form)
    assert refused.value.param == "response_format"


async def test_embeddings_are_refused_in_a_sentence(client: Client) -> None:
    with pytest.raises(openai.NotFoundError, match="No embeddings are made here") as refused:
        await client.openai.embeddings.create(model="muleteer", input="hello")
    assert (refused.value.code, refused.value.type) == ("unsupported", "invalid_request_error")


async def test_the_models_and_the_one_that_is_not_there(client: Client) -> None:
    assert [model.id async for model in client.openai.models.list()] == ["muleteer", "standard"]
    assert (await client.openai.models.retrieve("standard")).owned_by == "muleteer"
    with pytest.raises(openai.NotFoundError, match="use `muleteer` or `standard`"):
        await client.openai.models.retrieve("gpt-4o")
    with pytest.raises(openai.NotFoundError) as refused:
        await client.openai.chat.completions.create(model="gpt-4o", messages=HELLO)
    assert refused.value.code == "model_not_found"


async def test_what_is_too_long_is_refused_with_both_counts(client: Client) -> None:
    long: list[Any] = [{"role": "user", "content": "word " * CONTEXT}]
    for tools in ([], [TOOL]):
        for stream in (False, True):
            status, error = await client.post(model="muleteer", messages=long, tools=tools, stream=stream)
            assert (status, error["code"]) == (400, "context_length_exceeded")
            assert "4096" in str(error["message"]) or "tokens" in str(error["message"])


async def test_a_full_house_says_when_to_come_again(client: Client) -> None:
    brain = StuckBrain()
    client.at.harness.brain = brain
    waiting = [
        asyncio.create_task(client.openai.chat.completions.create(model="muleteer", messages=HELLO))
        for _ in range(LIMIT)
    ]
    await within(brain.began)
    while client.at.turns.counts()["running"] < LIMIT:
        await client.http.get("/healthz")
    with pytest.raises(openai.InternalServerError) as refused:
        await client.openai.chat.completions.create(model="muleteer", messages=HELLO)
    assert refused.value.status_code == 503
    assert int(refused.value.response.headers["retry-after"]) > 0
    for task in waiting:
        task.cancel()
    await asyncio.wait(waiting)


async def test_a_busy_engine_is_no_fault_of_the_client(client: Client) -> None:
    client.at.script(EngineBusyError("The engine is busy.", 7.0))
    status, error = await client.post(model="muleteer", messages=HELLO)
    assert (status, error["code"], error["type"]) == (503, "busy", "server_error")
    client.at.script(LoadingError("The model is loading."))
    status, error = await client.post(model="muleteer", messages=HELLO)
    assert (status, error["code"], error["type"]) == (503, "loading", "server_error")


async def test_a_client_that_leaves_frees_the_engine(client: Client) -> None:
    brain = StuckBrain()
    client.at.harness.brain = brain
    for stream in (False, True):
        brain.began.clear()
        brain.freed.clear()
        body = json.dumps({"model": "muleteer", "stream": stream, "messages": HELLO})
        async with connect(client.path) as raw:
            head = "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
            await raw.send(f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode())
            await within(brain.began)
            if stream:
                assert b"text/event-stream" in await raw.until(b": keep-alive\n\n")
        await within(brain.freed)


async def test_a_stop_of_the_daemon_is_the_last_event_of_a_stream(client: Client) -> None:
    brain = StuckBrain()
    client.at.harness.brain = brain
    stream = await client.openai.chat.completions.create(model="muleteer", messages=HELLO, stream=True)
    client.at.turns.stop()
    with pytest.raises(openai.APIError, match="The daemon is stopping"):
        async for _ in stream:
            pass


@pytest.mark.parametrize("depth", [90, 190, 5000])
@pytest.mark.parametrize("place", ["tools", "response_format"])
async def test_what_is_nested_deeply_is_a_fault_of_the_client(client: Client, depth: int, place: str) -> None:
    deep = '{"properties":{"a":' * depth + '{"type":"object"}' + "}}" * depth
    form = {"type": "json_schema", "json_schema": {"schema": "DEEP"}}
    tool = {"type": "function", "function": {"name": "deep", "parameters": "DEEP"}}
    body = json.dumps({"model": "muleteer", "messages": HELLO, place: form if place != "tools" else [tool]})
    reply = await client.http.post(
        "/v1/chat/completions",
        content=body.replace('"DEEP"', deep),
        headers={"content-type": "application/json"},
    )
    assert reply.status_code == 400
    assert "deep" in reply.json()["error"]["message"] or "recursion" in reply.json()["error"]["message"]

"""`/api` with Ollama's own client: replies, streams, calls, schemas, the model, and errors it understands."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import ollama
import pytest

import muleteer
from muleteer.errors import EngineBusyError
from muleteer.gateway.ollama.models import FOREVER
from muleteer.gateway.ollama.routes import RUNNING, STAYS
from muleteer.harness.staged import NONE
from tests.gateway.ollama.conftest import Client
from tests.gateway.scripted import connect
from tests.gateway.visiting import BOTH, CONTEXT, HELLO, LIMIT, PLACE, RAIN, REPLY, TOOL
from tests.harness.scripted import Choose, Fill, StuckBrain, Write


async def test_a_stream_is_lines_of_pieces_and_it_is_the_default(client: Client) -> None:
    client.at.script(*REPLY)
    reply = await client.http.post("/api/chat", json={"model": "muleteer", "messages": HELLO})
    assert reply.headers["content-type"] == "application/x-ndjson"
    *pieces, last = map(json.loads, reply.text.splitlines())
    assert [piece["message"] for piece in pieces if piece["message"]["content"]] == [
        {"role": "assistant", "content": text} for text in ("Hello, ", "dear ", "friend.")
    ]
    assert {piece["done"] for piece in pieces} == {False}
    assert (last["done"], last["done_reason"]) == (True, "stop")
    assert last["message"] == {"role": "assistant", "content": ""}


async def test_one_object_says_what_it_cost(client: Client) -> None:
    client.at.script(*REPLY)
    status, reply = await client.post("/api/chat", model="standard:latest", messages=HELLO, stream=False)
    assert (status, reply["message"]["content"], reply["model"]) == (
        200,
        "Hello, dear friend.",
        "standard:latest",
    )
    levels = reply["muleteer"]["levels"]
    assert [level["name"] for level in levels] == ["planner", "reply"]
    assert reply["prompt_eval_count"] == sum(level["prompt"] for level in levels)
    assert reply["prompt_eval_cached_count"] == sum(level["reused"] for level in levels)
    assert reply["eval_count"] == levels[1]["generated"], "the planner's choice is not in the reply"
    parts = [reply[f"{name}_duration"] for name in ("load", "prompt_eval", "eval")]
    assert min(parts) >= 0
    assert abs(sum(parts) - reply["total_duration"]) <= 3, "nanoseconds, each rounded"


async def test_the_client_of_ollama_reads_both(client: Client) -> None:
    client.at.script(*REPLY, *REPLY)
    whole = await client.ollama.chat("muleteer", HELLO)
    assert (whole.message.content, whole.done_reason) == ("Hello, dear friend.", "stop")
    pieces = [piece async for piece in await client.ollama.chat("muleteer", HELLO, stream=True)]
    assert "".join(piece.message.content or "" for piece in pieces) == "Hello, dear friend."
    assert (pieces[-1].done, pieces[-1].eval_count) == (True, whole.eval_count)


async def test_calls_are_objects_and_their_results_go_on(client: Client) -> None:
    client.at.script(*BOTH)
    asked = (await client.ollama.chat("muleteer", RAIN, tools=[TOOL])).message
    calls = [(call.function.name, call.function.arguments) for call in asked.tool_calls or ()]
    assert calls == [("weather", {"place": "Oslo"}), ("weather", {"place": "Rome"})]
    client.at.script(Choose({NONE: 1.0}), Write(("Oslo is wet, Rome is dry.",)))
    results = [
        {"role": "tool", "content": "dry in Rome", "tool_name": "weather"},
        {"role": "tool", "content": "wet in Oslo", "tool_name": "weather"},
    ]
    answer = await client.ollama.chat("muleteer", [*RAIN, asked, *results], tools=[TOOL])
    assert answer.message.content == "Oslo is wet, Rome is dry."
    assert answer.done_reason == "stop"


async def test_calls_in_a_stream_come_in_one_piece(client: Client) -> None:
    client.at.script(*BOTH)
    pieces = [piece async for piece in await client.ollama.chat("muleteer", RAIN, tools=[TOOL], stream=True)]
    called = [piece for piece in pieces if piece.message.tool_calls]
    assert [len(piece.message.tool_calls or ()) for piece in called] == [2]
    assert pieces[-1].done
    assert not pieces[-1].message.tool_calls


@pytest.mark.parametrize(
    "written",
    [
        '{"name": "weather", "arguments": {"place": "Oslo"}}',
        '{"arguments": {"place": "Oslo"}, "name": "weather"}',
        '```homeassistant\n{"name": "weather", "parameters": {"place": "Oslo"}}\n```',
        '<functioncall {"name": "weather", "arguments": {"place": "Oslo"}}>',
        '[weather(place="Oslo")]',
    ],
)
async def test_a_call_that_a_model_writes_as_text_is_made_and_not_shown(client: Client, written: str) -> None:
    client.at.script(Choose({NONE: 1.0}), Write(tuple(written)), Fill({"place": "Oslo"}))
    pieces = [piece async for piece in await client.ollama.chat("muleteer", RAIN, tools=[TOOL], stream=True)]
    assert not any(piece.message.content for piece in pieces)
    (called,) = (call for piece in pieces for call in piece.message.tool_calls or ())
    assert (called.function.name, called.function.arguments) == ("weather", {"place": "Oslo"})


async def test_a_deed_that_no_call_did_is_not_claimed(client: Client) -> None:
    client.at.script(Choose({NONE: 1.0}), Write(("I have turned off the kitchen light.",)))
    said: list[Any] = [{"role": "user", "content": "Turn off the kitchen light"}]
    reply = await client.ollama.chat("muleteer", said, tools=[TOOL])
    assert reply.message.content == "That was not done: no tool was called for it."


async def test_a_format_is_kept_to(client: Client) -> None:
    client.at.script(Fill({"place": "Rome"}))
    answer = await client.ollama.chat("muleteer", RAIN, format=PLACE)
    assert json.loads(answer.message.content or "") == {"place": "Rome"}


async def test_a_format_that_cannot_be_kept_to_is_refused_by_its_own_name(client: Client) -> None:
    bad = {"type": "object", "properties": {"a": {"type": "string", "pattern": "(?=x)"}}}
    with pytest.raises(ollama.ResponseError, match=r"^format has a schema that") as refused:
        await client.ollama.chat("muleteer", RAIN, format=bad)
    assert refused.value.status_code == 400


async def test_a_prompt_is_one_message(client: Client) -> None:
    client.at.script(*REPLY, *REPLY)
    whole = await client.ollama.generate("muleteer", "hello", system="You are a cat.")
    assert (whole.response, whole.done_reason) == ("Hello, dear friend.", "stop")
    pieces = [piece async for piece in await client.ollama.generate("muleteer", "hello", stream=True)]
    assert "".join(piece.response or "" for piece in pieces) == "Hello, dear friend."


async def test_options_cut_the_reply(client: Client) -> None:
    client.at.script(*REPLY, *REPLY)
    stopped = await client.ollama.chat("muleteer", HELLO, options={"stop": ["dear"], "temperature": 0.7})
    assert (stopped.message.content or "").strip() == "Hello,"
    cut = await client.ollama.chat("muleteer", HELLO, options={"num_predict": 1})
    assert cut.done_reason == "length"
    assert len(cut.message.content or "") < len("Hello, dear friend.")


async def test_what_is_not_honoured_is_said(client: Client) -> None:
    client.at.script(*REPLY)
    options = {"num_ctx": float(CONTEXT * 2), "num_predict": -1, "num_gpu": 1, "colour": "red"}
    body = {"model": "muleteer", "messages": HELLO, "stream": False, "options": options, "shift": False}
    _, reply = await client.post("/api/chat", **body, mood="good")
    told = reply["muleteer"]["warnings"]
    assert [each.split()[0] for each in told] == ["mood", "shift", "options.num_ctx", "options.colour"]
    assert f"is {CONTEXT * 2}, but the context here has {CONTEXT} tokens" in told[2]


@pytest.mark.parametrize(
    ("path", "body", "said"),
    [
        ("chat", {}, "model is missing"),
        ("chat", {"messages": "hello"}, "messages must be a list"),
        (
            "chat",
            {"messages": [{"role": "wizard", "content": "x"}]},
            "messages[0].role must be one of",
        ),
        ("chat", {"messages": [{"role": "user", "content": 7}]}, "messages[0].content must be a string"),
        ("chat", {"messages": [{"role": "user", "content": "x", "images": ["aGk="]}]}, "cannot be read here"),
        ("chat", {"messages": [{"role": "system", "content": "x"}]}, "must hold a message of the user"),
        ("chat", {"think": True}, "think cannot be on"),
        ("chat", {"format": "xml"}, "format must be one of 'json'"),
        ("chat", {"stream": "yes"}, "stream must be true or false"),
        ("chat", {"options": {"num_predict": 0}}, "options.num_predict must be at least 1"),
        ("chat", {"options": {"num_ctx": 1.5}}, "options.num_ctx must be a whole number"),
        ("chat", {"options": {"stop": [""]}}, "options.stop[0] must have 1 to 256 characters"),
        ("chat", {"logprobs": True}, "no probabilities are given"),
        ("chat", {"tools": [{"type": "function"}]}, "tools[0].function is missing"),
        ("generate", {"raw": True}, "raw is not supported"),
        ("generate", {"template": "{{.Prompt}}"}, "template is not supported"),
        ("generate", {"suffix": "x"}, "suffix is not supported"),
        ("generate", {"context": [1, 2]}, "context is not supported"),
        ("generate", {"images": ["aGk="]}, "images is not supported"),
    ],
)
async def test_what_would_be_silently_wrong_is_refused(
    client: Client, path: str, body: dict[str, object], said: str
) -> None:
    named = {} if said.startswith("model") else {"model": "muleteer"}
    asked = {"messages": HELLO} if path == "chat" else {"prompt": "hello"}
    status, reply = await client.post(f"/api/{path}", **{**named, **asked, **body})
    assert status == 400
    assert said in reply["error"]


@pytest.mark.parametrize("text", ["", "x", "[]", '{"model": ', "[" * 5000, '{"model": NaN}', "\udcff"])
async def test_what_is_no_object_is_refused(client: Client, text: str) -> None:
    for path in ("chat", "generate", "show"):
        reply = await client.http.post(f"/api/{path}", content=text.encode(errors="surrogateescape"))
        assert reply.status_code == 400
        assert isinstance(reply.json()["error"], str)


async def test_a_conversation_that_was_cut_between_call_and_result_is_taken(client: Client) -> None:
    client.at.script(*REPLY)
    call = {"function": {"name": "weather", "arguments": {"place": "Oslo"}}}
    messages = [
        {"role": "system", "content": "You are a voice assistant."},
        {"role": "tool", "content": "its call was cut off"},
        {"role": "assistant", "content": "It is wet."},
        {"role": "user", "content": "And in Rome?"},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        *HELLO,
    ]
    _, reply = await client.post("/api/chat", model="muleteer", messages=messages, stream=False)
    assert reply["message"]["content"] == "Hello, dear friend."
    assert len(reply["muleteer"]["warnings"]) == 2


@pytest.mark.parametrize("path", ["chat", "generate"])
async def test_asking_for_nothing_loads_or_unloads(client: Client, path: str) -> None:
    said = {"message": {"role": "assistant", "content": ""}} if path == "chat" else {"response": ""}
    for body, reason in (({}, "load"), ({"keep_alive": 0}, "unload"), ({"keep_alive": "0s"}, "unload")):
        _, reply = await client.post(f"/api/{path}", model="muleteer", stream=False, **body)
        assert (reply["done"], reply["done_reason"]) == (True, reason)
        assert reply.items() >= said.items()
        assert reply["muleteer"]["warnings"] == ([STAYS] if reason == "unload" else [])
    assert client.woken == [True]
    streamed = await client.http.post(f"/api/{path}", json={"model": "muleteer"})
    assert json.loads(streamed.text)["done_reason"] == "load"


async def test_a_model_that_is_not_here_is_not_found(client: Client) -> None:
    with pytest.raises(
        ollama.ResponseError, match=r"model 'llama3\.2' not found; this device has"
    ) as refused:
        await client.ollama.chat("llama3.2", HELLO)
    assert refused.value.status_code == 404
    with pytest.raises(ollama.ResponseError, match="not found"):
        await client.ollama.show("llama3.2")


async def test_the_model_is_listed_shown_and_watched(client: Client) -> None:
    listed = (await client.ollama.list()).models
    assert [model.model for model in listed] == ["muleteer:latest", "standard:latest"]
    assert {model.size for model in listed} == {13}
    details = listed[0].details
    assert details is not None
    assert (details.family, details.parameter_size, details.quantization_level) == ("qwen2", "1.5B", "Q4_K_M")
    shown = await client.ollama.show("standard")
    assert shown.capabilities == ["completion", "tools"]
    assert dict(shown.modelinfo or {})["qwen2.context_length"] == CONTEXT
    _, old = await client.post("/api/show", name="muleteer")
    assert old["details"]["format"] == "gguf"
    (loaded,) = (await client.ollama.ps()).models
    assert (loaded.model, loaded.context_length, loaded.size) == ("muleteer:latest", CONTEXT, 1_000_500)
    assert loaded.size_vram == 0
    assert (await client.http.get("/api/ps")).json()["models"][0]["expires_at"] == FOREVER
    client.unload()
    assert not (await client.ollama.ps()).models


async def test_the_version_is_told(client: Client) -> None:
    told = (await client.http.get("/api/version")).json()
    assert told["muleteer"] == muleteer.__version__
    assert tuple(map(int, told["version"].split("."))) >= (0, 6, 4), "what the pickiest client asks for"


@pytest.mark.parametrize("accept", ["*/*", "application/json", ""])
async def test_the_root_says_what_clients_look_for(client: Client, accept: str) -> None:
    reply = await client.http.get("/", headers={"accept": accept})
    assert (reply.status_code, reply.text) == (200, RUNNING)
    assert (await client.http.head("/", headers={"accept": accept})).status_code == 200


async def test_the_root_is_left_to_the_page_for_a_browser(client: Client) -> None:
    reply = await client.http.get("/", headers={"accept": "text/html,application/xhtml+xml,*/*;q=0.8"})
    assert reply.text != RUNNING


async def test_what_a_device_does_not_do_is_refused_in_words(client: Client) -> None:
    for asked in (
        client.ollama.pull("llama3.2"),
        client.ollama.push("muleteer"),
        client.ollama.create("x", from_="muleteer"),
        client.ollama.delete("muleteer"),
        client.ollama.copy("muleteer", "x"),
        client.ollama.embed("muleteer", "hello"),
        client.ollama.embeddings("muleteer", "hello"),
    ):
        with pytest.raises(ollama.ResponseError) as refused:
            await asked
        assert refused.value.status_code == 400
        assert refused.value.error.endswith(".")
    status, reply = await client.post("/api/nothing")
    assert (status, isinstance(reply["error"], str)) == (404, True)


async def test_a_body_needs_no_type(client: Client) -> None:
    """As curl sends it."""
    client.at.script(*REPLY)
    headers = {"content-type": "application/x-www-form-urlencoded"}
    body = json.dumps({"model": "muleteer", "messages": HELLO, "stream": False})
    reply = await client.http.post("/api/chat", content=body, headers=headers)
    assert reply.json()["message"]["content"] == "Hello, dear friend."


async def test_too_many_at_once_are_told_so(client: Client) -> None:
    client.at.harness.brain = StuckBrain()
    asked = [asyncio.create_task(client.ollama.chat("muleteer", HELLO)) for _ in range(LIMIT)]
    await client.running(LIMIT)
    with pytest.raises(ollama.ResponseError) as busy:
        await client.ollama.chat("muleteer", HELLO)
    assert busy.value.status_code == EngineBusyError.status
    for each in asked:
        each.cancel()
    await asyncio.wait(asked)


async def test_a_silent_stream_says_that_it_lives(client: Client) -> None:
    client.at.harness.brain = StuckBrain()
    body = json.dumps({"model": "muleteer", "messages": HELLO}).encode()
    head = f"POST /api/chat HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    async with connect(client.path) as raw:
        await raw.send(head + body)
        assert b'"content":""}' in await raw.until(b'"done":false}\n')


async def test_a_failure_in_the_middle_is_the_last_line(client: Client) -> None:
    client.at.harness.brain = StuckBrain()
    stream = await client.ollama.chat("muleteer", HELLO, stream=True)
    assert (await anext(stream)).message.content == ""
    client.at.turns.stop()
    with pytest.raises(ollama.ResponseError, match="The daemon is stopping"):
        async for _ in stream:
            pass


async def test_a_client_that_leaves_frees_the_engine(client: Client) -> None:
    stuck = StuckBrain()
    client.at.harness.brain = stuck
    for stream in (True, False):
        asking = asyncio.create_task(client.http.post("/api/chat", json=HELLO_TO | {"stream": stream}))
        await client.running(1)
        asking.cancel()
        await client.running(0)


HELLO_TO: dict[str, object] = {"model": "muleteer", "messages": HELLO}

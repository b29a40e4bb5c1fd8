"""Asking a server for a chat completion: what is sent, what counts as a call, and who is at fault."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest

from muleteer.engine.protocol import Message, ToolSpec
from muleteer.errors import EngineError, RequestError
from muleteer.evaluate.endpoint.asking import ask, reply_of

TOOL = ToolSpec("lamp", "Switch the lamp.", {"type": "object", "properties": {"on": {"type": "boolean"}}})
ASKED = (Message("user", "lamp on"),)


def completion(*arguments: str, **more: object) -> dict[str, Any]:
    calls = [{"function": {"name": "lamp", "arguments": each}} for each in arguments]
    usage = {
        "prompt_tokens": 100,
        "completion_tokens": 7,
        "prompt_tokens_details": {"cached_tokens": 60},
    }
    return {"choices": [{"message": {"content": None, "tool_calls": calls}}], "usage": usage, **more}


@asynccontextmanager
async def server(status: int, reply: object, seen: list[bytes]) -> AsyncIterator[httpx.AsyncClient]:
    """Answers one request with this."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        length = next(
            int(line.split(":")[1]) for line in head.splitlines() if "content-length" in line.lower()
        )
        seen.append(await reader.readexactly(length))
        body = json.dumps(reply).encode()
        writer.write(f"HTTP/1.1 {status} X\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as listening:
        port = listening.sockets[0].getsockname()[1]
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", trust_env=False) as http:
            yield http


async def test_a_caller_sends_its_tools_and_reads_the_calls() -> None:
    seen: list[bytes] = []
    async with server(200, completion('{"on": true}'), seen) as http:
        reply = await ask(http, "standard", ASKED, [TOOL])
    assert reply.calls == [("lamp", {"on": True})]
    assert (reply.use.prompt, reply.use.reused, reply.use.decoded, reply.use.generated) == (100, 60, 40, 7)
    sent = json.loads(seen[0])
    assert (sent["messages"], sent["temperature"]) == ([{"role": "user", "content": "lamp on"}], 0)
    assert sent["tools"][0]["function"]["parameters"] == TOOL.parameters


def test_what_llama_cpp_says_it_decoded_comes_first_and_a_broken_call_is_none() -> None:
    reply = reply_of(completion('{"on": tru', "[1]", timings={"prompt_n": 12}), 2.0)
    assert (reply.calls, reply.use.decoded, reply.use.reused, reply.use.ms) == ([], 12, 88, 2000)


async def test_a_refusal_is_told_from_a_server_that_is_gone() -> None:
    async with server(400, {"error": "too many tools"}, []) as http:
        with pytest.raises(RequestError, match=r"refused \(400\).*too many tools"):
            await ask(http, "standard", ASKED, [TOOL])
    async with httpx.AsyncClient(base_url="http://127.0.0.1:1", trust_env=False) as http:
        with pytest.raises(EngineError, match="does not answer"):
            await ask(http, "standard", ASKED, [TOOL])
    with pytest.raises(RequestError, match="no chat completion"):
        reply_of({"choices": []}, 1.0)


async def test_an_answer_that_takes_too_long_is_a_wrong_one() -> None:
    left = asyncio.Event()

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()
        await writer.wait_closed()
        left.set()

    async with await asyncio.start_server(silent, "127.0.0.1", 0) as listening:
        address = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
        async with httpx.AsyncClient(base_url=address, timeout=0.2, trust_env=False) as http:
            with pytest.raises(RequestError, match=r"no answer within 0\.2 seconds"):
                await ask(http, "standard", ASKED, [TOOL])
        await left.wait()

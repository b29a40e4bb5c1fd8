"""An error is told in the words of the protocol that was asked, also where none of its own parts was reached:
without a token, with too small a scope, at a path or by a method that is not there, by a fault of ours."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import ollama
import openai
import pytest
from starlette.requests import Request
from starlette.routing import Route

from muleteer.gateway import faults
from muleteer.gateway.guests import Guests
from muleteer.gateway.ollama.models import Models
from muleteer.gateway.ollama.routes import ollama_routes
from muleteer.gateway.openai.routes import openai_routes
from muleteer.gateway.server import LARGEST_HEAD
from muleteer.skills import Catalogue
from tests.gateway.networked import Networked, networked
from tests.gateway.visiting import CONTEXT, HELLO, status, visit

SHOW = "Show a token: Authorization: Bearer TOKEN;"


@pytest.fixture
async def net(folder: Path, catalogue: Catalogue) -> AsyncIterator[Networked]:
    at = visit()

    async def wake() -> None: ...
    async def broken(request: Request) -> Any:
        raise ZeroDivisionError

    crashes = [Route(f"{root}/broken", broken) for root in ("/v1", "/v1/chat", "/api", "/mcp")]

    def routes(turns: Any) -> Any:
        guests = Guests(turns, at.harness, status, "standard", CONTEXT)
        models = Models(guests, status, "standard", folder, CONTEXT, 0.0)
        return [*crashes, *openai_routes(guests), *ollama_routes(guests, models, wake)]

    async with networked(folder, catalogue, guests=routes) as net:
        yield net


async def test_ollamas_own_client_reads_that_a_token_is_wanted(net: Networked) -> None:
    async with ollama.AsyncClient(host=net.url, headers={"authorization": "Bearer made-up"}) as client:
        with pytest.raises(ollama.ResponseError) as refused:
            await client.chat("muleteer", messages=HELLO)
        with pytest.raises(ollama.ResponseError, match=SHOW):
            async for _ in await client.generate("muleteer", "x", stream=True):
                pass
    assert refused.value.status_code == 401
    assert str(refused.value.error).startswith(SHOW)


async def test_openais_own_client_reads_that_a_token_is_wanted(net: Networked) -> None:
    async with httpx2.AsyncClient() as http:
        client = openai.AsyncOpenAI(
            base_url=f"{net.url}/v1", api_key="made-up", http_client=http, max_retries=0
        )
        with pytest.raises(openai.AuthenticationError) as refused:
            await client.chat.completions.create(model="muleteer", messages=HELLO)
        with pytest.raises(openai.AuthenticationError):
            await client.models.list()
    assert (refused.value.code, refused.value.type) == ("unauthorized", "authentication_error")
    assert isinstance(refused.value.body, dict)
    assert refused.value.body["message"].startswith(SHOW)


def shape_of(body: dict[str, Any]) -> str:
    """Whose shape it is; it must be exactly that."""
    error = body["error"]
    if "jsonrpc" in body:
        assert (body["jsonrpc"], body["id"], list(error)) == ("2.0", None, ["code", "message"])
        assert error["code"] == faults.INVALID_REQUEST
        return "mcp"
    assert list(body) == ["error"]
    if isinstance(error, str):
        return "ollama"
    if "type" in error:
        assert list(error) == ["message", "type", "param", "code"]
        return "openai"
    assert list(error) == ["code", "message"]
    return "muleteer"


@pytest.mark.parametrize(
    ("path", "shape"),
    [
        ("/api/chat", "ollama"),
        ("/api/nothing", "ollama"),
        ("/v1/chat/completions", "openai"),
        ("/v1/chat/nothing", "openai"),
        ("/v1/models", "openai"),
        ("/v1/embeddings", "openai"),
        ("/mcp", "mcp"),
        ("/v1/turns", "muleteer"),
        ("/apiary", "muleteer"),
        ("/v1/chats", "muleteer"),
    ],
)
async def test_every_refusal_has_the_shape_of_its_path(net: Networked, path: str, shape: str) -> None:
    large = {"x": "y" * LARGEST_HEAD}
    async with net.client() as stranger, net.local() as local, net.client(await net.token("admin")) as admin:
        told = [
            await stranger.post(path, json={}),
            await stranger.post(path, json={}, headers={"host": "elsewhere.example"}),
            await stranger.post(path, json={}, headers={"origin": "http://elsewhere.example"}),
            await local.post(path, json={}, headers={"origin": "http://elsewhere.example"}),
            await admin.patch(path, json={}),
            await stranger.get(path, headers=large),
        ]
        assert [reply.status_code for reply in told[:4]] == [401, 421, 403, 403]
        assert told[4].status_code in (404, 405)
        assert told[5].status_code == 400
        assert [shape_of(reply.json()) for reply in told] == [shape] * len(told)


@pytest.mark.parametrize(
    ("path", "shape"),
    [
        ("/v1/broken", "muleteer"),
        ("/v1/chat/broken", "openai"),
        ("/api/broken", "ollama"),
        ("/mcp/broken", "mcp"),
    ],
)
async def test_a_fault_of_ours_has_it_too(net: Networked, path: str, shape: str) -> None:
    async with net.local() as local:
        reply = await local.get(path)
    assert reply.status_code == 500
    assert shape_of(reply.json()) == shape

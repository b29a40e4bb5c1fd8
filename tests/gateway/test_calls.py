"""Calling a tool by hand over HTTP: every status, payloads, and the yes that a change wants."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx
import pytest
from starlette.applications import Starlette

from muleteer.errors import MuleteerError
from muleteer.gateway import replies
from muleteer.gateway.calls import call_route
from muleteer.services import Absent
from muleteer.skills import load_catalogue
from muleteer.tool import Data, Document, Notes, Result, Services, tool
from muleteer.toolbox import Toolbox


@tool(effect="read")
def echo(word: str) -> Result:
    """Say a word.

    word: any
    """
    return Result.ok(f"You said {word}.", Data({"word": word}), ("here",))


@tool(effect="read")
def pages(kind: str = "notes") -> Result:
    """Return what was asked for.

    kind: which payload
    """
    if kind == "notes":
        return Result.ok("Two.", Notes(("one", "two")))
    return Result.ok("One.", Document("a.txt", "text"))


@tool(effect="read")
def nothing() -> Result:
    """Find nothing."""
    return Result.empty("There is nothing.")


@tool(effect="physical")
def lamp() -> Result:
    """Switch the lamp."""
    return Result.ok("It is on.")


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    toolbox = Toolbox.of([echo, pages, nothing, lamp], Services(Absent("none")))
    catalogue = load_catalogue([], toolbox)
    app = Starlette(
        routes=[call_route(lambda: catalogue)], exception_handlers={MuleteerError: replies.on_fault}
    )
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://x") as made:
        yield made


async def post(client: httpx.AsyncClient, name: str, **body: object) -> httpx.Response:
    return await client.post(f"/v1/tools/{name}/call", json=body)


async def test_a_call_gives_its_result_and_how_long_it_took(client: httpx.AsyncClient) -> None:
    body = (await post(client, "echo", arguments={"word": "hello"})).json()
    assert body.pop("ms") >= 0
    assert body == {
        "tool": "echo",
        "status": "ok",
        "text": "You said hello.",
        "payload": {"kind": "data", "values": {"word": "hello"}},
        "sources": ["here"],
    }


async def test_every_payload_says_its_kind(client: httpx.AsyncClient) -> None:
    notes = (await post(client, "pages")).json()["payload"]
    assert notes == {"kind": "notes", "items": ["one", "two"]}
    document = (await post(client, "pages", arguments={"kind": "document"})).json()["payload"]
    assert document == {"kind": "document", "name": "a.txt", "text": "text"}


async def test_what_is_no_success_is_a_result_too(client: httpx.AsyncClient) -> None:
    assert (await post(client, "nothing")).json()["status"] == "empty"
    wrong = (await post(client, "echo", arguments={"sound": "x"})).json()
    assert wrong["status"] == "error"
    assert "there is no parameter 'sound'" in wrong["text"]
    unknown = (await post(client, "no-such")).json()
    assert unknown["text"].startswith("unknown tool 'no_such'. Available: echo, lamp")


async def test_what_acts_wants_a_yes(client: httpx.AsyncClient) -> None:
    refused = await post(client, "lamp")
    assert refused.status_code == 400
    assert '"confirm": true' in refused.json()["error"]["message"]
    assert (await post(client, "@lamp", confirm=True)).json()["text"] == "It is on."


async def test_a_wrong_body_is_refused(client: httpx.AsyncClient) -> None:
    assert (await post(client, "echo", args={})).status_code == 400

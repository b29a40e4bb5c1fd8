"""The document against the whole daemon: nothing is missing in it, and nothing is made up."""

from __future__ import annotations

import httpx
import pytest

from muleteer.gateway.auth import needed
from muleteer.gateway.openapi.document import OPERATIONS, UNKNOWN
from tests.gateway.test_app import events


@pytest.fixture
def client(url: str) -> httpx.Client:
    return httpx.Client(base_url=url, timeout=20.0)


def test_every_path_is_described_and_every_description_has_its_path(client: httpx.Client) -> None:
    with client:
        document = client.get("/openapi.json").json()
    assert document["openapi"] == "3.1.0"
    told = {
        f"{method.upper()} {path}": operation
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
    }
    assert [name for name, operation in told.items() if operation["summary"] == UNKNOWN.summary] == []
    assert set(told) == set(OPERATIONS)
    for name, operation in told.items():
        method, _, path = name.partition(" ")
        scope = needed(method, path.replace("{", "").replace("}", ""))
        assert operation["security"] == ([] if scope == "open" else [{"token": [scope]}]), name


def test_the_stream_holds_what_it_says(client: httpx.Client) -> None:
    with client:
        reply = client.post("/v1/turns", json={"message": "What time is it in Istanbul?"})
        names = [name for name, _ in events(reply.text)]
        assert (names[0], names[-1]) == ("turn.started", "turn.finished")
        turn = events(reply.text)[0][1]["turn"]
        assert client.get(f"/v1/turns/{turn}").json()["state"] == "finished"

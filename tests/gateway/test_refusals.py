from __future__ import annotations

from typing import Any

import pytest

from muleteer.gateway.requests import LONGEST_BODY
from tests.gateway.conftest import Served
from tests.gateway.test_app import ask

REFUSED: list[tuple[str, str, dict[str, Any], int, str]] = [
    ("GET", "/", {}, 404, "not_found"),
    ("GET", "/v1/turns/", {}, 404, "not_found"),
    ("GET", "/%00%ff%0a", {}, 404, "not_found"),
    ("PUT", "/v1/turns", {}, 405, "method_not_allowed"),
    ("DELETE", "/v1/status", {}, 405, "method_not_allowed"),
    ("POST", "/v1/turns", {"content": "message=x"}, 415, "unsupported_media_type"),
    ("POST", "/v1/turns", {"data": {"message": "x"}}, 415, "unsupported_media_type"),
    (
        "POST",
        "/v1/turns",
        {"json": {}, "headers": {"content-encoding": "gzip"}},
        415,
        "unsupported_media_type",
    ),
    (
        "POST",
        "/v1/turns",
        {"content": b"{}", "headers": {"content-type": "application/json; charset=latin-1"}},
        415,
        "unsupported_media_type",
    ),
    ("POST", "/v1/turns", {"json": {"mesage": "x"}}, 400, "bad_request"),
    ("POST", "/v1/turns", {"json": {"message": "x" * 70_000}}, 413, "too_long"),
    ("POST", "/v1/turns", {"json": {"message": "x" * LONGEST_BODY}}, 413, "too_long"),
]


@pytest.mark.parametrize(("method", "path", "request_", "status", "code"), REFUSED)
async def test_every_refusal_has_one_shape(
    served: Served, method: str, path: str, request_: dict[str, Any], status: int, code: str
) -> None:
    reply = await served.client.request(method, path, **request_)
    assert reply.status_code == status
    assert reply.headers["content-type"] == "application/json"
    (error,) = reply.json().values()
    assert error["code"] == code
    assert error["message"].endswith((".", "?"))
    assert list(error) == ["code", "message"]
    assert ("allow" in reply.headers) == (status == 405)
    assert (await ask(served, stream=False)).status_code == 200


async def test_utf_8_charset_is_welcome(served: Served) -> None:
    headers = {"content-type": 'Application/JSON; charset="UTF-8"'}
    body = '{"message": "ça va?", "stream": false}'.encode()
    assert (await served.client.post("/v1/turns", content=body, headers=headers)).status_code == 200
    assert served.harness.asked == [("ça va?", ())]

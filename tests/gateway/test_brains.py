"""A turn may name its brain."""

from __future__ import annotations

import pytest

from tests.gateway.conftest import Served


async def test_a_brain_is_passed_on_by_its_name(served: Served) -> None:
    for body in ({"message": "hi", "brain": "desk"}, {"message": "hi"}):
        assert (await served.client.post("/v1/turns", json={**body, "stream": False})).status_code == 200
    assert served.harness.brains == ["desk", ""]


@pytest.mark.parametrize("brain", [7, None, ["desk"], "x" * 65])
async def test_what_is_no_name_is_refused(served: Served, brain: object) -> None:
    reply = await served.client.post("/v1/turns", json={"message": "hi", "brain": brain})
    assert reply.status_code == 400
    assert '"brain" is wrong' in reply.json()["error"]["message"]
    assert served.harness.brains == []

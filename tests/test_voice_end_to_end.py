"""What is said to the default model by Wyoming, over the real socket of a whole daemon."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from wyoming.client import AsyncUnixClient
from wyoming.handle import Handled
from wyoming.info import Describe, Info

from tests.conftest import Served
from tests.gateway.wyoming.conftest import heard, say

pytestmark = pytest.mark.model("standard")

TURN = 300.0  # seconds; a busy machine is forgiven


@pytest.fixture
async def client(served: Served) -> AsyncIterator[AsyncUnixClient]:
    async with AsyncUnixClient(served.environment["MULETEER_WYOMING__UNIX"]) as client:
        yield client


def is_time_in(zone: str, answer: str) -> bool:
    now = datetime.now(ZoneInfo(zone))
    said = re.search(r"(\d\d):(\d\d)", answer)
    assert said, answer
    return (now.hour * 60 + now.minute - int(said[1]) * 60 - int(said[2])) % 1440 <= 2


async def test_a_question_and_what_leans_on_it(served: Served, client: AsyncUnixClient) -> None:
    asked = await say(client, "What time is it in Istanbul?", "kitchen", TURN)
    assert [each.type for each in asked] == ["handled-start", "handled-chunk", "handled", "handled-stop"]
    assert is_time_in("Europe/Istanbul", Handled.from_event(asked[2]).text or "")
    async with AsyncUnixClient(served.environment["MULETEER_WYOMING__UNIX"]) as another:
        followed = await say(another, "And in Tokyo?", "kitchen", TURN)
    assert is_time_in("Asia/Tokyo", Handled.from_event(followed[2]).text or "")


async def test_a_deed_is_done_and_said(served: Served, client: AsyncUnixClient) -> None:
    before = len(served.heard)
    said = await say(client, "Turn on the lamp, please.", seconds=TURN)
    assert said[-2].type == "handled", said
    assert "L1" in served.heard[before:]


async def test_the_service_says_that_it_acts(client: AsyncUnixClient) -> None:
    await client.write_event(Describe().event())
    event = await heard(client)
    assert event is not None
    (program,) = Info.from_event(event).handle
    assert program.supports_home_control
    assert re.fullmatch("Muleteer [0-9a-f]{4}", program.name)

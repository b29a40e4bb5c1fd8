"""What a device says whose files of the seat are damaged or are another device's, and the way out of it."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

import httpx
import pytest
from starlette.applications import Starlette

from muleteer.closing import Closing
from muleteer.config import Settings
from muleteer.errors import MuleteerError
from muleteer.gateway import replies
from muleteer.household import open_household
from muleteer.settings.seat import SeatSettings
from tests.seat.neighbours import Neighbour, household, pair, until


async def nothing() -> None:
    pass


async def reasons(state: Path) -> set[str]:
    """What a daemon on this state folder answers wherever the seat is asked for."""
    closing = Closing()
    settings = Settings(state=state, seat=SeatSettings(mdns=False))
    opened = await open_household(settings, closing, nothing)
    faults = {MuleteerError: replies.on_fault}
    app = Starlette(routes=opened.routes, exception_handlers=faults)
    try:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as http:
            asked = [("GET", "/v1/seat"), ("GET", "/v1/seat/members"), ("POST", "/v1/seat/take")]
            answers = [await http.request(method, path) for method, path in asked]
            others = await http.get("/v1/devices")
        assert {each.status_code for each in answers} == {409}
        assert others.json()["devices"] == [], "the network can be looked at all the same"
        return {each.json()["error"]["message"] for each in answers}
    finally:
        await closing.close(asyncio.Event())


@pytest.mark.parametrize("name", ["device-id", "device-key", "household.json", "vote.json", "claims.db"])
@pytest.mark.parametrize("content", [b"nonsense", b"7" * 5000])
async def test_the_seat_says_which_file_is_damaged_and_what_to_do(
    name: str, content: bytes, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL)
    (tmp_path / name).write_bytes(content)
    [said] = await reasons(tmp_path)
    assert said.startswith(f"This device takes no part in a household: {tmp_path / name} is damaged"), said
    assert "estore it" in said


async def test_a_device_with_a_new_id_or_key_gets_out_of_its_old_household_and_in_again(
    tmp_path: Path,
) -> None:
    async with household(tmp_path, 2) as [first, second]:
        await second.seat.close()
        for lost in ("device-id", "device-key"):
            (second.folder / lost).unlink()
            with pytest.raises(OSError, match="another id or key than this one has") as caught:
                Neighbour(second.folder)
            assert "remove that file, start Muleteer again and join again" in str(caught.value.strerror)
            (second.folder / "household.json").unlink()
            second = Neighbour(second.folder)
            await second.seat.open()
            await until(second.drives)
            await pair(first, second)
            await until(lambda: second.seat.view.now().role == "follower")  # noqa: B023
            await second.seat.close()

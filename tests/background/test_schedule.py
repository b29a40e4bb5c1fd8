"""Slots, by systemd's own program."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime

import pytest

from muleteer.background.schedule import delay, latest, own_delay
from muleteer.errors import RequestError

pytestmark = pytest.mark.skipif(
    not shutil.which("systemd-analyze"), reason="systemd-analyze is not here: apt-get install systemd"
)


def at(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


@pytest.fixture(autouse=True)
def _utc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "UTC")


@pytest.mark.parametrize(
    ("expression", "now", "slot"),
    [
        ("*-*-* 07:00", "2026-11-30T07:00:00", "2026-11-30T07:00:00Z"),
        ("*-*-* 07:00", "2026-11-30T06:59:59", "2026-11-29T07:00:00Z"),
        ("Mon *-*-* 07:00", "2026-11-29T12:00:00", "2026-11-23T07:00:00Z"),
        ("*-*-* *:*:00", "2026-11-30T12:34:56", "2026-11-30T12:34:00Z"),
        ("*-*-* *:*:*", "2026-11-30T12:34:56", "2026-11-30T12:34:56Z"),
        ("*-*-* *:0/10", "2026-11-30T12:34:56", "2026-11-30T12:30:00Z"),
        ("*-*-01 00:00", "2026-11-30T12:00:00", "2026-11-01T00:00:00Z"),
        ("*-02-29 00:00", "2026-11-30T12:00:00", "2024-02-29T00:00:00Z"),
        ("Sat *-*-* *:*:00", "2026-11-30T12:34:56", "2026-11-28T23:59:00Z"),
        ("Sat *-*-* *:*:00", "2026-11-30T12:35:56", "2026-11-28T23:59:00Z"),
        ("Sat *-*-* *:*:00", "2026-11-28T12:34:00", "2026-11-28T12:34:00Z"),
        ("Sat *-*-* *:*:*", "2026-11-30T12:34:56", "2026-11-28T23:59:59Z"),
        ("Mon..Fri 09..17:*:00", "2026-11-29T12:00:00", "2026-11-27T17:59:00Z"),
        ("*-01-01 *:*:00", "2026-11-30T12:00:00", "2026-01-01T23:59:00Z"),
        ("*-*-01,02 00..11:*:00", "2026-11-30T12:00:00.5", "2026-11-02T11:59:00Z"),
        ("hourly", "1970-01-01T01:00:30", "1970-01-01T01:00:00Z"),
    ],
)
async def test_the_latest_slot_is_the_schedules_own(expression: str, now: str, slot: str) -> None:
    found = await latest(expression, at(now))
    assert found
    assert found.name == slot


async def test_whenever_a_timer_fires_between_two_slots_it_asks_for_the_same_one() -> None:
    fired = [at("2026-11-30T07:00:00"), at("2026-11-30T07:04:59"), at("2026-12-01T06:59:59")]
    assert {slot.name for now in fired if (slot := await latest("07:00", now))} == {"2026-11-30T07:00:00Z"}


async def test_a_local_time_is_named_in_utc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Europe/Berlin")
    found = await latest("*-*-* 07:00", at("2026-07-01T12:00:00"))
    assert found
    assert found.name == "2026-07-01T05:00:00Z"


async def test_nothing_was_ever_due_of_a_schedule_that_begins_later() -> None:
    assert await latest("2030-01-01 00:00", at("2026-11-30T00:00:00")) is None


async def test_nothing_is_due_of_a_clock_that_has_just_begun() -> None:
    assert await latest("hourly", 30.0) is None


async def test_a_delay_never_changes_the_slot() -> None:
    now = at("2026-11-30T00:00:00")
    assert await delay("*-*-* 07:00", now) == 300
    assert await delay("*-*-* *:0/10", now) == 60
    assert await delay("*-*-* *:*:00", now) == 6


def test_copies_of_a_card_have_delays_of_their_own() -> None:
    delays = {own_delay(300, f"{number:032x}", "morning") for number in range(50)}
    assert len(delays) == 50
    assert 150 <= min(delays) < max(delays) <= 300
    assert own_delay(300, "a" * 32, "morning") == own_delay(300, "a" * 32, "morning")
    assert own_delay(0, "a" * 32, "morning") == 0


async def test_what_systemd_does_not_understand_is_refused() -> None:
    with pytest.raises(RequestError, match="not one that systemd understands"):
        await latest("every now and then", 0.0)
    with pytest.raises(RequestError, match="not one that systemd understands"):
        await latest("--help", 0.0)

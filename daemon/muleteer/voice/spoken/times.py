"""Times of day and dates in words. Pure. Knows how they are written and said; not what they are for."""

from __future__ import annotations

import re

from muleteer.voice.spoken.numbers import Numbers
from muleteer.voice.spoken.words import Words

NOON = 12
TIME = r"(?<![\d:.,])([01]?\d|2[0-4]):([0-5]\d)(?::([0-5]\d))?(?![\d:])"
_HALF = r"(?:\s?([AaPp])\.?[Mm]\b\.?)?"
_MANY_MONTHS, _MANY_DAYS = 12, 31


class Times:
    """Of one language. Its patterns go with its methods of the same name."""

    def __init__(self, words: Words, numbers: Numbers) -> None:
        self._words, self._numbers = words, numbers
        self._months = words.months()
        after = rf"(?:\s?(?:{words.clock.words})(?!\w))?" if words.clock.words else ""
        self.time_pattern = TIME + after + (_HALF if words.clock.halves else "()")
        self.dotted_pattern = words.clock.words and (
            rf"(?<![\w:.,])([01]?\d|2[0-4])\.([0-5]\d)()()\s?(?:{words.clock.words})(?!\w)"
        )
        self.letter_pattern = r"(?<![\w:.,])([01]?\d|2[0-4])\s?h\s?([0-5]\d)(?!\w)()()"
        names = "|".join(sorted(map(re.escape, self._months), key=len, reverse=True))
        suffix = "(?:st|nd|rd|th|er|º)?" if words.date.order == "mdy" else r"(?:er|[.º])?"
        year = r"(\d{4})(?!\d)"
        self.named_pattern = (
            rf"(?<![\w.,])(\d{{1,2}}){suffix}\s(?:de\s)?({names})\b(?:\.?,?\s(?:de\s)?{year})?"
        )
        self.american_pattern = rf"(?<!\w)({names})\.?\s(\d{{1,2}}){suffix}(?!\d)(?:,?\s{year})?"
        self.iso_pattern = r"(?<![\w-])(\d{4})-(\d\d)-(\d\d)(?!\d)T?"
        self.short_pattern = r"(?<![\w./-])(\d{1,2})([./-])(\d{1,2})\2(\d{4})(?![\w/-])"

    def time(self, found: re.Match[str]) -> str | None:
        """Of 14:05, 14:05:30, 2:05 pm."""
        hour, minute, second, half = (found[place] for place in range(1, 5))
        said = self.clock(int(hour), int(minute), (half or "").lower())
        if not second:
            return said
        counted = self._numbers.count(int(second))
        unit = self._words.locale.unit_display_names["duration-second"]["long"]
        return self._words.clock.seconds.format(time=said, s=f"{counted} {unit}")

    def clock(self, hour: int, minute: int, half: str = "") -> str:
        """`half`: "a" or "p" where it was said."""
        clock, words = self._words.clock, self._words
        special = (clock.special or {}).get(str(hour), "")
        if special and not minute and not half:
            return special
        shown = hour
        if clock.halves:
            late = half == "p" or (not half and NOON <= hour < 2 * NOON)
            half, shown = clock.halves[late], (hour - 1) % clock.hours + 1
        form = (clock.one or clock.full) if not minute and shown == 1 else clock.full
        if minute:
            form = clock.early if minute < 10 else clock.time
        hours = words.spell(shown, words.numbers[min(clock.hour_gender, len(words.numbers) - 1)])
        return form.format(h=hours, m=words.spell(minute), half=half)

    def named(self, found: re.Match[str]) -> str | None:
        """Of 3 May, 3. Mai 2026."""
        return self._date(int(found[1]), self._months[found[2]], found[3], found)

    def american(self, found: re.Match[str]) -> str | None:
        """Of May 3rd, 2026."""
        return self._date(int(found[2]), self._months[found[1]], found[3], found)

    def iso(self, found: re.Match[str]) -> str | None:
        """Of 2026-05-03."""
        date = self._date(int(found[3]), int(found[2]), found[1], found)
        return f"{date}," if date and re.match(r"\s?\d\d:", found.string[found.end() :]) else date

    def short(self, found: re.Match[str]) -> str | None:
        """Of 3.5.2026 and 5/3/2026."""
        first, second = int(found[1]), int(found[3])
        if found[2] != "." and self._words.date.order == "mdy" and first <= _MANY_MONTHS:
            first, second = second, first
        return self._date(first, second, found[4], found)

    def _date(self, day: int, month: int, year: str | None, found: re.Match[str]) -> str | None:
        if not (1 <= day <= _MANY_DAYS and 1 <= month <= _MANY_MONTHS):
            return None
        words, date = self._words, self._words.date
        rules = words.ordinal
        if date.bending and re.search(
            rf"\b(?:{date.bending})\s(?:\w+tag,?\s)?$", found.string[: found.start()]
        ):
            rules = date.bent
        is_ordinal = date.days == "ordinal" or (date.days == "first" and day == 1)
        said = words.spell(day, rules) if is_ordinal else words.spell(day)
        name = words.locale.months["format"]["wide"][month]
        if not year:
            return date.day.format(day=said, month=name)
        return date.year.format(day=said, month=name, year=words.spell(int(year), words.year))

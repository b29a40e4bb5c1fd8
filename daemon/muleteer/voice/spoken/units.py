"""Quantities and money in words. Pure. Knows how units are written; their names are CLDR's."""

from __future__ import annotations

import re
from decimal import Decimal

from babel.numbers import format_decimal, get_currency_name
from babel.units import format_unit

from muleteer.voice.spoken.numbers import Numbers
from muleteer.voice.spoken.words import Words

# What is written, and what CLDR calls it. One letter that is often something else is not here.
UNITS = {
    "°C": "temperature-celsius", "°F": "temperature-fahrenheit", "°": "angle-degree",
    "%": "concentr-percent", "‰": "concentr-permille", "ppm": "concentr-part-per-1e6",
    "km/h": "speed-kilometer-per-hour", "m/s": "speed-meter-per-second", "mph": "speed-mile-per-hour",
    "km": "length-kilometer", "m": "length-meter", "cm": "length-centimeter", "mm": "length-millimeter",
    "µm": "length-micrometer", "m²": "area-square-meter", "km²": "area-square-kilometer",
    "cm²": "area-square-centimeter", "ha": "area-hectare", "m³": "volume-cubic-meter",
    "l": "volume-liter", "L": "volume-liter", "ml": "volume-milliliter", "mL": "volume-milliliter",
    "cl": "volume-centiliter", "dl": "volume-deciliter", "t": "mass-tonne", "kg": "mass-kilogram",
    "g": "mass-gram", "mg": "mass-milligram", "µg": "mass-microgram",
    "W": "power-watt", "kW": "power-kilowatt", "MW": "power-megawatt", "mW": "power-milliwatt",
    "kWh": "energy-kilowatt-hour", "J": "energy-joule", "kJ": "energy-kilojoule",
    "kcal": "energy-kilocalorie",
    "V": "electric-volt", "mA": "electric-milliampere", "Ω": "electric-ohm",
    "Hz": "frequency-hertz", "kHz": "frequency-kilohertz", "MHz": "frequency-megahertz",
    "GHz": "frequency-gigahertz", "kB": "digital-kilobyte", "KB": "digital-kilobyte",
    "MB": "digital-megabyte",
    "GB": "digital-gigabyte", "TB": "digital-terabyte", "KiB": "{n} kibibyte", "MiB": "{n} mebibyte",
    "GiB": "{n} gibibyte", "TiB": "{n} tebibyte", "hPa": "pressure-hectopascal",
    "Pa": "pressure-pascal", "kPa": "pressure-kilopascal", "bar": "pressure-bar", "mbar": "pressure-millibar",
    "lx": "light-lux", "lm": "light-lumen",
    "h": "duration-hour", "min": "duration-minute", "s": "duration-second", "ms": "duration-millisecond",
}  # fmt: skip
MONEY = {
    "€": "EUR",
    "$": "USD",
    "£": "GBP",
    "₺": "TRY",
    "EUR": "EUR",
    "USD": "USD",
    "GBP": "GBP",
    "CHF": "CHF",
}
_CENTS = 2
_MOST = Decimal(10**15)
_FORM = "0.#########"


class Units:
    """Of one language. Its patterns go with its methods of the same name."""

    def __init__(self, words: Words, numbers: Numbers) -> None:
        self._words, self._numbers = words, numbers
        self._units = UNITS | words.units
        number = numbers.pattern
        signs = "|".join(sorted(map(re.escape, self._units), key=len, reverse=True))
        self.quantity_pattern = rf"(?<![\w.,])(?:({number})\s?-\s?)?(-)?({number})\s?({signs})(?![\w/²³])"
        self.percent_pattern = rf"(?<![\w.,%])%\s?({number})(?!\d)"
        money = "|".join(map(re.escape, MONEY))
        self.money_before_pattern = rf"(?<![\w.,])([$€£₺])\s?({number})(?!\d)"
        self.money_after_pattern = rf"(?<![\w.,])({number})\s?({money})(?!\w)"

    def quantity(self, found: re.Match[str]) -> str | None:
        """Of 3.5 km, -3 °C, 20-25 %."""
        value = self._numbers.value(found[3])
        if value >= _MOST or re.search(r"\d{4}s\Z", found[0]):  # the 1990s
            return None
        before = "" if found[1] or found[2] else found.string[: found.start()]
        said = self._of(found[3], value, self._units[found[4]], before)
        if found[2]:
            said = f"{self._words.words['-']} {said}"
        return self._words.range.format(a=self._numbers.read(found[1]), b=said) if found[1] else said

    def percent(self, found: re.Match[str]) -> str | None:
        """Of %20, as Turkish writes it."""
        return self._of(found[1], self._numbers.value(found[1]), UNITS["%"])

    def _of(self, numeral: str, value: Decimal, unit: str, before: str = "") -> str:
        if "{n}" in unit:
            return unit.format(n=self._numbers.read(numeral, "x"))
        code = self._words.code
        shown = format_decimal(value, format=_FORM, locale=code)
        named = format_unit(value, unit, length="long", format=_FORM, locale=code)
        name = named.replace(shown, "", 1).replace("/", " ").strip()
        return named.replace(shown, self._numbers.read(numeral, name.split()[0], before), 1).replace("/", " ")

    def money_before(self, found: re.Match[str]) -> str | None:
        """Of $3.50."""
        return self._money(found[2], MONEY[found[1]])

    def money_after(self, found: re.Match[str]) -> str | None:
        """Of 3,50 €."""
        return self._money(found[1], MONEY[found[2]])

    def _money(self, numeral: str, currency: str) -> str | None:
        value = self._numbers.value(numeral)
        if value >= _MOST:
            return None
        whole, cents = divmod(value * 100, 100)
        name = get_currency_name(currency, count=value, locale=self._words.code)
        if not cents or cents != int(cents):
            return f"{self._numbers.read(numeral, name.split()[-1])} {name}"
        name = get_currency_name(currency, count=whole, locale=self._words.code)
        said = f"{self._numbers.count(int(whole), name.split()[-1])} {name}"
        return self._words.money["cents"].format(whole=said, cents=self._numbers.count(int(cents)))

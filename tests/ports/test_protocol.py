"""A reading is a whole match, a number, and possible; anything else is said as what it was."""

from __future__ import annotations

import pytest

from muleteer.ports.protocol import UnclearError, confirmed, measured, told
from muleteer.ports.settings import SensorSettings, SwitchSettings
from muleteer.services import Reading

WARMTH = SensorSettings(pattern=r"T=(\S+)", unit="°C", min=-40, max=80)
DOOR = SensorSettings(pattern="D=(.)", words={"0": "closed", "1": "open"})
LAMP = SwitchSettings(on="L1", off="L0", when_on="L=1", when_off="L=0")


@pytest.mark.parametrize(
    ("line", "value", "text"),
    [
        ("T=21.5", 21.5, "21.5 °C"),
        ("T=21,5", 21.5, "21.5 °C"),
        ("T=-40", -40.0, "-40 °C"),
        ("T=80.0", 80.0, "80 °C"),
        ("T=+1e1", 10.0, "10 °C"),
        ("T=.5", 0.5, "0.5 °C"),
    ],
)
def test_a_number_within_its_limits_is_a_reading(line: str, value: float, text: str) -> None:
    assert measured("warmth", WARMTH)(line) == Reading("warmth", text, value, "°C")


@pytest.mark.parametrize("line", ["", "T=", "T=21.5 H=3", "xT=21.5", "T?", "ERR", "t=21.5"])
def test_what_does_not_match_as_a_whole_is_about_something_else(line: str) -> None:
    assert measured("warmth", WARMTH)(line) is None


@pytest.mark.parametrize("line", ["T=nan", "T=inf", "T=1_0", "T=0x1F", "T=2,1.5", "T=--", "T=١٢", "T=1e999"])
def test_what_is_no_number_is_none(line: str) -> None:
    with pytest.raises(UnclearError, match="holds no number"):
        measured("warmth", WARMTH)(line)


@pytest.mark.parametrize(
    ("line", "why"), [("T=80.1", "more than 80 °C cannot be"), ("T=-127", "less than -40 °C cannot be")]
)
def test_what_cannot_be_is_no_reading(line: str, why: str) -> None:
    with pytest.raises(UnclearError, match=f'answered "{line}", but {why}'):
        measured("warmth", WARMTH)(line)


def test_words_stand_for_values_and_nothing_else_does() -> None:
    assert measured("door", DOOR)("D=1") == Reading("door", "open", "open")
    with pytest.raises(UnclearError, match="means none of 0, 1"):
        measured("door", DOOR)("D=2")


def test_a_group_that_took_no_part_is_no_reading() -> None:
    assert measured("x", SensorSettings(pattern="T=(1)?"))("T=") is None


def test_a_pattern_that_backtracks_is_stopped() -> None:
    slow = SensorSettings(pattern=r"((?:a|a|aa)+)[bc]")
    with pytest.raises(UnclearError, match="takes too long"):
        measured("x", slow)("a" * 200)


def test_a_switch_says_on_or_off_or_neither() -> None:
    read = told(LAMP)
    assert (read("L=1"), read("L=0"), read("L=2")) == ("on", "off", None)


def test_only_the_wanted_state_confirms() -> None:
    assert confirmed(LAMP, "on")("L=1") == "on"
    assert confirmed(LAMP, "on")("L=0") is None
    assert confirmed(LAMP, "off")("L=0") == "off"

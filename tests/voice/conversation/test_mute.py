"""Muting by hand and by a pin of the board, as gpiozero's own make-believe pins have it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from gpiozero import Device
from gpiozero.pins.mock import MockFactory, MockPin

from muleteer.errors import ConfigError, StorageError
from muleteer.voice.conversation.mute import Mute
from muleteer.voice.conversation.pin import BOUNCE_SECONDS, Pin

PIN = 17


@pytest.fixture
def pins() -> Iterator[MockFactory]:
    before, Device.pin_factory = Device.pin_factory, MockFactory()
    yield Device.pin_factory
    Device.pin_factory.reset()
    Device.pin_factory = before


async def test_muted_by_hand_is_muted_after_a_restart(tmp_path: Path) -> None:
    told: list[bool] = []
    mute = Mute(tmp_path / "state", told.append)
    assert not mute.muted
    await mute.set(True)
    assert told == [True]
    again = Mute(tmp_path / "state", told.append)
    assert again.muted
    await again.set(False)
    assert not Mute(tmp_path / "state", told.append).muted


async def test_muting_holds_even_where_it_cannot_be_kept(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("no folder")
    told: list[bool] = []
    mute = Mute(tmp_path / "state", told.append)
    with pytest.raises(StorageError, match="The microphone is muted, but only until the next start"):
        await mute.set(True)
    assert told == [True]
    assert mute.muted


async def test_a_hand_does_not_open_what_a_switch_has_muted(tmp_path: Path) -> None:
    told: list[bool] = []
    mute = Mute(tmp_path, told.append)
    mute.pin(True)
    await mute.set(False)
    assert told == [True, True]
    mute.pin(False)
    assert told[-1] is False


class Closed(MockPin):  # type: ignore[misc]  # the library has no types
    """Connected to ground, whatever pulls it up."""

    def _set_pull(self, value: str) -> None:
        super()._set_pull(value)
        self.drive_low()


async def test_a_switch_mutes_while_it_is_closed_also_at_the_start(pins: MockFactory) -> None:
    pin = pins.pin(PIN, pin_class=Closed)
    told: list[bool] = []
    watched = Pin(PIN, "switch", told.append)
    assert told == [True]
    await _moves(pin.drive_high)
    await _moves(pin.drive_low)
    assert told == [True, False, True]
    watched.close()


async def test_a_button_mutes_each_second_time(pins: MockFactory) -> None:
    pin = _pin(pins)
    told: list[bool] = []
    watched = Pin(PIN, "button", told.append)
    for _ in range(2):
        await _moves(pin.drive_low)
        await _moves(pin.drive_high)
    assert told == [False, True, False]
    watched.close()


async def test_without_its_switch_it_does_not_listen(pins: MockFactory) -> None:
    with pytest.raises(ConfigError, match=r"The pin 99 of voice\.mute_pin cannot be watched"):
        Pin(99, "switch", lambda muted: None)


def _pin(pins: MockFactory) -> MockPin:
    pin = pins.pin(PIN)
    pin.pull = "up"
    return pin


async def _moves(move: object) -> None:
    """Drive the pin, and let its thread be heard, once the contacts do not bounce any more."""
    assert callable(move)
    await asyncio.to_thread(move)
    await asyncio.sleep(BOUNCE_SECONDS * 2)

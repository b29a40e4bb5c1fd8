"""A switch or a button between a pin of the board and ground, which mutes the microphone.

Knows gpiozero, which is needed only where a pin is named in the settings; its callbacks come from a thread.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Literal

from muleteer.errors import ConfigError, MissingPackageError

Kind = Literal["switch", "button"]
BOUNCE_SECONDS = 0.05  # contacts of cheap switches close several times within a few milliseconds


class Pin:
    """Watches the pin of this number (BCM) until closed. A switch mutes while it is closed, a button each
    second time it is pressed; `changed` is called on the event loop, and once at the start.

    Raises `MissingPackageError` and, where the pin cannot be watched, `ConfigError`: a device that shall be
    muted by a switch must not listen without it.
    """

    def __init__(self, pin: int, kind: Kind, changed: Callable[[bool], None]) -> None:
        self._kind, self._changed, self._muted = kind, changed, False
        self._loop = asyncio.get_running_loop()
        self._button = _button(pin)
        if kind == "switch":
            self._button.when_released = self._moved
        self._button.when_pressed = self._moved
        self._look(pressed=kind == "switch" and self._button.is_pressed)

    def close(self) -> None:
        self._button.close()

    def _moved(self) -> None:
        """In a thread of gpiozero."""
        self._loop.call_soon_threadsafe(self._look, self._button.is_pressed)

    def _look(self, pressed: bool) -> None:
        if self._kind == "switch":
            self._muted = pressed
        elif pressed:
            self._muted = not self._muted
        self._changed(self._muted)


def _button(pin: int) -> Any:
    try:
        from gpiozero import Button
        from gpiozero.exc import GPIOZeroError
    except ImportError as error:
        raise MissingPackageError(
            "voice.mute_pin needs gpiozero and lgpio; install them with: pip install 'muleteer[gpio]'."
        ) from error
    try:
        return Button(pin, pull_up=True, bounce_time=BOUNCE_SECONDS)
    except (GPIOZeroError, OSError, RuntimeError) as error:
        raise ConfigError(
            f"The pin {pin} of voice.mute_pin cannot be watched ({error}); name another, or see that this "
            "user is in the group gpio."
        ) from error

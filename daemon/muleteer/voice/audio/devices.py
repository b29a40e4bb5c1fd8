"""Sound devices by name, opened and closed in threads, since either may take as long as a device likes.

Knows the library's errors and silences; not what is heard or played.
"""

from __future__ import annotations

import asyncio
import ctypes
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Any, Literal

from muleteer.voice.parts import PartGone

Kind = Literal["microphone", "speaker"]

FIRST_SECONDS = 5.0  # until the first sign of a device; one that slept, or has no wire, takes two
SILENCE_SECONDS = 1.0  # without another sign before it is taken to be gone; they give one every 20 ms
OPEN_SECONDS = 10.0  # a sound server that is being started answers within five
CLOSE_SECONDS = 2.0  # after that its thread is left alone: a device that was pulled out may never answer
LISTED = 8  # names in a sentence


_SILENT = ctypes.CFUNCTYPE(
    None, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p
)(lambda *told: None)


@cache
def _silence_alsa() -> None:
    """For a device that is not there it writes twenty lines to standard error, again with each try."""
    with suppress(OSError):
        ctypes.CDLL("libasound.so.2").snd_lib_error_set_handler(_SILENT)


def backends() -> list[Any]:
    """Where sound is looked for, in this order; PipeWire answers as PulseAudio. Never the silent one."""
    import miniaudio

    _silence_alsa()
    return [miniaudio.Backend.PULSEAUDIO, miniaudio.Backend.ALSA]


def names(kind: Kind) -> list[str]:
    """What is there now. Blocks; raises `PartGone` without any sound system."""
    return [str(each["name"]) for each in _there(kind)]


async def opened(kind: Kind, name: str, make: Callable[[Any], Any]) -> Any:
    """What `make` makes of the id of the device whose name has `name` in it; of None for the default one.

    Raises `PartGone` when there is none, or it cannot be opened.
    """
    opening = asyncio.ensure_future(asyncio.to_thread(_open, kind, name, make))
    try:
        async with asyncio.timeout(OPEN_SECONDS):
            return await asyncio.shield(opening)
    except TimeoutError:
        opening.add_done_callback(_unwanted)
        raise PartGone(f"The {kind} does not answer; pull it out and plug it in again.") from None
    except asyncio.CancelledError:  # it may be muted meanwhile, and then nothing may be open
        opening.add_done_callback(_unwanted)
        raise


async def closed(device: Any) -> None:
    """Closes it, or leaves it behind after `CLOSE_SECONDS`."""
    closing = asyncio.ensure_future(asyncio.to_thread(device.close))
    await asyncio.wait([closing], timeout=CLOSE_SECONDS)


def _unwanted(opening: asyncio.Future[Any]) -> None:
    """Closes what was opened too late, in a thread, since its own reference to itself keeps it alive."""
    if not opening.cancelled() and opening.exception() is None:
        threading.Thread(target=opening.result().close, name="voice: closing", daemon=True).start()


def gone(kind: Kind, name: str) -> PartGone:
    """For a device that was there."""
    return PartGone(f"The {kind}{f' {name!r}' if name else ''} is gone; plug it in again, or choose another.")


def _open(kind: Kind, name: str, make: Callable[[Any], Any]) -> Any:
    import miniaudio

    chosen = None
    if name:
        there = _there(kind)
        found = [each for each in there if name.casefold() in str(each["name"]).casefold()]
        if not found:
            known = ", ".join(str(each["name"]) for each in there[:LISTED]) or "none at all"
            raise PartGone(f"There is no {kind} called {name}; voice.{kind} may name: {known}.")
        chosen = found[0]["id"]
    try:
        return make(chosen)
    except miniaudio.MiniaudioError as error:
        raise PartGone(f"No {kind} can be used ({_words(error)}); is one plugged in?") from error


def _there(kind: Kind) -> list[dict[str, Any]]:
    import miniaudio

    try:
        devices = miniaudio.Devices(backends())
        found: list[dict[str, Any]] = (
            devices.get_captures() if kind == "microphone" else devices.get_playbacks()
        )
    except miniaudio.MiniaudioError as error:
        raise PartGone(f"There is no {kind}: no sound system answers ({_words(error)}).") from error
    return found


def _words(error: Exception) -> str:
    return str(error.args[0]) if error.args else type(error).__name__

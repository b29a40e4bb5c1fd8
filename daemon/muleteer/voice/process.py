"""The voice process: its parts, the conversation on them, and its control socket, until told to stop.

Talks to the daemon like any client, and goes on without it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NoReturn

import psutil
import uvloop

from muleteer import exits, paths
from muleteer.cli.client import Daemon
from muleteer.cli.remote import Remote
from muleteer.closing import Closing, Stop, end_tasks, leave
from muleteer.config import Settings
from muleteer.errors import MuleteerError
from muleteer.gateway.access import LocalAccess
from muleteer.gateway.server import HttpServer
from muleteer.gateway.sockets import listen_unix
from muleteer.notify import Notifier
from muleteer.voice import opening
from muleteer.voice.conversation.control import control_app
from muleteer.voice.conversation.cutter import AnswerCutter
from muleteer.voice.conversation.driver import Driver
from muleteer.voice.conversation.ear import BEFORE, Limits
from muleteer.voice.conversation.house import DaemonHouse
from muleteer.voice.conversation.machine import Conversation
from muleteer.voice.conversation.manners import Manners
from muleteer.voice.conversation.mute import Mute
from muleteer.voice.conversation.pin import Pin
from muleteer.voice.conversation.recordings import Recordings
from muleteer.voice.parts import Microphone, Recognizer, Speaker, Speech, VoiceActivity, WakeWord
from muleteer.voice.settings import COMMANDS, LOCAL
from muleteer.voice.spoken.reading import aloud

log = logging.getLogger(__name__)

STOP_SECONDS = 15.0  # for the recogniser's process and the devices
FLUSH_SECONDS = 1.0  # for answers on the control socket


@dataclass(frozen=True)
class Equipped:
    """The parts by the names that the driver has for them."""

    microphone: Microphone
    speaker: Speaker
    wake_word: WakeWord
    activity: VoiceActivity
    recognizer: Recognizer
    speech: Speech

    @classmethod
    def of(cls, parts: opening.Parts) -> Equipped:
        return cls(
            parts.microphone, parts.speaker, parts.wake, parts.activity, parts.recognizer, parts.speech
        )


class Voice:
    """What the control socket controls."""

    def __init__(self, settings: Settings, driver: Driver) -> None:
        self._settings, self.driver = settings, driver
        self.switch = Mute(settings.state, driver.mute)
        driver.mute(self.switch.muted)

    def report(self) -> Mapping[str, object]:
        """For the status. Says nothing of what was said."""
        conversation, voice = self.driver.conversation, self._settings.voice
        return {
            "state": conversation.phase,
            "muted": self.switch.muted,
            "muted_by": {"hand": self.switch.by_hand, "pin": self.switch.by_pin},
            "ringing": conversation.ringing,
            "language": conversation.manners.language,
            "wake_word": voice.wake_word,
            "microphone": self.driver.microphone_gone or "good",
            "keeps": voice.keep,
            "memory": psutil.Process().memory_info().rss,
        }

    async def mute(self, muted: bool) -> None:
        await self.switch.set(muted)

    def say(self, text: str) -> None:
        self.driver.say(text)

    def hush(self) -> None:
        self.driver.hush()


def run(settings: Settings, daemon: Path | Remote) -> NoReturn:
    """Listen until a signal, and end the process; see `daemon.run`."""
    stop = Stop(STOP_SECONDS)
    runner = asyncio.Runner(loop_factory=uvloop.new_event_loop)
    try:
        code = runner.run(_until_signalled(settings, daemon, stop))
    except Exception:
        log.exception("Voice failed.")
        code = exits.TURN_FAILED
    leave(code, stop.signal)


async def _until_signalled(settings: Settings, daemon: Path | Remote, stop: Stop) -> int:
    with stop.at_signals():
        closing = Closing()
        try:
            parts = opening.opened(settings, await _sentences(settings, daemon))
            closing.add("parts", parts.close, STOP_SECONDS / 2)
            await serve(settings, daemon, Equipped.of(parts), stop, closing)
        except MuleteerError as error:
            log.error("%s", error)
            return exits.code_of(error)
        finally:
            await closing.close(stop.forced)
            await end_tasks()
    return 0


async def serve(
    settings: Settings, daemon: Path | Remote, parts: Equipped, stop: Stop, closing: Closing
) -> None:
    """A conversation on these parts until `stop` is asked. Raises `MuleteerError` where it cannot begin."""
    voice = settings.voice
    recordings = Recordings(settings.state / "recordings")
    closing.add("recordings", recordings.close)
    driver = Driver(
        Conversation(_manners(settings), AnswerCutter),
        parts,
        DaemonHouse(daemon),
        aloud,
        recordings.keep if voice.keep else lambda pcm: None,
    )
    controlled = Voice(settings, driver)
    listener = listen_unix(voice.socket or paths.voice_socket(), settings.gateway.socket_mode)
    closing.add("control socket", listener.close)
    server = HttpServer(LocalAccess(control_app(controlled), frozenset()))
    await server.start(listener.socket)
    closing.add("control", partial(server.stop, FLUSH_SECONDS), FLUSH_SECONDS * 2)
    if voice.mute_pin is not None:
        pin = Pin(voice.mute_pin, voice.mute_kind, controlled.switch.pin)
        closing.add("mute switch", pin.close)
    log.info("Listening for %s%s.", voice.wake_word, ", muted" if controlled.switch.muted else "")
    Notifier.take().send(READY=1)
    talking = asyncio.create_task(driver.run(), name="conversation")
    waiting = asyncio.create_task(stop.asked.wait())
    try:
        await asyncio.wait({talking, waiting}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        waiting.cancel()
        talking.cancel()
        await asyncio.wait({talking})
    if not talking.cancelled():
        talking.result()


async def _sentences(settings: Settings, daemon: Path | Remote) -> list[str]:
    """All that the recogniser of commands needs to know; nothing for others. Raises `MuleteerError`."""
    if settings.voice.recognizer != COMMANDS:
        return []
    skills = (await asyncio.to_thread(Daemon(daemon).get, "/v1/skills")).get("skills")
    found = (
        [each.get("examples") for each in skills if isinstance(each, dict)]
        if isinstance(skills, list)
        else []
    )
    return [str(said) for examples in found if isinstance(examples, list) for said in examples]


def _manners(settings: Settings) -> Manners:
    voice = settings.voice
    is_near = voice.wake == LOCAL and "://" not in voice.microphone  # no network is in between
    return Manners(
        opening.language(settings),
        voice.follow_up,
        voice.barge_in,
        voice.slow,
        voice.tones,
        Limits(voice.pause, voice.longest),
        **({} if is_near else {"noticed": BEFORE}),
    )

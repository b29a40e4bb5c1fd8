"""Where the results of background turns go beside the inbox: a command, a web address, an MQTT broker.

Each gets the same JSON object, once, within its seconds; one that fails is logged, and keeps nothing from the
others. Knows how to reach them; not what a result means.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
from collections.abc import Coroutine
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from urllib.parse import unquote, urlsplit

import httpx

from muleteer.background.runner import Ended
from muleteer.settings.background import ResultSettings

log = logging.getLogger(__name__)

MOST = 16  # being passed on at once; a household has a handful of results a day
LARGEST_SECRET = 4096  # bytes of a password file
MQTT_PORT = 1883
NO_MQTT = "results.mqtt needs the package aiomqtt: pip install 'muleteer[mqtt]'"


class Hooks:
    """From results to whoever wants them. `device` is this device's id."""

    def __init__(self, settings: ResultSettings, device: str) -> None:
        self.settings, self._device = settings, device
        self._running: set[asyncio.Task[None]] = set()

    def pass_on(self, ended: Ended) -> None:
        """Begin to tell everyone; waits for nothing."""
        content = json.dumps({"device": self._device, **asdict(ended)}, ensure_ascii=False).encode()
        chosen = self.settings
        if chosen.command:
            self._begin("results.command", self._command(content))
        if chosen.webhook:
            self._begin("results.webhook", self._webhook(content))
        if chosen.mqtt:
            self._begin("results.mqtt", self._mqtt(content))

    async def close(self) -> None:
        """Give up what is still being told."""
        for task in self._running:
            task.cancel()
        if self._running:
            await asyncio.wait(self._running)

    def _begin(self, name: str, work: Coroutine[object, object, None]) -> None:
        if len(self._running) >= MOST:
            log.warning("%s is not told of a result: %d are being told already.", name, MOST)
            work.close()
            return
        task = asyncio.create_task(self._told(name, work), name=name)
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def _told(self, name: str, work: Coroutine[object, object, None]) -> None:
        try:
            async with asyncio.timeout(self.settings.seconds):
                await work
        except TimeoutError:
            log.warning("%s took longer than %g s.", name, self.settings.seconds)
        except (OSError, ValueError, httpx.HTTPError, httpx.InvalidURL) as error:
            log.warning("%s has failed: %s", name, error)

    async def _command(self, content: bytes) -> None:
        pipe, nothing = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
        command = self.settings.command
        process = await asyncio.create_subprocess_exec(
            *command, stdin=pipe, stdout=nothing, stderr=nothing, start_new_session=True
        )
        try:
            await process.communicate(content)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # it, if it is late, and what it has left behind
            await process.wait()
        if process.returncode:
            raise OSError(f"it ended with {process.returncode}")

    async def _webhook(self, content: bytes) -> None:
        headers = {"content-type": "application/json"}
        async with httpx.AsyncClient(timeout=self.settings.seconds) as client:
            answer = await client.post(self.settings.webhook, content=content, headers=headers)
            answer.raise_for_status()

    async def _mqtt(self, content: bytes) -> None:
        try:
            import aiomqtt
        except ImportError:
            raise OSError(NO_MQTT) from None
        chosen, address = self.settings, urlsplit(self.settings.mqtt)
        password = await asyncio.to_thread(_secret, chosen.mqtt_password_file)
        broker = aiomqtt.Client(
            address.hostname or "",
            address.port or MQTT_PORT,
            username=chosen.mqtt_user or None,
            password=password or None,
            timeout=chosen.seconds,
        )
        try:
            async with broker as client:
                await client.publish(unquote(address.path.lstrip("/")), content, qos=1)
        except aiomqtt.MqttError as error:
            raise OSError(str(error)) from error


def _secret(path: str) -> str:
    if not path:
        return ""
    with Path(path).open("rb") as file:
        return file.read(LARGEST_SECRET).decode().strip()

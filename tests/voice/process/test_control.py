"""The voice process on scripted parts, controlled by the commands of its users."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
from click.testing import CliRunner

from muleteer.cli.voice import voice
from muleteer.closing import Closing, Stop
from muleteer.config import Settings
from muleteer.settings.sections import GatewaySettings
from muleteer.voice.process import Equipped, serve
from muleteer.voice.settings import VoiceSettings
from tests.voice.conversation.scripted import Scene
from tests.voice.process.conftest import Daemon


@asynccontextmanager
async def served(daemon: Daemon, scene: Scene, **changed: object) -> AsyncIterator[Path]:
    """The process's conversation; gives its control socket, and lets it end."""
    control = daemon.folder / "control"
    settings = Settings(
        state=daemon.folder / "state",
        gateway=GatewaySettings(socket=daemon.listener.path),
        voice=VoiceSettings(socket=control, tones=False, **changed),
    )
    stop, closing = Stop(), Closing()
    parts = Equipped(
        scene.microphone, scene.speaker, scene.wake_word, scene.activity, scene.recognizer, scene.speech
    )
    task = asyncio.create_task(serve(settings, daemon.listener.path, parts, stop, closing))
    while not scene.microphone.open and not (daemon.folder / "state" / "voice-muted").exists():  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    try:
        yield control
    finally:
        stop.ask()
        await task
        await closing.close(stop.forced)


async def command(control: Path, *args: str) -> str:
    """What a command of the user prints, when it has succeeded."""
    done = await asyncio.to_thread(CliRunner().invoke, voice, [*args, "--control", str(control)])
    assert done.exit_code == 0, done.output
    return done.output


async def test_muted_by_command_no_frame_is_read_also_after_a_restart(daemon: Daemon, scene: Scene) -> None:
    async with served(daemon, scene) as control:
        assert "microphone  good" in await command(control, "status")
        assert "muted (by hand)" in await command(control, "mute")
        taken = scene.microphone.taken
        assert not scene.microphone.open
        await asyncio.sleep(0.1)
        assert scene.microphone.taken == taken
    async with served(daemon, scene) as control:
        await asyncio.sleep(0.1)
        assert scene.microphone.taken == taken
        assert json.loads(await command(control, "unmute", "--json"))["muted"] is False
        while scene.microphone.taken == taken:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def test_it_says_what_it_is_told_and_is_hushed(daemon: Daemon, scene: Scene) -> None:
    async with served(daemon, scene) as control:
        await command(control, "say", "Dinner", "is", "ready.")
        while not scene.speaker.heard:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        await command(control, "say", " ".join(["blah"] * 200))
        assert "speaking" in await command(control, "status")
        assert "waiting" in await command(control, "hush")
    assert scene.speaker.heard == ["Dinner is ready."]


async def test_what_is_no_request_is_refused_in_a_sentence(daemon: Daemon, scene: Scene) -> None:
    async with served(daemon, scene) as control:
        transport = httpx.AsyncHTTPTransport(uds=str(control))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            refused = await client.post("/v1/voice/say", json={"text": ""})
            assert refused.status_code == 400
            assert (await client.get("/v1/voice/nothing")).status_code == 404
            assert "text" in refused.json()["error"]["message"]


async def test_nothing_is_kept_unless_it_is_wished(daemon: Daemon, scene: Scene) -> None:
    recordings = daemon.folder / "state" / "recordings"
    for keeps in (False, True):
        async with served(daemon, scene, keep=keeps) as control:
            await scene.microphone.wake()
            await scene.says("What time is it?")
            while len(daemon.harness.asked) < 1 + keeps:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            shown = await command(control, "status")
        assert ("every utterance" in shown) is keeps
        assert recordings.exists() is keeps


async def test_a_command_without_a_process_says_how_to_start_one(folder: Path) -> None:
    done = await asyncio.to_thread(CliRunner().invoke, voice, ["mute", "--control", str(folder / "c")])
    assert "start it: muleteer voice" in str(done.exception)

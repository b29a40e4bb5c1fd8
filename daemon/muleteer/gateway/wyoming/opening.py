"""Wyoming, put together from the parts of the daemon that it needs."""

from __future__ import annotations

from collections.abc import Callable

from wyoming.info import Attribution, HandleModel, HandleProgram, Info

import muleteer
from muleteer.closing import Closing
from muleteer.config import Settings
from muleteer.gateway.turns import Turns
from muleteer.gateway.wyoming.listening import VoiceListening
from muleteer.gateway.wyoming.talk import History, Talks
from muleteer.harness.phrases import LANGUAGES
from muleteer.skills import Catalogue

FLUSH_SECONDS = 1.0  # beyond stop_timeout, to cut off who is left
NOBODY = Attribution("", "")  # clients want one for every program and model


async def open_voice(
    settings: Settings,
    closing: Closing,
    device: str,
    turns: Turns,
    history: History,
    catalogue: Callable[[], Catalogue],
) -> VoiceListening:
    """Listen where the section `wyoming` says, which may be nowhere."""
    model = settings.engine.model

    def info() -> Info:
        return describe(
            device, model, any(tool.effect == "physical" for tool in catalogue().toolbox.tools.values())
        )

    voice = VoiceListening(settings.wyoming, Talks(turns, history), info)
    timeout = settings.gateway.stop_timeout
    closing.add("voice pipelines", lambda: voice.stop(timeout), timeout + FLUSH_SECONDS)
    await voice.open(settings.state, settings.gateway)
    return voice


def describe(device: str, model: str, acts: bool) -> Info:
    """What `describe` is answered, whether a model is loaded or not. The name is the same for good, since
    clients know a service by it; `acts`: there are tools that act on real devices."""
    version = muleteer.__version__
    installed = HandleModel(model, NOBODY, True, "the model of this device", version, list(LANGUAGES))
    program = HandleProgram(
        f"Muleteer {device[:4]}".strip(),
        NOBODY,
        True,
        "a small language model in harness",
        version,
        [installed],
        supports_handled_streaming=True,
        supports_home_control=acts,
    )
    return Info(handle=[program])

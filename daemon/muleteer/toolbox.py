"""Call tools: one call, one result, whatever the tool does.

Knows deadlines, threads and what a tool is lent; knows nothing of files (`catalogue/loading.py`), models,
plans or prompts.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import time
import traceback
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path

from muleteer.calling.lending import FROM_SERVICE, Lent
from muleteer.calling.results import TEXT_LIMIT, checked, late, sentence, tidy, unsure
from muleteer.calling.threads import OwnLoop, in_thread
from muleteer.catalogue.declared import RESERVED, Loaded, Tool, handle_of, read_tool
from muleteer.catalogue.loading import LOAD_LIMIT, Library
from muleteer.catalogue.offering import offered
from muleteer.catalogue.shelf import Shelf
from muleteer.tool import Result, Services, ToolFunction

__all__ = ["RESERVED", "STUCK_LIMIT", "Loaded", "Outcome", "Tool", "Toolbox", "handle_of"]

log = logging.getLogger(__name__)

STUCK_LIMIT = 4  # threads of one tool that outlived their calls; more would pile up without end


@dataclass(frozen=True, slots=True)
class Outcome:
    """One finished call: the tool's name as called, its result, and wall time in milliseconds."""

    tool: str
    result: Result
    ms: float


class Toolbox:
    """All tools of this daemon. `tools` by name; `disabled`, `stale`, `origins` and `were` as on the shelf
    they were taken from."""

    def __init__(self, services: Services, shelf: Shelf[Loaded] | None = None) -> None:
        shelf = shelf or Shelf[Loaded]()
        self._services, self._loaded = services, shelf.things
        self.tools: dict[str, Tool] = {name: offered(each, services) for name, each in shelf.things.items()}
        self.disabled, self.stale, self.origins = shelf.disabled, shelf.stale, shelf.origins
        self.were = shelf.were

    @classmethod
    def load(cls, folders: Sequence[Path], services: Services, seconds: float = LOAD_LIMIT) -> Toolbox:
        """Those of every folder that exists; later folders override by name."""
        return cls(services, Library(folders, seconds=seconds).read())

    @classmethod
    def of(cls, functions: Iterable[ToolFunction], services: Services | None = None) -> Toolbox:
        """Tools made in code, without a file; where none are given, nothing is lent to them."""
        toolbox = cls(services or Services())
        for function in functions:
            loaded = read_tool(function, "")
            if isinstance(loaded, str):
                toolbox.disable(function.__name__, loaded)
            else:
                toolbox.adopt(loaded, "the program")
        return toolbox

    def adopt(self, loaded: Loaded, origin: str) -> None:
        """Take in a tool from elsewhere, instead of one of its name; `origin` says from where."""
        name = loaded.tool.name
        self._forget(name)
        self.disabled.pop(name, None)
        self._loaded[name], self.origins[name] = loaded, origin
        self.tools[name] = offered(loaded, self._services)

    async def call(self, name: str, arguments: Mapping[str, object]) -> Outcome:
        """Run a tool. Whatever goes wrong in it becomes a result; only the cancellation of the caller passes
        through."""
        began = time.perf_counter()
        loaded = self._loaded.get(name)
        if loaded is None:
            result = Result.error(f"unknown tool '{name}'. Available: {', '.join(sorted(self._loaded))}")
        elif loaded.tool.network and (reason := await self._offline()):
            result = Result.unavailable(f"{reason}, so {name} cannot use the network.")
        else:
            result = await self._run(loaded, arguments)
        return Outcome(name, result, (time.perf_counter() - began) * 1000)

    def disable(self, name: str, reason: str) -> None:
        """Take a tool (or a file or folder that gave none) out of use; `reason` is a sentence for people."""
        self._forget(name)
        self.disabled[tidy(name)] = tidy(reason)

    async def _offline(self) -> str:
        """Why no tool may use the network now, without a full stop; empty when they may."""
        try:
            return await self._services.offline.reason()
        except OSError as error:
            return str(error)

    async def _run(self, loaded: Loaded, given: Mapping[str, object]) -> Result:
        """The call in a thread of its own: no code of a tool ever runs in the daemon's loop."""
        name, timeout = loaded.tool.name, loaded.tool.timeout
        stuck = sum(call.cancelled for call in loaded.running)
        if stuck >= STUCK_LIMIT:
            return Result.error(f"{name} is still stuck in {stuck} earlier calls.")
        own = OwnLoop()
        loaded.running.add(own)

        def done() -> None:
            loaded.running.discard(own)

        services, lent = _lend(self._services)
        try:
            async with asyncio.timeout(timeout):
                return await in_thread(lambda: _perform(loaded, given, services, own), f"tool {name}", done)
        except TimeoutError:
            return late(name, timeout, loaded.tool.effect)
        except Exception as error:  # noqa: BLE001  # no more threads, or a fault that defied description
            return Result.error(f"{name} failed: {sentence(error)}")
        finally:
            for each in lent:
                each.take_back()
            own.cancel()

    def _forget(self, name: str) -> None:
        for each in (self.tools, self._loaded, self.stale):
            each.pop(name, None)


def _lend(services: Services) -> tuple[Services, list[Lent]]:
    """The services for one call of a tool, and what must be taken back from it."""
    home = asyncio.get_running_loop()
    lent = {each.name: Lent(getattr(services, each.name), home) for each in fields(services)}
    return replace(services, **lent), list(lent.values())


def _perform(loaded: Loaded, given: Mapping[str, object], services: Services, own: OwnLoop) -> Result:
    """The call itself, in the tool's thread, where also its types convert, check and describe themselves."""
    name = loaded.tool.name
    try:
        arguments = loaded.form.arguments(given)
    except BaseException as error:  # noqa: BLE001  # a tool's fault is its result, whatever it raises
        return Result.error(f"{name} was not called: {sentence(error, TEXT_LIMIT)}")
    arguments |= dict.fromkeys(loaded.form.services, services)
    try:
        value: object = loaded.function(**arguments)
        if inspect.isawaitable(value):
            value = own.run(value)
    except asyncio.CancelledError:
        return Result.error(unsure(f"{name} gave up before it had a result.", loaded.tool.effect))
    except BaseException as error:  # noqa: BLE001  # as above
        _trace(f"{name} failed", error)
        if isinstance(error, OSError) and FROM_SERVICE in getattr(error, "__notes__", ()):
            return Result.unavailable(sentence(error))
        return Result.error(f"{name} failed: {sentence(error)}")
    try:
        return checked(value)
    except BaseException as error:  # noqa: BLE001  # as above
        return Result.error(f"{name} is broken: {sentence(error)}")


def _trace(what: str, error: BaseException) -> None:
    """Log a fault. It is put into words before, since the log is held locked while it writes."""
    if log.isEnabledFor(logging.DEBUG):
        log.debug("%s: %s", what, "".join(traceback.format_exception(error)))

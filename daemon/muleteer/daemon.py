"""The daemon: start, serve until told to stop, stop in reverse. Read this first.

    state folder, notebook, tools and skills -> socket -> engine -> prompts measured -> ready

The socket answers early, so that `status` can say what is being waited for. A start that cannot succeed
ends with one sentence; once ready, a failing engine changes only the state that is reported.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import NoReturn

import uvloop

from muleteer import config, exits, paths, session
from muleteer.alive import Alive
from muleteer.background.opening import open_background
from muleteer.brains.opening import open_brains
from muleteer.broadcast import Broadcast
from muleteer.catalogue.declared import Loaded
from muleteer.catalogue.loading import Library
from muleteer.catalogue.renewal import Renewal, gather, tell
from muleteer.catalogue.skill_files import SkillLibrary
from muleteer.catalogue.stock import Stock
from muleteer.catalogue.watching import changes
from muleteer.closing import GRACE_SECONDS, Closing, Stop, end_tasks, leave
from muleteer.config import Settings
from muleteer.engine import models
from muleteer.engine.client import Engine
from muleteer.engine.protocol import LoadSettings
from muleteer.engine.talks import forget_talks
from muleteer.errors import (
    ConfigError,
    EngineDiedError,
    InUseError,
    MuleteerError,
)
from muleteer.gateway.activation import Listeners
from muleteer.gateway.app import Report
from muleteer.gateway.calls import call_route
from muleteer.gateway.checks import check_route
from muleteer.gateway.health import Health
from muleteer.gateway.listening import Listening
from muleteer.gateway.opening import Parts, open_gateway
from muleteer.gateway.plan import plan_route
from muleteer.gateway.recent import Recent
from muleteer.gateway.sockets import listen_unix
from muleteer.gateway.speaking import speaking_routes
from muleteer.gateway.steering import steering_routes
from muleteer.gateway.turns import Turns
from muleteer.harness import constants
from muleteer.harness.events import Outcome, TurnFinished
from muleteer.harness.evidence import FileEvidence, things
from muleteer.harness.turn import Harness
from muleteer.heat import Cooling
from muleteer.household import open_household
from muleteer.journal import JournalHandler
from muleteer.lock import HeldError, LockFile
from muleteer.mcp_servers.service import McpServers
from muleteer.notify import Notifier
from muleteer.reloading import Apply, Reread, reloading
from muleteer.seat.strain import Strain
from muleteer.sensors import Sensors
from muleteer.services import Services
from muleteer.store.memory import TurnMemory
from muleteer.store.usage import Usage
from muleteer.warming import Warming

log = logging.getLogger(__name__)

ENGINE_STOP_SECONDS = 10.0  # a chunk of prefill on a slow board, then the process is killed
STOP_SECONDS = 40.0  # beyond stop_timeout, for all steps of a stop with their grace
LOAD_SECONDS = 5.0  # beyond load_timeout: the load itself is told first what it was too slow for
MCP_STOP_SECONDS = 6.0  # every server gets its three waits, all of them at the same time
MIB = 2**20  # bytes


def run(settings: Settings, reread: Reread | None = None) -> NoReturn:
    """Serve until a signal, and end the process; its exit code is that of a start that failed. `reread` reads
    the settings again, for a reload.

    A signal is raised again after a clean stop, so that the supervisor sees the true cause. The event loop
    is not closed: that would wait for tasks and threads that have ignored every deadline.
    """
    stop = Stop(settings.gateway.stop_timeout + STOP_SECONDS)
    runner = asyncio.Runner(loop_factory=uvloop.new_event_loop)
    try:
        code = runner.run(_serve_until_signalled(settings, stop, reread))
    except Exception:
        log.exception("The daemon failed.")
        code = exits.TURN_FAILED
    leave(code, stop.signal)


async def _serve_until_signalled(settings: Settings, stop: Stop, reread: Reread | None) -> int:
    with stop.at_signals():
        try:
            return await serve(settings, stop=stop, reread=reread)
        finally:
            await end_tasks()


async def serve(
    settings: Settings,
    ready: Callable[[], None] | None = None,
    stop: Stop | None = None,
    reread: Reread | None = None,
) -> int:
    """Serve until `stop` is asked; `ready` is called when the first turn can be served.

    Returns 0 after a clean stop. When the start fails its sentence is logged, what was started is stopped,
    and the code says whose fault it was: 2 the settings, 3 the socket or another daemon, 4 the model or
    the engine, 1 anything else.
    """
    stop = stop or Stop()
    closing = Closing()
    try:
        if await _unless(stop.asked, _start(settings, closing, reread)) and ready:
            ready()
        await stop.asked.wait()
    except MuleteerError as error:
        log.error("%s", error)
        return exits.code_of(error)
    finally:
        await closing.close(stop.forced)
    return 0


async def _unless(asked: asyncio.Event, start: Coroutine[object, object, None]) -> bool:
    """Whether `start` got done; it is cancelled when a stop is asked for first."""
    starting = asyncio.create_task(start)
    waiting = asyncio.create_task(asked.wait())
    try:
        await asyncio.wait({starting, waiting}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        waiting.cancel()
        starting.cancel()
        await asyncio.wait({starting}, timeout=GRACE_SECONDS)
    if starting.cancelled() or not starting.done():
        return False
    starting.result()
    return True


async def _start(settings: Settings, closing: Closing, reread: Reread | None = None) -> None:
    """Every part, in the order of what it needs; each adds how it is closed."""
    listeners = Listeners.take()
    closing.add("state folder", _lock_state(settings.state).release)
    engine = _engine(settings)
    health = Health(engine)
    alive = Alive(Notifier.take(), health.report, engine.silence)
    _in_background(closing, "signs of life", alive.run())
    recent = Recent()
    household = await open_household(settings, closing, partial(_forget, settings, engine, recent))
    JournalHandler.device = household.device
    usage = Usage(settings.state / "usage.db")
    closing.add("usage", usage.close)
    await usage.open()
    stock = _stock(settings, household.services)
    catalogue = await gather(stock)
    disabled = catalogue.reasons()
    brains = await open_brains(settings, closing, household.offline.why, engine)
    privacy, tools = household.privacy, settings.tools
    harness = Harness(engine, catalogue, settings.budgets, tools.confirm, settings.language, brains, privacy)
    lent = household.services
    harness.evidence = FileEvidence(lent.documents.find, lambda: things(lent))
    warming = Warming(engine, harness.prompts, usage.by_use, begun=harness.take_up)
    renewal = Renewal(stock, harness, _changed(warming, harness, household.broadcast))
    cooling = Cooling(engine, settings.engine.hot, Sensors().read)

    gateway = settings.gateway
    listener = listeners.unix or listen_unix(gateway.socket, gateway.socket_mode, gateway.socket_group)
    closing.add("socket", listener.close)
    closing.add("engine", engine.stop, ENGINE_STOP_SECONDS)

    turns = Turns(
        harness, health, settings.engine.queue + 1, ended=_keep(usage, household.memory), recent=recent
    )
    sections: dict[str, Report] = {
        "prompts": warming.report,
        "menu": harness.menu_report,
        "heat": cooling.report,
        "ledger": lambda: asdict(harness.audit),
        "brains": brains.report,
        "device": lambda: {"id": household.device},
        **household.sections,
    }
    background, background_routes, background_live = await open_background(
        settings, closing, household, engine, lambda: harness.catalogue, turns, health
    )
    sections["background"] = background.report
    servers = McpServers(settings.mcp)
    live: dict[str, Apply] = {
        **household.live,
        "mcp": lambda new: servers.take_up(new.mcp),
        "background": background_live,
        "results": background_live,
        "engine.hot": lambda new: cooling.limit(new.engine.hot),
    }
    routes = [
        *household.routes,
        *steering_routes(renewal, health),
        call_route(lambda: harness.catalogue),
        check_route(lambda: harness.catalogue, engine, settings.budgets, health),
        plan_route(lambda: harness, health),
        *speaking_routes(lambda: harness, household.services, health),
        *background_routes,
        *turns.traces.routes(),
        reloading(settings, reread or config.load, harness, renewal, live).route(),
    ]
    parts = Parts(settings, engine, harness, turns, health, household, sections)
    listening = await open_gateway(parts, closing, listeners, listener, routes)
    closing.add("turns", lambda: _say_goodbye(alive, health, listening, turns))
    closing.add("listeners", household.broadcast.close)
    if household.seat:
        strain = Strain(engine, lambda: health.report()[0])
        _in_background(closing, "watching of the strain", household.seat.watch(strain.reason))
    log.info("Listening on %s; loading the model.", listener.path)

    _in_background(closing, "heat", cooling.run())
    _in_background(closing, "usage", usage.run())
    if settings.engine.model == models.NONE:
        health.enter("no model", "engine.model is none, so this device only takes part in the household")
        log.info("Ready, without a model.")
        alive.ready()
        return
    await engine.start()
    pid = await _prepare(settings, health, engine, harness)
    tell(catalogue, disabled)
    _in_background(closing, "warming", warming.run(pid))
    _in_background(closing, "watching of skills and tools", renewal.run(changes(_folders())))
    _open_servers(servers, closing, stock, renewal, sections)
    health.enter("ready")
    log.info("Ready.")
    alive.ready()


async def _forget(settings: Settings, engine: Engine, recent: Recent) -> None:
    """Conversations that may repeat what is forgotten. Raises as `forget_talks`."""
    recent.forget()
    await forget_talks(engine, _prefixes(settings))


def _keep(usage: Usage, memory: TurnMemory) -> Callable[[Outcome, str], None]:
    """What is remembered of a turn: which prompts it needed, and what was said."""

    def ended(outcome: Outcome, message: str) -> None:
        usage.add(constants.used(outcome))
        if isinstance(outcome, TurnFinished) and message:  # in the background nobody has said anything
            found = not outcome.calls or any(call.status == "ok" for call in outcome.calls)
            memory.add(message, outcome.answer, session.current.get(), found, bool(outcome.calls))

    return ended


def _changed(warming: Warming, harness: Harness, broadcast: Broadcast) -> Callable[[], None]:
    """What follows when skills or tools have changed: new prompts are decoded, and clients hear of it."""

    def changed() -> None:
        warming.renew()
        broadcast.publish("tools.changed", {"handles": len(harness.catalogue.handles)})

    return changed


def _stock(settings: Settings, services: Services) -> Stock:
    """The skills and tools of this device, as far as they are on it."""
    tools = Library(paths.tool_folders(), packages=True)
    return Stock(SkillLibrary(paths.skill_folders()), tools, services, settings.state)


def _folders() -> list[Path]:
    return [*paths.skill_folders(), *paths.tool_folders()]


def _open_servers(
    servers: McpServers, closing: Closing, stock: Stock, renewal: Renewal, sections: dict[str, Report]
) -> None:
    """Begin to connect to MCP servers, whose tools join when they are there."""

    def offered(origin: str, tools: tuple[Loaded, ...], refused: Mapping[str, str]) -> None:
        stock.offer(origin, tools, refused)
        renewal.want()

    sections["mcp"] = servers.report
    servers.open(offered)
    closing.add("MCP servers", servers.close, MCP_STOP_SECONDS)


async def _prepare(settings: Settings, health: Health, engine: Engine, harness: Harness) -> int | None:
    """Load the model and measure the prompts; from the beginning if the engine dies of its first decodes,
    since it then comes back with other settings or more memory. Returns the process that was prepared."""
    pid = None
    for left in range(settings.engine.restarts, -1, -1):
        health.enter("loading", "the model is loading")
        await engine.ready(settings.engine.load_timeout + LOAD_SECONDS)
        health.enter("loading", "the prompts are being measured")
        pid = engine.status().pid
        try:
            tokens = await harness.measure()
            log.info("Reading the menu: %d tokens.", tokens)
            health.enter("loading", f"the planner's prompt of {tokens} tokens is being decoded")
            await harness.warm()
            break
        except EngineDiedError as error:
            if not left:
                raise
            log.warning("Preparing the prompts again: %s", error)
    return pid


def _in_background(closing: Closing, name: str, work: Coroutine[object, object, None]) -> None:
    """Run `work` until the daemon stops. A fault of it is logged, and the daemon does without."""

    async def run() -> None:
        try:
            await work
        except Exception:
            log.exception("The %s has failed; the daemon goes on without it.", name)

    async def cancel() -> None:
        task.cancel()
        await asyncio.wait({task})

    task = asyncio.create_task(run(), name=name)
    task.add_done_callback(lambda _: work.close())  # which has not begun, if the daemon stops at once
    closing.add(name, cancel)


def _say_goodbye(alive: Alive, health: Health, listening: Listening, turns: Turns) -> None:
    """Take no more connections and no more turns, and end the running ones with an event that says why."""
    alive.stopping()
    health.enter("stopping", "the daemon is stopping")
    listening.close()
    turns.stop()


def _engine(settings: Settings) -> Engine:
    chosen = settings.engine
    return Engine(
        models.resolve(chosen.model, settings.models),
        LoadSettings(
            context=chosen.context,
            sequences=chosen.sequences,
            batch=chosen.batch,
            threads=chosen.threads,
            states=str(_prefixes(settings)),
            parked_memory=chosen.parked_memory * MIB,
            parked_disk=chosen.parked_disk * MIB,
            parked_talks=chosen.parked_talks,
        ),
        queue=chosen.queue,
        load_timeout=chosen.load_timeout,
        restarts=chosen.restarts,
        idle_unload=chosen.idle_unload,
    )


def _prefixes(settings: Settings) -> Path:
    """The folder of saved prefixes."""
    return settings.state / "prefixes"


def _lock_state(folder: Path) -> LockFile:
    """The state folder, made if missing and ours alone."""
    try:
        return LockFile(_private_folder(folder) / "lock")
    except HeldError as error:
        raise InUseError(
            f"Another daemon (process {error.pid or 'unknown'}) uses the state folder {folder}; "
            "stop it or use --state."
        ) from None
    except OSError as error:
        raise _unusable(folder, error) from error


def _private_folder(folder: Path) -> Path:
    """Made if missing, for nobody else to read. Raises `ConfigError`."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise _unusable(folder, error) from error
    return folder


def _unusable(folder: Path, error: OSError) -> ConfigError:
    return ConfigError(f"Cannot use the state folder {folder}: {error.strerror}; use --state.")

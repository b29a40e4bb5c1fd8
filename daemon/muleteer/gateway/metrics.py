"""`GET /metrics`: what is counted and what holds now, in Prometheus' text format.

Knows names, labels and units (https://prometheus.io/docs/practices/naming/). Counts nothing itself: a
registry is made of the daemon's state whenever somebody looks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import get_args, get_type_hints

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import generate_latest
from prometheus_client.registry import Collector
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

import muleteer
from muleteer.engine.protocol import EngineStatus
from muleteer.footprint import footprint
from muleteer.gateway.health import Health, State, Supervised
from muleteer.gateway.recent import KINDS
from muleteer.gateway.tally import Requests
from muleteer.gateway.turns import Turns
from muleteer.seat.messages import Role

STATES: tuple[str, ...] = get_args(State)
ENGINE_STATES: tuple[str, ...] = get_args(get_type_hints(EngineStatus)["state"])
ROLES = tuple(role.value for role in Role)
CALLS = ("ok", "empty", "unavailable", "error")

Report = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Watched:
    """What is told of. `sections` are the status's by name, and more that it has not; `connections` are those
    open now, by listener."""

    turns: Turns
    health: Health
    engine: Supervised
    requests: Requests
    sections: Mapping[str, Callable[[], Report]]
    connections: Callable[[], Mapping[str, int]]

    def report(self, section: str) -> Report:
        """Empty where this device has none of it."""
        return self.sections[section]() if section in self.sections else {}


class _State(Collector):
    """Everything, as it is when it is asked."""

    def __init__(self, watched: Watched) -> None:
        self._watched = watched

    def collect(self) -> Iterator[Metric]:
        engine = self._watched.engine.status()
        yield _info("build", "The version that runs.", {"version": muleteer.__version__})
        yield _enum("state", "What the daemon can do now.", "state", STATES, self._watched.health.report()[0])
        yield from self._turns()
        yield from self._levels()
        yield from _engine(engine)
        yield from _memory(engine)
        yield from self._board()
        yield from self._background()
        yield from self._clients()

    def _turns(self) -> Iterator[Metric]:
        counts = self._watched.turns.counts()
        ended: dict[str, float] = {kind: counts[kind] for kind in KINDS}
        yield _counter("turns", "Turns that have ended, by outcome.", "outcome", ended)
        running = {state: counts[state] for state in ("running", "waiting")}
        yield _gauge("turns_now", "Turns that run, or wait for the model.", "state", running)

    def _levels(self) -> Iterator[Metric]:
        tally = self._watched.turns.tally
        levels = tally.levels
        requests = {name: each.count for name, each in levels.items()}
        yield _counter("level_requests", "Requests to the model, by level of the harness.", "level", requests)
        seconds = {name: each.seconds for name, each in levels.items()}
        yield _counter("level_seconds", "Seconds that these took.", "level", seconds)
        tokens = CounterMetricFamily(
            "muleteer_level_tokens", "Tokens by level and kind.", labels=["level", "kind"]
        )
        for name, each in levels.items():
            for kind in ("reused", "decoded", "generated"):
                tokens.add_metric([name, kind], getattr(each, kind))
        yield tokens
        calls = {status: tally.calls[status] for status in CALLS}
        yield _counter("tool_calls", "Tool calls that have ended, by status.", "status", calls)

    def _board(self) -> Iterator[Metric]:
        heat, seat = self._watched.report("heat"), self._watched.report("seat")
        celsius = heat.get("celsius")
        if isinstance(celsius, float):
            yield _gauge("temperature_celsius", "Of the processor.", value=celsius)
        for name in ("throttled", "undervoltage"):
            if name in heat:
                yield _gauge(name, "Whether the firmware says so now.", value=float(bool(heat[name])))
        if role := seat.get("role"):
            yield _enum("seat", "This device's part in the household.", "role", ROLES, str(role))
        if offline := self._watched.report("offline"):
            yield _gauge(
                "offline", "Whether tools stay off the network.", value=float(bool(offline["offline"]))
            )

    def _background(self) -> Iterator[Metric]:
        report = self._watched.report("background")
        ended = report.get("ended")
        if isinstance(ended, Mapping):
            yield _counter("background_turns", "Background turns, by what became of them.", "outcome", ended)
        for name in ("running", "waiting"):
            if isinstance(now := report.get(name), list):
                yield _gauge(f"background_{name}", f"Background turns that are {name}.", value=len(now))

    def _clients(self) -> Iterator[Metric]:
        requests = CounterMetricFamily(
            "muleteer_http_requests", "Requests by path and status.", labels=["path", "status"]
        )
        for (path, status), count in sorted(self._watched.requests.counts.items()):
            requests.add_metric([path, str(status)], count)
        yield requests
        open_now = self._watched.connections()
        yield _gauge("connections", "Connections that are open, by listener.", "listener", open_now)


def _engine(engine: EngineStatus) -> Iterator[Metric]:
    yield _enum("engine_state", "The engine process.", "state", ENGINE_STATES, engine.state)
    yield CounterMetricFamily("muleteer_engine_restarts", "Since the daemon began.", value=engine.restarts)
    yield _gauge("engine_queue", "Requests that wait for the model.", value=engine.queued)
    totals = engine.totals
    kinds = {kind: getattr(totals, kind) for kind in ("reused", "decoded", "generated", "rejected")}
    yield _counter("engine_tokens", "Tokens of this engine process, warming included.", "kind", kinds)
    if totals.prompt:
        yield _gauge(
            "reuse_ratio", "Prompt tokens that were not decoded again.", value=totals.reused / totals.prompt
        )


def _memory(engine: EngineStatus) -> Iterator[Metric]:
    found = footprint(engine.pid)
    resident = {name: size for name in ("daemon", "engine") if (size := found[name]) is not None}
    yield _gauge("memory_resident_bytes", "Of the daemon's processes.", "process", resident)
    yield _gauge("memory_available_bytes", "Of the machine.", value=found["available"])
    held = {"memory": engine.held.memory, "disk": engine.held.disk}
    yield _gauge("prefixes_bytes", "Decoded prompts that are kept outside the context.", "tier", held)


def metrics_route(watched: Watched) -> Route:
    """Where a scraper looks."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_State(watched))

    async def metrics(request: Request) -> Response:
        return Response(generate_latest(registry), headers={"content-type": CONTENT_TYPE_LATEST})

    return Route("/metrics", metrics)


def _gauge(
    name: str,
    help: str,
    label: str = "",
    values: Mapping[str, float] | None = None,
    value: float | None = None,
) -> Metric:
    family = GaugeMetricFamily(f"muleteer_{name}", help, value=value, labels=[label] if label else None)
    for each, number in (values or {}).items():
        family.add_metric([each], number)
    return family


def _counter(name: str, help: str, label: str, values: Mapping[str, float]) -> Metric:
    family = CounterMetricFamily(f"muleteer_{name}", help, labels=[label])
    for each, number in values.items():
        family.add_metric([each], number)
    return family


def _enum(name: str, help: str, label: str, all_of_them: tuple[str, ...], now: str) -> Metric:
    """1 for what holds, 0 for everything else."""
    return _gauge(name, help, label, {each: float(each == now) for each in all_of_them})


def _info(name: str, help: str, labels: Mapping[str, str]) -> Metric:
    family = GaugeMetricFamily(f"muleteer_{name}_info", help, labels=list(labels))
    family.add_metric(list(labels.values()), 1.0)
    return family

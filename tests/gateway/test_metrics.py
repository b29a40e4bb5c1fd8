"""`/metrics`, read by Prometheus' own parser, against turns that were really run."""

from __future__ import annotations

import os
from dataclasses import replace

import httpx
from prometheus_client.parser import text_string_to_metric_families
from starlette.applications import Starlette

import muleteer
from muleteer.engine.protocol import EngineStatus, Held, Use
from muleteer.gateway.app import Report
from muleteer.gateway.metrics import Watched, metrics_route
from muleteer.gateway.tally import MOST_LEVELS, Requests, Tally
from muleteer.harness.events import CallFinished, LevelFinished, LevelUse, TurnFailed
from tests.gateway.conftest import Served
from tests.gateway.scripted import FINISHED, STARTED

Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]


async def scraped(client: httpx.AsyncClient) -> Samples:
    reply = await client.get("/metrics")
    assert reply.status_code == 200
    assert reply.headers["content-type"].startswith("text/plain; version=")
    families = list(text_string_to_metric_families(reply.text))
    names = [family.name for family in families]
    assert len(names) == len(set(names))
    assert all(family.documentation for family in families)
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in families
        for sample in family.samples
    }


def of(samples: Samples, name: str, **labels: str) -> float:
    return samples[f"muleteer_{name}", frozenset(labels.items())]


async def test_a_turn_is_counted_level_by_level(served: Served) -> None:
    before = await scraped(served.client)
    assert of(before, "turns_total", outcome="finished") == 0
    level = LevelFinished(LevelUse.of("agent:clock", Use(20, 15, 5, 7, 7, 500.0)))
    served.harness.script = (STARTED, level, level, CallFinished("clock", "empty", "Nothing.", 2.0), FINISHED)
    await served.client.post("/v1/turns", json={"message": "x"})
    served.harness.script = (STARTED, TurnFailed("t1", "engine", "It broke.", 503, ()))
    await served.client.post("/v1/turns", json={"message": "x"})
    after = await scraped(served.client)
    assert of(after, "turns_total", outcome="finished") == 1
    assert of(after, "turns_total", outcome="failed") == 1
    assert of(after, "turns_now", state="running") == 0
    assert of(after, "level_requests_total", level="agent") == 2
    assert of(after, "level_seconds_total", level="agent") == 1.0
    tokens = {
        kind: of(after, "level_tokens_total", level="agent", kind=kind)
        for kind in ("reused", "decoded", "generated")
    }
    assert tokens == {"reused": 30, "decoded": 10, "generated": 14}
    assert of(after, "tool_calls_total", status="empty") == 1
    assert of(after, "http_requests_total", path="/v1/turns", status="200") == 2
    assert of(after, "http_requests_total", path="/metrics", status="200") == 1


async def test_the_engine_is_told_of_as_it_is(served: Served) -> None:
    held = replace(Held(), memory=1000, disk=2000)
    served.engine.now = EngineStatus(
        "restarting", restarts=3, queued=2, pid=os.getpid(), held=held, totals=Use(100, 80, 20, 9)
    )
    samples = await scraped(served.client)
    assert of(samples, "build_info", version=muleteer.__version__) == 1
    assert of(samples, "state", state="degraded") == 1
    assert of(samples, "state", state="ready") == 0
    assert of(samples, "engine_state", state="restarting") == 1
    assert of(samples, "engine_state", state="ready") == 0
    assert of(samples, "engine_restarts_total") == 3
    assert of(samples, "engine_queue") == 2
    assert of(samples, "reuse_ratio") == 0.8
    assert of(samples, "engine_tokens_total", kind="decoded") == 20
    assert of(samples, "memory_resident_bytes", process="engine") > 1 << 20
    assert of(samples, "memory_available_bytes") > 0
    assert of(samples, "prefixes_bytes", tier="disk") == 2000


async def test_the_board_the_seat_and_the_background_are_told_where_they_are_known(served: Served) -> None:
    sections: dict[str, Report] = {
        "heat": lambda: {"celsius": 61.5, "throttled": True, "undervoltage": False},
        "seat": lambda: {"role": "no majority"},
        "offline": lambda: {"mode": "on", "offline": True, "reason": "so chosen"},
        "background": lambda: {"running": ["daily-brief"], "waiting": [], "ended": {"done": 4, "failed": 1}},
    }
    watched = Watched(
        served.turns, served.health, served.engine, Requests(), sections, lambda: {"unix": 2, "network": 5}
    )
    transport = httpx.ASGITransport(Starlette(routes=[metrics_route(watched)]))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        samples = await scraped(client)
    assert of(samples, "temperature_celsius") == 61.5
    assert (of(samples, "throttled"), of(samples, "undervoltage")) == (1, 0)
    assert (of(samples, "seat", role="no majority"), of(samples, "seat", role="driver")) == (1, 0)
    assert of(samples, "offline") == 1
    assert of(samples, "background_turns_total", outcome="done") == 4
    assert (of(samples, "background_running"), of(samples, "background_waiting")) == (1, 0)
    assert of(samples, "connections", listener="network") == 5
    unknown = await scraped(served.client)
    assert not [name for name, _ in unknown if "temperature" in name or name == "muleteer_seat"]


async def test_nobody_makes_up_labels(served: Served) -> None:
    for path in ("/v1/secret", "/v1/turns/nobody/of/that/name", "/\N{SNOWMAN}", "/admin.php"):
        await served.client.get(path)
    samples = await scraped(served.client)
    paths = {dict(labels).get("path") for name, labels in samples if name == "muleteer_http_requests_total"}
    assert paths == {"other", "/v1/turns"}
    tally = Tally()
    tally.add([LevelUse(f"level{number}", 1, 0, 1, 1, 1.0) for number in range(100)], ())
    assert len(tally.levels) == MOST_LEVELS + 1
    assert tally.levels["other"].count == 100 - MOST_LEVELS

"""Who may use the gateway over the network, and what everybody else is told."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import httpx
import pytest

from muleteer.gateway import access
from muleteer.gateway.peer import Scope
from muleteer.settings.sections import GatewaySettings
from muleteer.skills import Catalogue
from tests.gateway.networked import Networked, networked
from tests.gateway.scripted import FINISHED, STARTED, post, within
from tests.seat.test_full_disk import failing

TURN = {"message": "x", "stream": False}


@pytest.fixture(params=[False, True], ids=["tcp", "tls"])
async def net(request: pytest.FixtureRequest, folder: Path, catalogue: Catalogue) -> AsyncIterator[Networked]:
    async with networked(folder, catalogue, request.param) as served:
        yield served


@pytest.fixture
async def patient(
    folder: Path, catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Networked]:
    """Who has asked too often has to wait for longer than a busy machine takes for a test."""
    monkeypatch.setattr(access, "REQUESTS", 0.001)
    monkeypatch.setattr(access, "STRANGERS", 0.001)
    async with networked(folder, catalogue) as served:
        yield served


@pytest.fixture
async def plain(folder: Path, catalogue: Catalogue) -> AsyncIterator[Networked]:
    async with networked(folder, catalogue) as served:
        yield served


async def test_a_token_lets_in_and_nothing_else_does(net: Networked) -> None:
    secret = await net.token("chat")
    async with net.client(secret) as client:
        reply = await client.post("/v1/turns", json=TURN)
        assert (reply.status_code, reply.json()["answer"]) == (200, FINISHED.answer)
    wrong = ("", "mule_", secret[:-1], secret + "x", secret.upper(), "mule_" + "ä" * 40, "x" * 9000)
    for each in wrong:
        async with net.client() as client:
            shown = [(b"authorization", f"Bearer {each}".encode())] if each else []
            reply = await client.get("/v1/status", headers=shown)
        assert (reply.status_code, reply.headers["www-authenticate"]) == (401, "Bearer")
        assert reply.json()["error"]["code"] == "unauthorized"
    async with net.client() as client:
        for shown_as in (f"Basic {secret}", secret, f"Bearerx {secret}", f"Bearer {secret} {secret}"):
            reply = await client.get("/v1/status", headers={"authorization": shown_as})
            assert reply.status_code == 401
        assert (await client.get("/healthz")).status_code == 200


@pytest.mark.parametrize(
    ("scope", "method", "path", "status"),
    [
        ("chat", "GET", "/v1/status", 200),
        ("chat", "GET", "/v1/tokens", 403),
        ("tools", "GET", "/v1/status", 200),
        ("tools", "GET", "/v1/turns", 200),
        ("tools", "GET", "/v1/tokens", 403),
        ("admin", "GET", "/v1/status", 200),
        ("admin", "GET", "/v1/tokens", 200),
        ("admin", "GET", "/nowhere", 404),
        ("chat", "GET", "/nowhere", 404),
        ("chat", "POST", "/nowhere", 404),
        ("chat", "GET", "/v1/tokens/more/of/it", 404),
        ("chat", "DELETE", "/v1/status", 403),
    ],
)
async def test_a_token_may_what_its_scopes_say(
    plain: Networked, scope: Scope, method: str, path: str, status: int
) -> None:
    async with plain.client(await plain.token(scope)) as client:
        reply = await client.request(method, path)
    assert reply.status_code == status
    if status == 403:
        error = reply.json()["error"]
        assert error["code"] == "forbidden"
        assert "`muleteer pair NAME --scope admin` on the device" in error["message"]


async def test_a_request_for_another_machine_is_turned_away_before_its_token_is_looked_at(
    net: Networked,
) -> None:
    async with net.client(await net.token("admin")) as client:
        for host in ("evil.example", f"evil.example:{net.port}", "192.168.1.20"):
            reply = await client.get("/v1/status", headers={"host": host})
            assert (reply.status_code, reply.json()["error"]["code"]) == (421, "misdirected")
        assert (await client.get("/v1/status", headers={"host": "localhost"})).status_code == 200
    assert next(iter(net.tokens)).used is not None


async def test_a_page_from_elsewhere_is_turned_away(net: Networked) -> None:
    async with net.client(await net.token("admin")) as client:
        for origin in ("http://evil.example", "null", f"http://localhost:{net.port}"):
            reply = await client.post("/v1/turns", json=TURN, headers={"origin": origin})
            assert (reply.status_code, reply.json()["error"]["code"]) == (403, "forbidden")
        assert net.harness.asked == []
        reply = await client.post("/v1/turns", json=TURN, headers={"origin": net.url})
        assert reply.status_code == 200


async def test_names_of_the_settings_count_as_ours(folder: Path, catalogue: Catalogue) -> None:
    settings = GatewaySettings(listen="loopback", port=0, hosts=("mule.example.net",))
    async with networked(folder, catalogue, settings=settings) as net, net.client() as client:
        assert (await client.get("/healthz", headers={"host": "mule.example.net"})).status_code == 200


async def test_who_asks_on_the_unix_socket_needs_no_token_and_is_logged(
    plain: Networked, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "muleteer.gateway.access"):
        async with plain.local() as client:
            assert (await client.post("/v1/turns", json=TURN)).status_code == 200
    record = next(each for each in caplog.records if "POST /v1/turns" in each.getMessage())
    assert record.__dict__["peer"] == f"user {os.getuid()}, process {os.getpid()}"
    assert TURN["message"] not in record.getMessage().split()


async def test_a_web_page_does_not_reach_the_unix_socket_through_a_forwarded_port(plain: Networked) -> None:
    async with plain.local() as client:
        for headers, status in (
            ({"host": "evil.example"}, 421),
            ({"origin": "http://evil.example"}, 403),
            ({"host": "localhost:8000", "origin": "http://evil.example:8000"}, 403),
            ({"host": "localhost:8000", "origin": "http://localhost:8000"}, 200),
            ({"authorization": "Bearer nonsense", "x-forwarded-for": "10.0.0.1"}, 200),
        ):
            assert (await client.get("/v1/status", headers=headers)).status_code == status


async def test_a_stranger_who_asks_too_often_does_not_keep_a_client_out(
    patient: Networked,
) -> None:
    secret = await patient.token()
    async with patient.client() as stranger, patient.client(secret) as client:
        codes = [
            (await stranger.get("/v1/status")).status_code for _ in range(int(access.STRANGERS_AT_ONCE) + 3)
        ]
        assert set(codes) == {401, 429}
        assert codes[-1] == 429
        reply = await stranger.get("/healthz")
        assert (reply.status_code, reply.headers["retry-after"]) == (429, "1")
        assert (await client.get("/v1/status")).status_code == 200


async def test_a_token_that_asks_too_often_is_told_so(patient: Networked) -> None:
    async with patient.client(await patient.token()) as client:
        codes = [
            (await client.get("/v1/status")).status_code for _ in range(int(access.REQUESTS_AT_ONCE) + 20)
        ]
    assert codes[: int(access.REQUESTS_AT_ONCE)] == [200] * int(access.REQUESTS_AT_ONCE)
    assert 429 in codes


async def test_a_client_that_leaves_frees_the_engine(net: Networked) -> None:
    net.harness.script = (STARTED, asyncio.Event())
    secret = await net.token()
    async with net.raw() as client:
        await client.send(post(b'{"message": "x", "stream": true}', f"Authorization: Bearer {secret}"))
        await client.until(b"turn.started")
    await within(net.harness.freed)


async def test_a_stop_in_the_middle_of_an_answer_is_told_to_every_client(net: Networked) -> None:
    net.harness.script = (STARTED, asyncio.Event())
    secret = await net.token()
    async with AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(net.raw()) for _ in range(3)]
        for client in clients:
            await client.send(post(b'{"message": "x", "stream": true}', f"Authorization: Bearer {secret}"))
            await client.until(b"turn.started")
        net.listening.close()
        net.turns.stop()
        for client in clients:
            assert b"shutting_down" in await client.rest()


async def test_a_revoked_token_is_cut_off_in_the_middle_of_an_answer(net: Networked) -> None:
    hold = asyncio.Event()
    net.harness.script = (STARTED, hold, FINISHED)
    async with net.client(await net.token()) as client, net.local() as admin:
        running = asyncio.create_task(client.post("/v1/turns", json=TURN))
        await within(net.harness.waiting)
        assert (await admin.delete("/v1/tokens/phone")).json() == {"revoked": "phone"}
        with pytest.raises(httpx.HTTPError):
            await running
        await within(net.harness.freed)
        assert (await client.get("/v1/status")).status_code == 401


async def test_a_full_disk_keeps_no_stolen_token_valid(net: Networked, folder: Path) -> None:
    """It is cut off in the middle of an answer, and the reply says for how long that holds."""
    net.harness.script = (STARTED, asyncio.Event(), FINISHED)
    async with net.client(await net.token()) as thief, net.local() as admin:
        running = asyncio.create_task(thief.post("/v1/turns", json=TURN))
        await within(net.harness.waiting)
        with failing(folder / "tokens.db"):
            for _ in range(2):
                reply = await admin.delete("/v1/tokens/phone")
                assert (reply.status_code, reply.json()["error"]["code"]) == (503, "storage")
                assert "Cut off now: phone." in reply.json()["error"]["message"]
                assert "start of the daemon would make it valid again" in reply.json()["error"]["message"]
            with pytest.raises(httpx.HTTPError):
                await running
            assert (await thief.get("/v1/status")).status_code == 401
        assert (await admin.delete("/v1/tokens/phone")).json() == {"revoked": "phone"}
        assert (await admin.delete("/v1/tokens/phone")).status_code == 404
        assert (await thief.get("/v1/status")).status_code == 401


async def test_a_token_may_revoke_itself_and_is_told(plain: Networked) -> None:
    async with plain.client(await plain.token("admin")) as client:
        assert (await client.delete("/v1/tokens/phone")).json() == {"revoked": "phone"}
        assert (await client.delete("/v1/tokens/phone")).status_code == 401


async def test_an_open_network_without_tls_is_said_in_the_log(
    folder: Path, catalogue: Catalogue, caplog: pytest.LogCaptureFixture
) -> None:
    for tls in (True, False):
        assert "can be read on the network" not in caplog.text
        async with networked(
            folder, catalogue, settings=GatewaySettings(listen="lan", port=0, tls=tls)
        ) as net:
            assert net.listening.lan_port == net.port
    assert "can be read on the network" in caplog.text


async def test_closed_by_default(folder: Path, catalogue: Catalogue) -> None:
    async with networked(folder, catalogue, settings=GatewaySettings()) as net, net.local() as admin:
        assert net.port == 0
        assert net.listening.lan_port == 0
        reply = await admin.post("/v1/pair/code", json={})
        assert (reply.status_code, reply.json()["error"]["code"]) == (409, "pairing")
        assert "gateway.listen" in reply.json()["error"]["message"]


async def test_every_path_there_is_asks_for_a_token(plain: Networked) -> None:
    paths = [
        "/v1/turns",
        "/v1/status",
        "/v1/skills",
        "/v1/tools",
        "/v1/tokens",
        "/v1/pair/code",
        "/metrics",
        "/nowhere",
        "/v1/turns/t1/confirm",
    ]
    async with plain.client() as client:
        for path in paths:
            for method in ("GET", "POST", "OPTIONS"):
                assert (await client.request(method, path)).status_code in (401, 429), (method, path)

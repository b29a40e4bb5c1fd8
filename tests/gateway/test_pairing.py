"""Pairing: one client for one code, and three guesses at most."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from muleteer.errors import MuleteerError
from muleteer.exchange import CLIENT, DEVICE, client_half, finish, seal, unseal
from muleteer.gateway import pairing
from muleteer.gateway.pairing import Pairing
from muleteer.skills import Catalogue
from muleteer.store.tokens import Tokens
from tests.gateway.networked import DEVICE as ID
from tests.gateway.networked import Networked, networked


@pytest.fixture(params=[False, True], ids=["tcp", "tls"])
async def net(request: pytest.FixtureRequest, folder: Path, catalogue: Catalogue) -> AsyncIterator[Networked]:
    async with networked(folder, catalogue, request.param) as served:
        yield served


async def shown(net: Networked, **body: object) -> str:
    async with net.local() as admin:
        reply = await admin.post("/v1/pair/code", json=body)
    assert reply.status_code == 200, reply.text
    return str(reply.json()["code"])


def other(code: str) -> str:
    return f"{(int(code.replace('-', '')) + 1) % 10**6:06}"


async def exchanged(
    client: httpx.AsyncClient, code: str, name: str = "desk"
) -> httpx.Response | dict[str, object]:
    """The exchange, as a client of ours does it: what it was told, or the refusal."""
    half = client_half(code.replace("-", ""))
    first = (await client.post("/v1/pair/exchange", json={"spake": half.start().hex()})).json()
    key = finish(half, first["spake"])
    box = seal(key, CLIENT, {"name": name})
    reply = await client.post("/v1/pair/exchange", json={"exchange": first["exchange"], "box": box})
    return unseal(key, DEVICE, reply.json()["box"]) if reply.status_code == 200 else reply


async def test_a_code_gives_a_token_with_the_scopes_it_was_shown_for(net: Networked) -> None:
    code = await shown(net, scopes=["chat", "tools"])
    async with net.client() as client:
        told = (await client.post("/v1/pair", json={"code": code, "name": "My phone!"})).json()
    assert (told["name"], told["scopes"], told["device"]) == ("My-phone-", ["chat", "tools"], ID)
    assert told["fingerprint"] == net.listening.report()["fingerprint"]
    async with net.client(told["token"]) as client:
        assert (await client.get("/v1/status")).status_code == 200
        assert (await client.get("/v1/tokens")).status_code == 403


async def test_a_code_is_good_for_one_client(net: Networked) -> None:
    code = await shown(net, name="phone")
    async with net.client() as client:
        replies = await asyncio.gather(*(client.post("/v1/pair", json={"code": code}) for _ in range(4)))
    assert sorted(reply.status_code for reply in replies) == [200, 409, 409, 409]
    assert [token.name for token in net.tokens] == ["phone"]


async def test_three_wrong_tries_use_it_up(net: Networked) -> None:
    code = await shown(net)
    async with net.client() as client:
        for _ in range(pairing.CODE_TRIES):
            reply = await client.post("/v1/pair", json={"code": other(code)})
            assert (reply.status_code, reply.json()["error"]["code"]) == (409, "pairing")
        right = await client.post("/v1/pair", json={"code": code})
    assert (right.status_code, right.json()) == (409, reply.json())  # and who guesses does not learn of it
    assert list(net.tokens) == []


async def test_the_code_is_proved_without_being_sent(net: Networked) -> None:
    code = await shown(net, scopes=["admin"])
    async with net.client() as client:
        told = await exchanged(client, code)
        assert isinstance(told, dict)
        assert (told["name"], told["scopes"], told["device"]) == ("desk", ["admin"], ID)
        again = await exchanged(client, code)
        assert isinstance(again, httpx.Response)
        assert again.status_code == 409
    async with net.client(str(told["token"])) as client:
        assert (await client.get("/v1/tokens")).status_code == 200


async def test_wrong_proofs_are_tries_and_exchanges_begun_before_count_too(net: Networked) -> None:
    code = await shown(net)
    async with net.client() as client:
        begun = []
        for _ in range(pairing.CODE_TRIES + 1):
            half = client_half(other(code))
            first = (await client.post("/v1/pair/exchange", json={"spake": half.start().hex()})).json()
            begun.append((first["exchange"], seal(finish(half, first["spake"]), CLIENT, {"name": "x"})))
        for number, box in begun:
            reply = await client.post("/v1/pair/exchange", json={"exchange": number, "box": box})
            assert reply.status_code == 409
        assert net.listening.pairing is not None
        assert net.listening.pairing.state() == {}
    assert list(net.tokens) == []


async def test_who_only_begins_learns_nothing_and_costs_nothing(net: Networked) -> None:
    async with net.client() as client:
        assert isinstance(await exchanged(client, "000000"), httpx.Response)  # and no code is shown
        code = await shown(net)
        for spake in ("", "00", "53" + "00" * 32, "ff" * 33, "41" + "00" * 32):
            reply = await client.post("/v1/pair/exchange", json={"spake": spake})
            assert reply.status_code == 409, spake
        assert net.listening.pairing is not None
        assert net.listening.pairing.state()["tries"] == pairing.CODE_TRIES
        assert len(code) == 7


async def test_attempts_are_few_from_one_address_and_from_all(tmp_path: Path) -> None:
    tokens = Tokens(tmp_path / "t.db")
    await tokens.open()
    paired = Pairing(tokens, ID, {})
    said: list[str] = []

    async def attempts(count: int, address: str) -> list[str]:
        said.clear()
        for _ in range(count):
            try:
                await paired.redeem("000000", "", address)
            except MuleteerError as error:
                said.append(type(error).__name__)
        return said

    assert (await attempts(8, "10.0.0.5"))[-1] == "TooManyError"
    assert (await attempts(1, "10.0.0.6")) == ["PairingError"]
    for number in range(20):
        await attempts(2, f"10.0.1.{number}")
    assert said == ["TooManyError"] * 2
    await tokens.close()


async def test_an_old_code_is_none(net: Networked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairing, "CODE_SECONDS", 0.0)
    code = await shown(net)
    async with net.client() as client:
        assert (await client.post("/v1/pair", json={"code": code})).status_code == 409


async def test_a_name_that_is_taken_is_told_before_the_code_and_made_free_for_a_client(
    net: Networked,
) -> None:
    await net.token(name="phone")
    async with net.local() as admin, net.client() as client:
        assert (await admin.post("/v1/pair/code", json={"name": "phone"})).status_code == 409
        code = await shown(net)
        told = (await client.post("/v1/pair", json={"code": code, "name": "phone"})).json()
        assert told["name"] == "phone-2"


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"code": 1},
        {"code": "x" * 99},
        {"code": "1", "name": "n" * 99},
        {"code": "1", "scopes": ["admin"]},
    ],
)
async def test_what_is_no_attempt_is_told_so(net: Networked, body: dict[str, object]) -> None:
    async with net.client() as client:
        assert (await client.post("/v1/pair", json=body)).status_code == 400

"""What a stranger on the network can do at the port: be refused, within limits, and in nobody's way."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
import ssl
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from muleteer.errors import SeatError
from muleteer.seat import enrolment
from muleteer.seat.codec import message_frame
from muleteer.seat.door import AT_ONCE, MOST_ADDRESSES, MOST_FROM_ONE, MOST_HANDSHAKES
from muleteer.seat.enrolment import MOST_TOLD
from muleteer.seat.identity import Identity, load_identity
from muleteer.seat.link import BURST, UNSENT, Address
from muleteer.seat.messages import Kind, Message
from muleteer.seat.pairing import CODE_TRIES, STEP_SECONDS
from muleteer.seat.trust import contexts, joining_context
from muleteer.seat.wire import encode
from tests.seat.neighbours import Neighbour, household, neighbours, pair, together, until

FAR = Message(Kind.HEARTBEAT, "", "", 9999, (9999, 9), clock=1)
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def connect(device: Neighbour, context: ssl.SSLContext) -> Streams:
    host, port = device.address.split(":")
    return await asyncio.open_connection(host, int(port), ssl=context, server_hostname="")


async def refused(device: Neighbour, context: ssl.SSLContext) -> None:
    """Says a heartbeat of a far term; nothing comes back but the end."""
    context.verify_mode = ssl.CERT_NONE  # a stranger does not care whom it talks to
    reader, writer = await connect(device, context)
    writer.write(encode({"k": "hello", "v": 1}, 1) + encode(message_frame(FAR), 2))
    with contextlib.suppress(OSError):  # as good an end
        assert await reader.read() == b""
    writer.transport.abort()


async def test_no_certificate_a_foreign_one_and_a_forgotten_one_are_refused(tmp_path: Path) -> None:
    stranger = load_identity(tmp_path)
    async with household(tmp_path, 2) as devices:
        first, second = devices
        assert first.seat.enrolment.roster
        key = first.seat.enrolment.roster.key
        await refused(first, contexts(stranger, Ed25519PrivateKey.generate()).connect)
        await refused(first, contexts(stranger, key).connect)  # has the key, and was never let in
        another = Identity(second.id, Ed25519PrivateKey.generate())
        await refused(first, contexts(another, key).connect)  # has the key, and lies about its id
        bare = joining_context()
        bare.set_alpn_protocols(["muleteer-seat/1"])
        await refused(first, bare)
        await until(lambda: together(devices))
        assert first.seat.view.now().term < 9999


async def test_what_a_stranger_is_shown_holds_nothing_but_the_id(tmp_path: Path) -> None:
    """And a key of this start, which says nothing of the device."""
    async with household(tmp_path, 2) as [first, _]:
        _, writer = await connect(first, joining_context())
        shown = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
        writer.transport.abort()
        assert first.seat.enrolment.roster
        household_key = first.seat.enrolment.roster.key.public_key().public_bytes_raw()
        assert household_key not in shown
        assert first.seat.identity.key.public_key().public_bytes_raw() not in shown
        assert first.id.encode() in shown
        assert first.seat.enrolment.name_of(first.id).split()[0].encode() not in shown


async def test_silent_connections_of_one_address_are_few_and_members_stay(tmp_path: Path) -> None:
    async with household(tmp_path, 2) as devices:
        first = devices[0]
        host, port = first.address.split(":")
        silent = [await asyncio.open_connection(host, int(port)) for _ in range(3 * MOST_FROM_ONE)]
        ended = [asyncio.create_task(reader.read()) for reader, _ in silent]
        await until(lambda: sum(each.done() for each in ended) >= 2 * MOST_FROM_ONE)
        await until(lambda: together(devices))
        for _, writer in silent:
            writer.close()
        await asyncio.gather(*ended, return_exceptions=True)


async def test_many_attempts_in_a_row_are_turned_away(tmp_path: Path) -> None:
    async with household(tmp_path, 2) as [first, _]:
        outcomes = []
        for _ in range(int(AT_ONCE) + 10):
            try:
                _, writer = await connect(first, joining_context())
                writer.transport.abort()
                outcomes.append(True)
            except OSError:
                outcomes.append(False)
        assert not all(outcomes)


async def test_a_code_is_good_for_a_few_tries(tmp_path: Path) -> None:
    async with neighbours(tmp_path, 2) as [first, second]:
        code = str((await first.seat.invite())["code"])
        wrong = code[:-1] + ("0" if code[-1] != "0" else "1")
        for _ in range(CODE_TRIES):
            with pytest.raises(SeatError, match="wrong or was used up"):
                await second.seat.join(wrong, first.address)
        with pytest.raises(SeatError, match="no code is shown"):
            await second.seat.join(code, first.address)
        with pytest.raises(SeatError, match="cannot be found"):
            await second.seat.join(code, "127.0.0.1:1")
        assert first.seat.enrolment.roster is None
        await pair(first, second)
        await until(lambda: together([first, second]))
        with pytest.raises(SeatError, match="belongs to a household"):
            await second.seat.join(code, first.address)


async def test_strangers_who_prove_nothing_use_up_no_try_and_hold_nobody_up(tmp_path: Path) -> None:
    async with neighbours(tmp_path, 3) as [first, second, third]:
        code = str((await first.seat.invite())["code"])
        place = Address("127.0.0.1", first.seat.peers.port)
        for _ in range(CODE_TRIES + 1):
            visited = await third.seat.peers.visit(place)
            assert visited
            visited[2].write(encode({"spake": "53" + "00" * 32}))
            visited[2].transport.abort()
        silent = await third.seat.peers.visit(place)
        assert silent
        async with asyncio.timeout(STEP_SECONDS / 2):
            await second.seat.join(code, first.address)
        silent[2].transport.abort()
        await until(lambda: together([first, second]))
        code = str((await first.seat.invite())["code"])
        held = [await third.seat.peers.visit(place) for _ in range(enrolment.MOST_FROM_ONE)]
        with pytest.raises(SeatError, match="no code is shown"):
            await third.seat.join(code, first.address)
        for each in held:
            assert each
            each[2].transport.abort()


async def test_thousands_of_strangers_leave_nothing_and_keep_nobody_out(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """4,000 connections and 300 pairings that prove nothing, from 500 addresses, while a code is shown."""
    async with household(tmp_path, 2) as devices:
        (rest := tmp_path / "newcomer").mkdir()
        first, port = devices[0], devices[0].seat.peers.port
        code = str((await first.seat.invite())["code"])
        door, before = first.seat.peers._door, _sockets()
        for number in range(4_000):
            with socket.socket() as sock:
                sock.setblocking(False)
                sock.bind((_address(number), 0))
                await asyncio.get_running_loop().sock_connect(sock, ("127.0.0.1", port))
            assert len(door._tasks) <= MOST_HANDSHAKES
            assert len(door._attempts) <= MOST_ADDRESSES
        for number in range(300):
            with contextlib.suppress(OSError):
                _, writer = await asyncio.open_connection(
                    "127.0.0.1",
                    port,
                    ssl=joining_context(),
                    server_hostname="",
                    local_addr=(_address(number), 0),
                )
                writer.write(encode({"spake": "53" + "00" * 32}))
                writer.transport.abort()
        await until(lambda: _sockets() <= before)
        await until(lambda: together(devices))  # a machine that is busy otherwise may have held them up
        assert caplog.text.count("was not let in") <= MOST_TOLD
        async with neighbours(rest, 1) as [third]:
            await third.seat.join(code, first.address)
            await until(lambda: together([*devices, third]))


def _sockets() -> int:
    """How many this process has. A store opens and closes files as it likes."""
    kinds = []
    for each in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # the one of this look, among others
            kinds.append(os.readlink(each))
    return sum(kind.startswith("socket:") for kind in kinds)


def _address(number: int) -> str:
    """One of 500 of this machine."""
    return f"127.9.{number % 500 // 250}.{number % 250 + 1}"


@pytest.mark.parametrize(
    ("flood", "reason"),
    [
        (lambda: encode({"k": "x"}, 1) + encode({"k": "x"}, 1), "sent before"),
        (lambda: b"".join(encode({"k": "x"}, number) for number in range(1, int(BURST) + 50)), "too many"),
        (lambda: encode({"e": [99]}, 1), "cannot be understood"),
        (lambda: encode({"k": "roster", "members": 7, "priority": 1}, 1), "cannot be understood"),
        (lambda: b"\xff" * 100, "at most"),
    ],
)
async def test_a_member_that_has_gone_mad_is_cut_off(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, flood: object, reason: str
) -> None:
    caplog.set_level(logging.INFO)
    async with household(tmp_path, 2) as [first, second]:
        assert first.seat.enrolment.roster
        mad = contexts(second.seat.identity, first.seat.enrolment.roster.key).connect
        await second.seat.network.close()
        _, writer = await connect(first, mad)
        writer.write(flood())  # type: ignore[operator]
        await until(lambda: reason in caplog.text)
        writer.transport.abort()


async def test_a_member_that_does_not_read_is_cut_off_and_nothing_grows(tmp_path: Path) -> None:
    async with household(tmp_path, 2) as [first, second]:
        assert first.seat.enrolment.roster
        deaf = contexts(second.seat.identity, first.seat.enrolment.roster.key).connect
        await second.seat.network.close()
        _, writer = await connect(first, deaf)
        writer.transport.pause_reading()  # type: ignore[attr-defined]
        await until(lambda: second.id in first.seat.peers.links)
        link = first.seat.peers.links[second.id]
        sent = 0
        while link.send({"k": "x" * 60_000}):
            sent += 60_000
            assert sent < UNSENT + 32 * 1024 * 1024  # and what the kernel holds
            await asyncio.sleep(0)
        assert "does not read" in link.reason
        writer.transport.abort()


async def test_a_connection_is_closed_also_where_the_other_side_says_no_goodbye(tmp_path: Path) -> None:
    async with household(tmp_path, 2) as [first, second]:
        assert first.seat.enrolment.roster
        deaf = contexts(second.seat.identity, first.seat.enrolment.roster.key).connect
        await second.seat.network.close()
        _, writer = await connect(first, deaf)
        writer.transport.pause_reading()  # type: ignore[attr-defined]
        await until(lambda: second.id in first.seat.peers.links)
        link = first.seat.peers.links[second.id]
        sock = link._writer.get_extra_info("socket")
        async with asyncio.timeout(10):  # TLS itself would wait for half a minute
            await link.close()
            await until(lambda: sock.fileno() == -1)
        writer.transport.abort()

"""A short code lets a device in once, and a wrong one learns nothing."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from spake2 import SPAKE2_A

from muleteer.errors import SeatError, StorageError
from muleteer.seat import pairing
from muleteer.seat.enrolment import Enrolment
from muleteer.seat.identity import load_identity
from muleteer.seat.membership import Membership, Voter
from muleteer.seat.roster import LONGEST_NAME, Member, Roster, new_roster
from muleteer.seat.wire import encode, read_frame
from muleteer.store.votes import membership_fields

DEVICE, NEW = "a" * 32, "b" * 32
NEWCOMER = Member(NEW, "2" * 64, "shed")
NOBODY = Membership(())
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@asynccontextmanager
async def member(
    folder: Path, code: str, enrolled: Membership = NOBODY
) -> AsyncIterator[tuple[Streams, asyncio.Future[str], Roster]]:
    """A connection with a member that shows `code`, and what becomes of it there."""
    roster = new_roster(folder, DEVICE, "1" * 64, "hall")
    outcome: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    def admit(device: str, key: str, name: str) -> Roster:
        roster.add(device, key, name)
        return roster

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            fields = membership_fields(enrolled)
            outcome.set_result(
                await pairing.let_in(reader, writer, pairing.Invitation(code, 0.0), DEVICE, admit, fields)
            )
        except SeatError as error:
            outcome.set_exception(error)
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
    try:
        yield (reader, writer), outcome, roster
    finally:
        writer.close()
        server.close()
        await server.wait_closed()


def test_a_code_is_read_however_it_is_typed() -> None:
    shown = pairing.new_invitation("3f7a" + "0" * 28, 0.0)
    assert re.fullmatch(r"3f7a-\d{6}", shown.code)
    for typed in (shown.code, shown.code.upper(), f"  {shown.code} ", shown.code.replace("-", " ")):
        assert pairing.read_code(typed) == ("3f7a", shown.code)


@pytest.mark.parametrize("typed", ["", "3f7a", "482913", "3f7a-48291", "3f7a-4829133", "zzzz-482913"])
def test_what_is_no_code_is_told(typed: str) -> None:
    with pytest.raises(SeatError, match="looks like 3f7a-482913"):
        pairing.read_code(typed)


async def test_the_right_code_hands_over_the_household(tmp_path: Path) -> None:
    async with member(tmp_path, "aaaa-123456") as ((reader, writer), outcome, roster):
        handed = await pairing.ask_in(reader, writer, "aaaa-123456", DEVICE, NEWCOMER)
        writer.close()
        assert await outcome == "shed"
        assert handed.household_key == roster.key.private_bytes_raw().hex()
        assert handed.members == roster.entries()
        assert {each.id for each in roster} == {DEVICE, NEW}


async def test_a_newcomer_keeps_its_place_in_the_election_before_it_has_the_key(tmp_path: Path) -> None:
    """Without the key it can say nothing in the household: so it never speaks before that is durable."""
    (mine := tmp_path / "shed").mkdir()
    newcomer = Enrolment(mine, load_identity(mine), 0, lambda: None)
    before = newcomer.born()
    adopted: list[tuple[Membership, bool]] = []

    async def adopt(membership: Membership) -> None:
        adopted.append((membership, newcomer.roster is None and not (mine / "household.json").exists()))

    enrolled = Membership((Voter(DEVICE, 0),), term=4)
    async with member(tmp_path, "aaaa-123456", enrolled) as (streams, outcome, _):
        await newcomer.join(DEVICE, "aaaa-123456", streams, adopt)
        streams[1].close()
        await outcome
        assert adopted == [(enrolled, True)]
        assert newcomer.roster
        (mine / "household.json").unlink()
        (mine / "household.json").mkdir()  # what it was handed cannot be kept
    async with member(tmp_path, "aaaa-123456", enrolled) as (streams, outcome, _):
        with pytest.raises(StorageError, match="cannot be kept"):
            await newcomer.join(DEVICE, "aaaa-123456", streams, adopt)
        streams[1].close()
        await outcome
        assert adopted[-1][0] == before


async def test_a_wrong_code_is_refused_on_both_sides(tmp_path: Path) -> None:
    async with member(tmp_path, "aaaa-123456") as ((reader, writer), outcome, roster):
        with pytest.raises(SeatError, match="code is wrong"):
            await pairing.ask_in(reader, writer, "aaaa-123457", DEVICE, NEWCOMER)
        with pytest.raises(SeatError, match="code is wrong"):
            await outcome
        assert [each.id for each in roster] == [DEVICE]


async def test_a_guess_gets_nothing_to_check_other_guesses_with(tmp_path: Path) -> None:
    async with member(tmp_path, "aaaa-123456") as ((reader, writer), outcome, _):
        spake = SPAKE2_A(b"aaaa-000000", idA=pairing.NEWCOMER, idB=DEVICE.encode())
        writer.write(encode({"spake": spake.start().hex()}))
        assert set(await read_frame(reader)) == {"spake"}  # looks the same whatever the code is
        writer.write(encode({"box": "00" * 64}))
        assert await reader.read() == b""
        with pytest.raises(SeatError):
            await outcome


@pytest.mark.parametrize(
    "said",
    [
        b"\xff" * 40,
        encode({}),
        encode({"spake": "no"}),
        encode({"spake": "42" + "00" * 32}),
        encode({"spake": "41" + "ff" * 32}),
        encode({"spake": 7}),
        (1 << 23).to_bytes(3, "big") + bytes(4),
    ],
)
async def test_nonsense_ends_the_exchange_with_a_sentence(tmp_path: Path, said: bytes) -> None:
    async with member(tmp_path, "aaaa-123456") as ((_, writer), outcome, roster):
        writer.write(said)
        writer.write_eof()
        with pytest.raises(SeatError):
            await outcome
        assert [each.id for each in roster] == [DEVICE]


async def test_a_newcomer_cannot_have_a_name_that_breaks_a_line(tmp_path: Path) -> None:
    strange = Member(NEW, "2" * 64, "x" * LONGEST_NAME)
    async with member(tmp_path, "aaaa-123456") as ((reader, writer), outcome, _):
        await pairing.ask_in(reader, writer, "aaaa-123456", DEVICE, strange)
        writer.close()
        assert await outcome == "x" * LONGEST_NAME
    with pytest.raises(ValueError, match="printable"):
        Member(NEW, "2" * 64, "a\nb")


async def test_a_refusal_is_passed_on(tmp_path: Path) -> None:
    reader = asyncio.StreamReader()
    reader.feed_data(pairing.refusal("no code is shown there"))
    async with member(tmp_path, "aaaa-123456") as ((_, writer), outcome, _):
        with pytest.raises(SeatError, match="no code is shown there"):
            await pairing.ask_in(reader, writer, "aaaa-123456", DEVICE, NEWCOMER)
        writer.close()
        with pytest.raises(SeatError):
            await outcome

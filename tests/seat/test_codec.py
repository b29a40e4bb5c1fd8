"""Frames are what was sent, short, and nothing a stranger writes gets past them."""

from __future__ import annotations

import asyncio
import contextlib
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muleteer.seat.claiming import Saying, Talk
from muleteer.seat.claims import Claim, State
from muleteer.seat.codec import message_frame, message_from, saying_frame, saying_from
from muleteer.seat.membership import Membership, Rule, Voter
from muleteer.seat.messages import Kind, Message
from muleteer.seat.wire import LARGEST_FRAME, BadFrameError, decode, encode, read_frame

NUMBERS = st.integers(0, 2**53 - 1)
IDS = st.text("0123456789abcdef", min_size=32, max_size=32)
VOTERS = st.lists(
    st.builds(Voter, IDS, st.integers(-100, 100)), min_size=1, max_size=5, unique_by=lambda v: v.id
)
MEMBERSHIPS = st.builds(Membership, VOTERS.map(tuple), NUMBERS, NUMBERS, st.sampled_from(Rule))
MESSAGES = st.builds(
    Message,
    st.sampled_from(Kind),
    st.just("a"),
    st.just("b"),
    NUMBERS,
    st.tuples(NUMBERS, NUMBERS),
    clock=NUMBERS,
    granted=st.booleans(),
    released=NUMBERS,
    successor=st.one_of(st.just(""), IDS),
    willing=st.booleans(),
    boot=NUMBERS,
    membership=st.one_of(st.none(), MEMBERSHIPS),
)
TIMES = st.datetimes(datetime(1971, 1, 1), datetime(2200, 1, 1)).map(lambda each: each.replace(tzinfo=UTC))
NAMES = st.text(min_size=1, max_size=64)
CLAIMS = st.builds(
    Claim,
    NAMES,
    NAMES,
    NUMBERS,
    IDS,
    st.booleans(),
    st.sampled_from(State),
    st.integers(1, 2**40),
    st.booleans(),
    st.one_of(st.none(), TIMES),
)
SAYINGS = st.builds(
    Saying,
    st.sampled_from(Talk),
    st.just("a"),
    st.just("b"),
    NUMBERS,
    st.lists(CLAIMS, max_size=4).map(tuple),
    st.booleans(),
    st.one_of(st.none(), CLAIMS),
)
ANYTHING: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=10) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
    max_leaves=12,
)


def _with_json(parts: tuple[bytes, str]) -> bytes:
    return parts[0] + json.dumps([parts[1], [1, 1, "one", [[parts[1], 0]]]]).encode()


@given(MESSAGES)
def test_messages_come_back_as_they_were(message: Message) -> None:
    assert message_from(decode(encode(message_frame(message))[7:]), "a", "b") == message


@given(SAYINGS)
def test_sayings_come_back_as_they_were(saying: Saying) -> None:
    assert saying_from(decode(encode(saying_frame(saying))[7:]), "a", "b") == saying


@given(ANYTHING)
def test_nothing_that_a_stranger_writes_is_more_than_a_bad_frame(anything: Any) -> None:
    for read, name in ((message_from, "e"), (saying_from, "c")):
        with contextlib.suppress(BadFrameError):
            read({name: anything}, "a", "b")


@given(st.binary(max_size=40) | st.tuples(st.binary(min_size=7, max_size=12), st.text()).map(_with_json))
def test_no_bytes_that_a_stranger_packs_are_more_than_a_bad_frame(packed: bytes) -> None:
    with contextlib.suppress(BadFrameError):
        message_from(decode(b"\0" + packed), "a", "b")


@given(MESSAGES, st.data())
def test_a_message_that_is_cut_short_is_refused(message: Message, data: st.DataObject) -> None:
    packed = message_frame(message)["e"]
    assert isinstance(packed, bytes)
    bare = message_frame(replace(message, successor="", membership=None))["e"]
    assert isinstance(bare, bytes)
    length = data.draw(st.integers(0, len(packed) - 1).filter(lambda each: each != len(bare)))
    with pytest.raises(BadFrameError):
        message_from({"e": packed[:length]}, "a", "b")


def test_a_heartbeat_is_short() -> None:
    year = int(timedelta(days=365).total_seconds() * 100)
    beat = Message(
        Kind.HEARTBEAT, "a" * 32, "b" * 32, 123, (123, 12), clock=year, released=122, boot=9_999_999
    )
    assert len(encode(message_frame(beat), 10**6)) <= 24


async def test_a_frame_that_is_recorded_and_sent_again_is_refused() -> None:
    reader = asyncio.StreamReader()
    frame = encode({"e": [4, 1]}, 1)
    reader.feed_data(frame + frame)
    assert await read_frame(reader, 1) == {"e": [4, 1]}
    with pytest.raises(BadFrameError, match="sent before"):
        await read_frame(reader, 2)


async def test_a_large_frame_is_neither_sent_nor_read() -> None:
    with pytest.raises(ValueError, match="too large"):
        encode({"k": "x" * LARGEST_FRAME})
    reader = asyncio.StreamReader()
    reader.feed_data((LARGEST_FRAME + 1).to_bytes(3, "big") + bytes(4))
    with pytest.raises(BadFrameError, match="at most"):
        await read_frame(reader)


@pytest.mark.parametrize("content", [b"", b"[]", b"1", b"{", b"\xff", b"[" * 60_000])
def test_what_is_no_object_is_refused(content: bytes) -> None:
    with pytest.raises(BadFrameError):
        decode(content)

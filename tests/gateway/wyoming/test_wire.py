"""Events as bytes."""

from __future__ import annotations

import asyncio

import pytest
from wyoming.event import Event, async_read_event

from muleteer.gateway.wyoming.wire import LONGEST_LINE, BadEventError, Sizes, encode_event, read_event
from tests.gateway.wyoming.fuzz_events import fuzz


def reader_of(content: bytes) -> asyncio.StreamReader:
    reader = asyncio.StreamReader(limit=LONGEST_LINE)
    reader.feed_data(content)
    reader.feed_eof()
    return reader


async def test_what_is_written_is_read_here_and_by_the_protocols_own_reader() -> None:
    for event in (Event("describe"), Event("handled", {"text": "zwölf — “12”\n", "context": {"a": "b"}})):
        for read in (read_event, async_read_event):
            found = await read(reader_of(encode_event(event)))
            assert found is not None
            assert (found.type, found.data) == (event.type, event.data)


async def test_a_payload_is_kept_where_that_is_asked_and_read_past_elsewhere() -> None:
    sent = encode_event(Event("audio-chunk", {"rate": 16_000}, b"\0\1\n" * 100)) + encode_event(Event("ping"))
    for sizes, kept in ((Sizes(keeps_payload=True), b"\0\1\n" * 100), (Sizes(), None)):
        reader = reader_of(sent)
        found = [await read_event(reader, sizes=sizes) for _ in range(2)]
        assert [each and (each.type, each.payload) for each in found] == [
            ("audio-chunk", kept),
            ("ping", None),
        ]
    with pytest.raises(BadEventError, match="at most 10"):
        await read_event(reader_of(sent), sizes=Sizes(payload=10))


async def test_what_is_not_unicode_is_replaced() -> None:
    found = await read_event(reader_of(encode_event(Event("handled", {"text": "a\ud800b"}))))
    assert found is not None
    assert found.data == {"text": "a?b"}


async def test_the_end_in_the_middle_of_an_event_is_an_end() -> None:
    whole = encode_event(Event("handled", {"text": "hello"}))
    for length in range(len(whole)):
        assert await read_event(reader_of(whole[:length])) is None


def test_malformed_events_are_read_or_refused() -> None:
    assert fuzz(1, 2000) > 500

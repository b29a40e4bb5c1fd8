from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muleteer.sse import EventParser, ServerEvent

STREAM = (
    b": a comment\n\nevent: plan\ndata: {}\n\n"
    b"event: text\r\ndata: na\xc3\xafve\r\ndata:two\r\n\r\n"
    b"event: text\rdata: x\r\rdata: unnamed\n\nevent: dropped\n\n"
)
EVENTS = [
    ServerEvent("plan", "{}"),
    ServerEvent("text", "naïve\ntwo"),
    ServerEvent("text", "x"),
    ServerEvent("message", "unnamed"),
]


def parse(*chunks: bytes) -> list[ServerEvent]:
    parser = EventParser()
    return [event for chunk in chunks for event in parser.feed(chunk)]


@pytest.mark.parametrize("cut", range(len(STREAM) + 1))
def test_every_chunk_border_gives_the_same_events(cut: int) -> None:
    assert parse(STREAM[:cut], STREAM[cut:]) == EVENTS


def test_single_bytes_and_empty_chunks() -> None:
    pieces = [piece for byte in STREAM for piece in (bytes([byte]), b"")]
    assert parse(*pieces) == EVENTS


def test_an_event_is_complete_at_its_blank_line_and_not_before() -> None:
    parser = EventParser()
    assert parser.feed(b"event: text\ndata: 1\n") == []
    assert parser.feed(b"\n") == [ServerEvent("text", "1")]
    assert parser.feed(b"data: unfinished") == []


@given(st.lists(st.binary(max_size=12), max_size=12))
def test_any_bytes_give_events_or_a_value_error(chunks: list[bytes]) -> None:
    try:
        whole = parse(b"".join(chunks))
    except ValueError:
        return
    assert parse(*chunks) == whole


@pytest.mark.parametrize("line", [b"x" * 100, b"data: x\n" * 20])
def test_an_endless_event_is_refused(line: bytes) -> None:
    with pytest.raises(ValueError, match="larger than 99 bytes"):
        EventParser(largest=99).feed(line)

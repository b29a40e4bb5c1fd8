from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muleteer import errors
from muleteer.engine import wire
from muleteer.engine.protocol import (
    Choice,
    Conversation,
    Held,
    LoadSettings,
    Message,
    Properties,
    Text,
    ToolSpec,
    Use,
)

texts = st.text()
messages = st.builds(
    Message,
    st.sampled_from(["system", "user", "assistant", "tool"]),
    texts,
    st.lists(st.tuples(texts, texts)).map(tuple),
)
schemas: st.SearchStrategy[dict[str, object]] = st.dictionaries(
    texts, st.recursive(texts | st.integers(-(2**60), 2**60) | st.none(), st.lists)
)
tools = st.builds(ToolSpec, texts, texts, schemas)
conversations = st.builds(
    Conversation,
    st.lists(messages).map(tuple),
    st.lists(tools).map(tuple),
    st.integers(0, 100),
    texts,
    st.booleans(),
)
ids = st.integers(1, 2**50)
limits = st.none() | st.integers(0, 10**6)
floats = st.floats(0, 1e9)
uses = st.builds(Use, *[st.integers(0, 10**9)] * 5, floats)
to_engine = st.one_of(
    st.builds(wire.Load, texts, st.just(LoadSettings(extra_buffers=False))),
    st.builds(wire.Count, ids, conversations | texts),
    st.builds(wire.Warm, ids, conversations),
    st.builds(wire.Choose, ids, conversations, st.lists(texts).map(tuple), limits),
    st.builds(wire.Fill, ids, conversations, schemas, st.integers(0, 10**6), limits),
    st.builds(wire.Write, ids, conversations, st.integers(0, 10**6), st.lists(texts).map(tuple), limits),
    st.builds(wire.Forget, ids),
    st.builds(wire.Cancel, ids),
    st.builds(wire.Threads, st.integers(1, 512)),
)
from_engine = st.one_of(
    st.just(wire.Loading()),
    st.just(wire.Ready(Properties("n", "/p", 1, 2, 3, 4, True, False, 5, 6, "b", True, 7.5))),
    st.builds(wire.Beat, ids),
    st.builds(wire.Chunk, ids, texts),
    st.builds(wire.Counted, ids, st.integers(0, 10**9)),
    st.builds(wire.Warmed, ids, uses),
    st.builds(wire.Chosen, ids, st.builds(Choice, st.lists(floats).map(tuple), uses)),
    st.builds(wire.Written, ids, st.builds(Text, texts, st.sampled_from(["stop", "length"]), uses)),
    st.builds(wire.Forgotten, ids, st.booleans()),
    st.builds(wire.Ledger, st.builds(Held, st.integers(0, 10**9)), uses),
    st.builds(wire.Failed, st.none() | ids, texts, texts),
)


@given(to_engine)
def test_what_the_daemon_says_arrives_unchanged_on_one_line(message: wire.ToEngine) -> None:
    line = wire.to_engine(message)
    assert line.index(b"\n") == len(line) - 1
    assert wire.at_engine(line[:-1]) == message


@given(from_engine)
def test_what_the_engine_says_arrives_unchanged_on_one_line(message: wire.FromEngine) -> None:
    line = wire.from_engine(message)
    assert line.index(b"\n") == len(line) - 1
    assert wire.at_daemon(line[:-1]) == message


def test_a_schema_keeps_the_order_of_its_properties() -> None:
    schema: dict[str, object] = {"properties": {"z": {}, "a": {}, "m": {}}}
    read = wire.at_engine(wire.to_engine(wire.Fill(1, Conversation(()), schema, 10, None)))
    assert isinstance(read, wire.Fill)
    assert str(dict(read.schema)) == str(schema)


@given(st.lists(st.binary().map(lambda part: part.replace(b"\n", b"")), min_size=1), st.data())
def test_lines_are_found_however_the_stream_is_cut(lines: list[bytes], data: st.DataObject) -> None:
    stream = b"".join(line + b"\n" for line in lines)
    splitter, found = wire.Lines(), []
    while stream:
        size = data.draw(st.integers(1, len(stream)))
        found += splitter.feed(stream[:size])
        stream = stream[size:]
    assert found == lines


def test_an_endless_line_is_refused() -> None:
    splitter = wire.Lines()
    assert splitter.feed(b"x" * wire.MAX_LINE) == []
    with pytest.raises(wire.WireError, match="more than 4,194,304 bytes"):
        splitter.feed(b"x")


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"nonsense",
        b"[]",
        b"{}",
        b'{"kind": "gossip"}',
        b'{"kind": "chunk"}',
        b'{"kind":"beat","id":"x"}',
        b"\xff",
    ],
)
def test_foreign_lines_are_refused_without_repeating_them(line: bytes) -> None:
    with pytest.raises(wire.WireError) as caught:
        wire.at_daemon(line)
    assert len(str(caught.value)) < 250


def test_a_request_beyond_the_cap_is_too_long_and_names_both_counts() -> None:
    with pytest.raises(
        errors.TooLongError, match=r"has 5,000,0\d\d bytes; the engine reads at most 4,194,303"
    ):
        wire.to_engine(wire.Count(1, "x" * 5_000_000))


def test_half_a_surrogate_pair_is_the_callers_fault() -> None:
    with pytest.raises(errors.RequestError, match="Send plain Unicode text"):
        wire.to_engine(wire.Count(1, "\ud83d"))


def test_a_schema_that_the_engine_could_not_read_back_is_the_callers_fault() -> None:
    schema: dict[str, object] = {}
    for _ in range(500):
        schema = {"items": schema}
    with pytest.raises(errors.RequestError, match="nested less than"):
        wire.to_engine(wire.Fill(1, Conversation(()), schema, 10, None))


@pytest.mark.parametrize(
    "error",
    [
        errors.TooLongError("a"),
        errors.ModelError("b"),
        errors.EngineError("c"),
        errors.CancelledByClientError("d"),
        errors.EngineBusyError("e"),
        errors.MuleteerError("f"),
    ],
)
def test_errors_keep_their_class_and_sentence(error: errors.MuleteerError) -> None:
    read = wire.at_daemon(wire.from_engine(wire.as_failed(3, error)))
    assert isinstance(read, wire.Failed)
    assert type(wire.as_error(read)) is type(error)
    assert str(wire.as_error(read)) == str(error)


def test_an_unknown_code_is_an_engine_error() -> None:
    assert type(wire.as_error(wire.Failed(1, "of-the-future", "x"))) is errors.EngineError

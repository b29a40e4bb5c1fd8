"""The format alone: whatever a server sends is text, calls, or a `ValueError` that quotes nothing of it."""

from __future__ import annotations

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muleteer.brains.wire import MOST_CALLS, Reply, refused_parameter

leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
values = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner), max_leaves=8
)
functions = st.fixed_dictionaries({}, optional={"name": values, "arguments": values}) | values
calls = st.fixed_dictionaries({}, optional={"index": values, "id": values, "function": functions}) | values
deltas = (
    st.fixed_dictionaries(
        {}, optional={"content": values, "tool_calls": st.lists(calls, max_size=4) | values}
    )
    | values
)
choices = st.fixed_dictionaries({}, optional={"delta": deltas, "finish_reason": values}) | values
events = st.fixed_dictionaries(
    {}, optional={"choices": st.lists(choices, max_size=2) | values, "usage": values, "error": values}
)


@given(st.lists(events, max_size=6), st.booleans())
def test_any_events_are_read_or_refused(told: list[object], single: bool) -> None:
    reply = Reply(10, single)
    with contextlib.suppress(ValueError):
        for event in told:
            assert isinstance(reply.feed(json.dumps(event)), str)
    assert all(isinstance(call.name, str) and isinstance(call.arguments, str) for call in reply.calls)
    assert len(reply.calls) <= MOST_CALLS


@given(st.text(max_size=40) | st.binary(max_size=40).map(lambda data: data.decode("latin-1")))
def test_any_text_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(ValueError):
        Reply(10).feed(text)
    assert isinstance(refused_parameter(text.encode()), str)


@pytest.mark.parametrize("depth", [10, 100_000])
def test_depth_is_no_crash(depth: int) -> None:
    with pytest.raises(ValueError, match="JSON"):
        Reply(10).feed("[" * depth)


def test_what_is_wrong_is_never_quoted() -> None:
    with pytest.raises(ValueError, match="no JSON") as refused:
        Reply(10).feed("the secret is 4711")
    assert "4711" not in str(refused.value)
    assert refused.value.__cause__ is None

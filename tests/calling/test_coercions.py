"""Types that take more than their schema promises, in a tool that needs no file and no daemon."""

from __future__ import annotations

import pytest

from muleteer.calling.coercions import seconds
from muleteer.tool import Result, Seconds, Services, Status, tool
from muleteer.toolbox import Toolbox


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        (600, 600),
        (0.5, 0.5),
        ("600", 600),
        ("1.5", 1.5),
        ("10 min", 600),
        ("1h30", 5400),
        ("an hour and a half", 5400),
        ("eine halbe Stunde", 1800),
        ("45 Sekunden", 45),
    ],
)
def test_a_span_is_understood(said: object, meant: float) -> None:
    assert seconds(said) == meant


@pytest.mark.parametrize("said", ["soon", "", True, None, [], "nan", float("inf"), "10 parsecs", "9" * 400])
def test_what_is_no_span_is_asked_for_again(said: object) -> None:
    with pytest.raises(ValueError, match="say how long, as in '10 min'"):
        seconds(said)


@pytest.mark.parametrize("said", [-1, "-5", 4e8, "9999 weeks"])
def test_a_span_has_limits(said: object) -> None:
    with pytest.raises(ValueError, match=r"between 0 seconds and ten years|say how long"):
        seconds(said)


async def test_a_tool_needs_no_file_and_no_daemon() -> None:
    @tool(effect="write")
    async def jot(text: str, services: Services, wait: Seconds = 0.0) -> Result:
        """Write it down.

        text: what
        wait: how long to wait first
        """
        await services.notebook.add(text)
        return Result.ok(f"Noted after {wait:g} s.")

    toolbox = Toolbox.of([jot])
    properties = toolbox.tools["jot"].parameters["properties"]
    assert properties["wait"] == {"type": "string", "description": "how long to wait first", "default": 0.0}
    outcome = await toolbox.call("jot", {"text": "x"})
    assert outcome.result == Result.unavailable("No notebook is kept here.")


@tool(effect="read")
def wait(span: Seconds) -> Result:
    """Wait.

    span: how long
    """
    return Result.ok(f"{span:g}")


async def test_arguments_are_coerced_again_after_decoding() -> None:
    toolbox = Toolbox.of([wait])
    assert (await toolbox.call("wait", {"span": "2 hours"})).result.text == "7200"
    assert (await toolbox.call("wait", {"span": 30})).result.text == "30"
    outcome = await toolbox.call("wait", {"span": "a while"})
    assert outcome.result.status is Status.ERROR
    assert outcome.result.text.startswith("wait was not called: 'span': ")
    assert "say how long, as in '10 min', '1h30' or a number of seconds" in outcome.result.text

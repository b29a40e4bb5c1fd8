"""What both servers are asked, and how an attempt is judged, with servers that are none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from click.testing import CliRunner

from muleteer.cli import main
from muleteer.engine.protocol import Message
from muleteer.errors import EngineError, RequestError
from muleteer.evaluate.batteries import bfcl
from muleteer.evaluate.batteries.battery import Answered, Case, Tried
from muleteer.evaluate.batteries.bfcl import Question
from muleteer.evaluate.endpoint import batteries, running
from muleteer.evaluate.endpoint.batteries import CallerTools, _judged
from muleteer.harness.events import LevelUse


def question(number: int, category: str = "multiple") -> Question:
    functions = [
        {
            "name": f"f{number}_{letter}",
            "description": letter,
            "parameters": {"type": "dict", "properties": {}},
        }
        for letter in "ab"
    ]
    accepted: tuple[dict[str, Any], ...] = () if category == bfcl.UNANSWERED else ({f"f{number}_a": {}},)
    return Question(f"{category}_{number}", category, (Message("user", "?"),), tuple(functions), accepted)


def test_each_message_is_asked_with_every_number_of_tools_and_once_where_none_fits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    others = [tool for number in range(9, 20) for tool in question(number).tools]
    monkeypatch.setattr(batteries, "every_tool", lambda categories: others)
    asked = CallerTools([question(0), question(1)], (4, 12), [question(5, bfcl.UNANSWERED)])
    groups = [case.group for case in asked.cases]
    assert groups == ["4 tools"] * 2 + ["12 tools"] * 2 + ["irrelevance, own tools"]
    assert [len(tools) for _, tools in asked._asked.values()] == [4, 4, 12, 12, 2]
    assert asked.context > 12 * 133
    assert len({case.id for case in asked.cases}) == 5


def test_a_name_is_spelled_as_the_protocol_takes_it() -> None:
    assert batteries.spelled("math.factorial") == "math_factorial"
    assert len(batteries.spelled("x" * 99)) == 64


class Server:
    """Answers every case, or fails it."""

    name, digest, context, together = "server", "1", 512, False
    sides, cases = ("muleteer", "llama.cpp"), (Case("one", "g"),)

    def __init__(self, does: Answered | Exception) -> None:
        self._does = does

    async def ask(self, address: str, model: str, case: Case) -> tuple[Answered, Sequence[LevelUse]]:
        if isinstance(self._does, Exception):
            raise self._does
        return self._does, [LevelUse("endpoint", 10, 4, 6, 2, 1.0)]


async def test_a_refusal_is_a_wrong_answer_and_a_server_that_is_gone_ends_the_run() -> None:
    case = Case("one", "g")
    right = await running.attempt(Server(Answered(True, "f()")), "http://x", "m", case, "muleteer")
    assert (right.right, right.tokens, right.reused) == (True, 8, 4)
    refused = await running.attempt(Server(RequestError("refused")), "http://x", "m", case, "muleteer")
    assert (refused.right, refused.why) == (False, "refused")
    with pytest.raises(EngineError):
        await running.attempt(Server(EngineError("gone")), "http://x", "m", case, "muleteer")


def scenario(status: str, **more: object) -> dict[str, Any]:
    points = {"pass": 2, "partial": 1, "fail": 0}[status]
    told = {"scenario_id": "TC-01", "summary": "so so", "duration_seconds": 2.0, "tool_calls_made": ["f(1)"]}
    return {**told, "status": status, "points": points, "prompt_tokens": 90, "completion_tokens": 9, **more}


def test_a_scenario_is_right_when_it_passes_and_its_points_are_summed() -> None:
    (passed, use), (partial, _) = (_judged(scenario(status)) for status in ("pass", "partial"))
    assert (passed.right, passed.got, passed.extra, use[0].prompt) == (True, "f(1)", {"points": 2}, 90)
    assert (partial.right, partial.why) == (False, "partial: so so")
    given = [(passed, "muleteer"), (partial, "llama.cpp")]
    attempts = [Tried("TC-01", "g", side, one.right, one.got, extra=one.extra) for one, side in given]
    assert running.points(attempts) == "muleteer: 2 of 2 points.\nllama.cpp: 1 of 2 points."
    assert running.points([Tried("a", "g", "muleteer", True, "")]) == ""


def test_a_server_that_fails_a_scenario_is_wrong_and_one_that_is_gone_ends_the_run() -> None:
    assert not _judged(scenario("fail", failure_kind="server_error"))[0].right
    with pytest.raises(EngineError, match="TC-01 could not be run"):
        _judged(scenario("fail", failure_kind="connection_error"))


def test_both_servers_are_always_asked() -> None:
    done = CliRunner().invoke(main, ["evaluate", "endpoint", "--side", "muleteer"])
    assert done.exit_code == 2
    assert "both servers are always asked" in done.output


def test_a_call_that_is_only_written_is_told_from_one_that_is_made() -> None:
    asked = question(0, bfcl.UNANSWERED)
    named = {"f0_a": asked.tools[0], "f0_b": asked.tools[1]}
    fenced = '```json\n{"name": "%s", "arguments": {}}\n```'
    assert batteries._as_text(fenced % "f0_a", asked, named) == {"as_text": False}  # nothing was wanted
    assert batteries._as_text(fenced % "f9", asked, named) == batteries._as_text("Hello.", asked, named) == {}
    extras: list[dict[str, Any]] = [{"as_text": True}, {"as_text": False}, {}]
    attempts = [Tried(f"{i}", "4 tools", "llama.cpp", False, "", extra=each) for i, each in enumerate(extras)]
    assert running.as_text(attempts).splitlines()[-1] == "| 4 tools | llama.cpp | 2 | 3 | 1 |"
    assert running.as_text(attempts[2:]) == ""

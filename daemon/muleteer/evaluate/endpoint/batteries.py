"""What both servers are asked: BFCL's messages with many tools in reach, and the scenarios of
`tool-eval-bench`, by its own runner.

Knows cases and how each is judged; not how servers are started.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from typing import Any, Protocol

import httpx

from muleteer.engine.protocol import ToolSpec
from muleteer.errors import ConfigError, EngineError
from muleteer.evaluate.batteries import bfcl
from muleteer.evaluate.batteries.battery import Answered, Case, Cases
from muleteer.evaluate.batteries.bfcl import Question
from muleteer.evaluate.batteries.calling import TOKENS_A_TOOL, every_tool, pooled
from muleteer.evaluate.batteries.journal import digest_of
from muleteer.evaluate.endpoint.asking import ask
from muleteer.harness.dialects import parse
from muleteer.harness.events import LevelUse

OURS, THEIRS = "muleteer", "llama.cpp"
SIDES = (OURS, THEIRS)
OWN = "own tools"
AS_TEXT = "as_text"
ROOM = 4096  # tokens beside the tools
LONGEST_NAME = 64  # characters, in OpenAI's protocol
LONGEST_S = 1200.0  # of one request: 12,000 tokens at ten a second
INSTALL = "pip install 'muleteer[evaluate]'"


class Compared(Cases, Protocol):
    """Cases that are asked of a server at `address`, which calls its model `model`."""

    async def ask(self, address: str, model: str, case: Case) -> tuple[Answered, Sequence[LevelUse]]: ...


class CallerTools:
    """BFCL: each question of `multiple` with so many tools in reach, and those of `irrelevance` with their
    own."""

    name = "endpoint"
    together = False
    sides = SIDES

    def __init__(self, multiple: Sequence[Question], sizes: Sequence[int], none: Sequence[Question]) -> None:
        others = every_tool(("multiple",))
        self.cases: list[Case] = []
        self._asked: dict[str, tuple[Question, Sequence[ToolSpec]]] = {}
        for size in sizes:
            for question, pool in zip(*pooled(multiple, size, others), strict=True):
                self._add(f"{size} tools", question, pool)
        for question in none:
            self._add(f"{question.category}, {OWN}", question, question.tools)
        self.context = TOKENS_A_TOOL * max((*sizes, 1)) + ROOM
        self.digest = digest_of(
            f"{id} {question} {[tool.name for tool in tools]}"
            for id, (question, tools) in self._asked.items()
        )

    def _add(self, group: str, question: Question, tools: Sequence[ToolSpec]) -> None:
        case = Case(f"{group} {question.id}", group)
        self.cases.append(case)
        self._asked[case.id] = question, tools

    async def ask(self, address: str, model: str, case: Case) -> tuple[Answered, Sequence[LevelUse]]:
        question, tools = self._asked[case.id]
        named = {spelled(tool.name): tool for tool in tools}
        shown = [replace(tool, name=name) for name, tool in named.items()]
        async with httpx.AsyncClient(base_url=address, timeout=LONGEST_S, trust_env=False) as http:
            reply = await ask(http, model, question.messages, shown)
        calls = [(named[name].name if name in named else name, given) for name, given in reply.calls]
        why = bfcl.complaint(question, calls) if len(calls) < 2 else "several were called"
        got = ", ".join(f"{name}({dict(arguments)})" for name, arguments in calls)
        extra = {} if calls else _as_text(reply.text, question, named)
        return Answered(not why, got or reply.text[:300], why, extra), [reply.use]


def _as_text(text: str, question: Question, named: Mapping[str, ToolSpec]) -> dict[str, object]:
    """Whether a reply without a call has one in its text, where a client does not look, and if so whether
    that is what was wanted."""
    tools = [replace(tool, name=name) for name, tool in named.items()]
    written = [
        (named[call.name].name, call.arguments)
        for call in parse(text, tools)[1]
        if call.name in named and call.arguments is not None
    ]
    if not written:
        return {}
    return {AS_TEXT: not bfcl.complaint(question, written)}


def spelled(name: str) -> str:
    """A function's name as OpenAI's protocol takes it, which has no dots."""
    return re.sub(r"[^a-zA-Z0-9_-]", "_", name)[:LONGEST_NAME]


class ToolEval:
    """The scenarios of `tool-eval-bench --short`, each run and scored by the package itself. One is right
    when it passes; `points` (2, 1 or 0) are in `extra`."""

    name = "tool-eval-bench"
    together = False
    sides = SIDES
    context = 8192  # twelve tools, a system text and eight turns

    def __init__(self, most: int | None = None) -> None:
        self._scenarios = {scenario.id: scenario for scenario in _short()[:most]}
        self.cases = [Case(id, _label(each)) for id, each in self._scenarios.items()]
        self.digest = digest_of([_version(), *self._scenarios])

    async def ask(self, address: str, model: str, case: Case) -> tuple[Answered, Sequence[LevelUse]]:
        from tool_eval_bench.api import run_benchmark

        found = await run_benchmark(
            model=model,
            base_url=address,
            backend="llamacpp",
            scenarios=[self._scenarios[case.id]],
            timeout_seconds=LONGEST_S,
            persist=False,
            probe_engine=False,
        )
        return _judged(found["scores"]["scenario_results"][0])


def _judged(result: dict[str, Any]) -> tuple[Answered, Sequence[LevelUse]]:
    """A scenario, as the package has judged it; what the server fails is wrong. Raises `EngineError` where
    the server is gone."""
    status = str(result["status"])
    if result.get("failure_kind") == "connection_error":
        raise EngineError(f"{result['scenario_id']} could not be run: {result['summary']}")
    prompt, generated = int(result.get("prompt_tokens") or 0), int(result.get("completion_tokens") or 0)
    use = LevelUse("endpoint", prompt, 0, prompt, generated, 1000 * float(result["duration_seconds"]))
    made = ", ".join(result.get("tool_calls_made") or ())
    why = "" if status == "pass" else f"{status}: {result['summary']}"
    return Answered(not why, made, why, {"points": int(result["points"])}), [use]


def _short() -> Sequence[Any]:
    """The scenarios of `--short`. Raises `ConfigError` where the package is not installed."""
    if find_spec("tool_eval_bench") is None:
        raise ConfigError(f"tool-eval-bench is not installed: run `{INSTALL}`.")
    from tool_eval_bench.evals.scenarios import SCENARIOS

    return list(SCENARIOS)


def _label(scenario: Any) -> str:
    from tool_eval_bench.domain.scenarios import CATEGORY_LABELS

    return str(CATEGORY_LABELS[scenario.category])


def _version() -> str:
    from tool_eval_bench import __version__

    return str(__version__)

"""Calls that wait for a yes: the question that is asked, and which ones are open.

Knows tools and time. Does not know who asks, how a yes arrives, or how a call runs. What is open lives in
memory alone: bounded in number, answered once, gone after some minutes or with the daemon.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from muleteer.engine.protocol import Conversation, Text
from muleteer.errors import NotOpenError
from muleteer.harness.clip import clipped
from muleteer.harness.dispatcher import Dispatcher, Gate
from muleteer.harness.events import CallUse
from muleteer.harness.free.listening import Heard
from muleteer.harness.phrases import ENGLISH, Phrases
from muleteer.harness.scrub import plain
from muleteer.harness.signals import ConfirmSignal, Plan
from muleteer.skills import Skill
from muleteer.tool import Result
from muleteer.toolbox import Tool

OPEN_SECONDS = 300.0  # who has not answered by then has left, and the house may have changed
OPEN_LIMIT = 32  # more than the people of a household ask at once; beyond it the oldest is dropped
VALUE_CHARACTERS = 200  # of one argument in the question: read in a glance; the event has it whole


@dataclass(frozen=True, slots=True)
class Pause:
    """Where the plan was: its dispatcher, how code carries it out (`run`, with the skills and the tools that
    were to follow), L2's prompt and the call that it wrote, or what a free brain had said (`heard`)."""

    dispatcher: Dispatcher
    run: str = ""
    skills: tuple[Skill, ...] = ()
    tools: tuple[Tool, ...] = ()
    written: tuple[Conversation, Text] | None = None
    heard: Heard | None = None


@dataclass(frozen=True, slots=True)
class Pending:
    """A call, and the turn that it ended: everything that is needed to go on. `parts` are the requests of the
    same message that were to follow, with their plans; `brain` is the one that wrote the call, `asker` the id
    of who was asked."""

    turn: str
    message: str
    tool: Tool
    arguments: Mapping[str, object]
    handles: tuple[str, ...]
    results: tuple[Result, ...]
    calls: tuple[CallUse, ...]
    pause: Pause | None = None
    parts: tuple[tuple[str, Plan], ...] = ()
    brain: str = ""
    asker: str = ""


def question(tool: Tool, arguments: Mapping[str, object], words: Phrases = ENGLISH) -> str:
    """What a person is asked, from nothing but the tool's declaration and the exact arguments."""
    given = f" {words.and_} ".join(f"{name} {_shown(value)}" for name, value in arguments.items())
    asked = words.question.format(tool=tool.name, given=given or words.no_arguments)
    consequences = {"write": words.writes, "physical": words.acts}
    return f"{asked} {consequences.get(tool.effect, '')}".strip()


def gate(needs_yes: Collection[str], background: bool, words: Phrases = ENGLISH) -> Gate:
    """Ends a turn at a call whose effect needs a yes; in the background, the result that says why not."""

    def stop(tool: Tool, arguments: dict[str, object]) -> Result | None:
        if tool.effect not in needs_yes:
            return None
        if background:
            return Result.unavailable(words.unattended.format(tool=tool.name))
        raise ConfirmSignal(tool, arguments)

    return stop


class Confirmations:
    """The open calls by turn. `clock` gives monotonic seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._open: dict[str, tuple[float, Pending]] = {}

    def add(self, pending: Pending) -> None:
        while len(self._open) >= OPEN_LIMIT:
            del self._open[next(iter(self._open))]
        self._open[pending.turn] = (self._clock() + OPEN_SECONDS, pending)

    def take(self, turn: str, may: Callable[[str], bool]) -> Pending:
        """The open call of a turn, which is open no longer. `may` says whose question may be answered, by the
        asker's id; any other stays open. Raises `NotOpenError`."""
        now = self._clock()
        self._open = {name: entry for name, entry in self._open.items() if entry[0] > now}
        if turn not in self._open or not may(self._open[turn][1].asker):
            raise NotOpenError(
                f"No question of that turn is open: it was answered, is older than {OPEN_SECONDS / 60:.0f}"
                " minutes, was put to somebody else, or the daemon was restarted since. Nothing was done now;"
                " ask again."
            )
        return self._open.pop(turn)[1]


def _shown(value: object) -> str:
    return clipped(plain(json.dumps(value, ensure_ascii=False)), VALUE_CHARACTERS)

"""What comes back, as types: the part of a reply that clients may rely on. Objects may hold more.

Replies are made where the facts are, as plain dictionaries; that these types are true of them is what the
tests check, on a running gateway.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel

from muleteer.background.runner import Ended
from muleteer.catalogue.lint import Problem
from muleteer.engine.protocol import EngineStatus
from muleteer.gateway.health import State
from muleteer.gateway.peer import Scope
from muleteer.gateway.recent import Kind
from muleteer.harness.preview import Preview
from muleteer.services import InboxEntry, Note, PastTurn
from muleteer.store.memory import Kept
from muleteer.store.notebook import Page

__all__ = ["Ended", "Preview"]  # as they are


class Wrong(BaseModel):
    """Why a request was not served."""

    class Reason(BaseModel):
        code: str
        message: str

    error: Reason


class WrongForOpenai(BaseModel):
    """Why a request was not served, in OpenAI's shape."""

    class Fault(BaseModel):
        message: str
        type: str
        param: str | None
        code: str

    error: Fault


class WrongForMcp(BaseModel):
    """Why a request was not served, in JSON-RPC's shape."""

    class Error(BaseModel):
        code: int
        message: str

    jsonrpc: Literal["2.0"]
    error: Error


class WrongForOllama(BaseModel):
    """Why a request was not served, in Ollama's shape."""

    error: str


class TurnBrief(BaseModel):
    """One of the last turns, without what was said."""

    turn: str
    state: Literal["running"] | Kind
    skill: str
    session: str
    began: datetime
    ms: float


class TurnWhole(TurnBrief):
    """A turn as far as it has come. `outcome` is the last event, with its name as `event`."""

    message: str
    text: str
    steps: list[dict[str, Any]]
    outcome: dict[str, Any] | None


class TurnList(BaseModel):
    turns: list[TurnBrief]


class TraceBrief(BaseModel):
    turn: str
    skill: str
    began: datetime
    outcome: str
    ms: float
    steps: int


class Trace(BaseModel):
    """What a turn did, without what was said. `at` of a step: milliseconds since the beginning."""

    turn: str
    skill: str
    began: datetime
    outcome: str
    ms: float
    steps: list[dict[str, Any]]


class TraceList(BaseModel):
    traces: list[TraceBrief]


class Memory(BaseModel):
    """Bytes."""

    daemon: int
    engine: int | None
    available: int
    total: int


class Status(BaseModel):
    version: str
    state: State
    reason: str
    uptime_s: float
    pid: int
    socket: str
    model: str
    engine: EngineStatus
    reuse: float | None
    memory: Memory
    turns: dict[str, int]


class Ready(BaseModel):
    state: Literal["ready"]


class Listed(BaseModel):
    """A skill or a tool. `tokens`: what it costs by level, null before that is measured."""

    name: str
    handle: str
    state: Literal["enabled", "disabled"]
    reason: str
    origin: str
    on_disk: str
    tokens: dict[str, Any] | None


class SkillList(BaseModel):
    skills: list[Listed]


class ToolList(BaseModel):
    tools: list[Listed]


class CallResult(BaseModel):
    """`payload` has a `kind`: data, document or notes."""

    tool: str
    status: Literal["ok", "empty", "unavailable", "error"]
    text: str
    payload: dict[str, Any] | None
    sources: list[str]
    ms: float


class SkillCheck(BaseModel):
    name: str
    problems: list[Problem]
    tokens: dict[str, int]


class CheckReport(BaseModel):
    """`reason` says why nothing was `measured` with the model."""

    measured: bool
    reason: str
    skills: list[SkillCheck]


class MemoryKept(BaseModel):
    pages: list[Page]
    turns: Kept | None
    keep_days: int
    keep_turns: int
    unavailable: list[str]


class MemoryFound(BaseModel):
    notes: list[Note]
    turns: list[PastTurn]
    unavailable: list[str]


class NoteList(BaseModel):
    notes: list[Note]


class NotesKept(BaseModel):
    new: int
    known: int


class Forgotten(BaseModel):
    notes: int
    turns: int


class SessionList(BaseModel):
    sessions: list[dict[str, Any]]
    kept: bool


class SessionMessages(BaseModel):
    class Said(BaseModel):
        role: Literal["user", "assistant"]
        content: str

    messages: list[Said]


class SessionForgotten(BaseModel):
    turns: int


class InboxList(BaseModel):
    entries: list[InboxEntry]


class InboxRead(BaseModel):
    read: int


class TimerShown(BaseModel):
    """`repeat`: weekdays, 0 is Monday."""

    id: int
    kind: Literal["timer", "alarm"]
    label: str
    due: datetime
    left_s: float
    seconds: float
    repeat: list[int]


class TimerList(BaseModel):
    class Missed(BaseModel):
        id: int
        label: str
        due: datetime

    timers: list[TimerShown]
    missed: list[Missed]
    unreadable: int


class TimerCancelled(BaseModel):
    cancelled: TimerShown


class Silenced(BaseModel):
    silenced: bool


class Warming(BaseModel):
    warming: bool


class Names(BaseModel):
    names: list[str]


class Offline(BaseModel):
    mode: Literal["auto", "on", "off"]
    offline: bool
    reason: str


class Seat(BaseModel):
    role: str
    drives: bool
    reason: str


class Members(BaseModel):
    members: list[dict[str, Any]]


class Devices(BaseModel):
    devices: list[dict[str, Any]]
    mdns: str


class Invitation(BaseModel):
    code: str
    seconds: float
    port: int


class DeviceForgotten(BaseModel):
    forgotten: str


class TokenShown(BaseModel):
    name: str
    scopes: list[Scope]
    made: datetime
    used: datetime | None


class TokenList(BaseModel):
    tokens: list[TokenShown]


class TokenMade(BaseModel):
    """`token` is the secret, which is told here and never again."""

    token: str
    name: str
    scopes: list[Scope]


class Revoked(BaseModel):
    revoked: str


class CodeShown(BaseModel):
    code: str
    seconds: int
    tries: int


class Reloaded(BaseModel):
    applied: list[str]
    restart: list[str]
    handles: int

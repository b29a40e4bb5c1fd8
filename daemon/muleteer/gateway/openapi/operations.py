"""The table of the native paths: what each is for, takes and answers. Who adds a path adds its line.

`guests.py` has those of other people's protocols. Which scope a path needs is in `auth.py`; what the types
say, in the file of the path itself and in `shapes.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from muleteer.gateway import (
    background,
    calls,
    checks,
    memory,
    offline,
    plan,
    requests,
    seat,
    steering,
    tokens,
)
from muleteer.gateway.openapi import shapes
from muleteer.harness.events import Confirm, TurnFinished

Schema = Mapping[str, object]
TEXT: Schema = {"type": "string"}
EVENTS = "text/event-stream"
JSON, LINES = "application/json", "application/x-ndjson"


@dataclass(frozen=True, slots=True)
class Operation:
    """`body` and `answers` (by status) are types, or a schema as it is; `fails` are the statuses of its own
    errors, beside those that any request may get; `kind` is the media type of the good answer, `query` and
    `within` (the path) are schemas of parameters by name, `also` that of the same in another form."""

    summary: str
    answers: Mapping[int, object]
    body: object = None
    fails: tuple[int, ...] = ()
    query: Mapping[str, Schema] = field(default_factory=dict)
    within: Mapping[str, Schema] = field(default_factory=dict)
    kind: str = JSON
    also: str = ""
    wrong: type = shapes.Wrong


def number(least: int, most: int) -> Schema:
    return {"type": "integer", "minimum": least, "maximum": most}


LARGEST = 10**18 - 1
LIMIT = {"limit": number(0, LARGEST)}  # no more are given than `memory.MOST_AT_ONCE`, whatever it is
SESSION: Mapping[str, Schema] = {
    "name": {"type": "string", "pattern": requests.SESSION_KEY, "minLength": 1, "maxLength": 129}
}
OF_A_TURN = (404, 413, 499, 500, 502, 503)
OUTCOMES: Mapping[int, object] = {200: TurnFinished, 202: Confirm}
TURN = {200: shapes.TurnWhole}
SEAT = {200: shapes.Seat}

NATIVE: dict[str, Operation] = {
    "POST /v1/turns": Operation(
        "Run a turn: its events as they happen, or the outcome as one object (`stream`).",
        OUTCOMES,
        requests.TurnRequest,
        OF_A_TURN,
        also=EVENTS,
    ),
    "GET /v1/turns": Operation("The last turns of this client, newest first.", {200: shapes.TurnList}),
    "GET /v1/turns/{turn}": Operation("One of them, whole.", TURN, fails=(404,)),
    "DELETE /v1/turns/{turn}": Operation("Stop a turn, if it has not ended.", TURN, fails=(404,)),
    "POST /v1/turns/{turn}/cancel": Operation("The same, for who cannot send DELETE.", TURN, fails=(404,)),
    "POST /v1/turns/{turn}/confirm": Operation(
        "Answer the question that a turn ended with, and go on.",
        OUTCOMES,
        requests.ConfirmRequest,
        OF_A_TURN,
        also=EVENTS,
    ),
    "GET /v1/turns/{turn}/events": Operation(
        "Follow a turn that runs, from its first event; of one that has ended, the outcome.",
        {200: {}},
        fails=(404,),
        kind=EVENTS,
    ),
    "GET /v1/traces": Operation("What the last turns did, newest first.", {200: shapes.TraceList}),
    "GET /v1/traces/newest": Operation("Step by step.", {200: shapes.Trace}, fails=(404,)),
    "GET /v1/traces/{turn}": Operation(
        "Step by step; the id may be cut short.", {200: shapes.Trace}, fails=(404,)
    ),
    "GET /v1/status": Operation("What this device is doing.", {200: shapes.Status}),
    "GET /healthz": Operation("200 when a turn can be served now.", {200: shapes.Ready}, fails=(503,)),
    "GET /metrics": Operation("What is counted, in Prometheus' text format.", {200: TEXT}, kind="text/plain"),
    "GET /openapi.json": Operation("This document.", {200: {"type": "object"}}),
    "GET /": Operation(
        "The page, for browsers; who does not want HTML reads that Ollama is running.",
        {200: TEXT},
        kind="text/html",
        also="text/plain",
    ),
    "GET /v1/events": Operation(
        "What happens here, to nobody's turn, until one side leaves.", {200: {}}, fails=(503,), kind=EVENTS
    ),
    "GET /v1/skills": Operation("Skills, and why some are disabled.", {200: shapes.SkillList}),
    "POST /v1/skills/{handle}": Operation(
        "Turn a skill on or off, or rename it.", {200: shapes.Listed}, steering.Wish, (404, 409, 503)
    ),
    "GET /v1/tools": Operation("Tools, and why some are disabled.", {200: shapes.ToolList}),
    "POST /v1/tools/{handle}": Operation(
        "Turn a tool on or off, or rename it.", {200: shapes.Listed}, steering.Wish, (404, 409, 503)
    ),
    "POST /v1/tools/{name}/call": Operation("Call one tool by hand.", {200: shapes.CallResult}, calls.Call),
    "POST /v1/checks": Operation(
        "What is wrong with skills, installed or not.", {200: shapes.CheckReport}, checks.Checks
    ),
    "POST /v1/plan": Operation(
        "What would be done with a message; nothing is run.", {200: shapes.Preview}, plan.Wanted, (413, 503)
    ),
    "POST /v1/warm": Operation(
        "A turn is about to come: have the model and the planner's prompt ready.", {200: shapes.Warming}
    ),
    "GET /v1/names": Operation("What people are likely to name here.", {200: shapes.Names}),
    "POST /v1/reload": Operation(
        "Read settings, skills and tools again.", {200: shapes.Reloaded}, fails=(500, 503)
    ),
    "GET /v1/memory": Operation("How much is remembered.", {200: shapes.MemoryKept}),
    "GET /v1/memory/search": Operation(
        "Notes and past turns that fit a query, best first.",
        {200: shapes.MemoryFound},
        query={
            "query": TEXT,
            "when": TEXT,
            "kind": {"type": "string", "enum": list(memory.KINDS)},
            **LIMIT,
        },
    ),
    "GET /v1/memory/notes": Operation(
        "Notes in their order.",
        {200: shapes.NoteList},
        fails=(503,),
        query={"page": TEXT, "after": number(0, LARGEST), **LIMIT},
    ),
    "POST /v1/memory/notes": Operation(
        "Take notes in, all or none.", {200: shapes.NotesKept}, memory.GivenNotes, (503,)
    ),
    "POST /v1/memory/forget": Operation("Remove for good.", {200: shapes.Forgotten}, memory.Doomed, (503,)),
    "GET /v1/sessions": Operation("Conversations by name.", {200: shapes.SessionList}, fails=(503,)),
    "GET /v1/sessions/{name}": Operation(
        "What is told again of one.", {200: shapes.SessionMessages}, within=SESSION
    ),
    "DELETE /v1/sessions/{name}": Operation(
        "Forget one.", {200: shapes.SessionForgotten}, fails=(503,), within=SESSION
    ),
    "GET /v1/timers": Operation("Timers and alarms that are set.", {200: shapes.TimerList}, fails=(503,)),
    "POST /v1/timers/silence": Operation("Whatever rings shall stop.", {200: shapes.Silenced}),
    "DELETE /v1/timers/{number}": Operation("Cancel one.", {200: shapes.TimerCancelled}, fails=(404, 503)),
    "GET /v1/offline": Operation("Whether tools stay off the network.", {200: shapes.Offline}),
    "PUT /v1/offline": Operation("Choose whether they do.", {200: shapes.Offline}, offline.Chosen, (503,)),
    "POST /v1/background": Operation(
        "Run a skill for the slot that is due; answers when it has ended.",
        {200: shapes.Ended},
        background.RunRequest,
        (503,),
    ),
    "GET /v1/inbox": Operation(
        "What background turns came to, newest first.",
        {200: shapes.InboxList},
        fails=(503,),
        query={
            "limit": number(1, background.MOST_ENTRIES),
            "unread": {"type": "string", "enum": ["true", "false"]},
        },
    ),
    "POST /v1/inbox/read": Operation(
        "Mark entries as read.", {200: shapes.InboxRead}, background.ReadRequest, (503,)
    ),
    "GET /v1/seat": Operation("Who drives the household.", SEAT, fails=(409,)),
    "GET /v1/seat/members": Operation("Its devices.", {200: shapes.Members}, fails=(409,)),
    "POST /v1/seat/take": Operation("Drive.", SEAT, fails=(409,)),
    "POST /v1/seat/yield": Operation("Let another device drive.", SEAT, fails=(409,)),
    "POST /v1/seat/invite": Operation(
        "A code that lets another device in.", {200: shapes.Invitation}, fails=(409,)
    ),
    "POST /v1/seat/join": Operation("Enter another device's household.", SEAT, seat.Joining, (409,)),
    "POST /v1/seat/forget": Operation(
        "Send a device away.", {200: shapes.DeviceForgotten}, seat.Forgetting, (409,)
    ),
    "GET /v1/devices": Operation("What is announced on the network.", {200: shapes.Devices}),
    "GET /v1/tokens": Operation("Who may use this device over the network.", {200: shapes.TokenList}),
    "POST /v1/tokens": Operation("Make a token.", {200: shapes.TokenMade}, tokens.NewToken, (409, 503)),
    "DELETE /v1/tokens/{name}": Operation(
        "Make a token invalid, at once.", {200: shapes.Revoked}, fails=(404, 503)
    ),
    "POST /v1/pair": Operation(
        "A token for the code that the device shows.", {200: shapes.TokenMade}, tokens.Attempt, (409, 503)
    ),
    "POST /v1/pair/exchange": Operation(
        "The same without telling the code (SPAKE2), in two steps.",
        {200: {"type": "object"}},
        tokens.Step,
        (409, 503),
    ),
    "POST /v1/pair/code": Operation("Show a code.", {200: shapes.CodeShown}, tokens.NewToken, (409,)),
    "GET /v1/pair/code": Operation("Whether one is shown.", {200: {"type": "object"}}, fails=(409,)),
}

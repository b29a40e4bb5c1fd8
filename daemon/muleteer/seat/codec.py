"""What devices say about the seat and about claims, as frames and back. Pure.

A heartbeat goes to every device every second and a half, for years: so a message is a short list, without
what the connection says already (who sends, who is meant) and without what is as usual at its end.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from muleteer.seat.claiming import MOST_IN_BOOK, Saying, Talk
from muleteer.seat.claims import Claim, State
from muleteer.seat.messages import Kind, Message
from muleteer.seat.wire import BadFrameError, Body
from muleteer.store.votes import membership_fields, membership_from

KINDS = tuple(Kind)  # a message's kind is its place here
TALKS, STATES = tuple(Talk), tuple(State)
GRANTED, UNWILLING = 1, 2
LARGEST = 2**53  # a number; JSON carries no larger one unharmed
LONGEST_ID = 64  # characters
EPOCH, MICROSECOND = datetime(1970, 1, 1, tzinfo=UTC), timedelta(microseconds=1)


def message_frame(message: Message) -> dict[str, object]:
    """`{"e": [kind, term, term and version of its membership, clock, released, boot, flags, successor,
    members]}`, or the beginning of that."""
    flags = GRANTED * message.granted + UNWILLING * (not message.willing)
    fields: list[object] = [KINDS.index(message.kind), message.term, *message.stamp]
    fields += [message.clock, message.released, message.boot, flags, message.successor]
    fields.append(membership_fields(message.membership) if message.membership else 0)
    while fields[-1] in (0, ""):
        fields.pop()
    return {"e": fields}


def message_from(body: Body, source: str, target: str) -> Message:
    """Raises `BadFrameError` for what nobody of ours has written."""
    fields = body.get("e")
    if not isinstance(fields, list) or not 0 <= len(fields) <= 10:
        raise BadFrameError("it is no message of an election")
    padded: list[Any] = [*fields, *[0] * (10 - len(fields))]
    kind, term, stamp_term, stamp_version, clock, released, boot, flags, successor, membership = padded
    for each in padded[:8]:
        if type(each) is not int or not 0 <= each < LARGEST:
            raise BadFrameError("a number of it is none")
    named = successor == 0 or (isinstance(successor, str) and len(successor) <= LONGEST_ID)
    if kind >= len(KINDS) or not named:
        raise BadFrameError("its kind or its successor is unknown")
    try:
        enrolled = membership_from(membership) if membership else None
    except (ValueError, TypeError) as error:
        raise BadFrameError(f"its membership is wrong: {error}") from error
    return Message(
        KINDS[kind],
        source,
        target,
        term,
        (stamp_term, stamp_version),
        clock=clock,
        granted=bool(flags & GRANTED),
        released=released,
        successor=successor or "",
        willing=not flags & UNWILLING,
        boot=boot,
        membership=enrolled,
    )


def saying_frame(saying: Saying) -> dict[str, object]:
    """`{"c": [kind, term, accepted, claim that is held, claims]}`"""
    held = _claim_fields(saying.held) if saying.held else 0
    claims = [_claim_fields(each) for each in saying.claims]
    return {"c": [TALKS.index(saying.talk), saying.term, int(saying.accepted), held, claims]}


def saying_from(body: Body, source: str, target: str) -> Saying:
    """Raises `BadFrameError` for what nobody of ours has written."""
    try:
        kind, term, accepted, held, claims = body["c"]
        if not isinstance(claims, list) or len(claims) > MOST_IN_BOOK or not 0 <= kind < len(TALKS):
            raise ValueError("its claims are none, or too many")
        read = tuple(_claim_from(each) for each in claims)
        return Saying(
            TALKS[kind],
            source,
            target,
            _count(term),
            read,
            bool(accepted),
            _claim_from(held) if held else None,
        )
    except (KeyError, ValueError, TypeError, OverflowError, OSError) as error:
        raise BadFrameError(f"it says nothing about claims: {error}") from error


def _claim_fields(claim: Claim) -> list[object]:
    made = (claim.made - EPOCH) // MICROSECOND if claim.made else 0  # exact: claims are compared
    flags = int(claim.repeatable) + 2 * int(claim.settles)
    run = [claim.term, claim.device, STATES.index(claim.state), claim.attempt]
    return [claim.skill, claim.slot, *run, flags, made]


def _claim_from(fields: Any) -> Claim:
    skill, slot, term, device, state, attempt, flags, made = fields
    if not all(isinstance(each, str) and len(each) <= LONGEST_ID for each in (skill, slot, device)):
        raise ValueError("a name is none, or too long")
    if not 0 <= state < len(STATES):
        raise ValueError("a state is none")
    when = EPOCH + MICROSECOND * _count(made) if made else None
    run = _count(term), device, bool(flags & 1), STATES[state], _count(attempt), bool(flags & 2)
    return Claim(skill, slot, *run, when)


def _count(value: object) -> int:
    if type(value) is not int or not 0 <= value < LARGEST:
        raise ValueError("a number is none")
    return value

"""What devices say about the seat and about claims, as frames and back. Pure.

A heartbeat goes to every device every two seconds, for years: so a message of the election is packed:
numbers of seven bits a byte, without what the connection says already (who sends, who is meant).
"""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

from muleteer.seat.claiming import MOST_IN_BOOK, Saying, Talk
from muleteer.seat.claims import Claim, State
from muleteer.seat.messages import Kind, Message
from muleteer.seat.wire import BadFrameError, Body
from muleteer.store.votes import membership_fields, membership_from

KINDS = tuple(Kind)  # a message's kind is its place here: eight of them are three bits
TALKS, STATES = tuple(Talk), tuple(State)
GRANTED, UNWILLING = 8, 16
LARGEST = 2**53  # a number; JSON carries no larger one unharmed
LONGEST_ID = 64  # characters
EPOCH, MICROSECOND = datetime(1970, 1, 1, tzinfo=UTC), timedelta(microseconds=1)


def message_frame(message: Message) -> dict[str, bytes]:
    """`{"e": bytes}`: a byte with the kind and flags; term, term and version of its membership, clock,
    released, boot; and in JSON, if there is either, `[successor, members]`."""
    enclosed = membership_fields(message.membership) if message.membership else None
    tail = [message.successor, enclosed] if message.successor or enclosed else None
    first = KINDS.index(message.kind) | GRANTED * message.granted | UNWILLING * (not message.willing)
    packed = bytearray([first])
    for number in (message.term, *message.stamp, message.clock, message.released, message.boot):
        _pack(number, packed)
    return {"e": bytes(packed) + (_json(tail) if tail else b"")}


def message_from(body: Body, source: str, target: str) -> Message:
    """Raises `BadFrameError` for what nobody of ours has written."""
    packed = body.get("e")
    if not isinstance(packed, bytes) or not packed or packed[0] >= UNWILLING << 1:
        raise BadFrameError("it is no message of an election")
    numbers, place = [], 1
    for _ in range(6):
        number, place = _unpack(packed, place)
        numbers.append(number)
    term, stamp_term, stamp_version, clock, released, boot = numbers
    try:
        successor, enclosed = json.loads(packed[place:]) if place < len(packed) else ("", None)
        if not isinstance(successor, str) or len(successor) > LONGEST_ID:
            raise ValueError("its successor is unknown")
        enrolled = membership_from(enclosed) if enclosed else None
    except (ValueError, TypeError, RecursionError) as error:
        raise BadFrameError(f"its end is wrong: {error}") from error
    return Message(
        KINDS[packed[0] % GRANTED],
        source,
        target,
        term,
        (stamp_term, stamp_version),
        clock=clock,
        granted=bool(packed[0] & GRANTED),
        released=released,
        successor=successor,
        willing=not packed[0] & UNWILLING,
        boot=boot,
        membership=enrolled,
    )


def _pack(number: int, into: bytearray) -> None:
    while number > 127:
        into.append(number & 127 | 128)
        number >>= 7
    into.append(number)


def _unpack(packed: bytes, place: int) -> tuple[int, int]:
    """The number there, and where the next one is."""
    number = 0
    for shift in range(0, 56, 7):
        if place >= len(packed):
            break
        byte, place = packed[place], place + 1
        number |= (byte & 127) << shift
        if byte < 128 and number < LARGEST:
            return number, place
    raise BadFrameError("a number of it is none")


def _json(content: object) -> bytes:
    return json.dumps(content, separators=(",", ":")).encode()


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

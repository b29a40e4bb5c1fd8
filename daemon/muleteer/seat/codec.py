"""Election messages as frames and back. Pure.

A heartbeat goes to every device every second and a half, for years: so a message is a short list, without
what the connection says already (who sends, who is meant) and without what is as usual at its end.
"""

from __future__ import annotations

from typing import Any

from muleteer.seat.messages import Kind, Message
from muleteer.seat.wire import BadFrameError, Body
from muleteer.store.votes import membership_fields, membership_from

KINDS = tuple(Kind)  # a message's kind is its place here
GRANTED, UNWILLING = 1, 2
LARGEST = 2**53  # a number; JSON carries no larger one unharmed
LONGEST_ID = 64  # characters


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

"""Letting a device into the household by a short code, shown on a member and typed on the newcomer.

SPAKE2 (the library `spake2`, as used by magic-wormhole) makes a strong key out of the code: whoever listens
learns nothing that helps in guessing, and whoever takes part has one guess an exchange. The household's key
is handed over under that key. The newcomer must prove the code first: a guess that is wrong learns nothing.

    newcomer                              member that shows the code
    {"spake": A} ------------------------>
                 <------------------------ {"spake": B}
    {"box": id, public key, name} ------->  (opens only if the codes are the same)
                 <------------------------ {"box": household's key, list of members, who is enrolled}

Knows frames and the code; not how the two devices found each other.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import secrets
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from spake2 import SPAKE2_A, SPAKE2_B, SPAKEError
from spake2.ed25519_basic import NotOnCurve

from muleteer.errors import SeatError
from muleteer.seat.roster import Member, Roster
from muleteer.seat.wire import BadFrameError, Body, encode, read_frame

CODE_SECONDS = 300.0  # a code is good for; the other device stands in the same home
CODE_TRIES = 3  # wrong ones for one code: with a million secrets, a stranger's chance is 3 in a million
DIGITS = 6  # of the secret
PREFIX = 4  # digits of the device's id, in front of the secret: they tell whom to ask
CODE = re.compile(rf"([0-9a-f]{{{PREFIX}}})[- ]?([0-9]{{{DIGITS}}})")
STEP_SECONDS = 10.0  # for each frame; the arithmetic takes a tenth of a second on a board
NONCE = bytes(12)  # each key seals one message
NEWCOMER, MEMBER = b"muleteer newcomer", b"muleteer member"
WRONG_CODE = "the code is wrong or was used up; show a new one with `muleteer seat join` on the other device"


@dataclass(slots=True)
class Invitation:
    """A code that is shown. `until` is on the loop's clock, `tries` is how often it may still be tried."""

    code: str
    until: float
    tries: int = CODE_TRIES


@dataclass(frozen=True, slots=True)
class Handed:
    """What a newcomer is given: the household's key in hexadecimal digits, the list of members, and the
    membership of the election as frames have it."""

    household_key: str
    members: list[Member]
    enrolled: object


def new_invitation(device: str, now: float) -> Invitation:
    return Invitation(f"{device[:PREFIX]}-{secrets.randbelow(10**DIGITS):0{DIGITS}}", now + CODE_SECONDS)


def read_code(text: str) -> tuple[str, str]:
    """The beginning of the id of the device that shows the code, and the code as it was shown. Raises
    `SeatError`."""
    found = CODE.fullmatch(" ".join(text.lower().split()))
    if not found:
        raise SeatError(
            f"A code looks like 3f7a-482913: {PREFIX} letters or digits, a dash, {DIGITS} digits. "
            "`muleteer seat join` on the other device shows one."
        )
    return found[1], f"{found[1]}-{found[2]}"


async def let_in(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    shown: Invitation,
    device: str,
    admit: Callable[[str, str, str], Roster],
    enrolled: list[object],
) -> str:
    """The member's part; returns the newcomer's name. Only a proof of a wrong code costs one of the tries:
    who says nothing, or learns our half and hangs up, has found out nothing. `admit(id, key, name)` adds it
    to the list; `enrolled` is the membership of the election, as frames have it.

    Raises `SeatError` if the newcomer does not know the code, and what `admit` raises.
    """
    spake = SPAKE2_B(shown.code.encode(), idA=NEWCOMER, idB=device.encode())
    ours = await asyncio.to_thread(spake.start)
    theirs = _hex(await _next(reader), "spake")
    writer.write(encode({"spake": ours.hex()}))
    key = await asyncio.to_thread(_finish, spake, theirs)
    box = _hex(await _next(reader), "box")
    if not shown.tries:
        raise SeatError(f"Not let in: {WRONG_CODE}.")
    shown.tries -= 1
    told = _open(key, NEWCOMER, box)
    shown.tries += 1
    try:
        newcomer = Member(told["id"], told["key"], _name(told["name"]))
    except (KeyError, ValueError, TypeError) as error:
        raise SeatError("The other device does not say who it is; is its Muleteer older or newer?") from error
    roster = admit(newcomer.id, newcomer.key, newcomer.name)
    handed = {
        "household_key": roster.key.private_bytes_raw().hex(),
        "members": [asdict(each) for each in roster.entries()],
        "enrolled": enrolled,
    }
    writer.write(encode({"box": _seal(key, MEMBER, handed).hex()}))
    await writer.drain()
    with contextlib.suppress(OSError, EOFError, TimeoutError):
        async with asyncio.timeout(STEP_SECONDS):
            await reader.read()  # until the newcomer has it all and hangs up
    return newcomer.name


async def ask_in(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    code: str,
    member: str,
    newcomer: Member,
) -> Handed:
    """The newcomer's part, with the id of the device that it asks.

    Raises `SeatError` with a sentence when it is not let in.
    """
    spake = SPAKE2_A(code.encode(), idA=NEWCOMER, idB=member.encode())
    writer.write(encode({"spake": (await asyncio.to_thread(spake.start)).hex()}))
    key = await asyncio.to_thread(_finish, spake, _hex(await _next(reader), "spake"))
    told = {"id": newcomer.id, "key": newcomer.key, "name": newcomer.name}
    writer.write(encode({"box": _seal(key, NEWCOMER, told).hex()}))
    handed = _open(key, MEMBER, _hex(await _next(reader), "box"))
    try:
        members = [Member(**each) for each in handed["members"]]
        return Handed(str(handed["household_key"]), members, handed["enrolled"])
    except (KeyError, ValueError, TypeError) as error:
        raise SeatError(
            "The other device hands over no household; is its Muleteer older or newer?"
        ) from error


def refusal(reason: str) -> bytes:
    """The frame that ends an exchange, with a sentence for the other device's user."""
    return encode({"refused": reason})


async def _next(reader: asyncio.StreamReader) -> Body:
    try:
        async with asyncio.timeout(STEP_SECONDS):
            body = await read_frame(reader)
    except (OSError, EOFError, TimeoutError, BadFrameError) as error:
        raise SeatError(f"The other device has not let this one in: {WRONG_CODE}.") from error
    if isinstance(reason := body.get("refused"), str):
        raise SeatError(f"The other device says: {reason[:200]}.")
    return body


def _hex(body: Mapping[str, object], name: str) -> bytes:
    try:
        return bytes.fromhex(str(body[name]))
    except (KeyError, ValueError) as error:
        raise SeatError(
            "The other device speaks another protocol; is its Muleteer older or newer?"
        ) from error


def _finish(spake: SPAKE2_A | SPAKE2_B, theirs: bytes) -> bytes:
    try:
        key: bytes = spake.finish(theirs)
    except (SPAKEError, NotOnCurve, ValueError, AssertionError) as error:
        raise SeatError(f"Not let in: {WRONG_CODE}.") from error
    return key


def _cipher(key: bytes, sender: bytes) -> ChaCha20Poly1305:
    return ChaCha20Poly1305(HKDF(SHA256(), 32, salt=None, info=sender).derive(key))


def _seal(key: bytes, sender: bytes, body: Mapping[str, object]) -> bytes:
    return _cipher(key, sender).encrypt(NONCE, json.dumps(body).encode(), sender)


def _open(key: bytes, sender: bytes, box: bytes) -> Body:
    try:
        body = json.loads(_cipher(key, sender).decrypt(NONCE, box, sender))
    except InvalidTag as error:
        raise SeatError(f"Not let in: {WRONG_CODE}.") from error
    if not isinstance(body, dict):
        raise SeatError("The other device speaks another protocol; is its Muleteer older or newer?")
    return body


def _name(text: object) -> str:
    return "".join(each for each in str(text) if each.isprintable())[:64]

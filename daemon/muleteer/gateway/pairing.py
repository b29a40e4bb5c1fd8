"""Giving a client its token by a short code, shown on this device and typed on the client.

    POST /v1/pair            {"code": "482-913", "name": "phone"} -> {"token": ...}

is for any client, and only as secret as the connection. Muleteer's own clients never send the code:

    POST /v1/pair/exchange   {"spake": A}              -> {"exchange": id, "spake": B}
    POST /v1/pair/exchange   {"exchange": id, "box"}   -> {"box": token, fingerprint of the certificate}

`exchange.py` says what that is good for; the client learns the true fingerprint as well. Knows one code at a
time, and its tries.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import secrets
from collections.abc import Mapping
from dataclasses import dataclass

from muleteer.allowance import Allowance, Allowances
from muleteer.errors import PairingError, TooManyError
from muleteer.exchange import CLIENT, DEVICE, WRONG_CODE, device_half, finish, seal, unseal
from muleteer.gateway.peer import Scope
from muleteer.store.tokens import Tokens

log = logging.getLogger(__name__)

CODE_SECONDS = 300.0  # a code is good for; the client is in the same home
CODE_TRIES = 3  # wrong ones for one code: a stranger's chance is 3 in a million
DIGITS = 6
MOST_EXCHANGES = (
    8  # that have begun, the oldest of which is forgotten; each began with a tenth of a second's work
)
# Attempts, right or wrong, a second and at once: people type one in ten seconds.
FROM_ALL, ALL_AT_ONCE = 0.5, 20.0
FROM_ONE, ONE_AT_ONCE = 0.1, 6.0


@dataclass(slots=True)
class Code:
    """A code that is shown, and the token it will be given for (name empty: as the client likes). `until` is
    on the loop's clock."""

    digits: str
    name: str
    scopes: frozenset[Scope]
    until: float
    tries: int = CODE_TRIES


@dataclass(frozen=True, slots=True)
class Granted:
    """A token that was just made."""

    secret: str
    name: str
    scopes: frozenset[Scope]


class Pairing:
    """Pairs clients with `device`. `told` is what a client is told beside its token."""

    def __init__(self, tokens: Tokens, device: str, told: Mapping[str, object]) -> None:
        self._tokens, self._device, self._told = tokens, device, told
        self._code: Code | None = None
        self._exchanges: dict[str, tuple[Code, bytes]] = {}
        self._all: Allowance | None = None
        self._each = Allowances(FROM_ONE, ONE_AT_ONCE)

    def show(self, name: str, scopes: frozenset[Scope]) -> Code:
        """A new code, instead of one that is still shown. Raises `PairingError` where the name is taken."""
        if self._tokens.named(name):
            raise PairingError(f"There is a token called {name!r} already; revoke it or choose another name.")
        digits = f"{secrets.randbelow(10**DIGITS):0{DIGITS}}"
        self._code = Code(digits, name, scopes, _now() + CODE_SECONDS)
        self._exchanges.clear()
        return self._code

    def state(self) -> Mapping[str, object]:
        """Whether a code is shown, for how long still and with how many tries."""
        code = self._shown()
        return {"seconds": round(code.until - _now()), "tries": code.tries} if code else {}

    async def redeem(self, digits: str, name: str, address: str) -> dict[str, object]:
        """The token for a code that came as it is. Raises `PairingError`, `TooManyError`, `StorageError`."""
        self._count(address)
        code = self._shown()
        right = hmac.compare_digest(digits.encode(), (code.digits if code else "none").encode())
        if code is None or not right:
            self._wrong(code, address)
            raise PairingError(WRONG_CODE)
        return self._answer(await self._grant(code, name, address))

    async def begin(self, theirs: str, address: str) -> dict[str, object]:
        """The first step of an exchange. Where no code is shown one is made up: who asks does not learn that
        in the first step. Raises as `redeem`."""
        self._count(address)
        code = self._shown() or Code(secrets.token_hex(DIGITS), "", frozenset(), 0.0, 0)
        spake = device_half(code.digits)
        ours = await asyncio.to_thread(spake.start)
        key = await asyncio.to_thread(finish, spake, theirs)
        while len(self._exchanges) >= MOST_EXCHANGES:
            del self._exchanges[next(iter(self._exchanges))]
        number = secrets.token_hex(8)
        self._exchanges[number] = code, key
        return {"exchange": number, "spake": ours.hex(), "device": self._device}

    async def end(self, number: str, box: str, address: str) -> dict[str, object]:
        """The second step: the box proves that the client knows the code. Raises as `redeem`."""
        code, key = self._exchanges.pop(number, (None, b""))
        if code is None or code is not self._shown():
            raise PairingError(WRONG_CODE)
        try:
            told = unseal(key, CLIENT, box)
        except PairingError:
            self._wrong(code, address)
            raise
        granted = await self._grant(code, str(told.get("name", "")), address)
        return {"box": seal(key, DEVICE, self._answer(granted))}

    def _shown(self) -> Code | None:
        code = self._code
        return code if code and code.tries and code.until > _now() else None

    def _count(self, address: str) -> None:
        now = _now()
        self._all = self._all or Allowance.of(FROM_ALL, ALL_AT_ONCE, now)
        if not (self._each.take(address, now) and self._all.take(now)):
            raise TooManyError("Too many attempts to pair; wait a moment, and show a new code.", 10.0)

    def _wrong(self, code: Code | None, address: str) -> None:
        if code is not None:
            code.tries -= 1
            left = f"{code.tries} more tries" if code.tries else "it is used up"
            log.warning("A wrong code came from %s; %s.", address, left)

    async def _grant(self, code: Code, wished: str, address: str) -> Granted:
        """The code is used up first: of two that know it at the same time one gets a token."""
        self._code = None
        name = code.name or self._free(_name(wished) or "client")
        secret = await self._tokens.add(name, code.scopes)
        log.info("A client at %s has paired as %s, for %s.", address, name, ", ".join(sorted(code.scopes)))
        return Granted(secret, name, code.scopes)

    def _free(self, name: str) -> str:
        number, free = 1, name
        while self._tokens.named(free):
            number += 1
            free = f"{name}-{number}"
        return free

    def _answer(self, granted: Granted) -> dict[str, object]:
        scopes = sorted(granted.scopes)
        return {"token": granted.secret, "name": granted.name, "scopes": scopes, **self._told}


def _name(text: str) -> str:
    """A name as tokens have it, made of what a client calls itself."""
    return "".join(each if each.isalnum() or each in "._-" else "-" for each in text.strip())[:48]


def _now() -> float:
    return asyncio.get_running_loop().time()

"""A secret handed over by a short code that is not sent: SPAKE2 (the library `spake2`, which magic-wormhole
uses) makes a strong key out of it on both sides, and what that key seals only the other side can read.

Who listens learns nothing, who stands in the middle has one guess. Pure; knows bytes, not connections.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from spake2 import SPAKE2_A, SPAKE2_B, SPAKEError
from spake2.ed25519_basic import NotOnCurve

from muleteer.errors import PairingError

CLIENT, DEVICE = b"muleteer client", b"muleteer device"
NONCE = bytes(12)  # each key seals one message
WRONG_CODE = "The code is wrong, used up or too old; `muleteer pair` on the device shows a new one."
FOREIGN = (SPAKEError, NotOnCurve, ValueError, AssertionError)  # what the library raises for foreign bytes


def client_half(code: str) -> SPAKE2_A:
    return SPAKE2_A(code.encode(), idA=CLIENT, idB=DEVICE)


def device_half(code: str) -> SPAKE2_B:
    return SPAKE2_B(code.encode(), idA=CLIENT, idB=DEVICE)


def finish(half: SPAKE2_A | SPAKE2_B, theirs: str) -> bytes:
    """The key, from the other side's message in hexadecimal digits. Raises `PairingError`."""
    try:
        key: bytes = half.finish(bytes.fromhex(theirs))
    except FOREIGN as error:
        raise PairingError(WRONG_CODE) from error
    return key


def seal(key: bytes, sender: bytes, body: Mapping[str, object]) -> str:
    """What only the other side can read, in hexadecimal digits."""
    return _cipher(key, sender).encrypt(NONCE, json.dumps(body).encode(), sender).hex()


def unseal(key: bytes, sender: bytes, box: str) -> dict[str, object]:
    """Raises `PairingError` where the sender has another code, or is somebody else."""
    try:
        body = json.loads(_cipher(key, sender).decrypt(NONCE, bytes.fromhex(box), sender))
    except (InvalidTag, ValueError) as error:
        raise PairingError(WRONG_CODE) from error
    if not isinstance(body, dict):
        raise PairingError(WRONG_CODE)
    return body


def _cipher(key: bytes, sender: bytes) -> ChaCha20Poly1305:
    return ChaCha20Poly1305(HKDF(SHA256(), 32, salt=None, info=sender).derive(key))

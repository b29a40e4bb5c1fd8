"""The fingerprint of a certificate, in the one form in which it is told, kept and compared: as browsers and
openssl show it. Pure, and light, since every command imports it.
"""

from __future__ import annotations

import hashlib


def fingerprint(der: bytes) -> str:
    """SHA-256 of a certificate, in hexadecimal digits with colons between."""
    return spelled(hashlib.sha256(der).hexdigest())


def spelled(digits: str) -> str:
    """Hexadecimal digits, with colons or without, in that form."""
    plain = digits.replace(":", "").upper()
    return ":".join(plain[at : at + 2] for at in range(0, len(plain), 2))

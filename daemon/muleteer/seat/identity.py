"""What proves that this device is the one with its id: an Ed25519 key, made at its first start.

Knows one file beside the id's. Does not know households: who trusts this key is `roster.py`'s business.
"""

from __future__ import annotations

import errno
import re
from dataclasses import dataclass
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from muleteer.durable import write_durably
from muleteer.files import open_regular
from muleteer.identity import device_id

FILE_NAME = "device-key"
FORM = re.compile(r"[0-9a-f]{64}\n?")  # the 32 bytes of RFC 8032, section 5.1.5
SIZE = 32  # bytes of a key


@dataclass(frozen=True, slots=True)
class Identity:
    """A device's id (32 hexadecimal digits) and the key that it alone has."""

    id: str
    key: Ed25519PrivateKey

    @property
    def public(self) -> str:
        """The public key, 64 hexadecimal digits."""
        return public_hex(self.key.public_key())


def load_identity(folder: Path) -> Identity:
    """Who this device is; made if there is none, and on disk. Raises `OSError`, whose `strerror` is for
    people; a damaged file is not replaced."""
    device = device_id(folder)
    path = folder / FILE_NAME
    try:
        with open_regular(path) as file:
            content = file.read(2 * SIZE + 2).decode(errors="replace")  # a larger file is damaged, too
    except FileNotFoundError:
        key = Ed25519PrivateKey.generate()
        write_durably(path, f"{key.private_bytes_raw().hex()}\n".encode())
        return Identity(device, key)
    if not FORM.fullmatch(content):
        raise OSError(
            errno.EINVAL,
            f"{path} is damaged; restore it; or remove it and household.json beside it, and let this device "
            "join its household again",
        )
    return Identity(device, private_from_hex(content.strip()))


def public_hex(key: Ed25519PublicKey) -> str:
    return key.public_bytes_raw().hex()


def private_from_hex(text: str) -> Ed25519PrivateKey:
    """Raises `ValueError` if that is no key."""
    return Ed25519PrivateKey.from_private_bytes(bytes.fromhex(text))

"""Whose certificate it is: the device's own key vouches for the key that it listens with."""

from __future__ import annotations

import contextlib
import ssl
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from muleteer.seat.identity import Identity, load_identity
from muleteer.seat.trust import Contexts, Shown, contexts, joining_context, vouched

HOUSEHOLD = Ed25519PrivateKey.generate()


@pytest.fixture
def device(tmp_path: Path) -> Identity:
    return load_identity(tmp_path)


def shown_to_all(accept: ssl.SSLContext) -> bytes:
    """The certificate that a stranger gets from it."""
    there, here, back, forth = ssl.MemoryBIO(), ssl.MemoryBIO(), ssl.MemoryBIO(), ssl.MemoryBIO()
    server = accept.wrap_bio(there, back, server_side=True)
    client = joining_context().wrap_bio(here, forth)
    for _ in range(3):
        for side, out, into in ((client, forth, there), (server, back, here)):
            with contextlib.suppress(ssl.SSLWantReadError):
                side.do_handshake()
            into.write(out.read())
    certificate = client.getpeercert(binary_form=True)
    assert certificate
    return certificate


def test_the_devices_key_is_told_to_members_alone_and_vouches(device: Identity) -> None:
    made = contexts(device, HOUSEHOLD)
    certificate = shown_to_all(made.accept)
    assert device.key.public_key().public_bytes_raw() not in certificate
    assert vouched(certificate, made.greeting) == Shown(device.id, device.public)


def test_nobody_vouches_for_anything_else(device: Identity, tmp_path: Path) -> None:
    made = contexts(device, HOUSEHOLD)
    certificate = shown_to_all(made.accept)
    another: Contexts = contexts(device, HOUSEHOLD)  # listens with another key
    assert vouched(certificate, another.greeting) is None
    renamed = contexts(Identity("f" * 32, device.key), HOUSEHOLD)
    assert vouched(certificate, renamed.greeting) is None
    thief = contexts(Identity(device.id, Ed25519PrivateKey.generate()), HOUSEHOLD)
    assert vouched(certificate, {**made.greeting, "key": thief.greeting["key"]}) is None
    for damaged in (
        {},
        {"key": 7, "signed": 7},
        {"key": "x", "signed": "y"},
        {**made.greeting, "signed": ""},
    ):
        assert vouched(certificate, damaged) is None

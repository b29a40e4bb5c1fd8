"""TLS 1.3 between the devices of one household: both sides show a certificate that the household's key has
signed, for a device key that is on the list of members.

The household's key is the certificate authority, kept by every member; a certificate is made anew at each
start and is valid at all times, since a board without a clock battery may believe in any year. A signature
proves the household, the list decides about the device: one that was sent away still knows the household's
key. Who connects shows a certificate for the device's key, once it knows that a household's device listens.
Who listens is seen by everybody, and shows one for a key of this start; that this is its own it says within
the connection (`vouched`), signed with the device's key. So a stranger sees an id and nothing more.
Knows no sockets.
"""

from __future__ import annotations

import contextlib
import os
import ssl
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.x509.oid import NameOID

from muleteer.seat.identity import Identity, public_hex

TALK = "muleteer-seat/1"  # the application protocols (ALPN) that one port serves: members among themselves,
JOIN = "muleteer-join/1"  # and a device that wants to become one
BEGIN = datetime(1970, 1, 1, tzinfo=UTC)
END = datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)  # RFC 5280, 4.1.2.5: no well-defined end
AUTHORITY = "muleteer household"


@dataclass(frozen=True, slots=True)
class Shown:
    """Who is at the other end, by the certificate that was checked: a device's id and a public key."""

    id: str
    key: str


@dataclass(frozen=True, slots=True)
class Contexts:
    """How this device accepts connections and makes them, and what it says first to who connects."""

    accept: ssl.SSLContext
    connect: ssl.SSLContext
    greeting: Mapping[str, object]


def contexts(
    identity: Identity, household: Ed25519PrivateKey | None, passing: Ed25519PrivateKey | None = None
) -> Contexts:
    """For a member; without a household's key, for one that can only be asked to let another device join.
    `passing` is the key that it listens with.

    Who accepts lets in strangers without a certificate, who may only want to join (`JOIN`).
    """
    accept = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    accept.verify_mode = ssl.CERT_OPTIONAL
    accept.set_alpn_protocols([TALK, JOIN])
    accept.num_tickets = 0  # a resumed session would outlive the list of members
    connect = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    connect.check_hostname = False  # devices have ids, compared by `shown_by`'s caller
    connect.verify_mode = ssl.CERT_REQUIRED
    connect.set_alpn_protocols([TALK])
    signer = household or Ed25519PrivateKey.generate()
    authority = _authority(signer).public_bytes(serialization.Encoding.DER)
    passing = passing or Ed25519PrivateKey.generate()
    for context, key in ((accept, passing), (connect, identity.key)):
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        context.load_verify_locations(cadata=authority)
        with _as_file(_certificate(identity.id, key, signer), key) as path:
            context.load_cert_chain(path)
    signed = identity.key.sign(_statement(identity.id, passing.public_key())).hex()
    return Contexts(accept, connect, {"key": identity.public, "signed": signed})


def joining_context() -> ssl.SSLContext:
    """For a device that wants to join: whom it talks to is proved by the code, inside the connection."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.set_alpn_protocols([JOIN])
    return context


def shown_by(certificate: bytes) -> Shown | None:
    """What a certificate (DER) that TLS has checked says; None if it is not one of ours."""
    try:
        read = x509.load_der_x509_certificate(certificate)
        names = read.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
        key = read.public_key()
    except ValueError:
        return None
    if len(names) != 1 or not isinstance(names[0].value, str) or not isinstance(key, Ed25519PublicKey):
        return None
    return Shown(names[0].value, public_hex(key))


def vouched(certificate: bytes, greeting: Mapping[str, object]) -> Shown | None:
    """Who listens: the certificate is for a key of its present start, for which its own key vouches in what
    it said first. None if it does not."""
    shown, key, signed = shown_by(certificate), greeting.get("key"), greeting.get("signed")
    if shown is None or not isinstance(key, str) or not isinstance(signed, str):
        return None
    try:
        passing = Ed25519PublicKey.from_public_bytes(bytes.fromhex(shown.key))
        own = Ed25519PublicKey.from_public_bytes(bytes.fromhex(key))
        own.verify(bytes.fromhex(signed), _statement(shown.id, passing))
    except (ValueError, InvalidSignature):
        return None
    return Shown(shown.id, public_hex(own))


def _statement(device: str, passing: Ed25519PublicKey) -> bytes:
    """What a device's own key signs; nothing else that it signs begins so."""
    return f"muleteer seat: the device {device} listens with ".encode() + passing.public_bytes_raw()


def _authority(household: Ed25519PrivateKey) -> x509.Certificate:
    builder = _builder(AUTHORITY, household.public_key())
    constraint = x509.BasicConstraints(ca=True, path_length=0)
    return builder.add_extension(constraint, critical=True).sign(household, None)


def _certificate(device: str, key: Ed25519PrivateKey, household: Ed25519PrivateKey) -> x509.Certificate:
    builder = _builder(device, key.public_key())
    constraint = x509.BasicConstraints(ca=False, path_length=None)
    return builder.add_extension(constraint, critical=True).sign(household, None)


def _builder(name: str, key: Ed25519PublicKey) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(_name(name))
        .issuer_name(_name(AUTHORITY))
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(BEGIN)
        .not_valid_after(END)
    )


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


@contextlib.contextmanager
def _as_file(certificate: x509.Certificate, key: Ed25519PrivateKey) -> Iterator[str]:
    """A path to read both from: the library takes no bytes. The file is in memory and has no name."""
    pem = serialization.Encoding.PEM
    form, secret = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    with _memory() as file:
        os.write(file, certificate.public_bytes(pem) + key.private_bytes(pem, form, secret))
        yield f"/proc/self/fd/{file}"


@contextlib.contextmanager
def _memory() -> Iterator[int]:
    file = os.memfd_create("certificate", os.MFD_CLOEXEC)
    try:
        yield file
    finally:
        os.close(file)

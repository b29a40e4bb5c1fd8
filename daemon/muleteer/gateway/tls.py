"""The certificate of this device for TLS on the gateway's port: made here at first use, and then kept.

Nobody has signed it, so who connects must know its fingerprint, which is part of pairing. It is valid at all
times: a board without a clock battery may believe in any year, and a new one would be another fingerprint.
The key is of the curve that every browser knows, P-256. Knows a file; no sockets.
"""

from __future__ import annotations

import errno
import ipaddress
import ssl
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.x509.oid import NameOID

from muleteer.durable import write_durably
from muleteer.files import open_regular
from muleteer.fingerprint import fingerprint

FILE_NAME = "gateway-tls.pem"
LARGEST = 64 << 10  # bytes of that file: a key and a certificate are under 2 KiB
BEGIN = datetime(1970, 1, 1, tzinfo=UTC)
END = datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)  # RFC 5280, 4.1.2.5: no well-defined end


@dataclass(frozen=True, slots=True)
class Certificate:
    """What a TLS listener needs. `fingerprint` is the SHA-256 of the certificate, as openssl shows it."""

    context: ssl.SSLContext
    fingerprint: str


def certificate(folder: Path, device: str, names: Iterable[str]) -> Certificate:
    """The certificate of `device`, kept in `folder`; a new one is for these names. Raises `OSError`, whose
    `strerror` is for people; a damaged file is not replaced, since clients have its fingerprint."""
    path = folder / FILE_NAME
    try:
        pem = _read(path)
    except FileNotFoundError:
        pem = _make(device, sorted(names))
        write_durably(path, pem)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2  # what Home Assistant and phones of today speak
    context.set_alpn_protocols(["http/1.1"])
    try:
        made = x509.load_pem_x509_certificate(pem)
        context.load_cert_chain(path)
    except (ValueError, ssl.SSLError) as error:
        advice = "restore it, or remove it: then a new one is made, and every client must be paired again"
        raise OSError(errno.EINVAL, f"{path} is damaged ({error}); {advice}") from error
    return Certificate(context, fingerprint(made.public_bytes(serialization.Encoding.DER)))


def _read(path: Path) -> bytes:
    with open_regular(path) as file:
        return file.read(LARGEST)


def _make(device: str, names: list[str]) -> bytes:
    key = generate_private_key(SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"muleteer {device}".strip())])
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(BEGIN)
        .not_valid_after(END)
        .add_extension(x509.SubjectAlternativeName([_called(each) for each in names]), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .sign(key, SHA256())
    )
    form, secret = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    pem = serialization.Encoding.PEM
    return key.private_bytes(pem, form, secret) + made.public_bytes(pem)


def _called(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name.encode("idna").decode())

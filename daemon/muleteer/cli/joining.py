"""The client's half of pairing: a token for a code, which never leaves this device (`gateway/pairing.py`).

Knows the exchange on the wire. Whether the device speaks TLS is found out by trying; which certificate is its
own it tells under the code's protection, so that nobody in between can have shown another one.
"""

from __future__ import annotations

import contextlib
import json
import re
import socket
from collections.abc import Mapping
from http.client import HTTPConnection, HTTPException
from urllib.parse import urlsplit

from muleteer.cli.client import ANSWER_TIMEOUT, CONNECT_TIMEOUT, LARGEST_ANSWER
from muleteer.cli.remote import PORT, PinnedConnection, Remote
from muleteer.errors import PairingError, SocketError
from muleteer.exchange import CLIENT, DEVICE, client_half, finish, seal, unseal

HOST = re.compile(r"[0-9a-z._:%-]+")  # a name or an IP address, in small letters
HEADERS = {"Content-Type": "application/json"}


def join(address: str, code: str, called: str | None = None) -> Remote:
    """Pair with the device at HOST[:PORT] that shows `code`, to call it `called`. Raises `PairingError`,
    `SocketError`."""
    host, port = _split(address)
    digits = code.replace("-", "").replace(" ", "")
    if not digits.isascii() or not digits.isdecimal():
        raise PairingError("A code looks like 482-913; `muleteer pair` on the other device shows one.")
    with contextlib.closing(_connect(host, port)) as connection:
        spake = client_half(digits)
        reply = _post(connection, {"spake": spake.start().hex()})
        key = finish(spake, str(reply.get("spake")))
        box = seal(key, CLIENT, {"name": socket.gethostname()})
        told = unseal(
            key, DEVICE, str(_post(connection, {"exchange": reply.get("exchange"), "box": box}).get("box"))
        )
        shown = connection.shown if isinstance(connection, PinnedConnection) else ""
    fingerprint = str(told.get("fingerprint", ""))
    if shown != fingerprint:
        raise PairingError(
            "The certificate that is shown is not the device's: somebody stands in between. Its new token is "
            f"called {told.get('name')}; revoke it there."
        )
    name = called or str(told.get("host") or host)
    return Remote(name, host, port, str(told.get("token")), fingerprint, str(told.get("device", "")))


def _connect(host: str, port: int) -> HTTPConnection:
    """With TLS if the device speaks it."""
    secured = PinnedConnection(host, port, "", CONNECT_TIMEOUT)
    try:
        secured.connect()
        secured.sock.settimeout(ANSWER_TIMEOUT)
        return secured
    except ConnectionRefusedError as error:
        raise _unreachable(host, port, error) from error
    except OSError:  # no TLS there, or nobody
        secured.close()
    plain = HTTPConnection(host, port, timeout=CONNECT_TIMEOUT)
    try:
        plain.connect()
    except OSError as error:
        raise _unreachable(host, port, error) from error
    plain.sock.settimeout(ANSWER_TIMEOUT)
    return plain


def _post(connection: HTTPConnection, body: Mapping[str, object]) -> dict[str, object]:
    try:
        connection.request("POST", "/v1/pair/exchange", json.dumps(body).encode(), HEADERS)
        response = connection.getresponse()
        reply = json.loads(response.read(LARGEST_ANSWER))
    except (OSError, HTTPException, ValueError) as error:
        raise SocketError(
            f"What answers at {connection.host}:{connection.port} is not Muleteer's gateway "
            f"({type(error).__name__}); see `muleteer status` on the device for its port."
        ) from error
    if not isinstance(reply, dict):
        raise SocketError(f"What answers at {connection.host} is not Muleteer's gateway.")
    if isinstance(refusal := reply.get("error"), dict):
        raise PairingError(str(refusal.get("message")))
    return reply


def _split(address: str) -> tuple[str, int]:
    """A name or an IP address, IPv6 in brackets or not, and a port if there is one."""
    bare = address.count(":") > 1 and not address.startswith("[")
    try:
        found = urlsplit(f"//[{address}]" if bare else f"//{address}")
        host, port = found.hostname, found.port
    except ValueError:
        host = port = None
    if (
        not host
        or not HOST.fullmatch(host)
        or found.netloc != found.geturl().removeprefix("//")
        or "@" in address
    ):
        raise PairingError(f"{address!r} is no address; write it like 192.168.1.20 or kitchen.local:{PORT}.")
    return host, port or PORT


def _unreachable(host: str, port: int, error: OSError) -> SocketError:
    why = error.strerror or str(error) or type(error).__name__
    return SocketError(
        f"Nothing answers at {host}, port {port}: {why}; on the device, `muleteer pair` shows both."
    )

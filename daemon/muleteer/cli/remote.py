"""Other devices that this one's commands may talk to: which are known, and connecting to one of them.

Knows the file they are kept in (each with its token, so nobody else may read it) and the fingerprint by which
a device is recognised over TLS. Prints nothing. Light, since every command imports it.
"""

from __future__ import annotations

import json
import ssl
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from http.client import HTTPConnection, HTTPSConnection
from pathlib import Path

import click

from muleteer import paths
from muleteer.durable import write_durably
from muleteer.errors import ConfigError, SocketError
from muleteer.files import open_regular
from muleteer.fingerprint import fingerprint as fingerprint_of
from muleteer.fingerprint import spelled

FILE_NAME = "remote-devices.json"
LARGEST = 256 << 10  # bytes of that file; a device takes 200
PORT = 8765  # where a device listens unless it was told otherwise
CHOSEN = "muleteer.device"  # in click's context: the name given with --device


@dataclass(frozen=True, slots=True)
class Remote:
    """A device that has given this one a token. `fingerprint` is that of its certificate; empty: it
    speaks without TLS. `device` is its id."""

    name: str
    host: str
    port: int
    token: str
    fingerprint: str = ""
    device: str = ""

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.name} ({host}:{self.port})"

    @property
    def again(self) -> str:
        """How it is paired once more."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return (
            "`muleteer pair` there shows a code, "
            f"`muleteer pair --with {host}:{self.port} CODE --as {self.name}` here takes it"
        )

    def connect(self, timeout: float) -> HTTPConnection:
        """A connection that knows where to; it connects at its first use, and then raises `SocketError` for a
        device that is not the one it was."""
        if not self.fingerprint:
            return HTTPConnection(self.host, self.port, timeout=timeout)
        return PinnedConnection(self.host, self.port, self.fingerprint, timeout)


class PinnedConnection(HTTPSConnection):
    """HTTPS to a device that is known by the fingerprint of its certificate, and by nothing else. Where none
    is given, it is whatever the device shows: `shown`."""

    def __init__(self, host: str, port: int, fingerprint: str, timeout: float) -> None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE  # nobody has signed it; `connect` compares it
        super().__init__(host, port, timeout=timeout, context=context)
        self._pinned, self.shown = spelled(fingerprint), ""

    def connect(self) -> None:
        super().connect()
        certificate = self.sock.getpeercert(binary_form=True)
        self.shown = fingerprint_of(certificate or b"")
        if self._pinned and self.shown != self._pinned:
            self.close()
            raise SocketError(
                f"What answers at {self.host} is not the device that was paired: its certificate is another "
                "one. If it was made anew, pair again: muleteer pair --with."
            )


def chosen() -> str:
    """The name given with --device; empty without one."""
    context = click.get_current_context(silent=True)
    return str(context.meta.get(CHOSEN, "")) if context else ""


def known(file: Path | None = None) -> dict[str, Remote]:
    """The devices that this one is paired with, by name. Raises `ConfigError` for a damaged file."""
    path = file or _path()
    try:
        with open_regular(path) as stream:
            kept = json.loads(stream.read(LARGEST))
        return {name: Remote(**fields) for name, fields in kept.items()}
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise ConfigError(f"Cannot read {path}: {error.strerror or error}.") from error
    except (ValueError, TypeError, AttributeError) as error:
        raise ConfigError(
            f"{path} is damaged; restore it, or remove it and pair again: muleteer pair --with."
        ) from error


def keep(remote: Remote, file: Path | None = None) -> None:
    """Add or replace a device, on disk when this returns. Raises `ConfigError`."""
    _write({**known(file), remote.name: remote}, file)


def forget(name: str, file: Path | None = None) -> None:
    """Raises `ConfigError` where there is none of this name."""
    left = known(file)
    find(name, left)
    del left[name]
    _write(left, file)


def find(name: str, among: Mapping[str, Remote] | None = None) -> Remote:
    """The device of this name. Raises `ConfigError`."""
    devices = known() if among is None else among
    if name not in devices:
        which = ", ".join(sorted(devices)) or "none yet"
        raise ConfigError(
            f"This device is not paired with one called {name!r} (paired: {which}); run `muleteer pair` "
            "there, and `muleteer pair --with ADDRESS CODE` here."
        )
    return devices[name]


def _write(devices: Mapping[str, Remote], file: Path | None) -> None:
    path = file or _path()
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        content = {name: asdict(each) for name, each in sorted(devices.items())}
        write_durably(path, json.dumps(content, indent=2).encode())
    except OSError as error:
        raise ConfigError(f"Cannot write {path}: {error.strerror or error}.") from error


def _path() -> Path:
    return paths.state_dir() / FILE_NAME

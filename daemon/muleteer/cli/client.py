"""The daemon as a command sees it: which one, one request, one turn's events.

Knows HTTP over a Unix socket, or to another device (`remote.py`), and the shapes of the API. Prints nothing
and ends no process. The standard library's client, because a command must start quickly: httpx takes five
times as long to import.
"""

from __future__ import annotations

import json
import os
import secrets
import socket
import ssl
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import fields
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException, HTTPResponse, IncompleteRead
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote
from weakref import WeakSet

from muleteer import paths
from muleteer.cli import remote
from muleteer.cli.remote import Remote
from muleteer.cli.reported import ReportedError
from muleteer.errors import ConfigError, MuleteerError, SocketError, UnauthorizedError
from muleteer.harness.events import BrainUse, CallUse, LevelUse, TurnFinished
from muleteer.settings import layers
from muleteer.sse import EventParser

CONNECT_TIMEOUT = 5.0  # seconds; the kernel connects a local socket at once unless its backlog is full
ANSWER_TIMEOUT = 10.0  # seconds for what needs no model
# Seconds between two events of a turn: a full queue (16) of turns that each take their whole time (120 s),
# and some more. Not endless, so that a script does not wait for a daemon that hangs.
TURN_TIMEOUT = 2400.0
LARGEST_ANSWER = 4 << 20  # bytes; the longest real one, a list of some hundred tools, is under 200 kB

CHUNK = 65_536  # bytes read at most at once

Record = TypeVar("Record", BrainUse, CallUse, LevelUse)


def find_socket(given: Path | None) -> Path | Remote:
    """Where to talk to: the device that --device names; or else the socket as given, MULETEER_SOCKET, the
    settings files, the usual places. Raises `ConfigError`."""
    if name := remote.chosen():
        if given:
            raise ConfigError("--device is another device and --socket is this one; give one of the two.")
        return remote.find(name)
    if given:
        return paths.expand(given)
    return in_files("gateway.socket") or paths.client_socket()


def in_files(key: str) -> Path | None:
    """The path that the settings files have for a key; None where they have none, or a variable has one."""
    if not os.environ.get(layers.variable_of(key)):
        for each in reversed(layers.read_files()):
            if each.key == key and isinstance(each.value, str) and each.value:
                return paths.expand(each.value, Path(each.origin).parent)
    return None


class _UnixConnection(HTTPConnection):
    """The standard library's HTTP over a Unix socket."""

    def __init__(self, path: Path) -> None:
        super().__init__("muleteer", timeout=CONNECT_TIMEOUT)
        self._path = str(path)

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)  # `close` closes it, also when connecting fails
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


class Daemon:
    """The daemon behind one socket, or that of another device. Each request has a connection of its own,
    closed with it; the turns of one `Daemon` are one session, of the given name or of none that is known, and
    ask for one `brain`."""

    def __init__(self, place: Path | Remote, session: str = "", brain: str = "") -> None:
        self.place, self.brain = place, brain
        self.session = session or secrets.token_hex(8)
        self._open: WeakSet[socket.socket] = WeakSet()
        self._hung_up = False

    def hang_up(self) -> None:
        """From another thread: whatever this object waits for ends as if the connection were lost, and so
        does whatever it is asked from now on."""
        self._hung_up = True
        for each in tuple(self._open):
            with suppress(OSError):  # it has ended by itself
                socket.socket.shutdown(each, socket.SHUT_RDWR)  # not that of TLS, which is being read

    def get(self, path: str) -> dict[str, object]:
        """One JSON object. Raises `SocketError` when no daemon answers, `ReportedError` when it refuses."""
        return self.send("GET", path)

    def send(
        self,
        method: str,
        path: str,
        request: Mapping[str, object] | None = None,
        timeout: float = ANSWER_TIMEOUT,
    ) -> dict[str, object]:
        """The JSON object that answers a request (its body a JSON object), waited for so many seconds. Raises
        as `get`."""
        with self._answer(method, path, timeout, request) as response:
            body = self._object(response)
            if response.status != HTTPStatus.OK:
                raise self._refusal(body)
            return body

    def turn(
        self, message: str, history: Sequence[Mapping[str, str]] = ()
    ) -> Generator[tuple[str, dict[str, object]], None, None]:
        """The events of one turn as (name, fields), up to `turn.finished` or a question (`confirm`). Closing
        the iterator stops it.

        Raises `SocketError` when no daemon answers, `ReportedError` when the turn fails or the connection
        is lost.
        """
        request: dict[str, object] = {"message": message, "stream": True, "session": self.session}
        if history:
            request["history"] = list(history)
        if self.brain:
            request["brain"] = self.brain
        return self._turn("/v1/turns", request)

    def confirm(self, turn: str, yes: bool) -> Generator[tuple[str, dict[str, object]], None, None]:
        """The events of a turn that goes on with the answer to its question. Raises as `turn`."""
        path = f"/v1/turns/{quote(turn, safe='')}/confirm"
        return self._turn(path, {"confirm": yes, "stream": True, "session": self.session})

    def events(self) -> Generator[tuple[str, dict[str, object]], None, None]:
        """What happens in the daemon, as (name, fields), until it stops. Raises as `turn`."""
        with self._answer("GET", "/v1/events", TURN_TIMEOUT) as response:
            if response.status != HTTPStatus.OK:
                raise self._refusal(self._object(response))
            yield from self._events(response)

    def _turn(
        self, path: str, request: Mapping[str, object]
    ) -> Generator[tuple[str, dict[str, object]], None, None]:
        with self._answer("POST", path, TURN_TIMEOUT, request) as response:
            if response.status != HTTPStatus.OK:
                raise self._refusal(self._object(response))
            for name, data in self._events(response):
                if name == "turn.failed":
                    raise failed(data)
                yield name, data
                if name in ("turn.finished", "confirm"):
                    return
        raise ReportedError("connection_lost", self._lost())

    @contextmanager
    def _answer(
        self, method: str, path: str, timeout: float, request: Mapping[str, object] | None = None
    ) -> Iterator[HTTPResponse]:
        """The response to one request; the connection's faults become sentences."""
        headers = {"Accept": "text/event-stream" if path == "/v1/turns" else "application/json"}
        body = None if request is None else json.dumps(request).encode()
        if isinstance(self.place, Remote):
            headers["Authorization"] = f"Bearer {self.place.token}"
            connection = self.place.connect(CONNECT_TIMEOUT)
        else:
            connection = _UnixConnection(self.place)
        begun = False
        try:
            try:
                connection.connect()
            except OSError as error:
                raise SocketError(self._nobody(error)) from error
            self._open.add(connection.sock)
            if self._hung_up:
                raise ConnectionResetError
            connection.sock.settimeout(timeout)
            connection.request(method, path, body, headers | {"Content-Type": "application/json"})
            response = connection.getresponse()
            begun = True
            yield response
        except TimeoutError as error:
            raise SocketError(
                f"The daemon on {self.place} does not answer; it hangs or is overloaded. See its log, or "
                "restart it."
            ) from error
        except (IncompleteRead, ConnectionError) as error:
            if not begun and self._is_plain():
                raise SocketError(self._otherwise("without TLS")) from error
            raise ReportedError("connection_lost", self._lost()) from error
        except HTTPException as error:
            if not begun and self._is_plain():
                raise SocketError(self._otherwise("without TLS")) from error
            raise SocketError(self._stranger(type(error).__name__)) from error
        finally:
            connection.close()

    def _events(self, response: HTTPResponse) -> Iterator[tuple[str, dict[str, object]]]:
        parser = EventParser()
        try:
            while chunk := response.read1(CHUNK):
                for event in parser.feed(chunk):
                    data = json.loads(event.data)
                    if not isinstance(data, dict):
                        raise SocketError(self._stranger("an event without an object"))
                    yield event.name, data
        except ValueError as error:  # bytes that are no text, text that is no JSON, an endless event
            raise SocketError(self._stranger(str(error))) from error

    def _object(self, response: HTTPResponse) -> dict[str, object]:
        body = response.read(LARGEST_ANSWER + 1)
        if len(body) > LARGEST_ANSWER:
            raise SocketError(self._stranger("an answer without an end"))
        try:
            value = json.loads(body)
        except ValueError as error:
            raise SocketError(self._stranger("an answer that is not JSON")) from error
        if not isinstance(value, dict):
            raise SocketError(self._stranger("an answer that is not an object"))
        return value

    def _refusal(self, body: Mapping[str, object]) -> MuleteerError:
        error = body.get("error")
        if not isinstance(error, dict):
            return SocketError(self._stranger("a refusal without a reason"))
        code, message = str(error.get("code", "internal")), str(error.get("message", ""))
        if isinstance(self.place, Remote) and code == UnauthorizedError.code:
            message = f"The pairing with {self.place} was ended there. Pair anew: {self.place.again}."
        return ReportedError(code, message)

    def _is_plain(self) -> bool:
        """Whether it is another device that spoke without TLS when it was paired."""
        return isinstance(self.place, Remote) and not self.place.fingerprint

    def _otherwise(self, how: str) -> str:
        """That a device does not speak as it did."""
        again = self.place.again if isinstance(self.place, Remote) else ""
        return (
            f"{self.place} was paired {how}, and does not answer so. If gateway.tls was changed there, pair "
            f"again: {again}."
        )

    def _nobody(self, error: OSError) -> str:
        if isinstance(self.place, Remote):
            if isinstance(error, ssl.SSLError):
                return self._otherwise("with TLS")
            why = error.strerror or str(error) or type(error).__name__
            return f"{self.place} does not answer: {why}; is it on, and its gateway.listen set to lan?"
        if isinstance(error, PermissionError):
            return f"You may not connect to {self.place}; join the group that owns it, or be its user."
        if isinstance(error, FileNotFoundError | ConnectionRefusedError | NotADirectoryError):
            return f"No daemon answers on {self.place}; start one with `{self._start()}`."
        return f"Cannot connect to {self.place}: {error}; choose another with --socket."

    def _start(self) -> str:
        usual = self.place == paths.client_socket()
        return "muleteer serve" if usual else f"muleteer serve --socket {self.place}"

    def _stranger(self, what: str) -> str:
        return (
            f"What answers on {self.place} is not Muleteer's daemon ({what}); choose another with --socket."
        )

    def _lost(self) -> str:
        return f"The daemon on {self.place} closed the connection in the middle; see its log and ask again."


def finished(data: Mapping[str, object]) -> TurnFinished:
    """The event `turn.finished` from its fields; unknown ones are ignored. Raises `SocketError` when known
    ones are missing."""
    try:
        return TurnFinished(
            turn=str(data["turn"]),
            answer=str(data["answer"]),
            handles=tuple(str(each) for each in _list(data, "handles")),
            calls=_records(CallUse, data, "calls"),
            levels=_records(LevelUse, data, "levels"),
            ms=float(str(data["ms"])),
            first_ms=float(str(data.get("first_ms", 0.0))),
            dropped=int(str(data.get("dropped", 0))),
            brains=_records(BrainUse, data, "brains") if "brains" in data else (),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise _unreadable(error) from error


def failed(data: Mapping[str, object]) -> ReportedError:
    """The event `turn.failed` as an error. Raises `SocketError` when fields are missing."""
    try:
        return ReportedError(str(data["code"]), str(data["message"]), _records(LevelUse, data, "levels"))
    except (KeyError, TypeError, ValueError) as error:
        raise _unreadable(error) from error


def _list(data: Mapping[str, object], name: str) -> list[object]:
    value = data[name]
    if not isinstance(value, list):
        raise TypeError(f"{name} is not a list")
    return value


def _records(kind: type[Record], data: Mapping[str, object], name: str) -> tuple[Record, ...]:
    """Dataclasses of texts and numbers from JSON objects."""
    found = []
    for each in _list(data, name):
        if not isinstance(each, dict):
            raise TypeError(f"{name} does not hold objects")
        numbers = {field.name for field in fields(kind) if field.type in ("int", "float")}
        if any(not isinstance(each[number], int | float) for number in numbers):
            raise TypeError(f"{name} does not count in numbers")
        found.append(kind(**{field.name: each[field.name] for field in fields(kind)}))
    return tuple(found)


def _unreadable(error: Exception) -> SocketError:
    return SocketError(
        f"The daemon sent a turn that this command cannot read ({error}); are both of one version?"
    )

"""The engine process: loads the model, then serves one request after the other until the daemon is gone.

    python -P -m muleteer.engine.worker --fd N

`N` is the child's end of a socket pair; `wire.py` is what is said over it. The loop:

1. wait for `Load`, load, say `Ready`;
2. while nothing is asked, let the decoder do what can wait, piece by piece;
3. wait for a request; run it; between prefill chunks and between tokens the decoder calls `check`, which
   looks at the socket without waiting;
4. send what it used and how it ended.

End-of-file on the socket ends the process, wherever it is. This file does not know what a token is: that
is `decode.py`, imported here and nowhere in the daemon.
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import logging
import os
import signal
import socket
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NoReturn, Protocol

from muleteer.engine import wire
from muleteer.engine.protocol import (
    Choice,
    Conversation,
    Held,
    JsonSchema,
    LoadSettings,
    Properties,
    Text,
    Use,
)
from muleteer.errors import CancelledByClientError, EngineError, MuleteerError
from muleteer.tied import tie

log = logging.getLogger("muleteer.engine.worker")

BEAT_S = 1.0
"""Seconds between signs of life: far below any deadline of the daemon, far above the time of a token."""
OOM_SCORE = 500
"""Of 1000. The kernel adds half of the machine's memory to this process's own when it looks for a victim."""
SPINS = "1000"
"""How often a thread of llama.cpp looks for the others before it sleeps (`GOMP_SPINCOUNT`, read once when
libgomp is loaded). Measured with `tiny` on two cores: with both free, decoding is as fast as at libgomp's
300,000 (99 and 90 tokens a second; without spinning 50); with five other busy processes 8 times as fast (13
and 1.6), since a thread that spins keeps the core from the one it waits for."""

Check = Callable[[], None]


class Decoding(Protocol):
    """What the loop needs of `decode.Decoder`. After `check` raised, the next request must work."""

    @property
    def properties(self) -> Properties: ...
    @property
    def held(self) -> Held: ...
    @property
    def totals(self) -> Use: ...
    def set_threads(self, number: int) -> None: ...
    def count(self, prompt: Conversation | str) -> int: ...
    def warm(self, prompt: Conversation, check: Check) -> Use: ...
    def forget_talks(self) -> bool: ...
    def choose(
        self, prompt: Conversation, options: Sequence[str], check: Check, prompt_limit: int | None
    ) -> Choice: ...
    def fill(
        self, prompt: Conversation, schema: JsonSchema, limit: int, check: Check, prompt_limit: int | None
    ) -> Text: ...
    def write(
        self, prompt: Conversation, limit: int, stop: Sequence[str], check: Check, prompt_limit: int | None
    ) -> Iterator[str | Text]: ...
    def close(self) -> None: ...


Order = wire.Load | wire.Threads | wire.Request
Loader = Callable[[Path, LoadSettings], Decoding]


class Inbox:
    """The child's end of the socket. Using it after the daemon is gone raises `SystemExit`."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._lines = wire.Lines()
        self._waiting: deque[Order] = deque()
        self._cancelled: set[int] = set()
        self._sent = time.monotonic()

    def wait(self) -> Order:
        """The next message that asks for work."""
        while not self._waiting:
            self._take()
        return self._waiting.popleft()

    def check(self, id: int | None) -> None:
        """Look at the socket without waiting: raise if request `id` was cancelled, else show life if due."""
        with contextlib.suppress(BlockingIOError):
            while True:
                self._take(socket.MSG_DONTWAIT)
        if id is None:
            return
        if id in self._cancelled:
            raise CancelledByClientError("The request was cancelled.")
        if time.monotonic() - self._sent >= BEAT_S:
            self.send(wire.Beat(id))

    def forget(self) -> None:
        """A request is over: only what waits can still be cancelled."""
        self._cancelled &= {order.id for order in self._waiting if isinstance(order, wire.Request)}

    def send(self, message: wire.FromEngine) -> None:
        try:
            self._connection.sendall(wire.from_engine(message))
        except (BrokenPipeError, ConnectionResetError):
            raise SystemExit(0) from None
        self._sent = time.monotonic()

    def _take(self, flags: int = 0) -> None:
        data = self._connection.recv(65536, flags)
        if not data:
            raise SystemExit(0)
        for line in self._lines.feed(data):
            message = wire.at_engine(line)
            if isinstance(message, wire.Cancel):
                self._cancelled.add(message.id)
            else:
                self._waiting.append(message)


def run(connection: socket.socket, load: Loader) -> None:
    """Serve `connection`. Returns if loading failed; raises `SystemExit` when the daemon leaves."""
    inbox = Inbox(connection)
    order = inbox.wait()
    if not isinstance(order, wire.Load):
        raise wire.WireError("the first message must be Load")
    inbox.send(wire.Loading())
    inbox.check(None)
    try:
        decoder = load(Path(order.path), order.settings)
    except MuleteerError as error:
        inbox.send(wire.as_failed(None, error))
        return
    except Exception as error:
        log.exception("Loading failed unexpectedly.")
        inbox.send(wire.as_failed(None, _unexpected(error)))
        return
    with contextlib.closing(decoder):
        inbox.send(wire.Ready(decoder.properties))
        while True:
            order = inbox.wait()
            if isinstance(order, wire.Load):
                raise wire.WireError("a second Load")
            if isinstance(order, wire.Threads):
                decoder.set_threads(order.number)
            else:
                _answer(inbox, decoder, order)


def _answer(inbox: Inbox, decoder: Decoding, request: wire.Request) -> None:
    def check() -> None:
        inbox.check(request.id)

    final: wire.Answer | wire.Failed
    try:
        check()
        final = _perform(inbox, decoder, request, check)
    except MuleteerError as error:
        final = wire.as_failed(request.id, error)
    except Exception as error:
        log.exception("Request %s failed unexpectedly.", request.id)
        final = wire.as_failed(request.id, _unexpected(error))
    inbox.send(wire.Ledger(decoder.held, decoder.totals))
    inbox.send(final)
    inbox.forget()


def _perform(inbox: Inbox, decoder: Decoding, request: wire.Request, check: Check) -> wire.Answer:
    match request:
        case wire.Count():
            return wire.Counted(request.id, decoder.count(request.prompt))
        case wire.Warm():
            return wire.Warmed(request.id, decoder.warm(request.prompt, check))
        case wire.Forget():
            return wire.Forgotten(request.id, decoder.forget_talks())
        case wire.Choose():
            choice = decoder.choose(request.prompt, request.options, check, request.prompt_limit)
            return wire.Chosen(request.id, choice)
        case wire.Fill():
            text = decoder.fill(request.prompt, request.schema, request.limit, check, request.prompt_limit)
            return wire.Written(request.id, text)
        case wire.Write():
            return _write(inbox, decoder, request, check)


def _write(inbox: Inbox, decoder: Decoding, request: wire.Write, check: Check) -> wire.Written:
    for part in decoder.write(request.prompt, request.limit, request.stop, check, request.prompt_limit):
        if isinstance(part, Text):
            return wire.Written(request.id, part)
        inbox.send(wire.Chunk(request.id, part))
    raise EngineError("The decoder ended without saying how. Try again.")


def _unexpected(error: Exception) -> EngineError:
    words = f"{type(error).__name__}: {error}".splitlines()[0][:200]
    return EngineError(f"The engine failed unexpectedly ({words}); the daemon's log has the details.")


def _load(path: Path, settings: LoadSettings) -> Decoding:
    os.environ.setdefault("GOMP_SPINCOUNT", SPINS)
    from muleteer.engine.decode import Decoder  # a library that cannot be loaded is an answer, not a crash

    return Decoder.load(path, settings)


def _settle(descriptor: int) -> None:
    """Become a process that has nothing of the daemon's but its socket, that only the daemon stops, and that
    goes first when memory runs out."""
    os.closerange(3, descriptor)  # uvloop passes on whatever is inheritable, as systemd's sockets are
    os.closerange(descriptor + 1, os.sysconf("SC_OPEN_MAX"))
    faulthandler.enable()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal's Ctrl-C, and systemd's stop of the whole
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # group, are the daemon's to answer: it may finish a turn
    tie(signal.SIGKILL)
    if sys.platform == "linux":
        with contextlib.suppress(OSError):  # some containers forbid it; everything else still holds
            Path("/proc/self/oom_score_adj").write_text(str(OOM_SCORE))


def main(load: Loader = _load) -> NoReturn:
    """The program. `load` is a parameter for programs that serve something other than the real decoder."""
    parser = argparse.ArgumentParser(prog="muleteer.engine.worker")
    parser.add_argument("--fd", type=int, required=True, help="the socket inherited from the daemon")
    descriptor = parser.parse_args().fd
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s")
    _settle(descriptor)
    with socket.socket(fileno=descriptor) as connection:
        run(connection, load)
    sys.exit(0)


if __name__ == "__main__":
    main()

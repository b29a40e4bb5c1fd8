"""Malformed HTTP, from a seed, at real listeners: all of it is answered or hung up on, and no fault of ours.

python -m tests.gateway.fuzz_http SEED RUNS
"""

from __future__ import annotations

import asyncio
import logging
import random
import re
import sys
import tempfile
from collections import Counter
from contextlib import suppress
from pathlib import Path
from unittest.mock import patch

import uvloop

from muleteer.gateway import access
from muleteer.gateway.server import Limits
from muleteer.services import Services
from muleteer.skills import Catalogue
from muleteer.toolbox import Toolbox
from tests.gateway.networked import Networked, networked

AT_ONCE = 64
PATIENCE = 0.2  # seconds; then the client shuts its side
HASTY = Limits(head=0.1, connections=4 * AT_ONCE, from_one=4 * AT_ONCE)
STATUS = re.compile(rb"(?:^|\n|\})HTTP/1\.1 (\d{3}) ")
LAST = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
TURN = b'{"message": "x", "stream": false}'
METHODS = (
    b"GET",
    b"POST",
    b"PUT",
    b"DELETE",
    b"HEAD",
    b"OPTIONS",
    b"CONNECT",
    b"TRACE",
    b"get",
    b"PRI",
    b"X" * 40,
)
PATHS = (
    *(b"/", b"/healthz", b"/v1/turns", b"/v1/status", b"/v1/tools", b"/v1/turns/t1/confirm", b"/v1/tokens/x"),
    *(
        b"*",
        b"",
        b"//",
        b"/%00",
        b"/%ff",
        b"/v1/turns%2f..%2f..",
        b"/../../etc/passwd",
        b"http://evil.example/",
    ),
    *(b"/v1/pair/code", b"/?" + b"a=b&" * 500, b"/" + b"x" * 20_000, b"/v1/turns/" + b"%41" * 3000, b"\xff"),
)
HEADERS = (
    *(b"Host: localhost", b"Host: evil.example", b"Host:", b"Host: [::1", b"Host: localhost\r\nHost: x"),
    *(b"Content-Type: application/json", b"Content-Type: text/plain", b"Accept: text/event-stream"),
    *(
        b"Content-Length: 5",
        b"Content-Length: -1",
        b"Content-Length: 99999999999999999999",
        b"Content-Length: 5, 6",
    ),
    *(b"Transfer-Encoding: chunked", b"Transfer-Encoding: gzip, chunked", b"Transfer-Encoding: x"),
    *(b"Content-Encoding: gzip", b"Expect: 100-continue", b"Connection: upgrade\r\nUpgrade: websocket"),
    *(b"Connection: close", b"Connection: keep-alive", b"Origin: null", b"Origin: http://localhost"),
    *(b"Authorization: Bearer TOKEN", b"Authorization: Bearer", b"Authorization: Basic eDp5", b"Cookie: a=b"),
    *(
        b" folded",
        b"\tfolded: x",
        b"No colon",
        b": empty",
        b"X: \x00",
        b"X: \xff\xfe",
        b"X-Long: " + b"y" * 9000,
    ),
)
BODIES = (
    TURN,
    b"",
    b"{}",
    b"[]",
    b"null",
    b"{",
    b"\xff",
    b"5\r\nhello\r\n0\r\n\r\n",
    b"ffffffffff\r\n",
    b"-1\r\n\r\n",
)
BREAKS = (b"\r\n", b"\n", b"\r", b"\r\n\r\n", b"\x00", b" ", b"\xff", b":", b"HTTP/1.1", b"0")


def request(chance: random.Random, secret: bytes) -> bytes:
    """Some bytes that are nearly, or not at all, a request."""
    lines = [
        b" ".join(
            (chance.choice(METHODS[:2] * 9 + METHODS), chance.choice(PATHS[:7] * 3 + PATHS), _version(chance))
        )
    ]
    lines += [b"Host: localhost"] if chance.random() < 0.8 else []
    lines += chance.sample(HEADERS, chance.choice((0, 0, 1, 1, 2, 3)))
    body = chance.choice(BODIES) if chance.random() < 0.6 else b""
    if body if chance.random() < 0.9 else not body:
        lines.append(b"Content-Length: %d" % len(body))
    made = bytearray(b"\r\n".join([*lines, b"", b""]).replace(b"TOKEN", secret) + body)
    if chance.random() < 0.3:
        for _ in range(chance.randrange(1, 6)):
            _break(made, chance)
    return bytes(made)


def _version(chance: random.Random) -> bytes:
    return chance.choice((b"HTTP/1.1",) * 8 + (b"HTTP/1.0", b"HTTP/2.0", b"HTTP/9.9", b"", b"HTTP/1.1 x"))


def _break(made: bytearray, chance: random.Random) -> None:
    at = chance.randrange(len(made) + 1)
    match chance.randrange(5):
        case 0:
            made[at:at] = chance.choice(BREAKS)
        case 1:
            del made[at : at + chance.randrange(20)]
        case 2:
            made[at : at + 1] = bytes((chance.randrange(256),))
        case 3:
            made[at:at] = made[at : at + chance.randrange(60)] * chance.randrange(1, 4)
        case 4:
            made[at:] = bytes(chance.randrange(256) for _ in range(chance.randrange(60)))


class Faults(logging.Handler):
    """What is logged of faults: tracebacks, and errors."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.found: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.found.append(self.format(record))


async def attempt(net: Networked, content: bytes, chance: random.Random, local: bool) -> list[int]:
    """The statuses of the replies to one input, which came in one piece or in two."""
    try:
        reader, writer = (
            await asyncio.open_unix_connection(str(net.unix))
            if local
            else await asyncio.open_connection("127.0.0.1", net.port)
        )
    except OSError as error:
        raise AssertionError("the gateway does not accept connections any more") from error
    answer = b""
    try:
        with suppress(ConnectionError, RuntimeError):  # uvloop's word for a transport that is closed
            cut = chance.randrange(len(content) + 1) if chance.random() < 0.3 else len(content)
            writer.write(content[:cut])
            await asyncio.sleep(0)
            writer.write(content[cut:] + LAST)
            async with asyncio.timeout(30):
                try:
                    async with asyncio.timeout(PATIENCE):
                        while piece := await reader.read(65_536):
                            answer += piece
                except TimeoutError:  # it waits for more, which will not come
                    writer.write_eof()
                while piece := await reader.read(65_536):
                    answer += piece
    except TimeoutError:
        raise AssertionError(f"neither answered nor hung up on: {content!r}") from None
    finally:
        writer.transport.abort()
    return [int(status) for status in STATUS.findall(answer)]


async def fuzz_async(seed: int, runs: int) -> Counter[int]:
    chance, faults = random.Random(seed), Faults()
    seen: Counter[int] = Counter()
    logging.getLogger().addHandler(faults)
    limits = (
        patch.object(access, "STRANGERS_AT_ONCE", 1e9),
        patch.object(access, "REQUESTS_AT_ONCE", 1e9),
        patch("muleteer.gateway.pairing.ALL_AT_ONCE", 1e9),
        patch("muleteer.gateway.pairing.ONE_AT_ONCE", 1e9),
        patch("muleteer.gateway.listening.NETWORK_LIMITS", HASTY),
        patch("muleteer.gateway.listening.LOCAL_LIMITS", HASTY),
    )
    with tempfile.TemporaryDirectory(prefix="mule") as folder:
        for each in limits:
            each.start()
        try:
            async with networked(Path(folder), Catalogue({}, Toolbox(Services()))) as net:
                secret = (await net.token("admin")).encode()

                async def work(count: int) -> None:
                    for _ in range(count):
                        content = request(chance, secret)
                        statuses = await attempt(net, content, chance, chance.random() < 0.5)
                        if 500 in statuses or faults.found:
                            raise AssertionError(
                                f"{content!r} was a fault of ours: {statuses} {faults.found}"
                            )
                        seen.update(statuses)

                async with asyncio.TaskGroup() as group:
                    for number in range(AT_ONCE):
                        group.create_task(work(runs // AT_ONCE + (number < runs % AT_ONCE)))
                async with net.local() as client:
                    assert (await client.get("/healthz")).status_code == 200
        finally:
            for each in limits:
                each.stop()
            logging.getLogger().removeHandler(faults)
    return seen


def fuzz(seed: int, runs: int) -> int:
    """So many inputs from this seed; how many replies were not refusals. Raises what must not be raised."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        seen = runner.run(fuzz_async(seed, runs))
    return sum(count for status, count in seen.items() if status < 400)


if __name__ == "__main__":
    print(fuzz(int(sys.argv[1]), int(sys.argv[2])), "requests were answered")

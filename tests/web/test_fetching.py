"""Reading pages from a server that misbehaves in every way a server can."""

from __future__ import annotations

import asyncio
import gzip
import ssl
import subprocess
import time
import zlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from muleteer.services import Page
from muleteer.web.addresses import RefusedError
from muleteer.web.fetching import REDIRECTS, WebReader
from tests.web.misbehaving import Answer, Server, endless, raw, serving, stuck, to, whole

SIZE = 32 << 10  # bytes
NAMES = {
    "page.test": ["127.0.0.1"],
    "inside.test": ["192.168.7.7"],
    "both.test": ["93.184.215.14", "10.0.0.1"],
}
CHUNKED = b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ntransfer-encoding: chunked\r\n\r\n"


class Names:
    """A resolver that knows a few names, and counts."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def __call__(self, host: str, port: int) -> list[str]:
        self.asked.append(host)
        if host[0].isdigit() or ":" in host:
            return [host]
        if host not in NAMES:
            raise OSError(-2, "Name or service not known")
        return NAMES[host]


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    async with serving() as made:
        yield made


@pytest.fixture
def names() -> Names:
    return Names()


@pytest.fixture
def web(names: Names) -> WebReader:
    return WebReader(allow=["page.test"], seconds=10.0, size=SIZE, resolve=names)


@pytest.fixture
def hasty(names: Names) -> WebReader:
    """Has so little time that a test need not wait."""
    return WebReader(allow=["page.test"], seconds=0.2, size=SIZE, resolve=names)


async def got(web: WebReader, server: Server, answer: Answer) -> Page:
    server.answers["/"] = answer
    return await web.get(server.url("/"))


async def test_a_page_is_read_from_the_address_that_was_looked_up(
    web: WebReader, server: Server, names: Names
) -> None:
    assert await got(web, server, whole(b"hello")) == Page(server.url("/"), "", "hello")
    assert names.asked == ["page.test"]
    assert server.asked[0]["line"] == "GET / HTTP/1.1"
    assert server.asked[0]["host"] == f"page.test:{server.port}"
    assert "cookie" not in server.asked[0]


async def test_redirects_are_followed_and_the_last_place_is_named(web: WebReader, server: Server) -> None:
    server.answers |= {
        "/a": to("/b?x=1", "301 Moved"),
        "/b?x=1": to(server.url("/c"), "307 X"),
        "/c": whole(b"here"),
    }
    page = await web.get(server.url("/a"))
    assert (page.url, page.text) == (server.url("/c"), "here")


@pytest.mark.parametrize(
    ("location", "sentence"),
    [
        ("http://inside.test/", "inside.test is in a private network"),
        ("http://both.test/", "both.test is in a private network"),
        ("http://127.0.0.1:1/", "127.0.0.1 is in a private network"),
        ("http://169.254.169.254/latest/meta-data", "169.254.169.254 is in a private network"),
        (
            "http://[::ffff:10.0.0.1]/",
            "::ffff:10.0.0.1 is in a private network",
        ),
        ("ftp://page.test/", "Only http and https"),
        ("file:///etc/passwd", "Only http and https"),
        ("http://me:secret@page.test/", "holds a user name"),
    ],
)
async def test_a_redirect_is_checked_as_if_it_were_asked_for(
    web: WebReader, server: Server, location: str, sentence: str
) -> None:
    with pytest.raises((RefusedError, OSError), match=sentence):
        await got(web, server, to(location))
    assert len(server.asked) == 1


async def test_a_circle_and_an_endless_chain_end(web: WebReader, server: Server) -> None:
    server.answers["/b"] = to("/")
    with pytest.raises(OSError, match="round in a circle"):
        await got(web, server, to("/b"))
    server.asked.clear()
    server.answers |= {f"/{n}": to(f"/{n + 1}") for n in range(100)}
    with pytest.raises(OSError, match=f"more than {REDIRECTS} times"):
        await web.get(server.url("/0"))
    assert len(server.asked) == REDIRECTS + 1


@pytest.mark.parametrize(
    "answer",
    [
        stuck(),
        stuck(b"HTTP/1.1 200 OK\r\n"),
        stuck(b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 99\r\n\r\nhel"),
        endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        endless(CHUNKED, b""),
    ],
    ids=["silent", "half a head", "half a body", "endless interim answers", "no chunk"],
)
async def test_slow_servers_cost_no_more_than_the_time(
    hasty: WebReader, server: Server, answer: Answer
) -> None:
    began = time.monotonic()
    with pytest.raises(OSError, match=r"page.test (took longer than 0.2 s|does not answer)"):
        await got(hasty, server, answer)
    assert time.monotonic() - began < 5


async def test_a_body_that_trickles_for_ever_is_cut_off_by_the_total_time(
    hasty: WebReader, server: Server
) -> None:
    async def trickle(writer: asyncio.StreamWriter) -> None:
        writer.write(CHUNKED)
        while True:
            writer.write(b"1\r\nx\r\n")
            await writer.drain()
            await asyncio.sleep(0.02)

    with pytest.raises(OSError, match=r"took longer than 0.2 s"):
        await got(hasty, server, trickle)


@pytest.mark.parametrize(
    "answer",
    [
        endless(CHUNKED, b"1000\r\n" + b"y" * 4096 + b"\r\n"),
        endless(b"HTTP/1.0 200 OK\r\ncontent-type: text/plain\r\n\r\n", b"y" * 4096),
        whole(b"y" * (SIZE + 1)),
    ],
    ids=["chunked", "until the end", "just too long"],
)
async def test_what_is_too_large_is_cut_and_says_so(web: WebReader, server: Server, answer: Answer) -> None:
    page = await got(web, server, answer)
    assert (page.text, page.cut) == ("y" * SIZE, True)


async def test_what_just_fits_is_whole(web: WebReader, server: Server) -> None:
    page = await got(web, server, whole(b"y" * SIZE))
    assert (len(page.text), page.cut) == (SIZE, False)


async def test_gzip_is_unpacked_and_a_bomb_is_cut(web: WebReader, server: Server) -> None:
    plain = await got(web, server, whole(gzip.compress(b"packed"), content_encoding="gzip"))
    assert (plain.text, plain.cut) == ("packed", False)
    bomb = await got(web, server, whole(gzip.compress(b"y" * (1 << 26)), content_encoding="gzip"))
    assert (bomb.text, bomb.cut) == ("y" * SIZE, True)


async def test_gzip_that_unpacks_to_nothing_for_ever_ends(web: WebReader, server: Server) -> None:
    packer = zlib.compressobj(wbits=31)
    first = packer.compress(b"") + packer.flush(zlib.Z_SYNC_FLUSH)
    nothing = packer.flush(zlib.Z_SYNC_FLUSH) or b"\x00\x00\x00\xff\xff"
    head = b"HTTP/1.0 200 OK\r\ncontent-type: text/plain\r\ncontent-encoding: gzip\r\n\r\n"
    page = await got(web, server, endless(head + first, nothing * 500))
    assert (page.text, page.cut) == ("", True)


async def test_gzip_that_ends_early_is_cut(web: WebReader, server: Server) -> None:
    packed = gzip.compress(bytes(range(32, 127)) * 20)[:-30]
    page = await got(web, server, whole(packed, content_encoding="gzip"))
    assert page.cut


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (whole(b"not packed", content_encoding="gzip"), "packed data that is damaged"),
        (whole(b"x", content_encoding="br"), "it packs its pages as br"),
        (raw(b""), "does not answer as a web server"),
        (raw(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc"), "does not answer as a web server"),
        (raw(CHUNKED + b"zz\r\n"), "does not answer as a web server"),
        (raw(b"SSH-2.0-OpenSSH_9.2\r\n"), "does not answer as a web server"),
        (raw(b"HTTP/1.1 200 OK\r\nbad header\r\n\r\n"), "does not answer as a web server"),
        (raw(b"HTTP/1.1 200 OK\r\ncontent-length: -5\r\n\r\n"), "does not answer as a web server"),
        (endless(b"HTTP/1.1 200 OK\r\n", b"x-more: and more\r\n"), "does not answer as a web server"),
        (whole(b"", status="503 Busy"), r"page.test refused with 503 Service Unavailable\.$"),
        (whole(b"", status="799 Odd"), r"page.test refused with 799\.$"),
        (to("http://[broken/"), "could not be looked up|a place that is not read"),
    ],
)
async def test_faults_of_the_server_are_sentences(
    web: WebReader, server: Server, answer: Answer, sentence: str
) -> None:
    with pytest.raises((OSError, RefusedError), match=sentence):
        await got(web, server, answer)


@pytest.mark.parametrize("status", ["404 Not Found", "410 Gone"])
async def test_no_page_is_another_fact_than_no_answer(web: WebReader, server: Server, status: str) -> None:
    with pytest.raises(FileNotFoundError, match=r"page.test has no page at that address"):
        await got(web, server, whole(b"nothing", status=status))


async def test_nobody_there_and_no_such_name(web: WebReader, server: Server) -> None:
    async with serving() as gone:
        pass
    with pytest.raises(OSError, match=r"I could not reach page.test: "):
        await web.get(gone.url("/"))
    with pytest.raises(OSError, match=r"the name missing.test could not be looked up"):
        await web.get("http://missing.test/")


@pytest.mark.parametrize(
    ("kind", "body", "what"),
    [
        ("image/png", b"\x89PNG", "image/png"),
        ("application/pdf", b"%PDF", "application/pdf"),
        ("", b"\x00\x01\x02", "binary data"),
        ("text/plain", b"a\x00b", "binary data"),
    ],
)
async def test_what_is_no_text_is_named(
    web: WebReader, server: Server, kind: str, body: bytes, what: str
) -> None:
    with pytest.raises(ValueError, match=f"What is at page.test is not text but {what}"):
        await got(web, server, whole(body, kind))


async def test_the_own_network_may_be_read_when_that_is_set(server: Server, names: Names) -> None:
    server.answers["/"] = whole(b"router")
    url = server.url("/", "127.0.0.1")
    with pytest.raises(RefusedError, match=r"127.0.0.1 is in a private network"):
        await WebReader(resolve=names).get(url)
    assert (await WebReader(private=True, resolve=names).get(url)).text == "router"
    assert (await WebReader(allow=["127.0.0.1"], resolve=names).get(url)).text == "router"
    reader = WebReader(private=True, resolve=names)
    reader.limit(False, (), 15.0, 1 << 20)  # as a reload does
    with pytest.raises(RefusedError, match=r"127.0.0.1 is in a private network"):
        await reader.get(url)


async def test_a_dead_first_address_is_not_the_end(server: Server) -> None:
    async def two(host: str, port: int) -> list[str]:
        return ["127.0.0.2", "127.0.0.1"]

    server.answers["/"] = whole(b"second")
    assert (await WebReader(private=True, resolve=two).get(server.url("/"))).text == "second"


@pytest.fixture
def served_by(tmp_path: Path) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """How page.test proves who it is, and a context that trusts it."""
    certificate, key = tmp_path / "c.pem", tmp_path / "k.pem"
    command = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        "1",
        "-subj",
        "/CN=page.test",
    ]
    more = ["-addext", "subjectAltName=DNS:page.test", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run([*command, *more], check=True, capture_output=True)
    served = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    served.load_cert_chain(certificate, key)
    return served, ssl.create_default_context(cafile=str(certificate))


async def test_the_name_is_checked_in_the_certificate(
    served_by: tuple[ssl.SSLContext, ssl.SSLContext], names: Names
) -> None:
    served, trusting = served_by
    web = WebReader(private=True, resolve=names, tls=trusting)
    async with serving(served) as server:
        server.answers["/"] = whole(b"secure")
        assert (await web.get(server.url("/", scheme="https"))).text == "secure"
        with pytest.raises(OSError, match="certificate verify failed"):
            await web.get(server.url("/", "127.0.0.1", "https"))
        with pytest.raises(OSError, match="certificate verify failed"):
            await WebReader(private=True, resolve=names).get(server.url("/", scheme="https"))

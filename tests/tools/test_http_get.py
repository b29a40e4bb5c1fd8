"""A page is read, is not there, cannot be reached, or must not be read: four different answers."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from muleteer.paths import share_dir
from muleteer.store.notebook import SqliteNotebook
from muleteer.tool import Document, Result, Services, Status
from muleteer.toolbox import Toolbox
from muleteer.web.fetching import WebReader
from tests.tools.conftest import call, same_parameters
from tests.web.misbehaving import Server, serving, stuck, whole
from tools.http_get import http_get


class Switch:
    def __init__(self, why: str = "") -> None:
        self.why = why

    async def reason(self) -> str:
        return self.why


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    async with serving() as made:
        yield made


@pytest.fixture
def switch() -> Switch:
    return Switch()


@pytest.fixture
def toolbox(notebook: SqliteNotebook, switch: Switch) -> Toolbox:
    web = WebReader(allow=["127.0.0.1"], seconds=1.0, size=1000)
    return Toolbox.load([share_dir() / "tools"], Services(notebook, offline=switch, web=web))


async def ask(toolbox: Toolbox, server: Server, path: str = "/") -> Result:
    return await call(toolbox, "http_get", url=server.url(path, "127.0.0.1"))


async def test_the_schema_is_the_signature(toolbox: Toolbox) -> None:
    assert same_parameters(toolbox, http_get)
    tool = toolbox.tools["http_get"]
    assert (tool.effect, tool.network) == ("read", True)


async def test_ok_has_the_page_as_a_document(toolbox: Toolbox, server: Server) -> None:
    server.answers["/"] = whole(b"<title>Hours</title><p>Open daily.", "text/html")
    url = server.url("/", "127.0.0.1")
    expected = Result.ok(
        'I read "Hours" at 127.0.0.1: 11 characters.', Document("Hours", "Open daily."), (url,)
    )
    assert await ask(toolbox, server) == expected


async def test_a_page_that_was_cut_is_said_to_be(toolbox: Toolbox, server: Server) -> None:
    server.answers["/"] = whole(b"y" * 5000)
    result = await ask(toolbox, server)
    assert result.text == "I read the page at 127.0.0.1: the first 1,000 characters."


async def test_empty_is_no_page_or_no_text(toolbox: Toolbox, server: Server) -> None:
    server.answers |= {"/": whole(b"", status="404 Not Found"), "/blank": whole(b" \n")}
    assert await ask(toolbox, server) == Result.empty("127.0.0.1 has no page at that address.")
    assert await ask(toolbox, server, "/blank") == Result.empty("The page at 127.0.0.1 holds no text.")


async def test_unavailable_is_everything_that_kept_it_from_looking(toolbox: Toolbox, server: Server) -> None:
    server.answers |= {"/": whole(b"", status="500 Oh"), "/slow": stuck()}
    expected = Result.unavailable("127.0.0.1 refused with 500 Internal Server Error.")
    assert await ask(toolbox, server) == expected
    slow = await ask(toolbox, server, "/slow")
    assert slow.status is Status.UNAVAILABLE


async def test_offline_is_said_plainly_and_nothing_is_asked(
    toolbox: Toolbox, server: Server, switch: Switch
) -> None:
    switch.why = "Offline mode is on"
    assert await ask(toolbox, server) == Result.unavailable(
        "Offline mode is on, so http_get cannot use the network."
    )
    assert server.asked == []


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("", "There is no address to read"),
        ("the weather", "is not a web address"),
        ("http://192.168.1.1/admin", "is in a private network"),
        ("file:///etc/passwd", "Only http and https"),
    ],
)
async def test_error_is_an_address_that_is_not_read(toolbox: Toolbox, url: str, sentence: str) -> None:
    result = await call(toolbox, "http_get", url=url)
    assert result.status is Status.ERROR
    assert sentence in result.text


async def test_error_is_what_is_no_text(toolbox: Toolbox, server: Server) -> None:
    server.answers["/"] = whole(b"x", "image/png")
    assert await ask(toolbox, server) == Result.error("What is at 127.0.0.1 is not text but image/png.")


async def test_without_a_web_it_is_unavailable(notebook: SqliteNotebook) -> None:
    toolbox = Toolbox.load([share_dir() / "tools"], Services(notebook, offline=Switch()))
    assert await call(toolbox, "http_get", url="example.org") == Result.unavailable("The web is not set up.")

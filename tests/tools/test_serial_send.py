"""Text goes only to devices that may get any, one printable line at a time."""

from __future__ import annotations

import pytest

from muleteer.catalogue.offering import OTHER
from muleteer.store.notebook import SqliteNotebook
from muleteer.tool import Data, Result, Services, Status
from muleteer.toolbox import Toolbox
from tests.ports.conftest import Plug, Serve
from tests.tools.conftest import call, same_parameters, with_services
from tools.serial_send import LONGEST, serial_send


@pytest.fixture
def home(notebook: SqliteNotebook, serve: Serve) -> Toolbox:
    return with_services(Services(notebook, serial=serve(timeout=0.3, send=True)))


async def test_the_schema_is_the_signature_and_forces_no_device(home: Toolbox) -> None:
    assert same_parameters(home, serial_send)
    tool = home.tools["serial_send"]
    assert "enum" not in tool.parameters["properties"]["device"]
    assert (tool.effect, tool.menu) == ("physical", False)


async def test_ok_says_what_was_sent_and_answered(plug: Plug, home: Toolbox) -> None:
    board = plug()
    result = await call(home, "serial_send", device="Board", text=" T? ")
    data = Data({"device": "board", "sent": "T?", "answer": "T=21.5"})
    assert result == Result.ok('Sent "T?" to board; it answered "T=21.5".', data, ("board",))
    assert board.heard == ["T?"]


async def test_no_answer_is_said(plug: Plug, home: Toolbox) -> None:
    plug(lambda _: ())
    result = await call(home, "serial_send", device="board", text="hello")
    assert result == Result.ok(
        'Sent "hello" to board; no answer: the device board did not answer within 0.3 s.'
    )


async def test_an_answer_is_shown_safely(plug: Plug, home: Toolbox) -> None:
    plug(lambda _: (b"\x1b[2Jhi\n",))
    result = await call(home, "serial_send", device="board", text="x")
    assert 'it answered "\ufffd[2Jhi"' in result.text


@pytest.mark.parametrize("device", ["", "boards", OTHER])
async def test_empty_sends_nothing(plug: Plug, home: Toolbox, device: str) -> None:
    board = plug()
    result = await call(home, "serial_send", device=device, text="x")
    assert result == Result.empty("There is no such device, so nothing was sent. There are: board.")
    assert board.heard == []


async def test_unavailable_when_the_device_is_away(home: Toolbox) -> None:
    result = await call(home, "serial_send", device="board", text="x")
    assert result.status is Status.UNAVAILABLE
    assert result.text.startswith("The text could not be sent: the device board is not plugged in")


async def test_unavailable_when_nothing_is_set_up(toolbox: Toolbox) -> None:
    assert (await call(toolbox, "serial_send", device="board", text="x")).status is Status.UNAVAILABLE


@pytest.mark.parametrize(
    "text", ["", "  ", "a\nb", "a\rb", "a\x00", "\x1b[2J", "x" * (LONGEST + 1), "ä" * 101]
)
async def test_error_for_what_is_no_short_line(plug: Plug, home: Toolbox, text: str) -> None:
    board = plug()
    result = await call(home, "serial_send", device="board", text=text)
    assert result.status is Status.ERROR
    assert result.text.startswith("Nothing was sent: the text ")
    assert board.heard == []


async def test_error_for_a_device_that_takes_no_free_text(
    plug: Plug, notebook: SqliteNotebook, serve: Serve
) -> None:
    board = plug()
    home = with_services(Services(notebook, serial=serve()))
    result = await call(home, "serial_send", device="board", text="x")
    assert result.status is Status.ERROR
    assert "send = true" in result.text
    assert board.heard == []

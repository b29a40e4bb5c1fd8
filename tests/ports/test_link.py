"""One question, its own answer: at pyserial's loop, and at microcontrollers that are slow, broken or away."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import serial

from muleteer.ports.finding import TICK, connect
from muleteer.ports.link import FLOOD, Link, LostError, SilenceError
from muleteer.ports.protocol import UnclearError
from muleteer.ports.settings import DeviceSettings
from tests.ports.conftest import Plug
from tests.ports.microcontroller import ENOUGH, Answer, Microcontroller


def temperature(line: str) -> str | None:
    return line.removeprefix("T=") if line.startswith("T=") else None


def link_to(board: Microcontroller, **settings: Any) -> Link:
    own = DeviceSettings.model_validate({"path": board.path, "settle": 0, "timeout": ENOUGH} | settings)
    return Link(lambda: connect(own, list), own)


def ask(link: Link, line: str = "T?") -> str:
    link.prepare()
    if line:
        link.tell(line)
    return link.hear(temperature)


@pytest.fixture
def loop() -> Iterator[Link]:
    """A device that says what it is told."""
    own = DeviceSettings(path=Path("/loop"), settle=0, timeout=0.3)
    link = Link(lambda: serial.serial_for_url("loop://", timeout=TICK), own)
    yield link
    link.close()


def test_what_is_told_comes_back_from_the_loop(loop: Link) -> None:
    assert ask(loop, "T=21.5") == "21.5"
    assert ask(loop, "T=22") == "22"


def test_an_answer_that_means_nothing_is_shown(loop: Link) -> None:
    loop.prepare()
    loop.tell("E\x07RR")
    with pytest.raises(UnclearError, match='answered "E\ufffdRR"'):
        loop.hear(temperature)


def test_silence_is_said_as_such(loop: Link) -> None:
    loop.prepare()
    with pytest.raises(SilenceError, match=r"did not answer within 0\.3 s"):
        loop.hear(temperature)


@pytest.mark.parametrize(
    ("ending", "sent"), [("lf", b"T?\n"), ("crlf", b"T?\r\n"), ("cr", b"T?\r"), ("none", b"T?")]
)
def test_a_line_ends_as_the_device_wants_it(ending: str, sent: bytes) -> None:
    port = serial.serial_for_url("loop://", timeout=TICK)
    own = DeviceSettings.model_validate({"path": "/loop", "settle": 0, "ending": ending})
    link = Link(lambda: port, own)
    link.prepare()
    link.tell("T?")
    assert port.read(len(sent)) == sent
    link.close()


def test_chatter_and_echoes_before_the_answer_are_passed_over(plug: Plug) -> None:
    board = plug(lambda line: (f"{line}\r\nbooting\r\n\xb0".encode("latin-1"), b"\n\nT=21.5\n"))
    link = link_to(board)
    assert ask(link) == "21.5"
    link.close()


def test_an_answer_in_pieces_is_put_together(plug: Plug) -> None:
    link = link_to(plug(lambda _: (b"T", 0.1, b"=2", 0.3, b"1.5", 0.1, b"\n")))
    assert ask(link) == "21.5"
    link.close()


def test_half_a_line_is_no_answer(plug: Plug) -> None:
    link = link_to(plug(lambda _: (b"T=2",)), timeout=0.3)
    with pytest.raises(UnclearError, match='answered "T=2"'):
        ask(link)
    link.close()


def test_the_rest_of_an_old_line_is_no_answer(plug: Plug) -> None:
    """A device that tells by itself is heard in the middle of a line: "T=2T=1.5" would be a reading, too."""
    board = plug()
    link = link_to(board)
    link.prepare()
    board.say(b"xxT=9")  # the beginning is thrown away; what follows goes on with that line
    board.arrived()
    link.prepare()
    board.say(b"T=1.5\nT=21.5\n")
    assert link.hear(temperature) == "21.5"
    link.close()


def test_what_came_before_the_question_is_thrown_away(plug: Plug) -> None:
    board = plug(lambda _: (b"T=21.5\n",))
    link = link_to(board)
    link.prepare()
    board.say(b"T=99\n")
    board.arrived()
    assert ask(link) == "21.5"
    link.close()


def test_a_late_answer_is_not_taken_for_the_next_ones(plug: Plug) -> None:
    answers: list[Answer] = [(1.4, b"T=1\n"), (b"T=2\n",)]
    board = plug(lambda _: answers.pop(0))
    link = link_to(board, timeout=1)
    with pytest.raises(SilenceError):
        ask(link)
    assert ask(link) == "2"
    assert board.heard == ["T?", "T?"]
    link.close()


@pytest.mark.parametrize("flood", [b"x" * 4096, b"x\n" * 2048, b"\n" * 4096, b"\xff\x00" * 2048])
def test_a_flood_is_left_after_a_while(plug: Plug, flood: bytes) -> None:
    board = plug(lambda _: (flood,) * 1000)
    link = link_to(board)
    with pytest.raises(UnclearError, match=r"sends without an end|nothing that can be read"):
        ask(link)
    with pytest.raises(UnclearError):
        ask(link)  # the flood goes on; the second question is no worse off
    link.close()


def test_a_chatty_device_is_no_flood(plug: Plug) -> None:
    board = plug(lambda _: (b"debug\n" * (FLOOD // 12), b"T=21.5\n"))
    link = link_to(board)
    assert ask(link) == "21.5"
    link.close()


def test_a_board_that_restarts_when_it_is_opened_is_waited_for(plug: Plug) -> None:
    """The boot loader eats what is sent to it, and greets with what looks like a reading."""
    ready = threading.Event()
    board = plug(lambda _: (b"T=21.5\n",) if ready.is_set() else ())
    link = link_to(board, settle=0.5)

    def boot() -> None:
        board.say(b"T=0 (boot)\n")
        ready.set()

    timer = threading.Timer(0.2, boot)
    timer.start()
    assert ask(link) == "21.5"
    timer.join()
    assert board.heard == ["T?"]
    link.close()


def test_away_and_back_at_another_place(plug: Plug) -> None:
    board = plug(lambda _: (b"T=21.5\n",))
    link = link_to(board)
    assert ask(link) == "21.5"
    board.unplug()
    for _ in range(2):
        with pytest.raises(OSError, match="is not plugged in"):
            ask(link)
    board.plug()
    assert ask(link) == "21.5"
    link.close()


def test_plugged_in_anew_between_two_questions_nobody_notices(plug: Plug) -> None:
    board = plug(lambda _: (b"T=21.5\n",))
    link = link_to(board)
    assert ask(link) == "21.5"
    board.unplug()
    board.plug()
    assert ask(link) == "21.5"
    assert board.heard == ["T?", "T?"]
    link.close()


def test_going_away_in_the_middle_is_said(plug: Plug) -> None:
    board = plug()
    link = link_to(board)

    def leave(_: str) -> Answer:
        board.unplug()
        return ()

    board.script = leave
    with pytest.raises(LostError, match="went away before it answered"):
        ask(link)
    link.close()


def test_what_is_not_open_is_told_nothing(loop: Link) -> None:
    with pytest.raises(LostError, match="is not open"):
        loop.tell("T?")


def test_a_device_that_takes_nothing_is_given_up(plug: Plug) -> None:
    go = threading.Event()

    def stuck(_: str) -> Answer:
        go.wait(ENOUGH)
        return ()

    board = plug(stuck)
    link = link_to(board)
    link.prepare()
    link.tell("T?")
    board.hears(1)
    with pytest.raises(LostError, match="does not take what is sent"):
        link.tell("x" * 100_000)  # a terminal keeps some thousands of bytes
    go.set()


def test_closing_twice_is_fine(plug: Plug) -> None:
    link = link_to(plug())
    link.prepare()
    link.close()
    link.close()

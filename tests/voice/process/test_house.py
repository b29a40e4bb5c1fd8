"""The daemon as the conversation uses it, with a scripted one behind a real socket."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

from muleteer.errors import MuleteerError
from muleteer.voice.conversation.house import FORGOTTEN_SECONDS, MOST_HELD, DaemonHouse, Told, code_of
from tests.cli.scripted_daemon import answer, events, listening, obj


async def test_turns_within_minutes_are_one_conversation(folder: Path) -> None:
    now = 1000.0
    with listening(folder / "s") as daemon:
        daemon.replies["/v1/turns"] = answer()
        daemon.replies["/v1/turns/t1/confirm"] = answer()
        house = DaemonHouse(daemon.socket, lambda: now)
        for _ in range(2):
            assert [name async for name, _ in house.turn("hello")][-1] == "turn.finished"
        assert [name async for name, _ in house.confirm("t1", True)][-1] == "turn.finished"
        now += FORGOTTEN_SECONDS + 1
        assert [name async for name, _ in house.turn("hello")][-1] == "turn.finished"
    first, second, third, later = daemon.sessions
    assert first == second == third != later


async def test_a_reader_who_is_slow_holds_the_writer_back_and_leaves_no_thread(folder: Path) -> None:
    """Longer than any answer; what nobody reads must not fill the memory."""
    many: list[Told] = [("text", {"text": "x" * 100})] * (MOST_HELD * 20)
    before = set(threading.enumerate())
    with listening(folder / "s") as daemon:
        daemon.replies["/v1/turns"] = events(*many)
        turn = DaemonHouse(daemon.socket).turn("hello")
        assert (await anext(turn))[0] == "text"
        reader = next(each for each in threading.enumerate() if each.name == "voice: daemon")
        await turn.aclose()
        await asyncio.to_thread(reader.join, 10)
        assert not reader.is_alive()
    assert not {each for each in set(threading.enumerate()) - before if each.name == "voice: daemon"}


@pytest.mark.parametrize(
    ("fields", "code"), [({"code": "loading", "message": "soon", "levels": []}, "loading"), (None, "socket")]
)
async def test_why_a_turn_fails_is_known_by_its_code(
    folder: Path, fields: dict[str, object] | None, code: str
) -> None:
    with listening(folder / "s") as daemon:
        if fields:
            daemon.replies["/v1/turns"] = events(("turn.failed", fields))
        house = DaemonHouse(daemon.socket if fields else folder / "nobody")
        with pytest.raises(MuleteerError) as failed:
            await anext(house.turn("hello"))
    assert code_of(failed.value) == code


async def test_hints_and_names(folder: Path) -> None:
    with listening(folder / "s") as daemon:
        daemon.replies["/v1/warm"] = obj({"warming": True})
        daemon.replies["/v1/names"] = obj({"names": ["garden pump", 7]})
        house = DaemonHouse(daemon.socket)
        await house.warm()
        assert await house.names() == ["garden pump", "7"]

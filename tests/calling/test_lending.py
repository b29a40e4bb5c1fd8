"""The notebook from a tool's own loop: the work is done at home, and not after the call is over."""

from __future__ import annotations

import asyncio
import threading
from datetime import UTC, datetime

import pytest

from muleteer import session
from muleteer.calling.lending import Lent
from muleteer.calling.threads import in_thread
from muleteer.tool import Note


class Pad:
    """A notebook that tells which thread it was used in."""

    def __init__(self) -> None:
        self.threads: list[threading.Thread] = []

    async def add(self, text: str, page: str = "") -> Note:
        self.threads.append(threading.current_thread())
        if not text:
            raise OSError("an empty page")
        return Note(text, datetime.now(UTC))

    async def search(self, query: str, limit: int = 8) -> list[Note]:
        return [Note(query, datetime.now(UTC))] * limit


async def test_the_work_is_done_in_the_home_loop() -> None:
    pad = Pad()
    lent = Lent(pad, asyncio.get_running_loop())
    note = await in_thread(lambda: asyncio.run(lent.add("tea")), "tool", lambda: None)
    assert note.text == "tea"
    assert pad.threads == [threading.current_thread()]
    found = await in_thread(lambda: asyncio.run(lent.search("tea", 2)), "tool", lambda: None)
    assert [note.text for note in found] == ["tea", "tea"]


async def test_the_work_knows_the_session_of_whoever_lends() -> None:
    class Asked:
        async def whose(self) -> str:
            return session.current.get()

    session.begin("s1")
    lent = Lent(Asked(), asyncio.get_running_loop())
    session.begin("s2")
    assert await in_thread(lambda: asyncio.run(lent.whose()), "tool", lambda: None) == "s1"


async def test_its_faults_come_back() -> None:
    lent = Lent(Pad(), asyncio.get_running_loop())
    with pytest.raises(OSError, match="an empty page"):
        await in_thread(lambda: asyncio.run(lent.add("")), "tool", lambda: None)


async def test_after_the_call_it_is_taken_back() -> None:
    pad = Pad()
    lent = Lent(pad, asyncio.get_running_loop())
    lent.take_back()
    with pytest.raises(OSError, match="the call is over"):
        await in_thread(lambda: asyncio.run(lent.add("too late")), "tool", lambda: None)
    assert pad.threads == []

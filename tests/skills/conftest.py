"""A household with everything that the shipped skills reach for: notes, papers, a calendar, a greenhouse."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from muleteer.broadcast import Broadcast
from muleteer.calendars import FolderCalendars
from muleteer.chime import Chime
from muleteer.harness.events import Event
from muleteer.harness.turn import Harness
from muleteer.paths import share_dir
from muleteer.ports.service import SerialPorts
from muleteer.ports.settings import SerialSettings
from muleteer.ringing import DeviceTimers
from muleteer.services import Services
from muleteer.settings.home import FilesSettings
from muleteer.settings.sections import Budgets
from muleteer.skills import Catalogue, load_catalogue
from muleteer.store.memory import TurnMemory
from muleteer.store.notebook import SqliteNotebook
from muleteer.store.timers import TimerStore
from muleteer.toolbox import Toolbox
from tests.documents.conftest import Shelf
from tests.harness.scripted import Scripted, ScriptedBrain
from tests.home import SERIAL, write_home
from tests.ports.microcontroller import Microcontroller, greenhouse


class House:
    """The shipped skills and tools over real services, and what happens in them."""

    def __init__(
        self, catalogue: Catalogue, notebook: SqliteNotebook, memory: TurnMemory, board: Microcontroller
    ) -> None:
        self.catalogue, self.notebook, self.memory, self.board = catalogue, notebook, memory, board

    async def turn(self, message: str, *script: Scripted, confirm: tuple[str, ...] = ()) -> list[Event]:
        brain = ScriptedBrain(*script)
        events = [each async for each in Harness(brain, self.catalogue, Budgets(), confirm).run(message)]
        assert not brain.script, "the turn asked less than was scripted"
        return events


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    papers, calendars = write_home(tmp_path)
    notebook = SqliteNotebook(tmp_path / "notebook.db")
    memory = TurnMemory(tmp_path / "memory.db", 365, 1000, "")
    await notebook.open()
    await memory.open()
    shelf = Shelf(tmp_path / "state", FilesSettings(folders=(papers,)))
    shelf.documents.open()
    board = Microcontroller(tmp_path / "port", greenhouse)
    device = {"path": str(board.path), "settle": 0.0, **SERIAL}
    timers = DeviceTimers(TimerStore(tmp_path / "timers.db"), Broadcast(), Chime((), 1.0))
    await timers.open()
    serial = SerialPorts(SerialSettings.model_validate({"devices": {"board": device}}))
    try:
        await shelf.settled()
        services = Services(
            notebook,
            memory,
            serial=serial,
            documents=shelf.documents,
            calendars=FolderCalendars([calendars]),
            timers=timers,
        )
        toolbox = Toolbox.load([share_dir() / "tools"], services)
        catalogue = load_catalogue([share_dir() / "skills"], toolbox)
        assert (catalogue.disabled, toolbox.disabled) == ({}, {})
        yield House(catalogue, notebook, memory, board)
    finally:
        await serial.close()
        await timers.close()
        board.unplug()
        await shelf.documents.close()
        await memory.close()
        await notebook.close()

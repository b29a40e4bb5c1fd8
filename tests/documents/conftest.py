"""Documents over real folders, and waiting for its index without sleeping."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from muleteer.documents.service import FolderDocuments
from muleteer.settings.home import FilesSettings

CHECK = 0.1  # seconds between looks whether a folder is there; the daemon takes five
WAIT = 60.0  # seconds until a test gives up, on a machine that is busy


class Shelf:
    """Documents that are open, and whose changes can be waited for."""

    def __init__(self, state: Path, settings: FilesSettings) -> None:
        self._changed = asyncio.Event()
        self.documents = FolderDocuments(settings, state, CHECK, self._changed.set)

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait until the index is such that `holds`; looked at after each change of the index."""
        async with asyncio.timeout(WAIT):
            while not holds():
                self._changed.clear()
                await self._changed.wait()

    async def settled(self) -> None:
        """Wait until every folder was looked through and every file read."""
        await self.until(lambda: not self.documents._keeper.unfinished())

    async def names(self, words: str = "") -> list[str]:
        return [file.name for file in await self.documents.find(words, 100)]

    async def found(self, words: str, *names: str, folder: str = "") -> None:
        """Wait until these words find exactly these names, all in `folder` if it is given."""
        async with asyncio.timeout(WAIT):
            while True:
                self._changed.clear()
                try:
                    files = await self.documents.find(words, 100)
                    placed = not folder or {file.folder for file in files} == {folder}
                    if {file.name for file in files} == set(names) and placed:
                        return
                except OSError:
                    pass  # not everything is read yet
                await self._changed.wait()


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    folder = tmp_path / "papers"
    folder.mkdir()
    return folder


@pytest.fixture
async def opened(tmp_path: Path) -> AsyncIterator[Callable[..., Shelf]]:
    """Opens documents over folders, with settings by name."""
    shelves: list[Shelf] = []

    def open_folders(*folders: Path, **settings: int) -> Shelf:
        shelf = Shelf(tmp_path / "state", FilesSettings(folders=folders, **settings))
        shelf.documents.open()
        shelves.append(shelf)
        return shelf

    yield open_folders
    for shelf in shelves:
        await shelf.documents.close()

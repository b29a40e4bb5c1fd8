"""The files of the household as tools are lent them: found, and read.

What is not found counts as not there only after every folder was looked through and every file was read.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from muleteer.documents import search
from muleteer.documents.child import Child, Extract
from muleteer.documents.folders import Stamp, open_below
from muleteer.documents.index import MIGRATIONS, TOO_LARGE, Limits, kind_of
from muleteer.documents.keeper import CHECK_SECONDS, Keeper, gently
from muleteer.documents.search import Hit
from muleteer.services import NO_FOLDERS, FileText, FoundFile
from muleteer.settings.home import FilesSettings
from muleteer.store.database import Database

log = logging.getLogger(__name__)

MIB = 2**20  # bytes
READ_SECONDS = 18.0  # for a file that is not in the index as it is now; a tool's own deadline is 20
NAMED_LIMIT = 8  # files that one name may mean; more are no help


class FolderDocuments:
    """Implements `services.Documents`. `open` starts the background work, `close` ends it."""

    def __init__(
        self,
        settings: FilesSettings,
        state: Path,
        check: float = CHECK_SECONDS,
        updated: Callable[[], None] = lambda: None,
    ) -> None:
        self._state, self._check_seconds, self._updated = state, check, updated
        self._database = Database(state / "files.db", MIGRATIONS)
        self._set(settings)
        self._failed = ""
        self._task: asyncio.Task[None] | None = None

    def _set(self, settings: FilesSettings) -> None:
        self._limits = Limits(settings.most, settings.index * MIB, settings.largest * MIB)
        self._keeper = Keeper(
            self._database,
            outermost(settings.folders),
            self._limits,
            self._state,
            settings.rescan * 60.0,
            self._check_seconds,
            self._updated,
        )

    def open(self) -> None:
        """Begin to look through the folders, if there are any."""
        if self._keeper.roots:
            self._task = asyncio.create_task(self._run(), name="files")

    async def take_up(self, settings: FilesSettings) -> None:
        """Look through these folders from now on; what the index has of them is kept."""
        await self._rest()
        self._set(settings)
        self._failed = ""
        self.open()

    async def close(self) -> None:
        await self._rest()
        await self._database.close()

    async def _rest(self) -> None:
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.wait({task})

    def report(self) -> Mapping[str, object]:
        return self._keeper.report()

    async def find(self, words: str, limit: int = 8) -> list[FoundFile]:
        """Raises `OSError` where nothing was found and not everything was looked at."""
        roots = self._usable()
        hits = await self._database.read(lambda c: search.search(c, words, roots, limit))
        self._check(hits)
        return [hit.file for hit in hits]

    async def read(self, name: str) -> FileText | list[FoundFile]:
        """Raises `OSError` as `find` does, and when the one file cannot be read."""
        roots = self._usable()
        hits = await self._database.read(
            lambda c: search.named(c, name, roots) or search.search(c, name, roots, NAMED_LIMIT)
        )
        self._check(hits)
        if not search.is_clear(hits):
            return [hit.file for hit in hits[:NAMED_LIMIT]]
        return await self._text(hits[0])

    def _usable(self) -> list[Path]:
        if not self._keeper.roots:
            raise OSError(NO_FOLDERS)
        return self._keeper.usable()

    def _check(self, hits: list[Hit]) -> None:
        if not hits and (reason := self._failed or self._keeper.unfinished()):
            raise OSError(reason)

    async def _run(self) -> None:
        try:
            await self._keeper.run()
        except Exception:
            log.exception("The files are no longer kept up to date.")
            self._failed = "the files are no longer kept up to date; the log says why, a restart may help."

    async def _text(self, hit: Hit) -> FileText:
        """The text as the index has it if the file is still the same, else read anew."""
        name = hit.file.name
        if not kind_of(hit.path):
            raise OSError(f"{name} is of a kind that has no text to read.")
        kept = await self._database.read(lambda c: search.kept(c, hit))
        try:
            extract = await gently(lambda: self._read(hit, kept), "reading a file")
        except OSError as error:
            raise OSError(f"{name} cannot be read: {error.strerror or error}.") from error
        if extract.problem:
            raise OSError(f"{name} cannot be read: {extract.problem}.")
        return FileText(hit.file, extract.text, extract.cut)

    def _read(self, hit: Hit, kept: tuple[Stamp, Extract] | None) -> Extract:
        with open_below(hit.root, hit.path) as opened:
            stamp = Stamp.of(os.fstat(opened.fileno()))
            if kept is not None and kept[0] == stamp:
                return kept[1]
            if stamp.size > self._limits.largest:
                return Extract(problem=TOO_LARGE)
            child = Child(seconds=READ_SECONDS)
            try:
                return child.read(opened, kind_of(hit.path))
            finally:
                child.stop()


def outermost(folders: Iterable[Path]) -> tuple[Path, ...]:
    """The folders without those that another one already holds: each file is to be found once."""
    wanted = dict.fromkeys(folders)
    return tuple(each for each in wanted if not any(_holds(other, each) for other in wanted))


def _holds(outer: Path, inner: Path) -> bool:
    """Whether listing `outer` reaches `inner`, which it does not through hidden folders."""
    if inner == outer or not inner.is_relative_to(outer):
        return False
    return not any(name.startswith(".") for name in inner.relative_to(outer).parts)

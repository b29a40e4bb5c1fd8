"""Keeps the index as fresh as the folders are, in the background.

    each folder:  is it there? -> watch it -> list all of it -> list what changed, and ask again: is it there?
    all of them:  read the text of what waits, the newest file first

Looking and reading are done in threads and a process of low priority. A folder that is missing, empty where
a disk should be mounted, or silent says so and is looked at again; its files stay in the index, unfound,
until it is back.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from muleteer.calling.threads import in_thread
from muleteer.documents import index
from muleteer.documents.child import Child, Extract
from muleteer.documents.folders import CROWDED, UNSEEN, Listing, Stamp, list_below, open_below, shown
from muleteer.documents.index import Counts, Job, Limits
from muleteer.documents.watch import Watch
from muleteer.files import identity
from muleteer.store.database import Database, StoreError

log = logging.getLogger(__name__)

T = TypeVar("T")

NICE = 15  # of 19: turns and the engine go first
CHECK_SECONDS = 5.0  # between looks whether a folder is there; a disk is plugged in more slowly
ANSWER_SECONDS = 10.0  # for a folder to say whether it is there; a sleeping disk takes several
GATHER_SECONDS = 0.5  # changes that come together are looked at together
PROGRESS_SECONDS = 30.0  # between lines in the log
BATCH = 500  # files listed in one transaction; each waits for the disk
READ_BATCH = 16  # texts kept in one transaction; what a stop may lose
GONE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)  # the last two: a file or link is there now
BEYOND = "beyond files.most"
TOO_DEEP = "too deep"
AGAIN_SECONDS = 30.0  # until a folder that could not be looked at is tried again
DEPTH_LIMIT = 32  # folders within folders; deeper ones are made by mistake or malice


@dataclass(slots=True)
class Root:
    """A configured folder. `problem` says why its files cannot be found now; `complete`, whether all of it
    was listed since it was there; `unkept`, why the index cannot be brought up to it; `unwatched`, why
    changes are seen at the next full look only."""

    path: Path
    problem: str = "it has not been looked at yet"
    complete: bool = False
    unkept: str = ""
    unwatched: str = ""
    identity: tuple[int, int] | None = None
    rescan_at: float = 0.0
    again_at: float = 0.0
    known: set[str] = field(default_factory=set)  # folders below it
    left_out: dict[str, Counter[str]] = field(default_factory=dict)  # by folder
    changed: dict[str, bool] = field(default_factory=dict)  # folder: and all below it?
    woken: asyncio.Event = field(default_factory=asyncio.Event)
    look: asyncio.Task[tuple[int, int] | None] | None = None

    def unseen(self) -> set[str]:
        """Folders below it that could not be looked at, or not wholly."""
        return {folder for folder, counted in self.left_out.items() if counted[UNSEEN]}

    def state(self) -> str:
        """For the status."""
        if self.problem or self.unkept:
            return self.problem or self.unkept
        return (self.unwatched or "watched") if self.complete else "being looked through"


async def gently(function: Callable[[], T], name: str) -> T:
    """The function's result, from a thread of low priority that nobody waits for at the end."""

    def run() -> T:
        thread = threading.get_native_id()
        with suppress(PermissionError):  # a service may be forbidden to change any priority
            os.setpriority(os.PRIO_PROCESS, thread, max(NICE, os.getpriority(os.PRIO_PROCESS, thread)))
        return function()

    return await in_thread(run, name, lambda: None)


class Keeper:
    """The background work on one index. `updated` is called in the loop after each change of it."""

    def __init__(
        self,
        database: Database,
        roots: tuple[Path, ...],
        limits: Limits,
        state: Path,
        rescan: float = 3600.0,
        check: float = CHECK_SECONDS,
        updated: Callable[[], None] = lambda: None,
    ) -> None:
        self._database, self._limits, self._state = database, limits, state
        self._rescan, self._check, self._updated = rescan, check, updated
        self.roots = {path: Root(path) for path in roots}
        self.counts = Counts()
        self._more = asyncio.Event()  # there may be files that wait
        self._child = Child()
        self._told = 0.0

    async def run(self) -> None:
        """Until cancelled."""
        loop = asyncio.get_running_loop()

        def changed(path: Path, folder: str, deep: bool) -> None:
            root = self.roots[path]
            if deep <= root.changed.get(folder, -1):  # it will be listed, and that begins after now
                return
            with suppress(RuntimeError):  # the loop was closed meanwhile
                loop.call_soon_threadsafe(self._changed, root, folder, deep)

        watch = Watch(changed)
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._read_on())
                for root in self.roots.values():
                    group.create_task(self._keep(root, watch))
        finally:
            self._child.stop()
            await gently(watch.close, "closing the watch")

    def report(self) -> Mapping[str, object]:
        """The section `files` of the status."""
        return {
            "folders": {shown(str(root.path)): root.state() for root in self.roots.values()},
            "files": self.counts.files,
            "read": self.counts.read,
            "waiting": self.counts.waiting,
            "left_out": dict(self._left_out().most_common()),
        }

    def usable(self) -> list[Path]:
        """The folders whose files can be found now."""
        return [root.path for root in self.roots.values() if not root.problem]

    def unfinished(self) -> str:
        """Why something may be there that is not found: one sentence, empty when all was looked at."""
        for root in self.roots.values():
            if root.problem:
                return f"the folder {shown(str(root.path))} cannot be searched: {root.problem}."
        for root in self.roots.values():
            if root.unkept:
                return f"the index of files cannot be kept: {root.unkept}."
        if not all(root.complete for root in self.roots.values()):
            return f"the folders are still being looked through ({self.counts.files:,} files so far)."
        if self.counts.waiting:
            return f"{self.counts.waiting:,} of {self.counts.files:,} files have yet to be read."
        left_out = self._left_out()
        for reason in (UNSEEN, TOO_DEEP, CROWDED):
            if count := left_out[reason]:
                return f"{count:,} parts of the folders were not looked at ({reason})."
        for reason in (BEYOND, index.FULL):
            if count := left_out[reason]:
                return f"{count:,} files are left out of the index ({reason})."
        return ""

    def _left_out(self) -> Counter[str]:
        """How many entries are not in the index, or by name only, for which reason."""
        left_out: Counter[str] = Counter(dict(self.counts.problems))
        for root in self.roots.values():
            for counted in root.left_out.values():
                left_out.update(counted)
        return left_out

    def _changed(self, root: Root, folder: str, deep: bool) -> None:
        root.changed[folder] = root.changed.get(folder, False) or deep
        root.woken.set()

    async def _keep(self, root: Root, watch: Watch) -> None:
        while True:
            root.woken.clear()
            try:
                await self._look(root, watch)
                root.unkept = ""
            except StoreError as error:
                self._not_kept(root, error)
            except OSError as error:
                await self._lost(root, watch, error)
            with suppress(TimeoutError):
                async with asyncio.timeout(self._check):  # unlike `wait_for` it loses no cancel
                    await root.woken.wait()
                await asyncio.sleep(GATHER_SECONDS)

    async def _look(self, root: Root, watch: Watch) -> None:
        """List what has to be listed. Raises `OSError` when the folder is not there or cannot be listed."""
        now = await self._identity(root)
        loop = asyncio.get_running_loop()
        if now != root.identity or loop.time() >= root.rescan_at:
            root.unwatched = await gently(lambda: watch.begin(root.path), "watching")
            root.changed.clear()
            await self._enter(root, now)
            root.known.clear()
            await self._list(root, {"": True})
            for folder in root.left_out.keys() - root.known:
                del root.left_out[folder]
            root.identity, root.rescan_at = now, loop.time() + self._rescan
            if not root.complete:
                log.info("Looked through a folder of files; the index has %d files.", self.counts.files)
            root.complete = True
            self._updated()
        elif root.changed:
            changed, root.changed = root.changed, {}
            await self._list(root, changed)
        elif loop.time() >= root.again_at and (unseen := root.unseen()):
            root.again_at = loop.time() + AGAIN_SECONDS
            await self._list(root, dict.fromkeys(unseen, True))
            if not unseen <= root.unseen():
                root.rescan_at = 0.0  # what can be looked at again is watched from the next look on

    async def _enter(self, root: Root, now: tuple[int, int]) -> None:
        """Make sure that this is the folder and not the place where its disk is to be mounted."""
        listing = await gently(lambda: list_below(root.path, ""), "listing")
        before, count = await self._database.read(lambda c: index.identity_of(c, root.path))
        if not (listing.files or listing.folders) and count and before not in (None, now):
            raise OSError(f"it is empty, where {count:,} files were; its disk may not be mounted")
        await self._database.write(lambda c: index.note_identity(c, root.path, now))
        root.problem = ""

    async def _identity(self, root: Root) -> tuple[int, int]:
        """Which folder is there; asked once at a time, since a dead disk never answers."""
        if root.look is None:
            root.look = asyncio.create_task(gently(lambda: identity(root.path), "looking"))
        await asyncio.wait({root.look}, timeout=ANSWER_SECONDS)
        if not root.look.done():
            raise OSError("its disk does not answer")
        look, root.look = root.look, None
        if (found := look.result()) is None:
            raise OSError("it is not there")
        return found

    def _not_kept(self, root: Root, error: StoreError) -> None:
        """What the index already has can still be found."""
        problem = str(error).rstrip(".")
        if root.unkept != problem:
            log.warning("The index of files cannot be kept: %s.", problem)
        root.unkept, root.identity, root.complete = problem, None, False
        self._updated()

    async def _lost(self, root: Root, watch: Watch, error: OSError) -> None:
        problem = error.strerror or str(error)
        if root.problem != problem:
            log.warning("The files of %s cannot be found: %s.", root.path, problem)
            await gently(lambda: watch.end(root.path), "ending the watch")
        root.problem, root.identity, root.complete = problem, None, False
        self._updated()

    async def _list(self, root: Root, folders: Mapping[str, bool]) -> None:
        """Bring the index up to these folders, and all that is below those that are new or `True`."""
        pending = list(folders.items())
        while pending:
            batch = await gently(lambda: _survey(root, pending, identity(self._state)), "listing")
            await self._record(root, batch)
            self._progress("Looking through folders")
            self._more.set()

    async def _record(self, root: Root, batch: dict[str, Listing | None]) -> None:
        def record(connection: index.Connection) -> Counts:
            for folder, listing in batch.items():
                if listing is None:
                    index.forget(connection, root.path, folder)
                elif listing.whole and (
                    refused := index.record(connection, root.path, folder, listing, self._limits)
                ):
                    listing.left_out[BEYOND] += refused
            return index.counts(connection)

        self.counts = await self._database.write(record)
        for folder, listing in batch.items():
            if listing is None:
                gone = {each for each in root.known if f"{each}/".startswith(f"{folder}/")}
                root.known -= gone
                for each in gone:
                    root.left_out.pop(each, None)
            else:
                root.known.add(folder)
                root.left_out[folder] = listing.left_out
        self._updated()

    async def _read_on(self) -> None:
        """Read what waits, whenever something does."""
        prepared = False
        while True:
            self._more.clear()
            again = None
            try:
                if not prepared:
                    await self._database.write(self._prepare)
                    prepared = True
                while jobs := await self._database.read(
                    lambda c: index.waiting(c, self.usable(), READ_BATCH)
                ):
                    await self._read(jobs)
            except StoreError as error:  # told again by every folder and every search
                log.debug("Files are not read: %s", error)
                again = self._check
            await gently(self._child.rest, "ending the reader")
            with suppress(TimeoutError):
                async with asyncio.timeout(again):
                    await self._more.wait()

    def _prepare(self, connection: index.Connection) -> None:
        index.keep_roots(connection, self.roots.keys())
        index.retry(connection, self._limits)

    async def _read(self, jobs: list[Job]) -> None:
        done = [
            (job, await gently(lambda job=job: self._extract(job), "reading a file"))  # type: ignore[misc]
            for job in jobs
        ]

        def keep(connection: index.Connection) -> Counts:
            room = index.room(connection, self._limits)
            for job, read in done:
                if read is None:
                    index.drop(connection, job)
                else:
                    room -= index.store(connection, job, *read, room)
            return index.counts(connection)

        self.counts = await self._database.write(keep)
        self._progress("Reading files")
        if not self.counts.waiting:
            log.info("All files are read: %d, of %d in the index.", self.counts.read, self.counts.files)
        self._updated()

    def _extract(self, job: Job) -> tuple[Stamp, Extract] | None:
        """What the file holds, with the stamp it had when it was opened; None when it is gone."""
        try:
            file = open_below(job.root, job.path)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            return job.stamp, Extract(problem=f"it cannot be opened ({error.strerror})")
        with file:
            stamp = Stamp.of(os.fstat(file.fileno()))
            if stamp.size > self._limits.largest:
                return stamp, Extract(problem=index.TOO_LARGE)
            return stamp, self._child.read(file, job.kind)

    def _progress(self, what: str) -> None:
        now = asyncio.get_running_loop().time()
        if now - self._told >= PROGRESS_SECONDS:
            self._told = now
            log.info(
                "%s: %d files, %d read, %d wait.",
                *(what, self.counts.files, self.counts.read, self.counts.waiting),
            )


def _survey(
    root: Root, pending: list[tuple[str, bool]], forbidden: tuple[int, int] | None
) -> dict[str, Listing | None]:
    """List some of the pending folders, and put those found below them there. None for one that is gone."""
    batch: dict[str, Listing | None] = {}
    size = 0
    while pending and size < BATCH:
        folder, deep = pending.pop()
        try:
            listing = list_below(root.path, folder, forbidden)
        except OSError as error:
            if not folder:
                raise
            log.debug("A folder is left out: %s", error)
            gone = error.errno in GONE
            batch[folder] = None if gone else Listing(left_out=Counter({UNSEEN: 1}), whole=False)
            continue
        batch[folder] = listing
        size += len(listing.files) + 1
        for name in listing.folders:
            below = f"{folder}/{name}" if folder else name
            if below.count("/") >= DEPTH_LIMIT:
                listing.left_out[TOO_DEEP] += 1
            elif deep or below not in root.known:
                pending.append((below, True))
    return batch

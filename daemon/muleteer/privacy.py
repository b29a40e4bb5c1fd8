"""What must not leave this device: turns of private skills, and the conversations that they are part of.

Knows digests of what was said, never the words, and the file that keeps them, with one beside it that tells
whether everything is in it; and whether the work at hand is done for a brain elsewhere. If not everything
is, all that was said before counts as private. Which skill is private is the catalogue's business. A note
that a private skill kept in the notebook is a note like any other.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import logging
import os
import re
from collections.abc import Sequence
from contextvars import ContextVar
from itertools import pairwise
from pathlib import Path

from muleteer.durable import write_durably
from muleteer.engine.protocol import Message
from muleteer.files import open_regular, read_whole
from muleteer.services import Memory, PastTurn
from muleteer.session import LOOKED_UP

log = logging.getLogger(__name__)

leaving: ContextVar[bool] = ContextVar("leaving", default=False)
"""Whether what is found out now is shown to a brain elsewhere."""

MOST = 65_536  # digests, three a turn: more private turns than the memory keeps of all turns
LARGEST_FILE = 4 << 20  # bytes; twice as many digests as are kept, with some room
SHORTEST = 16  # characters of a text that is known by itself; "thanks" is said everywhere
RETRY_SECONDS = 30.0  # until what could not be kept is tried again; somebody makes room on the disk
KEPT, LOST = b"k", b"l"  # in the file beside it: one byte, which also a full disk changes
SIZE = 12  # bytes of a digest: two texts of a household never share one
FORM = re.compile(r"[0-9a-f]{24}")


class Privacy:
    """`path` is the file that keeps what is private over a restart; None for none."""

    def __init__(self, path: Path | None = None) -> None:
        self._file = _File(path) if path else None
        self._known: dict[str, None] = {}
        self._lost = False
        self._harmless: dict[str, None] = {}  # what was said since then and is not private
        self._writing = asyncio.Lock()
        self._retrying: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Read what is known; if that is not all, everything that was said before is private."""
        if self._file is None:
            return
        known, why = await asyncio.to_thread(self._file.read)
        self._known, self._lost = dict.fromkeys(known[-MOST:]), bool(why)
        if why:
            log.error(
                "What was private before is not known (%s), so no earlier conversation goes to a brain "
                "elsewhere; if none of them was private, stop Muleteer and remove %s and %s.",
                *(why, self._file.path, self._file.marker),
            )
        await self._keep(())

    async def close(self) -> None:
        """Try no more to write what could not be written."""
        if self._retrying:
            self._retrying.cancel()
            await asyncio.wait({self._retrying})

    async def note(self, session: str, message: str, answer: str) -> None:
        """This turn is private, and so is what follows it in its session, or to one that knows its words."""
        new = {_digest("session", session): None} if session else {}
        new[_digest("pair", message, answer)] = None
        new |= {_digest("text", text): None for text in (message, answer) if len(text) >= SHORTEST}
        added = [digest for digest in new if digest not in self._known]
        self._known |= new
        while len(self._known) > MOST:
            del self._known[next(iter(self._known))]
        if added:
            await self._keep(added)

    def passed(self, message: str, answer: str) -> None:
        """This turn is not private. Needs to be known only where what was before is not."""
        if self._lost:
            self._harmless |= {_digest("text", text): None for text in (message, answer)}
            while len(self._harmless) > MOST:
                del self._harmless[next(iter(self._harmless))]

    def concerns(self, session: str, history: Sequence[Message]) -> bool:
        """Whether a conversation has anything in it that is private, or may have."""
        if session and _digest("session", session) in self._known:
            return True
        if self._lost and any(
            each.content != LOOKED_UP and _digest("text", each.content) not in self._harmless
            for each in history
        ):
            return True
        pairs = pairwise(history)
        return any(_digest("text", each.content) in self._known for each in history) or any(
            _digest("pair", one.content, two.content) in self._known for one, two in pairs
        )

    async def _keep(self, added: Sequence[str]) -> None:
        if self._file is None:
            return
        async with self._writing:
            failed_before = self._file.behind
            try:
                await asyncio.to_thread(
                    self._file.write, added, list(self._known), LOST if self._lost else KEPT
                )
            except OSError as error:
                if not failed_before:
                    log.error(
                        "What is private cannot be kept in %s (%s); it is tried again.",
                        *(self._file.path, error.strerror),
                    )
                if self._retrying is None or self._retrying.done():
                    self._retrying = asyncio.create_task(
                        self._keep_later(), name="keeping of what is private"
                    )

    async def _keep_later(self) -> None:
        while self._file and self._file.behind:
            await asyncio.sleep(RETRY_SECONDS)
            await self._keep(())

    def holds(self, turn: PastTurn) -> bool:
        """Whether a past turn is private."""
        said = (Message("user", turn.message), Message("assistant", turn.answer))
        return self.concerns(turn.session, said)


class HomeMemory:
    """Past turns (`services.Memory`), of which a brain elsewhere is shown none that is private."""

    def __init__(self, memory: Memory, privacy: Privacy) -> None:
        self._memory, self._privacy = memory, privacy

    async def search(self, query: str, limit: int = 8, when: str = "") -> list[PastTurn]:
        found = await self._memory.search(query, limit, when)
        return [turn for turn in found if not (leaving.get() and self._privacy.holds(turn))]


def _digest(*parts: str) -> str:
    """Of texts whose ends do not matter; a text that was cut has the digest of another one."""
    digest = hashlib.blake2b(digest_size=SIZE)
    for part in parts:
        digest.update(" ".join(part.split()).encode(errors="replace"))
        digest.update(b"\0")
    return digest.hexdigest()


class _File:
    """The digests, one a line, and `marker` beside them. `behind`: not everything is on disk."""

    def __init__(self, path: Path) -> None:
        self.path, self.marker = path, path.with_name(f"{path.name}-kept")
        self.behind = False
        self._marked = b""

    def read(self) -> tuple[list[str], str]:
        """What is in it, and why that may not be all: a clause, empty if it is."""
        try:
            self._marked = _content(self.marker, len(KEPT))
            why = "" if self._marked == KEPT else "it could not be kept, or was lost once"
            missing = f"{self.path} is gone"
        except FileNotFoundError:
            why = missing = ""  # of an older version, or the first start
        except OSError as error:
            why = missing = f"{self.marker}: {error.strerror}"
        try:
            lines = _content(self.path, LARGEST_FILE).decode("ascii", "replace").split("\n")
        except FileNotFoundError:
            self.behind = True
            return [], why or missing
        except OSError as error:
            return [], f"{self.path}: {error.strerror}"
        known = [line for line in lines if FORM.fullmatch(line)]
        self.behind = bool(why) or [*known, ""] != lines
        return known, f"{self.path} is damaged" if [*known, ""] != lines else why

    def write(self, new: Sequence[str], known: Sequence[str], mark: bytes) -> None:
        """Append; from time to time what is forgotten goes. On disk when this returns. Raises `OSError`."""
        behind, self.behind = self.behind, True
        try:
            if behind or new:
                _add(self.path, new, known, whole=behind)
            self._mark(mark)
        except OSError:
            with contextlib.suppress(OSError):
                self._mark(LOST)
            raise
        self.behind = False

    def _mark(self, mark: bytes) -> None:
        if mark == self._marked:
            return
        if not self._marked:
            write_durably(self.marker, mark)
        else:  # in its place, which needs no room
            with open(os.open(self.marker, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "wb") as file:
                file.write(mark)
                file.flush()
                os.fsync(file.fileno())
        self._marked = mark


def _content(path: Path, limit: int) -> bytes:
    with open_regular(path) as file:
        return read_whole(file, limit)


def _add(path: Path, new: Sequence[str], known: Sequence[str], whole: bool) -> None:
    lines = "".join(f"{digest}\n" for digest in new).encode()
    try:
        size = path.stat().st_size
    except FileNotFoundError:
        size = LARGEST_FILE
    if whole or size + len(lines) > LARGEST_FILE // 2:
        write_durably(path, "".join(f"{digest}\n" for digest in known).encode())
        return
    with open(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC), "ab") as file:
        file.write(lines)
        file.flush()
        os.fsync(file.fileno())

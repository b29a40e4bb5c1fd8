"""What must not leave this device: turns of private skills, and the conversations that they are part of.

Knows digests of what was said, never the words, and the file that keeps them; and whether the work at hand
is done for a brain elsewhere. Which skill is private is the catalogue's business. A note that a private skill
kept in the notebook is a note like any other.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
from collections.abc import Sequence
from contextvars import ContextVar
from itertools import pairwise
from pathlib import Path

from muleteer.durable import write_durably
from muleteer.engine.protocol import Message
from muleteer.files import open_regular, read_whole
from muleteer.services import Memory, PastTurn

log = logging.getLogger(__name__)

leaving: ContextVar[bool] = ContextVar("leaving", default=False)
"""Whether what is found out now is shown to a brain elsewhere."""

MOST = 65_536  # digests, three a turn: more private turns than the memory keeps of all turns
LARGEST_FILE = 4 << 20  # bytes; twice as many digests as are kept, with some room
SHORTEST = 16  # characters of a text that is known by itself; "thanks" is said everywhere
SIZE = 12  # bytes of a digest: two texts of a household never share one


class Privacy:
    """`path` is the file that keeps what is private over a restart; None for none."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._known: dict[str, None] = {}
        self._writing = asyncio.Lock()

    async def open(self) -> None:
        """Read what is known; a file that cannot be read is told, and everything in it is not known."""
        if self._path is None:
            return
        try:
            text = await asyncio.to_thread(_read, self._path)
        except FileNotFoundError:
            return
        except (OSError, ValueError) as error:
            log.error("What was private before cannot be read from %s: %s", self._path, error)
            return
        self._known = dict.fromkeys(text.split()[-MOST:])

    async def note(self, session: str, message: str, answer: str) -> None:
        """This turn is private, and so is what follows it in its session, or to one that knows its words."""
        new = {_digest("session", session): None} if session else {}
        new[_digest("pair", message, answer)] = None
        new |= {_digest("text", text): None for text in (message, answer) if len(text) >= SHORTEST}
        async with self._writing:
            added = [digest for digest in new if digest not in self._known]
            self._known |= new
            while len(self._known) > MOST:
                del self._known[next(iter(self._known))]
            if self._path and added:
                try:
                    await asyncio.to_thread(_add, self._path, added, list(self._known))
                except OSError as error:
                    log.error("What is private is not kept in %s: %s", self._path, error.strerror)

    def concerns(self, session: str, history: Sequence[Message]) -> bool:
        """Whether a conversation has anything in it that is private."""
        if session and _digest("session", session) in self._known:
            return True
        pairs = pairwise(history)
        return any(_digest("text", each.content) in self._known for each in history) or any(
            _digest("pair", one.content, two.content) in self._known for one, two in pairs
        )

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


def _read(path: Path) -> str:
    with open_regular(path) as file:
        return read_whole(file, LARGEST_FILE).decode("ascii")


def _add(path: Path, new: Sequence[str], known: Sequence[str]) -> None:
    """Append; from time to time what is forgotten goes. On disk when this returns."""
    lines = "".join(f"{digest}\n" for digest in new).encode()
    try:
        size = path.stat().st_size
    except FileNotFoundError:
        size = LARGEST_FILE
    if size + len(lines) > LARGEST_FILE // 2:
        write_durably(path, "".join(f"{digest}\n" for digest in known).encode())
        return
    with open(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC), "ab") as file:
        file.write(lines)
        file.flush()
        os.fsync(file.fileno())

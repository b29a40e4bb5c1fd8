"""What speaks for a handle beside the model: that a file of the household holds the very words of a question.

Knows the words of menus, and a search for files that it is lent; nothing of folders and of what is in them.
It takes nothing away: a handle that reads files becomes likelier, and what is surely for another one stays.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import lru_cache
from typing import Protocol, cast

from muleteer.harness.moods import asks
from muleteer.harness.shortlist import words
from muleteer.services import Absent, FoundFile, Naming, Services
from muleteer.skills import Catalogue, MenuLine
from muleteer.store.matching import keywords

# The tool that a handle must lead to, to answer from a file.
READER = "read_file"

# Words of a question that one file must hold; of fewer one must be in its name.
HELD = 2

Find = Callable[[str, int], Awaitable[Sequence[FoundFile]]]
Names = Callable[[], Sequence[str]]


class Evidence(Protocol):
    async def handles(self, message: str, catalogue: Catalogue) -> tuple[str, ...]:
        """The handles that what is kept here speaks for."""
        ...


class NoEvidence:
    """Where nothing is kept."""

    async def handles(self, message: str, catalogue: Catalogue) -> tuple[str, ...]:
        return ()


class FileEvidence:
    """`find` looks through the files, best first; `names` are what switches and sensors are called, which are
    asked about more often than read about."""

    def __init__(self, find: Find, names: Names = tuple) -> None:
        self._find, self._names = find, names

    async def handles(self, message: str, catalogue: Catalogue) -> tuple[str, ...]:
        """Those that read files, where one holds words of a question that no other handle has to do with."""
        if not asks(message):
            return ()
        menu = catalogue.menu()
        readers = tuple(line.handle for line in menu if _reads(line.handle, catalogue))
        said = keywords(message)
        known = _spoken(tuple(line for line in menu if line.handle not in readers))
        known |= frozenset(word for name in self._names() for word in words(name))
        rare = [word for word in said if not known.intersection(words(word))]
        if not readers or not rare or not await self._hold(rare, said):
            return ()
        return readers

    async def _hold(self, rare: Sequence[str], said: Sequence[str]) -> bool:
        """Whether a file holds one of the rare words, and is about the question."""
        try:
            best = next(iter(await self._find(" ".join(rare), 1)), None)
            if best is None or best.named or best.match * len(rare) >= HELD:
                return best is not None
            best = next(iter(await self._find(" ".join(said), 1)), None)
        except OSError:  # no folders, or not looked through: nothing is known
            return False
        return best is not None and best.match * len(said) >= HELD


def things(services: Services) -> tuple[str, ...]:
    """What switches and sensors are called."""
    serial = cast(Naming | Absent, services.serial)
    if isinstance(serial, Absent):
        return ()
    return tuple(name for kind in ("switches", "readings") for name in serial.names(kind))


def _reads(handle: str, catalogue: Catalogue) -> bool:
    return any(tool.name == READER for tool in catalogue.expand([handle]))


@lru_cache(maxsize=8)  # menus: one in use, and one for each guest
def _spoken(menu: tuple[MenuLine, ...]) -> frozenset[str]:
    """The words of what these handles are for."""
    return frozenset(
        word
        for line in menu
        for word in words(" ".join((line.handle, line.description, *line.examples, line.words)))
    )

"""The growing `<file>.part` of a model that is being fetched.

Knows bytes, their running digest and the note beside them; not where they come from. The file gets its final
name only by `keep`, which its caller asks for after the digest matched.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

HASH_CHUNK = 1024 * 1024
"""Bytes read at once while hashing: large enough to be fast, small enough to show progress."""


class SourceError(Exception):
    """A source cannot give the model now; `str(error)` is what follows the source's name in a sentence."""


class Partial:
    """The `.part` file: an unverified beginning of the model, its running digest, and a note beside it.

    The note (`.part.json`) says which source wrote it: an ETag, or where each joined package ends (bytes).
    """

    def __init__(self, target: Path, size: int) -> None:
        self.path = target.with_name(target.name + ".part")
        self.size = size
        self.resumed = False
        self._note = target.with_name(target.name + ".part.json")
        self._file = self.path.open("r+b" if self.path.exists() else "w+b")
        self._digest = hashlib.sha256()
        self.length = 0
        self.cut(self.path.stat().st_size)
        self.resumed = self.length > 0

    def cut(self, length: int) -> None:
        """Keeps the first `length` bytes; more than the model has are worth nothing."""
        keep = min(length, self.path.stat().st_size)
        self.length = keep if keep <= self.size else 0
        self._file.truncate(self.length)
        self._file.seek(0)
        self._digest = hashlib.sha256()
        while chunk := self._file.read(HASH_CHUNK):
            self._digest.update(chunk)
        self.resumed = self.resumed and self.length > 0

    def append(self, chunk: bytes) -> None:
        """Raises `SourceError` instead of growing past the size of the model."""
        if self.length + len(chunk) > self.size:
            raise SourceError(f"gives more than {self.size:,} bytes")
        self._file.write(chunk)
        self._digest.update(chunk)
        self.length += len(chunk)

    def note(self) -> dict[str, object]:
        """What was kept by `remember`; empty when there is nothing or it is unreadable."""
        try:
            found = json.loads(self._note.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def remember(self, **facts: object) -> None:
        """Keeps facts about the bytes so far, for a pull that resumes."""
        self._file.flush()
        self._note.write_text(json.dumps(facts), encoding="utf-8")

    def digest(self) -> str:
        """SHA-256 of all bytes so far, in hex."""
        return self._digest.hexdigest()

    def keep(self, target: Path) -> None:
        """Gives the file its final name, durably."""
        self._file.flush()
        os.fsync(self._file.fileno())
        self.path.replace(target)
        self._note.unlink(missing_ok=True)
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def drop(self) -> None:
        """Deletes what is here."""
        self._note.unlink(missing_ok=True)
        self.cut(0)

    def close(self) -> None:
        """Leaves the file for a later pull, or nothing where there is nothing worth it."""
        self._file.close()
        if not self.length:
            self.path.unlink(missing_ok=True)
            self._note.unlink(missing_ok=True)

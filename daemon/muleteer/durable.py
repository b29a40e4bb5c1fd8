"""Writing a small file whole or not at all, whatever ends the process or the power.

Knows temporary files, renaming and what must be flushed; knows nothing of what is written.
"""

from __future__ import annotations

import os
from pathlib import Path


def write_durably(path: Path, content: bytes, mode: int = 0o600) -> None:
    """Replace the file at `path`. On disk when this returns. Raises `OSError`; the old file is left then."""
    draft = path.with_name(f".{path.name}.new")
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        with open(os.open(draft, flags, mode), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)  # the new name is on disk, too
    finally:
        os.close(folder)

"""The journal of a run: one JSON line an attempt, so that a run that was killed goes on where it was.

Its name holds a digest of everything that the results hang on (model, battery, program, prompts), so that
results of different ones can never meet in a file. Knows files; nothing of engines.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from muleteer import paths
from muleteer.errors import ConfigError
from muleteer.evaluate.batteries.battery import Tried

DIGEST_CHARACTERS = 16  # 64 bits: a folder never holds so many runs that two would meet
WORDS = ("harness", "engine")  # folders of the package whose code and prompts decide what comes out


class Journal:
    """What was tried so far, by case and side. `conditions` say under which circumstances; they are written
    in the first line."""

    def __init__(self, folder: Path, name: str, conditions: Mapping[str, object]) -> None:
        text = json.dumps(conditions, sort_keys=True)
        self.file = folder / f"{name}-{hashlib.sha256(text.encode()).hexdigest()[:DIGEST_CHARACTERS]}.jsonl"
        self.known: dict[tuple[str, str], Tried] = {}
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if self.file.exists():
                self._read()
            else:
                self.file.write_text(f"{text}\n", encoding="utf-8")
        except OSError as error:
            raise ConfigError(f"The journal {self.file} cannot be kept: {error.strerror}.") from error

    def add(self, tried: Tried) -> None:
        """Write an attempt down before it counts."""
        line = json.dumps(tried.as_dict(), ensure_ascii=False)
        try:
            with self.file.open("a", encoding="utf-8") as file:
                file.write(f"{line}\n")
        except OSError as error:
            raise ConfigError(f"The journal {self.file} cannot be kept: {error.strerror}.") from error
        self.known[tried.case, tried.side] = tried

    def _read(self) -> None:
        """Everything that was written whole. What a kill left half written is cut off, so that the next line
        begins a line."""
        text = self.file.read_text(encoding="utf-8", errors="replace")
        whole = text[: text.rfind("\n") + 1]
        if whole != text:
            self.file.write_text(whole, encoding="utf-8")
        for line in whole.splitlines()[1:]:
            tried = Tried.read(json.loads(line))
            self.known[tried.case, tried.side] = tried


def digest_of(parts: Iterable[bytes | str]) -> str:
    """One digest of several texts, in their order."""
    whole = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        whole.update(len(data).to_bytes(8, "big") + data)
    return whole.hexdigest()[:DIGEST_CHARACTERS]


def program_digest() -> str:
    """Of the harness, the engine, every prompt, and the shipped skills and tools: results of one state of
    them say nothing about another."""
    package = Path(__file__).resolve().parents[2]
    roots = [*(package / word for word in WORDS), paths.share_dir() / "skills", paths.share_dir() / "tools"]
    files = sorted(
        file for root in roots for file in root.rglob("*") if file.suffix in (".py", ".txt", ".md")
    )
    return digest_of(part for file in files for part in (file.name, file.read_bytes()))


def file_digest(file: Path) -> str:
    """SHA-256 of a model's file, as its catalogue entry has it."""
    with file.open("rb") as data:
        return hashlib.file_digest(data, "sha256").hexdigest()

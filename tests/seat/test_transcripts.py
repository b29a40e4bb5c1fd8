"""Each rule that the election relies on, as a transcript of one device; their sources stand in the files."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.seat.replaying import answered

FOLDER = Path(__file__).parent / "transcripts"


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.txt")), ids=lambda path: path.stem)
def test_the_device_does_what_the_transcript_says(path: Path) -> None:
    transcript = path.read_text()
    assert answered(transcript) == transcript


def test_there_are_transcripts() -> None:
    assert len(list(FOLDER.glob("*.txt"))) >= 16

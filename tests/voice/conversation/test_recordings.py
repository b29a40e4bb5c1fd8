"""What is kept of what was said, where that is wished."""

from __future__ import annotations

import wave
from pathlib import Path

import pytest

from muleteer.voice.conversation import recordings
from muleteer.voice.conversation.recordings import Recordings
from muleteer.voice.parts import FRAME_BYTES, RATE


async def test_an_utterance_is_a_wav_that_only_this_user_reads(tmp_path: Path) -> None:
    kept = Recordings(tmp_path / "recordings")
    kept.keep(b"\1\2" * FRAME_BYTES)
    kept.keep(b"")
    await kept.close()
    (file,) = (tmp_path / "recordings").iterdir()
    assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    with wave.open(str(file)) as read:
        assert (read.getframerate(), read.getnchannels()) == (RATE, 1)
        assert read.readframes(read.getnframes()) == b"\1\2" * FRAME_BYTES


async def test_the_oldest_make_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recordings, "MOST_KEPT", 3)
    kept = Recordings(tmp_path)
    for mark in range(5):
        kept.keep(bytes([mark]) * FRAME_BYTES)
        await kept.close()
    assert sorted(_last(tmp_path)) == [2, 3, 4]


async def test_a_full_disk_ends_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").touch()
    kept = Recordings(tmp_path / "file")
    kept.keep(b"\0" * FRAME_BYTES)
    await kept.close()
    assert "could not be kept" in caplog.text


def _last(folder: Path) -> list[int]:
    """The last byte of each that is kept."""
    return [file.read_bytes()[-1] for file in folder.glob("*.wav")]

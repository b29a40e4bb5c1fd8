"""What the doctor says of the voice process."""

from __future__ import annotations

from pathlib import Path

import pytest

from muleteer.doctor import voice
from tests.cli.scripted_daemon import listening, obj

REPORT = {"muted": False, "microphone": "good", "wake_word": "okay_nabu", "language": "en"}


@pytest.mark.parametrize(
    ("changed", "verdict", "said"),
    [
        ({}, "good", "for okay_nabu, in en"),
        ({"muted": True, "microphone": "gone"}, "doubtful", "muted"),
        ({"microphone": "The microphone is gone"}, "bad", "The microphone is gone"),
    ],
)
def test_who_does_not_hear_is_told_what_to_do(
    tmp_path: Path, changed: dict[str, object], verdict: str, said: str
) -> None:
    with listening(tmp_path / "c") as process:
        process.replies["/v1/voice"] = obj(REPORT | changed)
        (found,) = voice.checks(process.socket)
    assert (found.verdict, said in found.said, bool(found.advice)) == (verdict, True, verdict != "good")


def test_where_no_voice_runs_nothing_is_said_and_a_dead_one_is_bad(tmp_path: Path) -> None:
    assert not list(voice.checks(tmp_path / "c"))
    (tmp_path / "c").touch()
    (found,) = voice.checks(tmp_path / "c")
    assert found.verdict == "bad"

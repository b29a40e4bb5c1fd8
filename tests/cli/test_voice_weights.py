"""`muleteer voice pull`, where nothing has to be fetched."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from muleteer.cli.voice_weights import pull
from muleteer.voice.recognition import weights


@pytest.fixture(autouse=True)
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of models with tiny.en in it, as far as sizes tell."""
    monkeypatch.setenv("MULETEER_MODELS", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("MULETEER_CONFIG", raising=False)
    tiny = weights.find("tiny.en")
    folder = tiny.folder(tmp_path)
    folder.mkdir(parents=True)
    for file in tiny.files:
        with (folder / file.name).open("wb") as empty:
            empty.truncate(file.size)
    return tmp_path


def test_a_model_that_is_here_is_not_fetched_again(models: Path) -> None:
    told = CliRunner().invoke(pull, ["tiny.en"])
    assert (told.exit_code, told.output) == (0, f"Already here: {models}/voice/tiny.en\n")


def test_without_a_name_it_is_the_one_of_the_settings(models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MULETEER_VOICE__WEIGHTS", "tiny.en")
    assert "Already here" in CliRunner().invoke(pull, []).output


def test_a_name_that_is_none_is_a_mistake_in_the_command() -> None:
    told = CliRunner().invoke(pull, ["huge"])
    assert told.exit_code == 2
    assert "there are base, tiny.en" in told.output

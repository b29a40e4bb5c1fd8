"""Forgetting what was said asks the engine where one serves, and sweeps its folder where none does."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from muleteer.engine.states import StateFiles
from muleteer.engine.talks import forget_talks
from muleteer.errors import StorageError
from tests.engine.observing import READY_S, runner
from tests.engine.scripted_worker import prompt


async def test_an_engine_that_serves_is_asked(tmp_path: Path) -> None:
    async with runner(tmp_path)() as engine:
        await engine.ready(READY_S)
        await engine.warm(prompt(""))
        assert engine.status().held.resident_tokens == 2
        await forget_talks(engine, tmp_path)
        assert engine.status().held.resident_tokens == 0


async def test_without_a_process_the_folder_is_swept_and_no_model_is_loaded(tmp_path: Path) -> None:
    folder = tmp_path / "prefixes"
    with closing(StateFiles(folder, b"m" * 32, 2**20, talks=True)) as files:
        files.save([1, 2], b"said", constant=False)
    assert len(list(folder.iterdir())) == 1
    async with runner(tmp_path)() as engine:
        await engine.ready(READY_S)
        await engine.stop()
        await forget_talks(engine, folder)
        assert engine.status().state == "stopped"
        assert list(folder.iterdir()) == []
        (folder / "x.state").mkdir()
        with pytest.raises(StorageError, match=r"not every saved conversation in .* could be removed"):
            await forget_talks(engine, folder)

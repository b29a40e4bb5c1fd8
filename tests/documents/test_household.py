"""The household opens the files where folders are set up, lends them to tools, and closes them."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path

import psutil
import pytest

from muleteer.closing import Closing
from muleteer.config import Settings
from muleteer.household import open_household
from muleteer.services import NO_FOLDERS
from muleteer.tool import Status
from tests.documents.conftest import WAIT
from tests.tools.conftest import call, with_services


async def test_a_tool_finds_a_file_of_the_configured_folder(papers: Path, tmp_path: Path) -> None:
    (papers / "lease.txt").write_text("The rent is 840 EUR")
    closing = Closing()
    settings = Settings.model_validate({"state": tmp_path / "state", "files": {"folders": [papers]}})
    household = await open_household(settings, closing, partial(asyncio.sleep, 0))
    toolbox = with_services(household.services)
    async with asyncio.timeout(WAIT):
        while (result := await call(toolbox, "find_file", words="rent")).status is Status.UNAVAILABLE:
            assert "could not look" in result.text
    assert result.text.startswith("I found lease.txt in papers")
    assert household.sections["files"]()["files"] == 1
    await closing.close(asyncio.Event())
    assert not [each for each in psutil.Process().children() if "documents" in " ".join(each.cmdline())]


async def test_without_folders_there_are_no_files(tmp_path: Path) -> None:
    closing = Closing()
    household = await open_household(Settings(state=tmp_path / "state"), closing, partial(asyncio.sleep, 0))
    with pytest.raises(OSError, match=NO_FOLDERS.partition(";")[0]):
        await household.services.documents.find("rent")
    assert not (tmp_path / "state" / "files.db").exists()
    await closing.close(asyncio.Event())

"""A question about what stands in a file goes to what reads files, by the words that the file holds."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from muleteer.documents.service import FolderDocuments
from muleteer.evaluate.material import Material
from muleteer.harness import weighing
from muleteer.harness.evidence import FileEvidence, NoEvidence
from muleteer.harness.ledger import Ledger
from muleteer.harness.planner import Planner
from muleteer.harness.signals import PlanSignal
from muleteer.services import Absent, Documents, FoundFile
from muleteer.settings.home import FilesSettings
from muleteer.settings.sections import Budgets
from muleteer.skills import Catalogue
from tests.documents.conftest import Shelf
from tests.harness.scripted import Choose, ScriptedBrain


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Catalogue:
    return Material.shipped(tmp_path_factory.mktemp("state")).catalogue


@pytest.fixture
async def documents(tmp_path: Path) -> AsyncIterator[FolderDocuments]:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "washing-machine.txt").write_text(
        "Bora 700. The warranty runs until 3 March 2028. Error E18: the drain pump is blocked."
    )
    (folder / "gym.md").write_text("The doors close at 22:30. Membership ends in June.")
    shelf = Shelf(tmp_path / "state", FilesSettings(folders=(folder,)))
    shelf.documents.open()
    await shelf.settled()
    yield shelf.documents
    await shelf.documents.close()


QUESTIONS = (
    "What does error E18 on the washing machine mean?",
    "Until when is the warranty of the washing machine?",
    "When do the gym's doors close?",
)


@pytest.mark.parametrize("message", QUESTIONS)
async def test_the_words_of_a_file_speak_for_reading_it(
    documents: FolderDocuments, shipped: Catalogue, message: str
) -> None:
    assert await FileEvidence(documents.find).handles(message, shipped) == ("fetch-file",)


@pytest.mark.parametrize(
    "message",
    [
        "Set a timer for the washing machine for 40 minutes",  # no question
        "What is the capital of Portugal?",
        "How warm is it in the cellar?",
        "When is my next appointment?",
        "What does Portugal mean?",
    ],
)
async def test_other_messages_are_not_spoken_for(
    documents: FolderDocuments, shipped: Catalogue, message: str
) -> None:
    assert await FileEvidence(documents.find).handles(message, shipped) == ()


async def test_what_is_asked_of_a_thing_of_the_house_is_not_in_a_file(
    documents: FolderDocuments, shipped: Catalogue
) -> None:
    evidence = FileEvidence(documents.find, lambda: ("washing machine",))
    assert await evidence.handles("Is the washing machine on?", shipped) == ()
    assert await evidence.handles(QUESTIONS[0], shipped) == ("fetch-file",)


async def test_without_files_nothing_is_spoken_for(shipped: Catalogue) -> None:
    absent: Documents = Absent("no folder is set up")
    assert await FileEvidence(absent.find).handles(QUESTIONS[0], shipped) == ()
    assert await NoEvidence().handles(QUESTIONS[0], shipped) == ()


async def test_nothing_is_looked_for_where_all_words_are_other_handles(shipped: Catalogue) -> None:
    async def find(words: str, limit: int) -> list[FoundFile]:
        raise AssertionError(words)

    assert await FileEvidence(find).handles("Which timers are running?", shipped) == ()


@pytest.mark.parametrize(
    ("shares", "chosen"),
    [
        ({"device-info": 0.41, "fetch-file": 0.17, "reply": 0.42}, "fetch-file"),
        ({"device-info": 0.985, "fetch-file": 0.005, "reply": 0.01}, "device-info"),
    ],
)
async def test_evidence_wins_over_a_guess_and_not_over_what_is_sure(
    shipped: Catalogue, shares: dict[str, float], chosen: str
) -> None:
    favoured = weighing.favoured(shares, ("fetch-file",))
    assert sum(favoured.values()) == pytest.approx(1.0)
    assert max(favoured, key=lambda handle: favoured[handle]) == chosen


async def test_the_planner_heeds_it(shipped: Catalogue) -> None:
    planner = Planner(shipped.menu(), Budgets().planner_prompt * 100)
    guess = Choose({"device-info": 0.45, "fetch-file": 0.2, "reply": 0.35})
    with pytest.raises(PlanSignal) as signal:
        await planner.plan(
            ScriptedBrain(guess),
            Ledger(1_000_000, lambda event: None),
            QUESTIONS[0],
            evidence=("fetch-file",),
        )
    assert signal.value.plan.handles == ("fetch-file",)

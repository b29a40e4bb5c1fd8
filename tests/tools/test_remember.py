"""A note is acknowledged only once it is kept."""

from __future__ import annotations

import pytest

from muleteer.store.notebook import SqliteNotebook
from muleteer.tool import Result, Status
from muleteer.toolbox import Toolbox
from tests.tools.conftest import call, same_parameters
from tools.remember import NOTE_LIMIT, remember


async def test_the_schema_is_the_signature(toolbox: Toolbox) -> None:
    assert same_parameters(toolbox, remember)
    assert toolbox.tools["remember"].effect == "write"


async def test_ok_is_said_once_the_note_is_there(toolbox: Toolbox, notebook: SqliteNotebook) -> None:
    result = await call(toolbox, "remember", note="  the spare key\nis under the pot ")
    assert result == Result.ok('Noted: "the spare key is under the pot"')
    assert [note.text for note in await notebook.search("key")] == ["the spare key is under the pot"]


async def test_a_note_goes_to_the_page_that_is_named_or_mentioned(
    toolbox: Toolbox, notebook: SqliteNotebook
) -> None:
    result = await call(toolbox, "remember", note="milk for the shopping list")
    assert result == Result.ok('Noted on the page shopping: "milk"')
    assert (await call(toolbox, "remember", note="bread for the shopping trip")).text.startswith(
        "Noted on the page shopping: "
    )
    assert (await call(toolbox, "remember", note="tea")).text == 'Noted: "tea"'
    assert [(page.name, page.notes) for page in await notebook.pages()] == [("Notes", 1), ("shopping", 2)]


@pytest.mark.parametrize(
    ("said", "note", "page"),
    [
        ("Setz Eier auf die Einkaufsliste", "Eier", "Einkaufsliste"),
        ("Setz Milch und Brot auf die Einkaufsliste.", "Milch und Brot", "Einkaufsliste"),
        ("milk and bread on the shopping list", "milk and bread", "shopping"),
        ("Put milk and bread on the shopping list", "milk and bread", "shopping"),
        ("notiere Milch auf dem Einkaufszettel", "Milch", "Einkaufszettel"),
        ("add milk and 2 apples to my shopping list please", "milk and 2 apples", "shopping"),
        ("note that we need paint for the house list", "we need paint", "house"),
        ("remember to put milk on the shopping list", "milk", "shopping"),
        ("notiere Milch auf dem Zettel", "notiere Milch auf dem Zettel", "Notes"),
        ("ajoute du lait à la liste de courses", "du lait", "courses"),
        ("segna latte e uova sulla lista della spesa", "latte e uova", "spesa"),
        ("apunta pan en la lista de la compra", "pan", "compra"),
        ("mets du lait et des œufs sur la liste de courses", "du lait et des œufs", "courses"),
        ("zet melk en eieren op de boodschappenlijst", "melk en eieren", "boodschappenlijst"),
        ("põe leite e ovos na lista de compras", "leite e ovos", "compras"),
        ("alışveriş listesine süt ve yumurta ekle", "süt ve yumurta", "alışveriş"),
        ("remember that the car is on level 3", "the car is on level 3", "Notes"),
        ("Merk dir, dass der Müll dienstags kommt", "der Müll dienstags kommt", "Notes"),
        ("the note that Ben wrote is on the list", "the note that Ben wrote is on the list", "Notes"),
        ("remember", "remember", "Notes"),
    ],
)
async def test_the_order_and_the_page_are_no_part_of_the_note(
    toolbox: Toolbox, notebook: SqliteNotebook, said: str, note: str, page: str
) -> None:
    assert (await call(toolbox, "remember", note=said)).status is Status.OK
    assert [(kept.text, kept.page) for kept in await notebook.search("")] == [(note, page)]


@pytest.mark.parametrize("note", ["", " \n "])
async def test_nothing_to_note_is_an_error(toolbox: Toolbox, notebook: SqliteNotebook, note: str) -> None:
    assert (await call(toolbox, "remember", note=note)).status is Status.ERROR
    assert await notebook.search("") == []


async def test_a_long_note_is_refused_with_the_limit(toolbox: Toolbox, notebook: SqliteNotebook) -> None:
    assert (await call(toolbox, "remember", note="x" * NOTE_LIMIT)).status is Status.OK
    result = await call(toolbox, "remember", note="x" * (NOTE_LIMIT + 1))
    assert result == Result.error("The note has 1,001 characters; at most 1,000 fit. Make it shorter.")
    assert len(await notebook.search("")) == 1


@pytest.mark.usefixtures("damaged")
async def test_unavailable_says_that_nothing_was_kept(toolbox: Toolbox) -> None:
    result = await call(toolbox, "remember", note="tea")
    assert result.status is Status.UNAVAILABLE
    assert result.text.startswith("I could not write it down: ")
    assert "damaged" in result.text

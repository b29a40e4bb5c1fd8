"""Found, not there, and could not look are three different answers."""

from __future__ import annotations

import pytest

from muleteer.store.notebook import SqliteNotebook
from muleteer.tool import Notes, Result, Status
from muleteer.toolbox import Toolbox
from tests.tools.conftest import call, same_parameters
from tools.check_notebook import check_notebook


async def test_the_schema_is_the_signature(toolbox: Toolbox) -> None:
    assert same_parameters(toolbox, check_notebook)
    assert not toolbox.tools["check_notebook"].menu


async def test_ok_has_the_notes_with_their_dates(toolbox: Toolbox, notebook: SqliteNotebook) -> None:
    note = await notebook.add("Anna's birthday is 3 May")
    result = await call(toolbox, "check_notebook", query="Anna")
    line = f"Anna's birthday is 3 May (noted {note.when.day} {note.when:%B %Y})"
    assert result == Result.ok(f"I have 1 note on that: {line}", Notes((line,)), ("notebook",))


async def test_several_notes_are_counted(toolbox: Toolbox, notebook: SqliteNotebook) -> None:
    await notebook.add("Anna likes tea")
    await notebook.add("Anna moved to Berlin")
    assert (await call(toolbox, "check_notebook", query="Anna")).text.startswith("I have 2 notes on that: ")
    newest = await call(toolbox, "check_notebook")
    assert newest.text.startswith("Your newest 2 notes: Anna moved to Berlin")


async def test_a_page_is_found_by_name_and_named_where_its_notes_do_not(
    toolbox: Toolbox, notebook: SqliteNotebook
) -> None:
    await notebook.add("milk", "Shopping")
    await notebook.add("Anna likes tea", "Anna")
    assert (await call(toolbox, "check_notebook", query="shoping")).text.startswith(
        "No note has all of that; the nearest one: Shopping: milk (noted "
    )
    assert (await call(toolbox, "check_notebook", query="Anna")).text.startswith(
        "I have 1 note on that: Anna likes tea (noted "
    )


async def test_what_only_comes_near_is_called_so(toolbox: Toolbox, notebook: SqliteNotebook) -> None:
    await notebook.add("Mia's shoe size is 34")
    result = await call(toolbox, "check_notebook", query="Bob shoe size")
    assert result.text.startswith("No note has all of that; the nearest one: Mia's shoe size is 34")


async def test_empty_names_what_was_looked_for(toolbox: Toolbox, notebook: SqliteNotebook) -> None:
    assert await call(toolbox, "check_notebook") == Result.empty("The notebook is empty.")
    await notebook.add("tea")
    expected = Result.empty('There is no note about "the passport".')
    assert await call(toolbox, "check_notebook", query="the passport") == expected


@pytest.mark.usefixtures("damaged")
async def test_unavailable_is_not_empty(toolbox: Toolbox) -> None:
    result = await call(toolbox, "check_notebook", query="tea")
    assert result.status is Status.UNAVAILABLE
    assert result.text.startswith("I could not open the notebook: ")

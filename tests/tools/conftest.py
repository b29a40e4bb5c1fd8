"""The shipped tools as the daemon loads them, over a real notebook and over one that cannot be opened."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from muleteer.paths import share_dir
from muleteer.store.notebook import SqliteNotebook
from muleteer.tool import Result, Services
from muleteer.toolbox import Toolbox
from tests.ports.conftest import plug, serve  # noqa: F401  # fixtures, for the tools that use serial ports


@pytest.fixture
async def notebook(tmp_path: Path) -> AsyncIterator[SqliteNotebook]:
    made = SqliteNotebook(tmp_path / "notebook.db")
    yield made
    await made.close()


@pytest.fixture
def toolbox(notebook: SqliteNotebook) -> Toolbox:
    made = Toolbox.load([share_dir() / "tools"], Services(notebook))
    assert made.disabled == {}
    return made


def with_services(services: Services) -> Toolbox:
    """The shipped tools over these services."""
    return Toolbox.load([share_dir() / "tools"], services)


@pytest.fixture
def damaged(tmp_path: Path) -> None:
    """Makes the notebook's file unreadable."""
    (tmp_path / "notebook.db").write_bytes(b"garbage" * 1000)


def same_parameters(toolbox: Toolbox, function: Callable[..., object]) -> bool:
    """The schema has the parameters of the signature (but lent services), required where no default."""
    schema = toolbox.tools[function.__name__].parameters
    own = {
        name: parameter.default is parameter.empty
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.annotation != "Services"
    }
    required = [name for name, needed in own.items() if needed]
    return list(schema["properties"]) == list(own) and schema.get("required", []) == required


async def call(toolbox: Toolbox, tool: str, /, **arguments: object) -> Result:
    return (await toolbox.call(tool, arguments)).result

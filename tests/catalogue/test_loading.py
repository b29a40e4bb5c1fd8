"""Tools from packages, and files that are read again: the last good version stays in use."""

from __future__ import annotations

import importlib
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from muleteer.catalogue.declared import Loaded
from muleteer.catalogue.loading import Library
from muleteer.catalogue.shelf import Shelf
from muleteer.tool import Result
from muleteer.toolbox import Toolbox
from tests.test_tool_modules import GOOD, write
from tests.test_toolbox import SERVICES, text_of


def tool_source(name: str, where: str) -> str:
    return GOOD.format(name=name, where=where)


class Site:
    """A folder on the path that packages are installed in."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def install(self, name: str, entries: dict[str, str], **modules: str) -> None:
        """What an installer leaves of a distribution: its modules, and its metadata beside them."""
        info = self.folder / f"{name.replace('-', '_')}-1.2.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.2\n")
        lines = "".join(f"{entry} = {value}\n" for entry, value in entries.items())
        (info / "entry_points.txt").write_text(f"[muleteer.tools]\n{lines}")
        for module, source in modules.items():
            (self.folder / f"{module}.py").write_text(source)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    before = set(sys.modules)
    yield Site(folder)
    for name in set(sys.modules) - before:
        del sys.modules[name]
    importlib.invalidate_caches()


def packages(*folders: Path, seconds: float = 20) -> Shelf[Loaded]:
    return Library(folders, packages=True, seconds=seconds).read()


async def test_a_package_gives_the_tools_of_a_module_or_one_function(site: Site) -> None:
    both = tool_source("moon", "moon") + tool_source("tide", "tide")
    site.install(
        "acme-sky",
        {"sky": "acme_sky", "sun": "acme_sun:sun"},
        acme_sky=both,
        acme_sun=tool_source("sun", "sun") + tool_source("unnamed", "x"),
    )
    shelf = packages()
    assert set(shelf.things) == {"moon", "tide", "sun"}
    assert set(shelf.origins.values()) == {"package acme-sky 1.2"}
    assert shelf.disabled == {}
    assert await text_of(Toolbox(SERVICES, shelf), "sun", place="x") == "sun, x, 1"


FAULTS = {
    "raises": (
        "1 / 0",
        "raises",
        "package acme-bad 1.2 cannot be loaded: ZeroDivisionError: division by zero.",
    ),
    "exits": ("import sys; sys.exit(3)", "exits", "it tried to end the program."),
    "missing": ("x = 1", "missing:nothing", "AttributeError"),
    "no_tool": ("x = 1", "no_tool:x", "holds no function marked with @tool."),
    "hangs": ("import threading\nthreading.Event().wait()", "hangs", "took longer than 0.5 s to load."),
}


@pytest.mark.parametrize("name", FAULTS)
def test_an_entry_point_that_fails_disables_itself_alone(site: Site, name: str) -> None:
    source, value, reason = FAULTS[name]
    site.install("acme-bad", {name: value}, **{name: source})
    site.install("acme-good", {"good": "acme_good"}, acme_good=tool_source("good", "here"))
    shelf = packages(seconds=0.5 if name == "hangs" else 20)
    assert list(shelf.things) == ["good"]
    assert list(shelf.disabled) == [name]
    assert reason in shelf.disabled[name]
    assert shelf.origins[name] == "package acme-bad 1.2"


async def test_a_package_replaces_nothing(site: Site, tmp_path: Path) -> None:
    folder = tmp_path / "tools"
    write(folder, "timer", tool_source("timer", "ours"))
    site.install("acme-timer", {"timer": "acme_timer"}, acme_timer=tool_source("timer", "theirs"))
    site.install("acme-broken", {"timer": "acme_broken"}, acme_broken="1 / 0")
    shelf = packages(folder)
    assert await text_of(Toolbox(SERVICES, shelf), "timer", place="x") == "ours, x, 1"
    assert str(folder) in shelf.disabled["timer (package acme-timer 1.2)"]
    assert "division by zero" in shelf.disabled["timer (package acme-broken 1.2)"]


HANGS = (
    tool_source("hang", "x")
    .replace('effect="read"', 'effect="read", timeout=0.2')
    .replace('return Result.ok(f"x, {place}, {level}")', "import threading; threading.Event().wait()")
)


async def test_a_tool_of_a_package_that_hangs_ends_with_its_deadline_and_holds_up_nothing(site: Site) -> None:
    site.install("acme-hang", {"hang": "acme_hang"}, acme_hang=HANGS)
    toolbox = Toolbox(SERVICES, packages())
    outcome = await toolbox.call("hang", {"place": "x"})
    assert outcome.result == Result.error("hang took longer than 0.2 s and was stopped.")
    assert all(each.daemon for each in threading.enumerate() if each.name == "tool hang")


async def test_a_package_is_loaded_once(site: Site) -> None:
    site.install("acme-sun", {"sun": "acme_sun"}, acme_sun=tool_source("sun", "old"))
    library = Library([], packages=True)
    first = library.read()
    (site.folder / "acme_sun.py").write_text("1 / 0")
    assert library.read().things["sun"] is first.things["sun"]


async def test_a_file_is_run_again_only_when_it_has_changed(tmp_path: Path) -> None:
    write(tmp_path, "thing", tool_source("thing", "old"))
    library = Library([tmp_path])
    first = library.read().things["thing"]
    assert library.read().things["thing"] is first
    write(tmp_path, "thing", tool_source("thing", "new"))
    shelf = library.read()
    assert await text_of(Toolbox(SERVICES, shelf), "thing", place="x") == "new, x, 1"


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        ("def x(:", "cannot be loaded: invalid syntax. (line 1)"),
        ("", "holds no function marked with @tool."),
        (tool_source("thing", "bad").replace("level: how far", ""), "'level' is not described"),
    ],
)
async def test_a_broken_edit_keeps_the_last_good_version(tmp_path: Path, broken: str, reason: str) -> None:
    path = write(tmp_path, "thing", tool_source("thing", "old"))
    library = Library([tmp_path])
    library.read()
    write(tmp_path, "thing", broken)
    for _ in range(2):
        shelf = library.read()
        assert await text_of(Toolbox(SERVICES, shelf), "thing", place="x") == "old, x, 1"
        assert shelf.disabled == {}
        assert reason in shelf.stale["thing"]
        assert shelf.stale["thing"].count(str(path)) == 1
    write(tmp_path, "thing", tool_source("thing", "new"))
    shelf = library.read()
    assert (shelf.stale, shelf.disabled) == ({}, {})
    assert await text_of(Toolbox(SERVICES, shelf), "thing", place="x") == "new, x, 1"


async def test_of_two_tools_in_a_file_only_the_broken_one_is_the_old_one(tmp_path: Path) -> None:
    write(tmp_path, "both", tool_source("one", "old") + tool_source("two", "old"))
    library = Library([tmp_path])
    library.read()
    broken = tool_source("two", "new").replace("level: how far", "")
    write(tmp_path, "both", tool_source("one", "new") + broken)
    shelf = library.read()
    toolbox = Toolbox(SERVICES, shelf)
    assert await text_of(toolbox, "one", place="x") == "new, x, 1"
    assert await text_of(toolbox, "two", place="x") == "old, x, 1"
    assert list(shelf.stale) == ["two"]


def test_what_was_deleted_is_gone_and_what_it_hid_is_back(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    shipped = write(first, "thing", tool_source("thing", "first"))
    own = write(second, "thing", "1 / 0")
    library = Library([first, second])
    assert list(library.read().disabled) == ["thing"], "broken when first read"
    own.unlink()
    assert library.read().things["thing"].tool.path == str(shipped)
    shipped.unlink()
    assert library.read() == Shelf()

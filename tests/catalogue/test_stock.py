"""What the user turns off and renames: kept, followed by mentions, and refused where it would be unclear."""

from __future__ import annotations

from pathlib import Path

import pytest

from muleteer.catalogue.loading import Library
from muleteer.catalogue.offering import OTHER
from muleteer.catalogue.skill_files import SkillLibrary
from muleteer.catalogue.steering import HANDLE_LIMIT
from muleteer.catalogue.stock import FILE_NAME, Stock
from muleteer.errors import ConfigError, RequestError, StorageError
from muleteer.gateway.listings import list_tools
from muleteer.ports.service import SerialPorts
from muleteer.ports.settings import SerialSettings
from muleteer.services import Absent, Services
from muleteer.skills import Catalogue
from tests.test_skills import skill
from tests.test_tool_modules import GOOD, write
from tests.test_toolbox import SERVICES, text_of

DEVICE = {"devices": {"board": {"usb": "0000:0001"}}}
LOOK = '''\
from typing import Annotated
from muleteer.tool import Named, Result, tool


@tool(effect="read")
def look(name: Annotated[str, Named("serial", "devices")]) -> Result:
    """Look. Use it to look.

    name: at what
    """
    return Result.ok(name)
'''


class Home:
    """A stock over folders of its own, and its latest catalogue."""

    def __init__(self, folder: Path) -> None:
        self.tools, self.skills, self.state = (folder / name for name in ("tools", "skills", "state"))
        for each in (self.tools, self.skills, self.state):
            each.mkdir(exist_ok=True)
        self.open()

    def open(self) -> None:
        """As at a start of the daemon."""
        libraries = SkillLibrary([self.skills]), Library([self.tools])
        self.stock = Stock(*libraries, SERVICES, self.state)
        self.catalogue = self.take()

    def tool(self, name: str, where: str = "here") -> Path:
        return write(self.tools, name, GOOD.format(name=name, where=where))

    def take(self) -> Catalogue:
        taken = self.stock.take()
        assert taken is not None
        self.catalogue = taken
        return taken


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path)
    home.tool("night_lamp")
    home.tool("clock")
    skill(home.skills, "evening", "1. Ask @night-lamp, not `@night-lamp`.\n2. Then @clock and @night-lamp.")
    skill(home.skills, "bedtime", "Do @evening.")
    home.take()
    return home


def test_nothing_new_is_no_new_catalogue(home: Home) -> None:
    assert home.stock.take() is None
    home.tool("clock", "elsewhere")
    assert home.take().toolbox.tools["clock"].description.startswith("Answer from elsewhere.")
    assert home.stock.take() is None


def test_a_skill_that_now_leads_nowhere_keeps_its_last_good_version_and_says_so(home: Home) -> None:
    good = home.catalogue.skills["evening"]
    skill(home.skills, "evening", "1. Ask @night-lmap.")
    catalogue = home.take()
    assert catalogue.skills["evening"] == good
    assert "@night-lmap" in catalogue.stale["evening"]
    assert "evening" not in catalogue.disabled
    skill(home.skills, "evening", "1. Ask @clock.")
    catalogue = home.take()
    assert catalogue.skills["evening"].mentions == ("clock",)
    assert catalogue.stale == {}


def test_a_skill_that_never_led_anywhere_or_lost_its_tools_is_disabled(home: Home) -> None:
    skill(home.skills, "morning", "1. Ask @nobody.")
    assert "@nobody" in home.take().disabled["morning"]
    (home.tools / "night_lamp.py").unlink()
    skill(home.skills, "evening", "1. Ask @nobody, then @night-lamp.")
    catalogue = home.take()
    assert "@nobody" in catalogue.disabled["evening"]
    assert "evening" not in catalogue.stale


def test_a_skill_that_is_turned_off_stays_off_whatever_becomes_of_it(home: Home) -> None:
    home.stock.switch(home.catalogue, "skills", "evening", False)
    skill(home.skills, "evening", "1. Ask @nobody.")
    assert home.take().disabled["evening"].startswith("Turned off")


async def test_a_renamed_tool_is_followed_by_mentions_and_survives_a_restart(home: Home) -> None:
    assert home.stock.rename(home.catalogue, "tools", "night-lamp", "light") == "light"
    for _ in range(2):
        catalogue = home.catalogue if home.catalogue.steering.tools.names else home.take()
        made = catalogue.toolbox.tools["light"]
        assert (made.name, made.handle) == ("light", "light")
        assert made.signature.startswith("light(place, [level])")
        assert "night_lamp" not in catalogue.toolbox.tools
        evening = catalogue.skills["evening"]
        assert evening.steps == "1. Ask @light, not `@night-lamp`.\n2. Then @clock and @light."
        assert evening.mentions == ("light", "clock")
        assert [each.name for each in catalogue.expand(["bedtime"])] == ["light", "clock"]
        assert await text_of(catalogue.toolbox, "light", place="x") == "here, x, 1"
        home.open()


def test_a_renamed_skill_is_followed_by_mentions(home: Home) -> None:
    home.stock.rename(home.catalogue, "skills", "@evening", "night-time")
    catalogue = home.take()
    assert catalogue.skills["night-time"].name == "night-time"
    assert catalogue.skills["bedtime"].steps == "Do @night-time."
    assert catalogue.disabled == {}


def test_its_own_name_ends_a_renaming(home: Home) -> None:
    home.stock.rename(home.catalogue, "tools", "clock", "watch")
    assert home.stock.rename(home.take(), "tools", "watch", "clock") == "clock"
    assert home.take().steering.tools.names == {}


def test_a_tool_renamed_twice_has_one_name(home: Home) -> None:
    home.stock.rename(home.catalogue, "tools", "clock", "watch")
    home.stock.rename(home.take(), "tools", "clock", "dial")
    assert home.take().steering.tools.names == {"clock": "dial"}
    assert {"dial", "night_lamp"} == set(home.catalogue.toolbox.tools)


@pytest.mark.parametrize(
    ("kind", "old", "new", "reason"),
    [
        ("tools", "clock", "night_lamp", "@night-lamp is a tool already; choose another name for @clock."),
        ("tools", "clock", "evening", "@evening is a skill already; choose another name for @clock."),
        ("skills", "evening", "clock", "@clock is a tool already; choose another name for @evening."),
        ("tools", "clock", "reply", "'reply' cannot be a name"),
        ("tools", "clock", "call_tool", "'call-tool' cannot be a name"),
        ("tools", "clock", "Clock", "'Clock' cannot be a name; use a-z, 0-9 and '-'"),
        ("tools", "clock", "", "'' cannot be a name"),
        ("tools", "clock", "x" * (HANDLE_LIMIT + 1), "cannot be a name"),
        ("tools", "clok", "watch", "There is no tool @clok (near: @clock); `muleteer tools` lists them."),
        ("skills", "clock", "watch", "There is no skill @clock; `muleteer skills` lists them."),
    ],
)
def test_a_name_that_cannot_be_is_refused(home: Home, kind: str, old: str, new: str, reason: str) -> None:
    with pytest.raises(RequestError) as caught:
        home.stock.rename(home.catalogue, kind, old, new)  # type: ignore[arg-type]  # a kind it is
    assert reason in str(caught.value)
    assert home.stock.take() is None
    assert not (home.state / FILE_NAME).exists()


@pytest.mark.parametrize("gone", [False, True])
def test_a_file_that_takes_the_new_name_of_another_is_listed_and_steered_as_itself(
    home: Home, gone: bool
) -> None:
    home.stock.rename(home.catalogue, "tools", "clock", "watch")
    assert listed(home.take()) == {"watch": "clock", "night-lamp": "night-lamp"}
    home.tool("watch", "elsewhere")
    if gone:
        (home.tools / "clock.py").unlink()
    left = {} if gone else {"clock": "clock"}
    assert listed(home.take()) == {"watch": "watch", "night-lamp": "night-lamp", **left}
    home.stock.switch(home.catalogue, "tools", "watch", on=False)
    assert "watch" not in home.take().toolbox.tools
    home.stock.switch(home.catalogue, "tools", "watch", on=True)
    assert home.take().toolbox.tools["watch"].description.startswith("Answer from elsewhere.")


def test_what_was_renamed_and_turned_off_leaves_another_of_its_new_name_alone(home: Home) -> None:
    home.stock.rename(home.catalogue, "tools", "clock", "watch")
    home.stock.switch(home.take(), "tools", "watch", on=False)
    assert listed(home.take()) == {"watch": "clock", "night-lamp": "night-lamp"}
    home.tool("watch", "elsewhere")
    catalogue = home.take()
    assert catalogue.toolbox.tools["watch"].description.startswith("Answer from elsewhere.")
    assert catalogue.toolbox.disabled["clock"].startswith("Turned off")


def listed(catalogue: Catalogue) -> dict[object, object]:
    """The handles on disk of the tools, by handle."""
    return {each["handle"]: each["on_disk"] for each in list_tools(catalogue)["tools"]}


def test_a_name_on_disk_stays_that_of_what_has_it_there(home: Home) -> None:
    home.stock.rename(home.catalogue, "tools", "clock", "watch")
    with pytest.raises(RequestError, match="@clock is what @watch is called on disk"):
        home.stock.rename(home.take(), "tools", "night-lamp", "clock")


def test_what_comes_later_under_a_given_name_is_named_and_the_rest_goes_on(home: Home) -> None:
    home.stock.rename(home.catalogue, "tools", "clock", "watch")
    home.tool("watch", "newcomer")
    toolbox = home.take().toolbox
    assert toolbox.tools["watch"].description.startswith("Answer from newcomer.")
    assert "clock was renamed watch" in toolbox.disabled["clock"]
    assert str(home.tools) in toolbox.disabled["clock"]
    assert home.stock.rename(home.catalogue, "tools", "clock", "dial") == "dial"
    assert {"dial", "watch"} <= set(home.take().toolbox.tools)


def test_turned_off_is_a_reason_and_no_fault(home: Home) -> None:
    assert home.stock.switch(home.catalogue, "tools", "night_lamp", False) == "night-lamp"
    catalogue = home.take()
    assert catalogue.toolbox.disabled == {
        "night_lamp": "Turned off; `muleteer tools enable night-lamp` brings it back."
    }
    assert [each.name for each in catalogue.expand(["evening"])] == ["clock"]
    assert catalogue.reasons() == set()
    home.stock.switch(catalogue, "tools", "clock", False)
    assert set(home.take().disabled) == {"evening", "bedtime"}, "no tool is left to them"
    home.open()
    assert home.catalogue.toolbox.tools == {}, "also after a restart"
    for name in ("clock", "night-lamp"):
        home.stock.switch(home.catalogue, "tools", name, True)
    assert set(home.take().skills) == {"evening", "bedtime"}


def test_what_is_renamed_and_off_comes_back_under_its_new_name(home: Home) -> None:
    home.stock.rename(home.catalogue, "skills", "evening", "night-time")
    home.stock.switch(home.take(), "skills", "night-time", False)
    assert home.take().disabled["night-time"].endswith("`muleteer skills enable night-time` brings it back.")
    assert home.stock.switch(home.catalogue, "skills", "night-time", True) == "night-time"
    assert set(home.take().skills) == {"night-time", "bedtime"}


def test_a_skill_that_gets_worse_stays_as_it_was_and_says_so(home: Home) -> None:
    path = skill(home.skills, "evening", "Ask @clock.", "name: evening")
    catalogue = home.take()
    assert catalogue.skills["evening"].mentions == ("night-lamp", "clock")
    assert "description must be text on one line" in catalogue.stale["evening"]
    assert catalogue.stale["evening"].count(str(path)) == 1
    assert catalogue.reasons() == {f"Using the last good version: {catalogue.stale['evening']}"}
    skill(home.skills, "evening", "Ask @clock.")
    assert (home.take().stale, home.catalogue.skills["evening"].mentions) == ({}, ("clock",))
    path.unlink()
    assert "evening" not in home.take().skills


def test_tools_from_elsewhere_are_steered_like_others(home: Home) -> None:
    offered = Library([home.tools]).read().things["clock"].named("acme_clock")
    home.stock.offer("server acme", [offered])
    assert home.take().toolbox.origins["acme_clock"] == "server acme"
    home.stock.switch(home.catalogue, "tools", "acme-clock", False)
    assert "acme_clock" in home.take().toolbox.disabled
    home.stock.offer("server acme", [])
    assert "acme_clock" not in home.take().toolbox.disabled


@pytest.mark.parametrize("damaged", ["", "{", '{"tools": {"off": [5]}}', '{"tools": {"odd": []}}', "[]"])
def test_a_damaged_file_of_wishes_stops_the_start(home: Home, damaged: str) -> None:
    (home.state / FILE_NAME).write_text(damaged)
    with pytest.raises(ConfigError, match=r"steering\.json, which says what is turned off"):
        home.open()


def test_a_wish_that_cannot_be_kept_changes_nothing(home: Home) -> None:
    (home.state / FILE_NAME).mkdir()
    with pytest.raises(StorageError, match="so nothing has changed"):
        home.stock.switch(home.catalogue, "tools", "clock", False)
    assert home.stock.take() is None
    assert [each.name for each in home.state.iterdir()] == [FILE_NAME]


@pytest.mark.parametrize("name", ["clock", "evening", "light"])
def test_what_a_server_offers_never_takes_the_name_of_what_is_there(home: Home, name: str) -> None:
    home.stock.rename(home.catalogue, "tools", "night-lamp", "light")
    home.take()
    offered = Library([home.tools]).read().things["night_lamp"].named(name)
    home.stock.offer("server acme", [offered], {"acme: odd": "odd is not usable."})
    catalogue = home.take()
    assert set(catalogue.skills) == {"evening", "bedtime"}
    assert set(catalogue.toolbox.tools) == {"clock", "light"}
    assert catalogue.toolbox.tools["clock"].path == str(home.tools / "clock.py")
    reason = f"{name} of the server acme has the name of a skill or tool that is there already."
    assert catalogue.toolbox.disabled == {
        f"server acme: {name}": reason,
        "acme: odd": "odd is not usable.",
    }


async def test_other_names_of_a_service_are_something_new(tmp_path: Path) -> None:
    folder = tmp_path / "tools"
    folder.mkdir()
    (folder / "look.py").write_text(LOOK)
    ports = SerialPorts(SerialSettings.model_validate(DEVICE))
    stock = Stock(SkillLibrary([]), Library([folder]), Services(Absent("none"), serial=ports), state=tmp_path)
    first = stock.take()
    assert first
    assert first.toolbox.tools["look"].parameters["properties"]["name"]["enum"] == ["board", OTHER]
    assert stock.take() is None
    await ports.take_up(SerialSettings.model_validate({"devices": {"shed": DEVICE["devices"]["board"]}}))
    second = stock.take()
    assert second
    assert second.toolbox.tools["look"].parameters["properties"]["name"]["enum"] == ["shed", OTHER]

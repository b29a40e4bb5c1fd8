"""What an installation would do, without a systemd to do it to."""

from __future__ import annotations

import configparser
from pathlib import Path

import pytest

from muleteer import paths
from muleteer.systemd import installing
from muleteer.systemd.installing import Wish, drop_in

ROOT = Path(__file__).parents[2]


def test_a_unit_names_the_program_and_nothing_that_an_older_systemd_would_warn_of() -> None:
    shipped = (paths.share_dir() / "systemd" / "muleteer.service").read_text()
    old = installing.unit(shipped, Path("/srv/mule/bin/muleteer"), 252)
    assert "ExecStart=/srv/mule/bin/muleteer serve" in old
    assert "RestartSteps=" not in old
    assert "RestartSteps=5" in installing.unit(shipped, Path(installing.PROGRAM), 254)


def test_limits_of_memory_come_from_the_settings() -> None:
    text = drop_in(Wish(memory_high=1500, memory_max=2000))
    assert text.splitlines()[1:] == ["[Service]", "MemoryHigh=1500M", "MemoryMax=2000M"]
    assert drop_in(Wish()) == ""


def test_only_folders_in_homes_are_bound_and_only_for_the_systems_service() -> None:
    wish = Wish(folders=(Path("/srv/papers"), Path("/home/anna/My 100% papers")))
    lines = drop_in(wish).splitlines()
    assert lines[2:] == ["ProtectHome=tmpfs", 'BindReadOnlyPaths="-/home/anna/My 100%% papers"']
    assert drop_in(wish, user=True) == ""


def test_the_homes_network_alone_is_reached_where_that_is_wished() -> None:
    lines = drop_in(Wish(lan_only=True)).splitlines()
    assert lines[2:] == ["IPAddressDeny=any", f"IPAddressAllow={installing.LAN}"]
    assert "multicast" in installing.LAN, "devices find each other by it"
    assert drop_in(Wish(lan_only=True), user=True) == ""


def test_a_program_that_others_cannot_reach_is_named(tmp_path: Path) -> None:
    program = tmp_path / "home" / "muleteer"
    program.parent.mkdir()
    program.touch(0o755)
    program.parent.chmod(0o700)
    assert str(program.parent) in installing.reachable(program)


@pytest.mark.parametrize("name", ["muleteer.service", "user/muleteer.service"])
def test_the_unit_says_what_no_test_machine_enforces(name: str) -> None:
    """Restarts are counted by every systemd; memory is not limited in the machines of these tests."""
    parser = configparser.RawConfigParser(strict=False, comment_prefixes=("#",))
    parser.optionxform = str  # type: ignore[assignment,method-assign]  # as the library documents it
    parser.read(paths.share_dir() / "systemd" / name)
    service = dict(parser["Service"])
    assert (service["Type"], service["OOMPolicy"], service["KillMode"]) == ("notify", "continue", "mixed")
    assert service["Restart"] == "on-failure"
    assert float(service["TimeoutStopSec"]) > 50.0  # the daemon's own limits, together
    assert parser["Unit"]["StartLimitBurst"] == "8"
    assert "network-online" not in str(dict(parser["Unit"]))
    assert "time-sync" not in str(dict(parser["Unit"]))


def test_no_unit_orders_a_timer_after_a_synchronised_clock() -> None:
    for path in (ROOT / "systemd").rglob("muleteer-turn@.timer"):
        assert "DefaultDependencies=no" in path.read_text()
        assert "time-s" not in path.read_text()

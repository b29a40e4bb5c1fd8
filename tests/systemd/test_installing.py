"""What an installation would do, without a systemd to do it to."""

from __future__ import annotations

import configparser
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from muleteer import paths
from muleteer.gateway import activation, tcp
from muleteer.systemd import installing
from muleteer.systemd.installing import Wish, drop_in
from muleteer.systemd.manager import Manager

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
    parser = read(name)
    service = dict(parser["Service"])
    assert (service["Type"], service["OOMPolicy"], service["KillMode"]) == ("notify", "continue", "mixed")
    assert service["Restart"] == "on-failure"
    assert float(service["TimeoutStopSec"]) > 50.0  # the daemon's own limits, together
    assert parser["Unit"]["StartLimitBurst"] == "8"
    assert "network-online" not in str(dict(parser["Unit"]))
    assert "time-sync" not in str(dict(parser["Unit"]))


@pytest.mark.parametrize("name", ["muleteer-turn@.service", "user/muleteer-turn@.service"])
def test_starts_by_a_timer_are_not_limited_and_nothing_restarts_for_ever(name: str) -> None:
    unit = read(name)
    assert unit["Unit"]["StartLimitIntervalSec"] == "0"
    assert "Restart" not in unit["Service"]
    assert unit["Service"]["ExecStart"].endswith("muleteer turn --retry %i")


def read(name: str) -> configparser.RawConfigParser:
    """A shipped unit."""
    parser = configparser.RawConfigParser(strict=False, comment_prefixes=("#",))
    parser.optionxform = str  # type: ignore[assignment,method-assign]  # as the library documents it
    parser.read(paths.share_dir() / "systemd" / name)
    return parser


@pytest.mark.parametrize("name", ["muleteer-voice.service", "user/muleteer-voice.service"])
def test_voice_has_limits_of_its_own_and_does_not_need_the_daemon(name: str) -> None:
    service = dict(read(name)["Service"])
    assert service["ExecStart"].endswith("muleteer voice")
    assert int(service["MemoryMax"].removesuffix("M")) < 1500
    assert service["OOMPolicy"] == "continue", "the recogniser is a process that may go"
    assert "Requires" not in read(name)["Unit"]


def test_who_hears_everything_reads_none_of_the_daemons_files() -> None:
    voice, daemon = (dict(read(f"{name}.service")["Service"]) for name in ("muleteer-voice", "muleteer"))
    assert voice["User"] not in (daemon["User"], "root")
    assert voice["Group"] == daemon["Group"], "the daemon's socket is the group's"
    assert voice["StateDirectory"] != daemon["StateDirectory"]
    assert daemon["StateDirectoryMode"] == voice["StateDirectoryMode"] == "0700"
    assert f"MULETEER_STATE=/var/lib/{voice['StateDirectory']}" in voice["Environment"]
    assert str(paths.SYSTEM_VOICE_SOCKET.parent) == f"/run/{voice['RuntimeDirectory']}"
    users = (ROOT / "systemd/sysusers.d/muleteer.conf").read_text()
    assert f"u {voice['User']} - " in users


def test_no_unit_orders_a_timer_after_a_synchronised_clock() -> None:
    for path in (ROOT / "systemd").rglob("muleteer-turn@.timer"):
        assert "DefaultDependencies=no" in path.read_text()
        assert "time-s" not in path.read_text()


def steps_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wish: Wish) -> list[str]:
    monkeypatch.setattr(Manager, "asks", lambda *_: "")
    (tmp_path / "etc/systemd/system").mkdir(parents=True, exist_ok=True)
    manager = Manager(root=tmp_path)
    return [str(step) for step in installing.install(manager, Path(installing.PROGRAM), wish)]


def test_a_port_is_opened_by_systemd_only_where_the_settings_open_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "etc/systemd/system" / installing.TCP
    assert not any(installing.TCP in step for step in steps_of(tmp_path, monkeypatch, Wish()))
    steps = steps_of(tmp_path, monkeypatch, Wish(listen=tcp.addresses("lan", 8765)))
    assert f"write {path}" in steps
    assert f"run   systemctl enable {installing.TCP}" in steps
    path.write_text("there")
    steps = steps_of(tmp_path, monkeypatch, Wish())  # and it goes with them
    assert steps.index(f"run   systemctl disable --now {installing.TCP}") < steps.index(f"remove {path}")


def test_the_unit_of_the_port_listens_as_the_settings_say() -> None:
    assert tcp.addresses("off", 8765) == tcp.addresses("lan", 0) == []
    assert tcp.addresses("loopback", 99)[0] == "127.0.0.1:99"
    assert tcp.addresses("lan", 99)[0] == "0.0.0.0:99"
    wish = Wish(listen=("127.0.0.1:99", "[::1]:99"))
    (written,) = installing._port(Manager(), wish)
    assert isinstance(written, installing.Write)
    parser = configparser.RawConfigParser(strict=False, comment_prefixes=("#",))
    parser.read_string(written.text)
    assert parser["Socket"]["FileDescriptorName"] == activation.TCP
    assert "ListenStream=127.0.0.1:99\nListenStream=[::1]:99\n" in written.text
    assert "muleteer.service" in parser["Install"]["WantedBy"]  # so that a start of it opens the port first


@pytest.mark.skipif(not shutil.which("dpkg-deb"), reason="dpkg-deb is not here: apt-get install dpkg")
def test_packages_of_two_architectures_differ_in_nothing_but_what_was_compiled(tmp_path: Path) -> None:
    """What is outside of the virtual environment, and what dpkg does with it, is for every architecture."""
    (tmp_path / "venv/bin").mkdir(parents=True)
    (tmp_path / "venv/bin/muleteer").touch(0o755)
    packages = []
    for architecture in ("amd64", "arm64"):
        options = ["--venv", tmp_path / "venv", "--out", tmp_path, "--architecture", architecture]
        command = [sys.executable, str(ROOT / ".ci/deb.py"), *map(str, options)]
        said = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        folder = tmp_path / architecture
        package = said.strip().rpartition("\n")[2]
        subprocess.run(["dpkg-deb", "--raw-extract", package, str(folder)], check=True)
        text = (folder / "DEBIAN/control").read_text()
        assert f"\nArchitecture: {architecture}\n" in text
        (folder / "DEBIAN/control").write_text(text.replace(architecture, "any"))
        packages.append(
            {str(each.relative_to(folder)): each.read_bytes() for each in folder.rglob("*") if each.is_file()}
        )
    first, second = packages
    assert first == second
    assert "usr/lib/systemd/system/muleteer.service" in first
    assert not any(content.startswith(b"\x7fELF") for content in first.values())

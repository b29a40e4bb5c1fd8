"""What `muleteer install` and `uninstall` do, as a list of steps: files and commands.

The list is made first and can be shown; carried out twice it changes nothing the second time. Knows where the
files of a service belong, and which of the settings are the unit's business: limits of memory, folders in
somebody's home. State, models and settings are touched by nothing here but a purge. Where a package has
brought the units, only what follows from the settings is written.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from muleteer import paths
from muleteer.systemd.manager import Manager, run

PROGRAM = "/opt/muleteer/bin/muleteer"  # as the shipped units have it
VOICE = "muleteer-voice.service"  # put in place, and started by whoever wants it
USER_UNITS = ("muleteer.service", "muleteer.socket", "muleteer-turn@.service", "muleteer-turn@.timer", VOICE)
UNITS = (*USER_UNITS, "muleteer-health.service", "muleteer-health.timer")
STARTED = ("muleteer.socket", "muleteer.service")
NEWER = {"RestartSteps": 254, "RestartMaxDelaySec": 254}  # settings, by the version that brought them
PACKAGED = "usr/lib/systemd/system"  # where packages put units
DROP_IN = "muleteer.service.d/50-settings.conf"
TCP = "muleteer-tcp.socket"  # made where the settings open the network, and only there
TCP_UNIT = """\
# Written by `muleteer install` from the settings; the next one overwrites it. If it fails, since the port is
# taken, the daemon opens the next free one itself.
[Unit]
Description=Muleteer's port for clients on the network

[Socket]
{streams}
BindIPv6Only=ipv6-only
FileDescriptorName=tcp
Service=muleteer.service

[Install]
WantedBy=sockets.target muleteer.service
"""
# Private addresses (RFC 1918, RFC 4193), and the multicast by which devices find each other.
LAN = "localhost link-local multicast 10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 fc00::/7"
HOMES = (Path("/home"), Path("/root"), Path("/run/user"))


@dataclass(frozen=True, slots=True)
class Wish:
    """What the units get from the settings: MiB of memory (0: no limit), folders that are read, whether the
    home's network alone is reached, and where clients connect over TCP, such as 127.0.0.1:8765."""

    memory_high: int = 0
    memory_max: int = 0
    folders: Sequence[Path] = ()
    lan_only: bool = False
    listen: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Write:
    """A file as it has to be; one that is so already is left alone."""

    path: Path
    text: str

    def __str__(self) -> str:
        return f"write {self.path}"

    def needed(self) -> bool:
        try:
            return self.path.read_text() != self.text
        except OSError:
            return True

    def carry_out(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o755)
        self.path.write_text(self.text)
        self.path.chmod(0o644)


@dataclass(frozen=True, slots=True)
class Remove:
    """A file or folder that has to go."""

    path: Path

    def __str__(self) -> str:
        return f"remove {self.path}"

    def needed(self) -> bool:
        return self.path.exists() or self.path.is_symlink()

    def carry_out(self) -> None:
        if self.path.is_dir() and not self.path.is_symlink():
            shutil.rmtree(self.path)
        else:
            self.path.unlink()


@dataclass(frozen=True, slots=True)
class Run:
    """A command; run even when nothing else has changed, since it is harmless then."""

    command: tuple[str, ...]

    def __str__(self) -> str:
        return f"run   {' '.join(self.command)}"

    def needed(self) -> bool:
        return True

    def carry_out(self) -> None:
        run(*self.command)


Step = Write | Remove | Run


def program() -> Path:
    """The `muleteer` that is running, by which the service will be started."""
    import sys

    return Path(sys.prefix) / "bin" / "muleteer"


def install(manager: Manager, program: Path, wish: Wish, start: bool = True) -> list[Step]:
    """The steps that put the service in place, and start it or what has changed of it. What a package has
    enabled, or an administrator has not, stays so."""
    packaged = is_packaged(manager)
    steps = [] if packaged else _units(manager, program)
    if text := drop_in(wish, manager.user):
        steps.append(Write(manager.units / DROP_IN, text))
    elif (manager.units / DROP_IN).exists():
        steps.append(Remove(manager.units / DROP_IN))
    steps += _port(manager, wish)
    if not manager.user and not packaged:
        steps += _people(manager)
    changed = any(step.needed() for step in steps if not isinstance(step, Run))
    steps.append(Run(tuple(manager.command("daemon-reload"))))
    if not packaged:
        steps.append(Run(tuple(manager.command("enable", *STARTED, *_health(manager)))))
    if wish.listen:
        steps.append(Run(tuple(manager.command("enable", TCP))))
    if start:
        if failed := [name for name in STARTED if manager.asks("is-failed", name) == "failed"]:
            steps.append(Run(tuple(manager.command("reset-failed", *failed))))  # else its start limit holds
        if changed and manager.asks("is-active", "muleteer.service") == "active":
            sockets = ("muleteer.socket", *([TCP] if wish.listen else []))
            steps.append(Run(tuple(manager.command("stop", "muleteer.service", *sockets))))
        steps.append(Run(tuple(manager.command("start", *STARTED, *_health(manager)))))
    return steps


def _port(manager: Manager, wish: Wish) -> list[Step]:
    """The unit of the port for clients, or that it has to go: what is off must not be open."""
    path = manager.units / TCP
    if wish.listen:
        streams = "\n".join(f"ListenStream={address}" for address in wish.listen)
        return [Write(path, TCP_UNIT.format(streams=streams))]
    return [Run(tuple(manager.command("disable", "--now", TCP))), Remove(path)] if path.exists() else []


def is_packaged(manager: Manager) -> bool:
    """Whether a package of the distribution has brought the units."""
    return not manager.user and (manager.root / PACKAGED / "muleteer.service").exists()


def _units(manager: Manager, program: Path) -> list[Step]:
    shipped = paths.share_dir() / "systemd"
    source = shipped / "user" if manager.user else shipped
    names = USER_UNITS if manager.user else UNITS
    version = manager.version()
    return [
        Write(manager.units / name, unit((source / name).read_text(), program, version)) for name in names
    ]


def _people(manager: Manager) -> list[Step]:
    """The service's user and group, and the folders that they need."""
    shipped = paths.share_dir() / "systemd"
    users, folders = _etc(manager, "sysusers.d"), _etc(manager, "tmpfiles.d")
    return [
        Write(users, (shipped / "sysusers.d" / users.name).read_text()),
        Write(folders, (shipped / "tmpfiles.d" / folders.name).read_text()),
        Run(("systemd-sysusers", str(users))),
        Run(("systemd-tmpfiles", "--create", str(folders))),
    ]


def uninstall(manager: Manager, purge: bool = False) -> list[Step]:
    """The steps that take the service away. With `purge` also what it has kept: state, models, settings."""
    timers = sorted(path.name.removesuffix(".d") for path in manager.units.glob("muleteer-turn@*.timer.d"))
    steps: list[Step] = []
    for name in (*timers, *_health(manager), VOICE, TCP, *STARTED):
        if manager.asks("is-enabled", name) == "masked":
            steps.append(Run(tuple(manager.command("unmask", name))))
        steps.append(Run(tuple(manager.command("disable", "--now", name))))
    gone = [manager.units / name for name in (USER_UNITS if manager.user else UNITS)]
    gone += [manager.units / f"{name}.d" for name in timers]
    gone += [manager.units / DROP_IN, manager.units / TCP]
    if not manager.user:
        gone += [_etc(manager, "sysusers.d"), _etc(manager, "tmpfiles.d"), Path("/run/muleteer")]
    if purge:
        gone += _kept(manager)
    steps = [step for step in steps if _known(manager, step)]
    steps += [each for path in gone if (each := Remove(path)).needed()]
    steps.append(Run(tuple(manager.command("daemon-reload"))))
    return steps


def unit(shipped: str, program: Path, version: int) -> str:
    """A unit for this program, and without what a systemd of this version would only warn of."""
    newer = tuple(f"{name}=" for name, since in NEWER.items() if version < since)
    lines = [line for line in shipped.splitlines(keepends=True) if not (newer and line.startswith(newer))]
    return "".join(lines).replace(PROGRAM, str(program))


def drop_in(wish: Wish, user: bool = False) -> str:
    """The part of the unit that follows from the settings; empty when nothing does."""
    lines = list(_limits(wish))
    if wish.lan_only and not user:  # what a user's own systemd may not limit
        lines += ["IPAddressDeny=any", f"IPAddressAllow={LAN}"]
    folders = [] if user else [each for each in wish.folders if any(_below(each, home) for home in HOMES)]
    if folders:
        lines.append("ProtectHome=tmpfs")
        lines += [f'BindReadOnlyPaths="-{_escaped(each)}"' for each in folders]
    if not lines:
        return ""
    head = "# Written by `muleteer install` from the settings; the next one overwrites it.\n[Service]\n"
    return head + "\n".join(lines) + "\n"


def reachable(program: Path) -> str:
    """Why the service's user could not execute the program; empty when it can."""
    real = [program, program.resolve(), (program.parent / "python3").resolve()]
    for path in real:
        for folder in (path, *path.parents):
            try:
                mode = os.stat(folder).st_mode
            except OSError as error:
                return f"{folder}: {error.strerror}"
            if not mode & 0o001:
                return (
                    f"{path} cannot be executed by another user, because of {folder}; install Muleteer into "
                    "/opt/muleteer with a Python of the system (/usr/bin/python3 -m venv /opt/muleteer)"
                )
    return ""


def _limits(wish: Wish) -> Iterator[str]:
    if wish.memory_high:
        yield f"MemoryHigh={wish.memory_high}M"
    if wish.memory_max:
        yield f"MemoryMax={wish.memory_max}M"


def _etc(manager: Manager, kind: str) -> Path:
    return manager.root / "etc" / kind / "muleteer.conf"


def _health(manager: Manager) -> tuple[str, ...]:
    return () if manager.user else ("muleteer-health.timer",)


def _kept(manager: Manager) -> list[Path]:
    if manager.user:
        return [paths.state_dir(), paths.models_dir().parent, paths.config_dir()]
    kept = [Path("/var/lib/muleteer"), Path("/var/cache/muleteer"), Path("/etc/muleteer")]
    return [*kept, Path("/var/lib/muleteer-voice"), Path("/var/cache/muleteer-voice")]


def _known(manager: Manager, step: Step) -> bool:
    """Whether systemd knows the unit that a command is about."""
    name = step.command[-1] if isinstance(step, Run) else ""
    return manager.asks("show", name, "--property=LoadState", "--value") not in ("not-found", "")


def _below(path: Path, home: Path) -> bool:
    return path == home or home in path.parents


def _escaped(path: Path) -> str:
    """Within quotes, where systemd gives a meaning to these."""
    return str(path).replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace(":", "\\:")

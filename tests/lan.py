"""Several hosts on one machine: network namespaces on a bridge of their own, which is cut, split and lossy.

Nothing reaches the real network: the bridges live in a namespace without a way out. Needs root, `ip`
(Debian: iproute2) and, for losses, /dev/net/tun. Knows frames and namespaces; not what runs on the hosts.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

WIRE = Path(__file__).with_name("lossy_wire.py")
_NUMBERS = itertools.count(1)  # of networks in this process

# Why this machine cannot have such a network; empty when it can.
MISSING = (
    "it needs root"
    if os.geteuid()
    else "it needs the program ip (Debian: iproute2)"
    if not shutil.which("ip")
    else ""
)


def _ip(*words: object, inside: str = "") -> str:
    command = ["ip", *(["-n", inside] if inside else []), *map(str, words)]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


class Host:
    """One host: eth0 at `address`, named `name`."""

    def __init__(self, lan: Lan, number: int, name: str) -> None:
        self._lan, self.number, self.name = lan, number, name
        self.namespace = f"{lan.prefix}h{number}"
        self.address = f"10.77.0.{number}"
        self._wire: subprocess.Popen[bytes] | None = None
        _ip("netns", "add", self.namespace)
        self.write("net/ipv6/conf/default/accept_dad", "0")  # an address counts at once
        cable = ("name", "eth0", "netns", self.namespace)
        _ip("link", "add", self._cable, "type", "veth", "peer", *cable, inside=lan.switch)
        _ip("link", "set", self._cable, "master", "near", "up", inside=lan.switch)
        _ip("link", "set", "lo", "up", inside=self.namespace)
        self._ip("addr", "add", f"{self.address}/24", "brd", "+", "dev", "eth0")
        self._ip("link", "set", "eth0", "up")
        self._ip("route", "add", "224.0.0.0/4", "dev", "eth0")

    @property
    def _cable(self) -> str:
        return f"p{self.number}"

    @property
    def _port(self) -> str:
        """What is plugged into the bridge: the cable, or a lossy wire between the two."""
        return f"w{self.number}" if self._wire else self._cable

    def _ip(self, *words: object) -> str:
        return _ip(*words, inside=self.namespace)

    def write(self, setting: str, value: str) -> None:
        """Set a sysctl of this host."""
        command = ["ip", "netns", "exec", self.namespace, "sh", "-c", f"echo {value} > /proc/sys/{setting}"]
        subprocess.run(command, check=True)

    def command(self, command: Sequence[str]) -> list[str]:
        """What runs `command` on this host, under its name; the process is that of the command."""
        named = 'echo "$0" > /proc/sys/kernel/hostname; exec "$@"'
        return [
            *("ip", "netns", "exec", self.namespace, "unshare", "--uts", "sh", "-c", named),
            *(self.name, *command),
        ]

    def start(self, command: Sequence[str], env: Mapping[str, str], **options: Any) -> subprocess.Popen[str]:
        """Run it in the background."""
        return subprocess.Popen(self.command(command), env=dict(env), text=True, **options)

    def cut(self) -> None:
        """Frames vanish, and the host still sees its link up."""
        _ip("link", "set", self._port, "nomaster", inside=self._lan.switch)

    def join(self, bridge: str = "near") -> None:
        """Plugged in again, at the bridge `near` or `far`; hosts at different ones cannot hear each other."""
        _ip("link", "set", self._port, "master", bridge, inside=self._lan.switch)

    def lose(self, percent: float) -> None:
        """Every frame is lost with this probability, in each direction."""
        if self._wire:
            self._wire.kill()
            self._wire.wait()
            self._wire = None
        if percent:
            _ip("link", "set", self._cable, "nomaster", inside=self._lan.switch)
            wire = f"w{self.number}"
            command = [sys.executable, str(WIRE), self._cable, wire, str(percent)]
            inside = ["ip", "netns", "exec", self._lan.switch, *command]
            self._wire = subprocess.Popen(inside, stdout=subprocess.PIPE)
            assert self._wire.stdout
            assert self._wire.stdout.readline() == b"ready\n", "the lossy wire does not work"
            self._wire.stdout.close()
            _ip("link", "set", wire, "up", inside=self._lan.switch)
        self.join()

    def move(self, address: str) -> None:
        """Another address, as after another DHCP lease; connections at the old one are dead."""
        self._ip("addr", "flush", "dev", "eth0")
        self._ip("addr", "add", f"{address}/24", "brd", "+", "dev", "eth0")
        self._ip("route", "add", "224.0.0.0/4", "dev", "eth0")
        self.address = address

    def lose_addresses(self, *families: str) -> None:
        """No address of these families (-4, -6) any more; of none at all, if none is named."""
        self._ip(*families, "addr", "flush", "dev", "eth0")

    def add_bridge(self, name: str, address: str) -> None:
        """One that leads nowhere, as those of containers."""
        self._ip("link", "add", name, "type", "bridge")
        self._ip("addr", "add", address, "dev", name)
        self._ip("link", "set", name, "up")

    def also(self, address: str) -> None:
        """One more address."""
        self._ip("addr", "add", f"{address}/24", "dev", "eth0")

    def sent(self) -> int:
        """Bytes that have left this host, with all their headers, since it was made."""
        command = ["ip", "netns", "exec", self.namespace, "cat", "/sys/class/net/eth0/statistics/tx_bytes"]
        return int(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)

    def remove(self) -> None:
        if self._wire:
            self._wire.kill()
            self._wire.wait()
        _end_all(self.namespace)
        subprocess.run(["ip", "netns", "del", self.namespace], check=False)


class Lan:
    """Hosts with these names, numbered from 1. Used with `with`; ends what still runs on them."""

    def __init__(self, names: Sequence[str]) -> None:
        self.prefix = f"mule{os.getpid()}n{next(_NUMBERS)}"
        self.switch = f"{self.prefix}s"
        self.hosts: list[Host] = []
        self._names = names

    def __enter__(self) -> Lan:
        try:
            _ip("netns", "add", self.switch)
            for bridge in ("near", "far"):  # without snooping: multicast goes everywhere
                kind = ("type", "bridge", "forward_delay", 0, "mcast_snooping", 0)
                _ip("link", "add", bridge, *kind, inside=self.switch)
                _ip("link", "set", bridge, "up", inside=self.switch)
            for number, name in enumerate(self._names, 1):
                self.hosts.append(Host(self, number, name))
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for host in self.hosts:
            host.remove()
        _end_all(self.switch)
        subprocess.run(["ip", "netns", "del", self.switch], check=False)

    def split(self, *away: Host) -> None:
        """These hosts hear only each other, and so do the others."""
        for host in self.hosts:
            host.join("far" if host in away else "near")

    def heal(self) -> None:
        """Everybody hears everybody."""
        for host in self.hosts:
            host.join()


@contextlib.contextmanager
def guest(lan: Lan, name: str) -> Iterator[Host]:
    """One more host for a while, as of a visitor."""
    host = Host(lan, 200, name)
    try:
        yield host
    finally:
        host.remove()


def _end_all(namespace: str) -> None:
    """A namespace lives on while a process is in it."""
    listed = subprocess.run(
        ["ip", "netns", "pids", namespace], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False
    )
    for pid in listed.stdout.split():
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(pid), signal.SIGKILL)

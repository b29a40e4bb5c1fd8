"""The addresses of this device that others on its local networks can reach. Knows interfaces, their names and
kinds; not what is announced there.
"""

from __future__ import annotations

import ipaddress
import socket
from dataclasses import dataclass

import psutil

# Bridges and ends of cables that lead to containers and virtual machines, and tunnels to elsewhere.
ELSEWHERE = (
    *("docker", "br-", "veth", "virbr", "vnet", "cni", "flannel", "cali", "podman", "lxc", "lxd", "kube"),
    *("nerdctl", "incus", "cilium", "weave", "vboxnet", "vmnet"),
    *("tun", "tap", "wg", "tailscale", "zt", "ppp", "ipsec"),
)
TUNNEL = "pointopoint"  # flag of netdevice(7): one peer, so no local network, whatever it is called
MOST = 8  # addresses; each announcement goes out at all of them
MOST_IPV6 = 3  # of one interface: one that is routed, one of the household, the one of the link


@dataclass(frozen=True, slots=True)
class Reach:
    """`addresses` are for others, IPv4 before IPv6. Multicast is sent at the addresses `speaking`: all IPv4
    ones, and one for each interface that has only IPv6."""

    addresses: tuple[str, ...] = ()
    speaking: tuple[str, ...] = ()


def reach() -> Reach:
    """Where this device can be found now. An interface's IPv6 addresses count only where it has no IPv4 one:
    announcing on both would tell the same devices everything twice."""
    states = psutil.net_if_stats()
    ipv4: list[str] = []
    ipv6: list[list[str]] = []
    for name, addresses in sorted(psutil.net_if_addrs().items()):
        state = states.get(name)
        if name.startswith(ELSEWHERE) or not state or not state.isup or TUNNEL in state.flags.split(","):
            continue
        found = {family: [each.address for each in addresses if each.family == family] for family in FAMILIES}
        usable = {family: [each for each in found[family] if _leads_out(each)] for family in FAMILIES}
        if usable[socket.AF_INET]:
            ipv4 += usable[socket.AF_INET]
        elif usable[socket.AF_INET6]:
            ipv6.append(sorted((each.partition("%")[0] for each in usable[socket.AF_INET6]), key=_nearness))
    first = sorted(ipv4)[:MOST]
    shown = [address for each in ipv6 for address in (*each[: MOST_IPV6 - 1], *each[MOST_IPV6 - 1 :][-1:])]
    return Reach(tuple(first + shown)[:MOST], tuple(first + [each[-1] for each in ipv6])[:MOST])


FAMILIES = (socket.AF_INET, socket.AF_INET6)


def _leads_out(address: str) -> bool:
    return not ipaddress.ip_address(address).is_loopback


def _nearness(address: str) -> tuple[bool, str]:
    """The address of the link, which is always there, comes last."""
    return ipaddress.ip_address(address).is_link_local, address

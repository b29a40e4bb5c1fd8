"""The addresses of this device that others of the household can reach. Knows interfaces and their names;
not what is announced there.
"""

from __future__ import annotations

import ipaddress
import socket

import psutil

# Bridges and ends of cables that lead to containers and virtual machines, and tunnels to elsewhere.
ELSEWHERE = (
    *("docker", "br-", "veth", "virbr", "vnet", "cni", "flannel", "cali", "podman", "lxc", "lxd", "kube"),
    *("tun", "tap", "wg", "tailscale", "zt"),
)
MOST = 8  # interfaces; each announcement goes out on all of them


def reachable_addresses() -> list[str]:
    """The IPv4 addresses of this device on its local networks, sorted; those of containers left out."""
    states = psutil.net_if_stats()
    found = []
    for name, addresses in psutil.net_if_addrs().items():
        if name.startswith(ELSEWHERE) or not (name in states and states[name].isup):
            continue
        for each in addresses:
            if each.family == socket.AF_INET and not ipaddress.ip_address(each.address).is_loopback:
                found.append(each.address)
    return sorted(found)[:MOST]

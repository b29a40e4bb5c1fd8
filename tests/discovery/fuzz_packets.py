"""Malformed packets of mDNS, from a seed: whatever comes, hearing goes on, and keeps little.

python -m tests.discovery.fuzz_packets SEED RUNS
"""

from __future__ import annotations

import random
import sys

from muleteer.discovery.announced import Shown
from muleteer.discovery.hearing import MOST_DEVICES
from tests.discovery.packets import ME, Ear, announcement, stranger

VALUES = ("", "1", "-1", "99999999999", "7433", "x" * 200, "driver", "\n", "²", "0", "65535", "65536")
KEYS = ("id", "proto", "port", "role", "")


def packet(chance: random.Random) -> bytes:
    """Nearly, or not at all, an announcement."""
    device = chance.choice((ME, f"{chance.randrange(200):032x}"))
    text = {"id": device, "proto": "1", "port": "7433", "role": "alone"}
    for _ in range(chance.randrange(3)):
        text[chance.choice(KEYS)] = chance.choice(VALUES)
    kind = chance.randrange(5)
    if kind == 0:
        return announcement(device, Shown(household=chance.randrange(65536) or 1))
    if kind == 1:
        return stranger(device, text, port=chance.randrange(65536))
    if kind == 2:
        return stranger(device, bytes(chance.randrange(256) for _ in range(chance.randrange(900))))
    content = bytearray(stranger(device, text))
    for _ in range(chance.randrange(1, 9)):
        content[chance.randrange(len(content))] = chance.randrange(256)
    return bytes(content[: chance.randrange(len(content))] if kind == 3 else content)


def fuzz(seed: int, runs: int) -> int:
    """So many packets from this seed; how often a device was told. Raises what must not be raised."""
    chance, ear = random.Random(seed), Ear()
    for _ in range(runs):
        ear.hear(packet(chance), chance.choice((None, 3)))
        ear.time += 0.1
        if len(ear.hearing.devices()) > MOST_DEVICES:
            raise AssertionError("too many devices are remembered")
    kept = sum(len(each) for each in ear.cache.cache.values())
    if kept > MOST_DEVICES + 1:  # their names, and our own, which somebody has used
        raise AssertionError(f"{kept} records were left in the cache")
    return len(ear.told)


if __name__ == "__main__":
    print(fuzz(int(sys.argv[1]), int(sys.argv[2])), "announcements were heard")

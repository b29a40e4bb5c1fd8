"""Between a cable and a port of a bridge: carries frames, and loses some. Linux's own means for that (netem)
is missing in many kernels.

    python lossy_wire.py CABLE PORT PERCENT

Makes the interface PORT and says "ready". Frames come and go with the header that tells what the sender left
to the network card (virtio), since cables between namespaces carry unfinished checksums.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import random
import select
import socket
import struct
import sys

TUNSETIFF = 0x400454CA  # linux/if_tun.h
TAP, NO_INFO, WITH_HEADER = 0x2, 0x1000, 0x4000
SOL_PACKET, ADD_MEMBERSHIP, VNET_HEADER, PROMISCUOUS = 263, 1, 15, 1  # linux/if_packet.h
EVERYTHING = 3  # ETH_P_ALL
LARGEST = 70_000  # bytes of a frame that the card would have split


def main() -> None:
    cable, port, percent = sys.argv[1], sys.argv[2], float(sys.argv[3])
    tap = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(tap, TUNSETIFF, struct.pack("16sH22x", port.encode(), TAP | NO_INFO | WITH_HEADER))
    packets = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(EVERYTHING))
    packets.setblocking(False)
    packets.setsockopt(SOL_PACKET, VNET_HEADER, 1)
    packets.bind((cable, EVERYTHING))
    everybodys = struct.pack("iHH8s", socket.if_nametoindex(cable), PROMISCUOUS, 0, b"")
    packets.setsockopt(SOL_PACKET, ADD_MEMBERSHIP, everybodys)
    print("ready", flush=True)
    ends = {tap: packets.fileno(), packets.fileno(): tap}
    waiting = select.poll()
    for end in ends:
        waiting.register(end, select.POLLIN)
    while True:
        for end, _ in waiting.poll():
            with contextlib.suppress(OSError):  # an end that is down gives nothing and takes nothing
                frame = os.read(end, LARGEST)
                if random.uniform(0, 100) >= percent:
                    os.write(ends[end], frame)


if __name__ == "__main__":
    main()

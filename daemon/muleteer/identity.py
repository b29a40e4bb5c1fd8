"""Who this device is: a random id, made once and kept in the state folder. Never the hostname, which people
give twice and change.

Knows a file; not what the id is used for. Only the process that holds the state folder's lock may ask.
"""

from __future__ import annotations

import errno
import re
import secrets
from pathlib import Path

from muleteer.durable import write_durably
from muleteer.files import open_regular

FILE_NAME = "device-id"
FORM = re.compile(r"[0-9a-f]{32}\n?")
SIZE = 16  # random bytes: two devices of the world never get the same


def device_id(folder: Path) -> str:
    """The id of this device, 32 hexadecimal digits; made if there is none, and on disk.

    Raises `OSError`, whose `strerror` is for people, when it cannot be read or kept. A damaged file is not
    replaced: a device with a new id is another device.
    """
    path = folder / FILE_NAME
    try:
        return _read(path)
    except FileNotFoundError:
        new = secrets.token_hex(SIZE)
        write_durably(path, f"{new}\n".encode())
        return new


def _read(path: Path) -> str:
    with open_regular(path) as file:
        content = file.read(2 * SIZE + 2).decode(errors="replace")  # a larger file is damaged, too
    if not FORM.fullmatch(content):
        raise OSError(
            errno.EINVAL,
            f"{path} is damaged; restore it; or remove it, device-key and household.json beside it: then "
            "this device counts as a new one and may join a household again",
        )
    return content.strip()

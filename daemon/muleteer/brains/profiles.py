"""Where the profiles of models are: those that came with Muleteer, and those that were measured here.

Knows files and digests; what a profile says is the business of `harness/profile.py`.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

from muleteer.engine import models
from muleteer.engine.partial import HASH_CHUNK
from muleteer.files import open_regular, read_whole
from muleteer.harness.profile import Profile, read

log = logging.getLogger(__name__)

LARGEST = 64 << 10  # bytes of one profile; a row of measurements is 300
MOST = 64  # profiles that are read


def profile_of(model: str, file: Path, folder: Path) -> Profile | None:
    """The profile of the model that is in use, measured here (`folder`) or elsewhere. Blocks: a model that is
    in no catalogue is read whole, but only if some profile could be its own."""
    here, shipped = list(_read(folder)), list(_shipped())
    if not (found := here + shipped):
        return None
    entry = models.load_catalogue().get(model)
    digest = entry.sha256 if entry else _digest(file)
    return next((each for each in found if each.model == digest), None)


def _read(folder: Path) -> Iterator[Profile]:
    for path in sorted(folder.glob("*.json"))[:MOST]:
        try:
            with open_regular(path) as file:
                yield read(read_whole(file, LARGEST).decode())
        except (OSError, ValueError) as error:
            log.warning("The profile %s is not used: %s.", path, error)


def _shipped() -> Iterator[Profile]:
    for resource in files(__package__).joinpath("measured").iterdir():
        if resource.name.endswith(".json"):
            yield read(resource.read_text(encoding="utf-8"))


def _digest(path: Path) -> str:
    digest = hashlib.sha256()
    with open_regular(path) as file:
        while chunk := file.read(HASH_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()

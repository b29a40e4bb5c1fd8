"""What the user has turned off and renamed, kept in a file of the state folder.

Knows handles; not whether there is a skill or tool of that handle, nor what follows. Skills and tools are
kept apart, and by the handle that they have on disk: whatever comes back later is steered as before.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from muleteer.durable import write_durably
from muleteer.errors import ConfigError
from muleteer.files import open_regular, read_whole

Kind = Literal["skills", "tools"]
KINDS: tuple[Kind, ...] = get_args(Kind)

HANDLE_LIMIT = 64  # characters, as of a skill's name: a handle is written in plans
FILE_LIMIT = 1_000_000  # bytes; thousands of handles
FORM = r"[a-z0-9]+(-[a-z0-9]+)*"
Handle = Annotated[str, Field(pattern=f"^{FORM}$", max_length=HANDLE_LIMIT)]


class Wishes(BaseModel):
    """The wishes about one kind: `off` by handle on disk, `names` from handle on disk to the new one."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    off: frozenset[Handle] = frozenset()
    names: Mapping[Handle, Handle] = {}

    def shown(self, handle: str) -> str:
        """The handle that the user sees for one on disk."""
        return self.names.get(handle, handle)

    def switched(self, handle: str, on: bool) -> Wishes:
        """With this one (by its handle on disk) on or off."""
        return Wishes(off=self.off - {handle} if on else self.off | {handle}, names=self.names)

    def renamed(self, handle: str, new: str) -> Wishes:
        """With another name for this one; its own name again ends the renaming."""
        others = {old: name for old, name in self.names.items() if old != handle}
        return Wishes(off=self.off, names=others if new == handle else {**others, handle: new})


class Steering(BaseModel):
    """All wishes."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    skills: Wishes = Wishes()
    tools: Wishes = Wishes()

    def of(self, kind: Kind) -> Wishes:
        return self.skills if kind == "skills" else self.tools

    def having(self, kind: Kind, wishes: Wishes) -> Steering:
        """With these wishes about one kind."""
        return self.model_copy(update={kind: wishes})


def read_steering(path: Path) -> Steering:
    """What was kept; nothing, if there is no file. Raises `ConfigError`: what was turned off must not come
    back because a file is damaged."""
    try:
        with open_regular(path) as file:
            return Steering.model_validate_json(read_whole(file, FILE_LIMIT))
    except FileNotFoundError:
        return Steering()
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}.") from error
    except ValidationError as error:
        raise ConfigError(
            f"{path}, which says what is turned off and renamed, is damaged; restore it, or remove it and "
            "everything is on under its own name."
        ) from error


def write_steering(path: Path, steering: Steering) -> None:
    """On disk when this returns. Raises `OSError`."""
    write_durably(path, steering.model_dump_json(indent=1).encode() + b"\n")

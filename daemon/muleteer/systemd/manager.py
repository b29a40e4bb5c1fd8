"""systemd as it is asked to do something: the system's own, or the user's.

Knows `systemctl`, and where units are written that an administrator or a user adds. Every command is run with
a deadline, and one that fails says what it was and what it said.
"""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from muleteer.errors import MuleteerError

SECONDS = 200.0  # for one command; the start of the service may take two minutes and more


class SystemdError(MuleteerError):
    """systemd, or a program that it comes with, has refused or is not there."""

    code = "systemd"


@dataclass(frozen=True, slots=True)
class Manager:
    """`user`: the systemd of the user who calls. `root` is where the system's files are, for an image."""

    user: bool = False
    root: Path = Path("/")

    @property
    def units(self) -> Path:
        """Where units are put that come with no package."""
        if not self.user:
            return self.root / "etc/systemd/system"
        base = os.environ.get("XDG_CONFIG_HOME", "")
        return Path(base if base.startswith("/") else Path.home() / ".config") / "systemd/user"

    def command(self, *arguments: str) -> list[str]:
        return ["systemctl", *(["--user"] if self.user else []), *arguments]

    def systemctl(self, *arguments: str) -> str:
        """What it prints. Raises `SystemdError`."""
        return run(*self.command(*arguments))

    def version(self) -> int:
        """Of systemd, such as 252; 0 where it does not tell."""
        words = self.asks("--version").split()
        return int(words[1]) if len(words) > 1 and words[1].isdecimal() else 0

    def asks(self, *arguments: str) -> str:
        """The word with which it answers a question, whatever its exit code says."""
        try:
            done = subprocess.run(
                self.command(*arguments), capture_output=True, text=True, timeout=SECONDS, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise SystemdError(f"systemctl cannot be asked: {error}.") from error
        return done.stdout.strip()


def run(*command: str) -> str:
    """What a command prints that succeeds. Raises `SystemdError`."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    except FileNotFoundError:
        raise SystemdError(f"There is no {command[0]} here; this needs systemd.") from None
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SystemdError(f"`{' '.join(command)}` cannot be run: {error}.") from error
    if done.returncode:
        said = (done.stderr or done.stdout).strip() or f"it ended with {done.returncode}"
        raise SystemdError(f"`{' '.join(command)}` failed: {said}")
    return done.stdout

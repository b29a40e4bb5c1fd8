"""A throw-away machine whose PID 1 is a real systemd, over this machine's own root.

`systemd-nspawn` runs over an overlay whose writes go to a tmpfs, in namespaces and a cgroup of its own. What
is installed here is there too, but none of this machine's units, and nothing that it changes lasts. Its
clock, and its limits of memory and processor time, are this machine's. Its folder and cgroup are named after
the process of the tests: what one that was killed has left behind, the next one clears.

Needs root, cgroup v2 mounted somewhere, and the Debian packages systemd-container, dbus and libnss-systemd.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

BOOT_SECONDS = 60.0  # on a busy machine; alone it is a third of a second
COMMAND_SECONDS = 120.0
OFF = signal.SIGRTMIN + 4  # systemd(1): power off
NAMED = "machine-"  # how folders and cgroups begin, before the number of the tests' process
HERE = Path(__file__).parent


def missing() -> str:
    """Why no machine can be booted here, in a plain sentence; empty when it can."""
    if os.geteuid() != 0:
        return "A real systemd needs root to be booted; run these tests as root."
    if not shutil.which("systemd-nspawn") or not shutil.which("dbus-daemon"):
        return "systemd-nspawn is missing: apt-get install systemd-container dbus libnss-systemd"
    return "" if hierarchy() else "No cgroup v2 is mounted on this machine."


class Machine:
    """A running machine. `run` executes a command in it, as root beside PID 1."""

    def __init__(self, folder: Path, group: Path, process: subprocess.Popen[bytes]) -> None:
        self._folder, self._group, self._process = folder, group, process
        self.leader = 0
        self._await_boot()

    def run(
        self,
        *command: str,
        check: bool = True,
        user: str = "",
        input: str | None = None,
        seconds: float = COMMAND_SECONDS,
        env: Mapping[str, str] | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """Execute a command, as `user` if given, and wait for it; with `check` it must succeed."""
        try:
            done = subprocess.run(
                self.command(*command, user=user),
                capture_output=True,
                text=True,
                input=input,
                stdin=subprocess.DEVNULL if input is None else None,
                timeout=seconds,
                check=False,
                env=_environment(env or {}),
            )
        except subprocess.TimeoutExpired as error:
            raise AssertionError(f"{error}\n{self.journal()[-4000:]}") from error
        if check and done.returncode:
            told = f"{done.returncode}\n{done.stdout}{done.stderr}\n{self.journal()[-4000:]}"
            raise AssertionError(f"{' '.join(command)}: {told}")
        return done

    def said(self, *command: str, **options: str) -> str:
        """What a command that succeeds prints."""
        return self.run(*command, **options).stdout.strip()  # type: ignore[arg-type]  # the texts among them

    def start(self, *command: str, user: str = "") -> subprocess.Popen[str]:
        """Execute a command and go on."""
        return subprocess.Popen(
            self.command(*command, user=user),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=_environment({}),
        )

    def command(self, *command: str, user: str = "") -> list[str]:
        """The command that executes `command` inside."""
        enter = ["nsenter", "--target", str(self.leader), "--all", "--wd=/", "--"]
        as_user = ["setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups", "--"] if user else []
        return [*enter, *as_user, *command]

    def journal(self, *arguments: str) -> str:
        """What the journal holds."""
        return self.run("journalctl", "--no-pager", *arguments, check=False).stdout

    def show(self, unit: str, name: str) -> str:
        """One property of a unit."""
        return self.said("systemctl", "show", unit, f"--property={name}", "--value")

    def until(self, true: Callable[[], object], what: str, seconds: float = COMMAND_SECONDS) -> None:
        """Ask again and again, since nothing inside can call us; fails after so many seconds."""
        end = time.monotonic() + seconds
        while not true():
            assert time.monotonic() < end, f"not {what} within {seconds:g} s\n{self.journal()[-6000:]}"
            time.sleep(0.1)

    def write(self, path: str, text: str, mode: str = "644") -> None:
        """Put a file into the machine, with the folders that it needs."""
        self.run("install", "-D", "-m", mode, "/dev/stdin", path, input=text)

    def reboot(self) -> None:
        """Restart the machine, orderly; what is on its disk stays."""
        before = self.leader
        os.kill(before, signal.SIGRTMIN + 5)  # systemd(1): reboot
        end = time.monotonic() + BOOT_SECONDS
        while _leader(self._group) in (before, 0) and time.monotonic() < end:
            time.sleep(0.02)
        self._await_boot()

    def off(self) -> None:
        """Power off, and remove every trace."""
        if self.leader:
            try:
                os.kill(self.leader, OFF)
                self._process.wait(BOOT_SECONDS)
            except (ProcessLookupError, subprocess.TimeoutExpired):
                pass
        self._process.kill()
        self._process.wait()
        _clear(self._group)
        shutil.rmtree(self._folder, ignore_errors=True)

    def _await_boot(self) -> None:
        end = time.monotonic() + BOOT_SECONDS
        state = ""
        while time.monotonic() < end and self._process.poll() is None:
            self.leader = _leader(self._group)
            if self.leader:
                state = self.run("systemctl", "is-system-running", "--wait", check=False).stdout.strip()
                if state in ("running", "degraded"):
                    return
            time.sleep(0.05)
        raise AssertionError(f"The machine did not boot ({state}):\n{(self._folder / 'console').read_text()}")


@contextmanager
def machine(
    *,
    copies: Mapping[Path, str] | None = None,
    shown: Mapping[Path, str] | None = None,
    network: str = "",
    name: str = "mule",
) -> Iterator[Machine]:
    """A machine, from boot to the end of the block. `copies` are files or folders copied into it before it
    boots, `shown` folders that it can read; both by where they are seen. `network` is one of `ip netns`;
    without it there is only the loopback interface."""
    cgroups = hierarchy()
    assert cgroups, missing()
    sweep(cgroups)
    folder = Path(tempfile.mkdtemp(prefix=f"{NAMED}{os.getpid()}-"))
    group = cgroups / folder.name
    group.mkdir()
    net = f"--network-namespace-path=/run/netns/{network}" if network else "--private-network"
    binds = [f"--bind-ro={source}:{target}" for source, target in (shown or {}).items()]
    listed = "\n".join(f"{source}:{target}" for source, target in (copies or {}).items())
    (folder / "mount").mkdir()
    stage = ["bash", str(HERE / "boot.sh"), str(folder / "mount"), name, listed, net, *binds]
    namespaces = ["unshare", "--mount", "--pid", "--mount-proc", "--fork", "--kill-child"]
    joining = ["bash", "-c", 'echo $$ >"$0/cgroup.procs"; exec "$@"', str(group)]
    with (folder / "console").open("wb") as console:
        process = subprocess.Popen(
            [*joining, "setpriv", "--pdeathsig", "KILL", *namespaces, *stage],
            stdin=subprocess.DEVNULL,
            stdout=console,
            stderr=subprocess.STDOUT,
        )
    made: Machine | None = None
    try:
        made = Machine(folder, group, process)
        yield made
    finally:
        (made or _unbooted(folder, group, process)).off()


def sweep(cgroups: Path) -> None:
    """Clear what tests that were killed have left: their machines died with them."""
    for folder in [*cgroups.glob(f"{NAMED}*"), *Path(tempfile.gettempdir()).glob(f"{NAMED}*")]:
        owner = folder.name.removeprefix(NAMED).partition("-")[0]
        if not owner.isdecimal() or Path("/proc", owner).exists():
            continue
        if folder.parent == cgroups:
            _clear(folder)
        else:
            shutil.rmtree(folder, ignore_errors=True)


def _clear(group: Path) -> None:
    """Remove a cgroup, once its last processes are reaped."""
    for _ in range(50):
        for each in sorted(group.rglob("*"), reverse=True):
            if each.is_dir():
                _remove(each)
        if _remove(group):
            return
        time.sleep(0.1)


def _unbooted(folder: Path, group: Path, process: subprocess.Popen[bytes]) -> Machine:
    """What is left of a machine that did not boot, to be removed."""
    left = Machine.__new__(Machine)
    left._folder, left._group, left._process, left.leader = folder, group, process, 0
    return left


def hierarchy() -> Path | None:
    """Where cgroup v2 is mounted, if it is."""
    for line in Path("/proc/mounts").read_text().splitlines():
        _, target, kind, *_ = line.split()
        if kind == "cgroup2":
            return Path(target)
    return None


def _leader(group: Path) -> int:
    """PID 1 of the machine, as numbered here; 0 while there is none."""
    try:
        lines = (group / "payload/init.scope/cgroup.procs").read_text().split()
    except OSError:
        return 0
    return int(lines[0]) if lines else 0


def _remove(group: Path) -> bool:
    try:
        group.rmdir()
    except FileNotFoundError:
        return True
    except OSError:  # its last processes are being reaped
        return False
    return True


def _environment(added: Mapping[str, str]) -> dict[str, str]:
    return {
        "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "LANG": "C.UTF-8",
        **added,
    }

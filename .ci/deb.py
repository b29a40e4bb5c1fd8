"""Builds the Debian package: a virtual environment under /opt/muleteer, the units, and who starts them.

The same layout on every architecture; what is compiled in it is for the one it is built on, and its units are
for the systemd here. Prints where the package is. Needs dpkg-deb, /usr/bin/python3 with venv, and the wheel
of llama.cpp that `make llama` builds.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from muleteer.systemd.installing import PROGRAM, unit
from muleteer.systemd.manager import Manager

ROOT = Path(__file__).resolve().parents[1]
PYTHON = "/usr/bin/python3"
VENV = Path("opt/muleteer")
UNITS = Path("usr/lib/systemd")
VERSION = re.compile(r'__version__ = "([^"]+)"')

CONTROL = """\
Package: muleteer
Version: {version}
Architecture: {architecture}
Maintainer: Muleteer <muleteer@localhost>
Installed-Size: {size}
Depends: python3 (>= {python}), python3 (<< {next_python}), libgomp1, libstdc++6, adduser
Recommends: systemd (>= 252)
Section: utils
Priority: optional
Description: small language model in harness, as a service
 A daemon for small boards: one resident quantized model, and a harness that
 makes it act reliably. Talk to it with the command muleteer.
"""

POSTINST = """\
#!/bin/sh
set -e
if [ "$1" = configure ] && [ -d /run/systemd/system ]; then
    systemd-sysusers /usr/lib/sysusers.d/muleteer.conf
    systemd-tmpfiles --create /usr/lib/tmpfiles.d/muleteer.conf
    # What follows from the settings, in a drop-in; with a mistake in them it says so and stays as it is.
    /opt/muleteer/bin/muleteer install --no-start >/dev/null || true
    systemctl daemon-reload
    if [ -z "$2" ]; then
        systemctl enable muleteer.socket muleteer.service muleteer-health.timer
    fi
    # Without a model yet it cannot start; `muleteer model pull` says what to do then.
    systemctl start muleteer.socket muleteer-health.timer
    systemctl restart --no-block muleteer.service || true
fi
"""

PRERM = """\
#!/bin/sh
set -e
if [ "$1" = remove ] && [ -d /run/systemd/system ]; then
    for timer in /etc/systemd/system/muleteer-turn@*.timer.d; do
        [ -d "$timer" ] || continue
        name=${timer##*/}
        systemctl disable --now "${name%.d}" || true
        rm -rf "$timer"
    done
    systemctl disable --now muleteer-voice.service muleteer-health.timer muleteer.socket muleteer.service
    # What `muleteer install` has made of the settings; it makes it again.
    if [ -e /etc/systemd/system/muleteer-tcp.socket ]; then
        systemctl disable --now muleteer-tcp.socket
        rm -f /etc/systemd/system/muleteer-tcp.socket
    fi
fi
"""

POSTRM = """\
#!/bin/sh
set -e
if [ -d /run/systemd/system ]; then
    systemctl daemon-reload
fi
if [ "$1" = remove ] || [ "$1" = purge ]; then
    rm -rf /opt/muleteer  # what Python has compiled there is in no package
fi
if [ "$1" = purge ]; then
    rm -rf /var/lib/muleteer /var/cache/muleteer /etc/muleteer /run/muleteer
    rm -rf /var/lib/muleteer-voice /var/cache/muleteer-voice
    rm -rf /etc/systemd/system/muleteer.service.d
    for user in muleteer-voice muleteer; do
        if getent passwd $user >/dev/null; then
            deluser --quiet --system $user || true
        fi
    done
fi
"""


def run(*command: str | Path) -> str:
    """What a program prints that must succeed."""
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout.strip()


def make_venv(folder: Path, wheels: Sequence[Path]) -> None:
    """A virtual environment with Muleteer and all it asks for."""
    run(PYTHON, "-m", "venv", "--without-pip", folder)
    python = folder / "bin" / "python3"
    pip = (sys.executable, "-m", "pip", "--quiet", "--python", python)
    run(*pip, "install", "--no-compile", f"{ROOT}[mcp,mqtt]", *wheels)


def relocate(venv: Path) -> None:
    """Let everything in it refer to the place where it will be."""
    for path in [venv / "pyvenv.cfg", *(venv / "bin").iterdir()]:
        if path.is_symlink() or not path.is_file():
            continue
        content = path.read_bytes()
        path.write_bytes(content.replace(os.fsencode(venv), b"/" + os.fsencode(VENV)))


def fill(root: Path, share: Path) -> None:
    """The units, users and folders where a package has them, and the command."""
    for kind, pattern in (("system", "muleteer*"), ("user", "user/muleteer*")):
        (root / UNITS / kind).mkdir(parents=True)
        for path in share.glob(pattern):
            text = unit(path.read_text(), Path(PROGRAM), Manager().version())
            (root / UNITS / kind / path.name).write_text(text)
    for kind in ("sysusers.d", "tmpfiles.d"):
        shutil.copytree(share / kind, root / "usr/lib" / kind)
    (root / "usr/bin").mkdir(parents=True)
    (root / "usr/bin/muleteer").symlink_to(f"/{VENV}/bin/muleteer")


def control(root: Path, version: str, architecture: str) -> None:
    """What dpkg knows of it, and does with it."""
    folder = root / "DEBIAN"
    folder.mkdir()
    size = sum(path.lstat().st_size for path in root.rglob("*")) // 1024
    major, minor = run(PYTHON, "-c", "import sys; print(*sys.version_info[:2])").split()
    text = CONTROL.format(
        version=version,
        architecture=architecture,
        size=size,
        python=f"{major}.{minor}",
        next_python=f"{major}.{int(minor) + 1}",
    )
    (folder / "control").write_text(text)
    for name, script in (("postinst", POSTINST), ("prerm", PRERM), ("postrm", POSTRM)):
        (folder / name).write_text(script)
        (folder / name).chmod(0o755)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="the folder to put it into")
    parser.add_argument("--venv", type=Path, help="use this virtual environment, made for /opt/muleteer")
    parser.add_argument("--version", help="instead of the package's own")
    parser.add_argument("--architecture", help="what --venv was made for, if not for this machine")
    chosen = parser.parse_args()
    architecture = chosen.architecture or run("dpkg", "--print-architecture")
    found = VERSION.search((ROOT / "daemon/muleteer/__init__.py").read_text())
    if not found:
        raise SystemExit("There is no version in daemon/muleteer/__init__.py.")
    version = chosen.version or found[1]
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(temporary) / "root"
        venv = root / VENV
        root.mkdir(mode=0o755)
        if chosen.venv:
            shutil.copytree(chosen.venv, venv, symlinks=True)
        else:
            wheels = sorted((ROOT / ".cache/wheels").glob("llama_cpp_python-*.whl"))
            make_venv(venv, wheels)
            relocate(venv)
        fill(root, ROOT / "systemd")
        control(root, version, architecture)
        chosen.out.mkdir(parents=True, exist_ok=True)
        package = chosen.out / f"muleteer_{version}_{architecture}.deb"
        run("dpkg-deb", "--root-owner-group", "-Zxz", "-z1", "--build", root, package)
    print(package)


if __name__ == "__main__":
    main()

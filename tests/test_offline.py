"""The switch: what it says in each mode, and that it stays as it was set."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from muleteer.offline import Mode, Switch, has_route


def switch(folder: Path, default: Mode = "auto", *, routed: bool = True) -> Switch:
    return Switch(folder / "offline.json", default, lambda: routed)


@pytest.mark.parametrize(
    ("mode", "routed", "reason"),
    [
        ("on", True, "Offline mode is on"),
        ("off", False, ""),
        ("auto", True, ""),
        ("auto", False, "This device has no route to the internet"),
    ],
)
async def test_each_mode_says_why(tmp_path: Path, mode: Mode, routed: bool, reason: str) -> None:
    made = switch(tmp_path, mode, routed=routed)
    await made.open()
    assert await made.reason() == made.why() == reason
    assert made.report() == {"mode": mode, "offline": bool(reason), "reason": reason}


async def test_what_was_chosen_outlives_a_restart_and_the_setting(tmp_path: Path) -> None:
    first = switch(tmp_path)
    await first.open()
    await first.set("on")
    second = switch(tmp_path, "off")
    await second.open()
    assert second.mode == "on"
    assert os.listdir(tmp_path) == ["offline.json"]


async def test_auto_follows_the_route(tmp_path: Path) -> None:
    there = [False]
    made = Switch(tmp_path / "offline.json", "auto", lambda: there[0])
    assert made.why()
    there[0] = True
    assert not made.why()


@pytest.mark.parametrize("content", [b"", b"\xff", b'{"mode": "maybe"}', b"[]", b"x" * 5000])
async def test_a_damaged_file_counts_as_on_and_can_be_set_anew(
    tmp_path: Path, content: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "offline.json").write_bytes(content)
    made = switch(tmp_path, "off")
    await made.open()
    assert made.mode == "on"
    assert "choose with `muleteer offline`" in caplog.text
    await made.set("off")
    again = switch(tmp_path)
    await again.open()
    assert again.mode == "off"


async def test_what_cannot_be_kept_is_not_in_force(tmp_path: Path) -> None:
    made = Switch(tmp_path / "missing" / "offline.json", "auto", lambda: True)
    with pytest.raises(FileNotFoundError):
        await made.set("on")
    assert made.mode == "auto"


def test_a_network_without_a_route_is_seen() -> None:
    """In a network namespace of its own, where there is no route at first and then a default route."""
    look = f"{sys.executable} -c 'from muleteer.offline import has_route; print(has_route())'"
    script = f"{look}; ip link set lo up && {look} && ip route add default dev lo && {look}"
    done = subprocess.run(["unshare", "-rn", "sh", "-c", script], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"no network namespaces here: {done.stderr}")
    assert done.stdout.split() == ["False", "False", "True"]


def test_looking_needs_no_privilege_and_leaves_nothing_open() -> None:
    before = len(os.listdir("/proc/self/fd"))
    assert isinstance(has_route(), bool)
    assert len(os.listdir("/proc/self/fd")) == before

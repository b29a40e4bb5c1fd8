"""Profiles of models: found by digest, the ones that were measured here before those that were shipped."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from muleteer.brains.profiles import profile_of
from muleteer.brains.service import Brains
from muleteer.brains.settings import BrainServer, BrainsSettings
from muleteer.engine import models

SIDE = {"n": 100, "right": 90, "seconds": 1.0}
WORSE = {"n": 100, "right": 40, "seconds": 1.0}


def write(folder: Path, name: str, digest: str, flat: dict[str, float] = SIDE) -> None:
    folder.mkdir(exist_ok=True)
    row = {"number": 8, "harness": WORSE, "flat": flat}
    text = json.dumps({"model": digest, "command": "measured", "tools": [row]})
    (folder / name).write_text(text)


def test_a_profile_belongs_to_the_bytes_of_a_model(tmp_path: Path) -> None:
    model = tmp_path / "own.gguf"
    model.write_bytes(b"GGUF and more")
    profiles = tmp_path / "profiles"
    assert profile_of(str(model), model, profiles) is None
    write(profiles, "a.json", "f" * 64)
    assert profile_of(str(model), model, profiles) is None
    write(profiles, "b.json", hashlib.sha256(model.read_bytes()).hexdigest())
    found = profile_of(str(model), model, profiles)
    assert found is not None
    assert found.command == "measured"


def test_a_model_of_the_catalogue_is_not_read(tmp_path: Path) -> None:
    digest = models.load_catalogue()["standard"].sha256
    write(tmp_path / "profiles", "s.json", digest)
    found = profile_of("standard", tmp_path / "is not here", tmp_path / "profiles")
    assert found is not None
    assert found.model == digest


@pytest.mark.parametrize("content", [b"", b"{", b"\xff", b"x" * 100_000])
def test_what_is_no_profile_is_told_and_left(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, content: bytes
) -> None:
    digest = models.load_catalogue()["standard"].sha256
    write(tmp_path / "profiles", "z.json", digest)
    (tmp_path / "profiles" / "a.json").write_bytes(content)
    assert profile_of("standard", tmp_path, tmp_path / "profiles") is not None
    assert "a.json is not used" in caplog.text


def brains(offline: str = "", **settings: object) -> Brains:
    servers = {"desk": BrainServer.model_validate({"url": "http://h/v1", "network": True, **settings})}
    return Brains(BrainsSettings(servers=servers), lambda: offline, lambda: ("<tool_call>",))


def test_the_brain_at_home_takes_the_path_that_was_measured(tmp_path: Path) -> None:
    own = brains()
    assert not own.choose("", False, 8, 3).flat
    assert own.choose("", False, 8, 0).flat, "no skills"
    write(tmp_path / "profiles", "s.json", models.load_catalogue()["standard"].sha256)
    own.profile = profile_of("standard", tmp_path, tmp_path / "profiles")
    chosen = own.choose("", False, 8, 3)
    assert chosen.flat
    assert chosen.marks == ("<tool_call>",)
    assert chosen.lane is None


def test_a_brain_elsewhere_is_flat_unless_the_settings_say_otherwise() -> None:
    assert brains().choose("desk", False, 8, 3).flat
    assert not brains(path="harness").choose("desk", False, 8, 3).flat
    chosen = brains(prompt=9000, output=500, turn=20_000).choose("desk", False, 8, 3)
    assert (chosen.prompt, chosen.output, chosen.turn) == (9000, 500, 20_000)
    assert chosen.lane is not None


def test_offline_it_is_the_one_at_home_and_why() -> None:
    chosen = brains("Offline mode is on").choose("desk", False, 8, 3)
    assert (chosen.name, chosen.lane) == ("local", None)
    assert chosen.reason == "Offline mode is on, so desk cannot be asked"

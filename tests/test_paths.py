from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from muleteer import paths
from muleteer.errors import ConfigError


@pytest.fixture(autouse=True)
def _bare_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith(("MULETEER_", "XDG_")) or name.endswith("_DIRECTORY"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))


def test_home_defaults(tmp_path: Path) -> None:
    assert paths.config_dir() == tmp_path / ".config/muleteer"
    assert paths.state_dir() == tmp_path / ".local/state/muleteer"
    assert paths.models_dir() == tmp_path / ".cache/muleteer/models"
    assert paths.socket_path() == tmp_path / ".local/state/muleteer/muleteer.sock"


# Each row: a function, the variable that decides, its value, the path that follows. From the weakest up.
RANKED = [
    (paths.config_dir, "XDG_CONFIG_HOME", "/x", "/x/muleteer"),
    (paths.config_dir, "CONFIGURATION_DIRECTORY", "/etc/m:/etc/n", "/etc/m"),
    (paths.state_dir, "XDG_STATE_HOME", "/x", "/x/muleteer"),
    (paths.state_dir, "STATE_DIRECTORY", "/var/lib/m:/other", "/var/lib/m"),
    (paths.state_dir, "MULETEER_STATE", "/mine", "/mine"),
    (paths.models_dir, "XDG_CACHE_HOME", "/x", "/x/muleteer/models"),
    (paths.models_dir, "CACHE_DIRECTORY", "/var/cache/m", "/var/cache/m/models"),
    (paths.models_dir, "MULETEER_MODELS", "/mine", "/mine"),
    (paths.socket_path, "XDG_STATE_HOME", "/s", "/s/muleteer/muleteer.sock"),
    (paths.socket_path, "XDG_RUNTIME_DIR", "/run/user/7", "/run/user/7/muleteer/muleteer.sock"),
    (paths.socket_path, "RUNTIME_DIRECTORY", "/run/m", "/run/m/muleteer.sock"),
    (paths.socket_path, "MULETEER_SOCKET", "/mine", "/mine"),
]


@pytest.mark.parametrize("function", dict.fromkeys(row[0] for row in RANKED))
def test_stronger_variables_win(function: object, monkeypatch: pytest.MonkeyPatch) -> None:
    for ranked, variable, value, wanted in RANKED:
        if ranked is function:
            monkeypatch.setenv(variable, value)
            assert ranked() == Path(wanted)


def test_relative_xdg_variables_count_as_unset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "relative")
    monkeypatch.setenv("XDG_RUNTIME_DIR", "relative")
    assert paths.socket_path() == tmp_path / ".local/state/muleteer/muleteer.sock"


def test_overrides_may_be_relative_or_begin_at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MULETEER_STATE", "a/../b")
    monkeypatch.setenv("MULETEER_MODELS", "~/m")
    assert paths.state_dir() == tmp_path / "b"
    assert paths.models_dir() == tmp_path / "m"
    assert paths.expand("c", Path("/base")) == Path("/base/c")
    assert paths.expand("/c", Path("/base")) == Path("/c")


def test_a_client_tries_its_own_daemon_then_the_service(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = tmp_path / "service.sock"
    monkeypatch.setattr(paths, "SYSTEM_SOCKET", service)
    assert paths.client_socket() == paths.socket_path()
    service.touch()
    assert paths.client_socket() == service
    monkeypatch.setenv("MULETEER_SOCKET", "/mine")
    assert paths.client_socket() == Path("/mine")
    monkeypatch.delenv("MULETEER_SOCKET")
    paths.socket_path().parent.mkdir(parents=True)
    paths.socket_path().touch()
    assert paths.client_socket() == paths.socket_path()


def test_folders_of_skills_and_tools_without_repetition(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shipped, own = paths.share_dir(), tmp_path / ".config/muleteer"
    assert paths.skill_folders() == (shipped / "skills", Path("/etc/muleteer/skills"), own / "skills")
    assert paths.tool_folders() == (shipped / "tools", Path("/etc/muleteer/tools"), own / "tools")
    monkeypatch.setenv("CONFIGURATION_DIRECTORY", "/etc/muleteer")
    assert paths.config_files() == (Path("/etc/muleteer/config.toml"),)
    assert paths.skill_folders() == (shipped / "skills", Path("/etc/muleteer/skills"))


def test_share_is_the_checkout_or_what_the_wheel_carries(tmp_path: Path) -> None:
    """A copy of the package answers for itself, once without and once with a `share` folder."""
    package = tmp_path / "site/muleteer"
    package.mkdir(parents=True)
    source = Path(paths.__file__).parent
    for name in ("__init__.py", "paths.py", "errors.py"):
        (package / name).write_bytes((source / name).read_bytes())
    assert _share_dir_of(package) == tmp_path
    (package / "share").mkdir()
    assert _share_dir_of(package) == package / "share"


def _share_dir_of(package: Path) -> Path:
    done = subprocess.run(
        [sys.executable, "-c", "from muleteer import paths; print(paths.share_dir())"],
        env={"PYTHONPATH": str(package.parent)},
        cwd="/",
        check=True,
        capture_output=True,
        text=True,
    )
    return Path(done.stdout.strip())


def test_no_home_folder_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOME")
    monkeypatch.setattr(os, "getuid", lambda: 4_000_000_000)  # nobody's: not in the user database
    with pytest.raises(ConfigError, match=r"There is no home folder .*; set HOME, or MULETEER_STATE"):
        paths.state_dir()
    monkeypatch.setenv("MULETEER_STATE", "/mine")
    assert paths.state_dir() == Path("/mine")

"""Where things lie: shipped files, settings, state, models and the socket.

Knows the environment's naming rules (systemd's directory variables, then the XDG variables, then the
home folder). Does not read the settings and makes no folder: `config.Settings` holds what is in force.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from muleteer.errors import ConfigError

SYSTEM_CONFIG = Path("/etc/muleteer")
SYSTEM_SOCKET = Path("/run/muleteer/muleteer.sock")
SYSTEM_VOICE_SOCKET = Path("/run/muleteer-voice/voice-control.sock")
SOCKET_NAME = "muleteer.sock"
VOICE_SOCKET_NAME = "voice-control.sock"


def share_dir() -> Path:
    """The folder that holds the shipped `skills`, `tools` and `systemd`: a wheel's or the checkout's."""
    package = Path(__file__).resolve().parent
    carried = package / "share"
    return carried if carried.is_dir() else package.parent.parent


def config_dir() -> Path:
    """The user's settings, skills and tools (under systemd: the service's)."""
    return _systemd("CONFIGURATION_DIRECTORY") or _home("XDG_CONFIG_HOME", ".config") / "muleteer"


def state_dir() -> Path:
    """What must outlive a restart: the notebook, the prefixes' state files. `MULETEER_STATE` overrides."""
    return _override("MULETEER_STATE") or _systemd("STATE_DIRECTORY") or _xdg_state()


def models_dir() -> Path:
    """Fetched models; may be deleted at any time. `MULETEER_MODELS` overrides."""
    override = _override("MULETEER_MODELS")
    if override:
        return override
    cache = _systemd("CACHE_DIRECTORY") or _home("XDG_CACHE_HOME", ".cache") / "muleteer"
    return cache / "models"


def socket_path() -> Path:
    """Where a daemon listens unless told otherwise. `MULETEER_SOCKET` overrides."""
    override = _override("MULETEER_SOCKET")
    if override:
        return override
    systemd = _systemd("RUNTIME_DIRECTORY")
    if systemd:
        return systemd / SOCKET_NAME
    runtime = _absolute("XDG_RUNTIME_DIR")
    return (runtime / "muleteer" if runtime else _xdg_state()) / SOCKET_NAME


def client_socket() -> Path:
    """The socket a client tries: the user's own daemon if one is there, else the system's service."""
    own = socket_path()
    if _override("MULETEER_SOCKET") or own.exists() or not SYSTEM_SOCKET.exists():
        return own
    return SYSTEM_SOCKET


def voice_socket() -> Path:
    """Where the voice process is controlled unless told otherwise. `MULETEER_VOICE__SOCKET` overrides."""
    override = _override("MULETEER_VOICE__SOCKET")
    if override:
        return override
    systemd = _systemd("RUNTIME_DIRECTORY")
    if systemd:
        return systemd / VOICE_SOCKET_NAME
    runtime = _absolute("XDG_RUNTIME_DIR")
    return (runtime / "muleteer" if runtime else _xdg_state()) / VOICE_SOCKET_NAME


def voice_client_socket() -> Path:
    """The one that a command tries: the user's own voice process, else the system's service."""
    own = voice_socket()
    if _override("MULETEER_VOICE__SOCKET") or own.exists() or not SYSTEM_VOICE_SOCKET.exists():
        return own
    return SYSTEM_VOICE_SOCKET


def config_files() -> tuple[Path, ...]:
    """The settings files in reading order, present or not; later ones override."""
    return tuple(dict.fromkeys((SYSTEM_CONFIG / "config.toml", config_dir() / "config.toml")))


def skill_folders() -> tuple[Path, ...]:
    """Folders of `<name>/SKILL.md`, present or not; later ones override by name."""
    return _under_each_root("skills")


def tool_folders() -> tuple[Path, ...]:
    """Folders of `<name>.py`, present or not; later ones override by name."""
    return _under_each_root("tools")


def origin_of(folder: Path) -> str:
    """How a folder of skills or tools is called in a listing."""
    return "shipped" if folder.parent == share_dir() else str(folder)


def _under_each_root(name: str) -> tuple[Path, ...]:
    return tuple(dict.fromkeys(root / name for root in (share_dir(), SYSTEM_CONFIG, config_dir())))


def _xdg_state() -> Path:
    return _home("XDG_STATE_HOME", ".local/state") / "muleteer"


def _override(variable: str) -> Path | None:
    value = os.environ.get(variable, "")
    return expand(value) if value else None


def _systemd(variable: str) -> Path | None:
    """systemd joins several folders with colons; the first is the service's own."""
    first = os.environ.get(variable, "").partition(":")[0]
    return Path(first) if first else None


def _absolute(variable: str) -> Path | None:
    """An XDG variable; the specification says that a relative value counts as unset."""
    value = os.environ.get(variable, "")
    return Path(value) if value.startswith("/") else None


def _home(variable: str, fallback: str) -> Path:
    return _absolute(variable) or _home_folder(Path.home) / fallback


def expand(text: str | Path, base: Path | None = None) -> Path:
    """An absolute path; a leading `~` is the home folder, a relative one starts at `base` (None: the working
    folder)."""
    return Path(os.path.abspath((base or Path()) / _home_folder(Path(text).expanduser)))


def _home_folder(look: Callable[[], Path]) -> Path:
    try:
        return look()
    except RuntimeError as error:  # neither HOME nor a passwd entry
        raise ConfigError(
            "There is no home folder to keep files in; set HOME, or MULETEER_STATE, MULETEER_MODELS and "
            "XDG_CONFIG_HOME."
        ) from error

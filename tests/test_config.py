from __future__ import annotations

import os
import re
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from muleteer import config, paths
from muleteer.config import Settings
from muleteer.errors import ConfigError
from muleteer.settings import layers
from muleteer.settings.sections import Budgets, EngineSettings, GatewaySettings


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in list(os.environ):
        if name.startswith(("MULETEER_", "XDG_")) or name.endswith("_DIRECTORY"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(paths, "SYSTEM_CONFIG", tmp_path / "etc")
    return tmp_path


@pytest.fixture
def user_file(home: Path) -> Path:
    file = home / ".config/muleteer/config.toml"
    file.parent.mkdir(parents=True)
    return file


def mistakes(file: Path | None = None) -> list[str]:
    """The sentences of the refusal, without the list's marks."""
    with pytest.raises(ConfigError) as refused:
        config.load(file)
    lines = str(refused.value).split("\n- ")
    return lines if len(lines) == 1 else lines[1:]


def test_defaults_hold_together_and_come_from_nowhere(home: Path) -> None:
    in_force = config.load()
    assert in_force == Settings()
    assert (in_force.engine.model, in_force.engine.context, in_force.budgets.turn) == ("standard", 4096, 4000)
    assert in_force.state == home / ".local/state/muleteer"
    assert {each.origin for each in config.sources()} == {"default"}
    assert all(each.description for each in config.sources())


def test_files_then_environment_then_options(
    home: Path, user_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "etc").mkdir()
    system = home / "etc/config.toml"
    system.write_text('state = "data"\n[engine]\ncontext = 5000\nbatch = 64\nqueue = 3\nload_timeout = 9\n')
    user_file.write_text('[engine]\nbatch = 32\nqueue = 4\nmodel = "small"\n')
    monkeypatch.setenv("MULETEER_ENGINE__QUEUE", "5")
    monkeypatch.setenv("MULETEER_ENGINE__MODEL", "tiny")
    monkeypatch.setenv("MULETEER_BUDGETS__SECONDS", "7.5")
    monkeypatch.setenv("MULETEER_ENGINE__THREADS", "")
    options = {"engine.model": "/x.gguf", "state": None}
    in_force = config.load(options=options)
    assert in_force.engine == EngineSettings(
        context=5000, batch=32, queue=5, model="/x.gguf", load_timeout=9.0
    )
    assert in_force.budgets.seconds == 7.5
    assert in_force.state == home / "etc/data"
    origins = {each.key: each.origin for each in config.sources(options=options)}
    assert origins["engine.context"] == origins["state"] == str(system)
    assert origins["engine.batch"] == str(user_file)
    assert origins["engine.queue"] == "MULETEER_ENGINE__QUEUE"
    assert origins["engine.model"] == "--model"
    assert origins["engine.threads"] == "default"


PLACES = ("system file", "user file", "MULETEER_ENGINE__MODEL", "--model")


@pytest.mark.parametrize("said", [set(some) for n in range(5) for some in combinations(PLACES, n)], ids=str)
def test_value_and_origin_are_those_of_the_strongest_place(
    home: Path, user_file: Path, monkeypatch: pytest.MonkeyPatch, said: set[str]
) -> None:
    system = home / "etc/config.toml"
    system.parent.mkdir()
    system.write_text("engine.model = 'system file'" if "system file" in said else "")
    user_file.write_text("engine.model = 'user file'" if "user file" in said else "")
    if "MULETEER_ENGINE__MODEL" in said:
        monkeypatch.setenv("MULETEER_ENGINE__MODEL", "MULETEER_ENGINE__MODEL")
    options = {"engine.model": "--model" if "--model" in said else None}
    (model,) = (each for each in config.sources(options=options) if each.key == "engine.model")
    strongest = next((place for place in reversed(PLACES) if place in said), "standard")
    origins = {"system file": str(system), "user file": str(user_file), "standard": "default"}
    assert (model.value, model.origin) == (strongest, origins.get(strongest, strongest))


def test_the_short_variables(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    monkeypatch.setenv("MULETEER_SOCKET", "~/s")
    monkeypatch.setenv("MULETEER_STATE", "/a")
    monkeypatch.setenv("MULETEER_MODELS", "/b")
    in_force = config.load()
    assert (in_force.gateway.socket, in_force.state, in_force.models) == (home / "s", Path("/a"), Path("/b"))


@pytest.mark.parametrize("how", ["argument", "variable"])
def test_a_named_file_is_read_alone(
    home: Path, user_file: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    user_file.write_text("engine.queue = 3")
    mine = home / "mine.toml"
    mine.write_text("engine.batch = 64")
    monkeypatch.chdir(home)
    if how == "variable":
        monkeypatch.setenv("MULETEER_CONFIG", "mine.toml")
    in_force = config.load(Path("mine.toml") if how == "argument" else None)
    assert (in_force.engine.batch, in_force.engine.queue) == (64, 16)


@pytest.mark.parametrize(
    ("text", "key", "nearest"),
    [
        ("[engine]\ncontxt = 1", "engine.contxt", "engine.context"),
        ("context = 1", "context", "engine.context"),
        ("[engin]\ncontext = 1", "engin.context", "engine.context"),
        ("[budgets]\nsocket = '/x'", "budgets.socket", "gateway.socket"),
        ("[budget.turn]\nx = 1", "budget.turn", "budgets.turn"),
        ("sate = '/x'", "sate", "state"),
        ("[stat]", "stat", "state"),
        ("[engine.model]\nname = 'x'", None, None),
    ],
)
def test_unknown_keys_name_the_nearest(
    user_file: Path, text: str, key: str | None, nearest: str | None
) -> None:
    user_file.write_text(text)
    wanted = f"{user_file}: unknown key {key}; the nearest known one is {nearest}."
    if key is None:
        wanted = f'{user_file}: engine.model must be text of at least one character, not {{"name": "x"}}.'
    assert mistakes() == [wanted]


@pytest.mark.parametrize(
    ("variable", "nearest"),
    [
        ("MULETEER_ENGINE__CONTXT", "MULETEER_ENGINE__CONTEXT"),
        ("MULETEER_ENGINE_CONTEXT", "MULETEER_ENGINE__CONTEXT"),
        ("MULETEER_engine__context", "MULETEER_ENGINE__CONTEXT"),
        ("MULETEER_GATEWAY__SOCKET", "MULETEER_SOCKET"),
        ("MULETEER_SOKET", "MULETEER_SOCKET"),
        ("MULETEER_STATES", "MULETEER_STATE"),
        ("MULETEER_CONFG", "MULETEER_CONFIG"),
    ],
)
def test_unknown_variables_name_the_nearest(
    monkeypatch: pytest.MonkeyPatch, variable: str, nearest: str
) -> None:
    monkeypatch.setenv(variable, "1")
    assert mistakes() == [f"unknown environment variable {variable}; the nearest known one is {nearest}."]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('engine.context = "4096"', 'engine.context must be a whole number from 512 to 131072, not "4096"'),
        ("engine.context = true", "engine.context must be a whole number from 512 to 131072, not true"),
        ("engine.context = 4096.0", "engine.context must be a whole number from 512 to 131072, not 4096.0"),
        ("engine.context = 511", "engine.context must be a whole number from 512 to 131072, not 511"),
        ("engine.batch = 4096", "engine.batch must be a whole number from 16 to 2048, not 4096"),
        ("budgets.seconds = nan", "budgets.seconds must be a number from 0.1 to 3600.0, not NaN"),
        ("budgets.seconds = inf", "budgets.seconds must be a number from 0.1 to 3600.0, not Infinity"),
        ("engine.model = 5", "engine.model must be text of at least one character, not 5"),
        ("engine.idle_unload = -1", "engine.idle_unload must be a number from 0 to 604800, not -1"),
        ("engine.idle_unload = 9.9", "engine.idle_unload must be 0 (never) or at least 10, not 9.9"),
        ("engine.hot = 39", "engine.hot must be a number from 40 to 110, not 39"),
        ("engine.parked_disk = 0.5", "engine.parked_disk must be a whole number from 0 to 1048576, not 0.5"),
        ('engine.model = ""', 'engine.model must be text of at least one character, not ""'),
        ('engine.model = "a\\u0000"', 'engine.model must be one line of printable text, not "a\\u0000"'),
        ("state = []", "state must be the path of a file or folder, not []"),
        ('state = ""', 'state must be the path of a file or folder, not ""'),
        ("state = 1979-05-27", 'state must be the path of a file or folder, not "1979-05-27"'),
        ('log.level = "loud"', 'log.level must be one of debug, info, warning, error, not "loud"'),
        ("gateway.socket_mode = 660", "gateway.socket_mode must be 0o600 or 0o660, not 660"),
        ('gateway.socket_mode = "0666"', 'gateway.socket_mode must be 0o600 or 0o660, not "0666"'),
        ('gateway.socket_mode = "9"', 'gateway.socket_mode must be 0o600 or 0o660, not "9"'),
        ("engine = 5", "engine is a section; write its keys under [engine]"),
        (
            f"engine.model = {['x'] * 40}",
            'engine.model must be text of at least one character, not ["x", "x"',
        ),
    ],
)
def test_wrong_values_say_what_is_wanted(user_file: Path, text: str, sentence: str) -> None:
    user_file.write_text(text)
    (told,) = mistakes()
    assert told.startswith(f"{user_file}: {sentence}")
    assert len(told) < 300


def test_every_mistake_is_told_at_once(user_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    user_file.write_text("contxt = 1\n[engine]\nbatch = 1\n[log]\n")
    monkeypatch.setenv("MULETEER_ENGINE__QUEUE", "many")
    told = mistakes()
    assert len(told) == 3
    assert told[0].startswith(f"{user_file}: unknown key contxt")
    assert 'MULETEER_ENGINE__QUEUE: engine.queue must be a whole number from 1 to 64, not "many"' in told


def test_socket_paths_have_the_kernels_limit(home: Path) -> None:
    longest = f"/{'é' * 53}"
    assert len(longest.encode()) == 107
    assert config.load(options={"gateway.socket": longest}).gateway.socket == Path(longest)
    with pytest.raises(ConfigError, match=r"--socket: gateway\.socket must be a path of at most 107 bytes"):
        config.load(options={"gateway.socket": longest + "x"})


@pytest.mark.parametrize("text", ["0600", "600", "0o600"])
def test_a_mode_in_the_environment_is_octal(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("MULETEER_GATEWAY__SOCKET_MODE", text)
    assert config.load().gateway.socket_mode == 0o600


def test_to_keep_nothing_and_to_park_conversations_is_a_contradiction(user_file: Path) -> None:
    user_file.write_text("[engine]\nparked_talks = true\n[memory]\nkeep_days = 0\n")
    assert mistakes() == [
        "memory.keep_days = 0 keeps nothing of what is said, and engine.parked_talks = true keeps "
        "conversations on disk; change one of them."
    ]


def test_budgets_that_cannot_hold_together(user_file: Path) -> None:
    user_file.write_text("[engine]\ncontext = 1800\n[budgets]\nmessage = 900\nturn = 1000\n")
    assert mistakes() == [
        "budgets.planner_prompt + budgets.answer_output is 2256, more than engine.context (1800); "
        "lower the one or raise the other",
        "budgets.flat_prompt + budgets.answer_output is 2856, more than engine.context (1800); "
        "lower the one or raise the other",
        "budgets.answer_prompt + budgets.answer_output is 1856, more than engine.context (1800); "
        "lower the one or raise the other",
        "budgets.message (900) must be less than budgets.agent_prompt (900), "
        "which carries the message and more",
        "budgets.message + budgets.answer_output is 1156, more than budgets.turn (1000); no turn could end",
    ]


@pytest.mark.parametrize(
    ("raw", "sentence"),
    [
        (b"a = 1\nb = \xff\n", r", line 2: not UTF-8 text; save the file as UTF-8\.$"),
        (b"[engine]\n\ncontext 5\n", r", line 3: not valid TOML: Expected '=' after a key in a .*pair\.$"),
        (b"a = 1\nb = '''x", r", line 2: not valid TOML: Expected \"'''\"\.$"),
        (b"[engine]\na = 1\na = 2\n", r", line 3: not valid TOML: Cannot overwrite a value\.$"),
        (b"x = " + b"[" * 5000, r": values are nested too deeply to be settings\.$"),
        (b"x" + b".x" * 5000 + b" = 1", r": values are nested too deeply to be settings\.$"),
        (b"x = 1" + b"0" * 5000, r": not valid TOML: a number in it has too many digits\.$"),
        (b"[engine]\nx = [0x1" + b"0" * 5000 + b"]", r": engine\.x is a larger number than any setting"),
        (b"#" * 65_537, r"^Cannot read the settings file .*: larger than 65,536 bytes\.$"),
    ],
)
def test_files_that_are_no_settings(user_file: Path, raw: bytes, sentence: str) -> None:
    user_file.write_bytes(raw)
    (told,) = mistakes()
    assert str(user_file) in told
    assert re.search(sentence, told)
    assert "\n" not in told


def test_files_that_cannot_be_read(home: Path, user_file: Path) -> None:
    assert mistakes(home / "no.toml") == [
        f"Cannot read the settings file {home}/no.toml: No such file or directory."
    ]
    user_file.mkdir()
    assert mistakes() == [f"Cannot read the settings file {user_file}: Is a directory."]
    os.mkfifo(home / "fifo.toml")
    assert mistakes(home / "fifo.toml") == [
        f"Cannot read the settings file {home}/fifo.toml: not a regular file."
    ]


def test_a_file_that_cannot_be_looked_at_is_an_error_and_not_absent(user_file: Path) -> None:
    user_file.symlink_to(user_file)
    assert mistakes() == [f"Cannot read the settings file {user_file}: Too many levels of symbolic links."]


def test_a_byte_order_mark_and_windows_line_ends(user_file: Path) -> None:
    user_file.write_bytes("\ufeff[engine]\r\nbatch = 64\r\n".encode())
    assert config.load().engine.batch == 64


def test_variables_and_keys_name_each_other() -> None:
    for key in config.known_keys():
        assert layers.key_of(layers.variable_of(key)) == key


def test_a_model_is_never_unloaded_or_after_a_while(user_file: Path) -> None:
    for seconds in (0, 10, 604_800):
        user_file.write_text(f"engine.idle_unload = {seconds}")
        assert config.load().engine.idle_unload == seconds


def test_settings_made_in_code_read_neither_variables_nor_files(
    home: Path, user_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    user_file.write_text("engine.queue = 3")
    (home / ".env").write_text("STATE=/a\nENGINE='{\"queue\": 4}'\n")
    monkeypatch.chdir(home)
    for name in ("STATE", "state", "MULETEER_MODELS"):
        monkeypatch.setenv(name, "/a")
    monkeypatch.setenv("ENGINE", '{"queue": 5}')
    made = Settings()
    assert (made.engine.queue, made.state) == (16, home / ".local/state/muleteer")
    monkeypatch.delenv("MULETEER_MODELS")
    in_force = config.load()
    assert (in_force.engine.queue, in_force.state) == (3, home / ".local/state/muleteer")


def test_parts_can_be_made_in_code(tmp_path: Path) -> None:
    made = Settings(budgets=Budgets(turn=100), gateway=GatewaySettings(socket=tmp_path / "s"))
    assert (made.budgets.turn, made.gateway.socket) == (100, tmp_path / "s")


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@given(key=st.sampled_from(sorted(config.known_keys())), value=VALUES)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_value_gives_settings_or_a_sentence(key: str, value: object) -> None:
    try:
        made = config.merged([layers.Given(key, value, "/f.toml", "file")])
    except ConfigError as refused:
        told = str(refused)
    else:
        told = repr(made)
    assert key.rpartition(".")[2] in told


def test_a_list_of_places_is_meant_from_its_file_or_split_at_colons(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "config.toml"
    file.write_text('[files]\nfolders = ["papers", "/srv/letters"]\n')
    assert config.load(file).files.folders == (tmp_path / "papers", Path("/srv/letters"))
    monkeypatch.setenv("MULETEER_FILES__FOLDERS", "/srv/a:/srv/b")
    assert config.load(file).files.folders == (Path("/srv/a"), Path("/srv/b"))


def test_what_is_wrong_within_a_list_is_said_with_its_place(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text('[files]\nfolders = ["papers", 3]\n')
    with pytest.raises(ConfigError) as wrong:
        config.load(file)
    assert str(wrong.value) == f"{file}: files.folders.1 must be the path of a file or folder, not 3."

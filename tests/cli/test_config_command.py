from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from muleteer import config
from tests.cli.conftest import Run


def test_show_is_a_settings_file_of_what_is_in_force(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "my.toml"
    file.write_text('engine.model = "/tmp/a \\"b\\".gguf"\n[gateway]\nsocket_mode = 0o600\n')
    monkeypatch.setenv("MULETEER_BUDGETS__SECONDS", "60.5")
    done = run("config", "show", "--config", str(file))
    assert done.code == 0
    assert f'model = "/tmp/a \\"b\\".gguf"  # from: {file}\n' in done.out
    assert "seconds = 60.5  # from: MULETEER_BUDGETS__SECONDS\n" in done.out
    assert f"socket_mode = 0o600  # from: {file}\n" in done.out
    assert "context = 4096  # from: default\n" in done.out
    copy = tmp_path / "copy.toml"
    copy.write_text(done.out)
    monkeypatch.delenv("MULETEER_BUDGETS__SECONDS")
    in_force = config.load(copy)
    assert in_force.budgets.seconds == 60.5
    assert (in_force.seat.etcd_ca, in_force.wyoming.unix) == (None, None)
    assert "# etcd_ca is not set  # from: default\n" in done.out
    assert in_force.engine.model == '/tmp/a "b".gguf'
    assert set(tomllib.loads(done.out)) == set(config.Settings.model_fields)


def test_show_as_json(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MULETEER_ENGINE__THREADS", "3")
    rows = json.loads(run("config", "show", "--json").out)["settings"]
    threads = next(row for row in rows if row["key"] == "engine.threads")
    assert (threads["value"], threads["from"]) == (3, "MULETEER_ENGINE__THREADS")
    assert "0 means" in threads["description"]


def test_mistakes_end_with_2(run: Run, tmp_path: Path) -> None:
    (tmp_path / "my.toml").write_text("engine.contxt = 1")
    done = run("config", "show", "--config", str(tmp_path / "my.toml"))
    assert done.code == 2
    wanted = (
        f"Error: {tmp_path}/my.toml: unknown key engine.contxt; the nearest known one is engine.context.\n"
    )
    assert done.err == wanted


def test_path_lists_the_files_in_order(run: Run, tmp_path: Path) -> None:
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/config.toml").touch()
    lines = run("config", "path").out.splitlines()
    assert lines == [f"{tmp_path}/etc/config.toml", f"{tmp_path}/.config/muleteer/config.toml  (not there)"]
    assert run("config", "path", "--config", "/x/y").out == "/x/y  (not there)\n"


def test_serve_checks_the_settings_before_anything_else(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MULETEER_ENGINE__CONTEXT", "many")
    done = run("serve", "--socket", "/tmp/" + "x" * 120)
    assert done.code == 2
    assert "MULETEER_ENGINE__CONTEXT: engine.context must be a whole number from 512 to 131072" in done.err
    assert "--socket: gateway.socket must be a path of at most 107 bytes" in done.err

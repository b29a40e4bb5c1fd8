"""The built packages: what they carry, and that they work where nothing of this checkout is known.

Installing takes dependencies from the package index, and llama-cpp-python from the wheel that `make setup`
built, so that nothing is compiled again.
"""

from __future__ import annotations

import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

from muleteer import __version__, paths

ROOT = Path(__file__).resolve().parents[1]
# What the packages of two extras are imported as.
MCP = ("mcp", "mcp_types", "httpx2")
VOICE = (
    "babel",
    "faster_whisper",
    "miniaudio",
    "pocketsphinx",
    "pymicro_vad",
    "pymicro_wakeword",
    "unicode_rbnf",
)
VERSION_LINE = f"muleteer, version {__version__}\n"


def run(*command: str | Path, env: dict[str, str] | None = None, cwd: Path | str = ROOT) -> str:
    """Standard output of a program that must succeed."""
    done = subprocess.run(command, env=env, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}: {done.stdout}\n{done.stderr}"
    return done.stdout


def pip(*arguments: str | Path) -> None:
    run(sys.executable, "-m", "pip", "--quiet", *arguments)


def build(source: Path, folder: Path) -> Path:
    pip("wheel", "--no-build-isolation", "--no-deps", "--wheel-dir", folder, source)
    (wheel,) = folder.glob("muleteer-*.whl")
    return wheel


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(ROOT, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sdist")
    run(sys.executable, "-m", "hatchling", "build", "--target", "sdist", "--directory", folder)
    (archive,) = folder.glob("muleteer-*.tar.gz")
    return archive


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clean virtual environment with the wheel and what it asks for; the path of its Python."""
    llama = list((ROOT / ".cache" / "wheels").glob("llama_cpp_python-*.whl"))
    assert llama, "There is no llama-cpp-python wheel in .cache/wheels; run: make setup"
    folder = tmp_path_factory.mktemp("clean")
    run(sys.executable, "-m", "venv", "--without-pip", folder)
    python = folder / "bin" / "python"
    pip("--python", python, "install", "--no-compile", wheel, *llama)
    return python


def names_in(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def tracked(*folders: str) -> set[str]:
    """Files of the checkout that belong into a package, as paths relative to its root."""
    files = (path for folder in folders for path in (ROOT / folder).rglob("*") if path.is_file())
    return {str(path.relative_to(ROOT)) for path in files if "__pycache__" not in path.parts}


def test_the_wheel_carries_the_package_and_its_data_and_nothing_else(wheel: Path) -> None:
    expected = {name.removeprefix("daemon/") for name in tracked("daemon/muleteer")}
    expected |= {f"muleteer/share/{name}" for name in tracked("skills", "tools", "systemd")}
    carried = {name for name in names_in(wheel) if ".dist-info/" not in name}
    assert carried == expected
    assert {"muleteer/py.typed", "muleteer/engine/catalogue.toml", "muleteer/cli/model.py"} <= carried
    assert "muleteer/share/skills/search-info/SKILL.md" in carried
    assert "muleteer/share/tools/current_time.py" in carried
    assert any(name.startswith("muleteer/harness/prompts/") for name in carried)


def test_the_wheel_names_its_licence_its_command_and_every_dependency(wheel: Path) -> None:
    info = f"muleteer-{__version__}.dist-info"
    with zipfile.ZipFile(wheel) as archive:
        metadata = archive.read(f"{info}/METADATA").decode()
        assert "muleteer.cli:main" in archive.read(f"{info}/entry_points.txt").decode()
        assert archive.read(f"{info}/licenses/LICENSE") == (ROOT / "LICENSE").read_bytes()
    assert "License-Expression: MIT\n" in metadata
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for dependency in project["dependencies"]:
        assert f"Requires-Dist: {dependency}".lower() in metadata.lower()


def test_an_sdist_builds_the_same_wheel(sdist: Path, wheel: Path, tmp_path: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"Makefile", "CHANGELOG.md", "README.md", "LICENSE", ".ci/run", "tests/test_packaging.py"} <= names
    assert not [
        name for name in names if name.startswith((".cache", ".venv", "dl/")) or "__pycache__" in name
    ]
    assert names_in(build(sdist, tmp_path)) == names_in(wheel)


def test_a_clean_install_works_from_anywhere_with_an_empty_environment(installed: Path) -> None:
    muleteer = installed.with_name("muleteer")
    assert run(muleteer, "--version", env={}, cwd="/") == VERSION_LINE
    assert "standard" in run(muleteer, "model", "list", env={}, cwd="/")
    share = run(
        installed, "-c", "from muleteer import paths; print(paths.share_dir())", env={}, cwd="/"
    ).strip()
    assert Path(share).is_relative_to(installed.parents[1])
    assert (Path(share) / "skills" / "search-info" / "SKILL.md").is_file()


def test_every_module_imports_in_a_clean_install(installed: Path) -> None:
    """What is imported is declared: no extra is there. Only modules that speak MCP and those of voice need
    one."""
    program = (
        "import importlib, pkgutil, muleteer\n"
        "for each in pkgutil.walk_packages(muleteer.__path__, 'muleteer.'):\n"
        "    if each.name.endswith('__main__'): continue\n"
        "    try: importlib.import_module(each.name); print(each.name)\n"
        "    except ModuleNotFoundError as error:\n"
        f"        if error.name not in {(*MCP, *VOICE)}: raise\n"
        "        print(each.name, error.name, sep=':')\n"
    )
    imported = run(installed, "-c", program, env={}, cwd="/").split()
    assert {"muleteer.engine.llama", "muleteer.gateway.app", "muleteer.cli.ask"} <= set(imported)
    assert "muleteer.mcp_servers.service" in imported
    lacking = dict(name.split(":") for name in imported if ":" in name)
    speak_mcp = ("muleteer.mcp_servers.", "muleteer.gateway.mcp.server", "muleteer.cli.mcp_pipes")
    assert all(name.startswith(speak_mcp) for name, package in lacking.items() if package in MCP)
    assert all(name.startswith("muleteer.voice.") for name, package in lacking.items() if package in VOICE)
    assert {"muleteer.cli.voice", "muleteer.voice.parts", "muleteer.voice.settings"} <= set(imported)
    assert "muleteer.gateway.mcp.route" in imported


def test_an_install_into_a_target_folder_works(installed: Path, tmp_path: Path) -> None:
    pip("install", "--no-build-isolation", "--no-deps", "--no-compile", "--target", tmp_path, ROOT)
    program = (
        "import muleteer, sys; from muleteer.cli import main; print(muleteer.__file__); main(['--version'])"
    )
    said = run(installed, "-c", program, env={"PYTHONPATH": str(tmp_path)}, cwd="/")
    assert said == f"{tmp_path}/muleteer/__init__.py\n{VERSION_LINE}"


def test_the_editable_install_reads_the_checkout() -> None:
    """The environment these tests run in is one."""
    assert paths.share_dir() == ROOT
    assert run(Path(sys.executable).with_name("muleteer"), "--version", env={}, cwd="/") == VERSION_LINE

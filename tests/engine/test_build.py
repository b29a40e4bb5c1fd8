"""Compiler flags from what a CPU reports, and what a failing build says. Compiles nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from muleteer.engine import build

AVX2 = {"sse4_2", "avx", "avx2", "fma", "f16c", "bmi2"}
AVX512 = {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}
AMX = {"amx_tile", "amx_int8", "amx_bf16"}
SAPPHIRE_RAPIDS = AVX2 | AVX512 | AMX | {"avx_vnni", "avx512vbmi", "avx512_vnni", "avx512_bf16"}


def switches(machine: str, flags: set[str]) -> dict[str, str]:
    return dict(arg.removeprefix("-D").split("=") for arg in build.cmake_args(machine, flags))


def test_a_cpu_with_amx_is_built_for_without_it() -> None:
    chosen = switches("x86_64", SAPPHIRE_RAPIDS)
    on = {name for name, value in chosen.items() if value == "ON"}
    assert on == set(build._X86_OPTIONS)
    assert {chosen[f"GGML_AMX_{kind}"] for kind in ("TILE", "INT8", "BF16")} == {"OFF"}
    assert chosen["GGML_NATIVE"] == "OFF"


def test_an_older_cpu_gets_only_what_it_has() -> None:
    chosen = switches("x86_64", AVX2 - {"bmi2"})
    assert {name for name, value in chosen.items() if value == "ON"} == {
        "GGML_SSE42",
        "GGML_AVX",
        "GGML_AVX2",
        "GGML_FMA",
        "GGML_F16C",
    }
    assert switches("AMD64", set())["GGML_SSE42"] == "OFF"


def test_avx512_needs_all_five_of_its_parts_and_its_extensions_need_it() -> None:
    assert switches("x86_64", AVX2 | AVX512)["GGML_AVX512"] == "ON"
    chosen = switches("x86_64", (SAPPHIRE_RAPIDS) - {"avx512dq"})
    assert {value for name, value in chosen.items() if name.startswith("GGML_AVX512")} == {"OFF"}


@pytest.mark.parametrize("machine", ["aarch64", "arm64", "riscv64"])
def test_other_machines_are_left_to_the_compiler(machine: str) -> None:
    chosen = switches(machine, {"asimd", "dotprod"})
    assert chosen.pop("GGML_NATIVE") == "ON"
    assert set(chosen.values()) == {"OFF"}


def test_parts_that_nothing_uses_are_not_built() -> None:
    for machine in ("x86_64", "aarch64"):
        chosen = switches(machine, set())
        assert chosen["LLAVA_BUILD"] == chosen["LLAMA_BUILD_TOOLS"] == chosen["LLAMA_BUILD_EXAMPLES"] == "OFF"


def test_flags_are_those_that_every_core_has() -> None:
    two = "processor\t: 0\nflags\t\t: fpu avx avx2\n\nprocessor\t: 1\nflags\t\t: fpu avx\n"
    assert build.cpu_flags(two) == {"fpu", "avx"}
    assert build.cpu_flags("Features\t: fp asimd\n") == set()


def test_a_small_board_runs_few_compilers() -> None:
    assert build.parallel_jobs(4, 8_000_000_000) == 4
    assert build.parallel_jobs(4, 1_600_000_000) == 2
    assert build.parallel_jobs(4, 100_000_000) == 1


def test_the_report_says_whether_amx_is_in() -> None:
    plain = build.report("CPU : AVX2 = 1 | AVX512 = 1 | AMX_INT8 = 0 | REPACK = 1 | ")
    assert plain == "llama.cpp is built with AVX2, AVX512, REPACK; AMX is not in; weights are repacked."
    native = build.report("CPU : AVX2 = 1 | AMX_INT8 = 1 | ")
    assert "AMX is in" in native
    assert "`make setup` builds without it" in native
    assert "weights are not repacked" in native
    assert "portable code only" in build.report("")


def test_a_wheel_is_reused_only_for_the_same_version_and_options(tmp_path: Path) -> None:
    wheel = tmp_path / "llama_cpp_python-1-py3-none-any.whl"
    wheel.with_suffix(".whl.json").write_text(build._record(("-DA=ON",)))
    assert build.find(tmp_path, ("-DA=ON",)) is None
    wheel.write_bytes(b"")
    assert build.find(tmp_path, ("-DA=ON",)) == wheel
    assert build.find(tmp_path, ("-DA=OFF",)) is None
    wheel.with_suffix(".whl.json").write_text("{")
    assert build.find(tmp_path, ("-DA=ON",)) is None


def run(folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """The script as `make setup` runs it: by path, before anything is installed."""
    return subprocess.run(
        [sys.executable, "-S", build.__file__, "--wheel-dir", str(folder)],
        env=os.environ | variables,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def pretend_pip(folder: Path, program: str) -> None:
    """What `python -m pip` runs when `folder` is on PYTHONPATH; a package, or the real one would win."""
    (folder / "pip").mkdir(exist_ok=True)
    (folder / "pip" / "__init__.py").touch()
    (folder / "pip" / "__main__.py").write_text(program)


def test_without_a_compiler_it_says_what_to_install(tmp_path: Path) -> None:
    done = run(tmp_path, PATH=str(tmp_path))
    assert done.returncode == 1
    assert "sudo apt install build-essential" in done.stderr


def test_a_build_that_fails_shows_the_end_of_its_log(tmp_path: Path) -> None:
    pretend_pip(
        tmp_path,
        "import os, sys\n"
        "print('[1/2] cc a.c', os.environ['CMAKE_ARGS'])\n"
        "print('jobs', os.environ['CMAKE_BUILD_PARALLEL_LEVEL'], *sys.argv[1:])\n"
        "sys.exit('a.c:1: error: no such thing')\n",
    )
    wheels = tmp_path / "wheels"
    done = run(wheels, PYTHONPATH=str(tmp_path), CMAKE_ARGS="-DMINE=1", CMAKE_BUILD_PARALLEL_LEVEL="3")
    assert done.returncode == 1
    assert "compiling   1 of 2 (50 %)" in done.stdout
    assert "a.c:1: error: no such thing" in done.stderr
    log = wheels / "build.log"
    assert str(log) in done.stderr
    text = log.read_text()
    assert "-DGGML_CCACHE=OFF" in text
    assert "-DMINE=1" in text
    assert (
        f"jobs 3 wheel -v --no-cache-dir --no-deps --no-binary llama-cpp-python --wheel-dir {wheels}" in text
    )
    assert text.splitlines()[1].endswith(f"llama-cpp-python=={build.VERSION}")
    assert [path.name for path in wheels.iterdir()] == ["build.log"]


def test_a_build_that_works_leaves_one_wheel_and_its_record(tmp_path: Path) -> None:
    pretend_pip(
        tmp_path,
        "import os, pathlib, sys\n"
        "folder = pathlib.Path(sys.argv[sys.argv.index('--wheel-dir') + 1])\n"
        "(folder / 'llama_cpp_python-2-py3-none-any.whl').write_text(os.environ['CMAKE_ARGS'])\n"
        "print('ran')\n",
    )
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    (wheels / "llama_cpp_python-1-py3-none-any.whl").touch()
    first = run(wheels, PYTHONPATH=str(tmp_path))
    assert first.stdout.splitlines()[-1] == str(wheels / "llama_cpp_python-2-py3-none-any.whl")
    assert sorted(path.suffix for path in wheels.iterdir()) == [".json", ".log", ".whl"]
    pretend_pip(tmp_path, "raise SystemExit('not again')")
    again = run(wheels, PYTHONPATH=str(tmp_path))
    assert (again.returncode, again.stdout) == (0, first.stdout.splitlines()[-1] + "\n")

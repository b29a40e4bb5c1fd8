"""Builds llama-cpp-python into a wheel that fits this machine's CPU, before anything is installed.

Knows compiler flags, pip and what ninja prints; not models, and nothing of llama.cpp at run time but the
line in which it names its own features. Standard library only, so that a bare Python can run it:

    python3 daemon/muleteer/engine/build.py --wheel-dir .cache/wheels
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Collection, Iterable
from pathlib import Path

VERSION = "0.3.36"
"""The llama-cpp-python that the tests ran with."""

BYTES_PER_COMPILER = 600 * 1000**2
"""Memory for one compiler at work: with these sources g++ 12 was measured to reach 470 MB."""

PLAIN_INTERVAL = 15.0
"""Seconds between progress lines where there is no terminal: seldom enough for a log file."""

LOG_TAIL = 25
"""Lines of the log that a failure shows: a compiler error and the commands around it."""

_AVX512 = ("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl")
_X86_OPTIONS = {
    "GGML_SSE42": ("sse4_2",),
    "GGML_AVX": ("avx",),
    "GGML_AVX2": ("avx2",),
    "GGML_FMA": ("fma",),
    "GGML_F16C": ("f16c",),
    "GGML_BMI2": ("bmi2",),
    "GGML_AVX_VNNI": ("avx_vnni",),
    "GGML_AVX512": _AVX512,
    "GGML_AVX512_VBMI": (*_AVX512, "avx512vbmi"),
    "GGML_AVX512_VNNI": (*_AVX512, "avx512_vnni"),
    "GGML_AVX512_BF16": (*_AVX512, "avx512_bf16"),
}
_AMX_OPTIONS = ("GGML_AMX_TILE", "GGML_AMX_INT8", "GGML_AMX_BF16")
_UNUSED_PARTS = (
    "LLAVA_BUILD",
    "LLAMA_BUILD_TESTS",
    "LLAMA_BUILD_TOOLS",
    "LLAMA_BUILD_EXAMPLES",
    "LLAMA_BUILD_SERVER",
    "GGML_CCACHE",
)
_NO_COMMON = "set(LLAMA_BUILD_COMMON OFF)\n"
_STEP = re.compile(r"^\s*\[(\d+)/(\d+)\] ")


class BuildError(Exception):
    """The wheel cannot be built; `str(error)` says why and what to do."""


def cmake_args(machine: str, flags: Collection[str]) -> tuple[str, ...]:
    """The CMake options for a machine (as `uname -m` names it) whose CPU reports `flags`.

    On x86-64 every instruction set is named, on only where the CPU has it, and AMX is always off: its
    kernels crash on some virtual machines (ggml-org/llama.cpp issue 20824). Elsewhere llama.cpp asks the
    compiler for what is native.
    """
    args = [f"-D{part}=OFF" for part in _UNUSED_PARTS]
    if machine.lower() not in {"x86_64", "amd64"}:
        return (*args, "-DGGML_NATIVE=ON")
    args.append("-DGGML_NATIVE=OFF")
    for option, needs in _X86_OPTIONS.items():
        args.append(f"-D{option}={'ON' if set(needs) <= set(flags) else 'OFF'}")
    return (*args, *(f"-D{option}=OFF" for option in _AMX_OPTIONS))


def cpu_flags(cpuinfo: str) -> frozenset[str]:
    """The flags that every CPU in the text of /proc/cpuinfo has; empty where it names none."""
    lines = re.findall(r"^flags\s*:\s*(.*)$", cpuinfo, re.MULTILINE)
    return frozenset.intersection(*(frozenset(line.split()) for line in lines)) if lines else frozenset()


def parallel_jobs(cores: int, available: int) -> int:
    """How many compilers may run at once with `available` bytes of memory; at least one."""
    return max(1, min(cores, available // BYTES_PER_COMPILER))


def report(system_info: str) -> str:
    """What was built, in a sentence, from the line llama.cpp's `llama_print_system_info` returns."""
    features = re.findall(r"(\w+) = 1\b", system_info)
    if not features:
        return "llama.cpp names no CPU features: it runs portable code only, which is slow."
    named = ", ".join(feature for feature in features if not feature.startswith("AMX"))
    if any(feature.startswith("AMX") for feature in features):
        amx = "AMX is in, and crashes on some virtual machines: `make setup` builds without it"
    else:
        amx = "AMX is not in"
    repack = "weights are repacked" if "REPACK" in features else "weights are not repacked"
    return f"llama.cpp is built with {named}; {amx}; {repack}."


class Progress:
    """Shows ninja's `[n/m]` steps: a bar on a terminal, else a line every `PLAIN_INTERVAL` seconds."""

    def __init__(self) -> None:
        self._tty = sys.stdout.isatty()
        self._start = time.monotonic()
        self._shown = float("-inf")
        self._phase = "fetching the source (77 MB)"

    def line(self, text: str) -> None:
        """Takes in one line of pip's output."""
        step = _STEP.match(text)
        if step:
            done, total = int(step[1]), int(step[2])
            self._phase = f"compiling {done:>3} of {total}"
            if self._tty:
                filled = 30 * done // total
                self._phase += f" [{'#' * filled}{'.' * (30 - filled)}]"
            else:
                self._phase += f" ({100 * done // total} %)"
        elif "Installing build dependencies: started" in text:
            self._phase = "installing the build tools"
        elif "Preparing metadata" in text:
            self._phase = "configuring"
        now = time.monotonic()
        if now - self._shown >= (0.2 if self._tty else PLAIN_INTERVAL):
            self._shown = now
            self.show()

    def show(self) -> None:
        """Prints the current state once."""
        minutes, seconds = divmod(int(time.monotonic() - self._start), 60)
        text = f"llama.cpp: {self._phase}, {minutes}:{seconds:02d}"
        print(f"\r\033[K{text}" if self._tty else text, end="" if self._tty else "\n", flush=True)

    def end(self) -> None:
        """Prints the last state and leaves the bar's line."""
        self.show()
        if self._tty:
            print()


def find(folder: Path, args: Iterable[str]) -> Path | None:
    """The wheel in `folder` that was built from `VERSION` with exactly these options, if there is one."""
    for record in sorted(folder.glob("*.whl.json")):
        wheel = record.with_suffix("")
        if wheel.is_file() and record.read_text() == _record(args):
            return wheel
    return None


def build(folder: Path, args: tuple[str, ...]) -> Path:
    """Builds the wheel into `folder`, which then holds no other llama-cpp-python; returns its path.

    Raises `BuildError` when there is no compiler or pip fails; the whole output is in `folder/build.log`.
    """
    if not any(shutil.which(name) for name in (os.environ.get("CXX", "c++"), "g++", "clang++")):
        raise BuildError(
            "No C++ compiler found. On Debian, Ubuntu and Raspberry Pi OS: sudo apt install build-essential"
        )
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="build-", dir=folder) as scratch:
        # On a board /tmp may be memory: sources and objects (0.5 GB) go to the disk.
        work = Path(scratch)
        (work / "no-common.cmake").write_text(_NO_COMMON)
        _run_pip(work, args, folder / "build.log")
        (built,) = work.glob("llama_cpp_python-*.whl")
        for old in (*folder.glob("llama_cpp_python-*.whl"), *folder.glob("llama_cpp_python-*.whl.json")):
            old.unlink()
        wheel = built.rename(folder / built.name)
    wheel.with_suffix(".whl.json").write_text(_record(args))
    return wheel


def _record(args: Iterable[str]) -> str:
    return json.dumps({"version": VERSION, "cmake_args": list(args)}, indent=1)


def _run_pip(work: Path, args: tuple[str, ...], log: Path) -> None:
    # llama.cpp's "common" library is forced on by llama-cpp-python and used by nothing here: 57 of 140 steps.
    extra = f"-DCMAKE_PROJECT_llama.cpp_INCLUDE={work / 'no-common.cmake'}"
    jobs = os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL") or str(parallel_jobs(_cores(), _available_memory()))
    environment = os.environ | {
        "CMAKE_ARGS": shlex.join((*args, extra)),
        "CMAKE_BUILD_PARALLEL_LEVEL": jobs,
        "TMPDIR": str(work),
    }
    command = [sys.executable, "-m", "pip", "wheel", "-v", "--no-cache-dir", "--no-deps"]
    command += ["--no-binary", "llama-cpp-python", "--wheel-dir", str(work), f"llama-cpp-python=={VERSION}"]
    tail: deque[str] = deque(maxlen=LOG_TAIL)
    progress = Progress()
    with (
        log.open("w", encoding="utf-8") as written,
        subprocess.Popen(
            command,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            process_group=0,  # with the compilers
        ) as pip,
    ):
        assert pip.stdout is not None  # noqa: S101  # a pipe was asked for
        try:
            for line in pip.stdout:
                written.write(line)
                tail.append(line)
                progress.line(line)
        except BaseException:
            os.killpg(pip.pid, signal.SIGKILL)  # it would go on, and be waited for
            raise
    progress.end()
    if pip.returncode:
        raise BuildError(f"{''.join(tail)}\nllama-cpp-python did not build; the whole log is {log}")


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _available_memory() -> int:
    """Bytes, from the kernel; where it does not say, enough for two compilers."""
    try:
        found = re.search(r"^MemAvailable:\s+(\d+) kB", Path("/proc/meminfo").read_text(), re.MULTILINE)
    except OSError:
        found = None
    return int(found[1]) * 1024 if found else 2 * BYTES_PER_COMPILER


def main(argv: list[str] | None = None) -> int:
    """The command line; prints the wheel's path last. Exit code 1 when it did not build."""
    parser = argparse.ArgumentParser(description="Build llama-cpp-python for this machine's CPU.")
    parser.add_argument("--wheel-dir", type=Path, required=True, help="where the wheel goes")
    folder = parser.parse_args(argv).wheel_dir.resolve()
    cpuinfo = Path("/proc/cpuinfo")
    flags = cpu_flags(cpuinfo.read_text()) if cpuinfo.exists() else frozenset[str]()
    args = (*cmake_args(platform.machine(), flags), *shlex.split(os.environ.get("CMAKE_ARGS", "")))
    try:
        wheel = find(folder, args) or build(folder, args)
    except BuildError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nInterrupted; nothing was built.", file=sys.stderr)
        return 130
    print(wheel)
    return 0


if __name__ == "__main__":
    sys.exit(main())

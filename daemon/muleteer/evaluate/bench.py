"""The benchmark as a whole: which measures there are, what they run on, and the report they become."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from muleteer.engine import models
from muleteer.engine.protocol import LoadSettings, Properties
from muleteer.errors import ConfigError, MuleteerError
from muleteer.evaluate import copying, endurance, filling, hops, machine, peer, plot, report, restart, speed
from muleteer.evaluate.material import Material
from muleteer.evaluate.report import Measure
from muleteer.evaluate.rig import Rig, Say, Tokens, opened

MEASURES: Mapping[str, Callable[[Rig], Awaitable[Measure]]] = {
    "decode": speed.decode,
    "prefill": speed.prefill,
    "first_token": speed.first_token,
    "hops": hops.hops,
    "restart": restart.restart,
    "fill": filling.fill,
    "copy": copying.copy,
    "cancel": endurance.cancel,
    "memory": endurance.memory,
}
SAMPLES = {True: 3, False: 5}  # of each side and measure, by `quick`
INSTALL = "pip install 'muleteer[bench]'"


@dataclass(frozen=True, slots=True)
class Options:
    """`model` is a catalogue name or a path; `folder` is where models lie."""

    model: str
    folder: Path
    command: str
    quick: bool = False
    with_peer: bool = True
    only: tuple[str, ...] = ()
    json_file: Path | None = None
    plot_file: Path | None = None


@dataclass(slots=True)
class Benchmark:
    """What was run on what, and what was found so far."""

    command: str
    machine: Mapping[str, Any]
    versions: Mapping[str, str]
    model: Properties
    builds: Mapping[str, str]
    measures: list[Measure]

    @property
    def busy(self) -> float:
        """Load average of the last minute per core, before anything ran."""
        return float(self.machine["load"][0]) / int(self.machine["cores"])

    def as_dict(self) -> dict[str, object]:
        return {
            "command": self.command,
            "machine": self.machine,
            "versions": self.versions,
            "model": {
                "name": self.model.name,
                "file": Path(self.model.path).name,
                "size": self.model.size,
                "context": self.model.context,
                "vocabulary": self.model.vocabulary,
                "threads": self.model.threads,
            },
            "builds": self.builds,
            "measures": [measure.as_dict() for measure in self.measures],
        }


def check(options: Options) -> None:
    """Raise `ConfigError`, before anything runs, for what is missing or unknown."""
    if unknown := [name for name in options.only if name not in MEASURES]:
        raise ConfigError(f"There is no measure {unknown[0]!r}; there are {', '.join(MEASURES)}.")
    if options.with_peer and not peer.installed():
        raise ConfigError(
            f"The benchmark's peer, xllamacpp, is not installed: run `{INSTALL}`, or measure without a peer "
            "with --no-peer."
        )
    if options.plot_file and not plot.installed():
        raise ConfigError(
            f"A plot needs matplotlib, which is not installed: run `{INSTALL}`, or leave --plot."
        )


async def bench(options: Options, say: Say, began: Callable[[Benchmark], None]) -> Benchmark:
    """Run what was asked for. `began` is told what it runs on before the first measure; the files are written
    after each one, so that an interrupted run keeps what it has."""
    check(options)
    model = models.resolve(options.model, options.folder)
    with tempfile.TemporaryDirectory(prefix="muleteer-bench-") as folder, Tokens(model) as tokens:
        rig, benchmark = await _prepare(options, model, tokens, Path(folder), say)
        began(benchmark)
        for name in options.only or tuple(MEASURES):
            try:
                measure = await MEASURES[name](rig)
            except MuleteerError as error:
                say(f"{name} failed: {error}")
                measure = report.failed(name, str(error))
            benchmark.measures.append(measure)
            _save(options, benchmark)
    return benchmark


async def _prepare(
    options: Options, model: Path, tokens: Tokens, scratch: Path, say: Say
) -> tuple[Rig, Benchmark]:
    """Load both sides once: how many threads and tokens ours takes is what the peer gets."""
    settings = LoadSettings()
    say(f"loading {model.name}")
    async with opened(model, settings) as engine:
        properties = await engine.ready(0)
    rig = Rig(
        model=model,
        tiny=models.locate("tiny", options.folder),
        settings=settings,
        properties=properties,
        tokens=tokens,
        material=Material.shipped(scratch),
        with_peer=options.with_peer,
        quick=options.quick,
        n=SAMPLES[options.quick],
        scratch=scratch,
        say=say,
    )
    builds = {"ours": properties.build}
    async with rig.peer() as other:
        if other:
            builds["peer"] = other.build
    found = machine.describe(), machine.versions()
    return rig, Benchmark(options.command, *found, properties, builds, [])


def _save(options: Options, benchmark: Benchmark) -> None:
    try:
        if options.json_file:
            text = json.dumps(benchmark.as_dict(), indent=2, ensure_ascii=False)
            options.json_file.write_text(f"{text}\n", encoding="utf-8")
        if options.plot_file:
            plot.draw(benchmark.measures, title(benchmark), options.plot_file)
    except OSError as error:
        raise ConfigError(f"{error.filename} cannot be written: {error.strerror}.") from error


def title(benchmark: Benchmark) -> str:
    """One line that says what was measured on what."""
    cpu, cores = benchmark.machine["cpu"], benchmark.machine["cores"]
    return f"{benchmark.model.name} on {cpu} ({cores} cores): Muleteer against llama.cpp's server"

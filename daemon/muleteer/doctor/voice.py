"""Checks of the voice process: whether it hears. Where none runs, nothing is to be said.

Asks its control socket, as `muleteer voice status` does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from muleteer.cli.client import Daemon
from muleteer.doctor.finding import Finding, bad, doubtful, good
from muleteer.errors import MuleteerError

RESTART = "sudo systemctl restart muleteer-voice, or muleteer voice; then see its log."


def checks(control: Path) -> Iterator[Finding]:
    """For the process behind this socket."""
    if not control.exists():
        return
    try:
        yield hearing(Daemon(control).get("/v1/voice"))
    except MuleteerError as error:
        yield bad("hearing", str(error), RESTART)


def hearing(report: Mapping[str, object]) -> Finding:
    """By what the process reports."""
    if report.get("muted"):
        return doubtful("hearing", "the microphone is muted", "Open it: muleteer voice unmute.")
    if (problem := str(report.get("microphone"))) != "good":
        return bad("hearing", problem, "Plug it in, or choose another: muleteer voice devices.")
    return good("hearing", f"for {report.get('wake_word')}, in {report.get('language')}")

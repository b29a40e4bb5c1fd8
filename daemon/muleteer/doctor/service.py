"""Checks of the service: its socket, the daemon that answers there, the seat, and the timers of schedules.

Asks the daemon and systemd, as any command does; either may be missing.
"""

from __future__ import annotations

import grp
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

from muleteer.cli.client import Daemon
from muleteer.doctor.finding import Finding, bad, doubtful, good
from muleteer.errors import MuleteerError
from muleteer.systemd.manager import Manager
from muleteer.systemd.timers import listed

START = (
    "See muleteer logs, then: sudo systemctl start muleteer, or muleteer serve. After too many starts that "
    "failed first: sudo systemctl reset-failed muleteer.service muleteer.socket."
)


def checks(path: Path) -> Iterator[Finding]:
    """All of them, for the daemon behind this socket."""
    yield socket(path)
    daemon = Daemon(path)
    try:
        status = daemon.get("/v1/status")
    except MuleteerError as error:
        yield bad("daemon", str(error), START)
        return
    yield state(status)
    if isinstance(report := status.get("network"), dict):
        yield network(report)
    if isinstance(report := status.get("wyoming"), dict):
        yield voice(report)
    yield from _seat(daemon)
    yield from _timers(daemon)


def socket(path: Path) -> Finding:
    """Who may connect to it."""
    try:
        found = path.stat()
    except OSError as error:
        return bad("socket", f"{path}: {error.strerror}", START)
    mode, group = stat.S_IMODE(found.st_mode), _group(found.st_gid)
    said = f"{path}, {mode:04o}, group {group}"
    if not stat.S_ISSOCK(found.st_mode):
        return bad("socket", f"{path} is no socket", "Remove it, or choose another place with --socket.")
    if mode & 0o007:
        return bad("socket", f"{said}: everybody may use it", "Set gateway.socket_mode to 0o660.")
    return good("socket", said)


def state(status: Mapping[str, object]) -> Finding:
    name, reason = str(status.get("state")), str(status.get("reason") or "")
    said = f"{name}: {reason}" if reason else name
    if name == "ready" or name == "no model":
        return good("daemon", said)
    if name in ("loading", "starting"):
        return doubtful("daemon", said, "Wait; muleteer status shows what it does.")
    return bad("daemon", said, "See muleteer logs, then: sudo systemctl restart muleteer.")


def network(report: Mapping[str, object]) -> Finding:
    """The port for clients."""
    problem = report.get("problem")
    if report.get("listen") == "off" and problem:
        return doubtful("clients", f"on this machine alone, but {problem}", "Run: sudo muleteer install.")
    if report.get("listen") == "off":
        return good("clients", "on this machine alone, by the socket")
    if problem:
        return bad(
            "clients", f"None can connect over the network: {problem}", "See gateway.port and gateway.tls."
        )
    said = f"at port {report.get('port')}, {'with' if report.get('tls') else 'without'} TLS"
    if report.get("listen") == "lan" and not report.get("tls"):
        readable = f"{said}: what is said there, tokens included, can be read on the network"
        return doubtful("clients", readable, "Set gateway.tls to true, and pair the clients again.")
    return good("clients", said)


def voice(report: Mapping[str, object]) -> Finding:
    """The port for voice pipelines, which asks for no password."""
    if problem := report.get("problem"):
        return bad("voice", f"No voice pipeline can connect: {problem}", "See the section wyoming.")
    if report.get("listen") == "lan" and not report.get("allowed"):
        said = f"at port {report.get('port')} everybody on the network can talk and make tools act"
        return doubtful("voice", said, "Set wyoming.allow to the addresses that need it.")
    places = [str(report[key]) for key in ("port", "socket") if report.get(key)]
    return good("voice", f"pipelines connect at {', '.join(places)}" if places else "closed")


def seat(report: Mapping[str, object]) -> Finding:
    said = str(report.get("reason") or report.get("role"))
    if isinstance(doubled := report.get("doubled"), list) and doubled:
        what, _, todo = str(doubled[0]).partition("; ")
        return bad("seat", what[0].upper() + what[1:], todo[0].upper() + todo[1:])
    if report.get("mdns") and not str(report["mdns"]).startswith(("off", "no household")):
        advice = "Name other devices under seat.peers in the settings, or mend the network."
        return doubtful("seat", f"{said} {report['mdns']}", advice)
    if str(report.get("role")) in ("no majority", "candidate"):
        return doubtful(
            "seat", said, "See muleteer seat; a device that is gone for good is told to go there."
        )
    return good("seat", said)


def timers(states: Mapping[str, str]) -> Finding:
    """The states of the timers of all skills with a schedule, by skill."""
    missing = sorted(skill for skill, each in states.items() if each == "missing")
    if missing:
        return doubtful("timers", f"{', '.join(missing)}: no timer", "Make them: sudo muleteer timers sync.")
    enabled = sum(each == "enabled" for each in states.values())
    return good("timers", f"{enabled} enabled, {len(states) - enabled} disabled" if states else "none needed")


def _seat(daemon: Daemon) -> Iterator[Finding]:
    try:
        yield seat(daemon.get("/v1/seat"))
    except MuleteerError as error:
        yield bad("seat", str(error), "Do what it says, then: sudo systemctl restart muleteer.")


def _timers(daemon: Daemon) -> Iterator[Finding]:
    found = daemon.get("/v1/skills").get("skills")
    skills = [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []
    calendars = {str(each["name"]): str(each["schedule"]) for each in skills if each.get("schedule")}
    try:
        rows = listed(Manager(), calendars)
    except MuleteerError as error:
        if calendars:
            yield doubtful("timers", str(error), "Without systemd nothing starts background turns.")
        return
    yield timers({each.skill: each.state for each in rows if each.skill in calendars})


def _group(number: int) -> str:
    try:
        return grp.getgrgid(number).gr_name
    except KeyError:
        return str(number)

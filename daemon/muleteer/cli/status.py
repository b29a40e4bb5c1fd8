"""`muleteer status`: what the daemon says about itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import click

from muleteer.cli import remote
from muleteer.cli.options import json_option, socket_option
from muleteer.cli.render import print_pairs
from muleteer.cli.show import show

Fields = Mapping[str, object]


@click.command()
@click.option("--verbose", "-v", is_flag=True, help="Also what the model can do and how llama.cpp was built.")
@json_option
@socket_option
def status(verbose: bool, as_json: bool, socket: Path | None) -> None:
    """Show how the daemon and its engine are.

    \b
    Example:
      muleteer status
    """
    show(socket, "/v1/status", as_json, lambda body: print_pairs(list(_status_rows(body, verbose))))


def _status_rows(body: Fields, verbose: bool) -> Iterator[tuple[str, str]]:
    engine, turns = _part(body, "engine"), _part(body, "turns")
    model, totals = _part(engine, "properties"), _part(engine, "totals")
    reason = _text(body, "reason") or _text(engine, "reason")
    yield "state", _text(body, "state") + (f": {reason}" if reason else "")
    yield (
        "daemon",
        f"{_text(body, 'version')}, process {_text(body, 'pid')}, up {_duration(_number(body, 'uptime_s'))}",
    )
    yield "socket", _text(body, "socket")
    yield from _network_rows(_part(body, "network"))
    yield from _voice_rows(_part(body, "wyoming"))
    yield "turns", _turns(turns)
    yield "engine", _engine(engine)
    if model:
        yield "model", f"{_text(model, 'name')}, {_megabytes(_number(model, 'size'))}, {_text(model, 'path')}"
        yield "context", _context(engine, model)
    if model and verbose:
        yield "abilities", _abilities(model)
        buffers = "on" if model.get("extra_buffers") else "off"
        yield "build", f"{_text(model, 'build')}; repacked buffers {buffers}"
    yield from _prefix_rows(_part(body, "prompts"), _part(engine, "held"))
    yield from _menu_rows(_part(body, "menu"))
    yield from _heat_rows(_part(body, "heat"), _text(engine, "deferred"))
    yield from _file_rows(_part(body, "files"))
    if _part(body, "offline").get("offline"):
        yield "offline", _text(_part(body, "offline"), "reason")
    for name, server in _part(_part(body, "brains"), "servers").items():
        yield f"brain {name}", _brain(server if isinstance(server, dict) else {})
    for name, server in _part(body, "mcp").items():
        yield f"mcp {name}", _mcp(server if isinstance(server, dict) else {})
    if _number(totals, "prompt"):
        yield "tokens", _tokens(totals, _part(body, "ledger"))


def _network_rows(network: Fields) -> Iterator[tuple[str, str]]:
    """Where clients on the network connect, or why they cannot."""
    where = {"loopback": "from this machine", "lan": "from the local network"}.get(_text(network, "listen"))
    if problem := _text(network, "problem"):
        yield "network", f"closed: {problem}"
        return
    if not where:
        return
    yield (
        "network",
        f"port {_text(network, 'port')}, {where}, {'TLS' if network.get('tls') else 'without TLS'}",
    )
    if fingerprint := _text(network, "fingerprint"):
        yield "fingerprint", fingerprint


def _voice_rows(wyoming: Fields) -> Iterator[tuple[str, str]]:
    """Where voice pipelines connect, or why they cannot."""
    where = {"loopback": "from this machine", "lan": "from the local network, without a password"}
    port, socket, problem = (_text(wyoming, name) for name in ("port", "socket", "problem"))
    open_to = where.get(_text(wyoming, "listen"), "")
    places = [
        *([f"port {port}, {open_to}"] if open_to and port != "0" else []),
        *([socket] if socket else []),
    ]
    if said := "; ".join([*places, *([f"closed: {problem}"] if problem else [])]):
        yield "voice", said


def _turns(turns: Fields) -> str:
    """What became of them; what never happened is not said, apart from the two first."""
    counted = [
        f"{_text(turns, name) or 0} {name}"
        for name in ("finished", "failed", "refused", "asked", "cancelled")
        if name in ("finished", "failed") or _number(turns, name)
    ]
    return ", ".join(counted)


def _brain(server: Fields) -> str:
    asked = f"{_text(server, 'requests')} requests, {_text(server, 'failures')} failed"
    return f"{asked}; it {reason}" if (reason := _text(server, "reason")) else asked


def _mcp(server: Fields) -> str:
    """One server: what it gives, or why it gives nothing now."""
    reason = _text(server, "reason")
    if _text(server, "state") != "ready":
        return f"{_text(server, 'state')}: {reason}"
    refused = f", {_text(server, 'refused')} not usable" if _number(server, "refused") else ""
    return f"{_text(server, 'tools')} tools{refused}"


def _abilities(model: Fields) -> str:
    """What the self-test at load found."""
    ends = model.get("end_tokens")
    listed = [str(end) for end in ends] if isinstance(ends, list) else []
    said = [
        f"trained for {_text(model, 'trained_context')} tokens",
        f"template {'knows' if model.get('template_knows_tools') else 'does not know'} tools",
        f"ends with {' or '.join(listed)}" if listed else "",
        "thinks" if model.get("thinks") else "does not think",
        f"reuses {'any part of a prefix' if model.get('partial_reuse') else 'whole saved prefixes only'}",
    ]
    return ", ".join(filter(None, said))


def _prefix_rows(prompts: Fields, held: Fields) -> Iterator[tuple[str, str]]:
    """How many static prompts are ready, and what is kept where."""
    if prompts:
        yield (
            "prompts",
            f"{_text(prompts, 'ready')} of {_text(prompts, 'all')} prepared ahead of their first use",
        )
    if held:
        memory, disk = _megabytes(_number(held, "memory")), _megabytes(_number(held, "disk"))
        ignored = _number(held, "ignored")
        yield (
            "kept read",
            f"{_text(held, 'resident_prefixes') or 0} in the context, "
            f"{_text(held, 'memory_prefixes') or 0} in memory ({memory}), "
            f"{_text(held, 'disk_prefixes') or 0} on disk ({disk}), "
            f"{_text(held, 'restored') or 0} brought back"
            + (f"; {ignored:.0f} damaged files ignored" if ignored else ""),
        )


def _menu_rows(menu: Fields) -> Iterator[tuple[str, str]]:
    """What the planner is shown, and what had to give way."""
    if menu:
        shown = f"{_text(menu, 'shown')} of {_text(menu, 'lines')} lines, {_text(menu, 'exchanges')} examples"
        yield "menu", f"{shown}, {_text(menu, 'tokens')} of {_text(menu, 'room')} tokens"
    notes = menu.get("notes")
    for note in notes if isinstance(notes, list) else ():
        yield "", str(note)


def _heat_rows(heat: Fields, deferred: str) -> Iterator[tuple[str, str]]:
    """The temperature, where the board tells one, and why background work waits, if it does."""
    known = isinstance(heat.get("celsius"), int | float)
    said = [
        f"{_number(heat, 'celsius'):.0f} °C" if known else "no temperature sensor",
        "throttled" if heat.get("throttled") else "",
        "supply voltage too low" if heat.get("undervoltage") else "",
    ]
    if heat:
        yield "board", ", ".join(filter(None, said))
    if deferred:
        yield "deferred", f"background work waits: {deferred}"


def _file_rows(files: Fields) -> Iterator[tuple[str, str]]:
    """What the index of files holds, what it leaves out, and each folder that is not simply watched."""
    folders, left_out = _part(files, "folders"), _part(files, "left_out")
    if not folders:
        return
    waiting = _number(files, "waiting")
    said = f"{_text(files, 'files')} found, {_text(files, 'read')} read"
    said += f", {waiting:.0f} to be read" if waiting else ""
    reasons = [f"{count} {reason}" for reason, count in left_out.items()]
    yield "files", said + (f"; left out: {', '.join(reasons)}" if reasons else "")
    for folder, state in folders.items():
        if state != "watched":
            yield "folder", f"{folder}: {state}"


def _tokens(totals: Fields, ledger: Fields) -> str:
    share = 100 * _number(totals, "reused") / _number(totals, "prompt")
    wrong = _number(ledger, "mismatches")
    return (
        f"{_text(totals, 'reused')} reused ({share:.0f} %), {_text(totals, 'decoded')} decoded, "
        f"{_text(totals, 'generated')} generated"
        + (f"; {wrong:.0f} of {_text(ledger, 'requests')} requests did not add up" if wrong else "")
    )


def _engine(engine: Fields) -> str:
    pid = engine.get("pid")
    process = f", process {pid}{_memory(pid)}" if isinstance(pid, int) else ""
    background = _number(engine, "queued_background")
    counts = f"{_text(engine, 'restarts')} restarts, {_text(engine, 'queued')} waiting"
    if background:
        counts += f" ({background:.0f} of them background work)"
    return f"{_text(engine, 'state')}{process}, {counts}"


def _context(engine: Fields, model: Fields) -> str:
    kept = f"{_text(_part(engine, 'held'), 'resident_tokens')} of {_text(model, 'context')} tokens resident"
    return f"{kept}, cache {_megabytes(_number(model, 'kv_bytes'))}, {_threads(engine, model)}"


def _threads(engine: Fields, model: Fields) -> str:
    """The threads now, and those it was loaded with where that differs."""
    now, loaded = _text(engine, "threads"), _text(model, "threads")
    return f"{now} of {loaded} threads" if now and now != loaded else f"{loaded} threads"


def _memory(pid: int) -> str:
    """The process's resident memory, as the kernel tells anyone on this machine."""
    import psutil

    if remote.chosen():  # its processes are not here
        return ""
    try:
        return f" with {_megabytes(psutil.Process(pid).memory_info().rss)}"
    except psutil.Error:  # it ended meanwhile, or lives in another process namespace
        return ""


def _part(fields: Fields, name: str) -> Fields:
    part = fields.get(name)
    return part if isinstance(part, dict) else {}


def _text(fields: Fields, name: str) -> str:
    value = fields.get(name)
    return "" if value is None else str(value)


def _number(fields: Fields, name: str) -> float:
    value = fields.get(name)
    return value if isinstance(value, int | float) else 0


def _megabytes(size: float) -> str:
    return f"{size / 1e6:.0f} MB"


def _duration(seconds: float) -> str:
    hours, rest = divmod(int(seconds), 3600)
    return f"{hours}:{rest // 60:02}:{rest % 60:02}"

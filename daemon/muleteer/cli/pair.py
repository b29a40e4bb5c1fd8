"""`muleteer pair`: a code for a client, or, on the client, its token for the code."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from muleteer.cli.options import json_option, socket_option
from muleteer.cli.render import safe
from muleteer.cli.tokens import scope_option


@click.command()
@click.argument("name", required=False, metavar="[NAME|CODE]")
@scope_option
@click.option(
    "--with", "address", metavar="HOST[:PORT]", help="The device that shows CODE; it is kept by name."
)
@click.option("--forget", metavar="NAME", help="Forget a device that was paired by --with.")
@click.option("--as", "called", metavar="NAME", help="What that device is called here; else its own name.")
@json_option
@socket_option
def pair(
    name: str | None,
    scopes: Sequence[str],
    address: str | None,
    forget: str | None,
    called: str | None,
    as_json: bool,
    socket: Path | None,
) -> None:
    """Let a client in over the network, or become one.

    On the device: shows a code for 5 minutes, good for one client and three tries; the client's token is
    called NAME, or as the client calls itself. On another device with Muleteer: --with and the CODE; then
    `muleteer --device NAME` talks to it. The code is not sent, and the device's certificate is remembered.

    \b
    Examples:
      muleteer pair phone
      muleteer pair --with 192.168.1.20 482-913 --as kitchen
    """
    if forget is not None:
        _forget(forget, as_json)
        return
    if address is not None:
        _join(address, name, called, as_json)
        return
    if called:
        raise click.UsageError("--as belongs to --with.")
    from muleteer.cli.client import Daemon, find_socket

    request = {"scopes": list(scopes)} | ({"name": name} if name else {})
    body = Daemon(find_socket(socket)).send("POST", "/v1/pair/code", request)
    click.echo(safe(json.dumps(body, indent=2) if as_json else _shown(body)))


def _forget(name: str, as_json: bool) -> None:
    from muleteer.cli import remote

    remote.forget(name)
    said = f"Forgotten: {name}. Its token still counts there; `muleteer tokens revoke` on the device ends it."
    click.echo(safe(json.dumps({"forgotten": name}) if as_json else said))


def _shown(body: Mapping[str, object]) -> str:
    """What to do with a code, and how to recognise the device."""
    code, port = body.get("code"), body.get("port")
    found = body.get("addresses")
    addresses = [str(each) for each in found] if isinstance(found, list) and found else ["ADDRESS"]
    scheme = "https" if body.get("fingerprint") else "http"
    lines = [
        f"Code: {code}, for 5 minutes and one client.",
        f"On another device with Muleteer: muleteer pair --with {addresses[0]}:{port} {code}",
        f"Elsewhere: {_curl(str(code), f'{scheme}://{addresses[0]}:{port}')}",
    ]
    if len(addresses) > 1:
        lines.append(f"Other addresses of this device: {', '.join(addresses[1:])}")
    if fingerprint := body.get("fingerprint"):
        lines.append(f"The certificate's fingerprint (SHA-256): {fingerprint}")
    else:
        lines.append(
            "Without TLS: what is said, the token included, can be read on the network (gateway.tls)."
        )
    return "\n".join(lines)


def _curl(code: str, url: str) -> str:
    """The request that a program without Muleteer makes."""
    trusting = "--cacert gateway.pem " if url.startswith("https") else ""
    body = json.dumps({"code": code, "name": "phone"})
    return f"curl {trusting}--json '{body}' {url}/v1/pair"


def _join(address: str, code: str | None, called: str | None, as_json: bool) -> None:
    if not code:
        raise click.UsageError("Say the code that the other device shows: muleteer pair --with HOST CODE.")
    from muleteer.cli import remote
    from muleteer.cli.joining import join

    kept = join(address, code, called)
    remote.keep(kept)
    if as_json:
        told = {"name": kept.name, "host": kept.host, "port": kept.port, "fingerprint": kept.fingerprint}
        click.echo(safe(json.dumps(told)))
        return
    click.echo(safe(f'Paired with {kept}. Try: muleteer --device {kept.name} ask "What time is it?"'))
    if not kept.fingerprint:
        click.echo("It speaks without TLS: what is said, the token included, can be read on the network.")

"""`muleteer pair`, `tokens` and `--device`: a client comes in, uses the device, and is sent away."""

from __future__ import annotations

import asyncio
import json
import re
import threading
from collections.abc import Iterator
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from muleteer import paths
from muleteer.cli import remote
from muleteer.cli.joining import _split
from muleteer.errors import PairingError
from muleteer.services import Services
from muleteer.skills import Catalogue
from muleteer.toolbox import Toolbox
from tests.cli.conftest import Run
from tests.gateway.networked import Networked, networked
from tests.gateway.scripted import FINISHED


@pytest.fixture(params=[False, True], ids=["tcp", "tls"])
def net(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Networked]:
    """A gateway in a loop of its own; commands without --device reach its Unix socket."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    stack = AsyncExitStack()
    folder = tmp_path / "d"
    folder.mkdir()
    serving = networked(folder, Catalogue({}, Toolbox(Services())), request.param)
    served = asyncio.run_coroutine_threadsafe(stack.enter_async_context(serving), loop).result(60)
    monkeypatch.setenv("MULETEER_SOCKET", str(served.unix))
    yield served
    asyncio.run_coroutine_threadsafe(stack.aclose(), loop).result(60)
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


def code_of(said: str) -> str:
    found = re.search(r"Code: (\d{3}-\d{3}),", said)
    assert found, said
    return found[1]


def paired(run: Run, net: Networked, *scopes: str) -> None:
    code = code_of(run("pair", "desk", *(word for scope in scopes for word in ("--scope", scope))).out)
    done = run("pair", "--with", f"127.0.0.1:{net.port}", code, "--as", "kitchen")
    assert done.code == 0, done.err


def test_a_code_is_shown_with_all_that_a_client_needs(run: Run, net: Networked) -> None:
    said = run("pair").out
    assert code_of(said)
    assert f"muleteer pair --with 127.0.0.1:{net.port} " in said
    assert f"""--json '{{"code": "{code_of(said)}", "name": "phone"}}' {net.url}/v1/pair""" in said
    assert ("fingerprint (SHA-256): " in said) == net.tls
    assert ("can be read on the network" in said) != net.tls
    body = json.loads(run("pair", "--json").out)
    assert body.keys() == {"code", "seconds", "tries", "addresses", "port", "fingerprint"}


def test_another_device_is_used_by_its_name(run: Run, net: Networked) -> None:
    paired(run, net, "chat", "tools")
    asked = run("--device", "kitchen", "ask", "What time is it?")
    assert (asked.code, asked.out.strip()) == (0, FINISHED.answer)
    assert net.harness.asked == [("What time is it?", ())]
    for words in (("status",), ("skills",), ("tools",)):
        assert run("--device", "kitchen", *words).code == 0
    refused = run("--device", "kitchen", "tokens")
    assert (refused.code, "needs the scope admin" in refused.err) == (1, True)
    listed = run("tokens").out
    assert re.search(r"desk +chat, tools +\d{4}-\d\d-\d\d \d\d:\d\d +\d{4}-", listed)


def test_the_token_is_kept_for_nobody_else_and_the_code_is_not_sent(
    run: Run, net: Networked, tmp_path: Path
) -> None:
    paired(run, net, "admin")
    file = paths.state_dir() / remote.FILE_NAME
    assert file.stat().st_mode & 0o777 == 0o600
    kept = remote.find("kitchen")
    assert (kept.port, kept.fingerprint) == (net.port, net.listening.report()["fingerprint"])
    assert kept.token.startswith("mule_")


def test_who_was_sent_away_is_told_so(run: Run, net: Networked) -> None:
    paired(run, net, "chat")
    assert run("tokens", "revoke", "desk").out == "Revoked: desk.\n"
    done = run("--device", "kitchen", "status")
    assert done.code == 1
    assert done.err == (
        f"Error: The pairing with kitchen (127.0.0.1:{net.port}) was ended there. Pair anew: `muleteer pair` "
        f"there shows a code, `muleteer pair --with 127.0.0.1:{net.port} CODE --as kitchen` here takes it.\n"
    )
    assert run("tokens").out.startswith("There are no tokens")
    assert run("tokens", "revoke", "desk").code == 1


def test_a_device_that_speaks_otherwise_than_when_it_was_paired(run: Run, net: Networked) -> None:
    paired(run, net, "chat")
    kept, was = remote.find("kitchen"), "without" if net.tls else "with"
    remote.keep(replace(kept, fingerprint="" if net.tls else "00" * 32))
    done = run("--device", "kitchen", "status")
    assert done.code == 3
    assert f"was paired {was} TLS, and does not answer so." in done.err
    assert f"muleteer pair --with 127.0.0.1:{net.port} CODE --as kitchen" in done.err


def test_the_scope_tools_lets_the_command_line_see_the_tools_and_talk(run: Run, net: Networked) -> None:
    paired(run, net, "tools")
    assert run("--device", "kitchen", "tools").code == 0  # and `tools call` asks for that list first
    assert run("--device", "kitchen", "ask", "What time is it?").code == 0
    refused = run("--device", "kitchen", "tokens")
    assert "`muleteer pair NAME --scope admin` on the device" in refused.err


def test_a_device_is_forgotten_here(run: Run, net: Networked) -> None:
    paired(run, net, "chat")
    assert run("pair", "--forget", "kitchen").out.startswith("Forgotten: kitchen.")
    assert run("--device", "kitchen", "status").code == 2
    assert (run("pair", "--forget", "kitchen").code, remote.known()) == (2, {})


def test_a_device_that_is_another_one_gets_no_token(run: Run, net: Networked) -> None:
    if not net.tls:
        return
    paired(run, net, "chat")
    kept = remote.find("kitchen")
    remote.keep(remote.Remote(kept.name, kept.host, kept.port, kept.token, "00" * 32))
    done = run("--device", "kitchen", "status")
    assert (done.code, "not the device that was paired" in done.err) == (3, True)


def test_a_token_for_a_client_that_can_type_no_code(run: Run, net: Networked) -> None:
    secret = run("tokens", "new", "ha", "--scope", "chat").out.strip()
    fingerprint = str(net.listening.report()["fingerprint"])
    remote.keep(remote.Remote("kitchen", "127.0.0.1", net.port, secret, fingerprint))
    assert run("--device", "kitchen", "status").code == 0
    assert run("tokens", "new", "ha").code == 1
    told = json.loads(run("tokens", "--json").out)["tokens"]
    assert [(token["name"], token["scopes"]) for token in told] == [("ha", ["chat"])]
    assert secret not in json.dumps(told)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--device", "shed", "status"), 2, "not paired with one called 'shed' (paired: none yet)"),
        (("--device", "shed", "doctor"), 2, "works on this device alone"),
        (("--device", "shed", "status", "--socket", "s"), 2, "give one of the two"),
        (("pair", "--as", "kitchen"), 2, "--as belongs to --with"),
        (("pair", "--with", "127.0.0.1"), 2, "Say the code"),
        (("pair", "--with", "127.0.0.1", "abc"), 1, "A code looks like 482-913"),
        (("pair", "--with", "a/b", "482-913"), 1, "'a/b' is no address"),
        (("pair", "--with", "127.0.0.1:1", "482-913"), 3, "Nothing answers at 127.0.0.1, port 1"),
    ],
)
def test_what_cannot_be_is_a_sentence(run: Run, words: tuple[str, ...], code: int, said: str) -> None:
    done = run(*words)
    assert (done.code, said in done.err) == (code, True), done.err


def test_a_damaged_file_of_devices_is_a_sentence_and_stays(run: Run) -> None:
    file = paths.state_dir() / remote.FILE_NAME
    file.parent.mkdir(parents=True)
    file.write_text("{")
    done = run("--device", "kitchen", "status")
    assert (done.code, "is damaged" in done.err, file.read_text()) == (2, True, "{")


@pytest.mark.parametrize(
    ("address", "host", "port"),
    [
        ("192.168.1.20", "192.168.1.20", remote.PORT),
        ("kitchen.local:99", "kitchen.local", 99),
        ("[fe80::1]:99", "fe80::1", 99),
        ("[fe80::1]", "fe80::1", remote.PORT),
        ("fe80::1", "fe80::1", remote.PORT),
    ],
)
def test_addresses_as_people_write_them(address: str, host: str, port: int) -> None:
    assert _split(address) == (host, port)


@pytest.mark.parametrize(
    "address", ["", ":99", "a:b", "a:99999", "http://a", "a/b", "u@a", "a b", "[::1", "a?x"]
)
def test_what_is_no_address(address: str) -> None:
    with pytest.raises(PairingError, match="is no address"):
        _split(address)

"""The certificate that is made here: kept, private, and recognised by its fingerprint."""

from __future__ import annotations

import asyncio
import shutil
import ssl
import subprocess
from pathlib import Path

import httpx
import pytest
from cryptography import x509

from muleteer.discovery.interfaces import reach
from muleteer.fingerprint import fingerprint
from muleteer.gateway.tls import FILE_NAME, certificate
from muleteer.skills import Catalogue
from tests.gateway.networked import networked

NAMES = ("localhost", "kitchen.local", "127.0.0.1")


def test_it_is_made_once_and_nobody_else_may_read_it(tmp_path: Path) -> None:
    made = certificate(tmp_path, "3f7a", NAMES)
    assert (tmp_path / FILE_NAME).stat().st_mode & 0o777 == 0o600
    assert certificate(tmp_path, "3f7a", ("other",)).fingerprint == made.fingerprint
    other = tmp_path / "other"
    other.mkdir()
    assert certificate(other, "3f7a", NAMES).fingerprint != made.fingerprint


@pytest.mark.parametrize("content", [b"", b"garbage", b"-----BEGIN CERTIFICATE-----\nAAAA\n"])
def test_a_damaged_one_is_not_replaced(tmp_path: Path, content: bytes) -> None:
    (tmp_path / FILE_NAME).write_bytes(content)
    with pytest.raises(OSError, match="is damaged") as raised:
        certificate(tmp_path, "3f7a", NAMES)
    assert "paired again" in str(raised.value.strerror)
    assert (tmp_path / FILE_NAME).read_bytes() == content


async def test_clients_that_are_given_the_certificate_believe_it(folder: Path, catalogue: Catalogue) -> None:
    async with networked(folder, catalogue, tls=True) as net:
        shown = await asyncio.to_thread(ssl.get_server_certificate, ("127.0.0.1", net.port))
        der = ssl.PEM_cert_to_DER_cert(shown)
        assert fingerprint(der) == net.listening.report()["fingerprint"]
        (folder / "ca.pem").write_text(shown)
        trusting = ssl.create_default_context(cafile=str(folder / "ca.pem"))
        for host in ("localhost", "127.0.0.1"):
            url = f"https://{host}:{net.port}"
            async with httpx.AsyncClient(base_url=url, verify=trusting, trust_env=False) as client:
                assert (await client.get("/healthz")).status_code == 200
        names = x509.load_pem_x509_certificate(shown.encode()).extensions
        held = names.get_extension_for_class(x509.SubjectAlternativeName).value
        addresses = {str(each) for each in held.get_values_for_type(x509.IPAddress)}
        assert addresses == {"127.0.0.1", "::1", *reach().addresses}


@pytest.mark.skipif(not shutil.which("openssl"), reason="it needs the program openssl")
def test_the_fingerprint_is_shown_as_other_programs_show_it(tmp_path: Path) -> None:
    made = certificate(tmp_path, "3f7a", NAMES)
    command = ["openssl", "x509", "-noout", "-fingerprint", "-sha256", "-in", str(tmp_path / FILE_NAME)]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert said.strip().endswith(f"={made.fingerprint}")

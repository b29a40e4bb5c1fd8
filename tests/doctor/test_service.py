"""What the doctor says of the port for clients."""

from __future__ import annotations

import pytest

from muleteer.doctor.service import network
from muleteer.gateway.listening import HELD

OPEN = {"listen": "lan", "port": 8765, "tls": True, "problem": ""}


@pytest.mark.parametrize(
    ("report", "verdict", "said"),
    [
        ({"listen": "off"}, "good", "on this machine alone"),
        ({"listen": "off", "problem": HELD}, "doubtful", "systemd still holds the port"),
        (OPEN, "good", "at port 8765, with TLS"),
        ({**OPEN, "listen": "loopback", "tls": False}, "good", "at port 8765, without TLS"),
        ({**OPEN, "tls": False}, "doubtful", "can be read on the network"),
        ({**OPEN, "problem": "port 80 cannot be opened"}, "bad", "port 80 cannot be opened"),
    ],
)
def test_an_open_port_that_can_be_listened_to_is_doubtful(
    report: dict[str, object], verdict: str, said: str
) -> None:
    found = network(report)
    assert (found.verdict, said in found.said) == (verdict, True)
    assert bool(found.advice) == (verdict != "good")

"""The section `wyoming` of the settings. Knows keys and limits, like `sections.py`."""

from __future__ import annotations

from ipaddress import ip_network
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from muleteer.settings.sections import Count, Section, SocketPlace, Words

PORT = 10500  # the Wyoming programs of Rhasspy use 10200 to 10700, and 10500 by none of them


def _network(value: str) -> str:
    try:
        ip_network(value, strict=False)
    except ValueError:
        raise ValueError("must be an address or a network, as 192.168.1.20 or 192.168.1.0/24") from None
    return value


Networks = Annotated[tuple[Annotated[Words, AfterValidator(_network)], ...], Field(max_length=32)]


class WyomingSettings(Section):
    """Voice pipelines that speak Wyoming, which knows no passwords: whoever can connect can talk."""

    listen: Literal["off", "loopback", "lan"] = Field(
        "off",
        description="who may connect without a token: nobody, this machine's programs, or the local network",
    )
    port: Count = Field(PORT, ge=0, le=65_535, description="TCP port for them; 0: any that is free")
    allow: Networks = Field(
        (),
        description="addresses and networks that may connect, as 192.168.1.20 or 192.168.1.0/24; "
        "empty: every private address",
    )
    unix: SocketPlace | None = Field(
        None, description="path of a Unix socket for them, with the mode of the gateway's"
    )

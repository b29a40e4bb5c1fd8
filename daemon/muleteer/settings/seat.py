"""The section `seat` of the settings. Knows keys and limits, like `sections.py`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from muleteer.settings.sections import Count, Section, Words

PORT = 7433  # registered to nobody; above 1024, below the ports that connections get
URL = re.compile(r"https?://[0-9A-Za-z.:_\[\]-]+/?")
IPV6 = re.compile(r"\[([0-9A-Fa-f:.]+)\](?::([0-9]{1,5}))?|([0-9A-Fa-f.]*:[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*)")
NAME = re.compile(r"([0-9A-Za-z._-]+)(?::([0-9]{1,5}))?")  # and IPv4


def split_address(text: str) -> tuple[str, int]:
    """`10.0.0.5`, `shed.lan:7433` or `[fe80::1]:7433` as host and port. Raises `ValueError`."""
    found = NAME.fullmatch(text) or IPV6.fullmatch(text)
    host, port = (found[1] or found[3], found[2]) if found else ("", None)
    number = int(port) if port else PORT
    if not host or not 0 < number < 65536:
        raise ValueError(f"{text!r} is no address; write it like 192.168.1.20 or shed.lan:{PORT}")
    return host, number


def _address(value: str) -> str:
    split_address(value)
    return value


Addresses = Annotated[tuple[Annotated[Words, AfterValidator(_address)], ...], Field(max_length=32)]


def _url(value: str) -> str:
    if not URL.fullmatch(value):
        raise ValueError(f"{value!r} is no URL of a member; write it like https://10.0.0.7:2379")
    return value.rstrip("/")


Urls = Annotated[tuple[Annotated[Words, AfterValidator(_url)], ...], Field(max_length=32)]


class SeatSettings(Section):
    """The driver's seat: which device of the household does the background work."""

    enabled: bool = Field(
        True, description="false: this device takes part in no household, and does its own background work"
    )
    port: Count = Field(
        PORT,
        ge=0,
        le=65_535,
        description="TCP port for the other devices of the household; 0: any that is free",
    )
    backend: Literal["zeroconf", "etcd"] = Field(
        "zeroconf", description="what decides who drives: the devices among themselves, or an etcd cluster"
    )
    etcd: Urls = Field(
        (), description="URLs of the cluster's members, for the backend etcd: https://10.0.0.7:2379"
    )
    etcd_ca: Path | None = Field(
        None, description="file with the certificate that the cluster's are signed with, if not a public one"
    )
    peers: Addresses = Field(
        (), description="addresses of other devices, where mDNS does not reach them: shed.lan, 10.0.0.5:7433"
    )
    mdns: bool = Field(
        True, description="whether this device is announced by mDNS and looks for others there"
    )
    priority: Count = Field(
        0, ge=-100, le=100, description="the device with the highest priority drives, if it can"
    )

    @model_validator(mode="after")
    def _cluster_is_named(self) -> Self:
        if self.backend == "etcd" and not self.etcd:
            raise ValueError("the backend etcd needs the URLs of its members; set seat.etcd")
        return self

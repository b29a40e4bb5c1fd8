"""Addresses of other devices, as people write them in the settings."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from muleteer.settings.seat import PORT, SeatSettings, split_address


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("192.168.1.20", "192.168.1.20", PORT),
        ("shed.lan:7000", "shed.lan", 7000),
        ("fe80::1", "fe80::1", PORT),
        ("[fe80::1]:7000", "fe80::1", 7000),
        ("[fe80::1]", "fe80::1", PORT),
    ],
)
def test_addresses_are_read_as_people_write_them(text: str, host: str, port: int) -> None:
    assert split_address(text) == (host, port)
    assert SeatSettings.model_validate({"peers": [text]}).peers == (text,)


@pytest.mark.parametrize("text", ["", "a b", "shed:0", "shed:99999", "http://shed", ":7433", "[]:7433"])
def test_what_is_no_address_is_told(text: str) -> None:
    with pytest.raises(ValidationError, match="is no address; write it like"):
        SeatSettings.model_validate({"peers": [text]})

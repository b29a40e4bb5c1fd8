"""Which addresses may be read: the list of everything that is not the internet at large."""

from __future__ import annotations

import pytest

from muleteer.web.addresses import LONGEST_URL, RefusedError, parse, place, public, system_resolve

INSIDE = [
    *("0.0.0.0", "10.1.2.3", "127.0.0.1", "127.9.9.9", "169.254.169.254", "172.16.0.1", "192.168.0.1"),
    *("100.64.0.1", "100.100.100.200", "198.18.0.1", "224.0.0.251", "240.0.0.1", "255.255.255.255"),
    *(
        "::",
        "::1",
        "fe80::1",
        "fe80::1%eth0",
        "fc00::1",
        "fd00:ec2::254",
        "ff02::1",
        "fec0::1",
        "2001:db8::1",
    ),
    *("::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::127.0.0.1", "::8.8.8.8"),
    *("64:ff9b::7f00:1", "64:ff9b:1::1", "2002:7f00:1::1", "2002:c0a8:1::", "not an address", ""),
]
OUTSIDE = [
    "8.8.8.8",
    "93.184.215.14",
    "2606:4700::1111",
    "::ffff:8.8.8.8",
    "64:ff9b::808:808",
    "2002:808:808::1",
]


@pytest.mark.parametrize("address", INSIDE)
def test_what_is_not_the_internet_is_not_public(address: str) -> None:
    assert not public(address)


@pytest.mark.parametrize("address", OUTSIDE)
def test_the_internet_is_public(address: str) -> None:
    assert public(address)


@pytest.mark.parametrize(
    ("given", "url"),
    [
        ("example.org", "https://example.org"),
        ("  <http://example.org/a b> ".replace(" b", ""), "http://example.org/a"),
        ("example.org:8080/x#part", "https://example.org:8080/x"),
        ("HTTP://Example.ORG/A", "http://example.org/A"),
        ("https://münchen.de/ä", "https://xn--mnchen-3ya.de/%C3%A4"),
        ("http://[2606:4700::1111]/", "http://[2606:4700::1111]/"),
    ],
)
def test_addresses_as_people_write_them(given: str, url: str) -> None:
    assert str(parse(given)) == url


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ("", "is not a web address"),
        ("the weather page", "is not a web address"),
        ("http://", "is not a web address"),
        ("http:///etc", "is not a web address"),
        ("http://xn--/", "is not a web address"),
        ("xn--zz--.example", "is not a web address"),
        ("http://a\x00b/", "is not a web address"),
        ("http://x:99999/", "names no server"),
        ("ftp://example.org", "Only http and https"),
        ("file:///etc/passwd", "Only http and https"),
        ("http://ada:secret@example.org/", "holds a user name or password"),
        ("ada@example.org", "holds a user name or password"),
        (f"http://example.org/{'x' * LONGEST_URL}", "characters; at most 2,048 are read"),
    ],
)
def test_what_is_no_web_address_is_a_sentence(given: str, sentence: str) -> None:
    with pytest.raises(RefusedError, match=sentence) as refused:
        parse(given)
    assert "secret" not in str(refused.value)
    assert str(refused.value).isprintable()


@pytest.mark.parametrize(
    "url",
    [
        "http://127.1/",
        "http://2130706433/",
        "http://0x7f.0.0.1/",
        "http://017700000001/",
        "http://localhost/",
    ],
)
async def test_other_spellings_of_this_device_are_seen_through(url: str) -> None:
    """By the system's own resolver, which knows them all."""
    with pytest.raises(RefusedError, match="is in a private network"):
        await place(parse(url), False, (), system_resolve)


async def test_what_is_allowed_is_allowed_by_name_in_any_spelling() -> None:
    async def resolve(host: str, port: int) -> list[str]:
        return ["192.168.1.5"]

    for allowed, url in [("NAS.local", "http://nas.local./x"), ("nas.local.", "http://NAS.local/")]:
        assert (await place(parse(url), False, [allowed], resolve)).addresses == ("192.168.1.5",)
    with pytest.raises(RefusedError):
        await place(parse("http://other.local"), False, ["nas.local"], resolve)


async def test_a_name_without_addresses_or_with_impossible_ones() -> None:
    async def nothing(host: str, port: int) -> list[str]:
        return []

    with pytest.raises(OSError, match="has no address"):
        await place(parse("http://example.org"), False, (), nothing)
    with pytest.raises((OSError, RefusedError)):
        await place(parse(f"http://{'x' * 70}.org"), False, (), system_resolve)

"""What is made of packets, whoever sends them."""

from __future__ import annotations

import socket

import pytest
from zeroconf.asyncio import AsyncServiceInfo

from muleteer.discovery.announced import PROTOCOL, TYPE, VOICE_TYPE, Announced, Shown
from muleteer.discovery.announcing import records
from muleteer.discovery.hearing import GONE_SECONDS, MOST_DEVICES
from tests.discovery.fuzz_packets import fuzz
from tests.discovery.packets import ME, Ear, announcement, packet, stranger

ATTIC = "ab" * 16
GOOD = {"id": ATTIC, "proto": "1", "port": "7433", "role": "driver"}


def names(ear: Ear) -> set[str]:
    """All that is left in the cache."""
    return {str(getattr(each, "alias", each)) for kept in ear.cache.cache.values() for each in kept}


def many(count: int) -> list[str]:
    return [f"{number:032x}" for number in range(1, count + 1)]


@pytest.mark.parametrize(
    ("shown", "port", "clients", "household"),
    [
        (Shown(household=7433), 7433, 0, 7433),
        (Shown(clients=8765), 8765, 8765, 0),
        (Shown(clients=8765, household=7433, role="driver"), 8765, 8765, 7433),
        (Shown(clients=8765, household=7433, voice=10500, role="no majority"), 8765, 8765, 7433),
    ],
)
def test_what_is_announced_is_what_is_heard(shown: Shown, port: int, clients: int, household: int) -> None:
    ear = Ear()
    ear.hear(announcement(ATTIC, shown, ("10.0.0.5", "fd00::5")))
    expected = Announced(ATTIC, PROTOCOL, shown.role, clients, household, ("10.0.0.5", "fd00::5"), 0.0)
    assert ear.told == ear.hearing.devices() == [expected]
    assert records(ATTIC, shown, ())[0].port == port


def test_the_record_has_four_fields_and_a_name_made_of_the_id() -> None:
    device, voice = records(ATTIC, Shown(8765, 7433, 10500), ("10.0.0.5",))
    assert sorted(device.decoded_properties) == ["id", "port", "proto", "role"]
    assert (device.name, device.server) == (f"{ATTIC}.{TYPE}", f"{ATTIC}.local.")
    assert (voice.name, voice.port) == (f"muleteer-{ATTIC}.{VOICE_TYPE}", 10500)
    assert voice.decoded_properties == {}
    assert records(ATTIC, Shown(), ("10.0.0.5",)) == []


def test_an_address_of_the_link_counts_with_the_interface_it_was_heard_at() -> None:
    ear = Ear()
    said = announcement(ATTIC, Shown(household=7433), ("fd00::5", "fe80::5"))
    ear.hear(said, scope=socket.if_nametoindex("lo"))
    assert ear.told[-1].addresses == ("fd00::5", "fe80::5%lo")


@pytest.mark.parametrize("scope", [None, 0, 2**31 - 1])
def test_an_address_of_the_link_without_an_interface_is_of_no_use(scope: int | None) -> None:
    ear = Ear()
    ear.hear(announcement(ATTIC, Shown(household=7433), ("fd00::5", "fe80::5")), scope)
    assert ear.told[-1].addresses == ("fd00::5",)


def test_ones_own_announcement_is_no_news() -> None:
    ear = Ear()
    ear.hear(announcement(ME, Shown(household=7433)))
    assert (ear.told, ear.asked) == ([], [])


def test_goodbye_and_silence_end_it() -> None:
    ear = Ear()
    ear.hear(announcement(ATTIC, Shown(household=7433)))
    ear.hear(announcement(ATTIC, Shown(household=7433), ttl=0))
    assert ear.devices() == []
    ear.hear(announcement(ATTIC, Shown(household=7433)))
    ear.time = GONE_SECONDS - 1
    assert ear.devices() == [ATTIC]
    ear.time = GONE_SECONDS + 1
    assert ear.devices() == []


@pytest.mark.parametrize(
    ("text", "port"),
    [
        (GOOD | {"id": "cd" * 16}, 7433),
        (GOOD | {"proto": "x"}, 7433),
        (GOOD | {"proto": ""}, 7433),
        (GOOD | {"proto": "99999"}, 7433),
        (GOOD | {"port": "-1"}, 7433),
        (GOOD | {"port": "65536"}, 7433),
        (GOOD | {"port": "²"}, 7433),
        (GOOD | {"port": "0"}, 0),
        (GOOD | {"more": "x" * 250, "most": "x" * 250, "yet": "x" * 250}, 7433),
        (b"\xff" * 40, 7433),
        (b"", 7433),
    ],
)
def test_what_contradicts_itself_is_nobody(text: dict[str, str] | bytes, port: int) -> None:
    ear = Ear()
    ear.hear(stranger(ATTIC, text, port))
    assert ear.told == []
    ear.hear(stranger(ATTIC, GOOD))
    assert [each.id for each in ear.told] == [ATTIC]


@pytest.mark.parametrize("name", ["printer", "ab" * 15, "ab" * 16 + "c", "zz" * 16])
def test_other_names_are_nobody(name: str) -> None:
    ear = Ear()
    ear.hear(stranger(ATTIC, GOOD, name=name))
    assert (ear.told, ear.asked) == ([], [])


def test_a_role_is_a_word_of_ours_or_unknown() -> None:
    ear = Ear()
    for role in ("driver", "<b>king</b>", "", "x" * 17):
        ear.hear(stranger(ATTIC, GOOD | {"role": role}))
    assert [each.role for each in ear.told] == ["driver", "unknown", "unknown", "unknown"]


def test_of_a_name_alone_the_rest_is_asked_for_once_it_is_not_known() -> None:
    ear = Ear()
    whole = packet(AsyncServiceInfo(TYPE, f"{ATTIC}.{TYPE}", port=7433, properties=GOOD, server="x.local."))
    ear.hear(whole)
    assert ear.asked == [ATTIC]
    ear.hear(announcement(ATTIC, Shown(household=7433)))
    ear.hear(whole)
    assert ear.asked == [ATTIC]


def test_in_a_flood_of_names_members_are_found_and_little_is_kept() -> None:
    member = "ff" * 16
    ear = Ear(lambda device: device == member)
    for device in many(10_000):
        ear.hear(announcement(device, Shown(household=7433)))
    assert len(ear.devices()) == MOST_DEVICES
    ear.hear(announcement(member, Shown(household=7433)))
    assert member in ear.devices()
    assert names(ear) == {f"{each}.{TYPE}" for each in ear.devices()}
    ear.time = GONE_SECONDS + 1
    ear.hear(announcement(ATTIC, Shown(household=7433)))
    assert ear.devices() == [ATTIC], "when the flood has ended, there is room again"


def test_names_alone_stay_in_the_cache_and_not_for_good() -> None:
    """Ours, and those of which a goodbye is to be heard."""
    ear = Ear()
    ear.hear(announcement(ATTIC, Shown(household=7433)))
    ear.hear(announcement(ME, Shown(household=7433)))
    ear.hear(stranger("cd" * 16, b"\xff"))
    assert names(ear) == {f"{ATTIC}.{TYPE}", f"{ME}.{TYPE}"}
    ear.time = GONE_SECONDS + 1
    assert ear.devices() == []
    assert names(ear) == {f"{ME}.{TYPE}"}


def test_malformed_packets_change_nothing() -> None:
    assert fuzz(1, 3000) > 200

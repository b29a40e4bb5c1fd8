"""Names, queues and what is said about a switching: over a scripted microcontroller."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from muleteer.ports.device import WAITING
from muleteer.ports.service import SerialPorts, resolve
from muleteer.ports.settings import SerialSettings
from muleteer.services import Reading, Told
from tests.ports.conftest import LAMP, Plug, Serve
from tests.ports.microcontroller import ENOUGH, Answer, greenhouse

NAMES = ("greenhouse_temperature", "greenhouse_humidity", "back_door", "light", "Küche-Licht")


class Held:
    """A greenhouse that hears and does not answer until it may."""

    def __init__(self) -> None:
        self.go = threading.Event()
        self._heard = threading.Event()

    def __call__(self, line: str) -> Answer:
        self._heard.set()
        self.go.wait(ENOUGH)
        return greenhouse(line)

    async def heard(self) -> None:
        await asyncio.to_thread(self._heard.wait)


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("greenhouse_temperature", ["greenhouse_temperature"]),
        ("  The Greenhouse Temperature ", ["greenhouse_temperature"]),
        ("greenhouse", ["greenhouse_temperature", "greenhouse_humidity"]),
        ("temperature in the greenhouse", ["greenhouse_temperature"]),
        ("humidity sensor", ["greenhouse_humidity"]),
        ("is the light on", ["light"]),
        ("grenhouse temprature", ["greenhouse_temperature"]),
        ("kueche licht", ["Küche-Licht"]),
        ("kuche licht", ["Küche-Licht"]),
        ("", list(NAMES)),
        ("attic", []),
        ("none of these", []),
        ("of the", []),
    ],
)
def test_what_is_only_looked_at_may_be_named_nearly(said: str, found: list[str]) -> None:
    assert resolve(said, NAMES, near=True) == found


@pytest.mark.parametrize(
    ("said", "found"),
    [("the light", ["light"]), ("Back-Door", ["back_door"]), ("lights", []), ("door", []), ("lihgt", [])],
)
def test_what_is_acted_on_must_be_named(said: str, found: list[str]) -> None:
    assert resolve(said, NAMES, near=False) == found


async def test_several_readings_come_in_their_order(plug: Plug, serve: Serve) -> None:
    plug()
    ports = serve(switches={"lamp": LAMP | {"state": "L1"}})
    assert await ports.read(["lamp", "back_door", "greenhouse_temperature"]) == [
        Reading("lamp", "on", "on"),
        Reading("back_door", "open", "open"),
        Reading("greenhouse_temperature", "21.5 °C", 21.5, "°C"),
    ]


async def test_one_bad_answer_leaves_the_others(plug: Plug, serve: Serve) -> None:
    plug(lambda line: (b"T=-127\n",) if line == "T?" else greenhouse(line))
    warmth, door = await serve().read(["greenhouse_temperature", "back_door"])
    assert (warmth.value, warmth.answered) == (None, True)
    assert warmth.problem == 'the device board answered "T=-127", but less than -40 °C cannot be'
    assert door.value == "open"


async def test_a_silent_device_is_asked_once_for_all(plug: Plug, serve: Serve) -> None:
    board = plug(lambda _: ())
    readings = await serve(timeout=0.2).read(["greenhouse_temperature", "greenhouse_humidity", "back_door"])
    assert {each.problem for each in readings} == {"the device board did not answer within 0.2 s"}
    assert not any(each.answered for each in readings)
    assert board.heard == ["T?"]


async def test_a_device_that_is_away_comes_back(plug: Plug, serve: Serve) -> None:
    board = plug()
    ports = serve()
    assert (await ports.read(["back_door"]))[0].value == "open"
    board.unplug()
    (reading,) = await ports.read(["back_door"])
    assert reading.problem.startswith("the device board is not plugged in (no ")
    board.plug()
    assert (await ports.read(["back_door"]))[0].value == "open"


async def test_requests_for_one_device_take_turns(plug: Plug, serve: Serve) -> None:
    plug()
    ports = serve()
    found = await asyncio.gather(
        *(ports.read([name]) for name in ("greenhouse_temperature", "back_door", "greenhouse_humidity"))
    )
    assert [reading.value for (reading,) in found] == [21.5, "open", 48.0]


async def test_the_queue_is_bounded(plug: Plug, serve: Serve) -> None:
    held = Held()
    plug(held)
    ports = serve(timeout=10)
    asked = [asyncio.create_task(ports.read(["back_door"]))]
    await held.heard()
    asked += [asyncio.create_task(ports.read(["back_door"])) for _ in range(WAITING)]
    (refused,) = await asyncio.create_task(ports.read(["back_door"]))
    assert refused.problem == f"the device board is busy: {WAITING} requests are waiting for it already"
    held.go.set()
    assert [reading.value for each in asked for reading in await each] == ["open"] * (WAITING + 1)


async def test_an_order_that_is_given_up_while_it_waits_is_never_sent(plug: Plug, serve: Serve) -> None:
    held = Held()
    board = plug(held)
    ports = serve(timeout=10, switches={"lamp": LAMP})
    first = asyncio.create_task(ports.read(["back_door"]))
    await held.heard()
    order = asyncio.create_task(ports.switch("lamp", True))
    await asyncio.sleep(0)
    order.cancel()
    with pytest.raises(asyncio.CancelledError):
        await order
    held.go.set()
    await first
    assert (await ports.read(["back_door"]))[0].value == "open"
    assert board.heard == ["D?", "D?"]


async def test_a_request_that_is_given_up_keeps_the_device_until_it_ends(plug: Plug, serve: Serve) -> None:
    held = Held()
    plug(held)
    ports = serve(timeout=10)
    first = asyncio.create_task(ports.read(["greenhouse_temperature"]))
    await held.heard()
    first.cancel()
    second = asyncio.create_task(ports.read(["back_door"]))
    await asyncio.sleep(0)
    held.go.set()
    assert (await second)[0].value == "open"


STATED = LAMP | {"state": "L?"}


@pytest.mark.parametrize(
    ("lamp", "answers", "told"),
    [
        (LAMP, {"L1": b"L=1\n"}, Told("lamp", True, "on")),
        (LAMP, {"L1": b"L=0\nL1\nL=1\n"}, Told("lamp", True, "on")),
        (
            LAMP,
            {"L1": b"ERR\n"},
            Told("lamp", True, "", 'the device board answered "ERR", which is not what its pattern wants'),
        ),
        (LAMP, {}, Told("lamp", True, "", "the device board did not answer within 0.3 s")),
        (
            {"on": "L1", "off": "L0"},
            {"L1": b"OK\n"},
            Told("lamp", True, "", "the settings have no when_on and when_off for it"),
        ),
        ({**LAMP, "when_on": "OK", "when_off": "OK"}, {"L1": b"OK\n"}, Told("lamp", True, "on")),
        (STATED, {"L1": b"L=1\n", "L?": b"L=0\n"}, Told("lamp", True, "on")),
        (STATED, {"L1": b"OK\n", "L?": b"L=1\n"}, Told("lamp", True, "on")),
        (STATED, {"L?": b"L=1\n"}, Told("lamp", True, "on")),
        (
            STATED,
            {"L1": b"OK\n", "L?": b"L=0\n"},
            Told("lamp", True, "off", "the device says that it is off"),
        ),
    ],
)
async def test_only_what_the_device_said_is_believed(
    plug: Plug, serve: Serve, lamp: dict[str, Any], answers: dict[str, bytes], told: Told
) -> None:
    board = plug(lambda line: (answers[line],) if line in answers else ())
    assert await serve(timeout=0.3, switches={"lamp": lamp}).switch("lamp", True) == told
    board.hears(1)
    assert board.heard[0] == "L1"
    assert board.heard.count("L1") == 1


async def test_a_switch_rests_between_two_switchings(plug: Plug, serve: Serve) -> None:
    board = plug()
    ports = serve(switches={"lamp": LAMP | {"pause": 3600}})
    assert (await ports.switch("lamp", True)).answer == "on"
    told = await ports.switch("lamp", False)
    assert not told.sent
    assert "it was switched 0 s ago and must rest 3" in told.problem
    assert board.heard == ["L1"]


async def test_a_device_that_goes_away_while_it_switches_confirms_nothing(plug: Plug, serve: Serve) -> None:
    board = plug()

    def leave(_: str) -> Answer:
        board.unplug()
        return ()

    board.script = leave
    told = await serve(switches={"lamp": STATED}).switch("lamp", True)
    assert told == Told("lamp", True, "", "the device board went away before it answered")


async def test_nothing_is_sent_to_a_device_that_is_away(serve: Serve) -> None:
    with pytest.raises(OSError, match="the device board is not plugged in"):
        await serve(switches={"lamp": LAMP}).switch("lamp", True)


async def test_free_text_only_where_it_is_allowed(plug: Plug, serve: Serve) -> None:
    board = plug()
    with pytest.raises(OSError, match="must say send = true"):
        await serve().send("board", "T?")
    assert board.heard == []


async def test_free_text_and_its_answer(plug: Plug, serve: Serve) -> None:
    plug()
    ports = serve(send=True)
    assert ports.names("receivers") == ("board",)
    assert await ports.send("board", "T?") == Told("board", True, "T=21.5")


async def test_two_requests_of_two_services_exclude_each_other(plug: Plug, serve: Serve) -> None:
    plug()
    first, second = serve(), serve()
    assert (await first.read(["back_door"]))[0].value == "open"
    (reading,) = await second.read(["back_door"])
    assert "is in use by another program" in reading.problem
    await first.close()
    assert (await second.read(["back_door"]))[0].value == "open"


async def test_after_closing_nobody_is_served(plug: Plug, serve: Serve) -> None:
    plug()
    ports = serve()
    await ports.close()
    assert "is not used any more" in (await ports.read(["back_door"]))[0].problem
    await ports.close()


async def test_without_devices_there_are_no_names() -> None:
    ports = SerialPorts(SerialSettings(), list)
    kinds = ("readings", "switches", "devices", "receivers", "nonsense")
    assert [await ports.find(kind, "") for kind in kinds] == [[]] * 5
    assert await ports.ports() == []


async def test_other_devices_are_taken_up_and_one_that_stays_keeps_its_port_open(
    plug: Plug, tmp_path: Path
) -> None:
    def wanted(**devices: str) -> SerialSettings:
        sensor = {"request": "T?", "pattern": "T=(.+)"}
        given = {
            name: {"path": tmp_path / name, "settle": 0, "timeout": 1, "sensors": {reading: sensor}}
            for name, reading in devices.items()
        }
        return SerialSettings.model_validate({"devices": given})

    for name in ("shed", "attic"):
        plug(name=name)
    ports = SerialPorts(wanted(shed="warmth"), list)
    assert (await ports.read(["warmth"]))[0].text
    kept = ports._devices["shed"]
    await ports.take_up(wanted(shed="warmth", attic="heat"))
    assert ports.names("readings") == ("warmth", "heat")
    assert all(each.text for each in await ports.read(["warmth", "heat"]))
    assert ports._devices["shed"] is kept
    await ports.take_up(wanted(shed="warm"))
    assert ports.names("readings") == ("warm",)
    assert (await ports.read(["warm"]))[0].text
    assert "is not used any more" in (await kept.read(["warmth"]))[0].problem
    await ports.close()

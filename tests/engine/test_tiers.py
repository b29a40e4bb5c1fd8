"""Prefixes leave the context and come back, on the tiny model: what was decoded once is not decoded again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from muleteer.engine.decode import Decoder
from muleteer.engine.protocol import Conversation, LoadSettings, Message
from tests.engine.asking import assert_exact, go_on

pytestmark = pytest.mark.model("tiny")

CRAMPED = LoadSettings(context=512, sequences=8, batch=32, threads=1)
TOOLS = range(5)
YES_NO = ("yes", "no")


def tool(number: int, question: str = "", *more: Message) -> Conversation:
    """A constant part of about 120 tokens: four fill the context."""
    system = Message("system", f"You are tool {number}. " + "Do what you are told. " * 20)
    return Conversation((system, *more, Message("user", question)), constant=1)


@contextmanager
def loaded(tiny: Path, settings: LoadSettings) -> Iterator[Decoder]:
    with closing(Decoder.load(tiny, settings)) as decoder:
        yield decoder
        assert_exact(decoder)


@pytest.fixture
def settings(tmp_path: Path) -> LoadSettings:
    return replace(CRAMPED, states=str(tmp_path))


def test_a_small_context_serves_any_number_of_prefixes_each_decoded_once(tiny: Path) -> None:
    with loaded(tiny, CRAMPED) as decoder:
        for number in TOOLS:
            assert decoder.warm(tool(number), go_on).decoded > 100
        for number in (*TOOLS, *reversed(TOOLS)):
            use = decoder.choose(tool(number, "Is water wet?"), YES_NO, go_on).use
            assert use.decoded < 20, f"tool {number}"
        assert decoder.held.restored >= 2
        assert decoder.held.memory > 0
        assert decoder.held.disk == 0


def test_strangers_menus_push_out_none_of_our_prompts_and_take_no_more_memory(tiny: Path) -> None:
    """Where nothing is kept on disk, from which ours would come back. Theirs are as long."""
    with loaded(tiny, CRAMPED) as decoder:
        token = decoder.properties.kv_bytes // decoder.properties.context
        room = 8 * token * decoder.warm(tool(0), go_on).decoded
    with loaded(tiny, replace(CRAMPED, parked_memory=room)) as decoder:
        for number in range(3):
            decoder.warm(tool(number), go_on)
        for number in range(12):
            theirs = replace(tool(100 + number, "Is water wet?"), constant=0)
            decoder.choose(theirs, YES_NO, go_on)
            assert decoder.held.memory <= room
        assert decoder.held.memory > room // 2, "and so they were in need of room"
        for number in range(3):
            use = decoder.choose(tool(number, "Is water wet?"), YES_NO, go_on).use
            assert use.decoded < 20, f"tool {number}"


def test_a_prefix_that_came_back_answers_like_one_that_was_decoded(
    tiny: Path, settings: LoadSettings
) -> None:
    with loaded(tiny, settings) as decoder:
        for number in TOOLS:
            decoder.warm(tool(number), go_on)
        warm = decoder.choose(tool(0, "Is water wet?"), YES_NO, go_on)
    with loaded(tiny, settings) as decoder:
        assert decoder.warm(tool(0), go_on).decoded == 0
        again = decoder.choose(tool(0, "Is water wet?"), YES_NO, go_on)
        assert again.probabilities == pytest.approx(warm.probabilities, abs=0.001)


def test_the_next_start_decodes_no_saved_prefix(tiny: Path, settings: LoadSettings) -> None:
    with loaded(tiny, settings) as decoder:
        decoded = [decoder.warm(tool(number), go_on).decoded for number in TOOLS]
        assert min(decoded) > 100
        assert decoder.held.disk_prefixes == len(TOOLS)
    with loaded(tiny, settings) as decoder:
        for number in TOOLS:
            use = decoder.warm(tool(number), go_on)
            assert (use.decoded, use.reused) == (0, use.prompt)
        for number in TOOLS:
            assert decoder.choose(tool(number, "Is water wet?"), YES_NO, go_on).use.decoded < 20


def test_a_damaged_file_costs_one_decoding_and_is_replaced(tiny: Path, settings: LoadSettings) -> None:
    with loaded(tiny, settings) as decoder:
        decoder.warm(tool(0), go_on)
    (path,) = Path(settings.states).iterdir()
    whole = path.read_bytes()
    path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    with loaded(tiny, settings) as decoder:
        assert decoder.choose(tool(0, "Is water wet?"), YES_NO, go_on).use.decoded > 100
        assert decoder.held.ignored == 1
    assert path.read_bytes() == whole
    with loaded(tiny, settings) as decoder:
        assert decoder.warm(tool(0), go_on).decoded == 0


def test_states_that_llama_cpp_refuses_are_forgotten(tiny: Path, settings: LoadSettings) -> None:
    with loaded(tiny, settings) as decoder:
        cache = decoder._cache
        tokens = decoder._chat.constant(tool(0))
        cache._tiers.save(tokens, b"no state at all")
        use = decoder.choose(tool(0, "Is water wet?"), YES_NO, go_on).use
        assert use.decoded > 100
        assert decoder.held.restored == 0
        assert decoder.choose(tool(0, "Is it?"), YES_NO, go_on).use.decoded < 20


def test_a_conversation_comes_back_from_memory_and_is_never_written_to_disk(
    tiny: Path, settings: LoadSettings
) -> None:
    said = (Message("user", "Tell me about mules. " * 20), Message("assistant", "They are strong."))
    with loaded(tiny, settings) as decoder:
        first = decoder.choose(tool(0, "Really?", *said), YES_NO, go_on).use
        assert first.decoded > 200
        for number in (1, 2, 3, 4):
            decoder.choose(tool(number, "Is water wet?"), YES_NO, go_on)
        again = decoder.choose(tool(0, "Why?", *said), YES_NO, go_on).use
        assert again.decoded < 20
    files = [path.read_bytes() for path in Path(settings.states).iterdir()]
    assert len(files) == len(TOOLS)
    assert max(map(len, files)) < 130 * 4 + first.decoded * 23_040 // 2  # none as long as the conversation


def test_conversations_go_down_to_disk_where_that_is_allowed_and_leave_it_where_it_is_not(
    tiny: Path, settings: LoadSettings
) -> None:
    settings = replace(settings, parked_memory=0, parked_talks=True)
    said = (Message("user", "Tell me about mules. " * 20), Message("assistant", "They are strong."))
    with loaded(tiny, settings) as decoder:
        decoder.choose(tool(0, "Really?", *said), YES_NO, go_on)
        for number in (1, 2, 3, 4):
            decoder.choose(tool(number, "Is water wet?"), YES_NO, go_on)
    with loaded(tiny, settings) as decoder:
        assert decoder.held.disk_prefixes > len(TOOLS)
        assert decoder.choose(tool(0, "Why?", *said), YES_NO, go_on).use.decoded < 20
        assert len(decoder._cache._forest.sequences()) == 2  # it came back unpinned, and the tool is decoded
    with loaded(tiny, replace(settings, parked_talks=False)) as decoder:
        assert decoder.held.disk_prefixes == len(TOOLS)
        assert decoder.choose(tool(0, "Why?", *said), YES_NO, go_on).use.decoded > 100


@pytest.mark.parametrize("memory", [0, 128 * 2**20])
def test_what_people_said_is_forgotten_wherever_it_is_and_what_is_constant_stays(
    tiny: Path, settings: LoadSettings, memory: int
) -> None:
    settings = replace(settings, parked_memory=memory, parked_talks=True)
    said = (Message("user", "Tell me about mules. " * 20), Message("assistant", "They are strong."))
    with loaded(tiny, settings) as decoder:
        decoder.choose(tool(0, "Really?", *said), YES_NO, go_on)
        for number in (1, 2, 3, 4):
            decoder.choose(tool(number, "Is water wet?"), YES_NO, go_on)
        assert decoder.held.memory_prefixes + decoder.held.disk_prefixes > len(TOOLS)
        assert decoder.forget_talks()
        assert len(list(Path(settings.states).iterdir())) == decoder.held.disk_prefixes == len(TOOLS)
        forest = decoder._cache._forest
        assert all(map(forest.is_constant, forest.sequences()))
        assert all(parked.constant for parked in decoder._cache._tiers._memory)
        assert not decoder._chat._outputs
        assert decoder.choose(tool(0, "Why?", *said), YES_NO, go_on).use.decoded > 100
        assert decoder.choose(tool(4, "Why?"), YES_NO, go_on).use.decoded < 20


def test_prefixes_of_a_larger_context_are_left_alone(tiny: Path, settings: LoadSettings) -> None:
    long = Conversation((Message("system", "A long story. " * 150), Message("user", "")), constant=1)
    with loaded(tiny, replace(settings, context=1024)) as decoder:
        assert decoder.warm(long, go_on).decoded > 512
    short = Conversation((Message("system", "A long story. " * 40), Message("user", "Ok?")), constant=1)
    with loaded(tiny, settings) as decoder:
        assert decoder.choose(short, YES_NO, go_on).use.decoded > 100


def test_without_room_anywhere_everything_is_decoded_again(tiny: Path) -> None:
    with loaded(tiny, replace(CRAMPED, parked_memory=0)) as decoder:
        for number in TOOLS:
            decoder.warm(tool(number), go_on)
        decoded = [decoder.choose(tool(n, "Is water wet?"), YES_NO, go_on).use.decoded for n in TOOLS]
        assert max(decoded) > 100
        assert decoder.held.memory == 0

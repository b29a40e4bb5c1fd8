"""Reuse, the ledger, limits and cancels on the tiny model: real decoding, every token accounted for."""

from __future__ import annotations

import random

import pytest

from muleteer.engine.decode import Decoder
from muleteer.engine.protocol import Conversation, Message, Use
from muleteer.errors import TooLongError
from tests.engine.asking import (
    CLOCK,
    HANDLES,
    MENU,
    PLACE,
    CancelledError,
    assert_exact,
    cancel_after,
    go_on,
    say,
    write,
)


def test_properties_are_found_by_a_test_that_leaves_nothing_behind(loaded: Decoder) -> None:
    properties = loaded.properties
    assert (properties.context, properties.trained_context, properties.vocabulary) == (512, 8192, 49152)
    assert not properties.template_knows_tools
    assert properties.partial_reuse
    assert properties.size == 98_362_432
    assert properties.kv_bytes == 512 * 30 * 3 * 128 * 2
    assert properties.load_ms > 0


def test_nothing_is_resident_after_forgetting(decoder: Decoder) -> None:
    assert decoder.held.resident_tokens == 0
    assert decoder.totals == Use()


# Reuse and the ledger.


def test_a_prompt_costs_what_count_says(decoder: Decoder) -> None:
    prompt = say("What is 2 + 2?")
    _, text = write(decoder, prompt, 3)
    assert text.use.prompt == decoder.count(prompt) == text.use.decoded
    assert decoder.count("two words") == 2
    assert_exact(decoder)


def test_reuse_changes_no_answer(decoder: Decoder) -> None:
    prompts = [say(f"Name {n} fruits.", system="You know fruits well. " * 8) for n in ("two", "three")]
    fresh = []
    for prompt in prompts:
        decoder.forget()
        fresh.append(write(decoder, prompt, 16)[1])
    decoder.forget()
    again = [write(decoder, prompt, 16)[1] for prompt in (*prompts, *prompts)]
    assert [text.text for text in again] == [text.text for text in fresh] * 2
    assert [text.use.reused > 40 for text in again] == [False, True, True, True]
    assert again[2].use.decoded == again[3].use.decoded == 1
    assert_exact(decoder)


def test_the_next_turn_reuses_what_was_written(decoder: Decoder) -> None:
    _, first = write(decoder, say("Name two fruits."), 12)
    held = decoder.held.resident_tokens
    _, second = write(decoder, say("Name two fruits.", first.text, "And two more."), 4)
    assert second.use.reused == held == first.use.prompt + first.use.generated - 1
    assert_exact(decoder)


def test_a_call_that_comes_back_is_reused(decoder: Decoder) -> None:
    ask = (Message("system", "Call."), Message("user", "The time in Rome?"))
    filled = decoder.fill(Conversation(ask, (CLOCK,), begin_call=True), PLACE, 40, go_on)
    held = decoder.held.resident_tokens
    back = (*ask, Message("assistant", "", (("clock", filled.text),)), Message("tool", "12:04"))
    _, answer = write(decoder, Conversation(back, (CLOCK,)), 4)
    assert answer.use.reused == held
    assert_exact(decoder)


def test_a_constant_part_is_decoded_once_and_kept(decoder: Decoder) -> None:
    examples = say("hi", "@reply", system=MENU, constant=3)
    use = decoder.warm(examples, go_on)
    assert use.decoded == use.prompt == decoder.held.resident_tokens > 40
    assert decoder.warm(examples, go_on).decoded == 0
    for n in range(10):  # enough to push every unpinned sequence out
        choice = decoder.choose(
            say("hi", "@reply", f"What is {n}?", system=MENU, constant=3, begin="@"), HANDLES, go_on
        )
        assert choice.use.reused >= use.prompt
        write(decoder, say(f"Unrelated {n} " * 5), 2)
    assert_exact(decoder)


def test_a_constant_part_is_pinned_by_its_first_use(decoder: Decoder) -> None:
    first = decoder.choose(say("one", system=MENU, constant=1, begin="@"), HANDLES, go_on)
    for n in range(9):
        write(decoder, say(f"Unrelated {n} " * 5), 2)
    second = decoder.choose(say("two", system=MENU, constant=1, begin="@"), HANDLES, go_on)
    assert first.use.reused == 0
    assert second.use.decoded < 12
    assert_exact(decoder)


def test_any_sequence_of_requests_is_counted_exactly(decoder: Decoder) -> None:
    rng = random.Random(7)
    words = ["time", "Rome", "apple", "now", "why", "水"]
    for _ in range(25):
        prompt = say(
            *[" ".join(rng.choices(words, k=rng.randint(1, 30))) for _ in range(rng.choice([1, 1, 3]))],
            system=rng.choice([MENU, "Be brief.", "Be very brief."]),
            constant=rng.choice([0, 1]),
            begin=rng.choice(["", "@"]),
        )
        before = decoder.evaluated
        match rng.choice(["choose", "fill", "write", "warm", "cancel"]):
            case "choose":
                use = decoder.choose(prompt, rng.sample(HANDLES, rng.randint(1, 5)), go_on).use
            case "fill":
                use = decoder.fill(prompt, PLACE, 12, go_on).use
            case "write":
                use = write(decoder, prompt, rng.randint(1, 6))[1].use
            case "warm":
                use = decoder.warm(prompt, go_on)
            case _:
                with pytest.raises(CancelledError):
                    list(decoder.write(prompt, 50, (), cancel_after(rng.randint(0, 4))))
                use = Use()
        assert use.prompt == use.reused + use.decoded
        assert use.decoded <= decoder.evaluated - before or use == Use()
        assert decoder.held.resident_tokens <= 512
        assert_exact(decoder)


def test_what_does_not_fit_any_more_is_evicted(decoder: Decoder) -> None:
    for n in range(5):
        _, text = write(decoder, say(f"{n} " + "word " * 200), 2)
        assert text.use.decoded > 200
        assert decoder.held.resident_tokens <= 512
    assert_exact(decoder)


def test_a_prompt_that_fills_the_context_is_served_even_beside_pins(decoder: Decoder) -> None:
    for n in range(3):
        decoder.warm(say("x", system=f"{n} " + "word " * 60, constant=1), go_on)
    room = 512 - decoder.count(say("word " * 440))
    _, text = write(decoder, say("word " * 440), room)
    assert text.use.prompt + text.use.generated <= 512
    assert_exact(decoder)


# Limits and cancels.


def test_too_long_is_refused_before_anything_is_decoded(decoder: Decoder) -> None:
    long = say("word " * 700)
    count = decoder.count(long)
    for request in (
        lambda: list(decoder.write(long, 10, (), go_on)),
        lambda: decoder.fill(long, PLACE, 10, go_on),
        lambda: decoder.choose(long, HANDLES, go_on),
    ):
        with pytest.raises(TooLongError, match=rf"{count} tokens.* context of 512"):
            request()
    with pytest.raises(TooLongError, match=r"has \d+ tokens and may have 5"):
        decoder.choose(say("short"), HANDLES, go_on, prompt_limit=5)
    with pytest.raises(TooLongError, match="with 510 for the output"):
        list(decoder.write(say("short"), 510, (), go_on))
    with pytest.raises(TooLongError):
        decoder.warm(say("x", system="word " * 700, constant=1), go_on)
    assert decoder.evaluated == 0
    assert decoder.totals.decoded == 0


@pytest.mark.parametrize("looks", [0, 2, 5, 7])
def test_a_cancel_in_prefill_or_decoding_leaves_it_working(decoder: Decoder, looks: int) -> None:
    prompt = say("Tell me a long story about a mule.", system="word " * 110)
    _, expected = write(decoder, prompt, 8)
    decoder.forget()
    with pytest.raises(CancelledError):
        list(decoder.write(prompt, 100, (), cancel_after(looks)))
    done = decoder.evaluated
    assert done <= looks * 32
    assert_exact(decoder)
    _, text = write(decoder, prompt, 8)
    assert text.text == expected.text
    assert text.use.reused == min(done, text.use.prompt - 1)
    with pytest.raises(CancelledError):
        decoder.choose(say("a", begin="@"), HANDLES, cancel_after(1))
    with pytest.raises(CancelledError):
        decoder.fill(say("a"), PLACE, 50, cancel_after(3))
    assert_exact(decoder)


def test_a_writer_may_walk_away(decoder: Decoder) -> None:
    chunks = decoder.write(say("Tell me a story."), 100, (), go_on)
    next(chunks)
    chunks.close()  # type: ignore[attr-defined]  # it is a generator
    assert_exact(decoder)
    assert write(decoder, say("Tell me a story."), 2)[1].use.decoded == 1

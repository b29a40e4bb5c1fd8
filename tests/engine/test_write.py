"""Free text on the tiny model."""

from __future__ import annotations

import pytest

from muleteer.engine.decode import Decoder
from muleteer.engine.protocol import Conversation, Message, Text
from muleteer.errors import EngineError, RequestError
from tests.engine.asking import (
    CLOCK,
    PLACE,
    CancelledError,
    assert_exact,
    cancel_after,
    go_on,
    say,
    write,
)

SHOPPING = "- oats for Juniper: 12 kg\n- a halter, size 3\n- water, 40 l a day\n- the farrier at 9:30\n"
COPY = say(f"Repeat this list:\n{SHOPPING}\nRepeat this list:\n{SHOPPING}", begin="- oats")
THOUGHTS = say("Go on.", begin="<think>the mule is tired</think>No.\n" * 3)  # the model writes more of these
SIGNS = say("Go on.", begin="水 😀 é\n" * 4)


def test_text_streams_and_is_whole(decoder: Decoder) -> None:
    chunks, text = write(decoder, say("What is the capital of France?"), 20)
    assert "Paris" in text.text
    assert text.finish in ("stop", "length")
    assert len(chunks) > 3
    assert "<|" not in text.text
    assert text.use.sampled <= text.use.generated <= 20


def test_a_stop_string_over_several_tokens_is_never_shown(decoder: Decoder) -> None:
    whole = write(decoder, say("What is the capital of France?"), 20)[1].text
    stop = whole[len(whole) // 3 : len(whole) // 3 + 9]
    chunks, text = write(decoder, say("What is the capital of France?"), 20, "never", stop)
    assert text.text == whole[: whole.index(stop)]
    assert text.finish == "stop"
    assert stop[0] not in chunks[-1] or stop not in "".join(chunks)
    assert_exact(decoder)


def test_the_token_limit_is_the_callers(decoder: Decoder) -> None:
    _, text = write(decoder, say("Tell me a long story about a mule."), 7)
    assert (text.finish, text.use.generated) == ("length", 7)


def test_a_text_that_goes_in_circles_ends(decoder: Decoder) -> None:
    prompt = say("Say ha forever.", begin="ha ha ha ha ha ha ha ha ha ha ha ha ha ha ha ha ha ha ha ha")
    _, text = write(decoder, prompt, 400)
    assert text.finish == "repetition"
    assert text.use.generated < 200


# Drafts.


def plainly(decoder: Decoder, prompt: Conversation, limit: int, *stop: str) -> Text:
    """The text without drafts, by a decoder that holds nothing before or after."""
    decoder.forget()
    decoder.drafts = False
    text = write(decoder, prompt, limit, *stop)[1]
    decoder.forget()
    decoder.drafts = True
    return text


def assert_holds_the_text_alone(decoder: Decoder, text: Text) -> None:
    """No rejected token stays in the context; the last token of a text may be missing there."""
    held = text.use.prompt + text.use.generated
    assert decoder.held.resident_tokens == held - decoder.unevaluated


@pytest.mark.parametrize("prompt", [COPY, THOUGHTS, SIGNS, say("Tell me a story about a mule.")])
def test_drafts_change_nothing_but_the_cost(decoder: Decoder, prompt: Conversation) -> None:
    plain = plainly(decoder, prompt, 60)
    _, drafted = write(decoder, prompt, 60)
    assert (drafted.text, drafted.finish) == (plain.text, plain.finish)
    assert drafted.use.generated == plain.use.generated == plain.use.sampled
    assert plain.use.rejected == 0
    assert_exact(decoder)
    assert_holds_the_text_alone(decoder, drafted)


def test_a_copy_costs_few_evaluations(decoder: Decoder) -> None:
    looks = list[None]()
    *chunks, text = decoder.write(COPY, 60, (), lambda: looks.append(None))
    assert isinstance(text, Text)
    assert "".join(str(chunk) for chunk in chunks) == text.text == SHOPPING.removeprefix("- oats").rstrip()
    assert text.use.sampled <= text.use.generated / 4
    assert len(looks) <= text.use.sampled + text.use.prompt / 16 + 1


@pytest.mark.parametrize("limit", [1, 2, 3, 6, 9, 14, 20, 31])
def test_a_limit_within_a_draft_is_kept(decoder: Decoder, limit: int) -> None:
    plain = plainly(decoder, COPY, limit)
    _, drafted = write(decoder, COPY, limit)
    assert (drafted.text, drafted.finish) == (plain.text, "length")
    assert drafted.use.generated == limit
    assert_exact(decoder)
    assert_holds_the_text_alone(decoder, drafted)


@pytest.mark.parametrize("stop", ["size 3\n- wat", "halter", "a day", "farrier at 9:3"])
def test_a_stop_string_within_a_draft_ends_the_text(decoder: Decoder, stop: str) -> None:
    plain = plainly(decoder, COPY, 60, stop)
    _, drafted = write(decoder, COPY, 60, stop)
    assert drafted.text == plain.text == SHOPPING[: SHOPPING.index(stop)].removeprefix("- oats")
    assert drafted.finish == "stop"
    assert drafted.use.generated == plain.use.generated > drafted.use.sampled
    assert_exact(decoder)
    assert_holds_the_text_alone(decoder, drafted)


@pytest.mark.parametrize("chunks", [1, 5, 9, 12, 25])
def test_a_writer_may_walk_away_within_a_draft(decoder: Decoder, chunks: int) -> None:
    text = decoder.write(COPY, 60, (), go_on)
    for _ in range(chunks):
        next(text)
    text.close()  # type: ignore[attr-defined]  # it is a generator
    assert_exact(decoder)
    assert decoder.totals.generated >= chunks
    assert decoder.held.resident_tokens == decoder.evaluated - decoder.totals.rejected


@pytest.mark.parametrize("batches", [0, 1, 2])
def test_a_cancel_is_seen_between_batches(decoder: Decoder, batches: int) -> None:
    plain = plainly(decoder, COPY, 60)
    prefill = -(-plain.use.prompt // 16)  # chunks, at most
    with pytest.raises(CancelledError):
        list(decoder.write(COPY, 60, (), cancel_after(prefill - 1 + batches)))
    assert_exact(decoder)
    assert decoder.held.resident_tokens == decoder.evaluated - decoder.totals.rejected
    assert write(decoder, COPY, 60)[1].text == plain.text


def test_no_token_at_all_may_be_asked_for(decoder: Decoder) -> None:
    _, text = write(decoder, COPY, 0)
    assert (text.text, text.finish, text.use.generated) == ("", "length", 0)
    assert_exact(decoder)


# What leaves the engine.


def test_characters_are_whole_at_every_border(decoder: Decoder) -> None:
    chunks, text = write(decoder, SIGNS, 24)
    assert text.text.startswith("水 😀 é\n水 😀 é\n")
    assert set("".join(chunks)) <= set("水 😀é\n")
    for limit in range(1, 9):
        assert text.text.startswith(write(decoder, SIGNS, limit)[1].text)


def test_thoughts_stay_inside_wherever_they_are_cut(decoder: Decoder) -> None:
    _, whole = write(decoder, THOUGHTS, 30)
    assert whole.text.startswith("No.\nNo.\n")
    assert set(whole.text) <= set("No.\n")
    for limit in range(1, 16):
        _, text = write(decoder, THOUGHTS, limit)
        assert whole.text.startswith(text.text)
        assert text.finish == "length"


def test_a_thought_that_eats_the_limit_leaves_no_text(decoder: Decoder) -> None:
    chunks, text = write(decoder, THOUGHTS, 6)
    assert (chunks, text.text, text.finish, text.use.generated) == ([], "", "length", 6)
    assert_exact(decoder)


def test_a_call_prompt_is_for_fill(decoder: Decoder) -> None:
    call = Conversation((Message("user", "x"),), (CLOCK,), begin_call=True)
    with pytest.raises(RequestError):
        decoder.choose(call, ["a"], go_on)
    with pytest.raises(RequestError):
        next(decoder.write(call, 5, (), go_on))
    with pytest.raises(EngineError):
        decoder.fill(Conversation((Message("user", "x"),), begin_call=True), PLACE, 5, go_on)

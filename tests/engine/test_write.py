"""Free text on the tiny model."""

from __future__ import annotations

import pytest

from muleteer.engine.decode import Decoder
from muleteer.engine.protocol import Conversation, Message
from muleteer.errors import EngineError, RequestError
from tests.engine.asking import (
    CLOCK,
    PLACE,
    assert_exact,
    go_on,
    say,
    write,
)


def test_text_streams_and_is_whole(decoder: Decoder) -> None:
    chunks, text = write(decoder, say("What is the capital of France?"), 20)
    assert "Paris" in text.text
    assert text.finish in ("stop", "length")
    assert len(chunks) > 3
    assert "<|" not in text.text
    assert text.use.sampled == text.use.generated <= 20


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


def test_a_call_prompt_is_for_fill(decoder: Decoder) -> None:
    call = Conversation((Message("user", "x"),), CLOCK, begin_call=True)
    with pytest.raises(RequestError):
        decoder.choose(call, ["a"], go_on)
    with pytest.raises(RequestError):
        next(decoder.write(call, 5, (), go_on))
    with pytest.raises(EngineError):
        decoder.fill(Conversation((Message("user", "x"),), begin_call=True), PLACE, 5, go_on)

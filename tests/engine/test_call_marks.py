"""What a model writes before a call reaches the reader, also where that is a control token."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from muleteer.engine.decode import Decoder
from muleteer.engine.protocol import LoadSettings
from tests.engine.odd_models import CHAT_TOKENS, CHATML, TAGS, TOOLED, Odd, byte_level, write

SETTINGS = LoadSettings(context=256, sequences=4, batch=32, threads=1)
LFM2 = ("<|tool_call_start|>", "<|tool_call_end|>")


@pytest.mark.parametrize(
    ("odd", "marks"),
    [
        (Odd("llama", byte_level((*CHAT_TOKENS[:2], *LFM2, "<|im_end|>")), CHATML), ("<|tool_call_start|>",)),
        (Odd("llama", byte_level(CHAT_TOKENS, TAGS), TOOLED), ("<tool_call>",)),
        (Odd("llama", byte_level(CHAT_TOKENS), CHATML), ()),
    ],
    ids=["LFM2", "Hermes", "none"],
)
def test_a11_marks_are_found_and_are_text_in_a_reply_but_never_control_in_a_message(
    odd: Odd, marks: tuple[str, ...], tmp_path: Path
) -> None:
    with closing(Decoder.load(write(tmp_path / "odd.gguf", odd), SETTINGS)) as decoder:
        assert decoder.properties.call_marks == marks
        llama = decoder._llama  # what the decoder writes is what this says of its tokens
        for mark in (*marks, *(LFM2 if LFM2[0] in marks else ())):
            (token,) = llama.tokenize(mark, special=True)
            assert llama.piece(token).decode() == mark
            assert not decoder._is_end(token)
            assert decoder.count(mark) > 1

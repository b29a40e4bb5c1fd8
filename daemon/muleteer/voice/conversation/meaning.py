"""What an utterance is taken for, given what is going on. Pure: texts in, one of a few meanings out."""

from __future__ import annotations

import re
from typing import Literal

from muleteer.harness.assent import assent
from muleteer.harness.stopping import bare

Meaning = Literal["nothing", "stop", "yes", "no", "unclear", "request"]
For = Literal["request", "question", "bell"]

SHORT = 3  # words; more than that is no attempt at a yes or a no, but something else
LONGEST_STOP = 6  # words: "please stop the timer now"
_WORD = re.compile(r"[^\W_]+")
_STOPS = re.compile(
    r"\b(?:stop|stopp|stoppe|halt|off|aus|quiet|silence|still|ruhe|enough|genug|snooze|schlummern|cancel"
    r"|danke|thanks|thank you|para|apaga|basta|arrête|éteins|merci|gracias|grazie|spegni|uit|genoeg|chega"
    r"|desliga|dur|sustur|kapat)\b",
    re.IGNORECASE,
)


def meaning(text: str, wanted: For, interrupted: bool) -> Meaning:
    """`wanted` is what is listened for; of what rings nothing but a stop is heard. `interrupted`: an answer
    was cut short by this, so that a bare stop has had its way."""
    count = len(_WORD.findall(text))
    if not count:
        return "nothing"
    if wanted == "bell":
        stops = bare(text) or (count <= LONGEST_STOP and _STOPS.search(text))
        return "stop" if stops else "nothing"
    if wanted == "question":
        answer = assent(text)
        if answer is not None:
            return "yes" if answer else "no"
        return "unclear" if count <= SHORT else "request"
    return "stop" if interrupted and bare(text) else "request"

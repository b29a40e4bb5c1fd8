"""Ears for the smallest boards: PocketSphinx with a grammar of what the skills know, in English, whole
sentences with any number below a hundred in them.

A grammar makes a command of anything that is said. So the same sound is also taken as plain phones in any
order, by the same acoustic model: what they fit better than the command was something else, and nothing is
understood, nor is half a sentence. Measured on two voices of espeak-ng, half of it in noise 15 dB below: of
68 commands made of 13 sentences 61 were right, six wrong (all of them sums) and one unheard; of 44 sentences
about other things one was taken for a command. Sums are what it is worst at.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import numpy as np
from pocketsphinx import Decoder, get_model_path

from muleteer.voice.parts import FRAME_BYTES, RATE, Heard

COMMANDS, PHONES = "commands", "phones"  # the two searches
MOST_SENTENCES = 400  # of the skills' examples; each makes a search a little slower
MOST_WORDS = 16  # of one of them
LOG_BASE = 1.0001  # of PocketSphinx's scores
FIRM = 20.0  # by so much a frame did a command fit better at best; that counts as certain
HISS, AROUND_SECONDS = 20.0, 0.2  # of FULL_SCALE; and so long
FULL_SCALE = 32_768
ONES = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven"),
    *("twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
VALUES = {word: value for value, word in enumerate(ONES)} | {w: 10 * n for n, w in enumerate(TENS, 2)}
RULES = (
    f"<ones> = {' | '.join(ONES)}; <tens> = {' | '.join(TENS)}; <number> = <ones> | <tens> | <tens> <ones>;"
)
ALWAYS = (
    *("yes", "yes please", "no", "no thank you", "stop", "cancel", "never mind", "what time is it"),
    *("set a timer for 5 minutes", "set a timer for 1 minute", "cancel the timer"),
)  # what a conversation is made of, whatever the skills' examples are
HARMLESS, HARMLESS_BETTER = ("no", "stop", "cancel"), -3.0
"""One word is too short to be told from others like it ("now", "top"; "chess" may be heard as "yes"). With
these it does no harm to be wrong, and it does to be deaf to them; said well, they were -0.3 to -2.8."""
WORDS = re.compile(r"[a-z']+|[0-9]+")
NUMBER = "<number>"


class CommandEars:
    """`sentences` are all that is understood beside `ALWAYS`; those with a word that the dictionary lacks are
    left out."""

    def __init__(self, sentences: Sequence[str]) -> None:
        folder = f"{get_model_path()}/en-us"
        self._decoder = Decoder(
            hmm=f"{folder}/en-us", dict=f"{folder}/cmudict-en-us.dict", lm=None, loglevel="FATAL"
        )
        wanted = dict.fromkeys(map(_words, (*ALWAYS, *sentences)))
        known = [words for words in wanted if self._knows(words)]
        self._known = frozenset(known[:MOST_SENTENCES])
        choices = " | ".join(" ".join(words) for words in known[:MOST_SENTENCES])
        self._decoder.add_jsgf_string(
            COMMANDS, f"#JSGF V1.0; grammar {COMMANDS}; {RULES} public <command> = {choices};"
        )
        self._decoder.add_allphone_file(PHONES, f"{folder}/en-us-phone.lm.bin")

    def hear(self, pcm: bytes, language: str, names: Sequence[str]) -> Heard:
        """As `Ears` has it, in digits. Names are of no use to a grammar."""
        pcm = _in_a_room(pcm)
        said, score = self._searched(COMMANDS, pcm)
        words = tuple(said.split())
        if _counted(words) not in self._known:  # nothing, or half a sentence
            return Heard("", language, 0.0)
        _, other = self._searched(PHONES, pcm)
        better = (score - other) / (len(pcm) / FRAME_BYTES * 2)
        if better <= (HARMLESS_BETTER if said in HARMLESS else 0.0):
            return Heard("", language, 0.0)
        return Heard(_with_digits(words), language, min(1.0, max(1.0, better) / FIRM))

    def _knows(self, words: tuple[str, ...]) -> bool:
        plain = [word for word in words if word != NUMBER]
        return 0 < len(words) <= MOST_WORDS and all(self._decoder.lookup_word(word) for word in plain)

    def _searched(self, search: str, pcm: bytes) -> tuple[str, float]:
        """The words found and their score, a logarithm; minus infinity where there are none."""
        decoder = self._decoder
        decoder.activate_search(search)
        decoder.start_utt()
        decoder.process_raw(pcm, full_utt=True)
        decoder.end_utt()
        found = decoder.hyp()
        if found is None or found.score <= 0:
            return "", -math.inf
        return found.hypstr, math.log(found.score, LOG_BASE)


def _in_a_room(pcm: bytes) -> bytes:
    """With the hiss of a quiet room in it, before it and after it. Perfect silence, as synthetic speech and
    some microphones have it, shifts the mean that everything is compared with: "turn off the pump" ended
    before its last word."""
    wave = np.pad(np.frombuffer(pcm, "<i2").astype(np.float32), round(AROUND_SECONDS * RATE))
    wave += np.random.default_rng(0).normal(scale=HISS, size=len(wave))
    return wave.clip(-FULL_SCALE, FULL_SCALE - 1).astype("<i2").tobytes()


def _words(sentence: str) -> tuple[str, ...]:
    """An example as the grammar has it; numbers in digits or words become any number. Other alphabets, and
    what is no sentence, become nothing."""
    text = sentence.lower().strip(" .?!")
    words = WORDS.findall(text.replace(",", " "))
    if " ".join(words) != " ".join(text.replace(",", " ").split()):
        return ()
    return _counted(tuple("one" if word.isdigit() else word for word in words))


def _counted(words: tuple[str, ...]) -> tuple[str, ...]:
    """Runs of words that are numbers, as one `NUMBER`."""
    marked = [NUMBER if word in VALUES else word for word in words]
    return tuple(word for at, word in enumerate(marked) if word != NUMBER or marked[at - 1 : at] != [NUMBER])


def _with_digits(words: tuple[str, ...]) -> str:
    """ "set a timer for twenty five minutes" with 25."""
    said: list[str] = []
    number: int | None = None
    for word in (*words, ""):
        if word in VALUES:
            number = (number or 0) + VALUES[word]
        else:
            said += [str(number)] * (number is not None) + [word] * bool(word)
            number = None
    return " ".join(said)

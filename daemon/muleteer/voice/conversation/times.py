"""How long people take, and how long they wait. Seconds, but for one count."""

from __future__ import annotations

WAKE = 6.0  # to begin to speak after the wake word
QUESTION = 8.0  # to begin to answer a question; later, a yes may be meant for somebody else
READY = 0.6  # of silence after the wake word, then a tone says that somebody listens
TAIL = 0.25  # the room and its buffers go on after the last sample
GOES_ON = 1.5  # after the end of an utterance in which speech still belongs to it
PATIENCE = 1.2  # for more of a sentence that breaks off
SLOW = 1.5  # from the end of speech; a longer silence seems broken
STILL = 8.0  # until the next sign of life
MOST_TRIES = 2  # of hearing something after one wake word, and of asking one question

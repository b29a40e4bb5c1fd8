"""Messages about several timers: one message for each, and none that was one is cut."""

from __future__ import annotations

from datetime import datetime

import pytest

from muleteer.when import each_said

NOW = datetime(2026, 11, 30, 17, 24)


@pytest.mark.parametrize(
    ("message", "each"),
    [
        (
            "Set a timer for 25 minutes for the cake and one for 5 minutes for the eggs",
            ["Set a timer for 25 minutes for the cake", "Set a timer for 5 minutes for the eggs"],
        ),
        (
            "Set two timers: 4 minutes for tea and 9 minutes for rice",
            ["Set timers: 4 minutes for tea", "Set timers: 9 minutes for rice"],
        ),
        ("timer 2 minutes tea, timer 6 minutes rice", ["timer 2 minutes tea", "timer 6 minutes rice"]),
        (
            "set timers for 5, 10 and 15 minutes",
            ["set timers for 5 minutes", "set timers 10 minutes", "set timers 15 minutes"],
        ),
        ("Set two timers for 5 minutes", ["Set timers for 5 minutes"] * 2),
        ("Stell 3 Timer auf 5 Minuten", ["Stell Timer auf 5 Minuten"] * 3),
        ("timer for 10 minutes and 1 hour", ["timer for 10 minutes", "timer 1 hour"]),
        (
            "Set a 10 minute timer and one for 5 minutes",
            ["Set a 10 minute timer", "Set a timer for 5 minutes"],
        ),
        (
            "set a timer for 5 minutes and an alarm for 8",
            ["set a timer for 5 minutes", "set an alarm for 8"],
        ),
        ("wake me tomorrow at 7 and at 8", ["wake me tomorrow at 7", "wake me tomorrow at 8"]),
        (
            "remind me at 8 to take the pills and at 9 to go to bed",
            ["remind me at 8 to take the pills", "remind me at 9 to go to bed"],
        ),
        (
            "cancel the pasta timer and set a timer for 5 minutes",
            ["cancel the pasta timer", "set a timer for 5 minutes"],
        ),
        (
            "set a timer for 5 minutes for eggs and toast, and one for 10 minutes for tea",
            ["set a timer for 5 minutes for eggs and toast", "set a timer for 10 minutes for tea"],
        ),
        (
            "give the eggs two minutes more and the pasta 3 minutes more",
            ["give the eggs two minutes more", "the pasta 3 minutes more"],
        ),
        (
            "Stell einen 10-Minuten-Timer und einen 5-Minuten-Timer",
            ["Stell einen 10-Minuten-Timer", "Stell einen 5-Minuten-Timer"],
        ),
        ("weck mich um 7 und um 8 Uhr", ["weck mich um 7", "weck mich um 8 Uhr"]),
        (
            "Pon un temporizador de 7 minutos para la pasta y otro de 3 minutos para los huevos",
            [
                "Pon un temporizador de 7 minutos para la pasta",
                "Pon un temporizador 3 minutos para los huevos",
            ],
        ),
        (
            "Mets un minuteur de 7 minutes pour les pâtes et un autre de 3 minutes pour les œufs",
            ["Mets un minuteur de 7 minutes pour les pâtes", "Mets un minuteur 3 minutes pour les œufs"],
        ),
        (
            "Imposta un timer di 7 minuti per la pasta e uno di 3 minuti per le uova",
            ["Imposta un timer di 7 minuti per la pasta", "Imposta un timer di 3 minuti per le uova"],
        ),
        (
            "Zet een timer van 7 minuten voor de pasta en een van 3 minuten voor de eieren",
            ["Zet een timer van 7 minuten voor de pasta", "Zet een timer van 3 minuten voor de eieren"],
        ),
        (
            "Põe um temporizador de 7 minutos para a massa e outro de 3 minutos para os ovos",
            ["Põe um temporizador de 7 minutos para a massa", "Põe um temporizador 3 minutos para os ovos"],
        ),
        (
            "Makarna için 7 dakikalık, yumurta için 3 dakikalık zamanlayıcı kur",
            ["Makarna için 7 dakikalık", "yumurta için 3 dakikalık zamanlayıcı kur"],
        ),
    ],
)
def test_two_times_are_two_messages(message: str, each: list[str]) -> None:
    assert each_said(message, NOW) == each


@pytest.mark.parametrize(
    "message",
    [
        "timer for 1 hour 30 minutes",
        "timer for 1 hour and 30 minutes",
        "eine Stunde und 30 Minuten",
        "une heure et 30 minutes",
        "un'ora e 30 minuti",
        "een uur en 30 minuten",
        "uma hora e 30 minutos",
        "una hora y 30 minutos",
        "bir saat ve 30 dakika",
        "a timer between 5 and 7 minutes",
        "an alarm from 5 to 7",
        "remind me at 5 that the meeting is at 6",
        "remind me in 10 minutes to call Anna and ask about the 3 hour trip",
        "remind me on monday and tuesday at 7 to call",
        "set a timer for 10 minutes and remind me to check the oven",
        "remind me in 10 minutes to turn off the oven and cancel the gym",
        "cancel the tea timer and stop the alarm",
        "every monday and thursday at half past seven pm",
        "an hour and a half",
        "set a timer for 5 minutes",
        "cancel the two timers",
        "how long do the two timers of 5 minutes have",
        "How long is 5 minutes and 3 minutes",
    ],
)
def test_what_may_be_one_is_not_cut(message: str) -> None:
    assert each_said(message, NOW) == []

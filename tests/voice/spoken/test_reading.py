"""What is written, and how it is read out."""

from __future__ import annotations

import pytest

from muleteer.voice.spoken.reading import LONGEST, aloud

ENGLISH = [
    (
        "It is 14:05 on Monday, 30 November (Europe/Istanbul).",
        "It is two oh five p.m. on Monday, November thirtieth.",
    ),
    ("It rings tomorrow at 7:30.", "It rings tomorrow at seven thirty a.m."),
    ("At 12:00, at 0:00 and at 0:10.", "At noon, at midnight and at twelve ten a.m."),
    ("From 10:30-11:15.", "From ten thirty a.m. to eleven fifteen a.m."),
    ("Temperature: 51.2 °C (cpu).", "Temperature: fifty-one point two degrees Celsius, cpu."),
    ("-3 °C, -5 and 70 %", "minus three degrees Celsius, minus five and seventy percent"),
    ("3.1 GB are free (61 % used).", "three point one gigabytes are free, sixty-one percent used."),
    ("20-25 km or 1 km", "twenty to twenty-five kilometers or one kilometer"),
    ("17 * 23 = 391", "seventeen times twenty-three equals three hundred ninety-one"),
    ("2+3=5, 10 / 4 = 2.5", "two plus three equals five, ten divided by four equals two point five"),
    ("noted 2026-11-30 14:05", "noted November thirtieth, twenty twenty-six, two oh five p.m."),
    (
        "on 12/24/2026 and 24/12/2026",
        "on December twenty-fourth, twenty twenty-six and December twenty-fourth, twenty twenty-six",
    ),
    ("In 1984, 3/4 cup, the 2nd time.", "In nineteen eighty-four, three quarters cup, the second time."),
    ("$3.50 or 3 €", "three US dollars fifty or three euros"),
    (
        "B12, v1.2.3, 10.0.1.20",
        "B twelve, v one dot two dot three, ten dot zero dot one dot twenty",
    ),
    (
        "1,234,567 of 007",
        "one million two hundred thirty-four thousand five hundred sixty-seven of zero zero seven",
    ),
    ("Dr. Smith, e.g. No. 5. No. I cannot.", "Doctor Smith, for example number five. No. I cannot."),
    ("R&D/ops", "R and D ops"),
    (
        "May I come on May 5? Sat, Mar 3. Dec. 24",
        "May I come on May fifth? Sat, March third. December twenty-fourth",
    ),
    (
        "5:3 and 030-1234, 10-2",
        "five three and zero three zero twelve thirty-four, ten two",
    ),
]

GERMAN = [
    (
        "Es ist 14:05 Uhr, Montag, 30. November (Europe/Berlin).",
        "Es ist vierzehn Uhr fünf, Montag, dreißigster November.",
    ),
    (
        "am 3. Mai um 7:30 Uhr, am Montag, 3. Mai.",
        "am dritten Mai um sieben Uhr dreißig, am Montag, dritten Mai.",
    ),
    ("um 1:00 Uhr oder 21 Uhr", "um ein Uhr oder einundzwanzig Uhr"),
    (
        "3,1 GB von 7,8 GB (61 % belegt).",
        "drei Komma eins Gigabyte von sieben Komma acht Gigabyte, einundsechzig Prozent belegt.",
    ),
    (
        "1 Minute, 1 km, 1 kWh, 1 Grad, -3 °C",
        "eine Minute, ein Kilometer, eine Kilowattstunde, ein Grad, minus drei Grad Celsius",
    ),
    ("1 Notiz, 1 Timer, 1", "eine Notiz, ein Timer, eins"),
    (
        "z. B. ca. 5 m², d.h. mind. 2 Std.",
        "zum Beispiel circa fünf Quadratmeter, das heißt mindestens zwei Stunden",
    ),
    ("am 24.12.2026", "am vierundzwanzigsten Dezember zweitausendsechsundzwanzig"),
    ("1.234,5 und 2.5 Grad", "eintausendzweihundertvierunddreißig Komma fünf und zwei Komma fünf Grad"),
    ("3,50 €", "drei Euro fünfzig"),
    ("in 1 Stunde, mit 1 kWh, 1 weitere", "in einer Stunde, mit einer Kilowattstunde, eine weitere"),
    ("Die 2. Datei am 1. Tag um 14.30 Uhr", "Die zweite Datei am ersten Tag um vierzehn Uhr dreißig"),
    ("6 * 7 = 42", "sechs mal sieben gleich zweiundvierzig"),
]

OTHERS = [
    (
        "es",
        "Son las 14:05; 21 minutos, 1 hora, 21,5 °C",
        "Son las catorce horas y cinco; veintiún minutos, una hora, veintiuno coma cinco grados Celsius",
    ),
    ("es", "el 1 de mayo de 2026", "el primero de mayo de dos mil veintiséis"),
    (
        "fr",
        "Il est 14h05, le 1er mai ; 1 heure, 3,50 €",
        "Il est quatorze heures cinq, le premier mai; une heure, trois euros cinquante",
    ),
    (
        "it",
        "Sono le 14:05, 3 maggio; 21 minuti, 20-25 km",
        "Sono le quattordici e cinque, tre maggio; ventun minuti, da venti a venticinque chilometri",
    ),
    (
        "nl",
        "Het is 14:05 uur, 3 mei; 21,5 °C, 5°",
        "Het is veertien uur vijf, drie mei; eenentwintig komma vijf graden Celsius, vijf graden",
    ),
    (
        "pt",
        "São 14:05, 3 de maio; 2 horas, 1 nota",
        "São catorze horas e cinco, três de maio; duas horas, uma nota",
    ),
    (
        "tr",
        "Saat 14:05'te, 3 Mayıs; %20, 5 km/h",
        "Saat on dört sıfır beş'te, üç Mayıs; yüzde yirmi, saatte beş kilometre",
    ),
]


@pytest.mark.parametrize(
    ("language", "written", "said"),
    [*(("en", *each) for each in ENGLISH), *(("de", *each) for each in GERMAN), *OTHERS],
)
def test_it_is_read_as_people_say_it(language: str, written: str, said: str) -> None:
    assert aloud(written, language) == said


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("**Milk** is _here_, ~~not~~ `now`.", "Milk is here, not now."),
        ("# List\n- milk\n- [x] bread\n1. eggs", "List. milk. bread. one. eggs"),
        ("> quoted\n---\nend", "quoted. end"),
        ("| a | b |\n|---|:--|\n| 1 | 2 |", "a, b. one, two"),
        ("See [the page](https://x.org/a_b?c=1).", "See the page."),
        ("See https://www.example.org/x?y=1.", "See a link to example dot org."),
        ("Write to ann@example.org.", "Write to ann at example dot org."),
        ("Run\n```py\nprint(1)\n```\nthen wait.", "Run. I leave out the code. then wait."),
        ("<b>Now</b> &amp; here <!-- not this -->", "Now and here"),
        ("<think>He wants milk.</think>Here is milk.", "Here is milk."),
        ("Yes. <think>But why", "Yes."),
        ("current_time is 2 * 3 * 4", "current time is two times three times four"),
        ("🎉 Done ✔ →", "Done"),
        ("***", ""),
    ],
)
def test_what_is_only_for_the_eye_is_not_heard(written: str, said: str) -> None:
    assert aloud(written, "en") == said


def test_an_unknown_language_is_read_as_english_and_length_has_a_limit() -> None:
    assert aloud("5 km", "xx") == "five kilometers"
    assert len(aloud("a " * LONGEST, "en")) <= LONGEST


@pytest.mark.parametrize(
    "part", ["1", "1.1", "1 - ", "1-", "11:11-", "<!--", "[a](", "a@", "a\n", "|-", "`", "30. "]
)
def test_no_text_takes_long_to_read(part: str) -> None:
    """It is read between two frames of the microphone: what takes a minute here would be noticed."""
    assert len(aloud(part * (LONGEST // len(part)), "de")) < 40 * LONGEST

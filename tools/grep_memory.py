"""Look something up in what was said before.

What was answered then is quoted as an answer of that time, and never handed to a model as a fact: it may
have been wrong, or true only on that day.
"""

from __future__ import annotations

from muleteer.tool import Data, PastTurn, Result, Services, joined, say, tool

SHOWN = 200  # characters of one message or answer
SPOKEN = 3  # exchanges that are said aloud; the others are in the payload


@tool(
    effect="read",
    menu=False,
    said=("when",),
    craft="The query is the one to three words of the request that matter, as they stand there; leave it "
    "empty for all that was said. When is a time that the request names, copied from it; leave it empty if "
    "it names none.",
)
async def grep_memory(home: Services, query: str = "", when: str = "") -> Result:
    """Search earlier conversations. Use it for what was asked or answered before.

    query: a few words to search for
    when: when it was said, in words
    """
    try:
        turns = await home.memory.search(query, 8, when)
    except ValueError as error:
        return Result.error(str(error))
    except OSError as error:
        return Result.unavailable(say("I could not look into earlier conversations: {why}", why=str(error)))
    about, time = " ".join(query.split()), " ".join(when.split())
    span = f" ({time})" if time else ""
    if not turns:
        pattern = 'I remember nothing that was said about "{query}"{span}.'
        if not about:
            pattern = "I remember nothing that was said{span}."
        return Result.empty(say(pattern, query=about, span=span))
    told = [turn for turn in turns if turn.found]
    if about and not told:
        return Result.empty(say("That was asked before{span}, but nothing was found then either.", span=span))
    shown = told if about else turns
    rest = len(shown) - SPOKEN
    them = joined("; ", [_line(turn) for turn in shown[:SPOKEN]])
    text = say("{opening}: {them}", opening=_opening(turns, len(shown), span), them=them)
    if rest > 0:
        text = say("{text}; and {rest} more", text=text, rest=rest)
    return Result.ok(text, Data({"turns": [_values(turn) for turn in shown]}), ("memory",))


def _opening(turns: list[PastTurn], many: int, span: str) -> str:
    if turns[0].match < 1:
        return say("Nothing that was said{span} has all of that; the nearest", span=span)
    pattern = "It came up {many} times{span}" if many > 1 else "It came up once{span}"
    return say(pattern, many=many, span=span)


def _line(turn: PastTurn) -> str:
    when = say(
        "{day} {month} {year} at {time}",
        day=turn.when.day,
        month=say(f"{turn.when:%B}"),
        year=turn.when.year,
        time=f"{turn.when:%H:%M}",
    )
    return say(
        'on {when} you said "{said}", and I answered "{answer}"',
        when=when,
        said=_short(turn.message),
        answer=_short(turn.answer),
    )


def _values(turn: PastTurn) -> dict[str, object]:
    return {
        "when": turn.when.isoformat(timespec="seconds"),
        "said": _short(turn.message),
        "answered": _short(turn.answer),
    }


def _short(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= SHOWN else f"{plain[: SHOWN - 2].rstrip()} \u2026"

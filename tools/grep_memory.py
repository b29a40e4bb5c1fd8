"""Look something up in what was said before."""

from __future__ import annotations

from muleteer.tool import Notes, PastTurn, Result, Services, tool

SHOWN = 200  # characters of one message or answer; eight of both fit into what is answered from
SPOKEN = 3  # exchanges that are said aloud; the others are in the payload


@tool(
    effect="read",
    menu=False,
    craft="The query is the one to three words of the request that matter, as they stand there; leave it "
    "empty for all that was said. Copy when from the request, such as 'yesterday', 'last week', 'since "
    "Monday' or a date; leave it empty if no time is named.",
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
        return Result.unavailable(f"I could not look into earlier conversations: {error}")
    about, time = " ".join(query.split()), " ".join(when.split())
    subject = f' about "{about}"' if about else ""
    span = f" ({time})" if time else ""
    if not turns:
        return Result.empty(f"I remember nothing that was said{subject}{span}.")
    told = [turn for turn in turns if turn.found]
    if about and not told:
        return Result.empty(f"That was asked before{span}, but nothing was found then either.")
    lines = tuple(_line(turn) for turn in (told if about else turns))
    more = f"; and {len(lines) - SPOKEN} more" if len(lines) > SPOKEN else ""
    return Result.ok(
        f"{_opening(turns, len(lines), span)}: {'; '.join(lines[:SPOKEN])}{more}", Notes(lines), ("memory",)
    )


def _opening(turns: list[PastTurn], many: int, span: str) -> str:
    if turns[0].match < 1:
        return f"Nothing that was said{span} has all of that; the nearest"
    return f"It came up {many} times{span}" if many > 1 else f"It came up once{span}"


def _line(turn: PastTurn) -> str:
    return f'on {turn.when:%-d %B %Y at %H:%M}, to "{_short(turn.message)}": "{_short(turn.answer)}"'


def _short(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= SHOWN else f"{plain[: SHOWN - 2].rstrip()} \u2026"

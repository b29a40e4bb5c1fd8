"""`/v1/memory`: what is kept, over HTTP: look, search, forget, and take notes in again.

Knows the shapes on the wire. What the words mean, and what is kept, is the business of `store/`. Where one
of the two stores cannot be used, the other still answers, and `unavailable` says why.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Annotated, TypeVar

from pydantic import AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from muleteer.errors import MuleteerError, RequestError, StorageError
from muleteer.gateway import replies
from muleteer.gateway.requests import SESSION, SESSION_KEY, read_as
from muleteer.services import Note, PastTurn
from muleteer.store.memory import TurnMemory, span_of
from muleteer.store.notebook import SqliteNotebook
from muleteer.store.pages import COMMON_PAGE, page_name

MOST_AT_ONCE = 500  # notes or turns in one reply or request; 500 of the longest notes are half a body
LONGEST_NOTE = 1_000  # characters; as `remember` has it
KINDS = ("", "notes", "turns")  # what a search may be limited to
Number = Annotated[int, Field(ge=1, le=2**63 - 1)]  # of SQLite's rows
T = TypeVar("T")
ForgetTalks = Callable[[], Awaitable[None]]


def _iso(given: object) -> object:
    """pydantic takes seconds since 1970 as well, which no note's time is meant to be."""
    if given is not None and not (isinstance(given, str) and "-" in given[1:]):
        raise ValueError("a time is written like 2026-11-30T07:00:00+01:00")
    return given


class GivenNote(BaseModel):
    """A note that was written before. Without a time it is written now."""

    model_config = ConfigDict(extra="forbid")

    text: str = Field(min_length=1, max_length=LONGEST_NOTE)
    page: str = COMMON_PAGE
    when: Annotated[AwareDatetime | None, BeforeValidator(_iso)] = None
    session: str = Field("", pattern=SESSION_KEY)
    device: str = Field("", pattern=SESSION)


class GivenNotes(BaseModel):
    """The body of `POST /v1/memory/notes`."""

    model_config = ConfigDict(extra="forbid")

    notes: list[GivenNote] = Field(max_length=MOST_AT_ONCE)


class Doomed(BaseModel):
    """The body of `POST /v1/memory/forget`. `when` chooses turns; `everything` is all there is."""

    model_config = ConfigDict(extra="forbid", strict=True)

    notes: list[Number] = Field([], max_length=MOST_AT_ONCE)
    turns: list[Number] = Field([], max_length=MOST_AT_ONCE)
    page: str = ""
    when: str = ""
    everything: bool = False


def memory_routes(notebook: SqliteNotebook, memory: TurnMemory, forget_talks: ForgetTalks) -> list[BaseRoute]:
    """Where what is kept is looked at and forgotten. `forget_talks` drops the conversations that the engine
    holds, which may repeat what is forgotten."""
    views = _Views(notebook, memory, forget_talks)
    return [
        Route("/v1/memory", views.kept),
        Route("/v1/memory/search", views.search),
        Route("/v1/memory/notes", views.notes, methods=["GET"]),
        Route("/v1/memory/notes", views.keep, methods=["POST"]),
        Route("/v1/memory/forget", views.forget, methods=["POST"]),
    ]


class _Views:
    def __init__(self, notebook: SqliteNotebook, memory: TurnMemory, forget_talks: ForgetTalks) -> None:
        self._notebook, self._memory, self._forget_talks = notebook, memory, forget_talks

    async def kept(self, request: Request) -> Response:
        """The pages, how many turns, and how long those are kept."""
        pages, no_pages = await _or_why("The notebook", self._notebook.pages())
        turns, no_turns = await _or_why("The memory", self._memory.kept())
        body: dict[str, object] = {
            "pages": [asdict(page) for page in pages or ()],
            "turns": asdict(turns) if turns else None,
            "keep_days": self._memory.days,
            "keep_turns": self._memory.turns,
            "unavailable": [*no_pages, *no_turns],
        }
        return replies.Json(body)

    async def search(self, request: Request) -> Response:
        """Notes and turns that fit a query, best first; `kind` leaves out one of them, `when` the notes."""
        query, limit = request.query_params.get("query", ""), min(_number(request, "limit", 8), MOST_AT_ONCE)
        when, kind = (request.query_params.get(name, "") for name in ("when", "kind"))
        if kind not in KINDS:
            raise RequestError(f"kind must be notes or turns; {kind[:40]!r} is neither.")
        found: list[Note] | None = []
        turns: list[PastTurn] | None = []
        why: list[str] = []
        if kind != "turns" and not when:
            found, why = await _or_why("The notebook", self._notebook.search(query, limit))
        if kind != "notes" and (self._memory.days or kind == "turns"):
            turns, no_turns = await _or_why("The memory", self._memory.search(query, limit, when))
            why += no_turns
        notes_found = [note_fields(note) for note in found or ()]
        turns_found = [turn_fields(turn) for turn in turns or ()]
        return replies.Json({"notes": notes_found, "turns": turns_found, "unavailable": why})

    async def notes(self, request: Request) -> Response:
        """Notes in their order, a page's or all, from a number on."""
        page = request.query_params.get("page", "")
        after, limit = _number(request, "after", 0), _number(request, "limit", MOST_AT_ONCE)
        notes = await _stored(self._notebook.notes(page, after, min(limit, MOST_AT_ONCE)))
        return replies.Json({"notes": [note_fields(note) for note in notes]})

    async def keep(self, request: Request) -> Response:
        """Take notes in, all or none; those that are there already are not doubled."""
        given = await read_as(GivenNotes, request, '{"notes": [{"text": "The key is in the shed"}]}')
        now = datetime.now(UTC)
        notes = [
            Note(each.text, each.when or now, 1.0, _page(each.page), each.session, each.device)
            for each in given.notes
        ]
        dated = [each.when is not None for each in given.notes]
        new = await _stored(self._notebook.keep(notes, dated))
        return replies.Json({"new": new, "known": len(notes) - new})

    async def forget(self, request: Request) -> Response:
        """Remove for good; how many notes and turns there were. What is wrong is found before anything is
        removed; where a file fails later, the answer says what is gone."""
        doomed = await read_as(Doomed, request, '{"notes": [12]}')
        _check(doomed)
        gone = {"notes": 0, "turns": 0}
        try:
            async for kind, count in self._forgotten(doomed):
                gone[kind] += count
            await self._forget_from_engine()
        except StorageError as error:
            before = f" Before that, notes ({gone['notes']}) and turns ({gone['turns']}) were forgotten."
            raise StorageError(f"{error}{before if any(gone.values()) else ''}") from error
        return replies.Json(gone)

    async def _forget_from_engine(self) -> None:
        try:
            await self._forget_talks()
        except MuleteerError as error:
            raise StorageError(f"The engine may still hold what was said: {error}") from error

    async def _forgotten(self, doomed: Doomed) -> AsyncIterator[tuple[str, int]]:
        """How many of which kind, step by step."""
        if doomed.notes:
            yield "notes", await _stored(self._notebook.forget(doomed.notes))
        if doomed.page:
            yield "notes", await _stored(self._notebook.forget_page(doomed.page))
        if doomed.everything:
            yield "notes", await _stored(self._notebook.forget_all())
        if doomed.turns:
            yield "turns", await _stored(self._memory.forget(doomed.turns))
        if doomed.when.strip() or doomed.everything:
            when = "" if doomed.everything else doomed.when
            yield "turns", await _stored(self._memory.forget_time(when))


def _check(doomed: Doomed) -> None:
    """Raises `RequestError` for a page or a time that can be none."""
    if doomed.page:
        _page(doomed.page)
    try:
        span_of(doomed.when)
    except ValueError as error:
        raise RequestError(_sentence(str(error))) from error


def note_fields(note: Note) -> dict[str, object]:
    """A note on the wire; times in UTC."""
    return {**asdict(note), "when": note.when.astimezone(UTC).isoformat()}


def turn_fields(turn: PastTurn) -> dict[str, object]:
    """A turn on the wire; times in UTC."""
    return {**asdict(turn), "when": turn.when.astimezone(UTC).isoformat()}


async def _stored(work: Awaitable[T]) -> T:
    try:
        return await work
    except ValueError as error:
        raise RequestError(_sentence(str(error))) from error
    except OSError as error:
        raise StorageError(_sentence(str(error))) from error


async def _or_why(what: str, work: Awaitable[T]) -> tuple[T | None, list[str]]:
    """The result, or the sentence that says why there is none."""
    try:
        return await work, []
    except ValueError as error:
        raise RequestError(_sentence(str(error))) from error
    except OSError as error:
        return None, [f"{what} cannot be read: {error}"]


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"


def _page(given: str) -> str:
    if given != COMMON_PAGE and not page_name(given):
        raise RequestError(f"{given[:80]!r} cannot be the name of a page; use a word or three.")
    return given


def _number(request: Request, name: str, default: int) -> int:
    given = request.query_params.get(name, str(default))
    if not given.isascii() or not given.isdecimal() or len(given) > 18:
        raise RequestError(f"{name} must be a number; {given[:40]!r} is none.")
    return int(given)

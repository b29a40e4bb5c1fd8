"""Background turns and the inbox over HTTP; the household is scripted."""

from __future__ import annotations

from datetime import UTC, datetime

import httpx
from starlette.applications import Starlette

from muleteer.background.runner import Background, Ended
from muleteer.errors import MuleteerError, RequestError
from muleteer.gateway import replies
from muleteer.gateway.background import background_routes
from muleteer.services import InboxEntry

WHEN = datetime(2026, 11, 30, 7, 0, tzinfo=UTC)
ENTRY = InboxEntry("d1-1", "d1", "daily-brief", "2026-11-30T07:00:00Z", WHEN, "Two appointments.")


class Household(Background):
    """Answers what it is told to."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, bool]] = []
        self.marked: list[str] = []

    async def run(self, skill: str, by_hand: bool = False) -> Ended:
        self.asked.append((skill, by_hand))
        if skill == "unknown":
            raise RequestError("There is no skill 'unknown' in use.")
        if skill == "broken":
            raise OSError("the disk is full")
        return Ended(skill, "2026-11-30T07:00:00Z", "done", "", "Two appointments.", "t1", 15)

    async def entries(self, limit: int = 50, unread: bool = False) -> list[InboxEntry]:
        return [] if unread else [ENTRY][:limit]

    async def read(self, ids: object) -> int:
        assert isinstance(ids, list)
        self.marked += ids
        return len(ids)


def client(household: Household) -> httpx.AsyncClient:
    app = Starlette(
        routes=background_routes(household, household),
        exception_handlers={MuleteerError: replies.on_fault},
    )
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://x")


async def test_a_skill_is_run_and_what_became_of_it_told() -> None:
    household = Household()
    async with client(household) as http:
        answer = await http.post("/v1/background", json={"skill": "@daily-brief", "now": True})
        assert (answer.status_code, answer.json()["state"], answer.json()["tokens"]) == (200, "done", 15)
        assert household.asked == [("daily-brief", True)]
        refused = await http.post("/v1/background", json={"skill": "unknown"})
        assert (refused.status_code, refused.json()["error"]["code"]) == (400, "bad_request")
        failed = await http.post("/v1/background", json={"skill": "broken"})
        assert (failed.status_code, failed.json()["error"]["code"]) == (503, "storage")
        wrong = await http.post("/v1/background", json={"skil": "daily-brief"})
        assert wrong.status_code == 400


async def test_the_inbox_is_listed_and_marked() -> None:
    household = Household()
    async with client(household) as http:
        refused = await http.get("/v1/inbox", params={"unread": "perhaps"})
        assert refused.json()["error"]["message"] == "unread must be true or false."
        (entry,) = (await http.get("/v1/inbox")).json()["entries"]
        assert (entry["text"], entry["when"]) == ("Two appointments.", "2026-11-30T07:00:00+00:00")
        assert (await http.get("/v1/inbox?unread=true")).json() == {"entries": []}
        assert (await http.get("/v1/inbox?limit=0")).status_code == 400
        assert (await http.get("/v1/inbox?limit=²")).status_code == 400
        assert (await http.post("/v1/inbox/read", json={"ids": ["d1-1"]})).json() == {"read": 1}
        assert household.marked == ["d1-1"]

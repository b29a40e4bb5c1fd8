"""etcd v3 over its JSON gateway: leases, ranges and transactions, asked of whichever member answers.

Plain httpx rather than a client library: the libraries that are kept up need grpcio, which is 6 MB of native
code and no wheel on 32-bit boards, for the six requests below. Knows requests and members; not what keys
mean.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import httpx

ANSWER_SECONDS = 0.8  # of one member; two that are dead are passed within a lease
LARGEST_ANSWER = 1 << 20  # bytes; what is kept under one key here has a few hundred


class EtcdError(Exception):
    """No member has answered; the message says what each of them said."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A key's value, and the revisions at which it was made and last changed."""

    value: str
    made: int
    changed: int


@dataclass(frozen=True, slots=True)
class Answered:
    """How a transaction ended: at which revision, and what was read (None: no such key)."""

    succeeded: bool
    revision: int
    read: tuple[Kept | None, ...]


def put(key: str, value: str, lease: str = "") -> dict[str, Any]:
    """Part of a transaction: write."""
    request = {"key": _text(key), "value": _text(value)}
    return {"request_put": request | ({"lease": lease} if lease else {})}


def get(key: str) -> dict[str, Any]:
    """Part of a transaction: read."""
    return {"request_range": {"key": _text(key)}}


def remove(key: str) -> dict[str, Any]:
    """Part of a transaction: delete."""
    return {"request_delete_range": {"key": _text(key)}}


def was_made(key: str, revision: int) -> dict[str, Any]:
    """Condition of a transaction: the key was made at that revision; 0: there is none."""
    return {"key": _text(key), "target": "CREATE", "create_revision": str(revision)}


def was_changed(key: str, revision: int) -> dict[str, Any]:
    """Condition of a transaction: the key was last changed at that revision."""
    return {"key": _text(key), "target": "MOD", "mod_revision": str(revision)}


class EtcdClient:
    """The members of one cluster, by URL. Every method raises `EtcdError`."""

    def __init__(self, members: Sequence[str], verify: str | bool = True) -> None:
        self._members = list(members)
        self._http = httpx.AsyncClient(timeout=ANSWER_SECONDS, trust_env=False, verify=verify)

    async def close(self) -> None:
        await self._http.aclose()

    async def grant(self, seconds: int) -> str:
        """A lease; its id."""
        return str((await self._ask("lease/grant", {"TTL": str(seconds)}))["ID"])

    async def keep_alive(self, lease: str) -> int:
        """Renew a lease; the seconds it has now, 0 if it has ended."""
        answer = await self._ask("lease/keepalive", {"ID": lease})
        return int(answer.get("result", {}).get("TTL", 0))

    async def revoke(self, lease: str) -> None:
        """End a lease, and with it the keys that hang on it."""
        await self._ask("lease/revoke", {"ID": lease})

    async def transact(
        self, conditions: list[dict[str, Any]], then: list[dict[str, Any]], otherwise: list[dict[str, Any]]
    ) -> Answered:
        """One transaction, decided by a majority of the members."""
        answer = await self._ask("kv/txn", {"compare": conditions, "success": then, "failure": otherwise})
        parts = [part["response_range"] for part in answer.get("responses", ()) if "response_range" in part]
        read = tuple(_kept(part["kvs"][0]) if part.get("kvs") else None for part in parts)
        return Answered(bool(answer.get("succeeded")), int(answer["header"]["revision"]), read)

    async def read(self, *keys: str) -> Answered:
        """The keys as they are, all at one revision."""
        return await self.transact([], [get(key) for key in keys], [])

    async def newest(self, prefix: str, limit: int) -> list[Kept]:
        """What is kept below a prefix, the last changed first, so many at the most."""
        end = prefix[:-1] + chr(ord(prefix[-1]) + 1)
        order = {"sort_order": "DESCEND", "sort_target": "MOD", "limit": str(limit)}
        answer = await self._ask("kv/range", {"key": _text(prefix), "range_end": _text(end), **order})
        return [_kept(entry) for entry in answer.get("kvs", ())]

    async def _ask(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        said: list[str] = []
        for member in list(self._members):
            try:
                response = await self._http.post(f"{member}/v3/{path}", json=body)
                if response.is_success and len(response.content) <= LARGEST_ANSWER:
                    answer = response.json()
                    if isinstance(answer, dict):
                        return answer
                if response.status_code == httpx.codes.NOT_FOUND:
                    return {}  # the lease has ended
                said.append(f"{member} answers {response.status_code}")
            except (httpx.HTTPError, ValueError) as error:
                said.append(f"{member}: {error or type(error).__name__}")
            self._members.append(self._members.pop(0))
        raise EtcdError("; ".join(said))


def _text(value: str) -> str:
    return base64.b64encode(value.encode()).decode()


def _kept(entry: dict[str, Any]) -> Kept:
    value = base64.b64decode(entry.get("value", "")).decode()
    return Kept(value, int(entry["create_revision"]), int(entry["mod_revision"]))

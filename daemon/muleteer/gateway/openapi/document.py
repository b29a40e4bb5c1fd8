"""From the tables and the routes to the document: what is routed on this device, and nothing else.

Knows OpenAPI 3.1 and the errors that any request may get. What a path means stands in the tables.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from pydantic import TypeAdapter
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

import muleteer
from muleteer.gateway import replies
from muleteer.gateway.auth import needed
from muleteer.gateway.openapi.guests import GUESTS
from muleteer.gateway.openapi.operations import JSON, NATIVE, TEXT, Operation

OPERATIONS = NATIVE | GUESTS
UNKNOWN = Operation("Not described.", {200: {}})
COMPONENT, FAULT = "#/components/schemas/{model}", "#/components/responses/{fault}"
PARAMETER = re.compile(r"{(\w+)(?::\w+)?}")

# What any request may be refused with, one with a body, and one that must show a token.
ANY = {
    400: "It cannot be served as it was sent.",
    421: "Its Host is none of this device's.",
    429: "Too many.",
}
WITH_BODY = {408: "It came too slowly.", 413: "It is too long.", 415: "It is not JSON as UTF-8."}
WITH_TOKEN = {401: "Without a valid token.", 403: "The token has not this scope."}
OTHER = {
    404: "There is no such thing.",
    405: "Not by this method.",
    406: "Not in this form.",
    409: "Not as things are now; the sentence says why.",
    499: "Somebody stopped it.",
    500: "A fault of the daemon.",
    502: "A brain elsewhere failed.",
    503: "Not now; Retry-After says when.",
}
ABOUT = (
    "A daemon that makes a small language model act reliably. On the Unix socket no token is asked for. "
    "Every error is one sentence that says what to do."
)


def openapi_route(routes: Iterable[BaseRoute]) -> Route:
    """Where the document is. It tells of `routes` and of itself."""
    paths = [*routes]

    async def told(request: Request) -> Response:
        return replies.Json(document(paths))

    paths.append(route := Route("/openapi.json", told, methods=["GET"]))
    return route


def document(routes: Iterable[BaseRoute]) -> dict[str, Any]:
    """The whole, for what is routed."""
    paths: dict[str, dict[str, object]] = {}
    schemas: dict[str, object] = {}
    faults: dict[str, object] = {}
    for method, path in operations_of(routes):
        operation = OPERATIONS.get(f"{method} {path}", UNKNOWN)
        paths.setdefault(path, {})[method.lower()] = _described(method, path, operation, schemas, faults)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Muleteer", "version": muleteer.__version__, "description": ABOUT},
        "paths": dict(sorted(paths.items())),
        "components": {
            "schemas": dict(sorted(schemas.items())),
            "responses": dict(sorted(faults.items())),
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def operations_of(routes: Iterable[BaseRoute]) -> Iterator[tuple[str, str]]:
    """Method and path of each, as the document writes them."""
    for route in routes:
        if isinstance(route, Route):
            methods = route.methods or {"GET", "POST", "DELETE"}  # an application of its own: MCP
            for method in sorted(methods - {"HEAD"}):
                yield method, PARAMETER.sub(r"{\1}", route.path)


def _described(
    method: str, path: str, operation: Operation, schemas: dict[str, object], faults: dict[str, object]
) -> dict[str, object]:
    scope = needed(method, PARAMETER.sub("x", path))
    told: dict[str, object] = {
        "summary": operation.summary,
        "operationId": re.sub(r"\W+", "_", f"{method.lower()}{path}").rstrip("_"),
        "security": [] if scope == "open" else [{"token": [scope]}],
        "responses": {
            **_good(operation, schemas),
            **_bad(operation, scope, schemas, faults),
        },
    }
    if parameters := [*_in_path(path, operation), *_in_query(operation)]:
        told["parameters"] = parameters
    if operation.body is not None:
        schema = _schema(operation.body, schemas, "validation")
        told["requestBody"] = {"required": True, "content": {JSON: {"schema": schema}}}
    return told


def _good(operation: Operation, schemas: dict[str, object]) -> dict[str, object]:
    answers: dict[str, object] = {}
    for status, of in operation.answers.items():
        content: dict[str, object] = {operation.kind: {"schema": _schema(of, schemas)}}
        if operation.also and status == 200:
            content[operation.also] = {}
        answers[str(status)] = {"description": "As asked.", "content": content}
    return answers


def _bad(
    operation: Operation, scope: str, schemas: dict[str, object], faults: dict[str, object]
) -> dict[str, object]:
    """References to the errors, which are among `faults` then."""
    found = dict(ANY)
    if operation.body is not None:
        found |= WITH_BODY
    if scope != "open":
        found |= WITH_TOKEN
    found |= {status: OTHER.get(status) or WITH_BODY[status] for status in operation.fails}
    schema = _schema(operation.wrong, schemas)
    references: dict[str, object] = {}
    for status, why in sorted(found.items()):
        name = f"{operation.wrong.__name__}{status}"
        faults[name] = {"description": why, "content": {JSON: {"schema": schema}}}
        references[str(status)] = {"$ref": FAULT.format(fault=name)}
    return references


def _in_path(path: str, operation: Operation) -> list[dict[str, object]]:
    return [
        {"name": name, "in": "path", "required": True, "schema": operation.within.get(name, TEXT)}
        for name in PARAMETER.findall(path)
    ]


def _in_query(operation: Operation) -> list[dict[str, object]]:
    return [{"name": name, "in": "query", "schema": schema} for name, schema in operation.query.items()]


def _schema(of: object, schemas: dict[str, object], mode: Any = "serialization") -> Mapping[str, object]:
    """A reference to the type's schema, which is among `schemas` then; one that is written out, as it is."""
    if isinstance(of, Mapping):
        return of
    made = dict(_made(of, mode))
    schemas.update(made.pop("$defs", {}))
    name = getattr(of, "__name__", str(of))
    schemas[name] = made
    return {"$ref": COMPONENT.format(model=name)}


@cache
def _made(of: Any, mode: Any) -> Mapping[str, Any]:
    return TypeAdapter(of).json_schema(mode=mode, ref_template=COMPONENT)

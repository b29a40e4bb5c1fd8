"""The table of the paths in other people's protocols. Their own documents say more than stands here."""

from __future__ import annotations

from collections.abc import Mapping

from muleteer.gateway.openapi import shapes
from muleteer.gateway.openapi.operations import EVENTS, LINES, OF_A_TURN, TEXT, Operation, Schema

OBJECT: Schema = {"type": "object"}
ANYTHING: Mapping[int, object] = {200: OBJECT}
MODEL: Schema = {"type": "string"}


def asked(**needed: Schema) -> Schema:
    """A body with these keys at least."""
    return {"type": "object", "properties": needed, "required": list(needed)}


MESSAGES: Schema = {"type": "array", "items": OBJECT}


def ollama(summary: str, body: Schema | None = None, fails: tuple[int, ...] = ()) -> Operation:
    also = LINES if fails == OF_A_TURN else ""
    return Operation(summary, ANYTHING, body, fails, also=also, wrong=shapes.WrongForOllama)


NOT_DONE = Operation(
    "Ollama: what is not done here.",
    ANYTHING,
    fails=(404,),
    within={"rest": {"type": "string", "pattern": r"^[^\n]*$"}},
    wrong=shapes.WrongForOllama,
)

GUESTS: dict[str, Operation] = {
    "POST /v1/chat/completions": Operation(
        "OpenAI: a chat completion, with the caller's own tools or with those of this device.",
        ANYTHING,
        asked(model=MODEL, messages=MESSAGES),
        OF_A_TURN,
        also=EVENTS,
    ),
    "POST /v1/embeddings": Operation("OpenAI: embeddings, which are not made here.", ANYTHING, fails=(404,)),
    "GET /v1/models": Operation("OpenAI: the models.", ANYTHING),
    "GET /v1/models/{name}": Operation("OpenAI: one of them.", ANYTHING, fails=(404,)),
    "POST /api/chat": ollama("Ollama: chat.", asked(model=MODEL), OF_A_TURN),
    "POST /api/generate": ollama("Ollama: generate.", asked(model=MODEL), OF_A_TURN),
    "GET /api/tags": ollama("Ollama: the models."),
    "GET /api/ps": ollama("Ollama: those that are loaded."),
    "POST /api/show": ollama("Ollama: one of them.", asked(), (404,)),
    "GET /api/version": ollama("Ollama: the version."),
    "GET /api/{rest}": NOT_DONE,
    "POST /api/{rest}": NOT_DONE,
    "DELETE /api/{rest}": NOT_DONE,
    "GET /mcp": Operation("MCP: the stream of a session.", {200: TEXT}, fails=(404, 405, 406, 409, 503)),
    "POST /mcp": Operation("MCP: a message (JSON-RPC).", ANYTHING, OBJECT, (404, 405, 406, 409, 503)),
    "DELETE /mcp": Operation("MCP: the end of a session.", ANYTHING, fails=(404, 405, 406, 409, 503)),
}

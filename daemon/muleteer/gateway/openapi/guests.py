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


def openai(summary: str, fails: tuple[int, ...] = ()) -> Operation:
    return Operation(summary, ANYTHING, fails=fails, wrong=shapes.WrongForOpenai)


def mcp(summary: str, body: Schema | None = None, answers: Mapping[int, object] = ANYTHING) -> Operation:
    return Operation(summary, answers, body, (404, 405, 406, 409, 503), wrong=shapes.WrongForMcp)


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
        wrong=shapes.WrongForOpenai,
    ),
    "POST /v1/embeddings": openai("OpenAI: embeddings, which are not made here.", (404,)),
    "GET /v1/models": openai("OpenAI: the models."),
    "GET /v1/models/{name}": openai("OpenAI: one of them.", (404,)),
    "POST /api/chat": ollama("Ollama: chat.", asked(model=MODEL), OF_A_TURN),
    "POST /api/generate": ollama("Ollama: generate.", asked(model=MODEL), OF_A_TURN),
    "GET /api/tags": ollama("Ollama: the models."),
    "GET /api/ps": ollama("Ollama: those that are loaded."),
    "POST /api/show": ollama("Ollama: one of them.", asked(), (404,)),
    "GET /api/version": ollama("Ollama: the version."),
    "GET /api/{rest}": NOT_DONE,
    "POST /api/{rest}": NOT_DONE,
    "DELETE /api/{rest}": NOT_DONE,
    "GET /mcp": mcp("MCP: the stream of a session.", answers={200: TEXT}),
    "POST /mcp": mcp("MCP: a message (JSON-RPC).", OBJECT),
    "DELETE /mcp": mcp("MCP: the end of a session."),
}

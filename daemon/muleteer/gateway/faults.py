"""An error in the words of the protocol whose path was asked. Pure.

Clients of other people's protocols read only their own shape. Knows the shapes and which path is whose; what
an error means, and its status, is whose business it is.
"""

from __future__ import annotations

OPENAI = ("/v1/chat", "/v1/models", "/v1/embeddings")  # and all below
OLLAMA, MCP = "/api", "/mcp"
TYPES = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}  # of OpenAI
INVALID_REQUEST = -32600  # of JSON-RPC


def told(path: str, status: int, code: str, message: str) -> dict[str, object]:
    """The body that says it: our own shape for our own paths, and for those of nobody."""
    if _below(path, OLLAMA):
        return ollama(message)
    if _below(path, MCP):
        return mcp(message)
    if any(_below(path, each) for each in OPENAI):
        return openai(status, code, message)
    return {"error": {"code": code, "message": message}}


def openai(status: int, code: str, message: str, param: str | None = None) -> dict[str, object]:
    """`param` is the place in the request that is wrong."""
    kind = TYPES.get(status, "server_error" if status >= 500 else "invalid_request_error")
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


def ollama(message: str) -> dict[str, object]:
    return {"error": message}


def mcp(message: str) -> dict[str, object]:
    """One that belongs to no request in particular."""
    return {"jsonrpc": "2.0", "id": None, "error": {"code": INVALID_REQUEST, "message": message}}


def _below(path: str, root: str) -> bool:
    return path == root or path.startswith(f"{root}/")

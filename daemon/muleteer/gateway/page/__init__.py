"""The page at `/`: a chat with the trace of each turn, and what this device tells of itself.

Its parts lie here as files and are sent as one document, which loads nothing from elsewhere: the policy that
goes with it allows exactly this script and this style. Knows no data; the page asks the same paths as any
other client, with a token of its own over the network.
"""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib import resources

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from muleteer.gateway.peer import peer_of

SCRIPTS = ("asking.js", "turn.js", "device.js", "chat.js")  # in the order of what each needs


def page_route() -> Route:
    """Where browsers begin."""

    async def page(request: Request) -> Response:
        local = peer_of(request.scope).transport == "unix"
        document, policy = _document()
        body = document.replace("%DOOR%", "local" if local else "network", 1)
        return Response(body, headers=_headers(policy))

    return Route("/", page, methods=["GET"])


@cache
def _document() -> tuple[str, str]:
    """The document, and the policy that allows what is in it."""
    style, script = _file("style.css"), "".join(_file(name) for name in SCRIPTS)
    document = _file("index.html").replace("%STYLE%", style, 1).replace("%SCRIPT%", script, 1)
    allowed = {
        "default-src": "'none'",
        "script-src": _digest(script),
        "style-src": _digest(style),
        "img-src": "data:",
        "connect-src": "'self'",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
    }
    return document, "; ".join(f"{name} {value}" for name, value in allowed.items())


def _headers(policy: str) -> dict[str, str]:
    return {
        "content-type": "text/html; charset=utf-8",
        "content-security-policy": policy,
        "cache-control": "no-cache",
        "referrer-policy": "no-referrer",
        "x-content-type-options": "nosniff",
        "cross-origin-opener-policy": "same-origin",
        "vary": "accept",
    }


def _file(name: str) -> str:
    return resources.files(__name__).joinpath(name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

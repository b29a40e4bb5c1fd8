"""Every operation of the document, asked with what it allows and with what it does not, on the whole daemon.

`make fuzz` asks more, and something else each time.
"""

from __future__ import annotations

import os
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings

from muleteer.gateway.openapi.document import OPERATIONS

schemathesis = pytest.importorskip("schemathesis", reason="pip install -e '.[proof]' brings schemathesis")

EXAMPLES = int(os.environ.get("EXAMPLES", "5"))  # of each operation and kind
SECONDS = 10.0  # for an answer; nothing here needs one

# Streams without an end; what would ask other machines at addresses that were made up.
LEFT_OUT = {"GET /v1/events", "GET /mcp", "POST /mcp", "DELETE /mcp", "POST /v1/seat/join"}


# What is well formed may still be refused for what it means: a time that is none, a skill that is not there.
NOT_HERE = [schemathesis.checks.positive_data_acceptance]
ALL = OPERATIONS.keys() - LEFT_OUT
REFUSABLE = {name for name in ALL if OPERATIONS[name].body is not None or OPERATIONS[name].query}


@pytest.fixture(scope="module")
def document(url: str) -> Any:
    """Without tokens: on the Unix socket nobody needs one. `test_access.py` is about where everybody does."""
    told = httpx.get(f"{url}/openapi.json").json()
    for operations in told["paths"].values():
        for operation in operations.values():
            del operation["security"]
    refusals = {"negative_data_rejection": {"expected-statuses": ["4XX"]}}  # 413 is one, too
    config = schemathesis.config.SchemathesisConfig.from_dict({"checks": refusals})
    return schemathesis.openapi.from_dict(told, config=config)


@pytest.mark.parametrize("name", sorted(ALL))
def test_what_is_allowed_is_answered_as_described(document: Any, url: str, name: str) -> None:
    ask(document, url, name, schemathesis.GenerationMode.POSITIVE)


@pytest.mark.parametrize("name", sorted(REFUSABLE))
def test_what_is_not_allowed_is_refused(document: Any, url: str, name: str) -> None:
    ask(document, url, name, schemathesis.GenerationMode.NEGATIVE)


def ask(document: Any, url: str, name: str, mode: Any) -> None:
    method, path = name.split()
    operation = document[path][method]

    @given(case=operation.as_strategy(generation_mode=mode))
    @settings(
        max_examples=EXAMPLES,
        derandomize="EXAMPLES" not in os.environ,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    def once(case: Any) -> None:
        case.call_and_validate(base_url=url, timeout=SECONDS, excluded_checks=NOT_HERE)

    once()

"""The names that a parameter may take in this household, as the model is offered them.

A parameter `Annotated[str, Named("serial", "readings")]` gets those names as an `enum`, so that the decoder
writes none that does not exist, and one way out. A small model does not always take that: a tool that acts on
what is named must not use this, lest whoever asks for a lamp that is not there gets another one. Calls stay
as forgiving as the tool is: only the schema is narrowed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from muleteer.catalogue.declared import Loaded, Tool
from muleteer.catalogue.schema import Form
from muleteer.services import Absent, Naming, Services
from muleteer.tool import Named

MOST_NAMES = 48  # of one kind; more would fill the prompt, and the tool itself tells what there is
OTHER = "none of these"  # a name that no service has


def names_of(things: Iterable[Loaded], services: Services) -> dict[Named, tuple[str, ...]]:
    """All names that the parameters of these tools may take now."""
    marks = {mark for each in things if isinstance(each.form, Form) for mark in each.form.named.values()}
    return {mark: _names(mark, services) for mark in marks}


def _names(mark: Named, services: Services) -> tuple[str, ...]:
    service: Naming | Absent = getattr(services, mark.service)
    return () if isinstance(service, Absent) else service.names(mark.kind)


def offered(loaded: Loaded, services: Services) -> Tool:
    """The tool with the names that the services have now in its schema."""
    marks = loaded.form.named if isinstance(loaded.form, Form) else {}
    properties: dict[str, Any] = dict(loaded.tool.parameters.get("properties", {}))
    for parameter, mark in marks.items():
        names = _names(mark, services)
        if 0 < len(names) <= MOST_NAMES:
            properties[parameter] = properties[parameter] | {"enum": [*names, OTHER]}
    if not marks:
        return loaded.tool
    return replace(loaded.tool, parameters={**loaded.tool.parameters, "properties": properties})

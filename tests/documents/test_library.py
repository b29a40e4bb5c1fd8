from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.documents.conftest import Shelf


async def test_smoke(papers: Path, opened: Callable[..., Shelf]) -> None:
    (papers / "lease.txt").write_text("The rent is 840 EUR a month")
    (papers / "sub").mkdir()
    (papers / "sub" / "CarInvoice2026.md").write_text("brakes 300")
    shelf = opened(papers)
    await shelf.settled()
    (papers / "new.txt").write_text("hello world")
    await shelf.found("hello", "new.txt")
    (papers / "lease.txt").unlink()
    await shelf.found("rent")

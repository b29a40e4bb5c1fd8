"""The tiny model, loaded once per test module."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from muleteer.engine import models
from muleteer.engine.decode import Decoder
from muleteer.engine.llama import Llama
from muleteer.engine.protocol import LoadSettings

SMALL = LoadSettings(context=512, sequences=8, batch=32, threads=1)


@pytest.fixture(scope="session")
def tiny() -> Path:
    path = models.locate("tiny")
    assert path is not None, "The tiny model is missing; run `make setup`."
    return path


@pytest.fixture(scope="module")
def loaded(tiny: Path) -> Iterator[Decoder]:
    decoder = Decoder.load(tiny, SMALL)
    yield decoder
    decoder.close()


@pytest.fixture
def decoder(loaded: Decoder) -> Decoder:
    """A decoder that holds nothing and has counted nothing."""
    loaded.forget()
    return loaded


@pytest.fixture(scope="module")
def native(tiny: Path) -> Iterator[Llama]:
    llama = Llama(tiny, SMALL)
    yield llama
    llama.close()

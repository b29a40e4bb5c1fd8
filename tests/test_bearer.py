from __future__ import annotations

from pathlib import Path

import pytest

from muleteer.bearer import token
from muleteer.errors import ConfigError


def test_a_token_comes_from_a_variable_or_a_file(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("from file\n")
    assert token({"T": " from variable "}, "T", "") == "from variable"
    assert token({}, "", str(file)) == "from file"
    assert token({"T": "unused"}, "", "") == ""


@pytest.mark.parametrize("content", [b"", b"\n", b"two\nlines", b"\xff\xfe", b"x" * 20_000])
def test_a_file_without_a_token_is_named_and_not_shown(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "token"
    file.write_bytes(content)
    with pytest.raises(ConfigError, match="token") as refused:
        token({}, "", str(file))
    assert str(file) in str(refused.value)
    assert "lines" not in str(refused.value)

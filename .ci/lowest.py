"""Prints the oldest version of each dependency that pyproject.toml allows, as pip takes them.

llama-cpp-python is left out: its lower bound was tried by hand, since each build takes minutes.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
for requirement in project["dependencies"]:
    found = re.fullmatch(r"([\w.-]+)>=([\w.]+)", requirement)
    if found is None:
        raise SystemExit(f"{requirement}: a dependency is written as name>=version, its lower bound")
    if found[1] != "llama-cpp-python":
        print(f"{found[1]}=={found[2]}")

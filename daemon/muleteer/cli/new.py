"""`muleteer tools new` and `muleteer skills new`: a commented template with its test, in the user's folder.

Knows the templates and where they go. Writes only what is not there.
"""

from __future__ import annotations

from pathlib import Path
from string import Template

import click

from muleteer import paths
from muleteer.cli.render import safe

TOOL = '''"""What $name is for. The menu line, the schema and the checks are made from the function below.

Try it:   muleteer tools call $name '{"count": 2}'
Test it:  pytest $test
"""

from __future__ import annotations

from muleteer.tool import Data, Result, tool


@tool(
    effect="read",  # "write" when it changes what is stored, "physical" when it acts on a device
    # What a user would say; it teaches the model when to choose this tool. Three to six, in their languages.
    examples=("$words please", "do $words twice"),
    # craft="...": rules for the arguments. network=True: refused while offline. timeout=20: seconds.
)
def $name(count: int = 1) -> Result:
    """Say hello so many times. Use it when the user asks for $words.

    count: how many times
    """
    # One short sentence, fit to be spoken, that says what was found or done. A payload is for what is longer.
    # Result.empty: looked, nothing is there. Result.unavailable: could not look. Exceptions become errors.
    # To keep or look up things, add a parameter `services: Services` and make this an `async def`.
    if not 1 <= count <= 10:
        return Result.error("The count must be from 1 to 10.")
    return Result.ok("Hello. " * (count - 1) + "Hello.", Data({"count": count}))
'''

TOOL_TEST = '''"""That $name loads, and does what it says."""

from __future__ import annotations

import asyncio
from pathlib import Path

from muleteer.tool import Result, Services, Status
from muleteer.toolbox import Toolbox

TOOLBOX = Toolbox.load([Path(__file__).parent.parent], Services())


def call(**arguments: object) -> Result:
    return asyncio.run(TOOLBOX.call("$name", arguments)).result


def test_it_loads() -> None:
    assert "$name" in TOOLBOX.tools, TOOLBOX.disabled


def test_it_answers() -> None:
    assert call(count=2).text == "Hello. Hello."


def test_it_says_what_is_wrong() -> None:
    assert call(count=0).status is Status.ERROR
'''

SKILL = """---
name: $name
# The menu line: one short sentence about what for, so that it is told apart from the other lines.
description: $title.
metadata:
  # What a user would say. Three to six, in the languages spoken at home; none that fits another skill.
  examples:
    - $words please
    - do $words now
    - start $words
  # schedule: "07:00"   runs it every day without being asked, as a systemd OnCalendar expression
  # run: all            code calls each tool once, in order (first: until one finds anything), no model
  # budget: 2000        the most tokens that one turn may take
---
1. Ask @current-time for the time.
2. Ask @device-info how the device is.
3. Say both in one sentence.

<!-- Steps mention tools and other skills with an @; `muleteer tools` lists the names. Short steps are cheap:
every word is read by the model each time. -->
"""

SKILL_TEST = '''"""That the skill $name is sound: its form, its handles and its examples.

Where the examples lead depends on the model and your other skills: `muleteer skills check $name` tells that
while the daemon runs.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SKILL = Path(__file__).parent


def test_it_passes_the_check() -> None:
    command = [sys.executable, "-m", "muleteer", "skills", "check", "--no-model", str(SKILL)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
'''


@click.command("new")
@click.argument("name")
def new_tool(name: str) -> None:
    """Write a tool NAME with comments, and its test, into your own folder.

    \b
    Example:
      muleteer tools new roll_dice
    """
    from muleteer.catalogue.declared import NAME, RESERVED

    if not NAME.fullmatch(name) or name in RESERVED:
        raise click.UsageError(
            f"'{name}' cannot be a tool's name; use a-z and 0-9 with single _ between, such as roll_dice."
        )
    folder = paths.config_dir() / "tools"
    path, test = folder / f"{name}.py", folder / "tests" / f"test_{name}.py"
    values = {"name": name, "words": name.replace("_", " "), "test": str(test)}
    _write({path: TOOL, test: TOOL_TEST}, values)
    click.echo(f"Try it with: muleteer tools call {name}")


@click.command("new")
@click.argument("name")
def new_skill(name: str) -> None:
    """Write a skill NAME with comments, and its test, into your own folder.

    \b
    Example:
      muleteer skills new good-night
    """
    from muleteer.catalogue.declared import RESERVED, handle_of
    from muleteer.catalogue.skill_files import NAME, NAME_LIMIT

    if not NAME.fullmatch(name) or len(name) > NAME_LIMIT or name in map(handle_of, RESERVED):
        raise click.UsageError(
            f"'{name}' cannot be a skill's name; use a-z and 0-9 with single - between, such as good-night."
        )
    folder = paths.config_dir() / "skills" / name
    words = name.replace("-", " ")
    values = {"name": name, "words": words, "title": f"{words.capitalize()}, with the time and the device"}
    _write({folder / "SKILL.md": SKILL, folder / f"test_{name.replace('-', '_')}.py": SKILL_TEST}, values)
    click.echo(f"Check it with: muleteer skills check {name}")


def _write(files: dict[Path, str], values: dict[str, str]) -> None:
    """Write all of them or, when one is there already, none."""
    if there := [path for path in files if path.exists() or path.is_symlink()]:
        raise click.UsageError(f"{there[0]} is there already; choose another name.")
    for path, text in files.items():
        try:
            # Nobody else may write there, or it would not be loaded.
            path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
            with path.open("x", encoding="utf-8") as file:
                file.write(Template(text).substitute(values))
        except OSError as error:
            raise click.UsageError(f"{path} cannot be written: {error.strerror}.") from error
        click.echo(safe(f"Written: {path}"))

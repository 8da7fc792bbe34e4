"""Commands that the documentation tells people to type can be typed."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

from wayhound.cli import cli

ROOT = Path(__file__).parent.parent.parent
PAGES = ("README.md", "docs/tutorial.md", "docs/teach.md", "docs/studio.md", "docs/trails.md")


def commands_in(page: str) -> list[str]:
    """Lines of shell blocks and code within sentences that begin with our name."""
    text = (ROOT / page).read_text()
    blocks = "\n".join(
        re.findall(r"```sh\n(.*?)```", text, re.DOTALL) + re.findall(r"(?m)^    (wayhound .*)$", text)
    )
    lines = re.sub(r"\\\n\s*", " ", blocks).splitlines()
    inline = re.findall(r"`(wayhound [^`]+)`", re.sub(r"```.*?```", "", text, flags=re.DOTALL))
    return [line for line in [*lines, *inline] if line.startswith("wayhound ")]


def parsed(command: click.Command, context: click.Context, words: list[str]) -> None:
    if isinstance(command, click.Group):
        below = command.get_command(context, words[0])
        assert below is not None, f"no command {words[0]}"
        parsed(below, click.Context(below, parent=context), words[1:])
    else:
        command.make_parser(context).parse_args(args=words)


@pytest.mark.parametrize(("page", "line"), [(page, line) for page in PAGES for line in commands_in(page)])
def test_a_command_that_is_written_down_exists_with_its_options(page: str, line: str) -> None:
    words = shlex.split(line.replace("…", ""), comments=True)[1:]
    if words != ["help", "forage"]:
        parsed(cli, click.Context(cli), words)


def test_commands_are_found_in_every_page() -> None:
    assert all(commands_in(page) for page in PAGES)

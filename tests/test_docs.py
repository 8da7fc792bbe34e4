"""The documentation names every command, strategy and reason, and its links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import click
import pytest

from wayhound.cli import COMMANDS, cli
from wayhound.fetched import FailureReason
from wayhound.forage.scorers import SCORERS

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
REFERENCE = (ROOT / "docs" / "reference.md").read_text()


def command_of(name: str) -> click.Command:
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    return command


@pytest.mark.parametrize("name", sorted(name for name in COMMANDS if not command_of(name).hidden))
def test_every_command_and_option_is_in_the_reference(name: str) -> None:
    command = command_of(name)
    commands = list(command.commands.items()) if isinstance(command, click.Group) else [("", command)]
    for below, each in commands:
        assert f"wayhound {name} {below}".strip() in REFERENCE
        for parameter in each.params:
            if isinstance(parameter, click.Option) and not parameter.hidden:
                assert max(parameter.opts, key=len) in REFERENCE, f"{name} {below} {parameter.opts}"


@pytest.mark.parametrize("name", sorted(SCORERS))
def test_every_strategy_is_in_the_reference(name: str) -> None:
    assert f"`{name}`" in REFERENCE


@pytest.mark.parametrize("reason", get_args(FailureReason))
def test_every_reason_code_is_documented(reason: str) -> None:
    assert f"`{reason}`" in (ROOT / "docs" / "fetching.md").read_text()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+?)(?:#[^)]*)?\)", page.read_text()):
        assert (page.parent / target).exists(), target

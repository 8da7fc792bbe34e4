"""The style sheets and page frames of the sample sites, as files beside this module."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from string import Template


@cache
def look(name: str) -> str:
    return files(__name__).joinpath(name).read_text("utf-8")


def fill(name: str, /, **parts: str) -> str:
    """The file with its `$name` places filled."""
    return Template(look(name)).substitute(parts)

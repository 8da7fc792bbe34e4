"""Word lists and sentence grammars of the sample web, read once from the TOML files beside this module."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def words(name: str) -> dict[str, Any]:
    """The contents of `NAME.toml`; callers must not change them."""
    return tomllib.loads(files(__name__).joinpath(f"{name}.toml").read_text("utf-8"))

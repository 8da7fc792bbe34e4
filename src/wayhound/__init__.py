"""Wayhound: show it the way on a few websites; it finds the rest.

The public API is what `__all__` names; `docs/api.md` describes it. Names are imported when they are first used, so that
`import wayhound` loads nothing else.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from wayhound.app.api import (
        ForageOptions,
        add_trail,
        add_trails,
        explain,
        fill_topics,
        find_goals,
        forage_sites,
        forage_sites_async,
        open_workspace,
        read_papers,
        read_sites,
        search_records,
        to_arrow,
        to_pandas,
        train,
        update_index,
    )
    from wayhound.errors import WayhoundError
    from wayhound.forage.scorer import Rated, Reading, Scorer, StrategyInput
    from wayhound.page import Link, Page
    from wayhound.plugins import Extractor, FactExtractor, FactRequest, FoundFact, GoalContent
    from wayhound.record import Record, Span, Value
    from wayhound.record_kinds import FieldSpec, KindSpec
    from wayhound.site import Site
    from wayhound.trail import Step, Trail
    from wayhound.visit import Visit
    from wayhound.workspace import Workspace

__version__ = "0.1.0"

__all__ = [
    "Extractor",
    "FactExtractor",
    "FactRequest",
    "FieldSpec",
    "ForageOptions",
    "FoundFact",
    "GoalContent",
    "KindSpec",
    "Link",
    "Page",
    "Rated",
    "Reading",
    "Record",
    "Scorer",
    "Site",
    "Span",
    "Step",
    "StrategyInput",
    "Trail",
    "Value",
    "Visit",
    "WayhoundError",
    "Workspace",
    "__version__",
    "add_trail",
    "add_trails",
    "explain",
    "fill_topics",
    "find_goals",
    "forage_sites",
    "forage_sites_async",
    "open_workspace",
    "read_papers",
    "read_sites",
    "search_records",
    "to_arrow",
    "to_pandas",
    "train",
    "update_index",
]

_MODULES = {
    "Extractor": "plugins",
    "FactExtractor": "plugins",
    "FactRequest": "plugins",
    "FoundFact": "plugins",
    "FieldSpec": "record_kinds",
    "GoalContent": "plugins",
    "KindSpec": "record_kinds",
    "Link": "page",
    "Page": "page",
    "Rated": "forage.scorer",
    "Reading": "forage.scorer",
    "Record": "record",
    "Scorer": "forage.scorer",
    "Site": "site",
    "Span": "record",
    "Step": "trail",
    "StrategyInput": "forage.scorer",
    "Trail": "trail",
    "Value": "record",
    "Visit": "visit",
    "WayhoundError": "errors",
    "Workspace": "workspace",
}
"""The modules of names that are not functions of `app.api`."""


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_MODULES.get(name, 'app.api')}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

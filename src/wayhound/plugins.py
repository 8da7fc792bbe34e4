"""Scorers, extractors of records and of facts, and record kinds that other packages add by entry points.

A package names them in its `pyproject.toml`::

    [project.entry-points."wayhound.scorers"]
    harbour-first = "my_package:HarbourFirst"

Looking a plugin up reads package metadata alone; its code is imported when it is used.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, Protocol

from wayhound.errors import PluginError, WayhoundError
from wayhound.record import Record

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

Group = Literal[
    "wayhound.scorers", "wayhound.extractors", "wayhound.fact_extractors", "wayhound.record_kinds"
]
SCORERS: Group = "wayhound.scorers"
EXTRACTORS: Group = "wayhound.extractors"
FACT_EXTRACTORS: Group = "wayhound.fact_extractors"
RECORD_KINDS: Group = "wayhound.record_kinds"


@dataclass(frozen=True, slots=True)
class Plugin:
    """An entry point of an installed package."""

    group: Group
    name: str
    package: str
    version: str
    entry: EntryPoint

    def load(self) -> Any:
        """Import the plugin. Raises PluginError if that fails for whatever reason."""
        try:
            return self.entry.load()
        except Exception as error:
            raise self.failure("cannot be loaded", error) from error

    def failure(self, what: str, error: Exception) -> PluginError:
        """Return an error that names the plugin and what went wrong in it."""
        reason = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        return PluginError(
            f"The plugin {self.name!r} of the package {self.package} {self.version} ({self.group}) {what}: "
            f"{reason}. Repair or uninstall {self.package}."
        )

    @contextmanager
    def blamed(self, what: str) -> Iterator[None]:
        """Turn exceptions of the plugin's own code into PluginError; others pass."""
        try:
            yield
        except WayhoundError:
            raise
        except Exception as error:
            if self._raised(error):
                raise self.failure(what, error) from error
            raise

    def _raised(self, error: Exception) -> bool:
        """Return True if code of the plugin's package was running when the error was raised."""
        package, trace = self.entry.module.partition(".")[0], error.__traceback__
        while trace is not None:
            if str(trace.tb_frame.f_globals.get("__name__", "")).partition(".")[0] == package:
                return True
            trace = trace.tb_next
        return False


@lru_cache
def find_plugins(group: Group) -> dict[str, Plugin]:
    """Return the installed plugins of a group by name, without importing them; the first of a name counts."""
    from importlib.metadata import entry_points  # noqa: PLC0415 - takes longer than all of this module

    plugins: dict[str, Plugin] = {}
    for entry in entry_points(group=group):
        package, version = (entry.dist.name, entry.dist.version) if entry.dist else ("(unknown)", "")
        plugins.setdefault(entry.name, Plugin(group, entry.name, package, version, entry))
    return plugins


def load_plugins(group: Group) -> tuple[dict[str, Any], list[str]]:
    """Return the plugins of a group that can be loaded, by name, and a message for each that cannot."""
    loaded: dict[str, Any] = {}
    problems: list[str] = []
    for name, plugin in find_plugins(group).items():
        try:
            loaded[name] = plugin.load()
        except PluginError as error:
            problems.append(str(error))
    return loaded, problems


@dataclass(frozen=True, slots=True)
class GoalContent:
    """A goal page or document as an extractor gets it: the bytes that were fetched, and what is known of them.

    `text` is what a reader of the page sees, a line for each block; it is empty for documents such as PDFs.
    """

    url: str
    site: str
    label: str
    title: str
    text: str
    content_type: str
    body: bytes


class Extractor(Protocol):
    """Makes records of the plugin's own kind from a goal.

    Called once for each goal, and again when the goal was fetched anew. Ids should be made from the URL, so that the
    same page gives the same records. When a goal leaves the collection, its records leave with it.
    """

    def __call__(self, goal: GoalContent, /) -> Iterable[Record]: ...


@dataclass(frozen=True, slots=True)
class FactRequest:
    """An archived page as an extractor of facts gets it, and what is looked for: the fields of a kind."""

    url: str
    title: str
    content_type: str
    body: bytes
    kind: str
    fields: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FoundFact:
    """A value of a field, how sure that is, and its place in the visible text of the page, if that is known."""

    field: str
    text: str
    confidence: float = 0.8
    start: int = 0
    end: int = 0


class FactExtractor(Protocol):
    """A `wayhound.fact_extractors` entry point: finds facts at a cost, such as a model behind an address.

    It is called for the pages that are worth most, while the budget of seconds or money lasts. An attribute
    `money_per_page` is what one call costs, in the currency of the budget; without one, calls cost nothing but time. An
    attribute `content_types`, a tuple of the beginnings of media types, says which pages it reads; without one, web
    pages.
    """

    def __call__(self, page: FactRequest, /) -> Iterable[FoundFact]: ...

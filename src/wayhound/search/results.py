"""Search requests and results as plain values, for pages and for JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

Sort = Literal["relevance", "log-tf", "cited", "authority", "hub", "newest", "oldest", "added"]
SORTS: tuple[Sort, ...] = get_args(Sort)

FACETS = ("topic", "year", "venue", "site", "type")
"""The facets of every index. Fields that a record kind declares as facets are facets under their own names."""

MAX_DEPTH = 10_000  # hits that can be paged through; an export has all


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """One search request.

    `filters` are pairs of a facet and an exact value, as facets list them. Two filters of one facet are combined
    with OR, filters of different facets with AND.
    """

    query: str = ""
    sort: Sort = "relevance"
    offset: int = 0
    limit: int = 10
    facets: tuple[str, ...] = FACETS
    filters: tuple[tuple[str, str], ...] = ()
    facet_values: int = 20  # values returned for each facet, the most frequent first


@dataclass(frozen=True, slots=True)
class Fragment:
    """A part of a text; `marked` if it matches the query."""

    text: str
    marked: bool = False


@dataclass(frozen=True, slots=True)
class Hit:
    """A matching record, with what a list of results shows."""

    kind: str
    id: str
    title: str
    title_pieces: tuple[Fragment, ...] = ()
    snippet: tuple[Fragment, ...] = ()
    people: tuple[str, ...] = ()
    venue: str = ""
    year: int | None = None
    site: str = ""
    topics: tuple[tuple[str, ...], ...] = ()
    cited: int = 0
    authority: float = 0.0
    hub: float = 0.0
    score: float = 0.0  # in the requested order; larger is earlier


@dataclass(frozen=True, slots=True)
class SearchResults:
    """The hits of one page, and how the query was understood.

    `total` includes works that are only cited; these come last, and `cited_only` is their number. With
    `some_words`, no record has all words, and the hits have some. `next_offset` is None on the last page.
    """

    total: int
    hits: tuple[Hit, ...]
    read_as: str
    facets: Mapping[str, list[tuple[str, int]]] = field(default_factory=dict)
    did_you_mean: str | None = None
    some_words: bool = False
    next_offset: int | None = None
    milliseconds: float = 0.0
    cited_only: int = 0


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A completion of what was typed."""

    text: str
    kind: Literal["title", "author", "topic"]
    count: int = 1  # records that match it
    id: str = ""  # of the record, if it is a title
    record_kind: str = ""

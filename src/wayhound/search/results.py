"""What can be asked of the index and what it answers, as plain values that pages can be made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

Sort = Literal["relevance", "log-tf", "cited", "authority", "hub", "newest", "oldest", "added"]
SORTS: tuple[Sort, ...] = get_args(Sort)

FACETS = ("topic", "year", "venue", "site", "type")
"""The facets that every index has; fields of kinds that are declared as facets are facets by their names."""

MAX_DEPTH = 10_000  # hits that can be paged through; an export gives all


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A question.

    `filters` are facets with the exact value that was chosen, as facets list them. Of two filters of one
    facet either may hold.
    """

    query: str = ""
    sort: Sort = "relevance"
    offset: int = 0
    limit: int = 10
    facets: tuple[str, ...] = FACETS
    filters: tuple[tuple[str, str], ...] = ()
    facet_values: int = 20  # how many values of a facet are told, the commonest first


@dataclass(frozen=True, slots=True)
class Fragment:
    """A piece of a text; `marked` if it is what was asked for."""

    text: str
    marked: bool = False


@dataclass(frozen=True, slots=True)
class Hit:
    """A record that was found, with what a list shows of it."""

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
    score: float = 0.0  # in the order that was asked for: larger is earlier


@dataclass(frozen=True, slots=True)
class SearchResults:
    """What was found, and how the question was read.

    `total` counts what is not held, too; `cited_only` counts that alone, and it comes after all else.
    `some_words`: no record has all the words, and these have some. `next_offset` is None on the last page.
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
    """Something that begins with what was typed."""

    text: str
    kind: Literal["title", "author", "topic"]
    count: int = 1  # records that it would find
    id: str = ""  # of a title: the record
    record_kind: str = ""

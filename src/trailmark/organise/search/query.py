"""What a person asks for, as data: words, phrases and years, each wanted, required or not wanted."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from trailmark.organise.search.terms import terms
from trailmark.words import words

FIELDS = ("author", "title", "abstract", "venue", "year", "topic", "site", "type")
"""The fields that every index knows; kinds of records may declare more."""

Sign = Literal["", "+", "-"]

_BARE = re.compile(r"\w[\w.'’-]*")


@dataclass(frozen=True, slots=True)
class Term:
    """A word; several words are a phrase. With `prefix`, the last word may go on."""

    text: str
    field: str | None = None
    prefix: bool = False

    @property
    def words(self) -> list[str]:
        return terms(self.text)


@dataclass(frozen=True, slots=True)
class Years:
    """From one year to another, both included; without one of them, open at that end."""

    first: int | None = None
    last: int | None = None


Part = Term | Years


@dataclass(frozen=True, slots=True)
class Clause:
    """Any of its parts. With `+` it must be there, with `-` it must not; without, it is wanted."""

    any_of: tuple[Part, ...]
    sign: Sign = ""


@dataclass(frozen=True, slots=True)
class Query:
    """All of its clauses; without any, everything is meant."""

    clauses: tuple[Clause, ...] = ()


def to_text(query: Query) -> str:
    """The query as it would be typed; reading that gives the same query."""
    return " ".join(map(_clause_text, query.clauses))


def _clause_text(clause: Clause) -> str:
    return clause.sign + " OR ".join(map(_part_text, clause.any_of))


def _part_text(part: Part) -> str:
    if isinstance(part, Years):
        return f"year:{_years_text(part)}"
    bare = _BARE.fullmatch(part.text) and part.text not in ("OR", "AND")
    value = part.text if bare else f'"{part.text}"'
    return f"{part.field + ':' if part.field else ''}{value}{'*' if part.prefix else ''}"


def _years_text(years: Years) -> str:
    if years.first == years.last:
        return str(years.first)
    first, last = ("" if year is None else year for year in (years.first, years.last))
    return f"{first}..{last}"


def describe(query: Query) -> str:
    """How the query was read, in words."""
    wanted = [_clause_words(clause) for clause in query.clauses if clause.sign != "-"]
    unwanted = [_clause_words(clause) for clause in query.clauses if clause.sign == "-"]
    said = " and ".join(wanted) or "everything"
    return f"{said}, but not {' nor '.join(unwanted)}" if unwanted else said


def _clause_words(clause: Clause) -> str:
    said = " or ".join(map(_part_words, clause.any_of))
    if clause.sign == "+":
        return f"certainly ({said})" if len(clause.any_of) > 1 else f"certainly {said}"
    return f"({said})" if len(clause.any_of) > 1 else said


def _part_words(part: Part) -> str:
    if isinstance(part, Years):
        return _years_words(part)
    said = " ".join(words(part.text)) if part.text.isascii() else part.text
    what = "the phrase " if len(part.words) > 1 else ""
    if part.prefix:
        what = "a phrase beginning with " if what else "a word beginning with "
    where = f" in {part.field}" if part.field else ""
    return f"{what}“{said}”{where}"


def _years_words(years: Years) -> str:
    if years.first == years.last:
        return f"of the year {years.first}"
    if years.first is None:
        return f"until {years.last}"
    return f"since {years.first}" if years.last is None else f"from {years.first} to {years.last}"

"""Reads what people type into a search box. Everything can be read: nothing that is typed is an error."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal, cast

from wayhound.text.folding import without_accents
from wayhound.words import spaced, words

LONGEST_TERM = 64  # characters; what is longer is cut, in documents and questions alike

_without_accents = lru_cache(maxsize=20_000)(without_accents)  # few words have accents, and they recur


def terms(text: str) -> list[str]:
    """Words in small letters without accents, in reading order. None is left out and none is stemmed."""
    plain = spaced(text)
    found = plain.split()
    if not plain.isascii():
        found = [
            part for word in found for part in ([word] if word.isascii() else _without_accents(word).split())
        ]
    if max(map(len, found), default=0) > LONGEST_TERM:
        found = [term[:LONGEST_TERM] for term in found]
    return found


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
class YearRange:
    """From one year to another, both included; without one of them, open at that end."""

    first: int | None = None
    last: int | None = None


QueryPart = Term | YearRange


@dataclass(frozen=True, slots=True)
class Clause:
    """Any of its parts. With `+` it must be there, with `-` it must not; without, it is wanted."""

    any_of: tuple[QueryPart, ...]
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


def _part_text(part: QueryPart) -> str:
    if isinstance(part, YearRange):
        return f"year:{_years_text(part)}"
    bare = _BARE.fullmatch(part.text) and part.text not in ("OR", "AND")
    value = part.text if bare else f'"{part.text}"'
    return f"{part.field + ':' if part.field else ''}{value}{'*' if part.prefix else ''}"


def _years_text(years: YearRange) -> str:
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


def _part_words(part: QueryPart) -> str:
    if isinstance(part, YearRange):
        return _years_words(part)
    said = " ".join(words(part.text)) if part.text.isascii() else part.text
    what = "the phrase " if len(part.words) > 1 else ""
    if part.prefix:
        what = "a phrase beginning with " if what else "a word beginning with "
    where = f" in {part.field}" if part.field else ""
    return f"{what}“{said}”{where}"


def _years_words(years: YearRange) -> str:
    if years.first == years.last:
        return f"of the year {years.first}"
    if years.first is None:
        return f"until {years.last}"
    return f"since {years.first}" if years.last is None else f"from {years.first} to {years.last}"


LONGEST_QUERY = 1_000  # characters; the rest is not read
MOST_PARTS = 40
MOST_PREFIXES = 5  # each may stand for thousands of words; further stars are not read

_ASKED = r"""
    (?P<sign>[+-]?)
    (?: (?P<field>{fields}) : \s? )?
    (?: "(?P<quoted>[^"]*)(?:"|$)(?P<star>\*?) | (?P<bare>[^\s"]+) )
"""
_YEARS = re.compile(r"(\d{1,4})?(\.\.+|[-–—])?(\d{1,4})?")
_QUOTES = str.maketrans("“”„‟«»", '""""""')
_OR, _AND = ("OR", "|", "||"), ("AND", "&", "&&")

Item = tuple[Sign, QueryPart] | None  # None is the word OR


def parse(text: str, fields: Collection[str] = FIELDS) -> Query:
    """The query that a text stands for. `NAME:` means a field only for names in `fields`."""
    clauses: list[Clause] = []
    joining = False
    for item in _items(_tidy(text), frozenset(fields)):
        if item is None:
            joining = bool(clauses)
            continue
        sign, part = item
        if joining and not sign and clauses[-1].sign != "-":
            clauses[-1] = Clause((*clauses[-1].any_of, part), clauses[-1].sign)
        else:  # `OR` says nothing next to what must not be there
            clauses.append(Clause((part,), sign))
        joining = False
    return Query(tuple(_first_parts(clauses)))


def _tidy(text: str) -> str:
    """On one line, with one kind of quotation mark, and without what cannot be printed."""
    shown = "".join(letter if letter.isprintable() else " " for letter in text[:LONGEST_QUERY])
    return " ".join(shown.translate(_QUOTES).split())


def _items(text: str, fields: frozenset[str]) -> Iterator[Item]:
    prefixes = 0
    for token in _pattern(fields).finditer(text):
        plain = not token["sign"] and not token["field"]
        if plain and token["bare"] in _OR:
            yield None
        elif not (plain and token["bare"] in _AND) and (part := _part(token, fields)):
            prefixes += isinstance(part, Term) and part.prefix
            yield cast("Sign", token["sign"]), part if prefixes <= MOST_PREFIXES else _without_star(part)


def _without_star(part: QueryPart) -> QueryPart:
    return replace(part, prefix=False) if isinstance(part, Term) else part


@lru_cache(maxsize=16)
def _pattern(fields: frozenset[str]) -> re.Pattern[str]:
    names = "|".join(re.escape(name) for name in sorted(fields, key=lambda name: (-len(name), name)))
    return re.compile(_ASKED.format(fields=names or r"\b\B"), re.VERBOSE | re.IGNORECASE)


def _part(token: re.Match[str], fields: frozenset[str]) -> QueryPart | None:
    """What a token asks for; nothing if there is no word in it."""
    named = (token["field"] or "").lower()
    field = next((name for name in fields if name.lower() == named), None)
    text, prefix = _value(token)
    if field == "year":
        years = _years_beginning(text) if prefix else _years(text)
        return years or _worded(Term(f"{field}:{text}", None, prefix))
    return _worded(Term(text, field, prefix))


def _value(token: re.Match[str]) -> tuple[str, bool]:
    """The text of a token, and whether a star follows it."""
    if (bare := token["bare"]) is not None:
        return bare.rstrip("*"), bare.endswith("*")
    return token["quoted"].strip(), bool(token["star"])


def _worded(term: Term) -> Term | None:
    return term if term.words else None


def _years(text: str) -> YearRange | None:
    found = _YEARS.fullmatch(text.replace(" ", ""))
    if not found:
        return None
    first, to, last = _number(found[1]), found[2], _number(found[3])
    if not to:
        return YearRange(first, first) if first is not None and last is None else None
    if first is None and last is None:
        return None
    return (
        YearRange(last, first)
        if first is not None and last is not None and last < first
        else YearRange(first, last)
    )


def _years_beginning(text: str) -> YearRange | None:
    """Of `199`, all of the nineties."""
    if not (text.isascii() and text.isdigit() and len(text) < 4):
        return None
    share = 10 ** (4 - len(text))
    return YearRange(int(text) * share, int(text) * share + share - 1)


def _number(digits: str | None) -> int | None:
    return int(digits) if digits else None


def _first_parts(clauses: Iterable[Clause]) -> Iterator[Clause]:
    room = MOST_PARTS
    for clause in clauses:
        if room:
            kept = clause.any_of[:room]
            room -= len(kept)
            yield Clause(kept, clause.sign)

"""The query language of the search box: any text is a valid query."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal, cast

from wayhound.text.words import spaced, without_accents, words

MAX_TERM_LENGTH = 64  # characters; longer terms are cut, in documents and in queries

_without_accents = lru_cache(maxsize=20_000)(without_accents)  # few words have accents, and they recur


def terms(text: str) -> list[str]:
    """Return the words of a text in order, in lower case and without accents; no stop words, no stemming."""
    plain = spaced(text)
    split = plain.split()
    if not plain.isascii():
        split = [
            part for word in split for part in ([word] if word.isascii() else _without_accents(word).split())
        ]
    if max(map(len, split), default=0) > MAX_TERM_LENGTH:
        split = [term[:MAX_TERM_LENGTH] for term in split]
    return split


FIELDS = (
    "author", "title", "abstract", "body", "reference", "venue", "journal", "doi", "year", "topic", "site", "type",
)  # fmt: skip
"""The fields of every index; record kinds may declare more."""

Sign = Literal["", "+", "-"]

_BARE = re.compile(r"\w[\w.'’-]*")


@dataclass(frozen=True, slots=True)
class Term:
    """A word, or a phrase of several words. With `prefix`, the last word may continue.

    The words of a phrase may be apart by `near` other words in all.
    """

    text: str
    field: str | None = None
    prefix: bool = False
    near: int = 0

    @property
    def words(self) -> list[str]:
        return [*_words(self.text)]


@lru_cache(maxsize=4_096)  # asked for by every field that is searched
def _words(text: str) -> tuple[str, ...]:
    return tuple(terms(text))


@dataclass(frozen=True, slots=True)
class YearRange:
    """A range of years, both ends included; None leaves an end open."""

    first: int | None = None
    last: int | None = None


QueryPart = Term | YearRange


@dataclass(frozen=True, slots=True)
class Clause:
    """Alternatives, joined by OR. `+` requires the clause, `-` excludes it, neither prefers it."""

    any_of: tuple[QueryPart, ...]
    sign: Sign = ""


@dataclass(frozen=True, slots=True)
class Query:
    """Clauses joined by AND; without any, the query matches everything."""

    clauses: tuple[Clause, ...] = ()


def to_text(query: Query) -> str:
    """Return the query as it would be typed; parsing the text gives an equal query."""
    return " ".join(map(_clause_text, query.clauses))


def _clause_text(clause: Clause) -> str:
    return clause.sign + " OR ".join(map(_part_text, clause.any_of))


def _part_text(part: QueryPart) -> str:
    if isinstance(part, YearRange):
        return f"year:{_years_text(part)}"
    bare = _BARE.fullmatch(part.text) and part.text not in ("OR", "AND", "NOT") and not part.near
    value = part.text if bare else f'"{part.text}"'
    after = f"~{part.near}" if part.near else "*" if part.prefix else ""
    return f"{part.field + ':' if part.field else ''}{value}{after}"


def _years_text(years: YearRange) -> str:
    if years.first == years.last:
        return str(years.first)
    first, last = ("" if year is None else year for year in (years.first, years.last))
    return f"{first}..{last}"


def describe(query: Query) -> str:
    """Return how the query was understood, in words."""
    wanted = [_describe_clause(clause) for clause in query.clauses if clause.sign != "-"]
    unwanted = [_describe_clause(clause) for clause in query.clauses if clause.sign == "-"]
    description = " and ".join(wanted) or "everything"
    return f"{description}, but not {' nor '.join(unwanted)}" if unwanted else description


def _describe_clause(clause: Clause) -> str:
    parts = " or ".join(map(_describe_part, clause.any_of))
    if clause.sign == "+":
        return f"certainly ({parts})" if len(clause.any_of) > 1 else f"certainly {parts}"
    return f"({parts})" if len(clause.any_of) > 1 else parts


def _describe_part(part: QueryPart) -> str:
    if isinstance(part, YearRange):
        return _describe_years(part)
    text = " ".join(words(part.text)) if part.text.isascii() else part.text
    what = "the phrase " if len(part.words) > 1 else ""
    if part.prefix:
        what = "a phrase beginning with " if what else "a word beginning with "
    if part.near:
        what = "near each other, "
    where = f" in {part.field}" if part.field else ""
    return f"{what}“{text}”{where}"


def _describe_years(years: YearRange) -> str:
    if years.first == years.last:
        return f"of the year {years.first}"
    if years.first is None:
        return f"until {years.last}"
    return f"since {years.first}" if years.last is None else f"from {years.first} to {years.last}"


MAX_QUERY_LENGTH = 1_000  # characters; the rest is ignored
MAX_PARTS = 40
MAX_PREFIXES = 5  # each may expand to thousands of words; further stars are ignored

_CLAUSE = r"""
    (?P<sign>[+-]?)
    (?: (?P<field>{fields}) : \s? )?
    (?: "(?P<quoted>[^"]*)(?:"|$)(?: ~(?P<near>\d{{1,2}}) | (?P<star>\*?) ) | (?P<bare>[^\s"]+) )
"""
_YEARS = re.compile(r"(\d{1,4})?(\.\.+|[-–—])?(\d{1,4})?")
_QUOTES = str.maketrans("“”„‟«»", '""""""')
_OR, _AND, _NOT = ("OR", "|", "||"), ("AND", "&", "&&"), ("NOT", "!")
_DOI_ADDRESS = re.compile(r"(?:https?://)?(?:dx\.)?doi\.org/|doi:", re.IGNORECASE)

Item = tuple[Sign, QueryPart] | None  # None is the operator OR


# A page parses its query twice: to see whether the search is quick, and to search.
@lru_cache(maxsize=256)
def parse(text: str, fields: tuple[str, ...] = FIELDS) -> Query:
    """Parse a query. `NAME:` is a field only for names in `fields`."""
    clauses: list[Clause] = []
    joining = False
    for item in _items(_tidy(text), frozenset(fields)):
        if item is None:
            joining = bool(clauses)
            continue
        sign, part = item
        if joining and not sign and clauses[-1].sign != "-":
            clauses[-1] = Clause((*clauses[-1].any_of, part), clauses[-1].sign)
        else:  # OR next to an excluded clause has no meaning
            clauses.append(Clause((part,), sign))
        joining = False
    return Query(tuple(_first_parts(clauses)))


def _tidy(text: str) -> str:
    """Return the text on one line, with plain quotation marks and printable characters only."""
    shown = "".join(letter if letter.isprintable() else " " for letter in text[:MAX_QUERY_LENGTH])
    return " ".join(shown.translate(_QUOTES).split())


def _items(text: str, fields: frozenset[str]) -> Iterator[Item]:
    prefixes, negated = 0, False
    for token in _pattern(fields).finditer(text):
        word = None if token["sign"] or token["field"] else token["bare"]
        if word in _OR:
            yield None
        elif word in _NOT:
            negated = True
        elif word not in _AND and (part := _part(token, fields)):
            prefixes += isinstance(part, Term) and part.prefix
            sign = "-" if negated else cast("Sign", token["sign"])
            yield sign, part if prefixes <= MAX_PREFIXES else _without_star(part)
            negated = False


def _without_star(part: QueryPart) -> QueryPart:
    return replace(part, prefix=False) if isinstance(part, Term) else part


@lru_cache(maxsize=16)
def _pattern(fields: frozenset[str]) -> re.Pattern[str]:
    names = "|".join(re.escape(name) for name in sorted(fields, key=lambda name: (-len(name), name)))
    return re.compile(_CLAUSE.format(fields=names or r"\b\B"), re.VERBOSE | re.IGNORECASE)


def _part(token: re.Match[str], fields: frozenset[str]) -> QueryPart | None:
    """Return the part that a token stands for, or None if it has no word."""
    named = (token["field"] or "").lower()
    field = next((name for name in fields if name.lower() == named), None)
    text, prefix = _value(token)
    if field == "year":
        years = _years_with_prefix(text) if prefix else _years(text)
        return years or _unless_empty(Term(f"{field}:{text}", None, prefix))
    if field == "doi":
        text = _DOI_ADDRESS.sub("", text)
    near = int(token["near"] or 0)
    return _unless_empty(Term(text, field, prefix, near if len(terms(text)) > 1 else 0))


def _value(token: re.Match[str]) -> tuple[str, bool]:
    """Return the text of a token, and True if a star follows it."""
    if (bare := token["bare"]) is not None:
        return bare.rstrip("*"), bare.endswith("*")
    return token["quoted"].strip(), bool(token["star"])


def _unless_empty(term: Term) -> Term | None:
    return term if term.words else None


def _years(text: str) -> YearRange | None:
    match = _YEARS.fullmatch(text.replace(" ", ""))
    if not match:
        return None
    first, to, last = _number(match[1]), match[2], _number(match[3])
    if not to:
        return YearRange(first, first) if first is not None and last is None else None
    if first is None and last is None:
        return None
    return (
        YearRange(last, first)
        if first is not None and last is not None and last < first
        else YearRange(first, last)
    )


def _years_with_prefix(text: str) -> YearRange | None:
    """Return the years with these first digits: `199` is the nineties."""
    if not (text.isascii() and text.isdigit() and len(text) < 4):
        return None
    span = 10 ** (4 - len(text))
    return YearRange(int(text) * span, int(text) * span + span - 1)


def _number(digits: str | None) -> int | None:
    return int(digits) if digits else None


def _first_parts(clauses: Iterable[Clause]) -> Iterator[Clause]:
    room = MAX_PARTS
    for clause in clauses:
        if room:
            kept = clause.any_of[:room]
            room -= len(kept)
            yield Clause(kept, clause.sign)

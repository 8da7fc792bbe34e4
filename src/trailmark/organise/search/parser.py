"""Reads what people type into a search box. Everything can be read: nothing that is typed is an error."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from typing import cast

from trailmark.organise.search.query import FIELDS, Clause, Part, Query, Sign, Term, Years

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

Item = tuple[Sign, Part] | None  # None is the word OR


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


def _without_star(part: Part) -> Part:
    return replace(part, prefix=False) if isinstance(part, Term) else part


@lru_cache(maxsize=16)
def _pattern(fields: frozenset[str]) -> re.Pattern[str]:
    names = "|".join(re.escape(name) for name in sorted(fields, key=lambda name: (-len(name), name)))
    return re.compile(_ASKED.format(fields=names or r"\b\B"), re.VERBOSE | re.IGNORECASE)


def _part(token: re.Match[str], fields: frozenset[str]) -> Part | None:
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


def _years(text: str) -> Years | None:
    found = _YEARS.fullmatch(text.replace(" ", ""))
    if not found:
        return None
    first, to, last = _number(found[1]), found[2], _number(found[3])
    if not to:
        return Years(first, first) if first is not None and last is None else None
    if first is None and last is None:
        return None
    return (
        Years(last, first) if first is not None and last is not None and last < first else Years(first, last)
    )


def _years_beginning(text: str) -> Years | None:
    """Of `199`, all of the nineties."""
    if not (text.isascii() and text.isdigit() and len(text) < 4):
        return None
    share = 10 ** (4 - len(text))
    return Years(int(text) * share, int(text) * share + share - 1)


def _number(digits: str | None) -> int | None:
    return int(digits) if digits else None


def _first_parts(clauses: Iterable[Clause]) -> Iterator[Clause]:
    room = MOST_PARTS
    for clause in clauses:
        if room:
            kept = clause.any_of[:room]
            room -= len(kept)
            yield Clause(kept, clause.sign)

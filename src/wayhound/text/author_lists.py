"""Author lists of citations, in any of the ways they are printed, as last names with initials.

Unlike `person_names`, this reader takes lower-case text and garbled lists, because it only has to find what
two citations of one paper have in common.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from wayhound.text.person_names import CAPITALISED_PARTICLES
from wayhound.text.words import fold

_SEPARATOR = re.compile(r"\s*(?:;|&|\band\b|\bet al\b\.?|\bu\. ?a\.(?=\s|$))\s*")
_ROLE = re.compile(r"\(?\b(?:eds?|editors?|hrsg)\b\.?\)?")
_PART = re.compile(r"[^\W\d_]+(?:['’`-][^\W\d_]+)*")
_VANCOUVER = re.compile(r"(?<=\w\s)[A-Z]{2,3}(?=\s*(?:[,;.&]|$))")  # Schapire RE
_SUFFIXES = frozenset("jr sr ii iii iv".split())
_LEFT_OUT = (CAPITALISED_PARTICLES | _SUFFIXES) - {"das", "st"}  # last name Das; St?phane
_MOST_NAMES = 60  # a longer field is not an author list


@dataclass(frozen=True, slots=True)
class CitedName:
    """A person as cited: the last name in plain letters, and as many initials as are printed."""

    last: str
    initials: str = ""


def parse_cited_names(text: str) -> tuple[CitedName, ...]:
    """Return the names of an author list: `R. E. Schapire`, `Schapire, R.E.`, `Schapire, Robert` or mixtures.

    >>> [name.last for name in parse_cited_names("blum, a., furst, m., & rudich, s.")]
    ['blum', 'furst', 'rudich']
    """
    spread = text if text.isupper() else _VANCOUVER.sub(lambda match: " ".join(match[0]), text)
    folded = _ROLE.sub(" ", fold(spread))
    names = [name for chunk in _SEPARATOR.split(folded) for name in _chunk_names(chunk)]
    return tuple(names[:_MOST_NAMES])


def _chunk_names(chunk: str) -> Iterator[CitedName]:
    """Yield names that only commas separate. A piece of initials alone belongs to the name before it."""
    pieces = [parts for parts in map(_parts, chunk.split(",")) if parts]
    if len(pieces) == 2 and _is_last_then_given(*pieces):
        yield CitedName(_letters(pieces[0][-1]), _initials(pieces[1]))
        return
    pending: CitedName | None = None
    for parts in pieces:
        if all(len(part) == 1 for part in parts):
            yield from (CitedName(pending.last, _initials(parts)),) if pending else ()
            pending = None
            continue
        if pending:
            yield pending
        pending = _name(parts)
        if pending.initials:
            yield pending
            pending = None
    if pending:
        yield pending


def _is_last_then_given(first: list[str], second: list[str]) -> bool:
    """Return True for BibTeX's `Freund, Yoav`: a bare last name, then given names."""
    return len(first) == 1 and len(first[0]) > 1 and len(second) <= 2 and len(second[0]) > 1


def _parts(piece: str) -> list[str]:
    """Return the words of a name without particles and suffixes, which citations often leave out."""
    parts = _PART.findall(piece)
    return [part for part in parts if part not in _LEFT_OUT] or parts


def _name(parts: list[str]) -> CitedName:
    if len(parts[-1]) == 1:  # Schapire R E
        at = next(i for i, part in enumerate(parts) if len(part) > 1)
        return CitedName(_letters(parts[at]), _initials(parts[:at] + parts[at + 1 :]))
    return CitedName(_letters(parts[-1]), _initials(parts[:-1]))


def _initials(parts: list[str]) -> str:
    return "".join(part[0] for part in parts)


def _letters(last: str) -> str:
    return "".join(filter(str.isalpha, last))

"""Author lists in the many ways that they are printed, as last names with initials."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from wayhound.text.folding import fold

_TOGETHER = re.compile(r"\s*(?:;|&|\band\b|\bet al\b\.?|\bu\. ?a\.(?=\s|$))\s*")
_ROLE = re.compile(r"\(?\b(?:eds?|editors?|hrsg)\b\.?\)?")
_PART = re.compile(r"[^\W\d_]+(?:['’`-][^\W\d_]+)*")
_VANCOUVER = re.compile(r"(?<=\w\s)[A-Z]{2,3}(?=\s*(?:[,;.&]|$))")  # Schapire RE
_NOT_NAMES = frozenset("jr sr ii iii iv de la las los van von der den di da dos del le du ter ten".split())
_MOST_NAMES = 60  # of one citation: what is longer is no author list


@dataclass(frozen=True, slots=True)
class Name:
    """A person as citations name them: the last name in plain letters, and initials as far as given."""

    last: str
    initials: str = ""


def read_names(text: str) -> tuple[Name, ...]:
    """The names of an author list: `R. E. Schapire`, `Schapire, R.E.`, `Schapire, Robert` or mixtures.

    >>> [name.last for name in read_names("blum, a., furst, m., & rudich, s.")]
    ['blum', 'furst', 'rudich']
    """
    spread = text if text.isupper() else _VANCOUVER.sub(lambda found: " ".join(found[0]), text)
    folded = _ROLE.sub(" ", fold(spread))
    names = [name for chunk in _TOGETHER.split(folded) for name in _chunk_names(chunk)]
    return tuple(names[:_MOST_NAMES])


def _chunk_names(chunk: str) -> Iterator[Name]:
    """Names that only commas part. A piece of nothing but initials belongs to the name before it."""
    pieces = [parts for parts in map(_parts, chunk.split(",")) if parts]
    if len(pieces) == 2 and _is_last_then_given(*pieces):
        yield Name(_plain(pieces[0][-1]), _initials(pieces[1]))
        return
    pending: Name | None = None
    for parts in pieces:
        if all(len(part) == 1 for part in parts):
            yield from (Name(pending.last, _initials(parts)),) if pending else ()
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
    """BibTeX's `Freund, Yoav`: a bare last name, then given names."""
    return len(first) == 1 and len(first[0]) > 1 and len(second) <= 2 and len(second[0]) > 1


def _parts(piece: str) -> list[str]:
    """The words of a name without particles and suffixes, which citations leave out as they like."""
    parts = _PART.findall(piece)
    return [part for part in parts if part not in _NOT_NAMES] or parts


def _name(parts: list[str]) -> Name:
    if len(parts[-1]) == 1:  # Schapire R E
        at = next(i for i, part in enumerate(parts) if len(part) > 1)
        return Name(_plain(parts[at]), _initials(parts[:at] + parts[at + 1 :]))
    return Name(_plain(parts[-1]), _initials(parts[:-1]))


def _initials(parts: list[str]) -> str:
    return "".join(part[0] for part in parts)


def _plain(last: str) -> str:
    return "".join(filter(str.isalpha, last))

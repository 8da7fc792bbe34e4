"""How a text points to its references: by number, by label, or by author and year."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from trailmark.extract.papers.reference_cut import RawReference

_DASH = "-–—−"
_NUMBERS = rf"\d{{1,3}}(?:\s?[,;{_DASH}]\s?\d{{1,3}})*"
_IN_BRACKETS = re.compile(rf"\[\s?({_NUMBERS})(?:\s?,\s[^\[\]\d][^\[\]]{{0,40}})?\s?\]")
_IN_PARENTHESES = re.compile(rf"(?<=[a-z.,] )\(({_NUMBERS})\)")
_BARE = re.compile(_NUMBERS)
_RANGE = re.compile(rf"(\d+)\s?[{_DASH}]\s?(\d+)|(\d+)")
_BRACKETED = re.compile(r"\[([^\[\]]{2,200})\]")
_NOT_A_CALLOUT = re.compile(
    r"(?:\b[A-Za-z]|[=∈⊂(,×+−-]|\b(?:eq|eqs|equations?|fig|figs|figures?|sections?)\.?)\s*$", re.IGNORECASE
)

_PARTICLE = r"(?:(?:van|von|de|der|den|del|della|di|da|dos|du|la|le|ter|el|al|bin|Van|Von|De|Di|La|Le|Del)\s)"
_NAME = rf"{_PARTICLE}{{0,3}}(?:[dDlLO]['’])?[^\W\d_a-z][^\W\d_]*(?:[-'’][^\W\d_]+)*"
_YEAR = r"(?:1[89]|20)\d\d[a-z]?"
_AUTHOR_YEAR = re.compile(
    rf"(?P<names>{_NAME}(?:,\s{_NAME}){{0,6}}(?:,?\s(?:and|&|und|et|y|e)\s{_NAME})?)"
    rf"(?P<others>,?\s(?:et\.?\sal\b\.?|and\s(?:others|colleagues)))?(?:['’]s)?"
    rf",?\s?[(\[]?\s?(?P<years>{_YEAR}(?:(?:\s?,\s?|\s?;\s?|\sand\s)(?:{_YEAR}|[a-z]\b))*)"
)
_SPLIT_NAMES = re.compile(r",?\s(?:and|&|und|et|y|e)\s|,\s")
_YEARS = re.compile(rf"{_YEAR}|\b[a-z]\b")
_MOST_IN_RANGE = 30


@dataclass(frozen=True, slots=True)
class Callout:
    """A place in the text that points to references, by their indices."""

    start: int
    end: int
    references: tuple[int, ...]


def find_callouts(
    text: str, superscripts: Sequence[tuple[int, int]], references: Sequence[RawReference]
) -> list[Callout]:
    """All call-outs in the way that this document has them, in reading order."""
    labels = {reference.label: i for i, reference in enumerate(references) if reference.label}
    if labels and not all(label.isdigit() for label in labels):
        found = [*_by_label(text, labels), *_by_author_year(text, references)]
    elif labels:
        found = _by_number(text, superscripts, labels, references)
    else:
        counted = {str(i + 1): i for i in range(len(references))}
        by_names, by_number = (
            list(_by_author_year(text, references)),
            list(_numbers(text, _IN_BRACKETS, counted)),
        )
        found = by_names if len(by_names) >= len(by_number) else by_number
    return sorted(found, key=lambda callout: callout.start)


def _by_number(
    text: str,
    superscripts: Sequence[tuple[int, int]],
    labels: dict[str, int],
    references: Sequence[RawReference],
) -> list[Callout]:
    """In brackets; where there are few, above the line, or by author in spite of the numbers.

    Parentheses come last, since equations have them, too.
    """
    ways = (
        list(_numbers(text, _IN_BRACKETS, labels)),
        list(_raised(text, superscripts, labels)),
        list(_by_author_year(text, references)),
        list(_numbers(text, _IN_PARENTHESES, labels)),
    )
    enough = max(2, len(labels) // 3)
    return next((way for way in ways if len(_cited(way)) >= enough), max(ways, key=len))


def _cited(callouts: list[Callout]) -> set[int]:
    return {reference for callout in callouts for reference in callout.references}


def _numbers(text: str, pattern: re.Pattern[str], labels: dict[str, int]) -> Iterator[Callout]:
    for found in pattern.finditer(text):
        before = text[max(0, found.start() - 12) : found.start()]
        if _NOT_A_CALLOUT.search(before):
            continue
        if cited := _expanded(found[1], labels):
            yield Callout(found.start(), found.end(), cited)


def _raised(text: str, superscripts: Sequence[tuple[int, int]], labels: dict[str, int]) -> Iterator[Callout]:
    """Numbers above the line that follow a word; after a single letter they are powers."""
    for start, end in superscripts:
        if not _BARE.fullmatch(text[start:end]) or not re.search(
            r"[^\W\d_]{3}[\"”’')\]]?[.,;:]?\s?$", text[max(0, start - 12) : start]
        ):
            continue
        if cited := _expanded(text[start:end], labels):
            yield Callout(start, end, cited)


def _expanded(numbers: str, labels: dict[str, int]) -> tuple[int, ...]:
    """The references of "3, 5-7"; none when one of them does not exist: then it is something else."""
    wanted: list[str] = []
    for first, last, single in _RANGE.findall(numbers):
        if single:
            wanted.append(str(int(single)))
        elif 0 < int(last) - int(first) <= _MOST_IN_RANGE:
            wanted += [str(number) for number in range(int(first), int(last) + 1)]
        else:
            return ()
    return (
        tuple(dict.fromkeys(labels[number] for number in wanted)) if all(n in labels for n in wanted) else ()
    )


def _by_label(text: str, labels: dict[str, int]) -> Iterator[Callout]:
    """[McC00, KLM96] and [Dechter, 2003; Pearl, 1988]: what stands in brackets, whole or in parts."""
    plain = {_plain(label): i for label, i in labels.items()}
    for found in _BRACKETED.finditer(text):
        parts = [_plain(part) for part in re.split(r";", found[1])]
        if not any(part in plain for part in parts):
            parts = [_plain(part) for part in re.split(r"[;,]", found[1])]
        cited = tuple(dict.fromkeys(plain[part] for part in parts if part in plain))
        if cited:
            yield Callout(found.start(), found.end(), cited)


def _plain(text: str) -> str:
    """Without accents, case, blanks and dots, so that spellings of one name meet."""
    folded = unicodedata.normalize("NFKD", text).casefold()
    return "".join(letter for letter in folded if letter.isalnum() or letter in "+*")


def _by_author_year(text: str, references: Sequence[RawReference]) -> Iterator[Callout]:
    heads = [_head(reference.text) for reference in references]
    by_year: dict[str, list[int]] = {}
    for i, reference in enumerate(references):
        for year in dict.fromkeys(re.findall(rf"(?<!\d){_YEAR}(?![\d])", reference.text)):
            by_year.setdefault(year, []).append(i)
    for found in _AUTHOR_YEAR.finditer(text):
        names = [_plain(name) for name in _SPLIT_NAMES.split(found["names"])]
        cited = [
            _best(names, bool(found["others"]), by_year.get(year, []), heads)
            for year in _spelled_out(found["years"])
        ]
        known = tuple(dict.fromkeys(i for i in cited if i is not None))
        if known:
            closing = text[found.end() : found.end() + 1] in {")", "]"} and found[0].count("(") + found[
                0
            ].count("[")
            yield Callout(found.start(), found.end() + bool(closing), known)


def _head(text: str) -> list[str]:
    """The words of a reference that may be names of authors: those before the year, or the first ones."""
    year = re.search(rf"[(\[,.\s]{_YEAR}", text)
    end = year.start() if year and year.start() > 3 else len(text)
    return [_plain(word) for word in re.findall(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*", text[: min(end, 250)])]


def _spelled_out(years: str) -> list[str]:
    """ "2005a, b" is 2005a and 2005b."""
    spelled: list[str] = []
    for year in _YEARS.findall(years):
        spelled.append(year if len(year) > 1 else spelled[-1][:4] + year)
    return spelled


def _best(names: list[str], others: bool, candidates: list[int], heads: list[list[str]]) -> int | None:
    """The reference that has most of the names, best of all in front; None where it has not even one."""
    scored = [(_score(names, others, heads[i]), -i) for i in candidates]
    score, negative = max(scored, default=(0.0, 0))
    return -negative if score > 0 else None


def _score(names: list[str], others: bool, head: list[str]) -> float:
    """Names found count, and nearness to the front; the first may be no name, only a capital word."""
    places = [_place(name, head) for name in names]
    found = [place for place in places if place is not None]
    if not found or (len(names) > 1 and len(found) < len(names) - 1):
        return 0.0
    nearness = 1.0 / (1 + min(found))
    length = 0.1 if others == (len(head) > 6) else 0.0
    return len(found) + nearness + length - 0.5 * (len(names) - len(found))


def _place(name: str, head: list[str]) -> int | None:
    if name in head:
        return head.index(name)
    for width in (2, 3):  # van der Maaten
        for i in range(len(head) - width + 1):
            if "".join(head[i : i + width]) == name:
                return i
    return None

"""How a text points to its references: by number, by label, or by author and year."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from wayhound.papers.reference_cut import RawReference
from wayhound.text.folding import letters_and_digits
from wayhound.text.numbers import RECENT_YEAR
from wayhound.text.person_names import CAPITALISED_PARTICLES, PARTICLE_PATTERN

_CAPITALISED = "|".join(sorted(word.capitalize() for word in CAPITALISED_PARTICLES))
_PARTICLE = rf"(?:(?:{PARTICLE_PATTERN}|{_CAPITALISED})\s)"
_NAME = rf"{_PARTICLE}{{0,3}}(?:[dDlLO]['’])?[^\W\d_a-z][^\W\d_]*(?:[-'’][^\W\d_]+)*"
_AND = r"(?:and|&|und|et|y|e)"
_YEAR = rf"{RECENT_YEAR}[a-z]?"
_CALLOUT = re.compile(
    rf"(?<!\w)(?P<names>{_NAME}(?:,\s{_NAME}){{0,6}}(?:,?\s{_AND}\s{_NAME})?)"
    rf"(?P<others>,?\s(?:et\.?\sal\b\.?|and\s(?:others|colleagues)))?(?:['’]s)?"
    rf",?\s?(?P<open>[(\[])?\s?(?P<years>{_YEAR}(?:(?:\s?,\s?|\s?;\s?|\sand\s)(?:{_YEAR}|[a-z]\b))*)"
    r"(?P<close>(?(open)[)\]]?))"
)
_SPLIT_NAMES = re.compile(rf",?\s{_AND}\s|,\s")
_POSSESSIVE = re.compile(r"['’]s$")
_YEARS = re.compile(rf"{_YEAR}|\b[a-z]\b")
_YEAR_OF_REFERENCE = re.compile(rf"(?<!\d){_YEAR}(?!\d)")
_WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")
_TITLE_BEGINS = re.compile(rf"(?<![\w'’-])(?!{_AND}\s|{_PARTICLE}|al\b|eds?\b)[^\W\d_A-Z]{{2,}}|{_YEAR}")
_HEAD = 250  # characters of a reference in which its authors are


def folded(text: str) -> str:
    """Without accents, case, blanks and dots, so that spellings of one name meet."""
    return letters_and_digits(text, keep="+*")


@dataclass(frozen=True, slots=True)
class _Head:
    """The front of a reference: words that may be names, and how many authors there seem to be."""

    words: list[str]
    n_authors: int


class AuthorYears:
    """The references of a paper, by the years in them."""

    def __init__(self, references: Sequence[str]) -> None:
        self._heads = [_head(text) for text in references]
        self._by_year: dict[str, list[int]] = {}
        for i, text in enumerate(references):
            for year in dict.fromkeys(_YEAR_OF_REFERENCE.findall(text)):
                self._by_year.setdefault(year, []).append(i)

    def find(self, text: str) -> Iterator[tuple[int, int, tuple[int, ...]]]:
        """Start and end of each call-out, and the references that it means."""
        for found in _CALLOUT.finditer(text):
            names = [folded(_POSSESSIVE.sub("", name)) for name in _SPLIT_NAMES.split(found["names"])]
            meant = [self._best(names, bool(found["others"]), year) for year in _spelled_out(found["years"])]
            cited = tuple(dict.fromkeys(i for i in meant if i is not None))
            if cited:
                yield found.start(), found.end(), cited

    def _best(self, names: list[str], others: bool, year: str) -> int | None:
        """The reference of the year that has most of the names; None where there is none with any."""
        scored = [(_score(names, others, self._heads[i]), -i) for i in self._by_year.get(year, [])]
        score, negative = max(scored, default=(0.0, 0))
        return -negative if score > 0 else None


def _head(text: str) -> _Head:
    year = re.search(rf"[(\[,.\s]{_YEAR}", text)
    end = year.start() if year and year.start() > 3 else len(text)
    words = [folded(word) for word in _WORD.findall(text[: min(end, _HEAD)])]
    title = _TITLE_BEGINS.search(text, 0, _HEAD)
    authors = _SPLIT_NAMES.split(text[: title.start() if title else _HEAD])
    return _Head(words, sum(bool(re.search(r"[^\W\d_]{2}", author)) for author in authors))


def _spelled_out(years: str) -> list[str]:
    """Both 2005a and 2005b for "2005a, b"."""
    spelled: list[str] = []
    for year in _YEARS.findall(years):
        spelled.append(year if len(year) > 1 else spelled[-1][:4] + year)
    return spelled


def _score(names: list[str], others: bool, head: _Head) -> float:
    """Names found, the first one near the front, as many authors as are meant.

    The first name may be none, but a capital word before it; all others must be there.
    """
    places = [_place(name, head.words) for name in names]
    found = [place for place in places if place is not None]
    if not found or (len(names) > 1 and len(found) < len(names) - 1):
        return 0.0
    agrees = head.n_authors >= len(names) + 2 if others else head.n_authors == len(names)
    return len(found) + 1.0 / (1 + found[0]) + 0.3 * agrees - 0.5 * (len(names) - len(found))


def _place(name: str, words: list[str]) -> int | None:
    if name in words:
        return words.index(name)
    for width in (2, 3):  # van der Maaten
        for i in range(len(words) - width + 1):
            if "".join(words[i : i + width]) == name:
                return i
    return None


_DASH = "–—−-"
_NUMBERS = rf"\d{{1,3}}(?:\s?[,;{_DASH}]\s?\d{{1,3}})*"
_IN_BRACKETS = re.compile(rf"\[\s?({_NUMBERS})(?:\s?,\s[^\[\]\d][^\[\]]{{0,40}})?\s?\]")
_IN_PARENTHESES = re.compile(rf"(?<=[a-z.,] )\(({_NUMBERS})\)")
_BARE = re.compile(_NUMBERS)
_RANGE = re.compile(rf"(\d+)\s?[{_DASH}]\s?(\d+)|(\d+)")
_BRACKETED = re.compile(r"\[([^\[\]]{2,200})\]")
_NOT_A_CALLOUT = re.compile(
    r"(?:\b[A-Za-z]|[=∈⊂×+−]|\b(?:eq|eqs|equations?|fig|figs|figures?|sections?)\.?)\s*$", re.IGNORECASE
)

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
    """In brackets, above the line, by author in spite of the numbers, or in parentheses.

    The way that reaches most references is taken; parentheses count half, since equations have them, too.
    """
    ways = {
        1.0: list(_numbers(text, _IN_BRACKETS, labels)),
        0.9: list(_raised(text, superscripts, labels)),
        0.8: list(_by_author_year(text, references)),
        0.5: list(_numbers(text, _IN_PARENTHESES, labels)),
    }
    return ways[max(ways, key=lambda weight: weight * len(_cited(ways[weight])))]


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
    plain = {folded(label): i for label, i in labels.items()}
    for found in _BRACKETED.finditer(text):
        parts = [folded(part) for part in re.split(r";", found[1])]
        if not any(part in plain for part in parts):
            parts = [folded(part) for part in re.split(r"[;,]", found[1])]
        cited = tuple(dict.fromkeys(plain[part] for part in parts if part in plain))
        if cited:
            yield Callout(found.start(), found.end(), cited)


def _by_author_year(text: str, references: Sequence[RawReference]) -> Iterator[Callout]:
    known = AuthorYears([reference.text for reference in references])
    for start, end, cited in known.find(text):
        yield Callout(start, end, cited)

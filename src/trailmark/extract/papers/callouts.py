"""How a text points to its references: by number, by label, or by author and year."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from trailmark.extract.papers.author_year import AuthorYears, folded
from trailmark.extract.papers.reference_cut import RawReference

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

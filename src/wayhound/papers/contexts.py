"""Citation contexts: the sentences in which a paper cites its references.

A call-out points to a reference by number, by label, or by author and year.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from wayhound.documents.document import Box, Document, Line
from wayhound.documents.flow import Flow, flow, whole_words
from wayhound.papers.reference_cut import RawReference
from wayhound.papers.sections import Sections, find_sections
from wayhound.text.numbers import RECENT_YEAR
from wayhound.text.person_names import CAPITALISED_PARTICLES, PARTICLE_PATTERN
from wayhound.text.words import letters_and_digits

_CAPITALISED = "|".join(sorted(word.capitalize() for word in CAPITALISED_PARTICLES))
_PARTICLE = rf"(?:(?:{PARTICLE_PATTERN}|{_CAPITALISED})\s)"
_NAME = rf"{_PARTICLE}{{0,3}}(?:[dDlLO]['’])?[^\W\d_a-z][^\W\d_]*+(?:[-'’][^\W\d_]++){{0,9}}+"
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
_HEAD = 250  # characters of a reference that contain its authors
_MOST_ALIKE = 5_000  # references with the same name that are compared; no true list has as many


@dataclass(frozen=True, slots=True)
class _Head:
    """The beginning of a reference: where words that may be names are, and the apparent number of authors.

    Two or three words in a row are also in `places` as one, as in van der Maaten.
    """

    places: Mapping[str, int]
    n_authors: int


class AuthorYearFinder:
    """Finds call-outs by author and year, with the references of a paper indexed by name."""

    def __init__(self, references: Sequence[str]) -> None:
        self._heads = [_head(text) for text in references]
        self._years = [frozenset(_YEAR_OF_REFERENCE.findall(text)) for text in references]
        self._named: dict[str, list[int]] = {}
        for i, head in enumerate(self._heads):
            for name in head.places:
                alike = self._named.setdefault(name, [])
                if len(alike) < _MOST_ALIKE:
                    alike.append(i)

    def find(self, text: str) -> Iterator[tuple[int, int, tuple[int, ...]]]:
        """Yield start and end of each call-out, and the indices of its references."""
        for match in _CALLOUT.finditer(text):
            names = [
                letters_and_digits(_POSSESSIVE.sub("", name)) for name in _SPLIT_NAMES.split(match["names"])
            ]
            best = [self._best(names, bool(match["others"]), year) for year in _spelled_out(match["years"])]
            cited = tuple(dict.fromkeys(i for i in best if i is not None))
            if cited:
                yield match.start(), match.end(), cited

    def _best(self, names: list[str], others: bool, year: str) -> int | None:
        """Return the reference of that year with most of the names; None if none has any."""
        named = {i for name in names for i in self._named.get(name, ())}
        candidates = (i for i in named if year in self._years[i])
        scored = [(_score(names, others, self._heads[i]), -i) for i in candidates]
        score, negative = max(scored, default=(0.0, 0))
        return -negative if score > 0 else None


def _head(text: str) -> _Head:
    year = re.search(rf"[(\[,.\s]{_YEAR}", text)
    end = year.start() if year and year.start() > 3 else len(text)
    words = [letters_and_digits(word) for word in _WORD.findall(text[: min(end, _HEAD)])]
    title = _TITLE_BEGINS.search(text, 0, _HEAD)
    authors = _SPLIT_NAMES.split(text[: title.start() if title else _HEAD])
    return _Head(_places(words), sum(bool(re.search(r"[^\W\d_]{2}", author)) for author in authors))


def _places(words: Sequence[str]) -> dict[str, int]:
    """Return the first place of each word, and of each two or three words in a row that are no word by themselves."""
    places: dict[str, int] = {}
    for width in (1, 2, 3):
        for first in range(len(words) - width + 1):
            places.setdefault("".join(words[first : first + width]), first)
    return places


def _spelled_out(years: str) -> list[str]:
    """Return 2005a and 2005b for "2005a, b"."""
    spelled: list[str] = []
    for year in _YEARS.findall(years):
        spelled.append(year if len(year) > 1 else spelled[-1][:4] + year)
    return spelled


def _score(names: list[str], others: bool, head: _Head) -> float:
    """Score by names that occur, how early the first does, and whether the number of authors agrees.

    The first of `names` may be a capitalised word before the names; all others must occur.
    """
    present = [place for name in names if (place := head.places.get(name)) is not None]
    if not present or (len(names) > 1 and len(present) < len(names) - 1):
        return 0.0
    agrees = head.n_authors >= len(names) + 2 if others else head.n_authors == len(names)
    return len(present) + 1.0 / (1 + present[0]) + 0.3 * agrees - 0.5 * (len(names) - len(present))


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

_MAX_RANGE = 30


@dataclass(frozen=True, slots=True)
class Callout:
    """A range of the text that points to references, given by their indices."""

    start: int
    end: int
    references: tuple[int, ...]


def find_callouts(
    text: str, superscripts: Sequence[tuple[int, int]], references: Sequence[RawReference]
) -> list[Callout]:
    """Return the call-outs in the style of this document, in reading order."""
    labels = {reference.label: i for i, reference in enumerate(references) if reference.label}
    if labels and not all(label.isdigit() for label in labels):
        callouts = [*_by_label(text, labels), *_by_author_year(text, references)]
    elif labels:
        callouts = _by_number(text, superscripts, labels, references)
    else:
        counted = {str(i + 1): i for i in range(len(references))}
        by_names, by_number = (
            list(_by_author_year(text, references)),
            list(_numbers(text, _IN_BRACKETS, counted)),
        )
        callouts = by_names if len(by_names) >= len(by_number) else by_number
    return sorted(callouts, key=lambda callout: callout.start)


def _by_number(
    text: str,
    superscripts: Sequence[tuple[int, int]],
    labels: dict[str, int],
    references: Sequence[RawReference],
) -> list[Callout]:
    """Return call-outs in brackets, as superscripts, by author in spite of the numbers, or in parentheses.

    The style that reaches most references is taken; parentheses count half, since equations have them, too.
    """
    styles = {
        1.0: list(_numbers(text, _IN_BRACKETS, labels)),
        0.9: list(_raised(text, superscripts, labels)),
        0.8: list(_by_author_year(text, references)),
        0.5: list(_numbers(text, _IN_PARENTHESES, labels)),
    }
    return styles[max(styles, key=lambda weight: weight * len(_cited(styles[weight])))]


def _cited(callouts: list[Callout]) -> set[int]:
    return {reference for callout in callouts for reference in callout.references}


def _numbers(text: str, pattern: re.Pattern[str], labels: dict[str, int]) -> Iterator[Callout]:
    for match in pattern.finditer(text):
        before = text[max(0, match.start() - 12) : match.start()]
        if _NOT_A_CALLOUT.search(before):
            continue
        if cited := _expanded(match[1], labels):
            yield Callout(match.start(), match.end(), cited)


def _raised(text: str, superscripts: Sequence[tuple[int, int]], labels: dict[str, int]) -> Iterator[Callout]:
    """Yield superscript numbers that follow a word; after a single letter they are powers."""
    for start, end in superscripts:
        if not _BARE.fullmatch(text[start:end]) or not re.search(
            r"[^\W\d_]{3}[\"”’')\]]?[.,;:]?\s?$", text[max(0, start - 12) : start]
        ):
            continue
        if cited := _expanded(text[start:end], labels):
            yield Callout(start, end, cited)


def _expanded(numbers: str, labels: dict[str, int]) -> tuple[int, ...]:
    """Return the references of "3, 5-7"; none if one of them does not exist, since then it is no call-out."""
    wanted: list[str] = []
    for first, last, single in _RANGE.findall(numbers):
        if single:
            wanted.append(str(int(single)))
        elif 0 < int(last) - int(first) <= _MAX_RANGE:
            wanted += [str(number) for number in range(int(first), int(last) + 1)]
        else:
            return ()
    return (
        tuple(dict.fromkeys(labels[number] for number in wanted)) if all(n in labels for n in wanted) else ()
    )


def _by_label(text: str, labels: dict[str, int]) -> Iterator[Callout]:
    """Yield call-outs by label in brackets: [McC00, KLM96] and [Dechter, 2003; Pearl, 1988]."""
    by_key = {_label_key(label): i for label, i in labels.items()}
    for match in _BRACKETED.finditer(text):
        parts = [_label_key(part) for part in match[1].split(";")]
        if not any(part in by_key for part in parts):
            parts = [_label_key(part) for part in re.split(r"[;,]", match[1])]
        cited = tuple(dict.fromkeys(by_key[part] for part in parts if part in by_key))
        if cited:
            yield Callout(match.start(), match.end(), cited)


def _label_key(label: str) -> str:
    return letters_and_digits(label, keep="+*")


def _by_author_year(text: str, references: Sequence[RawReference]) -> Iterator[Callout]:
    finder = AuthorYearFinder([reference.text for reference in references])
    for start, end, cited in finder.find(text):
        yield Callout(start, end, cited)


_END = re.compile(r"[.!?][\"”’')\]]*\s+(?=[\"“‘'(\[]*[^\W\d_a-z])|[.!?][\"”’')\]]*\s+(?=\d+\s[A-Z])")
_ABBREVIATION = re.compile(
    r"\b(?:e\.g|i\.e|al|cf|figs?|eqs?|eqn|secs?|sect|refs?|vs|dr|prof|resp|nos?|pp?|vols?|approx|mrs?|ms|st|thm|"
    r"def|chap|tab|viz|ca|jr|inc|proc|conf|int|univ|dept|eds?|[a-z])$",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"\d{1,2}(?:\.\d{1,2}){0,3}\.?\s+[^\W\d_a-z]")
_MAX_LENGTH = 700  # letters of a sentence; longer ones are due to errors of extraction


def sentence_starts(flow: Flow) -> list[int]:
    """Return the offsets of `flow.text` at which sentences begin; a heading is a sentence of its own."""
    text = _without(flow.text, flow.superscripts)
    ends = (
        match.end()
        for match in _END.finditer(text)
        if not _ABBREVIATION.search(text[max(0, match.start() - 8) : match.start()])
    )
    return sorted({0, *ends, *_around_headings(flow)})


def sentence_around(flow: Flow, starts: list[int], start: int, end: int) -> tuple[int, int]:
    """Return the range of the sentence that contains the characters [start, end), shortened if too long."""
    at = bisect_right(starts, start) - 1
    first = starts[at]
    following = bisect_right(starts, end - 1)
    last = starts[following] if following < len(starts) else len(flow.text)
    if last - first > _MAX_LENGTH:
        first = max(first, _blank_near(flow.text, start - _MAX_LENGTH // 2))
        last = min(last, _blank_near(flow.text, end + _MAX_LENGTH // 2))
    return first, last


def _blank_near(text: str, at: int) -> int:
    blank = text.find(" ", max(0, at))
    return len(text) if blank < 0 else blank + 1


def _without(text: str, ranges: Iterable[tuple[int, int]]) -> str:
    """Return the text with superscripts blanked out, so that they do not hide the end of a sentence."""
    letters = list(text)
    for start, end in ranges:
        letters[start:end] = " " * (end - start)
    return "".join(letters)[: len(text)]


def _around_headings(flow: Flow) -> Iterable[int]:
    usual, before, heading = _usual_size(flow.lines), Line(""), False
    for line, start, after in zip(flow.lines, flow.offsets, [*flow.offsets, len(flow.text)][1:], strict=True):
        short = len(line.text) < 80 and not line.text.endswith((".", ",", ";", "-"))
        large = line.box is not None and line.size > 1.08 * usual
        goes_on = heading and line.bold and (line.bold, line.size) == (before.bold, before.size)
        heading = short and (large or _is_numbered(line, before) or goes_on)
        if heading or not line.text.strip():
            yield start
            yield after
        before = line


def _is_numbered(line: Line, before: Line) -> bool:
    """Return True for `3.3 A classification example`, in bold or after the end of a sentence."""
    return bool(_NUMBERED.match(line.text)) and (line.bold or before.text.endswith((".", "!", "?", ":")))


def _usual_size(lines: Sequence[Line]) -> float:
    """Return the median type size by letters: figures may have more lines than the text, not more letters."""
    sizes = sorted((line.size, len(line.text)) for line in lines)
    half, total = sum(letters for _, letters in sizes) / 2, 0
    for size, letters in sizes:
        total += letters
        if total >= half:
            return size
    return 0.0


@dataclass(frozen=True, slots=True)
class CitationContext:
    """A call-out to `references[reference]`: it is `sentence[start:end]`, in a line with this page and box."""

    reference: int
    sentence: str
    start: int
    end: int
    page: int = 1
    box: Box | None = None

    @property
    def callout(self) -> str:
        return self.sentence[self.start : self.end]


def find_contexts(
    document: Document, references: Sequence[RawReference], sections: Sections | None = None
) -> tuple[CitationContext, ...]:
    """Return a context for each call-out in abstract and body, and for each reference that it points to."""
    if not references:
        return ()
    sections = sections or find_sections(document)
    words = whole_words(document.lines)
    lines = [document.lines[i] for part in (sections.abstract, *sections.body) for i in part]
    return tuple(_contexts(lines, references, words))


def _contexts(
    lines: list[Line], references: Sequence[RawReference], words: frozenset[str]
) -> Iterator[CitationContext]:
    running = flow(lines, words)
    starts = sentence_starts(running)
    for callout in find_callouts(running.text, running.superscripts, references):
        first, last = sentence_around(running, starts, callout.start, callout.end)
        sentence = running.text[first:last].rstrip()
        line = running.line_at(callout.start)
        for reference in callout.references:
            yield CitationContext(
                reference, sentence, callout.start - first, callout.end - first, line.page, line.box
            )

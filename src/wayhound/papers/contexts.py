"""Citation contexts: the sentences in which a paper cites its references."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from wayhound.documents.document import Box, Document, Line
from wayhound.documents.flow import Flow, flow, whole_words
from wayhound.papers.callouts import find_callouts
from wayhound.papers.reference_cut import RawReference
from wayhound.papers.sections import Sections, find_sections

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
    for line, start, after in zip(flow.lines, flow.offsets, [*flow.offsets[1:], len(flow.text)], strict=True):
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

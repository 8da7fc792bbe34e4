"""Citation contexts: what a paper says where it cites, which tells how it uses the cited work."""

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
_LONGEST = 700  # letters; beyond that, extraction has glued things together


def sentence_starts(flow: Flow) -> list[int]:
    """Offsets of `flow.text` at which sentences begin; headings stand by themselves."""
    text = _without(flow.text, flow.superscripts)
    ends = (
        found.end()
        for found in _END.finditer(text)
        if not _ABBREVIATION.search(text[max(0, found.start() - 8) : found.start()])
    )
    return sorted({0, *ends, *_around_headings(flow)})


def sentence_around(flow: Flow, starts: list[int], start: int, end: int) -> tuple[int, int]:
    """The range of the sentence that holds the characters from `start` up to `end`, cut if too long."""
    at = bisect_right(starts, start) - 1
    first = starts[at]
    following = bisect_right(starts, end - 1)
    last = starts[following] if following < len(starts) else len(flow.text)
    if last - first > _LONGEST:
        first = max(first, _blank_near(flow.text, start - _LONGEST // 2))
        last = min(last, _blank_near(flow.text, end + _LONGEST // 2))
    return first, last


def _blank_near(text: str, at: int) -> int:
    blank = text.find(" ", max(0, at))
    return len(text) if blank < 0 else blank + 1


def _without(text: str, ranges: Iterable[tuple[int, int]]) -> str:
    """Call-outs above the line blanked out, so that they do not hide the end of a sentence."""
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
    """`3.3 A classification example`, in bold or after the end of a sentence."""
    return bool(_NUMBERED.match(line.text)) and (line.bold or before.text.endswith((".", "!", "?", ":")))


def _usual_size(lines: Sequence[Line]) -> float:
    """Half of the letters are no larger; figures may have more lines than the text, but not more letters."""
    sizes = sorted((line.size, len(line.text)) for line in lines)
    half, seen = sum(letters for _, letters in sizes) / 2, 0
    for size, letters in sizes:
        seen += letters
        if seen >= half:
            return size
    return 0.0


@dataclass(frozen=True, slots=True)
class CitationContext:
    """A call-out to `references[reference]`, which is `sentence[start:end]`, and where its line stands."""

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
    """Every call-out of abstract and body with its sentence; a range gives one for each of its references."""
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

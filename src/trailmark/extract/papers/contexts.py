"""Citation contexts: what a paper says where it cites, which tells how it uses the cited work."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from trailmark.extract.documents.document import Box, Document, Line
from trailmark.extract.documents.flow import flow, words_of
from trailmark.extract.papers.callouts import find_callouts
from trailmark.extract.papers.reference_cut import RawReference
from trailmark.extract.papers.sections import Sections, find_sections
from trailmark.extract.papers.sentences import sentence_around, sentence_starts


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
    words = words_of(document.lines)
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

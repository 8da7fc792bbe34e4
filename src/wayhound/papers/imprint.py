"""The imprint of a paper: where and when it appeared, and its DOI.

It is read from lines that say how to cite the paper, from running heads and footers, and from the lines around the
title; `imprint_lines` reads each of them. Years in URLs, in numbers such as ISSN 1612-7013, and in the abstract are
not those of the paper.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from wayhound.documents.document import Document, Line
from wayhound.documents.flow import flow
from wayhound.papers.fields import read_reference, repair_fields, texts_by_field
from wayhound.papers.imprint_lines import (
    MAX_TEXT,
    announcements,
    begins_with_issue,
    find_year,
    heads_issue,
    is_abbreviated,
    is_meeting,
    is_venue_note,
    is_year_alone,
    names_meeting,
    noted_year,
    read_announced,
    read_dated_meeting,
    read_edited,
    read_issue,
    read_named_meeting,
    read_noted,
    read_printed,
    read_submitted,
    without_people,
    written_as_usual,
)
from wayhound.papers.normalise_fields import normalise_reference
from wayhound.papers.sections import Sections
from wayhound.papers.tokens import FieldModel
from wayhound.record import Span, Value
from wayhound.text.numbers import RECENT_YEAR

CITED_CONFIDENCE, LINE_CONFIDENCE, YEAR_CONFIDENCE = 0.9, 0.8, 0.6

_STOPS = frozenset(".,;:")  # "In . ACM, New York": the name was never filled in
_AFTER_NAME = re.compile(r"\s+Article$|(?<=\))\.?\s*(?:ACM|IEEE|Association for Computing Machinery)$")
_NAMED = frozenset(("journal", "booktitle"))
_OUTER = 2  # lines at the top and at the foot of a page that may be running heads
_PAGES_READ = 2  # from the beginning; a cover page may come first
_MAX_BLOCK = 5  # lines
_DOI = re.compile(r"\b10\.\d{4,9}/[^\s\"<>]{2,200}")
_DOI_CUE = re.compile(r"\bdoi\b|\bdigital object identifier\b", re.IGNORECASE)
_HOW_TO_CITE = re.compile(
    r"\W*(?:please\s+)?(?:acm\s+reference\s+format|(?:how\s+to\s+)?cite\s+(?:this\b[^:]{0,40}|as\b[^:]{0,10})|how\s+to\s+cite\b[^:]{0,30}|"
    r"to\s+cite\s+this\b[^:]{0,30}|(?:suggested|recommended|preferred)\s+citation|citation|"
    r"zitier(?:vorschlag|weise|hinweis|ung)|empfohlene\s+zitier\w+|bitte\s+zitieren\b[^:]{0,30}|"
    r"pour\s+citer\b[^:]{0,30}|c[óo]mo\s+citar\b[^:]{0,30}|(?:original|first)ly\s+published\s+(?:in|as))"
    r"(?:\s*:\s*|\s*$)",
    re.IGNORECASE,
)
# Such as: Lind et al. (2010). On hops. Journal of Examples, 5(50), 2023.
_CITES_ITSELF = re.compile(
    rf"[^\W\d_a-z][\w'’-]+(?:,?\s[^\W\d_a-z][^()\d]{{0,120}}|\s(?:et\sal|and|&)[^()\d]{{0,60}})?,?\s\((?P<year>{RECENT_YEAR})\)[.,:]\s"
)
_NOTHING = re.compile("")
_TEXT_LINES = 40  # of a front without an abstract: what follows is text
_ROW = 3.0  # points
_NEAR = 2  # lines


@dataclass(frozen=True, slots=True)
class _Block:
    """Consecutive lines in the same print, as one text."""

    text: str
    first: Line


def read_imprint(
    document: Document, sections: Sections, model: FieldModel, url: str
) -> dict[str, tuple[Value, ...]]:
    """Return journal or booktitle, volume, number, pages, year and DOI of the paper itself, as far as printed."""
    front = _front(document, sections)
    margins = _margins(document)
    fields = _doi(document, [*front, *margins], sections, url)
    announced = _as_announced(document, sections, model, url)
    candidates = [
        *(_as_cited(block, model, url) for block in _citing_blocks(document, sections)),
        *(
            _values(read_printed(block.text), block.first, url)
            for block in [*_beside_names(document), *_blocks(margins), *_blocks(front)]
        ),
        *(
            _values(read_issue(line.text, is_margin=line.role == "margin"), line, url)
            for line in [*margins, *front]
        ),
        *(_values(read_printed(block.text), block.first, url) for block in _venue_notes(document, sections)),
    ]
    for line in _of_first_page(document, sections):
        candidates += [_values(read(line.text), line, url) for read in (read_noted, read_edited)]
    meetings = list(_meetings(document, margins, sections, url))
    meeting = max(meetings, key=len, default={})
    best = max(candidates, key=len, default={}) or announced or meeting
    if not best.keys() & _NAMED:
        best = meeting | best  # cited with a year, but without the name
    if not best:
        lines = [*front, *margins, *_of_first_page(document, sections)]
        submitted = (_values(read_submitted(line.text), line, url) for line in lines)
        best = next(filter(None, submitted), {})
    best = _with_whole_name(best, [*candidates, *meetings])
    year = (
        {} if "year" in best else _first_year([*front, *margins], url) or _noted_year(document, sections, url)
    )
    return year | best | fields


def _margins(document: Document) -> list[Line]:
    """Return running heads and feet of the first pages: also the outermost lines, which may look like text."""
    found = list[Line]()
    for page in document.pages[:_PAGES_READ]:
        lines = [line for line in page.lines if line.text.strip()]
        outer = sorted(
            (line for line in lines if line.box), key=lambda line: line.box[1] if line.box else 0.0
        )
        edges = {id(line) for line in [*outer[:_OUTER], *outer[-_OUTER:]]}
        found += [line for line in lines if line.role == "margin" or id(line) in edges]
    return found


def _venue_notes(document: Document, sections: Sections) -> Iterator[_Block]:
    """Yield notes of the first page that begin as the name of a meeting, or that are nothing but volume and pages."""
    first = document.lines[0].page if document.lines else 1
    end = sections.references.start or len(document.lines)
    for line in document.lines[:end]:
        if line.page == first and is_venue_note(line.text):
            yield _Block(line.text[:MAX_TEXT], line)


def _with_whole_name(
    best: dict[str, tuple[Value, ...]], candidates: Sequence[dict[str, tuple[Value, ...]]]
) -> dict[str, tuple[Value, ...]]:
    """Return the best reading with the whole name of its journal, if another one has it, not J. Ex."""
    for other in candidates:
        if best.get("booktitle") and other.get("booktitle") and best.get("year") == other.get("year"):
            short, whole = best["booktitle"][0].text, other["booktitle"][0].text
            if names_meeting(whole) and not names_meeting(short):
                return best | {"booktitle": other["booktitle"]}
        if best.get("journal") and other.get("journal") and best.get("volume") == other.get("volume"):
            short, whole = best["journal"][0].text, other["journal"][0].text
            if len(whole) > len(short) and is_abbreviated(short, whole):
                return best | {"journal": other["journal"]}
    return best


def _front(document: Document, sections: Sections) -> list[Line]:
    """Return the lines before the body, without the abstract; without one, only the first: the others may be text."""
    first = document.lines[0].page if document.lines else 1
    end = sections.header.stop if sections.abstract else min(_TEXT_LINES, sections.header.stop)
    return [
        line
        for number, line in enumerate(document.lines[:end])
        if number not in sections.abstract and line.page < first + _PAGES_READ
    ]


def _doi(
    document: Document, before_body: Sequence[Line], sections: Sections, url: str
) -> dict[str, tuple[Value, ...]]:
    """Return the first DOI before the body or in a margin, or else one that is announced on the first pages."""
    first = document.lines[0].page if document.lines else 1
    end = sections.references.start or len(document.lines)
    announced = [
        line
        for line in document.lines[:end]
        if line.page < first + _PAGES_READ and _DOI_CUE.search(line.text)
    ]
    for line in [*before_body, *announced]:
        if match := _DOI.search(line.text):
            return {"doi": (_value(match[0].rstrip(".,;)]"), 0.9, line, url),)}
    return {}


def _citing_blocks(document: Document, sections: Sections) -> Iterator[_Block]:
    """Yield the texts after "Cite as" and the like, on the first pages or the last one."""
    pages = [*document.pages[:_PAGES_READ], *document.pages[_PAGES_READ:][-1:]]
    references = {id(document.lines[i]) for i in sections.references}
    for page in pages:
        lines = [line for line in page.lines if line.text.strip() and id(line) not in references]
        for number, line in enumerate(lines):
            cites_itself = line.role == "margin" and _CITES_ITSELF.match(line.text)
            if cue := _HOW_TO_CITE.match(line.text) or (cites_itself and _NOTHING.match(line.text)):
                following = _continued(lines[number : number + _MAX_BLOCK + 1])
                text = flow([replace(line, text=line.text[cue.end() :], words=()), *following]).text.strip()
                if text:
                    yield _Block(text[:MAX_TEXT], line)


def _continued(lines: Sequence[Line]) -> list[Line]:
    """Return the lines that go on directly below the first one."""
    kept = list[Line]()
    for above, line in pairwise(lines):
        if not _goes_on(above, line) or _HOW_TO_CITE.match(line.text):
            break
        kept.append(line)
    return kept


def _goes_on(above: Line, line: Line) -> bool:
    if (above.page, above.column, above.role) != (line.page, line.column, line.role):
        return False
    if not above.box or not line.box:
        return bool(above.text and line.text)  # a blank line ends a paragraph of text without places
    return abs(above.size - line.size) < 0.6 and 0 < line.box[1] - above.box[1] < 1.7 * max(line.size, 1.0)


def _blocks(lines: Sequence[Line]) -> Iterator[_Block]:
    """Yield every line, and every run of lines that go on directly below each other."""
    for number, line in enumerate(lines):
        yield _Block(line.text[:MAX_TEXT], line)
        if following := _continued(lines[number : number + _MAX_BLOCK]):
            yield _Block(flow([line, *following]).text[:MAX_TEXT], line)


def _beside_names(document: Document) -> Iterator[_Block]:
    """Yield lines that begin with the number of an issue, with one above or beside them that names the journal."""
    for page in document.pages[:_PAGES_READ]:
        lines = [line for line in page.lines if line.text.strip()]
        for number, line in enumerate(lines):
            if not begins_with_issue(line.text):
                continue
            above = lines[max(0, number - _NEAR) : number][::-1]
            beside = [other for other in lines if other.role == "margin" and _is_beside(other, line)]
            named = [other for other in above if heads_issue(other.text)]
            for other in [*beside, *named][:1]:
                yield _Block(f"{other.text}, {line.text}"[:MAX_TEXT], other)


def _is_beside(one: Line, other: Line) -> bool:
    return one is not other and bool(one.box and other.box and abs(one.box[1] - other.box[1]) < _ROW)


def _meetings(
    document: Document, margins: Sequence[Line], sections: Sections, url: str
) -> Iterator[dict[str, tuple[Value, ...]]]:
    """Yield meetings: those that a note of the first page names with their days, and those of running heads."""
    for line in [*_of_first_page(document, sections), *margins]:
        yield _values(read_dated_meeting(line.text), line, url)
    for line in margins:
        yield _values(read_named_meeting(line.text, is_margin=line.role == "margin"), line, url)


def _of_first_page(document: Document, sections: Sections) -> Iterator[Line]:
    first = document.lines[0].page if document.lines else 1
    end = sections.references.start or len(document.lines)
    yield from (line for line in document.lines[:end] if line.page == first)


def _as_cited(block: _Block, model: FieldModel, url: str) -> dict[str, tuple[Value, ...]]:
    """Read a block as the reference that it is."""
    texts = texts_by_field(repair_fields(block.text, read_reference(block.text, model)))
    normal = normalise_reference(texts)
    is_serial = bool(texts.get("journal") or (normal.volume and not is_meeting(normal.venue)))
    venue = _AFTER_NAME.sub("", without_people(normal.venue))
    found = {
        "journal" if is_serial else "booktitle": written_as_usual(venue) if venue[:1] not in _STOPS else "",
        "volume": "" if _counts_pages(block.text, normal.volume) else normal.volume,
        "number": normal.number,
        "pages": "" if _counts_pages(block.text, str(normal.pages)) else str(normal.pages),
        "publisher": normal.publisher,
        "year": str(normal.year or ""),
    }
    if cited := _CITES_ITSELF.match(block.text):
        found["year"] = cited["year"]
    if not found["year"]:
        return {}
    people = [_value(name.full, CITED_CONFIDENCE, block.first, url) for name in normal.authors]
    fields = {
        name: (_value(text, CITED_CONFIDENCE, block.first, url),) for name, text in found.items() if text
    }
    return fields | ({"author": tuple(people)} if people else {})


def _counts_pages(text: str, number: str) -> bool:
    """Return True if a number says how many pages a paper has: `ACM, New York, NY, USA, 10 pages`."""
    return bool(number) and re.search(rf"\b{re.escape(number)}\s+pages\b", text) is not None


def _as_announced(
    document: Document, sections: Sections, model: FieldModel, url: str
) -> dict[str, tuple[Value, ...]]:
    """Read a sentence such as "This is a modified version of Lind (2008), published in the Journal of Examples"."""
    first = document.lines[0].page if document.lines else 1
    end = sections.references.start or len(document.lines)
    front = [line for line in document.lines[:end] if line.page < first + _PAGES_READ]
    runs = [flow(lines) for lines in _runs_of_print(front)]
    for running in runs:
        for announcement, end in announcements(running.text):
            line = running.line_at(end)
            if _CITES_ITSELF.match(running.text, end):
                return _as_cited(_Block(running.text[end : end + MAX_TEXT], line), model, url)
            if found := _values(read_announced(running.text, announcement, end), line, url):
                # It may be the year of another version: one that this paper has itself is more certain.
                years = (replace(year, confidence=YEAR_CONFIDENCE) for year in found.get("year", ()))
                return found | ({"year": tuple(years)} if "year" in found else {})
    return {}


def _runs_of_print(lines: Sequence[Line]) -> Iterator[list[Line]]:
    """Yield consecutive lines of one page in the same print: a note does not go on in the text of the next page."""
    run = list[Line]()
    for line in lines:
        if run and (line.page != run[-1].page or abs(line.size - run[-1].size) >= 0.6):
            yield run
            run = []
        run.append(line)
    if run:
        yield run


def _first_year(lines: Sequence[Line], url: str) -> dict[str, tuple[Value, ...]]:
    """Return a year with a reason to be the paper's: copyright, a month, "accepted", or alone on its line."""
    if dated := find_year([line.text for line in lines]):
        return {"year": (_value(dated[1], YEAR_CONFIDENCE, lines[dated[0]], url),)}
    for line in lines:
        if is_year_alone(line.text):
            return {"year": (_value(line.text.strip(" ()[].,"), YEAR_CONFIDENCE / 2, line, url),)}
    return {}


def _noted_year(document: Document, sections: Sections, url: str) -> dict[str, tuple[Value, ...]]:
    """Return the year of the first dated note on the first page."""
    lines = list(_of_first_page(document, sections))
    for number, line in enumerate(lines):
        below = _continued(lines[number : number + 2])
        whole = " ".join([line.text, *(other.text for other in below)])
        if year := noted_year(line.text) or noted_year(whole):
            return {"year": (_value(year, YEAR_CONFIDENCE, line, url),)}
    return {}


def _values(found: dict[str, str], line: Line, url: str) -> dict[str, tuple[Value, ...]]:
    return {name: (_value(text, LINE_CONFIDENCE, line, url),) for name, text in found.items()}


def _value(text: str, confidence: float, line: Line, url: str) -> Value:
    return Value(text, confidence, Span(url, page=line.page, box=line.box))

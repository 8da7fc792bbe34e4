"""The imprint of a paper: where and when it appeared, and its DOI.

It is read from lines that say how to cite the paper, from running heads and footers such as
`Historical Review, Vol. 35, 2010, No. 4, 5–37`, and from the lines around the title. Years in URLs, in numbers such
as ISSN 1612-7013, and in the abstract are not those of the paper.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from wayhound.documents.document import Document, Line
from wayhound.documents.flow import flow
from wayhound.papers.fields import read_reference, repair_fields, texts_by_field
from wayhound.papers.normalise_fields import normalise_reference, tidy
from wayhound.papers.sections import Sections
from wayhound.papers.tokens import FieldModel
from wayhound.record import Span, Value
from wayhound.text.numbers import RECENT_YEAR, parse_pages

CITED_CONFIDENCE, LINE_CONFIDENCE, YEAR_CONFIDENCE = 0.9, 0.8, 0.6

_OUTER = 2  # lines at the top and at the foot of a page that may be running heads
_PAGES_READ = 2  # from the beginning; a cover page may come first
_MAX_BLOCK = 5  # lines
_MAX_TEXT = 600  # characters
_MAX_VENUE = 160
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
_NOT_A_YEAR = re.compile(
    r"(?:https?://|www\.|\bdoi\b)\S*|[^\s@]{1,80}@\S{1,100}|\bIS[SB]N\b[:\s]*[\dXx–-]+|\b\d{4}[-–]\d{3}[Xx]\b|\b10\.\d{4,9}/\S+|"
    r"\b(?:fax|tel|phone)\b[^,;]*|\b0?1 January 1970\b|\b1970-01-01\b",
    re.IGNORECASE,
)
_MONTH = r"(?:jan|feb|m[aä]r|apr|ma[iy]|jun|jul|aug|sep|o[ck]t|nov|de[cz])"  # its first letters, in English and German
_YEAR = re.compile(rf"(?<![\d./–-])({RECENT_YEAR})(?![\d/–-]|\.\d)")
_VOLUME = re.compile(
    r"\b(?:vol(?:ume|\.)?|bd\.?|band|jg\.?|jahrgang|tome)\s*\.?\s*(\d{1,4}|[IVXLC]{1,7}\b)"
    r"|(?<![\d–-])(\d{1,3})\s?\((?=\s?(?:\d|no\b|issue\b))|(?<![\d–-])(\d{1,3})\s?[:/]\s?(?=\d{1,3}\b)",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"\b(?:nos?\.?|nr\.?|number|issue|heft|h\.|n[°º])\s*(\d{1,4}(?:[-–/]\d{1,4})?)"
    r"|(?<=\d)\s?\(\s?(\d{1,3}(?:[-–/]\d{1,3})?)\s?\)|\bvol(?:ume|\.)\s*\d{1,3}/(\d{1,2})\b",
    re.IGNORECASE,
)
_ISSUE_CUE = re.compile(
    r"\b(?:vol(?:ume|\.)|band|bd\.|jahrgang|tome)\s*(?:\w+.{0,20}\b(?:no|nr|issue|number|heft)\b|\d{1,3}/\d{1,2}\b)",
    re.IGNORECASE,
)
_ISSUE_OF_YEAR = re.compile(rf"(?<![\d./])(\d{{1,2}})/({RECENT_YEAR})(?![\d/.])")  # Die Komödie 2/2004
_ARTICLE_OF_VOLUME = re.compile(
    rf"\b\d{{1,4}}\s?\({RECENT_YEAR}\)[\s,:]+[A-Za-z]?\d{{1,7}}\b|\b{RECENT_YEAR}\s?[,;)]\s*\d{{1,4}}\s?:\s?[A-Za-z]?\d"
)  # as journals with articles instead of pages count: 2 (2019) 100007; 2013, 8:22; (1984) 9:47
_NO_ISSUE_YET = re.compile(
    r"\bvol(?:ume|\.)?\s+(?:[VX]{1,5}|\?+)(?=\W|$)|\?/\?\?|\bVOL(?:UME)?\s\(YEAR\)|\bM{3,6}\s+Y{4}\b|\]\s?\(\]{2,4}\)|(?<=\s)0{2,3},\s?\d"
)  # what the class of a journal prints before an issue is known
_DATED_VERSION = re.compile(r"\W*(?:version|stand|draft|rev|release|date|datum)\b", re.IGNORECASE)
_ISSUE_FIRST = re.compile(
    rf"\W*(?:{_MONTH}[a-zä]*\.?\s+)?(?:{RECENT_YEAR},?\s+)?(?:vol(?:ume|\.)?|band|bd\.|jahrgang|jg\.|tome)\s*\d|"
    r"\W*M{3,6}\s+Y{4},\s+volume\b",
    re.IGNORECASE,
)
_PAGES = re.compile(
    r"(?:\b(?:pp?\.|pp|pages?|s\.|seiten?)\s*|[,:;)]\s*|\s[–—|•·]\s*)([A-Za-z]?\d{1,5})\s?[-–—]\s?([A-Za-z]?\d{1,5})\b(?!\s*\()",
    re.IGNORECASE,
)
_PUBLISHED = re.compile(
    r".{0,80}?\b(?:(?:re)?(?:published|appeared|appearing|appears|printed)\s+(?:in|from)|to\s+appear\s+in|in\s+press|"
    r"(?:accepted|submitted)\s+(?:to|for|by)|presented\s+(?:at|to)|erschienen\s+in|ver[öo]ffentlicht\s+in|preprint\s+of\b[^.]{0,40}\bin)"
    r"\s*[:,]?\s+|in:?\s+",
    re.IGNORECASE,
)
_MEETING = re.compile(
    r"\b(?:proc\w*\.?|conf\w*|symposi\w*|workshop|congress|meeting|tagung\w*|kongress\w*)\b", re.IGNORECASE
)
_MEETING_NOTE = re.compile(
    r"\W*(?:\d{1,3}(?:st|nd|rd|th)\s(?:\w+\s){0,3}?(?:conference|symposium|workshop|congress|meeting)\b|"
    r"(?:in\s+)?proc(?:\.|eedings)\s+(?:of\b|\d))",
    re.IGNORECASE,
)
_VOLUME_AND_PAGES = re.compile(
    rf"[^\W\d_a-z][^.;\d]{{2,80}}\s\d{{1,4}}\s?(?:\({RECENT_YEAR}\),?\s*\d+\s?[–-]\s?\d+|"
    rf":\s?\d+\s?[–-]\s?\d+,?\s*\(\s?(?:\w+,?\s)?{RECENT_YEAR}\))\W*"
)  # Examples 35 (2009) 1177–1185; Examples 152: 763–773 (June 1999)
_DATED_MEETING = re.compile(
    rf"\W*(?:{RECENT_YEAR}\s)?(?P<name>[^\W\d_a-z](?:\S*[^\W\d_a-z]\S*|\S*(?:\s[^\W\d_a-z]\S*){{1,4}}?)"
    rf"\s?(?:[’'‘´`]\s?\d\d|(?P<own>{RECENT_YEAR})|(?<=[A-Z])))\s?[,:–-]?\s+"
    rf"(?:\d{{1,2}}\.?\s*[–-]?\s*){{0,2}}(?i:{_MONTH})[a-zä]*\.?\s\d{{1,2}}(?:.{{0,30}}?(?P<year>{RECENT_YEAR})\b|(?(own)|(?!)))"
)  # at the foot of a column: EXAMPLE’06, October 22–25, 2006, Seoul; EXAMPLE 2009, July 23–25, Porto
_MEETING_WORDS = r"\b(?:Conference|Symposium|Workshop|Congress|Meeting)\b"
_NAMED_MEETING = re.compile(
    rf"(?:(?P<year>{RECENT_YEAR})|\b\d{{1,3}}(?:st|nd|rd|th))\s[^\W\d_a-z][^\d.;:|©]{{3,120}}?{_MEETING_WORDS}"
    r"(?:\s(?:on|of|for|in)\s[^\d.;:|©()]{3,100})?"
)  # 2007 Examples Technical Conference 143; 15th Symposium on Examples
_WHOLE_MEETING = re.compile(
    rf"[^.;]{{0,160}}?{_MEETING_WORDS}(?:\s(?:on|of|for|in)\s[^.;()]{{3,140}})?(?:\s?\([^()]{{2,40}}\))?"
)  # 16th Symposium on Modelling, Analysis and Simulation (EXAMPLE 2008)
_CITES_ITSELF = re.compile(
    rf"[^\W\d_a-z][\w'’-]+(?:,?\s[^\W\d_a-z][^()\d]{{0,120}}|\s(?:et\sal|and|&)[^()\d]{{0,60}})?,?\s\((?P<year>{RECENT_YEAR})\)[.,:]\s"
)  # Lind et al. (2010). On hops. Journal of Examples, 5(50), 2023
_ONLY_PEOPLE = re.compile(
    r"(?:[^\W\d_a-z][\w'’-]+,?\s(?:[^\W\d_a-z]\.?[\s-]?){1,3}(?:,\s|\sand\s|;\s|$))+"
)  # Lind, M. J.
_SUBMITTED = re.compile(
    rf"\W*(?:(?i:preprint\s+submitted\s+to)\s+([^\W\d_a-z]\D{{3,100}}?)(?=\s*$|\s+(?:\d{{1,2}}\s+)?(?i:{_MONTH}))|"
    r"([^\W\d_a-z]\D{3,80}?)\s+(?i:manuscript\s+no\b))"
)
_PUBLISHERS = frozenset(
    {"Elsevier", "Elsevier Science", "Springer", "Wiley"}
)  # said where no journal was named
_NOTHING = re.compile("")
_MAX_DATE = 30  # characters
_CITED_IN_TEXT = re.compile(r"[\s,.]*[)\]]")
_TEXT_LINES = 40  # of a front without an abstract: what follows is text
_DATE_AFTER_VENUE = re.compile(
    rf"[\s,|]+(?:\d{{1,2}}\.?\s*)?{_MONTH}[a-zä]*\.?(?:\s*\d{{1,2}},?)?$",
    re.IGNORECASE,
)
_PAGE_BEFORE_VENUE = re.compile(
    r"^\d{1,4}\s+(?=[^\W\d_a-z])(?:[^/]{3,80}\s/\s(?=[^\W\d_a-z]))?"
)  # 2 A. Lind / Journal
_PEOPLE_BEFORE_VENUE = re.compile(
    r"^.{3,120}?(?i:\((?:eds?|hrsg|hg)\.?\)[.:,]?|\b(?:eds?|hrsg|hg)\.[:,]?|\bet\sal\b\.?[:,]?)\s+(?=[^\W\d_a-z])"
)  # Lind et al. BMC Examples; Lind (ed.): Proceedings
_UNCLOSED = re.compile(r"\s(?:\([^()]*|[0©Cc])$")  # a bracket that a year would close, a sign of copyright
_AFTER_MEETING = re.compile(rf"(?<=[a-z]):\s[^:]*\b{_MONTH}[a-zä]*\b.*$", re.IGNORECASE)  # place and days
_WORDS_IN_CAPITALS = 3  # of a name that is set in capitals; shorter ones may be acronyms
_SMALL_WORDS = frozenset("OF AND THE FOR IN ON TO A DE LA DER DES FÜR UND ET".split())
_ACRONYMS = frozenset("IEEE ACM SIAM AMS BMC PLOS IFIP IEICE AIP APS AIAA SPIE USA UK EU II III IV".split())
_CUE_AFTER_VENUE = re.compile(r"\b(?:vol|no|nr|issue|heft|band|bd|jg)\.?$", re.IGNORECASE)
_UNFINISHED = re.compile(
    r"\b(?:from|of|in|and|the|for|by|on|at|to|with|since|von|und|der|de|la)$", re.IGNORECASE
)
_VOLUME_BEFORE_PAGES = re.compile(r"(?<![\d–-])(\d{1,3})\s?(?:\(\s?\d{1,3}\s?\)\s?)?$")
_SERIAL = re.compile(
    r"\b(?:journal|review|annals|transactions|bulletin|letters|magazine|quarterly|revue|revista|zeitschrift|"
    r"archiv|jahrbuch|studies|research|studien|forschung|science|history)\b|\bj\.",
    re.IGNORECASE,
)
_COPYRIGHT = re.compile(
    rf"(?:©|\(c\)|\bcopyright\b|^\W*c(?=\s?{RECENT_YEAR}|\s))\D{{0,40}}({RECENT_YEAR})\b", re.IGNORECASE
)  # some fonts draw the sign as a letter in a circle
_DATED = re.compile(
    rf"\b(?:published|online|erschienen|accepted|angenommen|revised|received|version|draft|printed)\b.{{0,40}}?\b({RECENT_YEAR})\b",
    re.IGNORECASE,
)
_MONTH_AND_YEAR = re.compile(
    rf"^\W*(?:\d{{1,2}}(?:st|nd|rd|th)?\.?\s+)?{_MONTH}\w*\.?"
    rf"(?:\s+\d{{1,2}}(?:st|nd|rd|th)?)?,?\s+({RECENT_YEAR})\W*$",
    re.IGNORECASE,
)
_ARXIV = re.compile(rf"^\W*arXiv:\S+\s.{{0,30}}?\b({RECENT_YEAR})\W*$")
_DAY = r"(?:0?[1-9]|[12]\d|3[01])"
_NUMERIC_DATE = (
    rf"(?:({RECENT_YEAR})[-/.]{_DAY}[-/.]{_DAY}|{_DAY}[-/.]\s?{_DAY}[-/.]\s?({RECENT_YEAR}))(?!\d)"
)
_DATE_FIRST = re.compile(
    rf"^\W*(?:v(?:er(?:sion)?)?\.?\s*[\d.]+\w?,?\s+)?(?:[^\W\d_]+:?\s+){{0,2}}{_NUMERIC_DATE}"
)  # Released 2021/02/24; v1.9, 2012/07/27
_DATE_NOTE = re.compile(
    r"^\W*(?:date|datum|fecha|copyright|©|(?:manuscript\s+)?received|accepted|eingegangen|published(?:\s+online)?|"
    r"(?:last\s+)?(?:revised|updated|modified)|released?|stand|this\s+(?:version|draft))(?:\b|(?<=©))(?!\s+(?:in|by|as)\b)",
    re.IGNORECASE,
)  # how a note at the foot of the first page begins
_PRICED = re.compile(rf"\$\s?\d+\.\d\d.{{0,12}}?\b({RECENT_YEAR})\b")  # 0-1234-5678-9/08/$25.00 ©2008 Society
_DATE_OF_DOCUMENT = re.compile(rf"\bdate(?: of this document)?:\s*({RECENT_YEAR})[./-]\d", re.IGNORECASE)
_MAX_NOTE = 160  # characters
_ROW = 3.0  # points
_NEAR = 2  # lines
_EDGES = " \t,.;:–—-|•·(["
_WORK = (
    r"(?:version|paper|article|manuscript|document|preprint|work|chapter|report|study|vignette|introduction|draft|"
    r"description|contribution)"
)
_PUBLISHED_IN = (
    r"\b(?:(?:re)?published|appear(?:ed|s|ing)?|accepted(?:\s+for\s+publication)?|forthcoming|in\s+press|printed)"
    r"(?:\s+online|\s+as\s[^.;:]{1,60}?|\s+in\s(?:\w+\s){0,3}(?:form|version))?\s+(?:in|by)\s+(?:the\s+)?"
)
_ANNOUNCED = re.compile(
    rf"(?:\b(?:this|present|our|an?|the)\s(?:[\w(),'’-]+\s){{0,8}}?{_WORK}|[∗*†‡]\s?{_WORK})(?:\s[\w-]+){{0,4}}?\s"
    rf"(?P<name>{_PUBLISHED_IN})|"
    rf"\b(?:(?:version|preprint|postprint|reprint|translation|update)\s+of|based\s+on)\s[^;:]{{1,160}}?"
    rf"(?P<other>{_PUBLISHED_IN})",
    re.IGNORECASE,
)  # a sentence that says of this very paper where it appeared
_VENUE_NAME = re.compile(
    r"[^\W\d_a-z][\w&’'-]*(?:\s(?:(?:of|and|for|in|on|the|to|de|der|des|für|und)\s)*(?:&\s)?[^\W\d_a-z][\w&’'-]*){0,9}"
)
_NO_VENUE = re.compile(
    rf"(?:{_MONTH}[a-zä]*|english|german|french|spanish|latin|[ivx]+)\b\.?\s*\d*$", re.IGNORECASE
)
_AFTER_NAME = 80  # characters after the name of a venue that may have its year and volume


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
            _as_printed(block, url)
            for block in [*_beside_names(document), *_blocks(margins), *_blocks(front)]
        ),
        *(_as_issue(line, url) for line in [*margins, *front]),
        *(_as_printed(block, url) for block in _venue_notes(document, sections)),
    ]
    meetings = list(_meetings(document, margins, sections, url))
    best = max(candidates, key=len, default={}) or announced or max(meetings, key=len, default={})
    best = best or _as_submitted([*front, *margins, *_of_first_page(document, sections)], url)
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
        is_note = _MEETING_NOTE.match(line.text) or _VOLUME_AND_PAGES.fullmatch(line.text[:_MAX_VENUE])
        if line.page == first and is_note:
            yield _Block(line.text[:_MAX_TEXT], line)


def _with_whole_name(
    best: dict[str, tuple[Value, ...]], candidates: Sequence[dict[str, tuple[Value, ...]]]
) -> dict[str, tuple[Value, ...]]:
    """Return the best reading with the whole name of its journal, if another one has it, not J. Ex."""
    for other in candidates:
        if best.get("booktitle") and other.get("booktitle") and best.get("year") == other.get("year"):
            short, whole = best["booktitle"][0].text, other["booktitle"][0].text
            if re.search(_MEETING_WORDS, whole) and not re.search(_MEETING_WORDS, short):
                return best | {"booktitle": other["booktitle"]}
        if best.get("journal") and other.get("journal") and best.get("volume") == other.get("volume"):
            short, whole = best["journal"][0].text, other["journal"][0].text
            if len(whole) > len(short) and _is_abbreviated(short, whole):
                return best | {"journal": other["journal"]}
    return best


def _is_abbreviated(short: str, whole: str) -> bool:
    """Return True if every word of a name begins the next but small words of another: J. Sci. Res."""
    words = iter(word.casefold() for word in re.findall(r"\w+", whole))
    return (
        all(any(word.startswith(part.casefold()) for word in words) for part in re.findall(r"\w+", short))
        and "." in short
    )


def without_other_numbers(text: str) -> str:
    """Return the text without URLs, e-mail addresses, ISSN, DOI and telephone numbers, whose digits look like years."""
    return _NOT_A_YEAR.sub(" ", text)


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
                text = " ".join([line.text[cue.end() :], *(other.text for other in following)]).strip()
                if text:
                    yield _Block(text[:_MAX_TEXT], line)


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
        return True
    return abs(above.size - line.size) < 0.6 and 0 < line.box[1] - above.box[1] < 1.7 * max(line.size, 1.0)


def _blocks(lines: Sequence[Line]) -> Iterator[_Block]:
    """Yield every line, and every run of lines that go on directly below each other."""
    for number, line in enumerate(lines):
        yield _Block(line.text[:_MAX_TEXT], line)
        if following := _continued(lines[number : number + _MAX_BLOCK]):
            yield _Block(" ".join([line.text, *(other.text for other in following)])[:_MAX_TEXT], line)


def _beside_names(document: Document) -> Iterator[_Block]:
    """Yield lines that begin with the number of an issue, with one above or beside them that names the journal."""
    for page in document.pages[:_PAGES_READ]:
        lines = [line for line in page.lines if line.text.strip()]
        for number, line in enumerate(lines):
            if not _ISSUE_FIRST.match(line.text):
                continue
            above = lines[max(0, number - _NEAR) : number][::-1]
            beside = [other for other in lines if other.role == "margin" and _is_beside(other, line)]
            named = [other for other in above if _heads_issue(other)]
            for other in [*beside, *named][:1]:
                yield _Block(f"{other.text}, {line.text}"[:_MAX_TEXT], other)


def _is_beside(one: Line, other: Line) -> bool:
    return one is not other and bool(one.box and other.box and abs(one.box[1] - other.box[1]) < _ROW)


def _heads_issue(line: Line) -> bool:
    """Return True for a line that may name a journal: by its words, in capitals, or with a year and pages."""
    text = line.text[:_MAX_VENUE]
    return bool(_SERIAL.search(text) or text.isupper() or (_YEAR.search(text) and _PAGES.search(text)))


def _meetings(
    document: Document, margins: Sequence[Line], sections: Sections, url: str
) -> Iterator[dict[str, tuple[Value, ...]]]:
    """Yield meetings: those that a note of the first page names with their days, and those of running heads."""
    for line in [*_of_first_page(document, sections), *margins]:
        if match := _DATED_MEETING.match(line.text[:_MAX_VENUE]):
            yield _meeting(match["name"], match["year"] or match["own"], line, url)
    for line in margins:
        text = without_other_numbers(line.text[:_MAX_VENUE])
        match = _NAMED_MEETING.search(text)
        if match and (line.role == "margin" or 2 * len(match[0]) > len(text)):
            yield _meeting(match[0].removeprefix(match["year"] or ""), match["year"] or "", line, url)


def _of_first_page(document: Document, sections: Sections) -> Iterator[Line]:
    first = document.lines[0].page if document.lines else 1
    end = sections.references.start or len(document.lines)
    yield from (line for line in document.lines[:end] if line.page == first)


def _as_submitted(lines: Sequence[Line], url: str) -> dict[str, tuple[Value, ...]]:
    """Read what journals print on manuscripts: `Preprint submitted to Examples`, `Examples manuscript No.`"""
    for line in lines:
        match = _SUBMITTED.match(line.text[:_MAX_VENUE])
        if match and (name := _of_groups(match).strip(_EDGES)) not in _PUBLISHERS:
            return {"journal": (_value(name, LINE_CONFIDENCE, line, url),)}
    return {}


def _meeting(name: str, year: str, line: Line, url: str) -> dict[str, tuple[Value, ...]]:
    found = {"booktitle": name.strip(_EDGES), "year": year}
    return {field: (_value(text, LINE_CONFIDENCE, line, url),) for field, text in found.items() if text}


def _as_cited(block: _Block, model: FieldModel, url: str) -> dict[str, tuple[Value, ...]]:
    """Read a block as the reference that it is."""
    texts = texts_by_field(repair_fields(block.text, read_reference(block.text, model)))
    normal = normalise_reference(texts)
    is_serial = bool(texts.get("journal") or (normal.volume and not _MEETING.search(normal.venue)))
    found = {
        "journal" if is_serial else "booktitle": _written_as_usual(
            _PEOPLE_BEFORE_VENUE.sub("", normal.venue)
        ),
        "volume": normal.volume,
        "number": normal.number,
        "pages": "" if re.search(rf"\b{normal.pages}\s+pages\b", block.text) else str(normal.pages),
        "publisher": normal.publisher,
        "year": str(normal.year or ""),
    }
    if cited := _CITES_ITSELF.match(block.text):
        found["year"] = cited["year"]
    if not found["year"]:
        return {}
    people = [_value(name.full, CITED_CONFIDENCE, block.first, url) for name in normal.authors.names]
    fields = {
        name: (_value(text, CITED_CONFIDENCE, block.first, url),) for name, text in found.items() if text
    }
    return fields | ({"author": tuple(people)} if people else {})


def _as_printed(block: _Block, url: str) -> dict[str, tuple[Value, ...]]:
    """Read a running head or a note: the name of a venue, followed by year and volume, number or pages."""
    text = without_other_numbers(block.text)
    pages = next((match for match in _PAGES.finditer(text) if _is_range(match)), None)
    rest = (
        text[: pages.start()] + " " * (pages.end() - pages.start()) + text[pages.end() :] if pages else text
    )
    year, number = _YEAR.search(rest), _NUMBER.search(rest)
    volume = _VOLUME.search(rest) or (pages and _VOLUME_BEFORE_PAGES.search(text[: pages.start()]))
    marks = [match for match in (pages, year, volume, number) if match]
    venue = _venue(text, [match.start() for match in marks])
    if venue and _is_cited_in_text(text, max(match.end() for match in marks)):
        return {}
    is_meeting = bool(_MEETING.search(venue))
    announced = bool(_PUBLISHED.match(block.text.strip()))
    is_issue = volume and number and _ISSUE_CUE.search(rest)  # a number of a journal, if it is not dated
    is_article = bool(_ARTICLE_OF_VOLUME.search(text) or _VOLUME_AND_PAGES.fullmatch(text.strip()))
    if not venue or not (year or is_issue):
        return {}
    if not (volume or pages or is_meeting or (announced and _SERIAL.search(venue))):
        return {}
    is_journal = volume and (number or pages or is_article or _SERIAL.search(venue))
    if not is_meeting and not is_journal and not announced:
        return {}
    found = {
        "booktitle" if is_meeting else "journal": venue,
        "volume": next((group for group in volume.groups() if group), "") if volume else "",
        "number": next((group for group in number.groups() if group), "") if number else "",
        "pages": str(parse_pages(f"{pages[1]}-{pages[2]}")) if pages else "",
        "year": year[1] if year else "",
    }
    return {name: (_value(text, LINE_CONFIDENCE, block.first, url),) for name, text in found.items() if text}


def _is_cited_in_text(text: str, end: int) -> bool:
    """Return True if a bracket closes behind the numbers that holds more than them: (June 1999) holds a date."""
    opened = text.rfind("(", 0, end)
    holds_date = opened > text.rfind(")", 0, end) and end - opened < _MAX_DATE
    return bool(_CITED_IN_TEXT.match(text, end)) and not holds_date


def _as_issue(line: Line, url: str) -> dict[str, tuple[Value, ...]]:
    """Read a line such as `Die Komödie 2/2004`, or one whose issue is not known yet: `JOURNAL, VOL (YEAR)`."""
    text = without_other_numbers(line.text[:_MAX_TEXT])
    issue, unknown = _ISSUE_OF_YEAR.search(text), _NO_ISSUE_YET.search(text)
    mark = issue or unknown
    if not mark or _DATED_VERSION.match(text):
        return {}
    venue = _venue(text, [mark.start()])
    if not venue or not (_SERIAL.search(venue) or line.role == "margin"):
        return {}
    found = {"journal": venue} | ({"number": issue[1], "year": issue[2]} if issue else {})
    return {name: (_value(value, LINE_CONFIDENCE, line, url),) for name, value in found.items()}


def _as_announced(
    document: Document, sections: Sections, model: FieldModel, url: str
) -> dict[str, tuple[Value, ...]]:
    """Read a sentence such as "This is a modified version of Lind (2008), published in the Journal of Examples"."""
    first = document.lines[0].page if document.lines else 1
    end = sections.references.start or len(document.lines)
    front = [line for line in document.lines[:end] if line.page < first + _PAGES_READ]
    runs = [flow(lines) for lines in _runs_of_print(front)]
    found = [(running, match) for running in runs for match in _ANNOUNCED.finditer(running.text)]
    for running, match in found:
        if _CITES_ITSELF.match(running.text, match.end()):
            text = running.text[match.end() : match.end() + _MAX_TEXT]
            return _as_cited(_Block(text, running.line_at(match.end())), model, url)
        name = _meeting_name(running.text, match.end()) or _VENUE_NAME.match(running.text, match.end())
        if not name or len(name[0]) < 4 or _NO_VENUE.fullmatch(name[0]):
            continue
        is_meeting = bool(_MEETING.search(name[0]))
        after = without_other_numbers(running.text[name.end() : name.end() + _AFTER_NAME])
        years = [*_YEAR.findall(after), *re.findall(rf"({RECENT_YEAR})[a-z]?\)", match[0])]
        line = running.line_at(name.start())
        values = [("booktitle" if is_meeting else "journal", name[0], LINE_CONFIDENCE)]
        # It may be the year of another version: one that this paper has itself is more certain.
        values += [("year", year, YEAR_CONFIDENCE) for year in years[:1]]
        return {field: (_value(text, confidence, line, url),) for field, text, confidence in values}
    return {}


def _meeting_name(text: str, start: int) -> re.Match[str] | None:
    """Match the whole name of a meeting, which may have commas: up to its acronym in brackets, or else to a comma."""
    name = _WHOLE_MEETING.match(text, start)
    if not name or name[0].endswith(")") or "," not in name[0]:
        return name
    return _WHOLE_MEETING.match(text, start, start + name[0].index(",")) or name


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


def _is_range(match: re.Match[str]) -> bool:
    """Return True for pages; two years, as in 1999–2007, are none."""
    first, last = match[1], match[2]
    are_years = all(re.fullmatch(RECENT_YEAR, part) for part in (first, last))
    cue = match[0].lstrip(" ,:;–—|•·")[:1].isalpha()
    return cue or not are_years


def _venue(text: str, marks: Sequence[int]) -> str:
    """Return the words before the first of the numbers, without an announcement such as "Published in"."""
    first = min(marks, default=0)
    name = _PAGE_BEFORE_VENUE.sub("", text[:first].strip(_EDGES))
    if not name and _ISSUE_FIRST.match(text):  # Vol. 29 no. 9 2013, pages 1215–1217 NAME
        name = text[max(marks) :].lstrip("0123456789–-( ").partition(" doi")[0]
        name = name.strip(_EDGES)
        is_name = name.isupper() or (" " in name and _VENUE_NAME.fullmatch(name))
        name = name if is_name else ""
    if announced := _PUBLISHED.match(name):
        name = name[announced.end() :]
    name = _CUE_AFTER_VENUE.sub("", _DATE_AFTER_VENUE.sub("", name)).split(" | ")[0]
    name = _UNCLOSED.sub("", _PEOPLE_BEFORE_VENUE.sub("", name))
    name = tidy(_AFTER_MEETING.sub("", name).strip(_EDGES), "booktitle")
    letters = sum(map(str.isalpha, name))
    if _UNFINISHED.search(name) or _NO_VENUE.fullmatch(name) or _ONLY_PEOPLE.fullmatch(name):
        return ""
    begins = name[:1].isupper() or _MEETING_NOTE.match(name)
    is_name = letters >= 4 and len(name) <= _MAX_VENUE and begins and "@" not in name
    return _written_as_usual(name) if is_name else ""


def _written_as_usual(name: str) -> str:
    """Return the name of a venue without its logo, "JSS Journal of Statistical Software", and not in capitals."""
    first, _, rest = name.partition(" ")
    initials = "".join(word[0] for word in rest.split() if word[0].isupper())
    if rest and len(first) > 1 and first == initials[: len(first)] and not rest.isupper():
        name = rest
    words = name.split()
    if not name.isupper() or len(words) < _WORDS_IN_CAPITALS:
        return name
    small = [word.lower() if word in _SMALL_WORDS else word.capitalize() for word in words]
    kept = [word if word in _ACRONYMS else other for word, other in zip(words, small, strict=True)]
    return " ".join([kept[0][:1].upper() + kept[0][1:], *kept[1:]])


def _first_year(lines: Sequence[Line], url: str) -> dict[str, tuple[Value, ...]]:
    """Return a year with a reason to be the paper's: copyright, a month, "accepted", or alone on its line."""
    texts = [(line, without_other_numbers(line.text[:_MAX_TEXT])) for line in lines]
    for pattern in (_MONTH_AND_YEAR, _DATE_FIRST, _COPYRIGHT, _DATED, _ARXIV):
        for line, text in texts:
            if match := pattern.search(text):
                return {"year": (_value(_of_groups(match), YEAR_CONFIDENCE, line, url),)}
    for line, text in texts:
        if re.fullmatch(rf"\W*({RECENT_YEAR})\W*", text):
            return {"year": (_value(text.strip(" ()[].,"), YEAR_CONFIDENCE / 2, line, url),)}
    return {}


def _noted_year(document: Document, sections: Sections, url: str) -> dict[str, tuple[Value, ...]]:
    """Return the latest year of a note on the first page: `Received 3 May 2009; accepted 8 January 2010`."""
    end = sections.references.start or len(document.lines)
    for line in document.lines[:end]:
        if line.page > document.lines[0].page:
            break
        text = without_other_numbers(line.text[:_MAX_NOTE])
        if dated := _PRICED.search(line.text[:_MAX_NOTE]) or _DATE_OF_DOCUMENT.search(line.text[:_MAX_NOTE]):
            return {"year": (_value(dated[1], YEAR_CONFIDENCE, line, url),)}
        if _DATE_NOTE.match(text):
            dates = [_of_groups(match) for match in re.finditer(_NUMERIC_DATE, text)]
            if years := [*dates, *_YEAR.findall(text)]:
                return {"year": (_value(max(years), YEAR_CONFIDENCE, line, url),)}
    return {}


def _of_groups(match: re.Match[str]) -> str:
    return next(group for group in match.groups() if group)


def _value(text: str, confidence: float, line: Line, url: str) -> Value:
    return Value(text, confidence, Span(url, page=line.page, box=line.box))

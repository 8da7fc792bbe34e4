"""Lines of print that say where and when a paper appeared, and sentences that do.

A running head such as `Historical Review, Vol. 35, 2010, No. 4, 5–37`, a note such as `EXAMPLE’06, October 22–25, 2006,
Seoul`, a line with a date, a sentence that says where the paper was published. `imprint` chooses the lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from wayhound.papers.normalise_fields import tidy
from wayhound.text.numbers import RECENT_YEAR, parse_pages, parse_year

MAX_VENUE = 160
"""Characters of the name of a venue."""

MAX_TEXT = 600
"""Characters of a line that are read."""

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
# How journals count that have articles instead of pages: 2 (2019) 100007; 2013, 8:22; (1984) 9:47.
_ARTICLE_OF_VOLUME = re.compile(
    rf"\b\d{{1,4}}\s?\({RECENT_YEAR}\)[\s,:]+[A-Za-z]?\d{{1,7}}\b|\b{RECENT_YEAR}\s?[,;)]\s*\d{{1,4}}\s?:\s?[A-Za-z]?\d"
)
# What the LaTeX class of a journal prints before an issue is known.
_NO_ISSUE_YET = re.compile(
    r"\bvol(?:ume|\.)?\s+(?:[VX]{1,5}|\?+)(?=\W|$)|\?/\?\?|\bVOL(?:UME)?\s\(YEAR\)|\bM{3,6}\s+Y{4}\b|\]\s?\(\]{2,4}\)|(?<=\s)0{2,3},\s?\d"
)
# Such as: Compiled Saturday 7th May, 2022, 11:10.
_TIME_OF_DAY = re.compile(
    rf"(?:\b{_MONTH}[a-zä]*\.?,?|\d)\s(?:\d{{1,2}}(?:st|nd|rd|th)?,?\s)?{RECENT_YEAR},?\s(?:at\s)?\d{{1,2}}:\d\d\b",
    re.IGNORECASE,
)
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
# Such as: Examples 35 (2009) 1177–1185; Examples 152: 763–773 (June 1999).
_VOLUME_AND_PAGES = re.compile(
    rf"[^\W\d_a-z][^.;\d]{{2,80}}\s\d{{1,4}}\s?(?:\({RECENT_YEAR}\),?\s*\d+\s?[–-]\s?\d+|"
    rf":\s?\d+\s?[–-]\s?\d+,?\s*\(\s?(?:\w+,?\s)?{RECENT_YEAR}\))\W*"
)
# At the foot of a column: EXAMPLE’06, October 22–25, 2006, Seoul; EXAMPLE 2009, July 23–25, Porto.
_DATED_MEETING = re.compile(
    rf"\W*(?:{RECENT_YEAR}\s)?(?P<name>[^\W\d_a-z](?:\S*[^\W\d_a-z]\S*|\S*(?:\s[^\W\d_a-z]\S*){{1,4}}?)"
    rf"\s?(?:[’'‘´`]\s?\d\d|(?P<own>{RECENT_YEAR})|(?<=[A-Z])))\s?[,:–-]?\s+"
    rf"(?:\d{{1,2}}\.?\s*[–-]?\s*){{0,2}}(?i:{_MONTH})[a-zä]*\.?\s\d{{1,2}}(?:.{{0,30}}?(?P<year>{RECENT_YEAR})\b|(?(own)|(?!)))"
)
_MEETING_WORDS = r"\b(?:Conference|Symposium|Workshop|Congress|Meeting)\b"
# Such as: 2007 Examples Technical Conference 143; 15th Symposium on Examples.
_NAMED_MEETING = re.compile(
    rf"(?:(?P<year>{RECENT_YEAR})|\b\d{{1,3}}(?:st|nd|rd|th))\s[^\W\d_a-z][^\d.;:|©]{{3,120}}?{_MEETING_WORDS}"
    r"(?:\s(?:on|of|for|in)\s[^\d.;:|©()]{3,100})?"
)
# At the foot of a page: EXAMPLE − Winter ’91 − Dallas.
_SHORT_MEETING = re.compile(
    r"\W*(?:\d{1,4}\s+)?(?P<name>[A-Z][A-Z&/+-]{2,}(?:\s[−–-])?(?:\s(?:Winter|Summer|Spring|Fall|Autumn))?\s?[’'‘`]\s?\d\d)\b"
)
# Such as: 16th Symposium on Modelling, Analysis and Simulation (EXAMPLE 2008).
_WHOLE_MEETING = re.compile(
    rf"[^.;]{{0,160}}?{_MEETING_WORDS}(?:\s(?:on|of|for|in)\s[^.;()]{{3,140}})?(?:\s?\([^()]{{2,40}}\))?"
)
_IN_PROCEEDINGS = re.compile(r".{0,120}in\s+(?=Proc(?:\.|eedings\b))")  # A. Lind, B. Wood in Proc. EXAMPLES
# Such as: Lind, M. J.
_ONLY_PEOPLE = re.compile(r"(?:[^\W\d_a-z][\w'’-]+,?\s(?:[^\W\d_a-z]\.?[\s-]?){1,3}(?:,\s|\sand\s|;\s|$))+")
_SUBMITTED = re.compile(
    rf"\W*(?:(?i:preprint\s+submitted\s+to)\s+([^\W\d_a-z]\D{{3,100}}?)(?=\s*$|\s+(?:\d{{1,2}}\s+)?(?i:{_MONTH}))|"
    r"([^\W\d_a-z]\D{3,80}?)\s+(?i:manuscript\s+no\b))"
)
# A manuscript names them where its author named no journal.
_PUBLISHERS = frozenset({"Elsevier", "Elsevier Science", "Springer", "Wiley"})
_MAX_DATE, _MAX_NOTE = 30, 160  # characters
_CITED_IN_TEXT = re.compile(r"[\s,.]*[)\]]")
_DATE_AFTER_VENUE = re.compile(
    rf"[\s,|]+(?:\d{{1,2}}\.?\s*)?{_MONTH}[a-zä]*\.?(?:\s*\d{{1,2}},?)?$",
    re.IGNORECASE,
)
# A running head such as: 2 A. Lind / Journal.
_PAGE_BEFORE_VENUE = re.compile(r"^\d{1,4}\s+(?=[^\W\d_a-z])(?:[^/]{3,80}\s/\s(?=[^\W\d_a-z]))?")
# Such as: Lind et al. BMC Examples; Lind (ed.): Proceedings.
_PEOPLE_BEFORE_VENUE = re.compile(
    r"^.{3,120}?(?i:\((?:eds?|hrsg|hg)\.?\)[.:,]?|\b(?:eds?|hrsg|hg)\.[:,]?|\bet\sal\b\.?[:,]?)\s+(?=[^\W\d_a-z])"
)
_UNCLOSED = re.compile(r"\s(?:\([^()]*|[0©Cc])$")  # a bracket that a year would close, a sign of copyright
_AFTER_MEETING = re.compile(rf"(?<=[a-z]):\s[^:]*\b{_MONTH}[a-zä]*\b.*$", re.IGNORECASE)  # place and days
# Such as: EXAMPLES ORIGINAL PAPER.
_KIND_AFTER_VENUE = re.compile(
    r"\s(?:(?:ORIGINAL|RESEARCH|REVIEW|APPLICATIONS?|DISCOVERY|SHORT)\s)?(?:PAPER|ARTICLE|NOTE|COMMUNICATION|LETTER)$"
)
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
# A lone c counts: some fonts draw the sign as a letter in a circle.
_COPYRIGHT = re.compile(
    rf"(?:©|\(c\)|\bcopyright\b|^\W*c(?=\s?{RECENT_YEAR}|\s))\D{{0,40}}({RECENT_YEAR})\b", re.IGNORECASE
)
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
# Such as: Released 2021/02/24; v1.9, 2012/07/27; at the foot of page 1: 1 2012/7/27.
_DATE_FIRST = re.compile(
    rf"^\W*(?:\d{{1,3}}\s+)?(?:v(?:er(?:sion)?)?\.?\s*[\d.]+\w?,?\s+)?(?:[^\W\d_]+:?\s+){{0,2}}{_NUMERIC_DATE}"
)
# The semesters of German universities.
_SEMESTER = re.compile(rf"\b(?:SS|WS|SoSe|WiSe|(?:Sommer|Winter)semester)\s+({RECENT_YEAR})")
# Such as: A. Lind et al. (Eds.): EXAMPLES 2023, SCI 1143, pp. 147–158, 2024.
_EDITED = re.compile(
    rf"\W*[^\W\d_a-z].{{2,120}}?\((?i:eds?|hrsg|hg)\.?\)\s?[:,.]\s(?P<name>[^\W_a-z][^,;]{{2,120}}?)"
    rf"(?:,\s(?P<series>[A-Z][\w\s/&-]{{1,40}}?)\s(?P<volume>\d{{1,5}}))?,\s(?:pp?|S)\.\s?"
    rf"(?P<first>\d{{1,4}})\s?[-–]\s?(?P<last>\d{{1,4}})(?:,\s(?P<year>{RECENT_YEAR}))?"
)
# A line of the cover that a journal puts before a manuscript.
_LABELLED = re.compile(r"\W*(?i:journal|zeitschrift|revista|revue)\s?:\s+(?P<name>[^\W\d_a-z][^:@]{2,120})")
# How a note at the foot of the first page begins.
_DATE_NOTE = re.compile(
    r"^\W*(?:date|datum|fecha|copyright|©|c(?=\s?(?:19|20)\d\d\b)|(?:manuscript\s+)?received|accepted|eingegangen|published(?:\s+online)?|"
    r"(?:last\s+)?(?:revised|updated|modified)|released?|stand|this\s+(?:version|draft))(?:\b|(?<=©))(?!\s+(?:in|by|as)\b)",
    re.IGNORECASE,
)
_PRICED = re.compile(rf"\$\s?\d+\.\d\d.{{0,12}}?\b({RECENT_YEAR})\b")  # 0-1234-5678-9/08/$25.00 ©2008 Society
_DATE_OF_DOCUMENT = re.compile(rf"\bdate(?: of this document)?:\s*({RECENT_YEAR})[./-]\d", re.IGNORECASE)
_EDGES = " \t,.;:–—-|•·(["
_WORK = (
    r"(?:version|paper|article|manuscript|document|preprint|work|chapter|report|study|vignette|introduction|draft|"
    r"description|contribution)"
)
_PUBLISHED_IN = (
    r"\b(?:(?:re)?published|appear(?:ed|s|ing)?|accepted(?:\s+for\s+publication)?|forthcoming|in\s+press|printed)"
    r"(?:\s+online|\s+as\s[^.;:]{1,60}?|\s+in\s(?:\w+\s){0,3}(?:form|version))?\s+(?:in|by)\s+(?:the\s+)?"
)
# A sentence that says of this very paper where it appeared.
_ANNOUNCED = re.compile(
    rf"(?:\b(?:this|present|our|an?|the)\s(?:[\w(),'’-]+\s){{0,8}}?{_WORK}|[∗*†‡]\s?{_WORK})(?:\s[\w-]+){{0,4}}?\s"
    rf"(?P<name>{_PUBLISHED_IN})|"
    rf"\b(?:(?:version|preprint|postprint|reprint|translation|update)\s+of|based\s+on)\s[^;:]{{1,160}}?"
    rf"(?P<other>{_PUBLISHED_IN})",
    re.IGNORECASE,
)
_VENUE_NAME = re.compile(
    r"[^\W\d_a-z][\w&’'-]*(?:\s(?:(?:of|and|for|in|on|the|to|de|der|des|für|und)\s)*(?:&\s)?[^\W\d_a-z][\w&’'-]*){0,9}"
)
_NO_VENUE = re.compile(
    rf"(?:{_MONTH}[a-zä]*|english|german|french|spanish|latin|[ivx]+)\b\.?\s*\d*$", re.IGNORECASE
)
_NOTE_BEGINS = re.compile(
    r"\W*(?:\d\W*)?(?:(?:this\s+)?(?:paper|article|work)\s+)?(?:to\s+(?:appear|be\s+published)|appear(?:s|ed|ing)|"
    r"(?:re)?published|reprinted|presented|accepted(?:\s+for\s+(?:publication|presentation))?|in\s+press|forthcoming)"
    r"\s*(?:in|at|from)\b[:\s]\s*(?:the\s+)?",
    re.IGNORECASE,
)
# Such as: Proceedings of the 1992 Examples.
_NOTED_NAME = re.compile(
    rf"(?:Proc(?:eedings|\.)\s(?:of\s)?(?:the\s)?)?(?:(?:{RECENT_YEAR}|\d{{1,3}}(?:st|nd|rd|th))\s)?{_VENUE_NAME.pattern}"
)
_AFTER_NAME = 80  # characters after the name of a venue that may have its year and volume


def is_abbreviated(short: str, whole: str) -> bool:
    """Return True if every word of a name begins the next but small words of another: J. Sci. Res."""
    words = iter(word.casefold() for word in re.findall(r"\w+", whole))
    return (
        all(any(word.startswith(part.casefold()) for word in words) for part in re.findall(r"\w+", short))
        and "." in short
    )


def without_other_numbers(text: str) -> str:
    """Return the text without URLs, e-mail addresses, ISSN, DOI and telephone numbers, whose digits look like years."""
    return _NOT_A_YEAR.sub(" ", text)


def heads_issue(text: str) -> bool:
    """Return True for a line that may name a journal: by its words, in capitals, or with a year and pages."""
    text = text[:MAX_VENUE]
    return bool(_SERIAL.search(text) or text.isupper() or (_YEAR.search(text) and _PAGES.search(text)))


def read_printed(line: str) -> dict[str, str]:
    """Read a running head or a note: the name of a venue, followed by year and volume, number or pages."""
    text = _TIME_OF_DAY.sub(" ", without_other_numbers(line))
    pages = next((match for match in _PAGES.finditer(text) if _is_range(match)), None)
    rest = (
        text[: pages.start()] + " " * (pages.end() - pages.start()) + text[pages.end() :] if pages else text
    )
    year, number = _YEAR.search(rest), _NUMBER.search(rest)
    volume = _VOLUME.search(rest) or (pages and _VOLUME_BEFORE_PAGES.search(text[: pages.start()]))
    marks = [match for match in (pages, year, volume, number) if match]
    if not marks:
        return {}
    venue = _venue(text, [match.span() for match in marks])
    if venue and _is_cited_in_text(text, max(match.end() for match in marks)):
        return {}
    at_meeting = is_meeting(venue)
    announced = bool(_PUBLISHED.match(line.strip()))
    is_issue = volume and number and _ISSUE_CUE.search(rest)  # a number of a journal, if it is not dated
    is_article = bool(_ARTICLE_OF_VOLUME.search(text) or _VOLUME_AND_PAGES.fullmatch(text.strip()))
    if not venue or not (year or is_issue):
        return {}
    if not (volume or pages or at_meeting or (announced and _SERIAL.search(venue))):
        return {}
    is_journal = volume and (number or pages or is_article or _SERIAL.search(venue))
    if not at_meeting and not is_journal and not announced:
        return {}
    found = {
        "booktitle" if at_meeting else "journal": venue,
        "volume": next((group for group in volume.groups() if group), "") if volume else "",
        "number": next((group for group in number.groups() if group), "") if number else "",
        "pages": str(parse_pages(f"{pages[1]}-{pages[2]}")) if pages else "",
        "year": year[1] if year else "",
    }
    return {name: value for name, value in found.items() if value}


def _is_cited_in_text(text: str, end: int) -> bool:
    """Return True if a bracket closes behind the numbers that holds more than them: (June 1999) holds a date."""
    opened = text.rfind("(", 0, end)
    holds_date = opened > text.rfind(")", 0, end) and end - opened < _MAX_DATE
    return bool(_CITED_IN_TEXT.match(text, end)) and not holds_date


def read_issue(line: str, *, is_margin: bool) -> dict[str, str]:
    """Read a line such as `Die Komödie 2/2004`, or one whose issue is not known yet: `JOURNAL, VOL (YEAR)`."""
    text = without_other_numbers(line[:MAX_TEXT])
    issue, unknown = _ISSUE_OF_YEAR.search(text), _NO_ISSUE_YET.search(text)
    mark = issue or unknown
    if not mark or _DATED_VERSION.match(text):
        return {}
    venue = _venue(text, [mark.span()])
    if not venue or not (_SERIAL.search(venue) or is_margin):
        return {}
    return {"journal": venue} | ({"number": issue[1], "year": issue[2]} if issue else {})


def _meeting_name(text: str, start: int) -> re.Match[str] | None:
    """Match the whole name of a meeting, which may have commas: up to its acronym in brackets, or else to a comma."""
    name = _WHOLE_MEETING.match(text, start)
    if not name or name[0].endswith(")") or "," not in name[0]:
        return name
    return _WHOLE_MEETING.match(text, start, start + name[0].index(",")) or name


def _is_range(match: re.Match[str]) -> bool:
    """Return True for pages; two years, as in 1999–2007, are none."""
    first, last = match[1], match[2]
    are_years = all(re.fullmatch(RECENT_YEAR, part) for part in (first, last))
    cue = match[0].lstrip(" ,:;–—|•·")[:1].isalpha()
    return cue or not are_years


def _venue(text: str, marks: Sequence[tuple[int, int]]) -> str:
    """Return the words before the first of the numbers, without an announcement such as "Published in"."""
    first = min((start for start, _ in marks), default=0)
    name = _PAGE_BEFORE_VENUE.sub("", text[:first].strip(_EDGES))
    if not name and _ISSUE_FIRST.match(text):  # Vol. 29 no. 9 2013, pages 1215–1217 NAME
        name = text[max(end for _, end in marks) :].partition(" doi")[0].strip(_EDGES + ")")
        name = _KIND_AFTER_VENUE.sub("", name)
        is_name = name.isupper() or (" " in name and _VENUE_NAME.fullmatch(name))
        name = name if is_name else ""
    if announced := _PUBLISHED.match(name) or _IN_PROCEEDINGS.match(name):
        name = name[announced.end() :]
    name = _CUE_AFTER_VENUE.sub("", _DATE_AFTER_VENUE.sub("", name)).split(" | ")[0]
    name = _UNCLOSED.sub("", without_people(name))
    name = tidy(_AFTER_MEETING.sub("", name).strip(_EDGES), "booktitle")
    letters = sum(map(str.isalpha, name))
    if _UNFINISHED.search(name) or _NO_VENUE.fullmatch(name) or _ONLY_PEOPLE.fullmatch(name):
        return ""
    begins = name[:1].isupper() or _MEETING_NOTE.match(name)
    is_name = letters >= 4 and len(name) <= MAX_VENUE and begins and "@" not in name
    return written_as_usual(name) if is_name else ""


def without_people(name: str) -> str:
    """Return the name of a venue without the people before it: `Lind (ed.): Proceedings`."""
    return _PEOPLE_BEFORE_VENUE.sub("", name)


def written_as_usual(name: str) -> str:
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


def is_venue_note(line: str) -> bool:
    """Return True for a line that begins as the name of a meeting, or that is nothing but volume and pages."""
    return bool(_MEETING_NOTE.match(line) or _VOLUME_AND_PAGES.fullmatch(line[:MAX_VENUE]))


def begins_with_issue(line: str) -> bool:
    """Return True for a line whose journal is named elsewhere: `Volume 51, Issue 7`."""
    return bool(_ISSUE_FIRST.match(line))


def is_meeting(name: str) -> bool:
    """Return True for the name of a conference or of its proceedings."""
    return bool(_MEETING.search(name))


def names_meeting(name: str) -> bool:
    """Return True for a name that says in full that it is a meeting; an acronym does not."""
    return bool(re.search(_MEETING_WORDS, name))


def read_dated_meeting(line: str) -> dict[str, str]:
    """Read a meeting that is named with its days: `EXAMPLE’06, October 22–25, 2006, Seoul`."""
    match = _DATED_MEETING.match(line[:MAX_VENUE])
    return _meeting(match["name"], match["year"] or match["own"]) if match else {}


def read_named_meeting(line: str, *, is_margin: bool) -> dict[str, str]:
    """Read a meeting in a running head, or in a line of which it is the most: `15th Symposium on Examples`."""
    text = without_other_numbers(line[:MAX_VENUE])
    short = _SHORT_MEETING.match(text) if is_margin else None
    if short:
        return _meeting(short["name"], str(parse_year(short["name"])))
    match = _NAMED_MEETING.search(text)
    if not match or not (is_margin or 2 * len(match[0]) > len(text)):
        return {}
    return _meeting(match[0].removeprefix(match["year"] or ""), match["year"] or "")


def _meeting(name: str, year: str) -> dict[str, str]:
    found = {"booktitle": name.strip(_EDGES), "year": year}
    return {field: text for field, text in found.items() if text}


def read_noted(line: str) -> dict[str, str]:
    """Read a note that begins with where the paper appears: `1 To appear in Proceedings of the 1992 Examples`."""
    begin = _NOTE_BEGINS.match(line)
    if not begin:
        return {}
    name = _meeting_name(line[:MAX_TEXT], begin.end()) or _NOTED_NAME.match(line[:MAX_TEXT], begin.end())
    if not name or _NO_VENUE.fullmatch(name[0]):
        return {}
    in_name = _YEAR.findall(name[0])
    years = [*in_name, *_YEAR.findall(without_other_numbers(line[name.end() : name.end() + _AFTER_NAME]))]
    found = {"booktitle" if is_meeting(name[0]) else "journal": name[0], "year": "".join(years[:1])}
    return {field: value for field, value in found.items() if value}


def read_edited(line: str) -> dict[str, str]:
    """Read a chapter of an edited book or of proceedings: `Lind (Eds.): EXAMPLES 2023, SCI 1143, pp. 147–158, 2024`."""
    match = _EDITED.match(without_other_numbers(line[:MAX_TEXT]))
    if not match:
        return {}
    year = match["year"] or "".join(_YEAR.findall(match["name"])[:1])
    found = {
        "booktitle": match["name"].strip(_EDGES),
        "volume": match["volume"] or "",
        "pages": str(parse_pages(f"{match['first']}-{match['last']}")),
        "year": year,
    }
    return {name: value for name, value in found.items() if value} if year else {}


def read_submitted(line: str) -> dict[str, str]:
    """Read what journals print on manuscripts: `Preprint submitted to Examples`, `Examples manuscript No.`"""
    if labelled := _LABELLED.fullmatch(line[:MAX_VENUE]):
        return {"journal": labelled["name"].strip(_EDGES)}
    match = _SUBMITTED.match(line[:MAX_VENUE])
    name = _of_groups(match).strip(_EDGES) if match else ""
    return {"journal": name} if name and name not in _PUBLISHERS else {}


def announcements(text: str) -> Iterator[tuple[str, int]]:
    """Yield each announcement such as "a modified version of Lind (2008), published in the", and where it ends."""
    yield from ((match[0], match.end()) for match in _ANNOUNCED.finditer(text))


def read_announced(text: str, announcement: str, start: int) -> dict[str, str]:
    """Read the venue that follows an announcement at `start`, and the year that one of both has."""
    name = _meeting_name(text, start) or _VENUE_NAME.match(text, start)
    if not name or len(name[0]) < 4 or _NO_VENUE.fullmatch(name[0]):
        return {}
    after = without_other_numbers(text[name.end() : name.end() + _AFTER_NAME])
    years = [*_YEAR.findall(after), *re.findall(rf"({RECENT_YEAR})[a-z]?\)", announcement)]
    found = {"booktitle" if is_meeting(name[0]) else "journal": name[0], "year": "".join(years[:1])}
    return {field: value for field, value in found.items() if value}


def find_year(lines: Sequence[str]) -> tuple[int, str] | None:
    """Return the line and the year with the best reason to be the paper's: a month, copyright, or "accepted"."""
    texts = [without_other_numbers(line[:MAX_TEXT]) for line in lines]
    for pattern in (_MONTH_AND_YEAR, _DATE_FIRST, _COPYRIGHT, _DATED, _ARXIV, _SEMESTER):
        for number, text in enumerate(texts):
            if match := pattern.search(text):
                return number, _of_groups(match)
    return None


def is_year_alone(line: str) -> bool:
    """Return True for a line that is nothing but a year."""
    return bool(re.fullmatch(rf"\W*({RECENT_YEAR})\W*", line[:MAX_TEXT]))


def noted_year(line: str) -> str:
    """Return the latest year of a note: `Received 3 May 2009; accepted 8 January 2010`; empty without one."""
    note = line[:_MAX_NOTE]
    if dated := _PRICED.search(note) or _DATE_OF_DOCUMENT.search(note):
        return dated[1]
    text = without_other_numbers(note)
    if not _DATE_NOTE.match(text):
        return ""
    dates = [_of_groups(match) for match in re.finditer(_NUMERIC_DATE, text)]
    return max([*dates, *_YEAR.findall(text)], default="")


def _of_groups(match: re.Match[str]) -> str:
    return next(group for group in match.groups() if group)

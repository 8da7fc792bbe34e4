"""A document read as a paper: fields and references with confidence and source, and citing sentences."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import exp, log, log1p
from statistics import median
from string import ascii_lowercase
from typing import Literal

from wayhound.documents.document import Document, Line
from wayhound.documents.flow import flow, whole_words
from wayhound.papers.contexts import CitationContext, find_contexts
from wayhound.papers.fields import read_reference as read_reference_fields
from wayhound.papers.fields import repair_fields
from wayhound.papers.front_layout import label_length, read_front_by_layout
from wayhound.papers.header_reader import FrontField, FrontMatter, read_front_matter
from wayhound.papers.imprint import YEAR_CONFIDENCE, read_imprint
from wayhound.papers.imprint_lines import without_other_numbers
from wayhound.papers.lexicon import Lexicon
from wayhound.papers.normalise_fields import in_mixed_case, mail_addresses, normalise_reference, tidy
from wayhound.papers.reference_cut import RawReference, cut_references
from wayhound.papers.sections import Sections, find_sections, reference_lines
from wayhound.papers.spans import SpanMaker, find_words
from wayhound.papers.tokens import FieldModel
from wayhound.record import Value
from wayhound.text.numbers import parse_year
from wayhound.text.person_names import parse_names, split_name
from wayhound.text.words import words

Fields = dict[str, tuple[Value, ...]]

PEOPLE = frozenset({"author", "editor"})
_DECIDED_BY_PERSON = "A person decided this."
_MAX_BODY = 2_000_000  # characters that are searched, those of a book of 800 pages
_EXCERPT = 2_000  # characters of a document that is no paper
_MAX_TITLE = 300  # characters
_STATED_CONFIDENCE = 0.97  # of what a file states about itself
_DOUBTED_CONFIDENCE = 0.5  # of a title on which model and layout differ
_LAYOUT_CONFIDENCE = 0.3  # of a title that only the layout suggests
_MOST_LAYOUT_AUTHORS = 12
_PAPER_WEIGHTS = {
    "bias": 1.0, "front": 0.51, "references": 0.27, "cited": 0.94, "authors": 1.02, "affiliations": 0.2,
    "pages": -0.62, "contents": -0.58,
}  # fmt: skip
_PAPER_WORDS = 200  # fewer make a paper less likely in proportion
_CERTAINTIES = ((0.9, "certainly"), (0.7, "probably"), (0.4, "perhaps"), (0.0, "hardly"))
# Weights of the confidence of a title, fitted on 285 PDFs.
_TITLE_BIAS, _TITLE_MODEL, _TITLE_LAYOUT = -0.24, 0.37, 0.99
_CONTENTS_LINE = re.compile(r"\. \. \.|\.{5}")
_WORD = re.compile(r"\S+")
_KEYWORD_HEADING = re.compile(
    r"^(?:key\s?-?\s?words?(?: and phrases)?|index terms|mots[- ]cl[ée]s|schlagw[öo]rter)\s*[:.—–-]*\s*",
    re.IGNORECASE,
)
# The marks of footnotes after a title; but the star of IDA∗ belongs to the name.
_FOOTNOTE = re.compile(r"\s*(?:(?<!A)[*∗⋆]|[†‡§¶])+\s*$")
_INITIAL = re.compile(r"(?:[^\W\d_a-z]\.-?)+")
_NOTE_NUMBER = re.compile(r"(?<=[^\W\d_]{3})[1-9]$")
_SENT_BY = re.compile(r"\W*\b(?:communicated|edited|reviewed|submitted)\s+by\b.*", re.IGNORECASE)
_NOTE_SIGNS, _LETTERED_NAMES = " *∗†‡§¶", 3  # fewer names may end in a and b by themselves
_LETTERED_LINE, _FRONT_LINES = re.compile(r"a\s?(?:[^\W\d_a-z]|http)"), 40  # aUniversity of Examples
_BETWEEN_NAMES = re.compile(r"[,;&]|\band\b")
_NOTE_LETTER = re.compile(r"(?<=[^\W\d_])[a-k]\)(?:,\s?[a-k]\))*")
# The mark of an affiliation, which refers to the names above.
_MARK = re.compile(r"^\s*(?:[*∗⋆†‡§¶]+|&(?=\s)|\(\d{1,2}\)(?=\s)|\d(?=\s+[^\W\d_a-z]))\s*")
# A number that was set above the line, as in 1University of Examples.
_GLUED_NUMBER = re.compile(r"(?:^|(?<=\s))(?!3Com\b)(\d{1,2})(?=[^\W\d_a-z][^\W\d_A-Z])")
_BETWEEN_KEYWORDS = re.compile(r"\s*[;,•·]\s*|\s[–—-]\s")
# Institutes, degrees and lines on how to cite, which stand near authors.
_NO_PERSON = re.compile(
    r"universi|institut|hochschule|fakult|facult[yé]|\bdepart|\bd[ée]partement|laborator|\bcollege\b|\bcent(?:er|re)\b|"
    r"\bschool\b|\bgmbh\b|\binc\b|\bltd\b|\bteam\b|\bsoftware\b|\bcorporation\b|\bfoundation\b|\bgroup\b|\bresearch\b|\blabs?\b|"
    r"abteilung|lehrstuhl|fachbereich|fachgebiet|arbeitsgruppe|forschungs|wissenschaft|gesellschaft|stiftung|technologie|"
    r"\b(?:supervis|advis)ors?\b|betreuer|gutachter|\bsociety\b|\bmember\b|\bmanual\b|\beditorial\b|\bph\.?\s?d\b|\bcite\b|\bcitation\b|zitier|\bdoi\b|/|\d{3}",
    re.IGNORECASE,
)
# Not kept of a document that is no paper: without an abstract to end the header, running text is read as notes.
_NOT_OF_DOCUMENTS = frozenset({"note"})
_YEAR_SOURCES = ("date", "pubnum", "note")  # fields that the year of a paper is taken from, best first


@dataclass(frozen=True, slots=True)
class PaperModels:
    """The models that find fields."""

    header: FieldModel
    reference: FieldModel
    lexicon: Lexicon | None = None


@dataclass(frozen=True, slots=True)
class ReadReference:
    """A reference as printed, and its fields with confidence and source."""

    text: str
    label: str
    fields: Fields


@dataclass(frozen=True, slots=True)
class ReadPaper:
    """The fields read from a document. One that is no paper has the fields of a paper, but no notes and references.

    `reason` is a sentence that explains `kind`; `pages` has the running text of each page, without the references.
    """

    kind: Literal["paper", "document"]
    reason: str
    fields: Fields
    references: tuple[ReadReference, ...] = ()
    contexts: tuple[CitationContext, ...] = ()
    pages: tuple[str, ...] = ()


def read_paper(document: Document, models: PaperModels, url: str, kind: str = "") -> ReadPaper:
    """Read a document; `url` identifies it in the sources of its fields.

    `kind`, `paper` or `document`, is a person's decision, which overrides that of `find_sections`.
    """
    sections, about = find_sections(document), _file_fields(document)
    reason = _DECIDED_BY_PERSON if kind else sections.reason
    spans = SpanMaker(document, url)
    front = _front_fields(read_front_matter(document, models.header, sections), spans, models)
    fields = (
        _with_imprint(front, read_imprint(document, sections, models.reference, url))
        | _stated(document)
        | about
    )
    raw = (
        cut_references(reference_lines(document), whole_words(document.lines)) if sections.references else []
    )
    contexts = find_contexts(document, raw, sections) if raw else ()
    n_cited = len({context.reference for context in contexts})
    decided = {"paper": 1.0, "document": 0.0}
    probability = paper_probability(document, sections, fields, n_references=len(raw), n_cited=n_cited)
    about |= _certainty_fields(decided.get(kind, probability))
    if kind == "document" or not (kind or sections.is_paper):
        kept = {name: values for name, values in fields.items() if name not in _NOT_OF_DOCUMENTS}
        kept |= _document_fields(document, reason, fields) | _stated(document) | about
        return ReadPaper("document", reason, kept, pages=page_texts(document))
    references = tuple(_read_reference(reference, models, spans) for reference in raw)
    return ReadPaper("paper", reason, fields | about, references, contexts, page_texts(document, sections))


def paper_probability(
    document: Document, sections: Sections, fields: Fields, *, n_references: int, n_cited: int
) -> float:
    """Return the probability that people would call the document a paper: not a manual, letter, or slides.

    The weights were fitted on 225 files of documentation packages, papers by their LaTeX source and others. They
    take a file without any evidence, such as a single line, for a paper of one page; so files of few words count less.
    """
    contents = sum(bool(_CONTENTS_LINE.search(line.text)) for line in document.lines[:200])
    evidence = {
        "bias": 1.0,
        "front": float(sections.has_front),
        "references": min(log1p(n_references), 4.0),
        "cited": n_cited / max(1, n_references),
        "authors": float(bool(fields.get("author"))),
        "affiliations": float(bool(fields.get("affiliation"))),
        "pages": min(log1p(len(document.pages)), 5.0),
        "contents": min(contents, 30) / 10,
    }
    length = min(1.0, len(document.text.split()) / _PAPER_WORDS)
    return length * sigmoid(sum(_PAPER_WEIGHTS[name] * value for name, value in evidence.items()))


def sigmoid(odds: float) -> float:
    return 1 / (1 + exp(-odds))


def _certainty_fields(probability: float) -> Fields:
    label = next(label for least, label in _CERTAINTIES if probability >= least)
    texts = {"paper_certainty": label, "paper_probability": f"{probability:.2f}"}
    return {name: (Value(text),) for name, text in texts.items()}


def page_texts(document: Document, sections: Sections | None = None) -> tuple[str, ...]:
    """Return the running text of each page, as far as it is searched; given `sections`, without the references."""
    left_out, words = sections.references if sections else range(0), whole_words(document.lines)
    lines: list[list[Line]] = [[] for _ in document.pages]
    places = {page.number: number for number, page in enumerate(document.pages)}
    room = _MAX_BODY
    for number, line in enumerate(document.lines):
        if number not in left_out and room > 0:
            lines[places[line.page]].append(line)
            room -= len(line.text)
    return tuple(flow(page, words).text for page in lines)


def derived_fields(fields: Fields, lexicon: Lexicon | None = None) -> Fields:
    """Return year, volume, pages and venue of a reference in comparable form.

    Each has the confidence and source of the field that it was taken from.
    """
    texts = {
        name: (" and " if name in PEOPLE else " ").join(value.text for value in values)
        for name, values in fields.items()
    }
    normal = normalise_reference(texts, lexicon.is_first_name if lexicon else None)
    derived = {
        "year": (str(normal.year or ""), ("date", "booktitle", "note")),
        "volume": (normal.volume, ("volume",)),
        "number": (normal.number, ("volume",)),
        "pages": (str(normal.pages), ("pages",)),
        "venue": (normal.venue, ("journal", "booktitle", "tech")),
        "venue_kind": (normal.venue_kind, ("journal", "booktitle", "tech", "publisher", "note")),
    }
    return {
        name: (_as_from(fields, origins, text),)
        for name, (text, origins) in derived.items()
        if text and text != "unknown"
    }


def _as_from(fields: Fields, origins: Iterable[str], text: str) -> Value:
    origin = next((fields[name][0] for name in origins if fields.get(name)), Value("", 0.5))
    return replace(origin, text=text)


def _read_reference(raw: RawReference, models: PaperModels, spans: SpanMaker) -> ReadReference:
    fields: dict[str, list[Value]] = {}
    for span in repair_fields(raw.text, read_reference_fields(raw.text, models.reference)):
        value = Value(span.text, span.confidence, spans.in_reference(raw, span.start, span.end))
        fields.setdefault(span.field, []).extend(_split(span.field, value, models.lexicon))
    kept = {name: tuple(values) for name, values in fields.items() if values}
    return ReadReference(raw.text, raw.label, kept | derived_fields(kept, models.lexicon))


def _split(field: str, value: Value, lexicon: Lexicon | None) -> Iterator[Value]:
    """Yield each name of authors and editors, or the tidy text of any other field."""
    if field in PEOPLE:
        is_first_name = lexicon.is_first_name if lexicon else None
        texts = [name.full for name in parse_names(value.text, is_first_name)]
    else:
        texts = [tidy(value.text, field)]
    yield from (replace(value, text=text) for text in texts if text)


def _front_fields(front: FrontMatter, spans: SpanMaker, models: PaperModels) -> Fields:
    fields: dict[str, list[Value]] = {}
    for part in map(_with_calibrated_title(spans.document), _best_fields(front)):
        for value in _front_values(part, spans, models.lexicon):
            values = fields.setdefault(part.field, [])
            if value.text.casefold() not in {other.text.casefold() for other in values}:
                values.append(value)
    if "author" in fields:
        fields["author"] = _named_once(_without_single_words(fields["author"]))
    kept = {name: tuple(values) for name, values in fields.items() if values}
    if "title" not in kept:
        kept |= _layout_title(spans.document)
    if "author" not in kept:
        kept |= _layout_authors(spans.document, models.lexicon)
    return kept | _year(kept)


def _with_calibrated_title(document: Document) -> Callable[[FrontField], FrontField]:
    """Return a function that replaces the confidence of a title by the measured probability that it is right.

    The model alone gives nearly all titles more than .99, so whether the layout agrees counts as well.
    """

    def calibrated(part: FrontField) -> FrontField:
        if part.field != "title":
            return part
        agrees = words(read_front_by_layout(document).title) == words(part.text)
        odds = log(max(part.confidence, 1e-6) / max(1 - part.confidence, 1e-6))
        return replace(part, confidence=sigmoid(_TITLE_BIAS + _TITLE_MODEL * odds + _TITLE_LAYOUT * agrees))

    return calibrated


def _without_single_words(people: list[Value]) -> list[Value]:
    """Drop single words among whole names: "ASCE" after a member's name, "The" of an institute."""
    whole = [person for person in people if " " in person.text]
    return whole or people


def _named_once(people: list[Value]) -> list[Value]:
    """Drop people who are also named in full: "P. Barn" of a line that cites the paper, beside "Paula Barn"."""
    names = [split_name(person.text) for person in people]
    full = {(name.last.casefold(), name.first[:1]) for name in names if not _INITIAL.fullmatch(name.first)}
    return [
        person
        for person, name in zip(people, names, strict=True)
        if not (_INITIAL.fullmatch(name.first) and (name.last.casefold(), name.first[:1]) in full)
        and not any(f" {person.text} " in f" {other.text} " for other in people if other is not person)
    ]


def _layout_title(document: Document) -> Fields:
    """Return the title by layout, for a paper in which the model finds none."""
    title = tidy(read_front_by_layout(document).title, "title")[:_MAX_TITLE]
    return {"title": (Value(title, _LAYOUT_CONFIDENCE),)} if title else {}


def _layout_authors(document: Document, lexicon: Lexicon | None) -> Fields:
    """Return the names below the title, for a paper in which the model finds no authors.

    If fewer than half of them begin with a known first name, only these count, and none if the first is not among them.
    """
    names = [name for name in read_front_by_layout(document).authors if not _NO_PERSON.search(name)]
    known = [name for name in names if lexicon and lexicon.is_first_name(name.split()[0])]
    if 2 * len(known) < len(names):
        names = known if names[0] in known else []
    people = tuple(Value(name, _LAYOUT_CONFIDENCE) for name in names[:_MOST_LAYOUT_AUTHORS])
    return {"author": people} if people else {}


def _best_fields(front: FrontMatter) -> Iterator[FrontField]:
    """Yield every field, but only the best title and the best abstract."""
    for part in front.fields:
        if part is {"title": front.title, "abstract": front.abstract}.get(part.field, part):
            yield part


def _front_values(part: FrontField, spans: SpanMaker, lexicon: Lexicon | None) -> Iterator[Value]:
    whole = Value(part.text, part.confidence, spans.in_text(part.start, part.end))
    match part.field:
        case "author":
            people = [
                person
                for person in _split("author", _without_notes(whole, spans.document), lexicon)
                if not _NO_PERSON.search(person.text)
            ]
            for person in people:
                placed = _with_own_source(person, part, spans)
                yield replace(placed, text=in_mixed_case(placed.text))
        case "keyword":
            words = _KEYWORD_HEADING.sub("", " ".join(part.text.split()))
            for word in _BETWEEN_KEYWORDS.split(words):
                yield from _split("keyword", replace(whole, text=word.rstrip(".")), None)
        case "abstract":
            yield whole
        case "title":
            title = _without_note_number(_FOOTNOTE.sub("", _without_notes(whole).text), spans.document)
            yield from _split("title", replace(whole, text=title), None)
        case "email":
            for address in mail_addresses(part.text) or [tidy(part.text)]:
                yield _with_own_source(replace(whole, text=address), part, spans)
        case "affiliation" | "note":
            texts = (_MARK.sub("", text) for text in separate_notes(part.text))
            yield from (replace(whole, text=tidied) for text in texts if (tidied := tidy(text, part.field)))
        case _:
            yield from _split(part.field, whole, None)


def separate_notes(text: str) -> list[str]:
    """Return the parts of a text that begins with a number set above its line, one for each next number."""
    numbered = list(_GLUED_NUMBER.finditer(text))
    if not numbered or numbered[0].start():
        return [text]
    starts = [match for place, match in enumerate(numbered) if int(match[1]) == int(numbered[0][1]) + place]
    ends = [match.start() for match in starts[1:]] + [len(text)]
    return [text[match.end() : end].strip() for match, end in zip(starts, ends, strict=True)]


def _without_notes(value: Value, document: Document | None = None) -> Value:
    """Return the value without letters that refer to notes: `A. Authorb)`; `A. Onea, B. Twob, C. Threec`.

    Two names, or names that share a letter, count if a line of the document begins with the first letter.
    """
    text = _SENT_BY.sub("", value.text[label_length(value.text) :])
    text = text if "(" in text else _NOTE_LETTER.sub("", text)
    parts = [part.rstrip(_NOTE_SIGNS) for part in text.split(",") if part.strip(_NOTE_SIGNS)]
    if len(parts) >= _LETTERED_NAMES and [part[-1] for part in parts] == list(ascii_lowercase[: len(parts)]):
        text = ",".join(part[:-1] for part in parts)
    elif document and any(_LETTERED_LINE.match(line.text) for line in document.lines[:_FRONT_LINES]):
        names = [name for part in _BETWEEN_NAMES.split(text) if len(name := part.strip(_NOTE_SIGNS)) > 1]
        if len(names) > 1 and names[0][-1] == "a" and all(name[-1] in "abcde" for name in names):
            text = ", ".join(name[:-1] for name in names)
    return replace(value, text=text)


def _without_note_number(title: str, document: Document) -> str:
    """Return a title without the number of a note at its end, if a note in small print begins with that number."""
    number = _NOTE_NUMBER.search(title)
    if not number:
        return title
    page = document.pages[0].lines
    usual = median(line.size for line in page)
    notes = (line for line in page if line.text.startswith(number[0]) and line.size < usual)
    is_note = any(re.match(r"\d\s?[^\W\d_a-z]", line.text) for line in notes)
    return title[:-1] if is_note else title


def _with_own_source(person: Value, part: FrontField, spans: SpanMaker) -> Value:
    """Return the value with the source of its own words, if they are adjacent in the field."""
    words = list(_WORD.finditer(spans.document.text, part.start, part.end))
    matched = find_words([word[0] for word in words], person.text)
    if not matched:
        return person
    return replace(person, source=spans.in_text(words[matched[0]].start(), words[matched[-1]].end()))


def _year(fields: Fields) -> Fields:
    for name in _YEAR_SOURCES:
        for value in fields.get(name, ()):
            if year := parse_year(without_other_numbers(value.text)):
                return {"year": (replace(value, text=str(year)),)}
    return {}


def _with_imprint(front: Fields, imprint: Fields) -> Fields:
    """Return the fields of both; a year that stands alone is less certain than one that the model found.

    A line on how to cite the paper tells its authors, if it names all that the model found, and more.
    """
    cited, found = (_last_names(fields) for fields in (imprint, front))
    if cited <= found or not found <= cited:
        imprint = {name: values for name, values in imprint.items() if name != "author"}
    front = {name: values for name, values in front.items() if name != "author" or "author" not in imprint}
    if "journal" in imprint:
        imprint = imprint | {"journal": (_without_authors(imprint["journal"][0], found | cited),)}
    names_venue = "journal" in imprint or "booktitle" in imprint
    certain = {
        name: values
        for name, values in imprint.items()
        if name != "year" or values[0].confidence > YEAR_CONFIDENCE
    }
    return imprint | front | (certain if names_venue or "year" in certain else {})


def _without_authors(venue: Value, names: set[str]) -> Value:
    """Return the name of a venue without the authors that some running heads have before it: Lind and Wood Examples."""
    words = venue.text.split()
    while len(words) > 1 and words[0].strip(",").casefold() in names | {"and", "&"}:
        words = words[1:]
    return replace(venue, text=" ".join(words))


def _last_names(fields: Fields) -> set[str]:
    return {value.text.split()[-1].casefold() for value in fields.get("author", ()) if value.text.strip()}


def _stated(document: Document) -> Fields:
    """Return what the file states about itself, as publishers do: more certain than what is read.

    A title counts as stated in web pages only: programs that write PDF and PostScript state file names as well, so
    theirs count where they are printed, which `read_front_matter` sees to.
    """
    return {
        name: tuple(Value(text, _STATED_CONFIDENCE) for text in texts)
        for name, texts in document.stated
        if name != "title" or document.kind == "html"
    }


def _file_fields(document: Document) -> Fields:
    """Return the fields that describe the file."""
    texts_by_name = {
        "file_type": (document.kind,),
        "page_count": (str(len(document.pages)),),
        "remark": document.notes,
    }
    return {name: tuple(map(Value, texts)) for name, texts in texts_by_name.items() if texts}


def _document_fields(document: Document, reason: str, fields: Fields) -> Fields:
    first = next((line.text for line in document.lines if line.text.strip()), "")
    title = (read_front_by_layout(document).title or first)[:_MAX_TITLE]
    # The model may know a further line of the title.
    named = next(
        (value for value in fields.get("title", ()) if _begins_with(words(value.text), words(title))),
        Value(title, _DOUBTED_CONFIDENCE),
    )
    known = {word for value in (named, *fields.get("author", ())) for word in words(value.text)}
    beginning = "" if fields.get("abstract") else _excerpt(document, known)
    values = (named, Value(reason), Value(beginning))
    return {
        name: (value,) for name, value in zip(("title", "reason", "text"), values, strict=True) if value.text
    }


def _begins_with(text: Sequence[str], beginning: Sequence[str]) -> bool:
    return bool(beginning) and list(text[: len(beginning)]) == list(beginning)


def _excerpt(document: Document, known: Collection[str]) -> str:
    """Return the first lines that say more than the `known` words, with words cut at line ends rejoined."""
    lines, length = list[Line](), 0
    for line in document.lines:
        if length > _EXCERPT:
            break
        if all(word in known for word in words(line.text)):
            continue
        lines.append(line)
        length += len(line.text) + 1
    if not lines:  # nothing but running heads
        return ""
    running = flow(lines, whole_words(document.lines))
    ends = [*running.offsets[1:], len(running.text) + 1]
    parts = (running.text[start:end] for start, end in zip(running.offsets, ends, strict=True))
    return "".join(f"{part[:-1]}\n" if part.endswith(" ") else part for part in parts)[:_EXCERPT]

"""Names of entities: the part of a title or heading that the other pages of the site do not have, or that all have."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from urllib.parse import urlsplit

from wayhound.entities.fact import Fact, name_words
from wayhound.entities.kept import keep, keep_beside
from wayhound.entities.page_lines import PageLines
from wayhound.text.words import plain_words
from wayhound.url import registrable_domain

FRAME = 0.6
"""Words at an end of the titles on this share of pages are the site's, not the page's."""

MOST_WORDS = 14
KEPT_LINES = 400  # of a page, to look for its name in
_LEAST_PAGES = 3
_SEPARATOR = re.compile(r"\s+[-–—|»«:·•>~/]+\s+|\s*[|»«•]\s*|:\s+|\s-{2,}\s")
_COPYRIGHT = re.compile(
    r"(?:©|\(c\)|copyright)\W*+(?:\d{4}(?:\s*[-–]\s*\d{4})?\W*+)?(?:by\s+)?([^\W\d][^|•·©\n]{1,60}?)"
    r"(?:\s*+[|•·]|\.\s|,?\s*+(?:all rights|alle rechte|tous droits|todos los|\d{4})|\.?$)",
    re.IGNORECASE,
)
_LEGAL_FORM = re.compile(
    r"\b(?:GmbH|AG|e\.\s?V\.|Inc\.?|LLC|Ltd\.?|Limited|Corp\.?|S\.?A\.?S?|S\.?L\.?|S\.?r\.?l\.?|S\.?p\.?A\.?|B\.?V\.?|"
    r"d\.\s?o\.\s?o\.|s\.\s?r\.\s?o\.|Oy|AB|A/S|Sp\. z o\.\s?o\.|Pvt\.?|Ltda\.?|Foundation|Stiftung|Association|"
    r"Verein)(?!\w)|株式会社|有限公司"
)
_WORDS = re.compile(r"[^\W_]+(?:['’`][^\W_]+)*")
_FRAME_MARKS = " -–—|»«:·•>~,/\t"
_NO_NAME = frozenset(
    "home contact contacto contato kontakt kontakty impressum imprint about welcome startseite accueil inicio index "
    "restaurant restaurants reviews review menu map login search untitled contactez nous us fale conosco info".split()
)


@dataclass(frozen=True)
class TitleShape:
    """The frame of titles and headings on a site: what precedes and follows the part that differs."""

    pages: int = 0
    title_before: tuple[str, ...] = ()
    title_after: tuple[str, ...] = ()
    heading_after: tuple[str, ...] = ()
    heading_before: tuple[str, ...] = ()
    common: frozenset[str] = frozenset()  # folded headings and lines on many pages
    common_words: frozenset[str] = frozenset()  # of titles
    segments: tuple[str, ...] = ()  # parts of titles on many pages, most frequent first

    @classmethod
    def learn(cls, pages: Sequence[tuple[str, Sequence[tuple[str, str]], Sequence[str]]]) -> TitleShape:
        """Return the shape from the titles, headings and lines of some pages."""
        titles = [tuple(plain_words(title)) for title, _, _ in pages if title]
        heads = [
            tuple(plain_words(text)) for _, headings, _ in pages for tag, text in headings[:1] if tag == "h1"
        ]
        if len(pages) < _LEAST_PAGES:
            return cls(len(pages))
        counts = Counter(chain.from_iterable({*map(_casefolded, lines)} for _, _, lines in pages))
        headings = Counter(text for _, texts, _ in pages for text in {text.casefold() for _, text in texts})
        least = max(2, 0.3 * len(pages))
        common = {text for counter in (counts, headings) for text, count in counter.items() if count > least}
        words = Counter(word for title in titles for word in set(title))
        common_words = {word for word, count in words.items() if count >= FRAME * len(titles)}
        parts = Counter(
            part
            for title, _, _ in pages
            for part in dict.fromkeys(
                p.strip() for p in _SEPARATOR.split(title)
            )  # in order: ties are broken by it
            if part
        )
        segments = [part for part, count in parts.most_common(5) if count >= max(2, FRAME * len(pages))]
        return cls(
            pages=len(pages),
            title_before=_frame(titles),
            title_after=_frame([words[::-1] for words in titles])[::-1],
            heading_after=_frame([words[::-1] for words in heads])[::-1],
            heading_before=_frame(heads),
            common=frozenset(common),
            common_words=frozenset(common_words),
            segments=tuple(segments),
        )


_casefolded = keep(str.casefold)  # the same string for the same line, whose hash is known


def _frame(sequences: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the longest beginning that most of the sequences share."""
    frame: tuple[str, ...] = ()
    for length in range(1, 12):
        heads = Counter(words[:length] for words in sequences if len(words) > length)
        best, count = heads.most_common(1)[0] if heads else ((), 0)
        if count < max(2, FRAME * len(sequences)):
            break
        frame = best
    return frame


def strip_frame(text: str, before: tuple[str, ...], after: tuple[str, ...]) -> str:
    """Return a title without the words that the site puts before and after; unchanged if it has none of them."""
    plain = tuple(plain_words(text)) if before or after else ()
    framed_before = bool(before) and len(plain) > len(before) and plain[: len(before)] == before
    framed_after = bool(after) and len(plain) > len(after) and plain[-len(after) :] == after
    if not framed_before and not framed_after:
        return text.strip(_FRAME_MARKS)
    words = list(_WORDS.finditer(text))
    if len(words) != len(plain):  # an entity or a command of TeX, which are no words of the folded text
        return text.strip(_FRAME_MARKS)
    start, end = 0, len(text)
    if framed_before:
        start = words[len(before)].start()
        if text[max(0, start - 1)] == "(":
            start -= 1
    if framed_after:
        end = words[len(words) - len(after)].start()
    return text[start:end].strip(_FRAME_MARKS) if start < end else text


@keep
def _words_of(text: str) -> tuple[str, ...]:
    return tuple(plain_words(text))


def page_name(
    page: PageLines,
    stated: Sequence[Fact],
    shape: TitleShape,
    places: Sequence[str],
) -> Iterator[Fact]:
    """Yield names of the entity that a page describes.

    The best name is a heading, without the words that all headings of the site have, that the title repeats.
    """
    title = strip_frame(page.title, shape.title_before, shape.title_after)
    title_words = _words_of(title)
    all_words = (
        [_words_of(text) for text in (page.title, *(text for _, text in page.headings))] if stated else []
    )
    for fact in stated:
        words = _words_of(fact.text)
        if fact.text.casefold() not in shape.common and words:
            agrees = _within(words, all_words[0]) or words in all_words[1:]
            yield Fact(
                "name", fact.text, fact.confidence if agrees else 0.7, fact.source, fact.start, fact.end
            )
    seen = [(_HEADING_WEIGHT[tag], text, "heading") for tag, text in page.headings]
    seen += [(0.0, text, "text") for text in _lines_of_title(page, title_words)]
    best: tuple[float, str, str] | None = None
    for weight, text, source in seen:
        if text.casefold() in shape.common:
            continue
        name = strip_frame(text, shape.heading_before, shape.heading_after) if source == "heading" else text
        words = _words_of(name)
        if not words or len(words) > MOST_WORDS or set(words) <= _NO_NAME:
            continue
        score = weight + _title_score(words, title_words)
        if best is None or score > best[0]:
            best = score, name, source
    if best is not None and best[0] > _ENOUGH:
        yield _placed(page, best[1], min(0.96, 0.55 + 0.2 * best[0]), best[2])
    if title_words:
        name = _without_place(_first_segment(title) if not shape.pages else title, places)
        yield _placed(page, name, 0.5, "title")


def _lines_of_title(page: PageLines, title: Sequence[str]) -> Iterator[str]:
    """Yield lines that may be a part of the title: their first word begins one of its words."""
    beginnings = {word[:size] for word in title for size in range(1, len(word) + 1)}
    if beginnings:
        # an apostrophe ends the word here but not in the title, hence beginnings; what folds to another word is kept
        yield from page.lines_from(beginnings, KEPT_LINES)


_HEADING_WEIGHT = {"h1": 0.9, "h2": 0.5, "h3": 0.2}
_ENOUGH = 0.6


def _title_score(words: Sequence[str], title: Sequence[str]) -> float:
    """Return how well a text matches the title: whole and at its beginning is best."""
    if not title:
        return 0.0
    place = _find(words, title)
    if place < 0:
        return 0.0
    at_start = 0.5 if place == 0 else 0.0
    return 0.5 + at_start + 0.5 * min(1.0, len(words) / len(title))


def _find(words: Sequence[str], within: Sequence[str]) -> int:
    size = len(words)
    return next((i for i in range(len(within) - size + 1) if within[i : i + size] == words), -1)


def _within(words: Sequence[str], title: Sequence[str]) -> bool:
    return _find(words, title) >= 0


def _first_segment(title: str) -> str:
    parts = [part.strip() for part in _SEPARATOR.split(title) if part.strip()]
    named = [part for part in parts if not set(plain_words(part)) <= _NO_NAME]
    return next(iter(named or parts), title)


_IN_BRACKETS = re.compile(r"\s*\([^()]*\)\s*$")
_BEFORE_PLACE = re.compile(r"(\s[-–—|:]\s|,\s|:\s)")


def _without_place(name: str, places: Sequence[str]) -> str:
    """Remove a place in brackets or after a separator that repeats the city of an address."""
    parts = _BEFORE_PLACE.split(name)
    if len(parts) == 1 and ")" not in name:
        return name.strip() or name
    cities = {word for place in places for word in plain_words(place)}
    if ")" in name:
        name = _IN_BRACKETS.sub(lambda m: "" if set(plain_words(m[0])) & cities else m[0], name)
        parts = _BEFORE_PLACE.split(name)
    while len(parts) > 2 and set(plain_words(parts[-1])) & cities:
        parts = parts[:-2]
    return "".join(parts).strip() or name


def _placed(page: PageLines, name: str, confidence: float, source: str) -> Fact:
    start = page.text.find(name)
    span = (start, start + len(name)) if start >= 0 else (0, 0)
    return Fact("name", name, round(confidence, 3), source, *span, printed=name)


_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "å": "aa", "ø": "oe", "æ": "ae"})
_WELCOME = re.compile(
    r"^(?:welcome to|willkommen (?:bei|beim|im|in der)|bienvenue (?:à|chez|au|sur)|bienvenidos? a|"
    r"benvenuti (?:a|da|in)|"
    r"welkom bij|bem-vindo a)\s+(?:the\s)?",
    re.IGNORECASE,
)


def _of_title(title: str) -> list[tuple[str, float, str]]:
    """Return the parts of a title: one that stands alone beside "Contact" or after "Welcome to" is likely the name."""
    if welcome := _WELCOME.match(title):
        return [(_SEPARATOR.split(title[welcome.end() :])[0].strip(), 0.55, "title")]
    parts = [part.strip() for part in _SEPARATOR.split(title) if part.strip()]
    names = [part for part in parts if not set(name_words(part)) <= _NO_NAME]
    sure = len(names) == 1 < len(parts)
    return [(part, 0.55 if sure or _LEGAL_FORM.search(part) else 0.4, "title") for part in names]


def _with_legal_form(page: PageLines) -> list[str]:
    """Return the first short line that ends with a legal form, as above the address of an imprint.

    If another line is the end of that one, it is returned instead: a banner may run a slogan into the name.
    """
    lines = [text for text in page.lines[:KEPT_LINES] if _ends_with_legal_form(text)]
    return [min((text for text in lines if lines[0].endswith(text)), key=len)] if lines else []


@keep
def _ends_with_legal_form(line: str) -> bool:
    last = line.rpartition(" ")[2]
    if len(line) > 60 or (
        last.islower() and last.isascii() and "." not in last
    ):  # a form has capitals or dots
        return False
    form = _LEGAL_FORM.search(line)
    return form is not None and form.start() > 0 and form.end() >= len(line) - 1


@lru_cache(maxsize=1_000)
def _domain_label(host: str) -> str:
    """Return the part of a host that its owner chose, in plain letters."""
    return "".join(plain_words(registrable_domain(f"https://{host}/").split(".")[0])) or host


def organisation_name(
    page: PageLines, stated: Sequence[Fact], site_names: Sequence[Fact], shape: TitleShape
) -> Iterator[Fact]:
    """Yield names of the organisation that a site belongs to: stated, in the copyright line, or in all titles.

    A candidate that its domain repeats, or with a legal form, is surer.
    """
    label = _domain_label(urlsplit(page.url).netloc)
    candidates = [(fact.text, 0.85, fact.source) for fact in stated]
    candidates += [(fact.text, 0.75, fact.source) for fact in site_names]
    for line in page.lines[-60:]:
        if "©" in line or "opyright" in line:
            for match in _COPYRIGHT.finditer(line[:300]):
                candidates.append((match[1].strip(" .,-–"), 0.6, "text"))
    candidates += [(segment, 0.6, "title") for segment in shape.segments]
    candidates += _of_title(page.title)
    candidates += [(line, 0.5, "text") for line in _with_legal_form(page)]
    for text, base, source in candidates:
        bonus = _name_bonus(text, label)
        if bonus is not None:
            yield _placed(page, text, min(0.97, base + bonus), source)


@keep_beside
def _name_bonus(text: str, label: str) -> float | None:
    """Return how much surer a name is by its domain and its legal form; None if it is no name."""
    words = name_words(text)
    if not words or len(words) > 10 or set(words) <= _NO_NAME:
        return None
    joined = "".join(words)
    spelled = "".join(name_words(text.lower().translate(_UMLAUTS)))
    same = any(one == label or (len(one) > 3 and (one in label or label in one)) for one in (joined, spelled))
    initials = "".join(word[0] for word in words) == label
    return (0.15 if same or initials else 0.0) + (0.08 if _LEGAL_FORM.search(text) else 0.0)

"""Plain text as a document, with form feeds between pages; and the check for unreadable text."""

from __future__ import annotations

import re
from math import hypot

from wayhound.documents.document import Document, DocumentKind, DocumentPage, Line, Unread
from wayhound.documents.letters import repair_text
from wayhound.documents.limits import DEFAULT_LIMITS, ReadingLimits
from wayhound.documents.margins import mark_margins
from wayhound.pages.sniff import decode

_SAMPLE = 4_000  # characters from the beginning, and as many from the middle
_LATIN = re.compile(r"[a-z]+")
# Controls, private use, and the boxes, dingbats and circled letters shown for codes without a meaning.
_UNREADABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2460-\u27bf\ue000-\uf8ff\ufffd]")
# The most frequent short words of the languages of most papers; a page in any of them has many.
_SHORT_WORDS = frozenset(
    "the of and to in is that for with as by on are we this be from an at which "
    "der die das und ist von mit den des im für auf "
    "le la les et des une est dans que pour par sur "
    "el los las en es una por con del se "
    "il di che un per non sono della "
    "o os as um uma em para com não "
    "het een van dat niet zijn op".split()
)
_LETTER_FREQUENCIES = {
    "e": 12.5, "t": 8.5, "a": 8.5, "i": 7.5, "o": 7.3, "n": 7.2, "s": 6.8, "r": 6.5, "h": 4.2, "l": 4.2,
    "d": 3.8, "c": 3.3, "u": 3.2, "m": 2.7, "p": 2.2, "f": 2.0, "g": 1.8, "w": 1.4, "y": 1.4, "b": 1.3,
    "v": 1.2, "k": 0.8, "z": 0.5, "x": 0.3, "j": 0.3, "q": 0.3,
}  # fmt: skip
"""In European languages, in per cent."""


def is_garbled(text: str) -> bool:
    """Return True for long text with too few letters, or with Latin letters that form no language.

    Text in another script, or too short to judge, is not garbled.
    """
    middle = len(text) // 2
    sample = _dense(text[:middle]) + " " + _dense(text[middle:])
    printed = "".join(sample.split())
    if len(printed) < 300:
        return False
    unreadable, letters = len(_UNREADABLE.findall(printed)), sum(map(str.isalpha, printed))
    if unreadable > 0.1 * len(printed) or letters < 0.25 * len(printed):
        return True
    return _is_no_language(sample.lower(), len(printed))


def _dense(text: str) -> str:
    """Return a sample with single blanks: text that keeps its layout may consist mostly of blanks."""
    return " ".join(text[: 10 * _SAMPLE].split())[:_SAMPLE]


def _is_no_language(sample: str, n_printed: int) -> bool:
    words = _LATIN.findall(sample)
    latin = "".join(words)
    if len(latin) < 0.4 * n_printed:
        return False
    if len(latin) > 20 * len(words):
        return True  # the blanks between words are lost
    if len(words) < 100:
        return False
    short = sum(word in _SHORT_WORDS for word in words) / len(words)
    return short < 0.06 and _similarity(latin) < 0.72


def _similarity(letters: str) -> float:
    """Return the cosine of the letter counts and the letter frequencies of European languages.

    It is 0.98 for English, 0.76 to 0.84 for Polish, Turkish, Hungarian and Finnish, and 0.5 to 0.7 for English
    in which every letter was shifted.
    """
    counts = {letter: letters.count(letter) for letter in _LETTER_FREQUENCIES}
    product = sum(_LETTER_FREQUENCIES[letter] * count for letter, count in counts.items())
    return product / (hypot(*_LETTER_FREQUENCIES.values()) * hypot(*counts.values()))


MAX_CHARS = 10_000_000
MAX_LINES = 200_000
"""Together about a thousand full pages. A few kilobytes of gzip can hold a hundred million lines, each an object."""

_BLANK_WIDTH = 0.5  # ems of indent
# Nothing is tried again: each of many comments might end at its own end or at that of any later one.
_MARKUP = re.compile(
    r"\s*+(?:<\?xml[^>]*+>\s*+)?+(?:<!--(?>.*?-->)\s*+)*+<(?:!doctype\s+html|html|head|body)\b",
    re.IGNORECASE | re.DOTALL,
)
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f\ufffd]")


def is_markup(body: bytes) -> bool:
    """Return True for a web page."""
    return _MARKUP.match(decode(body[:4_000])[0]) is not None


def read_plain(
    body: bytes,
    limits: ReadingLimits = DEFAULT_LIMITS,
    kind: DocumentKind = "text",
) -> Document | Unread:
    """Return the document in these bytes. Blank lines are kept: they separate paragraphs and references."""
    if not body.strip():
        return Unread("empty", "The file is empty.")
    if len(body) > limits.max_bytes:
        return limits.too_big(len(body))
    text, _ = decode(body[: 4 * MAX_CHARS + 4])  # at most four bytes a character, and a byte order mark
    if refusal := _refusal(text):
        return refusal
    sheets = text[:MAX_CHARS].split("\f")
    if len(sheets) > 1 and not sheets[-1].strip():
        sheets = sheets[:-1]
    pages = _pages(sheets[: limits.max_pages])
    return Document(kind, mark_margins(pages), _notes(text, len(sheets), pages, limits))


def _pages(sheets: list[str]) -> list[DocumentPage]:
    pages: list[DocumentPage] = []
    lines_left = MAX_LINES
    for number, sheet in enumerate(sheets, start=1):
        if lines_left <= 0:
            break
        pages.append(_page(number, sheet, lines_left))
        lines_left -= len(pages[-1].lines)
    return pages


def _notes(text: str, n_sheets: int, pages: list[DocumentPage], limits: ReadingLimits) -> tuple[str, ...]:
    if n_sheets > limits.max_pages:
        return (f"Only the first {limits.max_pages} of {n_sheets} pages were read.",)
    if len(text) > MAX_CHARS or sum(len(page.lines) for page in pages) >= MAX_LINES:
        return ("Only the beginning was read: the file is longer than a thousand pages.",)
    return ()


def _refusal(text: str) -> Unread | None:
    if len(_CONTROLS.findall(text, 0, 20_000)) > 0.02 * min(len(text), 20_000):
        return Unread("not_a_document", "The file is neither PDF, PostScript nor text.")
    if _MARKUP.match(text[:4_000]):
        return Unread("not_a_document", "The file is a web page, not a document.")
    if is_garbled(text):
        return Unread("garbled", "The text is unreadable: its letters form no language.")
    return None


def _page(number: int, sheet: str, max_lines: int) -> DocumentPage:
    lines = tuple(_line(line, number) for line in sheet.expandtabs().splitlines()[:max_lines])
    return DocumentPage(number, lines=lines, trouble=None if any(line.text for line in lines) else "no_text")


def _line(raw: str, page: int) -> Line:
    text = repair_text(raw).rstrip()
    return Line(text.strip(), page, indent=_BLANK_WIDTH * (len(raw) - len(raw.lstrip(" "))))

"""The text runs of a PDF page with their positions, from as few calls to PDFium as possible.

A call for each character costs ten times as much as the text itself. A line therefore needs its first and last
character, a word likewise, and superscripts are looked for only where a number follows a word.
"""

from __future__ import annotations

import ctypes
import operator
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import hypot
from statistics import median
from typing import NamedTuple

import pypdfium2 as pdfium  # type: ignore[import-untyped]
import pypdfium2.raw as pdfium_c  # type: ignore[import-untyped]

from wayhound.documents.document import Box
from wayhound.documents.letters import reseat_accents

HYPHEN = "\ufffe"  # PDFium's character for a hyphen at the end of a line and the line break after it
_RUN = re.compile(rf"[^\r\n{HYPHEN}](?:[^\n{HYPHEN}]*[^\r\n{HYPHEN}])?{HYPHEN}?|{HYPHEN}")
_WORD = re.compile(r"[^\s\u00a0]+")
_NUMBER = re.compile(r"\d{1,3}(?: ?[,–−-] ?\d{1,3})*(?!\.?\d)")
_MAY_HAVE_SUPERSCRIPT = re.compile(r"[^\W\d_][.,;:]? ?$|[)\]”’'\"][.,;:]? ?$")
_RAISED_LETTERS = re.compile(r"(?<=[^\W\d_])[xyz]{1,3}(?=[\s,;]|$)")
_DAGGERS = str.maketrans("xyz", "§†‡")
_BOLD = re.compile(
    r"bold|black|heavy|medi(?:um)?$|demi|^(?:[A-Z]{6}\+)?(?:cmb|sfb|ecbx|lmb|ptmb|phvb)", re.IGNORECASE
)
_ITALIC = re.compile(r"ital|obli|slant|^(?:[A-Z]{6}\+)?(?:cmti|cmsl|sfti|ecti|lmri)", re.IGNORECASE)
_LIGATURES_OF_8R = {2: "\ufb01", 3: "\ufb02"}
# In TeX's encodings OT1 and T1.
_LIGATURES_OF_TEX = {first + number: chr(0xFB00 + number) for first in (0x0B, 0x1B) for number in range(5)}
_ITALIC_FLAG, _FORCE_BOLD_FLAG = 1 << 6, 1 << 18
_LEAST_SIZE = 1.5  # points; fonts of bitmaps have less
_SAMPLED = 9  # letters of a page whose size is looked at
_MEASURED = 50  # letters of a line of bitmaps whose height is looked at
_TALLER, _TALL_LETTER = 0.85, 0.69  # share of letters that are lower; height of b, h and capitals by the size
_BELOW_BASELINE, _RAISED_DRAWING = 0.25, 0.2  # by the size


class PlacedWord(NamedTuple):
    """A word, by its range of the run's text."""

    start: int
    end: int
    box: Box
    size: float


@dataclass(slots=True)
class TextRun:
    """A run of text on one baseline. Positions are in points from the upper left corner of the page."""

    text: str
    left: float
    top: float
    right: float
    bottom: float
    size: float
    bold: bool = False
    italic: bool = False
    rotated: bool = False
    hyphen: bool = False
    start: int = 0  # offset in the text of the page
    superscripts: list[tuple[int, int]] = field(default_factory=list)
    words: list[PlacedWord] = field(default_factory=list)
    cut: bool = False  # from the run before it, at a wide gap

    @property
    def height(self) -> float:
        return self.bottom - self.top


class PageText:
    """The text of one loaded page, and PDFium's information about its characters."""

    def __init__(self, page: pdfium.PdfPage) -> None:
        self._page = page
        self._textpage = page.get_textpage()
        self._raw = self._textpage.raw
        self.text = self._restored(_in_utf16_units(self._textpage.get_text_range(errors="replace")))
        self._char = self._char_finder()
        self._ink = [ctypes.c_double() for _ in range(4)]
        self._reseat_accents()
        self._to_box, self.width, self.height = _page_geometry(page)
        self._turned = page.get_rotation() in {90, 270}
        self._box, self._matrix = pdfium_c.FS_RECTF(), pdfium_c.FS_MATRIX()
        self._font_name, self._font_flags = ctypes.create_string_buffer(96), ctypes.c_int()
        self._x, self._y = ctypes.c_double(), ctypes.c_double()
        self._em = _drawn_em(self.text, lambda index: self._size_between(index, index)[0], self._ink_at)

    def close(self) -> None:
        self._textpage.close()
        self._page.close()

    def has_picture(self) -> bool:
        """Return True if a picture is drawn on the page."""
        pictures = self._page.get_objects(filter=[pdfium_c.FPDF_PAGEOBJ_IMAGE], max_depth=4)
        return next(pictures, None) is not None

    def restore_daggers(self) -> None:
        """Put back † ‡ § that are set above a name: fonts without names of glyphs give them as y, z and x.

        Only raised letters are meant, so each word that ends in one of them is measured; pages with names are few.
        """
        for match in _RAISED_LETTERS.finditer(self.text):
            raised = (at for at in range(*match.span()) if self._is_raised(at - 1, at))
            if (start := next(raised, None)) is not None:  # Gregory may have a dagger as well
                mark = self.text[start : match.end()].translate(_DAGGERS)
                self.text = self.text[:start] + mark + self.text[match.end() :]

    def runs(self) -> list[TextRun]:
        """Return all runs in the order of the file, without words."""
        runs: list[TextRun] = []
        for match in _RUN.finditer(self.text):
            runs += self._runs_between(*match.span())
        self._mark_superscripts(runs)
        return runs

    def add_words(self, runs: Iterable[TextRun]) -> None:
        """Set the `words` of these runs."""
        for run in runs:
            run.words = [self._word(run, *match.span()) for match in _WORD.finditer(run.text)]

    def _restored(self, text: str) -> str:
        """Return the text with the characters that PDFium leaves out, because their codes are not letters.

        Fonts in TeX's encoding 8r have fi and fl at 2 and 3; those of Windows have dashes and quotation marks
        from 0x80 on. Unknown codes become control characters, which are dropped later.
        """
        gaps = list(self._gaps(len(text))) if text else []
        parts, at = list[str](), 0
        for number, gap in enumerate(gaps):
            parts.append(text[at : gap - number])
            at = gap - number
            around = text[at - 1 : at], text[at : at + 1]
            parts.append(_letter(pdfium_c.FPDFText_GetUnicode(self._raw, gap), *around))
        return "".join([*parts, text[at:]]) if gaps else text

    def _gaps(self, length: int) -> Iterator[int]:
        """Yield the indices of PDFium's characters that are not in its text, where its two counts diverge."""
        n_chars, shift, at = self._textpage.count_chars(), 0, 0
        find, raw = pdfium_c.FPDFText_GetCharIndexFromTextIndex, self._raw
        while shift < n_chars - length and at < length:
            at = bisect_left(range(length), shift + 1, lo=at, key=lambda index: find(raw, index) - index)
            grown = find(raw, at) - at if at < length else n_chars - length
            yield from range(at + shift, at + grown)
            shift = grown

    def _char_finder(self) -> Callable[[int], int]:
        """Return a function from an index of the text to PDFium's; they differ after glyphs of several letters."""
        if self._textpage.count_chars() == len(self.text):
            return operator.index  # the identity, without the cost of a Python call
        find, raw = pdfium_c.FPDFText_GetCharIndexFromTextIndex, self._raw
        return lambda index: find(raw, index)

    def _reseat_accents(self) -> None:
        if (reseated := reseat_accents(self.text, self._ink_at)) is not None:
            order, char = reseated.order, self._char
            self.text, self._char = reseated.text, lambda index: char(order[index])

    def _ink_at(self, index: int) -> Box:
        left, right, bottom, top = self._ink
        pdfium_c.FPDFText_GetCharBox(self._raw, self._char(index), left, right, bottom, top)
        return left.value, bottom.value, right.value, top.value

    def _runs_between(self, start: int, end: int) -> list[TextRun]:
        """Return usually one run; none for blanks, and several where PDFium missed the end of a line."""
        hyphen = self.text[end - 1] == HYPHEN
        last = end - 1 - hyphen
        while last > start and self.text[last].isspace():
            last -= 1
        if last < start or self.text[last].isspace():
            return []
        first = self._box_at(start)
        final = self._box_at(last + hyphen) if last + hyphen > start else first
        size, rotated = self._size_between(start, last)
        if self._em:
            size = _drawn_size(self.text, range(start, last + 1), self._ink_at) or self._em
        if (
            not rotated
            and abs(first[3] - final[3]) > 0.6 * size
            and (cut := self._baseline_change(start, end))
        ):
            return self._runs_between(start, cut) + self._runs_between(cut, end)
        upright = first if abs(first[3] - final[3]) < 0.5 else self._box_at((start + last) // 2)
        bold, italic = self._face_at(start) if last > start + 2 else (False, False)
        left, right = min(first[0], final[0]), max(first[2], final[2])
        return [
            TextRun(
                self.text[start : last + 1],
                left,
                upright[3] - size if self._em else upright[1],
                right,
                upright[3],
                size,
                bold=bold,
                italic=italic,
                rotated=rotated,
                hyphen=hyphen,
                start=start,
            )
        ]

    def _baseline_change(self, start: int, end: int) -> int:
        """Return where a word begins that is on another baseline than the word before it; 0 if none does."""
        begins = [start + match.start() for match in _WORD.finditer(self.text[start:end])]
        boxes = [self._box_at(begin) for begin in begins]
        for begin, box, before in zip(begins[1:], boxes[1:], boxes, strict=False):
            if abs(box[3] - before[3]) > 0.6 * (box[3] - box[1]):
                return begin
        return 0

    def _word(self, run: TextRun, start: int, end: int) -> PlacedWord:
        left, top, right, bottom = self._box_at(run.start + start)
        if end > start + 1:
            right = self._box_at(run.start + end - 1)[2]
        size = run.size * (bottom - top) / run.height if run.height > 0 else run.size
        return PlacedWord(start, end, (left, top, right, bottom), size)

    def _mark_superscripts(self, runs: list[TextRun]) -> None:
        """Mark numbers after a word that are smaller and higher than it."""
        starts = [run.start for run in runs]
        for match in _NUMBER.finditer(self.text):
            number = match.start()
            before = number - 1 - (self.text[number - 1 : number] == " ")
            if before < 0 or not _MAY_HAVE_SUPERSCRIPT.search(self.text, max(0, before - 1), number):
                continue
            if self._is_raised(before, number) and (at := bisect_right(starts, number)):
                offset = number - starts[at - 1]
                runs[at - 1].superscripts.append((offset, offset + len(match[0])))

    def _is_raised(self, before: int, number: int) -> bool:
        if self._em:
            return self._baseline_at(number) > self._baseline_at(before) + _RAISED_DRAWING * self._em
        size = pdfium_c.FPDFText_GetFontSize
        size_before = size(self._raw, self._char(before))
        if size(self._raw, self._char(number)) > 0.85 * size_before:
            return False
        return self._baseline_at(number) > self._baseline_at(before) + 0.1 * float(size_before)

    def _baseline_at(self, index: int) -> float:
        pdfium_c.FPDFText_GetCharOrigin(self._raw, self._char(index), self._x, self._y)
        return self._y.value

    def _box_at(self, index: int) -> Box:
        if self._em:
            left, _, right, _ = self._ink_at(index)
            base = self._baseline_at(index) - _BELOW_BASELINE * self._em
            return self._to_box(left, base + self._em, right, base)
        box = self._box
        if not pdfium_c.FPDFText_GetLooseCharBox(self._raw, self._char(index), box):
            return (0.0, 0.0, 0.0, 0.0)
        return self._to_box(box.left, box.top, box.right, box.bottom)

    def _size_between(self, start: int, last: int) -> tuple[float, bool]:
        """Return the font size as it appears, and whether the text is rotated against the page.

        The larger of two letters counts, since one may be an index. Blanks are skipped: PDFium may have
        inserted them.
        """
        middle = (start + last) // 2
        while middle > start and self.text[middle].isspace():
            middle -= 1
        size_at, char, matrix = pdfium_c.FPDFText_GetFontSize, self._char(middle), self._matrix
        size = size_at(self._raw, char)
        if middle > start:
            size = max(size, size_at(self._raw, self._char(start)))
        if not pdfium_c.FPDFText_GetMatrix(self._raw, char, matrix):
            return size, False
        scale = hypot(matrix.c, matrix.d) or 1.0
        return size * scale, (abs(matrix.b) > abs(matrix.a)) != self._turned

    def _face_at(self, index: int) -> tuple[bool, bool]:
        flags = self._font_flags
        buffer = self._font_name
        buffer.value = b""
        pdfium_c.FPDFText_GetFontInfo(self._raw, self._char(index), buffer, len(buffer), flags)
        return _face(buffer.value.decode("utf-8", "replace"), flags.value)


def _drawn_em(text: str, size_at: Callable[[int], float], ink_at: Callable[[int], Box]) -> float:
    """Return the usual size of the print if the font does not tell it, else 0.

    The letters of old TeX files are bitmaps whose fonts have a size below a point, and boxes of a single letter's
    height or of the page's: both are then taken from the ink.
    """
    step = max(1, len(text) // (2 * _SAMPLED))
    sample = [index for index in range(0, len(text), step) if text[index].isalpha()]
    is_drawn = bool(sample) and median(map(size_at, sample)) < _LEAST_SIZE
    return _drawn_size(text, sample, ink_at) if is_drawn else 0.0


def _drawn_size(text: str, indices: Sequence[int], ink_at: Callable[[int], Box]) -> float:
    """Return the size of the print from the height of its taller letters; 0 without letters."""
    letters = [index for index in indices if text[index].isalnum()]
    inks = map(ink_at, letters[:: max(1, len(letters) // _MEASURED)])
    heights = sorted(top - bottom for _, bottom, _, top in inks)
    return heights[int(_TALLER * (len(heights) - 1))] / _TALL_LETTER if heights else 0.0


def _letter(code: int, before: str, after: str) -> str:
    """Return the letter for a character code that PDFium does not map to Unicode."""
    if code in _LIGATURES_OF_8R and before.isalpha() and after.islower():
        return _LIGATURES_OF_8R[code]
    if code in _LIGATURES_OF_TEX and (before.isalpha() or after.islower()):
        return _LIGATURES_OF_TEX[code]
    return bytes([code]).decode("cp1252", "replace") if 0x80 <= code <= 0x9F else "\x01"


def _in_utf16_units(text: str) -> str:
    """Return one character for each of PDFium's, which counts letters beyond U+FFFF twice."""
    units = text.encode("utf-16-le", "surrogatepass")
    return text if len(units) == 2 * len(text) else "".join(map(chr, memoryview(units).cast("H")))


@lru_cache(maxsize=256)
def _face(font: str, flags: int) -> tuple[bool, bool]:
    bold = bool(_BOLD.search(font)) or bool(flags & _FORCE_BOLD_FLAG)
    return bold, bool(_ITALIC.search(font)) or bool(flags & _ITALIC_FLAG)


def _page_geometry(page: pdfium.PdfPage) -> tuple[Callable[[float, float, float, float], Box], float, float]:
    """Return a function from PDF coordinates (upwards, before rotation) to a `Box`, the width and the height."""
    left, bottom, right, top = page.get_bbox()
    wide, high = right - left, top - bottom
    turned: dict[int, Callable[[float, float, float, float], Box]] = {
        0: lambda x0, y1, x1, y0: (x0 - left, top - y1, x1 - left, top - y0),
        90: lambda x0, y1, x1, y0: (y0 - bottom, x0 - left, y1 - bottom, x1 - left),
        180: lambda x0, y1, x1, y0: (right - x1, y0 - bottom, right - x0, y1 - bottom),
        270: lambda x0, y1, x1, y0: (top - y1, right - x1, top - y0, right - x0),
    }  # fmt: skip
    rotation = page.get_rotation()
    return turned[rotation], *((high, wide) if rotation in {90, 270} else (wide, high))

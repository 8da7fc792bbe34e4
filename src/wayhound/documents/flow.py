"""Running text made of lines: words cut at line ends are rejoined, and offsets lead back to the lines."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from wayhound.documents.document import Box, Line


@dataclass(frozen=True, slots=True)
class PageRegion:
    """A region of a page; no box if the source has no layout."""

    page: int
    box: Box | None


def regions_of(lines: Sequence[Line], offsets: Sequence[int], start: int, end: int) -> tuple[PageRegion, ...]:
    """Return a region for each line that the characters [start, end) are on, where line i is at `offsets[i]`."""
    first = max(0, bisect_right(offsets, start) - 1)
    last = max(first + 1, bisect_right(offsets, end - 1))
    return tuple(
        PageRegion(line.page, box_in_line(line, start - offset, end - offset))
        for line, offset in zip(lines[first:last], offsets[first:last], strict=True)
    )


def box_in_line(line: Line, start: int, end: int) -> Box | None:
    """Return the box around the words that the characters [start, end) touch, or else that of the line."""
    boxes, position = list[Box](), 0
    for word in line.words:
        word_start = line.text.find(word.text, position)
        if word_start < 0:
            continue  # the line's spelling has been repaired since
        position = word_start + len(word.text)
        if word_start < end and position > start:
            boxes.append(word.box)
    return bounding_box(boxes) if boxes else line.box


def bounding_box(boxes: Sequence[Box]) -> Box:
    lefts, tops, rights, bottoms = zip(*boxes, strict=True)
    return (min(lefts), min(tops), max(rights), max(bottoms))


_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_CUT = re.compile(r"([^\W\d_]+)[-\u2010]$")
_TAIL = 80  # characters at the end of a line that are examined
_OPEN_ADDRESS = re.compile(r"(?:://|www\.)\S*[/._=?&~-]$")


@dataclass(frozen=True)
class Flow:
    """Running text. `lines[i]` begins at `offsets[i]`; `superscripts` are ranges of `text`."""

    text: str
    lines: tuple[Line, ...]
    offsets: tuple[int, ...]
    superscripts: tuple[tuple[int, int], ...] = ()

    def line_at(self, offset: int) -> Line:
        return self.lines[max(0, bisect_right(self.offsets, offset) - 1)]

    def regions(self, start: int, end: int) -> tuple[PageRegion, ...]:
        """Return a region for each line that the characters [start, end) are on."""
        return regions_of(self.lines, self.offsets, start, end)


def whole_words(lines: Sequence[Line]) -> frozenset[str]:
    """Return the words and compounds of a document in lower case, without those cut at a line end."""
    words, cut = set[str](), False
    for line in lines:
        in_line = _WORD.findall(line.text.lower())
        cut_after = bool(_CUT.search(line.text[-_TAIL:]))
        words.update(in_line[cut : len(in_line) - cut_after])
        cut = cut_after
    return frozenset(words)


def flow(lines: Sequence[Line], words: AbstractSet[str] = frozenset()) -> Flow:
    """Join lines into running text. `words`, from `whole_words`, tell a cut word from a compound."""
    parts, offsets, superscripts, offset = list[str](), list[int](), list[tuple[int, int]](), 0
    for line, text in zip(lines, _joinable(lines, words), strict=True):
        offsets.append(offset)
        superscripts += [(offset + start, offset + end) for start, end in line.superscripts]
        parts.append(text)
        offset += len(text)
    return Flow("".join(parts).rstrip(), tuple(lines), tuple(offsets), tuple(superscripts))


def _joinable(lines: Sequence[Line], words: AbstractSet[str]) -> Iterator[str]:
    """Yield the text of each line with a blank at its end, unless the next line continues the same word."""
    for number, line in enumerate(lines):
        after = lines[number + 1].text if number + 1 < len(lines) else ""
        cut = _CUT.search(line.text[-_TAIL:])
        if cut and after[:1].isalnum():
            yield line.text if _is_compound(cut[1], after, words) else line.text[:-1]
        elif _OPEN_ADDRESS.search(line.text[-_TAIL:]) or (
            line.text[-2:-1].isdigit() and line.text[-1:] in "-–"
        ):
            yield line.text
        else:
            yield line.text + " "


def _is_compound(stem: str, after: str, words: AbstractSet[str]) -> bool:
    """Return True if the hyphen belongs to the word: Shawe-Taylor, actor-critic, but not esti-mate."""
    if not after[0].islower():
        return True
    match = _WORD.match(after)
    rest, stem = match[0] if match else "", stem.lower()
    if stem + rest in words:
        return False
    if f"{stem}-{rest}" in words:
        return True
    head, hyphen, _ = rest.partition("-")
    return stem in words and head in words and len(stem) > 2 and (len(head) > 2 or bool(hyphen))

"""Headers and references as hidden Markov models see them: words without case and punctuation, and gaps.

Section 4.3 of McCallum et al. (2000): special words stand for e-mail and web addresses, years, zip codes,
report numbers and other numbers; the abstract, the heading of the introduction and the end of the page are
one word each. The paper then drops all punctuation and line ends. Here they live on as the kind of gap
between two words, which a model may use or not.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from trailmark.extract.papers.tokens import TokenLine, all_words
from trailmark.extract.papers.word_features import LONGEST_WORD

EMAIL, WEB, YEAR, ZIP, REPORT, NUMBER = "<email>", "<web>", "<year>", "<zip>", "<report>", "<number>"
RANGE, ISSUE, INITIAL = "<range>", "<issue>", "<initial>"
ABSTRACT, INTRO, PAGE = "<abstract>", "<intro>", "<page>"
N_GAPS = {"header": 4, "reference": 8}
"""Kinds of gap: see `header_text` and `reference_text`."""

SOLE_WORDS = {"abstract": ABSTRACT, "intro": INTRO, "page": PAGE}

_ADDRESSES = (
    (EMAIL, re.compile(r"\S*@\S+")),
    (WEB, re.compile(r".*(?:(?:https?|ftp)[:/.]|www\.)|~|.*\.html?$")),
)
_NUMERIC = (
    (YEAR, re.compile(r"(?:19|20)\d\d[a-z]?$")),
    (ZIP, re.compile(r"(?:[a-z]{1,2}-?)?\d{5}(?:-?\d{4})?$")),
    (REPORT, re.compile(r"(?=.*\d)(?:[a-z]\w*(?:[-/.]\w+)+|[a-z]*\d+[-/][a-z][\w/-]*)$")),
    (NUMBER, re.compile(r"[\d.,/:()-]*\d[\d.,/:()-]*$")),
)
_CITED = (
    (RANGE, re.compile(r"\W*\d+\s*[-–]+\s*\d+")),
    (ISSUE, re.compile(r"\W*\d+\W*\(\d+")),
    (INITIAL, re.compile(r"(?:[A-Z]\.-?)+[,;:]*$|[A-Z],?$")),
)
_EDGES = re.compile(r"^\W+|\W+$")
_NOT_WORD = re.compile(r"\W")
_QUOTE = re.compile(r"[\"”]|''")
_ABSTRACT_LINE = re.compile(r"\W*(?:extended\s+)?(?:abstract|summary)\b", re.IGNORECASE)
_INTRO_LINE = re.compile(r"(?:[\dIi]+\W*\s*)?introduction\W*$", re.IGNORECASE)
_AFTER_ABSTRACT = re.compile(
    r"(?:index terms|key\s?-?\s?words?|key\s?phrases|categor|general terms|subject (?:classif|descr)|ams\b|"
    r"cr categ)|\W*\d?\W*(?:this (?:work|research) (?:was|is|has been)|supported (?:in part )?by|"
    r"permission to)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class HmmText:
    """The words that a model is given, the gap before each, and the tokens [first, last) each stands for."""

    words: tuple[str, ...]
    gaps: tuple[int, ...]
    spans: tuple[tuple[int, int], ...]


def header_word(token: str) -> str:
    """The word for a token of a header, "" where there is nothing but punctuation."""
    lower = token[:LONGEST_WORD].lower()
    for name, pattern in _ADDRESSES:
        if pattern.match(lower):
            return name
    bare = _EDGES.sub("", lower)
    for name, pattern in _NUMERIC:
        if pattern.match(bare):
            return name
    return _NOT_WORD.sub("", bare)


def reference_word(token: str) -> str:
    """The same for references, in which ranges of pages, issues and initials are told apart as well."""
    return next((name for name, pattern in _CITED if pattern.match(token)), "") or header_word(token)


def header_text(lines: Sequence[TokenLine], fields: Sequence[str] | None = None) -> HmmText:
    """A header for a model: abstract and introduction are where `fields` of the tokens say, if known.

    Else they are where regular expressions find them. A gap is 2 at a line end, and 1 more after a comma.
    """
    tokens = all_words(lines)
    line_of = [number for number, line in enumerate(lines) for _ in line.tokens]
    blocks = _known_blocks(fields) if fields is not None else _found_blocks(lines)
    out, at = list[tuple[str, int, tuple[int, int]]](), 0
    while at < len(tokens):
        block, end = blocks.get(at, ("", at + 1))
        if word := block or header_word(tokens[at]):
            new_line = at == 0 or line_of[at] != line_of[at - 1]
            out.append((word, 2 * new_line + (at > 0 and tokens[at - 1].endswith(",")), (at, end)))
        at = end
    if not out or out[-1][0] != INTRO:
        out.append((PAGE, 2, (len(tokens), len(tokens))))
    words, gaps, spans = zip(*out, strict=True)
    return HmmText(words, gaps, spans)


def reference_text(tokens: Sequence[str]) -> HmmText:
    """A reference for a model; the gap is told by how the token before it ends."""
    words, gaps, spans = list[str](), list[int](), list[tuple[int, int]]()
    gap = 0
    for number, token in enumerate(tokens):
        if word := reference_word(token):
            words.append(word)
            gaps.append(gap)
            spans.append((number, number + 1))
        gap = _gap_after(token, word) or (0 if word else gap)
    return HmmText(tuple(words), tuple(gaps), tuple(spans))


def spread(spans: Sequence[tuple[int, int]], labels: Sequence[str], n_tokens: int) -> list[str]:
    """The labels of words, given to all tokens; punctuation goes with the word before it."""
    whole, at = [""] * n_tokens, 0
    current = labels[0] if labels else ""
    for (first, last), label in zip(spans, labels, strict=True):
        whole[at:first] = [current] * (first - at)
        whole[first:last] = [label] * (last - first)
        at, current = last, label
    whole[at:] = [current] * (n_tokens - at)
    return whole


def _gap_after(token: str, word: str) -> int:
    """1 to 5 by the last character, 6 after a closing quote, 7 after an initial, else 0."""
    if _QUOTE.search(token, 1):
        return 6
    if word == INITIAL and token.endswith("."):
        return 7
    return 1 + ".,;:)".find(token[-1])


def _known_blocks(fields: Sequence[str]) -> dict[int, tuple[str, int]]:
    """Where each run of the abstract or introduction begins: its word, and where it ends."""
    blocks, at = dict[int, tuple[str, int]](), 0
    while at < len(fields):
        end = at + 1
        while end < len(fields) and fields[end] == fields[at]:
            end += 1
        if fields[at] in ("abstract", "intro"):
            blocks[at] = (SOLE_WORDS[fields[at]], end)
        at = end
    return blocks


def _found_blocks(lines: Sequence[TokenLine]) -> dict[int, tuple[str, int]]:
    """The same by regular expressions on lines."""
    fields, within = list[str](), False
    for line in lines:
        text = " ".join(line.words)
        intro = _INTRO_LINE.match(text) is not None
        goes_on = within and _AFTER_ABSTRACT.match(text) is None
        within = not intro and (goes_on or _ABSTRACT_LINE.match(text) is not None)
        fields += ["intro" if intro else "abstract" if within else ""] * len(line)
    return _known_blocks(fields)

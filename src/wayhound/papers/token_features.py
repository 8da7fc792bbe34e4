"""Features of words for the token CRFs: of the word, its neighbours, its line, and the layout.

Line features follow Peng & McCallum (2004): in a header, most fields end at a line end, and a few words
indicate the field of a line. Layout features exist only for lines with a layout. The names of features are
part of the shipped models, and must not change.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from wayhound.papers.lexicon import Lexicon, core, word_classes
from wayhound.papers.tokens import LineLayout, TokenLine, all_words

MAX_WORD_LENGTH = 100
"""Characters of a word that are examined: longer ones are no words, and patterns would take long on them."""

_RUN = re.compile(r"(.)\1+")
_FORMS = (
    ("email", re.compile(r"\S+@\S+\.\S+")),
    ("at", re.compile(r"\S*@")),
    ("url", re.compile(r"(?i).*(?:https?:|ftp[.:]|www\.)|~|.*\.html?\W*$")),
    ("year", re.compile(r"\W*(?:19|20)\d\d[a-z]?\W*$")),
    ("apostrophe-year", re.compile(r"['’`]\d\d\W*$")),
    ("zip", re.compile(r"\W*(?:[A-Z]{1,2}-?)?\d{4,6}(?:-\d{3,4})?\W*$")),
    ("small-number", re.compile(r"\W*\d{1,2}\W*$")),
    ("number", re.compile(r"\W*\d+\W*$")),
    ("range", re.compile(r"\W*\d+\s*[-–]+\s*\d+")),
    ("issue", re.compile(r"\W*\d+\W*\(\d")),
    ("phone-number", re.compile(r".*(?:\d{3}[-.)/ ]*\d{3,4}|\+\d+|\(\d{2,3}\))")),
    ("report-number", re.compile(r"\W*[A-Z]+\w*[-/.]\w*\d+(?:[-/.]\w+)*\W*$")),
    ("digit", re.compile(r".*\d")),
    ("initial", re.compile(r"(?:[A-Z]\.-?)+,?$")),
    ("bare-initial", re.compile(r"[A-Z],?$")),
    ("capital", re.compile(r"\W*[A-Z]")),
    ("capitals", re.compile(r"\W*[A-Z][A-Z'-]{2,}\W*$")),
    ("small", re.compile(r"\W*[a-z]")),
    ("mark", re.compile(r"(?:[*†‡§¶]|\d|[a-z])$")),
    ("no-word", re.compile(r"\W+$")),
)


@dataclass(frozen=True, slots=True)
class WordFeatures:
    """`core` is the word without punctuation, `own` its features, `kinds` those that neighbours also get."""

    core: str
    own: tuple[str, ...]
    kinds: tuple[str, ...]
    last: str


def shape(token: str) -> str:
    """Return X for capitals, x for small letters and d for digits, each run once: `McCallum,` is `XxXx,`."""
    signs = (_sign(letter) for letter in token[:30])
    return _RUN.sub(r"\1", "".join(signs))[:10]


@lru_cache(maxsize=20_000)
def word_features(token: str, lexicon: Lexicon) -> WordFeatures:
    token = token[:MAX_WORD_LENGTH]
    bare, last = core(token), token[-1] if not token[-1].isalnum() else "a"
    lower = token.lower()
    own = [f"w={lower[:25]}", f"c={bare[:25]}", f"s={shape(token)}"]
    own += [f"p{n}={lower[:n]}" for n in (2, 3, 4)] + [f"x{n}={lower[-n:]}" for n in (2, 3, 4)]
    own += [f"first={token[0] if not token[0].isalnum() else 'a'}", f"last={last}"]
    kinds = [name for name, pattern in _FORMS if pattern.match(token)]
    kinds += [f"L:{name}" for name in word_classes(bare)]
    kinds += [f"N:{code}" for code in lexicon.codes_of(bare)]
    return WordFeatures(bare, tuple(own), tuple(kinds), last)


def _sign(letter: str) -> str:
    if letter.isdigit():
        return "d"
    if letter.isupper():
        return "X"
    return "x" if letter.isalpha() else letter


_OPEN_QUOTE = re.compile(r"[\"“]|``")
_CLOSE_QUOTE = re.compile(r".*(?:[\"”]|'')[.,;:]*$")
_STOP = re.compile(r".*(?:[a-z0-9)\]”\"][.][\"”)]?|[,.][\"”])$")
_WHOLE = (
    ("quotes", re.compile(r"[\"“]|``")),
    ("editors", re.compile(r"(?i)\beds?\b|\beditors?\b")),
    ("meeting", re.compile(r"(?i)\bproc|conference|symposium|workshop")),
    ("thesis", re.compile(r"(?i)thesis|technical report|tech\.? rep")),
    ("issue", re.compile(r"\d\s*\(\d+\)")),
    ("in", re.compile(r"[.,\"”]\s+[Ii]n:?\s+[A-Z]")),
)
_MARKS = {"year": "year", "L:pages": "pages", "range": "pages", "L:editor": "editor", "L:meeting": "meeting",
          "L:volume": "volume", "L:thesis": "thesis"}  # fmt: skip


class ReferenceFeatures:
    """Features of every word of a reference, without those of lines."""

    def __init__(self, lexicon: Lexicon) -> None:
        self.lexicon = lexicon

    def __call__(self, lines: Sequence[TokenLine]) -> list[list[str]]:
        tokens = all_words(lines)
        words = [word_features(token, self.lexicon) for token in tokens]
        whole = [name for name, pattern in _WHOLE if pattern.search(" ".join(tokens))]
        before = list(_before(tokens, words))
        return [
            [
                *words[at].own, *words[at].kinds, *_form(tokens[at]), *_reference_neighbours(words, at),
                *_place(at, len(words)), *before[at], *(f"whole={name}" for name in whole),
                *(f"whole={name}|{mark}" for name in whole for mark in before[at] if mark.startswith("after")),
            ]
            for at in range(len(words))
        ]  # fmt: skip


def _form(token: str) -> Iterator[str]:
    """Yield the exact spelling at both ends, and the shape letter by letter."""
    for length in (1, 2, 3, 4):
        yield f"P{length}={token[:length]}"
        yield f"X{length}={token[-length:]}"
    yield "S=" + "".join(shape(letter) for letter in token[:8])


def _reference_neighbours(words: Sequence[WordFeatures], at: int) -> Iterator[str]:
    for offset in (-3, -2, -1, 1, 2, 3):
        if not 0 <= at + offset < len(words):
            yield f"{offset}:none"
            continue
        there = words[at + offset]
        yield f"{offset}:c={there.core}"
        yield f"{offset}:last={there.last}"
        if abs(offset) < 3:
            yield f"{offset}:{there.own[2]}"
        for kind in there.kinds:
            if abs(offset) < 3 or kind.startswith("L:"):
                yield f"{offset}:{kind}"
    if at:
        yield f"pair={words[at - 1].core}|{words[at].core}"
        yield f"turn={words[at - 1].last}|{words[at].own[2]}"
    if at + 1 < len(words):
        yield f"next={words[at].core}|{words[at + 1].core}"


def _place(at: int, n_words: int) -> Iterator[str]:
    yield f"part={10 * at // n_words}"
    yield f"at={min(at, 12)}"
    yield f"left={min(n_words - at, 8)}"


def _before(tokens: Sequence[str], words: Sequence[WordFeatures]) -> Iterator[list[str]]:
    """Yield for each word what came before it: quotes, years, pages; and how many sentences have ended."""
    quoted, closed, stretch = False, False, 0
    seen: set[str] = set()
    for token, word in zip(tokens, words, strict=True):
        if _OPEN_QUOTE.match(token):
            quoted = True
        state = ["quoted"] if quoted else ["after-quote"] if closed else []
        yield [*state, f"stretch={min(stretch, 6)}", *(f"after={mark}" for mark in sorted(seen))]
        if quoted and _CLOSE_QUOTE.match(token):
            quoted, closed = False, True
        seen.update(_MARKS[kind] for kind in word.kinds if kind in _MARKS)
        stretch += _STOP.match(token) is not None and "initial" not in word.kinds


TELLING = (
    "email", "at", "url", "year", "zip", "report-number", "phone-number", "initial", "L:affiliation", "L:address",
    "L:region", "L:thanks", "L:notice", "L:degree", "L:keyword", "L:phone", "L:report", "L:abstract", "L:intro",
    "L:month", "L:mail", "L:web", "L:dated", "L:and", "N:p", "apostrophe-year",
)  # fmt: skip
SHARES = ("capital", "small", "capitals", "digit", "N:f", "N:l", "N:A", "N:T", "N:p", "L:common", "L:affiliation",
          "L:notice", "L:thanks", "initial")  # fmt: skip
SEEN_BEFORE = ("L:abstract", "email", "L:affiliation", "L:keyword", "L:intro", "phone-number", "L:thanks")
_SENTENCE_END = re.compile(r".*[a-z0-9)\]][.!?][\"')]?$")
_NUMBERED = re.compile(r"\d+(?:\.\d*)*\.?$|[IVX]+\.$")


class HeaderFeatures:
    """Features of every word of a header."""

    def __init__(self, lexicon: Lexicon) -> None:
        self.lexicon = lexicon

    def __call__(self, lines: Sequence[TokenLine]) -> list[list[str]]:
        kept = [line for line in lines if len(line)]
        words = [[word_features(word, self.lexicon) for word in line.words] for line in kept]
        about = [_line_features(line, seen) for line, seen in zip(kept, words, strict=True)]
        places = list(_places(words))
        sentences = _sentences(kept, words)
        flat = [(line, at) for line, seen in enumerate(words) for at in range(len(seen))]
        shared = [[*about[n][0], *_around(about, n), *places[n], *_layout(kept, n)] for n in range(len(kept))]
        return [
            [
                *shared[line], *_word(kept, words, line, at), *_neighbours(words, flat, number),
                *sentences[number],
            ]
            for number, (line, at) in enumerate(flat)
        ]  # fmt: skip


def _word(
    lines: Sequence[TokenLine], words: Sequence[Sequence[WordFeatures]], line: int, at: int
) -> Iterator[str]:
    here, seen = words[line][at], words[line]
    yield from here.own
    yield from here.kinds
    if at:
        yield f"pair={seen[at - 1].core}|{here.core}"
    else:
        yield from _line_start(lines, words, line)
    yield f"at={min(at, 3)}"
    if at == len(seen) - 1:
        yield "line-end"


def _line_start(
    lines: Sequence[TokenLine], words: Sequence[Sequence[WordFeatures]], line: int
) -> Iterator[str]:
    """Yield features of the border between a line and the line before it."""
    yield "line-start"
    if line:
        before, form = words[line - 1][-1], shape(lines[line].words[0])[:3]
        yield f"turn={before.last}|{form}"
        yield f"turn-word={before.core}"
        yield f"turn-kind={_gist(words[line - 1])}|{_gist(words[line])}"


def _neighbours(
    words: Sequence[Sequence[WordFeatures]], flat: Sequence[tuple[int, int]], number: int
) -> Iterator[str]:
    for offset in (-2, -1, 1, 2):
        other = number + offset
        if not 0 <= other < len(flat):
            yield f"{offset}:none"
            continue
        line, at = flat[other]
        mark = f"{offset}:" if line == flat[number][0] else f"{offset}/"
        there = words[line][at]
        yield f"{mark}c={there.core}"
        yield f"{mark}last={there.last}"
        for kind in there.kinds:
            yield mark + kind


def _line_features(line: TokenLine, words: Sequence[WordFeatures]) -> tuple[list[str], list[str]]:
    """Return the features of a line for its own words, and fewer for the words of nearby lines."""
    counts = {kind: sum(kind in word.kinds for word in words) for kind in (*TELLING, *SHARES)}
    real = max(1, sum("no-word" not in word.kinds for word in words))
    near = [f"has={kind}" for kind in TELLING if counts[kind]]
    near += [f"share={kind}:{_quarter(counts[kind] / real)}" for kind in SHARES]
    near += [f"length={_length(len(words))}", f"begins={words[0].core}", f"ends={words[-1].last}"]
    near += [f"form={shape(line.words[0])[:5]}", f"gist={_gist(words)}"]
    own = [f"0{feature}" for feature in near] + [f"lw={word.core}" for word in words[:30] if word.core]
    own += [f"0stops={words[-1].core}"]
    if len(words) > 1:
        own.append(f"0begins2={words[0].core}_{words[1].core}")
    return own, near


def _around(about: Sequence[tuple[list[str], list[str]]], line: int) -> Iterator[str]:
    for offset in (-2, -1, 1, 2):
        if 0 <= line + offset < len(about):
            for feature in about[line + offset][1]:
                yield f"{offset:+d}{feature}"
        else:
            yield f"{offset:+d}none"


def _places(words: Sequence[Sequence[WordFeatures]]) -> Iterator[list[str]]:
    """Yield the position of each line, among all lines and relative to abstract and introduction."""
    n_lines = len(words)
    headings = [_heading(seen) for seen in words]
    last_abstract = max((n for n, heading in enumerate(headings) if heading == "abstract"), default=-1)
    seen_before: set[str] = set()
    since = "none"
    for line, seen in enumerate(words):
        if headings[line]:
            since, start = headings[line], line
        zone = f"{since}+{min(line - start, 3)}" if since != "none" else "none"
        ahead = "abstract-ahead" if line < last_abstract else "no-abstract-ahead"
        yield [
            f"line={min(line, 8)}", f"part={5 * line // n_lines}", f"from-last={min(n_lines - line, 4)}", ahead,
            f"zone={zone}", f"zone={since}", f"{ahead}|line={min(line, 3)}",
            *(f"seen={kind}" for kind in sorted(seen_before)),
        ]  # fmt: skip
        seen_before.update(kind for word in seen for kind in word.kinds if kind in SEEN_BEFORE)


def _heading(words: Sequence[WordFeatures]) -> str:
    """Return `abstract`, `intro` or `keyword` if the line is, or begins with, such a heading."""
    first = words[0]
    if "L:abstract" in first.kinds or first.core.startswith("abstract"):
        return "abstract"
    if len(words) <= 3 and "L:intro" in words[-1].kinds:
        return "intro"
    if "L:keyword" in first.kinds and first.core.startswith(("key", "index", "categor")):
        return "keyword"
    return ""


def _sentences(lines: Sequence[TokenLine], words: Sequence[Sequence[WordFeatures]]) -> list[list[str]]:
    """Return the features of each word's sentence: a paragraph may be one line, or a sentence many."""
    features, sentence = list[list[str]](), list[WordFeatures]()
    tokens = [token for line in lines for token in line.words]
    for token, word in zip(tokens, (word for seen in words for word in seen), strict=True):
        sentence.append(word)
        if _SENTENCE_END.match(token) and not set(word.kinds) & {"initial", "small-number"}:
            features += [_sentence_features(sentence)] * len(sentence)
            sentence = []
    return features + [_sentence_features(sentence)] * len(sentence)


def _sentence_features(sentence: Sequence[WordFeatures]) -> list[str]:
    kinds = {kind for word in sentence for kind in word.kinds}
    cues = [kind for kind in ("L:thanks", "L:notice", "L:degree", "L:affiliation", "email") if kind in kinds]
    n_cues = sum("L:thanks" in word.kinds or "L:notice" in word.kinds for word in sentence)
    start = "_".join(word.core for word in sentence[:2])
    return [
        *(f"sentence={cue}" for cue in cues),
        f"sentence-cues={min(n_cues, 4)}",
        f"sentence-start={start}",
    ]


def _layout(lines: Sequence[TokenLine], line: int) -> Iterator[str]:
    """Yield size, centring and position on the page, if the line has a layout."""
    layout = lines[line].layout
    if layout is None:
        return
    above = lines[line - 1].layout if line else None
    yield f"size={round(4 * min(layout.size, 3.0))}"
    yield f"depth={int(8 * layout.depth)}"
    yield f"centred={abs(layout.off_centre) < 0.04}"
    yield f"style={layout.bold}{layout.italic}"
    yield f"size-turn={_compare(layout, above)}"
    if above is not None:
        yield f"style-turn={above.bold}{above.italic}|{layout.bold}{layout.italic}"


def _compare(layout: LineLayout, above: LineLayout | None) -> str:
    if above is None:
        return "first"
    if abs(layout.size - above.size) < 0.05:
        return "same"
    return "larger" if layout.size > above.size else "smaller"


def _gist(words: Sequence[WordFeatures]) -> str:
    """Return the kind of a line by its strongest indication."""
    kinds = {kind for word in words for kind in word.kinds}
    for kind in ("L:abstract", "email", "L:thanks", "L:degree", "phone-number", "L:affiliation", "L:notice", "zip",
                 "L:region", "L:month", "year"):  # fmt: skip
        if kind in kinds:
            return kind
    if _NUMBERED.match(words[0].core):
        return "numbered"
    names = sum(bool({"N:f", "N:l", "N:A", "initial"} & set(word.kinds)) for word in words)
    return "names" if 2 * names > len(words) else "words"


def _quarter(share: float) -> int:
    """Return 0 for none, then the quarter, 1 to 4."""
    return 0 if share == 0 else min(4, 1 + int(4 * share - 1e-9))


def _length(n_words: int) -> int:
    return n_words if n_words < 6 else min(6 + n_words // 4, 12)

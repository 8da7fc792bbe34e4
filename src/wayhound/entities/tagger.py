"""A tagger of lines that is taught on some sites and used on others.

The rules of a site (`templates.py`) name its elements and do not hold elsewhere. What lines with a field have in common
over sites is learned here, by maximum entropy: the label before or above them, the names of their elements' classes,
and the shape of their text. It runs after all cheaper evidence, for taught fields that a page has no value of.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from wayhound.entities.fact import Fact
from wayhound.entities.kept import keep
from wayhound.entities.page_lines import PageLines
from wayhound.entities.templates import lines_with_paths, locate
from wayhound.text.words import fold, plain_words

LEAST_SITES = 2  # on which a field was marked: what one site does tells nothing about others
LEAST_PROBABILITY = 0.3  # a few examples leave it low: of values above this nearly all are right
MAX_LINES = 2_000
MAX_VALUE_CHARS = 200
_LABEL = re.compile(r"([^:：]{1,40})[:：]\s*(?=\S)")
_LABEL_WORDS = 4
_CLASS_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_SHAPES = ((re.compile(r"[A-ZÀ-Þ]+"), "A"), (re.compile(r"[^\W\d_A]+"), "a"), (re.compile(r"\d+"), "9"))
_PRIOR_VARIANCE = 10.0

TaughtPage = tuple[str, bytes, str, str, Sequence[tuple[str, str]]]
"""A site, a page (body, content type, charset), and the fields and texts that a person marked on it."""

EXTRACTED = frozenset("name email phone fax address hours social registration country coordinates".split())
"""Fields that extractors read without being taught, and better than a tagger of lines."""


@dataclass(frozen=True, slots=True)
class LineTagger:
    """Weights of features for each field, against "none of them"; plain numbers, so that it can be sent anywhere."""

    fields: tuple[str, ...]
    weights: Mapping[str, tuple[float, ...]]
    bias: tuple[float, ...]

    def find(self, page: PageLines, paths: Sequence[str], missing: Iterable[str]) -> list[Fact]:
        """Return the likeliest value of each missing field, where one is likely enough."""
        wanted = [(number, name) for number, name in enumerate(self.fields) if name in set(missing)]
        best: dict[str, tuple[float, int]] = {}
        for index, features in enumerate(line_features(page, paths)) if wanted else ():
            chances = self._probabilities(features)
            for number, name in wanted:
                if chances[number] >= max(LEAST_PROBABILITY, best.get(name, (0.0, 0))[0]):
                    best[name] = chances[number], index
        return [_fact(page, name, index, chance) for name, (chance, index) in best.items()]

    def _probabilities(self, features: Iterable[str]) -> list[float]:
        scores = list(self.bias)
        for feature in features:
            if weights := self.weights.get(feature):
                scores = [score + weight for score, weight in zip(scores, weights, strict=True)]
        top = max(0.0, *scores)
        powers = [math.exp(score - top) for score in scores]
        total = math.exp(-top) + sum(powers)
        return [power / total for power in powers]


def _fact(page: PageLines, name: str, index: int, chance: float) -> Fact:
    line = page.lines[index]
    label = _LABEL.match(line)
    start = page.starts[index] + (label.end() if label else 0)
    text = line[label.end() if label else 0 :][:MAX_VALUE_CHARS].strip(" ,;|")
    return Fact(name, text, round((1 + chance) / 2, 3), "tagger", start, start + len(text), printed=text)


def line_features(page: PageLines, paths: Sequence[str]) -> Iterator[list[str]]:
    """Yield the features of each line: its label, the line above, its element and the shape of its text."""
    above = ""
    for line, path in zip(page.lines[:MAX_LINES], paths, strict=False):
        label, shape, below = _own_features(line)
        name = above if label is None else label
        yield [*(_name_features(name) if name else ()), *_element_features(path), *shape]
        above = below


# The pages of a site share most of their lines and nearly all of their elements, so what follows from these is kept.


@keep
def _own_features(line: str) -> tuple[str | None, tuple[str, ...], str]:
    """Return the label of a line, None without one, the features of its value, and what it is called as a label."""
    label = _LABEL.match(line)
    value = line[label.end() if label else 0 :]
    shape = f"shape:{_shape(value)}", f"length:{len(value).bit_length()}"
    return (_words(label[1]), shape, "") if label else (None, shape, _words(line.rstrip(" :：")))


@keep
def _name_features(name: str) -> tuple[str, ...]:
    return f"label:{name}", *(f"word:{word}" for word in name.split())


@keep
def _element_features(path: str) -> tuple[str, ...]:
    features: list[str] = []
    for element in path.split(">")[-2:]:
        tag, _, classes = element.partition(".")
        features += (f"tag:{tag}", *(f"class:{word.lower()}" for word in _CLASS_WORDS.findall(classes)))
    return tuple(features)


def _words(text: str) -> str:
    words = plain_words(text[:60])
    return " ".join(words) if len(words) <= _LABEL_WORDS else ""


def _shape(text: str) -> str:
    """Return the kinds of letters of a text, runs as one: `Aa Aa, 9` for "Main Street, 12"."""
    shape = text[:40]
    if not shape.isascii():
        shape = fold(shape)
    for pattern, sign in _SHAPES:
        shape = pattern.sub(sign, shape)
    return shape[:12]


def learn_tagger(pages: Iterable[TaughtPage]) -> LineTagger | None:
    """Return a tagger for the fields that were marked on at least two sites and no extractor reads; None without any.

    Lines of a page on which a field was marked that are not marked themselves are examples of "none".
    """
    pages = list(pages)
    sites: dict[str, set[str]] = defaultdict(set)
    for site, _, _, _, marks in pages:
        for name, _ in marks:
            sites[name].add(site)
    fields = _fields_over(sites)
    lines = [line for page in pages for line in _marked_lines(page, fields)]
    return _fitted(fields, lines) if any(number for number, _ in lines) else None


def _fields_over(sites: Mapping[str, Collection[str]]) -> tuple[str, ...]:
    """Return the fields that a tagger can learn, given the sites on which each was marked."""
    return tuple(
        sorted(name for name, of in sites.items() if len(of) >= LEAST_SITES and name not in EXTRACTED)
    )


def _marked_lines(taught: TaughtPage, fields: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    """Yield the number of the field of each line, 0 for none, and its features; nothing of a page without marks."""
    _, body, content_type, charset, marks = taught
    page, paths = lines_with_paths(body, content_type, charset)
    places = ((name, locate(page, paths, text)) for name, text in marks if name in fields)
    marked = {place.line: fields.index(name) + 1 for name, place in places if place is not None}
    for index, features in enumerate(line_features(page, paths) if marked else ()):
        yield marked.get(index, 0), features


def _fitted(fields: tuple[str, ...], lines: Sequence[tuple[int, list[str]]]) -> LineTagger:
    import numpy as np  # noqa: PLC0415 - with scipy it loads slowly, and only what was taught on sites needs it
    from scipy.sparse import csr_array  # noqa: PLC0415

    from wayhound.learn.logistic import LogisticRegression  # noqa: PLC0415

    numbers: dict[str, int] = {}
    rows = [dict.fromkeys(numbers.setdefault(name, len(numbers)) for name in names) for _, names in lines]
    columns = np.array([number for row in rows for number in row])
    starts = np.cumsum([0, *map(len, rows)])
    matrix = csr_array((np.ones(len(columns)), columns, starts), shape=(len(rows), len(numbers)))
    model = LogisticRegression(len(fields) + 1, _PRIOR_VARIANCE, reference=True)
    model.fit(matrix, np.array([number for number, _ in lines]))
    weights = {name: tuple(model.weights_[number].tolist()) for name, number in numbers.items()}
    return LineTagger(fields, weights, tuple(model.bias_.tolist()))

"""Fields of headers and references by hidden Markov models: the paper's own way, kept as the baseline.

Sections 4.2 and 4.3 of McCallum et al. (2000). Beyond these, steps between words may go by the gap between
them (line end, comma): see `use_gaps`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from wayhound.errors import ModelError, NotFitted
from wayhound.learn.arrays import Floats, Ints
from wayhound.learn.hmm import HiddenMarkovModel, WordSequence
from wayhound.learn.hmm_parameters import UNKNOWN
from wayhound.learn.hmm_tagger import EmissionSource, Merging, TaggerHMM
from wayhound.learn.model_file import array_to_text, text_to_array
from wayhound.papers.distant import DistantWords
from wayhound.papers.tagged import HEADER_FIELDS, REFERENCE_FIELDS, TaggedText
from wayhound.papers.token_features import MAX_WORD_LENGTH
from wayhound.papers.tokens import (
    Hint,
    Labelling,
    Segment,
    TextKind,
    TokenLine,
    all_words,
    label_runs,
    parse_kind,
)

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
    lower = token[:MAX_WORD_LENGTH].lower()
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


_ALMOST_ONE = 0.01  # the logarithm of a probability of one, as rounding may leave it

MIN_DISTANT_COUNT = 5
"""Rarer words of other sources only spread thin what is kept for unseen words."""


class FieldHMM:
    """A hidden Markov model over the words of headers or references.

    The other parameters are those of `TaggerHMM`. After `fit`: `vocabulary_` (word → number, from 1; 0 is for
    unknown words), `model_`, and `tagger_`, the estimator; the last is not kept in files.
    """

    FORMAT: ClassVar = "field-hmm"
    VERSION: ClassVar = 1

    def __init__(
        self,
        kind: TextKind = "header",
        *,
        merging: Merging = "v",
        max_states: int = 160,
        transitions: str = "shrunk",
        emissions: EmissionSource = "L*D",
        use_gaps: bool = True,
    ) -> None:
        self.kind = kind
        self.merging = merging
        self.max_states = max_states
        self.transitions = transitions
        self.emissions = emissions
        self.use_gaps = use_gaps

    @property
    def fields(self) -> tuple[str, ...]:
        return HEADER_FIELDS if self.kind == "header" else REFERENCE_FIELDS

    def fit(self, examples: Sequence[TaggedText], distant: DistantWords | None = None) -> Self:
        distant = None if self.emissions == "L" else distant
        seen = [self.read(example.lines, example.labels) for example in examples]
        self.vocabulary_ = _numbered(
            (word for text in seen for word in text.words),
            distant.vocabulary(MIN_DISTANT_COUNT) if distant else (),
            self._sole_words().values(),
        )
        self.tagger_ = self._tagger()
        counts = distant.matrix(self.fields, self.vocabulary_, self.tagger_.n_words) if distant else None
        truth = [self.classes(text, example.labels) for text, example in zip(seen, examples, strict=True)]
        self.tagger_.fit([self.numbers(text) for text in seen], truth, counts)
        self.model_ = self.tagger_.model_
        return self

    def label(self, lines: Sequence[TokenLine], hints: Sequence[Hint] = ()) -> Labelling:  # noqa: ARG002
        """Hints are not used: the paper has none."""
        return self.label_read(self.read(lines), len(all_words(lines)))

    def read(self, lines: Sequence[TokenLine], labels: Sequence[str] | None = None) -> HmmText:
        """Lines as the model sees them; with `labels`, the abstract is where these say."""
        if self.kind == "header":
            return header_text(lines, labels)
        return reference_text(all_words(lines))

    def label_read(self, text: HmmText, n_tokens: int) -> Labelling:
        """The labels of a text that was read before."""
        model, asked = self._fitted(), [self.numbers(text)]
        classes = [self.fields[number] for number in model.decode(asked)[0]]
        labels = spread(text.spans, classes, n_tokens)
        sure = _spread_numbers(text, model.class_marginals(asked, len(self.fields))[0].max(axis=1), n_tokens)
        segments = [Segment(name, a, b, float(sure[a:b].min())) for name, a, b in label_runs(labels)]
        return Labelling(tuple(labels), tuple(segments))

    def classes(self, text: HmmText, labels: Sequence[str]) -> Ints:
        """The classes of the words of a text, the labels of whose tokens are known."""
        names = [labels[first] if first < len(labels) else "page" for first, _ in text.spans]
        return np.array([self.fields.index(name) for name in names], dtype=np.int64)

    def numbers(self, text: HmmText) -> WordSequence:
        words = [self.vocabulary_.get(word, UNKNOWN) for word in text.words]
        return WordSequence.from_words(words, text.gaps if self.use_gaps else None)

    def to_arrays(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Arrays and plain data, for `store.models.save_model` or a file; states of one class say the same."""
        model = self._fitted()
        _, first = np.unique(model.classes, return_index=True)
        arrays: dict[str, NDArray[Any]] = {
            "words": text_to_array("\n".join(self.vocabulary_)),
            "classes": model.classes.astype(np.uint8),
            "starts": model.starts.astype(np.float32),
            "steps": model.steps.astype(np.float32),
            "ends": model.ends.astype(np.float32),
            "emissions": model.emissions[first].astype(np.float16),
        }
        return arrays, {"kind": self.kind, "use_gaps": self.use_gaps}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], meta: Mapping[str, Any]) -> Self:
        """The model that `to_arrays` gave; a sentence where it is damaged."""
        model = cls(parse_kind(meta.get("kind")), use_gaps=bool(meta.get("use_gaps")))
        try:
            words = array_to_text(arrays["words"]).split("\n")
            model.vocabulary_ = {word: number for number, word in enumerate(words, start=1)}
            model.model_ = _hidden_markov(arrays, 1 + len(words), len(model.fields), model._n_gaps)
        except (ValueError, KeyError, IndexError, TypeError) as error:
            raise ModelError(f"This hidden Markov model is damaged: {error}.") from error
        return model

    def _tagger(self) -> TaggerHMM:
        sole = {self.fields.index(name): self.vocabulary_[word] for name, word in self._sole_words().items()}
        return TaggerHMM(
            len(self.fields),
            1 + len(self.vocabulary_),
            merging=self.merging,
            max_states=self.max_states,
            transitions=self.transitions,
            emissions=self.emissions,
            sole_words=sole,
            n_gaps=self._n_gaps,
        )

    @property
    def _n_gaps(self) -> int:
        return N_GAPS[self.kind] if self.use_gaps else 1

    def _sole_words(self) -> dict[str, str]:
        return SOLE_WORDS if self.kind == "header" else {}

    def _fitted(self) -> HiddenMarkovModel:
        if not hasattr(self, "model_"):
            raise NotFitted("This field model has not been taught yet.")
        return self.model_


def _hidden_markov(
    arrays: Mapping[str, NDArray[Any]], n_words: int, n_classes: int, n_gaps: int
) -> HiddenMarkovModel:
    classes = arrays["classes"].astype(np.int64)
    known, row = np.unique(classes, return_inverse=True)
    starts, steps, ends = (arrays[name].astype(np.float64) for name in ("starts", "steps", "ends"))
    said = arrays["emissions"].astype(np.float64).reshape(len(known), n_words)
    if known.max() >= n_classes or not all(
        (each <= _ALMOST_ONE).all() for each in (starts, steps, ends, said)
    ):
        raise ValueError("a state has no class, or a chance is none")
    n_states = len(classes)
    steps = steps.reshape(n_gaps, n_states, n_states)
    return HiddenMarkovModel(classes, starts.reshape(n_states), steps, ends.reshape(n_states), said[row])


def _numbered(*words: Iterable[str]) -> dict[str, int]:
    every = sorted({word for source in words for word in source})
    return {word: number for number, word in enumerate(every, start=1)}


def _spread_numbers(text: HmmText, values: Floats, n_tokens: int) -> Floats:
    """A number for every token; tokens without a word, which the model does not see, get 1."""
    whole = np.ones(n_tokens)
    for (first, last), value in zip(text.spans, values, strict=True):
        whole[first:last] = value
    return whole

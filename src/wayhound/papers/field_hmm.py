"""Hidden Markov models for headers and references, as in sections 4.2 and 4.3 of McCallum et al. (2000).

Beyond the paper, transitions may depend on the gap between two words (line end, comma; see `use_gaps`), hints
are used, and a model learns from corrected texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from wayhound.errors import ModelError, NotFitted
from wayhound.learn.arrays import Floats, Ints
from wayhound.learn.hmm import HiddenMarkovModel, WordSequence
from wayhound.learn.hmm_parameters import UNKNOWN, adapt, expected_counts
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
"""Number of kinds of gap: see `header_text` and `reference_text`."""

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
    r"cr categ)|\W*+(?:\d\W*+)?(?:this (?:work|research) (?:was|is|has been)|supported (?:in part )?by|"
    r"permission to)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class HmmText:
    """The words that a model sees, the gap before each, and the tokens [first, last) that each represents."""

    words: tuple[str, ...]
    gaps: tuple[int, ...]
    spans: tuple[tuple[int, int], ...]


def header_word(token: str) -> str:
    """Return the word for a token of a header; empty for punctuation."""
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
    """Return the word for a token of a reference; page ranges, issues and initials have words of their own."""
    return next((name for name, pattern in _CITED if pattern.match(token)), "") or header_word(token)


def header_text(lines: Sequence[TokenLine], fields: Sequence[str] | None = None) -> HmmText:
    """Return a header for a model, with one word each for abstract, introduction and end of page.

    Abstract and introduction are taken from `fields` of the tokens, or else found by regular expressions. A gap
    is 2 at a line end, and 1 more after a comma.
    """
    tokens = all_words(lines)
    line_of = [number for number, line in enumerate(lines) for _ in line.tokens]
    blocks = _labelled_blocks(fields) if fields is not None else _matched_blocks(lines)
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
    """Return a reference for a model; a gap depends on how the token before it ends."""
    words, gaps, spans = list[str](), list[int](), list[tuple[int, int]]()
    gap = 0
    for number, token in enumerate(tokens):
        if word := reference_word(token):
            words.append(word)
            gaps.append(gap)
            spans.append((number, number + 1))
        gap = _gap_after(token, word) or (0 if word else gap)
    return HmmText(tuple(words), tuple(gaps), tuple(spans))


def token_labels(spans: Sequence[tuple[int, int]], labels: Sequence[str], n_tokens: int) -> list[str]:
    """Return a label for every token from those of the words; punctuation is labelled like the word before it."""
    spread, at = [""] * n_tokens, 0
    current = labels[0] if labels else ""
    for (first, last), label in zip(spans, labels, strict=True):
        spread[at:first] = [current] * (first - at)
        spread[first:last] = [label] * (last - first)
        at, current = last, label
    spread[at:] = [current] * (n_tokens - at)
    return spread


def _gap_after(token: str, word: str) -> int:
    """Return 1 to 5 by the last character, 6 after a closing quote, 7 after an initial, and else 0."""
    if _QUOTE.search(token, 1):
        return 6
    if word == INITIAL and token.endswith("."):
        return 7
    return 1 + ".,;:)".find(token[-1])


def _labelled_blocks(fields: Sequence[str]) -> dict[int, tuple[str, int]]:
    """Return the start of each run of abstract or introduction, with its word and its end."""
    blocks, at = dict[int, tuple[str, int]](), 0
    while at < len(fields):
        end = at + 1
        while end < len(fields) and fields[end] == fields[at]:
            end += 1
        if fields[at] in ("abstract", "intro"):
            blocks[at] = (SOLE_WORDS[fields[at]], end)
        at = end
    return blocks


def _matched_blocks(lines: Sequence[TokenLine]) -> dict[int, tuple[str, int]]:
    """Return the runs of abstract and introduction by regular expressions on lines."""
    fields, within = list[str](), False
    for line in lines:
        text = " ".join(line.words)
        intro = _INTRO_LINE.match(text) is not None
        goes_on = within and _AFTER_ABSTRACT.match(text) is None
        within = not intro and (goes_on or _ABSTRACT_LINE.match(text) is not None)
        fields += ["intro" if intro else "abstract" if within else ""] * len(line)
    return _labelled_blocks(fields)


_MAX_LOG = 0.01  # of a probability, which rounding may put above 0

MIN_DISTANT_COUNT = 5
"""Rarer distant words would only dilute the probability of unseen words."""

CORRECTION_WEIGHTS = (0.05, 0.1, 0.2, 0.4)
"""Weights of corrected texts against what the model has learned before. With 0.8, other texts get worse by far."""


class FieldHMM:
    """A hidden Markov model over the words of headers or references.

    The other parameters are those of `TaggerHMM`. After `fit`: `vocabulary_` (word → number from 1; 0 is for
    unknown words), `model_`, and `tagger_`, the estimator, which is not saved.
    """

    FORMAT: ClassVar = "field-hmm"
    VERSION: ClassVar = 1

    def __init__(
        self,
        kind: TextKind = "header",
        *,
        merging: Merging = "search",
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
        """Learn from tagged texts, and from distant words if `emissions` use them."""
        distant = None if self.emissions == "L" else distant
        texts = [self.read(example.lines, example.labels) for example in examples]
        self.vocabulary_ = _numbered(
            (word for text in texts for word in text.words),
            distant.vocabulary(MIN_DISTANT_COUNT) if distant else (),
            self._sole_words().values(),
        )
        self.tagger_ = self._tagger()
        counts = distant.matrix(self.fields, self.vocabulary_, self.tagger_.n_words) if distant else None
        truth = [self.classes(text, example.labels) for text, example in zip(texts, examples, strict=True)]
        self.tagger_.fit([self.numbers(text) for text in texts], truth, counts)
        self.model_ = self.tagger_.model_
        return self

    def label(self, lines: Sequence[TokenLine], hints: Sequence[Hint] = ()) -> Labelling:
        return self.label_read(self.read(lines), len(all_words(lines)), hints)

    def read(self, lines: Sequence[TokenLine], labels: Sequence[str] | None = None) -> HmmText:
        """Return lines as the model sees them; with `labels`, the abstract is taken from these."""
        if self.kind == "header":
            return header_text(lines, labels)
        return reference_text(all_words(lines))

    def label_read(self, text: HmmText, n_tokens: int, hints: Sequence[Hint] = ()) -> Labelling:
        """Return the labels of a text from `read`."""
        evidence = self._evidence(text, n_tokens, hints)
        classes, marginals = self._fitted().label(self.numbers(text), evidence, len(self.fields))
        labels = token_labels(text.spans, [self.fields[number] for number in classes], n_tokens)
        confidence = _token_values(text, marginals.max(axis=1, initial=0.0), n_tokens)
        segments = [
            Segment(field, first, last, float(confidence[first:last].min()))
            for field, first, last in label_runs(labels)
        ]
        return Labelling(tuple(labels), tuple(segments))

    def _evidence(self, text: HmmText, n_tokens: int, hints: Sequence[Hint]) -> Floats:
        """Return the weights of hints, (L, C). A hint at a token without a word is ignored."""
        word_of_token = np.full(n_tokens, -1)
        for word, (first, last) in enumerate(text.spans):
            word_of_token[first:last] = word
        evidence = np.zeros((len(text.words), len(self.fields)))
        for hint in hints:
            if hint.word < n_tokens and (word := word_of_token[hint.word]) >= 0:
                evidence[word, self.fields.index(hint.field)] += hint.weight
        return evidence

    def corrected(self, examples: Sequence[TaggedText]) -> Self:
        """Return a model that has learned a few corrected texts, without its training data.

        The estimates from these texts are mixed in by the smallest of `CORRECTION_WEIGHTS` that lets most of
        them come out right.
        """
        texts = [self.read(example.lines, example.labels) for example in examples]
        model = self._with_words(word for text in texts for word in text.words)
        sequences = [model.numbers(text) for text in texts]
        truth = [model.classes(text, example.labels) for text, example in zip(texts, examples, strict=True)]
        before = model.model_
        counts = expected_counts(before, sequences, truth)
        candidates = [adapt(before, counts, weight) for weight in CORRECTION_WEIGHTS]
        model.model_ = max(candidates, key=lambda candidate: _n_right(candidate.decode(sequences), truth))
        return model

    def _with_words(self, words: Iterable[str]) -> Self:
        """Return a copy whose vocabulary has these words, too, each as likely as the unknown word was."""
        new = sorted(set(words) - self.vocabulary_.keys())
        model, fitted = copy(self), self._fitted()
        model.vocabulary_ = self.vocabulary_ | {
            word: number for number, word in enumerate(new, start=1 + len(self.vocabulary_))
        }
        columns = np.repeat(fitted.emissions[:, [UNKNOWN]], len(new), axis=1)
        model.model_ = replace(fitted, emissions=np.hstack([fitted.emissions, columns]))
        return model

    def classes(self, text: HmmText, labels: Sequence[str]) -> Ints:
        """Return the classes of the words of a text with known labels of tokens, (L,)."""
        names = [labels[first] if first < len(labels) else "page" for first, _ in text.spans]
        return np.array([self.fields.index(name) for name in names], dtype=np.int64)

    def numbers(self, text: HmmText) -> WordSequence:
        words = [self.vocabulary_.get(word, UNKNOWN) for word in text.words]
        return WordSequence.from_words(words, text.gaps if self.use_gaps else None)

    def to_arrays(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Return arrays and metadata for a model file. Emissions are saved by class: its states share them."""
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
        """Return the model that `to_arrays` saved. Raises ModelError if it is damaged."""
        model = cls(parse_kind(meta.get("kind")), use_gaps=bool(meta.get("use_gaps")))
        try:
            words = array_to_text(arrays["words"]).split("\n")
            model.vocabulary_ = {word: number for number, word in enumerate(words, start=1)}
            model.model_ = _hidden_markov(arrays, 1 + len(words), len(model.fields), model._n_gaps)
        except (ValueError, KeyError, IndexError, TypeError) as error:
            raise ModelError(f"The hidden Markov model is damaged: {error}. Train it again.") from error
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
            raise NotFitted("This field model has not been trained yet.")
        return self.model_


def _n_right(decoded: Sequence[Ints], truth: Sequence[Ints]) -> int:
    return sum(np.array_equal(classes, right) for classes, right in zip(decoded, truth, strict=True))


def _hidden_markov(
    arrays: Mapping[str, NDArray[Any]], n_words: int, n_classes: int, n_gaps: int
) -> HiddenMarkovModel:
    classes = arrays["classes"].astype(np.int64)
    present, row = np.unique(classes, return_inverse=True)
    starts, steps, ends = (arrays[name].astype(np.float64) for name in ("starts", "steps", "ends"))
    emissions = arrays["emissions"].astype(np.float64).reshape(len(present), n_words)
    logs = (starts, steps, ends, emissions)
    if present.max() >= n_classes or not all((values <= _MAX_LOG).all() for values in logs):
        raise ValueError("a state without a class, or a probability above one")
    n_states = len(classes)
    steps = steps.reshape(n_gaps, n_states, n_states)
    return HiddenMarkovModel(classes, starts.reshape(n_states), steps, ends.reshape(n_states), emissions[row])


def _numbered(*words: Iterable[str]) -> dict[str, int]:
    every = sorted({word for source in words for word in source})
    return {word: number for number, word in enumerate(every, start=1)}


def _token_values(text: HmmText, values: Floats, n_tokens: int) -> Floats:
    """Return the value of each token's word; 1 for tokens without a word, which the model does not see."""
    spread = np.ones(n_tokens)
    for (first, last), value in zip(text.spans, values, strict=True):
        spread[first:last] = value
    return spread

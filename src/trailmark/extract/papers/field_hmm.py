"""Fields of headers and references by hidden Markov models: the paper's own way, kept as the baseline.

Sections 4.2 and 4.3 of McCallum et al. (2000). Beyond these, steps between words may go by the gap between
them (line end, comma): see `use_gaps`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Self

import numpy as np

from trailmark.errors import NotFitted
from trailmark.extract.papers.distant import DistantWords
from trailmark.extract.papers.hmm_words import (
    SOLE_WORDS,
    HmmText,
    header_text,
    reference_text,
    spread,
)
from trailmark.extract.papers.labelling import Kind, Labelling, Segment, runs
from trailmark.extract.papers.tagged import HEADER_FIELDS, REFERENCE_FIELDS, Tagged
from trailmark.extract.papers.tokens import TokenLine, all_words
from trailmark.learn.chain import Floats, Ints
from trailmark.learn.hmm import HiddenMarkov, Text
from trailmark.learn.hmm_emissions import UNKNOWN
from trailmark.learn.hmm_tagger import EmissionSource, Merging, TaggerHMM

MIN_DISTANT_COUNT = 5
"""Rarer words of other sources only spread thin what is kept for unseen words."""


class FieldHMM:
    """A hidden Markov model over the words of headers or references.

    The other parameters are those of `TaggerHMM`. After `fit`: `vocabulary_` (word → number, from 1; 0 is for
    unknown words), `model_`, and `tagger_`, the estimator.
    """

    def __init__(
        self,
        kind: Kind = "header",
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

    def fit(self, examples: Sequence[Tagged], distant: DistantWords | None = None) -> Self:
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

    def label(self, lines: Sequence[TokenLine]) -> Labelling:
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
        segments = [Segment(name, a, b, float(sure[a:b].min())) for name, a, b in runs(labels)]
        return Labelling(tuple(labels), tuple(segments))

    def classes(self, text: HmmText, labels: Sequence[str]) -> Ints:
        """The classes of the words of a text, the labels of whose tokens are known."""
        names = [labels[first] if first < len(labels) else "page" for first, _ in text.spans]
        return np.array([self.fields.index(name) for name in names], dtype=np.int64)

    def numbers(self, text: HmmText) -> Text:
        words = [self.vocabulary_.get(word, UNKNOWN) for word in text.words]
        return Text.of(words, text.gaps if self.use_gaps else None)

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
        )

    def _sole_words(self) -> dict[str, str]:
        return SOLE_WORDS if self.kind == "header" else {}

    def _fitted(self) -> HiddenMarkov:
        if not hasattr(self, "model_"):
            raise NotFitted("This field model has not been taught yet.")
        return self.model_


def _numbered(*words: Iterable[str]) -> dict[str, int]:
    every = sorted({word for source in words for word in source})
    return {word: number for number, word in enumerate(every, start=1)}


def _spread_numbers(text: HmmText, values: Floats, n_tokens: int) -> Floats:
    """A number for every token; tokens without a word, which the model does not see, get 1."""
    whole = np.ones(n_tokens)
    for (first, last), value in zip(text.spans, values, strict=True):
        whole[first:last] = value
    return whole

"""The estimator that puts structure, transitions and emissions together: labelled texts in, a tagger out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, Self

import numpy as np

from wayhound.errors import NotFitted, TeachingError
from wayhound.learn.chain import Floats, Ints
from wayhound.learn.hmm import TRANSITIONS, HiddenMarkovModel, WordSequence
from wayhound.learn.hmm_emissions import (
    absolute_discounting,
    count_words,
    maximum_likelihood,
    mixture,
    mixture_weights,
)
from wayhound.learn.hmm_structure import (
    Structure,
    costs_by_size,
    maximally_specific,
    merge_neighbours,
    merge_to,
    merge_v,
    one_per_class,
)

Merging = Literal["one", "neighbour", "v", "search"]
EmissionSource = Literal["L", "L+D", "L*D"]


class TaggerHMM:
    """A class for every word, by a hidden Markov model whose states are tied to classes.

    `merging` says how states are had: one a class, neighbour-merged, V-merged until at most `max_states`
    are left, or searched: merged from there on while held-out error falls. `transitions` is a key of
    `TRANSITIONS`. `emissions` come from labelled words (L, Eq. 7), with distant ones pooled (L+D, Eq. 8) or
    mixed in (L*D, Eq. 9). `sole_words` are classes that say a single word and nothing else. `n_gaps` is how
    many kinds of gap there may be; more, if the texts have more.

    After `fit`: `model_` (a `HiddenMarkovModel`), `structure_`, `class_emissions_` (C, V), `mixture_` (C, 2),
    the weights of L and D; and `search_`, the held-out error by number of states, if there was a search.
    """

    def __init__(
        self,
        n_classes: int,
        n_words: int,
        *,
        merging: Merging = "v",
        max_states: int = 160,
        transitions: str = "shrunk",
        emissions: EmissionSource = "L*D",
        sole_words: Mapping[int, int] | None = None,
        n_gaps: int = 1,
    ) -> None:
        self.n_classes = n_classes
        self.n_words = n_words
        self.merging = merging
        self.max_states = max_states
        self.transitions = transitions
        self.emissions = emissions
        self.sole_words = sole_words
        self.n_gaps = n_gaps

    def fit(
        self, texts: Sequence[WordSequence], labels: Sequence[Ints], distant: Floats | None = None
    ) -> Self:
        """Learn from the class of every word; `distant` (C, V) counts words that classes say elsewhere."""
        if not any(len(text) for text in texts):
            raise TeachingError("There are no labelled words to learn from.")
        pairs = [(text, np.asarray(label)) for text, label in zip(texts, labels, strict=True) if len(text)]
        texts, labels = [text for text, _ in pairs], [label for _, label in pairs]
        self.class_emissions_, self.mixture_ = self._emissions(texts, labels, distant)
        self.structure_ = self._structure(texts, labels, distant)
        self.model_ = self._model(self.structure_)
        return self

    def predict(self, texts: Sequence[WordSequence]) -> list[Ints]:
        return self._fitted().decode(texts)

    def predict_proba(self, texts: Sequence[WordSequence]) -> list[Floats]:
        """For each text (L, C)."""
        return self._fitted().class_marginals(texts, self.n_classes)

    def _model(self, structure: Structure) -> HiddenMarkovModel:
        transitions = TRANSITIONS[self.transitions](structure)
        return HiddenMarkovModel.of(structure.classes, transitions, self.class_emissions_[structure.classes])

    def _emissions(
        self, texts: Sequence[WordSequence], labels: Sequence[Ints], distant: Floats | None
    ) -> tuple[Floats, Floats]:
        own = count_words([text.words for text in texts], labels, self.n_classes, self.n_words)
        weights = np.tile([1.0, 0.0], (self.n_classes, 1))
        if distant is None or self.emissions == "L":
            said = absolute_discounting(own)
        elif self.emissions == "L+D":
            said = absolute_discounting(own + distant)
        else:
            known = distant.sum(axis=1) > 0
            weights[known] = mixture_weights(own, [maximum_likelihood(distant)])[known]
            said = mixture([absolute_discounting(own), absolute_discounting(distant)], weights)
        for label, word in (self.sole_words or {}).items():
            said[label] = 0.0
            said[label, word] = 1.0
        return said, weights

    def _structure(
        self, texts: Sequence[WordSequence], labels: Sequence[Ints], distant: Floats | None
    ) -> Structure:
        specific = self._specific(texts, labels)
        if self.merging == "one":
            return one_per_class(specific)
        neighbours = merge_neighbours(specific)
        if self.merging == "neighbour":
            return neighbours
        merged = merge_v(neighbours, self.max_states)
        if self.merging == "v":
            return merged
        self.search_ = self._held_out_errors(texts, labels, distant)
        return merge_to(merged, min(self.search_, key=lambda size: (self.search_[size], size)))

    def _specific(self, texts: Sequence[WordSequence], labels: Sequence[Ints]) -> Structure:
        gaps = [text.gaps for text in texts]
        return maximally_specific(labels, gaps, max(self.n_gaps, 1 + int(max(gap.max() for gap in gaps))))

    def _held_out_errors(
        self, texts: Sequence[WordSequence], labels: Sequence[Ints], distant: Floats | None
    ) -> dict[int, float]:
        """Word error on every fifth text by number of states, learned from the other texts."""
        held = [number % 5 == 4 for number in range(len(texts))]
        taught = [number for number, out in enumerate(held) if not out]
        asked = [number for number, out in enumerate(held) if out] or taught
        inner = TaggerHMM(
            self.n_classes, self.n_words, transitions=self.transitions, emissions=self.emissions
        )
        inner.sole_words, inner.max_states, inner.n_gaps = self.sole_words, self.max_states, self.n_gaps
        inner.fit([texts[n] for n in taught], [labels[n] for n in taught], distant)
        questions, truth = [texts[n] for n in asked], np.concatenate([labels[n] for n in asked])

        def error(structure: Structure) -> float:
            answers = np.concatenate(inner._model(structure).decode(questions))
            return float((answers != truth).mean())

        return costs_by_size(inner.structure_, error, stride=5)

    def _fitted(self) -> HiddenMarkovModel:
        if not hasattr(self, "model_"):
            raise NotFitted("This tagger has not been taught yet.")
        return self.model_

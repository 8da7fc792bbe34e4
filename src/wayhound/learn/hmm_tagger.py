"""The HMM estimator: structure, transitions and emissions from labelled texts, as one tagger."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, Self

import numpy as np

from wayhound.errors import NotFitted, TeachingError
from wayhound.learn.arrays import Floats, Ints
from wayhound.learn.hmm import HiddenMarkovModel, WordSequence
from wayhound.learn.hmm_parameters import (
    TRANSITIONS,
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

    `merging` chooses the states: "one" per class, "neighbour"-merged, "v"-merged until at most `max_states`
    are left, or "search", which goes on merging from there while held-out error falls. `transitions` is a key
    of `TRANSITIONS`. `emissions` come from labelled words (L, Eq. 7), with distant ones pooled (L+D, Eq. 8) or
    mixed in (L*D, Eq. 9). `sole_words` maps classes that emit one word alone to that word. `n_gaps` is the
    least number of kinds of gap.

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
        """Learn from the class of every word; `distant` (C, V) counts words that classes emit elsewhere.

        Raises TeachingError if there are no labelled words.
        """
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

    def _model(self, structure: Structure) -> HiddenMarkovModel:
        transitions = TRANSITIONS[self.transitions](structure)
        return HiddenMarkovModel.from_probabilities(
            structure.classes, transitions, self.class_emissions_[structure.classes]
        )

    def _emissions(
        self, texts: Sequence[WordSequence], labels: Sequence[Ints], distant: Floats | None
    ) -> tuple[Floats, Floats]:
        own = count_words([text.words for text in texts], labels, self.n_classes, self.n_words)
        weights = np.tile([1.0, 0.0], (self.n_classes, 1))
        if distant is None or self.emissions == "L":
            emissions = absolute_discounting(own)
        elif self.emissions == "L+D":
            emissions = absolute_discounting(own + distant)
        else:
            has_distant = distant.sum(axis=1) > 0
            weights[has_distant] = mixture_weights(own, [maximum_likelihood(distant)])[has_distant]
            emissions = mixture([absolute_discounting(own), absolute_discounting(distant)], weights)
        for label, word in (self.sole_words or {}).items():
            emissions[label] = 0.0
            emissions[label, word] = 1.0
        return emissions, weights

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
        """Return the word error on every fifth text by number of states, learned from the other texts."""
        training = [number for number in range(len(texts)) if number % 5 != 4]
        held_out = list(range(4, len(texts), 5)) or training
        inner = TaggerHMM(
            self.n_classes, self.n_words, transitions=self.transitions, emissions=self.emissions
        )
        inner.sole_words, inner.max_states, inner.n_gaps = self.sole_words, self.max_states, self.n_gaps
        inner.fit([texts[n] for n in training], [labels[n] for n in training], distant)
        test, truth = [texts[n] for n in held_out], np.concatenate([labels[n] for n in held_out])

        def error(structure: Structure) -> float:
            decoded = np.concatenate(inner._model(structure).decode(test))
            return float((decoded != truth).mean())

        return costs_by_size(inner.structure_, error, stride=5)

    def _fitted(self) -> HiddenMarkovModel:
        if not hasattr(self, "model_"):
            raise NotFitted("This tagger has not been fitted: call fit first.")
        return self.model_

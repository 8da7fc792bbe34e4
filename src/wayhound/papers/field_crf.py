"""Fields of headers and references by conditional random fields: the default."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from typing import Any, ClassVar, Self

from numpy.typing import NDArray

from wayhound.errors import NotFitted
from wayhound.papers.crf_weights import CrfWeights, from_arrays, pruned, to_arrays
from wayhound.papers.lexicon import Lexicon
from wayhound.papers.tagged import TaggedText
from wayhound.papers.token_crf import Algorithm, TokenCRF, corrected
from wayhound.papers.token_features import HeaderFeatures, ReferenceFeatures
from wayhound.papers.tokens import Hint, Labelling, TextKind, TokenLine, parse_kind

PENALTY: Mapping[TextKind, float] = {"header": 0.5, "reference": 0.1}
"""`c2` where none is given, the better of a few by cross-validation."""

EASE: Mapping[TextKind, float] = {"header": 0.1, "reference": 1.0}
"""How easily a correction moves weights that the model has, against new ones. Headers share so many features that
a correction of one would spoil others; references of a new kind are to be learned from as a whole."""

LEAST_WEIGHT = 0.01
"""Weights below this are left out of model files; no label changes by it."""


class FieldCRF:
    """A CRF over the words of headers or references. After `fit`: `weights_`."""

    FORMAT: ClassVar = "field-crf"
    VERSION: ClassVar = 1

    def __init__(
        self,
        kind: TextKind,
        lexicon: Lexicon,
        *,
        algorithm: Algorithm = "lbfgs",
        c1: float = 0.1,
        c2: float | None = None,
        max_iterations: int = 100,
    ) -> None:
        self.kind = kind
        self.lexicon = lexicon
        self.algorithm: Algorithm = algorithm
        self.c1 = c1
        self.c2 = c2
        self.max_iterations = max_iterations

    @property
    def features(self) -> Callable[[Sequence[TokenLine]], list[list[str]]]:
        return HeaderFeatures(self.lexicon) if self.kind == "header" else ReferenceFeatures(self.lexicon)

    def fit(self, examples: Sequence[TaggedText]) -> Self:
        """Learn from tagged texts. Takes python-crfsuite; minutes for headers, seconds for references."""
        c2 = PENALTY[self.kind] if self.c2 is None else self.c2
        crf = TokenCRF(algorithm=self.algorithm, c1=self.c1, c2=c2, max_iterations=self.max_iterations)
        features = self.features
        crf.fit((features(example.lines), example.labels) for example in examples)
        self.weights_ = crf.weights_
        return self

    def label(self, lines: Sequence[TokenLine], hints: Sequence[Hint] = ()) -> Labelling:
        return self._fitted().label(self.features(lines), hints)

    def corrected(self, examples: Sequence[TaggedText]) -> Self:
        """A model that has learned from a few corrected texts: in seconds, and without the first ones."""
        features = self.features
        taught = [(features(example.lines), example.labels) for example in examples]
        model = copy(self)
        model.weights_ = corrected(self._fitted(), taught, known=EASE[self.kind])
        return model

    def to_arrays(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Arrays and plain data, for `store.models.save_model` or a file."""
        arrays, meta = to_arrays(pruned(self._fitted(), LEAST_WEIGHT))
        return arrays, {**meta, "kind": self.kind}

    @classmethod
    def from_arrays(
        cls, lexicon: Lexicon, arrays: Mapping[str, NDArray[Any]], meta: Mapping[str, Any]
    ) -> Self:
        """The model that `to_arrays` gave; a sentence where it is damaged."""
        model = cls(parse_kind(meta.get("kind")), lexicon)
        model.weights_ = from_arrays(arrays, meta)
        return model

    def _fitted(self) -> CrfWeights:
        if not hasattr(self, "weights_"):
            raise NotFitted("This field model has not been taught yet.")
        return self.weights_

"""The field models: those inside the package, and training of new ones from a data folder."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from wayhound.learn.model_file import ModelReader
from wayhound.papers.field_crf import FieldCRF
from wayhound.papers.field_hmm import FieldHMM
from wayhound.papers.lexicon import Lexicon, shipped_lexicon
from wayhound.papers.tokens import TextKind
from wayhound.papers.training_data import PaperData, with_layout

ModelName = Literal["crf", "hmm"]
TrainableModel: TypeAlias = FieldCRF | FieldHMM

MODEL_NAMES: tuple[ModelName, ...] = ("crf", "hmm")
KINDS: tuple[TextKind, ...] = ("header", "reference")
FOLDER = "shipped"
_LAYOUT_SEED = 4


@cache
def shipped_crf(kind: TextKind) -> FieldCRF:
    """Return the CRF for headers or references: the default."""
    arrays, meta = _reader(f"{kind}-crf").load(FieldCRF.FORMAT, FieldCRF.VERSION)
    return FieldCRF.from_arrays(shipped_lexicon(), arrays, meta)


@cache
def shipped_hmm(kind: TextKind) -> FieldHMM:
    """Return the hidden Markov model for headers or references."""
    arrays, meta = _reader(f"{kind}-hmm").load(FieldHMM.FORMAT, FieldHMM.VERSION)
    return FieldHMM.from_arrays(arrays, meta)


def shipped_model(name: ModelName, kind: TextKind) -> TrainableModel:
    return shipped_crf(kind) if name == "crf" else shipped_hmm(kind)


def _reader(name: str) -> ModelReader:
    folder = files(__package__) / FOLDER / name
    return ModelReader(f"{name} of this installation", lambda file: (folder / file).read_bytes())


def model_format(name: ModelName) -> tuple[str, int]:
    """Return the kind and version of model files, for `load_model`."""
    model = FieldCRF if name == "crf" else FieldHMM
    return model.FORMAT, model.VERSION


def model_from_arrays(
    name: ModelName, arrays: Mapping[str, NDArray[Any]], meta: Mapping[str, Any]
) -> TrainableModel:
    """Return a saved model. Raises ModelError if it is damaged."""
    if name == "crf":
        return FieldCRF.from_arrays(shipped_lexicon(), arrays, meta)
    return FieldHMM.from_arrays(arrays, meta)


def train_model(
    name: ModelName, kind: TextKind, data: PaperData, lexicon: Lexicon
) -> tuple[TrainableModel, str]:
    """Return a model trained on the tagged texts of a data folder, and a description of these.

    A CRF takes minutes for headers; all others take seconds. Raises TeachingError if a file cannot be read.
    """
    texts = data.tagged_texts(kind)
    source = f"{len(texts)} tagged {kind}s"
    if name == "hmm":
        distant = data.distant_for_headers() if kind == "header" else data.distant_for_references()
        return FieldHMM(kind).fit(texts, distant), f"{source}; words of BibTeX, references and name lists"
    if kind == "reference":
        nested = data.nested_references
        return FieldCRF(kind, lexicon).fit([*texts, *nested]), f"{source}, {len(nested)} with nested tags"
    rng = np.random.default_rng(_LAYOUT_SEED)
    with_layouts = [with_layout(text, rng) for text in texts]  # so that it can read both text and pages
    return FieldCRF(kind, lexicon).fit([*texts, *with_layouts]), source

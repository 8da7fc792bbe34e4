"""The field models inside the package; `scripts/train_paper_models.py` makes them."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from wayhound.learn.model_file import ModelReader
from wayhound.papers.field_crf import FieldCRF
from wayhound.papers.field_hmm import FieldHMM
from wayhound.papers.lexicon import shipped_lexicon
from wayhound.papers.tokens import TextKind

FOLDER = "models"


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


def _reader(name: str) -> ModelReader:
    folder = files(__package__) / FOLDER / name
    return ModelReader(f"{name} of this installation", lambda file: (folder / file).read_bytes())

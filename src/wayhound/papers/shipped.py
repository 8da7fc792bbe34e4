"""The models inside the package, ready after install; `scripts/train_paper_models.py` makes them."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from wayhound.errors import ModelError
from wayhound.papers.field_crf import FieldCRF
from wayhound.papers.field_hmm import FieldHMM
from wayhound.papers.lexicon import shipped_lexicon
from wayhound.papers.model_files import unpack
from wayhound.papers.tokens import Kind

FOLDER = "models"


@cache
def header_model() -> FieldCRF:
    """The CRF that finds the fields of headers: the default."""
    return _crf("header")


@cache
def reference_model() -> FieldCRF:
    """The CRF that finds the fields of references: the default."""
    return _crf("reference")


@cache
def header_hmm() -> FieldHMM:
    """The hidden Markov model of headers: the baseline, to be chosen by name."""
    return _hmm("header")


@cache
def reference_hmm() -> FieldHMM:
    """The hidden Markov model of references."""
    return _hmm("reference")


def file_name(kind: Kind, format_name: str) -> str:
    return f"{kind}.{format_name}.npz"


def _crf(kind: Kind) -> FieldCRF:
    arrays, meta = unpack(_read(file_name(kind, FieldCRF.FORMAT)), FieldCRF.FORMAT, FieldCRF.VERSION)
    return FieldCRF.from_arrays(shipped_lexicon(), arrays, meta)


def _hmm(kind: Kind) -> FieldHMM:
    arrays, meta = unpack(_read(file_name(kind, FieldHMM.FORMAT)), FieldHMM.FORMAT, FieldHMM.VERSION)
    return FieldHMM.from_arrays(arrays, meta)


def _read(name: str) -> bytes:
    try:
        return (files(__package__) / FOLDER / name).read_bytes()
    except OSError as error:
        raise ModelError(f"The model {name} is missing from this installation: {error.strerror}.") from error

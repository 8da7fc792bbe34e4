"""The models that a workspace reads papers with: those that it was taught, else those of the package."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wayhound.errors import ModelError
from wayhound.learn.model_file import META_NAME
from wayhound.papers.field_crf import FieldCRF
from wayhound.papers.lexicon import shipped_lexicon
from wayhound.papers.models import shipped_crf
from wayhound.papers.paper import PaperModels
from wayhound.papers.tokens import TextKind
from wayhound.store.model_files import load_model, save_model

KINDS: tuple[TextKind, ...] = ("header", "reference")


@dataclass(frozen=True, slots=True)
class ModelPlace:
    """Where the models of a workspace are kept; a folder that does not exist stands for the package's own."""

    folder: Path

    def folder_of(self, kind: TextKind) -> Path:
        return self.folder / f"paper-{kind}"

    def has(self, kind: TextKind) -> bool:
        return (self.folder_of(kind) / META_NAME).exists()

    def digest(self) -> str:
        """Tells models apart, so that a file is known to have been read with others than those of now."""
        taught = [(self.folder_of(kind) / META_NAME).read_bytes() for kind in KINDS if self.has(kind)]
        return hashlib.sha256(b"".join(taught)).hexdigest()[:12] if taught else "shipped"

    def load(self) -> PaperModels:
        return PaperModels(self.load_one("header"), self.load_one("reference"), shipped_lexicon())

    @staticmethod
    def shipped(kind: TextKind) -> FieldCRF:
        return shipped_crf("header") if kind == "header" else shipped_crf("reference")

    def load_one(self, kind: TextKind) -> FieldCRF:
        if not self.has(kind):
            return self.shipped(kind)
        arrays, meta = load_model(self.folder_of(kind), FieldCRF.FORMAT, FieldCRF.VERSION)
        model = FieldCRF.from_arrays(shipped_lexicon(), arrays, meta)
        if model.kind != kind:
            raise ModelError(f"The model {self.folder_of(kind)} is for {model.kind}s. Train it again.")
        return model

    def save(self, model: FieldCRF, about: Mapping[str, Any]) -> None:
        arrays, meta = model.to_arrays()
        save_model(
            self.folder_of(model.kind),
            FieldCRF.FORMAT,
            FieldCRF.VERSION,
            arrays,
            {**meta, "about": dict(about)},
        )

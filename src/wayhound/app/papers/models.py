"""The field models of a workspace: which kind it reads papers with, and those that it has trained."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wayhound.errors import ModelError
from wayhound.learn.model_file import META_NAME
from wayhound.papers.lexicon import shipped_lexicon
from wayhound.papers.models import (
    KINDS,
    MODEL_NAMES,
    ModelName,
    TrainableModel,
    model_format,
    model_from_arrays,
    shipped_model,
)
from wayhound.papers.paper import PaperModels
from wayhound.papers.tokens import TextKind
from wayhound.store.model_files import load_model, save_model

DEFAULT_MODEL: ModelName = "crf"
CHOICE_NAME = "papers.json"


@dataclass(frozen=True, slots=True)
class WorkspaceModels:
    """The models in a folder. What was not trained there comes from the package."""

    folder: Path

    def chosen(self) -> ModelName:
        """Return the kind of model that papers are read with. Raises ModelError if the choice is damaged."""
        path = self.folder / CHOICE_NAME
        if not path.exists():
            return DEFAULT_MODEL
        try:
            name = json.loads(path.read_text("utf-8"))["model"]
        except (OSError, ValueError, KeyError, TypeError):
            name = ""
        if name not in MODEL_NAMES:
            raise ModelError(f"{path} does not name a model.", next_step="papers read --model crf")
        chosen: ModelName = name
        return chosen

    def choose(self, name: ModelName) -> None:
        """Read papers with this kind of model from now on."""
        (self.folder / CHOICE_NAME).write_text(json.dumps({"model": name}) + "\n", "utf-8")

    def folder_of(self, name: ModelName, kind: TextKind) -> Path:
        return self.folder / (f"paper-{kind}" if name == DEFAULT_MODEL else f"paper-{kind}-{name}")

    def is_trained(self, name: ModelName, kind: TextKind) -> bool:
        return (self.folder_of(name, kind) / META_NAME).exists()

    def digest(self) -> str:
        """Return a string that changes with the models, so that files read with others can be found."""
        name = self.chosen()
        trained = [
            (self.folder_of(name, kind) / META_NAME).read_bytes()
            for kind in KINDS
            if self.is_trained(name, kind)
        ]
        digest = hashlib.sha256(b"".join(trained)).hexdigest()[:12] if trained else "shipped"
        return digest if name == DEFAULT_MODEL else f"{name}-{digest}"

    def load(self, name: ModelName | None = None) -> PaperModels:
        """Return the models to read with. Raises ModelError if one is damaged."""
        name = name or self.chosen()
        return PaperModels(self.load_one(name, "header"), self.load_one(name, "reference"), shipped_lexicon())

    def load_one(self, name: ModelName, kind: TextKind) -> TrainableModel:
        if not self.is_trained(name, kind):
            return shipped_model(name, kind)
        folder = self.folder_of(name, kind)
        model = model_from_arrays(name, *load_model(folder, *model_format(name)))
        if model.kind != kind:
            raise ModelError(f"The model {folder} is for {model.kind}s.", next_step="papers train")
        return model

    def save(self, name: ModelName, model: TrainableModel, about: Mapping[str, Any]) -> None:
        arrays, meta = model.to_arrays()
        save_model(
            self.folder_of(name, model.kind), *model_format(name), arrays, {**meta, "about": dict(about)}
        )

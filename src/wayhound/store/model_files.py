"""The trained models of a workspace: a folder each under `models`, with the report of their training."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wayhound.errors import ModelError, UsageError
from wayhound.files import write_file
from wayhound.learn.model_file import Arrays, ModelReader, pack_model

if TYPE_CHECKING:
    from numpy.typing import NDArray


def save_model(folder: Path, kind: str, version: int, arrays: Arrays, meta: Mapping[str, Any]) -> None:
    """Write a model whole or not at all; a model already in `folder` is replaced. Raises ModelError."""
    files = pack_model(kind, version, arrays, meta)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            write_file(folder / name, content)
        for old in folder.glob("arrays-*.npz"):
            if old.name not in files:
                old.unlink(missing_ok=True)
    except OSError as error:
        raise ModelError(f"The model {folder} cannot be written: {error.strerror}.") from None


def load_model(folder: Path, kind: str, version: int) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Return the arrays and metadata of a model. Raises ModelError if it is damaged or of another kind."""
    return _reader(folder).load(kind, version)


def load_meta(folder: Path, kind: str, version: int) -> dict[str, Any]:
    """Return the metadata of a model without reading its arrays. Raises ModelError like `load_model`."""
    return _reader(folder).meta(kind, version)[0]


def kind_of(folder: Path) -> str:
    """Return the kind of model that a folder holds; empty if it holds none."""
    try:
        return _reader(folder).kind()
    except ModelError:
        return ""


def _reader(folder: Path) -> ModelReader:
    return ModelReader(str(folder), lambda name: (folder / name).read_bytes())


KIND = "forage"
VERSION = 1
ANSWERED = "answered"  # the folder for models that answers of a run have taught
_PARTS = {"strategy": str, "trained_at": float, "learned": dict, "report": dict}
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}")


@dataclass(frozen=True, slots=True)
class ModelCard:
    """A model without its arrays. `digest` changes when what it has learned does."""

    name: str
    strategy: str
    trained_at: float
    digest: str
    report: Mapping[str, Any]
    one_goal: bool = False  # every taught site showed one goal


class ForageModels:
    """Trained models by name. Saving one under a name that is taken replaces it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def save(
        self,
        name: str,
        strategy: str,
        packed: tuple[Arrays, Mapping[str, Any]],
        report: Mapping[str, Any],
        at: float,
    ) -> ModelCard:
        arrays, learned = packed
        self.check_name(name)
        meta = {"strategy": strategy, "trained_at": at, "learned": dict(learned), "report": dict(report)}
        save_model(self._folder / name, KIND, VERSION, arrays, meta)
        shutil.rmtree(self._folder / name / ANSWERED, ignore_errors=True)  # no run can be resumed with those
        return self.card(name)

    def save_answered(self, name: str, key: str, packed: tuple[Arrays, Mapping[str, Any]]) -> None:
        """Save what a model became by answers in a run, beside it; it is deleted when the model is trained again."""
        arrays, learned = packed
        save_model(self._folder / name / ANSWERED / key, KIND, VERSION, arrays, {"learned": dict(learned)})

    def load_answered(self, name: str, key: str) -> tuple[dict[str, NDArray[Any]], dict[str, Any]] | None:
        """Return the arrays and the JSON of a model with answers, or None if there is none. Raises ModelError."""
        folder = self._folder / name / ANSWERED / key
        if not folder.is_dir():
            return None
        arrays, meta = load_model(folder, KIND, VERSION)
        return arrays, meta["learned"]

    def check_name(self, name: str) -> None:
        """Raise UsageError if a name cannot be used; call it before a long training."""
        if not _NAME.fullmatch(name):
            raise UsageError(f"{name!r} cannot be the name of a model: use letters, digits, - and _.")
        if kind_of(self._folder / name) not in ("", KIND):
            raise UsageError(f"models/{name} is a model of another kind; choose another name.")

    def load(self, name: str) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Return the arrays and the JSON of a model. Raises UsageError or ModelError."""
        self._must_exist(name)
        arrays, meta = load_model(self._folder / name, KIND, VERSION)
        return arrays, self._whole(name, meta)["learned"]

    def card(self, name: str) -> ModelCard:
        self._must_exist(name)
        meta, arrays = _reader(self._folder / name).meta(KIND, VERSION)
        self._whole(name, meta)
        content = json.dumps([meta["strategy"], meta["learned"], arrays], sort_keys=True)
        digest = hashlib.sha256(content.encode()).hexdigest()[:16]
        lesson = meta["learned"].get("lesson")
        one_goal = isinstance(lesson, dict) and bool(lesson.get("one_goal"))
        return ModelCard(name, meta["strategy"], meta["trained_at"], digest, meta["report"], one_goal)

    def names(self) -> list[str]:
        """Return the names of all models, sorted."""
        folders = self._folder.iterdir() if self._folder.is_dir() else ()
        return sorted(folder.name for folder in folders if kind_of(folder) == KIND)

    def last(self, strategy: str | None = None) -> ModelCard:
        """Return the model trained last, for a strategy if one is given. Raises UsageError if there is none."""
        cards = [self.card(name) for name in self.names()]
        fitting = [card for card in cards if strategy in (None, card.strategy)]
        if not fitting:
            wanted = f" for the strategy {strategy}" if strategy else ""
            raise UsageError(
                f"There is no trained model{wanted} here.",
                next_step="train" + (f" --strategy {strategy}" if strategy else ""),
            )
        return max(fitting, key=lambda card: card.trained_at)

    def _whole(self, name: str, meta: dict[str, Any]) -> dict[str, Any]:
        missing = _PARTS.keys() - {part for part, kind in _PARTS.items() if isinstance(meta.get(part), kind)}
        if missing:
            raise ModelError(
                f"The model {self._folder / name} is damaged: it lacks {', '.join(sorted(missing))}."
            )
        return meta

    def _must_exist(self, name: str) -> None:
        if _NAME.fullmatch(name) and (self._folder / name).is_dir():
            return
        names = ", ".join(self.names())
        there = f"there are {names}" if names else "none has been trained yet. Next: wayhound train"
        raise UsageError(f"There is no model {name!r} in this workspace; {there}.")

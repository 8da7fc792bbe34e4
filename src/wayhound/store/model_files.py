"""The taught models of a workspace: a folder each under `models`, with how well each did when it was trained."""

from __future__ import annotations

import hashlib
import io
import json
import re
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from wayhound.errors import ModelError, UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

if TYPE_CHECKING:
    from numpy.typing import NDArray


META_NAME = "model.json"


Arrays: TypeAlias = "Mapping[str, NDArray[Any]]"


def save_model(folder: Path, kind: str, version: int, arrays: Arrays, meta: Mapping[str, Any]) -> None:
    """Write a model whole or not at all; one that stands in `folder` is replaced."""
    import numpy as np  # noqa: PLC0415 - who asks which models there are needs no arrays

    packed = io.BytesIO()
    np.savez_compressed(packed, **arrays)  # type: ignore[arg-type]
    digest = _digest(packed.getvalue())
    written = {
        "kind": kind,
        "version": version,
        "arrays": digest,
        "meta": dict(meta),
        "digest": _digest_of(meta),
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _put(folder / _arrays_name(digest), packed.getvalue())
        _put(folder / META_NAME, json.dumps(written, ensure_ascii=False).encode())
        for old in folder.glob("arrays-*.npz"):
            if old.name != _arrays_name(digest):
                old.unlink(missing_ok=True)
    except OSError as error:
        raise ModelError(f"The model {folder} cannot be written: {error.strerror}.") from None


def read_meta(folder: Path, kind: str, version: int) -> tuple[dict[str, Any], str]:
    """The JSON of a model and the digest of its arrays, which are not read."""
    written = _read_meta(folder)
    _check_meant_for_us(folder, written, kind, version)
    if _digest_of(written["meta"]) != written.get("digest"):
        raise ModelError(f"The model {folder} is damaged: it is not what was saved. Train it again.")
    return written["meta"], str(written.get("arrays"))


def kind_of(folder: Path) -> str:
    """What kind of model a folder says it holds; an empty text if it says nothing."""
    try:
        return str(_read_meta(folder).get("kind", ""))
    except ModelError:
        return ""


def load_model(folder: Path, kind: str, version: int) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """The arrays and the JSON of a model, after checking that they are whole and meant for us."""
    import numpy as np  # noqa: PLC0415

    written = _read_meta(folder)
    _check_meant_for_us(folder, written, kind, version)
    packed = _read(folder / _arrays_name(str(written.get("arrays"))), folder)
    if _digest(packed) != written.get("arrays") or _digest_of(written["meta"]) != written.get("digest"):
        raise ModelError(f"The model {folder} is damaged: it is not what was saved. Train it again.")
    try:
        with np.load(io.BytesIO(packed), allow_pickle=False) as arrays:
            return {name: arrays[name] for name in arrays.files}, written["meta"]
    except (ValueError, KeyError, EOFError, zipfile.BadZipFile):
        raise ModelError(f"The model {folder} is damaged: its arrays cannot be read.") from None


def _read_meta(folder: Path) -> dict[str, Any]:
    try:
        written = json.loads(_read(folder / META_NAME, folder))
    except (ValueError, RecursionError):
        raise ModelError(f"The model {folder} is damaged: {META_NAME} is not JSON.") from None
    if not isinstance(written, dict) or not isinstance(written.get("meta"), dict):
        raise ModelError(f"The model {folder} is damaged: {META_NAME} does not describe a model.")
    return written


def _read(path: Path, folder: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        what = "There is no model" if path.name == META_NAME else "The arrays are missing"
        raise ModelError(f"{what} in {folder}.") from None
    except OSError as error:
        raise ModelError(f"The model {folder} cannot be read: {error.strerror}.") from None


def _check_meant_for_us(folder: Path, written: Mapping[str, Any], kind: str, version: int) -> None:
    found, made_by = written.get("kind"), written.get("version")
    if found != kind:
        raise ModelError(f"The model {folder} is of another kind ({found!r}, not {kind!r}).")
    if not isinstance(made_by, int):
        raise ModelError(f"The model {folder} is damaged: {META_NAME} names no version.")
    if made_by > version:
        raise ModelError(
            f"The model {folder} was made by a newer Wayhound (its form is {made_by}, this one knows "
            f"{version}). Install the newer version, or train again."
        )


def _put(path: Path, content: bytes) -> None:
    """Write beside, then rename: a reader finds the old file or the new one, never half of one."""
    draft = path.with_name(f".{path.name}.part")
    try:
        draft.write_bytes(content)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def _arrays_name(digest: str) -> str:
    return f"arrays-{digest[:16]}.npz" if digest.isalnum() else "arrays-unnamed.npz"


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _digest_of(meta: Mapping[str, Any]) -> str:
    return _digest(json.dumps(meta, sort_keys=True).encode())


KIND = "forage"
VERSION = 1
_PARTS = {"strategy": str, "trained_at": float, "learned": dict, "report": dict}
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}")


@dataclass(frozen=True, slots=True)
class ModelCard:
    """What is known of a model without reading its arrays. `digest` changes when what it learned does."""

    name: str
    strategy: str
    trained_at: float
    digest: str
    report: Mapping[str, Any]


class ForageModels:
    """Models by name. Saving one under a name that is taken replaces it, whole or not at all."""

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
        return self.card(name)

    def check_name(self, name: str) -> None:
        """Complains, before a long training, of a name that cannot be used."""
        if not _NAME.fullmatch(name):
            raise UsageError(f"{name!r} is no name for a model: use letters, digits, - and _.")
        if kind_of(self._folder / name) not in ("", KIND):
            raise UsageError(f"models/{name} is a model of another kind; choose another name.")

    def load(self, name: str) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """The arrays and the JSON that the model was packed as."""
        self._must_exist(name)
        arrays, meta = load_model(self._folder / name, KIND, VERSION)
        return arrays, self._whole(name, meta)["learned"]

    def card(self, name: str) -> ModelCard:
        self._must_exist(name)
        meta, arrays = read_meta(self._folder / name, KIND, VERSION)
        self._whole(name, meta)
        told = json.dumps([meta["strategy"], meta["learned"], arrays], sort_keys=True)
        digest = hashlib.sha256(told.encode()).hexdigest()[:16]
        return ModelCard(name, meta["strategy"], meta["trained_at"], digest, meta["report"])

    def names(self) -> list[str]:
        """All models, by name."""
        folders = self._folder.iterdir() if self._folder.is_dir() else ()
        return sorted(folder.name for folder in folders if kind_of(folder) == KIND)

    def last(self, strategy: str | None = None) -> ModelCard:
        """The model that was trained last, of this strategy if one is named."""
        cards = [self.card(name) for name in self.names()]
        fitting = [card for card in cards if strategy in (None, card.strategy)]
        if not fitting:
            wanted = f" for the strategy {strategy}" if strategy else ""
            raise UsageError(
                f"There is no trained model{wanted} here. Next: wayhound train" + _option(strategy)
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
        known = ", ".join(self.names())
        there = f"there are {known}" if known else "none has been trained yet. Next: wayhound train"
        raise UsageError(f"There is no model {name!r} in this workspace; {there}.")


def _option(strategy: str | None) -> str:
    return f" --strategy {strategy}" if strategy else ""

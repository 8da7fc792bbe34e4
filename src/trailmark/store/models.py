"""Model files: a folder with arrays and versioned JSON. They are data, never code: nothing is unpickled."""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import zipfile
from collections.abc import Mapping
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trailmark.errors import ModelError

ARRAYS_NAME = "arrays.npz"
META_NAME = "model.json"

Arrays = Mapping[str, NDArray[Any]]


def save_model(folder: Path, kind: str, version: int, arrays: Arrays, meta: Mapping[str, Any]) -> None:
    """Write a model whole or not at all; one that stands in `folder` is replaced."""
    packed = io.BytesIO()
    np.savez_compressed(packed, **arrays)  # type: ignore[arg-type]
    digest = hashlib.sha256(packed.getvalue()).hexdigest()
    written = {"kind": kind, "version": version, "arrays_sha256": digest, "meta": dict(meta)}
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
        try:
            (draft / ARRAYS_NAME).write_bytes(packed.getvalue())
            (draft / META_NAME).write_text(json.dumps(written, ensure_ascii=False), "utf-8")
            _move_in(draft, folder)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
    except OSError as error:
        raise ModelError(f"The model {folder} cannot be written: {error.strerror or error}.") from None


def load_model(folder: Path, kind: str, version: int) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """The arrays and the JSON of a model, after checking that they are whole and meant for us."""
    written = _read_meta(folder)
    _check_meant_for_us(folder, written, kind, version)
    try:
        packed = (folder / ARRAYS_NAME).read_bytes()
    except OSError as error:
        raise ModelError(f"The model {folder} cannot be read: {error.strerror}.") from None
    if hashlib.sha256(packed).hexdigest() != written.get("arrays_sha256"):
        raise ModelError(f"The model {folder} is damaged: its arrays are not those that were saved.")
    try:
        with np.load(io.BytesIO(packed), allow_pickle=False) as arrays:
            return {name: arrays[name] for name in arrays.files}, written["meta"]
    except (ValueError, KeyError, EOFError, zipfile.BadZipFile):
        raise ModelError(f"The model {folder} is damaged: its arrays cannot be read.") from None


def _read_meta(folder: Path) -> dict[str, Any]:
    try:
        written = json.loads((folder / META_NAME).read_text("utf-8"))
    except FileNotFoundError:
        raise ModelError(f"There is no model in {folder}.") from None
    except OSError as error:
        raise ModelError(f"The model {folder} cannot be read: {error.strerror}.") from None
    except (ValueError, RecursionError):
        raise ModelError(f"The model {folder} is damaged: {META_NAME} is not JSON.") from None
    if not isinstance(written, dict) or not isinstance(written.get("meta"), dict):
        raise ModelError(f"The model {folder} is damaged: {META_NAME} does not describe a model.")
    return written


def _check_meant_for_us(folder: Path, written: Mapping[str, Any], kind: str, version: int) -> None:
    found, made_by = written.get("kind"), written.get("version")
    if found != kind:
        raise ModelError(f"The model {folder} is of another kind ({found!r}, not {kind!r}).")
    if not isinstance(made_by, int):
        raise ModelError(f"The model {folder} is damaged: {META_NAME} names no version.")
    if made_by > version:
        raise ModelError(
            f"The model {folder} was made by a newer Trailmark (version {made_by} of its kind, this one knows "
            f"{version}). Install the newer version, or train again."
        )


def _move_in(draft: Path, folder: Path) -> None:
    """Put the draft where the model belongs; a reader finds the old one or the new one."""
    if not folder.exists():
        draft.rename(folder)
        return
    old = Path(mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        folder.rename(old / "old")
        os.replace(draft, folder)
    finally:
        shutil.rmtree(old, ignore_errors=True)

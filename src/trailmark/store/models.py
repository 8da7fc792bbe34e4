"""Model files: a folder with arrays and versioned JSON. They are data, never code: nothing is unpickled.

`model.json` names its arrays by their digest, so that putting it in place is the one step by which a new
model takes over; a crash before it leaves the old one whole.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from trailmark.errors import ModelError

META_NAME = "model.json"

if TYPE_CHECKING:
    from numpy.typing import NDArray

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
            f"The model {folder} was made by a newer Trailmark (its form is {made_by}, this one knows "
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

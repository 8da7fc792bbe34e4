"""The format of saved models: a JSON description and an archive of arrays. Both are data, never code.

`model.json` holds kind, version, metadata and digests, so that models can be listed without loading numpy;
`arrays-<digest>.npz` holds the arrays. Reading and writing files is up to the caller.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from wayhound.errors import ModelError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

META_NAME = "model.json"
Arrays: TypeAlias = "Mapping[str, NDArray[Any]]"


def pack_model(kind: str, version: int, arrays: Arrays, meta: Mapping[str, Any]) -> dict[str, bytes]:
    """Return the content of a model's files by name, the description last: with it the model is complete."""
    import numpy as np  # noqa: PLC0415 - programs that only list models need no arrays

    packed = io.BytesIO()
    np.savez_compressed(packed, **arrays)  # type: ignore[arg-type]
    digest = _digest(packed.getvalue())
    description = {
        "kind": kind,
        "version": version,
        "arrays": digest,
        "meta": dict(meta),
        "digest": _meta_digest(meta),
    }
    return {
        _arrays_name(digest): packed.getvalue(),
        META_NAME: json.dumps(description, ensure_ascii=False).encode(),
    }


@dataclass(frozen=True, slots=True)
class ModelReader:
    """Reads one saved model. `read_file` returns a file's content by name; `name` appears in messages.

    All methods raise ModelError if the model is missing, damaged, of another kind, or of a newer version.
    """

    name: str
    read_file: Callable[[str], bytes]

    def kind(self) -> str:
        """Return the kind of the model."""
        return str(self._description().get("kind", ""))

    def meta(self, kind: str, version: int) -> tuple[dict[str, Any], str]:
        """Return the metadata and the digest of the arrays, which are not read."""
        description = self._checked_description(kind, version)
        return description["meta"], str(description.get("arrays"))

    def load(self, kind: str, version: int) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Return the arrays and the metadata."""
        import numpy as np  # noqa: PLC0415

        description = self._checked_description(kind, version)
        packed = self._read(_arrays_name(str(description.get("arrays"))))
        if _digest(packed) != description.get("arrays"):
            raise self._damaged("it is not what was saved. Train it again")
        try:
            with np.load(io.BytesIO(packed), allow_pickle=False) as arrays:
                return {name: arrays[name] for name in arrays.files}, description["meta"]
        except (ValueError, KeyError, EOFError, OSError, zipfile.BadZipFile, zlib.error):
            raise self._damaged("its arrays cannot be read") from None

    def _checked_description(self, kind: str, version: int) -> dict[str, Any]:
        description = self._description()
        saved_kind, saved_version = description.get("kind"), description.get("version")
        if saved_kind != kind:
            raise ModelError(f"The model {self.name} is of another kind ({saved_kind!r}, not {kind!r}).")
        if not isinstance(saved_version, int):
            raise self._damaged(f"{META_NAME} names no version")
        if saved_version > version:
            raise ModelError(
                f"The model {self.name} was saved by a newer Wayhound (format {saved_version}; this version "
                f"reads up to {version}). Install the newer version, or train again."
            )
        if _meta_digest(description["meta"]) != description.get("digest"):
            raise self._damaged("it is not what was saved. Train it again")
        return description

    def _description(self) -> dict[str, Any]:
        try:
            description = json.loads(self._read(META_NAME))
        except (ValueError, RecursionError):
            raise self._damaged(f"{META_NAME} is not JSON") from None
        if not isinstance(description, dict) or not isinstance(description.get("meta"), dict):
            raise self._damaged(f"{META_NAME} does not describe a model")
        return description

    def _read(self, file_name: str) -> bytes:
        try:
            return self.read_file(file_name)
        except FileNotFoundError:
            what = "There is no model" if file_name == META_NAME else "The arrays are missing"
            raise ModelError(f"{what} in {self.name}.") from None
        except OSError as error:
            raise ModelError(f"The model {self.name} cannot be read: {error.strerror}.") from None

    def _damaged(self, how: str) -> ModelError:
        return ModelError(f"The model {self.name} is damaged: {how}.")


def text_to_array(text: str) -> NDArray[np.uint8]:
    """Return the text as bytes of UTF-8, which is far smaller than an array of strings."""
    import numpy as np  # noqa: PLC0415

    return np.frombuffer(text.encode(), dtype=np.uint8)


def array_to_text(array: NDArray[Any]) -> str:
    return array.tobytes().decode()


def _arrays_name(digest: str) -> str:
    return f"arrays-{digest[:16]}.npz" if digest.isalnum() else "arrays-unnamed.npz"


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _meta_digest(meta: Mapping[str, Any]) -> str:
    return _digest(json.dumps(meta, sort_keys=True).encode())

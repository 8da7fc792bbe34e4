"""The files of shipped models: arrays and JSON in one archive, which is data and can do nothing."""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayhound.errors import ModelError

_META = "about"
_DAMAGE = (
    ValueError,
    KeyError,
    TypeError,
    AttributeError,
    OSError,
    EOFError,
    RecursionError,
    zipfile.BadZipFile,
    zlib.error,
)


def pack(kind: str, version: int, arrays: Mapping[str, NDArray[Any]], meta: Mapping[str, Any]) -> bytes:
    about = json.dumps({"kind": kind, "version": version, "meta": dict(meta)})
    file = io.BytesIO()
    np.savez_compressed(file, **{_META: text_array(about)}, **arrays)  # type: ignore[arg-type]
    return file.getvalue()


def unpack(body: bytes, kind: str, version: int) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """The arrays and the plain data of a file; a sentence where it is none, or damaged."""
    try:
        with np.load(io.BytesIO(body), allow_pickle=False) as packed:
            arrays = {name: packed[name] for name in packed.files}
        about = json.loads(array_text(arrays.pop(_META)))
        found = (about["kind"], about["version"])
        meta = dict(about["meta"])
    except _DAMAGE as error:
        raise ModelError(f"This model file is damaged: {error}.") from error
    if found != (kind, version):
        raise ModelError(f"This file holds no {kind} that this version can read.")
    return arrays, meta


def text_array(text: str) -> NDArray[np.uint8]:
    return np.frombuffer(text.encode(), dtype=np.uint8)


def array_text(array: NDArray[Any]) -> str:
    return array.tobytes().decode()

from __future__ import annotations

import zipfile
from collections.abc import Callable
from io import BytesIO

import numpy as np
import pytest

from wayhound.errors import ModelError
from wayhound.learn.model_file import META_NAME, ModelReader, array_to_text, pack_model, text_to_array


def reader_of(files: dict[str, bytes]) -> ModelReader:
    def read(name: str) -> bytes:
        if name not in files:
            raise FileNotFoundError(name)
        return files[name]

    return ModelReader("sample", read)


def test_a_packed_model_comes_back_as_it_was() -> None:
    arrays, meta = reader_of(pack_model("thing", 2, {"a": np.arange(3)}, {"states": []})).load("thing", 2)
    assert arrays["a"].tolist() == [0, 1, 2]
    assert meta == {"states": []}


@pytest.mark.parametrize("spoil", [lambda _: b"", lambda body: body[:-30], lambda body: b"PK" + body[:50]])
def test_damaged_files_are_refused(spoil: Callable[[bytes], bytes]) -> None:
    files = pack_model("thing", 1, {"a": np.zeros(3)}, {})
    for name in files:
        with pytest.raises(ModelError, match="sample is damaged"):
            reader_of(files | {name: spoil(files[name])}).load("thing", 1)


def test_a_model_of_another_kind_or_a_newer_version_is_refused() -> None:
    reader = reader_of(pack_model("thing", 2, {}, {"states": []}))
    with pytest.raises(ModelError, match="newer Wayhound"):
        reader.load("thing", 1)
    with pytest.raises(ModelError, match="another kind"):
        reader.load("other", 2)
    assert reader.kind() == "thing"
    assert reader.load("thing", 2) == ({}, {"states": []})


def test_an_archive_that_is_no_array_file_is_refused() -> None:
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("about.npy", "nothing")
    files = pack_model("thing", 1, {}, {})
    arrays_name = next(name for name in files if name != META_NAME)
    with pytest.raises(ModelError, match="damaged"):
        reader_of(files | {arrays_name: packed.getvalue()}).load("thing", 1)


def test_a_missing_model_and_missing_arrays_are_reported() -> None:
    with pytest.raises(ModelError, match="There is no model in sample"):
        reader_of({}).kind()
    files = pack_model("thing", 1, {"a": np.zeros(3)}, {})
    with pytest.raises(ModelError, match="arrays are missing"):
        reader_of({META_NAME: files[META_NAME]}).load("thing", 1)


def test_text_survives_as_an_array() -> None:
    assert array_to_text(text_to_array("Größe\n名")) == "Größe\n名"

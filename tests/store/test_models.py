from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from wayhound.errors import ModelError
from wayhound.learn.model_file import META_NAME
from wayhound.store.model_files import load_model, save_model

ARRAYS = {"words": np.arange(6.0).reshape(2, 3), "priors": np.array([0.5, -np.inf])}
META = {"tree": "A: x\n", "名": ["ü"]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    saved = tmp_path / "models" / "topics"
    save_model(saved, "topics", 2, ARRAYS, META)
    return saved


def test_a_model_comes_back_as_it_was_saved(folder: Path) -> None:
    arrays, meta = load_model(folder, "topics", 2)
    assert meta == META
    assert all(np.array_equal(arrays[name], value) for name, value in ARRAYS.items())


def test_an_older_model_is_still_read(folder: Path) -> None:
    assert load_model(folder, "topics", 3)[1] == META


def test_saving_again_replaces_and_leaves_nothing_behind(folder: Path) -> None:
    save_model(folder, "topics", 2, {"words": np.zeros(2)}, {})
    assert np.array_equal(load_model(folder, "topics", 2)[0]["words"], np.zeros(2))
    assert len(list(folder.iterdir())) == 2


def test_a_crash_before_the_last_step_leaves_the_old_model(folder: Path) -> None:
    (folder / "arrays-0123456789abcdef.npz").write_bytes(b"half a file")
    (folder / f".{META_NAME}.part").write_text("half a fi", "utf-8")
    assert load_model(folder, "topics", 2)[1] == META


@pytest.mark.parametrize(
    ("changed", "complaint"),
    [
        ({"kind": "paths"}, "of another kind"),
        ({"version": 3}, "newer Wayhound"),
        ({"version": "two"}, "names no version"),
        ({"meta": {"tree": "B: y"}}, "not what was saved"),
        ({"meta": 7}, "does not describe a model"),
        ({"arrays": "../../secret"}, "arrays are missing"),
        ({"arrays": None}, "arrays are missing"),
    ],
)
def test_a_foreign_newer_or_damaged_model_is_refused(
    folder: Path, changed: dict[str, object], complaint: str
) -> None:
    written = json.loads((folder / META_NAME).read_text("utf-8"))
    (folder / META_NAME).write_text(json.dumps(written | changed), "utf-8")
    with pytest.raises(ModelError, match=complaint):
        load_model(folder, "topics", 2)


def test_damaged_arrays_and_json_are_refused(folder: Path) -> None:
    arrays = next(folder.glob("arrays-*.npz"))
    arrays.write_bytes(arrays.read_bytes()[:-7])
    with pytest.raises(ModelError, match="not what was saved"):
        load_model(folder, "topics", 2)
    (folder / META_NAME).write_text("{", "utf-8")
    with pytest.raises(ModelError, match="is not JSON"):
        load_model(folder, "topics", 2)


def test_arrays_of_objects_are_never_unpickled(tmp_path: Path) -> None:
    save_model(tmp_path / "m", "k", 1, {"evil": np.array([{"a": 1}], dtype=object)}, {})
    with pytest.raises(ModelError, match="arrays cannot be read"):
        load_model(tmp_path / "m", "k", 1)


def test_a_missing_model_and_a_folder_that_cannot_be_made_are_told(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="There is no model"):
        load_model(tmp_path / "none", "k", 1)
    (tmp_path / "file").write_text("", "utf-8")
    with pytest.raises(ModelError, match="cannot be written"):
        save_model(tmp_path / "file" / "m", "k", 1, {}, {})

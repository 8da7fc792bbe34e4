"""Files written whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from wayhound.files import atomic_file, write_file


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_two_drafts_of_one_file_do_not_mix(tmp_path: Path) -> None:
    target = tmp_path / "model.json"
    with atomic_file(target) as first:
        first.write(b"first, ")
        with atomic_file(target) as second:
            second.write(b"second")
        assert target.read_bytes() == b"second"
        first.write(b"to the end")
    assert target.read_bytes() == b"first, to the end"
    assert names(tmp_path) == ["model.json"]


def test_a_draft_that_fails_leaves_the_old_content_and_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "model.json"
    write_file(target, b"old")
    with pytest.raises(OSError, match="full"), atomic_file(target) as stream:  # noqa: PT012
        stream.write(b"half a fi")
        raise OSError("the disk is full")
    assert target.read_bytes() == b"old"
    assert names(tmp_path) == ["model.json"]


def test_a_draft_is_hidden_and_told_by_its_ending(tmp_path: Path) -> None:
    with atomic_file(tmp_path / "model.json"):
        (draft,) = names(tmp_path)
    assert draft.startswith(".model.json.")
    assert draft.endswith(".part")

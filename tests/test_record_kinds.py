from __future__ import annotations

from pathlib import Path

import pytest

from wayhound.errors import ConfigError
from wayhound.record_kinds import KINDS, PAPERS_AND_DOCUMENTS, FieldSpec, read_kinds, spec_of


def test_every_kind_has_one_field_that_names_its_records() -> None:
    for spec in KINDS.values():
        assert len(spec.with_role("title")) == 1
        assert len({field.name for field in spec.fields}) == len(spec.fields)


def test_a_document_has_the_fields_of_a_paper_in_the_same_order() -> None:
    papers, documents = (KINDS[kind].fields for kind in PAPERS_AND_DOCUMENTS)
    own = [field for field in documents if field not in papers]
    assert [field for field in documents if field in papers] == list(papers)
    assert [field.name for field in own] == ["reason", "text"]


def test_an_unknown_kind_is_made_of_the_fields_that_its_records_have() -> None:
    spec = spec_of("tea_house", ["street", "name", "url", "name"])
    assert (spec.label, spec.plural, spec.title) == ("Tea house", "Tea houses", "name")
    assert [field.role for field in spec.fields] == ["plain", "title", "link"]
    assert spec_of("thing", ["colour", "size"]).title == "colour"
    assert spec_of("thing").title == ""


def test_a_field_that_was_not_declared_is_plain() -> None:
    assert spec_of("paper").field("colour") == FieldSpec("colour", many=True)
    assert spec_of("paper").field("author").role == "people"


def test_a_workspace_declares_kinds_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "kinds.toml"
    assert read_kinds(path) == KINDS
    path.write_text(
        '[talk]\nlabel = "Talk"\n[talk.fields]\ntitle = "title"\nspeaker = {role = "people", many = true}\n'
    )
    talk = spec_of("talk", kinds=read_kinds(path))
    assert talk.plural == "Talks"
    assert talk.fields == (FieldSpec("title", "title"), FieldSpec("speaker", "people", many=True))


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("talk = 1", "must be a section"),
        ("[talk", "is not TOML"),
        ("[talk]\ncolour = 1", "label, plural and fields"),
        ("[talk]\nfields = 1", "fields must be a section"),
        ('[talk.fields]\ntitle = "headline"', "the role of title must be one of title, people"),
        ("[talk.fields]\ntitle = 3", "title must be a role"),
    ],
)
def test_a_mistake_in_the_file_is_told_in_a_sentence(tmp_path: Path, text: str, complaint: str) -> None:
    path = tmp_path / "kinds.toml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=complaint):
        read_kinds(path)

"""The models inside the package: their labels, their files, and damage to these."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from wayhound.errors import ModelError
from wayhound.papers.field_crf import FieldCRF
from wayhound.papers.field_hmm import FieldHMM
from wayhound.papers.fields import MAX_WORDS, FieldSpan, read_header, read_reference, texts_by_field
from wayhound.papers.lexicon import shipped_lexicon
from wayhound.papers.models import shipped_crf, shipped_hmm
from wayhound.papers.tagged import parse_tagged
from wayhound.papers.tokens import FieldModel, TextKind, reference_line, token_line
from wayhound.store.model_files import load_model, save_model

HEADER = [
    "Learning to Walk Along Paths of Links",
    "Ada B. Sample",
    "Department of Computer Science",
    "University of Somewhere",
    "Springfield, IL 62701",
    "sample@cs.somewhere.edu",
    "Abstract",
    "We show how a crawler can learn from a few examples which links lead to the pages",
    "that a person wants. It needs no more than three websites.",
    "1 Introduction",
]

REFERENCES = [
    (
        "Sample, A. B., & Walker, C. (1998). Learning paths of links. Journal of Web Engineering, 12(3), 45-67.",
        {"author": "Sample, A. B., & Walker, C.", "date": "(1998).", "title": "Learning paths of links.",
         "journal": "Journal of Web Engineering,", "volume": "12(3),", "pages": "45-67."},
    ),
    (
        "C. Walker and A. Sample. Crawling the web with examples. In Proceedings of the Tenth International "
        "Conference on Machine Learning, pages 12-19, Amherst, MA, 1993. Morgan Kaufmann.",
        {"author": "C. Walker and A. Sample.", "title": "Crawling the web with examples.",
         "booktitle": "In Proceedings of the Tenth International Conference on Machine Learning,",
         "pages": "pages 12-19,", "location": "Amherst, MA,", "date": "1993.", "publisher": "Morgan Kaufmann."},
    ),
]  # fmt: skip


@pytest.mark.parametrize("model", [shipped_crf, shipped_hmm])
def test_the_fields_of_a_header_are_found(model: Callable[[TextKind], FieldModel]) -> None:
    found = texts_by_field(read_header(HEADER, model("header")))
    assert found["title"] == "Learning to Walk Along Paths of Links"
    assert found["author"] == "Ada B. Sample"
    assert found["affiliation"] == "Department of Computer Science University of Somewhere"
    assert found["address"] == "Springfield, IL 62701"
    assert found["email"] == "sample@cs.somewhere.edu"
    assert found["abstract"].endswith("three websites.")
    assert "intro" not in found


@pytest.mark.parametrize("model", [shipped_crf, shipped_hmm])
@pytest.mark.parametrize(("text", "fields"), REFERENCES)
def test_the_fields_of_references_are_found(
    text: str, fields: dict[str, str], model: Callable[[TextKind], FieldModel]
) -> None:
    found = texts_by_field(read_reference(text, model("reference")))
    right = [name for name, said in fields.items() if found.get(name) == said]
    assert right == list(fields) if model is shipped_crf else len(right) >= len(fields) - 2


def test_spans_are_where_the_words_stand_and_confidences_are_chances() -> None:
    joined = "\n".join(HEADER)
    for span in read_header(HEADER):
        assert joined[span.start : span.end].split() == span.text.split()
        assert 0 < span.confidence <= 1


def test_words_cut_at_the_end_of_a_line_are_whole_in_a_field() -> None:
    title = read_header(["Learning to Walk Along Para-", "meters of Links", *HEADER[1:]])[0]
    assert title.text == "Learning to Walk Along Parameters of Links"


def test_volume_and_pages_in_one_word_are_separated() -> None:
    text = "A. B. Sample. Learning paths of links. Machine Learning, 12(3):45–67, 1998."
    found = texts_by_field(read_reference(text))
    assert (found["volume"], found["pages"]) == ("12(3):", "45–67,")
    assert reference_line("http://a.example:80/1,000").words == ("http://a.example:80/1,000",)


def test_nothing_gives_no_fields() -> None:
    assert read_header([]) == read_header(["", " "]) == read_reference("") == []


@pytest.mark.parametrize("word", ["@" * 50_000, "A.B-" * 20_000, "1:" * 20_000, "a," * 20_000, "(" * 50_000])
def test_texts_without_end_are_read_as_far_as_fields_can_reach(word: str) -> None:
    assert read_reference(f"{word} {word}")
    assert read_header([word, "A Title", word])


def test_words_beyond_a_few_thousand_belong_to_no_field() -> None:
    spans = read_reference("word " * 5_000)
    assert sum(len(span.text.split()) for span in spans) == MAX_WORDS


def test_fields_that_come_twice_are_joined() -> None:
    spans = [FieldSpan("note", "To appear.", 0, 10, 1.0), FieldSpan("note", "Draft.", 20, 26, 1.0)]
    assert texts_by_field(spans) == {"note": "To appear. Draft."}


def test_a_correction_is_learned_at_once_and_can_be_saved(tmp_path: Path) -> None:
    right = "<author> Walker </author> <title> Paths Press </title> <publisher> Sample & Sons </publisher>"
    taught = parse_tagged(right, ("author", "title", "publisher"))
    model = shipped_crf("reference")
    assert model.label(taught.lines).labels != taught.labels
    after = model.corrected([taught])
    save_model(tmp_path / "model", FieldCRF.FORMAT, FieldCRF.VERSION, *after.to_arrays())
    again = FieldCRF.from_arrays(
        shipped_lexicon(), *load_model(tmp_path / "model", FieldCRF.FORMAT, FieldCRF.VERSION)
    )
    assert again.label(taught.lines).labels == taught.labels
    text, fields = REFERENCES[0]
    assert texts_by_field(read_reference(text, again)) == fields


def test_a_hidden_markov_model_can_be_saved(tmp_path: Path) -> None:
    save_model(tmp_path, FieldHMM.FORMAT, FieldHMM.VERSION, *shipped_hmm("reference").to_arrays())
    again = FieldHMM.from_arrays(*load_model(tmp_path, FieldHMM.FORMAT, FieldHMM.VERSION))
    lines = [token_line(REFERENCES[0][0])]
    assert again.label(lines) == shipped_hmm("reference").label(lines)


@pytest.mark.parametrize("name", ["words", "classes", "starts", "steps", "ends", "emissions"])
def test_damaged_hidden_markov_models_are_refused(name: str) -> None:
    arrays, meta = shipped_hmm("reference").to_arrays()
    for spoiled in (arrays[name][: len(arrays[name]) // 2], np.full_like(arrays[name], 255)):
        with pytest.raises(ModelError, match="damaged"):
            FieldHMM.from_arrays({**arrays, name: spoiled}, meta)


def test_a_model_for_something_else_is_refused() -> None:
    arrays, meta = shipped_crf("reference").to_arrays()
    with pytest.raises(ModelError, match="recipe"):
        FieldCRF.from_arrays(shipped_lexicon(), arrays, {**meta, "kind": "recipe"})

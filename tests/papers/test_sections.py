"""Recognition of papers and of their sections."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from tests.papers.texts import laid_out, placed, plain
from wayhound.documents.document import Document, Line
from wayhound.documents.headings import (
    inline_abstract,
    is_abstract_heading,
    is_heading_after_references,
    is_introduction_heading,
    is_references_heading,
)
from wayhound.documents.pdf import PdfReader
from wayhound.papers.front_layout import read_front_by_layout as read_front
from wayhound.papers.reference_cut import cut_references
from wayhound.papers.sections import find_sections, header_lines, reference_lines
from wayhound.samples import sample_web

REFERENCES = """
[1] A. Author and B. Writer. A title of some length. Journal of Examples, 12:1-20, 1999.
[2] C. Scribe. Another title. In Proceedings of the Conference, pages 3-9, 2001.
[3] D. Penman. A third title. Technical report, 2003.
"""
PAPER = f"""
A Title of Some Kind
Ada Example

Abstract
We do this and that.

1 Introduction
It has been done before [1].
References
{REFERENCES}"""


def test_a_list_of_one_reference_counts_whatever_follows_it() -> None:
    address = "Affiliation:\nAda Example\nUniversity of Examples\nStreet 5\nTown\nNew Land"
    one = "Scribe C (2001). Another title of some length. Journal of Examples, 15(7)."
    document = plain(
        f"A Title\n\nAbstract\nWe do this.\n\nIt is of use (Scribe 2001).\nReferences\n{one}\n{address}"
    )
    assert find_sections(document).is_paper
    assert [reference.text for reference in cut_references(reference_lines(document))] == [one]


@pytest.mark.parametrize(
    "text",
    ["References", "REFERENCES", "5. References", "R EFERENCES", "R E F E R E N C E S", "VII. REFERENCES",
     "References:", "Bibliography", "Literature Cited", "Références", "Literatur", "6 Literaturverzeichnis",
     "Referencias", "References and Notes", "8   Bibliography."],
)  # fmt: skip
def test_headings_of_references_are_known(text: str) -> None:
    assert is_references_heading(text)


@pytest.mark.parametrize(
    "text",
    ["References ........ 17", "References 17", "the references", "References to earlier work are rare", "",
     "Preferences", "see references,", "Cross-references in large documents"],
)  # fmt: skip
def test_other_lines_are_not(text: str) -> None:
    assert not is_references_heading(text)


def test_abstracts_and_introductions_are_known() -> None:
    assert all(
        map(
            is_abstract_heading,
            ["Abstract", "ABSTRACT", "A BSTRACT", "Résumé", "Zusammenfassung", "Abstract."],
        )
    )
    assert all(
        map(is_introduction_heading, ["1 Introduction", "I. INTRODUCTION", "1. Einleitung", "Introduction"])
    )
    assert not is_introduction_heading("1 Introduction 3")
    assert inline_abstract("Abstract. We show") == len("Abstract. ")
    assert inline_abstract("Abstract—We show") == len("Abstract—")
    assert inline_abstract("Abstract We show") == 0
    assert inline_abstract("Abstraction is hard.") == 0


def test_what_follows_references_is_known() -> None:
    assert all(
        map(is_heading_after_references, ["Appendix", "A Appendix", "APPENDIX A: PROOFS", "Acknowledgements"])
    )
    assert not is_heading_after_references("[7] Appendix to the report, 1999.")


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        (PAPER, "paper"),
        (PAPER.replace("Abstract\n", ""), "paper"),
        (PAPER.replace("1 Introduction", "1 Beginnings"), "paper"),
        (PAPER.replace("Abstract\n", "").replace("1 Introduction", "Beginnings"), "no_front"),
        (PAPER.replace("References\n", "").replace(REFERENCES, ""), "no_references"),
        (PAPER.replace(REFERENCES, "are available on request.\n"), "no_references"),
        ("Dear all,\n\nplease come to the party.\n", "neither"),
        ("Contents\n\n1 Introduction ..... 1\nReferences ..... 9\n", "neither"),
    ],
)  # fmt: skip
def test_a_paper_has_references_and_most_have_a_front(text: str, verdict: str) -> None:
    sections = find_sections(plain(text))
    assert sections.verdict == verdict
    assert sections.is_paper == (verdict in {"paper", "no_front"})
    assert sections.reason.endswith(".")


def test_the_header_ends_where_the_introduction_begins() -> None:
    assert [line.text for line in header_lines(plain(PAPER)) if line.text] == [
        "A Title of Some Kind", "Ada Example", "Abstract", "We do this and that.",
    ]  # fmt: skip


def test_the_abstract_ends_before_keywords() -> None:
    document = plain(PAPER.replace("that.\n", "that.\nKeywords: this, that\n"))
    abstract = find_sections(document).abstract
    assert [document.lines[i].text for i in abstract] == ["We do this and that."]


def test_without_introduction_the_abstract_ends_where_its_block_does() -> None:
    front = placed(["The Title", "Ada Example", "Abstract"], size=12)
    block = placed([f"  abstract line {i}" for i in range(5)], y=160)
    body = placed([f"body line {i}" for i in range(30)], y=240)
    references = placed(["References", *REFERENCES.strip().splitlines()], y=640)
    sections = find_sections(document := laid_out([*front, *block, *body, *references]))
    assert [document.lines[i].text for i in sections.abstract] == [f"abstract line {i}" for i in range(5)]
    assert sections.header.stop == 8
    assert sections.is_paper


def test_references_end_at_an_appendix_or_at_larger_print() -> None:
    for heading in (placed(["Appendix"], y=500)[0], placed(["Some Proofs"], y=500, size=14)[0]):
        lines = placed(["Abstract", "Short.", "References", *REFERENCES.strip().splitlines()])
        document = laid_out([*lines, heading, *placed(["We now prove the theorem of 1999."], y=520)])
        assert [line.text for line in reference_lines(document)] == REFERENCES.strip().splitlines()


def test_the_longest_list_is_taken() -> None:
    chapter = "References\n[1] A. Other. Of a chapter. 1990.\n\n2 Methods\nText of it.\n"
    document = plain(PAPER.replace("References\n", chapter + "References\n", 1))
    assert len(cut_references(reference_lines(document))) == 3


def test_a_numbered_list_at_the_end_needs_no_heading() -> None:
    entries = "\n".join(f"[{i}] A. Author. Title number {i}. Journal, {1990 + i}." for i in range(1, 8))
    body = "\n".join(f"line {i} of the text" for i in range(20))
    document = plain(f"Title\n\nAbstract\nShort.\n\n1 Introduction\n{body}\n\n{entries}\n")
    assert len(reference_lines(document)) == 7
    assert find_sections(document).is_paper


def test_many_lines_with_the_first_number_are_counted_in_linear_time() -> None:
    assert not find_sections(laid_out([Line("1. A step of a recipe")] * 50_000)).is_paper


def floats_among_references() -> list[Line]:
    caption = placed(["Figure 7: Examples of digits", "on several backgrounds."], y=300, column=1)
    labels = placed(["0.2", "0.4", "Average accuracy"], y=200, size=6, column=1)
    table = placed(["Method Error rate Time in seconds of it"], y=400, column=0)
    return [*labels, *caption, *table]


def test_figures_and_tables_among_references_are_left_out() -> None:
    entries = [
        replace(line, column=1, box=line.box)
        for line in placed(["Abstract", "References", *REFERENCES.strip().splitlines()])
    ]
    document = laid_out([*entries[:4], *floats_among_references(), *entries[4:]])
    assert [line.text for line in reference_lines(document)] == REFERENCES.strip().splitlines()


def test_body_is_around_the_references() -> None:
    document = plain(PAPER + "\nAppendix\nMore text.\n")
    sections = find_sections(document)
    body = [document.lines[i].text for part in sections.body for i in part]
    assert "It has been done before [1]." in body
    assert "More text." in body
    assert "References" not in body
    assert not any(text.startswith("[1]") for text in body)


@pytest.fixture(scope="module")
def reader() -> Iterator[PdfReader]:
    with PdfReader() as reader:
        yield reader


@pytest.mark.parametrize("site", ["physics", "linguistique"])
def test_papers_of_the_sample_web_are_papers(site: str, reader: PdfReader) -> None:
    sample = next(each for each in sample_web().sites if each.name == site)
    papers = [paper for paper in sample.truth.publications if paper.pdf][:8]
    assert papers
    for paper in papers:
        document = reader.read(sample.pages[paper.pdf].body)
        assert isinstance(document, Document)
        assert find_sections(document).is_paper
        front = read_front(document)
        assert front.title == paper.title
        assert front.authors == paper.authors
        assert front.abstract == paper.abstract
        assert [each.text for each in cut_references(reference_lines(document))] == list(paper.references)


def test_a_running_foot_does_not_end_a_list_whose_numbers_go_on() -> None:
    first = placed(["1 Introduction", "Text.", "References", *REFERENCES.split("\n")[1:3]], y=100)
    foot = placed(["Journal of Examples"], y=780, size=13)
    rest = placed(REFERENCES.split("\n")[3:4], page=2)
    after = placed(["Appendix of all", "More text."], page=2, y=300, size=13)
    document = laid_out([*first, *foot], [*rest, *after])
    assert len(cut_references(reference_lines(document))) == 3
    assert "Journal of Examples" not in [line.text for line in reference_lines(document)]


ENTRIES = [f"[{i}] A. Author. Title number {i}. Journal, {1990 + i}." for i in range(1, 9)]


def texts_of(document: Document) -> list[str]:
    return [line.text for line in reference_lines(document)]


def test_a_heading_that_the_next_page_repeats_does_not_end_the_list() -> None:
    first = placed(["1 Introduction", "Text.", "References", *ENTRIES[:4], "17"])
    second = placed(["References", *ENTRIES[4:], "18"], page=2)
    assert texts_of(laid_out(first, second)) == ENTRIES


def test_a_word_across_each_page_does_not_end_the_list() -> None:
    pages = [
        [*placed(["Draft of all"], page=1, size=36), *placed(["1 Introduction", "Text."])],
        [*placed(["Draft of all"], page=2, size=36), *placed(["References", *ENTRIES[:4]], page=2, y=200)],
        [*placed(["Draft of all"], page=3, size=36), *placed(ENTRIES[4:], page=3, y=200)],
    ]
    assert texts_of(laid_out(*pages)) == ENTRIES


def test_an_address_in_another_print_belongs_to_its_reference() -> None:
    entries = placed(["1 Introduction", "Text.", "References", *ENTRIES[:2]])
    address = placed(["https://example.org/of/the/second"], y=300, size=12)
    rest = placed(ENTRIES[2:], y=320)
    assert texts_of(laid_out([*entries, *address, *rest]))[2] == "https://example.org/of/the/second"


def test_a_list_below_a_line_of_a_table_of_contents_is_not_the_text_of_the_paper() -> None:
    contents = ["1 Introduction", "References", "Text of 1991."]
    body = [f"Line {i} of the text." + " It was 1992." * (i % 20 == 0) for i in range(100)]
    document = laid_out(placed(contents), placed(body, page=2), placed(["References", *ENTRIES[:3]], page=3))
    assert texts_of(document) == ENTRIES[:3]


def test_numbered_entries_below_a_heading_need_no_years() -> None:
    entries = [f"[{i}] A. Author. Title number {i}. Northern Press." for i in range(1, 6)]
    assert texts_of(laid_out(placed(["1 Introduction", "Text.", "References", *entries]))) == entries


def test_blanks_after_the_word_abstract_are_looked_through_once() -> None:
    """Parting them in every way would take hours."""
    blanks = " " * 300_000
    assert inline_abstract(f"Abstract{blanks}") == 0
    assert inline_abstract(f"Abstract{blanks}We show") == len(blanks) + 8

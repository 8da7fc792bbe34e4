"""Front matter by model and layout together, and random layouts for training."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.papers.texts import laid_out, placed, plain
from wayhound.documents.document import Document, DocumentKind
from wayhound.papers.fields import FieldSpan
from wayhound.papers.front_layout import read_front_by_layout
from wayhound.papers.header_reader import (
    FrontMatter,
    _of_one_print,
    _with_whole_title,
    _without_false_authors,
    read_front_matter,
)
from wayhound.papers.lexicon import shipped_lexicon
from wayhound.papers.models import shipped_crf, shipped_hmm
from wayhound.papers.paper import (
    PaperModels,
    _named_once,
    _without_note_number,
    _without_notes,
    read_paper,
    separate_notes,
)
from wayhound.papers.tagged import HEADER_FIELDS, parse_tagged
from wayhound.papers.training_data import with_layout
from wayhound.record import Value

ABSTRACT = [
    "We show how a crawler can learn from a few examples which links lead to the pages that",
    "a person wants. It needs no more than three websites, and finds most of the pages in esti-",
    "mated time.",
]
TAGGED = parse_tagged(
    "<title> Paths of Links </title>\n<author> Ada Sample </author>\n<affiliation> University </affiliation>\n"
    "<abstract> Abstract\nWe walk.\nAnd walk on.\nTo the end.\nOf all paths. </abstract>\n"
    "<intro> 1 Introduction </intro>",
    HEADER_FIELDS,
)


def paper() -> Document:
    body = ["1 Introduction", *(f"This is line {i} of what the paper has to say." for i in range(30))]
    return laid_out(
        [
            *placed(["Learning to Walk Along", "Paths of Links"], x=180, y=80, size=17),
            *placed(["Ada B. Sample and Carl Walker"], x=230, y=130, size=12),
            *placed(["Department of Computer Science, University of Somewhere"], x=190, y=150),
            *placed(["Springfield, IL 62701"], x=250, y=165),
            *placed(["sample@cs.somewhere.edu"], x=250, y=180),
            *placed(["Abstract"], x=270, y=220, size=12),
            *placed(ABSTRACT, y=240),
            *placed(body, y=300),
        ]
    )


def test_the_fields_of_a_page_are_read() -> None:
    matter = read_front_matter(paper())
    assert matter.title is not None
    assert matter.title.text == "Learning to Walk Along Paths of Links"
    assert [person.full for person in matter.authors] == ["Ada B. Sample", "Carl Walker"]
    assert [found.text for found in matter.named("email")] == ["sample@cs.somewhere.edu"]
    assert "Springfield, IL 62701" in [found.text for found in matter.named("address")]


def test_the_abstract_is_whole_and_without_its_heading() -> None:
    abstract = read_front_matter(paper()).abstract
    assert abstract is not None
    assert abstract.text.startswith("We show how")
    assert abstract.text.endswith("in estimated time.")


@pytest.mark.parametrize("heading", ["Abstract. ", "Abstract—", "ABSTRACT: "])
def test_a_heading_on_the_line_of_the_abstract_is_left_out(heading: str) -> None:
    text = f"Paths of Links\n\nAda Sample\n\n{heading}{ABSTRACT[0]}\n{ABSTRACT[1]}\n\n1 Introduction\n\nSo it is.\n"
    abstract = read_front_matter(plain(text)).abstract
    assert abstract is not None
    assert abstract.text.startswith("We show how a crawler")


def test_every_field_says_where_it_stands_and_how_sure_it_is() -> None:
    document = paper()
    for found in read_front_matter(document).fields:
        said = document.text[found.start : found.end]
        assert said.replace("-\n", "").replace("\n", " ") == found.text
        assert 0 < found.confidence <= 1
        assert [region.page for region in found.regions] == [1] * (said.count("\n") + 1)
        assert all(region.box for region in found.regions)


def test_another_model_may_be_given() -> None:
    title = read_front_matter(paper(), shipped_hmm("header")).title
    assert title is not None
    assert "Paths of Links" in title.text


@pytest.mark.parametrize("document", [laid_out([]), laid_out(), plain("...")])
def test_what_has_no_front_gives_nothing_and_no_error(document: Document) -> None:
    matter = read_front_matter(document)
    assert matter.abstract is None
    assert matter.authors == ()


@pytest.mark.parametrize(
    "lines",
    [
        ["Ada B. Sample", "Carl Walker"],
        ["Ada B. Sample and", "Carl Walker"],
        ["Ada B. Sample, Carl", "Walker"],
        ["Ada B. Sample∗", "Carl Walker†"],
    ],
)
def test_names_on_lines_of_their_own_are_separated(lines: list[str]) -> None:
    text = "\n".join(
        ["Learning Paths of Links", *lines, "University of Somewhere", "", "Abstract", "", *ABSTRACT]
    )
    people = read_front_matter(plain(f"{text}\n\n1 Introduction\n\nSo it is.\n")).authors
    assert [person.full for person in people] == ["Ada B. Sample", "Carl Walker"]


def test_no_fields_are_no_title() -> None:
    assert FrontMatter().title is None


def test_a_drawn_layout_keeps_the_words_and_sets_the_title_largest() -> None:
    for seed in range(20):
        drawn = with_layout(TAGGED, np.random.default_rng(seed))
        assert (drawn.words, drawn.labels) == (TAGGED.words, TAGGED.labels)
        layouts = [line.layout for line in drawn.lines if line.layout]
        assert len(layouts) == len(drawn.lines)
        assert layouts[0].size >= 1.1 * layouts[2].size
        depths = [layout.depth for layout in layouts]
        assert depths == sorted(depths)


def test_layouts_differ_from_draw_to_draw_but_not_for_the_same_seed() -> None:
    one, other, again = (with_layout(TAGGED, np.random.default_rng(seed)) for seed in (1, 2, 1))
    assert one == again
    assert one != other


def named(title: str, start: int) -> FieldSpan:
    return FieldSpan("title", title, start, start + len(title), 0.9)


def test_a_title_is_of_one_print() -> None:
    journal = placed(["Northern Journal of Walking"], y=60)
    title = placed(["The Long Way to", "The Harbour of Bergen"], y=90, size=17)
    team = placed(["The Walking Team"], y=150, size=12)
    document = laid_out([*journal, *title, *team])
    (found,) = _with_whole_title(document, [named(document.text, 0)])
    assert found.text.replace("\n", " ") == "The Long Way to The Harbour of Bergen"


def test_a_title_takes_the_line_that_its_sentence_needs_from_the_authors() -> None:
    title = placed(["How to Write a Paper for the", "Gazette of Bergen"], y=90, size=17)
    document = laid_out([*title, *placed(["Ada Example"], y=150, size=12)])
    first, second = len("How to Write a Paper for the"), len("Gazette of Bergen")
    author = FieldSpan("author", "Gazette of Bergen", first + 1, first + 1 + second, 0.6)
    (found,) = _with_whole_title(document, [named("How to Write a Paper for the", 0), author])
    assert found.text.replace("\n", " ") == "How to Write a Paper for the Gazette of Bergen"


def test_a_subtitle_in_smaller_print_is_kept_after_a_colon() -> None:
    document = laid_out(
        [*placed(["Harbours of the North:"], y=90, size=17), *placed(["A History"], y=112, size=12)]
    )
    (found,) = _with_whole_title(document, [named(document.text, 0)])
    assert found.text == document.text


def test_the_confidence_of_a_title_is_lower_where_layout_disagrees() -> None:
    models = PaperModels(shipped_crf("header"), shipped_crf("reference"))
    agreed = read_paper(paper(), models, "").fields["title"][0]
    lines = list(paper().lines)
    smaller = [replace(line, size=9.0) if line.size == 17 else line for line in lines]
    doubted = read_paper(laid_out(smaller), models, "").fields["title"][0]
    assert 0.9 < agreed.confidence < 0.995
    assert doubted.confidence < agreed.confidence


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1North School 2South University 3East College", ["North School", "South University", "East College"]),
        ("2South University, 10 Lane Street", ["South University, 10 Lane Street"]),
        ("University of the South, 2nd Floor", ["University of the South, 2nd Floor"]),
        ("3Com Corporation", ["3Com Corporation"]),
        ("North School 2South University", ["North School 2South University"]),
    ],
)  # fmt: skip
def test_numbers_above_the_line_separate_affiliations(text: str, expected: list[str]) -> None:
    assert separate_notes(text) == expected


def test_a_file_of_a_few_words_is_hardly_a_paper() -> None:
    models = PaperModels(shipped_crf("header"), shipped_crf("reference"), shipped_lexicon())
    fields = read_paper(plain("not a paper at all"), models, "").fields
    assert fields["paper_certainty"][0].text == "hardly"


def test_how_likely_a_document_is_a_paper_is_a_field_of_it() -> None:
    models = PaperModels(shipped_crf("header"), shipped_crf("reference"))
    fields = read_paper(paper(), models, "").fields
    contents = [f"{n} Chapter . . . . . . . {n}" for n in range(60)]
    manual = read_paper(laid_out(placed(["Manual", *contents])), models, "").fields
    assert float(fields["paper_probability"][0].text) > 0.7 > float(manual["paper_probability"][0].text)
    assert manual["paper_certainty"][0].text == "hardly"
    assert read_paper(paper(), models, "", "document").fields["paper_probability"][0].text == "0.00"


def test_a_document_that_is_no_paper_keeps_all_that_was_read_of_it() -> None:
    title = "Trails of the northern forest\n\nDora Field\n\n"
    degree = "A dissertation submitted in partial fulfillment of the requirements for the degree of Doctor"
    abstract = (
        "Abstract\n\nEvery trail of the forest was walked twice, and the time of a walk was written down.\n\n"
    )
    body = "1 Introduction\n\nTrails are older than roads. Nobody has counted the steps of a trail in winter before.\n"
    read = read_paper(
        plain(f"{title}{degree}\n\nUniversity of Somewhere\n\nJune 2004\n\n{abstract}{body}"), MODELS, ""
    )
    assert read.kind == "document"
    assert read.fields["degree"][0].text == degree
    assert read.fields["affiliation"][0].text == "University of Somewhere"
    assert read.fields["abstract"][0].text.startswith("Every trail")
    assert "text" not in read.fields  # the abstract says what it is about
    assert "note" not in read.fields
    pump = (
        "Fill the pump with water before the first use. The water must be clean, and the pump must be level."
    )
    bare = read_paper(plain(f"The pump in the garden\n\nCarl Stone\n\n{pump}\n"), MODELS, "")
    assert bare.fields["text"][0].text.startswith("Fill the pump")  # without title and author


def test_a_document_of_running_heads_alone_is_a_document_without_text() -> None:
    models = PaperModels(shipped_crf("header"), shipped_crf("reference"))
    read = read_paper(laid_out([]), models, "")
    assert read.kind == "document"
    assert "text" not in read.fields


def below_a_heading(heading: str, *, size: float) -> Document:
    """Return a paper whose title stands below another large line."""
    return laid_out(
        [
            *placed([heading], x=180, y=80, size=size),
            *placed(["Learning to Walk Along", "Paths of Links"], x=180, y=140, size=17),
            *placed(["Ada B. Sample and Carl Walker"], x=230, y=190, size=12),
            *placed(["Abstract"], x=270, y=220, size=12),
            *placed(ABSTRACT, y=240),
            *placed(["1 Introduction", *(f"This is line {i} of the paper." for i in range(30))], y=300),
        ]
    )


@pytest.mark.parametrize(
    "heading", ["RESEARCH ARTICLE", "Working Paper No. 12", "Seminararbeit", "Master's Thesis"]
)
@pytest.mark.parametrize("size", [17.0, 24.0])
def test_the_kind_of_work_above_a_title_is_not_of_it(heading: str, size: float) -> None:
    title = read_front_matter(below_a_heading(heading, size=size)).title
    assert title is not None
    assert title.text == "Learning to Walk Along Paths of Links"


def test_a_title_that_the_file_states_is_the_title_where_it_is_printed() -> None:
    document = below_a_heading("Annals of Walking", size=24)
    stated = replace(document, stated=(("title", ("Learning to walk along paths of links",)),))
    title = read_front_matter(stated).title
    assert title is not None
    assert title.text == "Learning to Walk Along Paths of Links"
    assert title.confidence > 0.99


def test_a_stated_title_that_is_not_printed_does_not_count() -> None:
    stated = replace(paper(), stated=(("title", ("Microsoft Word - walk_final.doc",)),))
    assert read_front_matter(stated).title == read_front_matter(paper()).title


def test_a_table_of_contents_ends_the_header() -> None:
    lines = [
        *placed(["Learning to Walk"], x=180, y=80, size=17),
        *placed(["Ada B. Sample"], x=230, y=130, size=12),
        *placed(["Contents", "1. Links", "2. Carl Walker", "3. Paths"], x=190, y=190),
    ]
    assert [person.full for person in read_front_matter(laid_out(lines)).authors] == ["Ada B. Sample"]


def spans_of(*parts: tuple[str, str, float]) -> list[FieldSpan]:
    starts = [100 * number for number in range(len(parts))]
    return [
        FieldSpan(field, text, start, start + len(text), confidence)
        for (field, text, confidence), start in zip(parts, starts, strict=True)
    ]


def test_sentences_and_headings_are_no_authors() -> None:
    spans = spans_of(
        ("author", "Anna Lind: Über Berge, Die Nordische Komö-", 0.99),
        ("author", "Anna Lind", 0.99),
        ("author", "Das Paket wird von der Universität kostenlos angeboten", 0.5),
        ("abstract", "Wir gehen über Berge.", 0.9),
        ("author", "Das Prinzip", 0.9),
    )
    authors = [span.text for span in _without_false_authors(spans) if span.field == "author"]
    assert authors == ["Anna Lind", "Anna Lind"]


def test_authors_below_the_abstract_count_where_none_are_above() -> None:
    spans = spans_of(("abstract", "We walk.", 0.9), ("author", "Anna Lind and Bo de Wood", 0.8))
    assert _without_false_authors(spans) == spans


def test_the_name_of_a_series_far_above_is_not_the_title_of_a_cover() -> None:
    cover = [
        *placed(["NorthTricks"], y=20, size=44),
        *placed(["Lines of Fields"], y=270, size=18),
        *placed(["Package author(s):", "Ada Sample", "Carl Walker"], x=400, y=640),
    ]
    text = placed(["1 Introduction", *(f"This is line {i} of the paper." for i in range(30))], page=2)
    models = PaperModels(shipped_crf("header"), shipped_crf("reference"))
    fields = read_paper(laid_out(cover, text), models, "").fields
    assert fields["title"][0].text == "Lines of Fields"


def test_a_label_of_names_is_no_title() -> None:
    document = laid_out(placed(["Package author(s): Ada Sample", "Carl Walker"]))
    (found,) = _with_whole_title(document, [named("Package author(s): Ada Sample", 0)])
    assert (found.field, found.text) == ("author", "Ada Sample")
    assert document.text[found.start : found.end] == "Ada Sample"


def test_a_draft_and_names_in_capitals_below_a_title_are_not_of_it() -> None:
    for below in ("Draft", "ADA SAMPLE"):
        document = laid_out(placed(["Harbours of the North", below], y=90, size=14))
        found = _with_whole_title(document, [named(document.text, 0)])
        assert next(span.text for span in found if span.field == "title") == "Harbours of the North"


def test_a_stated_title_that_ends_with_a_colon_has_the_line_below() -> None:
    lines = [*placed(["Harbours of the North:"], y=90, size=17), *placed(["A short way"], y=112, size=14)]
    document = replace(laid_out(lines), stated=(("title", ("Harbours of the North",)),))
    title = read_front_matter(document).title
    assert title is not None
    assert title.text == "Harbours of the North: A short way"


def test_names_below_the_title_are_authors_where_the_model_finds_none() -> None:
    lines = [
        *placed(["Harbours of the North"], x=180, y=80, size=17),
        *placed(["Maria Sample (maria@one.example) – University of Bergen, Bergen, Norway",
                 "Peter Walker (peter@one.example) – University of Bergen, Bergen, Norway"], y=110),
        *placed(["1 Introduction", *(f"This is line {i} of the paper." for i in range(30))], y=300),
    ]  # fmt: skip
    models = PaperModels(shipped_crf("header"), shipped_crf("reference"), shipped_lexicon())
    authors = read_paper(laid_out(lines), models, "").fields["author"]
    assert [author.text for author in authors] == ["Maria Sample", "Peter Walker"]


def test_letters_that_refer_to_addresses_are_not_of_names() -> None:
    document = laid_out(placed(["Paths", "Ada Samplea and Carl Walkerb", "aUniversity of Bergen; bOslo"]))
    value = Value("Ada Samplea and Carl Walkerb,a")
    assert _without_notes(value, document).text == "Ada Sample, Carl Walker"
    assert _without_notes(value, laid_out(placed(["Paths"]))) == value


def test_the_number_of_a_note_is_not_of_the_title() -> None:
    body = placed(["2 Introduction", *(f"This is line {i} of the text." for i in range(9))], y=300)
    note = placed(["2 To appear."], y=700, size=8)
    assert _without_note_number("Paths of Links2", laid_out([*body, *note])) == "Paths of Links"
    assert _without_note_number("Paths of Links2", laid_out(body)) == "Paths of Links2"


def test_people_are_named_once() -> None:
    names = ["P. Barn", "Paula Barn", "Q. Barn", "Mary Ann", "Wood Hill", "Mary Ann Wood Hill"]
    assert [person.text for person in _named_once([Value(name) for name in names])] == [
        "Paula Barn",
        "Q. Barn",
        "Mary Ann Wood Hill",
    ]


def test_a_row_of_names_in_two_prints_is_read_whole() -> None:
    bold, rest, below = placed(["Ada Sample 1", ", and Ben", "Walker 2"], size=12)
    _, top, right, bottom = bold.box or (0.0, 0.0, 0.0, 0.0)
    lines = [
        replace(bold, bold=True),
        replace(rest, box=(right + 1, top, right + 60, bottom)),
        replace(below, bold=True),
    ]
    assert [line.text for line in _of_one_print(lines)] == ["Ada Sample 1", ", and Ben", "Walker 2"]
    institute = replace(below, text="University")
    assert _of_one_print([*lines, institute]) == lines


def test_a_line_in_the_print_of_the_title_above_authors_is_of_the_title() -> None:
    title = [
        replace(line, bold=True)
        for line in placed(["The Effect of Walking", "Small Towns (North)"], y=90, size=12)
    ]
    document = laid_out([*title, *placed(["Ada Sample and Ben Walker"], y=130, size=10)])
    first = len("The Effect of Walking")
    author = FieldSpan("author", "Small Towns (North)", first + 1, first + 20, 0.6)
    (found,) = _with_whole_title(document, [named("The Effect of Walking", 0), author])
    assert found.text.replace("\n", " ") == "The Effect of Walking Small Towns (North)"


@pytest.mark.parametrize("notice", ["© 2012 Towns. Do not distribute.", "DRAFT", "Do not cite"])
def test_a_notice_across_the_page_is_no_title(notice: str) -> None:
    lines = [*placed([notice], y=60, size=45), *placed(["Paths of Links"], y=130, size=17)]
    assert (
        read_front_by_layout(laid_out([*lines, *placed(["1 Introduction", "Text."], y=300)])).title
        == "Paths of Links"
    )


def test_who_communicated_a_paper_did_not_write_it() -> None:
    value = Value("Ada Sample and Carl Walker. Communicated by Max Wood, May 1983")
    assert _without_notes(value).text == "Ada Sample and Carl Walker"


MODELS = PaperModels(shipped_crf("header"), shipped_crf("reference"), shipped_lexicon())


@pytest.mark.parametrize("kind", ["pdf", "postscript", "scan"])
def test_the_name_of_a_file_that_is_stated_as_its_title_is_not_the_title(kind: DocumentKind) -> None:
    stated = replace(paper(), kind=kind, stated=(("title", ("walk.dvi",)),))
    (title,) = read_paper(stated, MODELS, "").fields["title"]
    assert title.text == "Learning to Walk Along Paths of Links"


def test_a_heading_that_is_stated_as_the_title_is_not_the_title() -> None:
    stated = replace(paper(), stated=(("title", ("1 INTRODUCTION",)),))
    assert read_front_matter(stated).title == read_front_matter(paper()).title


def test_a_draft_is_not_of_the_title_of_a_document() -> None:
    lines = [
        *placed(["Harbours of the North", "Draft"], x=180, y=80, size=17),
        *placed([f"This is line {i} of the letter." for i in range(30)], y=300),
    ]
    read = read_paper(laid_out(lines), MODELS, "", kind="document")
    assert read.fields["title"][0].text == "Harbours of the North"


def test_the_advisors_of_a_thesis_are_not_its_authors() -> None:
    lines = [
        *placed(["Harbours of the North"], x=180, y=80, size=24),
        *placed(["a Master’s Thesis"], x=180, y=150, size=14),
        *placed(["by"], x=180, y=180, size=14),
        *placed(["Maria Sample"], x=180, y=210, size=14),
        *placed(["advised by"], x=180, y=300, size=14),
        *placed(["Prof. Dr. Peter Walker"], x=180, y=330, size=14),
    ]
    authors = read_paper(laid_out(lines), MODELS, "").fields["author"]
    assert [author.text for author in authors] == ["Maria Sample"]


def test_a_line_that_begins_with_a_name_tells_the_author_where_no_other_does() -> None:
    head = laid_out([
        *placed(["Harbours of the North"], x=180, y=80, size=17),
        *placed(["Maria Sample, Example National Labs, October 2007"], y=110),
        *placed([f"this is line {i} of the paper." for i in range(30)], y=300),
    ])  # fmt: skip
    assert read_front_by_layout(head).authors == ("Maria Sample",)


def test_the_label_author_is_not_of_the_name() -> None:
    assert _without_notes(Value("Author: Maria B. Sample")).text.strip() == "Maria B. Sample"

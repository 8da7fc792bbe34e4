"""Lines, columns, positions and hyphens of PDF pages."""

from __future__ import annotations

import pytest

from tests.documents.pages import HEIGHT, WIDTH, Shown, bitmap_pdf_of, paragraph, pdf_of
from wayhound.documents.document import Document, Line
from wayhound.documents.pdf import PdfReader

LEFT = [f"left column line {i} with some more words" for i in range(20)]
RIGHT = [f"right column line {i} with some more words" for i in range(20)]


def read(reader: PdfReader, body: bytes) -> Document:
    outcome = reader.read(body)
    assert isinstance(outcome, Document), outcome
    return outcome


def texts(document: Document) -> list[str]:
    return [line.text for line in document.lines]


def test_lines_have_places_in_points_from_the_upper_left(pdf_reader: PdfReader) -> None:
    document = read(pdf_reader, pdf_of([Shown("A heading here", x=100, y=200, size=16, font="F2")]))
    line = document.lines[0]
    assert line.text == "A heading here"
    assert line.box
    left, top, right, bottom = line.box
    assert left == pytest.approx(100, abs=1)
    assert top < 200 < bottom + 1
    assert bottom - top == pytest.approx(16, rel=0.25)
    assert 100 + 5 * 16 < right < 100 + 8 * 16
    assert (line.size, line.bold, line.page) == (16, True, 1)
    assert (document.pages[0].width, document.pages[0].height) == (WIDTH, HEIGHT)


def test_words_of_the_first_page_have_boxes_within_their_line(pdf_reader: PdfReader) -> None:
    line = read(pdf_reader, pdf_of([Shown("three plain words", x=100, y=200)])).lines[0]
    assert [word.text for word in line.words] == ["three", "plain", "words"]
    assert line.box
    lefts = [word.box[0] for word in line.words]
    assert lefts == sorted(lefts)
    assert line.words[0].box[0] == line.box[0]
    assert line.words[-1].box[2] == line.box[2]


def test_size_is_as_it_appears_also_when_the_matrix_does_the_scaling(pdf_reader: PdfReader) -> None:
    scaled = Shown("scaled by its matrix", size=1, matrix="12 0 0 12")
    assert read(pdf_reader, pdf_of([scaled])).lines[0].size == 12


def test_a_turned_page_is_read_upright(pdf_reader: PdfReader) -> None:
    upright_when_turned = [
        Shown("first line of the page", x=100, y=HEIGHT - 100, matrix="0 1 -1 0"),
        Shown("second line of the page", x=112, y=HEIGHT - 100, matrix="0 1 -1 0"),
    ]
    document = read(pdf_reader, pdf_of(upright_when_turned, rotate=90))
    first, second = document.lines
    assert (first.text, second.text) == ("first line of the page", "second line of the page")
    assert first.box
    assert second.box
    assert first.box[1] < second.box[1]
    assert first.box[2] - first.box[0] > 60
    assert (document.pages[0].width, document.pages[0].height) == (HEIGHT, WIDTH)


def test_text_along_the_margin_is_set_aside(pdf_reader: PdfReader) -> None:
    stamp = Shown("arXiv:1234.5678v1 [cs.DL] 1 Jan 2020", x=20, y=500, matrix="0 1 -1 0")
    document = read(pdf_reader, pdf_of([stamp, *paragraph(LEFT)]))
    assert texts(document) == LEFT
    assert [line.text for line in document.all_lines() if line.role == "margin"] == [stamp.text]


def test_two_columns_are_read_one_after_the_other(pdf_reader: PdfReader) -> None:
    document = read(pdf_reader, pdf_of([*paragraph(LEFT, x=50), *paragraph(RIGHT, x=310)]))
    assert texts(document) == LEFT + RIGHT
    assert [line.column for line in document.lines] == [1] * 20 + [2] * 20
    assert {line.indent for line in document.lines} == {0.0}


def test_two_columns_written_row_by_row_are_separated(pdf_reader: PdfReader) -> None:
    """However PDFium splits a row into lines."""
    rows = zip(paragraph(LEFT, x=50), paragraph(RIGHT, x=310), strict=True)
    title = Shown("A title that runs across both columns of the page", x=120, y=70, size=16)
    document = read(pdf_reader, pdf_of([title, *(shown for row in rows for shown in row)]))
    assert texts(document) == [title.text, *LEFT, *RIGHT]


def test_two_columns_in_wild_order_are_sorted(pdf_reader: PdfReader) -> None:
    shuffled = [*paragraph(RIGHT, x=310)[::-1], *paragraph(LEFT, x=50)[::-1]]
    assert texts(read(pdf_reader, pdf_of(shuffled))) == LEFT + RIGHT


def test_authors_side_by_side_stay_with_their_affiliations(pdf_reader: PdfReader) -> None:
    blocks = [
        *paragraph(["Ada Example", "First University", "ada@first.example"], x=60, y=120),
        *paragraph(["Ben Sample", "Second University", "ben@second.example"], x=400, y=120),
    ]
    document = read(pdf_reader, pdf_of([Shown("The Title", x=250, size=16), *blocks]))
    assert texts(document) == ["The Title", *(shown.text for shown in blocks)]


def test_a_row_with_wide_gaps_is_cut_but_a_stretched_line_is_not(pdf_reader: PdfReader) -> None:
    row = [Shown("Ada Example", x=60, y=100), Shown("Ben Sample", x=350, y=100)]
    stretched = [Shown("a stretched", x=60, y=130), Shown("line", x=130, y=130)]
    document = read(pdf_reader, pdf_of([*row, *stretched, *paragraph(LEFT, x=60, y=142)]))
    assert texts(document)[:3] == ["Ada Example", "Ben Sample", "a stretched line"]


def test_a_hyphen_at_the_end_of_a_line_is_kept_with_the_line(pdf_reader: PdfReader) -> None:
    document = read(pdf_reader, pdf_of(paragraph(["a word that was hyphen-", "ated at the end of a line"])))
    assert texts(document) == ["a word that was hyphen-", "ated at the end of a line"]


def test_ligatures_are_letters(pdf_reader: PdfReader) -> None:
    document = read(pdf_reader, pdf_of([Shown("\x01nding ba\x02e", font="F3")]))
    assert texts(document) == ["finding baffle"]


def test_a_number_above_the_line_is_a_superscript(pdf_reader: PdfReader) -> None:
    raised = [Shown("as shown before", x=72, y=100), Shown("12", x=136.5, y=96, size=6)]
    rest = [Shown("and also", x=146, y=100)]
    line = read(pdf_reader, pdf_of([*raised, *rest])).lines[0]
    assert line.text.replace(" ", "") == "asshownbefore12andalso"
    assert [line.text[start:end] for start, end in line.superscripts] == ["12"]


def test_a_number_below_the_line_is_none(pdf_reader: PdfReader) -> None:
    lowered = [Shown("the variable xyz", x=72, y=100), Shown("12", x=137, y=102, size=6)]
    line = read(pdf_reader, pdf_of([*lowered, Shown("is small", x=146, y=100)])).lines[0]
    assert line.superscripts == ()


def test_running_heads_and_page_numbers_are_set_aside(pdf_reader: PdfReader) -> None:
    pages = [
        [
            Shown("Journal of Examples, Vol. 3", x=72, y=40, size=8),
            *paragraph([f"page {number} {text}" for text in LEFT[:8]], y=120),
            Shown(str(216 + number), x=300, y=810, size=8),
        ]
        for number in range(1, 5)
    ]
    document = read(pdf_reader, pdf_of(*pages))
    assert len(document.lines) == 32
    assert all(line.text.startswith("page ") for line in document.lines)
    assert len([line for line in document.all_lines() if line.role == "margin"]) == 8


def test_a_heading_that_comes_once_is_no_running_head(pdf_reader: PdfReader) -> None:
    pages = [[Shown(f"Chapter about {word}", y=60), *paragraph(LEFT)] for word in ("cats", "dogs", "owls")]
    document = read(pdf_reader, pdf_of(*pages))
    assert texts(document)[0] == "Chapter about cats"


def line_at(document: Document, text: str) -> Line:
    return next(line for line in document.lines if line.text == text)


def test_only_front_and_reference_pages_have_words(pdf_reader: PdfReader) -> None:
    pages = [
        [Shown("The Title", size=16), *paragraph(["Abstract", "It is short.", "1 Introduction", *LEFT])],
        paragraph(LEFT),
        paragraph([*RIGHT, "References", "[1] A. Author. A title. 1999."]),
        paragraph(["[2] B. Writer. Another title. 2001."]),
    ]
    document = read(pdf_reader, pdf_of(*pages))
    assert line_at(document, "It is short.").words
    assert line_at(document, "[1] A. Author. A title. 1999.").words
    assert line_at(document, "[2] B. Writer. Another title. 2001.").words
    assert not any(line.words for line in document.pages[1].lines)
    assert not line_at(document, RIGHT[3]).words


@pytest.mark.parametrize(
    ("shown", "meant"),
    [
        ((Shown("Dilan Gorur", 72, 100), Shown("\xa8", 104.7, 100)), "Dilan Görur"),  # drawn behind the word
        ((Shown("AND MORE", 72, 100), Shown("\xb4", 120.3, 98), Shown(", J.", 125, 100)), "AND MORÉ, J."),
        ((Shown("the norm", 72, 100), Shown("^x is set", 115, 100)), "the norm ^x is set"),
    ],
)
def test_accents_come_to_the_letters_that_they_stand_above(
    pdf_reader: PdfReader, shown: tuple[Shown, ...], meant: str
) -> None:
    assert texts(read(pdf_reader, pdf_of(shown)))[0] == meant


def _word(number: int) -> str:
    """Return another word for each number, because lines that differ in numbers alone are running heads."""
    return "".join(chr(97 + number * prime % 26) for prime in (1, 3, 5, 7, 11, 17)) + "aeiou"[number % 5]


@pytest.mark.parametrize("step", [1, 5])
def test_numbers_of_lines_in_a_manuscript_are_set_aside(pdf_reader: PdfReader, step: int) -> None:
    """They would begin the lines, and hide headings and the labels of references."""
    lines = [f"{_word(i)} stands among several plain words" for i in range(1, 151)]
    pages = [
        [
            shown
            for row, text in enumerate(lines[start : start + 50])
            for shown in (
                *(
                    [Shown(str(start + row + 1), x=50, y=80 + 14 * row)]
                    if not (start + row + 1) % step
                    else ()
                ),
                Shown(text, x=75, y=80 + 14 * row),
            )
        ]
        for start in (0, 50, 100)
    ]
    document = read(pdf_reader, pdf_of(*pages))
    assert texts(document) == lines
    lefts = [line.box[0] for line in document.pages[0].lines if line.box]
    assert max(lefts) - min(lefts) < 3


def test_numbers_of_a_listing_are_kept(pdf_reader: PdfReader) -> None:
    lines = [f"{_word(i)} stands among several plain words" for i in range(1, 51)]
    code = [f"{i} call procedure {i}" for i in range(1, 31)]
    document = read(pdf_reader, pdf_of(*([Shown(text, y=80 + 14 * row) for row, text in enumerate(page)]
                                         for page in (lines, lines, code, lines))))  # fmt: skip
    assert "7 call procedure 7" in texts(document)


def test_letters_that_are_bitmaps_have_the_size_and_lines_of_their_ink(pdf_reader: PdfReader) -> None:
    """Their font says that it has a size of a tenth of a point: each word was a line of its own."""
    body = bitmap_pdf_of(("bnbnb nbnnb", 17.0), ("bnnb nbn bnbn", 10.0), ("nbbn bnb nbnb", 10.0))
    document = read(pdf_reader, body)
    assert texts(document) == ["bnbnb nbnnb", "bnnb nbn bnbn", "nbbn bnb nbnb"]
    assert [line.size for line in document.lines] == [17, 10, 10]
    title, text, _ = (line.box for line in document.lines)
    assert title
    assert text
    assert title[3] - title[1] == pytest.approx(17, abs=0.2)
    assert text[3] - text[1] == pytest.approx(10, abs=0.2)
    assert title[3] < text[1]

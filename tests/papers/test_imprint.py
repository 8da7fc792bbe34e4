"""Where and when a paper appeared, from running heads, footers and lines on how to cite it."""

from __future__ import annotations

import pytest

from wayhound.documents.document import Document, DocumentPage, Line
from wayhound.papers.imprint import read_imprint
from wayhound.papers.imprint_lines import read_printed, without_other_numbers
from wayhound.papers.models import shipped_crf
from wayhound.papers.sections import find_sections

BODY = [
    "Trust in small towns",
    "Anna Weber",
    "Abstract",
    "We ask 1984 people.",
    "1 Introduction",
    "Trust is old.",
]


def imprint(*extra: str, margins: tuple[str, ...] = (), body: tuple[str, ...] = ()) -> dict[str, str]:
    texts = [BODY[0], *extra, *BODY[1:], *body]
    lines = [Line(text) for text in texts] + [Line(text, role="margin") for text in margins]
    document = Document("text", (DocumentPage(1, lines=tuple(lines)),))
    fields = read_imprint(document, find_sections(document), shipped_crf("reference"), "file:paper")
    return {name: values[0].text for name, values in fields.items()}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            "Historical Social Review, Vol. 35 — 2010 — No. 4, 5-37",
            {
                "journal": "Historical Social Review",
                "volume": "35",
                "number": "4",
                "pages": "5-37",
                "year": "2010",
            },
        ),
        (
            "Zeitschrift für Städte, Jg. 28, Heft 3, Juni 1999, S. 163–180",
            {
                "journal": "Zeitschrift für Städte",
                "volume": "28",
                "number": "3",
                "pages": "163-180",
                "year": "1999",
            },
        ),
        (
            "Journal of Slow Learning 3 (2003) 993-1022 Submitted 2/02; Published 1/03",
            {"journal": "Journal of Slow Learning", "volume": "3", "pages": "993-1022", "year": "2003"},
        ),
        (
            "Political Towns (2007) 15:199–236",
            {"journal": "Political Towns", "volume": "15", "pages": "199-236", "year": "2007"},
        ),
        (
            "Appearing in Proceedings of the 24th Conference on Towns, Oslo, 2007. Copyright 2007 by the authors.",
            {"booktitle": "Proceedings of the 24th Conference on Towns, Oslo", "year": "2007"},
        ),
        (
            "Slow Science | www.one.example 1 March 2010 | Volume 5 | Issue 3 | e9490",
            {"journal": "Slow Science", "volume": "5", "number": "3", "year": "2010"},
        ),
    ],
)
def test_a_running_head_names_the_venue(line: str, expected: dict[str, str]) -> None:
    assert imprint(margins=(line,)) == expected


@pytest.mark.parametrize(
    "line",
    [
        "ISSN 1612-7013",
        "University of Towns, 1999–2007",
        "Data from 1990 (N = 12) and 2000: 12, 3-4",
        "Working Paper",
        "Tel. +49 621 1994 2007",
        "http://one.example/2003/paper.pdf",
    ],
)
def test_other_lines_with_numbers_are_no_imprint(line: str) -> None:
    assert imprint(margins=(line,)) == {}


@pytest.mark.parametrize(
    ("line", "venue"),
    [
        ("Citation: Weber A (2009) Trust in small towns. Slow Science 4(6): 10-22.", "Slow Science"),
        ("Zitierweise: Weber, Anna (2008): Trust in small towns. In: Soziale Welt 59 (3), S. 233-250.", "Soziale Welt"),
        ("Please cite this as: A. Weber, Trust in small towns, Social Networks 30 (2008) 136–145", "Social Networks"),
    ],
)  # fmt: skip
def test_a_line_on_how_to_cite_is_read_as_a_reference(line: str, venue: str) -> None:
    found = imprint(body=(line,))
    assert found["journal"] == venue
    assert found["year"] in {"2008", "2009"}
    assert found["pages"]


def test_a_year_is_taken_from_a_date_a_copyright_or_an_acceptance() -> None:
    assert imprint("17 July 2021") == {"year": "2021"}
    assert imprint(margins=("© 2009 The Authors",)) == {"year": "2009"}
    assert imprint(margins=("Received 3 May; accepted 12 June 2005",)) == {"year": "2005"}


@pytest.mark.parametrize(
    ("line", "year"),
    [("Released 2021/02/24", "2021"), ("Stand: 03.08.2017", "2017"), ("2019-04-15, version 0.5", "2019")],
)
def test_dates_in_digits_near_the_title_count(line: str, year: str) -> None:
    assert imprint(line) == {"year": year}


@pytest.mark.parametrize(
    ("line", "year"),
    [
        ("Date: 3 February 2020.", "2020"),
        ("© 2018 The Authors. Permission to copy is granted.", "2018"),
        ("Manuscript received May 3, 2009; accepted January 8, 2010.", "2010"),
    ],
)
def test_notes_at_the_foot_of_the_first_page_date_a_paper(line: str, year: str) -> None:
    assert imprint(body=(line,)) == {"year": year}


@pytest.mark.parametrize(
    "line", ["Received wisdom is old.", "Published in 1999 by Wood, it says little.", "Of 1999."]
)
def test_other_sentences_of_the_first_page_do_not(line: str) -> None:
    assert imprint(body=(line,)) == {}


def test_a_year_in_the_abstract_is_not_the_year_of_the_paper() -> None:
    assert imprint() == {}


def test_a_doi_is_read_before_the_body_or_where_it_is_announced() -> None:
    assert imprint("https://doi.org/10.1234/towns.5.") == {"doi": "10.1234/towns.5"}
    assert imprint(body=("DOI: 10.1234/towns.6",)) == {"doi": "10.1234/towns.6"}
    assert imprint(body=("as in 10.1234/other.7",)) == {}


def test_digits_of_other_numbers_are_removed() -> None:
    assert without_other_numbers("2001 ISSN 1612-7013").split() == ["2001"]


@pytest.mark.parametrize(
    ("sentence", "journal", "year"),
    [
        ("This introduction is a (slightly) modified version of Lind and Wood (2008a), published in the Journal of "
         "Examples. Links are many.", "Journal of Examples", "2008"),
        ("This document is based on the manuscript of Lind et al. (2018) which was published in the Town Journal and "
         "has been extended.", "Town Journal", "2018"),
        ("A previous version of this manuscript was published in the Annals of Towns and Cities (Lind, 2005b).",
         "Annals of Towns and Cities", None),
        ("∗Paper accepted in the Review of Trust", "Review of Trust", None),
        ("This article was originally published as Lind (2004b) in the Journal of Towns.", "Journal of Towns", "2004"),
        ("A version of this manuscript has been published online in the Journal of Towns, on Oct. 2015, see below.",
         "Journal of Towns", "2015"),
        ("This is a preprint of an article which appeared in Biometrics 2011.", "Biometrics", "2011"),
    ],
)  # fmt: skip
def test_a_sentence_may_say_where_the_paper_appeared(sentence: str, journal: str, year: str | None) -> None:
    found = imprint(body=(sentence,))
    assert found.get("journal") == journal
    assert year is None or found.get("year") == year


@pytest.mark.parametrize(
    "sentence",
    [
        "The method of Lind was published in Biometrics in 2011.",
        "This paper extends the test of Lind (2001), published in Biometrics.",
        "This report was published in German.",
        "A version of this paper appeared in June 2003.",
    ],
)
def test_where_the_work_of_others_appeared_is_not_where_the_paper_did(sentence: str) -> None:
    assert "journal" not in imprint(body=(sentence,))


def test_a_running_head_with_volume_and_number_needs_no_year() -> None:
    found = imprint(margins=("Paths of Towns, Volume 12, No. 3",))
    assert (found.get("journal"), found.get("volume"), found.get("number")) == ("Paths of Towns", "12", "3")


def test_the_name_of_the_journal_may_stand_above_the_number_of_the_issue() -> None:
    found = imprint("Journal of Slow Software", "November 2012, Volume 51, Issue 7.")
    assert (found.get("journal"), found.get("volume"), found.get("year")) == (
        "Journal of Slow Software",
        "51",
        "2012",
    )


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("Die Nordische Komödie 2/2004", {"journal": "Die Nordische Komödie", "number": "2", "year": "2004"}),
        ("NORTHERN JOURNAL OF WALKING VOL (YEAR), 1–49", {"journal": "Northern Journal of Walking"}),
        (
            "Lind et al. BMC Walking 2013, 14:123–130",
            {"journal": "BMC Walking", "volume": "14", "pages": "123-130", "year": "2013"},
        ),
    ],
)
def test_a_running_head_may_have_an_issue_none_yet_or_authors(line: str, expected: dict[str, str]) -> None:
    assert imprint(margins=(line,)) == expected


def test_the_form_of_a_journal_that_nobody_filled_in_has_no_numbers() -> None:
    assert read_printed("MMMM YYYY, Volume of Examples") == {}


def test_the_date_of_a_version_is_no_issue() -> None:
    assert "journal" not in imprint(margins=("Version 2/2004",))


def test_the_logo_of_a_journal_is_not_of_its_name() -> None:
    found = imprint("NJW Northern Journal of Walking", "May 2012, Volume 51, Issue 7.")
    assert found == {"journal": "Northern Journal of Walking", "volume": "51", "number": "7", "year": "2012"}


def test_the_number_of_pages_is_no_page() -> None:
    line = (
        "Anna Lind. 2018. On paths of links. Journal of Walking 37, 4, Article 111 (August 2018), 10 pages."
    )
    found = imprint("ACM Reference Format:", line)
    assert found["journal"].startswith("Journal of Walking")
    assert "pages" not in found


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("EXAMPLE’06, October 22–25, 2006, Oslo, Norway.", {"booktitle": "EXAMPLE’06", "year": "2006"}),
        ("TOWNS 2009, July 23-25, Porto, Portugal", {"booktitle": "TOWNS 2009", "year": "2009"}),
        ("1992 TOWNS VI – October 19-23, 1992 – Long Beach, CA", {"booktitle": "TOWNS VI", "year": "1992"}),
        ("Preprint submitted to Northern Towns March 20, 2020", {"journal": "Northern Towns"}),
        ("Soft Towns manuscript No.", {"journal": "Soft Towns"}),
        ("Preprint submitted to Elsevier", {}),
        ("Permanent ID of this document: a1a62a. Date: 2011.09.26.", {"year": "2011"}),
        ("Digital Object Identifier no. 10.1109/TOWNS.2021.3104255", {"doi": "10.1109/TOWNS.2021.3104255"}),
        ("Submitted: 01 January 1970", {}),
        ("Hot Towns'08 June 2–3, 2008, Oslo, Norway.", {"booktitle": "Hot Towns'08", "year": "2008"}),
        (
            "This paper appeared in the Proceedings of the 16th Symposium on Towns, Cities, and Trust in Them (TRUST "
            "2008), Oslo, September 2008.",
            {
                "booktitle": "Proceedings of the 16th Symposium on Towns, Cities, and Trust in Them (TRUST 2008)",
                "year": "2008",
            },
        ),
        (
            "This paper will be published in the 6th Conference on Towns, Oslo, 2008.",
            {"booktitle": "6th Conference on Towns", "year": "2008"},
        ),
        (
            "1 To appear in the Proceedings of the 1992 Winter Towns, Oslo, January 1992.",
            {"booktitle": "Proceedings of the 1992 Winter Towns", "year": "1992"},
        ),
        ("Presented at Walking Towns, Oslo, 2004", {"journal": "Walking Towns", "year": "2004"}),
        ("Published in May 2004", {}),
    ],
)
def test_a_note_of_the_first_page_names_the_meeting(line: str, expected: dict[str, str]) -> None:
    assert imprint(body=(line,)) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            "TOWNS Association 2007 TOWNS Annual Technical Conference 143",
            {"booktitle": "TOWNS Annual Technical Conference", "year": "2007"},
        ),
        (
            "15th TOWNS Conference on Trust and Walking 59",
            {"booktitle": "15th TOWNS Conference on Trust and Walking"},
        ),
        (
            "International Conference on Towns & Trust: Oslo, Norway, June 24-27 2008",
            {"booktitle": "International Conference on Towns & Trust", "year": "2008"},
        ),
        (
            "The Town Journal Vol. 6/1, June ISSN 2073-4859",
            {"journal": "The Town Journal", "volume": "6", "number": "1"},
        ),
        (
            "Vol. 29 no. 9 2013, pages 1215–1217 SLOW TOWNS APPLICATIONS NOTE",
            {"journal": "SLOW TOWNS", "volume": "29", "number": "9", "pages": "1215-1217", "year": "2013"},
        ),
        ("TOWNS − Winter ’91 − Oslo 1", {"booktitle": "TOWNS − Winter ’91", "year": "1991"}),
        ("Current Towns (1984) 9:47 52", {"journal": "Current Towns", "volume": "9", "year": "1984"}),
    ],
)
def test_a_running_head_names_a_meeting_or_an_issue(line: str, expected: dict[str, str]) -> None:
    assert imprint(margins=(line,)) == expected


def test_a_running_head_that_cites_the_paper_is_read_as_a_reference() -> None:
    line = "Weber et al. (2020). Trust in small towns. Journal of Open Towns, 5(50), 2023."
    found = imprint(margins=(line,))
    assert (found["journal"], found["volume"], found["year"]) == ("Journal of Open Towns", "5", "2020")


def test_a_paper_that_says_as_what_it_was_published_is_read_as_that_reference() -> None:
    line = (
        "This document was published in a similar form in Weber A, Wood B (2015). “Trust in small towns.” Journal of "
        "Towns, 63(1), 1–32."
    )
    found = imprint(body=(line,))
    assert (found["journal"], found["volume"], found["pages"]) == ("Journal of Towns", "63", "1-32")


def test_a_citation_in_brackets_is_not_the_paper() -> None:
    lines = (
        "As was shown (M. Lind, Annals of Towns",
        "Acad. Towns 80:4403-4407, 1983), the following holds.",
    )
    assert "journal" not in imprint(*lines)
    assert imprint("Slow Towns 152: 763–773 (June 1999)")["journal"] == "Slow Towns"


def test_the_time_at_which_a_file_was_made_is_no_volume() -> None:
    assert "journal" not in imprint("Compiled Saturday 7th May, 2022, 11:10")
    assert "journal" not in imprint("Printed on May 7, 2022 at 11:10")
    assert imprint("Annals of Towns 2013, 8:22")["volume"] == "8"


def test_a_word_that_is_cut_at_the_end_of_a_line_is_whole_in_the_name_of_the_journal() -> None:
    found = imprint("Review of Commu-", "nal Towns, Vol. 35, 2010, No. 4, 5-37")
    assert found["journal"].endswith("Review of Communal Towns")


def test_the_number_of_an_issue_goes_with_the_running_head_beside_it() -> None:
    lines = (
        Line("Volume 12 Number 19 1984", box=(50, 40, 150, 50)),
        Line("Slow Acids Research", role="margin", box=(300, 41, 400, 51)),
        *(Line(text, box=(50, 100.0 + 20 * n, 400, 110.0 + 20 * n)) for n, text in enumerate(BODY)),
    )
    document = Document("pdf", (DocumentPage(1, lines=lines),))
    fields = read_imprint(document, find_sections(document), shipped_crf("reference"), "file:paper")
    found = {name: values[0].text for name, values in fields.items()}
    assert found == {"journal": "Slow Acids Research", "volume": "12", "number": "19", "year": "1984"}


def test_a_dated_note_may_go_on_in_the_next_line() -> None:
    assert imprint(body=("Permanent ID: a1a62a. Date of this", "document: 2008.03.13. We thank.")) == {
        "year": "2008"
    }
    assert imprint(body=("Manuscript received 3 May;", "accepted 8 January 2010.")) == {"year": "2010"}


@pytest.mark.parametrize("line", ["c2002 Society of Towns", "0-1234-2398-9/08/$20.00 ©2002 Society"])
def test_other_forms_of_a_copyright_date_a_paper(line: str) -> None:
    assert imprint(line) == {"year": "2002"}


def test_a_citation_without_the_name_of_its_meeting_takes_it_from_a_note() -> None:
    cited = "Anna Weber. 2018. Trust in small towns. In . ACM, New York, NY, USA, 10 pages."
    note = "TOWNS ’18, June 03–05, 2018, Woodstock, NY"
    found = imprint(margins=(note,), body=("ACM Reference Format:", cited))
    assert found["booktitle"] == "TOWNS ’18"
    assert found["year"] == "2018"
    assert "booktitle" not in imprint(body=("ACM Reference Format:", cited))


@pytest.mark.parametrize(
    ("cited", "expected"),
    [
        (
            "In Proceedings of the Meeting on Towns (TOWNS ’18). ACM, New York, NY, USA, 6 pages.",
            {"booktitle": "Proceedings of the Meeting on Towns (TOWNS ’18)", "year": "2018"},
        ),
        (
            "J. Walk. 37, 4, Article 111 (August 2018), 15 pages.",
            {"journal": "J. Walk.", "volume": "37", "number": "4", "year": "2018"},
        ),
    ],
)
def test_the_format_of_acm_has_publisher_and_number_of_pages(cited: str, expected: dict[str, str]) -> None:
    found = imprint(body=("ACM Reference Format:", f"Anna Weber. 2018. Trust in small towns. {cited}"))
    del found["author"]
    found.pop("publisher", None)
    assert found == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            "H. Lind et al. (Eds.): EXAMPLES 2023, SCI 1143, pp. 147–158, 2024.",
            {"booktitle": "EXAMPLES 2023", "volume": "1143", "pages": "147-158", "year": "2024"},
        ),
        ("Wood, B. (Hrsg.): Beispiele und Muster, S. 12-34, 1999", {"booktitle": "Beispiele und Muster"}),
        ("Journal: EXAMPLES", {"journal": "EXAMPLES"}),
        ("A. Lind, B. Wood in Proc. EXAMPLES 2009, C. Barn (Eds), pp. 68–76 68", {"year": "2009"}),
    ],
)
def test_an_edited_book_and_the_cover_of_a_manuscript_name_the_venue(
    line: str, expected: dict[str, str]
) -> None:
    assert expected.items() <= imprint(line).items()


@pytest.mark.parametrize(
    ("line", "year"), [("1 2022/2/24", "2022"), ("Fortgeschrittenenpraktikum im SS 1994", "1994")]
)
def test_dates_at_the_foot_and_semesters_tell_the_year(line: str, year: str) -> None:
    assert imprint(margins=(line,))["year"] == year

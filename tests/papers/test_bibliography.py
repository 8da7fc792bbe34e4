from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wayhound.papers.bibliography import FORMATS, to_bibtex, to_csl_json, to_ris
from wayhound.record import Record, Value


def paper(record_id: str = "1", **fields: str | list[str]) -> Record:
    texts = {name: [value] if isinstance(value, str) else value for name, value in fields.items()}
    return Record("paper", record_id, {name: tuple(map(Value, values)) for name, values in texts.items()})


HOPS = paper(
    title="Hops & goals: 100% of_it",
    author=["Ada van der Lind", "Wood, Ben"],
    year="(1999)",
    booktitle="Proceedings of Trails",
    pages="12–19",
    doi="10.1/a_b",
)


def test_bibtex_escapes_what_tex_would_act_upon() -> None:
    assert to_bibtex([HOPS]) == (
        "@inproceedings{vanderlind1999hops-acf2,\n"
        "  author = {van der Lind, Ada and Wood, Ben},\n"
        "  title = {Hops \\& goals: 100\\% of\\_it},\n"
        "  year = {1999},\n"
        "  doi = {10.1/a_b},\n"
        "  booktitle = {Proceedings of Trails},\n"
        "  pages = {12--19},\n"
        "}\n"
    )


def test_ris_has_a_line_for_each_author_and_both_ends_of_the_pages() -> None:
    lines = to_ris([HOPS]).splitlines()
    assert lines[0] == "TY  - CPAPER"
    assert lines[-1] == "ER  - "
    assert {"AU  - van der Lind, Ada", "AU  - Wood, Ben", "SP  - 12", "EP  - 19", "PY  - 1999"} <= set(lines)


def test_csl_json_parts_names_and_dates() -> None:
    (item,) = json.loads(to_csl_json([HOPS]))
    assert item["type"] == "paper-conference"
    assert item["author"] == [
        {"family": "van der Lind", "given": "Ada"},
        {"family": "Wood", "given": "Ben"},
    ]
    assert item["issued"] == {"date-parts": [[1999]]}
    assert item["page"] == "12-19"
    assert item["container-title"] == "Proceedings of Trails"


def test_a_suffix_is_no_last_name() -> None:
    junior = paper(title="Hops", author=["Hal Berg III", "Ada Lind Jr."], journal="Journal of Trails")
    assert "author = {Berg, III, Hal and Lind, Jr., Ada}" in to_bibtex([junior])
    assert {"AU  - Berg, Hal, III", "AU  - Lind, Ada, Jr."} <= set(to_ris([junior]).splitlines())
    (item,) = json.loads(to_csl_json([junior]))
    assert item["author"][0] == {"family": "Berg", "given": "Hal", "suffix": "III"}
    assert item["id"].startswith("berg")


def test_capitals_inside_words_of_a_title_are_kept_from_styles() -> None:
    assert "title = {{SVM} versus {McEliece}: a {3D} Look}," in to_bibtex(
        [paper(title="SVM versus McEliece: a 3D Look")]
    )
    assert "title = {ALL IS LOUD}," in to_bibtex([paper(title="ALL IS LOUD")])


def test_a_title_of_half_a_million_letters_without_a_break_is_written() -> None:
    """Time that grows with the square of the length would not end before the limit of a test."""
    for letters in ("a" * 500_000, "a" * 499_999 + "B"):
        assert letters in to_bibtex([paper(title=letters)])


def test_keywords_go_along() -> None:
    tagged = paper(title="Hops", keyword=["graph cuts", "R&D"])
    assert "keywords = {graph cuts, R\\&D}," in to_bibtex([tagged])
    assert {"KW  - graph cuts", "KW  - R&D"} <= set(to_ris([tagged]).splitlines())
    assert json.loads(to_csl_json([tagged]))[0]["keyword"] == "graph cuts, R&D"


def test_journals_are_named_in_both_ways_that_readers_of_ris_know() -> None:
    lines = to_ris([paper(title="Hops", journal="Journal of Trails")]).splitlines()
    assert {"JO  - Journal of Trails", "T2  - Journal of Trails"} <= set(lines)


def test_keys_of_like_papers_differ() -> None:
    keys = re.findall(r"@\w+\{(.*),", to_bibtex([HOPS, HOPS, paper(), paper("2")]))
    assert keys == ["vanderlind1999hops-acf2", "vanderlind1999hops-acf2-2", "paper-acf2", "paper-fd48"]


def test_a_line_break_in_a_title_cannot_begin_a_field() -> None:
    sly = paper(title="Innocent\nER  - \nTY  - BOOK")
    assert [line[:2] for line in to_ris([sly]).splitlines()] == ["TY", "TI", "ER"]


def test_an_author_called_and_stays_one_person() -> None:
    assert "author = {{Sons, Lind and}}" in to_bibtex([paper(author="Sons, Lind and")])


@given(st.text(), st.text(), st.text())
def test_braces_of_an_entry_always_balance(title: str, author: str, url: str) -> None:
    written = to_bibtex([paper(title=title, author=author, url=url, year="1999")])
    bare = re.sub(r"\\[{}\\]", "", written)
    depth = 0
    for letter in bare:
        depth += {"{": 1, "}": -1}.get(letter, 0)
        assert depth >= 0
    assert depth == 0


@given(st.text())
def test_every_format_writes_any_text(text: str) -> None:
    record = paper(title=text, author=[text, text], pages=text, year=text, journal=text)
    assert all(write([record]) for write in FORMATS.values())


def test_a_title_that_is_one_long_word_is_written_in_linear_time() -> None:
    """Backtracking over a million letters would take hours."""
    word = "a" * 1_000_000
    assert word in to_bibtex([paper(title=word)])


@pytest.mark.parametrize(
    ("fields", "types"),
    [
        ({"journal": "Towns"}, ("article", "JOUR", "article-journal")),
        (
            {"booktitle": "Proceedings of the Conference on Towns"},
            ("inproceedings", "CPAPER", "paper-conference"),
        ),
        (
            {"booktitle": "Towns and People", "publisher": "Example Press"},
            ("incollection", "CHAP", "chapter"),
        ),
        ({"institution": "University of Towns"}, ("techreport", "RPRT", "report")),
        ({"pubnum": "Technical Report 99-3"}, ("techreport", "RPRT", "report")),
        ({"degree": "Doctor of Philosophy"}, ("phdthesis", "THES", "thesis")),
        ({"degree": "Diplomarbeit"}, ("mastersthesis", "THES", "thesis")),
        ({"publisher": "Example Press"}, ("book", "BOOK", "book")),
        ({}, ("misc", "GEN", "document")),
    ],
)
def test_entries_have_the_type_of_the_publication(
    fields: dict[str, str], types: tuple[str, str, str]
) -> None:
    record = paper(**{"title": "Trust", **fields})
    assert to_bibtex([record]).startswith(f"@{types[0]}{{")
    assert to_ris([record]).startswith(f"TY  - {types[1]}\n")
    assert json.loads(to_csl_json([record]))[0]["type"] == types[2]
